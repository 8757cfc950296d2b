"""How often intervals hold what they estimate: the table is that of the page of simulations."""

import re
from collections import defaultdict
from pathlib import Path

from stats.coverage import HELD, held

DOC = Path(__file__).parents[2] / "docs" / "intervals.md"


def test_the_table_has_the_least_of_each_method_on_the_page() -> None:
    table = DOC.read_text(encoding="utf-8").split("| interval |")[1].split("\n\n")[0]
    head, _rule, *rows = table.splitlines()
    numbers = [int(n) for n in re.findall(r"(\d+) clusters", head)]
    found: dict[str, dict[int, float]] = defaultdict(dict)
    for row in rows:
        for n, cell in zip(numbers, row.strip("|").split("|")[1:], strict=True):
            percent, method = re.fullmatch(r"([\d.]+)†? (\w+)", cell.strip()).groups()  # type: ignore[union-attr]
            found[method][n] = min(float(percent), found[method].get(n, 100.0))

    assert {method: dict(sorted(of.items())) for method, of in found.items()} == HELD


def test_between_two_numbers_of_clusters_the_lesser_counts_and_below_all_nothing_is_known() -> None:
    assert held("jackknife", 20) == 93.1
    assert held("crossed", 50) == 92.4
    assert held("t", 400) == 94.0
    assert held("t", 4) is None
    assert held("other", 12) is None
