"""What the plan of NSV takes from elsewhere: scores of ideas by name, and who prefers which idea of a prompt."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from annotation.models import Rater, Response
from judges.models import ScoreCard
from reports.dataset.choices import choices_of
from reports.dataset.ideas import mean_ratings
from reports.lazy import np, nsv_procedure
from stats.reasons import Incomputable

if TYPE_CHECKING:
    from reports.dataset import Dataset
    from reports.dataset.ideas import Ideas
    from stats.arrays import BoolArray, FloatArray, IntArray
    from stats.nsv_procedure import IdeaPairs
    from studies.documents.analysis_plan import AnalysisPlan

SALT = 151  # of the seed


def read_scores(dataset: Dataset, name: str, ideas: Ideas, *, reason: str) -> tuple[FloatArray, FloatArray]:
    """The scores of that name of each idea, shape (U,), and of each reference that is one of them, shape (N,).

    Of an idea that was scored in several groups, the mean.

    Turned so that higher is better, where a card says which way is. nan where there is none.
    Raises Incomputable for that reason if there are none, or several of an idea.
    """
    rows = dataset.judges
    rows = rows[
        (rows["rater_kind"] == Rater.Kind.METRIC)
        & (rows["rater"] == name)
        & (rows["story"] != "")
        & (rows["outcome"] == Response.Outcome.ANSWERED)
    ]
    if not len(rows) or len(rows[["step", "item"]].drop_duplicates()) > 1:
        raise Incomputable(reason, name=name)
    card = ScoreCard.objects.filter(study=dataset.study, rater__code=name).first()
    sign = -1.0 if card and card.better == ScoreCard.Better.LOWER else 1.0
    value_by_story = (sign * rows.groupby("story")["analysed"].mean()).to_dict()
    values = np.array([value_by_story.get(code, np.nan) for code in ideas.codes], dtype=np.float64)
    of_references = np.full(len(ideas.reference.texts), np.nan)
    of_references[ideas.own[ideas.own >= 0]] = values[ideas.own >= 0]
    return values, of_references


def list_preferences(
    dataset: Dataset, plan: AnalysisPlan, ideas: Ideas, used: IntArray, *, is_original: BoolArray
) -> IdeaPairs:
    """Pairs of the used ideas of one prompt, as the plan says: by the target, by people's choices, or by named scores.

    is_original : of all ideas, shape (U,); paraphrases enter no pair. Raises Incomputable if there are no such scores.
    """
    if "/" in plan.nsv_pairs:
        return _list_choices(dataset, plan.nsv_pairs, ideas, used, is_original)
    order = mean_ratings(ideas.ratings)
    if plan.nsv_pairs:
        order, _of_references = read_scores(dataset, plan.nsv_pairs, ideas, reason="no_named_scores")
    order = np.where(is_original, order, np.nan)[used]
    return nsv_procedure.list_pairs(order, ideas.prompts[used], rng=dataset.rng(SALT, 0))


def _list_choices(dataset: Dataset, key: str, ideas: Ideas, used: IntArray, is_original: BoolArray) -> IdeaPairs:
    """Whichever of two ideas of a prompt most people prefer, with their share; whoever is chosen beats all others."""
    place_by_code = {ideas.codes[n]: place for place, n in enumerate(used) if is_original[n]}
    votes: Counter[tuple[int, int]] = Counter()
    item = next(item for item in dataset.items if f"{item.step.key}/{item.item.key}" == key)
    for choice in choices_of(dataset, item):
        best = place_by_code.get(choice.story)
        others = [place_by_code[code] for code in choice.order if code in place_by_code and code != choice.story]
        if best is not None:
            votes.update((best, other) for other in others if ideas.prompts[used[best]] == ideas.prompts[used[other]])
    won = sorted((a, b) for a, b in votes if votes[a, b] > votes[b, a])
    return nsv_procedure.IdeaPairs(
        chosen=np.array([a for a, _b in won], dtype=np.int64),
        rejected=np.array([b for _a, b in won], dtype=np.int64),
        shares=np.array([votes[pair] / (votes[pair] + votes[pair[::-1]]) for pair in won], dtype=np.float64),
    )
