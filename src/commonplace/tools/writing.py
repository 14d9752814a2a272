"""The tools that change a notebook: write, update and delete. What stood there before is kept by the store.

Each takes what the table says and answers what happened, or what was in the way and the ways on.
"""

from __future__ import annotations

from typing import NamedTuple

from commonplace.guard.quotation import quoted
from commonplace.guard.text import cleaned, one_line
from commonplace.note.limits import BODY_BYTES, DESCRIPTION_CHARS
from commonplace.note.note import Note
from commonplace.note.prose import derived_description
from commonplace.outcomes import Answer, Conflict, Refused, Saved
from commonplace.tools.reading import find
from commonplace.tools.saying import Desk, dated, echoed, entry, failed, fullness, message, named, within

# An update that lost a race looks again once. Who loses twice is told to read the note again.
_ATTEMPTS = 2
# How far into a note, and how much of each line, we look for the line that is most like a text it does not hold.
_LINES = 500
_LINE_CHARS = 200
_PLACES = 10


def write(
    desk: Desk, text: str, name: str | None = None, description: str | None = None, kind: str | None = None,
    tags: tuple[str, ...] | None = None, replace: bool = False,
) -> Answer:  # fmt: skip
    """Save a fact, or correct the note of this name."""
    outcome = desk.memory.save(
        text, name=name, description=description, kind=kind, tags=tags, replace=replace, call=desk.call
    )
    return _saved(desk, outcome)


def update(desk: Desk, name: str, old: str, new: str) -> Answer:
    """Replace a text that stands in a note exactly once; nobody's change in between is lost."""
    for _ in range(_ATTEMPTS):
        found = find(desk, name)
        if isinstance(found, Answer):
            return found
        change = _changed(desk, found.note, cleaned(old), cleaned(new))
        if isinstance(change, Answer):
            return change
        outcome = desk.memory.save(
            change.body, name=found.note.name, description=change.description, expect=found.note.stamp, call=desk.call
        )
        if not isinstance(outcome, Conflict):
            return _saved(desk, outcome)
    return failed(f"The note {echoed(name)} kept changing; nothing was changed. Look at it again, then try again.")


def delete(desk: Desk, name: str) -> Answer:
    """Take a note out of the notebook."""
    found = find(desk, name)
    if isinstance(found, Answer):
        return found
    stamp = found.note.stamp if desk.expect is None else desk.expect
    outcome = desk.memory.forget(found.note.name, expect=stamp, call=desk.call)
    if isinstance(outcome, Conflict):
        return failed(f"{named(outcome.name)} changed at this moment; nothing was deleted. Look at it, then try again.")
    kept = ["Its last version is kept."] if outcome.kept else []
    gone = f"deleted {entry(outcome.note, dated(outcome.note))}"
    return Answer("\n".join((gone, *kept, *_warnings(desk, outcome.warnings))))


# --- what came of it -------------------------------------------------------------------------------------------


def _saved(desk: Desk, outcome: Saved | Conflict | Refused) -> Answer:
    if isinstance(outcome, Refused):
        return failed(f"Nothing was saved, by the rule {outcome.rule}: {message(outcome.why, desk.memory)}.")
    if isinstance(outcome, Conflict):
        return _in_the_way(desk, outcome)
    lines = [
        f"{outcome.outcome} {entry(outcome.note)}",
        *_warnings(desk, outcome.warnings),
        _alike(desk, outcome),
        fullness(outcome.room),
    ]
    return Answer("\n".join(filter(None, lines)))


def _alike(desk: Desk, saved: Saved) -> str:
    """What to do where a new note was to correct another that begins the same; '' where there is none."""
    if not saved.alike:
        return ""
    away = f"call {desk.tool('delete')} with name {named(saved.name)}, then " if desk.profile.delete else ""
    again = f"{away}send this again to {desk.tool('write')} with name {named(saved.alike)} and replace true"
    return f"{named(saved.alike)} begins the same. If this corrects it, {again}."


def _warnings(desk: Desk, warnings: tuple[str, ...]) -> list[str]:
    return [f"{message(warning, desk.memory)}." for warning in warnings]


def _in_the_way(desk: Desk, conflict: Conflict) -> Answer:
    """Both texts, and the two ways on."""
    name, theirs = named(conflict.name), conflict.theirs
    if theirs is None:
        return failed(f"Nothing was changed: {name} was deleted meanwhile.")
    text, left = within(quoted(theirs.body), 2 * BODY_BYTES)
    lines = [
        f"Nothing was saved: {name} is the name of another fact.",
        f"It says: {entry(theirs, dated(theirs))}",
        text,
    ]
    lines += [f"{left:,} bytes more are not shown."] if left else []
    again = f"send all of it again to {desk.tool('write')} with name {name} and replace true"
    return failed("\n".join((
        *lines, "Yours says:", quoted(conflict.ours), f"If yours is to stand in its place, {again}.",
        "If they are two facts, send yours with another name.",
    )))  # fmt: skip


# --- changing a part -------------------------------------------------------------------------------------------


class _Change(NamedTuple):
    body: str
    description: str | None  # None where it follows the text


def _changed(desk: Desk, note: Note, old: str, new: str) -> _Change | Answer:
    """What a note says with one text replaced; or why that cannot be."""
    body = cleaned(note.body)  # as it is shown, and as it would be saved
    if "&lt;" in old and old not in body:  # as it is shown
        old, new = old.replace("&lt;", "<"), new.replace("&lt;", "<")
    if not old:
        return failed("old is empty; send the text to replace.")
    if old == new:
        return failed("old and new are the same; nothing to change.")
    places = _places(body, old)
    if len(places) != 1:
        return failed(_not_once(note.name, body, old, places))
    after = body[: places[0]] + new + body[places[0] + len(old) :]
    if not after.strip():
        ways = f"{desk.tool('delete')} removes a note" if desk.profile.delete else "a note cannot be empty"
        return failed(f"That would leave nothing of {named(note.name)}; {ways}.")
    return _Change(after, _description_after(note, old, new))


def _description_after(note: Note, old: str, new: str) -> str | None:
    """The description of a note whose text changes: as it was, with the same words replaced, or made from the text."""
    before = note.description
    if before == derived_description(note.body):
        return None
    places = _places(before, one_line(old)) if one_line(old) else []
    if len(places) != 1:
        return before
    after = one_line(before[: places[0]] + one_line(new) + before[places[0] + len(one_line(old)) :])
    return after if 0 < len(after) <= DESCRIPTION_CHARS else None


def _places(body: str, old: str) -> list[int]:
    """Where a text begins in another, also where it overlaps itself; no more places than are told."""
    out, at = list[int](), body.find(old)
    while at >= 0 and len(out) <= _PLACES:
        out.append(at)
        at = body.find(old, at + 1)
    return out


def _not_once(name: str, body: str, old: str, places: list[int]) -> str:
    if places:
        lines = dict.fromkeys(body.count("\n", 0, at) + 1 for at in places[:_PLACES])
        more = " and more" if len(places) > _PLACES else ""
        where = f"on line{'s' if len(lines) > 1 or more else ''} {', '.join(map(str, lines))}{more}"
        return f"Nothing was changed: the text stands in {named(name)} more than once, {where}; send more of what is around it."
    near = _nearest(body, old)
    like = f" The line most like it is line {near[0]}:\n{quoted(near[1])}" if near else ""
    return f"Nothing was changed: {named(name)} does not hold this text; send it exactly as it stands there.{like}"


def _nearest(body: str, old: str) -> tuple[int, str] | None:
    """The line of a text that is most like another text's first line, and its number."""
    from difflib import get_close_matches

    wanted = next(filter(None, map(str.strip, old.split("\n"))), "")[:_LINE_CHARS]
    lines = [line.strip()[:_LINE_CHARS] for line in body.split("\n")[:_LINES]]
    near = get_close_matches(wanted, list(filter(None, lines)), n=1, cutoff=0.3)
    return (lines.index(near[0]) + 1, near[0]) if near else None
