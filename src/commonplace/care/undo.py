"""Undo: back to how it was before a change, before a session, or at a moment. An undo is one act, and can be undone.

Every version that was replaced is kept, so undoing is putting old bytes back. What to put back is read from the log,
and done only if the log still says so: of two who undo at once, one is told of the other. It knows what happened and
what was kept; how bytes reach the disk is Memory's.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from commonplace.errors import BadFormat, Changed, NotFound
from commonplace.memory import Memory
from commonplace.note.format import parse
from commonplace.note.note import Note
from commonplace.outcomes import Conflict
from commonplace.store.base import HAND, Call

if TYPE_CHECKING:
    from commonplace.store.history import Event

# What an act of several changes can be; its mark begins with the word.
ACTS = ("undo", "rename", "merge")
_OVERTAKEN = "another process changed things just now; look at `commonplace log`, then undo again"
_CHANGED = "another process changed it just now; look at `commonplace log`"
_BUILT_ON = "it was changed since, outside that session"


class Target(NamedTuple):
    """How one note is to stand: as one of these versions, the first that is kept; none of any means not at all."""

    name: str
    folder: str
    stamps: tuple[str, ...]


class Undone(NamedTuple):
    """One note that was put back."""

    name: str
    outcome: str  # updated, created, deleted, unchanged
    description: str


class Undo(NamedTuple):
    """What an undo did, and what it had to leave as it was, each with the reason."""

    notes: tuple[Undone, ...]
    left: tuple[tuple[str, str], ...]

    @property
    def changed(self) -> int:
        return sum(note.outcome != "unchanged" for note in self.notes)

    @property
    def hindered(self) -> bool:
        """Whether all that was left was left because of what others did."""
        return bool(self.left) and all(why in (_CHANGED, _BUILT_ON) for _, why in self.left)


class Plan(NamedTuple):
    """How notes are to stand, and what is left alone, each with the reason."""

    targets: tuple[Target, ...]
    left: tuple[tuple[str, str], ...] = ()


def last(memory: Memory, call: Call, count: int = 1) -> Undo | Conflict:
    """Take back the last acts, so many: each is one change, or all that a rename, a merge or an undo changed."""
    return _carry_out(memory, call, lambda events: Plan(_before(_last_acts(events, count))))


def of_note(memory: Memory, name: str, call: Call) -> Undo | Conflict:
    """Take back the last change of one note.

    Raises:
        NotFound: nothing is known of a note of this name.

    """
    return _carry_out(memory, call, lambda events: _of_note(memory, name, events))


def of_session(memory: Memory, session: str, call: Call) -> Undo | Conflict:
    """Take back what a session changed, as far as nobody has built on it since."""
    return _carry_out(memory, call, lambda events: _of_session(memory, session, events))


def to_moment(memory: Memory, moment: str, call: Call) -> Undo | Conflict:
    """Every note that was changed since, as it was at a moment (UTC, as the log writes it)."""
    return _carry_out(memory, call, lambda events: _to_moment(moment, events))


def _of_note(memory: Memory, name: str, events: Sequence[Event]) -> Plan:
    stem = _named(memory, name, events)
    mine = [event for event in events if event.name == stem]
    if not mine:
        raise NotFound(
            f"nothing is known of what happened to {name!r} in {memory.where}; `commonplace log` tells what is",
            name,
        )
    if mine[-1].stamp and _touched(memory, stem, mine[-1]) and memory.version(stem, mine[-1].stamp) is not None:
        return Plan((Target(stem, mine[-1].folder, (mine[-1].stamp,)),))
    return Plan(_before([event for event in events if _act_of(event) == _act_of(mine[-1])]))


def _of_session(memory: Memory, session: str, events: Sequence[Event]) -> Plan:
    targets: list[Target] = []
    left: list[tuple[str, str]] = []
    theirs = (event.name for event in events if session and event.call.session == session)  # without one, nobody's
    for name in dict.fromkeys(theirs):
        mine = [event for event in events if event.name == name]
        others = next((at for at in range(len(mine), 0, -1) if mine[at - 1].call.session != session), 0)
        if others == len(mine) or _touched(memory, name, mine[-1]):
            left.append((name, _BUILT_ON))
        else:
            targets += _before(mine[others:])
    return Plan(tuple(targets), tuple(left))


def _to_moment(moment: str, events: Sequence[Event]) -> Plan:
    later = dict.fromkeys(event.name for event in events if event.name and event.at > moment)
    return Plan(tuple(_then(name, events, moment) for name in later))


def act(word: str) -> str:
    """A mark by which the changes of one act are known, and what they were made for."""
    return f"{word}-{os.urandom(6).hex()}"


def _named(memory: Memory, name: str, events: Sequence[Event]) -> str:
    """The note a name means, also if it is gone by now."""
    if any(event.name == name for event in events):
        return name
    try:
        return memory.find(name).note.name
    except NotFound:
        from commonplace.note.slug import slugify

        return slugify(name)


def _last_acts(events: Sequence[Event], count: int) -> list[Event]:
    """The changes of the last acts, in the order they were made."""
    acts = set(list(dict.fromkeys(map(_act_of, reversed(events))))[:count])
    return [event for event in events if _act_of(event) in acts]


def _act_of(event: Event) -> str | int:
    """What a change has in common with those of the same act, and with no other."""
    return event.call.act or event.number


def _before(events: Sequence[Event]) -> tuple[Target, ...]:
    """How the notes stood before these changes."""
    first: dict[str, Event] = {}
    for event in events:
        first.setdefault(event.name, event)
    return tuple(Target(name, event.folder, (event.was,)) for name, event in first.items() if name)


def _touched(memory: Memory, name: str, last: Event) -> bool:
    """Whether a hand was at a note since its last change: what it wrote there is nobody's to take back unasked."""
    now = memory.present(name)
    return (now.stamp if now else "") != last.stamp


def _then(name: str, events: Sequence[Event], moment: str) -> Target:
    """How a note stood at a moment. A version that a hand replaced may be lost; what the hand made of it is next best."""
    mine = [event for event in events if event.name == name]
    at = sum(event.at <= moment for event in mine)
    if at == 0:
        return Target(name, mine[0].folder, (mine[0].was,))
    then, after = mine[at - 1], mine[at]
    return Target(name, then.folder, tuple(dict.fromkeys((then.stamp, after.was) if then.stamp else ("",))))


def _carry_out(memory: Memory, call: Call, plan: Callable[[Sequence[Event]], Plan]) -> Undo | Conflict:
    """Do what is planned from the log as it is when this is called, if it still is the plan once our turn has come.

    The log is read after the notes: a change it does not tell of yet will not find them as they stood.
    """
    wanted = plan(memory.events())
    with memory.acting():
        standing = {target.name: memory.present(target.name) for target in wanted.targets}
        events = memory.events()
        if plan(events) == wanted:
            return _put_all_back(memory, wanted, standing, events, call)
    about = wanted.targets[0].name if wanted.targets else ""
    return Conflict(name=about, why=_OVERTAKEN, ours="", theirs=None)


def _put_all_back(
    memory: Memory, plan: Plan, standing: Mapping[str, Note | None], events: Sequence[Event], call: Call
) -> Undo:
    call = call._replace(act=act("undo"))
    done: list[Undone] = []
    left = list(plan.left)
    for target in plan.targets:
        try:
            done.append(_put_back(memory, target, standing[target.name], events, call))
        except Changed:
            left.append((target.name, _CHANGED))
        except BadFormat as problem:
            left.append((target.name, str(problem)))
    return Undo(tuple(done), tuple(left))


def _put_back(memory: Memory, target: Target, now: Note | None, events: Sequence[Event], call: Call) -> Undone:
    """Let a note stand as it did, if it stands as it does `now`.

    Raises:
        BadFormat: the version it had is not kept, or cannot be read.
        Changed: somebody changed the note just now.

    """
    stamp = now.stamp if now else ""
    moves = now is not None and now.folder != target.folder
    if stamp == target.stamps[0] and not moves:
        return Undone(target.name, "unchanged", now.description if now else "")
    if now is not None and not target.stamps[0]:
        _forget(memory, now, call)
        return Undone(target.name, "deleted", now.description)
    source = next(filter(None, (memory.version(target.name, kept) for kept in target.stamps if kept)), None)
    if source is None:
        raise BadFormat("the version it had is not kept; somebody changed the file by hand before we saw it")
    note = parse(source, target.name, target.folder)
    if now is not None and moves:
        _forget(memory, now, call)
    saved = memory.keep(note, expect="" if moves else stamp, call=call._replace(origin=_author(note, events)))
    return Undone(target.name, saved.outcome, note.description)


def _forget(memory: Memory, note: Note, call: Call) -> None:
    try:
        if not isinstance(memory.forget(note.name, expect=note.stamp, call=call), Conflict):
            return
    except NotFound:  # somebody was quicker
        pass
    raise Changed(note.name, note.stamp, "")


def _author(note: Note, events: Sequence[Event]) -> str:
    """Who wrote a version: it is their word again, not that of whoever brings it back."""
    said = (
        event.call.origin
        for event in reversed(events)
        if (event.name, event.stamp) == (note.name, note.stamp) and event.sound
    )
    return next(said, HAND)
