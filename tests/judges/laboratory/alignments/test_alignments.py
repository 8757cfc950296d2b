"""A judge's prompt is changed by what experts said of one part, and judged on the other part alone."""

import re
from decimal import Decimal
from typing import Any

import pytest
from django.utils import timezone

from annotation.models import Response
from annotation.participation import withdrawal
from judges import catalogue, runs
from judges.laboratory import alignments, splits
from judges.laboratory.alignments import AlignmentOrder, PromptWording, UndecidableProposal, plans
from judges.models import Draft, Endpoint, Judge, Prompt, PromptProposal, Run, Text
from judges.planning import CannotRun, Scope
from judges.prompts import InvalidPrompt
from judges.requests import aligned_prompts, texts
from judges.runs import planning_jobs
from reports.dataset import Dataset
from reports.figures.judges.alignment import AlignmentGains
from studies.models import Provenance, Story, Study
from tests import factories
from tests.judges.conftest import judge_at
from tests.judges.laboratory.alignments.studies import LESSON, REASON, Learner, aligned, answered_study
from tests.judges.planning.test_budget import price
from tests.judges.standin import StandIn
from tests.judges.standin.replies import NO, YES, says
from tests.replay import replayed

pytestmark = pytest.mark.django_db


@pytest.fixture
@replayed
def study() -> Study:
    return answered_study()


@pytest.fixture
def judge(standin: StandIn, study: Study) -> Judge:
    """A judge that says Yes to everything, and has read the whole study."""
    judge = judge_at(standin)
    standin.reply = Learner(judge)
    runs.drain(runs.start(study, judge, by="tests"))
    return judge


def only_proposal(study: Study, judge: Judge) -> PromptProposal:
    return aligned(study, judge).proposals.select_related("draft", "alignment").get()


def request_of(proposal: PromptProposal) -> str:
    (call,) = proposal.draft.calls.all()
    return str(texts.render(call.request)["messages"][1]["content"])


def codes_of(study: Study, groups: list[str]) -> set[str]:
    return set(study.stories.filter(groups__code__in=groups).values_list("code", flat=True))


def accepted(proposal: PromptProposal) -> Judge:
    wording = alignments.load_wording(proposal)
    assert wording is not None
    return alignments.accept(proposal, wording, by="bea", at=timezone.now())


def test_the_model_is_told_disagreements_of_the_first_part_alone(study: Study, judge: Judge) -> None:
    alignment = aligned(study, judge)

    sent = request_of(alignment.proposals.get())
    first, held_out = codes_of(study, alignment.first_part), codes_of(study, alignment.held_out)
    assert (len(alignment.first_part), len(alignment.held_out)) == (5, 5)
    assert all(f"{code} began" in sent for code in first if code.endswith("s1")), "there is something to tell"
    assert not any(f"{code} began" in sent for code in held_out)
    assert not any(f"{code} began" in sent for code in first if code.endswith("s2")), "on these they agree"
    assert "of 10 stories the model says Yes to 10, most experts to 5." in sent
    assert judge.required_prompt.template.strip() in sent
    assert "expert-" not in sent
    assert REASON not in sent, "the endpoint is outside, and nobody has vouched for it"
    vouched = alignments.plan(study, AlignmentOrder(judge, judge, sends_reasons=True))
    assert vouched.first_messages[1][1].count(f"An expert’s reason for No: {REASON}") == 20


def test_a_planted_alignment_goes_through_from_proposal_to_held_out_answers(study: Study, judge: Judge) -> None:
    proposal = only_proposal(study, judge)
    alignment = proposal.alignment

    version = accepted(proposal)
    (run,) = alignments.start(alignment, by="bea")
    runs.drain(run)

    proposal.refresh_from_db()
    prompt = version.required_prompt
    assert (prompt.name, prompt.version, prompt.source) == (judge.required_prompt.name, "1-aligned", "own")
    assert LESSON in prompt.template
    assert (proposal.state, proposal.decided_by, proposal.is_edited) == ("accepted", "bea", False)
    answers = Response.objects.filter(assignment__rater__code=version.slug, outcome="answered")
    assert set(answers.values_list("story__code", flat=True)) == codes_of(study, alignment.held_out)
    assert all(row.value == ("no" if row.story.code.endswith("s1") else "yes") for row in answers if row.story)
    assert alignment.base_run is None, "the judge had answered all of it"


def test_the_gain_of_a_planted_alignment_comes_out_in_the_report(standin: StandIn, study: Study, judge: Judge) -> None:
    learner = Learner(judge)
    standin.reply = learner
    proposal = only_proposal(study, judge)
    version = accepted(proposal)
    learner.slips = next(c for c in sorted(codes_of(study, proposal.alignment.held_out)) if c.endswith("s1"))

    (run,) = alignments.start(proposal.alignment, by="bea")
    runs.drain(run)
    (row,) = AlignmentGains().compute(Dataset.of(study)).rows

    # Yes to everything is right on half; the lesson mends it in four of five groups, t interval with four degrees.
    assert (row.judge, row.base, row.n_stories, row.n) == (version.slug, "model-1", 10, 20)
    assert (row.base_percent, row.percent, row.value) == (50, 90, pytest.approx(40))
    assert row.interval.low == pytest.approx(40 - 2.776445 * 10, abs=1e-3)
    assert row.is_clear


def test_no_run_asks_an_aligned_judge_about_the_first_part(study: Study, judge: Judge) -> None:
    proposal = only_proposal(study, judge)
    version, first = accepted(proposal), codes_of(study, proposal.alignment.first_part)
    other = factories.study("pears", n_groups=10, n_stories=2, comparative=False)

    with pytest.raises(CannotRun, match="made from experts’ answers about these stories"):
        runs.plan(study, version, by="tests", scope=Scope(selection=tuple(first)))
    run = runs.start(study, version, by="tests")

    assert first == set(run.frozen["aligned_on"])
    assert set(run.calls.values_list("story__code", flat=True)) == codes_of(study, proposal.alignment.held_out)
    assert aligned_prompts.find_first_part(other, version.required_prompt) == first, "in another study by their texts"
    with pytest.raises(CannotRun, match="was aligned before"):
        alignments.plan(study, AlignmentOrder(version, version))


def test_a_present_prompt_that_has_not_read_the_held_out_part_reads_it_too(standin: StandIn, study: Study) -> None:
    judge = judge_at(standin)
    standin.reply = Learner(judge)
    split = splits.split_groups(study, share=0.5, seed=0)
    runs.drain(runs.start(study, judge, by="tests", scope=Scope(selection=splits.find_codes(study, split.first))))
    proposal = only_proposal(study, judge)
    accepted(proposal)

    estimate = alignments.preview(proposal.alignment)
    started = alignments.start(proposal.alignment, by="bea")

    assert estimate.n_calls == 40
    assert [run.n_planned for run in started] == [20, 20]
    assert {run.judge.slug for run in started} == {"model-1", "model-1-aligned"}


def test_a_reply_without_a_template_is_kept_and_can_only_be_refused(
    standin: StandIn, study: Study, judge: Judge
) -> None:
    standin.reply = lambda hit: says("I would make it stricter.")

    proposal = only_proposal(study, judge)

    assert proposal.draft.state == Draft.State.GIVEN_UP
    assert proposal.draft.note == "the reply holds no JSON object with a template of its own"
    (call,) = proposal.draft.calls.all()
    assert "stricter" in call.attempts.get().body
    with pytest.raises(UndecidableProposal, match="cannot be read"):
        alignments.accept(proposal, PromptWording("", "{{ stories }} {{ question }}"), by="bea", at=timezone.now())
    alignments.refuse(proposal, by="bea", at=timezone.now())
    assert Prompt.objects.filter(version__contains="aligned").count() == 0


def test_a_proposal_that_loses_a_place_changes_nothing(standin: StandIn, study: Study, judge: Judge) -> None:
    learner = Learner(judge)
    learner.template = learner.template.replace("{{ words }}", "")
    standin.reply = learner
    proposal = only_proposal(study, judge)

    with pytest.raises(UndecidableProposal, match=re.escape("the place {{ words }} is missing")):
        accepted(proposal)

    proposal.refresh_from_db()
    assert (proposal.state, proposal.prompt, proposal.judge) == ("open", None, None)
    assert Judge.objects.filter(slug__contains="aligned").count() == 0


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ("{{ stories }}", "", "the place {{ stories }} is missing"),
        ('{"answer": …}', "yes or no", 'the form of the reply, {"answer": …}, is missing'),
        ("{{ question }}", "{{ question }} {{ question }}", "needs {{ question }} exactly once"),
        ("{{ question }}", "{{ question", "the template cannot be filled"),
        ("Question:", "Question: {{ own_question }}", "other places"),
        ("Question:", "Question: {{ secret }}", "cannot be filled"),
        ("Question:", " Question:", "the same as before"),
        ("Question:", "word " * 20_000, "longer than"),
        ("Question:", "As in: He went to the well and saw that it was dry again, alas. Question:", "quotes the story"),
    ],
)
def test_a_wording_that_loses_something_is_not_taken(before: str, after: str, reason: str) -> None:
    base = next(prompt for prompt in catalogue.load_prompts() if prompt.name == "ttcw-reasoning-first")
    story = Story(code="p1s1", text="Once he went to the well, and saw that it was dry again, alas! So he left.")

    with pytest.raises(InvalidPrompt, match=re.escape(reason)):
        alignments.check(base, PromptWording(base.system, base.template.replace(before, after, 1)), stories=[story])


def test_what_was_edited_is_what_is_asked(study: Study, judge: Judge) -> None:
    proposal = only_proposal(study, judge)
    wording = alignments.load_wording(proposal)
    assert wording is not None
    edited = PromptWording(wording.system, wording.template.replace(LESSON, "Endings\r\nmatter."))

    version = alignments.accept(proposal, edited, by="bea", at=timezone.now())

    proposal.refresh_from_db()
    assert "Endings\nmatter." in version.required_prompt.template
    assert proposal.is_edited
    with pytest.raises(UndecidableProposal, match="decided already"):
        alignments.refuse(proposal, by="bea", at=timezone.now())


def test_versions_of_one_prompt_have_names_of_their_own(study: Study, judge: Judge) -> None:
    alignment = aligned(study, judge, n_proposals=2)
    asked = [tuple(proposal.calls) for proposal in alignment.proposals.all()]
    again = alignments.plan(study, AlignmentOrder(judge, judge, n_proposals=2))

    names = set()
    for proposal in alignment.proposals.select_related("draft"):
        with pytest.raises(CannotRun, match="Accept or refuse every proposal of this judge first"):
            alignments.start(alignment, by="bea")
        names.add(accepted(proposal).slug)

    assert names == {"model-1-aligned", "model-1-aligned-2"}
    assert len(set(asked)) == 2, "each is asked for with other disagreements"
    assert [tuple(case.call for case in cases) for cases in again.drawn] == asked, "the same for the same seed"


def test_what_cannot_be_asked_is_refused_with_the_way_out(study: Study, judge: Judge) -> None:
    reasons: list[tuple[dict[str, Any], str]] = [
        ({"share": 0.2}, "Each part needs at least 5 groups"),
        ({"n_proposals": 6}, "Ask for 1 to 5 proposals, not 6."),
        ({"template": "{{ disagreements"}, "cannot be filled"),
        ({"template": "{{ premise }}"}, "needs {{ disagreements }} exactly once"),
    ]
    for order, reason in reasons:
        with pytest.raises(CannotRun, match=re.escape(reason)):
            alignments.plan(study, AlignmentOrder(judge, judge, **order))

    assert not Run.objects.filter(judge__is_trial=True).exists()


def test_a_judge_that_has_read_nothing_is_told_to_read_first(standin: StandIn, study: Study) -> None:
    judge = judge_at(standin)

    with pytest.raises(CannotRun, match="have answered no common question"):
        alignments.plan(study, AlignmentOrder(judge, judge))


def test_a_judge_that_agrees_has_nothing_to_learn(standin: StandIn, study: Study) -> None:
    judge = judge_at(standin)
    standin.reply = lambda hit: NO if "s1 began" in hit.body["messages"][-1]["content"] else YES
    runs.drain(runs.start(study, judge, by="tests"))

    with pytest.raises(CannotRun, match="nothing to learn from"):
        alignments.plan(study, AlignmentOrder(judge, judge))


def test_stories_that_may_not_be_sent_are_not_shown(study: Study, judge: Judge) -> None:
    first = splits.split_groups(study, share=0.5, seed=0).first
    kept = next(code for code in sorted(codes_of(study, list(first))) if code.endswith("s1"))
    Provenance.objects.filter(story__code=kept).update(may_send_out=False)

    sent = request_of(only_proposal(study, judge))

    assert "s1 began" in sent
    assert f"{kept} began" not in sent


def test_words_that_were_edited_are_a_version_of_their_own(study: Study, judge: Judge) -> None:
    template = alignments.load_proposal_prompt().template + "\nBe brief."

    for _time in range(2):
        alignment = aligned(study, judge, template=template)

    assert "Be brief." in request_of(alignment.proposals.get())
    assert str(alignment.run.judge.prompt) == "alignment-proposal 1-edited"
    assert Prompt.objects.filter(name="alignment-proposal").count() == 2


def test_a_withdrawal_empties_what_was_shown_of_the_expert_and_what_came_back(study: Study, judge: Judge) -> None:
    proposal = aligned(study, judge, sends_reasons=True).proposals.select_related("draft").get()
    expert = Response.objects.get(pk=proposal.responses[0]).assignment.rater
    assert REASON in request_of(proposal), "there is text to forget"

    withdrawal.withdraw(expert, at=timezone.now())

    (call,) = proposal.draft.calls.all()
    assert (call.request, set(call.attempts.values_list("body", flat=True))) == ({}, {""})
    assert not Text.objects.filter(content__contains=REASON).exists()
    assert alignments.load_wording(proposal) is None
    with pytest.raises(UndecidableProposal, match="cannot be read"):
        alignments.accept(proposal, PromptWording("", "{{ stories }} {{ question }}"), by="bea", at=timezone.now())


def test_erasing_a_story_empties_what_was_shown_of_it(study: Study, judge: Judge) -> None:
    proposal = aligned(study, judge, sends_reasons=True).proposals.select_related("draft").get()
    shown = alignments.find_shown(proposal)[0]
    assert f"{shown.code} began" in request_of(proposal), "there is text to forget"
    assert Text.objects.filter(content__contains=REASON).count() == 10, "there are reasons beside other stories, too"
    # The writer took part in another study, from which the story was taken.
    writer = factories.rater(factories.study("pears"), "writer")

    withdrawal.forget_texts([shown.pk], writer=writer)

    (call,) = proposal.draft.calls.all()
    assert call.request == {}
    assert set(proposal.draft.texts.values_list("text", flat=True)) == {""}
    assert not Text.objects.filter(content__contains=REASON).exists(), "they could not be found any more later on"


def test_a_prompt_that_quotes_an_expert_is_not_accepted(standin: StandIn, study: Study, judge: Judge) -> None:
    words = "it breaks off where I had just begun to hope that somebody would come home"
    proposal = only_proposal(study, judge)
    Response.objects.filter(pk=proposal.responses[0]).update(rationale=f"Well, {words}.")
    wording = alignments.load_wording(proposal)
    assert wording is not None
    quoting = PromptWording(wording.system, wording.template.replace(LESSON, f"Say No if {words}."))

    with pytest.raises(UndecidableProposal, match="it quotes an expert"):
        alignments.accept(proposal, quoting, by="bea", at=timezone.now())

    assert accepted(proposal).slug == "model-1-aligned"


def test_reasons_stay_here_unless_vouched_for_if_model_or_judge_is_outside(study: Study, judge: Judge) -> None:
    values = {"base_url": "http://127.0.0.1:8000/v1", "is_allowed": True, "is_outside": False}
    inside = Endpoint.objects.create(name="inside", **values)
    proposer = Judge(slug="inner", endpoint=inside, model="m", prompt=judge.prompt)

    assert not alignments.plan(study, AlignmentOrder(judge, proposer)).with_reasons
    assert alignments.plan(study, AlignmentOrder(judge, proposer, sends_reasons=True)).with_reasons


def test_no_limit_of_verdicts_is_sent_to_a_proposing_model(study: Study, judge: Judge) -> None:
    for adapter, limit in (("openai-responses", "max_output_tokens"), ("gemini", "maxOutputTokens")):
        endpoint = Endpoint(name=adapter, adapter=adapter, is_allowed=True, base_url="https://example.org")
        parameters = {limit: 200, "temperature": 0}
        proposer = Judge(slug="p", endpoint=endpoint, model="m", prompt=judge.prompt, parameters=parameters)
        planned = plans._make_proposer(AlignmentOrder(judge, proposer))
        assert planned.parameters == {"temperature": 0}


def test_a_judge_of_a_log_is_not_aligned(study: Study, judge: Judge) -> None:
    endpoint = Endpoint.objects.create(name="logs", base_url=Endpoint.LOGS)
    of_log = Judge.objects.create(slug="gpt-9", endpoint=endpoint, model="gpt-9", prompt=judge.prompt)

    for order in (AlignmentOrder(of_log, judge), AlignmentOrder(judge, of_log)):
        with pytest.raises(CannotRun, match="came in with a log of another tool"):
            alignments.plan(study, order)


def test_nothing_is_aligned_or_accepted_once_held_out_stories_were_asked_about(study: Study, judge: Judge) -> None:
    first, second = (aligned(study, judge) for _time in range(2))
    accepted(first.proposals.get())
    with pytest.raises(CannotRun, match="Accept or refuse every proposal of this judge first"):
        alignments.start(first, by="bea")
    run = runs.plan(study, Judge.objects.get(slug="model-1-aligned"), by="bea")

    assert first.proposals.get().run == run, "a run that was planned elsewhere is the proposal's, too"
    assert alignments.find_waiting(first) == []
    with pytest.raises(CannotRun, match="Align another judge"):
        alignments.plan(study, AlignmentOrder(judge, judge, seed=1))
    with pytest.raises(UndecidableProposal, match="could depend on its results"):
        accepted(second.proposals.get())


def test_runs_of_very_many_calls_are_left_to_a_worker(
    study: Study, judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    proposal = only_proposal(study, judge)
    accepted(proposal)
    monkeypatch.setattr(planning_jobs, "CALLS_AT_ONCE", 19)

    for ask in (alignments.preview, lambda row: alignments.start(row, by="bea")):
        with pytest.raises(CannotRun, match=r"more than 19 questions each.*: model-1, model-1-aligned\."):
            ask(proposal.alignment)

    assert not Run.objects.filter(judge__slug="model-1-aligned").exists()


def test_a_budget_is_divided_among_the_runs_that_are_planned_and_never_exceeded(study: Study, judge: Judge) -> None:
    price(judge)
    alignment = aligned(study, judge, n_proposals=3)
    for proposal in alignment.proposals.select_related("draft", "alignment"):
        accepted(proposal)

    started = alignments.start(alignment, by="bea", budget=Decimal(2))

    assert [run.budget for run in started] == [Decimal("0.6666")] * 3, "the present prompt has been asked already"
