"""The command. Each one parses, calls Memory once, and prints; answers on stdout, everything else on stderr.

Exit codes: 0 done, 1 refused or failed, 2 wrong usage, 3 no such note, 4 a conflict.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import date
from functools import wraps
from io import StringIO
from shlex import quote
from typing import Any, Literal, NamedTuple

import click

from commonplace import __version__
from commonplace.errors import CommonplaceError, NotFound
from commonplace.guard.text import one_line
from commonplace.memory import Memory
from commonplace.note.kind import KINDS, SYNONYMS, Kind, heading_of, kind_of
from commonplace.note.note import spaced
from commonplace.open import open_memory
from commonplace.outcomes import Conflict, Refused, Saved
from commonplace.prompt.preamble import FULL, PROFILES
from commonplace.settings import Settings, read_settings, switched_off
from commonplace.store.base import Call, Problem
from commonplace.surfaces import shown

REFUSED, NO_SUCH_NOTE, CONFLICT, INTERRUPTED = 1, 3, 4, 130
# More than this from a pipe is no note; it is refused without being read to its end.
_STDIN_CHARS = 64 * 1024


class Session(NamedTuple):
    """What every command is given."""

    memory: Memory
    settings: Settings
    json: bool

    @property
    def at(self) -> str:
        """What a command must add to mean this notebook again."""
        return f" --dir {quote(self.settings.notebook)}" if self.settings.given else ""


def run(args: Sequence[str]) -> int:
    """Run one command line and answer its exit code."""
    try:
        code = _run(list(args))
        shown.flush()
    except shown.Unheard as problem:
        if not str(problem):
            return 0
        with suppress(shown.Unheard):
            shown.complain(f"the answer could not be written: {problem}")
        return REFUSED
    return code


def _run(args: list[str]) -> int:
    try:
        asks_help = any(arg in ("--help", "-h", "--version") for arg in args)
        if not asks_help and switched_off():
            return 0
        return cli(args=args, prog_name="commonplace", standalone_mode=False) or 0
    except click.ClickException as problem:
        words = StringIO()
        problem.show(words)
        shown.say(words.getvalue().rstrip("\n") + _way_on(problem, args[0] if args else ""), to_error=True)
        return problem.exit_code
    except click.Abort:
        return INTERRUPTED
    except CommonplaceError as problem:
        shown.complain(str(problem))
        return NO_SUCH_NOTE if isinstance(problem, NotFound) else REFUSED


def _way_on(problem: click.ClickException, first: str) -> str:
    """What click does not say: where there is help, and what to do with text that looks like an option."""
    if isinstance(problem, click.UsageError) and problem.ctx is None:
        return f"\nTry 'commonplace {first} --help' for help." if first in cli.commands else ""
    if not isinstance(problem, click.NoSuchOption) or problem.possibilities or not problem.ctx:
        return ""
    where = problem.ctx.info_name
    if where not in ("remember", "recall"):
        return ""
    return f'\nFor text that begins with a dash, put -- before it: commonplace {where} -- "-x ..."'


def caller(settings: Settings) -> Call:
    """Who is at the keyboard: a person where there is a terminal and no agent's shell around us, else an agent."""
    typed = shown.is_terminal(sys.stdin) and shown.is_terminal(sys.stderr) and not settings.agents_shell
    return Call(origin="person" if typed else "agent", actor="commonplace")


def _command(work: Callable[..., int | None]) -> Callable[..., int]:
    """A command with the options all share: it opens the memory."""

    @wraps(work)
    @click.option(
        "--dir", "directory", metavar="PATH", help="The notebook's directory (else MEMORY_DIR, COMMONPLACE_HOME)."
    )
    @click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
    def command(directory: str | None, as_json: bool, **given: Any) -> int:
        settings = read_settings(directory)
        profile = PROFILES.get(given.get("tools", ""), FULL)
        return work(Session(open_memory(settings=settings, profile=profile), settings, as_json), **given) or 0

    return command


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="commonplace", message="%(prog)s %(version)s")
def cli() -> None:
    """Durable memory for AI agents: plain Markdown notes that outlast a session.

    \b
    commonplace remember "we deploy with ./deploy.sh, which refuses a dirty tree"
    commonplace recall "how do we deploy"

    Exit codes: 0 done, 1 refused or failed, 2 wrong usage, 3 no such note, 4 a conflict.
    """


_KIND = click.option("--kind", "-k", metavar="KIND", help=f"{', '.join(KINDS)}; or {', '.join(SYNONYMS)}.")


def _filters(work: Callable[..., int | None]) -> Callable[..., int | None]:
    """The options that narrow a list or a recall."""
    for option in (
        click.option("--since", metavar="DATE", help="Only notes as new as this."),
        click.option(
            "--tag", "-t", "tags", multiple=True, metavar="TAG", help="Only notes with this tag; may be repeated."
        ),
        click.option("--kind", "-k", "kinds", multiple=True, metavar="KIND", help="Only this kind; may be repeated."),
    ):
        work = option(work)
    return work


@cli.command()
@click.argument("text", nargs=-1, required=True)
@click.option("--name", "-n", metavar="NAME", help="What to call it; the same name corrects the same note.")
@click.option("--description", "-d", metavar="LINE", help="One line saying what it is about (else the first sentence).")
@_KIND
@click.option("--tag", "-t", "tags", multiple=True, metavar="TAG", help="A tag; may be repeated. '' takes all away.")
@click.option("--expires", metavar="DATE", help="Leave it out of the index after this day; or never.")
@click.option(
    "--supersedes", multiple=True, metavar="NAME", help="A note this one corrects; may be repeated. '' takes all away."
)
@click.option("--pin/--no-pin", "pinned", default=None, help="Put it before others in the index.")
@click.option("--replace", is_flag=True, help="Replace whatever has this name.")
@_command
def remember(
    session: Session, text: tuple[str, ...], name: str | None, description: str | None, kind: str | None,
    tags: tuple[str, ...], expires: str | None, supersedes: tuple[str, ...], pinned: bool | None, replace: bool,
) -> int:  # fmt: skip
    """Save a fact. TEXT is the fact, or - to read it from stdin."""
    outcome = session.memory.save(
        _text(text), name=name, description=description, kind=kind, tags=tags or None, expires=_expiry(expires),
        supersedes=supersedes or None, pinned=pinned, replace=replace, call=caller(session.settings),
    )  # fmt: skip
    if isinstance(outcome, Saved):
        return _print_saved(session, outcome)
    return _print_no(session, outcome)


@cli.command()
@click.argument("query", nargs=-1, required=True)
@click.option("--limit", "-l", type=click.IntRange(1, 1000), default=5, show_default=True, help="At most so many.")
@_filters
@_command
def recall(
    session: Session,
    query: tuple[str, ...],
    limit: int,
    kinds: tuple[str, ...],
    tags: tuple[str, ...],
    since: str | None,
) -> None:
    """Find the notes that answer a question, best first."""
    found = session.memory.recall(" ".join(query), limit=limit, kinds=_kinds(kinds), tags=tags, since=_day(since))
    if session.json:
        return shown.say_json(shown.recall_json(found))
    if not found.hits:
        shown.say_line("nothing found; `commonplace list` shows what there is", to_error=True)
    for hit in found.hits:
        shown.say_line(f"{hit.name} ({hit.kind}, {hit.age}, by {hit.trust})")
        shown.say_line(hit.description, indent=2)
        shown.say_line(f"found by: {', '.join(hit.reasons)}", indent=2)
    if found.more:
        shown.say(f"{found.more} more; --limit {limit + found.more} shows all", to_error=True)
    return None


@cli.command(name="list")
@_filters
@_command
def list_(session: Session, kinds: tuple[str, ...], tags: tuple[str, ...], since: str | None) -> None:
    """List the notes, by kind."""
    scan = session.memory.notes(kinds=_kinds(kinds), tags=tags, since=_day(since))
    notes = scan.notes
    if session.json:
        problems = [shown.problem_json(problem) for problem in scan.problems]
        return shown.say_json({"notes": [shown.note_json(note, body=False) for note in notes], "problems": problems})
    for kind in Kind:
        group = [note for note in notes if note.kind is kind]
        if group:
            shown.say(heading_of(kind))
        for note in group:
            shown.say_line(f"{note.name}: {note.description}", indent=2, cut=True)
    if not notes:
        empty = f' in {session.memory.where}; save one: commonplace remember "..."{session.at}'
        shown.say_line("no notes" + (" like that" if kinds or tags or since else empty), to_error=True)
    _print_problems([problem for problem in scan.problems if problem.unread])
    return None


@cli.command()
@click.argument("name")
@_command
def show(session: Session, name: str) -> None:
    """Print a note whole."""
    note = session.memory.read(name)
    if session.json:
        return shown.say_json(shown.note_json(note, body=True))
    facts = [str(note.kind), *(f"#{tag}" for tag in note.tags)]
    facts += [f"updated {day}"] if (day := note.updated or note.created) else []
    facts += ["pinned"] if note.pinned else []
    facts += [f"expires {note.expires}"] if note.expires else []
    facts += [f"corrects {', '.join(note.supersedes)}"] if note.supersedes else []
    shown.say_line(f"{note.name} ({', '.join(facts)})")
    said = (one_line(note.body), note.name, spaced(note.name))
    for line in (note.title, note.description):
        if not any(text.startswith(one_line(line)) for text in said):  # else it is said twice
            shown.say_line(line)
    return shown.say(f"\n{note.body}")


@cli.command()
@click.argument("name")
@_command
def forget(session: Session, name: str) -> int:
    """Take a note out of the notebook. Its last version stays in the history."""
    outcome = session.memory.forget(name, call=caller(session.settings))
    if isinstance(outcome, Conflict):
        return _print_no(session, outcome)
    kept = os.path.join(session.memory.where, outcome.kept) if outcome.kept else ""
    if session.json:
        shown.say_json({
            "outcome": "deleted", "name": outcome.name, "kept": kept, "room": shown.room_json(outcome.room),
            "warnings": list(outcome.warnings),
        })  # fmt: skip
        return 0
    shown.say_line(f"forgot {outcome.name}: {outcome.note.description}")
    if kept:
        shown.say(f"its last version is kept: {kept}", to_error=True)
    _print_warnings(outcome.warnings)
    return 0


@cli.command()
@click.option(
    "--tools",
    type=click.Choice(list(PROFILES)),
    default="full",
    show_default=True,
    help="The tools the model is offered.",
)
@_command
def preamble(session: Session, tools: str) -> None:
    """Print the block for an agent's system prompt."""
    text = session.memory.preamble()
    if session.json:
        return shown.say_json(
            {"preamble": text, "bytes": len(text.encode()), "lines": text.count("\n"), "tools": tools}
        )
    return shown.say(text.rstrip("\n"))


@cli.command()
@_command
def status(session: Session) -> None:
    """Say which notebook this is, why, and what is in it."""
    report = session.memory.status()
    settings = session.settings
    if session.json:
        return shown.say_json({
            "notebook": report.where, "why": settings.why, "counts": {str(k): n for k, n in report.counts.items()},
            "room": shown.room_json(report.room), "cache": report.cache,
            "problems": [shown.problem_json(problem) for problem in report.problems],
        })  # fmt: skip
    counts = ", ".join(f"{heading_of(kind).lower()} {count}" for kind, count in report.counts.items())
    total = sum(report.counts.values())
    shown.say(f"notebook  {report.where} ({settings.why})")
    shown.say(f"notes     {total}" + (f" ({counts})" if counts else ""))
    shown.say(f"index     {str(report.room).removeprefix('index: ')}")
    shown.say(f"catalog   {report.cache or 'in memory only'}")
    _print_problems(report.problems)
    return None


# --- printing ------------------------------------------------------------------------------------------------


def _print_saved(session: Session, saved: Saved) -> int:
    if session.json:
        shown.say_json(shown.saved_json(saved, session.memory.where))
        return 0
    shown.say_line(f"{saved.outcome} {saved.name} ({saved.note.kind}): {saved.note.description}")
    shown.say(f"{saved.file}\n{saved.room}", to_error=True)
    if saved.outcome == "created":
        shown.say(f"to take it back: commonplace forget {quote(saved.name)}{session.at}", to_error=True)
    elif saved.kept:
        shown.say(f"the version before is kept: {os.path.join(session.memory.where, saved.kept)}", to_error=True)
    _print_warnings(saved.warnings)
    return 0


def _print_no(session: Session, outcome: Conflict | Refused) -> int:
    if isinstance(outcome, Refused):
        if session.json:
            shown.say_json({"outcome": "refused", "rule": outcome.rule, "why": outcome.why})
        shown.complain(f"not saved ({outcome.rule}): {outcome.why}")
        return REFUSED
    if session.json:
        shown.say_json(shown.conflict_json(outcome))
    shown.complain(f"nothing was changed: another fact is called {outcome.name}")
    if outcome.theirs is not None and not session.json:
        shown.say_line(f"it says: {outcome.theirs.description}", indent=2, to_error=True)
    shown.say("--replace puts yours in its place; another --name keeps both", to_error=True)
    return CONFLICT


def _print_warnings(warnings: Sequence[str]) -> None:
    for warning in warnings:
        shown.complain(warning)


def _print_problems(problems: Sequence[Problem]) -> None:
    for problem in problems:
        shown.complain(f"{problem.file}: {problem.what}")


# --- reading -------------------------------------------------------------------------------------------------


def _text(words: tuple[str, ...]) -> str:
    if words != ("-",):
        return " ".join(words)
    try:
        raw = sys.stdin.buffer.read(_STDIN_CHARS) if sys.stdin else b""
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


def _kinds(words: tuple[str, ...]) -> tuple[str, ...]:
    for word in words:
        if kind_of(word) is Kind.OTHER and word != Kind.OTHER:
            raise click.UsageError(f"{word!r} is no kind; choose {', '.join(Kind)}")
    return words


def _expiry(word: str | None) -> date | Literal["never"] | None:
    return "never" if word == "never" else _day(word, ", or never")


def _day(word: str | None, else_: str = "") -> date | None:
    try:
        return None if word is None else date.fromisoformat(word)
    except ValueError:
        raise click.UsageError(f"{word!r} is no day; write YYYY-MM-DD{else_}") from None
