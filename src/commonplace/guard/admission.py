"""May this be saved: one table of rules, asked before any lock is taken. Pure: it reads no notebook and no clock.

A draft comes in as somebody gave it and goes out cleaned, or with the rule it broke and what would do instead.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime

from commonplace.guard.text import cleaned, one_line
from commonplace.named import NamedTuple
from commonplace.note.kind import KINDS, Kind, kind_of
from commonplace.note.limits import BODY_BYTES, DESCRIPTION_CHARS, TAG_CHARS, TAGS, TITLE_CHARS
from commonplace.note.note import unix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

# Longest name anybody may give; its slug is far shorter.
NAME_CHARS = 1000
# Longest glob, command pattern or name in a list field.
_ITEM_CHARS = 300
# No word for a kind comes near this.
_KIND_CHARS = 40
_EXTERNAL = "external:"
# The word that takes a note's expiry away.
NEVER = "never"
_SURROGATE = re.compile("[\ud800-\udfff]")


class Draft(NamedTuple):
    """What somebody asks to have saved. None is 'not said'."""

    body: str
    name: str | None = None
    title: str | None = None
    description: str | None = None
    kind: str | None = None
    tags: tuple[str, ...] | None = None
    applies_to: tuple[str, ...] | None = None
    supersedes: tuple[str, ...] | None = None
    pinned: bool | None = None
    expires: date | str | None = None  # NEVER takes it away
    origin: str = "agent"
    had: str = ""  # the description it has now: one a person wrote may be longer than what we would take
    warnings: tuple[str, ...] = ()


class Refusal(NamedTuple):
    """The rule a draft broke, and what would do instead."""

    rule: str
    why: str


class Rule(NamedTuple):
    """One rule: a name, and a check that answers why a draft breaks it, or ''."""

    name: str
    broken: Callable[[Draft], str]


def admit(draft: Draft) -> Draft | Refusal:
    """The draft as it may be saved, or the first rule it breaks."""
    for rule in _SIZES:  # before anything walks through the text
        if why := rule.broken(draft):
            return Refusal(rule.name, why)
    draft = _clean(draft)
    for rule in RULES:
        if why := rule.broken(draft):
            return Refusal(rule.name, why)
    return draft


def items_of(given: Sequence[str] | None) -> tuple[str, ...] | None:
    """A list as a draft holds it. One word given bare is a list of one, not of its letters."""
    return given if given is None else (given,) if isinstance(given, str) else tuple(given)


def _clean(draft: Draft) -> Draft:
    body = cleaned(draft.body)
    unseen = body != unix(draft.body)
    return draft._replace(
        body=body.strip("\n"),
        warnings=("characters nobody can see were taken out of the text",) if unseen else (),
        name=None if draft.name is None else one_line(draft.name),
        title=None if draft.title is None else one_line(draft.title),
        description=None if draft.description is None else one_line(draft.description),
        kind=None if draft.kind is None else one_line(draft.kind),
        tags=_clean_items(draft.tags),
        applies_to=_clean_items(draft.applies_to),
        supersedes=_clean_items(draft.supersedes),
        expires=draft.expires.date() if isinstance(draft.expires, datetime) else draft.expires,
    )


def _clean_items(items: tuple[str, ...] | None) -> tuple[str, ...] | None:
    return None if items is None else tuple(dict.fromkeys(text for text in map(one_line, items) if text))


def _body_long(draft: Draft) -> str:
    size = len(draft.body) if len(draft.body) > BODY_BYTES else len(draft.body.encode("utf-8", "replace"))
    if size <= BODY_BYTES:
        return ""
    return f"the text is over {BODY_BYTES:,} bytes (it has {size:,}); one note is one fact, so save it as several"


def _not_text(draft: Draft) -> str:
    lists = [item for items in (draft.tags, draft.applies_to, draft.supersedes) for item in items or ()]
    for text in filter(None, (draft.body, draft.name, draft.title, draft.description, draft.kind, *lists)):
        found = _SURROGATE.search(text)
        if found:
            return (
                f"character {found.start() + 1} of {text[: found.start()][-20:]!r}... is half of one (bytes that were "
                "not UTF-8); decode the text properly and save it again"
            )
    return ""


def _body_empty(draft: Draft) -> str:
    return "" if draft.body.strip() else "there is no text to save; say the fact in a sentence or two"


def _name_long(draft: Draft) -> str:
    over = draft.name is not None and len(draft.name) > NAME_CHARS
    return f"the name is over {NAME_CHARS} characters; a few words do" if over else ""


def _name_empty(draft: Draft) -> str:
    return "the name is empty; leave it out to have one made from the text" if draft.name == "" else ""


def _description_long(draft: Draft) -> str:
    size = len(draft.description or "")
    if size <= DESCRIPTION_CHARS or draft.description == draft.had:
        return ""
    return (
        f"the description has {size:,} characters, over the {DESCRIPTION_CHARS} every session pays for; "
        "say what the note is about in one line and put the rest into the text"
    )


def _title_long(draft: Draft) -> str:
    size = len(draft.title or "")
    return f"the title has {size:,} characters, over {TITLE_CHARS}; shorten it" if size > TITLE_CHARS else ""


def _items_long(draft: Draft) -> str:
    for what, items, longest in (
        ("tags", draft.tags, TAG_CHARS), ("applies_to", draft.applies_to, _ITEM_CHARS),
        ("supersedes", draft.supersedes, NAME_CHARS),
    ):  # fmt: skip
        if items is None:
            continue
        if len(items) > TAGS:
            return f"{what} has {len(items):,} entries, over {TAGS}; keep those that tell this note from others"
        if any(len(item) > longest for item in items):
            return f"an entry of {what} is over {longest} characters; shorten it"
    return ""


def _kind_long(draft: Draft) -> str:
    return _no_kind(draft.kind) if draft.kind is not None and len(draft.kind) > _KIND_CHARS else ""


def _kind_unknown(draft: Draft) -> str:
    return "" if draft.kind is None or kind_of(draft.kind) is not Kind.OTHER else _no_kind(draft.kind)


def _no_kind(word: str) -> str:
    return f"{word[:_KIND_CHARS]!r} is no kind; choose {', '.join(KINDS)}"


def _expires_odd(draft: Draft) -> str:
    if draft.expires is None or draft.expires == NEVER or isinstance(draft.expires, date):
        return ""
    return f"{str(draft.expires)[:40]!r} is no day; give a date, or {NEVER!r} to take an expiry away"


def _unreviewed(draft: Draft) -> str:
    if not draft.origin.startswith(_EXTERNAL):
        return ""
    return (
        f"text from outside, or from a session that has read some ({draft.origin[:60]}), is not kept on an agent's "
        "word; have a person save what they confirm of it"
    )


_SIZES = (
    Rule("body-too-long", _body_long),
    Rule("name-too-long", _name_long),
    Rule("description-too-long", _description_long),
    Rule("title-too-long", _title_long),
    Rule("list-too-long", _items_long),
    Rule("kind", _kind_long),
    Rule("not-text", _not_text),
)
RULES = (
    Rule("unreviewed", _unreviewed),
    Rule("empty", _body_empty),
    Rule("empty-name", _name_empty),
    Rule("kind", _kind_unknown),
    Rule("expires", _expires_odd),
)
