"""The command, put together: importing this declares every command there is."""

from __future__ import annotations

from commonplace.surfaces.cli import notebook, notes, past
from commonplace.surfaces.cli.group import cli, run

__all__ = ["cli", "notebook", "notes", "past", "run"]
