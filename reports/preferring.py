"""Which of the stories of a group people prefer: by source, by place on the page, and how far they agree."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.models import Rater, Seat
from reports.material import N_RESAMPLES, Asked, Material, floor, interval, value
from stats import agreement
from stats.arrays import BoolArray, FloatArray
from stats.intervals import Interval, bootstrap, percentile_interval, resample_weights
from studies import items
from studies.models import Step

PREFERRED = 6  # salt of the seed
NEITHER = -1
ARBITRARY = "It would depend on which story of a group is called the first."


@dataclass(frozen=True)
class Choice:
    """One rater's choice in one group. order : the stories as they were shown; story : the one chosen, "" if neither"""

    rater: str
    group: str
    order: tuple[str, ...]
    story: str


def is_preference(asked: Asked) -> bool:
    """Whether the item asks for one of the stories of a group."""
    return asked.step.scope == Step.Scope.GROUP and asked.level == "nominal" and _compares(asked)


def _compares(asked: Asked) -> bool:
    return items.named(asked.item.type).about_stories


def preferences(material: Material) -> list[dict[str, Any]]:
    """Of every item that asks for one story of a group: wins by source, the pull of the first place, the groups.

    By source and by story only if unsealed.
    """
    asked = [a for a in material.asked if is_preference(a)]
    return [_preference(material, a, salt=n) for n, a in enumerate(asked)]


def _preference(material: Material, asked: Asked, *, salt: int) -> dict[str, Any]:
    choices = _choices(material, asked)
    named = [choice for choice in choices if choice.story]
    is_first = np.array([choice.story == choice.order[0] for choice in named], dtype=np.bool_)
    raters = [choice.rater for choice in named]
    return asked.described() | {
        "n": len(choices),
        "n_neither": len(choices) - len(named),
        # Being drawn to the first place is a habit of raters, so raters are resampled; what is preferred, by group.
        "first": _share(material, is_first, raters, salt=(salt, 0)),
        "by_source": [
            {"source": name} | _wins(material, choices, name, salt=(salt, 1, n))
            for n, (name, _) in enumerate(material.sources)
        ],
        "groups": [_group(material, choices, group) for group in dict.fromkeys(c.group for c in choices)],
        "n_resamples": N_RESAMPLES,
    }


def _choices(material: Material, asked: Asked) -> list[Choice]:
    seats = Seat.objects.filter(study=material.study, rater_kind=Rater.Kind.PERSON)
    order_by_seat = {(s.group.code, s.number): tuple(s.order) for s in seats.select_related("group")}
    rows = material.rows(asked).sort_values(["group", "rater"])
    found = []
    for rater, group, seat, said in zip(rows["rater"], rows["group"], rows["seat"], rows["value"], strict=True):
        order = order_by_seat[group, seat]
        found.append(Choice(rater, group, order, said if said in order else ""))
    return found


def _wins(material: Material, choices: list[Choice], source: str, *, salt: tuple[int, ...]) -> dict[str, Any]:
    """How often the source's story was chosen, of the choices where it stood beside one of another source."""

    def is_of(story: str) -> bool:
        return material.source_of(story) == source

    met = [c for c in choices if any(map(is_of, c.order)) and not all(map(is_of, c.order))]
    won = np.array([is_of(c.story) for c in met], dtype=np.bool_)
    return _share(material, won, [c.group for c in met], salt=salt)


def _share(material: Material, is_so: BoolArray, clusters: Sequence[str], *, salt: tuple[int, ...]) -> dict[str, Any]:
    """A share in percent with its interval over resampled clusters."""
    told = {"n_so": int(is_so.sum()), "n": len(is_so), "n_clusters": len(set(clusters))}
    if not len(is_so):
        return told | {"value": None, "why": "There are no choices.", "interval": {"low": None, "high": None}}

    def resampled() -> Interval:
        weights = resample_weights(clusters, rng=material.rng(PREFERRED, *salt), n_resamples=N_RESAMPLES)
        return percentile_interval(100 * (weights @ is_so) / weights.sum(axis=1), clusters)

    return told | {"value": float(100 * is_so.mean()), "interval": interval(resampled)}


def _group(material: Material, choices: list[Choice], group: str) -> dict[str, Any]:
    mine = [c for c in choices if c.group == group]
    stories = [] if material.sealed else sorted({story for c in mine for story in c.order})
    return {
        "group": group,
        "n": len(mine),
        "percent_agreement": value(agreement.percent_agreement, _table(mine, [group]).chosen),
        "stories": [
            {
                "story": story,
                "source": material.source_of(story),
                "n": sum(c.story == story for c in mine),
                "n_shown_first": sum(c.order[0] == story for c in mine),
            }
            for story in stories
        ],
    }


@dataclass(frozen=True)
class _Table:
    """Choices as numbers, shape (R, U) with a unit for each group: which story, by its code's place in the alphabet.

    places : the same choices by the place on the rater's page
    shown : shape (R, U, S): which story stood at each place of the page
    """

    chosen: FloatArray
    places: FloatArray
    shown: FloatArray

    def moved(self, places: FloatArray) -> FloatArray:
        """What would have been chosen, had raters taken these places of their pages."""
        known = np.where(np.isnan(places) | (places == NEITHER), 0, places).astype(np.int64)
        stories = np.take_along_axis(self.shown, known[..., np.newaxis], axis=-1)[..., 0]
        return np.asarray(np.where(np.isnan(places) | (places == NEITHER), places, stories), dtype=np.float64)


def _table(choices: list[Choice], groups: Sequence[str]) -> _Table:
    raters = sorted({c.rater for c in choices})
    most = max((len(c.order) for c in choices), default=0)
    chosen = np.full((len(raters), len(groups)), np.nan)
    places, shown = chosen.copy(), np.full((*chosen.shape, most), np.nan)
    for choice in choices:
        at, codes = (raters.index(choice.rater), groups.index(choice.group)), sorted(choice.order)
        chosen[at] = codes.index(choice.story) if choice.story else NEITHER
        places[at] = choice.order.index(choice.story) if choice.story else NEITHER
        shown[at][: len(codes)] = [codes.index(story) for story in choice.order]
    return _Table(chosen, places, shown)


def agreement_row(material: Material, asked: Asked, *, rng: np.random.Generator) -> dict[str, Any]:
    """How far raters agree on the preferred stories, as a row of the table of agreement.

    The chance floor is of raters who keep to their habits as to the place on the page and do not look at the stories.
    """
    choices = _choices(material, asked)
    groups = sorted({c.group for c in choices})
    table = _table(choices, groups)
    stories = {c.group: len(c.order) for c in choices}
    n_values = np.array([stories[g] + ("no_difference" in asked.item.settings) for g in groups])

    def of(ratings: FloatArray, units: Any = slice(None)) -> agreement.Coefficient:
        return agreement.brennan_prediger(ratings[:, units], n_values[units])

    def floored() -> agreement.Floor:
        return agreement.chance_floor(table.places, lambda places: of(table.moved(places)), rng=rng)

    return asked.described() | {
        "level": asked.level,
        "coefficient": value(of, table.chosen),
        "percent_agreement": value(agreement.percent_agreement, table.chosen),
        "yes_percent": None,
        "alpha": {"value": None, "why": ARBITRARY},
        "interval": interval(bootstrap, lambda units: of(table.chosen, units), groups, rng=rng),
        "floor": floor(floored),
    }
