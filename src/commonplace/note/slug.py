"""Slugs: a name anybody invents becomes a file stem that is safe, stable, and does not meet another's.

Knows nothing of directories: whether a stem is taken is the store's business.
"""

from __future__ import annotations

import re

from commonplace.errors import BadName

# Room for the suffix, the history's file names and a sync tool's conflict marker within 255 bytes.
SLUG_BYTES = 80
# Longest stem of a file a person made that still leaves room for ".md".
STEM_BYTES = 250
_HASH_CHARS = 8
# Names are read up to here before any work is done on them: longer ones differ in their hash.
_NAME_CHARS = 1000

# Stems that mean something else to a person, an agent, or Windows.
RESERVED = frozenset(
    ["memory", "readme", "agents", "claude", "gemini", "skill", "con", "prn", "aux", "nul"]
    + [f"{port}{digit}" for port in ("com", "lpt") for digit in range(10)]
)
# Files of these stems are the project's own words, never notes. MEMORY.md is handled by its exact name:
# `memory.md` is a note, because the Go harness keeps one.
NOT_NOTES = frozenset(["readme", "agents", "claude", "gemini", "skill"])

_ASCII_RUN = re.compile(r"[^a-z0-9]+")
# ASCII that can be dropped without making two names one: separators, quotes, brackets, full stops.
_ASCII_QUIET = re.compile(r"[a-z0-9\s\-_./,:;'\"`()\[\]{}!?]*", re.ASCII)
_UNUSABLE = re.compile(r"[\x00-\x1f\x7f-\x9f/\\\ud800-\udfff]")
# Characters nobody sees and that carry no meaning in a name.
_UNSEEN_CATEGORIES = frozenset(("Cf", "Cc", "Cs", "Co", "Cn"))
# Beyond ASCII, what only separates or quotes.
_QUIET_CATEGORIES = frozenset(("Zs", "Zl", "Zp", "Pd", "Pc", "Ps", "Pe", "Pi", "Pf", "Po"))
_UNSEEN_LETTERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0")


def slugify(name: str) -> str:
    """The file stem for a name. The same for spellings that differ only in case, form or separators.

    Raises:
        BadName: nothing in the name can be kept.

    """
    text = name[:_NAME_CHARS]
    slug, lossless = _ascii_slug(text) if text.isascii() else _unicode_slug(text)
    if not slug and not _visible(text):
        raise BadName(f"the name {name[:40]!r} has no letter or digit; give it one")
    if not slug:
        slug, lossless = "note", False
    if slug in RESERVED:
        slug += "-note"
    if lossless and len(slug.encode()) <= SLUG_BYTES and len(name) <= _NAME_CHARS:
        return slug
    return _clamped(slug, SLUG_BYTES - 1 - _HASH_CHARS) + "-" + _hash(name)


def usable_stem(stem: str) -> bool:
    """Whether a file of this stem may be a note: any plain name a person would give one."""
    if not stem or stem[0] == "." or stem != stem.strip() or _UNUSABLE.search(stem):
        return False
    return stem != "MEMORY" and stem.casefold() not in NOT_NOTES and len(stem.encode()) <= STEM_BYTES


def _ascii_slug(text: str) -> tuple[str, bool]:
    low = text.lower()
    return _ASCII_RUN.sub("-", low).strip("-"), _ASCII_QUIET.fullmatch(low) is not None


def _unicode_slug(text: str) -> tuple[str, bool]:
    from unicodedata import category, normalize

    folded = normalize("NFC", normalize("NFC", text).casefold())
    out: list[str] = []
    lossless = True
    for char in folded:
        what = category(char)
        if (what[0] in "LN" and char not in _UNSEEN_LETTERS) or (what[0] == "M" and _spoken(char)):
            out.append(char)
        elif (what in _UNSEEN_CATEGORIES and what != "Cn") or char in _UNSEEN_LETTERS:
            continue
        else:
            if char.isascii():
                quiet = _ASCII_QUIET.fullmatch(char) is not None
            else:
                quiet = what in _QUIET_CATEGORIES or what[0] == "M"
            lossless = lossless and quiet
            out.append("-")
    return re.sub("-+", "-", "".join(out)).strip("-"), lossless


def _spoken(mark: str) -> bool:
    """Combining marks belong to words; variation selectors do not."""
    return not ("\ufe00" <= mark <= "\ufe0f" or "\U000e0100" <= mark <= "\U000e01ef" or mark in _UNSEEN_LETTERS)


def _visible(text: str) -> bool:
    if text.isascii():
        return any(33 <= ord(char) <= 126 and not _ASCII_QUIET.fullmatch(char.lower()) for char in text)
    from unicodedata import category

    return any(category(char)[0] in "LNS" and char not in _UNSEEN_LETTERS for char in text)


def _clamped(slug: str, limit: int) -> str:
    raw = slug.encode()[:limit]
    return raw.decode(errors="ignore").rstrip("-")


def _hash(text: str) -> str:
    """Eight hex digits that tell apart what the slug no longer does; spacing and case do not count."""
    from hashlib import sha256
    from unicodedata import normalize

    head, rest = text[:_NAME_CHARS], text[_NAME_CHARS:]
    same = " ".join(normalize("NFC", normalize("NFC", head).casefold()).split()) + rest
    return sha256(same.encode(errors="surrogatepass")).hexdigest()[:_HASH_CHARS]
