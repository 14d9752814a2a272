"""The sidecar: the one SQLite file that everything derived lives in. It knows tables, not what fills them.

It is disposable. Damaged, half written or made by another version, it is thrown away and begun again; where none can
be kept on disk, it is kept in memory. It never lies in the notebook.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from threading import Lock, RLock
from weakref import WeakSet

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    T = TypeVar("T")


# Raise it whenever a table, or the text kept in one (an index line), would come out differently.
SCHEMA = 6
_MEMORY = ":memory:"
# Another process's transaction takes milliseconds; who waited this long, for one that is stuck, goes on without the
# file: no call may take longer than a second.
_BUSY_SECONDS = 0.8
# A file that could not be used is tried again after this long: a lock goes, a disk is given room.
_RETRY_SECONDS = 60.0
# Kept in memory until the file would be checked: at a few thousand notes all of it.
_CACHE_KIB = 16_384
# The files SQLite keeps beside its own.
_BESIDE = ("-wal", "-shm", "-journal")
# What SQLite answers where the file may be sound and cannot be used: held by another, not ours to write, no room.
_NOT_DAMAGE = frozenset((
    sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH, sqlite3.SQLITE_NOMEM,
))  # fmt: skip
_PRIMARY = 0xFF  # the low byte of an error code says what it is, the rest which kind of it
# What is raised over a damaged file: also where SQLite's own words are garbled, or a size that it must find room for.
_TROUBLE = (sqlite3.Error, UnicodeDecodeError, MemoryError)

_TABLES = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID",
    """CREATE TABLE files (
        name TEXT PRIMARY KEY, folder TEXT NOT NULL, inode INTEGER, size INTEGER, mtime INTEGER, ctime INTEGER,
        version INTEGER NOT NULL, problem TEXT NOT NULL DEFAULT ''
    ) WITHOUT ROWID""",
    # The mark of the inventory whose rows these are: whoever changes one of them takes it away.
    """CREATE TRIGGER file_came AFTER INSERT ON files BEGIN DELETE FROM meta WHERE key = 'mark'; END""",
    """CREATE TRIGGER file_went AFTER DELETE ON files BEGIN DELETE FROM meta WHERE key = 'mark'; END""",
    """CREATE TRIGGER file_changed AFTER UPDATE ON files BEGIN DELETE FROM meta WHERE key = 'mark'; END""",
    """CREATE TABLE notes (
        name TEXT PRIMARY KEY, slug TEXT NOT NULL, folder TEXT NOT NULL, stamp TEXT NOT NULL, author TEXT NOT NULL,
        trust INTEGER NOT NULL, kind TEXT NOT NULL, word TEXT NOT NULL, title TEXT NOT NULL, description TEXT NOT NULL,
        tags TEXT NOT NULL, created TEXT NOT NULL, updated TEXT NOT NULL, day TEXT NOT NULL, expires TEXT NOT NULL,
        pinned INTEGER NOT NULL, applies_to TEXT NOT NULL, supersedes TEXT NOT NULL, origin TEXT NOT NULL,
        session TEXT NOT NULL, odd TEXT NOT NULL, line TEXT NOT NULL, body TEXT NOT NULL
    )""",
    "CREATE INDEX notes_by_slug ON notes (slug) WHERE slug != name",
    # All that a line of the index needs, so that two hundred of them are read in a row, without their notes.
    """CREATE INDEX notes_by_value ON notes (trust DESC, pinned DESC, day DESC, name, kind, line, supersedes, expires)
        WHERE kind != 'session'""",
    "CREATE INDEX notes_correcting ON notes (name) WHERE supersedes != ''",
    "CREATE INDEX notes_applying ON notes (name, applies_to) WHERE applies_to != ''",
    "CREATE INDEX notes_expiring ON notes (expires) WHERE expires != ''",
    "CREATE INDEX notes_of_sessions ON notes (day, name) WHERE kind = 'session'",
    # Counting ten thousand rows takes longer than writing one, so the counts are kept. (A row is replaced by a
    # delete and an insert: INSERT OR REPLACE would not fire the first of these.)
    "CREATE TABLE totals (kind TEXT PRIMARY KEY, count INTEGER NOT NULL) WITHOUT ROWID",
    """CREATE TRIGGER note_went AFTER DELETE ON notes BEGIN
        UPDATE totals SET count = count - 1 WHERE kind = old.kind; END""",
    """CREATE TRIGGER note_came AFTER INSERT ON notes BEGIN
        INSERT INTO totals VALUES (new.kind, 1) ON CONFLICT (kind) DO UPDATE SET count = count + 1; END""",
    # What recall finds by: texts as their finished terms, which of those there are, and what they mean.
    """CREATE TABLE texts (
        id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, clusters TEXT NOT NULL, day TEXT NOT NULL,
        size INTEGER NOT NULL, language TEXT NOT NULL, mark BLOB NOT NULL, tally BLOB NOT NULL
    )""",
    "CREATE INDEX texts_by_day ON texts (day)",
    "CREATE INDEX texts_by_mark ON texts (mark)",
    """CREATE VIRTUAL TABLE words USING fts5(heading, body, tokenize = "ascii tokenchars '.+#'")""",
    "CREATE TABLE vocabulary (term TEXT PRIMARY KEY, texts INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE spoken (language TEXT PRIMARY KEY, texts INTEGER NOT NULL, terms INTEGER NOT NULL) WITHOUT ROWID",
    """CREATE TRIGGER text_went AFTER DELETE ON texts BEGIN
        UPDATE spoken SET texts = texts - 1, terms = terms - old.size WHERE language = old.language; END""",
    """CREATE TRIGGER text_came AFTER INSERT ON texts BEGIN
        INSERT INTO spoken VALUES (new.language, 1, new.size)
        ON CONFLICT (language) DO UPDATE SET texts = texts + 1, terms = terms + excluded.terms; END""",
    # A cache: by which model, of what text.
    "CREATE TABLE vectors (text BLOB, model TEXT, vector BLOB NOT NULL, PRIMARY KEY (text, model)) WITHOUT ROWID",
    # How often each note was read after it was found: it ranks recall, and nothing else knows it.
    "CREATE TABLE uses (name TEXT PRIMARY KEY, times INTEGER NOT NULL) WITHOUT ROWID",
    # Notes that changed since they were last made findable.
    "CREATE TABLE pending (name TEXT PRIMARY KEY) WITHOUT ROWID",
    "CREATE TRIGGER note_waits AFTER INSERT ON notes BEGIN INSERT OR IGNORE INTO pending VALUES (new.name); END",
    "CREATE TRIGGER note_is_missed AFTER DELETE ON notes BEGIN INSERT OR IGNORE INTO pending VALUES (old.name); END",
)
_MADE = """SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
    AND name NOT LIKE 'words\\_%' ESCAPE '\\'"""
# What another version left, full-text tables first: they take those along that hold what is theirs.
_LEFT_OVER = """SELECT type, replace(name, '"', '""') FROM sqlite_master WHERE type IN ('table', 'view')
    AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY sql NOT LIKE 'CREATE VIRTUAL%'"""


class Late(Exception):
    """Another process held the tables until the time was over."""


class Sidecar:
    """A connection to the derived tables, safe to use from any thread and after a fork."""

    def __init__(self, path: str | None) -> None:
        self._file = path or _MEMORY
        self._path = self._file  # or _MEMORY, while the file cannot be used
        self._try_file_at = 0.0
        self._lock = RLock()
        self._db: sqlite3.Connection | None = None
        self._pid = 0
        self._blank = False  # nobody has written yet: empty tables in memory stand in for the file
        self.rebuilt = ""
        """What happened to the file, in words: it was begun again, or is not used for now; '' otherwise."""
        self.begun = 0
        """How often other tables have taken the place of those there were: what they knew is not in the new ones."""
        _ALL.add(self)

    @property
    def place(self) -> str:
        """Where the tables are; '' where they are only in memory."""
        return "" if self._path == _MEMORY else self._path

    def run(self, work: Callable[[sqlite3.Connection], T], *, write: bool = False, by: float | None = None) -> T:
        """Do some work in one transaction. A damaged file is begun again, and the work done on the new one.

        Raises:
            Late: another process held the file until the time given was over; nothing was done.

        """
        with self._lock, self._waiting(by):
            if self._path != self._file and not write and time.monotonic() >= self._try_file_at:
                self._use(self._file, "")
            for begun_again in (0, 1):
                try:
                    return self._in_transaction(work, write)
                except _TROUBLE as problem:
                    if by is not None and _is_held(problem):
                        raise Late from problem
                    self._begin_again(problem, in_memory=bool(begun_again))
            return self._in_transaction(work, write)

    @contextmanager
    def _waiting(self, by: float | None) -> Iterator[None]:
        """Let another process's work pass no longer than until then."""
        if by is None:
            yield
            return
        with suppress(*_TROUBLE):  # which the work will meet too
            self._connection(write=True).execute(f"PRAGMA busy_timeout = {max(int((by - time.monotonic()) * 1000), 0)}")
        try:
            yield
        finally:
            if self._db is not None:
                self._db.execute(f"PRAGMA busy_timeout = {int(_BUSY_SECONDS * 1000)}")

    def close(self) -> None:
        """Let the file go. The next use opens it again."""
        with self._lock:
            if self._db is not None and self._pid == os.getpid():
                with suppress(sqlite3.Error):
                    self._db.close()
            self._db = None

    def copied(self) -> tuple[Sidecar | None, str]:
        """These tables in memory, apart, or what is wrong with the file. Neither where there are none.

        What is done with the copy changes no file, and none is made or mended for it.
        """
        if self._file == _MEMORY or not os.path.lexists(self._file):
            return None, ""
        copy = Sidecar(None)
        try:
            with closing(_read_only(self._file)) as db:
                if db.execute("PRAGMA user_version").fetchone()[0] != SCHEMA:
                    return None, ""  # the next call begins it again, and says so
                db.backup(copy._connection(write=False))
            flaw = copy._in_transaction(_flaw, write=False)  # `run` would begin a damaged copy again, and find nothing
        except (*_TROUBLE, OSError) as problem:
            flaw = "" if _is_no_damage(problem) else str(problem)
            return None, flaw
        return (None, flaw) if flaw else (copy, "")

    def begin_again(self) -> None:
        """Tables nobody has filled, in the same file, so that other processes see it; a damaged file is thrown away."""
        self.run(_emptied, write=True)
        self.begun += 1
        if self.run(_flaw):
            self._throw_away()

    def _in_transaction(self, work: Callable[[sqlite3.Connection], T], write: bool) -> T:
        db = self._connection(write)
        with _transaction(db, write):
            return work(db)

    def _connection(self, write: bool) -> sqlite3.Connection:
        if self._blank and (write or os.path.exists(self._path)):
            self.close()
        if self._db is not None and self._pid != os.getpid():  # a connection does not survive a fork,
            _PARENTS.append(self._db)  # and to close it here would be to close it for the parent
            self._db = None
        if self._db is None:
            self._blank = not (write or self._path == _MEMORY or os.path.exists(self._path))
            self._db = self._open()
            self._pid = os.getpid()
        return self._db

    def _open(self) -> sqlite3.Connection:
        path = _MEMORY if self._blank else self._path
        if path != _MEMORY:
            _make_private(path)
        db = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        try:
            db.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
            db.execute("PRAGMA secure_delete = ON")  # a forgotten note does not stay behind in free pages
            db.execute("PRAGMA temp_store = MEMORY")  # nor does any in a temporary folder others can read
            if path != _MEMORY and db.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
                db.execute("PRAGMA journal_mode = WAL")  # readers and the writer do not wait for each other
            db.execute("PRAGMA synchronous = OFF" if path == _MEMORY else "PRAGMA synchronous = NORMAL")
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
                self.rebuilt = "was begun again: it was made by another version"
            _emptied(db)
            db.execute(f"PRAGMA user_version = {SCHEMA}")

    def _use(self, path: str, why: str) -> None:
        self.close()
        self._path, self.rebuilt = path, why
        self.begun += 1

    def _begin_again(self, problem: Exception, *, in_memory: bool) -> None:
        """Throw a damaged file away; where it cannot be used at all, go on in memory."""
        if in_memory or self._path == _MEMORY or _is_no_damage(problem):
            self._use(_MEMORY, f"is kept in memory for now, not in {self._file}: {problem}")
            self._try_file_at = time.monotonic() + _RETRY_SECONDS
            if not in_memory and _is_no_damage(problem):
                self._take_over()
            return
        self._use(self._path, f"was begun again: {self._path}: {problem}")
        self._throw_away()

    def _take_over(self) -> None:
        """Begin in memory with what the file holds, where it can be read: what is known need not be found out again."""
        with suppress(sqlite3.Error, OSError), closing(_read_only(self._file)) as db:
            if db.execute("PRAGMA user_version").fetchone()[0] == SCHEMA:
                db.backup(self._connection(write=False))

    def _throw_away(self) -> None:
        self.close()
        for suffix in ("", *_BESIDE):
            with suppress(OSError):
                os.unlink(self._path + suffix)


# Every sidecar of this process; those a fork waits for; and, in a child, the connections that are the parent's.
_ALL: WeakSet[Sidecar] = WeakSet()
_FORKING = Lock()
_HELD: list[Sidecar] = []
_PARENTS: list[sqlite3.Connection] = []


def _before_fork() -> None:
    """Wait until no thread is at work in a sidecar: a child could never end what another thread began."""
    _FORKING.acquire()
    for side in tuple(_ALL):
        side._lock.acquire()  # noqa: SLF001 - the lock of our own class
        _HELD.append(side)


def _after_fork() -> None:
    while _HELD:
        _HELD.pop()._lock.release()  # noqa: SLF001
    _FORKING.release()


os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork)


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


def _is_held(problem: Exception) -> bool:
    return getattr(problem, "sqlite_errorcode", 0) & _PRIMARY in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _is_no_damage(problem: Exception) -> bool:
    code = getattr(problem, "sqlite_errorcode", None)  # what Python itself raises has none
    return code is not None and code & _PRIMARY in _NOT_DAMAGE


def _emptied(db: sqlite3.Connection) -> None:
    """The tables as they are made, whatever was there before."""
    for kind, name in db.execute(_LEFT_OVER).fetchall():
        db.execute(f'DROP {kind} IF EXISTS "{name}"')
    for statement in _TABLES:
        db.execute(statement)
    # No two catalogs share a version, not even one and what is begun again in its place.
    db.execute("INSERT INTO meta VALUES ('version', ?)", (time.time_ns(),))


def _flaw(db: sqlite3.Connection) -> str:
    """What is wrong with a file whose tables can be read; '' where nothing is."""
    said = [str(row[0]) for row in db.execute("PRAGMA integrity_check(1)")]
    if said != ["ok"]:
        return " ".join(" ".join(said).split())
    db.execute("INSERT INTO words (words) VALUES ('integrity-check')")  # raises where they are not as they were put
    made = {sql for (sql,) in db.execute(_MADE)}
    return "" if made == set(_TABLES) else "its tables are not as they were made"


def _read_only(path: str) -> sqlite3.Connection:
    """A file as it is. Where no process has it open, its journal is not begun for us either: no file is made."""
    if not stat.S_ISREG(os.lstat(path).st_mode):
        raise sqlite3.DatabaseError("something that is not a plain file stands in its place")
    from urllib.parse import quote

    still = "" if os.path.exists(path + "-wal") else "&immutable=1"
    return sqlite3.connect(
        f"file:{quote(os.fsencode(path))}?mode=ro{still}", uri=True, timeout=_BUSY_SECONDS, isolation_level=None
    )


def _make_private(path: str) -> None:
    """The file, and the folders it needs, for this person only under any umask."""
    try:
        make_folder(os.path.dirname(path))
        for suffix in _BESIDE:
            with suppress(FileNotFoundError):
                if not stat.S_ISREG(os.lstat(path + suffix).st_mode):
                    raise sqlite3.DatabaseError("something that is not a plain file stands in the place of its journal")
        try:
            fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except FileExistsError:
            if not stat.S_ISREG(os.lstat(path).st_mode):  # SQLite would follow a link, and wait for a FIFO
                raise sqlite3.DatabaseError("something that is not a plain file stands in its place") from None
        else:
            os.fchmod(fd, 0o600)
            os.close(fd)
    except OSError as problem:
        raise sqlite3.OperationalError(f"cannot be made: {problem.strerror}") from problem


def make_folder(path: str) -> None:
    """A folder and those it lies in, where they are missing: for this person only under any umask."""
    missing = []
    while path and not os.path.isdir(path):
        missing.append(path)
        path = os.path.dirname(path)
    for folder in reversed(missing):
        with suppress(FileExistsError):
            os.mkdir(folder, 0o700)
            os.chmod(folder, 0o700)
