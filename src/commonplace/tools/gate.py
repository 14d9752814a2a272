"""The gate: may this call of a tool go ahead. Asked when a tool runs, never when tools are listed.

The list of tools is part of what a prompt cache is keyed by, so all roles see the same one, byte for byte, and only
the gate tells them apart. A call that may speak for a text from outside is told apart from one that does not: it
touches no note of an author who ranks above it. A verdict is a value. It runs nothing and reads no notebook.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from commonplace.prompt.preamble import FULL, Profile
from commonplace.store.base import trust_of
from commonplace.tools.table import DELETE, READ, TABLE, WRITE, offered


class ToolCall(NamedTuple):
    """A call as a gate sees it."""

    name: str  # as the model named it
    verb: str = ""  # which row of the table that is; '' for what is no memory tool
    arguments: object = None  # as the model sent them, not yet looked at
    voice: str = ""  # whose word it is, where it may be that of a text from outside; '' where it is the caller's own
    author: str = ""  # whose word the note is that it would delete or replace then; '' where there is none


@dataclass(frozen=True, slots=True)
class Allow:
    """The call may go ahead."""


@dataclass(frozen=True, slots=True)
class Deny:
    """The call may not go ahead, and why. It counts as false, so that nobody lets one through by mistake."""

    reason: str

    def __bool__(self) -> bool:
        return False


Gate = Callable[[ToolCall], Allow | Deny]

# What each role may do to a notebook. The extractor works unattended on text from anywhere: it adds and corrects, and
# whatever it replaces is kept, but it takes nothing away.
ROLES = {
    "person": frozenset((READ, WRITE, DELETE)),
    "agent": frozenset((READ, WRITE, DELETE)),
    "extractor": frozenset((READ, WRITE)),
    "read-only": frozenset((READ,)),
}
_EFFECTS = {row.verb: row.effect for row in TABLE}
# What takes the place of each effect where a person does it.
_BY_HAND = {WRITE: "`commonplace edit`", DELETE: "`commonplace forget`"}


def gate(role: str) -> Gate:
    """The gate for a role. What is no memory tool is denied to all of them, and everything to a role there is not."""

    def ask(call: ToolCall) -> Allow | Deny:
        if role not in ROLES:
            return Deny(f"there is no role {role[:40]!r}; there are {', '.join(ROLES)}")
        effect = _EFFECTS.get(call.verb)
        if effect is None:
            return Deny("it is no memory tool")
        if effect not in ROLES[role]:
            return Deny(f"the {role} role may not {effect}")
        return Deny(_above(effect, call.author)) if trust_of(call.author) > trust_of(call.voice) else Allow()

    return ask


def _above(effect: str, author: str) -> str:
    """Why a call that may speak for a text from outside may not touch a note, and who may."""
    what = "delete" if effect == DELETE else "replace"
    return (
        f"what this session has read from outside may be speaking, so it may not {what} a note by {author}; "
        f"tell the person, who can, with {_BY_HAND[effect]}"
    )


def tool_call(name: object, arguments: object = None, profile: Profile = FULL) -> ToolCall:
    """A call as a gate takes it. Only a tool's exact name is its name: no alias, no other case, no space around it."""
    if not isinstance(name, str):
        return ToolCall("", "", arguments)
    row = offered(profile).get(name)
    return ToolCall(name, row.verb if row else "", arguments)
