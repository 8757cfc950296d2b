"""The pages on which a prompt for pairs is chosen: what it takes, who may, how far it is, and what came of it."""

import re
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.utils import timezone

from judges import catalogue, lifecycle, runs
from judges.laboratory import prompt_choices
from judges.models import Call, Judge, Prompt, PromptChoice, Run
from judges.views.new_runs import PLAN_CHANGED
from studies.models import Study
from tests import factories, triggers
from tests.judges.conftest import judge_at, sendable
from tests.judges.laboratory.prompt_choices.test_validation import knows_with_one_template, pairs
from tests.judges.planning.test_budget import price
from tests.judges.standin import StandIn
from tests.judges.views.pages import page, words
from tests.replay import replayed

pytestmark = pytest.mark.django_db

NEW = "/studies/plums/runs/prompt/"
NAMES = ("litbench-minimal", "litbench-alternative")


@pytest.fixture
def judge(standin: StandIn) -> Judge:
    standin.reply = knows_with_one_template
    return judge_at(standin)


@pytest.fixture
@replayed
def study() -> Study:
    return pairs()


@pytest.fixture
def prompts() -> list[Prompt]:
    return [prompt for prompt in catalogue.load_prompts() if prompt.name in NAMES]


@pytest.fixture
def choice(study: Study, judge: Judge, prompts: list[Prompt]) -> PromptChoice:
    return prompt_choices.plan(study, judge, prompts, share=0.3, seed=0, by="ann")


def drained(choice: PromptChoice) -> PromptChoice:
    """The choice after its trials have been made."""
    prompt_choices.approve(choice, by="bea")
    for trial in choice.trials.all():
        runs.drain(trial.run)
    return choice


def selected(judge: Judge, prompts: list[Prompt], **values: Any) -> dict[str, Any]:
    return {"judge": judge.pk, "prompts": [prompt.pk for prompt in prompts], "share": 30, **values}


def address(values: dict[str, Any]) -> str:
    ticked = "&".join(f"prompts={pk}" for pk in values["prompts"])
    return f"{NEW}?judge={values['judge']}&{ticked}&share={values['share']}"


def post(client: Client, where: str, values: dict[str, Any], role: str = "researcher") -> Any:
    client.force_login(User.objects.filter(username=role).first() or factories.staff(role))
    return client.post(where, values, follow=True)


def test_litbenchs_six_are_ticked_and_only_prompts_that_can_ask_are_there(
    client: Client, study: Study, judge: Judge
) -> None:
    html = page(client, "researcher", NEW)

    labels = re.findall(r'<label class="tick"[^>]*>(.*?)</label>', html, re.DOTALL)
    ticked = {words(label) for label in labels if "checked" in label}
    assert len(labels) > len(ticked) == 6
    assert all(label.startswith("litbench-") for label in ticked)
    assert not any("ttcw-paper" in label or "fill" in label for label in labels)


def test_what_it_takes_is_shown_before_anything_and_writes_nothing(
    client: Client, study: Study, judge: Judge, prompts: list[Prompt]
) -> None:
    price(judge)

    said = words(page(client, "researcher", address(selected(judge, prompts))))

    assert "The prompts would be tried on 3 pairs" in said
    assert "Calls to be sent 12" in said, "two prompts, three pairs, both orders"
    assert re.search(r"about \$ 0\.\d+, at most \$ \d+\.\d+", said)
    assert (Run.objects.count(), Call.objects.count(), Judge.objects.count()) == (0, 0, 1)


def test_trials_are_approved_by_whoever_may_and_the_workers_are_told(
    client: Client,
    study: Study,
    judge: Judge,
    prompts: list[Prompt],
    queued: list[int],
    django_capture_on_commit_callbacks: Any,
) -> None:
    price(judge)
    values = selected(judge, prompts, seed=0, n_calls=12, budget="3", do="start")
    with django_capture_on_commit_callbacks(execute=True):
        said = words(post(client, NEW, values).content.decode())

    choice = PromptChoice.objects.get()
    assert "The prompts are being tried" in said
    assert (choice.created_by, choice.approved_by) == ("researcher", "researcher")
    assert set(Run.objects.values_list("approved_by", "budget", "state")) == {("researcher", Decimal("1.5"), "running")}
    assert queued == [judge.endpoint_id, judge.endpoint_id]


def test_what_was_looked_at_is_what_is_approved(
    client: Client, study: Study, judge: Judge, prompts: list[Prompt]
) -> None:
    response = post(client, NEW, selected(judge, prompts, n_calls=7))

    assert response.status_code == 400
    assert str(PLAN_CHANGED) in response.content.decode()
    assert not PromptChoice.objects.exists()


def test_saved_trials_wait_for_somebody_else_and_can_be_taken_back(
    client: Client, study: Study, judge: Judge, prompts: list[Prompt]
) -> None:
    said = words(post(client, NEW, selected(judge, prompts, do="save")).content.decode())
    choice = PromptChoice.objects.get()
    assert "The trials are waiting for approval" in said
    assert choice.approved_at is None

    said = words(post(client, f"{NEW}{choice.pk}/", {"do": "approve"}, role="designer").content.decode())

    choice.refresh_from_db()
    assert "The trials are approved" in said
    assert choice.approved_by == "designer"
    said = words(post(client, f"{NEW}{choice.pk}/", {"do": "discard"}).content.decode())
    assert lifecycle.APPROVED.removeprefix("%(run)s ") in said


def test_taking_back_leaves_nothing(client: Client, choice: PromptChoice) -> None:
    said = words(post(client, f"{NEW}{choice.pk}/", {"do": "discard"}).content.decode())

    assert "Nothing was sent" in said
    assert (PromptChoice.objects.count(), Run.objects.count()) == (0, 0)


@pytest.mark.parametrize("role", ["coordinator", "steward", "administrator", ""])
def test_whoever_may_not_start_runs_starts_no_trials(client: Client, choice: PromptChoice, role: str) -> None:
    client.force_login(factories.staff(role))

    assert client.get(NEW).status_code == 403
    for do in ("approve", "discard", "start"):
        assert client.post(f"{NEW}{choice.pk}/", {"do": do}).status_code == 403
    choice.refresh_from_db()
    assert choice.approved_at is None


def test_another_studys_choice_is_not_there(client: Client, choice: PromptChoice) -> None:
    factories.study(slug="pears", comparative=False)

    page(client, "researcher", f"/studies/pears/runs/prompt/{choice.pk}/", status=404)


def test_what_came_of_it_is_shown_to_whoever_may_see_results(client: Client, choice: PromptChoice) -> None:
    where = f"{NEW}{choice.pk}/"
    drained(choice)
    assert "are being compared with people’s answers" in words(page(client, "researcher", where))
    prompt_choices.compare(choice, at=timezone.now())

    said = words(page(client, "researcher", where))

    assert "Chosen: litbench-minimal 1" in said
    assert "litbench-minimal 1 chosen 100.0 % no interval: too few pairs, or all alike 0 / 3 0 / 6" in said
    assert "litbench-alternative 1 50.0 %" in said
    assert "Judge the other 7 pairs with litbench-minimal 1" in said
    assert "looks better than it is on the pairs it was chosen on" in said
    assert "Approve and start" not in words(page(client, "coordinator", where))


def test_whoever_may_not_read_the_report_sees_the_choice_and_no_results(client: Client, choice: PromptChoice) -> None:
    prompt_choices.compare(drained(choice), at=timezone.now())
    factories.staff("").user_permissions.add(Permission.objects.get(codename="view_run"))

    said = words(page(client, "", f"{NEW}{choice.pk}/"))

    assert "Chosen: litbench-minimal 1" in said
    assert "is shown to those who may read the report" in said
    assert "50.0 %" not in said


def test_the_other_pairs_stand_beside_once_they_are_judged(client: Client, choice: PromptChoice) -> None:
    where = f"{NEW}{choice.pk}/"
    prompt_choices.compare(drained(choice), at=timezone.now())

    price(choice.judge)
    said = words(post(client, where, {"do": "start", "budget": "2"}).content.decode())

    run = Run.objects.get(judge__slug="chosen-model-1")
    assert "The run with the chosen prompt is at work" in said
    assert (run.approved_by, run.budget, run.n_planned) == ("researcher", Decimal(2), 14)
    runs.drain(run)
    choice.refresh_from_db()
    prompt_choices.compare(choice, at=timezone.now())
    said = words(page(client, "researcher", where))
    assert "litbench-minimal 1, on the other pairs 100.0 %" in said
    assert "Quote the last line" in said
    assert "started already" in words(post(client, where, {"do": "start"}).content.decode())


def test_a_trial_that_is_held_up_is_named_with_the_way_out(client: Client, choice: PromptChoice) -> None:
    prompt_choices.approve(choice, by="bea")
    runs.stop_at_budget(choice.trials.first().run)

    said = words(page(client, "researcher", f"{NEW}{choice.pk}/"))

    assert "A trial needs your attention" in said
    assert "may not cover another call; calls left" in said
    assert "close it with the answers it has" in said


def test_a_study_without_pairs_says_so_and_has_no_button(client: Client, judge: Judge) -> None:
    sendable(factories.study(comparative=False))

    said = words(page(client, "researcher", NEW))

    assert "asks which of two stories is better" in said
    assert "Approve" not in said


def test_nobody_judged_and_one_part_empty_are_said(
    client: Client, study: Study, judge: Judge, prompts: list[Prompt]
) -> None:
    where = address(selected(judge, prompts))
    study.assignments.update(status="given_up")
    assert "Wait for more answers, or set more pairs apart" in words(page(client, "researcher", where))

    with triggers.lifted():
        study.groups.update(premise="One premise")
    said = words(page(client, "researcher", where))
    assert "none can be set apart" in said
    assert "Approve" not in said


def test_nonsense_is_refused(client: Client, study: Study, judge: Judge, prompts: list[Prompt]) -> None:
    assert post(client, NEW, selected(judge, prompts[:1])).status_code == 400
    assert post(client, NEW, selected(judge, prompts) | {"share": 120}).status_code == 400
    assert post(client, NEW, {}).status_code == 400
    page(client, "researcher", f"{NEW}?judge=x", status=400)
    page(client, "researcher", f"{NEW}?who=1", status=400)
    assert not PromptChoice.objects.exists()


@pytest.mark.parametrize("n", [2, 6])
def test_pages_take_as_many_queries_for_many_prompts(
    client: Client, study: Study, judge: Judge, n: int, django_assert_num_queries: Any
) -> None:
    some = [prompt for prompt in catalogue.load_prompts() if prompt.name.startswith("litbench-")][:n]
    choice = prompt_choices.plan(study, judge, some, share=0.3, seed=0, by="ann")
    client.force_login(factories.staff("researcher"))

    with django_assert_num_queries(8):
        client.get(f"{NEW}{choice.pk}/")
    with django_assert_num_queries(11):
        client.get("/studies/plums/runs/")


def test_a_page_that_watches_the_trials_is_loaded_anew_once_they_are_compared(
    client: Client, choice: PromptChoice
) -> None:
    where = f"{NEW}{choice.pk}/"
    prompt_choices.approve(choice, by="bea")
    client.force_login(factories.staff("researcher"))
    under_way = client.get(where, headers={"HX-Request": "true"})
    assert "The prompts are being tried" in words(under_way.content.decode())
    assert 'hx-trigger="every 2s"' in under_way.content.decode()
    assert "HX-Refresh" not in under_way.headers

    for trial in choice.trials.all():
        runs.drain(trial.run)
    prompt_choices.compare(choice, at=timezone.now())

    assert client.get(where, headers={"HX-Request": "true"}).headers["HX-Refresh"] == "true"
