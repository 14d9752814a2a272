"""Memory: save, recall, preamble, read, forget; what a host calls. Written once, over any Store.

It decides what a save means (a new fact, a correction, a conflict) and leaves how bytes are kept to the store, and
what is derived from them to the catalog. It knows no files, no settings and no surface.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date
from typing import Literal, Self

from commonplace import drafting
from commonplace.errors import BadFormat, BadName, Busy, Changed, NotFound
from commonplace.guard.admission import NAME_CHARS, Draft, Refusal, admit, items_of
from commonplace.guard.text import one_line
from commonplace.index.catalog import Catalog
from commonplace.index.listing import INDEX_HEAD, INDEX_REACH, WHOLE_INDEX, Budget, Listing
from commonplace.note.format import stamp_of
from commonplace.note.note import DESCRIPTION_CHARS, FILE_BYTES, Note
from commonplace.note.prose import clamp
from commonplace.note.slug import slugify, usable_stem
from commonplace.outcomes import Conflict, Forgotten, Hit, Recall, Refused, Room, Saved, Scan, Status
from commonplace.prompt.preamble import FULL, LAST_SESSIONS, Profile, preamble
from commonplace.recall.asked import Asked, age
from commonplace.recall.substring import Ranked, rank
from commonplace.store.base import EXTERNAL, PERSON, Call, Found, Store, Written, trust_of
from commonplace.store.paths import SUFFIX, place_of

# How often a save that lost a race looks again before it gives up: far more than eight busy writers need.
_ATTEMPTS = 100
# Names made from like texts are told apart by a number up to here, then by a piece of the text's hash.
_NUMBERED = 9
_EXCERPT_CHARS = 300
_NO_NAME = Refused(rule="name", why="no letter or digit in it makes a name; say it in words, or give it a name")
_NO_DESCRIPTION = Refused(rule="description", why="no line of it says what it is about; give a description")


class Memory:
    """One notebook, as a host uses it. Safe from any thread; any number may be open on one notebook."""

    def __init__(
        self, store: Store, catalog: Catalog, *, now: Callable[[], float] = time.time, profile: Profile = FULL
    ) -> None:
        self._store = store
        self._catalog = catalog
        self._now = now
        self._profile = profile

    @property
    def where(self) -> str:
        """Where the notebook is."""
        return self._store.where

    def save(
        self,
        body: str,
        *,
        name: str | None = None,
        description: str | None = None,
        kind: str | None = None,
        tags: Sequence[str] | None = None,
        title: str | None = None,
        pinned: bool | None = None,
        expires: date | Literal["never"] | None = None,
        applies_to: Sequence[str] | None = None,
        supersedes: Sequence[str] | None = None,
        expect: str | None = None,
        replace: bool = False,
        call: Call | None = None,
    ) -> Saved | Conflict | Refused:
        """Save a fact, or correct the one that has this name.

        What is not given is derived for a new note (kind `project`) and kept for an old one, but that a description
        follows a text that changes; an empty list, and `expires="never"`, take away what there was. A name that
        another fact has answers `Conflict`, unless `expect` is the stamp of the note the caller has read, or `replace`
        is set. `expect=''` saves only if there is no such note.
        """
        call = call or Call()
        draft = admit(
            Draft(
                body, name, title, description, kind, items_of(tags), items_of(applies_to), items_of(supersedes), pinned,
                expires, _voice(call), had=self._had(name, description),
            )
        )  # fmt: skip
        if isinstance(draft, Refusal):
            return Refused(rule=draft.rule, why=draft.why)
        if draft.name is None and expect is not None:
            return Refused(rule="expect-needs-name", why="expect= says which version of a note; give its name too")
        self._catalog.catch_up()
        try:
            stem = "" if draft.name is None else self._stem(draft.name)
            if draft.supersedes:
                draft = draft._replace(supersedes=tuple(dict.fromkeys(map(self._stem, draft.supersedes))))
        except BadName as problem:
            return Refused(rule="name", why=str(problem))
        if not stem:
            return self._save_unnamed(draft, call)
        return self._save_named(stem, draft, call, expect, replacing=replace)

    def recall(
        self,
        query: str,
        *,
        limit: int = 5,
        kinds: Sequence[str] = (),
        tags: Sequence[str] = (),
        since: date | None = None,
    ) -> Recall:
        """The notes that answer a query, best first, each with the reasons for its rank."""
        began = time.perf_counter()
        asked = Asked.of(kinds, tags, since)
        self._catalog.refresh()
        best, authors, more = self._ranked(asked, query, limit)
        if not self._catalog.holds([hit.note.name for hit in best]):
            self._catalog.refresh(full=True)
            best, authors, more = self._ranked(asked, query, limit)
        hits = tuple(self._hit(hit, authors[hit.note.name]) for hit in best)
        took = (time.perf_counter() - began) * 1000
        return Recall(hits=hits, took_ms=round(took, 2), more=more)

    def read(self, name: str) -> Note:
        """The note of this name, fresh from the store, with the stamp a correction should expect.

        Raises:
            NotFound: there is none.
            BadFormat: its file cannot be read.

        """
        return self._found(name).note

    def forget(self, name: str, *, expect: str | None = None, call: Call | None = None) -> Forgotten | Conflict:
        """Take a note out of the notebook; its last version stays in the history.

        Raises:
            NotFound: there is none.

        """
        self._catalog.catch_up()
        for _ in range(_ATTEMPTS):
            found = self._found(name)
            stamp = found.note.stamp if expect is None else expect
            self._catalog.begin()
            try:
                written = self._store.delete(
                    found.note.name, call=call or Call(), expect=stamp, then=self._catalog.follow
                )
            except Changed:
                if expect is not None:
                    return Conflict(
                        name=found.note.name, why=drafting.STALE, ours="", theirs=self._now_there(found.note.name)
                    )
                continue
            return Forgotten(
                note=written.note, kept=written.kept, room=self._room(changed=True), warnings=written.warnings
            )
        raise Busy(f"{name!r} kept changing while it was to be forgotten; nothing was changed. Try again")

    def notes(self, *, kinds: Sequence[str] = (), tags: Sequence[str] = (), since: date | None = None) -> Scan:
        """The notes by name, all or those asked for, and what a person should know of the notebook's files."""
        self._catalog.refresh(full=True)
        asked = Asked.of(kinds, tags, since)
        notes = tuple(note for note, _ in self._catalog.notes() if asked.takes(note))
        return Scan(notes=notes, problems=self._catalog.problems())

    def status(self) -> Status:
        """Which notebook this is, and how it stands."""
        self._catalog.refresh(full=True)
        return Status(
            where=self.where, counts=self._catalog.counts(), room=self._room(changed=False), cache=self._catalog.place,
            problems=self._catalog.problems(),
        )  # fmt: skip

    def listing(self, budget: Budget = WHOLE_INDEX, reach: str = INDEX_REACH) -> Listing:
        """The index: the notes of most value that fit."""
        self._catalog.refresh()
        return self._listed(budget, reach)

    def preamble(self) -> str:
        """The block for the system prompt: how far to trust the notes, and their index. Same notes, same bytes."""
        self._catalog.refresh()
        sessions = self._catalog.sessions(self._today(), LAST_SESSIONS)
        if not self._catalog.holds([line.name for line in sessions]):
            self._catalog.refresh(full=True)
            sessions = self._catalog.sessions(self._today(), LAST_SESSIONS)
        return preamble(self._listed, sessions, where=self._store.where, profile=self._profile)

    def close(self) -> None:
        """Let go of what is held open; the next call opens it again. A `with` block does it at its end."""
        self._catalog.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- saving ----------------------------------------------------------------------------------------------

    def _save_unnamed(self, draft: Draft, call: Call) -> Saved | Conflict | Refused:
        """Save under a name made from the text. Such a name never overwrites: it gives way until it is free."""
        draft = drafting.described(draft, None)
        if not draft.description:
            return _NO_DESCRIPTION
        try:
            base = slugify(drafting.gist(draft.description))
        except BadName:
            return _NO_NAME
        numbered = (f"{base}-{number}" for number in range(2, _NUMBERED + 1))
        for stem in (base, *numbered, f"{base}-{stamp_of(draft.body.encode())[:8]}"):
            known = self._catalog.named(stem)
            outcome = self._save_named(known[0] if known else stem, draft, call, "", replacing=False)
            if isinstance(outcome, Saved) and stem != base:
                return replace(outcome, warnings=(*outcome.warnings, drafting.BEGINS_ALIKE.format(base)))
            if isinstance(outcome, Refused) and outcome.rule == "unreadable":
                continue
            if not isinstance(outcome, Conflict):
                return outcome
            theirs = outcome.theirs
            if theirs is not None and drafting.says_the_same(theirs, draft):  # a tag or a kind it lacks may be new
                outcome = self._save_named(theirs.name, draft, call, theirs.stamp, replacing=False)
                if not isinstance(outcome, Conflict):
                    return outcome
        return Refused(rule="name", why=f"too many notes are called like {base!r}; give this one a name of its own")

    def _save_named(
        self, stem: str, draft: Draft, call: Call, expect: str | None, *, replacing: bool
    ) -> Saved | Conflict | Refused:
        for _ in range(_ATTEMPTS):
            try:
                old = self._get(stem)
            except BadFormat as problem:
                return Refused(
                    rule="unreadable", why=f"what has this name cannot be read: {problem}. Or choose another name"
                )
            ready = drafting.described(draft, old)
            if not ready.description:
                return _NO_DESCRIPTION
            if why := drafting.objection(old, ready, expect, replacing=replacing):
                return Conflict(name=stem, why=why, ours=ready.body, theirs=old)
            note = drafting.merged(ready, old, stem, call, self._today())
            if note is old:
                return self._saved(Written("unchanged", note))
            self._catalog.begin()
            try:
                written = self._store.put(note, call=call, expect=old.stamp if old else "", then=self._catalog.follow)
            except Changed:
                continue
            return self._saved(written._replace(warnings=(*draft.warnings, *written.warnings)))
        raise Busy(f"{stem!r} kept changing while it was to be saved; nothing was changed. Try again")

    def _stem(self, name: str) -> str:
        """The stem a name means: an existing file's own, or the slug a new one gets. A file's name means its note."""
        slug = slugify(name)
        known = self._catalog.named(slug)
        if not known and name.endswith(SUFFIX) and name != SUFFIX:
            return self._stem(name.removesuffix(SUFFIX))
        return name if name in known else known[0] if known else slug

    def _had(self, name: str | None, description: str | None) -> str:
        """The description a note has, where a longer one than we would take is given: it may be a person's, unchanged."""
        if name is None or not DESCRIPTION_CHARS < len(description or "") <= FILE_BYTES:
            return ""
        try:
            return self._found(name).note.description
        except (NotFound, BadFormat):
            return ""

    def _saved(self, written: Written) -> Saved:
        note = written.note
        file = os.path.join(self._store.where, place_of(note.name, note.folder))
        return Saved(
            outcome=written.outcome,
            note=note,
            file=file,
            room=self._room(changed=written.outcome != "unchanged"),
            kept=written.kept,
            warnings=written.warnings,
        )

    def _room(self, *, changed: bool) -> Room:
        """How full `MEMORY.md` is: as our change has just left it, or as it would be written now."""
        index = self._catalog.published if changed else None
        if index is None:
            index = self._catalog.listing(self._today(), WHOLE_INDEX, head=INDEX_HEAD, reach=INDEX_REACH)
        return Room(
            lines=index.lines, lines_most=index.budget.lines, bytes=index.bytes, bytes_most=index.budget.bytes,
            left_out=index.left_out,
        )  # fmt: skip

    # --- finding ---------------------------------------------------------------------------------------------

    def _found(self, name: str) -> Found:
        """The note a person or model means by a name: exactly that stem, else the one its slug answers to."""
        try:
            if usable_stem(name):
                with suppress(NotFound):
                    return self._store.get(name)
            self._catalog.catch_up()
            return self._store.get(self._stem(one_line(name[: NAME_CHARS + 1])))
        except (BadName, NotFound):
            raise NotFound(
                f"no note named {name[:80]!r} in {self.where}; `commonplace list` shows the names there are"
            ) from None
        except BadFormat as problem:
            raise BadFormat(f"{name!r} in {self.where} cannot be read: {problem}") from None

    def _get(self, stem: str) -> Note | None:
        try:
            return self._store.get(stem).note
        except NotFound:
            return None

    def _now_there(self, stem: str) -> Note | None:
        try:
            return self._get(stem)
        except BadFormat:
            return None

    def _ranked(self, asked: Asked, query: str, limit: int) -> tuple[list[Ranked], dict[str, str], int]:
        """The best hits, who wrote each note, and how many more hits there were."""
        found = self._catalog.notes()
        ranked = rank([note for note, _ in found if asked.takes(note)], query)
        best = ranked[: max(limit, 0)]
        return best, {note.name: author for note, author in found}, len(ranked) - len(best)

    def _listed(self, budget: Budget, reach: str) -> Listing:
        """The index within a budget, every line of it checked against its file."""
        listing = self._catalog.listing(self._today(), budget, reach=reach)
        if self._catalog.holds(listing.shown):
            return listing
        self._catalog.refresh(full=True)
        return self._catalog.listing(self._today(), budget, reach=reach)

    def _hit(self, found: Ranked, author: str) -> Hit:
        note = found.note
        return Hit(
            name=note.name, title=note.title, description=note.description, kind=note.kind, where=self.where,
            score=round(found.score, 3), reasons=found.reasons, age=age(note.updated or note.created, self._today()),
            trust=author, excerpt=clamp(one_line(note.body), _EXCERPT_CHARS),
        )  # fmt: skip

    def _today(self) -> date:
        return date.fromtimestamp(self._now())


def _voice(call: Call) -> str:
    """Whose word a save is: the agent of a session that has read text from outside may be speaking for that text."""
    if call.origin == PERSON or (trust_of(call.origin) and not call.tainted):
        return call.origin
    return call.origin if call.origin.startswith(EXTERNAL) else EXTERNAL + call.origin
