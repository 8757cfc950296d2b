"""Pairs of a release, of which votes say the better story, as arrays to compute with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import pandas as pd

from annotation.models import Rater, Response
from reports.dataset import Dataset
from reports.dataset.lengths import story_lengths
from stats.arrays import FloatArray, IntArray
from studies.models import Story
from studies.vote_pairs import TOKEN

VOTES = "upvotes"  # the rater whose choices are those of the votes
SWAPPED = "-swapped"  # behind the name of a judge that had the story first whose name in the release comes later


@dataclass(frozen=True)
class JudgeChoices:
    """What one judge chose.

    chosen : shape (P, 2), with the story first whose name in the release comes first, and in the other order: which
        story of `VotedPairs`, 0 or 1, nan without an answer that can be read
    n_lost : answers that cannot be read
    has_orders : whether it was shown pairs in an order; a reward model was not
    """

    chosen: FloatArray
    n_lost: int
    has_orders: bool


@dataclass(frozen=True)
class VotedPairs:
    """P pairs with their stories in the order of the stories' names in the release.

    stories : shape (P, 2), numbers of stories; prompts : shape (P,), numbers of prompts, below 0
        and each its own where none could be fetched
    preferred : shape (P,), the place of the story that votes chose, nan without one
    n_words, n_tokens, upvotes, posted : by story, nan where not known; posted in seconds since 1970
    """

    stories: IntArray
    prompts: IntArray
    preferred: FloatArray
    n_words: FloatArray
    n_tokens: FloatArray
    upvotes: FloatArray
    posted: FloatArray
    judges: Mapping[str, JudgeChoices]

    def by_side(self, of_stories: FloatArray) -> FloatArray:
        """What stories have, of the chosen one and the other, shape (P with a choice, 2)."""
        is_known = np.isfinite(self.preferred)
        rows, places = self.stories[is_known], self.preferred[is_known].astype(np.int64)
        sides = np.stack([rows[np.arange(len(rows)), places], rows[np.arange(len(rows)), 1 - places]], axis=1)
        return np.asarray(of_stories[sides], dtype=np.float64)


def collect_pairs(dataset: Dataset, *, judges: Sequence[str]) -> VotedPairs:
    """The pairs of a study that was brought in from a release, with what these judges chose. A few queries."""
    name_by_story = {code: str(source.factors["release_id"]) for code, source in dataset.source_by_story.items()}
    stories = sorted(name_by_story, key=name_by_story.__getitem__)
    number_by_story = {code: n for n, code in enumerate(stories)}
    pair_by_group: dict[str, list[str]] = {}
    for group, story in dataset.units:
        pair_by_group.setdefault(group, []).append(story)
    pairs = {group: sorted(pair, key=number_by_story.__getitem__) for group, pair in pair_by_group.items()}
    premise_by_group = dict(dataset.study.groups.values_list("code", "premise"))
    answers_by_rater = {str(rater): rows for rater, rows in dataset.judges.groupby("rater", observed=True)}
    texts = dict(Story.objects.filter(study=dataset.study).values_list("code", "text"))
    factors = [dataset.source_by_story[story].factors for story in stories]
    names = dict.fromkeys(name.removesuffix(SWAPPED) for name in judges if name != VOTES)
    return VotedPairs(
        stories=np.array([[number_by_story[story] for story in pair] for pair in pairs.values()], dtype=np.int64),
        prompts=_number_prompts([premise_by_group[group] for group in pairs]),
        preferred=_chosen(answers_by_rater.get(VOTES), pairs),
        n_words=story_lengths(dataset, [("", story) for story in stories]),
        n_tokens=np.array([len(TOKEN.findall(texts[s])) or np.nan for s in stories], dtype=np.float64),
        upvotes=np.array([float(of.get("upvotes", np.nan)) for of in factors]),
        posted=np.array(
            [datetime.fromisoformat(of["posted"]).timestamp() if "posted" in of else np.nan for of in factors]
        ),
        judges={name: _answers(name, answers_by_rater, pairs) for name in names},
    )


def _number_prompts(prompts: Sequence[str]) -> IntArray:
    numbers = np.unique(prompts, return_inverse=True)[1].astype(np.int64)
    return np.where(np.array(prompts) == "", -1 - np.arange(len(prompts)), numbers)


def _chosen(answers: pd.DataFrame | None, pairs: Mapping[str, Sequence[str]]) -> FloatArray:
    """The place of the story that a rater chose in each pair, shape (P,); nan without an answer."""
    chosen = np.full(len(pairs), np.nan)
    if answers is not None:
        number_by_group = {group: n for n, group in enumerate(pairs)}
        answered = answers[answers["outcome"] == Response.Outcome.ANSWERED]
        for group, story in zip(answered["group"], answered["value"], strict=True):
            chosen[number_by_group[group]] = pairs[group].index(story)
    return chosen


def _answers(
    name: str, answers_by_rater: Mapping[str, pd.DataFrame], pairs: Mapping[str, Sequence[str]]
) -> JudgeChoices:
    orders = [answers_by_rater.get(rater) for rater in (name, name + SWAPPED)]
    here = [answers for answers in orders if answers is not None]
    return JudgeChoices(
        chosen=np.stack([_chosen(answers, pairs) for answers in orders], axis=1),
        n_lost=sum(int((answers["outcome"] != Response.Outcome.ANSWERED).sum()) for answers in here),
        has_orders=any((answers["rater_kind"] == Rater.Kind.MODEL).any() for answers in here),
    )
