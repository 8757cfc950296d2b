"""How far sources, or levels of a property, are apart; how much raters, stories and the rest vary."""

from collections import defaultdict
from itertools import combinations

import numpy as np
from recompute.tables import as_number
from recompute.values import N_RESAMPLES, ends_of, interval, why
from recompute.wide import outcome_intervals

from stats import contrasts
from stats import variance_components as components
from stats.reasons import Incomputable


def comparisons(package):
    """Of each outcome the means of sources, and every two of them; p adjusted over whole families of outcomes."""
    outcomes, plan = [], package.plan
    for table in package.outcomes:
        names = [name for name in package.sources if table.of_source(name).any()]
        if len(names) < 2:
            continue
        units = {name: table.of_source(name) for name in names}
        is_primary = bool(plan) and plan.get("outcome") == table.key
        levels = [
            {"source": n, "value": table.values[u].mean(), "n_stories": table.n_stories(u)} for n, u in units.items()
        ]
        rows = contrast_rows(package, table, units)
        for row in rows:
            row["is_planned"] = is_primary and is_named(plan, row["first"], row["second"])
        fields = {"key": table.key, "kind": table.kind, "margin": plan.get("margin") if is_primary else None}
        is_single = table.kind == "verdict" and table.is_part and not is_primary
        family = {"correction": "fdr_bh" if is_single else "holm", "is_part": table.is_part and not is_primary}
        outcomes.append((fields | {"sources": levels, "contrasts": rows}, family))
    families = defaultdict(list)
    for outcome, family in outcomes:
        for row in outcome["contrasts"]:
            families[family["correction"], family["is_part"], row["is_planned"]].append(row)
    for (correction, _is_part, _is_planned), rows in families.items():
        adjust(rows, correction)
    return {"outcomes": [outcome for outcome, _family in outcomes]}


def is_named(plan, first, second):
    """Whether the plan names the contrast of these two; as it stands, each source with the reference."""
    contrasts_planned = plan.get("contrasts", "against_reference")
    is_against_reference = contrasts_planned == "against_reference" and plan.get("reference") in (first, second)
    is_listed = {first, second} in [set(pair) for pair in plan.get("pairs", [])]
    return contrasts_planned == "every_pair" or is_against_reference or is_listed


def adjust(rows, correction):
    """Write into the contrasts of a family their p values for all that the family looked at."""
    present = [row.get("p") for row in rows]
    least = [
        None if row.get("p") is None else contrasts.least_p(row["test"], [n for n in (row["n"], row["n_second"]) if n])
        for row in rows
    ]
    adjusted = zip(rows, contrasts.adjust(present, correction), contrasts.adjust(least, correction), strict=True)
    for row, p, p_least in adjusted:
        n_family = 0 if p is None else sum(p is not None for p in present)
        row |= {"p_adjusted": p, "p_least": p_least, "n_family": n_family}


def contrast_rows(package, table, units_by_name):
    """Every two of these parts of the stories. units_by_name : which units are of a part, shape (U,)"""
    parts = {
        name: (
            contrasts.cluster_means(table.values, table.clusters, units),
            components.cell_means(table.ratings, table.clusters, units),
        )
        for name, units in units_by_name.items()
    }
    return [
        {"first": first, "second": second}
        | contrast_row(package, *zip(parts[first], parts[second], strict=True), table.width)
        for first, second in combinations(parts, 2)
    ]


def contrast_row(package, means, by_rater, most):
    test = package.plan.get("test", "default")
    options = {"test": test, "most": most, "rng": package.resampling(), "n_resamples": N_RESAMPLES}
    try:
        contrast = contrasts.contrast(*means, **options)
    except Incomputable as error:
        return {"value": None, "why": why(error)}

    def for_other_raters():
        ends = components.difference_interval(*by_rater, contrast.difference, is_paired=contrast.is_paired)
        return components.widened(ends, contrast.interval).clipped(-most, most)

    return {
        "value": contrast.difference,
        "first_value": contrast.means[0],
        "second_value": contrast.means[1],
        "interval": ends_of(contrast.interval),
        "wide": interval(for_other_raters),
        "low_90": contrast.narrow[0],
        "high_90": contrast.narrow[1],
        "p": contrast.p,
        "test": contrast.test,
        "n": contrast.n[0],
        "n_second": None if contrast.is_paired else contrast.n[1],
        "n_left_out": contrast.n_left_out,
        "effect": contrast.effect,
    }


def factors(package):
    """By a property of the stories, over all sources and within each that has several of its levels."""
    levels = {
        name: of_factor
        for name, of_factor in package.factors.items()
        if name != "drawn" and 2 <= len(set(of_factor.values())) <= 8
    }
    whole = [table for table in package.outcomes if not table.is_part]
    return [of_factor(package, name, levels[name], table) for name in levels for table in whole]


def of_factor(package, name, level_by_story, table):
    level_of_unit = np.array([level_by_story.get(story, "") for _group, story in table.units])
    is_rated = np.isfinite(table.values)
    names = sorted({str(level) for level in level_of_unit[is_rated] if level}, key=order_of)
    units = {level: (level_of_unit == level) & is_rated for level in names}
    means = [level_mean(package, table, units[level], level, "") for level in names]
    for source in package.sources:
        cells = {level: units[level] & table.of_source(source) for level in names}
        filled = [level for level in names if cells[level].any()]
        if len(filled) > 1:
            means += [level_mean(package, table, cells[level], level, source) for level in filled]
    rows = contrast_rows(package, table, units)
    adjust(rows, "holm")
    return {"factor": name, "key": table.key, "means": means, "contrasts": rows}


def order_of(level):
    """Numbers first, the least before the others; then words by the alphabet."""
    number = as_number(level)
    return number is None, number or 0.0, level


def level_mean(package, table, units, level, source):
    ends, wide = outcome_intervals(package, table, units)
    fields = {"level": level, "source": source, "value": table.values[units].mean()}
    return fields | {"n_stories": table.n_stories(units), "interval": ends, "wide": wide}


def variance_components(package):
    rows = []
    for table in package.outcomes:
        units_by_source = {name: table.of_source(name) for name in package.sources}
        sources = [
            level_mean(package, table, units, "", name) for name, units in units_by_source.items() if units.any()
        ]
        fields = {"key": table.key, "sources": [{k: row[k] for k in row if k != "level"} for row in sources]}
        try:
            parts = components.components(table.ratings)
        except Incomputable as error:
            rows.append(fields | {"why": why(error)})
            continue
        counts = {"n_raters": parts.n_raters, "n_stories": parts.n_clusters, "n_ratings": parts.n_ratings}
        rows.append(fields | {name: getattr(parts, name) for name in ("rater", "story", "residual")} | counts)
    return rows
