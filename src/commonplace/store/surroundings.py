"""Where a notebook lies: in a git work tree, or in a folder that is copied to other machines.

It asks the folders above for a few names, and walks nowhere else. What is in a notebook is private; both would carry
it away unasked.
"""

from __future__ import annotations

import os
import re

from commonplace.store.disk import Disk
from commonplace.store.looking import WARNING, Finding
from commonplace.store.raw import read_whole

_GIT = ".git"
_IGNORE = ".gitignore"
_IGNORE_BYTES = 65_536
# What a sync tool leaves in the folder it copies. (`.dropbox` is no mark: at home it holds the tool's settings.)
_MARKS = {
    ".stfolder": "Syncthing", ".dropbox.cache": "Dropbox", ".owncloudsync.log": "ownCloud",
    ".nextcloudsync.log": "Nextcloud",
}  # fmt: skip
# What the folders of the others are called, bare or with an account behind.
_CALLED = re.compile(
    r"(?P<tool>Dropbox)(?: \(.*\))?|(?P<drive>OneDrive|Google ?Drive)(?:(?: - |-).*)?"
    r"|iCloud ?Drive|com~apple~CloudDocs|Mobile Documents"
)


def surroundings(disk: Disk, path: str) -> list[Finding]:
    """What a person should know of the place, nearest folder first; at most one finding of each sort."""
    found: dict[str, Finding] = {}
    for folder in _above(path):
        names = _there(disk, folder)
        if _GIT in names and not _ignored(disk, path):
            found.setdefault("git", _in_git(folder))
        tool = next((_MARKS[mark] for mark in names if mark in _MARKS), "") or _tool_of(os.path.basename(folder))
        if tool:
            found.setdefault("sync", _synced(folder, tool))
    return list(found.values())


def _in_git(folder: str) -> Finding:
    what = f"the notebook lies in a git work tree ({folder}): its notes may be committed, and pushed"
    cure = f"put a {_IGNORE} with the one line * into the notebook, or move it; git leaves it alone then"
    return Finding("place", ".", what, cure, WARNING)


def _synced(folder: str, tool: str) -> Finding:
    what = f"the notebook lies in a folder {tool} copies to other machines ({folder})"
    cure = "move the notebook out of it: two machines that write at once leave conflict copies, and locks do not reach"
    return Finding("place", ".", what, cure, WARNING)


def _above(path: str) -> list[str]:
    folders = [path]
    while (parent := os.path.dirname(folders[-1])) != folders[-1]:
        folders.append(parent)
    return folders


def _there(disk: Disk, folder: str) -> list[str]:
    """Which of the names we look for a folder has. One that may not be looked into has none to us."""
    try:
        at = disk.open_root(folder)
    except OSError:
        return []
    try:
        return [name for name in (_GIT, *_MARKS) if _has(disk, name, at)]
    finally:
        disk.close(at)


def _has(disk: Disk, name: str, at: int) -> bool:
    try:
        disk.stat(name, at)
    except OSError:
        return False
    return True


def _tool_of(name: str) -> str:
    found = _CALLED.fullmatch(name)
    return (found["tool"] or found["drive"] or "iCloud") if found else ""


def _ignored(disk: Disk, path: str) -> bool:
    """Whether the notebook's own ignore file tells git to leave all of it alone."""
    try:
        root = disk.open_root(path)
    except OSError:
        return False
    try:
        fd = disk.open_read(_IGNORE, root)
        try:
            return b"*" in map(bytes.strip, read_whole(disk, fd, _IGNORE_BYTES).split(b"\n"))
        finally:
            disk.close(fd)
    except OSError:
        return False
    finally:
        disk.close(root)
