"""A writer's turn: the lock, the control folder laid out, and the open directories a change needs.

What a turn opens is held until it ends, so no path is looked up twice. It knows no notes.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from commonplace.errors import NewerFormat, Obstructed
from commonplace.named import NamedTuple
from commonplace.store import log
from commonplace.store.disk import Disk
from commonplace.store.locking import WAIT_SECONDS, lock
from commonplace.store.paths import CONTROL, FORMAT_FILE, HISTORY, KEY, LOG, TMP
from commonplace.store.raw import read_whole

FORMAT = 1
# The format and key files are a few bytes; more is not ours, and not read.
_SMALL = 256


class Turn(NamedTuple):
    """Descriptors of a notebook's folders, while this writer holds the lock."""

    disk: Disk
    path: str
    root: int
    control: int
    tmp: int
    history: int
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
    guard: int | None = None

    def hold(fd: int) -> int:
        held.append(fd)
        return fd

    try:
        root = hold(disk.open_root(path) if visit else _open_root(disk, path))
        control = hold(disk.open_dir(CONTROL, root) if visit else open_or_make(disk, CONTROL, root))
        if visit:
            read_small(disk, FORMAT_FILE, control)
        _laid_out(disk, control, path)  # of a later format, not even the lock is ours to make
        guard = hold(lock(disk, control, path, wait=0.0 if visit else WAIT_SECONDS))
        if not _laid_out(disk, control, path):
            _sync_above(disk, root, path)
            _lay_out(disk, root, control)
        tmp, history = (hold(_folder(disk, name, control, visit=visit)) for name in (TMP, HISTORY))
        _clear(disk, tmp)
        key = read_small(disk, KEY, control) if visit else _key(disk, tmp, control)
        yield Turn(disk, path, root, control, tmp, history, key)
    finally:
        try:
            if guard is not None:
                disk.unlock(guard)
        finally:  # also where Ctrl-C came just now: the lock goes with its descriptor
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
        fd = disk.open_dir(name, at)
    except FileNotFoundError:
        _make(disk, name, at)
        return disk.open_dir(name, at)
    try:
        if disk.is_empty(fd):  # a writer that died may have made it and not waited for the disk
            disk.sync_dir(at)
    except BaseException:
        disk.close(fd)
        raise
    return fd


def read_small(disk: Disk, name: str, at: int) -> bytes:
    """The bytes of a small file of ours."""
    fd = disk.open_read(name, at)
    try:
        if not stat.S_ISREG(disk.stat_fd(fd).st_mode):
            raise Obstructed(f"{CONTROL}/{name} is not a plain file; nothing was changed. Move it away")
        return read_whole(disk, fd, _SMALL)
    finally:
        disk.close(fd)


def _folder(disk: Disk, name: str, control: int, *, visit: bool) -> int:
    """A folder of the control folder. Copies may come without those that were empty: they are made again."""
    try:
        return disk.open_dir(name, control)
    except FileNotFoundError:
        if visit:
            raise
        return open_or_make(disk, name, control)


def _clear(disk: Disk, tmp: int) -> None:
    """Take away what dead writers staged: we hold the lock. A folder there is somebody else's, and stays."""
    for name in disk.names(tmp):
        try:
            disk.unlink(name, tmp)
        except OSError:
            if not stat.S_ISDIR(disk.stat(name, tmp).st_mode):
                raise


def _key(disk: Disk, tmp: int, control: int) -> bytes:
    """The log's key; a new one where it is missing, for which what the log said so far vouches for nobody."""
    try:
        return read_small(disk, KEY, control)
    except FileNotFoundError:
        disk.rename(stage(disk, tmp, os.urandom(log.KEY_BYTES)), tmp, KEY, control)
        disk.sync_dir(control)
        return read_small(disk, KEY, control)


def _make(disk: Disk, name: str, at: int) -> None:
    with suppress(FileExistsError):
        disk.make_dir(name, at)
    disk.sync_dir(at)


def _open_root(disk: Disk, path: str) -> int:
    missing: list[str] = []
    while True:
        try:
            fd = disk.open_root(path)
            break
        except FileNotFoundError:
            missing.append(path)
            path = os.path.dirname(path)
    for folder in reversed(missing):
        parent = fd
        try:
            with suppress(FileExistsError):
                disk.make_root(folder)
            disk.sync_dir(parent)
        finally:
            disk.close(parent)
        fd = disk.open_root(folder)
    return fd


def _sync_above(disk: Disk, root: int, path: str) -> None:
    """Make the disk keep the folders the notebook lies in, whichever writer made them: all that may be ours."""
    ours = disk.stat_fd(root)
    while path != (path := os.path.dirname(path)):
        try:
            fd = disk.open_root(path)
        except PermissionError:
            return
        try:
            found = disk.stat_fd(fd)
            if (found.st_uid, found.st_dev) != (ours.st_uid, ours.st_dev):
                return
            disk.sync_dir(fd)
        finally:
            disk.close(fd)


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
        disk.close(disk.open_append(LOG, control))
        _key(disk, tmp, control)
        disk.sync_dir(control)
        disk.sync_dir(root)
        disk.rename(stage(disk, tmp, f"{FORMAT}\n".encode()), tmp, FORMAT_FILE, control)
        disk.sync_dir(control)
    finally:
        disk.close(tmp)
