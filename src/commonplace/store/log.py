"""The log: one line for each change that was about to be made, each holding the hash of the line before.

It says who wrote which bytes. An entry whose hash is not on the disk is void: the change did not happen.
Lines hold keyed ids, not names, so that a note can be forgotten without breaking the chain; and a seal made with
the notebook's key, so that an edited line shows even where it is the last. It knows no notes.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Iterator
from hashlib import blake2b, sha256

from commonplace.errors import Obstructed
from commonplace.named import NamedTuple
from commonplace.store.base import Call
from commonplace.store.disk import Disk
from commonplace.store.paths import CONTROL, LOG

KEY_BYTES = 32
# Longest word of a caller's that a line holds: a line stays far under one disk block.
_WORD_CHARS = 200
_TAIL = 16_384
# What a dead writer, or anybody, may have left behind the last whole line; with more it is no log.
_LONGEST = 1 << 22
# No log has so many lines; a number past it was put there by hand, and would be in the way as part of a file's name.
_HIGHEST = 10**12
_CHAIN_CHARS = 32
_SEAL_CHARS = 32
_SEAL = b',"seal":"'
_ABOUT = re.compile(rb'"id":"[0-9a-f]*","hash":"[0-9a-f]+"')
# No more of a key is used, whatever happened to its file.
_KEY_MOST = 64


class Entry(NamedTuple):
    """One change that was about to be made."""

    number: int
    at: str
    op: str  # put, delete
    id: str
    hash: str  # of the new bytes; '' for a delete
    was: str  # of the old bytes; '' for a create
    call: Call
    folder: str = ""

    def line(self, previous: str, key: bytes) -> bytes:
        import json

        fields = {
            "n": self.number, "at": self.at, "op": self.op, "id": self.id, "hash": self.hash, "was": self.was,
            "origin": self.call.origin[:_WORD_CHARS], "session": self.call.session[:_WORD_CHARS],
            "actor": self.call.actor[:_WORD_CHARS], "tainted": self.call.tainted,
            **({"in": self.folder} if self.folder else {}), **({"act": self.call.act[:_WORD_CHARS]} if self.call.act else {}),
            "prev": previous,
        }  # fmt: skip
        return _sealed(json.dumps(fields, separators=(",", ":")).encode()[:-1] + _SEAL, key)


class Line(NamedTuple):
    """A line of the log that is an entry, and what vouches for it."""

    entry: Entry
    behind: bool  # it stands behind the line it was written behind
    sealed: bool  # it is as we wrote it, with this key

    @property
    def sound(self) -> bool:
        return self.behind and self.sealed


class Tail(NamedTuple):
    """Where the next entry goes."""

    size: int
    number: int  # the next entry's
    previous: str  # hash of the last line


def id_of(name: str, key: bytes) -> str:
    """The id by which the log knows a name; nobody without the key can tell which."""
    return blake2b(name.encode("utf-8", "surrogatepass"), key=key[:_KEY_MOST], digest_size=8).hexdigest()


def read_tail(disk: Disk, fd: int) -> Tail:
    """Find the end of the log. What a dead writer left of a line is cut off: it was never acknowledged."""
    found = disk.stat_fd(fd)
    size = found.st_size
    if not stat.S_ISREG(found.st_mode):
        raise Obstructed(f"{CONTROL}/{LOG} is not a plain file; nothing was changed. Move it away")
    if size == 0:
        return Tail(0, 1, "")
    reach = min(size, _TAIL)
    block = disk.pread(fd, reach, size - reach)
    if reach < size and block.rfind(b"\n", 0, max(block.rfind(b"\n"), 0)) < 0:  # not one whole line in it
        block = disk.pread(fd, min(size, _LONGEST), max(size - _LONGEST, 0))
        if size > _LONGEST and b"\n" not in block:
            raise Obstructed(f"{CONTROL}/{LOG} does not end in lines of ours; nothing was changed. Move it away")
    if not block.endswith(b"\n"):
        whole = block.rfind(b"\n") + 1
        size -= len(block) - whole
        disk.truncate(fd, size)
        block = block[:whole]
    last = block[:-1].rpartition(b"\n")[2]
    return Tail(size, _number(last, block) + 1, _chain(last) if last else "")


def append(disk: Disk, fd: int, tail: Tail, entry: Entry, key: bytes) -> None:
    """Write one entry and wait for the disk. A failure leaves the log as it was: never half a line."""
    line = entry.line(tail.previous, key)
    try:
        sent = 0
        while sent < len(line):
            sent += disk.write(fd, line[sent:])
        disk.sync_data(fd)
    except OSError:
        disk.truncate(fd, tail.size)
        raise


def read_entries(raw: bytes, key: bytes) -> Iterator[tuple[Entry, bool]]:
    """Every entry in order, each with whether it is sound: as we wrote it, and behind the line we wrote it behind."""
    previous = b""
    for line in raw.split(b"\n")[:-1]:
        if found := _read(line, previous, key):
            yield found
        previous = line


def read_line(line: bytes, mark: str, key: bytes) -> Line | None:
    """One line, without its end; `mark` is that of the line before. None where it is no entry."""
    import json

    try:
        fields = json.loads(line)
        at, op, id_, new, was = (str(fields[word]) for word in ("at", "op", "id", "hash", "was"))
        said = (str(fields["origin"]), str(fields["session"]), bool(fields["tainted"]), str(fields["actor"]))
        call = Call(*said, str(fields.get("act", "")))
        entry = Entry(int(fields["n"]), at, op, id_, new, was, call, str(fields.get("in", "")))
        behind = fields["prev"] == mark
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None
    return Line(entry, behind, _sealed(line[: -_SEAL_CHARS - 2], key) == line + b"\n")


def mark_of(digest: str) -> str:
    """What the next line says of the one before: the beginning of its SHA-256."""
    return digest[:_CHAIN_CHARS]


def places(raw: bytes) -> dict[bytes, int]:
    """Where the log last speaks of each version of each note, by the words `about` answers."""
    return {found[0]: found.start() for found in _ABOUT.finditer(raw, 0, raw.rfind(b"\n") + 1)}


def about(id_: str, hash_: str) -> bytes:
    """The words of a line that say which bytes of which note it is about."""
    return f'"id":"{id_}","hash":"{hash_}"'.encode()


def entry_at(raw: bytes, place: int, key: bytes) -> tuple[Entry, bool] | None:
    """The entry on whose line a place is, and whether it is sound; None where that line is no entry."""
    start = raw.rfind(b"\n", 0, place) + 1
    before = raw[raw.rfind(b"\n", 0, max(start - 1, 0)) + 1 : max(start - 1, 0)]
    return _read(raw[start : raw.find(b"\n", place)], before, key)


def _read(line: bytes, previous: bytes, key: bytes) -> tuple[Entry, bool] | None:
    found = read_line(line, _chain(previous) if previous else "", key)
    return found and (found.entry, found.sound)


def _sealed(line: bytes, key: bytes) -> bytes:
    """A line up to its seal, with the seal."""
    return line + blake2b(line, key=key[:_KEY_MOST], digest_size=_SEAL_CHARS // 2).hexdigest().encode() + b'"}\n'


def _number(last: bytes, block: bytes) -> int:
    import json

    try:
        number = json.loads(last)["n"]
    except (ValueError, KeyError, TypeError, RecursionError):
        number = None
    return number if isinstance(number, int) and 0 < number < _HIGHEST else block.count(b"\n")


def _chain(line: bytes) -> str:
    return mark_of(sha256(line).hexdigest())
