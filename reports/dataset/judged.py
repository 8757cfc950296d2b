"""A judge's answers to some items beside people's, over the same units."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from judges import prompts
from reports.dataset import cubes
from reports.dataset.jury import name_expected
from reports.lazy import arrays, judgements, np, pd
from studies.models import Source

if TYPE_CHECKING:
    from judges.models import Judge
    from reports.dataset import Dataset
    from reports.dataset.step_items import StepItem
    from stats.arrays import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class Judged:
    """What judges and people answered to the same items about the same units.

    names : of the judges
    judges : shape (J, I, U), nan where there is no answer
    people : shape (I, R, U)
    clusters, sources, stories : of each unit, shape (U,)
    is_of_models : which units are stories by models, shape (U,)
    """

    items: tuple[StepItem, ...]
    names: tuple[str, ...]
    judges: FloatArray
    people: FloatArray
    raters: tuple[str, ...]
    units: tuple[tuple[str, str], ...]
    clusters: IntArray
    sources: tuple[str, ...]
    is_of_models: BoolArray

    def majorities(self) -> FloatArray:
        """What more than half of people say of each unit, of verdicts; shape (I, U), nan for a tie or nobody."""
        return np.stack([judgements.majority(ratings) for ratings in self.people])

    def majority_options(self) -> FloatArray:
        """The option that more than half of people chose; shape (I, U), nan where none has so many."""
        return np.stack([judgements.majority_option(ratings) for ratings in self.people])

    def means(self) -> FloatArray:
        """The mean of people, shape (I, U)."""
        return np.asarray(arrays.mean_present(self.people, axis=1))

    @property
    def has_mixed_stories(self) -> bool:
        """Whether some stories are by models and others are not."""
        return bool(self.is_of_models.any() and not self.is_of_models.all())

    @property
    def units_by_part(self) -> dict[str, BoolArray]:
        """Which units are in "all", and in "models" where stories are mixed, shape (U,)."""
        everything = {"all": np.ones(len(self.units), dtype=np.bool_)}
        return everything | ({"models": self.is_of_models} if self.has_mixed_stories else {})


def answers_to(answers: pd.DataFrame, items: Sequence[StepItem]) -> pd.DataFrame:
    """The rows about these items."""
    is_about = np.zeros(len(answers), dtype=np.bool_)
    for step in {item.step.key for item in items}:
        names = [item.item.key for item in items if item.step.key == step]
        is_about |= ((answers["step"] == step) & answers["item"].isin(names)).to_numpy(dtype=np.bool_)
    return answers[is_about]


def judged(dataset: Dataset, items: Sequence[StepItem], *, with_jury: bool = False) -> Judged | None:
    """The answers to items about stories; None if no model has answered any of them. Read once for the same items.

    with_jury : whether the jury that is planned, and expected scores, stand among the judges: not where judges are held
        against each other
    """
    key = (tuple(item.key for item in items), with_jury and dataset.models_with_jury is not dataset.models)
    if key not in dataset.judged_by_items:
        dataset.judged_by_items[key] = _judged(dataset, items, with_jury=key[1])
    return dataset.judged_by_items[key]


def _judged(dataset: Dataset, items: Sequence[StepItem], *, with_jury: bool) -> Judged | None:
    rows = answers_to(dataset.models_with_jury if with_jury else dataset.models, items) if items else None
    if rows is None or rows.empty:
        return None
    names = tuple(sorted(rows["rater"].unique()))
    people = answers_to(dataset.people, items)
    keys = [item.key for item in items]
    units = dataset.units
    raters = sorted(people["rater"].unique())
    of_judges = cubes.build_cube(code_options(rows, items), keys, raters=list(names), units=units)
    if raters == dataset.raters and all(item.type.is_verdict for item in items):
        cube = dataset.cube(list(items))  # which is there: of a million answers another takes 60 MB
    else:
        cube = cubes.build_cube(code_options(people, items), keys, raters=raters, units=units)
    return Judged(
        items=tuple(items),
        names=names,
        judges=of_judges.values.transpose(1, 0, 2),
        people=cube.values,
        raters=tuple(raters),
        units=units,
        clusters=dataset.clusters(cube),
        sources=tuple(dataset.source_of(story) for story in cube.stories),
        is_of_models=dataset.is_of_kind(cube, Source.Kind.MODEL),
    )


def asked_units(dataset: Dataset, judge: str, units: Sequence[tuple[str, str]]) -> BoolArray:
    """Which units the judge is to answer, shape (U,): those of held-out groups where its prompt was made from answers
    about the others, else all."""
    held_out_by_name = {
        name: row.held_out for row in dataset.records.aligned_judges for name in (row.judge, name_expected(row.judge))
    }
    groups = held_out_by_name.get(judge)
    return np.array([groups is None or group in groups for group, _story in units], dtype=np.bool_)


def select_anchored(dataset: Dataset, names: Sequence[str]) -> tuple[str, ...]:
    """Of these judges those that were shown what people answered to other stories, or whose prompt was made from it, if
    the rest was not; else none.

    They are one panel with people, not a further opinion beside it, and often the same models once more: what is said
    of judges together is said without them.
    """
    judges = dataset.judge_by_slug
    anchored = tuple(name for name in names if name in judges and _knows_people(judges[name]))
    return anchored if len(anchored) < len(names) else ()


def _knows_people(judge: Judge) -> bool:
    if hasattr(judge.required_prompt, "proposal"):
        return True
    try:
        return prompts.shape_of(judge.required_prompt.template).takes_examples
    except prompts.InvalidPrompt:
        return False


def code_options(rows: pd.DataFrame, items: Sequence[StepItem]) -> pd.DataFrame:
    """The same with an option's place among the options as its number, where answers are options."""
    position_by_value = {
        (*item.key, option["value"]): float(n)
        for item in items
        if item.level == "nominal" and not item.type.is_verdict
        for n, option in enumerate(item.item.options)
    }
    if not position_by_value:
        return rows
    triples: Iterator[tuple[str, str, object]] = zip(rows["step"], rows["item"], rows["value"], strict=True)
    places = [position_by_value.get(triple) if isinstance(triple[2], str) else None for triple in triples]
    numbers = [n if n is not None else old for n, old in zip(places, rows["analysed"], strict=True)]
    return rows.assign(analysed=pd.Series(numbers, index=rows.index, dtype=object))
