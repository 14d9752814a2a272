"""Git, run so that nothing in a repository acts, that it ends in time, and that it says no more than can be held.

A repository may be hostile: no hook, monitor, filter, driver, pager, signature check or transport of its settings is
run, nothing is fetched, and only the environment made here is passed on. What is asked, and what the answers mean, is
for `repository`.
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import IO, NamedTuple

# Whatever a repository's settings say of these, it is not so: each could run a program, fetch, or change an answer.
_SETTINGS = (
    "core.fsmonitor=false", "core.hooksPath=/dev/null", "core.attributesFile=/dev/null", "core.excludesFile=/dev/null", "core.pager=cat",
    "core.askPass=true", "core.sshCommand=false", "core.quotePath=false", "core.untrackedCache=false",
    "core.alternateRefsCommand=true", "credential.helper=", "protocol.allow=never", "safe.bareRepository=explicit",
    "gc.auto=0", "maintenance.auto=false", "color.ui=false", "submodule.recurse=false",
    "diff.orderFile=/dev/null", "diff.renameLimit=400", "diff.ignoreSubmodules=all", "log.showSignature=false",
    "log.mailmap=false", "log.diffMerges=separate", "log.follow=false", "log.showRoot=true", "grep.threads=1",
    "grep.fallbackToNoIndex=false", "grep.column=false", "grep.lineNumber=false", "grep.fullName=true",
)  # fmt: skip
_ALWAYS = (
    "--no-pager", "--no-optional-locks", "--no-replace-objects", *(word for one in _SETTINGS for word in ("-c", one)),
)  # fmt: skip
# What git says when it found nothing is no failure.
_FINE = (0, 1)
_CHUNK = 64 * 1024
# More at once would wait for each other, and take a machine from whoever works on it.
_AT_ONCE = 8


class Run(NamedTuple):
    """One run of git: its words, what it reads, and how much it may say."""

    words: tuple[str, ...]
    given: bytes = b""
    most: int = 4 << 20
    literal: bool = True
    """Paths are taken as they are; else they are patterns."""


class Git(NamedTuple):
    """Git in a workspace."""

    program: str
    workspace: str

    def together(self, runs: Sequence[Run], deadline: float) -> list[bytes | None]:
        """Run some at once. What each said; None where it failed, said too much, or was not done by the deadline."""
        said: list[bytes | None] = []
        for first in range(0, len(runs), _AT_ONCE):
            some = runs[first : first + _AT_ONCE]
            late = time.monotonic() > deadline
            started = [None if late else self._start(run) for run in some]
            try:
                said += _heard(started, some, deadline)
            finally:
                for process in started:
                    if process is not None:
                        _end(process)
        return said

    def _start(self, run: Run) -> subprocess.Popen[bytes] | None:
        pathspecs = ("--literal-pathspecs",) if run.literal else ()
        words = [self.program, "-C", self.workspace, *_ALWAYS, *pathspecs, *run.words]
        try:
            return subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0,
                env=self._surroundings(), start_new_session=True,
            )  # fmt: skip
        except OSError:
            return None

    def _surroundings(self) -> dict[str, str]:
        """All that git is told from outside. The home is a person's: their settings say whose repositories are safe."""
        home, place = os.path.expanduser("~"), os.path.realpath(self.workspace)
        return {
            "PATH": f"{os.path.dirname(self.program)}:{os.defpath}", "LC_ALL": "C", "TZ": "UTC0",
            "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1",
            "GIT_ATTR_NOSYSTEM": "1", "GIT_WORK_TREE": place, "GIT_CEILING_DIRECTORIES": os.path.dirname(place),
            **({"HOME": home} if os.path.isabs(home) else {}),
        }  # fmt: skip


def find_git(workspace: str) -> str | None:
    """Where git is: the first on the path that is no part of the workspace, and no matter of where we stand."""
    inside = os.path.join(os.path.realpath(workspace), "")
    for folder in os.get_exec_path():
        program = os.path.join(folder, "git")
        if os.path.isabs(folder) and os.path.isfile(program) and os.access(program, os.X_OK):
            if not os.path.realpath(program).startswith(inside):
                return program
    return None


def _heard(
    started: Sequence[subprocess.Popen[bytes] | None], runs: Sequence[Run], deadline: float
) -> list[bytes | None]:
    said = [bytearray() for _ in runs]
    done = [False] * len(runs)
    with selectors.DefaultSelector() as watch:
        for number, process in enumerate(started):
            if process is not None and process.stdin and process.stdout:
                os.set_blocking(process.stdin.fileno(), False)
                watch.register(process.stdout, selectors.EVENT_READ, (process.stdout, number))
                watch.register(process.stdin, selectors.EVENT_WRITE, (process.stdin, number))
        given = [memoryview(run.given) for run in runs]
        while watch.get_map() and (left := deadline - time.monotonic()) > 0:
            for key, event in watch.select(left):
                stream, number = key.data
                if event & selectors.EVENT_WRITE:
                    over = _write(stream, given, number)
                else:
                    over, done[number] = _read(stream, said[number], runs[number].most)
                if over:
                    watch.unregister(stream)
                    stream.close()
    return [bytes(said[at]) if done[at] and _ended(started[at], deadline) else None for at in range(len(runs))]


def _write(stream: IO[bytes], given: list[memoryview], number: int) -> bool:
    """Hand on some of what a run reads; whether that was all."""
    left = given[number]
    try:
        given[number] = left[os.write(stream.fileno(), left[:_CHUNK]) :] if left else left
    except BlockingIOError:
        return False
    except OSError:  # it wants no more
        return True
    return not given[number]


def _read(stream: IO[bytes], said: bytearray, most: int) -> tuple[bool, bool]:
    """Take some of what a run says: whether that is the end, and whether it is all it had to say."""
    chunk = os.read(stream.fileno(), _CHUNK)
    said += chunk
    return not chunk or len(said) > most, not chunk


def _ended(process: subprocess.Popen[bytes] | None, deadline: float) -> bool:
    if process is None:
        return False
    with suppress(subprocess.TimeoutExpired):
        return process.wait(max(deadline - time.monotonic(), 0.001)) in _FINE
    return False


def _end(process: subprocess.Popen[bytes]) -> None:
    """Whatever still runs is killed, with all it has started."""
    if process.poll() is None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with suppress(OSError):
                stream.close()
