"""The jury of a plan, unit by unit: votes are counted, ratings averaged; of fewer than two judges there is none."""

import pandas as pd

PREFIX = "jury of "


def is_jury(judge):
    return judge.startswith(PREFIX)


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
