"""The jury of a plan, unit by unit: votes are counted, ratings averaged; of fewer than two judges there is none."""

import pandas as pd

PREFIX, SUFFIX = "jury of ", ", expected score"


def is_made(judge):
    """Whether it is a jury, or a judge's expected scores."""
    return judge.startswith(PREFIX) or judge.endswith(SUFFIX)


def answers_of(package, judge, item):
    return answers_of_jury(package, item) if judge.startswith(PREFIX) else expected_scores(package, judge, item)


def expected_scores(package, judge, item):
    """The mean point by the probabilities of each reading, the mean over readings."""
    rows = package.table("judge_probabilities")
    is_own = (rows["rater"] + SUFFIX == judge) & (rows["step"] == item["step"]) & (rows["item"] == item["item"])
    rows, made = rows[is_own & (item["level"] in ("ordinal", "interval"))], []
    for (group, story), answers in rows.groupby(["group", "story"]):
        means = [
            sum(one["analysed"].astype(float) * one["probability"].astype(float)) for _n, one in answers.groupby("seat")
        ]
        made.append({"group": group, "story": story, "number": sum(means) / len(means)})
    table = pd.DataFrame(made, columns=["group", "story", "number"])
    about = {"step": item["step"], "item": item["item"], "outcome": "answered", "value": "", "rationale": ""}
    return table.assign(**about, rater=judge)


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
