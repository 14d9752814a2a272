"""Editing a note's file in a person's own editor. What they wrote is never lost: it stays as a draft until it is kept."""

from __future__ import annotations

import fcntl
import os
import shlex
import shutil
import subprocess
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import replace

from commonplace.care.links import slug_of
from commonplace.care.near import slips
from commonplace.errors import Changed, EditorFailed
from commonplace.index.sidecar import make_folder
from commonplace.note.format import parse
from commonplace.note.lint import called, faults
from commonplace.note.note import Note
from commonplace.outcomes import Conflict, Saved
from commonplace.settings import mark_of
from commonplace.surfaces import shown
from commonplace.surfaces.cli.opened import CONFLICT, DONE, REFUSED, Opened

# What a system has where nobody named an editor, the friendliest first.
_USUAL = ("nano", "vim", "vi")


def edit_file(
    opened: Opened, name: str, print_saved: Callable[[Opened, Saved], int], print_no: Callable[[Opened, Conflict], int]
) -> int:
    """Let a person edit a note's file, and keep what they make of it."""
    note = opened.memory.find(name).note
    with closing(_draft(opened, note)) as draft:
        return _edited(opened, note, draft, print_saved, print_no)


def _edited(
    opened: Opened,
    note: Note,
    draft: _Draft,
    print_saved: Callable[[Opened, Saved], int],
    print_no: Callable[[Opened, Conflict], int],
) -> int:
    if draft.kept:
        shown.say_line(f"going on with what you wrote last time: {draft.path}; empty it to begin anew", to_error=True)
    trouble = _run(opened, draft.path)
    source = draft.read()
    idle = not source or source == note.source  # an emptied file is a person's way of thinking better of it
    if idle:
        draft.remove()
    if trouble:
        left = "nothing was written" if idle else f"what you wrote is in {draft.path}"
        raise EditorFailed(f"{trouble}; the note is as it was, and {left}")
    if not idle:
        return _kept(opened, note, draft, print_saved, print_no)
    if opened.json:
        shown.say_json({"outcome": "unchanged", "name": note.name})
    else:
        shown.say_line(f"nothing was changed in {note.name}")
    return DONE


def _kept(
    opened: Opened,
    note: Note,
    draft: _Draft,
    print_saved: Callable[[Opened, Saved], int],
    print_no: Callable[[Opened, Conflict], int],
) -> int:
    """Keep what a person wrote, or say what hinders it and leave it as a draft."""
    source = draft.read()
    if found := faults(source, note.name, note.source or b""):
        for fault in found:
            shown.say_line(f"line {fault.line}: {fault.what}", to_error=True)
        return _left(opened, draft, note, "it was not kept", REFUSED)
    mine = parse(source, note.name, note.folder)
    if mine.updated == note.updated:
        mine = replace(mine, updated=opened.memory.today())
    try:
        saved = opened.memory.keep(mine, expect=draft.begun_from, call=opened.call())
    except Changed:
        theirs = opened.memory.present(note.name)
        if not opened.json:
            print_no(opened, Conflict(note.name, "it was changed by somebody else since you began", mine.body, theirs))
        draft.rebase(theirs.stamp if theirs else "")  # told now: whoever goes on means to replace it
        return _left(opened, draft, note, "it was not kept, and would replace what stands there now", CONFLICT)
    draft.remove()
    told = _asides(opened, saved.note, source, note.source or b"")
    return print_saved(opened, replace(saved, warnings=(*saved.warnings, *told)))


def _asides(opened: Opened, new: Note, source: bytes, was: bytes) -> list[str]:
    """What a person may not have meant, and is kept as they wrote it."""
    told = [f"line {slip.line}: {slip.what}" for slip in slips(source, was)]
    if (said := called(source, was)) and slug_of(said.what) != slug_of(new.name):
        title = "this is its title now, and " if new.title == said.what else ""
        anew = f"commonplace rename {shlex.quote(new.name)} {shlex.quote(said.what)}{opened.at}"
        told.append(f"line {said.line}: {title}the note is still called {new.name}, as its file is; to rename: {anew}")
    return told


class _Draft:
    """A file a person edits, private to them, and the version of the note it was begun from."""

    def __init__(self, folder: str, file: str, note: Note) -> None:
        make_folder(folder)
        self._lock = _locked(os.path.join(folder, f".{file}.lock"))
        begun = [entry for entry in os.listdir(folder) if entry.partition("-")[2] == file]  # behind the stamp
        self.kept = bool(begun)
        self.begun_from = begun[0].partition("-")[0] if begun else note.stamp
        self.path = os.path.join(folder, f"{self.begun_from}-{file}")
        if not self.kept:
            fd = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
            with os.fdopen(fd, "wb") as out:
                out.write(note.source or b"")

    def close(self) -> None:
        """Let others edit it."""
        os.close(self._lock)

    def read(self) -> bytes:
        """What the person left; nothing where they took the file away."""
        try:
            with open(self.path, "rb") as file:
                return file.read()
        except FileNotFoundError:
            return b""

    def rebase(self, stamp: str) -> None:
        """Take another version for the one it was begun from."""
        file = os.path.basename(self.path).partition("-")[2]
        path = os.path.join(os.path.dirname(self.path), f"{stamp}-{file}")
        os.replace(self.path, path)
        self.path, self.begun_from = path, stamp

    def remove(self) -> None:
        with suppress(FileNotFoundError):
            os.unlink(self.path)


def _locked(path: str) -> int:
    """A lock on the draft of one note, held while it is edited: of two who edit at once, one is told.

    Raises:
        EditorFailed: somebody is at it.

    """
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        raise EditorFailed("this note is being edited elsewhere; finish there, then edit it again") from None
    return fd


def _draft(opened: Opened, note: Note) -> _Draft:
    path = os.path.join(opened.settings.drafts, mark_of(opened.memory.where))
    try:
        return _Draft(path, os.path.basename(opened.memory.file_of(note)), note)
    except OSError as problem:
        raise EditorFailed(
            f"{path} cannot be written ({problem.strerror}), so nothing can be edited; free it"
        ) from None


def _run(opened: Opened, path: str) -> str:
    """Let a person edit a file. Answers what went wrong, or ''."""
    try:
        words = shlex.split(opened.settings.editor)
    except ValueError as problem:
        return f"the editor {opened.settings.editor!r} cannot be read as a command ({problem})"
    words = words or next(([at] for name in _USUAL if (at := shutil.which(name))), [])
    if not words:
        return "no editor was found, name one in VISUAL or EDITOR"
    try:
        done = subprocess.run([*words, path], check=False)
    except OSError as problem:
        return f"{words[0]!r} cannot be started ({problem.strerror}), name an editor in VISUAL or EDITOR"
    return f"{words[0]!r} ended with {done.returncode}" if done.returncode else ""


def _left(opened: Opened, draft: _Draft, note: Note, what: str, code: int) -> int:
    if opened.json:
        told = [fault._asdict() for fault in faults(draft.read(), note.name, note.source or b"")]
        shown.say_json({"outcome": "not kept", "name": note.name, "draft": draft.path, "faults": told})
    shown.complain(f"{what}; your text is in {draft.path}")
    shown.say_line(f"to go on with it: commonplace edit {note.name}{opened.at}", to_error=True)
    return code
