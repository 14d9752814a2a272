"""The demo plays what it says: two real processes, one throwaway home, nothing of anybody's touched or left."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from tests.places import snapshot

DEMO = [sys.executable, "-m", "commonplace.testing.demo", "--alone"]


def play(tmp_path, *args, env=None, **given):
    """Run the demo with a folder of its own for what is temporary, and no settings but those given."""
    (tmp_path / "tmp").mkdir(exist_ok=True)
    bare = {"PATH": os.environ["PATH"], "TMPDIR": str(tmp_path / "tmp"), "HOME": str(tmp_path / "ana")}
    return subprocess.run(
        [*DEMO, *args], env={**bare, **(env or {})}, capture_output=True, stdin=subprocess.DEVNULL, timeout=60, check=False,
        **{"text": True, **given},
    )  # fmt: skip


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """One play in the home of a person who has settings, and the place it was played in."""
    place = tmp_path_factory.mktemp("demo")
    (place / "ana").mkdir()
    env = {"MEMORY_DIR": str(place / "ana" / "mine"), "COMMONPLACE_HOME": str(place / "ana" / "home")}
    done = play(place, env=env)
    left = list((place / "tmp").iterdir()) + list((place / "ana").iterdir())
    return done, place, left


def test_two_processes_one_memory_and_nothing_left(played):
    done, tmp_path, left = played
    assert (done.returncode, done.stderr, left) == (0, "", [])
    pids = re.findall(r"process (\d+) exits", done.stdout)
    assert len(set(pids)) == len(pids) == 2
    for shown in (
        "saved   we-deploy-with-deploy-sh", "found   we-deploy-with-deploy-sh", "because cut in its text", "finding it took",
        "| We deploy with ./deploy.sh, which refuses a dirty tree.", "user/", "MEMORY.md", ".commonplace/", "cache/",
        "| type: project", "| <!-- Made by Commonplace", "| # Memory", "| <memory-index>", "What to type next", "remember", "recall",
    ):  # fmt: skip
        assert shown in done.stdout, shown
    commands = next(block for block in done.stdout.split("\n\n") if 'recall "' in block)
    lines = [line for line in done.stdout.split("\n") if line not in commands and str(tmp_path) not in line]
    assert max(map(len, lines)) <= 79
    tree = done.stdout.partition("3. What is left")[2].partition("4. One note")[0].strip().split("\n")[2:]
    assert len(tree) == 6, tree


def test_what_it_says_to_type_next_works_as_it_stands(played):
    done, tmp_path, _ = played
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "ana"), "MEMORY_DIR": str(tmp_path / "ana" / "mine")}
    block = done.stdout.partition("7. What to type next\n\n")[2].partition("\n\n")[0]
    commands = [line.strip() for line in block.split("\n")]
    assert len(commands) == 5
    outs = [subprocess.run(["sh", "-c", line], env=env, capture_output=True, text=True, timeout=30, check=True).stdout for line in commands]  # fmt: skip
    saved, recalled, listed, preamble, helped = outs
    assert saved.startswith("created we-deploy-with-deploy-sh")
    assert "we-deploy-with-deploy-sh" in recalled
    assert "we-deploy-with-deploy-sh" in listed
    assert "<memory-index>" in preamble
    assert "Every day:" in helped
    assert str(tmp_path / "ana" / "mine") in done.stdout


def test_kept_it_can_be_looked_around_in_and_removed_as_it_says(tmp_path):
    (tmp_path / "my tmp").mkdir()
    done = play(tmp_path, "--keep", env={"TMPDIR": str(tmp_path / "my tmp")})
    assert done.returncode == 0
    (home,) = (tmp_path / "my tmp").iterdir()
    assert sorted(path.name for path in home.iterdir()) == ["cache", "user"]
    look, remove = done.stdout.rstrip().split("\n")[-2:]
    listed = subprocess.run(["sh", "-c", look.strip()], capture_output=True, text=True, timeout=30, check=True).stdout
    assert "ana-knows-go-well-and-python-little" in listed
    assert shlex.split(remove) == ["rm", "-r", str(home)]
    subprocess.run(["sh", "-c", remove.strip()], timeout=30, check=True)
    assert not home.exists()


@pytest.mark.parametrize(
    ("env", "question"),
    [
        ({"COLUMNS": "50", "LC_ALL": "C", "PYTHONIOENCODING": "ascii"}, "what about déploy"),
        ({"HOME": "/nonexistent", "COMMONPLACE": "off", "MEMORY_DIR": "~nobody-of-that-name"}, "who is Ana"),
    ],
)
def test_it_plays_whatever_the_surroundings(tmp_path, env, question):
    done = play(tmp_path, "--question", question, env=env)
    assert "Traceback" not in done.stderr
    assert done.returncode == 0
    assert "found   " in done.stdout
    assert list((tmp_path / "tmp").iterdir()) == []
    if "COLUMNS" in env:
        tree = done.stdout.partition("3. What is left")[2].partition("4. One note")[0].strip().split("\n")[2:]
        assert max(map(len, tree)) <= 50
        assert len(tree) == 6
    else:
        assert "nobody-of-that-name" in done.stdout


def test_a_question_nothing_answers_fails_and_says_so(tmp_path):
    done = play(tmp_path, "--question", "zeppelin")
    assert done.returncode == 1
    assert "found   nothing" in done.stdout
    assert "did not find" in done.stderr
    assert list((tmp_path / "tmp").iterdir()) == []


def test_it_ends_quietly_when_whoever_watched_has_seen_enough(tmp_path):
    (tmp_path / "tmp").mkdir()
    before = snapshot(tmp_path)
    command = f"{shlex.join(DEMO)} | head -3"
    done = subprocess.run(["sh", "-c", command], env={**os.environ, "TMPDIR": str(tmp_path / "tmp")}, capture_output=True, text=True, timeout=60, check=False)  # fmt: skip
    assert done.stdout.count("\n") == 3
    assert done.stderr == ""
    assert snapshot(tmp_path) == before


def test_make_run_plays_it():
    makefile = (Path(__file__).parents[1] / "Makefile").read_text()
    assert "/commonplace tour" in makefile.partition("\nrun:")[2].partition("\n\n")[0]


def test_two_sessions_of_an_agent_share_what_the_first_learned(tmp_path):
    """The tour, as `make run` plays it: the real SDK, and a model on this machine that plays from a script."""
    (tmp_path / "tmp").mkdir()
    env = {"PATH": os.environ["PATH"], "TMPDIR": str(tmp_path / "tmp"), "HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", "commonplace", "tour"], env=env, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    pids = re.findall(r"process (\d+) exits", done.stdout)
    assert len(set(pids)) == len(pids) == 2
    for shown in (
        "plays from a script: no key, no", "> memory_write", "# memory: 0 notes", "# memory: 1 note\n", "> memory_search",
        "(memory: deploy-with-deploy-sh)", "Recall found deploy-with-deploy-sh by:", "deploy-with-deploy-sh.md",
        "| <memory-index>", "What to type next",
    ):  # fmt: skip
        assert shown in done.stdout, shown
    assert list((tmp_path / "tmp").iterdir()) == []
    assert (
        max(len(line) for line in done.stdout.split("\n") if str(tmp_path) not in line and "remember" not in line) <= 79
    )
