"""Store: the narrow protocol behind a notebook, and the values it speaks in. It knows nothing of search."""

from __future__ import annotations

from collections.abc import Callable

from commonplace.named import NamedTuple, Protocol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from commonplace.note.note import Note

ORIGINS = ("person", "agent", "hand", "extractor", "import")
PERSON, AGENT, HAND = ORIGINS[:3]
EXTERNAL = "external:"

# How far a note may be trusted, by who said it. `hand`, a file changed outside Commonplace, stands with `agent`
# until a person vouches for it. An origin we do not know is worth no more than something fetched.
_TRUST = {"person": 4, "agent": 3, "hand": 3, "extractor": 2, "import": 1}


def trust_of(origin: str) -> int:
    """The rank of an origin: 4 for a person, 0 for anything from outside."""
    return _TRUST.get(origin, 0)


class Call(NamedTuple):
    """Who is calling. Surfaces build it from what they know; no argument of a model's reaches it."""

    origin: str = "agent"
    session: str = ""
    tainted: bool = False
    actor: str = ""
    act: str = ""  # the same for several changes that are one act, and are undone together


def voice_of(call: Call) -> str:
    """Whose word a save is: the agent of a session that has read text from outside may be speaking for that text."""
    if call.origin == PERSON or (trust_of(call.origin) and not call.tainted):
        return call.origin
    return call.origin if call.origin.startswith(EXTERNAL) else EXTERNAL + call.origin


Signature = tuple[int, int, int, int]
"""Inode, size, mtime and ctime in nanoseconds: it changes whenever a note does, and is read without opening it."""

# What no file has: a note that is kept with it is read again next time.
UNSETTLED: Signature = (0, -1, 0, 0)
# File systems stamp changes in ticks of up to 4 ms: a file this fresh may change again under the same signature.
SETTLING_NS = 10_000_000
# Some keep whole seconds, or every other one.
_SECOND_NS = 1_000_000_000
_SETTLING_OF_SECONDS_NS = 2 * _SECOND_NS + SETTLING_NS


class Seen(NamedTuple):
    """One note as a scan sees it."""

    name: str
    folder: str
    signature: Signature


def settled(seen: Seen, at: int) -> Seen:
    """A signature that will not match again where the file changed too shortly before it was read to be sure of it."""
    inode, size, _, ctime = seen.signature
    # (A time far ahead of ours is another clock's: a change by ours would not be stamped so.)
    fresh = abs(at - ctime) < (SETTLING_NS if ctime % _SECOND_NS else _SETTLING_OF_SECONDS_NS)
    return seen._replace(signature=(inode, size, 0, 0)) if fresh else seen


class Problem(NamedTuple):
    """Something about the notebook a person should know. Nothing was done about it."""

    file: str
    what: str
    unread: bool = True  # False: odd, but read all the same


class Inventory(NamedTuple):
    """All notes a scan saw, by name, and what else lies there."""

    seen: tuple[Seen, ...]
    problems: tuple[Problem, ...]
    log: str = ""  # which log tells who wrote them: by another one, all may have been written by others
    lost: str = ""  # what tells that and is gone, where it should be
    mark: str = ""  # the same for the same notes with the same signatures and log; '' where the store has none
    part: bool = False  # only what is not as it was under the mark the store was told, and some that are


class Found(NamedTuple):
    """A note as it is now: what it says, its signature, and who wrote these bytes (asked of the log only if asked)."""

    note: Note
    seen: Seen
    author: Callable[[], str]


class Written(NamedTuple):
    """What a put or delete did. `kept` names the old version in the history; '' where there was none."""

    outcome: str  # created, updated, unchanged, deleted
    note: Note
    kept: str = ""
    warnings: tuple[str, ...] = ()


Pulse = tuple[int, ...]
"""A cheap mark of a store: it changes with every note that is made, renamed, replaced or removed."""


class Change(NamedTuple):
    """A change that is on the disk, as `then` is told of it while other writers still wait."""

    name: str
    found: Found | None  # the note as it now is; None after a delete
    before: Pulse  # the store's pulse just before
    publish: Callable[[str], str]  # puts the index beside the notes; answers why it could not, or ''


# What follows a change, under the writers' lock: derived things are brought up to date here. It must not raise;
# what it answers are warnings for the caller.
Then = Callable[[Change], tuple[str, ...]]


class Store(Protocol):
    """Where notes live.

    Contract (executable in `commonplace.testing.StoreContract`):
    - a call that returned is kept: `put` and `delete` are whole or did nothing.
    - a reader sees the old note or the new one, never half, and never waits for a writer.
    - `put` and `delete` compare first: where the note's stamp is not `expect`, they raise `Changed` and change
      nothing. `expect=''` means there is no such note yet.
    - `scan` names every note once, ordered by name, and reports what it cannot offer; one bad file never hides
      another. A note's signature changes whenever the note does. Told the mark of an inventory somebody has, a store
      may leave out what is as it was then (`part`), if every note there was is there.
    - `get` raises `NotFound` for a name that is not there, `BadFormat` for one that cannot be read.
    - no name, however hostile, reaches outside the store.
    """

    @property
    def where(self) -> str:
        """The place, in words a person knows it by."""

    def get(self, name: str) -> Found: ...

    def put(self, note: Note, *, call: Call, expect: str, then: Then | None = None) -> Written: ...

    def delete(self, name: str, *, call: Call, expect: str, then: Then | None = None) -> Written: ...

    def scan(self, known: str = "") -> Inventory: ...

    def pulse(self) -> Pulse: ...
