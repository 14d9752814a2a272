"""Recall by plain reading: every word of the query is looked for in every note, rare words and headings first.

It needs no index and no analysis, and a query is never a pattern. It knows notes, not where they live.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import log
from typing import NamedTuple

from commonplace.note.note import Note

# More words than this add time, not sense; the rest of a pasted log is left unread.
_QUERY_CHARS = 4000
_QUERY_WORDS = 32
# A word in the name, title, description or tags says what the note is about; in the body, only what it mentions.
_HEADING_WEIGHT = 3.0
_BODY_WEIGHT = 1.0

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
# Query words that ask rather than name. Left in if nothing else is left.
_ASKING = frozenset(
    [
        "a",
        "an",
        "and",
        "any",
        "are",
        "as",
        "at",
        "be",
        "by",
        "can",
        "could",
        "did",
        "do",
        "does",
        "for",
        "from",
        "had",
        "has",
        "have",
        "how",
        "i",
        "if",
        "in",
        "is",
        "it",
        "me",
        "my",
        "of",
        "on",
        "or",
        "our",
        "should",
        "that",
        "the",
        "their",
        "them",
        "there",
        "these",
        "they",
        "this",
        "to",
        "was",
        "we",
        "were",
        "what",
        "when",
        "where",
        "which",
        "who",
        "why",
        "will",
        "with",
        "would",
        "you",
        "your",
    ]
)
# English endings cut from query words so that `deploys` finds `deploy` and `testing` finds `tests`.
_ENDINGS = ("ing", "ies", "es", "ed", "s")
_SHORTEST_STEM = 4


class Ranked(NamedTuple):
    """A note that answers, and why."""

    note: Note
    score: float
    reasons: tuple[str, ...]


def rank(notes: Sequence[Note], query: str) -> list[Ranked]:
    """The notes that hold any word of the query, best first."""
    words = terms(query)
    texts = [(note, _heading(note), note.body.casefold()) for note in notes]
    weights = {
        word: _rarity(sum(word in head or word in body for _, head, body in texts), len(texts)) for word in words
    }
    found = [_scored(note, head, body, weights) for note, head, body in texts]
    return sorted((hit for hit in found if hit.score > 0), key=lambda hit: (-hit.score, hit.note.name))


def terms(query: str) -> list[str]:
    """The words of a query worth looking for, each once."""
    words = dict.fromkeys(found.casefold() for found in _WORD.findall(query[:_QUERY_CHARS]))
    naming = [word for word in words if word not in _ASKING] or list(words)
    return list(dict.fromkeys(map(_stem, naming)))[:_QUERY_WORDS]


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.isascii() and word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            return word[: -len(ending)]
    return word


def _heading(note: Note) -> str:
    return " ".join((note.name, note.title, note.description, *note.tags)).casefold()


def _rarity(holding: int, total: int) -> float:
    return log(1 + (total - holding + 0.5) / (holding + 0.5)) if holding else 0.0


def _scored(note: Note, head: str, body: str, weights: dict[str, float]) -> Ranked:
    score, reasons = 0.0, list[str]()
    for word, weight in weights.items():
        if word in head:
            score += _HEADING_WEIGHT * weight
            reasons.append(f"{word} in its heading")
        elif word in body:
            score += _BODY_WEIGHT * weight
            reasons.append(f"{word} in its text")
    return Ranked(note, score, tuple(reasons))
