"""From what somebody asks to have saved to the note that says so: pure, and written once for every store.

It knows drafts and notes; not where notes live, and not whether a save goes through.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date

from commonplace.guard.admission import NEVER, Draft
from commonplace.guard.text import one_line
from commonplace.note.kind import kind_of
from commonplace.note.limits import DESCRIPTION_CHARS, TITLE_CHARS, clamp
from commonplace.note.note import Note
from commonplace.note.prose import derived_description, derived_title
from commonplace.store.base import Call
from commonplace.store.paths import SUFFIX

STALE = "it changed since it was read; read it again, then save with the stamp it has now"
_GONE = "it was forgotten since it was read; save it without a stamp to make it anew"
_EXISTS = "a note of this name exists; read it, then correct it with its stamp, or choose another name"
_ANOTHER = "another fact has this name; replace it, or choose another name"
# A title made from a text: its first clause if that has this many words, and at most this much of it.
_GIST_WORDS = 3
_GIST_CHARS = 50
_CLAUSE_END = re.compile(r"[,;:(] |[，；：、。]| [-–—] ")


def described(draft: Draft, old: Note | None) -> Draft:
    """The draft with a description: the one given, the one it had, or the text's first sentence."""
    if draft.description:
        return draft
    if old is not None and draft.body == old.body:
        return draft._replace(description=old.description)
    derived = derived_description(draft.body) or clamp(one_line(_first_words(draft.body)), DESCRIPTION_CHARS)
    return draft._replace(description=derived or (old.description if old else ""))


def objection(old: Note | None, draft: Draft, expect: str | None, *, replacing: bool) -> str:
    """Why a save under a name must not go ahead, in words; '' if it may."""
    if expect is not None:
        if (old.stamp if old else "") == expect:
            return ""
        return _GONE if old is None else STALE if expect else _EXISTS
    if old is None or replacing:
        return ""
    from commonplace.note.likeness import alike

    return "" if alike(draft.description or "", old.description) else _ANOTHER


def merged(draft: Draft, old: Note | None, stem: str, call: Call, today: date) -> Note:
    """The note a draft asks for. What it does not say stays as it was; a note that would say the same stays itself."""
    base = old or Note(name=stem, body=draft.body, created=today)
    kind, word = base.kind, base.word
    if draft.kind:
        kind = kind_of(draft.kind)
        ours = draft.kind.casefold() == kind
        if kind is not base.kind or not ours:  # else the file keeps its own word for the same kind
            word = "" if ours else draft.kind
    note = replace(
        base,
        body=draft.body,
        description=draft.description or "",
        title=_title(draft, base, old),
        kind=kind,
        word=word,
        tags=base.tags if draft.tags is None else draft.tags,
        applies_to=base.applies_to if draft.applies_to is None else draft.applies_to,
        supersedes=base.supersedes if draft.supersedes is None else draft.supersedes,
        pinned=base.pinned if draft.pinned is None else draft.pinned,
        expires=_expiry(draft, base),
    )
    if note == old:
        return old
    return replace(note, updated=today, origin=call.origin, session=call.session or base.session)


def gist(description: str) -> str:
    """What a description is about, in a few words: its first clause, for a title and a name."""
    clause = _CLAUSE_END.split(description, maxsplit=1)[0]
    text = clause if len(clause.split()) >= _GIST_WORDS else description
    return clamp(text, _GIST_CHARS).rstrip("…")


def says_the_same(note: Note, draft: Draft) -> bool:
    """Whether a note already says what a draft asks for."""
    return note.body == draft.body and note.description == draft.description


def _expiry(draft: Draft, base: Note) -> date | None:
    if draft.expires == NEVER:
        return None
    return draft.expires if isinstance(draft.expires, date) else base.expires


def _first_words(body: str) -> str:
    """What a text without prose begins with: its heading or first line of code; else whatever it is."""
    lines = (line.strip().lstrip("#") for line in body.split("\n") if not line.lstrip().startswith(("```", "~~~")))
    return next((line for line in lines if any(map(str.isalnum, line))), body.strip().partition("\n")[0])


def _title(draft: Draft, base: Note, old: Note | None) -> str:
    """The title given; else the one it had, unless that was only taken from the text, which now says something else."""
    if draft.title or (old is not None and old.title != _title_of(old)):
        return draft.title or base.title
    if old is None and draft.name is not None and draft.name != base.name:
        return clamp(draft.name.removesuffix(SUFFIX), TITLE_CHARS)
    return _title_of(draft) if old is not None or not draft.name else _top_heading(draft.body)


def _title_of(said: Draft | Note) -> str:
    """The title a text gives itself: its heading, else its gist."""
    return _top_heading(said.body) or gist(said.description or "")


def _top_heading(body: str) -> str:
    return clamp(one_line(derived_title(body, "")), TITLE_CHARS)
