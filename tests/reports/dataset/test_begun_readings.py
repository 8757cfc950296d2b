"""What raters began to read: what they gave up is in it, what they knew or withdrew is not."""

import pytest

from annotation.models import Assignment, Rater, Withdrawal
from annotation.participation import claims
from reports.dataset import Dataset
from studies.models import Study
from tests import factories
from tests.factories import NOON

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    return factories.study(n_groups=2, n_stories=2, comparative=False)


def begun(study: Study) -> list[tuple[str, int | None, int, int, bool]]:
    """Rater, place, missing and asked for, and whether it was ended, by rater and place."""
    rows = Dataset.of(study).records.begun_readings
    return sorted((row.rater, row.place, row.n_missing, row.n_asked, row.is_ended) for row in rows)


def test_answers_in_what_was_given_up_are_there(study: Study) -> None:
    given_up = factories.assignment(study)
    factories.answer(given_up, letter="A")
    factories.answer(given_up, letter="A", item=2)
    factories.answer(given_up, letter="B")
    claims.give_up(given_up, at=NOON)

    assert begun(study) == [("E01", 1, 0, 2, False), ("E01", 2, 1, 2, False)]


def test_the_second_group_comes_after_the_first(study: Study) -> None:
    rater = factories.rater(study)
    for _group in range(2):
        assignment = factories.assignment(study, rater)
        for item in (1, 2):
            factories.answer(assignment, letter="B", item=item)
        Assignment.objects.update(status=Assignment.Status.SUBMITTED)

    assert begun(study) == [("E01", place, missing, 2, True) for place, missing in ((1, 2), (2, 0), (3, 2), (4, 0))]


def test_what_was_known_and_given_back_was_not_begun_nor_what_was_withdrawn(study: Study) -> None:
    known, withdrawn = factories.assignment(study), factories.assignment(study)
    claims.give_up(known, at=NOON)
    Assignment.objects.filter(pk=known.pk).update(read_before=True)
    Withdrawal.objects.create(rater=withdrawn.rater, at=NOON)

    assert begun(study) == []


def test_simulated_raters_are_left_out_where_others_read(study: Study) -> None:
    for _rater in range(2):
        factories.answer(factories.assignment(study))
    Rater.objects.filter(code="E02").update(is_simulated=True)

    assert {rater for rater, *_row in begun(study)} == {"E01"}
