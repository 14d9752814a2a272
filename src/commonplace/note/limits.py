"""The limits a note keeps, each with its reason, and text cut to one."""

from __future__ import annotations

# What does not fit in 4 KiB is two facts; the cap keeps a transcript from being saved as a memory.
BODY_BYTES = 4096
# The description is the one part every session pays for: at 150 characters, 200 lines stay near 25 KB.
DESCRIPTION_CHARS = 150
TITLE_CHARS = 80
TAG_CHARS = 50
TAGS = 20
# People's own files may be longer than what we would write. Past this they are not facts, and not read.
FILE_BYTES = 64 * 1024
# Files of these stems are the project's own words, never notes. MEMORY.md is handled by its exact name:
# `memory.md` is a note, because the Go harness keeps one.
NOT_NOTES = frozenset(["readme", "agents", "claude", "gemini", "skill"])


def clamp(text: str, limit: int) -> str:
    """Text cut at a word, with an ellipsis, where it is over the limit."""
    if len(text) <= limit:
        return text
    cut = text[: limit - 1]
    space = cut.rfind(" ")
    return (cut[:space] if space > limit // 2 else cut).rstrip(" ,;:-") + "…"
