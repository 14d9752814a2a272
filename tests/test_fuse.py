"""One order out of all that speaks for a text: every part shown, corrections first, and nothing by chance."""

import random
from datetime import date, timedelta
from itertools import pairwise, permutations

import hypothesis
import pytest
from hypothesis import strategies as st
from tests.texts import examples

from commonplace import open_memory
from commonplace.index.sidecar import Sidecar
from commonplace.index.values import Standing
from commonplace.recall import fuse
from commonplace.recall.finder import Changes, Finder
from commonplace.recall.fuse import Parts, Placed, in_order
from commonplace.recall.lexical import Text, Weighed
from commonplace.store.base import trust_of

TODAY = date(2026, 5, 15)
PLAIN = Standing(trust=trust_of("agent"), pinned=False, day="2020-01-01", expired=False, corrected=(), uses=0)


def placed(key, words, **more):
    return Placed(Weighed(0, key, (), "", words, (), ()), Parts(words, **more))


def keys(texts):
    return [one.found.key for one in texts]


def ordered(texts, known):
    return fuse.standing(texts, known, TODAY)


# --- corrections -------------------------------------------------------------------------------------------------

NAMES = "abcdefgh"


def reached(known, name):
    """All that corrects a note, however many steps away."""
    out, waiting = set(), [name]
    for one in waiting:
        for newer in known[one].corrected:
            if newer in known and newer not in out:
                out.add(newer)
                waiting.append(newer)
    return out


@examples(400, 20000)
@hypothesis.given(
    st.dictionaries(st.sampled_from(NAMES), st.floats(0.0, 1.0), min_size=1),
    st.dictionaries(st.sampled_from(NAMES), st.lists(st.sampled_from(NAMES + "?"), max_size=3, unique=True)),
)
def test_a_correction_is_never_below_what_it_corrects(scores, correcting):
    """Over chains, circles and several corrections, those found and those that were not."""
    known = {
        name: PLAIN._replace(corrected=tuple(newer for newer in correcting.get(name, ()) if newer != name))
        for name in NAMES
    }
    order = keys(ordered([placed(name, score) for name, score in scores.items()], known))
    assert len(order) == len(set(order))
    assert set(scores) <= set(order)
    for name in scores:
        above = reached(known, name) & set(order)
        assert (
            above or not known[name].corrected or set(known[name].corrected) <= {"?"}
        )  # something that corrects it is shown
        if name not in reached(known, name):  # in a circle nobody is first
            assert all(order.index(newer) < order.index(name) for newer in above), (name, order)


def chain(*names, **more):
    """Each corrected by the next."""
    return {name: PLAIN._replace(corrected=(newer,) if newer else (), **more) for name, newer in pairwise([*names, ""])}


def test_what_corrects_a_note_stands_before_it_at_its_place():
    known = chain("old", "new") | {"other": PLAIN, "less": PLAIN}
    texts = [placed("other", 2.0), placed("old", 1.0), placed("less", 0.5), placed("new", 0.1)]
    assert keys(ordered(texts, known)) == ["other", "new", "old", "less"]


def test_a_correction_that_was_not_found_is_shown_with_what_it_corrects():
    (first, second) = ordered([placed("old", 1.0)], chain("old", "new"))
    assert (first.found.key, second.found.key) == ("new", "old")
    assert first.corrects == "old"
    assert "corrects old" in fuse.reasons(first, (), PLAIN)
    assert "corrected by new" in fuse.reasons(second, (), chain("old", "new")["old"])


def test_of_a_chain_that_was_not_found_only_its_end_is_shown():
    names = [f"n{number}" for number in range(5_000)]
    assert keys(ordered([placed("n0", 1.0)], chain(*names))) == ["n4999", "n0"]
    assert keys(ordered([placed("n0", 1.0), placed("n7", 0.1)], chain(*names))) == ["n4999", "n7", "n0"]
    assert keys(ordered([placed(name, 1.0) for name in names], chain(*names))) == names[::-1]


def test_a_circle_comes_to_an_end():
    known = chain("a", "b", "c") | {"c": PLAIN._replace(corrected=("a",))}
    for found in ("a", "ab", "abc", "ca"):
        order = keys(ordered([placed(name, 1.0) for name in found], known))
        assert set(found) <= set(order) <= set("abc")
    assert keys(ordered([placed("a", 1.0)], {"a": PLAIN._replace(corrected=("a",))})) == ["a"]


def test_what_is_no_note_any_more_is_left_out():
    assert keys(ordered([placed("gone", 2.0), placed("there", 1.0)], {"there": PLAIN})) == ["there"]
    assert keys(ordered([placed("old", 1.0)], {"old": PLAIN._replace(corrected=("gone",))})) == ["old"]


NOTES = {
    "first": ("We deploy by hand", ""), "second": ("Deploys run in the pipeline", "supersedes: [first]"),
    "third": ("Releases are cut by a robot", "supersedes: [second]"), "aside": ("We deploy on Tuesdays", ""),
}  # fmt: skip


def written(book, notes):
    book.mkdir(exist_ok=True)
    for name, (body, header) in notes.items():
        (book / f"{name}.md").write_text(f"---\n{header}\n---\n{body}\n" if header else f"{body}\n")
    return open_memory(book, now=lambda: 1_778_846_400.0)


def test_recall_shows_the_last_correction_before_all_it_corrects(book):
    memory = written(book, NOTES)
    hits = memory.recall("deploy by hand", limit=10)
    names = [hit.name for hit in hits]
    assert names.index("third") < names.index("second") < names.index("first")
    assert "corrected by second" in hits[names.index("first")].reasons
    for query in ("deploy", "releases", "by hand", "pipeline"):
        names = [hit.name for hit in memory.recall(query, limit=10)]
        chained = [name for name in names if name != "aside"]
        assert chained == [name for name in ("third", "second", "first") if name in chained], query


@pytest.mark.parametrize("written_as", ["user_prefs", "User Prefs", "user-prefs.md", "USER_PREFS"])
def test_a_correction_may_write_the_name_as_people_do(book, written_as):
    memory = written(book, {"user_prefs": ("Tea, please", ""), "newer": ("Coffee now", f"supersedes: [{written_as}]")})
    assert [hit.name for hit in memory.recall("tea")] == ["newer", "user_prefs"]
    lines = memory.listing().text
    assert lines.index("newer") < lines.index("user_prefs")


def test_what_has_expired_corrects_no_more(book):
    notes = {
        "always": ("We deploy from main", ""),
        "for-a-while": ("We deploy from next", "supersedes: [always]\nexpires: 2026-05-14"),
    }
    assert [hit.name for hit in written(book, notes).recall("deploy")] == ["always", "for-a-while"]
    notes["for-a-while"] = ("We deploy from next", "supersedes: [always]\nexpires: 2026-05-15")
    assert [hit.name for hit in written(book, notes).recall("deploy")] == ["for-a-while", "always"]


def test_of_several_corrections_the_newest_comes_first_and_all_before_what_they_correct(book):
    memory = written(book, {
        "old": ("The port of the deploy is 80", "created: 2026-01-01"),
        "one": ("It moved to another port", "supersedes: [old]\ncreated: 2026-02-01"),
        "two": ("Nothing of that", "supersedes: [old]\ncreated: 2026-03-01"),
    })  # fmt: skip
    assert [hit.name for hit in memory.recall("port of the deploy")] == ["two", "one", "old"]
    assert "corrected by two" in memory.recall("deploy")[-1].reasons


def test_what_is_asked_for_by_kind_or_tag_is_not_widened_by_a_correction(book):
    memory = written(book, {
        "old": ("We deploy by hand", "type: feedback\ntags: [ops]\ncreated: 2026-05-01"),
        "new": ("A robot does it", "type: project\nsupersedes: [old]\ncreated: 2026-05-02"),
    })  # fmt: skip
    assert [hit.name for hit in memory.recall("deploy")] == ["new", "old"]
    assert [hit.name for hit in memory.recall("deploy", kinds=["feedback"])] == ["old"]
    assert [hit.name for hit in memory.recall("deploy", tags=["ops"])] == ["old"]
    assert [hit.name for hit in memory.recall("deploy", since=date(2026, 5, 1))] == ["new", "old"]
    assert "corrected by new" in memory.recall("deploy", kinds=["feedback"])[0].reasons


# --- sums --------------------------------------------------------------------------------------------------------

STANDINGS = st.builds(
    Standing, st.sampled_from([trust_of(origin) for origin in ("person", "hand", "agent", "external:web", "nobody")]), st.booleans(),
    st.one_of(st.just(""), st.dates(date(1, 1, 1), date(9999, 12, 31)).map(date.isoformat)), st.booleans(), st.just(()), st.integers(0, 10**6),
)  # fmt: skip
TEXTS = st.lists(
    st.builds(placed, st.sampled_from(NAMES), st.floats(0, 1), meaning=st.floats(-1, 1), company=st.floats(0, 0.5), date=st.sampled_from([0.0, 0.3])),
    max_size=6, unique_by=lambda one: one.found.key,
)  # fmt: skip


@examples(300, 10000)
@hypothesis.given(TEXTS, st.fixed_dictionaries(dict.fromkeys(NAMES, STANDINGS)), st.randoms())
def test_a_score_is_the_sum_of_its_parts_and_decides(texts, known, rng):
    order = ordered(texts, known)
    assert [one.parts.sum for one in order] == sorted((one.parts.sum for one in order), reverse=True)
    for one in order:
        assert one.parts.sum == pytest.approx(sum(one.parts))
        (before,) = (text for text in texts if text.found.key == one.found.key)
        assert one.parts._replace(standing=0.0) == before.parts
    shuffled = list(texts)
    rng.shuffle(shuffled)
    assert ordered(shuffled, known) == order


def test_a_hit_shows_every_part_of_its_score(book):
    memory = written(book, NOTES)
    memory.used("aside")
    for query in ("deploy by hand on tuesdays", "releases"):
        for hit in memory.recall(query, limit=10):
            assert hit.score == pytest.approx(sum(worth for _, worth in hit.parts), abs=0.003)
            assert {part for part, _ in hit.parts} <= set(Parts._fields)


# --- what counts whatever a note says ----------------------------------------------------------------------------

# What counts, for or against, and at most how much.
COUNTS = {
    "pinned": ({"pinned": True}, 0.03),
    "new": ({"day": "2026-05-15"}, 0.03),
    "read once": ({"uses": 1}, 0.01),
    "read often": ({"uses": 7}, 0.03),
    "read all the time": ({"uses": 10**9}, 0.03),
    "all of these": ({"pinned": True, "day": "2026-05-15", "uses": 7}, 0.09),
    "of a person": ({"trust": trust_of("person")}, 0.0),
    "expired": ({"expired": True}, -0.5),
    "corrected": ({"corrected": ("nobody",)}, -0.3),
    "from outside": ({"trust": trust_of("external:web")}, -0.2),
    "from the future": ({"day": "2030-01-01"}, 0.03),
    "of a quarter ago": ({"day": "2026-02-14"}, 0.015),
}  # fmt: skip


@pytest.mark.parametrize("what", COUNTS)
def test_what_counts_decides_between_equals_and_moves_nothing_further(what):
    changed, worth = COUNTS[what]
    known = {"it": PLAIN._replace(**changed), "other": PLAIN}
    for gap in (-0.6, -0.1, -0.04, 0.0, 0.04, 0.1, 0.6):
        order = keys(ordered([placed("it", 1.0), placed("other", 1.0 + gap)], known))
        slack = 0.001  # an old note is not quite of no age
        if worth - gap > slack:
            assert order == ["it", "other"], gap
        if worth - gap < -slack:
            assert order == ["other", "it"], gap


def test_a_note_counts_as_new_less_and_less():
    days = [TODAY - timedelta(days=ago) for ago in (0, 1, 10, 90, 400, 4000)]
    known = {f"n{number}": PLAIN._replace(day=day.isoformat()) for number, day in enumerate(days)}
    known["undated"] = PLAIN._replace(day="")
    texts = [placed(name, 1.0) for name in reversed(known)]
    assert keys(ordered(texts, known))[: len(days) - 1] == [f"n{number}" for number in range(len(days) - 1)]
    assert ordered(texts, known)[-1].parts.standing >= 0


# --- company -----------------------------------------------------------------------------------------------------


class Fixed:
    """A corpus of these texts, handed over once."""

    def __init__(self, texts):
        self.texts = list(texts)

    def waits(self, db):
        return bool(self.texts)

    def changes(self, db, most):
        some, self.texts = self.texts[:most], self.texts[most:]
        return Changes(tuple(some), ())

    def begin_again(self, db): ...


def find(texts, query):
    return Finder(Sidecar(None), Fixed(texts)).find(query, TODAY).placed


def reasons(texts, query):
    """What each text found owes its place to, but for the words it holds."""
    answers = Finder(Sidecar(None), Fixed(texts)).find(query, TODAY)
    every = {one.found.key: fuse.reasons(one, answers.words, None) for one in answers.placed}
    return {key: [reason for reason in said if " in its " not in reason] for key, said in every.items()}


def said(key, body, *clusters, day=""):
    return Text(key, "", body, clusters, day)


def test_texts_of_one_session_help_each_other():
    texts = [
        said("alone", "the rollback of the database"),
        said("one", "the rollback of the database", "session 1"), said("two", "the migration of the database", "session 1"),
        said("three", "the lunch of the team", "session 2"), said("four", "the desk of Ana", "session 2"),
    ]  # fmt: skip
    query = "rollback migration database"
    company = {one.found.key: one.parts.company for one in find(texts, query)}
    assert keys(find(texts, query)) == ["two", "one", "alone"]
    assert company["one"] == company["two"] > company["alone"]
    together = ["and others of session 1"]
    assert reasons(texts, query) == {"one": together, "two": together, "alone": []}


def test_a_cluster_of_one_is_no_company():
    lone = find([said("a", "rollback", "session 1"), said("b", "rollback")], "rollback")
    assert len({one.parts for one in lone}) == 1
    assert [one.cluster for one in lone] == ["a", "b"]


def test_the_day_a_query_speaks_of_counts():
    texts = [
        said("a", "the rollback", day="2026-04-01"),
        said("b", "the rollback", day="2026-05-14"),
        said("c", "the rollback"),
    ]
    assert keys(find(texts, "the rollback of yesterday"))[0] == "b"
    assert reasons(texts, "the rollback of yesterday") == {"b": ["from yesterday"], "a": [], "c": []}
    assert find(texts, "the rollback")[0].parts.date == 0


WORDS = "deploy rollback staging server release branch".split()


@examples(60, 2000)
@hypothesis.given(st.integers(0, 10**9), st.integers(0, 9))
def test_the_order_is_the_same_whatever_order_texts_came_in(seed, count):
    rng = random.Random(seed)
    texts = [
        said(f"n{number}", " ".join(rng.choices(WORDS, k=rng.randint(1, 6))), *rng.sample(["session 1", "session 2", "tag x", "tag y"], rng.randint(0, 2)),
             day=rng.choice(["", "2026-05-14"]))
        for number in range(count)
    ]  # fmt: skip
    query = " ".join([*rng.choices(WORDS, k=3), rng.choice(["", "yesterday"])])
    plain = lambda order: [(one.found.key, one.parts, one.cluster) for one in order]  # noqa: E731
    expected = plain(find(texts, query))
    rng.shuffle(texts)
    assert plain(find(texts, query)) == expected


def test_equals_stand_by_name():
    for texts in permutations([placed("a", 1.0), placed("b", 1.0), placed("c", 1.0)]):
        assert keys(in_order(texts)) == ["a", "b", "c"]


# --- meaning -----------------------------------------------------------------------------------------------------


def with_id(key, words, number):
    return Placed(Weighed(number, key, (), "", words, (), ()), Parts(words))


def test_what_is_close_in_meaning_rises_and_what_is_not_known_is_taken_for_the_average():
    texts = [with_id("far", 1.0, 1), with_id("near", 0.9, 2), with_id("unknown", 0.9, 3)]
    order = fuse.meaning(texts, {1: 0.0, 2: 0.8})
    assert keys(order) == ["near", "unknown", "far"]
    assert order[1].parts.meaning == pytest.approx((order[0].parts.meaning + order[2].parts.meaning) / 2)
    assert "close in meaning (0.80)" in fuse.reasons(order[0], (), None)
    assert fuse.meaning(texts, {}) == texts


def test_a_correction_whose_claims_do_not_hold_still_stands_before_what_it_corrects(book, tmp_path):
    workspace = tmp_path / "work"
    (workspace / "scripts").mkdir(parents=True)
    (workspace / "scripts" / "old.sh").write_text("exit 0\n")
    memory = written(book, {
        "old": ("Run `scripts/old.sh` to deploy", "created: 2026-05-01"),
        "new": ("It is `scripts/new.sh` now", "supersedes: [old]\ncreated: 2026-05-02"),
        "other": ("Deploy with `scripts/gone.sh`, deploy it again", "created: 2026-05-01"),
    })  # fmt: skip
    hits = memory.recall("deploy", workspace=str(workspace))
    names = [hit.name for hit in hits]
    assert hits[names.index("new")].broken
    assert names.index("new") < names.index("old")


def test_a_reason_names_what_a_text_holds_and_not_what_was_typed_around_it(book):
    memory = written(book, {"a": ("Deploy with care, by `deploy-prod.sh`.", ""), "b": ("Staging is a copy.", "")})
    said = lambda query: {hit.name: [r for r in hit.reasons if " in its " in r] for hit in memory.recall(query)}  # noqa: E731
    assert said("deployStaging") == {"a": ["deploy in its text"], "b": ["staging in its text"]}
    assert said("deployProd.sh") == {"a": ["deployProd.sh in its text"]}
    assert said("src/app/staging_copy.py") == {"b": ["staging in its text", "copy in its text"]}
