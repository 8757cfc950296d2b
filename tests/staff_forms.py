"""What a browser would post of a page of the admin."""

from typing import Any

from django.test import Client


def read_form(client: Client, address: str) -> dict[str, Any]:
    """The fields of that page with their values, as it stands, inlines included."""
    context = client.get(address).context
    forms = [context["adminform"].form]
    for formset in context["inline_admin_formsets"]:
        forms += [formset.formset.management_form, *formset.formset.initial_forms]
    return {
        part.add_prefix(name): value
        for part in forms
        for name in part.fields
        if (value := part[name].value()) is not None and value is not False
    }


def find_row(form: dict[str, Any], name: str, value: object) -> str:
    """The prefix of the inline row in which that field says so, as "steps-0"."""
    suffix = f"-{name}"
    return next(key.removesuffix(suffix) for key, text in form.items() if key.endswith(suffix) and text == value)


def add_row(form: dict[str, Any], prefix: str, fields: dict[str, Any]) -> dict[str, Any]:
    """The form with one more row in that inline."""
    n = int(form[f"{prefix}-TOTAL_FORMS"])
    return form | {f"{prefix}-TOTAL_FORMS": n + 1} | {f"{prefix}-{n}-{name}": value for name, value in fields.items()}
