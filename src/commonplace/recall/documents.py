"""A folder of Markdown as a corpus: every section of every page found as notes are. It never writes there.

Pages are cut at their headings, so that an answer is a passage and not a file. It knows files and texts, not notes.
"""

from __future__ import annotations

import os
import re
import sqlite3
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import date
from typing import NamedTuple

from commonplace.index import state
from commonplace.index.sidecar import Sidecar
from commonplace.recall import fuse
from commonplace.recall.finder import Changes, Finder
from commonplace.recall.lexical import Text
from commonplace.store.base import Seen, settled

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self

    from commonplace.recall.semantic import Encoder

_PAGES = (".md", ".markdown", ".mdx")
# A larger file is data that happens to be text.
_PAGE_BYTES = 1_000_000
# More pages than any project has written by hand; the rest is generated.
_MOST_PAGES = 20_000
# A passage longer than this is cut between paragraphs: what answers a question is shorter.
_PASSAGE_CHARS = 2_000
# Folders whose pages are other people's, or made.
_SKIPPED = frozenset(("node_modules", "__pycache__", "venv", "site-packages", "dist", "build", "target", "vendor"))
_HEADING = re.compile(r"(#{1,6})[ \t]+(.*)")
_CLOSING = re.compile(r"[ \t]#+$")
_FENCE = re.compile(r"[ \t]{0,3}(`{3,}(?=[^`]*$)|~{3,})")
_DEPTH = 6
_MOST_PASSAGES = 1_000
# How often a query is asked again where the tables were begun again under it.
_LOOKS = 3

_KNOWN = "SELECT name, inode, size, mtime, ctime FROM files"
_KEPT_AT = "SELECT version FROM files WHERE name = ?"
_PUT = "INSERT OR REPLACE INTO files VALUES (?, '', ?, ?, ?, ?, ?, '')"
_OF_PAGE = "SELECT key FROM texts WHERE key >= ? AND key < ?"

_SAFE = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

_Mark = tuple[int, int, int, int]


class Passage(NamedTuple):
    """A section of a page that answers a query, and why."""

    page: str
    line: int
    heading: str
    text: str
    score: float
    reasons: tuple[str, ...]


class Section(NamedTuple):
    """A piece of a page under one heading: where it begins, the headings above it, and what it says."""

    line: int
    heading: str
    text: str


class Documents:
    """The pages of a folder. Links are not followed, and hidden folders not entered but the one it is given."""

    def __init__(self, root: str) -> None:
        self._root = os.path.realpath(root)
        self._changed: dict[str, _Mark | None] | None = None  # None: not looked yet
        self._version = self._at = 0  # of the tables that was held against; when that was

    def look(self) -> None:
        """Let the next question see what changed since."""
        self._changed = None

    def waits(self, db: sqlite3.Connection) -> bool:
        if self._changed is None or self._version != state.version(db):  # others may have taken the tables' place
            self._version, self._at = state.version(db), time.time_ns()
            known = {name: tuple(mark) for name, *mark in db.execute(_KNOWN)}
            there = dict(_pages(self._root))
            self._changed = {name: _settled(mark, self._at) for name, mark in there.items() if known.get(name) != mark}
            self._changed |= dict.fromkeys(known.keys() - there.keys())
        return bool(self._changed)

    def changes(self, db: sqlite3.Connection, most: int) -> Changes:
        texts: list[Text] = []
        gone: list[str] = []
        self.waits(db)
        changed = self._changed or {}
        for page, mark in list(changed.items()):
            kept = db.execute(_KEPT_AT, (page,)).fetchone()
            if kept == (None if mark is None else (self._at,)):  # only where it stands there was it not undone
                del changed[page]
            elif len(texts) >= most:
                break
            else:
                gone += [key for (key,) in db.execute(_OF_PAGE, (f"{page}//", f"{page}/0"))]
                db.execute("DELETE FROM files WHERE name = ?", (page,))
                if mark is not None:
                    db.execute(_PUT, (page, *mark, self._at))
                    texts += _texts(page, _read(self._root, page))
        return Changes(tuple(texts), tuple(gone))

    def texts(self, db: sqlite3.Connection, keys: Sequence[str]) -> Sequence[Text]:  # noqa: ARG002 - they lie in files
        pages = dict.fromkeys(key.rpartition("//")[0] for key in keys)
        return [text for page in pages for text in self._texts_of(page) if text.key in keys]

    def begin_again(self, db: sqlite3.Connection) -> None:
        db.execute("DELETE FROM files")
        self._changed = None
        self.waits(db)

    def sections(self, keys: Sequence[str]) -> dict[str, tuple[str, Section]]:
        """The page and the section each key stands for, as the page is now."""
        pages = dict.fromkeys(key.rpartition("//")[0] for key in keys)
        cut = {page: enumerate(sections_of(_read(self._root, page))) for page in pages}
        return {f"{page}//{number}": (page, section) for page, cuts in cut.items() for number, section in cuts}

    def _texts_of(self, page: str) -> list[Text]:
        return _texts(page, _read(self._root, page))


class Context:
    """A project's documents, as somebody asks them. One for each folder; safe from any thread as the sidecar is."""

    def __init__(
        self,
        root: str,
        side: Sidecar,
        *,
        today: Callable[[], date],
        encoder: Callable[[], Encoder | None],
        quick: bool = True,
    ) -> None:
        self._root = root
        self._side = side
        self._documents = Documents(root)
        self._finder = Finder(side, self._documents, encoder=encoder, quick=quick)
        self._today = today

    def search(self, query: str, limit: int = 5) -> list[Passage]:
        """The passages that answer a query, best first; none where there is no folder to search."""
        limit = min(max(limit, 0), _MOST_PASSAGES)
        if not self._root:
            return []
        out = list[Passage]()
        for _ in range(_LOOKS):
            tables = self._side.begun
            self._documents.look()
            out = self._passages(query, limit)
            if self._side.begun == tables:
                break
        return out

    def _passages(self, query: str, limit: int) -> list[Passage]:
        answers = self._finder.find(query, self._today(), most=limit)
        best = answers.placed[:limit]
        sections = self._documents.sections([one.found.key for one in best])
        out = []
        for one in best:
            if one.found.key in sections:
                page, section = sections[one.found.key]
                why = fuse.reasons(one, answers.words, None)
                out.append(Passage(page, section.line, section.heading, section.text, round(one.parts.sum, 3), why))
        return out

    def close(self) -> None:
        """Let go of what is held open; the next search opens it again. A `with` block does it at its end."""
        self._side.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def sections_of(page: str) -> Iterator[Section]:
    """A page cut at its headings, and long sections between paragraphs."""
    above = [""] * (_DEPTH + 1)
    begin, lines, fence = 1, list[str](), ""
    for number, line in enumerate(page.split("\n"), 1):
        mark = _FENCE.match(line)
        if mark and not fence:
            fence = mark[1]
        elif mark and line.strip().startswith(fence) and not line.strip().strip(fence[0]):
            fence = ""
        heading = None if fence or mark else _HEADING.fullmatch(line.rstrip())
        if heading:
            yield from _pieces(begin, _path(above), lines)
            depth = len(heading[1])
            above[depth:] = [_CLOSING.sub("", heading[2]).rstrip(), *[""] * (_DEPTH - depth)]
            begin, lines = number, []
        lines.append(line.removesuffix("\r"))
    yield from _pieces(begin, _path(above), lines)


def _path(above: Sequence[str]) -> str:
    return " > ".join(filter(None, above))


def _pieces(begin: int, heading: str, lines: Sequence[str]) -> Iterator[Section]:
    start, size, kept = begin, 0, list[str]()
    for number, line in enumerate(lines, begin):
        if size > _PASSAGE_CHARS and (not line.strip() or size > 2 * _PASSAGE_CHARS):
            yield Section(start, heading, "\n".join(kept))
            start, size, kept = number, 0, []
        kept.append(line)
        size += len(line) + 1
    if any(line.strip() for line in kept):
        yield Section(start, heading, "\n".join(kept))


def _texts(page: str, said: str) -> list[Text]:
    return [
        Text(f"{page}//{number}", f"{section.heading}\n{page}", section.text, (f"page {page}",))
        for number, section in enumerate(sections_of(said))
    ]


def _pages(root: str) -> Iterator[tuple[str, _Mark]]:
    """Every page below a folder, with what tells one state of it from the next."""
    waiting, count = [""], 0
    while waiting and count < _MOST_PAGES:
        folder = waiting.pop()
        for entry in _entries(os.path.join(root, folder)):
            name = f"{folder}/{entry.name}" if folder else entry.name
            with suppress(OSError):  # gone meanwhile
                if entry.is_dir(follow_symlinks=False):
                    waiting += [name] if _is_entered(entry.name) else []
                elif (mark := _mark(entry, name)) is not None:
                    count += 1
                    yield name, mark


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:  # gone meanwhile, or closed to us
        return []


def _is_entered(name: str) -> bool:
    return not name.startswith(".") and name not in _SKIPPED


def _mark(entry: os.DirEntry[str], name: str) -> _Mark | None:
    """What tells one state of a page from the next; None for what is no page."""
    if not name.lower().endswith(_PAGES) or not _storable(name):
        return None
    found = entry.stat(follow_symlinks=False)
    if not stat.S_ISREG(found.st_mode) or found.st_size > _PAGE_BYTES:
        return None
    return (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


def _settled(mark: _Mark, at: int) -> _Mark:
    return settled(Seen("", "", mark), at).signature


def _storable(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:  # bytes that are no UTF-8
        return False
    return True


def _read(root: str, page: str) -> str:
    """A page as it is now, reached a folder at a time: none of them may be a link by the time it is opened."""
    *folders, name = page.split("/")
    try:
        at = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for folder in folders:
                inner = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | _SAFE, dir_fd=at)
                os.close(at)
                at = inner
            fd = os.open(name, os.O_RDONLY | _SAFE, dir_fd=at)
        finally:
            os.close(at)
        with os.fdopen(fd, "rb") as file:
            return file.read(_PAGE_BYTES).decode("utf-8-sig", "replace") if stat.S_ISREG(os.fstat(fd).st_mode) else ""
    except OSError:  # gone meanwhile, or no page any more
        return ""
