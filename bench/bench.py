"""What it costs: each figure beside the floor it is measured against, the two taking turns in one run.

A floor is the least that could do the job: a bare `python -I -c pass` for a process, a bare temp + fsync + rename +
fsync(dir) for a write. Machines differ and are noisy; the ratio to the floor is what a budget is set on.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import date
from statistics import median
from typing import NamedTuple

from commonplace import open_memory
from commonplace.note.format import render
from commonplace.note.kind import Kind
from commonplace.note.note import Note
from commonplace.outcomes import Saved

PYTHON = sys.executable
SIZES = (10, 1_000, 10_000)
PROCESS_SIZES = (100, 1_000, 10_000)
WARM_SIZE = 5_000
KINDS = (Kind.USER, Kind.FEEDBACK, Kind.PROJECT, Kind.REFERENCE)
SUBJECTS = [
    "deploy",
    "cache",
    "schema",
    "login",
    "billing",
    "search",
    "export",
    "retry",
    "timeout",
    "queue",
    "backup",
    "release",
]
WIDTH = 44


class Times(NamedTuple):
    """Sorted seconds of one thing measured many times."""

    all: list[float]

    @property
    def p50(self) -> float:
        return median(self.all)

    @property
    def p99(self) -> float:
        return self.all[min(len(self.all) - 1, int(len(self.all) * 0.99))]


def in_turn(times: int, *works: Callable[[], object]) -> list[Times]:
    """Time each work, all of them once a round, so that a slow moment of the machine falls on all alike."""
    taken: list[list[float]] = [[] for _ in works]
    for _ in range(times):
        for work, into in zip(works, taken, strict=True):
            began = time.perf_counter()
            work()
            into.append(time.perf_counter() - began)
    return [Times(sorted(one)) for one in taken]


def row(what: str, ours: Times, floor: Times, *, most: float = 0.0, most_ms: float = 0.0) -> None:
    """Print one figure beside its floor, and its budget where it has one."""
    ratio = ours.p50 / floor.p50
    word = ""
    if most:
        word = f"budget {most:g} x: {'held' if ratio <= most else 'OVER'}"
    elif most_ms:
        word = f"budget {most_ms:g} ms: {'held' if ours.p50 * 1000 <= most_ms else 'OVER'}"
    figures = f"{ours.p50 * 1000:8.2f} {ours.p99 * 1000:8.2f} {floor.p50 * 1000:8.2f} {ratio:7.1f} x"
    print(f"{what:<{WIDTH}}{figures}  {word}".rstrip(), flush=True)


def machine() -> str:
    """What the figures were measured on."""
    return (
        f"Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, {os.cpu_count()} cores,"
        f" {platform.system()} {platform.release()}"
    )


def head(title: str, floor: str) -> None:
    print(f"\n{title}\n{'floor: ' + floor:<{WIDTH}}     p50      p99    floor    ratio", flush=True)


# --- notebooks -----------------------------------------------------------------------------------------------


def note(number: int) -> Note:
    """A note like those agents save, different from every other."""
    subject, other = SUBJECTS[number % len(SUBJECTS)], SUBJECTS[number // 7 % len(SUBJECTS)]
    description = f"The {subject} of part {number} runs through step {number % 97} before the {other} is touched"
    body = (
        f"{description}. Found on 2026-03-{number % 28 + 1:02d} when the {other} failed twice.\n\n"
        f"**Why:** step {number % 97} holds a lock that the {other} waits for.\n"
        f"**How to apply:** look at `src/{subject}/part_{number}.py` first; run `make {other}` after."
    )
    day = date(2026, number % 12 + 1, number % 28 + 1)
    return Note(
        name=f"{subject}-of-part-{number}", description=description, kind=KINDS[number % 4], body=body,
        created=day, updated=day, tags=(subject,), origin="agent",
    )  # fmt: skip


def notebook(home: str, size: int) -> str:
    """A notebook of this many notes, laid out as files and seen once, so that its catalog is warm."""
    place = os.path.join(home, f"notes-{size}")
    os.mkdir(place, 0o700)
    for number in range(size):
        made = note(number)
        with open(os.path.join(place, made.name + ".md"), "wb") as file:
            file.write(render(made))
    memory = open_memory(place)
    memory.save("The first note that went through the front door, on which the log begins.", name="front-door")
    memory.listing()
    return place


# --- what is measured ----------------------------------------------------------------------------------------


def bare_write(folder: str) -> Callable[[], None]:
    """The floor of a write: one file, there for good. The bytes are those of a note."""
    data = render(note(1))
    at = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    count = iter(range(1_000_000))

    def write() -> None:
        number = next(count)
        fd = os.open(f".tmp-{number}", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=at)
        os.write(fd, data)
        os.fsync(fd)
        os.close(fd)
        os.rename(f".tmp-{number}", f"note-{number}.md", src_dir_fd=at, dst_dir_fd=at)
        os.fsync(at)

    return write


def library_write(place: str) -> tuple[Callable[[], None], Callable[[], None]]:
    """A new note, and a correction of one, through an open Memory."""
    memory = open_memory(place)
    fresh, again = iter(range(2_000_000, 3_000_000)), iter(range(1_000_000))

    def create() -> None:
        made = note(next(fresh))
        must(memory.save(made.body, name=made.name, description=made.description, kind="project"))

    def correct() -> None:  # each with a line of its own in the index
        number = next(again)
        must(
            memory.save(
                f"Corrected {number} times.", name="front-door", description=f"Front door {number}.", replace=True
            )
        )

    return create, correct


def must(outcome: object) -> None:
    assert isinstance(outcome, Saved), outcome


def process(*command: str) -> Callable[[], None]:
    """A whole process, from start to exit."""

    def run() -> None:
        subprocess.run(
            command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL
        )

    return run


def command(place: str, *words: str) -> Callable[[], None]:
    return process(PYTHON, "-m", "commonplace", words[0], "--dir", place, *words[1:])


BARE = process(PYTHON, "-I", "-c", "pass")


def writes(home: str, rounds: int) -> None:
    for size in SIZES:
        place = notebook(home, size)
        folder = os.path.join(home, f"bare-{size}")
        os.mkdir(folder)
        for number in range(size):  # as many files as the notebook has
            os.close(os.open(os.path.join(folder, f"{number}.md"), os.O_WRONLY | os.O_CREAT, 0o600))
        create, correct = library_write(place)
        in_turn(5, create, correct)
        made, corrected, floor = in_turn(rounds * 20, create, correct, bare_write(folder))
        budget = 4.0 if size == SIZES[-1] else 0.0
        row(f"new note, library, {size:,} notes", made, floor, most=budget)
        row(f"correction, library, {size:,} notes", corrected, floor, most=budget)


def one_shot(home: str, rounds: int) -> None:
    count = iter(range(1_000_000))
    for size in SIZES:
        place = os.path.join(home, f"notes-{size}")

        def remember(place: str = place) -> None:
            command(place, "remember", f"One-shot note {next(count)} says that part {next(count)} is done.")()

        ours, floor = in_turn(rounds, remember, BARE)
        row(f"remember, a fresh process, {size:,} notes", ours, floor)


def fresh(home: str, rounds: int) -> None:
    for size in PROCESS_SIZES:
        place = os.path.join(home, f"notes-{size}")
        if not os.path.isdir(place):
            notebook(home, size)
        words = {
            "list": command(place, "list"),
            "preamble": command(place, "preamble"),
            "recall": command(place, "recall", "deploy after login fails"),
        }
        if size == PROCESS_SIZES[0]:
            words["--help"] = process(PYTHON, "-m", "commonplace", "--help")
        *ours, floor = in_turn(rounds, *words.values(), BARE)
        for word, times in zip(words, ours, strict=True):
            row(f"{word}, {size:,} notes", times, floor)


def warm(home: str, rounds: int) -> None:
    place = notebook(home, WARM_SIZE)
    memory = open_memory(place)
    memory.preamble()

    def scan() -> None:
        with os.scandir(place) as entries:
            for entry in entries:
                entry.stat(follow_symlinks=False)

    listing, preamble, floor = in_turn(rounds * 5, memory.listing, memory.preamble, scan)
    row(f"listing, {WARM_SIZE:,} notes", listing, floor, most_ms=50)
    row(f"preamble, {WARM_SIZE:,} notes", preamble, floor, most_ms=50)

    def after_an_edit() -> None:
        made = note(7)
        with open(os.path.join(place, made.name + ".md"), "ab") as file:
            file.write(b"\nA line more.\n")
        memory.preamble()

    edited, floor = in_turn(rounds, after_an_edit, scan)
    row(f"preamble after an outside edit, {WARM_SIZE:,} notes", edited, floor, most_ms=50)


def imports(rounds: int) -> None:
    package, opened, floor = in_turn(
        rounds * 2,
        process(PYTHON, "-I", "-c", "import commonplace"),
        process(PYTHON, "-I", "-c", "from commonplace import open_memory; open_memory('/nonexistent/notebook')"),
        BARE,
    )
    row("import commonplace", package, floor, most=4.0)
    row("open_memory()", opened, floor)
    print("\nThe dearest imports of `open_memory()` (milliseconds, each without what it imports itself)")
    for cost, name in import_times()[:12]:
        print(f"  {cost / 1000:6.2f}  {name}")


def import_times() -> list[tuple[int, str]]:
    """What each module of the hot path costs, as the interpreter tells it, less what a bare start imports anyway."""
    code = "from commonplace import open_memory; open_memory('/nonexistent/notebook')"
    told = _told_imports(code)
    bare = {name for _, name in _told_imports("pass")}
    return sorted(((cost, name) for cost, name in told if name not in bare), reverse=True)


def _told_imports(code: str) -> list[tuple[int, str]]:
    done = subprocess.run([PYTHON, "-I", "-X", "importtime", "-c", code], check=True, capture_output=True, text=True)
    out = []
    for line in done.stderr.splitlines():
        parts = line.removeprefix("import time:").split("|")
        if len(parts) == 3 and parts[0].strip().isdigit():
            out.append((int(parts[0]), parts[2].strip()))
    return out


def main() -> int:
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=20, metavar="N", help="how often each process is measured")
    parser.add_argument("--where", metavar="DIR", help="a folder on the disk to measure (default: the temporary one)")
    given = parser.parse_args()
    home = tempfile.mkdtemp(prefix="commonplace-bench-", dir=given.where)
    os.environ["COMMONPLACE_HOME"] = os.path.join(home, "home")
    print(f"{machine()}; milliseconds")
    try:
        head("Acknowledged write", "temp + fsync + rename + fsync(dir)")
        writes(home, given.rounds)
        head("One-shot write", "python -I -c pass")
        one_shot(home, given.rounds)
        head("A fresh process", "python -I -c pass")
        fresh(home, given.rounds)
        head("A warm process", "scandir + stat of every file")
        warm(home, given.rounds)
        head("Start", "python -I -c pass")
        imports(given.rounds)
    finally:
        shutil.rmtree(home)
    return 0


if __name__ == "__main__":
    sys.exit(main())
