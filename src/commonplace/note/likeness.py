"""Whether two one-line descriptions could be of the same fact. A guard against overwriting, not a judge of meaning."""

from __future__ import annotations

import re

# Half of the words of the shorter one: a correction keeps its subject's words, another fact shares only small ones.
ALIKE = 0.5

# Combining marks belong to words: without them Hindi or Burmese would fall into single consonants.
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0711\u0730-\u074a"
    "\u0900-\u0963\u0966-\u0dff\u0e31-\u0e3a\u0e47-\u0e4e\u0eb1-\u0ebc\u0ec8-\u0ece\u0f18-\u0fbc\u102b-\u103e"
    "\u1056-\u109d\u17b4-\u17d3\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\u3099\u309a"
)
_WORD = re.compile(rf"(?:[^\W_]|[{_MARKS}])+")
_SMALL = frozenset((
    "a an and are as at be by for from has have in is it its no not of on or our that the their this to was we "
    "were will with you your"
).split())  # fmt: skip
# Scripts written without spaces are compared by pairs of characters.
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def alike(one: str, other: str) -> bool:
    """Whether the shorter description shares at least half of its words with the longer."""
    a, b = _words(one), _words(other)
    if not a or not b:
        return one.split() == other.split()
    return len(a & b) >= ALIKE * min(len(a), len(b))


def _words(text: str) -> frozenset[str]:
    if not text.isascii():
        from unicodedata import normalize

        text = normalize("NFC", text)
    out: set[str] = set()
    for word in _WORD.findall(text.casefold()):
        if _UNSPACED.search(word):
            out.update(word[i : i + 2] for i in range(max(1, len(word) - 1)))
        elif word not in _SMALL:
            out.add(word[:-1] if len(word) > 3 and word.endswith("s") else word)
    return frozenset(out)
