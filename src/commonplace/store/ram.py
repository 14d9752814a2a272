"""RamStore: notes in memory. The reference a backend author reads first, and the throwaway notebook."""

from __future__ import annotations

from dataclasses import replace
from threading import RLock

from commonplace.errors import Changed, NotFound
from commonplace.note.format import written
from commonplace.note.note import Note, home_of
from commonplace.store.base import Call, Change, Found, Inventory, Pulse, Seen, Then, Written
from commonplace.store.paths import file_of


class RamStore:
    """Notes in a dictionary, as the bytes a file would hold."""

    where = "memory"

    def __init__(self) -> None:
        self._notes: dict[str, Found] = {}
        self._changes = 0
        self._turn = RLock()
        self.index = ""
        """What was last published, as `MEMORY.md` would be."""

    def get(self, name: str) -> Found:
        try:
            return self._notes[name]
        except KeyError:
            raise NotFound(f"no note named {name!r} in {self.where}; `notes()` lists the names there are") from None

    def put(self, note: Note, *, call: Call, expect: str, then: Then | None = None) -> Written:
        file_of(note.name)
        ready = written(note)
        with self._turn:
            old = self._notes.get(note.name)
            if (old.note.stamp if old else "") != expect:
                raise Changed(note.name, expect, old.note.stamp if old else "")
            if old and old.note.stamp == ready.stamp:
                return Written("unchanged", old.note)
            fresh = replace(ready, folder=old.note.folder if old else home_of(note))
            seen = Seen(note.name, fresh.folder, (self._changes + 1, len(ready.source or b""), 0, 0))
            warnings = self._change(note.name, Found(fresh, seen, lambda: call.origin), then)
            return Written("updated" if old else "created", fresh, "", warnings)

    def delete(self, name: str, *, call: Call, expect: str, then: Then | None = None) -> Written:
        with self._turn:
            old = self.get(name)
            if old.note.stamp != expect:
                raise Changed(name, expect, old.note.stamp)
            return Written("deleted", old.note, "", self._change(name, None, then))

    def scan(self, known: str = "") -> Inventory:
        notes = self._notes  # replaced by writers, never changed: a reader keeps the one it began with
        return Inventory(tuple(notes[name].seen for name in sorted(notes)), ())

    def pulse(self) -> Pulse:
        return (self._changes,)

    def publish(self, text: str) -> str:
        self.index = text
        return ""

    def _change(self, name: str, found: Found | None, then: Then | None) -> tuple[str, ...]:
        before = self.pulse()
        notes = {key: value for key, value in self._notes.items() if key != name}
        self._notes = notes if found is None else {**notes, name: found}
        self._changes += 1
        return then(Change(name, found, before, self.publish)) if then else ()
