"""A project's pages answer as notes do: a section at a time, as the pages are now, and nothing from outside the folder."""

import os
import sqlite3
import time
from contextlib import closing, suppress
from datetime import date
from threading import Thread

import hypothesis
import pytest
from hypothesis import strategies as st
from tests.places import bounded, snapshot
from tests.test_recall import Fixed, note
from tests.texts import bodies, examples

from commonplace import open_memory
from commonplace.index.sidecar import Sidecar
from commonplace.open import open_context
from commonplace.recall.documents import Context, sections_of
from commonplace.recall.finder import Finder
from commonplace.settings import mark_of, read_settings

TODAY = date(2026, 5, 15)


@pytest.fixture
def root(tmp_path, monkeypatch):
    place = tmp_path / "project"
    place.mkdir()
    monkeypatch.setenv("COMMONPLACE_EMBEDDINGS", "off")  # so that nothing but words finds
    return place


def pages(root, **texts):
    for name, said in texts.items():
        write(root, f"{name}.md", said)


def write(root, name, said):
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(said.encode() if isinstance(said, str) else said)
    return path


def asked(root, query, limit=20):
    """What a new process answers, and one that was there before."""
    with_new = [(one.page, one.heading, one.line) for one in open_context(root).search(query, limit)]
    side = Sidecar(None)
    fresh = Context(str(root), side, today=lambda: TODAY, encoder=lambda: None)
    assert {one[0] for one in with_new} >= {one.page for one in fresh.search(query, limit)}
    return with_new


def found(root, query):
    return sorted({page for page, _, _ in asked(root, query)})


# --- sections ----------------------------------------------------------------------------------------------------

# A page, and its sections: the line each begins in, and the headings above it.
CUT = {
    "no heading": ("Only text.\n\nAnd more.\n", [(1, "")]),
    "a heading": ("# One\ntext\n", [(1, "One")]),
    "text before it": ("before\n\n# One\ntext\n", [(1, ""), (3, "One")]),
    "two levels": ("# One\na\n## Two\nb\n# Three\nc\n", [(1, "One"), (3, "One > Two"), (5, "Three")]),
    "deep levels": (
        "# 1\n## 2\n### 3\n#### 4\n##### 5\n###### 6\nx\n## 2b\ny\n",
        [(1, "1"), (2, "1 > 2"), (3, "1 > 2 > 3"), (4, "1 > 2 > 3 > 4"), (5, "1 > 2 > 3 > 4 > 5"), (6, "1 > 2 > 3 > 4 > 5 > 6"), (8, "1 > 2b")],
    ),
    "a level left out": ("# One\na\n### Three\nb\n## Two\nc\n", [(1, "One"), (3, "One > Three"), (5, "One > Two")]),
    "the deepest first": ("### Three\na\n# One\nb\n", [(1, "Three"), (3, "One")]),
    "seven signs": ("# One\n####### no heading\n", [(1, "One")]),
    "no space": ("# One\n#no heading\n", [(1, "One")]),
    "closed": ("# One ##\na\n## Two  ##   \nb\n", [(1, "One"), (3, "One > Two")]),
    "a name that ends in a sign": ("# C#\na\n# F# and C#\nb\n", [(1, "C#"), (3, "F# and C#")]),
    "tabs": ("#\tOne\na\n", [(1, "One")]),
    "indented like code": ("# One\n    # a comment\n", [(1, "One")]),
    "in a fence": ("# One\n```sh\n# a comment\n```\n# Two\nb\n", [(1, "One"), (5, "Two")]),
    "in a fence of tildes": ("# One\n~~~\n# a comment\n```\n# still\n~~~\n# Two\nb\n", [(1, "One"), (7, "Two")]),
    "in a longer fence": ("# One\n````md\n```\n# shown\n```\n````\n# Two\nb\n", [(1, "One"), (7, "Two")]),
    "in an indented fence": ("# One\n  ```\n# a comment\n  ```\n# Two\nb\n", [(1, "One"), (5, "Two")]),
    "a fence that is no end": ("# One\n```\n# a\n``` not the end\n# b\n```\n# Two\nc\n", [(1, "One"), (7, "Two")]),
    "a fence without end": ("# One\n```\n# a\n# b\n", [(1, "One")]),
    "code of one line": ("# One\n```x``` is code\n# Two\nb\n", [(1, "One"), (3, "Two")]),
    "underlined is text": ("Title\n=====\n\ntext\n\nSub\n---\n\nmore\n", [(1, "")]),
    "line ends of Windows": ("# One\r\na\r\n## Two ##\r\nb\r\n```\r\n# c\r\n```\r\n# Three\r\nd\r\n", [(1, "One"), (3, "One > Two"), (8, "Three")]),
    "a mark of the order of bytes": ("\ufeff# One\na\n# Two\nb\n", [(1, "One"), (3, "Two")]),
    "no line end": ("# One", [(1, "One")]),
    "only headings": ("# One\n\n# Two\n\n", [(1, "One"), (3, "Two")]),
    "nothing": ("", []),
    "blank": ("\n  \n\t\n", []),
    "accents": ("# Über uns\na\n", [(1, "Über uns")]),
}  # fmt: skip


@pytest.mark.parametrize("what", CUT)
def test_a_page_is_cut_at_its_headings(root, what):
    said, sections = CUT[what]
    write(root, "page.md", said)
    with open_context(root) as context:
        cut = [(one.line, one.heading) for one in sections_of(said.removeprefix("\ufeff"))]
        assert cut == sections
        got = {(one.line, one.heading) for one in context.search("page", 100)}
    assert got == set(sections)


def test_a_long_section_is_cut_between_paragraphs_and_each_piece_is_found_where_it_stands(root):
    paragraphs = [f"Paragraph {n} speaks of w{n}x. " + "It is long. " * 40 for n in range(30)]
    page = "# Long\n\n" + "\n\n".join(paragraphs) + "\n\n# Short\n\nThe end.\n"
    write(root, "page.md", page)
    lines = page.split("\n")
    with open_context(root) as context:
        for n in (0, 7, 13, 29):
            best = context.search(f"w{n}x")[0]
            assert best.heading == "Long"
            assert f"w{n}x" in best.text
            assert len(best.text) < 6_000
            assert best.text.split("\n")[0] == lines[best.line - 1]
        assert context.search("the end")[0].heading == "Short"


@examples(150, 4000)
@hypothesis.given(bodies())
def test_nothing_of_a_page_is_lost_by_cutting_it(page):
    cut = list(sections_of(page))
    kept = "".join("".join(section.text.split()) for section in cut)
    assert kept == "".join(page.split())
    lines = page.split("\n")
    for section in cut:
        assert section.text.split("\n")[0].rstrip("\r") == lines[section.line - 1].rstrip("\r")
    assert [section.line for section in cut] == sorted(section.line for section in cut)


def test_the_headings_above_a_passage_and_the_name_of_its_page_find_it(root):
    pages(root, deploy="# Release\n\n## Rollback\n\nRun it twice.\n", other="# Other\n\nRun it once.\n")
    with open_context(root) as context:
        for query in ("release rollback", "rollback", "deploy.md", "deploy"):
            best = context.search(query)[0]
            assert best.page == "deploy.md"
        best = context.search("rollback")[0]
        assert (best.heading, best.line, best.text.split("\n")[0]) == ("Release > Rollback", 3, "## Rollback")
        assert "rollback in its heading" in best.reasons
        assert best.score > 0


# --- what changes ------------------------------------------------------------------------------------------------


def test_the_next_search_sees_every_change_to_the_pages(root):
    pages(root, one="The zeppelin is here.\n", two="The balloon is here.\n")
    with open_context(root) as context:
        see = lambda query: sorted({one.page for one in context.search(query, 50)})  # noqa: E731
        assert see("zeppelin") == ["one.md"]
        write(root, "deep/er/three.md", "Another zeppelin.\n")
        assert see("zeppelin") == ["deep/er/three.md", "one.md"]
        write(root, "one.md", "A kite by now.\n")
        assert see("zeppelin") == ["deep/er/three.md"]
        assert see("kite") == ["one.md"]
        (root / "deep").rename(root / "shallow")
        assert see("zeppelin") == ["shallow/er/three.md"]
        (root / "two.md").rename(root / "two.markdown")
        assert see("balloon") == ["two.markdown"]
        (root / "two.markdown").unlink()
        assert see("balloon") == []
        assert found(root, "zeppelin") == ["shallow/er/three.md"]
        write(root, "one.md", "# A\nzeppelin\n# B\nkite\n# C\nzeppelin\n")
        assert {(one.page, one.heading) for one in context.search("zeppelin", 50)} == {
            ("one.md", "A"),
            ("one.md", "C"),
            ("shallow/er/three.md", ""),
        }
        write(root, "one.md", "# C\nzeppelin\n")
        assert {(one.page, one.heading) for one in context.search("zeppelin", 50)} == {
            ("one.md", "C"),
            ("shallow/er/three.md", ""),
        }


def test_an_edit_right_after_a_search_that_leaves_the_size_as_it_was_is_seen(root):
    words = ["alpha", "bravo", "chest", "delta", "eagle"]
    with open_context(root) as context:
        for turn in range(40):
            word = words[turn % len(words)]
            with open(root / "page.md", "w") as file:  # in place: the same inode
                file.write(f"The {word} is here.\n")
            assert [one.page for one in context.search(word)] == ["page.md"], turn
            assert context.search(words[turn % len(words) - 1]) == []


def test_what_was_found_is_the_page_as_it_is_now(root):
    write(root, "page.md", "# One\nzeppelin\n")
    with open_context(root) as context:
        assert context.search("zeppelin")[0].text == "# One\nzeppelin\n"
        write(root, "page.md", "text before\n\n# One\nthe zeppelin\n")
        best = context.search("zeppelin")[0]
        assert (best.line, best.text) == (3, "# One\nthe zeppelin\n")


def test_pages_that_come_and_go_meanwhile_fail_no_search(root):
    for number in range(40):
        pages(root, **{f"n{number}": f"# N{number}\nzeppelin\n"})
    stop = []

    def churn():
        number = 0
        while not stop:
            number += 1
            with suppress(OSError):
                (root / f"n{number % 40}.md").unlink()
            pages(root, **{f"n{(number + 20) % 40}": f"# N{number}\nzeppelin {number}\n"})

    thread = Thread(target=churn)
    thread.start()
    try:
        with open_context(root) as context:
            until = time.monotonic() + 1
            while time.monotonic() < until:
                for one in context.search("zeppelin", 50):
                    assert one.page.startswith("n")
    finally:
        stop.append(True)
        thread.join()
    names = sorted(path.name for path in root.iterdir())
    assert found(root, "zeppelin") == names[: len(names)]


# --- what is no page ---------------------------------------------------------------------------------------------


def test_nothing_outside_the_folder_is_read_and_nothing_in_it_is_waited_for(root, tmp_path):
    outside = tmp_path / "outside"
    write(outside, "secret.md", "The zeppelin is secret.\n")
    os.symlink(outside / "secret.md", root / "link.md")
    os.symlink(outside, root / "folder")
    os.symlink(outside, root / "folder.md")
    os.symlink("nowhere", root / "dangling.md")
    os.symlink(root, root / "itself")
    os.mkfifo(root / "fifo.md")
    (root / "a-folder.md").mkdir()
    write(root, "a-folder.md/inside.md", "The zeppelin is inside.\n")
    with bounded():
        assert found(root, "zeppelin") == ["a-folder.md/inside.md"]


def test_a_page_that_becomes_a_link_is_not_followed(root, tmp_path):
    outside = write(tmp_path / "outside", "secret.md", "The zeppelin is secret, the kite too.\n")
    write(root, "docs/page.md", "The kite is here.\n")
    with open_context(root) as context:
        assert [one.page for one in context.search("kite")] == ["docs/page.md"]
        (root / "docs" / "page.md").unlink()
        os.symlink(outside, root / "docs" / "page.md")
        assert context.search("kite") == context.search("zeppelin") == []
        (root / "docs" / "page.md").unlink()
        (root / "docs").rmdir()
        os.symlink(outside.parent, root / "docs")
        assert context.search("kite") == context.search("zeppelin") == []


SKIPPED = (
    ".git/page.md", ".github/page.md", "node_modules/left-pad/page.md", "deep/node_modules/page.md", "__pycache__/page.md", "venv/page.md", ".venv/page.md",
    "lib/site-packages/page.md", "dist/page.md", "build/page.md", "target/page.md", "vendor/page.md", "page.txt", "page.py", "md", "page.md.bak",
)  # fmt: skip
READ = (
    "page.md",
    "PAGE2.MD",
    "page3.markdown",
    "page4.mdx",
    "docs/page.md",
    "a/b/c/d/e/f/g/page.md",
    "builds/page.md",
    "my vendor/page.md",
)


def test_hidden_and_vendored_folders_and_files_of_other_kinds_are_not_read(root):
    for name in (*SKIPPED, *READ):
        write(root, name, f"The zeppelin of {name}.\n")
    assert found(root, "zeppelin") == sorted(READ)


def test_a_hidden_folder_is_searched_where_it_is_the_one_that_was_named(tmp_path):
    write(tmp_path, ".notes/page.md", "The zeppelin is here.\n")
    assert found(tmp_path / ".notes", "zeppelin") == ["page.md"]
    os.symlink(tmp_path / ".notes", tmp_path / "link")
    assert found(tmp_path / "link", "zeppelin") == ["page.md"]


def test_a_page_of_over_a_megabyte_is_data(root):
    write(root, "large.md", "The zeppelin is large.\n" + "x" * 1_000_000)
    write(root, "fits.md", "The zeppelin fits.\n" + "x\n" * 499_000)
    assert found(root, "zeppelin") == ["fits.md"]


HOSTILE = (
    "a\nb.md", "a\x1b[31mb.md", "a'b\".md", "%_.md", "a;DROP TABLE texts.md", "#.md", "a#b.md", "a#1.md", "-.md", "--help.md", " .md", "a\\b.md", "üñí😀.md", "a\u2028b.md",
    "日本語.md", "a" * 250 + ".md", "....md", ".md", "*.md", "[x].md", "$(id).md", "a\x0bb.md", "con.md", "e\u0301.md", "\xe9.md",
)  # fmt: skip


def word_of(number):
    return f"{chr(97 + number)}qqqqqq{chr(122 - number)}"


def test_pages_of_any_name_are_found_and_taken_out_again(root):
    for number, name in enumerate(HOSTILE):
        write(root, name, f"# Zeppelin\n{word_of(number)}\n")
    os.mkdir(os.fsencode(root) + b"/b\xffd")
    for name in (b"/b\xffd/page.md", b"/bad\xff.md"):
        with open(os.fsencode(root) + name, "wb") as file:
            file.write(b"The zeppelin has no name.\n")
    with open_context(root) as context:
        assert sorted({one.page for one in context.search("zeppelin", 100)}) == sorted(HOSTILE)
        for number, name in enumerate(HOSTILE):
            assert context.search(word_of(number))[0].page == name
            (root / name).unlink()
            assert name not in [one.page for one in context.search(word_of(number))]
    with closing(sqlite3.connect(side_of(root))) as db:
        assert db.execute("SELECT count(*) FROM texts").fetchone() == (0,)
        assert db.execute("SELECT count(*) FROM vocabulary").fetchone() == (0,)


def test_a_folder_that_is_gone_or_no_folder_answers_nothing(root, tmp_path):
    assert open_context(tmp_path / "nowhere").search("zeppelin") == []
    write(tmp_path, "file", "zeppelin")
    assert open_context(tmp_path / "file").search("zeppelin") == []
    write(root, "page.md", "zeppelin\n")
    context = open_context(root)
    assert len(context.search("zeppelin")) == 1
    (root / "page.md").unlink()
    root.rmdir()
    assert context.search("zeppelin") == []


def test_bytes_that_are_no_text_fail_no_search(root):
    write(root, "latin.md", "# Caf\xe9\nThe zeppelin.\n".encode("latin-1"))
    write(root, "nul.md", b"# A\0B\n\0\0 zeppelin \0\n")
    write(root, "wide.md", "# One\nzeppelin\n".encode("utf-16"))
    write(root, "noise.md", bytes(range(256)) * 100 + b"\nzeppelin\n")
    assert found(root, "zeppelin") == ["latin.md", "noise.md", "nul.md"]


def test_nothing_is_written_into_the_folder(root):
    pages(root, one="# One\nzeppelin\n", two="# Two\n")
    before = snapshot(root, times=True)
    with open_context(root) as context:
        context.search("zeppelin")
    assert snapshot(root, times=True) == before


# --- size --------------------------------------------------------------------------------------------------------

HARD = {
    "many headings": "".join(f"# Heading {n}\ntext w{n}x\n" for n in range(10_000)),
    "one line of signs": "# " + "# " * 300_000 + "a",
    "one line of spaces": "# a" + " " * 600_000 + "#" * 100_000 + "b",
    "one fence of a line": "`" * 900_000,
    "many fences": "```\n" * 200_000,
    "deep and shallow": "".join("#" * (n % 6 + 1) + f" h{n}\n" for n in range(60_000)),
    "blank lines": "\n" * 900_000,
    "one word": "a" * 900_000,
    "line ends of Windows": "\r\n" * 400_000,
    "marks": "# a" + "\u0301\u0591" * 200_000,
}  # fmt: skip


@pytest.mark.parametrize("what", HARD)
def test_no_page_takes_long_to_cut(what):
    began = time.process_time()
    sections = list(sections_of(HARD[what]))
    assert time.process_time() - began < 2
    assert len(sections) <= 60_000


def test_a_page_of_ten_thousand_headings_is_searched_in_time(root):
    write(root, "page.md", HARD["many headings"])
    with open_context(root) as context:
        assert context.search("w9876x")[0].heading == "Heading 9876"
        with bounded(seconds=5):  # cut once for each hit, it took minutes
            for n in (0, 5000, 9999):
                assert context.search(f"w{n}x")[0].heading == f"Heading {n}"
            assert len(context.search("heading text", 50)) == 50


# --- the tables --------------------------------------------------------------------------------------------------


def side_of(root):
    return os.path.join(read_settings().cache, mark_of(os.path.realpath(root)), "context.sqlite")


DAMAGE = {
    "words": "UPDATE words_data SET block = zeroblob(length(block)) WHERE id > 100",
    "structure": "UPDATE words_data SET block = zeroblob(9)",
    "files": "DROP TABLE files",
    "texts": "DROP TABLE texts",
    "vocabulary": "DROP TABLE vocabulary",
}


@pytest.mark.parametrize("damage", [*DAMAGE, "gone", "noise"])
@pytest.mark.parametrize("in_use", [True, False], ids=["in use", "between uses"])
def test_whatever_happens_to_the_tables_the_answer_is_right(root, in_use, damage):
    for number in range(12):
        pages(root, **{f"n{number}": f"# N{number}\nzeppelin w{number}x\n"})
    every = [f"n{number}.md" for number in range(12)]
    context = open_context(root)
    assert sorted(one.page for one in context.search("zeppelin", 50)) == sorted(every)
    if not in_use:
        context.close()
    if damage == "gone":
        os.unlink(side_of(root))
    elif damage == "noise":
        with open(side_of(root), "r+b") as file:
            file.seek(3000)
            file.write(os.urandom(40_000))
    else:
        with closing(sqlite3.connect(side_of(root))) as db:
            db.execute(DAMAGE[damage])
            db.commit()
    pages(root, n0="# N0\nzeppelin again w0x\n", later="# Later\nzeppelin\n")
    assert sorted(one.page for one in context.search("zeppelin", 50)) == sorted([*every, "later.md"])
    assert [one.page for one in context.search("w7x")] == ["n7.md"]
    assert sorted({one.page for one in open_context(root).search("zeppelin", 50)}) == sorted([*every, "later.md"])


# --- the same as notes -------------------------------------------------------------------------------------------

WORDS = "deploy rollback staging server release branch token the of and".split()


@examples(40, 1500)
@hypothesis.given(
    st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join), min_size=1, max_size=6), st.lists(st.sampled_from(WORDS), min_size=1, max_size=4)
)  # fmt: skip
def test_the_same_texts_stand_in_the_same_order_as_notes_and_as_pages(tmp_path_factory, texts, query):
    root = tmp_path_factory.mktemp("pages")
    for number, said in enumerate(texts):
        write(root, f"n{number}.md", said)
    context = Context(str(root), Sidecar(None), today=lambda: TODAY, encoder=lambda: None)
    as_pages = [one.page.removesuffix(".md") for one in context.search(" ".join(query), 50)]
    notes = [note(f"n{number}.md", body=said) for number, said in enumerate(texts)]
    answers = Finder(Sidecar(None), Fixed(notes)).find(" ".join(query), TODAY)
    assert as_pages == [one.found.key.removesuffix(".md") for one in answers.placed]


def test_documents_and_notes_are_found_by_the_same_meaning(root, book, monkeypatch):
    monkeypatch.setenv("COMMONPLACE_EMBEDDINGS", "words")
    said = {"deploy": "We deploy with a script that refuses a dirty tree.", "tea": "Ana drinks tea and no coffee."}
    pages(root, **said)
    memory = open_memory(book)
    for name, body in said.items():
        memory.save(body, name=name)
    for query in ("hot beverage", "an espresso", "deploying scripts", "rolling out a version", "coffee"):
        with open_context(root) as context:
            as_pages = [one.page.removesuffix(".md") for one in context.search(query)]
        assert as_pages == [hit.name for hit in memory.recall(query)], query


def test_where_everything_is_switched_off_no_page_is_read(root, monkeypatch):
    write(root, "page.md", "zeppelin\n")
    monkeypatch.setenv("COMMONPLACE", "off")
    assert open_context(root).search("zeppelin") == []
