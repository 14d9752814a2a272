"""The catalog: what every note says, kept in the sidecar so that a call costs what changed since the last.

The files are the truth. `refresh` compares the store's scan with what was read before and reads again only what
changed; `follow` keeps up with a change of our own while other writers wait. It knows a Store and the tables.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Sequence
from datetime import date
from itertools import takewhile
from threading import local

from commonplace.errors import BadFormat, NotFound, StoreError
from commonplace.index import state, values
from commonplace.index.sidecar import Sidecar
from commonplace.store.base import (
    SETTLING_NS,
    UNSETTLED,
    Change,
    Inventory,
    Problem,
    Pulse,
    Seen,
    Store,
    settled,
)
from commonplace.store.paths import place_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    from commonplace.index.front import Known
    from commonplace.index.listing import Budget, Line, Listing
    from commonplace.index.rows import Read
    from commonplace.index.state import State
    from commonplace.note.kind import Kind
    from commonplace.note.note import Note

    T = TypeVar("T")

# Up to here every call looks at every file (2.5 ms per 1,000); above, the folders' own times decide.
SCAN_LIMIT = 10_000
# Above it, an edit in place is seen by the next call after this long; all else at once.
SCAN_EVERY_SECONDS = 60.0
_FILE = "SELECT folder, inode, size, mtime, ctime FROM files WHERE name = ?"
_NAMED = """SELECT name FROM notes WHERE name = ? AND slug = name
    UNION ALL SELECT name FROM notes WHERE slug = ? AND slug != name"""
_SESSIONS = """SELECT name, kind, line, supersedes FROM notes WHERE kind = 'session' AND (expires = '' OR expires >= ?)
    ORDER BY day DESC, name DESC LIMIT ?"""

# How often an answer is asked for again where the tables were begun again under it.
_LOOKS = 3

# Puts an index beside the notes, made by the function when it is this writer's turn.
Republish = Callable[[Callable[[], str]], str]


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
        scan_every: float = SCAN_EVERY_SECONDS,
        changes: Callable[[], int | None] = lambda: None,
    ) -> None:
        self._store = store
        self._side = sidecar
        self._today = today
        self._republish = republish
        self._scan_limit = scan_limit
        self._scan_every = scan_every
        self._changes = changes  # counted by somebody who watches the files; None where nobody does
        self._looked_after: int | None = None  # the count as of the last look at every file
        self._lying_about: tuple[Problem, ...] = ()
        self._mine = local()  # of each thread: `all_seen`, its last refresh looked at every file
        self._known: Known | None = None  # as this process's last change left it
        self.lost = ""  # what tells who wrote the notes and was gone at the last look
        self.published: Listing | None = None
        """The index as it was last put beside the notes by this process."""

    @property
    def place(self) -> str:
        """The file it is kept in; '' where it is in memory only."""
        return self._side.place

    @property
    def side(self) -> Sidecar:
        """The tables, for who looks after them."""
        return self._side

    def close(self) -> None:
        """Let the tables go; the next use opens them again."""
        self._side.close()

    # --- keeping up ------------------------------------------------------------------------------------------

    def refresh(self, *, full: bool = False, begin: bool = False, by: float | None = None) -> bool:
        """See every change that was made before this call, by whatever tool. Answers whether there was time for all.

        `begin` fills tables nobody has filled yet even where there are no notes; else nothing is made for those.

        Raises:
            Late: another process held the tables until the time given (`by`) was over.

        """
        changes = self._changes()
        had = self._side.run(state.read)
        looked = time.time_ns()
        pulse = self._store.pulse()
        recent = 0 <= time.time() - had.scanned < self._scan_every
        quiet = recent and pulse == had.pulse and not had.young
        unwatched = changes is None or changes != self._looked_after
        self._mine.all_seen = full or not quiet or (unwatched and had.notes <= self._scan_limit)
        if not self._mine.all_seen:
            return True
        inventory = self._store.scan("" if full else had.mark)
        self.lost = inventory.lost
        if not inventory.part:
            self._lying_about = inventory.problems
        gone, again, mark, whole = self._differing(inventory, had, by)
        if not whole:
            self._mine.all_seen = False
            self._work_in_some(had, again, inventory.log, by)
            return False
        self._looked_after = changes
        same = not gone and not again and pulse == had.pulse and had.notes <= self._scan_limit
        same = same and (changes is None or not had.young)  # who watches relies on the pulse from here on
        if same and (had.scanned or not begin):
            if mark != had.mark and had.scanned:
                self._side.run(lambda db: state.keep_mark(db, mark, had.version), write=True, by=by)
            return True
        from commonplace.index import rows

        young = looked if pulse != had.pulse else had.young if _within(looked - had.young, SETTLING_NS) else 0
        looked_at = rows.Looked(gone, again, pulse, young, inventory.log, mark)
        other = self._side.run(lambda db: rows.work_in(db, had, looked_at), write=True, by=by)
        if other is None:  # the tables that knew the other notes are gone
            return self.refresh(full=True, by=by)
        if self._republish is not None and (other or pulse != had.pulse):
            self._republish(self._index)
            self._note_pulse(pulse)
        return True

    def catch_up(self) -> None:
        """The cheap refresh before a save: look at every file only if some entry came, went or was replaced."""
        if self.lags():
            self.refresh(full=True)

    def lags(self) -> bool:
        """Whether some entry came, went or was replaced since the last refresh."""
        return self._side.run(state.pulse) != self._store.pulse()

    def begin(self) -> None:
        """Fill tables that nobody has filled yet, before a first change: `follow` adds to what is known."""
        if not self._side.run(lambda db: state.get(db, "scanned", 0.0)):
            self.refresh(full=True, begin=True)

    def follow(self, change: Change) -> tuple[str, ...]:
        """Take a change of our own into the tables and the index. Runs under the writers' lock."""
        try:
            # The index never goes out inside a transaction: a writer that is stopped there holds no reader up.
            ahead = self._side.run(lambda db: self._worked_in(db, change))
            problem = change.publish(ahead.listing.text) if ahead else ""
            known = self._side.run(lambda db: self._follow(db, change, ahead), write=True)
            if known is None:
                return ()
            if known is not ahead:
                problem = change.publish(known.listing.text)
                self._side.run(lambda db: self._note_ours(db, change), write=True)
        except (sqlite3.Error, StoreError) as trouble:
            return (f"the catalog could not follow ({trouble}); the note is safe, and the next call catches up",)
        self.published, self._known, self.lost = known.listing, known, ""  # a change begins the log anew
        return (problem,) if problem else ()

    def publish(self) -> str:
        """Put the index beside the notes, whatever stands there. Answers why that could not be done, or ''."""
        self.refresh(full=True)
        return self._republish(self._index) if self._republish else ""

    def holds(self, names: Sequence[str]) -> bool:
        """Whether these notes still are what the tables say.

        Asked of what is about to be shown: above the scan limit a refresh does not look at every file.
        """
        return getattr(self._mine, "all_seen", False) or all(map(self._unchanged, names))

    def _answer(self, ask: Callable[[sqlite3.Connection], T]) -> T:
        """What the tables say; after a fresh look at the files where others had to take their place meanwhile."""
        for _ in range(_LOOKS):
            begun = self._side.begun
            answer = self._side.run(ask)
            if self._side.begun == begun:
                return answer
            self.refresh(full=True)
        return self._side.run(ask)

    # --- answers ---------------------------------------------------------------------------------------------

    def listing(self, today: date, budget: Budget, *, head: Sequence[str] = (), reach: str) -> Listing:
        """The index as of the last refresh."""
        from commonplace.index import front
        from commonplace.index.listing import fit

        day = today.isoformat()
        best, totals = self._answer(lambda db: (front.read(db, day, budget.lines), front.listed(db, day)))
        return fit((*best.best, *best.corrections), totals, budget, head=head, reach=reach)

    def sessions(self, today: date, most: int) -> list[Line]:
        """The newest sessions, newest first."""
        return self._answer(lambda db: _sessions(db, today.isoformat(), most))

    def notes(self) -> list[tuple[Note, str]]:
        """Every note with who wrote it, by name."""
        from commonplace.index import rows

        return self._answer(
            lambda db: [(rows.note_of(row), row[4]) for row in db.execute(rows.SELECT + " ORDER BY name")]
        )

    def applying(self) -> dict[str, tuple[str, ...]]:
        """The notes that say where they apply, and where."""
        return self._answer(values.applying)

    def used(self, name: str) -> None:
        """Count that a note was read by whoever looked for it. It is no fact about the note: losing it loses no memory."""
        self._side.run(lambda db: values.used(db, name), write=True)

    def cards(self, names: Sequence[str]) -> dict[str, values.Card]:
        """What is shown of some notes where they are found."""
        return self._answer(lambda db: values.cards(db, names))

    def standing(self, names: Sequence[str], today: date) -> dict[str, values.Standing]:
        """What counts for or against some notes, whatever they say."""
        return self._answer(lambda db: values.standing(db, names, today))

    def counts(self) -> dict[Kind, int]:
        """How many notes there are of each kind."""
        from commonplace.index import front

        return self._answer(front.totals)

    def stamps(self) -> dict[str, str]:
        """The stamp of every note, by name."""
        return self._answer(lambda db: dict(db.execute("SELECT name, stamp FROM notes").fetchall()))

    def size(self) -> int:
        """How many bytes the notes' files have."""
        return self._answer(lambda db: int(db.execute("SELECT coalesce(sum(size), 0) FROM files").fetchone()[0]))

    def named(self, slug: str) -> list[str]:
        """The names whose slug this is: `user_prefs` answers to `user-prefs`."""
        found = self._answer(lambda db: db.execute(_NAMED, (slug, slug)).fetchall())
        return sorted(name for (name,) in found)

    def problems(self) -> tuple[Problem, ...]:
        """What a person should know of the files, as of the last full refresh."""
        found = self._answer(_troubled)
        if self._side.rebuilt:
            found.append(Problem("catalog", self._side.rebuilt, unread=False))
        return tuple(sorted({*self._lying_about, *found}))

    def _worked_in(self, db: sqlite3.Connection, change: Change) -> Known | None:
        """The index with a change, from what this process knew before it; None where only the tables can tell."""
        from commonplace.index import front

        known = self._known
        if known is None or known.front.today != self._today().isoformat() or known.version != state.version(db):
            return None
        return front.worked_in(db, known, change.name, change.found)

    def _follow(self, db: sqlite3.Connection, change: Change, ahead: Known | None) -> Known | None:
        """Write one change. Answers the index with it: the one that went out ahead, if nothing else happened since."""
        from commonplace.index import front, rows

        if not state.get(db, "scanned", 0.0):  # tables just begun again know no other note: the next call fills them
            return None
        version = state.version(db) + 1
        if change.found is None:
            rows.drop(db, change.name)
        else:
            rows.put_file(db, settled(change.found.seen, time.time_ns()), version, "")
            rows.put_note(db, change.found)
        state.put(db, "version", version)
        if ahead is not None and ahead.version == version:
            self._note_ours(db, change)
            return ahead
        return front.known(db, version, self._today().isoformat())

    def _note_ours(self, db: sqlite3.Connection, change: Change) -> None:
        """Remember the state a change of ours and its index left behind."""
        if state.pulse(db) == change.before:  # else something else happened too, which a refresh must find
            state.set_pulse(db, self._store.pulse(), time.time_ns())

    def _unchanged(self, name: str) -> bool:
        known = self._side.run(lambda db: db.execute(_FILE, (name,)).fetchone())
        try:
            seen = self._store.get(name).seen
        except (BadFormat, NotFound):
            return False
        return bool(known == (seen.folder, *seen.signature))

    def _index(self) -> str:
        from commonplace.index.listing import INDEX_HEAD, INDEX_REACH, WHOLE_INDEX

        self.published = self.listing(self._today(), WHOLE_INDEX, head=INDEX_HEAD, reach=INDEX_REACH)
        return self.published.text

    def _differing(self, inventory: Inventory, had: State, by: float | None) -> tuple[set[str], list[Read], str, bool]:
        """The names that are gone, the files that are not as they were last read, and the mark of what is known then.

        '' for that where something must be read again next time whatever the signatures say. The last tells whether
        there was time to read all files that differ.
        """
        if had.mark and inventory.mark == had.mark:
            return set(), [], had.mark, True
        names = [seen.name for seen in inventory.seen]
        files = self._side.run(lambda db: state.files(db, names if inventory.part else None))
        gone = set[str]() if inventory.part else set(files).difference(names)
        known = files if inventory.log == had.log else {}  # by another log, others may have written all
        differing = [seen for seen in inventory.seen if known.get(seen.name) != (seen.folder, *seen.signature)]
        half = None if by is None else (by + time.monotonic()) / 2  # what is read must be written too
        again = list(map(self._read, takewhile(lambda _: half is None or time.monotonic() < half, differing)))
        sure = all(
            read.seen == seen and (read.found or read.problem) for read, seen in zip(again, differing, strict=False)
        )
        return gone, again, inventory.mark if sure else "", len(again) == len(differing)

    def _work_in_some(self, had: State, again: Sequence[Read], log: str, by: float | None) -> None:
        from commonplace.index import rows

        self._side.run(lambda db: rows.work_in_some(db, had, again, log), write=True, by=by)

    def _read(self, seen: Seen) -> Read:
        from commonplace.index.rows import Read

        at = time.time_ns()
        try:
            found = self._store.get(seen.name)
        except BadFormat as problem:
            if problem.__cause__ is None:
                return Read(settled(seen, at), None, str(problem))
            # What hinders reading may go without the file's changing: it is tried again every time.
            return Read(seen._replace(signature=UNSETTLED), None, str(problem))
        except NotFound:  # gone between the scan and now
            return Read(seen, None, "")
        return Read(settled(found.seen, at), found, "")

    def _note_pulse(self, pulse: Pulse) -> None:
        self._side.run(lambda db: state.set_pulse(db, self._store.pulse() or pulse, time.time_ns()), write=True)


def _within(passed: int, span: int) -> bool:
    """Whether so much time is less than a span. A clock that was set back counts as long ago."""
    return 0 <= passed < span


def _sessions(db: sqlite3.Connection, today: str, most: int) -> list[Line]:
    from commonplace.index import rows

    return [rows.line_row(row) for row in db.execute(_SESSIONS, (today, most))]


def _troubled(db: sqlite3.Connection) -> list[Problem]:
    unread = db.execute("SELECT folder, name, problem FROM files WHERE problem != ''")
    found = [Problem(place_of(name, folder), problem) for folder, name, problem in unread]
    for folder, name, packed in db.execute("SELECT folder, name, odd FROM notes WHERE odd != ''"):
        found += [Problem(place_of(name, folder), word, unread=False) for word in values.unpacked(packed)]
    return found
