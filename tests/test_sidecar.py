"""The sidecar: derived tables that survive damage, other versions, other processes, threads and forks, or begin again."""

import os
import random
import socket
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress

import pytest
from tests.places import ROOT, bounded, snapshot, without_powers

from commonplace.index.sidecar import SCHEMA, Sidecar

PUT = "INSERT OR REPLACE INTO meta VALUES (?, ?)"
GET = "SELECT value FROM meta WHERE key = ?"


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "cache" / "catalog.sqlite")


def put(side, key, value):
    side.run(lambda db: db.execute(PUT, (key, value)), write=True)


def got(side, key):
    return side.run(lambda db: [value for (value,) in db.execute(GET, (key,))])


def works(side):
    put(side, "a", "one")
    assert got(side, "a") == ["one"]


def made(path, many=2000):
    """A sound file with something on every one of its many pages, and nothing left in its log."""
    side = Sidecar(path)
    side.run(lambda db: db.executemany(PUT, ((f"key-{n}", "x" * 50) for n in range(many))), write=True)
    side.close()
    assert not os.path.exists(path + "-wal")


def child(code, *args, **more):
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, args)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **more,
    )


# --- one file ----------------------------------------------------------------------------------------------------


def test_what_was_written_is_there_for_the_next_opener(path):
    works(Sidecar(path))
    assert got(Sidecar(path), "a") == ["one"]


def test_work_that_fails_leaves_nothing_behind(path):
    side = Sidecar(path)
    works(side)

    def half(db):
        db.execute(PUT, ("a", "two"))
        raise KeyError("no")

    with pytest.raises(KeyError):
        side.run(half, write=True)
    assert got(side, "a") == got(Sidecar(path), "a") == ["one"]
    works(side)


def test_without_a_path_everything_is_in_memory(tmp_path):
    side = Sidecar(None)
    works(side)
    assert side.place == ""
    assert list(tmp_path.iterdir()) == []


def test_looking_makes_no_file(path):
    side = Sidecar(path)
    assert got(side, "a") == []
    assert not os.path.exists(os.path.dirname(path))
    put(side, "a", "one")
    assert got(side, "a") == ["one"]
    assert os.path.exists(path)


def test_a_file_somebody_else_makes_is_seen_by_one_who_only_looked_so_far(path):
    looking = Sidecar(path)
    assert got(looking, "a") == []
    works(Sidecar(path))
    assert got(looking, "a") == ["one"]


# --- another version ---------------------------------------------------------------------------------------------


def older(db):
    db.executescript(f"CREATE TABLE meta (key); CREATE TABLE notes (name); PRAGMA user_version = {SCHEMA - 1}")


def newer(db):
    db.executescript(f"""
        CREATE TABLE meta (key TEXT PRIMARY KEY, value, more) WITHOUT ROWID;
        CREATE TABLE notes (name TEXT, body TEXT); CREATE INDEX notes_by_slug ON notes (body);
        CREATE VIEW files AS SELECT name FROM notes;
        CREATE TRIGGER note_went AFTER DELETE ON notes BEGIN DELETE FROM meta; END;
        INSERT INTO notes VALUES ('a', 'b'); PRAGMA user_version = {SCHEMA + 1}""")


def with_full_text(db):
    db.executescript(f"""
        CREATE VIRTUAL TABLE words USING fts5(body); INSERT INTO words VALUES ('some words');
        CREATE TABLE counted (id INTEGER PRIMARY KEY AUTOINCREMENT); INSERT INTO counted DEFAULT VALUES;
        PRAGMA user_version = {SCHEMA + 7}""")


def anothers(db):
    db.executescript('CREATE TABLE "od""d name" (a); CREATE TABLE bookmarks (b); INSERT INTO bookmarks VALUES (1)')


def far_ahead(db):
    db.executescript("CREATE TABLE x (y); PRAGMA user_version = 2147483647")


@pytest.mark.parametrize("make", [older, newer, with_full_text, anothers, far_ahead], ids=lambda make: make.__name__)
def test_tables_of_another_version_are_made_anew(path, make):
    os.mkdir(os.path.dirname(path))
    with closing(sqlite3.connect(path)) as db:
        make(db)
    side = Sidecar(path)
    works(side)
    assert side.place == path
    again = Sidecar(path)
    assert got(again, "a") == ["one"]
    assert again.rebuilt == ""


# --- damage ------------------------------------------------------------------------------------------------------


def cut(where):
    def damage(path):
        os.truncate(path, int(os.path.getsize(path) * where) if where < 1 else where)

    damage.__name__ = f"cut_at_{where}"
    return damage


def overwritten(begin, end):
    def damage(path):
        size = os.path.getsize(path)
        with open(path, "r+b") as file:
            file.seek(int(size * begin))
            file.write(random.Random(4).randbytes(int(size * (end - begin))))

    damage.__name__ = f"overwritten_from_{begin}_to_{end}"
    return damage


def holes(path):
    with open(path, "r+b") as file:
        for page in range(2, os.path.getsize(path) // 4096, 2):
            file.seek(page * 4096)
            file.write(bytes(4096))


def text(path):
    with open(path, "w") as file:
        file.write("these are not the tables\n" * 400)


def one_table_gone(path):
    with closing(sqlite3.connect(path)) as db:
        db.execute("DROP TABLE meta")


def all_tables_gone(path):
    with closing(sqlite3.connect(path)) as db:
        for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            with suppress(sqlite3.OperationalError):  # a full-text table's own, which go with it
                db.execute(f"DROP TABLE {name}")


def another_column(path):
    with closing(sqlite3.connect(path)) as db:
        db.executescript("DROP TABLE meta; CREATE TABLE meta (key TEXT PRIMARY KEY, worth)")


def its_log_is_garbage(path):
    for suffix in ("-wal", "-shm"):
        with open(path + suffix, "wb") as file:
            file.write(random.Random(5).randbytes(40_000))


def its_log_is_a_folder(path):
    os.mkdir(path + "-wal")


DAMAGE = (
    cut(0.5), cut(0.999), cut(1), cut(100), cut(4096), overwritten(0, 0.001), overwritten(0.2, 0.9), overwritten(0, 1),
    holes, text, one_table_gone, all_tables_gone, another_column, its_log_is_garbage,
)  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGE, ids=lambda damage: damage.__name__)
def test_a_damaged_file_is_begun_again_and_says_so(path, damage):
    made(path)
    damage(path)
    side = Sidecar(path)
    whole = "SELECT count(*), max(length(value)) FROM meta"
    side.run(lambda db: db.execute(whole).fetchone())
    works(side)
    assert side.place == path
    side.close()
    again = Sidecar(path)
    assert got(again, "a") == ["one"]
    assert again.rebuilt == ""


def test_an_emptied_file_is_filled_again(path):
    made(path)
    os.truncate(path, 0)
    works(Sidecar(path))
    assert got(Sidecar(path), "a") == ["one"]


@pytest.mark.parametrize("seed", range(6))
def test_bytes_flipped_anywhere_never_break_the_work(path, scale, seed):
    """It may read on with what can still be read, or begin again; it must answer, and write, and find what it wrote."""
    made(path, 400)
    with open(path, "rb") as file:
        sound = file.read()
    rng = random.Random(seed)
    for _ in range(scale(10, 300)):
        bad = bytearray(sound)
        for _ in range(rng.choice((1, 4, 40))):
            bad[rng.randrange(len(bad) if rng.random() < 0.7 else 120)] = rng.randrange(256)
        with open(path, "wb") as file:
            file.write(bad)
        with bounded():
            side = Sidecar(path)
            side.run(lambda db: db.execute("SELECT key, value FROM meta ORDER BY value").fetchall())
            works(side)
            side.close()


def test_a_file_deleted_while_it_is_open_goes_on_for_those_who_have_it_and_is_made_anew_for_the_next(path):
    side = Sidecar(path)
    works(side)
    for suffix in ("", "-wal", "-shm"):
        os.unlink(path + suffix)
    put(side, "b", "two")
    assert got(side, "b") == ["two"]
    fresh = Sidecar(path)
    assert got(fresh, "a") == []
    works(fresh)


# --- a place that cannot be used ---------------------------------------------------------------------------------


def a_folder(path):
    os.makedirs(path)


def a_link(path):
    os.mkdir(os.path.dirname(path))
    outside = os.path.join(os.path.dirname(path), os.pardir, "outside")
    with open(outside, "w") as file:
        file.write("not ours")
    os.symlink(outside, path)


def a_dangling_link(path):
    os.mkdir(os.path.dirname(path))
    os.symlink(os.path.join(os.path.dirname(path), os.pardir, "outside"), path)


def a_fifo(path):
    os.mkdir(os.path.dirname(path))
    os.mkfifo(path)


def a_socket(path):
    os.mkdir(os.path.dirname(path))
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)


def under_a_file(path):
    with open(os.path.dirname(path), "w") as file:
        file.write("a file")


def a_long_name(path):
    pass


UNUSABLE = (a_folder, a_link, a_dangling_link, a_fifo, a_socket, under_a_file)


@pytest.mark.parametrize("stand", UNUSABLE, ids=lambda stand: stand.__name__)
def test_what_stands_in_the_way_is_not_followed_and_the_work_goes_on(tmp_path, path, stand):
    stand(path)
    before = snapshot(tmp_path).get("outside")
    with bounded():
        side = Sidecar(path)
        works(side)
        works(Sidecar(path))
    assert snapshot(tmp_path).get("outside") == before
    assert side.place in ("", path)
    assert side.rebuilt


def test_a_path_no_file_can_have_leaves_the_tables_in_memory(tmp_path):
    for name in ("n" * 300, "\udcff"):
        side = Sidecar(str(tmp_path / name / "catalog.sqlite"))
        works(side)
        assert side.place == "" or name == "\udcff"


ON_A_READ_ONLY_DISK = """
import sys
from tests.test_sidecar import got, put, works, Sidecar
side = Sidecar(sys.argv[1])
works(side)
print(side.place == "", "cannot" in side.rebuilt or "unable" in side.rebuilt or "readonly" in side.rebuilt)
"""


@pytest.mark.parametrize("made_before", [False, True])
def test_where_nothing_may_be_written_the_tables_are_in_memory(tmp_path, path, made_before):
    folder = os.path.dirname(path)
    os.mkdir(folder)
    if made_before:
        made(path)
        os.chmod(path, 0o400)
    os.chmod(folder, 0o500)
    done = subprocess.run(
        without_powers(sys.executable, "-c", ON_A_READ_ONLY_DISK, path),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["True", "True"]
    os.chmod(folder, 0o700)


# --- others at the same time -------------------------------------------------------------------------------------

COLD = """
import sys
from tests.test_sidecar import Sidecar, got, put
sys.stdin.readline()
side = Sidecar(sys.argv[1])
for turn in range(5):
    put(side, f"{sys.argv[2]}-{turn}", turn)
print(side.place, side.rebuilt, sep="|")
"""


def test_six_cold_processes_make_one_file_together(tmp_path, scale):
    for attempt in range(scale(2, 20)):
        path = str(tmp_path / f"cache-{attempt}" / "catalog.sqlite")
        starting = [child(COLD, path, who, stdin=subprocess.PIPE) for who in range(6)]
        for one in starting:
            one.stdin.write("go\n")
            one.stdin.flush()
        told = [one.communicate(timeout=30) for one in starting]
        assert [out.strip() for out, _ in told] == [f"{path}|"] * 6, told
        side = Sidecar(path)
        assert all(got(side, f"{who}-{turn}") == [turn] for who in range(6) for turn in range(5))


def test_threads_lose_no_update(path):
    side = Sidecar(path)
    put(side, "count", 0)

    def work(_):
        for _ in range(50):
            side.run(lambda db: db.execute("UPDATE meta SET value = value + 1 WHERE key = 'count'"), write=True)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert got(side, "count") == [400]


def test_a_reader_does_not_wait_for_a_writer_elsewhere(path):
    side = Sidecar(path)
    works(side)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        other.execute(PUT, ("a", "two"))
        with bounded(seconds=0.5):
            assert got(side, "a") == ["one"]
        other.execute("COMMIT")
    assert got(side, "a") == ["two"]


def test_a_writer_waits_for_a_writer_elsewhere(path):
    side = Sidecar(path)
    works(side)
    with (
        closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other,
        ThreadPoolExecutor(1) as pool,
    ):
        other.execute("BEGIN IMMEDIATE")
        other.execute(PUT, ("a", 2))
        waiting = pool.submit(
            side.run, lambda db: db.execute("UPDATE meta SET value = value + 1 WHERE key = 'a'"), write=True
        )
        time.sleep(0.2)
        assert not waiting.done()
        other.execute("COMMIT")
        waiting.result(10)
    assert got(side, "a") == [3]
    assert (side.place, side.rebuilt) == (path, "")


def test_a_process_that_is_stuck_in_the_middle_of_its_work_holds_nobody_up_for_long(path):
    side = Sidecar(path)
    works(side)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with bounded():
            works(side)
        assert side.place == ""
        assert "locked" in side.rebuilt
        other.execute("COMMIT")
    assert got(Sidecar(path), "a") == ["one"]


def test_a_file_that_could_not_be_used_is_used_again_once_it_can_be(path, monkeypatch):
    side = Sidecar(path)
    works(side)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        put(side, "b", "in memory")
        assert (side.place, side.rebuilt.startswith("is kept in memory for now")) == ("", True)
        other.execute("COMMIT")
    assert got(side, "b") == ["in memory"]
    side._try_file_at = 0.0  # a minute later
    assert got(side, "a") == ["one"]
    assert (side.place, side.rebuilt) == (path, "")


FORKING = """
import os, sys, threading
from tests.test_sidecar import Sidecar, got, put, works
side = Sidecar(sys.argv[1])
works(side)
inside, go = threading.Event(), threading.Event()
def slow(db):
    inside.set()
    go.wait(1.0)
    db.execute("INSERT OR REPLACE INTO meta VALUES ('slow', 1)")
busy = threading.Thread(target=side.run, args=(slow,), kwargs={"write": True})
if sys.argv[2] == "busy":
    busy.start()
    inside.wait(10)
    threading.Timer(0.2, go.set).start()
children = []
for number in range(3):
    pid = os.fork()
    if not pid:
        code = 1
        try:
            assert got(side, "a") == ["one"], got(side, "a")
            put(side, f"child-{number}", number)
            assert side.rebuilt == "", side.rebuilt
            side.close()
            code = 0
        finally:
            os._exit(code)
    children.append(pid)
put(side, "parent", "here")
codes = [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children]
if sys.argv[2] == "busy":
    busy.join()
    assert got(side, "slow") == [1]
put(side, "after", "still here")
print(codes, got(side, "parent"), [got(side, f"child-{n}") for n in range(3)], side.rebuilt)
"""


@pytest.mark.parametrize("when", ["idle", "busy"])
def test_a_forked_child_has_a_connection_of_its_own(path, when):
    """A thread may be in the middle of its work when another forks: neither the child nor the parent may hang."""
    done = subprocess.run(
        [sys.executable, "-c", FORKING, path, when], cwd=ROOT, capture_output=True, text=True, timeout=30, check=False
    )
    assert done.stdout.strip() == "[0, 0, 0] ['here'] [[0], [1], [2]]", done.stderr
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert got(Sidecar(path), "after") == ["still here"]
