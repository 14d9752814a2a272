"""What a Memory answers: outcomes as values, each telling what happened and what to do next. It does nothing itself.

Those a host might count or loop over by mistake are dataclasses, which refuse. The rest are plain tuples: a dataclass
costs every process half a millisecond.
"""

from __future__ import annotations

from dataclasses import dataclass

from commonplace.named import NamedTuple, Protocol
from commonplace.note.kind import Kind
from commonplace.note.note import Note
from commonplace.store.base import Call, Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Room(NamedTuple):
    """How much of the index is taken: what a save reports, so that nobody learns of a full index by losing a line."""

    lines: int
    lines_most: int
    bytes: int
    bytes_most: int
    left_out: int

    def __str__(self) -> str:
        left = f", {self.left_out} left out" if self.left_out else ""
        return f"index: {self.lines}/{self.lines_most} lines, {self.bytes:,}/{self.bytes_most:,} bytes{left}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """The note is on the disk."""

    outcome: str
    """`created`, `updated`, or `unchanged` where it already said just this."""
    note: Note
    file: str
    room: Room
    kept: str = ""
    """Where the history keeps the version this one replaced."""
    by: str = ""
    """Whose word it was logged as; '' where nothing was changed."""
    alike: str = ""
    """A note that begins the same, and gave this one its name with a number: perhaps this was to correct it."""
    warnings: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.note.name


class Conflict(NamedTuple):
    """Nothing was saved: another fact has this name, or the note changed since it was read. Both texts are here."""

    name: str
    why: str
    ours: str
    theirs: Note | None
    """What stands there now; None where it was forgotten in the meantime."""


class Refused(NamedTuple):
    """Nothing was saved, by a rule. `why` says which text broke it, and what would do instead."""

    rule: str
    why: str


class Forgotten(NamedTuple):
    """The note is gone from the notebook; its last version is in the history."""

    note: Note
    kept: str
    room: Room
    warnings: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.note.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """Every note of a notebook, by name, and what else a person should know of its files."""

    notes: tuple[Note, ...]
    problems: tuple[Problem, ...]


class Answer(NamedTuple):
    """What a call of a tool answers: text for the model, and whether it failed to do what was asked."""

    text: str
    failed: bool = False


class Tools(Protocol):
    """The tools of a memory, as a host is given them: in the shape of an API, and run as a model calls them."""

    def tools(self, shape: str, *, call: Call | None, role: str) -> list[Any]: ...

    def run(self, name: str, arguments: object, *, call: Call | None, role: str) -> Answer: ...


class Status(NamedTuple):
    """Which notebook this is, and how it stands."""

    where: str
    counts: dict[Kind, int]
    room: Room
    cache: str
    """The derived file; '' where it is kept in memory only."""
    problems: tuple[Problem, ...]
    bytes: int = 0
