"""The jury of a plan, unit by unit: votes are counted, ratings averaged; of fewer than two judges there is none."""

import pandas as pd

PREFIX, SUFFIX = "jury of ", ", expected score"


def is_made(judge):
    """Whether it is a jury, or a judge's expected scores."""
    return judge.startswith(PREFIX) or judge.endswith(SUFFIX)


def answers_of(package, judge, item):
    return answers_of_jury(package, item) if judge.startswith(PREFIX) else expected_scores(package, judge, item)


def expected_scores(package, judge, item):
    """The mean point by the probabilities of the reading that counts alone, as several personas the mean of all."""
    judge, key = judge.removesuffix(SUFFIX), {"step": item["step"], "item": item["item"]}
    table = package.table("judge_probabilities")
    table, rows = (t[(t[["step", "item"]] == key).all(axis=1) & (t["rater"] == judge)] for t in (table, package.judges))
    point_by_reading = {}
    for one in table.to_dict("records"):
        reading = one["group"], one["story"], int(one["seat"])
        point = float(one["analysed"]) * float(one["probability"])
        point_by_reading[reading] = point_by_reading.get(reading, 0) + point
    alone = rows[rows["counts_alone"] == "yes"].drop_duplicates(["group", "story"])
    each = rows[(rows["persona"] != "") & (rows["repeat"] == "1") & (rows["order"] == "planned")]
    n_personas, made = max(each["persona"].nunique(), 1), []
    each = each.drop_duplicates(["group", "story", "persona"]) if n_personas > 1 else alone
    for group, story in zip(alone["group"], alone["story"], strict=True):
        seats = each.loc[(each["group"] == group) & (each["story"] == story), "seat"]
        points = [point_by_reading.get((group, story, seat)) for seat in seats]
        if None not in points and len(points) == n_personas and item["level"] in ("ordinal", "interval"):
            made.append({"group": group, "story": story, "number": sum(points) / n_personas})
    table = pd.DataFrame(made, columns=["group", "story", "number"])
    return table.assign(**key, outcome="answered", value="", rationale="", rater=judge + SUFFIX)


def names_of_made(package, items):
    """The jury and the expected scores that stand among judges of these items."""
    names = [name_of(package.plan)] if package.plan.get("jury") else []
    judges = package.table("judge_probabilities")["rater"].unique()
    expected = [judge + SUFFIX for judge in judges]
    return names + [n for n in expected if any(len(expected_scores(package, n, item)) for item in items)]


def name_of(plan):
    return PREFIX + ", ".join(plan["jury"]) if plan.get("jury") else ""


def answers_of_jury(package, item):
    """Its answers to an item, in the columns of a judge's."""
    names = package.plan["jury"]
    weight_by_name = dict(zip(names, package.plan.get("jury_weights") or [1] * len(names), strict=True))
    is_scale, rows = item["level"] in ("ordinal", "interval"), []
    given = pd.concat([package.judge_answers(name, item) for name in names])
    for (group, story), answers in given.groupby(["group", "story"]):
        weights = answers["rater"].map(weight_by_name)
        if len(answers) < 2:
            continue
        row = {"group": group, "story": story, "step": item["step"], "item": item["item"], "outcome": "answered"}
        if is_scale:
            rows.append(row | {"number": (answers["number"] * weights).sum() / weights.sum()})
            continue
        votes = weights.groupby(answers["value"]).sum()
        winner = votes.idxmax()
        if votes[winner] * 2 > weights.sum() + 1e-9:
            number = answers.loc[answers["value"] == winner, "number"].iloc[0]
            rows.append(row | {"value": winner, "number": number})
    columns = ["group", "story", "step", "item", "outcome", "value", "number"]
    return pd.DataFrame(rows, columns=columns).assign(rationale="", rater=name_of(package.plan))
