"""The options `recall` takes, as one table for both of its doors: click's, and the one that opens without click.

Whatever the quick door does not understand at once it leaves to click, which knows how to say what is wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from commonplace.named import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MOST_HITS = 1000
MOST_PUSHED = 2


class Option(NamedTuple):
    """One option: how it is written, what it takes, and what it is for."""

    flags: tuple[str, ...]
    name: str
    takes: str = ""  # what stands behind it: text, number; '' for a switch
    many: bool = False
    default: Any = None
    metavar: str = ""
    help: str = ""


DIRECTORY = Option(
    ("--dir",), "directory", "text", metavar="PATH",
    help="The notebook's directory (else MEMORY_DIR, COMMONPLACE_HOME).",
)  # fmt: skip
JSON = Option(("--json",), "as_json", default=False, help="Print one JSON document.")
SHARED = (DIRECTORY, JSON)
KIND = Option(("--kind", "-k"), "kinds", "text", many=True, metavar="KIND", help="Only this kind; may be repeated.")
TAG = Option(
    ("--tag", "-t"), "tags", "text", many=True, metavar="TAG", help="Only notes with this tag; may be repeated."
)
SINCE = Option(
    ("--since",), "since", "text", metavar="DATE", help="Only notes as new as this: a date, yesterday, or 3d."
)
FILTERS = (KIND, TAG, SINCE)
LIMIT = Option(("--limit", "-l"), "limit", "number", default=5, metavar="N", help="At most so many (1 to 1000).")
SESSION = Option(
    ("--session",), "trace", "text", metavar="ID", help="The session it is for; `commonplace trace` tells of it."
)
FOR_PATH = Option(
    ("--for-path",), "for_path", "text", metavar="PATH", help="Only notes that say they apply to this file."
)
FOR_COMMAND = Option(
    ("--for-command",), "for_command", "text", metavar="COMMAND", help="Only notes that say they apply to this command."
)
FOR_TOOL = Option(
    ("--for-tool",), "for_tool", "text", metavar="TOOL", help="Only notes that say they apply to this tool."
)
ON_ERROR = Option(
    ("--on-error",),
    "on_error",
    "text",
    metavar="TEXT",
    help="What a failing command printed (- reads it from standard input).",
)
PUSH = Option(
    ("--push",),
    "push",
    default=False,
    help="For a prompt hook: two notes at most, only what surely fits, within 0.1 s.",
)
VERIFY = Option(("--verify",), "verify", default=False, help="Ask git too whether what they claim still holds.")
WORKSPACE = Option(
    ("--workspace",), "workspace", "text", metavar="PATH",
    help="The folder the notes speak of (else the repository they lie in; with --verify, the current one).",
)  # fmt: skip
EXPLAIN = Option(("--explain",), "explain", default=False, help="Say what each score is the sum of.")
RECALL = (
    LIMIT,
    *FILTERS,
    FOR_PATH,
    FOR_COMMAND,
    FOR_TOOL,
    ON_ERROR,
    PUSH,
    VERIFY,
    WORKSPACE,
    EXPLAIN,
    SESSION,
    *SHARED,
)
# What narrows down where a recall looks.
NARROWING = (*FILTERS, FOR_PATH, FOR_COMMAND, FOR_TOOL)
# What may stand in place of a query.
WITHOUT_QUERY = frozenset(("for_path", "for_command", "for_tool", "on_error"))


def quickly(options: Sequence[Option], args: Sequence[str]) -> tuple[list[str], dict[str, Any]] | None:
    """The words and options of a command line; None for anything but the plainest, which is click's to judge."""
    known = {flag: option for option in options for flag in option.flags}
    given: dict[str, Any] = {option.name: () if option.many else option.default for option in options}
    words: list[str] = []
    waiting = iter(args)
    for arg in waiting:
        if arg == "--":
            words += waiting
        elif not arg.startswith("-") or arg == "-":
            words.append(arg)
        elif not _take(known, arg, waiting, given):
            return None
    return (words, given) if words or any(given.get(name) is not None for name in WITHOUT_QUERY) else None


def _take(known: Mapping[str, Option], arg: str, rest: Any, given: dict[str, Any]) -> bool:
    """Take one option and what stands behind it; False where it is not as the table says."""
    flag, joined, value = arg.partition("=")
    option = known.get(flag if arg.startswith("--") else arg)
    if option is None or (joined and not (arg.startswith("--") and option.takes)):
        return False
    if not option.takes:
        given[option.name] = True
        return True
    taken = _value(option, value if joined else next(rest, None))
    if taken is None:
        return False
    given[option.name] = (*given[option.name], taken) if option.many else taken
    return True


def _value(option: Option, text: str | None) -> str | int | None:
    if text is None or option.takes == "text":
        return text
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 6 else 0
    return number if 1 <= number <= MOST_HITS else None
