"""What recall costs: an index, a process of its own, an open notebook, ranking alone; each beside what else would do it.

    python bench/recall.py [--rounds N] [--where DIR]      BIG=1 in the environment adds a million notes

Processor time is counted, of this process or of one it starts: what else the machine is at matters little to it. The
floor is a bare `python -I -c pass`, the two taking turns; a budget in milliseconds holds where that takes nine.
Plain FTS5 has the same texts: words by porter, no headings, `ORDER BY bm25`. grep looks for any of the words.

Up to 10,000 notes lie in files. Above, files take longer to make than to measure: the search index alone is built,
from a corpus, and asked.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path

from bench import PYTHON, WIDTH, Times, machine

from commonplace import open_memory
from commonplace.index.catalog import Catalog
from commonplace.index.sidecar import Sidecar
from commonplace.memory import Memory
from commonplace.note.format import render
from commonplace.recall.finder import Changes, Finder
from commonplace.recall.lexical import Text
from commonplace.recall.notes import text_of
from commonplace.recall.semantic import StaticWords
from commonplace.store.files import FileStore
from texts import note, queries

SIZES = (1_000, 10_000, 100_000, *((1_000_000,) if os.environ.get("BIG") else ()))
IN_FILES = 10_000
TERMS = (2, 5, 12)
ASKED = 50
TODAY = date(2026, 5, 15)
# Of a fresh process, as multiples of a bare one: quiet, and after an outside edit.
FRESH = {1_000: (4.0, 6.0), 10_000: (7.0, 9.0)}
# Of five terms in an open notebook, in milliseconds where a bare process takes nine: with the look at the files, without.
WARM = {1_000: (5.0, 1.5), 10_000: (36.0, 8.0)}
BARE_MS = 9.0
MAKE = "CREATE VIRTUAL TABLE plain USING fts5(key UNINDEXED, body, tokenize = 'porter unicode61')"
ASK = "SELECT key FROM plain WHERE plain MATCH ? ORDER BY bm25(plain) LIMIT 10"
CHANGE = "UPDATE plain SET body = body || ' A line more.' WHERE rowid = ?"
FTS5_PROCESS = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute(sys.argv[2], sys.argv[3:]).fetchall()"
# What is built by a process of its own, and where.
BUILT = {
    "notebook, files read and made findable": "notes",
    "the same, opened and asked": "notes",
    "search index, meaning off": "words",
    "search index, meaning on": "meaning",
    "the same, asked": "meaning",
    "plain FTS5, porter": "fts5",
}


# --- measuring ---------------------------------------------------------------------------------------------------


def spent(*command: str) -> float:
    """The processor time of a whole process, from start to exit."""
    started = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(started.pid, 0)
    started.returncode = os.waitstatus_to_exitcode(status)
    assert started.returncode in (0, 1), command  # grep answers 1 where it found nothing
    return usage.ru_utime + usage.ru_stime


def bare(_: int = 0) -> float:
    return spent(PYTHON, "-I", "-c", "pass")


def timed(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def in_turn(rounds: int, *works: Callable[[int], float]) -> list[Times]:
    """Each work once a round, told which round it is; it answers the seconds it took."""
    taken: list[list[float]] = [[] for _ in works]
    for number in range(rounds):
        for work, into in zip(works, taken, strict=True):
            into.append(work(number))
    return [Times(sorted(one)) for one in taken]


def head(title: str) -> None:
    print(f"\n{title}\n{'':<{WIDTH}}     p50      p99     bare    ratio", flush=True)


def row(what: str, ours: Times, floor: Times, *, most: float = 0.0, most_ms: float = 0.0) -> None:
    ratio, allowed, word = ours.p50 / floor.p50, most or most_ms / BARE_MS, ""
    if allowed:
        said = f"{most:g} x" if most else f"{allowed:.2f} x, {most_ms:g} ms"
        word = f"  budget {said}: {'held' if ratio <= allowed else 'OVER'}"
    figures = f"{ours.p50 * 1000:8.2f} {ours.p99 * 1000:8.2f} {floor.p50 * 1000:8.2f} {ratio:7.2f} x"
    print(f"{what:<{WIDTH}}{figures}{word}", flush=True)


def peak() -> int:
    """The most memory this process has had. (Of `getrusage`, Linux tells that of the parent as well.)"""
    try:
        told = Path("/proc/self/status").read_text("ascii")
        return int(told.partition("VmHWM:")[2].split()[0]) * 1024
    except OSError:
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


# --- what is measured --------------------------------------------------------------------------------------------


class Made:
    """So many notes as a corpus, each made when it is taken; one may change afterwards."""

    def __init__(self, size: int, given: int = 0) -> None:
        self.size = size
        self.given = given
        self.changed: Text | None = None

    def waits(self, db: sqlite3.Connection) -> bool:
        return self.given < self.size or self.changed is not None

    def changes(self, db: sqlite3.Connection, most: int) -> Changes:
        if self.changed:
            text, self.changed = self.changed, None
            return Changes((text,), ())
        first, self.given = self.given, min(self.given + most, self.size)
        return Changes(tuple(text_of(note(number)) for number in range(first, self.given)), ())

    def texts(self, db: sqlite3.Connection, keys: Sequence[str]) -> list[Text]:
        return []

    def begin_again(self, db: sqlite3.Connection) -> None: ...


class Unlooked(Catalog):
    """A catalog that takes the files to be as it knows them: what is left of a recall is ranking."""

    def refresh(self, *, full: bool = False, begin: bool = False) -> None: ...

    def holds(self, names: Sequence[str]) -> bool:
        return True


def no_meaning() -> None: ...


def unlooked(place: Path, encoder: Callable[[], StaticWords | None]) -> Memory:
    """A notebook whose files are not looked at, with tables of its own: by another encoder they would be others."""
    with open_memory(place) as memory:
        kept = memory.status().cache
    tables = place.with_name(f"{place.name}-{encoder.__name__}")
    shutil.copy(kept, tables)
    return Memory(
        FileStore(str(place)),
        Unlooked(FileStore(str(place)), Sidecar(str(tables)), today=lambda: TODAY),
        encoder=encoder,
    )


def written(place: Path, size: int) -> None:
    """A notebook of this many notes, one saved and the others as files nobody has looked at."""
    with open_memory(place) as memory:
        memory.save("The first note that went through the front door, on which the log begins.", name="front-door")
    for number in range(size - 1):
        made = note(number)
        (place / f"{made.name}.md").write_bytes(render(made))


def edit(place: Path, number: int) -> None:
    """Change a note as an editor would."""
    with open(place / f"{note(number).name}.md", "ab") as file:
        file.write(b"A line more.\n")
    time.sleep(0.02)  # what is read in the moment it changes is read again: two looks would be measured


def any_of(query: str) -> str:
    """A query as plain FTS5 takes it."""
    return " OR ".join(f'"{word}"' for word in query.split())


def child(what: str, place: Path, size: int) -> dict[str, float]:
    """Build an index, or ask one: the time it took, the disk it fills and the most memory this process had."""
    asked: list[str] = json.load(sys.stdin)
    began = time.process_time()
    if place.name.startswith("notes"):
        with open_memory(place) as memory:
            for query in asked or ["nothing in particular"]:
                memory.recall(query)
            place = Path(memory.status().cache)
    elif place.name.startswith("fts5"):
        with sqlite3.connect(place) as db:
            db.execute(MAKE)
            texts = (text_of(note(number)) for number in range(size))
            db.executemany("INSERT INTO plain VALUES (?, ?)", ((text.key, text.said) for text in texts))
    else:
        encoder = no_meaning if "off" in what else StaticWords
        side = Sidecar(str(place))
        found = Finder(side, Made(size, size if asked else 0), encoder=encoder)
        found.keep_up()
        for query in asked:
            found.find(query, TODAY)
        side.close()
    took = time.process_time() - began
    disk = sum(file.stat().st_size for file in place.parent.glob(f"{place.name}*"))
    return {"seconds": took, "memory": peak(), "disk": disk}


# --- the tables --------------------------------------------------------------------------------------------------


def building(home: Path) -> None:
    print(f"\nBuilding, what making the texts takes left out\n{'':<{WIDTH}} seconds ms a note disk MB  RSS MB")
    for size in SIZES:
        making = min(timed(lambda: [text_of(note(at)) for at in range(1000)]) for _ in range(3)) / 1000 * size
        if size <= IN_FILES:
            written(home / f"notes-{size}", size)
        for what, kind in BUILT.items():
            if kind != "notes" or size <= IN_FILES:
                told = by_child(what, home / f"{kind}-{size}", size)
                took, memory = f"{'':18}", f"{told['memory'] / 1e6:8.0f}"
                if "asked" not in what:
                    seconds = told["seconds"] - (0 if kind == "notes" else making)
                    took = f"{seconds:8.2f} {seconds / size * 1000:9.3f}"
                    memory = memory if kind == "notes" else ""  # else that of making the texts is in it
                print(f"{what:<{WIDTH - 9}}{size:>9,}{took} {told['disk'] / 1e6:7.1f}{memory}", flush=True)


def by_child(what: str, place: Path, size: int) -> dict[str, float]:
    asked = json.dumps(queries(size, 5, ASKED) if "asked" in what else [])
    command = (PYTHON, __file__, "--child", what, "--where", str(place), "--size", str(size))
    return json.loads(subprocess.run(command, check=True, input=asked, capture_output=True, text=True).stdout)


def processes(home: Path, rounds: int) -> None:
    for size in (size for size in SIZES if size <= IN_FILES):
        head(f"A process of its own, {size:,} notes")
        for terms in TERMS:
            one_by_one(home, size, terms, rounds)


def one_by_one(home: Path, size: int, terms: int, rounds: int) -> None:
    place, plain = home / f"notes-{size}", str(home / f"fts5-{size}")
    asked = queries(size, terms, rounds)
    script = os.path.join(os.path.dirname(PYTHON), "commonplace")

    def recall(number: int) -> float:
        return spent(script, "recall", "--dir", str(place), *asked[number].split())

    def after_edit(number: int) -> float:
        edit(place, terms * rounds + number)
        took = recall(number)
        recall(number)
        return took

    def fts5(number: int) -> float:
        return spent(PYTHON, "-I", "-c", FTS5_PROCESS, plain, ASK, any_of(asked[number]))

    def grep(number: int) -> float:
        return spent("grep", "-rilE", "--include=*.md", "|".join(asked[number].split()), str(place))

    most, most_edited = FRESH[size]
    quiet, edited, words, lines, floor = in_turn(rounds, recall, after_edit, fts5, grep, bare)
    row(f"recall, {terms} terms", quiet, floor, most=most)
    row(f"recall, {terms} terms, after an outside edit", edited, floor, most=most_edited)
    row(f"plain FTS5, {terms} terms", words, floor)
    row(f"grep, {terms} terms", lines, floor)


def warm(home: Path, rounds: int) -> None:
    for size in SIZES:
        head(f"An open {'notebook' if size <= IN_FILES else 'index'}, {size:,} notes")
        place, plain = home / f"notes-{size}", home / f"fts5-{size}"
        side, words = (Sidecar(str(home / f"{kind}-{size}")) for kind in ("meaning", "words"))
        ways: dict[str, Callable[[str], object]] = {}
        if size <= IN_FILES:
            ways["recall"] = open_memory(place).recall
            ways["ranking alone"] = unlooked(place, StaticWords).recall
            ways["ranking alone, meaning off"] = unlooked(place, no_meaning).recall
        else:
            on = Finder(side, Made(size, size), encoder=StaticWords)
            off = Finder(words, Made(size, size))
            ways["ranking alone"] = lambda query, on=on: on.find(query, TODAY)
            ways["ranking alone, meaning off"] = lambda query, off=off: off.find(query, TODAY)
        db = sqlite3.connect(plain)
        ways["plain FTS5"] = lambda query, db=db: db.execute(ASK, (any_of(query),)).fetchall()
        for terms in TERMS:
            many_times(ways, size, terms, rounds)
        db.close()
        one_change(place, side, plain, size, rounds)


def many_times(ways: dict[str, Callable[[str], object]], size: int, terms: int, rounds: int) -> None:
    asked = queries(size, terms, rounds)
    for way in ways.values():
        way(asked[0])
    works = [lambda number, way=way: timed(lambda: way(asked[number])) for way in ways.values()]
    *taken, floor = in_turn(rounds, *works, bare)
    budgets = dict(zip(("recall", "ranking alone"), WARM.get(size, ()), strict=False)) if terms == 5 else {}
    for name, times in zip(ways, taken, strict=True):
        row(f"{name}, {terms} terms", times, floor, most_ms=budgets.get(name, 0.0))


def one_change(place: Path, side: Sidecar, plain: Path, size: int, rounds: int) -> None:
    """What one changed text costs whoever asks next."""
    corpus = Made(size, size)
    found = Finder(side, corpus, encoder=StaticWords)
    db = sqlite3.connect(plain, isolation_level=None)
    db.execute("PRAGMA journal_mode = WAL")
    memory, query = open_memory(place), queries(size, 5, 1)[0]

    def ours(number: int) -> float:
        text = text_of(note(number))
        corpus.changed = text._replace(body=f"{text.body} A line more.")
        return timed(found.keep_up)

    def fts5(number: int) -> float:
        return timed(lambda: db.execute(CHANGE, (number + 1,)))

    def edited(number: int) -> float:
        edit(place, number)
        return timed(lambda: memory.recall(query))

    ours(0), fts5(0)
    one, other, floor = in_turn(rounds, ours, fts5, bare)
    row("one text changed in the index", one, floor)
    row("one text changed in plain FTS5", other, floor)
    if size <= IN_FILES:
        memory.recall(query)
        changed, floor = in_turn(rounds, edited, bare)
        row("recall, 5 terms, after an outside edit", changed, floor)


def main() -> int:
    parser = argparse.ArgumentParser(prog="recall", description=__doc__)
    parser.add_argument("--rounds", type=int, default=20, metavar="N", help="how often each thing is measured")
    parser.add_argument("--where", type=Path, metavar="DIR", help="a folder on the disk to measure")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    parser.add_argument("--size", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        print(json.dumps(child(given.child, given.where, given.size)))
        return 0
    home = Path(tempfile.mkdtemp(prefix="commonplace-bench-", dir=given.where))
    os.environ["COMMONPLACE_HOME"] = str(home / "home")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # else every process would compile what it loads
    print(f"{machine()}; milliseconds of processor time")
    try:
        building(home)
        processes(home, given.rounds)
        warm(home, given.rounds * 3)
    finally:
        shutil.rmtree(home)
    return 0


if __name__ == "__main__":
    sys.exit(main())
