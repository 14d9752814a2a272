"""The processes tests start for real: `Workers` keeps one warm program that forks a child for each task.

A child is a process of its own, with its own descriptors, locks and connections, and may be killed at any time.
"""

import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
import traceback
from collections import Counter
from hashlib import sha256
from pathlib import Path
from threading import Thread

from tests.notebooks import PERSON, STORY, body, opened

from commonplace import CommonplaceError, Conflict, Saved
from commonplace.care import undo
from commonplace.errors import NotFound
from commonplace.store.disk import WRITES
from commonplace.testing.faulty import Fault, FaultyDisk

ROOT = Path(__file__).parents[1]
REFUSED = 9  # how a child ends that was told why not
STOPPED = 1000  # what waiting for a child answers that stands still
TASKS = {}


class Workers:
    """The test's end: start a task in a child, wait for it, kill it."""

    def __init__(self) -> None:
        self._program = subprocess.Popen(
            [sys.executable, "-m", "tests.workers"], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    def start(self, task: str, **given) -> int:
        """Start a task and answer its process id."""
        return self._ask(start=task, given=given)

    def wait(self, pid: int) -> int:
        """Wait for a child: its exit code, minus the signal that killed it, or STOPPED."""
        return self._ask(wait=pid)

    def run(self, task: str, **given) -> int:
        return self.wait(self.start(task, **given))

    def kill(self, pid: int) -> int:
        os.kill(pid, signal.SIGKILL)
        return self.wait(pid)

    def close(self) -> None:
        self._program.stdin.close()
        self._program.stdout.close()
        self._program.wait()

    def _ask(self, **question):
        self._program.stdin.write(json.dumps(question, default=str).encode() + b"\n")
        self._program.stdin.flush()
        return json.loads(self._program.stdout.readline())


def serve() -> None:
    for line in sys.stdin:
        question = json.loads(line)
        if "start" in question:
            print(_start(question["start"], question["given"]), flush=True)
        else:
            _, status = os.waitpid(question["wait"], os.WUNTRACED)
            print(STOPPED if os.WIFSTOPPED(status) else os.waitstatus_to_exitcode(status), flush=True)


def _start(task: str, given) -> int:
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        os.close(0)
        os.dup2(2, 1)
        code = TASKS[task](**given) or 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def task(work):
    TASKS[work.__name__] = work
    return work


class Ledger:
    """Where a child tells what was acknowledged: outside the notebook, one write a line, so that a kill takes nothing."""

    def __init__(self, path) -> None:
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def tell(self, *words: object) -> None:
        os.write(self._fd, json.dumps(words).encode() + b"\n")


def read_ledger(path) -> list:
    path = Path(path)
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


def stopped(flag) -> bool:
    """Whether the test has raised its flag, or is gone itself."""
    return os.path.exists(flag) or os.getppid() == 1


def wait_for(flag) -> None:
    while not stopped(flag):
        time.sleep(0.001)


# --- one writer ------------------------------------------------------------------------------------------------


@task
def step(book, home, ledger, number, at, of, after):
    """Carry out one step of the story on a disk that kills at a call."""
    disk = FaultyDisk(Fault(at=at, of=of, after=after))
    STORY[number].do(opened(book, home, disk))
    Ledger(ledger).tell("done")


@task
def step_from_outside(book, home, ledger, number, spare):
    """Stand still, for somebody to put this process under watch, and then carry out one step of the story."""
    disk, told = FaultyDisk(), Ledger(ledger)
    memory = opened(book, home, disk)
    opened(spare, home).save("What is imported late is imported now.", call=PERSON)
    os.kill(os.getpid(), signal.SIGSTOP)
    try:
        STORY[number].do(memory)
    except CommonplaceError as problem:
        outcome, code = ("refused", str(problem)), REFUSED
    else:
        outcome, code = ("done", Counter(done.call for done in disk.calls)), 0
    try:
        told.tell(*outcome)
    except OSError:  # what was to strike the notebook has struck the ledger
        told.tell(*outcome)
    return code


@task
def stop_at(book, home, at):
    """Correct a note, and stand still at a call until somebody sends this process on."""
    disk = FaultyDisk(Fault(at=at, of=WRITES, act=lambda: os.kill(os.getpid(), signal.SIGSTOP)))
    opened(book, home, disk).save(body("new"), name="shared", replace=True, call=PERSON)
    return 0 if disk.struck else 7


@task
def attempt(book, home, ledger, spare_files=None, file_bytes=None):
    """Change and ask under a limit of the system's, and tell what came of each."""
    told, out = Ledger(ledger), []
    limits = {
        resource.RLIMIT_NOFILE: None if spare_files is None else len(os.listdir("/dev/fd")) - 1 + spare_files,
        resource.RLIMIT_FSIZE: file_bytes,
    }
    limits = {limit: (most, resource.getrlimit(limit)) for limit, most in limits.items() if most is not None}
    for limit, (most, (_, hard)) in limits.items():
        resource.setrlimit(limit, (most, hard))
    memory = opened(book, home)
    for what, do in (
        ("create", lambda: memory.save(body("new"), name="second", call=PERSON).outcome),
        ("correct", lambda: memory.save(body("other"), name="first", replace=True, call=PERSON).outcome),
        ("read", lambda: memory.read("first").body),
        ("notes", lambda: {note.name: note.body for note in memory.notes().notes}),
        ("recall", lambda: sorted(hit.name for hit in memory.recall("stands in line").hits)),
        ("forget", lambda: memory.forget("third", call=PERSON).name),
    ):
        try:
            out.append((what, "done", do()))
        except CommonplaceError as problem:
            out.append((what, type(problem).__name__, str(problem)))
        except Exception:
            out.append((what, "bare", traceback.format_exc()))
    for limit, (_, before) in limits.items():
        resource.setrlimit(limit, before)
    for line in out:
        told.tell(*line)


# --- the storm -------------------------------------------------------------------------------------------------

NAMES = 5  # notes each writer looks after


def signed(rng) -> str:
    """A text that carries its own digest."""
    text = "\n".join(f"line {n} {rng.getrandbits(64):x}" for n in range(rng.randint(1, 90)))
    return f"Signed {sha256(text.encode()).hexdigest()}\n{text}"


def signature(text: str) -> str:
    """The digest a text carries.

    Raises:
        AssertionError: it is not that of the text.

    """
    first, _, rest = text.partition("\n")
    assert first == f"Signed {sha256(rest.encode()).hexdigest()}", f"torn: {text[:100]!r}... of {len(text)}"
    return first[7:]


@task
def write_until_killed(book, home, ledger, slot, seed, flag):
    """Create, correct and forget notes, telling of each before and after. What it finds it tells too."""
    memory, ledger, rng = opened(book, home), Ledger(ledger), random.Random(seed)
    while not stopped(flag):
        name = f"slot-{slot}-note-{rng.randrange(NAMES)}"
        try:
            there = signature(memory.read(name).body)
        except NotFound:
            there = None
        ledger.tell("saw", name, there)
        text = None if there and rng.random() < 0.3 else signed(rng)
        wanted = text and signature(text)
        ledger.tell("begin", name, wanted)
        if text is None:
            memory.forget(name, call=PERSON)
        else:
            assert isinstance(memory.save(text, name=name, replace=True, call=PERSON), Saved)
        ledger.tell("done", name, wanted)


@task
def read_until_told(book, home, ledger, slots, seed, flag):
    """Ask everything there is to ask, and tell of each call what it asked, how long it took, and what was wrong."""
    memory, rng, calls = opened(book, home), random.Random(seed), []

    def read():
        try:
            return [memory.read(f"slot-{rng.randrange(slots)}-note-{rng.randrange(NAMES)}").body]
        except NotFound:
            return []

    questions = (
        ("read", read),
        ("read", read),
        ("notes", lambda: [note.body for note in memory.notes().notes]),
        ("recall", lambda: memory.recall("signed line") and []),
        ("preamble", lambda: memory.preamble() and []),
        ("listing", lambda: memory.listing().text and []),
        ("status", lambda: memory.status() and []),
    )
    while not stopped(flag):
        question, ask = rng.choice(questions)
        calls.append((question, *answered(ask)))
    Ledger(ledger).tell(*calls)


def answered(ask) -> tuple[float, str]:
    """How long a call took that answers signed texts, and what was wrong with it, or ''."""
    began = time.perf_counter()
    try:
        texts = ask()
        took = time.perf_counter() - began
        for text in texts:
            signature(text)
    except Exception as problem:
        return round(time.perf_counter() - began, 6), f"{type(problem).__name__}: {problem!s:.300}"
    return round(took, 6), ""


# --- many writers ----------------------------------------------------------------------------------------------


@task
def write_many(book, home, who, times, flag):
    memory = opened(book, home)
    wait_for(flag)
    write_many_with(memory, who, times)


@task
def swap_many(book, home, ledger, who, times, flag):
    """Correct one note again and again, each time only if it still is what was read; tell which went through."""
    memory, ledger = opened(book, home), Ledger(ledger)
    wait_for(flag)
    for turn in range(times):
        old = memory.read("shared")
        token = f"{who}-{turn}"
        text = f"{token} after {old.body.split()[0]}"
        outcome = memory.save(text, name="shared", description="What all write", expect=old.stamp, call=PERSON)
        ledger.tell("applied" if isinstance(outcome, Saved) else "refused", token)
        assert isinstance(outcome, Saved | Conflict), outcome


@task
def undo_many(book, home, ledger, who, times, flag):
    """Take back the last act again and again; tell what came of each try."""
    memory, ledger = opened(book, home), Ledger(ledger)
    wait_for(flag)
    for _ in range(times):
        done = undo.last(memory, PERSON)
        ledger.tell(
            "overtaken" if isinstance(done, Conflict) else "done" if done.changed and not done.left else repr(done)
        )


@task
def update_many(book, home, ledger, who, times, flag):
    """Count up in one line of a note that others change too, by the tool a model has; tell how each call ended."""
    memory, ledger = opened(book, home), Ledger(ledger)
    wait_for(flag)
    for turn in range(times):
        given = {"name": "shared", "old": f"Writer {who} is at {turn}.", "new": f"Writer {who} is at {turn + 1}."}
        while (answer := memory.run_tool("memory_update", given)).failed:
            assert "kept changing" in answer.text, answer.text
            ledger.tell("refused", turn)
        ledger.tell("applied", turn)


@task
def write_unnamed(book, home, who, times, flag):
    """Save texts that all begin alike, so that every one of them asks for the same name; and one that all save."""
    memory = opened(book, home)
    wait_for(flag)
    for turn in range(times):
        outcome = memory.save(f"Releases are cut from the main branch.\n\nSo says {who}, {turn}.", call=PERSON)
        assert isinstance(outcome, Saved), outcome
        assert outcome.outcome == "created", outcome
        outcome = memory.save("Everybody knows that water is wet.", call=PERSON)
        assert isinstance(outcome, Saved), outcome


@task
def write_in_threads(book, home, who, times, flag, shared):
    """Distinct writes from threads, on one Memory or on one each."""
    one = opened(book, home)
    failed = []

    def work(thread):
        memory = one if shared else opened(book, home)
        try:
            write_many_with(memory, f"{who} {thread}", times)
        except BaseException:
            failed.append(traceback.format_exc())

    threads = [Thread(target=work, args=(n,)) for n in range(4)]
    wait_for(flag)
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print("\n".join(failed), file=sys.stderr)
    return len(failed)


def write_many_with(memory, who, times) -> None:
    for turn in range(times):
        outcome = memory.save(f"Fact {turn} of {who}.", name=f"fact {who} {turn}", call=PERSON)
        assert isinstance(outcome, Saved), outcome
        assert outcome.outcome == "created", outcome
        assert not outcome.warnings, outcome
        assert memory.read(f"fact {who} {turn}").body == f"Fact {turn} of {who}."


@task
def fork_and_write(book, home, children, times, busy):
    """Open a memory, use it, and fork; the parent goes on writing with its own. Busy: a thread writes meanwhile."""
    memory = opened(book, home)
    write_many_with(memory, "before", 1)
    thread = Thread(target=write_many_with, args=(memory, "thread", times))
    if busy:
        thread.start()
    pids = []
    for child in range(children):
        pid = os.fork()
        if not pid:
            code = 1
            try:
                write_many_with(memory, f"child {child}", times)
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        pids.append(pid)
    write_many_with(memory, "parent", times)
    if busy:
        thread.join()
    return sum(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) != 0 for pid in pids)


if __name__ == "__main__":
    if sys.argv[1:]:
        sys.exit(TASKS[sys.argv[1]](**json.loads(sys.argv[2])))
    serve()
