"""A misspelt word, and the word of a vocabulary that was meant. Pure."""

from __future__ import annotations

from collections.abc import Mapping

# Words this long are guessed with two letters wrong.
_LONG = 8


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
