"""Power cuts: from the calls a story makes, every state a disk may legally be in when the power goes, and what is read then.

The model of a disk: bytes not yet synced may be missing, cut, zeros or anything. Entries of a directory not yet synced
may be lost, (a) journalled: in the order they were made, any sync keeping all before it, as ext4, xfs, btrfs and apfs
do, or (b) by the letter of POSIX: any of them, a name that a rename gives apart from the name it takes.
"""

import os
import random
import shutil
from itertools import count
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.notebooks import (
    STORY,
    THEIRS,
    Step,
    body,
    check_index,
    check_old_or_new,
    check_rubbish,
    kept_indexes,
    opened,
    play,
    put_index_of_their_own,
    save,
)  # fmt: skip
from tests.places import UnsyncedDisk

from commonplace import Saved
from commonplace.store.disk import WRITES
from commonplace.testing.faulty import Done, Fault, FaultyDisk

SEED = 20260515
OUTSIDE = -1  # every folder above the one the story is told in


class Change(NamedTuple):
    """One entry of a directory made (`inode`) or taken away (None). Those of one call share its number."""

    call: int
    folder: int
    name: str
    inode: int | None


class Machine:
    """What a disk was asked to do, and which of it it has been made to keep."""

    def __init__(self, above: Path) -> None:
        self.above = above  # stands and is kept, before anything happens
        self.root, self._inodes = 0, count(1)
        self.folders = {self.root}
        self.entries: dict[tuple[int, str], int] = {}  # as everybody sees them now
        self.seen: dict[int, bytes] = {}  # files' bytes as everybody sees them
        self.kept: dict[int, bytes] = {}  # and as the disk must have them
        self.changes: list[Change] = []
        self.synced: dict[int, int] = {}  # folder: number of the last call that synced it
        self.journal = 0  # number of the last call that synced anything
        self._open: dict[int, tuple[int, bool]] = {}  # descriptor: inode, appending
        self._calls = 0
        self._told: set[tuple] = set()

    def take(self, done: Done) -> None:
        """Follow one call. A call that failed did nothing."""
        self._calls += 1
        follow = getattr(self, "_" + done.call, None)
        if follow is not None and not isinstance(done.answer, BaseException):
            follow(*done.given, answer=done.answer)

    # --- the calls -------------------------------------------------------------------------------------------

    def _open_root(self, path, answer):
        self._open[answer] = (self._at(path), False)

    def _open_dir(self, name, at, answer):
        self._open[answer] = (self._named(name, at), False)

    _open_read = _open_dir

    def _open_new(self, name, at, answer):
        self._open[answer] = (self._make(self._folder(at), name), False)

    def _open_append(self, name, at, answer):
        folder = self._folder(at)
        inode = self.entries[folder, name] if (folder, name) in self.entries else self._make(folder, name)
        self._open[answer] = (inode, True)

    def _write(self, fd, data, answer):
        self.seen[self._open[fd][0]] += bytes(data[:answer])  # every write of ours goes to the end

    def _truncate(self, fd, size, answer):
        inode = self._open[fd][0]
        self.seen[inode] = self.seen[inode][:size].ljust(size, b"\0")

    def _sync(self, fd, answer):
        inode = self._open[fd][0]
        self.kept[inode] = self.seen[inode]
        self.journal = self._calls

    _sync_data = _sync

    def _sync_dir(self, fd, answer):
        self.synced[self._folder(fd)] = self.journal = self._calls

    def _make_dir(self, name, at, answer):
        inode = next(self._inodes)
        self.folders.add(inode)
        self._change(self._folder(at), name, inode)

    def _make_root(self, path, answer):
        inode = next(self._inodes)
        self.folders.add(inode)
        self._change(self._at(os.path.dirname(path)), os.path.basename(path), inode)

    def _rename(self, old, old_at, new, new_at, answer):
        inode = self._named(old, old_at)
        self._change(self._folder(new_at), new, inode)
        self._change(self._folder(old_at), old, None)

    def _link(self, old, old_at, new, new_at, answer):
        self._change(self._folder(new_at), new, self._named(old, old_at))

    def _unlink(self, name, at, answer):
        self._change(self._folder(at), name, None)

    # --- inodes ----------------------------------------------------------------------------------------------

    def _at(self, path):
        if not Path(path).is_relative_to(self.above):
            return OUTSIDE
        inode = self.root
        for part in Path(path).relative_to(self.above).parts:
            inode = self.entries[inode, part]
        return inode

    def _folder(self, fd):
        return self._open[fd][0]

    def _named(self, name, at):
        return self.entries[self._folder(at), name]

    def _make(self, folder, name):
        inode = next(self._inodes)
        self.seen[inode] = self.kept[inode] = b""
        self._change(folder, name, inode)
        return inode

    def _change(self, folder, name, inode):
        self.changes.append(Change(self._calls, folder, name, inode))
        if inode is None:
            del self.entries[folder, name]
        else:
            self.entries[folder, name] = inode

    # --- the power goes --------------------------------------------------------------------------------------

    def states(self, rng: random.Random, most: int, done: int):
        """What may be on the disk if the power goes now: files by path, for either model.

        None twice while as many steps are done: nothing else could be expected of it.

        The first of each has every name and no byte that was not synced, the second neither, the others any of either.
        """
        for choose in (self._in_order, self._to_the_letter):
            for sample in range(most):
                tree = self._tree(choose(rng, sample), rng, sample)
                key = (done, *sorted(tree.items(), key=lambda item: item[0]))
                if key not in self._told:
                    self._told.add(key)
                    yield choose.__name__.strip("_"), tree

    def _in_order(self, rng, sample):
        """The changes a journalling file system has kept: all up to some call, and what came before the last sync."""
        open_calls = sorted({change.call for change in self.changes if change.call > self.journal})
        last = {0: len(open_calls), 1: 0}.get(sample, rng.randint(0, len(open_calls)))
        kept = set(open_calls[:last])
        return [change for change in self.changes if change.call <= self.journal or change.call in kept]

    def _to_the_letter(self, rng, sample):
        """The changes POSIX promises, and any of the others."""
        share = {0: 1.0, 1: 0.0}.get(sample, 0.5)
        return [
            change for change in self.changes
            if change.call <= self.synced.get(change.folder, 0) or rng.random() < share
        ]  # fmt: skip

    def _tree(self, changes, rng, sample):
        """Paths and bytes, None for a folder. Files that share an inode share their bytes."""
        entries = {}
        for change in changes:
            if change.inode is None:
                entries.pop((change.folder, change.name), None)
            else:
                entries[change.folder, change.name] = change.inode
        tree: dict[str, bytes | None] = {}
        bytes_of = {}
        waiting = [(self.root, "")]
        while waiting:
            folder, path = waiting.pop()
            for (at, name), inode in entries.items():
                if at != folder:
                    continue
                if inode in self.folders:
                    tree[path + name] = None
                    waiting.append((inode, f"{path}{name}/"))
                else:
                    bytes_of.setdefault(inode, self._bytes(inode, rng, sample))
                    tree[path + name] = bytes_of[inode]
        return tree

    def _bytes(self, inode, rng, sample):
        """What a file may hold: what was synced, and of the rest all, none, some, zeros or anything."""
        kept, seen = self.kept[inode], self.seen[inode]
        if kept == seen:
            return seen
        start = len(os.path.commonprefix([kept, seen]))
        rest = len(seen) - start
        way = sample if sample < 2 else rng.randint(0, 5)
        return (
            kept,
            seen,
            seen[: start + rng.randint(0, rest)],
            seen[:start] + bytes(rest),
            seen[:start] + rng.randbytes(rest),
            seen[: start + rest // 2] + bytes(rest - rest // 2),
        )[way]


def materialise(tree: dict[str, bytes | None], place: Path) -> None:
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    for path in sorted(tree):
        if tree[path] is None:
            (place / path).mkdir(mode=0o700)
        else:
            (place / path).write_bytes(tree[path])


def record(story, above: Path, home: Path) -> tuple[list[Done], list[int]]:
    """The calls of a story, and how many there were when each step was acknowledged."""
    disk, marks = FaultyDisk(), []
    book = above / "er" / "book"
    play(story, book, opened(book, home, disk), lambda number: marks.append(len(disk.calls)), disk)
    return disk.calls, marks


@pytest.mark.promise
@pytest.mark.timeout(600)
def test_a_power_cut_at_any_moment_loses_nothing_acknowledged(tmp_path, tally, scale):
    above = tmp_path / "deep"
    above.mkdir()
    calls, marks = record(STORY, above, tmp_path / "home")
    machine, rng = Machine(above), random.Random(SEED)
    for at, call in enumerate(calls, 1):
        machine.take(call)
        if call.call in WRITES:
            done = sum(mark <= at for mark in marks)
            for model, tree in machine.states(rng, scale(3, 40), done):
                with tally("R3", f"{model} after call {at} {call.call}, {done} steps done"):
                    check_after_power(tree, tmp_path / "after", STORY, done)


def check_after_power(tree, place: Path, story: tuple[Step, ...], done: int) -> None:
    """The notebook says one of these, knows whose word it is, and the next write leaves all as it should be."""
    materialise(tree, place / "disk")
    book, home = place / "disk" / "er" / "book", place / "home"
    memory = opened(book, home, UnsyncedDisk())
    check_old_or_new(book, memory, story, done)
    if any(step.before is put_index_of_their_own for step in story[:done]):
        assert THEIRS in kept_indexes(book)
    saved = memory.save(body("next"), name="the-next-write", description="What the next write is")
    assert isinstance(saved, Saved)
    assert not saved.warnings
    check_index(book, memory)
    check_rubbish(book)


class Dead(BaseException):
    """What every call of a disk raises once its process is taken for dead: nothing after it reaches the disk."""


def dying() -> None:
    raise Dead


@pytest.mark.promise
def test_a_power_cut_after_a_kill_loses_nothing_acknowledged(tmp_path, tally, scale):
    """What a dead writer made and did not wait for is not taken for kept by the one after it."""
    sound = tmp_path / "sound"
    sound.mkdir()
    calls, _ = record(STORY, sound, tmp_path / "home")
    points = [at for at, call in enumerate(calls, 1) if call.call in WRITES]
    rng = random.Random(SEED)
    for at in points[:: scale(5, 1)]:
        above = tmp_path / str(at)
        above.mkdir()
        machine, story = killed_and_gone_on(above, tmp_path / f"home-{at}", at)
        for model, tree in machine.states(rng, scale(3, 40), len(story)):
            with tally("R3", f"killed at call {at}, then a power cut: {model}"):
                check_after_power(tree, tmp_path / "after", story, len(story))


def killed_and_gone_on(above: Path, home: Path, at: int) -> tuple[Machine, tuple[Step, ...]]:
    """One writer dies at a call; another saves what that one was about, in other words. Answers the disk, and the story."""
    book, machine, done = above / "er" / "book", Machine(above), []
    disk = FaultyDisk(Fault(at=at, act=dying, lasting=True))
    try:
        play(STORY, book, opened(book, home, disk), done.append, disk)
    except Dead:
        pass
    else:
        raise AssertionError(f"nobody died at call {at}")
    step = STORY[len(done)]
    kind = "session" if step.name[0].isdigit() else "project"
    again = save("again", step.name, body("theta"), kind=kind)
    after = FaultyDisk()
    play([again], book, opened(book, home, after), disk=after)
    for call in disk.calls + after.calls:
        machine.take(call)
    return machine, (*STORY[: len(done)], again)
