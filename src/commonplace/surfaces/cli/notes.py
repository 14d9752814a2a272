"""Commands for a note at a time: remember, recall, list, show, edit, forget, pin."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace as changed
from datetime import date
from itertools import count
from shlex import quote
from typing import Any, Literal, TextIO

import click

from commonplace.care.links import on_behalf
from commonplace.guard.text import one_line
from commonplace.note.kind import KINDS
from commonplace.outcomes import Conflict, Forgotten, Saved
from commonplace.store.base import AGENT, PERSON
from commonplace.surfaces import shown
from commonplace.surfaces.cli import finding
from commonplace.surfaces.cli.editing import edit_file
from commonplace.surfaces.cli.group import again, command, table_option
from commonplace.surfaces.cli.opened import DONE, Opened, print_no
from commonplace.surfaces.cli.options import FILTERS, RECALL, SHARED

# A longer text is not put into a command to be copied.
_COPIED = 300
# More than this from a pipe is no note; it is refused without being read to its end.
_STDIN_CHARS = 64 * 1024

_SORTS = "; ".join(f"{kind}: {row.answers}" for kind, row in KINDS.items())
_KIND = click.option("--kind", "-k", metavar="KIND", help=f"What it tells (else project). {_SORTS}.")


def note_name(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:  # noqa: ARG001 - as click asks
    """The names a shell offers for what was begun."""
    from commonplace.open import open_memory

    memory = open_memory(ctx.params.get("directory"))
    names = [note.name for note in memory.notes().notes if note.name.startswith(incomplete)]
    return [name for name in names if one_line(name) == name]  # others are for nobody to type


def filled(cure: str) -> Callable[[click.Context, click.Parameter, Any], Any]:
    """What lets no empty word through, as an unset variable of a shell leaves one."""

    def check(ctx: click.Context, param: click.Parameter, given: Any) -> Any:
        if any(word is not None and not word.strip() for word in (given if isinstance(given, tuple) else (given,))):
            what = param.human_readable_name if isinstance(param, click.Argument) else param.opts[0]
            raise click.UsageError(f"{what} is empty; {cure}", ctx)
        return given

    return check


THERE = filled("`commonplace list` shows the names there are")
NAME = click.argument("name", shell_complete=note_name, callback=THERE)


@command(
    "remember",
    click.argument("text", nargs=-1, required=True),
    click.option(
        "--name",
        "-n",
        metavar="NAME",
        help="What to call it; the same name corrects the same note.",
        callback=filled("leave it out to have one made from the text"),
    ),
    click.option(
        "--description", "-d", metavar="LINE", help="One line saying what it is about (else the first sentence)."
    ),
    click.option("--title", metavar="TITLE", help="What the index shows it as (else from the name or the text)."),
    _KIND,
    click.option(
        "--tag", "-t", "tags", multiple=True, metavar="TAG", help="A tag; may be repeated. '' takes all away."
    ),
    click.option(
        "--expires", metavar="DATE", help="Leave it out of the index after this day (3d: in three days); or never."
    ),
    click.option(
        "--supersedes",
        multiple=True,
        metavar="NAME",
        help="A note this one corrects; may be repeated. '' takes all away.",
    ),
    click.option("--pin/--no-pin", "pinned", default=None, help="Put it before others in the index."),
    click.option("--expect", metavar="STAMP", help="Only if the note still has this stamp (see show --json)."),
    click.option("--replace", is_flag=True, help="Replace whatever has this name."),
    click.option("--mine", is_flag=True, help="It is your own word, though it comes through a pipe."),
    waits=True,
)
def remember(
    opened: Opened, text: tuple[str, ...], name: str | None, description: str | None, title: str | None, kind: str | None,
    tags: tuple[str, ...], expires: str | None, supersedes: tuple[str, ...], pinned: bool | None, expect: str | None,
    replace: bool, mine: bool,
) -> int:  # fmt: skip
    """Save a fact. TEXT is the fact, or - to read it from stdin.

    What is not typed at a terminal counts as an agent's word, unless you say --mine.
    """
    if kind is not None:
        finding.kind_word(kind, tuple(KINDS))
    call = opened.call(mine=mine)
    day: date | Literal["never"] | None = "never" if expires == "never" else finding.day_of(opened, expires, ahead=True)
    outcome = opened.memory.save(
        text_of(text), name=name, description=description, title=title, kind=kind, tags=tags or None, expires=day,
        supersedes=supersedes or None, pinned=pinned, expect=expect, replace=replace, call=call,
    )  # fmt: skip
    if isinstance(day, date) and day < opened.memory.today():
        shown.complain(f"{day} is past, so the note is not in the index")
    if isinstance(outcome, Saved):
        return print_saved(opened, outcome)
    ways = _ways(opened, outcome, expected=expect is not None) if isinstance(outcome, Conflict) else ()
    return print_no(opened, outcome, ways)


@command("recall", click.argument("query", nargs=-1), *map(table_option, RECALL[: -len(SHARED)]))
def recall(opened: Opened, query: tuple[str, ...], **given: Any) -> None:
    """Find the notes that answer a question, best first.

    With --for-path, --for-command or --for-tool: the notes that say they apply there (`applies_to` in their header).
    """
    finding.recall(opened, query, **given)


@command("list", *map(table_option, FILTERS))
def list_(opened: Opened, kinds: tuple[str, ...], tags: tuple[str, ...], since: str | None) -> None:
    """List the notes, by kind."""
    finding.listed(opened, kinds, tags, since)


@command("show", NAME)
def show(opened: Opened, name: str) -> None:
    """Print a note whole, and the notes that link to it."""
    finding.show(opened, name)


@command("edit", NAME, waits=True)
def edit(opened: Opened, name: str) -> int:
    """Edit a note's file in your own editor."""
    return edit_file(opened, name, print_saved, print_no)


@command("forget", NAME)
def forget(opened: Opened, name: str) -> int:
    """Take a note out of the notebook. Its last version stays in the history.

    For a secret that must be gone for good, delete its folder in .commonplace/history as well.
    """
    outcome = opened.memory.forget(name, call=opened.call())
    return print_no(opened, outcome) if isinstance(outcome, Conflict) else _print_forgotten(opened, outcome)


@command("pin", NAME)
def pin(opened: Opened, name: str) -> int:
    """Put a note before others in the index."""
    return _pinned(opened, name, pinned=True)


@command("unpin", NAME)
def unpin(opened: Opened, name: str) -> int:
    """Let a note stand in the index by its own worth again."""
    return _pinned(opened, name, pinned=False)


# --- what they print -----------------------------------------------------------------------------------------


def print_saved(opened: Opened, saved: Saved, updated: str = "updated") -> int:
    """Print what a save did, in the word there is for it, and how to take it back."""
    if opened.json:
        shown.say_json(shown.saved_json(saved, opened.memory.where))
        return DONE
    by = f", by {saved.by}" if saved.by not in ("", PERSON) else ""
    done = updated if saved.outcome == "updated" else saved.outcome
    shown.say_line(f"{done} {saved.name} ({saved.note.kind}{by}): {saved.note.description}")
    shown.say(f"{saved.file}\n{saved.room}", to_error=True)
    if saved.outcome == "created":
        shown.say(f"to take it back: commonplace forget {quote(saved.name)}{opened.at}", to_error=True)
    elif saved.kept:
        shown.say(f"to take it back: commonplace undo {quote(saved.name)}{opened.at}", to_error=True)
    print_warnings(saved.warnings)
    if saved.by == AGENT and opened.sees and not shown.is_terminal(sys.stdin):
        shown.say_line("it was not typed here, so it counts as an agent's word; --mine makes it yours", to_error=True)
    if saved.alike:
        shown.complain(f"{saved.alike} begins the same; if this corrects it:")
        shown.say(f"  {_correction(opened, saved)}", to_error=True)
    return DONE


def _correction(opened: Opened, saved: Saved) -> str:
    """The command that lets a new note be the correction of one that begins the same."""
    old, new = quote(saved.alike), quote(saved.name)
    if _short(saved.note.body):
        return f"commonplace merge {old} {new} --text={quote(saved.note.body)}{opened.at}"
    return f"commonplace forget {old}{opened.at} && commonplace rename {new} {old}{opened.at}"


def _short(text: str) -> bool:
    """Whether a text can stand in a command line to be copied."""
    return len(text) <= _COPIED and one_line(text) == text


def _ways(opened: Opened, conflict: Conflict, *, expected: bool) -> list[str]:
    """The ways on from a save that was not made, each with the command that goes it."""
    text = conflict.ours if _short(conflict.ours) else "-"
    if conflict.theirs is None:
        ways = [f"to save it anew: {again(text=(text,), expect=None)}"]
    else:
        there = again(text=(text,), expect=conflict.theirs.stamp if expected else None, replace=not expected)
        other = again(text=(text,), expect=None, replace=False, name=free_name(opened, conflict.name))
        ways = [f"to put yours in its place: {there}", f"to keep both: {other}"]
    return [*ways, "with the text again on stdin"] if text == "-" else ways


def free_name(opened: Opened, name: str) -> str:
    """A name that is like one another note has, and that none has."""
    there = {note.name for note in opened.memory.notes().notes}
    return next(free for number in count(2) if (free := f"{name}-{number}") not in there)


def print_warnings(warnings: Sequence[str]) -> None:
    """Tell what was odd about a change that was made."""
    for warning in warnings:
        shown.complain(warning)


def _print_forgotten(opened: Opened, gone: Forgotten) -> int:
    kept = os.path.join(opened.memory.where, gone.kept) if gone.kept else ""
    if opened.json:
        shown.say_json({
            "outcome": "deleted", "name": gone.name, "kept": kept, "room": shown.room_json(gone.room),
            "warnings": list(gone.warnings),
        })  # fmt: skip
        return DONE
    shown.say_line(f"forgot {gone.name}: {gone.note.description}")
    if kept:
        shown.say(f"its last version is kept: {kept}", to_error=True)
        shown.say(f"to bring it back: commonplace undo {quote(gone.name)}{opened.at}", to_error=True)
    print_warnings(gone.warnings)
    return DONE


# --- what they read ------------------------------------------------------------------------------------------


def text_of(words: tuple[str, ...]) -> str:
    """The text a person gave: the words, or what comes on stdin for a single dash."""
    if words != ("-",):
        return " ".join(words)
    if shown.is_terminal(sys.stdin):
        shown.say("type the fact, then Ctrl-D on a line of its own", to_error=True)
    try:
        raw = _waited_for(sys.stdin) if sys.stdin else b""
    except OSError as problem:
        raise click.UsageError(f"stdin cannot be read: {problem.strerror}") from None
    try:
        return raw.decode()
    except UnicodeDecodeError as problem:
        if len(raw) == _STDIN_CHARS:  # cut in the middle of a letter, and far too long anyway
            return raw.decode(errors="ignore")
        raise click.UsageError(
            f"stdin is not UTF-8 (byte {problem.start}); convert it, for example with iconv"
        ) from None


def _waited_for(stdin: TextIO) -> bytes:
    """What comes on stdin, to its end: a pipe that is set not to wait would seem to end early."""
    with suppress(OSError, ValueError):
        os.set_blocking(stdin.fileno(), True)
    return stdin.buffer.read(_STDIN_CHARS)


def _pinned(opened: Opened, name: str, *, pinned: bool) -> int:
    found = opened.memory.find(name)
    call = on_behalf(opened.call(), found)  # the words stay theirs
    saved = opened.memory.keep(changed(found.note, pinned=pinned), expect=found.note.stamp, call=call)
    return print_saved(opened, saved, "pinned" if pinned else "unpinned")
