"""What may be saved: a draft goes out clean and within the limits, or with the rule it broke and the cure."""

import time
from datetime import date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.texts import examples, texts

from commonplace.guard.admission import NAME_CHARS, NEVER, Draft, Refusal, admit, items_of
from commonplace.guard.text import cleaned, one_line
from commonplace.note.format import parse, render
from commonplace.note.kind import KINDS, SYNONYMS, Kind, kind_of
from commonplace.note.limits import BODY_BYTES, DESCRIPTION_CHARS, TAG_CHARS, TAGS, TITLE_CHARS
from commonplace.note.note import Note

FACT = "Deploys go through ./deploy.sh."
MOST = {"applies_to": 300, "supersedes": NAME_CHARS, "tags": TAG_CHARS}


def test_a_plain_draft_goes_out_as_it_came():
    draft = Draft(
        FACT,
        "deploys",
        "Deploys",
        "how to deploy",
        "decision",
        ("a", "b"),
        ("src/**",),
        ("old",),
        True,
        date(2027, 1, 1),
        "person",
    )
    assert admit(draft) == draft


def test_what_was_not_said_stays_unsaid():
    assert admit(Draft(FACT)) == Draft(FACT)


# --- limits --------------------------------------------------------------------------------------------------------

# The longest that passes and the shortest that does not, in characters of one to four bytes.
LIMITS = [
    *[("body-too-long", {"body": char * (BODY_BYTES // len(char.encode()))}, {"body": char * (BODY_BYTES // len(char.encode()) + 1)}, "save it as several")
      for char in ("x", "\xe9", "\u65e5", "\U0001f389")],
    ("body-too-long", {"body": "x" * (BODY_BYTES - 1) + "\n"}, {"body": "x" * BODY_BYTES + "\n"}, "save it as several"),
    *[("description-too-long", {"description": char * DESCRIPTION_CHARS}, {"description": char * (DESCRIPTION_CHARS + 1)}, "put the rest into the text")
      for char in ("x", "\u65e5", "\U0001f389")],
    *[("title-too-long", {"title": char * TITLE_CHARS}, {"title": char * (TITLE_CHARS + 1)}, "shorten it") for char in ("x", "\u65e5")],
    ("name-too-long", {"name": "x" * NAME_CHARS}, {"name": "x" * (NAME_CHARS + 1)}, "a few words do"),
    *[("list-too-long", {field: ("x" * most,)}, {field: ("x" * (most + 1),)}, "shorten it") for field, most in MOST.items()],
    *[("list-too-long", {field: tuple(map(str, range(TAGS)))}, {field: tuple(map(str, range(TAGS + 1)))}, "keep those that") for field in MOST],
]  # fmt: skip


@pytest.mark.promise
@pytest.mark.parametrize(("rule", "most", "over", "cure"), LIMITS)
def test_the_limit_itself_passes_and_one_more_does_not(tally, rule, most, over, cure):
    with tally("R12", rule):
        kept = admit(Draft(**{"body": FACT, **most}))
        assert isinstance(kept, Draft)
        refused = admit(Draft(**{"body": FACT, **over}))
        assert isinstance(refused, Refusal)
        assert refused.rule == rule
        assert cure in refused.why
        assert len(refused.why) < 300


@pytest.mark.promise
@pytest.mark.parametrize(
    "field", ["body", "name", "title", "description", "kind", "tags", "applies_to", "supersedes", "origin"]
)
@pytest.mark.parametrize("char", ["x", "\u200b", "\ud800", "\U0001f389\u200d"])
def test_ten_million_characters_are_answered_at_once(tally, field, char):
    text = char * (10_000_000 // len(char))
    with tally("R13", (field, char)):
        began = time.process_time()
        answer = admit(Draft(**{"body": FACT, field: (text,) if field in MOST else text}))
        assert time.process_time() - began < 1.0
        assert isinstance(answer, Refusal) or field == "origin"
        assert not isinstance(answer, Refusal) or len(answer.why) < 400


# --- what is refused, and in which words ---------------------------------------------------------------------------

REFUSED = (
    ({"body": ""}, "empty", "say the fact"),
    ({"body": " \n\t\n "}, "empty", "say the fact"),
    ({"body": "\u200b\u202e\ufeff"}, "empty", "say the fact"),
    ({"body": "\x1b[31m\x1b[0m"}, "empty", "say the fact"),
    ({"body": "\u2800\u3164\u3000"}, "empty", "say the fact"),
    ({"body": "\0\0"}, "empty", "say the fact"),
    ({"body": "half \ud800 a character"}, "not-text", "decode the text"),
    ({"name": "half\udfff"}, "not-text", "decode the text"),
    ({"title": "half\udfff"}, "not-text", "decode the text"),
    ({"description": "half\udfff"}, "not-text", "decode the text"),
    ({"kind": "half\udfff"}, "not-text", "decode the text"),
    ({"tags": ("fine", "half\udfff")}, "not-text", "decode the text"),
    ({"applies_to": ("half\udfff",)}, "not-text", "decode the text"),
    ({"supersedes": ("half\udfff",)}, "not-text", "decode the text"),
    ({"name": ""}, "empty-name", "leave it out"),
    ({"name": " \u200b\n"}, "empty-name", "leave it out"),
    ({"kind": "nonsense"}, "kind", "user, feedback, project, reference, session"),
    ({"kind": ""}, "kind", "choose user"),
    ({"kind": "other"}, "kind", "choose user"),
    ({"kind": "<|im_start|>\n" * 9}, "kind", "choose user"),
    ({"expires": "tomorrow"}, "expires", "give a date"),
    ({"expires": ""}, "expires", "give a date"),
    ({"expires": 5}, "expires", "give a date"),
    ({"origin": "external:web"}, "unreviewed", "have a person save"),
    ({"origin": "external:"}, "unreviewed", "have a person save"),
    ({"origin": "external:" + "x" * 500}, "unreviewed", "have a person save"),
)


@pytest.mark.parametrize(("fields", "rule", "cure"), REFUSED)
def test_what_is_refused_is_told_by_rule_and_with_a_cure(fields, rule, cure):
    answer = admit(Draft(**{"body": FACT, **fields}))
    assert isinstance(answer, Refusal)
    assert answer.rule == rule
    assert cure in answer.why
    assert "\n" not in answer.why
    assert len(answer.why) < 400
    answer.why.encode()


@pytest.mark.parametrize("word", [*KINDS, *SYNONYMS, "User", " Decision ", "FACT", "pre\u200bference"])
def test_every_word_for_a_kind_passes(word):
    draft = admit(Draft(FACT, kind=word))
    assert kind_of(draft.kind) in set(Kind) - {Kind.OTHER}


# --- what is cleaned -----------------------------------------------------------------------------------------------

CLEANED = (
    ("body", "\n\ntext\n\n", "text"), ("body", "  indented\r\nnext\r", "  indented\nnext"), ("body", "a\u200bb\x1b[31mc\u202ed", "abcd"), ("body", "a\x85b\u2028c", "a\nb\nc"),
    ("name", " a\nname ", "a name"), ("name", "a\u202ename", "aname"), ("title", "two\n lines\t", "two lines"), ("title", "\x1b[1mbold\x1b[0m", "bold"),
    ("description", "one\n\ntwo\u2028three", "one two three"), ("description", " \u200b ", ""), ("kind", " fact\n", "fact"),
    ("tags", (" a ", "", "b\nc", "a", "\u200b"), ("a", "b c")), ("applies_to", ("src/**\n", "src/**"), ("src/**",)), ("supersedes", ("a", "a ", "b"), ("a", "b")),
    ("tags", (), ()), ("expires", datetime(2026, 5, 15, 23, 59), date(2026, 5, 15)), ("expires", NEVER, NEVER), ("pinned", False, False),
)  # fmt: skip


@pytest.mark.parametrize(("field", "given", "kept"), CLEANED)
def test_what_is_given_is_cleaned(field, given, kept):
    draft = admit(Draft(**{"body": FACT, field: given}))
    assert getattr(draft, field) == kept


@pytest.mark.parametrize(
    ("body", "warned"),
    [
        ("plain", 0),
        ("a\r\nb\rc", 0),
        ("\n\ntext\n", 0),
        ("a\u200bb", 1),
        ("a\x1b[31mb", 1),
        ("a\u2028b", 1),
        ("\U0001f468\u200d\U0001f469", 0),
    ],
)
def test_who_loses_a_character_is_told(body, warned):
    assert len(admit(Draft(body)).warnings) == warned


def test_one_word_is_a_list_of_one():
    assert items_of("word") == ("word",)
    assert items_of(["a", "b"]) == ("a", "b")
    assert items_of(()) == ()
    assert items_of(None) is None


# --- any draft -----------------------------------------------------------------------------------------------------

TEXTS = st.one_of(texts(8), st.text(max_size=20))
LISTS = st.one_of(st.none(), st.lists(texts(3), max_size=5).map(tuple))
DRAFTS = st.builds(
    Draft, TEXTS, *[st.one_of(st.none(), texts(4))] * 3, st.one_of(st.none(), st.sampled_from([*KINDS, *SYNONYMS]), texts(2)), LISTS, LISTS, LISTS,
    st.one_of(st.none(), st.booleans()), st.one_of(st.none(), st.dates(), st.datetimes(), texts(1)), st.sampled_from(["agent", "person", "external:web"]),
)  # fmt: skip


@pytest.mark.promise
@examples(100, 10_000)
@given(DRAFTS)
def test_any_draft_is_clean_and_within_the_limits_or_refused(draft):
    answer = admit(draft)
    if isinstance(answer, Refusal):
        assert answer.rule
        assert len(answer.why) < 400
        return
    assert admit(answer)._replace(warnings=answer.warnings) == answer
    assert answer.body.strip() and len(answer.body.encode()) <= BODY_BYTES
    assert answer.body == cleaned(answer.body) == answer.body.strip("\n")
    for text in filter(
        None,
        (
            answer.name,
            answer.title,
            answer.description,
            *(answer.tags or ()),
            *(answer.applies_to or ()),
            *(answer.supersedes or ()),
        ),
    ):
        assert text == one_line(text)
        assert len(text.splitlines()) == 1
    assert len(answer.description or "") <= DESCRIPTION_CHARS
    assert len(answer.title or "") <= TITLE_CHARS
    assert "external" not in answer.origin
    note = Note(
        name="a-name", title=answer.title or "", description=answer.description or "", body=answer.body, tags=answer.tags or (),
        applies_to=answer.applies_to or (), supersedes=answer.supersedes or (), origin=answer.origin,
    )  # fmt: skip
    assert parse(render(note), "a-name") == note
