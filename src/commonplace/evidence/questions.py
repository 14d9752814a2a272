"""What a repository can be asked. Questions are values, so that many can be put together and answered once.

They are no tuples: two of different sorts are never equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

# Of one file's text; longer ones are data, and no note speaks of a line of theirs.
TEXT_BYTES = 1 << 20


# The present, in a question that asks for a commit.
HEAD = "HEAD"


@dataclass(frozen=True, slots=True)
class Since:
    """The last commit at or before a time: its hash. Of a history that begins later, its first."""

    when: float


@dataclass(frozen=True, slots=True)
class Oid:
    """What is at a path in a commit: `Thing`, or None."""

    rev: str
    path: str


@dataclass(frozen=True, slots=True)
class Text:
    """The text of a file in a commit: bytes, or None."""

    rev: str
    path: str


@dataclass(frozen=True, slots=True)
class Lines:
    """Where a word stands in a commit, as a whole: (path, line) of each."""

    rev: str
    word: str


@dataclass(frozen=True, slots=True)
class Changes:
    """How a path was changed since a commit that answered `Since`, newest first: (commit, its parent, git's letter)."""

    base: str
    path: str


@dataclass(frozen=True, slots=True)
class Ever:
    """Whether a path ever was in a commit."""

    path: str


@dataclass(frozen=True, slots=True)
class Renamed:
    """Where a commit moved a path; '' where git knows of no place."""

    commit: str
    parent: str
    path: str


@dataclass(frozen=True, slots=True)
class Refs:
    """The branches and tags of a name: `Pointer`s."""

    name: str


@dataclass(frozen=True, slots=True)
class Moves:
    """Where a branch pointed when, newest first: (time, hash). None where nobody kept it."""

    ref: str


@dataclass(frozen=True, slots=True)
class Manifests:
    """The files of a commit that say which packages there are, and name this one."""

    rev: str
    package: str


@dataclass(frozen=True, slots=True)
class Skipped:
    """Whether a path is tracked and left out of the workspace on purpose."""

    path: str


@dataclass(frozen=True, slots=True)
class Ignored:
    """Whether git ignores a path."""

    path: str


@dataclass(frozen=True, slots=True)
class Matching:
    """Whether a tracked file matches a pattern: now, or with `rev` in a commit."""

    pattern: str
    rev: str = ""


class Thing(NamedTuple):
    """What a commit has at a path."""

    hash: str
    type: str
    size: int


@dataclass(frozen=True, slots=True)
class Merged:
    """Whether a branch of that name was merged since the oldest time that was asked for."""

    name: str


class Pointer(NamedTuple):
    """A branch or tag: its full name, the commit, when that or the tag was made, and whether we stand on it."""

    ref: str
    commit: str
    when: int
    current: bool


class Commit(NamedTuple):
    """A commit on the way to the present: a merge is one, with all that it brought."""

    hash: str
    when: int
    parent: str
    subject: str


Question = (
    Since
    | Oid
    | Text
    | Lines
    | Changes
    | Ever
    | Renamed
    | Refs
    | Merged
    | Moves
    | Manifests
    | Skipped
    | Ignored
    | Matching
)
