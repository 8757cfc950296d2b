"""Judges, metrics and people beside the standard of a plan, whose labels are properties of stories, or answers."""

import math
from dataclasses import replace

import numpy as np
from recompute.judges import mean_part
from recompute.readings import PackagedJudged, group_outcomes, is_about, judged, judged_pairs, pairs_of
from recompute.scores import compare_judges, score, sides_of
from recompute.tables import build_cube
from recompute.texts import measured
from recompute.values import chance_floor, share

from stats import judge_orders, judge_scores, score_pairs, table_scores

OF_STORIES, OF_PAIRS = 158, 159  # of the seed
PEOPLE, LONGER, METRICS = 100, 101, 200  # of that of pairs
OF_MEASURES = 1000  # of that of stories
PARTS = ("all", "models")
WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
OF_LABELS = {
    "no_unit_with_judge_and_people": "no_unit_with_judge_and_label",
    "judge_or_people_constant": "judge_or_labels_constant",
}


def judges_on_standard(package):
    """How many labels there are, and how judges and others agree with them."""
    labels = list(read_labels(package))
    statistics = {
        "verdicts": (table_scores.PERCENT_AGREEMENT, table_scores.BALANCED_ACCURACY, table_scores.KAPPA),
        "choices": table_scores.ON_CHOICES,
        "scales": judge_scores.ON_SCALES,
    }
    by_kind = {kind: [row for row in labels if row["kind"] == kind] for kind in (*statistics, "pairs")}
    compared = {kind: on_stories(package, by_kind[kind], of_kind) for kind, of_kind in statistics.items()}
    pairs = [on_pairs(package, row, salt) for salt, row in enumerate(by_kind["pairs"])]
    measures = [row for at, own in enumerate(labels) for row in on_labels(package, own, at)]
    counts = [row["item"].fields | row["counts"] for row in labels]
    return speak_of_labels({"labels": counts, **compared, "measures": measures, "pairs": pairs})


def speak_of_labels(value):
    """The reasons that speak of people as they are where labels stand in their place."""
    if isinstance(value, list):
        return [speak_of_labels(part) for part in value]
    if isinstance(value, dict):
        return {name: speak_of_labels(part) for name, part in value.items()}
    return OF_LABELS.get(value, value) if isinstance(value, str) else value


def read_labels(package):
    """Of each item that has any: its kind, values of units or preferred stories of pairs, and how many they are."""
    factor_by_key = {tuple(key.split("/")): name for key, name in package.plan.get("standard_labels", [])}
    for item in package.items:
        if item.is_preference or item.is_verdict or item.is_choice or item.is_scale:
            read = by_answers if package.plan.get("standard_rater") else by_property
            labels = read(package, item, factor_by_key.get(item.key))
            if labels is not None and labels["counts"]["n"]:
                yield labels


def by_answers(package, item, _name):
    rows = package.standard_answers
    rows = rows[is_about(rows, [item]) & (rows["outcome"] == "answered").to_numpy()]
    if item.is_preference:
        chosen = dict(zip(rows["group"], rows["value"], strict=True))
        preferred = {g: chosen[g] for g, codes in pairs_of(package).items() if chosen.get(g) in codes}
        return of_pairs(package, item, preferred, 0)
    cube = build_cube(rows, [item], sorted(rows["rater"].unique()), package.units)
    values = cube.values[0][0] if len(cube.raters) else np.full(len(package.units), np.nan)
    return of_stories(item, values, 0)


def by_property(package, item, name):
    if name is None:
        return None
    words = package.factors.get(name, {})
    values = {story: read_value(item, words.get(story, "").strip().casefold()) for _group, story in package.units}
    n_unreadable = sum(math.isnan(value) and bool(words.get(story, "").strip()) for story, value in values.items())
    if not item.is_preference:
        return of_stories(item, np.array([values[story] for _group, story in package.units]), n_unreadable)
    preferred = {}
    for group, codes in pairs_of(package).items():
        first, second = (values[code] for code in codes)
        if first != second and not math.isnan(first + second):
            preferred[group] = codes[int(second > first)]
    return of_pairs(package, item, preferred, n_unreadable)


def read_value(item, word):
    """A label as a number, of a choice the place of the option; nan where it is no answer to the item."""
    if item.is_choice:
        places = {str(value).casefold(): place for value, place in item.position_by_value.items()}
        return places.get(word, math.nan)
    try:
        number = WORDS[word] if item.is_verdict and word in WORDS else float(word)
    except ValueError:
        return math.nan
    low, high = (-math.inf, math.inf) if item.is_preference else item.bounds
    is_answer = number in (0, 1) if item.is_verdict else math.isfinite(number) and low <= number <= high
    return number if is_answer else math.nan


def of_stories(item, values, n_unreadable):
    kind = "verdicts" if item.is_verdict else "choices" if item.is_choice else "scales"
    is_there = np.isfinite(values)
    counts = {"n": is_there.sum(), "n_missing": (~is_there).sum(), "n_unreadable": n_unreadable}
    if item.is_verdict and is_there.any():
        counts["yes_percent"] = 100 * values[is_there].mean()
    return {"item": item, "kind": kind, "values": values, "counts": counts}


def of_pairs(package, item, preferred, n_unreadable):
    counts = {"n": len(preferred), "n_missing": len(pairs_of(package)) - len(preferred), "n_unreadable": n_unreadable}
    return {"item": item, "kind": "pairs", "preferred": preferred, "counts": counts}


def on_stories(package, labels, statistics):
    """Every judge on the items of a kind, beside their labels alone."""
    material = judged(package, [row["item"] for row in labels], with_jury=True) if labels else None
    if material is None:
        return []
    material = replace(material, people=np.full((len(labels), 0, len(material.units)), np.nan))
    values = np.stack([row["values"] for row in labels])
    return compare_judges(package, material, values, statistics, statistics, (), OF_STORIES, parts=PARTS)


def on_labels(package, labels, at):
    """Every measure of stories beside labels that are numbers."""
    if labels["kind"] not in ("verdicts", "scales"):
        return
    units, nobody = package.units, np.full((1, 0, len(package.units)), np.nan)
    clusters, sources, of_models = package.clusters(units), package.sources_of(units), package.of_models(units)
    material = PackagedJudged([labels["item"]], [], nobody, nobody, units, clusters, sources, of_models, None)
    for n, (name, scores) in enumerate(scores_of_metrics(package)):
        values = np.array([[scores.get(unit, np.nan) if unit[1] else np.nan for unit in units]], dtype=float)
        if np.isfinite(values).any():
            sides = sides_of(package, material, values, labels["values"][None], (OF_STORIES, OF_MEASURES + at, n))
            row = score(sides, judge_scores.SPEARMAN, PARTS, slice(None), ())
            yield labels["item"].fields | {"metric": name, "score": row}


def on_pairs(package, labels, salt):
    """Every judge's choices beside the preferred stories; then people's, what metrics score better, and the longer."""
    item, preferred = labels["item"], labels["preferred"]
    judges = [
        {
            "judge": pairs.judge,
            "n_people": 0,
            "scores": [accuracy(package, pairs, preferred, (OF_PAIRS, salt, n))],
            "outcomes": group_outcomes(package, item, pairs.judge, pairs.groups),
        }
        for n, pairs in enumerate(judged_pairs(package, item))
    ]
    others = [
        {"who": chooser, "name": name, "n": len(rows), "n_pairs": len({group for group, _right in rows})}
        | share(
            [right for _group, right in rows],
            package.clusters_of(group for group, _right in rows),
            package.rng(OF_PAIRS, salt, purpose),
        )
        for chooser, name, purpose, rows in choosers(package, item, preferred)
        if rows
    ]
    return item.fields | {"judges": judges, "others": others}


def accuracy(package, pairs, preferred, salt):
    places = [
        codes.index(preferred[group]) if group in preferred else np.nan
        for group, codes in zip(pairs.groups, pairs.stories, strict=True)
    ]
    choices = judge_orders.pair_choices(pairs.chosen, np.array(places, dtype=float))
    is_by_models = np.array([all(map(package.is_by_model, two)) for two in pairs.stories], dtype=bool)
    masks = [("all", np.ones(len(pairs.groups), dtype=bool))]
    masks += [("models", is_by_models)] if is_by_models.any() and not is_by_models.all() else []
    parts = []
    for n, (part, mask) in enumerate(masks):

        def floor(mask=mask, n=n):
            is_compared = mask & np.isfinite(choices.right)
            sides = choices.right[is_compared], choices.wrong[is_compared]
            return chance_floor(judge_orders.flip_floor, *sides, rng=package.rng(*salt, n, 1))

        values = np.where(mask, 100 * choices.right, np.nan)
        parts.append(mean_part(package, part, values, pairs.groups, (0, 100), floor, (*salt, n)))
    return {"statistic": "accuracy", "parts": parts}


def choosers(package, item, preferred):
    """Who, under which name, with which seed, and group and whether it is right of each choice."""
    chosen = [choice for choice in package.choices_of(item) if choice.group in preferred]
    yield "person", "", PEOPLE, [(c.group, float(c.story == preferred[c.group])) for c in chosen]
    pairs = {group: codes for group, codes in pairs_of(package).items() if group in preferred}
    places = [codes.index(preferred[group]) for group, codes in pairs.items()]
    for n, (name, scores) in enumerate(scores_of_metrics(package)):
        differences = []
        for group, codes in pairs.items():
            first, second = (scores.get((group, code), np.nan) for code in codes)
            differences.append(scores.get((group, ""), first - second))
        rights = zip(pairs, score_pairs.pairs_right(differences, places), strict=True)
        yield "metric", name, METRICS + n, [(group, right) for group, right in rights if not math.isnan(right)]
    longer = []
    for (group, codes), place in zip(pairs.items(), places, strict=True):
        own, other = (package.n_words[code] for code in (codes[place], codes[1 - place]))
        if not math.isnan(own + other):
            longer.append((group, 0.5 if own == other else float(own > other)))
    yield "longer", "", LONGER, longer


def scores_of_metrics(package):
    """The name of each measure, and its values by unit, more being better."""
    runs = package.table("judge_runs").drop_duplicates("rater").set_index("rater")
    for about, answers in measured(package):
        metric, better = about["metric"], runs["better"].get(about["metric"], "")
        numbers = answers["number"] * (-1 if better == "lower" else 1)
        units = zip(answers["group"], answers["story"], strict=True)
        name = metric if better else f"{metric}: {about['item']}"
        yield name, {unit: number for unit, number in zip(units, numbers, strict=True) if not math.isnan(number)}
