"""The preamble: what goes into the system prompt. The same notes, profile and place give the same bytes.

It has no clock and no counter. The words are in `texts/`, a sentence a line; a sentence that names a tool the
profile does not have is left out, so that a model never reads of a tool it cannot call.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from commonplace.guard.text import inert
from commonplace.index.listing import INDEX_BYTES, INDEX_LINES, Budget, Line, Listing
from commonplace.named import NamedTuple
from commonplace.note.kind import KINDS, Kind

_TEXTS = os.path.join(os.path.dirname(__file__), "texts")
# No note can hold these: what stands in the index has no angle bracket left.
OPENING = "<memory-index>"
CLOSING = "</memory-index>"
# Sessions stand outside the index. Five keep "what were we doing" answered for under a kilobyte or so.
LAST_SESSIONS = 5
# Longer paths are shown by their end. Escaped, a character can take five.
_PATH_CHARS = 300
LAST = "Last sessions, newest first"


class Profile(NamedTuple):
    """The names of the memory tools a model is offered; '' for one it is not."""

    search: str = ""
    read: str = ""
    write: str = ""
    update: str = ""
    delete: str = ""
    view: str = ""


FULL = Profile(
    "memory_search", "memory_read", "memory_write", "memory_update", "memory_delete", "memory_view"
)  # fmt: skip
REMEMBER_RECALL = Profile(search="recall", write="remember")
WRITE_SEARCH = Profile(search="memory_search", write="memory_write")
NO_TOOLS = Profile()
PROFILES = {"full": FULL, "remember-recall": REMEMBER_RECALL, "write-search": WRITE_SEARCH, "none": NO_TOOLS}


class Pinned(NamedTuple):
    """The block for the system prompt, and the names of the notes it shows."""

    text: str
    names: tuple[str, ...]


def preamble(
    listing: Callable[[Budget, str], Listing], sessions: Sequence[Line], *, where: str, profile: Profile
) -> Pinned:
    """The block for the system prompt: how far to trust the notes, their index, and the last sessions.

    `listing` makes the index for a budget and a word on finding the rest; `sessions` are newest first.
    """
    reach = f"find them with `{profile.search}`" if profile.search else "they are files in the notebook"
    frame = _frame(where, profile)
    last = ["", f"## {LAST}", *(line.text for line in sessions)] if sessions else []
    bare = "\n".join((*frame, OPENING, *last, CLOSING, ""))
    index = listing(Budget(INDEX_LINES - bare.count("\n"), INDEX_BYTES - len(bare.encode())), reach)
    if not index.total and not sessions:
        return Pinned(_empty(where, profile), ())
    text = "\n".join((*frame, OPENING, index.text.rstrip("\n"), *last, CLOSING, ""))
    return Pinned(text, (*index.shown, *(line.name for line in sessions)))


def authority() -> str:
    """How far a note may be relied on: what the preamble says, for repeating where notes are recalled."""
    return "\n\n".join(paragraphs("authority.md", NO_TOOLS))


def _frame(where: str, profile: Profile) -> list[str]:
    out = ["# Memory", ""]
    for paragraph in (*paragraphs("authority.md", profile), *paragraphs("use.md", profile)):
        out += [paragraph, ""]
    if profile.write:
        out += ["Worth saving:", *_worth_saving(), "", "Not worth saving:", *lines("not.md"), ""]
    return [*out, f"The notes lie in {_place(where)}. Their index, a line each:", ""]


def _place(where: str) -> str:
    """The notebook's path, or the end of one that would take the room of the notes."""
    return inert(where if len(where) <= _PATH_CHARS else "…" + where[-_PATH_CHARS:])


def _worth_saving() -> list[str]:
    rows = ((kind, row) for kind, row in KINDS.items() if kind is not Kind.SESSION)
    return [f"- {kind}, {row.answers}: when {row.save}" + _shape(row.shape) for kind, row in rows]


def _shape(labels: tuple[str, ...]) -> str:
    return f"; end with {' and '.join(labels)} lines" if labels else ""


def _empty(where: str, profile: Profile) -> str:
    return " ".join(paragraphs("empty.md", profile, where=_place(where))) + "\n"


def paragraphs(text: str, profile: Profile, *, folder: str = _TEXTS, **said: str) -> list[str]:
    """A text's paragraphs, each on one line, of the sentences this profile has the tools for; `said` is put in.

    The items of a list stay on lines of their own.
    """
    out: list[str] = []
    for block in "\n".join(lines(text, folder)).split("\n\n"):
        kept = [line for line in block.split("\n") if _offered(line, profile)]
        if kept:
            glue = "\n" if kept[0].startswith("- ") else " "
            out.append(glue.join(kept).format(**profile._asdict(), **said))
    return out


def lines(text: str, folder: str = _TEXTS) -> list[str]:
    """A text's lines, as they stand in its file."""
    with open(os.path.join(folder, text), encoding="utf-8") as file:
        return file.read().strip("\n").split("\n")


def _offered(line: str, profile: Profile) -> bool:
    return all(name or f"{{{role}}}" not in line for role, name in profile._asdict().items())
