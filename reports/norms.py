"""Norms of an instrument: how far raters agreed, and what they answered, in closed studies that let their figures in.

Nothing is said of fewer than three studies: of two, whoever made one knows the other. Of three or four it is the median
alone: least and quartiles of three are the figures of all three, exactly.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import quantiles
from typing import Any

from django.db.models import F, Window
from django.db.models.functions import RowNumber

from reports.models import KeyFigures, SharedNorms
from studies.models import Study

FEWEST_STUDIES = 3
FEWEST_WITH_SPREAD = 5

Item = tuple[str, str]  # the instrument's version, and the item's key
ItemFigures = Mapping[str, Any]


class NotClosed(ValueError):
    """Figures of a study that is not closed are not final, and enter no norms."""


@dataclass(frozen=True, kw_only=True)
class NormSpread:
    """The least value of a figure, and its lower and upper quartile."""

    least: float
    first: float
    third: float


@dataclass(frozen=True, kw_only=True)
class Distribution:
    """A figure over n studies; spread : None of fewer than five"""

    n: int
    median: float
    spread: NormSpread | None = None


@dataclass(frozen=True, kw_only=True)
class Norm:
    """One figure of one item; own : that of the study which is held beside them"""

    distribution: Distribution | None
    own: float | None = None


@dataclass(frozen=True, kw_only=True)
class ItemNorms:
    """An item: agreement, and its share of Yes in percent or its mean on the scale."""

    version: str
    title: str
    name: str
    is_percent: bool
    agreement: Norm
    level: Norm


def share(study: Study, *, by: str, at: datetime) -> None:
    """Let the figures of the study into norms. Raises NotClosed."""
    if not study.is_closed:
        raise NotClosed
    SharedNorms.objects.get_or_create(study=study, defaults={"by": by, "at": at})


def withhold(study: Study) -> None:
    """Take the figures of the study out of norms, from now on."""
    SharedNorms.objects.filter(study=study).delete()


def find_shared(study: Study) -> SharedNorms | None:
    """Who let the study's figures into norms, and when; None if nobody did."""
    return SharedNorms.objects.filter(study=study).first()


def read_norms(slug: str, *, beside: Study | None = None, sees_sources: bool = False) -> list[ItemNorms]:
    """The norms of the items of an instrument, version by version; none where too few studies have any. Two queries.

    beside : the study whose own figures stand there, too; it is counted only if it lets its figures in
    sees_sources : whether the reader may see sources of that study; else its own figures are those of reports without
    """
    shared = list(_shared(slug))
    own = _own(beside, slug, sees_sources=sees_sources) if beside else {}
    titles: dict[Item, ItemFigures] = {}
    for items in [*shared, own]:
        titles |= {key: row for key, row in items.items() if key not in titles}
    norms = [_of_item(key, row, shared, own.get(key)) for key, row in titles.items()]
    return [row for row in norms if row.agreement.distribution or row.level.distribution]


def _of_item(
    key: Item, row: ItemFigures, shared: Sequence[Mapping[Item, ItemFigures]], own: ItemFigures | None
) -> ItemNorms:
    def norm(name: str) -> Norm:
        values = [items[key][name] for items in shared if key in items and items[key][name] is not None]
        return Norm(distribution=distribute(values), own=own[name] if own else None)

    return ItemNorms(
        version=key[0],
        title=row["title"],
        name=row["name"],
        is_percent=row["is_percent"],
        agreement=norm("agreement"),
        level=norm("level"),
    )


def distribute(values: Collection[float]) -> Distribution | None:
    """The median of the values of studies, with least and quartiles of five or more; None of fewer than three."""
    if len(values) < FEWEST_STUDIES:
        return None
    first, median, third = quantiles(values, n=4, method="inclusive")
    spread = NormSpread(least=min(values), first=first, third=third) if len(values) >= FEWEST_WITH_SPREAD else None
    return Distribution(n=len(values), median=median, spread=spread)


def _shared(slug: str) -> Iterator[dict[Item, ItemFigures]]:
    """The items of the instrument in each study that lets its figures in and was answered by people.

    Only of reports with sources, which are computed of closed studies alone: those of a live study are not final.
    """
    studies = Study.objects.filter(state=Study.State.CLOSED, shared_norms__isnull=False)
    rank = Window(RowNumber(), partition_by=[F("study")], order_by=F("day").desc())
    rows = KeyFigures.objects.filter(study__in=studies, is_sealed=False).annotate(rank=rank).filter(rank=1)
    for figures in rows.values_list("figures", flat=True):
        if figures.get("raters") == "real" and (items := _items(figures, slug)):
            yield items


def _own(study: Study, slug: str, *, sees_sources: bool) -> dict[Item, ItemFigures]:
    """The items of the latest report that the reader may see: without sources, of whoever may not see them."""
    rows = study.key_figures.all() if sees_sources else study.key_figures.filter(is_sealed=True)
    row = rows.order_by("-day", "is_sealed").first()
    return _items(row.figures, slug) if row else {}


def _items(figures: Mapping[str, Any], slug: str) -> dict[Item, ItemFigures]:
    """The items of an instrument by version and key; the first of an item that is asked in several steps."""
    items: dict[Item, ItemFigures] = {}
    for row in figures.get("items", ()):
        if row["instrument"] == slug:
            items.setdefault((row["version"], row["item"]), row)
    return items
