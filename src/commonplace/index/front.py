"""The front of the index: the notes of most value, in order, and how many there are of each kind.

It is read from the tables once; a change of this process's own is worked in, which costs less than reading two
hundred rows after every save. It knows the tables' columns and not when they change.
"""

from __future__ import annotations

import sqlite3
from bisect import bisect
from collections.abc import Mapping

from commonplace.index import rows
from commonplace.index.listing import INDEX_HEAD, INDEX_REACH, WHOLE_INDEX, Line, Listing, fit, line_of
from commonplace.index.values import whole
from commonplace.named import NamedTuple
from commonplace.note.kind import Kind
from commonplace.store.base import Found, trust_of

_COLUMNS = "SELECT name, kind, line, supersedes, trust, pinned, day FROM notes"
_CURRENT = "kind != 'session' AND (expires = '' OR expires >= ?)"
_BY_VALUE = "ORDER BY trust DESC, pinned DESC, day DESC, name"
_BEST = f"{_COLUMNS} WHERE {_CURRENT} {_BY_VALUE} LIMIT ?"
_CORRECTING = (  # few notes correct others; left to itself, SQLite walks through all of them by value
    f"{_COLUMNS} INDEXED BY notes_correcting WHERE supersedes != '' AND {_CURRENT} {_BY_VALUE}"
)
_TOTALS = "SELECT kind, count FROM totals WHERE count > 0"
_EXPIRED = "SELECT kind, count(*) FROM notes WHERE expires != '' AND expires < ? AND kind != 'session' GROUP BY kind"


Rank = tuple[int, int, int, str]
"""What orders the index, smallest first: less trust, pin and day than none, each turned about; then the name."""


class Front(NamedTuple):
    """The `most` best notes as of one day, best first, and the corrections of any that are not among them."""

    today: str
    most: int
    ranks: tuple[Rank, ...]
    best: tuple[Line, ...]
    corrections: tuple[Line, ...]
    plain: bool  # no note corrects another, so that value alone decides


class Known(NamedTuple):
    """The whole index as of one version of the tables, and the front it was made from."""

    version: int
    front: Front
    listing: Listing


def known(db: sqlite3.Connection, version: int, today: str) -> Known:
    """The index as the tables have it."""
    return _known(version, read(db, today, WHOLE_INDEX.lines), listed(db, today))


def worked_in(db: sqlite3.Connection, before: Known, name: str, found: Found | None) -> Known | None:
    """The index once a note is written (or taken away: None) over what the tables hold; None if only they can tell."""
    best = after(before.front, name, found)
    return best and _known(before.version + 1, best, _listed_after(db, before.front.today, name, found))


def totals(db: sqlite3.Connection) -> dict[Kind, int]:
    """How many notes there are of each kind."""
    return {rows.KIND[kind]: count for kind, count in db.execute(_TOTALS)}


def listed(db: sqlite3.Connection, today: str) -> dict[Kind, int]:
    """How many notes of each kind an index could show: all but sessions, and what has expired."""
    counts = totals(db)
    counts.pop(Kind.SESSION, None)
    for kind, gone in db.execute(_EXPIRED, (today,)):
        counts[rows.KIND[kind]] -= gone
    return counts


def _listed_after(db: sqlite3.Connection, today: str, name: str, found: Found | None) -> dict[Kind, int]:
    """What `listed` will answer once a note is written (or taken away: None) that `after` could work in."""
    counts = listed(db, today)
    for (kind,) in db.execute(f"SELECT kind FROM notes WHERE name = ? AND {_CURRENT}", (name, today)):
        counts[rows.KIND[kind]] -= 1
    if found is not None:
        counts[found.note.kind] = counts.get(found.note.kind, 0) + 1
    return counts


def read(db: sqlite3.Connection, today: str, most: int) -> Front:
    """The front as the tables have it."""
    best = db.execute(_BEST, (today, most)).fetchall()
    lines = {row[0]: rows.line_row(row[:4]) for row in best}
    correcting = [rows.line_row(row[:4]) for row in db.execute(_CORRECTING, (today,))]
    if correcting:
        lines = _with_corrections(lines, _meant(db, correcting))
    ranks = tuple(_rank(trust, pinned, day, name) for name, _, _, _, trust, pinned, day in best)
    ordered = tuple(lines.values())
    return Front(today, most, ranks, ordered[: len(best)], ordered[len(best) :], not correcting)


def _with_corrections(lines: dict[str, Line], correcting: list[Line]) -> dict[str, Line]:
    """The lines, and behind them every correction of one, and of those, however many steps away."""
    by_old: dict[str, list[Line]] = {}
    meant = {line.name: line for line in correcting}
    for line in correcting:
        for old in line.supersedes:
            by_old.setdefault(old, []).append(line)
    found = {name: meant.get(name, line) for name, line in lines.items()}
    waiting = list(found)
    for name in waiting:  # which grows meanwhile
        for line in by_old.get(name, ()):
            if line.name not in found:
                found[line.name] = line
                waiting.append(line.name)
    return found


def _meant(db: sqlite3.Connection, correcting: list[Line]) -> list[Line]:
    """Corrections with the names of the notes they mean."""
    name_of = rows.meant(db)
    return [line._replace(supersedes=tuple(map(name_of, line.supersedes))) for line in correcting]


def after(front: Front, name: str, found: Found | None) -> Front | None:
    """The front after one note was written (or taken away: None), if that can be told without asking the tables."""
    note = found.note if found else None
    odd = note is not None and (note.supersedes or note.expires or note.kind is Kind.SESSION)
    if odd or not front.plain:
        return None
    ranks, lines = list(front.ranks), list(front.best)
    there = next((at for at, rank in enumerate(ranks) if rank[3] == name), None)
    # Notes that are not in the front stand behind its last; one of them may have to move up.
    moves_up = there is not None and len(lines) == front.most
    if there is not None:
        del ranks[there], lines[there]
    if found is not None:
        new = _rank_of(found)
        place = bisect(ranks, new)
        moves_up = moves_up and place == len(lines)
        ranks.insert(place, new)
        lines.insert(place, Line(name, found.note.kind, line_of(found.note)))
    return None if moves_up else front._replace(ranks=tuple(ranks[: front.most]), best=tuple(lines[: front.most]))


def _known(version: int, best: Front, counts: Mapping[Kind, int]) -> Known:
    lines = (*best.best, *best.corrections)
    return Known(version, best, fit(lines, counts, WHOLE_INDEX, head=INDEX_HEAD, reach=INDEX_REACH))


def _rank_of(found: Found) -> Rank:
    day = found.note.updated or found.note.created
    return _rank(trust_of(found.author()), int(found.note.pinned), day.isoformat() if day else "", found.note.name)


def _rank(trust: int, pinned: int, day: str, name: str) -> Rank:
    return (-whole(trust), -whole(pinned), -whole(day.replace("-", "") or 0), name)
