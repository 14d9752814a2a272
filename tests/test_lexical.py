"""Words find texts: the counts are those of an index made afresh, the weights are BM25's, and a slip of the finger is read."""

import random
from collections import Counter
from math import isclose, log

import hypothesis
import pytest
from hypothesis import strategies as st
from tests.test_recall import found, note
from tests.texts import examples, texts

from commonplace.index.sidecar import Sidecar
from commonplace.recall import near
from commonplace.recall.analyze import analyzer, asked, chunks, language_of
from commonplace.recall.lexical import MOST_WORDS, POOL, Fts5, Text
from commonplace.recall.near import distance, nearest

ENGINE = Fts5()


class Index:
    """Texts made findable in tables of their own."""

    def __init__(self, *texts):
        self.side = Sidecar(None)
        if texts:
            self.put(*texts)

    def put(self, *texts):
        self.side.run(lambda db: ENGINE.put(db, texts), write=True)
        return self

    def take_out(self, *keys):
        self.side.run(lambda db: ENGINE.take_out(db, keys), write=True)

    def find(self, query, among=None, languages=None):
        languages = languages or self.side.run(ENGINE.languages)
        return self.side.run(lambda db: ENGINE.find(db, asked(query, languages), among, POOL))

    def keys(self, query, **more):
        return [one.key for one in self.find(query, **more).best]

    def rows(self, query):
        return self.side.run(lambda db: db.execute(query).fetchall())

    def dump(self):
        """All that is kept, without the numbers rows happen to have."""
        self.side.run(lambda db: db.execute("INSERT INTO words (words) VALUES ('integrity-check')"))
        words = self.rows(
            "SELECT key, clusters, day, size, language, mark, heading, body FROM texts JOIN words ON words.rowid = id"
        )
        held = "CREATE VIRTUAL TABLE IF NOT EXISTS temp.held USING fts5vocab(main, words, row)"
        self.side.run(lambda db: db.execute(held))
        return {
            "vocabulary": sorted(self.rows("SELECT term, texts FROM vocabulary")),
            "spoken": sorted(self.rows("SELECT * FROM spoken WHERE texts != 0 OR terms != 0")),
            "texts": sorted(words),
            "rows": (
                len(words),
                *self.rows("SELECT count(*) FROM words")[0],
                *self.rows("SELECT count(*) FROM texts")[0],
            ),
            "engine": sorted(self.rows("SELECT term, doc, cnt FROM temp.held")),
        }


def line(key, body="", heading="", **more):
    return Text(key, heading, body, **more)


# --- what is kept ------------------------------------------------------------------------------------------------

KEYS = st.sampled_from(["a", "b", "c", "page.md#1", "日"])
SAID = st.one_of(
    texts(5),
    st.sampled_from(
        ["deploy deploy", "the rollback of the deploy", "Wir haben das nicht, weil es so ist.", "部署 deploy.sh", ""]
    ),
)
CLUSTERS = st.lists(
    st.one_of(st.sampled_from(["session 1", "tag x", "tag y", "page a\nb", "tag a\x0bb", "", " "]), texts(2)),
    max_size=3,
).map(tuple)
TEXTS = st.builds(Text, KEYS, SAID, SAID, CLUSTERS, st.sampled_from(["", "2026-05-15"]))
STEPS = st.lists(st.one_of(st.lists(TEXTS, max_size=4), st.lists(KEYS, max_size=3).map(frozenset)), max_size=8)


@examples(120, 4000)
@hypothesis.given(STEPS)
def test_the_counts_are_those_of_an_index_made_afresh(steps):
    index, there = Index(), {}
    for step in steps:
        if isinstance(step, frozenset):
            index.take_out(*sorted(step))
            there = {key: text for key, text in there.items() if key not in step}
        else:
            index.put(*step)
            there |= {text.key: text for text in step}
    assert index.dump() == Index(*there.values()).dump()


def test_what_is_taken_out_leaves_nothing():
    index = Index(line("a", "the zeppelin", "Flight", clusters=("tag air\x0bship", "page a\nb", "session 1")))
    index.put(line("a", "the balloon", clusters=("tag x",)), line("a", "the kite"))
    index.take_out("a", "a", "nobody")
    assert index.dump() == Index().dump()
    assert index.rows("SELECT texts, terms FROM spoken") == [(0, 0)]


def test_putting_a_text_again_as_it_was_changes_nothing():
    texts = [line(key, f"a fact of {key}", "facts", clusters=("tag x",)) for key in "abc"]
    index = Index(*texts)
    before = index.dump()
    for _ in range(3):
        index.put(*texts)
        index.put(texts[1], texts[1])
    assert index.dump() == before


# --- what words weigh --------------------------------------------------------------------------------------------


def naive(texts, query):
    """BM25 as it is written in books: no pool, no tables, a heading's word counted as two of the text's."""
    docs = {}
    for text in texts:
        terms = analyzer(language_of((*chunks(text.heading), *chunks(text.body)))).terms
        docs[text.key] = (set(terms(text.heading)), terms(text.body))
    sizes = {key: len(above) + len(below) for key, (above, below) in docs.items()}
    mean = max(sum(sizes.values()) / len(docs), 1.0)
    scores = Counter()
    for word in query:
        holding = max(sum(term in above or term in below for above, below in docs.values()) for term in word.terms)
        rarity = log(1 + (len(docs) - holding + 0.5) / (holding + 0.5))
        for key, (above, below) in docs.items():
            often = sum(map(below.count, word.terms)) + 2 * any(term in above for term in word.terms)
            if often:
                scores[key] += rarity * often * 2.2 / (often + 1.2 * (0.25 + 0.75 * sizes[key] / mean))
    return scores


WORDS = "deploy rollback staging server release branch token secret cache index flag timeout queue worker".split()


@examples(60, 2000)
@hypothesis.given(st.integers(0, 10**9), st.integers(1, 40))
def test_weights_are_those_of_bm25(seed, count):
    rng = random.Random(seed)
    some = [
        line(
            f"n{number:03}",
            " ".join(rng.choices(WORDS, k=rng.randint(0, 40))),
            " ".join(rng.choices(WORDS, k=rng.randint(0, 4))),
        )
        for number in range(count)
    ]
    query = " ".join(rng.choices(WORDS, k=rng.randint(1, 10)))
    matches = Index(*some).find(query)
    expected = naive(some, matches.words)
    assert {one.key for one in matches.best} == set(expected)
    for one in matches.best:
        assert isclose(one.score, expected[one.key], rel_tol=1e-9)
    assert [one.key for one in matches.best] == sorted(expected, key=lambda key: (-round(expected[key], 9), key)) or [
        one.score for one in matches.best
    ] == sorted((one.score for one in matches.best), reverse=True)


GERMAN = "Wir {} das nicht, weil die {} so ist."


def test_weights_are_bm25s_in_two_languages_too():
    some = [
        line(f"g{n}", GERMAN.format(word, WORDS[n]))
        for n, word in enumerate(("testen", "teste", "Versionen", "Version"))
    ]
    some += [line(f"e{n}", f"We have the {word} of it") for n, word in enumerate(("test", "version", "Versionen"))]
    index = Index(*some)
    for query in ("Versionen", "version", "testen", "tests", "test version"):
        matches = index.find(query)
        expected = naive(some, matches.words)
        assert {one.key: round(one.score, 9) for one in matches.best} == {
            key: round(is_, 9) for key, is_ in expected.items()
        }


def test_what_nothing_holds_weighs_most_in_what_is_asked():
    index = Index(line("a", "deploy"), line("b", "deploy staging"))
    matches = index.find("deploy zeppelinical")
    assert matches.asked > 2 * sum(matches.weights)
    assert isclose(index.find("deploy").asked, sum(index.find("deploy").weights))
    assert index.find("zeppelinical").best == []


def test_a_word_typed_twice_in_two_ways_weighs_once():
    index = Index(line("a", "deploy"), line("b", "staging deploy"))
    once = index.find("deploy").best
    for query in ("deploy deploy", "Deploys deploying", "deplyo deploy", "Deploys deplyo"):
        assert [(one.key, one.score) for one in index.find(query).best] == [(one.key, one.score) for one in once], query


def test_the_rarest_dozen_words_of_a_long_query_are_asked():
    rare = [f"rareword{chr(97 + n)}" for n in range(MOST_WORDS)]
    common = [f"common{chr(97 + n)}" for n in range(14)]
    some = [line(f"c{n}", " ".join(common)) for n in range(20)] + [line(word, word) for word in rare]
    index = Index(*some)
    query = " ".join([*common, *rare, *common])
    assert {word.shown for word in index.find(query).words} == set(rare)
    assert set(index.keys(query)) == set(rare)
    assert len(index.find(" ".join(common)).words) == MOST_WORDS


def test_of_pairs_of_characters_twice_as_many_are_asked():
    said = "".join(map(chr, range(0x4E00, 0x4E00 + 60)))
    index = Index(line("a", said), line("b", said[::-1]))
    assert len(index.find(said).words) == 2 * MOST_WORDS


def test_a_single_character_finds_every_text_it_stands_in():
    notes = [
        note("begins", body="火曜日"), note("inside", body="毎週火曜日に"), note("ends", body="花火"), note("alone", body="火"),
    ]  # fmt: skip
    assert set(found(notes, "火")) == {"begins", "inside", "ends", "alone"}
    assert found(notes, "花") == ["ends"]
    assert found(notes, "水") == []


def test_a_single_letter_is_a_word_and_no_beginning():
    index = Index(line("a", "Plan B is ready"), line("b", "Bread and butter"))
    assert index.keys("b") == ["a"]
    assert index.keys("r") == index.keys("3") == []
    assert index.find("option c").best == []


def test_a_stack_trace_finds_the_note_that_quotes_its_rare_line():
    rng = random.Random(3)
    frames = [
        f'  File "/srv/app/{word}/{other}.py", line {rng.randrange(900)}, in {word}_{other}\n    return {word}({other})'
        for word in WORDS
        for other in WORDS
    ]
    trace = (
        "Traceback (most recent call last):\n"
        + "\n".join(frames)
        + "\nsqlite3.OperationalError: attempt to write a readonly database\n"
    )
    some = [
        line(f"n{n}", f"The {' '.join(rng.choices(WORDS, k=9))} returns in line {n} of the file app.py")
        for n in range(300)
    ]
    some += [
        line(
            "quoting", "`attempt to write a readonly database` means that the volume is mounted read-only; remount it."
        )
    ]
    assert len(trace) > 10_000
    assert Index(*some).keys(trace)[0] == "quoting"


def test_a_query_asks_no_more_than_its_beginning_holds():
    index = Index(line("a", "zeppelin"))
    assert index.keys("filler " * 2_000 + "zeppelin") == ["a"]
    assert index.keys("filler " * 200_000 + "zeppelin") == []


# --- who may be found --------------------------------------------------------------------------------------------


def test_among_names_those_that_may_be_found_however_many_others_are_better():
    index = Index(*(line(f"n{number:03}", "deploy " * (number % 7 + 1)) for number in range(POOL + 60)))
    assert len(index.keys("deploy")) == POOL
    for among in (
        {"n000"},
        {"n000", f"n{POOL + 59:03}"},
        {"n007", "nobody"},
        {f"n{number:03}" for number in range(POOL + 50)},
        set(),
    ):
        assert (
            set(index.keys("deploy", among=among)) == among - {"nobody"}
            or len(index.keys("deploy", among=among)) == POOL
        )
    whole = {one.key: one.score for one in index.find("deploy").best}
    some = {one.key: one.score for one in index.find("deploy", among=set(list(whole)[:9])).best}
    assert some == {key: whole[key] for key in some}
    assert len(some) == 9


@examples(40, 1000)
@hypothesis.given(st.lists(TEXTS, max_size=6, unique_by=lambda text: text.key), st.frozensets(KEYS), texts(4))
def test_among_changes_nothing_but_who_is_found(some, among, query):
    index = Index(*some)
    every = [(one.key, one.score) for one in index.find(query).best]
    assert [(one.key, one.score) for one in index.find(query, among=among).best] == [
        one for one in every if one[0] in among
    ]


# --- slips of the finger -----------------------------------------------------------------------------------------

KNOWN = (
    "deploy",
    "staging",
    "rollback",
    "kubernetes",
    "password",
    "zeppelin",
    "throughput",
    "orchestrator",
    "quorum",
    "checksum",
    "jitter",
    "webhook",
)


def slips(word):
    """A word with one letter wrong, missing, doubled, or swapped with the next."""
    for at, letter in enumerate(word):
        for other in "qxz":
            yield word[:at] + other + word[at + 1 :]
        yield word[:at] + word[at + 1 :]
        yield word[:at] + letter + word[at:]
        yield word[:at] + word[at + 1 : at + 2] + letter + word[at + 2 :]


@pytest.mark.parametrize("word", KNOWN)
def test_a_word_mistyped_anywhere_is_read_as_the_one_that_was_meant(word):
    index = Index(*(line(known, f"All about the {known} of ours") for known in KNOWN))
    stem = analyzer("english").stem
    for typed in slips(word):
        if stem(typed) in map(stem, KNOWN):
            continue
        matches = index.find(typed)
        assert [one.key for one in matches.best] == [word], typed
        assert [(was, stem(read)) for was, read in matches.guessed] == [(typed, stem(word))], typed


@pytest.mark.parametrize(
    ("said", "typed"),
    [
        ("Развёртывание по вторникам", "рпзвёртывание"),
        ("Ανάπτυξη κάθε Τρίτη", "ανάπτιξη"),
        ("Veröffentlichung", "Veröfentlichung"),
        ("größe", "grösze"),
    ],
)
def test_a_word_with_other_letters_is_guessed_too(said, typed):
    matches = Index(line("a", said), line("b", "tea")).find(typed)
    assert [one.key for one in matches.best] == ["a"]
    assert [one[0] for one in matches.guessed] == [typed]


@pytest.mark.parametrize("said", ["staging stagnig", "staging", "stagin staging"])
def test_a_word_somebody_holds_is_never_corrected(said):
    index = Index(*(line(word, f"many {word} things") for word in said.split()), line("more", "staging staging"))
    for word in said.split():
        matches = index.find(word)
        assert matches.guessed == ()
        assert {one.key for one in matches.best} == {word, *(["more"] if word == "staging" else [])}


def test_what_is_no_word_is_not_guessed():
    index = Index(line("a", "v1.2.3 is deploy-prod4 of err_404 and abc1234"), line("b", "cat keys 火曜日"))
    for query in ("v1.2.4", "1.2.4", "405", "bat", "月曜日", "abc1235"):
        assert index.find(query).guessed == (), query
    assert index.keys("cot") == []


def test_the_nearest_word_is_meant_and_of_those_the_commonest():
    index = Index(
        line("a", "the boat"), line("b", "the goat"), line("c", "the goat"), line("d", "the coating of a moat")
    )
    assert index.find("voat").guessed == (("voat", "goat"),)
    assert nearest("staxing", {"staging": 1, "staring": 2}) == "staring"
    assert nearest("deplo", {"deploy": 1, "deploying": 50}) == "deploy"
    assert nearest("deploymnet", {"deploy": 90, "deployment": 1}) == "deployment"
    assert nearest("cat", {"dog": 5}) == ""
    assert nearest("cat", {}) == ""


def test_two_slips_in_a_long_word_are_read_too():
    index = Index(line("a", "Kubernetes"), line("b", "the orchestrator"))
    assert index.keys("kubrenets") == ["a"]
    assert index.keys("orchestraror") == ["b"]
    assert index.keys("qubxrnetes") == []


def test_of_a_pasted_text_only_so_many_words_are_guessed():
    index = Index(line("a", "staging"))
    unknown = [f"{chr(97 + n // 26)}{chr(97 + n % 26)}qqqqq" for n in range(40)]
    assert index.find(" ".join([*unknown[:3], "stagnig"])).guessed == (("stagnig", "staging"),)
    assert index.find(" ".join([*unknown, "stagnig"])).guessed == ()


def plain_distance(one, other):
    """The number of letters to put in, take out, change or swap, as the textbook has it."""
    rows = [[max(i, j) if not (i and j) else 0 for j in range(len(other) + 1)] for i in range(len(one) + 1)]
    for i in range(1, len(one) + 1):
        for j in range(1, len(other) + 1):
            rows[i][j] = min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + (one[i - 1] != other[j - 1]))
            if i > 1 and j > 1 and one[i - 1] == other[j - 2] and one[i - 2] == other[j - 1]:
                rows[i][j] = min(rows[i][j], rows[i - 2][j - 2] + 1)
    return rows[-1][-1]


@examples(300, 20000)
@hypothesis.given(st.text("abc", max_size=7), st.text("abc", max_size=7), st.integers(0, 3))
def test_a_distance_is_counted_as_far_as_it_matters(one, other, most):
    real = plain_distance(one, other)
    assert min(distance(one, other, most), most + 1) == min(real, most + 1)


@examples(25, 2000)
@hypothesis.given(st.from_regex(r"[a-zа-я]{2,9}", fullmatch=True), st.data())
def test_every_slip_is_one_slip_away_and_none_is_forgotten(word, data):
    every = set(near.slips(word))
    assert all(plain_distance(word, slip) <= 1 for slip in data.draw(st.permutations(sorted(every)))[:20])
    assert every >= set(slips(word)) - {word}
