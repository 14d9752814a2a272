"""The one place that writes to a terminal, and the shapes `--json` prints. Notes reach a screen through `say` alone."""

from __future__ import annotations

import json
import sys
from datetime import date
from typing import Any

from commonplace.guard.text import cleaned
from commonplace.note.note import Note
from commonplace.outcomes import Conflict, Hit, Recall, Room, Saved
from commonplace.store.base import Problem


def say(text: str, *, to_error: bool = False) -> None:
    """Print text that may come from a note: nothing in it moves a cursor, changes a colour or hides."""
    stream = sys.stderr if to_error else sys.stdout
    safe = cleaned(text)
    stream.write(safe.encode(stream.encoding or "utf-8", "replace").decode(stream.encoding or "utf-8") + "\n")


def say_json(value: object) -> None:
    """Print one JSON document, in ASCII: no terminal can be moved by it, and every reader can read it."""
    sys.stdout.write(json.dumps(value, indent=2) + "\n")


def note_json(note: Note, *, body: bool) -> dict[str, Any]:
    """A note as `--json` shows it."""
    out: dict[str, Any] = {
        "name": note.name,
        "title": note.title,
        "description": note.description,
        "kind": str(note.kind),
        "tags": list(note.tags),
        "created": _iso(note.created),
        "updated": _iso(note.updated),
        "expires": _iso(note.expires),
        "pinned": note.pinned,
        "applies_to": list(note.applies_to),
        "supersedes": list(note.supersedes),
        "session": note.session,
        "stamp": note.stamp,
    }
    return {**out, "body": note.body} if body else out


def saved_json(saved: Saved, notebook: str) -> dict[str, Any]:
    """A save as `--json` shows it."""
    return {
        "outcome": saved.outcome,
        "name": saved.name,
        "kind": str(saved.note.kind),
        "description": saved.note.description,
        "file": saved.file,
        "notebook": notebook,
        "stamp": saved.note.stamp,
        "kept": saved.kept,
        "room": room_json(saved.room),
        "warnings": list(saved.warnings),
    }


def conflict_json(conflict: Conflict) -> dict[str, Any]:
    """A conflict as `--json` shows it: both texts."""
    theirs = note_json(conflict.theirs, body=True) if conflict.theirs else None
    return {"outcome": "conflict", "name": conflict.name, "why": conflict.why, "ours": conflict.ours, "theirs": theirs}


def recall_json(recall: Recall) -> dict[str, Any]:
    """A recall as `--json` shows it."""
    return {"hits": [_hit_json(hit) for hit in recall.hits], "more": recall.more, "took_ms": recall.took_ms}


def room_json(room: Room) -> dict[str, int]:
    """How full the index is."""
    return {
        "lines": room.lines, "lines_most": room.lines_most, "bytes": room.bytes, "bytes_most": room.bytes_most,
        "left_out": room.left_out,
    }  # fmt: skip


def problem_json(problem: Problem) -> dict[str, Any]:
    """What is wrong with a file."""
    return {"file": problem.file, "what": problem.what, "unread": problem.unread}


def _hit_json(hit: Hit) -> dict[str, Any]:
    return {
        "name": hit.name, "title": hit.title, "description": hit.description, "kind": str(hit.kind), "where": hit.where,
        "score": hit.score, "reasons": list(hit.reasons), "age": hit.age, "trust": hit.trust, "excerpt": hit.excerpt,
    }  # fmt: skip


def _iso(day: date | None) -> str | None:
    return day.isoformat() if day else None
