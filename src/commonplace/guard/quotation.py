"""A text of several lines made safe to show to a model: a quotation that nothing in it can end.

Of its own so that only those who show whole texts pay for it. It judges no meaning.
"""

from __future__ import annotations

import re

from commonplace.guard.text import cleaned, in_plain_form

# In a quotation brackets stay what they are, but for those that end something or mark a turn: angle ones by what
# follows them, square ones by what they hold.
_TURN = re.compile(
    "[<\uff1c\ufe64](?=\\s*(?:[/|\uff5c]"
    "|(?:<?sys|s|bos|eos|unk|pad|sop|cls|sep|mask|think|system|user|human|assistant)\\s*[>\uff1e\ufe65]"
    "|(?:start|end)_of_|(?:tool|function)_|(?:system|memory)-))",
    re.IGNORECASE,
)
_SLOT = re.compile("[\\[\uff3b\ufe47]([^\\[\\]\uff3b\uff3d\ufe47\ufe48\n]{1,40})[\\]\uff3d\ufe48]")
_IN_SLOT = re.compile(
    r"/?(?:inst|sys|bos|eos|pad|cls|sep|unk|[gs]?mask|img|think|system_prompt|(?:available_)?tool_\w+|available_tools)"
    r"|\|.*\|",
    re.IGNORECASE,
)


def quoted(text: str) -> str:
    """A text as a quotation that can stand in a prompt: a mark at the head of each line, so that none poses as more.

    Wherever it is cut, a reader sees by the mark what is the text's and what stands around it. Honest text is kept.
    """
    text = _SLOT.sub(_no_slot, _TURN.sub("&lt;", cleaned(text)))
    return "\n".join(f"| {line}" if line else "|" for line in text.split("\n"))


def _no_slot(found: re.Match[str]) -> str:
    return f"({found[1]})" if _IN_SLOT.fullmatch(in_plain_form(found[1].strip())) else found[0]
