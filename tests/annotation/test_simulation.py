"""Simulated raters fill a study as people would, say what they are, and bring out what was planted."""

import sys
from datetime import timedelta
from importlib.util import find_spec, module_from_spec

import pytest

from annotation import responses, simulation
from annotation.models import Assignment, Rater, Response, ResponseEvent, Seat, Timing
from annotation.responses import history
from annotation.simulation import LABEL, Tendency
from studies import items, protocol
from studies.models import Item, Study
from tests import factories, triggers
from tests.factories import NOON

pytestmark = pytest.mark.django_db


def even(study: Study) -> dict[str, Tendency]:
    return {story.code: Tendency(0.0) for story in study.stories.all()}


def missing(assignment: Assignment) -> list[str]:
    """What the assignment lacks, over every place that its protocol asks about."""
    given = {(r.step_id, r.item_id, r.story.code if r.story else ""): r for r in assignment.responses.all()}
    found = []
    for step in protocol.load_protocol(assignment.version).ratings:
        for code in assignment.seat.order if step.scope in ("story", "stories") else [""]:
            for item in protocol.items_of(step):
                found.append(responses.find_shortfall(given.get((step.pk, item.pk, code)), item))
    return [lack for lack in found if lack]


def test_every_seat_is_filled_and_every_question_answered() -> None:
    study = factories.study(n_groups=3, k=3)

    raters = simulation.simulate(study, even(study), seed=1, begins=NOON)

    assignments = Assignment.objects.filter(status=Assignment.Status.SUBMITTED)
    assert assignments.count() == Seat.objects.count() == 9
    assert [missing(a) for a in assignments] == [[]] * 9
    assert all(r.is_simulated and r.kind == Rater.Kind.PERSON for r in raters)
    assert [r.code for r in raters] == [f"S{n:02}" for n in range(1, len(raters) + 1)]


def test_everything_that_a_simulated_rater_says_is_labelled() -> None:
    study = factories.study(n_items=3)

    simulation.simulate(study, even(study), seed=1, begins=NOON)

    said = list(Response.objects.exclude(rationale="").values_list("rationale", flat=True))
    assert len(said) == 3 * 4 * 3
    assert [words for words in said if not words.startswith(LABEL)] == []
    assert len(set(said)) > 20


def test_a_rationale_is_as_long_as_it_has_to_be() -> None:
    study = factories.study(k=1, n_items=1, comparative=False)
    with triggers.lifted():
        Item._base_manager.update(rationale_least=3)
        factories.freeze_anew(study)

    simulation.simulate(study, even(study), seed=1, begins=NOON)

    assert missing(Assignment.objects.get()) == []
    assert Response.objects.earliest("pk").rationale.count(LABEL) == 3


def answers(study: Study) -> list[tuple[str, str, object]]:
    rows = Response.objects.filter(assignment__study=study).order_by("assignment__started_at", "pk")
    return list(rows.values_list("assignment__rater__code", "story__code", "value"))


def test_the_same_seed_gives_the_same_answers_and_another_seed_others() -> None:
    one, same, other = (factories.study(slug) for slug in ("one", "same", "other"))

    for study, seed in ((one, 1), (same, 1), (other, 2)):
        simulation.simulate(study, even(study), seed=seed, begins=NOON)

    assert answers(one) == answers(same)
    assert answers(one) != answers(other)


def test_a_better_story_passes_more_and_is_ranked_higher() -> None:
    study = factories.study(n_groups=4, k=3, n_items=8)
    best = {f"p{g}s1" for g in range(1, 5)}
    tendencies = {code: Tendency(2.5 if code in best else -0.5) for code in even(study)}

    simulation.simulate(study, tendencies, seed=1, begins=NOON)

    passed = Response.objects.filter(item__type="binary", value="yes")
    n_best = passed.filter(story__code__in=best).count()
    assert n_best / (12 * 8) > 0.75
    assert (passed.count() - n_best) / (12 * 8 * 3) < 0.6
    firsts = [order[0][0] for order in Response.objects.filter(item__type="ranking").values_list("value", flat=True)]
    assert sum(code in best for code in firsts) >= 10


def test_guesses_follow_their_weights() -> None:
    study = factories.study(n_groups=4, k=3)
    tendencies = {code: Tendency(0.0, {"expert": 9, "ai": 1}) for code in even(study)}

    simulation.simulate(study, tendencies, seed=1, begins=NOON)

    guesses = list(Response.objects.filter(item__type="choice").values_list("value", flat=True))
    assert len(guesses) == 48
    assert guesses.count("expert") > 36
    assert guesses.count("amateur") == 0


def test_time_runs_forward_and_is_counted_by_story() -> None:
    study = factories.study()

    simulation.simulate(study, even(study), seed=1, begins=NOON)

    for assignment in Assignment.objects.all():
        times = list(
            ResponseEvent.objects.filter(response__assignment=assignment).order_by("pk").values_list("at", flat=True)
        )
        assert times == sorted(times)
        assert NOON <= assignment.started_at < times[0] < assignment.ended_at
        assert assignment.ended_at - assignment.started_at < timedelta(hours=3)
        told = Timing.objects.filter(assignment=assignment, step__key="tests")
        assert told.count() == 4
        assert all(t.active_seconds > 10 for t in told)


def test_second_thoughts_stand_in_the_history_which_holds() -> None:
    study = factories.study(n_groups=3, n_items=6)

    simulation.simulate(study, even(study), seed=1, begins=NOON)

    changed = Response.objects.filter(revision__gt=1)
    assert 0 < changed.count() < Response.objects.count() / 10
    assert [f for r in Response.objects.all() for f in history.faults(r, r.events.all())] == []


def test_what_was_locked_is_not_changed_afterwards() -> None:
    study = factories.study(n_groups=3, n_items=6, planned=False)
    study.versions.get().steps.filter(key="guess").update(locks=True)
    factories.plan(study)

    simulation.simulate(study, even(study), seed=1, begins=NOON)

    assert not Response.objects.filter(revision__gt=1, step__key__in=["tests", "ranking"]).exists()


@pytest.mark.parametrize("name", items.all_types())
def test_every_item_type_can_be_simulated(name: str) -> None:
    kind = items.find_type(name)
    told = {key: value for key, value in kind.example["item"].items() if key in ("options", "settings")}
    study = factories.study(n_stories=2, k=1, n_items=0, comparative=False, planned=False)
    step = study.versions.get().steps.get(key="tests")
    step.instrument = factories.instrument("one", n_items=1, type=name, rationale="none", rationale_least=0, **told)
    step.scope = "group" if kind.about_stories else "story"
    step.save()
    factories.plan(study)

    simulation.simulate(study, even(study), seed=1, begins=NOON)

    assert missing(Assignment.objects.get()) == []
    assert not Response.objects.exclude(outcome="answered").exists()


@pytest.mark.parametrize("name", ["annotation.simulation", "studies.items.chance"])
def test_numpy_is_not_loaded_before_something_is_simulated(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = find_spec(name)
    monkeypatch.setitem(sys.modules, "numpy", None)  # whoever imports it now fails

    spec.loader.exec_module(module_from_spec(spec))


def test_a_story_may_be_as_good_or_bad_as_can_be() -> None:
    study = factories.study(n_stories=2, k=1, n_items=4, comparative=False)

    simulation.simulate(study, {"p1s1": Tendency(5000), "p1s2": Tendency(-5000)}, seed=1, begins=NOON)

    # Second thoughts are no other ones.
    assert set(Response.objects.values_list("story__code", "value")) == {("p1s1", "yes"), ("p1s2", "no")}
