"""Who may see and do what in one study: roles in all studies and in this one together, and never all three."""

import pytest
from django.contrib.auth.models import AnonymousUser, Group, User
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from config import roles
from studies import access as accesses
from studies.access import access_to, make_lead, visible_studies
from studies.models import Membership, Study
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    return factories.study(planned=False)


def member(study: Study, role: str, *, everywhere: str = "") -> User:
    """An account of the staff with that role in the study, and perhaps one in all studies."""
    user = User.objects.create_user(f"{role}-{everywhere}", is_staff=True)
    user.groups.set(Group.objects.filter(name=everywhere))
    Membership.objects.create(study=study, user=user, role=role)
    return User.objects.get(pk=user.pk)


@pytest.mark.parametrize("role", roles.MEMBER_ROLES)
def test_a_role_in_a_study_gives_there_what_the_table_says_and_elsewhere_nothing(study: Study, role: str) -> None:
    other = Study.objects.create(slug="pears", title="Pears")
    user = member(study, role)

    assert access_to(study, user).permissions == roles.member_permissions(role)
    assert access_to(other, user).permissions == frozenset()


@pytest.mark.parametrize("role", roles.ROLES)
def test_a_role_in_all_studies_keeps_its_meaning_in_each(study: Study, role: str) -> None:
    assert access_to(study, factories.staff(role)).permissions == roles.permissions(role)


def test_both_count(study: Study) -> None:
    user = member(study, "researcher", everywhere="coordinator")

    permitted = roles.permissions("coordinator") | roles.member_permissions("researcher")
    assert access_to(study, user).permissions == permitted
    assert not access_to(study, user).is_blind


def test_a_coordinator_of_a_study_is_blind_and_a_lead_is_not(study: Study) -> None:
    assert access_to(study, member(study, "coordinator")).is_blind
    assert not access_to(study, member(study, "lead")).is_blind


def test_a_superuser_may_everything(study: Study) -> None:
    access = access_to(study, User.objects.create_superuser("root"))

    assert access.may("annotation.view_identity")
    assert access.may("studies.change_membership")
    assert not access.is_blind


@pytest.mark.parametrize("user", [AnonymousUser(), User(username="rater"), User(is_staff=True, is_active=False)])
def test_whoever_is_not_of_the_staff_may_nothing(study: Study, user: User | AnonymousUser) -> None:
    assert access_to(study, user).permissions == frozenset()
    assert not visible_studies(user, "studies.view_study").exists()


def test_nobody_is_lead_and_steward_at_once(study: Study) -> None:
    user = member(study, "lead")

    with pytest.raises(IntegrityError), transaction.atomic():
        Membership.objects.bulk_create([Membership(study=study, user=user, role="steward")])


def test_the_database_knows_four_roles(study: Study) -> None:
    user = member(study, "lead")

    with pytest.raises(IntegrityError), transaction.atomic():
        Membership.objects.filter(user=user).update(role="owner")


@pytest.mark.parametrize(("everywhere", "role"), [("researcher", "steward"), ("steward", "lead")])
def test_a_role_that_would_show_all_three_is_refused_and_adds_nothing(study: Study, everywhere: str, role: str) -> None:
    user = member(study, role, everywhere=everywhere)
    membership = Membership.objects.get(user=user)

    with pytest.raises(ValidationError, match="identities, provenance and answers"):
        membership.full_clean()
    assert access_to(study, user).permissions == roles.permissions(everywhere)
    added = "annotation.view_identity" if role == "steward" else "studies.change_story"
    assert not visible_studies(user, added).exists()


def test_visible_studies_are_all_or_those_with_a_role_that_allows_it(study: Study) -> None:
    Study.objects.create(slug="pears", title="Pears")

    coordinator = member(study, "coordinator")
    assert list(visible_studies(coordinator, "annotation.view_response")) == [study]
    assert list(visible_studies(coordinator, "studies.view_provenance")) == []
    assert visible_studies(factories.staff("coordinator"), "annotation.view_response").count() == 2


def test_whoever_makes_a_study_is_its_lead_unless_a_steward_of_all(study: Study) -> None:
    designer, steward = factories.staff("designer"), factories.staff("steward")

    make_lead(study, designer)
    make_lead(study, designer)
    assert make_lead(study, steward) is None
    assert list(Membership.objects.values_list("user__username", "role")) == [("designer", "lead")]


def test_a_study_keeps_a_lead(study: Study) -> None:
    first = Membership.objects.get(user=member(study, "lead"))

    with pytest.raises(accesses.LastLead):
        accesses.change_role(first, "researcher")
    with pytest.raises(accesses.LastLead):
        accesses.change_role(first, "")
    member(study, "lead", everywhere="coordinator")
    accesses.change_role(first, "")
    assert Membership.objects.count() == 1
