"""The click door: how commands are declared, run and ended. It knows no command."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from functools import wraps
from io import StringIO
from typing import Any

import click

from commonplace import __version__
from commonplace.errors import Changed, CommonplaceError, NotFound
from commonplace.open import open_memory
from commonplace.outcomes import Conflict
from commonplace.prompt.preamble import FULL, PROFILES
from commonplace.settings import read_settings, switched_off
from commonplace.surfaces import shown
from commonplace.surfaces.cli.opened import (
    INTERRUPTED,
    Misuse,
    Opened,
    failed,
    print_no,
    say_failed,
    tell_of_loss,
    unheard,
)
from commonplace.surfaces.cli.options import MOST_HITS, SHARED, Option

_OVERTAKEN = "another process changed it just now; look at it, then try again"
# Commands whose words are somebody's text, which may begin with a dash.
_TEXTS = ("remember", "recall")
# Commands stand in the help in the order a newcomer needs them, in these groups.
ORDER = (
    ("Every day", ("remember", "recall", "list", "show", "edit", "forget")),
    ("Putting in order", ("rename", "merge", "pin", "unpin")),
    ("What happened", ("log", "diff", "undo")),
    ("The notebook", ("status", "doctor", "verify")),
    ("For agents", ("preamble", "tools", "trace")),
    ("For you", ("tour", "completion")),
)


# What other tools call these things.
CALLED_ELSEWHERE = {
    "search": "recall", "find": "recall", "delete": "forget", "rm": "forget", "remove": "forget", "history": "log",
    "add": "remember", "save": "remember", "new": "remember", "ls": "list", "cat": "show", "view": "show", "read": "show",
    "mv": "rename",
}  # fmt: skip
# A longer command line is not said back.
_SAID_BACK = 200


class Ordered(click.Group):
    """A group that lists its commands by what they are for, and knows what was meant by those it does not have."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] in self.commands or args[0].startswith("-") or ctx.resilient_parsing:
            return super().resolve_command(ctx, args)
        words = {**{name: name for name in self.list_commands(ctx)}, **CALLED_ELSEWHERE}
        meant = list(dict.fromkeys(words[word] for word in _meant(args[0], words)))
        raise _Misused(f"No such command {args[0]!r}.", meant, ctx, _instead(meant, args[1:]))

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - as click asks
        named = [name for _, names in ORDER for name in names if name in self.commands]
        return [*named, *sorted(set(self.commands) - set(named))]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        width = max(map(len, self.commands))
        for title, names in ORDER:
            rows = [
                (name.ljust(width), self.commands[name].get_short_help_str(60))
                for name in names
                if name in self.commands
            ]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


@click.group(cls=Ordered, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="commonplace", message="%(prog)s %(version)s")
def cli() -> None:
    """Durable memory for AI agents: plain Markdown notes that outlast a session.

    \b
    commonplace remember "we deploy with ./deploy.sh, which refuses a dirty tree"
    commonplace recall "how do we deploy"

    Exit codes: 0 done, 1 refused or failed, 2 wrong usage, 3 no such note, 4 a conflict.
    """


def run(args: Sequence[str]) -> int:
    """Run one command line and answer its exit code."""
    try:
        code = _run(list(args))
        shown.flush()
    except shown.Unheard as problem:
        return unheard(problem)
    return code


def command(
    name: str, *options: Callable[[Any], Any], waits: bool = False
) -> Callable[[Callable[..., Any]], click.Command]:
    """Declare a command: its options, those all share, and the notebook opened for it. `waits`: for a person."""

    def declare(work: Callable[..., Any]) -> click.Command:
        @wraps(work)
        def opened(directory: str | None, as_json: bool, **given: Any) -> int:
            settings = read_settings(directory)
            profile = PROFILES.get(given.get("tools", ""), FULL)
            one = Opened(open_memory(settings=settings, profile=profile), settings, as_json)
            with nullcontext() if waits else shown.patience():
                code = _ended(one, lambda: work(one, **given))
                tell_of_loss(one)
                return code

        made: Callable[..., Any] = opened
        for option in reversed((*options, *map(table_option, SHARED))):
            made = option(made)
        return cli.command(name)(made)

    return declare


def table_option(option: Option) -> Callable[[Any], Any]:
    """One row of the option table, as click has it."""
    more: dict[str, Any] = {"help": option.help, "multiple": option.many}
    if not option.takes:
        more |= {"is_flag": True}
    if option.takes == "number":
        more |= {"type": click.IntRange(1, MOST_HITS), "show_default": True}
    if option.metavar:
        more |= {"metavar": option.metavar}
    if option.default is not None:
        more |= {"default": option.default}
    return click.option(*option.flags, option.name, **more)


def look_again(opened: Opened, conflict: Conflict) -> list[str]:
    """The way on where somebody was quicker: look at what they did, then the same once more."""
    from shlex import quote

    look = [f"to look at it: commonplace show {quote(conflict.theirs.name)}{opened.at}"] if conflict.theirs else []
    return [*look, f"to try again: {again()}"]


def again(**other: Any) -> str:
    """The command line that is running, with other values for some of what it was given, as it can be typed."""
    from shlex import join

    context = click.get_current_context()
    given = {**context.params, **other}
    params = [(param, given[param.name or ""]) for param in context.command.params if param.name in given]
    options = [word for param, value in params for word in _typed(param, value)]
    words = [str(one) for param, value in params if isinstance(param, click.Argument) for one in _each(value)]
    dashed = any(word.startswith("-") and word != "-" for word in words)
    return join(["commonplace", context.info_name or "", *options, *(["--"] if dashed else []), *words])


def _typed(param: click.Parameter, value: Any) -> list[str]:
    """An option as it is written; nothing for one that was not given."""
    if not isinstance(param, click.Option) or value is None or value == param.default:
        return []
    flag = max(param.opts, key=len)
    if param.is_flag:
        return [flag if value else param.secondary_opts[0]] if value or param.secondary_opts else []
    pairs = ([f"{flag}={one}"] if str(one).startswith("-") else [flag, str(one)] for one in _each(value))
    return [word for pair in pairs for word in pair]


def _each(value: Any) -> Sequence[Any]:
    return value if isinstance(value, tuple) else () if value is None else (value,)


def _run(args: list[str]) -> int:
    args = [*args[1:], "--help"] if args[:1] == ["help"] and len(args) <= 2 else args
    try:
        if switched_off() and not _asks_help(args):
            return 0
        return cli(args=args, prog_name="commonplace", standalone_mode=False) or 0
    except click.ClickException as problem:
        told = _told(problem)
        if _asks_json(args):
            near = _near_to(told)
            say_failed(Misuse.__name__, told.message if near else told.format_message(), near)
        words = StringIO()
        told.show(words)
        shown.say(words.getvalue().rstrip("\n") + _way_on(told, args[0] if args else ""), to_error=True)
        return problem.exit_code
    except click.Abort:
        return INTERRUPTED
    except OSError as problem:  # click prints its help itself
        raise shown.Unheard("" if isinstance(problem, BrokenPipeError) else str(problem.strerror)) from None
    except CommonplaceError as problem:  # before a notebook was opened
        return failed(problem, as_json=_asks_json(args))


def _asks_help(args: list[str]) -> bool:
    """Whether nothing but help, or the version, is asked for: also where memory is switched off."""
    return bool(args) and len(args) <= 2 and args[-1] in ("--help", "-h", "--version")


def _asks_json(args: list[str]) -> bool:
    """Whether the answer is to be JSON, as far as can be told before the command line is understood."""
    return "--json" in (args[: args.index("--")] if "--" in args else args)


class _Misused(click.UsageError):
    """A command line that cannot be run: what may have been meant by it, and the whole line where that is certain."""

    def __init__(
        self, message: str, near: Sequence[str] = (), ctx: click.Context | None = None, instead: str = ""
    ) -> None:
        super().__init__(message, ctx)
        self.near, self.instead = near, instead


def _ended(opened: Opened, work: Callable[[], Any]) -> int:
    try:
        return work() or 0
    except Misuse as problem:
        raise _Misused(str(problem), problem.near) from None
    except Changed as problem:
        conflict = Conflict(problem.name, _OVERTAKEN, "", opened.memory.present(problem.name))
        return print_no(opened, conflict, look_again(opened, conflict))
    except CommonplaceError as problem:
        return failed(problem, as_json=opened.json, near=_near(opened, problem))


def _near(opened: Opened, problem: CommonplaceError) -> list[str]:
    """The names that are like one that is not there."""
    if not isinstance(problem, NotFound) or not problem.name:
        return []
    from commonplace.care.near import near

    return near(opened.memory.notes().notes, problem.name)


def _meant(word: str, known: Iterable[str]) -> list[str]:
    """What is known and was meant by a word: itself, else what is like it."""
    from commonplace.care.near import meant

    known = list(known)
    return [word] if word in known else meant(word, known)


def _instead(meant: Sequence[str], rest: Sequence[str]) -> str:
    """The command line that was meant, where there is no doubt of it."""
    from shlex import join

    line = join(["commonplace", *meant, *rest])
    sure = len(meant) == 1 and rest and not any(word.startswith("-") for word in rest) and len(line) <= _SAID_BACK
    return line if sure else ""


def _told(problem: click.ClickException) -> click.ClickException:
    """A problem as it is told: to an option there is not belong those that are like it, as to anything else."""
    if not isinstance(problem, click.NoSuchOption) or problem.ctx is None:
        return problem
    params = problem.ctx.command.params
    known = {flag.lstrip("-"): flag for param in params for flag in (*param.opts, *param.secondary_opts)}
    like = [known[word] for word in _meant(problem.option_name.lstrip("-"), known)]
    if like:
        return _Misused(problem.message, like, problem.ctx)
    return click.NoSuchOption(problem.option_name, problem.message, ctx=problem.ctx)


def _near_to(problem: click.ClickException) -> Sequence[str]:
    return problem.near if isinstance(problem, _Misused) else ()


def _way_on(problem: click.ClickException, first: str) -> str:
    """What click does not say: what may be meant, where there is help, what to do with text that looks like an option."""
    if isinstance(problem, _Misused) and problem.near:
        line = f"\n  {problem.instead}" if problem.instead else ""
        return f"\ndid you mean {' or '.join(problem.near)}?{line}"
    if isinstance(problem, click.UsageError) and problem.ctx is None:
        return f"\nTry 'commonplace {first} --help' for help." if first in cli.commands else ""
    if not isinstance(problem, click.NoSuchOption) or not problem.ctx:
        return ""
    where = problem.ctx.info_name
    if where not in _TEXTS:
        return ""
    return f'\nFor text that begins with a dash, put -- before it: commonplace {where} -- "-x ..."'
