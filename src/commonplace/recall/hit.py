"""What a recall answers: hits, best first, each with the reasons for its rank. It finds nothing itself."""

from __future__ import annotations

from collections.abc import Iterable

from commonplace.named import NamedTuple
from commonplace.note.kind import Kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self


class Hit(NamedTuple):
    """A note that answers a query, and why it ranked where it did."""

    name: str
    title: str
    description: str
    kind: Kind
    where: str
    score: float
    reasons: tuple[str, ...]
    age: str
    trust: str
    excerpt: str
    file: str = ""
    """Where its file lies, seen from the notebook."""
    expired: bool = False
    parts: tuple[tuple[str, float], ...] = ()
    """What the score is the sum of."""
    claims: tuple[tuple[str, str, str], ...] = ()
    """What it says of the workspace and could be checked: the words, `holds`, `changed` or `gone`, and more in words."""

    @property
    def broken(self) -> tuple[str, ...]:
        """The claims that do not hold any more, each with what became of it."""
        return tuple(f"{text}: {_told(state, detail)}" for text, state, detail in self.claims if state != "holds")


def _told(state: str, detail: str) -> str:
    return detail if detail.startswith(state) else f"{state}, {detail}" if detail else state


class Recall(tuple[Hit, ...]):  # noqa: SLOT001 - a tuple of any length has no room for slots
    """The best hits, in order: loop over it, or ask how many there are. It also knows how they were found."""

    took_ms: float
    """How long finding them took."""
    more: int
    """How many more there were, of those that were weighed."""
    guessed: tuple[tuple[str, str], ...]
    """Words no note holds, and what was looked for in their place."""

    def __new__(
        cls, hits: Iterable[Hit] = (), *, took_ms: float = 0.0, more: int = 0, guessed: tuple[tuple[str, str], ...] = ()
    ) -> Self:
        self = super().__new__(cls, tuple(hits))
        self.took_ms, self.more, self.guessed = took_ms, more, guessed
        return self

    @property
    def hits(self) -> tuple[Hit, ...]:
        return tuple(self)

    def __repr__(self) -> str:
        return f"Recall(hits={tuple(self)!r}, took_ms={self.took_ms}, more={self.more}, guessed={self.guessed})"
