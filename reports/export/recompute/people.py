"""What people say of stories: rates, ratings, shares, distributions, tests passed, and what raters were asked once."""

import json
from functools import partial

import numpy as np
from recompute.tables import as_number
from recompute.values import (
    N_RESAMPLES,
    NOT_TAKEN,
    Left,
    chance_floor,
    ends_of,
    estimate,
    floor_of,
    interval,
    mean_interval,
    or_none,
    rate_interval,
    share_of,
)
from recompute.wide import mean_intervals, outcome_interval

from stats import comparisons, intervals, rates, spreads
from stats import human_likeness as likeness
from stats import trends as trend_statistics
from stats.reasons import Incomputable

ATTEMPTS = 2  # at a comprehension check, unless the protocol says otherwise
STORIES, TRENDS, LIKENESS = 64, 65, 66  # of the seed


def pass_rates(package):
    cube = package.verdict_cube
    values, clusters = cube.readings[0], package.clusters(cube.units)
    columns = []
    for source, mask in package.units_by_source(cube.units):
        part, of_part = values[:, :, mask], clusters[mask]
        units = [unit for unit, is_in in zip(cube.units, mask, strict=True) if is_in]
        rows = [pass_rate(package, verdicts, of_part, units, source) for verdicts in part]
        by_item = [row["value"] for row in rows if row["value"] is not None]
        pooled = pass_rate(package, part, of_part, units, source)
        columns.append([*rows, pooled | ({"value": np.mean(by_item)} if by_item else {})])
    rows = [{"overall": row[0], "by_source": row[1:]} for row in zip(*columns, strict=True)]
    items = [item.fields | row for item, row in zip(package.verdicts, rows[:-1], strict=True)]
    return {"items": items, "mean": rows[-1], "n_verdicts": np.isfinite(values).sum(), **seed_fields(package)}


def seed_fields(package):
    return {"n_resamples": N_RESAMPLES, "seed": package.document.get("seed")}


def pass_rate(package, verdicts, clusters, units, source):
    judged = np.isfinite(verdicts).any(axis=tuple(range(verdicts.ndim - 1)))
    return {
        **estimate(rates.pass_rate, verdicts),
        "n_yes": np.nansum(verdicts),
        "n": np.isfinite(verdicts).sum(),
        "n_stories": len({units[n][1] for n in np.flatnonzero(judged)}),
        "interval": rate_interval(verdicts, clusters, package.resampling()),
        "source": source,
    }


def dimensions(package):
    names = dict.fromkeys(item.row["dimension"] for item in package.verdicts if item.row["dimension"])
    rows = []
    for name in names:
        cube = package.cube([item for item in package.verdicts if item.row["dimension"] == name])
        cells = []
        for source, mask in package.units_by_source(cube.units):
            values, units = cube.values[:, :, mask], np.flatnonzero(mask)
            of_items = [estimate(rates.pass_rate, verdicts)["value"] for verdicts in values]
            present = [rate for rate in of_items if rate is not None]
            cells.append(
                {
                    "source": source,
                    "value": np.mean(present) if present else None,
                    "n": np.isfinite(values).sum(),
                    "n_stories": cube.n_stories(units[np.isfinite(values).any(axis=(0, 1))]),
                    "interval": rate_interval(values, package.clusters(cube.units)[mask], package.resampling()),
                }
            )
        rows.append({"name": name, "n_items": len(cube.items), "overall": cells[0], "by_source": cells[1:]})
    return {"dimensions": rows}


def ratings(package):
    rows = []
    for item in package.scales:
        cube, cells = package.cube([item]), []
        for source, mask in package.units_by_source(cube.units):
            values, clusters = cube.values[0][:, mask], package.clusters(cube.units)[mask]
            numbers = values[np.isfinite(values)]
            if not numbers.size:
                cells.append({"source": source, "value": None, "n": 0})
                continue
            ends, wide = mean_intervals(package, values, clusters, item.bounds)
            summary = spreads.summarise(numbers)
            fields = {"value": summary.mean, "sd": summary.sd, "n": summary.n, "interval": ends, "wide": wide}
            cells.append(fields | {"source": source})
        low, high = item.ends
        rows.append(item.fields | {"lowest": low, "highest": high, "overall": cells[0], "by_source": cells[1:]})
    return rows


def shares(package):
    return [
        item.fields
        | {
            "n": len(rows),
            "options": [
                {
                    "value": option["value"],
                    "n": (rows["value"] == option["value"]).sum(),
                    "by_source": [
                        {
                            "source": name,
                            "n": (rows["value"] == option["value"])[is_of].sum(),
                            "of": is_of.sum(),
                        }
                        for name in package.sources
                        for is_of in [rows["story"].map(package.source_of) == name]
                    ],
                }
                for option in item.options
            ],
        }
        for item in package.choices
        if not item.author_by_option
        for rows in [package.answers_to(item)]
    ]


def tests_passed(package):
    cube = package.verdict_cube
    passed, totals = rates.tests_passed(cube.values), rates.totals(cube.values)
    n_raters, n_items = np.isfinite(totals).sum(axis=0), len(cube.items)
    clusters, is_counted, by_source = package.clusters(cube.units), np.isfinite(totals).sum(axis=0) >= 2, []
    for source in package.sources:
        mask = (package.sources_of(cube.units) == source) & np.isfinite(passed)
        values = passed[mask]
        if not values.size:
            by_source.append({"source": source, "value": None, "n_stories": 0})
            continue
        options = {"rng": package.resampling(), "n_resamples": N_RESAMPLES}
        ends = interval(rates.passed_interval, values, n_items, clusters[mask], **options)
        fields = {"value": values.mean(), "n_stories": values.size, "least": values.min(), "most": values.max()}
        by_source.append({"source": source, **fields, "interval": ends})
    parts = comparisons.pairs_pearson_parts(totals[:, is_counted])
    of_totals = (comparisons.pairs_pearson_of, parts, clusters[is_counted])
    return {
        "n_items": n_items,
        "stories": [
            {"group": group, "story": story, "value": or_none(value), "n_raters": n}
            for (group, story), value, n in zip(cube.units, passed, n_raters, strict=True)
        ],
        "by_source": by_source,
        "totals": {
            "coefficient": estimate(comparisons.pairs_pearson, totals),
            "interval": interval(
                intervals.interval_of_sums, *of_totals, rng=package.resampling(), n_resamples=N_RESAMPLES
            ),
            "floor": chance_floor(comparisons.pairs_pearson_floor, totals, rng=package.shuffling()),
        },
    }


def has_few_points(item):
    low, high = item.ends
    return isinstance(low, int) and isinstance(high, int) and 1 <= high - low < 11


def distributions(package):
    rows = []
    for item in filter(has_few_points, package.scales):
        cube, cells = package.cube([item]), []
        low, high = item.ends
        for source, mask in package.units_by_source(cube.units):
            values, clusters = cube.values[0][:, mask], package.clusters(cube.units)[mask]
            is_rated, points = np.isfinite(values), []
            for point in range(low, high + 1) if is_rated.any() else ():
                is_below = np.where(is_rated, values <= point, np.nan)
                ends = None if point == high else rate_interval(is_below, clusters, package.resampling())
                fields = {"point": point, "n": (values == point).sum(), "value": 100 * np.nanmean(is_below)}
                points.append(fields | ({"interval": ends} if ends else {}))
            n_stories = cube.n_stories(np.flatnonzero(mask)[is_rated.any(axis=0)])
            cells.append({"source": source, "n": is_rated.sum(), "n_stories": n_stories, "points": points})
        if cells[0]["n"]:
            rows.append(item.fields | {"lowest": low, "highest": high, "overall": cells[0], "by_source": cells[1:]})
    return rows


def story_ratings(package):
    """Of declared scores, and of every scale."""
    cubes = [(item, package.cube([item])) for item in package.scales]
    asked = [(item.fields, cube.values[0], cube.units, item.ends) for item, cube in cubes]
    tables = [table for table in package.outcomes if table.kind == "score"]
    scores = [(table.fields, table.ratings, table.units, table.bounds) for table in tables]
    salted = [*enumerate(scores, start=len(asked)), *enumerate(asked)]
    rows = (stories_of(package, salt, *about) for salt, about in salted)
    return [row for row in rows if row["stories"]]


def stories_of(package, salt, fields, values, units, ends):
    """Every story with its ratings, and how far these are apart. values : of each rater, shape (R, U)"""
    sds = spreads.standard_deviations(values)
    stories = [
        {"group": group, "story": story, "mean": own.mean(), "sd": or_none(sds[n]), "ratings": list(own)}
        for n, (group, story) in enumerate(units)
        for own in [values[:, n][np.isfinite(values[:, n])]]
        if own.size
    ]
    n, (low, high) = np.isfinite(sds).sum(), ends
    of_spread = mean_interval(sds, package.clusters(units), package.rng(STORIES, salt), (0, np.inf))
    spread = {"value": np.nanmean(sds) if n else None, "n_stories": n, "interval": of_spread}
    return fields | {"lowest": low, "highest": high, "spread": spread, "stories": stories}


def trends(package):
    numbers = {
        name: {story: as_number(level) for story, level in levels.items()} for name, levels in package.factors.items()
    }
    reported = {row["factor"] for row in package.report["trends"]}  # which factors are numbers, and no labels
    pairs = [(name, table) for name in numbers if name in reported for table in package.outcomes if not table.is_part]
    return [trend(package, name, numbers[name], table, salt) for salt, (name, table) in enumerate(pairs)]


def trend(package, name, number_by_story, table, salt):
    numbers = np.array([number_by_story.get(story, np.nan) for _group, story in table.units], dtype=float)
    is_rated = np.isfinite(table.values)
    different, means = sorted(set(numbers[np.isfinite(numbers) & is_rated])), []
    for number in different if len(different) <= 12 else ():
        units = (numbers == number) & is_rated
        fields = {"number": number, "value": table.values[units].mean(), "n_stories": table.n_stories(units)}
        means.append(fields | {"interval": outcome_interval(package, table, units)})
    fields = {"factor": name, "key": table.key, "n_stories": table.n_stories(np.isfinite(numbers) & is_rated)}
    options = {"rng": package.rng(TRENDS, salt), "n_resamples": N_RESAMPLES}
    try:
        rho = trend_statistics.trend(numbers, table.values, table.clusters, **options)
    except Incomputable:
        return fields | {"value": None, "means": means}
    correlation = {
        "value": rho.rho,
        "n_units": rho.n_units,
        "interval": ends_of(rho.interval),
        "floor": floor_of(rho.floor),
    }
    return fields | correlation | {"means": means}


def human_likeness(package):
    rows = []
    asked = [item for item in package.scales if item.item == "human-likeness"]
    for salt, item in enumerate(asked):
        cube, bounds = package.cube([item]), item.ends
        sources, is_human = package.sources_of(cube.units), ~package.of_models(cube.units)
        values = np.where(sources != "", cube.values[0], np.nan)
        clusters, n = package.clusters(cube.units), np.isfinite(values).sum()
        right = likeness.right(values, is_human, bounds)
        near = likeness.nearness(values, is_human, bounds)
        by_source = []
        for at, source in enumerate(package.sources):
            mask = sources == source
            own = values[:, mask]
            is_rated = np.isfinite(own)
            if is_rated.any():
                fields = {
                    "n": is_rated.sum(),
                    "n_stories": cube.n_stories(np.flatnonzero(mask)[is_rated.any(axis=0)]),
                    "n_by_point": [(own == point).sum() for point in range(bounds[0], bounds[1] + 1)],
                    "right": 100 * np.nanmean(right[:, mask]),
                    "near": 100 * np.nanmean(near[:, mask]),
                }
                ends = rate_interval(right[:, mask], clusters[mask], package.rng(LIKENESS, salt, 10 + at))
                by_source.append({"source": source, **fields, "interval": ends})
        fields = {"lowest": bounds[0], "highest": bounds[1], "n": n, "n_undecided": (values == sum(bounds) / 2).sum()}
        fields["accuracies"] = accuracies(package, right, near, is_human, salt, clusters)
        rows.append(item.fields | fields | {"by_source": by_source})
    return rows


def accuracies(package, right, near, is_human, salt, clusters):
    """How often a guess is right, over all and over both kinds alike, and how near it is."""

    def of_balanced():
        resampled = partial(likeness.balanced_resamples, right, is_human)
        ends = intervals.coefficient_interval(resampled, clusters, rng=rngs[2], n_resamples=N_RESAMPLES)
        return likeness.in_percent(ends.clipped(0, 1))

    rngs = [package.rng(LIKENESS, salt, n) for n in range(3)]
    people = 100 * np.broadcast_to(is_human, right.shape)[np.isfinite(right)].mean()
    always = {"always_model": 100 - people, "always_person": people}
    balanced = likeness.balanced_right(right, is_human)
    of_right, of_near = 100 * np.nanmean(right), 100 * np.nanmean(near)
    near_ends = mean_interval(100 * near, clusters, rngs[1], (0, 100))
    fields = {"always_model": 50, "always_person": 50, "always_middle": 0, "interval": interval(of_balanced)}
    return [
        {"value": of_right, "interval": rate_interval(right, clusters, rngs[0]), "always_middle": 0} | always,
        {"value": of_near, "interval": near_ends, "always_middle": 50} | always,
        {"value": None if balanced is None else 100 * balanced} | fields,
    ]


def surveys(package):
    rows = []
    for item in package.items:
        if item.scope != "once" or "correct" in item.settings:
            continue
        answers = package.answers_to(item)
        chosen = [one for text in answers["value"] for one in (json.loads(text) if text.startswith("[") else [text])]
        summary = spreads.summarise(answers["number"] if item.level in ("ordinal", "interval") else ())
        options = [option["value"] for option in item.options] or (["yes", "no"] if item.is_verdict else [])
        counts = [{"value": option, "n": chosen.count(option)} for option in options]
        fields = {"n": len(answers), "options": counts, "mean": summary.mean, "sd": summary.sd}
        rows.append(item.fields | fields)
    return rows


def checks(package):
    rows, steps = [], {step["key"]: step for step in package.document["steps"]}
    for item in package.items:
        if item.scope != "once" or "correct" not in item.settings:
            continue
        values = package.answers_to(item)["value"]
        n, n_right = len(values), (values == str(item.settings["correct"])).sum()
        n_failed = Left(NOT_TAKEN)
        if package.has("check_attempts"):
            attempts = package.table("check_attempts")
            n_failed = ((attempts["step"] == item.step) & attempts["outcome"].isin(["ended", "flagged"])).sum()
        fields = {"n": n, "n_right": n_right, "n_failed": n_failed} | share_of(n_right, n)
        attempts = steps[item.step]["options"].get("attempts", ATTEMPTS)
        rows.append(item.fields | fields | {"attempts": attempts})
    return rows


def amendments(package):
    answered = package.people[package.people["outcome"] == "answered"]
    n_by_version = answered["protocol_version"].value_counts()
    versions = [row["version"] for row in package.report["amendments"]]
    return [
        {"version": version, "n_answers": None if version is None else n_by_version.get(str(version), 0)}
        for version in versions
    ]
