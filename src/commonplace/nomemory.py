"""NoMemory: the memory of a host that has none. Every call answers at once, keeps nothing and touches nothing."""

from __future__ import annotations

import time
from contextlib import AbstractContextManager, nullcontext
from datetime import date
from typing import Any

from commonplace.errors import NotFound
from commonplace.index.listing import WHOLE_INDEX, Budget, Line, Listing
from commonplace.memory import Memory
from commonplace.note.note import Note
from commonplace.outcomes import Answer, Refused, Room, Scan, Status
from commonplace.prompt.preamble import Pinned
from commonplace.recall.hit import Recall

_WHY = "memory is switched off (COMMONPLACE=off); nothing is kept"

_NO_ROOM = Room(lines=0, lines_most=0, bytes=0, bytes_most=0, left_out=0)


class NoMemory(Memory):
    """What `open_memory` answers when COMMONPLACE=off."""

    def __init__(self) -> None:
        """It needs nothing."""

    def close(self) -> None:
        """It holds nothing."""

    @property
    def where(self) -> str:
        return "nowhere"

    def save(self, body: str, **_: Any) -> Refused:
        return Refused(rule="off", why=_WHY)

    def recall(self, query: str, **_: Any) -> Recall:
        return Recall()

    def push(self, query: str, **_: Any) -> Recall:
        return Recall()

    def read(self, name: str) -> Note:
        raise NotFound(_WHY)

    def forget(self, name: str, **_: Any) -> Any:
        raise NotFound(_WHY)

    def lost(self) -> str:
        return ""

    def now(self) -> float:
        return time.time()

    def file_of(self, note: Note) -> str:
        return ""

    def today(self) -> date:
        return date.today()

    def find(self, name: str) -> Any:
        raise NotFound(_WHY)

    def present(self, name: str) -> None:
        return None

    def keep(self, note: Note, **_: Any) -> Any:
        raise NotFound(_WHY)

    def events(self) -> tuple[Any, ...]:
        return ()

    def acting(self) -> AbstractContextManager[None]:
        return nullcontext()

    def version(self, name: str, stamp: str) -> None:
        return None

    def used(self, name: str) -> None: ...

    def checkup(self) -> None:
        return None

    def notes(self, **_: Any) -> Scan:
        return Scan(notes=(), problems=())

    def status(self) -> Status:
        return Status(where=self.where, counts={}, room=_NO_ROOM, cache="", problems=())

    def listing(self, budget: Budget | None = None, reach: str = "") -> Listing:
        return Listing("", (), 0, 0, 0, budget or WHOLE_INDEX)

    def sessions(self) -> list[Line]:
        return []

    def preamble(self) -> str:
        return ""

    def pinned(self) -> Pinned:
        return Pinned("", ())

    def tools(self, shape: str = "anthropic", **_: Any) -> list[Any]:
        return []

    def run_tool(self, name: str, arguments: object, **_: Any) -> Answer:
        return Answer(f"{_WHY}. Go on without it.", failed=True)
