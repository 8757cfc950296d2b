"""The roles of the staff: as published, kept apart, put back, and not to be got round."""

from pathlib import Path

import pytest
from django.contrib.auth.models import Group, Permission, User
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from config import roles
from reports import results
from studies.models import Source, Study
from tests import factories, triggers
from tests.reports import given

pytestmark = pytest.mark.django_db
PAGE = Path(__file__).parents[2] / "docs" / "roles.md"


def held(name: str) -> set[str]:
    found = Permission.objects.filter(group__name=name).select_related("content_type")
    return {f"{each.content_type.app_label}.{each.codename}" for each in found}


def groups(*names: str) -> list[int]:
    return [Group.objects.get(name=name).pk for name in names]


# ── the table ──────────────────────────────────────────────────────────────────────────────────────────────────────


def published_tables() -> list[list[list[str]]]:
    """The tables of the page, each as its rows of cells."""
    paragraphs = [paragraph for paragraph in PAGE.read_text().split("\n\n") if paragraph.startswith("|")]
    return [
        [[cell.strip() for cell in line.strip("|").split("|")] for line in paragraph.splitlines()]
        for paragraph in paragraphs
    ]


def test_the_page_of_roles_says_what_the_code_does() -> None:
    everywhere, in_one_study = published_tables()

    assert everywhere[0] == ["", *roles.ROLES]
    assert everywhere[2:] == [
        [data.title, *(roles.TABLE[role].get(key, "–") for role in roles.ROLES)] for key, data in roles.DATA.items()
    ]
    assert in_one_study[0] == ["", *roles.MEMBER_ROLES]
    assert in_one_study[2:] == [
        [data.title, *(roles.MEMBER_TABLE[role].get(key, "–") for role in roles.MEMBER_ROLES)]
        for key, data in roles.DATA.items()
        if key != "accounts"
    ]


@pytest.mark.parametrize("role", roles.ROLES)
def test_every_role_has_just_the_permissions_of_the_table(role: str) -> None:
    assert held(role) == roles.permissions(role)
    assert set(roles.TABLE[role].values()) <= {roles.SEE, roles.CHANGE}


@pytest.mark.parametrize("role", roles.ROLES)
def test_no_role_sees_identities_provenance_and_answers_together(role: str) -> None:
    assert len(roles.data_seen(roles.permissions(role))) < 3


@pytest.mark.parametrize("role", roles.MEMBER_ROLES)
def test_no_role_in_one_study_sees_identities_provenance_and_answers_together(role: str) -> None:
    assert not roles.sees_all_apart(roles.member_permissions(role))
    assert roles.sees_all_apart(roles.member_permissions("lead") | roles.member_permissions("steward"))


def test_what_is_kept_apart_is_seen_by_somebody() -> None:
    assert {data for role in roles.ROLES for data in roles.data_seen(roles.permissions(role))} == set(roles.APART)
    assert roles.data_seen(roles.permissions("steward") | roles.permissions("researcher")) == list(roles.APART)


def test_results_by_source_count_as_provenance() -> None:
    assert roles.data_seen([roles.BY_SOURCE]) == ["provenance"]
    assert roles.data_seen([roles.VIEW_REPORT]) == []


def test_migrating_again_puts_a_role_back_and_leaves_other_groups_alone() -> None:
    mine = Group.objects.create(name="auditors")
    mine.permissions.set(Permission.objects.filter(codename="view_identity"))
    Group.objects.get(name="coordinator").permissions.set(Permission.objects.filter(codename="view_provenance"))

    call_command("migrate", verbosity=0)

    assert held("coordinator") == roles.permissions("coordinator")
    assert held("auditors") == {"annotation.view_identity"}
    assert Group.objects.count() == 6


def test_the_role_of_stewards_alone_may_see_identities() -> None:
    assert [role for role in roles.ROLES if "annotation.view_identity" in held(role)] == ["steward"]


# ── what blind readers get ─────────────────────────────────────────────────────────────────────────────────────────


def closed_study() -> Study:
    study = given.closed_study()
    given.verdicts(study, {"E01": "ynyn", "E02": "yyyy"})
    with triggers.lifted():
        Source.objects.filter(name="Source 1").update(name="Canary")
    return study


def read(client: Client, role: str, address: str) -> str:
    client.force_login(factories.staff(role))
    return b"".join(client.get(address)).decode()


@pytest.mark.parametrize("address", ["/reports/plums/", "/reports/plums/pass-rates.csv", "/reports/plums/codebook.csv"])
def test_a_closed_study_shows_sources_to_researchers_only(client: Client, address: str) -> None:
    closed_study()
    sign = "source_kind" if "codebook" in address else "Canary"

    assert sign in read(client, "researcher", address)
    assert sign not in read(client, "coordinator", address)
    assert sign not in read(client, "designer", address)


def test_the_long_file_of_a_closed_study_has_no_sources_for_coordinators(client: Client) -> None:
    closed_study()
    address = "/reports/plums/responses_long.csv"

    assert "Canary" in read(client, "researcher", address)
    assert "source" not in read(client, "coordinator", address)
    client.force_login(factories.staff("designer"))
    assert client.get(address).status_code == 403


def test_the_page_says_to_blind_readers_why_nothing_is_by_source(client: Client) -> None:
    closed_study()

    assert "Sealed for readers who stay blind" in read(client, "coordinator", "/reports/plums/")


def test_a_sealed_and_an_open_report_are_stored_side_by_side() -> None:
    study = closed_study()

    first = results.ensure_report(study, at=factories.NOON, by="ann")
    blind = results.ensure_report(study, at=factories.NOON, by="bob", blind=True)

    assert (first.result["is_sealed"], blind.result["is_sealed"]) == (False, True)
    assert results.ensure_report(study, at=factories.NOON, by="eve") == first
    assert results.ensure_report(study, at=factories.NOON, by="eve", blind=True) == blind


# ── ways round the table ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def administrator(client: Client) -> Client:
    client.force_login(factories.staff("administrator"))
    return client


def save(client: Client, account: User, *names: str, **more: str) -> int:
    """Save an account with these roles as the admin's form would; the status says whether it was taken."""
    form = {
        "username": account.username,
        "groups": groups(*names),
        "is_active": "on",
        "is_staff": "on",
        "date_joined_0": "2026-03-02",
        "date_joined_1": "12:00:00",
    }
    return client.post(reverse("admin:auth_user_change", args=[account.pk]), form | more).status_code


def test_roles_that_together_see_everything_are_refused(administrator: Client) -> None:
    account = User.objects.create_user("carl")

    taken = save(administrator, account, "designer", "researcher")
    refused = save(administrator, account, "steward", "researcher")

    assert (taken, refused) == (302, 200)
    assert {group.name for group in account.groups.all()} == {"designer", "researcher"}


def test_an_administrator_makes_no_superuser_and_gives_no_single_permission(administrator: Client) -> None:
    account = User.objects.create_user("carl")

    save(administrator, account, is_superuser="on", user_permissions=str(Permission.objects.first().pk))  # type: ignore[union-attr]

    account.refresh_from_db()
    assert (account.is_superuser, account.user_permissions.count()) == (False, 0)


def test_an_administrator_takes_no_further_role(administrator: Client) -> None:
    save(administrator, User.objects.get(username="administrator"), "researcher")

    names = User.objects.get(username="administrator").groups.values_list("name", flat=True)
    assert list(names) == ["administrator"]


def test_an_administrator_does_not_touch_a_superuser(administrator: Client) -> None:
    root = User.objects.create_superuser("root")
    pages = [reverse(f"admin:auth_user_{page}", args=[root.pk]) for page in ("change", "delete", "password_change")]
    forms = [{"username": "mine"}, {"post": "yes"}, {"password1": "a-new-one-1", "password2": "a-new-one-1"}]
    chosen = {"action": "delete_selected", "_selected_action": [root.pk], "post": "yes"}
    before = User.objects.filter(pk=root.pk).values().get()

    refused = [administrator.post(page, form).status_code for page, form in zip(pages, forms, strict=True)]
    administrator.post(reverse("admin:auth_user_changelist"), chosen)

    assert refused == [403, 403, 403]
    assert User.objects.filter(pk=root.pk).values().get() == before


def test_a_role_is_not_edited_by_hand(client: Client) -> None:
    client.force_login(User.objects.create_superuser("root"))
    role, mine = Group.objects.get(name="coordinator"), Group.objects.create(name="auditors")

    statuses = [
        client.post(reverse("admin:auth_group_change", args=[group.pk]), {"name": "mine"}).status_code
        for group in (role, mine)
    ]

    assert statuses == [403, 302]


def test_only_the_administrator_allows_an_endpoint() -> None:
    assert [role for role in roles.ROLES if "judges.allow_endpoint" in held(role)] == ["administrator"]
