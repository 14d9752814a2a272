"""How each sort of question is put to git, and how its answer is read: one run for all of a sort.

It knows git's words and what git prints, not what is made of it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from commonplace.evidence.git import Run
from commonplace.evidence.programs import shaped
from commonplace.evidence.questions import (
    HEAD,
    Commit,
    Ever,
    Ignored,
    Lines,
    Manifests,
    Matching,
    Moves,
    Oid,
    Pointer,
    Question,
    Refs,
    Renamed,
    Skipped,
    Text,
    Thing,
)

# All texts that are read at a time, and as much of a line as is looked at.
_TEXTS_BYTES = 16 << 20
_LINE_CHARS = 4000
_MANIFESTS = (
    "package.json", "package-lock.json", "pyproject.toml", "poetry.lock", "uv.lock", "requirements*.txt", "Cargo.toml",
    "Cargo.lock", "go.mod",
)  # fmt: skip
_WORD = re.compile(r"\w+")
_FLAG = re.compile(r"(?<![\w-])--[A-Za-z][\w-]*")
_ESCAPED = str.maketrans({sign: f"\\{sign}" for sign in r".[]{}()*+?^$|\\"})
# How the changes of some paths are asked for: a merge is one change, and a rename is what it was made of.
LOG = (
    "log", "--first-parent", "-m", "--no-renames", "--name-status", "-z", "--no-ext-diff", "--no-textconv",
    "--format=%x01%H", "--stdin",
)  # fmt: skip

Answers = dict[Question, Any]


class Asking(NamedTuple):
    """One run for the questions of a sort, what is made of what it says, and what else to try where it fails."""

    run: Run | None
    read: Callable[[bytes], Answers]
    second: Sequence[Asking] = ()


def spellings(package: str) -> tuple[str, ...]:
    """How a package's name may be spelt: some registries take `-` and `_` for one."""
    return tuple(dict.fromkeys((package, package.replace("_", "-"), package.replace("-", "_"))))


def given(lines: Iterable[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape")


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def commits(said: bytes) -> Iterator[Commit]:
    for line in _text(said).split("\n"):
        head, _, subject = line.partition("\t")
        words = head.split(" ")
        if len(words) > 1 and words[1].isdigit():
            yield Commit(words[0], int(words[1]), words[2] if len(words) > 2 else "", subject)


def statuses(said: bytes) -> Iterator[tuple[str, str, str]]:
    """(commit, letter, path) of a log with `--name-status -z`."""
    commit, letter = "", ""
    for raw in said.split(b"\0"):
        word = _text(raw).lstrip("\n")
        if word.startswith("\1"):
            commit, letter = word[1:], ""
        elif not letter:
            letter = word
        else:
            yield commit, letter, word
            letter = ""


def _ever(asked: list[Ever]) -> Asking:
    run = Run(LOG, given((HEAD, "--", *(one.path for one in asked))))

    def read(said: bytes) -> Answers:
        paths = {path for _, _, path in statuses(said)}
        return {one: any(path == one.path or path.startswith(f"{one.path}/") for path in paths) for one in asked}

    return Asking(run, read)


def lines(asked: list[Lines]) -> Iterator[Asking]:
    """One run for the words of the present, one for those of the past.

    A plain word may stand in so many lines that there is no room for others: those of programs are looked for again.
    """
    for group in ([one for one in asked if one.rev == HEAD], [one for one in asked if one.rev != HEAD]):
        if group:
            apart = [one for one in group if shaped(one.word)]
            yield _grep(group)._replace(second=[_grep(apart)] if 0 < len(apart) < len(group) else [])


def _grep(asked: list[Lines]) -> Asking:
    """All words as one expression: with a pattern for each, git takes the square of the time a large file needs."""
    revs = dict.fromkeys(one.rev for one in asked)
    # As text, whatever it is: to tell, git would look for attributes in folders that may be links by now.
    words = ("grep", "-a", "-E", "-w", "-z", "--no-textconv", "-f", "-", *revs, "--")
    pattern = "|".join(dict.fromkeys(one.word.translate(_ESCAPED) for one in asked))
    return Asking(Run(words, given((pattern,))), partial(_found, asked))


def _manifests(asked: list[Manifests]) -> Asking:
    revs = dict.fromkeys(one.rev for one in asked)
    names = {name for one in asked for name in spellings(one.package)}
    places = (f":(glob)**/{name}" for name in (*_MANIFESTS, "requirements/*.txt"))
    words = ("grep", "-a", "-F", "-i", "-l", "-z", "--no-textconv", "-f", "-", *revs, "--", *places)
    return Asking(Run(words, given(names), literal=False), lambda said: _naming(asked, said))


def _oids(asked: list[Oid]) -> Asking:
    run = Run(
        ("cat-file", "--batch-check=%(objectname) %(objecttype) %(objectsize)"),
        given(f"{one.rev}:{one.path}" for one in asked),
    )

    def read(said: bytes) -> Answers:
        lines = said.split(b"\n")
        return {one: _thing(line) for one, line in zip(asked, lines, strict=False)}

    return Asking(run, read)


def _thing(line: bytes) -> Thing | None:
    words = line.split(b" ")
    if len(words) != 3 or not words[2].isdigit():
        return None
    return Thing(_text(words[0]), _text(words[1]), int(words[2]))


def _texts(asked: list[Text]) -> Asking:
    return contents(list(asked))


def contents(asked: list[Oid | Text]) -> Asking:
    """Texts, and with them what else is at a path: one run for both, as long as nothing large is among them."""
    run = Run(("cat-file", "--batch"), given(f"{one.rev}:{one.path}" for one in asked), most=_TEXTS_BYTES)
    oids, texts = ([one for one in asked if isinstance(one, sort)] for sort in (Oid, Text))
    return Asking(run, partial(_read_out, asked), [_oids(oids), _texts(texts)] if oids and texts else [])  # type: ignore[arg-type]


def _read_out(asked: Sequence[Oid | Text], said: bytes) -> Answers:
    answers: Answers = {}
    at = 0
    for one in asked:
        end = said.find(b"\n", at)
        thing = _thing(said[at:end])
        answers[one] = None
        at = end + 1
        if thing is not None:
            text = said[at : at + thing.size] if thing.type == "blob" else None
            answers[one] = thing if isinstance(one, Oid) else text
            at += thing.size + 1
    return answers


def _found(asked: Sequence[Lines], said: bytes) -> Answers:
    wanted = {one.word for one in asked}
    found: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for raw in said.split(b"\n"):
        place, _, line = _text(raw[:_LINE_CHARS]).partition("\0")
        rev, _, path = place.partition(":")
        if "\0" in line:  # it is none
            continue
        words = wanted.intersection(_WORD.findall(line) + _FLAG.findall(line))
        if len(raw) > _LINE_CHARS:  # no person wrote it; what is in it is there all the same
            words = {word for word in wanted if word.encode("utf-8", "surrogateescape") in raw}
        for word in words:
            found[rev, word].append((path, line))
    return {one: found[one.rev, one.word] for one in asked}


def _naming(asked: list[Manifests], said: bytes) -> Answers:
    by_rev = defaultdict(list)
    for raw in said.split(b"\0"):
        rev, _, path = _text(raw).partition(":")
        by_rev[rev].append(path)
    return {one: by_rev[one.rev] for one in asked}


def _renamed(asked: list[Renamed]) -> Asking:
    words = (
        "diff-tree", "--stdin", "-z", "-r", "-M", "--name-status", "--diff-filter=R", "--no-ext-diff", "--no-textconv",
    )  # fmt: skip
    run = Run(words, given(dict.fromkeys(f"{one.commit} {one.parent}" for one in asked)))

    def read(said: bytes) -> Answers:
        moved, commit = {}, ""
        fields = iter(_text(said).split("\0"))
        for field in fields:
            if field.startswith("R") and len(field) < 5:
                old, new = next(fields, ""), next(fields, "")
                moved[commit, old] = new
            else:
                commit = field.strip()
        return {one: moved.get((one.commit, one.path), "") for one in asked}

    return Asking(run, read)


def _refs(asked: list[Refs]) -> Asking:
    form = "%(refname)%00%(objectname)%00%(*objectname)%00%(creatordate:unix)%00%(HEAD)"
    patterns = (f"refs/{sort}/{one.name}" for one in asked for sort in ("heads", "tags", "remotes/*"))

    def read(said: bytes) -> Answers:
        pointers = defaultdict(list)
        for line in _text(said).split("\n"):
            ref, *rest = line.split("\0")
            if len(rest) == 4 and ref.count("/") > 1:
                commit, peeled, when, mark = rest
                _, sort, name = ref.split("/", 2)
                pointer = Pointer(ref, peeled or commit, int(when or 0), mark == "*")
                pointers[name.partition("/")[2] if sort == "remotes" else name].append(pointer)
        return {one: pointers[one.name] for one in asked}

    return Asking(Run(("for-each-ref", f"--format={form}", *patterns)), read)


def _moves(asked: list[Moves]) -> Asking:
    words = ("log", "-g", "--date=unix", "--format=%gD %H", *(one.ref for one in asked), "--")

    def read(said: bytes) -> Answers:
        moves = defaultdict(list)
        for line in _text(said).split("\n"):
            place, _, commit = line.rpartition(" ")
            ref, _, when = place.rpartition("@{")
            if when[:-1].isdigit():
                moves[ref].append((int(when[:-1]), commit))
        return {one: moves.get(one.ref) for one in asked}

    return Asking(Run(words), read)


def _skipped(asked: list[Skipped]) -> Asking:
    run = Run(("ls-files", "-z", "-t", "--", *(one.path for one in asked)))
    return Asking(run, lambda said: {one: f"S {one.path}" in _text(said).split("\0") for one in asked})


def _ignored(asked: list[Ignored]) -> Asking:
    given = "\0".join(one.path for one in asked).encode("utf-8", "surrogateescape")
    run = Run(("check-ignore", "-z", "--stdin"), given, literal=False)
    return Asking(run, lambda said: {one: one.path in _text(said).split("\0") for one in asked})


def matching(one: Matching) -> Asking:
    from fnmatch import translate

    if not one.rev:
        run = Run(("ls-files", "-z", "--", f":(glob){one.pattern}"), literal=False)
        return Asking(run, lambda said: {one: bool(said)})
    parts = one.pattern.split("/")
    fixed = next((at for at, part in enumerate(parts) if any(sign in part for sign in "*?[")), 0)
    forms = [None if part == "**" else re.compile(translate(part)) for part in parts]
    run = Run(("ls-tree", "-r", "-z", "--name-only", one.rev, "--", *(["/".join(parts[:fixed])] if fixed else [])))
    return Asking(run, lambda said: {one: any(_fits(path.split("/"), forms) for path in _text(said).split("\0"))})


def _fits(parts: Sequence[str], forms: Sequence[re.Pattern[str] | None]) -> bool:
    """Whether a path matches a pattern, folder by folder; None stands for any number of folders."""
    reached = {0}
    for part in parts:
        after = set()
        for at in _on(reached, forms):
            form = forms[at] if at < len(forms) else _NONE
            if form is None:
                after.add(at)
            elif form.fullmatch(part):
                after.add(at + 1)
        reached = after
    return len(forms) in _on(reached, forms)


def _on(reached: set[int], forms: Sequence[re.Pattern[str] | None]) -> set[int]:
    """The places, and those beyond what may stand for no folder at all."""
    return reached | {at + 1 for at in reached if at < len(forms) and forms[at] is None}


_NONE = re.compile(r"(?!)")
PLAIN: Mapping[type, Callable[[list[Any]], Asking]] = {
    Ever: _ever, Manifests: _manifests, Oid: _oids, Text: _texts, Renamed: _renamed, Refs: _refs, Moves: _moves,
    Skipped: _skipped, Ignored: _ignored,
}  # fmt: skip
