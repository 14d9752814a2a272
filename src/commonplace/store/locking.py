"""The writers' lock, flock on a file that is never removed, and that of acts. They die with their process: none is stale."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

from commonplace.errors import Busy
from commonplace.store.disk import Disk
from commonplace.store.paths import CONTROL
from commonplace.store.provenance import open_control

LOCK = "lock"
# Other writers hold the lock for a few milliseconds; this long means a stuck process, and a person should know.
WAIT_SECONDS = 10.0
# An act makes many changes, each of which may wait for the disk and for other writers.
_ACT_SECONDS = 60.0
_FIRST_SLEEP = 0.0005
_LONGEST_SLEEP = 0.005


def lock(disk: Disk, control: int, where: str, *, wait: float = WAIT_SECONDS) -> int:
    """Wait for the lock and answer its descriptor; closing it gives the lock up.

    Raises:
        Busy: another process held it for longer than we wait.

    """
    began = time.monotonic()
    while True:
        fd = disk.open_append(LOCK, control)
        try:
            _wait(disk, fd, began, wait, where, f"{CONTROL}/{LOCK}")
            if _still_named(disk, fd, control):
                return fd
        except BaseException:
            disk.close(fd)
            raise
        disk.close(fd)  # somebody replaced the file while we waited: its lock guards nothing
        if time.monotonic() >= began + wait:
            raise Busy(
                f"{where}/.commonplace/{LOCK} is replaced again and again; nothing was changed. Find out by what"
            )


@contextmanager
def acting(disk: Disk, where: str) -> Iterator[None]:
    """One act of several changes at a time; single writes go on meanwhile. It is a lock on the control folder itself.

    Where there is none yet, or a file system locks no folders, acts are not kept apart.

    Raises:
        Busy: another process is at an act for longer than we wait.

    """
    with ExitStack() as held:
        with suppress(OSError):
            control = held.enter_context(open_control(disk, where))
            held.callback(disk.unlock, control)
            _wait(disk, control, time.monotonic(), _ACT_SECONDS, where, CONTROL)
        yield


def _wait(disk: Disk, fd: int, began: float, wait: float, where: str, what: str) -> None:
    sleep = _FIRST_SLEEP
    while True:
        try:
            disk.lock(fd)
            return
        except BlockingIOError:
            if time.monotonic() >= began + wait:
                raise Busy(
                    f"{where} is locked by another process for over {wait:.0f} s; "
                    f"`fuser {where}/{what}` names it. Nothing was changed"
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
