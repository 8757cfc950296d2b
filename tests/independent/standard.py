"""Judges and others beside the labels of a standard, which are a property of stories or the answers of no rater."""

import math

import pandas as pd

from tests.independent import floors, judge_floors
from tests.independent.judges import check_score, compared, items_of
from tests.independent.judges import scores as check_scores
from tests.independent.judges_on_groups import check_mean, choices_of_judge
from tests.independent.material import place_of
from tests.independent.measures_beside_people import is_right
from tests.independent.pairs import of_longer

OF_STORIES, OF_PAIRS, OF_MEASURES = 158, 159, 1000  # of the seed
SEED_BY_WHO = {"person": 100, "longer": 101, "metric": 200}
UNIT = ["group", "story"]
WORDS = {"yes": 1.0, "no": 0.0, "true": 1.0, "false": 0.0}


def judges_on_standard(package, result, check):
    """Labels, then judges on each kind of item about stories, then judges and others on pairs."""
    count_labels(package, result["labels"], check)
    for kind in ("verdicts", "choices", "scales"):
        named = {(row["step"], row["item"]) for row in result["labels"] if row["kind"] == kind}
        items = [item for item in items_of(package, kind) if (item["step"], item["item"]) in named]
        labels = [as_table(package, item) for item in items]
        pooled = ("percent_agreement", "balanced_accuracy", "kappa") if kind == "verdicts" else ()
        for at, row in enumerate(result[kind]):
            table = compared(package, row["judge"], items, labels)
            check_scores(package, "standard", row, table, (items, labels), pooled, (OF_STORIES, at), check)
            check.number(f"standard/{row['judge']}/people", row["n_people"], 0)
            of_items = [score for item in row["items"] for score in item["scores"]]
            for part in (part for score in [*row["scores"], *of_items] for part in score["parts"]):
                if part.get("n_raters") is not None:
                    check.number(f"standard/{row['judge']}/n_raters", part["n_raters"], 0)
    on_labels(package, result, check)
    for salt, row in enumerate(result["pairs"]):
        on_pairs(package, row, salt, check)


def labels_of(package, item):
    """Of each story in its group the label, as text or as answered; "" without one."""
    plan = package.plan
    if plan.get("standard_rater"):
        rows = package.standard
        rows = rows[(rows["step"] == item["step"]) & (rows["item"] == item["item"]) & (rows["outcome"] == "answered")]
        return dict(zip(zip(rows["group"], rows["story"], strict=True), rows["value"], strict=True))
    name = dict(map(tuple, plan["standard_labels"]))[f"{item['step']}/{item['item']}"]
    word_by_story = package.factor(name)
    return {unit: word_by_story.get(unit[1], "").strip().lower() for unit in package.units}


def number_of(item, word):
    """A label as the answer that it is, or nan."""
    if item["level"] == "nominal" and not item["is_verdict"] and not item["is_preference"]:
        options = [option["value"].lower() for option in item["options"]]
        return float(options.index(word)) if word in options else math.nan
    try:
        number = WORDS.get(word) if item["is_verdict"] else None
        number = float(word) if number is None else number
    except ValueError:
        return math.nan
    low, high = item["settings"].get("low"), item["settings"].get("high")
    if item["is_verdict"]:
        low, high = 0, 1
    is_outside = (low is not None and number < low) or (high is not None and number > high)
    return math.nan if is_outside and not item["is_preference"] else number


def as_table(package, item):
    """The labels in the form that people's answers have: nobody agrees or differs."""
    numbers = {unit: number_of(item, word) for unit, word in labels_of(package, item).items()}
    rows = [{"group": g, "story": s, "people": n} for (g, s), n in numbers.items() if not math.isnan(n)]
    return pd.DataFrame(rows).assign(is_unanimous=False, count=1)


def preferred_of(package, item):
    """The story of each pair that the standard prefers, by group."""
    labels = labels_of(package, item)
    if package.plan.get("standard_rater"):
        return {group: story for (group, _), story in labels.items()}
    best = {}
    for group, stories in stories_by_group(package).items():
        numbers = [number_of(item, labels[group, story]) for story in stories]
        if len(stories) == 2 and numbers[0] != numbers[1] and not math.isnan(sum(numbers)):
            best[group] = stories[numbers.index(max(numbers))]
    return best


def stories_by_group(package):
    stories = {}
    for group, story in package.units:
        stories.setdefault(group, []).append(story)
    return stories


def count_labels(package, rows, check):
    for row in rows:
        item, place = package.item(row), place_of("standard", row, "labels")
        words = labels_of(package, item)
        numbers = {unit: number_of(item, word) for unit, word in words.items()}
        n_pairs = sum(len(stories) == 2 for stories in stories_by_group(package).values())
        n_of = n_pairs if item["is_preference"] else len(package.units)
        by_rater = package.plan.get("standard_rater")
        n = len(preferred_of(package, item)) if item["is_preference"] else sum(map(math.isfinite, numbers.values()))
        slips = {unit[1] for unit, word in words.items() if word and math.isnan(numbers[unit])}
        check.numbers(place, row, n=n, n_missing=n_of - n, n_unreadable=0 if by_rater else len(slips))
        if row["kind"] == "verdicts":
            known = pd.Series(numbers).dropna()
            check.number(f"{place}/yes", row["yes_percent"], 100 * known.mean())


def on_labels(package, result, check):
    """Every measure of stories beside the labels of an item: rank correlation, more being better."""
    measures = [(name, scores) for name, scores, _is_of_pairs in measures_of(package)]
    names, labelled = [name for name, _scores in measures], [(row["step"], row["item"]) for row in result["labels"]]
    for row in result["measures"]:
        n, at = names.index(row["metric"]), labelled.index((row["step"], row["item"]))
        item, scores = package.item(row), measures[n][1]
        labels = as_table(package, item)
        units = [{"group": g, "story": s, "number": number} for (g, s), number in scores.items()]
        own = pd.DataFrame(units).dropna()
        table = own.rename(columns={"number": "judge"}).merge(labels, on=UNIT).assign(key=0)
        kinds = table["story"].map(package.kind_of)
        table = table.assign(cluster=package.clusters(table), is_of_model=kinds == "language_model")
        salt = (OF_STORIES, OF_MEASURES + at, n)
        drawn = judge_floors.JudgeFloors(package, row["metric"], [own], [labels], (package.seed, *salt))
        place = place_of("standard", row, row["metric"])
        check_score(package, place, row["score"], table, [item], False, salt, drawn, check)
        for part in row["score"]["parts"]:
            if part.get("n_raters") is not None:
                check.number(f"{place}/n_raters", part["n_raters"], 0)


def on_pairs(package, row, salt, check):
    preferred = preferred_of(package, package.item(row))
    rows = package.table("pairs")
    rows = rows[(rows["step"] == row["step"]) & (rows["item"] == row["item"])]
    best = pd.DataFrame({"preferred": pd.Series(preferred, dtype=object)})
    for at, judge in enumerate(row["judges"]):
        table = choices_of_judge(package, package.counted(rows, "judge"), judge["judge"], best).join(best)
        right = table["right"].where(table["preferred"].notna())
        check.number(f"standard/{judge['judge']}/people", judge["n_people"], 0)
        for n, part in enumerate(judge["scores"][0]["parts"]):
            number = 100 * (right[table["is_of_models"]] if part["part"] == "models" else right).dropna()
            place, seed = place_of("standard", row, judge["judge"]), (package.seed, OF_PAIRS, salt, at, n)
            check_mean(package, place, part, number, (*seed, 0), (0, 100), check)
            if part["floor"]["mean"] is not None:
                other = table["wrong"].reindex(number.index)
                check.floor(place, part["floor"], floors.of_flips(number / 100, other, (*seed, 1)))
    chosen = package.counted(rows, "person")
    for stored in row["others"]:
        table, last = others_on_pairs(package, stored, chosen, preferred)
        label = f"standard/{stored['who']} {stored['name']}"
        table["cluster"] = table["group"].map(package.cluster_by_group)
        counts = {"n": len(table), "n_pairs": table["group"].nunique()}
        check.numbers(label, stored, value=100 * table["number"].mean(), **counts)
        check.interval(label, stored["interval"], "of_rate", table, (package.seed, OF_PAIRS, salt, last))


def others_on_pairs(package, stored, chosen, preferred):
    """Group and whether it is right of each choice, and what its seed ends with."""
    who, seed = stored["who"], SEED_BY_WHO[stored["who"]]
    stories = {group: two for group, two in stories_by_group(package).items() if group in preferred}
    if who == "person":
        own = chosen[chosen["group"].isin(stories)]
        return own.assign(number=(own["chosen"] == own["group"].map(preferred)) * 1.0), seed
    words = dict(zip(package.stories["story"], pd.to_numeric(package.stories["n_words"]), strict=True))
    pairs = pd.DataFrame(
        [
            {"group": g, "stories": two, "preferred": two.index(preferred[g]), "words": [words[s] for s in two]}
            for g, two in stories.items()
        ]
    )
    if who == "longer":
        return of_longer(pairs), seed
    measures = measures_of(package)
    names = [name for name, _scores, _is_of_pairs in measures]
    _name, scores, is_of_pairs = measures[names.index(stored["name"])]
    right = [is_right(pair, scores, is_of_pairs) for pair in pairs.to_dict("records")]
    table = pd.DataFrame({"group": pairs["group"], "number": right}).dropna()
    return table, seed + names.index(stored["name"])


def measures_of(package):
    """Name, scores by unit and whether they are of pairs, of each measure in the order of the report."""
    runs = package.table("judge_runs").drop_duplicates("rater").set_index("rater")
    measures = []
    for row in (package.report["measures_beside_people"] or {"measures": []})["measures"]:
        rows = package.one_value[package.one_value["rater"] == row["metric"]]
        rows = rows[(rows["step"] == row["step"]) & (rows["item"] == row["item"])]
        better = runs["better"].get(row["metric"], "")
        numbers = rows["number"] * (-1 if better == "lower" else 1)
        scores = dict(zip(zip(rows["group"], rows["story"], strict=True), numbers, strict=True))
        name = row["metric"] if better else f"{row['metric']}: {row['item']}"
        measures.append((name, scores, row["about"] == "pairs"))
    return measures
