"""What people said of stories beside each other: in which order they put them, and who they thought wrote them."""

from collections import defaultdict
from typing import Any

import numpy as np
import pandas as pd

from reports.material import N_RESAMPLES, Asked, Material, interval, mean, value
from stats import rankings
from stats.agreement import Incomputable
from stats.arrays import FloatArray, IntArray
from stats.comparisons import balanced_accuracy
from stats.intervals import Interval, percentile_interval, resample_weights
from studies.models import Source

RANKS = 5  # salt of the seed

# What the options of a guess say about the author. An item with exactly such options is a guess of authorship.
KIND_BY_GUESS = {
    "expert": Source.Kind.EXPERT,
    "amateur": Source.Kind.AMATEUR,
    "ai": Source.Kind.MODEL,
} | {str(kind): kind for kind in Source.Kind}


def is_guess(asked: Asked) -> bool:
    """Whether the item asks who wrote the story."""
    values = [option["value"] for option in asked.item.options]
    return bool(values) and asked.is_about_a_story and all(v in KIND_BY_GUESS for v in values) and "yes" not in values


def ranking(material: Material) -> list[dict[str, Any]]:
    """Mean ranks and first places by source, of every item that puts stories in order; none while sealed."""
    if material.sealed:
        return []
    asked = [a for a in material.asked if a.level == "none" and a.step.scope == "group"]
    return [_ranking(material, a, salt=n) for n, a in enumerate(asked) if len(_orders(material.rows(a)))]


def _orders(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows whose value is an order of stories."""
    return rows[rows["value"].map(lambda v: isinstance(v, list) and bool(v) and isinstance(v[0], list))]


def _ranking(material: Material, asked: Asked, *, salt: int) -> dict[str, Any]:
    rows = _orders(material.rows(asked))
    ranks = [ranks_of(value) for value in rows["value"]]
    groups = list(rows["group"])
    names = [name for name, _ in material.sources]
    of_source = [[_source_ranks(material, each, name) for name in names] for each in ranks]
    means = np.array([[np.mean(each) if each else np.nan for each in row] for row in of_source])
    best = np.array([[min(each) if each else np.nan for each in row] for row in of_source])
    firsts = rankings.first_places(best) if np.isfinite(best).any() else np.full(len(names), np.nan)
    weights = _weights(material, groups, salt=salt)
    return asked.described() | {
        "n_rankings": len(rows),
        "n_groups": len(set(groups)),
        "by_source": [
            {
                "source": name,
                "mean_rank": value(_known, rankings.mean_ranks(means)[n]),
                "interval": interval(_mean_interval, means[:, n], weights, groups),
                "first_percent": None if np.isnan(firsts[n]) else float(100 * firsts[n]),
            }
            for n, name in enumerate(names)
        ],
        "concordance": _concordance(ranks, groups),
    }


def ranks_of(order: list[list[str]]) -> dict[str, float]:
    """The rank of each story, from 1; stories that share a place share the mean of their ranks."""
    ranks: dict[str, float] = {}
    n_before = 0
    for shared in order:
        ranks |= dict.fromkeys(shared, n_before + (len(shared) + 1) / 2)
        n_before += len(shared)
    return ranks


def _source_ranks(material: Material, ranks: dict[str, float], source: str) -> list[float]:
    return [rank for story, rank in ranks.items() if material.source_of(story) == source]


def _concordance(ranks: list[dict[str, float]], groups: list[str]) -> dict[str, Any]:
    """Kendall's W among the raters of each group, and its mean over groups."""
    each = []
    ranks_by_group = defaultdict[str, list[dict[str, float]]](list)
    for rank, group in zip(ranks, groups, strict=True):
        ranks_by_group[group].append(rank)
    for group, of_group in ranks_by_group.items():
        stories = sorted(of_group[0])
        table = np.array([[rank.get(story, np.nan) for story in stories] for rank in of_group])
        each.append({"group": group} | value(rankings.kendall_w, table))
    return {"name": "Kendall's W, mean over groups"} | mean(each) | {"groups": each}


def _weights(material: Material, groups: list[str], *, salt: int) -> IntArray | None:
    try:
        return resample_weights(groups, rng=material.rng(RANKS, salt), n_resamples=N_RESAMPLES)
    except Incomputable:
        return None


def _mean_interval(ranks: FloatArray, weights: IntArray | None, groups: list[str]) -> Interval:
    if weights is None:
        raise Incomputable("There are fewer than two groups to resample.")
    n = weights @ np.isfinite(ranks)
    return percentile_interval((weights @ np.nan_to_num(ranks)) / np.where(n > 0, n, np.nan), groups)


def _known(number: float) -> float:
    if np.isnan(number):
        raise Incomputable("No story of this source was ranked.")
    return float(number)


def authorship(material: Material) -> list[dict[str, Any]]:
    """Of every item that asks who wrote a story: guesses by true source, and how many were right; none while sealed."""
    if material.sealed:
        return []
    return [_authorship(material, a) for a in material.asked if is_guess(a)]


def _authorship(material: Material, asked: Asked) -> dict[str, Any]:
    rows = material.rows(asked)
    rows = rows[rows["source"].notna()]  # of a story whose author nobody knows, no guess is right or wrong
    options = [option["value"] for option in asked.item.options]
    guessed = rows["value"].map(lambda given: str(KIND_BY_GUESS[given]))
    is_model = (rows["source_kind"] == Source.Kind.MODEL).to_numpy()
    says_model = (guessed == Source.Kind.MODEL).to_numpy()
    return asked.described() | {
        "options": [{"value": o["value"], "label": o["label"]} for o in asked.item.options],
        "n": len(rows),
        "by_source": [_guesses(rows, name, kind, options) for name, kind in material.sources],
        "n_right": int((guessed == rows["source_kind"]).sum()),
        "n_right_of_person_or_model": int((is_model == says_model).sum()),
        "always_model_percent": float(100 * is_model.mean()) if len(rows) else None,
        "balanced_accuracy": value(balanced_accuracy, is_model.astype(float), says_model.astype(float)),
    }


def _guesses(rows: pd.DataFrame, source: str, kind: str, options: list[str]) -> dict[str, Any]:
    given = rows.loc[rows["source"] == source, "value"]
    return {
        "source": source,
        "source_kind": kind,
        "n": len(given),
        "n_by_option": [int((given == option).sum()) for option in options],
    }
