"""Commands for the notebook as a whole, and for what agents get of it: status, doctor, verify, preamble, trace, completion."""

from __future__ import annotations

import os

import click

from commonplace.care.versions import local, stories
from commonplace.note.kind import heading_of
from commonplace.prompt.preamble import PROFILES
from commonplace.surfaces import shown
from commonplace.surfaces.cli.finding import print_problems
from commonplace.surfaces.cli.group import cli, command, table_option
from commonplace.surfaces.cli.notes import THERE, filled, note_name
from commonplace.surfaces.cli.opened import DONE, NO_SUCH_NOTE, REFUSED, Misuse, Opened
from commonplace.surfaces.cli.options import SESSION
from commonplace.trace import Trace

_TOOLS = click.option(
    "--tools",
    type=click.Choice(list(PROFILES)),
    default="full",
    show_default=True,
    help="The tools the model is offered.",
)
# Those of `tools.render`, which only the command that prints them loads.
SHAPES = ("anthropic", "openai", "responses", "mcp")
# The column in which what `status` tells begins.
_LABELS = 10
_SHELLS = ("bash", "zsh", "fish")


@command("status")
def status(opened: Opened) -> None:
    """Say which notebook this is, why, and what is in it."""
    report, settings = opened.memory.status(), opened.settings
    last = next(iter(stories(opened.memory.events())), None)
    writable = _writable(report.where)
    if opened.json:
        return shown.say_json({
            "notebook": report.where, "why": settings.why, "counts": {str(k): n for k, n in report.counts.items()},
            "room": shown.room_json(report.room), "cache": report.cache, "bytes": report.bytes, "writable": writable,
            "last_change": last.at if last else None,
            "problems": [shown.problem_json(problem) for problem in report.problems],
        })  # fmt: skip
    counts = ", ".join(f"{heading_of(kind).lower()} {count}" for kind, count in report.counts.items())
    total = sum(report.counts.values())
    made = "" if os.path.isdir(report.where) else "; the first save makes the directory"
    notes = f"{total}" + (f" ({counts})" if counts else "") + (f", {report.bytes:,} bytes" if total else "")
    changed = f"{local(last.at)}, {last.what} {last.name}" if last else "never by commonplace"
    mode = "read and write" if writable else "read only: its directory may not be written"
    index = str(report.room).removeprefix("index: ")
    shown.say(f"notebook  {report.where} ({settings.why})")  # a path is left whole
    for what, said in (("notes", notes + made), ("index", index), ("changed", changed), ("mode", mode)):
        shown.say_line(said, head=what, indent=_LABELS)
    shown.say(f"catalog   {report.cache or 'in memory only'}")
    print_problems(report.problems)
    return None


def _writable(path: str) -> bool:
    """Whether a notebook can be written, or made, there."""
    while not os.path.exists(path) and path != os.path.dirname(path):
        path = os.path.dirname(path)
    return os.access(path, os.W_OK | os.X_OK)


@command(
    "doctor",
    click.option("--fix", is_flag=True, help="Mend what can be mended without losing anything."),
    click.option("--private", is_flag=True, help="With --fix, also close the notes to other people."),
)
def doctor(opened: Opened, fix: bool, private: bool) -> int:
    """Check every byte of the notebook.

    Says what is wrong, where, and what to do. Ends with 1 where something is damaged or should be looked at.
    """
    from commonplace.care.doctor import examine, mend

    found = examine(opened.memory, opened.at)
    mended = mend(opened.memory, found, private=private) if fix else ()
    found = examine(opened.memory, opened.at) if mended else found
    shown.say_examination(found, mended, as_json=opened.json)
    if not found.looked_at and not opened.json:
        shown.say_line(f"there is no notebook in {opened.memory.where}", to_error=True)
    return DONE if found.sound else REFUSED


@command(
    "verify",
    click.argument("names", nargs=-1, metavar="[NAME]...", shell_complete=note_name, callback=THERE),
    click.option(
        "--workspace", metavar="PATH", help="What the notes speak of (else the repository around this directory)."
    ),
)
def verify(opened: Opened, names: tuple[str, ...], workspace: str | None) -> int:
    """Check what the notes say of a workspace.

    Which files, lines, symbols, flags, variables, packages, branches and tags were there when a note was written and
    are gone or changed. Without NAME: in all notes. Ends with 1 where something is.
    """
    from commonplace.care.claims import check, root_of
    from commonplace.evidence.verify import obstacle

    if workspace is not None and not os.path.isdir(workspace):
        raise Misuse(f"--workspace {workspace!r} is no directory; name the root of the repository the notes speak of")
    root = os.path.abspath(workspace) if workspace is not None else root_of(os.curdir)
    notes = [opened.memory.find(name).note for name in names] if names else opened.memory.notes().notes
    checked = sorted(check(opened.memory, notes, root))
    shown.say_checked(checked, root, as_json=opened.json)
    if (why := obstacle(root)) and not opened.json:
        shown.say_line(f"{root}: {why}, so only paths that are there or not were looked at", to_error=True)
    return REFUSED if any(one.broken for one in checked) else DONE


@command(
    "preamble",
    _TOOLS,
    table_option(SESSION),
)
def preamble(opened: Opened, tools: str, trace: str | None) -> None:
    """Print the block for an agent's system prompt."""
    text, names = opened.memory.pinned()
    if trace:
        opened.trace(trace, "pinned", names, len(text.encode()))
    if opened.json:
        return shown.say_json(
            {"preamble": text, "bytes": len(text.encode()), "lines": text.count("\n"), "tools": tools}
        )
    return shown.say(text.rstrip("\n"))


@command(
    "tools",
    click.option(
        "--format", "shape", type=click.Choice(SHAPES), default=SHAPES[0], show_default=True,
        help="Whose API they are for.",
    ),
    _TOOLS,
)  # fmt: skip
def tools_(opened: Opened, shape: str, tools: str) -> None:  # noqa: ARG001 - the group opens the memory by it
    """Print the memory tools as an API takes them."""
    made = opened.memory.tools(shape)
    shown.say_json({"tools": made} if opened.json else made)


@command(
    "trace",
    click.argument("session", required=False, callback=filled("leave it out to see which sessions left a trace")),
)
def trace(opened: Opened, session: str | None) -> int:
    """Tell what a session was given of its memory.

    Without SESSION: which sessions left a trace. `recall` and `preamble` take --session.
    """
    traces = Trace(opened.traces)
    if session is None:
        names = traces.sessions()
        if opened.json:
            shown.say_json({"sessions": names})
            return DONE
        for name in names:
            shown.say_line(name)
        if not names:
            shown.say_line("no session left a trace; recall and preamble take --session", to_error=True)
        return DONE
    given = traces.read(session)
    if opened.json:
        shown.say_json({"session": session, "given": [one._asdict() for one in given]})
        return DONE
    for one in given:
        shown.say_line(f"{local(one.at)}  {one.what}  {one.bytes:,} bytes  {', '.join(one.names)}", cut=True)
    if given:
        shown.say_line(f"{sum(one.bytes for one in given):,} bytes in all", to_error=True)
        return DONE
    shown.say_line(f"no trace of a session {session!r}; `commonplace trace` lists those that left one", to_error=True)
    return NO_SUCH_NOTE


@cli.command("tour")
@click.option("--keep", is_flag=True, help="Leave the throwaway home where it is.")
def tour(*, keep: bool) -> int:
    """See two sessions share a memory.

    In a throwaway home, with a scripted model, or a real one if ANTHROPIC_API_KEY is set.
    """
    import subprocess
    import sys

    words = ["--keep"] if keep else []
    return subprocess.run([sys.executable, "-m", "commonplace.testing.demo", *words], check=False).returncode


@cli.command("completion")
@click.argument("shell", type=click.Choice(_SHELLS))
def completion(shell: str) -> int:
    """Print a shell's completion script.

    For bash: commonplace completion bash > ~/.local/share/bash-completion/completions/commonplace
    """
    from click.shell_completion import get_completion_class

    made = get_completion_class(shell)
    if made is not None:
        shown.say(made(cli, {}, "commonplace", "_COMMONPLACE_COMPLETE").source())
    return DONE
