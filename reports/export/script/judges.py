"""Judges beside people: verdicts and choices beside the majority, ratings beside the mean, by item and over all."""

import pandas as pd

from script.judge_scores import MEANS, contributions, items_with_value, score
from script.material import place_of

UNIT = ["group", "story"]
PARTS = ("all", "models", "unanimous", "split")
BOUNDS = {
    "balanced_accuracy": (0, 1),
    "percent_agreement": (0, 100),
    "modal_share": (0, 100),
    "mean_absolute_error": (0, None),
    "mean_difference": (None, None),
}


def judges(package, result, check):
    """On verdicts, beside the majority of people: over all items, item by item, and the mean of the items' kappa."""
    items = items_of(package, "verdicts")
    pooled = ("kappa", "balanced_accuracy", "percent_agreement")
    people = beside_majority(package, items)
    for at, row in enumerate(result["compared"]):
        table = compared(package, row["judge"], items, people)
        scores(package, "judges", row["scores"], table, items, pooled, (20, at), check)
        for n, stored in enumerate(row["items"]):
            against_majority(place_of("judges", stored, row["judge"]), stored, table[table["key"] == n], check)
        against_majority(f"judges/{row['judge']}/pooled", row["pooled"], table, check)
        of_items = [item["kappa"]["value"] for item in row["items"] if item["kappa"]["value"] is not None]
        mean = pd.Series(of_items, dtype=float).mean()
        check.number(f"judges/{row['judge']}/mean", row["mean_kappa"]["value"], mean)


def against_majority(place, stored, answers, check):
    """The scores of one table, and how often each side says Yes, in percent."""
    check.number(f"{place}/n", stored["n"], len(answers))
    if not len(answers):
        return
    check.number(f"{place}/kappa", stored["kappa"]["value"], score("kappa", answers, True))
    check.number(f"{place}/balanced", stored["balanced_accuracy"]["value"], score("balanced_accuracy", answers, True))
    yes = {"yes_percent": 100 * answers["judge"].mean(), "majority_yes_percent": 100 * answers["people"].mean()}
    check.numbers(place, stored, **yes)


def judges_on_scales(package, result, check):
    """On scales, beside the mean of people."""
    items = items_of(package, "scales")
    people = [people_on(package, item) for item in items]
    for table in people:
        table["people"] = table["mean"]
    for at, row in enumerate(result):
        table = compared(package, row["judge"], items, people)
        scores(package, "judges_on_scales", row, table, items, (), (21, at), check)


def judges_on_choices(package, result, check):
    """On choices, beside the option that more than half of the people chose."""
    items = items_of(package, "choices")
    people = beside_majority(package, items)
    for at, row in enumerate(result):
        table = compared(package, row["judge"], items, people)
        scores(package, "judges_on_choices", row, table, items, (), (22, at), check)


def items_of(package, kind):
    """The items about stories that are answered by verdicts, by choices or on scales."""
    about_stories = [item for item in package.items if item["is_about_a_story"]]
    if kind == "scales":
        return [item for item in about_stories if item["level"] in ("ordinal", "interval")]
    is_kind = kind == "verdicts"
    return [item for item in about_stories if item["level"] == "nominal" and item["is_verdict"] is is_kind]


def people_on(package, item):
    """Of each unit the mean of people, whether all said the same, how many they are."""
    answers = numbered(package.answers(item["step"], item["item"]), item)
    table = answers.groupby(UNIT)["number"].agg(["mean", "nunique", "count"]).reset_index()
    return table.assign(is_unanimous=(table["count"] > 1) & (table["nunique"] == 1))


def beside_majority(package, items):
    """The same with what more than half of the people said, where there is such an answer."""
    tables = []
    for item in items:
        answers, table = numbered(package.answers(item["step"], item["item"]), item), people_on(package, item)
        n_by_value = answers.groupby([*UNIT, "number"]).size().rename("n").reset_index()
        n_by_value = n_by_value.merge(table[[*UNIT, "count"]], on=UNIT)
        majority = n_by_value[2 * n_by_value["n"] > n_by_value["count"]]
        tables.append(table.merge(majority[[*UNIT, "number"]].rename(columns={"number": "people"}), on=UNIT))
    return tables


def numbered(answers, item):
    """The answers with an option's place among the options as its number, where answers are options."""
    if item["is_verdict"] or item["level"] != "nominal":
        return answers
    places = {str(option["value"]): float(n) for n, option in enumerate(item["options"])}
    return answers.assign(number=answers["value"].map(places))


def compared(package, judge, items, people):
    """What the judge and people said of each unit: columns judge, people, key (of the item), cluster, story."""
    tables = []
    for key, (item, of_people) in enumerate(zip(items, people, strict=True)):
        answers = numbered(package.judge_answers(judge, item), item)
        both = answers[[*UNIT, "number"]].rename(columns={"number": "judge"}).dropna().merge(of_people, on=UNIT)
        tables.append(both.dropna(subset=["people"]).assign(key=key))
    table = pd.concat(tables, ignore_index=True)
    kinds = table["story"].map(package.source_by_story).map(package.kind_by_source)
    return table.assign(cluster=table["group"].map(package.cluster_by_group), is_of_model=kinds == "language_model")


def scores(package, figure, row, table, items, pooled, salt, check):
    """All statistics of a judge over all items, and item by item."""
    whole = f"{figure}/{row['judge']}"
    for place, stored in enumerate(row["scores"]):
        is_pooled = stored["statistic"] in pooled
        check_score(package, whole, stored, table, is_pooled, (*salt, 0, place), check)
    for n, of_item in enumerate(row["items"]):
        part, label = table[table["key"] == n], f"{whole}/{of_item['step']}/{of_item['item']}"
        for place, stored in enumerate(of_item["scores"]):
            is_pooled = stored["statistic"] in pooled
            check_score(package, label, stored, part, is_pooled, (*salt, n + 1, place), check)


def check_score(package, place, stored, table, is_pooled, salt, check):
    """One statistic in all its parts. table : as `compared` has it; salt : what its seed has beside the study's"""
    statistic = stored["statistic"]
    for part in stored["parts"]:
        answers, label = part_of(table, part["part"]), f"{place}/{statistic}/{part['part']}"
        check.number(label, part["value"], score(statistic, answers, is_pooled))
        if part["value"] is None:
            check.number(f"{label}/n", part["n"], 0)
            continue
        check.numbers(label, part, n=len(answers), n_units=len(answers[UNIT].drop_duplicates()))
        bounds = BOUNDS.get(statistic, (-1, 1))
        with_value = answers if is_pooled else answers[answers["key"].isin(items_with_value(statistic, answers).index)]
        if statistic in MEANS:
            groups = [with_value] if is_pooled else [rows for _key, rows in with_value.groupby("key")]
            means = pd.concat([rows.assign(number=contributions(statistic, rows)) for rows in groups])
            means = means.drop(columns="key") if is_pooled else means
            check.interval(label, part["interval"], "of_mean", means, package.draws, bounds)
        else:
            check.interval(label, part["interval"], "of_score", statistic, with_value, is_pooled, package.draws, bounds)


def part_of(table, part):
    """The answers about stories of models, about those people said the same of, or about the others."""
    if part == "models":
        return table[table["is_of_model"]]
    if part == "unanimous":
        return table[table["is_unanimous"]]
    return table[(table["count"] > 1) & ~table["is_unanimous"]] if part == "split" else table
