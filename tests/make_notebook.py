"""Write a notebook of every feature as this version does, the same bytes each time, and what must be read from it.

    python -m tests.make_notebook tests/notebooks/format-1

A notebook written by a released version is never written again: a later version gets one of its own beside it.
"""

import json
import shutil
import sys
from datetime import UTC, date, datetime
from hashlib import sha256
from pathlib import Path

from tests.places import UnsyncedDisk

from commonplace import Call
from commonplace.index.catalog import Catalog
from commonplace.index.sidecar import Sidecar
from commonplace.memory import Memory
from commonplace.note.note import FACTS
from commonplace.store.files import FileStore

NOON = datetime(2026, 5, 15, 12, tzinfo=UTC).timestamp()
KEY = bytes(range(32))
PERSON = Call(origin="person", actor="commonplace")
AGENT = Call(origin="agent", session="2026-05-15-08h00-a1b2", actor="claude-code")
EXTRACTOR = Call(origin="extractor", session="2026-05-15-08h00-a1b2", actor="extract")
IMPORT = Call(origin="import", actor="commonplace import")

BY_HAND = {
    "user_prefs.md": "---\r\nname: User preferences\r\ntype: preference\r\nmine: kept as it is\r\n---\r\n\r\nTabs, not spaces.\r\n",
    "from-claude.md": (
        "---\nname: from-claude\ndescription: A note of another tool\nmetadata:\n  node_type: memory\n  type: feedback\n"
        "  originSessionId: 4711\n---\n\nAnswer in short sentences.\n"
    ),
    "plain.md": "# A plain file\n\nNo header at all, written in an editor.\n",
    "feedback/qwen.md": "---\ntype: feedback\n---\n\nOne of another tool's folders.\n",
}


class Clock:
    """Noon, and a second later each time it is asked."""

    def __init__(self):
        self.asked = 0

    def __call__(self):
        self.asked += 1
        return NOON + self.asked


def opened(book, now=lambda: NOON):
    """A memory without a cache of its own on the disk."""
    store = FileStore(str(book), disk=UnsyncedDisk(), now=now)
    catalog = Catalog(store, Sidecar(None), today=lambda: date(2026, 5, 15), republish=store.republish)
    return Memory(store, catalog, now=lambda: NOON)


def write(book):
    """The notebook."""
    (book / ".commonplace").mkdir(parents=True)
    (book / ".commonplace" / "key").write_bytes(KEY)
    for name, text in BY_HAND.items():
        (book / name).parent.mkdir(exist_ok=True)
        (book / name).write_bytes(text.encode())
    memory = opened(book, Clock())
    memory.save(
        "Deploys go through `./deploy.sh`, never by hand. It refuses to run unless the tree is clean.\n\n"
        "**Why:** a half-committed deploy took the site down on 2026-04-02.\n**How to apply:** commit first.",
        name="deploys-go-through-deploy-sh", title="Deploys go through deploy.sh", tags=["deploy", "a, comma", "größe"],
        applies_to=["deploy/**", "git push *"], call=AGENT,
    )  # fmt: skip
    memory.save("Ana knows Go well and Python little.", name="Ana knows Go", kind="user", pinned=True, call=PERSON)
    memory.save("Never mock the database.", name="no mocks", kind="feedback", expires=date(2027, 1, 1), call=EXTRACTOR)
    memory.save("The dashboard is at grafana.example.org/d/abc.", name="dashboard", kind="reference", call=IMPORT)
    memory.save(
        "# 2026-05-15\n\n## Summary\nThe format was fixed.", name="2026-05-15-08h00-a1b2", kind="session", call=AGENT
    )
    memory.save("We chose SQLite; it needs no server.", name="why sqlite", kind="decision", call=AGENT)
    memory.save("日本語のメモ。全角も読める。", name="日本語のメモ", kind="project", call=PERSON)
    memory.save("A fact that is wrong.", name="wrong", call=AGENT)
    memory.save("A fact that is right.", name="right", supersedes=["wrong"], call=PERSON)
    memory.save(
        "Deploys go through `./deploy.sh`, and now also through CI.", name="deploys-go-through-deploy-sh", call=PERSON
    )
    memory.save("The dashboard moved to grafana.example.org/d/xyz.", name="dashboard", call=AGENT)
    memory.save("A fact to be forgotten.", name="forgotten", call=AGENT)
    memory.forget("forgotten", call=PERSON)
    memory.save("Tabs, not spaces; four wide.", name="user_prefs", expect=memory.read("user_prefs").stamp, call=PERSON)


def recorded(book):
    """What must be read from the notebook, by whatever version reads it."""
    memory = opened(book)
    scan = memory.notes()
    authors = {note.name: author for note, author in memory._catalog.notes()}
    plain = {str: str, bool: bool, tuple: list, type(None): lambda _: None}
    notes = {
        note.name: {
            **{fact: plain.get(type(getattr(note, fact)), str)(getattr(note, fact)) for fact in FACTS},
            "folder": note.folder, "stamp": note.stamp, "odd": list(note.odd), "author": authors[note.name],
        }
        for note in scan.notes
    }  # fmt: skip
    history = book / ".commonplace" / "history"
    return {
        "format": (book / ".commonplace" / "format").read_text().strip(),
        "notes": notes,
        "listing": memory.listing().text,
        "history": {path.relative_to(history).as_posix(): sha256(path.read_bytes()).hexdigest() for path in sorted(history.rglob("*.md"))},
        "changes": (book / ".commonplace" / "log.jsonl").read_bytes().count(b"\n"),
    }  # fmt: skip


def main(place):
    if place.exists():
        sys.exit(f"{place} is there already; what a version wrote is not written again")
    write(place / "book")
    (place / "expected.json").write_text(
        json.dumps(recorded(place / "book"), indent=1, ensure_ascii=False) + "\n", "utf-8"
    )
    shutil.rmtree(place / "book" / ".commonplace" / "tmp")  # empty, and git would not keep it


if __name__ == "__main__":
    main(Path(sys.argv[1]))
