"""Settings: the only reader of the environment. It opens nothing."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from commonplace.digest import digest
from commonplace.errors import BadPath, Unsupported
from commonplace.named import NamedTuple

_APP = "commonplace"
_MAC = sys.platform == "darwin"
# What coding agents set for the commands they run.
_AGENT_SHELLS = (
    "AGENT", "AI_AGENT", "CLAUDECODE", "CODEX_SANDBOX", "CURSOR_AGENT", "COPILOT_CLI", "GEMINI_CLI", "GEMINI_SESSION_ID", "GOOSE_TERMINAL", "OPENCODE",
)  # fmt: skip
# The longest path a system call takes.
_PATH_BYTES = 4096
_OFF = frozenset(("off", "0", "false", "no"))


class Secret(str):
    """A text that is not shown where settings are printed."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "'...'" if self else "''"


class Settings(NamedTuple):
    """What the environment and the caller decided."""

    notebook: str
    """The directory the notes lie in."""
    given: bool
    """The caller named it."""
    why: str
    """What chose it, in words: `as given`, `from MEMORY_DIR`, `from COMMONPLACE_HOME`, `the default`."""
    cache: str
    """Where derived files go."""
    editor: str
    """The command a person edits text with; '' for none they have named."""
    off: bool
    """Every surface is a silent no-op."""
    agents_shell: bool
    """An agent's own shell is around us: whoever types is not a person."""
    embeddings: str
    """What texts are compared by: `words` (the shipped table), `minilm`, the address of a server, or `off`."""
    embeddings_model: str
    """The server's model, or the directory of MiniLM's weights; '' for none named."""
    embeddings_key: Secret
    """The server's key; '' for none."""

    @property
    def traces(self) -> str:
        """Where it is kept what sessions were given."""
        return os.path.join(self.cache, "traces")

    @property
    def drafts(self) -> str:
        """Where a text somebody is editing lies until it is a note."""
        return os.path.join(self.cache, "drafts")


def mark_of(notebook: str) -> str:
    """What tells the things kept for one notebook from another's: a mark for each place a notebook can be."""
    return digest(notebook.encode("utf-8", "surrogateescape")).hex()[:16]


def switched_off(env: Mapping[str, str] | None = None) -> bool:
    """Whether COMMONPLACE=off makes every surface a silent no-op."""
    env = os.environ if env is None else env
    return env.get("COMMONPLACE", "").strip().casefold() in _OFF


def read_settings(path: str | os.PathLike[str] | None = None, env: Mapping[str, str] | None = None) -> Settings:
    """Decide where everything is: the path given, else MEMORY_DIR, else COMMONPLACE_HOME, else the state home.

    Raises:
        BadPath: no notebook can be there.
        Unsupported: this system is not one we have proved it on.

    """
    env = os.environ if env is None else env
    if os.name == "nt":
        raise Unsupported
    notebook, why = _notebook(path, env)
    agents = any(env.get(name) for name in _AGENT_SHELLS)
    return Settings(
        _absolute(notebook, env), path is not None, why, _cache(env), _editor(env), switched_off(env), agents,
        *_embeddings(env),
    )  # fmt: skip


def _notebook(path: str | os.PathLike[str] | None, env: Mapping[str, str]) -> tuple[str, str]:
    if path is not None:
        return os.fsdecode(path), "as given"
    if env.get("MEMORY_DIR"):
        return env["MEMORY_DIR"], "from MEMORY_DIR"
    if env.get("COMMONPLACE_HOME"):
        return os.path.join(env["COMMONPLACE_HOME"], "user"), "from COMMONPLACE_HOME"
    return os.path.join(_place(env, "state"), "user"), "the default"


def _cache(env: Mapping[str, str]) -> str:
    # A home moved as a whole takes its derived files along, so that a throwaway home leaves nothing behind.
    if env.get("COMMONPLACE_HOME"):
        return os.path.join(_absolute(env["COMMONPLACE_HOME"], env), "cache")
    return _place(env, "cache")


def _embeddings(env: Mapping[str, str]) -> tuple[str, str, Secret]:
    which, model, key = (env.get(f"COMMONPLACE_EMBEDDINGS{part}", "").strip() for part in ("", "_MODEL", "_KEY"))
    word = which.casefold()
    if word in {"words", "minilm"} or not word:
        which = word or "words"
    elif word in _OFF:
        which = "off"
    return which, model, Secret(key)


def _editor(env: Mapping[str, str]) -> str:
    return env.get("VISUAL") or env.get("EDITOR") or ""


def _absolute(path: str, env: Mapping[str, str]) -> str:
    if len(path) > _PATH_BYTES:
        raise BadPath(
            f"{path[:80]!r}… has {len(path):,} characters, and no path may have over {_PATH_BYTES:,}; name a shorter one"
        )
    if not path or "\0" in path or not _encodable(path):
        raise BadPath(f"{path!r} names no directory; name one, or leave it out for the default")
    if path == "~" or path.startswith("~/"):
        path = _home(env) + path[1:]
    elif path.startswith("~") and (path := os.path.expanduser(path)).startswith("~"):
        raise BadPath(f"no user of this system is meant by {path!r}; for a folder of that name write {'./' + path!r}")
    try:
        return os.path.abspath(path)
    except FileNotFoundError:
        raise BadPath(f"{path!r} is seen from a directory that is gone; change to another, or give it whole") from None


def _encodable(path: str) -> bool:
    try:
        os.fsencode(path)
    except UnicodeEncodeError:  # half a character, or one this system's file names cannot have
        return False
    return True


def _home(env: Mapping[str, str]) -> str:
    home = env.get("HOME") or os.path.expanduser("~")
    if not os.path.isabs(home):
        raise BadPath(
            f"HOME is {home!r}, which is no directory; set it, or say where with COMMONPLACE_HOME or MEMORY_DIR"
        )
    return home


def _place(env: Mapping[str, str], what: str) -> str:
    if not _MAC:  # three lines of the XDG rules; platformdirs costs every process 15 ms
        default = {"state": ".local/state", "cache": ".cache"}[what]
        base = env.get(f"XDG_{what.upper()}_HOME", "")
        return os.path.join(base if os.path.isabs(base) else os.path.join(_home(env), default), _APP)
    import platformdirs

    return {"state": platformdirs.user_state_dir, "cache": platformdirs.user_cache_dir}[what](_APP, appauthor=False)
