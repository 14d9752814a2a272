"""What other harnesses show of their memory, told here: an agent of one process learns, an agent of another knows.

Each prompt is a session: a process of its own that has the real Anthropic SDK, an empty transcript and the notebook.
"""

import os
import subprocess
import sys

import pytest

from commonplace.testing.player import SERVER
from commonplace.testing.scripted import Reply, ScriptedModel, When, call
from commonplace.testing.servers import AnthropicServer


@pytest.fixture
def ask(home):
    """Ask an agent of its own process one thing, with a model that plays from a script; answers what it printed."""

    def ask(prompt, *script):
        with AnthropicServer(ScriptedModel(*script)) as server:
            done = subprocess.run(
                [sys.executable, "-m", "commonplace.testing.player", prompt], capture_output=True, text=True, timeout=60,
                env={**os.environ, SERVER: server.base_url, "COMMONPLACE_HOME": str(home)},
            )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    return ask


def then(words, say):
    """The step after a tool: it speaks only if the tool answered these words, in this session or the prompt it was given."""
    return When(lambda now: words in now.result, say)


def test_what_one_session_learns_of_a_deploy_the_next_one_knows(ask, home):
    first = ask(
        "remember that we deploy this project with ./deploy.sh, which refuses to run unless the git tree is clean",
        Reply(calls=(call("memory_write", name="deploy-with-deploy-sh", text="We deploy with ./deploy.sh; it refuses a dirty git tree.", kind="project"),)),
        then("created", "Saved. In a later session I will know that deploys go through ./deploy.sh."),
    )  # fmt: skip
    assert "# memory: 0 notes" in first
    assert "> memory_write" in first
    assert "-> ok" in first
    second = ask(
        "how do I cut a release here?",
        When(lambda now: "deploy-with-deploy-sh.md" in now.system, Reply(calls=(call("memory_search", query="cut a release, deploy script, tags"),))),
        then("refuses a dirty git tree", "Deploys run through ./deploy.sh, and it refuses a dirty tree (memory: deploy-with-deploy-sh)."),
    )  # fmt: skip
    assert "# memory: 1 note\n" in second
    assert "(memory: deploy-with-deploy-sh)" in second


def test_the_seven_prompts_of_the_tutorial(ask, home):
    assert "nothing yet" in ask(
        "What do you currently remember? Check your memory.",
        When(lambda now: "it is empty" in now.system, Reply(calls=(call("memory_view"),))),
        then("", "I remember nothing yet."),
    )  # fmt: skip
    ask(
        "I prefer TypeScript over JavaScript and always use strict mode. Remember that.",
        Reply(calls=(call("memory_write", name="user preferences", kind="user", text="Prefers TypeScript over JavaScript, always in strict mode."),)),
        then("created", "Saved."),
    )  # fmt: skip
    ask(
        "We decided to use PostgreSQL for the auth service. Save this project decision.",
        Reply(calls=(call("memory_write", name="auth service database", kind="project", text="The auth service uses PostgreSQL."),)),
        then("created", "Saved."),
    )  # fmt: skip
    assert "TypeScript" in ask(
        "What do you know about my preferences? Read the details.",
        When(lambda now: "user-preferences.md" in now.system, Reply(calls=(call("memory_read", name="user-preferences"),))),
        lambda now: now.result,
    )  # fmt: skip
    ask(
        "Update my preferences: I also prefer dark theme in all editors.",
        Reply(calls=(call("memory_update", name="user-preferences", old="strict mode.", new="strict mode. Dark theme in all editors."),)),
        then("updated", "Updated."),
    )  # fmt: skip
    ask(
        "The auth service decision is outdated. Delete that memory.",
        Reply(calls=(call("memory_delete", name="auth-service-database"),)),
        then("deleted", "Deleted."),
    )  # fmt: skip
    listed = ask(
        "List all memory files and show me the current index.",
        Reply(calls=(call("memory_view", kind="all"), call("memory_view"))),
        lambda now: now.result,
    )  # fmt: skip
    assert "user-preferences" in listed
    assert "auth-service" not in listed
    assert sorted(path.name for path in (home / "user").glob("*.md")) == ["MEMORY.md", "user-preferences.md"]
    assert "Dark theme in all editors." in (home / "user" / "user-preferences.md").read_text()
