"""What the preview of a file of answers accepts comes in, whatever the file holds; what it refuses does not."""

from collections import Counter

import pytest
from django.db import transaction
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation.answer_import import files
from annotation.answer_import.column_map import AnswerColumn, ColumnMapping, GroupColumn, RaterColumn, StoryColumn
from annotation.models import Assignment, Response
from studies.documents.errors import DocumentError
from studies.incoming_tables.errors import ImportRefused
from studies.incoming_tables.tables import IncomingTable
from studies.models import Study
from tests import factories
from tests.replay import replayed

pytestmark = pytest.mark.django_db
CELLS = [
    "",
    "yes",
    "no",
    "1",
    "0.0",
    "p1s1",
    "P1S1",
    "p1s2",
    "plot1",
    "p1s1 > p1s2",
    "p1s2;p1s1",
    "[]",
    '["p1s1"]',
    "é\0",
]
CELLS += ["2024-05-01", "5/1/2024", "9999-12-31", "expert", "An amateur writer", "x" * 90, " ", "A", "🙂"]
# By column, cells that fit; nearly all are such.
FITTING = {
    "who": ["ann", "bo", "cyd", "7", "dee", "eve", "fay", "gil", "hal"],
    "story": ["p1s1", "P1S1", "p1s2"],
    "group": ["plot1"],
    "at": ["", "2024-05-01", "13/1/2024 9:00 PM", "Wed May 01 09:10:00 PDT 2024"],
    "one": ["yes", "no", "", "Yes"],
    "two": ["yes", "no", ""],
    "why": [""],
    "rank 1": ["1"],
    "rank 2": ["2", "2.0"],
    "1st": ["p1s1"],
    "2nd": ["p1s2"],
}
NAMES = ["ann", "Ann", "bo@x.org", "7", "7.0", "", "Zoë", "x" * 400]
COLUMNS = ("who", "story", "group", "at", "one", "two", "why", "rank 1", "rank 2", "1st", "2nd")


@pytest.fixture
@replayed
def study() -> Study:
    """A group of two stories, with a question about each, an order and a guess."""
    return factories.study(n_stories=2, state="closed")


class _Undone(Exception):
    """Takes back what came in."""


answer_columns = st.lists(
    st.builds(
        AnswerColumn,
        value=st.sampled_from(["one", "two"]),
        item=st.just("item-1"),
        step=st.sampled_from(["tests", "tests", "tests", "guess"]),
        story=st.sampled_from(["", "", "p1s1", "p1s2"]),
        rater=st.sampled_from(["", "", "cy"]),
        rationale=st.sampled_from(["", "why"]),
    )
    | st.builds(
        AnswerColumn,
        ranks=st.just({"rank 1": "p1s1", "rank 2": "p1s2"}),
        item=st.just("item-1"),
        step=st.just("ranking"),
    )
    | st.builds(AnswerColumn, ranked=st.just(("1st", "2nd")), item=st.just("item-1"), step=st.just("ranking")),
    min_size=1,
    max_size=2,
)
mappings = st.builds(
    ColumnMapping,
    rater=st.builds(
        RaterColumn,
        column=st.just("who"),
        prefix=st.sampled_from(["", "R", "", "R", "é"]),
        digits=st.integers(0, 3),
        kind=st.sampled_from(["person", "model"]),
        is_numbered=st.booleans(),
    ),
    story=st.sampled_from([StoryColumn("story"), StoryColumn(), StoryColumn("story", names={"A": "p1s2"})]),
    group=st.sampled_from([GroupColumn(), GroupColumn("group")]),
    facts=st.sampled_from([{}, {"time": "at"}]),
    answers=answer_columns,
    declined=st.sampled_from([(), ("no",)]),
)
rows = st.lists(
    st.tuples(
        *(
            st.integers(0, 29).flatmap(
                lambda n, column=column: st.sampled_from(  # type: ignore[misc]
                    FITTING[column] if n else NAMES if column == "who" else CELLS
                )
            )
            for column in COLUMNS
        )
    ),
    min_size=1,
    max_size=3,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(mapping=mappings, cells=rows)
def test_what_the_preview_accepts_comes_in_and_what_it_refuses_does_not(
    study: Study, mapping: ColumnMapping, cells: list[tuple[str, ...]]
) -> None:
    table = IncomingTable("a.csv", COLUMNS, tuple(enumerate(cells, start=2)))
    try:
        shown = files.examine(study, table, mapping)
    except DocumentError:
        shown = None
    outcome, n_responses, n_assignments = "in", 0, 0
    try:
        with transaction.atomic():
            files.bring_in(study, table, mapping, sha256="0" * 64, by="ann", at=timezone.now())
            n_responses, n_assignments = Response.objects.count(), Assignment.objects.count()
            raise _Undone
    except _Undone:
        pass
    except DocumentError:
        outcome = "the mapping does not fit"
    except ImportRefused:
        outcome = "refused"

    if shown is None:
        assert outcome == "the mapping does not fit"
    elif shown.problems or not shown.rows:
        assert outcome == "refused"
    else:
        pairs = Counter((row.rater, row.group) for row in shown.rows)
        assert (outcome, n_responses, n_assignments) == ("in", len(shown.rows), len(pairs))
