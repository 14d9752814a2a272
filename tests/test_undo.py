"""Undo: whatever happened, the notes can be as they were, byte for byte, and the undo can be undone."""

import errno
import fcntl
import io
import json
import os
import random
import time
from contextlib import redirect_stdout
from datetime import UTC, datetime
from threading import Thread

import pytest
from tests.places import UnsyncedDisk

from commonplace import Call, open_memory
from commonplace.care import links, undo, versions
from commonplace.care.doctor import examine
from commonplace.errors import NotFound
from commonplace.note.slug import slugify
from commonplace.outcomes import Conflict, Refused, Saved
from commonplace.recall.asked import moment_of
from commonplace.surfaces.cli.app import run
from commonplace.testing.faulty import Fault, FaultyDisk, failing

START = 1_780_000_000.0
PERSON, AGENT = Call("person"), Call("agent", "s-1")


class Clock:
    def __init__(self):
        self.at = START

    def __call__(self):
        return self.at

    def tick(self, seconds=1.0):
        self.at += seconds

    @property
    def moment(self):
        return versions.stamped(datetime.fromtimestamp(self.at, UTC))


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def memory(book, clock):
    return open_memory(book, now=clock, disk=UnsyncedDisk())


def files(book):
    """Every note's bytes, by where it lies."""
    paths = [path for path in book.rglob("*.md") if ".commonplace" not in path.parts and path.name != "MEMORY.md"]
    return {path.relative_to(book).as_posix(): path.read_bytes() for path in paths}


class Ops:
    """Random changes by people and agents, through everything that changes a notebook."""

    def __init__(self, memory, clock, rng):
        self.memory, self.clock, self.rng, self.count = memory, clock, rng, 0

    def name(self):
        return f"fact-{self.rng.randint(1, 25)}"

    def some(self):
        names = [note.name for note in self.memory.notes().notes]
        return self.rng.choice(names) if names else None

    def text(self):
        self.count += 1
        link = f"\n\nSee [[{self.name()}]]." if self.rng.random() < 0.3 else ""
        return f"The fact number {self.count} is {self.rng.choice(['red', 'green', 'größer', '日本'])}.{link}"

    def call(self):
        return self.rng.choice([PERSON, AGENT, Call("agent", "s-2"), Call("extractor", "s-1")])

    def do_save(self):
        kind = self.rng.choice(["user", "feedback", "project", "reference", "session", None])
        tags = self.rng.choice([["a"], ["b", "c"], None])
        self.memory.save(self.text(), name=self.name(), kind=kind, tags=tags, replace=True, call=self.call())

    do_save_more = do_save_again = do_save_once_more = do_save

    def do_forget(self):
        if name := self.some():
            self.memory.forget(name, call=self.call())

    def do_rename(self):
        if name := self.some():
            links.rename(self.memory, name, self.name() + self.rng.choice(["", "-b"]), self.call())

    def do_merge(self):
        if (one := self.some()) and (two := self.some()):
            links.merge(self.memory, one, [two], self.call())

    def do_undo(self):
        undo.last(self.memory, self.call())

    def do_undo_a_note(self):
        if name := self.some():
            undo.of_note(self.memory, name, self.call())

    def step(self):
        ways = [way for way in dir(self) if way.startswith("do_")]
        getattr(self, self.rng.choice(ways))()
        self.clock.tick(self.rng.choice([0.000_01, 0.5, 3600.0]))


@pytest.mark.promise
@pytest.mark.timeout(600)
def test_any_moment_can_be_gone_back_to_byte_for_byte(book, memory, clock, scale, tally):
    rng = random.Random(14)
    ops, moments = Ops(memory, clock, rng), []
    for step in range(scale(120, 1000)):
        ops.step()
        clock.tick(0.000_01)
        moments.append((step, clock.moment, files(book)))
        clock.tick(0.000_01)
    for step, moment, then in rng.sample(moments, scale(15, 100)):
        with tally("R14", f"back to after step {step}"):
            before = files(book)
            done = undo.to_moment(memory, moment, PERSON)
            assert done.left == ()
            assert files(book) == then
            clock.tick()
            undo.last(memory, PERSON)
            assert files(book) == before
            clock.tick()


@pytest.mark.promise
def test_so_many_last_acts_are_taken_back_as_one_and_brought_back_as_one(book, memory, clock, tally, scale):
    ops, then = Ops(memory, clock, random.Random(15)), {0: {}}

    def acts():
        return len({event.call.act or event.number for event in memory.events()})

    for _ in range(scale(60, 600)):
        ops.step()
        then[acts()] = files(book)
    for count in (1, 2, 3, 7, 20, acts() - 1, acts() + 9, acts() + 9):
        with tally("R14", f"the last {count}"):
            now, total = files(book), acts()
            undo.last(memory, PERSON, count)
            assert files(book) == then[max(total - count, 0)]
            assert acts() == total + (files(book) != now)
            if acts() > total:
                then[acts()] = files(book)
                undo.last(memory, PERSON)
                assert files(book) == now
                then[acts()] = now


@pytest.mark.promise
def test_the_last_act_is_taken_back_whole_and_brought_back_whole(book, memory, clock, tally):
    memory.save("The fact a, see [[fact-b]].", name="fact a", call=PERSON)
    memory.save("The fact b.", name="fact b", call=PERSON)
    memory.save("The fact c corrects.", name="fact c", supersedes=["fact b"], call=AGENT)
    for act in (
        lambda: memory.save("The fact b is other.", name="fact b", call=AGENT, replace=True),
        lambda: memory.forget("fact a", call=PERSON),
        lambda: memory.save("The fact d.", name="fact d"),
        lambda: links.rename(memory, "fact b", "fact of b", PERSON),
        lambda: links.merge(memory, "fact b", ["fact c"], PERSON),
    ):
        with tally("R14"):
            before = files(book)
            act()
            after = files(book)
            assert before != after
            clock.tick()
            undo.last(memory, PERSON)
            assert files(book) == before
            undo.last(memory, PERSON)
            assert files(book) == after
            undo.last(memory, PERSON)
            assert files(book) == before


def test_undoing_a_note_takes_back_its_last_change_and_no_other(book, memory):
    memory.save("The fact one.", name="one")
    memory.save("The fact two.", name="two")
    first = files(book)
    memory.save("The fact one is other.", name="one", replace=True)
    memory.save("The fact two is other.", name="two", replace=True)
    second = files(book)
    undo.of_note(memory, "one", PERSON)
    assert files(book) == {"one.md": first["one.md"], "two.md": second["two.md"]}
    memory.forget("two")
    assert [done.outcome for done in undo.of_note(memory, "two", PERSON).notes] == ["created"]
    assert files(book)["two.md"] == second["two.md"]
    with pytest.raises(NotFound, match="nothing is known"):
        undo.of_note(memory, "three", PERSON)


def test_undoing_a_session_leaves_what_others_built_on_it_and_says_so(book, memory, clock):
    memory.save("The fact kept.", name="kept", call=PERSON)
    memory.save("The fact changed.", name="changed", call=PERSON)
    before = files(book)
    for name in ("kept", "changed", "new", "built on"):
        memory.save(f"The session says {name}.", name=name, replace=True, call=AGENT)
    memory.save("The session says changed twice.", name="changed", replace=True, call=AGENT)
    memory.forget("kept", call=AGENT)
    memory.save("A person built on it.", name="built on", replace=True, call=PERSON)
    built = files(book)["built-on.md"]
    done = undo.of_session(memory, "s-1", PERSON)
    assert done.left == (("built-on", "it was changed since, outside that session"),)
    assert files(book) == {**before, "built-on.md": built}
    undo.last(memory, PERSON)
    assert "kept.md" not in files(book)


def test_a_version_brought_back_is_the_word_of_who_wrote_it(memory):
    memory.save("A person said so.", name="said", call=PERSON)
    memory.save("An agent said so.", name="said", replace=True, call=AGENT)
    undo.last(memory, AGENT)
    assert memory.find("said").author() == "person"
    undo.last(memory, PERSON)
    assert memory.find("said").author() == "agent"


def test_what_a_hand_changed_is_put_back_as_far_as_it_is_kept(book, memory, clock):
    memory.save("The fact is saved.", name="fact")
    clock.tick()
    (book / "fact.md").write_text("By hand, and never seen by us as it was before.\n")
    by_hand = files(book)
    memory.save("The fact is corrected.", name="fact", replace=True)
    undo.last(memory, PERSON)
    assert files(book) == by_hand
    assert memory.find("fact").author() == "hand"


def test_a_lost_version_is_told_of_and_hinders_no_other(book, memory, clock):
    memory.save("The fact one.", name="one")
    memory.save("The fact two.", name="two")
    two = files(book)["two.md"]
    moment = clock.moment
    clock.tick()
    (book / "one.md").unlink()
    memory.save("The fact one again.", name="one")
    memory.save("The fact two again.", name="two", replace=True)
    done = undo.to_moment(memory, moment, PERSON)
    assert [name for name, _ in done.left] == ["one"]
    assert "is not kept" in done.left[0][1]
    assert files(book)["two.md"] == two


def test_a_session_without_a_name_is_nobodys_to_take_back(book, memory):
    memory.save("The fact.", name="fact", call=PERSON)
    before = files(book)
    assert undo.of_session(memory, "", PERSON) == ((), ())
    assert files(book) == before


def test_what_a_hand_added_since_is_not_taken_back_with_a_session(book, memory):
    memory.save("The session says so.", name="fact", call=AGENT)
    (book / "fact.md").write_text((book / "fact.md").read_text() + "\nAnd a person added this.\n")
    before = files(book)
    done = undo.of_session(memory, "s-1", PERSON)
    assert [name for name, _ in done.left] == ["fact"]
    assert files(book) == before


def test_undoing_a_note_after_a_hand_edit_takes_back_the_edit_first(book, memory):
    memory.save("The fact is one.", name="fact")
    memory.save("The fact is two.", name="fact", replace=True)
    kept = files(book)
    memory.forget("fact")
    undo.of_note(memory, "fact", PERSON)
    assert files(book) == kept
    os.replace(book / "fact.md", book / "old")  # as an editor does that saves into a new file
    (book / "fact.md").write_text("By hand.\n")
    undo.of_note(memory, "fact", PERSON)
    assert memory.read("fact").body == "The fact is two."


def test_undoing_a_note_that_was_renamed_takes_back_the_rename(book, memory):
    memory.save("The fact b.", name="fact b")
    memory.save("See [[fact-b]].", name="fact a")
    before = files(book)
    links.rename(memory, "fact b", "zed", PERSON)
    undo.of_note(memory, "zed", PERSON)
    assert files(book) == before


def test_an_act_waits_for_another_and_single_changes_wait_for_neither(book, memory):
    memory.save("The fact a.", name="a")
    held = os.open(book / ".commonplace", os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    acting = [
        Thread(target=links.rename, args=(memory, "a", "c", PERSON)),
        Thread(target=undo.last, args=(memory, PERSON)),
    ]
    for thread in acting:
        thread.start()
    memory.save("The fact b.", name="b")
    assert all(thread.is_alive() for thread in acting)
    assert set(files(book)) == {"a.md", "b.md"}
    os.close(held)
    for thread in acting:
        thread.join()
    assert "c.md" in files(book)


@pytest.mark.parametrize("number", [errno.EBADF, errno.ENOLCK, errno.EOPNOTSUPP])
def test_where_no_folder_can_be_locked_acts_go_on_without(book, memory, number):
    memory.save("The fact a.", name="a")
    memory.notes()
    for act in (lambda one: links.rename(one, "a", "b", PERSON), lambda one: undo.last(one, PERSON)):
        one = open_memory(book, disk=FaultyDisk())
        one.notes()
        one._store._disk.fault = Fault(at=1, of=("lock",), act=failing(number))
        act(one)
        assert one._store._disk.struck == 1
    assert list(files(book)) == ["a.md"]


def test_an_empty_notebook_has_nothing_to_undo(memory, book):
    assert undo.last(memory, PERSON) == ((), ())
    assert memory.events() == ()
    assert not book.exists()


# --- renaming and merging ----------------------------------------------------------------------------------------


def test_links_follow_a_rename_and_code_and_other_text_stay(book, memory):
    memory.save("The fact b.", name="fact b")
    text = "See [[fact-b]], [[Fact B|that]], [[fact-b#part]] and `[[fact-b]]`, not [[fact-c]].\n\n```\n[[fact-b]]\n```"
    memory.save(text, name="fact a", description="About b")
    memory.save("The fact c corrects.", name="fact c", supersedes=["fact b"])
    moved = links.rename(memory, "fact b", "The deploy fact", PERSON)
    assert (moved.note.name, moved.gone, set(moved.followed)) == ("the-deploy-fact", ("fact-b",), {"fact-a", "fact-c"})
    assert memory.read("fact a").body == text.replace("See [[fact-b]]", "See [[the-deploy-fact]]").replace(
        "[[Fact B|that]]", "[[the-deploy-fact|that]]"
    ).replace("[[fact-b#part]]", "[[the-deploy-fact#part]]")
    assert memory.read("fact c").supersedes == ("the-deploy-fact",)
    assert links.backlinks(memory.notes().notes, "the-deploy-fact") == ["fact-a", "fact-c"]


def test_a_rename_keeps_every_byte_but_the_name_and_whose_word_it_is(book, memory):
    book.mkdir()
    source = "---\nname: user_prefs\n# mine\nmood: good\ntype: preference\n---\n\nAna prefers tea.\r\nAlways.\n"
    (book / "user_prefs.md").write_bytes(source.encode())
    moved = links.rename(memory, "user prefs", "what-ana-likes", PERSON)
    assert files(book) == {"what-ana-likes.md": source.replace("user_prefs", "what-ana-likes").encode()}
    assert memory.find("what-ana-likes").author() == "hand"
    assert moved.note.word == "preference"


def test_a_rename_to_a_name_that_is_taken_changes_nothing(book, memory):
    memory.save("The fact a.", name="fact a")
    memory.save("The fact b.", name="fact b")
    before = files(book)
    assert isinstance(links.rename(memory, "fact a", "Fact B", PERSON), Conflict)
    assert isinstance(links.rename(memory, "fact a", "...", PERSON), Refused)
    assert links.rename(memory, "fact a", "Fact A", PERSON).gone == ()
    with pytest.raises(NotFound):
        links.rename(memory, "fact c", "fact d", PERSON)
    assert files(book) == before


def test_a_merge_has_all_that_was_said_and_is_worth_no_more_than_its_least(book, memory):
    memory.save("The one half.", name="half", tags=["a"], call=PERSON)
    memory.save("The other half.", name="other", tags=["b"], pinned=True, call=AGENT)
    memory.save("See [[other]].", name="reader", call=PERSON)
    merged = links.merge(memory, "half", ["other", "half"], PERSON)
    assert merged.note.body == "The one half.\n\nThe other half."
    assert (merged.note.tags, merged.note.pinned, merged.gone, merged.followed) == (
        ("a", "b"),
        True,
        ("other",),
        ("reader",),
    )
    assert memory.find("half").author() == "agent"
    assert memory.read("reader").body == "See [[half]]."


def test_a_merge_is_let_in_like_any_text(book, memory):
    memory.save("The one half.", name="half", call=PERSON)
    memory.save("The other half.", name="other", applies_to=["src/*"], call=PERSON)
    before = files(book)
    assert links.merge(memory, "half", ["other"], PERSON, "").rule == "empty"
    assert links.merge(memory, "half", ["other"], Call("external:web", tainted=True), "Planted.").rule == "unreviewed"
    assert files(book) == before
    merged = links.merge(memory, "half", ["other", "Other"], PERSON, "Both \x1b[31mhalves\u202e are one.")
    assert (merged.note.body, merged.note.applies_to, merged.gone) == ("Both halves are one.", ("src/*",), ("other",))
    assert merged.note.description == "Both halves are one"


def test_a_merge_with_what_does_not_expire_does_not_expire(memory):
    from datetime import date

    memory.save("It ends.", name="ends", expires=date(2027, 1, 1))
    memory.save("It stays.", name="stays")
    assert links.merge(memory, "ends", ["stays"], PERSON).note.expires is None


def test_a_merge_that_is_too_long_asks_for_its_text(book, memory):
    memory.save("One. " * 500, name="one", description="One")
    memory.save("Two. " * 500, name="two", description="Two")
    before = files(book)
    assert links.merge(memory, "one", ["two"], PERSON).rule == "body-too-long"
    assert files(book) == before
    assert links.merge(memory, "one", ["two"], PERSON, "Both are numbers.").note.body == "Both are numbers."
    assert list(files(book)) == ["one.md"]


# Notes by name and title, and what the words of a link lead to: by a name, by a title where no name is meant, or nowhere.
TITLED = {
    "deploy": "How we deploy",
    "release": "Deploy",
    "user_prefs": "",
    "prefs": "User Prefs",
    "c": "C++",
    "größe": "Wie groß",
}
LED = [
    ("deploy", "deploy", "name"), ("Deploy", "deploy", "name"), (" deploy ", "deploy", "name"), ("deploy|so", "deploy", "name"),
    ("How we deploy", "deploy", "title"), ("how-we-deploy#part", "deploy", "title"), ("user_prefs", "user_prefs", "name"),
    ("user-prefs", "user_prefs", "name"), ("User Prefs", "user_prefs", "name"), ("C++", "c", "title"), ("c", "c", "name"),
    ("GRÖSSE", "größe", "name"), ("Wie groß", "größe", "title"), ("How we", "", ""), ("deploy.md", "", ""), ("C#", "c", "name"),
]  # fmt: skip


@pytest.fixture(params=LED, ids=[words for words, _, _ in LED])
def led(request, memory, book):
    """A note with a link, among others: the words of the link, the note they lead to, and by what."""
    book.mkdir()
    for name, title in TITLED.items():
        (book / f"{name}.md").write_text(
            f"---\nname: {name}\n" + f"title: {title}\n" * bool(title) + "---\n\nSo it is.\n"
        )
    memory.save(f"See [[{request.param[0]}]].", name="reader")
    return request.param


def test_doctor_counts_a_link_as_dead_where_it_leads_to_no_note(led, memory):
    words, to, _ = led
    dead = [found.what for found in examine(memory).findings if found.check == "links"]
    assert dead == ([] if to else [f"links to [[{slugify(words)}]], and there is no such note"])


def test_a_note_tells_who_links_to_it_by_name_or_title(led, memory, book):
    _, to, _ = led
    for name in TITLED:
        out = io.StringIO()
        with redirect_stdout(out):
            assert run(["show", name, "--json", "--dir", str(book)]) == 0
        assert json.loads(out.getvalue())["backlinks"] == (["reader"] if name == to else [])


def test_after_a_rename_a_link_leads_where_it_led_and_one_by_title_as_it_stands(led, memory):
    words, to, by = led
    before = memory.read("reader").body
    for name in TITLED:
        moved = links.rename(memory, name, "zed", PERSON)
        after = memory.read("reader").body
        assert moved.followed == (("reader",) if name == to and by == "name" else ())
        assert (after == before) == (moved.followed == ())
        [word] = links.links(memory.read("reader"))
        assert links.Signs.of(memory.notes().notes).to(word) == ("zed" if name == to else to)
        undo.last(memory, PERSON)


def test_after_a_merge_links_by_name_and_by_title_lead_to_what_took_it_in(led, memory):
    _, to, _ = led
    memory.save("It takes in.", name="all")
    links.merge(memory, "all", TITLED, PERSON)
    assert links.backlinks(memory.notes().notes, "all") == (["reader"] if to else [])


def test_a_rename_takes_no_links_from_a_note_that_has_the_new_name_for_a_title(memory):
    memory.save("The fact a.", name="a", title="The other")
    memory.save("The fact b.", name="b")
    memory.save("See [[The other]].", name="reader")
    assert links.rename(memory, "b", "The other", PERSON).followed == ("reader",)
    assert memory.read("reader").body == "See [[a]]."


def test_links_a_note_has_to_itself_follow_its_name(memory):
    memory.save("See [[fact]] above.", name="fact")
    links.rename(memory, "fact", "zed", PERSON)
    assert memory.read("zed").body == "See [[zed]] above."


def test_links_that_lead_nowhere_are_named(memory):
    memory.save("See [[nowhere]] and [[b]].", name="a", description="A")
    memory.save("It is so.", name="b")
    assert links.dead(memory.notes().notes) == [("a", "nowhere")]


# --- what happened -----------------------------------------------------------------------------------------------


def test_the_log_tells_what_happened_newest_first_and_leaves_out_what_did_not(book, memory):
    memory.save("The fact.", name="fact", call=PERSON)
    memory.save("The fact is other.", name="fact", replace=True, call=AGENT)
    memory.forget("fact", call=PERSON)
    told = [(story.what, story.name, story.by, story.sound) for story in versions.stories(memory.events())]
    assert told == [
        ("deleted", "fact", "person", True),
        ("updated", "fact", "agent", True),
        ("created", "fact", "person", True),
    ]


def test_the_log_says_which_changes_were_part_of_an_undo_a_rename_or_a_merge(memory):
    memory.save("The fact a, see [[b]].", name="a", call=Call("person", act="rename"))
    memory.save("The fact b.", name="b", call=Call("person", act="planted-1"))
    links.rename(memory, "b", "c", PERSON)
    undo.last(memory, PERSON)
    links.merge(memory, "a", ["b"], PERSON)
    told = [(story.part_of, story.what, story.name) for story in versions.stories(memory.events())]
    assert list(dict.fromkeys(told)) == [
        ("merge", "deleted", "b"), ("merge", "updated", "a"), ("undo", "created", "b"), ("undo", "updated", "a"),
        ("undo", "deleted", "c"), ("rename", "deleted", "b"), ("rename", "updated", "a"), ("rename", "created", "c"),
        ("", "created", "b"), ("", "created", "a"),
    ]  # fmt: skip


def test_a_change_that_was_logged_and_never_made_is_left_out(book, memory):
    memory.save("The fact.", name="fact")
    disk = FaultyDisk()
    dying = open_memory(book, now=Clock(), disk=disk)
    dying.notes()
    disk.fault = Fault(at=1, of=("rename",), act=gone)
    with pytest.raises(Gone):
        dying.save("The fact is other.", name="fact", replace=True)
    assert [story.what for story in versions.stories(memory.events())] == ["created"]
    memory.save("The fact is a third.", name="fact", replace=True)
    assert [story.what for story in versions.stories(memory.events())] == ["updated", "created"]
    undo.last(memory, PERSON)
    assert memory.read("fact").body == "The fact."


class Gone(BaseException):
    """A writer that is killed: nothing after it reaches the disk."""


def gone():
    raise Gone


def test_a_diff_shows_what_changed_since_before_or_since_a_moment(book, memory, clock):
    assert isinstance(memory.save("The fact is red.", name="fact"), Saved)
    moment = clock.moment
    clock.tick()
    memory.save("The fact is green.", name="fact", replace=True)
    clock.tick()
    memory.save("The fact is blue.", name="fact", replace=True)
    assert "-The fact is green." in versions.diff(memory, "fact")
    assert "-The fact is red." in versions.diff(memory, "fact", moment)
    (book / "fact.md").write_text((book / "fact.md").read_text() + "\nBy hand.\n")
    assert {"-The fact is green.", "+By hand."} <= set(versions.diff(memory, "fact").splitlines())  # blue is not kept
    memory.forget("fact")
    assert "-By hand." in versions.diff(memory, "fact")
    with pytest.raises(NotFound):
        versions.diff(memory, "other")


@pytest.mark.parametrize(
    ("words", "moment"),
    [
        ("2026-05-15T08:00:00Z", "2026-05-15T08:00:00.000000Z"),
        ("2026-05-15T08:00:00.123456+02:00", "2026-05-15T06:00:00.123456Z"),
        ("2026-05-15 08:00", "2026-05-15T08:00:00.000000Z"),
        ("2026-05-15", "2026-05-15T00:00:00.000000Z"),
        ("07:30", "2026-05-15T07:30:00.000000Z"),
        ("2 hours ago", "2026-05-15T10:00:00.000000Z"),
        ("90m", "2026-05-15T10:30:00.000000Z"),
        ("1 week ago", "2026-05-08T12:00:00.000000Z"),
        ("today", "2026-05-15T00:00:00.000000Z"), (" Yesterday", "2026-05-14T00:00:00.000000Z"),
        ("2h", "2026-05-15T10:00:00.000000Z"), ("3d", "2026-05-12T12:00:00.000000Z"), ("in 1 hour", "2026-05-15T13:00:00.000000Z"),
        ("soon", None), ("25:00", None), ("", None), ("2026-13-01", None), ("in 2 hours ago", None), ("999999 weeks", None),
    ],
)  # fmt: skip
def test_a_moment_is_read_as_people_say_it(words, moment, monkeypatch):
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    assert versions.moment_of(words, datetime(2026, 5, 15, 12)) == moment


@pytest.mark.parametrize(
    ("words", "back", "ahead"),
    [
        ("2026-05-01", 1, 1), ("today", 15, 15), ("TODAY ", 15, 15), ("yesterday", 14, 14), ("tomorrow", 16, 16),
        ("3d", 12, 18), ("3 days", 12, 18), ("1 week", 8, 22), ("3 days ago", 12, 12), ("in 3 days", 18, 18), ("0d", 15, 15),
        ("2h", None, None), ("08:00", None, None), ("2026-05-15 08:00", None, None), ("soon", None, None), ("", None, None),
        ("2026-02-30", None, None), ("in 3 days ago", None, None), ("999999w", None, None), ("d", None, None),
    ],
)  # fmt: skip
def test_a_day_is_read_as_people_say_it_and_counted_ahead_where_something_is_to_end(words, back, ahead):
    for days, forward in ((back, False), (ahead, True)):
        read = moment_of(words, datetime(2026, 5, 15, 23, 59), days=True, ahead=forward)
        assert read == (days and datetime(2026, 5, days))


def test_an_hour_ago_is_an_hour_ago_also_where_the_clock_was_put_back(monkeypatch):
    monkeypatch.setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")
    time.tzset()
    try:
        now = datetime.fromtimestamp(datetime(2026, 10, 25, 2, tzinfo=UTC).timestamp())
        assert versions.moment_of("2h", now) == "2026-10-25T00:00:00.000000Z"
        assert versions.moment_of("1 day ago", now) == "2026-10-24T01:00:00.000000Z"
    finally:
        monkeypatch.undo()
        time.tzset()
