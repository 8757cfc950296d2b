"""Simulated raters of every kind go through a study as people do, and each kind shows in what is stored."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from annotation import simulated_panel
from annotation.models import Assignment, Consent, Rater, Response, Timing
from annotation.simulated_panel import SimulatedRater
from annotation.simulation import KINDS, RaterKind, Simulation, Tendency, count_kinds, expectations
from annotation.simulation.kinds import CAREFUL, HASTY
from annotation.simulation.opinions import Opinion
from studies.items.chance import draw_value
from studies.models import Item, Study
from tests import factories
from tests.annotation import walk
from tests.factories import NOON

pytestmark = pytest.mark.django_db

ONE_OF_EACH = dict.fromkeys(KINDS, 1)


def come(study: Study, n_by_kind: dict[RaterKind, int], *, seed: int = 1) -> list[SimulatedRater]:
    worth = {code: Tendency(0.0) for code in study.stories.values_list("code", flat=True)}
    simulation = Simulation(study, worth, np.random.default_rng(seed))
    return simulated_panel.simulate_panel(simulation, n_by_kind, begins=NOON)


def stored(study: Study) -> list[tuple[Any, ...]]:
    """Every answer by rater, place and value."""
    place = ("assignment__group__code", "step__position", "item__position", "story__code")
    rows = Response.objects.filter(assignment__study=study).order_by("assignment__rater__code", *place)
    return list(
        rows.values_list("assignment__rater__code", "step__key", "item__key", "story__code", "value", "rationale")
    )


def statuses(study: Study) -> dict[str, str]:
    rows = Assignment.objects.filter(study=study).exclude(seat=None)
    return dict(rows.values_list("rater__code", "status"))


def by_kind(members: list[SimulatedRater]) -> dict[str, Rater]:
    return {member.kind.key: member.rater for member in members}


@pytest.mark.parametrize("n", [2, 7, 20, 30, 500])
def test_as_many_raters_come_as_were_asked_for(n: int) -> None:
    assert sum(count_kinds(n).values()) == n


def test_of_twenty_raters_every_kind_has_one() -> None:
    assert min(count_kinds(20).values()) >= 1


def test_everybody_agrees_answers_and_is_marked_as_simulated() -> None:
    study = factories.study(n_groups=2, k=5)

    members = come(study, ONE_OF_EACH)

    assert Counter(statuses(study).values())[Assignment.Status.SUBMITTED] == 4
    assert Consent.objects.filter(rater__study=study).count() == 5
    assert all(rater.is_simulated for rater in Rater.objects.filter(study=study))
    assert all(member.found_place for member in members)


def test_a_straight_lining_rater_gives_one_answer_all_through() -> None:
    study = factories.study(k=5, n_items=4)

    straight = by_kind(come(study, ONE_OF_EACH))["straight"]

    verdicts = Response.objects.filter(assignment__rater=straight, item__type="binary")
    assert len(verdicts) == 16
    assert len(set(verdicts.values_list("value", flat=True))) == 1


def test_a_leaving_rater_stops_midway_and_the_place_is_left_open_or_given_back() -> None:
    ends = Counter[str]()
    for n in range(6):
        study = factories.study(f"plums-{n}", k=5)
        leaving = by_kind(come(study, ONE_OF_EACH, seed=n))["leaving"]
        assignment = Assignment.objects.exclude(seat=None).get(rater=leaving)
        ends[assignment.status] += 1
        assert assignment.responses.count() == (2 * 4 + 1 + 4) // 2
        assert assignment.seat.is_taken is (assignment.status == Assignment.Status.OPEN)

    assert set(ends) == {Assignment.Status.OPEN, Assignment.Status.GIVEN_UP}


def test_a_hasty_rater_takes_less_than_half_the_time() -> None:
    study = factories.study(k=2, n_items=6)

    members = by_kind(come(study, {CAREFUL: 1, HASTY: 1}))

    seconds = {
        key: sum(Timing.objects.filter(assignment__rater=rater).values_list("active_seconds", flat=True))
        for key, rater in members.items()
    }
    assert seconds["hasty"] < seconds["careful"] / 2


def test_the_same_seed_gives_the_same_answers() -> None:
    one, same, other = (factories.study(slug, n_groups=2, k=5) for slug in ("one", "same", "other"))

    for study, seed in ((one, 1), (same, 1), (other, 2)):
        come(study, ONE_OF_EACH, seed=seed)

    assert stored(one) == stored(same)
    assert statuses(one) == statuses(same)
    assert stored(one) != stored(other)


def test_places_are_shared_out_among_all_who_come() -> None:
    study = factories.study(n_groups=6, k=2)

    members = come(study, {CAREFUL: 5})

    n_read = Counter(Assignment.objects.exclude(seat=None).values_list("rater__code", flat=True))
    assert sum(n_read.values()) == 12
    assert {n_read[member.rater.code] for member in members} == {2, 3}


def test_whoever_finds_no_place_is_told_from_who_does() -> None:
    study = factories.study(k=1)

    members = come(study, {CAREFUL: 3})

    assert [member.found_place for member in members] == [True, False, False]


# ── through the pages ──────────────────────────────────────────────────────────────────────────────────────────────


def walk_as(rater: Rater, study: Study) -> None:
    """What a simulated rater of another study said and did, posted through the raters' pages of this one, in order."""
    client = Client()
    assignment = walk.begin(client, study)
    done = Assignment.objects.exclude(seat=None).get(rater=rater)
    letter_by_code = {code: "ABCDEFGH"[n] for n, code in enumerate(assignment.seat.order)}
    for response in done.responses.order_by("pk").select_related("step", "item", "story"):
        letter = letter_by_code[response.story.code] if response.story else ""
        more = {}
        if response.item.type == "ranking":
            field = f"answer-{response.step.key}-{response.item.key}"
            order = [code for tied in response.value for code in tied]
            more = {f"{field}_{letter_by_code[code]}": place for place, code in enumerate(order, start=1)}
        walk.give(
            client,
            assignment,
            None if more else response.value,
            response.rationale,
            step=response.step.key,
            item=response.item.position,
            letter=letter,
            **more,
        )
    if done.status == Assignment.Status.SUBMITTED:
        client.post(reverse("annotation:check", args=[assignment.code]))


def test_through_the_pages_each_kind_stores_the_same_answers() -> None:
    simulated, walked = factories.study("simulated", k=6), factories.study("walked", k=6)
    members = come(simulated, ONE_OF_EACH, seed=3)

    for member in members:
        walk_as(member.rater, walked)

    code_by_walked = dict(
        zip(
            Rater.objects.filter(study=walked).order_by("pk").values_list("code", flat=True),
            [member.rater.code for member in members],
            strict=True,
        )
    )
    assert len(stored(simulated)) == 4 * 13 + 6
    assert sorted(((code_by_walked[row[0]], *row[1:]) for row in stored(walked)), key=repr) == sorted(
        stored(simulated), key=repr
    )
    assert {code_by_walked[code]: status for code, status in statuses(walked).items()} == {
        # Somebody else opens the place again of whoever stays away.
        code: Assignment.Status.OPEN if status == Assignment.Status.GIVEN_UP else status
        for code, status in statuses(simulated).items()
    }


# ── what is to be expected ─────────────────────────────────────────────────────────────────────────────────────────


def draws(schema: dict[str, Any], kind: RaterKind, *, mean: float, stories: float, n: int = 6000) -> list[Any]:
    """Answers drawn as raters' are, each by another rater about another story on the same item."""
    rng = np.random.default_rng(5)
    item = Item(key="item")
    simulation = Simulation(Study(), {}, rng)
    simulation.drawn["item",] = 0.0
    values = []
    for number in range(n):
        code = str(number)
        simulation.tendency_by_story = {code: Tendency(mean + float(rng.normal(0, stories)))}
        profile = kind.draw_profile(rng, rater=f"S{number}", n_groups=1)
        values.append(draw_value(schema, Opinion(simulation, profile, item, None, codes=[code])))
    return values


@pytest.mark.parametrize("kind", [CAREFUL, HASTY])
@pytest.mark.parametrize("mean", [-1.5, 0.4])
def test_expected_answers_are_those_that_are_drawn(kind: RaterKind, mean: float) -> None:
    deviation = expectations.deviation_on_item(kind, stories=0.5)
    yes = draws({"type": "string", "enum": ["yes", "no"]}, kind, mean=mean, stories=0.5)
    points = draws({"type": "integer", "minimum": 1, "maximum": 5}, kind, mean=mean, stories=0.5)

    # Four standard errors of the mean of so many.
    assert np.mean([value == "yes" for value in yes]) == pytest.approx(
        expectations.chance_of_yes(mean, deviation), abs=4 * 0.5 / 6000**0.5
    )
    assert np.mean(points) == pytest.approx(
        expectations.expected_number(1, 5, mean, deviation), abs=4 * np.std(points) / 6000**0.5
    )


def test_expected_orders_are_those_that_are_drawn() -> None:
    means, deviation = [0.8, 0.0, -0.3], 0.9
    worth = np.random.default_rng(2).normal(means, deviation, size=(200_000, 3))

    firsts = np.bincount(worth.argmax(axis=1), minlength=3) / len(worth)
    places = 3 - worth.argsort(axis=1).argsort(axis=1).mean(axis=0)

    assert expectations.chances_of_first(means, deviation) == pytest.approx(firsts, abs=0.005)
    assert expectations.expected_places(means, deviation) == pytest.approx(places, abs=0.01)
