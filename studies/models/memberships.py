"""Who of the staff works on a study, and as what."""

from __future__ import annotations

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from config import roles
from studies.models.studies import Study


class Membership(models.Model):
    """One role an account and study: so nobody is lead and steward at once, which the database holds."""

    class Role(models.TextChoices):
        LEAD = "lead", roles.TITLES["lead"]
        COORDINATOR = "coordinator", roles.TITLES["coordinator"]
        RESEARCHER = "researcher", roles.TITLES["researcher"]
        STEWARD = "steward", roles.TITLES["steward"]

    study = models.ForeignKey(Study, verbose_name=_("study"), on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, verbose_name=_("account"), on_delete=models.CASCADE, related_name="memberships"
    )
    role = models.CharField(_("role"), max_length=12, choices=Role.choices)
    since = models.DateTimeField(_("since"), default=timezone.now)

    class Meta:
        verbose_name = _("membership")
        verbose_name_plural = _("memberships")
        ordering = ["study", "user"]
        constraints = [
            models.UniqueConstraint(
                fields=["study", "user"],
                name="one_role_in_a_study",
                violation_error_message=_("This account works on the study already; change its role instead."),
            ),
            models.CheckConstraint(
                condition=models.Q(role__in=["lead", "coordinator", "researcher", "steward"]),
                name="role_is_one_of_four",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user_id and self.user.get_username()}, {self.role} of {self.study_id and self.study.slug}"

    def clean(self) -> None:
        """Refuse a role that, with what the account may see everywhere, would show all that is kept apart."""
        if self.user_id is None or self.role not in roles.MEMBER_TABLE or self.user.is_superuser:
            return
        if roles.sees_all_apart({*self.user.get_all_permissions(), *roles.member_permissions(self.role)}):
            message = gettext(
                "With the roles that this account has in all studies it would see identities, provenance and answers."
            )
            raise ValidationError({"role": message})
