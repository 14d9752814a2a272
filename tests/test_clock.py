"""Time that stands still until a test moves it."""

import time
from datetime import date, datetime

import pytest

from commonplace import open_memory
from commonplace.testing.clock import FrozenClock


@pytest.fixture
def berlin(monkeypatch):
    """A zone where a day has 23, 24 or 25 hours."""
    monkeypatch.setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def test_the_clock_stands_still_until_it_is_moved():
    clock = FrozenClock(1000.0)
    assert [clock(), clock()] == [1000.0, 1000.0]
    clock.advance(hours=1, seconds=0.5)
    assert clock() == 4600.5
    clock.advance(hours=-1)
    assert clock() == 1000.5


def test_the_clock_starts_at_a_moment_or_at_noon_of_a_day():
    assert FrozenClock(datetime(2026, 5, 15, 8, 30))() == datetime(2026, 5, 15, 8, 30).timestamp()
    assert FrozenClock(date(2026, 5, 15))() == datetime(2026, 5, 15, 12).timestamp()
    assert FrozenClock(date(2026, 5, 15)).today == date(2026, 5, 15)


def test_days_are_the_calendars_even_when_one_has_25_hours(berlin):
    clock = FrozenClock(datetime(2026, 10, 24, 23, 30))
    clock.advance(days=1)
    assert datetime.fromtimestamp(clock()) == datetime(2026, 10, 25, 23, 30)
    clock.advance(days=-1)
    assert clock.today == date(2026, 10, 24)
    clock.advance(hours=25)
    assert clock.today == date(2026, 10, 25)


def test_a_memory_lives_by_the_clock_it_is_given(book):
    clock = FrozenClock(date(2026, 5, 15))
    with open_memory(book, now=clock) as memory:
        name = memory.save("We deploy with ./deploy.sh, which refuses a dirty tree.").name
        assert memory.read(name).created == date(2026, 5, 15) == clock.today
        clock.advance(days=40)
        memory.save("The site runs on two machines.", name="two-machines")
        assert memory.read("two-machines").created == date(2026, 6, 24)
