"""The tools that only look: search, read and view. Each takes what the table says, and answers text within a cap."""

from __future__ import annotations

from contextlib import suppress

from commonplace.care.near import near
from commonplace.errors import BadFormat, NotFound
from commonplace.guard.quotation import quoted
from commonplace.guard.text import inert
from commonplace.index.listing import WHOLE_INDEX, Budget
from commonplace.memory import Memory
from commonplace.note.kind import Kind
from commonplace.note.limits import TAGS
from commonplace.note.note import Note
from commonplace.outcomes import Answer
from commonplace.prompt.preamble import CLOSING, LAST, OPENING
from commonplace.recall.hit import Hit, Recall
from commonplace.store.base import Found
from commonplace.tools.saying import Desk, dated, echoed, entry, failed, named, plain, plain_items, within
from commonplace.tools.table import ALL, HITS, clue

# Text of notes in one answer to a search: five notes whole, of the usual length, and well under what clients cut at.
SEARCH_BYTES = 8_000
# A note of ours is far shorter; of a person's long file this much is shown.
READ_BYTES = 16_000
# A page of the list of notes.
PAGE_LINES = 100
PAGE_BYTES = 8_000
# As much of the index as stands in for a list where there is no tool for one.
_HEAD = Budget(30, 3_000)
_REASONS = 5
_NEAR = 3
# How an excerpt ends that is not whole.
_ELLIPSIS = "…"
# A name's words are looked for up to here: what a model half remembers is short.
_NAME_CHARS = 100


def search(desk: Desk, query: str, kind: str = "", limit: int = HITS) -> Answer:
    """The notes that answer a query, each with why it ranked."""
    found = desk.memory.recall(query, limit=limit, kinds=(kind,) if kind else ())
    if not found.hits:
        return Answer(_nothing_found(desk, query, kind))
    room, cut, parts = SEARCH_BYTES, list[str](), [_heading(found)]
    for number, hit in enumerate(found.hits, 1):
        whole = _text_of(desk, hit)
        text, left = within(quoted(whole), room)
        room -= len(text.encode())
        if left or whole.endswith(_ELLIPSIS):
            cut.append(named(hit.name))
        parts.append("\n".join(filter(None, (f"{number}. {_of_hit(hit)}", text))))
    if cut:
        reach = desk.tool("read") or f"{desk.tool('search')} with limit 1"
        parts.append(f"Cut short: {', '.join(cut)}. {reach} shows one whole.")
    return Answer("\n\n".join(parts))


def read(desk: Desk, name: str) -> Answer:
    """One note whole, with its facts."""
    found = find(desk, name)
    if isinstance(found, Answer):
        return found
    note = found.note
    desk.memory.used(note.name)
    text, left = within(quoted(note.body), READ_BYTES)
    lines = [entry(note, dated(note), f"by {found.author()}"), *_more_facts(note), text]
    lines += [f"{left:,} bytes more are not shown; the note is too long to be one fact."] if left else []
    return Answer("\n".join(lines))


def view(desk: Desk, kind: str = "", offset: int | None = None) -> Answer:
    """The index and the last sessions; with a kind or an offset, the notes one by one."""
    if not kind and offset is None:
        return Answer(_index(desk))
    kinds = () if kind in ("", ALL) else (kind,)
    notes = list(desk.memory.notes(kinds=kinds).notes)
    if kind == Kind.SESSION:
        notes.sort(key=_newest_last, reverse=True)
    start = offset or 0
    page = _page(notes[start:])
    if not page:
        return Answer(f"There are no notes{' of this kind' if kinds else ''}{f' from {start} on' if start else ''}.")
    stop = start + len(page)
    rest = f"; for the next, send offset {stop}" if stop < len(notes) else ""
    return Answer("\n".join((f"Notes {start + 1} to {stop} of {len(notes)}{rest}.", *page)))


def find(desk: Desk, name: str) -> Found | Answer:
    """The note of a name, or the answer that there is none and what it may be called."""
    try:
        return desk.memory.find(name)
    except NotFound:
        meant = _meant(desk.memory, name)
        way = f" {desk.tool('search')} finds notes by their words." if desk.profile.search else ""
        ways = f" Did you mean {' or '.join(meant)}?" if meant else way
        return failed(f"There is no note named {echoed(name)}.{ways}")


# --- searching -----------------------------------------------------------------------------------------------


def _heading(found: Recall) -> str:
    count = len(found.hits)
    more = f"; {found.more} more hold some of the words" if found.more else ""
    return f"{count} {'note' if count == 1 else 'notes'}, best first{more}. {clue()}"


def _of_hit(hit: Hit) -> str:
    """A hit in two lines: what it is, and why it is here."""
    note = Note(name=hit.name, description=hit.description, kind=hit.kind, body="")
    reasons = ", ".join(inert(reason) for reason in hit.reasons[:_REASONS])
    facts = (hit.age, f"by {hit.trust}", *(("expired",) if hit.expired else ()))
    return f"{entry(note, *facts)}\nFound by: {reasons}; score {hit.score:.2f}; file {inert(hit.file)}{_broken(hit)}"


def _broken(hit: Hit) -> str:
    """What a hit claims that is not so any more, in a line."""
    return f"\nNo longer so: {'; '.join(map(inert, hit.broken[:_REASONS]))}" if hit.broken else ""


def _text_of(desk: Desk, hit: Hit) -> str:
    """What is shown of a note: a little of it where there is a tool to read it with, else all of it."""
    if desk.profile.read:
        return hit.excerpt
    with suppress(NotFound, BadFormat):
        return desk.memory.read(hit.name).body
    return hit.excerpt


def _nothing_found(desk: Desk, query: str, kind: str) -> str:
    of_kind = f" of kind {kind}" if kind else ""
    said = f"No note{of_kind} holds any word of {echoed(query)}. Try other words"
    if desk.profile.view:
        return f"{said}, or {desk.tool('view')} to see what there is."
    index = desk.memory.listing(_HEAD, f"{desk.tool('search')} finds them")
    return f"{said}. What there is:\n{OPENING}\n{index.text}{CLOSING}"


# --- reading and viewing ---------------------------------------------------------------------------------------


def _more_facts(note: Note) -> list[str]:
    """What else a note says of itself, a line each."""
    out = [f"Title: {plain(note.title)}"]
    lists = (("Tags", note.tags), ("Applies to", note.applies_to), ("Corrects", note.supersedes))
    return out + [f"{what}: {plain_items(items)}" for what, items in lists if items]


def _index(desk: Desk) -> str:
    reach = f"{desk.tool('view')} with kind {ALL} lists them"
    index = desk.memory.listing(WHOLE_INDEX, reach)
    sessions = desk.memory.sessions()
    last = ["", f"## {LAST}", *(line.text for line in sessions)] if sessions else []
    return "\n".join((OPENING, index.text.rstrip("\n"), *last, CLOSING))


def _newest_last(note: Note) -> tuple[str, str]:
    return str(note.updated or note.created or ""), note.name


def _page(notes: list[Note]) -> list[str]:
    """As many notes as fit a page, a line each."""
    out, room = list[str](), PAGE_BYTES
    for note in notes[:PAGE_LINES]:
        line = " ".join((f"- {entry(note, dated(note))}", *(f"#{tag}" for tag in map(plain, note.tags[:TAGS]) if tag)))
        room -= len(line.encode()) + 1
        if out and room < 0:
            break
        out.append(line)
    return out


def _meant(memory: Memory, name: str) -> list[str]:
    """A few names like one that is not there; else of notes that hold its words."""
    close = near(memory.notes().notes, name) or [
        hit.name for hit in memory.recall(name[:_NAME_CHARS], limit=_NEAR).hits
    ]
    return list(map(named, close))
