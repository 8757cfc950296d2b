"""One factor behind several items, and what it makes of their sum: McDonald's omega.

The factor is that of maximum likelihood. Sources: McDonald 1999, Test Theory, equation 6.20b; Jöreskog 1967,
Psychometrika 32(4), pp. 443-482, for the function that is minimised over unique variances alone. The loadings and
omega are those of lavaan in R. It has no interval: percentile ones over clusters, simulated with five items and 12, 24
and 30 clusters, held the truth in 91 % of studies.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg, optimize

from stats.agreement import Floor
from stats.arrays import FloatArray
from stats.item_analysis import ItemMaterial, covariance_of
from stats.reasons import Incomputable

FEWEST_ITEMS = 3  # of two items one correlation cannot tell two loadings
LEAST = 0.005  # of an item's variance that is its own, below which it is none: a Heywood case
PRECISION = 1e-9
MOST_STEPS = 400  # of the EM algorithm
N_SHUFFLES = 200


@dataclass(frozen=True)
class OneFactor:
    """loadings, unique : of each item, in its own units and their squares, shape (I,)"""

    loadings: FloatArray
    unique: FloatArray

    @property
    def omega(self) -> float:
        """The share of the variance of the items' sum that the factor makes."""
        common = float(self.loadings.sum()) ** 2
        return common / (common + float(self.unique.sum()))


def fit_one_factor(covariance: FloatArray) -> OneFactor:
    """The factor of maximum likelihood behind items with these covariances, or sums of products, shape (I, I).

    Raises Incomputable for fewer than three items, items that do not vary or repeat others, and where an item would
    have no variance of its own.
    """
    if len(covariance) < FEWEST_ITEMS:
        raise Incomputable("two_items_no_factor")
    own = np.diag(covariance)
    if not (own > 0).all():
        raise Incomputable("item_constant")
    spread = np.sqrt(own)
    correlations = covariance / np.outer(spread, spread)
    if np.linalg.eigvalsh(correlations)[0] < PRECISION:
        raise Incomputable("items_repeat")
    unique = _likeliest(correlations)
    if unique.min() <= LEAST * (1 + PRECISION):
        raise Incomputable("heywood")
    loadings = _loadings(correlations, unique)
    return OneFactor(loadings * spread, unique * own)


def _likeliest(correlations: FloatArray) -> FloatArray:
    """The unique variances of maximum likelihood, each at least LEAST, shape (I,)."""
    start = np.clip(1 / np.diag(np.linalg.inv(correlations)) * (1 - 0.5 / len(correlations)), LEAST, 1.0)

    def lost(unique: FloatArray) -> tuple[float, FloatArray]:
        values, _vectors = _scaled(correlations, unique)
        rest = values[:-1]  # all but the largest, which is the factor's
        gap = float((rest - np.log(rest) - 1).sum())
        loadings = _loadings(correlations, unique)
        residual = np.outer(loadings, loadings) + np.diag(unique) - correlations
        return gap, np.diag(residual) / unique**2

    bounds = [(LEAST, 1.0)] * len(correlations)
    optimum = optimize.minimize(
        lost, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"ftol": 1e-14, "gtol": 1e-9, "maxiter": 1000}
    )
    return np.asarray(optimum.x, dtype=np.float64)


def _scaled(correlations: FloatArray, unique: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Eigenvalues, from the least, and eigenvectors of the correlations over the roots of unique variances."""
    scale = 1 / np.sqrt(unique)
    values, vectors = linalg.eigh(correlations * np.outer(scale, scale))
    return np.asarray(values, dtype=np.float64), np.asarray(vectors, dtype=np.float64)


def _loadings(correlations: FloatArray, unique: FloatArray) -> FloatArray:
    """Those of the factor given the unique variances; most of them above 0."""
    values, vectors = _scaled(correlations, unique)
    loadings = np.sqrt(unique) * vectors[:, -1] * np.sqrt(max(values[-1] - 1, 0.0))
    return np.asarray(loadings * (1 if loadings.sum() >= 0 else -1), dtype=np.float64)


def omegas(covariances: FloatArray, start: OneFactor) -> FloatArray:
    """Omega of many covariances of the same items, shape (B, I, I) to (B,), from the factor of all of them.

    By the EM algorithm, which stays within unique variances above 0; nan where it does not come to numbers.
    Source: Rubin & Thayer 1982, Psychometrika 47(1), pp. 69-76.
    """
    own = np.diagonal(covariances, axis1=-2, axis2=-1)
    scale = np.trace(start.loadings[:, np.newaxis] * start.loadings + np.diag(start.unique)) / own.sum(axis=-1)
    matrices = covariances * scale[:, np.newaxis, np.newaxis]
    own = np.diagonal(matrices, axis1=-2, axis2=-1)
    loadings = np.broadcast_to(start.loadings, own.shape)
    unique = np.broadcast_to(start.unique, own.shape)
    with np.errstate(all="ignore"):
        for _step in range(MOST_STEPS):
            weights = loadings / unique
            weights = weights / (1 + (loadings * weights).sum(axis=-1, keepdims=True))
            shared = np.matmul(matrices, weights[:, :, np.newaxis])[:, :, 0]
            loadings = shared / (1 - (weights * loadings).sum(-1) + (weights * shared).sum(-1))[:, np.newaxis]
            unique = np.maximum(own - loadings * shared, LEAST * own)
        common = loadings.sum(axis=-1) ** 2
        return np.asarray(common / (common + unique.sum(axis=-1)), dtype=np.float64)


def omega_floor(material: ItemMaterial, *, rng: np.random.Generator, n_shuffles: int = N_SHUFFLES) -> Floor:
    """What omega reaches where each item's answers are shuffled within each rater, apart from the others."""
    n, n_items = material.answers.shape
    order = np.argsort(material.raters, kind="stable")
    rows = material.answers[order]
    keys = rng.random((n_shuffles, n_items, n)) + material.raters[order]
    shuffled = np.take_along_axis(np.broadcast_to(rows.T, keys.shape), np.argsort(keys, axis=-1), axis=-1)
    own = np.diag(covariance_of(material))
    half = OneFactor(np.sqrt(own / 2), own / 2)
    values = omegas(np.matmul(shuffled, shuffled.swapaxes(-1, -2)), half)
    return Floor(float(np.nanmean(values)), float(np.nanpercentile(values, 97.5)), n_shuffles)
