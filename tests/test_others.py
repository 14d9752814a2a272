"""The memory directories of other programs open as they are, are left as they are, and go on in their own spelling."""

import json
import re
import shutil
from difflib import SequenceMatcher
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.places import snapshot
from tests.test_preamble import assert_golden, at_home, noon

from commonplace import Call, Saved, open_memory
from commonplace.note.format import parse, render
from commonplace.prompt.preamble import NO_TOOLS
from commonplace.store.base import Problem
from commonplace.surfaces.cli.app import run

SAMPLES = Path(__file__).parent / "notebooks" / "others"
TODAY = "2026-08-15"
PERSON = Call(origin="person")
MORE = " Still so."


class Said(NamedTuple):
    """What must be read of one note, besides its text."""

    kind: str
    title: str
    description: str
    word: str = ""
    tags: tuple[str, ...] = ()
    created: str = ""
    updated: str = ""
    session: str = ""
    folder: str = ""


class Directory(NamedTuple):
    """What must be read of one directory: its notes by name, what is told of its files, and who answers what."""

    notes: dict[str, Said]
    asked: dict[str, str]
    problems: tuple[Problem, ...] = ()


def session(title, description, *tags):
    return Said("session", title, description, tags=tags, created=title[:10], folder="sessions")


OTHERS = {
    # Kinds of its own, and names that are the stems.
    "handbook": Directory(
        {
            "operator-prefers-ripgrep": Said("user", "operator prefers ripgrep", "The operator searches code with ripgrep and wants line numbers", "preference"),
            "operator-wants-small-commits": Said("user", "operator wants small commits", "One change per commit, with the reason in the message", "preference"),
            "deploy-with-deploy-sh": Said("project", "deploy with deploy sh", "Deploys run through ./deploy.sh, which refuses to run with a dirty git tree", "decision"),
            "release-tags-map-to-posts": Said("project", "release tags map to posts", "Release tags follow the post-NN convention, one tag per post", "fact"),
            "ci-runs-on-bun": Said("project", "ci runs on bun", "CI runs the tests on bun: npm is not installed there", "fact"),
        },
        {
            "how do I cut a release here?": "release-tags-map-to-posts",
            "How do we deploy this project?": "deploy-with-deploy-sh",
            "Shall I search with grep or with ripgrep?": "operator-prefers-ripgrep",
            "Is npm there when the tests run in CI?": "ci-runs-on-bun",
            "What belongs into one commit?": "operator-wants-small-commits",
        },
    ),
    # Stems with underscores, and names that are titles.
    "learn-claude-code": Directory(
        {
            "user_prefs": Said("user", "User Preferences", "Editor settings and communication style", updated="2026-03-25"),
            "project_auth": Said("project", "Auth Refactor", "Backend auth migration status", updated="2026-03-24"),
            "feedback_testing": Said("feedback", "Testing Conventions", "Always run pytest before committing", updated="2026-03-22"),
        },
        {
            "What do you know about my preferences?": "user_prefs",
            "Which database does the auth service use?": "project_auth",
            "What do I run before committing?": "feedback_testing",
        },
    ),
    # No headers. `index.json` is made from the sessions; `memory.jsonl` holds notes of another store, and is told of.
    "go-harness": Directory(
        {
            "2026-05-13-09h47": session("2026-05-13 09:47", "Set up MCP integration with the deepwiki server and listed its tools in the registry", "mcp", "deepwiki", "tools"),
            "2026-05-14-22h11": session("2026-05-14 22:11", "Moved our test fixtures: they now live in testdata/golden/, one directory for each package", "testing", "fixtures"),
            "2026-05-15-08h00": session("2026-05-15 08:00", "Worked on the compaction strategy comparison in chapter 07", "refactor", "compaction", "debug-panel"),
            "memory": Said("other", "memory", "The user is Martin, and this project uses snake_case"),
        },
        {
            "where do our test fixtures live?": "2026-05-14-22h11",
            "what did we work on last week about compaction?": "2026-05-15-08h00",
            "Which MCP server is set up?": "2026-05-13-09h47",
            "What is the name of the user?": "memory",
        },
        (Problem("memory.jsonl", "notes as lines of JSON, as the Go harness keeps them; not read here. Save what should stay, a note each"),),
    ),
    # Headers of three generations, a file that never had one, and a folder of old ones.
    "claude-code": Directory(
        {
            "debugging": Said("reference", "Debugging patterns", "Auth token rotation and database connection troubleshooting for this project"),
            "user_role": Said("user", "User role", "Ten years of Go, first weeks of React; asks in #frontend before asking us", session="60225dfd-277e-4c4b-8ef4-5843bb535764"),
            "feedback_testing": Said("feedback", "Testing without mocks", "Integration tests run against a real database, never a mock", session="0d6c4f0e-52a5-4f0c-9a55-1f0f5e6b7c11"),
            "reviewer-shape": Said("feedback", "reviewer shape", 'The reviewer\'s wish: "one bundled pull request", not five small ones', updated="2026-07-29", session="ddacea9b-60f5-4eb9-910b-971e70ce099f"),
            "feedback_lint": Said("feedback", "pre-commit-lint-requirement", "Run the linter before every commit", session="5b1f3a52-8c3e-4b57-8f5c-1f6f7a0c2d9e"),
            "project_auth": Said(
                "project", "auth-rewrite-motivation",
                "DECIDED 2026-04-30: the auth middleware is rewritten because legal found session tokens stored against the new rules; "
                "it is not about technical debt, so scope follows compliance",
                updated="2026-08-02", session="ddacea9b-60f5-4eb9-910b-971e70ce099f",
            ),
            "style": Said("other", "Style of answers", "Short sentences"),
        },
        {
            "Where do 401 answers after midnight come from?": "debugging",
            "How shall I explain React to this user?": "user_role",
            "May I mock the database?": "feedback_testing",
            "One pull request for a refactoring, or five?": "reviewer-shape",
            "Must I lint a change of one line?": "feedback_lint",
            "Why is the auth middleware rewritten?": "project_auth",
            "Are emoji welcome?": "style",
        },
        (
            Problem("archive", "is a folder notes are not read from; move its notes up to have them read"),
            Problem("project_auth.md", "the description is over 150 characters; the index shows its beginning", unread=False),
        ),
    ),
    # A folder for each type, files that end without a line end, a name with a space and one in another script.
    "qwen-code": Directory(
        {
            "terse-answers": Said("user", "Terse answers", "The user wants terse answers while debugging", folder="user"),
            "no mocks": Said("feedback", "No mocks", "Integration tests use the real database", folder="feedback"),
            "feedback": Said("feedback", "Feedback Memory", "How the user wants the work done", folder="feedback"),
            "repo-workspaces": Said("project", "Repository workspaces", "The repo uses pnpm workspaces", folder="project"),
            "部署日": Said("project", "Deploy day", "每周二部署，周五不部署", folder="project"),
            "dashboards": Said("reference", "Dashboards", "Where the latency dashboards are", folder="reference"),
        },
        {
            "How long may answers be while debugging?": "terse-answers",
            "May I mock the database?": "no mocks",
            "Is TypeScript strict here?": "feedback",
            "npm or pnpm?": "repo-workspaces",
            "哪天部署": "部署日",
            "Is there a dashboard of the latency?": "dashboards",
        },
    ),
}  # fmt: skip


@pytest.fixture(params=sorted(OTHERS))
def which(request):
    return request.param


@pytest.fixture
def book(which, tmp_path):
    """A copy of the directory another program left."""
    return Path(shutil.copytree(SAMPLES / which, tmp_path / "theirs"))


def file_of(which, name):
    folder = OTHERS[which].notes[name].folder
    return f"{folder}/{name}.md" if folder else f"{name}.md"


def said(note):
    days = (day.isoformat() if day else "" for day in (note.created, note.updated))
    return Said(str(note.kind), note.title, note.description, note.word, note.tags, *days, note.session, note.folder)


def test_there_is_a_sample_of_every_program_as_the_program_left_it():
    assert {place.name for place in SAMPLES.iterdir()} == set(OTHERS)
    for name, place in OTHERS.items():
        notes = {path.relative_to(SAMPLES / name).as_posix() for path in (SAMPLES / name).rglob("*.md")}
        assert notes - {"MEMORY.md", "archive/old-deploy.md"} == {file_of(name, note) for note in place.notes}
    # What tools that tidy up files would take away.
    assert b"\nmetadata: \n" in (SAMPLES / "claude-code" / "reviewer-shape.md").read_bytes()
    assert not (SAMPLES / "qwen-code" / "MEMORY.md").read_bytes().endswith(b"\n")


@pytest.mark.promise
def test_a_directory_of_another_program_opens_with_every_note_it_has(which, book, tally):
    theirs, memory = OTHERS[which], open_memory(book)
    scan = memory.notes()
    assert [note.name for note in scan.notes] == sorted(theirs.notes)
    for note in scan.notes:
        with tally("R28", (which, note.name)):
            assert said(note) == theirs.notes[note.name]
            whole = (book / file_of(which, note.name)).read_text("utf-8")
            assert whole.rstrip("\n").endswith(note.body)
            assert "\n---\n" not in note.body
            assert memory.read(note.name) == note
    with tally("R11", which):
        assert scan.problems == theirs.problems
        assert memory.status().problems == theirs.problems


@pytest.mark.promise
def test_reading_everything_leaves_every_byte_as_it_was_and_makes_no_file(which, book, home, tally, capfd):
    theirs, before = OTHERS[which], snapshot(book, times=True)
    memory = open_memory(book)
    with tally("R11", (which, "calls")):
        memory.notes()
        memory.listing()
        memory.preamble()
        memory.status()
        for name, note in theirs.notes.items():
            memory.read(name)
            memory.recall(note.description)
        assert snapshot(book, times=True) == before
    with tally("R11", (which, "commands")):
        shows = [["show", name] for name in theirs.notes]
        recalls = [["recall", question] for question in theirs.asked]
        for words in (["list"], ["status"], ["preamble"], *shows, *recalls):
            assert run([*words, "--dir", str(book)]) == 0
            assert capfd.readouterr().out
            assert run([*words, "--dir", str(book), "--json"]) == 0
            assert json.loads(capfd.readouterr().out)
        assert snapshot(book, times=True) == before
    assert {path.name for path in book.parent.iterdir()} == {book.name, home.name}


@pytest.mark.promise
def test_a_directory_stays_its_owners_while_they_go_on_editing_it(which, book, tally):
    """An index of ours appears with a save of ours, not because somebody else's file changed."""
    memory = open_memory(book)
    memory.notes()
    for name in OTHERS[which].notes:
        with tally("R11", (which, name)):
            with (book / file_of(which, name)).open("a", encoding="utf-8") as file:
                file.write("\nAdded by hand.\n")
            before = snapshot(book, times=True)
            assert memory.read(name).body.endswith("Added by hand.")
            assert name in {hit.name for hit in memory.recall("added by hand", limit=50).hits}
            memory.preamble()
            assert snapshot(book, times=True) == before


def test_the_command_lists_and_shows_what_the_files_say(which, book, capfd):
    assert run(["list", "--dir", str(book), "--json"]) == 0
    listed = json.loads(capfd.readouterr().out)
    assert {note["name"]: note["kind"] for note in listed["notes"]} == {
        name: note.kind for name, note in OTHERS[which].notes.items()
    }
    for name in OTHERS[which].notes:
        assert run(["show", name, "--dir", str(book)]) == 0
        assert open_memory(book).read(name).body in capfd.readouterr().out


@pytest.mark.promise
def test_every_note_renders_to_the_bytes_it_was_read_from(which, tally):
    for name, note in OTHERS[which].notes.items():
        with tally("R28", (which, name)):
            source = (SAMPLES / which / file_of(which, name)).read_bytes()
            assert render(parse(source, name, note.folder)) == source


# --- a correction ------------------------------------------------------------------------------------------------


def changed(before, after):
    """The lines that went, and the lines that came."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    went, came = [], []
    for what, *at in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if what != "equal":
            went += old[at[0] : at[1]]
            came += new[at[2] : at[3]]
    return sorted(went), sorted(came)


def expected_change(source):
    """Another last line, the day of the change where the file keeps such days, and who made it."""
    lines = source.splitlines(keepends=True)
    went = [lines[-1]]
    came = [f"{lines[-1].rstrip()}{MORE}\n", "origin: person\n"]
    dated = [line for line in lines if re.match(r" *(updated|modified): ", line)]
    went += dated
    came += [re.sub(": .*", f": {TODAY}", line) for line in dated] or [f"updated: {TODAY}\n"]
    if lines[0] != "---\n":
        came += ["---\n", "---\n", "\n"]
    return sorted(went), sorted(came)


@pytest.mark.promise
def test_a_correction_changes_the_lines_whose_values_differ_and_no_other(which, book, tally):
    memory = open_memory(book, now=noon(TODAY))
    for name, note in OTHERS[which].notes.items():
        with tally("R28", (which, name)):
            file = book / file_of(which, name)
            source, others = file.read_bytes(), besides(book, name)
            old = memory.read(name)
            text = old.body + MORE
            saved = memory.save(text, name=name, description=old.description, expect=old.stamp, call=PERSON)
            assert isinstance(saved, Saved), saved
            assert (saved.outcome, saved.warnings, saved.file) == ("updated", (), str(file.resolve()))
            now = file.read_bytes()
            assert changed(source.decode(), now.decode()) == expected_change(source.decode())
            assert (book / saved.kept).read_bytes() == source
            assert besides(book, name) == others
            back = open_memory(book).read(name)
            assert said(back) == note._replace(updated=TODAY)
            assert back.body == text
            assert render(parse(now, name, note.folder)) == now


def besides(book, name):
    """Every file of theirs but this note and the index."""
    return {
        path: seen
        for path, seen in snapshot(book).items()
        if Path(path).name not in (f"{name}.md", "MEMORY.md") and ".commonplace" not in path
    }


@pytest.mark.promise
def test_a_word_for_a_kind_stays_the_files_own_when_a_kind_is_asked_for(which, book, tally):
    memory = open_memory(book, now=noon(TODAY))
    for name, note in OTHERS[which].notes.items():
        if note.kind == "other":
            continue
        with tally("R28", (which, name)):
            before = (book / file_of(which, name)).read_text("utf-8")
            memory.save(memory.read(name).body, name=name, kind=note.kind, tags=["looked-at"], replace=True)
            went, came = changed(before, (book / file_of(which, name)).read_text("utf-8"))
            assert not [line for line in went + came if "type:" in line or "metadata:" in line]
            assert said(memory.read(name)) == note._replace(tags=("looked-at",), updated=TODAY)


@pytest.mark.promise
def test_the_index_of_their_own_is_kept_before_ours_takes_its_place(which, book, tally):
    kept = book / ".commonplace" / "history" / "MEMORY"
    own = [path.read_bytes() for path in book.glob("MEMORY.md")]
    memory = open_memory(book, now=noon(TODAY))
    for number, text in enumerate(("A fact of ours.", "And another.")):
        with tally("R11", (which, number)):
            assert memory.save(text, call=PERSON).warnings == ()
            assert [path.read_bytes() for path in kept.glob("*")] == own
            assert (book / "MEMORY.md").read_text("utf-8").startswith("<!-- Made by Commonplace")
    if which == "go-harness":
        assert (own, kept.exists()) == ([], False)


# --- what a model reads --------------------------------------------------------------------------------------------


def test_the_index_and_the_preamble_read_as_they_did(which, book):
    memory = open_memory(book, now=noon(TODAY), profile=NO_TOOLS)
    preamble = memory.preamble()
    memory.save("The first change of ours writes the index.", name="first", call=PERSON)
    memory.forget("first", call=PERSON)
    index = (book / "MEMORY.md").read_text("utf-8")
    assert index.endswith(memory.listing().text)
    assert memory.preamble() == preamble
    assert_golden(f"others-{which}.md", at_home(f"{index}\n{preamble}", book))


def test_every_question_is_answered_by_the_note_that_knows(which, book):
    theirs, memory = OTHERS[which], open_memory(book)
    assert set(theirs.asked.values()) == set(theirs.notes)
    found = {question: memory.recall(question).hits[0].name for question in theirs.asked}
    assert found == theirs.asked
    assert {hit.trust for question in theirs.asked for hit in memory.recall(question).hits} == {"hand"}


def test_a_question_two_notes_answer_finds_both(tmp_path):
    memory = open_memory(shutil.copytree(SAMPLES / "handbook", tmp_path / "theirs"))
    hits = memory.recall("cut a release, deploy script, tags").hits
    assert {hit.name for hit in hits[:2]} == {"deploy-with-deploy-sh", "release-tags-map-to-posts"}
