"""Matrices of the intervals for other raters, for recompute.py, with numpy and scipy."""

import numpy as np
from scipy import stats

PARTS = ("rater", "story", "residual")


def inverse(rows, n):
    """The inverse of the equations of sums of squares; None if the parts cannot be told apart."""
    rows = np.array(rows, dtype=float)
    return None if abs(np.linalg.det(rows / n)) < 1e-9 else np.linalg.inv(rows)


def satterthwaite(shares, estimates, kept, solution, raters, stories):
    """The variance of Σ share × rating, and its degrees of freedom: v² / tr(QΣQΣ), where v is estimated by y'Qy.

    shares : of each rating; estimates : the variances; kept, solution : how they follow from sums of squares
    """
    of_raters, of_stories = (np.eye(labels.max() + 1)[labels] for labels in (raters, stories))
    n = len(shares)
    matrices = {"rater": of_raters @ of_raters.T, "story": of_stories @ of_stories.T, "residual": np.eye(n)}
    in_mean = {part: shares @ matrices[part] @ shares for part in PARTS}
    variance = sum(in_mean[part] * estimate for part, estimate in zip(PARTS, estimates, strict=True))
    mean = np.full((n, n), 1 / n)
    # The sums of squares as matrices: of a factor its projection less the mean, of the rest what these leave.
    squares = [matrices[part] / matrices[part].sum(axis=1, keepdims=True) - mean for part in kept[:-1]]
    squares.append(np.eye(n) - mean - sum(squares))
    weights = np.array([in_mean[part] for part in kept]) @ solution
    q = sum(weight * square for weight, square in zip(weights, squares, strict=True))
    sigma = sum(estimate * matrices[part] for part, estimate in zip(PARTS, estimates, strict=True))
    product = q @ sigma
    trace = (product * product.T).sum()
    return variance, variance**2 / trace if trace > 0 else 1.0


def widened(centre, variance, degrees, narrow):
    """The t interval, at least as far as the narrow one on either side."""
    margin = stats.t.ppf(0.975, max(degrees, 1.0)) * variance**0.5
    return min(centre - margin, narrow[0]), max(centre + margin, narrow[1])
