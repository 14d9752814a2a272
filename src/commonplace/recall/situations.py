"""Where a note matters: its `applies_to` held against a path, a command or a tool. And what an error's output asks for.

Pure. A pattern comes from a note, which anybody may have written: it is never a regular expression, and no pattern
takes longer than the product of its length and the text's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from commonplace.named import NamedTuple

# Longer commands and paths are somebody's data: what is matched stands at their beginning.
_CHARS = 2_000
_PATTERN_CHARS = 500
# What joins commands into one line.
_JOINED = r"&&|\|\||[;|\n]"
# Words by which a line of output says what went wrong.
_WRONG = re.compile(
    r"error|exception|fail|fatal|denied|refused|cannot|can't|could not|unable|not found|no such|undefined|missing|panic|"
    r"traceback|unknown|invalid|unexpected|timed? ?out|conflict|rejected|assert",
    re.IGNORECASE,
)
# Addresses, hashes, times and numbers differ from one run to the next.
_OF_ONE_RUN = r"\b(?:0x[0-9a-fA-F]+|[0-9a-f]{12,}|\d{4}-\d\d-\d\d[T ][\d:.,]+Z?|\d\d:\d\d:\d\d[\d.,]*|\d{5,})\b"
# The lines nearest the end tell most; so many of them, and of those that say what is wrong, are asked with.
_LAST_LINES = 5
_WRONG_LINES = 20
# Of these alone, a pattern names nothing.
_ANY = "*?/. "


class Situation(NamedTuple):
    """What is about to be done: a file touched, a command run, a tool used. '' where nothing is."""

    path: str = ""
    command: str = ""
    tool: str = ""


def applying(patterns: Iterable[str], to: Situation) -> str:
    """The first of a note's patterns that names this situation; '' where none does."""
    return next((pattern for pattern in patterns if _names(pattern.strip(), to)), "")


def asked_by(output: str) -> str:
    """The words to look for where a command failed with this output."""
    lines = [line for line in output.splitlines() if line.strip()]
    wrong = [line for line in lines if _WRONG.search(line)][-_WRONG_LINES:]
    last = [line for line in lines[-_LAST_LINES:] if line not in wrong]
    return re.sub(_OF_ONE_RUN, " ", "\n".join((*wrong, *last)))


def _names(pattern: str, to: Situation) -> bool:
    tool, inside = _of_tool(pattern)
    if tool:  # `Bash(git push *)`: the tool, with what it is used on
        return _like(to.tool, tool) and (not inside.strip(_ANY) or _names(inside, to._replace(tool="")))
    return bool(pattern.strip(_ANY)) and (  # what names everything names nothing: such a note would always apply
        (bool(to.tool) and _like(to.tool, pattern))
        or (bool(to.command) and _in_command(pattern, to.command))
        or (bool(to.path) and _in_path(pattern, to.path))
    )


def _of_tool(pattern: str) -> tuple[str, str]:
    name, paren, inside = pattern.partition("(")
    if paren and pattern.endswith(")") and name.replace("_", "").isalnum():
        return name, inside[:-1].replace(":*", " *").strip()
    return "", ""


def _in_command(pattern: str, command: str) -> bool:
    """Whether a line of commands begins one as the pattern does: `git push` is also `cd app && git push origin`."""
    words = pattern.split()
    for each in re.split(_JOINED, command[:_CHARS]):
        run = each.split()
        while run and ("=" in run[0] or run[0] in ("sudo", "env", "time", "nohup", "exec")):
            run = run[1:]  # what is set, or who runs it, is not what is run
        if run and _words_like(run, words):
            return True
    return False


def _words_like(run: Sequence[str], words: Sequence[str]) -> bool:
    if words and words[-1] == "*":
        words = words[:-1]
    if not words:
        return False
    return len(run) >= len(words) and all(_like(said, word) for said, word in zip(run, words, strict=False))


def _in_path(pattern: str, path: str) -> bool:
    """Whether a glob names a path: `*.sql` anywhere, `src/` and all in it, `**` any number of folders."""
    steps = [step for step in path[:_CHARS].removeprefix("./").split("/") if step]
    pattern = pattern[:_PATTERN_CHARS].removeprefix("./")
    globs = [glob for glob in pattern.split("/") if glob]
    if not steps or not globs:
        return False
    if pattern.endswith("/"):
        globs.append("**")
    if len(globs) == 1:
        return globs[0] not in ("*", "**") and any(_like(step, globs[0], case=True) for step in steps)
    return _steps_like(steps, ["**", *globs] if path[0] == "/" else globs)  # seen from the root, it may begin anywhere


def _steps_like(steps: Sequence[str], globs: Sequence[str]) -> bool:
    """One folder after the other; a row of the table for each glob, so that no pattern takes long."""
    reached = [True] + [False] * len(steps)
    for glob in globs:
        if glob == "**":
            for at in range(len(steps)):
                reached[at + 1] = reached[at + 1] or reached[at]
        else:
            reached = [
                False,
                *(was and _like(step, glob, case=True) for was, step in zip(reached, steps, strict=False)),
            ]
    return reached[-1]


def _like(text: str, pattern: str, *, case: bool = False) -> bool:
    """Whether a word is as a pattern with `*` and `?` says, character by character."""
    text, pattern = text[:_CHARS], pattern[:_PATTERN_CHARS]
    if not case:
        text, pattern = text.casefold(), pattern.casefold()
    if "*" not in pattern and "?" not in pattern:
        return text == pattern
    at, star, mark = 0, -1, 0
    for_text = 0
    while for_text < len(text):
        if at < len(pattern) and pattern[at] in ("?", text[for_text]) and pattern[at] != "*":
            at, for_text = at + 1, for_text + 1
        elif at < len(pattern) and pattern[at] == "*":
            star, mark = at, for_text
            at += 1
        elif star >= 0:
            mark += 1
            at, for_text = star + 1, mark
        else:
            return False
    return not pattern[at:].strip("*")
