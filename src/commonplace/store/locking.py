"""The writers' lock: flock on a file that is never removed. It dies with its process, so nothing is ever stale."""

from __future__ import annotations

import time

from commonplace.errors import Busy
from commonplace.store.disk import Disk

LOCK = "lock"
# Other writers hold the lock for a few milliseconds; this long means a stuck process, and a person should know.
WAIT_SECONDS = 10.0
_FIRST_SLEEP = 0.0005
_LONGEST_SLEEP = 0.005


def lock(disk: Disk, control: int, where: str, *, wait: float = WAIT_SECONDS) -> int:
    """Wait for the lock and answer its descriptor; closing it gives the lock up.

    Raises:
        Busy: another process held it for longer than we wait.

    """
    deadline = time.monotonic() + wait
    while True:
        fd = disk.open_append(LOCK, control)
        try:
            _wait(disk, fd, deadline, where)
            if _still_named(disk, fd, control):
                return fd
        except BaseException:
            disk.close(fd)
            raise
        disk.close(fd)  # somebody replaced the file while we waited: its lock guards nothing
        if time.monotonic() >= deadline:
            raise Busy(
                f"{where}/.commonplace/{LOCK} is replaced again and again; nothing was changed. Find out by what"
            )


def _wait(disk: Disk, fd: int, deadline: float, where: str) -> None:
    sleep = _FIRST_SLEEP
    while True:
        try:
            disk.lock(fd)
            return
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise Busy(
                    f"{where} is locked by another process for over {WAIT_SECONDS:.0f} s; "
                    f"`fuser {where}/.commonplace/{LOCK}` names it. Nothing was changed"
                ) from None
        # A little unevenness keeps waiting writers from knocking in step.
        time.sleep(sleep * (0.5 + (time.monotonic_ns() & 1023) / 1024))
        sleep = min(sleep * 1.5, _LONGEST_SLEEP)


def _still_named(disk: Disk, fd: int, control: int) -> bool:
    try:
        named = disk.stat(LOCK, control)
    except FileNotFoundError:
        return False
    held = disk.stat_fd(fd)
    return (named.st_ino, named.st_dev) == (held.st_ino, held.st_dev)
