"""The sidecar: the one SQLite file that everything derived lives in. It knows tables, not what fills them.

It is disposable. Damaged, half written or made by another version, it is thrown away and begun again; where none can
be kept on disk, it is kept in memory. It never lies in the notebook.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import RLock
from typing import TypeVar

T = TypeVar("T")

# Raise it whenever a table, or the text kept in one (an index line), would come out differently.
SCHEMA = 2
_MEMORY = ":memory:"
# Another process's transaction takes milliseconds; a reader that waited this long goes on without the file.
_BUSY_SECONDS = 5.0
# Kept in memory until the file would be checked: at a few thousand notes all of it.
_CACHE_KIB = 16_384

_TABLES = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID",
    """CREATE TABLE files (
        name TEXT PRIMARY KEY, folder TEXT NOT NULL, inode INTEGER, size INTEGER, mtime INTEGER, ctime INTEGER,
        version INTEGER NOT NULL, problem TEXT NOT NULL DEFAULT ''
    ) WITHOUT ROWID""",
    """CREATE TABLE notes (
        name TEXT PRIMARY KEY, slug TEXT NOT NULL, folder TEXT NOT NULL, stamp TEXT NOT NULL, author TEXT NOT NULL,
        trust INTEGER NOT NULL, kind TEXT NOT NULL, word TEXT NOT NULL, title TEXT NOT NULL, description TEXT NOT NULL,
        tags TEXT NOT NULL, created TEXT NOT NULL, updated TEXT NOT NULL, day TEXT NOT NULL, expires TEXT NOT NULL,
        pinned INTEGER NOT NULL, applies_to TEXT NOT NULL, supersedes TEXT NOT NULL, origin TEXT NOT NULL,
        session TEXT NOT NULL, odd TEXT NOT NULL, line TEXT NOT NULL, body TEXT NOT NULL
    )""",
    "CREATE INDEX notes_by_slug ON notes (slug)",
    "CREATE INDEX notes_by_value ON notes (trust DESC, pinned DESC, day DESC, name) WHERE kind != 'session'",
    "CREATE INDEX notes_correcting ON notes (name) WHERE supersedes != ''",
    "CREATE INDEX notes_expiring ON notes (expires) WHERE expires != ''",
    "CREATE INDEX notes_of_sessions ON notes (day, name) WHERE kind = 'session'",
    # Counting ten thousand rows takes longer than writing one, so the counts are kept. (A row is replaced by a
    # delete and an insert: INSERT OR REPLACE would not fire the first of these.)
    "CREATE TABLE totals (kind TEXT PRIMARY KEY, count INTEGER NOT NULL) WITHOUT ROWID",
    """CREATE TRIGGER note_went AFTER DELETE ON notes BEGIN
        UPDATE totals SET count = count - 1 WHERE kind = old.kind; END""",
    """CREATE TRIGGER note_came AFTER INSERT ON notes BEGIN
        INSERT INTO totals VALUES (new.kind, 1) ON CONFLICT (kind) DO UPDATE SET count = count + 1; END""",
)


class Sidecar:
    """A connection to the derived tables, safe to use from any thread and after a fork."""

    def __init__(self, path: str | None) -> None:
        self._path = path or _MEMORY
        self._lock = RLock()
        self._db: sqlite3.Connection | None = None
        self._pid = 0
        self.rebuilt = ""
        """Why the file was begun again, where it was; '' otherwise."""

    @property
    def place(self) -> str:
        """Where the tables are; '' where they are only in memory."""
        return "" if self._path == _MEMORY else self._path

    def run(self, work: Callable[[sqlite3.Connection], T], *, write: bool = False) -> T:
        """Do some work in one transaction. A damaged file is begun again, and the work done on the new one."""
        with self._lock:
            for last in (False, True):
                try:
                    return self._in_transaction(work, write)
                except sqlite3.Error as problem:
                    if last:
                        raise
                    self._begin_again(problem)
        raise AssertionError("unreachable")

    def close(self) -> None:
        """Let the file go. The next use opens it again."""
        with self._lock:
            if self._db is not None and self._pid == os.getpid():
                with suppress(sqlite3.Error):
                    self._db.close()
            self._db = None

    def _in_transaction(self, work: Callable[[sqlite3.Connection], T], write: bool) -> T:
        db = self._connection()
        with _transaction(db, write):
            return work(db)

    def _connection(self) -> sqlite3.Connection:
        if self._db is None or self._pid != os.getpid():  # a connection does not survive a fork
            self._db = self._open()
            self._pid = os.getpid()
        return self._db

    def _open(self) -> sqlite3.Connection:
        if self._path != _MEMORY:
            _make_private(self._path)
        db = sqlite3.connect(self._path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            db.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
            db.execute("PRAGMA secure_delete = ON")  # a forgotten note does not stay behind in free pages
            if self._path != _MEMORY and db.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
                db.execute("PRAGMA journal_mode = WAL")  # readers and the writer do not wait for each other
            db.execute("PRAGMA synchronous = OFF" if self._path == _MEMORY else "PRAGMA synchronous = NORMAL")
            if db.execute("PRAGMA user_version").fetchone()[0] != SCHEMA:
                self._create(db)
        except BaseException:
            db.close()
            raise
        return db

    def _create(self, db: sqlite3.Connection) -> None:
        with _transaction(db, write=True):
            version = db.execute("PRAGMA user_version").fetchone()[0]
            if version == SCHEMA:  # another process was quicker
                return
            if version:
                self.rebuilt = "it was made by another version"
            for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                db.execute(f'DROP TABLE "{name}"')
            for statement in _TABLES:
                db.execute(statement)
            db.execute(f"PRAGMA user_version = {SCHEMA}")

    def _begin_again(self, problem: sqlite3.Error) -> None:
        """Throw a damaged file away; where it cannot be used at all, go on in memory."""
        self.close()
        self.rebuilt = f"{self._path}: {problem}"
        busy_or_denied = isinstance(problem, sqlite3.OperationalError)
        if self._path == _MEMORY or busy_or_denied:
            self._path = _MEMORY
            return
        for suffix in ("", "-wal", "-shm"):
            with suppress(OSError):
                os.unlink(self._path + suffix)


@contextmanager
def _transaction(db: sqlite3.Connection, write: bool) -> Iterator[None]:
    db.execute("BEGIN IMMEDIATE" if write else "BEGIN")
    try:
        yield
    except BaseException:
        with suppress(sqlite3.Error):
            db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def _make_private(path: str) -> None:
    """The file, and the folders it needs, for this person only under any umask."""
    try:
        _make_folder(os.path.dirname(path))
        with suppress(FileExistsError):
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            os.fchmod(fd, 0o600)
            os.close(fd)
    except OSError as problem:
        raise sqlite3.OperationalError(f"cannot be made: {problem.strerror}") from problem


def _make_folder(path: str) -> None:
    if not os.path.isdir(path):
        _make_folder(os.path.dirname(path))
        with suppress(FileExistsError):
            os.mkdir(path, 0o700)
            os.chmod(path, 0o700)
