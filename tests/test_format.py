"""A note and its file: what is written is read back, what was read is kept, and an edit touches what it edits."""

import re
from contextlib import suppress
from dataclasses import replace
from datetime import date

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.texts import FIELDS, PLACES, examples, files, notes, sound_files, texts

from commonplace.errors import BadFormat
from commonplace.note.format import parse, render, split, stamp_of, written
from commonplace.note.kind import FOLDERS, Kind
from commonplace.note.limits import DESCRIPTION_CHARS, FILE_BYTES, clamp
from commonplace.note.note import FACTS, Note, spaced
from commonplace.note.prose import derived_description, derived_title

# The keys by which other systems' files call our fields, as this test knows them.
SPELLINGS = {
    "title": {"title"}, "description": {"description"}, "kind": {"type", "kind"}, "word": {"type", "kind"},
    "tags": {"tags"}, "created": {"created"}, "updated": {"updated", "modified"}, "expires": {"expires"},
    "pinned": {"pinned"}, "applies_to": {"applies_to", "appliesto", "applies-to"}, "supersedes": {"supersedes"},
    "origin": {"origin"}, "session": {"session", "originsessionid", "origin_session_id"}, "body": set(),
}  # fmt: skip
NAME = "a-name"


def other(one, two):
    """The fields in which two notes differ, for a message."""
    return {
        field: (getattr(one, field), getattr(two, field))
        for field in FACTS
        if getattr(one, field) != getattr(two, field)
    }


def lines_of(source):
    return re.findall(rb"[^\n]*\n|[^\n]+", source)


def kept_lines(old, new):
    """Which of the old lines are in the new ones, in order: the longest way to choose them."""
    best = [[0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for i in range(len(old) - 1, -1, -1):
        for j in range(len(new) - 1, -1, -1):
            best[i][j] = best[i + 1][j + 1] + 1 if old[i] == new[j] else max(best[i + 1][j], best[i][j + 1])
    i = j = 0
    kept = set()
    while i < len(old) and j < len(new):
        if old[i] == new[j]:
            kept.add(i)
            i, j = i + 1, j + 1
        elif best[i + 1][j] >= best[i][j + 1]:
            i += 1
        else:
            j += 1
    return kept


# --- round trips -----------------------------------------------------------------------------------------------


@examples(90, 5_000)
@given(notes())
def test_any_note_comes_back_from_its_file(note):
    file = render(note)
    back = parse(file, note.name, note.folder)
    assert back == note, other(back, note)
    assert render(back) == file
    there = written(note)
    assert (there, there.source, there.stamp) == (note, file, stamp_of(file))
    assert (back.source, back.stamp) == (file, stamp_of(file))


@examples(90, 5_000)
@given(st.one_of(files(), sound_files(), texts(12).map(str.encode), st.binary(max_size=80)), PLACES)
def test_any_file_that_can_be_read_is_rendered_as_it_was(file, folder):
    assume(b"\0" not in file)
    note = parse(file, NAME, folder)
    assert render(note) == file
    assert split_joined(file) == file


def split_joined(file):
    try:
        return split(file.decode()).join().encode()
    except UnicodeDecodeError:
        return split(file.decode("latin-1")).join().encode("latin-1")


@examples(40, 5_000)
@given(files())
def test_what_was_read_from_any_file_can_be_written_anew(file):
    """Without the bytes it came from, a note still says the same."""
    note = parse(file, NAME)
    fresh = replace(note, source=None, stamp="")
    assert parse(render(fresh), NAME) == fresh


def test_a_fresh_note_has_the_form_the_format_page_shows():
    note = Note(
        name="deploys-go-through-deploy-sh",
        title="Deploys go through deploy.sh",
        description="Deploys run through ./deploy.sh, which refuses a dirty tree",
        body="Deploys go through `./deploy.sh`, never by hand.",
        tags=("deploy", "two words", "a: b"),
        created=date(2026, 5, 15),
        updated=date(2026, 5, 16),
        origin="agent",
        session="2026-05-15-08h00-a1b2",
    )
    assert render(note).decode() == (
        "---\n"
        "name: deploys-go-through-deploy-sh\n"
        "title: Deploys go through deploy.sh\n"
        'description: "Deploys run through ./deploy.sh, which refuses a dirty tree"\n'
        "type: project\n"
        'tags: [deploy, two words, "a: b"]\n'
        "created: 2026-05-15\n"
        "updated: 2026-05-16\n"
        "origin: agent\n"
        "session: 2026-05-15-08h00-a1b2\n"
        "---\n"
        "\n"
        "Deploys go through `./deploy.sh`, never by hand.\n"
    )


BODIES = (
    "", "\n", "\n\n", "x", "x\n", "x\n\n", "\nx", "\n\nx\n\n", "---", "---\n", "---\nname: y\n---", "---\nname: y\n---\ntext",
    "text\n---\ntype: user\n---\nmore", "name: y", "# Heading", "# 2026-05-15 08:00\ntags: a, b\n\nText.", "\ufefftext", "\x85",
    "\u2028x", "x\u2029", "\x0b\x0c\x1c", "\t\tindented", "trailing   ", "```\n---\nname: y\n---\n```", "a\x1b[31mb", "\U0001f389",
    "\u202eevil", "null", "~", "'", '"', "\\", "|", "> quote", "- item", "...", "\x7f", "e\u0301 \xe9", "<!-- x -->", "[a](b)",
)  # fmt: skip


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("folder", ["", "sessions"])
def test_a_body_of_any_shape_comes_back(body, folder):
    note = Note(name=NAME, description="what it is about", body=body, folder=folder, kind=Kind.OTHER)
    assert parse(render(note), NAME, folder) == note


STARTS = (
    b"", b"text", b"text\n", b"\n\ntext\n", b"\xef\xbb\xbftext\n", b"# Heading\n", b"---\n---\n", b"---\n---", b"---\nname: x\n---",
    b"---\nname: x\n---\n", b"---\r\nname: x\r\n---", b"---\r\nname: x\r\n---\r\n\r\ntext", b"---\nname: x\n---  \n\ntext\n",
    b"---\nname: x\n---\ntight", b"caf\xe9\n", b"---\ntitle: caf\xe9\n---\nx", b"---\nfoo: bar\n", b"# 2026-05-15 08:00\ntags: a, b\n\nx\n",
)  # fmt: skip


@pytest.mark.parametrize("start", STARTS)
def test_a_body_of_any_shape_can_replace_any_files(start):
    base = parse(start, NAME)
    for body in BODIES:
        wanted = replace(base, body=body)
        back = parse(render(wanted), NAME)
        assert back == wanted, (body, render(wanted), other(back, wanted))


def test_carriage_returns_in_a_body_become_line_ends():
    note = Note(name=NAME, body="one\r\ntwo\rthree")
    assert note.body == "one\ntwo\nthree"
    assert parse(render(note), NAME).body == note.body


# --- edits -----------------------------------------------------------------------------------------------------


def edited(file, field, value, folder=""):
    """A file after one field of its note was changed: what is read back, and the new bytes."""
    base = parse(file, NAME, folder)
    wanted = replace(base, **{field: value})
    new = render(wanted)
    back = parse(new, NAME, folder)
    assert back == wanted, (new, other(back, wanted))
    return base, wanted, new


def assert_only_touched(file, new, field):
    """Every line that is not the field's own still stands, in order, with its own line end."""
    old = lines_of(file)
    kept = kept_lines(old, lines_of(new))
    gone = [at for at in range(len(old)) if at not in kept]
    if field == "body":
        header = next((i for i, line in enumerate(old) if i and line.rstrip() == b"---"), -1)
        gone = [at for at in gone if at < header]
        assert not gone, [old[at] for at in gone]
        return
    inside = False
    for at, line in enumerate(old):
        found = re.match(rb"[ \t]*[\"']?([^\W\d][\w .-]*?)[\"']?[ \t]*:", line)
        deeper = not line.strip() or line[:1] in b" \t-#"
        if found and found[1].decode("latin-1").casefold() in SPELLINGS[field]:
            inside = True
        elif not deeper or (found and at in kept):
            inside = False
        assert at in kept or inside, (field, line, file, new)


@examples(120, 5_000)
@given(sound_files(), st.sampled_from(sorted(FIELDS)), st.data())
def test_a_change_to_one_field_leaves_every_other_line_as_it_was(file, field, data):
    value = data.draw(FIELDS[field])
    base, wanted, new = edited(file, field, value)
    if wanted == base:
        assert new == file
    assert_only_touched(file, new, field)
    assert new.startswith(b"\xef\xbb\xbf") == file.startswith(b"\xef\xbb\xbf")
    if b"\r\n" in file.partition(b"\n---")[0]:
        assert b"\n" not in new.replace(b"\r\n", b"")


@examples(80, 5_000)
@given(files(), st.fixed_dictionaries({}, optional=FIELDS), PLACES)
def test_any_changes_to_any_file_are_read_back(file, changes, folder):
    base = parse(file, NAME, folder)
    wanted = replace(base, **changes)
    back = parse(render(wanted), NAME, folder)
    assert back == wanted, (render(wanted), other(back, wanted))


PERSONS = b"""\xef\xbb\xbf---\r
# kept by Ana, please leave the order\r
Name: User Preferences\r
description : "Editor settings:  and 'style'"   # long\r
aliases: [prefs, "my prefs"]\r
tags:\r
- editor\r
# tone is a tag too\r
- 'tone'\r
type: preference # closed set\r
updated: 2026-03-25\r
custom:\r
  nested: [1, 2]\r
  text: |\r
    kept\r
\r
    as it is\r
---\r
\r
- Prefers concise answers\r
- Uses vim\r
"""
VALUES = {
    "title": "Preferences of the user", "description": "Editor, style", "kind": Kind.FEEDBACK, "body": "- Uses vi\n",
    "tags": ("editor", "style"), "created": date(2026, 1, 2), "updated": date(2026, 9, 30), "expires": date(2027, 1, 1),
    "pinned": True, "applies_to": ("src/**",), "supersedes": ("old-prefs",), "origin": "person", "session": "s-1",
}  # fmt: skip


@pytest.mark.parametrize("field", VALUES)
def test_a_persons_file_keeps_its_comments_keys_order_quoting_and_line_ends(field):
    base, wanted, new = edited(PERSONS, field, VALUES[field])
    assert base.word == "preference"
    assert base.tags == ("editor", "tone")
    assert_only_touched(PERSONS, new, field)
    assert b"\n" not in new.replace(b"\r\n", b"")
    assert b"# kept by Ana, please leave the order\r\nName: User Preferences\r\n" in new
    assert b"# tone is a tag too\r\n" in new
    assert b"custom:\r\n  nested: [1, 2]\r\n  text: |\r\n    kept\r\n\r\n    as it is\r\n" in new
    added = len(lines_of(new)) - len(lines_of(PERSONS))
    assert added == {"tags": -2, "body": 0, "kind": 0, "description": 0, "updated": 0}.get(field, 1)
    again = render(replace(wanted, **{field: getattr(base, field)}, source=new))
    assert parse(again, NAME) == replace(parse(new, NAME), **{field: getattr(base, field)})


EDITS = (
    ("a nested value is changed where it stands",
     b"---\nname: x\nmetadata: \n  node_type: memory\n  type: feedback\n  modified: 2026-07-29T13:16:34.420Z\n---\n\ntext\n",
     {"kind": Kind.USER, "updated": date(2026, 9, 1)},
     b"---\nname: x\nmetadata: \n  node_type: memory\n  type: user\n  modified: 2026-09-01\n---\n\ntext\n"),
    ("another spelling of a key stays", b"---\nKind: fact\noriginSessionId: a\n---\ntext\n", {"kind": Kind.USER, "session": "b"},
     b"---\nKind: user\noriginSessionId: b\n---\ntext\n"),
    ("of a repeated key the last is changed", b"---\ntitle: A\ntitle: B\n---\ntext\n", {"title": "C"},
     b"---\ntitle: A\ntitle: C\n---\ntext\n"),
    ("a repeated key goes as a whole", b"---\nname: x\ntags: [a]\nfoo: bar\ntags: [b]\n---\ntext\n", {"tags": ()},
     b"---\nname: x\nfoo: bar\n---\ntext\n"),
    ("a value taken from the body is written out when the body goes", b"# 2026-05-15 08:00\ntags: a, b\n\nIt was so.\n",
     {"body": "It was otherwise."},
     b'---\ntitle: "2026-05-15 08:00"\ndescription: "It was so"\ntags: [a, b]\ncreated: 2026-05-15\n---\n\nIt was otherwise.\n'),
    ("a new body that looks like a header stays a body", b"plain text\n", {"body": "---\ntype: user\n---\nplain text"},
     b'---\ndescription: "plain text"\n---\n\n---\ntype: user\n---\nplain text\n'),
    ("a body is added after a last line without an end", b"---\nname: x\n---", {"body": "\ntext"},
     b'---\nname: x\ndescription: ""\n---\n\n\ntext\n'),
    ("deeper lines that belong to nothing stay so", b"---\n  stray: x\nfoo: bar\n---\ntext\n", {"title": "T"},
     b"---\n  stray: x\ntitle: T\nfoo: bar\n---\ntext\n"),
    ("an empty header is filled", b"---\n---\ntext\n", {"tags": ("a",)}, b"---\ntags: [a]\n---\ntext\n"),
    ("a header is made where there is none", b"\xef\xbb\xbftext\r\nmore\r\n", {"pinned": True},
     b"\xef\xbb\xbf---\r\npinned: true\r\n---\r\n\r\ntext\r\nmore\r\n"),
    ("Latin-1 stays Latin-1 where it can", b"---\ntitle: caf\xe9\n---\nna\xefve\n", {"pinned": True},
     b"---\ntitle: caf\xe9\npinned: true\n---\nna\xefve\n"),
    ("Latin-1 becomes UTF-8 where it must", b"---\ntitle: caf\xe9\n---\nna\xefve\n", {"title": "\u65e5"},
     "---\ntitle: \u65e5\n---\nna\xefve\n".encode()),
    ("Latin-1 that would read as UTF-8 is written as UTF-8", b"caf\xe9\n", {"body": "\xc3\xa9", "description": "x"},
     '---\ndescription: "x"\n---\n\n\xc3\xa9\n'.encode()),
    ("a type is taken away", b"---\nname: x\ntype: user\nfoo: bar\n---\ntext\n", {"kind": Kind.OTHER},
     b"---\nname: x\nfoo: bar\n---\ntext\n"),
    ("the word for the same kind stays", b"---\nname: x\ntype: Decision\n---\ntext\n", {"pinned": True},
     b"---\nname: x\ntype: Decision\npinned: true\n---\ntext\n"),
)  # fmt: skip


@pytest.mark.parametrize(("file", "changes", "new"), [case[1:] for case in EDITS], ids=[case[0] for case in EDITS])
def test_an_edit_writes_exactly(file, changes, new):
    base = parse(file, NAME)
    wanted = replace(base, **changes)
    assert render(wanted) == new
    assert parse(new, NAME) == wanted


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_note_without_a_type_in_a_folder_named_after_one_can_have_none(folder):
    note = parse(b"text\n", NAME, folder)
    assert note.kind is FOLDERS[folder]
    other_kind = replace(note, kind=Kind.OTHER)
    assert parse(render(other_kind), NAME, folder).kind is Kind.OTHER


def test_a_note_that_says_the_same_keeps_its_very_bytes():
    note = parse(PERSONS, NAME)
    assert render(note) is note.source
    assert render(replace(note, odd=(), stamp="")) == PERSONS


# --- what cannot be read, and what is odd ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "why"),
    [
        (b"a\0b", "NUL"),
        ("text".encode("utf-16"), "UTF-16"),
        ("text".encode("utf-16-be"), "NUL"),
        (b"x" * (FILE_BYTES + 1), "over 65536 bytes"),
    ],
)
def test_what_is_no_text_or_too_long_is_refused_with_the_reason(source, why):
    with pytest.raises(BadFormat, match=why):
        parse(source, NAME)


@pytest.mark.parametrize(
    "field", [field for field in FACTS if field not in {"kind", "created", "updated", "expires", "pinned"}]
)
def test_half_a_character_in_any_field_is_refused(field):
    half = ("\ud800",) if field in {"tags", "applies_to", "supersedes"} else "x\udfff"
    extra = {"kind": Kind.OTHER} if field == "word" else {}
    note = Note(**{"name": NAME, "body": "text", **extra, field: half})
    with pytest.raises(BadFormat, match="half a character"):
        render(note)
    if field != "name":
        with pytest.raises(BadFormat, match="half a character"):
            render(replace(parse(b"text\n", NAME), **extra, **{field: half}))


ODD = (
    (b"\xef\xbb\xbftext", "byte order mark"),
    (b"a\r\nb", "Windows line ends"),
    (b"caf\xe9", "not UTF-8"),
    (b"---\nname: x\n", "no closing"),
    (b"---\nname: x\ntext without an end", "no closing"),
    (b"---\ntitle: A\ntitle: B\n---\n", "`title` stands in the header twice"),
    (b"---\nname: x\nno colon\n---\n", "line 2 is not `key: value`"),
    (b"---\ncreated: soon\n---\n", "`created: soon` is not a date"),
    (b"---\nupdated: 2026-02-30\n---\n", "is not a date"),
    (b"---\ntype: nonsense\n---\n", "'nonsense' is none of ours"),
    (b"---\ndescription: " + b"x" * 151 + b"\n---\n", "over 150 characters"),
)


@pytest.mark.parametrize(("source", "word"), ODD)
def test_what_is_odd_is_said_and_read_all_the_same(source, word):
    note = parse(source, NAME)
    assert any(word in odd for odd in note.odd), note.odd
    assert render(note) == source


@pytest.mark.parametrize(
    "start", [b"text\n", b"---\nname: x\ntype: user\ncreated: 2026-01-01\nfoo: bar\n---\n\ntext\n"]
)
def test_what_is_not_odd_is_not_said_to_be(start):
    assert parse(start, NAME).odd == ()


# --- what is derived -------------------------------------------------------------------------------------------

TITLES = (
    ("# Deploys", "Deploys"), ("#\tDeploys", "Deploys"), ("# Deploys #", "Deploys"), ("# Deploys ##  ", "Deploys"),
    ("# C#", "C#"), ("# C# #", "C#"), ("#Deploys", ""), ("## Deploys", ""), ("text\n# Deploys", "Deploys"), ("# #", ""), ("#", ""),
    ("# ", ""), ("```\n# not a heading\n```\n# Deploys", "Deploys"), ("~~~\n# no\n~~~", ""), ("   # Deploys", ""),
    ("\n\n# Deploys\n# Second", "Deploys"), ("# #deploys", "#deploys"), ("#  spaced  out  #", "spaced  out"),
)  # fmt: skip


@pytest.mark.parametrize(("body", "title"), TITLES)
def test_the_first_top_heading_is_the_title(body, title):
    assert derived_title(body, "a_name-here") == (title or "a name here")


DESCRIPTIONS = (
    (
        "We deploy with ./deploy.sh, which refuses a dirty tree. And more.",
        "We deploy with ./deploy.sh, which refuses a dirty tree",
    ),
    ("# Heading\n\nThe first sentence! The second.", "The first sentence!"),
    ("- Prefers concise answers\n- Uses vim", "Prefers concise answers"),
    ("1. First of all\n2. Then", "First of all"),
    ("> a quote\nof two lines", "a quote"),
    ("**Rule:** never push", "Rule: never push"),
    ("wrapped over\ntwo lines.\n\nNext paragraph.", "wrapped over two lines"),
    ("```\ncode\n```\n\nThen words.", "Then words"),
    ("<!-- hidden -->\nThen words", "Then words"),
    ("# 2026-05-15 08:00\ntags: a\nduration: 3 minutes\n\n## Summary\n\nWorked on it.", "Worked on it"),
    ("---\n\n***\nText", "Text"),
    ("\u6211\u4eec\u7528\u5b83\u3002\u7b2c\u4e8c\u53e5\u3002", "\u6211\u4eec\u7528\u5b83"),
    ("# Only a heading", ""),
    ("", ""),
    ("Version 1.5 of it is out. Good.", "Version 1.5 of it is out"),
)


@pytest.mark.parametrize(("body", "description"), DESCRIPTIONS)
def test_the_first_sentence_of_the_prose_is_the_description(body, description):
    assert derived_description(body) == description


@examples(40, 5_000)
@given(texts(14))
def test_what_is_derived_from_any_body_is_one_line_within_the_limit(body):
    description = derived_description(body)
    assert len(description) <= DESCRIPTION_CHARS
    assert "\n" not in description + derived_title(body, NAME)
    assert derived_title(body, NAME)


@examples(60, 5_000)
@given(st.text(max_size=60), st.integers(1, 40))
def test_a_clamped_text_keeps_its_beginning_and_its_limit(text, limit):
    out = clamp(text, limit)
    assert len(out) <= limit
    if len(text) <= limit:
        assert out == text
    else:
        assert out.endswith("\u2026")
        assert text.startswith(out[:-1])


def test_a_name_that_differs_from_the_file_is_the_title():
    assert parse(b"---\nname: User Preferences\n---\n", "user_prefs").title == "User Preferences"
    assert parse(b"---\nname: user_prefs\n---\n# Heading\n", "user_prefs").title == "Heading"
    assert parse(b"---\nname: Other\ntitle: Given\n---\n", "user_prefs").title == "Given"
    assert parse(b"text\n", "user_prefs").title == spaced("user_prefs") == "user prefs"


def test_a_header_that_has_no_room_for_another_line_is_refused_not_lost():
    for lines in range(190, 201):
        header = "type: feedback\ndescription: one\n" + "".join(f"line{n}: kept\n" for n in range(lines - 2))
        note = parse(f"---\n{header}---\n\nThe rule.\n".encode(), "rule")
        if note.kind is not Kind.FEEDBACK:  # more than are read: no header, and so nothing of it to lose
            continue
        wish = replace(note, title="T", updated=date(2026, 1, 1), origin="agent", body="Another rule.")
        try:
            assert parse(render(wish), "rule") == wish
        except BadFormat as problem:
            assert "shorten its header" in str(problem)  # noqa: PT017
            assert lines > 195


# --- bounds ----------------------------------------------------------------------------------------------------

LONG = 60_000
SHORT = 3_900
SLOW = (
    "# x" + " " * SHORT + "x", "# " + " " * SHORT, "# x" + " #" * (SHORT // 2) + "x", "# x" + "#" * SHORT + "x",
    "# x" + " " * (SHORT // 2) + "#" * (SHORT // 2) + "x", ("# " + "x " * 20 + "\n") * 90, "-" * LONG, "- " * (LONG // 2),
    "*" * LONG, "> " * (LONG // 2), "\n" * LONG, "a. " * (LONG // 3), "__" * (LONG // 2), "```\n" * (LONG // 4), "# x\n" + "a" * LONG + ":",
    "# x\n" + "tags: a\n" * (LONG // 8), "<!--" * (LONG // 4), "1. " * (LONG // 3), "\u3002" * (LONG // 3), "\r\n" * (LONG // 2),
    "---\n" + "a: &a [*a, *a, *a]\n" * 190 + "---\n", "---\ntags: " + "[" * LONG + "\n---\n", "---\ntags: [" + "a," * (LONG // 2) + "\n---\n",
    "---\ntags: [" + "] #" * (LONG // 3) + "x\n---\n", "---\ntags: [" + '"\\", ' * (LONG // 5) + "\n---\n", "---\ntags: [" + "'a " * (LONG // 3) + "\n---\n",
    "---\ntags: [" + "] " * (LONG // 2) + "x\n---\n", "---\ntitle: " + '"' * LONG + "\n---\n", '---\ntitle: "' + "\\" * LONG + "\n---\n",
    "---\ntype: a" + " " * LONG + "x\n---\n", "---\ndescription: >\n" + "  word\n" * 190 + "---\n", "---\n" + "name: x\n" * 199 + "---\n",
    "---\n" + "tags:\n" + "- a\n" * 190 + "---\n", "---\nmetadata:\n" + "  type: x\n" * 190 + "---\n", "---\n" + "x:\n\n" * 95 + "---\n",
    "---\n" + "a" * LONG + ": x\n---\n", "---\n" + "a " * (LONG // 2) + ": x\n---\n", "---\n" + '"a' * (LONG // 2) + ": x\n---\n",
    "---\nx: y\n" * (LONG // 9), "---\n" * (LONG // 4), "---\nx: " + "{" * LONG + "\n---\n", "---\n" + "  " * (LONG // 2) + "x: y\n---\n",
)  # fmt: skip


@pytest.mark.promise
def test_no_file_takes_long_to_read_or_to_edit(tally):
    """A file of the longest kind is read, edited and given another body in well under a second in all."""
    import time

    for text in SLOW:
        with tally("R13", text[:40]):
            file = text.encode()
            began = time.process_time()
            note = parse(file, NAME)
            for edit in (
                {"title": "T", "description": "d", "tags": ("a",), "updated": date(2026, 1, 1)},
                {"body": "another"},
            ):
                with suppress(BadFormat):  # a header of as many lines as are read has no room for another
                    render(replace(note, **edit))
            assert time.process_time() - began < 1.0
