"""`python -m commonplace`, and the `commonplace` command."""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress

from commonplace.errors import Unsupported

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

# What a shell answers for a command that Ctrl-C ended.
_INTERRUPTED = 130


def script() -> NoReturn:
    """The command as a process of its own: what is only there to be taken down again at its end is never tidied up.

    Collecting garbage, and taking every module apart at the end, are a fifth of what a quick answer costs. What was
    printed has been handed on and the notebook let go when `main` answers.
    """
    quick = sys.argv[1:2] == ["recall"]
    if quick:
        gc.disable()
    code = main()
    if quick:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError, AttributeError):  # closed, or nobody listens: `main` has said so
                stream.flush()
        os._exit(code)
    sys.exit(code)


def main() -> int:
    """Run the command line and answer its exit code."""
    try:
        args = _words()
        if args[:1] == ["recall"]:
            from commonplace.surfaces.cli.door import enter

            if (code := enter(args)) is not None:
                return code
        from commonplace.surfaces.cli.app import run

        return run(args)
    except Unsupported as problem:
        print(f"commonplace: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return _INTERRUPTED


def _words() -> list[str]:
    """What was typed, as UTF-8 whatever the locale says: it names notes, which are the same in every locale."""
    if sys.getfilesystemencoding().lower() == "utf-8":
        return sys.argv[1:]
    return [os.fsencode(word).decode("utf-8", "surrogateescape") for word in sys.argv[1:]]


if __name__ == "__main__":
    script()
