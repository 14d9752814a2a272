"""Unpacked packages -> what is taught: pairs of texts, the vocabulary, and a few short texts for every rare word."""

import collections
import glob
import json
import math
import os
import random
from collections.abc import Iterable, Iterator

import everyday
from readers import READERS, usable, wordlist
from sources import SOURCES, Source

EVERYDAY = 120_000  # so many that each pattern is filled in thousands of ways
COMMON = 24_000  # so many words stand in the vocabulary whatever they are forms of
WORDS = 50_000  # as many are taught; the most usual of them are shipped
HERE = os.path.dirname(os.path.abspath(__file__))

# A word list's size says how usual its words are; a word's place in the teacher's own list does too.
LISTED = {10: 6, 20: 5, 35: 3.5, 40: 2.5, 50: 1, 55: 0.5, 60: 0.5}
TEACHER_FIRST, TEACHER_LAST, TEACHER_SPAN = 7, 4, 28_500
TEACHER_SPECIAL = 1996  # before that stand marks and single characters
RARE = (
    "I like {w}",
    "what is {w}",
    "{w} and {v}",
    "{name} told me about {w}",
    "the {w} was good",
    "we talked about {w} yesterday",
    "{w} {v}",
    "how do I use {w}",
    "a {w} for my {relative}",
    "{w} at work",
    "more {w} than {v}",
    "{name} is into {w}",
    "does {name} know about {w}",
    "{v} with {w}",
)


def files(folder: str, source: Source) -> list[str]:
    where = os.path.join(folder, "unpacked", source.package.replace("/", "+"), source.where)
    return [path for path in sorted(glob.glob(where, recursive=True)) if os.path.isfile(path)]


def pairs(folder: str) -> Iterator[tuple[str, str, str]]:
    """(package, heading or word or '', text), from all packages and from the patterns."""
    seen: set[str] = set()
    for source in SOURCES:
        if source.reader not in READERS:
            continue
        rng = random.Random(7)
        found = [pair for pair in READERS[source.reader](files(folder, source), rng) if len(pair[1]) > 8]
        rng.shuffle(found)
        taken = 0
        for first, text in found:
            if taken < source.share and text not in seen and (usable(text) or source.reader == "wordnet"):
                seen.add(text)
                taken += 1
                yield source.package, first, text
        print(f"{source.package}: {taken} of {len(found)}", flush=True)
    for question, note in sorted(set(everyday.pairs(EVERYDAY, random.Random(7)))):
        yield "everyday", question, note


def vocabulary(folder: str, counts: dict[str, int], teacher: list[str], readings) -> list[str]:
    """Numbers, words of today, the usual words; then rarer ones that are no form of a word already in."""
    listed = wordlist(files(folder, next(s for s in SOURCES if s.reader == "wordlist")))
    place = {w: at for at, w in enumerate(teacher) if at >= TEACHER_SPECIAL - 5 and w.isascii() and w.isalpha()}

    def worth(word: str) -> float:
        own = 0.0
        if word in place and len(word) > 1:
            own = TEACHER_FIRST - TEACHER_LAST * max(0, place[word] - TEACHER_SPECIAL) / TEACHER_SPAN
        other = LISTED.get(listed.get(word, 0), 0)
        return 0.6 * math.log(1 + counts.get(word, 0)) + max(own, other) + 0.4 * min(own, other)

    def fits(word: str) -> bool:
        if not word.isascii():
            return False
        if len(word) == 1:
            return word.isalpha() and word in counts
        if word.replace("'", "").isalpha():
            return len(word) <= 20 and not word.endswith("'s")
        return word.isalnum() and not word.isdigit() and len(word) < 10 and counts.get(word, 0) >= 40

    with open(os.path.join(HERE, "modern.txt"), encoding="utf-8") as file:
        modern = {word for line in file if not line.startswith("#") for word in line.split()}
    first = [str(n) for n in (*range(100), *range(1950, 2031))] + sorted(modern)
    rest = sorted({w for w in {*counts, *listed, *place} if fits(w)} - set(first), key=lambda w: (-worth(w), w))
    chosen = first + rest[:COMMON]
    have = set(chosen)
    for word in rest[COMMON:]:
        if len(chosen) == WORDS:
            break
        if not any(form in have for form in list(readings(word))[1:]):
            chosen.append(word)
            have.add(word)
    return chosen


def rare_texts(words: list[str], counts: dict[str, int]) -> Iterator[str]:
    """A few words around each word the packages seldom use, so that its row is taught at all."""
    rng, names = random.Random(5), everyday.pools()
    for word in words:
        count = counts.get(word, 0)
        for pattern in rng.sample(RARE, 6 if count < 5 else 4 if count < 20 else 2 if count < 60 else 1):
            other, name = rng.choice(words[181:15_000]), rng.choice(names["name"])
            relative = rng.choice(names["relative"])
            yield pattern.format(w=word, v=other, name=name, relative=relative)


def counted(texts: Iterable[str], tokens) -> dict[str, int]:
    counts: collections.Counter[str] = collections.Counter()
    for text in texts:
        counts.update(tokens(text))
    return counts


def gather(folder: str, teacher: list[str], tokens, readings) -> None:
    found = list(pairs(folder))
    counts = counted((f"{first} {text}" for _, first, text in found), tokens)
    words = vocabulary(folder, counts, teacher, readings)
    texts: dict[str, int] = {}

    def number(text: str) -> int:
        return texts.setdefault(text, len(texts))

    for text in words:
        number(text)
    numbered = [(number(text), -1) for text in rare_texts(words, counts)]
    numbered += [(number(text), number(first[:300]) if len(first) > 2 else -1) for _, first, text in found]
    with open(os.path.join(folder, "gathered.json"), "w", encoding="utf-8") as file:
        json.dump({"words": words, "texts": list(texts), "pairs": numbered}, file)
    print(f"{len(words)} words, {len(texts)} texts, {len(numbered)} pairs", flush=True)
