"""Toolbox: what a host holds of the tools: their list in any shape, and a way to run a call."""

from __future__ import annotations

from typing import Any

from commonplace.errors import NoTools
from commonplace.memory import Memory
from commonplace.outcomes import Answer
from commonplace.prompt.preamble import FULL, Profile
from commonplace.store.base import Call, trust_of
from commonplace.tools.dispatch import dispatch
from commonplace.tools.gate import gate
from commonplace.tools.plain import functions
from commonplace.tools.render import SHAPES, rendered

# The shape of the plain functions, beside those of the APIs.
PYTHON = "python"
# Whose word a note is that a role writes, at most.
_VOICES = {"person": "person", "extractor": "extractor"}


class Toolbox:
    """The tools of one memory, by the names of one profile."""

    def __init__(self, memory: Memory, profile: Profile = FULL) -> None:
        self._memory = memory
        self._profile = profile

    def tools(self, shape: str = "anthropic", *, call: Call | None = None, role: str = "agent") -> list[Any]:
        """The tools as an API takes them, or as plain functions, which then run in this role and call.

        Raises:
            NoTools: there is no such shape.

        """
        if shape == PYTHON:
            return list(functions(self._profile, lambda name, given: self.run(name, given, call=call, role=role)))
        if shape not in SHAPES:
            raise NoTools(f"{shape!r} is no shape tools are given in; choose {', '.join((*SHAPES, PYTHON))}")
        return list(rendered(shape, self._profile))

    def run(self, name: str, arguments: object, *, call: Call | None = None, role: str = "agent") -> Answer:
        """Run a call as a model sent it, in a role. It answers and does not raise."""
        return dispatch(self._memory, name, arguments, call=_spoken(call, role), profile=self._profile, gate=gate(role))


def _spoken(call: Call | None, role: str) -> Call:
    """The call, its origin lowered to what its role may speak with: an extractor's note is not an agent's word."""
    voice = _VOICES.get(role, "agent")
    if call is None:
        return Call(origin=voice)
    return call._replace(origin=voice) if trust_of(call.origin) > trust_of(voice) else call
