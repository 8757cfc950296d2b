"""A judge's share of pairs, as right or the first place, with its interval and floor over all pairs and parts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from reports.document.values import Floor
from reports.figures.base import chance_floor, without_value
from reports.figures.judges.group_scores import mean_part
from reports.figures.judges.scores import PARTS, Score
from reports.lazy import judge_orders, np
from stats.reasons import Incomputable

if TYPE_CHECKING:
    from reports.dataset import Dataset
    from reports.dataset.judged_groups import JudgedPairs
    from stats.arrays import BoolArray, FloatArray


def score_choices(
    dataset: Dataset,
    pairs: JudgedPairs,
    name: str,
    shares: FloatArray,
    of_the_other: FloatArray | None,
    *,
    salt: tuple[int, ...],
    names: Sequence[str] = PARTS,
) -> Score:
    """A mean over pairs, in percent, over all of them and over each of these parts.

    shares : shape (P,); of_the_other : the same had the judge chosen the other story
    """

    def floor(mask: BoolArray, salt: tuple[int, ...]) -> Floor:
        if of_the_other is None:
            return Floor(mean=None, upper=None, why=without_value("independent_of_order"))
        kept = mask & np.isfinite(shares)
        return chance_floor(judge_orders.flip_floor, shares[kept], of_the_other[kept], rng=dataset.rng(*salt, 1))

    return Score(
        statistic=name,
        parts=tuple(
            mean_part(
                dataset,
                part,
                np.where(mask, 100 * shares, np.nan),
                pairs.groups,
                bounds=(0, 100),
                floor=partial(floor, mask, (*salt, n)),
                why_none=_why_none(pairs, name),
                salt=(*salt, n),
            )
            for n, (part, mask) in enumerate(_parts(dataset, pairs).items())
            if part in names
        ),
    )


def _parts(dataset: Dataset, pairs: JudgedPairs) -> dict[str, BoolArray]:
    """Which pairs are in each part, shape (P,)."""
    kinds = {story: source.kind for story, source in dataset.source_by_story.items()}
    of_models = np.array([all(kinds.get(s) == "language_model" for s in two) for two in pairs.stories], dtype=np.bool_)
    masks: dict[str, BoolArray] = {"all": np.ones(len(pairs.groups), dtype=np.bool_)}
    if of_models.any() and not of_models.all():
        masks["models"] = of_models
    return masks | {"unanimous": pairs.is_unanimous, "split": (pairs.n_choices > 1) & ~pairs.is_unanimous}


def _why_none(pairs: JudgedPairs, name: str) -> Incomputable:
    if name == "accuracy":
        return Incomputable("no_unit_with_judge_and_people")
    return Incomputable("pairs_not_turned") if pairs.is_order_known.any() else Incomputable("order_not_known")
