"""What judges answered about whole groups: which of two stories they chose in which order, and how they rank them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from annotation.models import Rater, Response
from annotation.responses import imports
from reports.dataset.choices import NEITHER, Choice, choices_of, ranks_of
from reports.dataset.judged import answers_to
from reports.dataset.readings import answers_in_every_order
from reports.lazy import arrays, np, pd

if TYPE_CHECKING:
    from reports.dataset import Dataset
    from reports.dataset.step_items import StepItem
    from stats.arrays import BoolArray, FloatArray


@dataclass(frozen=True)
class JudgedPairs:
    """A judge's choices in the pairs of a study, each group of two stories one pair.

    groups, stories : of each pair, the stories by code
    chosen : shape (P, 2), in the order of the codes and in the other: 0 or 1, -1 for neither, nan without an answer
    preferred : shape (P,), the story that more than half of the people chose, nan without one
    n_choices : of people, shape (P,)
    is_order_known : shape (P,); of imported answers it is not
    """

    judge: str
    groups: tuple[str, ...]
    stories: tuple[tuple[str, str], ...]
    chosen: FloatArray
    preferred: FloatArray
    is_unanimous: BoolArray
    n_choices: FloatArray
    is_order_known: BoolArray


def judged_pairs(dataset: Dataset, item: StepItem) -> list[JudgedPairs]:
    """Every judge's choices, beside people's: of models, and of metrics that choose. Of several readings in one order
    the first counts. A judge all of whose answers are lost has none.
    """
    rows = answers_to(dataset.all_readings, [item])
    if rows.empty:
        return []
    answers = answers_in_every_order(dataset, rows)
    pairs = _pairs_of(dataset)
    groups, position_by_group = tuple(pairs), {group: n for n, group in enumerate(pairs)}
    imported = _imported(dataset, item)
    by_group = _choices_by_group(choices_of(dataset, item))
    preferred = np.array([_majority(by_group[group], pairs[group]) for group in groups])
    n_choices = np.array([len(by_group[group]) for group in groups], dtype=np.float64)
    alike = [len({choice.story for choice in by_group[group]}) == 1 and len(by_group[group]) > 1 for group in groups]
    judged = []
    for judge, rows in answers.groupby("rater", sort=True):
        chosen = np.full((len(groups), 2), np.nan)
        known = np.ones(len(groups), dtype=np.bool_)
        rows = rows[rows["outcome"] == Response.Outcome.ANSWERED]
        for group, order, value in zip(rows["group"], rows["stories"], rows["value"], strict=True):
            if group not in position_by_group or sorted(order) != list(pairs[group]):
                continue
            at = (position_by_group[group], int(order[0] != pairs[group][0]))
            known[at[0]] = (str(judge), group) not in imported
            if np.isnan(chosen[at]):
                chosen[at] = pairs[group].index(value) if value in pairs[group] else -1
        judged.append(
            JudgedPairs(
                judge=str(judge),
                groups=groups,
                stories=tuple(pairs.values()),
                chosen=chosen,
                preferred=preferred,
                is_unanimous=np.array(alike, dtype=np.bool_),
                n_choices=n_choices,
                is_order_known=known,
            )
        )
    return judged


def people_on_pairs(dataset: Dataset, item: StepItem, groups: Sequence[str]) -> FloatArray:
    """People's choices as `JudgedPairs.chosen` has them, shape (R, P), of the first answer of each to a pair."""
    pairs, choices = _pairs_of(dataset), choices_of(dataset, item)
    raters = sorted({choice.rater for choice in choices})
    chosen = np.full((len(raters), len(groups)), np.nan)
    position_by_group = {group: n for n, group in enumerate(groups)}
    for choice in choices:
        if choice.group in position_by_group:
            at = (raters.index(choice.rater), position_by_group[choice.group])
            stories = pairs[choice.group]
            chosen[at] = stories.index(choice.story) if choice.story in stories else NEITHER
    return chosen


def _pairs_of(dataset: Dataset) -> dict[str, tuple[str, str]]:
    """The two stories of every group that has two, by code."""
    stories = defaultdict[str, list[str]](list)
    for group, story in dataset.units:
        stories[group].append(story)
    return {group: (codes[0], codes[1]) for group, codes in stories.items() if len(codes) == 2}


def _choices_by_group(choices: list[Choice]) -> defaultdict[str, list[Choice]]:
    by_group = defaultdict[str, list[Choice]](list)
    for choice in choices:
        by_group[choice.group].append(choice)
    return by_group


def _majority(choices: list[Choice], stories: tuple[str, str]) -> float:
    """The place of the story that more than half chose; nan without one."""
    for place, story in enumerate(stories):
        if 2 * sum(choice.story == story for choice in choices) > len(choices):
            return float(place)
    return float("nan")


def _imported(dataset: Dataset, item: StepItem) -> set[tuple[str, str]]:
    """Judge and group of each imported answer, of which nobody knows in which order the stories were shown."""
    responses = Response.objects.exclude(assignment__rater_kind=Rater.Kind.PERSON).filter(
        assignment__study=dataset.study,
        step__key=item.step.key,
        item__key=item.item.key,
        events__key=imports.EVENT_KEY,
    )
    return set(responses.values_list("assignment__rater__code", "assignment__group__code"))


@dataclass(frozen=True)
class JudgedOrders:
    """A judge's ranks of each group's stories beside people's.

    ranks, mean_ranks : of each group, shape (S,), 1 is best; nan for a story that was not ranked
    is_of_models : of each group, which stories are by models, shape (S,)
    is_unanimous : which groups two people or more all put in the same order, shape (G,)
    n_people : of each group
    """

    judge: str
    groups: tuple[str, ...]
    ranks: tuple[FloatArray, ...]
    mean_ranks: tuple[FloatArray, ...]
    is_of_models: tuple[BoolArray, ...]
    is_unanimous: BoolArray
    n_people: tuple[int, ...]


def judged_orders(dataset: Dataset, item: StepItem) -> list[JudgedOrders]:
    """Every model's order of the groups, beside the mean ranks of people; of one whose answers are all lost none."""
    rows = answers_to(dataset.models, [item])
    if rows.empty:
        return []
    stories = defaultdict[str, list[str]](list)
    for group, story in dataset.units:
        stories[group].append(story)
    of_people = _ranks_by_group(dataset.answers_to(item))
    kinds = {story: source.kind for story, source in dataset.source_by_story.items()}
    judged = []
    for judge, answers in rows.groupby("rater", sort=True):
        by_group = _ranks_by_group(answers[answers["outcome"] == Response.Outcome.ANSWERED])
        groups = tuple(sorted(by_group))
        tables = [_table(of_people.get(group, []), stories[group]) for group in groups]
        judged.append(
            JudgedOrders(
                judge=str(judge),
                groups=groups,
                ranks=tuple(_table(by_group[group], stories[group])[0] for group in groups),
                mean_ranks=tuple(arrays.mean_present(table, axis=0) for table in tables),
                is_of_models=tuple(
                    np.array([kinds.get(story) == "language_model" for story in stories[group]], dtype=np.bool_)
                    for group in groups
                ),
                is_unanimous=np.array([len(t) > 1 and bool((t == t[0]).all()) for t in tables], dtype=np.bool_),
                n_people=tuple(len(table) for table in tables),
            )
        )
    return judged


def _ranks_by_group(answers: pd.DataFrame) -> dict[str, list[dict[str, float]]]:
    by_group = defaultdict[str, list[dict[str, float]]](list)
    for group, order in zip(answers["group"], answers["value"], strict=True):
        by_group[group].append(ranks_of(order))
    return dict(by_group)


def _table(ranks: list[dict[str, float]], stories: list[str]) -> FloatArray:
    """One row for each order, shape (R, S)."""
    rows = [[rank_by_story.get(story, np.nan) for story in stories] for rank_by_story in ranks]
    return np.array(rows, dtype=np.float64).reshape(len(ranks), len(stories))
