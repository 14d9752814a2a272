"""Who wrote which bytes, as the log tells it. What the log does not know was changed by hand.

A line that was edited, or put in, vouches for nothing above what anybody's edit of the note itself would have.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from commonplace.digest import digest
from commonplace.named import NamedTuple
from commonplace.store.base import HAND, Signature, trust_of
from commonplace.store.disk import Disk
from commonplace.store.paths import CONTROL, FORMAT_FILE, KEY, LOG
from commonplace.store.raw import LINKED, signature_of

# This much of a log's end holds the last two hundred thousand changes; what was written before counts as by hand.
_LOG_BYTES = 1 << 26
# Enough of a log to tell it from any other.
FIRST_BYTES = 256
# What opening the log answers where there is none, or none we would follow: nobody vouches for anything then.
_NOT_THERE = frozenset((errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ESPIPE, *LINKED))
_DENIED = frozenset((errno.EACCES, errno.EPERM))


class _Known(NamedTuple):
    """One state of the log, whole: threads may ask while another reads the next."""

    state: tuple[Signature, Signature]  # of the log, and of its key
    key: bytes
    raw: bytes
    places: dict[bytes, int]


class Provenance:
    """The log's answers, found once for each state of the log and its key."""

    def __init__(self, path: str, disk: Disk) -> None:
        self._path = path
        self._disk = disk
        self._known: _Known | None = None
        self._closed = False  # to us, as of the last mark: somebody else's notebook may be read all the same

    def author(self, name: str, stamp: str) -> str:
        """Who wrote the bytes with this stamp under this name."""
        from commonplace.store import log

        if self._closed:
            return HAND
        try:
            known = self._catch_up()
        except OSError as problem:
            if problem.errno not in _NOT_THERE:
                raise  # who wrote it cannot be told now; a guess would be kept
            return HAND
        place = known.places.get(log.about(log.id_of(name, known.key), stamp))
        found = None if place is None else log.entry_at(known.raw, place, known.key)
        if found is None:
            return HAND
        entry, sound = found
        return entry.call.origin if sound or trust_of(entry.call.origin) <= trust_of(HAND) else HAND

    def mark(self) -> str:
        """Which log this is: its key, and how it begins. Lines that are added leave it as it is; '' where there is none."""
        try:
            with open_control(self._disk, self._path) as control:
                first = self._bytes(LOG, control, FIRST_BYTES).partition(b"\n")[0]
                mark = digest(self._bytes(KEY, control, FIRST_BYTES) + first).hex()
        except OSError as problem:
            self._closed = problem.errno in _DENIED
            if not self._closed and problem.errno not in _NOT_THERE:
                raise
            return ""
        self._closed = False
        return mark

    def lost(self) -> str:
        """What tells who wrote the notes and is gone, of a notebook that was begun with it: a file's name, or ''."""
        with suppress(OSError), open_control(self._disk, self._path) as control:
            there = self._disk.names(control)
            if FORMAT_FILE in there:
                return next((name for name in (LOG, KEY) if name not in there), "")
        return ""

    def _catch_up(self) -> _Known:
        from commonplace.store import log

        known = self._known
        with open_control(self._disk, self._path) as control:
            log_found, key_found = (self._disk.stat(name, control) for name in (LOG, KEY))
            state = (signature_of(log_found), signature_of(key_found))
            if known is None or known.state != state:
                raw = self._bytes(LOG, control, -_LOG_BYTES)
                known = self._known = _Known(state, self._bytes(KEY, control, FIRST_BYTES), raw, log.places(raw))
            return known

    def _bytes(self, name: str, control: int, most: int) -> bytes:
        """So many of a file's first bytes; of its last, where `most` is negative."""
        fd = self._disk.open_read(name, control)
        try:
            size = self._disk.stat_fd(fd).st_size
            return self._disk.pread(fd, min(size, abs(most)), max(size + most, 0) if most < 0 else 0)
        finally:
            self._disk.close(fd)


@contextmanager
def open_control(disk: Disk, path: str) -> Iterator[int]:
    """A descriptor of a notebook's control folder, for reading."""
    held = [disk.open_root(path)]
    try:
        held.append(disk.open_dir(CONTROL, held[0]))
        yield held[1]
    finally:
        for fd in held:
            disk.close(fd)
