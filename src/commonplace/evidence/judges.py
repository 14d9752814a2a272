"""Judges: what has become of one claim since its note was written, one judge for each kind.

A judge asks the repository in rounds: it yields questions, is sent their answers, and returns a verdict. Whoever runs
judges asks for many of them at once. A judge that finds no ground for a verdict says `unknown`: what never was in the
workspace is no claim about it.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Mapping, Sequence
from hashlib import sha1, sha256
from typing import Any, NamedTuple

from commonplace.evidence import packages
from commonplace.evidence.claims import BRANCH, ENV, FLAG, LINE, PACKAGE, PATH, REF, SYMBOL, Claim
from commonplace.evidence.programs import defines, is_program, shaped
from commonplace.evidence.questions import (
    HEAD,
    TEXT_BYTES,
    Changes,
    Ever,
    Ignored,
    Lines,
    Manifests,
    Matching,
    Merged,
    Moves,
    Oid,
    Pointer,
    Question,
    Refs,
    Renamed,
    Since,
    Skipped,
    Text,
)  # fmt: skip
from commonplace.evidence.verify import CHANGED, GONE, HOLDS, UNKNOWN, Verdict, has_ending
from commonplace.evidence.workspace import FILE, FOLDER, NOTHING, UNTOLD, look, names, read

Judge = Generator[Sequence[Question], Sequence[Any], Verdict]
# Of the files a name is defined in now, so many are compared with what they were.
_MOST_FILES = 4
# What is defined more often is a name many things have, and nobody can tell which is meant.
_MOST_DEFINITIONS = 3
_MOST_MOVES = 4
# A pattern with more signs than this is no pattern of files.
_MOST_SIGNS = 6
_MOST_MANIFESTS = 40
# Branches that move with every commit: that one moved says nothing.
_TRUNKS = frozenset(("main", "master", "trunk", "HEAD"))


class Here(NamedTuple):
    """Where a claim is judged, and when it was made."""

    root: int
    since: float


def judge(claim: Claim, here: Here) -> Judge:
    """The judge of a claim."""
    return _JUDGES[claim.kind](claim, here)


# --- paths and lines -----------------------------------------------------------------------------------------------


def _path(claim: Claim, here: Here) -> Judge:
    name = claim.name.rstrip("/")
    what, place = look(here.root, name)
    if what == UNTOLD:
        return Verdict(claim, UNKNOWN, "it leads out of the workspace")
    if what == NOTHING and any(sign in name for sign in "*?["):
        return (yield from _pattern(claim, here))
    if what == NOTHING:
        return (yield from _missing(claim, here))
    if what == FOLDER:
        return Verdict(claim, HOLDS)
    (base,) = yield [Since(here.since)]
    return (yield from _edited(claim, here, base, list(dict.fromkeys((name, place)))))


def _edited(claim: Claim, here: Here, base: str, places: Sequence[str]) -> Judge:
    """A file that is there, or a link and the file it leads to."""
    things = yield [Oid(rev, place) for place in places for rev in (base, HEAD)]
    if not things[0] or all(then == now for then, now in zip(things[::2], things[1::2], strict=True)):
        if things[0] and things[-1] and _unlike(here, places[-1], things[-1].hash):
            return Verdict(claim, CHANGED, "changed since, and not committed")
        return Verdict(claim, HOLDS)
    changes = yield [Changes(base, place) for place in places]
    commits = len({commit for each in changes for commit, _, _ in each})
    told = f" ({commits} commit{'' if commits == 1 else 's'})" if commits else ""
    return Verdict(claim, CHANGED, f"changed since the note was written{told}")


def _unlike(here: Here, place: str, hashed: str) -> bool:
    """Whether the file is not as it was committed. Where git may keep it in another form, nobody can tell by looking."""
    raw = read(here.root, place, TEXT_BYTES)
    if raw is None:
        return False
    kind = sha256 if len(hashed) == 64 else sha1
    for form in (raw, raw.replace(b"\r\n", b"\n")):
        if kind(b"blob %d\0" % len(form) + form).hexdigest() == hashed:
            return False
    folders = [place[:at] for at, letter in enumerate(place) if letter == "/"]
    rules = (read(here.root, f"{folder}/.gitattributes".lstrip("/"), TEXT_BYTES) or b"" for folder in ("", *folders))
    return not any(word in rule for rule in rules for word in (b"filter", b"ident", b"encoding", b"eol"))


def _pattern(claim: Claim, here: Here) -> Judge:
    if sum(claim.name.count(sign) for sign in "*?[") > _MOST_SIGNS:
        return Verdict(claim, UNKNOWN)
    base, now = yield [Since(here.since), Matching(claim.name)]
    if now:
        return Verdict(claim, HOLDS)
    then, itself = yield [Matching(claim.name, base), Oid(base, claim.name)]
    if itself:  # some name their files so: `pages/[id].js`
        return (yield from _missing(claim, here))
    return Verdict(claim, GONE, "nothing matches it any more") if then else Verdict(claim, UNKNOWN)


def _line(claim: Claim, here: Here) -> Judge:
    what, place = look(here.root, claim.name)
    if what == NOTHING:
        return (yield from _missing(claim, here))
    (base,) = yield [Since(here.since)]
    raw = read(here.root, place, TEXT_BYTES) if what == FILE else None
    if raw is None:
        return Verdict(claim, UNKNOWN)
    (old,) = yield [Text(base, place)]
    return Verdict(claim, UNKNOWN) if old is None else _compared(claim, old.splitlines(), raw.splitlines())


def _compared(claim: Claim, before: list[bytes], after: list[bytes]) -> Verdict:
    at = claim.number - 1
    if not 0 <= at < len(before) or not before[at].strip():
        return Verdict(claim, UNKNOWN, "there was no such line")
    if at < len(after) and after[at].rstrip() == before[at].rstrip():
        return Verdict(claim, HOLDS)
    places = [number for number, line in enumerate(after, 1) if line.strip() == before[at].strip()]
    where = f" (what stood there is line {places[0]} now?)" if len(places) == 1 else ""
    return Verdict(claim, CHANGED, f"another line stands there now{where}")


def _missing(claim: Claim, here: Here) -> Judge:
    """A file or folder that is not there: it was, or it may be a branch, or it never was."""
    name = claim.name.rstrip("/")
    (base,) = yield [Since(here.since)]
    then, now, changes = yield [Oid(base, name), Oid(HEAD, name), Changes(base, name)]
    if now and (yield [Skipped(name)])[0]:  # a workspace may have some of a repository's files
        return (yield from _edited(claim, here, base, [name])) if claim.kind == PATH else Verdict(claim, UNKNOWN)
    if then:
        moved = yield from _moved(name, here, base, changes)
        return Verdict(claim, GONE, f"gone (moved to {moved}?)" if moved else "gone")
    if claim.kind == PATH and claim.name == name:
        verdict = yield from _ref(claim._replace(kind=REF), here)
        if verdict.state != UNKNOWN:
            return verdict
    if claim.denied or not has_ending(name) or not _plausible(name, here):
        return Verdict(claim, UNKNOWN)
    ever, ignored = yield [Ever(name), Ignored(name)]
    return Verdict(claim, UNKNOWN) if ever or ignored else Verdict(claim, GONE, "there is no such file")


def _plausible(name: str, here: Here) -> bool:
    """Whether the folder it begins with is one of ours, in whatever case, and no other repository's."""
    top = name.partition("/")[0].casefold()
    if top not in map(str.casefold, names(here.root)):
        return False
    modules = re.findall(rb"^\s*path\s*=\s*(.*?)\s*$", read(here.root, ".gitmodules", TEXT_BYTES) or b"", re.MULTILINE)
    return not any(name.startswith(module.decode("utf-8", "replace")) for module in modules)


def _moved(
    name: str, here: Here, base: str, changes: Sequence[tuple[str, str, str]]
) -> Generator[Sequence[Question], Sequence[Any], str]:
    """Where a file went, from one commit to the next, if it is still there."""
    place = name
    for _ in range(_MOST_MOVES):
        ended = next(((commit, parent) for commit, parent, letter in changes if letter == "D"), None)
        if ended is None:
            return ""
        place = str((yield [Renamed(*ended, place)])[0])
        if not place or look(here.root, place)[0] == FILE:
            return place
        (changes,) = yield [Changes(base, place)]
    return ""


# --- symbols, flags, variables -------------------------------------------------------------------------------------

Places = list[tuple[str, str]]


def _symbol(claim: Claim, here: Here) -> Judge:
    owner, _, name = claim.name.rpartition(".")
    base, named = yield [Since(here.since), Lines(HEAD, name)]
    now = _definitions(named, name)
    if now:
        paths = _paths(now)
        old = dict(zip(paths, (yield [Text(base, path) for path in paths]), strict=True))
        kept = _of_owner(owner, [(path, line) for path, line in now if line in _stripped(old.get(path))], old)
        if kept:
            return _standing(claim, here, kept)
    (before,) = yield [Lines(base, name)]
    then = _definitions(before, name)
    if owner and then:
        paths = _paths(then)
        then = _of_owner(owner, then, dict(zip(paths, (yield [Text(base, path) for path in paths]), strict=True)))
    if not then:
        return _mentioned(claim, before, named)
    claim = claim._replace(kind=SYMBOL)
    if kept := [one for one in then if one in now]:
        return _standing(claim, here, kept)
    if len(then) > _MOST_DEFINITIONS:
        return Verdict(claim, UNKNOWN, "more than one thing has that name")
    return _otherwise_defined(claim, then, now, named)


def _otherwise_defined(claim: Claim, then: Places, now: Places, named: Places) -> Verdict:
    if now:
        there = sorted({path for path, _ in now})
        same = {path for path, _ in then} & set(there)
        return Verdict(claim, CHANGED, f"defined otherwise in {min(same)}" if same else f"defined in {there[0]} now")
    if named and not (shaped(claim.name) or claim.name[:1].isupper()):  # any text may have a plain word
        return Verdict(claim, UNKNOWN)
    if named:
        return Verdict(claim, CHANGED, f"defined nowhere any more, still named in {named[0][0]}")
    return Verdict(claim, GONE, "in no file any more")


def _definitions(named: Places, name: str) -> Places:
    return [(path, line.strip()) for path, line in named if is_program(path) and defines(line, name)]


def _paths(places: Places) -> list[str]:
    return list(dict.fromkeys(path for path, _ in places))[:_MOST_FILES]


def _stripped(text: bytes | None) -> frozenset[str]:
    return frozenset(line.strip() for line in (text or b"").decode("utf-8", "surrogateescape").splitlines())


def _of_owner(owner: str, places: Places, texts: Mapping[str, bytes | None]) -> Places:
    """Those that a class, or a module, has as its own: `sys.exit` is none of ours, whatever else is called `exit`."""
    last = owner.rpartition(".")[2]
    if not last:
        return places
    owning = {path for path in _paths(places) if last in re.split(r"[/.]", path) or _keeps(last, texts.get(path))}
    return [(path, line) for path, line in places if path in owning]


def _keeps(owner: str, text: bytes | None) -> bool:
    return owner[:1].isupper() and any(f"impl {owner}" in line or defines(line, owner) for line in _stripped(text))


def _standing(claim: Claim, here: Here, kept: Places) -> Verdict:
    """It is defined as it was, in the last commit; whether it is in the workspace too."""
    for path, line in kept:
        raw = read(here.root, path, TEXT_BYTES)
        if raw is None or line in _stripped(raw):
            return Verdict(claim._replace(kind=SYMBOL), HOLDS)
    return Verdict(claim._replace(kind=SYMBOL), CHANGED, "changed since, and not committed")


def _mentioned(claim: Claim, before: Places, named: Places) -> Verdict:
    """A name that was defined nowhere, but spelt as only programs spell: it is named, or not any more."""
    last = claim.name.rpartition(".")[2]
    claim = claim._replace(kind=ENV) if last.isupper() else claim
    was, is_ = (any(claim.name in line for _, line in places) for places in (before, named))
    if not shaped(last) or not (was or is_):
        return Verdict(claim, UNKNOWN)
    return Verdict(claim, HOLDS) if is_ else Verdict(claim, GONE, "in no file any more")


def _flag(claim: Claim, here: Here) -> Judge:
    base, named = yield [Since(here.since), Lines(HEAD, claim.name)]
    if named:
        return Verdict(claim, HOLDS)
    spelt = claim.name.strip("-").replace("-", "_")
    before, otherwise = yield [Lines(base, claim.name), Lines(HEAD, spelt)]
    if not before or ("_" in spelt and otherwise):  # some programs name their flags by their variables
        return Verdict(claim, UNKNOWN)
    return Verdict(claim, GONE, "in no file any more")


# --- packages ------------------------------------------------------------------------------------------------------


def _package(claim: Claim, here: Here) -> Judge:
    (base,) = yield [Since(here.since)]
    before, after = yield [Manifests(base, claim.name), Manifests(HEAD, claim.name)]
    old = yield [Text(base, path) for path in before[:_MOST_MANIFESTS]]
    then = packages.told(claim.name, _files(before, old))
    if not any(packages.fits(claim.version, version) for version in then.versions):
        return Verdict(claim, UNKNOWN)
    new = {path: read(here.root, path, _MANIFEST_BYTES) for path in after[:_MOST_MANIFESTS]}
    unread = [path for path, raw in new.items() if raw is None]
    committed = (yield [Text(HEAD, path) for path in unread]) if unread else []
    now = packages.told(claim.name, _files(new, new.values()) | _files(unread, committed))
    if not now.named:
        return Verdict(claim, GONE, "no manifest names it any more")
    if not now.versions:
        return Verdict(claim, UNKNOWN)
    if any(packages.fits(claim.version, version) for version in now.versions):
        return Verdict(claim, HOLDS)
    return Verdict(claim, CHANGED, f"{max(now.versions)} now")


_MANIFEST_BYTES = 4 << 20


def _files(paths: Iterable[str], texts: Iterable[bytes | None]) -> dict[str, bytes]:
    return {path: text for path, text in zip(paths, texts, strict=False) if text is not None}


# --- branches and tags ---------------------------------------------------------------------------------------------


def _ref(claim: Claim, here: Here) -> Judge:
    if claim.name.rpartition("/")[2] in _TRUNKS:
        return Verdict(claim, UNKNOWN)
    _, pointers, merged = yield [Since(here.since), Refs(claim.name), Merged(claim.name)]
    if pointers:
        return (yield from _pointed(claim, here, pointers))
    if claim.told:
        verdict = yield from _otherwise(claim, here)
        if verdict.state != UNKNOWN:
            return verdict
    surely = claim.told == BRANCH or (claim.told and any(map(str.isdigit, claim.name)))  # HTML has tags of plain words
    if (surely or merged) and not claim.denied and not _cut_short(here):
        return Verdict(claim, GONE, "no branch or tag of that name")
    return Verdict(claim, UNKNOWN)


def _cut_short(here: Here) -> bool:
    """Whether the repository was fetched without its past: such a one has not all branches and tags either."""
    return look(here.root, ".git/shallow")[0] == FILE


def _otherwise(claim: Claim, here: Here) -> Judge:
    """What is called a branch, and is none, may be a path or a symbol that stands beside the word."""
    if claim.name.isidentifier():
        return (yield from _symbol(claim._replace(kind=SYMBOL, told=""), here))
    if "/" in claim.name or "." in claim.name:
        return (yield from _path(claim._replace(kind=PATH, told="", sure=False), here))
    return Verdict(claim, UNKNOWN)


def _pointed(claim: Claim, here: Here, pointers: Sequence[Pointer]) -> Judge:
    if any(pointer.current for pointer in pointers):
        return Verdict(claim, UNKNOWN)
    best = min(pointers, key=lambda pointer: ("refs/heads/", "refs/tags/", "refs/remotes/").index(_sort(pointer.ref)))
    if _sort(best.ref) != "refs/tags/":
        moves = (yield [Moves(best.ref)])[0] or ()
        then = next((commit for when, commit in moves if when <= here.since), None)
        if then is not None:
            same = then == best.commit
            return Verdict(claim, HOLDS) if same else Verdict(claim, CHANGED, "it points to another commit now")
    if best.when > here.since:  # made after the note: it was moved there
        return Verdict(claim, CHANGED, "it points to another commit now")
    return Verdict(claim, HOLDS)


def _sort(ref: str) -> str:
    return "/".join(ref.split("/")[:2]) + "/"


_JUDGES = {
    PATH: _path, LINE: _line, SYMBOL: _symbol, ENV: _symbol, FLAG: _flag, PACKAGE: _package, REF: _ref,
}  # fmt: skip
