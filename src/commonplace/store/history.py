"""History: what happened in a notebook, as its log tells it, and the bytes of every version that was replaced.

It reads and compares; bringing a version back is done by whoever asks. It takes no lock: a line that tells of a
change still under way is void until the change is on the disk.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from commonplace.errors import BadName
from commonplace.note.format import stamp_of
from commonplace.note.limits import FILE_BYTES
from commonplace.store import log
from commonplace.store.base import Call
from commonplace.store.disk import Disk
from commonplace.store.paths import HISTORY, KEY, LOG, shelf_of
from commonplace.store.provenance import FIRST_BYTES, open_control
from commonplace.store.raw import read_whole
from commonplace.store.trouble import told

# A log is read whole to tell what happened. Past this it is not ours, or not to be held in memory.
_LOG_BYTES = 1 << 29


class Event(NamedTuple):
    """One change that happened."""

    number: int
    at: str  # UTC, to the microsecond
    op: str  # put, delete
    name: str  # '' where nothing on the disk says any more which note it was
    folder: str
    stamp: str  # of the new bytes; '' for a delete
    was: str  # of the old bytes; '' for a create
    call: Call
    sound: bool  # as we wrote it, and behind the line we wrote it behind


class History:
    """The past of the notebook in a directory."""

    def __init__(self, path: str, disk: Disk) -> None:
        self._path = path
        self._disk = disk

    def events(self, now: Mapping[str, str]) -> tuple[Event, ...]:
        """Every change that happened, in order. `now` has the stamp of each note there is."""
        with told(self._path, "reading its log"):
            try:
                with open_control(self._disk, self._path) as control:
                    key = self._bytes(KEY, control, FIRST_BYTES)
                    raw = self._bytes(LOG, control, _LOG_BYTES)
                    shelves = self._names(HISTORY, control)
            except FileNotFoundError:  # nobody has written here yet
                return ()
        names = {log.id_of(name, key): name for name in (*shelves, *now)}
        return tuple(_happened(log.read_entries(raw, key), names, now))

    def version(self, name: str, stamp: str) -> bytes | None:
        """The bytes of a version that was replaced or forgotten; None where they are not kept."""
        with told(self._path, f"reading old versions of {name!r}"):
            try:
                with open_control(self._disk, self._path) as control:
                    return self._version(control, shelf_of(name), stamp)
            except (FileNotFoundError, BadName):
                return None

    def _version(self, control: int, shelf: str, stamp: str) -> bytes | None:
        history = self._disk.open_dir(HISTORY, control)
        try:
            at = self._disk.open_dir(shelf, history)
            try:
                for file in sorted(self._disk.names(at)):
                    if stamp[:8] in file and stamp_of(source := self._bytes(file, at, FILE_BYTES)) == stamp:
                        return source
            finally:
                self._disk.close(at)
        finally:
            self._disk.close(history)
        return None

    def _names(self, folder: str, control: int) -> list[str]:
        at = self._disk.open_dir(folder, control)
        try:
            return self._disk.names(at)
        finally:
            self._disk.close(at)

    def _bytes(self, name: str, at: int, most: int) -> bytes:
        fd = self._disk.open_read(name, at)
        try:
            return read_whole(self._disk, fd, most)
        finally:
            self._disk.close(fd)


def _happened(
    entries: Iterable[tuple[log.Entry, bool]], names: Mapping[str, str], now: Mapping[str, str]
) -> list[Event]:
    """The entries without those that are void: the note was next found as it had been before them.

    A create that is void cannot be told from a note that somebody removed by hand, and counts as having happened.
    """
    next_found = {id_: now.get(name, "") for id_, name in names.items()}
    happened: list[Event] = []
    for entry, sound in reversed(list(entries)):
        if entry.was and entry.was != entry.hash and next_found.get(entry.id) == entry.was:
            continue
        next_found[entry.id] = entry.was
        name = names.get(entry.id, "")
        happened.append(
            Event(entry.number, entry.at, entry.op, name, entry.folder, entry.hash, entry.was, entry.call, sound)
        )
    return happened[::-1]
