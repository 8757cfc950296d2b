"""What a writer withdraws is in no call of a judge any more."""

import pytest
from django.utils import timezone

from annotation.design import launches
from annotation.participation import withdrawal
from annotation.responses import derivation, submission
from judges import catalogue, runs
from judges.models import Call, Run
from studies.models import Step, Story
from tests.annotation import clozes
from tests.annotation.participation.test_withdrawal import n_with
from tests.factories import NOON
from tests.studies.cloze.documents import FILLS

pytestmark = pytest.mark.django_db


def test_calls_forget_the_text_of_whoever_withdrew_and_pending_ones_end() -> None:
    source = clozes.study()
    writer = clozes.assignment(source)
    clozes.fill(writer, {number: f"canary {said}" for number, said in FILLS.items()})
    submission.submit(writer, at=NOON)
    judged = derivation.derive(source, "judged", derivation.derivable_fills(source))
    judged.versions.get().steps.update(position=2)
    Step.objects.create(version=judged.versions.get(), position=1, key="consent", kind="consent", text="May we?")
    launches.launch(judged, by="tests", at=timezone.now())
    run = runs.start(judged, catalogue.make_stub_judge(), by="tests")
    assert "canary" in str(Call.objects.filter(run=run).values_list("request", flat=True)[0]), "there is text to forget"

    withdrawal.withdraw(writer.rater, at=NOON)

    assert n_with("canary") == 0
    assert set(Call.objects.values_list("state", flat=True)) == {Call.State.BLOCKED}
    assert Story.objects.get(study=judged).is_withheld
    assert runs.drain(run).state == Run.State.FINISHED
