"""The Chat Completions API of OpenAI: `POST /v1/chat/completions`, streaming and not, and that provider's errors.

It knows no socket and no script. It reads what agents send: text, function tools, tool results. What it does not model:
more than one choice, log probabilities, audio, limits of one model, and fields it has never heard of.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count
from typing import Any

from commonplace.testing import wire
from commonplace.testing.scripted import Failure, Message, Reply, Request, Role, ScriptedModel, ToolCall, ToolResult
from commonplace.testing.wire import Block, Cost, Event, need, objects

NAME_CHARS = 64
# The role in a Message, by the role on the wire.
ROLES: dict[str, Role] = {
    "system": "system", "developer": "system", "user": "user", "assistant": "assistant", "tool": "tool",
}  # fmt: skip
_KINDS = {
    401: ("invalid_request_error", "invalid_api_key"),
    404: ("invalid_request_error", "not_found"),
    429: ("requests", "rate_limit_exceeded"),
}


def error(failure: Failure, _request_id: str = "") -> dict[str, Any]:
    """An error as this provider writes it. Its id goes into a header only."""
    kind, code = _KINDS.get(
        failure.status, ("server_error" if failure.status >= 500 else "invalid_request_error", None)
    )
    return {"error": {"message": failure.message, "type": kind, "param": None, "code": code}}


def listed(model: ScriptedModel) -> dict[str, Any]:
    """The answer to `GET /v1/models`."""
    return {"object": "list", "data": [described(model)]}


def described(model: ScriptedModel) -> dict[str, Any]:
    return {"id": model.name, "object": "model", "created": wire.CREATED, "owned_by": "scripted"}


class Chat:
    """A conversation each request tells from its beginning. One object serves many clients."""

    def __init__(self) -> None:
        self._cache = wire.PromptCache()
        self._count = count(1)

    def read(self, body: dict[str, Any]) -> Request:
        model = need(body, "model", str)
        turns = wire.gathered(_turns(need(body, "messages", list)))
        wire.check_answered(turns)
        system, rest = wire.opened(turns)
        tools = [_tool_name(tool, place) for place, tool in objects(body.get("tools", []), "tools")]
        return Request(
            api="chat",
            model=model,
            system=system,
            messages=rest,
            tools=wire.distinct(tools),
            stream=body.get("stream") is True,
            raw=body,
        )

    def whole(self, request: Request, reply: Reply) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": reply.text or None, "refusal": None}
        if reply.calls:
            message["tool_calls"] = [_called(wanted) for wanted in reply.calls]
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _finish_reason(reply)}
        head = self._opening(request, "chat.completion")
        return {**head, "choices": [choice], "usage": self._usage(request, reply)}

    def events(self, request: Request, reply: Reply) -> Iterator[Event]:
        head = self._opening(request, "chat.completion.chunk")
        usage = self._usage(request, reply)
        options = request.raw.get("stream_options")
        asked = isinstance(options, dict) and options.get("include_usage") is True
        if asked:
            head["usage"] = None
        ends: list[tuple[dict[str, Any], str | None]] = [({}, _finish_reason(reply))]
        for delta, reason in [*((delta, None) for delta in _deltas(reply)), *ends]:
            choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": reason}
            yield Event({**head, "choices": [choice]})
        if asked:
            yield Event({**head, "choices": [], "usage": usage})
        yield Event("[DONE]")

    def trouble(self, message: str, number: int) -> Event:
        return Event(error(Failure(500, message)))

    def _opening(self, request: Request, kind: str) -> dict[str, Any]:
        return {"id": f"chatcmpl-{next(self._count)}", "object": kind, "created": wire.CREATED, "model": request.model}

    def _usage(self, request: Request, reply: Reply) -> dict[str, Any]:
        cost, said = self._cache.cost(_blocks(dict(request.raw))), wire.said_tokens(reply)
        return {
            "prompt_tokens": cost.total,
            "completion_tokens": said,
            "total_tokens": cost.total + said,
            "prompt_tokens_details": cached(cost),
            "completion_tokens_details": {"reasoning_tokens": 0},
        }


def cached(cost: Cost) -> dict[str, int]:
    """How this provider tells of its cache."""
    return {"cached_tokens": cost.read, "cache_write_tokens": cost.written}


# --- reading -------------------------------------------------------------------------------------------------


def _turns(messages: list[Any]) -> Iterator[Message]:
    if not messages:
        raise ValueError("messages: at least one message is required")
    for place, message in objects(messages, "messages"):
        role = ROLES.get(need(message, "role", str, place))
        if role is None:
            raise ValueError(f"{place}role: this should be one of {', '.join(ROLES)}, not {message['role']!r}")
        text = wire.text_of(message.get("content"), f"{place}content")
        if role == "tool":
            yield Message("tool", results=(ToolResult(need(message, "tool_call_id", str, place), text),))
            continue
        calls = message.get("tool_calls") or [] if role == "assistant" else []
        if message.get("content") is None and not calls:
            raise ValueError(f"{place}content: this field is required")
        yield Message(role, text, tuple(_call(one, at) for at, one in objects(calls, f"{place}tool_calls")))


def _call(one: dict[str, Any], place: str) -> ToolCall:
    function = need(one, "function", dict, place)
    name, spelled = need(function, "name", str, place), need(function, "arguments", str, place)
    return ToolCall(name, arguments_read(spelled, place), need(one, "id", str, place))


def arguments_read(spelled: str, place: str) -> dict[str, Any]:
    """The arguments of a call as it comes back: what the script said, so always an object."""
    try:
        return wire.of_kind(json.loads(spelled), dict, f"{place}arguments")
    except json.JSONDecodeError as problem:
        raise ValueError(f"{place}arguments: this should be JSON: {problem}") from None


def _tool_name(tool: dict[str, Any], place: str) -> str:
    if need(tool, "type", str, place) != "function":
        return wire.tool_name(need(tool, tool["type"], dict, place), place, most=NAME_CHARS)
    return wire.tool_name(need(tool, "function", dict, place), f"{place}function.", most=NAME_CHARS)


def _blocks(body: dict[str, Any]) -> Iterator[Block]:
    """The prompt in the order a cache sees it: each tool, each message."""
    for part in (*body.get("tools", []), *body["messages"]):
        yield Block(json.dumps(part), salt=str(body["model"]))


# --- writing -------------------------------------------------------------------------------------------------


def _called(wanted: ToolCall) -> dict[str, Any]:
    function = {"name": wanted.name, "arguments": wire.arguments(wanted)}
    return {"id": wanted.id, "type": "function", "function": function}


def _deltas(reply: Reply) -> Iterator[dict[str, Any]]:
    """A reply piece by piece."""
    yield {"role": "assistant", "content": "" if reply.text else None, "refusal": None}
    for piece in wire.pieces(reply.text):
        yield {"content": piece}
    for index, wanted in enumerate(reply.calls):
        opening = {"name": wanted.name, "arguments": ""}
        yield {"tool_calls": [{"index": index, "id": wanted.id, "type": "function", "function": opening}]}
        for piece in wire.pieces(wire.arguments(wanted)):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _finish_reason(reply: Reply) -> str:
    return "length" if reply.cut_short else "tool_calls" if reply.calls else "stop"
