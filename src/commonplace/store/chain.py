"""Whether the log is as it was written: every line judged, read in pieces and never held whole.

It says what of the log holds, and which bytes the log vouches for. It knows no files and no notes.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from hashlib import sha256
from typing import NamedTuple

from commonplace.store import log
from commonplace.store.paths import kept_as

# A line of ours stays far below this; of a longer one only the hash is kept, for the line behind it.
_LINE_BYTES = 1 << 16
# Behind a line as long as this no writer of ours goes on either.
_ENDLESS = 1 << 22
# More places than this are counted, not told one by one.
_TOLD = 50

_SOUND = ""
_GARBAGE = "no entry of ours"
_CHANGED = "not as written"
_MOVED = "out of place: lines were moved, put in or taken out here"
_MISNUMBERED = "numbered out of order"
_OTHER_KEY = "sealed with another key than this notebook's"


class Asked(NamedTuple):
    """What the log is asked."""

    key: bytes | None  # None: seals cannot be judged
    wanted: Mapping[tuple[str, str], str]  # the name for each id and hash of bytes the log may know
    kept: Container[str] | None  # the names of the versions in the history; None where nobody knows
    settled: int  # so many bytes of the log had been written before the history was looked at


class Stretch(NamedTuple):
    """Lines in a row, counted from 1, that do not hold, and what is wrong with them."""

    first: int
    last: int
    what: str

    @property
    def where(self) -> str:
        return f"line {self.first}" if self.first == self.last else f"lines {self.first} to {self.last}"


class Chain(NamedTuple):
    """What a log says of itself."""

    stretches: tuple[Stretch, ...]
    more: int  # stretches beyond those
    lines: int
    reach: int  # no entry that stood here can have had a greater number
    torn: bool  # the last line has no end
    endless: bool  # that line goes on and on, and was not read to its end
    other_key: bool  # all of it holds together, and none of it is sealed with this key
    vouched: Mapping[str, bool]  # the names of `wanted` the log knows: whether by a line that is sound
    lost: tuple[int, ...]  # the lines that tell of a replaced version the history does not have
    first: int  # the number of the entry it begins with, where that is sound; else 1


def judge(pieces: Iterable[bytes], asked: Asked) -> Chain:
    """Read a log to its end."""
    at = _Judge(asked)
    for start, line, digest, whole in _lines(pieces):
        if not whole:
            return at.answer(torn=True, endless=line is None)
        at.take(start, line, digest)
    return at.answer()


class _Verdict(NamedTuple):
    line: int
    word: str
    behind: bool  # it names the line before it all the same


class _Judge:
    """A log as far as it was read."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self._mark = ""  # what the next line must say of the one before
        self._number: int | None = None  # of the entry just before, where that can be believed
        self._lines = self._highest = self._unread = 0
        self._first = 1
        self._bad: list[list[_Verdict]] = []
        self._vouched: dict[str, bool] = {}
        self._lost: list[int] = []

    def take(self, start: int, line: bytes | None, digest: str) -> None:
        """Judge the next line, which begins at this byte; None for one that is too long to be ours."""
        self._lines += 1
        found = None if line is None else log.read_line(line, self._mark, self._asked.key or b"")
        sealed = found is not None and (self._asked.key is None or found.sealed)
        word = self._word(found, sealed=sealed)
        if word != _SOUND:
            if not self._bad or self._bad[-1][-1].line != self._lines - 1:
                self._bad.append([])
            self._bad[-1].append(_Verdict(self._lines, word, found is not None and found.behind))
        if found is not None and (name := self._asked.wanted.get((found.entry.id, found.entry.hash))):
            self._vouched[name] = sealed and found.behind
        if found is not None and sealed:
            self._believe(found, start)
        else:
            self._unread += 1
        self._number = found.entry.number if found is not None and sealed else None
        self._mark = "" if line == b"" else log.mark_of(digest)

    def _word(self, found: log.Line | None, *, sealed: bool) -> str:
        if found is None:
            return _GARBAGE
        if not sealed:
            return _CHANGED
        if not found.behind:
            return _MOVED
        return _SOUND if self._number in (None, found.entry.number - 1) else _MISNUMBERED

    def _believe(self, found: log.Line, start: int) -> None:
        entry, asked = found.entry, self._asked
        self._highest = max(self._highest, entry.number)
        if self._lines == 1 and found.behind:
            self._first = entry.number
        replaced = entry.was and found.behind and start < asked.settled
        if replaced and asked.kept is not None and kept_as(entry.number, entry.was) not in asked.kept:
            self._lost.append(self._lines)

    def answer(self, *, torn: bool = False, endless: bool = False) -> Chain:
        told = [_stretch(lines, self._lines) for lines in self._bad]
        other_key = self._lines > 1 and told == [Stretch(1, self._lines, _OTHER_KEY)]
        told = [] if other_key else told
        return Chain(
            tuple(told[:_TOLD]), max(len(told) - _TOLD, 0), self._lines, self._highest + self._unread, torn, endless, other_key,
            self._vouched, tuple(self._lost), self._first,
        )  # fmt: skip


def _stretch(bad: list[_Verdict], lines: int) -> Stretch:
    first, last = bad[0], bad[-1]
    if len(bad) > 1 and last.word == _MOVED and bad[-2].word in (_CHANGED, _GARBAGE):
        last = bad[-2]  # that what stands before it was changed is all that is wrong with it
    unlike = all(one.word == _CHANGED for one in bad) and all(one.behind for one in bad[1:])
    if unlike and (last.line < lines or len(bad) > 1):  # the line behind each still names it: it is as it was then
        return Stretch(first.line, last.line, _OTHER_KEY)
    return Stretch(first.line, last.line, first.word)


def _lines(pieces: Iterable[bytes]) -> Iterator[tuple[int, bytes | None, str, bool]]:
    """Each line: where it begins, its bytes without their end (None if too long), its SHA-256, and if it has an end."""
    at, begun, digest = 0, b"", sha256()
    size = 0
    for piece in pieces:
        *ends, rest = piece.split(b"\n")
        for end in ends:
            digest.update(end)
            line = begun + end
            yield at, (line if len(line) <= _LINE_BYTES else None), digest.hexdigest(), True
            at, size = at + size + len(end) + 1, 0
            begun, digest = b"", sha256()
        digest.update(rest)
        size += len(rest)
        begun = (begun + rest)[: _LINE_BYTES + 1]
        if size > _ENDLESS:
            break
    if size:
        yield at, (begun if size <= _ENDLESS else None), digest.hexdigest(), False
