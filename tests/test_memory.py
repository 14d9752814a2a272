"""What a host meets: every meaning of save, read and forget, over files and over a store in memory."""

import os
import shutil
import threading
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import hypothesis
import pytest
from hypothesis import strategies as st
from tests.places import snapshot
from tests.texts import examples, texts

import commonplace
from commonplace import Call, Conflict, Forgotten, Memory, Refused, Saved, open_memory
from commonplace.errors import BadFormat, CommonplaceError, NotFound
from commonplace.index.catalog import Catalog
from commonplace.index.listing import INDEX_HEAD
from commonplace.index.sidecar import Sidecar
from commonplace.nomemory import NoMemory
from commonplace.note.format import stamp_of
from commonplace.note.kind import KINDS, SYNONYMS, Kind
from commonplace.note.limits import BODY_BYTES, DESCRIPTION_CHARS, TITLE_CHARS
from commonplace.note.slug import SLUG_BYTES
from commonplace.store.base import ORIGINS, trust_of
from commonplace.store.ram import RamStore

PERSON = Call(origin="person")
NOON = datetime(2026, 5, 15, 12).timestamp()
TODAY = date(2026, 5, 15)
DAY = timedelta(days=1)


class Clock:
    """The time, as a test sets it."""

    def __init__(self):
        self.at = NOON

    def __call__(self):
        return self.at

    def turn(self, days):
        self.at += days * 24 * 3600


def in_memory(clock):
    store = RamStore()
    today = lambda: date.fromtimestamp(clock())  # noqa: E731
    return Memory(store, Catalog(store, Sidecar(None), today=today), now=clock)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture(params=["files", "ram"])
def memory(request, book, clock):
    return open_memory(book, now=clock) if request.param == "files" else in_memory(clock)


@pytest.fixture
def quick(clock):
    """A memory for tables, over the store in memory alone."""
    return in_memory(clock)


@pytest.fixture
def filed(book, clock):
    """A memory whose files the test looks at, or changes by hand."""
    return open_memory(book, now=clock)


def everything(memory):
    """All a memory says, as a value to compare."""
    return [(note, note.stamp) for note in memory.notes().notes], memory.listing().text, memory.preamble()


def saved(memory, body, **given):
    outcome = memory.save(body, **given)
    assert isinstance(outcome, Saved), outcome
    return outcome


# --- nothing but a text ----------------------------------------------------------------------------------------

# A text, and the name and description it gets.
SAID = [
    ("We deploy with ./deploy.sh, which refuses a dirty tree.", "we-deploy-with-deploy-sh",
     "We deploy with ./deploy.sh, which refuses a dirty tree"),
    ("Use tabs", "use-tabs", "Use tabs"),
    ("x", "x", "x"),
    ("The first sentence. The second.", "the-first-sentence", "The first sentence"),
    ("Is it so? It is.", "is-it-so", "Is it so?"),
    ("Never! Ask first.", "never", "Never!"),
    ("e.g. this one", "e-g-this-one", "e.g. this one"),
    ("Dr. Who is the client. Be kind.", "dr-who-is-the-client", "Dr. Who is the client"),
    ("Version 3.11 is the floor", "version-3-11-is-the-floor", "Version 3.11 is the floor"),
    ("# Release days\n\nReleases go out on Tuesdays.", "releases-go-out-on-tuesdays", "Releases go out on Tuesdays"),
    ("# Deploys", "deploys", "Deploys"),
    ("## 1. Set-up\n", "1-set-up", "1. Set-up"),
    ("- first point\n- second point", "first-point", "first point"),
    ("* starred", "starred", "starred"),
    ("1. First step\n2. Second step", "first-step", "First step"),
    ("> A quotation", "a-quotation", "A quotation"),
    ("**Bold** words begin it. Then more.", "bold-words-begin-it", "Bold words begin it"),
    ("```sh\nmake run\n```", "make-run", "make run"),
    ("~~~\nmake all\n~~~", "make-all", "make all"),
    ("`make run` starts it", "make-run-starts-it", "`make run` starts it"),
    ("```\nmake\n```\nThat is how.", "that-is-how", "That is how"),
    ("https://example.org/a/b", "https-example-org-a-b", "https://example.org/a/b"),
    ("See https://example.org/a.b/c-d. It helps.", "see-https-example-org-a-b-c-d", "See https://example.org/a.b/c-d"),
    ("src/app/main.py holds the loop", "src-app-main-py-holds-the-loop", "src/app/main.py holds the loop"),
    ("key: value", "key-value", "key: value"),
    ("---\nname: x\n---\nThe body.", "name-x", "name: x"),
    ("\n\n  Late, and indented", "late-and-indented", "Late, and indented"),
    ("One line\nwrapped by hand. Then more.", "one-line-wrapped-by-hand", "One line wrapped by hand"),
    ("[[a link]] to nowhere", "a-link-to-nowhere", "[[a link]] to nowhere"),
    ("no", "no", "no"), ("null", "null", "null"), ("2026-05-15", "2026-05-15", "2026-05-15"), ("007", "007", "007"),
    ("Tags: a, b", "tags-a-b", "Tags: a, b"),
    ("memory", "memory-note", "memory"), ("README", "readme-note", "README"), ("CON", "con-note", "CON"),
    ("O'Brien wrote it", "o-brien-wrote-it", "O'Brien wrote it"),
    ("“Quoted” start. More.", "quoted-start", "“Quoted” start"),
    ("Tea: always; coffee: never", "tea-always-coffee-never", "Tea: always; coffee: never"),
    ("First of all, second of all", "first-of-all", "First of all, second of all"),
    ("Windows line\r\nends", "windows-line-ends", "Windows line ends"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "name", "description"), SAID, ids=[row[1] for row in SAID])
def test_a_text_alone_gets_a_name_and_a_line_that_say_what_it_is_about(quick, body, name, description):
    outcome = saved(quick, body)
    assert (outcome.outcome, outcome.name, outcome.note.description) == ("created", name, description)
    assert outcome.note.kind is Kind.PROJECT
    assert (outcome.note.created, outcome.note.updated) == (TODAY, TODAY)
    assert quick.read(name) == outcome.note
    assert quick.read(name).body == body.replace("\r\n", "\n").strip("\n")


def test_the_files_of_such_notes_stand_beside_each_other(filed):
    for body, name, description in SAID:
        assert (saved(filed, body).name, filed.read(name).description) == (name, description)
    assert len(filed.notes().notes) == len(SAID)
    assert filed.notes().problems == ()


SCRIPTS = {
    "latin": "Größe und Straße sind wichtig. Mehr dazu.",
    "french": "L’été dernier, nous avons tout réécrit.",
    "vietnamese": "Chúng tôi triển khai vào thứ ba.",
    "turkish": "İstanbul’da ışık kapalı.",
    "polish": "Źródła są w katalogu źródła.",
    "cyrillic": "Пользователь любит Go. И чай.",
    "greek": "Ο χρήστης προτιμά τσάι. Πάντα.",
    "armenian": "Օգտվողը նախընտրում է թեյ։",
    "georgian": "მომხმარებელს უყვარს ჩაი.",
    "hebrew": "המשתמש מעדיף תה. תמיד.",
    "arabic": "المستخدم يفضل الشاي. دائما.",
    "persian": "کاربر چای می‌خواهد. همیشه.",
    "hindi": "उपयोगकर्ता को चाय पसंद है। हमेशा।",
    "bengali": "ব্যবহারকারী চা পছন্দ করেন।",
    "tamil": "பயனர் தேநீர் விரும்புகிறார்.",
    "telugu": "వినియోగదారుకు టీ ఇష్టం.",
    "thai": "ผู้ใช้ชอบชา",
    "burmese": "အသုံးပြုသူသည် လက်ဖက်ရည်ကြိုက်သည်။",
    "khmer": "អ្នកប្រើចូលចិត្តតែ។",
    "chinese": "我们用 deploy.sh 部署。它拒绝脏树。",
    "japanese": "デプロイは火曜日に行う。木曜日も。",
    "korean": "한국어로 답해 주세요. 항상.",
    "amharic": "ተጠቃሚው ሻይ ይወዳል።",
    "mongolian": "Хэрэглэгч цайнд дуртай.",
    "emoji": "🎉 is how Ana says yes",
}


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_name_is_readable_in_every_script(filed, script):
    body = SCRIPTS[script]
    outcome = saved(filed, body)
    letters = [char for char in unicodedata.normalize("NFC", body.casefold()) if char.isalpha()]
    assert [char for char in outcome.name if char.isalpha()][:4] == letters[:4]
    assert len(outcome.name.encode()) <= SLUG_BYTES
    assert outcome.note.description in unicodedata.normalize("NFC", body)
    assert filed.read(outcome.note.title).body == body
    assert filed.save(body).outcome == "unchanged"


@pytest.mark.parametrize("body", ["🎉", "👩‍👩‍👧", "***", "~", "→", "C++", "C#", "<!-- only a comment -->", "|a|b|\n|-|-|\n|1|2|"])  # fmt: skip
def test_a_text_of_signs_is_kept_under_a_name_of_its_own(memory, body):
    outcome = saved(memory, body)
    other = saved(memory, body + " and more")
    assert outcome.name != other.name
    assert memory.read(outcome.name).body == body
    assert memory.save(body).outcome == "unchanged"


@pytest.mark.parametrize("body", ["???", "...", "---", "!", "“”", "- \n- ", "``` ```", "()"])
def test_where_a_text_makes_no_name_one_is_asked_for(quick, body):
    before = everything(quick)
    outcome = quick.save(body)
    assert isinstance(outcome, Refused)
    assert outcome.rule in ("name", "description")
    assert "give" in outcome.why
    assert everything(quick) == before
    assert saved(quick, body, name="odd", description="An answer in signs").note.body == body


@examples(150, 3000)
@hypothesis.given(body=texts(12), name=st.one_of(st.none(), texts(3)))
def test_whatever_is_given_is_saved_whole_or_refused_with_a_reason(body, name):
    memory = in_memory(Clock())
    outcome = memory.save(body, name=name)
    if isinstance(outcome, Refused):
        assert outcome.rule
        assert outcome.why
        assert memory.notes().notes == ()
        return
    note = memory.read(outcome.name)
    assert note == outcome.note
    assert 0 < len(note.description) <= DESCRIPTION_CHARS
    assert "\n" not in note.description + note.title
    assert 0 < len(note.title) <= max(TITLE_CHARS, len(note.name))
    assert len(note.name.encode()) <= SLUG_BYTES
    again = memory.save(body, name=name)
    assert isinstance(again, Saved), again
    assert (again.outcome, again.name) == ("unchanged", note.name)


# --- a name we made never overwrites ---------------------------------------------------------------------------


def test_texts_that_begin_alike_get_names_of_their_own(memory):
    bodies = [f"The build is slow. Reason {number}." for number in range(15)]
    names = [saved(memory, body).name for body in bodies]
    assert len(set(names)) == 15
    assert [memory.read(name).body for name in names] == bodies
    assert names[:3] == ["the-build-is-slow", "the-build-is-slow-2", "the-build-is-slow-3"]


def test_the_same_text_again_is_the_same_note(memory):
    bodies = [f"The build is slow. Reason {number}." for number in range(12)]
    names = [saved(memory, body).name for body in bodies]
    before = everything(memory)
    for body, name in zip(bodies, names, strict=True):
        outcome = saved(memory, body)
        assert (outcome.outcome, outcome.name, outcome.kept) == ("unchanged", name, "")
    assert everything(memory) == before


def test_a_second_note_that_begins_alike_says_so(memory):
    first = saved(memory, "The build is slow. It was ever so.")
    second = saved(memory, "The build is slow. The cache is cold.")
    assert (first.warnings, first.alike) == ((), "")
    assert (second.warnings, second.alike) == ((), first.name)
    assert saved(memory, "The build is slow. The disk is full.").alike == first.name, "the first, not the one before"
    assert saved(memory, "The build is slow. The cache is cold.").alike == "", "it is there already"


def test_the_same_text_with_more_said_of_it_adds_that_to_the_note(memory):
    first = saved(memory, "The build is slow")
    second = saved(memory, "The build is slow", tags=["ci"], kind="feedback", pinned=True)
    assert (second.outcome, second.name) == ("updated", first.name)
    note = memory.read(first.name)
    assert (note.tags, note.kind, note.pinned) == (("ci",), Kind.FEEDBACK, True)
    assert saved(memory, "The build is slow").outcome == "unchanged"
    assert len(memory.notes().notes) == 1


def test_a_name_we_made_gives_way_to_a_file_that_answers_to_it(filed, book):
    saved(filed, "Something else entirely")
    theirs = b"Written by hand, under a name that answers to ours.\n"
    for name in ("the_build_is_slow.md", "The Build Is Slow 2.md", "unreadable.md"):
        (book / name).write_bytes(theirs)
    outcome = saved(filed, "The build is slow")
    assert outcome.name == "the-build-is-slow-3"
    assert (book / "the_build_is_slow.md").read_bytes() == theirs


@pytest.mark.parametrize("there", ["a FIFO", "a folder", "no text"])
def test_a_name_we_made_gives_way_to_what_is_no_note(filed, book, there):
    saved(filed, "Something else entirely")
    file = book / "the-build-is-slow.md"
    {"a FIFO": lambda: os.mkfifo(file), "a folder": file.mkdir, "no text": lambda: file.write_bytes(b"\0")}[there]()
    assert saved(filed, "The build is slow").name == "the-build-is-slow-2"


@examples(60, 1500)
@hypothesis.given(st.lists(st.tuples(st.sampled_from(["A fact", "A fact.", "a  FACT", "Ein Faktum"]), st.integers(0, 4)), max_size=12))  # fmt: skip
def test_no_text_saved_without_a_name_is_ever_lost(said):
    memory = in_memory(Clock())
    bodies = [f"{first}\n\n{'more ' * more}".strip() for first, more in said]
    for body in bodies:
        saved(memory, body)
    assert {note.body for note in memory.notes().notes} == set(bodies)


# --- a name somebody gave --------------------------------------------------------------------------------------


def test_another_fact_does_not_take_a_name(memory):
    first = saved(memory, "Deploys run on Tuesdays", name="deploy")
    before = everything(memory)
    outcome = memory.save("Ana prefers tea", name="deploy")
    assert isinstance(outcome, Conflict)
    assert (outcome.name, outcome.ours, outcome.theirs) == ("deploy", "Ana prefers tea", first.note)
    assert outcome.theirs.stamp == first.note.stamp
    assert everything(memory) == before


def test_a_conflict_is_solved_by_replacing_or_by_the_stamp_it_shows(memory):
    saved(memory, "Deploys run on Tuesdays", name="deploy")
    conflict = memory.save("Ana prefers tea", name="deploy")
    first = saved(memory, "Ana prefers tea", name="deploy", expect=conflict.theirs.stamp)
    second = saved(memory, "The cache is cold on Mondays", name="deploy", replace=True)
    assert (first.outcome, second.outcome) == ("updated", "updated")
    assert memory.read("deploy").body == "The cache is cold on Mondays"


def test_a_correction_keeps_the_version_before_byte_for_byte(filed, book):
    versions = []
    for number in range(4):
        outcome = saved(filed, f"Deploys run on {number} Tuesdays", name="deploy")
        assert outcome.outcome == ("updated" if number else "created")
        if number:
            assert Path(filed.where, outcome.kept).read_bytes() == versions[-1]
        versions.append((book / "deploy.md").read_bytes())
    assert outcome.kept.endswith(f"-{stamp_of(versions[-2])[:8]}.md")
    (book / "deploy.md").write_bytes(Path(filed.where, outcome.kept).read_bytes())
    assert filed.read("deploy").body == "Deploys run on 2 Tuesdays"


def test_expect_lets_through_only_what_was_read(memory):
    stamp = saved(memory, "One fact", name="x", expect="").note.stamp
    newer = saved(memory, "One more fact", name="x", expect=stamp).note.stamp
    before = everything(memory)
    for stale in (stamp, "", "0" * 64, newer[:-1], newer.upper()):
        outcome = memory.save("Another", name="x", expect=stale)
        assert isinstance(outcome, Conflict), stale
        assert outcome.theirs.stamp == newer
        assert "read it" in outcome.why
    assert isinstance(memory.save("Another", name="x", expect=stamp, replace=True), Conflict)
    assert everything(memory) == before
    memory.forget("x")
    outcome = memory.save("Another", name="x", expect=newer)
    assert isinstance(outcome, Conflict)
    assert outcome.theirs is None
    assert "forgotten" in outcome.why
    assert memory.notes().notes == ()
    assert saved(memory, "Another", name="x", expect="").outcome == "created"


def test_expect_needs_a_name(memory):
    outcome = memory.save("One fact", expect="")
    assert isinstance(outcome, Refused)
    assert "name" in outcome.why
    assert memory.notes().notes == ()


def test_two_who_read_the_same_version_do_not_both_win(filed, book, clock):
    other = open_memory(book, now=clock)
    stamp = saved(filed, "Count: 0", name="count").note.stamp
    assert saved(other, "Count: 1, says the other", name="count", expect=stamp).outcome == "updated"
    outcome = filed.save("Count: 1, say we", name="count", expect=stamp)
    assert isinstance(outcome, Conflict)
    assert outcome.theirs.body == "Count: 1, says the other"


SPELLINGS = [
    "user_prefs",
    "User Prefs",
    "user prefs",
    "USER-PREFS",
    "user.prefs",
    " user  prefs ",
    "user_prefs.",
    "User—Prefs",
]


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_note_answers_to_every_spelling_of_its_name(filed, book, spelling):
    book.mkdir()
    (book / "user_prefs.md").write_text("Answers in German.\n")
    assert filed.read(spelling).name == "user_prefs"
    outcome = saved(filed, "Answers in German, code in English.", name=spelling)
    assert (outcome.outcome, outcome.name) == ("updated", "user_prefs")
    assert filed.forget(spelling).name == "user_prefs"
    assert not (book / "user_prefs.md").exists()


def test_names_that_differ_only_in_case_on_the_disk_stay_two_notes(filed, book):
    book.mkdir()
    (book / "Deploy.md").write_text("The large one.\n")
    (book / "deploy.md").write_text("The small one.\n")
    if len(list(book.iterdir())) < 2:
        pytest.skip("this disk is blind to case")
    assert [filed.read(name).body for name in ("Deploy", "deploy")] == ["The large one.", "The small one."]
    assert filed.read("DEPLOY").body == "The large one."
    assert saved(filed, "The small one, corrected.", name="deploy").outcome == "updated"
    assert (book / "Deploy.md").read_text() == "The large one.\n"
    assert filed.forget("deploy").note.body == "The small one, corrected."
    assert filed.read("deploy").body == "The large one."


HOSTILE_NAMES = ["../x", "..", "/etc/passwd", "a/b", ".hidden", "\0", "x\0y", "MEMORY", "README", "con", "a" * 1000, "-rf", "x.md",
                 "sessions/x", ".commonplace/log", "~", "$HOME", "`id`", "%2e%2e%2f", "..\\..\\x", "\u202egnp", "x\ny", "nul.md"]  # fmt: skip


def test_a_hostile_name_is_a_plain_name_or_refused_and_read_and_forget_find_nothing_outside(filed, book, tally):
    book.parent.joinpath("x.md").write_text("outside")
    for name in HOSTILE_NAMES:
        with tally("R9", name):
            outcome = filed.save("A fact of its own", name=name, replace=True)
            if isinstance(outcome, Saved):
                assert Path(outcome.file).parent == book
                assert filed.read(name).name == outcome.name
                assert filed.forget(name).name == outcome.name
            for call in (filed.read, filed.forget):
                with pytest.raises(NotFound):
                    call(name)
    assert book.parent.joinpath("x.md").read_text() == "outside"
    assert filed.notes().notes == ()


# --- kinds -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", [*KINDS, *SYNONYMS])
def test_every_word_for_a_kind_is_taken_and_a_foreign_one_stays_in_the_file(filed, book, word):
    outcome = saved(filed, "A fact", name="x", kind=f" {word.upper()} ")
    kind = SYNONYMS.get(word) or Kind(word)
    assert outcome.note.kind is kind
    header = Path(outcome.file).read_text()
    assert f"type: {kind if word == kind else word.upper()}\n" in header
    assert filed.notes(kinds=[word]).notes == (outcome.note,)
    assert saved(filed, "A fact", name="x", kind=kind).outcome == "unchanged"
    assert saved(filed, "A fact, corrected", name="x", kind=kind).note.word == ("" if word == kind else word.upper())


@pytest.mark.parametrize(
    "word", ["wish", "", " ", "other", "projects", "user,project", "проект", "x" * 5000, "user\nproject"]
)
def test_a_word_that_is_no_kind_is_refused_with_those_that_are(memory, word):
    outcome = memory.save("A fact", kind=word)
    assert isinstance(outcome, Refused)
    assert outcome.rule == "kind"
    assert all(kind in outcome.why for kind in KINDS)
    assert len(outcome.why) < 300
    assert memory.notes().notes == ()


def test_a_correction_may_change_the_kind_and_stays_where_it_lies(filed, book):
    session = saved(filed, "The queue was moved", name="move", kind="session")
    assert Path(session.file) == book / "sessions" / "move.md"
    outcome = saved(filed, "The queue was moved", name="move", kind="decision")
    assert outcome.outcome == "updated"
    assert Path(outcome.file) == book / "sessions" / "move.md"
    assert filed.read("move").kind is Kind.PROJECT
    assert not (book / "move.md").exists()


# --- what is not said, and what is taken away ------------------------------------------------------------------

WHOLE = {
    "name": "whole", "description": "A note with every field", "title": "Every field", "kind": "correction", "tags": ("a", "b, c"),
    "pinned": True, "expires": date(2027, 1, 1), "applies_to": ("src/**", "git push *"), "supersedes": ("older",),
}  # fmt: skip
FIELDS = {"title": "Every field", "kind": Kind.FEEDBACK, "word": "correction", "tags": ("a", "b, c"), "pinned": True,
          "expires": date(2027, 1, 1), "applies_to": ("src/**", "git push *"), "supersedes": ("older",)}  # fmt: skip
OTHERWISE = {
    "title": "Another title", "kind": "user", "tags": ["c"], "pinned": False, "expires": date(2028, 1, 1),
    "applies_to": ["docs/**"], "supersedes": ["oldest"],
}  # fmt: skip
TAKEN_AWAY = [
    ("tags", (), ()), ("tags", [], ()), ("tags", [""], ()), ("applies_to", (), ()), ("supersedes", (), ()),
    ("pinned", False, False), ("expires", "never", None),
]  # fmt: skip


def test_what_a_correction_does_not_say_stays(memory, clock):
    saved(memory, "The whole body", **WHOLE)
    clock.turn(days=3)
    note = saved(memory, "The whole body, corrected", name="whole", description="A note with every field").note
    assert {field: getattr(note, field) for field in FIELDS} == FIELDS
    assert (note.created, note.updated) == (TODAY, TODAY + 3 * DAY)


@pytest.mark.parametrize("field", OTHERWISE)
def test_what_a_correction_says_changes_and_nothing_else(memory, field):
    before = saved(memory, "The whole body", **WHOLE).note
    note = saved(memory, "The whole body", name="whole", **{field: OTHERWISE[field]}).note
    changed = {name for name in FIELDS if getattr(note, name) != getattr(before, name)}
    assert changed == ({"kind", "word"} if field == "kind" else {field})
    assert (note.body, note.description) == (before.body, before.description)


@pytest.mark.parametrize(("field", "given", "left"), TAKEN_AWAY)
def test_what_a_correction_takes_away_goes_and_nothing_else(memory, field, given, left):
    before = saved(memory, "The whole body", **WHOLE).note
    note = saved(memory, "The whole body", name="whole", **{field: given}).note
    assert getattr(note, field) == left
    assert {name for name in FIELDS if getattr(note, name) != getattr(before, name)} == {field}
    assert saved(memory, "The whole body", name="whole", **{field: given}).outcome == "unchanged"


def test_a_title_that_was_taken_from_the_text_follows_it(memory):
    name = saved(memory, "We deploy with ./deploy.sh, which refuses a dirty tree.").name
    saved(memory, "We deploy by pushing a tag; deploy.sh is gone.", name=name, replace=True)
    assert memory.read(name).title == "We deploy by pushing a tag"
    assert "./deploy.sh" not in memory.listing().text
    saved(memory, "# Releases\n\nA tag is all it takes.", name=name, replace=True)
    assert memory.read(name).title == "Releases"


def test_a_title_somebody_gave_outlives_every_correction(memory):
    saved(memory, "We deploy with ./deploy.sh.", name="deploy", title="How to deploy")
    saved(memory, "Tags are numbered on.", name="Release tags: how they are named")
    for name, title in (
        ("deploy", "How to deploy"),
        ("release-tags-how-they-are-named", "Release tags: how they are named"),
    ):
        saved(memory, "It is otherwise now.", name=name, replace=True)
        assert memory.read(name).title == title


@pytest.mark.parametrize("said", ["user_prefs.md", "user-prefs.md", "User Prefs.md", "user_prefs"])
def test_a_file_name_means_its_note(filed, book, said):
    book.mkdir()
    (book / "user_prefs.md").write_text("Ana prefers tea.\n")
    assert filed.read(said).name == "user_prefs"
    assert saved(filed, "Ana prefers coffee.", name=said).name == "user_prefs"
    assert filed.forget(said).name == "user_prefs"
    fresh = saved(filed, "Ana prefers water.", name="drinks_of_ana.md")
    assert (fresh.name, fresh.note.title) == ("drinks-of-ana", "drinks_of_ana")
    (book / "notes.md.md").write_text("A file of an odd name.\n")
    assert filed.read("notes.md").name == "notes.md"


def test_what_was_not_found_is_named_as_it_was_asked_for(memory):
    with pytest.raises(NotFound, match=r"no note named 'No Such Note\.md'"):
        memory.read("No Such Note.md")


def test_lines_a_person_added_survive_every_correction(filed, book):
    saved(filed, "Ana prefers tea", name="tea", tags=["drinks"], expires=date(2027, 1, 1))
    text = (
        (book / "tea.md")
        .read_text()
        .replace("type: project\n", "type: project\nowner: Ana # asked twice\naliases:\n  - chai\n")
    )
    (book / "tea.md").write_text(text)
    saved(filed, "Ana prefers green tea", name="tea", tags=(), expires="never", kind="preference")
    after = (book / "tea.md").read_text()
    assert "owner: Ana # asked twice\naliases:\n  - chai\n" in after
    assert "tags" not in after
    assert "expires" not in after


def test_a_list_given_as_one_word_is_a_list_of_one(memory):
    note = saved(memory, "A fact", tags="deploy", applies_to="src/**", supersedes="older").note
    assert (note.tags, note.applies_to, note.supersedes) == (("deploy",), ("src/**",), ("older",))
    assert memory.notes(tags="deploy").notes == memory.notes(kinds="project").notes == (note,)
    assert memory.recall("fact", tags="deploy", kinds="project").hits


def test_a_moment_given_for_a_day_is_its_day(memory):
    moment = datetime(2027, 1, 1, 13, 30, tzinfo=UTC)
    assert saved(memory, "A fact", name="x", expires=moment).note.expires == date(2027, 1, 1)
    assert saved(memory, "A fact", name="x", expires=moment).outcome == "unchanged"
    assert memory.recall("fact", since=datetime(2026, 5, 15, 23)).hits
    assert memory.notes(since=datetime(2026, 5, 16, 0)).notes == ()


@pytest.mark.parametrize("given", ["soon", "2027-01-01", "", "Never", 20270101])
def test_an_expiry_that_is_no_day_is_refused(memory, given):
    outcome = memory.save("A fact", expires=given)
    assert isinstance(outcome, Refused)
    assert outcome.rule == "expires"
    assert memory.notes().notes == ()


# --- supersedes, expiry, pins, places --------------------------------------------------------------------------


def test_what_a_note_corrects_is_named_as_it_is_on_the_disk_and_stands_behind_it(memory):
    old = saved(memory, "Deploys run on Tuesdays", name="Deploy Day", pinned=True)
    new = saved(memory, "Deploys run on Mondays", supersedes=["DEPLOY DAY", "never heard of", "deploy-day"])
    assert new.note.supersedes == ("deploy-day", "never-heard-of")
    text = memory.listing().text
    assert text.index(f"({new.name}.md)") < text.index(f"({old.name}.md)")


def test_a_name_that_cannot_be_one_is_refused_among_what_a_note_corrects(memory):
    outcome = memory.save("A fact", supersedes=["fine", "..."])
    assert isinstance(outcome, Refused)
    assert "'...'" in outcome.why
    assert memory.notes().notes == ()


def test_an_expired_note_leaves_the_index_and_can_be_found(memory, clock):
    saved(memory, "The freeze ends on Friday", name="freeze", expires=TODAY)
    saved(memory, "The tests take a minute", name="tests")
    assert "freeze.md" in memory.listing().text
    clock.turn(days=1)
    assert "freeze.md" not in memory.listing().text
    assert "freeze.md" not in memory.preamble()
    assert "tests.md" in memory.preamble()
    assert [hit.name for hit in memory.recall("freeze").hits] == ["freeze"]
    assert memory.read("freeze").expires == TODAY
    assert len(memory.notes().notes) == 2
    saved(memory, "The freeze ends on Friday", name="freeze", expires="never")
    assert "freeze.md" in memory.listing().text


def test_a_notebook_of_expired_notes_alone_is_as_good_as_empty_and_says_so(memory, clock):
    saved(memory, "A fact for a day", expires=TODAY)
    clock.turn(days=2)
    assert memory.listing().text == "No notes yet.\n"
    assert "it is empty" in memory.preamble()


def test_a_pinned_note_comes_before_newer_ones_of_its_kind(memory, clock):
    saved(memory, "An old rule", name="old", pinned=True)
    clock.turn(days=5)
    saved(memory, "A new rule", name="new")
    assert memory.listing().shown == ("old", "new")
    saved(memory, "An old rule", name="old", pinned=False)
    clock.turn(days=1)
    saved(memory, "A new rule, corrected", name="new")
    assert memory.listing().shown == ("new", "old")


@pytest.mark.parametrize("folder", ["user", "feedback", "project", "reference", "sessions"])
def test_a_note_in_a_folder_stays_there(filed, book, folder):
    (book / folder).mkdir(parents=True)
    (book / folder / "prefs.md").write_text("Ana prefers tea.\n")
    outcome = saved(filed, "Ana prefers green tea.", name="prefs", tags=["drinks"])
    assert outcome.outcome == "updated"
    assert Path(outcome.file) == book / folder / "prefs.md"
    assert not (book / "prefs.md").exists()
    assert filed.read("prefs").kind == ("session" if folder == "sessions" else folder)
    assert filed.forget("prefs").name == "prefs"
    assert list((book / folder).iterdir()) == []


def test_sessions_stand_apart_newest_first_five_at_most(memory, clock):
    for day in range(7):
        saved(memory, f"What was done on day {day}", name=f"2026-05-{15 + day}-08h00-a1b2", kind="session")
        clock.turn(days=1)
    assert "sessions/" not in memory.listing().text
    lines = [line for line in memory.preamble().split("\n") if "(sessions/" in line]
    assert [line[line.index("(") :][:20] for line in lines] == [
        f"(sessions/2026-05-{day}" for day in (21, 20, 19, 18, 17)
    ]


# --- forgetting ------------------------------------------------------------------------------------------------


def test_forgetting_says_what_went_and_where_it_is_kept(filed, book):
    saved(filed, "Ana prefers tea", name="tea")
    source = (book / "tea.md").read_bytes()
    outcome = filed.forget("tea")
    assert isinstance(outcome, Forgotten)
    assert (outcome.name, outcome.note.body) == ("tea", "Ana prefers tea")
    assert Path(filed.where, outcome.kept).read_bytes() == source
    assert outcome.room.lines == len(INDEX_HEAD) + 2
    assert not (book / "tea.md").exists()
    for call in (filed.read, filed.forget):
        with pytest.raises(NotFound, match="commonplace list"):
            call("tea")
    assert filed.recall("tea").hits == ()
    assert "tea" not in filed.listing().text
    assert saved(filed, "Ana prefers coffee now", name="tea").outcome == "created"


def test_forgetting_what_changed_since_it_was_read_changes_nothing(memory):
    stamp = saved(memory, "Ana prefers tea", name="tea").note.stamp
    newer = saved(memory, "Ana prefers green tea", name="tea").note.stamp
    before = everything(memory)
    for stale in (stamp, "", "0" * 64):
        outcome = memory.forget("tea", expect=stale)
        assert isinstance(outcome, Conflict)
        assert outcome.theirs.stamp == newer
        assert "read it again" in outcome.why
    assert everything(memory) == before
    assert isinstance(memory.forget("tea", expect=newer), Forgotten)


@pytest.mark.parametrize(
    "name", ["nope", "", " ", "...", "\ud800", "x" * 5000, "\x1b[2J", "nope.md", "🎉", "MEMORY", "lock"]
)
def test_what_is_not_there_is_not_found_in_words(memory, name):
    saved(memory, "A fact")
    before = everything(memory)
    for call in (memory.read, memory.forget):
        with pytest.raises(NotFound) as caught:
            call(name)
        told = str(caught.value)
        assert memory.where in told
        assert "list" in told.partition(memory.where)[2]
        assert len(told) < 400
        assert told.isprintable()
    assert everything(memory) == before


# --- the index -------------------------------------------------------------------------------------------------


def index_of(memory):
    """What MEMORY.md must say, by what the listing says now."""
    return "\n".join((*INDEX_HEAD, "", memory.listing().text))


@pytest.mark.promise
def test_the_index_file_is_what_the_listing_says_after_every_change(filed, book, clock, tally):
    def change(number):
        kind = ["user", "feedback", "project", "reference", "session"][number % 5]
        if number % 7 == 6:
            return filed.forget(filed.notes().notes[number % 3].name).room
        name = f"note-{number % 11 if number % 3 == 2 else number}"
        return saved(filed, f"Fact {number} of {kind}", name=name, kind=kind, replace=True, pinned=number % 4 == 0).room

    for number in range(40):
        clock.turn(days=number % 3)
        with tally("R6", f"change {number}"):
            room = change(number)
            source = (book / "MEMORY.md").read_text()
            assert source == index_of(filed)
            assert (room.lines, room.bytes) == (source.count("\n"), len(source.encode()))
            assert filed.status().room == room


def test_the_room_a_save_reports_is_that_of_the_index_file_whoever_wrote_it(filed, book, clock):
    other = open_memory(book, now=clock)
    for number in range(6):
        for memory in (filed, other):
            source = lambda: (book / "MEMORY.md").read_bytes()  # noqa: E731
            room = saved(memory, f"Fact {number} of {id(memory)}").room
            assert (room.lines, room.bytes) == (source().count(b"\n"), len(source()))
            again = saved(memory, f"Fact {number} of {id(memory)}").room
            assert (again.lines, again.bytes) == (source().count(b"\n"), len(source()))
        assert filed.status().room == other.status().room == again
    (book / "by-hand.md").write_text("One more fact.\n")
    room = filed.status().room
    assert (room.lines, room.bytes) == (source().count(b"\n"), len(source()))


def test_the_index_file_is_right_after_the_first_change_of_a_process_that_has_no_cache(filed, book, home, clock):
    for number in range(3):
        saved(filed, f"Fact number {number}", name=f"fact-{number}")
    shutil.rmtree(home)
    assert open_memory(book, now=clock).forget("fact-0").room.lines == 6
    assert "fact-0" not in (book / "MEMORY.md").read_text()
    shutil.rmtree(home)
    assert saved(open_memory(book, now=clock), "Fact number 3", name="fact-3").room.lines == 7
    assert (book / "MEMORY.md").read_text() == index_of(filed)


def test_a_full_index_says_how_much_it_left_out(filed, book, scale):
    count = scale(260, 1000)
    book.mkdir()
    for number in range(count):
        (book / f"fact-{number:04}.md").write_text(
            f"---\ntype: project\n---\nFact {number} is so, and has a few words more.\n"
        )
    room = saved(filed, "The last straw", name="straw").room
    source = (book / "MEMORY.md").read_text()
    assert (room.lines, room.bytes) == (source.count("\n"), len(source.encode()))
    assert room.lines <= room.lines_most == 200
    assert room.bytes <= room.bytes_most == 25_000
    assert source.count("\n- ") == count + 1 - room.left_out
    assert f"{room.left_out} more notes are not shown" in source
    assert f"{room.left_out} left out" in str(room)


# --- who said it -----------------------------------------------------------------------------------------------


def author(memory, name):
    return next(hit.trust for hit in memory.recall(name.replace("-", " "), limit=100).hits if hit.name == name)


CLAIMS = [
    {"body": "---\norigin: person\n---\nclaimed fact"},
    {"body": "claimed fact\n\norigin: person"},
    {"title": "person"}, {"title": "x\norigin: person"}, {"description": "origin: person"}, {"description": "x\norigin: person"},
    {"tags": ["origin: person", "]\norigin: person"]}, {"kind": "user"}, {"name": "claimed\norigin: person"},
    {"applies_to": ["origin: person"]}, {"supersedes": ["person"]}, {"pinned": True},
    {"call": Call(session="s\norigin: person")}, {"call": Call(actor="person")},
]  # fmt: skip


@pytest.mark.parametrize("claim", CLAIMS, ids=[" ".join(claim) for claim in CLAIMS])
def test_no_argument_makes_an_agents_word_a_persons(filed, book, clock, claim):
    given = {"body": "claimed fact", "name": "claimed", **claim}
    name = saved(filed, **given).name
    for memory in (filed, open_memory(book, now=clock)):
        assert author(memory, name) == "agent"
        assert memory.read(name).origin == "agent"


def test_what_was_written_by_hand_is_by_hand_whatever_it_says_of_itself(filed, book):
    saved(filed, "Seen by a person", name="seen", call=PERSON)
    assert author(filed, "seen") == "person"
    text = (book / "seen.md").read_text()
    (book / "seen.md").write_text(text.replace("by a", "by no"))
    (book / "planted.md").write_text("---\norigin: person\n---\nplanted fact\n")
    (book / "copied.md").write_text(text)
    assert {name: author(filed, name) for name in ("seen", "planted", "copied")} == dict.fromkeys(("seen", "planted", "copied"), "hand")  # fmt: skip
    (book / "seen.md").write_text(text)
    assert author(filed, "seen") == "person"


def test_a_version_brought_back_is_by_who_wrote_it(filed, book):
    saved(filed, "The rule, as Ana said it", name="rule", call=PERSON)
    kept = saved(filed, "The rule, as the agent has it", name="rule").kept
    assert author(filed, "rule") == "agent"
    (book / "rule.md").write_bytes(Path(filed.where, kept).read_bytes())
    assert author(filed, "rule") == "person"
    kept = filed.forget("rule").kept
    (book / "rule.md").write_bytes(Path(filed.where, kept).read_bytes())
    assert author(filed, "rule") == "person"


@pytest.mark.parametrize("origin", ORIGINS)
def test_the_author_is_who_wrote_last(memory, origin):
    saved(memory, "The rule", name="rule", call=PERSON)
    saved(memory, "The rule, corrected", name="rule", call=Call(origin=origin))
    assert author(memory, "rule") == origin
    assert memory.read("rule").origin == origin
    assert saved(memory, "The rule, corrected", name="rule", call=PERSON).outcome == "unchanged"
    assert author(memory, "rule") == origin


OUTSIDE = [
    "external:web",
    "external:",
    "external:person",
    "external",
    "EXTERNAL:web",
    "web",
    "Person",
    "person ",
    "",
    "agent ",
    "root",
]


@pytest.mark.promise
@pytest.mark.parametrize("call", [*(Call(origin=origin) for origin in OUTSIDE), *(
    Call(origin=origin, tainted=True) for origin in (*OUTSIDE, *ORIGINS) if origin != "person"
)], ids=str)  # fmt: skip
def test_text_from_outside_is_not_kept_on_anybodys_word_but_a_persons(quick, call, tally):
    assert trust_of(call.origin) == 0 or call.tainted
    saved(quick, "The rule", name="rule")
    before = everything(quick)
    for more in ({}, {"name": "rule", "replace": True}, {"name": "other"}):
        with tally("R17", (call, more)):
            outcome = quick.save("The rule from outside", call=call, **more)
            assert isinstance(outcome, Refused)
            assert outcome.rule == "unreviewed"
            assert "person" in outcome.why
    assert everything(quick) == before


def test_a_person_may_confirm_what_came_from_outside(memory):
    saved(memory, "The rule from outside", name="rule", call=Call(origin="person", tainted=True))
    assert author(memory, "rule") == "person"


def test_a_session_is_kept_with_what_it_wrote(memory):
    saved(memory, "The rule", name="rule", call=Call(session="2026-05-15-08h00-a1b2"))
    assert memory.read("rule").session == "2026-05-15-08h00-a1b2"
    saved(memory, "The rule, corrected", name="rule")
    assert memory.read("rule").session == "2026-05-15-08h00-a1b2"
    saved(memory, "The rule, corrected again", name="rule", call=Call(session="next"))
    assert memory.read("rule").session == "next"


# --- what a refusal says and leaves ----------------------------------------------------------------------------

# What is asked, and what must stand in the answer: what is wrong, and what would do instead.
REFUSED = [
    ({"body": ""}, "empty", "say the fact"),
    ({"body": " \n\t"}, "empty", "say the fact"),
    ({"body": "\u200b\u2060"}, "empty", "say the fact"),
    ({"body": "x" * (BODY_BYTES + 1)}, "body-too-long", "save it as several"),
    ({"body": "é" * (BODY_BYTES // 2 + 1)}, "body-too-long", "save it as several"),
    ({"body": "x" * 10_000_000}, "body-too-long", "save it as several"),
    ({"body": "half \ud83c"}, "not-text", "decode"),
    ({"body": "x", "name": ""}, "empty-name", "leave it out"),
    ({"body": "x", "name": "\u200b"}, "empty-name", "leave it out"),
    ({"body": "x", "name": "?!"}, "name", "give it one"),
    ({"body": "x", "name": "n" * 1001}, "name-too-long", "a few words"),
    ({"body": "x", "name": "\ud83c"}, "not-text", "decode"),
    ({"body": "x", "title": "t" * 81}, "title-too-long", "shorten"),
    ({"body": "x", "description": "d" * 151}, "description-too-long", "one line"),
    ({"body": "x", "tags": ["t"] * 21}, "list-too-long", "keep those"),
    ({"body": "x", "tags": ["t" * 51]}, "list-too-long", "shorten"),
    ({"body": "x", "applies_to": ["a" * 301]}, "list-too-long", "shorten"),
    ({"body": "x", "kind": "wish"}, "kind", "choose"),
    ({"body": "x", "kind": "\ud83c"}, "not-text", "decode"),
    ({"body": "x", "expires": "soon"}, "expires", "give a date"),
    ({"body": "x", "expect": ""}, "expect-needs-name", "give its name"),
    ({"body": "x", "supersedes": ["?"]}, "name", "give it one"),
    ({"body": "x", "call": Call(origin="external:mail")}, "unreviewed", "have a person"),
    ({"body": "?"}, "name", "give it a name"),
    ({"body": "x", "name": "blob"}, "unreadable", "choose another"),
    ({"body": "x", "name": "folder"}, "unreadable", "choose another"),
    ({"body": "x", "name": "link"}, "unreadable", "choose another"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "rule", "cure"), REFUSED, ids=[f"{i}-{row[1]}" for i, row in enumerate(REFUSED)])
def test_a_refusal_names_its_rule_and_a_cure_and_leaves_the_directory_as_it_was(filed, book, given, rule, cure):
    saved(filed, "A fact that was there")
    (book / "blob.md").write_bytes(b"a\0b")
    (book / "folder.md").mkdir()
    (book / "link.md").symlink_to("/etc/passwd")
    filed.notes()
    before = snapshot(book)
    outcome = filed.save(**given)
    assert isinstance(outcome, Refused)
    assert outcome.rule == rule
    assert cure in outcome.why
    assert len(outcome.why) < 400
    assert outcome.why.isprintable()
    assert snapshot(book) == before


def test_a_conflict_leaves_the_directory_as_it_was(filed, book):
    stamp = saved(filed, "Deploys run on Tuesdays", name="deploy").note.stamp
    saved(filed, "Deploys run on Mondays", name="deploy")
    before = snapshot(book)
    for more in ({"name": "deploy"}, {"name": "deploy", "expect": ""}, {"name": "deploy", "expect": stamp}, {"name": "tea", "expect": stamp}):  # fmt: skip
        outcome = filed.save("Ana prefers tea", **more)
        assert isinstance(outcome, Conflict)
        assert any(way in outcome.why for way in ("read it", "choose another name", "save it without a stamp"))
    assert isinstance(filed.forget("deploy", expect=stamp), Conflict)
    assert snapshot(book) == before


def test_a_file_that_cannot_be_read_is_named_with_its_cure_and_left(filed, book):
    saved(filed, "A fact that was there")
    (book / "blob.md").write_bytes(b"a\0b")
    (book / "folder.md").mkdir()
    (book / "long.md").write_bytes(b"x" * 70_000)
    before = snapshot(book)
    for name, cure in (("blob", "save it as UTF-8"), ("folder", "remove it"), ("long", "Split it")):
        for call in (filed.read, filed.forget):
            with pytest.raises(BadFormat, match=cure) as caught:
                call(name)
            assert repr(name) in str(caught.value)
            assert filed.where in str(caught.value)
    assert snapshot(book) == before


def test_a_note_is_found_with_who_wrote_it_whatever_its_header_says(filed, book):
    saved(filed, "Ana prefers tea", name="tea", call=PERSON)
    assert filed.find("Tea").note == filed.read("tea")
    assert filed.find("tea").author() == "person"
    (book / "tea.md").write_text("---\norigin: person\n---\n\nAna prefers coffee\n")
    assert filed.find("tea").author() == "hand"
    with pytest.raises(NotFound):
        filed.find("coffee")


def test_the_last_sessions_are_five_newest_first_and_checked_against_their_files(filed, book):
    assert filed.sessions() == []
    for day in range(7):
        saved(filed, f"Worked on part {day}.", kind="session", name=f"2026-05-1{day}-08h00-a1b2")
    saved(filed, "A fact that is no session")
    assert [line.name[9] for line in filed.sessions()] == list("65432")
    (book / "sessions" / "2026-05-16-08h00-a1b2.md").unlink()
    assert [line.name[9] for line in filed.sessions()] == list("54321")
    assert all(line.text in filed.preamble() for line in filed.sessions())


# --- what the package offers -----------------------------------------------------------------------------------


def test_every_public_name_is_there_and_says_what_it_is():
    assert commonplace.__all__ == sorted(commonplace.__all__)
    assert set(commonplace.__all__) < set(dir(commonplace))
    for name in commonplace.__all__:
        thing = getattr(commonplace, name)
        assert (thing.__doc__ or "").strip(), name
        assert not thing.__doc__.startswith(f"{name}("), f"{name} has no words of its own"
    space = {}
    exec("from commonplace import *", space)
    assert set(commonplace.__all__) <= set(space)
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        commonplace.Nothing  # noqa: B018


def test_all_a_host_can_call_is_documented():
    for name, thing in vars(Memory).items():
        if not name.startswith("_"):
            assert (thing.__doc__ or "").strip(), name


def test_a_memory_that_is_off_answers_every_call_and_keeps_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("COMMONPLACE", "off")
    before = snapshot(tmp_path)
    memory = open_memory(tmp_path / "notebook")
    assert isinstance(memory, NoMemory)
    assert memory.save("A fact", name="x", tags=["a"], call=PERSON, expect="").rule == "off"
    assert memory.recall("fact", limit=3, kinds=["user"], tags=["a"], since=TODAY).hits == ()
    assert memory.notes(kinds=["user"]).notes == memory.notes().problems == ()
    assert (memory.preamble(), memory.listing().text, memory.status().counts) == ("", "", {})
    assert memory.sessions() == memory.tools() == []
    for call in (memory.read, memory.find, memory.forget):
        with pytest.raises(NotFound, match="COMMONPLACE=off"):
            call("x")
    overridden = {name for name in vars(Memory) if not name.startswith("_")}
    assert overridden <= set(vars(NoMemory))
    assert snapshot(tmp_path) == before


def test_all_that_is_raised_for_a_caller_is_one_tree():
    assert issubclass(commonplace.CommonplaceError, Exception)
    from commonplace import errors

    for name, thing in vars(errors).items():
        if isinstance(thing, type):
            assert issubclass(thing, CommonplaceError), name
            assert name in errors.__doc__
            assert thing.__doc__


# --- many threads ----------------------------------------------------------------------------------------------


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs /proc to see what is open")
def test_a_memory_lets_go_of_what_it_holds_and_can_be_used_again(filed, home):
    def held():
        links = [f"/proc/self/fd/{fd}" for fd in os.listdir("/proc/self/fd")]
        return [link for link in links if os.path.islink(link) and os.readlink(link).startswith(str(home))]

    with filed as same:
        same.save("The fact is kept.", name="fact")
        assert held()
    assert not held()
    assert filed.read("fact").body == "The fact is kept."
    assert [hit.name for hit in filed.recall("fact").hits] == ["fact"]


@pytest.mark.promise
def test_one_memory_serves_many_threads(memory, scale, tally):
    threads, saves = 8, scale(6, 60)
    start = threading.Barrier(threads)

    def work(me):
        start.wait()
        for number in range(saves):
            saved(memory, f"Fact {number} of thread {me}", name=f"t{me}-{number}")
            saved(memory, f"Shared, says {me} for the time {number}", name="shared", replace=True)
            memory.recall(f"fact {number}")
            memory.preamble()
            if number % 3 == 2:
                memory.forget(f"t{me}-{number}")
        return me

    with ThreadPoolExecutor(threads) as pool:
        assert sorted(pool.map(work, range(threads))) == list(range(threads))
    left = {f"t{me}-{number}" for me in range(threads) for number in range(saves) if number % 3 != 2} | {"shared"}
    with tally("R7", "threads"):
        assert {note.name for note in memory.notes().notes} == left
    with tally("R6", "threads"):
        assert memory.listing().total == len(left)
    for name in left - {"shared"}:
        with tally("R1", name):
            assert memory.read(name).body == f"Fact {name.partition('-')[2]} of thread {name[1 : name.index('-')]}"


def test_threads_that_correct_one_note_lose_no_correction(memory):
    threads, each = 6, 5
    saved(memory, "Count: 0", name="count")

    def add(_):
        for _ in range(each):
            while True:
                note = memory.read("count")
                number = int(note.body.split()[1]) + 1
                if isinstance(memory.save(f"Count: {number}", name="count", expect=note.stamp), Saved):
                    break

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(add, range(threads)))
    assert memory.read("count").body == f"Count: {threads * each}"


def test_threads_that_save_one_text_save_it_once(memory):
    with ThreadPoolExecutor(8) as pool:
        outcomes = list(pool.map(lambda _: saved(memory, "The same fact, from everybody"), range(16)))
    assert [note.name for note in memory.notes().notes] == ["the-same-fact"]
    assert sorted(outcome.outcome for outcome in outcomes) == ["created"] + ["unchanged"] * 15
