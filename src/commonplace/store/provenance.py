"""Who wrote which bytes, as the log tells it. What the log does not know was changed by hand."""

from __future__ import annotations

from commonplace.store import log
from commonplace.store.disk import Disk
from commonplace.store.paths import CONTROL
from commonplace.store.raw import read_whole, signature_of

HAND = "hand"
# A log this long holds a few million changes; more is not read, and what it would tell counts as by hand.
_LOG_BYTES = 1 << 30


class Provenance:
    """The log's answers, read once for each state of the log."""

    def __init__(self, path: str, disk: Disk) -> None:
        self._path = path
        self._disk = disk
        self._read_at: object = None
        self._key = b""
        self._authors: dict[tuple[str, str], str] = {}

    def author(self, name: str, stamp: str) -> str:
        """Who wrote the bytes with this stamp under this name."""
        try:
            self._catch_up()
        except OSError:  # no control folder, no log, or none we would follow: nobody vouches for anything
            self._read_at, self._authors = None, {}
        return self._authors.get((log.id_of(name, self._key), stamp), HAND) if self._authors else HAND

    def _catch_up(self) -> None:
        disk = self._disk
        held = [disk.open_root(self._path)]
        try:
            held.append(disk.open_dir(CONTROL, held[0]))
            state = signature_of(disk.stat(log.LOG, held[1]))
            if state != self._read_at:
                self._key = self._bytes(log.KEY, held[1])
                self._authors = _authors(self._bytes(log.LOG, held[1]))
                self._read_at = state
        finally:
            for fd in held:
                disk.close(fd)

    def _bytes(self, name: str, control: int) -> bytes:
        fd = self._disk.open_read(name, control)
        try:
            return read_whole(self._disk, fd, _LOG_BYTES)
        finally:
            self._disk.close(fd)


def _authors(raw: bytes) -> dict[tuple[str, str], str]:
    out: dict[tuple[str, str], str] = {}
    for entry, sound in log.read_entries(raw):
        if entry.hash:
            # Past a break in the chain anybody may have written the line: it can raise nothing.
            out[(entry.id, entry.hash)] = entry.call.origin if sound or entry.call.origin != "person" else HAND
    return out
