"""Runs terminal transcripts: `$ command`, what it prints, `2> ` before what it says on stderr, `[n]` for its exit code.

`> ` goes on with a command, `-- ` begins a line of prose, `{{regex}}` stands for what differs from run to run, `/home/ana` for the home it runs in.
COMMONPLACE_TRANSCRIPTS=rewrite writes down what the commands say now, and keeps the lines that still hold.
A plain `commonplace` runs in this process; anything a shell must read runs in one.
"""

import io
import os
import re
import shlex
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from typing import NamedTuple

from commonplace.surfaces.cli.app import run

HOME = "/home/ana"
REWRITE = os.environ.get("COMMONPLACE_TRANSCRIPTS") == "rewrite"
_FOR_A_SHELL = re.compile(r"[|<>&;$`*]|^(?!commonplace )")


class Block(NamedTuple):
    """A command and what it prints; or prose, which has no command."""

    command: str
    lines: list[str]


def blocks(text):
    out = [Block("", [])]
    for line in text.rstrip("\n").split("\n"):
        if line.startswith("> ") and out[-1].command and not out[-1].lines:
            out[-1] = Block(f"{out[-1].command}\n{line[2:]}", [])
        elif line.startswith("$ "):
            out.append(Block(line[2:], []))
        elif line.startswith("-- ") and out[-1].command:
            out.append(Block("", [line]))
        else:
            out[-1].lines.append(line)
    return out


def said(command, home):
    """What a command prints, in the form of a transcript."""
    stdout, stderr, code = _in_a_shell(command, home) if _FOR_A_SHELL.search(command) else _here(command)
    stdout, stderr = (text.replace(str(home), HOME).rstrip("\n") for text in (stdout, stderr))
    lines = (stdout.split("\n") if stdout else []) + [f"2> {line}".rstrip() for line in stderr.split("\n") if stderr]
    return lines + ([f"[{code}]"] if code else [])


def _here(command):
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in "12")
    with redirect_stdout(out), redirect_stderr(err):
        code = run(shlex.split(command)[1:])
    return out.buffer.getvalue().decode(), err.buffer.getvalue().decode(), code


def _in_a_shell(command, home):
    path = f"{os.path.dirname(sys.executable)}:/usr/bin:/bin"
    done = subprocess.run(
        ["sh", "-c", command], env={**os.environ, "PATH": path}, cwd=home, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=30, check=False,
    )  # fmt: skip
    return done.stdout, done.stderr, done.returncode


def holds(expected, line):
    parts = re.split(r"\{\{(.*?)\}\}", expected)
    pattern = "".join(f"(?:{part})" if i % 2 else re.escape(part) for i, part in enumerate(parts))
    return re.fullmatch(pattern, line) is not None


def play(path, home):
    """Run a transcript in an empty home and answer what it ought to say, as text to compare with the file's."""
    out = []
    for block in blocks(path.read_text("utf-8")):
        if not block.command:
            out += block.lines
            continue
        expected = block.lines[:]
        gap = [expected.pop() for _ in list(expected) if not expected[-1]]
        told = said(block.command, home)
        kept = [old for old, new in zip(expected, told, strict=False) if holds(old, new)]
        same = len(kept) == len(told) == len(expected)
        out += ["$ " + block.command.replace("\n", "\n> "), *(expected if same else _merged(expected, told)), *gap]
    return "\n".join(out).rstrip("\n") + "\n"


def _merged(expected, told):
    """What was told, in the words of any expected line that still holds for it."""
    return [next((old for old in expected if holds(old, line)), line) for line in told]
