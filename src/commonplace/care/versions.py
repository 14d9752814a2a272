"""What happened in a notebook, in words a person knows, and how two versions of a note differ. It changes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from difflib import unified_diff
from typing import TYPE_CHECKING, NamedTuple

from commonplace.care.undo import ACTS
from commonplace.errors import BadFormat, NotFound
from commonplace.memory import Memory
from commonplace.recall import asked

if TYPE_CHECKING:
    from commonplace.store.history import Event


class Story(NamedTuple):
    """One change as a person is told of it."""

    number: int
    at: str
    what: str  # created, updated, deleted
    name: str
    by: str
    session: str
    actor: str
    act: str
    stamp: str
    was: str
    sound: bool
    part_of: str  # undo, rename, merge: the act it was a part of; '' for a change on its own


def stories(events: Sequence[Event]) -> list[Story]:
    """The changes, newest first."""
    return [_story(event) for event in reversed(events)]


def _story(event: Event) -> Story:
    what = "deleted" if not event.stamp else "updated" if event.was else "created"
    call = event.call
    return Story(
        event.number, event.at, what, event.name, call.origin, call.session, call.actor, call.act, event.stamp,
        event.was, event.sound, next((word for word in ACTS if call.act.startswith(f"{word}-")), ""),
    )  # fmt: skip


def diff(memory: Memory, name: str, moment: str = "") -> str:
    """How a note's file changed: since its last version, or since a moment. '' where it did not.

    Raises:
        NotFound: nothing is known of such a note.
        BadFormat: the version to compare with is not kept.

    """
    events = memory.events()
    there = memory.present(name)
    stem = name if there or any(event.name == name for event in events) else memory.find(name).note.name
    now = there or memory.present(stem)
    mine = [event for event in events if event.name == stem]
    if now is None and not mine:
        raise NotFound(f"no note named {name!r} in {memory.where}, now or before", name)
    for stamp in _before(mine, now.stamp if now else "", moment):
        old = memory.version(stem, stamp) if stamp else b""
        if old is not None:
            return _unified(old, (now.source or b"") if now else b"", stem, bool(stamp), now is not None)
    raise BadFormat(f"no earlier version of {stem!r} is kept; its file was changed by hand before we saw it")


def moment_of(words: str, now: datetime) -> str | None:
    """A moment a person names, as the log writes it. None for no moment."""
    found = asked.moment_of(words, now)
    try:
        return stamped(found) if found else None
    except (ValueError, OverflowError):  # before or after all that the log can tell
        return None


def stamped(when: datetime) -> str:
    """A moment as the log writes it; one without a zone is by this machine's clock."""
    return when.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def local(at: str) -> str:
    """A moment of the log by the clock on this machine's wall."""
    try:
        return datetime.fromisoformat(at).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    except (ValueError, OverflowError):  # no time, or one no clock here can tell
        return at


def _before(mine: Sequence[Event], stamp: str, moment: str) -> tuple[str, ...]:
    """The stamps to compare with, best first: what stood at a moment, else what stood before the last change."""
    if not mine:
        return (stamp,)
    if moment:
        then = [event for event in mine if event.at <= moment]
        return (then[-1].stamp, then[-1].was) if then else (mine[0].was,)
    return (mine[-1].was,) if mine[-1].stamp == stamp else (mine[-1].stamp, mine[-1].was)  # else a hand was at it since


def _unified(old: bytes, new: bytes, name: str, was: bool, is_: bool) -> str:
    lines = unified_diff(
        old.decode("utf-8", "replace").splitlines(), new.decode("utf-8", "replace").splitlines(),
        f"{name} before" if was else "nothing", f"{name} now" if is_ else "nothing", lineterm="",
    )  # fmt: skip
    return "\n".join(lines)
