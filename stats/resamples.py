"""Resamples of clusters, drawn once for many statistics: sums over units of every resample are one matrix product."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from stats import intervals
from stats.arrays import BoolArray, FloatArray, IntArray
from stats.intervals import Interval
from stats.reasons import Incomputable


class Resamples:
    """Whole clusters drawn with replacement; below 100 of them all, then all but each in turn, for the jackknife.

    cluster_of_unit : index of each unit's cluster, shape (U,)
    weights : how often each cluster enters each resample, shape (B, G)
    """

    def __init__(self, clusters: npt.ArrayLike, *, rng: np.random.Generator, n_resamples: int = 1000) -> None:
        labels, cluster_of_unit = np.unique(np.asarray(clusters), return_inverse=True)
        self.n_clusters = len(labels)
        self.cluster_of_unit: IntArray = cluster_of_unit
        self.is_jackknife = self.n_clusters < intervals.ENOUGH_TO_RESAMPLE
        n = self.n_clusters
        if self.is_jackknife:
            self.weights: FloatArray = np.concatenate([np.ones((1, n)), 1 - np.eye(n)])
        else:
            self.weights = intervals.draw_clusters(n, rng, n_resamples)

    def sums(self, parts: FloatArray, is_used: BoolArray | None = None) -> FloatArray:
        """Sums of what each unit gives, shape (U, P) to (B, P). is_used : the units that `parts` has, of all."""
        cluster_of_unit = self.cluster_of_unit if is_used is None else self.cluster_of_unit[is_used]
        by_cluster = np.zeros((self.n_clusters, parts.shape[1]))
        np.add.at(by_cluster, cluster_of_unit, parts)
        return np.asarray(self.weights @ by_cluster, dtype=np.float64)

    def interval(self, values: FloatArray) -> Interval:
        """The 95 % interval of a statistic from its values in these resamples, shape (B,); nan where it has none.

        Raises Incomputable if there are fewer than two clusters or no value, or if all are the same.
        """
        if self.n_clusters < 2:
            raise Incomputable("fewer_than_two_clusters")
        labels = np.arange(self.n_clusters)
        if self.is_jackknife:
            return intervals.jackknife_interval(lambda w: values[:1] if len(w) == 1 else values[1:], labels)
        return intervals.percentile_interval(values, labels)

    def interval_or_reason(self, values: FloatArray) -> Interval | Incomputable:
        """The same, or why there is none."""
        try:
            return self.interval(values)
        except Incomputable as error:
            return error
