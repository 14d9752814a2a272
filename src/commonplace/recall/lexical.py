"""Words: the full-text engine in the sidecar, over the analyzer's finished terms, and how well a text answers a query.

SQLite's FTS5 finds the texts worth a look; those are then weighed exactly. It knows keys, texts and terms, not what a
key stands for: notes and a project's documents are found by the same code.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from math import log

from commonplace.digest import digest
from commonplace.index.values import Garbled
from commonplace.named import NamedTuple, Protocol
from commonplace.recall.analyze import ENGLISH, Word, analyzer, chunks, folded, is_unspaced, language_of

# So many texts are weighed exactly. Twice as many find a point more among the best ten, and nothing more among the
# best five, for twice the time.
POOL = 100
# A query's rarest words are looked for: more of them cost time and tell nothing new.
MOST_WORDS = 12
# The languages a query's words are looked for in: those most texts are in.
_MOST_LANGUAGES = 4
# The pair most engines use; others won on one set of texts and lost on the next.
_K1, _B = 1.2, 0.75
# A word of the heading says what a text is about; in the body, what it mentions.
_HEADING = 2.0
# A single character of a script without spaces is any term that begins with it, and so many of those are enough.
_BEGINNING_WITH = 200
# How many terms of the vocabulary a misspelt word is held against.
_NEAR_TERMS = 2000
# Shorter words have too many neighbours to guess which was meant.
_SHORTEST_GUESSED = 4
# Nobody types longer ones by hand, and there are too many slips to make in them.
_LONGEST_GUESSED = 32
# Of a query's words: what nobody typed, a pasted log, nobody mistyped, and each guess takes milliseconds.
_MOST_GUESSED = 4
# In a tally each term takes as many bytes and two more: no two terms of one text come out the same.
_TERM_BYTES = 6
# As often as a tally counts a term; more of it weighs nothing more.
_MOST_COUNTED = (1 << 15) - 1
# Terms whose mark is remembered, a few megabytes of them: the next text has the same words.
_MARKS = 50_000
# SQLite takes so many values in one statement everywhere.
_VALUES = 500

_OLD = "SELECT id, clusters, heading, body FROM texts JOIN words ON words.rowid = id WHERE key = ?"
_PUT_TEXT = "INSERT INTO texts (key, clusters, day, size, language, mark, tally) VALUES (?, ?, ?, ?, ?, ?, ?)"
_PUT_WORDS = "INSERT INTO words (rowid, heading, body) VALUES (?, ?, ?)"
_COUNT = "INSERT INTO vocabulary VALUES (?, ?) ON CONFLICT (term) DO UPDATE SET texts = texts + excluded.texts"
_BEST = f"SELECT rowid FROM words WHERE words MATCH ? ORDER BY bm25(words, {_HEADING}, 1.0)"
_POOL = "SELECT id, key, clusters, day, size, tally FROM texts WHERE id IN ({})"


class Text(NamedTuple):
    """What is to be found: by what key, what it says, and what it stands among."""

    key: str
    heading: str
    body: str
    clusters: tuple[str, ...] = ()
    """What it stands among: its session, its page, its tags. Texts of one cluster speak of one thing."""
    day: str = ""

    @property
    def said(self) -> str:
        """All it says."""
        return f"{self.heading}\n{self.body}"

    @property
    def mark(self) -> bytes:
        """What its meaning is kept under: the same for the same words, whoever says them."""
        return digest(self.said.encode("utf-8", "replace"))


class Weighed(NamedTuple):
    """A text that holds words of a query, and how much they weigh there."""

    id: int
    key: str
    clusters: tuple[str, ...]
    day: str
    score: float
    in_heading: tuple[int, ...]  # which words of the query, by number
    in_body: tuple[int, ...]


class Matches(NamedTuple):
    """What the words of a query found, best first."""

    words: tuple[Word, ...]
    best: list[Weighed]
    weights: tuple[float, ...]
    """What each word is worth: the rarer, the more."""
    guessed: tuple[tuple[str, str], ...]
    """Words that nothing holds, and what was looked for in their place."""
    sizes: dict[str, int]
    """How many texts stand in each cluster of those found."""
    asked: float
    """What all words of the query weigh together, those nothing holds among them."""


class Engine(Protocol):
    """What finds texts by their words. FTS5 does here; one for very large collections can stand in its place."""

    def put(self, db: sqlite3.Connection, texts: Iterable[Text]) -> None: ...

    def take_out(self, db: sqlite3.Connection, keys: Iterable[str]) -> None: ...

    def find(
        self, db: sqlite3.Connection, words: Sequence[Word], among: Collection[str] | None, most: int
    ) -> Matches: ...

    def languages(self, db: sqlite3.Connection) -> tuple[str, ...]: ...


class Fts5:
    """The engine of the standard library. Every method works within the caller's transaction."""

    def put(self, db: sqlite3.Connection, texts: Iterable[Text]) -> None:
        """Make texts findable, in place of what their keys stood for before."""
        counts = Counter[str]()
        for text in texts:
            _remove(db, text.key, counts)
            above, below = chunks(text.heading), chunks(text.body)
            language = language_of((*above, *below))
            terms = analyzer(language).of_all
            heading, body = list(dict.fromkeys(terms(above))), terms(below)
            clusters = [" ".join(cluster.split()) for cluster in text.clusters]  # a line each, whatever stands in them
            counts.update({*heading, *body, *map(_mark, filter(None, clusters))})
            size = len(heading) + len(body)
            kept = "\n".join(filter(None, clusters))
            values = (text.key, kept, text.day, size, language, text.mark, _tally(heading, body))
            id_ = db.execute(_PUT_TEXT, values).lastrowid
            db.execute(_PUT_WORDS, (id_, _kept(heading), _kept(body)))
        _count(db, counts)

    def take_out(self, db: sqlite3.Connection, keys: Iterable[str]) -> None:
        """Let texts be found no more."""
        counts = Counter[str]()
        for key in keys:
            _remove(db, key, counts)
        _count(db, counts)

    def find(
        self, db: sqlite3.Connection, words: Sequence[Word], among: Collection[str] | None = None, most: int = POOL
    ) -> Matches:
        """The texts that hold any of these words, so many of the best weighed. `among` names those that may be."""
        texts, mean = _totals(db)
        held, unheld, guessed = _held(db, words, self.languages(db))
        if not held:
            return Matches((), [], (), guessed, {}, 0.0)
        chosen = _rarest(held)
        rarity = [_rarity(texts, count) for _, count in chosen]
        asked = tuple(word for word, _ in chosen)
        ids = _candidates(db, asked, among, most, max(count for _, count in chosen))
        pool = _weighed(db, ids, asked, rarity, mean)
        best = sorted(pool, key=lambda one: (-one.score, one.key))
        sizes = _counts(db, {_mark(cluster) for one in pool for cluster in one.clusters})
        named = {mark[1:]: count for mark, count in sizes.items()}
        weight = sum(_rarity(texts, count) for _, count in held) + unheld * _rarity(texts, 0)
        return Matches(asked, best, tuple(rarity), guessed, named, weight)

    def languages(self, db: sqlite3.Connection) -> tuple[str, ...]:
        """The languages most texts are in, English always among them."""
        found = [name for (name,) in db.execute("SELECT language FROM spoken WHERE texts > 0 ORDER BY texts DESC")]
        return tuple(dict.fromkeys((*found[: _MOST_LANGUAGES - 1], ENGLISH)))


def _remove(db: sqlite3.Connection, key: str, counts: Counter[str]) -> None:
    row = db.execute(_OLD, (key,)).fetchone()
    if row:
        id_, clusters, heading, body = row
        counts.subtract({*heading.split(), *body.split(), *map(_mark, clusters.splitlines())})
        db.execute("DELETE FROM words WHERE rowid = ?", (id_,))
        db.execute("DELETE FROM texts WHERE id = ?", (id_,))


def _mark(cluster: str) -> str:
    """A cluster as the vocabulary counts it: as no term is written."""
    return f"@{cluster}"


def _kept(terms: Iterable[str]) -> str:
    # A space before each and a line's end behind it: so each is counted by itself, also beside its like.
    return "".join(f" {term}\n" for term in terms)


def _count(db: sqlite3.Connection, counts: Mapping[str, int]) -> None:
    db.executemany(_COUNT, sorted((term, count) for term, count in counts.items() if count))
    fewer = [(term,) for term, count in counts.items() if count < 0]
    db.executemany("DELETE FROM vocabulary WHERE term = ? AND texts < 1", fewer)


@lru_cache(_MARKS)
def _term_mark(term: str) -> bytes:
    return digest(term.encode("utf-8", "surrogatepass"))[:_TERM_BYTES]


def _tally(heading: Collection[str], body: Sequence[str]) -> bytes:
    """Which terms a text has, how often its body has each, and whether its heading does: quicker asked than the text.

    The mark of a term, then twice its count, and one more for the heading.
    """
    above, counts = set(heading), Counter(body)
    return b"".join(
        _term_mark(term) + (2 * min(counts[term], _MOST_COUNTED) + (term in above)).to_bytes(2, "big")
        for term in above.union(counts)
    )


def _totals(db: sqlite3.Connection) -> tuple[int, float]:
    texts, terms = db.execute("SELECT total(texts), total(terms) FROM spoken").fetchone()
    return int(texts), max(terms / max(texts, 1), 1.0)


def _held(
    db: sqlite3.Connection, words: Sequence[Word], languages: Sequence[str]
) -> tuple[list[tuple[Word, int]], int, tuple[tuple[str, str], ...]]:
    """The words some text holds, each with how many do; how many none does; and what was guessed for a word."""
    counts = _counts(db, {term for word in words for term in word.terms})
    held: dict[tuple[str, ...], tuple[Word, int]] = {}
    unheld, guesses = 0, list[tuple[str, str]]()
    left = _MOST_GUESSED
    for word in words:
        found, holding = word, max(counts.get(term, 0) for term in word.terms)
        if len(word.terms[0]) == 1 and is_unspaced(word.terms[0]):
            found, holding = _beginning_with(db, word)
        elif not holding and left and (typed := _typed(word, languages)):
            left -= 1
            found, holding = _meant(db, word, typed, languages)
            guesses += [(word.shown, found.shown)] if holding else []
        if holding:
            held.setdefault(found.terms, (found, holding))
        else:
            unheld += 1
    return list(held.values()), unheld, tuple(guesses)


def _rarity(texts: int, holding: int) -> float:
    return log(1 + (texts - holding + 0.5) / (holding + 0.5))


def _rarest(held: Sequence[tuple[Word, int]]) -> list[tuple[Word, int]]:
    """The rarest words of a query; of pairs of characters twice as many, since a word is several.

    Of words as rare as each other those are rarer that are no numbers: a log is full of those, and each means little.
    """
    chosen: list[tuple[Word, int]] = []
    room = 2 * MOST_WORDS
    for word, count in sorted(held, key=lambda item: (item[1], item[0].terms[0].isdigit())):
        room -= 1 if is_unspaced(word.terms[0]) else 2
        if room < 0:
            break
        chosen.append((word, count))
    return chosen


def _counts(db: sqlite3.Connection, terms: Collection[str]) -> dict[str, int]:
    """How many texts hold each term, of those that any does."""
    wanted = sorted(terms)
    found: dict[str, int] = {}
    for at in range(0, len(wanted), _VALUES):
        some = wanted[at : at + _VALUES]
        places = ",".join("?" * len(some))
        found.update(db.execute(f"SELECT term, texts FROM vocabulary WHERE term IN ({places})", some).fetchall())
    return found


def _beginning_with(db: sqlite3.Connection, word: Word) -> tuple[Word, int]:
    """A single character as every term that begins with it: each of a run's characters begins one."""
    found = _between(db, word.terms[0], _BEGINNING_WITH)
    return Word(word.shown, tuple(found)), max(found.values(), default=0)


def _typed(word: Word, languages: Sequence[str]) -> str:
    """What somebody may have mistyped: letters enough to tell which word was meant; '' where it is none of that."""
    term = word.terms[0]
    if not term.isalpha() or is_unspaced(term):
        return ""
    typed = folded(word.shown[: 2 * _LONGEST_GUESSED])
    if term not in (analyzer(language).stem(typed) for language in languages):  # a part of what was typed
        typed = term
    return typed if _SHORTEST_GUESSED <= len(typed) <= _LONGEST_GUESSED else ""


def _meant(db: sqlite3.Connection, word: Word, typed: str, languages: Sequence[str]) -> tuple[Word, int]:
    """What a word that no text holds may stand for, and how many texts hold that."""
    from commonplace.recall.near import nearest, slips

    # Every word one slip away is stemmed, since a slip may have changed what a word's end was taken for.
    term, written = word.terms[0], dict[str, str]()
    stems = [analyzer(language).stem for language in languages]
    for slip in slips(typed):
        for stem in stems:
            written.setdefault(stem(slip), slip)
    counts = _counts(db, written.keys())
    if counts:
        best = max(sorted(counts), key=lambda each: counts[each])
        return Word(best if best in written.values() else written[best], (best,)), counts[best]
    known: dict[str, int] = {}
    for begin in (term[:2], term[1::-1], term[:1] + term[2:3], term[1:3]) if len(term) > 1 else ():
        known |= _between(db, begin, _NEAR_TERMS)
    best = nearest(term, known)
    return (Word(best, (best,)), known[best]) if best else (word, 0)


def _between(db: sqlite3.Connection, begin: str, most: int) -> dict[str, int]:
    """The terms that begin with these letters."""
    rows = "SELECT term, texts FROM vocabulary WHERE term >= ? AND term < ? AND texts > 0 ORDER BY term LIMIT ?"
    return dict(db.execute(rows, (begin, begin + "\U0010ffff", most)).fetchall())


def _candidates(
    db: sqlite3.Connection, words: Sequence[Word], among: Collection[str] | None, most: int, holding: int
) -> list[int]:
    """The ids of the pool: those FTS5 ranks first. So many texts hold one of the words, as was counted apart from it."""
    terms = dict.fromkeys(term for word in words for term in word.terms)
    match = " OR ".join('"' + term.replace('"', '""') + '"' for term in terms)
    if among is None:
        found = [id_ for (id_,) in db.execute(f"{_BEST} LIMIT ?", (match, most))]
        if len(found) < min(most, holding):
            raise Garbled("the index of words finds fewer texts than hold one")
        return found
    may = {id_ for id_, key in db.execute("SELECT id, key FROM texts") if key in among}
    every = [id_ for (id_,) in db.execute(_BEST, (match,))]
    if len(every) < holding:
        raise Garbled("the index of words finds fewer texts than hold one")
    return [id_ for id_ in every if id_ in may][:most]


def _weighed(
    db: sqlite3.Connection, ids: Sequence[int], words: Sequence[Word], rarity: Sequence[float], mean: float
) -> list[Weighed]:
    """Each text of the pool with what the words weigh there: BM25 over both columns, without FTS5's floors."""
    wanted = [tuple(map(_term_mark, word.terms)) for word in words]
    out = []
    for id_, key, clusters, day, size, tally in db.execute(_POOL.format(",".join(map(str, ids)))).fetchall():
        if not isinstance(tally, bytes) or len(tally) % (_TERM_BYTES + 2):
            raise Garbled("the words of a text are not those that were put")
        base = _K1 * (1 - _B + _B * size / mean)
        score, in_heading, in_body = 0.0, list[int](), list[int]()
        for number, marks in enumerate(wanted):
            often = above = 0
            for mark in marks:
                at = tally.find(mark) + _TERM_BYTES
                if at >= _TERM_BYTES:
                    said = tally[at] << 8 | tally[at + 1]
                    often += said >> 1
                    above |= said & 1
            if often or above:
                weight = often + _HEADING * above
                score += rarity[number] * weight * (_K1 + 1) / (weight + base)
                (in_heading if above else in_body).append(number)
        if not (in_heading or in_body):
            raise Garbled("the index of words finds a text that holds none of them")
        out.append(Weighed(id_, key, tuple(clusters.splitlines()), day, score, tuple(in_heading), tuple(in_body)))
    if len(out) < len(ids):
        raise Garbled("the words of a text are gone")
    return out
