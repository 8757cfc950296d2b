"""Pairs and orders of stories: strengths after Bradley and Terry, lengths, and who prefers what most people do."""

import math
import statistics

import numpy as np
from recompute.readings import judged_pairs, majority, pairs_of
from recompute.values import N_RESAMPLES, ends_of, mean_interval, share, why

from stats import judge_orders
from stats import strengths as bradley_terry
from stats.reasons import Incomputable

LENGTHS, ACCURACIES, MOST_BINS = 67, 68, 20  # of the seed; bars of a histogram


def strengths(package):
    """Of each question about pairs or orders the strengths of sources, and of stories."""
    rows = []
    for item in package.items:
        orders, groups = stories_in_order(package, item)
        if orders:
            clusters = package.clusters_of(groups)
            rows.append(table_of(package, item, orders, clusters, "sources", package.source_of))
            rows.append(table_of(package, item, orders, clusters, "stories", str))
    return rows


def stories_in_order(package, item):
    """What each rater said of a group's stories, as places and the rest of which nothing else was said."""
    if item.is_preference:
        chosen = package.choices_of(item)
        orders = [
            ([[c.story]], [story for story in c.order if story != c.story]) if c.story else ([list(c.order)], [])
            for c in chosen
        ]
        return orders, [choice.group for choice in chosen]
    if not item.is_ranking:
        return [], []
    orders, groups, _raters = package.orders(item)
    return [(order, []) for order in orders], groups


def table_of(package, item, orders, clusters, unit, name_of):
    compared = named(orders, clusters, name_of)
    names = sorted({name for (places, rest), _cluster in compared for place in (*places, rest) for name in place})
    index = {name: n for n, name in enumerate(names)}
    entered = [
        bradley_terry.Order([[index[n] for n in place] for place in places if place], [index[n] for n in rest])
        for (places, rest), _cluster in compared
    ]
    fields = item.fields | {
        "unit": unit,
        "n_answers": len(compared),
        "n_shared": sum(any(len(place) > 1 for place in places) for (places, _rest), _cluster in compared),
        "n_clusters": len({cluster for _order, cluster in compared}),
    }
    decided = bradley_terry.decisions(entered, [cluster for _order, cluster in compared], len(names))
    try:
        values = bradley_terry.strengths(decided)
    except Incomputable as error:
        return fields | {"why": why(error)}
    ends = bradley_terry.strength_intervals(decided, rng=package.resampling(), n_resamples=N_RESAMPLES)
    n_decided, wins = decided.n.sum(axis=0) @ (decided.sets > 0), decided.wins.sum(axis=0)
    rows = [
        {
            "name": name,
            "value": values[n],
            "interval": ends_of(ends[n]),
            "percent": 100 / (1 + math.exp(-values[n])),
            "n_taken": wins[n],
            "n": n_decided[n],
        }
        for name, n in index.items()
    ]
    return fields | {"strengths": sorted(rows, key=lambda row: (-row["value"], row["name"]))}


def named(orders, clusters, name_of):
    """The orders between what stories are named by, of those that compare two of them, each with its cluster."""
    rows = [
        (([[name_of(s) for s in place if name_of(s)] for place in places], [name_of(s) for s in rest]), cluster)
        for (places, rest), cluster in zip(orders, clusters, strict=True)
        if not rest or all(name_of(s) for s in [*places[0], *rest])
    ]
    return [row for row in rows if len({name for place in (*row[0][0], row[0][1]) for name in place}) > 1]


def list_pairs(package, item):
    """Every group of two stories with a choice: group, stories, the place of the preferred one or nan, and words."""
    stories_by_group = {}
    for choice in package.choices_of(item):
        stories_by_group.setdefault(choice.group, []).append(choice.story)
    return [
        (group, codes, majority(stories_by_group[group], codes), [package.n_words[code] for code in codes])
        for group, codes in pairs_of(package).items()
        if group in stories_by_group
    ]


def pair_lengths(package):
    """How long the stories are that people prefer, beside those that they do not."""
    rows = []
    for salt, item in enumerate(package.preferences):
        pairs = list_pairs(package, item)
        decided = [pair for pair in pairs if not math.isnan(pair[2])]
        measured = [pair for pair in decided if not any(map(math.isnan, pair[3]))]
        if not measured:
            continue
        words = [(of_both[int(best)], of_both[1 - int(best)]) for _group, _codes, best, of_both in measured]
        chosen, rejected = zip(*words, strict=True)
        differences = np.array(chosen, dtype=float) - np.array(rejected, dtype=float)
        is_longer, clusters = (
            np.where(differences == 0, np.nan, differences > 0),
            package.clusters_of(p[0] for p in measured),
        )
        rngs = [package.rng(LENGTHS, salt, n) for n in range(2)]
        n_longer = {"n": np.isfinite(is_longer).sum()}
        difference = {"value": differences.mean(), "n": differences.size}
        rows.append(
            item.fields
            | {
                "n_pairs": len(measured),
                "n_undecided": len(pairs) - len(decided),
                "n_withheld": len(decided) - len(measured),
                "n_alike": (differences == 0).sum(),
                "median_chosen": statistics.median(chosen),
                "median_rejected": statistics.median(rejected),
                "mean_chosen": np.mean(chosen),
                "mean_rejected": np.mean(rejected),
                "longer": share(is_longer, clusters, rngs[0]) | n_longer,
                "difference": difference | {"interval": mean_interval(differences, clusters, rngs[1])},
                "bins": list(bins_of(differences)),
            }
        )
    return rows


def bins_of(differences):
    """Bins of one round width, the same to both sides of 0, that hold all differences."""
    farthest = np.abs(differences).max() or 1.0
    size = 10.0 ** math.floor(math.log10(farthest))
    width = next(size * part for part in (0.1, 0.2, 0.5, 1.0, 2.0) if 2 * farthest / (size * part) <= MOST_BINS)
    n_sides = math.floor(farthest / width) + 1
    for n in range(-n_sides, n_sides):
        start, end = n * width, (n + 1) * width
        yield {"start": start, "end": end, "n": ((differences >= start) & (differences < end)).sum()}


def pair_accuracies(package):
    """How often one of the people, each judge, and whoever takes the longer story prefer what most people do."""
    rows = []
    for salt, item in enumerate(package.preferences):
        pairs, chosen = list_pairs(package, item), package.choices_of(item)
        if not pairs:
            continue
        choosers = [("person", "", 0, *of_person(pairs, chosen))]
        for n, of_judge in enumerate(judged_pairs(package, item)):
            right = judge_orders.pair_choices(of_judge.chosen, of_judge.preferred).right
            places = np.flatnonzero(np.isfinite(right))
            choosers.append(("judge", of_judge.judge, 10 + n, right[places], [of_judge.groups[p] for p in places]))
        measured = [pair for pair in pairs if not math.isnan(pair[2]) and not any(map(math.isnan, pair[3]))]
        if measured:
            is_right = [
                0.5 if words[0] == words[1] else float(words[int(best)] > words[1 - int(best)])
                for _group, _codes, best, words in measured
            ]
            choosers.append(("longer", "", 1, is_right, [pair[0] for pair in measured]))
        accuracies = [
            {"who": who, "name": name, "n": len(is_right), "n_pairs": len(set(groups))}
            | share(is_right, package.clusters_of(groups), package.rng(ACCURACIES, salt, purpose))
            for who, name, purpose, is_right, groups in choosers
        ]
        rows.append(item.fields | {"n_pairs": len(pairs), "accuracies": accuracies})
    return rows


def of_person(pairs, chosen):
    """Every choice held against what more than half of the pair's other raters chose."""
    codes_by_group, is_right, groups = {pair[0]: pair[1] for pair in pairs}, [], []
    for choice in chosen:
        others = [c.story for c in chosen if c.group == choice.group]
        others.remove(choice.story)
        best = majority(others, codes_by_group.get(choice.group, ()))
        if not math.isnan(best):
            is_right.append(float(choice.story == codes_by_group[choice.group][int(best)]))
            groups.append(choice.group)
    return is_right, groups
