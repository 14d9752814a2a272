"""From outside: strace kills or fails a real process at its n-th system call, and counts those that bypass Disk.

What the other tests of kills and faults do at Disk, this does at the kernel, below SQLite and Python too.
"""

import errno
import os
import re
import shutil
import signal
import subprocess
from collections import Counter
from itertools import count

import pytest
from tests.notebooks import STORY, check_next_write, check_old_or_new, lying, opened, told
from tests.test_faults import ERRORS, STEPS, Stage, check_says_what_to_do
from tests.workers import REFUSED, STOPPED, Workers, read_ledger

KILLED = -9
# The calls that can change something, on any system strace runs on; a kill between two of them leaves the same.
CHANGING = (
    "openat", "write", "pwrite64", "ftruncate", "fchmod", "fchmodat", "fsync", "fdatasync", "renameat", "renameat2",
    "linkat", "unlinkat", "unlink", "mkdirat", "mkdir", "flock", "close",
)  # fmt: skip
# Which calls of Disk each system call is made by.
MADE_BY = {
    "openat": ("open_root", "open_dir", "open_read", "open_new", "open_append"),
    "write": ("write",),
    "ftruncate": ("truncate",),
    "fsync": ("sync", "sync_dir"),
    "fdatasync": ("sync_data",),
    "renameat": ("rename",),
    "linkat": ("link",),
    "unlinkat": ("unlink",),
    "mkdirat": ("make_dir",),
    "mkdir": ("make_root",),
    "fchmod": ("chmod",),
}


@pytest.fixture(scope="module")
def workers():
    workers = Workers()
    yield workers
    workers.close()


@pytest.fixture
def traced(workers, tmp_path):
    """Carry out a step under strace. Answers how the process ended, what it told, and the log."""
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed; apt-get install strace")
    stage, ledger, log = Stage(tmp_path), tmp_path / "told", tmp_path / "log"

    def run(number, *options):
        stage.set(number)
        ledger.unlink(missing_ok=True)
        pid = workers.start(
            "step_from_outside",
            book=stage.book,
            home=stage.home,
            ledger=ledger,
            number=number,
            spare=tmp_path / "spare",
        )
        assert workers.wait(pid) == STOPPED
        tracer = subprocess.Popen(
            ["strace", "-f", "-o", log, *options, "-p", str(pid)], stderr=subprocess.PIPE, text=True
        )
        said = tracer.stderr.readline()
        os.kill(pid, signal.SIGCONT)
        code = workers.wait(pid)
        tracer.communicate()
        if "attached" not in said:
            pytest.skip(f"strace may not watch a process here: {said.strip()}")
        return code, read_ledger(ledger), log.read_text("utf-8")

    run.stage = stage
    return run


def calls_in(log: str) -> Counter:
    return Counter(re.findall(r"^\d+ +(\w+)\(", log, re.MULTILINE))


@pytest.mark.promise
@pytest.mark.torture
@pytest.mark.timeout(600)
@pytest.mark.parametrize("number", range(len(STORY)), ids=STEPS)
def test_a_kill_at_any_system_call_leaves_old_or_new(traced, tally, number):
    code, _, log = traced(number)
    assert code == 0
    stage = traced.stage
    for call in calls_in(log).keys() & set(CHANGING):
        for at in count(1):
            code, lines, _ = traced(number, "-e", f"trace={call}", "-e", f"inject={call}:signal=KILL:when={at}")
            if code == 0:
                break
            with tally("R2", f"{STORY[number].label}: killed at {call} {at}"):
                assert code == KILLED
                memory = opened(stage.book, stage.home)
                check_old_or_new(stage.book, memory, STORY, number + len(lines))
                check_next_write(stage.book, memory)


@pytest.mark.promise
@pytest.mark.torture
@pytest.mark.timeout(600)
@pytest.mark.parametrize("number", range(len(STORY)), ids=STEPS)
def test_an_error_of_any_system_call_is_a_clear_refusal_or_none(traced, tally, number):
    code, _, log = traced(number)
    assert code == 0
    stage, old, new = traced.stage, told(STORY, number), told(STORY, number + 1)
    for call in calls_in(log).keys() & set(CHANGING):
        for at in count(1):
            error = errno.errorcode[ERRORS[at % len(ERRORS)]]
            code, lines, log = traced(number, "-e", f"trace={call}", "-e", f"inject={call}:error={error}:when={at}")
            if "INJECTED" not in log:
                break
            with tally("R4", f"{STORY[number].label}: {call} {at} answers {error}"):
                assert code in (0, REFUSED)
                assert lying(stage.book) == (new if code == 0 else old)
                if code == REFUSED:
                    check_says_what_to_do(lines[0][1], stage.book)
                check_next_write(stage.book, opened(stage.book, stage.home))


@pytest.mark.torture
@pytest.mark.parametrize("number", range(1, len(STORY)), ids=STEPS[1:])  # the first opens folders above the notebook
def test_no_system_call_touches_the_notebook_but_through_disk(traced, number):
    """What strace sees of the notebook is what a disk that counts its calls has counted, call for call."""
    code, ((_, counted),), log = traced(number, "-y")
    assert code == 0
    here = re.compile(f'[<"]{re.escape(str(traced.stage.root))}')
    seen = calls_in("\n".join(line for line in log.splitlines() if here.search(line)))
    for call, made_by in MADE_BY.items():
        assert seen[call] == sum(counted.get(name, 0) for name in made_by), call
    assert seen.keys() & set(CHANGING) <= {*MADE_BY, "flock", "close"}
