"""Recall by plain reading: every word of the query is looked for in every note, rare words and headings first.

It needs no index and little analysis, and a query is never a pattern. It knows notes, not where they live.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from math import log
from typing import NamedTuple

from commonplace.note.note import Note

# More words than this add time, not sense; the rest of a pasted log is left unread.
_QUERY_CHARS = 4000
_QUERY_WORDS = 32
# A word in the name, title, description or tags says what the note is about; in the body, only what it mentions.
_HEADING_WEIGHT = 3.0
_BODY_WEIGHT = 1.0

# Vowel signs and other marks that belong to a word, which `\w` does not count.
_MARKS = (
    "\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u0963\u0966-\u0dff\u0e31-\u0e4e"
    "\u0eb1-\u0ece\u1000-\u109f\u1780-\u17d3\u3099\u309a"
)
# A word, with its apostrophe, and with the signs that tell C++ and C# from C. Most queries need no more than ASCII.
_WORD = f"(?:[^\\W_]|[{_MARKS}])+(?:'[^\\W_]+)?[+#]*"
_ASCII_WORD = re.compile("[a-z0-9]+(?:'[a-z0-9]+)?[+#]*")
# Scripts written without spaces, or whose particles are joined on: looked for by pairs of characters.
_UNSPACED = "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+"
# Signs over and under letters that people leave out: accents, Hebrew points, Arabic vowels.
_ACCENTS = "[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u064b-\u065f\u0670]"
# Query words that ask rather than name. Left in if nothing else is left.
_ASKING = frozenset((
    "a an and any are as at be by can could did do does for from had has have here how i if in is it me my of "
    "on or our should that the their them there these they this to was we were what when where which who why "
    "will with would you your"
).split())  # fmt: skip
# English endings cut from query words so that `deploys` finds `deploy` and `testing` finds `tests`.
_ENDINGS = ("ing", "ies", "es", "ed", "s")
_SHORTEST_STEM = 4
# Words this short stand in many others (`go` in `category`): they are looked for whole, or with a plural's ending.
_SHORT = 3
# Longest word shown as the reason of a hit.
_SHOWN = 40

Finder = Callable[[str], str]
"""Looks for one word of a query in a text: the whole word it stands in there, or ''."""


class Ranked(NamedTuple):
    """A note that answers, and why."""

    note: Note
    score: float
    reasons: tuple[str, ...]


class _Matched(NamedTuple):
    """Where a note holds which words of the query, each with the word it stands in."""

    note: Note
    head: dict[str, str]
    body: dict[str, str]


class _Folds(dict[int, str]):
    """What each character is looked for as: small, without accents, in its plain form. Worked out once each."""

    def __missing__(self, code: int) -> str:
        from unicodedata import normalize

        self[code] = normalize("NFC", re.sub(_ACCENTS, "", normalize("NFKD", chr(code)))).casefold()
        return self[code]


_FOLDS = _Folds({ord("’"): "'"})


def rank(notes: Sequence[Note], query: str) -> list[Ranked]:
    """The notes that hold any word of the query, best first."""
    finders = {word: _finder(word) for word in terms(query)}
    found = [match for note in notes if (match := _matched(note, finders))]
    weights = {
        word: _rarity(sum(word in match.head or word in match.body for match in found), len(notes)) for word in finders
    }
    return sorted((_scored(match, weights) for match in found), key=lambda hit: (-hit.score, hit.note.name))


def terms(query: str) -> list[str]:
    """The words of a query worth looking for, each once."""
    text = query[:_QUERY_CHARS]
    if not text.isascii():
        from unicodedata import normalize

        text = normalize("NFC", text)
    text = folded(text)
    found = _ASCII_WORD.findall(text) if text.isascii() else re.findall(_WORD, text)
    words = dict.fromkeys(found or text.split())  # nothing but signs: those, then
    naming = [word for word in words if word not in _ASKING] or list(words)
    return list(dict.fromkeys(part for word in naming for part in _parts(word)))[:_QUERY_WORDS]


def folded(text: str) -> str:
    """A text as it is looked through: neither case nor accents tell words apart."""
    return text.lower() if text.isascii() else text.casefold().translate(_FOLDS)


def _parts(word: str) -> list[str]:
    if word.isascii():
        return [_stem(word)]
    out: list[str] = []
    for run in re.findall(f"{_UNSPACED}|.+?(?={_UNSPACED}|$)", word):
        pairs = len(run) > 2 and re.match(_UNSPACED, run)
        out += [run[i : i + 2] for i in range(len(run) - 1)] if pairs else [run]
    return out


def _stem(word: str) -> str:
    word = word.removesuffix("'s")
    for ending in _ENDINGS:
        shortest = _SHORTEST_STEM if len(ending) > 1 else _SHORT
        if word.endswith(ending) and len(word) - len(ending) >= shortest and not word.endswith("ss"):
            return word[: -len(ending)]
    return word


def _finder(word: str) -> Finder:
    if word.isascii() and word[0].isalnum() and len(word) <= _SHORT:
        end = "(?:e?s)?(?![a-z0-9])" if word[-1].isalnum() else ""
        whole = re.compile(re.escape(word) + end)  # begins with the word, which is what makes the search quick
        return lambda text: next((found[0] for found in whole.finditer(text) if _begins(text, found.start())), "")
    return lambda text: _around(word, text.find(word), text)


def _begins(text: str, at: int) -> bool:
    """Whether a word begins here."""
    return not at or not (text[at - 1].isalnum() and text[at - 1].isascii())


def _around(word: str, at: int, text: str) -> str:
    if at < 0 or not word.isalnum() or not word.isascii():
        return "" if at < 0 else word
    stop = at + len(word)
    while at and text[at - 1].isalnum() and stop - at <= _SHOWN:
        at -= 1
    while stop < len(text) and text[stop].isalnum() and stop - at <= _SHOWN:
        stop += 1
    return text[at:stop] if stop - at <= _SHOWN else word


def _matched(note: Note, finders: dict[str, Finder]) -> _Matched | None:
    head, body = folded(_heading(note)), folded(note.body)
    in_head = {word: seen for word, find in finders.items() if (seen := find(head))}
    in_body = {word: seen for word, find in finders.items() if word not in in_head and (seen := find(body))}
    return _Matched(note, in_head, in_body) if in_head or in_body else None


def _heading(note: Note) -> str:
    return " ".join((note.name, note.title, note.description, *note.tags))


def _rarity(holding: int, total: int) -> float:
    return log(1 + (total - holding + 0.5) / (holding + 0.5))


def _scored(match: _Matched, weights: dict[str, float]) -> Ranked:
    score, reasons = 0.0, list[str]()
    for word, weight in weights.items():
        if word in match.head:
            score += _HEADING_WEIGHT * weight
            reasons.append(f"{match.head[word]} in its heading")
        elif word in match.body:
            score += _BODY_WEIGHT * weight
            reasons.append(f"{match.body[word]} in its text")
    return Ranked(match.note, score, tuple(dict.fromkeys(reasons)))
