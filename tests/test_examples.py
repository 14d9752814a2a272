"""The examples run as they stand, offline, and are short enough to read at a glance."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))
# What each prints at the end of the way.
SAYS = {
    "anthropic_loop": "| We deploy with ./deploy.sh.",
    "openai_loop": "| We deploy with ./deploy.sh.",
    "plain_callables": "a tree with uncommitted changes",
    "memory_manager": "deleted `user-prefs`",
}


@pytest.mark.parametrize("path", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_the_example_runs_and_is_under_forty_lines(path):
    assert path.read_text("utf-8").count("\n") < 40
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert SAYS[path.stem] in done.stdout


def test_every_example_is_tried():
    assert {path.stem for path in EXAMPLES} == set(SAYS)
