"""A repository, asked many questions in a few runs of git, by a deadline.

Those of one sort that are asked together are answered by one run. A question whose run failed, or was not done in
time, has no answer.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from commonplace.evidence import asking
from commonplace.evidence.asking import LOG, Answers, Asking, given
from commonplace.evidence.git import Git, Run
from commonplace.evidence.questions import (
    HEAD,
    Changes,
    Commit,
    Lines,
    Matching,
    Merged,
    Moves,
    Oid,
    Question,
    Refs,
    Since,
    Skipped,
    Text,
)

# So many questions of one sort are asked at a time; what is beyond is not known. Some are words of the command, which
# has its limit, and each pattern is a run of its own.
_MOST_ASKED = 4000
_FEWER: dict[type, int] = {Refs: 500, Moves: 500, Skipped: 500, Matching: 8}
# Commits since the oldest note: past this, what was changed since is not told apart any more.
_MOST_COMMITS = 20_000


class Repository:
    """A repository: its present, and what became of it since the oldest time somebody asked about."""

    def __init__(self, git: Git) -> None:
        self._git = git
        self._commits: tuple[Commit, ...] = ()
        self._age: dict[str, int] = {}
        self._oldest = 0
        self.there = False
        """Git reads it for us, and it has a commit. Known once `Since` was asked."""

    def ask(self, questions: Iterable[Question], deadline: float) -> Answers:
        """Answer what can be answered by the deadline."""
        sorts: dict[type, list[Any]] = defaultdict(list)
        for question in dict.fromkeys(questions):
            sort = type(question)
            if len(sorts[sort]) < _FEWER.get(sort, _MOST_ASKED):
                sorts[sort].append(question)
        askings = list(self._askings(sorts))
        answers: Answers = {}
        while askings and time.monotonic() < deadline:
            said = self._git.together([one.run for one in askings if one.run], deadline)
            heard = iter(said)
            again: list[Asking] = []
            for one in askings:
                words = next(heard) if one.run else b""
                if words is None:
                    again += one.second
                elif time.monotonic() < deadline:
                    answers |= one.read(words)
            askings = again
        return answers

    def answers(self, deadline: float) -> bool:
        """Whether git reads it for us, and it has a commit."""
        return bool(self.ask([Since(time.time())], deadline))

    def _askings(self, sorts: Mapping[type, list[Any]]) -> Iterator[Asking]:
        for sort, asked in sorts.items():
            if sort is Lines:
                yield from asking.lines(asked)
            elif sort is Matching:
                yield from map(asking.matching, asked)
            elif sort is Since:
                yield self._since(asked)
            elif sort is Merged:
                yield Asking(None, lambda _, asked=asked: {one: self._merged(one.name) for one in asked})  # type: ignore[misc]
            elif sort is Changes:
                yield self._changes(asked)
            elif sort in (Oid, Text) and Oid in sorts and Text in sorts:
                if sort is Oid:
                    yield asking.contents([*asked, *sorts[Text]])
            else:
                yield asking.PLAIN[sort](asked)

    # --- what needs to know when a commit was ------------------------------------------------------------------

    def _since(self, asked: list[Since]) -> Asking:
        oldest = int(min(one.when for one in asked))
        if self.there and oldest >= self._oldest:
            return Asking(None, lambda _: {one: self._at(one.when) for one in asked})
        limits = f"--max-count={_MOST_COMMITS}", f"--max-age={oldest + 1}"
        run = Run(("log", "--first-parent", *limits, "--format=%H %ct %P%x09%s", HEAD, "--"))

        def read(said: bytes) -> Answers:
            self.there, self._oldest, self._commits = True, oldest, tuple(asking.commits(said))
            self._age = {commit.hash: age for age, commit in enumerate(self._commits)}
            return {one: self._at(one.when) for one in asked}

        return Asking(run, read)

    def _at(self, when: float) -> str:
        first = (self._commits[-1].parent or self._commits[-1].hash) if self._commits else HEAD
        return next((commit.hash for commit in self._commits if commit.when <= when), first)

    def _merged(self, name: str) -> bool:
        return any(f"'{name}'" in commit.subject and "erge" in commit.subject for commit in self._commits)

    def _changes(self, asked: list[Changes]) -> Asking:
        """From the oldest commit somebody asks from, told apart afterwards."""
        if not self._commits:
            return Asking(None, lambda _: {one: [] for one in asked})
        span = f"{self._at(-1)}..{self._commits[0].hash}"
        run = Run(LOG, given((span, "--", *dict.fromkeys(one.path for one in asked))))
        return Asking(run, lambda said: self._changed(asked, said))

    def _changed(self, asked: list[Changes], said: bytes) -> Answers:
        by_path = defaultdict(list)
        for commit, letter, path in asking.statuses(said):
            if commit in self._age:
                by_path[path].append((commit, self._commits[self._age[commit]].parent, letter))
        last = len(self._age)
        return {
            one: [change for change in by_path[one.path] if self._age[change[0]] < self._age.get(one.base, last)]
            for one in asked
        }
