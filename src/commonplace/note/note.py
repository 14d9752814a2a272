"""Note: one durable fact, and the limits it keeps. It knows nothing of files, headers or clocks."""

from __future__ import annotations

from dataclasses import dataclass

from commonplace.note.kind import KINDS, Kind, kind_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import date


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """One durable fact, written for a reader who was not there."""

    name: str
    """The file stem: identity and dedup key. The same name is the same fact."""
    title: str = ""
    description: str = ""
    """One line; the only part every session pays for."""
    kind: Kind = Kind.PROJECT
    word: str = ""
    """The file's own word for its kind, where it is not ours: `decision`, `Preference`."""
    body: str
    tags: tuple[str, ...] = ()
    created: date | None = None
    updated: date | None = None
    expires: date | None = None
    pinned: bool = False
    applies_to: tuple[str, ...] = ()
    """Path globs, command patterns and tool names: where the fact matters."""
    supersedes: tuple[str, ...] = ()
    """Names of the notes this one corrects."""
    origin: str = ""
    """Who said it, as the file shows it. For display only: trust comes from the log."""
    session: str = ""
    folder: str = ""
    """`sessions`, or a folder named after a kind; '' is the notebook itself."""
    stamp: str = ""
    """Hash of the bytes it was read from; '' for a note that was never stored. What `expect=` takes."""
    source: bytes | None = None
    """Those bytes. Rendering edits them, so whatever a person added survives. Not part of equality."""
    odd: tuple[str, ...] = ()
    """What was odd in them, in words. Not part of equality."""

    def __post_init__(self) -> None:
        if "\r" in self.body:
            object.__setattr__(self, "body", unix(self.body))
        if not self.title:
            object.__setattr__(self, "title", spaced(self.name))
        if self.word and (kind_of(self.word) is not self.kind or self.word == self.kind):
            object.__setattr__(self, "word", "")
        if "" in self.tags or "" in self.applies_to or "" in self.supersedes:  # which no header could say
            for field in ("tags", "applies_to", "supersedes"):
                object.__setattr__(self, field, tuple(filter(None, getattr(self, field))))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Note) and self.facts() == other.facts()

    def __hash__(self) -> int:
        return hash(self.facts())

    def facts(self) -> tuple[object, ...]:
        """Everything the note says, without where and in which bytes it was found."""
        return tuple(getattr(self, field) for field in FACTS)


FACTS = (
    "name", "title", "description", "kind", "word", "body", "tags", "created", "updated",
    "expires", "pinned", "applies_to", "supersedes", "origin", "session",
)  # fmt: skip


def home_of(note: Note) -> str:
    """The folder a note that is not there yet goes to: where its bytes lay, or where its kind has its place."""
    if note.source is not None:
        return note.folder
    return KINDS[note.kind].folder if note.kind in KINDS else ""


def unix(text: str) -> str:
    """Text whose lines end as ours do, whatever system it was written on."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def spaced(stem: str) -> str:
    """A stem as a title: `user_prefs` reads `user prefs`."""
    return stem.replace("-", " ").replace("_", " ").strip() or stem
