"""What may be said of agreement, for recompute.py: whether alpha lies above a bound, and how far kappa lies above that
among some of the stories."""

import numpy as np
import pandas as pd
from scipy import stats

from tests.independent.intervals import ENOUGH_FOR_A_COEFFICIENT, alphas, draw, kappas, of_values


def p_above(table, level, clusters, seed, bound):
    """Twice the share of resamples of clusters that do not pass the bound, or of Student's t below a hundred clusters.

    table : how many raters gave each unit each value
    """
    counts, points = table.to_numpy(dtype=float), np.array(table.columns, dtype=float)
    cluster_of_unit = np.unique(np.asarray(clusters, dtype=str), return_inverse=True)[1]
    n = cluster_of_unit.max() + 1
    if n >= ENOUGH_FOR_A_COEFFICIENT:
        drawn = alphas(counts, points, level, draw(n, seed)[:, cluster_of_unit])
        return min(1.0, 2 * (1 + len(drawn) - (drawn > bound).sum()) / (1 + len(drawn)))
    whole = alphas(counts, points, level, np.ones((1, len(counts))))[0]
    without = alphas(counts, points, level, (cluster_of_unit != np.arange(n)[:, None]).astype(float))
    error = ((n - 1) / n * ((without - without.mean()) ** 2).sum()) ** 0.5
    return min(1.0, 2 * stats.t.sf((whole - bound) / error, n - 1))


def holm(ps):
    """Each p times how many are as large or larger, and none below one before it. ps : None counts as 1"""
    series = pd.Series([1.0 if p is None else p for p in ps]).sort_values()
    adjusted = (series * np.arange(len(series), 0, -1)).cummax().clip(upper=1).sort_index()
    return [None if p is None else own for p, own in zip(ps, adjusted, strict=True)]


def above_part(tables, is_part, clusters, seed):
    """The interval of the mean kappa less that of the units that are a part, over clusters; and how many these are."""
    cluster_of_unit = np.unique(np.asarray(clusters, dtype=str), return_inverse=True)[1]
    counts = [table.to_numpy(dtype=float) for table in tables]

    def values(weights):
        whole = np.mean([kappas(table, None, "nominal", weights) for table in counts], axis=0)
        return whole - np.mean(
            [kappas(table[is_part], None, "nominal", weights[:, is_part]) for table in counts], axis=0
        )

    return of_values(values, cluster_of_unit, seed, (None, None)), cluster_of_unit.max() + 1
