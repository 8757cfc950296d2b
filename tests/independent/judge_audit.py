"""What judges go by beside the story; intervals with numpy and scipy."""

import numpy as np
import pandas as pd
from statsmodels.stats.multitest import multipletests

from tests.independent import lines, traits
from tests.independent.intervals import of_values
from tests.independent.judge_scores import contributions
from tests.independent.judges import UNIT, answers_of_judge, answers_of_people, beside_majority, items_of, judges_of
from tests.independent.material import is_among

BIASES, CALIBRATION = 28, 153  # of the seed
LEVELS = {  # of a judge, within five points
    "none": lambda share: share <= 0.05 + 1e-9,
    "fewer_than_half": lambda share: (share > 0.05 + 1e-9) & (share < 0.45 - 1e-9),
    "half": lambda share: (share >= 0.45 - 1e-9) & (share <= 0.55 + 1e-9),
    "more_than_half": lambda share: (share > 0.55 + 1e-9) & (share < 0.95 - 1e-9),
    "all": lambda share: share >= 0.95 - 1e-9,
}
READING = ["group", "story", "step", "item", "order", "persona"]
PURPOSES = {"modal_share": 1, "explanations": 3, "repeats": 4}  # of the seed


def judge_biases(package, result, check):
    for row in result:
        items = items_of(package, row["kind"])
        own = answers_of_judge(package, row["judge"], items)
        answers = pd.concat([table.assign(key=key) for key, table in enumerate(own)])
        answers["cluster"] = package.clusters(answers)
        place = f"judge_biases/{row['judge']}/{row['kind']}/{row['bias']}"
        if row["bias"] not in PURPOSES:
            of_trait(package, place, row, items, answers, check)
            continue
        at = judges_of(package, items).index(row["judge"])
        seed = (package.seed, BIASES, len(row["kind"]), at, PURPOSES[row["bias"]])
        compute = {function.__name__: function for function in (modal_share, explanations, repeats)}[row["bias"]]
        compute(package, place, row, items, answers, seed, check)
    rows = [row for row in result if row.get("p") is not None]
    adjusted = multipletests([row["p"] for row in rows], method="holm")[1] if rows else ()
    for row, p in zip(rows, adjusted, strict=True):
        check.number(f"judge_biases/{row['judge']}/{row['bias']}/p_adjusted", row["p_adjusted"], p)


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


def of_trait(package, place, row, items, answers, check):
    """What the judge gives for its own family, or for twice the length, where stories are worth the same to people."""
    people = lines.cube_of(package, items, lambda item: answers_of_people(package, item), package.units)
    keys = range(len(items))
    judge = lines.cube_of(package, keys, lambda key: answers[answers["key"] == key], package.units, [row["judge"]])
    if row["bias"] == "verbosity":
        n_words = pd.to_numeric(package.stories.drop_duplicates("story").set_index("story")["n_words"], errors="coerce")
        words = np.array([n_words.get(story) for _group, story in package.units], dtype=float)
        trait = np.log2(np.where(words > 0, words, np.nan))  # of a text that is withheld nothing is known
    else:
        is_own = dict.fromkeys(row["own"], 1.0) | dict.fromkeys(row["others"], 0.0)
        sources = [package.source_by_story.get(story) for _group, story in package.units]
        trait = np.array([is_own.get(source, np.nan) for source in sources])
    clusters, are_verdicts = lines.places_of(package.unit_clusters), row["kind"] == "verdicts"
    stories = [story for _group, story in package.units]
    computed = traits.of_trait(judge[:, 0], people, trait, clusters, stories, are_verdicts)
    answered = [item for key, item in enumerate(items) if (answers["key"] == key).any()]
    ends = {(item["settings"].get("low"), item["settings"].get("high")) for item in answered}
    are_numbers = any(item["level"] == "interval" for item in answered)
    if row["kind"] == "scales" and len(answered) > 1 and (len(ends) > 1 or are_numbers):
        computed = None
    why = row.get("why") or {}
    if least := why.get("values", {}).get("least"):
        is_of_raters = why["code"] == "too_few_raters_for_error"
        check.number(f"{place}/least", least, traits.FEWEST_RATERS if is_of_raters else traits.FEWEST)
    part = {"own_family_yes": "yes", "own_family_no": "no"}.get(row["bias"])
    if computed is None:
        check.numbers(place, row, value=None, n=0)
        return
    check_part(place, row, computed[part or "effect"], computed["n_clusters"], check)
    if part:
        n, n_beside = computed[f"n_{part}"] if computed[part] else (0, None)
        check.numbers(place, row, n=n, n_beside=n_beside)
        return
    check.numbers(place, row, **{name: computed[name] for name in ("n", "people", "n_raters")})
    check.number(f"{place}/beside", row.get("n_beside"), computed.get("n_beside"))
    check_part(f"{place}/held", row["at_equal_ratings"], computed["held"], computed["n_clusters"], check)
    both = computed["effect"], computed["held"]
    ps = [part and part[2] for part in both]
    p = None if None in ps else max(ps) if both[0][0] * both[1][0] > 0 else 1.0
    check.number(f"{place}/p", row.get("p"), p)


def check_part(place, stored, part, n_clusters, check):
    """part : its value, both ends and what is not compared here, or None"""
    value, ends = part[:2] if part else (None, None)
    check.number(f"{place}/value", stored["value"], value)
    check.ends(place, stored["interval"], ends, n_clusters)


def repeats(package, place, row, items, answers, seed, check):
    """The variance of what a judge answered to a question that it read again in the same order, as the same persona."""
    table = read_again(package, row["judge"], items).groupby(READING)["number"].var().reset_index()
    table["cluster"] = package.clusters(table)
    check.numbers(place, row, value=table["number"].mean(), n=len(table))
    check.interval(place, row["interval"], "of_mean", table, seed, (0, None))


def read_again(package, judge, items):
    """The judge's answers to each such question."""
    rows = package.judges[package.judges["rater"] == judge]
    rows = rows[is_among(rows, {(item["step"], item["item"]) for item in items}) & (rows["outcome"] == "answered")]
    rows = rows.dropna(subset=["number"]).drop_duplicates([*READING, "repeat"])  # in the order of seats
    return rows[rows.groupby(READING)["number"].transform("size") > 1]


def with_keys(rows, key_of):
    """The rows with the number of their item."""
    return rows.assign(key=[key_of[pair] for pair in zip(rows["step"], rows["item"], strict=True)])


def probabilities_of_yes(package, judge, key_of):
    """The judge's mean probability of Yes over its readings, where its server gave it of all."""
    rows = package.table("judge_probabilities").astype({"probability": float})
    is_own = (rows["rater"] == judge) & is_among(rows, set(key_of)) & (rows["answer"] == "yes")
    given = package.judges[(package.judges["rater"] == judge) & (package.judges["outcome"] == "answered")]
    n_given = with_keys(given[is_among(given, set(key_of))], key_of).groupby(["key", *UNIT]).size()
    known = with_keys(rows[is_own], key_of).groupby(["key", *UNIT])["probability"].agg(["mean", "size"])
    return known.loc[known["size"] == n_given.reindex(known.index), "mean"].rename("probability")


def judges_calibration(package, result, check):
    """People's share of Yes beside that of the judge's answers to the same question, by regression and by level."""
    items = package.verdicts
    key_of = {(item["step"], item["item"]): key for key, item in enumerate(items)}
    people = package.answers_to_all(items).groupby(["key", *UNIT])["number"].mean().rename("people").reset_index()
    for row in result:
        again = with_keys(read_again(package, row["judge"], items), key_of)
        share = again.groupby(["key", *UNIT])["number"].agg(["mean", "size"])
        probable = probabilities_of_yes(package, row["judge"], key_of)
        share = pd.concat([probable.to_frame("mean").assign(size=np.inf), share])
        share = share[~share.index.duplicated()].reset_index()
        table = share.merge(people, on=["key", *UNIT])
        table["cluster"] = package.clusters(table)
        place = f"judges_calibration/{row['judge']}"
        x, y = table["mean"].to_numpy(), table["people"].to_numpy()
        at = judges_of(package, items).index(row["judge"])
        places = np.unique(table["cluster"], return_inverse=True)[1]
        value, seed = slope(x, y, np.ones((1, len(x))))[0], (package.seed, CALIBRATION, at)
        check.numbers(place, row, n=len(table), value=value, n_probabilities=np.isinf(table["size"]).sum())
        check.number(f"{place}/answers", row["n_answers"], table.loc[np.isfinite(table["size"]), "size"].sum())
        ends = of_values(lambda weights, x=x, y=y: slope(x, y, weights), places, seed, (None, None))
        check.ends(place, row["interval"], ends, places.max() + 1)
        check.number(f"{place}/error", row["error"]["value"], error(table))
        of_chances = 1 - (x * (1 - x) / (table["size"] - 1)).sum() / (len(x) * x.var()) if np.ptp(x) else None
        check.number(f"{place}/best", row["best_slope"]["value"], None if of_chances is None else max(of_chances, 0))
        for level in row["levels"]:
            part, label = table[LEVELS[level["level"]](table["mean"])], f"{place}/{level['level']}"
            check.numbers(label, level, n=len(part), judge_percent=100 * part["mean"].mean())
            check.numbers(label, level, value=100 * part["people"].mean())
            alike = part.assign(number=100 * part["people"]).drop(columns="key")
            check.interval(label, level["interval"], "of_mean", alike, package.draws, (0, 100))


def doubtful_verdicts(package, result, check):
    """Verdicts on which a judge differs from itself or another, by how near the mean over judges is to one half."""
    items = package.verdicts
    shares = []
    for judge in judges_of(package, items):
        if judge not in result["anchored"]:
            tables = [table.assign(key=key) for key, table in enumerate(answers_of_judge(package, judge, items))]
            once = pd.concat(tables).set_index(["key", *UNIT])["number"]
            keys = {(item["step"], item["item"]): key for key, item in enumerate(items)}
            again = with_keys(read_again(package, judge, items), keys)
            repeated = again.groupby(["key", *UNIT])["number"].mean().combine_first(once)
            probable = probabilities_of_yes(package, judge, keys)
            is_sure = LEVELS["none"](probable) | LEVELS["all"](probable)
            shares.append(probable.where(~is_sure, probable.round()).combine_first(repeated))
    judges = pd.concat(shares).groupby(level=[0, 1, 2]).agg(["mean", "count"])
    judges = judges[(judges["mean"] > 0) & (judges["mean"] < 1)]
    people = package.answers_to_all(items).groupby(["key", *UNIT])["number"].agg(["mean", "count"])
    table = judges.join(people.add_suffix("_people")).fillna({"count_people": 0}).reset_index()
    table["far"] = (table["mean"] - 0.5).abs().round(9)
    table = table.sort_values(["far", "count_people", "key", *UNIT])[:200]
    check.number("doubtful_verdicts/n", result["n"], len(judges))
    for row, own in zip(result["rows"], table.to_dict("records"), strict=True):
        place = f"doubtful_verdicts/{row['item']}/{row['group']}/{row['story']}"
        about = (own["group"], own["story"], items[int(own["key"])]["item"])
        is_same = (row["group"], row["story"], row["item"]) == about
        check.numbers(place, row, n_judges=own["count"] if is_same else None, judge_percent=100 * own["mean"])
        check.numbers(place, row, n_people=own["count_people"], people_percent=100 * own["mean_people"])


def slope(x, y, weights):
    """Of y on x by least squares, under each row of weights; nan where x does not vary."""
    n = weights.sum(axis=1)
    mean_x, mean_y = weights @ x / n, weights @ y / n
    both, room = weights @ (x * y) / n - mean_x * mean_y, weights @ (x * x) / n - mean_x**2
    return both / np.where(room > 1e-9, room, np.nan)


def error(table):
    """Root mean square of the levels' distances, without what the jackknife over clusters takes for chance."""

    def mean_square(rows):
        level = np.select([is_at(rows["mean"]) for is_at in LEVELS.values()], range(len(LEVELS)))
        distance = (rows["people"] - rows["mean"]).groupby(level).transform("mean")
        return (distance**2).mean()

    names = table["cluster"].unique()
    if len(names) < 2:
        return None
    without = np.mean([mean_square(table[table["cluster"] != name]) for name in names])
    return 100 * max(len(names) * mean_square(table) - (len(names) - 1) * without, 0) ** 0.5
