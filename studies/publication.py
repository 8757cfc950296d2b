"""What was published never changes, whether row by row or many at once."""

from collections.abc import Iterable
from typing import Any

from django.db import models


class AlreadyPublished(Exception):
    """What was published never changes; the message has the way out."""


class AlreadyFrozen(Exception):
    """What a frozen protocol speaks of never changes; the message is a sentence with the way out."""


def list_changed(row: models.Model, fields: Iterable[str], *, among: models.QuerySet[Any]) -> list[str] | None:
    """Which of the fields would get another value by saving the row; None if it is not among those. One query."""
    stored = among.filter(pk=row.pk).values(*fields).first()
    return None if stored is None else [name for name, value in stored.items() if getattr(row, name) != value]


def explain_published(published: object) -> AlreadyPublished:
    """That an instrument or a cloze never changes."""
    return AlreadyPublished(f"{published} is published and never changes; make a new version")


def explain_published_item(item: Any, refused_change: str) -> AlreadyPublished:
    """That an item of a published instrument never changes, or stays."""
    return AlreadyPublished(
        f"{item.instrument} is published, so its item {item.key} {refused_change}; make a new version"
    )


class ItemQuerySet(models.QuerySet):  # type: ignore[type-arg]
    """Items, of which those of a published instrument are neither changed nor deleted, and none is added to them."""

    def update(self, **fields: Any) -> int:
        """As Django's. Raises AlreadyPublished if a published instrument would ask something else."""
        if not set(fields) <= set(self.model.MAY_CHANGE):
            self._refuse("never changes")
        target = fields.get("instrument", fields.get("instrument_id"))
        if target is not None:
            self._refuse_into([getattr(target, "pk", target)])
        return super().update(**fields)

    def bulk_update(self, objs: Iterable[Any], fields: Iterable[str], *args: Any, **kwargs: Any) -> int:
        """As Django's. Raises AlreadyPublished if a published instrument would ask something else."""
        items, names = list(objs), list(fields)
        if not set(names) <= set(self.model.MAY_CHANGE):
            self.filter(pk__in=[item.pk for item in items])._refuse("never changes")
        if not {"instrument", "instrument_id"}.isdisjoint(names):
            self._refuse_into({item.instrument_id for item in items})
        return super().bulk_update(items, names, *args, **kwargs)

    def delete(self) -> tuple[int, dict[str, int]]:
        """As Django's. Raises AlreadyPublished if one belongs to a published instrument."""
        self._refuse("stays")
        return super().delete()

    # A manager must not have it: `Item.objects.delete()` would delete all. An override loses Django's own mark.
    delete.queryset_only = True  # type: ignore[attr-defined]

    def bulk_create(self, objs: Iterable[Any], *args: Any, **kwargs: Any) -> list[Any]:
        """As Django's. Raises AlreadyPublished if one is for a published instrument."""
        items = list(objs)
        self._refuse_into({item.instrument_id for item in items})
        return super().bulk_create(items, *args, **kwargs)

    def _refuse(self, refused_change: str) -> None:
        item = self.filter(instrument__status="published").select_related("instrument").first()
        if item is not None:
            raise explain_published_item(item, refused_change)

    def _refuse_into(self, instruments: Iterable[int]) -> None:
        published = self.model.instrument.get_queryset().filter(pk__in=instruments, status="published")
        if (instrument := published.first()) is not None:
            raise explain_published(instrument)
