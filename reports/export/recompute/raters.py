"""How far raters agree, what each does to the results, how reliable answers are, and how items overlap."""

import numpy as np
from recompute.choices import at_positions, choice_table, n_possible
from recompute.people import seed_fields
from recompute.tables import PackagedCube, widest
from recompute.values import (
    N_RESAMPLES,
    chance_floor,
    ends_of,
    estimate,
    floor_of,
    interval,
    mean,
    or_none,
    why,
)

from stats import agreement as coefficients
from stats import agreement_claims, contrasts, intervals, one_factor, rates, resamples
from stats import item_analysis as overlap
from stats import panel as leave_out
from stats import reliability as reliabilities
from stats.reasons import Incomputable

N_SHUFFLES = 200  # of reliability


def agreement(package):
    """Item by item the coefficient with its interval and floor, and the mean over the verdicts."""
    asked = [item for item in package.items if item.level != "none" and item.scope != "once"]
    asked = asked if package.raters or not len(package.all_readings) else []
    floors, of_mean = verdict_floors(package)
    rows = [of_score(package, table) for table in package.outcomes if table.kind == "score"]
    rows += [of_preference(package, i) if i.is_preference else of_item(package, i, floors) for i in asked]
    add_holm(rows)
    keys = {item.key for item in package.verdicts}
    verdicts = [row for row in rows if (row["step"], row["item"]) in keys]
    fields = {"items": rows, **seed_fields(package)}
    return fields | ({"mean": mean_agreement(package, verdicts, of_mean)} if len(verdicts) > 1 else {})


def add_holm(rows):
    """p over all scales, of which one that has none counts as not shown."""
    scales = [row for row in rows if row["level"] == "ordinal" and row["coefficient"]["value"] is not None]
    ps = [row.get("p_above_chance") for row in scales]
    adjusted = contrasts.adjust([1.0 if p is None else p for p in ps], "holm")
    for row, p, own in zip(scales, ps, adjusted, strict=True):
        if p is not None:
            row["p_holm"] = own


def coverage(ratings):
    """How many units two or more answered about, of how many, and how many that was, least and most."""
    n = np.isfinite(ratings).sum(axis=0)
    used = n[n >= 2]
    ends = {"least": used.min(), "most": used.max()} if used.size else {"least": 0, "most": 0}
    return {"n_units": used.size, "n_all": n.size} | ends


def verdict_floors(package):
    """Of each verdict with a kappa its floor, and that of their mean, from the same shuffles."""
    cube = package.verdict_cube
    is_used = [estimate(coefficients.fleiss_kappa, part)["value"] is not None for part in cube.readings[0]]
    if not any(is_used):
        return {}, {"mean": None, "upper": None}
    floors, of_mean = coefficients.fleiss_chance_floors(cube.values[is_used], rng=package.shuffling())
    used = [key for key, is_in in zip(cube.items, is_used, strict=True) if is_in]
    return {key: chance_floor(floor) for key, floor in zip(used, floors, strict=True)}, chance_floor(of_mean)


def coefficient(ratings, level, raters):
    """Fleiss' kappa of what is only told apart, Krippendorff's alpha of what lies on a scale."""
    if level == "nominal":
        return estimate(coefficients.fleiss_kappa, ratings, raters)
    return estimate(coefficients.krippendorff_alpha, ratings, level, raters)


def of_item(package, item, floors):
    cube, level = package.cube([item]), item.level
    (ratings,), raters = cube.readings
    clusters, drawn = package.clusters(cube.units), {"rng": package.resampling()}
    options = {"rng": package.shuffling()}
    if level == "nominal":
        ends = interval(intervals.fleiss_kappa_interval, ratings, clusters, **drawn)
        floor = floors.get(item.key) or chance_floor(coefficients.fleiss_chance_floor, cube.values[0], **options)
    else:
        ends = interval(intervals.alpha_interval, ratings, level, clusters, **drawn)
        floor = chance_floor(coefficients.alpha_chance_floor, cube.values[0], level, **options)
    row = item.fields | {
        "level": level,
        "coverage": coverage(ratings),
        "coefficient": coefficient(ratings, level, raters),
        "percent_agreement": estimate(coefficients.percent_agreement, ratings),
        "interval": ends,
        "floor": floor,
    }
    if level == "ordinal" and ends["low"] is not None and floor["upper"] is not None:
        bound = max(floor["upper"], 0.0)
        again = {"rng": package.resampling()}
        p = estimate(agreement_claims.p_of_alpha_above, ratings, level, clusters, bound, **again)
        row["p_above_chance"] = p["value"]
    if item.is_verdict:
        yes = estimate(coefficients.base_rate, ratings)
        row["yes_percent"] = yes | {"value": None if yes["value"] is None else 100 * yes["value"]}
    if level == "nominal":
        row["alpha"] = estimate(coefficients.krippendorff_alpha, ratings, level, raters)
    if item.is_about_a_story and package.sources:
        row |= by_source(package, cube.units, ratings, level, raters)
    return row


def of_score(package, table):
    """Alpha of the scores of raters, as of an interval scale."""
    (ratings,), raters = PackagedCube([], package.raters, table.units, table.ratings[np.newaxis]).readings
    step, name = table.key.split("/", 1)
    drawn, shuffled = {"rng": package.resampling()}, {"rng": package.shuffling()}
    row = {
        "step": step,
        "item": name,
        "level": "interval",
        "coverage": coverage(ratings),
        "coefficient": coefficient(ratings, "interval", raters),
        "percent_agreement": estimate(coefficients.percent_agreement, ratings),
        "interval": interval(intervals.alpha_interval, ratings, "interval", table.clusters, **drawn),
        "floor": chance_floor(coefficients.alpha_chance_floor, table.ratings, "interval", **shuffled),
    }
    return row | (by_source(package, table.units, ratings, "interval", raters) if package.sources else {})


def by_source(package, units, ratings, level, raters):
    """The coefficient within each source, and among the stories of all models where others are there, too."""
    sources, of_models = package.sources_of(units), package.of_models(units)
    row = {
        "within_source": [
            {"source": name} | coefficient(ratings[:, sources == name], level, raters[:, sources == name])
            for name in package.sources
        ]
    }
    if len(set(package.kind_by_source.values())) > 1 and of_models.any():
        row["among_models"] = coefficient(ratings[:, of_models], level, raters[:, of_models])
    return row


def of_preference(package, item):
    """Agreement on the preferred stories, beside raters who keep their habits as to the position on the page."""
    chosen = package.choices_of(item)
    groups = sorted({choice.group for choice in chosen})
    table, positions, stories, is_unknown = choice_table(chosen, groups)
    anywhere = package.rng(1, 1)
    n_values = n_possible(item, chosen, groups)

    def kappa(ratings, units=slice(None)):
        return coefficients.brennan_prediger(ratings[:, units], n_values[units])

    def of_positions(moved):
        return kappa(at_positions(moved, stories, is_unknown, anywhere))

    def of_units(units):
        return kappa(table, units)

    drawn = {"rng": package.resampling()}
    return item.fields | {
        "level": item.level,
        "coverage": coverage(table),
        "coefficient": estimate(kappa, table),
        "percent_agreement": estimate(coefficients.percent_agreement, table),
        "interval": interval(intervals.bootstrap, of_units, package.clusters_of(groups), **drawn),
        "floor": chance_floor(coefficients.chance_floor, positions, of_positions, rng=package.shuffling()),
    }


def mean_agreement(package, rows, floor):
    cube = package.verdict_cube
    has_kappa = np.array([row["coefficient"]["value"] is not None for row in rows], dtype=bool)
    items = cube.readings[0][has_kappa]
    names = ("coefficient", "percent_agreement", "yes_percent")
    fields = {name: mean([row[name] for row in rows]) for name in names}
    if len(items):
        clusters, drawn = package.clusters(cube.units), {"rng": package.resampling()}
        fields["interval"] = interval(intervals.mean_fleiss_kappa_interval, items, clusters, **drawn)
    among_models = [row["among_models"] for row in rows if "among_models" in row]
    has_both = has_kappa & [row.get("among_models", {}).get("value") is not None for row in rows]
    if has_both.any():
        parts = (cube.readings[0][has_both], package.of_models(cube.units), package.clusters(cube.units))
        above = interval(agreement_claims.interval_above_part, *parts, rng=package.resampling())
        fields["above_models"] = above
    fields["coverage"] = [row["coverage"] for row in rows if row["coefficient"]["value"] is not None]
    return fields | {"floor": floor} | ({"among_models": mean(among_models)} if among_models else {})


# ── each rater ─────────────────────────────────────────────────────────────────────────────────────────────────────


def panel(package):
    """Each rater less the mean of the others on the same stories, and agreement without each rater."""
    without_by_item, rows = {}, []
    for item in package.items:
        if item.level == "none" or item.scope == "once":
            continue
        try:
            whole, without, raters = without_each(package, item)
        except Incomputable:
            continue
        without_by_item[item.key] = whole, without
        rows.append(item.fields | item_row(whole, without, raters))
    blocks = [panel_block(package, *block, without_by_item) for block in package.blocks()]
    return {"blocks": [block for block in blocks if block], "items": rows}


def without_each(package, item):
    """The item's agreement, the same without each rater, and who these are."""
    if item.is_preference:
        chosen = package.choices_of(item)
        groups, raters = (sorted({getattr(choice, name) for choice in chosen}) for name in ("group", "rater"))
        n_values, table = n_possible(item, chosen, groups), choice_table(chosen, groups)[0]
        whole = coefficients.brennan_prediger(table, n_values)
        return whole, leave_out.brennan_prediger_without_each(table, n_values), raters
    ratings = package.cube([item]).values[0]
    if item.level == "nominal":
        return coefficients.fleiss_kappa(ratings), leave_out.fleiss_without_each(ratings), package.raters
    whole = coefficients.krippendorff_alpha(ratings, item.level)
    return whole, leave_out.alpha_without_each(ratings, item.level), package.raters


def item_row(whole, without, raters):
    has_value = np.isfinite(without)
    fields = {"value": float(whole), "n_raters": whole.n_raters, "n_without_value": (~has_value).sum()}
    if not has_value.any():
        return fields | {"low": None, "high": None, "without": None}
    heaviest = np.nanargmax(np.abs(without - float(whole)))
    ends = {"low": np.nanmin(without), "high": np.nanmax(without)}
    return fields | ends | {"rater": raters[heaviest], "without": without[heaviest]}


def panel_block(package, kind, title, items, without_by_item):
    cube = package.cube(items)
    try:
        differences = leave_out.differences(cube.values)
    except Incomputable:
        return None
    scale = 100.0 if kind == "verdicts" else 1.0
    most, clusters = scale * widest(items), np.unique(package.clusters(cube.units), return_inverse=True)[1]
    pairs = [without_by_item[item.key] for item in items if item.key in without_by_item]
    whole = np.mean([float(value) for value, _without in pairs]) if pairs else None
    without = np.mean([w for _value, w in pairs], axis=0) if pairs else np.full(len(cube.raters), np.nan)
    rows = []
    for rater in np.unique(differences.raters):
        is_own = differences.raters == rater
        values, of_rater = scale * differences.values[is_own], clusters[differences.units[is_own]]

        def ends(values=values, of_rater=of_rater):
            return intervals.mean_interval(values, of_rater, rng=package.resampling()).clipped(-most, most)

        alone = or_none(without[rater])
        change = None if alone is None or whole is None else alone - whole
        fields = {"value": values.mean(), "n_stories": is_own.sum(), "without": alone, "change": change}
        rows.append({"rater": cube.raters[rater], "interval": interval(ends)} | fields)
    covered = [coverage(part) for item, part in zip(items, cube.values, strict=True) if item.key in without_by_item]
    fields = {"n_items": len(pairs), "agreement": whole, "coverage": covered, "raters": rows}
    return {"kind": kind, "title": title} | fields


# ── reliability ────────────────────────────────────────────────────────────────────────────────────────────────────


def reliability(package):
    """Gwet's AC1 (AC2 with ordinal weights) of items, and intraclass correlations of numbers."""
    drawn = resamples.Resamples(package.clusters(package.units), rng=package.resampling(), n_resamples=N_RESAMPLES)
    rows = []
    scores = [table for table in package.outcomes if table.kind == "score"]
    counted = {item.key for table in scores for item in table.items}
    numbers = [intraclass(package, "score", table.title, table.ratings, len(table.items), drawn) for table in scores]
    for kind, title, items in package.blocks():
        cube = package.cube(items)
        if kind != "numbers":
            low, high = items[0].bounds
            values = tuple(float(point) for point in range(int(low), int(high) + 1))
            rows += gwet_rows(
                package, items, cube.values, values, drawn, "identity" if kind == "verdicts" else "ordinal"
            )
        if kind == "verdicts":
            totals = [("total", "", rates.totals(cube.values), len(items))] if len(items) > 1 else []
        else:
            totals = [("rating", item.title, part, 1) for item, part in zip(items, cube.values, strict=True)]
            if len(items) > 1 and not counted & {item.key for item in items}:
                totals.append(("mean", title, rates.totals(cube.values) / len(items), len(items)))
        numbers += [intraclass(package, *about, drawn) for about in totals]
    for item in package.choices:
        if len(item.options) > 1:
            values = tuple(float(n) for n in range(len(item.options)))
            rows += gwet_rows(package, [item], package.cube([item]).values, values, drawn, "identity")
    return {"items": rows, "numbers": numbers}


def gwet_rows(package, items, ratings, values, drawn, weights):
    estimates = [estimate(reliabilities.gwet_ac, part, values, weights) for part in ratings]
    has_value, floors = np.array([row["value"] is not None for row in estimates]), iter(())
    if has_value.any():
        options = {"weights": weights, "rng": package.shuffling(), "n_shuffles": N_SHUFFLES}
        floors = iter(reliabilities.gwet_floors(ratings[has_value], values, **options))
    rows = []
    for item, own, part in zip(items, estimates, ratings, strict=True):
        row = item.fields | {"coefficient": own, "percent_agreement": estimate(coefficients.percent_agreement, part)}
        if own["value"] is not None:
            row["interval"] = interval(reliabilities.gwet_interval, part, values, drawn, weights=weights)
            row["floor"] = floor_of(next(floors))
        rows.append(row)
    return rows


def intraclass(package, kind, title, ratings, n_items, drawn):
    row = {"kind": kind, "title": title, "n_items": n_items}
    try:
        value = reliabilities.intraclass(ratings)
    except Incomputable as error:
        return row | {"why": why(error)}
    try:
        ends = [ends_of(part) for part in reliabilities.intraclass_intervals(ratings, drawn)]
    except Incomputable as error:
        ends = [ends_of(error)] * 2
    options = {"rng": package.shuffling(), "n_shuffles": N_SHUFFLES}
    try:
        floors = [floor_of(floor) for floor in reliabilities.intraclass_floors(ratings, **options)]
    except Incomputable:
        floors = [{"mean": None, "upper": None}] * 2
    forms = [estimate(lambda form=form: form) for form in (value.single, value.average)]
    parts = zip(forms, ends, floors, strict=True)
    return row | {"k": value.k, "forms": [{"coefficient": c, "interval": e, "floor": f} for c, e, f in parts]}


# ── items beside each other ────────────────────────────────────────────────────────────────────────────────────────


def item_analysis(package):
    scores = [table for table in package.outcomes if table.kind == "score"]
    blocks = [("score", table.title, table.items, table.counted) for table in scores]
    several = [block for block in package.blocks() if len(block[2]) > 1]
    blocks += [(kind, title, items, package.cube(items).values) for kind, title, items in several]
    counted = {item.key for table in scores for item in table.items}
    return [
        {name: part for name, part in of_block(package, *block).items() if name != "alpha" or is_summed(block, counted)}
        for block in blocks
    ]


def is_summed(block, counted):
    """Whether its items together make a number: a score, or items of which none is in a declared score."""
    kind, _title, items, _values = block
    return kind == "score" or counted.isdisjoint(item.key for item in items)


def of_block(package, kind, title, items, values):
    cube, row = package.cube(items), {"kind": kind, "title": title}
    try:
        readings = overlap.read_rows(values, package.clusters(cube.units))
    except Incomputable:
        return row | {"n": 0, "n_left_out": 0, "n_raters": 0}
    covariance = overlap.covariance_of(readings)
    matrix, rest = overlap.correlations(covariance), overlap.item_rest(covariance)
    means = overlap.mean_correlations(covariance)
    ends = overlap.item_intervals(readings, rng=package.resampling(), n_resamples=N_RESAMPLES)
    rest_floors, mean_floors = overlap.item_floors(readings)
    pair_floors = overlap.pair_floors(readings)
    counts = {"n": len(readings.answers), "n_left_out": readings.n_left_out, "n_raters": len(set(readings.raters))}
    of_items = [
        item.fields
        | {
            "with_rest": correlation(rest[n], ends.rest[n], rest_floors[n]),
            "with_others": correlation(means[n], ends.means[n], mean_floors[n]),
        }
        for n, item in enumerate(items)
    ]
    pairs = [
        {
            "first": items[i].item,
            "second": items[j].item,
            "correlation": correlation(matrix[i, j], ends.pairs[i, j], pair_floors[i, j]),
        }
        for i, j in sorted(pair_floors)
    ]
    alpha = correlation(overlap.cronbach_alpha(covariance), ends.alpha, overlap.alpha_floor(readings))
    omega = {"omega": mcdonald_omega(package, readings, covariance)} if row["kind"] == "score" else {}
    return row | counts | omega | {"alpha": alpha, "items": of_items, "pairs": pairs}


def mcdonald_omega(package, readings, covariance):
    """Of the items of a declared score."""
    try:
        factor = one_factor.fit_one_factor(covariance)
    except Incomputable as error:
        return {"coefficient": {"value": None, "why": why(error)}}
    ends = Incomputable("no_interval_of_omega")
    return correlation(factor.omega, ends, one_factor.omega_floor(readings, rng=package.shuffling()))


def correlation(value, ends, floor):
    if np.isnan(value):
        return {"coefficient": {"value": None}}
    return {"coefficient": {"value": value}, "interval": ends_of(ends), "floor": floor_of(floor)}
