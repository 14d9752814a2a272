"""What a text is about, as a short vector: the sum of its words' rows in a table shipped beside this file.

It knows English words, code among them, and no order of words, no sentence and no other language: a text without a known
word is all zeros, near to nothing. The table is read a few kilobytes at a time, and checked as it is read. It knows
neither notes nor the index; whoever asks keeps the vectors under `key`.
"""

from __future__ import annotations

import os
import re
import struct
import sys
from collections.abc import Iterable, Iterator, Sequence
from math import sqrt
from operator import mul
from zlib import crc32

from commonplace.errors import BadWords
from commonplace.named import NamedTuple, Protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TABLE = os.path.join(os.path.dirname(__file__), "words.bin")
# The length every vector has: the most a signed byte holds.
LENGTH = 127

_MAGIC = b"commonplace.words\n"
# magic, name of the table, columns, buckets, words, bytes of the file, sum of the directory, sum of all before it here
_HEADER = struct.Struct("<18s 22s H I I I I I")
_ROW_ZERO = 128  # a row's bytes are unsigned, so that rows add up without borrowing; this is their zero
# Rows that fit into lanes of sixteen bits: 257 x 255 is the largest sum below 65,536.
_AT_ONCE = 256
# Words kept in memory with their rows: 400 bytes each.
_KEPT = 20_000
# No word of the table is longer; what is, as a key or a hash, is not looked up.
_LONGEST = 24
# Longer texts say what they are about in their first words.
_MOST_CHARS = 20_000
# German knows `die` and `war` too. Of 99 in 100 English texts, documentation of programs included, three words in four
# are in the table; of a German page one in two. Short texts say too little of their language to be judged.
_FOREIGN = 0.5  # unknown words for each known one
_ENOUGH = 8

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
# Where a name in code begins a new word: `deployScript`, `HTTPServer`.
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
# What an unknown word is looked up as: the first of these the table knows.
_ENDINGS = (
    ("'s", ""), ("ies", "y"), ("es", ""), ("s", ""), ("ing", ""), ("ing", "e"), ("ed", ""), ("ed", "e"), ("ly", ""), ("er", ""),
)  # fmt: skip
_SHORTEST_STEM = 3


class Encoder(Protocol):
    """Turns texts into vectors that are near where the texts are of one thing."""

    key: str
    """Model, version and size: what kept vectors are kept under."""
    size: int
    """Bytes of a vector: one a dimension, signed."""

    def vectors(self, texts: Sequence[str]) -> list[bytes]:
        """Each text as a vector of length 127; all zeros where nothing in it is known."""


def closeness(query: bytes, others: Sequence[bytes]) -> list[float]:
    """The cosine of the query with each of the others: 1 for the same, 0 for nothing in common."""
    if any(len(other) != len(query) for other in others):
        raise ValueError("vectors of two encoders cannot be compared: encode both with one")
    numpy = sys.modules.get("numpy")  # never imported for this: that takes longer than thousands of products
    products = _products_by_numpy(numpy, query, others) if numpy and len(others) > 1 else _products(query, others)
    return [max(-1.0, min(1.0, product / LENGTH**2)) for product in products]


def numpy_is_here() -> bool:
    """Whether somebody else has loaded numpy, which makes many comparisons quick."""
    return "numpy" in sys.modules


def _products(query: bytes, others: Iterable[bytes]) -> Iterator[int]:
    asked = memoryview(query).cast("b").tolist()
    for other in others:
        yield sum(map(mul, asked, memoryview(other).cast("b")))


def _products_by_numpy(numpy: Any, query: bytes, others: Sequence[bytes]) -> list[float]:
    table = numpy.frombuffer(b"".join(others), numpy.int8).reshape(len(others), len(query))
    asked = numpy.frombuffer(query, numpy.int8).astype(numpy.float32)
    found: list[float] = (table.astype(numpy.float32) @ asked).tolist()
    return found


class _Head(NamedTuple):
    name: str
    size: int
    buckets: int
    words: int


class StaticWords:
    """The table of word rows. Opening it reads a few kilobytes; each new word then reads one or two more.

    Raises `BadWords` where the table is missing or not what was shipped.
    """

    def __init__(self, path: str = TABLE) -> None:
        self._path = path
        self._rows: dict[str, int] = {}
        self._file = -1
        try:
            self._file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise BadWords(path, error.strerror or "cannot be opened") from error
        self._head, self._places = self._opened()
        self.size = self._head.size
        self.key = f"{self._head.name}/{self.size}"

    def vectors(self, texts: Sequence[str]) -> list[bytes]:
        """Each text as a vector of length 127; all zeros where no word of it is known."""
        return [self._vector(text) for text in texts]

    def close(self) -> None:
        """Close the table; a new word would then raise `BadWords`. What is dropped closes itself."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    __del__ = close

    def _vector(self, text: str) -> bytes:
        rows = self._known(words(text))
        totals = [0] * self.size
        for start in range(0, len(rows), _AT_ONCE):
            part = rows[start : start + _AT_ONCE]
            lanes = struct.unpack(f"<{self.size}H", sum(part).to_bytes(2 * self.size, "little"))
            zero = _ROW_ZERO * len(part)
            totals = [total + lane - zero for total, lane in zip(totals, lanes, strict=True)]
        length = sqrt(sum(map(mul, totals, totals)))
        if not length:
            return bytes(self.size)
        scale = LENGTH / length
        return struct.pack(f"{self.size}b", *[round(total * scale) for total in totals])

    def _known(self, found: list[str]) -> list[int]:
        """The rows of the words it knows; none where so many are unknown that the text is in another language."""
        rows = [row for row in map(self._row, found) if row]
        if len(found) - len(rows) > _FOREIGN * len(rows) and len(found) >= _ENOUGH:
            strange = sum(word.isalpha() and not self._row(word) for word in found)
            if strange > _FOREIGN * len(rows):
                return []
        return rows

    def _row(self, word: str) -> int:
        """The row of a word, a lane of sixteen bits for each column; 0 for a word the table does not know."""
        if len(word) > _LONGEST:
            return 0
        row = self._rows.get(word)
        if row is None:
            row = next(filter(None, map(self._read, _readings(word))), 0)
            if len(self._rows) >= _KEPT:
                self._rows.clear()
            self._rows[word] = row
        return row

    def _read(self, word: str) -> int:
        spelled = word.encode()
        bucket = crc32(spelled) % self._head.buckets
        start, stop = self._places[bucket : bucket + 2]
        block = self._bytes(start, stop - start)
        if len(block) < 6 or crc32(block[4:]) != int.from_bytes(block[:4], "little"):
            raise BadWords(self._path, f"bucket {bucket} is not what was written")
        listed = 6 + int.from_bytes(block[4:6], "little")
        names = block[6:listed].split(b"\n")
        if spelled not in names:
            return 0
        at = listed + names.index(spelled) * self.size
        lanes = bytearray(2 * self.size)
        lanes[::2] = block[at : at + self.size]
        return int.from_bytes(lanes, "little")

    def _opened(self) -> tuple[_Head, tuple[int, ...]]:
        raw = self._bytes(0, _HEADER.size)
        magic, name, size, buckets, count, length, directory, check = _HEADER.unpack(raw)
        if magic != _MAGIC or crc32(raw[:-4]) != check:
            raise BadWords(self._path, "it does not begin as a table of words does")
        if os.fstat(self._file).st_size != length:
            raise BadWords(self._path, f"it is not {length} bytes long")
        places = self._bytes(_HEADER.size, 4 * (buckets + 1))
        if crc32(places) != directory:
            raise BadWords(self._path, "its directory is not what was written")
        return _Head(name.rstrip(b"\0").decode(), size, buckets, count), struct.unpack(f"<{buckets + 1}I", places)

    def _bytes(self, start: int, count: int) -> bytes:
        try:
            found = os.pread(self._file, count, start)
        except OSError as error:
            raise BadWords(self._path, error.strerror or "cannot be read") from error
        if len(found) != count:
            raise BadWords(self._path, "it ends too early")
        return found


def words(text: str) -> list[str]:
    """The words of a text as the table spells them; names in code are taken apart."""
    text = text[:_MOST_CHARS]
    if not text.isascii():
        text = text.replace("\u2019", "'")
    return _WORD.findall(_HUMP.sub(" ", text.replace("_", " ")).casefold())


def _readings(word: str) -> Iterator[str]:
    """The word, then what it may be a form of."""
    yield word
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            yield word[: -len(ending)] + instead
