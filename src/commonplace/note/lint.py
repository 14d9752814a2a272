"""What is wrong with a note's file, line by line: for somebody who has just edited it. It reads text and nothing else."""

from __future__ import annotations

import re
from typing import NamedTuple

from commonplace.errors import BadFormat
from commonplace.note.format import parse, split
from commonplace.note.header import DATE_KEYS, Field, read_header
from commonplace.note.kind import Kind, kind_of
from commonplace.note.limits import DESCRIPTION_CHARS

_HEADER_LINE = re.compile(r"header line (\d+) ")


class Fault(NamedTuple):
    """One thing wrong, and the line it is on, counted from 1."""

    line: int
    what: str


def faults(source: bytes, name: str) -> list[Fault]:
    """What a person would want to put right before the file is kept, by line."""
    try:
        note = parse(source, name)
    except BadFormat as problem:
        return [Fault(source[: max(source.find(b"\0"), 0)].count(b"\n") + 1, str(problem))]
    parts = split(source.decode("utf-8", "replace"))
    before = parts.lead.count("\n") + 1
    if not parts.opening:
        cut = [odd for odd in note.odd if "no closing" in odd]
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
