"""The numbers of a report beside those that were computed: which are the same, which differ, and which were left."""

import json
import math
from collections.abc import Mapping

from recompute.values import Left

TOLERANCE = 1e-9
# Of what curvature by differences says, whose last digits go by the order in which answers are added up.
TOLERANCE_OF_CHECKS = 1e-6
# What tells the rows of a list apart, for whoever reads where a number stands.
NAMES = (
    *("step", "item", "key", "factor", "judge", "kind", "score", "form", "source", "level", "group", "story", "rater"),
    *("metric", "name", "statistic", "part", "against", "bias", "outcome", "title", "unit", "who", "theme"),
    *("first", "second"),
)


class Decimal(float):
    """A number of the report. Each is an object of its own, so that it is known which of them were computed again."""


class Whole(int):
    """The same of a whole number."""


def read_report(path):
    """The report, each of whose numbers is an object of its own."""
    return json.loads(path.read_text(encoding="utf-8"), parse_float=Decimal, parse_int=Whole)


def list_numbers(stored, path=()):
    """Every number of the report with where it stands."""
    if isinstance(stored, Mapping):
        for name, part in stored.items():
            yield from list_numbers(part, (*path, name))
    elif isinstance(stored, list):
        for part in stored:
            yield from list_numbers(part, (*path, "*"))
    elif isinstance(stored, Decimal | Whole):
        yield path, stored


class Comparison:
    """computed : ids of the report's numbers that were computed; reasons : of those that cannot be, by id"""

    def __init__(self):
        self.computed, self.reasons, self.differences, self.n_intervals = set(), {}, [], 0

    def compare(self, place, stored, computed):
        """Hold a part of the report against what was computed of it: only names that were computed are looked at."""
        if isinstance(computed, Left):
            self.reasons |= {id(number): computed.reason for _path, number in list_numbers(stored)}
        elif isinstance(computed, Mapping):
            stored = stored if isinstance(stored, Mapping) else {}
            self.n_intervals += stored.get("low") is not None and computed.get("low") is not None
            for name, part in computed.items():
                if name not in stored and is_leaf(part) and not part:
                    continue  # what is 0 or no is left out of a report
                self.compare(f"{place}.{name}" if is_leaf(part) else f"{place}/{name}", stored.get(name), part)
        elif isinstance(computed, list | tuple):
            self._compare_rows(place, stored or [], computed)
        elif isinstance(computed, str) or isinstance(stored, str):
            if computed != stored and (computed or stored):
                self._differ(place, stored, computed)
        else:
            self._compare_numbers(place, stored, computed)

    def _compare_rows(self, place, stored, computed):
        if len(stored) != len(computed):
            self._differ(place, f"{len(stored)} rows", f"{len(computed)} rows")
            return
        for n, (row, part) in enumerate(zip(stored, computed, strict=True)):
            self.compare(f"{place}/{name_of(row, n)}", row, part)

    def _compare_numbers(self, place, stored, computed):
        if isinstance(stored, Decimal | Whole):
            self.computed.add(id(stored))
        one, other = (None if number is None or math.isnan(number) else float(number) for number in (stored, computed))
        if one is None or other is None:
            if one is not other:
                self._differ(place, one, other)
        elif abs(one - other) > (TOLERANCE_OF_CHECKS if "/checks/" in place else TOLERANCE) * max(1, abs(one)):
            self._differ(place, one, other)

    def _differ(self, place, stored, computed):
        self.differences.append({"place": place, "report": stored, "recomputed": computed})


def is_leaf(part):
    return not isinstance(part, Mapping | list | tuple | Left)


def name_of(row, n):
    """What a row of a list is about, or its number."""
    row = row if isinstance(row, Mapping) else {}
    among = ("step", "item", "judge", "rater", "metric", "part") if row.get("item") else NAMES
    names = [str(row[name]) for name in among if row.get(name)]
    return "/".join(name for name in names if not name.startswith(("{", "["))) or str(n + 1)
