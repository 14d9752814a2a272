"""Recalling: what a query answers, each note of it as its file is now; and the notes a situation calls for.

How texts are found is left to the finder, and what is known of notes to the catalog. It changes no note.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date

from commonplace.guard.text import one_line
from commonplace.index.catalog import Catalog
from commonplace.index.sidecar import Late
from commonplace.note.kind import Kind
from commonplace.note.limits import clamp
from commonplace.recall import fuse
from commonplace.recall.asked import Asked, age
from commonplace.recall.finder import Answers, Finder
from commonplace.recall.hit import Hit, Recall
from commonplace.store.paths import place_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from commonplace.index.values import Card, Standing
    from commonplace.recall.analyze import Word
    from commonplace.recall.fuse import Placed
    from commonplace.recall.situations import Situation

_EXCERPT_CHARS = 300
_LOOKED_AT = 4 * _EXCERPT_CHARS  # of a text, for its excerpt
# So many of the best are looked at as notes: who wrote them, what corrects them, how old they are.
_WEIGHED = 50
# A limit of any size is taken; more hits than this nobody reads, and SQLite takes so many values in one statement.
_MOST_HITS = 10_000
# How often a query is asked again where the answer was overtaken.
_LOOKS = 3
# What each claim that does not hold any more takes from a score, and how many count: the note is a clue still.
_BROKEN = 0.1
_MOST_BROKEN = 3
_VERIFY_SECONDS = 1.0
# A prompt hook holds the person up: what is not found by then is not pushed.
PUSH_SECONDS = 0.1
# What a prompt is about it says at its beginning.
_PROMPT_CHARS = 4_000


class Recalling:
    """The way of a query through the catalog and the finder to hits."""

    def __init__(
        self, catalog: Catalog, finder: Finder, today: Callable[[], date], where: str, workspace: str = ""
    ) -> None:
        self._catalog = catalog
        self._finder = finder
        self._today = today
        self._where = where
        self._workspace = workspace  # the folder the notes speak of; '' where that is not known

    @property
    def trouble(self) -> str:
        """What is wrong with finding by meaning; '' where nothing is."""
        return self._finder.trouble

    def recall(
        self,
        query: str,
        asked: Asked,
        limit: int,
        to: Situation | None,
        *,
        workspace: str | None = None,
        verify: bool = False,
    ) -> Recall:
        """The notes that answer, best first; with a situation, of those that apply to it."""
        found = self._fresh(lambda: self._found(query, asked, min(max(limit, 0), _MOST_HITS), to))
        where = self._workspace if workspace is None else workspace
        return self._checked(found, where, deep=verify) if where else found

    def push(self, query: str, most: int, within: float) -> Recall:
        """The few notes that surely fit, by a deadline."""
        query = query[:_PROMPT_CHARS]
        began = time.perf_counter()
        try:
            found = self._pushed(query, most, time.monotonic() + within)
        except Late:
            found = Recall()
        found.took_ms = round((time.perf_counter() - began) * 1000, 2)
        return found

    def _pushed(self, query: str, most: int, by: float) -> Recall:
        """What fits, where there was the time to see every change and nothing was overtaken: nobody waits for it."""
        tables = self._catalog.side.begun
        if not self._catalog.refresh(by=by):
            return Recall()
        found = self._fitting(query, most, by)
        right = self._catalog.side.begun == tables and self._catalog.holds([hit.name for hit in found])
        return found if right else Recall()

    def forget(self, name: str) -> None:
        """Keep no word of a note that is gone."""
        self._finder.forget([name])

    def _fresh(self, find: Callable[[], Recall]) -> Recall:
        """What is found, each note of it as its file is now, in tables that were not begun again meanwhile."""
        began = time.perf_counter()
        full, found = False, Recall()
        for _ in range(_LOOKS):
            tables = self._catalog.side.begun
            self._catalog.refresh(full=full)
            found = find()
            full = not self._catalog.holds([hit.name for hit in found])
            if not full and self._catalog.side.begun == tables:
                break
        found.took_ms = round((time.perf_counter() - began) * 1000, 2)
        return found

    def _found(self, query: str, asked: Asked, limit: int, to: Situation | None) -> Recall:
        among = self._taking(asked) if asked.narrow else None
        if to is None:
            return self._hits(self._finder.find(query, self._today(), among=among, most=limit), limit, among)
        why = self._applying(to, among)
        if query.strip():
            return self._hits(self._finder.find(query, self._today(), among=why, most=limit), limit, why, why)
        return self._hits(Answers([fuse.unasked(name) for name in sorted(why)]), limit, why, why)

    def _taking(self, asked: Asked) -> frozenset[str]:
        return frozenset(note.name for note, _ in self._catalog.notes() if asked.takes(note))

    def _applying(self, to: Situation, among: Collection[str] | None) -> dict[str, str]:
        """The notes that say they apply to what is about to be done, and where each says so."""
        from commonplace.recall.situations import applying

        said = {name: applying(patterns, to) for name, patterns in self._catalog.applying().items()}
        return {name: pattern for name, pattern in said.items() if pattern and (among is None or name in among)}

    def _fitting(self, query: str, most: int, by: float) -> Recall:
        answers = self._finder.find(query, self._today(), by=by)
        sure = [one for one in answers.placed if fuse.sure(one, answers.asked)]
        return self._hits(answers._replace(placed=sure), most, {one.found.key for one in sure})

    def _hits(
        self,
        answers: Answers,
        limit: int,
        among: Collection[str] | None = None,
        why: Mapping[str, str] | None = None,
    ) -> Recall:
        """The best of what was found, as notes; `among` names those that may be there, `why` where each applies."""
        weighed = answers.placed if why else answers.placed[: max(limit, _WEIGHED)]
        standing = self._catalog.standing([one.found.key for one in weighed], self._today())
        placed = fuse.standing(weighed, standing, self._today(), lambda name: among is None or name in among)
        best = placed[:limit]
        cards = self._catalog.cards([one.found.key for one in best])
        hits = []
        for one in best:
            if card := cards.get(one.found.key):
                hit = self._hit(card, one, standing[card.name], answers.words)
                applies = (f"applies to {why[card.name]}",) if why and card.name in why else ()
                hits.append(hit._replace(reasons=(*applies, *hit.reasons)))
        more = len({one.found.key for one in answers.placed}.difference(hit.name for hit in hits))
        return Recall(hits, more=more, guessed=answers.guessed)

    def _checked(self, found: Recall, workspace: str, *, deep: bool) -> Recall:
        """The same hits with what has become of their claims; what leads to nothing any more stands lower."""
        from commonplace.evidence import verify
        from commonplace.evidence.claims import claims_of

        cards = self._catalog.cards([hit.name for hit in found])
        notes = [(claims_of(cards[hit.name].body) if hit.name in cards else [], _day(cards, hit.name)) for hit in found]
        if deep:
            judged = verify.deep(notes, workspace, budget=_VERIFY_SECONDS)
        else:
            judged = [verify.quick(claims, workspace) if claims else [] for claims, _ in notes]
        hits = []
        for hit, verdicts in zip(found, judged, strict=True):
            known = tuple((one.claim.text, one.state, one.detail) for one in verdicts if one.state != verify.UNKNOWN)
            lower = _BROKEN * min(sum(state != verify.HOLDS for _, state, _ in known), _MOST_BROKEN)
            parts = (*hit.parts, ("claims", -round(lower, 3))) if lower else hit.parts
            hits.append(hit._replace(claims=known, score=round(hit.score - lower, 3), parts=parts))
        if any(hit.broken for hit in hits):
            hits = self._in_order(hits)
        return Recall(hits, took_ms=found.took_ms, more=found.more, guessed=found.guessed)

    def _in_order(self, hits: Sequence[Hit]) -> list[Hit]:
        """Best first, but each behind what corrects it."""
        by_name = {hit.name: hit for hit in sorted(hits, key=lambda hit: -hit.score)}
        known = self._catalog.standing(list(by_name), self._today())
        order = fuse.corrections_first(list(by_name), lambda name: fuse.corrections_of(name, by_name, known))
        return [by_name[name] for name in order]

    def _hit(self, card: Card, placed: Placed, about: Standing, words: Sequence[Word]) -> Hit:
        day = date.fromisoformat(card.day) if card.day else None
        return Hit(
            card.name, card.title, card.description, Kind(card.kind), self._where, round(placed.parts.sum, 3),
            fuse.reasons(placed, words, about), age(day, self._today()), card.author,
            clamp(one_line(card.body[:_LOOKED_AT]), _EXCERPT_CHARS), place_of(card.name, card.folder), about.expired,
            tuple((part, round(worth, 3)) for part, worth in placed.parts._asdict().items() if worth),
        )  # fmt: skip


def _day(cards: Mapping[str, Card], name: str) -> date | None:
    day = cards[name].day if name in cards else ""
    return date.fromisoformat(day) if day else None
