"""The real SDKs, each asked for the same talk: neutral turns in, what the SDK parsed out. Its own checks are on."""

import json
from contextlib import contextmanager
from functools import cache
from typing import NamedTuple

import anthropic
import httpx2
import openai

from commonplace.testing.scripted import Message, ToolCall, ToolResult
from commonplace.testing.servers import AnthropicServer, OpenAIServer

PATIENCE = 10.0


@cache
def http():
    """One for all clients: making it reads the machine's certificates. It asks no proxy."""
    return httpx2.Client(trust_env=False)


def options(more):
    """How every client here is made: no second try, no long wait, and the SDK looks at every field it gets."""
    usual = {"max_retries": 0, "timeout": PATIENCE, "api_key": "any", "_strict_response_validation": True}
    return {**usual, "http_client": http(), **more}


class Talk(NamedTuple):
    """What a test asks."""

    turns: tuple
    system: str = ""
    tools: tuple = ()


class Said(NamedTuple):
    """What the SDK made of the answer."""

    text: str
    calls: tuple
    reason: str
    total: int
    """Tokens of the prompt, by `usage`."""
    cached: int
    pieces: tuple = ()
    """The texts and arguments as they came in a stream."""


def asked(text, *, system="", tools=()):
    return Talk((Message("user", text),), system, tools)


def answered(talk, said, *texts):
    """The talk after the model said that and its tools answered."""
    results = tuple(ToolResult(wanted.id, text) for wanted, text in zip(said.calls, texts, strict=True))
    turns = (*talk.turns, Message("assistant", said.text, said.calls), Message("tool", results=results))
    return talk._replace(turns=turns)


class MessagesApi:
    name, sdk, server = "messages", anthropic, AnthropicServer
    lost = (httpx2.TransportError, anthropic.APIConnectionError)
    request_id = "request-id"

    @staticmethod
    @contextmanager
    def client(server, **more):
        yield anthropic.Anthropic(base_url=server.base_url, **options(more))

    @staticmethod
    def params(talk):
        messages = []
        for turn in talk.turns:
            if turn.role == "tool":
                content = [{"type": "tool_result", "tool_use_id": r.id, "content": r.text} for r in turn.results]
                messages.append({"role": "user", "content": content})
            else:
                said = [{"type": "text", "text": turn.text}] if turn.text else []
                calls = [
                    {"type": "tool_use", "id": c.id, "name": c.name, "input": dict(c.arguments)} for c in turn.calls
                ]
                messages.append({"role": turn.role, "content": said + calls})
        tools = [{"name": name, "input_schema": {"type": "object"}} for name in talk.tools]
        return {
            "model": "claude-scripted", "max_tokens": 1000, "messages": messages,
            **({"system": talk.system} if talk.system else {}), **({"tools": tools} if tools else {}),
        }  # fmt: skip

    @classmethod
    def say(cls, client, talk, **more):
        return cls.said(client.messages.create(**cls.params(talk), **more))

    @classmethod
    def stream(cls, client, talk):
        pieces = []
        with client.messages.stream(**cls.params(talk)) as stream:
            for event in stream:
                if event.type == "text":
                    pieces.append(event.text)
                elif event.type == "input_json":
                    pieces.append(event.partial_json)
            return cls.said(stream.get_final_message())._replace(pieces=tuple(pieces))

    @staticmethod
    def said(message):
        text = "".join(block.text for block in message.content if block.type == "text")
        calls = tuple(ToolCall(b.name, b.input, b.id) for b in message.content if b.type == "tool_use")
        usage = message.usage
        cached = usage.cache_read_input_tokens
        total = usage.input_tokens + cached + usage.cache_creation_input_tokens
        return Said(text, calls, message.stop_reason, total, cached)


class ChatApi:
    name, sdk, server = "chat", openai, OpenAIServer
    lost = (openai.APIConnectionError,)
    request_id = "x-request-id"

    @staticmethod
    @contextmanager
    def client(server, **more):
        yield openai.OpenAI(base_url=server.base_url, **options(more))

    @staticmethod
    def params(talk):
        messages = [{"role": "system", "content": talk.system}] if talk.system else []
        for turn in talk.turns:
            if turn.role == "tool":
                messages += [{"role": "tool", "tool_call_id": r.id, "content": r.text} for r in turn.results]
                continue
            message = {"role": turn.role, "content": turn.text or None}
            if turn.calls:
                message["tool_calls"] = [
                    {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": json.dumps(c.arguments)}}
                    for c in turn.calls
                ]
            messages.append(message)
        tools = [{"type": "function", "function": {"name": name}} for name in talk.tools]
        return {"model": "gpt-scripted", "messages": messages, **({"tools": tools} if tools else {})}

    @classmethod
    def say(cls, client, talk, **more):
        return cls.said(client.chat.completions.create(**cls.params(talk), **more))

    @classmethod
    def stream(cls, client, talk):
        pieces = []
        with client.chat.completions.stream(**cls.params(talk), stream_options={"include_usage": True}) as stream:
            for event in stream:
                if event.type == "content.delta":
                    pieces.append(event.delta)
                elif event.type == "tool_calls.function.arguments.delta":
                    pieces.append(event.arguments_delta)
            return cls.said(stream.get_final_completion())._replace(pieces=tuple(pieces))

    @staticmethod
    def said(completion):
        (choice,) = completion.choices
        calls = tuple(
            ToolCall(c.function.name, json.loads(c.function.arguments), c.id) for c in choice.message.tool_calls or ()
        )
        usage = completion.usage
        assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens
        cached = usage.prompt_tokens_details.cached_tokens
        return Said(choice.message.content or "", calls, choice.finish_reason, usage.prompt_tokens, cached)


class ResponsesApi(ChatApi):
    name = "responses"

    @staticmethod
    def params(talk):
        items = []
        for turn in talk.turns:
            if turn.text:
                items.append({"role": turn.role, "content": turn.text})
            items += [
                {"type": "function_call", "call_id": c.id, "name": c.name, "arguments": json.dumps(c.arguments)}
                for c in turn.calls
            ]
            items += [{"type": "function_call_output", "call_id": r.id, "output": r.text} for r in turn.results]
        tools = [{"type": "function", "name": name, "parameters": {}, "strict": False} for name in talk.tools]
        return {
            "model": "gpt-scripted", "input": items, **({"instructions": talk.system} if talk.system else {}),
            **({"tools": tools} if tools else {}),
        }  # fmt: skip

    @classmethod
    def say(cls, client, talk, **more):
        return cls.said(client.responses.create(**cls.params(talk), **more))

    @classmethod
    def stream(cls, client, talk):
        pieces = []
        with client.responses.stream(**cls.params(talk)) as stream:
            for event in stream:
                if event.type in ("response.output_text.delta", "response.function_call_arguments.delta"):
                    pieces.append(event.delta)
            return cls.said(stream.get_final_response())._replace(pieces=tuple(pieces))

    @staticmethod
    def said(response):
        calls = tuple(
            ToolCall(item.name, json.loads(item.arguments), item.call_id)
            for item in response.output
            if item.type == "function_call"
        )
        usage = response.usage
        assert usage.total_tokens == usage.input_tokens + usage.output_tokens
        reason = response.incomplete_details.reason if response.incomplete_details else response.status
        cached = usage.input_tokens_details.cached_tokens
        return Said(response.output_text, calls, reason, usage.input_tokens, cached)


APIS = (MessagesApi, ChatApi, ResponsesApi)
