"""Answers as arrays: items by raters by units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from reports.lazy import np, pd
from studies.models import StoryGroup, Study

if TYPE_CHECKING:
    from stats.arrays import FloatArray, IntArray

Pair = tuple[str, str]


@dataclass(frozen=True)
class Readings:
    """A cube's numbers by unit and reading: of hundreds of raters most have not read most units, and where it does not
    matter who read them, only as many rows are needed as a unit has readings.

    values : shape (I items, N readings of the unit with most, U units), nan where there is no answer
    raters : who gave them, by number, -1 for nobody, shape (N, U)
    """

    values: FloatArray
    raters: IntArray


@dataclass(frozen=True)
class Cube:
    """Numbers of several items by the same raters about the same units.

    items : (step key, item key) of each item
    units : (group code, story code) of each unit; no story code if an item is about the group
    values : shape (I items, R raters, U units), nan where there is no answer
    """

    items: tuple[Pair, ...]
    raters: tuple[str, ...]
    units: tuple[Pair, ...]
    values: FloatArray

    @cached_property
    def groups(self) -> list[str]:
        return [group for group, _ in self.units]

    @cached_property
    def stories(self) -> list[str]:
        return [story for _, story in self.units]

    @cached_property
    def readings(self) -> Readings:
        """The same numbers; the first readings are those of the first raters."""
        has_read = np.isfinite(self.values).any(axis=0)
        raters, units = np.nonzero(has_read)
        places = (has_read.cumsum(axis=0) - 1)[raters, units]
        rater_by_place = np.full((int(has_read.sum(axis=0).max(initial=0)), len(self.units)), -1)
        rater_by_place[places, units] = raters
        values = np.full((len(self.items), *rater_by_place.shape), np.nan)
        values[:, places, units] = self.values[:, raters, units]
        return Readings(values, rater_by_place)

    def take_items(self, items: Sequence[Pair]) -> Cube:
        """The same cube, of these of its items in this order; of one or all without a copy."""
        if tuple(items) == self.items:
            return self
        places = [self.items.index(item) for item in items]
        values = self.values[places[0] : places[0] + 1] if len(places) == 1 else self.values[places]
        return Cube(tuple(items), self.raters, self.units, values)

    def select_items(self, keep: list[bool]) -> Cube:
        """The same cube, of the items where `keep` is true; of all without a copy."""
        if all(keep):
            return self
        items = tuple(item for item, is_kept in zip(self.items, keep, strict=True) if is_kept)
        return Cube(items, self.raters, self.units, self.values[np.array(keep, dtype=np.bool_)])

    def select_units(self, keep: list[bool]) -> Cube:
        """The same cube, of the units where `keep` is true."""
        units = tuple(unit for unit, is_kept in zip(self.units, keep, strict=True) if is_kept)
        return Cube(self.items, self.raters, units, self.values[:, :, np.array(keep, dtype=np.bool_)])


def list_units(study: Study) -> list[Pair]:
    """Every (group, story) of the study, in alphabetical order."""
    pairs = StoryGroup.objects.filter(study=study).values_list("code", "stories__code")
    return sorted((group, story) for group, story in pairs if story)


def build_cube(
    answers: pd.DataFrame, items: list[Pair], *, raters: list[str] | None = None, units: Sequence[Pair] | None = None
) -> Cube:
    """The answers to these items as an array; raters and units are those among the answers unless named."""
    raters = sorted(answers["rater"].unique()) if raters is None else raters
    units = sorted(set(zip(answers["group"], answers["story"], strict=True))) if units is None else units
    values = np.full((len(items), len(raters), len(units)), np.nan)
    indices = (
        _indices(answers[["step", "item"]], items),
        _places(answers["rater"], raters),
        _indices(answers[["group", "story"]], units),
    )
    numbers = answers["analysed"].to_numpy(dtype=np.float64, na_value=np.nan)
    is_inside = np.logical_and.reduce([index >= 0 for index in indices])
    values[tuple(index[is_inside] for index in indices)] = numbers[is_inside]
    return Cube(tuple(items), tuple(raters), tuple(units), values)


def _places(column: pd.Series, names: Sequence[str]) -> IntArray:
    """Where each name of a column stands among those; -1 where it does not. Each different one is looked up once."""
    codes, different = pd.factorize(column)
    place_by_name = {name: n for n, name in enumerate(names)}
    places = np.array([*(place_by_name.get(name, -1) for name in different), -1], dtype=np.int64)
    return np.asarray(places[codes], dtype=np.int64)


def _indices(pairs: pd.DataFrame, names: Sequence[Pair]) -> IntArray:
    """Where each pair stands among the names; -1 where it does not."""
    sides = [list(dict.fromkeys(side)) for side in zip(*names, strict=True)] or [[], []]
    first, second = (_places(pairs[column], side) for column, side in zip(pairs, sides, strict=True))
    place_of = [{name: n for n, name in enumerate(side)} for side in sides]
    pairs_of_names = [place_of[0][one] * len(sides[1]) + place_of[1][other] for one, other in names]
    codes = np.where((first >= 0) & (second >= 0), first * len(sides[1]) + second, -1)
    return np.asarray(pd.Index(pairs_of_names, dtype=np.int64).get_indexer(pd.Index(codes)), dtype=np.int64)
