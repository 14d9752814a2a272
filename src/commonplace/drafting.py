"""From what somebody asks to have saved to the note that says so: pure, and written once for every store.

It knows drafts and notes; not where notes live, and not whether a save goes through.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date

from commonplace.guard.admission import Draft
from commonplace.guard.text import one_line
from commonplace.note.format import clamp, derived_description
from commonplace.note.kind import kind_of
from commonplace.note.likeness import alike
from commonplace.note.note import DESCRIPTION_CHARS, TITLE_CHARS, Note
from commonplace.store.base import Call

STALE = "it changed since it was read"
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
    first = draft.body.strip().partition("\n")[0]
    derived = derived_description(draft.body) or clamp(one_line(first), DESCRIPTION_CHARS)
    return draft._replace(description=derived or (old.description if old else ""))


def objection(old: Note | None, draft: Draft, expect: str | None, *, replacing: bool) -> str:
    """Why a save under a name must not go ahead, in words; '' if it may."""
    if expect is not None:
        if (old.stamp if old else "") == expect:
            return ""
        return STALE if expect else "a note of this name exists"
    if old is None or replacing or alike(draft.description or "", old.description):
        return ""
    return "another fact has this name: correct that one with replace or expect, or choose another name"


def merged(draft: Draft, old: Note | None, stem: str, supersedes: tuple[str, ...], call: Call, today: date) -> Note:
    """The note a draft asks for. What it does not say stays as it was; a note that would say the same stays itself."""
    base = old or Note(name=stem, body=draft.body, title=_title(stem, draft), created=today)
    kind, word = base.kind, base.word
    if draft.kind:
        kind = kind_of(draft.kind)
        if kind is not base.kind or draft.kind != kind:  # else the file keeps its own word for the same kind
            word = draft.kind
    note = replace(
        base,
        body=draft.body,
        description=draft.description or "",
        title=draft.title or base.title,
        kind=kind,
        word=word,
        tags=draft.tags or base.tags,
        applies_to=draft.applies_to or base.applies_to,
        supersedes=supersedes or base.supersedes,
        pinned=base.pinned if draft.pinned is None else draft.pinned,
        expires=draft.expires or base.expires,
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


def _title(stem: str, draft: Draft) -> str:
    if draft.name is None:
        return gist(draft.description or "")
    return clamp(draft.name, TITLE_CHARS) if draft.name != stem else ""
