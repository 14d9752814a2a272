"""Markdown with a header <-> Note.

`parse(render(n)) == n`. `render(parse(b)) == b` for any bytes that can be read at all: rendering a note that came
from a file edits that file's own bytes, and touches only the values that differ. Knows nothing of directories.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date
from hashlib import sha256

from commonplace.errors import BadFormat
from commonplace.named import NamedTuple
from commonplace.note.header import Header, flow_list, quoted, read_header, scalar, write_field
from commonplace.note.kind import FOLDERS, Kind, kind_of
from commonplace.note.limits import DESCRIPTION_CHARS, FILE_BYTES
from commonplace.note.note import Note, spaced, unix
from commonplace.note.prose import derived_description, derived_title, heading_of

_FENCE = "---"
# What makes the lines between two fences a header, and not prose between two rules.
_KEY_LINE = r"[^\W\d][\w.-]*[ \t]*:|\"[^\"]+\"[ \t]*:[ \t]|'[^']+'[ \t]*:[ \t]"
# A header longer than this is a document that happens to begin with a rule.
_HEADER_LINES = 200
_DAY = r"(\d{4})-(\d{2})-(\d{2})(?:$|[T ]\d)"
_TRUE = frozenset(("true", "yes", "on", "1"))
# What is odd about a description that is longer than the index shows.
OVERLONG = f"the description is over {DESCRIPTION_CHARS} characters; the index shows its beginning"


class Parts(NamedTuple):
    """A file's text, cut where its structure changes. Joined again they are the text."""

    lead: str  # byte order mark, blank lines before the header
    opening: str
    header: list[str]
    closing: str
    gap: str  # the one blank line between header and body
    body: str
    tail: str  # the one line end after the body

    @property
    def newline(self) -> str:
        sample = self.opening or self.body.partition("\n")[0] + "\n"
        return "\r\n" if sample.endswith("\r\n") or (not self.opening and self.tail == "\r\n") else "\n"

    def join(self) -> str:
        return "".join((self.lead, self.opening, *self.header, self.closing, self.gap, self.body, self.tail))


def stamp_of(source: bytes) -> str:
    """The hash by which a note's exact bytes are known: what `expect=` compares."""
    return sha256(source).hexdigest()


def parse(source: bytes, name: str, folder: str = "") -> Note:
    """Read a note from a file's bytes.

    Raises:
        BadFormat: the bytes are not text, or too many.

    """
    text, odd = _decoded(source)
    parts = split(text)
    header = read_header(parts.header)
    if not parts.opening and re.match(r"-{3,}[ \t]*\r?\n[A-Za-z_]+:", text.lstrip("\ufeff\r\n")):
        odd = (*odd, "the header has no closing `---` line; all of it was read as text")
    return _note(source, name, folder, unix(parts.body), header, (*odd, *header.odd))


def render(note: Note) -> bytes:
    """A note's file. Bytes it was read from are edited, not rewritten; without any, the strict writer's form.

    Raises:
        BadFormat: a field holds half a character, which no file can.

    """
    return written(note).source or b""


def written(note: Note) -> Note:
    """The note as it is read from the file `render` makes of it, with that file's bytes and stamp."""
    try:
        if note.source is None:
            return _proved(note, _settled(note, _fresh(note), "\n"))
        base = parse(note.source, note.name, note.folder)
        if base == note:
            return base
        text, odd = _decoded(note.source)
        back = _edited(note, base, split(text))
    except UnicodeEncodeError as problem:
        raise BadFormat(f"{note.name!r} holds half a character ({problem.reason}); decode its text properly") from None
    data = _encoded((back.source or b"").decode(), latin=any("UTF-8" in o for o in odd))
    return _proved(note, back if data == back.source else parse(data, note.name, note.folder))


def renamed(note: Note, name: str) -> Note:
    """The note under another name: the `name:` line its file has follows, and every other byte stays."""
    if note.source is None:
        return replace(note, name=name, title="" if note.title == spaced(note.name) else note.title)
    text, odd = _decoded(note.source)
    parts = split(text)
    said = read_header(parts.header).fields.get("name")
    if said is not None and said.value == note.name:
        parts = parts._replace(header=write_field(list(parts.header), "name", scalar(name), parts.newline))
    return parse(_encoded(parts.join(), latin=any("UTF-8" in o for o in odd)), name, note.folder)


def split(text: str) -> Parts:
    """Cut a file's text into its parts."""
    start = 1 if text.startswith("\ufeff") else 0
    while text[start : start + 2] == "\r\n" or text[start : start + 1] == "\n":
        start += 1 if text[start] == "\n" else 2
    lines = _lines(text, start)
    if lines and lines[0].rstrip() == _FENCE and (end := _closing(lines)):
        offset = start + sum(len(line) for line in lines[: end + 1])
        gap = _newline_at(text, offset)
        body, tail = _untailed(text[offset + len(gap) :])
        return Parts(text[:start], lines[0], lines[1:end], lines[end], gap, body, tail)
    start = 1 if text.startswith("\ufeff") else 0
    body, tail = _untailed(text[start:])
    return Parts(text[:start], "", [], "", "", body, tail)


# --- reading -------------------------------------------------------------------------------------------------


def _decoded(source: bytes) -> tuple[str, tuple[str, ...]]:
    if len(source) > FILE_BYTES:
        raise BadFormat(f"over {FILE_BYTES} bytes, which is no longer one fact; split it")
    if b"\0" in source:
        what = "UTF-16 text" if source[:2] in (b"\xff\xfe", b"\xfe\xff") else "not text"
        raise BadFormat(f"{what} (it has NUL bytes); save it as UTF-8")
    odd: list[str] = []
    try:
        text = source.decode()
    except UnicodeDecodeError:
        text = source.decode("latin-1")
        odd.append("not UTF-8; read as Latin-1: save it as UTF-8 to be sure of its letters")
    if text.startswith("\ufeff"):
        odd.append("begins with a byte order mark; read without it")
    if "\r\n" in text:
        odd.append("has Windows line ends; read as if it had none")
    return text, tuple(odd)


def _lines(text: str, start: int) -> list[str]:
    """The first lines of a text with their ends. Only \\n ends a line: the odd separators are text."""
    out: list[str] = []
    while start < len(text) and len(out) <= _HEADER_LINES:
        end = text.find("\n", start) + 1 or len(text)
        out.append(text[start:end])
        start = end
    return out


def _closing(lines: list[str]) -> int:
    """The index of the closing fence; 0 where there is none, or nothing between reads as a header."""
    for i, line in enumerate(lines[1:], 1):
        if line.rstrip() == _FENCE:
            inner = [text for text in lines[1:i] if text.strip()]
            return i if not inner or any(re.match(_KEY_LINE, text) for text in inner) else 0
    return 0


def _newline_at(text: str, at: int) -> str:
    return "\r\n" if text[at : at + 2] == "\r\n" else "\n" if text[at : at + 1] == "\n" else ""


def _untailed(body: str) -> tuple[str, str]:
    tail = "\r\n" if body.endswith("\r\n") else "\n" if body.endswith("\n") else ""
    return (body[: -len(tail)] if tail else body), tail


def _note(source: bytes, name: str, folder: str, body: str, header: Header, odd: tuple[str, ...]) -> Note:
    fields = header.fields
    heading = heading_of(body)

    def text(key: str) -> str:
        field = fields.get(key)
        return field.value if field and isinstance(field.value, str) else ""

    def items(key: str) -> tuple[str, ...]:
        field = fields.get(key)
        return field.value if field and isinstance(field.value, tuple) else ()

    days: dict[str, date | None] = {}
    for key in ("created", "updated", "expires"):
        days[key] = _day(text(key))
        if text(key) and days[key] is None:
            odd = (*odd, f"`{key}: {text(key)[:40]}` is not a date; write YYYY-MM-DD")
    word = text("type")
    kind = kind_of(word) if word else FOLDERS.get(folder, Kind.OTHER)
    if word and kind is Kind.OTHER and word.casefold() != Kind.OTHER:
        odd = (*odd, f"the type {word[:40]!r} is none of ours; listed under Other")
    named = text("name")
    description = text("description") if "description" in fields else derived_description(body)
    if len(description) > DESCRIPTION_CHARS:
        odd = (*odd, OVERLONG)
    return Note(
        name=name,
        title=text("title") or (named if named != name else "") or derived_title(body, name),
        description=description,
        kind=kind,
        word=word,
        body=body,
        tags=items("tags") if "tags" in fields else heading.tags,
        created=days["created"] if "created" in fields else _day(heading.text),
        updated=days["updated"],
        expires=days["expires"],
        pinned=text("pinned").casefold() in _TRUE,
        applies_to=items("applies_to"),
        supersedes=items("supersedes"),
        origin=text("origin"),
        session=text("session"),
        folder=folder,
        stamp=stamp_of(source),
        source=source,
        odd=odd,
    )


def _day(text: str) -> date | None:
    found = re.match(_DAY, text)
    if not found:
        return None
    try:
        return date(int(found[1]), int(found[2]), int(found[3]))
    except ValueError:
        return None


# --- writing -------------------------------------------------------------------------------------------------


def _value(note: Note, key: str) -> str | None:
    """A managed value as header text; None where the note has none."""
    if key == "type":
        return scalar(note.word) if note.word else None if note.kind is Kind.OTHER else str(note.kind)
    if key == "pinned":
        return "true" if note.pinned else None
    value = getattr(note, key)
    if isinstance(value, tuple):
        return flow_list(value) if value else None
    if isinstance(value, date):
        return value.isoformat()
    if key == "description":
        return quoted(value)
    return scalar(value) if value else None


_KEYS = ("title", "description", "type", "tags", "created", "updated", "expires", "pinned",
         "applies_to", "supersedes", "origin", "session")  # fmt: skip
_BARE_OTHER = "other"


def _fresh(note: Note) -> Parts:
    lines = [f"name: {scalar(note.name)}\n"]
    for key in _KEYS:
        value = _value(note, key)
        if value is not None and not (key == "title" and note.title == derived_title(note.body, note.name)):
            lines.append(f"{key}: {value}\n")
    fence = _FENCE + "\n"
    return Parts("", fence, lines, fence, "\n", note.body, "\n")


def _edited(note: Note, base: Note, parts: Parts) -> Note:
    newline = parts.newline
    header = list(parts.header)
    for key in _KEYS:
        if _differs(note, base, key):
            header = write_field(header, key, _value(note, key), newline)
    if header and not parts.opening:
        parts = _opened(parts, newline)
    parts = parts._replace(header=header)
    if note.body != base.body:
        body = note.body.replace("\n", newline) if newline != "\n" else note.body
        parts = parts._replace(body=body, tail=parts.tail or newline)
        if parts.opening:  # whose closing fence may have been the file's last line, without a line end
            parts = parts._replace(closing=parts.closing.rstrip("\r\n") + newline, gap=parts.gap or newline)
    return _settled(note, parts, newline)


def _opened(parts: Parts, newline: str) -> Parts:
    """A file without a header, given an empty one."""
    fence = _FENCE + newline
    return parts._replace(opening=fence, closing=fence, gap=newline)


def _differs(note: Note, base: Note, key: str) -> bool:
    if key == "type":
        return (note.kind, note.word) != (base.kind, base.word)
    return bool(getattr(note, key) != getattr(base, key))


def _settled(note: Note, parts: Parts, newline: str) -> Note:
    """Write out the values that were read from the body, where a new body would now give others. Read it back."""
    back = parse(parts.join().encode(), note.name, note.folder)
    if back.body != note.body and not parts.opening:  # a body that begins as a file may: with a header, or a mark
        parts = _opened(parts, newline)
        back = parse(parts.join().encode(), note.name, note.folder)
    for _ in _KEYS:  # each round settles one
        wrong = next((key for key in _KEYS if _differs(note, back, key)), None)
        if wrong is None:
            break
        header = write_field(list(parts.header), wrong, _explicit(wrong, _value(note, wrong)), newline)
        parts = (parts if parts.opening else _opened(parts, newline))._replace(header=header)
        back = parse(parts.join().encode(), note.name, note.folder)
    return back


def _proved(note: Note, back: Note) -> Note:
    """What was read back, if it says what the note does: a header can be too long already to take a line more."""
    wrong = next((key for key in ("body", *_KEYS) if _differs(note, back, key)), None)
    if wrong is None:
        return back
    raise BadFormat(
        f"{note.name!r} cannot be written so that its {wrong} reads the same; shorten its header, or its {wrong}"
    )


def _explicit(key: str, value: str | None) -> str:
    """A header value that says "none" where leaving the line out would let the body speak."""
    return value if value is not None else _BARE_OTHER if key == "type" else "[]" if key == "tags" else '""'


def _encoded(text: str, *, latin: bool) -> bytes:
    if latin:
        try:
            raw = text.encode("latin-1")
            raw.decode()
        except UnicodeEncodeError:
            return text.encode()
        except UnicodeDecodeError:
            return raw
    return text.encode()
