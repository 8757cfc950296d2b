"""How strong compared competitors are: Bradley–Terry from pairs, Luce from choices, Plackett–Luce from orders.

All three say that of a set the one of strength s is taken with probability exp(s) over the sum of all. An order is a
row of such decisions: the first of all, the second of those that are left. Strengths are on the scale of log odds and
add up to 0, so 0 is the average competitor.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from stats.arrays import BoolArray, FloatArray, IntArray
from stats.intervals import Interval
from stats.reasons import Incomputable
from stats.resamples import Resamples

MOST_STEPS = 200
PRECISION = 1e-9
AT_ONCE = 100
MOST_NUMBERS = 20_000  # of one resample: sets × competitors


@dataclass(frozen=True)
class Order:
    """What one rater said of some competitors; one may stand there several times, as several stories of one source.

    places : from the first, each with those that share it
    rest : those that come after all places, of which nothing else was said
    """

    places: Sequence[Sequence[int]]
    rest: Sequence[int] = ()


@dataclass(frozen=True)
class Decisions:
    """Decisions of K competitors, cluster by cluster.

    Sparse, since of many stories each stands in one group alone.

    sets : how often each competitor stands in each different set, shape (T, K)
    n : how often each set was decided on in each cluster, shape (G, T)
    wins : how often each competitor was taken in each cluster, a shared place divided, shape (G, K)
    beats : cluster, who was taken and who stood there, each such triple once, shape (D, 3)
    clusters : their names, shape (G,)
    """

    sets: csr_array
    n: csr_array
    wins: csr_array
    beats: IntArray
    clusters: tuple[Hashable, ...]

    def sum_beats(self, weights: FloatArray) -> FloatArray:
        """Of resamples of clusters how often one was taken where the other stood, shape (B, G) to (B, K, K)."""
        n_clusters, n_competitors = self.wins.shape
        pairs = self.beats[:, 1] * n_competitors + self.beats[:, 2]
        by_cluster = csr_array((np.ones(len(pairs)), (self.beats[:, 0], pairs)), shape=(n_clusters, n_competitors**2))
        return np.asarray(weights @ by_cluster).reshape(-1, n_competitors, n_competitors)


def decisions(orders: Sequence[Order], clusters: Sequence[Hashable], n_competitors: int) -> Decisions:
    """The decisions that orders hold. Those among one competitor alone say nothing and are left out.

    Of competitors that share a place each is taken equally often from all that are left, as Breslow does with ties; of
    a pair without a preference each wins a half.
    """
    position_by_set: dict[tuple[int, ...], int] = {}
    position_by_cluster = {name: n for n, name in enumerate(dict.fromkeys(clusters))}
    n_decided: dict[tuple[int, int], float] = defaultdict(float)
    wins: dict[tuple[int, int], float] = defaultdict(float)
    beats: dict[tuple[int, int, int], None] = {}
    for order, name in zip(orders, clusters, strict=True):
        cluster = position_by_cluster[name]
        left = [*(member for place in order.places for member in place), *order.rest]
        for place in order.places:
            members = tuple(sorted(left))
            n_stages = len(place) - (len(place) == len(left))
            for member in place:
                left.remove(member)
            if n_stages == 0 or len(set(members)) < 2:
                continue
            position = position_by_set.setdefault(members, len(position_by_set))
            n_decided[cluster, position] += n_stages
            for member in place:
                wins[cluster, member] += n_stages / len(place)
                beats |= dict.fromkeys((cluster, member, other) for other in set(members) - {member})
    n_groups, n_sets = len(position_by_cluster), len(position_by_set)
    stood = Counter((position, member) for members, position in position_by_set.items() for member in members)
    return Decisions(
        sets=_sparse(stood, (n_sets, n_competitors)),
        n=_sparse(n_decided, (n_groups, n_sets)),
        wins=_sparse(wins, (n_groups, n_competitors)),
        beats=np.array(list(beats), dtype=np.int64).reshape(-1, 3),
        clusters=tuple(position_by_cluster),
    )


def _sparse(number_by_place: Mapping[tuple[int, int], float], shape: tuple[int, int]) -> csr_array:
    places = np.array(list(number_by_place), dtype=np.int64).reshape(-1, 2)
    numbers = np.fromiter(number_by_place.values(), dtype=np.float64, count=len(number_by_place))
    return csr_array((numbers, (places[:, 0], places[:, 1])), shape=shape)


def strengths(material: Decisions) -> FloatArray:
    """The strengths that make these decisions most likely, shape (K,), with mean 0.

    Raises Incomputable if nothing was compared, if some were never compared with others, or if some always or never
    win.
    Source: Hunter 2004, Annals of Statistics 32(1), 384-406, equations 2 and 30, assumption 1; here by Newton's steps.
    Reproduces the baseball season of Agresti 2002, Categorical Data Analysis, section 10.6.2, and `choix`.
    """
    if not material.sets.shape[0]:
        raise Incomputable("nothing_compared")
    winners, losers = material.beats[:, 1], material.beats[:, 2]
    beats = csr_array((np.ones(len(winners)), (winners, losers)), shape=(material.wins.shape[1],) * 2)
    n_sets, _labels = connected_components(beats, directed=True, connection="weak")
    if n_sets > 1:
        raise Incomputable("not_all_compared", n=int(n_sets))
    if connected_components(beats, directed=True, connection="strong")[0] > 1:
        raise Incomputable("always_or_never_preferred")
    n, wins = (np.asarray(part.sum(axis=0), dtype=np.float64) for part in (material.n, material.wins))
    values = _fit(material.sets.toarray(), n[np.newaxis], wins[np.newaxis])
    return np.asarray(values[0], dtype=np.float64)


def strength_resamples(material: Decisions, weights: FloatArray) -> FloatArray:
    """The strengths of each resample of clusters, shape (B, G) to (B, K); nan where there are none."""
    sets, n, wins = (part.toarray() for part in (material.sets, material.n, material.wins))
    estimates = []
    for start in range(0, len(weights), AT_ONCE):
        batch = weights[start : start + AT_ONCE]
        has_value = _is_joined(material.sum_beats(batch) > 0)
        values = np.full((len(batch), wins.shape[1]), np.nan)
        if has_value.any():
            own = batch[has_value]
            values[has_value] = _fit(sets, own @ n, own @ wins)
        estimates.append(values)
    return np.concatenate(estimates)


def strength_intervals(
    material: Decisions, *, rng: np.random.Generator, n_resamples: int = 1000
) -> list[Interval | Incomputable]:
    """The 95 % interval of each strength over clusters, or why there is none: percentile from 100 of them on, below the
    jackknife's. Resamples in which somebody always or never wins have no value; percentiles leave them out and count
    them, and where somebody does without one of the clusters the jackknife has none.
    """
    n_clusters, n_competitors = material.wins.shape
    if n_clusters < 2:
        return [Incomputable("fewer_than_two_clusters")] * n_competitors
    if prod(material.sets.shape) > MOST_NUMBERS:
        return [Incomputable("too_many_to_resample")] * n_competitors
    drawn = Resamples(np.arange(n_clusters), rng=rng, n_resamples=n_resamples)
    return [drawn.interval_or_reason(own) for own in strength_resamples(material, drawn.weights).T]


def _is_joined(beats: BoolArray) -> BoolArray:
    """Of which resamples every competitor beats every other, itself or by way of others, shape (B, K, K) to (B,)."""
    n_competitors = beats.shape[-1]
    reach = (beats | np.eye(n_competitors, dtype=np.bool_)).astype(np.float64)
    for _step in range(max(1, int(np.ceil(np.log2(max(2, n_competitors)))))):
        reach = np.minimum(reach @ reach, 1.0)
    return np.asarray((reach > 0).all(axis=(1, 2)), dtype=np.bool_)


def _fit(sets: FloatArray, n: FloatArray, wins: FloatArray) -> FloatArray:
    """Strengths by Newton's steps, damped where they are long. sets (T, K), n (B, T), wins (B, K) to (B, K)."""
    n_competitors = sets.shape[1]
    values = np.zeros(wins.shape)
    for _step in range(MOST_STEPS):
        worth = np.exp(values)
        scaled = n / (worth @ sets.T)
        expected = worth * (scaled @ sets)
        shares = scaled / (worth @ sets.T)
        # The curvature: the expected wins on the diagonal less what the members of a set take from one another.
        joint = np.einsum("bt,tk,tl->bkl", shares, sets, sets, optimize=True)
        curvature = -joint * worth[:, :, np.newaxis] * worth[:, np.newaxis, :]
        diagonal = np.arange(n_competitors)
        curvature[:, diagonal, diagonal] += expected
        step = np.linalg.solve(curvature + 1.0, (wins - expected)[..., np.newaxis])[..., 0]
        step *= np.minimum(1.0, 2.0 / np.maximum(np.abs(step).max(axis=1, keepdims=True), 1e-300))
        values += step
        if np.abs(step).max(initial=0.0) < PRECISION:
            break
    return np.asarray(values - values.mean(axis=1, keepdims=True), dtype=np.float64)
