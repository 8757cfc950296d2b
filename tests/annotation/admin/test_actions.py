"""What the admin says before and after: a list's actions ask first, and more links than seats are named."""

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import Invitation, Seat
from annotation.participation import invitations, withdrawal
from annotation.participation.invitations import Demand
from studies.models import Study
from tests import factories
from tests.factories import NOON

pytestmark = pytest.mark.django_db
STUDIES = reverse("admin:studies_study_changelist")
ISSUE = reverse("admin:annotation_invitation_issue")


def act(staff: Client, action: str, *studies: Study, **more: str):
    given = {"action": action, "_selected_action": [study.pk for study in studies]} | more
    return staff.post(STUDIES, given, follow=True)


def draft(slug: str) -> Study:
    return factories.study(slug, state=Study.State.DRAFT, planned=False)


def states() -> dict[str, tuple[str, int]]:
    """Of every study its state and how many seats it has."""
    return {study.slug: (study.state, study.seats.count()) for study in Study.objects.all()}


# ── actions of the list of studies ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("action", "meaning"),
    [
        ("plan", "Its places are made, each with its order of stories. That can be repeated until it is launched."),
        ("launch", "Its protocol is frozen. Raters who hold a link can begin."),
        ("close", "Nobody can answer any more, for good."),
    ],
)
def test_an_action_asks_before_it_does_anything(staff: Client, action: str, meaning: str) -> None:
    plums, pears = draft("plums"), factories.study("pears")
    apples = factories.study("apples", state=Study.State.DRAFT)
    before = states()

    page = act(staff, action, plums, pears, apples)

    assert meaning in page.text
    assert states() == before
    ready = {"plan": {"plums", "apples"}, "launch": {"plums", "apples"}, "close": {"pears"}}[action]
    assert {study.slug for study in page.context["ready"]} == ready
    assert {study.slug for study, _ in page.context["hindered"]} == {"plums", "pears", "apples"} - ready


def test_an_action_says_what_is_in_its_way(staff: Client) -> None:
    page = act(staff, "close", factories.study("apples", state=Study.State.DRAFT))

    assert "it is not live" in page.text
    assert 'type="submit" value="Close"' not in page.text


def test_what_was_asked_is_done_once_it_is_confirmed(staff: Client) -> None:
    plums, pears = draft("plums"), draft("pears")
    asked = act(staff, "plan", plums, pears)
    for study in (plums, pears):
        assert f'name="_selected_action" value="{study.pk}"' in asked.text
    assert Seat.objects.count() == 0

    done = act(staff, "plan", plums, pears, confirmed="yes")

    assert states() == {"plums": ("draft", 3), "pears": ("draft", 3)}
    assert len(list(done.context["messages"])) == 2


def test_a_coordinator_is_not_even_asked(client: Client) -> None:
    study = draft("plums")
    client.force_login(factories.staff("coordinator"))

    act(client, "plan", study, confirmed="yes")

    assert states() == {"plums": ("draft", 0)}


# ── links and seats ────────────────────────────────────────────────────────────────────────────────────────────────


def warnings(page) -> list[str]:
    return [str(message) for message in page.context["messages"] if message.level_tag == "warning"]


def test_more_links_than_seats_are_issued_with_a_warning(staff: Client) -> None:
    study = factories.study(k=3)

    enough = staff.post(ISSUE, {"study": study.pk, "n": 3})
    too_many = staff.post(ISSUE, {"study": study.pk, "n": 2})

    assert warnings(enough) == []
    assert warnings(too_many) == [
        "More links are out than places are open: 5 issued and not used yet, 3 open. "
        "If all of them are used, late arrivals find no place."
    ]
    assert Invitation.objects.count() == 5, "a warning refuses nothing"


def test_links_for_one_group_are_held_against_its_own_seats(staff: Client) -> None:
    study = factories.study(n_groups=3, k=2)

    page = staff.post(ISSUE, {"study": study.pk, "n": 3, "groups": "plot2"})

    (said,) = warnings(page)
    assert said.startswith("More links are out for these groups alone than they have places open: 3 issued")
    assert "2 open" in said


def test_only_links_that_may_still_take_a_seat_are_counted() -> None:
    study = factories.study(n_groups=2, k=3)
    for _ in range(2):
        invitations.issue(study)
    revoked, _ = invitations.issue(study)
    invitations.revoke(revoked, at=NOON)
    invitations.issue(study, expires_at=NOON)
    at_work, gone, arrived = (invitations.ensure_rater(invitations.issue(study)[0]) for _ in range(3))
    factories.assignment(study, at_work)
    withdrawal.withdraw(gone, at=NOON)
    assert arrived.assignments.count() == 0

    found = invitations.count_demand(study, at=NOON + timedelta(minutes=1))

    assert found == Demand(n_unused=3, n_open=5)


def test_before_a_study_is_planned_the_seats_that_it_will_have_are_counted() -> None:
    study = factories.study(n_groups=2, k=3, state=Study.State.DRAFT, planned=False)
    invitations.issue(study)

    assert invitations.count_demand(study, at=timezone.now()) == Demand(n_unused=1, n_open=6)


def test_links_for_several_groups_do_not_count_for_one_of_them_alone() -> None:
    study = factories.study(n_groups=2, k=1)
    one, two = study.groups.order_by("code")
    invitations.issue(study, groups=[one])
    invitations.issue(study, groups=[one, two])
    invitations.issue(study)

    assert invitations.count_demand(study, at=NOON, groups=[one]) == Demand(n_unused=1, n_open=1)
    assert invitations.count_demand(study, at=NOON, groups=[one, two]) == Demand(n_unused=2, n_open=2)
