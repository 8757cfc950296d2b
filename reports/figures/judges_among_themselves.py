"""How far judges agree with each other, which needs no people: alpha among them, item by item.

Judges that agree are no evidence that they agree with people: several that share a bias make a confident panel. Judges
that were shown what people answered to other stories agree by what they were shown, and are often the same models once
more: beside others that were not they are left out, and named.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext_lazy

from reports.dataset.judged import judged, select_anchored
from reports.figures.base import (
    Estimate,
    Figure,
    Floor,
    Interval,
    ItemRow,
    Listing,
    Row,
    chance_floor,
    estimate,
    interval,
    item_cells,
    item_fields,
    note_of,
    weakest_note,
)
from reports.lazy import agreement, intervals, np
from reports.numbers import coefficient, coefficients
from reports.reasons import to_english

if TYPE_CHECKING:
    from reports.dataset import Dataset, StepItem
    from reports.dataset.judged import Judged
    from stats.arrays import FloatArray

SALT = 27  # of the seed


@dataclass(frozen=True, kw_only=True)
class PairwiseAgreement(Estimate):
    """Two judges: percent of the units on which both give the same answer."""

    first: str
    second: str
    n: int


@dataclass(frozen=True, kw_only=True)
class AgreementAmongJudges(ItemRow):
    """n_judges : with answers; mean : of all their answers, None where answers are options

    anchored : judges that were shown what people answered and are left out of all but the pairs
    """

    level: str
    n_judges: int
    coefficient: Estimate
    interval: Interval
    floor: Floor
    percent_agreement: Estimate
    among_models: Estimate | None
    mean: float | None
    pairs: tuple[PairwiseAgreement, ...]
    anchored: tuple[str, ...]


class JudgesAmongThemselves(Figure[Listing[AgreementAmongJudges]]):
    key = "judges_among_themselves"
    title = gettext_lazy("Judges among themselves")
    position = 129
    result = Listing[AgreementAmongJudges]
    tables = ("judges-among-themselves", "pairs-of-judges")
    is_shown_sealed = False
    nothing = Listing[AgreementAmongJudges]()

    def compute(self, dataset: Dataset) -> Listing[AgreementAmongJudges]:
        if len(dataset.models["rater"].unique()) < 2:
            return Listing()
        items = [item for item in dataset.items if item.is_about_a_story and item.level != "none"]
        pairs = ((item, judged(dataset, [item])) for item in items)
        return Listing(
            tuple(
                _of_item(dataset, item, material, salt=salt)
                for salt, (item, material) in enumerate(pairs)
                if material and len(material.names) > 1
            )
        )

    def rows(self, result: Listing[AgreementAmongJudges]) -> dict[str, Iterator[Row]]:
        return {"judges-among-themselves": (_row(row) for row in result.rows), "pairs-of-judges": _pair_rows(result)}

    def lines(self, result: Listing[AgreementAmongJudges]) -> Iterator[str]:
        yield "\nJudges among themselves"
        for row in result.rows:
            if row.coefficient.why:
                yield f"  {row.title[:34]:<34} {to_english(row.coefficient.why)}"
                continue
            yield (
                f"  {row.title[:34]:<34} {row.coefficient.name} {coefficient(row.coefficient.value)}, 95 % "
                f"{coefficients(row.interval)}, chance to {coefficient(row.floor.upper)}, {row.n_judges} judges"
            )

    def context(self, result: Listing[AgreementAmongJudges]) -> dict[str, Any]:
        anchored = sorted({name for row in result.rows for name in row.anchored})
        return {"note": weakest_note(row.interval for row in result.rows), "anchored": anchored}


def _of_item(dataset: Dataset, item: StepItem, material: Judged, *, salt: int) -> AgreementAmongJudges:
    anchored, level = select_anchored(dataset, material.names), item.level
    is_panel = np.array([name not in anchored for name in material.names], dtype=np.bool_)
    ratings = material.judges[is_panel, 0]
    present = ratings[np.isfinite(ratings)]
    return AgreementAmongJudges(
        **item_fields(item),
        level=level,
        n_judges=int(np.isfinite(ratings).any(axis=1).sum()),
        coefficient=estimate(agreement.krippendorff_alpha, ratings, level),
        interval=interval(intervals.alpha_interval, ratings, level, material.clusters, rng=dataset.rng(SALT, salt, 0)),
        floor=chance_floor(agreement.alpha_chance_floor, ratings, level, rng=dataset.rng(SALT, salt, 1)),
        percent_agreement=estimate(agreement.percent_agreement, ratings),
        among_models=estimate(agreement.krippendorff_alpha, ratings[:, material.is_of_models], level)
        if material.has_mixed_stories
        else None,
        mean=None if item.is_choice or not present.size else float(present.mean()),
        pairs=tuple(_pairs(material, material.judges[:, 0])),
        anchored=anchored,
    )


def _pairs(material: Judged, ratings: FloatArray) -> Iterator[PairwiseAgreement]:
    for at, first in enumerate(material.names):
        for to, second in enumerate(material.names[:at]):
            both = np.isfinite(ratings[at]) & np.isfinite(ratings[to])
            yield PairwiseAgreement(
                first=second,
                second=first,
                n=int(both.sum()),
                **vars(estimate(agreement.percent_agreement, ratings[[at, to]])) | {"n_raters": 2},
            )


def _row(row: AgreementAmongJudges) -> Row:
    return item_cells(row) | {
        "level": row.level,
        "alpha": row.coefficient.value,
        "low": row.interval.low,
        "high": row.interval.high,
        "chance_mean": row.floor.mean,
        "chance_upper": row.floor.upper,
        "percent_agreement": row.percent_agreement.value,
        "among_models": row.among_models and row.among_models.value,
        "mean": row.mean,
        "n_units": row.coefficient.n_units,
        "n_judges": row.n_judges,
        "left_out": " ".join(row.anchored),
        "note": note_of(row.coefficient, row.interval),
    }


def _pair_rows(result: Listing[AgreementAmongJudges]) -> Iterator[Row]:
    for row in result.rows:
        for pair in row.pairs:
            yield item_cells(row) | {
                "first": pair.first,
                "second": pair.second,
                "percent_agreement": pair.value,
                "n": pair.n,
            }
