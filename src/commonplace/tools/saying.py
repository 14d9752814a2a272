"""How answers put notes into words: names, facts and texts, so that nothing in a note can pose as what is around it.

A name stands in backticks, a description at the end of a line, a text behind the mark of a quotation. It reads no
notebook.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from commonplace.errors import BadName
from commonplace.guard.text import inert, one_line
from commonplace.memory import Memory
from commonplace.note.limits import DESCRIPTION_CHARS, TAGS, clamp
from commonplace.note.note import Note
from commonplace.note.slug import slugify
from commonplace.outcomes import Answer, Room
from commonplace.prompt.preamble import Profile
from commonplace.store.base import Call

# From here on a save tells how full the index is: there is still time to correct and merge.
_TIGHT = 0.8
# Less room than this for a text shows too little of it to be of use.
_SCRAP = 200
# Longest piece of a model's own words, or of a message, that is said.
_ECHO = 80
_MESSAGE = 500
_PATH = re.compile(r"(?<![\w.~/])/[^\s'\"`,;:()]+")


class Desk(NamedTuple):
    """What every tool works with: the memory, the names the tools go by, and who is calling."""

    memory: Memory
    profile: Profile
    call: Call
    expect: str | None = None  # the stamp of the note the gate was asked about; '' for none, None where it was not

    def tool(self, verb: str) -> str:
        """A tool's name, for a sentence; '' where it is not offered."""
        name: str = getattr(self.profile, verb)
        return f"`{name}`" if name else ""


def failed(text: str) -> Answer:
    """The answer of a call that did not do what was asked."""
    return Answer(text, failed=True)


def named(name: str) -> str:
    """A note's name as a model may give it back: its own, or where that could pose as more, its slug."""
    shown = inert(name)
    if shown != name or "`" in name:
        try:
            shown = slugify(name)
        except BadName:
            shown = shown.replace("`", "'") or "?"  # a name of nothing that can be seen
    return f"`{shown}`"


def echoed(text: str) -> str:
    """A model's own words, said back to it."""
    return repr(inert(clamp(one_line(text[: 4 * _ECHO]), _ECHO)))


def entry(note: Note, *facts: str) -> str:
    """A note in a line: its name, facts, and description."""
    told = [str(note.kind), *facts]
    told += ["pinned"] if note.pinned else []
    told += [f"expires {note.expires}"] if note.expires else []
    return f"{named(note.name)} ({', '.join(map(plain, told))}){_described(note.description)}"


def dated(note: Note) -> str:
    """When a note was last written."""
    day = note.updated or note.created
    return f"updated {day}" if day else "undated"


def plain(fact: str) -> str:
    """A short text as it may stand between brackets."""
    return inert(clamp(one_line(fact[: 4 * _ECHO]), _ECHO)).replace("(", "[").replace(")", "]")


def plain_items(items: tuple[str, ...]) -> str:
    """A note's tags, or what else it lists."""
    return ", ".join(map(plain, items[:TAGS]))


def _described(description: str) -> str:
    line = inert(clamp(one_line(description), DESCRIPTION_CHARS))
    return f" - {line}" if line else ""


def within(text: str, room: int) -> tuple[str, int]:
    """As much of a text as there is room for, in bytes, and how much that leaves out."""
    raw = text.encode()
    if len(raw) <= room:
        return text, 0
    if room < _SCRAP:
        return "", len(raw)
    kept = raw[:room].decode(errors="ignore")
    end = max(kept.rfind("\n"), kept.rfind(" "))
    kept = (kept[:end] if end > room // 2 else kept).rstrip()
    return kept, len(raw) - len(kept.encode())


def fullness(room: Room) -> str:
    """A line on how full the index is, where that is worth knowing; else ''."""
    share = max(room.lines / max(room.lines_most, 1), room.bytes / max(room.bytes_most, 1))
    if share <= _TIGHT and not room.left_out:
        return ""
    left = (
        f", and {room.left_out} of its notes {'is' if room.left_out == 1 else 'are'} not shown" if room.left_out else ""
    )
    return f"The index is {share:.0%} full{left}: correct and merge notes rather than adding more."


def message(text: str, memory: Memory) -> str:
    """What went wrong, as a model may read it: one line, and no path."""
    if len(memory.where) > 1 and memory.where.startswith("/"):
        text = text.replace(memory.where, "the notebook")
    return inert(clamp(one_line(_PATH.sub("...", text)), _MESSAGE)).rstrip(".")
