"""A simulated study: in a copy alone, the same by its seed, with an effect of the chosen size."""

from dataclasses import replace
from io import StringIO
from typing import Any

import numpy as np
import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from annotation.design import deletion, rehearsals
from annotation.models import Rater, Response
from annotation.simulation import Simulation, count_kinds
from annotation.simulation.kinds import CAREFUL, DISAGREEING, STRAIGHT
from reports.simulated_studies import CannotPlant, CopyGone, SimulatedStudy, Trial, run_trial
from reports.simulated_studies.plantings import Planting, SourcePair, choose_pair
from studies.models import Item, Provenance, Study
from tests import factories, triggers
from tests.factories import NOON
from tests.reports.simulated_studies.test_coverage import scales_and_tests

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    return scales_and_tests(n_groups=6)


def run(study: Study, **trial: Any) -> SimulatedStudy:
    return run_trial(study, Trial(**{"n": 12, "seed": 1} | trial), by=None, sees_sources=True, at=NOON)


def planting_of(study: Study, *, seed: int = 1) -> Planting:
    rng = np.random.default_rng(seed)
    return Planting(Simulation(study, {}, rng), choose_pair(study, rng))


def test_the_study_itself_is_not_answered(study: Study) -> None:
    run(study)

    assert not Rater.objects.filter(study=study).exists()
    assert not Response.objects.filter(assignment__study=study).exists()
    study.refresh_from_db()
    assert study.is_draft


def test_the_same_seed_gives_the_same_study(study: Study) -> None:
    one, same, other = (replace(run(study, seed=seed), copy="", seconds=0.0, seed=0) for seed in (4, 4, 5))

    assert one == same
    assert one != other


def test_it_says_who_came_and_what_was_planted_and_found(study: Study) -> None:
    summary = run(study, n=20)

    assert {kind.key: kind.n for kind in summary.kinds} == {
        "careful": 12,
        "hasty": 3,
        "straight": 2,
        "leaving": 1,
        "disagreeing": 2,
    }
    assert summary.n_filled + summary.n_open <= summary.n_seats == 24
    assert (summary.first, summary.second) == ("Source 1", "Source 2")
    assert [outcome.key for outcome in summary.outcomes] == ["verdicts", "scale/item-1", "ranking/item-1"]
    assert all(outcome.found is not None and outcome.ends is not None for outcome in summary.outcomes)
    assert summary.outcomes[0].sentence.startswith("planted ")


def test_what_is_planted_is_the_size_that_was_chosen(study: Study) -> None:
    summary = run(study, effect=15.0)

    assert summary.outcomes[0].planted == pytest.approx(15.0, abs=1.5)  # as many answers of each kind as came
    assert summary.outcomes[0].careful > summary.outcomes[0].planted


def test_an_effect_of_nothing_can_be_planted(study: Study) -> None:
    summary = run(study, effect=0.0)

    assert [outcome.planted for outcome in summary.outcomes] == pytest.approx([0.0] * 3, abs=1e-9)


def test_more_than_raters_can_differ_by_is_refused_with_the_most(study: Study) -> None:
    with pytest.raises(CannotPlant, match="Choose a smaller effect"):
        run(study, effect=99.0)


def test_a_study_without_anything_to_compare_is_refused(study: Study) -> None:
    study.versions.get().steps.filter(key__in=["tests", "scale", "ranking"]).delete()
    study.versions.get().steps.create(
        position=9,
        key="words",
        kind="rating",
        instrument=factories.instrument("words", n_items=1, type="text", rationale="none", rationale_least=0),
        scope="story",
    )

    with pytest.raises(CannotPlant, match="nothing on which stories could be compared"):
        run(study)


def test_kinds_without_a_preference_among_sources_thin_the_effect_out(study: Study) -> None:
    planting = planting_of(study)
    outcome = planting.outcomes[0]
    careful = planting.difference(outcome, 1.0, {CAREFUL: 1})

    assert careful > 5
    assert planting.difference(outcome, 1.0, {STRAIGHT: 1, DISAGREEING: 1}) == 0
    assert planting.difference(outcome, 1.0, {CAREFUL: 3, STRAIGHT: 1}) == pytest.approx(0.75 * careful)


def test_log_odds_are_those_that_have_the_effect(study: Study) -> None:
    planting, weights = planting_of(study), {kind: float(n) for kind, n in count_kinds(30).items()}

    log_odds = planting.log_odds_for(12.0, weights)

    assert planting.difference(planting.main, log_odds, weights) == pytest.approx(12.0)


def test_on_a_scale_that_counts_from_the_other_end_the_effect_is_planted_in_that_direction(study: Study) -> None:
    study.versions.get().steps.filter(key__in=["tests", "ranking"]).delete()
    with triggers.lifted():
        for item in Item._base_manager.filter(instrument__slug="one-scale"):
            Item._base_manager.filter(pk=item.pk).update(settings=item.settings | {"analysed_reversed": True})

    summary = run(study, n=20)

    assert summary.outcomes[0].planted == pytest.approx(0.4, abs=0.06)
    assert summary.outcomes[0].found is not None


# ── blinding ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_halves_are_drawn_without_a_look_at_who_wrote_the_stories(study: Study) -> None:
    drawn = choose_pair_blind(study)
    Provenance.objects.filter(story__study=study).delete()

    assert choose_pair_blind(study).sources == drawn.sources
    assert drawn.is_drawn
    n_first = sum(source.name == drawn.first for source in drawn.sources.values())
    assert (n_first, len(drawn.sources)) == (6, 12)


def choose_pair_blind(study: Study) -> SourcePair:
    copy = Study.every.filter(rehearsal_of=study).first()
    if copy is None:
        copy = rehearsals.renew(study, by=None, sees_sources=False, at=NOON)
    return choose_pair(copy, np.random.default_rng(3))


def test_nothing_of_a_source_is_said_to_who_may_not_know_them(study: Study) -> None:
    assert Provenance.objects.filter(story__study=study, source__name="Source 1").exists()

    summary = run_trial(study, Trial(n=12, seed=1), by=None, sees_sources=False, at=NOON)

    assert summary.is_drawn
    assert "Source" not in repr(summary)
    assert not Provenance.objects.filter(story__study__slug=summary.copy).exists()
    assert all(outcome.found is not None for outcome in summary.outcomes)


# ── the command ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_command_says_what_was_found_and_leaves_nothing_behind(study: Study) -> None:
    designer = User.objects.create_user("designer")
    rehearsal = copy_of(study, designer)
    out = StringIO()

    call_command("simulate", study.slug, n=12, seed=1, stdout=out)

    lines = out.getvalue().splitlines()
    assert lines[0] == "12 simulated raters: careful 7, hasty 2, straight-lining 1, leaving 1, disagreeing 1."
    assert [line.split(":")[0] for line in lines if "planted" in line and "found" in line] == [
        "  All tests",
        "  Item 1",
        "  Item 1",
    ]
    assert list(Study.every.values_list("slug", flat=True)) == sorted([study.slug, rehearsal.slug])


def copy_of(study: Study, by: User) -> Study:
    return rehearsals.renew(study, by=by, sees_sources=True, at=NOON)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "there is no study"),
        (["plums", "--n", "1"], "2 to 500 raters"),
        (["plums", "--seed", "-1"], "0 or more"),
        (["plums", "--effect", "nan"], "0 or more"),
        (["plums", "--effect", "500"], "Choose a smaller effect"),
    ],
)
def test_the_command_says_what_is_wrong(study: Study, arguments: list[str], message: str) -> None:
    with pytest.raises(CommandError, match=message):
        call_command("simulate", *arguments)

    assert Study.every.count() == 1


def test_a_launched_study_is_refused_with_the_way_to_a_draft_of_it(study: Study) -> None:
    Study.objects.update(state="live")

    with pytest.raises(CommandError, match="Save as a file"):
        call_command("simulate", study.slug)


@pytest.mark.usefixtures("committed")  # the database refuses a rater of no study at the end of a transaction
def test_a_copy_that_is_deleted_meanwhile_ends_the_simulation(study: Study) -> None:
    seen: list[int] = []

    def delete_copy() -> None:
        seen.append(1)
        if len(seen) == 2:
            deletion.delete_rehearsals(study)

    with pytest.raises(CopyGone):
        run_trial(study, Trial(n=4, seed=1), by=None, sees_sources=True, at=NOON, before_each=delete_copy)
