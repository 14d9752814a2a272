"""Settings: the only reader of the environment. It opens nothing."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import NamedTuple

from commonplace.errors import Unsupported

_APP = "commonplace"
_MAC = sys.platform == "darwin"
# What coding agents set for the commands they run.
_AGENT_SHELLS = (
    "CLAUDECODE", "CODEX_SANDBOX", "COPILOT_CLI", "GEMINI_CLI", "GEMINI_SESSION_ID", "GOOSE_TERMINAL", "OPENCODE",
)  # fmt: skip
_OFF = frozenset(("off", "0", "false", "no"))


class Settings(NamedTuple):
    """What the environment and the caller decided."""

    notebook: str
    """The directory the notes lie in."""
    why: str
    """What chose it, in words."""
    cache: str
    """Where derived files go."""
    off: bool
    """Every surface is a silent no-op."""
    agents_shell: bool
    """An agent's own shell is around us: whoever types is not a person."""


def read_settings(path: str | os.PathLike[str] | None = None, env: Mapping[str, str] | None = None) -> Settings:
    """Decide where everything is: the path given, else MEMORY_DIR, else COMMONPLACE_HOME, else the state home.

    Raises:
        Unsupported: this system is not one we have proved it on.

    """
    env = os.environ if env is None else env
    if os.name == "nt":
        raise Unsupported("Commonplace runs on Linux and macOS; on Windows, use it inside WSL")
    off = env.get("COMMONPLACE", "").strip().casefold() in _OFF
    notebook, why = _notebook(path, env)
    agents = any(env.get(name) for name in _AGENT_SHELLS)
    return Settings(os.path.abspath(os.path.expanduser(notebook)), why, _cache(env), off, agents)


def _notebook(path: str | os.PathLike[str] | None, env: Mapping[str, str]) -> tuple[str, str]:
    if path is not None:
        return os.fspath(path), "given"
    if env.get("MEMORY_DIR"):
        return env["MEMORY_DIR"], "MEMORY_DIR"
    if env.get("COMMONPLACE_HOME"):
        return os.path.join(env["COMMONPLACE_HOME"], "user"), "COMMONPLACE_HOME"
    return os.path.join(_place(env, "state"), "user"), "the default"


def _cache(env: Mapping[str, str]) -> str:
    # A home moved as a whole takes its derived files along, so that a throwaway home leaves nothing behind.
    if env.get("COMMONPLACE_HOME"):
        return os.path.join(os.path.abspath(os.path.expanduser(env["COMMONPLACE_HOME"])), "cache")
    return _place(env, "cache")


def _place(env: Mapping[str, str], what: str) -> str:
    if not _MAC:  # three lines of the XDG rules; platformdirs costs every process 15 ms
        default = {"state": ".local/state", "cache": ".cache"}[what]
        base = env.get(f"XDG_{what.upper()}_HOME", "")
        home = env.get("HOME") or os.path.expanduser("~")
        return os.path.join(base if os.path.isabs(base) else os.path.join(home, default), _APP)
    import platformdirs

    return {"state": platformdirs.user_state_dir, "cache": platformdirs.user_cache_dir}[what](_APP, appauthor=False)
