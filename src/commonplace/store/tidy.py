"""Tidying: the little that can be put right beside the notes without losing anything.

Modes, and what writers that died have left. Nothing in the log or the history is ever rewritten. It knows no note.
"""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from commonplace.errors import Obstructed
from commonplace.store.audit import FILES, FOLDERS
from commonplace.store.disk import Disk
from commonplace.store.paths import CONTROL, FORMAT_FILE, HISTORY, INDEX, KEY, LOG, PLACES, oddity_of, stem_of
from commonplace.store.raw import open_place
from commonplace.store.trouble import told
from commonplace.store.turn import open_or_make, take_turn

_OTHERS = 0o077


def make_private(disk: Disk, path: str) -> int:
    """Give the control folder and what of ours is in it their modes. Answers how many of them had another.

    A version in the history keeps the mode of the note it was.
    """
    with told(path, "making it private"), _root(disk, path) as root:
        given = _give(disk, CONTROL, root, 0o700)
        with _folder(disk, CONTROL, root) as control:
            if control is None:
                return given
            given += sum(_give(disk, name, control, 0o600) for name in FILES)
            given += sum(_give(disk, name, control, 0o700) for name in FOLDERS)
            with _folder(disk, HISTORY, control) as history:
                if history is None:
                    return given
                return given + sum(_give(disk, shelf, history, 0o700) for shelf in disk.names(history))


def close_to_others(disk: Disk, path: str) -> int:
    """Take from the group and others what they may do with the notebook, its notes and their old versions.

    Answers for how many. What an editor or a sync tool left of a note is closed with it.
    """
    with told(path, "closing it to others"), _root(disk, path) as root:
        held = stat.S_IMODE(disk.stat_fd(root).st_mode)
        disk.chmod(root, held & ~_OTHERS)
        closed = 1 if held & _OTHERS else 0
        for place in PLACES:
            at = open_place(disk, root, place)
            if at is None:
                continue
            try:
                files = [file for file in disk.names(at) if _of_notes(file)]
                closed += sum(_close(disk, file, at, stat.S_ISREG) for file in files)
            finally:
                if at != root:
                    disk.close(at)
            closed += _close(disk, place, root, stat.S_ISDIR) if place else 0
        return closed + _close_kept(disk, root)


def _of_notes(file: str) -> bool:
    """Whether a file holds a note, the index of them, or what a tool left of one."""
    return file == INDEX or stem_of(file) is not None or bool(oddity_of(file))


def _close_kept(disk: Disk, root: int) -> int:
    """Close the versions in the history: each kept the mode of the note it was."""
    with _folder(disk, CONTROL, root) as control, _folder(disk, HISTORY, control) as history:
        if history is None:
            return 0
        shelves = [name for name in disk.names(history) if stat.S_ISDIR(disk.stat(name, history).st_mode)]
        return sum(_close_shelf(disk, shelf, history) for shelf in shelves)


def _close_shelf(disk: Disk, shelf: str, history: int) -> int:
    with _folder(disk, shelf, history) as at:
        return 0 if at is None else sum(_close(disk, file, at, stat.S_ISREG) for file in disk.names(at))


def clear(disk: Disk, path: str) -> None:
    """Take away what writers that died have staged: every turn begins with that.

    Raises:
        Busy: a writer is at work, whose it may be.
        Obstructed: the control folder lacks something.

    """
    make_ready(disk, path)
    with told(path, "clearing it"), take_turn(disk, path, visit=True):
        pass


def make_ready(disk: Disk, path: str) -> None:
    """Make the folders a writer's visit needs and a copy may have lost. What held something is not made anew.

    Raises:
        Obstructed: the format, the key or the log is gone.

    """
    with told(path, "looking at what is there"), _root(disk, path) as root, _folder(disk, CONTROL, root) as control:
        there = [] if control is None else disk.names(control)
        missing = [name for name in (FORMAT_FILE, KEY, LOG) if name not in there]
        if control is None or missing:
            raise Obstructed(
                f"{path}/{CONTROL}/{missing[0]} is gone, and is not made anew; bring it back from a backup first"
            )
        for name in FOLDERS:
            disk.close(open_or_make(disk, name, control))


def _give(disk: Disk, name: str, at: int, mode: int) -> int:
    """Give an entry of ours its mode; 1 if it had another. What is not what it should be is let alone."""
    try:
        found = disk.stat(name, at)
    except FileNotFoundError:
        return 0
    right = stat.S_ISDIR(found.st_mode) if mode & 0o100 else stat.S_ISREG(found.st_mode)
    if not right or stat.S_IMODE(found.st_mode) == mode:
        return 0
    disk.set_mode(name, at, mode)
    return 1


def _close(disk: Disk, name: str, at: int, wanted: Callable[[int], bool]) -> int:
    """Take from others what they may do with an entry of this sort; 1 if there was anything."""
    try:
        mode = disk.stat(name, at).st_mode
    except FileNotFoundError:
        return 0
    if not wanted(mode) or not mode & _OTHERS:
        return 0
    disk.set_mode(name, at, stat.S_IMODE(mode) & ~_OTHERS)
    return 1


@contextmanager
def _root(disk: Disk, path: str) -> Iterator[int]:
    root = disk.open_root(path)
    try:
        yield root
    finally:
        disk.close(root)


@contextmanager
def _folder(disk: Disk, name: str, at: int | None) -> Iterator[int | None]:
    """A folder, open; None where there is none, or none it could be in."""
    if at is None:
        yield None
        return
    try:
        fd = disk.open_dir(name, at)
    except (FileNotFoundError, NotADirectoryError):
        yield None
        return
    try:
        yield fd
    finally:
        disk.close(fd)
