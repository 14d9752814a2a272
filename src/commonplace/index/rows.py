"""A note as the row the catalog keeps, and back; and what a look at the store found, worked into all rows.

It knows the tables' columns and nothing of when one looks. It is loaded where something changed.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Sequence
from datetime import date

from commonplace.errors import BadName
from commonplace.index import state
from commonplace.index.listing import Line, line_of
from commonplace.index.values import CORRECTED, Garbled, packed, unpacked
from commonplace.named import NamedTuple
from commonplace.note.kind import Kind
from commonplace.note.note import Note
from commonplace.note.slug import slugify
from commonplace.store.base import Found, Pulse, Seen, trust_of
from commonplace.store.paths import SUFFIX

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

COLUMNS = (
    "name", "slug", "folder", "stamp", "author", "trust", "kind", "word", "title", "description", "tags", "created",
    "updated", "day", "expires", "pinned", "applies_to", "supersedes", "origin", "session", "odd", "line", "body",
)  # fmt: skip
_PUT_NOTE = f"INSERT INTO notes ({', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(COLUMNS))})"
_PUT_FILE = "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?)"


class _Kinds(dict[str, Kind]):
    def __missing__(self, word: str) -> Kind:
        raise Garbled(f"{word!r} is no kind")


# What columns hold: a bit that flips in a row's head makes bytes or nothing of it.
_TEXT = frozenset((str,))
_KEPT = frozenset((str, int))
# By the word a row keeps: several times quicker than asking the enumeration, two hundred times a listing.
KIND = _Kinds({str(kind): kind for kind in Kind})
SELECT = f"SELECT {', '.join(COLUMNS)} FROM notes"


class Read(NamedTuple):
    """A file that was read again: what it says, or why it could not be read."""

    seen: Seen
    found: Found | None
    problem: str


class Looked(NamedTuple):
    """What a look at the store found."""

    gone: set[str]
    again: list[Read]
    pulse: Pulse
    young: int
    log: str
    mark: str


def work_in(db: sqlite3.Connection, had: state.State, looked: Looked) -> bool | None:
    """Write what a look found, except over rows a writer brought up to date since it began.

    Answers whether any note says something else than before; None, and nothing written, into other tables.
    """
    # Tables begun again know nothing; those taken over from the file may know less than those that were looked at.
    if (had.scanned and not state.get(db, "scanned", 0.0)) or state.version(db) < had.version:
        return None
    version = state.version(db) + 1
    newer = {name for (name,) in db.execute("SELECT name FROM files WHERE version > ?", (had.version,))}
    other = bool(looked.gone - newer)
    for name in looked.gone - newer:
        drop(db, name)
    for read in looked.again:
        if read.seen.name not in newer:
            other = _work_in_one(db, read, version, same_log=looked.log == had.log) or other
    state.keep_mark(db, looked.mark, had.version)
    state.put(db, "version", version)
    state.set_pulse(db, looked.pulse, looked.young)
    state.put(db, "log", looked.log)
    state.put(db, "scanned", int(time.time()))
    return other


def work_in_some(db: sqlite3.Connection, had: state.State, again: Sequence[Read], log: str) -> None:
    """Write what a look had the time to read; the next goes on with the rest. Nothing yet says that all is known."""
    if had.log != log and had.scanned:  # by another log, who wrote the rest would be told by two
        return
    # Tables begun again know nothing; those taken over from the file may know less than those that were looked at.
    if (had.scanned and not state.get(db, "scanned", 0.0)) or state.version(db) < had.version:
        return
    version = state.version(db) + 1
    newer = {name for (name,) in db.execute("SELECT name FROM files WHERE version > ?", (had.version,))}
    for read in again:
        if read.seen.name not in newer:
            _work_in_one(db, read, version, same_log=log == had.log)
    state.put(db, "version", version)
    state.put(db, "log", log)


def _work_in_one(db: sqlite3.Connection, read: Read, version: int, *, same_log: bool) -> bool:
    name, found = read.seen.name, read.found
    known = db.execute("SELECT stamp, folder, author FROM notes WHERE name = ?", (name,)).fetchone()
    if found is None:
        drop(db, name)
        if read.problem:
            put_file(db, read.seen, version, read.problem)
        return known is not None
    put_file(db, read.seen, version, "")
    author = known[2] if known and same_log else found.author()
    if known == (found.note.stamp, found.note.folder, author):
        return False
    put_note(db, found)
    return True


def put_note(db: sqlite3.Connection, found: Found) -> None:
    """Write a note's row."""
    note, author = found.note, found.author()
    db.execute("DELETE FROM notes WHERE name = ?", (note.name,))
    db.execute(_PUT_NOTE, (
        note.name, slug_of(note.name), note.folder, note.stamp, author, trust_of(author), str(note.kind),
        note.word, note.title, note.description, packed(note.tags), _iso(note.created), _iso(note.updated),
        _iso(note.updated or note.created), _iso(note.expires), int(note.pinned), packed(note.applies_to),
        packed(note.supersedes), note.origin, note.session, packed(note.odd), line_of(note), note.body,
    ))  # fmt: skip


def put_file(db: sqlite3.Connection, seen: Seen, version: int, problem: str) -> None:
    """Write what a scan saw of a file, and why it could not be read, if it could not."""
    db.execute(_PUT_FILE, (seen.name, seen.folder, *seen.signature, version, problem))


def drop(db: sqlite3.Connection, name: str) -> None:
    """Take out a note, and what a scan saw of it."""
    for table in ("files", "notes", "uses"):
        db.execute(f"DELETE FROM {table} WHERE name = ?", (name,))


def note_of(row: tuple[Any, ...]) -> Note:
    """The note a row stands for. It has no source: to change it, get it from the store."""
    if not _KEPT.issuperset(map(type, row)):
        raise Garbled(f"a value of {row[0]!r} is of another type")
    (name, _, folder, stamp, _, _, kind, word, title, description, tags, created, updated,
     _, expires, pinned, applies_to, supersedes, origin, session, odd, _, body) = row  # fmt: skip
    return Note(
        name=name, title=title, description=description, kind=KIND[kind], word=word, body=body, tags=unpacked(tags),
        created=_day(created), updated=_day(updated), expires=_day(expires), pinned=bool(pinned),
        applies_to=unpacked(applies_to), supersedes=unpacked(supersedes), origin=origin, session=session,
        folder=folder, stamp=stamp, odd=unpacked(odd),
    )  # fmt: skip


def line_row(row: tuple[str, str, str, str]) -> Line:
    """A listing's line from `name, kind, line, supersedes`."""
    if not _TEXT.issuperset(map(type, row)):
        raise Garbled(f"a value of {row[0]!r} is of another type")
    return Line(row[0], KIND[row[1]], row[2], unpacked(row[3])[:CORRECTED] if row[3] else ())


def slug_of(name: str) -> str:
    """The slug by which a name is found; the name itself where it makes none."""
    try:
        return slugify(name)
    except BadName:
        return name


def meant(db: sqlite3.Connection) -> Callable[[str], str]:
    """Which note a name means that somebody wrote: `User Prefs` is `user_prefs.md`."""
    names = {slug: name for name, slug in db.execute("SELECT name, slug FROM notes WHERE slug != name")}
    own = set(names.values())

    def name_of(old: str) -> str:
        if old in own:
            return old
        slug = slug_of(old.removesuffix(SUFFIX))
        return str(names.get(slug, slug))

    return name_of


def _iso(day: date | None) -> str:
    return day.isoformat() if day else ""


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except (ValueError, TypeError) as problem:
        raise Garbled(f"{str(text)[:40]!r} is no day") from problem
