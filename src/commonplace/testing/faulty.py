"""FaultyDisk: a disk that dies or fails at the call you name, and remembers every call. To try a file store with.

    FaultyDisk(Fault(at=7))                                          # kill -9 at its seventh call
    FaultyDisk(Fault(at=1, of=("sync",), act=failing(errno.EIO)))    # the first fsync fails, once
    FaultyDisk(Fault(at=1, act=failing(errno.ENOSPC), lasting=True)) # nothing works from the first call on
    FaultyDisk()                                                     # nothing happens; `calls` tells what was done

Pass it in: `open_memory(path, disk=FaultyDisk(...))`. To try every point, count `at` up from 1 until a run ends with
`struck == 0`. A disk that dies takes its process along, so start one for it.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import Any, NamedTuple

from commonplace.store.disk import READS, WRITES, Disk

# The others, `close` and `unlock`, are passed on as they are: they never fail (see Disk), and a kill there is a kill at
# the call after them.
CALLS = tuple(name for name in WRITES + READS if name not in ("close", "unlock"))


def die() -> None:
    """End this process as `kill -9` does: nothing is cleaned up, flushed or said."""
    os.kill(os.getpid(), signal.SIGKILL)


def failing(number: int) -> Callable[[], None]:
    """What makes a call fail with this errno."""

    def fail() -> None:
        raise OSError(number, os.strerror(number))

    return fail


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What happens, and at which call."""

    at: int
    """The n-th call, counted from 1."""
    of: tuple[str, ...] = CALLS
    """The methods of Disk whose calls are counted."""
    act: Callable[[], object] = die
    """What happens there. What it raises, the call raises."""
    after: bool = False
    """Only once the call itself is done, and has taken effect or failed on its own."""
    lasting: bool = False
    """At every counted call from then on, not just at one."""
    half: bool = False
    """A `write` first gets half of its bytes out."""


class Done(NamedTuple):
    """One call: its name, what it was given, and what it answered or raised."""

    call: str
    given: tuple[Any, ...]
    answer: Any


class FaultyDisk(Disk):
    """A Disk whose calls are counted, recorded, and struck by a fault. Safe from any thread."""

    def __init__(self, fault: Fault | None = None) -> None:
        self.fault = fault
        """Set it to None and the disk is sound again."""
        self.calls: list[Done] = []
        """Every call of CALLS so far, in order."""
        self.struck = 0
        """How often the fault struck."""
        self._counted = 0
        self._turn = Lock()
        for name in CALLS:
            setattr(self, name, partial(self._call, name, getattr(self, name)))

    def _call(self, name: str, real: Callable[..., Any], *given: Any) -> Any:
        try:
            answer = self._answer(name, real, given, self._due(name))
        except BaseException as problem:
            self.calls.append(Done(name, given, problem))
            raise
        self.calls.append(Done(name, given, answer))
        return answer

    def _due(self, name: str) -> Fault | None:
        """The fault, if this call is one it strikes."""
        with self._turn:
            fault = self.fault
            if fault is None or name not in fault.of:
                return None
            self._counted += 1
            if self._counted < fault.at or (self._counted > fault.at and not fault.lasting):
                return None
            self.struck += 1
            return fault

    def _answer(self, name: str, real: Callable[..., Any], given: tuple[Any, ...], fault: Fault | None) -> Any:
        if fault is None:
            return real(*given)
        if fault.after:
            try:
                return real(*given)
            finally:
                fault.act()
        if fault.half and name == "write":
            fd, data = given
            real(fd, data[: len(data) // 2])
        fault.act()
        return real(*given)
