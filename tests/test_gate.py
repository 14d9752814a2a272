"""The gate: who may do what to a notebook, and that nothing a model calls has an effect outside its role."""

import itertools
import json
import os
import random
import re

import pytest
from tests.places import UnsyncedDisk, bounded, snapshot
from tests.texts import POSES, TOKENS

from commonplace import Call, open_memory
from commonplace.guard.text import cleaned
from commonplace.note.format import parse
from commonplace.note.note import Note
from commonplace.prompt.preamble import FULL, PROFILES, REMEMBER_RECALL
from commonplace.settings import read_settings
from commonplace.store.base import trust_of
from commonplace.store.files import FileStore
from commonplace.tools.dispatch import dispatch
from commonplace.tools.gate import ROLES, Allow, Deny, ToolCall, gate, tool_call
from commonplace.tools.table import TABLE

LOOKS = {"search", "read", "view"}
MAY = {
    "person": LOOKS | {"write", "update", "delete"},
    "agent": LOOKS | {"write", "update", "delete"},
    "extractor": LOOKS | {"write", "update"},
    "read-only": LOOKS,
}


# --- the verdicts ------------------------------------------------------------------------------------------------------


def test_the_roles_are_four():
    assert set(ROLES) == set(MAY)


@pytest.mark.parametrize("role", MAY)
def test_each_role_may_do_what_it_may_and_nothing_else(role):
    for row in TABLE:
        verdict = gate(role)(tool_call(getattr(FULL, row.verb), {}))
        assert isinstance(verdict, Allow if row.verb in MAY[role] else Deny)
        if isinstance(verdict, Deny):
            assert verdict.reason == f"the {role} role may not {row.effect}"


# What is not a memory tool, though some of it looks like one.
NO_TOOLS = (
    "bash", "Bash", "shell", "Write", "Edit", "Read", "write_file", "str_replace_based_edit_tool", "http_get", "git", "memory", "forget", "purge",
    "delete", "read", "view", "search", "Memory_Read", "MEMORY_DELETE", "memory-delete", "memory delete", " memory_delete", "memory_delete ",
    "memory_delete\n", "memory_delete\0", "memory_delete\u200b", "memory_delete()", "memory_delete;", "memory_delete,memory_read", "memory_*", "memory_",
    "functions.memory_delete", "mcp__commonplace__memory_delete", "default_api.memory_delete", "../memory_delete", "./memory_read", "memory_read/../memory_delete",
    "\uff4demory_delete", "mem\u043ery_delete", "memory\uff3fdelete", "", "None", "__class__", "run_tool", "memory_delete' or '1'='1", "$(memory_delete)", "recall", "remember",
    None, 7, 1.5, True, ["memory_delete"], ("memory_delete",), {"name": "memory_delete"}, b"memory_delete", ...,
)  # fmt: skip


@pytest.mark.parametrize("role", [*MAY, "admin", "", "Agent", "person "])
def test_what_is_no_memory_tool_is_denied_to_everybody(role):
    for name in NO_TOOLS:
        call = tool_call(name, {"name": "deploys"})
        assert call.verb == "", name
        assert isinstance(gate(role)(call), Deny), name


def test_a_role_there_is_not_may_do_nothing_and_is_told_those_there_are():
    for row in TABLE:
        verdict = gate("admin")(tool_call(getattr(FULL, row.verb)))
        assert isinstance(verdict, Deny)
        assert verdict.reason == "there is no role 'admin'; there are person, agent, extractor, read-only"


def test_names_are_those_of_the_profile_and_no_others():
    for profile in PROFILES.values():
        for other in PROFILES.values():
            for name in filter(None, other):
                assert bool(tool_call(name, None, profile).verb) is (name in profile)
    assert tool_call("recall", None, REMEMBER_RECALL) == ToolCall("recall", "search", None)


def test_a_denial_counts_as_false_and_a_leave_as_true():
    assert Allow()
    assert not Deny("why")


# --- the gate and the call ----------------------------------------------------------------------------------------------


@pytest.fixture
def kept(book):
    """A notebook with one note."""
    memory = open_memory(book)
    memory.save("Deploys go through ./deploy.sh.", name="deploys")
    return memory


def run(memory, name, arguments, gate):
    return dispatch(memory, name, arguments, call=Call(), profile=FULL, gate=gate)


def test_the_gate_is_asked_once_before_anything_else_and_sees_what_was_sent(kept):
    asked = []

    def ask(call):
        asked.append(call)
        return Deny("not today")

    answer = run(kept, "memory_delete", "{broken", ask)
    assert asked == [ToolCall("memory_delete", "delete", "{broken")]
    assert answer == ("memory_delete was not run: not today.", True)
    assert kept.read("deploys")


@pytest.mark.parametrize("verdict", [None, True, 1, "yes", Allow, ()])
def test_a_verdict_that_is_no_leave_is_none(kept, verdict):
    assert run(kept, "memory_delete", {"name": "deploys"}, lambda call: verdict).failed
    assert kept.read("deploys")


def test_a_gate_that_breaks_lets_nothing_through(kept):
    def broken(call):
        raise RuntimeError("the policy service is down")

    answer = run(kept, "memory_delete", {"name": "deploys"}, broken)
    assert answer.failed
    assert "the policy service" not in answer.text
    assert kept.read("deploys")


def test_a_gate_of_ones_own_cannot_make_a_tool_of_what_is_none(kept):
    answer = run(kept, "bash", {"command": "ls"}, lambda call: Allow())
    assert answer.failed
    assert "There is no tool 'bash' here" in answer.text


@pytest.mark.parametrize(
    ("role", "origin", "author"),
    [
        ("agent", None, "agent"), ("agent", "person", "agent"), ("agent", "agent", "agent"), ("agent", "extractor", "extractor"),
        ("extractor", None, "extractor"), ("extractor", "person", "extractor"), ("extractor", "agent", "extractor"),
        ("extractor", "import", "import"), ("person", None, "person"), ("person", "person", "person"), ("person", "agent", "agent"),
    ],
)  # fmt: skip
def test_a_role_lowers_whose_word_a_note_is_and_never_raises_it(book, role, origin, author):
    memory = open_memory(book)
    call = None if origin is None else Call(origin=origin, session="s1")
    assert not memory.run_tool("memory_write", {"text": "A fact.", "name": "fact"}, call=call, role=role).failed
    assert memory.find("fact").author() == author
    assert trust_of(author) <= trust_of(origin or author)
    assert memory.read("fact").session == ("" if origin is None else "s1")


def test_text_from_outside_is_not_kept_through_a_tool_either(book):
    memory = open_memory(book)
    for call in (Call(origin="external:web"), Call(tainted=True)):
        answer = memory.run_tool("memory_write", {"text": "Obey.", "name": "fact"}, call=call)
        assert answer.failed
        assert "unreviewed" in answer.text
    assert not book.exists()


# --- a session that has read text from outside ----------------------------------------------------------------------------

AUTHORS = ("person", "agent", "hand", "extractor", "import", "external:web", "somebody")
CHANGES = {
    "delete": ("memory_delete", {"name": "fact"}),
    "update": ("memory_update", {"name": "fact", "old": "It is so", "new": "It is not so"}),
    "write": ("memory_write", {"name": "fact", "text": "It is not so.", "replace": True}),
    "correct": ("memory_write", {"name": "Fact", "text": "It is so, as it was."}),
}
# Whom a role speaks for when its host says no more.
VOICES = {"person": "person", "agent": "agent", "extractor": "extractor", "read-only": "agent"}


def by(book, author):
    """A notebook with a note of this author's."""
    store = FileStore(str(book), disk=UnsyncedDisk())
    store.put(Note(name="fact", body="It is so.", description="It is so"), call=Call(author), expect="")
    if author == "hand":
        (book / "fact.md").write_text((book / "fact.md").read_text().replace("so.", "so!"))
    settings = read_settings(book, {"COMMONPLACE_HOME": str(book.parent / "home")})
    memory = open_memory(settings=settings, disk=UnsyncedDisk())
    memory.notes()  # the index is put beside it
    return memory


@pytest.mark.promise
@pytest.mark.parametrize("role", MAY)
@pytest.mark.parametrize("change", CHANGES)
def test_a_tainted_call_touches_no_note_of_an_author_above_it(tmp_path, tally, role, change):
    name, arguments = CHANGES[change]
    verb = tool_call(name).verb
    for number, (author, tainted, origin) in enumerate(
        itertools.product(AUTHORS, (False, True), (VOICES[role], "external:mail"))
    ):
        memory = by(tmp_path / str(number) / "book", author)
        assert memory.find("fact").author() == author
        before = snapshot(tmp_path / str(number) / "book", times=True)
        call = Call(origin, "s1", tainted=tainted)
        own = trust_of(origin) if origin == "person" or not tainted else 0
        above = own == 0 and trust_of(author) > own
        with tally("R17", (role, tainted, origin, author, change)):
            answer = memory.run_tool(name, arguments, call=call, role=role)
            after = snapshot(tmp_path / str(number) / "book", times=True)
            if verb not in MAY[role]:
                assert f"the {role} role may not" in answer.text
            elif above:
                what, way = ("delete", "forget") if change == "delete" else ("replace", "edit")
                assert answer.text.startswith(f"{name} was not run: what this session has read from outside")
                assert f"may not {what} a note by {author}" in answer.text
                assert f"`commonplace {way}`" in answer.text
            else:
                assert "was not run" not in answer.text
                assert answer.failed == (change != "delete" and own == 0)  # what it says is not kept unreviewed
            assert (after == before) is answer.failed


def test_what_a_tainted_call_may_not_delete_it_may_still_read(book):
    memory = by(book, "person")
    for name, given in (("memory_read", {"name": "fact"}), ("memory_search", {"query": "so"}), ("memory_view", {})):
        assert not memory.run_tool(name, given, call=Call(tainted=True)).failed


def test_a_note_that_changes_hands_after_the_gate_was_asked_is_not_deleted(book):
    memory = by(book, "external:web")

    def ask(call):
        assert call.author == "external:web"
        memory.save("A person says so.", name="fact", replace=True, call=Call("person"))
        return Allow()

    answer = dispatch(memory, "memory_delete", {"name": "fact"}, call=Call(tainted=True), profile=FULL, gate=ask)
    assert answer.failed
    assert memory.read("fact").body == "A person says so."


def test_what_cannot_be_read_counts_as_somebodys(book):
    memory = by(book, "agent")
    (book / "blob.md").write_bytes(b"a\0b")
    memory.notes()
    before = snapshot(book, times=True)
    answer = memory.run_tool("memory_delete", {"name": "blob"}, call=Call(tainted=True))
    assert "may not delete a note by hand" in answer.text
    assert snapshot(book, times=True) == before


# --- a thousand hostile calls ---------------------------------------------------------------------------------------------

SECRET = "the-outside-says-xyzzy-4711"
PATHS = (
    "../secret", "../../outside/secret", "/etc/passwd", "/proc/self/environ", "..%2fsecret", "%2e%2e/secret", "....//secret", "..\\secret", "C:\\secret", "//host/secret",
    "~/.ssh/id_rsa", "file:///etc/passwd", ".commonplace/log.jsonl", ".commonplace/lock", "MEMORY.md", "MEMORY", "sessions/../../secret", "sessions", ".", "..", "...", "/",
    "x/../../secret.md", "secret\0.md", "con", "nul.md", "-rf", "--help", "$(cat secret)", "`id`", "; rm -rf .", "| cat /etc/passwd", "*", "?", "[a-z]*", "\u2025/secret", "\uff0e\uff0e\uff0fsecret",
    "link", "deploys/../link", "deploys.md/x",
)  # fmt: skip
NAMES = (
    "deploys",
    "Deploys",
    "deploys.md",
    "a person's note",
    "user_prefs",
    "fact-1",
    "fact-2",
    "note that is not there",
)
VALUES = (
    None, True, False, 0, 1, -1, 3, 5.0, 2.5, float("nan"), float("inf"), 10**30, "", " ", "x", [], ["a"], [None], ["x"] * 50, {}, {"name": "deploys"}, "all", "user", "decision", "session", "other",
    "delete everything", "\ud800", "\udfff\ud800", "x" * 5_000, "x" * 100_000, "\u65e5" * 40_000, "\x1b[2J" * 2_000, "((((" * 5_000, " " * 60_000, "\n" * 60_000, ["x" * 100_000] * 3, b"bytes", ...,
)  # fmt: skip
# What no row takes, though a hijacked model would like it to.
EXTRAS = (
    "call",
    "origin",
    "role",
    "trusted",
    "pinned",
    "expect",
    "purge",
    "path",
    "dir",
    "folder",
    "gate",
    "profile",
    "__class__",
    "self",
    "desk",
    "supersedes",
    7,
    None,
)


def nested(pick):
    value = pick.choice(VALUES)
    for _ in range(pick.choice((1, 3, 50))):
        value = pick.choice(([value], {"x": value}, {"text": value}))
    return value


def hostile_value(pick):
    pool = pick.choice((PATHS, NAMES, NAMES, POSES, TOKENS, VALUES))
    value = pick.choice(pool)
    if isinstance(value, str) and pick.random() < 0.3:
        value = f"{value}{pick.choice(POSES)}"
    return nested(pick) if pick.random() < 0.1 else value


def likely_value(pick, one):
    """A value a tool takes, so that the calls reach what lies behind the checks."""
    if one.choices:
        return pick.choice(one.choices)
    if one.name == "old":
        return pick.choice(("Fact", "We deploy", "with it.", "./deploy.sh", "vim", "person", "done"))
    if one.type == "string":
        of_name = (*NAMES, *PATHS[:8])
        return pick.choice(of_name if one.name == "name" else (*of_name, "deploy", "Fact 1.", *POSES[:40]))
    return {"integer": pick.choice((1, 3, 20)), "boolean": pick.random() < 0.5, "array": [pick.choice(POSES)[:40]]}[
        one.type
    ]


def hostile_arguments(pick, row):
    if pick.random() < 0.15:
        return pick.choice(
            (
                *VALUES,
                "{",
                "[" * 100_000,
                '{"name": ' * 5_000,
                '{"name": "deploys"',
                "null",
                "[]",
                '"deploys"',
                "{'name': 'deploys'}",
                "name=deploys",
                "\ufeff{}",
                '{"limit": 1e999}',
                "9" * 10_000,
            )
        )
    given = {}
    for one in row.parameters:
        if one.required or pick.random() < 0.4:
            given[one.name] = likely_value(pick, one) if pick.random() < 0.7 else hostile_value(pick)
    if pick.random() < 0.2:
        given[pick.choice(EXTRAS)] = hostile_value(pick)
    if pick.random() < 0.3:
        try:
            return json.dumps(given)
        except TypeError:
            pass
    return given


def hostile_calls(role, count):
    pick = random.Random(f"hostile calls of the {role}")
    for _ in range(count):
        row = pick.choice(TABLE)
        name = getattr(FULL, row.verb) if pick.random() < 0.7 else pick.choice(NO_TOOLS)
        yield name, hostile_arguments(pick, row)


class Place:
    """A notebook among things that are none of its business."""

    def __init__(self, place):
        self.place, self.book = place, place / "a" / "notebook"
        for folder in (place / "outside", place / "a" / "notebook" / "sessions", place / "a" / "sessions"):
            folder.mkdir(parents=True)
        for folder in (place, place / "a", place / "outside", place / "a" / "sessions"):
            for name in ("secret", "secret.md", "passwd", "MEMORY.md", "fact-1.md"):
                (folder / name).write_text(f"{SECRET} of {name}\n")
        (self.book / "user_prefs.md").write_text("---\ntype: user\n---\n\nUses vim.\n")
        (self.book / "a person's note.md").write_text("What a person wrote.\n")
        (self.book / "link.md").symlink_to(place / "outside" / "secret.md")
        settings = read_settings(self.book, {"COMMONPLACE_HOME": str(place / "home")})
        self.memory = open_memory(settings=settings, disk=UnsyncedDisk())
        self.fill()
        self.before = self.outside()

    def fill(self):
        """The notes there are at first, and again after some were deleted."""
        for number in range(3):
            text = f"Fact {number}.\n\nWe deploy with it."
            self.memory.save(text, name=f"fact {number}", description=f"Fact {number}")
        self.memory.save("Deploys go through ./deploy.sh.", name="deploys")
        self.memory.save("It was done.", name="2026-05-15-08h00-a1b2", kind="session")

    def outside(self):
        ours = ("home", os.path.join("a", "notebook"))
        return {
            path: seen
            for path, seen in snapshot(self.place, times=True).items()
            if path not in ours and not path.startswith(tuple(f"{our}{os.sep}" for our in ours))
        }

    def marks(self):
        """Every entry of the notebook, by what changes with it."""
        out = {}
        for folder, _, files in os.walk(self.book):
            for name in (".", *files):
                found = os.lstat(os.path.join(folder, name))
                out[folder, name] = (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
        return out

    def said(self):
        return {note.name: note.body for note in self.memory.notes().notes}

    def kept(self):
        history = (self.book / ".commonplace" / "history").glob("*/*")
        return {parse(path.read_bytes(), "x").body for path in history}


ANSWER_BYTES = 26_000


def assert_fit_for_a_model(answer, place):
    assert answer.text.strip()
    assert len(answer.text.encode()) <= ANSWER_BYTES
    assert cleaned(answer.text) == answer.text
    assert not re.search(r"Traceback|File \"|\.py\b|line \d+, in|Error\(", answer.text)
    assert str(place) not in answer.text
    assert SECRET not in answer.text


@pytest.mark.promise
@pytest.mark.timeout(300)
@pytest.mark.parametrize("role", MAY)
def test_a_thousand_hostile_calls_do_nothing_outside_their_role(tmp_path, tally, scale, role):
    place, ran = Place(tmp_path / "place"), set()
    marks, said = place.marks(), place.said()
    for number, (name, arguments) in enumerate(hostile_calls(role, scale(1_000, 20_000))):
        with tally("R23", f"{number} {name!r} {arguments!r}"):
            with bounded():
                answer = place.memory.run_tool(name, arguments, role=role)
            verb, before, marks = tool_call(name).verb, marks, place.marks()
            changed, there = marks != before, said
            if changed:
                said = place.said()
            assert_fit_for_a_model(answer, tmp_path)
            assert answer.failed or verb in MAY[role]
            assert not changed or not (answer.failed or verb in LOOKS), "what failed, or only looks, changed something"
            gone = set(there) - set(said)
            assert not gone or (verb == "delete" and len(gone) == 1)
            for lost in set(there.values()) - set(said.values()):
                assert lost in place.kept(), "what was replaced or deleted is not in the history"
            if not answer.failed:
                ran.add(verb)
        if number % 50 == 0:
            assert place.outside() == place.before
            place.fill()
            marks, said = place.marks(), place.said()
    with tally("R23", "around the notebook"):
        assert place.outside() == place.before
        assert os.readlink(place.book / "link.md") == str(tmp_path / "place" / "outside" / "secret.md")
    with tally("R23", "what the role may do was done"):
        assert ran == MAY[role]
    with tally("R23", "whose word it is"):
        voices = {place.memory.find(name).author() for name in said} - {"hand", "agent"}
        assert voices <= {role}


def test_the_hostile_calls_are_as_many_as_they_seem():
    calls = list(itertools.islice(hostile_calls("agent", 1_000), 1_000))
    assert len({repr(call)[:2_000] for call in calls}) > 800
    assert {type(arguments) for _, arguments in calls} >= {dict, str, list, int, float, bool, type(None)}
