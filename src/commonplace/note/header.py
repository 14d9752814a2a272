"""The header reader: string first, so that what people and models write is taken as they meant it.

`description: deploy: use x`, `no`, `2026-03-25` and `[[name]]` are all just text here; YAML would make a broken
file, False, a date and a nested list of them. What this module does not understand it skips over, and the line
stays in the file. It knows which keys mean something to us, not what a note is.
"""

from __future__ import annotations

import re
import sys

from commonplace.named import NamedTuple

# The keys we manage, in the order the writer leaves them.
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
# Every spelling of a key that means something to us, for whoever looks for a slip in one.
SPELLINGS = (*ORDER, *_ALIASES)
# The block Claude Code nests a note's type in.
_NEST = "metadata"

# (Most patterns are compiled where they are first met: a plain note meets few of them.)
# A key: a word, several (`date created`, as Obsidian's users write), or either in quotes.
_KEY = re.compile(
    r"([ \t]*)([^\W\d](?:[\w .-]{0,62}[\w.-])?|\"[^\"]{1,64}\"|'[^']{1,64}')[ \t]*:(?:[ \t]+(.*)|())", re.DOTALL
)
_TIGHT = r"(?s)([ \t]*)([A-Za-z_][\w-]{0,63})[ \t]*:(.*)"
_QUOTED = r'(?s)"(?:[^"\\]|\\.)*"|\'(?:[^\']|\'\')*\''
_ITEM = re.compile(r'\s*("(?:[^"\\]|\\.)*"|\'(?:[^\']|\'\')*\'|[^,]*)\s*(?:,|$)')
_COMMENT = r"(?s)(?<!\s)\s+#.*"
# A list or a quoted text is looked for its end so far down: past it, it is a mistake, not a value.
_CLOSED_LINES = 30
# Longest line whose comment is looked for: each `#` on it costs a reading of what stands before.
_COMMENTED_CHARS = 1000
_COMMENT_START = r"(?<!\s)\s+#"
# Where a flow list closes: at the first bracket outside quotes that nothing but a comment follows.
_LIST_END = r'(?s)(?<=[\[,\s])(?:"(?:[^"\\]|\\.)*"|\'(?:[^\']|\'\')*\')|(\])(?=\s*\Z|\s+#)'
_BLOCK_SCALAR = r"([|>])(?:[+-]?[0-9]?|[0-9][+-])\s*(?:#.*)?"
# What may follow a backslash in a double-quoted scalar, in JSON and in YAML.
_ESCAPE = r"(?s)\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))"
_ESCAPES = {
    '"': '"', "\\": "\\", "/": "/", " ": " ", "\t": "\t", "0": "\0", "a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "n": "\n",
    "r": "\r", "t": "\t", "v": "\v", "N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029",
}  # fmt: skip
# One word followed by a comment: a slug, a type, a date. Longer text keeps its `#`.
_WORD_AND_COMMENT = r"(?s)([\w.:+-]+)\s+#.*"


class Field(NamedTuple):
    """One value in a header, and where it stands."""

    spelled: str
    indent: str
    start: int
    stop: int
    value: str | tuple[str, ...]


class Header(NamedTuple):
    """What a header says: fields by our names, what was odd about it, and the keys that mean nothing to us, by line."""

    fields: dict[str, Field]
    odd: tuple[str, ...]
    others: tuple[tuple[int, str], ...] = ()


def read_header(lines: list[str]) -> Header:
    """Read header lines (endings and all). A repeated key: the last wins and is reported."""
    fields: dict[str, Field] = {}
    nested: dict[str, Field] = {}
    odd: list[str] = []
    others: list[tuple[int, str]] = []
    at = 0
    while at < len(lines):
        line = lines[at].rstrip()
        found = _key(line)
        if found is None:
            if line and not line.lstrip().startswith("#"):
                odd.append(f"header line {at + 1} is not `key: value`; it is kept as it is")
            at += 1
            continue
        indent, spelled, rest = found
        key, stop = canonical(spelled), _block_end(lines, at, rest)
        if key == _NEST and _open(rest):
            _read_nest(lines, at + 1, stop, nested)
        elif key in _KNOWN:
            if key in fields:
                odd.append(f"`{spelled}` stands in the header twice; the last one counts")
            block = [line.rstrip("\r\n") for line in lines[at + 1 : stop]]
            fields[key] = Field(spelled, indent, at, stop, _value(key, rest, block))
        else:
            others.append((at, spelled))
        at = stop
    return Header({**nested, **fields}, tuple(odd), tuple(others))


def canonical(spelled: str) -> str:
    """Our name for a key as a file spells it."""
    if spelled in _KNOWN:
        return spelled
    low = spelled.strip("\"'").casefold()
    return _ALIASES.get(low, low)


def write_field(lines: list[str], key: str, text: str | None, newline: str) -> list[str]:
    """The header's lines with one value written, or taken out where `text` is None; the rest untouched."""
    fields = read_header(lines).fields
    here = fields.get(key)
    if here is not None:
        remarks, behind = _remarks(key, lines[here.start : here.stop]), _behind(key, lines[here.start])
        if behind and (text is None or _value(key, text + behind, []) != _value(key, text, [])):
            remarks, behind = [behind.strip(), *remarks], ""
        new = [] if text is None else [f"{here.indent}{here.spelled}: {text}{behind}{newline}"]
        out = [
            *lines[: here.start],
            *(f"{here.indent}{remark}{newline}" for remark in remarks),
            *new,
            *lines[here.stop :],
        ]
        # A second spelling of the same key (a repeat, or a nested twin) would come back to life.
        return write_field(out, key, None, newline) if text is None else out
    if text is None:
        return lines
    before = [fields[k].stop for k in ORDER[: ORDER.index(key)] if k in fields and not fields[k].indent]
    at = max(before, default=0)
    line = f"{key}: {text}{newline}"
    at += _block_end([line, *lines[at:]], 0, text) - 1  # deeper lines that belong to nothing must not become its own
    return [*lines[:at], line, *lines[at:]]


def _remarks(key: str, block: list[str]) -> list[str]:
    """The comments a person put between the lines of a value, or behind the later ones: they outlive it."""
    rest = (_split_key(block[0].rstrip()) or ("", "", ""))[2]
    scalar = re.fullmatch(_BLOCK_SCALAR, rest)
    if scalar:  # in which # is text
        return ["#" + rest.partition("#")[2]] if "#" in rest else []
    out = []
    for line in map(str.strip, block[1:]):
        found = line if line.startswith("#") else _behind_item(key, line)
        if found.startswith("#") and (key not in ("title", "description") or rest[:1] in ('"', "'")):
            out.append(found)
    return out


def _behind_item(key: str, line: str) -> str:
    """The comment behind one of a list's items, or behind the end of a quoted text; '' for none."""
    starts = [found.end() - 1 for found in re.finditer(_COMMENT_START, line)] if len(line) <= _COMMENTED_CHARS else []
    for at in starts:
        before = line[:at].rstrip()
        if key in LIST_KEYS and before.startswith("-"):
            item = before[1:].strip()
            if _item(line[1:].strip()) == _item(item):
                return line[at:]
        elif before.endswith(("]", '"', "'")):
            return line[at:]
    return ""


def _behind(key: str, line: str) -> str:
    """The comment a person put behind a value, with the space before it; '' where there is none, or `#` is text."""
    found = _split_key(line.rstrip())
    rest = found[2] if found else ""
    if rest.startswith("#"):
        return " " + rest
    if len(rest) > _COMMENTED_CHARS:
        return ""
    value = _value(key, rest, [])
    starts = (comment.start() for comment in re.finditer(_COMMENT_START, rest))
    return next((rest[at:] for at in starts if _value(key, rest[:at], []) == value), "")


def _key(line: str) -> tuple[str, str, str] | None:
    if line[:1] in (" ", "\t", "-", "#", ""):
        return None
    return _split_key(line)


def _split_key(line: str) -> tuple[str, str, str] | None:
    found = _KEY.fullmatch(line)
    if found:
        return found[1], found[2], (found[3] or "").strip()
    found = re.fullmatch(_TIGHT, line)
    if found and canonical(found[2]) in _KNOWN:
        return found[1], found[2], found[3].strip()
    return None


def _block_end(lines: list[str], at: int, rest: str) -> int:
    """Where the value that starts on line `at` ends: deeper lines belong to it, and items under an empty one.

    Comments between them do too, those behind them do not. `rest` is what stands behind its key.
    """
    stop = _closed_at(lines, at, rest)
    deeper = " \t-" if _open(rest) else " \t"
    for i in range(stop, len(lines)):
        line = lines[i]
        if line[0] in deeper and line.strip():
            stop = i + 1
        elif line.strip() and not (_open(rest) and line[0] == "#"):
            break
    return stop


def _closed_at(lines: list[str], at: int, rest: str) -> int:
    """Behind the line that closes a list or a quoted text begun on line `at`, however it is indented."""
    if rest[:1] not in ("[", '"', "'"):
        return at + 1
    text = rest
    for stop in range(at + 1, min(len(lines), at + _CLOSED_LINES) + 1):
        if _closed(text):
            return stop
        if stop == len(lines) or _key(lines[stop].rstrip()):  # the next value begins: this one was never closed
            break
        text += " " + lines[stop].strip()
    return at + 1


def _closed(text: str) -> bool:
    if text[0] == "[":
        return any(found[1] for found in re.finditer(_LIST_END, text))
    return re.match(_QUOTED, text) is not None


def _open(rest: str) -> bool:
    """Whether a key's value can only stand on the lines below it."""
    return not rest or rest.startswith("#")


def _read_nest(lines: list[str], at: int, stop: int, into: dict[str, Field]) -> None:
    while at < stop:
        found = _split_key(lines[at].rstrip())
        end = at + 1
        if found:
            indent, spelled, rest = found
            while end < stop and (
                _depth(lines[end]) > len(indent) or not lines[end].strip() or _item_of(lines[end], found)
            ):
                end += 1
            key = canonical(spelled)
            if key in _KNOWN:
                block = [line.rstrip("\r\n") for line in lines[at + 1 : end]]
                into[key] = Field(spelled, indent, at, end, _value(key, rest, block))
        at = end


def _item_of(line: str, key: tuple[str, str, str]) -> bool:
    """Whether a line is an item of the list an empty key above it begins, at its own depth."""
    return _open(key[2]) and _depth(line) == len(key[0]) and line.lstrip().startswith("-")


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip(" \t"))


def _value(key: str, rest: str, block: list[str]) -> str | tuple[str, ...]:
    if _open(rest) and any(line.strip() for line in block):
        rest = ""
    if key in LIST_KEYS:
        return _items(rest, block)
    text = _text(rest, [line for line in block if not line.startswith("#")])
    if key in DATE_KEYS:
        return re.sub(_COMMENT, "", text)
    if key in ("title", "description") or (rest[:1] in "\"'" and rest):
        return text
    word = re.fullmatch(_WORD_AND_COMMENT, text)
    return word[1] if word else text


def _text(rest: str, block: list[str]) -> str:
    scalar = re.fullmatch(_BLOCK_SCALAR, rest)
    if scalar and any(line.strip() for line in block):
        depth = min(_depth(line) for line in block if line.strip())
        body = [line[depth:].rstrip() for line in block]
        while body and not body[-1]:
            body.pop()
        return "\n".join(body) if scalar[1] == "|" else " ".join(line.strip() for line in body if line)
    # A plain or quoted value that YAML writers wrapped over several lines.
    whole = rest
    for line in filter(None, map(str.strip, block)):
        backslashes = len(whole) - len(whole.rstrip("\\"))
        joined = whole[:1] == '"' and backslashes % 2  # the line end itself is escaped
        whole = whole[:-1] + line if joined else f"{whole} {line}"
    return unquoted(whole.strip())


def unquoted(text: str) -> str:
    """The text a quoted scalar stands for; text that is not one quoted scalar stays as it is."""
    found = re.match(_QUOTED, text)
    if found is None:
        return text
    rest = text[found.end() :]
    return text if rest and not re.fullmatch(_COMMENT, rest) else _dequoted(found[0])


def _dequoted(token: str) -> str:
    if token[0] == "'":
        return token[1:-1].replace("''", "'")
    if "\\" not in token:
        return token[1:-1]
    text = re.sub(_ESCAPE, _unescaped, token[1:-1])
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # JSON writes some letters as two halves


def _unescaped(found: re.Match[str]) -> str:
    if digits := found[1] or found[2] or found[3]:
        number = int(digits, 16)
        return chr(number) if number <= sys.maxunicode else found[0]
    return _ESCAPES.get(found[4], found[0])  # an escape nobody has: as it reads


def _items(rest: str, block: list[str]) -> tuple[str, ...]:
    flow = rest
    if rest.startswith("["):
        flow = " ".join([rest, *(line.strip() for line in block)])
        flow = flow[1 : next((found.start() for found in re.finditer(_LIST_END, flow) if found[1]), None)]
    elif not rest:
        items = (line.strip()[1:].strip() for line in block if line.strip().startswith("-"))
        return tuple(text for text in (_item(item) for item in items) if text)
    return tuple(text for text in (_item(token) for token in _split_items(flow)) if text)


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
    word = re.fullmatch(_WORD_AND_COMMENT, token)
    return word[1] if word else unquoted(token)


# --- writing -------------------------------------------------------------------------------------------------

# What YAML, and people, would read as something other than text.
_LOOKS_TYPED = (
    r"(?i)(?:true|false|yes|no|on|off|y|n|null|~)|[-+.]?[0-9][0-9_.,:eE+-]*|[-+]?0[xob][0-9a-f_]+|\.(?:inf|nan)|<<|="
)
_PLAIN = r"[^\W_][\w ./()'+@%=;,?!&*$~^-]*"
_PLAIN_ITEM = r"[^\W_][\w ./()+@=-]*"


def scalar(text: str) -> str:
    """A value as the strict writer leaves it: bare where every reader takes it for this text, else a JSON string."""
    return text if _plain(text, _PLAIN) else quoted(text)


def quoted(text: str) -> str:
    """A JSON string: a scalar no text can break out of, and YAML reads it the same."""
    import json

    return json.dumps(text, ensure_ascii=False)


def flow_list(items: tuple[str, ...]) -> str:
    """A list on one line."""
    return "[" + ", ".join(item if _plain(item, _PLAIN_ITEM) else quoted(item) for item in items) + "]"


def _plain(text: str, pattern: str) -> bool:
    return bool(re.fullmatch(pattern, text)) and text == text.strip() and not re.fullmatch(_LOOKS_TYPED, text)
