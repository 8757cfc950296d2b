"""Coverage of the intervals of coefficients, strengths and slopes: of each kind one study around a known truth."""

from functools import partial

import numpy as np

from stats import (
    comparisons,
    human_line,
    intervals,
    judge_scores,
    reliability,
    strengths,
    table_scores,
)
from stats.arrays import FloatArray
from stats.intervals import Interval
from stats.reasons import Incomputable
from stats.resamples import Resamples
from tools.intervals import answers
from tools.intervals.answers import N_RATERS, Case, clusters_of, raw_ratings, scale_ratings, truth, verdicts, worth

STRENGTHS = (0.8, 0.0, -0.8)  # of three sources, on the scale of log odds


def _true_kappa(rng: np.random.Generator, bar: float) -> float:
    ratings = verdicts(rng, answers.N_LARGE, bar=bar)
    return float(intervals.fleiss_kappa_resamples(ratings, np.ones((1, ratings.shape[1]), dtype=np.int64))[0])


TRUE_KAPPAS = {bar: partial(_true_kappa, bar=bar) for bar in (0.2, 1.1, 1.6)}


def kappa(rng: np.random.Generator, n: int, *, bar: float = 0.2) -> tuple[Interval, float]:
    ratings = verdicts(rng, n, bar=bar)
    ends = intervals.fleiss_kappa_interval(ratings, clusters_of(n), rng=rng, n_resamples=answers.N_RESAMPLES)
    return ends, truth(TRUE_KAPPAS[bar])


RARE: dict[str, Case] = {
    "Fleiss' kappa, about 7 % Yes": partial(kappa, bar=1.6),
    "Fleiss' kappa, about 15 % Yes": partial(kappa, bar=1.1),
}


def _true_alpha(rng: np.random.Generator) -> float:
    ratings = scale_ratings(rng, answers.N_LARGE)
    return float(intervals.alpha_resamples(ratings, "ordinal", np.ones((1, ratings.shape[1]), dtype=np.int64))[0])


def alpha(rng: np.random.Generator, n: int) -> tuple[Interval, float]:
    ends = intervals.alpha_interval(
        scale_ratings(rng, n), "ordinal", clusters_of(n), rng=rng, n_resamples=answers.N_RESAMPLES
    )
    return ends, truth(_true_alpha)


def pairs_r(rng: np.random.Generator, n: int) -> tuple[Interval, float]:
    """Pearson's r over pairs of raters: the variance of stories (.5) over that of ratings (.5 + .64)."""
    resamples = partial(comparisons.pairs_pearson_resamples, raw_ratings(rng, n))
    ends = intervals.coefficient_interval(resamples, clusters_of(n), rng=rng, n_resamples=answers.N_RESAMPLES)
    return ends, 0.5 / 1.14


def _judged(rng: np.random.Generator, n: int) -> tuple[FloatArray, FloatArray]:
    """What a judge and people say of the same stories, shape (1, U) each."""
    of_stories = worth(rng, n)
    judge = of_stories + rng.normal(0, 0.8, of_stories.size)
    people = of_stories + rng.normal(0, 0.8, (N_RATERS, of_stories.size)).mean(axis=0)
    return judge[np.newaxis], people[np.newaxis]


def _true_spearman(rng: np.random.Generator) -> float:
    return float(comparisons.spearman(*(side[0] for side in _judged(rng, answers.N_LARGE))))


def judge_spearman(rng: np.random.Generator, n: int) -> tuple[Interval, float]:
    judge, people = _judged(rng, n)
    ends = judge_scores.score_interval(
        judge_scores.SPEARMAN, judge, people, list(clusters_of(n)), rng=rng, n_resamples=answers.N_RESAMPLES
    )
    return ends, truth(_true_spearman)


def _true_judge_kappa(rng: np.random.Generator) -> float:
    judge, people = ((side > 0.2).astype(float) for side in _judged(rng, answers.N_LARGE))
    tables = table_scores.tables_by_cluster(judge, people, np.zeros(judge.shape[1]))
    return table_scores.score(table_scores.KAPPA, tables)


def judge_kappa(rng: np.random.Generator, n: int) -> tuple[Interval, float]:
    judge, people = ((side > 0.2).astype(float) for side in _judged(rng, n))
    tables = table_scores.tables_by_cluster(judge, people, list(clusters_of(n)))
    ends = table_scores.score_interval(table_scores.KAPPA, tables, rng=rng, n_resamples=answers.N_RESAMPLES)
    return ends, truth(_true_judge_kappa)


def _existing(ends: Interval | Incomputable) -> Interval:
    if isinstance(ends, Incomputable):
        raise ends
    return ends


def _gwet(rng: np.random.Generator) -> float:
    return float(reliability.gwet_ac(verdicts(rng, answers.N_LARGE), (0, 1)))


def gwet(rng: np.random.Generator, n: int) -> tuple[Interval, float]:
    drawn = Resamples(clusters_of(n), rng=rng, n_resamples=answers.N_RESAMPLES)
    return reliability.gwet_interval(verdicts(rng, n), (0, 1), drawn), truth(_gwet)


def intraclass(rng: np.random.Generator, n: int) -> tuple[Interval, float]:
    """ICC(A,1) of raters who are alike: the variance of stories (.5) over that of ratings (.5 + .64)."""
    drawn = Resamples(clusters_of(n), rng=rng, n_resamples=answers.N_RESAMPLES)
    return reliability.intraclass_intervals(raw_ratings(rng, n), drawn)[0], 0.5 / 1.14


def _decisions(rng: np.random.Generator, n: int) -> strengths.Decisions:
    """Orders of three sources' stories by three raters of each cluster, who see them as differently as Luce has it."""
    orders = [
        strengths.Order([[int(one)] for one in np.argsort(-(np.array(STRENGTHS) + rng.gumbel(size=3)))])
        for _ in range(n * N_RATERS)
    ]
    return strengths.decisions(orders, np.repeat(np.arange(n), N_RATERS).tolist(), len(STRENGTHS))


def strength(rng: np.random.Generator, n: int) -> tuple[Interval, float]:
    """Of the strongest of three."""
    of_sources = strengths.strength_intervals(_decisions(rng, n), rng=rng, n_resamples=answers.N_RESAMPLES)
    return _existing(of_sources[0]), STRENGTHS[0]


def _person_and_judge(rng: np.random.Generator, n: int, n_resamples: int) -> human_line.HumanLine:
    """Verdicts of a judge who errs as much as people do, less than it is one of them."""
    of_stories = worth(rng, n)
    people = of_stories + rng.normal(0, 0.8, (1, N_RATERS, of_stories.size))
    judge = of_stories + rng.normal(0, 1.0, (1, of_stories.size))
    both = ((side > 0.2).astype(float) for side in (people, judge))
    return human_line.compare(*both, clusters_of(n), against="pairwise", rng=rng, n_resamples=n_resamples)


def _true_difference(rng: np.random.Generator) -> float:
    return _person_and_judge(rng, answers.N_LARGE, 2).difference


def judge_and_person(rng: np.random.Generator, n: int) -> tuple[Interval, float]:
    line = _person_and_judge(rng, n, answers.N_RESAMPLES)
    return _existing(line.difference_interval), truth(_true_difference)


KINDS: dict[str, Case] = {
    "Fleiss' kappa": kappa,
    "Krippendorff's alpha, ordinal": alpha,
    "Pearson's r over pairs of raters": pairs_r,
    "Cohen's kappa of a judge": judge_kappa,
    "Spearman's rho of a judge": judge_spearman,
    "Gwet's AC1": gwet,
    "Intraclass correlation ICC(A,1)": intraclass,
    "Strength of a source (Plackett–Luce)": strength,
    "Judge less a person, Cohen's kappa": judge_and_person,
}
