"""A small agent: a question, the memory tools, and the real Anthropic SDK. What `tour` plays, one process a session.

    python -m commonplace.testing.player "how do I cut a release here?"

It talks to COMMONPLACE_TOUR_SERVER if that names a scripted server, else to Anthropic with the key in the environment.
It knows memory's three lines and no more of it.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from commonplace.guard.text import one_line
from commonplace.memory import Memory
from commonplace.note.limits import clamp
from commonplace.open import open_memory
from commonplace.store.base import Call

SERVER = "COMMONPLACE_TOUR_SERVER"
MODEL = "claude-sonnet-5-5"
_TOKENS = 1024
# A model that has not answered after so many rounds of tools will not.
_ROUNDS = 12
# As much of an argument as the line about a call shows.
_SHOWN = 60


def play(memory: Memory, client: Any, question: str) -> str:
    """Answer a question, running the memory tools the model asks for, each told in a line."""
    messages: list[Any] = [{"role": "user", "content": question}]
    system, tools = memory.preamble(), memory.tools("anthropic")
    for _ in range(_ROUNDS):
        reply = client.messages.create(model=MODEL, max_tokens=_TOKENS, system=system, tools=tools, messages=messages)
        results = [_run(memory, block) for block in reply.content if block.type == "tool_use"]
        if not results:
            return "".join(block.text for block in reply.content if block.type == "text")
        messages += [{"role": "assistant", "content": reply.content}, {"role": "user", "content": results}]
    return "(the model went on asking for tools)"


def _run(memory: Memory, block: Any) -> dict[str, Any]:
    done = memory.run_tool(block.name, block.input, call=Call(actor="tour"))
    given = ", ".join(f"{key}: {clamp(one_line(str(value)), _SHOWN)}" for key, value in block.input.items())
    print(f"> {block.name} {given} -> {'failed' if done.failed else 'ok'}")
    return {"type": "tool_result", "tool_use_id": block.id, "content": done.text, "is_error": done.failed}


def main() -> int:
    """Play one session of the question on the command line."""
    import anthropic

    server = os.environ.get(SERVER, "")
    client = anthropic.Anthropic(base_url=server, api_key="none") if server else anthropic.Anthropic()
    memory = open_memory()
    count = len(memory.notes().notes)
    print(f"# memory: {count} note{'' if count == 1 else 's'}")
    print(play(memory, client, sys.argv[1]))
    print(f"process {os.getpid()} exits")
    return 0


if __name__ == "__main__":
    sys.exit(main())
