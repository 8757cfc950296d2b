"""The mixed model behind contrasts, with the covariance of all answers as one matrix.

An answer is its source, its premise where sources share premises, its rater, what the rater makes of the source, its
story, and the rest. Variances are taken from the report, and held to be those of the highest restricted likelihood;
from them everything else follows: generalised least squares (Searle, Casella & McCulloch 1992, chapter 6), and degrees
of freedom after Satterthwaite by derivatives of the variance and of the likelihood.
"""

from itertools import combinations

import numpy as np
import pandas as pd
from scipy import stats

DRAWN = ("rater", "rater_source", "block", "story")
MOST_ANSWERS = 700  # up to which the matrix is made
STEP = 1e-3
NO_REST = 1e-6  # of all variances


class MixedModel:
    """answers : columns rater, group, story, number, source, block, one row an answer; parts : variances by name"""

    def __init__(self, answers, parts):
        self.y = answers["number"].to_numpy(dtype=float)
        self.names = sorted(answers["source"].unique())
        self.source = answers["source"].to_numpy()
        self.raters = answers["rater"].to_numpy()
        sources_of_block = answers.groupby("block")["source"].nunique()
        is_shared = answers["block"].map(sources_of_block).to_numpy() > 1
        n_blocks = answers["block"].nunique()
        self.has_fixed = n_blocks > 1 and is_shared.any()
        self.block = np.where(is_shared, answers["block"], "") if self.has_fixed else np.zeros(len(answers), dtype=int)
        dummies = pd.get_dummies(pd.Series(self.source)).reindex(columns=self.names).to_numpy(dtype=float)
        self.blocks = sorted(set(self.block[is_shared])) if self.has_fixed else []
        of_blocks = [(self.block == name).astype(float) for name in self.blocks]
        self.x = np.column_stack([dummies, *of_blocks])
        pair = answers["rater"].astype(str) + "\0" + answers["source"]
        self.labels = {
            "rater": pd.factorize(answers["rater"])[0],
            "rater_source": pd.factorize(pair)[0],
            "block": pd.factorize(answers["block"])[0],
            "story": pd.factorize(answers["story"])[0],
        }
        self.same = {name: (of[:, None] == of[None, :]).astype(float) for name, of in self.labels.items()}
        self.parts = {name: parts[name] for name in (*DRAWN, "residual") if parts[name] > 0}
        # Where nothing is left beside stories the likelihood has no highest place, and the rest says nothing.
        self.has_no_rest = self.parts["residual"] < NO_REST * sum(self.parts.values())
        self._spread = None
        inverse = np.linalg.inv(self.covariance(self.parts))
        self.effects = np.linalg.pinv(self.x.T @ inverse @ self.x) @ self.x.T @ inverse @ self.y

    def covariance(self, parts):
        whole = np.eye(len(self.y)) * parts["residual"]
        for name in DRAWN:
            if name in parts:
                whole += parts[name] * self.same[name]
        return whole

    def deviance(self, parts):
        """Minus twice the restricted log likelihood, but for a constant."""
        covariance = self.covariance(parts)
        inverse = np.linalg.inv(covariance)
        information = self.x.T @ inverse @ self.x
        effects = np.linalg.pinv(information) @ self.x.T @ inverse @ self.y
        rest = self.y - self.x @ effects
        values = np.linalg.eigvalsh(information)
        values = values[values > 1e-9 * values.max()]
        return np.linalg.slogdet(covariance)[1] + np.log(values).sum() + rest @ inverse @ rest

    def is_highest(self):
        """Whether no variance can be changed by a twentieth so that the likelihood is higher."""
        best = self.deviance(self.parts)
        return self.has_no_rest or all(
            self.deviance(self.parts | {name: variance * factor}) > best - 1e-6
            for name, variance in self.parts.items()
            for factor in (0.95, 1.05)
        )

    def mean_row(self, name):
        """The source's mean over all blocks that it is joined to by a chain of sources, each counting once."""
        row = np.zeros(self.x.shape[1])
        row[self.names.index(name)] = 1
        joined = self.joined_blocks(name)
        for block in joined:
            row[len(self.names) + self.blocks.index(block)] = 1 / len(joined)
        return row

    def mean(self, name, *, other_raters=True):
        """The mean with its error and degrees of freedom, for other stories."""
        row, held = self.mean_row(name), {} if other_raters else self.held({name: 1})
        return row @ self.effects, self.variance(row, held, self.parts) ** 0.5, self.degrees(row, held)

    def joined_blocks(self, name):
        sources, blocks, n = {name}, set(), -1
        while len(blocks) > n:
            n = len(blocks)
            blocks |= {b for b, s in zip(self.block, self.source, strict=True) if s in sources and b in self.blocks}
            sources |= {s for b, s in zip(self.block, self.source, strict=True) if b in blocks}
        return blocks

    def contrast_row(self, first, second):
        row = np.zeros(self.x.shape[1])
        row[self.names.index(first)], row[self.names.index(second)] = 1, -1
        return row

    def difference(self, first, second, *, other_raters=True):
        """The difference with its error and degrees of freedom, for other stories."""
        row, held = self.contrast_row(first, second), {} if other_raters else self.held({first: 1, second: -1})
        return row @ self.effects, self.variance(row, held, self.parts) ** 0.5, self.degrees(row, held)

    def by_raters(self, row):
        """Error and degrees of freedom by what each rater adds to the sum of effects; None where they do not differ."""
        inverse = np.linalg.inv(self.covariance(self.parts))
        shares = inverse @ self.x @ np.linalg.pinv(self.x.T @ inverse @ self.x) @ row
        table = pd.DataFrame({"rater": self.raters, "source": self.source, "share": shares})
        table["part"] = shares * (self.y - self.x @ self.effects)
        of_sources = table.groupby(["rater", "source"])["share"].sum() ** 2
        weights = of_sources.groupby("rater").sum()
        n = weights.sum() ** 2 / (weights**2).sum()
        variance = (table.groupby("rater")["part"].sum() ** 2).sum()
        return ((variance * n / (n - 1)) ** 0.5, max(n - 1, 1)) if n > 1 + 1e-6 and variance > 0 else None

    def of_all(self, spreads):
        """F of all sources together with its degrees of freedom (Fai & Cornelius 1996), by each source's own spread."""
        if len(self.names) == 2:  # their contrast, at its least sure
            value, *same = self.difference(*self.names[::-1], other_raters=False)
            wide = self.difference(*self.names[::-1])[1:]
            widened = spreads.widened(dict(zip(self.names, (-1, 1), strict=True)), same, wide)
            by_raters = self.by_raters(self.contrast_row(*self.names[::-1]))
            error, degrees = max((each for each in (*widened, by_raters) if each), key=lambda each: p_of(value, *each))
            return (value / error) ** 2, 1, degrees
        others = self.names[1:]
        rows = np.array([self.contrast_row(name, self.names[0]) for name in others])
        inverse = np.linalg.inv(self.covariance(self.parts))
        of_rows = rows @ np.linalg.pinv(self.x.T @ inverse @ self.x) @ rows.T
        _values, directions = np.linalg.eigh(of_rows)
        degrees = [self.degrees(row, {}) for row in directions.T @ rows]
        expected = sum(one / (one - 2) for one in degrees if one > 2)
        least = 2 * expected / (expected - len(rows)) if all(one > 2 for one in degrees) else 2.0
        kept = 1.0
        for pair in combinations(self.names, 2):
            same, wide = (self.difference(*pair, other_raters=others)[1:] for others in (False, True))
            kept = min(kept, spreads.widened(dict(zip(pair, (1, -1), strict=True)), same, wide)[1][1] / wide[1])
        of_rows = of_rows + spreads.added(np.array([[-1.0, *row] for row in np.eye(len(others))]), self.same_variance)
        f = (rows @ self.effects) @ np.linalg.solve(of_rows, rows @ self.effects) / len(rows)
        return f, len(rows), max(kept * least, 1.0)

    def same_variance(self, weights):
        """Of a sum of sources for other stories and these raters; weights : of each source, in order, adding up to 0"""
        row = np.zeros(self.x.shape[1])
        row[: len(self.names)] = weights
        return self.variance(row, self.held(dict(zip(self.names, weights, strict=True))), self.parts)

    def held(self, weights):
        """How much of each rater, and of what those who read a source make of it, is in a sum of sources: all alike."""
        shares = {"rater": np.zeros(len(self.y)), "rater_source": np.zeros(len(self.y))}
        _raters, firsts = np.unique(self.labels["rater"], return_index=True)
        shares["rater"][firsts] = sum(weights.values()) / len(firsts)
        for name, sign in weights.items():
            of_source = np.flatnonzero(self.source == name)
            _pairs, firsts = np.unique(self.labels["rater_source"][of_source], return_index=True)
            shares["rater_source"][of_source[firsts]] += sign / len(firsts)
        return shares

    def variance(self, row, held, parts):
        """Of the estimate less the truth. held : of drawn parts that stay the same, by the first answer of each"""
        inverse = np.linalg.inv(self.covariance(parts))
        of_effects = np.linalg.pinv(self.x.T @ inverse @ self.x)
        of_truth = [(parts[name], self.same[name], held[name]) for name in held if name in parts]
        covariance = sum((v * same @ of_part for v, same, of_part in of_truth), np.zeros(len(self.y)))
        own = sum(v * of_part @ same @ of_part for v, same, of_part in of_truth)
        left = row - self.x.T @ inverse @ covariance
        return left @ of_effects @ left + own - covariance @ inverse @ covariance

    def degrees(self, row, held):
        """Satterthwaite's, by standard deviations: 2 V² over the variance of V."""
        names = [name for name in self.parts if not (self.has_no_rest and name == "residual")]
        at = np.array([self.parts[name] ** 0.5 for name in names])
        steps = np.diag(STEP * at)

        def parts_at(deviations):
            return self.parts | dict(zip(names, deviations**2, strict=True))

        def slope(step):
            ends = [self.variance(row, held, parts_at(at + sign * step)) for sign in (1, -1)]
            return (ends[0] - ends[1]) / (2 * step.sum())

        slopes = np.array([slope(step) for step in steps])
        spread = slopes @ self.spread_of_deviations(steps, at, parts_at) @ slopes
        return max(2 * self.variance(row, held, self.parts) ** 2 / spread, 1.0)

    def spread_of_deviations(self, steps, at, parts_at):
        """How sure the standard deviations are, by the curvature of the deviance; found once."""
        if self._spread is None:
            curvature = np.empty((len(at), len(at)))
            for i, one in enumerate(steps):
                for j, other in enumerate(steps):
                    signs = [(s, t) for s in (1, -1) for t in (1, -1)]
                    corners = [s * t * self.deviance(parts_at(at + s * one + t * other)) for s, t in signs]
                    curvature[i, j] = sum(corners) / (4 * one[i] * other[j])
            self._spread = 2 * np.linalg.pinv(curvature, rcond=1e-7)
        return self._spread


def t_interval(value, error, degrees, level=0.95):
    margin = stats.t.ppf((1 + level) / 2, degrees) * error
    return value - margin, value + margin


def p_within(value, error, degrees, margin):
    """The larger of the two one-sided p that the difference lies within the margin."""
    return stats.t.sf((margin - abs(value)) / error, degrees)


def p_of_f(f, numerator, denominator):
    return stats.f.sf(f, numerator, denominator)


def p_of(value, error, degrees):
    return 2 * stats.t.sf(abs(value) / error, degrees)
