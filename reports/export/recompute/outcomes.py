"""What sources are compared on: of every outcome a number for each story, over its raters."""

from collections import defaultdict
from functools import partial

import numpy as np

from stats import arrays, composites


class PackagedOutcomeTable:
    """One outcome. values : shape (U,); ratings : of each rater alone, shape (R, U); bounds : of a value"""

    def __init__(self, package, key, kind, items, *, is_part=False, score=None):
        self.key, self.kind, self.items, self.is_part = key, kind, items, is_part
        self.title = score["title"] if score else ""
        self.is_percent = kind in ("verdicts", "dimension", "verdict", "preference")
        self.bounds = items[0].bounds if kind == "rating" else (0.0, 100.0)
        if kind == "preference":
            self.units, self.values, self.ratings = shares_of_choices(package, items[0])
        elif kind == "rank":
            self.units, self.values, self.ratings = mean_ranks(package, items[0])
            self.bounds = 1.0, max((sum(map(len, order)) for order in package.orders(items[0])[0]), default=1)
        elif score:
            cube, options = package.cube(items), score_options(score, items)
            self.reversed = score["reversed"]
            self.scores_of = partial(composites.composite, how=score["how"], **options)
            self.fields = dict(zip(("step", "item"), key.split("/", 1), strict=True))
            self.units, self.ratings = cube.units, self.scores_of(cube.values)
            self.values = composites.over_raters(self.ratings)
            turned = composites.turned(cube.values, options["ends"], options["is_reversed"])
            self.counted = turned * np.array(options["weights"])[:, None, None]
            self.bounds = composites.bounds(score["how"], ends=options["ends"], weights=options["weights"])
        else:
            cube, scale = package.cube(items), 1 if kind == "rating" else 100
            self.units, self.ratings = cube.units, arrays.mean_present(cube.values, axis=0) * scale
            self.values = arrays.mean_present(arrays.mean_present(cube.values, axis=1), axis=0) * scale
        self.width = self.bounds[1] - self.bounds[0]
        self.clusters, self.sources = package.clusters(self.units), package.sources_of(self.units)
        self.blocks = package.blocks_of(self.units)
        self.stories = np.unique([story for _group, story in self.units], return_inverse=True)[1].astype(np.int64)

    def of_source(self, name):
        return (self.sources == name) & np.isfinite(self.values)

    def n_stories(self, units):
        return len({self.units[n][1] for n in np.flatnonzero(units)})


def score_options(score, items):
    """What the score's numbers follow from beside its items' answers."""
    return {
        "ends": [item.bounds for item in items],
        "weights": [score["weights"].get(key, 1.0) for key in score["items"]],
        "is_reversed": [key in score["reversed"] for key in score["items"]],
    }


def outcome_tables(package):
    """Every outcome that people have answered, whole before its parts."""
    steps = {step["key"] for step in package.document["steps"] if step["kind"] == "rating"}
    asked = [item for item in package.items if item.step in steps]
    verdicts = [item for item in asked if item.is_verdict and item.is_about_a_story]
    scores, item_by_key = package.scores, {item.key: item for item in asked}
    declared = [score for score in scores if score["is_declared"]]
    counted = {(score["step"], key) for score in declared for key in score["items"]}
    described = [("verdicts", "verdicts", verdicts, False)] if len(verdicts) > 1 else []
    names = dict.fromkeys(item.row["dimension"] for item in verdicts if item.row["dimension"])
    for name in names if len(names) > 1 else ():
        described.append((f"verdicts/{name}", "dimension", [i for i in verdicts if i.row["dimension"] == name], True))
    singles = [("verdict", verdicts), ("rating", [item for item in asked if item.is_scale])]
    singles += [
        ("preference", [i for i in asked if i.is_preference]),
        ("rank", [i for i in asked if i.is_ranking]),
    ]
    for kind, items in singles:
        is_part = kind == "verdict" and len(verdicts) > 1
        described += [("/".join(item.key), kind, [item], is_part or item.key in counted) for item in items]
    tables = [
        PackagedOutcomeTable(package, key, kind, items, is_part=is_part) for key, kind, items, is_part in described
    ]
    made = {score["outcome"]: score_table(package, score, item_by_key) for score in scores}
    tables = [*(made[score["outcome"]] for score in declared), *tables]
    others = [made[score["outcome"]] for score in scores if not score["is_declared"]]
    n = sum(table.kind not in ("preference", "rank") for table in tables)
    tables[n:n] = others
    return [table for table in tables if np.isfinite(table.values).any()]


def score_table(package, score, item_by_key):
    items = [item_by_key[score["step"], key] for key in score["items"]]
    kind = "score" if score["is_declared"] else "scale_mean"
    return PackagedOutcomeTable(package, score["outcome"], kind, items, is_part=score["is_part"], score=score)


def shares_of_choices(package, item):
    """How often each story was chosen, in percent of the choices in its group; of each rater 100 or 0."""
    n_by_group, n_by_unit, chosen_by_rater = defaultdict(int), defaultdict(int), defaultdict(dict)
    for choice in package.choices_of(item):
        n_by_group[choice.group] += 1
        n_by_unit[choice.group, choice.story] += 1
        chosen_by_rater[choice.rater][choice.group] = choice.story
    units = [unit for unit in package.units if unit[0] in n_by_group]
    values = [100 * n_by_unit[unit] / n_by_group[unit[0]] for unit in units]
    ratings = [
        [100.0 * (chosen[group] == story) if group in chosen else np.nan for group, story in units]
        for chosen in chosen_by_rater.values()
    ]
    return units, np.array(values, dtype=float), np.array(ratings, dtype=float).reshape(len(ratings), len(units))


def mean_ranks(package, item):
    """The mean place of each story, 1 the first; of each rater the place."""
    ranks_by_rater = defaultdict(dict)
    for order, group, rater in zip(*package.orders(item), strict=True):
        ranks_by_rater[rater] |= {(group, story): rank for story, rank in package.ranks_of(order).items()}
    units = sorted({unit for ranks in ranks_by_rater.values() for unit in ranks})
    rows = [[ranks.get(unit, np.nan) for unit in units] for ranks in ranks_by_rater.values()]
    ratings = np.array(rows, dtype=float).reshape(len(rows), len(units))
    return units, arrays.mean_present(ratings, axis=0), ratings
