"""Whether raters tell people's stories from models', for other raters: a mixed model whose covariance is one matrix.

The likelihood is maximised by a general method, so that numbers come out to a hundredth only. Searle, Casella and
McCulloch 1992, chapter 6; Satterthwaite's degrees of freedom by the curvature of the likelihood.
"""

import numpy as np
import pandas as pd
from scipy import optimize, stats

STARTS, NOTHING, STEP = (0.02, 0.1, 0.2, 0.4), 0.002, 1e-3  # standard deviations, of guesses that are 0 or 1
TOLERANCE = 0.01
NONE = {"low": None, "high": None, "p": None}


def of_other_raters(guesses, narrow):
    """Both ends of the balanced accuracy and p. guesses : is_model, says_model, rater, story, block; narrow : ends"""
    if guesses["rater"].nunique() < 2 or guesses["is_model"].nunique() < 2 or guesses["says_model"].nunique() < 2:
        return NONE
    y = guesses["says_model"].to_numpy(dtype=float)
    x, same, is_linked = design(guesses)
    if not is_linked or guesses["story"].nunique() <= np.linalg.matrix_rank(x):
        return NONE

    def covariance(deviations, names):
        parts = (deviation**2 * same[name] for deviation, name in zip(deviations, names, strict=True))
        return sum(parts, np.zeros((len(y), len(y))))

    def deviance(deviations, names):
        whole = covariance(deviations, names) + 1e-12 * np.eye(len(y))
        inverse = np.linalg.inv(whole)
        information = x.T @ inverse @ x
        rest = y - x @ np.linalg.solve(information, x.T @ inverse @ y)
        return np.linalg.slogdet(whole)[1] + np.linalg.slogdet(information)[1] + rest @ inverse @ rest

    def estimate(deviations, names):
        inverse = np.linalg.inv(covariance(deviations, names))
        of_effects = np.linalg.inv(x.T @ inverse @ x)
        return of_effects[1, 1], (of_effects @ x.T @ inverse @ y)[1]

    names = list(same)
    for _round in range(2):  # once more without what came out as nothing
        bounds = [(0, None)] * (len(names) - 1) + [(NOTHING, None)]
        options = {"maxiter": 300, "ftol": 1e-13, "gtol": 1e-8}
        found = [
            optimize.minimize(
                deviance,
                np.array([start] * (len(names) - 1) + [y.std()]),
                (names,),
                method="L-BFGS-B",
                bounds=bounds,
                options=options,
            )
            for start in STARTS
        ]
        at = min(found, key=lambda end: end.fun).x
        is_kept = at > NOTHING
        names, at = [name for name, kept in zip(names, is_kept, strict=True) if kept], at[is_kept]
    variance, value = estimate(at, names)
    steps = np.diag(STEP * at)
    slopes = [(estimate(at + step, names)[0] - estimate(at - step, names)[0]) / (2 * step.sum()) for step in steps]
    signs = [(1, 1), (1, -1), (-1, 1), (-1, -1)]
    curvature = [
        [
            sum(s * t * deviance(at + s * one + t * other, names) for s, t in signs) / (4 * one.sum() * other.sum())
            for other in steps
        ]
        for one in steps
    ]
    degrees = max(2 * variance**2 / (slopes @ (2 * np.linalg.pinv(curvature)) @ slopes), 1.0)
    error = variance**0.5
    margin = stats.t.ppf(0.975, degrees) * error
    low, high = 0.5 + (value - margin) / 2, 0.5 + (value + margin) / 2
    return {
        "low": min(max(min(low, narrow["low"]), 0), 1),
        "high": min(max(max(high, narrow["high"]), 0), 1),
        "p": 2 * stats.t.sf(abs(value) / error, degrees),
    }


def design(guesses):
    """Fixed columns, of which the second is the kind; which guesses share a part; whether the kinds are linked."""
    is_model, n = guesses["is_model"].to_numpy(dtype=float), len(guesses)
    kinds_of_cluster = guesses.groupby("block")["is_model"].nunique()
    is_shared = guesses["block"].map(kinds_of_cluster).to_numpy() > 1
    block = guesses["block"].where(is_shared, "")
    has_fixed = bool(is_shared.any()) and guesses["block"].nunique() > 1
    of_blocks = pd.get_dummies(block[is_shared]).columns[1:] if has_fixed else []
    alone = [((block == "") * 1.0).to_numpy()] if has_fixed and not is_shared.all() else []
    x = np.column_stack([np.ones(n), is_model, *[(block == name) * 1.0 for name in of_blocks], *alone])
    labels = {"rater": guesses["rater"], "pair": guesses["rater"] + "\0" + guesses["is_model"].astype(str)}
    n_clusters, n_stories = guesses["block"].nunique(), guesses["story"].nunique()
    if not has_fixed and 2 < n_clusters < n_stories:
        labels["block"] = guesses["block"]
    labels["story"] = guesses["story"]
    n_raters = labels["rater"].nunique()
    told = {name: of for name, of in labels.items() if 1 < of.nunique() < n}
    if labels["pair"].nunique() == n_raters:
        told.pop("pair", None)
    same = {name: np.equal.outer(*[pd.factorize(of)[0]] * 2).astype(float) for name, of in told.items()}
    reads_both = guesses.groupby("rater")["is_model"].nunique().max() > 1
    return x, same | {"rest": np.eye(n)}, reads_both
