"""The table as each API takes it: rows and a profile in, JSON-ready values out. The same rows give the same bytes.

The schemas are ours, not a library's, because the tool list is part of what a prompt cache is keyed by.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from commonplace.prompt.preamble import FULL, Profile
from commonplace.tools.table import DELETE, READ, Parameter, Row, description, offered


def rendered(shape: str, profile: Profile = FULL) -> list[dict[str, Any]]:
    """The tools of a profile, in the table's order, as an API takes them; `shape` is one of SHAPES."""
    return [SHAPES[shape](name, row, description(row, profile)) for name, row in offered(profile).items()]


def schema(row: Row) -> dict[str, Any]:
    """What a tool takes, as JSON Schema."""
    required = [one.name for one in row.parameters if one.required]
    return {
        "type": "object",
        "properties": {one.name: _property(one) for one in row.parameters},
        **({"required": required} if required else {}),
        "additionalProperties": False,
    }


def _property(one: Parameter) -> dict[str, Any]:
    out: dict[str, Any] = {"type": one.type, "description": one.about}
    if one.type == "array":
        out["items"] = {"type": "string"}
    if one.choices:
        out["enum"] = list(one.choices)
    return out


def _anthropic(name: str, row: Row, about: str) -> dict[str, Any]:
    return {"name": name, "description": about, "input_schema": schema(row)}


def _function(name: str, row: Row, about: str) -> dict[str, Any]:
    return {"name": name, "description": about, "parameters": schema(row)}


def _openai(name: str, row: Row, about: str) -> dict[str, Any]:
    return {"type": "function", "function": _function(name, row, about)}


def _responses(name: str, row: Row, about: str) -> dict[str, Any]:
    # Strict is the default there, and would have every parameter sent.
    return {"type": "function", **_function(name, row, about), "strict": False}


def _mcp(name: str, row: Row, about: str) -> dict[str, Any]:
    # What is replaced is kept, so only a delete is marked as destructive: clients stop and ask before those.
    return {
        "name": name,
        "title": row.title,
        "description": about,
        "inputSchema": schema(row),
        "annotations": {"readOnlyHint": row.effect == READ, "destructiveHint": row.effect == DELETE},
    }


SHAPES: dict[str, Callable[[str, Row, str], dict[str, Any]]] = {
    "anthropic": _anthropic,
    "openai": _openai,
    "responses": _responses,
    "mcp": _mcp,
}
