"""The planned contrasts of the primary outcome by every combination of the choices that stay open."""

import copy
from itertools import combinations, islice

import numpy as np
from recompute.contrasts import compare, contrast_rows, names_pair
from recompute.tables import RULES

from stats import arrays, composites, source_contrasts

MOST_PAIRS = 3
# How many fits of the model, and how many cells of raters by stories and pair, there are for comparison alone.
MOST_WORK, WORK_OF_A_FIT, MOST_CELLS = 100_000, 2_000, 10_000_000
WITHIN_GROUPS = ("rank", "preference")


def specifications(package):
    """Each contrast by one choice of everything, that of the plan first."""
    plan, whole = package.plan, find_outcome(package, package.plan.get("outcome"))
    if whole is None:
        return []
    names = [name for name in package.sources if whole.of_source(name).any()]
    pairs = [pair for pair in combinations(names, 2) if names_pair(plan, *pair)][:MOST_PAIRS]
    test = plan.get("test", "default")
    by_model = test == source_contrasts.BY_MODEL and whole.kind not in WITHIN_GROUPS
    n_raters = int(np.isfinite(whole.ratings).any(axis=1).sum())
    n_fits = MOST_WORK // ((n_raters * len(package.sources)) ** 2 + WORK_OF_A_FIT)
    n_tables = max(1, MOST_CELLS // (whole.ratings.size * len(pairs) or 1))
    rows = []
    for n, table in enumerate(islice(list_tables(package, whole), n_tables)):
        may_fit = whole.kind not in WITHIN_GROUPS and (n < n_fits or (n == 0 and by_model))
        if may_fit:
            rows += [row for pair in pairs for row in rows_of(package, table, pair, source_contrasts.BY_MODEL)]
        of_means = test if test != source_contrasts.BY_MODEL else "default"
        for pair in pairs:
            rows += [row for part in list_parts(table, *pair) for row in rows_of(package, part, pair, of_means)]
    return rows


def find_outcome(package, key):
    return next((table for table in package.outcomes if table.key == key), None)


def rows_of(package, table, pair, test):
    """For other raters, too, and for these, where there is an interval."""
    units = {name: table.of_source(name) for name in package.sources}
    units = {name: of_source for name, of_source in units.items() if of_source.any()}
    if not set(pair) <= set(units):
        return []
    (row,) = contrast_rows(compare(package, table, units, test=test), list(units), [pair])
    fields = {"n": int(np.isfinite(table.ratings).sum()), "value": row["value"]}
    both = [row.get("wide"), row.get("interval")] if row["value"] is not None else []
    return [fields | {"interval": ends} for ends in both if ends and ends.get("low") is not None]


def list_tables(package, whole):
    """The outcome without what can be left out, that of the plan first, by what can be measured."""
    planned = "all" if package.is_planned_to_exclude else "none"
    rules_used = [rule for rule in RULES if package.excluded(rule, planned=planned == "all")]
    variants = {"none": ()} | {rule: (rule,) for rule in rules_used}
    if planned == "all" or len(rules_used) > 1:
        variants["all"] = tuple(rules_used)
    if planned == "all" and len(rules_used) == 1:
        del variants[rules_used[0]]
    ordered = sorted(variants, key=lambda name: name != planned)
    for measured in list_measures(package, whole):
        n_all = np.isfinite(measured(package).ratings).sum()
        for name in ordered:
            left_out = package.excluded(*variants[name], planned=planned == "all")
            table = measured(package.without(left_out) if left_out else package)
            if table is not None and (name in (planned, "none") or np.isfinite(table.ratings).sum() < n_all):
                yield table


def list_measures(package, whole):
    """Functions of a package: the outcome and, of a score, the mean of its answered scales where that differs."""

    def outcome(package):
        return find_outcome(package, whole.key)

    def mean_of_scales(package):
        table = copy.copy(find_outcome(package, whole.key))
        ends = [item.bounds for item in table.items]
        is_reversed = [key in table.reversed for _step, key in (item.key for item in table.items)]
        turned = composites.turned(package.cube(table.items).values, ends, is_reversed)
        low, high = (np.array([pair[n] for pair in ends])[:, None, None] for n in (0, 1))
        shares = arrays.mean_present((turned - low) / (high - low), axis=0)
        table.ratings = np.round(table.bounds[0] + shares * table.width, 9)
        table.values = composites.over_raters(table.ratings)
        return table

    yield outcome
    has_ends = whole.kind in ("score", "scale_mean") and np.isfinite([item.bounds for item in whole.items]).all()
    if has_ends and not np.allclose(mean_of_scales(package).ratings, whole.ratings, equal_nan=True):
        yield mean_of_scales


def list_parts(table, first, second):
    """All stories and, where others stand alone, those of blocks that hold both sources."""
    yield table
    blocks = [set(table.blocks[table.of_source(name)].tolist()) for name in (first, second)]
    shared = blocks[0] & blocks[1]
    if shared and shared != blocks[0] | blocks[1]:
        part, is_shared = copy.copy(table), np.isin(table.blocks, list(shared))
        part.values = np.where(is_shared, table.values, np.nan)
        part.ratings = np.where(is_shared, table.ratings, np.nan)
        yield part
