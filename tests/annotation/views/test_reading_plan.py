"""Who reads what: the page computes what choices come to and writes nothing until they are saved."""

import re
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client

from annotation.design import reading_plans
from studies.models import Membership, Study
from tests import factories

pytestmark = pytest.mark.django_db
ADDRESS = "/studies/plums/reading-plan/"
FIELDS: dict[str, Any] = {
    "design": "some",
    "seats_per_group": "4",
    "groups_per_rater": "2",
    "groups_per_sitting": "1",
    "order_policy": "balanced",
    "asks_recognition": "on",
    "seed": "7",
}


@pytest.fixture
def study() -> Study:
    return factories.study(n_groups=3, planned=False, state=Study.State.DRAFT)


@pytest.fixture
def designer(client: Client, study: Study) -> Client:
    client.force_login(factories.staff("designer"))
    return client


def seen(client: Client) -> str:
    return re.findall(r'name="seen" value="(\w+)"', client.get(ADDRESS).content.decode())[0]


def test_choices_are_saved_logged_and_shown_again(designer: Client, study: Study) -> None:
    designer.post(ADDRESS, FIELDS | {"seen": seen(designer)})

    plan = reading_plans.plan_of_study(Study.objects.get())
    assert (plan.seats_per_group, plan.groups_per_rater, plan.asks_recognition) == (4, 2, True)
    assert LogEntry.objects.get().change_message == "reading plan"
    assert '<option value="2" selected>' in designer.get(ADDRESS).content.decode()


@pytest.mark.parametrize("manner", ["htmx", "query", "button"])
def test_looking_at_what_choices_come_to_writes_nothing(designer: Client, study: Study, manner: str) -> None:
    tried = FIELDS | {"pay": "45"}
    page = {
        "htmx": lambda: designer.get(ADDRESS, tried, headers={"HX-Request": "true"}),
        "query": lambda: designer.get(ADDRESS, tried),
        "button": lambda: designer.post(ADDRESS, tried | {"show": "yes"}),
    }[manner]().content.decode()

    assert "<dd>12</dd>" in page, "places"
    assert "<dd>6–12</dd>" in page, "people"
    assert "<dd>540" in page, "pay"
    assert ("<html" in page) == (manner != "htmx")
    assert Study.objects.get().seats_per_group == 3


def test_repeats_are_counted_in_hours_and_pay_and_fill_no_place(designer: Client, study: Study) -> None:
    tried = FIELDS | {"design": "everybody", "n_repeats": "2", "pay": "45"}

    page = designer.get(ADDRESS, tried, headers={"HX-Request": "true"}).content.decode()

    figures = dict(re.findall(r"<dt>(.*?)</dt>\s*<dd>(.*?)</dd>", page))
    assert figures["places to fill, one group each"] == "12"
    assert figures["groups read a second time, which fill no place"] == "8"
    assert figures["pay, 45 a group"] == "900"
    assert re.fullmatch(r"(\d+\xa0h\xa0)?\d+\xa0(h|min)", figures["at most for one person"]), "on one line"
    assert page.count(" again</span>") == 8

    designer.post(ADDRESS, tried | {"seen": seen(designer)})
    plan = reading_plans.plan_of_study(Study.objects.get())
    assert (plan.n_repeats, plan.groups_per_sitting) == (2, 5), "three groups, and two of them again"
    assert '<input type="radio" name="design" value="everybody" checked>' in designer.get(ADDRESS).content.decode()


def test_more_repeats_than_a_sitting_holds_are_refused_at_the_field(designer: Client, study: Study) -> None:
    page = designer.post(ADDRESS, FIELDS | {"n_repeats": "2", "seen": seen(designer)})

    assert page.status_code == 400
    assert "needs a sitting of at least 4 groups, repeats included." in page.content.decode()
    assert Study.objects.get().n_repeats == 0


def test_drawing_again_offers_another_number_and_saves_none(designer: Client, study: Study) -> None:
    page = designer.get(ADDRESS, FIELDS | {"draw": "again"}, headers={"HX-Request": "true"}).content.decode()

    (seed,) = re.findall(r'name="seed" value="(\d+)"', page)
    assert 8 <= int(seed) <= 207
    assert "Best of 200 seeds" in page
    assert Study.objects.get().seed == 7


def test_stories_that_are_no_pairs_are_not_planned_as_pairs(designer: Client, study: Study) -> None:
    answer = designer.post(ADDRESS, FIELDS | {"design": "pairs", "seen": seen(designer)})

    assert answer.status_code == 400
    assert "are not in pairs yet" in answer.content.decode()


def test_who_saves_second_is_shown_what_the_first_one_saved(designer: Client, study: Study) -> None:
    before = seen(designer)
    Study.objects.update(seats_per_group=5)

    answer = designer.post(ADDRESS, FIELDS | {"seen": before})

    assert answer.status_code == 400
    assert "Changed meanwhile" in answer.content.decode()
    assert Study.objects.get().seats_per_group == 5


def test_a_launched_study_shows_its_plan_and_saves_none(client: Client) -> None:
    factories.study(n_groups=2)
    client.force_login(factories.staff("designer"))
    page = client.get(ADDRESS).content.decode()

    answer = client.post(ADDRESS, FIELDS | {"seen": "x"}, follow=True)

    assert '<form method="post" class="reading-plan"' not in page
    assert "Save the plan" not in page
    assert answer.status_code in (200, 400)
    assert Study.objects.get().seats_per_group == 3


def test_sources_stand_there_for_who_may_see_them_and_for_no_coordinator(client: Client, study: Study) -> None:
    shown = {}
    for role in ("lead", "coordinator"):
        user = factories.staff("")
        user.username = role
        user.save()
        Membership.objects.create(study=study, user=user, role=role)
        client.force_login(user)
        shown[role] = client.get(ADDRESS).content.decode()

    assert "Source 1" in shown["lead"]
    assert "Source 1" not in shown["coordinator"]
    assert "Position of each story" in shown["coordinator"]


@pytest.mark.parametrize("n", [1, 3])
def test_the_page_takes_as_many_queries_for_one_group_as_for_three(
    client: Client, django_assert_num_queries: Any, n: int
) -> None:
    factories.study(n_groups=n, planned=False, state=Study.State.DRAFT)
    client.force_login(factories.staff("designer"))

    with django_assert_num_queries(30):
        client.get(ADDRESS)


def test_of_many_stories_groups_are_drawn(client: Client) -> None:
    factories.study(n_groups=31, n_stories=2, planned=False, state=Study.State.DRAFT)
    client.force_login(factories.staff("designer"))

    page = client.get(ADDRESS).content.decode()

    assert "Which group comes when" in page
    assert "31 groups, as a table" in page
    assert '<th scope="row">p1s1</th>' not in page
