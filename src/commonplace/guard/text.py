"""Text made safe to keep and to show: nothing invisible, nothing that moves a cursor, nothing that poses as structure.

`cleaned` is what is stored, `one_line` what a description or title may be, `inert` what may stand in a prompt.
It judges no meaning.
"""

from __future__ import annotations

import re

# Terminal sequences (ECMA-48): control sequences, operating system commands, other strings, two-byte escapes.
_TERMINAL = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]{0,64}[ -/]{0,8}[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x80-\x9f]{0,4096}(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]{0,8}[0-~]"
)

# Every character that is control, format, private, surrogate or invisible. Kept as a table rather than asked of
# `unicodedata`, which costs each process its import; a test compares the two.
_UNSEEN = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5"
    "\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ud800-\udfff\ue000-\uf8ff\ufdd0-\ufdef"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\U000110bd\U000110cd\U00013430-\U0001345f"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff\U000effff-\U0010ffff"
)
_SUSPECT = re.compile(f"[{_UNSEEN}]")
_BREAKS = re.compile("\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_JOINERS = "\u200c\u200d"
# Between these a joiner is spelling (Indic scripts, Persian) or one picture (emoji), not a hiding place.
_JOINABLE = re.compile("[\u0590-\u08ff\u0900-\u0dff\u0e00-\u109f\u1780-\u18af\u2190-\u2bff\U0001f000-\U0001faff\ufe0f]")
_PICTURE = re.compile("[#*0-9\xa9\xae\u203c-\u3299\U0001f000-\U0001faff]")

# Tokens by which chat templates mark turns, in square brackets. (Those in angle brackets are escaped anyway.)
_BRACKET_TOKEN = re.compile(r"\[(\|?/?[A-Z][A-Za-z_ ]{1,30}\|?|/?g?MASK)\]")
_CODE_FENCE = re.compile(r"`{3,}|~{3,}")


def cleaned(text: str) -> str:
    """The text without terminal sequences and without characters nobody sees. Lines end in \\n; honest text is kept."""
    if text.isascii() and text.isprintable():
        return text
    text = _BREAKS.sub("\n", text)
    if not _SUSPECT.search(text):
        return text
    text = _TERMINAL.sub("", text)
    return _SUSPECT.sub(_keep_joiner, text)


def one_line(text: str) -> str:
    """Cleaned text on one line, single spaced."""
    return " ".join(cleaned(text).split())


def inert(text: str) -> str:
    """One line that can stand in a prompt: no tag, fence, chat-template token or role can come of it."""
    line = one_line(text)
    line = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    line = _CODE_FENCE.sub("'", line)
    return _BRACKET_TOKEN.sub(r"(\1)", line)


def printable(text: str) -> str:
    """Text for a terminal: cleaned, whatever it came from."""
    return cleaned(text)


def _keep_joiner(found: re.Match[str]) -> str:
    char, text, at = found[0], found.string, found.start()
    before = text[at - 1 : at] if at else ""
    after = text[at + 1 : at + 2]
    if char in _JOINERS and _JOINABLE.match(before or " ") and _JOINABLE.match(after or " "):
        return char
    if char == "\ufe0f" and before and _PICTURE.match(before):
        return char
    return ""
