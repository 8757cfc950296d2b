"""One model asked with several prompts: the prompts side by side, over what was answered to all of them."""

import pandas as pd

from tests.independent import judge_floors
from tests.independent.judges import (
    UNIT,
    answers_of_judge,
    beside_majority,
    check_score,
    compared,
    items_of,
    judges_of,
    people_on,
)
from tests.independent.material import is_among

WORDINGS = 30  # of the seed
ANSWER = ["key", *UNIT]


def wordings(package, result, check):
    """Of each prompt how often Yes or the mean rating, and the score; how many answers are not the same in all."""
    prompts_by_model = list_prompts(package)
    for row in result:
        place, items = f"wordings/{row['model']}/{row['kind']}", items_of(package, row["kind"])
        if row["model"] not in prompts_by_model:
            check.differences.append({"place": place, "report": row["model"], "recomputed": None})
            continue
        at = list(prompts_by_model).index(row["model"])
        names = [name for name in judges_of(package, items) if name in prompts_by_model[row["model"]]]
        own = {name: answers_of_judge(package, name, items) for name in names}
        tables = [pd.concat([part.assign(key=n) for n, part in enumerate(own[name])]) for name in names]
        both = pd.concat([table.set_index(ANSWER)["number"] for table in tables], axis=1, join="inner")
        both.columns = names
        stored = [wording["judge"] for wording in row["wordings"]]
        if stored != names:
            check.differences.append({"place": place, "report": stored, "recomputed": names})
            continue
        levels = one_by_one(package, place, row, items, own, both, at, check)
        side_by_side(package, place, row, both, levels, at, check)


def list_prompts(package):
    """Of every model that was run with several prompts each judge's prompt; all else that was sent is the same."""
    groups = {}
    runs = package.table("judge_runs")
    runs = runs[~runs["rater"].isin(package.held_out_by_judge)]
    for run in runs[(runs["is_run"] == "True") & (runs["endpoint"] != "")].to_dict("records"):
        prompts = groups.setdefault((run["model"], run["endpoint"], run["parameters"], run["personas"]), {})
        if run["prompt"] not in prompts.values():
            prompts[run["rater"]] = run["prompt"]
    several = {key: prompts for key, prompts in groups.items() if len(prompts) > 1}
    models = [key[0] for key in several]
    return {
        key[0] if models.count(key[0]) == 1 else f"{key[0]} ({next(iter(prompts))})": prompts
        for key, prompts in several.items()
    }


def one_by_one(package, place, row, items, own, both, at, check):
    """The level and the score of each wording, over the answers that all have; gives the levels."""
    is_verdicts = row["kind"] == "verdicts"
    factor = 100 if is_verdicts else 1
    people = beside_majority(package, items) if is_verdicts else [people_on(package, item) for item in items]
    if not is_verdicts:
        people = [table.assign(people=table["mean"]) for table in people]
    keys = {(item["step"], item["item"]) for item in items}
    n_people = package.people.loc[is_among(package.people, keys), "rater"].nunique()
    levels = []
    for n, wording in enumerate(row["wordings"]):
        name, label = wording["judge"], f"{place}/{wording['judge']}"
        levels.append(factor * both[name].mean())
        check.number(f"{label}/level", wording["level"], levels[-1])
        table = compared(package, name, items, people)
        table = table[pd.MultiIndex.from_frame(table[ANSWER]).isin(both.index)]
        salt = (WORDINGS, at, factor, n)
        kept = [
            part[pd.MultiIndex.from_frame(part.assign(key=key)[ANSWER]).isin(both.index)]
            for key, part in enumerate(own[name])
        ]
        floors = judge_floors.JudgeFloors(package, name, kept, people, (package.seed, *salt))
        check_score(package, label, wording["score"], table, items, is_verdicts, salt, floors, check)
        for part in wording["score"]["parts"]:
            if part.get("n_raters") is not None:
                check.number(f"{label}/{part['part']}/n_raters", part["n_raters"], n_people)
    return levels


def side_by_side(package, place, row, both, levels, at, check):
    """How far the wordings are apart, and how many answers are not the same in all of them, in percent."""
    changed = 100.0 * (both.max(axis=1) > both.min(axis=1)).to_numpy()
    clusters = package.clusters(both.index.to_frame()).to_list()
    table = pd.DataFrame({"number": changed, "cluster": clusters})
    values = [wording["score"]["parts"][0]["value"] for wording in row["wordings"]]
    values = [value for value in values if value is not None]
    check.numbers(place, row, n=len(both), changed_percent=changed.mean(), level_spread=max(levels) - min(levels))
    check.number(f"{place}/spread", row["score_spread"], max(values) - min(values) if len(values) > 1 else None)
    check.interval(place, row["interval"], "of_mean", table, (package.seed, WORDINGS, at, len(row["kind"])), (0, 100))
