"""FrozenClock: time that stands still until a test moves it. What `open_memory(now=...)` takes.

    clock = FrozenClock(date(2026, 5, 15))
    memory = open_memory(path, now=clock)
    clock.advance(days=40)

It knows seconds and this machine's calendar, and nothing of memories.
"""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from threading import Lock

# The hour a bare date stands for: no shift of summer time, and no test of a few hours, leaves the day.
_NOON = time(12)


class FrozenClock:
    """Called, it answers the same seconds since 1970 until it is advanced. Safe from any thread."""

    def __init__(self, start: date | float) -> None:
        """`start` is seconds, a datetime, or a date, which is its noon where the tests run."""
        if isinstance(start, date) and not isinstance(start, datetime):
            start = datetime.combine(start, _NOON)
        self._now = start.timestamp() if isinstance(start, datetime) else float(start)
        self._turn = Lock()

    def __call__(self) -> float:
        return self._now

    def advance(self, *, days: int = 0, hours: float = 0, seconds: float = 0) -> None:
        """Move on; less than nothing moves back. Days are the calendar's: the time of day stays, whatever it is called."""
        with self._turn:
            if days:
                self._now = (datetime.fromtimestamp(self._now) + timedelta(days=days)).timestamp()
            self._now += hours * 3600 + seconds

    @property
    def today(self) -> date:
        """The day it is on this machine, as a Memory on this clock sees it."""
        return date.fromtimestamp(self._now)
