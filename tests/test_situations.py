"""Where a note says it applies, it appears; and nowhere else."""

import time

import pytest

from commonplace.recall.situations import Situation, applying, asked_by

PATHS = [
    ("src/**/*.py", "src/app/main.py", True),
    ("src/**/*.py", "src/main.py", True),
    ("src/**/*.py", "tests/main.py", False),
    ("src/**/*.py", "/home/ana/work/src/app/main.py", True),
    ("src/", "src/app/main.py", True),
    ("src/", "lib/src.py", False),
    ("src", "src/app/main.py", True),
    ("*.sql", "db/migrations/001.sql", True),
    ("*.sql", "db/sql/001.py", False),
    ("migrations/*.sql", "db/migrations/001.sql", False),
    ("**/migrations/*.sql", "db/migrations/001.sql", True),
    ("Makefile", "app/Makefile", True),
    ("Makefile", "app/makefile", False),
    ("./deploy.sh", "deploy.sh", True),
    ("*", "anything", False),
    ("**", "any/thing", False),
    ("**/*", "any/thing", False),
    ("./", "any/thing", False),
    ("", "any/thing", False),
    ("a/**/b/**/c", "a/x/b/y/z/c", True),
    ("a/**/b/**/c", "a/x/c", False),
    ("部署/*.md", "部署/说明.md", True),
]
COMMANDS = [
    ("git push", "git push origin main", True),
    ("git push *", "git push origin main", True),
    ("git push *", "git push", True),
    ("git push", "cd app && git push -f", True),
    ("git push", "FOO=1 sudo git push", True),
    ("git push", "git pull", False),
    ("git push", "echo git push", False),
    ("npm run *:prod", "npm run deploy:prod", True),
    ("npm run *:prod", "npm run deploy:dev", False),
    ("rm -rf", "rm -rf build", True),
    ("*", "rm -rf build", False),
    ("**", "rm -rf build", False),
    ("?* *", "rm -rf build", False),
    ("deploy.sh", "./deploy.sh", False),
    ("./deploy.sh", "true; ./deploy.sh --previous", True),
]
TOOLS = [
    ("Bash", "Bash", "", True),
    ("bash", "Bash", "", True),
    ("mcp__github__*", "mcp__github__create_issue", "", True),
    ("Write", "Bash", "", False),
    ("*", "Bash", "", False),
    ("**", "Bash", "", False),
    ("Bash(*)", "Bash", "git push", True),
    ("Bash(*)", "Bash", "", True),
    ("Bash()", "Bash", "git push", True),
    ("Bash(*)", "Write", "", False),
    ("Edit(src/**)", "Bash", "", False),
    ("Bash(git push:*)", "Bash", "git push origin", True),
    ("Bash(git push:*)", "Bash", "git pull", False),
    ("Bash(git push:*)", "Write", "git push", False),
]


@pytest.mark.parametrize(("pattern", "path", "yes"), PATHS)
def test_a_glob_names_the_paths_people_mean_by_it(pattern, path, yes):
    assert applying([pattern], Situation(path=path)) == (pattern if yes else "")


@pytest.mark.parametrize(("pattern", "command", "yes"), COMMANDS)
def test_a_command_is_known_by_how_it_begins(pattern, command, yes):
    assert applying([pattern], Situation(command=command)) == (pattern if yes else "")


@pytest.mark.parametrize(("pattern", "tool", "command", "yes"), TOOLS)
def test_a_tool_is_known_by_its_name_and_what_it_is_used_on(pattern, tool, command, yes):
    assert bool(applying([pattern], Situation(tool=tool, command=command))) is yes


def test_the_first_pattern_that_fits_is_the_reason():
    assert applying(["*.go", "src/", "*.py"], Situation(path="src/a.py")) == "src/"
    assert applying([], Situation(path="src/a.py")) == ""
    assert applying(["src/"], Situation()) == ""


def test_no_pattern_takes_long():
    began = time.perf_counter()
    for pattern in (
        "*a" * 500 + "b",
        "**/" * 500 + "x",
        "a/**/" * 300,
        "?" * 1000,
        "(" * 1000,
        "[" * 1000,
        "\0*" * 400,
    ):
        for text in ("a" * 100_000, "a/" * 50_000, "\0" * 10_000):
            applying([pattern], Situation(text, text, text))
    assert time.perf_counter() - began < 20


def test_what_went_wrong_is_what_is_asked():
    output = "\n".join([f"compiling module {n}" for n in range(300)] + [
        "Traceback (most recent call last):", '  File "app.py", line 3', "sqlite3.OperationalError: database is locked at 0x7f00aa12", "done",
    ])  # fmt: skip
    asked = asked_by(output)
    assert "database is locked" in asked
    assert "0x7f" not in asked
    assert "module 20" not in asked.replace("module 29", "")
    assert asked_by("") == ""
