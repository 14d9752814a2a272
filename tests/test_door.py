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
    "for_path": ["src/deploy.sh", "/abs/src/x y.py", "", "../..", "\udcff"],
    "workspace": [".", ""],
    "for_command": ["git push origin", "cd x && git push; ls", "--force", ""],
    "for_tool": ["Bash", "mcp__git__push", ""],
    "on_error": ["fatal: no deploy", "Traceback:\n  deploy\nKeyError: fact", "-", ""],
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
        memory.save("Another deploy fact.", name="other", applies_to=["git push", "src/", "Bash", "mcp__*"])
        memory.save("It is `./gone.sh` that deploys.", name="claiming", supersedes=["other"])
        memory.recall("deploy")  # so that all is findable by the time a prompt is to be answered
    return tmp_path


PIPED = "error: the deploy failed\n\udcff\0 fatal: no such fact\n" * 30


def through(door, args):
    out, err = (
        io.TextIOWrapper(io.BytesIO(), encoding="utf-8", errors="surrogateescape", write_through=True) for _ in "12"
    )
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr(sys, "stdin", io.StringIO(PIPED))
        code = door(args)
    told = out.buffer.getvalue().decode()
    if told.startswith("{"):
        told = {**json.loads(told), "took_ms": 0}
    return code, told, err.buffer.getvalue()


def agree(args):
    """Both doors answer alike, or the quick one leaves it to click, and has said nothing yet."""
    for left in (2, 1, 0):
        quick = through(enter, args)
        if quick[0] is None:
            assert quick[1:] == ("", b"")
            return
        plain = through(run, args)
        if quick == plain or not (left and "--push" in args):  # what is pushed depends on the clock
            break
    assert quick == plain, args


def test_the_table_has_something_to_try_for_every_option():
    assert {option.name for option in RECALL if option.takes} == set(GIVEN)


@pytest.mark.parametrize("more", [*SPELLINGS, *ODD], ids=" ".join)
def test_both_doors_say_the_same_to_every_option(shelf, more):
    for args in (
        ["recall", *more, "deploy", "fact"],
        ["recall", "deploy", *more, "fact"],
        ["recall", "deploy", "fact", *more],
    ):
        agree(args)


# What a hook, or somebody in a hurry, puts together.
TOGETHER = [
    ["--for-path", "src/a.py"], ["--for-command", "git push"], ["--for-tool=Bash"], ["--on-error", "fatal: no deploy"], ["--on-error", "-"], ["--push"], ["--explain"],
    ["--json"], ["--verify"], ["--workspace", "."], ["--session", "s"], ["--limit", "1"], ["-k", "user"], ["--tag", "ops"], ["--since", "yesterday"],
]  # fmt: skip


@pytest.mark.parametrize("one", TOGETHER, ids=" ".join)
def test_both_doors_say_the_same_to_options_together_with_a_query_and_without(shelf, one):
    for other in TOGETHER:
        for words in ([], ["deploy", "fact"], [""], ["-"]):
            agree(["recall", *one, *other, *words])


def test_what_stands_in_place_of_a_query_is_enough(shelf):
    for given in (["--for-path", "src/a.py"], ["--for-command", "git push"], ["--for-tool", "Bash"]):
        code, told, complained = through(enter, ["recall", *given])
        assert (code, complained) == (0, b""), given
        assert told.startswith("other ("), told
        assert "applies to" in told
    for given in (["--on-error", "fatal: no deploy"], ["--on-error", "-"]):
        code, told, _ = through(enter, ["recall", *given])
        assert code == 0
        assert "deploy (" in told
    for given in (["--on-error", ""], ["--push"], ["--push", ""]):
        assert through(run, ["recall", *given]) == (0, "", b"") or given[0] == "--on-error", given


# What is wrong, and the line that says so: short, and with what to do instead.
WRONG = [
    (["--push", "-k", "user", "x"], "--push takes a prompt alone; ask for kinds, tags, days and situations without it"),
    (["--push", "--for-tool", "Bash", "x"], "--push takes a prompt alone; ask for kinds, tags, days and situations without it"),
    ([], "say what to look for, or what it is for: --for-path, --for-command, --for-tool or --on-error"),
    (["--since", "soon", "x"], "'soon' is no day; write 2026-05-15, today, yesterday, '3 days ago' or 3d"),
    (["-k", "nonsense", "x"], "'nonsense' is no kind; choose user, feedback, project, reference, session, other"),
    (["--for-path"], "Option '--for-path' requires an argument."),
    (["--push=yes", "x"], "Option '--push' does not take a value."),
    (["--limit", "1001", "x"], "1001 is not in the range 1<=x<=1000."),
]  # fmt: skip


@pytest.mark.parametrize(("given", "says"), WRONG, ids=[" ".join(row[0]) or "nothing" for row in WRONG])
def test_what_is_wrong_is_said_in_one_line_with_a_way_on(shelf, given, says):
    assert through(enter, ["recall", *given])[0] is None
    code, told, complained = through(run, ["recall", *given])
    assert (code, told) == (2, "")
    lines = complained.decode().strip().splitlines()
    assert any(line.endswith(says) for line in lines), lines
    assert len(lines) <= 4


def test_every_option_is_told_in_the_help_in_a_line_or_two(shelf):
    _, told, _ = through(run, ["recall", "--help"])
    for option in RECALL:
        assert all(flag in told for flag in option.flags), option
        assert " ".join(option.help.split()) in " ".join(told.split())
        assert option.help[0].isupper()
        assert option.help.endswith((".", ")"))
        assert len(option.help) <= 110


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
