"""What judges go by beside the story; intervals with numpy and scipy."""

import pandas as pd

from tests.independent import lines, slopes
from tests.independent.judge_scores import contributions
from tests.independent.judges import UNIT, answers_of_judge, answers_of_people, beside_majority, items_of, judges_of
from tests.independent.material import is_among

BIASES = 28  # of the seed
PURPOSES = {"verbosity": 0, "modal_share": 1, "explanations": 3, "repeats": 4}  # of the seed


def judge_biases(package, result, check):
    for row in result:
        items = items_of(package, row["kind"])
        own = answers_of_judge(package, row["judge"], items)
        answers = pd.concat([table.assign(key=key) for key, table in enumerate(own)])
        answers["cluster"] = package.clusters(answers)
        at = judges_of(package, items).index(row["judge"])
        seed = (package.seed, BIASES, len(row["kind"]), at, PURPOSES[row["bias"]])
        place = f"judge_biases/{row['judge']}/{row['kind']}/{row['bias']}"
        computed = (verbosity, modal_share, explanations, repeats)
        compute = {function.__name__: function for function in computed}.get(row["bias"])
        if compute:
            compute(package, place, row, items, answers, seed, check)


def modal_share(package, place, row, items, answers, seed, check):
    """The share of the commonest answer to an item, the mean over items; of people the mean of each one's own."""

    def values(table):
        table = table.assign(judge=table["number"])
        return pd.concat([rows.assign(number=contributions("modal_share", rows)) for _k, rows in table.groupby("key")])

    of_judge, people = values(answers), package.answers_to_all(items)
    of_people = [values(rows).groupby("key")["number"].mean().mean() for _rater, rows in people.groupby("rater")]
    value = of_judge.groupby("key")["number"].mean().mean()
    people_mean = pd.Series(of_people, dtype=float).mean()
    check.numbers(place, row, value=value, n=len(answers), n_raters=len(of_people), people=people_mean)
    check.interval(place, row["interval"], "of_mean", of_judge, seed, (0, 100))


def explanations(package, place, row, items, answers, seed, check):
    """Words of the explanations of right answers, less those of wrong ones; right is what most people say."""
    people = pd.concat([table.assign(key=key) for key, table in enumerate(beside_majority(package, items))])
    both = answers.merge(people[["key", *UNIT, "people"]], on=["key", *UNIT])
    both["words"] = both["rationale"].str.split().str.len()
    both = both[both["words"] > 0]
    both["is_right"] = both["number"] == both["people"]
    parts = [both.loc[both["is_right"] == is_right, "words"] for is_right in (True, False)]
    value = parts[0].mean() - parts[1].mean() if all(map(len, parts)) else None
    check.numbers(place, row, value=value, n=len(parts[0]) if value is not None else 0)
    if value is not None:
        check.number(f"{place}/beside", row["n_beside"], len(parts[1]))
        check.interval(place, row["interval"], "of_difference", both, seed)


def verbosity(package, place, row, items, answers, seed, check):
    """How much more an answer is for a story twice as long, where people's mean is the same: by least squares."""
    n_words = pd.to_numeric(package.stories.drop_duplicates("story").set_index("story")["n_words"], errors="coerce")
    words = [n_words.get(story) for _group, story in package.units]
    people = lines.cube_of(package, items, lambda item: answers_of_people(package, item), package.units)
    keys = range(len(items))
    judge = lines.cube_of(package, keys, lambda key: answers[answers["key"] == key], package.units, [row["judge"]])
    clusters = lines.places_of(package.unit_clusters)
    slope = slopes.of_length(judge[:, 0], people, words, clusters, seed)
    if slope["value"] != slope["value"]:  # lengths or ratings do not vary
        check.numbers(place, row, value=None, n=0)
        return
    check.numbers(place, row, **{name: slope[name] for name in ("value", "people", "n", "n_raters")})
    check.ends(place, row["interval"], slope["ends"], slope["n_clusters"])


def repeats(package, place, row, items, answers, seed, check):
    """The variance of what a judge answered to a question that it read again in the same order, as the same persona."""
    rows = package.judges[package.judges["rater"] == row["judge"]]
    rows = rows[is_among(rows, {(item["step"], item["item"]) for item in items}) & (rows["outcome"] == "answered")]
    rows = rows.dropna(subset=["number"])
    question = rows.groupby(["group", "story", "step", "item", "order", "persona"])
    is_again = (question["repeat"].transform("nunique") > 1) & (question["number"].transform("size") > 1)
    question = rows[is_again].groupby(["group", "story", "step", "item", "order", "persona"])
    table = question["number"].var().reset_index()
    table["cluster"] = package.clusters(table)
    check.numbers(place, row, value=table["number"].mean(), n=len(table))
    check.interval(place, row["interval"], "of_mean", table, seed, (0, None))
