"""Fixtures every test file uses: a notebook of its own, sizes that fit or are full, and the tally of promises."""

import os
from collections import defaultdict
from contextlib import contextmanager

import pytest
from tests.promises import PROMISES

from commonplace import open_memory

FULL = bool(os.environ.get("COMMONPLACE_TORTURE"))
_SHOWN = 10


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    """No test reads or writes a real home, and none takes the machine's own settings for a person's."""
    switches = ("MEMORY_DIR", "COMMONPLACE", *(f"COMMONPLACE_EMBEDDINGS{part}" for part in ("", "_MODEL", "_KEY")))
    for name in (*switches, "XDG_STATE_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    place = tmp_path / "home"
    monkeypatch.setenv("COMMONPLACE_HOME", str(place))
    return place


@pytest.fixture
def book(tmp_path):
    """The directory of a notebook nobody has written in."""
    return tmp_path / "notebook"


@pytest.fixture
def memory(book):
    return open_memory(book)


@pytest.fixture
def scale():
    """`scale(40, 1000)`: forty where the tests must be quick, a thousand in `make torture`."""
    return lambda fits, full: full if FULL else fits


class Tally:
    """Counts cases of a promise: `with tally("R9", case): assert ...`. One that fails does not hide the next."""

    def __init__(self):
        self.tried = defaultdict(int)
        self.failed = []

    @contextmanager
    def __call__(self, promise, case=""):
        assert promise in PROMISES
        self.tried[promise] += 1
        try:
            yield
        except Exception as problem:  # a case that raises did not hold; all of them are told at the end
            self.failed.append((promise, f"{case!r:.200}: {type(problem).__name__}: {problem!s:.500}"))

    def settle(self, item):
        for promise, tried in self.tried.items():
            held = tried - sum(of == promise for of, _ in self.failed)
            item.user_properties.append(("tally", (promise, tried, held)))
        if self.failed:
            told = "\n".join(f"{promise} {story}" for promise, story in self.failed[:_SHOWN])
            pytest.fail(f"{len(self.failed)} of {sum(self.tried.values())} did not hold\n{told}", pytrace=False)


@pytest.fixture
def tally():
    return Tally()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    out = yield
    if counted := item.funcargs.get("tally"):
        counted.settle(item)
    return out


def pytest_terminal_summary(terminalreporter):
    totals = defaultdict(lambda: [0, 0])
    for reports in terminalreporter.stats.values():
        for report in reports:
            if getattr(report, "when", "") == "call":
                for key, value in report.user_properties:
                    if key == "tally":
                        promise, tried, held = value
                        totals[promise][0] += tried
                        totals[promise][1] += held
    if totals:
        terminalreporter.section("promises")
        for promise in sorted(totals, key=lambda name: int(name[1:])):
            tried, held = totals[promise]
            terminalreporter.write_line(f"{promise:>4}  {PROMISES[promise]}: {tried:,} tried, {held:,} held")
