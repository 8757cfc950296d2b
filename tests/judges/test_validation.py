"""A template chosen on pairs that are set apart, and never on those that are judged with it."""

import io

import pytest
from django.core.management import call_command

from annotation.responses import submission
from judges import runs, validation
from judges.models import Judge, Run
from judges.planning import CannotRun
from studies.models import Step, Story, StoryGroup, Study
from tests import factories, triggers
from tests.judges.conftest import judge_at, sendable
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


def test_a_split_is_the_same_for_a_seed_and_shares_no_story_with_the_rest() -> None:
    study = factories.study(n_groups=10, n_stories=2)
    shared = Story.objects.get(code="p1s1")
    with triggers.lifted():
        StoryGroup.objects.get(code="plot2").stories.add(shared)

    splits = [validation.split_groups(study, share=0.3, seed=seed) for seed in range(20)]

    assert splits == [validation.split_groups(study, share=0.3, seed=seed) for seed in range(20)]
    assert len({split.validation for split in splits}) > 5
    for split in splits:
        assert sorted(split.validation + split.judged) == sorted(study.groups.values_list("code", flat=True))
        assert len(split.validation) in (3, 4)
        assert ("plot1" in split.validation) == ("plot2" in split.validation)


def test_pairs_that_all_hang_together_cannot_be_split() -> None:
    study = factories.study(n_groups=3, n_stories=2)
    with triggers.lifted():
        StoryGroup.objects.update(premise="One premise")

    with pytest.raises(CannotRun, match="share stories or premises"):
        validation.split_groups(study, share=0.3, seed=0)


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
    assert "litbench-minimal 1: 1.000 (chosen)" in out.getvalue()


def test_without_answers_of_people_nothing_is_chosen(standin: StandIn) -> None:
    study = pairs()
    study.assignments.update(status="given_up")
    split = validation.split_groups(study, share=0.3, seed=0)

    with pytest.raises(CannotRun, match="nothing to choose by"):
        validation.choose_prompt(study, judge_at(standin), [], split, by="tests")
    assert (Judge.objects.count(), standin.hits, runs.Run.objects.count()) == (1, [], 0)
