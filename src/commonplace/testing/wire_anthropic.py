"""The Messages API of Anthropic: `POST /v1/messages`, streaming and not, and its count of tokens.

It knows no socket and no script. It reads what agents send: text, tools, tool results, cache marks, and threads, which
the SDK's own tool loop uses. What it does not model: thinking, citations, the provider's own tools, limits of one model,
and fields it has never heard of, which the real API refuses.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from threading import Lock
from typing import Any

from commonplace.testing import wire
from commonplace.testing.scripted import Failure, Message, Reply, Request, Role, ScriptedModel, ToolCall, ToolResult
from commonplace.testing.wire import Block, Event, need, objects

_NAME_CHARS = 128
_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "system": "system"}
_KINDS = {
    401: "authentication_error", 402: "billing_error", 403: "permission_error", 404: "not_found_error",
    409: "conflict_error", 413: "request_too_large", 429: "rate_limit_error", 504: "timeout_error",
    529: "overloaded_error",
}  # fmt: skip
# What else the part of the cache behind the instructions is keyed by.
_SETTINGS = ("tool_choice", "thinking")
# What a thread keeps from the request that made it.
_FIXED = ("system", "tools")


def error(failure: Failure, request_id: str) -> dict[str, Any]:
    """An error as this provider writes it."""
    kind = _KINDS.get(failure.status, "api_error" if failure.status >= 500 else "invalid_request_error")
    return {"type": "error", "error": {"type": kind, "message": failure.message}, "request_id": request_id}


def listed(model: ScriptedModel) -> dict[str, Any]:
    """The answer to `GET /v1/models`."""
    one = described(model)
    return {"data": [one], "has_more": False, "first_id": model.name, "last_id": model.name}


def described(model: ScriptedModel) -> dict[str, Any]:
    return {
        "type": "model", "id": model.name, "display_name": model.name, "created_at": wire.CREATED_AT,
        "lifecycle": "active",
    }  # fmt: skip


class Messages:
    """A conversation told from its beginning, or going on in a thread. One object serves many clients."""

    def __init__(self) -> None:
        self._cache = wire.PromptCache()
        self._count = count(1)
        self._held: dict[str, dict[str, Any]] = {}
        self._turn = Lock()

    def read(self, body: dict[str, Any]) -> Request:
        need(body, "max_tokens", int)
        return replace(_asked(self._told(body)), raw=body)

    def whole(self, request: Request, reply: Reply) -> dict[str, Any]:
        opening, usage = self._opened(request, reply)
        usage["output_tokens"] = wire.said_tokens(reply)
        return {**opening, "content": _content(reply), "stop_reason": _stop_reason(reply), "usage": usage}

    def events(self, request: Request, reply: Reply) -> Iterator[Event]:
        opening, usage = self._opened(request, reply)
        yield _event("message_start", message={**opening, "usage": {**usage, "output_tokens": 1}})
        for index, (opening, deltas) in enumerate(_blocks_said(reply)):
            yield _event("content_block_start", index=index, content_block=opening)
            if not index:
                yield _event("ping")
            for delta in deltas:
                yield _event("content_block_delta", index=index, delta=delta)
            yield _event("content_block_stop", index=index)
        end = {"stop_reason": _stop_reason(reply), "stop_sequence": None}
        yield _event("message_delta", delta=end, usage={"output_tokens": wire.said_tokens(reply)})
        yield _event("message_stop")

    def trouble(self, message: str, number: int) -> Event:
        return _event("error", error={"type": "overloaded_error", "message": message})

    def _told(self, body: dict[str, Any]) -> dict[str, Any]:
        """The body, with what is held of the conversation if the request goes on in a thread."""
        if body.get("thread") is None:
            return body
        thread = need(body, "thread", dict)
        if need(thread, "type", str, "thread.") != "continue":
            return body
        previous = need(thread, "previous_message_id", str, "thread.")
        with self._turn:
            held = self._held.get(previous)
        if held is None:
            raise ValueError(f"thread.previous_message_id: no message {previous!r} is held here")
        return {**body, **held, "messages": held["messages"] + need(body, "messages", list)}

    def _opened(self, request: Request, reply: Reply) -> tuple[dict[str, Any], dict[str, Any]]:
        """The message as it begins, and what its prompt cost. A thread is held from here on."""
        told = self._told(dict(request.raw))
        opening: dict[str, Any] = {
            "id": f"msg_{next(self._count)}", "type": "message", "role": "assistant", "model": request.model,
            "content": [], "stop_reason": None, "stop_sequence": None,
        }  # fmt: skip
        if told.get("thread"):
            fixed = {key: told[key] for key in _FIXED if key in told}
            said = {"role": "assistant", "content": _content(reply)}
            with self._turn:
                self._held[opening["id"]] = {**fixed, "messages": [*told["messages"], said]}
        return opening, self._usage(told)

    def _usage(self, told: dict[str, Any]) -> dict[str, Any]:
        cost = self._cache.cost(_blocks_read(told))
        return {
            "input_tokens": cost.total - cost.read - cost.written,
            "cache_creation_input_tokens": cost.written,
            "cache_read_input_tokens": cost.read,
            "cache_creation": {"ephemeral_5m_input_tokens": cost.written, "ephemeral_1h_input_tokens": 0},
            "service_tier": "standard",
        }


def count_tokens(body: dict[str, Any]) -> dict[str, Any]:
    """The answer to `POST /v1/messages/count_tokens`: what `usage` would say, all of its input together."""
    _asked(body)
    return {"input_tokens": wire.PromptCache().cost(_blocks_read(body)).total}


# --- reading -------------------------------------------------------------------------------------------------


def _asked(body: dict[str, Any]) -> Request:
    model = need(body, "model", str)
    turns = wire.gathered(_turns(need(body, "messages", list)))
    wire.check_answered(turns)
    tools = [_tool_name(tool, place) for place, tool in objects(body.get("tools", []), "tools")]
    return Request(
        api="messages",
        model=model,
        system=wire.text_of(body.get("system"), "system"),
        messages=turns,
        tools=wire.distinct(tools),
        stream=body.get("stream") is True,
        raw=body,
    )


def _turns(messages: list[Any]) -> Iterator[Message]:
    if not messages:
        raise ValueError("messages: at least one message is required")
    for place, message in objects(messages, "messages"):
        role = _ROLES.get(need(message, "role", str, place))
        if role is None:
            raise ValueError(f"{place}role: this should be one of {', '.join(_ROLES)}, not {message['role']!r}")
        content = message.get("content")
        if not content and not (role == "assistant" and content is not None and message is messages[-1]):
            raise ValueError(f"{place}content: only the last message may be empty, and only an assistant's")
        if not content or isinstance(content, str):
            yield Message(role, content or "")
        else:
            for at, block in objects(content, f"{place}content"):
                yield _turn(role, block, at)


def _turn(role: Role, block: dict[str, Any], place: str) -> Message:
    kind = need(block, "type", str, place)
    if kind == "tool_use":
        arguments = need(block, "input", dict, place)
        return Message("assistant", calls=(ToolCall(need(block, "name", str, place), arguments, _id(block, place)),))
    if kind == "tool_result":
        text = wire.text_of(block.get("content"), f"{place}content")
        return Message("tool", results=(ToolResult(_id(block, place), text, block.get("is_error") is True),))
    if kind == "text" and not need(block, "text", str, place):
        raise ValueError(f"{place}text: a text block should have text")
    return Message(role, wire.part_text(block, place))


def _id(block: dict[str, Any], place: str) -> str:
    return need(block, "tool_use_id" if block["type"] == "tool_result" else "id", str, place)


def _tool_name(tool: dict[str, Any], place: str) -> str:
    if tool.get("type") in (None, "custom"):
        need(tool, "input_schema", dict, place)
    return wire.tool_name(tool, place, most=_NAME_CHARS)


# --- what it costs -------------------------------------------------------------------------------------------


def _blocks_read(body: dict[str, Any]) -> Iterator[Block]:
    """The prompt in the order the cache sees it, marked where the request says `cache_control`."""
    salt = str(body["model"])
    for tool in body.get("tools", []):
        yield _block(tool, "", salt)
    for part in _parts(body.get("system")):
        yield _block(part, "system", salt)
    salt += json.dumps([body.get(setting) for setting in _SETTINGS])
    parts = [(message["role"], part) for message in body["messages"] for part in _parts(message["content"])]
    for place, (role, part) in enumerate(parts, 1):
        whole = place == len(parts) and bool(body.get("cache_control"))
        yield _block(part, role, salt, marked=whole)


def _parts(content: Any) -> list[dict[str, Any]]:
    """A content as blocks: a string is short for one of text."""
    return ([{"type": "text", "text": content}] if content else []) if isinstance(content, str) else content or []


def _block(part: dict[str, Any], role: str, salt: str, *, marked: bool = False) -> Block:
    bare = {key: value for key, value in part.items() if key != "cache_control"}
    return Block(role + json.dumps(bare), marked or bool(part.get("cache_control")), salt)


# --- writing -------------------------------------------------------------------------------------------------


def _event(kind: str, **data: Any) -> Event:
    return Event({"type": kind, **data}, kind)


def _content(reply: Reply) -> list[dict[str, Any]]:
    text = [{"type": "text", "text": reply.text}] if reply.text else []
    return text + [{**_opening(wanted), "input": dict(wanted.arguments)} for wanted in reply.calls]


def _opening(wanted: ToolCall) -> dict[str, Any]:
    return {"type": "tool_use", "id": wanted.id, "name": wanted.name, "input": {}}


def _blocks_said(reply: Reply) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Each block of a reply as it opens, and what comes after, piece by piece."""
    if reply.text:
        said = [{"type": "text_delta", "text": piece} for piece in wire.pieces(reply.text)]
        yield {"type": "text", "text": ""}, said
    for wanted in reply.calls:
        spelled = ["", *wire.pieces(wire.arguments(wanted))]
        yield _opening(wanted), [{"type": "input_json_delta", "partial_json": piece} for piece in spelled]


def _stop_reason(reply: Reply) -> str:
    return "max_tokens" if reply.cut_short else "tool_use" if reply.calls else "end_turn"
