"""Vectors from a server: any that answers `POST {base}/embeddings` as OpenAI's does, on this machine or elsewhere.

It asks once and never again, and after a failure leaves the server alone for a while: whoever recalls waits for it. Nothing
the server says is taken unseen. It knows neither notes nor the index; the texts it is given leave for that server.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from http.client import HTTPException
from ipaddress import ip_address
from math import hypot, isfinite
from time import monotonic
from typing import Any
from urllib.error import HTTPError
from urllib.parse import SplitResult, urlsplit, urlunsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, ProxyHandler, Request, build_opener

from commonplace.errors import NoEncoder
from commonplace.guard.text import one_line
from commonplace.note.limits import clamp
from commonplace.recall.semantic import LENGTH

# Somebody waits for a recall, which has its words already.
_TIMEOUT = 5.0
# How long a server that failed is left alone: a conversation of dead waits is worse than one without vectors.
_REST = 30.0
# What the strictest of the usual servers takes at once.
_BATCH = 32
# 8,192 tokens is the most many models take, and a token is a character or more. A note is smaller.
_MOST_CHARS = 8_000
_MOST_SIZE = 16_384
# 32 vectors of the largest size, 20 characters a number.
_MOST_BYTES = 16 * 1024 * 1024
_PIECE = 64 * 1024
# As much as is shown of what a server says about its refusal.
_SHOWN = 200
_WORDS = "or set COMMONPLACE_EMBEDDINGS=words"
_NEXT = {
    401: "set its key with COMMONPLACE_EMBEDDINGS_KEY",
    403: "set its key with COMMONPLACE_EMBEDDINGS_KEY",
    404: "look at COMMONPLACE_EMBEDDINGS and COMMONPLACE_EMBEDDINGS_MODEL",
    429: "wait, ask its operator for more",
}


class EmbeddingsServer:
    """An Encoder. `key` and `size` are whole once the server has answered: nobody else knows the size."""

    def __init__(self, base: str, model: str, key: str = "", *, timeout: float = _TIMEOUT, rest: float = _REST) -> None:
        """`base` is the address before `/embeddings`. Nothing is sent before the first text.

        Raises:
            NoEncoder: the address, the model or the key cannot be right.

        """
        address = _address(base)
        if not model:
            raise NoEncoder(f"no model is named for {address.netloc}; name one with COMMONPLACE_EMBEDDINGS_MODEL")
        if key and not (key.isascii() and key.isprintable()):
            raise NoEncoder("COMMONPLACE_EMBEDDINGS_KEY has characters no key has; copy it again")
        self._url, self._where = urlunsplit(address), address.netloc + address.path
        self._model, self._secret = model, key
        self.key = f"{self._where} {model}"
        self.size = 0
        self._open = _opener(address)
        self._timeout, self._rest = timeout, rest
        self._rests_until, self._trouble = 0.0, ""

    def vectors(self, texts: Sequence[str]) -> list[bytes]:
        """Each text as a vector of length 127; all zeros for an empty one, which servers refuse.

        Raises:
            NoEncoder: the server is gone, late, refuses, or answers what it should not; the message says what to do.

        """
        said = [text[:_MOST_CHARS].encode("utf-8", "replace").decode() for text in texts]
        full = [text for text in said if text.strip()]
        found = iter(
            [one for start in range(0, len(full), _BATCH) for one in self._asked(full[start : start + _BATCH])]
        )
        return [next(found) if text.strip() else bytes(self.size) for text in said]

    def _asked(self, texts: list[str]) -> list[bytes]:
        if monotonic() < self._rests_until:
            raise NoEncoder(f"{self._trouble} (it is asked again {self._rest:g} seconds after that)")
        body = json.dumps({"model": self._model, "input": texts}).encode()
        headers = {"content-type": "application/json", "accept": "application/json", "user-agent": "commonplace"}
        if self._secret:
            headers["authorization"] = f"Bearer {self._secret}"
        raw = self._answer(Request(self._url, body, headers))  # noqa: S310 - the scheme is checked in _address
        try:
            found = [_vector(row) for row in _rows(raw, len(texts))]
        except ValueError as problem:
            raise self._failure(f"answered {problem}", f"look at what it is, {_WORDS}") from problem
        sizes = {len(one) for one in found} | ({self.size} if self.size else set())
        if len(sizes) > 1:
            told = f"answered vectors of {' and '.join(map(str, sorted(sizes)))} numbers, which cannot be compared"
            raise self._failure(told, f"look at which model it runs, {_WORDS}")
        (self.size,) = sizes
        self.key = f"{self._where} {self._model}/{self.size}"
        return found

    def _answer(self, request: Request) -> bytes:
        """The body of the answer, all of it within the time one waits."""
        end = monotonic() + self._timeout
        try:
            with self._open.open(request, timeout=self._timeout) as answer:
                raw = bytearray()
                while piece := answer.read1(_PIECE):
                    raw += piece
                    if monotonic() > end:
                        raise TimeoutError
                    if len(raw) > _MOST_BYTES:
                        raise self._failure(
                            f"answered more than {_MOST_BYTES:,} bytes", f"look at what it is, {_WORDS}"
                        )
                return bytes(raw)
        except HTTPError as refusal:
            raise self._refused(refusal) from refusal
        except (OSError, HTTPException) as problem:
            reason = getattr(problem, "reason", problem)
            if isinstance(reason, TimeoutError):
                told = f"did not answer within {self._timeout:g} seconds"
            else:
                told = f"could not be reached: {_shown(str(reason))}"
            raise self._failure(told, f"start it, {_WORDS}", rest=True) from problem

    def _refused(self, refusal: HTTPError) -> NoEncoder:
        try:
            said = refusal.read(4 * _SHOWN).decode("utf-8", "replace")
        except (OSError, HTTPException):
            said = ""
        if self._secret:
            said = said.replace(self._secret, "(the key)")
        told = f"refused with status {refusal.code}: {_shown(said) or _shown(str(refusal.reason))}"
        busy = refusal.code == 429 or refusal.code >= 500
        return self._failure(told, f"{_NEXT.get(refusal.code, 'look at its own log')}, {_WORDS}", rest=busy)

    def _failure(self, told: str, cure: str, *, rest: bool = False) -> NoEncoder:
        """What to raise. A server that is gone or busy is left alone from now on."""
        message = f"the embeddings server {self._where} {told}; {cure}"
        if rest:
            self._rests_until, self._trouble = monotonic() + self._rest, message
        return NoEncoder(message)


def _shown(said: str) -> str:
    return clamp(one_line(said), _SHOWN)


class _NoRedirects(HTTPRedirectHandler):
    """The texts and the key go where the setting says and nowhere else."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def _address(base: str) -> SplitResult:
    if "@" in base:
        raise NoEncoder(
            "the address of the embeddings server has a name or password in it; leave it out, and set "
            "COMMONPLACE_EMBEDDINGS_KEY"
        )
    try:
        given = urlsplit(base)
        whole = given.scheme in {"http", "https"} and bool((given.hostname or "").encode("idna")) and given.port != 0
    except ValueError:
        whole = False
    if not whole or not base.isascii() or not base.isprintable() or " " in base:
        # It is not repeated: people put keys into addresses.
        raise NoEncoder("what is set is no address of an embeddings server; it is like http://localhost:11434/v1")
    path = given.path.rstrip("/").removesuffix("/embeddings") + "/embeddings"
    return given._replace(path=path, fragment="")


def _opener(address: SplitResult) -> OpenerDirector:
    """A proxy of the system's is for other machines: none of them can reach a server on this one."""
    host = address.hostname or ""
    try:
        here = ip_address(host).is_loopback
    except ValueError:
        here = host == "localhost"
    return build_opener(_NoRedirects, *([ProxyHandler({})] if here else []))


def _rows(raw: bytes, count: int) -> Iterator[list[Any]]:
    """The vectors in the order of the texts. A ValueError says what was answered instead."""
    try:
        answer = json.loads(raw)
    except (ValueError, RecursionError) as problem:
        raise ValueError("what is not JSON") from problem
    data = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(data, list) or not all(isinstance(one, dict) for one in data):
        raise ValueError("JSON without a list of vectors")
    places = [one.get("index", place) for place, one in enumerate(data)]
    if any(type(place) is not int for place in places) or sorted(places) != list(range(count)):
        raise ValueError(f"{len(data)} vectors to {count} texts, or not one for each")
    placed = dict(zip(places, (one.get("embedding") for one in data), strict=True))
    for place in range(count):
        row = placed[place]
        if not isinstance(row, list) or not 0 < len(row) <= _MOST_SIZE:
            raise ValueError("a vector that is no list of numbers")
        yield row


def _vector(row: list[Any]) -> bytes:
    """A vector of any length as bytes. A ValueError says which numbers it has."""
    if any(type(number) not in {float, int} for number in row):
        raise ValueError("a vector of what are no numbers")
    try:
        numbers = [float(number) for number in row]
        length = hypot(*numbers)
    except OverflowError:
        length = float("inf")
    if not isfinite(length):
        raise ValueError("a vector with numbers that are not finite")
    if not length:
        return bytes(len(row))
    return bytes(round(number / length * LENGTH) & 0xFF for number in numbers)
