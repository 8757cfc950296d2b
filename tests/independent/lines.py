"""One person beside the others, and a judge in the same place, in resamples of clusters; with numpy and scipy.

Whoever is left out is compared with what is said by each other person, by their mean, or by most of them, on the units
that both judged.
"""

from collections import namedtuple

import numpy as np

from tests.independent.floors import cube_of
from tests.independent.intervals import generator, of_values
from tests.independent.judge_coefficients import cohen, rank_correlation
from tests.independent.resampled import places_of

__all__ = ["among_people", "cube_of", "places_of", "with_judge"]
# Answers of one person (own: or of several sides in the person's place) beside those of others, at units.
Side = namedtuple("Side", "person item own others units")


def sides_of(people, against, judge=None):
    """The sides of each person. people : shape (items, raters, units); judge : shape (items, units)

    Kappas pool the items; correlations with the mean are of each item.
    """
    n_items, n_raters, _n_units = people.shape
    for person in range(n_raters):
        if against == "pairwise":
            others_of_person = [people[:, other] for other in range(n_raters) if other != person]
        else:
            rest = np.delete(people, person, axis=1)
            others_of_person = [mean_of(rest) if against == "mean" else majority_of(rest, against)]
        for others in others_of_person:
            for items in [[item] for item in range(n_items)] if against == "mean" else [list(range(n_items))]:
                is_shared = ~np.isnan(people[items, person]) & ~np.isnan(others[items])
                if is_shared.any():
                    rows = [people[items, person]] + ([] if judge is None else [judge[items]])
                    units = np.nonzero(is_shared)[1]
                    yield Side(person, items[0], [row[is_shared] for row in rows], others[items][is_shared], units)


def mean_of(ratings):
    n = (~np.isnan(ratings)).sum(axis=1)
    return np.nansum(ratings, axis=1) / np.where(n > 0, n, np.nan)


def majority_of(ratings, against):
    """What more than half say; in preferences it is a story, and not that neither is better."""
    n, most = (~np.isnan(ratings)).sum(axis=1), np.full((len(ratings), ratings.shape[2]), np.nan)
    for value in np.unique(ratings[~np.isnan(ratings)]):
        most[2 * (ratings == value).sum(axis=1) > n] = value
    return np.where(most < 0, np.nan, most) if against == "preference" else most


def share_alike(own, others, weights):
    n = weights.sum(axis=1)
    return (weights @ (own == others)) / np.where(n > 0, n, np.nan)


COMPUTE = {"pairwise": cohen, "majority": cohen, "mean": rank_correlation, "preference": share_alike}


def scores(sides, against, weights):
    """The mean over persons, by how much they share, and then over items. weights : of units (B, U), to (own, B)"""
    by_item = {}
    for side in sides:
        values = np.stack([COMPUTE[against](own, side.others, weights[:, side.units]) for own in side.own])
        values[:, np.isnan(values).any(axis=0)] = np.nan  # both means are over the same
        by_item.setdefault(side.item, []).append((values, len(side.others)))
    return mean_with_gaps([(mean_with_gaps(of_item), 1) for of_item in by_item.values()])


def mean_with_gaps(values_and_sizes):
    values = np.stack([values for values, _size in values_and_sizes])
    sizes = np.array([size for _values, size in values_and_sizes]).reshape(-1, 1, 1)
    n = (sizes * ~np.isnan(values)).sum(axis=0)
    return np.nansum(values * sizes, axis=0) / np.where(n > 0, n, np.nan)


def among_people(people, cluster_of_unit, against, rng):
    """One person beside the others: the value, its interval, how many answers and how many people; None without one."""
    sides = list(sides_of(people, against))
    if not sides:
        return None

    def values(weights):
        return scores(sides, against, weights)[0]

    value = values(np.ones((1, people.shape[2])))[0]
    if np.isnan(value):
        return None
    ends = of_values(values, cluster_of_unit, rng, (-1, 1))
    return value, ends, sum(len(side.others) for side in sides), len({side.person for side in sides})


def with_judge(people, judge, cluster_of_unit, against, seed):
    """The intervals of a person, of the judge in that place, and of their difference, from the same resamples."""
    is_usable = ~np.isnan(judge) & ((~np.isnan(people)).sum(axis=1) >= 2)
    units = is_usable.any(axis=0)
    people = np.where(is_usable[:, None], people, np.nan)[:, :, units]
    judge, cluster_of_unit = judge[:, units], np.unique(cluster_of_unit[units], return_inverse=True)[1]
    sides = list(sides_of(people, against, judge))
    seed = generator(seed).integers(2**32)
    n, ends = cluster_of_unit.max() + 1, []
    for part in (0, 1, None):

        def values(weights, part=part):
            of_person, of_judge = scores(sides, against, weights)
            return of_judge - of_person if part is None else (of_person, of_judge)[part]

        bounds = (-2, 2) if part is None else (-1, 1)
        ends.append(of_values(values, cluster_of_unit, np.random.default_rng(seed), bounds))
    return ends, n
