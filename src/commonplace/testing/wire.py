"""What the wire protocols share: the events of a stream, reading JSON one cannot trust, and what a prompt costs.

It knows no provider, no socket and no script.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from threading import Lock
from typing import Any, NamedTuple, Protocol, TypeVar

from commonplace.testing.scripted import Message, Reply, Request, ToolCall

# The time every answer carries: the same script gives the same bytes.
CREATED = 1_767_225_600
CREATED_AT = "2026-01-01T00:00:00Z"
# Small enough that a sentence and the arguments of a call come in several events.
_PIECE = 12
_CHARS_PER_TOKEN = 4
_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]+")
_JSON_NAMES = {
    str: "a string", int: "an integer", float: "a number", bool: "a boolean", list: "an array", dict: "an object",
    type(None): "null",
}  # fmt: skip

T = TypeVar("T")


class Wire(Protocol):
    """One API of a provider. It turns JSON into a Request and a Reply into JSON."""

    def read(self, body: dict[str, Any]) -> Request:
        """What is asked. A ValueError says what is wrong with the body."""

    def whole(self, request: Request, reply: Reply) -> dict[str, Any]:
        """The reply in one piece."""

    def events(self, request: Request, reply: Reply) -> Iterator[Event]:
        """The reply as a stream."""

    def trouble(self, message: str, number: int) -> Event:
        """The event that ends a stream the provider cannot finish, after so many others."""


class Event(NamedTuple):
    """One server-sent event. Data that is a text goes out as it is."""

    data: Any
    name: str = ""

    def encoded(self) -> bytes:
        text = self.data if isinstance(self.data, str) else json.dumps(self.data)
        return (f"event: {self.name}\n" if self.name else "").encode() + f"data: {text}\n\n".encode()


def pieces(text: str) -> Iterator[str]:
    """A text as a model says it, a little at a time."""
    return (text[start : start + _PIECE] for start in range(0, len(text), _PIECE))


def arguments(wanted: ToolCall) -> str:
    """The arguments of a call as JSON."""
    return json.dumps(dict(wanted.arguments))


# --- reading -------------------------------------------------------------------------------------------------


def need(body: dict[str, Any], key: str, kind: type[T], where: str = "") -> T:
    """The value of a key that must be there."""
    if key not in body:
        raise ValueError(f"{where}{key}: this field is required")
    return of_kind(body[key], kind, f"{where}{key}")


def of_kind(value: Any, kind: type[T], where: str) -> T:
    if not isinstance(value, kind) or isinstance(value, bool):
        raise ValueError(f"{where}: this should be {_JSON_NAMES[kind]}, not {_JSON_NAMES[type(value)]}")  # noqa: TRY004
    return value


def objects(value: Any, where: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects of an array, each with the place it stands at."""
    for place, one in enumerate(of_kind(value, list, where)):
        yield f"{where}.{place}.", of_kind(one, dict, f"{where}.{place}")


def text_of(value: Any, where: str) -> str:
    """The text of a content: a string, or an array of parts. A part that is no text stands as its type."""
    if value is None or isinstance(value, str):
        return value or ""
    return "\n".join(part_text(part, place) for place, part in objects(value, where))


def part_text(part: dict[str, Any], where: str) -> str:
    kind = need(part, "type", str, where)
    return need(part, "text", str, where) if kind.endswith("text") else f"[{kind}]"


def tool_name(tool: dict[str, Any], where: str, *, most: int) -> str:
    """The name of a tool, of which providers take letters, digits, _ and -."""
    name = need(tool, "name", str, where)
    if not _TOOL_NAME.fullmatch(name) or len(name) > most:
        raise ValueError(f"{where}name: {name!r} should be 1 to {most} letters, digits, _ and -")
    return name


def distinct(names: Sequence[str]) -> tuple[str, ...]:
    if len(set(names)) < len(names):
        raise ValueError("tools: each name may be there once")
    return tuple(names)


def gathered(turns: Iterable[Message]) -> tuple[Message, ...]:
    """Turns of one role that follow each other as one turn."""
    out: list[Message] = []
    for turn in turns:
        if out and out[-1].role == turn.role:
            last = out.pop()
            text = "\n".join(text for text in (last.text, turn.text) if text)
            out.append(replace(last, text=text, calls=last.calls + turn.calls, results=last.results + turn.results))
        else:
            out.append(turn)
    return tuple(out)


def opened(turns: Sequence[Message]) -> tuple[str, tuple[Message, ...]]:
    """The instructions a conversation opens with, and the rest of it."""
    if turns and turns[0].role == "system":
        return turns[0].text, tuple(turns[1:])
    return "", tuple(turns)


def check_answered(turns: Sequence[Message]) -> None:
    """Both providers insist: the results of all calls, and no others, follow right after the turn that has the calls."""
    nothing = Message("user")
    for turn, after in zip((nothing, *turns), (*turns, nothing), strict=True):
        called = {wanted.id for wanted in turn.calls}
        given = {result.id for result in after.results}
        if called - given:
            raise ValueError(f"messages: no result follows for the tool calls {', '.join(sorted(called - given))}")
        if given - called:
            raise ValueError(f"messages: no tool call stands before the results {', '.join(sorted(given - called))}")


# --- what a prompt costs -------------------------------------------------------------------------------------


def tokens(chars: int) -> int:
    """An estimate, and the only one here: four characters are a token."""
    return -(-chars // _CHARS_PER_TOKEN)


def said_tokens(reply: Reply) -> int:
    """What a reply costs, by its text and its calls. Saying nothing costs one."""
    calls = sum(len(wanted.name) + len(arguments(wanted)) for wanted in reply.calls)
    return max(1, tokens(len(reply.text) + calls))


class Block(NamedTuple):
    """A part of a prompt, in its order."""

    text: str
    marked: bool = True
    """The prompt up to here is kept for the next request."""
    salt: str = ""
    """What else the cache is keyed by from here on."""


class Cost(NamedTuple):
    """The tokens of a prompt, and how many of them a prompt cache had or took."""

    total: int
    read: int
    written: int


class PromptCache:
    """What a provider's prompt cache would have kept: prefixes, block by block. It has no least size and forgets nothing."""

    def __init__(self) -> None:
        self._kept: set[bytes] = set()
        self._turn = Lock()

    def cost(self, blocks: Iterable[Block]) -> Cost:
        """What this prompt costs after those before it. Its marked prefixes are kept from now on."""
        state, marks = sha256(), set[bytes]()
        chars = found = read = kept = 0
        with self._turn:
            for block in blocks:
                state.update(json.dumps([block.salt, block.text]).encode())
                chars += len(block.text)
                found = tokens(chars) if state.digest() in self._kept else found
                if block.marked:
                    marks.add(state.digest())
                    read, kept = found, tokens(chars)
            self._kept |= marks
        return Cost(tokens(chars), read, kept - read)
