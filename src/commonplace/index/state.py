"""What the catalog's tables say of themselves: of which version they are, and how the store stood at the last look.

It knows the table of single values, not what the rest is for.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from commonplace.index.values import whole
from commonplace.named import NamedTuple
from commonplace.store.base import Pulse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_FILES = "SELECT name, folder, inode, size, mtime, ctime FROM files"
# SQLite takes so many values in one statement everywhere.
_FEW = 500


class State(NamedTuple):
    """What the catalog knew when a refresh began."""

    version: int
    pulse: Pulse
    young: int
    log: str
    scanned: float
    mark: str
    notes: int


def read(db: sqlite3.Connection) -> State:
    said = dict(db.execute("SELECT key, value FROM meta").fetchall())
    notes = db.execute("SELECT coalesce(sum(count), 0) FROM totals").fetchone()[0]
    return State(
        whole(said.get("version", 0)), _pulse(said.get("pulse", "")), whole(said.get("young", 0)), str(said.get("log", "")),
        float(whole(said.get("scanned", 0))), str(said.get("mark", "")), whole(notes),
    )  # fmt: skip


def files(db: sqlite3.Connection, names: Sequence[str] | None = None) -> dict[str, tuple[str, int, int, int, int]]:
    """Folder and signature of every file, of these at least, as they were last read."""
    if names is None or len(names) > _FEW:
        rows = db.execute(_FILES).fetchall()
    else:
        rows = db.execute(f"{_FILES} WHERE name IN ({','.join('?' * len(names))})", names).fetchall()
    return {name: (folder, inode, size, mtime, ctime) for name, folder, inode, size, mtime, ctime in rows}


def get(db: sqlite3.Connection, key: str, default: Any) -> Any:
    row = db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return row[0] if row else default


def version(db: sqlite3.Connection) -> int:
    return whole(get(db, "version", 0))


def put(db: sqlite3.Connection, key: str, value: object) -> None:
    db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))


def pulse(db: sqlite3.Connection) -> Pulse:
    return _pulse(get(db, "pulse", ""))


def set_pulse(db: sqlite3.Connection, pulse: Pulse, young: int) -> None:
    """Remember a pulse, and since when it is known while it is young: a change in the same tick would not show in it.

    It is relied on (0) once a scan began long enough after it was first seen.
    """
    put(db, "pulse", " ".join(map(str, pulse)))
    put(db, "young", young)


def keep_mark(db: sqlite3.Connection, mark: str, as_of: int) -> None:
    """Remember the mark of the inventory these rows are of, unless they changed since that version."""
    if mark and version(db) == as_of:
        put(db, "mark", mark)


def _pulse(text: object) -> Pulse:
    return tuple(map(whole, str(text).split()))
