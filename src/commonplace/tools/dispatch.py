"""A call of a memory tool: the gate is asked, the arguments are checked, the tool runs, and there is an answer.

Whatever a model sends and whatever fails, what comes back is text a model can act on. It knows no role and no API.
"""

from __future__ import annotations

from collections.abc import Callable

from commonplace.errors import BadFormat, CommonplaceError, NotFound
from commonplace.memory import Memory
from commonplace.outcomes import Answer
from commonplace.prompt.preamble import FULL, Profile
from commonplace.store.base import HAND, Call, trust_of, voice_of
from commonplace.tools.arguments import Wrong, checked, usage
from commonplace.tools.gate import Allow, Deny, Gate, ToolCall, tool_call
from commonplace.tools.reading import read, search, view
from commonplace.tools.saying import Desk, echoed, failed, message
from commonplace.tools.table import READ, offered
from commonplace.tools.writing import delete, update, write

WORK: dict[str, Callable[..., Answer]] = {
    "search": search, "read": read, "write": write, "update": update, "delete": delete, "view": view,
}  # fmt: skip


def dispatch(
    memory: Memory, name: str, arguments: object, *, call: Call, profile: Profile = FULL, gate: Gate
) -> Answer:
    """Run a call as a model sent it: `arguments` is an object or its JSON text. It answers and does not raise."""
    try:
        asked, desk = tool_call(name, arguments, profile), Desk(memory, profile, call)
        if not trust_of(voice := voice_of(call)):
            stamp, author = _touched(memory, asked, profile)
            asked, desk = asked._replace(voice=voice, author=author), desk._replace(expect=stamp)
        verdict = gate(asked)
        if not isinstance(verdict, Allow) or not asked.verb:
            return failed(_denied(asked, verdict, profile))
        row = offered(profile)[asked.name]
        given = checked(row, arguments)
        if isinstance(given, Wrong):
            return failed(f"{asked.name} was not run: {given.why}. It takes {usage(row)}.")
        return WORK[asked.verb](desk, **given)
    except CommonplaceError as problem:
        return failed(f"{message(str(problem), memory)}.")
    except Exception as problem:  # noqa: BLE001 - the one broad except: a model waits for an answer, whatever broke
        return failed(_broken(problem))


def _touched(memory: Memory, asked: ToolCall, profile: Profile) -> tuple[str, str]:
    """The stamp and the author of the note a call would delete or replace; '' for each where there is none."""
    row = offered(profile).get(asked.name)
    given = checked(row, asked.arguments) if row and row.effect != READ else {}
    if isinstance(given, Wrong) or not given.get("name"):
        return "", ""
    try:
        found = memory.find(given["name"])
    except NotFound:
        return "", ""
    except BadFormat:  # it is there, and nobody can say whose it is
        return "", HAND
    return found.note.stamp, found.author()


def _denied(asked: ToolCall, verdict: Allow | Deny, profile: Profile) -> str:
    if not asked.verb:
        return f"There is no tool {echoed(asked.name)} here; there are {', '.join(offered(profile)) or 'none'}."
    return f"{asked.name} was not run: {verdict.reason if isinstance(verdict, Deny) else 'the gate did not allow it'}."


def _broken(problem: Exception) -> str:
    """What a model is told of a fault of ours; the whole of it goes to the log, where a person finds it."""
    from logging import getLogger

    getLogger("commonplace.tools").error("a memory tool failed", exc_info=problem)
    return f"The memory failed ({type(problem).__name__}). Go on without it, and tell the person."
