"""How contrasts are computed: of every two sources of an outcome, or of every two levels of a factor."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

from reports.document.values import Interval, Reason
from reports.figures.base import N_RESAMPLES
from reports.figures.sources.contrast_rows import ContrastRow, TestOfAll, VariancePart
from reports.lazy import np, source_contrasts
from stats.reasons import Incomputable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reports.dataset import Dataset, OutcomeTable
    from stats.arrays import BoolArray
    from stats.source_model import CrossedAnswers

# What a row has from `stats.source_contrasts.PairContrast` under the same name.
AS_FOUND = (
    *("low_90", "high_90", "p", "p_same_raters", "p_within", "test", "is_paired", "n", "n_second", "n_left_out"),
    *("n_raters", "n_blocks", "effect", "effect_name"),
)


class ContrastTable:
    """Every two parts of the stories of one outcome, compared: its sources, or the levels of a factor."""

    def __init__(
        self, dataset: Dataset, table: OutcomeTable, units: Mapping[str, BoolArray], *, test: str, margin: float | None
    ) -> None:
        """units : of each part, by its name, which units it has, shape (U,)"""
        codes = np.full(table.values.shape, -1, dtype=np.int64)
        for number, name in enumerate(units):
            codes[units[name]] = number
        self.names = list(units)
        self._compared = source_contrasts.ComparedSources(
            source_contrasts.OutcomeAnswers(
                values=table.values,
                ratings=table.ratings,
                source=codes,
                block=table.blocks,
                story=table.stories,
                cluster=table.clusters,
                most=table.width,
            ),
            test=test,
            margin=margin,
            resampling=dataset.resampling,
            n_resamples=N_RESAMPLES,
        )

    def rows(self) -> Iterator[ContrastRow]:
        """Every two of them, not corrected yet."""
        for first, second in combinations(self.names, 2):
            yield self.row(first, second)

    def row(self, first: str, second: str) -> ContrastRow:
        """The first less the second, not corrected yet, or why there is no contrast."""
        row = ContrastRow(first=first, second=second)
        try:
            contrast = self._compared.between(self.names.index(first), self.names.index(second))
        except Incomputable as error:
            return replace(row, why=Reason.of(error))
        return replace(
            row,
            value=contrast.difference,
            first_value=contrast.means[0],
            second_value=contrast.means[1],
            interval=Interval.of(contrast.interval),
            wide=Interval.of(contrast.wide),
            n_stories=contrast.n_stories[0],
            n_stories_second=contrast.n_stories[1],
            **{name: getattr(contrast, name) for name in AS_FOUND},
        )

    @property
    def crossed(self) -> CrossedAnswers:
        """The answers that the model is of; a part's number is its place among the names."""
        return self._compared.crossed

    def adjusted(self, name: str) -> dict[str, Any]:
        """The fields `adjusted` and `interval` of a `SourceLevel`."""
        mean = self._compared.mean(self.names.index(name))
        if mean is None:
            return {}
        value, ends = mean
        return {"adjusted": value, "interval": Interval.of(ends)}

    def of_all(self) -> TestOfAll | None:
        """The F test of all parts together; None where there is none."""
        test = self._compared.test_all()
        if test is None:
            return None
        return TestOfAll(p=test.p, f=test.f, numerator=test.numerator, denominator=test.denominator)

    @property
    def parts(self) -> tuple[VariancePart, ...]:
        """The variances of the model; none without one."""
        model = self._compared.model
        if model is None or isinstance(model, Incomputable):
            return ()
        return tuple(
            VariancePart(part=part, variance=variance, is_told=part not in model.not_told)
            for part, variance in model.variances.items()
        )
