"""Krippendorff's alphas item by item, beside those among models' stories; the first columns of their table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from django.utils.translation import gettext as _

from reports.document import columns
from reports.document.columns import LEAD, AboutItem
from reports.document.model import Head, TableColumn
from reports.document.phrases import phrase
from reports.document.values import Estimate, Floor, Interval
from reports.figures.base import alpha_fields, estimate
from reports.lazy import agreement
from reports.numbers import coefficient

if TYPE_CHECKING:
    from reports.dataset import Dataset
    from reports.dataset.judged import Judged
    from stats.arrays import FloatArray


class HasAlpha(AboutItem, Protocol):
    """An item with its alpha, and the same among models' stories."""

    @property
    def coefficient(self) -> Estimate: ...
    @property
    def interval(self) -> Interval: ...
    @property
    def floor(self) -> Floor: ...
    @property
    def among_models(self) -> Estimate | None: ...


A = TypeVar("A", bound=HasAlpha)


def measure_alpha(dataset: Dataset, material: Judged, ratings: FloatArray, level: str, *salt: int) -> dict[str, Any]:
    """The fields of `HasAlpha` that ratings of the material's units give, shape (R, U); salt : of the seed"""
    of_models = ratings[:, material.is_of_models]
    return {
        **alpha_fields(dataset, ratings, level, material.clusters, *salt),
        "among_models": estimate(agreement.krippendorff_alpha, of_models, level)
        if material.has_mixed_stories
        else None,
    }


def alpha_columns(rows: Sequence[A], head: Head) -> list[TableColumn[A]]:
    return [
        columns.item(head),
        *columns.with_interval("alpha", _("Alpha"), lambda row: row.coefficient, lambda row: row.interval, css=LEAD),
        columns.strip(rows, lambda row: (row.coefficient, row.interval, row.floor)),
        columns.floor(phrase(_("Chance floor<br>mean, 97.5th")), lambda row: row.floor, write=coefficient),
        columns.number(
            *("among_models", phrase(_("Models’<br>stories"))),
            of=lambda row: getattr(row.among_models, "value", None),
            write=coefficient,
        ),
    ]
