"""The long file: a column is a line."""

import pytest

from annotation.models import Assignment, Rater
from annotation.participation import claims, recognition
from reports.export import codebook, long_table, long_table_columns
from reports.export.long_table_columns import Column
from studies.models import Study
from tests import factories
from tests.factories import NOON
from tests.reports import given
from tests.reports.judge_readings import read, start_run

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("is_of_source", [False, True])
def test_a_new_column_stands_in_the_file_and_in_the_codebook(
    monkeypatch: pytest.MonkeyPatch, is_of_source: bool
) -> None:
    study = given.closed_study()
    given.verdicts(study, {"E01": "ynyn"})
    probe = Column("probe", "What is probed.", lambda row: row.item.key.upper(), is_of_source=is_of_source)
    monkeypatch.setattr(long_table, "COLUMNS", (*long_table_columns.COLUMNS, probe))

    open_rows = list(long_table.rows(study, with_sources=True))
    blind_rows = list(long_table.rows(study, with_sources=False))
    names = [row["name"] for row in codebook.rows(study, with_sources=True)]

    assert [row["probe"] for row in open_rows] == ["ITEM-1"] * 4
    assert all(("probe" in row) != is_of_source for row in blind_rows)
    assert "probe" in names


def test_no_two_columns_share_a_name() -> None:
    names = [column.name for column in long_table_columns.COLUMNS]

    assert len(names) == len(set(names)) > 20


def positions(study: Study, rater: Rater) -> list[tuple[object, ...]]:
    """Group, story and the three positions of each story that the rater judged, as they were given."""
    rows = [row for row in long_table.rows(study, with_sources=False) if row["rater"] == rater.code]
    names = ("status", "story", "story_position", "group_position", "position_in_group")
    return sorted(tuple(row[name] for name in names) for row in rows)


def test_positions_count_over_all_that_a_rater_reads() -> None:
    study = factories.study(n_groups=4, n_stories=2, k=1, n_items=1, comparative=False)
    rater = factories.rater(study)
    first = claims.claim(rater)
    factories.answer(first, letter="B")
    Assignment.objects.filter(pk=first.pk).update(status="submitted", ended_at=NOON)
    recognition.give_back_seat(claims.claim(rater), at=NOON)
    begun = claims.claim(rater)
    factories.answer(begun)
    claims.give_up(begun, at=NOON)
    last = claims.claim(rater)
    factories.answer(last)

    assert positions(study, rater) == sorted(
        [
            ("submitted", first.seat.order[1], 2, 1, 2),
            ("given_up", begun.seat.order[0], 3, 2, 1),
            ("open", last.seat.order[0], 5, 3, 1),
        ]
    )


def test_of_imported_answers_only_the_place_in_the_group_is_told_and_a_judge_reads_afresh() -> None:
    study = given.closed_study()
    given.verdicts(study, {"E01": "ynyn"})
    given.verdicts(study, {"gpt": "ynyn"}, kind=Rater.Kind.MODEL)
    person, judge = study.raters.order_by("code")

    assert {row[2:4] for row in positions(study, person)} == {(None, None)}
    assert [row[4] for row in positions(study, person)] == [1, 2, 1, 2]
    assert [row[2:] for row in positions(study, judge)] == [(1, None, 1), (2, None, 2)] * 2


def test_a_judges_answers_say_in_which_reading_they_were_given(study: Study) -> None:
    run = start_run(study, "judge", personas=("critic", "reader"))
    place = ("tests", "item-1", "p1s1")
    read(run, "plot1", {place: "yes"}, persona="critic")
    read(run, "plot1", {place: "no"}, persona="reader", repeat=2, order="reversed", stories=["p1s2", "p1s1"])

    rows = long_table.frame(study, with_sources=False)

    of_judge = rows[rows["rater"] == "judge"]
    assert of_judge[["order", "persona", "repeat", "value"]].values.tolist() == [
        ["planned", "critic", 1, "yes"],
        ["reversed", "reader", 2, "no"],
    ]
    assert set(rows[rows["rater_kind"] == "person"]["order"]) == {""}
