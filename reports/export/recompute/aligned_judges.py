"""Judges before and after their prompt was changed by experts' answers, on the held-out stories alone."""

import numpy as np
from recompute.judges_as_raters import EPSILON, best_constant
from recompute.readings import is_about, judged
from recompute.tables import build_cube
from recompute.values import ends_of, estimate, why

from stats import agreement, alignment_gain, comparisons, judgements
from stats import alternative_annotator as annotator
from stats.reasons import Incomputable

ALIGNMENT = 156  # of the seed
SCORES = {"verdicts": "accuracy", "scales": "neg_rmse"}


def alignment(package):
    """Every changed prompt beside the one it was made from. Which groups were held out stands in no table."""
    rows = []
    for kind, items in (
        ("verdicts", package.verdicts),
        ("scales", [i for i in package.scales if i.level == "ordinal"]),
    ):
        stored = [row for row in package.report["alignment"] if row["kind"] == kind]
        if stored:
            rows += gains_of(package, kind, items, stored)
    return rows


def gains_of(package, kind, items, stored):
    material = judged(package, items)
    truth = majorities(material.people) if kind == "verdicts" else material.means
    held_out = [np.array([group in row["held_out"] for group, _story in material.units]) for row in stored]
    sides = [
        [closeness(package, material, row[side], kind, truth, is_held_out).ravel() for side in ("base", "judge")]
        for row, is_held_out in zip(stored, held_out, strict=True)
    ]
    labels, rng = np.tile(material.clusters, len(items)), package.rng(ALIGNMENT, list(SCORES).index(kind))
    gains = alignment_gain.gains(*zip(*sides, strict=True), labels, rng=rng)
    for row, is_in, (base, version), gain in zip(stored, held_out, sides, gains, strict=True):
        both = np.isfinite(base) & np.isfinite(version)
        stories = {material.units[at % len(material.units)] for at in np.flatnonzero(both)}
        means = (gain.base, gain.version) if kind == "verdicts" else (1 - gain.base, 1 - gain.version)
        answers = [answers_of(material, row[side]) for side in ("base", "judge")]
        is_asked = asked_of(package, material, row["judge"]).ravel()
        is_shown = both.reshape(truth.shape)
        is_answered = is_shown & np.isfinite(answers).all(axis=0)
        has_rated = np.isfinite(material.people) & is_shown[:, None]
        yield {name: row[name] for name in ("kind", "base", "judge", "prompt", "held_out")} | {
            "n_tried": len(stored),
            "value": 100 * gain.gain,
            "interval": in_points(ends_of(gain.interval)),
            "base_percent": 100 * means[0],
            "percent": 100 * means[1],
            "base_coefficient": coefficient(answers[0], kind, truth, is_answered),
            "coefficient": coefficient(answers[1], kind, truth, is_answered),
            "base_test": standing(package, material, row["base"], kind, is_in, 1),
            "test": standing(package, material, row["judge"], kind, is_in, len(stored)),
            "constant_test": standing(package, material, "", kind, is_in, 1),
            "n_experts": has_rated.any(axis=(0, 2)).sum(),
            "n_stories": len(stories),
            "n": gain.n_units,
            "n_lost": (np.isfinite(base) & is_asked & ~np.isfinite(answers[1].ravel())).sum(),
        }


def in_points(ends):
    return ends | {name: 100 * ends[name] for name in ("low", "high") if ends[name] is not None}


def majorities(people):
    return np.stack([judgements.majority(ratings) for ratings in people])


def answers_of(material, name):
    return material.judges[material.names.index(name)]


def closeness(package, material, name, kind, truth, is_held_out):
    """From 0 to 1; a verdict that was asked for and not given is none that agrees."""
    answers = answers_of(material, name)
    if kind == "verdicts":
        is_compared = asked_of(package, material, name) & np.isfinite(truth)
        near = (answers == truth).astype(float)
    else:
        widths = np.array([item.ends[1] - item.ends[0] for item in material.items], dtype=float)
        near = 1 - np.abs(answers - truth) / widths[:, None]
        is_compared = np.isfinite(near)
    return np.where(is_compared & is_held_out, near, np.nan)


def asked_of(package, material, name):
    """Where something came back from the judge, also what cannot be read."""
    rows = package.models[is_about(package.models, material.items)].assign(number=1.0)
    return np.isfinite(build_cube(rows, material.items, [name], package.units).values[:, 0])


def coefficient(answers, kind, truth, is_answered):
    own, theirs = (np.where(is_answered, values, np.nan) for values in (answers, truth))
    if kind == "verdicts":
        return estimate(agreement.cohen_kappa, own.ravel(), theirs.ravel())
    of_items = [estimate(comparisons.spearman, *pair) for pair in zip(own, theirs, strict=True)]
    values = [of_item["value"] for of_item in of_items if of_item["value"] is not None]
    return {"value": np.mean(values)} if values else of_items[0]


def standing(package, material, name, kind, is_in, n_tried):
    people = material.people[:, :, is_in].transpose(1, 0, 2).reshape(material.n_raters, -1)
    epsilon = package.plan.get("epsilon", EPSILON)
    stories = np.unique([story for _group, story in material.units], return_inverse=True)[1][is_in]
    clusters = np.tile(stories, len(material.items))

    def of_answers(form, people, own, _clusters, **options):
        try:
            test = annotator.alt_test(people, own, epsilon=epsilon, score=SCORES[kind], clusters=clusters, **options)
        except Incomputable as error:
            nothing = {"winning_rate": None, "advantage": None, "n_tested": 0, "n_units": 0}
            return {"form": form} | nothing | {"n_people": len(people), "why": why(error)}
        return fields_of(form, test)

    if not name:
        return best_constant("constant", people, of_answers, clusters)
    return of_answers("test", people, answers_of(material, name)[:, is_in].ravel(), clusters, n_tried=n_tried)


def fields_of(form, test):
    return {
        "form": form,
        "winning_rate": test.winning_rate,
        "advantage": test.advantage_probability,
        "n_tested": sum(person.is_tested for person in test.people),
        "n_people": len(test.people),
        "n_units": test.n_units,
    }
