"""How far sources, or levels of a property, are apart on story means; p values and intervals with numpy and scipy."""

import math
from itertools import combinations

import pandas as pd

from tests.independent import intervals
from tests.independent.composites import bounds_of_score, find_score, rater_scores
from tests.independent.material import around_zero
from tests.independent.model_contrasts import check_families, check_model, check_together

ENOUGH_BOTH = 6  # clusters that hold two sources, however many hold one of them: then they are compared within clusters


def comparisons(package, result, check):
    """Of each outcome the means of sources, and every two of them compared; p adjusted over the whole family."""
    plan, whole = package.plan, package
    for outcome in result["outcomes"]:
        package = whole.as_planned(outcome["key"])
        table, place = story_means(package, outcome["key"], outcome["kind"]), f"comparisons/{outcome['key']}"
        margin = plan.get("margin") if plan.get("outcome") == outcome["key"] else None
        check.number(f"{place}/margin", outcome.get("margin"), margin)
        for row in outcome["sources"]:
            of_source = table[table["source"] == row["source"]]
            n_stories = of_source["story"].nunique()
            check.numbers(f"{place}/{row['source']}", row, value=of_source["number"].mean(), n_stories=n_stories)
        names = [row["source"] for row in outcome["sources"]]
        within = within_width(package, outcome, outcome["kind"])
        if outcome.get("parts"):
            answers = rater_numbers(package, outcome["key"], outcome["kind"])
            answers = answers.assign(source=answers["story"].map(package.source_by_story))
            check_model(place, outcome, answers.assign(block=package.blocks(answers)), within, check)
        else:
            parts = {name: table[table["source"] == name] for name in names}
            contrasts(package, place, parts, outcome["contrasts"], within, check)
    check_families(result["outcomes"], holm, benjamini_hochberg, least_p, check)


def least_p(row):
    """The least p that the test can reach with so many clusters: of ranks where all point one way, of t none."""
    if row["test"] == "Wilcoxon signed-rank test":
        return 2.0 ** (1 - row["n"])
    if row["test"] == "Mann-Whitney test":
        return min(1.0, 2 / math.comb(row["n"] + row["n_second"], row["n"]))
    return 0.0


def factors(package, result, check):
    """By a property of the stories, over all sources and within each that has several of its levels."""
    for row in result:
        kind = kind_of(package, row["key"])
        table = story_means(package, row["key"], kind)
        table["level"] = table["story"].map(package.factor(row["factor"]))
        place = f"factors/{row['factor']}/{row['key']}"
        levels = [mean["level"] for mean in row["means"] if mean["source"] == ""]
        for mean in row["means"]:
            part = table[table["level"] == mean["level"]]
            part = part if mean["source"] == "" else part[part["source"] == mean["source"]]
            label = f"{place}/{mean['source']}/{mean['level']}"
            check.numbers(label, mean, value=part["number"].mean(), n_stories=part["story"].nunique())
            bounds = bounds_of(package, row, kind)
            check.interval(label, mean["interval"], "of_outcome", part, package.draws, bounds, row["is_percent"])
        within = within_width(package, row, kind)
        if row.get("parts"):
            answers = rater_numbers(package, row["key"], kind)
            answers = answers.assign(source=answers["story"].map(package.factor(row["factor"])))
            check_model(place, row, answers.assign(block=package.blocks(answers)), within, check)
        else:
            parts = {level: table[table["level"] == level] for level in levels}
            contrasts(package, place, parts, row["contrasts"], within, check)
        check_together([(row, contrast) for contrast in row["contrasts"]], holm, least_p, check)


def kind_of(package, key):
    """What kind of outcome it is, of which the key does not say so itself."""
    if find_score(package, key):
        return "score"
    item = next((item for item in package.items if f"{item['step']}/{item['item']}" == key), None)
    if item is None:
        return "verdicts" if key == "verdicts" else "dimension"
    if item["is_verdict"]:
        return "verdict"
    return "preference" if item["is_preference"] else "rank" if item["is_ranking"] else "rating"


def bounds_of(package, row, kind):
    """Between which the outcome of a row can lie: percentages, places from 1 to the last, the ends of a scale."""
    if row["is_percent"]:
        return 0, 100
    if score := find_score(package, row["key"]):
        return bounds_of_score(package, score)
    step, item = row["key"].split("/", 1)
    if kind == "rank":
        ranks = package.people_of("rankings")
        ranks = ranks[(ranks["step"] == step) & (ranks["item"] == item)]
        return 1, ranks.groupby(["rater", "group"]).size().max()
    settings = package.item({"step": step, "item": item})["settings"]
    return settings.get("low"), settings.get("high")


def within_width(package, row, kind):
    """The bounds of a difference of two means of that outcome: as far apart as the outcome can be."""
    low, high = bounds_of(package, row, kind)
    return around_zero(None if low is None or high is None else high - low)


def story_means(package, key, kind):
    """Of every story in its group one number: columns group, story, number, source, cluster."""
    if kind == "preference":
        table = shares_of_choices(package, *key.split("/", 1))
    elif kind == "rank":
        ranks = package.people_of("rankings")
        step, item = key.split("/", 1)
        ranks = ranks[(ranks["step"] == step) & (ranks["item"] == item)]
        ranks = ranks.assign(number=pd.to_numeric(ranks["rank"]))
        table = ranks.groupby(["group", "story"])["number"].mean().reset_index()
    elif score := find_score(package, key):
        table = rater_scores(package, score).groupby(["group", "story"])["number"].mean().round(10).reset_index()
    else:
        items = [item for item in package.items if item["is_about_a_story"] and is_part_of(item, key, kind)]
        answers = pd.concat([package.answers(item["step"], item["item"]).assign(key=n) for n, item in enumerate(items)])
        of_items = answers.groupby(["group", "story", "key"])["number"].mean()
        table = of_items.groupby(["group", "story"]).mean().reset_index()
        table["number"] *= 1 if kind == "rating" else 100
    table["source"] = table["story"].map(package.source_by_story)
    table["cluster"] = package.clusters(table)
    return table


def rater_numbers(package, key, kind):
    """What story_means averages, of each rater alone: columns rater, group, story, number."""
    if kind == "preference":
        step, item = key.split("/", 1)
        pairs = package.people_of("pairs")
        pairs = pairs[(pairs["step"] == step) & (pairs["item"] == item)]
        units = pd.DataFrame(package.units, columns=["group", "story"])
        table = pairs[["rater", "group", "chosen"]].merge(units, on="group")
        return table.assign(number=100.0 * (table["chosen"] == table["story"]), cluster=package.clusters(table))
    if kind == "rank":
        step, item = key.split("/", 1)
        ranks = package.people_of("rankings")
        ranks = ranks[(ranks["step"] == step) & (ranks["item"] == item)]
        return ranks.assign(number=pd.to_numeric(ranks["rank"]), cluster=package.clusters(ranks))
    if score := find_score(package, key):
        table = rater_scores(package, score)
        return table.assign(cluster=package.clusters(table))
    items = [item for item in package.items if item["is_about_a_story"] and is_part_of(item, key, kind)]
    table = package.answers_to_all(items).groupby(["rater", "group", "story"])["number"].mean().reset_index()
    return table.assign(number=table["number"] * (1 if kind == "rating" else 100), cluster=package.clusters(table))


def is_part_of(item, key, kind):
    """Whether the outcome of that key and kind is computed from the item."""
    if kind == "verdicts":
        return item["is_verdict"]
    if kind == "dimension":
        return item["is_verdict"] and f"verdicts/{item['dimension']}" == key
    return f"{item['step']}/{item['item']}" == key


def shares_of_choices(package, step, item):
    """Of each unit how often its story was chosen in the group, in percent: columns group, story, number."""
    pairs = package.people_of("pairs")
    pairs = pairs[(pairs["step"] == step) & (pairs["item"] == item)]
    units = pd.DataFrame(package.units, columns=["group", "story"])
    units = units[units["group"].isin(set(pairs["group"]))].reset_index(drop=True)
    chosen = pairs.groupby(["group", "chosen"]).size()
    n = pairs.groupby("group").size()
    units["number"] = [100 * chosen.get((g, s), 0) / n[g] for g, s in zip(units["group"], units["story"], strict=True)]
    return units


def contrasts(package, place, parts, rows, within, check):
    """Check every two parts, by cluster means. within : bounds of intervals"""
    for row, (first, second) in zip(rows, combinations(parts, 2), strict=True):
        label = f"{place}/{first} less {second}"
        if (row["first"], row["second"]) != (first, second):
            raise ValueError(f"{label} is {row['first']} less {row['second']} in the report")
        means = [parts[name].groupby("cluster")["number"].mean() for name in (first, second)]
        both = pd.concat(means, axis=1, keys=["first", "second"])
        n_both = both.notna().all(axis=1).sum()
        is_paired = n_both >= ENOUGH_BOTH or (n_both >= 2 and n_both > len(both) / 2)
        changes = (both["first"] - both["second"]).dropna()
        value = changes.mean() if is_paired else means[0].mean() - means[1].mean()
        if row.get("value") is None:
            continue
        check.number(label, row["value"], value)
        compared = both.dropna() if is_paired else both
        values = {"first_value": compared["first"].mean(), "second_value": compared["second"].mean()}
        check.numbers(label, row, **values)
        check.number(f"{label}/n", row["n"], len(changes) if is_paired else len(means[0]))
        if not is_paired:
            check.number(f"{label}/n_second", row["n_second"], len(means[1]))
        if is_paired:
            check.interval(label, row["interval"], "of_changes", changes.to_numpy(), package.draws, within=within)
            p = intervals.p_of_changes(changes.to_numpy(), row["test"])
        else:
            arrays = [part.to_numpy() for part in means]
            check.interval(label, row["interval"], "welch", *arrays, 0.95, within=within)
            p = intervals.p_of_groups(*arrays, row["test"])
            check.number(f"{label}/effect", row["effect"], intervals.effect(*arrays, row["effect_name"]))
        check.number(f"{label}/p_same_raters", row["p_same_raters"], p)
        sides = [parts[name] for name in (first, second)]
        check.numbers(label, row, n_stories=sides[0]["story"].nunique(), n_stories_second=sides[1]["story"].nunique())
        blocks = [set(package.blocks(side)) for side in sides]
        n_alone = len(blocks[0] ^ blocks[1]) if blocks[0] & blocks[1] else 0
        check.number(f"{label}/n_blocks", row.get("n_blocks", 0), len(blocks[0] & blocks[1]))
        check.number(f"{label}/n_left_out", row.get("n_left_out", 0), n_alone)


def holm(ps):
    """p values adjusted after Holm 1979, in the order given. ps : a series, without nan"""
    order = ps.sort_values()
    stepped = (order * pd.Series(range(len(ps), 0, -1), index=order.index)).cummax().clip(upper=1)
    return stepped.reindex(ps.index)


def benjamini_hochberg(ps):
    """p values adjusted after Benjamini & Hochberg 1995, in the order given. ps : a series, without nan"""
    order = ps.sort_values(ascending=False)
    stepped = (order * len(ps) / pd.Series(range(len(ps), 0, -1), index=order.index)).cummin().clip(upper=1)
    return stepped.reindex(ps.index)
