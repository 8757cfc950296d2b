"""Contrasts of the mixed model, and what they are corrected for, held against the report."""

import numpy as np
import pandas as pd

from tests.independent import intervals
from tests.independent.mixed_model import MOST_ANSWERS, MixedModel, p_of, p_of_f, p_within, t_interval
from tests.independent.source_spreads import Spreads

LEVEL = 0.05
LOG_ODDS = "what rests on the model of log odds, which is held against clmm and glmer of R"
NO_REST = "what rests on how sure variances are, where nothing is left beside raters and stories"


def check_model(place, outcome, answers, within, check):
    """Every number of an outcome that comes from the model. answers : with source and block; within : of differences"""
    answers = answers.dropna(subset=["source"])
    n_sources = answers.groupby("block")["source"].transform("nunique")
    blocks = answers.groupby("source")["block"].agg(set)
    answers = compared = answers[n_sources > 1] if (n_sources > 1).any() else answers
    if (answers.groupby("story")["number"].nunique() == 1).all():  # raters agree: one answer a story says it all
        answers = answers.drop_duplicates("story").assign(rater="all")
    if len(answers) > MOST_ANSWERS:
        for part in ("contrasts", "parts", "of_all", "sources"):
            check.leave(outcome.get(part) or [], "a matrix of all answers that is too large")
        return
    parts = {row["part"]: row["variance"] for row in outcome["parts"]}
    model = MixedModel(answers, parts)
    if model.is_highest():
        check.computed |= {id(row["variance"]) for row in outcome["parts"]}
    else:
        check.differences.append({"place": f"{place}/parts", "report": parts, "recomputed": "a higher likelihood"})
    margin = outcome.get("margin")
    for row in outcome["contrasts"]:
        if row.get("value") is not None:
            label = f"{place}/{row['first']} less {row['second']}"
            check_contrast(label, row, model, compared, blocks, parts, within, margin, check)
    for row in outcome.get("sources", ()):
        if row.get("adjusted") is not None:
            check_mean(f"{place}/{row['source']}", row, model, compared, check)
    test = outcome.get("of_all")
    if model.has_no_rest:
        check.leave([test, [row.get("interval") for row in outcome.get("sources", ())]], NO_REST)
    elif test and test.get("f") is not None:
        f, numerator, denominator = model.of_all(Spreads(model))
        check.numbers(f"{place}/of_all", test, numerator=numerator)
        check.near(f"{place}/of_all/f", test["f"], f, 1e-6)
        check.near(f"{place}/of_all/denominator", test["denominator"], denominator, 2e-3)
        check.near(f"{place}/of_all/p", test["p"], p_of_f(f, numerator, denominator), 2e-3)


def check_mean(label, row, model, answers, check):
    of_source = answers[answers["source"] == row["source"]]
    value, *same = model.mean(row["source"], other_raters=False)
    check.near(f"{label}/adjusted", row["adjusted"], value, 1e-6 if model.has_no_rest else 1e-9)
    if model.has_no_rest:
        return
    others = model.mean(row["source"])[1:] if of_source["rater"].nunique() > 1 else None
    by_raters = model.by_raters(model.mean_row(row["source"])) if others else None
    same, others = Spreads(model).widened({row["source"]: 1}, same, others)
    ends = widest(t_interval(value, *each) for each in (same, others, by_raters) if each)
    check_ends(f"{label}/interval", row["interval"], ends, of_source["story"].nunique(), check)


def check_contrast(label, row, model, answers, blocks, parts, within, margin, check):
    first, second = (answers[answers["source"] == row[side]] for side in ("first", "second"))
    both = pd.concat([first, second])
    value, error, degrees = model.difference(row["first"], row["second"], other_raters=False)
    check.numbers(
        label,
        row,
        n_stories=first["story"].nunique(),
        n_stories_second=second["story"].nunique(),
        n_raters=both["rater"].nunique(),
    )
    values = {
        "value": value,
        "first_value": model.mean_row(row["first"]) @ model.effects,
        "second_value": model.mean_row(row["second"]) @ model.effects,
        "effect": value / sum(parts.values()) ** 0.5,
    }
    for name, computed in values.items():
        check.near(f"{label}/{name}", row[name], computed, 1e-6 if model.has_no_rest else 1e-9)
    one, other = blocks[row["first"]], blocks[row["second"]]
    check.number(f"{label}/n_blocks", row.get("n_blocks", 0), len(one & other))
    n_alone = len(one ^ other) if one & other else 0
    check.number(f"{label}/n_left_out", row.get("n_left_out", 0), n_alone)
    if model.has_no_rest:
        left = ("interval", "wide", "p", "p_same_raters", "p_within", "low_90", "high_90")
        check.leave([row.get(name) for name in left], NO_REST)
        return
    others = model.difference(row["first"], row["second"])[1:] if both["rater"].nunique() > 1 else None
    by_raters = model.by_raters(model.contrast_row(row["first"], row["second"])) if others else None
    same, others = Spreads(model).widened({row["first"]: 1, row["second"]: -1}, (error, degrees), others)
    narrow, p_same = t_interval(value, *same), p_of(value, *same)
    all_of = [each for each in (same, others, by_raters) if each]
    n = min(first["story"].nunique(), second["story"].nunique())
    check_ends(f"{label}/interval", row["interval"], intervals.clip(narrow, within), n, check)
    check.near(f"{label}/p_same_raters", row["p_same_raters"], p_same, 2e-3)
    if others:
        wide = widest(t_interval(value, *each) for each in all_of)
        check_ends(f"{label}/wide", row["wide"], intervals.clip(wide, within), n, check)
        check.near(f"{label}/p", row["p"], max(p_of(value, *each) for each in all_of), 2e-3)
    if margin is not None:
        check.near(f"{label}/p_within", row["p_within"], max(p_within(value, *each, margin) for each in all_of), 2e-3)
    ends = intervals.clip(widest(t_interval(value, *each, 0.9) for each in all_of), within)
    check.near(f"{label}/low_90", row["low_90"], ends[0], 2e-3)
    check.near(f"{label}/high_90", row["high_90"], ends[1], 2e-3)


def widest(ends):
    """Of intervals around one value."""
    return max(ends, key=lambda each: each[1] - each[0])


def check_ends(label, stored, ends, n, check):
    check.number(f"{label}/n_resampled", stored["n_resampled"], n)
    check.near(f"{label}/low", stored["low"], ends[0], 2e-3)
    check.near(f"{label}/high", stored["high"], ends[1], 2e-3)


def check_families(outcomes, holm, benjamini_hochberg, least_p, check):
    """p of planned contrasts together; of others by outcome, then of pairs within outcomes that pass."""
    check.leave([outcome.get("checks") for outcome in outcomes], LOG_ODDS)
    for is_primary in (True, False):  # secondary outcomes are a family of their own
        of_family = [o for o in outcomes if o.get("is_primary", False) == is_primary]
        planned = [(o, row) for o in of_family for row in o["contrasts"] if row.get("is_planned")]
        check_together(planned, holm, least_p, check)
    families = {}
    for outcome in outcomes:
        is_named = outcome.get("is_primary", False) or outcome.get("is_secondary", False)
        is_part = outcome.get("is_part", False) and not is_named
        families.setdefault((outcome["correction"], is_part), []).append(outcome)
    for (correction, _is_part), family in families.items():
        check_within(family, benjamini_hochberg if correction == "fdr_bh" else holm, holm, least_p, check)


def check_together(rows, correct, least_p, check):
    """rows : outcome and contrast of one family"""
    for name, adjusted in (
        ("p", "p_adjusted"),
        ("p_same_raters", "p_same_raters_adjusted"),
        ("p_within", "p_within_adjusted"),
        (None, "p_least"),
    ):
        have = [(o, row) for o, row in rows if row.get("p_same_raters" if name is None else name) is not None]
        values = correct(pd.Series([least_p(row) if name is None else row[name] for _o, row in have], dtype=float))
        for (outcome, row), value in zip(have, values, strict=True):
            check.number(f"{outcome['key']}/{row['first']} less {row['second']}/{adjusted}", row[adjusted], value)
    tested = [row for _o, row in rows if row.get("p_same_raters") is not None]
    for row in tested:
        check.number("n_family", row["n_family"], len(tested))


def check_within(outcomes, correct, holm, least_p, check):
    families = [[row for row in o["contrasts"] if not row.get("is_planned")] for o in outcomes]
    tested = [[row for row in rows if row.get("p_same_raters") is not None] for rows in families]
    same = [[row["p_same_raters"] for row in rows] for rows in tested]
    least = [[least_p(row) for row in rows] for rows in tested]
    with_p = [[row for row in rows if row.get("p") is not None] for rows in families]
    ps = [[row["p"] for row in rows] for rows in with_p]
    whole = [o["of_all"]["p"] if rows and o.get("of_all") else None for o, rows in zip(outcomes, families, strict=True)]
    for outcome, rows, one in zip(outcomes, families, whole, strict=True):
        test = outcome.get("of_all")
        if test and test.get("f") is None and one is not None:
            check.number(f"{outcome['key']}/of_all", test["p"], least_of(holm, [row.get("p") for row in rows]))
    for name, rows, pairs, of_outcomes in (
        ("p_adjusted", with_p, ps, whole),
        ("p_same_raters_adjusted", tested, same, [least_of(holm, part) for part in same]),
        ("p_least", tested, least, [least_of(holm, part) for part in least]),
    ):
        adjusted, corrected = within_passed(pairs, of_outcomes, correct, holm)
        for outcome, of_rows, values, p_of_outcome in zip(outcomes, rows, adjusted, corrected, strict=True):
            for row, value in zip(of_rows, values, strict=True):
                place = f"{outcome['key']}/{row['first']} less {row['second']}/{name}"
                check.number(place, row[name], value)
            if name == "p_adjusted" and outcome.get("of_all") and p_of_outcome is not None:
                check.number(f"{outcome['key']}/of_all/{name}", outcome["of_all"][name], p_of_outcome)
    n_outcomes = sum(bool(rows) for rows in tested)
    for rows in tested:
        for row in rows:
            check.numbers("family", row, n_family=len(rows))
    for rows in families:
        for row in rows:
            check.number("n_outcomes", row.get("n_outcomes", 1), n_outcomes)


def within_passed(pairs, of_outcomes, correct, holm):
    """Benjamini & Bogomolov 2014: pairs by Holm at 5 % times the share of outcomes that pass."""
    present = pd.Series({n: p for n, p in enumerate(of_outcomes) if p is not None}, dtype=float)
    corrected = correct(present) if len(present) else present
    n_passed = max(int((corrected < LEVEL).sum()), 1)
    adjusted = []
    for n, part in enumerate(pairs):
        values = holm(pd.Series(part, dtype=float)) * len(present) / n_passed
        adjusted.append(np.clip(np.maximum(values, corrected.get(n, 1.0)), None, 1.0).tolist())
    return adjusted, [corrected.get(n) for n in range(len(pairs))]


def least_of(holm, ps):
    present = pd.Series([p for p in ps if p is not None], dtype=float)
    return holm(present).min() if len(present) else None
