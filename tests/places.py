"""What lies in a directory as values to compare, calls held to their bounds, and clocks that tick as slowly as old ones."""

import os
import resource
import stat
import sys
import time
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace

from commonplace.store.disk import Disk

ROOT = Path(__file__).parents[1]
MB = 1 << 20
# What every call keeps to, whatever it is given.
SECONDS = 1.0
EXTRA = 200 * MB
# Of a file larger than this only the size is compared: reading twenty gigabytes of zeros proves nothing more.
_READ = 16 * MB


def snapshot(place, *, times=False):
    """Every entry under a place: its kind and mode, its bytes or target, and its times if asked."""
    out = {}
    stack = [os.fspath(place)]
    while stack:
        here = stack.pop()
        found = os.lstat(here)
        out[os.path.relpath(here, place)] = (
            stat.S_IFMT(found.st_mode), stat.S_IMODE(found.st_mode), _content(here, found),
            found.st_mtime_ns if times else 0,
        )  # fmt: skip
        if stat.S_ISDIR(found.st_mode):
            stack += [os.path.join(here, name) for name in os.listdir(here)]
    return out


def _content(path, found):
    if stat.S_ISLNK(found.st_mode):
        return os.readlink(path)
    if not stat.S_ISREG(found.st_mode):
        return ""
    if found.st_size > _READ:
        return found.st_size
    with open(path, "rb") as file:
        return sha256(file.read()).hexdigest()


@contextmanager
def bounded(*, seconds=SECONDS, extra=EXTRA):
    """The calls inside take no more time and memory than any call may: an allocation past that fails.

    On a machine that is busy with other things the clock runs on while we wait for our turn, so four times as long is
    let pass where the time we worked is within bounds.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    if used := _address_space():
        resource.setrlimit(resource.RLIMIT_AS, (used + extra, hard))
    began, worked = time.perf_counter(), time.process_time()
    try:
        yield
    finally:
        took, worked = time.perf_counter() - began, time.process_time() - worked
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
    assert worked < seconds, f"worked for {worked:.2f} s"
    assert took < 4 * seconds, f"took {took:.2f} s"


def _address_space():
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[0]) * resource.getpagesize()
    except FileNotFoundError:  # no such file system here: only the clock is held to
        return 0


def without_powers(*command):
    """The command for a process that modes hold for: root without the right to pass them by; anybody else as they are."""
    if os.geteuid():
        return list(command)
    drop = (
        "import ctypes, os, sys\n"
        "for power in (1, 2, 3):  # reading, searching and owning what the modes forbid\n"
        "    ctypes.CDLL(None).prctl(24, power, 0, 0, 0)\n"
        "os.execv(sys.argv[1], sys.argv[1:])\n"
    )
    return [sys.executable, "-c", drop, *command]


class TickingDisk(Disk):
    """A disk whose file times move in ticks, as those of older kernels do: what changes twice in one looks the same."""

    def __init__(self, tick_ns=4_000_000):
        self._tick = tick_ns

    def stat(self, name, at):
        return self._ticked(super().stat(name, at))

    def stat_fd(self, fd):
        return self._ticked(super().stat_fd(fd))

    def _ticked(self, found):
        out = SimpleNamespace(**{field: getattr(found, field) for field in dir(found) if field.startswith("st_")})
        out.st_mtime_ns -= out.st_mtime_ns % self._tick
        out.st_ctime_ns -= out.st_ctime_ns % self._tick
        return out


class UnsyncedDisk(Disk):
    """A disk that waits for no medium: for tests of where things land, not of whether they last."""

    def sync(self, fd):
        pass

    sync_data = sync_dir = sync
