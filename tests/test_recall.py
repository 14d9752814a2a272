"""Recall finds what notes say, in every script, in a sensible order, with reasons that are true, and never fails."""

import unicodedata
from datetime import date

import hypothesis
import pytest
from hypothesis import strategies as st
from tests.texts import examples, texts

from commonplace import open_memory
from commonplace.index.sidecar import Sidecar
from commonplace.note.kind import Kind
from commonplace.note.note import Note
from commonplace.recall import analyze
from commonplace.recall import notes as corpus
from commonplace.recall.asked import Asked, age
from commonplace.recall.finder import Changes, Finder

TODAY = date(2026, 5, 15)
LANGUAGES = ("english", "german", "french", "spanish", "italian", "turkish")


def note(name, body="Nothing of note.", **given):
    return Note(name=name, body=body, **{"description": "", "title": name, **given})


class Fixed:
    """A corpus of these notes, handed over once."""

    def __init__(self, notes):
        self.notes = list(notes)

    def waits(self, db):
        return bool(self.notes)

    def changes(self, db, most):
        some, self.notes = self.notes[:most], self.notes[most:]
        return Changes(tuple(map(corpus.text_of, some)), ())

    def begin_again(self, db): ...


def answers(notes, query):
    return Finder(Sidecar(None), Fixed(notes)).find(query, TODAY)


def found(notes, query):
    return [placed.found.key for placed in answers(notes, query).placed]


# --- where a word may stand ------------------------------------------------------------------------------------

PLACES = {
    "name": note("zeppelin"),
    "title": note("x", title="The Zeppelin"),
    "description": note("x", description="All about a zeppelin"),
    "tags": note("x", tags=("airship", "Zeppelin")),
    "body": note("x", body="Some words before.\n\n**Why:** the zeppelin is slow."),
}


@pytest.mark.parametrize("place", PLACES)
def test_a_word_is_found_wherever_a_note_says_it(place):
    found = answers([note("other"), PLACES[place]], "zeppelin").placed
    assert [one.found.key for one in found] == [PLACES[place].name]
    assert (found[0].found.in_heading, found[0].found.in_body) == (((), (0,)) if place == "body" else ((0,), ()))


# What is asked, what is said, and whether the one finds the other.
FINDS = [
    ("deploy", "Deploys run on Tuesdays", True),
    ("deploys", "We deploy on Tuesdays", True),
    ("deploying a release", "The deploy is slow", True),
    ("testing", "Tests take a minute", True),
    ("policies", "The policy is strict", True),
    ("keys", "The key lies in the safe", True),
    ("DEPLOY", "we deploy by hand", True),
    ("how do we deploy?", "deploy with care", True),
    ("user's", "the users like it", True),
    ("go", "We write Go", True),
    ("go", "A category of google", False),
    ("api", "Two APIs, one door", True),
    ("api", "A capital idea", False),
    ("ci", "The CI is red", True),
    ("ci", "A special circle", False),
    ("C++", "C++ is compiled", True),
    ("C++", "C is compiled", False),
    ("C#", "C# and others", True),
    ("deploy.sh", "run ./deploy.sh first", True),
    ("./deploy.sh --previous", "roll back with deploy.sh --previous", True),
    ("GITHUB_TOKEN", "export GITHUB_TOKEN=...", True),
    ("src/app/main.py", "src/app/main.py holds the loop", True),
    ("404", "it answers 404", True),
    ("3.11", "Python 3.11 is the floor", True),
    ("résumé", "The resume lies in Drive", True),
    ("resume", "The résumé lies in Drive", True),
    ("re\u0301sume\u0301", "The résumé lies in Drive", True),
    ("résumé", "The re\u0301sume\u0301 lies in Drive", True),
    ("RÉSUMÉ", "The résumé lies in Drive", True),
    ("strasse", "Die Straße ist lang", True),
    ("STRASSE", "Die Straße ist lang", True),
    ("istanbul", "İstanbul’da ışık kapalı", True),
    ("Zoe", "Lunch at Café Zoë", True),
    ("o'brien", "O’Brien wrote it", True),
    ("ＡＰＩ", "The API is public", True),
    ("ﬁle", "a file of notes", True),
    ("部署", "我们用 deploy.sh 部署", True),
    ("怎么部署", "我们用 deploy.sh 部署", True),
    ("部署", "我们喝茶", False),
    ("火曜日", "デプロイは火曜日に行う", True),
    ("デプロイはいつ", "デプロイは火曜日に行う", True),
    ("ﾃﾞﾌﾟﾛｲ", "デプロイは火曜日に行う", True),
    ("が", "猫がいる", True),
    ("배포는 언제", "배포를 화요일에 합니다", True),
    ("한국어", "한국어로 답해 주세요", True),
    (unicodedata.normalize("NFD", "한국어"), "한국어로 답해 주세요", True),
    ("ชา", "ผู้ใช้ชอบชา", True),
    ("ชอบ", "ผู้ใช้ชอบชา", True),
    ("चाय", "उपयोगकर्ता को चाय पसंद है", True),
    ("उपयोगकर्ता", "उपयोगकर्ता को चाय पसंद है", True),
    ("الشاي", "المستخدم يفضل الشاي", True),
    ("المُسْتَخْدِم", "المستخدم يفضل الشاي", True),
    ("שלום", "שָׁלוֹם לכולם", True),
    ("чай", "Пользователь любит чай", True),
    ("ещё", "Еще раз", True),
    ("τσάι", "Ο χρήστης προτιμά ΤΣΑΙ", True),
    ("chúng tôi", "Chung toi deploy", True),
    ("🎉", "🎉 is how Ana says yes", True),
    ("🎉", "Ana says yes", False),
    ("🎉 yes", "Ana says yes", True),
    ("???", "What??? Really", False),
    ("the", "the what", True),
    ("what is the", "what is the time", True),
    ("tea", "coffee", False),
    ("steal", "tea", False),
]  # fmt: skip


@pytest.mark.parametrize(("query", "said", "finds"), FINDS, ids=[f"{row[0]}-{i}" for i, row in enumerate(FINDS)])
def test_a_question_finds_what_means_its_words(query, said, finds):
    for holder in (note("x", description=said), note("x", body=said), note("x", title=said), note("x", tags=(said,))):
        assert found([note("other"), holder], query) == (["x"] if finds else [])


ORDER = [
    ("deploy", [note("deploy", body="x"), note("other", body="We deploy on Mondays.")], "a heading says more than a text"),
    ("deploy release", [note("both", body="deploy a release"), note("one", body="deploy a thing")], "two words say more"),
    ("common rare", [note("z-rare", body="rare"), *(note(f"c{i}", body="common") for i in range(5))], "a rare word says more"),
    ("how to deploy", [note("deploy", body="x"), note("how-to", description="How to do what and why")], "a word that names"),
    ("deploy", [note("a", body="deploy"), note("b", body="deploy")], "else the name decides"),
]  # fmt: skip


@pytest.mark.parametrize(("query", "notes", "why"), ORDER, ids=[row[2] for row in ORDER])
def test_the_order_is_sensible(query, notes, why):
    first = notes[0].name
    assert found(notes, query)[0] == first
    assert found(notes[::-1], query)[0] == first
    scores = [placed.parts.sum for placed in answers(notes, query).placed]
    assert scores == sorted(scores, reverse=True)


@examples(60, 2000)
@hypothesis.given(
    st.lists(
        st.builds(note, st.sampled_from("abcdef"), texts(6), description=texts(4), tags=st.lists(texts(2)).map(tuple)),
        max_size=5, unique_by=lambda each: each.name,
    ),
    texts(6),
)  # fmt: skip
def test_every_hit_holds_a_word_of_the_query(notes, query):
    by_name = {each.name: each for each in notes}
    found = answers(notes, query)
    for placed in found.placed:
        assert placed.parts.sum > 0
        text = corpus.text_of(by_name[placed.found.key])
        assert placed.found.in_heading or placed.found.in_body
        for where, numbers in ((text.heading, placed.found.in_heading), (text.body, placed.found.in_body)):
            held = {term for language in LANGUAGES for term in analyze.analyzer(language).terms(where)}
            for number in numbers:
                assert held & set(found.words[number].terms)
    assert len(found.placed) == len({placed.found.key for placed in found.placed})


@examples(60, 2000)
@hypothesis.given(texts(10), st.integers(0, 3))
def test_what_a_note_says_finds_it(said, extra):
    """Any word of a note, asked for as it stands there, finds the note."""
    others = [note(f"other-{i}") for i in range(extra)]
    for chunk in analyze.chunks(said)[:5]:
        assert "holder" in found([note("holder", body=said), *others], chunk), chunk


@pytest.mark.promise
def test_no_question_fails_or_takes_long(memory, tally):
    memory.save("A fact about deploys, with a résumé and 部署")
    marks = "\u0591\u05c4" * 20_000
    for query in (
        "", " ", "\n", "\0", "\ud800", "\ud83c deploys", "x" * 1_000_000, "deploys " * 100_000, "(" * 10_000, "[a-", "\\", "*", "%_",
        '"; DROP TABLE notes; --', "' OR 1=1", "NEAR(a b)", "deploys AND", "deploys*", '"deploys', "^deploys", "-deploys",
        "a" * 5000 + "!", "(a+)+$", "\u202edeploys", "\x1b[2J", "é" * 100_000, "部" * 100_000, marks, "e" + marks, "\u0301" * 50_000,
        "ﷺ" * 4000, "🎉" * 5000, "\u200b", "-", "--", "--help", "0", "None", "{}", "\ufeff", "İ" * 3000, "ß" * 4000,
    ):  # fmt: skip
        with tally("R13", query[:20]):
            answer = memory.recall(query)
            assert answer.took_ms < 1000
            assert answer.more >= 0


@pytest.mark.promise
def test_no_note_makes_a_question_fail_or_take_long(memory, book, tally):
    marks = "\u0591\u05c4" * 10_000
    bodies = [
        marks,
        "e" + marks,
        "ﷺ" * 20_000,
        "İ" * 30_000,
        "x" * 65_000,
        "a-" * 30_000,
        "\u0301" * 30_000,
        "部" * 20_000,
        "\n" * 60_000,
    ]
    book.mkdir()
    for number, body in enumerate(bodies):
        (book / f"hard-{number}.md").write_text(body)
    (book / "easy.md").write_text("The zeppelin is here: résumé.")
    for query in ("zeppelin", "résumé", "x", "部署", "hard", "🎉", "a" * 100):
        with tally("R13", query):
            assert memory.recall(query, limit=50).took_ms < 1000
    assert memory.recall("zeppelin").hits[0].name == "easy"


# --- narrowing -------------------------------------------------------------------------------------------------

NARROWED = [
    ({}, ["a", "b", "c", "d", "e", "f"]),
    ({"kinds": ["user"]}, ["a"]),
    ({"kinds": [Kind.USER, "feedback"]}, ["a", "b"]),
    ({"kinds": ["preference"]}, ["a"]),
    ({"kinds": ["decision"]}, ["c"]),
    ({"kinds": ["DECISION"]}, ["c"]),
    ({"kinds": ["session"]}, ["d"]),
    ({"kinds": ["other"]}, ["e", "f"]),
    ({"kinds": ["wish"]}, ["e"]),
    ({"kinds": ["nonsense"]}, []),
    ({"kinds": [""]}, []),
    ({"kinds": "user"}, ["a"]),
    ({"tags": ["x"]}, ["a", "b"]),
    ({"tags": ["X"]}, ["a", "b"]),
    ({"tags": ["x", "y"]}, ["b"]),
    ({"tags": ["x", "z"]}, []),
    ({"tags": "y"}, ["b", "c"]),
    ({"since": date(2026, 5, 1)}, ["b", "c"]),
    ({"since": date(2026, 5, 2)}, ["c"]),
    ({"since": date.max}, []),
    ({"since": date.min}, ["a", "b", "c", "d"]),
    ({"kinds": ["user", "feedback"], "tags": ["x"], "since": date(2026, 5, 1)}, ["b"]),
]  # fmt: skip
FILES = {
    "a": "type: user\ntags: [x]\ncreated: 2026-04-01", "b": "type: feedback\ntags: [x, y]\nupdated: 2026-05-01",
    "c": "type: decision\ntags: [y]\ncreated: 2026-01-01\nupdated: 2026-05-02", "d": "type: session\ncreated: 2026-03-01",
    "e": "type: wish", "f": "note: nothing",
}  # fmt: skip


def test_kinds_tags_and_days_narrow_a_recall_and_a_list_alike(memory, book):
    book.mkdir()
    for name, header in FILES.items():
        (book / f"{name}.md").write_text(f"---\n{header}\n---\nThe zeppelin.\n")
    for given, names in NARROWED:
        assert sorted(hit.name for hit in memory.recall("zeppelin", limit=10, **given).hits) == names, given
        assert [each.name for each in memory.notes(**given).notes] == names, given


def test_a_limit_cuts_the_hits_and_more_counts_the_rest(memory):
    for number in range(7):
        memory.save(f"Zeppelin number {number}", name=f"z{number}")
    assert len(memory.recall("zeppelin").hits) == 5
    for limit, hits in ((0, 0), (1, 1), (6, 6), (7, 7), (8, 7), (10**12, 7), (-1, 0), (-(10**12), 0)):
        answer = memory.recall("zeppelin", limit=limit)
        assert (len(answer.hits), answer.more) == (hits, 7 - hits), limit
    best = [hit.name for hit in memory.recall("zeppelin", limit=7).hits]
    assert [hit.name for hit in memory.recall("zeppelin", limit=3).hits] == best[:3]


def test_a_hit_says_all_a_reader_needs(book):
    memory = open_memory(book, now=lambda: 1_778_846_400.0)
    memory.save("The zeppelin flies. " + "It is slow. " * 60, name="flight", tags=["air"], kind="decision")
    hit = memory.recall("zeppelin").hits[0]
    assert (hit.name, hit.title, hit.kind, hit.where, hit.age, hit.trust) == (
        "flight", "flight", Kind.PROJECT, memory.where, "today", "agent",
    )  # fmt: skip
    assert hit.description == "The zeppelin flies"
    assert hit.excerpt.startswith("The zeppelin flies. It is slow.")
    assert len(hit.excerpt) <= 300
    assert hit.excerpt.endswith("…")


AGES = [(0, "today"), (1, "1 day old"), (2, "2 days old"), (6, "6 days old"), (7, "1 week old"), (15, "2 weeks old"),
        (30, "1 month old"), (75, "2 months old"), (365, "1 year old"), (800, "2 years old"), (-3, "today")]  # fmt: skip


def test_an_age_is_said_in_the_largest_unit_that_fits():
    for days, words in AGES:
        assert age(date.fromordinal(TODAY.toordinal() - days), TODAY) == words
    assert age(None, TODAY) == "undated"


def test_nothing_asked_takes_every_note():
    asked = Asked.of((), (), None)
    assert asked.takes(note("x"))
    assert asked.takes(note("y", kind=Kind.OTHER, word="wish"))


# --- what was there before the call ----------------------------------------------------------------------------


def test_recall_sees_every_change_made_before_it_whoever_made_it(book):
    one, other = open_memory(book), open_memory(book)
    names = lambda memory: {hit.name for hit in memory.recall("zeppelin", limit=100).hits}  # noqa: E731
    assert names(one) == names(other) == set()
    for number in range(12):
        writer, reader = (one, other) if number % 2 else (other, one)
        writer.save(f"Zeppelin number {number}", name=f"z{number}")
        assert f"z{number}" in names(reader) & names(writer)
    (book / "z3.md").write_text("A balloon, by hand.\n")
    (book / "by-hand.md").write_text("A zeppelin, by hand.\n")
    (book / "z4.md").unlink()
    (book / "z5.md").rename(book / "renamed.md")
    expected = {f"z{number}" for number in range(12)} - {"z3", "z4", "z5"} | {"by-hand", "renamed"}
    assert names(one) == names(other) == expected
    other.forget("z6")
    one.save("A balloon now", name="z7", replace=True)
    assert names(one) == names(other) == expected - {"z6", "z7"}
