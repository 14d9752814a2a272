"""The command, as people and scripts meet it. The transcripts in tests/cli teach it; what they cannot say is here."""

import fcntl
import io
import json
import os
import random
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
import termios
import time
import unicodedata
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click
import pytest
from tests.transcripts import REWRITE, play

from commonplace import Call, open_memory
from commonplace.care.versions import local
from commonplace.settings import read_settings
from commonplace.surfaces.cli import notebook
from commonplace.surfaces.cli.app import cli, run
from commonplace.surfaces.cli.group import CALLED_ELSEWHERE
from commonplace.surfaces.cli.opened import Misuse, caller
from commonplace.surfaces.cli.page import ANSWERS
from commonplace.tools.render import SHAPES as rendered

TRANSCRIPTS = sorted((Path(__file__).parent / "cli").glob("*.txt"))
AGENT_SHELLS = (
    "CLAUDECODE", "CODEX_SANDBOX", "COPILOT_CLI", "GEMINI_CLI", "GEMINI_SESSION_ID", "GOOSE_TERMINAL", "OPENCODE",
)  # fmt: skip


@pytest.fixture
def ana(tmp_path, monkeypatch):
    """The home of a person who has a notebook in `memory` and no agent around."""
    place = tmp_path / "ana"
    place.mkdir()
    for name in (*AGENT_SHELLS, "PYTHONUNBUFFERED", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(place))
    monkeypatch.setenv("COMMONPLACE_HOME", str(place / "memory"))
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(place)
    return place


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=[path.stem for path in TRANSCRIPTS])
def test_the_transcript_holds(path, ana):
    now = play(path, ana)
    if REWRITE:
        path.write_text(now, "utf-8")
    assert now == path.read_text("utf-8")


# --- in this process -------------------------------------------------------------------------------------------


class Terminal:
    """A terminal of so many columns, made of a real pseudo-terminal: what is printed on it, and who types."""

    def __init__(self, columns):
        self.columns = columns
        self.ours, self.theirs = os.openpty()
        self.stream = os.fdopen(self.theirs, "w", encoding="utf-8", closefd=False)
        self.keys = os.fdopen(self.theirs, "r", encoding="utf-8", closefd=False)

    def read(self):
        """All that was printed, as the terminal got it."""
        self.stream.flush()
        out = b""
        while select.select([self.ours], [], [], 0)[0]:
            out += os.read(self.ours, 65536)
        return out.replace(b"\r\n", b"\n").decode()

    def close(self):
        self.stream.close()
        self.keys.close()
        os.close(self.ours)
        os.close(self.theirs)


@pytest.fixture
def terminal(monkeypatch):
    made = Terminal(40)
    monkeypatch.setenv("COLUMNS", str(made.columns))
    yield made
    made.close()


def command(*args, stdin=b"", out=None, err=None):
    """Run a command line here: its exit code, and the bytes it printed on stdout and stderr."""
    streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in "12"]
    before, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8")
    try:
        with redirect_stdout(out or streams[0]), redirect_stderr(err or streams[1]):
            code = run(args)
    finally:
        sys.stdin = before
    return code, *(stream.buffer.getvalue() for stream in streams)


COMMANDS = sorted(set(cli.commands) - {"completion", "tour"})
# A command line for each command that works on a notebook which has a note called `deploy`.
WORKS = {
    "doctor": ["doctor"],
    "verify": ["verify"],
    "remember": ["remember", "Deploys run on Mondays", "--name", "deploy"],
    "recall": ["recall", "deploys"],
    "list": ["list"],
    "show": ["show", "deploy"],
    "forget": ["forget", "deploy"],
    "preamble": ["preamble"],
    "status": ["status"],
    "edit": ["edit", "deploy"],
    "rename": ["rename", "deploy", "deploys"],
    "merge": ["merge", "deploy", "deploy"],
    "pin": ["pin", "deploy"],
    "unpin": ["unpin", "deploy"],
    "log": ["log"],
    "diff": ["diff"],
    "undo": ["undo"],
    "trace": ["trace"],
    "tools": ["tools"],
}
# What works on no notebook.
APART = {"completion", "tour"}


def test_each_command_is_tried_here():
    assert sorted({*WORKS, *APART}) == sorted(cli.commands)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_takes_a_directory_prints_json_and_helps(ana, monkeypatch, name):
    options = {option for param in cli.commands[name].params for option in param.opts}
    assert {"--json", "--dir"} <= options
    code, out, err = command(name, "--help")
    assert (code, err) == (0, b"")
    assert max(map(len, out.decode().split("\n"))) <= 80
    assert cli.commands[name].help.split("\n")[0].encode() in out
    assert all(param.help for param in cli.commands[name].params if isinstance(param, click.Option))
    monkeypatch.setenv("EDITOR", "true")
    command("remember", "Deploys run on Tuesdays", "--name", "deploy", "--dir", "there")
    code, out, err = command(*WORKS[name], "--json", "--dir", "there")
    assert (code, err) == (0, b"")
    assert out.isascii()
    said, named = json.loads(out), ANSWERS[name].split(";")[0]
    named = "outcome name" if name == "edit" else named  # nothing was changed
    assert set(said) == set((ANSWERS["remember"] if named.startswith("what remember") else named).split())
    assert not (ana / "memory" / "user").exists()


def test_the_command_knows_every_shape_tools_come_in():
    assert tuple(rendered) == notebook.SHAPES


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("word", ["off", "0", "False"])
def test_off_makes_every_command_a_silent_no_op(ana, monkeypatch, name, word):
    monkeypatch.setenv("COMMONPLACE", word)
    for extra in ([], ["--json"], ["--dir", "there"], ["--dir", ""]):
        assert command(*WORKS[name], *extra) == (0, b"", b"")
    assert list(ana.iterdir()) == []
    assert command(name, "--help")[1] != b""


CODES = [
    (["list"], 0), (["status"], 0), (["preamble"], 0), (["recall", "x"], 0), (["--help"], 0), (["--version"], 0),
    (["remember", "A fact of its own"], 0), (["remember", "A fact", "--name", "deploy", "--replace"], 0),
    (["remember", ""], 1), (["remember", "x" * 5000], 1), (["remember", "?"], 1),
    (["show", "blob"], 1), (["forget", "blob"], 1), (["list", "--dir", "file"], 1), (["list", "--dir", ""], 1),
    ([], 2), (["nonsense"], 2), (["list", "extra"], 2), (["list", "--nonsense"], 2), (["show"], 2), (["forget"], 2),
    (["show", "a", "b"], 2), (["recall"], 2), (["recall", "x", "--limit", "0"], 2), (["recall", "x", "--limit", "many"], 2),
    (["recall", "x", "--limit", "1001"], 2), (["list", "--kind", "wish"], 2), (["list", "--since", "soon"], 2),
    (["remember", "x", "--expires", "2026-02-30"], 2), (["remember", "x", "--name"], 2), (["preamble", "--tools", "x"], 2),
    (["remember", "x", "--kind", "wish"], 2), (["remember", "x", "--kind", "projct"], 2), (["remember", "x", "--name", ""], 2),
    (["show", ""], 2), (["show", " "], 2), (["forget", ""], 2), (["edit", ""], 2), (["pin", ""], 2), (["unpin", ""], 2),
    (["rename", "", "x"], 2), (["rename", "deploy", ""], 2), (["merge", "", "deploy"], 2), (["merge", "deploy", "deploy", ""], 2),
    (["diff", ""], 2), (["log", ""], 2), (["undo", ""], 2), (["undo", "--session", ""], 2), (["log", "--session", ""], 2),
    (["trace", ""], 2), (["undo", "--last", "0"], 2), (["undo", "deploy", "--last", "2"], 2), (["log", "--since", "soon"], 2),
    (["show", "no-such-note"], 3), (["forget", "no-such-note"], 3), (["show", "\0"], 3),
    (["remember", "Ana prefers tea", "--name", "deploy"], 4), (["remember", "Ana prefers tea", "--name", "DEPLOY"], 4),
]  # fmt: skip


def test_the_exit_code_says_how_it_went(ana):
    command("remember", "Deploys run on Tuesdays", "--name", "deploy")
    (ana / "file").touch()
    (ana / "memory" / "user" / "blob.md").write_bytes(b"a\0b")
    for args, expected in CODES:
        code, out, err = command(*args)
        assert code == expected, (args, out, err)
        assert b"Traceback" not in err
        assert err.strip() if code else True
        if code in (1, 3):
            assert err.startswith(b"commonplace: ")
        if code == 2 and args:
            assert b"--help' for help" in err


@pytest.mark.parametrize("args", [args for args, code in CODES if code == 2], ids=" ".join)
def test_wrong_usage_is_json_too_where_json_is_asked_for(ana, args):
    command("remember", "Deploys run on Tuesdays", "--name", "deploy")
    code, out, err = command(*args[:1], "--json", *args[1:])
    said = json.loads(out)
    assert (code, said["outcome"], said["error"]) == (2, "failed", "Misuse")
    assert set(said) == {"outcome", "error", "why", "did_you_mean"}
    assert said["why"] in " ".join(err.decode().split())


@pytest.mark.parametrize(
    ("args", "meant"),
    [
        (["remember", "x", "--kind", "projct"], ["project"]), (["list", "--kind", "sesion"], ["session"]),
        (["recall", "x", "--kind", "perference"], ["preference"]), (["list", "--kind", "foo"], []),
        (["remember", "x", "--kind", "other"], []), (["remembr", "x"], ["remember"]), (["list", "--kinds", "user"], ["--kind"]),
    ],
    ids=str,
)  # fmt: skip
def test_a_word_that_is_nearly_right_is_answered_by_the_one_that_was_meant(ana, args, meant):
    code, out, err = command(*args, "--json")
    assert code == 2
    assert json.loads(out)["did_you_mean"][: len(meant) or None] == meant
    assert all(word.encode() in err for word in meant)


def test_text_that_asks_for_json_does_not():
    assert command("remember", "--nonsense", "--", "--json")[:2] == (2, b"")


MEANT = {
    "recal": "recall", "rember": "remember", "remeber": "remember", "remembr": "remember", "lsit": "list", "shwo": "show", "forgt": "forget",
    "statsu": "status", "docter": "doctor", "delte": "forget", "ranme": "rename", "marge": "merge", "udno": "undo", "dif": "diff",
    "serach": "recall", "histroy": "log", "search": "recall", "find": "recall", "delete": "forget", "rm": "forget", "remove": "forget",
    "history": "log", "add": "remember", "save": "remember", "new": "remember", "ls": "list", "cat": "show", "view": "show", "read": "show",
    "mv": "rename",
}  # fmt: skip


@pytest.mark.parametrize(("word", "meant"), MEANT.items())
def test_a_command_there_is_not_brings_the_one_that_was_meant(ana, word, meant):
    code, out, err = command(word, "a fact", "deploy")
    assert (code, out) == (2, b"")
    assert f"No such command {word!r}.\ndid you mean {meant}?\n  commonplace {meant} 'a fact' deploy\n" in err.decode()
    assert f"did you mean {meant}?" in command("help", word)[2].decode()
    code, _, err = command(word, "--force", "deploy")
    assert (code, err.decode().endswith(f"did you mean {meant}?\n")) == (2, True)


def test_what_other_tools_call_a_thing_is_none_of_our_commands_and_names_one():
    assert not set(CALLED_ELSEWHERE) & set(cli.commands)
    assert set(CALLED_ELSEWHERE.values()) <= set(cli.commands)


def test_help_is_a_word_as_well_as_an_option(ana, monkeypatch):
    for name in cli.commands:
        assert command("help", name) == command(name, "--help")
    assert command("help") == command("--help")
    assert command("help", "no", "such")[0] == 2
    monkeypatch.setenv("COMMONPLACE", "off")
    assert command("help", "list") == command("list", "--help")
    assert command("search", "x") == (0, b"", b"")


@pytest.mark.parametrize(
    ("args", "meant"),
    [
        (["list", "--knd", "user"], "--kind"), (["recall", "x", "--sinse", "2026-01-01"], "--since"), (["remember", "x", "--nmae", "x"], "--name"),
        (["recall", "x", "--limt", "3"], "--limit"), (["doctor", "--fixx"], "--fix"), (["remember", "x", "--unpin"], "--pin or --no-pin"),
    ],
)  # fmt: skip
def test_an_option_there_is_not_brings_the_one_that_was_meant(ana, args, meant):
    code, _, err = command(*args)
    assert code == 2
    assert f"did you mean {meant}?" in err.decode(), err


def test_a_recall_that_finds_nothing_says_in_a_line_what_to_try(ana):
    command("remember", "Deploys run on Tuesdays", "--name", "deploy", "--tag", "ops")
    for args, said in (
        ([], "nothing found; try fewer"),
        (["--kind", "user"], "nothing found with --kind user; try without"),
        (["--kind", "user", "--tag", "ops", "-t", "a b", "--since", "2026-01-01"], "with --kind user --tag ops --tag a b --since 2026-01-01; try without"),
        (["--limit", "3"], "nothing found; try fewer"),
    ):  # fmt: skip
        code, out, err = command("recall", "zeppelin", *args)
        assert (code, out, err.count(b"\n")) == (0, b"", 1)
        assert said in err.decode()
        assert b"`commonplace list`" in err
    command("remember", "Deploys run on Tuesdays", "--dir", "there")
    assert b"`commonplace list --dir" in command("recall", "zeppelin", "--dir", "there")[2]


def test_answers_go_to_stdout_and_the_rest_to_stderr(ana):
    for args, out, err in (
        (["remember", "Deploys run on Tuesdays"], b"created", b"to take it back"),
        (["recall", "deploys"], b"deploys-run-on-tuesdays", b""),
        (["recall", "zebra"], b"", b"nothing found"),
        (["list", "--kind", "user"], b"", b"no notes like that"),
        (["forget", "deploys-run-on-tuesdays"], b"forgot", b"its last version is kept"),
        (["list"], b"", b"no notes in"),
    ):
        _, said, told = command(*args)
        assert (out in said, err in told) == (True, True), args
        assert bool(said) == bool(out)
        assert bool(told) == bool(err)


# --- what a hint says to type works ----------------------------------------------------------------------------


@pytest.mark.parametrize("where", [None, "plain", "with space", "o'brien", "größe", "$HOME;rm", '"quoted"'])
@pytest.mark.parametrize("text", ["A plain fact", "我们用 deploy.sh 部署", "🎉", "C++ rules"])
def test_the_command_a_hint_names_does_what_it_says(ana, where, text):
    at = [] if where is None else ["--dir", where]
    hint = command("remember", text, *at)[2].decode().split("to take it back: commonplace ")[1]
    assert len(open_memory(where).notes().notes) == 1
    assert command(*shlex.split(hint))[0] == 0
    assert open_memory(where).notes().notes == ()


def test_the_file_and_the_kept_version_a_save_names_are_there(ana):
    _, _, first = command("remember", "Deploys run on Tuesdays", "--name", "deploy")
    assert b"Tuesdays" in Path(first.decode().split("\n")[0]).read_bytes()
    _, _, second = command("remember", "Deploys run on Mondays", "--name", "deploy")
    assert b"commonplace undo deploy" in second
    _, out, _ = command("remember", "Deploys run on Fridays", "--name", "deploy", "--json")
    assert b"Mondays" in Path(json.loads(out)["kept"]).read_bytes()
    _, out, _ = command("forget", "deploy", "--json")
    assert b"Fridays" in Path(json.loads(out)["kept"]).read_bytes()


def ways(err):
    """The commands that are told, by what they are for."""
    lines = [line.partition("commonplace ") for line in err.decode().split("\n") if "commonplace " in line]
    return {before.strip(" :"): shlex.split(line) for before, _, line in lines if not before.startswith("commonplace:")}


def typed(words):
    """Type command lines that are joined as a shell joins them."""
    lines = shlex.join(words).replace("'&&'", "&&").split(" && commonplace ")
    assert all(command(*shlex.split(line))[0] == 0 for line in lines), words
    return len(lines)


TEXTS = [
    "Ana prefers tea, she said so",
    "-v is what Ana prefers",
    'Ana said: "it\'s tea", $HOME and `tea`',
    "日本語のお茶が好き",
    "x" * 301,
    "Ana said:\n\nTea.",
]


@pytest.mark.parametrize("where", [None, "o'brien there"])
@pytest.mark.parametrize("text", TEXTS)
def test_each_way_on_from_a_conflict_works_as_it_is_told(ana, where, text):
    at = [] if where is None else ["--dir", where]
    command("remember", "Deploys run on Tuesdays", "--name", "deploy", "--tag", "ops", *at)
    memory = open_memory(where)
    for expect in ([], ["--expect", "0" * 64]):
        code, _, err = command("remember", "--name", "deploy", "--kind", "user", *expect, *at, "--", text)
        told, again = ways(err), text.encode()
        assert (code, set(told)) == (4, {"to put yours in its place", "to keep both"})
        assert ("with the text again on stdin" in err.decode()) is (len(text) > 300 or "\n" in text)
        assert command(*told["to keep both"], stdin=again)[0] == 0
        assert memory.read("deploy").body == "Deploys run on Tuesdays"
        assert memory.read("deploy-2").body == text
        assert command(*told["to put yours in its place"], stdin=again)[0] == 0
        assert (memory.read("deploy").body, memory.read("deploy").kind, memory.read("deploy").tags) == (
            text,
            "user",
            ("ops",),
        )
        memory.forget("deploy-2")
        memory.save("Deploys run on Tuesdays", name="deploy", replace=True)
    code, _, err = command("remember", "--name", "gone", "--expect", "0" * 64, *at, "--", text)
    assert code == 4
    assert command(*ways(err)["to save it anew"], stdin=text.encode())[0] == 0
    assert memory.read("gone").body == text


def test_each_way_on_from_a_rename_to_a_name_that_is_taken_works_as_it_is_told(ana):
    for name in ("deploy", "deploy-2", "tea"):
        command("remember", f"The fact of {name}", "--name", name, "--dir", "the re")
    _, _, err = command("rename", "tea", "deploy", "--dir", "the re")
    told = ways(err)
    assert command(*told["to take another name"])[0] == 0
    assert open_memory("the re").read("deploy-3").body == "The fact of tea"
    command("rename", "deploy-3", "tea", "--dir", "the re")
    assert command(*told["to put the two together"])[0] == 0
    assert open_memory("the re").read("deploy").body == "The fact of deploy\n\nThe fact of tea"


@pytest.mark.parametrize("where", [None, "o'brien there"])
@pytest.mark.parametrize("more", ["Say so.", 'Say "it\'s tea", $HOME and `tea`.', "x" * 301, "\n\n- tea\n- $HOME"])
def test_a_note_that_begins_like_another_can_become_its_correction_by_the_command_that_is_told(ana, where, more):
    at = [] if where is None else ["--dir", where]
    memory = open_memory(where)
    command("remember", "Ana prefers tea.", *at)
    assert "begins the same" not in command("remember", "Ana prefers tea.", *at)[2].decode()
    text = f"Ana prefers tea. {more}".strip()
    err = command("remember", text, *at)[2]
    assert "commonplace: ana-prefers-tea begins the same; if this corrects it:" in err.decode()
    assert typed(ways(err)[""]) in (1, 2)
    assert [(note.name, note.body) for note in memory.notes().notes] == [
        ("ana-prefers-tea", memory.read("ana-prefers-tea").body)
    ]
    assert memory.read("ana-prefers-tea").body.split() == text.split()


def test_a_secret_is_gone_for_good_after_what_the_help_of_forget_says(ana):
    secret = b"sk-abcd1234XYZ"

    def holding():
        return {path.parent for path in ana.rglob("*") if path.is_file() and secret in path.read_bytes()}

    def finished(*args):
        subprocess.run([*COMMONPLACE, *args], capture_output=True, timeout=30, check=True)

    for text in ("The key is {}", "The key is {}, ask Ana"):
        finished("remember", text.format(secret.decode()), "--name", "key")
    finished("recall", secret.decode())
    assert ".commonplace/history" in " ".join(command("forget", "--help")[1].decode().split())
    finished("forget", "key")
    assert holding() == {ana / "memory/user/.commonplace/history/key"}
    shutil.rmtree(ana / "memory/user/.commonplace/history/key")
    finished("list")
    assert holding() == set()


def test_a_note_says_in_which_session_it_was_written(ana):
    open_memory().save("Ana prefers tea.", name="tea", call=Call("agent", "2026-05-15-08h00-a1b2"))
    assert b"by agent, in session 2026-05-15-08h00-a1b2, updated" in command("show", "tea")[1]


# --- nothing moves a terminal ----------------------------------------------------------------------------------

ESCAPES = [
    "\x1b[2J", "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "\x1bP1$r\x1b\\", "\x1bc", "\x1b",
    "\x9b31m", "\x9d0;t\x9c", "\x90q\x9c", "\x84\x85\x88", "\x07", "\x08\x08", "\r", "\rcommonplace: fine", "\x0b\x0c", "\x7f", "\x00",
    "\u202e", "\u202edrow\u202c", "\u2066x\u2069", "\u200b\u200d\ufeff", "\u2028", "\u2029", "\U000e0041\U000e0042", "\xad", "\u061c",
    "a\x1b[1A\x1b[2K", "x\ny", "x\r\ny", "\ud83c", "\ufff9\ufffb", "\U0001f3f4\U000e0067\U000e007f", "\x1b[", "\x1b]", "\x9b", "\x18\x1a",
]  # fmt: skip
MOVES = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff\ud800-\udfff]"
)


def quiet(*said):
    return not any(MOVES.search(text.decode()) for text in said)


@pytest.mark.promise
def test_no_argument_reaches_a_screen_raw(ana, tally, scale):
    command("remember", "Deploys run on Tuesdays", "--name", "deploy")
    together = scale(3, 1)
    for number in range(0, len(ESCAPES), together):
        escape = "-".join(ESCAPES[number : number + together])
        word = f"a{escape}b"
        for args in (
            ["remember", word], ["remember", f"{word} fact", "--name", word], ["remember", "x", "--kind", word],
            ["remember", "A fact", "--description", word, "--tag", word, "--name", "deploy"],
            ["remember", "Ana prefers tea", "--name", "deploy", "--supersedes", word], ["remember", "x", "--expires", word],
            ["recall", word], ["recall", "x", "--limit", word], ["list", "--since", word], ["list", "--kind", word],
            ["list", "--tag", word], ["show", word], ["forget", word], ["preamble", "--tools", word], [word], [f"--{word}"],
            ["list", f"--{word}"], ["list", "--dir", word], ["status", "--dir", word], ["show", "x", "--dir", word],
            ["rename", word, "x"], ["rename", "deploy", word], ["merge", "deploy", word], ["merge", word, "deploy"],
            ["merge", "deploy", "deploy", "--text", word], ["pin", word], ["unpin", word], ["edit", word], ["log", word],
            ["log", "--session", word], ["diff", word], ["diff", "--at", word], ["undo", word], ["undo", "--session", word],
            ["undo", "--at", word], ["trace", word], ["recall", "x", "--session", word], ["trace"], ["log"],
            ["tools", "--format", word], ["completion", word], ["undo"], ["diff"],
        ):  # fmt: skip
            with tally("R19", (escape, *args[:2])):
                code, out, err = command(*args)
                assert quiet(out, err), (out, err)
                assert code in (0, 1, 2, 3, 4)


@pytest.mark.promise
def test_no_file_reaches_a_screen_raw(ana, tally, monkeypatch):
    book = ana / "memory" / "user"
    (book / "sessions").mkdir(parents=True)
    names = []
    for number, escape in enumerate(ESCAPES):
        text = f"say{escape}so"
        header = f"---\nname: {text}\ntitle: {text}\ndescription: {text}\ntype: {text}\ntags: [{text}]\nsupersedes: [{text}]\n---\n"
        (book / f"plain-{number}.md").write_bytes(f"{header}{text}\n".encode("utf-8", "replace"))
        names.append(f"plain-{number}")
        with suppress(OSError, ValueError):  # what the disk will not have as a name
            name = f"odd-{number}-{escape}-x"
            (book / f"{name}.md").write_bytes(f"{text} {number}\n".encode("utf-8", "replace"))
            names.append(name)
        with suppress(OSError, ValueError):
            (book / f"odd-{number}-{escape}.sync-conflict-20260515-080000.md").write_text("x")
            (book / f"dir-{number}-{escape}").mkdir()
            (book / f"dir-{number}-{escape}.md").mkdir()
    assert len(names) > 1.5 * len(ESCAPES)
    lines = [["list"], ["status"], ["preamble"], ["recall", "say so plain odd", "--limit", "1000"], ["list", "--json"]]
    memory = open_memory()
    for note in memory.notes().notes[:20]:  # what was done here, by callers of any name
        found = memory.find(note.name).note
        memory.keep(replace(found, pinned=True), expect=found.stamp, call=Call("agent", ESCAPES[0], actor=ESCAPES[1]))
    lines += [["doctor"], ["log", "--limit", "1000"], ["diff"], ["log", "--json"]]
    lines += [[word, name] for word in ("diff", "log", "edit", "pin", "unpin", "undo") for name in names[::5]]
    lines += [["rename", name, f"{name} anew"] for name in names[::7]]
    monkeypatch.setenv("EDITOR", "true")
    for args in (*lines, *(["show", name] for name in names), *(["show", name, "--json"] for name in names[:5])):
        with tally("R19", args):
            _, out, err = command(*args)
            assert quiet(out, err), (out, err)
    out = command("list")[1].decode()
    assert len([line for line in out.split("\n") if line.startswith("  ")]) == len(open_memory().notes().notes)
    assert b"\ncommonplace: fine" not in command("list")[2]


def test_a_listed_note_can_be_shown_by_the_name_a_person_sees(ana):
    book = ana / "memory" / "user"
    book.mkdir(parents=True)
    for name in ("my \u202enote", "zero\u200bwidth", "Größe", "with space", "a'b", "x" * 200):
        (book / f"{name}.md").write_text(f"The text of {len(name)}.\n")
        seen = command("list")[1].decode().split("\n")[1].strip().partition(":")[0]
        assert command("show", seen)[0] == 0, (name, seen)
        (book / f"{name}.md").unlink()


@pytest.fixture(params=[("UTC0", 0), ("NPT-5:45", 5.75), ("HST10", -10)], ids=lambda zone: zone[0])
def hours(request, monkeypatch):
    """By how many hours the clock on the wall is ahead of UTC."""
    monkeypatch.setenv("TZ", request.param[0])
    time.tzset()
    yield request.param[1]
    monkeypatch.undo()
    time.tzset()


def test_times_are_told_by_the_clock_on_the_wall_and_in_json_with_their_offset(ana, hours):
    command("remember", "Deploys run on Tuesdays")
    command("recall", "deploys", "--session", "s")
    now = datetime.now(UTC).replace(tzinfo=None)
    for args, listed in ((["log"], "changes"), (["trace", "s"], "given")):
        shown = datetime.fromisoformat(command(*args)[1].decode()[:19])
        assert abs(now + timedelta(hours=hours) - shown) < timedelta(minutes=5)
        said = datetime.fromisoformat(json.loads(command(*args, "--json")[1])[listed][0]["at"])
        assert said.tzinfo is not None
        assert abs(now - said.astimezone(UTC).replace(tzinfo=None)) < timedelta(minutes=5)


@pytest.mark.parametrize("at", ["long ago", "", "0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59", "2026-05-15"])
def test_a_time_no_clock_tells_is_printed_as_it_stands(at):
    assert local(at) in (at, "2026-05-15 00:00:00")


# --- what a session was given ----------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [0, 1, 3, 300])
@pytest.mark.parametrize("tools", ["full", "none"])
def test_a_trace_of_a_preamble_names_the_notes_that_stand_in_it_and_no_others(ana, count, tools):
    memory = open_memory()
    for number in range(count):
        memory.save("It is so.", name=f"fact {number}", description=f"{number} is a fact of its own, " + "and so " * 15)
    for number in range(min(count, 7)):
        memory.save("It was done.", name=f"2026-05-1{number}-08h00-a1b2", kind="session")
    text = command("preamble", "--session", "s1", "--tools", tools)[1].decode()
    [given] = json.loads(command("trace", "s1", "--json")[1])["given"]
    shown = re.findall(r"^- \[.*?\]\((?:sessions/)?([^)]*)\.md\)", text, re.MULTILINE)
    assert given["names"] == shown
    assert given["bytes"] == len(text.encode())
    assert len(shown) == {0: 0, 1: 2, 3: 6}.get(count, len(shown))
    if count == 300:
        assert 50 < len(shown) < len(memory.listing().shown) + 5, "the block has less room than the index alone"


# --- on a terminal, and on none --------------------------------------------------------------------------------


def test_lines_fit_the_terminal_and_a_pipe_gets_one_for_each_note(ana, terminal):
    texts = [
        "The build is slow on Mondays, because the cache is cold after a weekend",
        "x" * 100,
        "部署" * 40,
        "🎉 " * 30 + "party",
    ]
    for number, text in enumerate(texts):
        command("remember", text, "--name", f"note-{number}")
    for args in (
        ["list"],
        ["recall", "build slow party 部署 " + "x" * 100],
        *(["show", f"note-{n}"] for n in range(4)),
    ):
        code, _, _ = command(*args, out=terminal.stream, err=terminal.stream)
        assert code == 0
        for line in terminal.read().split("\n"):
            assert width(line) <= 40 or " " not in line.strip(), line
    assert command("list")[1].decode().count("\n") == 1 + len(texts)
    assert "weekend" in command("list")[1].decode()


def width(line):
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in line)


def test_no_word_is_cut_in_two_and_none_is_lost_where_lines_are_folded(ana, terminal):
    body = (
        "We deploy with ./deploy.sh, which refuses a dirty tree; ask `commonplace recall deploys` first.\n\n"
        "- The first of two points, which goes on for longer than a line\n  - one below it that does so as well, by far\n"
        "12. 部署は火曜日と木曜日に行います。詳しくは手順書を参照してください（社内）。\n\n"
        "```\nmake deploy  TARGET=production REGION=eu-central-1 DRY_RUN=no\n```\n\n| a | b |\n|---|---|\n"
        "    indented code that goes on for longer than the line of a terminal"
    )
    command("remember", body, "--name", "deploy")
    command("show", "deploy", out=terminal.stream)
    out = terminal.read()
    for line in out.split("\n"):
        assert width(line) <= 40 or line.startswith(("make deploy", "    indented")), line
        assert not line.startswith(("、", "。", "）", " which"))
    assert "".join(out.split()).endswith("".join(body.split()))
    assert "`commonplace recall deploys`" in out
    assert "\n  for longer than a line\n" in out
    assert "\n    by far\n" in out
    assert body in command("show", "deploy")[1].decode()


def test_a_listed_name_is_never_cut_and_what_it_is_stands_below_where_there_is_no_room(ana, terminal):
    long = "a-name-as-long-as-people-make-them-up-when-they-are-asked"
    for name in (long, "部署手順と注意事項のまとめ", "short"):
        command("remember", f"The fact of {name}, which goes on", "--name", name, "--pin")
    command("list", out=terminal.stream)
    assert terminal.read().split("\n") == [
        "Project", f"  {long} (pinned):", "    The fact of a-name-as-long-as-peopl…", "  short (pinned): The fact of short, wh…",
        "  部署手順と注意事項のまとめ (pinned):", "    The fact of 部署手順と注意事項のま…", "",
    ]  # fmt: skip


def test_a_list_that_is_longer_than_the_screen_says_how_long_and_how_to_see_less(ana, terminal, monkeypatch):
    monkeypatch.setenv("LINES", "10")
    for number in range(11):
        open_memory().save("It is so.", name=f"fact {number}", kind="user" if number else "project")
    assert command("list", out=terminal.stream)[2] == b"11 notes; --kind, --tag and --since show fewer\n"
    assert command("list")[2] == b""


def test_a_recall_in_an_empty_notebook_says_that_it_is_empty(ana):
    for args in ([], ["--kind", "user"]):
        assert b"no notes in" in command("recall", "zeppelin", *args)[2]
    command("remember", "Ana prefers tea", "--kind", "user")
    assert b"nothing found with --kind feedback; try without" in command("recall", "tea", "-k", "feedback")[2]


def test_a_line_that_is_cut_keeps_as_much_as_fits(ana, terminal):
    for text in ("x" * 200, "部署" * 100, "Deploys run on Tuesdays, " * 9):
        command("remember", text, "--name", "deploy", "--replace")
        for args, begins in ((["list"], "  deploy: "), (["log"], "20")):
            command(*args, out=terminal.stream, err=terminal.stream)
            line = next(line for line in terminal.read().split("\n") if line.startswith(begins))
            wide = sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in line)
            assert terminal.columns - 2 <= wide <= terminal.columns, line
            assert line.endswith("…")


def test_a_draft_that_was_overtaken_asks_before_it_replaces(ana, monkeypatch):
    command("remember", "Ana prefers tea", "--name", "drinks")
    monkeypatch.setenv("EDITOR", "sed -i s/^updated:.*/updated:soon/")
    assert command("edit", "drinks")[0] == 1
    command("remember", "Ana prefers coffee", "--name", "drinks", "--replace")
    monkeypatch.setenv("EDITOR", "sed -i s/^updated:.*/updated:2026-01-01/")
    assert command("edit", "drinks")[0] == 4
    assert open_memory().read("drinks").body == "Ana prefers coffee"
    monkeypatch.setenv("EDITOR", "true")
    assert command("edit", "drinks")[0] == 0
    assert open_memory().read("drinks").body == "Ana prefers tea"


@pytest.mark.parametrize("no_color", [None, "1", ""])
def test_no_colour_is_ever_used(ana, terminal, monkeypatch, no_color):
    if no_color is not None:
        monkeypatch.setenv("NO_COLOR", no_color)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("FORCE_COLOR", "1")
    command("remember", "Deploys run on Tuesdays", "--name", "deploy", out=terminal.stream, err=terminal.stream)
    for args in (*WORKS.values(), ["--help"], ["nonsense"], ["list", "--nonsense"], []):
        command(*args, out=terminal.stream, err=terminal.stream)
    assert "\x1b" not in terminal.read()


WHO = [
    ({}, True, True, "person"),
    ({}, False, True, "agent"),
    ({}, True, False, "agent"),
    ({}, False, False, "agent"),
    *[({name: "1"}, True, True, "agent") for name in AGENT_SHELLS],
    ({"CLAUDECODE": ""}, True, True, "person"),
]


@pytest.mark.parametrize(("env", "typed", "seen", "who"), WHO)
def test_a_person_is_who_types_at_a_terminal_with_no_agent_around(ana, terminal, monkeypatch, env, typed, seen, who):
    pipe = io.StringIO()
    monkeypatch.setattr(sys, "stdin", terminal.keys if typed else pipe)
    with redirect_stderr(terminal.stream if seen else pipe):
        assert caller(read_settings(None, env)).origin == who
    monkeypatch.setattr(sys, "stdin", None)
    assert caller(read_settings(None, env)).origin == "agent"


MINE = [
    ({}, False, True, "person"), ({}, True, True, "person"), ({}, False, False, None), ({}, True, False, None),
    *[({name: "1"}, False, True, None) for name in AGENT_SHELLS],
]  # fmt: skip


@pytest.mark.parametrize(("env", "typed", "seen", "who"), MINE)
def test_a_pipe_is_a_persons_word_only_where_they_say_so_at_a_terminal(
    ana, terminal, monkeypatch, env, typed, seen, who
):
    pipe = io.StringIO()
    monkeypatch.setattr(sys, "stdin", terminal.keys if typed else pipe)
    with redirect_stderr(terminal.stream if seen else pipe):
        if who:
            assert caller(read_settings(None, env), mine=True).origin == who
        else:
            with pytest.raises(Misuse, match="at a terminal"):
                caller(read_settings(None, env), mine=True)


def test_a_save_says_whose_word_it_is_where_it_is_not_the_persons(ana, terminal):
    for args, said, by in (
        (["remember", "-", "--name", "piped"], "created piped (project, by agent): A fact", "agent"),
        (["remember", "-", "--name", "piped", "--tag", "x"], "updated piped (project, by agent): A fact", "agent"),
        (["remember", "-", "--name", "mine", "--mine"], "created mine (project): A fact", "person"),
        (["remember", "-", "--name", "mine", "--mine"], "unchanged mine (project): A fact", ""),
    ):
        out = command(*args, stdin=b"A fact", err=terminal.stream)[1]
        assert out.decode() == said + "\n"
        assert ("--mine makes it yours" in " ".join(terminal.read().split())) is (by == "agent")
        assert open_memory().find(args[3]).author() == (by or "person")
    done = command("remember", "Another", "--json")
    assert json.loads(done[1])["by"] == "agent"
    assert done[2] == b"", "nobody reads it"
    assert command("remember", "-", "--mine", stdin=b"A fact")[0] == 2
    assert len(open_memory().notes().notes) == 3


def test_whatever_comes_on_stdin_is_saved_refused_or_called_wrong(ana, scale):
    dice = random.Random(15)
    for _ in range(scale(60, 2000)):
        raw = dice.choice([dice.randbytes(dice.randrange(200)), bytes(dice.choices(b"ab \n\0\xff\xc3\xa9-", k=30)), b"x" * dice.choice([4096, 4097, 65536, 70000])])  # fmt: skip
        code, out, err = command("remember", "-", stdin=raw)
        assert code in (0, 1, 2)
        assert quiet(out, err)
    for note in open_memory().notes().notes:
        note.body.encode()


# --- real processes --------------------------------------------------------------------------------------------

COMMONPLACE = [sys.executable, "-m", "commonplace"]


def started(*args, **given):
    return subprocess.Popen([*COMMONPLACE, *args], **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **given})


def test_a_person_at_a_real_terminal_is_one(ana):
    ours, theirs = os.openpty()
    try:
        done = subprocess.run([*COMMONPLACE, "remember", "Ana said so herself"], stdin=theirs, stdout=theirs, stderr=theirs, timeout=30, check=True)  # fmt: skip
        assert done.returncode == 0
        assert b"created ana-said-so-herself" in os.read(ours, 65536)
    finally:
        os.close(ours)
        os.close(theirs)
    assert open_memory().recall("herself").hits[0].trust == "person"


@pytest.mark.parametrize("args", [["list"], ["list", "--json"], ["recall", "fact", "--limit", "1000"]])
def test_a_reader_that_leaves_early_is_no_error(ana, args):
    book = ana / "memory" / "user"
    book.mkdir(parents=True)
    for number in range(900):
        (book / f"fact-{number:03}-{'x' * 60}.md").write_text(f"Fact number {number} is so{' and so' * 12}.\n")
    process = started(*args)
    assert process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(30) == 0


@pytest.mark.timeout(300)
@pytest.mark.parametrize("act", [["remember", "The fact e", "--name", "e"], ["rename", "b", "zed"]], ids=" ".join)
def test_of_many_who_undo_at_once_each_takes_back_one_act_or_is_told_of_another(ana, act):
    for args in (["The fact b", "--name", "b"], ["See [[b]]", "--name", "a"]):
        command("remember", *args)
    command(*act)
    ended = [(*process.communicate(timeout=200), process.returncode) for process in [started("undo") for _ in range(6)]]
    assert {code for _, _, code in ended} <= {0, 4}
    for out, err, code in ended:
        if code:
            assert (out, err) == (b"", b"commonplace: nothing was changed: another process changed things just now; look at `commonplace log`, then undo again\n")  # fmt: skip
        else:
            assert b"took away" in out or b"brought back" in out
            assert b"nothing to take back" not in err
    undone = sum(code == 0 for _, _, code in ended) % 2 == 1
    names = {note.name for note in open_memory().notes().notes}
    assert names == ({"a", "b"} if undone else {"a", "b", "e"} if act[0] == "remember" else {"a", "zed"})


@pytest.mark.parametrize(
    ("args", "file"),
    [(["pin", "deploy"], "deploy.md"), (["rename", "deploy", "zed"], "zed.md")],
    ids=lambda word: word[0],
)
@pytest.mark.parametrize("as_json", [[], ["--json"]], ids=["", "json"])
def test_a_command_that_somebody_was_quicker_than_ends_with_a_conflict(ana, args, file, as_json):
    """The writers' lock is held until the command waits for it with what it has read; meanwhile the file changes."""
    command("remember", "Deploys run on Tuesdays", "--name", "deploy")
    book = ana / "memory" / "user"
    with open(book / ".commonplace" / "lock", "ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        process = started(*args, *as_json)
        wait_for_the_lock(process, book)
        (book / file).write_text("What somebody typed meanwhile.\n")
    out, err = process.communicate(timeout=30)
    assert process.returncode == 4
    assert err.startswith(b"commonplace: nothing was changed: another ")
    if as_json:
        assert {key: json.loads(out)[key] for key in ("outcome", "name")} == {"outcome": "conflict", "name": file[:-3]}
        assert json.loads(out)["theirs"]["body"] == "What somebody typed meanwhile."
    assert sorted(note.body for note in open_memory().notes().notes)[-1] == "What somebody typed meanwhile."


def wait_for_the_lock(process, book):
    """Wait until a process waits for the writers' lock; where a system does not tell, for longer than it takes."""
    lock, began, seen = os.path.realpath(book / ".commonplace" / "lock"), time.monotonic(), 0
    folder = f"/proc/{process.pid}/fd"
    while seen < 10 and time.monotonic() < began + (20 if os.path.exists("/proc/self/fd") else 3):
        try:
            held = lock in [os.readlink(os.path.join(folder, fd)) for fd in os.listdir(folder)]
        except OSError:
            held = False
        seen = seen + 1 if held else 0  # once or twice: it only looked whether the lock is free
        time.sleep(0.01)


def test_ctrl_c_ends_it_without_a_traceback(ana):
    process = started("remember", "-", stdin=subprocess.PIPE)
    process.stdin.write(b"half a fa")
    process.stdin.flush()
    deadline = time.monotonic() + 20
    while array_waiting(process.stdin) and time.monotonic() < deadline:  # until it reads: then it is under way
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert (out, err.strip()) == (b"", b"")
    assert not (ana / "memory").exists()


def array_waiting(pipe):
    """How many bytes of a pipe nobody has read yet."""
    waiting = bytearray(4)
    fcntl.ioctl(pipe, termios.FIONREAD, waiting)
    return int.from_bytes(waiting, sys.byteorder)


def test_a_full_disk_behind_stdout_is_told(ana):
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    command("remember", "Deploys run on Tuesdays")
    with open("/dev/full", "wb") as full:
        done = started("list", stdout=full)
        err = done.communicate(timeout=30)[1]
    assert done.returncode == 1
    assert err == b"commonplace: the answer could not be written: No space left on device\n"


def test_with_every_stream_closed_a_save_is_a_save_and_no_file_gets_what_was_meant_for_one(ana):
    script = f"exec {shlex.quote(sys.executable)} -m commonplace remember 'A fact for nobody to hear' <&- >&- 2>&-"
    assert subprocess.run(["sh", "-c", script], timeout=30, check=False).returncode == 0
    for path in (ana / "memory").rglob("*"):
        if path.is_file():
            assert b"created a-fact" not in path.read_bytes()
            assert b"to take it back" not in path.read_bytes()
    assert [note.name for note in open_memory().notes().notes] == ["a-fact-for-nobody-to-hear"]
    assert open_memory().notes().problems == ()


def test_bytes_that_are_no_text_are_refused_as_text_and_taken_as_a_path(ana):
    where = os.fsencode(ana) + b"/caf\xe9"
    done = subprocess.run([*COMMONPLACE, "remember", b"caf\xe9", "--dir", where], capture_output=True, timeout=30, check=False)  # fmt: skip
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.startswith(b"commonplace: not saved (not-text)")
    done = subprocess.run([*COMMONPLACE, "remember", "A fact", "--dir", where, "--json"], capture_output=True, timeout=30, check=False)  # fmt: skip
    assert done.returncode == 0
    assert os.path.exists(json.loads(done.stdout)["file"])
    assert os.listdir(where) != []
