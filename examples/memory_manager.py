"""The tutorial agent of learn-claude-code, session 13, with its MemoryManager replaced: the loop stays as it was.

    python examples/memory_manager.py

Its `.memory/` directory opens as it is: types, names and hand-made lines stay.
"""

import tempfile
from pathlib import Path

from commonplace import open_memory

MEMORY = open_memory(Path(tempfile.mkdtemp()) / ".memory")

# s13: SYSTEM = f"You are a coding agent at {WORKDIR}. MEMORY PROTOCOL: ... {MEMORY.view_index()}"
SYSTEM = f"You are a coding agent.\n\n{MEMORY.preamble()}"
# s13: five tool definitions by hand
TOOLS = MEMORY.tools("anthropic")
# s13: TOOL_HANDLERS["memory_write"] = lambda **kw: MEMORY.write_file(kw["filename"], ...)
TOOL_HANDLERS = {tool["name"]: lambda _name=tool["name"], **kw: MEMORY.run_tool(_name, kw).text for tool in TOOLS}

print(SYSTEM)
print(TOOL_HANDLERS["memory_write"](
    name="user_prefs", kind="user", description="Editor settings and communication style",
    text="- Prefers concise answers\n- Uses vim keybindings\n- Timezone: UTC+8",
))  # fmt: skip
print(TOOL_HANDLERS["memory_update"](name="user_prefs", old="- Timezone", new="- Likes the dark theme\n- Timezone"))
print(TOOL_HANDLERS["memory_view"]())
print(TOOL_HANDLERS["memory_read"](name="user_prefs"))
print(TOOL_HANDLERS["memory_delete"](name="user_prefs"))
