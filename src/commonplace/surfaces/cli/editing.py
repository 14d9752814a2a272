"""Editing a note's file in a person's own editor. What they wrote is never lost: it stays as a draft until it is kept."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from typing import Any

from commonplace.errors import Changed, EditorFailed
from commonplace.note.format import parse
from commonplace.note.lint import faults
from commonplace.note.note import Note
from commonplace.outcomes import Conflict, Saved
from commonplace.surfaces import shown
from commonplace.surfaces.cli.opened import CONFLICT, DONE, REFUSED, Opened

# What a system has where nobody named an editor, the friendliest first.
_USUAL = ("nano", "vim", "vi")


def edit_file(
    opened: Opened, name: str, print_saved: Callable[[Opened, Saved], int], print_no: Callable[[Opened, Conflict], int]
) -> int:
    """Let a person edit a note's file, and keep what they make of it."""
    note = opened.memory.find(name).note
    draft = _draft(opened, note)
    if draft.kept:
        shown.say_line(f"going on with what you wrote last time: {draft.path}", to_error=True)
    trouble = _run(opened, draft.path)
    source = draft.read()
    if source == note.source:
        draft.remove()
    if trouble:
        left = "nothing was written" if source == note.source else f"what you wrote is in {draft.path}"
        raise EditorFailed(f"{trouble}; the note is as it was, and {left}")
    if source == note.source:
        if opened.json:
            shown.say_json({"outcome": "unchanged", "name": note.name})
        else:
            shown.say_line(f"nothing was changed in {note.name}")
        return DONE
    if found := faults(source, note.name):
        for fault in found:
            shown.say_line(f"line {fault.line}: {fault.what}", to_error=True)
        return _left(opened, draft, note, "it was not kept", REFUSED)
    mine = parse(source, note.name, note.folder)
    if mine.updated == note.updated:
        mine = replace(mine, updated=opened.memory.today())
    try:
        saved = opened.memory.keep(mine, expect=note.stamp, call=opened.call())
    except Changed:
        print_no(
            opened,
            Conflict(
                note.name,
                "it was changed by somebody else while you edited it",
                mine.body,
                opened.memory.present(note.name),
            ),
        )
        return _left(opened, draft, note, "it was not kept", CONFLICT)
    draft.remove()
    return print_saved(opened, saved)


class _Draft:
    """A file a person edits, private to them."""

    def __init__(self, path: str, source: bytes) -> None:
        self.path = path
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        self.kept = os.path.lexists(path)
        if not self.kept:
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
            with os.fdopen(fd, "wb") as file:
                file.write(source)

    def read(self) -> bytes:
        with open(self.path, "rb") as file:
            return file.read()

    def remove(self) -> None:
        os.unlink(self.path)


def _draft(opened: Opened, note: Note) -> _Draft:
    place = sha256(opened.memory.where.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    path = os.path.join(opened.settings.drafts, place, os.path.basename(opened.memory.file_of(note)))
    try:
        return _Draft(path, note.source or b"")
    except OSError as problem:
        raise EditorFailed(
            f"{path} cannot be written ({problem.strerror}), so nothing can be edited; free it"
        ) from None


def _run(opened: Opened, path: str) -> str:
    """Let a person edit a file. Answers what went wrong, or ''."""
    words = shlex.split(opened.settings.editor) or next(([at] for name in _USUAL if (at := shutil.which(name))), [])
    if not words:
        return "no editor was found, name one in VISUAL or EDITOR"
    try:
        done = subprocess.run([*words, path], check=False)
    except OSError as problem:
        return f"{words[0]!r} cannot be started ({problem.strerror}), name an editor in VISUAL or EDITOR"
    return f"{words[0]!r} ended with {done.returncode}" if done.returncode else ""


def _left(opened: Opened, draft: _Draft, note: Note, what: str, code: int) -> int:
    if opened.json:
        found: dict[str, Any] = {"outcome": "not kept", "name": note.name, "draft": draft.path}
        shown.say_json({**found, "faults": [fault._asdict() for fault in faults(draft.read(), note.name)]})
    shown.complain(f"{what}; your text is in {draft.path}")
    shown.say_line(f"to go on with it: commonplace edit {note.name}{opened.at}", to_error=True)
    return code
