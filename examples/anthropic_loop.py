"""Memory in a bare Anthropic tool loop: three lines of it are memory's.

    python examples/anthropic_loop.py

It talks to a scripted server here. For a real model, give `answer` an `anthropic.Anthropic()` of your own.
"""

import tempfile

import anthropic

from commonplace import open_memory
from commonplace.testing.scripted import Reply, ScriptedModel, call
from commonplace.testing.servers import AnthropicServer


def answer(client, memory, question, model="claude-sonnet-5-5"):
    messages, system = [{"role": "user", "content": question}], memory.preamble()  # 1
    tools = memory.tools("anthropic")  # 2
    while True:
        reply = client.messages.create(model=model, max_tokens=1024, system=system, tools=tools, messages=messages)
        results = []
        for block in [block for block in reply.content if block.type == "tool_use"]:
            done = memory.run_tool(block.name, block.input)  # 3
            result = {"tool_use_id": block.id, "content": done.text, "is_error": done.failed}
            results.append({"type": "tool_result", **result})
        if not results:
            return reply.content[0].text
        messages += [{"role": "assistant", "content": reply.content}, {"role": "user", "content": results}]


script = ScriptedModel(
    Reply(calls=(call("memory_write", text="We deploy with ./deploy.sh.", name="deploy"),)), "Saved.",
    Reply(calls=(call("memory_search", query="how do we deploy"),)), lambda asked: f"Memory says: {asked.result}",
)  # fmt: skip
with tempfile.TemporaryDirectory() as place, AnthropicServer(script) as server:
    client = anthropic.Anthropic(base_url=server.base_url, api_key="none")
    print(answer(client, open_memory(place), "Remember that we deploy with ./deploy.sh."))
    print(answer(client, open_memory(place), "How do we deploy?"))
