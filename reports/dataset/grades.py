"""How sure a judge is of each verdict: the probability of Yes where its server gave it, else its share over repeats."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from annotation.models import Response
from judges.models import Judge, Parse
from judges.settlement.rereads import find_counted
from reports.dataset.readings import means_of_repeats
from reports.dataset.step_items import number
from reports.lazy import np
from studies.models import Study

if TYPE_CHECKING:
    from reports.dataset import Dataset
    from reports.dataset.step_items import StepItem
    from stats.arrays import BoolArray, FloatArray

ASKS = "logprobs"  # the parameter by which a judge asks for probabilities


@dataclass(frozen=True)
class GradedAnswer:
    """How probable each answer to an item was in one reading of a judge.

    by_value : by how the answer is written; they sum to 1
    outside : the share of probability that fell on no answer, or was not listed
    """

    assignment: int
    judge: str
    group: str
    story: str
    step: str
    item: str
    by_value: dict[str, float]
    outside: float

    def expect(self, item: StepItem) -> float:
        """The mean of the answers, each as probable as it is, in the direction in which it is analysed."""
        return sum(self.number_of(value, item) * share for value, share in self.by_value.items())

    def number_of(self, written: str, item: StepItem) -> float:
        """An answer, as it is written, as a number in the direction in which it is analysed."""
        value = written if item.type.is_verdict else int(written)
        as_number = number(item.item, value)
        if as_number is None:
            raise ValueError(f"{written} is no number of {item.key}")
        return as_number


def find_asking(study: Study) -> list[str]:
    """The judges of a study that ask for probabilities, by code. One query."""
    judges = Judge.objects.judging().filter(runs__study=study, metric="")
    return [judge.slug for judge in judges.distinct() if judge.parameters.get(ASKS)]


def list_grades(study: Study, judges: Collection[str]) -> list[GradedAnswer]:
    """What is known of the answers of these judges, by judge, call and item. One query."""
    about = ("assignment_id", "assignment__rater__code", "assignment__group__code", "story__code", "step__key")
    if not judges:
        return []
    read = ("attempt__call_id", "attempt_id", "state", "values", "grades")
    rows = (
        Parse.objects.filter(attempt__call__run__study=study, attempt__call__run__judge__slug__in=judges)
        .filter(attempt__call__assignment__isnull=False)
        .order_by("attempt__call__run__judge__slug", "attempt__call_id", "attempt_id", "pk")
        .values_list(*read, *(f"attempt__call__{name}" for name in about))
    )
    last_by_attempt: dict[int, dict[int, Any]] = defaultdict(dict)
    for call, attempt, *parse in rows.iterator(chunk_size=2000):
        last_by_attempt[call][attempt] = parse
    graded = []
    for parses in last_by_attempt.values():
        ends = [(state, values) for state, values, *_rest in parses.values()]
        _state, values, grades, *place = list(parses.values())[find_counted(ends)]
        assignment, judge, group, story, step = place
        graded += [
            GradedAnswer(assignment, judge, group or "", story or "", step, item, grade["by_value"], grade["outside"])
            for item, grade in sorted(grades.items())
            if item in values
        ]
    return graded


@dataclass(frozen=True)
class YesLevels:
    """How sure a judge is of each verdict, all of shape (I, U).

    shares : its probability of Yes, or its share of Yes over repeats; nan where it has neither
    n_answers : of which a share is; infinite for a probability, which no chance of repeats is in
    is_probability : where the share is one
    """

    shares: FloatArray
    n_answers: FloatArray
    is_probability: BoolArray


def read_yes_levels(dataset: Dataset, items: Sequence[StepItem], judge: str) -> YesLevels:
    """Of a verdict that was read several times a probability is the mean over all of its readings, if all have one."""
    shares, n_repeats = means_of_repeats(dataset, items, judge)
    probabilities = mean_expectations(dataset, items, judge)
    is_probability = np.isfinite(probabilities)
    return YesLevels(
        shares=np.where(is_probability, probabilities, shares),
        n_answers=np.where(is_probability, np.inf, n_repeats),
        is_probability=is_probability,
    )


def mean_expectations(dataset: Dataset, items: Sequence[StepItem], judge: str) -> FloatArray:
    """The mean answer that the judge's probabilities give, over all readings, shape (I, U); nan where one has none.

    Of a verdict that is the probability of Yes.
    """
    place_by_unit = {unit: n for n, unit in enumerate(dataset.units)}
    item_by_key = {item.key: (n, item) for n, item in enumerate(items)}
    sums, counts = np.zeros((2, len(items), len(place_by_unit)))
    for answer in _of_judge(dataset, judge):
        unit, item = place_by_unit.get((answer.group, answer.story)), item_by_key.get((answer.step, answer.item))
        if unit is not None and item is not None:
            sums[item[0], unit] += answer.expect(item[1])
            counts[item[0], unit] += 1
    rows = dataset.all_readings
    rows = rows[(rows["rater"] == judge) & (rows["outcome"] == Response.Outcome.ANSWERED)]
    n_answered = np.zeros(counts.shape)
    for group, story, step, key in zip(*(rows[name] for name in ("group", "story", "step", "item")), strict=True):
        if (group, story) in place_by_unit and (step, key) in item_by_key:
            n_answered[item_by_key[step, key][0], place_by_unit[group, story]] += 1
    return sums / np.where((counts > 0) & (counts >= n_answered), counts, np.nan)


def _of_judge(dataset: Dataset, judge: str) -> Iterator[GradedAnswer]:
    return (answer for answer in dataset.graded_answers if answer.judge == judge)
