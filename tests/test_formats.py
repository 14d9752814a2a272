"""Notebooks of every format version open, read as they were written, and go on; those of a later one are only read."""

import json
import os
import shutil
from hashlib import blake2b, sha256
from pathlib import Path

import pytest
from tests import make_notebook
from tests.make_notebook import AGENT, BY_HAND, PERSON, opened, recorded
from tests.places import snapshot

from commonplace import Saved, open_memory
from commonplace.drafting import gist
from commonplace.errors import NewerFormat
from commonplace.note.prose import derived_title
from commonplace.store.turn import FORMAT

KEPT = sorted(path.parent for path in (Path(__file__).parent / "notebooks").glob("*/expected.json"))


def as_cloned(place, book):
    """As git leaves it: no empty folders, and of the modes only who may run it."""
    shutil.copytree(place / "book", book)
    for path in (book, *book.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)


def as_kept(place, book):
    """As it was written: private, and with the folder that was empty."""
    as_cloned(place, book)
    (book / ".commonplace" / "tmp").mkdir()
    for path in (book, *book.rglob("*")):
        path.chmod(0o700 if path.is_dir() else 0o600)


def as_copied_without_folders(place, book):
    as_kept(place, book)
    shutil.rmtree(book / ".commonplace" / "tmp")
    shutil.rmtree(book / ".commonplace" / "history")


@pytest.fixture(params=KEPT, ids=lambda place: place.name)
def kept(request):
    return request.param


@pytest.fixture(params=[as_kept, as_cloned], ids=lambda how: how.__name__)
def copied(request, kept, book):
    request.param(kept, book)
    return book


def expected(kept):
    return json.loads((kept / "expected.json").read_text("utf-8"))


def check_log(book, count):
    """So many lines, each behind the one it names and sealed with the key, told by none of the product's code."""
    key = (book / ".commonplace" / "key").read_bytes()
    lines = (book / ".commonplace" / "log.jsonl").read_bytes().split(b"\n")
    assert lines.pop() == b""
    before = ""
    for number, line in enumerate(lines, 1):
        said = json.loads(line)
        assert (said["n"], said["prev"]) == (number, before)
        head, mark, _ = line.rpartition(b',"seal":"')
        assert said["seal"] == blake2b(head + mark, key=key, digest_size=16).hexdigest()
        before = sha256(line).hexdigest()[:32]
    assert len(lines) == count


def test_there_is_a_notebook_of_every_format_up_to_ours():
    assert {f"format-{number}" for number in range(1, FORMAT + 1)} <= {place.name for place in KEPT}


def test_the_kept_notebook_of_our_format_is_what_we_write_today(tmp_path):
    """Where this fails, what is written changed. If that is meant, and old notebooks still read as expected, let the
    script write another notebook beside the ones that are kept: released bytes are not written again.
    """
    make_notebook.main(tmp_path / "now")
    ours = [place for place in KEPT if expected(place)["format"] == str(FORMAT)]
    now = {path: seen[2] for path, seen in snapshot(tmp_path / "now" / "book").items()}
    assert any(now == {path: seen[2] for path, seen in snapshot(place / "book").items()} for place in ours)
    assert any(recorded(tmp_path / "now" / "book") == expected(place) for place in ours)


@pytest.mark.promise
def test_every_note_reads_exactly_as_it_was_recorded(kept, copied, tally):
    told, now = expected(kept), recorded(copied)
    assert set(now["notes"]) == set(told["notes"])
    for name, note in told["notes"].items():
        with tally("R28", (kept.name, name)):
            assert now["notes"][name] == note
            read = opened(copied).read(name)
            assert (read.body, read.stamp, read.description) == (note["body"], note["stamp"], note["description"])
    with tally("R28", (kept.name, "the rest")):
        assert now == told
        check_log(copied, told["changes"])


@pytest.mark.promise
def test_a_cold_process_with_a_cache_of_its_own_reads_it_the_same(kept, copied, tally):
    memory = open_memory(copied, now=lambda: make_notebook.NOON)
    told = expected(kept)
    with tally("R28", kept.name):
        assert {note.name: note.body for note in memory.notes().notes} == {
            n: f["body"] for n, f in told["notes"].items()
        }
        assert memory.listing().text == told["listing"]
        for name, fields in told["notes"].items():
            hits = {hit.name: hit.trust for hit in memory.recall(fields["description"] or name, limit=50).hits}
            assert hits[name] == fields["author"]


@pytest.mark.promise
def test_every_note_can_be_corrected_and_forgotten_and_the_log_goes_on(kept, copied, tally):
    told = expected(kept)
    memory, changes = opened(copied), told["changes"]
    for name, fields in told["notes"].items():
        with tally("R28", (kept.name, name)):
            old = memory.read(name)
            saved = memory.save("It is otherwise now.", name=name, expect=old.stamp, call=PERSON)
            assert isinstance(saved, Saved)
            assert saved.outcome == "updated"
            assert sha256((copied / saved.kept).read_bytes()).hexdigest() == fields["stamp"]
            now = opened(copied).read(name)
            assert now.body == "It is otherwise now."
            of_its_text = old.title == (derived_title(old.body, "") or gist(old.description))
            assert now.title == ("It is otherwise now" if of_its_text else old.title)
            assert (now.kind, now.tags, now.folder) == (old.kind, old.tags, old.folder)
            gone = memory.forget(name, call=AGENT)
            assert (copied / gone.kept).read_bytes().endswith((b"now.\n", b"now.\r\n"))
            changes += 2
            check_log(copied, changes)
    assert memory.notes().notes == ()
    history = copied / ".commonplace" / "history"
    for path, stamp in told["history"].items():
        assert sha256((history / path).read_bytes()).hexdigest() == stamp


@pytest.mark.promise
@pytest.mark.parametrize("how", [as_kept, as_cloned, as_copied_without_folders], ids=lambda how: how.__name__)
def test_a_copy_can_be_saved_into_whatever_the_copy_lost(kept, book, tally, how):
    how(kept, book)
    told = expected(kept)
    with tally("R28", (kept.name, how.__name__)):
        memory = opened(book)
        for kind in ("user", "feedback", "project", "reference", "session"):
            saved = memory.save(f"A new note of the kind {kind}.", name=f"new {kind}", kind=kind, call=AGENT)
            assert saved.outcome == "created"
            assert saved.warnings == ()
        check_log(book, told["changes"] + 5)
        notes = {note.name: note for note in opened(book).notes().notes}
        assert set(notes) == set(told["notes"]) | {
            f"new-{kind}" for kind in ("user", "feedback", "project", "reference", "session")
        }
        assert {p.name for p in (book / ".commonplace").iterdir()} == {
            "format",
            "history",
            "key",
            "lock",
            "log.jsonl",
            "tmp",
        }
        assert list((book / ".commonplace" / "tmp").iterdir()) == []


def test_what_a_person_wrote_in_a_header_is_kept_to_the_letter(kept, copied):
    memory = opened(copied)
    for name in BY_HAND:
        stem = Path(name).stem
        before = (copied / name).read_bytes()
        memory.save("It is otherwise now.", name=stem, expect=memory.read(stem).stamp, call=PERSON)
        after = (copied / name).read_bytes()
        for line in before.split(b"---")[1].splitlines(keepends=True) if before.startswith(b"---") else []:
            if not line.startswith((b"description", b"updated", b"origin")):
                assert line in after, line
        assert (b"\r\n" in before) == (b"\r\n" in after)


@pytest.mark.promise
@pytest.mark.parametrize("later", [str(FORMAT + 1), "999", "  7 \n", "9" * 200])
def test_a_notebook_of_a_later_format_is_read_and_not_written(kept, copied, tally, later):
    told = expected(kept)
    (copied / ".commonplace" / "format").write_text(later)
    (copied / ".commonplace" / "lock").unlink()
    (copied / ".commonplace" / "of-the-future").write_bytes(b"\0\1\2")
    (copied / "MEMORY.md").write_text("<!-- Made by Commonplace of the future -->\n")
    before = snapshot(copied, times=True)
    memory = opened(copied)
    with tally("R28", (kept.name, later[:5])):
        assert {note.name for note in memory.notes().notes} == set(told["notes"])
        assert memory.listing().text == told["listing"]
        assert "why-sqlite" in memory.preamble()
        assert memory.recall("SQLite server").hits[0].name == "why-sqlite"
        assert memory.read("wrong").body == told["notes"]["wrong"]["body"]
        for change in (
            lambda: memory.save("A new note.", name="new"),
            lambda: memory.save("A new note without a name."),
            lambda: memory.save("Corrected.", name="wrong", replace=True),
            lambda: memory.forget("wrong"),
        ):
            with pytest.raises(NewerFormat, match="upgrade") as caught:
                change()
            assert str(copied) in str(caught.value)
            assert len(str(caught.value)) < 600
        memory.status()
        assert snapshot(copied, times=True) == before


@pytest.mark.promise
def test_what_we_do_not_know_in_the_control_folder_survives(kept, copied, tally):
    control = copied / ".commonplace"
    strange = {
        "quarantine/x.md": b"not ours to read", "journal/1.jsonl": b"{}\n", "index.json": b"[]", "history/x/notes.txt": b"kept",
        ".hidden": b"", "log.jsonl.old": b"old\n", "format.bak": b"0\n", "tombstones.jsonl": b"{}\n",
    }  # fmt: skip
    for name, data in strange.items():
        (control / name).parent.mkdir(exist_ok=True)
        (control / name).write_bytes(data)
    os.symlink("/nowhere", control / "a-link")
    memory = opened(copied)
    memory.save("A new note.", name="new", call=AGENT)
    memory.save("Corrected.", name="wrong", replace=True, call=AGENT)
    memory.forget("right", call=AGENT)
    with tally("R28", kept.name):
        assert {name: (control / name).read_bytes() for name in strange} == strange
        assert os.readlink(control / "a-link") == "/nowhere"
        check_log(copied, expected(kept)["changes"] + 3)


def test_a_notebook_of_files_alone_gets_a_control_folder_with_its_first_save(kept, copied):
    shutil.rmtree(copied / ".commonplace")
    told = expected(kept)
    memory = opened(copied)
    assert {note.name: note.body for note in memory.notes().notes} == {n: f["body"] for n, f in told["notes"].items()}
    assert {author for _, author in memory._catalog.notes()} == {"hand"}
    assert not (copied / ".commonplace").exists()
    memory.save("A new note.", name="new", call=PERSON)
    assert {note.name: author for note, author in opened_and_read(copied)}["new"] == "person"
    check_log(copied, 1)


def opened_and_read(book):
    memory = opened(book)
    memory.notes()
    return memory._catalog.notes()
