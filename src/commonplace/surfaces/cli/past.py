"""Commands for what happened: log, diff, undo, and for moving notes about: rename, merge."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from shlex import quote

import click

from commonplace.care import links, undo, versions
from commonplace.outcomes import Conflict, Refused
from commonplace.recall.asked import TIMES
from commonplace.surfaces import shown
from commonplace.surfaces.cli.group import again, command, look_again, table_option
from commonplace.surfaces.cli.notes import NAME, THERE, filled, free_name, note_name, print_warnings, text_of
from commonplace.surfaces.cli.opened import CONFLICT, DONE, REFUSED, Misuse, Opened, print_no
from commonplace.surfaces.cli.options import MOST_HITS, Option

_ONE = click.argument("name", required=False, shell_complete=note_name, callback=THERE)
_SESSION = filled("name the session that is meant")
_AT = click.option("--at", "moment", metavar="TIME", help="A date, a time, both, yesterday, '2 hours ago', or 2h.")
_MANY = Option(("--limit", "-l"), "limit", "number", default=20, metavar="N", help="At most so many (1 to 1000).")


@command("rename", NAME, click.argument("to", callback=filled("say what the note is to be called")))
def rename(opened: Opened, name: str, to: str) -> int:
    """Give a note another name. [[links]] to it follow."""
    outcome = links.rename(opened.memory, name, to, opened.call())
    ways: list[str] = []
    if isinstance(outcome, Conflict) and outcome.theirs is not None:
        both = f"commonplace merge {quote(outcome.theirs.name)} {quote(name)}{opened.at}"
        ways = [
            f"to put the two together: {both}",
            f"to take another name: {again(to=free_name(opened, outcome.name))}",
        ]
    return _moved(opened, outcome, "renamed", ways)


@command(
    "merge",
    NAME,
    click.argument("others", nargs=-1, required=True, shell_complete=note_name, callback=THERE),
    click.option(
        "--text", metavar="TEXT", help="What they become together; - reads it from stdin (else one after the other)."
    ),
)
def merge(opened: Opened, name: str, others: tuple[str, ...], text: str | None) -> int:
    """Put other notes into one. [[links]] to them follow."""
    body = None if text is None else text_of((text,))
    outcome = links.merge(opened.memory, name, others, opened.call(), body)
    return _moved(opened, outcome, "merged", look_again(opened, outcome) if isinstance(outcome, Conflict) else ())


@command(
    "log",
    _ONE,
    table_option(_MANY),
    click.option("--session", metavar="ID", help="Only what this session changed.", callback=_SESSION),
    click.option("--since", metavar="TIME", help="Only what was changed since: a date, yesterday, or 2h."),
)
def log(opened: Opened, name: str | None, limit: int, session: str | None, since: str | None) -> int:
    """Tell what was changed, newest first."""
    told = versions.stories(opened.memory.events())
    if name is not None:
        stem = _known_name(opened, name, [story.name for story in told])
        told = [story for story in told if story.name == stem]
    if session is not None:
        told = [story for story in told if story.session == session]
    if moment := _moment(opened, since):
        told = [story for story in told if story.at >= moment]
    if opened.json:
        shown.say_json({"changes": [story._asdict() for story in told[:limit]], "more": max(len(told) - limit, 0)})
        return DONE
    for story in told[:limit]:
        who = f"by {story.by}" + (f", session {story.session}" if story.session else "")
        who += f" ({story.part_of})" if story.part_of else ""
        odd = "" if story.sound else "  (this line of the log was tampered with)"
        shown.say_line(
            f"{versions.local(story.at)}  {story.what} {story.name or 'a note that is gone'}  {who}{odd}", cut=True
        )
    if not told:
        asked = any(given is not None for given in (name, session, since))
        shown.say_line("nothing like that was changed here" if asked else "nothing was changed here yet", to_error=True)
    if len(told) > limit:
        shown.say(f"{len(told) - limit} more; --limit {min(len(told), 1000)} shows them", to_error=True)
    return DONE


@command("diff", _ONE, _AT)
def diff(opened: Opened, name: str | None, moment: str | None) -> int:
    """Show how a note changed. Without NAME: the note changed last."""
    told = versions.stories(opened.memory.events())
    if name is None:
        name = next((story.name for story in told if story.name), "")
    if not name:
        shown.say_line("nothing was changed here yet", to_error=True)
        return DONE
    text = versions.diff(opened.memory, name, _moment(opened, moment) or "")
    if opened.json:
        shown.say_json({"name": name, "diff": text})
    elif text:
        shown.say(text)
    else:
        shown.say_line(f"{name} did not change", to_error=True)
    return DONE


@command(
    "undo",
    _ONE,
    click.option("--session", metavar="ID", help="All that this session changed.", callback=_SESSION),
    click.option(
        "--last",
        "count",
        type=click.IntRange(1, MOST_HITS),
        metavar="N",
        help="The last N changes; a rename, a merge or an undo is one.",
    ),
    _AT,
)
def undo_(opened: Opened, name: str | None, session: str | None, count: int | None, moment: str | None) -> int:
    """Take back the last change, or others. An undo can be undone.

    Without NAME or an option: the last act, whatever it was. After an undo that is the undo itself: what it took back
    is redone. With NAME: the last change of that note.
    """
    if sum(given is not None for given in (name, session, count, moment)) > 1:
        raise Misuse("give a note, --session, --last or --at, one of them")
    memory, call = opened.memory, opened.call()
    if name is not None:
        done = undo.of_note(memory, name, call)
    elif session is not None:
        done = undo.of_session(memory, session, call)
    elif moment is not None:
        done = undo.to_moment(memory, _moment(opened, moment) or "", call)
    else:
        done = undo.last(memory, call, count or 1)
    return _undone(opened, done)


def _undone(opened: Opened, done: undo.Undo | Conflict) -> int:
    if isinstance(done, Conflict):
        return print_no(opened, done)
    if opened.json:
        shown.say_json({
            "notes": [{"name": note.name, "outcome": note.outcome} for note in done.notes],
            "left": [{"name": name, "why": why} for name, why in done.left],
        })  # fmt: skip
    else:
        words = {"created": "brought back", "updated": "put back", "deleted": "took away"}
        for note in done.notes:
            if note.outcome == "unchanged":
                continue
            shown.say_line(f"{words[note.outcome]} {note.name}" + (f": {note.description}" if note.description else ""))
        if not done.changed and not done.left:
            shown.say_line(f"there is nothing to take back{_already(done)}", to_error=True)
    for name, why in done.left:
        shown.complain(f"{name} is left as it is: {why}")
    if done.changed and not opened.json:
        shown.say(f"to redo it, take this undo back: commonplace undo{opened.at}", to_error=True)
    return (CONFLICT if done.hindered else REFUSED) if done.left else DONE


def _already(done: undo.Undo) -> str:
    """Why nothing was put back: of what was to be, everything stands so."""
    if len(done.notes) > 1:
        return f": the {len(done.notes)} notes it is about are as they were already"
    return "".join(f": {note.name} is as it was already" for note in done.notes)


def _moved(opened: Opened, outcome: links.Moved | Conflict | Refused, word: str, ways: Sequence[str]) -> int:
    if not isinstance(outcome, links.Moved):
        return print_no(opened, outcome, ways)
    if opened.json:
        shown.say_json({
            "outcome": word, "name": outcome.note.name, "gone": list(outcome.gone), "followed": list(outcome.followed),
            "warnings": list(outcome.warnings),
        })  # fmt: skip
        return DONE
    if outcome.gone:
        shown.say_line(
            f"{word} {', '.join(outcome.gone)} into {outcome.note.name}"
            if word == "merged"
            else f"renamed {outcome.gone[0]} to {outcome.note.name}"
        )
        shown.say(f"to take it back: commonplace undo{opened.at}", to_error=True)
    else:
        shown.say_line(f"{outcome.note.name} is called that already")
    if outcome.followed:
        shown.say_line(f"links followed in: {', '.join(outcome.followed)}")
    print_warnings(outcome.warnings)
    return DONE


def _known_name(opened: Opened, name: str, known: list[str]) -> str:
    return name if name in known else opened.memory.find(name).note.name


def _moment(opened: Opened, words: str | None) -> str | None:
    if words is None:
        return None
    moment = versions.moment_of(words, datetime.fromtimestamp(opened.memory.now()))
    if moment is None:
        raise Misuse(f"{words!r} is no time; write {TIMES}")
    return moment
