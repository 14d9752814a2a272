"""What helps a person along: names that are nearly right, files with a mistake in them, traces of what was given."""

import os
import stat

import pytest

from commonplace import Note, open_memory
from commonplace.care.near import meant, near, slips
from commonplace.note.lint import called, faults
from commonplace.trace import Trace

NAMES = (
    "deploys-go-through-deploy-sh",
    "user_prefs",
    "release-tags",
    "größe-der-tabellen",
    "日本語のメモ",
    "sqlite-locks",
)
NOTES = [Note(name=name, body="It is so.") for name in NAMES]


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("deploy-go-through-deploy-sh", "deploys-go-through-deploy-sh"), ("User Prefs", "user_prefs"), ("user-pref", "user_prefs"),
        ("relase-tags", "release-tags"), ("tags", "release-tags"), ("Groesse der Tabellen", "größe-der-tabellen"),
        ("sqlite", "sqlite-locks"), ("sqlite-locks.md", "sqlite-locks"), ("locks of sqlite", "sqlite-locks"),
    ],
)  # fmt: skip
def test_a_name_that_is_nearly_right_brings_the_one_that_was_meant(asked, meant):
    assert near(NOTES, asked)[0] == meant


def test_of_two_notes_with_one_title_both_are_named():
    notes = [Note(name=name, body="It is so.", title="our staging server") for name in ("otter", "otter-2")]
    assert near(notes, "our staging") == ["otter", "otter-2"]
    assert near(notes, "otter-2") == ["otter"], "a name that was asked for is not what was meant by it"


def test_the_nearest_word_comes_first_and_what_is_far_behind_it_not_at_all():
    assert meant("recal", ["preamble", "recall", "list"]) == ["recall"]
    assert meant("tag", ["tags", "tagx", "tab"]) == ["tagx", "tags"]
    assert meant("zzz", ["recall", "list"]) == []


@pytest.mark.parametrize("asked", ["", "...", "\0", "zzzzzzzz", "x" * 10_000, "../../etc/passwd"])
def test_a_name_that_is_like_none_brings_at_most_three(asked):
    assert len(near(NOTES, asked)) <= 3


def test_ten_thousand_names_are_compared_in_well_under_a_second():
    import time

    many = [Note(name=f"fact-number-{n}-of-many", body="x") for n in range(10_000)]
    began = time.process_time()
    assert near(many, "fact-number-77-of-mny")
    assert time.process_time() - began < 1.5


HEADER = "---\nname: x\ntype: project\n"


@pytest.mark.parametrize(
    ("source", "line", "words"),
    [
        (HEADER + "updated: soon\n---\n\nText.\n", 4, "is not a date"),
        (HEADER + "expires: 2026-02-30\n---\n\nText.\n", 4, "is not a date"),
        ("---\nname: x\ntype: nonsense\n---\n\nText.\n", 3, "is no kind"),
        (HEADER + f"description: {'long ' * 40}\n---\n\nText.\n", 4, "characters, over 150"),
        (HEADER + "this is no key\n---\n\nText.\n", 4, "is not `key: value`"),
        ("\ufeff\n" + HEADER + "updated: soon\n---\n\nText.\n", 5, "is not a date"),
        (HEADER + "\nText without an end of the header.\n", 1, "no closing"),
        (HEADER + "---\n\n", 5, "no text"),
        ("", 1, "no text"),
        ("One.\nTwo.\nThr\0ee.\n", 3, "NUL"),
    ],
)  # fmt: skip
def test_a_mistake_in_a_file_is_told_with_its_line(source, line, words):
    found = faults(source.encode(), "x")
    assert [fault.line for fault in found] == [line]
    assert words in found[0].what


@pytest.mark.parametrize(
    "source", ["Just text.\n", HEADER + "---\n\nText.\n", "---\ntype: decision\nmood: any\n# mine\n---\nText\n"]
)
def test_a_file_without_a_mistake_is_not_faulted(source):
    assert faults(source.encode(), "x") == []


WHOLE = HEADER + "---\n\nText, and a rule.\n\n---\n\nMore.\n"


@pytest.mark.parametrize(
    "source",
    [
        WHOLE.removeprefix("---\n"), WHOLE.removeprefix("---\n").replace("\n---\n", "\n", 1), WHOLE.replace("---", "--", 1),
        "x" + WHOLE, "What I meant.\n\n" + WHOLE, "\n" + WHOLE[4:], WHOLE.replace("---\n", "", 2), WHOLE[4:].replace("\n", "\r\n"),
    ],
)  # fmt: skip
def test_a_header_that_lost_its_first_line_is_a_mistake_where_there_was_one(source):
    assert faults(source.encode(), "x", WHOLE.encode()) == [
        (1, "the file does not begin with the header's `---` line, so all of it would be read as text")
    ]
    assert faults(source.encode(), "x", b"Text.\n") == []


@pytest.mark.parametrize(
    "source",
    [
        "Just text.\n",
        "Title page: done.\nAnd more.\n",
        "Text: of sorts.\n\n---\n\nOne\n---\n",
        "# Title\n\nSo is it.\n\n---\n\nname: x\n",
    ],
)
def test_a_header_may_be_taken_out_whole(source):
    assert faults(source.encode(), "x", WHOLE.encode()) == []


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("tpye: user", "type"), ("tgas: [a]", "tags"), ("descripton: A", "description"), ("Discription: A", "description"),
        ("tag: a", "tags"), ("expire: 2026-01-01", "expires"), ("knid: user", "kind"), ("supercedes: [a]", "supersedes"),
        ("status: done", ""), ("author: Ana", ""), ("date: 2026-01-01", ""), ("aliases: [a]", ""), ("Tags: [a]", ""),
        ("subtitle: A", ""), ("version: 2", ""), ("source: a book", ""), ("metadata:\n  tpye: user", ""),
    ],
)  # fmt: skip
def test_a_key_that_looks_like_a_slip_in_one_of_ours_is_told_of_and_no_other_is(line, meant):
    source = f"---\nname: x\n{line}\n---\n\nText.\n".encode()
    told = [(3, f"`{line.partition(':')[0]}` is not a key Commonplace knows; did you mean `{meant}`?")]
    assert slips(source, b"") == (told if meant else [])
    assert slips(source, source) == []
    assert faults(source, "x", source) == []


def test_a_name_somebody_gave_in_the_header_is_told_from_one_that_was_there():
    assert called(b"---\ntype: user\nname: y\n---\nText.\n", b"---\nname: x\n---\nText.\n") == (3, "y")
    for then in ("name: x", "name: 'x' # mine", "type: user", "name: "):
        assert called(f"---\n{then}\n---\nText.\n".encode(), b"---\nname: x\n---\nText.\n") is None


def test_a_trace_holds_names_and_sizes_for_each_session_and_no_more(tmp_path):
    place = tmp_path / "traces"
    trace = Trace(str(place), now=lambda: 1_780_000_000.0)
    trace.add("2026-05-15-08h00-a1b2", "pinned", ["deploy"], 2000)
    trace.add("2026-05-15-08h00-a1b2", "recalled", ["deploy", "release"], 300)
    trace.add("another", "recalled", ["x" * 5] * 200, 1)
    assert [(one.what, one.names, one.bytes) for one in trace.read("2026-05-15-08h00-a1b2")] == [
        ("pinned", ("deploy",), 2000), ("recalled", ("deploy", "release"), 300),
    ]  # fmt: skip
    assert len(trace.read("another")[0].names) == 200
    assert set(trace.sessions()) == {"2026-05-15-08h00-a1b2", "another"}
    assert {stat.S_IMODE(path.stat().st_mode) for path in place.iterdir()} == {0o600}


@pytest.mark.parametrize("session", ["../../x", "", "\0", "a/b", "x" * 5000])
def test_no_session_leads_a_trace_elsewhere(tmp_path, session):
    trace = Trace(str(tmp_path / "traces"))
    trace.add(session, "pinned", [], 0)
    assert {path.name for path in tmp_path.iterdir()} <= {"traces"}
    assert len(trace.read(session)) <= 1


def test_what_cannot_be_traced_hinders_nothing(tmp_path):
    (tmp_path / "file").write_text("theirs")
    trace = Trace(str(tmp_path / "file"))
    trace.add("s", "pinned", ["a"], 1)
    assert (trace.read("s"), trace.sessions()) == ([], [])
    broken = Trace(str(tmp_path / "traces"))
    broken.add("s", "pinned", ["a"], 1)
    with open(tmp_path / "traces" / "s.jsonl", "ab") as file:
        file.write(b'not json\n[]\n{"at": 1}\n\xff\n')
    assert [one.what for one in broken.read("s")] == ["pinned"]
    os.symlink("/etc/passwd", tmp_path / "traces" / "link.jsonl")
    broken.add("link", "pinned", ["a"], 1)


def test_a_memory_with_nothing_in_it_has_no_near_names(tmp_path):
    assert near(open_memory(tmp_path / "book").notes().notes, "anything") == []
