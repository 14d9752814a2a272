"""The one table of the memory tools: what each does, what it takes, and the words that tell a model when to use it.

Names come from the profile, as in the preamble, and kinds from the table of kinds. It knows no API's shape, runs
nothing and reads no notebook.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple

from commonplace.guard.admission import NAME_CHARS
from commonplace.note.kind import KINDS, Kind
from commonplace.note.limits import BODY_BYTES, DESCRIPTION_CHARS, FILE_BYTES, TAGS
from commonplace.prompt.preamble import NO_TOOLS, Profile, paragraphs

_TEXTS = os.path.join(os.path.dirname(__file__), "texts")
# What a call can do to a notebook. A gate is told by these, so that a seventh tool falls where it belongs.
READ, WRITE, DELETE = "read", "write", "delete"
# More hits than this are not read; fewer bytes of text than they would have are shown anyway.
MOST_HITS = 20
HITS = 5
# As many characters of a query as recall reads.
_QUERY_CHARS = 4000
# Every note, beside the kinds.
ALL = "all"


class Parameter(NamedTuple):
    """One thing a tool takes."""

    name: str
    type: str  # as JSON Schema calls it: string, integer, boolean, array (of strings)
    about: str
    required: bool = False
    choices: tuple[str, ...] = ()
    least: int = 0  # of an integer
    most: int = NAME_CHARS  # of an integer; of a string, its characters; of an array, its entries


class Row(NamedTuple):
    """One tool."""

    verb: str  # its field in a profile, which gives it its name
    title: str
    effect: str
    parameters: tuple[Parameter, ...]

    def asks(self, name: str) -> Parameter | None:
        """The parameter of this name."""
        return next((one for one in self.parameters if one.name == name), None)


# The kinds a model may save: a session's summary is written for it.
SAVED_KINDS = tuple(str(kind) for kind in KINDS if kind is not Kind.SESSION)
_FOUND_KINDS = tuple(map(str, KINDS))
_NAME = Parameter("name", "string", "The note's name", required=True)

TABLE = (
    Row("search", "Search memory", READ, (
        Parameter("query", "string", "Names, terms or a question", required=True, most=_QUERY_CHARS),
        Parameter("kind", "string", "Only this kind", choices=_FOUND_KINDS),
        Parameter("limit", "integer", f"Most hits, up to {MOST_HITS}; else {HITS}", least=1, most=MOST_HITS),
    )),
    Row("read", "Read a note", READ, (_NAME,)),
    Row("write", "Save a note", WRITE, (
        Parameter("text", "string", f"The fact, in Markdown, at most {BODY_BYTES:,} bytes", required=True, most=FILE_BYTES),
        Parameter("name", "string", "A few words; else made from the text"),
        Parameter("description", "string", f"One line, at most {DESCRIPTION_CHARS} characters; else the first sentence", most=FILE_BYTES),
        Parameter("kind", "string", "Else project, or as it was", choices=SAVED_KINDS),
        Parameter("tags", "array", "Words to find it by", most=TAGS),
        Parameter("replace", "boolean", "Overwrite another fact of this name"),
    )),
    Row("update", "Update a note", WRITE, (
        _NAME,
        Parameter("old", "string", "Text in it, exactly", required=True, most=FILE_BYTES),
        Parameter("new", "string", "Text to put there", required=True, most=FILE_BYTES),
    )),
    Row("delete", "Delete a note", DELETE, (_NAME,)),
    Row("view", "View the index", READ, (
        Parameter("kind", "string", "List this kind", choices=(*_FOUND_KINDS, ALL)),
        Parameter("offset", "integer", "How many to pass over", most=1_000_000),
    )),
)  # fmt: skip


def offered(profile: Profile) -> dict[str, Row]:
    """The tools of a profile, by name."""
    names: Mapping[str, str] = profile._asdict()
    return {names[row.verb]: row for row in TABLE if names[row.verb]}


def description(row: Row, profile: Profile) -> str:
    """What a model is told of a tool. It names no tool the profile does not have."""
    return "\n".join(paragraphs(f"{row.verb}.md", profile, folder=_TEXTS, clue=clue(), worth=_worth()))


def clue() -> str:
    """How far a note may be relied on, in a line: for wherever notes are shown."""
    return " ".join(paragraphs("clue.md", NO_TOOLS, folder=_TEXTS))


def _worth() -> str:
    rows = ((kind, KINDS[Kind(kind)]) for kind in SAVED_KINDS)
    return "\n".join(f"- {kind}: {row.save}" for kind, row in rows)
