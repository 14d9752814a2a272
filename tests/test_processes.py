"""Many writers on one notebook: processes, threads, objects and forks. Nothing is lost and nothing overwritten unseen."""

import os
import time
from functools import partial
from itertools import count

import pytest
from tests.notebooks import (
    PERSON,
    check_index,
    check_next_write,
    check_settled,
    fresh_index,
    kept_versions,
    lying,
    opened,
    said,
)  # fmt: skip
from tests.workers import Workers, read_ledger

from commonplace import Conflict, Forgotten, Saved
from commonplace.care import links
from commonplace.store.disk import WRITES
from commonplace.testing.faulty import CALLS, Fault, FaultyDisk

WRITERS = 8


@pytest.fixture(scope="module")
def workers():
    workers = Workers()
    yield workers
    workers.close()


@pytest.fixture
def at_once(workers, tmp_path):
    """Run one task in eight processes that all begin together; every one must come to a good end."""

    def run(task, **given):
        flag = tmp_path / f"go {task}"
        common = {"book": tmp_path / "book", "home": tmp_path / "home", "flag": flag, **given}
        pids = [
            workers.start(
                task, who=who, **{key: value(who) if callable(value) else value for key, value in common.items()}
            )
            for who in range(WRITERS)
        ]
        flag.touch()
        assert [workers.wait(pid) for pid in pids] == [0] * WRITERS

    return run


def facts(writers, turns) -> dict[str, str]:
    """What distinct writers have written after so many turns each."""
    return {
        f"fact-{who}-{turn}".replace(" ", "-"): f"Fact {turn} of {who}." for who in writers for turn in range(turns)
    }


def check_all_there(tally, book, memory, expected) -> None:
    there = lying(book)
    for name, text in expected.items():
        with tally("R7", name):
            assert there.get(name) == text
    with tally("R7", "and nothing else"):
        assert set(there) == set(expected)
        assert said(memory) == there
        assert sum(memory.status().counts.values()) == len(expected)
    with tally("R6", "after many writers"):
        check_settled(book, memory)


@pytest.mark.promise
@pytest.mark.timeout(300)
def test_distinct_writes_of_many_processes_are_all_there(at_once, tmp_path, tally, scale):
    turns = scale(25, 250)
    at_once("write_many", times=turns)
    book = tmp_path / "book"
    check_all_there(tally, book, opened(book, tmp_path / "home"), facts(range(WRITERS), turns))


@pytest.mark.promise
@pytest.mark.timeout(300)
def test_every_compare_and_swap_is_applied_or_refused_and_none_is_lost(at_once, tmp_path, tally, scale):
    """Each text names the one it was made from: following them back from the last must meet every one applied."""
    turns, book = scale(12, 100), tmp_path / "book"
    memory = opened(book, tmp_path / "home")
    memory.save("start after nothing", name="shared", description="What all write", call=PERSON)
    at_once("swap_many", times=turns, ledger=lambda who: tmp_path / f"ledger-{who}")
    told = [line for who in range(WRITERS) for line in read_ledger(tmp_path / f"ledger-{who}")]
    applied = {token for what, token in told if what == "applied"}
    assert len(told) == WRITERS * turns
    before = dict(
        text.split(" after ") for name, text in kept_versions(book) | {("shared", memory.read("shared").body)}
    )
    token, met = memory.read("shared").body.split()[0], set()
    while token != "start":
        met.add(token)
        token = before[token]
    for what, of in told:
        with tally("R7", f"{what} {of}"):
            assert (of in met) == (what == "applied")
    with tally("R7", "applied and refused are all"):
        assert met == applied == set(before) - {"start"}
        check_settled(book, opened(book, tmp_path / "home"))


def a_save(memory):
    memory.save("The fact is new.", name="fact", call=PERSON)


def a_correction(memory):
    memory.save("The fact is green.", name="b", replace=True, call=PERSON)


def a_rename(memory):
    links.rename(memory, "b", "zed", PERSON)


def a_merge(memory):
    links.merge(memory, "a", ["b"], PERSON)


@pytest.mark.promise
@pytest.mark.timeout(300)
@pytest.mark.parametrize("act", [a_save, a_correction, a_rename, a_merge], ids=lambda act: act.__name__)
def test_undos_at_once_take_back_one_act_each_whole_or_say_that_another_came_first(
    at_once, tmp_path, tally, scale, act
):
    """An undo takes back the last, so after an even number of them all is as it was, after an odd one the other way."""
    book = tmp_path / "book"
    memory = opened(book, tmp_path / "home")
    for name, text in {"a": "See [[b]].", "b": "The fact is red.", "c": "And [[b]]."}.items():
        memory.save(text, name=name, call=PERSON)
    before = lying(book)
    act(memory)
    after, told = lying(book), len(memory.events())
    at_once("undo_many", times=scale(4, 40), ledger=lambda who: tmp_path / f"ledger-{who}")
    said = [word for who in range(WRITERS) for [word] in read_ledger(tmp_path / f"ledger-{who}")]
    with tally("R14", f"{act.__name__}, {said.count('done')} of {len(said)}"):
        assert set(said) <= {"done", "overtaken"}
        assert "done" in said
        assert lying(book) == (before if said.count("done") % 2 else after)
        assert len({event.call.act for event in memory.events()[told:]}) == said.count("done")


@pytest.mark.promise
@pytest.mark.timeout(300)
def test_texts_that_ask_for_one_name_get_one_each_and_the_same_text_is_one_note(at_once, tmp_path, tally, scale):
    turns, book = scale(3, 20), tmp_path / "book"
    at_once("write_unnamed", times=turns)
    texts = sorted(lying(book).values())
    expected = [
        f"Releases are cut from the main branch.\n\nSo says {who}, {turn}."
        for who in range(WRITERS) for turn in range(turns)
    ]  # fmt: skip
    for text in expected:
        with tally("R7", text):
            assert texts.count(text) == 1
    with tally("R7", "one note for what all say"):
        assert texts == sorted([*expected, "Everybody knows that water is wet."])
        check_settled(book, opened(book, tmp_path / "home"))


@pytest.mark.promise
@pytest.mark.timeout(300)
@pytest.mark.parametrize("shared", [True, False], ids=["one-memory", "a-memory-each"])
def test_threads_of_many_processes_lose_nothing(at_once, tmp_path, tally, scale, shared):
    turns, book = scale(2, 25), tmp_path / "book"
    at_once("write_in_threads", times=turns, shared=shared)
    expected = facts([f"{who} {thread}" for who in range(WRITERS) for thread in range(4)], turns)
    check_all_there(tally, book, opened(book, tmp_path / "home"), expected)


@pytest.mark.promise
@pytest.mark.timeout(120)
@pytest.mark.parametrize("busy", [False, True], ids=["idle", "while-a-thread-writes"])
def test_a_memory_opened_before_a_fork_serves_parent_and_children(workers, tmp_path, tally, scale, busy):
    children, turns, book, home = 4, scale(5, 50), tmp_path / "book", tmp_path / "home"
    code = workers.run("fork_and_write", book=book, home=home, children=children, times=turns, busy=busy)
    assert code == 0
    expected = facts(["parent", *(f"child {n}" for n in range(children)), *(["thread"] if busy else [])], turns)
    check_all_there(tally, book, opened(book, home), expected | facts(["before"], 1))


@pytest.mark.promise
def test_memories_on_one_notebook_see_each_others_writes_at_once(tmp_path, tally):
    book, home = tmp_path / "book", tmp_path / "home"
    memories = [opened(book, home if number % 2 else tmp_path / f"home-{number}") for number in range(12)]
    expected = {}
    for number, memory in enumerate(memories):
        assert isinstance(memory.save(f"Word{number} stands here.", name=f"note {number}", call=PERSON), Saved)
        expected[f"note-{number}"] = f"Word{number} stands here."
        for other in memories[number - 1], memories[-1 - number]:
            with tally("R7", f"write {number}"):
                assert said(other) == expected
                assert [hit.name for hit in other.recall(f"word{number}").hits][:1] == [f"note-{number}"]
                assert f"(note-{number}.md)" in other.preamble()
    memories[3].forget("note-0", call=PERSON)
    del expected["note-0"]
    for number, memory in enumerate(memories):
        with tally("R7", f"a forgotten note, seen by {number}"):
            assert said(memory) == expected
            assert "(note-0.md)" not in memory.preamble()
    assert fresh_index(book) == (book / "MEMORY.md").read_text("utf-8")
    check_next_write(book, memories[5])


@pytest.mark.promise
def test_a_write_of_another_process_is_recalled_by_the_next_call(workers, tmp_path, tally, scale):
    book, home, go = tmp_path / "book", tmp_path / "home", tmp_path / "go"
    go.touch()
    memory = opened(book, home)
    for number in range(scale(10, 100)):
        assert workers.run("write_many", book=book, home=home, who=f"process {number}", times=1, flag=go) == 0
        with tally("R7", f"write {number}"):
            assert memory.recall(f"fact process {number}", limit=99).hits[0].name == f"fact-process-{number}-0"
            assert len(memory.notes().notes) == number + 1


# --- people, who take no lock ------------------------------------------------------------------------------------

# After this long a file is no longer so young that it is read again anyway.
SETTLING = 0.02
OLD = "---\ndescription: What it is\n---\n\nThe old text.\n"
EDITED = "---\ndescription: What it is\n---\n\nWhat somebody typed meanwhile.\n"


def by_rename(path, replaced):
    """As vim, VS Code and most editors save."""
    path.with_name("edited~").write_text(EDITED, "utf-8")
    replaced.append(path.read_text("utf-8") if path.exists() else "")
    os.replace(path.with_name("edited~"), path)
    settle(replaced)


def in_place(path, replaced):
    """As nano and `echo >` do."""
    replaced.append(path.read_text("utf-8") if path.exists() else "")
    path.write_text(EDITED, "utf-8")
    settle(replaced)


def settle(replaced):
    if "Ours." in replaced[-1]:
        time.sleep(SETTLING)


CHANGES = {
    "a-correction": lambda memory: memory.save("Ours.", name="shared", description="What it is", call=PERSON),
    "a-correction-of-what-was-read": lambda memory: memory.save(
        "Ours.", name="shared", description="What it is", expect=memory.read("shared").stamp, call=PERSON
    ),
    "a-delete": lambda memory: memory.forget("shared", call=PERSON),
    "a-create": lambda memory: memory.save("Ours.", name="shared", description="What it is", call=PERSON),
}


@pytest.mark.promise
@pytest.mark.parametrize("edit", [by_rename, in_place], ids=lambda edit: edit.__name__)
@pytest.mark.parametrize("change", CHANGES)
def test_what_an_editor_saves_at_any_call_of_ours_is_the_note_or_in_the_history(tmp_path, tally, scale, change, edit):
    """All but at the one call that puts our text in place of theirs, with nothing between to look again."""
    of = scale(("lock", *WRITES), CALLS)
    for at in count(1):
        replaced = []
        place = tmp_path / str(at)
        book, home = place / "book", place / "home"
        memory = opened(book, home)
        memory.save("Another.", name="another", call=PERSON)
        if change != "a-create":
            (book / "shared.md").write_text(OLD, "utf-8")
        disk = FaultyDisk(Fault(at=at, of=of, act=partial(edit, book / "shared.md", replaced)))
        outcome = CHANGES[change](opened(book, home, disk))
        if not disk.struck:
            break
        with tally("R7", f"an editor saves at call {at}"):
            assert isinstance(outcome, Saved | Conflict | Forgotten)
            there = {path.read_text("utf-8") for path in book.rglob("shared.md")}
            kept = {path.read_text("utf-8") for path in book.glob(".commonplace/history/shared/*")}
            call, given, _ = [done for done in disk.calls if done.call in of][at - 1]
            assert EDITED in there | kept or (call in ("rename", "unlink") and "shared.md" in given)
            # Who saves after us replaces ours, as they would anybody's.
            assert isinstance(outcome, Conflict | Forgotten) or "Ours." in "".join((*there, *kept, *replaced))
            memory = opened(book, home)
            assert said(memory) == lying(book)
            assert memory.save("Next.", name="next", call=PERSON).warnings == ()
            assert said(memory) == lying(book)
            check_index(book, memory)
    assert at > 10
