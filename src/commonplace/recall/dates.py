"""The days a query speaks of: `yesterday`, `last week`, `in May`, `2026-05-15`. Pure: today is passed in.

English only; in other languages a query's dates are words like any other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta

from commonplace.named import NamedTuple

_MONTHS = "january february march april may june july august september october november december".split()
_DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_NUMBERS = {word: n for n, word in enumerate("a two three four five six seven eight nine ten eleven twelve".split(), 1)}
_NUMBERS |= {"an": 1, "one": 1, "a couple of": 2, "couple of": 2, "a few": 3, "few": 3}
_UNIT_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}
_COUNT = rf"(?P<count>\d{{1,3}}|{'|'.join(sorted(_NUMBERS, key=len, reverse=True))})".replace(" ", "[ ]")
_MONTH = rf"(?P<month>{'|'.join(_MONTHS)}|{'|'.join(month[:3] for month in _MONTHS if month != 'may')}|sept)\b\.?"
# `may` is mostly a verb: a month only behind one of these, or beside a number.
_BEHIND = r"(?P<behind>\b(?:in|on|of|since|during|last|this|until|before|after|by|early|late|mid)[ -])?"
_DATE = re.compile(
    rf"""\b(?P<iso>\d{{4}}-\d{{1,2}}-\d{{1,2}}(?!\d)|\d{{4}}-\d{{1,2}}(?!-?\d))
    |\b{_COUNT}\s(?P<unit>day|week|month|year)s?\sago\b
    |\b(?:(?P<this>last|past|previous|this)\s)(?P<span>week|month|year|{"|".join(_DAYS)})\b
    |\b(?P<near>(?:day\sbefore\s)?yesterday|today)\b
    |{_BEHIND}(?:(?<!\d)(?P<before>\d{{1,2}})(?:st|nd|rd|th)?\s(?:of\s)?)?\b{_MONTH}(?:\s(?P<after>\d{{1,2}})(?:st|nd|rd|th)?\b(?!\d))?(?:,?\s(?P<year>(?:19|20)\d\d)\b)?
    |\b(?:in|of|since|during)\s(?P<alone>(?:19|20)\d\d)\b""",
    re.VERBOSE,
)


class Span(NamedTuple):
    """Days a query speaks of, and the words it says it in."""

    first: date
    last: date
    said: str

    def holds(self, day: date) -> bool:
        return self.first <= day <= self.last


def spans(query: str, today: date) -> list[Span]:
    """The days a query speaks of; none where its dates are none."""
    return list(_spans(" ".join(query.lower().split()), today))


def _spans(text: str, today: date) -> Iterator[Span]:
    for found in _DATE.finditer(text):
        try:
            days = _meant(found.groupdict(), today)
        except (ValueError, OverflowError):  # the 31st of June, a year no calendar has
            continue
        if days is not None:
            yield Span(*days, found[0].strip())


def _meant(said: dict[str, str | None], today: date) -> tuple[date, date] | None:
    if iso := said["iso"]:
        return _of_numbers(*map(int, iso.split("-")))
    if unit := said["unit"]:
        return _ago(_number(said["count"] or "1"), unit, today)
    if span := said["span"]:
        return _span(said["this"] or "", span, today)
    if near := said["near"]:
        day = today - timedelta(days=("today", "yesterday", "day before yesterday").index(near))
        return day, day
    if alone := said["alone"]:
        return _of_numbers(int(alone))
    return _in_month(said, today)


def _in_month(said: dict[str, str | None], today: date) -> tuple[date, date] | None:
    word, behind = said["month"] or "", said["behind"] or ""
    number = said["before"] or said["after"]
    if word == "may" and (not behind or behind.startswith("this")) and not (number or said["year"]):
        return None  # `this may fail`
    month = next(n for n, name in enumerate(_MONTHS, 1) if name.startswith(word[:3]))
    here = month < today.month or (month == today.month and not behind.startswith("last"))
    year = int(said["year"] or 0) or (today.year if here else today.year - 1)
    return _of_numbers(year, month, int(number)) if number else _of_numbers(year, month)


def _of_numbers(year: int, month: int | None = None, day: int | None = None) -> tuple[date, date]:
    """A year, a month of one, or a day."""
    if month is None:
        return date(year, 1, 1), date(year, 12, 31)
    if day is None:
        return date(year, month, 1), _month_after(year, month) - timedelta(days=1)
    return date(year, month, day), date(year, month, day)


def _month_after(year: int, month: int) -> date:
    return date(year + month // 12, month % 12 + 1, 1)


def _ago(count: int, unit: str, today: date) -> tuple[date, date]:
    """So long ago, give or take half a unit: people round."""
    days = _UNIT_DAYS[unit]
    middle, slack = today - timedelta(days=count * days), timedelta(days=days // 2)
    return middle - slack, middle + slack


def _span(which: str, span: str, today: date) -> tuple[date, date]:
    this = which == "this"
    if span in _DAYS:
        back = (today.weekday() - _DAYS.index(span)) % 7
        day = today - timedelta(days=back if back or this else 7)
        return day, day
    if which == "past":  # up to now, where the last week ended with Sunday
        return today - timedelta(days=_UNIT_DAYS[span]), today
    if span == "week":
        monday = today - timedelta(days=today.weekday() + (0 if this else 7))
        return monday, monday + timedelta(days=6)
    if span == "month":
        first = today.replace(day=1)
        if not this:
            first = (first - timedelta(days=1)).replace(day=1)
        return first, _month_after(first.year, first.month) - timedelta(days=1)
    return _of_numbers(today.year - (not this))


def _number(word: str) -> int:
    return int(word) if word.isdigit() else _NUMBERS[word]
