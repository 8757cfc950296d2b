"""How much answers of an earlier study vary, as what a new one with the same questions is simulated with.

Answers have the shape of `stats.planned_answers.PlannedReadings.table`: raters by units, nan where a rater gave none.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from stats.arrays import FloatArray, IntArray
from stats.planned_answers import PERCENT, AnswerKind, Deviations, latent_deviations
from stats.reasons import Incomputable
from stats.source_model import CrossedAnswers, SourceModel

FEWEST_RATERS, FEWEST_STORIES = 3, 6  # below which a standard deviation of theirs is hardly more than a guess
FEWEST_READ_TWICE = 4  # stories with two raters, from whom a story is told from the rest


@dataclass(frozen=True, kw_only=True)
class PilotAnswers:
    """People's answers to one outcome. ratings : shape (R, U); source, block, group and story of each unit, shape (U,)

    Choices of a pair are 100 for the story that was chosen and 0, rankings places from 1.
    """

    ratings: FloatArray
    source: IntArray
    block: IntArray
    group: IntArray
    story: IntArray


@dataclass(frozen=True, kw_only=True)
class PilotDeviations:
    """What the answers amount to.

    mean : of all; n_answers : one rater's about one story, or about one group
    is_source_told : whether what raters make of a source can be told; otherwise it is 0 here
    """

    mean: float
    deviations: Deviations
    is_source_told: bool
    n_answers: int
    n_raters: int
    n_stories: int


def estimate_deviations(answers: PilotAnswers, kind: AnswerKind) -> PilotDeviations:
    """Means and standard deviations in the units of `stats.planned_answers.Deviations`.

    Raises Incomputable for fewer raters or stories than can tell, or where answers do not vary as assumed.
    """
    is_answered = np.isfinite(answers.ratings)
    n_by_story = np.bincount(answers.story, is_answered.sum(axis=0))
    n_raters, n_stories = int(is_answered.any(axis=1).sum()), int((n_by_story > 0).sum())
    if n_raters < FEWEST_RATERS:
        raise Incomputable("pilot_of_few_raters", n=n_raters, least=FEWEST_RATERS)
    if n_stories < FEWEST_STORIES:
        raise Incomputable("pilot_of_few_stories", n=n_stories, least=FEWEST_STORIES)
    if (n_by_story > 1).sum() < FEWEST_READ_TWICE:
        raise Incomputable("pilot_read_by_one", least=FEWEST_READ_TWICE)
    is_of_order = kind in ("preference", "rank")
    crossed = _decisions(answers) if is_of_order else _readings(answers)
    if len(crossed.values) == 0 or np.ptp(crossed.values) == 0:
        raise Incomputable("pilot_without_variation")
    model = SourceModel(crossed)
    if {"rater", "story"} & set(model.not_told):
        raise Incomputable("pilot_read_by_one", least=FEWEST_READ_TWICE)
    return PilotDeviations(
        mean=float(answers.ratings[is_answered].mean()),
        deviations=_of_order(crossed, model) if is_of_order else _of_readings(model, kind),
        is_source_told=is_of_order or "rater_source" not in model.not_told,
        n_answers=len(_sets(answers)) if is_of_order else len(crossed.values),
        n_raters=n_raters,
        n_stories=n_stories,
    )


def _readings(answers: PilotAnswers) -> CrossedAnswers:
    rater, unit = np.nonzero(np.isfinite(answers.ratings))
    return CrossedAnswers(
        values=answers.ratings[rater, unit],
        source=answers.source[unit],
        block=answers.block[unit],
        rater=rater.astype(np.int64),
        story=answers.story[unit],
    )


def _of_readings(model: SourceModel, kind: AnswerKind) -> Deviations:
    variances = model.variances
    return Deviations(
        rater=variances["rater"] ** 0.5,
        rater_source=variances["rater_source"] ** 0.5,
        premise=max(variances["block"], model.block_variance) ** 0.5,
        story=variances["story"] ** 0.5,
        rest=0.0 if kind == "verdict" else variances["residual"] ** 0.5,
    )


def _sets(answers: PilotAnswers) -> list[tuple[int, IntArray]]:
    """Each rater with the units of one group that this rater has put in an order."""
    sets = []
    for group in np.unique(answers.group):
        units = np.flatnonzero(answers.group == group)
        for rater in np.flatnonzero(np.isfinite(answers.ratings[:, units]).any(axis=1)):
            sets.append((int(rater), units[np.isfinite(answers.ratings[rater, units])].astype(np.int64)))
    return sets


def _decisions(answers: PilotAnswers) -> CrossedAnswers:
    """Orders as decisions between two stories, 100 where that of the first source is put before the other.

    A decision is an answer about a pair of stories, whose source is the pair of sources. Of a choice among more than
    two only those decisions are known in which the chosen story is.
    """
    is_choice = bool(np.isin(answers.ratings[np.isfinite(answers.ratings)], (0, PERCENT)).all())
    n_sources, n_units = int(answers.source.max()) + 1, len(answers.source)
    rows = []
    for rater, units in _sets(answers):
        for pair in combinations(units.tolist(), 2):
            first, second = sorted(pair, key=lambda unit: (answers.source[unit], unit))
            ahead = answers.ratings[rater, first] - answers.ratings[rater, second]
            if answers.source[first] == answers.source[second] or ahead == 0:
                continue
            of_pair = answers.source[first] * n_sources + answers.source[second]
            is_before = ahead > 0 if is_choice else ahead < 0
            rows.append((PERCENT * is_before, of_pair, rater, first * n_units + second))
    table = np.array(rows, dtype=np.float64).reshape(-1, 4)
    source, by, story = table[:, 1:].astype(np.int64).T
    return CrossedAnswers(values=table[:, 0], source=source, block=np.zeros_like(source), rater=by, story=story)


def _of_order(decisions: CrossedAnswers, model: SourceModel) -> Deviations:
    """On the latent scale, in units of the rest.

    Two raters' decisions on a pair of stories have what the stories add in common, two of one rater's between the same
    sources what that rater makes of them; of each the correlation on the latent scale follows from the covariance.
    """
    n_by_pair = np.bincount(decisions.source)
    shares = np.bincount(decisions.source, decisions.values)[n_by_pair > 0] / n_by_pair[n_by_pair > 0] / PERCENT
    variance = float(np.average(shares * (1 - shares), weights=n_by_pair[n_by_pair > 0]))
    share = PERCENT * (0.5 - max(0.25 - variance, 0.0) ** 0.5)  # whose Yes vary as these decisions do within pairs
    of_rater = (model.variances["rater"] + model.variances["rater_source"]) ** 0.5
    try:
        latent = latent_deviations(share, Deviations(rater=of_rater, story=model.variances["story"] ** 0.5, rest=0.0))
    except ValueError:
        raise Incomputable("pilot_without_variation") from None
    return Deviations(rater_source=latent.rater / latent.rest, story=latent.story / latent.rest, rest=1.0)
