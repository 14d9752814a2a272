"""What texts mean, kept: a vector for each, by model and by what the text says.

A cache and no more: another model begins its own, and what is not known yet is worked out when it is asked for. It
knows encoders and tables, not how one makes a vector.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice

from commonplace.errors import CommonplaceError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from commonplace.recall.lexical import Text
    from commonplace.recall.semantic import Encoder

# Where words find too few, the meaning of so many texts is compared: the newest. More take longer than they are worth,
# unless numpy happens to be there.
_SCANNED = 500
_SCANNED_BY_NUMPY = 1_000_000
_KNOWN = "SELECT texts.id, vector FROM texts JOIN vectors ON model = ? AND text = mark WHERE texts.id IN ({})"
_NEWEST = """SELECT texts.id, key, clusters, texts.day, vector FROM texts JOIN vectors ON model = ? AND text = mark
    ORDER BY texts.day DESC, texts.id DESC"""
_LACKING = (
    "SELECT key FROM texts WHERE id IN ({}) AND NOT EXISTS (SELECT 1 FROM vectors WHERE model = ? AND text = mark)"
)

_NEWEST_LACKING = """SELECT key FROM texts WHERE NOT EXISTS (SELECT 1 FROM vectors WHERE model = ? AND text = mark)
    ORDER BY day DESC, id DESC LIMIT ?"""


class Vectors:
    """The meaning of texts, by one encoder. Methods that take a connection work within the caller's transaction.

    Where the encoder fails, nothing means anything, and `trouble` says why: the words still find.
    """

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self.trouble = ""

    @property
    def key(self) -> str:
        """The encoder's own."""
        return self._encoder.key

    def of(self, query: str) -> bytes:
        """What a query means; b'' where that is nothing the encoder knows."""
        found = self._encoded([query])
        return found[0] if found and any(found[0]) else b""

    def encoded(self, texts: Sequence[Text]) -> list[tuple[str, bytes, bytes]]:
        """What these texts mean, as `keep` takes it. It may take long: no transaction should wait for it."""
        meant = zip(texts, self._encoded([text.said for text in texts]), strict=False)
        return [(self._encoder.key, text.mark, vector) for text, vector in meant]

    def keep(self, db: sqlite3.Connection, rows: Sequence[tuple[str, bytes, bytes]]) -> None:
        """Keep what texts mean."""
        db.executemany("INSERT OR REPLACE INTO vectors (model, text, vector) VALUES (?, ?, ?)", rows)

    def lacking(self, db: sqlite3.Connection, ids: Iterable[int]) -> list[str]:
        """The keys of those texts whose meaning is not kept."""
        return [key for (key,) in db.execute(_LACKING.format(_list(ids)), (self._encoder.key,))]

    def newest_lacking(self, db: sqlite3.Connection) -> list[str]:
        """The keys of the newest texts whose meaning is not kept."""
        return [key for (key,) in db.execute(_NEWEST_LACKING, (self._encoder.key, _SCANNED))]

    def closeness(self, db: sqlite3.Connection, query: bytes, ids: Iterable[int]) -> Mapping[int, float]:
        """How near each of these texts comes to a query, as far as that is known."""
        from commonplace.recall.semantic import closeness

        known = db.execute(_KNOWN.format(_list(ids)), (self._encoder.key,)).fetchall()
        known = [(id_, vector) for id_, vector in known if len(vector) == len(query)]
        return dict(zip((id_ for id_, _ in known), closeness(query, [vector for _, vector in known]), strict=True))

    def nearest(
        self, db: sqlite3.Connection, query: bytes, most: int, may: Callable[[str], bool]
    ) -> list[tuple[float, int, str, str, str]]:
        """The texts nearest to a query of those that may be, whatever their words: how near, id, key, clusters, day."""
        from commonplace.recall.semantic import closeness, numpy_is_here

        scanned = _SCANNED_BY_NUMPY if numpy_is_here() else _SCANNED
        found = db.execute(_NEWEST, (self._encoder.key,))
        rows = list(islice((row for row in found if len(row[4]) == len(query) and may(row[1])), scanned))
        near = zip(closeness(query, [row[4] for row in rows]), rows, strict=True)
        best = sorted(near, key=lambda pair: (-pair[0], pair[1][1]))[:most]
        return [(close, id_, key, clusters, day) for close, (id_, key, clusters, day, _) in best]

    def _encoded(self, texts: Sequence[str]) -> list[bytes]:
        if not texts:
            return []
        try:
            found = self._encoder.vectors(texts)
        except CommonplaceError as problem:
            self.trouble = str(problem)
            return []
        self.trouble = ""
        return found


def _list(ids: Iterable[int]) -> str:
    return ",".join(map(str, ids))
