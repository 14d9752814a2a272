"""The one write function: every create, correction and deletion of a note reaches the disk through `commit`.

The order is the promise. Stage the new bytes and sync them; link the old version into the history; log the intent
and sync it; rename, and sync the directory. A kill anywhere leaves the old note or the new, never half; an intent
whose bytes are not on the disk is void. It knows bytes and names, not what a note says.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from commonplace.errors import Changed, NotFound
from commonplace.named import NamedTuple
from commonplace.note.format import stamp_of
from commonplace.store import log
from commonplace.store.base import UNSETTLED, Call, Pulse, Signature
from commonplace.store.disk import NO_LINKS, Disk
from commonplace.store.paths import CONTROL, HISTORY, LOG, file_of, kept_as, kept_of, shelf_of
from commonplace.store.raw import Raw, find, pulse_of, signature_of
from commonplace.store.trouble import unsure
from commonplace.store.turn import Turn, open_or_make, stage

# What the first change after the log was lost says.
BEGUN_ANEW = f"{CONTROL}/{LOG} was gone and is begun anew: nobody can say who wrote the notes before; `commonplace doctor` tells more"


class Wish(NamedTuple):
    """A change somebody wants, worked out before any lock was taken."""

    name: str
    data: bytes | None  # None takes the note away
    home: str  # the folder a new note goes to
    expect: str  # the stamp of what stands there now; '' for nothing
    call: Call
    now: Callable[[], float]  # asked under the lock, so that the log is in the order of its times


class Landed(NamedTuple):
    """A change on the disk, while the lock is still held."""

    outcome: str  # created, updated, deleted, unchanged
    folder: str
    source: bytes  # what stands under the name now; what stood there, after a delete
    signature: Signature
    before: Pulse
    kept: str
    warnings: tuple[str, ...] = ()


def commit(turn: Turn, wish: Wish) -> Landed:
    """Carry out a wish, if the note still stands as it expects.

    Raises:
        Changed: it does not; nothing was changed.
        NotFound: there is nothing to take away.

    """
    old = find(turn.disk, turn.root, wish.name)
    found = stamp_of(old.source) if old else ""
    if old is None and wish.data is None:
        raise NotFound(f"no note named {wish.name!r} in {turn.path}; `commonplace list` shows the names there are")
    if found != wish.expect:
        raise Changed(wish.name, wish.expect, found)
    before = pulse_of(turn.disk, turn.root)
    if old is not None and wish.data == old.source:
        return Landed("unchanged", old.folder, old.source, old.signature, before, "")
    folder = old.folder if old else wish.home
    at = turn.root if not folder else open_or_make(turn.disk, folder, turn.root)
    try:
        with _open_log(turn) as log_end:
            kept, signature = _land(turn, wish, old, at, folder, log_end)
    finally:
        if at != turn.root:
            turn.disk.close(at)
    warnings = (BEGUN_ANEW,) if log_end.anew else ()
    if wish.data is None:
        return Landed("deleted", folder, old.source if old else b"", signature, before, kept, warnings)
    return Landed("updated" if old else "created", folder, wish.data, signature, before, kept, warnings)


class _LogEnd(NamedTuple):
    """The log, open, and where its next entry goes."""

    fd: int
    tail: log.Tail
    anew: bool  # it was gone, and begins with that entry


@contextmanager
def _open_log(turn: Turn) -> Iterator[_LogEnd]:
    disk = turn.disk
    gone = not _is_there(disk, LOG, turn.control)  # it was made when the folder was laid out
    fd = disk.open_append(LOG, turn.control)
    try:
        tail = log.read_tail(disk, fd)
        yield _LogEnd(fd, tail._replace(number=_first_of_another(turn)) if gone else tail, gone)
    finally:
        disk.close(fd)


def _first_of_another(turn: Turn) -> int:
    """The number a log begins with in place of one that is gone: behind every version that is kept, and never 1.

    So that it can be told from a first one for as long as it is kept.
    """
    newest = 1
    for shelf in turn.disk.names(turn.history):
        with suppress(OSError):  # no folder of ours
            at = turn.disk.open_dir(shelf, turn.history)
            try:
                kept = filter(None, map(kept_of, turn.disk.names(at)))
                newest = max([newest, *(number for number, _ in kept)])
            finally:
                turn.disk.close(at)
    return newest + 1


def _land(turn: Turn, wish: Wish, old: Raw | None, at: int, folder: str, log_end: _LogEnd) -> tuple[str, Signature]:
    disk, file = turn.disk, file_of(wish.name)
    staged = "" if wish.data is None else stage(disk, turn.tmp, wish.data, old.mode if old else 0o600)
    try:
        tail = log_end.tail
        kept = _keep(turn, at, wish.name, old, tail.number) if old else ""
        log.append(disk, log_end.fd, tail, _entry(turn, wish, old, tail.number, folder), turn.key)
        made = signature_of(disk.stat(staged, turn.tmp)) if staged else UNSETTLED
        _look_again(turn, at, wish.name, old)
        try:
            if wish.data is None:
                disk.unlink(file, at)
            else:
                disk.rename(staged, turn.tmp, file, at)
            disk.sync_dir(at)
        except OSError as problem:
            _take_back(turn, at, wish, old, staged, problem)
            raise
    except BaseException:
        if staged:
            with suppress(OSError):
                disk.unlink(staged, turn.tmp)
        raise
    return kept, _signature(disk, at, file, made) if staged else UNSETTLED


def _look_again(turn: Turn, at: int, name: str, old: Raw | None) -> None:
    """Refuse if an editor has saved since we first looked: editors take no lock, and their text is nowhere else yet."""
    try:
        now = signature_of(turn.disk.stat(file_of(name), at))[:3]
    except FileNotFoundError:
        now = None
    if now != (old.signature[:3] if old else None):
        raise Changed(name, stamp_of(old.source) if old else "", "")


def _take_back(turn: Turn, at: int, wish: Wish, old: Raw | None, staged: str, problem: OSError) -> None:
    """Put back what stood there, if the change was made and cannot be kept: an error means no change."""
    disk, file = turn.disk, file_of(wish.name)
    try:
        if _is_there(disk, staged, turn.tmp) if staged else _is_there(disk, file, at):
            return  # it was not made
        if old is None:
            disk.unlink(file, at)
        else:
            disk.rename(stage(disk, turn.tmp, old.source, old.mode), turn.tmp, file, at)
    except OSError:
        raise unsure(problem, turn.path, wish.name) from problem


def _is_there(disk: Disk, file: str, at: int) -> bool:
    try:
        disk.stat(file, at)
    except FileNotFoundError:
        return False
    return True


def _signature(disk: Disk, at: int, file: str, made: Signature) -> Signature:
    """The signature of what we made, now that it is in its place; UNSETTLED if that is not what stands there any more.

    The change is on the disk: whatever hinders looking is no reason to say it is not.
    """
    try:
        now = signature_of(disk.stat(file, at))
    except OSError:
        return UNSETTLED
    return now if now[:3] == made[:3] else UNSETTLED  # the rename gave it a new ctime


def _entry(turn: Turn, wish: Wish, old: Raw | None, number: int, folder: str) -> log.Entry:
    micros = int(wish.now() * 1_000_000)
    at = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(micros // 1_000_000)) + f".{micros % 1_000_000:06d}Z"
    new = "" if wish.data is None else stamp_of(wish.data)
    was = stamp_of(old.source) if old else ""
    op = "delete" if wish.data is None else "put"
    return log.Entry(number, at, op, log.id_of(wish.name, turn.key), new, was, wish.call, folder)


def _keep(turn: Turn, at: int, name: str, old: Raw, number: int) -> str:
    """Give the version that is about to go a second name in the history, and sync that."""
    disk, kept = turn.disk, kept_as(number, stamp_of(old.source))
    shelf = open_or_make(disk, shelf_of(name), turn.history)
    try:
        try:
            disk.link(file_of(name), at, kept, shelf)
        except FileExistsError:
            pass  # left by a writer that failed at this very entry: the same bytes
        except OSError as problem:
            if problem.errno not in NO_LINKS:
                raise  # without links, the old bytes are copied
            disk.rename(stage(disk, turn.tmp, old.source, old.mode), turn.tmp, kept, shelf)
        else:
            # The ctime is the link's own; the rest tells whether an editor saved between our look and our link.
            if signature_of(disk.stat(kept, shelf))[:3] != old.signature[:3]:
                disk.unlink(kept, shelf)
                raise Changed(name, stamp_of(old.source), "")
        disk.sync_dir(shelf)
    finally:
        disk.close(shelf)
    return f"{CONTROL}/{HISTORY}/{name}/{kept}"
