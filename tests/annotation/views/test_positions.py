"""Where a rater is in a story: kept with the assignment, for the rater's own pages alone."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import Assignment
from annotation.participation import claims, withdrawal
from annotation.responses import submission
from reports import results
from studies.models import Study
from tests import factories
from tests.annotation import walk

pytestmark = pytest.mark.django_db

PLACE = {"paragraph": "7", "offset": "340"}


@pytest.fixture
def study() -> Study:
    return factories.study(n_stories=2)


@pytest.fixture
def mine(client: Client, study: Study) -> Assignment:
    return walk.begin(client, study)


def tell(client: Client, mine: Assignment, letter: str = "A", **more: str) -> int:
    return client.post(reverse("annotation:position", args=[mine.code, letter]), PLACE | more).status_code


def kept(mine: Assignment) -> object:
    return Assignment.objects.values_list("reading_positions", flat=True).get(pk=mine.pk)


def shown(client: Client, mine: Assignment, letter: str = "A") -> list[str]:
    page = client.get(walk.address(mine, letter=letter)).text
    return re.findall(r'data-(?:paragraph|offset)="([^"]*)"', page)


def test_another_device_opens_the_story_where_one_was(client: Client, mine: Assignment) -> None:
    assert shown(client, mine) == ["1", "0"]
    factories.answer(mine)

    assert tell(client, mine) == 204
    assert tell(client, mine, "B", paragraph="2", offset="0") == 204

    other_device = Client()
    other_device.cookies = client.cookies
    assert shown(other_device, mine) == ["7", "340"]
    assert shown(other_device, mine, "B") == ["2", "0"]


@pytest.mark.parametrize(
    "place",
    [
        {"paragraph": ""},
        {"paragraph": "0"},
        {"paragraph": "-1"},
        {"offset": "1001"},
        {"offset": "x"},
        {"offset": "1.5"},
    ],
)
def test_what_is_no_position_is_not_kept(client: Client, mine: Assignment, place: dict[str, str]) -> None:
    assert tell(client, mine, **place) == 404
    assert kept(mine) == {}


def test_a_story_that_has_still_to_be_opened_has_no_position(client: Client, mine: Assignment) -> None:
    assert tell(client, mine, "B") == 409
    assert tell(client, mine, "C") == 404
    assert kept(mine) == {}


def test_a_position_takes_three_queries_and_waits_for_no_lock(
    client: Client, mine: Assignment, django_assert_num_queries: Any
) -> None:
    tell(client, mine)

    with django_assert_num_queries(3) as queries:  # session, assignment, position
        tell(client, mine, paragraph="8")
    assert not any("FOR UPDATE" in query["sql"] for query in queries)


def test_nothing_else_of_the_assignment_changes_with_a_position(client: Client, mine: Assignment) -> None:
    before: Any = Assignment.objects.filter(pk=mine.pk).values().get()

    tell(client, mine)

    after: Any = Assignment.objects.filter(pk=mine.pk).values().get()
    assert {name for name in after if after[name] != before[name]} == {"reading_positions"}


@pytest.mark.parametrize("end", [submission.submit, claims.give_up])
def test_positions_go_when_the_work_ends_and_none_comes_after(client: Client, mine: Assignment, end: Any) -> None:
    tell(client, mine)
    assert kept(mine) == {"A": [7, 340]}

    end(mine, at=timezone.now())

    assert kept(mine) == {}
    assert tell(client, mine) == 409
    assert kept(mine) == {}


def test_a_withdrawal_erases_positions(client: Client, mine: Assignment) -> None:
    tell(client, mine)

    withdrawal.withdraw(mine.rater, at=timezone.now())
    assert kept(mine) == {}

    Assignment.objects.filter(pk=mine.pk).update(reading_positions={"A": [7, 340]})  # as after a restored backup
    withdrawal.erase(mine.rater)
    assert kept(mine) == {}


def test_the_staff_see_no_position_and_no_result_depends_on_one(
    client: Client, admin_client: Client, study: Study, mine: Assignment
) -> None:
    before = results.fingerprint(study)
    tell(client, mine, paragraph="7654321")
    assert kept(mine) == {"A": [7654321, 340]}

    assert results.fingerprint(study) == before
    addresses = [
        reverse("admin:annotation_assignment_change", args=[mine.pk]),
        reverse("designer:monitor", args=[study.slug]),
        reverse("designer:people", args=[study.slug]),
    ]
    for address in addresses:
        page = admin_client.get(address)
        assert page.status_code == 200
        assert "7654321" not in page.text


def test_no_code_of_reports_exports_judges_or_the_staff_reads_positions() -> None:
    def readers(*folders: str) -> list[str]:
        paths = [path for folder in folders for path in (Path(settings.BASE_DIR) / folder).rglob("*.py")]
        return sorted(path.stem for path in paths if "reading_positions" in path.read_text())

    assert readers("annotation/progress", "annotation/views/rater") == ["pages", "places"]
    assert readers("reports", "judges", "studies", "annotation/admin", "annotation/views/designer") == []
