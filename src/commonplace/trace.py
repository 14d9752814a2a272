"""Traces: what a session was given of its memory, and how much of it. Names and sizes, never text.

They are kept beside what is derived, may be thrown away, and decide nothing. It knows a folder, not a notebook.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from commonplace.errors import BadName
from commonplace.index.sidecar import make_folder
from commonplace.named import NamedTuple
from commonplace.note.slug import slugify

# A trace is read to be looked at; past this only its end is.
_READ_BYTES = 1 << 20


class Given(NamedTuple):
    """One thing a session was given."""

    at: str
    what: str  # pinned, pushed, recalled
    names: tuple[str, ...]
    bytes: int


class Trace:
    """The traces in a folder, one file a session."""

    def __init__(self, folder: str, now: Callable[[], float] = time.time) -> None:
        self._folder = folder
        self._now = now

    def add(self, session: str, what: str, names: Sequence[str], size: int) -> None:
        """Remember what a session was given. Where that cannot be kept, it is not: a trace hinders nothing."""
        import json

        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self._now()))
        line = json.dumps({"at": at, "what": what, "names": list(names), "bytes": size}) + "\n"
        try:
            make_folder(self._folder)
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
            fd = os.open(self._file(session), flags, 0o600)
        except (OSError, BadName):
            return
        with suppress(OSError):
            os.write(fd, line.encode())  # one call: what it appends is whole, whoever else is writing
        os.close(fd)

    def read(self, session: str) -> list[Given]:
        """What a session was given, in order; nothing for one that left no trace."""
        import json

        try:
            with open(self._file(session), "rb") as file:
                file.seek(max(os.fstat(file.fileno()).st_size - _READ_BYTES, 0))
                lines = file.read().split(b"\n")
        except (OSError, BadName):
            return []
        given = []
        for line in lines:
            try:
                said = json.loads(line)
                given.append(
                    Given(str(said["at"]), str(said["what"]), tuple(map(str, said["names"])), int(said["bytes"]))
                )
            except (ValueError, KeyError, TypeError):
                continue
        return given

    def sessions(self) -> list[str]:
        """The sessions that left a trace, the latest first."""
        try:
            with os.scandir(self._folder) as entries:
                files = [entry for entry in entries if entry.name.endswith(".jsonl")]
            files.sort(key=lambda entry: entry.stat(follow_symlinks=False).st_mtime, reverse=True)
        except OSError:
            return []
        return [entry.name.removesuffix(".jsonl") for entry in files]

    def _file(self, session: str) -> str:
        return os.path.join(self._folder, slugify(session) + ".jsonl")
