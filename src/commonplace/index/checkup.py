"""Checkup: a notebook laid open. What is kept beside its notes, and what is derived from them beside the same made afresh.

Looking makes and changes no file; mending changes what is derived, modes, and what dead writers left. It says where two
things differ; what that means to a person is told by `care/doctor.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any, NamedTuple

from commonplace.errors import BadFormat
from commonplace.index import rows
from commonplace.index.catalog import Catalog
from commonplace.index.listing import INDEX_HEAD, INDEX_REACH, WHOLE_INDEX
from commonplace.index.sidecar import Sidecar
from commonplace.store import tidy
from commonplace.store.audit import Audit, Auditor
from commonplace.store.base import HAND, Pulse, Store
from commonplace.store.paths import place_of

# What tells who wrote a note. It is the log's word, not the file's.
_AUTHOR = frozenset(("author", "trust"))


class Drift(NamedTuple):
    """Where the catalog says something else than the notes."""

    name: str
    where: str
    what: str
    author: bool = False  # only of who wrote it
    forgotten: bool = False  # and the log does not know


class Derived(NamedTuple):
    """How what is derived stands."""

    catalog: str  # the file it is kept in
    flaw: str  # what is wrong with the catalog's file; '' where nothing is, or there is none
    drifts: tuple[Drift, ...]
    apart: bool  # each note is as it should be, and the index made of them is not
    stale: str  # why what stands on the disk is not the index; '' where it is
    lags: bool  # the next call writes that again, whatever it is for
    remembered: frozenset[str]  # the notes of which the catalog knew who wrote them, and the log does not

    @property
    def agrees(self) -> bool:
        return not (self.flaw or self.drifts or self.apart or self.stale)


class Checkup:
    """One notebook, for whoever looks after it."""

    def __init__(self, store: Store, catalog: Catalog, auditor: Auditor | None, today: date) -> None:
        self._store = store
        self._catalog = catalog
        self._auditor = auditor
        self.today = today

    def afresh(self) -> Catalog:
        """What the notes say, read without anything that was derived before."""
        return self._refreshed(Sidecar(None))

    def pulse(self) -> Pulse:
        """What changes with every note that comes, goes or is replaced."""
        return self._store.pulse()

    def quiet(self) -> bool:
        """Whether no writer is at work just now."""
        return self._auditor is None or self._auditor.quiet()

    def audit(self, stamps: Mapping[str, str]) -> Audit | None:
        """What the store keeps beside the notes; None where it keeps nothing."""
        return self._auditor.audit(stamps) if self._auditor else None

    def derived(self, fresh: Catalog) -> Derived:
        """The catalog, as any call would bring it up to date, and the index on the disk, beside those made afresh."""
        side, flaw = self._catalog.side.copied()
        now, before = _table(fresh.side), _table(side) if side else {}
        lags = side is None or self._beside(side).lags()
        copy = self._refreshed(side) if side else None
        after = _table(side) if side else now
        kept, made = self._index(copy or fresh), self._index(fresh)
        unread = {problem.file for problem in fresh.problems() if problem.unread}  # of those nothing can be said
        drifts = tuple(drift for drift in _drifts(after, now) if drift.where not in unread)
        apart = after == now and (kept != made or bool(copy and copy.counts() != fresh.counts()))
        stale = self._stale((kept, made)) if self._auditor else ""
        remembered = frozenset(name for name in before.keys() & now.keys() if _forgotten(before[name], now[name]))
        return Derived(
            self._catalog.place or "catalog", flaw, drifts, apart, stale, lags or before != after, remembered
        )

    def publish(self) -> str:
        """Put the index beside the notes. Answers why that could not be done, or ''."""
        if self._auditor:
            tidy.make_ready(self._auditor.disk, self._auditor.path)
        return self._catalog.publish()

    def begin_again(self) -> str:
        """Let the catalog forget all it knew. Answers what is wrong with its file all the same, or ''."""
        self._catalog.side.begin_again()
        self._catalog.refresh(full=True, begin=True)
        return self._catalog.side.copied()[1]

    def clear(self) -> None:
        """Take away what dead writers have left."""
        if self._auditor:
            tidy.clear(self._auditor.disk, self._auditor.path)

    def make_private(self) -> int:
        """Give what is ours its modes. Answers how many files and folders had another."""
        return tidy.make_private(self._auditor.disk, self._auditor.path) if self._auditor else 0

    def close_to_others(self) -> int:
        """Take the notes from others. Answers how many files and folders they could use."""
        return tidy.close_to_others(self._auditor.disk, self._auditor.path) if self._auditor else 0

    def _beside(self, side: Sidecar) -> Catalog:
        """A catalog of the same notes with other tables, which puts nothing beside them."""
        return Catalog(self._store, side, today=lambda: self.today)

    def _refreshed(self, side: Sidecar) -> Catalog:
        catalog = self._beside(side)
        catalog.refresh(full=True, begin=True)
        return catalog

    def _index(self, catalog: Catalog) -> str:
        return catalog.listing(self.today, WHOLE_INDEX, head=INDEX_HEAD, reach=INDEX_REACH).text

    def _stale(self, indexes: tuple[str, str]) -> str:
        """Why what stands on the disk is neither the catalog's index nor that of the files; '' where it is one."""
        try:
            stands = self._auditor.index() if self._auditor else None
        except BadFormat as problem:
            return str(problem)
        if stands is None:
            return "is not there"
        return "" if stands.source in (index.encode() for index in indexes) else "is not the index these notes make"


def _table(side: Sidecar) -> dict[str, dict[str, Any]]:
    """All that is kept of each note, by name."""
    found = side.run(lambda db: db.execute(rows.SELECT).fetchall())
    return {row[0]: dict(zip(rows.COLUMNS, row, strict=True)) for row in found}


def _forgotten(row: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether the same bytes had an author before, and have none now."""
    return bool(row["stamp"] == wanted["stamp"] and row["author"] != HAND == wanted["author"])


def _drifts(kept: Mapping[str, Mapping[str, Any]], fresh: Mapping[str, Mapping[str, Any]]) -> tuple[Drift, ...]:
    found = []
    for name in sorted({*kept, *fresh}):
        row, wanted = kept.get(name), fresh.get(name)
        if row is None or wanted is None:
            what = "the catalog does not have this note" if row is None else "the catalog has a note that is not there"
            found.append(Drift(name, place_of(name, (row or wanted or {})["folder"]), what))
        elif row != wanted:
            found.append(_drift(name, row, wanted))
    return tuple(found)


def _drift(name: str, row: Mapping[str, Any], wanted: Mapping[str, Any]) -> Drift:
    other = [column for column in wanted if row[column] != wanted[column]]
    what = f"the catalog says something else than the file: {', '.join(other)}"
    if of_author := _AUTHOR.issuperset(other):
        what = f"the catalog takes it for the word of {row['author']} (trust {row['trust']}), the log for {wanted['author']}'s"
    return Drift(name, place_of(name, wanted["folder"]), what, of_author, of_author and wanted["author"] == HAND)
