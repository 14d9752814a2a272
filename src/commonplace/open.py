"""The composition root: the one place that picks concrete classes and puts a Memory together."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from datetime import date

from commonplace.index.catalog import Catalog
from commonplace.index.sidecar import Sidecar
from commonplace.memory import Memory
from commonplace.settings import Settings, mark_of, read_settings
from commonplace.store.disk import Disk
from commonplace.store.files import FileStore

TYPE_CHECKING = False
if TYPE_CHECKING:
    from commonplace.outcomes import Tools
    from commonplace.prompt.preamble import Profile
    from commonplace.recall.semantic import Encoder
    from commonplace.store.audit import Auditor
    from commonplace.store.history import History


def open_memory(
    path: str | os.PathLike[str] | None = None,
    *,
    now: Callable[[], float] = time.time,
    profile: Profile | None = None,
    disk: Disk | None = None,
    settings: Settings | None = None,
) -> Memory:
    """The memory in a directory; without one, where MEMORY_DIR, COMMONPLACE_HOME or the default say.

    Nothing is made before the first save. `profile` names the tools the model is offered; `now` is the clock.
    """
    settings = settings or read_settings(path)
    if settings.off:
        from commonplace.nomemory import NoMemory

        return NoMemory()
    store = FileStore(settings.notebook, disk=disk, now=now)
    sidecar = Sidecar(os.path.join(settings.cache, mark_of(store.path), "catalog.sqlite"))
    catalog = Catalog(store, sidecar, today=lambda: date.fromtimestamp(now()), republish=store.republish)
    return Memory(
        store, catalog, now=now, profile=profile, past=lambda: _past(store.path, disk or Disk()), toolbox=_toolbox,
        auditor=lambda: _auditor(store.path, disk or Disk()), encoder=_words, acting=store.acting,
    )  # fmt: skip


def _past(notebook: str, disk: Disk) -> History:
    from commonplace.store.history import History

    return History(notebook, disk)


def _toolbox(memory: Memory, profile: Profile) -> Tools:
    """The tools, loaded when a host asks for them: no other call needs them."""
    from commonplace.tools.toolbox import Toolbox

    return Toolbox(memory, profile)


def _words() -> Encoder:
    """The table of word vectors we ship."""
    from commonplace.recall.semantic import StaticWords

    return StaticWords()


def _auditor(notebook: str, disk: Disk) -> Auditor:
    from commonplace.store.audit import Auditor

    return Auditor(notebook, disk)
