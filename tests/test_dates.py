"""A query's days are those people mean by them, and what names no day claims none."""

from datetime import date, timedelta

import hypothesis
import pytest
from hypothesis import strategies as st
from tests.texts import examples, texts

from commonplace.recall.dates import spans
from commonplace.recall.finder import _spans

TODAY = date(2026, 5, 15)  # a Friday


def days(words):
    """`2026-05-01..2026-05-31`, one day, or a year."""
    first, _, last = words.partition("..")
    return date.fromisoformat(first), date.fromisoformat(last or first)


SAID = [
    # a day by its name
    ("today", "2026-05-15"),
    ("what broke today?", "2026-05-15"),
    ("yesterday", "2026-05-14"),
    ("yesterday's deploy", "2026-05-14"),
    ("Yesterday, we decided", "2026-05-14"),
    ("the day before yesterday", "2026-05-13"),
    # a day of the week
    ("last friday", "2026-05-08"),
    ("this friday", "2026-05-15"),
    ("last thursday", "2026-05-14"),
    ("this thursday", "2026-05-14"),
    ("last saturday", "2026-05-09"),
    ("previous monday", "2026-05-11"),
    ("past sunday", "2026-05-10"),
    ("Last Friday's release", "2026-05-08"),
    # weeks, months, years
    ("this week", "2026-05-11..2026-05-17"),
    ("last week", "2026-05-04..2026-05-10"),
    ("previous week", "2026-05-04..2026-05-10"),
    ("in the past week", "2026-05-08..2026-05-15"),
    ("this month", "2026-05-01..2026-05-31"),
    ("last month", "2026-04-01..2026-04-30"),
    ("past month", "2026-04-15..2026-05-15"),
    ("this year", "2026-01-01..2026-12-31"),
    ("last year", "2025-01-01..2025-12-31"),
    ("past year", "2025-05-15..2026-05-15"),
    # so long ago
    ("3 days ago", "2026-05-12"),
    ("three days ago", "2026-05-12"),
    ("a day ago", "2026-05-14"),
    ("0 days ago", "2026-05-15"),
    ("two weeks ago", "2026-04-28..2026-05-04"),
    ("a couple of weeks ago", "2026-04-28..2026-05-04"),
    ("a few weeks ago", "2026-04-21..2026-04-27"),
    ("a month ago", "2026-03-31..2026-04-30"),
    ("a year ago", "2024-11-14..2025-11-13"),
    ("12 months ago", "2025-05-05..2025-06-04"),
    ("3   Days\n Ago", "2026-05-12"),
    # months
    ("in may", "2026-05-01..2026-05-31"),
    ("In March we moved", "2026-03-01..2026-03-31"),
    ("december", "2025-12-01..2025-12-31"),
    ("since december", "2025-12-01..2025-12-31"),
    ("last december", "2025-12-01..2025-12-31"),
    ("last may", "2025-05-01..2025-05-31"),
    ("jan", "2026-01-01..2026-01-31"),
    ("Sept. release", "2025-09-01..2025-09-30"),
    ("sep", "2025-09-01..2025-09-30"),
    ("mid-may", "2026-05-01..2026-05-31"),
    ("late february", "2026-02-01..2026-02-28"),
    ("may 2025", "2025-05-01..2025-05-31"),
    ("February 2024", "2024-02-01..2024-02-29"),
    ("march, 2024", "2024-03-01..2024-03-31"),
    ("this may 2025", "2025-05-01..2025-05-31"),
    # days of months
    ("may 5", "2026-05-05"),
    ("5 may", "2026-05-05"),
    ("the 5th of may", "2026-05-05"),
    ("May 5th, 2024", "2024-05-05"),
    ("5 May 2024", "2024-05-05"),
    ("March 3rd", "2026-03-03"),
    ("december 24", "2025-12-24"),
    ("feb 29, 2024", "2024-02-29"),
    ("2026 may 5", "2026-05-05"),
    # in numbers
    ("2026-05-15", "2026-05-15"),
    ("2024-2-9", "2024-02-09"),
    ("2026-05", "2026-05-01..2026-05-31"),
    ("2024-02", "2024-02-01..2024-02-29"),
    ("on 2026-05-14, we", "2026-05-14"),
    ("2026-05-14T08:30:00Z", "2026-05-14"),
    ("session 2026-05-14-08h00-a1b2", "2026-05-14"),
    ("in 2024", "2024-01-01..2024-12-31"),
    ("since 1999", "1999-01-01..1999-12-31"),
]  # fmt: skip


@pytest.mark.parametrize(("query", "meant"), SAID, ids=[row[0] for row in SAID])
def test_the_days_a_query_speaks_of(query, meant):
    assert [(span.first, span.last) for span in spans(query, TODAY)] == [days(meant)]
    assert _spans(query, TODAY) == spans(query, TODAY)
    assert _spans(f"({query})", TODAY) == spans(f"({query})", TODAY)


NONE = [
    "", "deploy", "may", "it may fail", "this may fail", "may I deploy?", "you may want to retry", "maybe", "mayor", "marching orders", "three mayflies",
    "Q2", "Q2 2026", "in Q2", "in Q2 2026", "first quarter", "last quarter", "quarter 3", "2026", "version 2026", "v2026.5.1", "port 2024", "in 3024", "in 12345",
    "friday", "on monday", "next week", "tomorrow", "next friday", "tonight", "last", "last one", "the last three", "this", "past tense", "previous version",
    "2026-13-01", "2026-02-30", "2026-00", "2026-05-00", "2026-05-32", "0000-00-00", "9999-12", "31 june", "june 31", "february 30", "feb 29", "april 31 2026", "0 may",
    "may 0", "CVE-2024-3094", "12:30", "1.2.3", "10.0.0.1", "555-1234", "05/15/2026", "15.05.2026", "days ago", "many days ago", "ago", "1000 days ago", "2 hours ago",
    "3 days", "decided", "octopus", "august1", "sunday", "janitor", "separate", "2026-05-151", "12026-05-15",
]  # fmt: skip


@pytest.mark.parametrize("query", NONE)
def test_what_names_no_day_claims_none(query):
    assert spans(query, TODAY) == []
    assert not _spans(query, TODAY)


SEVERAL = [
    ("between 2026-05-01 and 2026-05-03", ["2026-05-01", "2026-05-03"]),
    ("yesterday or last week", ["2026-05-14", "2026-05-04..2026-05-10"]),
    ("in may or june 2025", ["2026-05-01..2026-05-31", "2025-06-01..2025-06-30"]),
    ("2026-02-30 or 2026-02-28", ["2026-02-28"]),
]


@pytest.mark.parametrize(("query", "meant"), SEVERAL, ids=[row[0] for row in SEVERAL])
def test_a_query_may_speak_of_several_days(query, meant):
    assert [(span.first, span.last) for span in spans(query, TODAY)] == list(map(days, meant))


def test_the_day_of_the_week_is_always_the_last_there_was():
    names = "monday tuesday wednesday thursday friday saturday sunday".split()
    for ahead in range(14):
        today = TODAY + timedelta(days=ahead)
        for number, name in enumerate(names):
            (last,), (this,) = spans(f"last {name}", today), spans(f"this {name}", today)
            assert last.first.weekday() == this.first.weekday() == number
            assert 1 <= (today - last.first).days <= 7
            assert 0 <= (today - this.first).days <= 6


def test_a_month_without_a_year_is_the_last_there_was():
    for ahead in range(0, 800, 17):
        today = TODAY + timedelta(days=ahead)
        for number, name in enumerate(
            "january february march april june july august september october november december".split()
        ):
            ((first, last, said),) = spans(f"in {name}", today)
            assert first.month == last.month == (number + 1 if number < 4 else number + 2)
            assert first <= today
            assert (today - first).days < 366
            assert said == f"in {name}"


def test_a_span_holds_its_days_and_no_others():
    (span,) = spans("last week", TODAY)
    assert not span.holds(date(2026, 5, 3))
    assert span.holds(date(2026, 5, 4))
    assert span.holds(date(2026, 5, 10))
    assert not span.holds(date(2026, 5, 11))


PIECES = st.sampled_from((
    "last", "past", "this", "previous", "week", "month", "year", "friday", "may", "mar", "dec.", "of", "in", "mid-", "a", "couple of", "days", "ago", "yesterday",
    "today", "day before", "1st", "31", "2026", "1999", "2026-05-15", "2026-13", "0001-01-01", "9999-12-31", "٣", "½", ",", " ", "\n", "may 5th, 2024", "999", "0",
))  # fmt: skip


@examples(400, 20000)
@hypothesis.given(
    st.one_of(texts(8), st.lists(PIECES, max_size=9).map(" ".join), st.lists(PIECES, max_size=9).map("".join)),
    st.one_of(st.just(TODAY), st.dates(), st.sampled_from([date.min, date.max])),
)
def test_no_query_fails_and_every_span_is_in_order(query, today):
    found = spans(query, today)
    for span in found:
        assert span.first <= span.last
        assert span.said
        assert span.said in " ".join(query.lower().split())
    assert list(_spans(query, today)) == found
