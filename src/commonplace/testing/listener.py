"""The sockets and threads under `servers.py`: HTTP on the loopback, and answers that are late, broken or refused.

It knows HTTP and what a Wire is, and no provider. Every connection serves one request and is closed.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from itertools import count
from socket import SHUT_RDWR, SHUT_WR
from socketserver import ThreadingTCPServer
from threading import Event as Flag
from threading import Lock
from typing import Any, NamedTuple, Protocol

from commonplace.testing.scripted import Delivery, Failure, Reply, Request
from commonplace.testing.wire import Event, Wire

# What the Messages API takes; OpenAI says less of it. It bounds what one client can make a test hold.
BODY_BYTES = 32 * 1024 * 1024
# No length worth reading has more digits.
_DIGITS = 12
# A client on the same machine that sends nothing for so long is gone.
_PATIENCE = 30.0
# What is read of a body nobody wants, in pieces: four times what is taken.
_PIECE = 64 * 1024
_DRAINED = 4 * BODY_BYTES // _PIECE
_BROKEN = "the script ends this here"
_JSON, _STREAM = "application/json", "text/event-stream; charset=utf-8"


class Script(Protocol):
    """What answers requests."""

    def answer(self, request: Request) -> Reply | Failure: ...


class Asked(NamedTuple):
    """How a path speaks, and who answers there."""

    wire: Wire
    script: Script


class Api(NamedTuple):
    """What one server answers."""

    asks: Mapping[str, Asked]
    """By path: what a script is asked for."""
    tells: Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]]
    """By method and path: what is answered from the body alone."""
    error: Callable[[Failure, str], dict[str, Any]]
    keys: tuple[str, ...]
    """The headers one of which has the key. Any key will do."""
    id_header: str


class Listener(ThreadingTCPServer):
    """Accepts on a free port of the loopback. Its threads end with it."""

    allow_reuse_address = True
    request_queue_size = 64  # clients of a test come all at once

    def __init__(self, api: Api) -> None:
        self.api = api
        self.closing = Flag()
        self.problems: list[BaseException] = []
        """What the script or its functions raised, in order."""
        self.count = count(1)
        self._open: set[Any] = set()
        self._turn = Lock()
        super().__init__(("127.0.0.1", 0), Exchange)

    @property
    def hosts(self) -> frozenset[str]:
        """How a client may call this server. Another name is somebody's page that was made to point here."""
        return frozenset(f"{name}:{self.server_address[1]}" for name in ("127.0.0.1", "localhost"))

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._turn:
            self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._turn:
            self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients may go away. Everything else is kept, to be raised where the server is left."""
        problem = sys.exception()
        if problem is not None and problem not in self.problems and not isinstance(problem, ConnectionError):
            self.problems.append(problem)

    def hang_up(self) -> None:
        """End every wait and every connection, and with them their threads. The caller has stopped the accepting."""
        self.closing.set()
        with self._turn:
            for connection in self._open:
                with suppress(OSError):  # it has just ended by itself
                    connection.shutdown(SHUT_RDWR)
        self.server_close()


class Exchange(BaseHTTPRequestHandler):
    """One connection, one request, one answer."""

    server: Listener
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # each event goes out when it is said
    timeout = _PATIENCE

    def setup(self) -> None:
        super().setup()
        self._number = next(self.server.count)

    def do_GET(self) -> None:
        self._answer({})

    def do_POST(self) -> None:
        body = self._body()
        if isinstance(body, Failure):
            self._fail(body)
            self._drain()
        else:
            self._answer(body)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What the standard library refuses, in the provider's words like all else."""
        self._fail(Failure(code, message or explain or "this cannot be read"))

    def log_message(self, *_: Any) -> None:
        """Nothing: the requests are in the model."""

    # --- reading ---------------------------------------------------------------------------------------------

    def _body(self) -> dict[str, Any] | Failure:
        length = self.headers.get("content-length", "")
        if not length.isdecimal():
            return Failure(411, "the length of the body must be said")
        if len(length) > _DIGITS or int(length) > BODY_BYTES:
            return Failure(413, f"the body is {length[:_DIGITS]} bytes long and may be {BODY_BYTES}")
        try:
            body = json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError) as problem:
            return Failure(400, f"the body is not JSON: {problem}")
        return body if isinstance(body, dict) else Failure(400, "the body is not a JSON object")

    def _drain(self) -> None:
        """Let a client finish what nobody wants, or it may lose the answer that says so."""
        with suppress(OSError):  # it has read the answer and is gone
            self.connection.shutdown(SHUT_WR)
            for _ in range(_DRAINED):
                if not self.rfile.read1(_PIECE):
                    return

    def _refusal(self) -> Failure | None:
        """Why nobody at all is answered here."""
        api = self.server.api
        if self.headers.get("host", "") not in self.server.hosts:
            return Failure(403, f"this server is called {' or '.join(sorted(self.server.hosts))}")
        if not any(self.headers.get(key, "").strip() for key in api.keys):
            return Failure(401, f"a key is missing: send any in the header {' or '.join(api.keys)}")
        return None

    def _answer(self, body: dict[str, Any]) -> None:
        path = self.path.partition("?")[0]
        asks = self.server.api.asks.get(path) if self.command == "POST" else None
        tells = self.server.api.tells.get(f"{self.command} {path}")
        refusal = self._refusal()
        if refusal or not (asks or tells):
            self._fail(refusal or Failure(404, f"there is no {self.command} {path} here"))
            return
        try:
            request = asks.wire.read(body) if asks else None
            told = tells(body) if tells else None
        except ValueError as problem:
            self._fail(Failure(400, str(problem)))
            return
        if asks and request:
            self._ask(asks, request)
        else:
            self._send(200, told)

    def _ask(self, asked: Asked, request: Request) -> None:
        """Ask the script. What it raises is told to the client, who should not try again, and raised in the test."""
        try:
            answer = asked.script.answer(request)
        except BaseException as problem:
            self.server.problems.append(problem)
            self._fail(Failure(400, f"{type(problem).__name__}: {problem}"))
            raise
        if isinstance(answer, Failure):
            self._fail(answer)
        else:
            self._deliver(asked.wire, request, answer)

    # --- answering -------------------------------------------------------------------------------------------

    def _deliver(self, wire: Wire, request: Request, reply: Reply) -> None:
        how = reply.delivery
        self.server.closing.wait(how.wait)
        if how.broken == "cut" and not how.after:
            self.close_connection = True
            return
        if request.stream:
            self._stream(wire, list(wire.events(request, reply)), how)
        elif how.broken == "error":
            self._fail(Failure(500, _BROKEN))
        else:
            self._send(200, wire.whole(request, reply), how.broken)

    def _stream(self, wire: Wire, events: list[Event], how: Delivery) -> None:
        self._head(200, {"content-type": _STREAM, "cache-control": "no-cache", "transfer-encoding": "chunked"})
        sent = events[: min(how.after, len(events) - 1)] if how.broken else events
        for place, event in enumerate(sent):
            self.server.closing.wait(how.pause if place else 0)
            self._chunk(event.encoded())
        if how.broken == "cut":
            return
        if how.broken == "error":
            self._chunk(wire.trouble(_BROKEN, len(sent)).encoded())
        elif how.broken == "json":
            self._chunk(_half(events[len(sent)]))
        self._chunk(b"")

    def _chunk(self, data: bytes) -> None:
        """A piece of a stream; without bytes, its end."""
        self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))

    def _fail(self, failure: Failure) -> None:
        again = {} if failure.retry_after is None else {"retry-after": f"{failure.retry_after:g}"}
        self._send(failure.status, self.server.api.error(failure, self._id()), **again)

    def _send(self, status: int, body: Any, broken: str = "", **headers: str) -> None:
        data = json.dumps(body).encode()
        half = data[: len(data) // 2]
        length = len(half if broken == "json" else data)
        self._head(status, {"content-type": _JSON, "content-length": str(length), **headers})
        self.wfile.write(half if broken else data)

    def _head(self, status: int, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header(self.server.api.id_header, self._id())
        self.send_header("connection", "close")
        self.end_headers()

    def _id(self) -> str:
        """The id of this request."""
        return f"req_{self._number}"


def _half(event: Event) -> bytes:
    """An event whose data ends in the middle."""
    text = event.data if isinstance(event.data, str) else json.dumps(event.data)
    return Event(text[: len(text) // 2], event.name).encoded()
