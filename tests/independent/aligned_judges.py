"""What a changed prompt gains on held-out stories, with intervals of all prompts tried; with pandas and scipy.

Which groups were held out is taken from the report: no table of a package says it.
"""

import numpy as np
import pandas as pd
from scipy import stats

from tests.independent import intervals
from tests.independent.beside_people import LEAST, best_constant, left_out_in_turn
from tests.independent.judge_coefficients import cohen, rank_correlation
from tests.independent.judges import UNIT, beside_majority, items_of, judge_answers, people_on

ALIGNMENT, N_DRAWS = 156, 10_000  # of the seed


def alignment(package, result, check):
    for at, kind in enumerate(("verdicts", "scales")):
        rows = [row for row in result if row["kind"] == kind]
        items = [item for item in items_of(package, kind) if kind == "verdicts" or item["level"] == "ordinal"]
        tables = [pair_of(package, kind, row, items) for row in rows]
        if rows:
            ends = ends_together(package, tables, intervals.generator((package.seed, ALIGNMENT, at)))
        for n, (row, table) in enumerate(zip(rows, tables, strict=True)):
            place, both = f"alignment/{row['judge']}/{kind}", table.dropna(subset=["base", "judge"])
            means = [both[side].mean() for side in ("base", "judge")]
            shown = [100 * (1 - mean if kind == "scales" else mean) for mean in means]
            check.numbers(place, row, value=100 * (means[1] - means[0]), base_percent=shown[0], percent=shown[1])
            check.numbers(place, row, n=len(both), n_tried=len(rows), n_stories=len(both[UNIT].drop_duplicates()))
            is_lost = table["base"].notna() & table["judge_number"].isna() & table["is_asked"]
            check.numbers(place, row, n_lost=is_lost.sum(), n_experts=count_experts(package, items, both))
            check.ends(place, row["interval"], ends[n], both["cluster"].nunique())
            answered = both.dropna(subset=["base_number", "judge_number"])
            for side, field in (("base", "base_coefficient"), ("judge", "coefficient")):
                check.number(f"{place}/{field}", row[field]["value"], coefficient(kind, answered, f"{side}_number"))
                if kind == "verdicts":
                    check.numbers(f"{place}/{field}", row[field], n_units=len(answered), n_raters=2)
            check_test(package, place, row["base_test"], row["base"], row, items, 1, check)
            check_test(package, place, row["test"], row["judge"], row, items, len(rows), check)
            check_test(package, place, row["constant_test"], "", row, items, 1, check)


def pair_of(package, kind, row, items):
    """Of each question about a held-out story how near both judges are to people, and what they answered."""
    people = beside_majority(package, items) if kind == "verdicts" else [people_on(package, item) for item in items]
    tables = []
    for key, (item, table) in enumerate(zip(items, people, strict=True)):
        table = table.assign(people=table["people"] if kind == "verdicts" else table["mean"], key=key)
        table = table[table["group"].isin(row["held_out"])]
        for side in ("base", "judge"):
            answers = judge_answers(package, row[side], item)[[*UNIT, "number"]]
            table = table.merge(answers.rename(columns={"number": f"{side}_number"}), on=UNIT, how="left")
            table["is_asked"] = table[UNIT].apply(tuple, axis=1).isin(asked_of(package, row[side], item))
            if kind == "verdicts":
                is_right = (table[f"{side}_number"] == table["people"]).astype(float)
                near = is_right.where(table["is_asked"] & table["people"].notna())
            else:
                width = item["settings"]["high"] - item["settings"]["low"]
                near = 1 - (table[f"{side}_number"] - table["people"]).abs() / width
            table[side] = near.astype(float)
        tables.append(table.assign(step=item["step"], item=item["item"]))
    table = pd.concat(tables, ignore_index=True)
    return table.assign(cluster=package.clusters(table))


def count_experts(package, items, both):
    """How many people answered one of these questions about one of these stories."""
    compared = both[["step", "item", *UNIT]].drop_duplicates()
    answers = package.answers_to_all(items)
    keys = pd.DataFrame([(n, i["step"], i["item"]) for n, i in enumerate(items)], columns=["key", "step", "item"])
    answers = answers.drop(columns=["step", "item"], errors="ignore").merge(keys, on="key")
    return answers.merge(compared, on=["step", "item", *UNIT])["rater"].nunique()


def asked_of(package, judge, item):
    """The units about which the judge was asked and something came back, also what cannot be read."""
    rows = package.judges[(package.judges["rater"] == judge) & (package.judges["counts_alone"] == "yes")]
    rows = rows[(rows["step"] == item["step"]) & (rows["item"] == item["item"])]
    return set(zip(rows["group"], rows["story"], strict=True))


def ends_together(package, tables, rng):
    """Both ends of each gain in points; None where clusters do not vary. All hold in 95 of 100 draws."""
    names, parts = np.unique(np.asarray(package.unit_clusters)), []
    for table in tables:
        both = table.assign(less=table["judge"] - table["base"]).dropna(subset=["less"])
        sums = both.groupby("cluster")["less"].agg(["sum", "count"])
        part = (sums["sum"] - both["less"].mean() * sums["count"]) / len(both)
        parts.append((both["less"].mean(), part * np.sqrt(len(sums) / (len(sums) - 1)), len(sums)))
    known = [(part / np.sqrt((part**2).sum()), n) for _m, part, n in parts if np.sqrt((part**2).sum()) > 1e-9]
    degrees = min((n for _part, n in known), default=2) - 1
    width = stats.t.ppf(0.975, degrees)
    if len(known) > 1:
        directions = np.array([part.reindex(names, fill_value=0).to_numpy() for part, _n in known])
        largest = np.abs(directions @ rng.standard_normal((N_DRAWS, len(names))).T).max(axis=0)
        width = np.quantile(largest / np.sqrt(rng.chisquare(degrees, N_DRAWS) / degrees), 0.95)
    ends = []
    for mean, part, _n in parts:
        margin = width * np.sqrt((part**2).sum())
        ends.append((100 * (mean - margin), 100 * (mean + margin)) if margin > 1e-9 else None)
    return ends


def coefficient(kind, table, column):
    """Cohen's kappa over all items, or the mean of the items' correlations of ranks."""
    compute = cohen if kind == "verdicts" else rank_correlation
    both = table.dropna(subset=[column, "people"])
    parts = [both] if kind == "verdicts" else [part for _key, part in both.groupby("key")]
    values = [compute(p[column].to_numpy(), p["people"].to_numpy(), np.ones((1, len(p))))[0] for p in parts]
    values = [value for value in values if not np.isnan(value)]
    return np.mean(values) if values else None


def check_test(package, place, stored, judge, row, items, n_tried, check):
    """The alternative annotator test on the held-out stories; of a judge chosen among several each p times as many."""
    units = [unit for unit in package.units if unit[0] in row["held_out"]]
    index = pd.MultiIndex.from_tuples([(key, *unit) for key in range(len(items)) for unit in units])
    people = package.answers_to_all(items).pivot_table(index=["key", *UNIT], columns="rater", values="number")
    people = people.reindex(index=index, columns=package.raters)
    score, epsilon = ("accuracy" if row["kind"] == "verdicts" else "neg_rmse"), package.plan.get("epsilon", 0.2)
    labels = [story for _key, _group, story in index]
    if judge:
        answers = pd.concat([judge_answers(package, judge, item).assign(key=key) for key, item in enumerate(items)])
        own = answers.set_index(["key", *UNIT])["number"].reindex(index)
    else:
        value = best_constant(people, score, epsilon, labels)
        if stored.get("answer") is not None:
            check.number(f"{place}/constant", stored["answer"], value)
        own = pd.Series(float(value), index)
    test = left_out_in_turn(people, own, score, epsilon, labels, n_tried=n_tried)
    rate, advantage, n_tested, n_units, _wins = test
    check.numbers(place, stored, winning_rate=rate, advantage=advantage, n_tested=n_tested, n_units=n_units)
    check.number(f"{place}/people", stored["n_people"], len(package.raters))
    if (stored.get("why") or {}).get("values", {}).get("least"):
        check.number(f"{place}/least", stored["why"]["values"]["least"], LEAST)
