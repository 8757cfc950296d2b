"""Numbers that change come with an edition that rises: else stored reports would show the ones of before.

Kept are, of a study of every kind, some numbers of each figure with its edition. Where the edition of a figure, or of
how a study is read, has risen, QUIRE_KEEP=1 keeps what is computed now.
"""

import json
import math
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from reports import results
from reports.figures import all_figures
from tests.reports.packaged import MAKERS
from tests.reports.packed import Pack

pytestmark = [pytest.mark.django_db, pytest.mark.slow, pytest.mark.embedded]

FOLDER = Path(__file__).parent / "fixtures" / "kept_results"
N_KEPT = 12  # of a figure and a study, evenly over all; the others are in the sum
# In the one left out filled texts become stories whose codes are drawn, on another database in another order. Its
# figures have numbers in others.
KEPT = [name for name in MAKERS if name != "cloze"]
KEEPS = os.environ.get("QUIRE_KEEP") == "1"
TOLERANCE = 1e-6
Kept = dict[str, Any]


@pytest.mark.parametrize("name", KEPT)
def test_a_figure_whose_numbers_change_has_another_edition(name: str, pack: Pack) -> None:
    document = json.loads(pack(name).read("report.json"))
    path = FOLDER / f"{name.replace(' ', '-')}.json"
    before: Kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    now = {figure: sketch for figure, sketch in _sketches(document) if sketch["n"]}
    editions = results.list_editions()
    risen = {key for key, edition in editions.items() if edition != before.get("editions", {}).get(key)}
    changed = {key for key in now.keys() | before.keys() - {"editions"} if not _is_same(before.get(key), now.get(key))}
    if before and not KEEPS:
        # A figure that is new has nothing to hold against; its numbers are kept with the next that are.
        new = editions.keys() - before["editions"].keys()
        risen, changed = risen - new, changed - new

    if KEEPS:
        kept = now if results.DATASET in risen else {key: now.get(key) for key in changed & risen}
        lines = {**before, **kept, "editions": editions}
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(lines, indent=0, sort_keys=True) + "\n", encoding="utf-8")
        changed -= risen | kept.keys()
    assert sorted(changed) == [], "their numbers have changed: raise their edition, then run this with QUIRE_KEEP=1"
    assert KEEPS or risen == set(), "keep the numbers of these editions by QUIRE_KEEP=1"


def test_every_figure_has_numbers_that_are_kept() -> None:
    kept = [json.loads(path.read_text(encoding="utf-8")) for path in FOLDER.glob("*.json")]

    assert len(kept) == len(KEPT)
    # Of a new figure nothing is kept yet, not even the edition.
    figures = set(all_figures()) & set.intersection(*(set(study["editions"]) for study in kept))
    assert figures - {figure for study in kept for figure in study} == {"amendments"}


def _sketches(document: Mapping[str, Any]) -> Iterator[tuple[str, Kept]]:
    """Of each figure how many numbers it has, a sum over all of them, and some by their place."""
    for figure in all_figures():
        numbers = dict(_numbers(document[figure]))
        places = list(numbers)[:: max(1, math.ceil(len(numbers) / N_KEPT))]
        total = math.fsum(math.asinh(number) * (1 + n % 7) for n, number in enumerate(numbers.values()))
        some = {place: float(f"{numbers[place]:.9g}") for place in places}
        yield figure, {"n": len(numbers), "sum": float(f"{total:.9g}"), "some": some}


def _numbers(node: Any, place: str = "") -> Iterator[tuple[str, float]]:
    """Every number of the result by its place; that one has no value is a number, too."""
    if isinstance(node, Mapping):
        for key in sorted(node):
            yield from _numbers(node[key], f"{place}/{key}")
    elif isinstance(node, list):
        for n, part in enumerate(node):
            yield from _numbers(part, f"{place}/{n}")
    elif node is None or isinstance(node, int | float):
        yield place, -0.5 if node is None else float(node)


def _is_same(before: Kept | None, now: Kept | None) -> bool:
    if before is None or now is None or before["n"] != now["n"] or before["some"].keys() != now["some"].keys():
        return before is now is None
    pairs = [(before["some"][place], now["some"][place]) for place in before["some"]]
    return math.isclose(before["sum"], now["sum"], rel_tol=TOLERANCE, abs_tol=TOLERANCE) and all(
        math.isclose(old, new, rel_tol=TOLERANCE, abs_tol=TOLERANCE) for old, new in pairs
    )
