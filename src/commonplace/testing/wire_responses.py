"""The Responses API of OpenAI: `POST /v1/responses`, streaming and not, with `previous_response_id`.

It knows no socket and no script. It reads what agents send: text, function tools, their outputs. What it does not model:
reasoning, the provider's own tools, conversations kept on the server other than by the id of a response, log
probabilities, limits of one model, and fields it has never heard of.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import count
from threading import Lock
from typing import Any

from commonplace.testing import wire, wire_chat
from commonplace.testing.scripted import Message, Reply, Request, ToolCall, ToolResult
from commonplace.testing.wire import Block, Event, need, objects

_Items = list[dict[str, Any]]


class Responses:
    """A conversation told from its beginning, or going on from a response of before. One object serves many clients."""

    def __init__(self) -> None:
        self._cache = wire.PromptCache()
        self._count = count(1)
        self._kept: dict[str, _Items] = {}
        self._turn = Lock()

    def read(self, body: dict[str, Any]) -> Request:
        model = need(body, "model", str)
        turns = wire.gathered(_turns(self._items(body)))
        _check_answered(turns)
        system, rest = wire.opened(turns)
        instructions = wire.text_of(body.get("instructions"), "instructions")
        tools = [_tool_name(tool, place) for place, tool in objects(body.get("tools", []), "tools")]
        return Request(
            api="responses",
            model=model,
            system="\n".join(text for text in (instructions, system) if text),
            messages=rest,
            tools=wire.distinct(tools),
            stream=body.get("stream") is True,
            raw=body,
        )

    def whole(self, request: Request, reply: Reply) -> dict[str, Any]:
        return self._ended(request, reply, self._opening(request))

    def events(self, request: Request, reply: Reply) -> Iterator[Event]:
        head = self._opening(request)
        ended = self._ended(request, reply, head)
        told: list[dict[str, Any]] = [
            {"type": "response.created", "response": head},
            {"type": "response.in_progress", "response": head},
        ]
        for index, item in enumerate(ended["output"]):
            told += _item_told(item, index)
        told.append({"type": f"response.{ended['status']}", "response": ended})
        for number, data in enumerate(told):
            yield Event({**data, "sequence_number": number}, data["type"])

    def trouble(self, message: str, number: int) -> Event:
        data = {"type": "error", "code": "server_error", "message": message, "param": None}
        return Event({**data, "sequence_number": number}, "error")

    def _items(self, body: dict[str, Any]) -> _Items:
        """What went before, if the request goes on from there, and what it adds."""
        given = body.get("input")
        if isinstance(given, str):
            given = [{"role": "user", "content": given}]
        added = [item for _, item in objects(given, "input")]
        if body.get("previous_response_id") is None:
            return added
        previous = need(body, "previous_response_id", str)
        with self._turn:
            if previous not in self._kept:
                raise ValueError(f"previous_response_id: no response {previous!r} is kept here")
            return [*self._kept[previous], *added]

    def _opening(self, request: Request) -> dict[str, Any]:
        raw = request.raw
        return {
            "id": f"resp_{next(self._count)}", "object": "response", "created_at": wire.CREATED,
            "status": "in_progress", "error": None, "incomplete_details": None, "model": request.model, "output": [],
            "instructions": raw.get("instructions"), "previous_response_id": raw.get("previous_response_id"),
            "parallel_tool_calls": raw.get("parallel_tool_calls", True), "tool_choice": raw.get("tool_choice", "auto"),
            "tools": raw.get("tools", []), "store": raw.get("store", True), "usage": None,
        }  # fmt: skip

    def _ended(self, request: Request, reply: Reply, head: dict[str, Any]) -> dict[str, Any]:
        """The response when it is done. It is kept for the request that goes on from it."""
        items = self._items(dict(request.raw))
        output = _output(reply, head["id"])
        if head["store"]:
            with self._turn:
                self._kept[head["id"]] = [*items, *output]
        cost, said = self._cache.cost(_blocks(request, items)), wire.said_tokens(reply)
        return {
            **head,
            "status": "incomplete" if reply.cut_short else "completed",
            "incomplete_details": {"reason": "max_output_tokens"} if reply.cut_short else None,
            "output": output,
            "usage": {
                "input_tokens": cost.total, "input_tokens_details": wire_chat.cached(cost), "output_tokens": said,
                "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": cost.total + said,
            },
        }  # fmt: skip


# --- reading -------------------------------------------------------------------------------------------------


def _turns(items: _Items) -> Iterator[Message]:
    if not items:
        raise ValueError("input: at least one item is required")
    for place, item in objects(items, "input"):
        kind = item.get("type", "message")
        if kind == "message":
            role = wire_chat.ROLES.get(need(item, "role", str, place))
            if role is None or role == "tool":
                raise ValueError(f"{place}role: this should be user, assistant, system or developer")
            if item.get("content") is None:
                raise ValueError(f"{place}content: this field is required")
            yield Message(role, wire.text_of(item["content"], f"{place}content"))
        elif kind == "function_call":
            arguments = wire_chat.arguments_read(need(item, "arguments", str, place), place)
            wanted = ToolCall(need(item, "name", str, place), arguments, need(item, "call_id", str, place))
            yield Message("assistant", calls=(wanted,))
        elif kind == "function_call_output":
            text = wire.text_of(item.get("output"), f"{place}output")
            yield Message("tool", results=(ToolResult(need(item, "call_id", str, place), text),))
        else:
            yield Message("assistant", wire.part_text(item, place))


def _check_answered(turns: Sequence[Message]) -> None:
    """Here the output of a call may follow anywhere behind it."""
    called = set[str]()
    for turn in turns:
        given = {result.id for result in turn.results}
        if given - called:
            raise ValueError(f"input: no function call stands before the outputs {', '.join(sorted(given - called))}")
        called = (called - given) | {wanted.id for wanted in turn.calls}
    if called:
        raise ValueError(f"input: no output follows for the function calls {', '.join(sorted(called))}")


def _tool_name(tool: dict[str, Any], place: str) -> str:
    """The name of a function; one of the provider's own tools goes by its type."""
    kind = need(tool, "type", str, place)
    return wire.tool_name(tool, place, most=wire_chat.NAME_CHARS) if kind == "function" else kind


def _blocks(request: Request, items: _Items) -> Iterator[Block]:
    """The prompt in the order a cache sees it: each tool, the instructions, each item."""
    for part in (*request.raw.get("tools", []), request.raw.get("instructions"), *items):
        if part:
            yield Block(json.dumps(part), salt=request.model)


# --- writing -------------------------------------------------------------------------------------------------


def _output(reply: Reply, response: str) -> _Items:
    """The items of a reply, done."""
    items: _Items = []
    if reply.text:
        part = {"type": "output_text", "text": reply.text, "annotations": [], "logprobs": []}
        items.append({
            "id": response.replace("resp", "msg"), "type": "message", "role": "assistant", "status": "completed",
            "content": [part],
        })  # fmt: skip
    items += [
        {
            "id": f"fc_{wanted.id}", "type": "function_call", "status": "completed", "call_id": wanted.id,
            "name": wanted.name, "arguments": wire.arguments(wanted),
        }
        for wanted in reply.calls
    ]  # fmt: skip
    return items


def _item_told(item: dict[str, Any], index: int) -> Iterator[dict[str, Any]]:
    """One item as a stream tells it: added, piece by piece, done."""
    calls = item["type"] == "function_call"
    empty: dict[str, Any] = {"arguments": ""} if calls else {"content": []}
    at = {"output_index": index}
    yield {"type": "response.output_item.added", **at, "item": {**item, **empty, "status": "in_progress"}}
    yield from (_call_told if calls else _text_told)(item, {**at, "item_id": item["id"]})
    yield {"type": "response.output_item.done", **at, "item": item}


def _call_told(item: dict[str, Any], at: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for piece in wire.pieces(item["arguments"]):
        yield {"type": "response.function_call_arguments.delta", **at, "delta": piece}
    yield {"type": "response.function_call_arguments.done", **at, "arguments": item["arguments"]}


def _text_told(item: dict[str, Any], at: dict[str, Any]) -> Iterator[dict[str, Any]]:
    (part,) = item["content"]
    at = {**at, "content_index": 0}
    yield {"type": "response.content_part.added", **at, "part": {**part, "text": ""}}
    for piece in wire.pieces(part["text"]):
        yield {"type": "response.output_text.delta", **at, "delta": piece, "logprobs": []}
    yield {"type": "response.output_text.done", **at, "text": part["text"], "logprobs": []}
    yield {"type": "response.content_part.done", **at, "part": part}
