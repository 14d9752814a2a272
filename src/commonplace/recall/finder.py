"""Finder: what there is kept findable, and a query answered from it, best first. The same for notes and documents.

What is found comes from a corpus, which hands over what changed; the engine finds by words, the encoder by meaning.
It knows tables and texts, not what a key stands for.
"""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Callable, Collection, Sequence
from datetime import date
from functools import partial

from commonplace.errors import CommonplaceError
from commonplace.index.sidecar import Sidecar
from commonplace.named import NamedTuple, Protocol
from commonplace.recall import fuse
from commonplace.recall.analyze import QUERY_CHARS, Word, asked, stems
from commonplace.recall.fuse import Parts, Placed
from commonplace.recall.lexical import POOL, Engine, Fts5, Text, Weighed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    from commonplace.recall.dates import Span
    from commonplace.recall.semantic import Encoder
    from commonplace.recall.vectors import Vectors

    T = TypeVar("T")


# What no text says any more means nothing to anybody.
_DROP = "DELETE FROM vectors WHERE text = ?1 AND NOT EXISTS (SELECT 1 FROM texts WHERE mark = ?1)"

# Words of which a query has one if it speaks of a day in words (or it has a number in it).
_DAYS = frozenset((
    "january february march april may june july august september october november december jan feb mar apr jun jul aug "
    "sep sept oct nov dec yesterday today ago last past previous this"
).split())  # fmt: skip
# So many changes are worked in at a time: other writers of the sidecar wait no longer than for a save.
_BATCH = 100
_SMALL_BATCH = 10  # where there is a deadline
_STEPS = 2_000  # of SQLite's machine, between looks at the clock: a tenth of a millisecond
# Whose meaning is compared with the query's: the best by all else. A full comparison found no more of them.
_COMPARED = 50
# A slow encoder is asked no longer than this for texts it has not seen; each recall goes on where the last stopped.
_LEARNING_SECONDS = 0.5
_LEARNT_AT_ONCE = 8
# Where words find fewer, what is close in meaning is looked for whatever its words.
_FEW = 5
# Half of the questions a text answers come nearer to it than 0.64; half of small talk comes no nearer to any than 0.3.
_CLOSE_ENOUGH = 0.3
# So many of those, and none that is much further than the nearest: where no word is shared, the rest is noise.
_BY_MEANING = 3
_NEARLY = 0.75


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

    def texts(self, db: sqlite3.Connection, keys: Sequence[str]) -> Sequence[Text]:
        """Some of the texts as they were handed over."""


class Answers(NamedTuple):
    """What a query found, best first, and how its words were read."""

    placed: list[Placed]
    words: tuple[Word, ...] = ()
    guessed: tuple[tuple[str, str], ...] = ()
    asked: float = 0.0
    """What all words of the query weigh together, those nothing holds among them."""


class Finder:
    """Finds texts of one corpus. Safe from any thread, as the sidecar is."""

    def __init__(
        self,
        side: Sidecar,
        corpus: Corpus,
        *,
        encoder: Callable[[], Encoder | None] = lambda: None,
        quick: bool = True,
        engine: Engine | None = None,
    ) -> None:
        """`encoder` opens what texts are compared by; `quick` says that this, and each text, takes no time to speak of."""
        self._side = side
        self._corpus = corpus
        self._encoder = encoder
        self._quick = quick
        self._opened: tuple[Vectors | None] | None = None
        self._trouble = ""
        self._engine = engine or Fts5()

    @property
    def _vectors(self) -> Vectors | None:
        """What texts mean: opened with the first text or query that is to mean something; None where it cannot be."""
        if self._opened is None:
            from commonplace.recall.vectors import Vectors

            self._trouble = ""
            try:
                encoder = self._encoder()
            except CommonplaceError as problem:  # it may be mended while this process lives
                self._trouble = str(problem)
                return None
            self._opened = (Vectors(encoder) if encoder else None,)
        return self._opened[0]

    @property
    def trouble(self) -> str:
        """Why the words find alone, where what texts mean cannot be told; '' where nothing is wrong."""
        vectors = self._vectors
        return vectors.trouble if vectors else self._trouble

    def keep_up(self, by: float | None = None) -> None:
        """Make findable what changed since the last time; at once where nothing did, and no longer than until `by`.

        Raises:
            Late: another process held the tables until then.

        """
        most = _BATCH if by is None else _SMALL_BATCH
        quick = self._vectors if self._quick else None  # opened before any transaction
        begun = False
        while (by is None or time.monotonic() < by) and self._side.run(lambda db: self._waits(db, quick)):
            begun = self._side.run(lambda db: self._take_some(db, quick, most), write=True, by=by) or begun
        if begun:
            self._side.run(_drop_orphans, write=True, by=by)

    def forget(self, keys: Sequence[str]) -> None:
        """Let these texts be found no more, at once: their words are to stay nowhere until somebody recalls."""
        self._side.run(lambda db: self._take_out(db, keys), write=True)

    def find(
        self,
        query: str,
        today: date,
        *,
        among: Collection[str] | None = None,
        most: int = POOL,
        by: float | None = None,
    ) -> Answers:
        """The texts that answer a query; none where that is not known by the time given. `among` names those that may."""
        self.keep_up(by)
        vectors = self._vectors if by is None or self._quick else None
        meant = vectors.of(query) if vectors else b""  # before any transaction: it may have to ask a server
        ask = partial(self._found, query=query, meant=meant, today=today, among=among, most=max(most, POOL))
        if by is not None:
            return self._side.run(lambda db: _in_time(lambda: ask(db), db, by)) or Answers([])
        answers = self._side.run(ask)
        if vectors and meant and self._learn(vectors, answers):
            return self._side.run(ask)
        return answers

    def _learn(self, vectors: Vectors, answers: Answers) -> bool:
        """Work out what texts about to be compared mean, as many as the time allows; the next recall goes on."""
        ids = [one.found.id for one in answers.placed[:_COMPARED]]
        few = len(ids) < _FEW  # so that words decide nothing, and meaning must be known of the others
        keys = self._side.run(lambda db: (*vectors.lacking(db, ids), *(vectors.newest_lacking(db) if few else ())))
        until = time.monotonic() + _LEARNING_SECONDS
        learnt = 0
        while learnt < len(keys) and time.monotonic() < until and not vectors.trouble:
            self._learn_some(vectors, keys[learnt : learnt + _LEARNT_AT_ONCE])
            learnt += _LEARNT_AT_ONCE
        return learnt > 0

    def _learn_some(self, vectors: Vectors, keys: Sequence[str]) -> None:
        texts = self._side.run(lambda db: self._corpus.texts(db, keys))
        rows = vectors.encoded(texts)  # outside any transaction too
        self._side.run(lambda db: vectors.keep(db, rows), write=True)

    def _found(
        self, db: sqlite3.Connection, query: str, meant: bytes, today: date, among: Collection[str] | None, most: int
    ) -> Answers:
        words = asked(query, self._engine.languages(db))
        matches = self._engine.find(db, words, among, most)
        best = fuse.placed(matches, _spans(query[:QUERY_CHARS], today))
        if self._vectors and meant:
            best = _with_meaning(db, self._vectors, meant, best, among)
        return Answers(best, matches.words, matches.guessed, matches.asked)

    def _waits(self, db: sqlite3.Connection, quick: Vectors | None) -> bool:
        if self._corpus.waits(db):
            return True
        return db.execute("SELECT 1 FROM texts LIMIT 1").fetchone() is not None and _made_by(db) != _makers(quick)

    def _take_some(self, db: sqlite3.Connection, quick: Vectors | None, most: int) -> bool:
        """Work in some of what changed. Answers whether all was begun again for it."""
        begun = _made_by(db) != _makers(quick)
        if begun:  # by another stemmer, or table of words, what is kept would be other
            for table in ("words", "texts", "vocabulary", "spoken"):
                db.execute(f"DELETE FROM {table}")
            db.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", _makers(quick).items())
            self._corpus.begin_again(db)
        changes = self._corpus.changes(db, most)
        marks = [_mark_of(db, text.key) for text in changes.texts]
        self._take_out(db, changes.gone)
        self._engine.put(db, changes.texts)
        db.executemany(_DROP, [(mark,) for mark in marks if mark])
        if quick:
            quick.keep(db, quick.encoded(changes.texts))
        return begun

    def _take_out(self, db: sqlite3.Connection, keys: Sequence[str]) -> None:
        marks = [_mark_of(db, key) for key in keys]
        self._engine.take_out(db, keys)
        db.executemany(_DROP, [(mark,) for mark in marks if mark])


def _makers(quick: Vectors | None) -> dict[str, str]:
    """What terms and vectors are made by; a slow encoder makes its vectors when they are first compared."""
    return {"stems": stems(), "encoder": quick.key if quick else ""}


def _made_by(db: sqlite3.Connection) -> dict[str, str]:
    return dict(db.execute("SELECT key, value FROM meta WHERE key IN ('stems', 'encoder')").fetchall())


def _mark_of(db: sqlite3.Connection, key: str) -> bytes:
    row = db.execute("SELECT mark FROM texts WHERE key = ?", (key,)).fetchone()
    return bytes(row[0]) if row else b""


def _drop_orphans(db: sqlite3.Connection) -> None:
    """Forget the meaning of what no text says any more."""
    db.execute("DELETE FROM vectors WHERE text NOT IN (SELECT mark FROM texts)")


def _in_time(work: Callable[[], T], db: sqlite3.Connection, by: float) -> T | None:
    """What some work on the tables answers; None where it is not done in time."""
    db.set_progress_handler(lambda: time.monotonic() > by, _STEPS)
    try:
        return work()
    except sqlite3.OperationalError as problem:
        if problem.sqlite_errorcode != sqlite3.SQLITE_INTERRUPT:
            raise
        return None
    finally:
        db.set_progress_handler(None, 0)


def _with_meaning(
    db: sqlite3.Connection, vectors: Vectors, meant: bytes, best: list[Placed], among: Collection[str] | None
) -> list[Placed]:
    """The same, by what they mean too; where words found few, with what means much the same in other words."""
    compared, rest = best[:_COMPARED], best[_COMPARED:]
    close = dict(vectors.closeness(db, meant, [one.found.id for one in compared]))
    if len(best) < _FEW:
        found = {one.found.key for one in best}
        others = vectors.nearest(
            db, meant, _BY_MEANING, lambda key: key not in found and (among is None or key in among)
        )
        least = max(_CLOSE_ENOUGH, _NEARLY * max((row[0] for row in others), default=0.0))
        for near, id_, key, clusters, day in others:
            if near >= least:
                text = Weighed(id_, key, tuple(clusters.splitlines()), day, 0.0, (), ())
                compared.append(Placed(text, Parts()))
                close[id_] = near
    return [*fuse.meaning(compared, close), *rest]


def _spans(query: str, today: date) -> Sequence[Span]:
    """The days a query speaks of; the words that may name one are looked for first, since few queries do."""
    if not (_DAYS.intersection(re.findall("[a-z]+", query.lower())) or any(map(str.isdigit, query))):
        return ()
    from commonplace.recall.dates import spans

    return spans(query, today)
