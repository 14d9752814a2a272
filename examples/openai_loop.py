"""Memory in a bare OpenAI tool loop: three lines of it are memory's.

    python examples/openai_loop.py

It talks to a scripted server on this machine. For a real model, give `answer` an `openai.OpenAI()` of your own.
"""

import tempfile

import openai

from commonplace import open_memory
from commonplace.testing.scripted import Reply, ScriptedModel, call
from commonplace.testing.servers import OpenAIServer


def answer(client, memory, question, model="gpt-5.5"):
    messages = [{"role": "system", "content": memory.preamble()}, {"role": "user", "content": question}]  # 1
    tools = memory.tools("openai")  # 2
    while True:
        said = client.chat.completions.create(model=model, messages=messages, tools=tools).choices[0].message
        if not said.tool_calls:
            return said.content
        messages.append(said)
        for asked in said.tool_calls:
            done = memory.run_tool(asked.function.name, asked.function.arguments)  # 3
            messages.append({"role": "tool", "tool_call_id": asked.id, "content": done.text})


script = ScriptedModel(
    Reply(calls=(call("memory_write", text="We deploy with ./deploy.sh.", name="deploy"),)), "Saved.",
    Reply(calls=(call("memory_search", query="how do we deploy"),)), lambda asked: f"Memory says: {asked.result}",
)  # fmt: skip
with tempfile.TemporaryDirectory() as place, OpenAIServer(script) as server:
    client = openai.OpenAI(base_url=server.base_url, api_key="none")
    print(answer(client, open_memory(place), "Remember that we deploy with ./deploy.sh."))
    print(answer(client, open_memory(place), "How do we deploy?"))
