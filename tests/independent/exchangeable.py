"""How many judges that give the answer of a person drawn anew for each unit would pass: room made unit by unit."""

import numpy as np
from scipy import stats

from tests.independent import intervals

N_JUDGES, LEAST_PEOPLE, LEAST_UNITS = 200, 3, 30


def percent_drawn(people, is_models, least, score, epsilon, seed):
    """people : a row for each (key, group, story), a column for each person; least : what the advantage must be above

    None where one form of the test tests nobody.
    """
    answers = people.to_numpy(dtype=float)
    draws = np.random.default_rng(list(seed)).random((N_JUDGES, len(answers)))
    who = np.zeros(draws.shape, dtype=int)
    for unit, row in enumerate(answers):
        there = np.flatnonzero(np.isfinite(row))
        if len(there):
            who[:, unit] = there[(draws[:, unit] * len(there)).astype(int)]
    stories = np.array([story for _key, _group, story in people.index])
    of_models = is_models.to_numpy()
    by_unit = np.arange(len(answers))
    forms = [
        tested(answers, who, by_unit, score, epsilon),
        tested(answers, who, stories, score, epsilon),
        tested(answers[of_models], who[:, of_models], by_unit[of_models], score, epsilon),
    ]
    if None in forms:
        return None
    rates = [np.array(rate) for rate, _advantage in forms]
    passes = (rates[0] >= 0.5) & (rates[1] >= 0.5) & (rates[2] >= 0.5) & (np.array(forms[0][1]) > least)
    return 100 * passes.mean()


def tested(answers, who, labels, score, epsilon):
    """Of every drawn judge its winning rate, and its advantage; None if nobody is tested."""
    is_there = np.isfinite(answers)
    ps, advantages = [], []
    for person in range(answers.shape[1]):
        units = np.flatnonzero(is_there[:, person] & (is_there.sum(axis=1) >= LEAST_PEOPLE))
        names = np.unique(labels[units])
        if len(units) < LEAST_UNITS or len(names) < 2:
            continue
        judges = answers[units, who[:, units]]
        is_compared = who[:, units] != person
        others = is_there[units] & (np.arange(answers.shape[1]) != person)
        others = others & (np.arange(answers.shape[1]) != who[:, units][..., np.newaxis])
        near = [
            closeness(side[..., np.newaxis], answers[units], others, score) for side in (judges, answers[units, person])
        ]
        differences = np.where(is_compared, np.sign(near[1] - near[0]), np.nan)
        advantages.append(np.nanmean(np.where(is_compared, near[0] >= near[1], np.nan), axis=1))
        ps.append([p_of(row, labels[units], names, epsilon) for row in differences])
    if not ps:
        return None
    rates = [intervals.share_rejected(of_judge, 0.05) for of_judge in np.transpose(ps)]
    return rates, np.mean(advantages, axis=0).tolist()


def closeness(given, answers, others, score):
    """How many others say the same, or minus the sum of squared differences to them."""
    if score == "accuracy":
        return ((answers == given) & others).sum(axis=-1) * 1.0
    return -np.where(others, (answers - given) ** 2, 0).sum(axis=-1)


def p_of(differences, labels, names, epsilon):
    """One-sided, with the standard error of as many clusters as there are, though some units are not compared."""
    if len(names) < len(labels):
        clusters = [differences[labels == name] for name in names]
        differences = np.array(
            [cluster[np.isfinite(cluster)].mean() for cluster in clusters if np.isfinite(cluster).any()]
        )
    differences = differences[np.isfinite(differences)]
    distance, error = differences.mean() - epsilon, differences.std(ddof=1) / len(names) ** 0.5
    return float(distance >= 0) if error == 0 else stats.t.cdf(distance / error, len(names) - 1)
