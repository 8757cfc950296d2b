"""What an account of the staff may see and do in one study: the one place where that is decided.

An account has roles in all studies (groups of permissions) and may have a role in single ones (`Membership`); what
either allows is allowed. `docs/roles.md` publishes both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib.auth.models import AnonymousUser, User
from django.db import transaction
from django.db.models import QuerySet

from config import roles
from studies.models import Membership, Study


@dataclass(frozen=True)
class Access:
    """What an account may do in one study.

    role : the account's role in this study; "" without one
    permissions : all that it may do there, as Django names them; a superuser, who may all, has none by name
    """

    study: Study
    role: str
    permissions: frozenset[str]
    is_superuser: bool = False

    def may(self, permission: str) -> bool:
        """Whether the account has that permission in the study."""
        return self.is_superuser or permission in self.permissions

    @property
    def is_blind(self) -> bool:
        """Whether results by source are kept from the account even when the study is closed."""
        return not self.may(roles.BY_SOURCE)


def access_to(study: Study, user: User | AnonymousUser) -> Access:
    """What the account may see and do in the study; nothing unless it is one of the staff. One query, and Django's two.

    A role in the study that would complete identities, provenance and answers adds nothing: pages refuse to give it,
    and should an account come by it otherwise, it stays blind to what the role would add.
    """
    if not (user.is_active and user.is_staff):
        return Access(study, "", frozenset())
    if user.is_superuser:
        return Access(study, "", frozenset(), is_superuser=True)
    role = Membership.objects.filter(study=study, user=user).values_list("role", flat=True).first() or ""
    return _with_role(study, role, frozenset(user.get_all_permissions()))


def list_access(studies: Sequence[Study], user: User | AnonymousUser) -> list[Access]:
    """What the account may see and do in each of the studies, as `access_to` says it. One query, and Django's two."""
    if not (user.is_active and user.is_staff) or user.is_superuser:
        return [access_to(study, user) for study in studies]
    everywhere = frozenset(user.get_all_permissions())
    memberships = Membership.objects.filter(study__in=[study.pk for study in studies], user_id=user.pk)
    role_by_study = dict(memberships.values_list("study_id", "role"))
    return [_with_role(study, role_by_study.get(study.pk, ""), everywhere) for study in studies]


def _with_role(study: Study, role: str, everywhere: frozenset[str]) -> Access:
    together = everywhere | roles.member_permissions(role) if role else everywhere
    return Access(study, role, everywhere if roles.sees_all_apart(together) else together)


def visible_studies(user: User | AnonymousUser, permission: str) -> QuerySet[Study]:
    """The studies in which the account has that permission: all, or those in which it has a role that gives it."""
    if not (user.is_active and user.is_staff):
        return Study.objects.none()
    if user.has_perm(permission):
        return Study.objects.all()
    everywhere = user.get_all_permissions()
    giving = [
        role
        for role in roles.MEMBER_TABLE
        if permission in roles.member_permissions(role)
        and not roles.sees_all_apart({*everywhere, *roles.member_permissions(role)})
    ]
    return Study.objects.filter(memberships__user_id=user.pk, memberships__role__in=giving)


def may_somewhere(user: User | AnonymousUser, permission: str) -> bool:
    """Whether the account has that permission in all studies or in one: for what belongs to no study."""
    return user.has_perm(permission) or visible_studies(user, permission).exists()


def make_lead(study: Study, user: User | AnonymousUser) -> Membership | None:
    """The maker of a study as its lead; None if the account, as a steward of all studies, must not be."""
    if user.is_anonymous:
        return None
    permitted = {*user.get_all_permissions(), *roles.member_permissions(Membership.Role.LEAD)}
    if not user.is_superuser and roles.sees_all_apart(permitted):
        return None
    return Membership.objects.get_or_create(study=study, user=user, defaults={"role": Membership.Role.LEAD})[0]


class LastLead(ValueError):
    """A study keeps at least one lead."""


@transaction.atomic
def change_role(membership: Membership, role: str) -> None:
    """Give the member another role, or none ("") and so end the membership. Raises LastLead."""
    # Two leads that step down at once must not both find the other still there.
    rows = Membership.objects.select_for_update().filter(study=membership.study_id, role=Membership.Role.LEAD)
    if [lead.pk for lead in rows] == [membership.pk] and role != Membership.Role.LEAD:
        raise LastLead
    if role:
        Membership.objects.filter(pk=membership.pk).update(role=role)
    else:
        Membership.objects.filter(pk=membership.pk).delete()
