"""How often each option of a choice was taken, by source; guesses of authorship are a figure of their own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy

from reports.figures.base import Figure, ItemRow, Listing, Row, item_cells, item_fields
from reports.lazy import pd
from reports.numbers import whole

if TYPE_CHECKING:
    from reports.dataset import Dataset, StepItem


@dataclass(frozen=True, kw_only=True)
class Share:
    """How many of the answers about a source's stories took the option."""

    source: str
    n: int
    of: int


@dataclass(frozen=True, kw_only=True)
class OptionShares:
    value: str
    label: str
    n: int
    by_source: tuple[Share, ...]


@dataclass(frozen=True, kw_only=True)
class ItemShares(ItemRow):
    n: int
    options: tuple[OptionShares, ...]


class Shares(Figure[Listing[ItemShares]]):
    key = "shares"
    title = gettext_lazy("What was chosen")
    position = 40
    result = Listing[ItemShares]
    tables = ("shares",)

    def compute(self, dataset: Dataset) -> Listing[ItemShares]:
        return Listing(tuple(_item_shares(dataset, item) for item in dataset.items if _is_choice(item)))

    def rows(self, result: Listing[ItemShares]) -> dict[str, Iterator[Row]]:
        return {"shares": _rows(result)}

    def lines(self, result: Listing[ItemShares]) -> Iterator[str]:
        for row in result.rows:
            yield f"\n{row.title}: how often each option was chosen, of {whole(row.n)} answers"
            for option in row.options:
                sources = "".join(f", {s.source} {whole(s.n)} of {whole(s.of)}" for s in option.by_source)
                yield f"  {option.label[:34]:<34} {whole(option.n):>6}{sources}"


def _is_choice(item: StepItem) -> bool:
    return item.level == "nominal" and item.is_about_a_story and not item.type.is_verdict and not item.is_guess


def _item_shares(dataset: Dataset, item: StepItem) -> ItemShares:
    answers = dataset.answers_to(item)
    options = tuple(
        OptionShares(
            value=option["value"],
            label=option["label"],
            n=int((answers["value"] == option["value"]).sum()),
            by_source=tuple(_share(answers, name, option["value"]) for name, _ in dataset.sources),
        )
        for option in item.item.options
    )
    return ItemShares(**item_fields(item), n=len(answers), options=options)


def _share(answers: pd.DataFrame, source: str, option: str) -> Share:
    of_source = answers[answers["source"] == source]
    return Share(source=source, n=int((of_source["value"] == option).sum()), of=len(of_source))


def _rows(result: Listing[ItemShares]) -> Iterator[Row]:
    for row in result.rows:
        for option in row.options:
            for share in (Share(source="all", n=option.n, of=row.n), *option.by_source):
                yield item_cells(row) | {"option": option.value, "source": share.source, "n": share.n, "of": share.of}
