"""How far judges of filled texts agree: on all constraints, with samples and checks, on a coarse scale; with numpy."""

import numpy as np
import pandas as pd

from tests.independent import floors, intervals
from tests.independent.filled_texts import HIGHEST, KNOCK_OUT, FilledTexts, mean_present
from tests.independent.quiet import spearman

JUDGES, FACTORIAL, SCALES = 146, 147, 148  # of the seed


def as_units(ratings):
    """Every constraint of every text as a unit, shape (J, N, K) to (J, N × K)."""
    return ratings.reshape(len(ratings), -1)


def count_values(units):
    """How many judges gave each unit each value, shape (U, V), and the values."""
    values = np.unique(units[np.isfinite(units)])
    return (units[:, :, None] == values).sum(axis=0).astype(float), values


def weighted_alpha(ratings, level):
    """Krippendorff's alpha by weights of units, shape (B, U) to (B,)."""
    table, values = count_values(as_units(ratings))
    return lambda weights: intervals.alphas(table, values, level, weights)


def krippendorff_alpha(ratings, level):
    """None where there is none."""
    value = weighted_alpha(ratings, level)(np.ones((1, ratings[0].size)))[0]
    return None if np.isnan(value) else value


def check_coefficient(place, stored, ratings, level, check):
    """A coefficient with the units that two or more judges rated, and who these are."""
    units = as_units(ratings)
    check.number(place, stored["value"], krippendorff_alpha(ratings, level))
    if stored["value"] is not None:
        used = units[:, np.isfinite(units).sum(axis=0) >= 2]
        check.numbers(place, stored, n_units=used.shape[1], n_raters=np.isfinite(used).any(axis=1).sum())


def text_of_each_unit(ratings):
    return np.repeat(np.arange(ratings.shape[1]), ratings.shape[2])


def check_agreement(package, place, row, ratings, level, seed, check):
    """Alpha with its interval over texts and its floor. seed : what it has beside the study's"""
    check_coefficient(place, row["coefficient"], ratings, level, check)
    if row["interval"]["low"] is not None:
        places = text_of_each_unit(ratings)
        ends = intervals.of_values(weighted_alpha(ratings, level), places, (package.seed, *seed, 0), (-1, 1))
        check.ends(place, row["interval"], ends, ratings.shape[1])
    if row["floor"]["mean"] is not None:
        compute = floors.alphas_of_counts(level)
        values = floors.of_items(as_units(ratings)[None], (package.seed, *seed, 1), compute)[0]
        check.floor(place, row["floor"], values)


def cloze_judges(package, result, check):
    """Of all judges together, constraint by constraint, and of each judge beside the others."""
    texts = FilledTexts(package)
    items = [item for _section, item, _checks in texts.constraints]
    experts = texts.ratings_of(items, texts.experts)
    counts = {"n_texts": len(texts.stories), "n_constraints": len(items), "n_experts": len(texts.experts)}
    check.numbers("cloze_judges", result, **counts)
    models = [name for name in sorted(package.judges["rater"].unique()) if name not in package.raters]
    coarse = texts.coarse_of(models)
    sides = {
        "judges": texts.ratings,
        "judges in three steps": coarse[np.isfinite(coarse).any(axis=(1, 2))],
        "experts": experts,
        "judges and experts": np.concatenate([texts.ratings, experts]),
    }
    for row in result["alphas"]:
        salt, place = list(sides).index(row["of"]), f"cloze_judges/{row['of']}/{row['distance']}"
        check_agreement(package, place, row, sides[row["of"]], row["distance"], (JUDGES, salt), check)
    for k, row in enumerate(result["constraints"]):
        for level in ("interval", "ordinal"):
            own = texts.ratings[:, :, k : k + 1]
            check_coefficient(f"cloze_judges/{row['item']}/{level}", row[f"{level}_alpha"], own, level, check)
    units = as_units(texts.ratings)
    for row in result["judges"]:
        at, place = texts.judges.index(row["judge"]), f"cloze_judges/{row['judge']}"
        own, others = units[at], np.delete(texts.ratings, at, axis=0)
        is_rated = np.isfinite(own)
        n_low, mean = (own[is_rated] <= 1).sum(), own[is_rated].mean() if is_rated.any() else None
        check.numbers(place, row, n=is_rated.sum(), n_missing=(~is_rated).sum(), n_low=n_low, mean=mean)
        check.number(
            f"{place}/others", row["with_others"]["value"], spearman(own, mean_present(as_units(others), axis=0))
        )
        if row["with_experts"]:
            value = spearman(own, mean_present(as_units(experts), axis=0))
            check.number(f"{place}/experts", row["with_experts"]["value"], value)
        check_coefficient(f"{place}/without", row["alpha_without"], others, "interval", check)


def check_condition(package, place, row, scores, highest, seed, check):
    """Alpha under one condition; the mean of the texts' means, 0 to 1, and how far the largest is from the smallest."""
    check_agreement(package, place, row, scores, "interval", seed, check)
    means = mean_present(scores.transpose(1, 0, 2).reshape(scores.shape[1], -1), axis=1) / highest
    means = means[np.isfinite(means)]
    check.numbers(place, row, mean=means.mean() if means.size else None, span=np.ptp(means) if means.size else None)


def check_contrast(package, place, row, scores, weights, seed, check):
    """A weighted sum of alphas with its interval over texts, the same in every condition."""
    values = [krippendorff_alpha(part, "interval") for part in scores]
    whole = None if None in values else np.dot(values, weights)
    check.number(place, row["value"], whole)
    if row["interval"]["low"] is not None:
        parts = [weighted_alpha(part, "interval") for part in scores]

        def of_weights(drawn):
            return sum(weight * part(drawn) for weight, part in zip(weights, parts, strict=True))

        most = np.abs(weights).sum()
        ends = intervals.of_values(of_weights, text_of_each_unit(scores[0]), (package.seed, *seed), (-most, most))
        check.ends(place, row["interval"], ends, scores[0].shape[1])


def cloze_factorial(package, result, check):
    """With and without samples that people scored, from 0 to 5 and by checks: the conditions, and what each changes."""
    texts = FilledTexts(package)
    checks = {item["item"]: checks_of_constraint(texts, item["item"]) for _section, item, _checks in texts.constraints}
    with_checks = [row for row in texts.constraints if checks[row[1]["item"]]]
    asked = with_checks or texts.constraints
    scores = []
    for n, row in enumerate(result["conditions"]):
        if row["is_atomic"]:
            parts = [
                scores_by_checks(texts, checks[item["item"]], required, row["judges"]) for _s, item, required in asked
            ]
            scores.append(np.stack(parts, axis=2))
        else:
            scores.append(texts.ratings_of([item for _section, item, _required in asked], row["judges"]))
        check_condition(package, f"cloze_factorial/{n}", row, scores[-1], HIGHEST, (FACTORIAL, n), check)
    counts = {
        "n_texts": len(texts.stories),
        "n_constraints": len(asked),
        "n_models": len(result["conditions"][0]["judges"]),
    }
    check.numbers("cloze_factorial", result, **counts)
    samples, atoms = (
        np.array([1 if row[name] else -1 for row in result["conditions"]]) for name in ("is_anchored", "is_atomic")
    )
    weights = {"anchoring": samples / 2, "checks": atoms / 2, "interaction": 1.0 * samples * atoms}
    weights = weights if with_checks else {"anchoring": 1.0 * samples}
    for salt, row in enumerate(result["effects"]):
        place, of_effect = f"cloze_factorial/{row['effect']}", weights[row["effect"]]
        check_contrast(package, place, row["alpha"], scores, of_effect, (FACTORIAL, 9, salt), check)
        for name in ("mean", "span"):
            check.number(f"{place}/{name}", row[name], np.dot([c[name] for c in result["conditions"]], of_effect))


def checks_of_constraint(texts, key):
    of = (texts.cloze["instrument"], texts.cloze["instrument_version"])
    rows = [i for i in texts.package.items if (i["instrument"], i["instrument_version"]) == of]
    return [item for item in rows if item["item"].startswith(f"{key}-k")]


def scores_by_checks(texts, items, required, judges):
    """A constraint's score from its checks, shape (J, N): the share that is met, at most 1 without a required one."""
    met = texts.ratings_of(items, judges)
    is_required = np.array([item["item"] in required for item in items])
    is_broken = ((met == 0) & is_required).any(axis=2) & np.isfinite(met).all(axis=2)
    scores = HIGHEST * met.mean(axis=2)
    return np.where(is_broken, np.minimum(scores, KNOCK_OUT), scores)


def cloze_scales(package, result, check):
    """The same models from 0 to 5 and in three steps."""
    texts = FilledTexts(package)
    items = [item for _section, item, _checks in texts.constraints]
    fine = texts.ratings_of(items, [row["fine_judge"] for row in result["models"]]) / HIGHEST
    coarse = texts.coarse_of([row["coarse_judge"] for row in result["models"]])
    check.numbers("cloze_scales", result, n_texts=len(texts.stories), n_constraints=len(items))
    for salt, (row, scores) in enumerate(zip(result["scales"], (fine, coarse), strict=True)):
        check_condition(package, f"cloze_scales/{row['scale']}", row, scores, 1, (SCALES, salt), check)
    check_contrast(
        package, "cloze_scales/difference", result["difference"], (fine, coarse), (-1, 1), (SCALES, 2, 0), check
    )
    for at, row in enumerate(result["models"]):
        both = pd.DataFrame({"fine": fine[at].ravel(), "coarse": coarse[at].ravel()}).dropna()
        place = f"cloze_scales/{row['model']}"
        check.numbers(place, row, n=len(both), fine_mean=both["fine"].mean(), coarse_mean=both["coarse"].mean())
        check.number(f"{place}/rho", row["rho"]["value"], spearman(both["fine"].to_numpy(), both["coarse"].to_numpy()))
