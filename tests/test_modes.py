"""Files are private under any umask, keep the modes people gave them, and lie nowhere else."""

import json
import os
import stat
import subprocess
import sys
import textwrap

import pytest
from tests.places import ROOT, without_powers

from commonplace import open_memory

# A day's work with a notebook, told as every file it made with its mode, while all of it is still open.
WORK = textwrap.dedent("""
    import json, os, stat, sys
    from commonplace import Call, open_memory
    book, count = sys.argv[1], int(sys.argv[2])
    memory = open_memory(book)
    memory.save("The fact is private.", name="fact", call=Call(origin="person"))
    memory.save("The fact is private still.", name="fact")
    memory.save("A session that was.", name="2026-05-15-08h00-a1b2", kind="session")
    memory.save("A fact to forget.", name="gone")
    memory.forget("gone")
    for number in range(count):
        memory.save(f"The fact {number} is one of many.", name=f"fact {number}")
    assert memory.recall("private").hits[0].name == "fact"
    memory.preamble(), memory.listing(), memory.status()
    again = open_memory(book)
    assert len(again.notes().notes) == 2 + count
    found = {}
    for top in (book, os.environ["COMMONPLACE_HOME"]):
        for place, folders, files in os.walk(top):
            for path in (place, *(os.path.join(place, name) for name in files)):
                mode = os.lstat(path).st_mode
                found[path] = (stat.S_ISDIR(mode), stat.S_IMODE(mode))
    print(json.dumps(found))
""")
UMASKS = (0o000, 0o002, 0o022, 0o027, 0o077, 0o177, 0o277, 0o377, 0o400, 0o777)


def work(place, umask, count=1, command=None, **env):
    """Do the work under a umask in a process of its own, and answer the files it made with their modes."""
    place.mkdir(mode=0o755, exist_ok=True)
    (place / "tmp").mkdir(exist_ok=True)
    done = subprocess.run(
        [*(command or [sys.executable]), "-c", WORK, str(place / "deep" / "er" / "book"), str(count)], cwd=ROOT, umask=umask,
        env={**os.environ, "COMMONPLACE_HOME": str(place / "home"), "TMPDIR": str(place / "tmp"), **env},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return {path: tuple(found) for path, found in json.loads(done.stdout).items()}


def check_private(found, place):
    assert sum(path.endswith((".md", "log.jsonl", "key", "lock", "format")) for path in found) >= 10
    assert any(path.endswith("-wal") for path in found)
    assert any(path.endswith("-shm") for path in found)
    for path, (is_folder, mode) in found.items():
        assert mode == (0o700 if is_folder else 0o600), f"{path} has {mode:o}"
    for folder in (place / "deep", place / "deep" / "er"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.promise
@pytest.mark.parametrize("umask", UMASKS, ids=lambda umask: f"{umask:04o}")
def test_every_file_is_private_under_any_umask(tmp_path, tally, umask):
    with tally("R27", f"{umask:04o}"):
        check_private(work(tmp_path / "place", umask), tmp_path / "place")


@pytest.mark.promise
@pytest.mark.parametrize("umask", [0o077, 0o777], ids=lambda umask: f"{umask:04o}")
def test_somebody_whom_modes_hold_for_can_work_under_any_umask(tmp_path, tally, umask):
    """Root reads what its modes forbid; a person whose umask takes everything must still get at their own notes."""
    with tally("R27", f"{umask:04o} without powers"):
        command = without_powers(sys.executable)
        check_private(work(tmp_path / "place", umask, command=command), tmp_path / "place")


@pytest.mark.promise
def test_nothing_lies_in_a_temporary_folder_even_for_a_moment(tmp_path, tally, scale):
    """A folder's own time changes with every entry that is made in it and removed again."""
    place = tmp_path / "place"
    place.mkdir()
    (place / "tmp").mkdir()
    before = (place / "tmp").stat()
    work(
        place, 0o022, scale(30, 3000), SQLITE_TMPDIR=str(place / "tmp"), TMP=str(place / "tmp"), TEMP=str(place / "tmp")
    )
    after = (place / "tmp").stat()
    with tally("R27", "temporary folders"):
        assert (after.st_mtime_ns, after.st_ctime_ns) == (before.st_mtime_ns, before.st_ctime_ns)
        assert sorted(os.listdir(place)) == ["deep", "home", "tmp"]


def test_what_sqlite_sorts_stays_in_memory(tmp_path):
    """What SQLite spills while it sorts would hold the text of notes, where others may read."""
    from commonplace.index.sidecar import Sidecar

    side = Sidecar(str(tmp_path / "catalog.sqlite"))
    assert side.run(lambda db: db.execute("PRAGMA temp_store").fetchone()) == (2,)


MODES = (0o600, 0o640, 0o644, 0o660, 0o444, 0o400, 0o755)


@pytest.mark.promise
@pytest.mark.parametrize("mode", MODES, ids=lambda mode: f"{mode:04o}")
@pytest.mark.parametrize("umask", [0o000, 0o077], ids=lambda umask: f"umask-{umask:04o}")
def test_the_mode_a_person_gave_a_file_stays_when_it_is_corrected(book, tally, mode, umask):
    memory = open_memory(book)
    memory.save("The fact is shared.", name="fact")
    (book / "fact.md").chmod(mode)
    (book / "MEMORY.md").chmod(mode)
    old = os.umask(umask)
    try:
        saved = memory.save("The fact is shared still.", name="fact")
        forgotten = memory.forget("fact")
    finally:
        os.umask(old)
    with tally("R27", f"{mode:04o}"):
        for kept in (saved.kept, forgotten.kept):
            assert stat.S_IMODE((book / kept).stat().st_mode) == mode
        assert stat.S_IMODE((book / "MEMORY.md").stat().st_mode) == mode


def test_a_corrected_note_keeps_its_mode_and_a_new_one_is_private(book):
    memory = open_memory(book)
    for mode in MODES:
        memory.save("The fact is shared.", name="fact")
        assert stat.S_IMODE((book / "fact.md").stat().st_mode) == 0o600
        (book / "fact.md").chmod(mode)
        for turn in range(2):
            memory.save(f"The fact is shared, {turn}.", name="fact")
            assert stat.S_IMODE((book / "fact.md").stat().st_mode) == mode
        memory.forget("fact")


def test_folders_a_person_opened_to_others_stay_as_they_are(book):
    book.mkdir(mode=0o755)
    book.chmod(0o755)
    (book / "sessions").mkdir()
    (book / "sessions").chmod(0o750)
    memory = open_memory(book)
    memory.save("A session that was.", name="2026-05-15-08h00-a1b2", kind="session")
    memory.save("The fact is in an open folder.", name="fact")
    modes = {path: stat.S_IMODE((book / path).stat().st_mode) for path in (".", "sessions", ".commonplace", "fact.md")}
    assert modes == {".": 0o755, "sessions": 0o750, ".commonplace": 0o700, "fact.md": 0o600}


def test_the_command_and_a_home_from_the_environment_are_as_private(tmp_path):
    env = {name: value for name, value in os.environ.items() if not name.startswith("COMMONPLACE")}
    env |= {"HOME": str(tmp_path), "TMPDIR": str(tmp_path / "none")}
    words = [sys.executable, "-m", "commonplace", "remember", "The fact is at home."]
    subprocess.run(words, cwd=ROOT, env=env, umask=0, check=True, capture_output=True)
    made = [path for path in tmp_path.rglob("*") if "commonplace" in str(path.relative_to(tmp_path))]
    assert len(made) > 8
    for path in made:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path
