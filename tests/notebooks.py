"""What tests of crashes, faults and races share: a story of changes, and what must be true of a notebook after each."""

import os
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import NamedTuple

from commonplace import Call, Forgotten, Memory, Saved, open_memory
from commonplace.index.catalog import Catalog
from commonplace.index.listing import INDEX_HEAD, INDEX_REACH, WHOLE_INDEX
from commonplace.index.sidecar import Sidecar
from commonplace.note.format import stamp_of
from commonplace.settings import read_settings
from commonplace.store import log
from commonplace.store.disk import Disk
from commonplace.store.files import FileStore
from commonplace.store.paths import CONTROL, HISTORY, INDEX, KEY, LOG, TMP

PERSON = Call(origin="person", session="2026-05-15-08h00-a1b2")
NEXT = "the-next-write"
INDEX_SHELF = "MEMORY"
CONTROL_FILES = {"format", "history", "key", "lock", "log.jsonl", "tmp"}


def opened(book, home, disk=None) -> Memory:
    """The memory of a notebook whose derived files lie in a home of the test's own."""
    return open_memory(book, disk=disk, settings=read_settings(book, {"COMMONPLACE_HOME": str(home)}))


def body(word: str, lines: int = 30) -> str:
    """A text that shows where it was cut: every line says which it is and of how many."""
    return "\n".join(f"{word} stands in line {n} of {lines}." for n in range(1, lines + 1))


class Step(NamedTuple):
    """One change: what is called, and what the notebook says of a name once the call returned."""

    label: str
    do: Callable[[Memory], object]
    name: str
    text: str | None  # None: the note is gone
    before: Callable[[Path, Disk], object] = lambda book, disk: None  # what somebody does to the directory first


def save(label, name, text, *, kind="project", before=lambda book, disk: None) -> Step:
    def do(memory):
        return memory.save(text, name=name, description=f"What {name} is", kind=kind, replace=True, call=PERSON)

    return Step(label, do, name, text, before)


def forget(label, name) -> Step:
    return Step(label, lambda memory: memory.forget(name), name, None)


THEIRS = b"# My own index\n"


def put_index_of_their_own(book: Path, disk: Disk) -> None:
    """A person's own MEMORY.md takes the place of ours, as a careful editor would put it there."""
    root = disk.open_root(str(book))
    file = disk.open_new("theirs", root)
    disk.write(file, THEIRS)
    disk.sync(file)
    disk.rename("theirs", root, INDEX, root)
    disk.sync_dir(root)
    disk.close(file)
    disk.close(root)


STORY = (
    save("the first save into nothing", "first", body("alpha")),
    save("a create", "second", body("beta", 60)),
    save("a correction", "first", body("gamma", 20)),
    save("a save with a new folder", "2026-05-15-08h00-a1b2", body("delta"), kind="session"),
    forget("a delete", "second"),
    save("a note made again", "second", body("epsilon", 10)),
    save("a save beside a person's own index", "third", body("zeta"), before=put_index_of_their_own),
    save("a correction in a folder", "2026-05-15-08h00-a1b2", body("eta", 50), kind="session"),
    forget("a delete in a folder", "2026-05-15-08h00-a1b2"),
)


def told(story, count) -> dict[str, str]:
    """What a notebook says after so many steps."""
    notes: dict[str, str | None] = {}
    for step in story[:count]:
        notes[step.name] = step.text
    return {name: text for name, text in notes.items() if text is not None}


def replaced(story, count) -> set[tuple[str, str]]:
    """The versions the history must hold after so many steps."""
    return {
        (step.name, told(story, number)[step.name])
        for number, step in enumerate(story[:count])
        if step.name in told(story, number)
    }


def play(story, book: Path, memory: Memory, acknowledge=lambda number: None, disk=Disk()) -> None:
    """Carry out a story, step by step, and tell of each step when its call has returned."""
    for number, step in enumerate(story, 1):
        step.before(book, disk)
        assert isinstance(step.do(memory), Saved | Forgotten), step.label
        acknowledge(number)


# --- what must be true -----------------------------------------------------------------------------------------


def said(memory: Memory) -> dict[str, str]:
    """What a notebook says, by the notes its memory offers."""
    scan = memory.notes()
    assert not scan.problems, scan.problems
    return {note.name: note.body for note in scan.notes}


def lying(book: Path) -> dict[str, str]:
    """What a notebook says, by the files in it, read apart from everything derived."""
    store = FileStore(str(book))
    return {seen.name: store.get(seen.name).note.body for seen in store.scan().seen}


def check_old_or_new(book: Path, memory: Memory, story, done: int) -> dict[str, str]:
    """After `done` steps were acknowledged, the notebook says what it did then, or what the step under way asks for."""
    now = said(memory)
    assert now == lying(book)
    assert now in (told(story, done), told(story, done + 1)), f"{done} steps done, but there are {sorted(now)}"
    assert replaced(story, done + (now != told(story, done))) <= kept_versions(book)
    hits = memory.recall("stands line", limit=99).hits
    assert {hit.name: hit.trust for hit in hits} == dict.fromkeys(now, PERSON.origin)
    return now


def check_next_write(book: Path, memory: Memory) -> None:
    """A write goes through, leaves the index as the files are, and nothing that is not ours to leave."""
    saved = memory.save(body("next"), name=NEXT, description="What the next write is", call=PERSON)
    assert isinstance(saved, Saved), saved
    assert not saved.warnings, saved.warnings
    assert saved.outcome == "created"
    check_settled(book, memory)


def check_settled(book: Path, memory: Memory) -> None:
    """After a write: index = files, a log that holds and knows every note, a sound history, no rubbish."""
    assert said(memory) == lying(book)
    check_index(book, memory)
    check_log(book)
    check_rubbish(book)
    assert kept_indexes(book) <= {THEIRS}


def fresh_index(book: Path) -> str:
    """The index made from the files alone, with nothing that was derived before."""
    catalog = Catalog(FileStore(str(book)), Sidecar(None), today=date.today)
    catalog.refresh()
    return catalog.listing(date.today(), WHOLE_INDEX, head=INDEX_HEAD, reach=INDEX_REACH).text


def check_index(book: Path, memory: Memory) -> None:
    fresh = fresh_index(book)
    assert (book / INDEX).read_text("utf-8") == fresh
    listing = memory.listing()
    assert listing.left_out or listing.text == fresh.split("\n\n", 1)[1]


def entries(book: Path) -> list[log.Entry]:
    """The log's entries; the chain must hold to the end."""
    out = []
    key = (book / CONTROL / KEY).read_bytes()
    for entry, sound in log.read_entries((book / CONTROL / LOG).read_bytes(), key):
        assert sound, f"the chain breaks at entry {entry.number}"
        out.append(entry)
    assert (book / CONTROL / LOG).read_bytes().count(b"\n") == len(out)
    return out


def check_log(book: Path) -> None:
    key = (book / CONTROL / KEY).read_bytes()
    known = {(entry.id, entry.hash): entry.call.origin for entry in entries(book)}
    store = FileStore(str(book))
    for seen in store.scan().seen:
        found = store.get(seen.name)
        assert known[log.id_of(seen.name, key), found.note.stamp] == found.author() == PERSON.origin, seen.name


def check_rubbish(book: Path) -> None:
    control = book / CONTROL
    assert set(os.listdir(control)) == CONTROL_FILES
    assert os.listdir(control / TMP) == []
    for entry in os.listdir(book):
        assert entry in {CONTROL, INDEX, "sessions", "theirs"} or entry.endswith(".md"), entry
    kept_versions(book)


def kept_versions(book: Path) -> set[tuple[str, str]]:
    """Every version in the history, by name and text. Each is whole: it has the hash its file is named by."""
    out = set()
    for path in (book / CONTROL / HISTORY).glob("*/*"):
        if path.parent.name != INDEX_SHELF:
            raw = path.read_bytes()
            assert stamp_of(raw)[:8] == path.stem.partition("-")[2], path
            out.add((path.parent.name, raw.decode().split("---\n", 2)[2].strip("\n")))
    return out


def kept_indexes(book: Path) -> set[bytes]:
    """Every index in the history that was not ours."""
    return {path.read_bytes() for path in (book / CONTROL / HISTORY / INDEX_SHELF).glob("*")}
