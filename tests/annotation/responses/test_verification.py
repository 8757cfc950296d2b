from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Assignment, Rater, Response, ResponseEvent, Withdrawal
from annotation.participation import withdrawal
from annotation.responses import history, submission, verification
from studies import hashing
from studies.models import Study
from tests import factories, triggers
from tests.replay import replayed
from tools.trials import flips

pytestmark = [pytest.mark.django_db, pytest.mark.services]


@pytest.fixture
@replayed
def submitted() -> Assignment:
    mine = factories.assignment(factories.study(n_stories=2))
    factories.answer_all(mine)
    factories.answer(mine, value="no")
    submission.submit(mine, at=factories.NOON)
    return mine


def test_an_untouched_history_holds_and_is_counted(submitted: Assignment, capsys: Any) -> None:
    ResponseEvent.objects.filter(revision=1, response__revision=2).update(words=None)
    Withdrawal.objects.create(rater=Rater.objects.get())

    call_command("verify_history", "plums")

    said = capsys.readouterr().out
    assert "1 assignment (1 with a receipt), 7 responses, 8 events (1 erased), 1 frozen protocol\n" in said
    assert "Every chain, every receipt and every frozen protocol holds." in said


def test_each_fault_is_named_and_the_command_fails(submitted: Assignment, capsys: Any) -> None:
    changed = Response.objects.get(revision=2)
    Response.objects.filter(pk=changed.pk).update(rationale="Never said.")
    Assignment.objects.update(receipt="0" * 64)

    with pytest.raises(CommandError, match="2 faults found") as failed:
        call_command("verify_history")

    assert failed.value.returncode == 1
    assert capsys.readouterr().out.splitlines()[1:] == [
        f"FAULT assignment {submitted.code}: response {changed.pk}: "
        "the response's rationale is not what its latest event says",
        f"FAULT assignment {submitted.code}: the receipt is not that of its answers",
    ]


def test_another_studys_faults_are_not_this_ones(submitted: Assignment) -> None:
    other = factories.study("pears")
    Assignment.objects.update(receipt="0" * 64)

    assert verification.verify(other).faults == []
    assert verification.verify(Study.objects.get(slug="plums")).faults != []


def test_a_study_that_is_not_there_is_named_with_those_that_are() -> None:
    factories.study()

    with pytest.raises(CommandError, match=r"study “pears”.*: plums$"):
        call_command("verify_history", "pears")


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"receipt": ""}, "it was submitted and has no receipt"),
        ({"status": "open"}, "it has a receipt and was not submitted"),
    ],
)
def test_a_receipt_stands_with_a_submission_and_only_there(
    submitted: Assignment, change: dict[str, str], fault: str
) -> None:
    Assignment.objects.update(**change)

    assert verification.verify().faults == [f"assignment {submitted.code}: {fault}"]


def test_after_a_withdrawal_the_history_still_holds(submitted: Assignment) -> None:
    withdrawal.withdraw(submitted.rater, at=factories.NOON)

    found = verification.verify()

    assert found.faults == []
    assert (found.n_events, found.n_erased) == (8, 8)


def test_a_response_deleted_with_its_history_breaks_the_seal(submitted: Assignment) -> None:
    triggers.drop()
    gone = Response.objects.get(revision=2)
    gone.events.all().delete()
    gone.delete()

    assert verification.verify().faults == [f"assignment {submitted.code}: the receipt is not that of its answers"]


def test_a_row_that_cannot_be_read_is_a_fault_and_the_rest_is_still_read(submitted: Assignment) -> None:
    factories.answer(factories.assignment(submitted.study))
    triggers.drop()
    words = "no document"
    ResponseEvent.objects.filter(revision=2).update(words=words, commitment=hashing.sha256(words))

    found = verification.verify()

    assert found.faults == [f"assignment {submitted.code}: its history cannot be read (JSONDecodeError)"]
    assert found.n_assignments == 2


def test_every_flipped_byte_is_found() -> None:
    triggers.drop()

    found = flips.run(60)

    assert (found["flips"], found["found"]) == (60, 60), found["missed"]


def test_without_checking_no_flipped_byte_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    triggers.drop()
    monkeypatch.setattr(history, "faults", lambda *args, **options: [])
    monkeypatch.setattr(verification, "receipt_faults", lambda assignment: iter(()))
    monkeypatch.setattr(verification, "spelling_faults", lambda rows, times=(): iter(()))

    # Those that cannot be read at all are still stumbled upon.
    assert flips.run(60)["found"] < 15
