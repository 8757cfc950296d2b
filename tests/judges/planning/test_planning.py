import json
from contextlib import nullcontext

import pytest

from annotation.responses import letters
from judges import catalogue, planning
from judges.models import Endpoint, Judge
from judges.planning import CannotRun, Scope, extensions
from judges.prompts import strip_marks
from studies.models import ProtocolVersion, Provenance, Story, Study
from tests import factories, triggers

pytestmark = pytest.mark.django_db


def outside_judge() -> Judge:
    endpoint = Endpoint.objects.create(name="far", base_url="https://api.example.org/v1", is_allowed=True)
    prompt = next(prompt for prompt in catalogue.load_prompts() if prompt.name == "plain-verdict-first")
    return Judge.objects.create(slug="far", endpoint=endpoint, model="m", prompt=prompt)


def test_every_item_is_asked_about_every_story_and_what_is_asked_of_the_group_once() -> None:
    study = factories.study(n_groups=2, n_stories=3, n_items=2)

    plan = planning.plan_run(study, catalogue.make_stub_judge())

    asked = [(c.step.key, c.story.code if c.story else "") for calls in plan.calls.values() for c in calls]
    codes = [f"p{g}s{n}" for g in (1, 2) for n in (1, 2, 3)]
    assert sorted(asked) == sorted(
        [("tests", code) for code in codes] * 2 + [("guess", code) for code in codes] + [("ranking", "")] * 2
    )
    assert plan.n_calls == 20


def test_all_that_is_asked_of_one_story_stands_in_a_row_and_begins_alike() -> None:
    plan = planning.plan_run(factories.study(n_stories=3, n_items=4), catalogue.make_stub_judge())

    (calls,) = plan.calls.values()
    told = [(c.story.code, c.request["messages"][1]["content"].split("</story")[0]) for c in calls if c.story]
    beginnings = [begin for _, begin in told]
    assert [told[n] == told[n - 1] for n in range(1, len(told))].count(False) == 2
    assert len(set(beginnings)) == 3


def test_the_stories_of_a_group_are_told_under_the_letters_of_the_seat() -> None:
    study = factories.study()
    plan = planning.plan_run(study, catalogue.make_stub_judge())

    ((group, calls),) = plan.calls.items()
    said = next(c.request["messages"][1]["content"] for c in calls if c.story is None)
    places = [said.index(Story.objects.get(study=study, code=code).text) for code in plan.orders[group]]
    assert places == sorted(places)
    for letter, code in letters(plan.orders[group]).items():
        assert f"<story {letter} fence-" in said
        assert f"The {code} began." in said


def test_nothing_about_where_a_story_comes_from_is_told() -> None:
    study = factories.study()
    with triggers.lifted():
        Provenance.objects.filter(story__study=study).update(
            title="canary-title", url="https://canary.example", licence="canary-licence", factors={"canary-factor": 1}
        )
        factories.story(study, "other", source="canary-source")
        Story.objects.filter(study=study, code="p1s1").update(code="canary-code")

    plan = planning.plan_run(study, catalogue.make_stub_judge())

    said = json.dumps([c.request for calls in plan.calls.values() for c in calls])
    assert "began" in said
    assert "canary" not in said.replace(plan.canary, "")
    assert study.slug not in said


@pytest.mark.parametrize("shows", [True, False])
def test_the_premise_is_told_only_if_raters_see_it(shows: bool) -> None:
    study = factories.study()
    with triggers.lifted():
        Study.objects.filter(pk=study.pk).update(shows_premise=shows)
    study.refresh_from_db()

    plan = planning.plan_run(study, catalogue.make_stub_judge())

    said = [c.request["messages"][1]["content"] for calls in plan.calls.values() for c in calls]
    assert all(("Premise 1" in text) == shows for text in said)


def test_a_plan_is_the_same_again_but_for_the_numbers_of_its_fences() -> None:
    study, judge = factories.study(n_groups=2), catalogue.make_stub_judge()

    def said(plan: planning.Plan) -> list[str]:
        return [json.dumps(c.request) for calls in plan.calls.values() for c in calls]

    first, again = planning.plan_run(study, judge), planning.plan_run(study, judge)

    assert (first.document, first.sha256, first.orders) == (again.document, again.sha256, again.orders)
    assert list(map(strip_marks, said(first))) == list(map(strip_marks, said(again)))
    assert not set(said(first)) & set(said(again))


def test_stories_are_read_in_every_place_equally_often_over_the_groups() -> None:
    study = factories.study(n_groups=4, n_stories=4, comparative=False)

    plan = planning.plan_run(study, catalogue.make_stub_judge())

    places = [[code[-1] for code in order] for order in plan.orders.values()]
    for place in range(4):
        assert sorted(order[place] for order in places) == ["1", "2", "3", "4"]


def test_the_document_says_all_that_decides_what_is_sent() -> None:
    study, judge = factories.study(), catalogue.make_stub_judge(seed=3)

    said = json.loads(planning.plan_run(study, judge).document)

    assert said["judge"] == "stub"
    assert said["parameters"] == {"seed": 3, "yes_rate": 0.5}
    assert said["prompt"] == judge.prompt.content
    assert said["protocol"]["sha256"] == study.versions.get().sha256
    assert said["endpoint"] == {"name": "stub", "adapter": "stub", "base_url": ""}
    assert sorted(said["orders"]["plot1"]) == ["p1s1", "p1s2", "p1s3", "p1s4"]


def test_an_endpoint_that_nobody_allowed_cannot_be_used() -> None:
    judge = catalogue.make_stub_judge()
    Endpoint.objects.update(is_allowed=False)
    judge.refresh_from_db()

    with pytest.raises(CannotRun, match="has not allowed its endpoint, stub"):
        planning.plan_run(factories.study(), judge)


def test_a_withheld_text_is_named_and_left_out_with_what_is_asked_about_its_group() -> None:
    study = factories.study(n_groups=2)
    Story.objects.filter(study=study, code="p1s2").update(text="", is_withheld=True)

    plan = planning.plan_run(study, catalogue.make_stub_judge())

    assert plan.withheld == ["p1s2"]
    codes = [call.story.code for call in plan.all_calls if call.story]
    assert sorted(set(codes)) == ["p1s1", "p1s3", "p1s4", "p2s1", "p2s2", "p2s3", "p2s4"]
    by_group = {group.code: sum(call.story is None for call in calls) for group, calls in plan.calls.items()}
    assert by_group == {"plot1": 0, "plot2": 1}


def test_where_every_text_is_withheld_nothing_can_be_judged() -> None:
    study = factories.study()
    Story.objects.filter(study=study).update(text="", is_withheld=True)

    with pytest.raises(CannotRun, match=r"4 stories \(p1s1, p1s2, p1s3, p1s4\) are withheld"):
        planning.plan_run(study, catalogue.make_stub_judge())


def test_of_a_selection_only_its_stories_are_read_and_need_leave() -> None:
    study = factories.study(n_groups=2)
    Provenance.objects.filter(story__code__in=["p1s1", "p2s2"]).update(may_send_out=True)

    plan = planning.plan_run(study, outside_judge(), Scope(selection=("p1s1", "p2s2")))

    assert {group.code: order for group, order in plan.orders.items()} == {"plot1": ["p1s1"], "plot2": ["p2s2"]}
    assert plan.n_calls == 2 * 3
    with pytest.raises(CannotRun, match="no story p9s9"):
        planning.plan_run(study, catalogue.make_stub_judge(), Scope(selection=("p9s9",)))


def test_both_orders_and_repeats_are_readings_of_their_own() -> None:
    study = factories.study()
    scope = Scope(orders=("planned", "reversed"), n_repeats=2)

    plan = planning.plan_run(study, catalogue.make_stub_judge(), scope)

    (order,) = plan.orders.values()
    places = [(seat.reading.order.value, seat.reading.repeat, seat.order) for seat in plan.seats]
    assert places == [
        ("planned", 1, order),
        ("reversed", 1, order[::-1]),
        ("planned", 2, order),
        ("reversed", 2, order[::-1]),
    ]
    assert plan.n_calls == 4 * 13


@pytest.mark.parametrize(
    ("parameters", "is_refused"), [({"seed": 7, "temperature": 0}, True), ({"temperature": 0}, False)]
)
def test_repeats_that_would_get_one_reply_are_refused(parameters: dict[str, int], is_refused: bool) -> None:
    study, judge = factories.study(), catalogue.make_stub_judge()
    Judge.objects.update(parameters=parameters)
    judge.refresh_from_db()
    assert extensions.plan(study, judge).n_calls

    with pytest.raises(CannotRun, match="would get the same reply") if is_refused else nullcontext():
        extensions.plan(study, judge, Scope(n_repeats=2))


def test_every_repeat_has_a_seed_of_its_own() -> None:
    study, judge = factories.study(), catalogue.make_stub_judge()
    Judge.objects.update(parameters={"seed": 7, "temperature": 1})
    judge.refresh_from_db()

    plan = planning.plan_run(study, judge, Scope(orders=("planned", "reversed"), n_repeats=3))

    seeds = {(seat.reading.repeat, call.request["parameters"]["seed"]) for seat in plan.seats for call in seat.calls}
    assert seeds == {(1, 7), (2, 8), (3, 9)}
    assert {call.request["parameters"]["temperature"] for call in plan.all_calls} == {1}
    Judge.objects.update(parameters={})
    judge.refresh_from_db()
    unseeded = planning.plan_run(study, judge, Scope(n_repeats=2))
    assert [call.request["parameters"] for call in unseeded.all_calls] == [{}] * unseeded.n_calls


def test_texts_go_to_an_outside_provider_only_if_every_one_may() -> None:
    study, judge = factories.study(), outside_judge()
    Provenance.objects.filter(story__code__in=["p1s1", "p1s2"]).update(may_send_out=True)

    with pytest.raises(CannotRun, match=r"plums: 2 .*\(p1s3, p1s4\).* far\b"):
        planning.plan_run(study, judge)

    Provenance.objects.update(may_send_out=True)
    assert planning.plan_run(study, judge).n_calls == 13


def test_texts_may_go_to_an_endpoint_of_the_house_without_asking() -> None:
    judge = outside_judge()
    Endpoint.objects.update(is_outside=False)
    judge.refresh_from_db()

    assert planning.plan_run(factories.study(), judge).n_calls == 13


def test_a_study_whose_protocol_is_not_frozen_cannot_be_judged() -> None:
    with pytest.raises(CannotRun, match="no protocol is frozen"):
        planning.plan_run(factories.study(planned=False), catalogue.make_stub_judge())


def test_a_protocol_that_asks_nothing_cannot_be_judged() -> None:
    study = factories.study()
    empty = ProtocolVersion.objects.create(study=study, number=2, frozen_at=factories.NOON)
    factories.freeze_anew(study)

    with pytest.raises(CannotRun, match="asks anything"):
        planning.plan_run(study, catalogue.make_stub_judge())
    assert empty.steps.count() == 0
