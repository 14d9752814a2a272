"""A misspelt word, and the word of a vocabulary that was meant. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

# Words this long are guessed with two letters wrong.
_LONG = 8

# So many letters around one are of its alphabet: Cyrillic has 32 in a row.
_AROUND = 40


def slips(word: str) -> Iterator[str]:
    """Every word one slip away: letters swapped, one too many, another in its place, one missing."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    if not word.isascii():
        other = max(map(ord, word))
        letters += "".join(filter(str.isalpha, map(chr, range(other - _AROUND, other + _AROUND))))
    for at in range(len(word) - 1):
        yield word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    for at in range(len(word)):
        yield word[:at] + word[at + 1 :]
    for at in range(len(word)):
        for letter in letters:
            yield word[:at] + letter + word[at + 1 :]
    for at in range(len(word) + 1):
        for letter in letters:
            yield word[:at] + letter + word[at:]


def nearest(word: str, known: Mapping[str, int]) -> str:
    """The known word few letters away, the commonest of the nearest; '' where there is none."""
    most = 2 if len(word) >= _LONG else 1
    best, rank = "", (most + 1, 0)
    for other, count in known.items():
        if abs(len(other) - len(word)) <= most:
            away = distance(word, other, most)
            if (away, -count) < rank and away <= most:
                best, rank = other, (away, -count)
    return best


def distance(one: str, other: str, most: int) -> int:
    """How many letters to put in, take out, change, or swap with the next; over `most` it stops counting."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        before, last, row = row, before, [i]
        for j, there in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != there))
            if last and j > 1 and letter == other[j - 2] and one[i - 2] == there:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
    return row[-1]
