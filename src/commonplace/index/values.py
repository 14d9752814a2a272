"""Single values as the tables keep them, and what counts for a note whatever it says.

What every look needs, apart from the notes themselves: it knows columns and loads nothing.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import date

from commonplace.named import NamedTuple

# A note that says it corrects more than this is read no further: each is looked for in every index.
CORRECTED = 50
# What columns of words hold: a bit that flips in a row's head makes bytes or nothing of it.
_TEXT = frozenset((str,))
_CARDS = "SELECT name, title, description, kind, author, day, folder, body FROM notes WHERE name IN ({})"
_STANDING = """SELECT notes.name, trust, pinned, day, expires, coalesce(times, 0)
    FROM notes LEFT JOIN uses ON uses.name = notes.name WHERE notes.name IN ({})"""
_USED = "INSERT INTO uses VALUES (?, 1) ON CONFLICT (name) DO UPDATE SET times = times + 1"
# What has expired corrects no more, as in the index.
_CORRECTING = """SELECT name, supersedes FROM notes WHERE supersedes != '' AND (expires = '' OR expires >= ?)
    ORDER BY day DESC, name DESC"""


class Garbled(sqlite3.DatabaseError):
    """A row's bytes are not what was written: the tables are damaged, though SQLite has not noticed."""


class Standing(NamedTuple):
    """What counts for or against a note, whatever it says."""

    trust: int
    pinned: bool
    day: str
    expired: bool
    corrected: tuple[str, ...]  # the notes of no less trust that say they correct this one, the newest first
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
    day = today.isoformat()
    correcting = _correcting(db, day)
    asked, last = set[str](), set(names)
    while last:  # what corrects them, what corrects that, and so on
        asked |= last
        last = {newer for name in last for newer in correcting.get(name, ())} - asked
    found = db.execute(_STANDING.format(",".join("?" * len(asked))), tuple(asked)).fetchall()
    trusted = {name: whole(trust) for name, trust, *_ in found}
    return {
        name: Standing(
            trusted[name], bool(pinned), said, bool(expires) and expires < day,
            tuple(newer for newer in correcting.get(name, ()) if trusted.get(newer, -1) >= trusted[name]), whole(uses),
        )
        for name, _, pinned, said, expires, uses in found
    }  # fmt: skip


def _correcting(db: sqlite3.Connection, day: str) -> dict[str, list[str]]:
    """The notes that are corrected, and by which."""
    found = db.execute(_CORRECTING, (day,)).fetchall()
    if not found:
        return {}
    from commonplace.index.rows import meant

    name_of = meant(db)
    by_old: dict[str, list[str]] = {}
    for name, packed in found:
        for old in dict.fromkeys(map(name_of, unpacked(packed)[:CORRECTED])):
            if old != name:
                by_old.setdefault(old, []).append(name)
    return by_old


def packed(items: tuple[str, ...]) -> str:
    """A tuple as the text it is kept as: a list of JSON, for whose plainest form nobody needs to load that."""
    if not items:
        return ""
    plain = "".join(items)
    if plain.isascii() and plain.isprintable() and not {'"', "\\"} & set(plain):
        return '["' + '", "'.join(items) + '"]'
    import json

    return json.dumps(items)


def unpacked(text: str) -> tuple[str, ...]:
    """A tuple from the text it is kept as."""
    if not text:
        return ()
    try:
        items = text[2:-2].split('", "')
        if (text[:2], text[-2:]) == ('["', '"]') and not {'"', "\\"} & set("".join(items)):
            return tuple(items)
        import json

        return tuple(map(str, json.loads(text)))
    except (ValueError, TypeError) as problem:
        raise Garbled(f"{str(text)[:40]!r} is no list") from problem


def whole(value: object) -> int:
    """A number as the tables keep it."""
    try:
        return int(str(value))
    except ValueError as problem:
        raise Garbled(f"{str(value)[:40]!r} is no number") from problem
