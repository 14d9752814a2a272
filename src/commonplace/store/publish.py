"""Putting the index beside the notes. It is derived: unsynced, replaceable, and a failure to write it is a warning."""

from __future__ import annotations

import os
import stat
from contextlib import suppress

from commonplace.store.disk import NO_LINKS
from commonplace.store.paths import INDEX
from commonplace.store.turn import Turn, open_or_make, stage

# How the first line of every index we write begins: it tells ours from one a person or another tool keeps.
INDEX_MARK = "<!-- Made by Commonplace"
# Where the history keeps an index that was not ours. No note can have this name.
SHELF = "MEMORY"
_NOTE_OF_THAT_NAME = "memory.md"  # on a disk blind to case, the same file


def publish(turn: Turn, text: str) -> str:
    """Replace `MEMORY.md`. Answers why that could not be done, or ''."""
    try:
        return _publish(turn, text)
    except OSError as problem:
        return f"{INDEX} was not written ({problem.strerror}); the notes are safe, and the next change writes it"


def _publish(turn: Turn, text: str) -> str:
    disk, mode, data = turn.disk, 0o600, text.encode()
    with suppress(FileNotFoundError):
        there = disk.stat(INDEX, turn.root)
        if not stat.S_ISREG(there.st_mode):
            return f"{INDEX} is not a plain file, so no index was written beside the notes; move it away"
        if there.st_ino == _inode(turn, _NOTE_OF_THAT_NAME):
            return f"{_NOTE_OF_THAT_NAME} is {INDEX} on this disk, so no index was written; rename that note"
        mode = stat.S_IMODE(there.st_mode)
        stands = _bytes(turn, len(data) if there.st_size == len(data) else len(INDEX_MARK))
        if stands == data:
            return ""  # as after most corrections: what was put right is not in a note's line
        if not _ours(stands):
            _keep(turn, there)
    staged = stage(disk, turn.tmp, data, mode, sync=False)
    disk.rename(staged, turn.tmp, INDEX, turn.root)
    return ""


def _inode(turn: Turn, file: str) -> int:
    try:
        return turn.disk.stat(file, turn.root).st_ino
    except FileNotFoundError:
        return -1


def _bytes(turn: Turn, most: int) -> bytes:
    """The first bytes of the index that stands there."""
    fd = turn.disk.open_read(INDEX, turn.root)
    try:
        return turn.disk.read(fd, most)
    finally:
        turn.disk.close(fd)


def _ours(stands: bytes) -> bool:
    """Whether this is an index we wrote, or what a power cut leaves of one: no bytes, or NULs."""
    return INDEX_MARK.encode().startswith(stands[: len(INDEX_MARK)].rstrip(b"\0"))


def _keep(turn: Turn, there: os.stat_result) -> None:
    """Somebody else's index goes into the history, and is safe there, before ours takes its place."""
    kept = f"{there.st_mtime_ns}-{there.st_ino}.md"
    shelf = open_or_make(turn.disk, SHELF, turn.history)
    try:
        try:
            turn.disk.link(INDEX, turn.root, kept, shelf)
        except FileExistsError:
            pass  # kept by a writer that was killed before it wrote ours
        except OSError as problem:
            if problem.errno not in NO_LINKS:
                raise
            turn.disk.rename(INDEX, turn.root, kept, shelf)
        turn.disk.sync_dir(shelf)
    finally:
        turn.disk.close(shelf)
