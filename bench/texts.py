"""Notes to measure with: 100 to 400 words each, as often as they are used, made quickly and the same each time.

The words are those of the comments and documentation in Python's own library: half of a note's come from one module,
which is its subject, half from all of them. Two in a hundred are names of a growing number of things, as in any project.
"""

from __future__ import annotations

import os
import random
import re
from datetime import date, timedelta
from functools import cache
from pathlib import Path

from commonplace.note.note import Note
from commonplace.note.slug import slugify

KINDS = ("user", "feedback", "project", "reference")
_SENTENCE, _PARAGRAPH = 14, 70
_NAMES = 0.02
_SESSION = 20  # notes of one session
_DAYS = 700
_SAID = re.compile(r'"""(.*?)"""|# (.*?)\n', re.DOTALL)
_WORD = re.compile(r"[A-Za-z][a-z]+(?:'[a-z]+)?")
_LEFT_OUT = ("site-packages", "test", "tests", "encodings")
_ENOUGH = 500  # words, to be a subject
_LAST_DAY = date(2026, 5, 15)


@cache
def subjects() -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The modules of the standard library that say something, and the words they say, in order."""
    library = Path(os.__file__).parent
    found = []
    for path in sorted([*library.glob("*.py"), *library.glob("*/*.py")]):
        if path.parent.name not in _LEFT_OUT:
            said = [text or line for text, line in _SAID.findall(path.read_text("utf-8", "replace"))]
            words = tuple(_WORD.findall(" ".join(said)))
            if len(words) >= _ENOUGH:
                found.append((path.relative_to(library).with_suffix("").as_posix().strip("_").replace("/", "-"), words))
    return tuple(found)


@cache
def every_word() -> tuple[str, ...]:
    return tuple(word for _, words in subjects() for word in words)


def note(number: int) -> Note:
    """The note of this number, different from every other."""
    dice = random.Random(number)
    subject, own = subjects()[number * 7919 % len(subjects())]
    count = dice.randint(100, 400)
    words = dice.choices(own, k=count // 2) + dice.choices(every_word(), k=count - count // 2)
    dice.shuffle(words)
    for at in range(0, count, int(1 / _NAMES)):
        words[at + dice.randrange(min(int(1 / _NAMES), count - at))] = _name(dice, subject, number)
    session = number // _SESSION
    day = _LAST_DAY - timedelta(days=session * 7919 % _DAYS)
    return Note(
        name=slugify(f"{subject} {number}"), description=f"{' '.join(dice.choices(own, k=10)).capitalize()} of part {number}",
        kind=KINDS[number % len(KINDS)], body=_written(words), created=day, updated=day, tags=(subject.lower(),),
        origin="agent", session=f"{day.isoformat()}-08h00-{session:04x}",
    )  # fmt: skip


def queries(size: int, terms: int, count: int) -> list[str]:
    """Questions of so many terms, each taken from a note there is, without the small words."""
    from commonplace.recall.analyze import asked

    out = []
    dice = random.Random(terms)
    while len(out) < count:
        made = note(dice.randrange(size))
        words = [word.shown for word in asked(made.body) if word.shown.islower()]
        if len(words) >= terms:
            out.append(" ".join(dice.sample(words, terms)))
    return out


def _name(dice: random.Random, subject: str, number: int) -> str:
    part = dice.randrange(number // 4 + 10)
    return dice.choice((f"{subject}_{part}", f"src/{subject}/part{part}.py", f"{subject.upper()}-{part}", f"v{part}"))


def _written(words: list[str]) -> str:
    """Words as sentences and paragraphs."""
    sentences = [" ".join(words[at : at + _SENTENCE]) + "." for at in range(0, len(words), _SENTENCE)]
    step = _PARAGRAPH // _SENTENCE
    return "\n\n".join(" ".join(sentences[at : at + step]) for at in range(0, len(sentences), step))
