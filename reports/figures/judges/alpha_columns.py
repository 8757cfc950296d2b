"""The first columns of a table of Krippendorff's alphas, item by item."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from django.utils.translation import gettext as _

from reports.document import columns
from reports.document.columns import LEAD, AboutItem
from reports.document.model import Head, TableColumn
from reports.document.phrases import phrase
from reports.document.values import Estimate, Floor, Interval
from reports.numbers import coefficient, coefficients


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


def alpha_columns(rows: Sequence[A], head: Head) -> list[TableColumn[A]]:
    return [
        columns.item(head),
        columns.number("alpha", _("Alpha"), lambda row: row.coefficient.value, write=coefficient, css=LEAD),
        columns.interval(lambda row: row.interval, write=coefficients),
        columns.strip(rows, lambda row: (row.coefficient, row.interval, row.floor)),
        columns.floor(phrase(_("Chance floor<br>mean, 97.5th")), lambda row: row.floor, write=coefficient),
        columns.number(
            *("among_models", phrase(_("Models’<br>stories"))),
            of=lambda row: row.among_models and row.among_models.value,
            write=coefficient,
        ),
    ]
