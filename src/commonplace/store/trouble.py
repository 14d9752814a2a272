"""Trouble with the disk, told as what happened, where, and what to do next. The one place that puts errno values into words."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from commonplace.errors import DiskFailed, DiskFull, Obstructed, ReadOnly, StoreError

_FULL = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EFBIG))
_DENIED = frozenset((errno.EROFS, errno.EACCES, errno.EPERM))
_IN_THE_WAY = frozenset((errno.ELOOP, errno.ENOTDIR, errno.EISDIR, errno.EEXIST))
_OUT_OF_FILES = frozenset((errno.EMFILE, errno.ENFILE))


@contextmanager
def told(where: str, doing: str) -> Iterator[None]:
    """Turn what the system refuses inside into the error a person can act on."""
    try:
        yield
    except OSError as problem:
        raise _story(problem, where, doing) from problem


def unsure(problem: OSError, where: str, name: str) -> DiskFailed:
    """The error of a change that is made and can be neither kept for certain nor taken back."""
    return DiskFailed(
        f"the disk failed under {where} ({problem.strerror}) while keeping {name!r}, and again while putting it back; "
        f"the change may stand or not. Check the disk, then read {name!r} to see"
    )


def _story(problem: OSError, where: str, doing: str) -> StoreError:
    what, number = problem.strerror or str(problem), problem.errno
    if isinstance(problem.filename, str) and problem.filename != where:
        what = f"{problem.filename!r}: {what}"
    if number == errno.ENOTDIR and problem.filename == where:
        return Obstructed(
            f"{where} is a file, or lies in one, and a notebook is a directory; nothing was changed. Name a directory"
        )
    if number == errno.ENAMETOOLONG:
        return Obstructed(
            f"a name in {where[:200]!r} is longer than this disk takes, while {doing}; nothing was changed. Name a shorter one"
        )
    if number in _FULL:
        return DiskFull(f"no room left for {where} ({what}) while {doing}; nothing was changed. Free some space")
    if number in _DENIED:
        return ReadOnly(
            f"{where} may not be used so ({what}) while {doing}; nothing was changed. Check its owner and modes"
        )
    if number in _IN_THE_WAY:
        return Obstructed(
            f"something stands in the way in {where} ({what}) while {doing}; nothing was changed. Move it"
        )
    if number in _OUT_OF_FILES:
        return DiskFailed(
            f"too many open files ({what}) while {doing} in {where}; nothing was changed. Raise `ulimit -n`"
        )
    return DiskFailed(f"the disk failed under {where} ({what}) while {doing}. Check the disk; then try again")
