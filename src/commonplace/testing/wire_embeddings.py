"""The Embeddings API of OpenAI, as others offer it too: `POST /v1/embeddings`.

It knows no socket and no script. What it does not model: texts given as tokens, and the limits of one model.
"""

from __future__ import annotations

import struct
from base64 import b64encode
from collections.abc import Iterator
from typing import Any

from commonplace.testing import wire, wire_chat
from commonplace.testing.embeddings import Vector, Vectors
from commonplace.testing.scripted import Failure, Message, Reply, Request
from commonplace.testing.wire import Event, need, of_kind

# What this provider takes at once, and its longest vector.
_TEXTS, _SIZE = 2048, 3072
_FORMATS = ("float", "base64")


class Embeddings:
    """Texts in, a vector for each out, in their order."""

    def read(self, body: dict[str, Any]) -> Request:
        given = body.get("input")
        texts = [given] if isinstance(given, str) else need(body, "input", list)
        if not 0 < len(texts) <= _TEXTS:
            raise ValueError(f"input: this should be 1 to {_TEXTS:,} texts, not {len(texts):,}")
        for place, text in enumerate(texts):
            if not of_kind(text, str, f"input.{place}"):
                raise ValueError(f"input.{place}: this should not be empty")
        if body.get("encoding_format", "float") not in _FORMATS:
            raise ValueError(f"encoding_format: this should be one of {', '.join(_FORMATS)}")
        size = body.get("dimensions")
        if size is not None and not 0 < of_kind(size, int, "dimensions") <= _SIZE:
            raise ValueError(f"dimensions: this should be 1 to {_SIZE:,}, not {size:,}")
        turns = tuple(Message("user", text) for text in texts)
        return Request(api="embeddings", model=need(body, "model", str), messages=turns, raw=body)

    def whole(self, request: Request, reply: Reply) -> dict[str, Any]:
        vectors = reply.vectors if isinstance(reply, Vectors) else ()
        packed = request.raw.get("encoding_format") == "base64"
        rows = [
            {"object": "embedding", "index": index, "embedding": _packed(vector) if packed else list(vector)}
            for index, vector in enumerate(vectors)
        ]
        cost = sum(wire.tokens(len(turn.text)) for turn in request.messages)
        usage = {"prompt_tokens": cost, "total_tokens": cost}
        return {"object": "list", "data": rows, "model": request.model, "usage": usage}

    def events(self, request: Request, reply: Reply) -> Iterator[Event]:
        """Nothing: this API has no streams."""
        return iter(())

    def trouble(self, message: str, number: int) -> Event:
        return Event(wire_chat.error(Failure(500, message)))


def _packed(vector: Vector) -> str:
    """Four bytes a number, which is what the provider's own SDK asks for."""
    return b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
