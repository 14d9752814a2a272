"""`python -m commonplace`, and the `commonplace` command."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command line and answer its exit code."""
    from commonplace.surfaces.cli import run

    return run(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
