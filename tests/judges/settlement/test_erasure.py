"""What a writer withdraws is in no call of a judge any more."""

import pytest
from django.apps import apps
from django.utils import timezone

from annotation.design import launches
from annotation.participation import withdrawal
from annotation.responses import derivation, submission
from judges import catalogue, runs, settlement
from judges.models import Attempt, Call, Endpoint, Judge, Parse, Run, Text
from judges.planning import Scope
from judges.providers import Completion
from judges.requests import texts
from judges.settlement import Ended, attempts, erasure
from studies.models import Step, Story
from tests import factories, triggers
from tests.annotation import clozes
from tests.annotation.participation.test_withdrawal import n_with
from tests.factories import NOON
from tests.judges import standin as told
from tests.judges.conftest import judge_at, sendable, started
from tests.judges.standin import StandIn
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
    assert "goldfinch" in str(texts.render(answered.request)), "there is text to forget"
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
    assert "goldfinch" in str(texts.render(about_group.request)), "there is text to forget"

    erasure.empty_calls([story.pk])

    about_group.refresh_from_db()
    assert (about_group.request, about_group.state, about_group.reason) == ({}, Call.State.BLOCKED, erasure.REASON)
    assert not Text.objects.filter(content__contains="goldfinch").exists()
    other = run.calls.filter(story__code="p1s1").first()
    assert other is not None
    assert other.state == Call.State.PLANNED
    assert "The p1s1 began." in str(texts.render(other.request))


def words_kept(word: str) -> list[str]:
    """The columns of judges' tables in which the word stands."""
    return sorted(
        f"{model.__name__}.{field.name}"
        for model in apps.get_app_config("judges").get_models()
        for field in model._meta.concrete_fields
        if any(word in str(value) for value in model.objects.values_list(field.name, flat=True))
    )


def test_after_erasure_no_column_of_judges_holds_the_words(standin: StandIn) -> None:
    study = factories.study(comparative=False)
    with triggers.lifted():
        Story.objects.filter(study=study, code="p1s2").update(text="Here is the goldfinch.")
    story = study.stories.get(code="p1s2")
    standin.reply = lambda hit: told.says('The goldfinch ends well.\n{"answer": "yes"}')
    judge = judge_at(standin)
    first = runs.drain(started(study, judge))
    names = ("endpoint", "model", "prompt", "parameters")
    twin = Judge.objects.create(slug="twin", **{name: getattr(judge, name) for name in names})
    second = runs.drain(started(study, twin))
    assert Attempt.objects.filter(call__run=second, outcome="reused", body__contains="goldfinch").exists()
    quoting = first.calls.filter(story=story).first()
    assert quoting is not None
    sentence = "HTTP 400: I will not read “Here is the goldfinch.”"
    Attempt.objects.create(call=quoting, number=9, sent_at=NOON, outcome="failed", reason=sentence, body=sentence)
    Call.objects.filter(pk=quoting.pk).update(reason=sentence)
    Run.objects.filter(pk=first.pk).update(
        note_sentence="The last because: %(reason)s", note_values={"n": 3, "reason": sentence}
    )
    values = {"kind": "bad_request", "reason": sentence}
    Endpoint.objects.update(needs_attention=sentence, attention_values=values, resting_reason=sentence)
    others = Attempt.objects.exclude(call__story=story)
    others.update(body="")
    Parse.objects.filter(attempt__in=others).update(values={"a": 1})
    assert set(words_kept("goldfinch")) == {
        *("Attempt.body", "Attempt.reason", "Call.reason", "Endpoint.needs_attention", "Endpoint.resting_reason"),
        *("Endpoint.attention_values", "Run.note_values", "Text.content"),
    }

    erasure.empty_calls([story.pk])

    assert words_kept("goldfinch") == []
    assert Run.objects.get(pk=first.pk).note == f"The last because: {erasure.REASON}"


def test_a_reply_that_comes_after_its_text_was_erased_is_not_kept(standin: StandIn) -> None:
    study = factories.study(comparative=False)
    run = started(study, judge_at(standin))
    story = study.stories.get(code="p1s2")
    call = run.calls.filter(story=story).select_related("assignment__seat", "step", "item").first()
    assert call is not None
    (attempt,) = attempts.begin([call], worker="w", probes=(), worst={}, at=NOON)
    erasure.empty_calls([story.pk])

    settlement.settle([Ended(attempt, Completion("Yes, the goldfinch.", "stop", "The goldfinch."), NOON)])

    attempt.refresh_from_db()
    assert (attempt.outcome, attempt.body) == (Attempt.Outcome.LATE, "")
    assert words_kept("goldfinch") == []


def test_what_a_probe_showed_and_found_is_erased_with_its_story(standin: StandIn) -> None:
    study = factories.study(comparative=False)
    with triggers.lifted():
        Story.objects.filter(study=study, code="p1s2").update(text="Here is the canary. " * 40)
    story = study.stories.get(code="p1s2")
    standin.reply = lambda hit: told.says('{"title": "The canary", "author": "", "continuation": "The canary sang."}')
    judge = judge_at(standin)
    runs.drain(runs.start(sendable(study), judge, by="tests", scope=Scope(probes=True, selection=("p1s2",))))
    assert words_kept("the canary. ") == ["Text.content"]
    assert "Attempt.body" in words_kept("canary sang")

    erasure.empty_calls([story.pk])

    assert words_kept("canary sang") == []
    assert words_kept("the canary. ") == []
