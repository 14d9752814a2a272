"""Memory: save, recall, preamble, read, forget; what a host calls. Written once, over any Store.

What a save means is decided in `saving`, what a recall answers in `recalling`; how bytes are kept is left to the store, and what is derived from them to
the catalog. It knows no files, no settings and no surface.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from datetime import date
from functools import cached_property

from commonplace.errors import BadFormat, NotFound, NoTools
from commonplace.index.catalog import Catalog
from commonplace.recall.asked import Asked
from commonplace.recall.finder import Finder
from commonplace.recall.notes import Notes
from commonplace.recalling import PUSH_SECONDS, Recalling
from commonplace.store.base import Call, Problem, voice_of
from commonplace.store.trouble import told

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal, Self

    from commonplace.index.checkup import Checkup
    from commonplace.index.listing import Budget, Line, Listing
    from commonplace.note.note import Note
    from commonplace.outcomes import Answer, Conflict, Forgotten, Refused, Saved, Scan, Status, Tools
    from commonplace.prompt.preamble import Pinned, Profile
    from commonplace.recall.hit import Recall
    from commonplace.recall.semantic import Encoder
    from commonplace.recall.situations import Situation
    from commonplace.saving import Saving
    from commonplace.store.audit import Auditor
    from commonplace.store.base import Found, Store
    from commonplace.store.history import Event, History

    # Opens what is known of the notebook's past.
    Past = Callable[[], History]


class Memory:
    """One notebook, as a host uses it. Safe from any thread; any number may be open on one notebook."""

    def __init__(
        self,
        store: Store,
        catalog: Catalog,
        *,
        now: Callable[[], float] = time.time,
        profile: Profile | None = None,
        past: Past | None = None,
        toolbox: Callable[[Memory, Profile], Tools] | None = None,
        auditor: Callable[[], Auditor] | None = None,
        encoder: Callable[[], Encoder | None] = lambda: None,
        encodes_quickly: bool = True,
        ending: Callable[[], object] = lambda: None,
        workspace: str = "",
        acting: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self._store = store
        self._catalog = catalog
        self._now = now
        self._profile = profile
        self._past = past
        self._toolbox = toolbox
        self._auditor = auditor
        self._ending = ending
        self._recalling = Recalling(
            catalog,
            Finder(catalog.side, Notes(), encoder=encoder, quick=encodes_quickly),
            self.today,
            store.where,
            workspace,
        )
        self._acting = acting

    @property
    def where(self) -> str:
        """Where the notebook is."""
        return self._store.where

    @cached_property
    def _saving(self) -> Saving:
        """What changes notes, and finds them by name: loaded, all of it, with the first that is asked for."""
        with told(self.where, "loading what it takes"):  # our own files need room among the open ones too
            from commonplace.saving import Saving

        return Saving(self._store, self._catalog, self._now)

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
        saving = self._saving
        from commonplace.guard.admission import Draft, items_of

        call = call or Call()
        draft = Draft(
            body, name, title, description, kind, items_of(tags), items_of(applies_to), items_of(supersedes), pinned,
            expires, voice_of(call), had=saving.had(name, description),
        )  # fmt: skip
        return saving.save(draft, call, expect, replacing=replace)

    def recall(
        self,
        query: str,
        *,
        limit: int = 5,
        kinds: Sequence[str] = (),
        tags: Sequence[str] = (),
        since: date | None = None,
        to: Situation | None = None,
        verify: bool = False,
        workspace: str | None = None,
    ) -> Recall:
        """The notes that answer a query, best first, each with the reasons for its rank.

        `to` asks only for the notes that say they apply to what is about to be done, with no query for all of them.
        What hits claim of the `workspace` (else of the one this memory was opened for) is looked at in its files; with
        `verify`, git is asked too.
        """
        return self._recalling.recall(
            query, Asked.of(kinds, tags, since), limit, to, workspace=workspace, verify=verify
        )

    def push(self, query: str, *, most: int = 2, within: float = PUSH_SECONDS) -> Recall:
        """What a prompt calls for by itself: few notes that surely fit, by a deadline; none where none does."""
        return self._recalling.push(query, most, within)

    def read(self, name: str) -> Note:
        """The note of this name, fresh from the store, with the stamp a correction should expect.

        Raises:
            NotFound: there is none.
            BadFormat: its file cannot be read.

        """
        return self.find(name).note

    def used(self, name: str) -> None:
        """Say that a note was read because it was wanted: it ranks a little higher from now on."""
        self._catalog.used(name)

    def find(self, name: str) -> Found:
        """The note a name means, as `read` answers it, and who wrote it."""
        return self._saving.find(name)

    def present(self, name: str) -> Note | None:
        """The note of exactly this name; None where there is none that can be read."""
        return self._saving.now_there(name)

    def keep(self, note: Note, *, expect: str, call: Call | None = None) -> Saved:
        """Put just this note in its place: what it has of a file's own bytes is kept. For what is no new fact.

        Raises:
            Changed: the note's stamp is not `expect` any more ('' for no note); nothing was changed.

        """
        return self._saving.exactly(note, call or Call(), expect)

    def events(self) -> tuple[Event, ...]:
        """Every change that happened in this notebook, oldest first; none where its store keeps no history."""
        if self._past is None:
            return ()
        self._catalog.refresh(full=True)
        return self._past().events(self._catalog.stamps())

    def acting(self) -> AbstractContextManager[None]:
        """For one act of several changes: no other is under way meanwhile. Single saves and hands go on."""
        return self._acting()

    def version(self, name: str, stamp: str) -> bytes | None:
        """The bytes of a note's version, the present one or one the history keeps; None where it is lost."""
        with suppress(NotFound, BadFormat):
            note = self._store.get(name).note
            if note.stamp == stamp:
                return note.source
        return self._past().version(name, stamp) if self._past else None

    def forget(self, name: str, *, expect: str | None = None, call: Call | None = None) -> Forgotten | Conflict:
        """Take a note out of the notebook; its last version stays in the history.

        Raises:
            NotFound: there is none.

        """
        from commonplace.outcomes import Forgotten

        outcome = self._saving.forget(name, call or Call(), expect)
        if isinstance(outcome, Forgotten):
            self._recalling.forget(outcome.name)
        return outcome

    def notes(self, *, kinds: Sequence[str] = (), tags: Sequence[str] = (), since: date | None = None) -> Scan:
        """The notes by name, all or those asked for, and what a person should know of the notebook's files."""
        self._catalog.refresh(full=True)
        asked = Asked.of(kinds, tags, since)
        from commonplace.outcomes import Scan

        notes = tuple(note for note, _ in self._catalog.notes() if asked.takes(note))
        return Scan(notes=notes, problems=self._catalog.problems())

    def status(self) -> Status:
        """Which notebook this is, and how it stands."""
        from commonplace.outcomes import Status

        self._catalog.refresh(full=True)
        problems = self._catalog.problems()
        if self._recalling.trouble:
            problems = (*problems, Problem("meaning", self._recalling.trouble, unread=False))
        return Status(
            where=self.where, counts=self._catalog.counts(), room=self._saving.room(changed=False), cache=self._catalog.place,
            problems=problems, bytes=self._catalog.size(),
        )  # fmt: skip

    def listing(self, budget: Budget | None = None, reach: str = "") -> Listing:
        """The index: the notes of most value that fit a budget, the index's own unless another is given."""
        from commonplace.index.listing import INDEX_REACH, WHOLE_INDEX

        self._catalog.refresh()
        return self._listed(budget or WHOLE_INDEX, reach or INDEX_REACH)

    def sessions(self) -> list[Line]:
        """The last sessions, newest first, a line each."""
        from commonplace.prompt.preamble import LAST_SESSIONS

        self._catalog.refresh()
        last = self._catalog.sessions(self.today(), LAST_SESSIONS)
        if self._catalog.holds([line.name for line in last]):
            return last
        self._catalog.refresh(full=True)
        return self._catalog.sessions(self.today(), LAST_SESSIONS)

    def preamble(self) -> str:
        """The block for the system prompt: how far to trust the notes, and their index. Same notes, same bytes."""
        return self.pinned().text

    def pinned(self) -> Pinned:
        """The same block, and the names of the notes that stand in it."""
        from commonplace.prompt.preamble import FULL, preamble

        return preamble(self._listed, self.sessions(), where=self._store.where, profile=self._profile or FULL)

    def tools(self, shape: str = "anthropic", *, call: Call | None = None, role: str = "agent") -> list[Any]:
        """The memory tools for a model: for an API (`anthropic`, `openai`, `responses`, `mcp`), or as `python` functions.

        Raises:
            NoTools: there is no such shape, or this memory was put together without tools.

        """
        return self._tools().tools(shape, call=call, role=role)

    def run_tool(self, name: str, arguments: object, *, call: Call | None = None, role: str = "agent") -> Answer:
        """Run a call of a memory tool as a model sent it. It answers what to tell the model, also where it failed."""
        return self._tools().run(name, arguments, call=call, role=role)

    def checkup(self) -> Checkup | None:
        """This notebook laid open, for whoever looks after it; None where there is no notebook."""
        from commonplace.index.checkup import Checkup

        return Checkup(self._store, self._catalog, self._auditor and self._auditor(), self.today())

    def close(self) -> None:
        """Let go of what is held open; the next call opens it again. A `with` block does it at its end."""
        self._ending()
        self._catalog.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- finding ---------------------------------------------------------------------------------------------

    def _listed(self, budget: Budget, reach: str) -> Listing:
        """The index within a budget, every line of it checked against its file."""
        listing = self._catalog.listing(self.today(), budget, reach=reach)
        if self._catalog.holds(listing.shown):
            return listing
        self._catalog.refresh(full=True)
        return self._catalog.listing(self.today(), budget, reach=reach)

    def _tools(self) -> Tools:
        from commonplace.prompt.preamble import FULL

        if self._toolbox is None:
            raise NoTools(
                "this memory was put together without tools; open it with open_memory(), or give it a toolbox"
            )
        return self._toolbox(self, self._profile or FULL)

    def lost(self) -> str:
        """What tells who wrote the notes and is gone, as far as was seen so far; '' where nothing is."""
        return self._catalog.lost

    def now(self) -> float:
        """The time it is, by the clock it was given."""
        return self._now()

    def file_of(self, note: Note) -> str:
        """Where a note's file lies, in words a person can open."""
        return self._saving.file_of(note)

    def today(self) -> date:
        """The day it is, by the clock it was given."""
        return date.fromtimestamp(self._now())
