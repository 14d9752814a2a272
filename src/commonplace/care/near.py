"""Did you mean: words and names of notes like one that is not there, header keys like one of ours. It knows notes and words."""

from __future__ import annotations

from collections.abc import Iterable

from commonplace.errors import BadName
from commonplace.note.header import SPELLINGS, canonical
from commonplace.note.lint import Fault, added
from commonplace.note.note import Note
from commonplace.note.slug import slugify
from commonplace.recall.near import nearest
from commonplace.store.paths import SUFFIX

# Fewer than this would leave out the one meant; more is a list, which there is a command for.
_MOST = 3
# How like two names must be (1 is the same): a letter or two apart, or a word.
_LIKE = 0.7
# What is this far behind the likeliest is not what was meant.
_BEHIND = 0.1
# Comparing takes a while for each name; of a larger notebook only names that share a word are compared.
_COMPARED = 2000


def meant(word: str, known: Iterable[str]) -> list[str]:
    """At most three of the words there are that are like another, the likeliest first."""
    from difflib import SequenceMatcher, get_close_matches

    like = get_close_matches(word, list(known), _MOST, _LIKE)
    ratios = [SequenceMatcher(None, one, word).ratio() for one in like]
    return [one for one, ratio in zip(like, ratios, strict=True) if ratio > ratios[0] - _BEHIND]


def near(notes: Iterable[Note], name: str) -> list[str]:
    """At most three names a person may have meant, the likeliest first."""
    try:
        slug = slugify(name.removesuffix(SUFFIX)[:100])
    except BadName:
        return []
    spoken: dict[str, list[str]] = {}
    for note in notes:
        for word in {_spoken(note.name): "", _spoken(note.title): ""}:
            spoken.setdefault(word, []).append(note.name)
    words = set(slug.split("-"))
    holding = [said for said in spoken if slug in said or said in slug]
    candidates = (
        spoken if len(spoken) <= _COMPARED else [said for said in spoken if words & set(said.split("-"))][:_COMPARED]
    )
    like = meant(slug, candidates)
    sharing = sorted(
        (said for said in candidates if words & set(said.split("-"))),
        key=lambda said: -len(words & set(said.split("-"))),
    )
    names = (own for said in (*like, *sorted(holding, key=len), *sharing) for own in spoken[said])
    return [own for own in dict.fromkeys(names) if own != name][:_MOST]


def slips(source: bytes, was: bytes) -> list[Fault]:
    """The header keys somebody put into a file that look like slips in ours, by line."""
    known = dict.fromkeys(SPELLINGS, 1)
    slipped = [(key, nearest(canonical(key.what), known)) for key in added(source, was)]
    return [
        Fault(key.line, f"`{key.what}` is not a key Commonplace knows; did you mean `{ours}`?")
        for key, ours in slipped
        if ours
    ]


def _spoken(word: str) -> str:
    try:
        return slugify(word[:100])
    except BadName:
        return word
