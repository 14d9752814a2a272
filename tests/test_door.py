"""`recall` has two doors, one of them without click. Whatever is typed, both say the same, byte for byte."""

import io
import itertools
import json
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout

import pytest

from commonplace import open_memory
from commonplace.surfaces.cli.app import run
from commonplace.surfaces.cli.door import enter
from commonplace.surfaces.cli.options import MOST_HITS, RECALL

# Something to put behind each option that takes something: what is right, and what is not.
GIVEN = {
    "directory": ["there", ""],
    "kinds": ["user", "preference", "nonsense", "Other"],
    "tags": ["ops", ""],
    "since": ["2026-01-01", "soon", "yesterday", "tomorrow", "3d", "3 days ago", "2h"],
    "limit": ["1", str(MOST_HITS), "0", str(MOST_HITS + 1), "many", "-1", "007"],
    "trace": ["a session"],
    "for_path": ["src/deploy.sh", ""],
    "workspace": [".", ""],
    "for_command": ["git push origin", ""],
    "for_tool": ["Bash", ""],
    "on_error": ["fatal: no deploy", ""],
}


def spellings():
    for option in RECALL:
        for flag in option.flags:
            if not option.takes:
                yield [flag]
                yield [flag + "=yes"]
                continue
            for value in GIVEN[option.name]:
                yield [flag, value]
                yield [f"{flag}={value}"]
                yield [f"{flag}{value}"]
            yield [flag]


SPELLINGS = list(spellings())
ODD = [
    ["--"],
    ["--", "--json"],
    ["-"],
    ["--no-such"],
    ["-x"],
    ["-lk", "1"],
    ["--help"],
    ["-h"],
    ["--js"],
    ["--limit", "--json"],
    ["\udcff"],
    [""],
]


@pytest.fixture
def shelf(book, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for place in (None, "there"):
        memory = open_memory(place)
        memory.save("The deploy fact is here.", name="deploy", kind="user", tags=["ops"])
        memory.save("Another deploy fact.", name="other")
    return tmp_path


def through(door, args):
    out, err = (
        io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="surrogateescape", write_through=True) for _ in "12"
    )
    with redirect_stdout(out), redirect_stderr(err):
        code = door(args)
    told = out.buffer.getvalue().decode()
    if told.startswith("{"):
        told = {**json.loads(told), "took_ms": 0}
    return code, told, err.buffer.getvalue()


def test_the_table_has_something_to_try_for_every_option():
    assert {option.name for option in RECALL if option.takes} == set(GIVEN)


@pytest.mark.parametrize("more", [*SPELLINGS, *ODD], ids=" ".join)
def test_both_doors_say_the_same_to_every_option(shelf, more):
    for args in (
        ["recall", *more, "deploy", "fact"],
        ["recall", "deploy", *more, "fact"],
        ["recall", "deploy", "fact", *more],
    ):
        quick = through(enter, args)
        if quick[0] is None:  # click's to judge, and nothing was said yet
            assert quick[1:] == ("", b"")
        else:
            assert quick == through(run, args)


def test_what_is_plain_goes_through_the_quick_door(shelf):
    for one, two in itertools.permutations(
        [["--limit", "1"], ["-k", "user"], ["--tag=ops"], ["--json"], ["--since", "2026-01-01"]], 2
    ):
        assert through(enter, ["recall", *one, "deploy", *two])[0] == 0
    assert enter(["recall"]) is None
    assert enter(["list"]) is None


def test_recall_in_a_process_of_its_own_loads_no_click(shelf):
    heavy = "{'click', 'platformdirs', 'pydantic', 'asyncio', 'yaml', 'numpy', 'textwrap', 'shutil', 'unicodedata', 'difflib', 'subprocess'}"
    code = (
        "import sys\nfrom commonplace.__main__ import main\nsys.argv = ['commonplace', 'recall', 'deploy', 'fact']\n"
        f"assert main() == 0\nprint(sorted({heavy} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    assert "deploy (user" in done.stdout
