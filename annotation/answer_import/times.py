"""Days and times as other tools write them: day or month first, AM and PM, names of months, zones by name or offset."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, available_timezones

from django.conf import settings
from django.utils import timezone as clock
from django.utils.translation import gettext as _

from studies.documents.errors import InvalidValue, quote

DAY_FIRST, MONTH_FIRST = ORDERS = ("day-month", "month-day")
EARLIEST = 1900
LONGEST = 80  # characters of a time
# Hours from UTC of the names of zones that tools write, as MTurk does.
HOURS_BY_ZONE = dict.fromkeys(("Z", "UTC", "GMT", "WET"), 0) | {
    "CET": 1,
    "CEST": 2,
    "EET": 2,
    "EEST": 3,
    "EST": -5,
    "EDT": -4,
    "CST": -6,
    "CDT": -5,
    "MST": -7,
    "MDT": -6,
    "PST": -8,
    "PDT": -7,
    "AKST": -9,
    "AKDT": -8,
    "HST": -10,
}
_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july"),
    *("august", "september", "october", "november", "december"),
)
_WEEKDAY = re.compile(r"(?:mon|tue(?:s)?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?", re.I)
_CLOCK = re.compile(
    r"(?<![0-9:])(?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2})(?:[.,](?P<part>[0-9]{1,9}))?)?"
    r"(?:\s?(?P<half>[AaPp])\.?[Mm]\.?)?(?![0-9:])"
)
_OFFSET = re.compile(r"(?:GMT|UTC)?(?P<sign>[+-])(?P<hours>[0-9]{1,2})(?::?(?P<minutes>[0-9]{2}))?")
_NUMBERS = re.compile(r"([0-9]{1,4})([./-])([0-9]{1,2})\2([0-9]{2,4})")
_EPOCH = re.compile(r"[0-9]{10}(?:[0-9]{3})?")


@dataclass(frozen=True)
class TimeForms:
    """How a file writes times.

    dates : which of two numbers, as in 5/1/2027, is the day: "day-month" or "month-day"; "" where that is clear
    zone : of times that say none, as "America/Denver"; "" for the server's
    format : as of `strptime`; "" for all that can be told without
    """

    dates: str = ""
    zone: str = ""
    format: str = ""


def check_zone(zone: str) -> None:
    """Raise InvalidValue unless there is such a zone."""
    if zone and zone not in available_timezones():
        raise InvalidValue(_("%(zone)s is no time zone; write one as America/Denver") % {"zone": quote(zone)})


def check_format(pattern: str) -> None:
    """Raise InvalidValue unless times can be written and read by that format."""
    if not pattern:
        return
    example = datetime(2027, 1, 31, 18, tzinfo=UTC)
    try:
        is_format = datetime.strptime(example.strftime(pattern), pattern).date() == example.date()
    except (ValueError, re.error):
        is_format = False
    if not is_format:
        reason = _("%(format)s is no format of times; write one as %%d.%%m.%%Y %%H:%%M")
        raise InvalidValue(reason % {"format": quote(pattern)})


def guess_dates(cells: Iterable[str]) -> str:
    """Which of two numbers is the day, as at least one of the cells shows; "" if none does, or they contradict."""
    orders = {
        DAY_FIRST if first > 12 else MONTH_FIRST
        for cell in cells
        for first, second, year in _undecided(cell)
        if (first > 12) != (second > 12) and not _may_begin_with_year(first, second, year)
    }
    return orders.pop() if len(orders) == 1 else ""


def find_ambiguous(cells: Iterable[str]) -> str:
    """The first date of which nobody can tell which number is the month; "" if there is none."""
    for cell in cells:
        for first, second, year in _undecided(cell):
            is_either = max(first, second) <= 12 and first != second
            if is_either or _may_begin_with_year(first, second, year):
                return cell
    return ""


def _undecided(cell: str) -> Iterator[tuple[int, int, int]]:
    """The numbers of dates that neither begin with a year of four digits nor stand between points, the day first."""
    for word in cell[:LONGEST].split():
        match = _NUMBERS.fullmatch(word.strip(","))
        if match and len(match[1]) <= 2 and match[2] != ".":
            yield int(match[1]), int(match[3]), int(match[4])


def _may_begin_with_year(first: int, second: int, third: int) -> bool:
    """Whether a date of three short numbers, such as 24/05/01, could be one of 2024 as well as one in May 2001."""
    return first > 12 and second <= 12 and third <= 31


class TimeReader:
    """Reads the times of a file. forms : as the mapping has them; cells : the times, to tell how dates are written"""

    def __init__(self, forms: TimeForms, cells: Iterable[str] = ()) -> None:
        self.forms = forms
        self.zone: tzinfo = ZoneInfo(forms.zone or settings.TIME_ZONE)
        self.is_day_first = (forms.dates or guess_dates(cells) or DAY_FIRST) == DAY_FIRST
        self.are_points_day_first = forms.dates != MONTH_FIRST

    def read(self, cell: str) -> datetime:
        """A day, perhaps with its time, that is not still to come. Raises InvalidValue."""
        try:
            at = self._parse(cell)
            aware = at if clock.is_aware(at) else at.replace(tzinfo=self.zone)
            aware.astimezone(UTC)
        except (ValueError, OverflowError):
            reason = _("%(cell)s is no day and time; write it as 2027-01-31T18:00")
            raise InvalidValue(reason % {"cell": quote(cell)}) from None
        if aware > clock.now():
            raise InvalidValue(_("this time is still to come; correct it, or empty the cell"))
        return aware

    def _parse(self, cell: str) -> datetime:
        """Raises ValueError."""
        if len(cell) > LONGEST:
            raise ValueError
        at = self._parse_any(cell)
        if at.year < EARLIEST:
            raise ValueError
        return at

    def _parse_any(self, cell: str) -> datetime:
        if self.forms.format:
            return datetime.strptime(cell, self.forms.format)
        if _EPOCH.fullmatch(cell):
            return datetime.fromtimestamp(int(cell) / (1000 if len(cell) == 13 else 1), tz=UTC)
        try:
            return datetime.fromisoformat(cell)
        except ValueError:
            return self._parse_words(cell)

    def _parse_words(self, cell: str) -> datetime:
        """A date in numbers or with the name of its month, a time, a zone, in any order."""
        words, bracket = re.fullmatch(r"(.*?)(?:\(([^()]*)\))?", cell, re.S).groups("")  # type: ignore[union-attr]
        of_day, zone = timedelta(), None
        if match := _CLOCK.search(words):
            of_day = _read_clock(match)
            words = f"{words[: match.start()]} {words[match.end() :]}"
        parts = []
        for word in re.sub(r"(?:,|(?<![A-Za-z])T)(?=\s|$)", " ", words).split():
            if (offset := _read_zone(word)) is not None and zone is None and match:
                zone = offset
            elif not _WEEKDAY.fullmatch(word.strip(".")):
                parts.append(word)
        if zone is None and bracket and not _WEEKDAY.fullmatch(bracket) and (zone := _read_zone(bracket)) is None:
            raise ValueError  # it would change the time by hours, unless a zone before it says the same
        year, month, day = self._read_date(parts)
        return datetime(year, month, day, tzinfo=zone) + of_day

    def _read_date(self, parts: list[str]) -> tuple[int, int, int]:
        """Year, month and day. Raises ValueError."""
        if len(parts) == 1 and (match := _NUMBERS.fullmatch(parts[0])):
            first, sign, second, third = match.groups()
            if len(first) == 4:
                return int(first), int(second), int(third)
            year = int(third) + (2000 if len(third) == 2 else 0)
            if sign != "." and _may_begin_with_year(int(first), int(second), int(third)) and not self.forms.dates:
                raise ValueError
            is_day_first = self.are_points_day_first if sign == "." else self.is_day_first
            day, month = (first, second) if is_day_first else (second, first)
            return year, int(month), int(day)
        pieces = [piece for part in parts for piece in part.split("-")]
        numbers = [re.sub(r"(?<=[0-9])(?:st|nd|rd|th|\.)$", "", piece) for piece in pieces]
        [at] = [n for n, piece in enumerate(pieces) if piece.isalpha()]
        month = _read_month(numbers.pop(at))
        year, day = sorted(map(int, numbers), reverse=True) if all(map(str.isdecimal, numbers)) else (0, 0)
        if len(numbers) != 2 or not any(len(number) == 4 for number in numbers):
            raise ValueError
        return year, month, day


def _read_clock(match: re.Match[str]) -> timedelta:
    """What has passed of the day. Raises ValueError."""
    hour, half = int(match["hour"]), (match["half"] or "").lower()
    if half:
        if not 1 <= hour <= 12:
            raise ValueError
        hour = hour % 12 + (12 if half == "p" else 0)
    minute, second = int(match["minute"]), int(match["second"] or 0)
    if hour > 23 or minute > 59 or second > 59:
        raise ValueError
    part = (match["part"] or "").ljust(6, "0")[:6]
    return timedelta(hours=hour, minutes=minute, seconds=second, microseconds=int(part))


def _read_zone(word: str) -> tzinfo | None:
    """The zone that the word names; None if it names none."""
    if match := _OFFSET.fullmatch(word.upper()):
        offset = timedelta(hours=int(match["hours"]), minutes=int(match["minutes"] or 0))
        return timezone(-offset if match["sign"] == "-" else offset)
    hours = HOURS_BY_ZONE.get(word.upper())
    return None if hours is None else timezone(timedelta(hours=hours))


def _read_month(word: str) -> int:
    """The number of the month. Raises ValueError."""
    name = word.lower()
    if len(name) < 3:
        raise ValueError
    [number] = [n for n, month in enumerate(_MONTHS, start=1) if month.startswith(name) or name == month[:3] + "t"]
    return number
