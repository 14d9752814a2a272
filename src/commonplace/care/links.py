"""Links between notes: `[[name]]` in a text, and what a note says it corrects. Renaming and merging, which they follow.

A link leads to the note whose name its words make the slug of; else to the one whose title does. It knows texts and
Memory, not files.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import NamedTuple

from commonplace.care.undo import act
from commonplace.errors import BadFormat, BadName, Changed, NotFound
from commonplace.guard.admission import Draft, Refusal, admit
from commonplace.memory import Memory
from commonplace.note.format import renamed
from commonplace.note.note import Note
from commonplace.note.prose import derived_description
from commonplace.note.slug import slugify
from commonplace.outcomes import Conflict, Refused
from commonplace.store.base import Call, Found, trust_of, voice_of

# [[name]], [[name|shown]] and [[name#part]], outside code: what every notebook of linked notes understands.
_LINK = re.compile(r"\[\[([^\[\]|#\n]{1,200})([|#][^\[\]\n]{0,200})?\]\]")
_CODE = re.compile(r"^(```|~~~).*?^\1|`[^`\n]+`", re.DOTALL | re.MULTILINE)
_TOO_LONG = "body-too-long"
_TAKEN = "another note has this name; choose another, or merge the two"
# How often a note that somebody else is changing is looked at again.
_TRIES = 20


class Moved(NamedTuple):
    """What a rename or a merge did: the note, the names it took the place of, and the notes whose links followed."""

    note: Note
    gone: tuple[str, ...]
    followed: tuple[str, ...]
    warnings: tuple[str, ...] = ()


class Signs(NamedTuple):
    """Where links lead. Of several notes a link could mean, the first by name is meant."""

    stems: frozenset[str]
    names: Mapping[str, str]  # by the slugs of names, the notes
    titles: Mapping[str, str]

    @classmethod
    def of(cls, notes: Iterable[Note]) -> Signs:
        last_first = sorted(notes, key=lambda note: note.name, reverse=True)
        names, titles = ({slug_of(getattr(note, of)): note.name for note in last_first} for of in ("name", "title"))
        return cls(frozenset(note.name for note in last_first), {**names, "": ""}, {**titles, "": ""})

    def by_name(self, words: str) -> str:
        """The note whose name these words are; '' for none."""
        return words if words in self.stems else self.names.get(slug_of(words), "")

    def to(self, words: str) -> str:
        """The note these words lead to; '' for none."""
        return self.by_name(words) or self.titles.get(slug_of(words), "")


def links(note: Note) -> list[str]:
    """What a note's text links to, in order, in its own words; without those no name can be made of."""
    return list(dict.fromkeys(words for found in _found(note.body) if slug_of(words := found[1].strip())))


def backlinks(notes: Iterable[Note], name: str) -> list[str]:
    """The notes that link to one, or say that they correct it."""
    notes = list(notes)
    signs = Signs.of(notes)
    others = (note for note in notes if note.name != name)
    return [note.name for note in others if name in note.supersedes or name in map(signs.to, links(note))]


def dead(notes: Iterable[Note]) -> list[tuple[str, str]]:
    """Links that lead to no note: who links, and the slug of what to."""
    notes = list(notes)
    signs = Signs.of(notes)
    lost = ((note.name, slug_of(words)) for note in notes for words in links(note) if not signs.to(words))
    return list(dict.fromkeys(lost))


def rename(memory: Memory, name: str, to: str, call: Call) -> Moved | Conflict | Refused:
    """Give a note another name. Links to it follow; its earlier versions stay under the name they had.

    Raises:
        NotFound: there is no such note.

    """
    with memory.acting():
        return _renamed(memory, name, to, call)


def merge(
    memory: Memory, name: str, others: Iterable[str], call: Call, text: str | None = None
) -> Moved | Conflict | Refused:
    """Put several notes into the first: its text, then theirs (or the text given); all tags; links follow.

    Raises:
        NotFound: one of them is not there.

    """
    with memory.acting():
        return _merged(memory, name, others, call, text)


def _renamed(memory: Memory, name: str, to: str, call: Call) -> Moved | Conflict | Refused:
    try:
        stem = slugify(to)
    except BadName as problem:
        return Refused(rule="name", why=str(problem))
    found = memory.find(name)
    if stem == found.note.name:
        return Moved(found.note, (), ())
    there = _answering(memory, stem)
    if there is not None and there.name != found.note.name:
        return Conflict(name=stem, why=_TAKEN, ours=found.note.body, theirs=there)
    call = call._replace(act=act("rename"))
    before = memory.notes().notes
    try:
        saved = memory.keep(renamed(found.note, stem), expect="", call=on_behalf(call, found))
    except Changed:  # somebody was quicker
        return Conflict(name=stem, why=_TAKEN, ours=found.note.body, theirs=memory.present(stem))
    followed = _follow(memory, before, {found.note.name: saved.note}, call)
    return _moved(memory, saved.note, [found.note], followed, saved.warnings, call)


def _merged(
    memory: Memory, name: str, others: Iterable[str], call: Call, text: str | None
) -> Moved | Conflict | Refused:
    found = memory.find(name)
    spelled = {other.note.name: other for other in map(memory.find, dict.fromkeys(others))}  # each note once
    rest = [other for own, other in spelled.items() if own != found.note.name]
    notes = [found.note, *(other.note for other in rest)]
    body = text if text is not None else "\n\n".join(dict.fromkeys(note.body.strip("\n") for note in notes))
    draft = admit(Draft(body, origin=voice_of(call)))
    if isinstance(draft, Refusal):
        why = draft.why if draft.rule != _TOO_LONG else f"together {draft.why}; or give the text they should become"
        return Refused(rule=draft.rule, why=why)
    about = found.note.description if text is None else derived_description(draft.body)
    merged = _together(notes, draft.body, about or found.note.description, memory.today())
    call = call._replace(act=act("merge"))
    before = memory.notes().notes
    least = min((found, *rest), key=lambda one: trust_of(one.author()))
    try:
        saved = memory.keep(merged, expect=found.note.stamp, call=on_behalf(call, least))
    except Changed:
        return Conflict(
            name=found.note.name,
            why="it changed just now; look at it, then merge again",
            ours=body,
            theirs=memory.present(found.note.name),
        )
    followed = _follow(memory, before, {other.note.name: saved.note for other in rest}, call)
    return _moved(memory, saved.note, notes[1:], followed, saved.warnings, call)


def _together(notes: list[Note], body: str, description: str, today: date) -> Note:
    """The first note, with what several say: it lasts as long as the one that lasts longest."""
    ends = [note.expires for note in notes]
    return replace(
        notes[0],
        body=body,
        description=description,
        updated=today,
        expires=None if None in ends else max(filter(None, ends)),
        applies_to=tuple(dict.fromkeys(where for note in notes for where in note.applies_to)),
        tags=tuple(dict.fromkeys(tag for note in notes for tag in note.tags)),
        supersedes=_without(tuple(dict.fromkeys(old for note in notes for old in note.supersedes)), notes),
        pinned=any(note.pinned for note in notes),
    )


def _answering(memory: Memory, name: str) -> Note | None:
    """The note a name means, whatever its file's own spelling."""
    try:
        return memory.find(name).note
    except NotFound:
        return None


def _moved(
    memory: Memory, note: Note, old: Iterable[Note], followed: list[str], warnings: tuple[str, ...], call: Call
) -> Moved:
    """Take the old notes away, last of all: whatever stops us before leaves more than is needed, never less."""
    told = list(warnings)
    gone: list[str] = []
    for one in old:
        try:
            changed = isinstance(memory.forget(one.name, expect=one.stamp, call=call), Conflict)
        except NotFound:  # somebody was quicker
            changed = False
        if changed:
            told.append(f"{one.name!r} changed just now and was left; look at it, then forget it")
        else:
            gone.append(one.name)
    return Moved(note, tuple(gone), tuple(followed), tuple(told))


def _follow(memory: Memory, before: Sequence[Note], moved: Mapping[str, Note], call: Call) -> list[str]:
    """Let every link lead where it led before, to notes that moved too. Answers the notes that were changed for it."""
    then = Signs.of(before)
    now = Signs.of([*(note for note in before if note.name not in moved), *moved.values()])

    def anew(words: str) -> str:
        """What a link should say instead; '' where it may stay, as one does that leads there by a title."""
        led = then.to(words)
        to = moved[led].name if led in moved else led
        return to if then.by_name(words) in moved or now.to(words) != to else ""

    others = [note.name for note in memory.notes().notes if note.name not in moved]
    return [name for name in others if _corrected(memory, name, lambda one: _pointing(one, anew, moved), call)]


def _corrected(memory: Memory, name: str, correct: Callable[[Note], Note], call: Call) -> bool:
    for _ in range(_TRIES):
        try:
            found = memory.find(name)
        except (NotFound, BadFormat):  # gone, or no note any more
            return False
        wanted = correct(found.note)
        if wanted == found.note:
            return False
        try:
            memory.keep(wanted, expect=found.note.stamp, call=on_behalf(call, found))
        except Changed:
            continue
        return True
    return False


def _pointing(note: Note, anew: Callable[[str], str], moved: Mapping[str, Note]) -> Note:
    supersedes = tuple(dict.fromkeys(moved[old].name if old in moved else old for old in note.supersedes))
    return replace(
        note,
        body=_redirected(note.body, anew),
        description=_redirected(note.description, anew),
        supersedes=tuple(old for old in supersedes if old != note.name),
    )


def _redirected(text: str, anew: Callable[[str], str]) -> str:
    out, at = "", 0
    for found in _found(text):
        if new := anew(found[1].strip()):
            out += text[at : found.start(1)] + new
            at = found.end(1)
    return out + text[at:]


def _found(text: str) -> list[re.Match[str]]:
    if "[[" not in text:
        return []
    code = [found.span() for found in _CODE.finditer(text)]
    return [link for link in _LINK.finditer(text) if not any(start <= link.start() < end for start, end in code)]


def _without(names: tuple[str, ...], notes: list[Note]) -> tuple[str, ...]:
    return tuple(name for name in names if name not in {note.name for note in notes})


def slug_of(words: str) -> str:
    """The slug some words make; '' where they make none."""
    try:
        return slugify(words.strip())
    except BadName:
        return ""


def on_behalf(call: Call, found: Found) -> Call:
    """The call of a change that says nothing new: the words stay those of who wrote them, or of whoever ranks lower."""
    author = found.author()
    return call._replace(origin=author) if trust_of(author) < trust_of(call.origin) else call
