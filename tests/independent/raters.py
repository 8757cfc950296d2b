"""What each rater does to the results, and how reliable answers are: severity, leaving one out, Gwet's AC, ICC."""

import pandas as pd

from tests.independent import floors
from tests.independent.agreement import (
    brennan_prediger,
    check_coverage,
    coefficient,
    numbered_answers,
    paired,
)
from tests.independent.composites import rater_scores
from tests.independent.judges import items_of
from tests.independent.material import around_zero, counts, percent_agreement, place_of, widest


def blocks(package):
    """Items on one scale: all verdicts; ratings with the same ends; numbers each for itself."""
    parts = [("verdicts", package.verdicts)] if package.verdicts else []
    by_ends = {}
    for item in package.scales:
        if item["level"] == "ordinal":
            by_ends.setdefault((item["settings"]["low"], item["settings"]["high"]), []).append(item)
    parts += [("scales", items) for items in by_ends.values()]
    return parts + [("numbers", [item]) for item in package.scales if item["level"] == "interval"]


def panel(package, result, check):
    """Each rater less the mean of the others on the same stories, and agreement without each rater."""
    without_by_item = {}
    for row in result["items"]:
        item, place = package.item(row), place_of("panel", row)
        compute, answers = coefficient_of(package, item)
        raters = sorted(answers["rater"].unique()) if item["is_preference"] else package.raters
        whole, without = compute(answers), {r: compute(answers[answers["rater"] != r]) for r in raters}
        without_by_item[row["step"], row["item"]] = whole, without
        values = pd.Series(without, dtype=float)
        check.numbers(place, row, value=whole, low=values.min(), high=values.max())
        check.number(f"{place}/without", row["without"], values.get(row["rater"]))
        n_raters = used_answers(package, item, answers)["rater"].nunique()
        check.numbers(place, row, n_without_value=values.isna().sum(), n_raters=n_raters)
    by_title = iter([block for block in blocks(package) if shared(package, block[1]) is not None])
    for stored in result["blocks"]:
        kind, items = next(by_title)
        place = f"panel/{kind} {stored['title']}"
        in_block = [without_by_item.get((item["step"], item["item"])) for item in items]
        in_block = [entry for entry in in_block if entry]
        mean = pd.Series([whole for whole, _without in in_block], dtype=float).mean()
        check.numbers(place, stored, n_items=len(in_block), agreement=mean)
        with_value = [item for item in items if (item["step"], item["item"]) in without_by_item]
        for item, part in zip(with_value, stored["coverage"], strict=True):
            check_coverage(place, part, counts(numbered_answers(package, item), package.units), check)
        differences, most = shared(package, items), widest(items)
        differences["number"] *= 100 if kind == "verdicts" else 1
        for row in stored["raters"]:
            own, label = differences[differences["rater"] == row["rater"]], f"{place}/{row['rater']}"
            values = pd.Series([without.get(row["rater"]) for _whole, without in in_block], dtype=float)
            alone = values.mean() if len(values) and values.notna().all() else None
            change = None if alone is None else alone - mean
            check.numbers(label, row, value=own["number"].mean(), n_stories=len(own), without=alone, change=change)
            bounds = around_zero(100 if kind == "verdicts" else most)
            check.interval(label, row["interval"], "of_mean", own, package.draws, within=bounds)


def shared(package, items):
    """Of each rater and story the mean, over items, of the own answer less the mean of the others'; None of none."""
    answers = package.answers_to_all(items)
    key = ["group", "story", "key"]
    of_unit = answers.groupby(key)["number"].agg(["sum", "count"]).reset_index()
    both = answers.merge(of_unit[of_unit["count"] >= 2], on=key)
    if both.empty:
        return None
    both["number"] -= (both["sum"] - both["number"]) / (both["count"] - 1)
    return both.groupby(["rater", "group", "story", "cluster"])["number"].mean().reset_index()


def coefficient_of(package, item):
    """How the agreement on that item is computed of answers, and the answers."""
    answers = numbered_answers(package, item)
    if item["is_preference"]:
        n_stories = pd.Series([group for group, _story in package.units]).value_counts()
        n_values = n_stories.reindex([group for group, _ in package.group_units])
        n_values += "no_difference" in item["settings"]
        return lambda rows: brennan_prediger(counts(rows, package.group_units), n_values), answers
    units = package.units if item["is_about_a_story"] else package.group_units
    return lambda rows: coefficient(counts(rows, units), item["level"]), answers


def used_answers(package, item, answers):
    """The answers about units that enter the coefficient."""
    units = package.units if item["is_about_a_story"] else package.group_units
    table = counts(answers, units)
    return answers[pd.MultiIndex.from_frame(answers[["group", "story"]]).isin(paired(table).index)]


def reliability(package, result, check):
    """Gwet's AC1 (AC2 with ordinal weights) of items, and intraclass correlations of numbers."""
    values_by_item = {}
    for kind, items in blocks(package):
        for item in items:
            ends = (0, 1) if kind == "verdicts" else (item["settings"].get("low"), item["settings"].get("high"))
            values_by_item[item["step"], item["item"]] = kind, ends
    for row in result["items"]:
        item, place = package.item(row), place_of("reliability", row)
        kind, ends = values_by_item.get((row["step"], row["item"]), ("choice", (0, len(item["options"]) - 1)))
        answers = numbered_answers(package, item)
        table = counts(answers, package.units).reindex(columns=[float(n) for n in range(ends[0], ends[1] + 1)])
        table, stored = table.fillna(0), row["coefficient"]
        check.number(f"{place}/percent", row["percent_agreement"]["value"], percent_agreement(table))
        n_units = (table.sum(axis=1) >= 2).sum()
        check.numbers(place, stored, value=gwet(table, kind == "scales"), n_units=n_units or None)
        if stored["value"] is not None:
            check.number(f"{place}/n_raters", stored["n_raters"], answers["rater"].nunique())
            arguments = (table.to_numpy(dtype=float), kind == "scales", package.unit_clusters)
            check.interval(place, row["interval"], "of_gwet", *arguments, package.draws)
    floors_of_gwet(package, result["items"], check)
    rows = iter(result["numbers"])
    declared = [score for score in package.scores if score["is_declared"]]
    for score in declared:
        readings = rater_scores(package, score).set_index(["rater", "group", "story"])["number"]
        check_intraclass(package, readings, len(score["items"]), next(rows), check)
    counted = {(score["step"], key) for score in declared for key in score["items"]}
    for kind, items in blocks(package):
        if kind == "verdicts" and len(items) == 1:
            continue
        alone = [] if kind == "verdicts" else [[item] for item in items]
        is_scored = kind != "verdicts" and any((item["step"], item["item"]) in counted for item in items)
        for part in alone + ([items] if len(items) > 1 and not is_scored else []):
            intraclass(package, kind, part, next(rows), check)


def floors_of_gwet(package, rows, check):
    """Items on one scale are shuffled together."""
    families = [(kind, items) for kind, items in blocks(package) if kind != "numbers"]
    choices = [item for item in items_of(package, "choices") if len(item["options"]) > 1]
    families += [("choice", [item]) for item in choices]
    stored_by_item = {(row["step"], row["item"]): row for row in rows if row["coefficient"]["value"] is not None}
    for kind, items in families:
        items = [item for item in items if (item["step"], item["item"]) in stored_by_item]
        if not items:
            continue
        ends = (items[0]["settings"]["low"], items[0]["settings"]["high"]) if kind == "scales" else (0, 1)
        ends = (0, len(items[0]["options"]) - 1) if kind == "choice" else ends
        values = [float(value) for value in range(ends[0], ends[1] + 1)]
        cube = floors.cube_of(package, items, lambda item: numbered_answers(package, item), package.units)
        compute = floors.gwets_of_counts(kind == "scales")
        shuffled = floors.of_items(cube, package.shuffles, compute, values, floors.N_SHUFFLES_OF_RELIABILITY)
        for item, of_item in zip(items, shuffled, strict=True):
            row = stored_by_item[item["step"], item["item"]]
            check.floor(place_of("reliability", row), row["floor"], of_item)


def gwet(table, is_ordinal):
    """Chance is T / (q (q - 1)) Σ p (1 - p): p the mean share of each of q values, T the sum of the weights."""
    rated, n = table[table.sum(axis=1) >= 1], table.sum(axis=1)
    pairs, q = table[n >= 2], table.shape[1]
    if pairs.empty:
        return None
    weights = [[ordinal_weight(k, m, q) if is_ordinal else float(k == m) for k in range(q)] for m in range(q)]
    weights = pd.DataFrame(weights, index=table.columns, columns=table.columns)
    n = pairs.sum(axis=1)
    observed = (((pairs * (pairs @ weights)).sum(axis=1) - n) / (n * (n - 1))).mean()
    shares = rated.div(rated.sum(axis=1), axis=0).mean()
    chance = weights.to_numpy().sum() / (q * (q - 1)) * (shares * (1 - shares)).sum()
    return (observed - chance) / (1 - chance)


def ordinal_weight(k, m, q):
    """1 - C(|k - m| + 1, 2) / C(q, 2)"""
    distance = abs(k - m)
    return 1 - distance * (distance + 1) / (q * (q - 1))


def intraclass(package, kind, items, stored, check):
    """Of the sum of verdicts, or the mean of ratings, of each rater and story; complete readings only."""
    answers = package.answers_to_all(items)
    readings = answers.groupby(["rater", "group", "story"])["number"].agg(["sum", "count"])
    readings = readings[readings["count"] == len(items)]["sum"]
    check_intraclass(package, readings if kind == "verdicts" else readings / len(items), len(items), stored, check)


def check_intraclass(package, readings, n_items, stored, check):
    """The correlations of one number of each rater and story. readings : by rater, group and story"""
    wide = readings.unstack("rater")
    place = f"reliability/{stored['kind']} {stored['title']}"
    check.number(f"{place}/n_items", stored["n_items"], n_items)
    if not stored.get("forms"):
        return
    is_crossed, used = material(wide)
    single, average, k = two_way(used) if is_crossed else one_way(used)
    check.number(f"{place}/k", stored["k"], k)
    n_raters = used.notna().any().sum()
    for name, value, form in zip(("single", "average"), (single, average), stored["forms"], strict=True):
        label = f"{place}/{name}"
        check.numbers(label, form["coefficient"], value=value, n_units=len(used), n_raters=n_raters)
        clusters = package.unit_clusters
        positions = [package.units.index(unit) for unit in used.index]
        arguments = (used.to_numpy(), is_crossed, name, positions, clusters)
        check.interval(label, form["interval"], "of_intraclass", *arguments, package.draws)
        values = floors.of_intraclass(used.dropna(axis=1, how="all").to_numpy(), is_crossed, name, package.shuffles)
        check.floor(label, form["floor"], values)


def material(wide):
    """Whether the same raters rated nine in ten of the stories with two ratings, and the ratings that enter."""
    wide = wide.dropna(axis=1, how="all")
    n = wide.notna().sum(axis=1)
    is_complete = (n >= 2) & (n == wide.shape[1])
    is_crossed = is_complete.sum() >= max(2, 0.9 * (n >= 2).sum())
    return is_crossed, wide[is_complete if is_crossed else n >= 2]


def two_way(used):
    """ICC(A,1) and ICC(A,k) of McGraw & Wong (1996), from the mean squares of rows, columns and the rest."""
    n, k = used.shape
    mean = used.to_numpy().mean()
    rows = k * ((used.mean(axis=1) - mean) ** 2).sum() / (n - 1)
    columns = n * ((used.mean() - mean) ** 2).sum() / (k - 1)
    whole = ((used - mean) ** 2).to_numpy().sum()
    rest = (whole - rows * (n - 1) - columns * (k - 1)) / ((n - 1) * (k - 1))
    single = (rows - rest) / (rows + (k - 1) * rest + k / n * (columns - rest))
    return single, (rows - rest) / (rows + (columns - rest) / n), k


def one_way(used):
    """ICC(1,1) and ICC(1,k), with k of unequally many ratings from the analysis of variance."""
    n, total = used.notna().sum(axis=1), used.notna().sum().sum()
    mean = used.sum().sum() / total
    between = (n * (used.mean(axis=1) - mean) ** 2).sum() / (len(used) - 1)
    within = used.sub(used.mean(axis=1), axis=0).pow(2).sum().sum() / (total - len(used))
    k = (total - (n**2).sum() / total) / (len(used) - 1)
    average = (between - within) / between if between > 0 else None
    return (between - within) / (between + (k - 1) * within), average, k
