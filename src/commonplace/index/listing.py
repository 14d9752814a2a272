"""The listing: the index of a notebook as text, one line a note, chosen by value within two caps.

A pure function of the notes, their trust and today's date. It knows no files, no database and no clock.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from commonplace.guard.text import cleaned, inert, one_line
from commonplace.named import NamedTuple
from commonplace.note.kind import FOLDERS, KINDS, Kind, heading_of
from commonplace.note.limits import DESCRIPTION_CHARS, TITLE_CHARS, clamp
from commonplace.note.note import Note
from commonplace.store.paths import place_of
from commonplace.store.publish import INDEX_MARK

# The contract agents' harnesses load an index by: 200 lines keep it a quick look, 25,000 bytes keep it cheap.
INDEX_LINES = 200
INDEX_BYTES = 25_000
# How `MEMORY.md` begins. By the first words the store tells an index of ours from anybody else's.
INDEX_HEAD = (f"{INDEX_MARK} from the notes beside it: edit those, this file is replaced. -->", "# Memory")
INDEX_REACH = "`commonplace list` shows them"

# The order headings stand in.
_ORDER = tuple(kind for kind in (*KINDS, Kind.OTHER) if kind is not Kind.SESSION)
# ASCII a link target may hold bare, beside letters and digits.
_BARE = "-_."


class Budget(NamedTuple):
    """How much room a listing has."""

    lines: int = INDEX_LINES
    bytes: int = INDEX_BYTES


WHOLE_INDEX = Budget()


class Line(NamedTuple):
    """One note as a listing needs it, in order of value."""

    name: str
    kind: Kind
    text: str
    supersedes: tuple[str, ...] = ()


class Listing(NamedTuple):
    """A listing, and how much of its room it took."""

    text: str
    shown: tuple[str, ...]  # names, in the order they stand
    total: int
    lines: int
    bytes: int
    budget: Budget

    @property
    def left_out(self) -> int:
        return self.total - len(self.shown)


def line_of(note: Note) -> str:
    """A note's line: its title as a link to its file, and its description, with nothing that could pose as more."""
    target = _target(note)
    title = _closed(inert(clamp(one_line(note.title), TITLE_CHARS))) or target
    description = inert(clamp(one_line(note.description), DESCRIPTION_CHARS))
    return f"- [{title}]({target})" + (f" - {description}" if description else "")


def fit(
    lines: Sequence[Line],
    totals: Mapping[Kind, int],
    budget: Budget,
    *,
    head: Sequence[str] = (),
    reach: str,
) -> Listing:
    """Choose the notes of most value that fit, group them by kind, and say what was left out.

    `lines` are in order of value, and enough to fill the budget. Lines are cut first, then bytes.
    `reach` tells how to find what is left out.
    """
    total = sum(totals.values())
    room = budget.lines - (len(head) or -1)  # at the very top no blank line stands before the first heading
    chosen = _within_lines(_corrections_first(lines), total, room)
    while True:
        groups = _grouped(chosen)
        text = _text(groups, totals, head, reach)
        size = len(text.encode())
        over = size - budget.bytes
        if over <= 0 or not chosen:
            break
        while over > 0 and chosen:
            over -= len(chosen.pop().text.encode()) + 1
    height = text.count("\n")
    if over > 0 or height > budget.lines:  # not even the head and the last line have room
        text, size, height = "", 0, 0
    shown = tuple([line.name for group in groups.values() for line in group])
    return Listing(text, shown, total, height, size, budget)


def _corrections_first(lines: Sequence[Line]) -> list[Line]:
    """The same lines, with each correction before what it corrects. A circle of corrections keeps its order."""
    if not any(line.supersedes for line in lines):
        return list(lines)
    by_name = {line.name: line for line in lines}
    correctors: dict[str, list[str]] = {}
    for line in by_name.values():
        for old in line.supersedes:
            if old != line.name:
                correctors.setdefault(old, []).append(line.name)
    placed: dict[str, Line] = {}
    seen: set[str] = set()
    for root in by_name:
        path = [] if root in seen else [(root, iter(correctors.get(root, ())))]
        seen.add(root)
        while path:  # deeper and deeper into the corrections of corrections; each is placed once all of its own are
            name, waiting = path[-1]
            following = next((corrector for corrector in waiting if corrector not in seen), None)
            if following is None:
                path.pop()
                placed[name] = by_name[name]
            else:
                seen.add(following)
                path.append((following, iter(correctors.get(following, ()))))
    return list(placed.values())


def _within_lines(lines: Sequence[Line], total: int, limit: int) -> list[Line]:
    """As many lines as fit with a heading and a blank line for each kind, and the last line if one is needed."""
    if len(lines) == total and len(lines) + 2 * len({line.kind for line in lines}) <= limit:
        return list(lines)
    chosen: list[Line] = []
    kinds: set[Kind] = set()
    height = 2  # the last line and the blank one before it
    for line in lines:
        height += 1 if line.kind in kinds else 3
        if height > limit:
            break
        kinds.add(line.kind)
        chosen.append(line)
    return chosen


def _grouped(chosen: Sequence[Line]) -> dict[Kind, list[Line]]:
    groups: dict[Kind, list[Line]] = {kind: [] for kind in _ORDER}
    for line in chosen:
        groups[line.kind].append(line)
    return groups


def _text(groups: Mapping[Kind, Sequence[Line]], totals: Mapping[Kind, int], head: Sequence[str], reach: str) -> str:
    out = list(head)
    for kind, group in groups.items():
        if group:
            out += ([""] if out else []) + [f"## {heading_of(kind)}", *[line.text for line in group]]
    missing = {kind: totals.get(kind, 0) - len(group) for kind, group in groups.items()}
    gone = {kind: count for kind, count in missing.items() if count > 0}
    if gone:
        parts = ", ".join(f"{heading_of(kind).lower()} {count}" for kind, count in gone.items())
        count = sum(gone.values())
        out += ([""] if out else []) + [
            f"{count} more {'note is' if count == 1 else 'notes are'} not shown ({parts}); {reach}"
        ]
    if not gone and not any(groups.values()):
        out += ([""] if out else []) + ["No notes yet."]
    return "\n".join(out) + "\n"


def _closed(title: str) -> str:
    """A title that ends where its link does: no bracket, no escape and no code begun in it reaches past."""
    title = title.replace("[", "(").replace("]", ")").rstrip("\\")
    return title.replace("`", "'") if title.count("`") % 2 else title


def _target(note: Note) -> str:
    """The link to a note's file: percent-encoded where it must be, letters of every script left readable."""
    folder = note.folder if note.folder in FOLDERS else ""
    return place_of("".join(map(_encoded, note.name)), folder)


def _encoded(char: str) -> str:
    if char in _BARE or (char.isalnum() if char.isascii() else _part_of_a_word(char)):
        return char
    return "".join(f"%{byte:02X}" for byte in char.encode())


def _part_of_a_word(char: str) -> bool:
    """A letter, digit or mark of any script that can be seen: signs could pose as something else."""
    from unicodedata import category

    return category(char)[0] in "LNM" and cleaned(char) == char
