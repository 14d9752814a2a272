"""What surrounds a notebook may be odd or damaged: the locale, HOME, the catalog, a pipe, an interrupt. Answers stay right."""

import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.places import UnsyncedDisk
from tests.test_drift import agree, cache_of, index_of, opened

from commonplace import Saved, open_memory
from commonplace.errors import BadPath, CommonplaceError
from commonplace.index.listing import INDEX_REACH, WHOLE_INDEX
from commonplace.store.disk import Disk

COMMAND = [sys.executable, "-m", "commonplace"]


@pytest.fixture
def shelf(book, tmp_path):
    """A notebook of some size whose catalog is warm, the catalog's file, and a sound copy of its bytes."""
    memory = opened(book, cache=tmp_path / "cache")
    for number in range(120):
        memory.save(
            f"The fact {number} is about part {number * 7}.",
            name=f"fact {number}",
            kind=["user", "project"][number % 2],
        )
    memory.status()
    memory.close()
    file = Path(cache_of(memory))
    return book, file, file.read_bytes()


def put(file, data):
    for suffix in ("-wal", "-shm"):
        Path(str(file) + suffix).unlink(missing_ok=True)
    file.write_bytes(data)


def pages(data, size=4096):
    return range(1, len(data) // size)


@pytest.mark.promise
@pytest.mark.timeout(600)
def test_a_catalog_page_that_is_lost_changes_no_answer_not_even_the_first(shelf, tmp_path, tally, scale):
    book, file, sound = shelf
    for page in pages(sound)[:: scale(4, 1)]:
        put(file, sound[: page * 4096] + bytes(4096) + sound[(page + 1) * 4096 :])
        for asked in scale((["preamble"], ["notes"]), (["preamble"], ["notes"], ["recall"], ["listing"])):
            with tally("R6", f"page {page} is zeros, asked for {asked}"):
                memory = opened(book, cache=tmp_path / "cache")
                agree(memory, book, asked=asked)
                memory.close()


@pytest.mark.promise
@pytest.mark.timeout(600)
def test_a_flipped_bit_of_the_catalog_raises_nothing_and_loses_no_save(shelf, tmp_path, tally, scale):
    book, file, sound = shelf
    rng = random.Random(3)
    kinds = [found.start() + 6 for found in re.finditer(b"project", sound)]
    places = [rng.choice(kinds) for _ in range(scale(4, 40))] + [
        rng.randrange(len(sound)) for _ in range(scale(25, 1500))
    ]
    for count, place in enumerate(places):
        flipped = bytearray(sound)
        flipped[place] ^= 1 << rng.randrange(8)
        put(file, bytes(flipped))
        memory = opened(book, cache=tmp_path / "cache")
        with tally("R6", f"byte {place}"):
            memory.preamble()
            memory.status()
            memory.recall("fact")
            assert isinstance(memory.save(f"A fact of turn {count}.", name="turn", replace=True), Saved)
            assert memory.read("turn").body == f"A fact of turn {count}."
        memory.close()


def test_names_are_the_same_in_every_locale(book):
    plain = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    here = opened(book)
    here.save("Die Prüfung läuft nachts.", name="Prüfung")
    there = subprocess.run(
        [*COMMAND, "remember", "--dir", book, "Another", "--name", "Gründe"], env=plain, capture_output=True
    )
    assert there.returncode == 0
    listed = subprocess.run(
        [*COMMAND, "list", "--json", "--dir", book], env=plain, capture_output=True, text=True, check=True
    )
    assert '"pr\\u00fcfung"' in listed.stdout
    assert {note.name for note in here.notes().notes} == {"prüfung", "gründe"}
    assert here.notes().problems == ()
    assert (book / "MEMORY.md").read_text("utf-8") == index_of(book)


@pytest.mark.parametrize("home", ["rel", "", "."])
def test_a_home_that_is_no_place_is_refused_in_words_and_nothing_is_made(tmp_path, home):
    env = {key: value for key, value in os.environ.items() if not key.startswith(("XDG_", "COMMONPLACE", "MEMORY_"))}
    done = subprocess.run(
        [*COMMAND, "remember", "A fact"], env={**env, "HOME": home} if home else {**env, "HOME": "no/place"},
        capture_output=True, text=True, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 1
    assert "HOME is" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_path_that_no_disk_has_is_refused_shortly(tmp_path):
    with pytest.raises(BadPath) as caught:
        open_memory("/" + "a/" * 5000)
    assert len(str(caught.value)) < 300
    with pytest.raises(CommonplaceError, match="longer than this disk takes"):
        open_memory(tmp_path / ("x" * 300)).save("A fact.")
    deep = tmp_path.joinpath(*["d"] * 1200)
    try:
        assert isinstance(open_memory(deep, disk=UnsyncedDisk()).save("A fact that lies deep."), Saved)
    finally:
        subprocess.run(["rm", "-rf", tmp_path / "d"], check=True)  # deeper than Python takes away


def test_a_text_that_comes_in_pieces_is_waited_for(book):
    """Also on a pipe that is set not to wait: half a text is no fact."""
    ours, theirs = os.pipe()
    os.set_blocking(ours, False)
    child = subprocess.Popen(
        [*COMMAND, "remember", "-", "--dir", book], stdin=ours, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    os.close(ours)
    os.write(theirs, b"The first half of the fact, ")
    time.sleep(0.6)
    assert child.poll() is None
    os.write(theirs, b"and the second.")
    os.close(theirs)
    child.communicate(timeout=20)
    assert child.returncode == 0
    assert [note.body for note in opened(book).notes().notes] == ["The first half of the fact, and the second."]


class InterruptedDisk(Disk):
    """A disk during whose unlocking somebody presses Ctrl-C, once."""

    pressed = False

    def unlock(self, fd):
        if not self.pressed:
            self.pressed = True
            raise KeyboardInterrupt
        super().unlock(fd)


def test_an_interrupt_while_the_lock_is_given_up_leaves_it_free(book):
    with pytest.raises(KeyboardInterrupt):
        open_memory(book, disk=InterruptedDisk()).save("The fact is kept.", name="fact")
    done = subprocess.run([*COMMAND, "remember", "Another fact", "--dir", book], capture_output=True, timeout=8)
    assert done.returncode == 0
    assert signal.getsignal(signal.SIGINT) is not None


def test_a_chain_of_corrections_takes_no_time_and_none_stands_behind_what_it_corrects(book):
    book.mkdir()
    for number in range(1500):
        old = f"supersedes: [note-{number - 1}]\n" if number else ""
        day = f"2026-{12 - number // 140:02d}-{28 - number // 5 % 28:02d}"
        (book / f"note-{number}.md").write_text(f"---\ntype: project\nupdated: {day}\n{old}---\n\nIt is {number}.\n")
    memory = opened(book)
    memory.status()
    began = time.process_time()
    shown = memory.listing(WHOLE_INDEX, INDEX_REACH).shown
    memory.save("Another fact.", name="another")
    assert time.process_time() - began < 1.0
    assert shown[0] == "note-1499"
    assert all(f"note-{int(name[5:]) + 1}" in shown for name in shown if name != "note-1499")


@pytest.mark.parametrize("spelled", ["user-prefs", "User Prefs", "user_prefs.md", "user_prefs", "USER_PREFS"])
def test_what_is_corrected_may_be_spelled_as_people_do(book, spelled):
    book.mkdir()
    (book / "user_prefs.md").write_text("---\ntype: user\nupdated: 2026-05-02\n---\n\nAna likes tabs.\n")
    (book / "newer.md").write_text(
        f"---\ntype: user\nupdated: 2026-05-01\nsupersedes: [{spelled}]\n---\n\nAna likes spaces.\n"
    )
    assert opened(book).listing().shown == ("newer", "user_prefs")


def test_short_words_that_stand_in_others_are_looked_for_quickly(book):
    text = " ".join(["category preset catalog apiary keyed logging setting rune getter"] * 60)
    book.mkdir()
    for number in range(300):
        (book / f"note-{number}.md").write_text(f"{number}. {text[:4000]}\n")
    memory = opened(book)
    memory.status()
    began = time.process_time()
    memory.recall(" ".join(["cat", "set", "log", "api", "key", "run", "get", "let", "ate", "try"] * 3))
    assert time.process_time() - began < 0.6


def test_a_name_of_many_endings_takes_no_time(book):
    memory = opened(book)
    began = time.process_time()
    memory.save("The fact.", name="y", supersedes=[f"é{n}" + ".md" * 330 for n in range(20)])
    assert time.process_time() - began < 0.5


def test_a_log_line_with_a_number_nobody_counted_to_hinders_no_correction(book):
    memory = opened(book)
    memory.save("The fact.", name="fact")
    for line in ('{"n":1' + "0" * 260 + "}\n", '{"n":-5}\n', '{"n":true}\n'):
        with open(book / ".commonplace" / "log.jsonl", "a") as log:
            log.write(line)
        assert memory.save(f"The fact after {line[:8]}.", name="fact", replace=True).outcome == "updated"


def test_sqlite_that_cannot_be_used_at_all_leaves_the_answers_right(book, tmp_path):
    (tmp_path / "cache").mkdir()
    memory = opened(book, cache=tmp_path / "cache")
    memory.save("The fact.", name="fact")
    with sqlite3.connect(cache_of(memory)) as db:
        db.execute("DROP TABLE notes")
    assert [note.name for note in opened(book, cache=tmp_path / "cache").notes().notes] == ["fact"]
