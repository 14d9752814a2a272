"""A writer's turn: the lock, the control folder laid out, and the open directories a change needs.

What a turn opens is held until it ends, so no path is looked up twice. It knows no notes.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

from commonplace.errors import NewerFormat
from commonplace.store import log
from commonplace.store.disk import Disk
from commonplace.store.locking import WAIT_SECONDS, lock
from commonplace.store.paths import CONTROL, HISTORY, TMP
from commonplace.store.raw import read_whole

FORMAT = 1
FORMAT_FILE = "format"
# The format and key files are a few bytes; more is not ours, and not read.
_SMALL = 256


class Turn(NamedTuple):
    """Descriptors of a notebook's folders and its log, while this writer holds the lock."""

    disk: Disk
    path: str
    root: int
    control: int
    tmp: int
    history: int
    log: int
    key: bytes


@contextmanager
def take_turn(disk: Disk, path: str, *, visit: bool = False) -> Iterator[Turn]:
    """Wait for the lock and open what a writer needs, laying it out where this is the first write.

    A visit makes nothing and waits for nobody.

    Raises:
        Busy: another process kept the lock.
        FileNotFoundError: on a visit, to a notebook nobody has written in.
        NewerFormat: a later Commonplace made the notebook.

    """
    held: list[int] = []

    def hold(fd: int) -> int:
        held.append(fd)
        return fd

    try:
        root = hold(disk.open_root(path) if visit else _open_root(disk, path))
        control = hold(disk.open_dir(CONTROL, root) if visit else open_or_make(disk, CONTROL, root))
        if visit:
            read_small(disk, FORMAT_FILE, control)
        hold(lock(disk, control, path, wait=0.0 if visit else WAIT_SECONDS))
        if not _laid_out(disk, control, path):
            _lay_out(disk, root, control)
        tmp = hold(disk.open_dir(TMP, control))
        for name in disk.names(tmp):  # whoever staged these is dead: we hold the lock
            disk.unlink(name, tmp)
        history = hold(disk.open_dir(HISTORY, control))
        key = read_small(disk, log.KEY, control)
        yield Turn(disk, path, root, control, tmp, history, hold(disk.open_append(log.LOG, control)), key)
    finally:
        for fd in reversed(held):
            disk.close(fd)


def stage(disk: Disk, tmp: int, data: bytes, mode: int = 0o600, *, sync: bool = True) -> str:
    """Write bytes where no reader looks, and answer their name there. A failed sync is never tried again."""
    name = f"{os.getpid()}-{time.monotonic_ns()}"
    fd = disk.open_new(name, tmp)
    try:
        sent = 0
        while sent < len(data):
            sent += disk.write(fd, data[sent:])
        if stat.S_IMODE(disk.stat_fd(fd).st_mode) != mode:  # the umask took something, or the old file had more
            disk.chmod(fd, mode)
        if sync:
            disk.sync(fd)
    except BaseException:
        with suppress(OSError):
            disk.unlink(name, tmp)
        raise
    finally:
        disk.close(fd)
    return name


def open_or_make(disk: Disk, name: str, at: int) -> int:
    """A folder's descriptor; a folder that was missing is made, and stays made."""
    try:
        return disk.open_dir(name, at)
    except FileNotFoundError:
        _make(disk, name, at)
        return disk.open_dir(name, at)


def read_small(disk: Disk, name: str, at: int) -> bytes:
    """The bytes of a small file of ours."""
    fd = disk.open_read(name, at)
    try:
        return read_whole(disk, fd, _SMALL)
    finally:
        disk.close(fd)


def _make(disk: Disk, name: str, at: int) -> None:
    with suppress(FileExistsError):
        disk.make_dir(name, at)
    disk.sync_dir(at)


def _open_root(disk: Disk, path: str) -> int:
    try:
        return disk.open_root(path)
    except FileNotFoundError:
        parent = _open_root(disk, os.path.dirname(path))
        try:
            with suppress(FileExistsError):
                disk.make_root(path)
            disk.sync_dir(parent)
        finally:
            disk.close(parent)
        return disk.open_root(path)


def _laid_out(disk: Disk, control: int, path: str) -> bool:
    try:
        text = read_small(disk, FORMAT_FILE, control).decode("ascii", "replace").strip()
    except FileNotFoundError:
        return False
    if text.isdigit() and int(text) > FORMAT:
        raise NewerFormat(
            f"{path} has format {text}, made by a later Commonplace; this one writes format {FORMAT}. "
            "It can be read; to write in it, upgrade: pip install -U commonplace"
        )
    return True


def _lay_out(disk: Disk, root: int, control: int) -> None:
    """Make what a control folder holds. The format file comes last: where it stands, all the rest is on the disk."""
    _make(disk, HISTORY, control)
    tmp = open_or_make(disk, TMP, control)
    try:
        disk.close(disk.open_append(log.LOG, control))
        try:
            disk.stat(log.KEY, control)
        except FileNotFoundError:
            disk.rename(stage(disk, tmp, os.urandom(log.KEY_BYTES)), tmp, log.KEY, control)
        disk.sync_dir(control)
        disk.sync_dir(root)
        disk.rename(stage(disk, tmp, f"{FORMAT}\n".encode()), tmp, FORMAT_FILE, control)
        disk.sync_dir(control)
    finally:
        disk.close(tmp)
