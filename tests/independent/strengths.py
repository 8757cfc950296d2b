"""How strong sources and stories are: Bradley-Terry of pairs, Luce of choices, Plackett-Luce of orders.

Of a set the competitor of strength s is taken with probability exp(s) over the sum of all; an order is a row of such
decisions. Of competitors that share a place each is taken equally often from all that are left (Breslow).
"""

import json
from collections import Counter
from math import exp

from tests.independent import decided
from tests.independent.material import place_of


def strengths(package, result, check):
    """Strengths of sources or stories from what was decided, with mean 0, and their intervals."""
    for row in result:
        item, place = package.item(row), place_of("strengths", row, row["unit"])
        name_of = package.source_by_story.get if row["unit"] == "sources" else str
        orders = named_orders(package, item, name_of)
        n_shared = sum(any(len(group) > 1 for group in places) for places, _rest, _cluster in orders)
        clusters = list(dict.fromkeys(cluster for _places, _rest, cluster in orders))
        check.numbers(place, row, n_answers=len(orders), n_shared=n_shared, n_clusters=len(clusters))
        names = sorted({name for places, rest, _cluster in orders for part in (*places, rest) for name in part})
        decisions = [decision for order in orders for decision in decisions_of(order)]
        material = decided.SharedDecisions(names, clusters, decisions)
        values = material.fit_all()
        if values is None:
            reason = (row.get("why") or {}).get("values", {})
            check.number(f"{place}/sets", reason.get("n"), material.count_parts() if "n" in reason else None)
            continue
        ends = material.intervals(package.draws)
        for stored in row["strengths"]:
            n, label = names.index(stored["name"]), f"{place}/{stored['name']}"
            value, taken, stood = values[n], material.wins[:, n].sum(), material.count_stood(n)
            check.numbers(label, stored, value=value, percent=100 / (1 + exp(-value)), n_taken=taken, n=stood)
            check.ends(label, stored["interval"], ends[n], len(clusters))


def named_orders(package, item, name_of):
    """What raters said of a group's stories: places, from the first, the rest, and the cluster; by names."""
    rows = []
    if item["is_preference"]:
        pairs = package.people_of("pairs")
        pairs = pairs[(pairs["step"] == item["step"]) & (pairs["item"] == item["item"])]
        pairs = pairs.sort_values(["group", "rater"])
        for group, stories, chosen in zip(
            pairs["group"], pairs["stories"].map(json.loads), pairs["chosen"], strict=True
        ):
            rest = [story for story in stories if story != chosen] if chosen else []
            rows.append((group, [[chosen]] if chosen else [stories], rest))
    else:
        answers = package.answers(item["step"], item["item"])
        rows = [(group, json.loads(value), []) for group, value in zip(answers["group"], answers["value"], strict=True)]
    orders = []
    for group, places, rest in rows:
        # Of a choice it must be known what was chosen, and from what.
        if rest and not all(name_of(story) for story in [*places[0], *rest]):
            continue
        named = [[name_of(story) for story in place if name_of(story)] for place in places]
        others = [name_of(story) for story in rest]
        if len({name for part in (*named, others) for name in part}) > 1:
            orders.append(([part for part in named if part], others, package.cluster_by_group[group]))
    return orders


def decisions_of(order):
    """Each decision: the cluster, the set that it was out of, how many were taken in turn, and who."""
    places, rest, cluster = order
    left = [*(name for place in places for name in place), *rest]
    for place in places:
        members = Counter(left)
        n_stages = len(place) - (len(place) == len(left))
        for name in place:
            left.remove(name)
        if n_stages and len(members) > 1:
            yield cluster, members, n_stages, place
