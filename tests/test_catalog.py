"""The catalog among processes, threads and forks: what was acknowledged is seen, and what is shared agrees."""

import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import date, timedelta
from threading import Event, Thread

import hypothesis
import pytest
from hypothesis import strategies as st
from tests.elsewhere import Elsewhere
from tests.places import ROOT, UnsyncedDisk
from tests.test_drift import NOW, above_the_limit, agree, cache_of, file, index_of, opened, shelf

from commonplace import Call
from commonplace.index import state, values
from commonplace.index.catalog import Catalog
from commonplace.index.sidecar import Sidecar
from commonplace.note.note import Note
from commonplace.store.base import Change
from commonplace.store.files import FileStore
from commonplace.store.ram import RamStore
from commonplace.store.raw import MARKED, Folder, differing
from commonplace.store.raw import mark_of as state_mark
from commonplace.testing.faulty import Fault, FaultyDisk


def names(memory, word="fact"):
    return {hit.name for hit in memory.recall(word, limit=1000).hits}


# --- what was acknowledged is seen -------------------------------------------------------------------------------


@pytest.mark.promise
def test_a_recall_that_begins_after_a_save_or_forget_returned_sees_it_in_every_other_process(book, scale, tally):
    here = opened(book)
    with Elsewhere(book) as one, Elsewhere(book) as two:
        for turn in range(scale(25, 300)):
            with tally("R6", turn):
                saved = one("save", f"The fact {turn} was told there.", name=f"there {turn}")
                assert saved[:2] == ["Saved", f"there-{turn}"]
                assert f"there-{turn}" in names(here)
                assert f"there-{turn}" in {hit[0] for hit in two("recall", "fact", limit=1000)}
                here.save(f"The fact {turn} was told here.", name=f"here {turn}")
                assert {f"here-{turn}", f"there-{turn}"} <= {hit[0] for hit in two("recall", "fact", limit=1000)}
                if turn % 3 == 0:
                    assert two("forget", f"there-{turn}")[0] == "Forgotten"
                    assert f"there-{turn}" not in names(here)
                    assert f"there-{turn}" not in {hit[0] for hit in one("recall", "fact", limit=1000)}
        agree(here, book)
        assert (book / "MEMORY.md").read_text() == index_of(book)


@pytest.mark.parametrize("above", [False, True], ids=["below-the-scan-limit", "above-the-scan-limit"])
def test_a_recall_that_begins_after_a_save_returned_sees_it_in_every_other_thread(book, above):
    memory = above_the_limit(book) if above else opened(book)
    memory.save("The fact is first.", name="first")
    told, done = [], Event()

    def write(who):
        for turn in range(12):
            saved = memory.save(f"The fact {turn} of thread {who}.", name=f"fact {who} {turn}")
            told.append(saved.name)
            if turn % 4 == 3:
                told.remove(f"fact-{who}-{turn - 1}")
                memory.forget(f"fact {who} {turn - 1}")

    def look():
        while not done.is_set():
            known = set(told)
            found = names(memory)
            missed = known - found
            assert not missed & set(told), missed  # what is still told and was not found

    with ThreadPoolExecutor(6) as pool:
        looking = [pool.submit(look) for _ in range(2)]
        for writing in [pool.submit(write, who) for who in range(4)]:
            writing.result(30)
        done.set()
        for one in looking:
            one.result(30)
    agree(memory, book)
    agree(opened(book), book)


def test_each_thread_knows_for_itself_whether_its_last_look_was_at_every_file(book):
    """Above the scan limit one thread's look at everything says nothing of what another is about to show."""
    memory = above_the_limit(book)
    for number in range(3):
        memory.save(f"The fact {number} is red.", name=f"fact {number}")
    time.sleep(0.02)
    memory.notes()
    catalog = memory._catalog
    catalog.refresh()
    shown = [note.name for note, _ in catalog.notes()]
    path = book / "fact-1.md"
    path.write_bytes(path.read_bytes().replace(b"red", b"sky"))
    elsewhere = Thread(target=lambda: above_the_limit(book, cache=book.parent)._catalog.refresh(full=True))
    elsewhere.start()
    elsewhere.join()
    other = Thread(target=lambda: setattr(catalog._mine, "all_seen", True))
    other.start()
    other.join()
    assert not catalog.holds(shown) or "sky" in {n.name: n.body for n, _ in catalog.notes()}["fact-1"]


# --- many at once ------------------------------------------------------------------------------------------------

COLD = """
import json, sys
from tests.elsewhere import plain
from tests.test_drift import opened
sys.stdin.readline()
memory = opened(sys.argv[1])
found = sorted(note.name for note in memory.notes().notes)
saved = memory.save(f"The fact of process {sys.argv[2]}.", name=f"process {sys.argv[2]}")
status = memory.status()
print(json.dumps([found, plain(saved), status.cache, [list(p) for p in status.problems if "catalog" in p.file]]))
"""


@pytest.mark.parametrize("new", [True, False], ids=["a-new-notebook", "a-folder-of-files"])
def test_six_cold_processes_at_once_agree_and_share_one_catalog(book, tmp_path, new):
    import json

    if not new:
        for number in range(150):
            file(book, f"fact-{number}", f"The fact {number} was there before.")
    start = [
        subprocess.Popen(
            [sys.executable, "-c", COLD, book, str(who)], cwd=ROOT, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
        for who in range(6)
    ]  # fmt: skip
    for one in start:
        one.stdin.write("go\n")
        one.stdin.flush()
    told = [one.communicate(timeout=30) for one in start]
    assert [err for _, err in told] == [""] * 6
    answers = [json.loads(out) for out, _ in told]
    memory = opened(book)
    for found, saved, cache, problems in answers:
        assert {name for name in found if name.startswith("fact-")} == {f"fact-{n}" for n in range(0 if new else 150)}
        assert saved[0] == "Saved"
        assert saved[2] == []
        assert (cache, problems) == (cache_of(memory), [])
    assert {f"process-{who}" for who in range(6)} <= {note.name for note in memory.notes().notes}
    agree(memory, book)
    agree(opened(book, cache=tmp_path / "none"), book)
    assert (book / "MEMORY.md").read_text() == index_of(book)


FORK = """
import os, sys
from tests.test_drift import agree, opened
from pathlib import Path
book = Path(sys.argv[1])
memory = opened(book)
memory.save("The fact was told before the fork.", name="before")
memory.recall("fact")
children = []
for number in range(3):
    pid = os.fork()
    if not pid:
        code = 1
        try:
            assert {hit.name for hit in memory.recall("fact").hits} >= {"before"}
            memory.save(f"The fact of child {number}.", name=f"child {number}")
            assert {hit.name for hit in memory.recall("fact", limit=99).hits} >= {"before", f"child-{number}"}
            code = 0
        finally:
            os._exit(code)
    children.append(pid)
memory.save("The fact was told by the parent.", name="parent")
codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children]
agree(memory, book)
memory.save("The fact was told after.", name="after")
agree(opened(book), book)
print(codes, sorted(note.name for note in memory.notes().notes), memory.status().problems)
"""


def test_parent_and_children_of_a_fork_go_on_with_the_notebook_they_opened_before(book):
    done = subprocess.run(
        [sys.executable, "-c", FORK, book], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout.strip() == ("[0, 0, 0] ['after', 'before', 'child-0', 'child-1', 'child-2', 'parent'] ()"), (
        done.stderr
    )


FORK_WHILE_SAVING = """
import os, sys, threading, time
from tests.test_drift import opened
from commonplace.errors import CommonplaceError
from commonplace.store.disk import Disk
inside, go = threading.Event(), threading.Event()
class Slow(Disk):
    def rename(self, *given):
        if threading.current_thread() is not threading.main_thread():
            inside.set()
            go.wait(10)
        super().rename(*given)
opened(sys.argv[1]).save("The fact is first.", name="first")
memory = opened(sys.argv[1], disk=Slow())
thread = threading.Thread(target=memory.save, args=("The fact of the thread.",), kwargs={"name": "thread"})
thread.start()
inside.wait(10)
child = os.fork()
if not child:  # it holds on to whatever was open, and does nothing
    time.sleep(20)
    os._exit(0)
go.set()
thread.join()
began = time.monotonic()
try:
    opened(sys.argv[1]).save("The fact is next.", name="next")
    print("saved" if time.monotonic() - began < 2 else "waited")
except CommonplaceError as problem:
    print(problem)
os.kill(child, 9)
os.waitpid(child, 0)
"""


def test_a_child_forked_in_the_middle_of_a_save_does_not_keep_the_lock(book):
    """It inherits the open lock; what the parent's thread has given up must be given up for good."""
    done = subprocess.run(
        [sys.executable, "-c", FORK_WHILE_SAVING, book],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout.strip() == "saved", done.stdout + done.stderr


# --- one catalog -------------------------------------------------------------------------------------------------


def catalog_of(store, **more):
    return Catalog(store, Sidecar(None), today=lambda: date.fromtimestamp(NOW), **more)


def test_a_refresh_that_began_before_a_change_does_not_undo_what_followed_it(book):
    """Its scan is older than the row a writer left meanwhile."""
    store = FileStore(os.fspath(book), disk=UnsyncedDisk())
    side = Sidecar(os.path.join(book.parent, "shared.sqlite"))

    class Between(FileStore):
        then = staticmethod(lambda: None)

        def scan(self, known=""):
            found = super().scan(known)
            self.then()
            return found

    slow = Between(os.fspath(book), disk=UnsyncedDisk())
    today = {"today": lambda: date.fromtimestamp(NOW)}
    fast, late = Catalog(store, side, **today), Catalog(slow, Sidecar(side.place), **today)
    one = store.put(Note(name="fact", description="one", body="One."), call=Call(), expect="", then=fast.follow).note
    fast.refresh()
    file(book, "by-hand")
    states = [
        lambda: store.put(Note(name="new", body="New."), call=Call(), expect="", then=fast.follow),
        lambda: store.put(Note(name="fact", body="Two."), call=Call(), expect=one.stamp, then=fast.follow),
        lambda: store.delete("new", call=Call(), expect=store.get("new").note.stamp, then=fast.follow),
    ]
    for change in states:
        slow.then = change
        late.refresh()
        slow.then = lambda: None
        for catalog in (fast, late):
            catalog.refresh()
            assert {note.name: note.body for note, _ in catalog.notes()} == {
                seen.name: store.get(seen.name).note.body for seen in store.scan().seen
            }


# --- lists in a column -------------------------------------------------------------------------------------------


@hypothesis.given(st.lists(st.text(st.sampled_from('ab ",[]\\\n\x7fé'), max_size=6), max_size=4).map(tuple))
def test_a_list_is_kept_as_json_whether_that_is_loaded_for_it_or_not(items):
    text = values.packed(items)
    assert json.loads(text or "[]") == list(items)
    assert values.unpacked(text) == values.unpacked(json.dumps(items)) == items


@pytest.mark.parametrize("garbled", ['["a', "a", '["a"b", "c"]', '["a", "b]', "7", "{}]", b"\xff", 7, '["\\"]'])
def test_what_is_no_list_is_garbled(garbled):
    with pytest.raises(values.Garbled):
        values.unpacked(garbled)


# --- known by its mark -------------------------------------------------------------------------------------------


def asked_of_files(catalog):
    """What a refresh asks the rows of files, and how many names it asks for."""
    said = []
    catalog.side.run(lambda db: db.set_trace_callback(said.append))
    catalog.refresh()
    catalog.side.run(lambda db: db.set_trace_callback(None))
    return [statement.count("'fact-") for statement in said if "ctime FROM files" in statement]


def mark_of(catalog):
    return catalog.side.run(state.read).mark


def many(book, count):
    book.mkdir(exist_ok=True)
    for number in range(count):
        file(book, f"fact-{number:04d}", f"It is {number}.")
    time.sleep(0.02)  # what is read in the moment it changed is read again
    catalog = Catalog(FileStore(os.fspath(book), disk=UnsyncedDisk()), Sidecar(None), today=date.today)
    catalog.refresh()
    return catalog


def test_an_unchanged_directory_is_known_by_its_mark_and_no_row_of_its_files_is_read(book):
    catalog = many(book, 5)
    assert asked_of_files(catalog) == []
    file(book, "fact-new", "It came.")
    time.sleep(0.02)
    assert asked_of_files(catalog) == [0]
    assert asked_of_files(catalog) == []
    (book / "fact-0001.md").unlink()
    assert asked_of_files(catalog) == [0]
    assert asked_of_files(catalog) == []


def test_where_a_file_changes_it_is_compared_with_those_marked_with_it_and_no_others(book):
    catalog = many(book, 600)
    file(book, "fact-0300", "It is otherwise.")
    time.sleep(0.02)
    assert [0 < count <= MARKED for count in asked_of_files(catalog)] == [True]
    assert {note.name: note.body for note, _ in catalog.notes()}["fact-0300"] == "It is otherwise."
    assert asked_of_files(catalog) == []


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE files SET size = size + 1 WHERE name = 'fact-0001'",
        "DELETE FROM files WHERE name = 'fact-0001'",
        "INSERT OR REPLACE INTO files SELECT 'fact-0001', '', 1, 1, 1, 1, 1, ''",
        "INSERT INTO files VALUES ('gone', '', 1, 1, 1, 1, 1, '')",
    ],
)
def test_whoever_changes_a_row_takes_the_mark_away(book, change):
    catalog = many(book, 5)
    assert mark_of(catalog)
    catalog.side.run(lambda db: db.execute(change), write=True)
    assert mark_of(catalog) == ""
    catalog.refresh()
    assert len(catalog.stamps()) == 5
    assert mark_of(catalog)


@pytest.mark.parametrize("mark", ["", "0", "0 0", "{} 0", "{0} {1} {1}", "\0", "{1}"])
def test_a_mark_that_is_not_the_directorys_is_worth_nothing(book, mark):
    catalog = many(book, 5)
    words = mark_of(catalog).split()
    catalog.side.run(lambda db: state.put(db, "mark", mark.format(*words)), write=True)
    file(book, "fact-0002", "It is otherwise.")
    time.sleep(0.02)
    catalog.refresh()
    assert {note.name: note.body for note, _ in catalog.notes()}["fact-0002"] == "It is otherwise."


def test_what_is_no_note_any_more_is_seen_to_be_gone_though_its_name_stands(book):
    catalog = many(book, 5)
    (book / "fact-0003.md").unlink()
    (book / "fact-0003.md").mkdir()
    catalog.refresh()
    assert "fact-0003" not in catalog.stamps()
    os.rmdir(book / "fact-0003.md")
    file(book, "fact-0003", "x" * 70_000)
    catalog.refresh()
    assert "fact-0003" not in catalog.stamps()


def test_numbers_too_large_to_be_marked_have_the_files_compared_one_by_one():
    folder = Folder("")
    folder.files, folder.states = ["a.md"], [0o100600, 1 << 63, 1, 1, 1]
    assert state_mark([folder], "") == ""
    assert differing("", "") is None


def test_counts_lines_and_order_follow_every_kind_of_change(book):
    memory = shelf(book)
    steps = (
        lambda: memory.save("The fact 1 is other.", name="fact 1", kind="feedback"),
        lambda: memory.save("The fact 2 is pinned.", name="fact 2", pinned=True),
        lambda: memory.save("The fact 3 expired.", name="fact 3", expires=date.fromtimestamp(NOW) - timedelta(1)),
        lambda: memory.save("The fact 4 corrects.", name="fact 4", supersedes=["fact 0"]),
        lambda: memory.save("A session it was, fact.", name="2026-05-15-08h00-a1b2", kind="session"),
        lambda: memory.save("The fact 0 is from a person.", name="fact 0", call=Call(origin="person")),
        lambda: memory.forget("fact 4"),
        lambda: memory.save("The fact 3 is back.", name="fact 3", expires=date.fromtimestamp(NOW)),
        lambda: memory.forget("2026-05-15-08h00-a1b2"),
    )
    for step in steps:
        step()
        assert (book / "MEMORY.md").read_text() == index_of(book)
        agree(memory, book)


def test_an_index_in_which_nothing_changed_is_not_written_again(book):
    memory = shelf(book)
    memory.save("The fact 1 is other.", name="fact 1", description="What fact 1 says")
    before = (book / "MEMORY.md").stat()
    memory.save("The fact 1 is yet another.", name="fact 1", description="What fact 1 says")
    after = (book / "MEMORY.md").stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    (book / "MEMORY.md").write_text("# Mine\n")
    memory.save("The fact 1 is a third.", name="fact 1", description="What fact 1 says")
    assert (book / "MEMORY.md").read_text() == index_of(book)


@pytest.mark.parametrize("call", ["open_new", "rename"])
def test_a_change_somebody_else_sees_while_our_index_goes_out_is_in_it_too(book, call):
    """The index goes out before the tables are written: what another process wrote into them meanwhile counts."""
    other = opened(book)

    def meanwhile():
        (book / "by-hand.md").write_text("The fact nobody saved.\n")
        assert "by-hand" in names(other)

    disk = FaultyDisk()
    memory = opened(book, disk=disk)
    for number in range(2):  # from the third on, the index is known ahead
        memory.save(f"The fact {number}.", name=f"fact {number}")
    disk.fault = Fault(at=2, of=(call,), act=meanwhile)  # a save has one for the note, then one for the index
    memory.save("The fact 2.", name="fact 2")
    assert disk.struck == 1
    assert (book / "MEMORY.md").read_text() == index_of(book)
    agree(memory, book)


def test_two_processes_that_take_turns_leave_the_index_of_all_notes_each_time(book):
    memory = shelf(book)
    with Elsewhere(book) as elsewhere:
        for turn in range(6):
            memory.save(f"The fact {turn} of here.", name=f"here {turn}")
            elsewhere("save", f"The fact {turn} of there.", name=f"there {turn}")
            text = (book / "MEMORY.md").read_text()
            assert {f"here-{n}.md" for n in range(turn + 1)} | {f"there-{n}.md" for n in range(turn + 1)} <= {
                line.partition("](")[2].partition(")")[0] for line in text.split("\n")
            }


def test_a_save_whose_catalog_cannot_follow_is_kept_and_caught_up_with(book, tmp_path):
    (tmp_path / "a-file").write_text("not a folder")
    memory = opened(book, cache=tmp_path / "a-file")
    saved = memory.save("The fact is so.", name="fact")
    assert saved.outcome == "created"
    agree(memory, book)
    assert memory.status().cache == ""
    agree(opened(book), book)


def test_a_store_without_files_is_kept_up_with_by_the_same_catalog():
    store = RamStore()
    catalog = catalog_of(store, scan_limit=0)
    told = []

    def follow(change: Change):
        told.append(change.name)
        return catalog.follow(change)

    catalog.refresh()
    stamp = store.put(Note(name="fact", body="One."), call=Call(), expect="", then=follow).note.stamp
    store.put(Note(name="unfollowed", body="Two."), call=Call(), expect="")
    catalog.refresh()
    assert [note.body for note, _ in catalog.notes()] == ["One.", "Two."]
    store.delete("fact", call=Call(), expect=stamp, then=follow)
    catalog.refresh()
    assert [note.name for note, _ in catalog.notes()] == ["unfollowed"]
    assert told == ["fact", "fact"]
