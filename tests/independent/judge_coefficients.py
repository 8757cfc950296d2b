"""Coefficients between a judge and people in each resample, for intervals.py, with numpy."""

import numpy as np

ALIKE = 1e-9  # what differs by less is rounding


def tables_of(judge, people, weights):
    """How often judge and people gave each two values in each resample, shape (B, V, V).

    judge, people : shape (U,); weights : how often each unit was drawn, shape (B, U)
    """
    values = np.unique([judge, people])
    return np.einsum("bu,uv,uw->bvw", weights, judge[:, None] == values, people[:, None] == values, optimize=True)


def cohen(judge, people, weights):
    """Cohen's kappa in each resample, shape (B,), nan where there is none. Arguments as for `tables_of`."""
    return cohen_of(tables_of(judge, people, weights))


def cohen_of(table):
    """Cohen's kappas of tables of the judge's value by that of people, shape (B, V, V)."""
    n = table.sum(axis=(1, 2))
    n = np.where(n > 0, n, np.nan)
    chance = (table.sum(axis=1) * table.sum(axis=2)).sum(axis=1) / n**2
    return (np.trace(table, axis1=1, axis2=2) / n - chance) / np.where(chance < 1, 1 - chance, np.nan)


def mean_recall(judge, people, weights):
    """The mean over people's values of how often the judge gives the same, shape (B,), nan where there is one value."""
    return mean_recall_of(tables_of(judge, people, weights))


def mean_recall_of(table):
    n = table.sum(axis=1)
    recalls = np.diagonal(table, axis1=1, axis2=2) / np.where(n > 0, n, np.nan)
    n_values = (n > 0).sum(axis=1)
    return np.nansum(recalls, axis=1) / np.where(n_values > 1, n_values, np.nan)


def rank_correlation(judge, people, weights):
    """Spearman's rho in each resample, shape (B,), nan where one side does not vary."""
    ranks = [weights @ (side < side[:, None]).T + weights @ (side == side[:, None]).T / 2 for side in (judge, people)]
    n = weights.sum(axis=1, keepdims=True)
    n = np.where(n > 0, n, np.nan)
    first, second = (side - (side * weights).sum(axis=1, keepdims=True) / n for side in ranks)
    room = (first**2 * weights).sum(axis=1) * (second**2 * weights).sum(axis=1)
    return (first * second * weights).sum(axis=1) / np.sqrt(np.where(room > ALIKE, room, np.nan))


def tau_b(judge, people, weights):
    """Kendall's tau-b in each resample, shape (B,), nan where one side does not vary."""
    of_judge, of_people = (np.sign(side[:, None] - side) for side in (judge, people))
    alike, n_judge, n_people = (
        np.einsum("bu,uv,bv->b", weights, signs, weights, optimize=True)
        for signs in (of_judge * of_people, of_judge**2, of_people**2)
    )
    return alike / np.sqrt(np.where(n_judge * n_people > 0, n_judge * n_people, np.nan))


OF_JUDGES = {
    "kappa": cohen,
    "mean_kappa": cohen,
    "balanced_accuracy": mean_recall,
    "spearman": rank_correlation,
    "kendall_tau": tau_b,
}
