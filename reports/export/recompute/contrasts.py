"""How far sources, or levels of a property, are apart; how much raters, stories and the rest vary."""

from collections import defaultdict
from itertools import combinations

import numpy as np
from recompute.tables import RULES, as_number
from recompute.values import N_RESAMPLES, ends_of, why
from recompute.wide import outcome_intervals

from stats import contrasts, log_odds_checks, source_contrasts
from stats import variance_components as components
from stats.reasons import Incomputable

SURE = 0.05
FEWEST_STORIES = 4  # of a source, below which nothing is found out about it

# What a contrast has from `stats` under the same name.
AS_FOUND = (
    *("low_90", "high_90", "p", "p_same_raters", "p_within", "test", "n", "n_second", "n_left_out"),
    *("n_raters", "n_blocks", "effect"),
)


def comparisons(package):
    """Of each outcome the means of sources, and every two of them; p adjusted over whole families of outcomes."""
    outcomes, plan, models = [], package.plan, []
    for table in package.planned_outcomes:
        names = [name for name in package.sources if table.of_source(name).any()]
        if len(names) < 2:
            continue
        units = {name: table.of_source(name) for name in names}
        is_primary = bool(plan) and plan.get("outcome") == table.key
        is_named = is_primary or table.key in plan.get("secondary", ())
        margin = plan.get("margin") if is_primary else None
        compared = compare_sources(package, table, names, margin=margin)
        models.append((compared, names))
        rows = contrast_rows(compared, names)
        for row in rows:
            row["is_planned"] = is_named and names_pair(plan, row["first"], row["second"])
        levels = [
            {"source": name, "value": table.values[units[name]].mean(), "n_stories": table.n_stories(units[name])}
            | adjusted_mean(compared, number)
            for number, name in enumerate(names)
        ]
        is_single = table.kind == "verdict" and table.is_part and not is_named
        family = {"correction": "fdr_bh" if is_single else "holm", "is_part": table.is_part and not is_named}
        fields = {"key": table.key, "kind": table.kind, "margin": margin, "of_all": of_all(compared)}
        fields["parts"] = parts_of(compared.model)
        outcomes.append((fields | {"sources": levels, "contrasts": rows}, family))
    families = defaultdict(list)
    for outcome, family in outcomes:
        families[family["correction"], family["is_part"]].append(outcome)
    for (correction, _is_part), members in families.items():
        adjust_unplanned(members, correction)
    for is_primary in (True, False):  # secondary outcomes are a family of their own
        members = [outcome for outcome, _f in outcomes if (outcome["key"] == plan.get("outcome")) == is_primary]
        adjust([row for outcome in members for row in outcome["contrasts"] if row["is_planned"]], "holm")
    add_checks([outcome for outcome, _family in outcomes], models)
    return {"outcomes": [outcome for outcome, _family in outcomes]}


def add_checks(outcomes, models):
    """Write into the outcomes what the model of log odds says of contrasts that are planned or clear."""
    rows = [
        [row for row in outcome["contrasts"] if row["value"] is not None and (row["is_planned"] or is_clear(row))]
        if outcome["kind"] in ("rating", "verdict")
        else []
        for outcome in outcomes
    ]
    pairs = [
        [(names.index(row["first"]), names.index(row["second"])) for row in of_outcome]
        for of_outcome, (_compared, names) in zip(rows, models, strict=True)
    ]
    log_odds = log_odds_checks.check_contrasts(
        [(compared.crossed, of_outcome) for (compared, _names), of_outcome in zip(models, pairs, strict=True)]
    )
    for outcome, of_outcome, differences in zip(outcomes, rows, log_odds, strict=True):
        outcome["checks"] = [check_of(*pair) for pair in zip(of_outcome, differences, strict=True)]


def check_of(row, difference):
    fields = {"first": row["first"], "second": row["second"], "difference": row["value"]}
    if isinstance(difference, Incomputable):
        return fields | {"value": None, "why": why(difference)}
    low, high = difference.ends
    ends = {"low": low, "high": high, "n_resampled": min(row["n_stories"], row["n_stories_second"])}
    return fields | {"value": difference.value, "interval": ends, "p": difference.p}


def is_clear(row):
    """Whether the two are told apart after correction for other stories and other raters."""
    ps = [row.get(name) for name in ("p_adjusted", "p_same_raters_adjusted", "p_least")]
    are_sure = all(p is not None and p < SURE for p in ps)
    low, high = row["wide"]["low"], row["wide"]["high"]
    n_stories = min(row["n_stories"], row["n_stories_second"])
    return are_sure and n_stories >= FEWEST_STORIES and low is not None and not low <= 0 <= high


def names_pair(plan, first, second):
    """Whether the plan names the contrast of these two; as it stands, each source with the reference."""
    contrasts_planned = plan.get("contrasts", "against_reference")
    is_against_reference = contrasts_planned == "against_reference" and plan.get("reference") in (first, second)
    is_listed = {first, second} in [set(pair) for pair in plan.get("pairs", [])]
    return contrasts_planned == "every_pair" or is_against_reference or is_listed


def adjust(rows, correction):
    """Write into the contrasts of a family their p values for all that the family looked at."""
    ps = {
        name: contrasts.adjust([row.get(name) for row in rows], correction)
        for name in ("p", "p_same_raters", "p_within")
    }
    least = contrasts.adjust([least_p(row) for row in rows], correction)
    n_family = sum(row.get("p_same_raters") is not None for row in rows)
    for n, row in enumerate(rows):
        row |= {f"{name}_adjusted": of_rows[n] for name, of_rows in ps.items()}
        row |= {"p_least": least[n], "n_family": n_family if row.get("p_same_raters") is not None else 0}


def adjust_unplanned(outcomes, correction):
    """Write into what was not planned of the outcomes of a family its p values: outcomes first, then pairs within."""
    families = [[row for row in outcome["contrasts"] if not row["is_planned"]] for outcome in outcomes]
    for outcome, rows in zip(outcomes, families, strict=True):
        outcome["of_all"] = test_of_all(outcome["of_all"], rows)
    of_outcomes = [outcome["of_all"]["p"] if outcome["of_all"] else None for outcome in outcomes]
    ps, corrected = source_contrasts.adjust_within(
        [[row.get("p") for row in rows] for rows in families], of_outcomes, correction
    )
    of_same_raters = [[row.get("p_same_raters") for row in rows] for rows in families]
    least = [[least_p(row) for row in rows] for rows in families]
    of_same_raters, least = (
        source_contrasts.adjust_within(pairs, [source_contrasts.p_of_all(part) for part in pairs], correction)[0]
        for pairs in (of_same_raters, least)
    )
    n_outcomes = sum(any(row.get("p_same_raters") is not None for row in rows) for rows in families)
    adjusted = zip(ps, of_same_raters, least, strict=True)
    for outcome, rows, of_rows, p_of_outcome in zip(outcomes, families, adjusted, corrected, strict=True):
        n_family = sum(row.get("p_same_raters") is not None for row in rows)
        for row, p, p_same, p_least in zip(rows, *of_rows, strict=True):
            row |= {"p_adjusted": p, "p_same_raters_adjusted": p_same, "p_least": p_least}
            row |= {"n_outcomes": n_outcomes} if n_outcomes > 1 else {}
            row["n_family"] = n_family if p_same is not None else 0
        if outcome["of_all"]:
            outcome["of_all"]["p_adjusted"] = p_of_outcome


def least_p(row):
    if row.get("p_same_raters") is None:
        return None
    return contrasts.least_p(row["test"], [n for n in (row["n"], row["n_second"]) if n is not None])


def compare_sources(package, table, names, *, margin=None):
    """These sources, by the plan's test on its primary outcome, else by the model."""
    is_primary = package.plan.get("outcome") == table.key
    test = package.plan.get("test", "default") if is_primary else source_contrasts.BY_MODEL
    return compare(package, table, {name: table.of_source(name) for name in names}, test=test, margin=margin)


def exclusions(package):
    """Each planned contrast with all answers, without what each rule leaves out, and without all of that."""
    rules = [rule for rule in RULES if package.excluded(rule) or is_applied(package.plan, rule)]
    single = rules if len(rules) > 1 else []
    variants = [("none", ()), *((rule, (rule,)) for rule in single), ("all", rules)]
    rows = []
    named = [package.plan.get("outcome"), *package.plan.get("secondary", ())]
    left = {name: package.without(package.excluded(*of_variant)).outcomes for name, of_variant in variants}
    for key in named:
        whole = next((table for table in package.outcomes if table.key == key), None)
        if whole is None:
            continue
        for name, _rules in variants:
            kept = next((table for table in left[name] if table.key == key), None)
            rows += excluded_rows(package, whole, kept)
    return rows


def is_applied(plan, rule):
    """Whether the plan has the rule, also one that leaves nothing out."""
    name = {"fast": "faster_than"}.get(rule, rule)
    return plan.get(f"exclude_{name}") not in (None, "", False, [])


def excluded_rows(package, whole, kept):
    n, n_kept = np.isfinite(whole.ratings).sum(), np.isfinite(kept.ratings).sum() if kept else 0
    counts = {"n": n_kept, "n_left_out": n - n_kept}
    counts["n_raters_left_out"] = n_of(whole, "raters") - (n_of(kept, "raters") if kept else 0)
    counts["n_stories_left_out"] = n_of(whole, "stories") - (n_of(kept, "stories") if kept else 0)
    names = [name for name in package.sources if whole.of_source(name).any()]
    present = [name for name in names if kept and kept.of_source(name).any()]
    compared = compare_sources(package, kept, present) if present else None
    rows = []
    for first, second in combinations(names, 2):
        if not names_pair(package.plan, first, second):
            continue
        row = counts | {"value": None}
        if {first, second} <= set(present):
            (contrast,) = contrast_rows(compared, present, [(first, second)])
            row |= {name: contrast[name] for name in ("value", "first_value", "second_value", "p") if name in contrast}
            has_wide = contrast.get("wide", {}).get("low") is not None
            row["interval"] = contrast.get("wide" if has_wide else "interval")
        rows.append(row)
    return rows


def n_of(table, things):
    """How many raters, or stories, have a rating."""
    is_rated = np.isfinite(table.ratings)
    return int(is_rated.any(axis=1).sum()) if things == "raters" else table.n_stories(is_rated.any(axis=0))


def compare(package, table, units_by_name, *, test, margin=None):
    """These parts of the stories. units_by_name : which units are of a part, shape (U,)"""
    source = np.full(table.values.shape, -1, dtype=np.int64)
    for number, units in enumerate(units_by_name.values()):
        source[units] = number
    if test == source_contrasts.BY_MODEL and table.kind in ("rank", "preference"):
        test = "default"
    answers = source_contrasts.OutcomeAnswers(
        values=table.values,
        ratings=table.ratings,
        source=source,
        block=table.blocks,
        story=table.stories,
        cluster=table.clusters,
        most=table.width,
    )
    options = {"resampling": package.resampling, "n_resamples": N_RESAMPLES}
    return source_contrasts.ComparedSources(answers, test=test, margin=margin, **options)


def contrast_rows(compared, names, pairs=None):
    """Every two of them, or only these pairs."""
    rows = []
    for first, second in combinations(names, 2) if pairs is None else pairs:
        n, m = names.index(first), names.index(second)
        row = {"first": first, "second": second}
        try:
            contrast = compared.between(n, m)
        except Incomputable as error:
            rows.append(row | {"value": None, "why": why(error)})
            continue
        row |= {"value": contrast.difference, "first_value": contrast.means[0], "second_value": contrast.means[1]}
        row |= {"interval": ends_of(contrast.interval), "wide": ends_of(contrast.wide)}
        row |= {"n_stories": contrast.n_stories[0], "n_stories_second": contrast.n_stories[1]}
        rows.append(row | {name: getattr(contrast, name) for name in AS_FOUND})
    return rows


def adjusted_mean(compared, number):
    mean = compared.mean(number)
    return {} if mean is None else {"adjusted": mean[0], "interval": ends_of(mean[1])}


def of_all(compared):
    """Whether any two of them differ, by the F test."""
    test = compared.test_all()
    return test and {"p": test.p, "f": test.f, "numerator": test.numerator, "denominator": test.denominator}


def test_of_all(test, rows):
    """The same, or else the least p of the pairs; none if all were planned."""
    if not rows or test:
        return test if rows else None
    p = source_contrasts.p_of_all([row.get("p") for row in rows])
    return None if p is None else {"p": p}


def parts_of(model):
    is_fitted = model is not None and not isinstance(model, Incomputable)
    return [{"variance": variance} for variance in model.variances.values()] if is_fitted else []


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
    compared = compare(package, table, units, test=source_contrasts.BY_MODEL)
    rows = contrast_rows(compared, names)
    adjust(rows, "holm")
    fields = {"factor": name, "key": table.key, "means": means}
    return fields | {"contrasts": rows, "parts": parts_of(compared.model)}


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
