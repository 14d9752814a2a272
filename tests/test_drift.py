"""The index equals the files: whatever people and tools do to the directory, the next call tells what is there now.

Every answer is compared with that of a memory which knows nothing from before: it reads each file anew, by rules of
its own, keeps its tables in memory and is thrown away.
"""

import errno
import json
import os
import random
import re
import shutil
import stat
import subprocess
import time
from contextlib import suppress
from datetime import date, datetime, timedelta
from hashlib import blake2b, sha256

import pytest
from tests.elsewhere import Elsewhere
from tests.places import TickingDisk, UnsyncedDisk, snapshot

from commonplace import Call, open_memory
from commonplace.errors import BadFormat, CommonplaceError, NotFound
from commonplace.index.catalog import Catalog
from commonplace.index.listing import INDEX_HEAD, INDEX_REACH, WHOLE_INDEX
from commonplace.index.sidecar import Sidecar
from commonplace.memory import Memory
from commonplace.note.format import parse
from commonplace.recall.semantic import StaticWords
from commonplace.settings import read_settings
from commonplace.store.base import Found, Inventory, Seen
from commonplace.store.files import FileStore

NOW = datetime(2026, 5, 15, 12).timestamp()
FOLDERS = ("", "sessions", "user", "feedback", "project", "reference")
_NO_NOTE = re.compile(
    r"MEMORY|readme|agents|claude|gemini|skill|\..*|.*(conflict).*|\s.*|.*\s|.*[\x00-\x1f\x7f\\].*", re.I
)


class AsItIs:
    """A Store of what the files of a notebook say at this moment, with nothing kept from before."""

    def __init__(self, book):
        self.where = os.path.realpath(book)
        self._authors = authors(self.where)
        self._notes, self._bad, self.seen = {}, {}, []
        for folder in FOLDERS:
            place = os.path.join(self.where, folder)
            if os.path.islink(place) or not os.path.isdir(place):
                continue
            for file in sorted(os.listdir(place)):
                self._take(file, folder, os.path.join(place, file))

    def _take(self, file, folder, path):
        stem, dot, end = file.rpartition(".")
        found = os.lstat(path)
        plain = stat.S_ISREG(found.st_mode) and found.st_size <= 64 * 1024
        if (
            end != "md"
            or not dot
            or not plain
            or (_NO_NOTE.fullmatch(stem) and stem != "memory")
            or stem in self._notes
        ):
            return
        seen = Seen(stem, folder, (len(self.seen) + 1, 0, 1, 1))
        try:
            with open(path, "rb") as source:
                note = parse(source.read(), stem, folder)
        except BadFormat as problem:
            self._bad[stem] = problem
        else:
            self._notes[stem] = Found(note, seen, lambda: self._authors.get((stem, note.stamp), "hand"))
        self.seen.append(seen)

    def get(self, name):
        if name in self._bad:
            raise self._bad[name]
        if name not in self._notes:
            raise NotFound(name)
        return self._notes[name]

    def scan(self, known=""):
        return Inventory(tuple(sorted(self.seen)), ())

    def pulse(self):
        return (1,)


class authors(dict):  # noqa: N801 - it reads as what it is
    """Who wrote which bytes under which name, read from the log without any of the product's code."""

    def __init__(self, book):
        control = os.path.join(book, ".commonplace")
        try:
            with open(os.path.join(control, "key"), "rb") as file:
                self._key = file.read()
            with open(os.path.join(control, "log.jsonl"), "rb") as file:
                lines = file.read().split(b"\n")[:-1]
        except OSError:
            return
        before, sound = "", True
        for line in lines:
            said = json.loads(line)
            sound = sound and said["prev"] == before
            before = sha256(line).hexdigest()[:32]
            if said["hash"]:
                self[said["id"], said["hash"]] = said["origin"] if sound or said["origin"] != "person" else "hand"

    def get(self, key, default):
        name, stamp = key
        if not self:
            return default
        return super().get((blake2b(name.encode(), key=self._key, digest_size=8).hexdigest(), stamp), default)


def as_it_is(book, now=NOW):
    """A memory over what the files say at this moment."""
    store = AsItIs(book)
    catalog = Catalog(store, Sidecar(None), today=lambda: date.fromtimestamp(now))
    return Memory(store, catalog, now=lambda: now, encoder=StaticWords)


def fact(note):
    return (*note.facts(), note.folder, note.stamp, note.odd)


# Every way there is to ask what a notebook holds.
ASKED = {
    "notes": lambda memory, _: [fact(note) for note in memory.notes().notes],
    "recall": lambda memory, word: [
        (hit.name, hit.description, hit.excerpt, hit.trust, hit.score, hit.reasons, hit.age)
        for hit in memory.recall(word, limit=50).hits
    ],
    "listing": lambda memory, _: memory.listing().text,
    "preamble": lambda memory, _: memory.preamble(),
    "status": lambda memory, _: memory.status().counts,
    "read": lambda memory, word: read(memory, word),
}


def read(memory, name):
    try:
        return fact(memory.read(name))
    except (NotFound, BadFormat):
        return "nothing that can be read"


def agree(memory, book, word="fact", asked=tuple(ASKED), now=NOW):
    """What a memory answers is what the files say. `asked` in this order: the first is the first call after a change."""
    oracle = as_it_is(book, now)
    for what in asked:
        told, true = ASKED[what](memory, word), ASKED[what](oracle, word)
        assert told == true, f"{what}: {differing(told, true)}"


def differing(told, true):
    """The first things two answers do not share, in a few words."""
    if isinstance(told, str):
        told, true = told.split("\n"), true.split("\n")
    if isinstance(told, list):
        return [f"{word} {item}"[:300] for word, one, other in (("told", told, true), ("true", true, told))
                for item in one if item not in other][:4] or "another order"  # fmt: skip
    return told, true


def opened(book, cache=None, disk=None, now=NOW, **more):
    """A memory on a directory at a fixed time, with a cache of its own if asked, on a disk that does not sync."""
    settings = read_settings(book)
    settings = settings._replace(cache=str(cache)) if cache else settings
    return open_memory(settings=settings, now=lambda: now, disk=disk or UnsyncedDisk(), **more)


def file(book, name, text="It is so.", folder=""):
    path = book / folder / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


# --- a person and their tools ------------------------------------------------------------------------------------

NAMES = (
    "fact-1", "fact-2", "fact-3", "user_prefs", "Größe", "日本語のメモ", "with space", "UPPER", "fact.with.dots", "memory",
    "cafe\u0301", "caf\u00e9", "x (1)", "2026-05-15", "-rf", "100%", "a'b\"c", "[link](x)", "#hash", "fact-" + "n" * 200,
)  # fmt: skip


class Hand:
    """Somebody at the notebook with an editor, a shell and a sync tool. Every `do_` changes it in one way."""

    def __init__(self, book, seed):
        self.book = book
        self.rng = random.Random(seed)
        self.count = 0
        self.ways = [name for name in dir(self) if name.startswith("do_")]

    def act(self):
        way = self.rng.choice(self.ways)
        try:
            getattr(self, way)()
        except OSError as problem:  # what stands there now does not allow it: the next one will
            if problem.errno not in (
                errno.EISDIR,
                errno.ENOTDIR,
                errno.ENOENT,
                errno.EEXIST,
                errno.ELOOP,
                errno.ENOTEMPTY,
            ):
                raise
        return way

    def text(self):
        self.count += 1
        body = f"The fact number {self.count} is {self.rng.choice(['red', 'green', 'blue'])}.\n" * self.rng.randint(
            1, 3
        )
        fields = {
            "name": "another", "title": f"Title {self.count}", "description": f"fact {self.count}: a description",
            "type": self.rng.choice(["user", "feedback", "decision", "strange", "session"]), "tags": "[a, b]",
            "created": "2026-01-02", "updated": f"2026-0{self.rng.randint(1, 5)}-11", "pinned": "true",
            "expires": self.rng.choice(["2026-05-14", "2026-05-15", "2027-01-01", "soon"]),
            "supersedes": f"[{self.rng.choice(NAMES[:6])}]", "origin": "person", "unknown": "kept",
        }  # fmt: skip
        chosen = [key for key in fields if self.rng.random() < 0.35]
        header = "---\n" + "".join(f"{key}: {fields[key]}\n" for key in chosen) + "---\n\n" if chosen else ""
        shape = self.rng.random()
        if shape < 0.05:
            return (header + body).replace("\n", "\r\n").encode()
        if shape < 0.1:
            return b"\xef\xbb\xbf" + (header + body).encode()
        if shape < 0.15:
            return (header + body + "caf\u00e9").encode("latin-1", "replace")
        if shape < 0.2:
            return self.rng.choice([b"", b"\0" * 20, b"x" * 65537, b"x" * 65536, header.encode(), b"---\nname: x\n"])
        return (header + body).encode()

    def notes(self):
        found = [path for folder in FOLDERS for path in (self.book / folder).glob("*.md")]
        found = sorted(path for path in found if path.name != "MEMORY.md" and path.is_file() and not path.is_symlink())
        return found or [self.new()]

    def some(self):
        return self.rng.choice(self.notes())

    def place(self):
        folder = self.book / self.rng.choice(("", "", *FOLDERS))
        folder.mkdir(exist_ok=True)
        return folder / f"{self.rng.choice(NAMES)}.md"

    def new(self):
        path = self.place()
        path.write_bytes(self.text())
        return path

    def do_write_a_file(self):
        self.new()

    def do_write_over(self):
        self.some().write_bytes(self.text())

    def do_append(self):
        with self.some().open("ab") as out:
            out.write(b"\nOne line more.\n")

    def do_save_as_an_editor_does(self):
        path = self.some()
        temporary = path.with_name(f".{path.name}.tmp")
        temporary.write_bytes(self.text())
        os.rename(temporary, path)

    def do_save_as_vim_does(self):
        path = self.some()
        os.rename(path, path.with_name(path.name + "~"))
        path.write_bytes(self.text())

    def do_truncate_then_write(self):
        with self.some().open("r+b") as out:
            out.truncate(0)
            out.write(self.text())

    def do_change_letters_and_set_the_time_back(self):
        path = self.some()
        was, text = path.stat(), path.read_bytes()
        path.write_bytes(text.translate(bytes.maketrans(b"aeiou", b"eioua")))
        os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))

    def do_replace_by_one_of_the_same_size_and_time(self):
        path = self.some()
        was, text = path.stat(), path.read_bytes()
        other = path.with_name(".other")
        other.write_bytes(text.translate(bytes.maketrans(b"0123456789", b"1234567890")))
        os.utime(other, ns=(was.st_atime_ns, was.st_mtime_ns))
        os.replace(other, path)

    def do_copy_with_its_time(self):
        with suppress(shutil.SameFileError):
            shutil.copy2(self.some(), self.place())

    def do_rename(self):
        os.rename(self.some(), self.place())

    def do_swap_two(self):
        one, two = self.some(), self.some()
        os.rename(one, self.book / ".third")
        if two != one:
            os.rename(two, one)
        os.rename(self.book / ".third", two)

    def do_move_to_a_folder(self):
        path = self.some()
        folder = self.book / self.rng.choice(FOLDERS)
        folder.mkdir(exist_ok=True)
        shutil.move(path, folder / path.name)

    def do_delete(self):
        self.some().unlink()

    def do_delete_a_folder(self):
        shutil.rmtree(self.book / self.rng.choice(FOLDERS[1:]))

    def do_link_to_another_name(self):
        os.link(self.some(), self.place())

    def do_put_a_link_in_its_place(self):
        path, target = self.some(), self.some()
        path.unlink()
        path.symlink_to(target)

    def do_put_a_folder_in_its_place(self):
        path = self.some()
        path.unlink()
        path.mkdir()

    def do_clear_away_what_is_no_file(self):
        for folder in FOLDERS:
            for path in (self.book / folder).glob("*.md"):
                if path.is_symlink():
                    path.unlink()
                elif path.is_dir():
                    shutil.rmtree(path)

    def do_change_a_mode(self):
        self.some().chmod(self.rng.choice((0o600, 0o644, 0o666)))

    def do_touch(self):
        os.utime(self.some(), ns=(0, self.rng.randrange(10**18)))

    def do_touch_the_folder(self):
        os.utime(self.book, ns=(0, self.rng.randrange(10**18)))

    def do_run_mv(self):
        self.run("mv", "-f", "--", self.some(), self.place())

    def do_run_sed(self):
        self.run("sed", "-i", "s/fact/FACT/", "--", self.some())

    def do_run_cp(self):
        self.run("cp", "-p", "--", self.some(), self.place())

    def do_run_touch(self):
        self.run("touch", "-d", "2001-02-03", "--", self.some())

    def do_run_rm(self):
        self.run("rm", "-rf", "--", self.place())

    def do_run_a_shell(self):
        self.run("sh", "-c", 'printf "one fact more" >> "$1"', "sh", self.some())

    def do_leave_things(self):
        name = self.rng.choice(("a.sync-conflict-20260515-080000-ABCDEFG.md", "README.md", ".x.md.swp", "x.md.part"))
        (self.book / name).write_bytes(self.text())

    def do_damage_the_index(self):
        index = self.book / "MEMORY.md"
        if index.is_file() or index.is_symlink():
            index.unlink()
        if index.is_dir():
            index.rmdir()
        self.rng.choice((
            lambda: None, lambda: index.write_bytes(b"- [forged](../../etc/passwd)\n"), lambda: index.mkdir(),
            lambda: index.symlink_to(self.book.parent / "outside"), lambda: os.mkfifo(index),
        ))()  # fmt: skip
        if stat.S_ISFIFO(index.lstat().st_mode) if os.path.lexists(index) else False:
            index.unlink()

    def do_keep_and_bring_back_a_copy(self):
        copy = self.book.parent / "backup"
        if copy.exists():
            shutil.rmtree(self.book)
            os.rename(copy, self.book)
        else:
            shutil.copytree(self.book, copy, symlinks=True)

    def do_replace_the_notebook_by_its_copy(self):
        other = self.book.parent / "other"
        shutil.copytree(self.book, other, symlinks=True)
        shutil.rmtree(self.book)
        os.rename(other, self.book)

    def run(self, *command):
        subprocess.run([os.fspath(word) for word in command], check=False, capture_output=True)


class Writers(Hand):
    """The same, with saves and forgets of our own from this process, from a second memory and from another process."""

    def __init__(self, book, seed, here, elsewhere):
        super().__init__(book, seed)
        self.here, self.elsewhere = here, elsewhere
        self.ways += [way for way in dir(self) if way.startswith("do_our")] * 4

    def do_our_save(self):
        self.count += 1
        name = self.rng.choice((None, *NAMES[:10]))
        self.ours(lambda memory: memory.save(
            f"The fact {self.count} was told.", name=name, kind=self.rng.choice((None, "user", "session")), replace=True,
            call=Call(origin=self.rng.choice(("agent", "person"))),
        ))  # fmt: skip

    def do_our_forget(self):
        name = self.some().stem
        self.ours(lambda memory: memory.forget(name))

    def do_our_save_elsewhere(self):
        self.count += 1
        self.elsewhere(
            "save", f"The fact {self.count} was told elsewhere.", name=self.rng.choice(NAMES[:10]), replace=True
        )

    def do_our_forget_elsewhere(self):
        self.elsewhere("forget", self.some().stem)

    def ours(self, call):
        try:
            call(self.rng.choice(self.here))
        except CommonplaceError:  # a folder or a link may stand in the way just now
            pass


@pytest.mark.promise
@pytest.mark.parametrize("ticks", [False, True], ids=["fine-times", "coarse-times"])
def test_the_next_call_equals_a_fresh_scan_after_anything_people_and_tools_do(book, tmp_path, scale, tally, ticks):
    book.mkdir()
    (tmp_path / "outside").write_text("not ours")
    disk = TickingDisk() if ticks else UnsyncedDisk()
    here = [opened(book, disk=disk), opened(book, disk=disk), opened(book, cache=tmp_path / "another-cache", disk=disk)]
    with Elsewhere(book) as elsewhere:
        hand = Writers(book, 20 + ticks, here, elsewhere)
        for step in range(scale(130, 1000)):
            ways = [hand.act() for _ in range(hand.rng.choice((1, 1, 1, 3)))]
            with tally("R6", (step, ways)):
                asked = hand.rng.sample(list(ASKED), 2)
                agree(hand.rng.choice(here), book, hand.rng.choice(("fact", "red", *NAMES)), asked)
            if step % 10 == 0:
                with tally("R6", (step, ways, "everywhere")):
                    assert elsewhere("notes") == [[n.name, n.folder, n.stamp, n.body] for n in here[0].notes().notes]
                    agree(opened(book), book)
                    agree(opened(book, cache=tmp_path / f"none-{step}"), book)
    assert (tmp_path / "outside").read_text() == "not ours"


@pytest.mark.promise
@pytest.mark.parametrize("ticks", [False, True], ids=["fine-times", "coarse-times"])
def test_above_the_scan_limit_nothing_returned_is_stale_and_entries_that_come_and_go_are_seen_at_once(
    book, tmp_path, scale, tally, ticks
):
    book.mkdir()
    disk = TickingDisk() if ticks else UnsyncedDisk()
    memory = above_the_limit(book, disk)
    with Elsewhere(book) as elsewhere:
        hand = Writers(book, 50 + ticks, [memory, opened(book, disk=disk)], elsewhere)
        for step in range(scale(100, 1000)):
            ways = [hand.act() for _ in range(hand.rng.choice((1, 1, 3)))]
            with tally("R6", (step, ways)):
                nothing_returned_is_stale(memory, book)
            if step % 10 == 0:
                with tally("R6", (step, ways, "all")):
                    agree(memory, book, asked=["notes"])
                    agree(memory, book)


def above_the_limit(book, disk=None, every=60.0, cache=None):
    """A memory that takes any number of notes for too many to look at each of them on every call."""
    store = FileStore(os.fspath(book), disk=disk or UnsyncedDisk(), now=lambda: NOW)
    side = Sidecar(os.path.join(cache or book.parent, "above.sqlite"))
    catalog = Catalog(
        store, side, today=lambda: date.fromtimestamp(NOW), republish=store.republish, scan_limit=0, scan_every=every
    )
    return Memory(store, catalog, now=lambda: NOW, encoder=StaticWords)


def nothing_returned_is_stale(memory, book):
    oracle = as_it_is(book)
    now = {hit.name: (hit.description, hit.excerpt, hit.trust) for hit in oracle.recall("fact", limit=100).hits}
    for hit in memory.recall("fact", limit=100).hits:
        assert (hit.description, hit.excerpt, hit.trust) == now.get(hit.name), hit.name
    lines = set(oracle.listing().text.split("\n"))
    assert [line for line in memory.listing().text.split("\n") if line.startswith("- ") and line not in lines] == []
    assert [
        line for line in memory.preamble().split("\n") if line.startswith("- [") and line not in preambled(oracle)
    ] == []


def preambled(oracle):
    return oracle.preamble().split("\n")


def test_above_the_scan_limit_a_file_that_comes_goes_or_is_renamed_is_seen_by_the_next_call(book):
    memory = above_the_limit(book)
    for number in range(30):
        memory.save(f"The fact {number}.", name=f"fact {number}")
    steps = (
        lambda: file(book, "new", "The fact that is new."),
        lambda: os.rename(book / "new.md", book / "newer.md"),
        lambda: (book / "newer.md").unlink(),
        lambda: file(book, "at-work", "The fact of a session.", "sessions"),
        lambda: os.rename(book / "sessions" / "at-work.md", book / "fact-3.md"),
        lambda: shutil.copy2(book / "fact-3.md", book / "fact-99.md"),
        lambda: os.replace(book / "fact-99.md", book / "fact-4.md"),
        lambda: shutil.rmtree(book / "sessions"),
    )
    for number, step in enumerate(steps):
        step()
        agree(memory, book, asked=["recall", "listing", "preamble"])
        step = memory.save(f"The fact of turn {number}.", name=f"turn {number}")
        agree(memory, book, asked=["listing", "recall"])


def test_above_the_scan_limit_a_file_made_while_we_saved_is_seen_by_the_next_call(book):
    """Made between our look at the folder and our own rename, it leaves no mark of its own on the folder's time."""

    class Beside(UnsyncedDisk):
        armed = 0

        def rename(self, old, old_at, new, new_at):
            super().rename(old, old_at, new, new_at)
            if self.armed:
                file(book, f"beside-{self.armed}-{new.removesuffix('.md')}", f"The fact beside {new}.")

    disk = Beside()
    memory = above_the_limit(book, disk)
    memory.save("The fact one.", name="fact 1")
    agree(memory, book)
    for disk.armed in (1, 2):
        memory.save(f"The fact {disk.armed}.", name=f"fact {disk.armed + 1}")
        agree(memory, book, asked=["recall"])


def test_above_the_scan_limit_an_edit_in_place_is_found_when_it_is_returned(book):
    memory = above_the_limit(book)
    for number in range(5):
        memory.save(f"The fact {number} is red.", name=f"fact {number}")
    settle(memory)
    path = book / "fact-3.md"
    path.write_bytes(path.read_bytes().replace(b"red", b"blue"))
    agree(memory, book, asked=["recall", "listing", "preamble"])


def test_above_the_scan_limit_an_edit_in_place_is_found_within_the_stated_time(book):
    memory = above_the_limit(book, every=0.3)
    for number in range(5):
        memory.save(f"The fact {number} is red.", name=f"fact {number}")
    settle(memory)
    path = book / "fact-3.md"
    path.write_bytes(path.read_bytes().replace(b"red", b"violet"))
    time.sleep(0.3)
    assert [hit.name for hit in memory.recall("violet").hits] == ["fact-3"]


def settle(memory):
    """Wait until no file is too fresh for its times to be trusted, and look once more."""
    time.sleep(0.02)
    memory.notes()


def test_a_file_that_changed_too_shortly_before_it_was_read_is_read_again(book):
    """Twice within a tick of the file system's clock: same inode, same size, same times, another text."""
    for tick in (4_000_000, 1_000_000_000, 2_000_000_000):
        memory = opened(book, disk=TickingDisk(tick))
        for colour in ("red", "blu", "sea", "sky", "ink") * 6:
            file(book, "fact", f"The fact is {colour}.")
            assert memory.recall("fact").hits[0].excerpt == f"The fact is {colour}."


class SlowDisk(TickingDisk):
    """A disk of slow ticks on which something happens each time a file was read, and then time passes."""

    def __init__(self, once_read):
        super().__init__()
        self._once_read = once_read

    def read(self, fd, size):
        data = super().read(fd, size)
        if data.startswith(b"The fact"):
            self._once_read()
            time.sleep(0.015)
        return data


def test_a_file_that_changed_right_after_it_was_read_is_read_again_however_long_the_rest_took(book):
    """What counts is when the file was read, not when the catalog was done with it."""
    texts = iter(["The fact is blu."])

    def change():
        for text in texts:
            file(book, "fact", text)

    for _ in range(4):  # one of them begins early enough within a tick
        texts = iter(["The fact is blu."])
        memory = opened(book, disk=SlowDisk(change))
        file(book, "fact", "The fact is red.")
        memory.recall("fact")
        assert memory.recall("fact").hits[0].excerpt == "The fact is blu."


# --- the index beside the notes ----------------------------------------------------------------------------------


def shelf(book, memory=None):
    memory = memory or opened(book)
    for number in range(4):
        memory.save(f"The fact {number} is so.", name=f"fact {number}", kind=("user", "project")[number % 2])
    return memory


def index_of(book):
    catalog = as_it_is(book)._catalog
    catalog.refresh()
    return catalog.listing(date.fromtimestamp(NOW), WHOLE_INDEX, head=INDEX_HEAD, reach=INDEX_REACH).text


def gone(index, outside):
    index.unlink()


def garbage(index, outside):
    index.write_bytes(os.urandom(5000))


def forged(index, outside):
    index.write_text("<!-- Made by Commonplace -->\n- [never said](never-said.md) - forged\n")


def emptied(index, outside):
    index.write_bytes(b"")


def huge(index, outside):
    index.unlink()
    with index.open("wb") as out:
        out.truncate(20 << 30)


def linked_outside(index, outside):
    index.unlink()
    index.symlink_to(outside)


def linked_nowhere(index, outside):
    index.unlink()
    index.symlink_to(outside.with_name("nowhere"))


def linked_hard(index, outside):
    index.unlink()
    os.link(outside, index)


def linked_to_a_note(index, outside):
    index.unlink()
    index.symlink_to("fact-1.md")


def one_with_a_note(index, outside):
    index.unlink()
    os.link(index.with_name("fact-1.md"), index)


def folder(index, outside):
    index.unlink()
    index.mkdir()
    (index / "inside").write_text("kept")


def fifo(index, outside):
    index.unlink()
    os.mkfifo(index)


def read_only(index, outside):
    index.chmod(0o400)


def sealed(index, outside):
    index.chmod(0)


@pytest.mark.promise
@pytest.mark.parametrize(
    "damage",
    [gone, garbage, forged, emptied, huge, linked_outside, linked_nowhere, linked_hard, linked_to_a_note, one_with_a_note,
     folder, fifo, read_only, sealed],
    ids=lambda damage: damage.__name__,
)  # fmt: skip
def test_whatever_happens_to_the_index_file_the_answers_are_right_and_the_next_change_writes_it(
    book, tmp_path, tally, damage
):
    outside = tmp_path / "outside"
    outside.write_text("not ours\n")
    memory = shelf(book)
    notes = {path.name: path.read_bytes() for path in book.glob("fact-*.md")}
    index = book / "MEMORY.md"
    damage(index, outside)
    replaceable = stat.S_ISREG(index.lstat().st_mode) if os.path.lexists(index) else True
    with tally("R6", damage.__name__):
        agree(memory, book)
        agree(opened(book), book)
        saved = memory.save("One fact more.", name="one more")
        agree(memory, book)
        assert outside.read_text() == "not ours\n"
        assert {name: (book / name).read_bytes() for name in notes} == notes
        if replaceable:
            assert index.read_text() == index_of(book)
            assert saved.warnings == ()
        else:
            assert "MEMORY.md is not a plain file" in saved.warnings[0]
            assert any(problem.file == "MEMORY.md" for problem in memory.notes().problems)
            assert snapshot(index) if index.is_dir() else True


def test_an_index_that_was_deleted_or_is_behind_is_written_again_by_the_next_call(book):
    memory = shelf(book)
    (book / "MEMORY.md").unlink()
    memory.recall("fact")
    assert (book / "MEMORY.md").read_text() == index_of(book)
    file(book, "by-hand", "A fact by hand.")
    memory.preamble()
    assert (book / "MEMORY.md").read_text() == index_of(book)
    assert "by-hand" in index_of(book)


def test_the_very_first_save_writes_the_index(book, tmp_path):
    (tmp_path / "no-cache").write_text("a file")
    for place, cache in ((book, None), (tmp_path / "another", tmp_path / "no-cache")):
        opened(place, cache=cache).save("The fact is so.", name="fact")
        assert (place / "MEMORY.md").read_text() == index_of(place)


@pytest.mark.parametrize("change", ["save", "correct", "forget"])
def test_the_first_change_of_a_process_without_a_cache_writes_the_whole_index(book, tmp_path, change):
    shelf(book)
    memory = opened(book, cache=tmp_path / "none")
    if change == "forget":
        memory.forget("fact-1")
    else:
        memory.save("The fact is new.", name="fact 1" if change == "correct" else "new", replace=True)
    assert (book / "MEMORY.md").read_text() == index_of(book)


def test_tables_that_were_begun_again_in_the_middle_of_a_save_do_not_shrink_the_index(book, tmp_path):
    """The note is safe either way; an index of that one note alone would hide all others from whoever reads the file."""

    class Losing(UnsyncedDisk):
        cache = ""

        def rename(self, old, old_at, new, new_at):
            super().rename(old, old_at, new, new_at)
            if self.cache and new.endswith("new.md"):
                for suffix in ("", "-wal", "-shm"):
                    with open(self.cache + suffix, "wb") as out:
                        out.write(b"not a database at all\n" * 3000)

    disk = Losing()
    memory = shelf(book, opened(book, disk=disk))
    disk.cache = cache_of(memory)
    memory._catalog._side.close()
    memory.save("The fact is new.", name="new")
    assert (book / "MEMORY.md").read_text().count("\n- ") >= 4
    agree(memory, book)
    assert (book / "MEMORY.md").read_text() == index_of(book)


def test_an_index_somebody_else_made_is_kept_in_the_history_before_it_is_replaced(book):
    book.mkdir()
    (book / "MEMORY.md").write_text("# My own index\n")
    file(book, "mine")
    shelf(book)
    kept = [path.read_text() for path in (book / ".commonplace" / "history" / "MEMORY").iterdir()]
    assert kept == ["# My own index\n"]


def test_nothing_is_made_in_a_directory_that_was_only_read(book):
    file(book, "by-hand")
    file(book, "two", folder="sessions")
    before = snapshot(book, times=True)
    agree(opened(book), book)
    assert snapshot(book, times=True) == before


# --- the cache ---------------------------------------------------------------------------------------------------


def cache_of(memory):
    return memory.status().cache


def cache_gone(cache, other):
    shutil.rmtree(os.path.dirname(cache))


def cache_emptied(cache, other):
    os.truncate(cache, 0)


def cache_cut(cache, other):
    os.truncate(cache, os.path.getsize(cache) // 2)


def cache_garbage(cache, other):
    with open(cache, "r+b") as out:
        out.write(os.urandom(os.path.getsize(cache)))


def cache_of_another(cache, other):
    shutil.copy2(cache_of(other), cache)


def cache_folder_of_another(cache, other):
    shutil.rmtree(os.path.dirname(cache))
    shutil.copytree(os.path.dirname(cache_of(other)), os.path.dirname(cache))


def cache_a_folder(cache, other):
    os.unlink(cache)
    os.mkdir(cache)


def cache_a_link(cache, other):
    os.unlink(cache)
    os.symlink(cache_of(other), cache)


def cache_a_fifo(cache, other):
    os.unlink(cache)
    os.mkfifo(cache)


def cache_is_text(cache, other):
    with open(cache, "w") as out:
        out.write("SQLite format 3 it is not\n" * 500)


def cache_without_its_log(cache, other):
    for suffix in ("-wal", "-shm"):
        if os.path.exists(cache + suffix):
            os.unlink(cache + suffix)


CACHES = (
    cache_gone, cache_emptied, cache_cut, cache_garbage, cache_of_another, cache_folder_of_another, cache_a_folder,
    cache_a_link, cache_a_fifo, cache_is_text, cache_without_its_log,
)  # fmt: skip


@pytest.mark.promise
@pytest.mark.parametrize("damage", CACHES, ids=lambda damage: damage.__name__)
@pytest.mark.parametrize("still_open", [False, True], ids=["closed", "open"])
def test_whatever_happens_to_the_cache_the_answers_are_right(book, tmp_path, tally, damage, still_open):
    other = shelf(tmp_path / "other", opened(tmp_path / "other"))
    other.save("A fact only the other has.", name="only there")
    before = snapshot(tmp_path / "other", times=True)
    memory = shelf(book)
    memory.recall("fact")
    cache = cache_of(memory)
    if not still_open:
        memory._catalog._side.close()
    other._catalog._side.close()
    damage(cache, other)
    with tally("R6", (damage.__name__, still_open)):
        agree(memory, book)
        agree(opened(book), book)
        file(book, "by-hand", "A fact by hand.")
        agree(memory, book, asked=["recall", "preamble"])
        memory.save("One fact more.", name="one more")
        agree(opened(book), book)
        agree(opened(book, cache=tmp_path / "empty"), book)
        agree(opened(tmp_path / "other"), tmp_path / "other")
        assert snapshot(tmp_path / "other", times=True) == before


def test_a_cache_older_than_the_notebook_is_caught_up_with(book, tmp_path):
    memory = shelf(book)
    cache = os.path.dirname(cache_of(memory))
    memory._catalog._side.close()
    shutil.copytree(cache, tmp_path / "old")
    memory.forget("fact 1")
    memory.save("The fact 2 is not so.", name="fact 2")
    file(book, "by-hand", "A fact by hand.")
    agree(memory, book)
    memory._catalog._side.close()
    shutil.rmtree(cache)
    shutil.copytree(tmp_path / "old", cache)
    agree(opened(book), book)


def test_a_cache_newer_than_the_notebook_forgets_what_a_restored_backup_does_not_hold(book, tmp_path):
    memory = shelf(book)
    shutil.copytree(book, tmp_path / "backup")
    memory.save("The fact 2 is not so.", name="fact 2", call=Call(origin="person"))
    memory.save("The fact 9 came later.", name="fact 9")
    agree(memory, book)
    shutil.rmtree(book)
    shutil.copytree(tmp_path / "backup", book)
    agree(memory, book)
    agree(opened(book), book)


def test_two_notebooks_share_a_cache_folder_and_nothing_else(tmp_path):
    one, two = (opened(tmp_path / name, cache=tmp_path / "cache") for name in ("one", "two"))
    one.save("A fact of the first.", name="shared name")
    two.save("A fact of the second.", name="shared name")
    for memory, name in ((one, "one"), (two, "two")):
        agree(memory, tmp_path / name)
    one.forget("shared name")
    agree(two, tmp_path / "two")


def test_a_notebook_that_is_moved_renamed_or_replaced_while_it_is_open_is_what_stands_there_now(book, tmp_path):
    memory = shelf(book)
    os.rename(book, tmp_path / "moved")
    agree(memory, book)
    assert memory.notes().notes == ()
    agree(opened(tmp_path / "moved"), tmp_path / "moved")
    os.rename(tmp_path / "moved", book)
    agree(memory, book)
    other = shelf(tmp_path / "other", opened(tmp_path / "other"))
    other.save("Another fact 1 altogether.", name="fact 1", replace=True)
    os.rename(book, tmp_path / "away")
    os.rename(tmp_path / "other", book)
    agree(memory, book)
    memory.save("One fact more.", name="one more")
    agree(memory, book)
    assert not (tmp_path / "away" / "one-more.md").exists()


def test_a_notebook_whose_log_is_gone_or_another_vouches_for_nobody(book, tmp_path):
    """Who wrote a note is told by the log beside it: rows kept from before must not speak for a log that is no more."""
    for name in ("gone", "another", "restored"):
        place = tmp_path / name
        memory = opened(place)
        memory.save("A fact a person told.", name="told", call=Call(origin="person"))
        memory.save("A fact an agent told.", name="by agent")
        agree(memory, place)
        shutil.copytree(place / ".commonplace", tmp_path / f"kept-{name}")
        shutil.rmtree(place / ".commonplace")
        if name == "another":
            shutil.copytree(tmp_path / "kept-gone", place / ".commonplace")
        agree(memory, place)
        agree(opened(place), place)
        memory.save("One fact more.", name="one more")
        agree(memory, place)
        if name == "restored":
            shutil.rmtree(place / ".commonplace")
            shutil.copytree(tmp_path / f"kept-{name}", place / ".commonplace")
            agree(memory, place)


# --- time --------------------------------------------------------------------------------------------------------


def test_a_clock_that_was_set_back_or_forward_changes_nothing_but_days_and_expiry(book, tmp_path):
    for day in (date(2026, 5, 15), date(1999, 12, 31), date(2100, 1, 1), date(2026, 5, 14)):
        now = datetime.combine(day, datetime.min.time()).timestamp()
        memory = opened(book, now=now)
        memory.save(f"The fact of {day}.", name=f"fact {day}", expires=date(2026, 5, 14))
        agree(memory, book, now=now)
        file(book, f"by-hand-{day}", f"The fact by hand of {day}.")
        os.utime(book / f"by-hand-{day}.md", (now, now))
        agree(memory, book, now=now)
        agree(opened(book, cache=tmp_path / f"none-{day}", now=now), book, now=now)


def test_a_note_expires_at_the_end_of_its_day_without_anything_being_written(book):
    today = date.fromtimestamp(NOW)
    clock = [NOW]
    memory = open_memory(book, now=lambda: clock[0], disk=UnsyncedDisk())
    memory.save("A fact for today.", name="for today", expires=today)
    memory.save("A fact for good.", name="for good")
    for days, shown in ((0, 2), (1, 1), (-1, 2)):
        clock[0] = NOW + timedelta(days=days).total_seconds()
        agree(memory, book, now=clock[0])
        assert len(memory.listing().shown) == shown


# --- from nothing ------------------------------------------------------------------------------------------------


@pytest.mark.promise
def test_an_index_rebuilt_from_nothing_is_byte_for_byte_the_one_that_was_kept_up(book, tmp_path, scale, tally):
    """More notes than fit, with corrections, pins, expiries and people's own files: order and cuts must agree."""
    rng = random.Random(7)
    memory = opened(book)
    for number in range(scale(260, 1500)):
        kind = rng.choice(("user", "feedback", "project", "reference", "session"))
        corrects = [f"fact {rng.randrange(number + 1)}"] if rng.random() < 0.1 else []
        memory.save(
            f"The fact {number} is so.", name=f"fact {number}", kind=kind, pinned=rng.random() < 0.1 or None,
            supersedes=corrects, expires=rng.choice((None, None, None, date(2026, 5, 1), date(2026, 6, 1))),
            call=Call(origin=rng.choice(("person", "agent", "extractor", "import"))),
        )  # fmt: skip
        if rng.random() < 0.1:
            file(
                book, f"by-hand-{number}", f"---\ntype: {kind}\nupdated: 2026-04-0{rng.randint(1, 9)}\n---\nBy hand.\n"
            )
        if rng.random() < 0.1:
            name = rng.choice(memory.notes().notes).name
            memory.forget(name)
        if number % 20 == 0 or number > scale(250, 1480):
            with tally("R6", number):
                fresh = opened(book, cache=tmp_path / f"none-{number}")
                assert memory.preamble() == fresh.preamble()
                assert memory.listing() == fresh.listing()
                assert (book / "MEMORY.md").read_text() == index_of(book)
                agree(memory, book, asked=["listing", "preamble", "status"])
