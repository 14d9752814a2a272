"""FileStore: one Markdown file per note in one directory, beside its control folder.

Readers take no lock; writers queue on one. It reads and compares; how a change reaches the disk is `commit.py`.
It knows nothing of search, prompts or indexes. What only a change or a file's text needs is loaded with those: most
processes look, and find nothing changed.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from itertools import chain

from commonplace.errors import BadFormat, BadName, NotFound, StoreError
from commonplace.store.base import Call, Change, Found, Inventory, Problem, Pulse, Seen, Then, Written
from commonplace.store.disk import Disk
from commonplace.store.paths import (
    CONTROL,
    INDEX,
    PLACES,
    SUFFIX,
    file_of,
    oddity_of,
    place_of,
    printable,
    shown,
    stem_of,
)
from commonplace.store.provenance import Provenance
from commonplace.store.raw import (
    MARKED,
    Folder,
    differing,
    find,
    mark_of,
    open_notebook,
    open_place,
    pulse_of,
    signed,
    state_of,
    why_closed,
    why_not,
)
from commonplace.store.trouble import told

TYPE_CHECKING = False
if TYPE_CHECKING:
    from commonplace.note.note import Note
    from commonplace.store.commit import Landed, Wish
    from commonplace.store.turn import Turn


class FileStore:
    """Notes as files. Every system call goes through `disk`; the clock only stamps the log."""

    def __init__(self, path: str, *, disk: Disk | None = None, now: Callable[[], float] = time.time) -> None:
        self.path = os.path.realpath(path)
        self._named_as = os.path.abspath(path)
        self._disk = disk or Disk()
        self._provenance = Provenance(self.path, self._disk)
        self._now = now

    @property
    def where(self) -> str:
        return self.path

    def get(self, name: str) -> Found:
        from commonplace.note.format import parse

        try:
            file_of(name)
        except BadName as problem:
            raise NotFound(str(problem)) from None
        with told(self.path, f"reading {name!r}"), open_notebook(self._disk, self.path) as root:
            raw = None if root is None else find(self._disk, root, name)
            if root is None or raw is None:
                raise NotFound(f"no note named {name!r} in {self.path}; `commonplace list` shows the names there are")
            note = parse(raw.source, name, raw.folder)
        seen = Seen(name, raw.folder, raw.signature)
        return Found(note, seen, lambda: self._author(name, note.stamp))

    def put(self, note: Note, *, call: Call, expect: str, then: Then | None = None) -> Written:
        from commonplace.note.format import written
        from commonplace.note.note import home_of
        from commonplace.store.commit import Wish

        file_of(note.name)
        ready = written(note)  # what could not be read again is refused before any lock
        return self._change(Wish(note.name, ready.source, home_of(note), expect, call, self._now), ready, then)

    def delete(self, name: str, *, call: Call, expect: str, then: Then | None = None) -> Written:
        from commonplace.store.commit import Wish

        file_of(name)
        return self._change(Wish(name, None, "", expect, call, self._now), None, then)

    def scan(self, known: str = "") -> Inventory:
        with told(self.path, "looking through it"), open_notebook(self._disk, self.path) as root:
            folders = [] if root is None else [self._look(root, folder) for folder in PLACES]
            log = self._provenance.mark()
            lost = "" if log else self._provenance.lost()
            mark = mark_of(folders, log)
            gone = f"{CONTROL}/{lost}" if lost else ""
            if (some := _changed(folders, known, mark)) is not None:
                return Inventory(some, (), log, gone, mark, part=True)
            seen, problems = ({}, []) if root is None else self._named(root, folders)
        if os.path.islink(self._named_as):
            problems.append(Problem(self._named_as, f"the notebook is a link to {shown(self.path)}", unread=False))
        return Inventory(tuple(seen[name] for name in sorted(seen)), tuple(problems), log, gone, mark)

    def pulse(self) -> Pulse:
        with told(self.path, "looking at it"), open_notebook(self._disk, self.path) as root:
            return () if root is None else pulse_of(self._disk, root)

    def republish(self, make: Callable[[], str]) -> str:
        """Put a fresh index beside the notes after a change that was not ours.

        Only where we have written before, and only if no writer is at work: that one will publish. Answers why it
        could not be done, or ''.
        """
        from commonplace.store.publish import publish
        from commonplace.store.turn import take_turn

        try:
            with told(self.path, "writing the index"), take_turn(self._disk, self.path, visit=True) as turn:
                return publish(turn, make())
        except (StoreError, FileNotFoundError) as problem:
            return str(problem)

    def acting(self) -> AbstractContextManager[None]:
        """One act of several changes at a time, by any process."""
        from commonplace.store.locking import acting

        return acting(self._disk, self.path)

    def _author(self, name: str, stamp: str) -> str:
        with told(self.path, f"reading who wrote {name!r}"):
            return self._provenance.author(name, stamp)

    def _change(self, wish: Wish, ready: Note | None, then: Then | None) -> Written:
        from dataclasses import replace

        from commonplace.note.format import parse
        from commonplace.store.commit import commit
        from commonplace.store.turn import take_turn

        doing = f"{'forgetting' if wish.data is None else 'saving'} {wish.name!r}"
        with told(self.path, doing), take_turn(self._disk, self.path) as turn:
            try:
                landed = commit(turn, wish)
            except BadFormat as problem:
                raise BadFormat(f"{problem}; it stands in the way in {self.path}, and nothing was changed") from problem
            note = ready or parse(landed.source, wish.name, landed.folder)
            if note.folder != landed.folder:
                note = replace(note, folder=landed.folder)
            warnings = landed.warnings
            if then is not None and landed.outcome != "unchanged":
                warnings += then(_told(turn, wish, landed, note if ready else None))
        return Written(landed.outcome, note, landed.kept, warnings)

    def _look(self, root: int, name: str) -> Folder:
        """What lies in one of the notebook's folders. Every call looks at every file: little is done with each."""
        disk, folder = self._disk, Folder(name)
        at = open_place(disk, root, name)
        if at is None:
            with suppress(FileNotFoundError):
                folder.closed = why_closed(disk.stat(name, root))
            return folder
        try:
            for file in disk.names(at):
                if not file.endswith(SUFFIX) or file == INDEX:
                    folder.others.append(file)
                    continue
                try:
                    folder.states += state_of(disk.stat(file, at))
                except FileNotFoundError:
                    continue
                except PermissionError:
                    if not name:
                        raise
                    folder.closed = why_closed(disk.stat_fd(at))
                    break
                folder.files.append(file)
        finally:
            if at != root:
                disk.close(at)
        return folder

    def _named(self, root: int, folders: Sequence[Folder]) -> tuple[dict[str, Seen], list[Problem]]:
        """The notes that were seen, by name, and what is no note and should be one."""
        seen: dict[str, Seen] = {}
        problems: list[Problem] = []
        for folder in folders:
            prefix = f"{folder.name}/" if folder.name else ""
            if folder.closed:
                problems.append(Problem(folder.name, folder.closed))
            for file in folder.others:
                problems += self._oddity(root, file, prefix)
            for _, file, state in folder.entries():
                name = stem_of(file)
                if name is None:
                    problems += self._oddity(root, file, prefix)
                elif problem := why_not(state[0], state[2]):
                    problems.append(Problem(prefix + file, problem))
                elif name in seen:
                    hidden = f"hidden by {place_of(name, seen[name].folder)}; rename one of the two"
                    problems.append(Problem(prefix + file, hidden))
                else:
                    seen[name] = Seen(name, folder.name, signed(state))
        return seen, problems

    def _oddity(self, root: int, file: str, prefix: str) -> list[Problem]:
        """What is worth saying of a directory entry that is no note."""
        word = oddity_of(file)
        if not word and not prefix and not file.startswith(".") and file not in PLACES:
            try:
                mode = self._disk.stat(file, root).st_mode
            except FileNotFoundError:
                return []
            if file == INDEX and not stat.S_ISREG(mode):
                word = "is not a plain file, so no index is written beside the notes; move it away"
            elif stat.S_ISDIR(mode) and file != INDEX:
                word = "is a folder notes are not read from; move its notes up to have them read"
        return [Problem(prefix + printable(file), word)] if word else []


def _changed(folders: Sequence[Folder], known: str, mark: str) -> tuple[Seen, ...] | None:
    """The notes that are not as they were under a mark, and some that are; None where that does not tell all."""
    blocks = differing(known, mark)
    if not blocks:
        return None if blocks is None else ()
    entries = list(chain.from_iterable(folder.entries() for folder in folders))
    some = [entry for block in blocks for entry in entries[block * MARKED : (block + 1) * MARKED]]
    if any(stem_of(file) is None or why_not(state[0], state[2]) for _, file, state in some):
        return None
    return tuple(Seen(file.removesuffix(SUFFIX), folder, signed(state)) for folder, file, state in some)


def _told(turn: Turn, wish: Wish, landed: Landed, note: Note | None) -> Change:
    from commonplace.store.publish import publish

    found = None
    if note is not None:
        found = Found(note, Seen(wish.name, landed.folder, landed.signature), lambda: wish.call.origin)
    return Change(wish.name, found, landed.before, lambda text: publish(turn, text))
