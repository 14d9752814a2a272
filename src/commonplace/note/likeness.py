"""Whether two one-line descriptions could be of the same fact. A guard against overwriting, not a judge of meaning."""

from __future__ import annotations

import re

# Half of the words of the shorter one: a correction keeps its subject's words, another fact shares only small ones.
ALIKE = 0.5

_WORD = re.compile(r"[^\W_]+")
_SMALL = frozenset(
    [
        "a",
        "an",
        "and",
        "are",
        "as",
        "at",
        "be",
        "by",
        "for",
        "from",
        "has",
        "have",
        "in",
        "is",
        "it",
        "its",
        "no",
        "not",
        "of",
        "on",
        "or",
        "our",
        "that",
        "the",
        "their",
        "this",
        "to",
        "was",
        "we",
        "were",
        "will",
        "with",
        "you",
        "your",
    ]
)
# Scripts written without spaces are compared by pairs of characters.
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def alike(one: str, other: str) -> bool:
    """Whether the shorter description shares at least half of its words with the longer."""
    a, b = _words(one), _words(other)
    if not a or not b:
        return one.split() == other.split()
    return len(a & b) >= ALIKE * min(len(a), len(b))


def _words(text: str) -> frozenset[str]:
    out: set[str] = set()
    for word in _WORD.findall(text.casefold()):
        if _UNSPACED.search(word):
            out.update(word[i : i + 2] for i in range(max(1, len(word) - 1)))
        elif word not in _SMALL:
            out.add(word[:-1] if len(word) > 3 and word.endswith("s") else word)
    return frozenset(out)
