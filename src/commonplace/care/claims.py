"""What a notebook's notes claim of a workspace, held against it: which of it does not hold any more. It changes nothing.

When a note's text was written is told by the log, to the second; where the log does not know, by the day in its header.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING, NamedTuple

from commonplace.errors import NoteError
from commonplace.evidence.claims import claims_of
from commonplace.evidence.verify import CHANGED, GONE, Verdict, deep
from commonplace.evidence.workspace import repository_of
from commonplace.memory import Memory
from commonplace.note.format import parse
from commonplace.note.note import Note

if TYPE_CHECKING:
    from commonplace.store.history import Event

# Notes of about one time are asked about together; more at once would look through more of the past than they need.
_TOGETHER = 25
# Seconds for so many: a person waits, and a repository of any size is to be answered.
_PATIENCE = 20.0
# So many versions of a note are looked at for when its text was written.
_VERSIONS = 20
_EPOCH = date(1970, 1, 1).toordinal()


class Checked(NamedTuple):
    """A note, and what has become of its claims."""

    name: str
    verdicts: tuple[Verdict, ...]

    @property
    def broken(self) -> tuple[Verdict, ...]:
        """The claims that do not hold any more."""
        return tuple(one for one in self.verdicts if one.state in (CHANGED, GONE))


def check(memory: Memory, notes: Sequence[Note], workspace: str, *, budget: float = _PATIENCE) -> Iterator[Checked]:
    """Hold the claims of notes against a workspace, as deep as can be; by the time they were written."""
    log: dict[str, list[Event]] = defaultdict(list)
    for event in memory.events():
        log[event.name].append(event)
    dated = sorted(((note, _written(memory, note, log[note.name])) for note in notes), key=lambda one: _order(one[1]))
    for first in range(0, len(dated), _TOGETHER):
        some = dated[first : first + _TOGETHER]
        found = deep([(claims_of(note.body), since) for note, since in some], workspace, budget=budget)
        yield from (Checked(note.name, tuple(verdicts)) for (note, _), verdicts in zip(some, found, strict=True))


def root_of(folder: str) -> str:
    """The root of the repository a folder lies in; the folder itself where it lies in none."""
    return repository_of(folder) or os.path.abspath(folder)


def _written(memory: Memory, note: Note, events: Sequence[Event]) -> date | float | None:
    """When a note's text came to be: a pin, a tag or an undo after that makes it no newer."""
    day = note.updated or note.created
    first = next((at for at, event in enumerate(events) if event.stamp == note.stamp), None)
    if first is None:
        return day
    for at in range(first - 1, max(first - 1 - _VERSIONS, -1), -1):
        if events[at].stamp and not _same_text(memory, note, events[at].stamp):
            break
        first = at if events[at].stamp else first
    try:
        moment = datetime.fromisoformat(events[first].at)
    except ValueError:  # somebody was at the log
        return day
    return day if day is not None and day < moment.astimezone().date() else moment.timestamp()


def _same_text(memory: Memory, note: Note, stamp: str) -> bool:
    source = memory.version(note.name, stamp)
    try:
        return source is not None and parse(source, note.name).body == note.body
    except NoteError:
        return False


def _order(since: date | float | None) -> float:
    if since is None:
        return 0.0
    return since if isinstance(since, float) else (since.toordinal() - _EPOCH) * 86400.0
