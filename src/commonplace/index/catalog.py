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
        if not full and recent and len(state.files) > self._scan_limit and pulse == state.pulse:
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
            current = self._side.run(lambda db: _follow(db, change), write=True)
            problem = change.publish(self._index())
            if current:
                self._note_pulse(self._store.pulse())
        except sqlite3.Error as trouble:
            return (f"the catalog could not follow ({trouble}); the note is safe, and the next call catches up",)
        return (problem,) if problem else ()

    # --- answers ---------------------------------------------------------------------------------------------

    def listing(self, today: date, budget: Budget, *, head: Sequence[str] = (), reach: str) -> Listing:
        """The index as of the last refresh."""
        lines, totals = self._side.run(lambda db: _candidates(db, today.isoformat(), budget.lines))
        return fit(lines, totals, budget, head=head, reach=reach)

    def notes(self) -> list[tuple[Note, str]]:
        """Every note with who wrote it, by name."""
        found = self._side.run(lambda db: db.execute(rows.SELECT + " ORDER BY name").fetchall())
        return [(rows.note_of(row), row[4]) for row in found]

    def counts(self) -> dict[Kind, int]:
        """How many notes there are of each kind."""
        found = self._side.run(lambda db: db.execute("SELECT kind, count(*) FROM notes GROUP BY kind").fetchall())
        return {Kind(kind): count for kind, count in found}

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


def _follow(db: sqlite3.Connection, change: Change) -> bool:
    """Write one change. Answers whether nothing else had happened since the tables were last brought up to date."""
    version = int(_get(db, "version", 0)) + 1
    if change.found is None:
        rows.drop(db, change.name)
    else:
        rows.put_file(db, _settled(change.found.seen), version, "")
        rows.put_note(db, change.found)
    _set(db, "version", version)
    return _pulse(db) == change.before


def _settled(seen: Seen) -> Seen:
    """A signature that will not match again where the file changed too recently to be sure of it."""
    inode, size, mtime, ctime = seen.signature
    fresh = time.time_ns() - max(mtime, ctime) < _SETTLING_NS
    return seen._replace(signature=(inode, size, 0, 0)) if fresh else seen


def _candidates(db: sqlite3.Connection, today: str, most: int) -> tuple[list[Line], dict[Kind, int]]:
    """The notes of most value, the corrections of any of them, and how many there are of each kind."""
    current = "kind != 'session' AND (expires = '' OR expires >= ?)"
    totals = db.execute(f"SELECT kind, count(*) FROM notes WHERE {current} GROUP BY kind", (today,))
    counts = {Kind(kind): count for kind, count in totals}
    columns = "SELECT name, kind, line, supersedes FROM notes"
    order = "ORDER BY trust DESC, pinned DESC, updated DESC, name"
    best = db.execute(f"{columns} WHERE {current} {order} LIMIT ?", (today, most)).fetchall()
    lines = {row[0]: rows.line_row(row) for row in best}
    if len(best) == most:
        correcting = db.execute(f"{columns} WHERE supersedes != '' AND {current} {order}", (today,)).fetchall()
        waiting = [rows.line_row(row) for row in correcting if row[0] not in lines]
        while found := [line for line in waiting if line.name not in lines and lines.keys() & set(line.supersedes)]:
            lines.update((line.name, line) for line in found)
    return list(lines.values()), counts


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
