"""Compute the numbers of report.json again from the files of this package, and say where they differ.

    python recompute.py            in words
    python recompute.py --json     the same as one JSON document

The numbers come from the very functions that made the report: `stats/` beside this file. What reads the tables and
calls them stands in `recompute/`, and knows nothing of Quire. Exit status: 0 if all that was computed is the same, 1 if
not.
"""

import json
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path

from recompute.comparison import Comparison, list_numbers
from recompute.figures import MODULE_BY_FIGURE
from recompute.tables import Package

PLACES = "places, invitations and consents, and answers that are not taken along, which stand in no package"
NO_FUNCTION = "what stands in a part of the report that is not computed again here"


def check(folder):
    """What the package in that folder has: of how many numbers how many were computed, and which differ."""
    package, comparison = Package(folder), Comparison()
    for name, stored in package.report.items():
        if stored and name in MODULE_BY_FIGURE:
            module = import_module(f"recompute.{MODULE_BY_FIGURE[name]}")
            comparison.compare(name, stored, getattr(module, name)(package))
    rows = count_by_figure(package.report, comparison)
    n, n_computed = (sum(row[name] for row in rows.values()) for name in ("n", "n_computed"))
    counts = {"n": n, "n_computed": n_computed, "n_intervals": comparison.n_intervals}
    whole = [name for name in rows if name not in MODULE_BY_FIGURE]
    return {**counts, "figures": rows, "not_recomputed": whole, "differences": comparison.differences}


def count_by_figure(report, comparison):
    """Of each figure how many numbers it has, how many were computed, and how many others stand where, and why."""
    rows = {}
    for (figure, *parts), number in list_numbers(report):
        row = rows.setdefault(figure, {"n": 0, "n_computed": 0, "others": Counter(), "why": {}})
        row["n"] += 1
        if id(number) in comparison.computed:
            row["n_computed"] += 1
            continue
        place = ".".join(part for part in parts if part != "*")
        row["others"][place] += 1
        reason = PLACES if figure in MODULE_BY_FIGURE else NO_FUNCTION
        row["why"][place] = comparison.reasons.get(id(number), reason)
    return rows


def write(answer):
    """What is said of a package, line by line."""
    for row in answer["differences"]:
        yield f"{row['place']}: {row['report']} in the report, {row['recomputed']} here"
    reasons = Counter()
    for name, figure in answer["figures"].items():
        others = ", ".join(f"{place} ({count})" for place, count in figure["others"].items())
        yield f"{name}: {figure['n_computed']} of {figure['n']}{'; not ' + others if others else ''}"
        for place, count in figure["others"].items():
            reasons[figure["why"][place]] += count
    yield from (f"Not computed: {count}, {reason}." for reason, count in reasons.items())
    if answer["not_recomputed"]:
        yield f"Parts that are not computed again: {', '.join(answer['not_recomputed'])}."
    again = f"{answer['n_computed']} of {answer['n']} numbers computed again"
    yield f"{again}, with the ends of {answer['n_intervals']} intervals; {len(answer['differences'])} differ."


def main(folder):
    answer = check(folder)
    if "--json" in sys.argv:
        print(json.dumps(answer, default=float))
    else:
        print(*write(answer), sep="\n")
    return 1 if answer["differences"] else 0


if __name__ == "__main__":
    sys.exit(main(Path(__file__).resolve().parent))
