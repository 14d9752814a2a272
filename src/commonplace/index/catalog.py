"""The catalog: what every note says, kept in the sidecar so that a call costs what changed since the last.

The files are the truth. `refresh` compares the store's scan with what was read before and reads again only what
changed; `follow` keeps up with a change of our own while other writers wait. It knows a Store and the tables.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Sequence
from datetime import date
from typing import Any, NamedTuple

from commonplace.errors import BadFormat, NotFound
from commonplace.index import rows
from commonplace.index.listing import INDEX_HEAD, INDEX_REACH, WHOLE_INDEX, Budget, Line, Listing, fit
from commonplace.index.sidecar import Sidecar
from commonplace.note.kind import Kind
from commonplace.note.note import Note
from commonplace.store.base import Change, Found, Problem, Pulse, Seen, Store
from commonplace.store.paths import place_of

# Up to here every call looks at every file (2.5 ms per 1,000); above, the folders' own times decide.
SCAN_LIMIT = 10_000
# Above it, an edit in place is seen by the next call after this long; all else at once.
SCAN_EVERY_SECONDS = 60.0
# File systems stamp changes in ticks of up to 4 ms: a file this fresh may change again under the same signature.
_SETTLING_NS = 10_000_000

_FILE = "SELECT folder, inode, size, mtime, ctime FROM files WHERE name = ?"
_LINES = "SELECT name, kind, line, supersedes FROM notes"
_CURRENT = "(expires = '' OR expires >= ?)"
_BY_VALUE = "ORDER BY trust DESC, pinned DESC, day DESC, name"
_BEST = f"{_LINES} WHERE kind != 'session' AND {_CURRENT} {_BY_VALUE} LIMIT ?"
_CORRECTING = (  # few notes correct others; left to itself, SQLite walks through all of them by value
    f"{_LINES} INDEXED BY notes_correcting WHERE supersedes != '' AND kind != 'session' AND {_CURRENT} {_BY_VALUE}"
)
_NEWEST_SESSIONS = f"{_LINES} WHERE kind = 'session' AND {_CURRENT} ORDER BY day DESC, name DESC LIMIT ?"

# Puts an index beside the notes, made by the function when it is this writer's turn.
Republish = Callable[[Callable[[], str]], str]


class _State(NamedTuple):
    """What the catalog knew when a refresh began."""

    version: int
    pulse: Pulse
    scanned: float
    files: dict[str, tuple[str, int, int, int, int]]


class _Read(NamedTuple):
    """A file that was read again: what it says, or why it could not be read."""

    seen: Seen
    found: Found | None
    problem: str


class Catalog:
    """What is known of a store's notes. Answers are right as of the last `refresh`."""

    def __init__(
        self,
        store: Store,
        sidecar: Sidecar,
        *,
        today: Callable[[], date],
        republish: Republish | None = None,
        scan_limit: int = SCAN_LIMIT,
    ) -> None:
        self._store = store
        self._side = sidecar
        self._today = today
        self._republish = republish
        self._scan_limit = scan_limit
        self._lying_about: tuple[Problem, ...] = ()
        self._all_seen = False  # the last refresh looked at every file
        self.published: Listing | None = None
        """The index as it was last put beside the notes by this process."""

    @property
    def place(self) -> str:
        """The file it is kept in; '' where it is in memory only."""
        return self._side.place

    # --- keeping up ------------------------------------------------------------------------------------------

    def refresh(self, *, full: bool = False) -> None:
        """See every change that was made before this call, by whatever tool."""
        state = self._side.run(_read_state)
        pulse = self._store.pulse()
        recent = 0 <= time.time() - state.scanned < SCAN_EVERY_SECONDS
        self._all_seen = full or not recent or len(state.files) <= self._scan_limit or pulse != state.pulse
        if not self._all_seen:
            return
        inventory = self._store.scan()
        self._lying_about = inventory.problems
        gone = set(state.files).difference(seen.name for seen in inventory.seen)
        again = [self._read(s) for s in inventory.seen if state.files.get(s.name) != (s.folder, *s.signature)]
        if not gone and not again and pulse == state.pulse and len(state.files) <= self._scan_limit:
            return
        other = self._side.run(lambda db: _apply(db, state.version, gone, again, pulse), write=True)
        if self._republish is not None and (other or pulse != state.pulse):
            self._republish(self._index)
            self._note_pulse(pulse)

    def catch_up(self) -> None:
        """The cheap refresh before a save: look at every file only if some entry came, went or was replaced."""
        if self._side.run(_pulse) != self._store.pulse():
            self.refresh(full=True)

    def follow(self, change: Change) -> tuple[str, ...]:
        """Take a change of our own into the tables and the index. Runs under the writers' lock."""
        try:
            problem = self._side.run(lambda db: self._follow(db, change), write=True)
        except sqlite3.Error as trouble:
            return (f"the catalog could not follow ({trouble}); the note is safe, and the next call catches up",)
        return (problem,) if problem else ()

    def holds(self, names: Sequence[str]) -> bool:
        """Whether these notes still are what the tables say.

        Asked of what is about to be shown: above the scan limit a refresh does not look at every file.
        """
        return self._all_seen or all(map(self._unchanged, names))

    # --- answers ---------------------------------------------------------------------------------------------

    def listing(self, today: date, budget: Budget, *, head: Sequence[str] = (), reach: str) -> Listing:
        """The index as of the last refresh."""
        lines, totals = self._side.run(lambda db: _candidates(db, today.isoformat(), budget.lines))
        return fit(lines, totals, budget, head=head, reach=reach)

    def sessions(self, today: date, most: int) -> list[Line]:
        """The newest sessions, newest first."""
        return self._side.run(lambda db: _sessions(db, today.isoformat(), most))

    def notes(self) -> list[tuple[Note, str]]:
        """Every note with who wrote it, by name."""
        found = self._side.run(lambda db: db.execute(rows.SELECT + " ORDER BY name").fetchall())
        return [(rows.note_of(row), row[4]) for row in found]

    def counts(self) -> dict[Kind, int]:
        """How many notes there are of each kind."""
        return self._side.run(_totals)

    def named(self, slug: str) -> list[str]:
        """The names whose slug this is: `user_prefs` answers to `user-prefs`."""
        query = "SELECT name FROM notes WHERE slug = ? ORDER BY name"
        return [name for (name,) in self._side.run(lambda db: db.execute(query, (slug,)).fetchall())]

    def problems(self) -> tuple[Problem, ...]:
        """What a person should know of the files, as of the last full refresh."""
        unread, odd = self._side.run(_troubled)
        found = [Problem(place_of(name, folder), problem) for folder, name, problem in unread]
        for folder, name, packed in odd:
            found += [Problem(place_of(name, folder), word, unread=False) for word in rows.unpacked(packed)]
        if self._side.rebuilt:
            found.append(Problem("catalog", f"was begun again: {self._side.rebuilt}", unread=False))
        return tuple(sorted({*self._lying_about, *found}))

    def _follow(self, db: sqlite3.Connection, change: Change) -> str:
        """Write one change, put the index beside the notes, and remember the state both left behind."""
        version = int(_get(db, "version", 0)) + 1
        if change.found is None:
            rows.drop(db, change.name)
        else:
            rows.put_file(db, _settled(change.found.seen), version, "")
            rows.put_note(db, change.found)
        _set(db, "version", version)
        lines, totals = _candidates(db, self._today().isoformat(), WHOLE_INDEX.lines)
        self.published = fit(lines, totals, WHOLE_INDEX, head=INDEX_HEAD, reach=INDEX_REACH)
        problem = change.publish(self.published.text)
        if _pulse(db) == change.before:  # else something else happened too, which a refresh must find
            _set(db, "pulse", _packed(self._store.pulse()))
        return problem

    def _unchanged(self, name: str) -> bool:
        known = self._side.run(lambda db: db.execute(_FILE, (name,)).fetchone())
        try:
            seen = self._store.get(name).seen
        except (BadFormat, NotFound):
            return False
        return bool(known == (seen.folder, *seen.signature))

    def _index(self) -> str:
        self.published = self.listing(self._today(), WHOLE_INDEX, head=INDEX_HEAD, reach=INDEX_REACH)
        return self.published.text

    def _read(self, seen: Seen) -> _Read:
        try:
            found = self._store.get(seen.name)
        except BadFormat as problem:
            return _Read(seen, None, str(problem))
        except NotFound:  # gone between the scan and now
            return _Read(seen, None, "")
        return _Read(found.seen, found, "")

    def _note_pulse(self, pulse: Pulse) -> None:
        self._side.run(lambda db: _set(db, "pulse", _packed(self._store.pulse() or pulse)), write=True)


def _read_state(db: sqlite3.Connection) -> _State:
    files = {
        name: tuple(rest) for name, *rest in db.execute("SELECT name, folder, inode, size, mtime, ctime FROM files")
    }
    return _State(int(_get(db, "version", 0)), _pulse(db), float(_get(db, "scanned", 0.0)), files)


def _apply(db: sqlite3.Connection, known: int, gone: set[str], again: list[_Read], pulse: Pulse) -> bool:
    """Write what a refresh found, except over rows a writer brought up to date since it began.

    Answers whether any note says something else than before.
    """
    version = int(_get(db, "version", 0)) + 1
    newer = {name for (name,) in db.execute("SELECT name FROM files WHERE version > ?", (known,))}
    other = bool(gone - newer)
    for name in gone - newer:
        rows.drop(db, name)
    for read in again:
        if read.seen.name not in newer:
            other = _apply_read(db, read, version) or other
    _set(db, "version", version)
    _set(db, "pulse", _packed(pulse))
    _set(db, "scanned", time.time())
    return other


def _apply_read(db: sqlite3.Connection, read: _Read, version: int) -> bool:
    name, found = read.seen.name, read.found
    known = db.execute("SELECT stamp, folder FROM notes WHERE name = ?", (name,)).fetchone()
    if found is None:
        rows.drop(db, name)
        if read.problem:
            rows.put_file(db, _settled(read.seen), version, read.problem)
        return known is not None
    rows.put_file(db, _settled(read.seen), version, "")
    if known == (found.note.stamp, found.note.folder):
        return False
    rows.put_note(db, found)
    return True


def _settled(seen: Seen) -> Seen:
    """A signature that will not match again where the file changed too recently to be sure of it."""
    inode, size, _, ctime = seen.signature
    fresh = time.time_ns() - ctime < _SETTLING_NS
    return seen._replace(signature=(inode, size, 0, 0)) if fresh else seen


def _totals(db: sqlite3.Connection) -> dict[Kind, int]:
    return {rows.KIND[kind]: count for kind, count in db.execute("SELECT kind, count FROM totals WHERE count > 0")}


def _candidates(db: sqlite3.Connection, today: str, most: int) -> tuple[list[Line], dict[Kind, int]]:
    """The notes of most value, the corrections of any of them, and how many there are of each kind."""
    counts = _totals(db)
    counts.pop(Kind.SESSION, None)
    expired = "SELECT kind, count(*) FROM notes WHERE expires != '' AND expires < ? AND kind != 'session' GROUP BY kind"
    for kind, gone in db.execute(expired, (today,)):
        counts[rows.KIND[kind]] -= gone
    best = db.execute(_BEST, (today, most)).fetchall()
    lines = {row[0]: rows.line_row(row) for row in best}
    if len(best) == most:
        waiting = [rows.line_row(row) for row in db.execute(_CORRECTING, (today,)) if row[0] not in lines]
        while found := [line for line in waiting if line.name not in lines and lines.keys() & set(line.supersedes)]:
            lines.update((line.name, line) for line in found)
    return list(lines.values()), counts


def _sessions(db: sqlite3.Connection, today: str, most: int) -> list[Line]:
    return [rows.line_row(row) for row in db.execute(_NEWEST_SESSIONS, (today, most))]


def _troubled(db: sqlite3.Connection) -> tuple[list[tuple[str, str, str]], list[tuple[str, str, str]]]:
    unread = db.execute("SELECT folder, name, problem FROM files WHERE problem != ''").fetchall()
    return unread, db.execute("SELECT folder, name, odd FROM notes WHERE odd != ''").fetchall()


def _get(db: sqlite3.Connection, key: str, default: Any) -> Any:
    row = db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return row[0] if row else default


def _set(db: sqlite3.Connection, key: str, value: object) -> None:
    db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))


def _pulse(db: sqlite3.Connection) -> Pulse:
    text = str(_get(db, "pulse", ""))
    return tuple(int(mark) for mark in text.split()) if text else (-1,)


def _packed(pulse: Pulse) -> str:
    return " ".join(map(str, pulse))
