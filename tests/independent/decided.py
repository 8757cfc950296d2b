"""Strengths that make decisions most likely, and their intervals, for recompute.py, with numpy and scipy."""

import numpy as np
from scipy.sparse.csgraph import connected_components

from tests.independent.intervals import ENOUGH_FOR_A_COEFFICIENT, around, draw, percentile

MOST_NUMBERS = 20_000  # sets times competitors, up to which there are intervals


class SharedDecisions:
    """decisions : cluster, set (a count of names), how many were taken, who; as strengths.py gives them"""

    def __init__(self, names, clusters, decisions):
        index = {name: n for n, name in enumerate(names)}
        keys = list(dict.fromkeys(tuple(sorted(members.items())) for _c, members, _n, _p in decisions))
        self.sets = np.zeros((len(keys), len(names)))
        for row, key in enumerate(keys):
            for name, count in key:
                self.sets[row, index[name]] = count
        n_clusters = len(clusters)
        self.n, self.wins = np.zeros((n_clusters, len(keys))), np.zeros((n_clusters, len(names)))
        self.beats = np.zeros((n_clusters, len(names), len(names)), dtype=bool)
        for cluster, members, n_stages, place in decisions:
            at = clusters.index(cluster)
            self.n[at, keys.index(tuple(sorted(members.items())))] += n_stages
            for name in place:
                self.wins[at, index[name]] += n_stages / len(place)
                for other in set(members) - {name}:
                    self.beats[at, index[name], index[other]] = True

    def count_parts(self):
        """Into how many parts the names fall between which nothing was decided."""
        return connected_components(self.beats.any(axis=0), directed=True, connection="weak")[0]

    def count_stood(self, n):
        """In how many decisions the name of that number stood."""
        return self.n.sum(axis=0) @ (self.sets[:, n] > 0)

    def fit_all(self):
        """The strengths from all clusters; None if nothing was decided, or as `fit` has it."""
        return self.fit(np.ones(len(self.n))) if len(self.sets) else None

    def fit(self, weights):
        """The strengths, with mean 0, where clusters count so often; None if somebody always or never wins."""
        beats = (self.beats[weights > 0]).any(axis=0)
        if connected_components(beats, directed=True, connection="strong")[0] > 1:
            return None
        n, wins = weights @ self.n, weights @ self.wins
        values = np.zeros(len(wins))
        for _step in range(200):
            worth = self.sets * np.exp(values)
            shares = worth / worth.sum(axis=1, keepdims=True)
            gradient = wins - n @ shares
            curvature = np.diag(n @ shares) - (shares * n[:, None]).T @ shares
            step = np.linalg.lstsq(curvature, gradient, rcond=1e-12)[0]
            step *= min(1.0, 2.0 / max(np.abs(step).max(), 1e-300))
            values += step
            if np.abs(step).max() < 1e-10:
                break
        return values - values.mean()

    def intervals(self, seed):
        """Of each strength both ends: percentile from 100 clusters on, below the jackknife's; None of those without."""
        n, n_names = self.wins.shape
        nothing = [None] * n_names
        if n < 2 or self.sets.size > MOST_NUMBERS:
            return nothing
        is_drawn = n >= ENOUGH_FOR_A_COEFFICIENT
        weights = draw(n, seed) if is_drawn else np.vstack([np.ones((1, n)), 1 - np.eye(n)])
        fits = [self.fit(row) for row in weights.astype(float)]
        values = np.array([np.full(n_names, np.nan) if fit is None else fit for fit in fits])
        if is_drawn:
            return [percentile(column) for column in values.T]
        if np.isnan(values).any():
            return nothing
        whole, without = values[0], values[1:]
        variances = (n - 1) / n * ((without - without.mean(axis=0)) ** 2).sum(axis=0)
        return [
            around(w, v, n) if np.ptp(c) >= 1e-9 else None for w, v, c in zip(whole, variances, without.T, strict=True)
        ]
