"""Every call is bounded in time and memory, whatever it is given; a refusal says what, where and what to do, and no more."""

import os
import random
import subprocess
import sys
import time
from datetime import date, datetime

import pytest
from tests.places import MB, ROOT, UnsyncedDisk, bounded, snapshot

from commonplace import Call, Conflict, Refused, Saved, open_memory
from commonplace.errors import CommonplaceError, NotFound
from commonplace.note.format import parse, render
from commonplace.settings import read_settings

# What makes careless patterns, loops and readers slow: long runs of what almost matches.
RUNS = {
    "letters": "a", "brackets": "[", "closing brackets": "]", "braces": "{", "parentheses": "(", "quotes": '"', "apostrophes": "'",
    "backslashes": "\\", "escaped quotes": '\\"', "spaces": " ", "tabs": "\t", "line ends": "\n", "returns": "\r\n",
    "hashes": "#", "dashes": "-", "rules": "---\n", "commas": ",", "colons": ": ", "stars": "*", "underscores": "_",
    "backquotes": "`", "fences": "```\n", "tildes": "~", "less-than": "<", "tags": "<a>", "amps": "&", "pipes": "|", "dots": ".",
    "ends of sentences": ". ", "terminal": "\x1b[", "terminal numbers": "\x1b[0;", "terminal strings": "\x1b]0;", "C1": "\x9b",
    "bells": "\x07", "NULs": "\0", "zero width": "\u200b", "joiners": "\u200d", "joined emoji": "\U0001f468\u200d", "marks": "\u0301",
    "marked letters": "a\u0301", "selectors": "\ufe0f", "right to left": "\u202e", "tags nobody sees": "\U000e0041",
    "surrogates": "\ud800", "Korean parts": "\u1100\u1161", "CJK": "\u65e5", "Thai": "\u0e01\u0e33", "Devanagari": "\u0915\u094d", "emoji": "\U0001f600",
    "ligatures": "\ufdfa", "sharp s": "\u00df", "dotted I": "\u0130", "nested lists": "[[", "links": "[a](", "items": "- ", "keys": "a: ",
    "list items": "a, ", "quoted items": '"a",', "open quotes": '"a,', "templates": "[INST]", "numbers": "9", "half links": "](",
    "alternating": "a ", "alternating space": " \t", "hyphens": "a-", "comments": " #", "percent": "%41", "ideographic space": "\u3000",
    "Arabic": "\u0627\u0644", "old Hangul": "\u115f", "private": "\ue000", "not characters": "\uffff", "stars and words": "**a",
}  # fmt: skip
SHAPES = {
    "": "{run}",
    " then another": "{run}x",
    " behind another": "x{run}",
    " between": "x {run} x",
    " in brackets": "[{run}]",
    " in quotes": '"{run}"',
    " behind a hash": "# {run} x",
    " behind a dash": "- {run}: x",
}


def runs(size):
    for label, unit in RUNS.items():
        for shape, frame in SHAPES.items():
            yield label + shape, frame.format(run=unit * (size // len(unit.encode("utf-8", "surrogatepass"))))


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A notebook of a person's files, many of them as large and as awkward as a file may be."""
    place = tmp_path_factory.mktemp("bounds")
    book = place / "book"
    book.mkdir()
    rng = random.Random(2)
    for number, (label, text) in enumerate(runs(60_000)):
        if number % 61 == 0:
            (book / f"run-{number}.md").write_bytes(f"# {label}\n\n{text}\n".encode("utf-8", "replace"))
    for number in range(30):
        (book / f"fact-{number}.md").write_text(f"The fact {number} is {rng.random()}.\n")
    return place


@pytest.fixture
def memory(place):
    settings = read_settings(place / "book", {"COMMONPLACE_HOME": str(place / "home")})
    return open_memory(settings=settings, disk=UnsyncedDisk())


def notes_of(place):
    return {path: seen for path, seen in snapshot(place / "book").items() if not path.startswith(".commonplace")}


# --- what is saved -----------------------------------------------------------------------------------------------

FIELDS = {
    "body": lambda text: {"body": text},
    "name": lambda text: {"name": text},
    "description": lambda text: {"description": text},
    "title": lambda text: {"title": text},
    "kind": lambda text: {"kind": text},
    "a tag": lambda text: {"tags": [text]},
    "many tags": lambda text: {"tags": list(text)},
    "applies_to": lambda text: {"applies_to": [text]},
    "supersedes": lambda text: {"supersedes": [text]},
    "expires": lambda text: {"expires": text},
    "expect": lambda text: {"name": "fact-1", "expect": text},
}
LARGE = {
    "10 MB of letters": "a" * (10 * MB), "5 MB of quotes": '"' * (5 * MB), "5 MB of zero width": "\u200b" * (5 * MB),
    "5 MB of terminal": "\x1b[" * (5 * MB // 2), "5 MB of marks": "\u0301" * (5 * MB), "5 MB of line ends": "\n" * (5 * MB),
    "2 MB of surrogates": "\ud800" * (2 * MB), "5 MB of spaces": " " * (5 * MB), "3 MB of joiners": "\u200d" * (3 * MB),
    "4 MB of returns": "\r" * (4 * MB), "4 MB of CJK": "\u65e5" * (4 * MB),
}  # fmt: skip


def save(memory, fields):
    given = {"body": "The fact is given with something else.", **fields}
    return memory.save(given.pop("body"), **given)


@pytest.mark.promise
@pytest.mark.parametrize(
    "field", [field for field in FIELDS if field != "many tags"]
)  # those come by the million below
def test_a_field_of_any_size_is_saved_or_refused_within_bounds(place, memory, tally, field):
    before = notes_of(place)
    for label, text in LARGE.items():
        given = FIELDS[field](text)
        with tally("R13", (field, label)), bounded():
            outcome = save(memory, given)
            assert isinstance(outcome, Refused | Conflict)
            check_refusal(outcome)
    assert notes_of(place) == before


@pytest.mark.promise
@pytest.mark.parametrize("field", FIELDS)
def test_a_field_that_almost_matches_is_saved_or_refused_within_bounds(place, memory, tally, scale, field):
    for number, (label, text) in enumerate(runs(4000)):
        if number % scale(24, 1) == sorted(FIELDS).index(field) % scale(24, 1):
            before = notes_of(place)
            with tally("R13", (field, label)), bounded():
                outcome = save(memory, FIELDS[field](text))
            if isinstance(outcome, Saved):
                with tally("R13", (field, label, "forget")), bounded():
                    memory.forget(outcome.name)
            else:
                check_refusal(outcome)
            after = notes_of(place)
            assert {**before, "MEMORY.md": 0} == {**after, "MEMORY.md": 0}


def check_refusal(outcome):
    """What, and what to do: short, in words that can be shown."""
    if isinstance(outcome, Conflict):
        assert len(outcome.why) < 500
        return
    assert 20 < len(outcome.why) < 500, outcome.why[:600]
    assert outcome.rule
    assert not {char for char in outcome.why if not char.isprintable() and char != "\u3000"}, outcome.why


@pytest.mark.promise
def test_lists_of_a_million_entries_are_refused_within_bounds(place, memory, tally):
    before = notes_of(place)
    many = [str(number) for number in range(10**6)]
    for field in ("tags", "applies_to", "supersedes"):
        with tally("R13", field), bounded():
            outcome = save(memory, {field: many})
            assert isinstance(outcome, Refused)
            assert field in outcome.why
            assert "1,000,000" in outcome.why
    assert notes_of(place) == before


REFUSED = {
    "no text": ({"body": ""}, "text"),
    "white space": ({"body": " \n\t "}, "text"),
    "invisible text": ({"body": "\u200b\u200b"}, "text"),
    "a text too long": ({"body": "x" * 4097}, "4,096 bytes"),
    "a text too long in bytes": ({"body": "\u65e5" * 1366}, "4,096 bytes"),
    "half a letter": ({"body": "half \ud800 a letter"}, "character"),
    "an empty name": ({"name": ""}, "name"),
    "a name of marks": ({"name": "!!!"}, "name"),
    "a name of nothing seen": ({"name": "\u200b"}, "name"),
    "a name too long": ({"name": "n" * 1001}, "name"),
    "half a name": ({"name": "x\ud800"}, "character"),
    "a description too long": ({"description": "d" * 151}, "description"),
    "a title too long": ({"title": "t" * 81}, "title"),
    "no kind": ({"kind": "opinion"}, "kind"),
    "no kind at all": ({"kind": ""}, "kind"),
    "a tag too long": ({"tags": ["t" * 51]}, "tags"),
    "tags too many": ({"tags": [f"t{n}" for n in range(21)]}, "tags"),
    "a glob too long": ({"applies_to": ["g" * 301]}, "applies_to"),
    "a correction of nothing": ({"supersedes": ["!!!"]}, "name"),
    "no day": ({"expires": "tomorrow"}, "day"),
    "a stamp without a name": ({"expect": "0" * 64}, "expect"),
    "what comes from outside": ({"call": Call(origin="external:web")}, "outside"),
}  # fmt: skip


@pytest.mark.promise
@pytest.mark.parametrize("label", REFUSED)
def test_a_refusal_names_what_it_refuses_and_changes_nothing(place, memory, tally, label):
    fields, word = REFUSED[label]
    before = snapshot(place / "book", times=True)
    with tally("R13", label), bounded():
        outcome = save(memory, fields)
        assert isinstance(outcome, Refused), outcome
        assert word in outcome.why
        check_refusal(outcome)
    assert {k: v for k, v in snapshot(place / "book", times=True).items() if k != "MEMORY.md"} == {
        k: v for k, v in before.items() if k != "MEMORY.md"
    }


# --- what is asked -----------------------------------------------------------------------------------------------

QUERIES = (
    "", " ", "\n", "\0", "a\0b", "?", "*", "%", "_", ".*", "(a+)+$", "(a|a)*b", "^(a*)*$", "[", "]", "(", ")", "{", "}", "{1,}", "\\",
    "\\d+", "\\", "(?P<x>a)", "(?<!a)b", "(?#", "[[:alpha:]]", "a{99999}", "a++", "\\1", "x*x*x*x*x*x*x*x*y", "$^", "|", "||",
    '"', '""', '"a', 'a"b', "'", "''", "`", "AND", "OR", "NOT", "a AND", "NOT a", "a OR OR b", "NEAR(a b)", "NEAR(a b, 99999999)",
    "NEAR/2", "a NEAR b", "^a", "a*", "*a", "a^b", "title:a", "name : x", "{a b}: c", "-a", "- a", "+a", "a + b", "a:b:c", "col:*",
    "(a OR b", "a) OR (b", '"a" + "b"', 'a""b', "fts5", "rank", "bm25(notes)", "rowid:1", "MATCH 'a'", "highlight(a)", "a,b",
    "'; DROP TABLE notes; --", "1 OR 1=1", "' OR ''='", '" OR ""="', "UNION SELECT * FROM meta", "x'00'", "ATTACH 'x' AS y",
    "PRAGMA user_version", "; VACUUM;", "load_extension('x')", "char(0)", "/*", "*/", "--", "%s%s%s%n", "{0}", "{x.__class__}", "${x}",
    "<script>", "</memory-index>", "[INST]", "<|im_start|>", "\x1b[2J", "\x1b]0;x\x07", "\u202e", "\u200b", "\ufeff", "\u2028",
    "\ud800", "\udfff\ud800", "a\ud800b", "\uffff", "\U0010ffff", "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\U0001f1e9\U0001f1ea", "\u2764\ufe0f",
    "\u65e5\u672c\u8a9e", "\u4e2d\u6587", "\ud55c\uad6d\uc5b4", "\u1112\u1161\u11ab", "\u0627\u0644\u0639\u0631\u0628\u064a\u0629", "\u05e2\u05d1\u05e8\u05d9\u05ea",
    "\u0939\u093f\u0928\u094d\u0926\u0940", "\u0e44\u0e17\u0e22", "\u1019\u103c\u1014\u103a\u1019\u102c", "\u10e5\u10d0\u10e0\u10d7\u10e3\u10da\u10d8", "\u0540\u0561\u0575\u0565\u0580\u0565\u0576", "\u12a0\u121b\u122d\u129b",
    "\u0395\u03bb\u03bb\u03b7\u03bd\u03b9\u03ba\u03ac", "\u0420\u0443\u0441\u0441\u043a\u0438\u0439", "\u13e3\u13b3\u13a9", "\u1403\u14c4\u1483\u144e\u1450\u1466", "\ua840\ua841", "\U00010330\U00010331", "\U0001d54f",
    "I\u0307", "\u0130", "\u0131", "\u00df", "\u1e9e", "\ufb03", "\ufdfa", "\u212b", "\u2126", "A\u030a", "Z\u0351\u036b\u0343\u036a", "\u0300" * 50,
    "NULL", "null", "None", "true", "0", "-1", "1e309", "nan", "inf", "0x7fffffff", "9" * 400, "../../etc/passwd", "~", "file:///x", "C:\\x", "con",
)  # fmt: skip
LONG_QUERIES = {
    "1 MB of one word": "a" * MB, "1 MB of words": "fact " * (MB // 5), "1 MB of different words": " ".join(map(str, range(150_000))),
    "1 MB of quotes": '"' * MB, "1 MB of brackets": "(" * MB, "1 MB of marks": "a\u0301" * (MB // 3), "1 MB of CJK": "\u65e5\u672c" * (MB // 6),
    "1 MB of surrogates": "\ud800" * (MB // 3), "1 MB of zero width": "\u200b" * (MB // 3), "1 MB of emoji": "\U0001f600" * (MB // 4),
    "1 MB of ligatures": "\ufdfa" * (MB // 3), "1 MB of line ends": "\n" * MB, "1 MB of spaces": " " * MB + "fact", "10 MB": "fact is " * (10 * MB // 8),
    "a thousand short words": " ".join(a + b for a in "abcdefghijklmnopqrstuvwxyz" for b in "abcdefghijklmnopqrstuvwxyz0123456789"),
}  # fmt: skip


def test_there_are_as_many_hostile_queries_as_promised():
    assert len(set(QUERIES)) >= 130


@pytest.mark.promise
def test_a_query_is_words_and_never_a_pattern_a_command_or_a_program(memory, tally):
    with bounded():
        assert len(memory.notes().notes) > 35
    for query in (*QUERIES, *LONG_QUERIES.values()):
        with tally("R13", query[:40]), bounded():
            found = memory.recall(query)
            assert len(found.hits) <= 5
    with bounded():
        assert memory.recall("fact 7").hits[0].name == "fact-7"
    assert not any(problem.file == "catalog" for problem in memory.notes().problems)


@pytest.mark.promise
def test_a_query_that_almost_matches_is_answered_within_bounds(memory, tally, scale):
    for number, (label, text) in enumerate(runs(20_000)):
        if number % scale(17, 1) == 0:
            with tally("R13", label), bounded():
                memory.recall(text)


FILTERS = (
    {"kinds": ["nonsense"]}, {"kinds": ["\0"]}, {"kinds": ["x" * MB]}, {"kinds": ["project"] * 10**5}, {"kinds": "project"},
    {"kinds": ["\ud800"]}, {"tags": ["nonsense"]}, {"tags": ["\0", "\ud800"]}, {"tags": ["x" * MB]},
    {"tags": [str(number) for number in range(10**6)]}, {"tags": "tag"}, {"since": date(1, 1, 1)}, {"since": date(9999, 12, 31)},
    {"since": datetime(2026, 5, 15, 12, 0)}, {"kinds": [""], "tags": [""]},
)  # fmt: skip


@pytest.mark.promise
@pytest.mark.parametrize("asked", FILTERS, ids=lambda asked: ascii(asked)[:40])
def test_filters_of_any_size_and_sense_are_answered_within_bounds(memory, tally, asked):
    with tally("R13", repr(asked)[:60]):
        with bounded():
            assert len(memory.recall("fact", **asked).hits) <= 5
        with bounded():
            memory.notes(**asked)


@pytest.mark.promise
@pytest.mark.parametrize("limit", [0, -1, -(10**9), 1, 10**9, 2**70])
def test_a_limit_of_any_size_is_kept(memory, tally, limit):
    with tally("R13", limit), bounded():
        found = memory.recall("fact", limit=limit)
        assert len(found.hits) <= max(limit, 0)
        assert len(found.hits) + found.more >= 30


@pytest.mark.promise
def test_names_of_any_size_are_not_found_within_bounds(memory, tally, scale):
    some = [pair for number, pair in enumerate(runs(30_000)) if number % scale(11, 1) == 0]
    for label, text in (*LARGE.items(), *some):
        for ask in (memory.read, memory.forget):
            with tally("R13", label), bounded():
                try:
                    ask(text)
                except CommonplaceError as problem:
                    assert isinstance(problem, NotFound)
                    assert len(str(problem)) < 1500
                else:
                    pytest.fail("found")


# --- what people write -------------------------------------------------------------------------------------------

PLACES = {
    "the body": "{text}\n", "a heading": "# {text}\n\nText.\n", "a description": "---\ndescription: {text}\n---\nText.\n",
    "a title": "---\ntitle: {text}\n---\nText.\n", "tags": "---\ntags: [{text}\n---\nText.\n", "tags by line": "---\ntags:\n- {text}\n---\nText.\n",
    "a type": "---\ntype: {text}\n---\nText.\n", "a day": "---\nupdated: {text}\n---\nText.\n", "supersedes": "---\nsupersedes: {text}\n---\nText.\n",
    "a key of its own": "---\nother: {text}\n---\nText.\n", "a key": "---\n{text}: x\n---\nText.\n", "a nest": "---\nmetadata:\n  type: {text}\n---\nText.\n",
    "a block": "---\ndescription: |\n  {text}\n---\nText.\n", "no end": "---\ndescription: {text}\n", "under a heading": "# Title\nTags: {text}\n\nText.\n",
    "many lines": "---\n{lines}---\nText.\n",
}  # fmt: skip


@pytest.mark.promise
def test_a_file_of_64_kb_that_almost_matches_is_read_within_bounds(tally, scale):
    for number, (label, text) in enumerate(runs(64_000)):
        for where, frame in PLACES.items():
            if (number * 5 + len(where)) % scale(23, 1) == 0:
                lines = (
                    "".join(f"k{n}: {text[n * 300 : n * 300 + 300]}\n" for n in range(180))
                    if "{lines}" in frame
                    else ""
                )
                source = frame.format(text=text, lines=lines).encode("utf-8", "replace").replace(b"\0", b" ")[:65536]
                with tally("R13", (where, label)), bounded():
                    note = parse(source, "x")
                    assert render(note) == source


@pytest.mark.promise
def test_files_that_almost_match_are_listed_recalled_corrected_and_forgotten_within_bounds(tmp_path, tally, scale):
    book = tmp_path / "book"
    book.mkdir()
    memory = open_memory(book, disk=UnsyncedDisk())
    chosen = [pair for number, pair in enumerate(runs(60_000)) if number % scale(47, 5) == 0]
    for number, (_, text) in enumerate(chosen):
        frame = list(PLACES.values())[number % len(PLACES)]
        source = frame.format(text=text, lines=text).encode("utf-8", "replace").replace(b"\0", b" ")[:65536]
        (book / f"x-{number}.md").write_bytes(source)
        with tally("R13", number):
            for ask in (
                memory.notes, memory.preamble, memory.listing, memory.status, lambda: memory.recall("x y z text title"),
                lambda: memory.recall(text), lambda: memory.read(f"x-{number}"),
                lambda: memory.save("The fact is corrected.", name=f"x-{number}", replace=True),
            ):  # fmt: skip
                with bounded():
                    ask()
            if number % 3 == 0:
                with bounded():
                    memory.forget(f"x-{number}")


# --- what comes from a pipe --------------------------------------------------------------------------------------

PIPES = {
    "without end": ("yes", 1, "4,096"),
    "without end or line": ("cat /dev/zero", 1, ""),
    "without end, of random bytes": ("cat /dev/urandom", None, ""),
    "10 MB": ("head -c 10485760 /dev/zero | tr '\\0' a", 1, "4,096"),
    "of half letters": (r"printf 'caf\303'", 2, "UTF-8"),
    "of Latin-1": (r"printf 'caf\351'", 2, "UTF-8"),
    "empty": ("true", 1, "text"),
    "of NULs": (r"printf 'a\000b is a fact'", 0, ""),
}


@pytest.mark.promise
@pytest.mark.parametrize("pipe", PIPES)
def test_what_a_pipe_sends_is_saved_or_refused_within_bounds(tmp_path, tally, pipe):
    command, code, word = PIPES[pipe]
    prelude = (
        "import resource, sys, time\n"
        "from commonplace.surfaces.cli.app import run\n"
        "from tests.places import bounded\n"
        "with bounded():\n"
        "    code = run(sys.argv[1:])\n"
        "sys.exit(code)"
    )
    words = [sys.executable, "-c", prelude, "remember", "--dir", tmp_path / "book", "-"]
    with (
        tally("R13", pipe),
        subprocess.Popen(["sh", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as source,
    ):
        done = subprocess.run(
            words,
            cwd=ROOT,
            stdin=source.stdout,
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
            errors="replace",
        )
        source.stdout.close()
        source.kill()
        assert "Traceback" not in done.stderr, done.stderr
        assert done.returncode == code or (code is None and done.returncode in (1, 2))
        assert word in done.stderr
        assert len(done.stderr) < 1000
        assert (tmp_path / "book").exists() == (code == 0)


def test_a_lock_that_is_replaced_again_and_again_ends_in_a_refusal(tmp_path):
    """Somebody who puts a new lock file in place of each one we take must not keep us for ever."""
    from commonplace.errors import Busy
    from commonplace.store import locking

    class Replacing(UnsyncedDisk):
        def lock(self, fd):
            super().lock(fd)
            path = tmp_path / "control" / "lock"
            path.unlink()
            path.touch()

    (tmp_path / "control").mkdir()
    control = os.open(tmp_path / "control", os.O_RDONLY)
    began = time.monotonic()
    with pytest.raises(Busy):
        locking.lock(Replacing(), control, str(tmp_path), wait=0.2)
    assert time.monotonic() - began < 1
    os.close(control)
