"""What stands in a note's text: each thing that could be taken for a claim must be listed, as a claim or as none.

It looks for everything the repository ever had (paths, folders, flags, variables, packages, branches, tags) and for
what is set as code. Whether a claim holds is not its business; that is in `check.py`.
"""

import functools
import re
from typing import NamedTuple

import versions

CODE = re.compile(r"`([^`\n]+)`")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
OUTSIDE = re.compile(r"/|~/|\.\./|[A-Z]:\\")
URL = re.compile(r"\w+://|www\.|git@")
VARIABLE = re.compile(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b")
FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]+[a-z]\b")
PACKAGE = re.compile(r"(?<![\w./-])([\w./-]*[a-z][\w./-]*)(?:==|>=|@|\": \"\^?|\s)v?\d")
LINE = re.compile(r"([\w./-]+):\d+")
# A word in code that only a program would spell so: snake_case or camelCase.
CODE_WORD = re.compile(r"\b\w*(?:[a-z]_[a-z]|[a-z][A-Z])\w*\b")
# Stands where something listed was cut out; it is no part of any name.
CUT = "\N{REPLACEMENT CHARACTER}"


class Known(NamedTuple):
    """Everything by which the repository was ever known."""

    paths: set[str]
    folders: set[str]
    refs: set[str]
    text: str


@functools.cache
def ever(world) -> Known:
    paths = {path for tree in world.trees for path in tree}
    folders = {path[: cut + 1] for path in paths for cut, letter in enumerate(path) if letter == "/"}
    refs = {ref for refs in world.refs for ref in refs} - {"main"}
    texts = {world.text(at, path) for at, tree in enumerate(world.trees) for path in tree}
    return Known(paths, folders, refs, "\n".join(texts))


def without_why(text: str) -> str:
    """The text without the paragraphs that tell why: they are history."""
    return "\n\n".join(part for part in text.split("\n\n") if not part.startswith("**Why:**"))


@functools.cache
def alone(token: str) -> re.Pattern[str]:
    """A token that stands by itself and is no part of a longer one."""
    after = "" if token.endswith("/") else r"(?![\w/]|[.:-]\w)"
    return re.compile(rf"(?<![\w/.-]){re.escape(token)}{after}")


def faults(world, note: dict) -> list[str]:
    text = without_why(note["text"])
    claims, none = note["claims"], note.get("no_claims", [])
    told = [f"{claim['text']!r} does not stand by itself" for claim in claims if not alone(claim["text"]).search(text)]
    told += [f"{trap['text']!r} is not in the text" for trap in none if trap["text"] not in text]
    told += [trap_fault(world, trap, note["written"]) for trap in none]
    tokens = [one["text"] for one in claims + none]
    told += [f"{token!r} is listed twice" for token in set(tokens) if tokens.count(token) > 1]
    rest = text
    for token in sorted(tokens, key=len, reverse=True):
        rest = alone(token).sub(CUT, rest)
    return [fault for fault in told if fault] + [f"{token!r} is not listed" for token in unlisted(world, rest)]


def unlisted(world, rest: str) -> list[str]:
    known = ever(world)
    lower = rest.lower()
    found = [token for token in known.paths | known.folders if alone(token.lower()).search(lower)]
    found += [path for path in LINE.findall(rest) if path in known.paths]
    found += [ref for ref in known.refs if re.search(r"[/.]", ref) and alone(ref).search(rest)]
    found += FLAG.findall(rest) + VARIABLE.findall(rest)
    found += [name for name in PACKAGE.findall(rest) if was_package(world, name)]
    for span in CODE.findall(FENCE.sub("", rest)):
        found += CODE_WORD.findall(span) if " " in span or CUT in span else [span]
    return found


def was_package(world, name: str) -> bool:
    return any(versions.found(name.lower(), world.versions_at(at)) for at in range(len(world.trees)))


def trap_fault(world, trap: dict, at: int) -> str | None:
    token, because = trap["text"], trap["because"]
    return None if TRAPS[because](world, token, at) else f"{token!r} is not what it is called: {because}"


def never_there(world, token: str, at: int) -> bool:
    known = ever(world)
    named = re.search(rf"(?<![\w-]){re.escape(token)}(?![\w-])", known.text)
    return not named and token not in known.paths | known.folders | known.refs


def said_to_be_gone(world, token: str, at: int) -> bool:
    since = [when for when in range(at, world.head + 1) if world.hashes[when] in world.main]
    return not any(there(world, token, when) for when in since)


def there(world, token: str, at: int) -> bool:
    if re.fullmatch(r"[\w-]+", token):
        return bool(world.naming(at, token))
    if " " in token:
        return bool(versions.found(versions.spoken(token)[0], world.versions_at(at)))
    return token in world.refs[at] or any(path == token or path.startswith(token) for path in world.trees[at])


def is_word(world, token: str, at: int) -> bool:
    known = ever(world)
    return token not in known.paths | known.folders | known.refs and not FLAG.search(token)


TRAPS = {
    "url": lambda world, token, at: bool(URL.match(token)),
    "outside": lambda world, token, at: bool(OUTSIDE.match(token)),
    "never there": never_there,
    "said to be gone": said_to_be_gone,
    "word": is_word,
}
