"""How far people agree, item by item, with what must stand beside a coefficient."""

from typing import Any

import numpy as np

from reports import frames, preferring
from reports.frames import Cube
from reports.material import N_RESAMPLES, Asked, Material, floor, interval, mean, value
from stats import agreement, intervals
from stats.agreement import Incomputable
from stats.arrays import FloatArray
from studies.models import Source

AGREEMENT = 4  # salt of the seed


def agreement_by_item(material: Material) -> dict[str, Any]:
    """The coefficient of every item that has a level of measurement, and their mean over the items of one kind.

    Intervals resample groups, since a group shares its raters. Within one source, and among the stories of models,
    only if unsealed.
    """
    asked = [a for a in material.asked if a.level != "none" and a.step.scope != "once"]
    found = [_item(material, a, salt=n) for n, a in enumerate(asked)]
    keys = {a.key for a in material.verdicts}
    verdicts = [row for row in found if (row["step"], row["item"]) in keys]
    return {
        "items": found,
        "mean": _mean(material, verdicts) if len(verdicts) > 1 else None,
        "n_resamples": N_RESAMPLES,
        "seed": material.study.seed,
    }


def _item(material: Material, asked: Asked, *, salt: int) -> dict[str, Any]:
    if preferring.is_preference(asked):
        return preferring.agreement_row(material, asked, rng=material.rng(AGREEMENT, salt))
    is_nominal = asked.level == "nominal"
    cube = _coded(material, asked) if is_nominal and not frames.is_verdict(asked.item) else material.cube([asked])
    ratings = cube.values[0]
    rng = material.rng(AGREEMENT, salt)
    told = asked.described() | {
        "level": asked.level,
        "coefficient": _coefficient(ratings, asked.level),
        "percent_agreement": value(agreement.percent_agreement, ratings),
        "yes_percent": _yes(ratings) if frames.is_verdict(asked.item) else None,
        "alpha": _alpha(ratings, asked.level) if is_nominal else None,
    }
    if is_nominal:
        told["interval"] = interval(intervals.fleiss_kappa_interval, ratings, cube.groups, rng=rng)
        told["floor"] = floor(agreement.fleiss_chance_floor, ratings, rng=rng)
    else:
        told["interval"] = interval(intervals.alpha_interval, ratings, asked.level, cube.groups, rng=rng)
        told["floor"] = floor(agreement.alpha_chance_floor, ratings, asked.level, rng=rng)
    return told | ({} if material.sealed or not asked.is_about_a_story else _within(material, cube, asked.level))


def _within(material: Material, cube: Cube, level: str) -> dict[str, Any]:
    """Agreement among the stories of each source, and among those of all models together.

    Agreement that comes only from telling people from models is a different finding.
    """
    kinds = {kind for _, kind in material.sources}
    by_model = material.by_kind(cube, Source.Kind.MODEL)
    return {
        "within_source": [
            {"source": name} | _coefficient(cube.values[0][:, material.by(cube, name)], level)
            for name, _ in material.sources
        ],
        "among_models": _coefficient(cube.values[0][:, by_model], level) if len(kinds) > 1 and by_model.any() else None,
    }


def _coefficient(ratings: FloatArray, level: str) -> dict[str, Any]:
    """Fleiss' kappa of what is only told apart, Krippendorff's alpha of what lies on a scale."""
    return value(agreement.fleiss_kappa, ratings) if level == "nominal" else _alpha(ratings, level)


def _alpha(ratings: FloatArray, level: str) -> dict[str, Any]:
    return value(agreement.krippendorff_alpha, ratings, level)


def _yes(ratings: FloatArray) -> dict[str, Any]:
    share = value(agreement.base_rate, ratings)
    return share if share["value"] is None else {"value": 100 * share["value"]}


def _coded(material: Material, asked: Asked) -> Cube:
    """A choice as numbers: which option it was."""
    place_by_value = {option["value"]: float(n) for n, option in enumerate(asked.item.options)}
    rows = material.rows(asked)
    return material.cube([asked], rows.assign(analysed=rows["value"].map(place_by_value)))


def _mean(material: Material, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The mean over items answered Yes or No that have a kappa: its interval from joint resamples of groups, its chance
    floor from shuffles of all items together."""
    cube = material.verdict_cube
    has_kappa = [row["coefficient"]["value"] is not None for row in rows]
    items = cube.values[np.array(has_kappa, dtype=np.bool_)]

    def resampled() -> intervals.Interval:
        if not len(items):
            raise Incomputable("No item has a kappa to average.")
        weights = intervals.resample_weights(cube.groups, rng=material.rng(AGREEMENT, 1_000_000))
        each = [intervals.fleiss_kappa_resamples(ratings, weights) for ratings in items]
        return intervals.percentile_interval(np.asarray(np.mean(each, axis=0), dtype=np.float64), cube.groups)

    def floored() -> agreement.Floor:
        if not len(items):
            raise Incomputable("No item has a kappa to average.")
        return agreement.mean_fleiss_chance_floor(items, rng=material.rng(AGREEMENT, 1_000_001))

    told = {
        "coefficient": mean([row["coefficient"] for row in rows]),
        "interval": interval(resampled),
        "floor": floor(floored),
        "percent_agreement": mean([r["percent_agreement"] for r in rows]),
        "yes_percent": mean([r["yes_percent"] for r in rows]),
    }
    among = [r["among_models"] for r in rows if r.get("among_models")]
    return told | ({"among_models": mean(among)} if among else {})
