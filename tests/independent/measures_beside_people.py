"""What metrics and scores from elsewhere say of stories and pairs, beside what people say of the same."""

import math

import pandas as pd

from tests.independent import floors
from tests.independent.contrasts import kind_of, story_means
from tests.independent.judge_scores import STATISTICS
from tests.independent.material import place_of
from tests.independent.pairs import list_pairs

MEASURES = 71  # of the seed
COEFFICIENTS = ("spearman", "kendall_tau")
OF_PAIRS = 100  # of the seed: the number of a question about pairs is added


def measures_beside_people(package, result, check):
    """More is better on both sides: scores of which less is better, and places in an order, are turned."""
    rows = package.one_value[package.one_value["rater_kind"] == "metric"]
    for n, stored in enumerate(result["measures"]):
        own = rows[(rows["step"] == stored["step"]) & (rows["item"] == stored["item"])]
        own = own[own["rater"] == stored["metric"]]
        numbers = own["number"] * (-1 if stored["better"] == "lower" else 1)
        scores = dict(zip(zip(own["group"], own["story"], strict=True), numbers, strict=True))
        place = place_of("measures_beside_people", stored, stored["metric"])
        for m, row in enumerate(stored["correlations"]):
            correlation(package, f"{place}/{row['outcome']}", row, scores, (package.seed, MEASURES, n, m), check)
        accuracies(package, place, stored, scores, (package.seed, MEASURES, n), check)


def correlation(package, place, row, scores, seed, check):
    """Rank correlations with one outcome, over stories in their groups."""
    kind = kind_of(package, row["outcome"])
    table = story_means(package, row["outcome"], kind)
    units = list(zip(table["group"], table["story"], strict=True))
    table["judge"] = [scores.get(unit, math.nan) for unit in units]
    table["people"] = table["number"] * (-1 if kind == "rank" else 1)
    order = {unit: n for n, unit in enumerate(package.units)}
    table = table.assign(key=0, at=[order[unit] for unit in units]).sort_values("at")
    both = table.dropna(subset=["judge", "people"])
    tied, tied_people = (int(both[name].duplicated(keep=False).sum()) for name in ("judge", "people"))
    check.numbers(place, row, n=len(both), n_tied=tied, n_tied_people=tied_people)
    for k, (name, stored) in enumerate(zip(COEFFICIENTS, row["coefficients"], strict=True)):
        label = f"{place}/{name}"
        check.numbers(label, stored, value=STATISTICS[name](both) if len(both) > 1 else None, n_units=len(both))
        check.interval(label, stored["interval"], "of_score", name, both, False, (*seed, k), (-1, 1))
        if stored["floor"]["mean"] is not None:
            sides = (both[side].to_numpy(dtype=float)[None] for side in ("judge", "people"))
            ((shuffled, people),) = floors.shuffled_judge(*sides, None, (*seed, k, 1))
            compute = {"spearman": floors.spearmans, "kendall_tau": floors.kendall_taus}[name]
            check.floor(label, stored["floor"], compute(shuffled, people))


def accuracies(package, place, stored, scores, seed, check):
    """Of pairs that most people agree on, how often the better-scored story is the one they prefer; a tie is half."""
    computed = []
    for k, item in enumerate(item for item in package.items if item["is_preference"]):
        pairs = list_pairs(package, item)[1].dropna(subset=["preferred"])
        right = [is_right(row, scores, stored["about"] == "pairs") for row in pairs.to_dict("records")]
        if right:
            clusters = pairs["group"].map(package.cluster_by_group).to_list()
            computed.append((k, pd.DataFrame({"number": right, "cluster": clusters})))
    if len(computed) != len(stored["accuracies"]):
        counts = {"report": len(stored["accuracies"]), "recomputed": len(computed)}
        check.differences.append({"place": f"{place}/pairs", **counts})
        return
    for (k, table), row in zip(computed, stored["accuracies"], strict=True):
        label, scored = f"{place}/{row['title']}", table.dropna()
        n_tied = (scored["number"] == 0.5).sum()
        value = 100 * scored["number"].mean() if len(scored) else None
        check.numbers(label, row, value=value, n=len(scored), n_tied=n_tied, n_missing=len(table) - len(scored))
        check.interval(label, row["interval"], "of_rate", scored, (*seed, OF_PAIRS + k))
        if len(scored):
            check.floor(label, row["floor"], floors.of_coins(len(scored), n_tied, (*seed, OF_PAIRS + k, 1)))


def is_right(pair, scores, is_of_pairs):
    """1, 0, or a half for a tie; nan without a score. A pair's own score is for the story whose code comes first."""
    if is_of_pairs:
        difference = scores.get((pair["group"], ""), math.nan)
    else:
        first, second = (scores.get((pair["group"], story), math.nan) for story in pair["stories"])
        difference = first - second
    if math.isnan(difference):
        return math.nan
    return 0.5 if difference == 0 else float((difference < 0) == (pair["preferred"] == 1))
