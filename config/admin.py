"""Accounts of the staff: who has which role, without a way to give oneself or others more than the table allows."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.forms import UserChangeForm
from django.contrib.auth.models import Group, User
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from config import roles

admin.site.unregister([User, Group])


class RoleField(forms.ModelMultipleChoiceField):  # type: ignore[type-arg]
    def label_from_instance(self, obj: Any) -> str:
        return roles.title(obj.name)


class AccountForm(UserChangeForm):  # type: ignore[type-arg]
    def clean_groups(self) -> Any:
        groups = self.cleaned_data["groups"]
        names = groups.values_list("permissions__content_type__app_label", "permissions__codename")
        everywhere = {f"{app}.{codename}" for app, codename in names}
        if any(roles.sees_all_apart(everywhere | roles.member_permissions(role)) for role in self._roles_in_studies()):
            message = _(
                "With its role in a study, this account would see identities, provenance and answers together. "
                "Choose another role."
            )
            raise forms.ValidationError(message)
        if roles.sees_all_apart(everywhere):
            message = _("Together these roles would see identities, provenance and answers. Take one away.")
            raise forms.ValidationError(message)
        return groups

    def _roles_in_studies(self) -> set[str]:
        """The roles that the account has in single studies."""
        memberships = self.instance.memberships if self.instance.pk else None
        return set(memberships.values_list("role", flat=True)) if memberships else set()


@admin.register(User)
class AccountAdmin(UserAdmin):  # type: ignore[type-arg]
    """An administrator gives others roles, and nothing else; nobody but a superuser touches a superuser."""

    form = AccountForm

    def formfield_for_manytomany(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "groups":
            kwargs["form_class"] = RoleField
        return super().formfield_for_manytomany(db_field, request, **kwargs)

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> tuple[str, ...]:
        if request.user.is_superuser:
            return ()
        return ("is_superuser", "user_permissions", *(("groups",) if obj and obj.pk == request.user.pk else ()))

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        return super().has_change_permission(request, obj) and _may_touch(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        return super().has_delete_permission(request, obj) and _may_touch(request, obj)


def _may_touch(request: HttpRequest, account: User | None) -> bool:
    # Anyone who could set a superuser's password would be one.
    return bool(request.user.is_superuser) or account is None or not account.is_superuser


@admin.register(Group)
class RoleAdmin(GroupAdmin):
    """The five roles are put back after every migration, so that only other groups can be changed here."""

    list_display = ("title",)

    @admin.display(description=gettext_lazy("name"), ordering="name")
    def title(self, group: Group) -> str:
        return roles.title(group.name)

    def has_change_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        return super().has_change_permission(request, obj) and not (obj and obj.name in roles.ROLES)

    def has_delete_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        return super().has_delete_permission(request, obj) and not (obj and obj.name in roles.ROLES)
