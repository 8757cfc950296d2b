"""Whether the order of filled texts holds under other forms of the score, and by the weakest constraint of a section.

Source: Zou & Xu (2026), sections 4.5 and 5.5, finding 4; the paper's fourteen configurations are not enumerated there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from reports.document import columns
from reports.document.files import file_only
from reports.document.model import DocumentSection, Files, Head, ReportTable, TableCell, TableColumn, TextBlock
from reports.document.phrases import phrase
from reports.figures.base import Figure, estimate
from reports.figures.cloze.part_names import FORMS
from reports.figures.cloze.participants import number
from reports.figures.cloze.plots import heat_levels
from reports.lazy import cloze, comparisons, np
from reports.numbers import NONE, coefficient

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


@dataclass(frozen=True)
class _MatrixRow:
    """A variant beside each other one. shades : of the cells, 0 for the variant itself and where there is no value"""

    variant: ScoreVariant
    correlations: Sequence[float | None]
    shades: Sequence[int]


class ClozeVariants(Figure[ClozeVariantsResult]):
    key = "cloze_variants"
    title = gettext_lazy("Filled texts: robustness of the ranking")
    position = 147
    section = "cloze"
    tables = ("cloze-variants", "cloze-variant-correlations")
    is_shown_sealed = False
    needs_answers = False
    edition = 2

    def compute(self, dataset: Dataset) -> ClozeVariantsResult | None:
        scored = dataset.scored_cloze
        return _compute(scored) if scored and len(scored.participants) > 1 else None

    def is_empty(self, result: ClozeVariantsResult) -> bool:
        return not any(variant.leaders for variant in result.variants)

    def describe(self, result: ClozeVariantsResult, head: Head) -> Iterator[DocumentSection]:
        several = len({variant.aggregation for variant in result.variants}) > 1
        aggregations = _(
            "Mean and minimum: how the constraints of a section become one number. Capped: the mean of ratings that "
            "are at most 1 where their judge denied a required check."
        )
        origin = _(
            "QUIET’s fourteen configurations are not enumerated in the paper; these are the forms that it names."
        )
        published = _("Scores of sections were published without the constraints, so there is no minimum.")
        yield DocumentSection(
            heading=self.title,
            body=[
                _sentence(result),
                _matrix(result, several=several),
                _correlations(result),
                Files(words=_("Every two forms"), table="cloze-variant-correlations"),
                _totals_in_file(result),
                Files(words=_("Every total under every form"), table="cloze-variants"),
            ],
            margin=[
                TextBlock(words=aggregations),
                TextBlock(words=origin),
                *([] if several else [TextBlock(words=published)]),
            ],
        )


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


def _sentence(result: ClozeVariantsResult) -> TextBlock:
    """Under how many forms somebody else leads."""
    main, *others = result.variants
    n = sum(set(variant.leaders) != set(main.leaders) for variant in others)
    changed = _(
        "Under %(n)s of %(all)s other forms somebody else leads; the least correlation of two forms is %(least)s."
    )
    unchanged = _(
        "The same participant leads under all %(all)s other forms; the least correlation of two forms is %(least)s."
    )
    words = {"n": n, "all": len(others), "least": coefficient(_least(result.correlations))}
    return TextBlock(words=(changed if n else unchanged) % words, css="says")


def _matrix(result: ClozeVariantsResult, *, several: bool) -> ReportTable[_MatrixRow]:
    """Each variant with every other, shaded. several : aggregations, which are named then"""
    shades = heat_levels(
        [[None if n == m else rho for m, rho in enumerate(row)] for n, row in enumerate(result.correlations)]
    )
    caption = _("Spearman’s correlation of the totals of %(n)s participants under two forms; ties at their mid-rank.")

    def name(row: _MatrixRow) -> str:
        form = str(FORMS[row.variant.form])
        return f"{form}, {AGGREGATIONS[row.variant.aggregation]}" if several else form

    return ReportTable(
        label=_("Rank correlations of the forms"),
        caption=caption % {"n": result.n_participants},
        rows=[_MatrixRow(*row) for row in zip(result.variants, result.correlations, shades, strict=True)],
        columns=[
            columns.words("form", _("Form"), name, is_head=True),
            columns.words("leads", _("Leads"), lambda row: ", ".join(row.variant.leaders), css="name"),
            *(_matrix_column(place, other, several=several) for place, other in enumerate(result.variants)),
        ],
        css="ruled matrix tight",
    )


def _matrix_column(place: int, other: ScoreVariant, *, several: bool) -> TableColumn[_MatrixRow]:
    def cell(row: _MatrixRow) -> TableCell:
        shade = row.shades[place]
        return (
            TableCell(words=coefficient(row.correlations[place]), css=f"heat-{shade}")
            if shade
            else TableCell(words=NONE)
        )

    heading = (
        phrase("%(form)s<br>%(of)s", form=other.form, of=AGGREGATIONS[other.aggregation]) if several else other.form
    )
    return TableColumn(heading=heading, cell=cell, is_number=False)


def _correlations(result: ClozeVariantsResult) -> ReportTable[tuple[ScoreVariant, ScoreVariant, float | None]]:
    """The same in the file: each pair once."""
    return file_only(
        "cloze-variant-correlations",
        [
            (variant, other, rho)
            for n, (variant, row) in enumerate(zip(result.variants, result.correlations, strict=True))
            for other, rho in zip(result.variants[:n], row, strict=False)
        ],
        columns.in_file("variant", lambda row: row[0].name),
        columns.in_file("other", lambda row: row[1].name),
        columns.in_file("rho", lambda row: row[2]),
        columns.constants(n=result.n_participants),
    )


def _totals_in_file(result: ClozeVariantsResult) -> ReportTable[tuple[ScoreVariant, VariantTotal]]:
    return file_only(
        "cloze-variants",
        [(variant, total) for variant in result.variants for total in variant.totals],
        columns.fields("form", constraints="aggregation", of=lambda row: row[0]),
        columns.fields("participant", "total", of=lambda row: row[1]),
        columns.in_file("rank", lambda row: row[1].rank or None),
    )
