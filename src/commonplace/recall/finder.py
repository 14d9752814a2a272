"""Finder: what there is kept findable, and a query answered from it, best first. The same for notes and documents.

What is found comes from a corpus, which hands over what changed; the engine finds by words, the encoder by meaning.
It knows tables and texts, not what a key stands for.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Collection, Sequence
from datetime import date
from typing import NamedTuple, Protocol

from commonplace.index.sidecar import Sidecar
from commonplace.recall import fuse
from commonplace.recall.analyze import Word, asked, stems
from commonplace.recall.fuse import Placed
from commonplace.recall.lexical import Engine, Fts5, Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from commonplace.recall.dates import Span

# Words of which a query has one if it speaks of a day in words (or it has a number in it).
_DAYS = frozenset((
    "january february march april may june july august september october november december jan feb mar apr jun jul aug "
    "sep sept oct nov dec jan. feb. mar. apr. jun. jul. aug. sep. sept. oct. nov. dec. yesterday today ago last past "
    "previous this yesterday? today? ago? week? month? year? january? february? march? april? may? june? july? august? "
    "september? october? november? december?"
).split())  # fmt: skip
# So many changes are worked in at a time: other writers of the sidecar wait no longer than for a save.
_BATCH = 100
_SMALL_BATCH = 10  # where there is a deadline
_STEPS = 2_000  # of SQLite's machine, between looks at the clock: a tenth of a millisecond
# Whose meaning is compared with the query's: the best by all else. A full comparison found no more of them.
_COMPARED = 50


class Changes(NamedTuple):
    """Texts that are new or say something else, and the keys of those that are gone."""

    texts: tuple[Text, ...]
    gone: tuple[str, ...]


class Corpus(Protocol):
    """What there is to find. Every method works within the caller's transaction."""

    def waits(self, db: sqlite3.Connection) -> bool:
        """Whether anything changed that has not been handed over."""

    def changes(self, db: sqlite3.Connection, most: int) -> Changes:
        """Hand over some of what changed."""

    def begin_again(self, db: sqlite3.Connection) -> None:
        """Hand everything over once more."""


class Answers(NamedTuple):
    """What a query found, best first, and how its words were read."""

    placed: list[Placed]
    words: tuple[Word, ...] = ()
    guessed: tuple[tuple[str, str], ...] = ()
    asked: float = 0.0
    """What all words of the query weigh together, those nothing holds among them."""


class Finder:
    """Finds texts of one corpus. Safe from any thread, as the sidecar is."""

    def __init__(self, side: Sidecar, corpus: Corpus, engine: Engine | None = None) -> None:
        self._side = side
        self._corpus = corpus
        self._engine = engine or Fts5()

    def keep_up(self, by: float | None = None) -> None:
        """Make findable what changed since the last time; at once where nothing did, and no longer than until `by`."""
        most = _BATCH if by is None else _SMALL_BATCH
        while (by is None or time.monotonic() < by) and self._side.run(self._waits):
            self._side.run(lambda db: self._take_some(db, most), write=True)

    def find(self, query: str, today: date, among: Collection[str] | None = None, by: float | None = None) -> Answers:
        """The texts that answer a query; none where that is not known by the time given. `among` names those that may."""
        self.keep_up(by)
        if by is None:
            return self._side.run(lambda db: self._found(db, query, today, among))
        return self._side.run(lambda db: self._found_by(db, query, today, by))

    def _found_by(self, db: sqlite3.Connection, query: str, today: date, by: float) -> Answers:
        db.set_progress_handler(lambda: time.monotonic() > by, _STEPS)
        try:
            return self._found(db, query, today, None)
        except sqlite3.OperationalError as problem:
            if problem.sqlite_errorcode != sqlite3.SQLITE_INTERRUPT:
                raise
            return Answers([])
        finally:
            db.set_progress_handler(None, 0)

    def _found(self, db: sqlite3.Connection, query: str, today: date, among: Collection[str] | None) -> Answers:
        words = asked(query, self._engine.languages(db))
        matches = self._engine.find(db, words, among)
        best = fuse.placed(matches, _spans(query, today))
        return Answers(best, matches.words, matches.guessed, matches.asked)

    def _waits(self, db: sqlite3.Connection) -> bool:
        return self._corpus.waits(db) or _stems(db) != stems()

    def _take_some(self, db: sqlite3.Connection, most: int) -> None:
        if _stems(db) != stems():  # by another stemmer, words were kept as other terms
            for table in ("words", "texts", "vocabulary", "spoken"):
                db.execute(f"DELETE FROM {table}")
            db.execute("INSERT OR REPLACE INTO meta VALUES ('stems', ?)", (stems(),))
            self._corpus.begin_again(db)
        changes = self._corpus.changes(db, most)
        self._engine.take_out(db, changes.gone)
        self._engine.put(db, changes.texts)


def _spans(query: str, today: date) -> Sequence[Span]:
    """The days a query speaks of; the words that may name one are looked for first, since few queries do."""
    if not (_DAYS.intersection(query.lower().split()) or any(map(str.isdigit, query))):
        return ()
    from commonplace.recall.dates import spans

    return spans(query, today)


def _stems(db: sqlite3.Connection) -> object:
    row = db.execute("SELECT value FROM meta WHERE key = 'stems'").fetchone()
    return row and row[0]
