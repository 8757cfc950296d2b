"""What QUIET varies: samples that people scored, a constraint as a whole or by checks, and how fine its scale is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reports.dataset.judged_clozes import HIGHEST, ratings_of, required_keys
from reports.lazy import cloze, np

if TYPE_CHECKING:
    from reports.dataset import Dataset, StepItem
    from reports.dataset.judged_clozes import JudgedCloze
    from stats.arrays import FloatArray


@dataclass(frozen=True)
class Condition:
    """One cell: the same models in each, in the same order.

    is_anchored : whether they were shown samples that people scored
    is_atomic : whether the score is put together from yes-or-no checks
    scores : 0 to 5, of J judges, N texts, K constraints
    """

    is_anchored: bool
    is_atomic: bool
    judges: tuple[str, ...]
    scores: FloatArray


def read_conditions(dataset: Dataset, judged: JudgedCloze) -> tuple[Condition, ...]:
    """The four cells over the constraints that have checks, or the two without checks over all if none has any.

    Only models that judged both with and without samples enter; none if fewer than two did.
    """
    pairs = _pair_by_model(dataset, judged)
    if len(pairs) < 2:
        return ()
    checks = _checks_by_constraint(dataset, judged)
    keys = [c.item.item.key for c in judged.constraints]
    columns = [k for k, key in enumerate(keys) if key in checks]
    is_atomic_asked = bool(columns)
    items = [judged.constraints[k].item for k in columns or range(len(keys))]
    conditions = []
    for is_anchored in (False, True):
        judges = tuple(pair[is_anchored] for pair in pairs)
        conditions.append(Condition(is_anchored, False, judges, ratings_of(dataset, items, judges)))
        if is_atomic_asked:
            scores = [_score(dataset, judged, keys[k], checks[keys[k]], judges) for k in columns]
            conditions.append(Condition(is_anchored, True, judges, np.stack(scores, axis=-1)))
    return tuple(conditions)


def _pair_by_model(dataset: Dataset, judged: JudgedCloze) -> list[tuple[str, str]]:
    """Of each model the judge without samples and the one with them."""
    plain, anchored = (_judge_by_model(dataset, names) for names in (judged.judges, judged.anchored))
    return [(name, anchored[model]) for model, name in sorted(plain.items()) if model in anchored]


def _judge_by_model(dataset: Dataset, names: Sequence[str]) -> dict[tuple[int, str], str]:
    judges = [dataset.judge_by_slug[name] for name in names if name in dataset.judge_by_slug]
    return {(judge.required_endpoint.pk, judge.model): judge.slug for judge in reversed(judges)}


@dataclass(frozen=True)
class Scales:
    """The same models on both scales, 0 to 1, of M models, N texts, K constraints.

    models : the name of each; fine_judges, coarse_judges : the judge as which it answered
    fine : of 0 to 5 divided by 5; coarse : of 0, .5 and 1
    """

    models: tuple[str, ...]
    fine_judges: tuple[str, ...]
    coarse_judges: tuple[str, ...]
    fine: FloatArray
    coarse: FloatArray


def read_scales(dataset: Dataset, judged: JudgedCloze) -> Scales | None:
    """The models that judged on both scales, as one judge or as two; None if none did."""
    fine, coarse = (_judge_by_model(dataset, names) for names in (judged.judges, judged.coarse_judges))
    models = sorted(fine.keys() & coarse.keys())
    if not models:
        return None
    return Scales(
        models=tuple(model for _endpoint, model in models),
        fine_judges=tuple(fine[model] for model in models),
        coarse_judges=tuple(coarse[model] for model in models),
        fine=judged.ratings[[judged.judges.index(fine[model]) for model in models]] / HIGHEST,
        coarse=judged.coarse[[judged.coarse_judges.index(coarse[model]) for model in models]],
    )


def _checks_by_constraint(dataset: Dataset, judged: JudgedCloze) -> Mapping[str, list[StepItem]]:
    """The checks of each constraint that has any, by its key."""
    instrument = judged.constraints[0].item.item.instrument_id
    items = [item for item in dataset.items if item.item.instrument_id == instrument]
    of = {
        constraint.item.item.key: [i for i in items if i.item.key.startswith(f"{constraint.item.item.key}-k")]
        for constraint in judged.constraints
    }
    return {key: checks for key, checks in of.items() if checks}


def _score(
    dataset: Dataset, judged: JudgedCloze, key: str, checks: Sequence[StepItem], judges: Sequence[str]
) -> FloatArray:
    """The score of one constraint from its checks, shape (J, N)."""
    required = required_keys(judged.document, key)
    is_required = [check.item.key in required for check in checks]
    return np.asarray(cloze.score_checks(ratings_of(dataset, checks, judges), is_required))
