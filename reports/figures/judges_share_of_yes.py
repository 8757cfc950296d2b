"""How often a judge says Yes, by how many of the experts do: the majority hides where experts differ by taste."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext_lazy

from reports.dataset.judged import judged
from reports.figures.base import N_RESAMPLES, Estimate, Figure, Interval, Listing, Row, interval, weakest_note
from reports.figures.base import note_of as note
from reports.lazy import arrays, np, rates
from reports.numbers import decimal
from reports.numbers import interval as between

if TYPE_CHECKING:
    from reports.dataset import Dataset
    from reports.dataset.judged import Judged
    from stats.arrays import BoolArray, FloatArray

LEVELS = ("none", "fewer_than_half", "half", "more_than_half", "all")


@dataclass(frozen=True, kw_only=True)
class YesAtLevel(Estimate):
    """The judge's percentage of Yes where so many of the experts say Yes.

    level : "none", "fewer_than_half", "half", "more_than_half" or "all"
    expert_percent : the experts' own, over the same n answers
    """

    level: str
    expert_percent: float
    n: int
    interval: Interval


@dataclass(frozen=True, kw_only=True)
class JudgeYes:
    """distance : mean of how far the judge's Yes or No is from the share of experts, in percentage points"""

    judge: str
    part: str
    levels: tuple[YesAtLevel, ...]
    distance: float
    n: int


class JudgesShareOfYes(Figure[Listing[JudgeYes]]):
    key = "judges_share_of_yes"
    title = gettext_lazy("A judge’s Yes by the share of experts")
    position = 123
    result = Listing[JudgeYes]
    tables = ("judges-share-of-yes",)
    edition = 2
    is_shown_sealed = False
    nothing = Listing[JudgeYes]()

    def compute(self, dataset: Dataset) -> Listing[JudgeYes]:
        material = judged(dataset, dataset.verdict_items)
        if material is None:
            return Listing()
        return Listing(tuple(_judges(dataset, material, arrays.mean_present(material.people, axis=1))))

    def rows(self, result: Listing[JudgeYes]) -> dict[str, Iterator[Row]]:
        return {"judges-share-of-yes": _rows(result)}

    def lines(self, result: Listing[JudgeYes]) -> Iterator[str]:
        yield "\nA judge's Yes by the share of experts who say Yes"
        for row in result.rows:
            yield f"  {row.judge}, {row.part} stories: {decimal(row.distance)} points from the share of experts"
            for level in row.levels:
                yield (
                    f"    {level.level.replace('_', ' '):<18} {decimal(level.value)} % of {level.n}, "
                    f"95 % {between(level.interval)}"
                )

    def context(self, result: Listing[JudgeYes]) -> dict[str, Any]:
        levels = [name for name in LEVELS if any(level.level == name for row in result.rows for level in row.levels)]
        by_level = [{level.level: level for level in row.levels} for row in result.rows]
        return {
            "note": weakest_note(level.interval for row in result.rows for level in row.levels),
            "levels": levels,
            "rows": [
                (row, [of_row.get(name) for name in levels]) for row, of_row in zip(result.rows, by_level, strict=True)
            ],
        }


def _judges(dataset: Dataset, material: Judged, share: FloatArray) -> Iterator[JudgeYes]:
    parts = {"all": np.ones(share.shape, dtype=np.bool_)}
    if material.has_mixed_stories:
        parts["models"] = np.broadcast_to(material.is_of_models, share.shape)
    for name, answers in zip(material.names, material.judges, strict=True):
        for part, is_in in parts.items():
            is_compared = is_in & np.isfinite(answers) & np.isfinite(share)
            if is_compared.any():
                yield JudgeYes(
                    judge=name,
                    part=part,
                    levels=tuple(_levels(dataset, material, answers, share, is_compared)),
                    distance=float(100 * np.abs(answers - share)[is_compared].mean()),
                    n=int(is_compared.sum()),
                )


def _levels(
    dataset: Dataset,
    material: Judged,
    answers: FloatArray,
    share: FloatArray,
    is_compared: BoolArray,
) -> Iterator[YesAtLevel]:
    is_level = (share == 0, (share > 0) & (share < 0.5), share == 0.5, (share > 0.5) & (share < 1), share == 1)
    labels = np.tile(material.clusters, len(answers))
    for name, is_at in zip(LEVELS, is_level, strict=True):
        cells = is_at & is_compared
        if cells.any():
            verdicts = answers[cells]
            ends = interval(
                rates.pass_rate_interval,
                verdicts,
                labels[cells.ravel()],
                rng=dataset.resampling(),
                n_resamples=N_RESAMPLES,
            )
            yield YesAtLevel(
                level=name,
                value=float(100 * verdicts.mean()),
                expert_percent=float(100 * share[cells].mean()),
                n=int(cells.sum()),
                interval=ends,
            )


def _rows(result: Listing[JudgeYes]) -> Iterator[Row]:
    for row in result.rows:
        for level in row.levels:
            yield {
                "judge": row.judge,
                "part": row.part,
                "experts_yes": level.level,
                "experts_yes_percent": level.expert_percent,
                "judge_yes_percent": level.value,
                "low": level.interval.low,
                "high": level.interval.high,
                "n": level.n,
                "distance": row.distance,
                "note": note(level, level.interval),
            }
