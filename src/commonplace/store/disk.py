"""Disk: every system call of the file store, one method each, so that a test can kill, fail or record any of them.

It adds nothing to the calls but the flags that keep them inside one directory. It knows no notes.
"""

from __future__ import annotations

import os
import stat
import sys
from contextlib import suppress
from errno import EBADF, EINVAL, EMLINK, ENOSYS, ENOTSUP, EOPNOTSUPP, EPERM, EXDEV

from commonplace.errors import Unsupported

try:
    import fcntl
except ModuleNotFoundError:  # Windows has none
    raise Unsupported from None

# Never follow a link, never wait for the other end of a FIFO, never leak into a child.
SAFE = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
# What `link` answers where hard links are not to be had.
NO_LINKS = frozenset((EPERM, ENOTSUP, EOPNOTSUPP, EMLINK, ENOSYS, EXDEV))
# File names are UTF-8 whatever the locale says: a notebook is the same for everybody who opens it.
_UTF8 = sys.getfilesystemencoding().lower() == "utf-8"
_FULLSYNC = getattr(fcntl, "F_FULLFSYNC", None)  # macOS: fsync alone stops at the drive's cache


class Disk:
    """The system calls of a store. Names are relative to a directory descriptor; modes are ours under any umask."""

    def open_root(self, path: str) -> int:
        return os.open(path, os.O_RDONLY | os.O_DIRECTORY | SAFE)

    def open_dir(self, name: str, at: int) -> int:
        return os.open(_raw(name), os.O_RDONLY | os.O_DIRECTORY | SAFE, dir_fd=at)

    def open_read(self, name: str, at: int) -> int:
        return os.open(_raw(name), os.O_RDONLY | SAFE, dir_fd=at)

    def open_new(self, name: str, at: int) -> int:
        return os.open(_raw(name), os.O_WRONLY | os.O_CREAT | os.O_EXCL | SAFE, 0o600, dir_fd=at)

    def open_append(self, name: str, at: int) -> int:
        fd = os.open(_raw(name), os.O_RDWR | os.O_CREAT | os.O_APPEND | SAFE, 0o600, dir_fd=at)
        if os.fstat(fd).st_mode & 0o600 != 0o600:  # made just now, and the umask took from it
            os.fchmod(fd, 0o600)
        return fd

    def close(self, fd: int) -> None:
        try:
            os.close(fd)
        except OSError as problem:  # it is closed all the same, and what must be kept was synced before
            if problem.errno == EBADF:
                raise

    def read(self, fd: int, size: int) -> bytes:
        return os.read(fd, size)

    def pread(self, fd: int, size: int, offset: int) -> bytes:
        return os.pread(fd, size, offset)

    def write(self, fd: int, data: bytes) -> int:
        return os.write(fd, data)

    def truncate(self, fd: int, size: int) -> None:
        os.ftruncate(fd, size)

    def chmod(self, fd: int, mode: int) -> None:
        os.fchmod(fd, mode)

    def set_mode(self, name: str, at: int, mode: int) -> None:
        _set_mode(_raw(name), at, mode)

    def sync(self, fd: int) -> None:
        if _FULLSYNC is not None:
            fcntl.fcntl(fd, _FULLSYNC)
        else:
            os.fsync(fd)

    def sync_data(self, fd: int) -> None:
        if _FULLSYNC is not None:
            fcntl.fcntl(fd, _FULLSYNC)
        else:
            os.fdatasync(fd)

    def sync_dir(self, fd: int) -> None:
        try:
            os.fsync(fd)
        except OSError as problem:  # file systems that cannot sync a directory order renames themselves
            if problem.errno not in (EINVAL, ENOTSUP, EOPNOTSUPP):
                raise

    def rename(self, old: str, old_at: int, new: str, new_at: int) -> None:
        os.rename(_raw(old), _raw(new), src_dir_fd=old_at, dst_dir_fd=new_at)

    def link(self, old: str, old_at: int, new: str, new_at: int) -> None:
        os.link(_raw(old), _raw(new), src_dir_fd=old_at, dst_dir_fd=new_at, follow_symlinks=False)

    def unlink(self, name: str, at: int) -> None:
        os.unlink(_raw(name), dir_fd=at)

    def make_dir(self, name: str, at: int) -> None:
        os.mkdir(_raw(name), 0o700, dir_fd=at)
        _unmask(_raw(name), at)

    def make_root(self, path: str) -> None:
        os.mkdir(path, 0o700)
        _unmask(path, None)

    def stat(self, name: str, at: int) -> os.stat_result:
        return os.stat(name if _UTF8 else _raw(name), dir_fd=at, follow_symlinks=False)

    def stat_fd(self, fd: int) -> os.stat_result:
        return os.fstat(fd)

    def names(self, fd: int) -> list[str]:
        names = os.listdir(fd)
        return names if _UTF8 else [os.fsencode(name).decode("utf-8", "surrogateescape") for name in names]

    def is_empty(self, fd: int) -> bool:
        """Whether a folder has no entry; of a folder with many only the first are read."""
        with os.scandir(fd) as entries:
            return next(entries, None) is None

    def lock(self, fd: int) -> None:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def unlock(self, fd: int) -> None:
        """Give a lock up for good: closing alone leaves it with a child that was forked meanwhile. It never fails."""
        with suppress(OSError):
            fcntl.flock(fd, fcntl.LOCK_UN)


def _raw(name: str) -> str | bytes:
    """A name as the disk has it."""
    return name if _UTF8 else name.encode("utf-8", "surrogateescape")


def _unmask(name: str | bytes, at: int | None) -> None:
    """Give a new folder the mode it was made with, where a umask took from it; never through a link put in its place."""
    made = os.stat(name, dir_fd=at, follow_symlinks=False).st_mode
    if stat.S_ISDIR(made) and stat.S_IMODE(made) != 0o700:
        _set_mode(name, at, 0o700, os.O_DIRECTORY)


def _set_mode(name: str | bytes, at: int | None, mode: int, flags: int = 0) -> None:
    """Give an entry a mode, whatever its present one allows; of a link, the link's own or none."""
    if os.chmod in os.supports_follow_symlinks:
        os.chmod(name, mode, dir_fd=at, follow_symlinks=False)
        return
    fd = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC | flags, dir_fd=at)
    try:
        os.chmod(f"/proc/self/fd/{fd}", mode)
    finally:
        os.close(fd)


# The calls that change something: where a kill or a failure could leave a trace.
WRITES = (
    "open_new", "open_append", "write", "truncate", "chmod", "sync", "sync_data", "sync_dir",
    "rename", "link", "unlink", "make_dir", "make_root", "set_mode",
)  # fmt: skip
READS = (
    "open_root", "open_dir", "open_read", "close", "read", "pread", "stat", "stat_fd", "names", "is_empty", "lock",
)  # fmt: skip
