"""The documentation is under test: what it shows was printed by the thing itself, and what it lists is what there is."""

import os
import pty
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import commonplace
from commonplace.index.listing import INDEX_BYTES, INDEX_HEAD, INDEX_LINES, INDEX_REACH
from commonplace.note.format import parse, render
from commonplace.note.header import ORDER
from commonplace.note.kind import FOLDERS, SYNONYMS
from commonplace.note.limits import BODY_BYTES, DESCRIPTION_CHARS, FILE_BYTES, TAG_CHARS, TAGS, TITLE_CHARS
from commonplace.note.slug import NOT_NOTES, RESERVED, SLUG_BYTES
from commonplace.store.publish import INDEX_MARK
from commonplace.store.turn import FORMAT
from commonplace.surfaces.cli.app import cli

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
FORMAT_PAGE = (ROOT / "docs" / "note-format.md").read_text("utf-8")
TESTING_PAGE = (ROOT / "docs" / "testing.md").read_text("utf-8")
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])


def blocks(text, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def transcript(text):
    """Commands with the output shown under each."""
    for piece in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, shown = piece.partition("\n")
        yield command, shown.strip()


def undated(text):
    return re.sub(r"\d{4}-\d{2}-\d{2}", "DATE", text)


def at_a_terminal(words):
    """What a command prints where a person types it: its answer is read, all else goes to the terminal."""
    ours, theirs = pty.openpty()
    try:
        return subprocess.run(
            words, stdin=theirs, stderr=theirs, stdout=subprocess.PIPE, text=True, check=True, timeout=30
        )
    finally:
        os.close(ours)
        os.close(theirs)


def test_what_the_readme_shows_of_a_terminal_is_what_the_terminal_shows(home):
    commands = [pair for block in blocks(README, "console") for pair in transcript(block)]
    assert len(commands) >= 4
    for command, shown in commands:
        words = shlex.split(command.replace("~/.local/state/commonplace", str(home)))
        if words[0] == "commonplace":
            words[:1] = [sys.executable, "-m", "commonplace"]
        done = at_a_terminal(words)
        assert undated(done.stdout.strip()) == undated(shown)


def test_the_python_in_the_readme_runs(home):
    for block in blocks(README, "python"):
        done = subprocess.run([sys.executable, "-c", block], capture_output=True, text=True, check=True, timeout=30)
        assert "we-deploy-with-deploy-sh" in done.stdout


@pytest.mark.parametrize("section", TESTING_PAGE.split("\n## ")[1:], ids=lambda section: section.partition("\n")[0])
def test_the_python_in_the_testing_page_runs(section, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    names = {"__name__": "example"}
    for block in blocks(section, "python"):
        exec(compile(block, "docs/testing.md", "exec"), names)
    if "TestMyStore" in names:
        names["TestMyStore"]().test_every_field_comes_back(names["TestMyStore"]().make())


def test_the_testing_page_names_every_file_of_the_package():
    for path in (ROOT / "src" / "commonplace" / "testing").glob("*.py"):
        public = path.stem in {"clock", "contract", "embeddings", "faulty", "scripted", "servers"}
        assert (f"`testing.{path.stem}`" in TESTING_PAGE) == public, path.name


def test_the_example_in_the_docstring_of_the_package_runs(home):
    code = commonplace.__doc__.partition("\n\n")[2]
    subprocess.run([sys.executable, "-c", code], check=True, timeout=30)
    assert list((home / "user").glob("we-deploy*.md"))


def test_the_note_in_the_format_page_is_a_note_as_we_write_it():
    example = next(block for block in blocks(FORMAT_PAGE, "") if block.startswith("---\n"))
    note = parse(example.encode(), "deploys-go-through-deploy-sh")
    assert note.odd == ()
    assert render(note) == example.encode()
    from dataclasses import replace

    assert render(replace(note, source=None)) == example.encode()


def test_the_format_page_names_every_key_kind_folder_word_and_limit():
    rows = "\n".join(re.findall(r"^\| `.*", FORMAT_PAGE, re.MULTILINE))
    for key in ORDER:
        assert f"`{key}`" in rows, key
    ports = {word for word in RESERVED if word[:3] in ("com", "lpt") and word[3:] not in "09"}
    for word in (*SYNONYMS, *(RESERVED - ports), *NOT_NOTES):
        assert re.search(rf"\b{re.escape(word)}\b", FORMAT_PAGE), word
    for folder in FOLDERS:
        assert f"{folder}/" in FORMAT_PAGE
    for limit in (BODY_BYTES, FILE_BYTES, INDEX_BYTES):
        assert f"{limit:,}" in FORMAT_PAGE
    for limit in (DESCRIPTION_CHARS, TITLE_CHARS, TAG_CHARS, TAGS, INDEX_LINES, SLUG_BYTES):
        assert re.search(rf"\b{limit}\b", FORMAT_PAGE), limit
    assert f"key order `{' '.join(ORDER)}`" in FORMAT_PAGE.replace("in the order", "key order")
    assert INDEX_MARK in FORMAT_PAGE
    assert INDEX_HEAD[0].startswith(INDEX_MARK)
    assert f"# The notebook on disk, format {FORMAT}" in FORMAT_PAGE


def test_the_page_about_the_command_is_what_the_command_says():
    """Rewritten by `make docs`."""
    from commonplace.surfaces.cli.page import page

    assert (ROOT / "docs" / "cli.md").read_text("utf-8") == page()


def test_every_command_a_page_names_exists():
    for page in PAGES:
        text = page.read_text("utf-8")
        for command in re.findall(r"(?:^\$ |`)commonplace ([a-z]+)\b", text, re.MULTILINE):
            assert command in cli.commands, f"{page.name} names `commonplace {command}`"
    assert re.search(r"`commonplace (\w+)`", INDEX_REACH)[1] in cli.commands


def test_no_page_is_empty():
    for page in PAGES:
        assert len(page.read_text("utf-8")) > 500, page.name


def test_every_link_between_the_pages_leads_somewhere():
    for page in PAGES:
        prose = re.sub(r"^```.*?^```|``.*?``|`[^`\n]*`", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
        for target in re.findall(r"\]\(([^)#:]+)\)", prose):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_target_a_page_names_is_in_the_makefile():
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    for page in PAGES:
        named = re.findall(r"(?:`|^)make (\w+)", page.read_text("utf-8"), re.MULTILINE)
        assert set(named) <= targets, page.name


@pytest.mark.parametrize("name", commonplace.__all__)
def test_every_public_name_says_what_it_is(name):
    assert getattr(commonplace, name).__doc__, name
