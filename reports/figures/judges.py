"""Judges beside people: the same items about the same stories, judged by a model or a metric."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext_lazy

from annotation.models import Rater
from reports.dataset import cubes
from reports.dataset.questions import metric_items
from reports.figures.base import (
    Estimate,
    Figure,
    ItemRow,
    Mean,
    Reason,
    Row,
    item_cells,
    item_fields,
    mean,
    note_of,
)
from reports.lazy import agreement, judgements, np, pd
from reports.numbers import coefficient, decimal, whole
from stats.reasons import Incomputable

if TYPE_CHECKING:
    from reports.dataset import Dataset
    from stats.arrays import FloatArray


@dataclass(frozen=True, kw_only=True)
class MajorityAgreement:
    """A judge against the majority of people, over n verdicts that both have."""

    kappa: Estimate
    balanced_accuracy: Estimate
    yes_percent: float | None
    majority_yes_percent: float | None
    n: int


@dataclass(frozen=True, kw_only=True)
class ItemMajorityAgreement(ItemRow, MajorityAgreement):
    pass


@dataclass(frozen=True, kw_only=True)
class SourceOutcomes:
    """What became of the verdicts that a judge was expected to give; what is lost is never a No."""

    source: str = ""
    answered: int
    declined: int
    unreadable: int
    missing: int
    expected: int
    lost_percent: float | None


@dataclass(frozen=True, kw_only=True)
class Outcomes(SourceOutcomes):
    by_source: tuple[SourceOutcomes, ...]


@dataclass(frozen=True, kw_only=True)
class JudgeComparison:
    judge: str
    kind: str
    pooled: MajorityAgreement
    mean_kappa: Mean
    items: tuple[ItemMajorityAgreement, ...]
    outcomes: Outcomes


@dataclass(frozen=True, kw_only=True)
class NotAnalysed:
    """What a judge answered to items of one type in one step, for which there are no figures yet."""

    judge: str
    kind: str
    step: str
    type: str
    n_items: int
    n_answered: int
    n_declined: int
    n_unreadable: int


@dataclass(frozen=True, kw_only=True)
class JudgesResult:
    compared: tuple[JudgeComparison, ...]
    not_analysed: tuple[NotAnalysed, ...]


class Judges(Figure[JudgesResult]):
    """Only readable verdicts are compared. What was declined, cannot be read or never came is counted, never a No.
    Answers to other items are counted and named, so that no judge is silently absent."""

    key = "judges"
    title = gettext_lazy("Judges beside people")
    place = 120
    result = JudgesResult
    tables = ("judges", "lost-verdicts")
    edition = 3
    is_shown_sealed = False
    nothing = JudgesResult(compared=(), not_analysed=())

    def compute(self, dataset: Dataset) -> JudgesResult:
        items = dataset.verdict_items
        keys = {item.key for item in items}
        measured = {item.step.key for item in metric_items(dataset.study)}  # those stand in a figure of their own
        answers = dataset.judges[~dataset.judges["step"].isin(measured)]
        pairs = zip(answers["step"], answers["item"], strict=True)
        is_verdict = np.array([key in keys for key in pairs], dtype=np.bool_)
        is_compared = is_verdict & (answers["rater_kind"] == Rater.Kind.MODEL).to_numpy(dtype=np.bool_)
        verdicts = answers[is_compared]
        names = sorted(verdicts["rater"].unique())
        return JudgesResult(
            compared=_compared(dataset, verdicts, names) if names else (),
            not_analysed=tuple(_not_analysed(dataset, answers[~is_compared])),
        )

    def rows(self, result: JudgesResult) -> dict[str, Iterator[Row]]:
        return {"judges": _rows(result), "lost-verdicts": _lost_rows(result)}

    def lines(self, result: JudgesResult) -> Iterator[str]:
        yield "\nJudges beside the majority of people"
        for judge in result.compared:
            outcomes = judge.outcomes
            yield (
                f"  {judge.judge}: kappa {coefficient(judge.pooled.kappa.value)} over {judge.pooled.n} "
                f"verdicts; {outcomes.declined} declined, {outcomes.unreadable} unreadable, "
                f"{outcomes.missing} missing of {outcomes.expected}"
            )
            sources = ", ".join(f"{row.source} {decimal(row.lost_percent)} %" for row in outcomes.by_source)
            accuracy = coefficient(judge.pooled.balanced_accuracy.value)
            yield f"    balanced accuracy {accuracy}; lost by source: {sources}"
        for row in result.not_analysed:
            yield (
                f"  {row.judge}: {whole(row.n_answered)} answers to {row.n_items} items of the type “{row.type}” in "
                f"step “{row.step}”, {whole(row.n_declined)} declined, {whole(row.n_unreadable)} unreadable; "
                "not analysed yet"
            )

    def is_empty(self, result: JudgesResult) -> bool:
        return not result.compared and not result.not_analysed


def _compared(dataset: Dataset, verdicts: pd.DataFrame, names: list[str]) -> tuple[JudgeComparison, ...]:
    items, cube = dataset.verdict_items, dataset.verdict_cube
    truth = np.stack([judgements.majority(ratings) for ratings in cube.values])
    keys = [item.key for item in items]
    values = cubes.build_cube(dataset.judges, keys, raters=names, units=list(cube.units)).values
    fields = [item_fields(item) for item in items]
    return tuple(
        _judge(dataset, name, verdicts[verdicts["rater"] == name], values[:, n, :], truth, fields)
        for n, name in enumerate(names)
    )


def _judge(
    dataset: Dataset,
    name: str,
    rows: pd.DataFrame,
    verdicts: FloatArray,
    truth: FloatArray,
    fields: list[dict[str, Any]],
) -> JudgeComparison:
    items = tuple(
        ItemMajorityAgreement(**of, **vars(_against(v, t))) for of, v, t in zip(fields, verdicts, truth, strict=True)
    )
    n_units = {source: sum(dataset.source_of(s) == source for _, s in dataset.units) for source, _ in dataset.sources}
    by_source = tuple(
        SourceOutcomes(source=source, **_outcomes(rows[rows["source"] == source], len(verdicts) * n))
        for source, n in n_units.items()
    )
    return JudgeComparison(
        judge=name,
        kind=str(rows["rater_kind"].iloc[0]),
        pooled=_against(verdicts.ravel(), truth.ravel()),
        mean_kappa=mean(item.kappa for item in items),
        items=items,
        outcomes=Outcomes(**_outcomes(rows, verdicts.size), by_source=by_source),
    )


def _against(verdicts: FloatArray, truth: FloatArray) -> MajorityAgreement:
    try:
        comparison = judgements.compare_with_majority(verdicts, truth)
    except Incomputable as error:
        nothing = Estimate(value=None, why=Reason.of(error))
        return MajorityAgreement(
            kappa=nothing, balanced_accuracy=nothing, yes_percent=None, majority_yes_percent=None, n=0
        )
    return MajorityAgreement(
        kappa=_estimate(comparison.kappa),
        balanced_accuracy=_estimate(comparison.balanced_accuracy),
        yes_percent=100 * comparison.yes_rate,
        majority_yes_percent=100 * comparison.majority_yes_rate,
        n=comparison.n,
    )


def _estimate(value: agreement.Coefficient | float | Incomputable) -> Estimate:
    if isinstance(value, Incomputable):
        return Estimate(value=None, why=Reason.of(value))
    return Estimate(value=float(value), note=value.note if isinstance(value, agreement.Coefficient) else None)


def _outcomes(rows: pd.DataFrame, n_expected: int) -> dict[str, Any]:
    """The fields of `SourceOutcomes`."""
    counts = rows["outcome"].value_counts()
    n_by_outcome = {outcome: int(counts.get(outcome, 0)) for outcome in ("answered", "declined", "unreadable")}
    n_lost = n_expected - n_by_outcome["answered"]
    return n_by_outcome | {
        "missing": n_lost - n_by_outcome["declined"] - n_by_outcome["unreadable"],
        "expected": n_expected,
        "lost_percent": 100 * n_lost / n_expected if n_expected else None,
    }


def _not_analysed(dataset: Dataset, answers: pd.DataFrame) -> Iterator[NotAnalysed]:
    """A count for each judge, step and type of item; an item that the protocol no longer asks has no type."""
    type_by_key = {item.key: item.item.type for item in dataset.items}
    types = [type_by_key.get(key, "") for key in zip(answers["step"], answers["item"], strict=True)]
    for (judge, step, item_type), rows in answers.assign(type=types).groupby(["rater", "step", "type"]):
        n_by_outcome = rows["outcome"].value_counts()
        yield NotAnalysed(
            judge=str(judge),
            kind=str(rows["rater_kind"].iloc[0]),
            step=str(step),
            type=str(item_type),
            n_items=int(rows["item"].nunique()),
            n_answered=int(n_by_outcome.get("answered", 0)),
            n_declined=int(n_by_outcome.get("declined", 0)),
            n_unreadable=int(n_by_outcome.get("unreadable", 0)),
        )


def _rows(result: JudgesResult) -> Iterator[Row]:
    pooled = {"step": "", "item": "pooled", "title": "", "dimension": ""}
    for judge in result.compared:
        for cells, row in [*((item_cells(item), item) for item in judge.items), (pooled, judge.pooled)]:
            yield (
                {"judge": judge.judge}
                | cells
                | {
                    "kappa": row.kappa.value,
                    "balanced_accuracy": row.balanced_accuracy.value,
                    "yes_percent": row.yes_percent,
                    "majority_yes_percent": row.majority_yes_percent,
                    "n": row.n,
                    "note": note_of(row.kappa) or row.kappa.note or "",
                }
            )


def _lost_rows(result: JudgesResult) -> Iterator[Row]:
    for judge in result.compared:
        for row in (judge.outcomes, *judge.outcomes.by_source):
            yield {
                "judge": judge.judge,
                "source": row.source or "all",
                "answered": row.answered,
                "declined": row.declined,
                "unreadable": row.unreadable,
                "missing": row.missing,
                "expected": row.expected,
                "lost_percent": row.lost_percent,
            }
