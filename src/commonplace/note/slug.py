"""Slugs: a name anybody invents becomes a file stem that is safe, stable, and does not meet another's.

Knows nothing of directories: whether a stem is taken is the store's business.
"""

from __future__ import annotations

import re

from commonplace.errors import BadName
from commonplace.note.limits import NOT_NOTES

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
    + [f"{port}{digit}" for port in ("com", "lpt") for digit in "0123456789\xb9\xb2\xb3"]
)

_ASCII_RUN = r"[^a-z0-9]+"
# ASCII that can be dropped without making two names one: separators, quotes, brackets, full stops.
_ASCII_QUIET = r"(?a)[\s\-_./,:;'\"`()\[\]{}!?]"
# Except the full stop a word begins with: `.env` is not `env`. It stands for itself as a character no name holds.
_DOT = "\x01"
_LEADING_DOT = r"(?<![\w.])\.(?=\w)"
_UNUSABLE = r"[\x00-\x1f\x7f-\x9f/\\\ud800-\udfff]"
# Characters nobody sees and that carry no meaning in a name.
_UNSEEN_CATEGORIES = frozenset(("Cf", "Cc", "Cs", "Co"))
# Combining marks that belong to words.
_MARKS = frozenset(("Mn", "Mc"))
# Beyond ASCII, what only separates or quotes.
_QUIET_CATEGORIES = frozenset(("Zs", "Zl", "Zp", "Pd", "Pc", "Ps", "Pe", "Pi", "Pf", "Po"))
_UNSEEN_LETTERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0")


def slugify(name: str) -> str:
    """The file stem for a name. The same for spellings that differ only in case, form or separators.

    Raises:
        BadName: nothing in the name can be kept.

    """
    text = re.sub(_LEADING_DOT, _DOT, name[:_NAME_CHARS])
    slug, told = _ascii_slug(text) if text.isascii() else _unicode_slug(text)
    if not slug and not told:
        raise BadName(f"the name {name[:40]!r} has no letter or digit; give it one")
    lossless = bool(slug) and told.replace(" ", "-") == slug
    slug = slug or "note"
    if slug in RESERVED:
        slug += "-note"
    if lossless and len(slug.encode()) <= SLUG_BYTES and len(name) <= _NAME_CHARS:
        return slug
    return _clamped(slug, SLUG_BYTES - 1 - _HASH_CHARS) + "-" + _hash(told + name[_NAME_CHARS:])


def usable_stem(stem: str) -> bool:
    """Whether a file of this stem may be a note: any plain name a person would give one."""
    if not stem or stem[0] == "." or stem != stem.strip() or re.search(_UNUSABLE, stem):
        return False
    return stem != "MEMORY" and stem.casefold() not in NOT_NOTES and len(stem.encode()) <= STEM_BYTES


def _ascii_slug(text: str) -> tuple[str, str]:
    """The slug, and what tells the name from others: its text in one spelling, its separators as single spaces."""
    low = text.lower()
    return re.sub(_ASCII_RUN, "-", low).strip("-"), " ".join(re.sub(_ASCII_QUIET, " ", low).split())


def _unicode_slug(text: str) -> tuple[str, str]:
    from unicodedata import category, normalize

    slug: list[str] = []
    told: list[str] = []
    letters = False
    for char in normalize("NFC", normalize("NFC", text).casefold()):
        what = category(char)
        if char != _DOT and (what in _UNSEEN_CATEGORIES or not _spoken(char)):
            continue
        kept = what[0] in "LN" or what in _MARKS
        letters = letters or what[0] in "LN"
        quiet = what in _QUIET_CATEGORIES if not char.isascii() else re.match(_ASCII_QUIET, char)
        slug.append(char if kept else "-")
        told.append(" " if quiet and not kept else char)
    kept_text = re.sub("-+", "-", normalize("NFC", "".join(slug))).strip("-")
    return kept_text if letters else "", " ".join(normalize("NFC", "".join(told)).split())


def _spoken(char: str) -> bool:
    """Whether a letter or mark can be seen: variation selectors and fillers cannot."""
    return not ("\ufe00" <= char <= "\ufe0f" or "\U000e0100" <= char <= "\U000e01ef" or char in _UNSEEN_LETTERS)


def _clamped(slug: str, limit: int) -> str:
    raw = slug.encode()[:limit]
    return raw.decode(errors="ignore").rstrip("-")


def _hash(told: str) -> str:
    """Eight hex digits that tell apart what the slug no longer does; spacing and case do not count."""
    from hashlib import sha256

    return sha256(told.encode(errors="surrogatepass")).hexdigest()[:_HASH_CHARS]
