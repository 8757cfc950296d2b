"""Where answers are missing, and which raters to ask: reading by reading, and rater by rater, in plain loops."""

import numpy as np
import pandas as pd
from scipy import stats as scipy_stats

from tests.independent.composites import find_score
from tests.independent.contrasts import bounds_of, is_part_of, kind_of, rater_numbers, story_means
from tests.independent.raters import blocks
from tests.independent.words import place_by_story, readings

PARTS, DRAWS = 61, 999  # of the seed; permutations
BEGUN = ("open", "submitted", "given_up")
FEWEST = 5  # stories of a rater, and raters


def missing_answers(package, result, check):
    """The bounds of means, and with what missing answers go."""
    begun = begun_readings(package)
    check.numbers("missing_answers", result, n_readings=len(begun))
    for row in result["bounds"]:
        bounds(package, row, check)
    if not result["parts"]:
        return
    ps, labels = {}, {}
    for aspect, label in aspects(begun).items():
        if label.dropna().nunique() > 1:
            labels[aspect] = label
    ps = permuted_ps(begun, labels, np.random.default_rng([package.seed, PARTS]))
    check.number("missing_answers/aspects", len(result["parts"]), len(labels))
    order = sorted(ps, key=ps.get)
    corrected = np.minimum(np.maximum.accumulate([ps[name] * (len(order) - n) for n, name in enumerate(order)]), 1)
    for row in result["parts"]:
        is_here = labels[row["aspect"]].dropna() == row["label"]
        own, others = begun.loc[is_here.index[is_here]], begun.loc[is_here.index[~is_here]]
        check.numbers(
            f"missing_answers/{row['aspect']}",
            row,
            percent=100 * own["missing"].sum() / own["asked"].sum(),
            others=100 * others["missing"].sum() / others["asked"].sum(),
            p=ps[row["aspect"]],
            p_adjusted=corrected[order.index(row["aspect"])],
        )


def begun_readings(package):
    """Every story that a rater began with, with what is missing."""
    seats = package.table("assignments").query("rater_kind == 'person' and seat != '' and is_second_reading != 'True'")
    seats = seats[seats["status"].isin(BEGUN)]
    seats = seats[~((seats["status"] == "given_up") & (seats["read_before"] == "True"))]
    real = seats[seats["is_simulated"] != "True"]
    seats = real if len(real) else seats
    counted = {(item["step"], item["item"]) for item in (*package.verdicts, *package.scales, *choices(package))}
    answers = package.all_people
    answers = answers[(answers["outcome"] == "answered") & answers["status"].isin(BEGUN)]
    given = {}
    asked = set()
    for row in answers[["rater", "group", "story", "step", "item"]].itertuples(index=False):
        if (row.step, row.item) in counted:
            asked.add((row.step, row.item))
            given[row.rater, row.group, row.story] = given.get((row.rater, row.group, row.story), 0) + 1
    places = place_by_story(package)
    rows = [
        {
            "rater": seat.rater,
            "group": seat.group,
            "story": story,
            "source": package.source_by_story.get(story),
            "place": places.get((seat.rater, seat.group, seat.seat, story), np.nan),
            "missing": len(asked) - given.get((seat.rater, seat.group, story), 0),
            "asked": len(asked),
            "ended": seat.status == "submitted",
        }
        for seat in seats.itertuples()
        for story in package.parse(seat.stories)
        if asked
    ]
    return pd.DataFrame(rows).sort_values(["rater", "group", "story"], ignore_index=True) if rows else pd.DataFrame()


def choices(package):
    """Items by which one of several options is chosen about a story."""
    return [i for i in package.items if i["is_about_a_story"] and i["level"] == "nominal" and not i["is_verdict"]]


def aspects(begun):
    """Of each reading where it is, by what may matter; empty where it is nowhere."""
    rank = begun.groupby("rater")["place"].rank(method="first") - 1
    last = begun.groupby("rater")["place"].transform("count") - 1
    begun["relative"] = (2 * rank / last.clip(lower=1) - 1).where(last > 0).fillna(0.0)
    half = np.where(begun["relative"] > 0, "later", np.where(begun["relative"] < 0, "earlier", None))
    return {
        "source": begun["source"],
        "story": begun["story"],
        "place": pd.Series(half, index=begun.index),
        "rater": begun["rater"].where(begun["ended"]),
    }


def permuted_ps(begun, labels, rng):
    """p of each aspect by the permutations that the report draws, each made and counted by itself."""
    begun = begun.assign(size=begun.groupby(["rater", "group"])["story"].transform("size"))
    within = begun[begun.groupby("rater")["missing"].transform("sum") > 0]
    within = within.sort_values(["rater", "size", "group"], kind="stable")
    blocks = list(within.groupby(["rater", "size", "group"], sort=False).indices.values())
    rows = pd.factorize(pd.Series([(within["rater"].iloc[b[0]], len(b)) for b in blocks]))[0]
    block = np.repeat(np.arange(len(blocks)), [len(places) for places in blocks])
    start = np.array([places[0] for places in blocks])
    by_block, by_reading = rng.random((DRAWS, len(blocks))), rng.random((DRAWS, len(within)))
    missing = within["missing"].to_numpy(dtype=float)
    mean = within.groupby(["rater", "size"])["missing"].transform("mean").to_numpy()
    n_as_far = dict.fromkeys(labels, 0)
    tests = {
        name: statistic(within, name, of.loc[within.index], mean) for name, of in labels.items() if name != "rater"
    }
    own = {name: test(missing) for name, test in tests.items()}
    for draw in range(DRAWS):
        to_block = np.argsort(rows + by_block[draw])
        to_reading = np.argsort(block + by_reading[draw])
        moved = np.zeros(len(within))
        for place, value in enumerate(missing):
            in_block = to_reading[place] - start[block[place]]
            moved[start[to_block[block[place]]] + in_block] = value
        for name, test in tests.items():
            n_as_far[name] += test(moved) >= own[name] - 1e-9 - 1e-9 * own[name]
    if "rater" in labels:
        ended = begun[begun["ended"]]
        missing = ended["missing"].to_numpy(dtype=float)
        test = statistic(ended, "rater", ended["rater"], np.full(len(ended), missing.mean()))
        if missing.any():
            for keys in rng.random((DRAWS, len(ended))):
                moved = np.zeros(len(ended))
                moved[np.argsort(keys)] = missing
                n_as_far["rater"] += test(moved) >= test(missing) * (1 - 1e-9) - 1e-9
        else:
            n_as_far["rater"] = DRAWS
    return {name: (1 + n) / (1 + DRAWS) for name, n in n_as_far.items()}


def statistic(table, name, labels, mean):
    """How far missing answers lie from where they are expected, as a function of them."""
    if name == "place":
        relative = table["relative"].to_numpy()
        return lambda missing: abs(float((relative * (missing - mean)).sum()))
    members = pd.get_dummies(labels).to_numpy(dtype=float)
    expected = members.T @ mean
    members, expected = members[:, expected > 0], expected[expected > 0]
    return lambda missing: float(((members.T @ missing - expected) ** 2 / expected).sum())


def bounds(package, row, check):
    """The lowest and highest mean of a source that missing answers leave open; places are as in the report."""
    key, place = row["outcome"], f"missing_answers/{row['outcome']}/{row['source']}"
    kind = kind_of(package, key)
    low, high = bounds_of(package, {**row, "key": key}, kind)
    numbers = complete_numbers(package, key, kind)
    n_seats = {group["group"]: group["n_seats"] for group in package.report["progress"]["groups"]}
    lowest, highest, n_missing, n_expected = [], [], 0, 0
    for group, story in package.units:
        if package.source_by_story.get(story) != row["source"]:
            continue
        own = numbers[(numbers["group"] == group) & (numbers["story"] == story)]["number"]
        expected = max(n_seats[group], len(own))
        if expected:
            lacking = expected - len(own)
            lowest.append((own.sum() + lacking * low) / expected)
            highest.append((own.sum() + lacking * high) / expected)
            n_missing, n_expected = n_missing + lacking, n_expected + expected
    means = story_means(package, key, kind)
    value = means[means["source"] == row["source"]]["number"].mean()
    check.numbers(place, row, value=value, low=np.mean(lowest), high=np.mean(highest))
    check.numbers(place, row, n_missing=n_missing, n_expected=n_expected)


def complete_numbers(package, key, kind):
    """Numbers of raters who answered all items of the outcome about a story."""
    numbers = rater_numbers(package, key, kind)
    if find_score(package, key):
        return numbers
    items = [item for item in package.items if item["is_about_a_story"] and is_part_of(item, key, kind)]
    n = package.answers_to_all(items).groupby(["rater", "group", "story"])["number"].count()
    whole = n[n == len(items)].reset_index()[["rater", "group", "story"]]
    return numbers.merge(whole, on=["rater", "group", "story"])


# ── raters to ask ──────────────────────────────────────────────────────────────────────────────────────────────────


def rater_questions(package, result, check):
    """Each rater beside the others, with Grubbs's test written as the t of a value left out."""
    on_scales = [(kind, items) for kind, items in blocks(package) if kind != "numbers"]
    minutes = minutes_by_rater(package)
    n_tests = 3 * len(on_scales) + (minutes is not None)
    check.numbers("rater_questions", result, n_raters=len(package.raters), n_tests=n_tests)
    named = {}
    for kind, items in on_scales:
        title = title_of(kind, items)
        rows = questions_of_block(package, kind, items)
        constant = {rater for sign, rater, *_row, p in rows if sign == "same_answer" and p * n_tests <= 0.05}
        for sign, rater, *row in rows:
            if row[-1] * n_tests <= 0.05 and not (sign == "severity" and rater in constant):
                named[rater, sign, kind, title] = row
    for rater, (value, n, others, p) in (minutes or {}).items():
        if p * n_tests <= 0.05:
            named[rater, "pace", "", ""] = value, others, n, 0, p
    check.number("rater_questions/rows", len(result["rows"]), len(named))
    for row in result["rows"]:
        key = row["rater"], row["sign"], row.get("kind", ""), row.get("title", "")
        if key not in named:
            check.number(f"rater_questions/{key}", 1, 0)
            continue
        value, others, n_stories, n_answers, p = named[key]
        counted = {"n_stories": n_stories, "n_answers": n_answers}
        check.numbers(f"rater_questions/{key}", row, value=value, others=others, p=p * n_tests, **counted)


def title_of(kind, items):
    if len(items) == 1:
        return items[0]["title"] or items[0]["item"]
    return "" if kind == "verdicts" else f"{items[0]['settings']['low']}–{items[0]['settings']['high']}"


def questions_of_block(package, kind, items):
    """Sign, rater, value, the others' median, stories, answers and p, of every rater of whom there is one."""
    table = package.answers_to_all(items)[["rater", "key", "group", "story", "number"]]
    unit = ["group", "story"]
    of_same = table.groupby(["key", *unit])["number"]
    n_others = of_same.transform("size") - 1
    shared = table.assign(others=(of_same.transform("sum") - table["number"]) / n_others)[n_others > 0]
    severity, distance, constant = {}, {}, {}
    for rater in package.raters:
        own, all_own = shared[shared["rater"] == rater], table[table["rater"] == rater]
        if own.groupby(unit).ngroups >= FEWEST:
            less = (own["number"] - own["others"]).groupby([own[name] for name in unit])
            severity[rater] = less.mean().mean()
            squares = ((own["number"] - own["others"] - severity[rater]) ** 2).groupby([own[name] for name in unit])
            if squares.mean().mean() > 0:
                distance[rater] = np.log(squares.mean().mean())
        values = all_own["number"].unique()
        if len(values) == 1 and all_own.groupby(unit).ngroups >= FEWEST:
            among = table[table["rater"] != rater].merge(all_own[unit].drop_duplicates(), on=unit)
            if (among["number"] != values[0]).any():
                constant[rater] = values[0]
    if kind == "verdicts":
        severity = excesses(package, table, shared, 1.0)
    same = {}
    for answer in set(constant.values()):
        ps = apart(excesses(package, table, shared, answer), tails=1)
        same |= {rater: ps[rater] for rater, value in constant.items() if value == answer and rater in ps}
    shown = {rater: np.exp(value / 2) for rater, value in distance.items()}
    parts = (("severity", severity, apart(severity, tails=2)), ("agreement", shown, apart(distance, tails=1)))
    n_stories = table.groupby("rater")[unit].apply(lambda own: len(own.drop_duplicates()))
    n_answers = table.groupby("rater").size()
    rows = [("same_answer", rater, constant[rater], None, p) for rater, p in same.items()]
    rows += [
        (sign, rater, values[rater], np.median([v for r, v in values.items() if r != rater]), p)
        for sign, values, ps in parts
        for rater, p in ps.items()
    ]
    return [(sign, rater, v, others, n_stories[rater], n_answers[rater], p) for sign, rater, v, others, p in rows]


def excesses(package, table, shared, answer):
    """By how many log odds each rater gives that answer more often than the others, two added on either side."""
    is_given = table["number"] == answer
    of_same = is_given.groupby([table["key"], table["group"], table["story"]])
    expected = (of_same.transform("sum") - is_given) / (of_same.transform("size") - 1)
    values = {}
    for rater in package.raters:
        own = shared.index[shared["rater"] == rater]
        if shared.loc[own].groupby(["group", "story"]).ngroups >= FEWEST:
            n, yes, others = len(own), is_given[own].sum(), expected[own].sum()
            values[rater] = np.log((yes + 2) / (n - yes + 2)) - np.log((others + 2) / (n - others + 2))
    return values


def apart(values, *, tails):
    """p of each value beside the others, times how many there are; tails : 2, or 1 for too high"""
    ps = {}
    for rater, value in values.items() if len(values) >= FEWEST else ():
        others = np.array([v for r, v in values.items() if r != rater])
        if others.std(ddof=1) < 1e-9:
            continue
        t = (value - others.mean()) / (others.std(ddof=1) * np.sqrt(1 + 1 / len(others)))
        p = scipy_stats.t.sf(abs(t) if tails == 2 else t, len(others) - 1) * tails
        ps[rater] = min(1.0, p * len(values))
    return ps


def minutes_by_rater(package):
    """Of each rater the median minutes a story, how many, the others' median, and p of being so fast; None of few."""
    if not package.report["pace"]:
        return None
    table = readings(package)
    of_rater = table[table["minutes"] > 0].groupby("rater")["minutes"].agg(["median", "size"])
    of_rater = of_rater[of_rater["size"] >= FEWEST]
    if len(of_rater) < FEWEST:
        return None
    ps = apart((-np.log(of_rater["median"])).to_dict(), tails=1)
    return {
        rater: (row["median"], row["size"], of_rater["median"].drop(rater).median(), ps[rater])
        for rater, row in of_rater.iterrows()
        if rater in ps
    }
