"""Saving: what a save means (a new fact, a correction, a conflict), and which note a name means.

It leaves how bytes are kept to the store, and what is derived from them to the catalog. It knows no query.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import date

from commonplace import drafting
from commonplace.errors import BadFormat, BadName, Busy, Changed, NotFound
from commonplace.guard.admission import NAME_CHARS, Draft, Refusal, admit
from commonplace.guard.text import one_line
from commonplace.index.catalog import Catalog
from commonplace.index.listing import INDEX_HEAD, INDEX_REACH, WHOLE_INDEX
from commonplace.note.format import stamp_of
from commonplace.note.limits import DESCRIPTION_CHARS, FILE_BYTES
from commonplace.note.note import Note
from commonplace.note.slug import slugify, usable_stem
from commonplace.outcomes import Conflict, Forgotten, Refused, Room, Saved
from commonplace.store.base import Call, Found, Store, Written
from commonplace.store.paths import SUFFIX, place_of

# How often a save that lost a race looks again before it gives up: far more than eight busy writers need.
ATTEMPTS = 100
# Names made from like texts are told apart by a number up to here, then by a piece of the text's hash.
_NUMBERED = 9
_NO_NAME = Refused(rule="name", why="no letter or digit in it makes a name; say it in words, or give it a name")
_NO_DESCRIPTION = Refused(rule="description", why="no line of it says what it is about; give a description")


class Saving:
    """The way of a draft into a store, and of a name to its note."""

    def __init__(self, store: Store, catalog: Catalog, now: Callable[[], float]) -> None:
        self._store = store
        self._catalog = catalog
        self._now = now

    def save(self, draft: Draft, call: Call, expect: str | None, *, replacing: bool) -> Saved | Conflict | Refused:
        """Save what may be remembered, under the name it has or one made from its text."""
        admitted = admit(draft)
        if isinstance(admitted, Refusal):
            return Refused(rule=admitted.rule, why=admitted.why)
        draft = admitted
        if draft.name is None and expect is not None:
            return Refused(rule="expect-needs-name", why="expect= says which version of a note; give its name too")
        self._catalog.catch_up()
        try:
            stem = "" if draft.name is None else self.stem(draft.name)
            if draft.supersedes:
                draft = draft._replace(supersedes=tuple(dict.fromkeys(map(self.stem, draft.supersedes))))
        except BadName as problem:
            return Refused(rule="name", why=str(problem))
        if not stem:
            return self.unnamed(draft, call)
        return self.named(stem, draft, call, expect, replacing=replacing)

    def forget(self, name: str, call: Call, expect: str | None) -> Forgotten | Conflict:
        """Take a note out; `expect` is the stamp of the version that may go."""
        self._catalog.catch_up()
        for _ in range(ATTEMPTS):
            found = self.find(name)
            stamp = found.note.stamp if expect is None else expect
            self._catalog.begin()
            try:
                written = self._store.delete(found.note.name, call=call, expect=stamp, then=self._catalog.follow)
            except Changed:
                if expect is not None:
                    return Conflict(
                        name=found.note.name,
                        why=drafting.STALE,
                        ours="",
                        theirs=self.now_there(found.note.name),
                    )
                continue
            return Forgotten(
                note=written.note, kept=written.kept, room=self.room(changed=True), warnings=written.warnings
            )
        raise Busy(f"{name!r} kept changing while it was to be forgotten; nothing was changed. Try again")

    def unnamed(self, draft: Draft, call: Call) -> Saved | Conflict | Refused:
        """Save under a name made from the text. Such a name never overwrites: it gives way until it is free."""
        draft = drafting.described(draft, None)
        if not draft.description:
            return _NO_DESCRIPTION
        try:
            base = slugify(drafting.gist(draft.description))
        except BadName:
            return _NO_NAME
        numbered = (f"{base}-{number}" for number in range(2, _NUMBERED + 1))
        first = ""  # of the notes it gave way to
        for stem in (base, *numbered, f"{base}-{stamp_of(draft.body.encode())[:8]}"):
            known = self._catalog.named(stem)
            outcome = self.named(known[0] if known else stem, draft, call, "", replacing=False)
            if isinstance(outcome, Saved):
                return replace(outcome, alike=first)
            if isinstance(outcome, Refused) and outcome.rule == "unreadable":
                continue
            if not isinstance(outcome, Conflict):
                return outcome
            theirs, first = outcome.theirs, first or outcome.name
            if theirs is not None and drafting.says_the_same(theirs, draft):  # a tag or a kind it lacks may be new
                outcome = self.named(theirs.name, draft, call, theirs.stamp, replacing=False)
                if not isinstance(outcome, Conflict):
                    return outcome
        return Refused(rule="name", why=f"too many notes are called like {base!r}; give this one a name of its own")

    def named(
        self, stem: str, draft: Draft, call: Call, expect: str | None, *, replacing: bool
    ) -> Saved | Conflict | Refused:
        """Save under a name: a new fact, or a correction of the one that has it."""
        for _ in range(ATTEMPTS):
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
                return self.saved(Written("unchanged", note), call)
            self._catalog.begin()
            try:
                written = self._store.put(note, call=call, expect=old.stamp if old else "", then=self._catalog.follow)
            except Changed:
                continue
            return self.saved(written._replace(warnings=(*draft.warnings, *written.warnings)), call)
        raise Busy(f"{stem!r} kept changing while it was to be saved; nothing was changed. Try again")

    def stem(self, name: str) -> str:
        """The stem a name means: an existing file's own, or the slug a new one gets. A file's name means its note."""
        slug = slugify(name)
        known = self._catalog.named(slug)
        if not known and name.endswith(SUFFIX) and name != SUFFIX:
            name = name.removesuffix(SUFFIX)
            slug = slugify(name)
            known = self._catalog.named(slug)
        return name if name in known else known[0] if known else slug

    def had(self, name: str | None, description: str | None) -> str:
        """The description a note has, where a longer one than we would take is given: it may be a person's, unchanged."""
        if name is None or not DESCRIPTION_CHARS < len(description or "") <= FILE_BYTES:
            return ""
        try:
            return self.find(name).note.description
        except (NotFound, BadFormat):
            return ""

    def exactly(self, note: Note, call: Call, expect: str) -> Saved:
        """Keep just this note, if what stands under its name still is what the caller has read.

        Raises:
            Changed: it is not.

        """
        self._catalog.begin()
        return self.saved(self._store.put(note, call=call, expect=expect, then=self._catalog.follow), call)

    def saved(self, written: Written, call: Call) -> Saved:
        """What a save answers."""
        note = written.note
        return Saved(
            outcome=written.outcome,
            note=note,
            file=self.file_of(note),
            room=self.room(changed=written.outcome != "unchanged"),
            kept=written.kept,
            by=call.origin if written.outcome != "unchanged" else "",
            warnings=written.warnings,
        )

    def file_of(self, note: Note) -> str:
        """Where a note's file lies."""
        return os.path.join(self._store.where, place_of(note.name, note.folder))

    def room(self, *, changed: bool) -> Room:
        """How full `MEMORY.md` is: as our change has just left it, or as it would be written now."""
        index = self._catalog.published if changed else None
        if index is None:
            index = self._catalog.listing(self._today(), WHOLE_INDEX, head=INDEX_HEAD, reach=INDEX_REACH)
        return Room(
            lines=index.lines, lines_most=index.budget.lines, bytes=index.bytes, bytes_most=index.budget.bytes,
            left_out=index.left_out,
        )  # fmt: skip

    def find(self, name: str) -> Found:
        """The note a person or model means by a name: exactly that stem, else the one its slug answers to."""
        try:
            if usable_stem(name):
                with suppress(NotFound):
                    return self._store.get(name)
            self._catalog.catch_up()
            return self._store.get(self.stem(one_line(name[: NAME_CHARS + 1])))
        except (BadName, NotFound):
            raise NotFound(
                f"no note named {name[:80]!r} in {self._store.where}; `commonplace list` shows the names there are",
                name[:NAME_CHARS],
            ) from None
        except BadFormat as problem:
            raise BadFormat(f"{name!r} in {self._store.where} cannot be read: {problem}") from None

    def _get(self, stem: str) -> Note | None:
        try:
            return self._store.get(stem).note
        except NotFound:
            return None

    def now_there(self, stem: str) -> Note | None:
        """The note of just this name, if there is one that can be read."""
        try:
            return self._get(stem)
        except BadFormat:
            return None

    def _today(self) -> date:
        return date.fromtimestamp(self._now())
