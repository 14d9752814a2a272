"""Watching a notebook's files with `watchfiles`, for a process that lives long and asks often.

While the system reports no change, a call need not look at every file. Entries that come, go or are replaced are seen
at once all the same, by their folder's times; an edit in place is seen as soon as the system tells of it, which is
milliseconds. It knows folders and times, not notes.
"""

from __future__ import annotations

import os
from threading import Event, Thread

from commonplace.errors import MissingExtra

# Changes are told together when none came for so long.
_TOGETHER_MS = 20
# How long the watcher sleeps before it asks whether it should end.
_STEP_MS = 500
# What was told is only relied on from here on: the system needs a moment to begin watching.
_BEGINNING_SECONDS = 5.0


class Watcher:
    """Counts the changes below a folder.

    Raises:
        MissingExtra: `watchfiles` is not installed.

    """

    def __init__(self, path: str) -> None:
        try:
            import watchfiles
        except ImportError:
            raise MissingExtra("watching a notebook", "watch") from None
        self._watch = watchfiles.watch
        self._path = path
        self._changes = 0  # how often the system told of any
        self._watching = Event()
        self._stop = Event()
        self._pid = os.getpid()
        self._thread = Thread(target=self._follow, name="commonplace-watcher", daemon=True)
        self._thread.start()

    def mark(self) -> int | None:
        """A number that is another after every change; None where the system does not tell of changes."""
        told = self._watching.is_set() and self._thread.is_alive() and self._pid == os.getpid()
        return self._changes if told else None

    def close(self) -> None:
        """Stop watching."""
        self._stop.set()
        if self._pid == os.getpid():
            self._thread.join(_BEGINNING_SECONDS)

    def _follow(self) -> None:
        while not self._stop.is_set():
            try:
                changes = self._watch(
                    self._path, watch_filter=None, debounce=_TOGETHER_MS * 2, step=_TOGETHER_MS, stop_event=self._stop,
                    rust_timeout=_STEP_MS, yield_on_timeout=True, raise_interrupt=False,
                )  # fmt: skip
                for some in changes:
                    self._changes += bool(some)
                    self._watching.set()
            except (OSError, RuntimeError):  # the folder is not there yet, or went: look at every file until it is
                self._watching.clear()
                self._changes += 1
                self._stop.wait(_STEP_MS / 1000)
