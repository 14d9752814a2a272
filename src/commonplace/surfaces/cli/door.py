"""The quick door: `recall` without click, which costs a process more than finding does. All else is click's."""

from __future__ import annotations

from collections.abc import Sequence

from commonplace.errors import CommonplaceError
from commonplace.open import open_memory
from commonplace.settings import read_settings, switched_off
from commonplace.surfaces import shown
from commonplace.surfaces.cli.finding import recall
from commonplace.surfaces.cli.opened import DONE, Misuse, Opened, failed, tell_of_loss, unheard
from commonplace.surfaces.cli.options import RECALL, quickly


def enter(args: Sequence[str]) -> int | None:
    """Run a plain `recall` and answer its exit code; None for any command line that click should judge."""
    if switched_off():
        return None
    told = quickly(RECALL, args[1:]) if args[:1] == ["recall"] else None
    if told is None:
        return None
    words, given = told
    directory, as_json = given.pop("directory"), given.pop("as_json")
    try:
        settings = read_settings(directory)
        with open_memory(settings=settings) as memory:
            opened = Opened(memory, settings, as_json)
            recall(opened, words, **given)
            tell_of_loss(opened)
        shown.flush()
    except Misuse:
        return None  # nothing is printed yet, and click says how it is meant
    except CommonplaceError as problem:
        return failed(problem, as_json=as_json)
    except shown.Unheard as problem:
        return unheard(problem)
    return DONE
