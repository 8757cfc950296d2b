"""How far stories of each source spread about what a model of all sources expects, which takes one spread for all.

Where one source's stories differ more from one another than another's, a spread that is shared makes what is said of
the first too sure. Here each source has its own, from the sums of squares of its stories' rests.

Sources: Welch 1947, Biometrika 34, pp. 28-35; of rests that share blocks the quadratic estimates of Rao 1970, Journal
of the American Statistical Association 65, pp. 161-172.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from stats.arrays import FloatArray, IntArray
from stats.model_estimates import ModelEstimate


@dataclass(frozen=True)
class SourceSpreads:
    """variances : of single stories about their source, shape (S,); pooled : the one variance of all
    degrees : of freedom of each source's, (S,); n_stories : shape (S,)
    """

    variances: FloatArray
    pooled: float
    degrees: FloatArray
    n_stories: FloatArray

    @classmethod
    def of(cls, rests: FloatArray, source: IntArray, block: IntArray) -> SourceSpreads:
        """rests : of each story what sources, blocks and raters leave of its mean, shape (U,)
        source, block : numbers from 0, shape (U,)
        """
        n = np.zeros((int(block.max()) + 1, int(source.max()) + 1))
        np.add.at(n, (block, source), 1.0)
        squares = np.bincount(source, rests**2, minlength=n.shape[1])
        share_by_source, degrees = _shares_of_squares(n)
        pooled = float(squares.sum() / degrees.sum()) if degrees.sum() > 0.5 else 0.0
        own = np.linalg.pinv(share_by_source, rcond=1e-9) @ (squares - pooled * degrees)
        return cls(np.maximum(pooled + own, 0.0), pooled, degrees, n.sum(axis=0))

    def widen(
        self, weight_by_source: Mapping[int, float], same: ModelEstimate, wide: ModelEstimate | None
    ) -> tuple[ModelEstimate, ModelEstimate | None]:
        """Estimates of a sum of sources for these raters, and for others, as sure as each source's own spread lets be.

        They are left as they are where that would make them surer.
        """
        places = list(weight_by_source)
        parts = np.array([weight**2 for weight in weight_by_source.values()]) / self.n_stories[places]
        own = parts * self.variances[places]
        times = own.sum() / (self.pooled * parts.sum()) if self.pooled > 0 else 1.0
        if times <= 1:
            return same, wide
        # Welch's degrees of freedom come in as the variance grows, so that nothing jumps where it does not.
        welch = float(own.sum() ** 2 / (own**2 / np.maximum(self.degrees[places], 0.5)).sum())
        unsure = (1 / same.degrees + (times - 1) / min(max(welch, 1.0), same.degrees)) / times
        ours = ModelEstimate(same.value, same.error * float(times) ** 0.5, float(1 / unsure))
        return ours, wide and _with_others(wide, same, ours)

    def widen_together(self, weights: FloatArray, same: FloatArray) -> FloatArray:
        """The covariance of several sums of sources for these raters, as sure as each source's own spread lets be.

        weights : of each sum and source, shape (K, S), of rank K; same : the covariance with one spread for all, (K, K)
        It grows along the sums in which own spreads are wider than one for all; of one sum it is `widen`'s.
        """
        if self.pooled <= 0:
            return same
        shared = weights * (self.pooled / self.n_stories) @ weights.T
        own = weights * (self.variances / self.n_stories) @ weights.T
        times, sums = linalg.eigh(own, shared)
        grown = np.maximum(times - 1, 0.0) * np.einsum("ik,ij,jk->k", sums, same, sums)
        turned = shared @ sums
        return np.asarray(same + (turned * grown) @ turned.T, dtype=np.float64)


def _with_others(wide: ModelEstimate, same: ModelEstimate, ours: ModelEstimate) -> ModelEstimate:
    """What is for other raters, too, with another part that is for the same ones."""
    of_raters = max(wide.error**2 - same.error**2, 0.0)
    unsure = wide.error**4 / wide.degrees - same.error**4 / same.degrees
    variance = of_raters + ours.error**2
    return ModelEstimate(wide.value, variance**0.5, float(variance**2 / (unsure + ours.error**4 / ours.degrees)))


def _shares_of_squares(n: FloatArray) -> tuple[FloatArray, FloatArray]:
    """How much each source's sum of squared rests is expected to hold of each one's variance, (S, S); and in all, (S,).

    n : stories by block and source, (G, S). Rests are those of least squares: of story u, Σ (δ_uw − H_uw) y_w, where H
    projects on blocks and, within them, on sources.
    """
    in_block = np.maximum(n.sum(axis=1), 1)[:, np.newaxis]
    n_sources = n.shape[1]
    within = (
        np.eye(n_sources) - (n / in_block)[:, np.newaxis, :]
    )  # of a story's source less its block's mean: (G, S, S)
    by_source = np.einsum("gs,gsi,gsj->sij", n, within, within)
    inverse = np.linalg.pinv(by_source.sum(axis=0), rcond=1e-9, hermitian=True)
    crossed = np.einsum("gsi,ij,gtj->gst", within, inverse, within)
    both = n[:, :, np.newaxis] * n[:, np.newaxis, :] / in_block[:, np.newaxis]
    turned = by_source @ inverse
    of_pairs = (both / in_block[:, np.newaxis] + 2 * both * crossed).sum(axis=0) + np.einsum(
        "sij,tji->st", turned, turned
    )
    own = (n / in_block + n * np.einsum("gss->gs", crossed)).sum(axis=0)
    n_stories = n.sum(axis=0)
    return np.diag(n_stories - 2 * own) + of_pairs, n_stories - own
