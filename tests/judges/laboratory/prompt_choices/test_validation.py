"""A template chosen on pairs that are set apart, and never on those that are judged with it."""

import io
from decimal import Decimal

import pytest
from django.core.management import call_command
from django.utils import timezone

from annotation.models import Response
from annotation.responses import submission
from judges import catalogue, runs
from judges.laboratory import prompt_choices, splits
from judges.laboratory.prompt_choices import validation
from judges.models import Judge, Prompt, PromptChoice, Run
from judges.planning import CannotRun, Scope
from reports import results
from reports.dataset import Dataset
from reports.export import long_table
from studies.models import Step, Story, StoryGroup, Study
from tests import factories, triggers
from tests.judges.conftest import judge_at, sendable
from tests.judges.planning.test_budget import price
from tests.judges.standin import StandIn
from tests.judges.standin.replies import Reply, says
from tests.judges.standin.server import Hit

pytestmark = pytest.mark.django_db
# In words of that template alone.
BEST = "Compare responses A and B for creative writing quality"


def pairs(n: int = 10) -> Study:
    """Pairs of which each person prefers the first story."""
    study = factories.study(n_groups=n, n_stories=2, k=1, comparative=False, planned=False)
    better = factories.instrument("better", n_items=1, type="pair", rationale="none", rationale_least=0)
    study.versions.get().steps.filter(key="tests").update(instrument=better, scope=Step.Scope.GROUP)
    factories.plan(study)
    for number in range(n):
        work = factories.assignment(study, factories.rater(study, f"reader-{number}"))
        letter = "A" if work.seat.order[0].endswith("s1") else "B"
        factories.answer(work, value=letter, why="")
        submission.submit(work, at=factories.NOON)
    return sendable(study)


def knows_with_one_template(hit: Hit) -> Reply:
    """Right with one template; with every other always A."""
    content = hit.body["messages"][-1]["content"]
    is_first_better = content.index("s1 began") < content.index("s2 began")
    return says("Preferred: " + ("A" if is_first_better or BEST not in content else "B"))


def templates() -> list[Prompt]:
    return [row for row in catalogue.load_prompts() if row.name.startswith("litbench-")]


def test_a_split_is_the_same_for_a_seed_and_shares_no_story_with_the_rest() -> None:
    study = factories.study(n_groups=10, n_stories=2)
    shared = Story.objects.get(code="p1s1")
    with triggers.lifted():
        StoryGroup.objects.get(code="plot2").stories.add(shared)

    drawn = [splits.split_groups(study, share=0.3, seed=seed) for seed in range(20)]

    assert drawn == [splits.split_groups(study, share=0.3, seed=seed) for seed in range(20)]
    assert len({split.first for split in drawn}) > 5
    for split in drawn:
        assert sorted(split.first + split.judged) == sorted(study.groups.values_list("code", flat=True))
        assert len(split.first) in (3, 4)
        assert ("plot1" in split.first) == ("plot2" in split.first)


def test_pairs_that_all_hang_together_cannot_be_split() -> None:
    study = factories.study(n_groups=3, n_stories=2)
    with triggers.lifted():
        StoryGroup.objects.update(premise="One premise")

    with pytest.raises(CannotRun, match="share stories or writing prompts"):
        splits.split_groups(study, share=0.3, seed=0)


def test_the_template_that_agrees_best_is_chosen_and_judges_the_other_pairs(standin: StandIn) -> None:
    study, out = pairs(), io.StringIO()
    standin.reply = knows_with_one_template
    judge_at(standin)

    call_command("choose_prompt", study.slug, "--judge", "model-1", "--share", "0.3", "--wait", stdout=out)

    run = Run.objects.get(judge__slug="chosen-model-1")
    choice = run.frozen["choice"]
    assert (run.state, run.judge.prompt.name) == ("finished", "litbench-minimal")
    assert choice["prompt"] == "litbench-minimal 1"
    assert choice["accuracy"] == {
        f"litbench-{name} 1": (1.0 if name == "minimal" else 0.5)
        for name in ("alternative", "minimal", "reddit-minimal", "reddit-permuted", "reddit-verbose", "writerly")
    }
    judged = set(run.readings.values_list("assignment__group__code", flat=True))
    tried = set(
        Run.objects.filter(judge__slug__startswith="validation-").values_list(
            "readings__assignment__group__code", flat=True
        )
    )
    assert tried == set(choice["validation"])
    assert judged | tried == {f"plot{n}" for n in range(1, 11)}
    assert not judged & tried
    assert run.readings.count() == 2 * len(judged)
    assert set(Dataset.of(study).judges["rater"]) == {"chosen-model-1"}
    assert {row["judge"] for row in results.compute(study)["judge_costs"]} == {"chosen-model-1"}
    long_file = list(long_table.rows(study, with_sources=False))
    assert {row["status"] for row in long_file if row["rater"].startswith("validation-")} == {"trial"}
    assert "litbench-minimal 1: 1.000 (chosen)" in out.getvalue()


def test_without_answers_of_people_nothing_is_chosen(standin: StandIn) -> None:
    study = pairs()
    study.assignments.update(status="given_up")

    with pytest.raises(CannotRun, match="the prompts cannot be compared"):
        prompt_choices.plan(study, judge_at(standin), templates(), share=0.3, seed=0, by="tests")
    assert (Judge.objects.count(), standin.hits, Run.objects.count()) == (1, [], 0)


def test_a_choice_says_how_sure_it_is_and_what_was_lost(standin: StandIn) -> None:
    study, model = pairs(), judge_at(standin)
    standin.reply = knows_with_one_template
    by_name = {prompt.name: prompt for prompt in templates()}
    best, other = by_name["litbench-minimal"], by_name["litbench-alternative"]
    choice = prompt_choices.plan(study, model, [best, other], share=0.5, seed=0, by="ann")
    assert (choice.approved_at, standin.hits) == (None, [])
    with pytest.raises(CannotRun, match="is not finished"):
        prompt_choices.decide(choice, at=factories.NOON)
    prompt_choices.approve(choice, by="bea")
    with pytest.raises(CannotRun, match="approved already"):
        prompt_choices.approve(choice, by="bea")

    for trial in choice.trials.all():
        runs.drain(trial.run)
    assert list(prompt_choices.find_due()) == [choice]
    prompt_choices.compare(choice, at=factories.NOON)

    results = {trial.prompt.name: prompt_choices.load_accuracy(trial.result) for trial in choice.trials.all()}
    first, last = results["litbench-minimal"], results["litbench-alternative"]
    assert first is not None
    assert last is not None
    # Every pair right in both orders; with the other template always the first one, so that each is right in one.
    assert (first.accuracy, first.n_flipped, last.accuracy, last.n_flipped) == (1.0, 0, 0.5, 5)
    assert (first.n_pairs, first.n_clusters, first.n_both, first.n_asked, first.n_lost) == (5, 5, 5, 10, 0)
    assert (first.low, last.low) == (None, None), "values that are all alike have no interval"
    assert (choice.prompt, choice.approved_by, choice.trials.first().run.approved_by) == (best, "bea", "bea")
    assert list(prompt_choices.find_due()) == []


def test_accuracy_counts_lost_replies_as_wrong_and_has_an_interval_over_clusters(standin: StandIn) -> None:
    study, model = pairs(8), judge_at(standin)
    with triggers.lifted():
        StoryGroup.objects.filter(code__in=["plot1", "plot2"]).update(premise="One premise")
    scope = Scope(orders=validation.BOTH_ORDERS)
    model.prompt = next(p for p in templates() if p.name == "litbench-minimal")
    model.save()
    run = runs.start(study, model, by="tests", scope=scope)
    question = validation.find_pair_question(study)
    majorities = {f"plot{n}": f"p{n}s1" for n in range(1, 9)}
    for reading in run.readings.select_related("assignment__seat", "assignment__group"):
        code = reading.assignment.group.code
        is_first = reading.order == "planned"
        if is_first or code == "plot3":
            wrong = code in ("plot1", "plot2") and is_first
            value = majorities[code][:-1] + ("2" if wrong else "1")
            Response.objects.create(
                assignment=reading.assignment,
                step=question.step,
                item=question.item,
                outcome="answered",
                value=value,
                first_answered_at=factories.NOON,
                last_edited_at=factories.NOON,
            )

    accuracy = validation.measure_accuracy(run, question, majorities)

    # By hand: two pairs 0 (wrong, and lost), one 1, five 1/2; clusters {plot1, plot2} and six single ones.
    shares = {"c": [0.0, 0.0], "plot3": [1.0], **{f"plot{n}": [0.5] for n in range(4, 9)}}
    mean = sum(map(sum, shares.values())) / 8
    assert accuracy.accuracy == mean == 3.5 / 8
    influence = [(sum(values) - mean * len(values)) / 8 for values in shares.values()]
    margin = 2.4469118 * (7 / 6 * sum(value**2 for value in influence)) ** 0.5  # t of six degrees of freedom
    assert (accuracy.low, accuracy.high) == pytest.approx((mean - margin, mean + margin))
    assert (accuracy.n_clusters, accuracy.n_both, accuracy.n_flipped) == (7, 1, 0)
    assert (accuracy.n_asked, accuracy.n_lost) == (16, 7)


def test_the_other_pairs_are_judged_once_with_what_was_chosen_and_measured_apart(standin: StandIn) -> None:
    study, model = pairs(), judge_at(standin)
    standin.reply = knows_with_one_template
    prompts = [p for p in templates() if p.name in ("litbench-minimal", "litbench-alternative")]
    choice = prompt_choices.plan(study, model, prompts, share=0.3, seed=0, by="ann")
    with pytest.raises(CannotRun, match="No prompt has been chosen yet"):
        prompt_choices.start_chosen(choice, by="ann")
    prompt_choices.approve(choice, by="ann")
    for trial in choice.trials.all():
        runs.drain(trial.run)
    prompt_choices.decide(choice, at=factories.NOON)

    price(model)
    run = runs.drain(prompt_choices.start_chosen(choice, by="bea", budget=Decimal(3)))
    with pytest.raises(CannotRun, match="started already"):
        prompt_choices.start_chosen(choice, by="bea")
    assert list(prompt_choices.find_due()) == [choice]
    prompt_choices.compare(choice, at=timezone.now())

    held_out = prompt_choices.load_accuracy(choice.held_out)
    assert held_out is not None
    assert (held_out.n_pairs, held_out.accuracy) == (len(choice.judged), 1.0)
    assert (run.approved_by, run.budget, run.judge.slug) == ("bea", Decimal(3), "chosen-model-1")
    assert list(prompt_choices.find_due()) == []


def test_trials_that_nobody_approved_are_taken_back_with_all_their_rows(standin: StandIn) -> None:
    study, model = pairs(), judge_at(standin)
    price(model)
    choice = prompt_choices.plan(study, model, templates(), share=0.3, seed=0, by="ann", budget=Decimal(3))
    assert set(Run.objects.values_list("budget", flat=True)) == {Decimal("0.5")}
    assert Judge.objects.filter(is_trial=True).count() == 6

    prompt_choices.discard(choice)

    assert (Run.objects.count(), PromptChoice.objects.count(), Judge.objects.count()) == (0, 0, 1)
    with pytest.raises(CannotRun, match="at least two prompts"):
        prompt_choices.plan(study, model, templates()[:1], share=0.3, seed=0, by="ann")


def test_a_study_that_compares_no_pairs_is_told_so(standin: StandIn) -> None:
    study = sendable(factories.study(comparative=False))

    with pytest.raises(CannotRun, match="asks which of two stories is better"):
        prompt_choices.preview(study, judge_at(standin), templates(), share=0.3, seed=0)


def test_a_trial_whose_budget_is_spent_holds_the_choice_up_and_says_why(standin: StandIn) -> None:
    study, model = pairs(), judge_at(standin)
    standin.reply = knows_with_one_template
    price(model)
    choice = prompt_choices.plan(study, model, templates()[:2], share=0.3, seed=0, by="ann", budget=Decimal("0.0002"))
    prompt_choices.approve(choice, by="ann")
    for trial in choice.trials.all():
        runs.drain(trial.run)

    with pytest.raises(CannotRun, match=r"The budget of 0\.0001 USD may not cover another call"):
        prompt_choices.decide(choice, at=factories.NOON)
    prompt_choices.compare(choice, at=factories.NOON)
    assert (choice.decided_at, list(prompt_choices.find_due())) == (None, [])
