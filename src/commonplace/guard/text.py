"""Text made safe to keep and to show: nothing invisible, nothing that moves a cursor, nothing that poses as structure.

`cleaned` is what is stored, `one_line` what a description or title may be, `inert` what may stand in a prompt.
It judges no meaning.
"""

from __future__ import annotations

import re

# (The patterns are compiled where they are first met: plain text meets none.)
# Terminal sequences (ECMA-48): control sequences, operating system commands, other strings, two-byte escapes.
_TERMINAL = (
    r"(?:\x1b\[|\x9b)[0-?]{0,64}[ -/]{0,8}[@-~]"
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x80-\x9f]{0,4096}(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]{0,8}[0-~]"
)

# Every character that is control, format, private, surrogate, no character at all, or invisible. Kept as a table
# rather than asked of `unicodedata`, which costs each process its import; a test compares the two.
_UNSEEN = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5"
    "\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ud800-\udfff\ue000-\uf8ff\ufdd0-\ufdef"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\U000110bd\U000110cd\U00013430-\U00013442\U00016fe4"
    "\U0001bca0-\U0001bca3\U0001d159\U0001d173-\U0001d17a\U0001fffe\U0001ffff\U0002fffe\U0002ffff\U0003fffe-\U0010ffff"
)
_SUSPECT = f"[{_UNSEEN}]"
_BREAKS = "\r\n?|[\x0b\x0c\x85\u2028\u2029]"
# Joiners and the picture selector are kept where they are spelling (Indic scripts, Persian) or make one picture.
_MAY_JOIN = "\u200c\u200d\ufe0f"
_JOINED = "\u0590-\u08ff\u0900-\u0dff\u0e00-\u109f\u1780-\u18af\u2190-\u2bff\U0001f000-\U0001faff\ufe0f"
_PICTURES = "\xa9\xae\u203c\u2049\u2122\u2139\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
_STRAY_JOINER = f"(?<![{_JOINED}])[\u200c\u200d]|[\u200c\u200d](?![{_JOINED}])"
_STRAY_SELECTOR = f"(?<![#*0-9{_PICTURES}])\ufe0f|(?<=[#*0-9])\ufe0f(?!\u20e3)"

# Tokens by which chat templates mark turns, in square brackets. (Those in angle brackets are escaped anyway.)
_BRACKETED = r"\[([^\[\]]{1,40})\]"
_TURN_MARK = r"[/|].*|[A-Z][A-Za-z0-9_ ]{1,30}|[a-z]?MASK|(?i:inst|sys|bos|eos|pad|cls|sep|unk|mask)"
# What the markers of structure look like in other widths, and turn into where a text is normalised.
_LOOKALIKES = str.maketrans(
    "\uff1c\ufe64\u226e\uff1e\ufe65\u226f\uff06\ufe60\uff3b\ufe47\uff3d\ufe48\uff5c\uff40\u1fef", "<<<>>>&&[[]]|``"
)
_LINK = "\\](?=[(\uff08\ufe35\ufe59\u207d\u208d\u2474-\u2487\u249c-\u24b5\u3200-\u3243\U0001f110-\U0001f129])"
_CODE_FENCE = r"`{3,}|[~\uff5e]{3,}"


def cleaned(text: str) -> str:
    """The text without terminal sequences and without characters nobody sees. Lines end in \\n; honest text is kept."""
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    text = re.sub(_BREAKS, "\n", text)
    if not re.search(_SUSPECT, text):
        return text
    text = re.sub(_SUSPECT, _kept, re.sub(_TERMINAL, "", text))
    return re.sub(_STRAY_JOINER, "", re.sub(_STRAY_SELECTOR, "", text))


def one_line(text: str) -> str:
    """Cleaned text on one line, single spaced."""
    return " ".join(cleaned(text).split())


def inert(text: str) -> str:
    """One line that can stand in a prompt: no tag, link, fence, chat-template token or role can come of it."""
    line = one_line(text).translate(_LOOKALIKES)
    line = line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    line = re.sub(_CODE_FENCE, "'", line)
    return re.sub(_LINK, "] ", re.sub(_BRACKETED, _no_token, line))


def in_plain_form(word: str) -> str:
    """A word in the letters a model's tokenizer may turn it into."""
    if word.isascii():
        return word
    from unicodedata import normalize

    return normalize("NFKC", word)


def _kept(found: re.Match[str]) -> str:
    return found[0] if found[0] in _MAY_JOIN else ""


def _no_token(found: re.Match[str]) -> str:
    return f"({found[1]})" if re.fullmatch(_TURN_MARK, in_plain_form(found[1].strip())) else found[0]
