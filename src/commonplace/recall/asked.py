"""What a caller asks for besides words; days and times as people say them, and how old a note is. Pure: now is passed in."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta

from commonplace.named import NamedTuple
from commonplace.note.kind import Kind, kind_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from commonplace.note.note import Note

# How a person may say a day or a time, for messages.
DAYS = "2026-05-15, today, yesterday, '3 days ago' or 3d"
DAYS_AHEAD = "2026-05-15, tomorrow, 'in 3 days', 3d or never"
TIMES = "2026-05-15, 08:00, '2026-05-15 08:00', today, yesterday, '2 hours ago' or 2h"
_NAMED = {"today": 0, "yesterday": -1, "tomorrow": 1}
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
# Read when somebody says a day or a time: most processes never do.
_COUNTED = r"(in\s+)?(\d{1,6})\s*(s|sec|seconds?|m|min|minutes?|h|hours?|d|days?|w|weeks?)(\s+ago)?"
_CLOCK = r"(\d{1,2}):(\d{2})(?::(\d{2}))?"
_SPANS = ((365, "year"), (30, "month"), (7, "week"), (1, "day"))


class Asked(NamedTuple):
    """Which notes somebody asked for: of any of these kinds, with all of these tags, no older than a day."""

    kinds: frozenset[Kind | str]  # a word that is no kind of ours asks for the files that use it
    tags: frozenset[str]
    since: date | None

    @classmethod
    def of(cls, kinds: Sequence[str], tags: Sequence[str], since: date | None) -> Asked:
        asked = frozenset(map(_kind, (kinds,) if isinstance(kinds, str) else kinds))
        words = (tags,) if isinstance(tags, str) else tags
        day = since.date() if isinstance(since, datetime) else since
        return cls(asked, frozenset(tag.casefold() for tag in words), day)

    @property
    def narrow(self) -> bool:
        """Whether it asks for anything in particular."""
        return bool(self.kinds or self.tags or self.since)

    def takes(self, note: Note) -> bool:
        day = note.updated or note.created
        return (
            (not self.kinds or note.kind in self.kinds or (note.word.casefold() or note.kind) in self.kinds)
            and self.tags <= {tag.casefold() for tag in note.tags}
            and (self.since is None or (day is not None and day >= self.since))
        )


def _kind(word: str) -> Kind | str:
    kind = kind_of(word)
    return word.strip().casefold() if kind is Kind.OTHER else kind


def age(day: date | None, today: date) -> str:
    """How old a note is, in words."""
    if day is None:
        return "undated"
    days = (today - day).days
    for size, word in _SPANS:
        if days >= size:
            count = days // size
            return f"{count} {word}{'s' if count > 1 else ''} old"
    return "today"


def moment_of(words: str, now: datetime, *, days: bool = False, ahead: bool = False) -> datetime | None:
    """A moment as people say it, by the clock on the wall; the beginning of a day they name. None for no moment.

    `days`: only what names a day. `ahead`: `3d` is in three days, as where something is to end; else three days ago.
    """
    from re import fullmatch

    text, day = words.strip(), now.replace(hour=0, minute=0, second=0, microsecond=0)
    try:
        if text.casefold() in _NAMED:
            return day + timedelta(days=_NAMED[text.casefold()])
        if found := fullmatch(_COUNTED, text.casefold()):
            unit = _UNITS[found[3][0]]
            if (found[1] and found[4]) or (days and unit not in ("days", "weeks")):
                return None
            span = timedelta(**{unit: int(found[2])}) * (1 if found[1] or (ahead and not found[4]) else -1)
            # An hour is an hour, also where the clock is put back; a day ends at the same time on the wall.
            return (day if days else now if unit in ("days", "weeks") else now.astimezone()) + span
        if found := fullmatch(_CLOCK, text):
            hour, minute, second = (int(part or 0) for part in found.groups())
            return None if days else day.replace(hour=hour, minute=minute, second=second)
        return datetime.combine(date.fromisoformat(text), day.time()) if days else datetime.fromisoformat(text)
    except (ValueError, OverflowError):  # no moment, or one before or after all that a clock can tell
        return None
