"""NamedTuple and Protocol, written as everywhere, made without loading `typing`.

A quick recall is twenty milliseconds of which `typing` is two, and it compiles the type of every field of every tuple
for two more. Type checkers see the originals; what is made here is what those make. It knows no values.
"""

from __future__ import annotations

from collections import namedtuple

__all__ = ["NamedTuple", "Protocol"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NamedTuple, Protocol
else:

    class _Made(type):
        """Makes of a class body what `collections.namedtuple` makes of a list of names."""

        def __new__(cls, name: str, _bases: tuple[type, ...], body: dict[str, Any]) -> type:
            fields = body.pop("__annotations__")
            defaults = [body.pop(field) for field in fields if field in body]
            made = namedtuple(name, fields, defaults=defaults, module=body.pop("__module__"))  # noqa: PYI024
            for key, value in body.items():
                setattr(made, key, value)
            made.__annotations__ = fields
            return made

    NamedTuple = type.__new__(_Made, "NamedTuple", (), {})

    class Protocol:
        """What a class must offer to be taken for another; at run time, a word in a class statement."""
