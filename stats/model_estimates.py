"""An estimate of a linear model with its standard error and degrees of freedom, and what follows by Student's t."""

from dataclasses import dataclass

from scipy import stats as scipy_stats

from stats.intervals import Interval, t_quantile


@dataclass(frozen=True)
class ModelEstimate:
    """A mean or a difference in the outcome's unit, with its standard error and degrees of freedom, and of what."""

    value: float
    error: float
    degrees: float
    basis: str = "of the mixed model"

    @property
    def p(self) -> float:
        """Two-sided, of no difference."""
        return float(2 * scipy_stats.t.sf(abs(self.value) / self.error, self.degrees))

    def p_within(self, margin: float) -> float:
        """The larger p of the two one-sided tests that the true value lies within the margin on either side of 0.

        Source: Schuirmann 1987, Journal of Pharmacokinetics and Biopharmaceutics 15(6), pp. 657-680.
        """
        return float(scipy_stats.t.sf((margin - abs(self.value)) / self.error, self.degrees))

    def interval(self, n_units: int, *, level: float = 0.95, method: str = "crossed") -> Interval:
        """Student's t."""
        margin = t_quantile((1 + level) / 2, self.degrees) * self.error
        note = f"t interval {self.basis}, with {self.degrees:.1f} degrees of freedom"
        return Interval(self.value - margin, self.value + margin, n_units, level, note, method=method)
