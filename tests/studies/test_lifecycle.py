"""Who may do what in which state of a study: one table."""

from datetime import timedelta

import pytest

from studies import lifecycle
from studies.models import Study
from tests.factories import NOON

DRAFT, LIVE, PAUSED, CLOSED = Study.State.DRAFT, Study.State.LIVE, Study.State.PAUSED, Study.State.CLOSED


@pytest.mark.parametrize(
    ("state", "transitions"),
    [(DRAFT, {"launch", "close_draft"}), (LIVE, {"pause", "close"}), (PAUSED, {"resume", "close"}), (CLOSED, set())],
)
def test_a_study_passes_only_where_it_may(state: str, transitions: set[str]) -> None:
    assert {name for name in lifecycle.TRANSITIONS if lifecycle.can_transition(Study(state=state), name)} == transitions


@pytest.mark.parametrize(
    ("state", "is_open", "is_sealed", "may_plan", "may_invite"),
    [
        (DRAFT, False, True, True, True),
        (LIVE, True, True, False, True),
        (PAUSED, False, True, False, True),
        (CLOSED, False, False, False, False),
    ],
)
def test_each_state_allows_what_the_table_says(
    state: str, is_open: bool, is_sealed: bool, may_plan: bool, may_invite: bool
) -> None:
    study = Study(state=state)

    assert lifecycle.is_open_for_answers(study, at=NOON) == is_open
    assert lifecycle.is_sealed(study) == is_sealed
    assert lifecycle.may_plan(study) == may_plan
    assert lifecycle.may_invite(study) == may_invite
    assert [lifecycle.may_edit(study, is_frozen=frozen) for frozen in (False, True)] == [state == DRAFT, False]


def test_a_study_is_open_until_its_time_is_over() -> None:
    study = Study(state=LIVE, closes_at=NOON)

    assert lifecycle.is_open_for_answers(study, at=NOON - timedelta(seconds=1))
    assert not lifecycle.is_open_for_answers(study, at=NOON)
