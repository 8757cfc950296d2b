"""What tables of judges refuse: changes to what was used, and names that no file defines."""

from __future__ import annotations

from django.core.exceptions import ValidationError
from django.db import models

from judges import addresses, metrics, providers


class AlreadyUsed(Exception):
    """This has been used in a run, and what was used never changes. Make another."""


def refuse_change(row: models.Model, fields: tuple[str, ...]) -> None:
    """Raise AlreadyUsed if one of the fields differs from what the database holds."""
    stored = type(row)._default_manager.filter(pk=row.pk).values(*fields).first() or {}
    if changed := [name for name, value in stored.items() if getattr(row, name) != value]:
        raise AlreadyUsed(
            f"{row} has been used in a run, so its {', '.join(changed)} cannot change; make another instead"
        )


def check_address(url: str) -> None:
    try:
        addresses.parse_address(url)
    except addresses.InvalidAddress as error:
        raise ValidationError(str(error)) from None


def check_provider(slug: str) -> None:
    try:
        providers.find_provider(slug)
    except providers.UnknownProvider as error:
        raise ValidationError(str(error)) from None


def check_metric(slug: str) -> None:
    try:
        metrics.find_metric(slug)
    except metrics.UnknownMetric as error:
        raise ValidationError(str(error)) from None
