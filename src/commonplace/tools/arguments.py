"""What a model sent, held against the row of its tool: the arguments by name, or what is wrong and what to send.

It accepts an object or its JSON text, guesses nothing, and runs nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from commonplace.guard.text import inert
from commonplace.note.kind import Kind, kind_of
from commonplace.note.limits import FILE_BYTES
from commonplace.tools.table import Parameter, Row

# Longer JSON is not parsed: no call of ours needs a quarter of it.
_JSON_CHARS = 4 * FILE_BYTES
# As much of a model's own words as is said back to it.
_ECHO = 40


class Wrong(NamedTuple):
    """What is wrong with the arguments, in a sentence without its full stop."""

    why: str


def checked(row: Row, sent: object) -> dict[str, Any] | Wrong:
    """The arguments by name, each of its type and within its bounds; without those that were not given."""
    given = _parsed(sent)
    if isinstance(given, Wrong):
        return given
    unknown = [key for key in given if not isinstance(key, str) or row.asks(key) is None]
    if unknown:
        return Wrong(f"it takes no {', '.join(_echo(key) for key in unknown[:3])}")
    out: dict[str, Any] = {}
    for one in row.parameters:
        value = given.get(one.name)
        if value is None or (value == "" and not one.required):  # as models say that they leave it out
            if one.required:
                return Wrong(f"{one.name} is missing")
            continue
        out[one.name] = value = _CHECKS[one.type](one, value)
        if isinstance(value, Wrong):
            return value
    return out


def usage(row: Row) -> str:
    """What a tool takes, in a line."""
    return ", ".join(
        f"{one.name} ({_kind_of_value(one)}{', required' if one.required else ''})" for one in row.parameters
    )


def _parsed(sent: object) -> Mapping[Any, Any] | Wrong:
    if isinstance(sent, str):
        if len(sent) > _JSON_CHARS:
            return Wrong(f"the arguments are over {_JSON_CHARS:,} characters")
        try:
            sent = json.loads(sent) if sent.strip() else None
        except (ValueError, RecursionError):
            return Wrong("the arguments are not JSON")
    if sent is None:
        return {}
    return sent if isinstance(sent, Mapping) else Wrong(f"the arguments are {_called(sent)}, not an object")


def _string(one: Parameter, value: object) -> str | Wrong:
    if not isinstance(value, str):
        return Wrong(f"{one.name} is {_called(value)}, not a string")
    if len(value) > one.most:
        return Wrong(f"{one.name} has {len(value):,} characters, over {one.most:,}")
    try:
        value.encode()
    except UnicodeEncodeError:
        return Wrong(f"{one.name} holds half a character; send whole ones")
    return _chosen(one, value) if one.choices else value


def _chosen(one: Parameter, value: str) -> str | Wrong:
    """The choice a word names; other systems' words for a kind name ours."""
    word = value.strip().casefold()
    kind = kind_of(word)
    for choice in (word, "" if kind is Kind.OTHER else str(kind)):
        if choice in one.choices:
            return choice
    return Wrong(f"{one.name} is {_echo(value)}, not one of {', '.join(one.choices)}")


def _integer(one: Parameter, value: object) -> int | Wrong:
    whole = int(value) if isinstance(value, float) and value.is_integer() else value  # in JSON, 5.0 is 5
    if not isinstance(whole, int) or isinstance(whole, bool):
        return Wrong(f"{one.name} is {_called(value)}, not an integer")
    if not one.least <= whole <= one.most:
        return Wrong(f"{one.name} must be from {one.least} to {one.most:,}")
    return whole


def _boolean(one: Parameter, value: object) -> bool | Wrong:
    return value if isinstance(value, bool) else Wrong(f"{one.name} is {_called(value)}, not true or false")


def _array(one: Parameter, value: object) -> tuple[str, ...] | Wrong:
    if not isinstance(value, list | tuple):
        return Wrong(f"{one.name} is {_called(value)}, not an array of strings")
    if len(value) > one.most:
        return Wrong(f"{one.name} has {len(value):,} entries, over {one.most}")
    for item in value:
        checked_item = _string(Parameter(f"an entry of {one.name}", "string", ""), item)
        if isinstance(checked_item, Wrong):
            return checked_item
    return tuple(value)


_CHECKS = {"string": _string, "integer": _integer, "boolean": _boolean, "array": _array}
_TYPES = (
    (bool, "true or false"), (str, "a string"), (int | float, "a number"), (list | tuple, "an array"),
    (Mapping, "an object"),
)  # fmt: skip


def _called(value: object) -> str:
    """What JSON calls a value of this type."""
    return next((word for type_, word in _TYPES if isinstance(value, type_)), "of no type that JSON has")


def _kind_of_value(one: Parameter) -> str:
    if one.choices:
        return f"one of {', '.join(one.choices)}"
    if one.type == "integer":
        return f"integer from {one.least} to {one.most:,}"
    return "array of strings" if one.type == "array" else one.type


def _echo(value: object) -> str:
    return repr(inert(value[:_ECHO])) if isinstance(value, str) else _called(value)
