"""The one place that writes to a terminal, and the shapes `--json` prints. Notes reach a screen through `say` alone."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date

from commonplace.guard.text import cleaned, one_line
from commonplace.store.base import Problem

# A terminal narrower than this is left to fold lines as it does.
_FOLDABLE = 20
# (Patterns as text: most processes print nothing that must be folded, and need none of them.)
_WORDS = r"\s+|(?:`[^`]*`|[^\s`]|`)+\s*"
_SPACED = r"\S+\s*|\s+"
_BULLET = r"\s*(?:[-*+>] |\d{1,3}[.)] )?"
# What begins no line: it belongs to what stands before it.
_CLOSING = frozenset(" 、。，．：；！？）］｝」』】〉》〕ーっッゃゅょャュョ々…")
_AT_IT = "commonplace: reading the notes, {} s"

TYPE_CHECKING = False
if TYPE_CHECKING:
    from threading import Event
    from typing import Any, TextIO

    from commonplace.care.claims import Checked
    from commonplace.care.doctor import Examination, Mended
    from commonplace.note.note import Note
    from commonplace.outcomes import Conflict, Room, Saved
    from commonplace.recall.hit import Hit, Recall


class Unheard(Exception):
    """What was printed could not be written, and why; '' where its reader has gone, as `| head` does."""


def say(text: str, *, to_error: bool = False) -> None:
    """Print text that may come from a note: nothing in it moves a cursor, changes a colour or hides."""
    _write(cleaned(text), to_error=to_error)


def say_line(text: str, *, head: str = "", indent: int = 0, cut: bool = False, to_error: bool = False) -> None:
    """Print text that is one line whatever it holds; on a terminal, folded between words, or cut at its edge.

    `head` stands in the room of the indent.
    """
    text, room = one_line(text), _columns(sys.stderr if to_error else sys.stdout) - indent
    if room > 0 and cut:
        text = _cut(text, room)
    first, *rest = _folded(text, room) if room >= _FOLDABLE else [text]
    _write("\n".join((head.ljust(indent) + first, *(" " * indent + line for line in rest))), to_error=to_error)


def say_entry(name: str, text: str, *, indent: int) -> None:
    """Print a name and what it is, cut at a terminal's edge: below the name where that takes half the room.

    A name is never cut: it is what one types.
    """
    name, room = one_line(name), _columns(sys.stdout) - indent
    if room // 2 < _wide(name) and 0 < room < _wide(f"{name} {one_line(text)}"):
        _write(" " * indent + name, to_error=False)
        say_line(text, indent=2 * indent, cut=True)
    else:
        say_line(f"{name} {text}", indent=indent, cut=True)


def say_prose(text: str) -> None:
    """Print a note's text; on a terminal its lines are folded between words, but for code and tables."""
    room, code, lines = _columns(sys.stdout), False, list[str]()
    for line in cleaned(text).split("\n"):
        code ^= line.lstrip().startswith(("```", "~~~"))
        whole = code or room < _FOLDABLE or line.startswith(("    ", "\t", "|"))
        lines += [line] if whole else _folded(line, room, len(line) - len(re.sub(_BULLET, "", line, count=1)))
    _write("\n".join(lines), to_error=False)


def complain(text: str) -> None:
    """Print one line of what went wrong, or is odd."""
    say_line(f"commonplace: {text}", to_error=True)


def say_json(value: object) -> None:
    """Print one JSON document, in ASCII: no terminal can be moved by it, and every reader can read it."""
    import json

    _write(json.dumps(value, indent=2), to_error=False)


def flush() -> None:
    """Hand on what was printed: what goes wrong with it shows here, not after the last line of the program."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            with _heard(stream):
                stream.flush()


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a person sees, or types into, a stream. It may be closed."""
    return stream is not None and stream.isatty()


@contextmanager
def patience() -> Iterator[None]:
    """While something takes longer than a second, say on a terminal that it goes on, and for how long."""
    if not is_terminal(sys.stderr):
        yield
        return
    from threading import Event, Thread

    done, said = Event(), Event()
    waiting = Thread(target=_wait, args=(done, said), daemon=True)
    waiting.start()
    try:
        yield
    finally:
        done.set()
        waiting.join()
        if said.is_set():
            sys.stderr.write("\r" + " " * len(_AT_IT.format(0)) + "\r")


def _wait(done: Event, said: Event) -> None:
    seconds = 0
    while not done.wait(1.0):
        seconds += 1
        said.set()
        sys.stderr.write("\r" + _AT_IT.format(seconds))
        sys.stderr.flush()


def screenful() -> int:
    """How many lines of what is printed can be seen at once; 0 for any number, where it is no terminal."""
    if not is_terminal(sys.stdout):
        return 0
    from shutil import get_terminal_size

    return get_terminal_size().lines


def _columns(stream: TextIO | None) -> int:
    """How many columns a stream shows; 0 for any number, where it is no terminal."""
    if not is_terminal(stream):
        return 0
    from shutil import get_terminal_size

    return get_terminal_size().columns


def _folded(text: str, room: int, hang: int = 0) -> list[str]:
    """A line cut between words where it is longer than the terminal. A word that is longer itself stays whole."""
    if _wide(text) <= room:
        return [text]
    lines, line, taken = list[str](), "", 0
    for piece in _pieces(text, room - hang):
        if line.strip() and taken + _wide(piece.rstrip()) > room:
            lines.append(line.rstrip())
            line, taken = " " * hang, hang
        line, taken = line + piece, taken + _wide(piece)
    return [*lines, line.rstrip()]


def _pieces(text: str, room: int) -> Iterator[str]:
    """What a line may be cut between: words, commands in backticks, wide letters; each with the spaces behind it."""
    for word in re.findall(_WORDS, text):
        for part in re.findall(_SPACED, word) if _wide(word.rstrip()) > room else [word]:
            yield from _letters(part) if _is_wide(part) and len(part) > room // 2 else [part]


def _is_wide(word: str) -> bool:
    """Whether most of its letters are wide: those of scripts that put no spaces between words."""
    return _wide(word) > 1.5 * len(word)


def _letters(word: str) -> Iterator[str]:
    """A word cut where its letters are wide, but not before what closes a sentence or a bracket."""
    piece = ""
    for char in word:
        if piece and char not in _CLOSING and 2 in (_width(char), _width(piece[-1])):
            yield piece
            piece = ""
        piece += char
    yield piece


def _cut(text: str, room: int) -> str:
    taken = end = 0
    for at, char in enumerate(text):
        taken += _width(char)
        if taken < room:
            end = at + 1  # so far it fits beside the sign that more was there
        if taken > room:
            return text[:end] + "…"
    return text


def _wide(text: str) -> int:
    """How many columns a text takes."""
    return len(text) if text.isascii() else sum(map(_width, text))


def _width(char: str) -> int:
    from unicodedata import east_asian_width

    return 2 if east_asian_width(char) in "WF" else 1


def _write(text: str, *, to_error: bool) -> None:
    stream = sys.stderr if to_error else sys.stdout
    if stream is not None:  # closed: nobody wants to know
        encoding = stream.encoding or "utf-8"
        with _heard(stream):
            stream.write(text.encode(encoding, "replace").decode(encoding) + "\n")


@contextmanager
def _heard(stream: TextIO) -> Iterator[None]:
    try:
        yield
    except OSError as problem:
        with open(os.devnull, "wb") as null:  # what still waits to be printed would fail again at the very end
            os.dup2(null.fileno(), stream.fileno())
        raise Unheard("" if isinstance(problem, BrokenPipeError) else str(problem.strerror)) from None


def note_json(note: Note, *, body: bool) -> dict[str, Any]:
    """A note as `--json` shows it."""
    out: dict[str, Any] = {
        "name": note.name,
        "title": note.title,
        "description": note.description,
        "kind": str(note.kind),
        "tags": list(note.tags),
        "created": _iso(note.created),
        "updated": _iso(note.updated),
        "expires": _iso(note.expires),
        "pinned": note.pinned,
        "applies_to": list(note.applies_to),
        "supersedes": list(note.supersedes),
        "session": note.session,
        "stamp": note.stamp,
    }
    return {**out, "body": note.body} if body else out


def saved_json(saved: Saved, notebook: str) -> dict[str, Any]:
    """A save as `--json` shows it."""
    return {
        "outcome": saved.outcome,
        "name": saved.name,
        "kind": str(saved.note.kind),
        "description": saved.note.description,
        "file": saved.file,
        "notebook": notebook,
        "stamp": saved.note.stamp,
        "kept": os.path.join(notebook, saved.kept) if saved.kept else "",
        "by": saved.by,
        "alike": saved.alike,
        "room": room_json(saved.room),
        "warnings": list(saved.warnings),
    }


def conflict_json(conflict: Conflict) -> dict[str, Any]:
    """A conflict as `--json` shows it: both texts."""
    theirs = note_json(conflict.theirs, body=True) if conflict.theirs else None
    return {"outcome": "conflict", "name": conflict.name, "why": conflict.why, "ours": conflict.ours, "theirs": theirs}


def recall_json(recall: Recall) -> dict[str, Any]:
    """A recall as `--json` shows it."""
    guessed = [{"typed": typed, "read": read} for typed, read in recall.guessed]
    hits = [_hit_json(hit) for hit in recall.hits]
    return {"hits": hits, "more": recall.more, "took_ms": recall.took_ms, "guessed": guessed}


def room_json(room: Room) -> dict[str, int]:
    """How full the index is."""
    return {
        "lines": room.lines, "lines_most": room.lines_most, "bytes": room.bytes, "bytes_most": room.bytes_most,
        "left_out": room.left_out,
    }  # fmt: skip


def problem_json(problem: Problem) -> dict[str, Any]:
    """What is wrong with a file."""
    return {"file": problem.file, "what": problem.what, "unread": problem.unread}


def examination_json(examination: Examination, mended: tuple[Mended, ...]) -> dict[str, Any]:
    """What a doctor found, and what was mended first."""
    return {
        "sound": examination.sound, "looked_at": examination.looked_at,
        "findings": [finding._asdict() for finding in examination.findings],
        "mended": [one._asdict() for one in mended],
    }  # fmt: skip


def say_examination(examination: Examination, mended: tuple[Mended, ...], *, as_json: bool) -> None:
    """Print what a doctor found: what and where, and under it what to do."""
    if as_json:
        return say_json(examination_json(examination, mended))
    for one in mended:
        say_line(f"{'mended' if one.done else 'not mended'} {one.check}: {one.what}")
    for found in examination.findings:
        say_line(f"{found.severity} {found.check} {found.where}: {found.what}")
        say_line(found.cure, indent=2)
        if found.command:
            say(f"  {one_line(found.command)}")  # not folded: it can be copied
    files, findings = _so_many(examination.looked_at, "file"), _so_many(len(examination.findings), "finding")
    return say(f"{files} looked at, {findings}")


def checked_json(checked: Sequence[Checked], workspace: str) -> dict[str, Any]:
    """What has become of the claims of notes."""
    return {
        "workspace": workspace, "counts": _counted(checked),
        "notes": [
            {"name": one.name, "claims": [
                {"text": verdict.claim.text, "kind": verdict.claim.kind, "state": verdict.state, "detail": verdict.detail}
                for verdict in one.verdicts
            ]}
            for one in checked
        ],
    }  # fmt: skip


def say_checked(checked: Sequence[Checked], workspace: str, *, as_json: bool) -> None:
    """Print the claims of notes that do not hold any more, note by note, and how many there are of each."""
    if as_json:
        return say_json(checked_json(checked, workspace))
    for one in checked:
        if one.broken:
            say_line(one.name)
        for verdict in one.broken:
            told = f": {verdict.detail}" if verdict.detail not in ("", verdict.state) else ""
            say_line(f"{verdict.state} {verdict.claim.kind} {verdict.claim.text}{told}", indent=2)
    counts = _counted(checked)
    of_them = ", ".join(f"{counts[state]:,} {word}" for state, word in _STATES.items())
    return say(f"{_so_many(len(checked), 'note')}: {of_them}")


# The words for what has become of claims, when they are counted.
_STATES = {"holds": "hold", "changed": "changed", "gone": "gone", "unknown": "not known"}


def _counted(checked: Sequence[Checked]) -> dict[str, int]:
    states = [verdict.state for one in checked for verdict in one.verdicts]
    return {state: states.count(state) for state in _STATES}


def _so_many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _hit_json(hit: Hit) -> dict[str, Any]:
    return {
        "name": hit.name, "title": hit.title, "description": hit.description, "kind": str(hit.kind), "where": hit.where,
        "score": hit.score, "reasons": list(hit.reasons), "age": hit.age, "trust": hit.trust, "excerpt": hit.excerpt,
        "file": hit.file, "expired": hit.expired, "parts": dict(hit.parts),
        "claims": [{"text": text, "state": state, "detail": detail} for text, state, detail in hit.claims],
    }  # fmt: skip


def _iso(day: date | None) -> str | None:
    return day.isoformat() if day else None
