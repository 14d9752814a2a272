"""Files of a workspace, reached a step at a time by directory descriptor, so that no name and no link leads out of it.

It tells what is there and reads it, and changes nothing. It knows nothing of claims or git.
"""

from __future__ import annotations

import errno
import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

FILE, FOLDER, OTHER, NOTHING, UNTOLD = "file", "folder", "other", "nothing", "untold"
# As many links as a path is followed over; a loop ends here.
_MOST_LINKS = 8
_NOT_THERE = (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ELOOP)
_ENTER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


# What is at a path, and where that is once links were followed. UNTOLD: outside, or not to be looked at.
Found = tuple[str, str]


def look(root: int, path: str) -> Found:
    """What is at a path below a directory; links are followed as long as they stay below it."""
    with _Walk(root) as walk:
        return walk.to(path)


def read(root: int, path: str, most: int) -> bytes | None:
    """The bytes of a regular file; None where there is none, or it has more than `most`."""
    with _Walk(root) as walk:
        return walk.bytes(most) if walk.to(path)[0] == FILE else None


def names(root: int) -> list[str]:
    """What lies directly in the workspace."""
    try:
        return os.listdir(root)
    except OSError:
        return []


class _Walk:
    """The directories entered on the way to a path, and their names; all are closed at the end."""

    def __init__(self, root: int) -> None:
        self._open = [root]
        self._names: list[str] = []
        self._last = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for fd in self._open[1:]:
            os.close(fd)

    def to(self, path: str) -> Found:
        try:
            return self._to(path)
        except OSError as problem:
            return (NOTHING if problem.errno in _NOT_THERE else UNTOLD, "")
        except ValueError:  # a name no file can have
            return (NOTHING, "")

    def _to(self, path: str) -> Found:
        if path.startswith("/"):
            return (UNTOLD, "")
        todo = path.split("/")[::-1]
        links = 0
        while todo:
            name = todo.pop()
            if name in ("", "."):
                continue
            if name == "..":
                if not self._names:
                    return (UNTOLD, "")
                self._names.pop()
                os.close(self._open.pop())
                continue
            mode = os.stat(name, dir_fd=self._open[-1], follow_symlinks=False).st_mode
            if stat.S_ISLNK(mode):
                links += 1
                target = os.readlink(name, dir_fd=self._open[-1])
                if links > _MOST_LINKS:
                    return (NOTHING, "")
                if target.startswith("/"):
                    return (UNTOLD, "")
                todo += target.split("/")[::-1]
            elif stat.S_ISDIR(mode):
                self._open.append(os.open(name, _ENTER, dir_fd=self._open[-1]))
                self._names.append(name)
            else:
                self._last = name
                what = FILE if stat.S_ISREG(mode) else OTHER
                return (NOTHING, "") if any(todo) else (what, "/".join((*self._names, name)))
        return (FOLDER, "/".join(self._names))

    def bytes(self, most: int) -> bytes | None:
        try:
            fd = os.open(self._last, _READ, dir_fd=self._open[-1])
        except OSError:
            return None
        with open(fd, "rb", buffering=0) as file:
            told = os.fstat(fd)
            if not stat.S_ISREG(told.st_mode) or told.st_size > most:
                return None
            try:
                return file.read(most)
            except OSError:
                return None


def repository_of(folder: str) -> str:
    """The root of the repository a folder lies in; '' where it lies in none."""
    here = os.path.abspath(folder)
    while not os.path.lexists(os.path.join(here, ".git")):
        if here == os.path.dirname(here):
            return ""
        here = os.path.dirname(here)
    return here
