"""Nothing outside the notebook is read or changed, by no name, no path, no link, and no race with somebody who swaps them."""

import os
import random
import re
import shutil
import time
import unicodedata
from pathlib import Path
from urllib.parse import quote

import pytest
from tests.attacker import Attacker
from tests.places import UnsyncedDisk, snapshot

from commonplace import Call, Conflict, Refused, Saved
from commonplace.errors import CommonplaceError, NotFound, Obstructed
from commonplace.note.slug import slugify, usable_stem
from commonplace.store.files import FileStore
from commonplace.surfaces.cli.app import run

# What stands outside, and may stand in no answer.
SECRET = "the-outside-says-xyzzy-4711"


def opened(book, home, disk=None):
    from commonplace import open_memory
    from commonplace.settings import read_settings

    return open_memory(disk=disk or UnsyncedDisk(), settings=read_settings(book, {"COMMONPLACE_HOME": str(home)}))


class Sandbox:
    """A notebook in the middle of things that are none of its business, and a record of all of them."""

    def __init__(self, place, disk=None):
        self.place = place
        self.book = place / "a" / "b" / "notebook"
        self.around = [
            place / "a",
            place / "a" / "b",
            place / "outside",
            place / "outside" / "sessions",
            place / "HOME",
        ]
        for folder in (*self.around, place / "a" / "b" / "notebook_evil", place / "a" / "b" / "sessions"):
            folder.mkdir(parents=True, exist_ok=True)
            for name in (
                "x.md",
                "secret.md",
                "MEMORY.md",
                "log.jsonl",
                "key",
                "secret",
                "passwd",
                "fact-1.md",
                "format",
            ):
                (folder / name).write_text(f"{SECRET} of {name}\n")
        self.memory = opened(self.book, place / "home", disk)
        for number in range(3):
            self.memory.save(f"The fact {number} is inside.", name=f"fact {number}")
        self.memory.save("The fact 1 is still inside.", name="fact 1")
        self.memory.save("The fact 3 was inside.", name="fact 3", kind="session")
        self.memory.forget("fact 3")
        self.before = self.outside()
        self.control = self.of_the_control_folder()

    def outside(self):
        """All around the notebook, with times: an entry that came and went leaves its mark on its folder."""
        found = snapshot(self.place, times=True)
        ours = ("home", os.path.join("a", "b", "notebook"))
        return {
            path: seen
            for path, seen in found.items()
            if path not in ours and not path.startswith(tuple(f"{our}/" for our in ours))
        }

    def of_the_control_folder(self):
        found = self.book / ".commonplace"
        history = {path: path.read_bytes() for path in found.rglob("history/*/*")}
        return {
            **history,
            **{found / name: (found / name).read_bytes() for name in ("key", "format", "lock", "log.jsonl")},
        }

    def check(self):
        assert self.outside() == self.before
        for path, data in self.of_the_control_folder().items():
            known = self.control.get(path, data)
            assert data.startswith(known) if path.name == "log.jsonl" else data == known, path
            self.control[path] = data


# --- names -------------------------------------------------------------------------------------------------------


def climbing(place):
    """Names that lead out, in every spelling of a dot, a slash and a step up."""
    targets = [
        "x",
        "secret",
        "passwd",
        "outside/x",
        "outside/secret",
        "HOME/secret",
        "a/b/sessions/x",
        "notebook_evil/x",
    ]
    ups = ["../", "..\\", "./../", "..//", "../../", ".../", "..;/", "../" * 8, "..%2f", "%2e%2e/", "%2e%2e%2f", "..%5c",
           "%252e%252e%252f", "..%c0%af", "..%00/", "\u2025/", "\uff0e\uff0e/", "..\u2044", "..\u2215", "..\uff0f", "..\u29f8",
           "\u2024\u2024/", "..\u200b/", ".\u200d./", "..\ufeff/", "\u202e/..", "sessions/../", "sessions/../../",
           "sessions/", "user/../", "./", ".//", "/./", "x/../../", "~/../"]  # fmt: skip
    yield from (up + target + end for up in ups for target in targets for end in ("", ".md"))
    yield from (
        "..",
        ".",
        "...",
        "",
        " ",
        "/",
        "//",
        "\\",
        "../",
        "./",
        "..\\..",
        ".. /",
        ". .",
        "..md",
        ".md",
        "../.md",
    )
    for folder in (place / "outside", place / "HOME", place, place / "a" / "b" / "notebook"):
        for target in ("x", "secret", "fact-1", ".commonplace/key"):
            path = f"{folder}/{target}"
            yield from (
                path,
                path + ".md",
                "/" + path,
                "//" + path,
                "file://" + path,
                "file:" + path,
                quote(path, safe=""),
            )
            yield from (
                path.replace("/", "\\"),
                path.replace("/", "\u2044"),
                path.replace("/", "\uff0f"),
                "\\\\?\\" + path,
            )
            yield from (path + "\0", path + "\0.md", path.lstrip("/"), os.path.relpath(path, place / "a/b/notebook"))


def special(place):
    """Names that mean something to a shell, a system, a file system or to us."""
    yield from (
        "~",
        "~/secret",
        "~root",
        "~/.ssh/id_rsa",
        "$HOME",
        "$HOME/secret",
        "${HOME}/secret",
        "%HOME%",
        "`id`",
        "$(id)",
    )
    yield from (
        "-rf",
        "--",
        "-",
        "--help",
        "-o/etc/x",
        ";rm -rf /",
        "| cat",
        "> x",
        "x & y",
        "x\ny",
        "x\r\ny",
        "x\ty",
        "*",
        "?.md",
    )
    yield from (
        "MEMORY",
        "memory",
        "Memory",
        "MEMORY.md",
        "memory.md",
        "MEMORY.MD",
        ".commonplace",
        ".commonplace/log.jsonl",
    )
    yield from (
        "log.jsonl",
        "log",
        "lock",
        "format",
        "key",
        "tmp",
        "history",
        "quarantine",
        "journal",
        "index",
        "index.json",
    )
    yield from (
        ".commonplace/key",
        ".commonplace/format",
        ".commonplace/history/fact-1",
        ".commonplace\\key",
        "commonplace",
    )
    yield from (
        ".commonplace/history/fact-1/000004",
        "history/fact-1",
        "tmp/x",
        ".git/config",
        ".gitignore",
        ".env",
        ".hidden",
    )
    yield from (
        "README",
        "readme.md",
        "AGENTS",
        "CLAUDE.md",
        "GEMINI",
        "SKILL",
        "sessions",
        "user",
        "feedback",
        "project",
    )
    yield from (
        "reference",
        "sessions.md",
        "sessions/fact-1",
        "user/fact-1",
        "con",
        "CON",
        "nul",
        "NUL.md",
        "aux",
        "prn",
        "com1",
    )
    yield from (
        "LPT9",
        "com0",
        "conin$",
        "C:",
        "C:\\x",
        "c:x",
        "x:stream",
        "x::$DATA",
        "a" * 1000,
        "a" * 1001,
        "a" * 5000,
    )
    yield from (
        "\u00e9" * 500,
        "\u65e5" * 300,
        "a/" * 600,
        "../" * 400,
        "a" * 255,
        "a" * 251,
        "a" * 250,
        "a" * 80 + "/../x",
    )
    yield from (
        "\0",
        "x\0",
        "\0x",
        "x\0.md",
        "\x1b[2J",
        "x\x1b]0;t\x07",
        "\x7f",
        "\x85",
        "\u2028",
        "\u2029",
        "\ufeff",
        "\u200b",
    )
    yield from (
        "\ud800",
        "x\udfff",
        "\udcff\udcfe",
        "\U000e0041\U000e0042",
        "\u202e\u0064\u006d",
        "\u0130",
        "\u1e9e",
        "\ufb01le",
    )
    yield from (
        "cafe\u0301",
        "caf\u00e9",
        "\u0041\u030a",
        "\u212b",
        "\u1100\u1161",
        "\uac00",
        "\u0958",
        "x\ufe0f",
        "\u2160",
        "\u00aa",
    )
    yield from (
        "fact-1",
        "Fact 1",
        "FACT_1",
        "fact-1.md",
        "fact-1 ",
        " fact-1",
        "fact-1/",
        "/fact-1",
        "./fact-1",
        "fact-1\n",
    )
    yield from (
        "https://example.org/x",
        "file:///etc/passwd",
        "data:,x",
        "javascript:x",
        "\\\\server\\share",
        "//server/share/x",
    )
    yield from (
        "/etc/passwd",
        "/etc/passwd%00",
        "/proc/self/environ",
        "/proc/self/fd/3",
        "/dev/zero",
        "/dev/stdin",
        "/dev/fd/0",
    )
    yield from (
        "{}",
        "{where}",
        "%s",
        "%n",
        "{0.__class__}",
        "'; DROP TABLE notes; --",
        '"',
        "'",
        "[x](y)",
        "<x>",
        "&",
        "#",
        "!",
    )


def generated(place, seed):
    """Names put together from pieces of all of the above, for ever."""
    rng = random.Random(seed)
    whole = [*climbing(place), *special(place)]
    pieces = ["../", "..", "/", "\\", ".", "\0", "%2e", "%2f", "~", "sessions", "notebook", "outside", "secret", ".md", "x", " ",
              ".commonplace", "key", "\n", "\u2215", "\uff0e", "-", "\ud800", "\u0301", "MEMORY", str(place), "\x1b", "C:", "'"]  # fmt: skip
    while True:
        kind = rng.random()
        if kind < 0.35:
            yield "".join(rng.choices(pieces, k=rng.randint(1, 9)))
        elif kind < 0.55:
            yield rng.choice(whole) + rng.choice(pieces) + rng.choice(whole)
        elif kind < 0.7:
            yield rng.choice((quote, str.upper, str.title, str.swapcase))(
                rng.choice(whole).encode("utf-8", "replace").decode()
            )
        elif kind < 0.8:
            form = rng.choice(("NFC", "NFD", "NFKC", "NFKD"))
            yield unicodedata.normalize(form, rng.choice(whole))
        elif kind < 0.9:
            name = list(rng.choice(whole) or "x")
            name[rng.randrange(len(name))] = chr(
                rng.choice((rng.randrange(32), rng.randrange(0x20, 0x3000), rng.randrange(0x110000)))
            )
            yield "".join(name)
        else:
            yield "".join(chr(rng.randrange(0x110000)) for _ in range(rng.randint(1, 30)))


def hostile(place, count):
    """So many different names: those that mean something, then of every way to climb, then generated ones."""
    seen = {}
    ways_up = list(climbing(place))
    random.Random(3).shuffle(ways_up)
    for source in (special(place), ways_up, generated(place, 9)):
        for name in source:
            seen.setdefault(name)
            if len(seen) >= count:
                return list(seen)
    return list(seen)


def every_way(memory, name):
    """All that can be done with a name, each answer as text; what is refused is an answer too."""
    ways = (
        ("read", lambda: memory.read(name)),
        ("save", lambda: memory.save("The fact came in by a name.", name=name)),
        ("read back", lambda: memory.read(name)),
        ("recall", lambda: memory.recall(name, limit=9)),
        ("correct", lambda: memory.save("Another fact.", name=name, replace=True, supersedes=[name], tags=[name])),
        ("forget", lambda: memory.forget(name)),
    )
    for way, act in ways:
        try:
            yield way, act()
        except CommonplaceError as problem:
            yield way, problem


@pytest.mark.promise
def test_no_name_reads_or_changes_anything_outside(tmp_path, monkeypatch, scale, tally):
    sandbox = Sandbox(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "HOME"))
    monkeypatch.chdir(tmp_path / "outside")
    folders = (tmp_path, *sandbox.around)
    marks = [(found.st_mtime_ns, found.st_nlink) for found in map(os.stat, folders)]
    inside = {path.name for path in sandbox.book.glob("*.md")}
    for turn, name in enumerate(hostile(tmp_path, scale(380, 10_000))):
        for way, answer in every_way(sandbox.memory, name):
            with tally("R9", (way, name)):
                said = repr(answer)
                assert SECRET not in said
                assert '"prev":' not in said
                if isinstance(answer, Saved):
                    assert usable_stem(answer.name)
                    assert os.path.dirname(answer.file) == str(sandbox.book)
                    inside.add(os.path.basename(answer.file))
        with tally("R9", name):
            assert {path.name for path in sandbox.book.glob("*.md")} <= inside
            assert [(found.st_mtime_ns, found.st_nlink) for found in map(os.stat, folders)] == marks
            if turn % 200 == 0:
                sandbox.check()
    sandbox.check()
    assert {entry.name for entry in sandbox.book.iterdir()} - inside == {".commonplace", "sessions"}


@pytest.mark.promise
def test_a_store_asked_for_any_name_at_all_stays_inside(tmp_path, scale, tally):
    """Beneath every slug: the store itself takes exact names, and opens what they say or refuses."""
    sandbox = Sandbox(tmp_path)
    store = FileStore(str(sandbox.book), disk=UnsyncedDisk())
    for name in hostile(tmp_path, scale(1500, 10_000)):
        with tally("R9", ("store", name)):
            try:
                found = store.get(name)
            except NotFound:
                assert not usable_stem(name) or not (sandbox.book / f"{name}.md").exists()
            else:
                assert found.note.name == name
                assert SECRET not in found.note.body
            with pytest.raises(CommonplaceError):
                store.delete(name, call=Call(), expect="no such stamp")
    sandbox.check()


def test_a_slug_is_a_name_a_file_may_have_and_never_a_path(scale, tmp_path):
    for name in hostile(tmp_path, scale(3000, 20_000)):
        try:
            slug = slugify(name)
        except CommonplaceError:
            continue
        assert usable_stem(slug)
        assert len(slug.encode()) <= 80
        assert not re.search(r"[/\\\0.~$%:*?\"<>|\s]", slug), slug
        assert slugify(slug) == slug, (name, slug)


@pytest.mark.promise
def test_the_command_reaches_nothing_outside_by_any_name(tmp_path, monkeypatch, capfd, scale, tally):
    sandbox = Sandbox(tmp_path)
    monkeypatch.setenv("COMMONPLACE_HOME", str(tmp_path / "home"))
    names = [name for name in hostile(tmp_path, scale(80, 1000)) if "\0" not in name]
    for name in names:
        with tally("R9", ("command", name)):
            for words in (
                ["show", "--dir", str(sandbox.book), "--", name],
                [
                    "remember",
                    "--dir",
                    str(sandbox.book),
                    "--name",
                    name,
                    "--replace",
                    "--",
                    "The fact came in by a name.",
                ],
                ["recall", "--dir", str(sandbox.book), "--json", "--", name],
                ["forget", "--dir", str(sandbox.book), "--", name],
            ):
                assert run(words) in range(5)
            out, err = capfd.readouterr()
            assert SECRET not in out + err
            assert "Traceback" not in err
    sandbox.check()


def test_control_files_are_no_notes_under_any_name(tmp_path):
    sandbox = Sandbox(tmp_path)
    key = (sandbox.book / ".commonplace" / "key").read_bytes()
    for name in (
        "key",
        "log.jsonl",
        "log",
        "format",
        "lock",
        "MEMORY",
        ".commonplace/key",
        "history",
        "tmp",
        ".commonplace",
    ):
        with pytest.raises(NotFound):
            sandbox.memory.read(name)
        with pytest.raises(NotFound):
            sandbox.memory.forget(name)
        saved = sandbox.memory.save("A fact about control.", name=name)
        assert isinstance(saved, Saved), name
        assert Path(saved.file).parent == sandbox.book
        assert sandbox.memory.read(name).body == "A fact about control."
    assert (sandbox.book / ".commonplace" / "key").read_bytes() == key
    sandbox.check()


# --- links -------------------------------------------------------------------------------------------------------


def links(sandbox):
    """Every way a link can lead out of a notebook."""
    book, outside = sandbox.book, sandbox.place / "outside"
    yield book / "linked.md", outside / "secret.md"
    yield book / "up.md", Path("../secret.md")
    yield book / "folder.md", outside
    yield book / "nowhere.md", outside / "nowhere.md"
    yield book / "zero.md", Path("/dev/zero")
    yield book / "passwd.md", Path("/etc/passwd")
    yield book / "itself.md", Path("itself.md")
    yield book / "environ.md", Path("/proc/self/environ")
    yield book / "key.md", Path(".commonplace/key")
    yield book / "log.md", Path(".commonplace/log.jsonl")
    yield book / "sessions", outside / "sessions"
    yield book / "user", outside


@pytest.mark.promise
def test_links_in_a_notebook_are_reported_and_not_followed(tmp_path, tally):
    sandbox = Sandbox(tmp_path)
    shutil.rmtree(sandbox.book / "sessions", ignore_errors=True)
    for link, target in links(sandbox):
        link.symlink_to(target)
    memory = opened(sandbox.book, tmp_path / "home")
    scan = memory.notes()
    told = repr(
        (scan, memory.recall("outside xyzzy fact", limit=99), memory.preamble(), memory.listing(), memory.status())
    )
    assert SECRET not in told
    assert {note.name for note in scan.notes} == {"fact-0", "fact-1", "fact-2"}
    for link, target in links(sandbox):
        with tally("R9", link.name):
            assert any(problem.file == link.name and "link" in problem.what for problem in scan.problems), link.name
            name = link.stem
            for _, answer in every_way(memory, name):
                assert SECRET not in repr(answer)
                assert not isinstance(answer, Saved) or link.suffix != ".md"
            assert os.readlink(link) == str(target)
    with pytest.raises(Obstructed):
        memory.save("The fact of a session.", name="2026-05-15-08h00-a1b2", kind="session")
    sandbox.check()


def test_a_hard_link_to_a_note_keeps_its_text_when_the_note_is_corrected_or_forgotten(tmp_path):
    sandbox = Sandbox(tmp_path)
    other = tmp_path / "outside" / "linked.md"
    os.link(sandbox.book / "fact-2.md", other)
    text = other.read_bytes()
    mode = other.stat().st_mode
    sandbox.memory.save("The fact 2 is new inside.", name="fact 2")
    assert other.read_bytes() == text
    sandbox.memory.forget("fact 2")
    assert (other.read_bytes(), other.stat().st_mode) == (text, mode)


def test_a_note_that_is_a_hard_link_to_a_file_outside_never_changes_that_file(tmp_path):
    sandbox = Sandbox(tmp_path)
    other = tmp_path / "outside" / "theirs.md"
    other.write_text("The fact that is theirs.\n")
    os.link(other, sandbox.book / "theirs.md")
    sandbox.memory.save("The fact that is ours.", name="theirs", replace=True)
    assert other.read_text() == "The fact that is theirs.\n"
    os.link(other, sandbox.book / "theirs-2.md")
    sandbox.memory.forget("theirs-2")
    assert other.read_text() == "The fact that is theirs.\n"


def test_a_notebook_that_is_a_link_is_opened_reported_and_works(tmp_path):
    real = tmp_path / "real"
    real.mkdir()
    link = tmp_path / "link"
    link.symlink_to(real)
    memory = opened(link, tmp_path / "home")
    memory.save("The fact lies where the link leads.", name="fact")
    memory.save("The fact lies there still.", name="fact")
    assert memory.recall("fact").hits[0].name == "fact"
    assert (real / "fact.md").exists()
    assert link.is_symlink()
    problems = memory.notes().problems
    assert [problem.unread for problem in problems] == [False]
    assert str(link) in problems[0].file
    assert str(real) in problems[0].what
    assert opened(real, tmp_path / "home").notes().problems == ()
    memory.forget("fact")
    assert not (real / "fact.md").exists()


def test_a_notebook_whose_control_folder_leads_out_is_read_and_not_written(tmp_path):
    for name in (".commonplace", "tmp", "history", "log.jsonl", "lock", "format", "key"):
        place = tmp_path / name.strip(".")
        place.mkdir()
        sandbox = Sandbox(place)
        inner = sandbox.book / ".commonplace"
        victim = inner if name == ".commonplace" else inner / name
        target = place / "outside" / ("folder" if victim.is_dir() else "key")
        (place / "outside" / "folder").mkdir()
        shutil.copytree(inner, place / "outside" / "folder", dirs_exist_ok=True)
        shutil.move(victim, sandbox.book / ".kept")
        victim.symlink_to(target)
        before = snapshot(place / "outside", times=True)
        inside = snapshot(sandbox.book)
        assert len(sandbox.memory.notes().notes) == 3
        for change in (
            lambda memory: memory.save("The fact is new.", name="new"),
            lambda memory: memory.save("The fact 1 is new.", name="fact 1"),
            lambda memory: memory.forget("fact 1"),
        ):
            with pytest.raises(CommonplaceError, match=re.escape(str(sandbox.book))):
                change(sandbox.memory)
        assert snapshot(place / "outside", times=True) == before
        assert {path: seen for path, seen in snapshot(sandbox.book).items() if path != "MEMORY.md"} == {
            path: seen for path, seen in inside.items() if path != "MEMORY.md"
        }


# --- races -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def attacker():
    one = Attacker()
    yield one
    one.close()


# What is swapped (in the notebook), and with a link to what (outside).
ATTACKS = {
    "a note": ("fact-1.md", "outside/fact-1.md"),
    "a note and a folder": ("fact-1.md", "outside/sessions"),
    "the folder of sessions": ("sessions", "outside/sessions"),
    "the control folder": (".commonplace", "outside/control"),
    "the folder of new bytes": (".commonplace/tmp", "outside/control/tmp"),
    "the history": (".commonplace/history", "outside/control/history"),
    "a note's history": (".commonplace/history/fact-1", "outside/control/history/fact-1"),
    "the log": (".commonplace/log.jsonl", "outside/control/log.jsonl"),
    "the lock": (".commonplace/lock", "outside/control/lock"),
    "the key": (".commonplace/key", "outside/control/key"),
    "the format": (".commonplace/format", "outside/control/format"),
    "the index": ("MEMORY.md", "outside/MEMORY.md"),
    "the notebook": ("", "outside/notebook"),
}


def decoys(sandbox):
    """Outside, a copy of all a notebook has, so that whoever follows a link finds what is looked for."""
    outside = sandbox.place / "outside"
    shutil.copytree(sandbox.book / ".commonplace", outside / "control")
    shutil.copytree(sandbox.book / ".commonplace", outside / "notebook" / ".commonplace")
    for folder in (outside, outside / "sessions", outside / "notebook", outside / "control" / "history" / "fact-1"):
        for name in ("fact-1", "outsider", "new-0", "session-new"):
            (folder / f"{name}.md").write_text(f"The fact: {SECRET}\n")


@pytest.mark.promise
@pytest.mark.parametrize("what", ATTACKS)
def test_whoever_swaps_what_is_read_or_written_for_a_link_gets_nothing_in_or_out(
    tmp_path, scale, tally, attacker, what
):
    sandbox = Sandbox(tmp_path)
    memory, book = sandbox.memory, sandbox.book
    memory.save("The fact of a session.", name="2026-05-15-08h00-a1b2", kind="session")
    decoys(sandbox)
    victim, target = ATTACKS[what]
    link = book.with_name("notebook.link") if not victim else (book / victim).with_name(f".{Path(victim).name}.link")
    link.symlink_to(tmp_path / target)
    before = snapshot(tmp_path / "outside", times=True)
    went, turn, deadline = 0, 0, time.monotonic() + scale(0.16, 5.0)
    attacker.swap(book / victim, link)
    try:
        while time.monotonic() < deadline or (went <= 10 and time.monotonic() < deadline + 20):
            turn += 1
            for way in the_days_work(memory, turn):
                try:
                    answer = way()
                    went += 1
                except CommonplaceError as problem:
                    answer = problem
                with tally("R9", (what, turn)):
                    assert SECRET not in repr(answer)
                    assert "outsider" not in repr(answer)
    finally:
        swaps = attacker.rest()
    assert swaps > 5
    assert went > 10
    with tally("R9", (what, "outside")):
        assert snapshot(tmp_path / "outside", times=True) == before


def the_days_work(memory, turn):
    return (
        lambda: memory.read("fact-1"),
        lambda: memory.recall("fact xyzzy", limit=99),
        lambda: memory.save(f"The fact 1 in turn {turn}.", name="fact 1", replace=True),
        lambda: memory.notes(),
        lambda: memory.save(f"The fact new in turn {turn}.", name=f"new {turn % 3}", replace=True),
        lambda: memory.preamble(),
        lambda: memory.forget(f"new {turn % 3}"),
        lambda: memory.save(f"The fact of session {turn}.", name="session new", kind="session", replace=True),
        lambda: memory.status(),
    )


def test_the_notebook_that_became_a_link_after_it_was_opened_is_refused(tmp_path):
    sandbox = Sandbox(tmp_path)
    os.rename(sandbox.book, sandbox.book.with_name("away"))
    sandbox.book.symlink_to(tmp_path / "outside")
    before = snapshot(tmp_path / "outside", times=True)
    for way in (
        lambda: sandbox.memory.read("secret"),
        lambda: sandbox.memory.notes(),
        lambda: sandbox.memory.preamble(),
        lambda: sandbox.memory.recall("xyzzy"),
        lambda: sandbox.memory.save("The fact is new.", name="new"),
        lambda: sandbox.memory.forget("secret"),
    ):
        with pytest.raises(Obstructed) as caught:
            way()
        assert SECRET not in str(caught.value)
        assert str(sandbox.book) in str(caught.value)
    assert snapshot(tmp_path / "outside", times=True) == before


class Swapping(UnsyncedDisk):
    """A disk on which every new folder is swapped for a link at once, under a umask that leaves it no mode."""

    def __init__(self, target):
        self.target = target

    def make_dir(self, name, at):
        old = os.umask(0o777)
        try:
            os.mkdir(name, 0o700, dir_fd=at)
            os.rmdir(name, dir_fd=at)
            os.symlink(self.target, name, dir_fd=at)
            with pytest.raises(FileExistsError):
                super().make_dir(name, at)
        finally:
            os.umask(old)


def test_a_new_folder_swapped_for_a_link_is_not_entered(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    outside.chmod(0o755)
    memory = opened(tmp_path / "book", tmp_path / "home", Swapping(outside))
    with pytest.raises(Obstructed):
        memory.save("The fact is new.", name="new")
    assert outside.stat().st_mode & 0o777 == 0o755
    assert list(outside.iterdir()) == []


def test_what_a_refusal_says_of_a_name_is_short_and_shows_nothing_raw(tmp_path):
    sandbox = Sandbox(tmp_path)
    for name in hostile(tmp_path, 600):
        for ask in (sandbox.memory.read, sandbox.memory.forget):
            try:
                ask(name)
            except CommonplaceError as problem:
                said = str(problem)
                assert len(said) < 1200 + len(str(sandbox.book))
                assert said.isprintable() or not set(said) & set(map(chr, [*range(32), *range(127, 160)])), said
        outcome = sandbox.memory.save("", name=name)
        assert isinstance(outcome, Refused | Conflict)
