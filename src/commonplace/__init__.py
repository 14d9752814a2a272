"""Durable memory for AI agents: one plain Markdown file a fact, an index derived from the files, recall on demand.

from commonplace import open_memory

memory = open_memory()
memory.save("We deploy with ./deploy.sh, which refuses a dirty tree.")
system_prompt = memory.preamble()
"""

from __future__ import annotations

TYPE_CHECKING = False  # as type checkers know it; importing it would cost every process 5 ms

__version__ = "0.1.0"

# Public names and where they live. Importing the package imports none of them: a process pays for what it uses.
_PUBLIC = {
    "Answer": "outcomes",
    "Call": "store.base",
    "CommonplaceError": "errors",
    "Conflict": "outcomes",
    "Forgotten": "outcomes",
    "Hit": "recall.hit",
    "Kind": "note.kind",
    "Memory": "memory",
    "Note": "note.note",
    "Problem": "store.base",
    "Recall": "recall.hit",
    "Refused": "outcomes",
    "Saved": "outcomes",
    "Scan": "outcomes",
    "open_context": "open",
    "open_memory": "open",
}

if TYPE_CHECKING:
    from typing import Any

    from commonplace.errors import CommonplaceError as CommonplaceError
    from commonplace.memory import Memory as Memory
    from commonplace.note.kind import Kind as Kind
    from commonplace.note.note import Note as Note
    from commonplace.open import open_context as open_context
    from commonplace.open import open_memory as open_memory
    from commonplace.outcomes import Answer as Answer
    from commonplace.outcomes import Conflict as Conflict
    from commonplace.outcomes import Forgotten as Forgotten
    from commonplace.outcomes import Refused as Refused
    from commonplace.outcomes import Saved as Saved
    from commonplace.outcomes import Scan as Scan
    from commonplace.recall.hit import Hit as Hit
    from commonplace.recall.hit import Recall as Recall
    from commonplace.store.base import Call as Call
    from commonplace.store.base import Problem as Problem

__all__ = sorted(_PUBLIC)  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'commonplace' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"commonplace.{_PUBLIC[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
