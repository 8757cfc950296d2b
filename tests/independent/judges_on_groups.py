"""Judges on pairs, in both orders, and on rankings of a group, beside what people chose."""

import json
from collections import Counter

import pandas as pd

from tests.independent import floors, intervals, lines
from tests.independent.judge_scores import kendall_tau
from tests.independent.judges import check_line
from tests.independent.material import place_of

PAIRS, RANKINGS = 25, 26  # of the seed


def judges_on_pairs(package, result, check):
    """A judge's choices of a pair in both orders beside what more than half of the people chose."""
    pairs = package.table("pairs") if result else pd.DataFrame()
    for salt, at, row in numbered_rows(package, result, "is_preference"):
        rows = pairs[(pairs["step"] == row["step"]) & (pairs["item"] == row["item"])]
        chosen = package.counted(rows, "person")
        people = choices_of_people(chosen)
        table = choices_of_judge(package, package.counted(rows, "judge"), row["judge"], people).join(people)
        table["is_unanimous"] = table["is_unanimous"].eq(True)  # nobody's choices are not alike
        place = place_of("judges_on_pairs", row, row["judge"])
        in_known_order = table[table["is_known"]]
        check.numbers(place, row, n_pairs=len(table), n_both=(in_known_order["n_orders"] == 2).sum())
        check.number(f"{place}/people", row["n_people"], chosen["rater"].nunique())
        parts = {
            "all": table.index == table.index,
            "models": table["is_of_models"],
            "unanimous": table["is_unanimous"],
            "split": (table["n_choices"] > 1) & ~table["is_unanimous"],
        }
        values = {
            "accuracy": table["right"].where(table["preferred"].notna()),
            "flip_rate": table["changed"].where(table["is_known"]),
            "first_rate": table["first"].where(table["is_known"]),
        }
        for place_of_score, stored in enumerate(row["scores"]):
            for n, part in enumerate(stored["parts"]):
                number = 100 * values[stored["statistic"]][parts[part["part"]]].dropna()
                seed = (package.seed, PAIRS, salt, at, place_of_score, n)
                label = f"{place}/{stored['statistic']}"
                check_mean(package, label, part, number, (*seed, 0), (0, 100), check)
                if part["floor"]["mean"] is not None:
                    # What it would be had the judge chosen the other story of the pair.
                    side = {"accuracy": "wrong", "first_rate": "second"}[stored["statistic"]]
                    other = table[side].reindex(number.index)
                    check.floor(label, part["floor"], floors.of_flips(number / 100, other, (*seed, 1)))
        if at == 0:
            n_stories = Counter(group for group, _story in package.units)
            groups = sorted(group for group, n in n_stories.items() if n == 2)
        if row.get("person_lines"):
            line_of_people(package, place, row, chosen, groups, salt, check)


def line_of_people(package, place, row, chosen, groups, salt, check):
    """How often one of the people prefers what most of the others do, in percent."""
    stories = {group: [story for of, story in package.units if of == group] for group in groups}
    first = chosen[chosen["group"].isin(groups)].drop_duplicates(["rater", "group"])
    choices = zip(first["group"], first["chosen"], strict=True)
    numbers = [stories[group].index(story) if story in stories[group] else -1 for group, story in choices]
    answers = first.assign(number=numbers, story="")
    people = lines.cube_of(package, [0], lambda _item: answers, [(group, "") for group in groups])
    clusters = [package.cluster_by_group[group] for group in groups]
    rng = intervals.generator((package.seed, PAIRS, salt, 99))
    value, ends, n_units, n_people = lines.among_people(people, lines.places_of(clusters), "preference", rng)
    ends = ends and (100 * max(ends[0], 0), 100 * min(ends[1], 1))
    check_line(f"{place}/line", row["person_lines"][0], (100 * value, ends, n_units, n_people), clusters, check)


def choices_of_people(chosen):
    """By group: the story that more than half chose, whether all chose alike, how many chose."""
    by_group = chosen.groupby("group")["chosen"]
    n, n_by_story = by_group.size(), chosen.groupby(["group", "chosen"]).size()
    best = n_by_story[n_by_story * 2 > n.reindex(n_by_story.index, level="group")].reset_index()
    best = best[best["chosen"] != ""].set_index("group")["chosen"]
    table = pd.DataFrame({"n_choices": n, "is_unanimous": (n > 1) & (by_group.nunique() == 1)})
    return table.assign(preferred=best.reindex(table.index))


def choices_of_judge(package, rows, judge, people):
    """By group what the judge chose in the order that counts and in the other: shares over its orders."""
    rows = rows[rows["rater"] == judge]
    rows = rows.assign(seat=pd.to_numeric(rows["seat"])).sort_values("seat", kind="stable")
    alone = package.judges[(package.judges["rater"] == judge) & (package.judges["counts_alone"] == "yes")]
    persona = alone.drop_duplicates("group").set_index("group")["persona"]
    is_same = rows["persona"] == rows["group"].map(persona)
    rows = rows[is_same & rows["repeat"].isin(["", "1"])]
    rows = rows.assign(stories=rows["stories"].map(json.loads))
    rows = rows[rows["stories"].map(len) == 2]
    rows = rows.assign(shown_first=rows["stories"].str[0]).drop_duplicates(["group", "shown_first"])
    rows = rows.assign(
        right=(rows["chosen"] == rows["group"].map(people["preferred"])) * 1.0,
        wrong=rows["chosen"].ne(rows["group"].map(people["preferred"])) * (rows["chosen"] != "") * 1.0,
        first=(rows["chosen"] == rows["shown_first"]) * 1.0,
        second=rows["chosen"].ne(rows["shown_first"]) * (rows["chosen"] != "") * 1.0,
        is_of_models=rows["stories"].map(lambda two: all(package.kind_of(s) == "language_model" for s in two)),
        is_known=rows["order_is_known"] == "True",
    )
    shares = ["right", "wrong", "first", "second"]
    # Of a judge that chose nowhere there is no row to tell the types by.
    rows = rows.astype({**dict.fromkeys(shares, float), "is_of_models": bool, "is_known": bool})
    by_group = rows.groupby("group")
    table = by_group[shares].mean()
    table = table.join(by_group.agg({"is_of_models": "first", "is_known": "all"}))
    n_orders = by_group.size()
    changed = (by_group["chosen"].nunique() > 1) * 1.0
    return table.assign(n_orders=n_orders, changed=changed.where(n_orders == 2))


def judges_on_rankings(package, result, check):
    """A judge's ranking beside those of people: Kendall's tau-b with their mean ranks, the mean over groups."""
    for salt, at, row in numbered_rows(package, result, "is_ranking"):
        item = package.item(row)
        orders = package.judge_answers(row["judge"], item)
        of_judge = {group: ranks_of(value) for group, value in zip(orders["group"], orders["value"], strict=True)}
        people = package.answers(row["step"], row["item"])
        of_people = {g: [ranks_of(v) for v in rows["value"]] for g, rows in people.groupby("group")}
        check.number(place_of("judges_on_rankings", row, "people"), row["n_people"], people["rater"].nunique())
        for n, part in enumerate(row["scores"][0]["parts"]):
            taus, beside = {}, {}
            for group, ranks in sorted(of_judge.items()):
                others = of_people.get(group, [])
                if others and is_in_part(part["part"], others):
                    beside[group] = both_ranks(package, part["part"], ranks, others)
                    taus[group] = kendall_tau(beside[group])
            number = pd.Series(taus, dtype=float).dropna()
            seed, place = (package.seed, RANKINGS, salt, at, n), place_of("judges_on_rankings", row, row["judge"])
            check_mean(package, place, part, number, (*seed, 0), (-1, 1), check)
            if part["floor"]["mean"] is not None:
                tables = [beside[group].to_numpy().T for group in number.index]
                check.floor(place, part["floor"], floors.of_groups(tables, (*seed, 1)))


def is_in_part(part, orders):
    """Whether people's orders of a group make it one of the part; a part of another name holds all."""
    is_unanimous = len(orders) > 1 and all(order == orders[0] for order in orders)
    return {"unanimous": is_unanimous, "split": len(orders) > 1 and not is_unanimous}.get(part, True)


def both_ranks(package, part, ranks, others):
    means = pd.DataFrame(others).mean()
    table = pd.DataFrame({"judge": pd.Series(ranks, dtype=float), "people": means}).dropna()
    if part == "models":
        table = table[[package.kind_of(story) == "language_model" for story in table.index]]
    return table


def ranks_of(value):
    """The rank of each story, 1 the first; shared places share their ranks."""
    ranks, before = {}, 0
    for place in json.loads(value):
        ranks |= dict.fromkeys(place, before + (len(place) + 1) / 2)
        before += len(place)
    return ranks


def numbered_rows(package, result, kind):
    """Of each row the number of its item among those of its kind, and of its judge among those of the item."""
    of_kind = [(item["step"], item["item"]) for item in package.items if item[kind]]
    n_before = dict.fromkeys(of_kind, 0)
    for row in result:
        key = (row["step"], row["item"])
        yield of_kind.index(key), n_before[key], row
        n_before[key] += 1


def check_mean(package, place, part, number, seed, bounds, check):
    """A mean over groups. number : a series by group; bounds : as `intervals.clip` has them"""
    label = f"{place}/{part['part']}"
    check.number(label, part["value"], number.mean() if len(number) else None)
    check.number(f"{label}/n", part["n"], len(number))
    if len(number):
        check.number(f"{label}/n_units", part["n_units"], len(number))
        clusters = number.index.map(package.cluster_by_group)
        answers = pd.DataFrame({"number": number.to_numpy(), "cluster": clusters})
        check.interval(label, part["interval"], "of_mean", answers, seed, bounds)
