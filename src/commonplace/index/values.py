"""Single values as the tables keep them, and what counts for a note whatever it says.

What every look needs, apart from the notes themselves: it knows columns and loads nothing.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

# A note that says it corrects more than this is read no further: each is looked for in every index.
CORRECTED = 50
# So many corrections of corrections are followed: a longer chain is no history of one fact.
_STEPS = 4
# What columns of words hold: a bit that flips in a row's head makes bytes or nothing of it.
_TEXT = frozenset((str,))
_CARDS = "SELECT name, title, description, kind, author, day, folder, body FROM notes WHERE name IN ({})"
_STANDING = """SELECT notes.name, trust, pinned, day, expires, coalesce(times, 0)
    FROM notes LEFT JOIN uses ON uses.name = notes.name WHERE notes.name IN ({})"""
_USED = "INSERT INTO uses VALUES (?, 1) ON CONFLICT (name) DO UPDATE SET times = times + 1"
_CORRECTING = "SELECT name, supersedes FROM notes WHERE supersedes != '' ORDER BY trust, day, name"


class Garbled(sqlite3.DatabaseError):
    """A row's bytes are not what was written: the tables are damaged, though SQLite has not noticed."""


class Standing(NamedTuple):
    """What counts for or against a note, whatever it says."""

    trust: int
    pinned: bool
    day: str
    expired: bool
    corrected: str  # the note that says it corrects this one; '' for none
    uses: int  # how often it was read


class Card(NamedTuple):
    """What is shown of a note where it is found."""

    name: str
    title: str
    description: str
    kind: str
    author: str
    day: str
    folder: str
    body: str


def cards(db: sqlite3.Connection, names: Sequence[str]) -> dict[str, Card]:
    """What is shown of some notes."""
    found = db.execute(_CARDS.format(",".join("?" * len(names))), tuple(names)).fetchall()
    if not _TEXT.issuperset(type(value) for row in found for value in row):
        raise Garbled("a value of a note is of another type")
    return {row[0]: Card(*row) for row in found}


def applying(db: sqlite3.Connection) -> dict[str, tuple[str, ...]]:
    """The notes that say where they apply, and where."""
    rows = db.execute("SELECT name, applies_to FROM notes WHERE applies_to != ''")
    return {name: unpacked(packed) for name, packed in rows}


def used(db: sqlite3.Connection, name: str) -> None:
    """Count that a note was read."""
    db.execute(_USED, (name,))


def standing(db: sqlite3.Connection, names: Sequence[str], today: date) -> dict[str, Standing]:
    """What counts for or against some notes, and those that correct them."""
    # People write `Gate Code` for `gate-code.md`. Of several the most trusted, then the newest, is meant.
    correcting = {_plain(old): name for name, packed in db.execute(_CORRECTING) for old in unpacked(packed)[:CORRECTED]}
    asked, last = set[str](), set(names)
    for _ in range(_STEPS):  # what corrects them, what corrects that, and so on
        asked |= last
        last = {correcting[_plain(name)] for name in last if _plain(name) in correcting} - asked
    day = today.isoformat()
    found = db.execute(_STANDING.format(",".join("?" * len(asked))), tuple(asked))
    return {
        name: Standing(
            whole(trust),
            bool(pinned),
            said,
            bool(expires) and expires < day,
            _other(correcting.get(_plain(name), ""), name),
            whole(uses),
        )
        for name, trust, pinned, said, expires, uses in found
    }


def _plain(name: str) -> str:
    return name.casefold().removesuffix(".md").replace("_", "-").replace(" ", "-")


def _other(found: str, name: str) -> str:
    return found if found != name else ""


def unpacked(text: str) -> tuple[str, ...]:
    """A tuple from the text it is kept as."""
    if not text:
        return ()
    import json

    try:
        return tuple(map(str, json.loads(text)))
    except (ValueError, TypeError) as problem:
        raise Garbled(f"{text[:40]!r} is no list") from problem


def whole(value: object) -> int:
    """A number as the tables keep it."""
    try:
        return int(str(value))
    except ValueError as problem:
        raise Garbled(f"{str(value)[:40]!r} is no number") from problem
