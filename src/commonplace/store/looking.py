"""Looking: how an audit reads what it cannot trust, and what it finds: what is wrong, where, and what to do.

By directory descriptor, never through a link, never more than a cap. What cannot be read is a finding too. It knows
entries and bytes, not what belongs where.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from commonplace.store.disk import Disk
from commonplace.store.paths import CONTROL, copied_from, shown
from commonplace.store.raw import sort_of

# Something of ours is broken, gone or says what is not so; something a person should look at; something to know.
DAMAGE, WARNING, NOTE = SEVERITIES = ("damage", "warning", "note")
# What is larger than any log of ours, four million changes, is not read to its end.
LOG_BYTES = 1 << 29
_PIECE = 1 << 20
# Modes that are told one by one.
_SOME = 3


class Finding(NamedTuple):
    """One thing that was found.

    Its `check` is one of: of what is kept beside the notes, `log key format control history staged modes`; of the
    place, `exposed place`; of the notes, `unread odd description twins links expired unlogged`; of what is derived,
    `catalog index`; and `notebook`, where it cannot be looked at.
    """

    check: str
    where: str
    what: str
    cure: str
    severity: str
    fixable: bool = False  # it can be mended without losing anything
    names: tuple[str, ...] = ()  # the notes it is about, where it is about notes of one sort
    command: str = ""  # the cure as it can be typed, where one line of a shell does it


class Look:
    """An audit under way: what was found so far."""

    def __init__(self, disk: Disk) -> None:
        self.disk = disk
        self.looked_at = 0
        self.failures = 0  # while there are any, that something is missing may be their doing
        self._findings: dict[Finding, None] = {}  # what is looked at twice is told once
        self._modes: dict[str, str] = {}

    def tell(self, check: str, where: str, what: str, cure: str, severity: str, *, fixable: bool = False) -> None:
        self._findings[Finding(check, where, what, cure, severity, fixable)] = None

    def told(self) -> list[Finding]:
        """What was found; of modes that are not as they should be, all together."""
        if self._modes:
            where = next(iter(self._modes)) if len(self._modes) == 1 else CONTROL
            some = "; ".join(list(self._modes.values())[:_SOME]) + ("; ..." if len(self._modes) > _SOME else "")
            cure = "`commonplace doctor --fix` gives them theirs again"
            self.tell("modes", where, f"not private, or not ours to use: {some}", cure, WARNING, fixable=True)
        return list(self._findings)

    def mode(self, where: str, found: os.stat_result, wanted: int) -> None:
        if (mode := stat.S_IMODE(found.st_mode)) != wanted:
            self._modes[where] = f"{where} has mode {mode:04o} in place of {wanted:04o}"

    def entries(self, at: int, where: str) -> list[tuple[str, os.stat_result]]:
        """What lies in an open folder, by name."""
        found: list[tuple[str, os.stat_result]] = []
        try:
            for name in sorted(self.disk.names(at)):
                try:
                    found.append((name, self.disk.stat(name, at)))
                except FileNotFoundError:  # gone since
                    continue
        except OSError as problem:
            self.failed(where, problem)
        self.looked_at += sum(not stat.S_ISDIR(seen.st_mode) for _, seen in found)
        return found

    @contextmanager
    def folder(self, name: str, at: int, where: str) -> Iterator[int | None]:
        """A folder, open; None where it is none, or none we may look into."""
        try:
            fd = self.disk.open_dir(name, at)
        except FileNotFoundError:
            yield None
            return
        except OSError as problem:
            self.failed(where, problem)
            yield None
            return
        try:
            yield fd
        finally:
            self.disk.close(fd)

    def pieces(self, name: str, at: int, where: str, cap: int = LOG_BYTES) -> Iterator[bytes]:
        """A file's bytes, piece by piece, up to the cap."""
        try:
            fd = self.disk.open_read(name, at)
        except FileNotFoundError:
            return
        except OSError as problem:
            self.failed(where, problem)
            return
        try:
            while cap > 0 and (piece := self.disk.read(fd, min(cap, _PIECE))):
                cap -= len(piece)
                yield piece
        except OSError as problem:
            self.failed(where, problem)
        finally:
            self.disk.close(fd)

    @contextmanager
    def unlocked(self, name: str, at: int) -> Iterator[bool]:
        """The writers' lock held for a moment, if nobody has it; whether nobody has."""
        try:
            fd = self.disk.open_read(name, at)
        except OSError:  # no writer can hold what is not there; one that we may not open, none can tell
            yield True
            return
        try:
            yield self._locked(fd)
        finally:
            self.disk.unlock(fd)
            self.disk.close(fd)

    def _locked(self, fd: int) -> bool:
        try:
            self.disk.lock(fd)
        except OSError:  # a writer has it; or no lock can be had here, and one may be at work
            return False
        return True

    def failed(self, where: str, problem: OSError) -> None:
        """Tell of what cannot be read; where its mode says why, that is told already."""
        self.failures += 1
        if isinstance(problem, PermissionError) and any(f"{where}/".startswith(f"{odd}/") for odd in self._modes):
            return
        what = f"cannot be read: {problem.strerror}"
        self.tell("unread", where, what, "check its owner, and the disk; bring it back from a backup", DAMAGE)

    def stranger(self, where: str, name: str, found: os.stat_result) -> None:
        """Tell of what is not ours, where only ours should be."""
        if not stat.S_ISREG(found.st_mode) and not stat.S_ISDIR(found.st_mode):
            what = f"is {sort_of(found.st_mode)}, and nothing of ours is one; it is not followed"
            self.tell("control", where, what, "remove it, and find out who put it there", WARNING)
        elif of := copied_from(name):
            what = f"a sync tool's conflict copy of {shown(of)}: two machines wrote here at once"
            self.tell("control", where, what, "keep it until both are compared; take the notebook out of sync", WARNING)
        elif not name.startswith("."):
            self.tell("control", where, "nothing of ours; not read", "move it away if nobody needs it", NOTE)
