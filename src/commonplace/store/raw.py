"""Reading files one cannot trust: by directory descriptor, never through a link, never more than the cap."""

from __future__ import annotations

import errno
import os
import stat
from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import repeat
from operator import attrgetter

from commonplace.digest import digest
from commonplace.errors import BadFormat
from commonplace.named import NamedTuple
from commonplace.note.limits import FILE_BYTES
from commonplace.store.base import Pulse, Signature
from commonplace.store.disk import Disk
from commonplace.store.paths import PLACES, file_of

_KINDS = (
    (stat.S_ISREG, "a file"),
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISLNK, "a link"),
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISCHR, "a device"),
)
# What O_NOFOLLOW answers for a link (ELOOP; EMLINK on BSD), and O_NONBLOCK for a socket.
LINKED = frozenset((errno.ELOOP, errno.EMLINK, errno.ENXIO))
# What a look keeps of a file: of what sort it is, and what its signature is made of.
State = tuple[int, int, int, int, int]
_STATED = ("st_mode", "st_ino", "st_size", "st_mtime_ns", "st_ctime_ns")
state_of: Callable[[os.stat_result], State] = attrgetter(*_STATED)
# So many files have their state marked together: where one changes, they are compared one by one.
MARKED = 256
# SQLite keeps 64 signed bits; some file systems number inodes with all 64, and times reach past the year 2262.
_KEPT_BITS = (1 << 63) - 1


class Raw(NamedTuple):
    """What stands under a name: its bytes, and all a writer must keep of the file."""

    folder: str
    source: bytes
    mode: int
    signature: Signature


class Folder:
    """What a look found in one of a notebook's folders: the files that may be notes, and what else lies there."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.files: list[str] = []
        self.states: list[int] = []  # of each file in turn: ten thousand objects more would cost more than looking
        self.others: list[str] = []
        self.closed = ""  # why not all of it could be looked at

    def entries(self) -> Iterator[tuple[str, str, State]]:
        """The files that may be notes: in which folder, the name, its state."""
        states = zip(*[iter(self.states)] * len(_STATED), strict=True)
        return zip(repeat(self.name), self.files, states, strict=False)


def signature_of(found: os.stat_result) -> Signature:
    """What tells one state of a file from the next."""
    return signed(state_of(found))


def signed(state: State) -> Signature:
    """The signature of a file in this state."""
    _, inode, size, mtime, ctime = state
    return (inode & _KEPT_BITS, size, mtime & _KEPT_BITS, ctime & _KEPT_BITS)


def sort_of(mode: int) -> str:
    """What sort of entry has such a mode, in words."""
    return next((word for test, word in _KINDS if test(mode)), "no plain file")


def why_not(mode: int, size: int) -> str:
    """Why a directory entry cannot be a note; '' for a plain file of a sensible size."""
    if not stat.S_ISREG(mode):
        return f"is {sort_of(mode)}, not a plain file; not read. Put a plain file in its place, or remove it"
    if size > FILE_BYTES:
        return f"is {size:,} bytes, over the {FILE_BYTES:,} a note may have; not read. Split it"
    return ""


def why_closed(found: os.stat_result) -> str:
    """Why what stands in the place of one of a notebook's folders was not looked into."""
    if stat.S_ISDIR(found.st_mode):
        return "may not be looked into, so its notes are not read; check its owner and mode"
    return f"is {sort_of(found.st_mode)} where a folder of notes belongs; nothing in it is read. Move it away"


def find(disk: Disk, root: int, name: str) -> Raw | None:
    """The file of a note, in whichever folder it lies; None where there is none.

    Raises:
        BadFormat: only something that cannot be a note is there.

    """
    file = file_of(name)
    odd: BadFormat | None = None
    for folder in PLACES:
        at = open_place(disk, root, folder)
        if at is None:
            continue
        try:
            raw = read_file(disk, at, file, folder)
        except BadFormat as problem:  # what cannot be a note hides none of that name in another folder
            odd, raw = odd or problem, None
        finally:
            if at != root:
                disk.close(at)
        if raw is not None:
            return raw
    if odd is not None:
        raise odd
    return None


@contextmanager
def open_notebook(disk: Disk, path: str) -> Iterator[int | None]:
    """A notebook's directory, open; None where it was never made."""
    try:
        root = disk.open_root(path)
    except FileNotFoundError:
        yield None
        return
    try:
        yield root
    finally:
        disk.close(root)


def open_place(disk: Disk, root: int, folder: str) -> int | None:
    """A descriptor of one of a notebook's folders; the root's own for ''; None where there is none we may look into."""
    if not folder:
        return root
    try:
        return disk.open_dir(folder, root)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return None
    except OSError as problem:
        if problem.errno in LINKED:
            return None
        raise


def read_whole(disk: Disk, fd: int, cap: int) -> bytes:
    """All bytes of a file, up to one more than the cap."""
    chunks: list[bytes] = []
    size = 0
    while size <= cap:
        chunk = disk.read(fd, cap + 1 - size)
        if not chunk:
            break
        chunks.append(chunk)
        size += len(chunk)
    return b"".join(chunks)


def pulse_of(disk: Disk, root: int) -> Pulse:
    """Which folders a notebook has, and when each last changed: with every entry made, renamed or removed.

    By ctime, which follows mtime and which no tool that restores times can set back.
    """
    held = disk.stat_fd(root)
    marks = [held.st_ino, held.st_ctime_ns]
    for folder in PLACES[1:]:
        try:
            found = disk.stat(folder, root)
        except FileNotFoundError:
            marks += (0, 0)
        else:
            marks += (found.st_ino, found.st_ctime_ns if stat.S_ISDIR(found.st_mode) else 0)
    return tuple(marks)


def mark_of(folders: Sequence[Folder], log: str) -> str:
    """One value for what a look found of a notebook's files, folder by folder, and for the log that tells of them.

    Its first word stands for their names, each other one for the states of so many. '' where a number is too large
    for it: such files are compared one by one.
    """
    names = "\0".join((log, *("/".join(folder.files) for folder in folders)))
    states = array("q")
    try:
        for folder in folders:
            states.fromlist(folder.states)
    except OverflowError:
        return ""
    step = len(_STATED) * MARKED
    blocks = (states[at : at + step].tobytes() for at in range(0, len(states), step))
    return " ".join(digest(said).hex() for said in (names.encode("utf-8", "surrogateescape"), *blocks))


def differing(one: str, other: str) -> set[int] | None:
    """Which of so many files, by number, are in another state; None where there are others."""
    (names, *blocks), (other_names, *other_blocks) = one.split(" "), other.split(" ")
    if not names or names != other_names or len(blocks) != len(other_blocks):
        return None
    return {number for number, block in enumerate(blocks) if block != other_blocks[number]}


def _refuse(file: str, found: os.stat_result) -> None:
    if why := why_not(found.st_mode, found.st_size):
        raise BadFormat(f"{file} {why}")


def read_file(disk: Disk, at: int, file: str, folder: str) -> Raw | None:
    """The file of just this name in an open folder; None where there is none, or none in a folder closed to us.

    Raises:
        BadFormat: what is there cannot be a note.

    """
    try:
        seen = disk.stat(file, at)
    except FileNotFoundError:
        return None
    except PermissionError:
        if not folder:
            raise
        return None  # a folder that shows its names and not its files: as good as closed
    _refuse(file, seen)
    try:
        fd = disk.open_read(file, at)
    except FileNotFoundError:
        return None
    except PermissionError as problem:
        raise BadFormat(f"{file} may not be read; check its owner and mode") from problem
    except OSError as problem:
        if problem.errno in LINKED:
            raise BadFormat(f"{file} is a link, not a plain file; not read") from None
        raise
    try:
        held = disk.stat_fd(fd)
        _refuse(file, held)
        source = read_whole(disk, fd, FILE_BYTES)
    finally:
        disk.close(fd)
    return Raw(folder, source, stat.S_IMODE(held.st_mode), signature_of(held))
