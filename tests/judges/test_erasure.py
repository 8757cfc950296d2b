"""What a writer withdraws is in no call of a judge any more."""

import pytest
from django.utils import timezone

from annotation.design import launches
from annotation.participation import withdrawal
from annotation.responses import derivation, submission
from judges import calls, catalogue, erasure, runs
from judges.models import Attempt, Call, Parse, Run, Text
from studies.models import Step, Story
from tests import factories, triggers
from tests.annotation import clozes
from tests.annotation.participation.test_withdrawal import n_with
from tests.factories import NOON
from tests.studies.cloze.documents import FILLS

pytestmark = pytest.mark.django_db


def test_calls_forget_the_text_of_whoever_withdrew_and_pending_ones_end() -> None:
    source = clozes.study()
    writer = clozes.assignment(source)
    clozes.fill(writer, {number: f"goldfinch {said}" for number, said in FILLS.items()})
    submission.submit(writer, at=NOON)
    judged = derivation.derive(source, "judged", derivation.derivable_fills(source))
    judged.versions.get().steps.update(position=2)
    Step.objects.create(version=judged.versions.get(), position=1, key="consent", kind="consent", text="May we?")
    launches.launch(judged, by="tests", at=timezone.now())
    run = runs.start(judged, catalogue.make_stub_judge(), by="tests")
    answered = run.calls.first()
    assert answered is not None
    assert "goldfinch" in str(calls.render(answered.request)), "there is text to forget"
    attempt = Attempt.objects.create(
        call=answered, number=1, sent_at=NOON, outcome=Attempt.Outcome.FAILED, body="Of the goldfinch, half"
    )
    Parse.objects.create(
        attempt=attempt, version="1", state="unreadable", values={"a": "goldfinch"}, reason="goldfinch", at=NOON
    )
    assert n_with("goldfinch") > 3

    withdrawal.withdraw(writer.rater, at=NOON)

    assert n_with("goldfinch") == 0
    assert set(Call.objects.values_list("state", flat=True)) == {Call.State.BLOCKED}
    assert Story.objects.get(study=judged).is_withheld
    assert runs.drain(run).state == Run.State.FINISHED


def test_calls_about_a_group_forget_the_text_of_each_of_its_stories() -> None:
    study = factories.study()
    with triggers.lifted():
        Story.objects.filter(study=study, code="p1s2").update(text="Here is the goldfinch.")
    run = runs.start(study, catalogue.make_stub_judge(), by="tests")
    story = study.stories.get(code="p1s2")
    about_group = run.calls.get(story=None)
    assert "goldfinch" in str(calls.render(about_group.request)), "there is text to forget"

    erasure.empty_calls([story.pk])

    about_group.refresh_from_db()
    assert (about_group.request, about_group.state) == ({}, Call.State.BLOCKED)
    assert not Text.objects.filter(content__contains="goldfinch").exists()
    other = run.calls.filter(story__code="p1s1").first()
    assert other is not None
    assert other.state == Call.State.PLANNED
    assert "The p1s1 began." in str(calls.render(other.request))
