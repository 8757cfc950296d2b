"""The values of `replicate pds`, computed a second time and otherwise: with csv, statistics and math, nothing else.

    python tests/reports/pds_by_hand.py human_annotations.csv

prints them as JSON. It shares no line with what it checks, and follows the definitions as they stand, not for speed.
"""

import csv
import json
import math
import statistics
import sys
from collections.abc import Callable
from itertools import combinations, permutations
from pathlib import Path
from typing import Any

COLUMN_BY_ITEM = {
    "authenticity": "authenticity_score",
    "empathy": "empathy_score",
    "engagement": "engagement_score",
    "emotion-provocation": "emotion_provoking_score",
    "narrative-complexity": "narrative_complexity_score",
    "human-likeness": "human_likeness_score",
}
COMPONENTS = [item for item in COLUMN_BY_ITEM if item != "human-likeness"]

Rows = list[dict[str, str]]
Units = list[list[int]]


def computed(path: Path) -> dict[str, dict[str, float]]:
    """Every value by the key of its block, and within it by its own keys joined with "/"."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    authors = sorted({row["model_short"] for row in rows})
    guesses = [(int(row["human_likeness_score"]), row["model_short"]) for row in rows]
    found: dict[str, dict[str, float]] = {
        "n_stories": {"": len({row["story_id"] for row in rows})},
        "n_stories_by_author": {a: len({r["story_id"] for r in rows if r["model_short"] == a}) for a in authors},
        "n_raters": {"": len({row["participant_id"] for row in rows})},
        "n_ratings": {"": len(rows) * len(COMPONENTS)},
        "n_guesses": {"": len(rows)},
        "rating_mean": _by_author(rows, authors, statistics.mean),
        "rating_sd": _by_author(rows, authors, statistics.stdev),
        "human_likeness_of_people": {
            "human-likeness": statistics.mean(score for score, author in guesses if _is_human(author))
        },
        "ordinal_alpha": {item: ordinal_alpha(_units(rows, item)) for item in COLUMN_BY_ITEM},
        "ordinal_alpha_of_models": {
            item: ordinal_alpha(_units([r for r in rows if not _is_human(r["model_short"])], item))
            for item in COLUMN_BY_ITEM
        },
        "percent_agreement": {item: percent_agreement(_units(rows, item)) for item in COLUMN_BY_ITEM},
        "weighted_fleiss": {item: weighted_fleiss(_units(rows, item)) for item in COMPONENTS},
        "ideal_distance_percent": {"": nearness(guesses)},
        "ideal_distance_percent_by_author": {a: nearness([g for g in guesses if g[1] == a]) for a in authors},
        "correct_percent": {"": correct(guesses)},
        "correct_percent_by_author": {a: correct([g for g in guesses if g[1] == a]) for a in authors},
        "undecided_percent": {"": 100 * sum(score == 3 for score, _ in guesses) / len(guesses)},
    }
    found["mean_weighted_fleiss"] = {"": statistics.mean(found["weighted_fleiss"].values())}
    return found | tests(rows, authors)


def ordinal_alpha(units: Units) -> float:
    """1 - observed / expected disagreement, the ordinal distance from how often each value was given."""
    units = [unit for unit in units if len(unit) >= 2]
    values = [value for unit in units for value in unit]
    n_by_value = {value: values.count(value) for value in range(1, 6)}

    def distance(a: int, b: int) -> float:
        low, high = min(a, b), max(a, b)
        return (sum(n_by_value[v] for v in range(low, high + 1)) - (n_by_value[low] + n_by_value[high]) / 2) ** 2

    observed = sum(distance(*pair) / (len(unit) - 1) for unit in units for pair in permutations(unit, 2)) / len(values)
    between = sum(n_by_value[a] * n_by_value[b] * distance(a, b) for a in range(1, 6) for b in range(1, 6))
    return 1 - observed / (between / (len(values) * (len(values) - 1)))


def weighted_fleiss(units: Units) -> float:
    """Agreement of pairs weighted 1, .9, .7, .4, 0 by how far apart they are; chance that of equal ratings."""
    weight = {0: 1.0, 1: 0.9, 2: 0.7, 3: 0.4, 4: 0.0}
    units = [unit for unit in units if len(unit) >= 2]
    agreement = statistics.mean(statistics.mean(weight[abs(a - b)] for a, b in combinations(u, 2)) for u in units)
    chance = sum(statistics.mean(unit.count(value) / len(unit) for unit in units) ** 2 for value in range(1, 6))
    return (agreement - chance) / (1 - chance)


def percent_agreement(units: Units) -> float:
    units = [unit for unit in units if len(unit) >= 2]
    return 100 * statistics.mean(statistics.mean(float(a == b) for a, b in combinations(u, 2)) for u in units)


def nearness(guesses: list[tuple[int, str]]) -> float:
    return 100 * (1 - statistics.mean(abs(score - (5 if _is_human(author) else 1)) for score, author in guesses) / 4)


def correct(guesses: list[tuple[int, str]]) -> float:
    is_right = [score > 3 if _is_human(author) else score < 3 for score, author in guesses]
    return 100 * sum(is_right) / len(is_right)


def tests(rows: Rows, authors: list[str]) -> dict[str, dict[str, float]]:
    """The paper's tests of ratings, ours of story means, and the effect sizes of the latter."""
    ratings, means, sizes = {}, {}, {}
    for item in COMPONENTS:
        adjusted = {}
        for a, b in combinations(authors, 2):
            at = f"{a} vs. {b}/{item}"
            of_a, of_b = ([r for r in rows if r["model_short"] == name] for name in (a, b))
            ratings[at] = student(*([value for unit in _units(of, item) for value in unit] for of in (of_a, of_b)))
            groups = [[statistics.mean(unit) for unit in _units(of, item)] for of in (of_a, of_b)]
            adjusted[at] = welch(*groups)
            sizes[at] = hedges_g(*groups)
        largest = 0.0
        for rank, at in enumerate(sorted(adjusted, key=lambda name: adjusted[name])):
            largest = max(largest, min(1.0, (len(adjusted) - rank) * adjusted[at]))
            means[at] = largest
    return {"rating_t_test": ratings, "story_t_test": means, "story_hedges_g": sizes}


def student(a: list[float], b: list[float]) -> float:
    df = len(a) + len(b) - 2
    error = _pooled(a, b) * math.sqrt(1 / len(a) + 1 / len(b))
    return two_sided((statistics.mean(a) - statistics.mean(b)) / error, df)


def welch(a: list[float], b: list[float]) -> float:
    of_a, of_b = statistics.variance(a) / len(a), statistics.variance(b) / len(b)
    df = (of_a + of_b) ** 2 / (of_a**2 / (len(a) - 1) + of_b**2 / (len(b) - 1))
    return two_sided((statistics.mean(a) - statistics.mean(b)) / math.sqrt(of_a + of_b), df)


def hedges_g(a: list[float], b: list[float]) -> float:
    df = len(a) + len(b) - 2
    return (statistics.mean(a) - statistics.mean(b)) / _pooled(a, b) * (1 - 3 / (4 * df - 1))


def two_sided(t: float, df: float) -> float:
    """The area of Student's distribution outside ±t: Simpson's rule over the angle atan(t / √df), n = 4,000."""
    # With t = √df · tan(x) the density becomes c · cos(x)^(df - 1), which is smooth up to the end at π / 2.
    scale = math.exp(math.lgamma((df + 1) / 2) - math.lgamma(df / 2)) / math.sqrt(math.pi)
    start, n = math.atan(abs(t) / math.sqrt(df)), 4000
    step = (math.pi / 2 - start) / n
    heights = [max(math.cos(start + i * step), 0.0) ** (df - 1) for i in range(n + 1)]
    area = step / 3 * (heights[0] + heights[-1] + 4 * sum(heights[1:-1:2]) + 2 * sum(heights[2:-1:2]))
    return 2 * scale * area


def _pooled(a: list[float], b: list[float]) -> float:
    spread = (len(a) - 1) * statistics.variance(a) + (len(b) - 1) * statistics.variance(b)
    return math.sqrt(spread / (len(a) + len(b) - 2))


def _units(rows: Rows, item: str) -> Units:
    """The ratings of each story."""
    by_story: dict[str, list[int]] = {}
    for row in rows:
        by_story.setdefault(row["story_id"], []).append(int(row[COLUMN_BY_ITEM[item]]))
    return list(by_story.values())


def _by_author(rows: Rows, authors: list[str], statistic: Callable[[Any], float]) -> dict[str, float]:
    return {
        f"{author}/{item}": statistic([int(row[column]) for row in rows if row["model_short"] == author])
        for author in authors
        for item, column in COLUMN_BY_ITEM.items()
    }


def _is_human(author: str) -> bool:
    return author.startswith("Human-")


if __name__ == "__main__":
    print(json.dumps(computed(Path(sys.argv[1])), indent=1))
