"""Judges beside people: verdicts and choices beside the majority, ratings beside the mean, by item and over all."""

import pandas as pd

from tests.independent import intervals, judge_floors, jury, lines
from tests.independent.composites import bounds_of_score, rater_scores, score_of_items
from tests.independent.composites import items_of as items_of_score
from tests.independent.judge_scores import MEANS, contributions, items_with_value, score
from tests.independent.material import around_zero, place_of, widest

UNIT = ["group", "story"]
PARTS = ("all", "models", "unanimous", "split")
BOUNDS = {
    "balanced_accuracy": (0, 1),
    "percent_agreement": (0, 100),
    "modal_share": (0, 100),
}


DISTANCES = ("mean_absolute_error", "mean_difference")


def judges(package, result, check):
    """On verdicts, beside the majority of people: over all items, item by item, and the mean of the items' kappa."""
    items = items_of(package, "verdicts")
    pooled = ("kappa", "balanced_accuracy", "percent_agreement")
    people = beside_majority(package, items)
    for at, row in enumerate(result["compared"]):
        table = compared(package, row["judge"], items, people)
        scores(package, "judges", row["scores"], table, (items, people), pooled, (20, at), check)
        judge = answers_of_judge(package, row["judge"], items)
        asked = [table.loc[[package.is_asked(row["judge"], group) for group in table["group"]]] for table in people]
        if_answered(f"judges/{row['judge']}", row, judge, asked, check)
        for n, stored in enumerate(row["items"]):
            against_majority(place_of("judges", stored, row["judge"]), stored, table[table["key"] == n], check)
        against_majority(f"judges/{row['judge']}/pooled", row["pooled"], table, check)
        of_items = [item["kappa"]["value"] for item in row["items"] if item["kappa"]["value"] is not None]
        mean = pd.Series(of_items, dtype=float).mean()
        check.number(f"judges/{row['judge']}/mean", row["mean_kappa"]["value"], mean)
        if row["mean_kappa"].get("n") is not None:
            n_left_out = len(row["items"]) - len(of_items)
            check.numbers(f"judges/{row['judge']}/mean", row["mean_kappa"], n=len(of_items), n_left_out=n_left_out)
    if result["compared"]:
        rows = [row["scores"] for row in result["compared"]]
        person_lines(package, "judges", rows, items, ("pairwise", "majority"), 20, check)
    not_analysed(package, result["not_analysed"], check)


def if_answered(place, row, judge, people, check):
    """Kappa were all that the judge did not answer as the majority, or the opposite."""
    tables = {"kappa_if_right": [], "kappa_if_wrong": []}
    for answers, of_people in zip(judge, people, strict=True):
        both = of_people.merge(answers[[*UNIT, "number"]].rename(columns={"number": "judge"}), on=UNIT, how="left")
        both = both.dropna(subset=["people"])
        for name, instead in (("kappa_if_right", both["people"]), ("kappa_if_wrong", 1 - both["people"])):
            tables[name].append(both.assign(judge=both["judge"].fillna(instead)))
    for name, parts in tables.items():
        check.number(f"{place}/{name}", row[name], score("kappa", pd.concat(parts), True))


def not_analysed(package, result, check):
    """How many answers of a judge are to items of one type that nothing is compared on."""
    rows = package.judges
    for stored in result:
        keys = {(i["step"], i["item"]) for i in package.items if i["type"] == stored["type"]}
        is_so = [key in keys for key in zip(rows["step"], rows["item"], strict=True)]
        of_type = rows[is_so]
        of_type = of_type[(of_type["rater"] == stored["judge"]) & (of_type["step"] == stored["step"])]
        n = {f"n_{name}": (of_type["outcome"] == name).sum() for name in ("answered", "declined", "unreadable")}
        place = f"judges/{stored['judge']}/{stored['step']}/{stored['type']}"
        check.numbers(place, stored, n_items=of_type["item"].nunique(), **n)


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
        scores(package, "judges_on_scales", row, table, (items, people), (), (21, at), check)
    person_lines(package, "judges_on_scales", result, items, ("mean",), 21, check)


def judges_on_scores(package, result, check):
    """On declared scores, a judge's own beside the mean of people's; each score is like an item."""
    items = [as_item(package, score) for score in package.scores if score["is_declared"]]
    people = [people_on(package, item) for item in items]
    for table in people:
        table["people"] = table["mean"].round(10)
    for at, row in enumerate(result):
        table = compared(package, row["judge"], items, people)
        scores(package, "judges_on_scores", row, table, (items, people), (), (37, at), check)
    person_lines(package, "judges_on_scores", result, items, ("mean",), 37, check)


def as_item(package, score):
    """What a score is like among items."""
    step, name = score["outcome"].split("/", 1)
    low, high = bounds_of_score(package, score)
    settings = {"low": low, "high": high}
    kind = {"is_verdict": False, "level": "interval"}
    return {"step": step, "item": name, "settings": settings, "score": score, **kind}


def judge_answers(package, judge, item):
    """The answers of a judge to an item, or its own score of each story."""
    if "score" not in item:
        return numbered(package.judge_answers(judge, item), item)
    of_items = {own["item"]: package.judge_answers(judge, own) for own in items_of_score(package, item["score"])}
    numbers = {key: answers.dropna(subset=["number"]).set_index(UNIT)["number"] for key, answers in of_items.items()}
    return score_of_items(package, item["score"], numbers)


def judges_on_choices(package, result, check):
    """On choices, beside the option that more than half of the people chose."""
    items = items_of(package, "choices")
    people = beside_majority(package, items)
    for at, row in enumerate(result):
        table = compared(package, row["judge"], items, people)
        scores(package, "judges_on_choices", row, table, (items, people), (), (22, at), check)


def items_of(package, kind):
    """The items about stories that are answered by verdicts, by choices or on scales."""
    about_stories = [item for item in package.items if item["is_about_a_story"]]
    if kind == "scales":
        return [item for item in about_stories if item["level"] in ("ordinal", "interval")]
    is_kind = kind == "verdicts"
    return [item for item in about_stories if item["level"] == "nominal" and item["is_verdict"] is is_kind]


def judges_of(package, items, with_jury=False):
    """The models that answered any of the items, in their order, with jury and expected scores or without."""
    if with_jury:
        return sorted([*judges_of(package, items), *jury.names_of_made(package, items)])
    keys = {(item["step"], item["item"]) for item in items}
    rows = package.one_value[package.one_value["rater_kind"] == "model"]
    return sorted(rows.loc[[key in keys for key in zip(rows["step"], rows["item"], strict=True)], "rater"].unique())


def people_on(package, item):
    """Of each unit the mean of people, whether all said the same, how many they are."""
    answers = answers_of_people(package, item)
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
        answers = judge_answers(package, judge, item)
        both = answers[[*UNIT, "number"]].rename(columns={"number": "judge"}).dropna().merge(of_people, on=UNIT)
        tables.append(both.dropna(subset=["people"]).assign(key=key))
    table = pd.concat(tables, ignore_index=True)
    kinds = table["story"].map(package.source_by_story).map(package.kind_by_source)
    return table.assign(cluster=package.clusters(table), is_of_model=kinds == "language_model")


def answers_of_judge(package, judge, items):
    """Of each item the answers of the judge that can be compared."""
    return [judge_answers(package, judge, item).dropna(subset=["number"]) for item in items]


def person_lines(package, figure, rows, items, kinds, salt, check):
    """What one of the people has where judges have their first statistic; the same beside each judge."""
    if not rows:
        return
    people = lines.cube_of(package, items, lambda item: answers_of_people(package, item), package.units)
    rng = intervals.generator((package.seed, salt, 99))  # one after the other
    for kind in kinds:
        if kind == "majority" and not ((people == people).sum(axis=1) > 2).any():
            continue
        line = lines.among_people(people, lines.places_of(package.unit_clusters), kind, rng)
        for row in rows:
            for stored in row["person_lines"]:
                if stored["against"] == kind:
                    check_line(f"{figure}/{row['judge']}/{kind}", stored, line, package.unit_clusters, check)


def check_line(place, stored, line, clusters, check):
    value, ends, n_units, n_people = line or (None, None, 0, 0)
    check.numbers(place, stored, value=value, n_units=n_units, n_raters=n_people)
    check.ends(place, stored["interval"], ends, len(set(clusters)))


def answers_of_people(package, item):
    if "score" in item:
        return rater_scores(package, item["score"])
    return numbered(package.answers(item["step"], item["item"]), item).dropna(subset=["number"])


def scores(package, figure, row, table, material, pooled, salt, check):
    """All statistics of a judge over all items, and item by item. material : the items, and what people say of each"""
    whole, (items, people) = f"{figure}/{row['judge']}", material
    judge = answers_of_judge(package, row["judge"], items)
    floors = judge_floors.JudgeFloors(package, row["judge"], judge, people, (package.seed, *salt))
    for place, stored in enumerate(row["scores"]):
        is_pooled = stored["statistic"] in pooled
        check_score(package, whole, stored, table, items, is_pooled, (*salt, 0, place), floors, check)
    for n, of_item in enumerate(row["items"]):
        part, label = table[table["key"] == n], f"{whole}/{of_item['step']}/{of_item['item']}"
        for place, stored in enumerate(of_item["scores"]):
            is_pooled = stored["statistic"] in pooled
            asked = [items[n]]
            check_score(package, label, stored, part, asked, is_pooled, (*salt, n + 1, place), floors, check)


def check_score(package, place, stored, table, items, is_pooled, salt, floors, check):
    """One statistic in all its parts. table : as `compared` has it, of these items

    salt : what its seed has beside the study's
    """
    statistic = stored["statistic"]
    bounds = BOUNDS.get(statistic, (-1, 1))
    if statistic in DISTANCES:
        least, most = around_zero(widest(items))
        bounds = (least if statistic == "mean_difference" else 0), most
    for part in stored["parts"]:
        answers, label = part_of(table, part["part"]), f"{place}/{statistic}/{part['part']}"
        check.number(label, part["value"], score(statistic, answers, is_pooled))
        if part["value"] is None:
            check.number(f"{label}/n", part["n"], 0)
            continue
        check.numbers(label, part, n=len(answers), n_units=len(answers[UNIT].drop_duplicates()))
        with_value = answers if is_pooled else answers[answers["key"].isin(items_with_value(statistic, answers).index)]
        if statistic in MEANS:
            groups = [with_value] if is_pooled else [rows for _key, rows in with_value.groupby("key")]
            means = pd.concat([rows.assign(number=contributions(statistic, rows)) for rows in groups])
            means = means.drop(columns="key") if is_pooled else means
            check.interval(label, part["interval"], "of_mean", means, package.draws, bounds)
        else:
            check.interval(label, part["interval"], "of_score", statistic, with_value, is_pooled, package.draws, bounds)
        if floors:
            seed = (package.seed, *salt, PARTS.index(part["part"]), 0)
            check_floors(label, part, floors, statistic, with_value["key"].unique(), is_pooled, seed, check)


def check_floors(place, part, floors, statistic, keys, is_pooled, seed, check):
    """Among all stories, and within each source. A statistic that asks for no order has none."""
    *of_score, n_part, _purpose = seed[len(floors.seed) :]  # the item's number, 0 for all, and the statistic's
    asked = [of_score[0] - 1] if of_score and of_score[0] else None
    for is_within, name in enumerate(("floor", "floor_within")):
        stored = part.get(name)
        if stored and stored["mean"] is not None:
            of_ranks = (*of_score, n_part, 1 + is_within)
            values = floors.values(statistic, part["part"], keys, asked, is_pooled, bool(is_within), of_ranks)
            better = -1 if statistic == "mean_absolute_error" else 1
            check.floor(f"{place}/{name}", stored, values, better)


def part_of(table, part):
    """The answers about stories of models, about those people said the same of, or about the others."""
    if part == "models":
        return table[table["is_of_model"]]
    if part == "unanimous":
        return table[table["is_unanimous"]]
    return table[(table["count"] > 1) & ~table["is_unanimous"]] if part == "split" else table
