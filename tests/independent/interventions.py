"""What changes of stories do to judges' answers, pair by pair; the test by trying every sign."""

from itertools import product

import numpy as np
import pandas as pd
from statsmodels.stats.multitest import multipletests

from tests.independent.judges import UNIT, items_of
from tests.independent.material import around_zero, is_among, widest

INTERVENTIONS = 154  # of the seed
QUESTION = ["step", "item", *UNIT]
MOST_TRIED = 13  # clusters, of more the report draws signs


def interventions(package, result, check):
    answers = package.table("responses_long")
    answers = answers[answers["outcome"] == "answered"]
    answers = answers.assign(seat=pd.to_numeric(answers["seat"]), number=pd.to_numeric(answers["analysed"]))
    answers = answers.dropna(subset=["number"]).sort_values("seat", kind="stable")
    altered = answers[answers["status"] == "altered"]
    for row in result:
        items = items_of(package, row["kind"])
        keys = {(item["step"], item["item"]) for item in items}
        own = altered[is_among(altered, keys)]
        judges = sorted(own["rater"].unique())
        own = own[own["rater"] == row["judge"]]
        plain = plain_answers(package, row["judge"], keys)
        place = f"interventions/{row['judge']}/{row['kind']}/{row['intervention']}"
        names = sorted(own["intervention"].unique())
        seed = (package.seed, INTERVENTIONS, len(row["kind"]), judges.index(row["judge"]))
        both = pair(plain, own, row["intervention"])
        at = names.index(row["intervention"]) + 1
        p = check_move(package, place, row, row["effect"], both, items, (*seed, at), check)
        check.number(f"{place}/p", row.get("p"), p)
        check_move(package, f"{place}/again", row, row["again"], read_twice(plain), items, (*seed, 0), check)
    rows = [row for row in result if row.get("p") is not None]
    adjusted = multipletests([row["p"] for row in rows], method="holm")[1] if rows else ()
    for row, p in zip(rows, adjusted, strict=True):
        check.number(f"interventions/{row['judge']}/{row['intervention']}/p_adjusted", row["p_adjusted"], p)


def plain_answers(package, judge, keys):
    """The judge's answers about stories as they are, in the order of seats."""
    rows = package.judges[(package.judges["rater"] == judge) & (package.judges["order"] != "reversed")]
    personas = rows.loc[rows["counts_alone"] == "yes", "persona"]
    rows = rows[rows["persona"].isin(personas) & (rows["outcome"] == "answered") & is_among(rows, keys)]
    return rows.dropna(subset=["number"])


def pair(plain, altered, name):
    """Each last answer about a changed story beside the last about the story as it is that has an earlier seat."""
    columns = [*QUESTION, "seat", "number"]
    both = altered.loc[altered["intervention"] == name, columns].merge(plain[columns], on=QUESTION)
    both = both[both["seat_y"] < both["seat_x"]].sort_values(["seat_x", "seat_y"], kind="stable")
    both = both.drop_duplicates(QUESTION, keep="last")
    return both.rename(columns={"number_y": "before", "number_x": "after"})


def read_twice(plain):
    """The first and the second answer about each story as it is."""
    place = plain.groupby(QUESTION).cumcount()
    first, second = (plain.loc[place == n, [*QUESTION, "number"]] for n in (0, 1))
    both = first.merge(second, on=QUESTION)
    return both.rename(columns={"number_x": "before", "number_y": "after"})


def check_move(package, place, row, stored, both, items, seed, check):
    """The differences with their interval; gives p."""
    factor = 100 if row["kind"] == "verdicts" else 1
    both = both.assign(number=factor * (both["after"] - both["before"]), cluster=package.clusters(both))
    check.number(f"{place}/n", stored["n"], len(both) if stored["value"] is not None else 0)
    if stored["value"] is None or both.empty:
        check.number(f"{place}/value", stored["value"], None)
        return None
    check.numbers(place, stored, value=both["number"].mean(), differing_percent=100 * (both["number"] != 0).mean())
    check.numbers(place, stored, before=factor * both["before"].mean(), after=factor * both["after"].mean())
    keys = set(zip(both["step"], both["item"], strict=True))
    answered = [item for item in items if (item["step"], item["item"]) in keys]
    most = widest(answered)
    bounds = around_zero(None if most is None else factor * most)
    check.interval(place, stored["interval"], "of_mean", both.assign(key=0), (*seed, 1), bounds)
    sums = both.groupby("cluster")["number"].sum().to_numpy()
    sums = sums[np.abs(sums) > 1e-9]
    if not sums.size:
        return None
    if sums.size > MOST_TRIED:
        drawn = np.random.default_rng([*seed, 0]).integers(0, 2, (9_999, sums.size))
        totals = np.concatenate([[sums.sum()], np.where(drawn == 1, 1, -1) @ sums])
    else:
        totals = np.array(list(product([-1, 1], repeat=sums.size))) @ sums
    return float((np.abs(totals) >= abs(sums.sum()) - 1e-9).mean())
