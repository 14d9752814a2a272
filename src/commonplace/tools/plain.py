"""The tools as plain Python functions, for frameworks that look at a function's signature and docstring.

They are made from the same rows as the schemas, answer text, and take what a model sent as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter as Slot
from inspect import Signature
from typing import Any, Literal

from commonplace.outcomes import Answer
from commonplace.prompt.preamble import Profile
from commonplace.tools.table import Parameter, Row, description, offered

Run = Callable[[str, dict[str, Any]], Answer]
"""Runs a tool by its name with what it was given."""

_TYPES: dict[str, Any] = {"string": str, "integer": int, "boolean": bool, "array": list[str]}


def functions(profile: Profile, run: Run) -> list[Callable[..., str]]:
    """A function for each tool of a profile, in the table's order."""
    return [_function(name, row, description(row, profile), run) for name, row in offered(profile).items()]


def _function(name: str, row: Row, about: str, run: Run) -> Callable[..., str]:
    takes = [one.name for one in row.parameters]

    def tool(*args: Any, **kwargs: Any) -> str:
        if len(args) > len(takes) or set(takes[: len(args)]) & set(kwargs):
            raise TypeError(f"{name}() takes {', '.join(takes)}, each once")
        return run(name, {**dict(zip(takes, args, strict=False)), **kwargs}).text

    slots = [
        Slot(one.name, Slot.POSITIONAL_OR_KEYWORD, default=_default(one), annotation=_type(one))
        for one in row.parameters
    ]
    tool.__signature__ = Signature(slots, return_annotation=str)  # type: ignore[attr-defined]
    tool.__annotations__ = {**{one.name: _type(one) for one in row.parameters}, "return": str}
    tool.__name__ = tool.__qualname__ = name
    tool.__doc__ = about + "\n\nArgs:\n" + "\n".join(f"    {one.name}: {one.about}" for one in row.parameters)
    return tool


def _default(one: Parameter) -> Any:
    return Slot.empty if one.required else None


def _type(one: Parameter) -> Any:
    of = Literal[one.choices] if one.choices else _TYPES[one.type]
    return of if one.required else of | None
