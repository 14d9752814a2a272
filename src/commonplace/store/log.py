"""The log: one line for each change that was about to be made, each holding the hash of the line before.

It says who wrote which bytes. An entry whose hash is not on the disk is void: the change did not happen.
Lines hold keyed ids, not names, so that a note can be forgotten without breaking the chain. It knows no notes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import blake2b, sha256
from typing import NamedTuple

from commonplace.store.base import Call
from commonplace.store.disk import Disk

LOG = "log.jsonl"
KEY = "key"
KEY_BYTES = 32
# Longest word of a caller's that a line holds: a line stays far under one disk block.
_WORD_CHARS = 200
_TAIL = 8192
_CHAIN_CHARS = 32


class Entry(NamedTuple):
    """One change that was about to be made."""

    number: int
    at: str
    op: str  # put, delete
    id: str
    hash: str  # of the new bytes; '' for a delete
    was: str  # of the old bytes; '' for a create
    call: Call

    def line(self, previous: str) -> bytes:
        fields = {
            "n": self.number, "at": self.at, "op": self.op, "id": self.id, "hash": self.hash, "was": self.was,
            "origin": self.call.origin[:_WORD_CHARS], "session": self.call.session[:_WORD_CHARS],
            "actor": self.call.actor[:_WORD_CHARS], "tainted": self.call.tainted, "prev": previous,
        }  # fmt: skip
        return json.dumps(fields, separators=(",", ":")).encode() + b"\n"


class Tail(NamedTuple):
    """Where the next entry goes."""

    size: int
    number: int  # the next entry's
    previous: str  # hash of the last line


def id_of(name: str, key: bytes) -> str:
    """The id by which the log knows a name; nobody without the key can tell which."""
    return blake2b(name.encode("utf-8", "surrogatepass"), key=key, digest_size=8).hexdigest()


def read_tail(disk: Disk, fd: int) -> Tail:
    """Find the end of the log. What a dead writer left of a line is cut off: it was never acknowledged."""
    size = disk.stat_fd(fd).st_size
    if size == 0:
        return Tail(0, 1, "")
    reach = min(size, _TAIL)
    block = disk.pread(fd, reach, size - reach)
    if b"\n" not in block[:-1] and reach < size:
        block = disk.pread(fd, size, 0)
    if not block.endswith(b"\n"):
        whole = block.rfind(b"\n") + 1
        size -= len(block) - whole
        disk.truncate(fd, size)
        block = block[:whole]
    last = block[:-1].rpartition(b"\n")[2]
    return Tail(size, _number(last, block) + 1, _chain(last) if last else "")


def append(disk: Disk, fd: int, tail: Tail, entry: Entry) -> None:
    """Write one entry and wait for the disk. A failure leaves the log as it was: never half a line."""
    line = entry.line(tail.previous)
    try:
        sent = 0
        while sent < len(line):
            sent += disk.write(fd, line[sent:])
        disk.sync_data(fd)
    except OSError:
        disk.truncate(fd, tail.size)
        raise


def read_entries(raw: bytes) -> Iterator[tuple[Entry, bool]]:
    """Every entry in order, each with whether the chain holds up to it. What is no entry breaks the chain."""
    previous, sound = "", True
    for line in raw.split(b"\n")[:-1]:
        try:
            fields = json.loads(line)
            call = Call(str(fields["origin"]), str(fields["session"]), bool(fields["tainted"]), str(fields["actor"]))
            entry = Entry(fields["n"], fields["at"], fields["op"], fields["id"], fields["hash"], fields["was"], call)
            sound = sound and fields["prev"] == previous
        except (ValueError, KeyError, TypeError):
            sound = False
        else:
            yield entry, sound
        previous = _chain(line)


def _number(last: bytes, block: bytes) -> int:
    try:
        number = json.loads(last)["n"]
    except (ValueError, KeyError, TypeError):
        number = None
    return number if isinstance(number, int) else block.count(b"\n")


def _chain(line: bytes) -> str:
    return sha256(line).hexdigest()[:_CHAIN_CHARS]
