"""A correction stands before what it corrects, and nothing poses as one to stand before what it may not."""

import os

import pytest

from commonplace import Call, open_memory
from commonplace.recall.situations import Situation

PERSON = Call(origin="person")


@pytest.fixture
def memory(book):
    memory = open_memory(book)
    memory.save("The release key is rotated by Ann every Monday.", name="key-rule", call=PERSON)
    return memory


def by_hand(book, name, supersedes, text="unrelated spam"):
    (book / f"{name}.md").write_text(f"---\nsupersedes: [{supersedes}]\n---\n{text}\n")


def names(recall):
    return [hit.name for hit in recall]


def test_a_correction_stands_first_though_it_shares_no_word(memory):
    memory.save("Since May it is Bob, on Fridays.", name="new-rule", supersedes=["key-rule"], call=PERSON)
    assert names(memory.recall("release key rotated")) == ["new-rule", "key-rule"]
    first, second = memory.recall("release key rotated")
    assert "corrects key-rule" in first.reasons
    assert "corrected by new-rule" in second.reasons
    assert not [part for part, _ in first.parts if part == "words"]


@pytest.mark.parametrize("spelt", ["Key Rule", "key-rule.md", "key_rule", "KEY-RULE"])
def test_the_name_it_corrects_may_be_spelt_as_people_do(memory, spelt):
    memory.save("Since May it is Bob, on Fridays.", name="new-rule", call=PERSON)
    path = memory.where + "/new-rule.md"
    with open(path, encoding="utf-8") as file:
        text = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace("\n---\n", f"\nsupersedes: [{spelt}]\n---\n", 1))
    memory.forget("key-rule", call=PERSON)
    memory.save("The release key is rotated by Ann every Monday.", name="key-rule", call=Call())
    assert names(memory.recall("release key rotated"))[:2] == ["new-rule", "key-rule"]


def test_a_note_of_less_trust_corrects_nothing(memory, book):
    before = "key-rule"
    for number in range(5):
        by_hand(book, f"ev{number}", before)
        before = f"ev{number}"
    assert names(memory.recall("release key rotated"))[0] == "key-rule"
    assert names(memory.push("who has the release key rotated on Monday")) == ["key-rule"]


def test_a_chain_of_corrections_hides_nothing(memory, book):
    memory.save("The build key is kept by Cleo.", name="build-rule")
    before = "build-rule"
    for number in range(12):
        memory.save(f"Spam of number {number}.", name=f"step-{number}", supersedes=[before])
        before = f"step-{number}"
    assert "build-rule" in names(memory.recall("build key kept"))


def test_a_correction_keeps_to_the_filter(memory):
    memory.save("Since May it is Bob.", name="new-rule", kind="user", supersedes=["key-rule"], call=PERSON)
    assert names(memory.recall("release key", kinds=["project"])) == ["key-rule"]
    memory.save("Rotate twice.", name="on-sql", applies_to=["*.sql"])
    memory.save("Or thrice.", name="other", supersedes=["on-sql"])
    assert names(memory.recall("", to=Situation(path="a.sql"))) == ["on-sql"]


def test_what_has_expired_corrects_nothing(memory):
    memory.save("Since May it is Bob.", name="new-rule", supersedes=["key-rule"], call=PERSON)
    path = os.path.join(memory.where, "new-rule.md")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    with open(path, "w", encoding="utf-8") as file:
        file.write(text.replace("\n---\n", "\nexpires: 2020-01-01\n---\n", 1))
    assert names(memory.recall("release key rotated"))[0] == "key-rule"
