"""What people, editors and sync tools leave in a notebook is tolerated, reported where it cannot be read, and untouched."""

import io
import os
import socket
import stat
import subprocess
import sys
import zlib
from collections.abc import Callable
from datetime import date
from typing import NamedTuple

import pytest
from tests.places import MB, ROOT, UnsyncedDisk, bounded, snapshot, without_powers

from commonplace import Saved, open_memory
from commonplace.errors import StoreError
from commonplace.settings import read_settings
from commonplace.surfaces.cli.app import run

HONEST = "The honest note is here, beside whatever else there is."
# What must come of a leftover: read as a note; told of as a problem; nothing to speak of; or, where it stands in the
# place of something we cannot write without, a notebook that can be read and a refusal that says what to move.
READ, TOLD, QUIET, STUCK = "read", "told", "quiet", "stuck"


class Leftover(NamedTuple):
    """Something in a notebook that Commonplace did not put there."""

    label: str
    make: Callable  # puts it into a directory
    then: str  # what must come of it
    file: str  # the name by which it is told of
    ours: bool = False  # it is in what we manage, and need not stay as it is


LEFTOVERS: list[Leftover] = []


def leave(label, make, then=READ, file="x.md", *, ours=False):
    LEFTOVERS.append(Leftover(label, make, then, file, ours))


def data(name, content=b"Something is written here.\n"):
    """What puts a file of these bytes under this name."""

    def make(book):
        path = os.path.join(os.fsencode(book), os.fsencode(name))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as out:
            out.write(content)

    return make


def dated(year):
    """What puts a file that was last changed in this year."""

    def make(book):
        data("x.md")(book)
        seconds = (date(year, 6, 1) - date(1970, 1, 1)).days * 86_400
        os.utime(os.path.join(book, "x.md"), (seconds, seconds))

    return make


def text(content, encoding="utf-8"):
    return data("x.md", content.encode(encoding))


# --- what a file may say -----------------------------------------------------------------------------------------

HEADER = "---\nname: x\ndescription: what it is about\ntype: project\n---\n\n"
for label, content in {
    "no header": "Just text.\n",
    "no header, a heading": "# A heading\n\nText under it.\n",
    "no line end": "Just text, and then nothing",
    "a byte order mark": "\ufeffJust text.\n",
    "a byte order mark before a header": "\ufeff" + HEADER + "Text.\n",
    "Windows line ends": (HEADER + "Text.\nMore.\n").replace("\n", "\r\n"),
    "old Mac line ends": (HEADER + "Text.\nMore.\n").replace("\n", "\r"),
    "mixed line ends": HEADER + "One.\r\nTwo.\nThree.\rFour.\n",
    "nothing": "",
    "a line end": "\n",
    "white space": " \t \n\n \u3000\n",
    "only a header": HEADER,
    "a header that never ends": "---\nname: x\ndescription: what\n\nText.\n",
    "a fence": "---\n",
    "two fences": "---\n---\n",
    "three fences": "---\n---\n---\n",
    "a long fence": "-----\nname: x\n-----\nText.\n",
    "a rule, then text": "---\nJust text under a rule.\n---\nMore.\n",
    "a header of tabs": "---\nname:\tx\n\tdescription:\twhat\n---\nText.\n",
    "a nested header": "---\nname: x\nmetadata:\n  type: feedback\n  node_type: memory\n---\nText.\n",
    "a header of lists": "---\ntags:\n- a\n- b\n  - c\n-\n---\nText.\n",
    "a header that is a bomb": "---\na: &a [x,x,x]\nb: &b [*a,*a,*a]\nc: &c [*b,*b,*b]\ntags: *c\n---\nText.\n",
    "a header with a tag of code": "---\nname: !!python/object/apply:os.system [id]\n---\nText.\n",
    "a header in JSON": '{"name": "x", "tags": ["a"]}\n\nText.\n',
    "a header in TOML": "+++\nname = 'x'\n+++\nText.\n",
    "keys twice": "---\nname: x\nname: y\ntype: user\ntype: project\n---\nText.\n",
    "lines that are no keys": "---\nname: x\nthis is no key\n=====\n[x]\n---\nText.\n",
    "days that are none": "---\ncreated: 2026-13-45\nupdated: soon\nexpires: 99999-01-01\n---\nText.\n",
    "days long gone and far ahead": "---\ncreated: 0001-01-01\nupdated: 9999-12-31\n---\nText.\n",
    "a type of its own": "---\ntype: strange\n---\nText.\n",
    "a name that climbs": "---\nname: ../../etc/passwd\n---\nText.\n",
    "a name of another note": "---\nname: honest\n---\nText.\n",
    "a correction of itself": "---\nsupersedes: [x]\n---\nText.\n",
    "corrections in a circle": "---\nsupersedes: [x, honest]\n---\nText.\n",
    "a description of ten thousand characters": f"---\ndescription: {'long ' * 2000}\n---\nText.\n",
    "a thousand tags": f"---\ntags: [{', '.join(f't{n}' for n in range(1000))}]\n---\nText.\n",
    "three hundred header lines": "---\n" + "key: value\n" * 300 + "---\nText.\n",
    "invisible letters": "Te\u200bxt\u2060 with\u202e hidden\U000e0041 letters.\n",
    "commands for a terminal": "Text \x1b[31mred\x1b[0m \x1b]0;title\x07 \x9b2J.\n",
    "odd line separators": "One\u2028Two\u2029Three\x0bFour\x0cFive\x85Six\n",
    "marks of a merge": "<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> branch\n",
    "a page": "<!DOCTYPE html><script>alert(1)</script>\n",
    "fences of code": "```\n" * 500,
    "every script": "Ünïcödé Ελληνικά Кириллица עברית العربية हिन्दी ไทย 日本語 한국어 \U0001f600\n",
    "64 KB of one letter": "a" * 65536,
    "one byte under 64 KB": "a" * 65535,
    "64 KB of one header line": "---\ndescription: " + "a" * 65400 + "\n---\n",
    "64 KB of brackets": "---\ntags: " + "[" * 65400 + "\n---\n",
    "64 KB of quotes": "---\ntags: [" + '"' * 65400 + "\n---\n",
    "64 KB of spaces": "# a" + " " * 30000 + "b" + " " * 30000 + "c\n",
    "64 KB of hashes": "# " + "#" * 60000 + " x\n",
    "64 KB of escapes": "\x1b[" * 32000,
    "64 KB of joiners": "\u200d" * 21000,
}.items():
    leave(label, text(content))
for year in (1901, 1969, 2040, 2263, 2300, 2446):
    leave(f"a file of {year}", dated(year))

for label, content in {
    "Latin-1": "Größe, naïve café.\n".encode("latin-1"),
    "Latin-1 with C1 bytes": bytes(range(0x80, 0x100)) + b" text\n",
    "bytes that are half a letter": b"caf\xc3\n",
    "surrogates as bytes": b"\xed\xa0\x80 text\n",
    "overlong bytes": b"\xc0\xaf text\n",
}.items():
    leave(label, data("x.md", content))

for label, content in {
    "UTF-16 with a mark": "Text.\n".encode("utf-16"),
    "UTF-16 without a mark": "Text.\n".encode("utf-16-le"),
    "UTF-16 of the other end": b"\xfe\xff" + "Text.\n".encode("utf-16-be"),
    "UTF-32": "Text.\n".encode("utf-32"),
    "NUL bytes": b"Text\0with\0NULs.\n",
    "nothing but NUL bytes": bytes(512),
    "a picture": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(40),
    "packed bytes": zlib.compress(b"text" * 300) + b"\0",
    "a program": b"\x7fELF\x02\x01\x01\0" + bytes(60),
    "a database": b"SQLite format 3\0" + bytes(80),
    "one byte over 64 KB": b"a" * 65537,
    "10 MB": b"The text goes on and on.\n" * (10 * MB // 25),
}.items():
    leave(label, data("x.md", content), TOLD)


# --- what an entry may be ----------------------------------------------------------------------------------------


def sparse(book):
    with open(book / "x.md", "wb") as out:
        out.truncate(20 << 30)


def listener(book):
    with socket.socket(socket.AF_UNIX) as one:
        here = os.open(book, os.O_RDONLY)
        try:
            one.bind(f"/proc/self/fd/{here}/x.md" if os.path.isdir("/proc/self/fd") else str(book / "x.md"))
        finally:
            os.close(here)


def node(kind, major, minor):
    def make(book):
        os.mknod(book / "x.md", kind | 0o600, os.makedev(major, minor))

    return make


def link(target, name="x.md"):
    return lambda book: os.symlink(target, book / name)


def moded(mode, name="x.md"):
    def make(book):
        data(name)(book)
        os.chmod(book / name, mode)

    return make


def dated(seconds):
    def make(book):
        data("x.md")(book)
        os.utime(book / "x.md", (seconds, seconds))

    return make


def owned(book):
    data("x.md")(book)
    os.chown(book / "x.md", 12345, 12345)


def twice(book):
    data("x.md")(book)
    os.link(book / "x.md", book / "y.md")


leave("20 GB of nothing", sparse, TOLD)
leave("a folder", lambda book: (book / "x.md").mkdir(), TOLD)
leave("a folder with notes in it", data("x.md/inner.md"), TOLD)
leave("a FIFO", lambda book: os.mkfifo(book / "x.md"), TOLD)
leave("a socket", listener, TOLD)
if not os.geteuid():
    leave("a device that never ends", node(stat.S_IFCHR, 1, 5), TOLD)
    leave("a device that swallows", node(stat.S_IFCHR, 1, 3), TOLD)
    leave("a disk", node(stat.S_IFBLK, 7, 99), TOLD)
    leave("somebody else's file", owned)
leave("a link to a note", link("honest.md"), TOLD)
leave("a link to a file outside", link("/etc/hostname"), TOLD)
leave("a link to a folder", link(".."), TOLD)
leave("a link to itself", link("x.md"), TOLD)
leave("a link to nowhere", link("nowhere.md"), TOLD)
leave("a link to /dev/zero", link("/dev/zero"), TOLD)
leave("a link to /dev/stdin", link("/dev/stdin"), TOLD)
leave("a link to a key", link(".commonplace/key"), TOLD)
leave("a link with a long target", link("y/" * 2000), TOLD)
leave("two names of one file", twice)
leave("a mode that forbids writing", moded(0o400))
leave("a mode that allows all", moded(0o777))
leave("a mode that lends rights", moded(0o6755))
leave("a time far ahead", dated(7_258_118_400))
leave("a time before time", dated(-1000))
leave("the first second", dated(0))


# --- what a name may be ------------------------------------------------------------------------------------------

for name in (
    "honest.sync-conflict-20260515-080000-ABCDEFG.md", "honest.sync-conflict-20260515-080000.md",
    "honest (Ana's conflicted copy 2026-05-15).md", "honest (conflicted copy 2026-05-15 080000).md",
    "honest (Ana's MacBook's conflicted copy 2026-05-15 (1)).md", "honest (Ana's conflicted copy 2026-05-15) (1).md", "honest (conflict).md",
    "honest (case conflict).md", "honest (Case Conflict 1).md",
    "honest_conflict-20260515-080000.md", "honest (SFConflict ana@example.org 2026-05-15-08-00-00).md",
    "honest.Conflict.md", "honest.conflict.1.md", "honest.conflicted.md", "honest (conflict copy 2026-05-15).md",
    "honest (copy: conflict #1 on 2026-05-15).md", "honest (Ana conflict 2026-05-15).md",
    "honest-(conflicted copy).md", "honest_(conflicted copy).md",
    "\u65e5\u672c\u8a9e.sync-conflict-20260515-080000-ABCDEFG.md",
):  # fmt: skip
    leave(f"a copy a sync tool made: {name}", data(name), TOLD, name)
for name in (
    "honest (1).md", "honest 2.md", "honest copy.md", "Copy of honest.md", "honest-DESKTOP-4711.md", "honest - Copy.md",
    "honest~1.md", "Kopie von honest.md", "honest (conflict handling).md", "conflict.md", "a merge (with conflicts).md",
    "sync-conflict-20260515-080000.md", "honest_conflict.md",
):  # fmt: skip
    leave(f"a copy somebody made: {name}", data(name), READ, name)
for name in (
    ".honest.md.swp", ".honest.md.swo", "honest.md~", "#honest.md#", "honest.md.bak", "honest.md.orig", "honest.md.rej",
    "honest.md.tmp", ".honest.md.tmp", "honest.md.part", "honest.md.crdownload", ".~lock.honest.md#",
    ".goutputstream-ABC123", "~honest.md~", ".#honest.md",
):  # fmt: skip
    leave(f"left by an editor or a transfer: {name}", data(name), TOLD, name)
leave("a lock of emacs", link("ana@host.4711:1747296000", ".#honest.md"), TOLD, ".#honest.md")
for name in (
    "README.md", "readme.md", "AGENTS.md", "CLAUDE.md", "GEMINI.md", "SKILL.md", "notes.txt", "notes.markdown", "LICENSE",
    ".DS_Store", "._honest.md", "Thumbs.db", "desktop.ini", ".stfolder", ".stignore", ".dropbox", ".owncloudsync.log",
    ".sync_4711.db", ".honest.md.icloud", ".nfs000000000000001", ".fuse_hidden0000000100000001", "4913", ".gitignore",
    ".hidden.md", ".md", "..md", "honest", "honest.mdx", "honest.json", ".syncthing.honest.md.tmp2", "index.json",
):  # fmt: skip
    leave(f"no note of ours: {name}", data(name), QUIET, name)
for name in (
    "with space.md", "UPPER.md", "Honest.md", "HONEST.md", "cafe\u0301.md", "caf\u00e9.md", "\u65e5\u672c\u8a9e.md", "\U0001f600.md", "-rf.md",
    "--help.md", "~.md", "$HOME.md", "a'b.md", 'a"b.md', "*.md", "?.md", "a|b.md", "a&b.md", "<b>.md", "[x](y).md", "100%.md",
    "a:b.md", "memory.md", "Memory.md", "CON.md", "nul.md", "lock.md", "log.jsonl.md", "x.md.md", "a" * 250 + ".md",
    "\u65e5" * 83 + ".md", "a.b.c.md", "2026-05-15.md", "0.md", "_.md", "note.md", "\u05e9\u05dc\u05d5\u05dd.md",
):  # fmt: skip
    leave(f"a name a person gave: {name[:30]}", data(name), READ, name)
for name in (
    b"\xff\xfe.md", b"caf\xe9.md", b"x\ny.md", b"x\ncommonplace: all is well.md", b"x\x1b[2J.md", b"x\x1b]0;t\x07.md",
    b"x\ty.md", b"Icon\r.md", b"x\x7f.md", "x\u0085.md".encode(), b" x.md", b"x .md", b"a\\b.md", b"x.MD", b"x.Md",
    b"a" * 251 + b".md", b"a" * 252 + b".md", b"\xed\xa0\x80.md",
):  # fmt: skip
    leave(f"a name no note can have: {name!r:.40} of {len(name)} bytes", data(name), TOLD, os.fsdecode(name))
leave("a name of the other direction", data("x\u202edm.md"), READ, "x\u202edm.md")
leave("an index in capitals", data("MEMORY.MD"), TOLD, "MEMORY.MD")


def twins(*names):
    def make(book):
        for name in names:
            data(name, f"This one is {name!r}.\n".encode())(book)

    return make


leave("twins in capitals and not", twins("twin.md", "Twin.md", "TWIN.md"), READ, "twin.md")
leave("twins composed and not", twins("tw\u00efn.md", "twi\u0308n.md"), READ, "twi\u0308n.md")
leave("twins in two folders", twins("twin.md", "sessions/twin.md"), TOLD, "sessions/twin.md")
leave("twins of the honest one", twins("sessions/honest.md", "user/honest.md"), TOLD, "user/honest.md")
leave("a folder's name for a note", twins("sessions.md", "user.md", "project.md"), READ, "sessions.md")


# --- folders -----------------------------------------------------------------------------------------------------


def many(count, name):
    def make(book):
        for number in range(count):
            data(name.format(number))(book)

    return make


leave("a repository", many(20, ".git/objects/{0:02d}/x.md"), QUIET, ".git")
leave("a vault", twins(".obsidian/app.json", ".obsidian/x.md"), QUIET, ".obsidian")
leave("packages", many(30, "node_modules/p{0}/README.md"), TOLD, "node_modules")
leave("a folder of drafts", twins("drafts/idea.md"), TOLD, "drafts")
leave("folders in folders", twins("a/b/c/d/e/f/g/h/x.md"), TOLD, "a")
leave("an empty folder", lambda book: (book / "empty").mkdir(), TOLD, "empty")
leave("a folder in a folder of ours", twins("sessions/sessions/x.md"), QUIET, "sessions")
leave(
    "a folder of sessions from elsewhere", twins("sessions/index.json", "sessions/2026-05-15.md"), READ, "2026-05-15.md"
)
leave("folders by type", twins("user/a.md", "feedback/b.md", "project/c.md", "reference/d.md"), READ, "d.md")
leave("an old control folder", twins(".commonplace.bak/format", ".commonplace.bak/log.jsonl"), TOLD, ".commonplace.bak")
leave("a file in place of a folder", data("user"), TOLD, "user")
leave("a link in place of a folder", link("..", "user"), TOLD, "user")
leave("a link to nowhere in place of a folder", link("nowhere", "user"), TOLD, "user")
leave("a FIFO in place of a folder", lambda book: os.mkfifo(book / "user"), TOLD, "user")
leave("a folder called like the index", lambda book: (book / "MEMORY.md").mkdir(), TOLD, "MEMORY.md")
leave("a FIFO called like the index", lambda book: os.mkfifo(book / "MEMORY.md"), TOLD, "MEMORY.md")
leave("a bad one that shares its name with a good one", twins("x.md/inner.txt", "user/x.md"), TOLD)
leave("five hundred files of a person", many(500, "page {0}.md"), READ, "page 499.md")
leave("five hundred things that are no notes", many(500, "page {0}.md~"), TOLD, "page 499.md~")


# --- what is ours ------------------------------------------------------------------------------------------------


def control(name, content):
    return data(f".commonplace/{name}", content)


def without(name):
    def make(book):
        path = book / ".commonplace" / name
        if path.is_dir():
            for inner in sorted(path.rglob("*"), reverse=True):
                inner.rmdir() if inner.is_dir() else inner.unlink()
            path.rmdir()
        else:
            path.unlink()

    return make


def appended(content):
    def make(book):
        with open(book / ".commonplace" / "log.jsonl", "ab") as out:
            out.write(content)

    return make


def large_log(book):
    with open(book / ".commonplace" / "log.jsonl", "r+b") as out:
        out.truncate(20 << 30)


leave("a stranger in the control folder", control("stranger", b"kept"), QUIET, ".commonplace")
leave("a stranger's folder in the control folder", control("strange/inner", b"kept"), QUIET, ".commonplace")
leave("a stranger in the history", control("history/stranger", b"kept"), QUIET, ".commonplace")
leave("a folder among new bytes", control("tmp/folder/inner", b"kept"), QUIET, ".commonplace")
leave("what a dead writer staged", control("tmp/4711-1", b"half a no"), QUIET, ".commonplace", ours=True)
for name in ("tmp", "history", "lock", "key", "format", "log.jsonl"):
    leave(f"no {name}", without(name), QUIET, ".commonplace", ours=True)
for label, content in {
    "no line": b"not a line of ours\n", "half a line": b'{"n":99,"at":"2026', "a list": b"[]\n", "a number": b"7\n",
    "null": b"null\n", "odd types": b'{"n":[],"at":{},"op":0,"id":[1],"hash":{"a":1},"was":[],"origin":7,"session":[],"actor":{},"tainted":[],"prev":9}\n',
    "deep brackets": b"[" * 100_000 + b"\n", "a great number": b'{"n":' + b"9" * 5000 + b"}\n", "NUL bytes": bytes(5000),
    "ten thousand empty lines": b"\n" * 10_000, "1 MB of a line": b"x" * MB, "1 MB of a line that ends": b"x" * MB + b"\n",
    "a number that is none": b'{"n":NaN}\n', "half a letter": b'{"n":1,"at":"\\ud800"}\n',
}.items():  # fmt: skip
    leave(f"a log that ends with {label}", appended(content), QUIET, ".commonplace", ours=True)
leave(
    "a folder for a log",
    lambda book: (without("log.jsonl")(book), (book / ".commonplace/log.jsonl").mkdir()),
    STUCK,
    "log",
)
leave(
    "a FIFO for a log",
    lambda book: (without("log.jsonl")(book), os.mkfifo(book / ".commonplace/log.jsonl")),
    STUCK,
    "log",
)
leave(
    "a link for a log",
    lambda book: (without("log.jsonl")(book), os.symlink("/dev/null", book / ".commonplace/log.jsonl")),
    STUCK,
    "log",
)
leave("a log of 20 GB", large_log, STUCK, "log")
leave("a log that ends with 5 MB of a line", appended(b"x" * (5 * MB)), STUCK, "log")
leave("a folder for a key", lambda book: (without("key")(book), (book / ".commonplace/key").mkdir()), STUCK, "key")
leave("a folder for a lock", lambda book: (without("lock")(book), (book / ".commonplace/lock").mkdir()), STUCK, "lock")
leave("a file for new bytes", lambda book: (without("tmp")(book), control("tmp", b"")(book)), STUCK, "tmp")
leave(
    "a file for the history", lambda book: (without("history")(book), control("history", b"")(book)), STUCK, "history"
)
leave("an empty log", control("log.jsonl", b""), QUIET, ".commonplace", ours=True)
leave("a log that is a list of names", control("log.jsonl", b"a\nb\nc"), QUIET, ".commonplace", ours=True)
leave("an empty key", control("key", b""), QUIET, ".commonplace", ours=True)
leave("a key that is too long", control("key", b"k" * 1000), QUIET, ".commonplace", ours=True)
leave("a lock that says something", control("lock", b"4711\n"), QUIET, ".commonplace", ours=True)
leave("a format that says nothing", control("format", b""), QUIET, ".commonplace", ours=True)
leave("a format that is no number", control("format", b"one\n" * 500), QUIET, ".commonplace", ours=True)
leave("a format of long ago", control("format", b"0\n"), QUIET, ".commonplace", ours=True)


# --- the play ----------------------------------------------------------------------------------------------------


def opened(book, home):
    settings = read_settings(book, {"COMMONPLACE_HOME": str(home)})
    return open_memory(settings=settings, disk=UnsyncedDisk())


def begun(place):
    """A notebook with an honest note, once corrected."""
    memory = opened(place / "book", place / "home")
    memory.save("The honest note is here.", name="honest")
    memory.save(HONEST, name="honest", replace=True)
    return place / "book"


def strange(book):
    """All that was left there, with times; not what we made ourselves."""
    found = snapshot(book, times=True)
    mine = {"MEMORY.md", "honest.md", ".", "another.md", ".commonplace"}
    kept = {}
    for path, seen in found.items():
        inner = path.startswith(".commonplace/") and not any(
            word in path for word in ("stranger", "strange/", "folder/")
        )
        if not inner and path not in mine and path not in (".commonplace/tmp", ".commonplace/history", "sessions"):
            kept[path] = seen
    if found.get("MEMORY.md", (0,))[0] not in (0, stat.S_IFREG):
        kept["MEMORY.md"] = found["MEMORY.md"]
    return kept


def play(book, home, left):
    """Everything a session does beside a leftover, each call within its bounds; answers what was told of the files."""
    before = strange(book)
    with bounded():
        memory = opened(book, home)
        scan = memory.notes()
    assert HONEST in [note.body for note in scan.notes if note.name == "honest"]
    for ask in (
        lambda: "honest" in memory.listing().text,
        lambda: "honest" in memory.preamble(),
        lambda: "honest" in [hit.name for hit in memory.recall("the honest note is here", limit=600).hits],
        lambda: memory.read("honest").body == HONEST,
        lambda: sum(memory.status().counts.values()) == len(scan.notes),
        lambda: isinstance(memory.save("Another note is saved here.", name="another"), Saved),
        lambda: isinstance(memory.save(HONEST + " Still.", name="honest", replace=True), Saved),
        lambda: memory.forget("another").name == "another",
        lambda: len(opened(book, home).notes().notes) == len(scan.notes),
    ):
        with bounded():
            assert ask()
    if not left.ours:
        assert strange(book) == before
    return scan


def check_told(scan, left):
    """A note is read, or the person is told which file it is, why it is not read, and what to do."""
    stem = left.file.rpartition("/")[2].removesuffix(".md")
    of_it = [problem for problem in scan.problems if names_it(problem.file, left.file)]
    if left.then is READ:
        assert stem in {note.name for note in scan.notes}
        assert not any(problem.unread for problem in of_it)
    elif left.then is TOLD:
        assert of_it, scan.problems
        what = of_it[0].what
        assert of_it[0].unread
        assert len(what) > 25
        assert any(
            cure in what for cure in ("ove ", "ename", "elete", "plit", "heck", "ave it", "erge", "Put ", "move its")
        )
    else:
        assert not of_it, of_it
    for problem in scan.problems:
        assert (problem.file + problem.what).isprintable(), problem


def check_stuck(book, home, left):
    before = strange(book)
    inner = snapshot(book / ".commonplace")
    with bounded():
        memory = opened(book, home)
        assert [note.body for note in memory.notes().notes] == [HONEST]
    for ask in (
        lambda: "honest" in memory.preamble(),
        lambda: memory.recall("honest note").hits[0].name == "honest",
        lambda: memory.read("honest").body == HONEST,
        lambda: refusal(lambda: memory.save("Another note.", name="another"), left),
        lambda: refusal(lambda: memory.save("The honest note, again.", name="honest", replace=True), left),
        lambda: refusal(lambda: memory.forget("honest"), left),
        lambda: memory.read("honest").body == HONEST,
    ):
        with bounded():
            assert ask()
    assert strange(book) == before
    assert snapshot(book / ".commonplace") == inner


def refusal(change, left):
    with pytest.raises(StoreError) as caught:
        change()
    said = str(caught.value)
    return left.file in said and any(cure in said for cure in ("ove ", "heck "))


def names_it(told, file):
    return told in (file, "".join(c if c.isprintable() else ascii(c)[1:-1] for c in file))


def test_there_are_as_many_kinds_of_leftovers_as_promised():
    assert len(LEFTOVERS) >= 126
    assert len({left.label for left in LEFTOVERS}) == len(LEFTOVERS)


@pytest.mark.promise
@pytest.mark.parametrize("left", LEFTOVERS, ids=lambda left: ascii(left.label)[1:-1].replace("/", "|"))
def test_a_leftover_is_tolerated_reported_and_untouched(tmp_path, tally, left):
    book = begun(tmp_path)
    if (book / "MEMORY.md").exists() and left.file == "MEMORY.md":
        (book / "MEMORY.md").unlink()
    left.make(book)
    with tally("R11", left.label):
        if left.then is STUCK:
            check_stuck(book, tmp_path / "home", left)
        else:
            check_told(play(book, tmp_path / "home", left), left)


@pytest.mark.promise
def test_all_leftovers_together_hide_no_note_and_stay_as_they_are(tmp_path, tally):
    book = begun(tmp_path)
    for left in LEFTOVERS:
        apart = left.ours or left.then is STUCK or ".commonplace" in left.file or "/" in left.file
        if apart or left.file in ("x.md", "user", "MEMORY.md") or left.label == "a lock of emacs":
            continue
        left.make(book)
    everything = Leftover("all of them", data, TOLD, "honest.md~")
    with tally("R11", everything.label):
        scan = play(book, tmp_path / "home", everything)
        check_told(scan, everything)
        assert len(scan.notes) > 540
        assert len(scan.problems) > 540


SOMEBODY_ELSES = """
import sys
from pathlib import Path
from tests.test_leftovers import *
place = Path(sys.argv[1])
check_modes_hold(place / "book" / sys.argv[2])
with bounded():
    memory = opened(place / "book", place / "home")
    assert [note.body for note in memory.notes().notes] == [HONEST]
for ask in (
    lambda: "honest" in memory.preamble(),
    lambda: memory.recall("honest note").hits[0].trust == "hand",
    lambda: memory.read("honest").body == HONEST,
    lambda: memory.status(),
):
    with bounded():
        assert ask()
for change in (lambda: memory.save("Another note.", name="another"), lambda: memory.forget("honest")):
    try:
        change()
    except StoreError as problem:
        assert "heck its owner and modes" in str(problem), problem
    else:
        sys.exit("it was changed")
"""


@pytest.mark.promise
@pytest.mark.parametrize("file", [".commonplace", ".commonplace/log.jsonl", ".commonplace/key"])
def test_a_notebook_that_may_only_be_read_is_read_and_vouches_for_nobody(tmp_path, tally, file):
    book = begun(tmp_path)
    (book / file).chmod(0)
    done = subprocess.run(
        without_powers(sys.executable, "-c", SOMEBODY_ELSES, tmp_path, file),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    (book / file).chmod(0o700)
    if "modes do not hold" in done.stderr:
        pytest.skip("modes hold for nobody here")
    with tally("R11", file):
        assert done.returncode == 0, done.stderr[-2000:]


# --- what modes forbid -------------------------------------------------------------------------------------------

SEALED = {
    "a file nobody may read": ("x.md", 0o000),
    "a file only to be written": ("x.md", 0o200),
    "a folder nobody may look into": ("user", 0o000),
    "a folder that shows names only": ("user", 0o400),
    "a folder that shows no names": ("user", 0o100),
    "a folder of somebody's, sealed": ("private", 0o000),
    "an index nobody may read": ("MEMORY.md", 0o000),
}
PLAY_SEALED = """
import sys
from pathlib import Path
from tests.test_leftovers import *
place, file = Path(sys.argv[1]), sys.argv[2]
left = Leftover(file, None, TOLD, file)
opened = check_modes_hold(place / "book" / file)
scan = play_modestly(place, left)
print([problem.what for problem in scan.problems if problem.file == file])
"""


def check_modes_hold(path):
    if path.is_dir() and os.access(path, os.R_OK | os.X_OK):
        sys.exit("modes do not hold here")
    if not path.is_dir() and os.access(path, os.R_OK):
        sys.exit("modes do not hold here")


def play_modestly(place, left):
    """The same play where not even the test may look at what is sealed."""
    with bounded():
        memory = opened(place / "book", place / "home")
        scan = memory.notes()
    for ask in (
        lambda: "honest" in [note.name for note in scan.notes],
        lambda: "honest" in memory.preamble(),
        lambda: "honest" in [hit.name for hit in memory.recall("the honest note").hits],
        lambda: memory.status(),
        lambda: isinstance(memory.save("Another note is saved here.", name="another"), Saved),
        lambda: isinstance(memory.save("A note no one has.", name="yet-another"), Saved),
        lambda: memory.forget("another").name == "another",
    ):
        with bounded():
            assert ask()
    return scan


@pytest.mark.promise
@pytest.mark.parametrize("label", SEALED)
def test_what_may_not_be_read_is_reported_and_hides_nothing_else(tmp_path, tally, label):
    book = begun(tmp_path)
    file, mode = SEALED[label]
    path = book / file
    if "folder" in label:
        data(f"{file}/inner.md")(book)
    elif not path.exists():
        data(file)(book)
    path.chmod(mode)
    os.utime(path, (1e9, 1e9))
    done = subprocess.run(
        without_powers(sys.executable, "-c", PLAY_SEALED, tmp_path, file),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if "modes do not hold" in done.stderr:
        pytest.skip("modes hold for nobody here")
    with tally("R11", label):
        assert done.returncode == 0, done.stderr[-2000:]
        if file != "MEMORY.md" and file != "private":
            assert "check its owner and mode" in done.stdout, done.stdout
        found = path.stat()
        assert (stat.S_IMODE(found.st_mode), found.st_mtime) == (mode, 1e9)
    path.chmod(0o700)


# --- what the command shows --------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["list", "status", "recall", "preamble"])
def test_the_command_shows_no_control_character_and_one_line_for_each_problem(tmp_path, capfd, command):
    book = begun(tmp_path)
    odd = [left for left in LEFTOVERS if "a name no note can have" in left.label or "direction" in left.label]
    for left in [
        *odd,
        Leftover("", data("evil.md", b"# \x1b[31mred\x1b]0;t\x07\n\n\x9b2J \xe2\x80\xae text here.\n"), READ, ""),
    ]:
        left.make(book)
    words = [command, *(["text here"] if command == "recall" else []), "--dir", str(book)]
    assert run(words) == 0
    assert run([*words, "--json"]) == 0
    out, err = capfd.readouterr()
    for shown in (out, err):
        assert not {char for char in shown if not char.isprintable() and char != "\n"}, shown
    if command in ("list", "status"):
        told = [line for line in err.split("\n") if line]
        assert all(line.startswith("commonplace: ") for line in told), told
        assert len(told) >= len(odd) - 1
        assert not any(line.strip() == "commonplace: all is well.md" for line in told)


def test_a_process_of_the_command_beside_the_worst_of_it_ends_well(tmp_path):
    book = begun(tmp_path)
    for left in LEFTOVERS:
        if left.label in ("20 GB of nothing", "a FIFO", "a link to /dev/zero"):
            left.make(book)
            (book / "x.md").rename(book / f"{left.label.replace('/', '')[-8:].strip()}.md")
    done = subprocess.run(
        [sys.executable, "-m", "commonplace", "list", "--dir", book],
        cwd=ROOT,
        capture_output=True,
        timeout=20,
        check=False,
    )
    assert done.returncode == 0
    assert done.stderr.count(b"not read") == 3
    assert b"honest" in done.stdout
    assert not set(done.stdout + done.stderr) & {*range(10), *range(11, 32), 127}
    io.BytesIO(done.stdout)
