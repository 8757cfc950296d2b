"""Times as other tools write them: which number is the day, AM and PM, names of months, zones."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from annotation.answer_import.column_map import parse_mapping, write_mapping
from annotation.answer_import.times import DAY_FIRST, MONTH_FIRST, TimeForms, TimeReader, find_ambiguous, guess_dates
from annotation.models import Response
from studies.documents.errors import DocumentError, InvalidValue
from tests import factories
from tests.annotation.answer_import.test_answer_import import bring

NEW_YORK = TimeForms(zone="America/New_York")


@pytest.mark.parametrize(
    ("cell", "forms", "utc"),
    [
        ("2024-05-01 10:20:00", TimeForms(zone="America/Denver"), "2024-05-01T16:20"),
        ("2024-05-01T10:20:00+02:00", NEW_YORK, "2024-05-01T08:20"),
        ("2024-12-01 10:20", NEW_YORK, "2024-12-01T15:20"),
        ("Wed May 01 09:10:00 PDT 2024", TimeForms(), "2024-05-01T16:10"),
        ("Fri Dec 06 23:10:00 EST 2024", TimeForms(), "2024-12-07T04:10"),
        ("Wed May 01 2024 09:10:00 GMT+0200 (Central European Summer Time)", TimeForms(), "2024-05-01T07:10"),
        ("2024/05/01 12:33:10 PM GMT+2", TimeForms(), "2024-05-01T10:33:10"),
        ("2024/05/01 12:33:10 AM GMT-3", TimeForms(), "2024-05-01T03:33:10"),
        ("01.05.2024 12:33", TimeForms(), "2024-05-01T12:33"),
        ("1.5.24, 9:05", TimeForms(zone="Europe/Berlin"), "2024-05-01T07:05"),
        ("5/1/2024 12:33:10", TimeForms(MONTH_FIRST), "2024-05-01T12:33:10"),
        ("5/1/2024 1:33 pm", TimeForms(DAY_FIRST), "2024-01-05T13:33"),
        ("13/1/2024", TimeForms(), "2024-01-13T00:00"),
        ("May 1, 2024 at 3:07 p.m.", TimeForms(), None),
        ("May 1, 2024 3:07 p.m.", TimeForms(), "2024-05-01T15:07"),
        ("1st May 2024 15:07", TimeForms(), "2024-05-01T15:07"),
        ("01-May-2024 15:07:09.250", TimeForms(), "2024-05-01T15:07:09.250"),
        ("1714559590", TimeForms(zone="Asia/Tokyo"), "2024-05-01T10:33:10"),
        ("1714559590000", TimeForms(), "2024-05-01T10:33:10"),
        ("20240501-1533", TimeForms(format="%Y%m%d-%H%M"), "2024-05-01T15:33"),
        ("13:33 PM 5/1/2024", TimeForms(MONTH_FIRST), None),
        ("31/2/2024", TimeForms(DAY_FIRST), None),
        ("2024-05-01 25:00", TimeForms(), None),
        ("May 2024", TimeForms(), None),
        ("0001-01-01", TimeForms(), None),
        ("2999-01-01", TimeForms(), None),
        ("2024-05-01 12:33 (UTC)", NEW_YORK, "2024-05-01T12:33"),
        ("2024-05-01 12:33 (PDT)", TimeForms(), "2024-05-01T19:33"),
        ("2024-05-01 12:33 PDT (Pacific Daylight Time)", TimeForms(), "2024-05-01T19:33"),
        ("2024-05-01 12:33 (Pacific Daylight Time)", TimeForms(), None),
        ("24/05/01 12:33", TimeForms(), None),
        ("13/1/24", TimeForms(DAY_FIRST), "2024-01-13T00:00"),
        ("soon", TimeForms(), None),
    ],
)
def test_a_time_is_read_as_it_was_meant_or_refused(cell: str, forms: TimeForms, utc: str | None) -> None:
    reader = TimeReader(forms, [cell])

    if utc is None:
        with pytest.raises(InvalidValue):
            reader.read(cell)
    else:
        assert reader.read(cell).astimezone(UTC) == datetime.fromisoformat(utc).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("cells", "dates"),
    [
        (["5/1/2024 12:33", "5/13/2024"], MONTH_FIRST),
        (["5-1-2024", "31-1-2024"], DAY_FIRST),
        (["5/1/2024", "6/2/2024"], ""),
        (["13/1/2024", "1/13/2024"], ""),
        (["24/05/01", "24/05/02"], ""),
        (["5/13/24", "5/1/24"], MONTH_FIRST),
        (["2024-05-13", "13.05.2024"], ""),
    ],
)
def test_a_column_shows_which_number_is_the_day_or_does_not(cells: list[str], dates: str) -> None:
    assert guess_dates(cells) == dates


def test_three_short_numbers_may_begin_with_the_year() -> None:
    assert find_ambiguous(["2024-05-01", "24/05/01"]) == "24/05/01"


MAPPING = """
time = "at"
[rater]
column = "who"
[story]
column = "story"
[[answers]]
value = "q"
item = "item-1"
step = "tests"
"""


@pytest.mark.django_db
def test_a_column_in_which_no_cell_tells_day_from_month_is_asked_about(tmp_path: Path) -> None:
    factories.study(n_stories=2, state="closed")
    content = "who,story,q,at\na,p1s1,yes,5/1/2024 9:00 AM\nb,p1s1,no,6/2/2024 9:00 PM\n"

    refused = bring(tmp_path, content, MAPPING)
    brought = bring(tmp_path, content, MAPPING + '[times]\ndates = "month-day"\nzone = "America/Denver"\n')

    assert "times, dates: “5/1/2024 9:00 AM” could be two days; say whether the day or the month" in refused
    assert "2 answers" in brought
    times = Response.objects.order_by("pk").values_list("first_answered_at", flat=True)
    assert [at.isoformat() for at in times] == ["2024-05-01T15:00:00+00:00", "2024-06-03T03:00:00+00:00"]


@pytest.mark.parametrize(
    ("key", "value"), [("dates", "year-day"), ("zone", "Mars/Base"), ("format", "%Q"), ("format", "noon")]
)
def test_a_form_of_times_that_is_none_is_refused(key: str, value: str) -> None:
    toml = f'{MAPPING}[times]\n{key} = "{value}"\n'

    with pytest.raises(DocumentError, match=f"times, {key}"):
        parse_mapping(toml, "map.toml")


def test_forms_of_times_and_rows_to_leave_out_are_written_as_they_are_read() -> None:
    toml = MAPPING + (
        '[times]\ndates = "day-month"\nzone = "Europe/Berlin"\nformat = "%d.%m.%Y"\n'
        '[[leave_out]]\ncolumn = "Status"\nis = ["Survey Preview", ""]\n'
    )
    mapping = parse_mapping(toml, "map.toml")

    assert parse_mapping(write_mapping(mapping), "map.toml") == mapping
    assert (mapping.times.zone, mapping.leave_out[0].words) == ("Europe/Berlin", ("Survey Preview", ""))
