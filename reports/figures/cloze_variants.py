"""Whether the order of filled texts holds under other forms of the score, and by the weakest constraint of a section.

Source: Zou & Xu (2026), sections 4.5 and 5.5, finding 4; the paper's fourteen configurations are not enumerated there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext_lazy

from reports.figures.base import Figure, Row, estimate
from reports.figures.cloze_participants import number
from reports.figures.cloze_plots import heat_levels
from reports.figures.cloze_words import FORMS
from reports.lazy import cloze, comparisons, np
from reports.numbers import coefficient

if TYPE_CHECKING:
    from reports.dataset import Dataset
    from reports.dataset.scored_clozes import ScoredCloze
    from stats.arrays import FloatArray

AGGREGATIONS = {
    "mean": gettext_lazy("mean"),
    "minimum": gettext_lazy("minimum"),
    "capped": gettext_lazy("mean, capped"),
}


@dataclass(frozen=True, kw_only=True)
class VariantTotal:
    participant: str
    total: float | None
    rank: int


@dataclass(frozen=True, kw_only=True)
class ScoreVariant:
    """form : as C1, C0.5, C1.5, A, B or D; aggregation : of a section's constraints, "mean", "minimum", or "capped":
    the mean of ratings capped where a required check was denied
    """

    form: str
    aggregation: str
    totals: tuple[VariantTotal, ...]

    @property
    def leaders(self) -> list[str]:
        return [total.participant for total in self.totals if total.rank == 1]

    @property
    def name(self) -> str:
        return f"{self.form} {self.aggregation}"


@dataclass(frozen=True, kw_only=True)
class ClozeVariantsResult:
    """n_participants : with a total

    correlations : Spearman's rho of the totals of every two variants, in their order; None where there is none"""

    n_participants: int
    variants: tuple[ScoreVariant, ...]
    correlations: tuple[tuple[float | None, ...], ...]


class ClozeVariants(Figure[ClozeVariantsResult]):
    key = "cloze_variants"
    title = gettext_lazy("Filled texts: does the order hold?")
    position = 145
    result = ClozeVariantsResult
    tables = ("cloze-variants", "cloze-variant-correlations")
    is_shown_sealed = False
    needs_answers = False
    edition = 2

    def compute(self, dataset: Dataset) -> ClozeVariantsResult | None:
        scored = dataset.scored_cloze
        return _compute(scored) if scored and len(scored.participants) > 1 else None

    def rows(self, result: ClozeVariantsResult) -> dict[str, Iterator[Row]]:
        return {"cloze-variants": _total_rows(result), "cloze-variant-correlations": _correlation_rows(result)}

    def lines(self, result: ClozeVariantsResult) -> Iterator[str]:
        yield "\nFilled texts under other forms of the score: who leads, and Spearman's rho with the main form"
        for variant, rho in zip(result.variants, result.correlations[0], strict=True):
            leaders = ", ".join(variant.leaders) or "nobody has a total"
            yield f"  {variant.name:<14} {leaders[:40]:<40} {coefficient(rho)}"

    def is_empty(self, result: ClozeVariantsResult) -> bool:
        return not any(variant.leaders for variant in result.variants)

    def context(self, result: ClozeVariantsResult) -> dict[str, Any]:
        """Rows of the matrix: each variant's name with its cells, shaded; and the names once more for the columns."""
        shades = heat_levels(
            [[None if n == m else rho for m, rho in enumerate(row)] for n, row in enumerate(result.correlations)]
        )
        cells = [list(zip(*pair, strict=True)) for pair in zip(result.correlations, shades, strict=True)]
        names = [(FORMS[v.form], AGGREGATIONS[v.aggregation], v.form, v.aggregation) for v in result.variants]
        main = set(result.variants[0].leaders)
        return {
            "names": names,
            "rows": list(zip(result.variants, names, cells, strict=True)),
            "least": _least(result.correlations),
            "n_other_leaders": sum(set(variant.leaders) != main for variant in result.variants[1:]),
            "n_others": len(result.variants) - 1,
            "has_one_aggregation": len({variant.aggregation for variant in result.variants}) == 1,
        }


def _compute(scored: ScoredCloze) -> ClozeVariantsResult:
    variants, columns = [], []
    for aggregation, satisfied in _aggregations(scored):
        for form in cloze.FORMS if aggregation != "capped" else cloze.FORMS[:1]:
            totals = scored.totals(satisfied, form=form)
            columns.append(totals)
            variants.append(
                ScoreVariant(form=form.name, aggregation=aggregation, totals=tuple(_totals(scored, totals)))
            )
    return ClozeVariantsResult(
        n_participants=int(np.isfinite(columns[0]).sum()),
        variants=tuple(variants),
        correlations=tuple(tuple(_rho(one, other) for other in columns) for one in columns),
    )


def _aggregations(scored: ScoredCloze) -> Iterator[tuple[str, FloatArray]]:
    """How constraints of a section become one number; of published sections only the mean is there."""
    yield "mean", scored.satisfied_softly
    if scored.judged is not None:
        yield "minimum", scored.satisfied(bucket=True)
        if scored.judged.is_broken.any():
            yield "capped", scored.satisfied(is_capped=True)


def _totals(scored: ScoredCloze, totals: FloatArray) -> Iterator[VariantTotal]:
    for name, total, rank in zip(scored.participants, totals, cloze.ranks(totals), strict=True):
        yield VariantTotal(participant=name, total=number(total), rank=int(rank))


def _rho(one: FloatArray, other: FloatArray) -> float | None:
    return estimate(comparisons.spearman, one, other).value


def _least(correlations: Sequence[Sequence[float | None]]) -> float | None:
    return min((rho for row in correlations for rho in row if rho is not None), default=None)


def _total_rows(result: ClozeVariantsResult) -> Iterator[Row]:
    for variant in result.variants:
        for total in variant.totals:
            yield {
                "form": variant.form,
                "constraints": variant.aggregation,
                "participant": total.participant,
                "total": total.total,
                "rank": total.rank or None,
            }


def _correlation_rows(result: ClozeVariantsResult) -> Iterator[Row]:
    for n, (variant, row) in enumerate(zip(result.variants, result.correlations, strict=True)):
        for other, rho in zip(result.variants[:n], row, strict=False):
            yield {"variant": variant.name, "other": other.name, "spearman": rho, "n": result.n_participants}
