"""What the catalog's tables say of themselves: of which version they are, and how the store stood at the last look.

It knows the table of single values, not what the rest is for.
"""

from __future__ import annotations

import sqlite3
from typing import Any, NamedTuple

from commonplace.index.values import whole
from commonplace.store.base import Pulse


class State(NamedTuple):
    """What the catalog knew when a refresh began."""

    version: int
    pulse: Pulse
    young: int
    log: str
    scanned: float
    files: dict[str, tuple[str, int, int, int, int]]


def read(db: sqlite3.Connection) -> State:
    files = {
        name: tuple(rest) for name, *rest in db.execute("SELECT name, folder, inode, size, mtime, ctime FROM files")
    }
    young, log = whole(get(db, "young", 0)), str(get(db, "log", ""))
    return State(version(db), pulse(db), young, log, float(whole(get(db, "scanned", 0))), files)


def get(db: sqlite3.Connection, key: str, default: Any) -> Any:
    row = db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return row[0] if row else default


def version(db: sqlite3.Connection) -> int:
    return whole(get(db, "version", 0))


def put(db: sqlite3.Connection, key: str, value: object) -> None:
    db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))


def pulse(db: sqlite3.Connection) -> Pulse:
    text = str(get(db, "pulse", ""))
    return tuple(map(whole, text.split()))


def set_pulse(db: sqlite3.Connection, pulse: Pulse, young: int) -> None:
    """Remember a pulse, and since when it is known while it is young: a change in the same tick would not show in it.

    It is relied on (0) once a scan began long enough after it was first seen.
    """
    put(db, "pulse", " ".join(map(str, pulse)))
    put(db, "young", young)
