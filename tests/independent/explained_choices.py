"""Whether judges choose as most people do where they explain at length."""

import pandas as pd

from tests.independent.material import place_of
from tests.independent.pairs import list_pairs

EXPLAINED = 69  # of the seed


def explained_choices(package, result, check):
    """How often each judge is right in each quarter of all explained choices by words, in percent."""
    items = [item for item in package.items if item["is_preference"]]
    for row in result:
        salt, place = items.index(package.item(row)), place_of("explained_choices", row)
        table = explained(package, row)
        check.number(f"{place}/n", row["n"], len(table))
        ordered = sorted(table["words"])
        # The lower of the two middle values, as one counts them by hand.
        ends = sorted({ordered[(len(ordered) - 1) * quarter // 4] for quarter in (1, 2, 3)} | {ordered[-1]})
        starts = [ordered[0], *(end + 1 for end in ends[:-1])]
        judges, stored = sorted(table["judge"].unique()), iter(row["bins"])
        for at, judge in enumerate(judges):
            for n, (start, end) in enumerate(zip(starts, ends, strict=True)):
                part = table[(table["judge"] == judge) & table["words"].between(start, end)]
                if len(part):
                    number, label = next(stored), f"{place}/{judge}/{n}"
                    assert number["judge"] == judge
                    check.numbers(label, number, least_words=start, most_words=end, mean_words=part["words"].mean())
                    right = 100 * part["number"].mean()
                    check.numbers(label, number, value=right, n=len(part), n_pairs=part["group"].nunique())
                    seed = (package.seed, EXPLAINED, salt, at, n)
                    check.interval(label, number["interval"], "of_rate", part, seed)


def explained(package, row):
    """Every choice of a model with an explanation, of the pairs in which more than half of people prefer one story."""
    pairs = list_pairs(package, row)[1].dropna(subset=["preferred"])
    preferred = {
        group: stories[int(best)]
        for group, stories, best in zip(pairs["group"], pairs["stories"], pairs["preferred"], strict=True)
    }
    rows = package.counted(package.table("responses_long"), "judge")
    rows = rows[(rows["rater_kind"] == "model") & (rows["outcome"] == "answered") & rows["group"].isin(preferred)]
    rows = rows[(rows["step"] == row["step"]) & (rows["item"] == row["item"])]
    table = pd.DataFrame(
        {
            "judge": rows["rater"],
            "group": rows["group"],
            "words": rows["rationale"].map(lambda text: len(text.split())),
            "number": (rows["value"] == rows["group"].map(preferred)).astype(float),
            "cluster": rows["group"].map(package.cluster_by_group),
        }
    )
    return table[table["words"] > 0]
