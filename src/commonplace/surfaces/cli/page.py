"""The page about the command, made from the commands themselves: `python -m commonplace.surfaces.cli.page` prints it."""

from __future__ import annotations

import click

from commonplace.surfaces.cli.app import cli
from commonplace.surfaces.cli.group import ORDER

# What each command answers with --json, besides what all may answer when something is wrong. A test asks them all.
ANSWERS = {
    "remember": "outcome name kind description file notebook stamp kept by alike room warnings",
    "recall": "hits more took_ms guessed",
    "list": "notes problems",
    "show": "name title description kind tags created updated expires pinned applies_to supersedes session stamp body trust backlinks",
    "edit": "what remember answers; where nothing was changed: outcome name; where it was not kept: outcome name draft faults",
    "forget": "outcome name kept room warnings",
    "rename": "outcome name gone followed warnings",
    "merge": "outcome name gone followed warnings",
    "pin": "what remember answers",
    "unpin": "what remember answers",
    "log": "changes more",
    "diff": "name diff",
    "undo": "notes left",
    "status": "notebook why counts room cache bytes writable last_change problems",
    "doctor": "sound looked_at findings mended",
    "verify": "workspace counts notes",
    "preamble": "preamble bytes lines tools",
    "tools": "tools",
    "trace": "sessions; with SESSION: session given",
}
_HEAD = """# The command

This page is made from the command itself; `make docs` writes it.

Answers go to stdout, everything else to stderr. Nothing is coloured, and nothing a note holds can move a terminal.

| exit code | meaning |
|---|---|
| 0 | done |
| 1 | refused or failed; for `doctor` and `verify`: something was found |
| 2 | wrong usage |
| 3 | no such note |
| 4 | a conflict: another fact has the name, or the note changed meanwhile |

With `--json` a command prints one JSON document in ASCII, whose fields are named below; fields may be added, none is
taken away or changed but in a new major version. What went wrong is printed so too, with the same exit codes:
`outcome: failed` with `error why did_you_mean` (`error` is `Misuse` for wrong usage), `outcome: refused` with `rule why`, and `outcome: conflict` with
`name why ours theirs`.
"""


def page() -> str:
    """The page, as Markdown."""
    out = [_HEAD]
    for title, names in ORDER:
        commands = [(name, cli.commands[name]) for name in names if name in cli.commands]
        if commands:
            out.append(f"## {title}\n")
            out += [_section(name, command) for name, command in commands]
    return "\n".join(out)


def _section(name: str, command: click.Command) -> str:
    # A command keeps what it first made of its context: it must be the one it has when it runs.
    within = click.Context(cli, info_name="commonplace", **cli.context_settings)
    usage = " ".join(command.collect_usage_pieces(click.Context(command, info_name=name, parent=within)))
    lines = [f"### commonplace {name}\n", f"    commonplace {name} {usage}\n", _prose(command.help or "")]
    options = [param for param in command.params if isinstance(param, click.Option)]
    if options:
        lines += ["| option | |", "|---|---|", *map(_row, options), ""]
    if name in ANSWERS:
        lines.append(f"`--json`: {_named(ANSWERS[name])}\n")
    return "\n".join(lines)


def _prose(text: str) -> str:
    return "\n".join(line.strip() for line in text.replace("\b\n", "").strip().split("\n")) + "\n"


def _row(option: click.Option) -> str:
    flags = ", ".join(f"`{flag}`" for flag in (*option.opts, *option.secondary_opts))
    takes = "" if option.is_flag else f" {option.make_metavar(click.Context(cli))}"
    default = f" [default: {option.default}]" if option.show_default else ""
    return f"| {_cell(flags + takes)} | {_cell((option.help or '') + default)} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _named(answer: str) -> str:
    return "; ".join(map(_part, answer.split("; ")))


def _part(text: str) -> str:
    """Fields as code; what stands before a colon, or speaks of another command, as it is."""
    when, colon, fields = text.rpartition(": ")
    if text.startswith("what "):
        return text
    return when + colon + " ".join(f"`{word}`" for word in fields.split())


if __name__ == "__main__":
    print(page(), end="")
