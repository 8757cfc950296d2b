"""What tables of judges refuse: changes to what was used, and names that no file defines."""

from __future__ import annotations

from typing import Any, ClassVar

from django.core.exceptions import ValidationError
from django.db import models

from judges import addresses, metrics, providers
from studies.publication import list_changed


class AlreadyUsed(Exception):
    """This has been used in a run, and what was used never changes. Make another."""


def _refuse_change(row: models.Model, fields: tuple[str, ...]) -> None:
    """Raise AlreadyUsed if one of the fields differs from what the database holds."""
    if changed := list_changed(row, fields, among=type(row)._default_manager.all()):
        raise AlreadyUsed(
            f"{row} has been used in a run, so its {', '.join(changed)} cannot change; make another instead"
        )


class FrozenOnceUsed(models.Model):
    """A row whose content stays as it is from the first run that uses it; whoever wants another makes one."""

    CONTENT: ClassVar[tuple[str, ...]]

    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        if self.is_used():
            _refuse_change(self, self.CONTENT)
        super().save(*args, **kwargs)

    @property
    def content(self) -> dict[str, Any]:
        """Everything that the row says of itself, as runs freeze it."""
        return {name: getattr(self, name) for name in self.CONTENT}

    def is_used(self) -> bool:
        """Whether a run has been planned with it."""
        raise NotImplementedError


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
