"""Whether judges choose as most people do where they explain at length."""

import math

import numpy as np
from recompute.pairs import list_pairs
from recompute.readings import is_about
from recompute.values import share

EXPLAINED, N_BINS = 69, 4  # of the seed; bins of words


def explained_choices(package):
    """How often each judge is right in each quarter of all explained choices by words, in percent."""
    rows = []
    for salt, item in enumerate(package.preferences):
        if choices := list_choices(package, item):
            bins = list(bins_of(package, choices, salt))
            rows.append(item.fields | {"n": len(choices), "bins": bins})
    return rows


def list_choices(package, item):
    """Judge, group, words of the explanation, and whether most people choose so, of each explained choice."""
    rows = package.all_readings[is_about(package.all_readings, [item])]
    rows = rows[(rows["rater_kind"] == "model") & (rows["outcome"] == "answered")]
    preferred = {
        group: codes[int(best)] for group, codes, best, _words in list_pairs(package, item) if not math.isnan(best)
    }
    fields = (rows[name] for name in ("rater", "group", "rationale", "value"))
    choices = [
        (judge, group, len(reason.split()), float(value == preferred[group]))
        for judge, group, reason, value in zip(*fields, strict=True)
        if group in preferred and reason.split()
    ]
    return sorted(choices)


def bins_of(package, choices, salt):
    bounds = bounds_of([words for _judge, _group, words, _right in choices])
    for place, judge in enumerate(sorted({choice[0] for choice in choices})):
        for n, (least, most) in enumerate(bounds):
            part = [choice for choice in choices if choice[0] == judge and least <= choice[2] <= most]
            if part:
                groups = [choice[1] for choice in part]
                yield {
                    "judge": judge,
                    "least_words": least,
                    "most_words": most,
                    "mean_words": sum(choice[2] for choice in part) / len(part),
                    "n": len(part),
                    "n_pairs": len(set(groups)),
                } | share([c[3] for c in part], package.clusters_of(groups), package.rng(EXPLAINED, salt, place, n))


def bounds_of(words):
    """The fewest and the most words of each quarter; fewer where many are of one length."""
    quartiles = np.quantile(words, np.arange(1, N_BINS) / N_BINS, method="lower").astype(int).tolist()
    ends = sorted({*quartiles, max(words)})
    return list(zip([min(words), *(end + 1 for end in ends[:-1])], ends, strict=True))
