"""Verify: whether what a note claims still holds in a workspace. How warm a clue is; not whether the note is right.

`quick` looks at files alone, for every recall. `deep` asks git as well, for many notes at once and within a time.
Neither changes anything, runs anything but git, or opens a file outside the workspace.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date, datetime

from commonplace.evidence.claims import LINE, PATH, Claim
from commonplace.evidence.workspace import FILE, FOLDER, NOTHING, OTHER, UNTOLD, look
from commonplace.named import NamedTuple

HOLDS, CHANGED, GONE, UNKNOWN = STATES = ("holds", "changed", "gone", "unknown")
# Long enough for any repository that answers at all to answer a few notes.
BUDGET = 2.0
# Folders that tools make anew: that one of their files is not there says nothing.
_MADE = frozenset("build dist out target coverage htmlcov tmp node_modules vendor bin obj __pycache__".split())

# Seconds; no note is of a later year than git can count to.
_LATEST = 1 << 40

TYPE_CHECKING = False
if TYPE_CHECKING:
    from commonplace.evidence.judges import Judge
    from commonplace.evidence.questions import Question
    from commonplace.evidence.repository import Repository


class Verdict(NamedTuple):
    """What has become of a claim."""

    claim: Claim
    state: str
    """One of STATES. `unknown` also where nothing like it ever was in the workspace: it was no claim about it."""
    detail: str = ""
    """In words, where there is more to say."""


# The claims of one note, and when it was written: a moment, or a day; None where nobody knows.
Asked = tuple[Sequence[Claim], date | float | None]


def quick(claims: Sequence[Claim], workspace: str | int) -> list[Verdict]:
    """What files alone tell: paths that are there, and those that surely were. `workspace` may be a descriptor."""
    with _entered(workspace) as root:
        tops: dict[str, bool] = {}
        return [Verdict(claim, UNKNOWN) if root is None else _at_a_glance(claim, root, tops) for claim in claims]


def verify(
    claims: Sequence[Claim],
    workspace: str,
    since: date | float | None,
    *,
    budget: float = BUDGET,
    git: str | None = None,
) -> list[Verdict]:
    """What has become of a note's claims since it was written, asking git too."""
    return deep([(claims, since)], workspace, budget=budget, git=git)[0]


def deep(
    notes: Sequence[Asked], workspace: str, *, budget: float = BUDGET, git: str | None = None
) -> list[list[Verdict]]:
    """What has become of the claims of some notes; what is not found out in `budget` seconds is unknown.

    `git` is the program to run; None for the one on the path. Without git, without a repository in just this folder,
    or for a note of no date, only what `quick` can say is said.
    """
    deadline = time.monotonic() + budget
    with _entered(workspace) as root:
        found = [quick(claims, root) if root is not None else _unknown(claims) for claims, _ in notes]
        times = {
            at: when for at, (claims, since) in enumerate(notes) if (when := _moment(since)) is not None and claims
        }
        repository = _opened(workspace, root, git) if root is not None and times else None
        if root is None or repository is None:
            return found
        judged = dict(_judged(notes, times, repository, root, deadline))
        if repository.there or time.monotonic() > deadline:
            for at in times:
                found[at] = [judged.get((at, n)) or Verdict(claim, UNKNOWN) for n, claim in enumerate(notes[at][0])]
        return found


def obstacle(workspace: str, *, budget: float = BUDGET, git: str | None = None) -> str:
    """Why git cannot be asked about a workspace, in words; '' where it can."""
    with _entered(workspace) as root:
        if root is None:
            return "there is no such folder"
        if look(root, ".git")[0] == NOTHING:
            return "there is no git repository in just this folder"
        repository = _opened(workspace, root, git)
        if repository is None:
            return "git is not installed"
        return "" if repository.answers(time.monotonic() + budget) else "git does not read its repository for us"


@contextmanager
def _entered(workspace: str | int) -> Iterator[int | None]:
    if isinstance(workspace, int):
        yield workspace
        return
    try:
        root = os.open(workspace, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except (OSError, ValueError):
        yield None
        return
    try:
        yield root
    finally:
        os.close(root)


def _unknown(claims: Sequence[Claim]) -> list[Verdict]:
    return [Verdict(claim, UNKNOWN) for claim in claims]


# --- at a glance ---------------------------------------------------------------------------------------------------


def _at_a_glance(claim: Claim, root: int, tops: dict[str, bool]) -> Verdict:
    if claim.kind not in (PATH, LINE) or not _nameable(claim):
        return Verdict(claim, UNKNOWN)
    what, _ = look(root, claim.name)
    if what in (FILE, FOLDER, OTHER):
        return Verdict(claim, HOLDS if claim.kind == PATH else UNKNOWN)
    if what == UNTOLD or claim.denied or not claim.sure or any(sign in claim.name for sign in "*?["):
        return Verdict(claim, UNKNOWN)
    top = claim.name.partition("/")[0]
    if not has_ending(claim.name) or top in _MADE:
        return Verdict(claim, UNKNOWN)
    if top not in tops:
        tops[top] = look(root, top)[0] == FOLDER
    return Verdict(claim, GONE, "gone") if tops[top] else Verdict(claim, UNKNOWN)


def _nameable(claim: Claim) -> bool:
    """Whether its name is one line of something: what git is asked is told a line at a time."""
    return bool(claim.name) and claim.name.isprintable()


def has_ending(name: str) -> bool:
    """Whether a path is of a file in a folder: one of those that are not there is worth telling."""
    folder, _, file = name.rpartition("/")
    stem, _, ending = file.rpartition(".")
    return bool(folder and stem) and any(map(str.isalpha, ending))


# --- with git ------------------------------------------------------------------------------------------------------


def _moment(since: date | float | None) -> float | None:
    """A day ends a note's knowledge: what was changed on that day may have been changed before it was written."""
    try:
        if isinstance(since, date) and not isinstance(since, datetime):
            since = datetime(since.year, since.month, since.day, 23, 59, 59)
        when = since.timestamp() if isinstance(since, datetime) else since
    except (ValueError, OverflowError, OSError):  # a year no clock has
        return None
    return when if when is not None and 0 <= when < _LATEST else None


def _opened(workspace: str, root: int, program: str | None) -> Repository | None:
    if look(root, ".git")[0] == NOTHING:
        return None
    from commonplace.evidence.git import Git, find_git
    from commonplace.evidence.repository import Repository

    program = program or find_git(workspace)
    return Repository(Git(program, workspace)) if program else None


def _judged(
    notes: Sequence[Asked], times: dict[int, float], repository: Repository, root: int, deadline: float
) -> Iterator[tuple[tuple[int, int], Verdict]]:
    """Run the judges of all claims side by side: what they ask in one round is asked together."""
    from commonplace.evidence.judges import Here, judge

    waiting: dict[tuple[int, int], tuple[Judge, Sequence[Question]]] = {}
    for at, when in times.items():
        here = Here(root, when)
        for number, claim in enumerate(notes[at][0]):
            if time.monotonic() > deadline:
                return
            if not _nameable(claim):
                continue
            work = judge(claim, here)
            try:
                waiting[at, number] = work, next(work)
            except StopIteration as end:
                yield (at, number), end.value
    while waiting and time.monotonic() < deadline:
        answers = repository.ask((one for _, asked in waiting.values() for one in asked), deadline)
        for place, (work, asked) in list(waiting.items()):
            del waiting[place]
            if time.monotonic() > deadline or not all(one in answers for one in asked):
                continue
            try:
                waiting[place] = work, work.send([answers[one] for one in asked])
            except StopIteration as end:
                yield place, end.value
