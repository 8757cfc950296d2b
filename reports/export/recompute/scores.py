"""How near a judge comes to people: statistics over all units and over parts of them, with intervals and floors."""

import numpy as np
from recompute.readings import outcomes
from recompute.values import N_RESAMPLES, chance_floor, ends_of, interval, why

from stats import human_line
from stats.judge_sides import Sides
from stats.reasons import Incomputable

PARTS = ("all", "models", "unanimous", "split")


def sides_of(package, material, answers, reference, salt):
    """One judge and what people say of each item and unit, both of shape (I, U), and what is drawn for both once."""
    widths = [high - low for low, high in (item.bounds for item in material.items)]
    return Sides(package, material, answers, reference, widths, salt)


def score(sides, statistic, parts, items, salt):
    """A statistic of some of the items, over all units and over each part of them."""
    rows = [score_part(sides, statistic, part, items, (*sides.salt, *salt, n)) for n, part in sides.list_parts(parts)]
    return {"statistic": statistic.key, "parts": rows}


def score_part(sides, statistic, part, items, salt):
    try:
        computed = sides.compute(statistic, part, items, salt=salt, n_resamples=N_RESAMPLES)
    except Incomputable as error:
        return {"part": part, "value": None, "n": 0, "why": why(error)}
    row = {
        "part": part,
        "value": computed.value,
        "n": computed.n,
        "n_units": computed.n_units,
        "n_raters": sides.material.n_raters,
        "interval": interval(computed.interval),
        "floor": chance_floor(computed.floor, None),
    }
    is_of_several = len(set(computed.strata)) > 1
    return row | ({"floor_within": chance_floor(computed.floor, computed.strata)} if is_of_several else {})


def person_lines(people, clusters, kinds, rng, *, is_percent=False):
    """What one of the people has beside the others. people : shape (I, R, U)"""
    has_majority, rows = (np.isfinite(people).sum(axis=1) > 2).any(), []
    for kind in kinds:
        if kind == "majority" and not has_majority:
            continue
        options = {"against": kind, "rng": rng, "n_resamples": N_RESAMPLES}
        try:
            line = human_line.agree_among_people(people, clusters, **options)
        except Incomputable:
            continue
        ends, scale = ends_of(line.interval), 100 if is_percent else 1
        if is_percent and ends["low"] is not None:
            ends |= {"low": 100 * max(ends["low"], 0), "high": 100 * min(ends["high"], 1)}
        fields = {"value": scale * line.value, "n_units": line.n_units, "n_raters": line.n_people, "interval": ends}
        rows.append({"against": kind} | fields)
    return rows


def compare_judges(package, material, reference, statistics, of_item, against, salt, n_asked=None, parts=PARTS):
    """Every judge beside what people say: these statistics over all items, and those item by item.

    parts : those over which each statistic is computed, over all items
    n_asked : how many items were to be answered, where those of the material are made of them
    """
    n_asked = n_asked or len(material.items)
    lines = person_lines(material.people, material.clusters, against, package.rng(salt, 99))
    rows = []
    for at, (name, answers) in enumerate(zip(material.names, material.judges, strict=True)):
        sides = sides_of(package, material, answers, reference, (salt, at))
        items = [
            item.fields
            | {
                "scores": [
                    score(sides, statistic, PARTS[:2], slice(n, n + 1), (n + 1, place))
                    for place, statistic in enumerate(of_item)
                ]
            }
            for n, item in enumerate(material.items)
        ]
        rows.append(
            {
                "judge": name,
                "n_people": material.n_raters,
                "person_lines": lines,
                "scores": [
                    score(sides, statistic, parts, slice(None), (0, n)) for n, statistic in enumerate(statistics)
                ],
                "items": items,
                "outcomes": outcomes(package, name, material.rows[material.rows["rater"] == name], n_asked),
            }
        )
    return rows
