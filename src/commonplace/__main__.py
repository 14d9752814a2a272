"""`python -m commonplace`, and the `commonplace` command."""

from __future__ import annotations

import os
import sys

from commonplace.errors import Unsupported

# What a shell answers for a command that Ctrl-C ended.
_INTERRUPTED = 130


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
    sys.exit(main())
