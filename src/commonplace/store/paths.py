"""The one place where a name becomes a file name, and a file name a name. It opens nothing.

Names are flat: a note lies in the notebook itself or in one of a closed set of folders, never deeper.
"""

from __future__ import annotations

import re

from commonplace.errors import BadName
from commonplace.note.kind import FOLDERS
from commonplace.note.limits import NOT_NOTES

SUFFIX = ".md"
INDEX = "MEMORY.md"
CONTROL = ".commonplace"
LOG = "log.jsonl"  # in the control folder: every change, a line each
KEY = "key"  # in the control folder: what the log is sealed with
FORMAT_FILE = "format"  # in the control folder: made last, so that where it is, the rest was
TMP = "tmp"  # in the control folder: bytes on their way to the notes
HISTORY = "history"  # in the control folder: every version that was replaced or forgotten
PLACES = ("", *FOLDERS)

# How `kept_as` names a version.
_KEPT = r"([0-9]{6,})-([0-9a-f]{8})\.md"
# (These are compiled where they are met: most processes meet none of the files they are for.)
# What sync tools call the other side of a conflict: Syncthing, Dropbox, Nextcloud and ownCloud (two shapes),
# Seafile, Resilio, Unison and Tresorit, iCloud Drive's and Google Drive's "conflict" words.
_CONFLICT = (
    r"(?i)(?P<of>.+?)(?:"
    r"\.sync-conflict-\d{8}-\d{6}(?:-[A-Z0-9]{1,16})?"
    r"|[ _-]\((?:[^()]{0,80} )?(?:conflicted copy|conflict copy|SFConflict|conflict(?=\)|[^()]*[\d#]))[^()]{0,80}(?:\(\d{1,3}\))?\)(?: \(\d{1,3}\))?"
    r"|_conflict-\d{8}-\d{6}"
    r"|\.[Cc]onflict(?:ed)?(?:\.\d+)?"
    r")"
)
# Names as our own slugs are: nothing more to ask of them. (Ten thousand are looked at on every call.)
_PLAIN = re.compile(r"[a-z0-9][a-z0-9-]{0,99}\.md")
# The Go harness's other store: beside its sessions it would hide what it holds without a word.
_LINES = "memory.jsonl"
# What editors and half-finished transfers leave behind.
_LEFTOVER = (
    r"(?is)\..*\.sw[a-px]|.*~|#.*#|\.#.*|.*\.(?:tmp|bak|orig|part|crdownload|swp|rej)|\.~lock\..*#|\.goutputstream-.*"
)


def file_of(name: str) -> str:
    """The file a note of this name lies in.

    Raises:
        BadName: the name is not one a note can have.

    """
    if stem_of(name + SUFFIX) != name:
        raise BadName(f"{shown(name)} is not a note's name; `commonplace list` shows the names there are")
    return name + SUFFIX


def place_of(name: str, folder: str) -> str:
    """Where a note lies, seen from its notebook: for messages and links, not for opening."""
    return f"{folder}/{name}{SUFFIX}" if folder else name + SUFFIX


def shelf_of(name: str) -> str:
    """The folder in the history that keeps a note's old versions."""
    file_of(name)
    return name


def kept_as(number: int, stamp: str) -> str:
    """The name an old version goes by in the history: the log entry that replaced it, and its hash."""
    return f"{number:06d}-{stamp[:8]}{SUFFIX}"


def kept_of(file: str) -> tuple[int, str] | None:
    """The number and the beginning of the hash in the name of an old version; None where it is no such name."""
    found = re.fullmatch(_KEPT, file)
    return (int(found[1]), found[2]) if found else None


def stem_of(file: str) -> str | None:
    """The name of the note in a file of this name; None where it holds no note of ours."""
    if _PLAIN.fullmatch(file) and file[: -len(SUFFIX)] not in NOT_NOTES:
        return file[: -len(SUFFIX)]
    if not file.endswith(SUFFIX) or file == INDEX:
        return None
    from commonplace.note.slug import usable_stem

    stem = file[: -len(SUFFIX)]
    return stem if usable_stem(stem) and not re.fullmatch(_CONFLICT, stem) else None


def oddity_of(file: str) -> str:
    """Why a file that holds no note is worth a word; '' for what may lie there in silence."""
    if re.fullmatch(_LEFTOVER, file):
        return "left behind by an editor or a transfer; not read. Delete it if nothing is missing"
    if file == _LINES:
        return "notes as lines of JSON, as the Go harness keeps them; not read here. Save what should stay, a note each"
    if file.startswith(".") or not file.lower().endswith(SUFFIX) or file == INDEX:
        return ""
    stem = file[: -len(SUFFIX)]
    found = re.fullmatch(_CONFLICT, stem)
    if found:
        copy = f"a sync tool's conflict copy of {shown(found['of'] + SUFFIX)}"
        return f"{copy}; not read. Put the two together, as `commonplace doctor` says"
    if stem.casefold() in NOT_NOTES:
        return ""
    return "a name no note can have; not read. Rename it to letters, digits and hyphens, ending in .md"


def copied_from(file: str) -> str:
    """The file, of any kind, that this one is a sync tool's conflict copy of; '' where its name says no such thing."""
    stem, dot, kind = file.rpartition(".")
    for name, rest in ((stem, dot + kind), (file, "")):
        if found := re.fullmatch(_CONFLICT, name):
            return found["of"] + rest
    return ""


def printable(file: str) -> str:
    """A file name as text that can be shown and stored: what is no letter, not UTF-8 or would move a cursor, escaped."""
    return file if file.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in file)


def shown(text: str) -> str:
    """A file name as a message may show it: quoted, short, nothing raw."""
    return repr(text if len(text) <= 80 else text[:79] + "…").encode("utf-8", "backslashreplace").decode()
