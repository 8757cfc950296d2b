"""How far stories of each source spread by themselves, with one projection of all stories as a matrix.

Of each story it is what is left of its mean when sources, premises that several sources share, and raters are taken
off. Squares of these are expected to hold so much of each source's variance as squared entries of the matrix that
leaves them; the variances follow by least squares, as near to one for all as may be.
"""

import numpy as np
import pandas as pd


class Spreads:
    """model : a `MixedModel`"""

    def __init__(self, model):
        covariance = model.covariance(model.parts)
        unexplained = np.linalg.solve(covariance, model.y - model.x @ model.effects)
        raters = [model.parts[n] * model.same[n] @ unexplained for n in ("rater", "rater_source") if n in model.parts]
        rests = model.y - model.x @ model.effects - sum(raters, np.zeros(len(model.y)))
        is_drawn = not model.has_fixed and len(set(model.labels["block"])) > 1
        units = pd.DataFrame({"unit": model.labels["block" if is_drawn else "story"], "rest": rests})
        units = (
            units.assign(source=model.source, block=model.block)
            .groupby("unit")
            .agg({"rest": "mean", "source": "first", "block": "first"})
        )
        fixed = [pd.get_dummies(units["source"])] + ([pd.get_dummies(units["block"])] if model.has_fixed else [])
        x = pd.concat(fixed, axis=1).to_numpy(dtype=float)
        left = np.eye(len(units)) - x @ np.linalg.pinv(x)
        members = pd.get_dummies(units["source"]).reindex(columns=model.names).to_numpy(dtype=float)
        squares = members.T @ units["rest"].to_numpy() ** 2
        shares = members.T @ left**2 @ members
        self.degrees = dict(zip(model.names, members.T @ np.diag(left), strict=True))
        self.pooled = squares.sum() / np.trace(left)
        own = self.pooled + np.linalg.pinv(shares, rcond=1e-9) @ (squares - shares @ np.full(len(shares), self.pooled))
        self.variances = dict(zip(model.names, np.maximum(own, 0), strict=True))
        self.n = dict(zip(model.names, members.sum(axis=0), strict=True))

    def widened(self, weights, same, wide=None):
        """Error and degrees of freedom for these raters, and for others, with each source's own spread if it is wider.

        same, wide : error and degrees of freedom by the model
        """
        pooled = sum(w**2 * self.pooled / self.n[name] for name, w in weights.items())
        own = {name: w**2 * self.variances[name] / self.n[name] for name, w in weights.items()}
        if sum(own.values()) <= pooled:
            return same, wide
        times = sum(own.values()) / pooled
        error, degrees = same[0] * times**0.5, same[1]
        welch = sum(own.values()) ** 2 / sum(v**2 / max(self.degrees[name], 0.5) for name, v in own.items())
        ours = error, times / (1 / degrees + (times - 1) / min(max(welch, 1), degrees))
        if wide is None:
            return ours, None
        of_raters = max(wide[0] ** 2 - same[0] ** 2, 0)
        unsure = wide[0] ** 4 / wide[1] - same[0] ** 4 / same[1]
        variance = of_raters + error**2
        return ours, (variance**0.5, variance**2 / (unsure + error**4 / ours[1]))

    def added(self, weights, same_variance):
        """By how much the covariance of several sums of sources grows, where a source's own spread is wider.

        weights : of each sum and source; same_variance : gives the variance of any sum for these raters
        """
        names = list(self.variances)
        shared = sum(self.pooled / self.n[s] * np.outer(w, w) for s, w in zip(names, weights.T, strict=True))
        own = sum(self.variances[s] / self.n[s] * np.outer(w, w) for s, w in zip(names, weights.T, strict=True))
        times, sums = np.linalg.eig(np.linalg.solve(shared, own))
        added = np.zeros_like(shared)
        for ratio, of_sums in zip(times.real, sums.real.T, strict=True):
            if ratio > 1:
                along = shared @ of_sums
                grown = (ratio - 1) * same_variance(of_sums @ weights) / (of_sums @ along) ** 2
                added += grown * np.outer(along, along)
        return added
