"""One outcome by one thing that is recorded of the stories, as the figures about such factors share it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from reports.document import columns
from reports.document.columns import QUIET, ends
from reports.document.model import TableColumn
from reports.document.values import Interval

if TYPE_CHECKING:
    from reports.dataset import Dataset, OutcomeTable

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class FactorRow:
    """Which outcome a row is about, and by which factor."""

    factor: str
    key: str
    title: str
    is_percent: bool

    @property
    def places(self) -> int:
        return 1 if self.is_percent else 2


def factor_fields(factor: str, table: OutcomeTable) -> dict[str, Any]:
    """The fields of `FactorRow`."""
    outcome = table.outcome
    return {"factor": factor, "key": outcome.key, "title": outcome.title, "is_percent": outcome.is_percent}


def factor_columns(of: Callable[[T], FactorRow]) -> list[TableColumn[T]]:
    """What a row is about, in the file alone."""
    return [
        columns.in_file("factor", lambda row: of(row).factor),
        columns.in_file("outcome", lambda row: of(row).key),
        columns.in_file("title", lambda row: of(row).title),
    ]


def ends_column(of: Callable[[T], FactorRow], interval: Callable[[T], Interval]) -> TableColumn[T]:
    """An interval with the decimals of its outcome."""
    return columns.with_places(
        lambda places: columns.interval(interval, write=ends(places), css=QUIET), lambda row: of(row).places
    )


def levels_by_factor(dataset: Dataset) -> dict[str, dict[str, str]]:
    """Of each factor, in alphabetical order, the level of each story that has one."""
    level_by_factor: dict[str, dict[str, str]] = {}
    for story, source in dataset.source_by_story.items():
        for name, value in source.factors.items():
            if level := str(value).strip():
                level_by_factor.setdefault(name, {})[story] = level
    return dict(sorted(level_by_factor.items()))


def as_number(text: str) -> float | None:
    """The number that a level says, 7, 0.5 or 13B (thirteen thousand million); None if it says none."""
    unit = {"k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12}.get(text[-1:].casefold(), 0.0)
    try:
        number = float(text[:-1]) * unit if unit else float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
