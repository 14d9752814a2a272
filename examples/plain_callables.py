"""Memory as plain functions: for any framework that takes callables, or none at all.

    python examples/plain_callables.py

The functions have names, signatures and docstrings, so pydantic-ai, LangChain, smolagents and their like take the
list as it is.
"""

import inspect
import tempfile

from commonplace import open_memory

with tempfile.TemporaryDirectory() as place:
    memory = open_memory(place)
    tools = {tool.__name__: tool for tool in memory.tools("python")}

    for name, tool in tools.items():
        print(f"{name}{inspect.signature(tool)}")

    print(tools["memory_write"](text="We deploy with ./deploy.sh, which refuses a dirty tree.", name="deploy"))
    print(tools["memory_search"](query="how do we deploy"))
    print(tools["memory_update"](name="deploy", old="a dirty tree", new="a tree with uncommitted changes"))
    print(tools["memory_read"](name="deploy"))
