"""WordPiece as BERT's uncased models were trained with: text -> the numbers of its pieces.

It knows no model. The marks a model reads as its own, `[CLS]` and the like, are plain text where a text has them.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence

UNKNOWN, FIRST, LAST = "[UNK]", "[CLS]", "[SEP]"
# A longer word is unknown; the models were trained so.
_WORD_CHARS = 100
# Words kept with their pieces: texts repeat them.
_KEPT = 20_000
# The ideographs that stand alone, by code point. Kana, Hangul and later extensions are words like any others.
_IDEOGRAPHS = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F), (0x2B820, 0x2CEAF),
    (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip
# Symbols by Unicode, punctuation to BERT.
_ASCII_SYMBOLS = frozenset("$+<=>^`|~")

# Accents that stand by themselves once a text is taken apart, and what shows nothing.
_UNSEEN = frozenset(("Mn", "Cc", "Cf", "Cs", "Co"))


class WordPieces:
    """A vocabulary, and texts cut by it. A ValueError says that it is none of BERT's."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self._numbers = {piece: number for number, piece in enumerate(vocabulary)}
        if lacking := {UNKNOWN, FIRST, LAST} - self._numbers.keys():
            raise ValueError(f"its vocabulary has no {' and no '.join(sorted(lacking))}")
        self._longest = max(map(len, vocabulary))
        self._kept: dict[str, list[int]] = {}
        self.unknown, self.first, self.last = (self._numbers[mark] for mark in (UNKNOWN, FIRST, LAST))

    def __len__(self) -> int:
        return len(self._numbers)

    def numbers(self, text: str) -> list[int]:
        """The pieces of a text, without the marks at its ends."""
        found: list[int] = []
        for word in _spread(text).split():
            pieces = self._kept.get(word)
            if pieces is None:
                if len(self._kept) >= _KEPT:
                    self._kept.clear()
                pieces = self._kept[word] = self._cut(word)
            found += pieces
        return found

    def _cut(self, word: str) -> list[int]:
        """The longest piece the vocabulary has, again and again; a word that cannot be cut so is unknown as a whole."""
        if len(word) > _WORD_CHARS:
            return [self.unknown]
        found: list[int] = []
        start = 0
        while start < len(word):
            mark = "##" if start else ""
            for end in range(min(len(word), start + self._longest), start, -1):
                number = self._numbers.get(mark + word[start:end])
                if number is not None:
                    break
            else:
                return [self.unknown]
            found.append(number)
            start = end
        return found


def _spread(text: str) -> str:
    """The text in lower case and without accents, a space around whatever is a word by itself."""
    return unicodedata.normalize("NFD", text).translate(_CHARACTERS)


class _Characters(dict[int, str]):
    """What each character becomes, found out when it is first seen: `str.translate` asks."""

    def __missing__(self, code: int) -> str:
        self[code] = found = _character(chr(code))
        return found


def _character(char: str) -> str:
    kind = unicodedata.category(char)
    if char in "\t\n\r" or kind.startswith("Z"):
        return " "
    if kind in _UNSEEN or char == "\ufffd":
        return ""
    if kind.startswith("P") or char in _ASCII_SYMBOLS or any(first <= ord(char) <= last for first, last in _IDEOGRAPHS):
        return f" {char} "
    return char.lower()


_CHARACTERS: Mapping[int, str] = _Characters()
