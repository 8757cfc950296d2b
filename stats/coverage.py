"""How often intervals of 95 % hold what they estimate, by method and number of clusters, as `docs/intervals.md` has it.

Of each method the least of all kinds of numbers that were simulated; `python -m tools.intervals` measures them.
"""

from collections.abc import Mapping

# In percent, by method and clusters; a test holds it beside the page.
HELD: Mapping[str, Mapping[int, float]] = {
    "crossed": {5: 94.9, 12: 94.6, 36: 93.2, 100: 92.4},
    "jackknife": {5: 90.6, 12: 93.1, 36: 93.6},
    "percentile": {36: 93.1, 100: 93.1},
    "t": {5: 92.9, 12: 93.8, 36: 94.5, 100: 94.0},
    "wilson": {5: 99.7, 12: 100.0, 36: 98.7},
}
NOMINAL_FROM = 93  # percent, from which "of twenty about nineteen" is said


def held(method: str, n_clusters: int) -> float | None:
    """Of 100 intervals how many hold it: the lesser of the simulated numbers of clusters on either side; None if there
    is none below."""
    by_clusters = HELD.get(method, {})
    below = [n for n in by_clusters if n <= n_clusters]
    above = [n for n in by_clusters if n >= n_clusters]
    if not below:
        return None
    return min(by_clusters[n] for n in (max(below), *([min(above)] if above else [])))
