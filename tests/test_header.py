"""The header reader: every shape other systems, people and models write is read as they meant it."""

import time
from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.texts import HEADER_LINES, examples, texts

from commonplace.note.format import parse, render
from commonplace.note.header import ORDER, canonical, flow_list, quoted, read_header, scalar, unquoted, write_field
from commonplace.note.kind import SYNONYMS, Kind
from commonplace.note.note import Note

NAME = "file-stem"
DAY = date(2026, 3, 25)
OTHER = Kind.OTHER


def read(header, *, body="A body.", folder=""):
    """A note with this header. It is rendered as it was, whatever the header says."""
    source = f"---\n{header}\n---\n\n{body}\n".encode()
    note = parse(source, NAME, folder)
    assert render(note) == source
    assert note.body == body
    return note


def wrote(**fields):
    """What is expected of a note, with the rest as it is without a header."""
    plain = Note(name=NAME, body="A body.", description="A body", kind=OTHER)
    return replace(plain, **fields)


# --- the shapes other systems write ------------------------------------------------------------------------------

SYSTEMS = {
    "Claude Code, first generation": (
        ("name: Debugging patterns\ndescription: Auth token rotation and database connection troubleshooting for this project\n"
        "type: reference"),
        {"title": "Debugging patterns", "kind": Kind.REFERENCE,
         "description": "Auth token rotation and database connection troubleshooting for this project"},
    ),
    "Claude Code, second generation": (
        ("name: Reviewer shape lives in a skill\ndescription: The review checklist is a skill, not a note\ntype: feedback\n"
        "originSessionId: 60225dfd-277e-4c4b-8ef4-5843bb535764"),
        {"title": "Reviewer shape lives in a skill", "description": "The review checklist is a skill, not a note",
         "kind": Kind.FEEDBACK, "session": "60225dfd-277e-4c4b-8ef4-5843bb535764"},
    ),
    "Claude Code, third generation": (
        ('name: terminologia-adapter-vs-fluxo-normal\ndescription: "quoted: it has a colon and \\"quotes\\""\nmetadata: \n'
        "  node_type: memory\n  type: feedback\n  originSessionId: ddacea9b-60f5-4eb9-910b-971e70ce099f\n"
        "  modified: 2026-07-29T13:16:34.420Z"),
        {"title": "terminologia-adapter-vs-fluxo-normal", "description": 'quoted: it has a colon and "quotes"',
         "kind": Kind.FEEDBACK, "session": "ddacea9b-60f5-4eb9-910b-971e70ce099f", "updated": date(2026, 7, 29)},
    ),
    "Claude Code, third generation without the trailing space": (
        "name: file-stem\ndescription: plain\nmetadata:\n  node_type: memory\n  type: user",
        {"title": "file stem", "description": "plain", "kind": Kind.USER},
    ),
    "Claude Code, third generation, stamped by hand at the top": (
        "name: file-stem\ndescription: plain\nmodified: 2026-03-25T00:00:00.000Z\nmetadata:\n  type: project",
        {"title": "file stem", "description": "plain", "kind": Kind.PROJECT, "updated": DAY},
    ),
    "Qwen Code": (
        "name: Testing Conventions\ndescription: Always run pytest before committing\ntype: feedback",
        {"title": "Testing Conventions", "description": "Always run pytest before committing", "kind": Kind.FEEDBACK},
    ),
    "Qwen Code with a title": (
        "title: Release calendar\ndescription: Freezes begin on Thursdays\ntype: project",
        {"title": "Release calendar", "description": "Freezes begin on Thursdays", "kind": Kind.PROJECT},
    ),
    "the handbook, a preference": (
        "name: operator-prefers-ripgrep\ndescription: The operator searches code with ripgrep and wants line numbers\ntype: preference",
        {"title": "operator-prefers-ripgrep", "kind": Kind.USER, "word": "preference",
         "description": "The operator searches code with ripgrep and wants line numbers"},
    ),
    "the handbook, a decision": (
        "name: file-stem\ndescription: Deploys run through ./deploy.sh\ntype: decision",
        {"title": "file stem", "description": "Deploys run through ./deploy.sh", "kind": Kind.PROJECT, "word": "decision"},
    ),
    "the handbook, a fact": (
        "name: file-stem\ndescription: Tags map to posts\ntype: fact",
        {"title": "file stem", "description": "Tags map to posts", "kind": Kind.PROJECT, "word": "fact"},
    ),
    "learn-claude-code": (
        "name: User Preferences\ndescription: Editor settings and communication style\ntype: user\nupdated: 2026-03-25",
        {"title": "User Preferences", "description": "Editor settings and communication style", "kind": Kind.USER, "updated": DAY},
    ),
    "a Go entry": (
        "kind: session-summary\ntags: [refactor, compaction]\ncreated: 2026-03-25T08:00:00Z",
        {"kind": Kind.SESSION, "word": "session-summary", "tags": ("refactor", "compaction"), "created": DAY},
    ),
    "basic-memory": (
        ("title: Coffee Brewing Methods\ntype: note\ntags:\n- coffee\n- brewing\npermalink: coffee/coffee-brewing-methods\n"
        "created: '2026-03-25T09:00:00+00:00'\nmodified: '2026-03-26T09:00:00+00:00'\nschema: note"),
        {"title": "Coffee Brewing Methods", "word": "note", "tags": ("coffee", "brewing"), "created": DAY, "updated": date(2026, 3, 26)},
    ),
    "basic-memory with a comma string": ("title: Coffee\ntags: coffee, brewing", {"title": "Coffee", "tags": ("coffee", "brewing")}),
    "Letta": (
        "description: Who the person is and how they work\nlimit: 5000\nread_only: true",
        {"description": "Who the person is and how they work"},
    ),
    "Codex, a raw memory": (
        "description: Deploys\ntask: deploy\ntask_group: ops\ntask_outcome: success\ncwd: /srv/app\nkeywords: [deploy, ops]",
        {"description": "Deploys"},
    ),
    "Obsidian": (
        'aliases: ["prefs"]\ntags:\n  - people/ana\n  - style\ndate created: 2026-03-25\ncssclasses:\n  - wide\nrelated: "[[Other note]]"',
        {"tags": ("people/ana", "style")},
    ),
    "our own": (
        ('name: file-stem\ntitle: Deploys go through deploy.sh\ndescription: "Deploys run through ./deploy.sh, which refuses a dirty tree"\n'
        'type: project\ntags: [deploy, "a: b"]\ncreated: 2026-03-25\nupdated: 2026-03-25\nexpires: 2027-01-01\npinned: true\n'
        'applies_to: ["src/**"]\nsupersedes: [old-note]\norigin: agent\nsession: 2026-05-15-08h00-a1b2'),
        {"title": "Deploys go through deploy.sh", "description": "Deploys run through ./deploy.sh, which refuses a dirty tree",
         "kind": Kind.PROJECT, "tags": ("deploy", "a: b"), "created": DAY, "updated": DAY, "expires": date(2027, 1, 1),
         "pinned": True, "applies_to": ("src/**",), "supersedes": ("old-note",), "origin": "agent", "session": "2026-05-15-08h00-a1b2"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_the_header_of_every_system_is_read(system, newline):
    header, fields = SYSTEMS[system]
    note = read(header)
    assert note == wrote(**fields)
    crossed = f"---\n{header}\n---\n\nA body.\n".replace("\n", newline).encode()
    assert parse(crossed, NAME) == note
    assert render(parse(crossed, NAME)) == crossed


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_correction_leaves_the_lines_of_every_system_that_it_does_not_touch(system):
    header = SYSTEMS[system][0]
    note = read(header)
    wanted = replace(note, updated=date(2026, 9, 30), origin="agent")
    back = parse(render(wanted), NAME)
    assert back == wanted
    lines = render(wanted).decode().split("\n")
    kept = [line for line in header.split("\n") if canonical(line.split(":")[0].strip()) not in {"updated", "origin"}]
    assert [line for line in lines if line in kept] == kept


SESSION = """# 2026-05-15 08:00
tags: refactor, compaction, debug-panel
duration: 47 minutes \u00b7 23 turns \u00b7 $0.4729

## Summary

Worked on the compaction strategy comparison in chapter 07. Discovered
that SafeSplitPoint mis-handles consecutive tool_use blocks from the same
turn \u2014 needs a regression test.

## Decisions
- Renamed `compact.Verbose` to `compact.Logging`
"""


def test_a_session_without_a_header_is_read_by_its_first_lines():
    note = parse(SESSION.encode(), "2026-05-15-08h00", "sessions")
    assert note.title == "2026-05-15 08:00"
    assert note.kind is Kind.SESSION
    assert note.tags == ("refactor", "compaction", "debug-panel")
    assert note.created == date(2026, 5, 15)
    assert note.description == "Worked on the compaction strategy comparison in chapter 07"
    assert note.odd == ()
    assert render(note) == SESSION.encode()


def test_a_header_goes_before_what_the_first_lines_say():
    note = parse(("---\ntags: [x]\ncreated: 2026-01-01\ntype: fact\n---\n" + SESSION).encode(), "s", "sessions")
    assert (note.tags, note.created, note.kind) == (("x",), date(2026, 1, 1), Kind.PROJECT)


@pytest.mark.parametrize("word", sorted({*SYNONYMS, *map(str, Kind)}))
@pytest.mark.parametrize(
    "spell", [str, str.upper, str.title, lambda word: f'"{word}"', lambda word: f"{word}  # set by hand"]
)
def test_every_word_for_a_kind_is_known_in_any_spelling(word, spell):
    note = read(f"type: {spell(word)}")
    assert note.kind is SYNONYMS.get(word, Kind(word) if word in set(Kind) else None)
    assert note.odd == ()


# --- what people and models write ----------------------------------------------------------------------------------

DESCRIPTIONS = (
    ("deploy: use x", "deploy: use x"),
    ("no", "no"),
    ("yes", "yes"),
    ("null", "null"),
    ("~", "~"),
    ("true", "true"),
    ("2026-03-25", "2026-03-25"),
    ("1e3", "1e3"),
    ("0x1F", "0x1F"),
    ("12:30", "12:30"),
    ("[[name]]", "[[name]]"),
    ("[a, b]", "[a, b]"),
    ("{a: b}", "{a: b}"),
    ("use #general for it # and no other", "use #general for it # and no other"),
    ("# starts with a hash", "# starts with a hash"),
    ("C# and F#", "C# and F#"),
    ("'single quoted'", "single quoted"),
    ("'it''s doubled'", "it's doubled"),
    ("'ends in ''quotes'''", "ends in 'quotes'"),
    ("'' ", ""),
    ('""', ""),
    ('"double quoted"', "double quoted"),
    ('"a \\"quote\\" inside"', 'a "quote" inside'),
    ('"back\\\\slash"', "back\\slash"),
    ('"tab\\there"', "tab\there"),
    ('"line\\nend"', "line\nend"),
    ('"Gr\\u00f6\\u00dfe"', "Größe"),
    ('"Gr\\xF6\\xDFe"', "Größe"),
    ('"\\U0001F600"', "\U0001f600"),
    ('"\\ud83d\\ude00"', "\U0001f600"),
    ('"half \\ud83d"', "half \ufffd"),
    ('"\\e \\0 \\a \\_ \\N \\L \\P \\/ \\ "', "\x1b \0 \a \xa0 \x85 \u2028 \u2029 /  "),
    ('"no such \\q escape, nor \\xZZ, nor \\U00110000"', "no such \\q escape, nor \\xZZ, nor \\U00110000"),
    ('"quoted"  # and a comment', "quoted"),
    ("'quoted'  # and a comment", "quoted"),
    ('"Save" or "Cancel"', '"Save" or "Cancel"'),
    ("'Save' or 'Cancel'", "'Save' or 'Cancel'"),
    ('"quoted" and more', '"quoted" and more'),
    ('"quoted"#tight', '"quoted"#tight'),
    ('"unterminated', '"unterminated'),
    ("'unterminated", "'unterminated"),
    ("it's", "it's"),
    ('say "hi"', 'say "hi"'),
    ('"', '"'),
    ("'", "'"),
    ("`code`", "`code`"),
    ("@handle", "@handle"),
    ("%percent", "%percent"),
    ("*alias", "*alias"),
    ("&anchor text", "&anchor text"),
    ("!!python/object/apply:os.system ['true']", "!!python/object/apply:os.system ['true']"),
    ("- item", "- item"),
    ("? question", "? question"),
    ("| pipe", "| pipe"),
    ("> quote", "> quote"),
    ("|", "|"),
    (">-", ">-"),
    ("--- rule", "--- rule"),
    ("   spaces around   ", "spaces around"),
    ("\ttab before", "tab before"),
    ("ends in colon:", "ends in colon:"),
    ("\u65e5\u672c\u8a9e: \u8a2d\u5b9a", "\u65e5\u672c\u8a9e: \u8a2d\u5b9a"),
    ("next\u2028line\x85sep", "next\u2028line\x85sep"),
    ("over\n  two lines", "over two lines"),
    ("over\n  two: lines\n\n  and: more", "over two: lines and: more"),
    ("'over\n  two lines'", "over two lines"),
    ('"over\n\n  two lines"', "over two lines"),
    ('"over \\\n  \\  two \\\n  lines"', "over   two lines"),
    ("\n  on the next line", "on the next line"),
    ("|\n  one\n    two\n\n  three", "one\n  two\n\nthree"),
    ("|-\n  one\n  two\n", "one\ntwo"),
    ("|+\n  one\n\n", "one"),
    (">\n  one\n  two", "one two"),
    (">-\n  one\n  two\n\n  three", "one two three"),
    (">2-\n  one", "one"),
    ("|2\n  one", "one"),
    ("|-2 # comment\n  one", "one"),
    ("> # comment\n  one\n  # not a comment", "one # not a comment"),
    ("|\n\ttabbed", "tabbed"),
)


@pytest.mark.parametrize(("value", "text"), DESCRIPTIONS)
@pytest.mark.parametrize("key", ["description", "title"])
def test_a_line_of_text_is_taken_as_it_was_meant(key, value, text):
    note = read(f"before: x\n{key}: {value}\ntype: user")
    assert getattr(note, key) == (text or {"description": "", "title": "file stem"}[key])
    assert note.kind is Kind.USER
    assert note.odd == ()


LISTS = (
    ("[]", ()), ("[ ]", ()), ("", ()), ("[a]", ("a",)), ("[a, b]", ("a", "b")), ("[a,b]", ("a", "b")), ("[ a , b , ]", ("a", "b")),
    ("[a,,b]", ("a", "b")), ("a", ("a",)), ("a, b", ("a", "b")), ("two words, b", ("two words", "b")), ("['a', \"b\"]", ("a", "b")),
    ("['a, b', c]", ("a, b", "c")), ('["a, b", c]', ("a, b", "c")), ("['it''s', \"a \\\"b\\\"\"]", ("it's", 'a "b"')),
    ("[don't, can't]", ("don't", "can't")), ("[a b, 'c'd]", ("a b", "'c'd")), ('["unterminated, b]', ('"unterminated', "b")),
    ("[a, b", ("a", "b")), ("[a, b] # comment", ("a", "b")), ("[a, b] # see [1]", ("a", "b")), ('["a] # b", c]', ("a] # b", "c")),
    ("[src/[a-z]*.py, b]", ("src/[a-z]*.py", "b")), ("[[name]]", ("[name]",)), ('[#a, "#b"]', ("#a", "#b")), ("#a", ("#a",)),
    ("[a\n  , b\n  ]", ("a", "b")), ("[\n  a,\n  b,\n]", ("a", "b")), ("[a, b]\nunknown: [c]", ("a", "b")), ("\n- a\n- b", ("a", "b")),
    ("\n  - a\n  - b", ("a", "b")), ("\n\t- a\n\t- b", ("a", "b")), ("\n- 'a, b'\n- \"c\"", ("a, b", "c")), ("\n- a # comment", ("a",)),
    ("\n- 'a b' # comment", ("a b",)), ("\n- two words # kept", ("two words # kept",)), ("\n# why\n- a\n# and\n- b\n# after", ("a", "b")),
    (" # why\n- a\n  # and\n- b", ("a", "b")), ("\n- a\n\n- b", ("a", "b")), ("\n-a\n- \n-", ("a",)), ("\n- a: b", ("a: b",)),
    ("\n- [a, b]", ("[a, b]",)), ("{a: b}", ("{a: b}",)), ("\n  a: b", ()), ("'a, b'", ("a, b",)), ("'a', 'b'", ("a", "b")),
    ("[true, 2026, null, 1e3]", ("true", "2026", "null", "1e3")), ("[\u65e5\u672c, gr\u00f6\u00dfe]", ("\u65e5\u672c", "gr\u00f6\u00dfe")),
    ("[*alias, &anchor, !!tag x]", ("*alias", "&anchor", "!!tag x")), ("[a\\, b]", ("a\\", "b")), ("[', ']", (", ",)),
)  # fmt: skip


@pytest.mark.parametrize(("value", "items"), LISTS)
@pytest.mark.parametrize("key", ["tags", "applies_to", "supersedes"])
def test_a_list_is_read_in_every_form(key, value, items):
    if value == "[\n  a,\n  b,\n]":  # whose last bracket stands at the margin
        value = "[\n  a,\n  b,\n  ]"
    note = read(f"{key}: {value}\ntype: user")
    assert getattr(note, key) == items
    assert note.kind is Kind.USER


KEYS = (
    ("type: user", True), ("Type: user", True), ("TYPE: user", True), ("type : user", True), ("type\t:\tuser", True),
    ("type:user", True), ("type :user", True), ('"type": user', True), ("'type': user", True), ("kind: user", True),
    ("Kind: user", True), ("type:  user   ", True), ("type:\n  user", True), ("type: 'user'", True),
    ("metadata:\n  type: user", True), ("metadata:\n\ttype: user", True), ("Metadata: \n    Type : user", True),
    ("metadata: # by hand\n  type: user", True), ("metadata:\n  # by hand\n  type: user", True),
    ("metadata:\n  deeper:\n    type: feedback\n  type: user", True), ("metadata:\n  type: feedback\ntype: user", True),
    ("type: user\nmetadata:\n  type: feedback", True), ("type: feedback\ntype: user", True),
    ("other:\n  type: user", False), ("  type: user", False), ("- type: user", False), ("# type: user", False),
    ("subtype: user", False), ("type_: user", False), ("type.x: user", False), ("a type: user", False),
    ("url:type: user", False), ("metadata: user", False), ("x: |\n  type: user", False), ("typ\u0435: user", False),
)  # fmt: skip


@pytest.mark.parametrize(("line", "ours"), KEYS)
def test_a_key_is_known_in_any_spelling_and_no_other_key_is(line, ours):
    note = read(f"before: x\n{line}\nafter: y")
    assert note.kind is (Kind.USER if ours else OTHER)


DATES = (
    ("2026-03-25", DAY), ("'2026-03-25'", DAY), ('"2026-03-25"', DAY), ("2026-03-25 # by hand", DAY), ("2026-03-25T10:00:00Z", DAY),
    ("2026-03-25T10:00:00.123+02:00", DAY), ("2026-03-25 10:00:00", DAY), ("2026-03-25T", None), ("2026-3-25", None), ("20260325", None),
    ("2026-02-30", None), ("2026-13-01", None), ("0000-01-01", None), ("25.03.2026", None), ("yesterday", None), ("", None), ('""', None),
    ("2026-03-25-08h00", None), ("9999-12-31", date(9999, 12, 31)),
)  # fmt: skip


@pytest.mark.parametrize(("value", "day"), DATES)
@pytest.mark.parametrize("key", ["created", "updated", "expires", "modified"])
def test_a_date_is_a_day_or_is_reported(key, value, day):
    note = read(f"{key}: {value}")
    assert getattr(note, {"modified": "updated"}.get(key, key)) == day
    assert bool(note.odd) == (day is None and value not in {"", '""'})


@pytest.mark.parametrize(
    ("value", "pinned"),
    [("true", 1), ("True", 1), ("yes", 1), ("on", 1), ("1", 1), ("'true'", 1), ("true # for Ana", 1), ("false", 0), ("no", 0), ("0", 0), ("", 0), ("truely", 0), ("[true]", 0)],
)  # fmt: skip
def test_pinned_is_what_people_write_for_yes(value, pinned):
    assert read(f"pinned: {value}").pinned is bool(pinned)


# --- where a header begins and ends ------------------------------------------------------------------------------

WITH_HEADER = (
    "---\nname: X\n---\nbody", "---\nname: X\n---\n\nbody\n", "\ufeff---\nname: X\n---\nbody", "\n\n---\nname: X\n---\nbody", "\ufeff\n---\nname: X\n---\nbody",
    "---  \nname: X\n---\t \nbody", "---\r\nname: X\r\n---\r\nbody", "---\nname: X\r\n---\nbody", "---\n\nname: X\n\n---\nbody", "---\n# note\nname: X\n---\nbody",
    "---\nstray\nname: X\n---\nbody", "---\nname: X\n---\nbody\n---\nname: Y\n---\n", "---\nname: X\n---",
)  # fmt: skip


@pytest.mark.parametrize("text", WITH_HEADER)
def test_a_header_is_found(text):
    note = parse(text.encode(), NAME)
    assert note.title == "X"
    assert note.body.startswith("body") or text.endswith("X\n---")
    assert render(note) == text.encode()


WITHOUT_HEADER = (
    "name: X\n---\nbody", " ---\nname: X\n---\nbody", "----\nname: X\n----\nbody", "---\nname: X\nbody", "---\nname: X\n...\nbody", "text\n---\nname: X\n---\n",
    "---\njust prose\n---\nbody", "---\n- a\n- b\n---\nbody", "---name: X\n---\nbody", "+++\nname = 'X'\n+++\nbody", "---\nname: X\n ---\nbody",
    "---\n" + "x: y\n" * 200 + "---\nbody", "<!-- c -->\n---\nname: X\n---\nbody", "***\nname: X\n***\n", "---", "---\n", "",
)  # fmt: skip


@pytest.mark.parametrize("text", WITHOUT_HEADER)
def test_what_is_no_header_is_text(text):
    note = parse(text.encode(), NAME)
    assert note.title == "file stem"
    assert note.body == (text.removesuffix("\n"))
    assert render(note) == text.encode()


# --- reading and writing in themselves ---------------------------------------------------------------------------


@examples(60, 5_000)
@given(st.lists(st.one_of(st.sampled_from(HEADER_LINES), texts(4)), max_size=8))
def test_any_lines_are_read_and_fields_stand_where_they_are_said_to(chunks):
    lines = [line + "\n" for chunk in chunks for line in chunk.split("\n")]
    header = read_header(lines)
    assert set(header.fields) <= set(ORDER)
    for key, field in header.fields.items():
        assert canonical(field.spelled) == key
        assert lines[field.start].startswith(field.indent + field.spelled)
        assert field.start < field.stop <= len(lines)


@examples(60, 5_000)
@given(
    st.lists(
        st.sampled_from([line for line in HEADER_LINES if not line.startswith(("-", " ", "\t"))]),
        max_size=6,
        unique=True,
    ),
    st.sampled_from(["title", "description", "type", "origin", "session"]),
    texts(4),
)
def test_a_field_that_was_written_is_read_and_one_taken_out_is_gone(chunks, key, text):
    lines = [line + "\n" for chunk in chunks for line in chunk.split("\n")]
    there = write_field(lines, key, quoted(text), "\n")
    assert read_header(there).fields[key].value == text
    gone = write_field(there, key, None, "\n")
    assert key not in read_header(gone).fields
    assert write_field(gone, key, None, "\n") == gone


@examples(60, 5_000)
@given(texts(6))
def test_a_written_scalar_stands_on_one_line_and_for_its_text(text):
    for written in (scalar(text), quoted(text)):
        assert "\n" not in written
        assert unquoted(written) == text
    assert read_header([f"title: {scalar(text)}\n"]).fields["title"].value == text


@examples(60, 5_000)
@given(st.lists(texts(4).filter(bool), max_size=5).map(tuple))
def test_a_written_list_stands_on_one_line_and_for_its_items(items):
    assert "\n" not in flow_list(items)
    assert read_header([f"tags: {flow_list(items)}\n"]).fields.get("tags").value == items


@pytest.mark.parametrize(
    "word",
    ["true", "No", "null", "~", "2026", "2026-03-25", "1e3", "0x1F", ".inf", "-1", "+.5", "12:30", "<<", "=", "y"],
)
def test_what_other_readers_would_take_for_something_else_is_quoted(word):
    assert scalar(word) == f'"{word}"'
    assert flow_list((word,)) == f'["{word}"]'


@pytest.mark.parametrize(
    "word",
    [
        "agent",
        "2026-05-15-08h00-a1b2",
        "Deploys go through deploy.sh",
        "gr\u00f6\u00dfe",
        "\u65e5\u672c",
        "v1",
        "external-mail",
        "it's",
    ],
)
def test_what_every_reader_takes_for_text_stays_bare(word):
    assert scalar(word) == word


def test_a_comment_between_the_items_of_a_list_outlives_them():
    lines = ["tags:\n", "# why these\n", "- a\n", "  # and this\n", "- b\n", "# after\n", "type: user\n"]
    assert write_field(lines, "tags", "[c]", "\n") == [
        "# why these\n",
        "# and this\n",
        "tags: [c]\n",
        "# after\n",
        "type: user\n",
    ]


COMMENTED = (
    ("updated: 2026-01-01 # by Ana", "updated", "2026-02-02", ["updated: 2026-02-02 # by Ana"]),
    ("type: project   # never change", "type", "user", ["type: user   # never change"]),
    ("tags: [a, b]  # more to come", "tags", "[c]", ["tags: [c]  # more to come"]),
    ("tags: # none yet", "tags", "[c]", ["tags: [c] # none yet"]),
    ('description: "A # fact"  # short', "description", '"Another: #1"', ['description: "Another: #1"  # short']),
    ("session: abc # d", "session", "a b c", ["# d", "session: a b c"]),
    ("expires: 2027-01-01 # launch", "expires", None, ["# launch"]),
    ("description: about C # and Go", "description", '"of Go"', ['description: "of Go"']),
    ("title: a #tag", "title", "other", ["title: other"]),
    ("updated: 2026-01-01 08:00 # bumped", "updated", "2026-02-02", ["updated: 2026-02-02 # bumped"]),
    ("updated: 2026-01-01\n  # remark", "updated", "2026-02-02", ["# remark", "updated: 2026-02-02"]),
    ("description: > # why folded\n  long # text", "description", '"d"', ["# why folded", 'description: "d"']),
    ('title: "dq\n  wrapped" # remark', "title", "t", ["# remark", "title: t"]),
    ("tags:\n- a # about a\n- b", "tags", "[c]", ["# about a", "tags: [c]"]),
    ("tags: [\n  a, # about a\n  b\n]", "tags", "[c]", ["tags: [c]"]),
    ("tags: [a,\nb]", "updated", "2026-02-02", ["tags: [a,", "b]", "updated: 2026-02-02"]),
    ("tags: [\n  a,\n  b\n]", "updated", "2026-02-02", ["tags: [", "  a,", "  b", "]", "updated: 2026-02-02"]),
    ('title: "one\ntwo"', "type", "user", ['title: "one', 'two"', "type: user"]),
    ("metadata:\n  tags:\n  - a\n  - b\n  type: user", "tags", "[c]", ["metadata:", "  tags: [c]", "  type: user"]),
)


@pytest.mark.parametrize(("line", "key", "text", "after"), COMMENTED, ids=[row[0] for row in COMMENTED])
def test_a_comment_behind_a_value_outlives_it_and_text_with_a_hash_does_not(line, key, text, after):
    value = [part + "\n" for part in line.split("\n")]
    first, last = "name: x\n", "unknown: kept # and this\n"
    assert write_field([first, *value, last], key, text, "\n") == [first, *(now + "\n" for now in after), last]


@pytest.mark.parametrize(
    "line", ['title: "never closed', "title: 'never closed", "tags: [never, closed", 'tags: ["never']
)
def test_a_value_that_is_never_closed_takes_no_other_with_it(line):
    lines = ["name: x\n", line + "\n", 'description: "d"\n', "supersedes: [a]\n"]
    fields = read_header(lines).fields
    assert (fields["description"].value, fields["supersedes"].value) == ("d", ("a",))


# --- bounds ------------------------------------------------------------------------------------------------------


@pytest.mark.promise
@pytest.mark.parametrize("width", [8, 150])
def test_a_bomb_of_references_stays_text_and_takes_no_time(width, tally):
    """Nine generations of anchors, each naming the one before nine times: a YAML reader would make a billion."""
    rows = [f"a{n}: &a{n} [" + ", ".join([f"*a{n - 1}"] * 9) + "]" for n in range(1, width)]
    with tally("R13", f"references {width}"):
        began = time.process_time()
        note = read("\n".join(["a0: &a0 [lol]", *rows, "description: *a9", "tags: [*a9, *a8]", "name: !!map {a: *a9}"]))
        assert time.process_time() - began < 0.5
        assert (note.description, note.tags, note.title) == ("*a9", ("*a9", "*a8"), "!!map {a: *a9}")
