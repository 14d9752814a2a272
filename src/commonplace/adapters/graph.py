"""An ONNX graph put together by hand: the few protobuf messages it takes, and no library for them.

It knows how such a file is written, not what the graph computes, and it reads none. Arrays are numpy's.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from itertools import count
from typing import Any

# The format of the file and the operators' versions: what onnxruntime reads since 1.14. Its own operators have another name.
_FORMAT, _OPERATORS, _OWN_OPERATORS = 8, 17, 1
OWN = "com.microsoft"
# Element types, and kinds of attributes, by their numbers in onnx.proto.
FLOAT, INT64 = 1, 7
_TYPES = {"float32": FLOAT, "uint8": 2, "int8": 3, "int64": INT64}
_IS_FLOAT, _IS_INT, _IS_INTS = 1, 2, 7
# The kinds of fields protobuf has that we need.
_VARINT, _SIZED, _FOUR_BYTES = 0, 2, 5
_SIXTY_FOUR = (1 << 64) - 1

Value = bytes | str | int | float


class Graph:
    """Nodes and constants in the order they were put in. What each makes has a name that stands for it."""

    def __init__(self) -> None:
        self._nodes: list[bytes] = []
        self._constants: list[bytes] = []
        self._names = (f"v{number}" for number in count())

    def constant(self, array: Any) -> str:
        """An array that is part of the graph."""
        name = next(self._names)
        sizes = [(1, size) for size in array.shape]
        self._constants.append(_message(*sizes, (2, _TYPES[array.dtype.name]), (8, name), (9, array.tobytes())))
        return name

    def node(self, kind: str, *inputs: str, domain: str = "", **attributes: float | Sequence[int]) -> str:
        """What an operator makes of its inputs; '' stands for an input that is left out."""
        (made,) = self.nodes(1, kind, *inputs, domain=domain, **attributes)
        return made

    def nodes(
        self, outputs: int, kind: str, *inputs: str, domain: str = "", **attributes: float | Sequence[int]
    ) -> list[str]:
        """The same for an operator with so many outputs."""
        made = [next(self._names) for _ in range(outputs)]
        self._nodes.append(
            _message(
                *[(1, name) for name in inputs],
                *[(2, name) for name in made],
                (4, kind),
                *[(5, _attribute(name, value)) for name, value in attributes.items()],
                (7, domain),
            )
        )
        return made

    def encoded(self, name: str, given: tuple[str, int, str | int], made: tuple[str, int, str | int]) -> bytes:
        """The file. `given` and `made` are its one input and output: name, element type and length, '' if that varies."""
        graph = _message(
            *[(1, node) for node in self._nodes],
            (2, name),
            *[(5, constant) for constant in self._constants],
            (11, _row(*given)),
            (12, _row(*made)),
        )
        versions = (("", _OPERATORS), (OWN, _OWN_OPERATORS))
        known = [(8, _message((1, domain), (2, version))) for domain, version in versions]
        return _message((1, _FORMAT), (2, "commonplace"), (7, graph), *known)


def _attribute(name: str, value: float | Sequence[int]) -> bytes:
    if isinstance(value, int):
        return _message((1, name), (3, value), (20, _IS_INT))
    if isinstance(value, float):
        return _message((1, name), (2, value), (20, _IS_FLOAT))
    return _message((1, name), *[(8, one) for one in value], (20, _IS_INTS))


def _row(name: str, kind: int, length: str | int) -> bytes:
    """A value with one dimension, of a length that is known or has a name."""
    dimension = _message((1, length) if isinstance(length, int) else (2, length))
    return _message((1, name), (2, _message((1, _message((1, kind), (2, _message((1, dimension))))))))


def _message(*fields: tuple[int, Value]) -> bytes:
    return b"".join(_field(number, value) for number, value in fields)


def _field(number: int, value: Value) -> bytes:
    if isinstance(value, int):
        return _varint(number << 3 | _VARINT) + _varint(value)
    if isinstance(value, float):
        return _varint(number << 3 | _FOUR_BYTES) + struct.pack("<f", value)
    raw = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | _SIZED) + _varint(len(raw)) + raw


def _varint(value: int) -> bytes:
    value &= _SIXTY_FOUR
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
