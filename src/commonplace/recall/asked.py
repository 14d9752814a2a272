"""What a caller asks for besides words, and how old a note is in words. Pure: today is passed in."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from typing import NamedTuple

from commonplace.note.kind import Kind, kind_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from commonplace.note.note import Note

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
