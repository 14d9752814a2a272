"""Meaning by words: near where texts are of one thing, zero where nothing is known, and never a wrong answer from a damaged table."""

import gc
import json
import math
import os
import shutil
import subprocess
import sys
import time
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.errors import BadWords, CommonplaceError
from commonplace.recall.semantic import LENGTH, TABLE, StaticWords, closeness, words

# A question, the note that answers it, and notes that share as few words with the question.
ANSWERS = (
    ("how do I cut a release", "we deploy with ./deploy.sh, which refuses a dirty tree", ("Ana has two cats and a parrot", "the kitchen tap leaks again")),
    ("what does she do for a living", "Priya is a nurse at the children's hospital", ("the pull request was merged on Friday", "Priya had soup and bread")),
    ("any food he cannot eat", "Tom is allergic to peanuts", ("Tom drives an old red van", "the build takes nine minutes")),
    ("where did they go on holiday", "Last summer the family flew to Greece and swam in the sea", ("Print the invoice on thick paper", "She is learning the violin")),
    ("which pets do we have", "our kitten is called Miso", ("our router is called Miso", "the tax office wrote a letter")),
    ("how is his health", "Dad broke his leg and is at the hospital", ("Dad sold the bookshelf", "the certificate expires in May")),
    ("what music does he like", "Leo plays jazz records all evening", ("Leo filed a bug about the login page", "Leo bought a lawnmower")),
    ("why is the website slow", "a missing index made every database query take seconds", ("the office has a new coffee machine", "we celebrate her birthday in June")),
    ("who can reset my password", "ask Ines for new credentials to the account", ("ask Ines for her lasagne recipe", "the train leaves at noon")),
    ("code style preferences", "use four spaces for indentation and keep lines short", ("grandmother's house has four rooms", "the concert was sold out")),
    ("tests fail at random", "the integration suite is flaky because of a race condition", ("the museum is closed on Mondays", "rent is due on the first")),
    ("is anyone getting married", "the wedding of Sara and Jonas is in September", ("the server of Sara and Jonas is in Frankfurt", "buy printer paper")),
    ("what sport does she do", "Mia trains for a marathon", ("Mia trains a language model", "the roof needs repair")),
    ("money problems", "I am in debt and cannot pay the mortgage", ("I am in Rome and cannot find the hotel", "two reviewers for each change")),
    ("what are her plans for college", "Nadia wants to study chemistry at the university", ("Nadia wants to repaint the fence", "logs are kept for thirty days")),
    ("how did the interview make you feel", "I was so nervous and anxious before talking to them", ("I was at the station before noon", "the cache is cleared at night")),
)  # fmt: skip
ELSEWHERE = (
    "我们每周二部署到生产环境",
    "デプロイは火曜日に行う",
    "Мы деплоим по вторникам",
    "نجتمع كل يوم اثنين",
    "हम मंगलवार को मिलते हैं",
    "ทีมประชุมทุกวันจันทร์",
    "🎉🎊",
    "---",
    "",
    " \n\t",
)
# English words stand in these too, and mean something else.
OTHER_LANGUAGES = (
    "Wir deployen dienstags mit deploy.sh, nie von Hand, und der Baum muss sauber sein",
    "Nous déployons le mardi avec deploy.sh et jamais à la main, car la branche doit être propre",
    "De databank staat sinds gisteren weer aan en alle reservekopieën worden elke nacht gemaakt",
)
IN_TERMS = (
    "kubectl rollout restart deploy/web-api -n prod-eu1 after changing the configmap",
    "CI uses uv sync --frozen; ruff, mypy and pytest -n auto run in GH Actions on ubuntu-22.04",
    "PYTHONPATH=src python -m pytest -q tests/test_sidecar.py runs one file against the source",
)
A_NOTE = "We deploy with ./deploy.sh, which refuses a dirty tree; commit or stash before any release work. "


@pytest.fixture(scope="module")
def table():
    opened = StaticWords()
    yield opened
    opened.close()


def signed(vector):
    return memoryview(vector).cast("b").tolist()


def length(vector):
    return math.sqrt(sum(v * v for v in signed(vector)))


@pytest.mark.parametrize(("question", "answer", "others"), ANSWERS)
def test_a_question_is_nearest_to_the_note_that_answers_it(table, question, answer, others):
    asked, *notes = table.vectors([question, answer, *others])
    near, *far = closeness(asked, notes)
    assert near > max(far)
    assert near > 0.1


def test_across_all_questions_the_answer_is_mostly_the_nearest_of_all_notes(table):
    answers = [answer for _, answer, _ in ANSWERS]
    kept = table.vectors(answers)
    first = 0
    for question, answer, _ in ANSWERS:
        scores = closeness(table.vectors([question])[0], kept)
        first += answers[scores.index(max(scores))] == answer
    assert first >= 12, f"{first} of {len(ANSWERS)}"


def test_a_vector_has_length_127_and_as_many_bytes_as_the_table_says(table):
    for vector in table.vectors([text for row in ANSWERS for text in row[:2]]):
        assert len(vector) == table.size
        assert abs(length(vector) - LENGTH) < 2


def test_a_text_is_nearest_to_itself(table):
    kept = table.vectors([answer for _, answer, _ in ANSWERS])
    for at, vector in enumerate(kept):
        scores = closeness(vector, kept)
        assert scores[at] == max(scores) > 0.98


@pytest.mark.parametrize("text", ELSEWHERE)
def test_what_holds_no_english_word_is_all_zeros_and_near_to_nothing(table, text):
    vector, note = table.vectors([text, A_NOTE])
    assert vector == bytes(table.size)
    assert closeness(vector, [note, vector]) == [0.0, 0.0]
    assert closeness(note, [vector]) == [0.0]


@pytest.mark.parametrize("text", OTHER_LANGUAGES)
def test_a_text_of_another_language_is_all_zeros_though_some_of_its_words_are_english(table, text):
    assert table.vectors([text]) == [bytes(table.size)]


@pytest.mark.parametrize("text", IN_TERMS)
def test_a_note_full_of_commands_is_english_still(table, text):
    assert any(table.vectors([text])[0])


def test_the_key_says_which_table_and_how_many_columns(table):
    name, size = table.key.split("/")
    assert name.startswith("words-")
    assert int(size) == table.size == 128


def test_an_unknown_word_changes_nothing(table):
    without, *others = table.vectors(
        ["deploy the website", "deploy zxqvkjw the website", f"deploy the website {'ab' * 5000}"]
    )
    assert others == [without, without]


@given(st.permutations(A_NOTE.split()))
def test_the_order_of_words_does_not_matter(order):
    opened = StaticWords()
    try:
        assert opened.vectors([" ".join(order)]) == opened.vectors([A_NOTE])
    finally:
        opened.close()


@given(st.text(max_size=300))
def test_any_text_has_a_vector_that_is_of_unit_length_or_zero(text):
    opened = StaticWords()
    try:
        (vector,) = opened.vectors([text])
        assert len(vector) == opened.size
        assert not any(vector) or abs(length(vector) - LENGTH) < 4  # a letter's row is small: rounding shows
    finally:
        opened.close()


def test_the_bytes_are_the_same_in_every_process_and_whatever_was_asked_before(table):
    texts = [text for row in ANSWERS for text in row[:2]]
    code = (
        "import sys, json; from commonplace.recall.semantic import StaticWords; t = StaticWords();"
        "print(json.dumps([v.hex() for v in t.vectors(json.loads(sys.argv[1]))]))"
    )
    hashes = []
    for seed in ("0", "1"):
        done = subprocess.run(
            [sys.executable, "-c", code, json.dumps(texts)],
            env={**os.environ, "PYTHONHASHSEED": seed}, capture_output=True, text=True, check=True, timeout=60,
        )  # fmt: skip
        hashes.append(json.loads(done.stdout))
    assert hashes[0] == hashes[1] == [v.hex() for v in table.vectors(texts)]
    assert [v for text in reversed(texts) for v in table.vectors([text])][::-1] == table.vectors(texts)


def test_a_long_text_is_the_sum_of_its_words_however_many(table):
    once, often = table.vectors([A_NOTE, A_NOTE * 40])
    assert closeness(once, [often])[0] > 0.98
    assert table.vectors(["deploy " * 2000]) == table.vectors(["deploy"])


def test_names_in_code_are_taken_apart():
    assert words("deployScript HTTPServer parse_int __init__ user's don’t") == [
        "deploy", "script", "http", "server", "parse", "int", "init", "user's", "don't",
    ]  # fmt: skip


def test_forms_of_a_word_are_near_to_it(table):
    for one, other in (
        ("deploys", "deploy"),
        ("grandmother's", "grandmother"),
        ("allergies", "allergy"),
        ("hiking", "hike"),
    ):
        a, b = table.vectors([one, other])
        assert closeness(a, [b])[0] > 0.5, one


def test_vectors_of_two_encoders_are_not_compared():
    with pytest.raises(ValueError, match="two encoders"):
        closeness(bytes(8), [bytes(8), bytes(9)])


def test_cosines_are_the_products_of_the_vectors(table):
    asked, *notes = table.vectors([row[0] for row in ANSWERS])
    by_hand = [sum(a * b for a, b in zip(signed(asked), signed(note), strict=True)) / LENGTH**2 for note in notes]
    assert closeness(asked, notes) == pytest.approx(by_hand, abs=1e-9)
    assert closeness(asked, []) == []


def test_where_numpy_is_loaded_already_the_cosines_are_the_same():
    """It is not needed here: where it is not installed there is nothing to compare."""
    pytest.importorskip("numpy")
    code = (
        "import sys, json; from commonplace.recall.semantic import StaticWords, closeness; t = StaticWords();"
        "asked, *notes = t.vectors(json.loads(sys.argv[1])); one = closeness(asked, notes);"
        "import numpy; print(json.dumps([one, closeness(asked, notes)]))"
    )
    texts = json.dumps([text for row in ANSWERS for text in row[:2]])
    done = subprocess.run([sys.executable, "-c", code, texts], capture_output=True, text=True, check=True, timeout=60)
    plain, quick = json.loads(done.stdout)
    assert quick == pytest.approx(plain, abs=1e-6)


# What may become of a file, and what is wrong then. A table that cannot be trusted must not answer.
def cut(raw):
    return raw[: len(raw) // 2]


def grown(raw):
    return raw + b"\0"


def other(raw):
    return b"PK\3\4" + raw[4:]


def flipped_in_the_head(raw):
    return raw[:45] + bytes([raw[45] ^ 1]) + raw[46:]


def flipped_in_the_directory(raw):
    return raw[:200] + bytes([raw[200] ^ 16]) + raw[201:]


def empty(raw):
    return b""


@pytest.mark.parametrize("damage", [cut, grown, other, flipped_in_the_head, flipped_in_the_directory, empty])
def test_a_damaged_table_does_not_open_and_says_what_to_do(tmp_path, damage):
    place = tmp_path / "words.bin"
    with open(TABLE, "rb") as file:
        place.write_bytes(damage(file.read()))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(BadWords, match="install commonplace again") as caught:
            StaticWords(str(place))
        assert caught.value.path == str(place)
        del caught
        gc.collect()


def test_a_missing_table_is_the_same_error(tmp_path):
    with pytest.raises(BadWords, match=r"nothing\.bin"):
        StaticWords(str(tmp_path / "nothing.bin"))
    assert issubclass(BadWords, CommonplaceError)


def test_a_flipped_bit_in_a_row_is_noticed_by_the_first_text_that_needs_it(tmp_path, table):
    place = tmp_path / "words.bin"
    shutil.copy(TABLE, place)
    size = place.stat().st_size
    with open(place, "r+b") as file:
        for at in range(size // 4, size, 997):  # about one byte in every bucket
            file.seek(at)
            was = file.read(1)[0]
            file.seek(at)
            file.write(bytes([was ^ 64]))
    damaged, refused = StaticWords(str(place)), 0
    texts = [text for row in ANSWERS for text in (row[0], row[1])]
    for text in texts:
        try:
            assert damaged.vectors([text]) == table.vectors([text])
        except BadWords:
            refused += 1
    damaged.close()
    assert refused >= len(texts) // 2


def test_a_query_reads_a_few_kilobytes_of_the_table(monkeypatch):
    opened = StaticWords()
    read = []
    pread = os.pread
    monkeypatch.setattr(os, "pread", lambda *args: read.append(args[1]) or pread(*args))
    opened.vectors(["how do I cut a release of the web server"])
    opened.close()
    assert len(read) <= 20
    assert sum(read) <= 40_000 < os.path.getsize(TABLE) / 50


FRESH = """
import json, sys, time
before = set(sys.modules)
import os, re, struct, typing, zlib, collections.abc  # what any recall has loaded
began = time.perf_counter()
from commonplace.recall.semantic import StaticWords, closeness
table = StaticWords()
asked = table.vectors(["how do I cut a release of the web server"])[0]
closeness(asked, [asked] * 50)
took = time.perf_counter() - began
began = time.perf_counter()
for _ in range(20):
    compile("a = [b for b in range(10)]\\n" * 20, "x", "exec")
beside = time.perf_counter() - began
print(json.dumps([took, beside, sorted(set(sys.modules) - before)]))
"""


def fresh():
    done = subprocess.run([sys.executable, "-c", FRESH], capture_output=True, text=True, check=True, timeout=60)
    return json.loads(done.stdout)


def test_no_numpy_and_nothing_heavy_is_imported():
    loaded = set(fresh()[2])
    assert not {"numpy", "torch", "mmap", "hashlib", "array", "pathlib", "importlib.resources", "unicodedata"} & loaded
    assert not [name for name in loaded if name.startswith("numpy")]


def test_a_query_over_fifty_candidates_in_a_fresh_process_is_cheap_beside_starting_one():
    """Loading this module, opening the table, one query and fifty cosines, beside a bare interpreter's start."""

    def bare():
        began = time.perf_counter()
        subprocess.run([sys.executable, "-I", "-c", "pass"], check=True, timeout=60)
        return time.perf_counter() - began

    assert min(fresh()[0] for _ in range(5)) <= 0.8 * min(bare() for _ in range(5))


def test_a_long_note_costs_little_beside_finding_its_words(table):
    """Indexing ten thousand notes is tokenising them and little more."""
    note = " ".join(text for row in ANSWERS for text in (row[0], row[1], *row[2]))
    table.vectors([note])

    def best(work):
        times = []
        for _ in range(5):
            began = time.perf_counter()
            for _ in range(20):
                work()
            times.append(time.perf_counter() - began)
        return min(times)

    assert best(lambda: table.vectors([note])) <= 5 * best(lambda: words(note))
