"""How far people agree: Fleiss' kappa and Krippendorff's alpha, from how many raters gave each unit each value."""

import json

import numpy as np
import pandas as pd

from tests.independent import agreement_claims, floors
from tests.independent.composites import find_score, rater_scores
from tests.independent.material import counts, percent_agreement, place_of


def paired(table):
    """The units with two ratings or more."""
    return table[table.sum(axis=1) >= 2]


def kappa(table):
    """Fleiss' kappa, of unequally many ratings: agreement over the units with two or more, chance from the mean shares
    of all that are rated; None where fewer than two values were given.

    table : how many raters gave each unit each value, shape (U, V), as `counts` has it
    """
    rated = table[table.sum(axis=1) >= 1]
    if paired(table).empty or (rated.sum() > 0).sum() < 2:
        return None
    chance = (rated.div(rated.sum(axis=1), axis=0).mean() ** 2).sum()
    return (percent_agreement(table) / 100 - chance) / (1 - chance)


def alpha(table, level):
    """Krippendorff's alpha over the units with two ratings or more; None where fewer than two values were given.

    table : as for `kappa`, its columns numbers in order; level : "nominal", "ordinal" or "interval"
    """
    used = table[table.sum(axis=1) >= 2]
    used = used.loc[:, used.sum() > 0]
    if used.shape[1] < 2:
        return None
    weighted = used.div(used.sum(axis=1) - 1, axis=0)
    coincidence = weighted.T @ used
    for value in used.columns:
        coincidence.loc[value, value] -= weighted[value].sum()
    n_by_value = coincidence.sum(axis=1)
    places = n_by_value.cumsum() - n_by_value / 2 if level == "ordinal" else pd.Series(used.columns, used.columns)
    observed = expected = 0.0
    for value in used.columns:
        distance = (places.index != value) * 1.0 if level == "nominal" else (places - places[value]) ** 2
        observed += (coincidence[value] * distance).sum()
        expected += n_by_value[value] * (n_by_value * distance).sum()
    return 1 - (n_by_value.sum() - 1) * observed / expected


def coefficient(table, level):
    """The one that the level of measurement asks for."""
    return kappa(table) if level == "nominal" else alpha(table, level)


def numbered_answers(package, item):
    """People's answers; of a choice the option's place among the options as its number, of a story its code."""
    answers = package.answers(item["step"], item["item"])
    if item["is_preference"]:
        return answers.assign(number=answers["value"])
    if item["level"] == "nominal" and not item["is_verdict"]:
        codes = {str(option["value"]): float(n) for n, option in enumerate(item["options"])}
        return answers.assign(number=answers["value"].map(codes))
    return answers


AS_ITEM = {"is_preference": False, "is_verdict": False, "is_about_a_story": True}  # what a score is like


def agreement(package, result, check):
    """Item by item the coefficient, percent agreement and their parts, and the mean over the verdicts."""
    tables = []
    for row in result["items"]:
        place, score = place_of("agreement", row), find_score(package, f"{row['step']}/{row['item']}")
        item = AS_ITEM if score else package.item(row)
        if item["is_preference"]:
            preference(package, item, row, check)
            continue
        answers = rater_scores(package, score) if score else numbered_answers(package, item)
        units = package.units if item["is_about_a_story"] else package.group_units
        table, level = counts(answers, units), row["level"]
        check_coefficient(place, row["coefficient"], answers, table, level, check)
        check.number(f"{place}/percent", row["percent_agreement"]["value"], percent_agreement(table))
        check_coverage(place, row["coverage"], table, check)
        if item["is_verdict"]:
            tables.append((row, table))
            check.number(f"{place}/yes", row["yes_percent"]["value"], 100 * answers["number"].mean())
        if row["alpha"]:
            check_coefficient(f"{place}/alpha", row["alpha"], answers, table, level, check, is_alpha=True)
        for part in row.get("within_source") or ():
            of_source = [package.source_by_story.get(story) == part["source"] for _, story in table.index]
            check_coefficient(f"{place}/{part['source']}", part, answers, table[of_source], level, check)
        if row.get("among_models"):
            of_models = [package.kind_of(story) == "language_model" for _, story in table.index]
            check_coefficient(f"{place}/models", row["among_models"], answers, table[of_models], level, check)
        clusters = package.clusters_of(table.index)
        function = "of_kappa" if level == "nominal" else "of_coefficient"
        check.interval(place, row["interval"], function, [table], level, clusters, package.draws)
        if level == "ordinal" and row["interval"]["low"] is not None and row["floor"]["upper"] is not None:
            bound = max(row["floor"]["upper"], 0)
            p = agreement_claims.p_above(table, level, clusters, package.draws, bound)
            check.number(f"{place}/p", row["p_above_chance"], p)
        if not item["is_verdict"] and row["floor"]["mean"] is not None:
            cube = floors.cube_of(package, [item], lambda _item, answers=answers: answers, units)
            compute = floors.kappas_of_counts if level == "nominal" else floors.alphas_of_counts(level)
            check.floor(place, row["floor"], floors.of_items(cube, package.shuffles, compute)[0])
    scales = [row for row in result["items"] if row["coefficient"].get("name") == "Krippendorff's alpha, ordinal"]
    for row, p in zip(scales, agreement_claims.holm([row["p_above_chance"] for row in scales]), strict=True):
        check.number(f"{place_of('agreement', row)}/holm", row["p_holm"], p)
    floors_of_verdicts(package, result, tables, check)
    if result["mean"]:
        mean_agreement(package, result["mean"], tables, check)


def floors_of_verdicts(package, result, tables, check):
    """Verdicts on a story are shuffled together, so that their mean does not look steadier than it is."""
    rows = [row for row, _table in tables if row["coefficient"]["value"] is not None]
    if not rows:
        return
    items = [package.item(row) for row in rows]
    cube = floors.cube_of(package, items, lambda item: numbered_answers(package, item), package.units)
    kappas = floors.of_items(cube, package.shuffles, floors.kappas_of_counts)
    for row, values in zip(rows, kappas, strict=True):
        check.floor(place_of("agreement", row), row["floor"], values)
    if result["mean"]:
        check.floor("agreement/mean", result["mean"]["floor"], kappas.mean(axis=0))


def check_coverage(place, stored, table, check):
    """On how many units of how many it rests, and how many raters each has, least and most."""
    n = table.sum(axis=1)
    n = n[n >= 2]
    ends = (n.min(), n.max()) if len(n) else (0, 0)
    check.numbers(place, stored, n_units=len(n), n_all=len(table), least=ends[0], most=ends[1])


def check_coefficient(place, stored, answers, table, level, check, is_alpha=False):
    """The value, and how many units and raters it rests on."""
    is_kappa = level == "nominal" and not is_alpha
    check.number(place, stored["value"], kappa(table) if is_kappa else alpha(table, level))
    if stored["value"] is not None:
        used = paired(table)
        is_in = pd.MultiIndex.from_frame(answers[["group", "story"]]).isin(used.index)
        check.numbers(place, stored, n_units=len(used), n_raters=answers[is_in]["rater"].nunique())


def preference(package, item, row, check):
    """Which story was chosen: Brennan and Prediger's kappa, with chance one of as many as could be chosen."""
    answers, place = numbered_answers(package, item), place_of("agreement", row)
    n_stories = pd.Series([group for group, _story in package.units]).value_counts()
    table = counts(answers, [unit for unit in package.group_units if unit[0] in set(answers["group"])])
    n_values = n_stories.reindex([group for group, _ in table.index]) + ("no_difference" in item["settings"])
    check_coverage(place, row["coverage"], table, check)
    used = table.sum(axis=1) >= 2
    value = brennan_prediger(table, n_values)
    check.number(f"{place}/percent", row["percent_agreement"]["value"], percent_agreement(table))
    check.number(place, row["coefficient"]["value"], value)
    if value is not None:
        n_raters = answers[answers["group"].isin(group for group, _ in table[used].index)]["rater"].nunique()
        check.numbers(place, row["coefficient"], n_units=used.sum(), n_raters=n_raters)
        clusters = package.clusters_of(table.index)
        chances = 1 / n_values.to_numpy(dtype=float)
        arguments = (table.to_numpy(dtype=float), chances, clusters, package.draws)
        check.interval(place, row["interval"], "of_preference", *arguments)
        values = floors.of_preferences(*pages_of(package, item, list(table.index)), chances, package.shuffles)
        check.floor(place, row["floor"], values)


def pages_of(package, item, groups):
    """Where the story stood that a rater chose, which stories stood where, and whether that is known; see floors.py."""
    pairs = package.people_of("pairs")
    rows = pairs[(pairs["step"] == item["step"]) & (pairs["item"] == item["item"])]
    orders = rows["stories"].map(json.loads)
    raters, at_group = sorted(rows["rater"].unique()), {group: n for n, (group, _) in enumerate(groups)}
    positions = pd.DataFrame(index=raters, columns=range(len(groups)), dtype=float).to_numpy(copy=True)
    places = positions[..., None].repeat(orders.map(len).max(), axis=2)
    is_known = positions == 0
    order_is_known = rows["order_is_known"] == "True"
    columns = (rows["rater"], rows["group"], rows["chosen"], orders, order_is_known)
    for rater, group, chosen, order, known in zip(*columns, strict=True):
        at = raters.index(rater), at_group[group]
        is_known[at] = known
        positions[at] = (order.index(chosen) if known else -2) if chosen in order else -1
        places[at][: len(order)] = [sorted(order).index(story) for story in order]
    return positions, places, is_known


def brennan_prediger(table, n_values):
    """(observed - chance) / (1 - chance)"""
    used = table.sum(axis=1) >= 2
    if not used.any():
        return None
    chance = (1 / n_values[used.to_numpy()]).mean()
    return (percent_agreement(table) / 100 - chance) / (1 - chance)


def check_how_many(place, stored, values, check):
    """Of how many values a mean is, and how many items have none."""
    if stored.get("n") is not None:
        check.numbers(place, stored, n=values.notna().sum(), n_left_out=values.isna().sum())


def mean_agreement(package, stored, rows, check):
    """The means over the items. rows : of each verdict its row of the report and its table of counts"""
    with_kappa = [(row, table) for row, table in rows if row["coefficient"]["value"] is not None]
    kappas = pd.Series([kappa(table) for _, table in with_kappa], dtype=float)
    check.number("agreement/mean", stored["coefficient"]["value"], kappas.mean())
    of_all = pd.Series([row["coefficient"]["value"] for row, _table in rows], dtype=float)
    check_how_many("agreement/mean", stored["coefficient"], of_all, check)
    for name, values in {
        "percent_agreement": [percent_agreement(table) for _, table in rows],
        "yes_percent": [row["yes_percent"]["value"] for row, _ in rows],
        "among_models": [row["among_models"]["value"] for row, _ in rows if row.get("among_models")],
    }.items():
        if stored.get(name):
            numbers = pd.Series(values, dtype=float)
            check.number(f"agreement/mean/{name}", stored[name]["value"], numbers.mean())
            check_how_many(f"agreement/mean/{name}", stored[name], numbers, check)
    clusters = package.unit_clusters
    for part, (_row, table) in zip(stored["coverage"], with_kappa, strict=True):
        check_coverage("agreement/mean/coverage", part, table, check)
    if stored.get("above_models"):
        of_both = [table for row, table in with_kappa if row["among_models"]["value"] is not None]
        is_part = np.array([package.kind_of(story) == "language_model" for _, story in package.units])
        found = agreement_claims.above_part(of_both, is_part, clusters, package.draws) if of_both else (None, 0)
        check.ends("agreement/mean/above_models", stored["above_models"], *found)
    tables = [table for _, table in with_kappa]
    if tables:
        check.interval(
            "agreement/mean", stored["interval"], "of_coefficient", tables, "nominal", clusters, package.draws
        )
