"""What a text says of itself where its header says nothing: a title, a description, tags under a first heading.

It knows Markdown's headings and sentences, and neither headers nor notes.
"""

from __future__ import annotations

import re

from commonplace.named import NamedTuple
from commonplace.note.limits import DESCRIPTION_CHARS, clamp
from commonplace.note.note import spaced

_UNDER_HEADING = r"([A-Za-z][\w -]{0,30}):[ \t]+(.*)"
_MARKS = r"^(?:[-*+>]|\d+[.)])[ \t]+|\*\*|__(?=\S)"
# A full stop ends a sentence, but not after `e.g` nor after a `Dr` that begins the text.
_SENTENCE_END = r"(?<!\.\w)(?<!\A\w)(?<!\A\w\w)\.(?=\s)|[!?](?=\s)|[。！？।]"
# How far into a body we look for a heading or a first sentence.
_LOOK = 4000


def derived_title(body: str, name: str) -> str:
    """The title of a note whose header gives none: its first top heading, else its name."""
    fenced = False
    for line in body[:_LOOK].split("\n"):
        if line.startswith(("```", "~~~")):
            fenced = not fenced
        if not fenced and (heading := _heading_one(line)):
            return heading
    return spaced(name)


def derived_description(body: str) -> str:
    """The first sentence of the body's prose, on one line and within the limit."""
    prose = _first_paragraph(body[:_LOOK])
    end = re.search(_SENTENCE_END, prose)
    sentence = prose[: end.end()] if end else prose
    return clamp(sentence.rstrip(".。। "), DESCRIPTION_CHARS)


class Heading(NamedTuple):
    """A body's first line, where it is a top heading, and the tags under it, as the Go harness writes its sessions."""

    text: str = ""
    tags: tuple[str, ...] = ()


def heading_of(body: str) -> Heading:
    """The heading a body begins with, if it does, and what stands in the `key: value` lines right under it."""
    lines = body[:_LOOK].lstrip("\r\n").split("\n")
    heading = _heading_one(lines[0])
    if not heading:
        return Heading()
    tags: tuple[str, ...] = ()
    for line in lines[1:]:
        found = re.fullmatch(_UNDER_HEADING, line.rstrip("\r"))
        if not found:
            break
        if found[1].casefold() == "tags":
            tags = tuple(tag.strip() for tag in found[2].split(",") if tag.strip())
    return Heading(heading, tags)


def _heading_one(line: str) -> str:
    """The text of a top heading, without the hashes that may close it; '' for any other line."""
    if line[:2] not in ("# ", "#\t"):
        return ""
    text = line[2:].strip()
    bare = text.rstrip("#")
    return bare.rstrip() if bare[-1:] in ("", " ", "\t") else text


def _first_paragraph(body: str) -> str:
    paragraph: list[str] = []
    fenced = after_heading = False
    for line in map(str.strip, body.split("\n")):
        if line.startswith(("```", "~~~")):
            fenced = not fenced
        elif fenced or line.startswith("<!--"):
            continue
        elif line.startswith("#") or (after_heading and re.fullmatch(_UNDER_HEADING, line)):
            after_heading = True
            if paragraph:
                break
        elif line and not set(line) <= set("-=*_ "):
            after_heading = False
            item = bool(re.match(_MARKS, line))
            paragraph.append(re.sub(_MARKS, "", line))
            if item:
                break
        elif paragraph:
            break
        elif not line:
            after_heading = False
    return " ".join(" ".join(paragraph).split())
