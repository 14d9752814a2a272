"""ScriptedEmbeddings: vectors made of words, so that texts with words in common are near. No model, and always the same.

    embeddings = ScriptedEmbeddings(Failure(429), Delivery(wait=30))

It knows no meaning, no provider and no HTTP: `servers.py` puts it behind the real SDK. Each request takes the next step of
the script; when that is played, all go well.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from hashlib import shake_128
from math import sqrt
from threading import Lock
from typing import TypeAlias

from commonplace.testing.scripted import AT_ONCE, Delivery, Failure, Reply, Request

# Enough for a few hundred words to stay apart, and short enough to be printed.
SIZE = 64
_WORD = re.compile(r"\w+")
_MIDDLE = 127.5

Vector: TypeAlias = Sequence[float]
Trouble: TypeAlias = Failure | Delivery | Callable[[Request], Sequence[Vector]]


@dataclass(frozen=True, slots=True)
class Vectors(Reply):
    """A reply that is no text."""

    _: KW_ONLY
    vectors: tuple[Vector, ...] = ()


def hashed(text: str, size: int = SIZE) -> tuple[float, ...]:
    """A text as a vector of length one: the sum of its words, whose numbers come from their hashes."""
    totals = [0.0] * size
    for word in _WORD.findall(text.casefold()) or [text]:
        for place, byte in enumerate(shake_128(word.encode("utf-8", "surrogatepass")).digest(size)):
            totals[place] += byte - _MIDDLE
    length = sqrt(sum(total * total for total in totals))
    return tuple(total / length for total in totals)


class ScriptedEmbeddings:
    """Answers with vectors, or as a step says: a Failure, a Delivery, or a function of the request that makes the vectors.

    Safe from any thread.
    """

    def __init__(self, *script: Trouble, size: int = SIZE) -> None:
        self.size = size
        self._left = list(script)
        self._requests: list[Request] = []
        self._turn = Lock()

    @property
    def requests(self) -> tuple[Request, ...]:
        """Every request so far, in the order they came; each text is one of its messages."""
        with self._turn:
            return tuple(self._requests)

    @property
    def left(self) -> tuple[Trouble, ...]:
        """The steps nobody has played yet."""
        with self._turn:
            return tuple(self._left)

    def answer(self, request: Request) -> Reply | Failure:
        """A vector for each text, of the size that was asked for."""
        with self._turn:
            self._requests.append(request)
            step = self._left.pop(0) if self._left else AT_ONCE
        if isinstance(step, Failure):
            return step
        if isinstance(step, Delivery):
            size = request.raw.get("dimensions") or self.size
            return Vectors(vectors=tuple(hashed(turn.text, size) for turn in request.messages), delivery=step)
        return Vectors(vectors=tuple(step(request)))
