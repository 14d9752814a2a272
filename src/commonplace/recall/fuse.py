"""One order out of what the words, the meaning, the company and the dates of a text say. Pure arithmetic.

Every part is kept beside the sum, so that a rank can be explained. The weights were chosen on three conversations and
confirmed on two others (`docs/benchmarks.md`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from datetime import date
from itertools import chain
from math import log, log2

from commonplace.index.values import Standing
from commonplace.named import NamedTuple
from commonplace.recall.analyze import Word
from commonplace.recall.lexical import Matches, Weighed
from commonplace.store.base import trust_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from commonplace.recall.dates import Span

# What each part may add to the words, whose best text has 1.
_MEANING = 1.5
_COMPANY = 0.5
_DATE = 0.3
# What counts whatever a note says: small, so that it decides between equals.
_PINNED = 0.03
_NEW = 0.03  # halved every so many days
_HALVED_DAYS = 90
_USED = 0.03  # for each time the number of times it was read doubles, up to
_MOST_DOUBLINGS = 3
_EXPIRED = -0.5
_CORRECTED = -0.3
_UNTRUSTED = -0.2  # of nobody's here: read somewhere
# From here on a part is worth a word of its own.
_CLOSE = 0.3
_TELLING = 0.4
# What may be pushed: so much of what all words of the query weigh, and so near in meaning; where nothing is known of
# the meaning, more of the words, and two of them at least.
_PUSHED_HELD = 0.4
_PUSHED_CLOSE = 0.5
_PUSHED_BY_WORDS = 0.7
# The same shape as for words: the second text of a cluster that holds a word adds less than the first.
_K1, _B = 1.2, 0.75


class Parts(NamedTuple):
    """What a text's score is made of."""

    words: float = 0.0
    meaning: float = 0.0
    company: float = 0.0
    date: float = 0.0
    standing: float = 0.0

    @property
    def sum(self) -> float:
        return self.words + self.meaning + self.company + self.date + self.standing


class Placed(NamedTuple):
    """A text in its place, and what it owes it to."""

    found: Weighed
    parts: Parts
    cluster: str = ""
    """The cluster whose texts speak for it; its own key where it stands alone."""
    span: str = ""
    """The words of the query that name its day."""
    held: float = 0.0
    """What the words it holds weigh together."""
    corrects: str = ""
    """The note it is placed before because it corrects it."""
    close: float | None = None
    """How near it comes to what the query means; None where that is not known."""


def placed(matches: Matches, spans: Sequence[Span]) -> list[Placed]:
    """The texts that hold words of a query, by their words, their company and their day."""
    top = matches.best[0].score if matches.best else 1.0
    companies = [_company_of(one, matches.sizes) for one in matches.best]
    speaks = _company(matches, companies)
    out = []
    for one, company in zip(matches.best, companies, strict=True):
        said, cluster = max([(speaks[name], name) for name in company])
        span = _spoken_of(one.day, spans) if spans else ""
        held = sum([matches.weights[number] for number in one.in_heading + one.in_body])
        parts = Parts(one.score / top, 0.0, _COMPANY * said, _DATE if span else 0.0)
        out.append(Placed(one, parts, cluster, span, held))
    return in_order(out)


def sure(one: Placed, asked: float) -> bool:
    """Whether a text may be shown to somebody who did not ask for it: a wrong one costs more than one that is missing.

    Of questions about other people's conversations one in a hundred got an answer by these bounds, of small talk none.
    """
    held = one.held / max(asked, 1e-9)
    if one.close is not None:
        return held >= _PUSHED_HELD and one.close >= _PUSHED_CLOSE
    return held >= _PUSHED_BY_WORDS and len(one.found.in_heading) + len(one.found.in_body) > 1


def unasked(key: str) -> Placed:
    """A text nobody searched for: only its standing counts."""
    return Placed(Weighed(0, key, (), "", 0.0, (), ()), Parts())


def meaning(texts: Sequence[Placed], closeness: Mapping[int, float]) -> list[Placed]:
    """The same texts with how near each comes to what the query means. Where that is not known, the average stands."""
    if not closeness:
        return list(texts)
    usual = sum(closeness.values()) / len(closeness)
    out = []
    for one in texts:
        close = closeness.get(one.found.id)
        worth = _MEANING * (usual if close is None else close)
        out.append(one._replace(parts=one.parts._replace(meaning=worth), close=close))
    return in_order(out)


def standing(
    texts: Sequence[Placed], known: Mapping[str, Standing], today: date, may: Callable[[str], bool] = lambda _: True
) -> list[Placed]:
    """The same texts, notes, with what counts for or against each; a correction stands before what it corrects.

    A correction that was not found is put there too, if it may be.
    """
    weighed = in_order(
        one._replace(parts=one.parts._replace(standing=_counting(known[one.found.key], today)))
        for one in texts
        if one.found.key in known
    )
    if not any(known[one.found.key].corrected for one in weighed):  # as in most notebooks
        return weighed
    by_key = {one.found.key: one for one in weighed}
    ends = {_come_to(key, by_key, known) for key in by_key}
    there = {*by_key, *filter(may, ends.difference(by_key))}
    order = corrections_first(list(by_key), lambda key: corrections_of(key, there, known))
    return [by_key.get(key, unasked(key))._replace(corrects=old) for key, old in order.items()]


def corrections_first(keys: Sequence[str], corrections: Callable[[str], Sequence[str]]) -> dict[str, str]:
    """Keys in their order, but behind what corrects them; with each the one for which it stands where it does, or ''."""
    order: dict[str, str] = {}
    seen = set[str]()
    waiting = [(key, "") for key in reversed(keys)]
    while waiting:  # a key is met twice: what corrects it is placed in between
        key, old = waiting[-1]
        if key in seen:
            waiting.pop()
            order.setdefault(key, old)
        else:
            seen.add(key)
            waiting += [(newer, key) for newer in reversed(corrections(key)) if newer not in seen]
    return order


def corrections_of(key: str, there: Container[str], known: Mapping[str, Standing]) -> list[str]:
    """What corrects a note and is there too, however many steps away."""
    found, seen, waiting = list[str](), {key}, [key]
    for name in waiting:  # which grows meanwhile
        for newer in known[name].corrected:
            if newer in known and newer not in seen:
                seen.add(newer)
                (found if newer in there else waiting).append(newer)
    return found


def _come_to(name: str, there: Container[str], known: Mapping[str, Standing]) -> str:
    """What the newest correction of a note has come to by now: the last there is, or the first that is there too."""
    seen = {name}
    while newer := next((each for each in known[name].corrected if each in known and each not in seen), ""):
        if newer in there:
            return newer
        seen.add(newer)
        name = newer
    return name


def _counting(about: Standing, today: date) -> float:
    days = (today - date.fromisoformat(about.day)).days if about.day else _HALVED_DAYS * 10
    new: float = 0.5 ** (max(days, 0) / _HALVED_DAYS)
    return (
        _NEW * new
        + _USED * min(log2(1 + about.uses), _MOST_DOUBLINGS) / _MOST_DOUBLINGS
        + _PINNED * about.pinned
        + _EXPIRED * about.expired
        + _CORRECTED * bool(about.corrected)
        + _UNTRUSTED * (about.trust <= trust_of("external:"))
    )


def in_order(texts: Iterable[Placed]) -> list[Placed]:
    """Best first; equals by key, so that the order is the same each time."""
    return sorted(texts, key=lambda one: (-one.parts.sum, one.found.key))


def _company(matches: Matches, companies: Sequence[tuple[str, ...]]) -> dict[str, float]:
    """How much of the query each cluster holds, the best 1. A text without any stands by itself."""
    holding: dict[str, dict[int, int]] = {}
    for one, company in zip(matches.best, companies, strict=True):
        for cluster in company:
            counts = holding.setdefault(cluster, {})
            for word in one.in_heading + one.in_body:
                counts[word] = counts.get(word, 0) + 1
    among = Counter(chain.from_iterable(holding.values()))
    rarity = {word: log(1 + (len(holding) - count + 0.5) / (count + 0.5)) for word, count in among.items()}
    sizes = {cluster: matches.sizes.get(cluster, 1) for cluster in holding}
    mean = sum(sizes.values()) / max(len(sizes), 1)
    scores = {}
    for cluster, counts in holding.items():
        base = _K1 * (1 - _B + _B * sizes[cluster] / mean)
        scores[cluster] = sum([rarity[word] * count * (_K1 + 1) / (count + base) for word, count in counts.items()])
    most = max(scores.values(), default=0.0) or 1.0
    return {cluster: score / most for cluster, score in scores.items()}


def _company_of(one: Weighed, sizes: Mapping[str, int]) -> tuple[str, ...]:
    """The clusters in which a text is not alone; else only itself."""
    return tuple([name for name in one.clusters if sizes.get(name, 0) > 1]) or (one.key,)


def _spoken_of(day: str, spans: Sequence[Span]) -> str:
    if not (day and spans):
        return ""
    known = date.fromisoformat(day)
    return next((span.said for span in spans if span.holds(known)), "")


def reasons(one: Placed, words: Sequence[Word], about: Standing | None) -> tuple[str, ...]:
    """Why a text stands where it does, in words: what it holds of the query first."""
    said = list[str]()
    whole = {words[number].shown for number in (*one.found.in_heading, *one.found.in_body)}
    for numbers, where in ((one.found.in_heading, "heading"), (one.found.in_body, "text")):
        held = [words[number] for number in numbers]
        said += [f"{word.shown} in its {where}" for word in held if word.part_of not in whole]
    said += [f"corrects {one.corrects}"] if one.corrects else []
    said += [f"close in meaning ({one.close:.2f})"] if one.close is not None and one.close >= _CLOSE else []
    said += (
        [f"and others of {one.cluster}"] if one.cluster in one.found.clusters and one.parts.company >= _TELLING else []
    )
    said += [f"from {one.span}"] if one.span else []
    if about is not None:
        said += ["pinned"] if about.pinned else []
        said += [f"read {about.uses} times"] if about.uses > 1 else []
        said += [f"corrected by {about.corrected[0]}"] if about.corrected else []
    return tuple(dict.fromkeys(said))
