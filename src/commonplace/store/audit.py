"""Audit: every byte of what the store keeps beside the notes, looked at, and what is not as it should be.

It changes nothing and makes no file. Nothing is followed through a link, and nothing is read past a cap. It knows the
control folder and the modes of what lies beside it; what a note says is read elsewhere.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import NamedTuple

from commonplace.note.format import stamp_of
from commonplace.note.limits import FILE_BYTES
from commonplace.store import log
from commonplace.store.chain import Asked, Chain, judge
from commonplace.store.disk import Disk
from commonplace.store.locking import LOCK
from commonplace.store.looking import DAMAGE, LOG_BYTES, NOTE, WARNING, Finding, Look
from commonplace.store.paths import (
    CONTROL,
    FORMAT_FILE,
    HISTORY,
    INDEX,
    KEY,
    LOG,
    PLACES,
    TMP,
    kept_of,
    printable,
    shown,
    stem_of,
)
from commonplace.store.publish import SHELF
from commonplace.store.raw import Raw, open_notebook, open_place, read_file, sort_of
from commonplace.store.surroundings import surroundings
from commonplace.store.trouble import told
from commonplace.store.turn import FORMAT

_LOG, _HISTORY, _TMP = (f"{CONTROL}/{name}" for name in (LOG, HISTORY, TMP))
FILES = (FORMAT_FILE, LOCK, KEY, LOG)
FOLDERS = (TMP, HISTORY)
# The format and key files are a few bytes; this much tells that one is not.
_SMALL = 256


class Audit(NamedTuple):
    """What an audit found."""

    findings: tuple[Finding, ...]
    looked_at: int
    begun: bool  # somebody has written here with our tools, in a format we know
    vouched: Mapping[str, bool] | None
    """The notes whose bytes the log knows: whether by a line that is sound. None where it cannot be told."""


class Auditor:
    """What the store of a notebook keeps beside the notes."""

    def __init__(self, path: str, disk: Disk) -> None:
        self.path = path
        self.disk = disk

    def audit(self, stamps: Mapping[str, str]) -> Audit:
        """Look at all of it. `stamps` has that of each note there is."""
        look = Look(self.disk)
        with told(self.path, "checking it"), open_notebook(self.disk, self.path) as root:
            if root is None:
                return Audit((), 0, begun=False, vouched=None)
            _beside(look, root)
            begun, vouched = _control(look, root, stamps)
        findings = (*look.told(), *surroundings(self.disk, self.path))
        return Audit(findings, look.looked_at, begun, vouched)

    def index(self) -> Raw | None:
        """The index that stands beside the notes; None where there is none.

        Raises:
            BadFormat: what is there is none anybody could read.

        """
        with told(self.path, f"reading {INDEX}"), open_notebook(self.disk, self.path) as root:
            return None if root is None else read_file(self.disk, root, INDEX, "")

    def quiet(self) -> bool:
        """Whether no writer holds the lock just now."""
        look = Look(self.disk)
        with told(self.path, "looking for writers"), open_notebook(self.disk, self.path) as root:
            if root is None:
                return True
            with look.folder(CONTROL, root, CONTROL) as control:
                if control is None:
                    return True
                with look.unlocked(LOCK, control) as free:
                    return free


# --- beside the notes ----------------------------------------------------------------------------------------


def _beside(look: Look, root: int) -> None:
    """Whether others may look at the notes. A person's own modes are theirs; they are told, no more."""
    held = stat.S_IMODE(look.disk.stat_fd(root).st_mode)
    open_to_others = 0
    for place in PLACES:
        with suppress(OSError):  # what cannot be read of the notes is told where they are read
            open_to_others += _readable(look, root, place, held)
    if held & 0o077:
        may = "change" if held & 0o022 else "look into"
        what = f"others may {may} it (mode {held:04o}), and read {open_to_others:,} files in it"
        cure = "if that is not meant, `commonplace doctor --fix --private` closes it to them"
        look.tell("exposed", ".", what, cure, NOTE)


def _readable(look: Look, root: int, place: str, held: int) -> int:
    """How many notes in one of a notebook's folders the group or others may read."""
    at = open_place(look.disk, root, place)
    if at is None:
        return 0
    try:
        reach = held & stat.S_IMODE(look.disk.stat_fd(at).st_mode)
        modes: dict[str, int] = {}
        for file in look.disk.names(at):
            with suppress(FileNotFoundError):  # gone since
                modes[file] = look.disk.stat(file, at).st_mode
    finally:
        if at != root:
            look.disk.close(at)
    look.looked_at += sum(not stat.S_ISDIR(mode) for mode in modes.values())
    notes = (mode for file, mode in modes.items() if file == INDEX or stem_of(file) is not None)
    return sum(stat.S_ISREG(mode) and _may_read(mode, reach) for mode in notes)


def _may_read(mode: int, reach: int) -> bool:
    """Whether the group or others may read a file in a folder that lets this much through."""
    return bool((mode & 0o040 and reach & 0o010) or (mode & 0o004 and reach & 0o001))


# --- the control folder --------------------------------------------------------------------------------------

Known = dict[str, os.stat_result | None]
"""What of ours there is: None where it is not what it should be."""


def _control(look: Look, root: int, stamps: Mapping[str, str]) -> tuple[bool, Mapping[str, bool] | None]:
    try:
        found = look.disk.stat(CONTROL, root)
    except FileNotFoundError:
        return False, None
    if not stat.S_ISDIR(found.st_mode):
        _in_the_way(look, CONTROL, found, "a folder")
        return False, None
    look.mode(CONTROL, found, 0o700)
    with look.folder(CONTROL, root, CONTROL) as at:
        if at is None:
            return False, None
        known = _ours(look, at)
        if _later_format(look, at, known):
            return False, None
        key = _key(look, at, known)
        kept = _history(look, at, known)
        vouched = _log(look, at, known, key, kept, stamps)
        _staged(look, at, known)
    return FORMAT_FILE in known or LOG in known, vouched


def _ours(look: Look, at: int) -> Known:
    """The files and folders that belong there; anything else is told of."""
    known: Known = {}
    for name, found in look.entries(at, CONTROL):
        where = f"{CONTROL}/{printable(name)}"
        if name not in FILES and name not in FOLDERS:
            look.stranger(where, name, found)
        elif stat.S_ISREG(found.st_mode) if name in FILES else stat.S_ISDIR(found.st_mode):
            look.mode(where, found, 0o600 if name in FILES else 0o700)
            known[name] = found
        else:
            _in_the_way(look, where, found, "a plain file" if name in FILES else "a folder")
            known[name] = None
    return known


def _in_the_way(look: Look, where: str, found: os.stat_result, wanted: str) -> None:
    what = f"is {sort_of(found.st_mode)}, where {wanted} of ours belongs"
    look.tell("control", where, what, "move it away; nothing can be saved before", DAMAGE)


def _later_format(look: Look, at: int, known: Known) -> bool:
    where = f"{CONTROL}/{FORMAT_FILE}"
    if known.get(FORMAT_FILE) is None:
        written = known.get(LOG)
        if FORMAT_FILE not in known and written and written.st_size and not look.failures:
            look.tell("format", where, "is gone", "the next save writes it; nothing is lost", WARNING)
        return False
    data = b"".join(look.pieces(FORMAT_FILE, at, where, _SMALL))
    if look.failures:
        return False
    text = data.decode("ascii", "replace").strip()
    if text.isdigit() and int(text) > FORMAT:
        what = f"says {text[:20]}: a later Commonplace made the notebook, and what it keeps here was not looked at"
        look.tell("format", where, what, "upgrade, then look again: pip install -U commonplace", WARNING)
        return True
    if data != f"{FORMAT}\n".encode():
        what = f"says {shown(text)}, which is no format; the notebook is taken for one of format {FORMAT}"
        look.tell("format", where, what, f"write {FORMAT} and a line end into it", WARNING)
    return False


def _key(look: Look, at: int, known: Known) -> bytes | None:
    where, written = f"{CONTROL}/{KEY}", known.get(LOG)
    if KEY not in known and written and written.st_size and not look.failures:
        what = "is gone: the log vouches for nobody, and every note counts as changed by hand"
        cure = "bring it back from a backup before anything is saved: the next save makes another"
        look.tell("key", where, what, cure, DAMAGE)
    found = known.get(KEY)
    if found is None:
        return None
    if found.st_size != log.KEY_BYTES:
        what = f"has {found.st_size:,} bytes, and {log.KEY_BYTES} were made: the log may vouch for nobody"
        look.tell("key", where, what, "bring it back from a backup", DAMAGE)
        return None
    data = b"".join(look.pieces(KEY, at, where, _SMALL))
    return data if len(data) == log.KEY_BYTES else None


class _Kept(NamedTuple):
    """The versions in the history, by the names of their files, and the greatest number of one."""

    names: set[str]
    newest: int


def _history(look: Look, at: int, known: Known) -> _Kept | None:
    """Every version that was kept, read; None where there is no telling which are there."""
    if known.get(HISTORY) is None:
        return None if HISTORY in known else _Kept(set(), 0)
    versions: dict[str, int] = {}
    with look.folder(HISTORY, at, _HISTORY) as history:
        if history is None:
            return None
        for shelf, found in look.entries(history, _HISTORY):
            where = f"{_HISTORY}/{printable(shelf)}"
            if not stat.S_ISDIR(found.st_mode):
                look.stranger(where, shelf, found)
                continue
            look.mode(where, found, 0o700)
            with look.folder(shelf, history, where) as inner:
                if inner is not None:
                    versions.update(_shelf(look, inner, where, foreign=shelf == SHELF))
    return _Kept(set(versions), max(versions.values(), default=0))


def _shelf(look: Look, at: int, where: str, *, foreign: bool) -> Iterator[tuple[str, int]]:
    """The versions of one note, each with its number; 0 for what only has the name of one.

    Of indexes that others had made no hash is kept: they are read, and no more.
    """
    for file, found in look.entries(at, where):
        named, place = kept_of(file), f"{where}/{printable(file)}"
        if named is None and not foreign:
            look.stranger(place, file, found)
        elif not stat.S_ISREG(found.st_mode):
            what = f"is {sort_of(found.st_mode)}, where a version that was replaced belongs; it is not followed"
            look.tell("history", place, what, "remove it; bring the version back from a backup", DAMAGE)
        elif foreign:
            for _ in look.pieces(file, at, place):
                pass
        elif named is not None and not _is_version(look, at, file, found, place, named[1]):
            what = "holds other bytes than those it is named by: it was changed since it was kept"
            look.tell("history", place, what, "bring it back from a backup; undo does not use it as it is", DAMAGE)
        if named is not None:
            yield file, named[0] if stat.S_ISREG(found.st_mode) else 0


def _is_version(look: Look, at: int, file: str, found: os.stat_result, where: str, begins: str) -> bool:
    """Whether a file has the hash its name says; also where it cannot be read, which is told on its own."""
    if found.st_size > FILE_BYTES:
        return False
    source = b"".join(look.pieces(file, at, where, FILE_BYTES))
    return stamp_of(source).startswith(begins) or len(source) < found.st_size


def _log(
    look: Look, at: int, known: Known, key: bytes | None, kept: _Kept | None, stamps: Mapping[str, str]
) -> Mapping[str, bool] | None:
    found = known.get(LOG)
    if found is None:
        if LOG not in known and FORMAT_FILE in known and not look.failures:
            what = "is gone: how far the notes are to be trusted is not known, so they stand as `hand`, and undo knows nothing"
            cure = "bring it back from a backup before anything is saved; without one, the next save begins another"
            look.tell("log", _LOG, what, cure, DAMAGE)
        return None
    wanted = {(log.id_of(name, key), stamp): name for name, stamp in stamps.items()} if key else {}
    asked = Asked(key, wanted, kept.names if kept else None, found.st_size)
    chain = judge(look.pieces(LOG, at, _LOG), asked)
    if chain.torn:  # a writer may have been in the middle of it
        chain = judge(look.pieces(LOG, at, _LOG), asked)
    _tell_of(look, chain)
    if look.failures:
        return None
    _tell_of_end(look, chain, found.st_size, kept.newest if kept else 0)
    return None if key is None or chain.other_key else chain.vouched


def _tell_of(look: Look, chain: Chain) -> None:
    cure = "bring the log back from a backup; until then a hand's edit counts for as much as what is said there"
    for stretch in chain.stretches:
        words = f"{stretch.where} {'is' if stretch.first == stretch.last else 'are'} {stretch.what}"
        look.tell("log", f"{_LOG}:{stretch.first}", words, cure, DAMAGE)
    if chain.more:
        look.tell("log", _LOG, f"{chain.more:,} more places like these", cure, DAMAGE)
    if chain.first > 1:
        what = (
            "begins anew: the log before it was lost, so notes from then stand as `hand`, and undo does not reach them"
        )
        look.tell("log", f"{_LOG}:1", what, "nothing, if no backup has the old one", NOTE)
    if chain.other_key:
        what = f"is not the key the log was sealed with: none of its {chain.lines:,} lines vouches for anybody"
        look.tell("key", f"{CONTROL}/{KEY}", what, "bring it back from a backup", DAMAGE)
    if chain.lost and not look.failures:
        what = f"{len(chain.lost):,} replaced versions are not kept (line {chain.lost[0]} of the log tells of one)"
        cure = "bring them back from a backup, unless they were taken out on purpose; undo cannot go back to them"
        look.tell("history", _HISTORY, what, cure, WARNING)


def _tell_of_end(look: Look, chain: Chain, size: int, newest: int) -> None:
    where, cure = f"{_LOG}:{chain.lines + 1}", "move the log away; bring it back from a backup"
    if chain.endless or size > LOG_BYTES:
        what = f"is {size:,} bytes, and no log of ours: nothing from line {chain.lines + 1} on was looked at"
        look.tell("log", where, what, cure, DAMAGE)
    elif newest > chain.reach + 1:  # a writer may have died between the history and the log; not two in a row
        what = f"ends too early: a version is kept that entry {newest} replaced, and the last entry is {chain.reach}"
        look.tell("log", where, what, "bring the log back from a backup", DAMAGE)
    elif chain.torn:
        what = f"line {chain.lines + 1} has no end: a writer died over it, or the log was cut"
        look.tell("log", where, what, "the next save takes it away; compare a backup, if there is one", WARNING)


def _staged(look: Look, at: int, known: Known) -> None:
    """What writers that died have left of new bytes. Where one is at work, all of it may be its own."""
    if known.get(TMP) is None:
        return
    with look.unlocked(LOCK, at) as free, look.folder(TMP, at, _TMP) as tmp:
        if not free or tmp is None:
            return
        found = look.entries(tmp, _TMP)
    left = [name for name, seen in found if not stat.S_ISDIR(seen.st_mode)]
    for name, seen in found:
        if name not in left:
            look.stranger(f"{_TMP}/{printable(name)}", name, seen)
    if left:
        what = f"{len(left)} left by writers that died ({printable(left[0])}): of a change that was not made"
        look.tell("staged", _TMP, what, "the next save takes that away", NOTE, fixable=True)
