"""How BERT's uncased models cut a text, by the rules they were trained with. The table was held against their own tokenizer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.adapters.wordpiece import WordPieces

LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
VOCABULARY = [
    "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]",
    *LETTERS, *(f"##{letter}" for letter in LETTERS),
    *"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", "«", "»", "…", "。", "漢", "字", "σ", "##σ", "か", "##か", "ᄀ", "##ᅡ", "\u20ac",
    "deploy", "##ing", "##s", "##script", "release", "un", "##want", "##ed", "want", "cafe", "istanbul", "ss",
]  # fmt: skip

CUTS = [
    ("deploy", "deploy"),
    ("Deploying RELEASES", "deploy ##ing release ##s"),
    ("unwanted", "un ##want ##ed"),
    ("deployScript", "deploy ##script"),
    ("deploy.sh", "deploy . s ##h"),
    ("un-want", "un - want"),
    ("a_b", "a _ b"),
    ("$5+5=10", "$ 5 + 5 = 1 ##0"),
    ("«want»…", "« want » …"),
    ("café cafe\u0301 CAFÉ", "cafe cafe cafe"),
    ("İstanbul", "istanbul"),
    ("ΣΣ", "σ ##σ"),
    ("ß", "[UNK]"),
    ("漢字。want", "漢 字 。 want"),
    ("a漢b", "a 漢 b"),
    ("がか", "か ##か"),  # its voicing mark is an accent to these models
    ("가", "ᄀ ##ᅡ"),
    ("un\u00adwant\u200bed", "un ##want ##ed"),
    ("un\x00want\ufffd", "un ##want"),
    ("un\x0bwant", "un ##want"),  # a control character, not a space
    ("un\u00a0want\u3000ed\twant\n", "un want e ##d want"),
    ("want 🎉 want", "want [UNK] want"),
    ("want🎉", "[UNK]"),
    ("€", "€"),
    ("[SEP] [MASK]", "[ s ##e ##p ] [ m ##a ##s ##k ]"),
    ("a" * 100, " ".join(["a", *["##a"] * 99])),
    ("a" * 101, "[UNK]"),
    ("", ""),
    (" \n\u0301\u200d", ""),
]  # fmt: skip


@pytest.fixture(scope="module")
def pieces():
    return WordPieces(VOCABULARY)


@pytest.mark.parametrize(("text", "cut"), CUTS, ids=[ascii(text)[:30] for text, _ in CUTS])
def test_a_text_is_cut_as_the_models_learnt_it(pieces, text, cut):
    assert " ".join(VOCABULARY[number] for number in pieces.numbers(text)) == cut


@given(st.text())
def test_any_text_can_be_cut_and_is_cut_the_same_twice(text):
    pieces = WordPieces(VOCABULARY)
    numbers = pieces.numbers(text)
    assert all(0 <= number < len(VOCABULARY) for number in numbers)
    assert numbers == pieces.numbers(text)
    assert not {VOCABULARY[number] for number in numbers} & {"[CLS]", "[SEP]", "[MASK]", "[PAD]"}


@given(st.text(), st.text())
def test_a_space_is_where_a_text_can_be_taken_apart(one, other):
    pieces = WordPieces(VOCABULARY)
    assert pieces.numbers(f"{one} {other}") == pieces.numbers(one) + pieces.numbers(other)
