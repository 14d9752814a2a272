"""The notes of a catalog as a corpus: what of each is heading, what is body, and what it stands among."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence

from commonplace.index.values import unpacked
from commonplace.recall.analyze import is_unspaced
from commonplace.recall.finder import Changes
from commonplace.recall.lexical import Text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from commonplace.note.note import Note

# As far as a description is made from a text.
_BEGINNING = 600
_SAID = "SELECT name, title, description, tags, body, session, day FROM notes WHERE name IN ({})"


class Notes:
    """Every note the catalog has a row of. The tables say which changed: triggers keep a list."""

    def waits(self, db: sqlite3.Connection) -> bool:
        return db.execute("SELECT 1 FROM pending LIMIT 1").fetchone() is not None

    def changes(self, db: sqlite3.Connection, most: int) -> Changes:
        names = [name for (name,) in db.execute("SELECT name FROM pending LIMIT ?", (most,))]
        places = ",".join("?" * len(names))
        texts = tuple(self.texts(db, names))
        db.execute(f"DELETE FROM pending WHERE name IN ({places})", names)
        return Changes(texts, tuple(set(names).difference(text.key for text in texts)))

    def texts(self, db: sqlite3.Connection, keys: Sequence[str]) -> Sequence[Text]:
        return [_of_row(*row) for row in db.execute(_SAID.format(",".join("?" * len(keys))), tuple(keys))]

    def begin_again(self, db: sqlite3.Connection) -> None:
        db.execute("INSERT OR IGNORE INTO pending SELECT name FROM notes")


def text_of(note: Note) -> Text:
    """What of a note is found by which words."""
    day = note.updated or note.created
    return _text(
        note.name, note.title, note.description, note.tags, note.body, note.session, day.isoformat() if day else ""
    )


def _of_row(name: str, title: str, description: str, tags: str, body: str, session: str, day: str) -> Text:
    return _text(name, title, description, unpacked(tags), body, session, day)


def _text(name: str, title: str, description: str, tags: Sequence[str], body: str, session: str, day: str) -> Text:
    # What was only made from the text says nothing that the text does not: as a heading it would count twice.
    begins = _words(body[:_BEGINNING])
    heading = (line for line in (title, description, *tags, name) if not _begins_with(begins, _words(line)))
    clusters = (*((f"session {session}",) if session else ()), *(f"tag {tag.casefold()}" for tag in tags))
    return Text(name, "\n".join(heading), body, clusters, day)


def _begins_with(text: str, words: str) -> bool:
    """Whether a text begins with these words, whole ones where words have spaces between them."""
    then = text[len(words) : len(words) + 1]
    return bool(words) and text.startswith(words) and (then in ("", " ") or is_unspaced(then))


def _words(text: str) -> str:
    """The words of a text alone, as a name made from it would keep them."""
    return " ".join(re.findall(r"\w+", text.replace("_", " ").casefold()))
