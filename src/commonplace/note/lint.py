"""What is wrong with a note's file, or may not be meant, line by line: for somebody who has just edited it.

It reads text, as it is and as it was before, and nothing else.
"""

from __future__ import annotations

import re
from itertools import pairwise

from commonplace.errors import BadFormat
from commonplace.named import NamedTuple
from commonplace.note.format import parse, split
from commonplace.note.header import DATE_KEYS, Field, Header, read_header
from commonplace.note.kind import Kind, kind_of
from commonplace.note.limits import DESCRIPTION_CHARS

_HEADER_LINE = re.compile(r"header line (\d+) ")
_RULE = re.compile(r"^---[ \t]*$", re.MULTILINE)
_UNOPENED = "the file does not begin with the header's `---` line, so all of it would be read as text"


class Fault(NamedTuple):
    """One thing wrong, and the line it is on, counted from 1."""

    line: int
    what: str


def faults(source: bytes, name: str, was: bytes = b"") -> list[Fault]:
    """What a person would want to put right before the file is kept, by line. `was` is the file before the edit."""
    try:
        note = parse(source, name)
    except BadFormat as problem:
        return [Fault(source[: max(source.find(b"\0"), 0)].count(b"\n") + 1, str(problem))]
    parts = split(source.decode("utf-8", "replace"))
    before = parts.lead.count("\n") + 1
    if not parts.opening:
        cut = [odd for odd in note.odd if "no closing" in odd] or [_UNOPENED] * _unopened(note.body, was)
        return [Fault(before, odd) for odd in cut] or ([] if note.body.strip() else [Fault(before, "there is no text")])
    header = read_header(parts.header)
    found = [
        Fault(before + int(line[1]), "this is not `key: value`")
        for odd in header.odd
        if (line := _HEADER_LINE.match(odd))
    ]
    for key, field in header.fields.items():
        if why := _wrong(key, field):
            found.append(Fault(before + field.start + 1, why))
    if not note.body.strip():
        found.append(Fault(before + len(parts.header) + 2, "there is no text below the header"))
    return sorted(found)


def added(source: bytes, was: bytes) -> list[Fault]:
    """The keys a person put in that mean nothing to us, as they are spelled. They are kept."""
    before, header = _header(source)
    there = {spelled for _, spelled in _header(was)[1].others}
    return [Fault(before + at + 1, spelled) for at, spelled in header.others if spelled not in there]


def called(source: bytes, was: bytes) -> Fault | None:
    """The name a person gave the note in its header, and on which line; None where it is as it was."""
    before, header = _header(source)
    now, then = header.fields.get("name"), _header(was)[1].fields.get("name")
    if now is None or not isinstance(now.value, str) or not now.value or now.value == (then and then.value):
        return None
    return Fault(before + now.start + 1, now.value)


def _header(source: bytes) -> tuple[int, Header]:
    """What a file's header says, and the line it begins on."""
    parts = split(source.decode("utf-8", "replace"))
    return parts.lead.count("\n") + 1, read_header(parts.header)


def _unopened(text: str, was: bytes) -> bool:
    """Whether a file that had a header has its lines still, and they stand where no header is: the first `---` is gone."""
    if not split(was.decode("utf-8", "replace")).opening:
        return False
    rules = [found.start() for found in _RULE.finditer(text)][:2]
    pieces = [text[start:end] for start, end in pairwise((0, *rules))]
    return any(map(_reads_as_header, (text.strip("\n").partition("\n\n")[0], *pieces)))


def _reads_as_header(text: str) -> bool:
    """Whether lines are a header's, with a key of ours among them, whatever the first of them has become."""
    lines = [line + "\n" for line in text.strip("\n").split("\n")]
    return any(header.fields and not header.odd for header in (read_header(lines), read_header(lines[1:])))


def _wrong(key: str, field: Field) -> str:
    value = field.value if isinstance(field.value, str) else ""
    if key in DATE_KEYS and value and not _a_day(value):
        return f"`{field.spelled}: {value[:40]}` is not a date; write YYYY-MM-DD"
    if key == "type" and value and kind_of(value) is Kind.OTHER and value.casefold() != Kind.OTHER:
        return f"{value[:40]!r} is no kind; choose {', '.join(kind for kind in Kind if kind is not Kind.OTHER)}"
    if key == "description" and len(value) > DESCRIPTION_CHARS:
        return f"the description has {len(value):,} characters, over {DESCRIPTION_CHARS}; say it shorter"
    return ""


def _a_day(value: str) -> bool:
    return parse(f"---\ncreated: {value}\n---\n".encode(), "x").created is not None
