"""How often each option of a choice was taken, by source; guesses of authorship are a figure of their own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from reports.document import columns
from reports.document.model import DocumentSection, Files, Head, ReportTable, RowGroup
from reports.document.phrases import in_language, joined
from reports.figures.base import Figure, ItemRow, Listing, item_fields
from reports.lazy import pd
from reports.numbers import whole

if TYPE_CHECKING:
    from reports.dataset import Dataset, StepItem


@dataclass(frozen=True, kw_only=True)
class Share:
    """How many of the answers about a source's stories took the option. source : "" for all together"""

    source: str
    n: int
    of: int


@dataclass(frozen=True, kw_only=True)
class OptionShares:
    value: str
    label: str
    n: int
    by_source: tuple[Share, ...]

    def shares(self, of: int) -> tuple[Share, ...]:
        """That of all answers, of which there are `of`, and those by source."""
        return (Share(source="", n=self.n, of=of), *self.by_source)


@dataclass(frozen=True, kw_only=True)
class ItemShares(ItemRow):
    n: int
    options: tuple[OptionShares, ...]


class Shares(Figure[Listing[ItemShares]]):
    key = "shares"
    title = gettext_lazy("Answer frequencies")
    position = 40
    section = "items"
    tables = ("shares",)

    def compute(self, dataset: Dataset) -> Listing[ItemShares]:
        return Listing(tuple(_item_shares(dataset, item) for item in dataset.items if _is_choice(item)))

    def describe(self, result: Listing[ItemShares], head: Head) -> Iterator[DocumentSection]:
        tables = [_table(row, head) for row in result.rows]
        yield DocumentSection(
            heading=_("Answer frequencies"), body=[*tables, Files(words=_("All choices"), table="shares")]
        )


def _table(row: ItemShares, head: Head) -> ReportTable[tuple[OptionShares, Share]]:
    rows = {option.value: [(option, share) for share in option.shares(row.n)] for option in row.options}
    counted = ngettext("%(shown)s answer.", "%(shown)s answers.", row.n) % {"shown": whole(row.n)}
    return ReportTable(
        name="shares",
        label=_("%(title)s, table") % {"title": row.title},
        caption=joined(in_language(row.title, head.language), counted, by=", "),
        rows=[pair for pairs in rows.values() for pair in pairs],
        groups=[
            RowGroup(heading=option.label, language=head.language, rows=rows[option.value]) for option in row.options
        ],
        columns=[
            columns.item_in_file(lambda pair: row),
            columns.in_file("option", lambda pair: pair[0].value),
            columns.source(lambda pair: pair[1]),
            columns.count_of("n", _("Chosen"), lambda pair: pair[1].n, n_all=lambda pair: pair[1].of),
            columns.in_file("n_all", lambda pair: pair[1].of),
        ],
    )


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
