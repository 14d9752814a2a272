"""The listing: one note is one line, the most valuable fit, and what was left out is told."""

import re
import time
from collections import Counter
from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.texts import FIELDS, LINKS, TOKENS, assert_one_line, examples, notes, stems, texts

from commonplace.index.listing import INDEX_BYTES, INDEX_HEAD, INDEX_LINES, WHOLE_INDEX, Budget, Line, fit, line_of
from commonplace.note.format import parse
from commonplace.note.kind import FOLDERS, Kind, heading_of
from commonplace.note.limits import DESCRIPTION_CHARS, TITLE_CHARS
from commonplace.note.note import Note

KINDS = [kind for kind in Kind if kind is not Kind.SESSION]
REACH = "find them"


# --- a line --------------------------------------------------------------------------------------------------------


@pytest.mark.promise
@examples(50, 10_000)
@given(notes())
def test_any_note_is_one_line(note):
    assert_one_line(line_of(note))


@pytest.mark.promise
def test_text_that_poses_as_structure_stays_text(tally, scale):
    """In every field a person or tool could put it into."""
    fields = [
        ("title", str),
        ("description", str),
        ("name", str),
        ("word", str),
        ("tags", lambda text: (text,)),
        ("body", str),
    ]
    shapes = [str, "x {} y".format, lambda text: f"{text}\n# {text}\n", lambda text: "\u200b".join(text)]
    for number, text in enumerate([*TOKENS, *LINKS]):
        for field, form in fields[number % scale(3, 1) :: scale(3, 1)]:
            for shape in shapes:
                with tally("R10", (field, text)):
                    value = form(shape(text))
                    if field == "name":
                        value = shape(text).replace("/", "").replace("\n", "").replace("\0", "")
                    line = line_of(replace(Note(name="a-name", body="x", kind=Kind.OTHER), **{field: value}))
                    assert_one_line(line)
                    assert text not in line or text in {"-->"}


LINES = (
    (Note(name="a-b", title="A title", description="What it is", body=""), "- [A title](a-b.md) - What it is"),
    (Note(name="a-b", title="A title", body=""), "- [A title](a-b.md)"),
    (Note(name="user_prefs", description="d", body=""), "- [user prefs](user_prefs.md) - d"),
    (Note(name="a b", description="d", body=""), "- [a b](a%20b.md) - d"),
    (Note(name="a(b)", title="[x](y)", description="[x](y)", body=""), "- [(x) (y)](a%28b%29.md) - [x] (y)"),
    (Note(name="gr\xf6\xdfe-\u65e5\u672c-\u0939\u093f\u0928\u094d\u0926\u0940", description="d", body=""),
     "- [gr\xf6\xdfe \u65e5\u672c \u0939\u093f\u0928\u094d\u0926\u0940](gr\xf6\xdfe-\u65e5\u672c-\u0939\u093f\u0928\u094d\u0926\u0940.md) - d"),
    (Note(name="\U0001f389", description="d", body=""), "- [\U0001f389](%F0%9F%8E%89.md) - d"),
    (Note(name="\u202e", description="d", body=""), "- [%E2%80%AE.md](%E2%80%AE.md) - d"),
    (Note(name="\u3164", title="\u200b", description="\u200b", body=""), "- [%E3%85%A4.md](%E3%85%A4.md)"),
    (Note(name="x", title="<b> & </b>", description="a < b && c > d", body=""), "- [&lt;b&gt; &amp; &lt;/b&gt;](x.md) - a &lt; b &amp;&amp; c &gt; d"),
    (Note(name="x", title="two\nlines", description="three\r\n\nlines\u2028here", body=""), "- [two lines](x.md) - three lines here"),
    (Note(name="x", folder="sessions", description="d", body=""), "- [x](sessions/x.md) - d"),
    (Note(name="x", folder="elsewhere", description="d", body=""), "- [x](x.md) - d"),
    (Note(name="x", title="t" * 90, description="d" * 160, body=""), f"- [{'t' * 79}\u2026](x.md) - {'d' * 149}\u2026"),
)  # fmt: skip


@pytest.mark.parametrize(("note", "line"), LINES)
def test_a_line_reads(note, line):
    assert line_of(note) == line


@examples(40, 5_000)
@given(texts(30), texts(60))
def test_a_line_has_the_length_of_its_limits(title, description):
    plain = line_of(Note(name="x", title=title, description=description, body=""))
    seen = plain.replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">")
    assert len(seen) <= TITLE_CHARS + 2 * DESCRIPTION_CHARS + len("- [](x.md) - ")  # `](` is set apart by a space


# --- what fits -----------------------------------------------------------------------------------------------------


@st.composite
def shelves(draw):
    """Notes in order of value, how many there are of each kind, and the room there is."""
    names = draw(st.lists(st.from_regex(r"[a-z]{1,4}", fullmatch=True), max_size=24, unique=True))
    link = st.lists(st.sampled_from([*names, "gone"]), max_size=2).map(tuple)
    text = st.one_of(st.text("ab \u65e5\U0001f389", max_size=60), st.just("x" * 150))
    lines = [
        Line(
            name,
            draw(st.sampled_from(KINDS)),
            f"- [{name}]({name}.md) - {draw(text)}",
            draw(st.one_of(st.just(()), st.just(()), link)),
        )
        for name in names
    ]
    totals = Counter(line.kind for line in lines)
    beyond = draw(st.dictionaries(st.sampled_from(KINDS), st.integers(0, 5000), max_size=3))
    budget = Budget(draw(st.integers(0, 45)), draw(st.integers(0, 3000)))
    if draw(st.booleans()):
        budget = WHOLE_INDEX
    return (
        lines,
        {kind: totals[kind] + beyond.get(kind, 0) for kind in KINDS},
        budget,
        draw(st.sampled_from([(), INDEX_HEAD])),
    )


def correctors(lines):
    """For each name, the notes that correct it and, in turn, those that correct them."""
    direct = {line.name: [other.name for other in lines if line.name in other.supersedes] for line in lines}
    found = {}
    for name in direct:
        reached, waiting = set(), [name]
        while waiting:
            waiting += [other for other in direct[waiting.pop()] if other not in reached and not reached.add(other)]
        found[name] = reached
    return direct, found


def in_order(lines):
    """All names by value, each after what corrects it: the plain way to say it."""
    direct, _ = correctors(lines)
    placed = []

    def place(name, on_the_way):
        for other in direct[name]:
            if other not in placed and other not in on_the_way:
                place(other, (*on_the_way, name))
        if name not in placed:
            placed.append(name)

    for one in lines:
        place(one.name, ())
    return placed


def assert_fits(listing, lines, totals, budget, head):
    text = listing.text
    assert text.count("\n") == listing.lines <= max(budget.lines, 0)
    assert len(text.encode()) == listing.bytes <= max(budget.bytes, 0)
    assert listing.total == sum(totals.values())
    assert listing.left_out == listing.total - len(listing.shown)
    if not text:
        assert listing.shown == ()
        return
    rows = text.split("\n")
    assert rows.pop() == ""
    assert rows[: len(head)] == list(head)
    by_name = {line.name: line for line in lines}
    assert [row for row in rows if row.startswith("- [")] == [by_name[name].text for name in listing.shown]
    assert text.count("\n## ") + text.startswith("## ") == len({by_name[name].kind for name in listing.shown})
    assert_told(rows[-1], listing, totals, by_name)


def assert_told(last, listing, totals, by_name):
    """The last line tells how many of which kinds are missing, and how to find them."""
    shown = Counter(by_name[name].kind for name in listing.shown)
    gone = {kind: totals[kind] - shown[kind] for kind in totals if totals[kind] > shown[kind]}
    assert sum(gone.values()) == listing.left_out
    if gone:
        verb = "note is" if listing.left_out == 1 else "notes are"
        told = re.fullmatch(rf"(\d+) more {verb} not shown \((.+)\); {REACH}", last)
        assert told and int(told[1]) == listing.left_out
        assert dict(part.rsplit(" ", 1) for part in told[2].split(", ")) == {
            heading_of(kind).lower(): str(count) for kind, count in gone.items()
        }
    else:
        assert "not shown" not in last
        assert listing.shown or last == "No notes yet."


def assert_chosen_by_value(listing, lines, budget):
    """The first so many in order of value; no correction is left out while what it corrects is shown."""
    shown, order = set(listing.shown), in_order(lines)
    direct, over = correctors(lines)
    assert shown == set(order[: len(shown)])
    for name in shown:
        for other in direct[name]:
            assert other in shown or name in over[other], (name, other)  # or the two correct each other
    if listing.text and len(shown) < len(lines):
        widest = max(len(line.text.encode()) for line in lines)
        full_of_lines = listing.lines + 3 > budget.lines
        full_of_bytes = listing.bytes + 2 * widest + 200 > budget.bytes
        assert full_of_lines or full_of_bytes, "there was room for more"


@pytest.mark.promise
@examples(90, 20_000)
@given(shelves())
def test_whatever_the_notes_and_the_room_the_most_valuable_fit(shelf):
    lines, totals, budget, head = shelf
    listing = fit(lines, totals, budget, head=head, reach=REACH)
    assert fit(lines, totals, budget, head=head, reach=REACH) == listing
    assert_fits(listing, lines, totals, budget, head)
    assert_chosen_by_value(listing, lines, budget)


def line(name, *supersedes, kind=Kind.PROJECT, text=""):
    return Line(name, kind, f"- [{name}]({name}.md){text}", supersedes)


def shown(lines, most=200, byte=25_000):
    return fit(lines, Counter(one.kind for one in lines), Budget(most, byte), reach=REACH).shown


CHAINS = (
    ("a correction of little value stands before what it corrects", [line("old"), line("x"), line("new", "old")], "new old x"),
    ("so does the correction of a correction", [line("a"), line("b", "a"), line("c", "b")], "c b a"),
    ("and of two corrections the more valuable", [line("a"), line("b", "a"), line("c", "a")], "b c a"),
    ("a circle keeps its order", [line("a", "b"), line("b", "a"), line("c")], "b a c"),
    ("a circle of three", [line("a", "c"), line("b", "a"), line("c", "b")], "c b a"),
    ("a note that corrects itself", [line("a"), line("b", "b")], "a b"),
    ("and is corrected by another", [line("a", "a"), line("b", "a")], "b a"),
    ("a note that corrects one that is gone", [line("a"), line("b", "gone")], "a b"),
    ("one that corrects many", [line("a"), line("b"), line("c"), line("d", "a", "c")], "d a b c"),
    ("a correction of one in a circle stands before that one", [line("a", "b"), line("b", "a"), line("c", "a")], "b c a"),
)  # fmt: skip


@pytest.mark.promise
@pytest.mark.parametrize(("lines", "order"), [case[1:] for case in CHAINS], ids=[case[0] for case in CHAINS])
def test_in_a_chain_of_corrections(lines, order, tally):
    assert shown(lines) == tuple(order.split())
    direct, over = correctors(lines)
    for most in range(2, 8):
        with tally("R12", (order, most)):
            some = shown(lines, most)
            assert all(other in some or name in over[other] for name in some for other in direct[name])


def test_a_long_chain_and_a_wide_one_take_no_time():
    many = 5000
    chain = [line(f"n{i}", f"n{i - 1}") for i in range(many)]
    fan = [line("old"), *[line(f"n{i}", "old") for i in range(many)]]
    web = [line(f"n{i}", *[f"n{(i * 7 + k) % 500}" for k in range(20)]) for i in range(500)]
    for lines in (chain, fan, web):
        began = time.process_time()
        shown(lines)
        assert time.process_time() - began < 0.5


def test_bytes_are_counted_not_characters():
    lines = [line(f"n{i:03}", text=" - " + "\u65e5" * 150) for i in range(150)]
    listing = fit(lines, {Kind.PROJECT: 150}, WHOLE_INDEX, reach=REACH)
    assert 24_000 < listing.bytes <= INDEX_BYTES
    assert listing.lines < 60
    assert len(listing.text) < 10_000


def test_lines_are_cut_before_bytes():
    lines = [line(f"n{i:03}") for i in range(500)]
    listing = fit(lines, {Kind.PROJECT: 500}, WHOLE_INDEX, reach=REACH)
    assert listing.lines == INDEX_LINES
    assert listing.shown == tuple(f"n{i:03}" for i in range(197))
    assert listing.text.endswith(f"\n\n303 more notes are not shown (project 303); {REACH}\n")


@pytest.mark.parametrize("lines", range(12))
@pytest.mark.parametrize("byte", [0, 1, 40, 60, 80, 120, 200, 400])
@pytest.mark.parametrize("head", [(), INDEX_HEAD])
def test_no_room_is_too_small(lines, byte, head):
    notes_ = [
        line(name, kind=kind)
        for name, kind in zip("abcd", [Kind.USER, Kind.PROJECT, Kind.USER, Kind.OTHER], strict=True)
    ]
    totals = Counter(one.kind for one in notes_)
    assert_fits(
        fit(notes_, totals, Budget(lines, byte), head=head, reach=REACH), notes_, totals, Budget(lines, byte), head
    )


def test_headings_stand_in_the_order_of_the_table():
    notes_ = [line(str(kind), kind=kind) for kind in reversed(KINDS)]
    text = fit(notes_, Counter(one.kind for one in notes_), WHOLE_INDEX, reach=REACH).text
    assert re.findall(r"## (.+)", text) == ["User", "Feedback", "Project", "Reference", "Other"]
    assert text.startswith("## User\n- [user](user.md)\n\n## Feedback\n")


def test_an_empty_listing_says_so():
    assert fit([], {}, WHOLE_INDEX, reach=REACH).text == "No notes yet.\n"
    assert fit([], {}, WHOLE_INDEX, head=("# Memory",), reach=REACH).text == "# Memory\n\nNo notes yet.\n"


# --- through a Memory ----------------------------------------------------------------------------------------------


@pytest.mark.promise
@examples(20, 1_000)
@given(
    st.lists(
        st.tuples(stems(), st.fixed_dictionaries({"title": FIELDS["title"], "description": FIELDS["description"]})),
        max_size=4,
    )
)
def test_a_file_read_from_any_bytes_is_one_line(cases):
    for name, fields in cases:
        head = "".join(f"{key}: {value}\n" for key, value in fields.items() if "\0" not in value)
        for folder in ("", *FOLDERS):
            assert_one_line(line_of(parse(f"---\n{head}---\n".encode(), name, folder)))


def test_value_is_trust_then_pins_then_corrections_then_the_day(memory, book, tally):
    """Each note is worth less than the one before it, whatever its name."""
    from commonplace import Call

    person, agent, importer = Call(origin="person"), Call(), Call(origin="import")
    for name, day, call, more in (
        ("z-person-pinned", "2026-01-01", person, {"pinned": True}), ("y-person-new", "2026-05-02", person, {}), ("x-person-old", "2026-01-01", person, {}),
        ("w-agent-pinned", "2026-01-01", agent, {"pinned": True}), ("v-agent-new", "2026-05-02", agent, {}), ("u-agent-old", "2026-01-01", agent, {}),
        ("a-import-pinned", "2026-05-02", importer, {"pinned": True}), ("b-import", "2026-05-02", importer, {}),
    ):  # fmt: skip
        clocked(memory, day).save(f"The fact {name}.", name=name, kind="project", call=call, **more)
    names = [
        "z-person-pinned",
        "y-person-new",
        "x-person-old",
        "w-agent-pinned",
        "v-agent-new",
        "u-agent-old",
        "a-import-pinned",
        "b-import",
    ]
    for most in range(3, 12):
        with tally("R12", most):
            listing = memory.listing(Budget(most, 25_000), REACH)
            assert list(listing.shown) == names[: most - 3 if most < 9 else 8]
    clocked(memory, "2025-01-01").save(
        "The fact was wrong.", name="correction", supersedes=["v-agent-new"], call=importer
    )
    assert memory.listing(Budget(200, 25_000), REACH).shown == (*names[:4], "correction", *names[4:])


def clocked(memory, day):
    """The same notebook under another day."""
    from commonplace import open_memory

    moment = time.mktime(date.fromisoformat(day).timetuple()) + 3600 * 12
    return open_memory(memory.where, now=lambda: moment)
