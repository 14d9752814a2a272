"""ScriptedModel: a model that answers from a script and remembers what it was asked. No key, no network, no chance.

    model = ScriptedModel(
        Reply(calls=(call("memory_search", query="release"),)),
        When(lambda asked: "deploy.sh" in asked.result, "Run ./deploy.sh on a clean tree."),
    )

It knows no provider, no HTTP and no memory: `servers.py` puts it behind the real SDKs. A request takes the first step
that is left and whose guard lets it through; without guards that is the script from top to bottom.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from threading import RLock
from typing import Any, Literal, TypeAlias

Role = Literal["system", "user", "assistant", "tool"]
# As much of a text as an error message quotes.
_QUOTED = 200


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool the model asks for. Without an id the model that answers gives it one: call_1, call_2."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    id: str = ""


def call(name: str, /, **arguments: Any) -> ToolCall:
    """A tool call, as one would write it."""
    return ToolCall(name, arguments)


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool answered to the call of this id."""

    id: str
    text: str
    failed: bool = False
    """The host said so. Only the Messages API has a place for it."""


@dataclass(frozen=True, slots=True)
class Message:
    """One turn, the same whichever API it came by: turns of one role that follow each other are one turn."""

    role: Role
    text: str = ""
    """Its texts, joined by newlines. What is no text stands as its type in brackets: [image]."""
    calls: tuple[ToolCall, ...] = ()
    results: tuple[ToolResult, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What the model was asked."""

    api: Literal["messages", "chat", "responses", "embeddings", ""] = ""
    model: str = ""
    system: str = ""
    """The instructions before the first turn. Those that come later are turns of their own."""
    messages: tuple[Message, ...] = ()
    tools: tuple[str, ...] = ()
    """The names of the tools offered, in their order."""
    stream: bool = False
    raw: Mapping[str, Any] = field(default_factory=dict)
    """The JSON as it came."""

    @property
    def said(self) -> str:
        """What the user said last."""
        return next((turn.text for turn in reversed(self.messages) if turn.role == "user"), "")

    @property
    def result(self) -> str:
        """What the tools answered since the model spoke last, joined by newlines."""
        since: list[str] = []
        for turn in reversed(self.messages):
            if turn.role == "assistant":
                break
            since[:0] = [result.text for result in turn.results]
        return "\n".join(since)


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """How a reply travels. The model does not look at it; a server obeys."""

    wait: float = 0.0
    """Seconds before the first byte."""
    pause: float = 0.0
    """Seconds before each further event of a stream."""
    broken: Literal["", "cut", "error", "json"] = ""
    """`cut`: the connection ends. `error`: the provider's own error, in a stream as an event. `json`: half a document."""
    after: int = 1
    """How many events of a stream get out whole before it breaks; never the last. None and cut: no status line either."""


AT_ONCE = Delivery()


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model answers: text, then tool calls."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    _: KW_ONLY
    cut_short: bool = False
    """The model stopped because it had no tokens left."""
    delivery: Delivery = AT_ONCE


@dataclass(frozen=True, slots=True)
class Failure:
    """The provider refuses: an HTTP status, and an error in the provider's own JSON."""

    status: int
    message: str = "the script says so"
    retry_after: float | None = None
    """Seconds, for the header of that name."""


Answer: TypeAlias = str | Reply | Failure
Play: TypeAlias = Answer | Callable[[Request], Answer]


@dataclass(frozen=True, slots=True)
class When:
    """A step for the requests its guard lets through. With `again` it stays in the script however often it is played."""

    guard: Callable[[Request], object]
    play: Play
    _: KW_ONLY
    again: bool = False


Step: TypeAlias = Play | When


class ScriptedModel:
    """Plays a script, a step a request. A text is short for a Reply. Safe from any thread."""

    def __init__(self, *script: Step, name: str = "scripted-1") -> None:
        self.name = name
        """What a server lists under models. Requests may name any model."""
        self._left = list(script)
        self._requests: list[Request] = []
        self._calls = 0
        self._turn = RLock()  # a guard may look at `requests`

    @property
    def requests(self) -> tuple[Request, ...]:
        """Every request so far, in the order they came."""
        with self._turn:
            return tuple(self._requests)

    @property
    def left(self) -> tuple[Step, ...]:
        """The steps nobody has played yet, without those that are played again and again."""
        with self._turn:
            return tuple(step for step in self._left if not (isinstance(step, When) and step.again))

    def answer(self, request: Request) -> Reply | Failure:
        """What the script answers. An AssertionError says what was asked if it has no step for that."""
        with self._turn:
            self._requests.append(request)
            play = self._next(request)
        answer = play(request) if callable(play) else play
        reply = Reply(answer) if isinstance(answer, str) else answer
        return reply if isinstance(reply, Failure) else replace(reply, calls=tuple(map(self._named, reply.calls)))

    def _next(self, request: Request) -> Play:
        for place, step in enumerate(self._left):
            if not isinstance(step, When):
                del self._left[place]
                return step
            if step.guard(request):
                if not step.again:
                    del self._left[place]
                return step.play
        raise AssertionError(self._off_script(request))

    def _named(self, wanted: ToolCall) -> ToolCall:
        if wanted.id:
            return wanted
        with self._turn:
            self._calls += 1
            return replace(wanted, id=f"call_{self._calls}")

    def _off_script(self, request: Request) -> str:
        refused = (
            f"of the steps left ({len(self._left)}) each has a guard that says no"
            if self._left
            else "every step was played"
        )
        last = request.messages[-1] if request.messages else Message("user")
        text = last.text or "\n".join(result.text for result in last.results)
        return (
            f"the script of {self.name!r} has no step for request {len(self._requests)}: {refused}. "
            f"Its last message, of {len(request.messages)}, is from the {last.role}: {_quoted(text)}. "
            f"Tools offered: {', '.join(request.tools) or 'none'}. Add a step, or find out why this is asked"
        )


def _quoted(text: str) -> str:
    return repr(text if len(text) <= _QUOTED else f"{text[:_QUOTED]}...")
