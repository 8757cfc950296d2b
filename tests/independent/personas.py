"""What it gains that a judge reads as several personas, with numpy and scipy; and how far these agree."""

import numpy as np

from tests.independent.agreement import check_coefficient
from tests.independent.floors import alphas_of_counts, cube_of, of_items
from tests.independent.intervals import of_values
from tests.independent.judge_coefficients import rank_correlation
from tests.independent.judges import UNIT, items_of, judges_of
from tests.independent.lines import mean_of
from tests.independent.material import counts, place_of
from tests.independent.resampled import places_of

PERSONAS = 29  # of the seed


def personas(package, result, check):
    items = items_of(package, "scales")
    names, clusters = judges_of(package, items), places_of(package.unit_clusters)
    people = mean_of(cube_of(package, items, lambda item: package.answers(item["step"], item["item"]), package.units))
    for row in result:
        seed, place = (package.seed, PERSONAS, names.index(row["judge"])), f"personas/{row['judge']}"
        own = answers_as(package, row["judge"])
        as_personas = cube_of(package, items, lambda item, own=own: of_item(own, item), package.units, row["personas"])
        alone = answers_as(package, row["nobody"])
        alone = alone[alone["persona"] == ""].assign(rater="")
        as_nobody = cube_of(package, items, lambda item, alone=alone: of_item(alone, item), package.units, [""])[:, 0]
        sides = (as_personas, as_nobody, people)
        check_gain(f"{place}/all", row["over_items"], sides, clusters, (*seed, 0, 0), check)
        for stored in row["items"]:
            item = package.item(stored)
            at = items.index(item)
            of_one = tuple(side[at : at + 1] for side in sides)
            check_gain(f"{place}/{at}", stored["gain"], of_one, clusters, (*seed, at + 1, 0), check)
            check_alpha(package, row, stored, of_item(own, item), of_one[0], (*seed, at + 1, 1), check)


def answers_as(package, judge):
    """The judge's first answers in the planned order as each persona, which stand as raters."""
    rows = package.judges[package.judges["rater"] == judge]
    rows = rows[rows["repeat"].isin(["", "1"]) & rows["order"].isin(["", "planned"])]
    return rows.drop_duplicates(["persona", *UNIT, "step", "item"]).assign(rater=rows["persona"])


def of_item(answers, item):
    """Those to the item that are a number, as one of the personas that read with it."""
    return answers[(answers["step"] == item["step"]) & (answers["item"] == item["item"])].dropna(subset=["number"])


def check_gain(place, stored, sides, clusters, seed, check):
    """Spearman's rho with people of the mean of all personas, of one, and of nobody; the first less the last."""
    as_personas, as_nobody, people = sides
    has_nobody = not np.isnan(as_nobody).all()
    shared = ~np.isnan(as_personas).any(axis=1) & ~np.isnan(people) & (~np.isnan(as_nobody) | (not has_nobody))
    mean = as_personas.mean(axis=1)
    compared = [mean, as_nobody] if has_nobody else [mean]
    items = [n for n, units in enumerate(shared) if all(varies(side[n, units]) for side in (*compared, people))]

    def rhos(answers, weights):
        values = [rank_correlation(answers[n, shared[n]], people[n, shared[n]], weights[:, shared[n]]) for n in items]
        return np.mean(values, axis=0)

    if not items:
        check.numbers(place, stored, value=None, together=None, alone=None, nobody=None, n=0)
        return
    once = np.ones((1, people.shape[1]))
    together, *nobody = (rhos(side, once)[0] for side in compared)
    of_each = np.array([rhos(as_personas[:, n], once)[0] for n in range(as_personas.shape[1])])
    of_each = of_each[~np.isnan(of_each)]
    check.numbers(
        place,
        stored,
        value=together - nobody[0] if nobody else None,
        together=together,
        alone=of_each.mean() if of_each.size else None,
        nobody=nobody[0] if nobody else None,
        n=shared[items].sum(),
    )
    if has_nobody:
        units = shared[items].any(axis=0)

        def gains(weights):
            of_all = np.zeros((len(weights), units.size))
            of_all[:, units] = weights
            return rhos(mean, of_all) - rhos(as_nobody, of_all)

        numbers = np.unique(clusters[units], return_inverse=True)[1]
        check.ends(place, stored["interval"], of_values(gains, numbers, seed, (-2, 2)), numbers.max() + 1)


def varies(values):
    return values.size > 1 and np.ptp(values) > 0


def check_alpha(package, row, stored, answers, as_personas, seed, check):
    """Krippendorff's alpha among the personas. as_personas : shape (1, personas, units)"""
    place, level = place_of("personas", stored, row["judge"]), package.item(stored)["level"]
    answers = answers[answers["rater"].isin(row["personas"])]
    table = counts(answers, package.units)
    check_coefficient(f"{place}/alpha", stored["alpha"], answers, table, level, check, is_alpha=True)
    check.interval(place, stored["interval"], "of_alpha", [table], level, package.unit_clusters, (*seed, 0))
    if stored["floor"]["mean"] is not None:
        values = of_items(as_personas, (*seed, 1), alphas_of_counts(level))[0]
        check.floor(place, stored["floor"], values)
    if stored["among_models"]:
        of_models = [package.kind_of(story) == "language_model" for _group, story in table.index]
        check_coefficient(
            f"{place}/models", stored["among_models"], answers, table[of_models], level, check, is_alpha=True
        )
