"""The header reader: string first, so that what people and models write is taken as they meant it.

`description: deploy: use x`, `no`, `2026-03-25` and `[[name]]` are all just text here; YAML would make a broken
file, False, a date and a nested list of them. What this module does not understand it skips over, and the line
stays in the file. It knows which keys mean something to us, not what a note is.
"""

from __future__ import annotations

import re
from typing import NamedTuple

# The keys we manage, in the order the writer leaves them.
TEXT_KEYS = ("name", "title", "description", "type", "origin", "session")
DATE_KEYS = ("created", "updated", "expires")
LIST_KEYS = ("tags", "applies_to", "supersedes")
ORDER = (
    "name", "title", "description", "type", "tags", "created", "updated", "expires",
    "pinned", "applies_to", "supersedes", "origin", "session",
)  # fmt: skip
_KNOWN = frozenset(ORDER)

# Spellings of the same keys in other systems' files. Looked up casefolded.
_ALIASES = {
    "kind": "type",
    "modified": "updated",
    "originsessionid": "session",
    "origin_session_id": "session",
    "appliesto": "applies_to",
    "applies-to": "applies_to",
}
# The block Claude Code nests a note's type in.
_NEST = "metadata"

_KEY = re.compile(r"([ \t]*)([A-Za-z_][\w.-]{0,63})[ \t]*:(?:[ \t]+(.*)|())", re.DOTALL)
_TIGHT = re.compile(r"([ \t]*)([A-Za-z_][\w-]{0,63}):(.*)", re.DOTALL)
_ITEM = re.compile(r'\s*("(?:[^"\\]|\\.)*"|\'(?:[^\']|\'\')*\'|[^,]*)\s*(?:,|$)')
_COMMENT = re.compile(r"(?:^|\s+)#.*", re.DOTALL)
_BLOCK_SCALAR = re.compile(r"([|>])[+-]?[0-9]?\s*(?:#.*)?")
# One word followed by a comment: a slug, a type, a date. Longer text keeps its `#`.
_WORD_AND_COMMENT = re.compile(r"([\w.:+-]+)\s+#.*", re.DOTALL)


class Field(NamedTuple):
    """One value in a header, and where it stands."""

    spelled: str
    indent: str
    start: int
    stop: int
    value: str | tuple[str, ...]


class Header(NamedTuple):
    """What a header says: fields by our names, and what was odd about it."""

    fields: dict[str, Field]
    odd: tuple[str, ...]


def read_header(lines: list[str]) -> Header:
    """Read header lines (endings and all). A repeated key: the last wins and is reported."""
    fields: dict[str, Field] = {}
    nested: dict[str, Field] = {}
    odd: list[str] = []
    at = 0
    while at < len(lines):
        line = lines[at].rstrip()
        stop = _block_end(lines, at)
        found = _key(line)
        if found is None:
            if line and not line.lstrip().startswith("#"):
                odd.append(f"header line {at + 1} is not `key: value`; it is kept as it is")
            at += 1
            continue
        indent, spelled, rest = found
        key = canonical(spelled)
        if key == _NEST and not rest:
            _read_nest(lines, at + 1, stop, nested)
        elif key in _KNOWN:
            if key in fields:
                odd.append(f"`{spelled}` stands in the header twice; the last one counts")
            block = [line.rstrip("\r\n") for line in lines[at + 1 : stop]]
            fields[key] = Field(spelled, indent, at, stop, _value(key, rest, block))
        at = stop
    return Header({**nested, **fields}, tuple(odd))


def canonical(spelled: str) -> str:
    """Our name for a key as a file spells it."""
    low = spelled.casefold()
    return _ALIASES.get(low, low)


def write_field(lines: list[str], key: str, text: str | None, newline: str) -> list[str]:
    """The header's lines with one value written, or taken out where `text` is None; the rest untouched."""
    fields = read_header(lines).fields
    here = fields.get(key)
    if here is not None:
        new = [] if text is None else [f"{here.indent}{here.spelled}: {text}{newline}"]
        out = lines[: here.start] + new + lines[here.stop :]
        # A second spelling of the same key (a repeat, or a nested twin) would come back to life.
        return write_field(out, key, None, newline) if text is None else out
    if text is None:
        return lines
    before = [fields[k].stop for k in ORDER[: ORDER.index(key)] if k in fields and not fields[k].indent]
    at = max(before, default=0)
    return [*lines[:at], f"{key}: {text}{newline}", *lines[at:]]


def _key(line: str) -> tuple[str, str, str] | None:
    if line[:1] in (" ", "\t", "-", "#", ""):
        return None
    return _split_key(line)


def _split_key(line: str) -> tuple[str, str, str] | None:
    found = _KEY.fullmatch(line)
    if found:
        return found[1], found[2], (found[3] or "").strip()
    found = _TIGHT.fullmatch(line)
    if found and canonical(found[2]) in _KNOWN:
        return found[1], found[2], found[3].strip()
    return None


def _block_end(lines: list[str], at: int) -> int:
    """Where the value that starts on line `at` ends: deeper lines belong to it, and items under an empty one."""
    found = _key(lines[at].rstrip())
    if found is None:
        return at + 1
    stop = at + 1
    for i in range(at + 1, len(lines)):
        line = lines[i]
        if not line.strip():
            continue
        if line[0] in " \t" or (not found[2] and line.startswith("-")):
            stop = i + 1
        else:
            break
    return stop


def _read_nest(lines: list[str], at: int, stop: int, into: dict[str, Field]) -> None:
    while at < stop:
        found = _split_key(lines[at].rstrip())
        end = at + 1
        if found:
            indent, spelled, rest = found
            while end < stop and (_depth(lines[end]) > len(indent) or not lines[end].strip()):
                end += 1
            key = canonical(spelled)
            if key in _KNOWN:
                block = [line.rstrip("\r\n") for line in lines[at + 1 : end]]
                into[key] = Field(spelled, indent, at, end, _value(key, rest, block))
        at = end


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _value(key: str, rest: str, block: list[str]) -> str | tuple[str, ...]:
    if key in LIST_KEYS:
        return _items(rest, block)
    text = _text(rest, block)
    if key in ("title", "description") or (rest[:1] in "\"'" and rest):
        return text
    word = _WORD_AND_COMMENT.fullmatch(text)
    return word[1] if word else text


def _text(rest: str, block: list[str]) -> str:
    scalar = _BLOCK_SCALAR.fullmatch(rest)
    if scalar and any(line.strip() for line in block):
        depth = min(_depth(line) for line in block if line.strip())
        body = [line[depth:].rstrip() for line in block]
        while body and not body[-1]:
            body.pop()
        return "\n".join(body) if scalar[1] == "|" else " ".join(line.strip() for line in body if line)
    # A plain or quoted value that YAML writers wrapped over several lines.
    whole = " ".join([rest, *(line.strip() for line in block)]).strip() if block else rest
    return unquoted(whole)


def unquoted(text: str) -> str:
    """The text a quoted scalar stands for; text that is not one quoted scalar stays as it is."""
    if text[:1] not in ('"', "'"):
        return text
    found = _ITEM.match(text)
    if found is None or found[1] == text[0] or not _closes(found[1]):
        return text
    if text[found.end(1) :].strip() and not _COMMENT.fullmatch(text[found.end(1) :]):
        return text
    return _dequoted(found[1])


def _closes(token: str) -> bool:
    return len(token) > 1 and token[0] in "\"'" and token[-1] == token[0]


def _dequoted(token: str) -> str:
    if not _closes(token):
        return token
    if token[0] == "'":
        return token[1:-1].replace("''", "'")
    import json

    try:
        text = json.loads(token, strict=False)
    except ValueError:  # an escape of YAML's that JSON does not have: keep it as it reads
        text = token[1:-1].replace('\\"', '"').replace("\\\\", "\\")
    return str(text).encode("utf-8", "replace").decode()


def _items(rest: str, block: list[str]) -> tuple[str, ...]:
    flow = rest
    if rest.startswith("["):
        flow = " ".join([rest, *(line.strip() for line in block)]).strip()
        flow = _after_list(flow)
        flow = flow[1:-1] if flow.endswith("]") else flow[1:]
    elif not rest:
        items = (line.strip()[1:].strip() for line in block if line.strip().startswith("-"))
        return tuple(text for text in (_item(item) for item in items) if text)
    return tuple(text for text in (_item(token) for token in _split_items(flow)) if text)


def _after_list(text: str) -> str:
    """A flow list without the comment behind it."""
    end = text.rfind("]")
    return text[: end + 1] if end > 0 and _COMMENT.fullmatch(text[end + 1 :] or " #") else text


def _split_items(text: str) -> list[str]:
    tokens: list[str] = []
    at = 0
    while at < len(text):
        found = _ITEM.match(text, at)
        if found is None or found.end() == at:  # text after a closed quote: take it up to the comma
            end = text.find(",", at)
            end = len(text) if end < 0 else end
            tokens.append(text[at:end])
            at = end + 1
        else:
            tokens.append(found[1])
            at = found.end()
    return tokens


def _item(token: str) -> str:
    token = token.strip()
    return _dequoted(token) if token[:1] in ('"', "'") else token


# --- writing -------------------------------------------------------------------------------------------------

# What YAML, and people, would read as something other than text.
_LOOKS_TYPED = re.compile(
    r"(?:true|false|yes|no|on|off|y|n|null|~)|[-+.]?[0-9][0-9_.,:eExXoO+-]*|\.(?:inf|nan)|<<|=", re.IGNORECASE
)
_PLAIN = re.compile(r"[^\W_][\w ./()'+@%=;,?!&*$~^-]*")
_PLAIN_ITEM = re.compile(r"[^\W_][\w ./()+@=-]*")


def scalar(text: str) -> str:
    """A value as the strict writer leaves it: bare where every reader takes it for this text, else a JSON string."""
    plain = _PLAIN.fullmatch(text) and text == text.strip() and not _LOOKS_TYPED.fullmatch(text)
    return text if plain else quoted(text)


def quoted(text: str) -> str:
    """A JSON string: a scalar no text can break out of, and YAML reads it the same."""
    import json

    return json.dumps(text, ensure_ascii=False)


def flow_list(items: tuple[str, ...]) -> str:
    """A list on one line."""
    return "[" + ", ".join(i if _PLAIN_ITEM.fullmatch(i) and i == i.strip() else quoted(i) for i in items) + "]"
