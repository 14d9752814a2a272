"""Where a notebook is, who decides it, and what opening one makes: nothing."""

import errno
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from tests.places import snapshot, without_powers

from commonplace import Refused, Saved, open_memory
from commonplace.errors import BadPath, CommonplaceError, NotFound, Obstructed, ReadOnly
from commonplace.nomemory import NoMemory
from commonplace.settings import read_settings, switched_off
from commonplace.store.disk import Disk

ODD = os.fsdecode(b"caf\xe9")
LINUX = sys.platform == "linux"
HERE = os.getcwd()
ANA = {"HOME": "/home/ana"}

# What is given, what the environment says, and where that puts the notebook and what is derived from it.
PLACES = [
    (None, ANA, "/home/ana/.local/state/commonplace/user", "/home/ana/.cache/commonplace", "the default"),
    (None, {**ANA, "XDG_STATE_HOME": "/var/state"}, "/var/state/commonplace/user", "/home/ana/.cache/commonplace", "the default"),
    (None, {**ANA, "XDG_CACHE_HOME": "/var/cache"}, "/home/ana/.local/state/commonplace/user", "/var/cache/commonplace", "the default"),
    (None, {**ANA, "XDG_STATE_HOME": "state"}, "/home/ana/.local/state/commonplace/user", "/home/ana/.cache/commonplace", "the default"),
    (None, {**ANA, "XDG_STATE_HOME": ""}, "/home/ana/.local/state/commonplace/user", "/home/ana/.cache/commonplace", "the default"),
    (None, {**ANA, "COMMONPLACE_HOME": "/srv/notes"}, "/srv/notes/user", "/srv/notes/cache", "from COMMONPLACE_HOME"),
    (None, {**ANA, "COMMONPLACE_HOME": "~/notes/"}, "/home/ana/notes/user", "/home/ana/notes/cache", "from COMMONPLACE_HOME"),
    (None, {**ANA, "COMMONPLACE_HOME": "notes"}, f"{HERE}/notes/user", f"{HERE}/notes/cache", "from COMMONPLACE_HOME"),
    (None, {**ANA, "COMMONPLACE_HOME": "/srv", "XDG_STATE_HOME": "/var"}, "/srv/user", "/srv/cache", "from COMMONPLACE_HOME"),
    (None, {**ANA, "MEMORY_DIR": "/srv/notes"}, "/srv/notes", "/home/ana/.cache/commonplace", "from MEMORY_DIR"),
    (None, {**ANA, "MEMORY_DIR": "/srv/notes", "COMMONPLACE_HOME": "/srv/home"}, "/srv/notes", "/srv/home/cache", "from MEMORY_DIR"),
    (None, {**ANA, "MEMORY_DIR": "", "COMMONPLACE_HOME": "/srv/home"}, "/srv/home/user", "/srv/home/cache", "from COMMONPLACE_HOME"),
    (None, {**ANA, "MEMORY_DIR": "", "COMMONPLACE_HOME": ""}, "/home/ana/.local/state/commonplace/user", "/home/ana/.cache/commonplace", "the default"),
    (None, {**ANA, "MEMORY_DIR": "~"}, "/home/ana", "/home/ana/.cache/commonplace", "from MEMORY_DIR"),
    (None, {**ANA, "MEMORY_DIR": "~/my notes"}, "/home/ana/my notes", "/home/ana/.cache/commonplace", "from MEMORY_DIR"),
    (None, {**ANA, "MEMORY_DIR": "./~"}, f"{HERE}/~", "/home/ana/.cache/commonplace", "from MEMORY_DIR"),
    ("/given", {**ANA, "MEMORY_DIR": "/srv", "COMMONPLACE_HOME": "/x"}, "/given", "/x/cache", "as given"),
    ("given", ANA, f"{HERE}/given", "/home/ana/.cache/commonplace", "as given"),
    ("../given//x/../", ANA, f"{os.path.dirname(HERE)}/given", "/home/ana/.cache/commonplace", "as given"),
    ("~/given/", ANA, "/home/ana/given", "/home/ana/.cache/commonplace", "as given"),
    ("a~b", ANA, f"{HERE}/a~b", "/home/ana/.cache/commonplace", "as given"),
    (" ", ANA, f"{HERE}/ ", "/home/ana/.cache/commonplace", "as given"),
    (Path("/given/path"), ANA, "/given/path", "/home/ana/.cache/commonplace", "as given"),
    (Path(), ANA, HERE, "/home/ana/.cache/commonplace", "as given"),
    (b"/given/bytes", ANA, "/given/bytes", "/home/ana/.cache/commonplace", "as given"),
    (b"/given/caf\xe9", ANA, f"/given/{ODD}", "/home/ana/.cache/commonplace", "as given"),
    (None, {**ANA, "MEMORY_DIR": f"/srv/{ODD}"}, f"/srv/{ODD}", "/home/ana/.cache/commonplace", "from MEMORY_DIR"),
    (None, {**ANA, "MEMORY_DIR": "/srv/größe 部署 🎉"}, "/srv/größe 部署 🎉", "/home/ana/.cache/commonplace", "from MEMORY_DIR"),
    ("/", ANA, "/", "/home/ana/.cache/commonplace", "as given"),
]  # fmt: skip


@pytest.mark.skipif(not LINUX, reason="the state home of other systems is another")
@pytest.mark.parametrize("row", PLACES, ids=[f"{i}-{row[0]!s}" for i, row in enumerate(PLACES)])
def test_the_place_is_the_one_given_else_memory_dir_else_the_home_else_the_state_home(row):
    path, env, notebook, cache, why = row
    settings = read_settings(path, env)
    assert (settings.notebook, settings.cache, settings.why) == (notebook, cache, why)
    assert settings.given is (path is not None)


@pytest.mark.parametrize(
    "path", ["", "\0", "a\0b", b"", "~nobody-of-that-name", "~nobody-of-that-name/notes", "a\ud83cb"]
)
def test_a_path_no_notebook_can_be_at_is_refused_with_a_way_on(path):
    with pytest.raises(BadPath) as caught:
        open_memory(path)
    assert repr(os.fsdecode(path)) in str(caught.value)
    assert any(way in str(caught.value) for way in ("leave it out", "write"))
    assert isinstance(caught.value, CommonplaceError)


def test_a_relative_path_in_a_directory_that_is_gone_is_refused_and_a_whole_one_works(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(BadPath, match="give it whole"):
        open_memory("notes")
    assert isinstance(open_memory(tmp_path / "notes").save("A fact"), Saved)
    monkeypatch.chdir(tmp_path)


def test_an_agents_shell_is_known_by_what_it_sets():
    assert not read_settings(None, ANA).agents_shell
    for name in ("CLAUDECODE", "CODEX_SANDBOX", "COPILOT_CLI", "GEMINI_CLI", "GEMINI_SESSION_ID", "GOOSE_TERMINAL", "OPENCODE"):  # fmt: skip
        assert read_settings(None, {**ANA, name: "1"}).agents_shell
        assert not read_settings(None, {**ANA, name: ""}).agents_shell


# --- nothing is made before it is needed -----------------------------------------------------------------------


def _use(memory):
    """Everything a host may ask of a notebook that holds nothing."""
    assert memory.recall("fact").hits == memory.notes().notes == memory.notes().problems == ()
    assert "empty" in memory.preamble()
    assert memory.listing().total == memory.status().room.left_out == 0
    for call in (memory.read, memory.forget):
        with pytest.raises(NotFound):
            call("fact")
    assert isinstance(memory.save(""), Refused)
    assert isinstance(memory.save("A fact", kind="wish"), Refused)
    assert isinstance(memory.save("???"), Refused)


@pytest.mark.parametrize("place", ["notes", "deep/er/notes", "with space/größe", ODD, "trailing/", "./dots/../notes"])
def test_nothing_is_made_before_the_first_save_and_all_of_it_then(tmp_path, home, place):
    before = snapshot(tmp_path)
    memory = open_memory(f"{tmp_path}/{place}")
    _use(memory)
    assert snapshot(tmp_path) == before
    outcome = memory.save("The first fact")
    assert isinstance(outcome, Saved), outcome
    assert outcome.room.lines == 5
    book = Path(os.path.realpath(tmp_path / place))
    assert os.path.samefile(memory.where, book)
    assert sorted(path.name for path in book.iterdir()) == [".commonplace", "MEMORY.md", "the-first-fact.md"]
    assert os.path.samefile(outcome.file, book / "the-first-fact.md")
    assert open_memory(f"{tmp_path}/{place}").read("the-first-fact").body == "The first fact"
    assert home.exists()


def test_the_default_home_is_made_by_the_first_save_alone(tmp_path, home):
    _use(open_memory())
    assert not home.exists()
    open_memory().save("A fact")
    assert sorted(path.name for path in home.iterdir()) == ["cache", "user"]
    for path in (home, *home.rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path


def test_a_directory_somebody_made_is_used_as_it_is(tmp_path):
    book = tmp_path / "notes"
    book.mkdir(mode=0o755)
    (book / "theirs.md").write_text("A fact of theirs.\n")
    memory = open_memory(book)
    assert [note.name for note in memory.notes().notes] == ["theirs"]
    memory.preamble()
    assert sorted(path.name for path in book.iterdir()) == ["theirs.md"]
    memory.save("A fact of ours")
    assert stat.S_IMODE(book.stat().st_mode) == 0o755


def test_every_spelling_of_a_place_is_one_notebook(tmp_path, home, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    spellings = ["real/notes", "./real/notes/", "real//notes", f"{tmp_path}/real/notes", "~/real/notes", "link/notes", "link/../real/notes", Path("real/notes")]  # fmt: skip
    for number, spelling in enumerate(spellings):
        outcome = open_memory(spelling).save(f"Fact {number} of one notebook", name=f"fact-{number}")
        assert outcome.room.lines == 5 + number, spelling
    assert len({open_memory(spelling).where for spelling in spellings}) == 1
    assert len(list((home / "cache").iterdir())) == 1


def test_two_places_do_not_share_what_is_derived(tmp_path, home):
    for name in ("one", "two"):
        open_memory(tmp_path / name).save(f"A fact of notebook {name}")
    for name in ("one", "two"):
        assert [note.name for note in open_memory(tmp_path / name).notes().notes] == [f"a-fact-of-notebook-{name}"]
    assert len(list((home / "cache").iterdir())) == 2


# --- what stands in the way ------------------------------------------------------------------------------------


def test_a_path_that_is_a_file_is_refused_and_left(tmp_path):
    file = tmp_path / "file"
    file.write_text("theirs")
    before = snapshot(tmp_path)
    for path in (file, file / "below", file / "deep" / "er"):
        memory = open_memory(path)
        for call in (lambda: memory.save("A fact"), lambda: memory.recall("fact"), memory.notes, memory.preamble):  # noqa: B023
            with pytest.raises(Obstructed, match="a notebook is a directory") as caught:
                call()
            assert str(path) in str(caught.value)
    assert snapshot(tmp_path) == before


def test_a_link_to_nowhere_is_refused_or_followed_but_never_guessed_at(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    memory = open_memory(tmp_path / "link")
    assert memory.recall("fact").hits == ()
    assert isinstance(memory.save("A fact"), Saved)
    assert (tmp_path / "nowhere" / "a-fact.md").exists()


class Denied(Disk):
    """A disk on which no folder can be made."""

    def make_root(self, path):
        raise OSError(errno.EACCES, os.strerror(errno.EACCES))


def test_a_parent_that_may_not_be_written_is_named_and_nothing_is_made(tmp_path):
    before = snapshot(tmp_path)
    memory = open_memory(tmp_path / "new" / "notes", disk=Denied())
    assert memory.recall("fact").hits == ()
    with pytest.raises(ReadOnly, match="Check its owner and modes") as caught:
        memory.save("A fact")
    assert str(tmp_path / "new" / "notes") in str(caught.value)
    assert {path: found for path, found in snapshot(tmp_path).items() if not path.startswith("home")} == before


def test_modes_that_forbid_writing_are_told_in_one_line_by_the_real_system(tmp_path):
    parent = tmp_path / "parent"
    parent.mkdir(mode=0o500)
    command = without_powers(sys.executable, "-m", "commonplace", "remember", "A fact", "--dir", str(parent / "notes"))
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith(f"commonplace: {parent}/notes may not be used so (Permission denied)")
    assert done.stderr.count("\n") == 1
    assert list(parent.iterdir()) == []


def test_where_nothing_derived_can_be_kept_the_notes_still_are(tmp_path, home):
    home.write_text("a file where the cache would be")
    memory = open_memory(tmp_path / "notes")
    outcome = memory.save("A fact")
    assert isinstance(outcome, Saved)
    assert memory.status().cache == ""
    assert open_memory(tmp_path / "notes").recall("fact").hits[0].name == "a-fact"
    assert (tmp_path / "notes" / "MEMORY.md").read_text().count("a-fact.md") == 1


# --- off, and where it does not run ----------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["off", "OFF", " off ", "0", "false", "no", "No"])
def test_off_opens_nothing_whatever_was_given(tmp_path, monkeypatch, word):
    monkeypatch.setenv("COMMONPLACE", word)
    before = snapshot(tmp_path)
    for path in (None, tmp_path / "notes"):
        memory = open_memory(path)
        assert isinstance(memory, NoMemory)
        assert isinstance(memory.save("A fact"), Refused)
        assert (memory.preamble(), memory.recall("fact").hits) == ("", ())
    assert snapshot(tmp_path) == before


@pytest.mark.parametrize("word", ["", "on", "1", "yes", "true", "of", "offf"])
def test_anything_else_leaves_it_on(word):
    assert not switched_off({"COMMONPLACE": word})
    assert not switched_off({})


def test_a_system_without_file_locks_gets_one_clear_line():
    """Windows has no `fcntl`. A process that has none either stands in for it."""
    code = "import sys; sys.modules['fcntl'] = None; sys.argv = ['commonplace', 'list']\nfrom commonplace.__main__ import main; sys.exit(main())"  # fmt: skip
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "commonplace: Commonplace runs on Linux and macOS; on Windows, use it inside WSL\n"


def test_settings_refuse_windows_by_name():
    code = "import os; os.name = 'nt'\nfrom commonplace.settings import read_settings\nread_settings()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=False)
    assert "Unsupported: Commonplace runs on Linux and macOS; on Windows, use it inside WSL" in done.stderr
