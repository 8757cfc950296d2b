"""How near a judge comes to people: statistics over all units and over parts of them, with intervals and floors."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from recompute.readings import outcomes
from recompute.tables import widest
from recompute.values import N_RESAMPLES, chance_floor, ends_of, interval, why

from stats import human_line, judge_scores, table_scores
from stats.reasons import Incomputable

PARTS = ("all", "models", "unanimous", "split")
OF_ALL = ("all", "unanimous", "split")  # of the same units; they differ in which of people's answers count
SHUFFLES = 98  # of the seed


@dataclass
class PackagedPartSides:
    """What the judge and people say in a part, shape (I, U), with the cluster and the source of each unit."""

    judge: np.ndarray
    people: np.ndarray
    clusters: np.ndarray
    sources: list

    @cached_property
    def tables(self):
        return table_scores.tables_by_cluster(self.judge, self.people, self.clusters)


@dataclass
class PackagedSides:
    """One judge and what people say of each item and unit, both of shape (I, U), and what is drawn for both once."""

    package: object
    material: object
    answers: np.ndarray
    reference: np.ndarray
    salt: tuple
    sides_by_part: dict = field(default_factory=dict)
    tables_by_part: dict = field(default_factory=dict)

    def select(self, part):
        if part not in self.sides_by_part:
            material, reference = self.material, self.reference
            units = material.is_of_models if part == "models" else np.ones(len(material.units), dtype=bool)
            if part in ("unanimous", "split"):
                is_split = (material.n_people > 1) & ~material.is_unanimous
                reference = np.where(material.is_unanimous if part == "unanimous" else is_split, reference, np.nan)
            own = self.answers[:, units], reference[:, units], material.clusters[units], list(material.sources[units])
            self.sides_by_part[part] = PackagedPartSides(*own)
        return self.sides_by_part[part]

    def tables(self, part, strata):
        """The tables of 1,000 shuffles in a part, of all items. Parts of the same units are drawn together."""
        key = part, strata is not None
        if key not in self.tables_by_part:
            parts = ("models",) if part == "models" else OF_ALL
            rng = self.package.rng(*self.salt, SHUFFLES, int(part == "models"), int(strata is not None))
            people = np.concatenate([self.select(name).people for name in parts])
            judge = np.tile(self.select(part).judge, (len(parts), 1))
            shuffled = table_scores.shuffled_tables(judge, people, rng=rng, strata=strata)
            for name, own in zip(parts, np.split(shuffled, len(parts)), strict=True):
                self.tables_by_part[name, strata is not None] = own
        return self.tables_by_part[key]


def score(sides, statistic, parts, items, salt):
    """A statistic of some of the items, over all units and over each part of them."""
    rows = [
        score_part(sides, statistic, part, items, (*sides.salt, *salt, n))
        for n, part in enumerate(parts)
        if part != "models" or sides.material.is_mixed
    ]
    return {"statistic": statistic.key, "parts": rows}


def score_part(sides, statistic, part, items, salt):
    own, package = sides.select(part), sides.package
    judge, people = own.judge[items], own.people[items]

    def of_tables(strata):
        return table_scores.score_floor(statistic, sides.tables(part, strata)[items], own.tables[items])

    def of_numbers(strata):
        rng = package.rng(*salt, 1 if strata is None else 2)
        return judge_scores.score_floor(statistic, judge, people, rng=rng, strata=strata)

    def ends():
        options = {"rng": package.resampling(), "n_resamples": N_RESAMPLES}
        if is_of_tables:
            return table_scores.score_interval(statistic, own.tables[items], **options)
        most = widest(sides.material.items[items]) if statistic.is_distance else np.inf
        return judge_scores.score_interval(statistic, judge, people, own.clusters, **options).clipped(-most, most)

    is_of_tables = isinstance(statistic, table_scores.TableStatistic)
    floor = of_tables if is_of_tables else of_numbers
    try:
        if is_of_tables:
            value = table_scores.score(statistic, own.tables[items])
        else:
            value = judge_scores.score(statistic, judge, people)
    except Incomputable as error:
        return {"part": part, "value": None, "n": 0, "why": why(error)}
    compared = np.isfinite(judge) & np.isfinite(people)
    row = {
        "part": part,
        "value": value,
        "n": compared.sum(),
        "n_units": compared.any(axis=0).sum(),
        "n_raters": sides.material.n_raters,
        "interval": interval(ends),
        "floor": chance_floor(floor, None),
    }
    return row | ({"floor_within": chance_floor(floor, own.sources)} if len(set(own.sources)) > 1 else {})


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


def compare_judges(package, material, reference, statistics, of_item, against, salt):
    """Every judge beside what people say: these statistics over all items, and those item by item."""
    lines = person_lines(material.people, material.clusters, against, package.rng(salt, 99))
    rows = []
    for at, (name, answers) in enumerate(zip(material.names, material.judges, strict=True)):
        sides = PackagedSides(package, material, answers, reference, (salt, at))
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
                    score(sides, statistic, PARTS, slice(None), (0, n)) for n, statistic in enumerate(statistics)
                ],
                "items": items,
                "outcomes": outcomes(package, material.rows[material.rows["rater"] == name], len(material.items)),
            }
        )
    return rows
