"""Judges beside people: verdicts, scales, choices, pairs and rankings, and the line of what one of the people has."""

import json
from dataclasses import replace

import numpy as np
from recompute.readings import asked_units, group_outcomes, is_about, judged, judged_pairs, people_on_pairs
from recompute.scores import compare_judges, person_lines
from recompute.values import N_RESAMPLES, chance_floor, ends_of, mean, mean_interval, why

from stats import arrays, composites, judge_orders, judge_scores, judgements, table_scores
from stats import human_line as lines
from stats.agreement import Coefficient
from stats.reasons import Incomputable

VERDICTS, SCALES, CHOICES, LINES, PAIRS, RANKINGS, SCORES = 20, 21, 22, 23, 25, 26, 37  # of the seed


def judges(package):
    """On verdicts, beside the majority of people; and what nothing is compared on."""
    if package.report["is_sealed"]:
        return {}
    material = judged(package, package.verdicts, with_jury=True)
    compared = on_verdicts(package, material) if material else []
    return {"compared": compared, "not_analysed": not_analysed(package)}


def on_verdicts(package, material):
    truth = np.stack([judgements.majority(ratings) for ratings in material.people])
    of_item = (table_scores.KAPPA, table_scores.BALANCED_ACCURACY, table_scores.PERCENT_AGREEMENT)
    against = ("pairwise", "majority")
    scored = compare_judges(package, material, truth, table_scores.NOMINAL, of_item, against, VERDICTS)
    rows = []
    for scores, verdicts in zip(scored, material.judges, strict=True):
        parts = zip(material.items, verdicts, truth, strict=True)
        items = [item.fields | against_majority(own, of_people) for item, own, of_people in parts]
        is_asked = asked_units(package, scores["judge"], material.units)
        own, theirs = verdicts[:, is_asked], truth[:, is_asked]
        right, wrong = (np.where(np.isfinite(own), own, instead).ravel() for instead in (theirs, 1 - theirs))
        rows.append(
            {
                "judge": scores["judge"],
                "pooled": against_majority(verdicts.ravel(), truth.ravel()),
                "mean_kappa": mean([item["kappa"] for item in items]),
                "kappa_if_right": against_majority(right, theirs.ravel())["kappa"]["value"],
                "kappa_if_wrong": against_majority(wrong, theirs.ravel())["kappa"]["value"],
                "items": items,
                "outcomes": scores["outcomes"],
                "scores": scores,
            }
        )
    return rows


def against_majority(verdicts, truth):
    try:
        both = judgements.compare_with_majority(verdicts, truth)
    except Incomputable:
        return {"kappa": {"value": None}, "balanced_accuracy": {"value": None}, "n": 0}
    return {
        "kappa": value_of(both.kappa),
        "balanced_accuracy": value_of(both.balanced_accuracy),
        "yes_percent": 100 * both.yes_rate,
        "majority_yes_percent": 100 * both.majority_yes_rate,
        "n": both.n,
    }


def value_of(number):
    if isinstance(number, Incomputable):
        return {"value": None, "why": why(number)}
    return {"value": float(number) if isinstance(number, Coefficient) else number}


def not_analysed(package):
    """How many answers of a judge are to items of one type that the report says nothing else of."""
    rows = []
    for stored in package.report["judges"]["not_analysed"]:
        of_type = [item for item in package.items if item.row["type"] == stored["type"]]
        own = package.judges[is_about(package.judges, of_type)]
        own = own[(own["rater"] == stored["judge"]) & (own["step"] == stored["step"])]
        counts = {f"n_{name}": (own["outcome"] == name).sum() for name in ("answered", "declined", "unreadable")}
        rows.append(counts | {"n_items": own["item"].nunique()})
    return rows


def judges_on_scales(package):
    """On scales, beside the mean of people."""
    material, statistics = judged(package, package.scales, with_jury=True), judge_scores.ON_SCALES
    if material is None:
        return []
    return compare_judges(package, material, material.means, statistics, statistics, ("mean",), SCALES)


def judges_on_scores(package):
    """On declared scores, a judge's own beside the mean of people's."""
    tables = [table for table in package.outcomes if table.kind == "score"]
    asked = [item for item in package.items if any(item in table.items for table in tables)]
    answered = judged(package, asked) if asked else None
    if answered is None:
        return []
    places = [[asked.index(item) for item in table.items] for table in tables]
    answers = answered.judges.transpose(1, 0, 2)
    of_judges = [table.scores_of(answers[own]) for table, own in zip(tables, places, strict=True)]
    of_people = [table.scores_of(answered.people[own]) for table, own in zip(tables, places, strict=True)]
    judges = np.stack(of_judges).transpose(1, 0, 2)
    material = replace(answered, items=tables, judges=judges, people=np.stack(of_people))
    means, statistics = np.stack([composites.over_raters(own) for own in of_people]), judge_scores.ON_SCALES
    return compare_judges(package, material, means, statistics, statistics, ("mean",), SCORES, len(asked))


def judges_on_choices(package):
    """On choices, beside the option that more than half of the people chose."""
    material, statistics = judged(package, package.choices, with_jury=True), table_scores.ON_CHOICES
    if material is None:
        return []
    majority = np.stack([judgements.majority_option(ratings) for ratings in material.people])
    return compare_judges(package, material, majority, statistics, statistics, (), CHOICES)


def human_line(package):
    """One of the people beside the others, a judge in the same place, and how far these are apart."""
    kinds = (
        ("verdicts", package.verdicts, "pairwise"),
        ("choices", package.choices, "pairwise"),
        ("scales", package.scales, "mean"),
    )
    rows = []
    for salt, (kind, items, against) in enumerate(kinds):
        material = judged(package, items, with_jury=True)
        if material is not None and material.n_raters > 1:
            rows += sorted(lines_of(package, material, kind, against, salt), key=lambda row: row["part"])
    return rows


def lines_of(package, material, kind, against, salt):
    parts = {"all": np.ones(len(material.units), dtype=bool)}
    parts |= {"models": material.is_of_models} if material.is_mixed else {}
    for at, (name, answers) in enumerate(zip(material.names, material.judges, strict=True)):
        for place, (part, units) in enumerate(parts.items()):
            options = {"against": against, "rng": package.rng(LINES, salt, at, place), "n_resamples": N_RESAMPLES}
            row = {"judge": name, "kind": kind, "part": part}
            try:
                sides = material.people[..., units], answers[:, units], material.clusters[units]
                line = lines.compare(*sides, **options)
            except Incomputable as error:
                nothing = {"value": None, "why": why(error)}
                sides = {"expert": nothing, "of_judge": nothing, "difference": nothing}
                yield row | sides | {"n_people": material.n_raters, "n": 0}
                continue
            yield row | {
                "expert": {"value": line.person, "interval": ends_of(line.person_interval)},
                "of_judge": {"value": line.judge, "interval": ends_of(line.judge_interval)},
                "difference": {"value": line.difference, "interval": ends_of(line.difference_interval)},
                "n_people": line.n_people,
                "n": line.n_units,
            }


# ── whole groups ───────────────────────────────────────────────────────────────────────────────────────────────────


def mean_part(package, part, values, groups, bounds, floor, salt):
    """The mean over some groups with its interval and its floor. values : shape (G,), nan for a group that has none"""
    present = np.isfinite(values)
    if not present.any():
        return {"part": part, "value": None, "n": 0}
    clusters = package.clusters_of(group for group, is_in in zip(groups, present, strict=True) if is_in)
    ends = mean_interval(values[present], clusters, package.rng(*salt, 0), bounds)
    n = present.sum()
    return {"part": part, "value": values[present].mean(), "n": n, "n_units": n, "interval": ends, "floor": floor()}


def judges_on_pairs(package):
    """A judge's choices of a pair in both orders beside what more than half of the people chose."""
    rows = []
    for salt, item in enumerate(package.preferences):
        chosen, line = judged_pairs(package, item), []
        if chosen:
            groups = chosen[0].groups
            people, clusters = people_on_pairs(package, item, groups), package.clusters_of(groups)
            rng = package.rng(PAIRS, salt, 99)
            line = person_lines(people[None], clusters, ("preference",), rng, is_percent=True)
        for n, pairs in enumerate(chosen):
            rows.append(on_pairs(package, item, pairs, (PAIRS, salt, n)) | {"person_lines": line})
    return rows


def on_pairs(package, item, pairs, salt):
    choices = judge_orders.pair_choices(pairs.chosen, pairs.preferred)
    unknown, answered = np.where(pairs.is_order_known, 0.0, np.nan), np.isfinite(pairs.chosen)
    sides = {
        "accuracy": (choices.right, choices.wrong),
        "flip_rate": (choices.changed + unknown, None),
        "first_rate": (choices.first + unknown, choices.second + unknown),
    }
    is_by_models = np.array([all(map(package.is_by_model, two)) for two in pairs.stories], dtype=bool)
    parts = {"all": np.ones(len(pairs.groups), dtype=bool)}
    parts |= {"models": is_by_models} if is_by_models.any() and not is_by_models.all() else {}
    parts |= {"unanimous": pairs.is_unanimous, "split": (pairs.n_choices > 1) & ~pairs.is_unanimous}
    scores = []
    for at, (name, (shares, other)) in enumerate(sides.items()):
        rows = []
        for n, (part, mask) in enumerate(parts.items()):

            def floor(mask=mask, n=n, at=at, shares=shares, other=other):
                if other is None:
                    return {"mean": None, "upper": None}
                is_compared = mask & np.isfinite(shares)
                return chance_floor(
                    judge_orders.flip_floor, shares[is_compared], other[is_compared], rng=package.rng(*salt, at, n, 1)
                )

            values = np.where(mask, 100 * shares, np.nan)
            rows.append(mean_part(package, part, values, pairs.groups, (0, 100), floor, (*salt, at, n)))
        scores.append({"statistic": name, "parts": rows})
    return item.fields | {
        "judge": pairs.judge,
        "n_people": package.answers_to(item)["rater"].nunique(),
        "n_pairs": answered.any(axis=1).sum(),
        "n_both": (answered.all(axis=1) & pairs.is_order_known).sum(),
        "scores": scores,
        "outcomes": group_outcomes(package, item, pairs.judge, pairs.groups),
    }


def ranks_by_group(package, answers):
    """Of each group one row for each order of its stories, shape (R, S)."""
    stories, rows = {}, {}
    for group, story in package.units:
        stories.setdefault(group, []).append(story)
    for group, order in zip(answers["group"], answers["value"], strict=True):
        ranks = package.ranks_of(json.loads(order))
        rows.setdefault(group, []).append([ranks.get(story, np.nan) for story in stories[group]])
    empty = {group: np.zeros((0, len(codes))) for group, codes in stories.items()}
    return empty | {group: np.array(ranks, dtype=float) for group, ranks in rows.items()}, sorted(rows)


def judges_on_rankings(package):
    """A judge's order of each group beside the mean ranks of people, the mean over groups."""
    rows = []
    for salt, item in enumerate(item for item in package.items if item.is_ranking):
        of_people, _groups = ranks_by_group(package, package.answers_to(item))
        of_models = package.models[is_about(package.models, [item])]
        for n, judge in enumerate(sorted(of_models["rater"].unique())):
            own = of_models[(of_models["rater"] == judge) & (of_models["outcome"] == "answered")]
            orders, groups = ranks_by_group(package, own)
            score = on_rankings(package, orders, of_people, groups, (RANKINGS, salt, n))
            fields = {"judge": judge, "n_people": package.answers_to(item)["rater"].nunique(), "scores": [score]}
            rows.append(item.fields | fields | {"outcomes": group_outcomes(package, item, judge, package.groups)})
    return rows


def on_rankings(package, orders, of_people, groups, salt):
    tables = [of_people[group] for group in groups]
    is_by_models = [package.of_models([unit for unit in package.units if unit[0] == group]) for group in groups]
    has_people = np.array([len(table) > 0 for table in tables], dtype=bool)
    unanimous = np.array([len(table) > 1 and bool((table == table[0]).all()) for table in tables], dtype=bool)
    split = np.array([len(table) > 1 for table in tables], dtype=bool) & ~unanimous
    everything = [np.ones(len(mask), dtype=bool) for mask in is_by_models]
    parts, mixed = {"all": (has_people, everything)}, np.concatenate([np.zeros(0, dtype=bool), *is_by_models])
    parts |= {"models": (has_people, is_by_models)} if mixed.any() and not mixed.all() else {}
    parts |= {"unanimous": (unanimous, everything), "split": (split, everything)}
    rows = []
    for n, (part, (is_in, masks)) in enumerate(parts.items()):
        ranks = [np.where(mask, orders[group][0], np.nan) for group, mask in zip(groups, masks, strict=True)]
        means = [arrays.mean_present(table, axis=0) for table in tables]
        both = zip(ranks, means, is_in, strict=True)
        taus = np.array([judge_orders.group_tau(a, b) if is_kept else np.nan for a, b, is_kept in both])

        def floor(taus=taus, ranks=ranks, means=means, n=n):
            is_compared = np.flatnonzero(np.isfinite(taus))
            sides = [ranks[k] for k in is_compared], [means[k] for k in is_compared]
            return chance_floor(judge_orders.group_floor, *sides, rng=package.rng(*salt, n, 1))

        rows.append(mean_part(package, part, taus, groups, (-1, 1), floor, (*salt, n)))
    return {"statistic": "group_tau", "parts": rows}
