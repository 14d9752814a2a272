"""The composition root: the one place that picks concrete classes and puts a Memory together."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from datetime import date

from commonplace.errors import NoEncoder
from commonplace.evidence.workspace import repository_of
from commonplace.index.catalog import Catalog
from commonplace.index.sidecar import Sidecar
from commonplace.memory import Memory
from commonplace.settings import Settings, mark_of, read_settings
from commonplace.store.disk import Disk
from commonplace.store.files import FileStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from commonplace.adapters.watching import Watcher
    from commonplace.outcomes import Tools
    from commonplace.prompt.preamble import Profile
    from commonplace.recall.documents import Context
    from commonplace.recall.semantic import Encoder
    from commonplace.store.audit import Auditor
    from commonplace.store.history import History


# Those that take no time to open, nor for a text: no prompt waits for the others.
QUICK_ENCODERS = frozenset(("words", "off"))


def open_memory(
    path: str | os.PathLike[str] | None = None,
    *,
    now: Callable[[], float] = time.time,
    profile: Profile | None = None,
    disk: Disk | None = None,
    settings: Settings | None = None,
    watch: bool = False,
    workspace: str | os.PathLike[str] | None = None,
) -> Memory:
    """The memory in a directory; without one, where MEMORY_DIR, COMMONPLACE_HOME or the default say.

    Nothing is made before the first save. `profile` names the tools the model is offered; `now` is the clock. `watch`
    is for a process that lives long and asks often: while the system reports no change, no file is looked at. It needs
    the extra `watch`; an edit in place is then seen some milliseconds after it was made. `workspace` is the folder the
    notes speak of: what they claim of it is checked where they are found. By default it is the repository the notebook
    lies in, if it lies in one.
    """
    settings = settings or read_settings(path)
    if settings.off:
        from commonplace.nomemory import NoMemory

        return NoMemory()
    store = FileStore(settings.notebook, disk=disk, now=now)
    sidecar = Sidecar(os.path.join(settings.cache, mark_of(store.path), "catalog.sqlite"))
    watcher = _watcher(store.path) if watch else None
    catalog = Catalog(
        store, sidecar, today=lambda: date.fromtimestamp(now()), republish=store.republish,
        changes=watcher.mark if watcher else lambda: None,
    )  # fmt: skip
    return Memory(
        store, catalog, now=now, profile=profile, past=lambda: _past(store.path, disk or Disk()), toolbox=_toolbox,
        auditor=lambda: _auditor(store.path, disk or Disk()), encoder=lambda: encoder_of(settings),
        encodes_quickly=settings.embeddings in QUICK_ENCODERS, acting=store.acting,
        ending=watcher.close if watcher else lambda: None,
        workspace=os.path.abspath(workspace) if workspace else repository_of(store.path),
    )  # fmt: skip


def _watcher(path: str) -> Watcher:
    from commonplace.adapters.watching import Watcher

    return Watcher(path)


def open_context(root: str | os.PathLike[str], *, now: Callable[[], float] = time.time) -> Context:
    """A project's documents, to be asked as notes are: the Markdown below a folder, cut at its headings."""
    from commonplace.recall.documents import Context

    path = os.path.realpath(root)
    settings = read_settings()
    if settings.off:
        return Context("", Sidecar(None), today=date.today, encoder=lambda: None)
    side = Sidecar(os.path.join(settings.cache, mark_of(path), "context.sqlite"))
    return Context(path, side, today=lambda: date.fromtimestamp(now()), encoder=lambda: encoder_of(settings),
        quick=settings.embeddings in QUICK_ENCODERS,
    )  # fmt: skip


def encoder_of(settings: Settings) -> Encoder | None:
    """What COMMONPLACE_EMBEDDINGS names, to compare texts by; None where that is `off`.

    Raises:
        MissingExtra: what it runs on is not installed.
        NoEncoder: there is none by that name, or it cannot be used; recall goes on by words.

    """
    which = settings.embeddings
    if which == "off":
        return None
    if which == "words":
        from commonplace.recall.semantic import StaticWords

        return StaticWords()
    if which == "minilm":
        from commonplace.adapters.minilm import MiniLM

        return MiniLM(settings.cache, settings.embeddings_model)
    if "://" in which:
        from commonplace.adapters.embeddings import EmbeddingsServer

        return EmbeddingsServer(which, settings.embeddings_model, settings.embeddings_key)
    # It is not repeated: it may be a key that was put into the wrong setting.
    raise NoEncoder("COMMONPLACE_EMBEDDINGS is set to none of: words, minilm, off, the address of a server")


def _past(notebook: str, disk: Disk) -> History:
    from commonplace.store.history import History

    return History(notebook, disk)


def _toolbox(memory: Memory, profile: Profile) -> Tools:
    """The tools, loaded when a host asks for them: no other call needs them."""
    from commonplace.tools.toolbox import Toolbox

    return Toolbox(memory, profile)


def _auditor(notebook: str, disk: Disk) -> Auditor:
    from commonplace.store.audit import Auditor

    return Auditor(notebook, disk)
