"""`make run`, and `commonplace tour`: two processes in a throwaway home. The first learns, the second answers from it.

With the `anthropic` package each is a session of a small agent, with a model that plays from a script, or a real one
if a key is set; without it they use the memory alone. It shows what stays on the disk and what to type next, and
touches no notes of yours.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from io import TextIOWrapper
from textwrap import wrap
from typing import TYPE_CHECKING

from commonplace.errors import CommonplaceError
from commonplace.open import open_memory
from commonplace.outcomes import Saved
from commonplace.settings import read_settings, switched_off
from commonplace.testing.player import MODEL, SERVER

if TYPE_CHECKING:
    from commonplace.testing.scripted import ScriptedModel

# Lines fit a terminal of this width, or the one there is. Narrower than the least, nothing helps.
WIDTH, LEAST = 79, 40
FACT = """We deploy with ./deploy.sh, which refuses a dirty tree.

**Why:** a half-committed deploy took the site down on 2026-04-02.
**How to apply:** commit or stash first, then run it; a release is cut no other way."""
LEARN = "remember that we deploy this project with ./deploy.sh, which refuses to run unless the git tree is clean"
RELEASE = "how do I cut a release here?"
KEY = "ANTHROPIC_API_KEY"
PERSON = "Ana knows Go well and Python little; explain Python by comparing it with Go."
QUESTION = "how do I cut a release here, what does deploy need"
# What each entry of a home is for, in the order the demo shows them.
_ENTRIES = {
    "MEMORY.md": "the index, made from the notes",
    ".commonplace": "lock, log, earlier versions",
    "cache": "for speed only; may be deleted",
}
_A_NOTE = "a note; edit it with any tool"
_SELF, _PLAYER = "commonplace.testing.demo", "commonplace.testing.player"
_PATIENCE = 60.0
_ENDED = 130


def main() -> int:
    """Play the demo, or one of its two processes, and answer the exit code."""
    parser = argparse.ArgumentParser(prog="python -m commonplace.testing.demo", description=__doc__.split("\n")[0])
    parser.add_argument("--keep", action="store_true", help="leave the throwaway home where it is")
    parser.add_argument("--alone", action="store_true", help="the memory alone, without an agent around it")
    parser.add_argument("--question", default=QUESTION, metavar="TEXT", help="what the second process is asked")
    parser.add_argument("part", nargs="?", choices=("learn", "answer"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without the letters of a question shows it all the same
    if given.part:
        return _learn() if given.part == "learn" else _answer(given.question)
    home = os.path.realpath(tempfile.mkdtemp(prefix="commonplace-demo-"))
    try:
        code = _play(home, given.question, keep=given.keep, alone=given.alone)
        sys.stdout.flush()
        return code
    except (KeyboardInterrupt, BrokenPipeError):  # whoever watched has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _ENDED
    finally:
        if not given.keep:
            shutil.rmtree(home)


# --- the two processes ---------------------------------------------------------------------------------------


def _learn() -> int:
    """The first process: save two notes."""
    memory = open_memory()
    for text, kind in ((FACT, "project"), (PERSON, "user")):
        outcome = memory.save(text, kind=kind)
        if not isinstance(outcome, Saved):
            print(f"not saved: {outcome.why}", file=sys.stderr)
            return 1
        print(f"saved   {outcome.name}  ({outcome.note.kind})\n        {outcome.note.description}")
    print(f"process {os.getpid()} exits")
    return 0


def _answer(question: str) -> int:
    """The second process: it has the question and the notebook, nothing else."""
    memory = open_memory()
    found = memory.recall(question)
    print(f"asked   {question}")
    if not found.hits:
        print("found   nothing")
        return 1
    best = found.hits[0]
    print(f"found   {best.name}  ({best.kind}, {best.age}, by {best.trust})")
    print(f"because {', '.join(best.reasons)}")
    print(f"it says\n\n{memory.read(best.name).body}\n")
    print(f"process {os.getpid()} exits; finding it took {found.took_ms:.1f} ms")
    return 0


# --- the play ------------------------------------------------------------------------------------------------


def _play(home: str, question: str, *, keep: bool, alone: bool) -> int:
    print("Commonplace: two processes, one memory")
    failed = _alone(home, question) if alone or not find_spec("anthropic") else _with_agents(home)
    if failed:
        return _failed(failed)
    user = os.path.join(home, "user")
    _head(3, f"What is left on the disk, in {home}")
    for line in _tree(home):
        print(f"   {line}")
    note = next(name for name in sorted(os.listdir(user)) if "deploy" in name)
    _head(4, f"One note as it lies there: user/{note}")
    _show(_text(os.path.join(user, note)))
    _head(5, "The index beside the notes: user/MEMORY.md (long lines are folded here)")
    _show(_text(os.path.join(user, "MEMORY.md")))
    _head(6, "What an agent's system prompt gets: the preamble")
    _show(open_memory(settings=read_settings(user, {"COMMONPLACE_HOME": home})).preamble())
    _next(home, keep=keep)
    return 0


def _alone(home: str, question: str) -> str:
    """The two processes without an agent around them. Answers what failed, or ''."""
    _say(
        "This is the memory alone: no model, no key, no network. It plays in a throwaway home and reads no notes of yours. "
        "With an agent around it: pip install anthropic"
    )
    _head(1, "A first process learns two things, saves them and exits")
    if _child(home, _SELF, "learn"):
        return "the first process could not save"
    _head(2, "A second process, started fresh, is asked a question")
    if _child(home, _SELF, "answer", "--question", question):
        return "the second process did not find what the first saved"
    return ""


def _with_agents(home: str) -> str:
    """Two sessions of a small agent, each a process of its own. Answers what failed, or ''."""
    if os.environ.get(KEY):
        _say(
            f"A small agent with the model {MODEL}, since {KEY} is set. It plays in a throwaway home and reads no notes of yours."
        )
        return _sessions(home, "")
    from commonplace.testing.servers import AnthropicServer

    _say(
        "A small agent with the real Anthropic SDK, and a model on this machine that plays from a script: no key, no "
        f"network. (With {KEY} set, a real one.) It plays in a throwaway home and reads no notes of yours."
    )
    with AnthropicServer(script()) as server:
        return _sessions(home, server.base_url)


def _sessions(home: str, server: str) -> str:
    _head(1, "Session one learns something, and its process exits")
    _show(f"you     {LEARN}\n")
    if _child(home, _PLAYER, LEARN, server=server):
        return "the first session could not save"
    _head(2, "Session two, a process with an empty transcript, is asked something else")
    _show(f"you     {RELEASE}\n")
    if _child(home, _PLAYER, RELEASE, server=server):
        return "the second session did not answer"
    memory = open_memory(settings=read_settings(env={"COMMONPLACE_HOME": home}))
    found = memory.recall(RELEASE + " deploy script")
    for hit in found.hits[:1]:
        _say(f"Recall found {hit.name} by: {', '.join(hit.reasons)}; it took {found.took_ms:.1f} ms.")
    return "" if found.hits else "nothing of what was saved can be recalled"


def script() -> ScriptedModel:
    """What the scripted model does: it saves the fact, and in the other session looks for it and answers from it."""
    from commonplace.testing.scripted import Reply, ScriptedModel, When, call

    asked = "cut a release, deploy script"
    return ScriptedModel(
        When(lambda now: LEARN in now.said, Reply(calls=(call("memory_write", text=FACT, name="Deploy with deploy.sh"),))),
        When(lambda now: "created" in now.result, "Saved. In a later session I will know that deploys go through ./deploy.sh."),
        When(lambda now: RELEASE in now.said, Reply(calls=(call("memory_search", query=asked),))),
        lambda now: "One thing from an earlier session applies: " + (
            "deploys run through ./deploy.sh, and it refuses a dirty tree, so commit or stash first "
            "(memory: deploy-with-deploy-sh)." if "dirty tree" in now.result else "nothing, my memory does not tell."
        ),
    )  # fmt: skip


def _child(home: str, *command: str, server: str = "") -> int:
    """Run one of the two processes for real, and show what it says. Whatever else it knows comes from the home."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("COMMONPLACE", "MEMORY_DIR"))}
    env |= {"COMMONPLACE_HOME": home}
    if server:  # on this machine, which no proxy knows
        env |= {SERVER: server, "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}
    done = subprocess.run(
        [sys.executable, "-m", *command], env=env, capture_output=True, text=True, timeout=_PATIENCE, check=False
    )
    _show(done.stdout + done.stderr)
    return done.returncode


def _tree(home: str) -> list[str]:
    """The home as a small tree, each entry with what it is for."""
    user = os.path.join(home, "user")
    notes = sorted(name for name in os.listdir(user) if name not in _ENTRIES)
    out = [("user/", "")]
    for name in (*notes, "MEMORY.md", ".commonplace"):
        inner = sorted(os.listdir(os.path.join(user, name))) if os.path.isdir(os.path.join(user, name)) else []
        out.append((f"  {name}/" if inner else f"  {name}", _ENTRIES.get(name, _A_NOTE)))
    out.append(("cache/", _ENTRIES["cache"]))
    widest = max(len(entry) for entry, _ in out) + 2
    fits = 3 + widest + max(len(what) for _, what in out) <= _width()
    return [f"{entry:<{widest}}{what}".rstrip() if fits else entry for entry, what in out]


def _next(home: str, *, keep: bool) -> None:
    command = _command()
    _head(7, "What to type next")
    for words in (
        'remember "we deploy with ./deploy.sh, which refuses a dirty tree"',
        'recall "what does deploy need"',
        "list",
        "preamble",
        "--help",
    ):
        print(f"   {command} {words}")
    print()
    _say(_yours())
    if keep:
        _say("The home of this demo is kept. To look around in it, then remove it:")
        print(f"   {command} list --dir {shlex.quote(os.path.join(home, 'user'))}\n   rm -r {shlex.quote(home)}")
    else:
        _say("The home of this demo is removed again; --keep leaves it.")


def _yours() -> str:
    try:
        where = f"Those use your own notebook, {read_settings().notebook}."
    except CommonplaceError as problem:
        return f"Before they work: {problem}."
    return f"{where} But COMMONPLACE=off is set: until it is not, they do nothing." if switched_off() else where


def _command() -> str:
    """How this machine's `commonplace` is called from here."""
    beside = os.path.join(os.path.dirname(sys.executable), "commonplace")
    if shutil.which("commonplace") == beside:
        return "commonplace"
    if not os.path.exists(beside):
        return f"{shlex.quote(sys.executable)} -m commonplace"
    near = os.path.relpath(beside)
    return shlex.quote(beside if near.startswith("..") else near)


# --- printing ------------------------------------------------------------------------------------------------


def _head(number: int, text: str) -> None:
    print(f"\n{number}. {text}\n")


def _show(text: str) -> None:
    """Print what a file or a process says, set apart, and folded where it is wider than a terminal."""
    for line in text.strip("\n").split("\n"):
        hang = "  " if line.startswith("- ") else " " * (len(line) - len(line.lstrip()))
        folded = wrap(line, _width() - 5, subsequent_indent=hang, break_on_hyphens=False, drop_whitespace=True)
        for piece in folded or [""]:
            print(f"   | {piece}".rstrip())


def _say(text: str) -> None:
    # Long words are left whole: a path can be copied.
    lines = wrap(text, _width() - 3, break_long_words=False, break_on_hyphens=False)
    print("\n".join(f"   {line}" for line in lines))


def _width() -> int:
    return max(LEAST, min(WIDTH, shutil.get_terminal_size((WIDTH, 24)).columns))


def _text(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


def _failed(why: str) -> int:
    print(f"\nThe demo failed: {why}.", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
