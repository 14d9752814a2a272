"""Kills at every call, and disks that are full, failing or read-only: old or new, never half, and a clear word."""

import errno
import json
import re
import shutil
import subprocess
import sys
from itertools import count
from pathlib import Path

import pytest
from tests.notebooks import (
    PERSON,
    STORY,
    THEIRS,
    body,
    check_next_write,
    check_old_or_new,
    kept_indexes,
    kept_versions,
    lying,
    opened,
    play,
    replaced,
    said,
    save,
    told,
)  # fmt: skip
from tests.places import without_powers
from tests.workers import ROOT, Workers, read_ledger

from commonplace import CommonplaceError, Forgotten, Refused, Saved
from commonplace.errors import BadFormat, DiskFull, NotFound
from commonplace.store.disk import READS, WRITES, Disk
from commonplace.testing.faulty import CALLS, Fault, FaultyDisk, failing

KILLED = -9
ERRORS = (errno.ENOSPC, errno.EIO, errno.EACCES, errno.EROFS, errno.EDQUOT, errno.EMFILE)
# What a message must hold: a thing somebody can do.
CURE = re.compile(
    r"Free some space|[Cc]heck |Move it|Raise `ulimit|Try again|try again|remove it|`commonplace list` shows"
)
UNSURE = "the change may stand or not"
STEPS = [step.label.replace(" ", "-") for step in STORY]
SYNCS = ("sync", "sync_data", "sync_dir")


@pytest.fixture(scope="module")
def workers():
    workers = Workers()
    yield workers
    workers.close()


class Stage:
    """A notebook as it stands before a step of the story, put back as often as one likes."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.root = place / "deep"  # the story's first step makes the folders above the notebook too
        self.book, self.home = self.root / "er" / "book", place / "home"
        memory = opened(self.book, self.home)
        for number, step in enumerate(STORY):
            if self.root.exists():
                step.before(self.book, Disk())
                shutil.copytree(self.root, place / f"before-{number}")
            step.do(memory)

    def set(self, number: int):
        shutil.rmtree(self.root, ignore_errors=True)
        if number:
            shutil.copytree(self.place / f"before-{number}", self.root)
        return opened(self.book, self.home)

    def on(self, number: int, disk: Disk):
        self.set(number)
        return opened(self.book, self.home, disk)


@pytest.fixture(scope="module")
def stage(tmp_path_factory):
    return Stage(tmp_path_factory.mktemp("stage"))


# --- kill -9 -------------------------------------------------------------------------------------------------


@pytest.mark.promise
@pytest.mark.timeout(600)
@pytest.mark.parametrize("number", range(len(STORY)), ids=STEPS)
def test_a_kill_at_any_call_leaves_old_or_new(workers, stage, tmp_path, tally, scale, number):
    """A process dies before its n-th call, for every n until one lives to the end of its step.

    `make test` counts the calls that change something: between two of them, every kill leaves the same. `make torture`
    counts all, and kills right after them too.
    """
    of, ledger = scale(WRITES, CALLS), tmp_path / "acknowledged"
    for after in scale([False], [False, True]):
        for at in count(1):
            stage.set(number)
            ledger.unlink(missing_ok=True)
            code = workers.run(
                "step", book=stage.book, home=stage.home, ledger=ledger, number=number, at=at, of=of, after=after
            )
            done = number + len(read_ledger(ledger))
            if code == 0:
                assert done == number + 1
                break
            with tally("R2", f"{STORY[number].label}: {'after' if after else 'before'} call {at}"):
                assert code == KILLED
                memory = opened(stage.book, stage.home)
                check_old_or_new(stage.book, memory, STORY, done)
                check_next_write(stage.book, memory)
        assert at > len(("stage", "sync", "log", "sync", "change", "sync"))


# --- disks that fail -------------------------------------------------------------------------------------------


@pytest.mark.promise
@pytest.mark.parametrize("lasting", [False, True], ids=["once", "from-then-on"])
@pytest.mark.parametrize("number", range(len(STORY)), ids=STEPS)
def test_a_disk_that_fails_at_any_call_is_a_clear_refusal(stage, tally, scale, number, lasting):
    """Calls that change something fail, and some that do not; `make torture`: every one of all, in every way."""
    for of, step in scale([(WRITES, 2 if lasting else 1), (READS, 15)], [(CALLS, 1)]):
        for at in count(1 + number % step, step):
            ways = scale([(at + number) % len(ERRORS)], range(len(ERRORS)))
            faults = [Fault(at=at, of=of, act=failing(ERRORS[way]), lasting=lasting) for way in ways]
            if not all(refuse_or_do(stage, tally, number, fault, ERRORS[way]) for way, fault in zip(ways, faults)):
                break


@pytest.mark.promise
def test_a_write_that_stops_halfway_is_a_clear_refusal(stage, tally):
    for number in range(len(STORY)):
        for at in count(1):
            fault = Fault(at=at, of=("write",), act=failing(errno.ENOSPC), half=True)
            if not refuse_or_do(stage, tally, number, fault, errno.ENOSPC):
                break


@pytest.mark.promise
def test_a_call_that_took_effect_and_failed_all_the_same_is_told_as_failed(stage, tally, scale):
    """A network disk may do what it was asked and answer an error."""
    for number in range(len(STORY)):
        for at in count(1):
            fault = Fault(at=at, of=("rename", "unlink", "link", *SYNCS), act=failing(errno.EIO), after=True)
            if not refuse_or_do(stage, tally, number, fault, errno.EIO):
                break


def refuse_or_do(stage, tally, number, fault, error) -> bool:
    """One step on a failing disk, then on a sound one. Answers whether the fault struck at all."""
    disk = FaultyDisk(fault)
    memory = stage.on(number, disk)
    old, new = told(STORY, number), told(STORY, number + 1)
    step, struck_at = STORY[number], f"{STORY[number].label}: call {fault.at} {errno.errorcode[error]} {fault.lasting}"
    if number == 0:
        assert lying(stage.book) == {}
    files = bytes_of(stage.book)
    try:
        outcome = step.do(memory)
    except Exception as problem:
        outcome = problem
    disk.fault = None
    if not disk.struck:
        assert isinstance(outcome, Saved | Forgotten)
        return False
    with tally("R4", struck_at):
        check_no_sync_is_tried_again(disk)
        now = lying(stage.book)
        if isinstance(outcome, Saved | Forgotten):
            assert now == new
        else:
            unreadable = isinstance(outcome, Refused) and outcome.rule == "unreadable"  # by what stands under that name
            assert unreadable or isinstance(outcome, CommonplaceError), repr(outcome)
            if error != errno.EACCES or not (unreadable or isinstance(outcome, NotFound | BadFormat)):
                check_says_what_to_do(outcome, stage.book)
            if UNSURE in str(outcome):
                assert fault.lasting or fault.after
                assert now in (old, new)
            else:
                assert bytes_of(stage.book) == files
        assert said(memory) == now
        if now != new:
            step.do(memory)
        assert said(memory) == lying(stage.book) == new
        if fault.at % 3 == 0 or fault.at < 4:
            check_next_write(stage.book, memory)
    return True


def bytes_of(book: Path) -> dict[str, bytes]:
    """The notes of a notebook as they lie there."""
    paths = [*book.glob("*.md"), *book.glob("sessions/*.md")]
    return {path.relative_to(book).as_posix(): path.read_bytes() for path in paths if path.name != "MEMORY.md"}


def check_says_what_to_do(problem: CommonplaceError, book: Path) -> None:
    text = str(problem)
    assert str(book) in text, text
    assert CURE.search(text), text
    assert "Errno" not in text, text


def check_no_sync_is_tried_again(disk: FaultyDisk) -> None:
    """After a failed fsync the kernel may have dropped the pages: a second one would answer for nothing."""
    failed = set()
    for call, given, answer in disk.calls:
        if call.startswith("open_"):
            failed.discard(answer)
        elif call in SYNCS:
            assert given[0] not in failed, f"{call} again after it failed"
            if isinstance(answer, OSError):
                failed.add(given[0])


@pytest.mark.promise
@pytest.mark.parametrize("ask", ["recall", "read", "notes", "preamble", "status", "listing"])
def test_a_question_on_a_failing_disk_is_answered_right_or_refused(stage, tally, scale, ask):
    questions = {
        "recall": lambda memory: {hit.name: hit.trust for hit in memory.recall("stands line", limit=99).hits},
        "read": lambda memory: memory.read("second").body,
        "notes": lambda memory: {note.name: note.body for note in memory.notes().notes},
        "preamble": lambda memory: memory.preamble(),
        "status": lambda memory: (memory.status().counts, memory.status().room),
        "listing": lambda memory: memory.listing(),
    }
    question = questions[ask]
    stage.set(6)
    right = question(opened(stage.book, stage.home))
    for lasting in (False, True):
        for at in count(1, scale(7, 1)):
            struck = False
            for error in scale([ERRORS[at % len(ERRORS)]], ERRORS):
                disk = FaultyDisk(Fault(at=at, act=failing(error), lasting=lasting))
                memory = opened(stage.book, stage.place / f"home-{at}-{lasting}-{error}", disk)
                case = f"{ask}: call {at} {errno.errorcode[error]} {lasting}"
                try:
                    outcome = question(memory)
                except Exception as problem:
                    outcome = problem
                disk.fault = None
                struck = struck or bool(disk.struck)
                with tally("R4", case):
                    if isinstance(outcome, Exception):
                        assert isinstance(outcome, CommonplaceError), repr(outcome)
                        assert error == errno.EACCES or not isinstance(outcome, NotFound), outcome
                        check_says_what_to_do(outcome, stage.book)
                    elif error != errno.EACCES:
                        assert outcome == right  # (what may not be read is that note's problem; the rest is answered)
                    assert question(memory) == right
            if not struck:
                break


# --- disks that lack something -----------------------------------------------------------------------------------


@pytest.mark.promise
def test_a_disk_without_hard_links_keeps_every_version_all_the_same(tmp_path, tally):
    for error in (errno.EPERM, errno.ENOTSUP, errno.EMLINK, errno.ENOSYS, errno.EXDEV):
        book = tmp_path / errno.errorcode[error]
        disk = FaultyDisk(Fault(at=1, of=("link",), act=failing(error), lasting=True))
        with tally("R4", f"link answers {errno.errorcode[error]}"):
            memory = opened(book, tmp_path / "home", disk)
            play(STORY, book, memory)
            assert disk.struck
            assert said(memory) == told(STORY, len(STORY))
            assert replaced(STORY, len(STORY)) <= kept_versions(book)
            assert kept_indexes(book) == {THEIRS}
            check_next_write(book, memory)


# --- real ones -------------------------------------------------------------------------------------------------


def notebook_of_two(book: Path, home: Path):
    """A notebook as `attempt` expects it."""
    memory = opened(book, home)
    for name in ("first", "third"):
        memory.save(body("old"), name=name, call=PERSON)
    return book, home


def check_attempt(book: Path, told, cured) -> None:
    """Every change was done, or refused with a word and left no trace; every answer is what the files say."""
    now = {"first": body("old"), "third": body("old")}
    changed = {"create": ("second", body("new")), "correct": ("first", body("other")), "forget": ("third", None)}
    for what, outcome, text in told:
        assert outcome != "bare", text
        if outcome == "done" and what in changed:
            name, new = changed[what]
            now[name] = new
        right = {name: text for name, text in now.items() if text is not None}
        if outcome != "done":
            assert outcome in cured, (what, outcome, text)
            assert str(book) in text
            assert CURE.search(text), text
        elif what not in changed:
            assert text == {"read": right["first"], "notes": right, "recall": sorted(right)}[what]
    assert [what for what, *_ in told] == ["create", "correct", "read", "notes", "recall", "forget"]
    assert lying(book) == {name: text for name, text in now.items() if text is not None}


@pytest.mark.promise
@pytest.mark.parametrize("limit", ["file_bytes", "spare_files"])
def test_a_limit_of_the_system_is_a_clear_refusal(workers, tmp_path, tally, limit):
    """No file may grow past so many bytes, or no more than so many may be open: at each limit it is done or refused."""
    refused = 0
    for most in {"file_bytes": (0, 1, 100, 500, 1000, 1500, 2000, 5000, 100_000), "spare_files": range(20)}[limit]:
        book, home = notebook_of_two(tmp_path / str(most) / "book", tmp_path / str(most) / "home")
        ledger = tmp_path / str(most) / "told"
        assert workers.run("attempt", book=book, home=home, ledger=ledger, **{limit: most}) == 0
        told = read_ledger(ledger)
        with tally("R4", f"{limit} {most}"):
            check_attempt(book, told, {"file_bytes": ["DiskFull"], "spare_files": ["DiskFailed"]}[limit])
            refused += told[0][1] != "done"
            check_next_write(book, opened(book, home))
    assert refused
    assert [outcome for _, outcome, _ in told] == ["done"] * len(told)  # the last limit is no limit


@pytest.mark.promise
@pytest.mark.parametrize("closed", ["book", "control", "history", "tmp", "log", "lock"])
def test_a_place_that_may_not_be_written_is_a_clear_refusal_and_can_be_read(tmp_path, tally, closed):
    book, home = notebook_of_two(tmp_path / "book", tmp_path / "home")
    control = book / ".commonplace"
    place = {
        "book": book, "control": control, "history": control / "history", "tmp": control / "tmp",
        "log": control / "log.jsonl", "lock": control / "lock",
    }[closed]  # fmt: skip
    mode = place.stat().st_mode
    place.chmod(0o500 if place.is_dir() else 0o400)
    given = json.dumps({"book": str(book), "home": str(home), "ledger": str(tmp_path / "told")})
    command = without_powers(sys.executable, "-m", "tests.workers", "attempt", given)
    subprocess.run(command, cwd=ROOT, check=True, timeout=30)
    told = read_ledger(tmp_path / "told")
    with tally("R4", f"{closed} is closed"):
        check_attempt(book, told, ["ReadOnly"])
        changes = {what: outcome for what, outcome, _ in told if what in ("create", "correct", "forget")}
        free = {"history": {"create"}, "tmp": {"forget"}, "control": {"create", "correct", "forget"}}.get(closed, set())
        assert {what for what, outcome in changes.items() if outcome == "done"} == free
        assert {outcome for what, outcome, _ in told if what not in changes} == {"done"}
        place.chmod(mode)
        check_next_write(book, opened(book, home))


@pytest.fixture
def small_disk(tmp_path):
    """Mount a real, small file system, and answer where."""
    mounted = []

    def mount(options):
        place = tmp_path / f"disk-{len(mounted)}"
        place.mkdir()
        done = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", options, "none", place], capture_output=True, text=True, check=False
        )
        if done.returncode:
            pytest.skip(f"no file system may be mounted here: {done.stderr.strip()}")
        mounted.append(place)
        return place

    yield mount
    for place in mounted:
        subprocess.run(["umount", place], check=True)


@pytest.mark.promise
@pytest.mark.skipif(shutil.which("mount") is None, reason="needs mount")
@pytest.mark.parametrize("full_of", ["bytes", "files"])
def test_a_real_disk_that_is_full_is_a_clear_refusal(small_disk, tmp_path, tally, full_of):
    """A disk is filled to its brim, then given back a little at a time, until the changes go through."""
    disk = small_disk({"bytes": "size=256k", "files": "size=1m,nr_inodes=60"}[full_of])
    ballast, refused = disk / "ballast", 0
    ballast.mkdir()
    book, home = notebook_of_two(disk / "book", tmp_path / "home")
    fill(ballast, full_of)
    for freed in count(0, 3):  # each correction takes one for the old version
        memory = opened(book, home)
        outcomes = []
        for step in (save("create", "second", body("new")), save("correct", "first", body(f"new {freed}"))):
            old = lying(book)
            try:
                outcomes.append(step.do(memory))
            except CommonplaceError as problem:
                outcomes.append(problem)
            with tally("R4", f"{full_of}: {step.label} with {freed} given back"):
                if isinstance(outcomes[-1], Saved):
                    assert lying(book) == old | {step.name: step.text}
                else:
                    assert isinstance(outcomes[-1], DiskFull)
                    check_says_what_to_do(outcomes[-1], book)
                    assert lying(book) == old
                assert said(memory) == lying(book)
        refused += isinstance(outcomes[-1], DiskFull)
        if all(isinstance(outcome, Saved) and not outcome.warnings for outcome in outcomes):
            break
        for number in range(freed, freed + 3):
            (ballast / str(number)).unlink()
    assert refused
    shutil.rmtree(ballast)
    check_next_write(book, opened(book, home))


def fill(place: Path, full_of: str) -> None:
    """Take all a disk has, in pieces that can be given back."""
    try:
        for number in count():
            (place / str(number)).write_bytes(b"x" * 4096 if full_of == "bytes" else b"")
    except OSError as problem:
        assert problem.errno == errno.ENOSPC
        assert number


# --- the fault itself --------------------------------------------------------------------------------------------


def test_a_faulty_disk_counts_every_call_there_is():
    calls = {name for name in vars(Disk) if not name.startswith("_")}
    assert set(CALLS) == calls - {"close", "unlock"}
    assert set(CALLS) == (set(WRITES) | set(READS)) - {"close", "unlock"}


def test_a_fault_strikes_where_it_is_told_to(tmp_path):
    def outcomes(fault, times=4):
        disk = FaultyDisk(fault)
        root = disk.open_root(str(tmp_path))
        out = []
        for _ in range(times):
            try:
                out.append(type(disk.names(root)).__name__)
            except OSError as problem:
                out.append(errno.errorcode[problem.errno])
        disk.close(root)
        assert disk.struck == out.count("EIO")
        assert len(disk.calls) == times + 1
        return out

    fail = failing(errno.EIO)
    assert outcomes(None) == ["list"] * 4
    assert outcomes(Fault(at=2, of=("names",), act=fail)) == ["list", "EIO", "list", "list"]
    assert outcomes(Fault(at=3, of=("names", "open_root"), act=fail)) == ["list", "EIO", "list", "list"]
    assert outcomes(Fault(at=3, of=("names",), act=fail, lasting=True)) == ["list", "list", "EIO", "EIO"]
    assert outcomes(Fault(at=1, of=("rename",), act=fail, lasting=True)) == ["list"] * 4


def test_a_fault_before_a_call_keeps_it_from_happening_and_one_after_it_does_not(tmp_path):
    for after, half, there in ((False, False, b""), (False, True, b"12"), (True, False, b"12345")):
        disk = FaultyDisk(Fault(at=1, of=("write",), act=failing(errno.EIO), after=after, half=half))
        root = disk.open_root(str(tmp_path))
        fd = disk.open_new("file", root)
        with pytest.raises(OSError, match="Input/output error"):
            disk.write(fd, b"12345")
        assert (tmp_path / "file").read_bytes() == there
        disk.unlink("file", root)
        disk.close(fd)
        disk.close(root)
