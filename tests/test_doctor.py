"""Doctor: whatever is wrong with a notebook is found where it is, told once and with what to do; looking changes nothing."""

import errno
import fcntl
import json
import os
import random
import shlex
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path
from typing import NamedTuple

import pytest
from tests import make_notebook
from tests.places import ROOT, UnsyncedDisk, bounded, snapshot, without_powers
from tests.test_leftovers import LEFTOVERS, READ, STUCK, TOLD, begun, data, names_it
from tests.test_leftovers import opened as opened_beside

from commonplace import Call, open_memory
from commonplace.care.doctor import examine, mend
from commonplace.index.catalog import Catalog
from commonplace.index.sidecar import Sidecar
from commonplace.memory import Memory
from commonplace.nomemory import NoMemory
from commonplace.settings import read_settings
from commonplace.store.chain import Asked, judge
from commonplace.store.disk import WRITES
from commonplace.store.looking import DAMAGE, NOTE, SEVERITIES, WARNING
from commonplace.store.ram import RamStore
from commonplace.surfaces.cli.app import run
from commonplace.testing.faulty import Fault, FaultyDisk, failing

NOON = datetime(2026, 5, 15, 12).timestamp()
# All of one trust, so that a log which lost who wrote a note does not change the order of the index as well.
AGENT = Call("agent", "2026-05-15-08h00-a1b2")
NOTES = Path(__file__).parent / "notebooks"


def opened(book, home, now=NOON, disk=None):
    settings = read_settings(book, {"COMMONPLACE_HOME": str(home)})
    return open_memory(settings=settings, disk=disk or UnsyncedDisk(), now=lambda: now)


def written(place):
    """A sound notebook of a few days, and its catalog as settled as any that was used yesterday."""
    book = place / "book"
    memory = opened(book, place / "home")
    for number in range(6):
        memory.save(f"The fact number {number}.", name=f"fact {number}", call=AGENT)
    memory.save("See [[fact-1]] and [[fact-3]].", name="reader", description="What reads", call=AGENT)
    memory.save("A session that was.", name="2026-05-15-08h00-a1b2", kind="session", call=AGENT)
    for number in (1, 2, 3):
        memory.save(f"The fact number {number}, corrected.", name=f"fact {number}", replace=True, call=AGENT)
    memory.save("A fact to forget.", name="gone", call=AGENT)
    memory.forget("gone", call=AGENT)
    memory.save("The fact number 2, again.", name="fact 2", replace=True, call=AGENT)
    memory.close()
    long_ago(book)
    with opened(book, place / "home") as memory:
        memory.notes()
    return book


def long_ago(book):
    """Wait until no file is so fresh that its next state could pass for this one."""
    time.sleep(0.012)


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    place = tmp_path_factory.mktemp("doctor") / "sound"
    place.mkdir()
    written(place)
    return place


@pytest.fixture
def place(sound, tmp_path):
    """A copy of the sound notebook, with a catalog of its own."""
    shutil.copytree(sound / "book", tmp_path / "book")
    long_ago(tmp_path / "book")
    with opened(tmp_path / "book", tmp_path / "home") as memory:
        memory.notes()
    return tmp_path


def told(memory):
    return [(found.severity, found.check, found.where) for found in examine(memory).findings]


# --- what is sound -----------------------------------------------------------------------------------------------


def test_a_sound_notebook_has_no_findings(place):
    with opened(place / "book", place / "home") as memory:
        found = examine(memory)
    assert found == ((), len([path for path in (place / "book").rglob("*") if path.is_file()]))
    assert found.sound


def test_a_sound_notebook_has_none_in_another_process_without_a_catalog_or_just_written(place, tmp_path):
    assert told(opened(place / "book", tmp_path / "another home")) == []
    memory = opened(place / "book", place / "home")
    memory.save("The fact is new.", name="new", call=AGENT)
    assert told(memory) == []
    memory.forget("new", call=AGENT)
    assert told(memory) == []


def test_where_nobody_has_written_there_is_nothing_to_find(book, memory):
    assert examine(memory) == ((), 0)
    book.mkdir(0o700)
    assert examine(memory) == ((), 0)
    assert examine(NoMemory()) == ((), 0)
    assert mend(NoMemory(), examine(NoMemory())) == ()


def test_a_store_that_keeps_nothing_beside_its_notes_is_looked_at_as_far_as_it_goes():
    store = RamStore()
    memory = Memory(store, Catalog(store, Sidecar(None), today=date.today))
    memory.save("See [[nowhere]].", name="reader", description="What reads")
    assert told(memory) == [(WARNING, "links", "reader.md")]
    assert mend(memory, examine(memory)) == ()


# What is to be known of the notebooks that are kept, written by us and by others.
KEPT = {
    "format-1/book": [
        (NOTE, "odd", "user_prefs.md"), (NOTE, "unlogged", "."),
    ],
    "others/claude-code": [
        (WARNING, "links", "feedback_testing.md"), (WARNING, "unread", "archive"), (NOTE, "description", "project_auth.md"),
    ],
    "others/qwen-code": [],
    "others/handbook": [],
    "others/learn-claude-code": [],
    "others/go-harness": [(WARNING, "unread", "memory.jsonl"), (NOTE, "twins", "memory.md")],
}  # fmt: skip


@pytest.mark.parametrize("kept", KEPT)
def test_the_notebooks_that_are_kept_have_no_damage_and_what_is_odd_about_them_is_told(kept, book, home):
    shutil.copytree(NOTES / kept, book)
    for path in (book, *book.rglob("*")):
        path.chmod(0o700 if path.is_dir() else 0o600)
    before = snapshot(book, times=True)
    assert told(opened(book, home, now=make_notebook.NOON)) == KEPT[kept]
    assert snapshot(book, times=True) == before


def test_there_is_a_list_of_findings_for_every_notebook_that_is_kept():
    assert set(KEPT) == {"format-1/book", *(f"others/{path.name}" for path in (NOTES / "others").iterdir())}


# --- what is not -------------------------------------------------------------------------------------------------


class Harm(NamedTuple):
    """Something done to a sound notebook, and all that must be found."""

    label: str
    do: Callable  # to the place the notebook and its home lie in
    found: list  # severity, check, where
    fixable: bool = False
    now: float = NOON


HARMS: list[Harm] = []
LAGS, STALE = (NOTE, "index", "MEMORY.md"), (WARNING, "index", "MEMORY.md")


def harm(label, do, *found, fixable=False, now=NOON):
    HARMS.append(Harm(label, do, sorted(found, key=lambda one: SEVERITIES.index(one[0])), fixable, now))


def control(place, name=""):
    return place / "book" / ".commonplace" / name


def log_lines(change):
    """What changes the log's lines, by a function of the list of them."""

    def do(place):
        path = control(place, "log.jsonl")
        path.write_bytes(b"".join(change(path.read_bytes().splitlines(keepends=True))))

    return do


def flipped(path, at, bit=1):
    raw = bytearray(path.read_bytes())
    raw[at] ^= 1 << bit
    path.write_bytes(raw)


def in_line(number, old, new):
    def change(lines):
        assert old in lines[number - 1]
        lines[number - 1] = lines[number - 1].replace(old, new)
        return lines

    return log_lines(change)


def at_line(number):
    return f".commonplace/log.jsonl:{number}"


LOG, KEY, FORMAT, LOCK, HISTORY = (f".commonplace/{name}" for name in ("log.jsonl", "key", "format", "lock", "history"))
LINES, FILES = 14, 18
harm("a letter changed in the middle of the log", in_line(5, b'"agent"', b'"agenT"'), (DAMAGE, "log", at_line(5)))
harm(
    "a letter changed in the first line",
    in_line(1, b'"session":"2026', b'"session":"2025'),
    (DAMAGE, "log", at_line(1)),
)
harm("a letter changed in the last line", in_line(LINES, b'"agent"', b'"agenT"'), (DAMAGE, "log", at_line(LINES)))
harm("an origin raised", in_line(3, b'"agent"', b'"person"'), (DAMAGE, "log", at_line(3)))
harm("a hash changed in the log", in_line(4, b'"hash":"', b'"hash":"0'), (DAMAGE, "log", at_line(4)))
harm("a number changed in the log", in_line(4, b'"n":4', b'"n":5'), (DAMAGE, "log", at_line(4)))
harm(
    "two lines swapped",
    log_lines(lambda lines: [*lines[:4], lines[5], lines[4], *lines[6:]]),
    (DAMAGE, "log", at_line(5)),
)
harm("a line taken out", log_lines(lambda lines: lines[:4] + lines[5:]), (DAMAGE, "log", at_line(5)))
harm("a line put in again", log_lines(lambda lines: [*lines[:5], lines[4], *lines[5:]]), (DAMAGE, "log", at_line(6)))
harm(
    "a line of somebody's put in",
    log_lines(lambda lines: [*lines[:5], b"hello\n", *lines[5:]]),
    (DAMAGE, "log", at_line(6)),
)
harm(
    "a line of somebody's at the end",
    log_lines(lambda lines: [*lines, b"hello\n"]),
    (DAMAGE, "log", at_line(LINES + 1)),
)
harm(
    "a megabyte on one line",
    log_lines(lambda lines: [*lines, b"x" * (1 << 20) + b"\n"]),
    (DAMAGE, "log", at_line(LINES + 1)),
)
harm("the log begun later", log_lines(lambda lines: lines[3:]), (DAMAGE, "log", at_line(1)))
harm("the log cut in a line", log_lines(lambda lines: [*lines[:-1], lines[-1][:50]]), (WARNING, "log", at_line(LINES)))
harm(
    "the log cut in an earlier line",
    log_lines(lambda lines: [*lines[:-3], lines[-3][:50]]),
    (DAMAGE, "log", at_line(LINES - 2)),
)
harm("the log cut between lines", log_lines(lambda lines: lines[:-4]), (DAMAGE, "log", at_line(LINES - 3)))
harm("one line cut off", log_lines(lambda lines: lines[:-1]), (DAMAGE, "catalog", "fact-2.md"), fixable=True)
harm("an empty log", log_lines(lambda lines: []), (DAMAGE, "log", at_line(1)))
harm("no log", lambda place: control(place, "log.jsonl").unlink(), (DAMAGE, "log", LOG))
harm("two places changed in the log", lambda place: (in_line(3, b'"agent"', b'"agenT"')(place), in_line(9, b'"agent"', b'"agenT"')(place)),
     (DAMAGE, "log", at_line(3)), (DAMAGE, "log", at_line(9)))  # fmt: skip


def replaced_by_folder(name):
    def do(place):
        path = control(place, name)
        shutil.rmtree(path) if path.is_dir() else path.unlink()
        path.mkdir()

    return do


def replaced_by_link(name, target):
    def do(place):
        path = control(place, name)
        shutil.rmtree(path) if path.is_dir() else path.unlink()
        path.symlink_to(target)

    return do


for name in ("log.jsonl", "key", "lock", "format"):
    harm(f"a folder for {name}", replaced_by_folder(name), (DAMAGE, "control", f".commonplace/{name}"))
    harm(f"a link for {name}", replaced_by_link(name, "/etc/hostname"), (DAMAGE, "control", f".commonplace/{name}"))
for name in ("tmp", "history"):
    harm(f"a link for {name}", replaced_by_link(name, "/etc"), (DAMAGE, "control", f".commonplace/{name}"))


def control_replaced(place):
    shutil.rmtree(control(place))
    os.symlink("/etc", place / "book" / ".commonplace")


harm("a link for the control folder", control_replaced, (DAMAGE, "control", ".commonplace"))
harm("no key", lambda place: control(place, "key").unlink(), (DAMAGE, "key", KEY))
harm("a letter changed in the key", lambda place: flipped(control(place, "key"), 7), (DAMAGE, "key", KEY))
harm("an empty key", lambda place: control(place, "key").write_bytes(b""), (DAMAGE, "key", KEY))
harm("a long key", lambda place: control(place, "key").write_bytes(b"k" * 1000), (DAMAGE, "key", KEY))
harm("no format", lambda place: control(place, "format").unlink(), (WARNING, "format", FORMAT))
harm("a format of later", lambda place: control(place, "format").write_bytes(b"2\n"), (WARNING, "format", FORMAT))
harm("a format that is none", lambda place: control(place, "format").write_bytes(b"one\n"), (WARNING, "format", FORMAT))


def version(place, note="fact-2", at=0):
    return sorted(control(place, f"history/{note}").iterdir())[at]


def kept(place, note="fact-2", at=0):
    return version(place, note, at).relative_to(place / "book").as_posix()


harm("a letter changed in an old version", lambda place: flipped(version(place), 30), (DAMAGE, "history", kept))
harm("an old version cut short", lambda place: version(place).write_bytes(b""), (DAMAGE, "history", kept))
harm("an old version that is large", lambda place: version(place).write_bytes(b"x" * 70_000), (DAMAGE, "history", kept))
harm("an old version gone", lambda place: version(place).unlink(), (WARNING, "history", HISTORY))
harm("the history gone", lambda place: shutil.rmtree(control(place, "history")), (WARNING, "history", HISTORY))
harm("a link to the outside in the history", lambda place: control(place, "history/fact-2/000099-abcdef01.md").symlink_to("/etc/passwd"),
     (DAMAGE, "history", f"{HISTORY}/fact-2/000099-abcdef01.md"))  # fmt: skip
harm(
    "a link for a shelf",
    lambda place: control(place, "history/etc").symlink_to("/etc"),
    (WARNING, "control", f"{HISTORY}/etc"),
)
harm(
    "a link in the control folder",
    lambda place: control(place, "x").symlink_to("/etc/passwd"),
    (WARNING, "control", ".commonplace/x"),
)
harm(
    "a FIFO in the control folder", lambda place: os.mkfifo(control(place, "x")), (WARNING, "control", ".commonplace/x")
)
harm(
    "a stranger in the control folder",
    lambda place: control(place, "x").write_text("x"),
    (NOTE, "control", ".commonplace/x"),
)
harm(
    "a stranger in the history",
    lambda place: control(place, "history/fact-2/x.md").write_text("x"),
    (NOTE, "control", f"{HISTORY}/fact-2/x.md"),
)
harm("what a system leaves everywhere", lambda place: control(place, ".DS_Store").write_text("x"))
harm("a conflict copy of the log", lambda place: control(place, "log.sync-conflict-20260515-080000-ABCDEFG.jsonl").write_text("x"),
     (WARNING, "control", ".commonplace/log.sync-conflict-20260515-080000-ABCDEFG.jsonl"))  # fmt: skip
harm(
    "what a dead writer left",
    lambda place: data(".commonplace/tmp/4711-1")(place / "book"),
    (NOTE, "staged", ".commonplace/tmp"),
    fixable=True,
)
harm(
    "a folder among new bytes",
    lambda place: control(place, "tmp/folder").mkdir(),
    (NOTE, "control", ".commonplace/tmp/folder"),
)


def moded(name, mode):
    return lambda place: (place / "book" / name).chmod(mode)


harm("an open control folder", moded(".commonplace", 0o755), (WARNING, "modes", ".commonplace"), fixable=True)
harm("an open key", moded(KEY, 0o644), (WARNING, "modes", KEY), fixable=True)
harm("a log nobody may write", moded(LOG, 0o400), (WARNING, "modes", LOG), fixable=True)
harm("an open shelf", moded(f"{HISTORY}/fact-2", 0o750), (WARNING, "modes", f"{HISTORY}/fact-2"), fixable=True)
harm("many modes at once", lambda place: [moded(name, 0o777)(place) for name in (KEY, LOG, LOCK, FORMAT)],
     (WARNING, "modes", ".commonplace"), fixable=True)  # fmt: skip
harm("a note others may read, where they cannot come", moded("fact-1.md", 0o644))
harm("an open notebook", moded("", 0o755), (NOTE, "exposed", "."))
harm(
    "an open notebook with open notes",
    lambda place: (moded("fact-1.md", 0o644)(place), moded("", 0o755)(place)),
    (NOTE, "exposed", "."),
)

COPY = "fact-1.sync-conflict-20260515-080000-ABCDEFG.md"
harm("a conflict copy", lambda place: data(COPY)(place / "book"), (WARNING, "unread", COPY))
harm("an editor's leftover", lambda place: data("fact-1.md~")(place / "book"), (WARNING, "unread", "fact-1.md~"))


def by_hand(text, name="hand.md"):
    """A note made with another tool, and the index as the next call leaves it."""

    def do(place):
        data(name, text.encode())(place / "book")
        long_ago(place / "book")
        with opened(place / "book", place / "home") as memory:
            memory.notes()

    return do


HAND = "---\ndescription: what it is\ntype: project\n---\n\n"
harm("a note made by hand", by_hand(HAND + "Text.\n"), (NOTE, "unlogged", "hand.md"))
harm("a note changed by hand", lambda place: by_hand((place / "book/fact-1.md").read_text().replace("corrected", "changed"), "fact-1.md")(place),
     (NOTE, "unlogged", "fact-1.md"))  # fmt: skip
harm(
    "a note removed by hand",
    lambda place: ((place / "book/fact-0.md").unlink(), by_hand(HAND)(place)),
    (NOTE, "unlogged", "hand.md"),
)
harm("bytes that are no text", lambda place: data("x.md", b"a\0b")(place / "book"), (WARNING, "unread", "x.md"))
harm("a note with links to it made unreadable", lambda place: (place / "book/fact-1.md").write_bytes(b"a\0b"),
     (WARNING, "unread", "fact-1.md"), LAGS)  # fmt: skip
harm("a link for a note", lambda place: (place / "book/x.md").symlink_to("/etc/hostname"), (WARNING, "unread", "x.md"))
harm("a file of 70 KB", lambda place: data("x.md", b"a" * 70_000)(place / "book"), (WARNING, "unread", "x.md"))
harm(
    "Windows line ends",
    by_hand((HAND + "Text.\n").replace("\n", "\r\n")),
    (NOTE, "odd", "hand.md"),
    (NOTE, "unlogged", "hand.md"),
)
harm(
    "an unknown type",
    by_hand(HAND.replace("project", "strange")),
    (NOTE, "odd", "hand.md"),
    (NOTE, "unlogged", "hand.md"),
)
harm(
    "a long description",
    by_hand(HAND.replace("what", "what " * 40)),
    (NOTE, "description", "hand.md"),
    (NOTE, "unlogged", "hand.md"),
)
harm("no description", by_hand(""), (NOTE, "description", "hand.md"), (NOTE, "unlogged", "hand.md"))
harm(
    "twins in capitals and not",
    by_hand(HAND, "Fact-1.md"),
    (WARNING, "twins", "Fact-1.md, fact-1.md"),
    (NOTE, "unlogged", "Fact-1.md"),
)
harm(
    "two notes of one name",
    by_hand(HAND, "fact_1.md"),
    (WARNING, "twins", "fact-1.md, fact_1.md"),
    (NOTE, "unlogged", "fact_1.md"),
)


def saved(name, text, now=NOON, **given):
    def do(place):
        with opened(place / "book", place / "home") as memory:
            memory.save(text, name=name, call=AGENT, **given)
        if now != NOON:
            with opened(place / "book", place / "home", now=now) as memory:
                memory.save("One more fact.", name="one more", call=AGENT)  # the index of that day

    return do


LATER = NOON + 90 * 86_400
harm("a link to nowhere", saved("linking", "It is as in [[nowhere]]."), (WARNING, "links", "linking.md"))
harm("a link to nowhere, in code", saved("linking", "It is as in `[[nowhere]]`."))
harm(
    "a correction of nothing",
    saved("correcting", "It is so.", supersedes=["nothing"]),
    (NOTE, "links", "correcting.md"),
)
harm(
    "a note past its day",
    saved("short", "It holds for a while.", LATER, expires=date(2026, 6, 1)),
    (NOTE, "expired", "short.md"),
    now=LATER,
)


def stale(place):
    path = place / "book" / "MEMORY.md"
    path.write_text(path.read_text().replace("number", "count"))


harm("an index that was changed", stale, STALE, fixable=True)
harm("an index that is gone", lambda place: (place / "book/MEMORY.md").unlink(), LAGS, fixable=True)
harm(
    "a note made by hand just now",
    lambda place: data("hand.md", HAND.encode())(place / "book"),
    LAGS,
    (NOTE, "unlogged", "hand.md"),
)
harm(
    "a note changed by hand just now",
    lambda place: (place / "book/fact-1.md").write_text(HAND + "Text."),
    LAGS,
    (NOTE, "unlogged", "fact-1.md"),
)
harm("an index of somebody's", lambda place: (place / "book/MEMORY.md").write_text("# My own\n"), STALE, fixable=True)
harm(
    "an index that cannot be one",
    lambda place: (place / "book/MEMORY.md").write_bytes(b"x" * 70_000),
    STALE,
    fixable=True,
)


def catalog(place):
    [path] = (place / "home").rglob("catalog.sqlite")
    return path


def sql(*statements):
    """What somebody does to the catalog behind our back."""

    def do(place):
        with sqlite3.connect(catalog(place)) as db:
            for statement in statements:
                db.execute(statement)
        db.close()

    return do


def noise(place):
    path = catalog(place)
    raw = bytearray(path.read_bytes())
    raw[4096:] = random.Random(1).randbytes(len(raw) - 4096)
    path.write_bytes(raw)


HERE = "catalog"
for label, statement in {
    "another description in the catalog": "UPDATE notes SET description = 'another' WHERE name = 'fact-1'",
    "another line in the catalog": "UPDATE notes SET line = '- [x](fact-1.md) - all is well' WHERE name = 'fact-1'",
    "another text in the catalog": "UPDATE notes SET body = 'another' WHERE name = 'fact-1'",
    "trust raised in the catalog": "UPDATE notes SET author = 'person', trust = 4 WHERE name = 'fact-1'",
    "another folder in the catalog": "UPDATE notes SET folder = 'user' WHERE name = 'fact-1'",
    "a note taken out of the catalog": "DELETE FROM notes WHERE name = 'fact-1'",
    "a file taken out of the catalog's sight": "UPDATE notes SET name = 'fact-1' WHERE name = 'fact-1x'",
}.items():
    wanted = [] if "sight" in label else [(DAMAGE, "catalog", "fact-1.md")]
    harm(label, sql(statement), *wanted, fixable=bool(wanted))
PUT_IN = "INSERT INTO notes SELECT 'planted', 'planted', folder, stamp, author, trust, kind, word, title, description, tags, created, updated, day, expires, pinned, applies_to, supersedes, origin, session, odd, line, body FROM notes WHERE name = 'fact-1'"
harm("a note put into the catalog", sql(PUT_IN), (DAMAGE, "catalog", "planted.md"), fixable=True)
harm(
    "other counts in the catalog",
    sql("UPDATE totals SET count = count + 3"),
    (DAMAGE, "catalog", catalog),
    fixable=True,
)
harm("a trigger gone from the catalog", sql("DROP TRIGGER note_came"), (WARNING, "catalog", catalog), fixable=True)
harm("a table gone from the catalog", sql("DROP TABLE files"), (WARNING, "catalog", catalog), fixable=True)
harm("noise in the catalog", noise, (WARNING, "catalog", catalog), fixable=True)
harm(
    "a catalog that is none",
    lambda place: catalog(place).write_text("hello" * 999),
    (WARNING, "catalog", catalog),
    fixable=True,
)
harm("a catalog of another version", sql("PRAGMA user_version = 3"))
harm("no catalog", lambda place: catalog(place).unlink())
harm("a repository around it", lambda place: (place / ".git").mkdir(), (WARNING, "place", "."))
harm(
    "a repository that leaves it alone",
    lambda place: ((place / ".git").mkdir(), data(".gitignore", b"*\n")(place / "book")),
)
harm("a folder of Syncthing's around it", lambda place: (place / ".stfolder").mkdir(), (WARNING, "place", "."))
harm(
    "both of these",
    lambda place: ((place / ".git").mkdir(), (place / ".stfolder").mkdir()),
    (WARNING, "place", "."),
    (WARNING, "place", "."),
)


@pytest.mark.promise
@pytest.mark.parametrize("harm", HARMS, ids=lambda harm: harm.label)
def test_what_is_wrong_is_found_once_with_its_place_and_its_cure_and_nothing_else_is(place, tally, harm):
    harm.do(place)
    before = snapshot(place, times=True)
    wanted = [(*one[:2], one[2] if isinstance(one[2], str) else str(one[2](place))) for one in harm.found]
    memory = opened(place / "book", place / "home", now=harm.now)
    with tally("R11", harm.label):
        found = examine(memory).findings
        assert sorted(one[4:5] + one[:2] for one in found) == sorted(wanted)
        for one in found:
            assert len(one.what) > 6
            assert len(one.cure) >= 8
            assert one.fixable == (harm.fixable or one.check == "index")
            assert (one.what + one.cure).isprintable()
    memory.close()
    with tally("R9", harm.label):
        assert snapshot(place, times=True) == before


@pytest.mark.parametrize(
    ("folder", "tool"),
    [
        ("Dropbox", "Dropbox"), ("Dropbox (Acme)", "Dropbox"), ("OneDrive", "OneDrive"), ("OneDrive - Acme", "OneDrive"),
        ("OneDrive-Personal", "OneDrive"), ("GoogleDrive-ana@example.org", "Google"), ("Mobile Documents", "iCloud"),
        ("com~apple~CloudDocs", "iCloud"), ("dropbox-scripts", ""), ("OneDriver", ""), ("My Documents", ""),
    ],
)  # fmt: skip
def test_the_folders_sync_tools_copy_are_known_by_their_names(tmp_path, folder, tool):
    found = examine(opened(tmp_path / folder / "deep" / "book", tmp_path / "home")).findings
    assert found == ()  # nothing is there to be copied
    (tmp_path / folder / "deep" / "book").mkdir(0o700, parents=True)
    found = examine(opened(tmp_path / folder / "deep" / "book", tmp_path / "home")).findings
    assert [one.check for one in found] == (["place"] if tool else [])
    assert all(tool in one.what for one in found)


# --- mending -----------------------------------------------------------------------------------------------------


def lasting(place):
    """The bytes of everything a doctor has no business with: all but what is derived and what writers left."""
    kept = snapshot(place / "book")
    mine = ("MEMORY.md", ".commonplace/tmp", f"{HISTORY}/MEMORY")
    return {path: (seen[0], seen[2]) for path, seen in kept.items() if not path.startswith(mine)}


@pytest.mark.promise
@pytest.mark.parametrize("harm", [one for one in HARMS if one.fixable], ids=lambda harm: harm.label)
def test_what_is_mended_is_gone_and_nothing_is_lost_by_it(place, tally, harm):
    harm.do(place)
    before = lasting(place)
    memory = opened(place / "book", place / "home", now=harm.now)
    found = examine(memory)
    mended = mend(memory, found)
    with tally("R6", harm.label):
        assert {one.check for one in mended if one.done} == {one.check for one in found.findings if one.fixable}
        assert lasting(place) == before
        assert [one for one in examine(memory).findings if one.severity != NOTE] == []
        assert [one for one in examine(opened(place / "book", place / "home")).findings if one.fixable] == []
    if any(one.check == "modes" for one in mended):
        with tally("R27", harm.label):
            check_private(place / "book")


def check_private(book):
    for path in (book / ".commonplace", *(book / ".commonplace").iterdir(), *(book / HISTORY).iterdir()):
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600), path


@pytest.mark.promise
def test_an_index_of_somebodys_is_kept_before_ours_takes_its_place(place, tally):
    (place / "book/MEMORY.md").write_text("# My own\n")
    memory = opened(place / "book", place / "home")
    mend(memory, examine(memory))
    [kept] = (place / "book" / HISTORY / "MEMORY").iterdir()
    with tally("R11", "an index of somebody's"):
        assert kept.read_text() == "# My own\n"
        assert told(memory) == []


@pytest.mark.promise
def test_a_notebook_is_closed_to_others_only_when_that_is_asked_for(place, tally):
    book = place / "book"
    for name, mode in (("", 0o755), ("fact-1.md", 0o644), ("fact-2.md", 0o466), ("sessions", 0o755)):
        (book / name).chmod(mode)
    memory = opened(book, place / "home")
    before = lasting(place)
    with tally("R27", "as it is"):
        assert mend(memory, examine(memory)) == ()
        assert (book / "fact-1.md").stat().st_mode & 0o777 == 0o644
    with tally("R27", "closed"):
        [mended] = mend(memory, examine(memory), private=True)
        assert mended.done
        assert examine(memory).findings == ()
        modes = [(book / name).stat().st_mode & 0o777 for name in ("", "fact-1.md", "fact-2.md", "sessions")]
        assert modes == [0o700, 0o600, 0o400, 0o700]
        assert lasting(place) == before


@pytest.mark.promise
def test_closing_a_notebook_leaves_no_file_of_a_note_open_wherever_it_is_kept(place, tally):
    book = place / "book"
    for name in ("fact-1.md", "fact-3.md", "sessions/2026-05-15-08h00-a1b2.md"):
        (book / name).chmod(0o644)
    (book / "MEMORY.md").write_text("# My own\n")
    (book / "MEMORY.md").chmod(0o644)
    for name in ("fact-1.sync-conflict-20260515-080000-ABCDEFG.md", "fact-1.md~"):
        data(name, b"The fact.")(book)
        (book / name).chmod(0o644)
    with opened(book, place / "home") as memory:
        for name in ("fact-1", "fact-3"):
            memory.save("It says something else now.", name=name, replace=True, call=AGENT)
        memory.forget("fact-1", call=AGENT)
    kept = [path for path in book.rglob("*") if path.is_file() and path.stat().st_mode & 0o077]
    assert len([path for path in kept if "history" in path.parts]) >= 4
    with opened(book, place / "home") as memory:
        [mended] = mend(memory, examine(memory), private=True)  # though nobody can come to them
        with tally("R27", mended.what):
            assert [path for path in book.rglob("*") if path.stat().st_mode & 0o077] == []
        assert mend(memory, examine(memory), private=True) == ()


def test_what_is_gone_from_the_control_folder_is_not_made_anew_by_mending(place):
    stale(place)
    for name in ("key", "log.jsonl", "format"):
        path = control(place, name)
        kept = path.read_bytes()
        path.unlink()
        memory = opened(place / "book", place / "home")
        mended = [one for one in mend(memory, examine(memory)) if one.check == "index"]
        assert [one.done for one in mended] == [False]
        assert f"{name} is gone" in mended[0].what
        assert not path.exists()
        path.write_bytes(kept)
        path.chmod(0o600)


def test_a_copy_that_lost_its_empty_folders_is_sound_and_its_index_can_be_mended(place):
    control(place, "tmp").rmdir()
    memory = opened(place / "book", place / "home")
    assert told(memory) == []
    stale(place)
    assert [one.done for one in mend(memory, examine(memory))] == [True]
    assert told(memory) == []


def test_what_a_writer_at_work_has_staged_is_not_a_leftover(place):
    data(".commonplace/tmp/4711-1")(place / "book")
    memory = opened(place / "book", place / "home")
    found = examine(memory)
    with open(control(place, "lock"), "rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert told(memory) == []
        [mended] = mend(memory, found)
        assert not mended.done
        assert "locked" in mended.what
        assert control(place, "tmp/4711-1").exists()
    assert [one.done for one in mend(memory, found)] == [True]
    assert not control(place, "tmp/4711-1").exists()


def test_what_cannot_be_mended_is_said_and_the_rest_is_mended(place):
    moded(KEY, 0o644)(place)
    stale(place)
    disk = FaultyDisk(Fault(at=1, of=("open_new",), act=failing(errno.ENOSPC)))
    memory = opened(place / "book", place / "home", disk=disk)
    done = {one.check: one.done for one in mend(memory, examine(memory))}
    assert done == {"modes": True, "index": False}
    assert told(memory) == [STALE]


# --- a log that is gone --------------------------------------------------------------------------------------------


def told_of_loss(err):
    return [line for line in err.splitlines() if "commonplace doctor" in line]


@pytest.mark.parametrize("name", ["log.jsonl", "key"])
def test_every_command_that_meets_a_notebook_whose_log_is_gone_names_the_doctor_in_one_line(
    place, capsys, name, monkeypatch
):
    monkeypatch.setenv("EDITOR", "true")
    control(place, name).unlink()
    before = snapshot(place / "book" / ".commonplace")
    at = ["--dir", str(place / "book")]
    for args in (
        ["list"], ["recall", "fact"], ["show", "fact-1"], ["status"], ["log"], ["log", "fact-1"], ["diff"], ["undo"], ["preamble"],
        ["undo", "fact-1"], ["undo", "--session", "2026-05-15-08h00-a1b2"], ["show", "no-such-note"], ["list", "--json"], ["undo"],
    ):  # fmt: skip
        run([*args, *at])
        err = capsys.readouterr().err
        [line] = told_of_loss(err)
        assert f".commonplace/{name} is gone" in line, args
        assert f"commonplace doctor --dir {place / 'book'}`" in line
    assert snapshot(place / "book" / ".commonplace") == before, "what only looks makes no log"
    run(["doctor", *at])
    assert "stand as `hand`" in capsys.readouterr().out or name == "key"


def test_a_change_begins_a_lost_log_anew_says_so_once_and_doctor_knows_it_ever_after(place, capsys):
    at = ["--dir", str(place / "book")]
    control(place, "log.jsonl").unlink()
    run(["remember", "The fact number 1, corrected.", "--name", "fact-1", *at])  # it says just that: nothing is changed
    assert not control(place, "log.jsonl").exists()
    capsys.readouterr()
    run(["forget", "fact-0", *at])
    [line] = told_of_loss(capsys.readouterr().err)
    assert "begun anew" in line
    for number in range(9):
        run(["remember", f"One more fact, number {number}.", "--name", f"more {number}", *at])
        assert not told_of_loss(capsys.readouterr().err)
    found = told(opened(place / "book", place / "a new home"))
    assert found[0] == (NOTE, "log", at_line(1))
    assert {check for _, check, _ in found[1:]} == {"unlogged"}
    assert run(["undo", "fact-0", *at]) == 0


def test_a_log_begun_anew_is_known_also_where_nothing_was_ever_replaced(book, home, capsys):
    opened(book, home).save("A fact.", name="fact", call=AGENT)
    (book / ".commonplace" / "log.jsonl").unlink()
    opened(book, home).save("Another fact.", name="another", call=AGENT)
    assert (NOTE, "log", at_line(1)) in told(opened(book, home))


# --- what is told of many notes at once ----------------------------------------------------------------------------


def test_notes_of_another_tool_are_one_finding_with_their_count_and_in_json_their_names(book, home, capsys):
    shutil.copytree(NOTES / "others/claude-code", book)
    at = ["--dir", str(book)]
    assert "unlogged" not in run_out(capsys, "doctor", *at), "nobody has used ours here"
    run(["remember", "A fact of ours.", *at])
    [line] = [line for line in run_out(capsys, "doctor", *at).splitlines() if "unlogged" in line]
    assert line.startswith("note unlogged .: 7 notes made or changed with another tool (debugging, feedback_lint, ")
    said = json.loads(run_out(capsys, "doctor", "--json", *at))
    [found] = [one for one in said["findings"] if one["check"] == "unlogged"]
    stems = {path.stem for path in (NOTES / "others/claude-code").glob("*.md")} - {"MEMORY"}
    assert set(found["names"]) == stems


def run_out(capsys, *args):
    capsys.readouterr()
    run(list(args))
    return capsys.readouterr().out


# --- cures that can be typed ---------------------------------------------------------------------------------------

COPIES = [
    "fact-1.sync-conflict-20260515-080000-ABCDEFG.md", "fact-1 (conflicted copy).md", "fact-1 (Ana's conflicted copy 2026-05-15).md",
    "sessions/2026-05-15-08h00-a1b2 (conflicted copy).md", "gone (conflicted copy).md", "MEMORY (conflicted copy).md",
]  # fmt: skip


@pytest.mark.parametrize("copy", COPIES)
@pytest.mark.parametrize("named", [True, False])
def test_the_cure_of_a_conflict_copy_works_as_it_is_printed(place, capsys, monkeypatch, tmp_path, copy, named):
    book = place / "book"
    if not named:
        monkeypatch.setenv("MEMORY_DIR", str(book))
    data(copy, b"The other machine's words.\n")(book)
    data("fact-1-copy.md", b"Another fact that is in the way.\n")(book)
    at = ["--dir", str(book)] if named else []
    out = run_out(capsys, "doctor", *at).splitlines()
    assert "as `commonplace doctor` says" not in "".join(out)
    [command] = [line.strip() for line in out if line.startswith(("  mv ", "  rm "))]
    path = tmp_path / "bin"
    path.mkdir()
    (path / "commonplace").write_text(f'#!/bin/sh\nexec {sys.executable} -m commonplace "$@"\n')
    (path / "commonplace").chmod(0o755)
    monkeypatch.setenv("PATH", f"{path}:{os.environ['PATH']}")
    done = subprocess.run(command, shell=True, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, (command, done)
    assert not (book / copy).exists()
    said = [note.body for note in opened(book, place / "home").notes().notes if "other machine" in note.body]
    assert len(said) == (0 if "MEMORY" in copy else 1)
    assert "conflict" not in run_out(capsys, "doctor", *at)


def test_a_conflict_copy_no_command_can_name_is_told_of_in_words(place):
    copy = "fact-1\x1b (conflicted copy).md"
    data(copy, b"x")(place / "book")
    [found] = examine(opened(place / "book", place / "home")).findings
    assert (found.check, found.command) == ("unread", "")
    assert "letters, digits and hyphens" in found.cure


@pytest.mark.parametrize("where", ["plain", "with space", "o'brien"])
def test_a_cure_names_the_notebook_it_was_asked_about(place, capsys, where):
    shutil.copytree(place / "book", place / where)
    (place / where / "MEMORY.md").write_text("# My own\n")
    out = run_out(capsys, "doctor", "--dir", str(place / where))
    command = out.split("`")[1]
    assert run(shlex.split(command)[1:]) == 0
    assert "mended index" in capsys.readouterr().out


# --- the log, read in pieces --------------------------------------------------------------------------------------


def test_a_log_is_judged_alike_in_pieces_of_any_size(place):
    key, whole = control(place, "key").read_bytes(), control(place, "log.jsonl").read_bytes()
    lines = whole.splitlines(keepends=True)
    long = b"x" * 70_000 + b"\n"
    for raw in (
        whole,
        whole[:-9],
        b"".join((*lines[:3], long, b"\n\n", *lines[3:])),
        b"",
        b"\n",
        b"\n" + whole,
        long + b"y",
    ):
        asked = Asked(key, {}, None, len(raw))
        wanted = judge([raw], asked)
        for size in (1, 7, 100, 4096, 65_536):
            assert judge((raw[at : at + size] for at in range(0, len(raw), size)), asked) == wanted
    assert (wanted.lines, wanted.torn, wanted.endless) == (1, True, False)
    assert judge(iter([b"x" * (1 << 20)] * 9), asked)[:6] == ((), 0, 0, 0, True, True)


def test_many_places_in_a_log_are_counted_and_not_told_one_by_one(place):
    def change(lines):
        return [line for pair in zip(lines * 20, [b"hello\n"] * 999, strict=False) for line in pair]

    log_lines(change)(place)
    found = [one for one in examine(opened(place / "book", place / "home")).findings if one.check == "log"]
    assert len(found) <= 52
    assert all(one.severity == DAMAGE for one in found)


# --- damage of every kind ----------------------------------------------------------------------------------------


def control_files(place):
    return sorted(path for path in control(place).rglob("*") if path.is_file() and path.stat().st_size)


@pytest.mark.promise
def test_a_flipped_bit_anywhere_in_the_control_folder_is_found_or_harmless(place, tally, scale):
    """Harmless is only what nothing is ever taken from: an index of somebody's that was kept, of which there is no hash."""
    (place / "book/MEMORY.md").write_text("# My own\n")
    with opened(place / "book", place / "home") as memory:
        memory.save("One more fact.", name="one more", call=AGENT)
    rng, memory = random.Random(22), opened(place / "book", place / "home")
    assert told(memory) == []
    for _ in range(scale(200, 5000)):
        path = rng.choice(control_files(place))
        at, bit, kept = rng.randrange(path.stat().st_size), rng.randrange(8), path.read_bytes()
        flipped(path, at, bit)
        with tally("R11", (path.name, at, bit)):
            found = examine(memory).findings
            assert path.parent.name == "MEMORY" or any(one.severity != NOTE for one in found)
            assert all(one.where.startswith(path.relative_to(place / "book").as_posix()) for one in found[:1])
        path.write_bytes(kept)
    assert told(memory) == []


@pytest.mark.promise
@pytest.mark.parametrize("error", [errno.EIO, errno.EACCES])
def test_a_disk_that_fails_at_any_call_is_told_of_and_hides_nothing_else(place, tally, scale, error):
    step, at, disk = scale(3, 1), 1, None
    data("x.md~")(place / "book")
    flipped(version(place), 30)
    wanted = [(DAMAGE, "history", kept(place)), (WARNING, "unread", "x.md~")]
    while disk is None or disk.struck:
        disk = FaultyDisk(Fault(at=at, act=failing(error)))
        with tally("R4", (error, at)):
            found = told(opened(place / "book", place / "home", disk=disk))
            assert not [done.call for done in disk.calls if done.call in WRITES]
            missing, more = set(wanted).difference(found), set(found).difference(wanted)
            assert more or not missing
            assert {check for _, check, _ in more} <= {"unread", "notebook", "control"}
            assert len(missing) < 2 or not disk.calls[at].call.startswith("open_root")
        at += step
    assert found == wanted


@pytest.mark.promise
@pytest.mark.parametrize("part", range(4))
def test_whatever_people_leave_is_looked_at_within_bounds_and_stays_as_it_is(tmp_path, tally, scale, capsys, part):
    some = [left for at, left in enumerate(LEFTOVERS) if left.then is not READ or at % scale(4, 1) == 0]
    for number, left in enumerate(some[part::4]):
        place = tmp_path / str(number)
        book = begun(place)
        if left.file == "MEMORY.md":
            (book / "MEMORY.md").unlink()
        left.make(book)
        before = snapshot(book, times=True)
        memory = opened_beside(book, place / "home")
        with tally("R11", left.label):
            with bounded():
                found = examine(memory)
            assert snapshot(book, times=True) == before
            of_it = [one for one in found.findings if one.check == "unread" and names_it(one.where, left.file)]
            assert bool(of_it) == (left.then is TOLD)
            if left.then is STUCK:
                assert found.findings[0].severity == DAMAGE
                assert left.file in found.findings[0].where
            if "name" in left.label:
                with bounded():
                    run(["doctor", "--dir", str(book)])
            assert all(line.isprintable() for line in capsys.readouterr().out.split("\n"))
        shutil.rmtree(place)


READ_ONLY = """
import sys
from pathlib import Path
from tests.test_doctor import *
place = Path(sys.argv[1])
if os.access(place / "book" / ".commonplace", os.W_OK):
    sys.exit("modes do not hold here")
memory = opened(place / "book", place / "home")
print(list({(one.severity, one.check): None for one in examine(memory).findings}))
for one in mend(memory, examine(memory)):
    print(one.done, one.check, one.what)
"""


@pytest.mark.parametrize("files", [0o400, 0o000], ids=["read only", "closed"])
def test_a_notebook_that_may_only_be_read_is_looked_at_all_the_same(place, files):
    stale(place)
    paths = [*(place / "book").rglob("*"), place / "book"]
    for path in paths:
        path.chmod(0o500 if path.is_dir() else files)
    done = subprocess.run(
        without_powers(sys.executable, "-c", READ_ONLY, place), cwd=ROOT, capture_output=True, text=True, check=False
    )
    if "modes do not hold" in done.stderr:
        pytest.skip("modes hold for nobody here")
    assert done.returncode == 0, done.stderr[-2000:]
    found, modes, index = done.stdout.splitlines()
    assert found == str([(WARNING, "modes"), *([(WARNING, "unread")] if files == 0 else []), (NOTE, "index")])
    assert modes.startswith("True modes")
    assert index.startswith("False index MEMORY.md was not written")


@pytest.mark.timeout(120)
def test_nothing_is_found_in_a_notebook_others_are_writing_in(place, scale):
    stop = threading.Event()

    def write(who):
        memory = opened(place / "book", place / "home")
        for number in range(10_000):
            if stop.is_set():
                break
            memory.save(f"The fact {number} of {who}.", name=f"{who} {number % 7}", replace=True, call=AGENT)
            if number % 5 == 0:
                memory.forget(f"{who} {number % 7}", call=AGENT)
        memory.close()

    writers = [threading.Thread(target=write, args=(who,)) for who in ("ana", "bo")]
    for writer in writers:
        writer.start()
    try:
        with opened(place / "book", place / "home") as memory:
            seen = [one for _ in range(scale(15, 60)) for one in examine(memory).findings]
    finally:
        stop.set()
        for writer in writers:
            writer.join()
    assert {one.what for one in seen} <= {"could not be compared with the notes: others kept writing"}


def test_many_notes_are_looked_at_in_seconds(tmp_path, scale):
    book, count = tmp_path / "book", scale(300, 5000)
    memory = opened(book, tmp_path / "home")
    for number in range(count):
        memory.save(f"The fact number {number}; see [[fact-{number // 2}]].", name=f"fact {number}", call=AGENT)
    with bounded(seconds=10.0 * count / 5000):
        found = examine(memory)
    assert found == ((), count + 5)


# --- the command -------------------------------------------------------------------------------------------------


def test_the_command_tells_each_finding_with_its_cure_and_ends_with_how_many(place, capsys):
    book = place / "book"
    assert run(["doctor", "--dir", str(book)]) == 0
    assert capsys.readouterr().out == f"{FILES} files looked at, 0 findings\n"
    flipped(version(place), 30)
    data("fact-1.md~")(book)
    assert run(["doctor", "--dir", str(book)]) == 1
    first, cure, second, *_, last = capsys.readouterr().out.splitlines()
    assert first.startswith(f"damage history {kept(place)}: holds other bytes")
    assert cure.startswith("  bring it back from a backup")
    assert second.startswith("warning unread fact-1.md~: ")
    assert last == f"{FILES + 1} files looked at, 2 findings"


def test_the_command_is_content_with_what_is_only_to_be_known(place, capsys):
    by_hand(HAND)(place)
    assert run(["doctor", "--dir", str(place / "book")]) == 0
    assert "note unlogged hand.md" in capsys.readouterr().out


def test_the_command_mends_and_tells_what_is_left(place, capsys):
    stale(place)
    moded("", 0o755)(place)
    assert run(["doctor", "--fix", "--json", "--dir", str(place / "book")]) == 0
    said = json.loads(capsys.readouterr().out)
    assert set(said) == {"sound", "looked_at", "findings", "mended"}
    assert said["sound"] is True
    assert said["mended"] == [{"check": "index", "what": "MEMORY.md is written again", "done": True}]
    assert [one["check"] for one in said["findings"]] == ["exposed"]
    assert set(said["findings"][0]) == {"check", "where", "what", "cure", "severity", "fixable", "names", "command"}
    assert run(["doctor", "--fix", "--private", "--dir", str(place / "book")]) == 0
    assert (
        capsys.readouterr().out
        == "mended exposed: closed to others: 1 file or folder\n18 files looked at, 0 findings\n"
    )
