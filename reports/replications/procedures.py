"""The named procedures by which published figures are computed anew.

Each takes the evidence, read from the database, and gives a figure for every key: () for one figure, ("GPT4", "3") for
the third item of one source. A figure that cannot be computed is the reason why.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, SupportsFloat, TypeAlias

import numpy as np
import pandas as pd

from annotation.models import Response
from reports.dataset.cubes import Cube
from reports.replications.voted_pairs import VotedPairs
from stats import agreement, judgements, rates
from stats.arrays import BoolArray, FloatArray
from stats.comparisons import pairs_pearson
from stats.reasons import Incomputable
from studies.models import Source

Figures: TypeAlias = dict[tuple[str, ...], float | Incomputable]


@dataclass(frozen=True)
class Evidence:
    """What a replication computes with.

    people : verdicts of the experts
    judges : verdicts of each judge by name, shape (I, U), nan where there is none, over the same units
    answers : the judges' rows of the long table
    sources : the source of each unit, under the release's own name; kinds, what kind of source that is
    pairs : where the step asks for the better of two stories
    """

    people: Cube
    judges: Mapping[str, FloatArray]
    answers: pd.DataFrame
    sources: tuple[str, ...]
    kinds: tuple[str, ...]
    pairs: VotedPairs | None = None

    def select_units(self, keep: list[bool]) -> "Evidence":
        """The same evidence, of the units where `keep` is true."""
        mask = np.array(keep, dtype=np.bool_)
        return replace(
            self,
            people=self.people.select_units(keep),
            judges={name: verdicts[:, mask] for name, verdicts in self.judges.items()},
            sources=tuple(np.array(self.sources)[mask]),
            kinds=tuple(np.array(self.kinds)[mask]),
        )

    def without_groups(self, codes: list[str]) -> "Evidence":
        """The same evidence without the units of these groups."""
        return self.select_units([group not in codes for group in self.people.groups])

    def of_items(self, keys: list[str]) -> "Evidence":
        """The verdicts on some of the items, in that order. Raises ValueError for an item that is not asked."""
        positions = [self.item_keys.index(key) for key in keys]
        cube = self.people
        items = tuple(cube.items[position] for position in positions)
        return replace(
            self,
            people=Cube(items, cube.raters, cube.units, cube.values[positions]),
            judges={name: verdicts[positions] for name, verdicts in self.judges.items()},
        )

    @property
    def item_keys(self) -> list[str]:
        """The keys of the items, in their order."""
        return [item for _, item in self.people.items]

    @property
    def is_human(self) -> BoolArray:
        """Whether a person wrote it, for each unit."""
        return np.array([kind != Source.Kind.MODEL for kind in self.kinds], dtype=np.bool_)

    def of_models(self) -> "Evidence":
        """The same evidence, of the units that a model wrote."""
        return self.select_units([kind == Source.Kind.MODEL for kind in self.kinds])

    def of_source(self, name: str) -> FloatArray:
        """The experts' verdicts about one source, shape (I, R, U of that source)."""
        return self.people.values[:, :, np.array(self.sources) == name]

    @property
    def pooled(self) -> FloatArray:
        """All items side by side, shape (R, I × U)."""
        return np.concatenate(list(self.people.values), axis=1)

    @property
    def majority(self) -> FloatArray:
        """What the experts' majority says, shape (I, U)."""
        return np.stack([judgements.majority(verdicts) for verdicts in self.people.values])


def figure_or_reason(statistic: Callable[..., SupportsFloat], *arguments: Any) -> float | Incomputable:
    """The figure, or the reason why there is none."""
    try:
        return float(statistic(*arguments))
    except Incomputable as reason:
        return reason


def mean_of(figures: list[float | Incomputable]) -> float | Incomputable:
    """The mean, or the first reason why there is none."""
    values = [figure for figure in figures if not isinstance(figure, Incomputable)]
    if len(values) == len(figures):
        return float(np.mean(values)) if values else Incomputable("nothing_to_average")
    return next(figure for figure in figures if isinstance(figure, Incomputable))


def pass_rate(evidence: Evidence) -> Figures:
    """Yes in 100 verdicts, by source and item."""
    return {
        (source, str(n)): figure_or_reason(rates.pass_rate, verdicts)
        for source in dict.fromkeys(evidence.sources)
        for n, verdicts in enumerate(evidence.of_source(source), start=1)
    }


def mean_pass_rate(evidence: Evidence) -> Figures:
    """Yes in 100 verdicts on all items, by source."""
    return {
        (name,): figure_or_reason(rates.pass_rate, evidence.of_source(name)) for name in dict.fromkeys(evidence.sources)
    }


def fleiss_kappa(evidence: Evidence) -> Figures:
    """Fleiss' kappa of the experts, by the item's number from 1."""
    verdicts_by_item = enumerate(evidence.people.values, start=1)
    return {
        (str(n),): figure_or_reason(agreement.fleiss_kappa_of_complete_units, verdicts)
        for n, verdicts in verdicts_by_item
    }


def mean_fleiss_kappa(evidence: Evidence) -> Figures:
    """The mean of the items' kappas; no figure if an item has none."""
    return {(): mean_of(list(fleiss_kappa(evidence).values()))}


def pooled_fleiss_kappa(evidence: Evidence) -> Figures:
    """Fleiss' kappa of all items side by side, as if they were one."""
    return {(): figure_or_reason(agreement.fleiss_kappa_of_complete_units, evidence.pooled)}


def pooled_nominal_alpha(evidence: Evidence) -> Figures:
    """Krippendorff's nominal alpha of all items side by side, as if they were one."""
    return {(): figure_or_reason(agreement.krippendorff_alpha, evidence.pooled, "nominal")}


def pearson_of_totals(evidence: Evidence) -> Figures:
    """Pearson's r of how often experts say Yes to a story, over all ordered pairs of its experts."""
    return {(): figure_or_reason(pairs_pearson, rates.totals(evidence.people.values))}


def n_raters(evidence: Evidence) -> Figures:
    """The experts."""
    return {(): float(len(evidence.people.raters))}


def n_verdicts(evidence: Evidence) -> Figures:
    """The experts' verdicts, over all items and stories."""
    return {(): float(np.isfinite(evidence.people.values).sum())}


def n_yes(evidence: Evidence) -> Figures:
    """Those of them that are Yes."""
    return {(): float(np.nansum(evidence.people.values))}


def n_majorities(evidence: Evidence) -> Figures:
    """Items of stories on which more than half of the experts say the same."""
    return {(): float(np.isfinite(evidence.majority).sum())}


def n_majority_yes(evidence: Evidence) -> Figures:
    """Those of them on which they say Yes."""
    return {(): float(np.nansum(evidence.majority))}


def judge_readable(evidence: Evidence) -> Figures:
    """Verdicts that could be read, by judge."""
    return {(name,): float(np.isfinite(verdicts).sum()) for name, verdicts in evidence.judges.items()}


def judge_declined(evidence: Evidence) -> Figures:
    """Answers that the judge declined to give, by judge."""
    return _outcomes(evidence, Response.Outcome.DECLINED)


def judge_unreadable(evidence: Evidence) -> Figures:
    """Answers that say no verdict, by judge."""
    return _outcomes(evidence, Response.Outcome.UNREADABLE)


def judge_missing(evidence: Evidence) -> Figures:
    """Verdicts for which there is no answer at all, by judge."""
    n_answers = evidence.answers.groupby("rater").size()
    return {(name,): float(verdicts.size - n_answers.get(name, 0)) for name, verdicts in evidence.judges.items()}


def judge_loss(evidence: Evidence) -> Figures:
    """Verdicts in 100 that are missing, declined or unreadable, by judge and source."""
    sources = np.array(evidence.sources)
    return {
        (name, source): float(100 * np.isnan(verdicts[:, sources == source]).mean())
        for name, verdicts in evidence.judges.items()
        for source in dict.fromkeys(evidence.sources)
    }


def judge_yes_rate(evidence: Evidence) -> Figures:
    """Yes in 1 readable verdict."""
    return {(name,): figure_or_reason(agreement.base_rate, verdicts) for name, verdicts in evidence.judges.items()}


def judge_pooled_kappa(evidence: Evidence) -> Figures:
    """Cohen's kappa with the majority, all items side by side, by judge."""
    truth = evidence.majority.ravel()
    return {
        (name,): figure_or_reason(agreement.cohen_kappa, verdicts.ravel(), truth)
        for name, verdicts in evidence.judges.items()
    }


def judge_mean_kappa(evidence: Evidence) -> Figures:
    """The mean of the items' kappas with the majority, by judge; no figure if an item has none."""
    return {
        (name,): mean_of(
            [figure_or_reason(agreement.cohen_kappa, *pair) for pair in zip(verdicts, evidence.majority, strict=True)]
        )
        for name, verdicts in evidence.judges.items()
    }


def _outcomes(evidence: Evidence, outcome: str) -> Figures:
    """How many answers of each judge came to that outcome."""
    n = evidence.answers[evidence.answers["outcome"] == outcome].groupby("rater").size()
    return {(name,): float(n.get(name, 0)) for name in evidence.judges}


PROCEDURES: dict[str, Callable[..., Figures]] = {
    procedure.__name__: procedure
    for procedure in (
        pass_rate,
        mean_pass_rate,
        fleiss_kappa,
        mean_fleiss_kappa,
        pooled_fleiss_kappa,
        pooled_nominal_alpha,
        pearson_of_totals,
        n_raters,
        n_verdicts,
        n_yes,
        n_majorities,
        n_majority_yes,
        judge_readable,
        judge_declined,
        judge_unreadable,
        judge_missing,
        judge_loss,
        judge_yes_rate,
        judge_pooled_kappa,
        judge_mean_kappa,
    )
}
