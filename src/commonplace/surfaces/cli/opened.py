"""What every command is given, who is calling, and the codes a command ends with. It knows no click."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress

from commonplace.errors import CommonplaceError, NotFound
from commonplace.memory import Memory
from commonplace.named import NamedTuple
from commonplace.settings import Settings, mark_of
from commonplace.store.base import Call
from commonplace.surfaces import shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from commonplace.outcomes import Conflict, Refused

DONE, REFUSED, MISUSED, NO_SUCH_NOTE, CONFLICT, INTERRUPTED = 0, 1, 2, 3, 4, 130


class Misuse(Exception):
    """A word on the command line that cannot be what it is meant to be; the message says what can, `near` what may be meant."""

    def __init__(self, message: str, near: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.near = near


class Opened(NamedTuple):
    """The notebook a command works on, and how it is to answer."""

    memory: Memory
    settings: Settings
    json: bool

    @property
    def at(self) -> str:
        """What a command must add to mean this notebook again."""
        from shlex import quote

        return f" --dir {quote(self.settings.notebook)}" if self.settings.given else ""

    @property
    def traces(self) -> str:
        """Where it is kept what sessions were given of this notebook."""
        return os.path.join(self.settings.traces, mark_of(self.memory.where))

    def trace(self, session: str, what: str, names: Sequence[str], size: int) -> None:
        """Remember what a session was given, for `commonplace trace`."""
        from commonplace.trace import Trace

        Trace(self.traces).add(session, what, names, size)

    @property
    def sees(self) -> bool:
        """Whether a person sees what is said: there is a terminal, and no agent's shell around us."""
        return _seen(self.settings)

    def call(self, session: str = "", *, mine: bool = False) -> Call:
        """The call of whoever is at the keyboard; `mine`, where they say that what comes from a pipe is their own."""
        return caller(self.settings, mine=mine)._replace(session=session)


def caller(settings: Settings, *, mine: bool = False) -> Call:
    """Who is at the keyboard: a person where there is a terminal and no agent's shell around us, else an agent.

    A text from a pipe may be anybody's. It is a person's where they say so (`mine`) and see a terminal: a program that
    an agent runs would have to say it without being asked, and has none.
    """
    sees = _seen(settings)
    if mine and not sees:
        raise Misuse("--mine is for a person at a terminal; leave it out, and the note is logged as an agent's")
    typed = sees and (mine or shown.is_terminal(sys.stdin))
    return Call(origin="person" if typed else "agent", actor="commonplace")


def _seen(settings: Settings) -> bool:
    return shown.is_terminal(sys.stderr) and not settings.agents_shell


def tell_of_loss(opened: Opened) -> None:
    """Say so where what tells who wrote the notes was found to be gone."""
    if lost := opened.memory.lost():
        shown.complain(f"{lost} is gone, so nobody can say who wrote the notes; run `commonplace doctor{opened.at}`")


def failed(problem: CommonplaceError, *, as_json: bool, near: Sequence[str] = ()) -> int:
    """Tell what went wrong, and answer the code to end with."""
    if as_json:
        say_failed(type(problem).__name__, str(problem), near)
    shown.complain(str(problem))
    if near:
        shown.say_line(f"did you mean {' or '.join(near)}?", to_error=True)
    return NO_SUCH_NOTE if isinstance(problem, NotFound) else REFUSED


def say_failed(error: str, why: str, near: Sequence[str]) -> None:
    """Print what went wrong as --json has it."""
    shown.say_json({"outcome": "failed", "error": error, "why": why, "did_you_mean": list(near)})


def print_no(opened: Opened, outcome: Conflict | Refused, ways: Sequence[str] = ()) -> int:
    """Print why nothing was changed, and the ways on: commands that are left whole, to be copied."""
    from commonplace.outcomes import Refused

    if isinstance(outcome, Refused):
        if opened.json:
            shown.say_json({"outcome": "refused", "rule": outcome.rule, "why": outcome.why})
        shown.complain(f"not saved ({outcome.rule}): {outcome.why}")
        return REFUSED
    if opened.json:
        shown.say_json(shown.conflict_json(outcome))
    shown.complain(f"nothing was changed: {outcome.why}")
    if outcome.theirs is not None and not opened.json:
        shown.say_line(f"{outcome.name} says: {outcome.theirs.description}", indent=2, to_error=True)
    for way in ways:
        shown.say(way, to_error=True)
    return CONFLICT


def unheard(problem: shown.Unheard) -> int:
    """Answer the code for an answer nobody could read: none is needed for a reader that left, as `| head` does."""
    if not str(problem):
        return DONE
    with suppress(shown.Unheard):
        shown.complain(f"the answer could not be written: {problem}")
    return REFUSED
