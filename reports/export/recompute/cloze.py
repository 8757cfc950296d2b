"""QUIET's score of filled texts: totals and what they hang on, reference sets, forms of the score, and its judges."""

from functools import partial

import numpy as np
from recompute.filled_texts import FilledTexts, read_texts
from recompute.values import NO_TEXTS, Left, chance_floor, estimate, interval, mean_interval, or_none

from stats import agreement, arrays, cloze, comparisons, intervals

SURPRISE, JUDGES, FACTORIAL, SCALES = 141, 146, 147, 148  # of the seed
N_BLANKS, HIGHEST = 200, 5  # of random directions; of a rating


def number_list(values):
    return [or_none(value) for value in values]


def mean_of_some(package, values, bounds):
    """The interval of the mean of values that stand alone."""
    return mean_interval(values, np.arange(values.size), package.resampling(), bounds)


def highest_of(texts, places):
    """The highest total that texts of these participants can have: none is highest outside of the reference set."""
    is_in = texts.is_in[np.isin(texts.of_participant, places)]
    return 2.0 * len(texts.section_numbers) if is_in.all() else np.inf


def cloze_scores(package):
    """The total of every participant, section by section, and what it is when something is left out."""
    texts = read_texts(package)
    satisfied, surprising = texts.satisfied_softly, texts.surprising
    scores = texts.of_participants(cloze.scores(satisfied, surprising))
    parts = [texts.of_participants(part) for part in (satisfied, surprising, texts.by_section(texts.raw))]
    totals = texts.totals(satisfied)
    capped = texts.totals(texts.satisfied(is_capped=True))
    of_texts = cloze.totals(satisfied, surprising)
    both, left_out = (satisfied, surprising), {"without_a_judge": [], "without_a_section": []}
    if len(texts.judges) > 1:
        others = [np.delete(texts.ratings, at, axis=0) for at in range(len(texts.judges))]
        left_out["without_a_judge"] = [texts.totals(texts.satisfied(ratings)) for ratings in others]
    n_sections = len(texts.section_numbers)
    if n_sections > 1:
        rests = [[np.delete(part, at, axis=1) for part in both] for at in range(n_sections)]
        left_out["without_a_section"] = [texts.totals(*rest) for rest in rests]
    rows = []
    for stored in package.report["cloze_scores"]["participants"]:
        at = texts.participants.index(stored["participant"])
        own = of_texts[texts.of_participant == at]
        present = own[np.isfinite(own)]
        names = ("satisfied", "surprising", "distance")
        row = {
            "participant": stored["participant"],
            "n_texts": len(own),
            "total": or_none(totals[at]),
            "rank": cloze.ranks(totals)[at],
            "capped": or_none(capped[at]),
            "capped_rank": cloze.ranks(capped)[at],
            "sections": [
                {name: or_none(part[at, g]) for name, part in zip((*names, "score"), (*parts, scores), strict=True)}
                for g in range(n_sections)
            ],
        }
        row |= {name: or_none(part[at].mean()) for name, part in zip(names, parts, strict=True)}
        if present.size > 1:
            row["interval"] = mean_of_some(package, present, (0, highest_of(texts, [at])))
        for name, others in left_out.items():
            numbers = [(of_all[at], cloze.ranks(of_all)[at]) for of_all in others if np.isfinite(of_all[at])]
            if stored[name] and numbers:
                of_total, places = zip(*numbers, strict=True)
                ends = {"low": min(of_total), "high": max(of_total)}
                row[name] = ends | {"n": len(numbers), "best_rank": min(places), "worst_rank": max(places)}
        if stored["without_family"]:
            is_other = [name not in stored["without_family"]["judges"] for name in texts.judges]
            total = texts.totals(texts.satisfied(texts.ratings[is_other]))[at]
            among = np.where(np.arange(len(totals)) == at, total, totals)
            row["without_family"] = {"total": or_none(total), "rank": cloze.ranks(among)[at]}
        rows.append(row)
    of_report = package.report["cloze_scores"]
    kinds = [kind_of_writers(package, texts, row, totals, parts) for row in of_report["kinds"]]
    counts = {"n_blanks": len(texts.blanks), "n_constraints": len(texts.constraints), "highest": 2.0 * n_sections}
    means = number_list(arrays.mean_present(scores, axis=0))
    return counts | {"means": means, "participants": rows, "kinds": kinds}


def kind_of_writers(package, texts, stored, totals, parts):
    """People or models: the mean of their totals, over participants from the first rank down."""
    named = [row["participant"] for row in package.report["cloze_scores"]["participants"]]
    places = [texts.participants.index(name) for name in named]
    own = [at for at in places if texts.is_by_model[texts.of_participant == at].any() == stored["is_model"]]
    present = totals[own][np.isfinite(totals[own])]
    satisfied, surprising = (or_none(arrays.mean_present(part[own].mean(axis=1), axis=0)) for part in parts[:2])
    ends = mean_of_some(package, present, (0, highest_of(texts, own)))
    fields = {"n": present.size, "total": present.mean() if present.size else None, "interval": ends}
    return fields | {"satisfied": satisfied, "surprising": surprising}


def rho_of(one, other):
    return estimate(comparisons.spearman, one, other)["value"]


def cloze_surprise(package):
    """The same with other reference sets, raw distances, and what random directions would have."""
    texts, stored = FilledTexts(package), package.report["cloze_surprise"]
    divided, has_vectors = cloze.relative(texts.raw, texts.is_in), texts.vectors is not None
    both = [texts.of_participants(part).mean(axis=1) for part in (texts.satisfied_softly, texts.surprising)]
    rows = []
    for row in stored["texts"]:
        at = texts.stories.index(row["story"])
        raw = number_list(texts.raw[at]) if has_vectors else Left(NO_TEXTS)
        rows.append({"story": row["story"], "divided": number_list(divided[at]), "raw": raw})
    noise = Left(NO_TEXTS)
    if has_vectors:
        drawn = package.rng(SURPRISE).standard_normal((texts.is_in.sum(), N_BLANKS, texts.vectors.shape[2]))
        noise = cloze.surprises(drawn, np.ones(len(drawn), dtype=bool)).mean() if len(drawn) > 1 else None
    outliers = cloze.find_outliers(texts.raw, texts.is_in)
    sets = texts.references | {"without_outliers": texts.is_in & ~outliers, "leave_one_out": texts.is_in}
    variants = [reference_set(texts, texts.is_in, texts.raw)]
    for row in stored["variants"][1:]:
        if has_vectors:
            is_in, is_left_out = sets[row["name"]], row["name"] == "leave_one_out"
            raw = cloze.distances(texts.vectors, is_in, leave_one_out=is_left_out)
            variants.append(reference_set(texts, is_in, raw))
        else:
            variants.append(Left(NO_TEXTS))
    return {
        "blanks": list(texts.blanks),
        "variants": variants,
        "with_satisfied": rho_of(*both),
        "n_with_satisfied": np.isfinite(sum(both)).sum(),
        "noise": noise,
        "texts": rows,
    }


def reference_set(texts, is_in, raw):
    surprising = texts.by_section(cloze.relative(raw, is_in))
    main, totals = texts.totals(texts.satisfied_softly), texts.totals(texts.satisfied_softly, surprising)
    ranks, moved = cloze.ranks(totals), (cloze.ranks(totals) != cloze.ranks(main)).sum()
    means = [texts.of_participants(values).mean(axis=1) for values in (texts.by_section(raw), surprising)]
    rows = [
        {
            "participant": name,
            "raw": or_none(means[0][n]),
            "divided": or_none(means[1][n]),
            "total": or_none(totals[n]),
            "rank": ranks[n],
        }
        for n, name in enumerate(texts.participants)
    ]
    return {"n": is_in.sum(), "with_main": rho_of(totals, main), "n_moved": moved, "participants": rows}


def cloze_variants(package):
    """Totals under other forms of the score, and how these go together."""
    texts, stored = read_texts(package), package.report["cloze_variants"]
    satisfied = {
        "mean": texts.satisfied_softly,
        "capped": texts.satisfied(is_capped=True),
        "minimum": texts.satisfied(bucket=True),
    }
    forms, columns, rows = {form.name: form for form in cloze.FORMS}, [], []
    for row in stored["variants"]:
        totals = texts.totals(satisfied[row["aggregation"]], form=forms[row["form"]])
        ranks = cloze.ranks(totals)
        columns.append(totals)
        by_name = {name: (or_none(totals[n]), ranks[n]) for n, name in enumerate(texts.participants)}
        of_row = [dict(zip(("total", "rank"), by_name[total["participant"]], strict=True)) for total in row["totals"]]
        rows.append({"form": row["form"], "totals": of_row})
    correlations = [[rho_of(one, other) for other in columns] for one in columns]
    n = np.isfinite(texts.totals(texts.satisfied_softly)).sum()
    return {"n_participants": n, "variants": rows, "correlations": correlations}


def cloze_constraints(package):
    """How hard each section is, over participants; and which constraints fail, over texts."""
    texts = read_texts(package)
    satisfied = texts.of_participants(texts.satisfied_softly)
    surprising = arrays.mean_present(texts.of_participants(texts.surprising), axis=0)
    sections = []
    for g in range(len(texts.section_numbers)):
        own = satisfied[np.isfinite(satisfied[:, g]), g]
        fields = {"number": g + 1, "n": own.size, "satisfied": own.mean() if own.size else None}
        ends = mean_of_some(package, own, (0, 1))
        sections.append(fields | {"surprising": or_none(surprising[g]), "interval": ends})
    rows = []
    for k, (_section, item, _checks) in enumerate(texts.constraints):
        ratings, n_judges = texts.ratings[:, :, k], np.isfinite(texts.ratings[:, :, k]).sum(axis=0)
        counts = {
            "n": (n_judges > 0).sum(),
            "n_failed": (2 * (ratings <= 1).sum(axis=0) > n_judges).sum(),
            "n_denied": (2 * texts.is_broken[:, :, k].sum(axis=0) > n_judges).sum(),
        }
        mean = or_none(arrays.mean_present(ratings, axis=(0, 1)) / HIGHEST)
        rows.append({"item": item.item, "satisfied": mean} | counts)
    return {"n_judges": len(texts.judges), "sections": sections, "constraints": rows}


def cloze_edges(package):
    """How far sections agree with those that they hang on."""
    texts = FilledTexts(package)
    by_text = texts.ratings_of(texts.edges, texts.judges).transpose(1, 0, 2)
    by_judges = arrays.mean_present(by_text, axis=1)
    edges = [
        {
            "item": item.item,
            "n": np.isfinite(by_text[:, :, at]).any(axis=1).sum(),
            "consistency": or_none(arrays.mean_present(by_judges[:, at], axis=0) / HIGHEST),
        }
        for at, item in enumerate(texts.edges)
    ]
    consistency = texts.of_participants(cloze.consistency(by_text))
    n_edges = texts.of_participants(np.isfinite(by_text).any(axis=1) * 1.0).astype(bool).sum(axis=1)
    people = [
        {"participant": name, "n_edges": n_edges[n], "consistency": or_none(consistency[n])}
        for n, name in enumerate(texts.participants)
    ]
    return {"edges": edges, "participants": people}


# ── judges of filled texts ─────────────────────────────────────────────────────────────────────────────────────────


def as_units(scores):
    """Every constraint of every text as a unit, shape (J, N, K) to (J, N × K)."""
    return scores.reshape(len(scores), scores.shape[1] * scores.shape[2])


def texts_of_units(scores):
    return np.repeat(np.arange(scores.shape[1]), scores.shape[2])


def alpha_of(package, scores, level, *salt):
    """Alpha with its interval over texts and its floor."""
    units, clusters = as_units(scores), texts_of_units(scores)
    return {
        "coefficient": estimate(agreement.krippendorff_alpha, units, level),
        "interval": interval(intervals.alpha_interval, units, level, clusters, rng=package.rng(*salt, 0)),
        "floor": chance_floor(agreement.alpha_chance_floor, units, level, rng=package.rng(*salt, 1)),
    }


def cloze_judges(package):
    """Of all judges together, constraint by constraint, and of each judge beside the others."""
    texts = FilledTexts(package)
    experts = texts.ratings_of(texts.items, texts.experts)
    coarse = texts.coarse_of(sorted(package.judges["rater"].unique()))
    sides = {
        "judges": texts.ratings,
        "judges in three steps": coarse[np.isfinite(coarse).any(axis=(1, 2))],
        "experts": experts,
        "judges and experts": np.concatenate([texts.ratings, experts]),
    }
    alphas = [
        {"of": row["of"]} | alpha_of(package, sides[row["of"]], row["distance"], JUDGES, list(sides).index(row["of"]))
        for row in package.report["cloze_judges"]["alphas"]
    ]
    constraints = [
        {"item": item.item}
        | {
            f"{level}_alpha": estimate(agreement.krippendorff_alpha, texts.ratings[:, :, k], level)
            for level in ("interval", "ordinal")
        }
        for k, item in enumerate(texts.items)
    ]
    units, of_experts, rows = as_units(texts.ratings), as_units(experts), []
    for n, name in enumerate(texts.judges):
        own, others = units[n], np.delete(units, n, axis=0)
        is_rated = np.isfinite(own)
        row = {
            "judge": name,
            "n": is_rated.sum(),
            "n_missing": (~is_rated).sum(),
            "mean": own[is_rated].mean() if is_rated.any() else None,
            "n_low": (own[is_rated] <= 1).sum(),
            "with_others": estimate(comparisons.spearman, own, arrays.mean_present(others, axis=0)),
            "alpha_without": estimate(agreement.krippendorff_alpha, others, "interval"),
        }
        if texts.experts:
            row["with_experts"] = estimate(comparisons.spearman, own, arrays.mean_present(of_experts, axis=0))
        rows.append(row)
    counts = {"n_texts": len(texts.stories), "n_constraints": len(texts.items), "n_experts": len(texts.experts)}
    return counts | {"alphas": alphas, "constraints": constraints, "judges": rows}


def condition(package, scores, highest, *salt):
    """Alpha under one condition; the mean of the texts' means, 0 to 1, and how far the largest is from the smallest."""
    means = arrays.mean_present(scores.transpose(1, 0, 2).reshape(scores.shape[1], -1), axis=1) / highest
    means = means[np.isfinite(means)]
    fields = {"mean": means.mean(), "span": np.ptp(means)} if means.size else {"mean": None, "span": None}
    return alpha_of(package, scores, "interval", *salt) | fields


def contrast(package, scores, rows, weights, *salt):
    """A weighted sum of the conditions' alphas, its interval over texts, the same ones in every condition."""
    values = [row["coefficient"]["value"] for row in rows]

    def resampled(drawn):
        parts = [intervals.alpha_resamples(as_units(part), "interval", drawn) for part in scores]
        return np.dot(weights, parts)

    def ends():
        whole = intervals.unbounded_interval(resampled, texts_of_units(scores[0]), rng=package.rng(*salt))
        return whole.clipped(-np.abs(weights).sum(), np.abs(weights).sum())

    return {"value": None if None in values else np.dot(values, weights), "interval": interval(ends)}


def cloze_factorial(package):
    """With and without samples that people scored, from 0 to 5 and by checks: the conditions, and what each changes."""
    texts, stored = FilledTexts(package), package.report["cloze_factorial"]
    with_checks = [row for row in texts.constraints if texts.checks_of(row[1].item)]
    questions, scores = with_checks or texts.constraints, []
    for row in stored["conditions"]:
        if row["is_atomic"]:
            scored = partial(scores_by_checks, texts, names=row["judges"])
            scores.append(np.stack([scored(item, required) for _at, item, required in questions], axis=2))
        else:
            scores.append(texts.ratings_of([item for _at, item, _required in questions], row["judges"]))
    rows = [condition(package, part, HIGHEST, FACTORIAL, n) for n, part in enumerate(scores)]
    names = ("is_anchored", "is_atomic")
    samples, atoms = (np.array([1 if row[name] else -1 for row in stored["conditions"]]) for name in names)
    weights = {"anchoring": samples / 2, "checks": atoms / 2, "interaction": 1.0 * samples * atoms}
    weights = weights if with_checks else {"anchoring": 1.0 * samples}
    effects = [
        {"effect": row["effect"], "alpha": contrast(package, scores, rows, weights[row["effect"]], FACTORIAL, 9, n)}
        | {name: np.dot([part[name] for part in rows], weights[row["effect"]]) for name in ("mean", "span")}
        for n, row in enumerate(stored["effects"])
    ]
    counts = {"n_texts": len(texts.stories), "n_constraints": len(questions)}
    return counts | {"n_models": scores[0].shape[0], "conditions": rows, "effects": effects}


def scores_by_checks(texts, item, required, names):
    """A constraint's score from its checks, shape (J, N)."""
    checks = texts.checks_of(item.item)
    return cloze.score_checks(texts.ratings_of(checks, names), np.array([check.item in required for check in checks]))


def cloze_scales(package):
    """The same models from 0 to 5 and in three steps."""
    texts, stored = FilledTexts(package), package.report["cloze_scales"]
    fine = texts.ratings_of(texts.items, [row["fine_judge"] for row in stored["models"]]) / HIGHEST
    coarse = texts.coarse_of([row["coarse_judge"] for row in stored["models"]])
    rows = [condition(package, scores, 1, SCALES, n) for n, scores in enumerate((fine, coarse))]
    models = []
    for n, row in enumerate(stored["models"]):
        both = np.isfinite(fine[n]) & np.isfinite(coarse[n])
        sides = fine[n][both], coarse[n][both]
        means = {"n": both.sum(), "fine_mean": sides[0].mean(), "coarse_mean": sides[1].mean()}
        models.append({"model": row["model"], "rho": estimate(comparisons.spearman, *sides)} | means)
    difference = contrast(package, (fine, coarse), rows, (-1, 1), SCALES, 2, 0)
    counts = {"n_texts": len(texts.stories), "n_constraints": len(texts.items)}
    return counts | {"scales": rows, "difference": difference, "models": models}
