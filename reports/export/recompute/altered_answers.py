"""What judges answered about changed stories, beside what they answered about the same stories as they are."""

import math
from collections import defaultdict

import numpy as np
from recompute.readings import is_about
from recompute.values import mean_interval, why

from stats import contrasts, paired_shifts
from stats.reasons import Incomputable

INTERVENTIONS = 154  # of the seed


def interventions(package):
    """Of each judge and change how far answers move, beside how far they move when they are only read again."""
    rows = [*effects(package, package.verdicts, "verdicts"), *effects(package, package.scales, "scales")]
    adjusted = contrasts.adjust([row.get("p") for row in rows], "holm")
    return [row | ({} if p is None else {"p_adjusted": p}) for row, p in zip(rows, adjusted, strict=True)]


def effects(package, items, kind):
    altered = package.answers[package.answers["status"] == "altered"]
    altered = altered[is_about(altered, items)]
    for at, judge in enumerate(sorted(altered["rater"].unique())):
        plain = answers_by_place(package, items, plain_rows(package, judge))
        first, second = np.full((2, len(items), len(package.units)), np.nan)
        for place, answers in plain.items():
            if len(answers) > 1:
                first[place], second[place] = answers[0][1], answers[1][1]
        salt = (INTERVENTIONS, len(kind), at)
        again, _p = move(package, items, first, second, kind, (*salt, 0))
        own = altered[altered["rater"] == judge]
        tables = {}
        for name, rows in own.groupby("intervention"):
            before, after = np.full((2, len(items), len(package.units)), np.nan)
            for place, answers in answers_by_place(package, items, rows).items():
                for seat, number in answers:
                    earlier = [answer for planned, answer in plain.get(place, []) if planned < seat]
                    if earlier:
                        before[place], after[place] = earlier[-1], number
            if np.isfinite(after).any():
                tables[name] = before, after
        for n, (name, both) in enumerate(sorted(tables.items()), start=1):
            effect, p = move(package, items, *both, kind, (*salt, n))
            about = {"judge": judge, "intervention": name, "kind": kind}
            yield about | {"effect": effect, "again": again} | ({} if p is None else {"p": p})


def plain_rows(package, judge):
    """The judge's answers about stories as they are, in the planned order and as the persona that counts."""
    rows = package.all_readings[package.all_readings["rater"] == judge]
    personas = rows.loc[rows["counts_alone"] == "yes", "persona"].unique()
    return rows[(rows["order"] != "reversed") & rows["persona"].isin(personas)]


def answers_by_place(package, items, rows):
    """Seat and number of each answer in the order of seats, by item and unit."""
    unit_places = {unit: n for n, unit in enumerate(package.units)}
    item_places = {item.key: n for n, item in enumerate(items)}
    rows = rows[is_about(rows, items) & (rows["outcome"] == "answered").to_numpy()]
    rows = rows.dropna(subset=["number"]).sort_values("seat", kind="stable")
    by_place = defaultdict(list)
    for row in rows.itertuples():
        by_place[item_places[row.step, row.item], unit_places[row.group, row.story]].append((row.seat, row.number))
    return by_place


def move(package, items, before, after, kind, salt):
    """before, after : shape (I, U)"""
    factor = 100 if kind == "verdicts" else 1
    before, after = factor * before, factor * after
    clusters, nothing = package.clusters(package.units), {"low": None, "high": None}
    answered = [item for item, own in zip(items, after - before, strict=True) if np.isfinite(own).any()]
    scales = {(item.level, item.bounds) for item in answered}
    if len(answered) > 1 and (len(scales) > 1 or answered[0].level == "interval"):
        return {"value": None, "n": 0, "interval": nothing}, None
    try:
        shift = paired_shifts.paired_shift(before, after, clusters, rng=package.rng(*salt, 0))
    except Incomputable as error:
        return {"value": None, "why": why(error), "n": 0, "interval": nothing}, None
    bound = factor * max((item.bounds[1] - item.bounds[0] for item in answered), default=math.inf)
    moved = {
        "value": shift.value,
        "before": shift.before,
        "after": shift.after,
        "differing_percent": 100 * shift.changed,
        "n": shift.n,
        "interval": mean_interval(after - before, clusters, package.rng(*salt, 1), (-bound, bound)),
    }
    return moved, shift.p
