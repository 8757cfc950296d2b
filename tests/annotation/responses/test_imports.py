"""Bringing in answers that were given elsewhere: whole or not at all, through everybody's validator."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.models import Assignment, Rater, Response, Seat
from annotation.progress import monitor
from annotation.responses import Answer, history, imports
from annotation.responses.imports import Row
from studies import protocol
from studies.incoming_tables.problems import InvalidRow
from studies.models import Study
from tests import factories
from tests.factories import NOON

pytestmark = pytest.mark.django_db


def row(**changed: object) -> Row:
    given = {
        "location": "file.csv: row 1",
        "rater": "E01",
        "group": "plot1",
        "story": "p1s1",
        "step": "tests",
        "item": "item-1",
        "answer": Answer(value="Yes", rationale="It is so."),
    }
    return Row(**(given | changed))  # type: ignore[arg-type]


def bring(study: Study, *rows: Row) -> imports.ImportSummary:
    return imports.import_rows(study, rows, version=protocol.current(study), at=NOON)


def test_rows_become_submitted_assignments_with_answers_as_the_form_stores_them() -> None:
    study = factories.study(n_groups=2, state="closed")

    brought = bring(study, row(), row(item="item-2"), row(group="plot2", story="p2s3"), row(rater="E02"))

    assert brought == imports.ImportSummary(n_raters=2, n_assignments=3, n_responses=4)
    assert {(a.rater.code, a.group.code, a.status) for a in Assignment.objects.select_related("rater", "group")} == {
        ("E01", "plot1", "submitted"),
        ("E01", "plot2", "submitted"),
        ("E02", "plot1", "submitted"),
    }
    first = Response.objects.filter(item__key="item-1", story__code="p1s1").first()
    assert first is not None
    assert (first.value, first.rationale, first.outcome, first.revision) == ("yes", "It is so.", "answered", 1)


def test_every_answer_has_a_history_that_verifies() -> None:
    study = factories.study(state="closed")

    bring(study, row(), row(item="item-2"))

    assert [history.faults(r, r.events.all()) for r in Response.objects.all()] == [[], []]
    assert Response.objects.filter(events__revision=1).count() == 2


def test_stories_in_an_answer_are_named_by_code() -> None:
    study = factories.study(n_stories=3, state="closed")

    bring(study, row(step="ranking", story="", answer=Answer(value="p1s2 > p1s3 > p1s1")))

    assert Response.objects.get().value == [["p1s2"], ["p1s3"], ["p1s1"]]


def test_what_a_judge_did_not_answer_is_kept_as_that_and_never_as_no() -> None:
    study = factories.study(state="closed")
    rows = [
        row(rater="gpt", kind="model", answer=Answer(outcome="declined", rationale="Content Blocked")),
        row(rater="gpt", kind="model", item="item-2", answer=Answer(outcome="unreadable", rationale="Perhaps.")),
    ]

    bring(study, *rows)

    assert sorted(Response.objects.values_list("value", "outcome")) == [(None, "declined"), (None, "unreadable")]


def test_imported_people_take_the_places_that_were_planned_and_judges_stand_beside_them() -> None:
    study = factories.study(k=2, state="closed")

    bring(study, row(), row(rater="E02"), row(rater="gpt", kind="model"))

    seats = Seat.objects.filter(group__code="plot1").order_by("rater_kind", "number")
    assert [*seats.values_list("rater_kind", "number", "is_taken")] == [
        ("model", 1, True),
        ("person", 1, True),
        ("person", 2, True),
    ]
    assert {tuple(seat.order) for seat in seats} == {("p1s1", "p1s2", "p1s3", "p1s4")}, "a file tells no order"


def test_a_study_whose_places_are_all_filled_from_a_file_is_complete() -> None:
    study = factories.study(n_groups=2, k=2, state="live")
    before = monitor.count_places(study)

    bring(study, *(row(rater=f"E0{n}", group=f"plot{g}", story=f"p{g}s1") for n in (1, 2) for g in (1, 2)))

    totals = monitor.count_places(study)
    assert (before.n_places, before.n_submitted, before.n_free) == (4, 0, 4)
    assert (totals.n_places, totals.n_submitted, totals.n_free) == (4, 4, 0)
    assert totals.n_groups_complete == totals.n_groups == 2


def test_imported_people_beyond_the_places_that_are_free_have_further_ones() -> None:
    study = factories.study(k=2, state="live")

    bring(study, *(row(rater=f"E0{n}") for n in (1, 2, 3)))

    numbers = Seat.objects.filter(group__code="plot1", is_taken=True).values_list("number", flat=True)
    assert sorted(numbers) == [1, 2, 3]


def test_imported_people_leave_the_row_along_which_somebody_reads() -> None:
    study = factories.study(k=2, state="live")
    first = Seat.objects.get(group__code="plot1", number=1)
    Rater.objects.create(study=study, code="R1", row=first.row)

    bring(study, row())

    taken = Seat.objects.get(is_taken=True)
    assert (taken.number, taken.row != first.row) == (2, True)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"group": "plot9"}, "group: “plot9” is not in the study"),
        ({"story": "p9s9"}, "story: “p9s9” is not in the study"),
        ({"story": ""}, "story: “” is not in the study"),
        ({"step": "tasks"}, "step: “tasks” is not in the study"),
        ({"item": "item-9"}, "item: “item-9” is not in the study"),
        ({"step": "ranking"}, "story: step ranking asks about the group, not about one story"),
        (
            {"story": "p1s2", "answer": Answer(value="perhaps")},
            "value: 'perhaps' is no answer to item-1. Please answer “Yes” or “No”.",
        ),
        ({"story": "p1s2", "answer": Answer(value=" ")}, "value: there is no answer; leave the row out"),
        (
            {"story": "p1s2", "answer": Answer(value="yes", rationale="\x00")},
            "rationale: it holds a character that no database keeps",
        ),
        ({"rater": "E01", "kind": "model", "item": "item-2"}, "rater: E01 is a person already, not a model"),
        ({}, "item: E01 has answered item-1 about this already; keep one of the two answers"),
    ],
)
def test_a_row_that_does_not_fit_is_named_and_nothing_comes_in(changed: dict[str, object], message: str) -> None:
    study = factories.study(state="closed")

    with pytest.raises(InvalidRow) as refusal:
        bring(study, row(), row(location="file.csv: row 2", **changed))

    assert str(refusal.value) == f"file.csv: row 2, {message}"
    assert (Rater.objects.count(), Assignment.objects.count(), Response.objects.count()) == (0, 0, 0)


def test_a_rater_who_has_had_the_group_is_refused() -> None:
    study = factories.study(state="closed")
    bring(study, row())

    with pytest.raises(InvalidRow, match="rater: E01 has had group plot1 in this study already"):
        bring(study, row(item="item-2"))


def test_rows_come_in_by_the_batch_not_one_by_one() -> None:
    study = factories.study(n_groups=3, n_items=5, state="closed")
    stories = [(f"plot{g}", f"p{g}s{s}") for g in (1, 2, 3) for s in (1, 2, 3, 4)]
    rows = [
        row(rater=rater, group=group, story=story, item=f"item-{n}")
        for rater in ("E02", "E03")
        for group, story in stories
        for n in range(1, 6)
    ]

    protocol.load_protocol(study.versions.get())  # read once in a process

    with CaptureQueriesContext(connection) as one:
        bring(study, row())
    with CaptureQueriesContext(connection) as many:
        bring(study, *rows)

    # SQLite takes a bounded number of values in one statement, so that rows come in a few batches.
    assert (len(rows), len(one)) == (120, 16)
    assert len(many) < 13 + len(rows) / 5


def test_what_is_too_long_to_be_submitted_does_not_come_in() -> None:
    study = factories.study(n_items=0, state="closed", comparative=False, planned=False)
    study.versions.get().steps.filter(key="tests").update(
        instrument=factories.instrument("line", n_items=1, type="text", rationale="none", settings={"most_lines": 1})
    )
    factories.plan(study)

    with pytest.raises(InvalidRow, match=r"is no answer to item-1\. Please write one line only"):
        bring(study, row(answer=Answer(value="One.\nTwo.")))

    assert not Response.objects.exists()


def test_a_draft_is_frozen_before_anything_comes_in() -> None:
    study = factories.study(state=Study.State.DRAFT, planned=False)

    imports.import_rows(study, [row()], version=study.versions.get(), at=NOON)

    version = study.versions.get()
    assert (version.frozen_at, version.reason) == (NOON, "import")
    assert Assignment.objects.get().version.sha256 == version.sha256


def test_a_draft_with_something_in_the_way_takes_no_answers() -> None:
    study = factories.study(state=Study.State.DRAFT, planned=False, n_stories=1)

    with pytest.raises(protocol.NotPlannable, match="compares stories, but group plot1 has only one"):
        imports.import_rows(study, [row()], version=study.versions.get(), at=NOON)

    assert not Rater.objects.exists()
