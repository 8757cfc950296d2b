"""The answers of raters together by the model of Dawid and Skene, beside the majority."""

import numpy as np
from recompute.values import or_none, why

from stats import dawid_skene as together
from stats.reasons import Incomputable


def dawid_skene(package):
    """By the model the share of each answer beside the majority's, and how often each rater recognises it."""
    answers, raters = [], []
    for about, options, codes, shown_codes, has_raters in questions(package):
        majority, model = together.majority(codes, len(options)), None
        try:
            model = together.fit_identified(codes, len(options))
        except Incomputable as error:
            reason = why(error)
        has_answer, has_majority = np.isfinite(codes), majority >= 0
        counts = {"n": has_answer.any(axis=0).sum(), "n_raters": has_answer.any(axis=1).sum()}
        counts["n_majority"] = has_majority.sum()
        for code in shown_codes:
            row = about | counts | {"option": options[code]}
            if has_majority.any():
                row["majority_percent"] = 100 * (majority[has_majority] == code).mean()
            if model is None:
                row["why"] = reason
            else:
                n_differ = (has_majority & (model.labels != majority)).sum()
                row |= {"value": 100 * model.shares[code], "n_differ": n_differ}
            answers.append(row)
        if has_raters:
            raters += recognitions(package, about | ({} if model else {"why": reason}), options, codes, model)
    return {"answers": answers, "raters": raters}


def questions(package):
    """Of each model what it is about, the options, answers as codes, which options are shown, whether raters are."""
    verdicts = package.verdicts
    if len(verdicts) > 1:
        cube = package.cube(verdicts)
        codes = np.concatenate(list(cube.values), axis=1)
        yield {"step": "", "item": "all"}, ("no", "yes"), codes, (1,), True
    for item in package.items:
        if item.is_verdict and item.is_about_a_story:
            yield item.fields, ("no", "yes"), package.cube([item]).values[0], (1,), len(verdicts) == 1
        elif item.is_choice and not item.author_by_option and len(item.options) > 1:
            options = [option["value"] for option in item.options]
            yield item.fields, options, package.cube([item]).values[0], range(len(options)), True


def recognitions(package, about, options, codes, model):
    """Of each rater how often each answer is given where it is probable. about : with the reason where there is none"""
    rows = []
    for code in (1, 0) if tuple(options) == ("no", "yes") else range(len(options)):
        for place in np.flatnonzero(np.isfinite(codes).any(axis=1)):
            row = about | {"option": options[code], "rater": package.raters[place], "value": None}
            if model:
                share = or_none(model.recognised[place, code])
                row |= {"n": model.n_expected[place, code], "value": None if share is None else 100 * share}
                if share is None:
                    row["why"] = {"values": {"least": together.FEWEST_UNITS}}
            rows.append(row)
    return rows
