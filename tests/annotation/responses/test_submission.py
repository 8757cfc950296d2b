"""Submitting while others submit, and while answers still arrive."""

import threading
from datetime import timedelta
from typing import Any

import numpy as np
import pytest

from annotation import responses
from annotation.models import Assignment, Response
from annotation.responses import Answer, AssignmentEnded, holds, submission, verification
from studies import protocol
from studies.models import Story
from tests import factories
from tests.factories import NOON
from tests.threads import at_once


def test_of_twenty_submissions_at_once_one_counts(committed: None) -> None:
    mine = factories.assignment(factories.study())
    factories.answer(mine)
    copies = [Assignment.objects.get(pk=mine.pk) for _ in range(20)]

    counted = at_once(*(lambda copy=copy: submission.submit(copy, at=NOON) for copy in copies))

    assert sorted(counted, key=str) == [False] * 19 + [True]
    assert {copy.receipt for copy in copies} == {submission.receipt(mine)}


@pytest.mark.django_db
def test_many_are_closed_each_with_the_receipt_of_its_own_answers(
    django_assert_num_queries: Any,
) -> None:
    study = factories.study(k=3)
    works = [factories.assignment(study) for _n in range(3)]
    for n, work in enumerate(works[:2]):
        factories.answer(work, value=("yes", "no")[n])
    receipts = [submission.receipt(work) for work in works]
    submission.submit(works[0], at=NOON)
    later = NOON + timedelta(hours=1)

    with django_assert_num_queries(8):
        submission.submit_all(study.assignments.all(), at=later, section_by_assignment={})

    rows = study.assignments.order_by("pk").values_list("status", "receipt", "ended_at")
    assert list(rows) == [("submitted", r, at) for r, at in zip(receipts, (NOON, later, later), strict=True)]
    assert len(set(receipts)) == 3


def race(n_items: int = 12, seed: int = 0) -> tuple[Assignment, list[object]]:
    """Answers that arrive while their assignment is submitted: the assignment, and what became of each answer."""
    mine = factories.assignment(factories.study(f"race{seed}", n_items=n_items, n_stories=1, k=1, comparative=False))
    step = protocol.load_protocol(mine.version).step("tests")
    story = Story.objects.get(study=mine.study, code=mine.seat.order[0])
    pauses = np.random.default_rng(seed).uniform(0, 0.05, n_items + 1)

    def save(n: int) -> Response:
        own = Assignment.objects.get(pk=mine.pk)
        threading.Event().wait(pauses[n])
        item = protocol.items_of(step)[n]
        return responses.record(own, step=step, item=item, story=story, answer=Answer("yes", "So."), at=NOON, base=0)

    def submit() -> bool:
        threading.Event().wait(pauses[-1])
        return submission.submit(Assignment.objects.get(pk=mine.pk), at=NOON)

    found = at_once(*(lambda n=n: save(n) for n in range(n_items)), submit)
    mine.refresh_from_db()
    return mine, found


def test_an_answer_that_arrives_during_submission_is_under_the_receipt_or_refused(committed: None) -> None:
    n_covered = n_refused = 0
    for seed in range(8):
        mine, found = race(seed=seed)
        *saves, submitted = found

        assert submitted is True
        assert {type(each) for each in saves} <= {Response, AssignmentEnded}, saves
        n_covered += sum(isinstance(each, Response) for each in saves)
        n_refused += sum(isinstance(each, AssignmentEnded) for each in saves)
        assert mine.responses.count() == sum(isinstance(each, Response) for each in saves)
        assert submission.receipt(mine) == mine.receipt
    assert n_covered, "no answer came before a submission: the race was not run"
    assert n_refused, "no answer came after a submission: the race was not run"
    assert verification.verify().faults == []


def test_without_holding_the_assignment_an_answer_slips_in_after_the_seal(
    committed: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The order that is refused, forced: the answer asks whether the assignment is open, then the submission runs."""
    mine = factories.assignment(factories.study(n_stories=1, k=1, comparative=False))
    stale = Assignment.objects.get(pk=mine.pk)
    submission.submit(mine, at=NOON)

    with pytest.raises(AssignmentEnded):
        factories.answer(stale)
    monkeypatch.setattr(holds, "hold", lambda assignment: [])
    factories.answer(stale)

    mine.refresh_from_db()
    assert submission.receipt(mine) != mine.receipt
