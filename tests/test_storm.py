"""kill -9 in the middle of everything: what was acknowledged is there, and readers notice nothing."""

import os
import random
import signal
import time
from itertools import count

import pytest
from tests.notebooks import PERSON, body, check_next_write, check_settled, lying, opened
from tests.workers import NAMES, STOPPED, Workers, read_ledger, signature

from commonplace.errors import Busy

NEVER_CAME = 7
WRITERS = 8
KILLED = -9
# Readers wait for nobody; this is for a busy machine to get round to them.
A_READERS_LONGEST = 2.0


@pytest.fixture(scope="module")
def workers():
    workers = Workers()
    yield workers
    workers.close()


class Storm:
    """Writers and a reader at work on one notebook, and what they told of it."""

    def __init__(self, workers, place) -> None:
        self.workers, self.place = workers, place
        self.book, self.home, self.flag = place / "book", place / "home", place / "stop"
        self.started = 0
        self.reader = self.begin("read_until_told", "reader", slots=WRITERS)
        self.writers = {slot: self.begin("write_until_killed", f"slot-{slot}", slot=slot) for slot in range(WRITERS)}

    def begin(self, task, ledger, **given) -> int:
        self.started += 1
        return self.workers.start(
            task, book=self.book, home=self.home, ledger=self.place / ledger, seed=self.started, flag=self.flag, **given
        )

    def kill(self, slot) -> int:
        """Kill a writer and put a new one in its place. Answers what became of the old."""
        code = self.workers.kill(self.writers[slot])
        self.writers[slot] = self.begin("write_until_killed", f"slot-{slot}", slot=slot)
        return code

    def end(self) -> list[int]:
        """Let everybody come to their end. Answers the exit codes."""
        self.flag.touch()
        return [self.workers.wait(pid) for pid in (self.reader, *self.writers.values())]


@pytest.mark.promise
@pytest.mark.timeout(600)
def test_a_storm_of_kills_loses_nothing_acknowledged_and_readers_notice_nothing(workers, tmp_path, tally, scale):
    storm, rng = Storm(workers, tmp_path), random.Random(20260515)
    for number in range(scale(60, 1000)):
        time.sleep(rng.uniform(0.005, 0.06))
        with tally("R1", f"kill {number}"):
            assert storm.kill(rng.randrange(WRITERS)) == KILLED
    codes = storm.end()
    with tally("R1", "nobody failed"):
        assert codes == [0] * (1 + WRITERS)
    now = lying(storm.book)
    done = 0
    for slot in range(WRITERS):
        done += check_acknowledged(tally, read_ledger(tmp_path / f"slot-{slot}"), now)
    assert done > WRITERS
    assert set(now) <= {f"slot-{slot}-note-{n}" for slot in range(WRITERS) for n in range(NAMES)}
    memory = opened(storm.book, storm.home)
    with tally("R1", "the next write"):
        check_next_write(storm.book, memory)
    with tally("R6", "after the storm"):
        check_settled(storm.book, opened(storm.book, tmp_path / "another home"))
    (calls,) = read_ledger(tmp_path / "reader")
    assert len(calls) > WRITERS
    for number, (question, took, wrong) in enumerate(calls):
        with tally("R5", f"call {number}: {question}"):
            assert not wrong
            assert took < A_READERS_LONGEST


def check_acknowledged(tally, ledger, now) -> int:
    """Each thing a writer saw of its notes is what had been acknowledged, or what was under way when it was killed."""
    may_be = {}
    done = 0
    for what, name, text in ledger:
        there = may_be.setdefault(name, {None})
        if what == "saw":
            with tally("R1", f"{name} {text}"):
                assert text in there
            may_be[name] = {text}
        elif what == "begin":
            may_be[name] = there | {text}
        else:
            may_be[name] = {text}
            done += 1
    for name, there in may_be.items():
        with tally("R1", f"{name} at the end"):
            assert (signature(now[name]) if name in now else None) in there
    return done


@pytest.mark.promise
def test_a_reader_does_not_wait_for_a_writer_that_stands_still_at_any_call(workers, tmp_path, tally):
    """A writer is stopped at each call in turn, holding whatever it holds; everything can be asked meanwhile."""
    for at in count(1):
        place = tmp_path / str(at)
        book, home = place / "book", place / "home"
        opened(book, home).save(body("old"), name="shared", call=PERSON)
        reader = opened(book, home)
        pid = workers.start("stop_at", book=book, home=home, at=at)
        found = workers.wait(pid)
        if found != STOPPED:
            assert found == NEVER_CAME
            break
        with tally("R5", f"a writer stopped at call {at}"):
            check_reader_goes_on(book, reader)
        if at % 2:
            os.kill(pid, signal.SIGCONT)
            assert workers.wait(pid) == 0
            assert lying(book) == {"shared": body("new")}
        else:
            assert workers.kill(pid) == KILLED
            assert lying(book)["shared"] in (body("old"), body("new"))
        check_next_write(book, opened(book, home))
    assert at > len(("stage", "sync", "log", "rename"))


def check_reader_goes_on(book, reader) -> None:
    texts = {body("old"), body("new")}
    (book / "by-hand.md").write_text("Somebody put this here meanwhile.\n", "utf-8")
    for ask in (
        lambda: reader.read("shared").body in texts,
        lambda: {note.name: note.body in texts for note in reader.notes().notes} == {"by-hand": False, "shared": True},
        lambda: "shared" in {hit.name for hit in reader.recall("stands in line").hits},
        lambda: "by-hand" in {hit.name for hit in reader.recall("somebody put this").hits},
        lambda: "[shared]" in reader.preamble(),
        lambda: sum(reader.status().counts.values()) == 2,
    ):
        began = time.perf_counter()
        assert ask()
        assert time.perf_counter() - began < A_READERS_LONGEST
    os.unlink(book / "by-hand.md")


@pytest.mark.promise
@pytest.mark.torture
@pytest.mark.timeout(120)
def test_a_writer_is_told_who_keeps_it_waiting_and_goes_on_once_it_is_free(workers, tmp_path, tally):
    book, home = tmp_path / "book", tmp_path / "home"
    memory = opened(book, home)
    memory.save(body("old"), name="shared", call=PERSON)
    pid = workers.start("stop_at", book=book, home=home, at=5)
    assert workers.wait(pid) == STOPPED
    with tally("R4", "a writer that stands still"):
        with pytest.raises(Busy, match=f"fuser {book}") as told:
            memory.save(body("third"), name="third", call=PERSON)
        assert "Nothing was changed" in str(told.value)
        assert lying(book) == {"shared": body("old")}
        os.kill(pid, signal.SIGCONT)
        assert workers.wait(pid) == 0
        check_next_write(book, memory)
