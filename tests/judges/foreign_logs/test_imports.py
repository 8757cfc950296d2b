"""Replies of a log come in as those of a run that has ended: read by Quire's parser, counted as its own."""

from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.models import Assignment, Rater, Response
from annotation.responses import verification
from judges import planning, runs
from judges.foreign_logs import ForeignLog, LogSample, read_log
from judges.foreign_logs.imports import import_log
from judges.foreign_logs.matches import LogChoices, match
from judges.laboratory import watches
from judges.laboratory.views.prompt_choices import ChoiceForm
from judges.models import Attempt, Call, Judge, Parse, Reading, Run
from judges.settlement import erasure, rereads
from reports.methods.paragraph import describe_judges
from studies.incoming_tables.errors import ImportRefused
from studies.models import Item, Story, Study
from studies.protocol import NotPlannable
from tests import factories
from tests.judges.foreign_logs.samples import (
    MODEL,
    YES,
    ask,
    inspect_log,
    inspect_sample,
    promptfoo_log,
    promptfoo_result,
)

pytestmark = pytest.mark.django_db
NO = '{"answer": "no"}'
CHOICES = LogChoices(model=MODEL, judge="gpt-9")


def stories(study: Study) -> list[Story]:
    return list(study.stories.order_by("code"))


def items() -> list[Item]:
    return list(Item.objects.filter(type="binary").order_by("position"))[:2]


def log_of(*samples: dict[str, Any]) -> ForeignLog:
    return read_log("log.json", inspect_log(samples))


def whole_log(study: Study, reply: str = YES, **more: Any) -> ForeignLog:
    """A reply to each item about each story, named by nothing but the words that were asked."""
    return log_of(
        *(
            inspect_sample(f"s{n}-{item.key}", ask(story.text, item.question), reply, **more)
            for n, story in enumerate(stories(study))
            for item in items()
        )
    )


def bring(study: Study, log: ForeignLog, choices: LogChoices = CHOICES, *, sha256: str = "f" * 64) -> Run:
    return import_log(study, log, choices, sha256=sha256, by="tests", at=timezone.now())


def test_replies_are_matched_by_the_words_that_were_asked_and_answer_as_a_runs_do(study: Study) -> None:
    run = bring(study, whole_log(study))

    assert (run.state, run.n_planned, runs.count_calls(run)) == (Run.State.FINISHED, 8, {"ok": 8})
    answers = Response.objects.filter(assignment__rater__code="gpt-9")
    assert {(r.value, r.rationale) for r in answers} == {("yes", "It is so, since it ends well.")}
    assert {(r.story.code, r.item.key) for r in answers if r.story} == {
        (story.code, item.key) for story in stories(study) for item in items()
    }
    rater = Rater.objects.get(code="gpt-9")
    assert (rater.kind, rater.is_simulated) == (Rater.Kind.MODEL, False)
    assert set(Assignment.objects.filter(rater=rater).values_list("status", flat=True)) == {"submitted"}
    assert verification.verify(study).faults == []


def test_attempts_keep_the_reply_its_tokens_and_who_answered_and_say_that_nothing_was_sent(study: Study) -> None:
    run = bring(study, whole_log(study))

    attempt = Attempt.objects.filter(call__run=run).first()
    assert attempt
    assert (attempt.outcome, attempt.status, attempt.cost) == (Attempt.Outcome.ANSWERED, None, None)
    assert (attempt.n_tokens_in, attempt.n_tokens_out, attempt.model) == (430, 30, "gpt-9-2026-01-01")
    assert Parse.objects.filter(attempt__call__run=run, state="ok").count() == 8
    assert (run.frozen["log"]["format"], run.frozen["log"]["sha256"]) == ("inspect", "f" * 64)
    judge = run.judge
    assert (judge.is_from_log, judge.model, judge.leaves_temperature) == (True, MODEL, False)


def test_an_unreadable_reply_ends_its_call_and_is_never_asked_again(study: Study) -> None:
    run = bring(study, whole_log(study, "There is much to be said for it."))

    assert (run.state, runs.count_calls(run)) == (Run.State.FINISHED, {"unreadable": 8})
    assert not runs.retries.find_retryable(run).exists()
    with pytest.raises(planning.CannotRun, match="no calls to send again"):
        runs.retry(run)


def test_the_judge_of_a_log_cannot_be_asked(study: Study) -> None:
    judge = bring(study, whole_log(study)).judge

    with pytest.raises(planning.CannotRun, match="came in with a log of another tool"):
        runs.start(study, Judge.objects.get(pk=judge.pk), by="tests")


def test_replies_are_read_again_by_a_later_parser_without_a_call(study: Study) -> None:
    run = bring(study, whole_log(study))
    Attempt.objects.filter(call__run=run).update(
        body=Attempt.objects.filter(call__run=run)[0].body.replace("yes", "no")
    )

    reread = rereads.read_again(run, at=timezone.now())

    assert (reread.n_read, reread.n_changed) == (8, 8)
    assert set(Response.objects.filter(assignment__rater__code="gpt-9").values_list("value", flat=True)) == {"no"}


def test_more_replies_take_no_more_queries(study: Study) -> None:
    samples = whole_log(study).samples
    bring(study, whole_log(study))  # which makes what logs share
    counts = []
    for n in (4, 8):  # of all stories, of one item or both
        log = ForeignLog("log", "inspect", samples[::2] if n == 4 else samples)
        with CaptureQueriesContext(connection) as queries:
            bring(study, log, LogChoices(model=MODEL, judge=f"judge-{n}"), sha256=str(n) * 64)
        counts.append(len(queries))

    assert counts == [58, 58]


def test_epochs_are_repeats(study: Study) -> None:
    story, item = stories(study)[0], items()[0]
    asked = ask(story.text, item.question)
    log = log_of(inspect_sample("a", asked), inspect_sample("a", asked, NO, epoch=2))

    run = bring(study, log)

    assert run.n_repeats == 2
    values = Response.objects.filter(assignment__rater__code="gpt-9").values_list(
        "assignment__reading__repeat", "value"
    )
    assert sorted(values) == [(1, "yes"), (2, "no")]
    assert Reading.objects.filter(run=run).count() == 2


@pytest.mark.parametrize(
    ("sample", "choices"),
    [
        ({"metadata": {"story": "p1s1", "item": "ITEM"}}, {}),
        ({"id": "p1s1/ITEM"}, {}),
        ({"id": "p1s1:ITEM", "epoch": 2}, {}),
        ({"metadata": {"text": "p1s1", "what": "ITEM"}}, {"story_key": "text", "item_key": "what"}),
    ],
)
def test_a_story_and_an_item_are_named_by_keys_or_by_the_samples_name(
    study: Study, sample: dict[str, Any], choices: dict[str, str]
) -> None:
    key = items()[0].key
    named = inspect_sample("x", "Which?") | sample
    named["id"] = str(named["id"]).replace("ITEM", key)
    named["metadata"] = {name: value.replace("ITEM", key) for name, value in named["metadata"].items()}

    matches = match(study, log_of(named), LogChoices(model=MODEL, judge="j", **choices))

    ((reply),) = matches.replies
    assert (reply.story.code, [item.key for item in reply.items]) == ("p1s1", [key])


def test_a_story_is_found_by_a_stretch_however_its_lines_were_broken(study: Study) -> None:
    story, item = stories(study)[2], items()[1]
    words = " ".join(story.text.split())
    asked = ask(words[10:-10].replace(" ", "\n"), item.question)

    (reply,) = match(study, log_of(inspect_sample("x", asked)), CHOICES).replies

    assert (reply.story.code, reply.items) == (story.code, (item,))


def test_several_items_at_once_are_read_by_their_keys(study: Study) -> None:
    one, two = items()
    asked = ask(stories(study)[0].text, f"{one.question}\n{two.question}")
    reply = f'{{"{one.key}": {{"answer": "yes"}}, "{two.key}": {{"answer": "no"}}}}'

    run = bring(study, log_of(inspect_sample("x", asked, reply)))

    assert runs.count_calls(run) == {"ok": 1}
    values = Response.objects.filter(assignment__rater__code="gpt-9").values_list("item__key", "value")
    assert dict(values) == {one.key: "yes", two.key: "no"}


def test_what_fits_nothing_is_listed_with_a_way_out_and_left_out_only_if_that_was_said(study: Study) -> None:
    one, two = stories(study)[:2]
    question = items()[0].question
    log = log_of(
        inspect_sample("good", ask(one.text, question)),
        inspect_sample("unknown", ask("Some other story.", question)),
        inspect_sample("both", ask(one.text + two.text, question)),
        inspect_sample("nothing", ask(one.text, "Well?")),
        inspect_sample("failed", ask(one.text, question), error={"message": "Timed out"}),
    )

    sentences = [problem.sentence for problem in match(study, log, CHOICES).problems]
    assert "no story of the study stands in what was asked" in sentences[0]
    assert "the words of 2 stories" in sentences[1]
    assert "choose what names the item" in sentences[2]
    assert "Timed out" in sentences[3]
    with pytest.raises(ImportRefused, match="Reply 2, story"):
        bring(study, log)
    assert not Run.objects.exists()

    run = bring(study, log, LogChoices(model=MODEL, judge="gpt-9", may_be_left_out=True))
    assert (run.n_planned, run.frozen["log"]["n_left_out"]) == (1, 4)


@pytest.mark.parametrize(
    ("judge", "sentence"),
    [("A b", "name of the judge"), ("gpt-9", "has answers in this study already"), ("taken", "is another judge")],
)
def test_a_name_that_is_wrong_or_taken_is_refused(study: Study, judge: str, sentence: str) -> None:
    bring(study, whole_log(study))
    factories_judge = Judge.objects.get(slug="gpt-9")
    Judge.objects.create(slug="taken", endpoint=factories_judge.endpoint, model="other", prompt=factories_judge.prompt)

    with pytest.raises(ImportRefused, match=sentence):
        bring(study, whole_log(study), LogChoices(model=MODEL, judge=judge), sha256="e" * 64)
    assert Run.objects.count() == 1


def test_a_models_replies_come_in_once_from_a_file_under_whatever_name(study: Study) -> None:
    bring(study, whole_log(study))

    with pytest.raises(ImportRefused, match="are in already, as those of gpt-9"):
        bring(study, whole_log(study), LogChoices(model=MODEL, judge="again"))
    assert bring(study, whole_log(study), LogChoices(model=MODEL, judge="again"), sha256="e" * 64).n_planned == 8


@pytest.mark.parametrize("text", ["Read this story.", "Well?"])
def test_nothing_comes_in_about_a_story_that_is_withheld(study: Study, text: str) -> None:
    Story.objects.filter(study=study, code="p1s1").update(text="", is_withheld=True)
    log = log_of(inspect_sample("x", ask(text, items()[0].question), metadata={"story": "p1s1"}))

    (problem,) = match(study, log, CHOICES).problems

    assert "p1s1 is withheld" in problem.sentence


@pytest.mark.parametrize("metadata", [{"story": "p1s1"}, {}])
def test_words_of_a_second_story_which_could_not_be_erased_with_it_are_refused(
    study: Study, metadata: dict[str, str]
) -> None:
    one, two = stories(study)[:2]
    example = two.text if metadata else two.text[3:-3]
    asked = ask(f"For example: {example}\n\n{one.text}", items()[0].question)

    (problem,) = match(study, log_of(inspect_sample("x", asked, metadata=metadata)), CHOICES).problems

    assert f"words of other stories ({two.code})" in problem.sentence


def test_a_reply_that_ended_with_an_error_is_none(study: Study) -> None:
    asked = ask(stories(study)[0].text, items()[0].question)
    response = {"output": YES, "finishReason": "error"}
    log = read_log("out.json", promptfoo_log([promptfoo_result(asked, response=response)]))

    (problem,) = match(study, log, CHOICES).problems

    assert "the log holds no reply" in problem.sentence


def test_the_methods_say_of_its_judge_where_its_replies_came_from(study: Study) -> None:
    bring(study, whole_log(study))

    (first, *_others) = describe_judges(study)

    assert first == "gpt-9 is the model gpt-9; its replies came in from a file of another tool."


def test_its_judge_is_not_offered_where_it_would_be_asked(study: Study) -> None:
    judge = bring(study, whole_log(study)).judge

    assert judge not in watches.find_candidates(study)
    assert judge not in ChoiceForm(None, study=study).fields["judge"].queryset  # type: ignore[attr-defined]


def test_a_cost_that_the_log_names_is_kept(study: Study) -> None:
    story, item = stories(study)[0], items()[0]
    sample = LogSample("x", MODEL, (("user", ask(story.text, item.question)),), YES, cost="0.0021")

    run = bring(study, ForeignLog("log", "promptfoo", (sample,)))

    assert [a.cost for a in Attempt.objects.filter(call__run=run)] == [Decimal("0.0021")]


def test_nothing_comes_in_before_a_protocol_is_frozen() -> None:
    study = factories.study(comparative=False, state=Study.State.DRAFT)

    with pytest.raises(NotPlannable):
        bring(study, log_of(inspect_sample("x", "A?")))


def test_a_story_that_is_erased_takes_what_was_asked_and_replied_along(study: Study) -> None:
    run = bring(study, whole_log(study))
    story = stories(study)[0]

    erasure.empty_calls([story.pk])

    calls = Call.objects.filter(run=run, story=story)
    assert calls.count() == 2
    assert {call.request_sha256 for call in calls} == {""}
    assert not Attempt.objects.filter(call__in=calls).exclude(body="").exists()
    assert not any(story.text in text for text in erasure.Text.objects.values_list("content", flat=True))
