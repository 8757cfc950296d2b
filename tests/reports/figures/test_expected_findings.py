"""What a simulation counts as found is what a report would call so."""

import numpy as np
import pytest

from reports.document.values import Interval
from reports.figures.sources import contrast_rows
from reports.figures.sources.contrast_families import correct
from reports.figures.sources.contrast_rows import ContrastRow, OutcomeContrasts
from stats import precision
from stats.planned_answers import AnswerForm, Deviations, PlannedReadings
from stats.precision import PlannedComparison
from stats.source_contrasts import PairContrast

FORM = AnswerForm(kind="scale", mean=3, low=1, high=5, step=1)
DEVIATIONS = Deviations(rater=0.3, rater_source=0.2, story=0.4, rest=0.8)
# What a row has from a contrast under the same name.
AS_FOUND = ("p", "p_same_raters", "test", "n", "n_second", "is_paired", "n_raters")


def crossed(n_groups: int) -> PlannedReadings:
    group, rater, source = (axis.ravel() for axis in np.meshgrid(range(n_groups), range(4), range(3), indexing="ij"))
    story = group * 3 + source
    return PlannedReadings(source=source, block=group, cluster=group, group=group, story=story, rater=rater)


def as_report(study: precision._Study, comparison: PlannedComparison) -> OutcomeContrasts:
    rows = []
    for first, second in comparison.looked_at(3):
        contrast = study._contrast((first, second))
        assert isinstance(contrast, PairContrast)
        rows.append(
            ContrastRow(
                first=str(first),
                second=str(second),
                value=contrast.difference,
                interval=Interval.of(contrast.interval),
                wide=Interval.of(contrast.wide),
                n_stories=contrast.n_stories[0],
                n_stories_second=contrast.n_stories[1],
                is_planned=bool(comparison.pairs),
                **{name: getattr(contrast, name) for name in AS_FOUND},
            )
        )
    p_of_all = study._p_of_all()
    return OutcomeContrasts(
        key="x",
        kind="rating",
        title="x",
        is_percent=False,
        is_lower_better=False,
        is_part=False,
        is_primary=bool(comparison.pairs),
        reference="0",
        correction="holm",
        margin=None,
        sources=(),
        contrasts=tuple(rows),
        of_all=None if p_of_all is None else contrast_rows.TestOfAll(p=p_of_all),
    )


@pytest.mark.parametrize("n_groups", [3, 8])
@pytest.mark.parametrize("comparison", [PlannedComparison(), PlannedComparison(pairs=((0, 1), (0, 2))), "ranks"])
def test_a_simulated_study_finds_what_its_report_calls_found(
    comparison: PlannedComparison | str, n_groups: int
) -> None:
    if isinstance(comparison, str):
        comparison = PlannedComparison(test=comparison, pairs=((0, 1), (0, 2)))
    rng, effects = np.random.default_rng(3), np.array([0.9, 0.2, 0.0])
    n_clear = 0
    for _study in range(12):
        study = precision._Study(crossed(n_groups), FORM, DEVIATIONS, comparison, effects, rng)
        (outcome,) = correct([as_report(study, comparison)])

        said = [(row.is_clear, row.is_clear or row.is_of_these_raters) for row in outcome.contrasts]
        assert [study.finds(pair) for pair in comparison.looked_at(3)] == said
        assert study.finds_any() == any(is_clear for is_clear, _same in said)
        n_clear += sum(is_clear for is_clear, _same in said)

    if n_groups == 3:
        assert n_clear == 0, "three stories of a source are never enough"
    else:
        assert n_clear > 0
