"""What a reading plan comes to: paths, places, sources, and the seed that stands best."""

from collections import Counter
from dataclasses import replace

import pytest

from annotation import design
from annotation.design import launches, prospects, reading_plans
from annotation.design.prospects import PlanChoices, Texts
from annotation.design.reading_plans import Design, ReadingPlan
from annotation.models import Assignment
from annotation.participation import claims
from studies import protocol
from studies.models import Study
from tests import factories
from tests.factories import NOON

FIVE = Texts(
    [f"g{g}" for g in range(5)],
    [[f"{g}{n}" for n in "abcd"] for g in range(5)],
    {f"{g}{n}": 220 for g in range(5) for n in "abcd"},
)
SOURCES = {code: f"Source {code[1]}" for codes in FIVE.stories for code in codes}


def choices(k: int = 3, most: int | None = None, *, policy: str = "balanced", seed: int = 7) -> PlanChoices:
    return PlanChoices(k, most, policy, seed)


def test_places_people_and_hours_of_five_groups_that_three_read_two_at_most() -> None:
    prospect = prospects.look_ahead(FIVE, choices(3, 2), minutes_by_group=[4] * 5)

    assert (prospect.n_places, len(prospect.paths), prospect.n_most_people) == (15, 8, 15)
    assert [len(path) for path in prospect.paths] == [2, 2, 2, 2, 2, 2, 2, 1]
    assert (prospect.longest_minutes, prospect.total_minutes) == (8, 60), "two groups; fifteen readings of a group"


def test_a_second_reading_is_no_place_in_the_matrix() -> None:
    repeated = replace(choices(3), n_repeats=2, groups_per_sitting=7)

    prospect = prospects.look_ahead(FIVE, repeated)

    assert {len(path) for path in prospect.paths} == {7}, "five groups, and two of them again"
    assert prospect.n_longest == 20, "four stories of each of the five"
    assert {sum(places.values()) for places in prospect.places_by_story.values()} == {3}


@pytest.mark.parametrize("most", [1, 2, None])
def test_over_all_paths_every_story_is_read_by_as_many_as_are_wanted(most: int | None) -> None:
    prospect = prospects.look_ahead(FIVE, choices(4, most))

    readings = Counter(code for path in prospect.paths for visit in path for code in visit.stories)
    assert set(readings.values()) == {4}
    assert {code: sum(places.values()) for code, places in prospect.places_by_story.items()} == readings
    assert all(len({visit.group for visit in path}) == len(path) for path in prospect.paths)


def test_four_raters_of_four_stories_are_even_and_three_are_not() -> None:
    assert prospects.look_ahead(FIVE, choices(4)).is_even_inside_groups
    assert not prospects.look_ahead(FIVE, choices(3)).is_even_inside_groups


def test_sources_are_counted_at_their_places_and_one_that_always_comes_early_is_uneven() -> None:
    fixed = prospects.look_ahead(FIVE, choices(3, policy="fixed"))

    names, rows = fixed.count_sources(SOURCES)

    assert names == ["1st", "2nd", "3rd", "4th"]
    assert [row.counts for row in rows] == [[15, 0, 0, 0], [0, 15, 0, 0], [0, 0, 15, 0], [0, 0, 0, 15]]
    assert [(row.n_early, row.n_late, row.is_uneven) for row in rows][1:3] == [(15, 0, True), (0, 15, True)]


def test_drawing_again_finds_a_seed_in_which_sources_stand_at_least_as_evenly() -> None:
    seed, n_draws = prospects.find_even_seed(FIVE, choices(3), SOURCES)

    def furthest(seed: int) -> int:
        prospect = prospects.look_ahead(FIVE, choices(3, seed=seed))
        counts = [n for row in prospect.count_sources(SOURCES)[1] for n in row.counts]
        return max(counts) - min(counts)

    assert n_draws == 200
    assert furthest(seed) == min(furthest(7 + n) for n in range(1, 201)) == 1
    assert prospects.find_even_seed(FIVE, choices(3), {}) == (8, 1), "without sources it is just another one"


@pytest.mark.django_db
def test_what_is_looked_at_is_what_is_planned() -> None:
    study = factories.study(n_groups=3, planned=False, state=Study.State.DRAFT)
    prospect = prospects.look_ahead(prospects.read_texts(study), reading_plans.plan_of_study(study).choices)

    design.plan(study)

    rows = [[seat.order for seat in study.seats.filter(row=row).order_by("position")] for row in (1, 2, 3)]
    assert [[visit.stories for visit in path] for path in prospect.paths] == rows


@pytest.mark.django_db
def test_saving_another_plan_takes_seats_back_and_a_frozen_study_keeps_its_own() -> None:
    study = factories.study(n_groups=2, state=Study.State.DRAFT)
    plan = ReadingPlan(4, 1, 1, "random", 9, True, False, ("pilot",))

    reading_plans.save_reading_plan(study, plan)

    assert reading_plans.plan_of_study(Study.objects.get()) == plan
    assert study.seats.count() == 0
    document = protocol.write_document(protocol.read_rows(protocol.latest(study)))
    assert '"groups_per_rater":1' in document
    assert '"excluded_studies":["pilot"]' in document
    factories.freeze(study)
    with pytest.raises(reading_plans.PlanFixed):
        reading_plans.save_reading_plan(study, ReadingPlan(3, None, 1, "balanced", 7, False, True))


def test_which_design_it_is_follows_from_groups_and_limits() -> None:
    pairs = Texts(["a", "b"], [["1", "2"], ["3", "4"]], {})

    def of(texts: Texts, most: int | None, sitting: int) -> Design:
        return reading_plans.design_of(ReadingPlan(3, most, sitting, "balanced", 1, False, True), texts)

    assert (of(FIVE, 2, 1), of(FIVE, None, 1), of(FIVE, None, 5)) == (Design.SOME, Design.SOME, Design.EVERYBODY)
    assert of(pairs, None, 1) == Design.PAIRS


@pytest.mark.django_db
@pytest.mark.parametrize(("n_groups", "k", "most"), [(5, 3, 2), (4, 4, 3), (3, 2, 1), (6, 3, None)])
def test_people_who_come_one_after_another_read_what_the_plan_says(n_groups: int, k: int, most: int | None) -> None:
    study = factories.study(n_groups=n_groups, k=k, planned=False, state=Study.State.DRAFT)
    Study.objects.update(groups_per_rater=most)
    study.refresh_from_db()
    plan = reading_plans.plan_of_study(study)
    prospect = prospects.look_ahead(prospects.read_texts(study), plan.choices)
    launches.launch(study, by="tests", at=NOON)

    for path in prospect.paths:
        rater = factories.rater(study)
        seats = []
        for _visit in path:
            assignment = claims.claim(rater)
            assert assignment.seat
            seats.append(assignment.seat.order)
            Assignment.objects.filter(pk=assignment.pk).update(status="submitted", ended_at=NOON)
        assert seats == [visit.stories for visit in path]
    assert not study.seats.filter(is_taken=False).exists()
