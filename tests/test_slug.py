"""Slugs: a name anybody invents becomes a safe file stem, one for all its spellings, and not another name's."""

import sys
import unicodedata
from itertools import combinations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.texts import examples, texts

from commonplace.errors import BadName
from commonplace.note.slug import NOT_NOTES, RESERVED, SLUG_BYTES, slugify, usable_stem
from commonplace.outcomes import Conflict, Refused, Saved
from commonplace.store.paths import stem_of

NAMES = st.one_of(
    texts(5),
    st.text(st.characters(exclude_categories=("Cs",)), max_size=12),
    st.text("aAäÄßÉe\u0301-_. /+#*!\u200b\u200d\ufe0f🎉日本कि", max_size=16),
    st.text("aé 日-", min_size=60, max_size=200),
)


def slug_or_none(name):
    try:
        return slugify(name)
    except BadName:
        return None


def assert_a_safe_stem(slug):
    assert usable_stem(slug)
    assert len(slug.encode()) <= SLUG_BYTES
    assert slug not in RESERVED
    assert stem_of(slug + ".md") == slug
    assert slug == unicodedata.normalize("NFC", slug) == slug.strip("-")
    assert slug[0] not in ".-_" and not any(char in "/\\:*?\"<>|. '~$%" or char.isspace() for char in slug)
    assert {unicodedata.category(char)[0] for char in slug} <= {"L", "N", "M", "P"}
    assert all(char == "-" or unicodedata.category(char)[0] != "P" for char in slug)
    assert unicodedata.category(slug[0])[0] in "LNM"


@examples(120, 20_000)
@given(NAMES)
def test_any_name_becomes_a_safe_stem_or_is_refused(name):
    slug = slug_or_none(name)
    if slug is None:
        assert not any(
            unicodedata.category(char)[0] in "LN" and char not in "\u115f\u1160\u3164\uffa0" for char in name
        )
        return
    assert_a_safe_stem(slug)
    assert slugify(slug) == slug


@examples(120, 20_000)
@given(NAMES, st.sampled_from(["-", " ", "_", ".  ", " - ", "/", "\u2014", "\u3000"]))
def test_all_spellings_of_a_name_have_one_slug(name, separator):
    slug = slug_or_none(name)
    assume(slug is not None)
    assert slug_or_none(unicodedata.normalize("NFC", name)) == slug
    assert slug_or_none(unicodedata.normalize("NFD", name)) == slug
    assert slug_or_none(name.casefold()) == slug
    assert slug_or_none(f"  {name}\t") == slug
    words = name.split()
    assert slug_or_none(separator.join(words)) == slug_or_none(" ".join(words))


@pytest.mark.promise
def test_every_character_there_is_makes_a_safe_stem(scale):
    """Alone, at both ends of a word, and between two words."""
    for point in range(0, sys.maxunicode + 1, scale(997, 1)):
        char = chr(point)
        if 0xD800 <= point < 0xE000:
            continue
        for name in (char, f"a{char}", f"{char}a", f"a {char} b"):
            slug = slug_or_none(name)
            if slug is not None:
                assert_a_safe_stem(slug)
                assert slugify(slug) == slug == slugify(unicodedata.normalize("NFD", name))
            assert slug is not None or name == char


SAME = (
    ("User prefers ripgrep", "user-prefers-ripgrep"), ("User prefers ripgrep", "USER_PREFERS_RIPGREP"), ("a b", "a   b"), ("a b", " a-b "),
    ("a b", "a/b"), ("a b", "a.b"), ("a b", "a: b"), ("a b", "(a) [b]"), ("a b", '"a" \'b\''), ("a b", "a\tb"), ("a b", "a\xa0b"),
    ("a b", "a\u3000b"), ("a b", "a \u2014 b"), ("a b", "\u201ea\u201c b"), ("a b", "a\u2028b"), ("a b", "a, b!"), ("a b", "a b?"),
    ("Caf\xe9", "cafe\u0301"), ("CAF\xc9", "caf\xe9"), ("Stra\xdfe", "STRASSE"), ("\u212bngstr\xf6m", "\xe5ngstro\u0308m"),
    ("\u03a3\u03af\u03c3\u03c5\u03c6\u03bf\u03c2", "\u03c3\u03af\u03c3\u03c5\u03c6\u03bf\u03c3"), ("\ufb01le", "file"), ("na\u200bme", "name"), ("na\xadme", "name"),
    ("\u202ename", "name"), ("\ufeffname", "name"), ("na\u2060me", "name"), ("\u2764\ufe0f", "\u2764"), ("1\ufe0f", "1"),
    ("C++ style", "c++-style"), ("C++ style", "C++_STYLE"), (".net core", ".NET-Core"), ("x" * 90 + " y", "X" * 90 + "-y"),
    ("\u65e5\u672c\u8a9e \u8a2d\u5b9a", "\u65e5\u672c\u8a9e\u3000\u8a2d\u5b9a"), ("\u1100\u1161", "\uac00"), ("e\u200d\u0301", "\xe9"), ("a \U0001f389 b", "a-\U0001f389-b"),
)  # fmt: skip


@pytest.mark.parametrize(("one", "two"), SAME)
def test_spellings_people_use_for_one_name_have_one_slug(one, two):
    assert slugify(one) == slugify(two)


# Names of different facts, which a careless slug lets meet.
DIFFERENT = (
    ("C", "C++", "C#", "C*", "c+", "c++ 17", "c# 17"),
    ("net", ".net", "*net", "net*"),
    ("env", ".env", "$env", "%env%", "env file", ".env file"),
    ("f", "f#", "f*", "f+", "f~"),
    ("a+b", "a b", "a*b", "a=b", "a&b", "a@b", "a%b", "a<b", "a>b", "a|b", "a^b", "a~b", "a$b", "a#b", "a+ b+", "+a b"),
    ("ab", "a b", "a1b", "a 1 b"),
    ("\U0001f389", "\U0001f38a", "\U0001f389\U0001f389", "\U0001f44d", "\U0001f44d\U0001f3fd", "\U0001f1e9\U0001f1ea", "\U0001f1eb\U0001f1f7", "***", "+++", "\u2764"),
    ("rocket \U0001f680", "rocket", "rocket \U0001f389", "\U0001f680 rocket"),
    ("\u65e5\u672c", "\u4e2d\u56fd", "\u65e5\u672c\u8a9e", "\u65e5 \u672c"),
    ("\u0915\u093f", "\u0915\u0940", "\u0915"),
    ("\u0e01\u0e33", "\u0e01\u0e32", "\u0e01"),
    ("\u05d0\u05d1", "\u05d1\u05d0", "\u0645\u0631\u062d\u0628\u0627", "\u0645\u0631\u062d\u0628"),
    ("a", "\u0430", "\u03b1", "\uff41", "\U0001d41a", "\xe1", "\xe0", "a\u0323"),
    ("i", "\u0131", "\u0130", "\xed", "l", "1"),
    ("o", "0", "\xf8", "\u043e", "\xf6"),
    ("resume", "r\xe9sum\xe9", "resum\xe9"),
    ("con", "con+", "prn", "aux", "nul", "com1", "com2", "lpt1", "com\xb9"),
    ("memory", "memory+", "memories", "memory 2"),
    ("readme", "agents", "claude", "gemini", "skill"),
    ("note", "notes", "note 1", "note 2"),
    ("x" * 79, "x" * 80, "x" * 81, "x" * 82, "x" * 81 + "y", "x" * 200, "x" * 200 + "y", "x" * 200 + " y"),
    ("\u65e5" * 26, "\u65e5" * 27, "\u65e5" * 28, "\u65e5" * 27 + "\u672c", "\u65e5" * 999 + "a", "\u65e5" * 999 + "b"),
    ("long " * 199 + "one", "long " * 199 + "two", "long " * 199),
    ("1\u20e3", "1", "#\ufe0f\u20e3", "*\ufe0f\u20e3", "2\u20e3"),
    ("v1", "v2", "v1.1", "v11", "v1 1 1"),
    ("\xbd", "1/2", "\xb2", "2", "\u2460", "\u2167"),
    ("100%", "100", "100$", "\u20ac100", "\xa3100"),
    ("\u2211", "\u220f", "\u221e", "\u2192", "\u2190"),
)  # fmt: skip
PAIRS = [pair for group in DIFFERENT for pair in combinations(group, 2)]


@pytest.mark.promise
def test_names_of_different_facts_do_not_meet(tally):
    for one, two in PAIRS:
        with tally("R8", (one[:30], two[:30])):
            assert slugify(one) != slugify(two)


@examples(80, 20_000)
@given(st.text("aB+#*é🎉.- ", min_size=1, max_size=8), st.text("aB+#*é🎉.- ", min_size=1, max_size=8))
def test_names_that_differ_in_more_than_case_and_separators_do_not_meet(one, two):
    def bare(name):
        return " ".join(
            "".join(" " if char in ".- " else char for char in unicodedata.normalize("NFC", name).casefold()).split()
        )

    assume(bare(one) and bare(two))
    if bare(one) != bare(two):
        assert slugify(one) != slugify(two)
    elif "." not in one + two:
        assert slugify(one) == slugify(two)


HOSTILE = (
    "../../etc/passwd", "..", "../", "/etc/passwd", "/", "\\", "a\\..\\b", "C:\\Windows\\System32", "file:///etc/passwd", "%2e%2e%2f", "..%2f..%2f",
    ".hidden", ".commonplace", ".", "...", "~", "~root", "$HOME", "$(id)", "`id`", "; rm -rf /", "| cat", "&& true", "-rf", "--help", "-", "a\0b", "\0",
    "a\nb", "a\r\nb", "\x1b[31mred", "\x9b31m", "\x7f", "a\x85b", "a\u2028b", "\u202egnp.exe", "a\u2066b\u2069", "\U000e0041\U000e0042", "\u200b", "\ufeff",
    "MEMORY", "MEMORY.md", "memory.md", "README", "AGENTS.md", "CLAUDE", "CON", "con", "Con.txt", "NUL", "aux", "COM1", "LPT9", "com\xb9",
    "sessions/x", "user/../x", "a/b", "a//b", "name:stream", "<|im_start|>system", "[INST]", "</memory-index>", "](evil.md)", "# heading", "---", "- item",
    "x" * 5000, "\u65e5" * 5000, "\u0301" * 300, "a" + "\u0301" * 300, "\U0001f468\u200d\U0001f469\u200d\U0001f467", "\u115f", "\u3164", "\u2800", "\xad",
    "two (conflicted copy)", "x.sync-conflict-20260101-101010-ABCDEF", "x_conflict-20260101-101010", "x.conflict", "x~", "#x#", "x.tmp", "x.md", "index.json",
    "\u0627\u0644\u0639\u0631\u0628\u064a\u0629", "\u05e2\u05d1\u05e8\u05d9\u05ea", "\ufdfa", "\ufdfd", "\U00010400", "\U0001d400", "\u1e9e", "\u0149", "\u01f0", "\u0390", "\ufb05",
)  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_a_safe_stem_or_refused(name):
    slug = slug_or_none(name)
    if slug is not None:
        assert_a_safe_stem(slug)
        assert slugify(slug) == slug


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        "...",
        "-",
        "--",
        "/",
        "?!",
        "\u2026",
        "\u3002",
        "\u201c\u201d",
        "\u200b",
        "\u3164",
        "\n",
        "\ue000",
        "()",
    ],
)
def test_a_name_of_which_nothing_can_be_kept_is_refused_with_the_cure(name):
    with pytest.raises(BadName, match="no letter or digit; give it one"):
        slugify(name)


@pytest.mark.parametrize("name", sorted(RESERVED))
@pytest.mark.parametrize("spell", [str, str.upper, lambda name: f" {name}. "])
def test_a_reserved_name_gets_a_suffix(name, spell):
    assert slugify(spell(name)) == f"{name}-note"


STEMS = (
    ("user_prefs", True), ("user prefs", True), ("User Prefs", True), ("memory", True), ("2026-05-15-09h47", True), ("gr\xf6\xdfe", True), ("a.b", True),
    ("x" * 250, True), ("\u65e5" * 83, True), ("-x", True), ("~x", True), ("con", True), ("index", True), ("[x]", True), ("a'b", True), ("\u202ex", True),
    ("", False), (".x", False), ("..", False), (" x", False), ("x ", False), ("x\xa0", False), ("a/b", False), ("a\\b", False), ("a\nb", False),
    ("a\0b", False), ("\x1bx", False), ("a\x85b", False), ("\ud800", False), ("MEMORY", False), ("README", False), ("readme", False), ("Claude", False),
    ("AGENTS", False), ("Gemini", False), ("SKILL", False), ("x" * 251, False), ("\u65e5" * 84, False),
)  # fmt: skip


@pytest.mark.parametrize(("stem", "usable"), STEMS)
def test_a_persons_file_is_a_note_under_any_plain_name(stem, usable):
    assert usable_stem(stem) is usable
    assert usable_stem(stem.casefold()) or not usable or stem.casefold() in NOT_NOTES


@examples(80, 20_000)
@given(texts(4))
def test_a_usable_stem_can_be_a_file_and_no_path(stem):
    if usable_stem(stem):
        assert "/" not in stem and "\0" not in stem and not stem.startswith(".")
        assert len((stem + ".md").encode()) <= 255


# --- what a save makes of names that meet --------------------------------------------------------------------------

# Each pair says two facts. Some pairs meet in one slug, some on a disk blind to case or form, some nowhere.
MEETING = [
    *[(one, two) for group in DIFFERENT for one, two in zip(group, group[1:], strict=False)],
    *SAME,
    ("a.b", "a b"), ("1.5", "1-5"), ("1,000", "1.000"), ("don't", "don t"), ("(x)", "x"), ("x?", "x!"), ("it/he", "it-he"), ("re: x", "re x"), ("-v", "v"),
    ("/tmp", "tmp"), ("memory", "memory note"), ("MEMORY", "memory"), ("README", "readme note"), ("con", "con note"), ("user_prefs", "user-prefs"),
    ("C", "C--"), ("con", "con."), ("v1.1", "v1 1"),
]  # fmt: skip
FACTS = ("Kubernetes upgrades happen on Tuesdays", "The billing database lives in Frankfurt")
NEAR = ("Deploys go through deploy.sh on Tuesdays", "Deploys go through release.sh on Fridays")


def outcome(memory, name, text):
    return memory.save(text, name=name, description=text)


def holds(memory, book, first, second, texts_):
    """Whether no fact was overwritten in silence: what R8 promises."""
    one, two = first, second
    assert isinstance(one, Saved), one
    if isinstance(two, Conflict):
        assert two.theirs is not None and two.theirs.body == texts_[0] and two.ours == texts_[1]
        assert memory.read(one.name).body == texts_[0]
    elif isinstance(two, Refused):
        assert memory.read(one.name).body == texts_[0]
    elif two.name != one.name:
        assert two.outcome == "created"
        assert memory.read(one.name).body == texts_[0]
        assert memory.read(two.name).body == texts_[1]
    else:
        assert two.outcome == "updated"
        assert texts_[0].encode() in (book / two.kept).read_bytes()
        assert memory.read(two.name).body == texts_[1]


@pytest.mark.promise
@pytest.mark.parametrize("texts_", [FACTS, NEAR], ids=["unlike", "alike"])
def test_no_pair_of_names_overwrites_a_fact_in_silence(memory, book, tally, scale, texts_):
    pairs = MEETING[:: scale(2 if texts_ is FACTS else 6, 1)]
    assert len(pairs) >= 60 or texts_ is NEAR
    for one, two in pairs:
        with tally("R8", (one[:30], two[:30])):
            first, second = outcome(memory, one, texts_[0]), outcome(memory, two, texts_[1])
            holds(memory, book, first, second, texts_)
            for name in {saved.name for saved in (first, second) if isinstance(saved, Saved)}:
                memory.forget(name)


@pytest.mark.promise
def test_a_persons_file_is_not_overwritten_under_another_spelling(memory, book, tally):
    """A file a person named as they like answers to every spelling of its name."""
    for stem, name in (
        ("user_prefs", "User Prefs"), ("User Prefs", "user-prefs"), ("caf\xe9", "CAFE\u0301"), ("a.b", "A B"), ("memory", "Memory"), ("C++", "c++"),
        (".net"[1:], "net"), ("x" * 90, "X" * 90), ("\u65e5\u672c", "\u65e5\u672c"), ("a (b)", "a b"), ("\U0001f389", "\U0001f389"),
    ):  # fmt: skip
        with tally("R8", (stem[:30], name[:30])):
            book.mkdir(exist_ok=True)
            file = book / f"{stem}.md"
            file.write_text(FACTS[0] + "\n", "utf-8")
            answer = outcome(memory, name, FACTS[1])
            assert isinstance(answer, Conflict), answer
            assert answer.name == stem
            assert file.read_text("utf-8") == FACTS[0] + "\n"
            saved = memory.save(FACTS[1], name=name, replace=True)
            assert (saved.outcome, saved.name) == ("updated", stem)
            assert FACTS[0].encode() in (book / saved.kept).read_bytes()
            memory.forget(stem)


@pytest.mark.promise
def test_names_made_from_texts_never_overwrite(memory, tally, scale):
    """Two texts that begin alike get a name each, however many there are."""
    saved = []
    for number in range(scale(15, 200)):
        with tally("R8", number):
            answer = memory.save(f"We deploy with ./deploy.sh from the release branch.\n\nCase {number} of it.")
            assert answer.outcome == "created"
            saved.append((answer.name, answer.note.body))
    assert len({name for name, _ in saved}) == len(saved)
    for name, body in saved:
        with tally("R8", name):
            assert memory.read(name).body == body
