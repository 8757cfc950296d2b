"""Judges beside people: the same items about the same stories, judged by a model or a metric."""

from typing import Any

import numpy as np
import pandas as pd

from reports import frames
from reports.material import Material, mean
from stats import judging
from stats.agreement import Coefficient, Incomputable
from stats.arrays import FloatArray


def judges(material: Material) -> list[dict[str, Any]]:
    """Each judge against the people's majority, with what is missing by source; none while sealed.

    Only readable verdicts are compared. What was declined, could not be read or never came is counted, never a No.
    """
    asked = material.verdicts
    names = sorted(material.judges["rater"].unique())
    if material.sealed or not asked or not names:
        return []
    keys = [a.key for a in asked]
    cube = material.verdict_cube
    truth = np.stack([judging.majority(verdicts) for verdicts in cube.values])
    given = frames.cube(material.judges, keys, raters=names, among=list(cube.units)).values
    is_asked = [key in keys for key in zip(material.judges["step"], material.judges["item"], strict=True)]
    rows = material.judges[is_asked]
    titles = [a.described() for a in asked]
    return [
        _judge(material, rows[rows["rater"] == name], given[:, n, :], truth, titles) | {"judge": name}
        for n, name in enumerate(names)
    ]


def _judge(
    material: Material, rows: pd.DataFrame, given: FloatArray, truth: FloatArray, titles: list[dict[str, Any]]
) -> dict[str, Any]:
    items = [title | _against(g, t) for title, g, t in zip(titles, given, truth, strict=True)]
    by_source = [
        {"source": name} | _outcomes(rows[rows["source"] == name], given.shape[0] * _n_units(material, name))
        for name, _ in material.sources
    ]
    return {
        "kind": str(rows["rater_kind"].iloc[0]) if len(rows) else "model",
        "pooled": _against(given.ravel(), truth.ravel()),
        "mean_kappa": mean([item["kappa"] for item in items]),
        "items": items,
        "outcomes": _outcomes(rows, given.size) | {"by_source": by_source},
    }


def _against(given: FloatArray, truth: FloatArray) -> dict[str, Any]:
    try:
        found = judging.against_majority(given, truth)
    except Incomputable as reason:
        nothing = {"value": None, "why": str(reason)}
        shares = {"yes_percent": None, "majority_yes_percent": None}
        return {"kappa": nothing, "balanced_accuracy": nothing, **shares, "n": 0}
    return {
        "kappa": _told(found.kappa),
        "balanced_accuracy": _told(found.balanced_accuracy),
        "yes_percent": 100 * found.yes_rate,
        "majority_yes_percent": 100 * found.majority_yes_rate,
        "n": found.n,
    }


def _told(found: Coefficient | float | Incomputable) -> dict[str, Any]:
    if isinstance(found, Incomputable):
        return {"value": None, "why": str(found)}
    note = {"note": found.note} if isinstance(found, Coefficient) else {}
    return {"value": float(found)} | note


def _outcomes(rows: pd.DataFrame, n_expected: int) -> dict[str, Any]:
    counts = rows["outcome"].value_counts()
    told = {outcome: int(counts.get(outcome, 0)) for outcome in ("answered", "declined", "unreadable")}
    n_lost = n_expected - told["answered"]
    lost = {"missing": n_lost - told["declined"] - told["unreadable"], "expected": n_expected}
    return told | lost | {"lost_percent": 100 * n_lost / n_expected if n_expected else None}


def _n_units(material: Material, source: str) -> int:
    return sum(material.source_of(story) == source for _, story in material.units)
