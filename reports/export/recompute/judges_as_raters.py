"""Judges in the place of people: shares of Yes, agreement among judges, the alternative annotator, audits of biases."""

import numpy as np
from recompute.judge_traits import NOTHING, of_traits
from recompute.readings import READING, asked_units, expectations, is_about, judged
from recompute.tables import build_cube
from recompute.values import (
    N_RESAMPLES,
    chance_floor,
    ends_of,
    estimate,
    interval,
    mean_interval,
    rate_interval,
    why,
)

from stats import (
    agreement,
    arrays,
    calibration,
    contrasts,
    exchangeable_judges,
    intervals,
    judge_scores,
    judgements,
)
from stats import alternative_annotator as annotator
from stats import judge_biases as biases
from stats.reasons import Incomputable, value_or_reason

EPSILON = 0.2  # by which a judge may be worse than a person, unless the plan says otherwise
STANDINGS, AMONG, BIASES, CALIBRATION = 34, 27, 28, 153  # of the seed
ORDER = ("own_family", "own_family_yes", "own_family_no", "verbosity", "modal_share", "explanations", "repeats")


def judges_share_of_yes(package):
    """The judge's share of Yes where so many of the experts say Yes, and how far it is from their share."""
    material, rows = judged(package, package.verdicts, with_jury=True), []
    if material is None:
        return rows
    yes = material.means
    levels = {
        "none": yes == 0,
        "fewer_than_half": (yes > 0) & (yes < 0.5),
        "half": yes == 0.5,
        "more_than_half": (yes > 0.5) & (yes < 1),
        "all": yes == 1,
    }
    parts = {"all": np.ones(yes.shape, dtype=bool)}
    parts |= {"models": np.broadcast_to(material.is_of_models, yes.shape)} if material.is_mixed else {}
    labels = np.tile(material.clusters, len(yes))
    for name, answers in zip(material.names, material.judges, strict=True):
        for part, is_in in parts.items():
            both = is_in & np.isfinite(answers) & np.isfinite(yes)
            of_levels = [
                {
                    "level": level,
                    "value": 100 * answers[cells].mean(),
                    "expert_percent": 100 * yes[cells].mean(),
                    "n": cells.sum(),
                    "interval": rate_interval(answers[cells], labels[cells.ravel()], package.resampling()),
                }
                for level, is_at in levels.items()
                for cells in [is_at & both]
                if cells.any()
            ]
            if both.any():
                fields = {"distance": 100 * np.abs(answers - yes)[both].mean(), "n": both.sum()}
                rows.append({"judge": name, "part": part, "levels": of_levels} | fields)
    return rows


def judges_among_themselves(package):
    """Krippendorff's alpha among judges, and the share of the same answers of every two."""
    rows, stored = [], {(row["step"], row["item"]): row for row in package.report["judges_among_themselves"]}
    items = [item for item in package.items if item.is_about_a_story and item.level != "none"]
    for salt, item in enumerate(items):
        material = judged(package, [item])
        if material is None or len(material.names) < 2:
            continue
        anchored = stored[item.key].get("anchored", [])  # which saw people's answers, as prompts in no package tell
        ratings = material.judges[[name not in anchored for name in material.names], 0]
        present, level, panel = ratings[np.isfinite(ratings)], item.level, material.judges[:, 0]
        ends = (intervals.alpha_interval, ratings, level, material.clusters)
        of_models = ratings[:, material.is_of_models]
        row = item.fields | {
            "n_judges": np.isfinite(ratings).any(axis=1).sum(),
            "coefficient": estimate(agreement.krippendorff_alpha, ratings, level),
            "interval": interval(*ends, rng=package.rng(AMONG, salt, 0)),
            "floor": chance_floor(agreement.alpha_chance_floor, ratings, level, rng=package.rng(AMONG, salt, 1)),
            "percent_agreement": estimate(agreement.percent_agreement, ratings),
            "mean": None if item.is_choice or not present.size else present.mean(),
            "pairs": [
                {
                    "first": first,
                    "second": second,
                    "n": np.isfinite(panel[[to, at]]).all(axis=0).sum(),
                    "n_raters": 2,
                }
                | estimate(agreement.percent_agreement, panel[[at, to]])
                for at, second in enumerate(material.names)
                for to, first in enumerate(material.names[:at])
            ],
        }
        among = {"among_models": estimate(agreement.krippendorff_alpha, of_models, level)}
        rows.append(row | (among if material.is_mixed else {}))
    return rows


# ── the alternative annotator ──────────────────────────────────────────────────────────────────────────────────────


def alternative_annotator(package):
    """Each person left out in turn: does the judge agree with the others at least as well?"""
    return [*standings_on(package, package.verdicts, "accuracy"), *standings_on(package, package.scales, "neg_rmse")]


def standings_on(package, items, score):
    models = package.models_with_jury
    names = sorted(models["rater"].unique())
    if not items or not names or not package.raters:
        return
    cube = package.cube(items)
    answers = build_cube(models[is_about(models, items)], items, names, package.units).values
    people, of_judges = (values.transpose(1, 0, 2).reshape(values.shape[1], -1) for values in (cube.values, answers))
    of_models, clusters = (
        np.tile(of_units(cube.units), len(items)) for of_units in (package.of_models, package.clusters)
    )
    stories = np.tile(np.unique([story for _group, story in cube.units], return_inverse=True)[1], len(items))
    epsilon = package.plan.get("epsilon", EPSILON)

    def standing(form, people, answers, clusters_of_units, **options):
        try:
            test = annotator.alt_test(people, answers, epsilon=epsilon, score=score, **options)
        except Incomputable as error:
            nothing = {"winning_rate": None, "advantage": None, "n_tested": 0, "n_units": 0}
            return {"form": form} | nothing | {"n_people": len(people), "why": why(error)}
        return {
            "form": form,
            "winning_rate": test.winning_rate,
            "advantage": test.advantage_probability,
            "n_tested": sum(person.is_tested for person in test.people),
            "n_people": len(test.people),
            "n_units": test.n_units,
            "interval": interval(
                test.advantage_interval, clusters_of_units, rng=package.rng(STANDINGS), n_resamples=N_RESAMPLES
            ),
        }

    constants = [
        best_constant("constant_models", people[:, of_models], standing, clusters[of_models]),
        best_constant("constant", people, standing, clusters),
    ]
    drawn = estimate(
        percent_drawn,
        people,
        stories,
        of_models,
        constants[-1]["advantage"] or 0,
        package.rng(STANDINGS, 1),
        epsilon,
        score,
    )
    for name, own in zip(names, of_judges, strict=True):
        if np.isfinite(own).any():
            is_asked = np.tile(asked_units(package, name, cube.units), len(items))
            rows = [
                standing("test", people, own, clusters),
                standing("unanswered", people[:, is_asked], own[is_asked], clusters[is_asked], counts_unanswered=True),
                standing("stories", people, own, clusters, clusters=stories),
                standing("models", people[:, of_models], own[of_models], clusters[of_models]),
                *constants,
            ]
            yield {"judge": name, "score": score, "standings": rows, "drawn": drawn}


def best_constant(form, people, standing, clusters):
    """The answer that would do best if it were given always: by winning rate, then by advantage."""
    present = people[np.isfinite(people)]
    values = np.unique(present)
    if len(values) > 21:
        values = np.unique(np.quantile(present, np.linspace(0, 1, 21), method="nearest"))
    rows = [standing(form, people, np.full(people.shape[1], value), clusters) | {"answer": value} for value in values]
    nothing = {"form": form, "winning_rate": None, "advantage": None, "n_tested": 0, "n_people": 0, "n_units": 0}
    best = max(rows, key=lambda row: (row["winning_rate"] or 0, row["advantage"] or 0), default=nothing)
    return {name: part for name, part in best.items() if name != "answer" or best["n_units"]}


def percent_drawn(people, stories, of_models, least, rng, epsilon, score):
    """Of 100 judges that give the answer of a person drawn anew for each unit, how many pass all forms of the test."""
    places = exchangeable_judges.draw_places(people, rng=rng)
    options = {"epsilon": epsilon, "score": score}
    test = exchangeable_judges.alt_tests(people, places, **options)
    by_story = exchangeable_judges.alt_tests(people, places, clusters=stories, **options)
    among_models = exchangeable_judges.alt_tests(people[:, of_models], places[:, of_models], **options)
    passes = np.min([form.winning_rate for form in (test, by_story, among_models)], axis=0) >= 0.5
    return 100 * (passes & (test.advantage > least)).mean()


# ── how sure they are ──────────────────────────────────────────────────────────────────────────────────────────────


def judges_calibration(package):
    """People's share of Yes beside that of a judge's answers to the same question, asked again and again."""
    items, rows = package.verdicts, []
    material = judged(package, items)
    if material is None:
        return rows
    for at, judge in enumerate(material.names):
        shares, counts, is_probability = yes_levels(package, items, judge, material.means.shape)
        both = (counts > 0) & np.isfinite(material.means)
        if both.any():
            own, people = shares[both], material.means[both]
            clusters = np.tile(material.clusters, len(counts))[both.ravel()]
            sides, rng = (own, people, clusters), package.rng(CALIBRATION, at)
            fields = {"judge": judge, "n": both.sum(), "n_answers": counts[both & ~is_probability].sum()}
            fields |= {"n_probabilities": is_probability[both].sum()}
            fields |= estimate(calibration.slope, own, people) | {"levels": of_levels(package, *sides)}
            fields["interval"] = interval(calibration.slope_interval, *sides, rng=rng, n_resamples=N_RESAMPLES)
            fields["best_slope"] = estimate(calibration.best_slope, own, counts[both])
            fields["error"] = estimate(lambda sides=sides: 100 * calibration.error(*sides))
            rows.append(fields)
    return rows


def of_levels(package, own, people, clusters):
    levels = calibration.levels(own)
    return [
        {
            "level": name,
            "value": 100 * people[at].mean(),
            "judge_percent": 100 * own[at].mean(),
            "n": at.sum(),
            "interval": mean_interval(100 * people[at], clusters[at], package.resampling(), (0, 100)),
        }
        for n, name in enumerate(("none", "fewer_than_half", "half", "more_than_half", "all"))
        for at in [levels == n]
        if at.any()
    ]


def doubtful_verdicts(package):
    """The 200 verdicts on which judges are divided most; of equal ones, those fewest people answered first."""
    items = package.verdicts
    material = judged(package, items)
    if material is None:
        return None
    anchored = package.report["doubtful_verdicts"]["anchored"]  # which saw people's answers, as no package tells
    own = np.stack([answers for name, answers in zip(material.names, material.judges, strict=True)])
    for n, name in enumerate(material.names):
        shares, _n, is_probability = yes_levels(package, items, name, own[n].shape)
        shares = np.where(is_probability & calibration.is_sure(shares), shares.round(), shares)
        own[n] = np.where(np.isfinite(shares), shares, own[n])
    own = own[[name not in anchored for name in material.names]]
    share, n_people = arrays.mean_present(own, axis=0), np.isfinite(material.people).sum(axis=1)
    at = np.argwhere((share > 0) & (share < 1))
    ordered = sorted(at.tolist(), key=lambda x: (round(abs(share[*x] - 0.5), 9), n_people[*x], *x))
    rows = [
        {
            "step": items[item].key[0],
            "item": items[item].key[1],
            "group": material.units[unit][0],
            "story": material.units[unit][1],
            "judge_percent": 100 * share[item, unit],
            "n_judges": np.isfinite(own[:, item, unit]).sum(),
            "people_percent": 100 * material.means[item, unit] if n_people[item, unit] else None,
            "n_people": n_people[item, unit],
        }
        for item, unit in ordered[:200]
    ]
    return {"rows": rows, "n": len(at), "anchored": anchored}


def yes_levels(package, items, judge, shape):
    """The judge's probability of Yes, else its share over repeats, of how many answers, and which are probabilities."""
    shares, counts = shares_of_repeats(package, items, judge, shape)
    probabilities = mean_expectations(package, items, judge, shape)
    is_probability = np.isfinite(probabilities)
    return (
        np.where(is_probability, probabilities, shares),
        np.where(is_probability, np.inf, counts),
        is_probability,
    )


def mean_expectations(package, items, judge, shape):
    """The mean answer by the judge's probabilities, over all of its readings if all have them, shape (I, U)."""
    units, keys = {unit: n for n, unit in enumerate(package.units)}, {item.key: n for n, item in enumerate(items)}
    of_readings = expectations(package.table("judge_probabilities"))
    sums, counts = np.zeros((2, *shape))
    rows = package.all_readings[is_about(package.all_readings, items)]
    rows = rows[(rows["rater"] == judge) & (rows["outcome"] == "answered")]
    for rater, group, story, step, item, seat in zip(*(rows[name] for name in READING), strict=True):
        place = keys[step, item], units[group, story]
        sums[place] += of_readings.get((rater, group, story, step, item, seat), np.nan)
        counts[place] += 1
    return sums / np.where(counts > 0, counts, np.nan)


def shares_of_repeats(package, items, judge, shape):
    """The mean of a judge's answers to what it was asked again, and how many they are, both of shape (I, U)."""
    units = {unit: n for n, unit in enumerate(package.units)}
    keys = {item.key: n for n, item in enumerate(items)}
    sums, counts = np.zeros((2, *shape))
    for (group, story, step, item, *_reading), values in answered_again(package, items, judge):
        place = keys[step, item], units[group, story]
        sums[place] += sum(values)
        counts[place] += len(values)
    return sums / np.where(counts > 0, counts, np.nan), counts


# ── biases ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def judge_biases(package):
    """What a judge goes by beside the texts, and how steady it is."""
    rows = [*audits(package, package.verdicts, "verdicts"), *audits(package, package.scales, "scales")]
    adjusted = contrasts.adjust([row.get("p") for row in rows], "holm")
    return [row | ({} if p is None else {"p_adjusted": p}) for row, p in zip(rows, adjusted, strict=True)]


def audits(package, items, kind):
    material = judged(package, items)
    if material is None:
        return []
    lengths = explanation_lengths(material)
    rows = []
    for at, (judge, answers) in enumerate(zip(material.names, material.judges, strict=True)):
        salt = (BIASES, len(kind), at)
        rows += [{"judge": judge, "kind": kind} | row for row in of_traits(package, material, judge, answers, kind)]
        computed = {
            "modal_share": lambda a=answers, s=salt: modal_share(package, material, a, s),
        }
        if kind == "verdicts" and np.isfinite(lengths[at]).any():
            computed["explanations"] = lambda a=answers, n=at, s=salt: explanations(package, material, a, lengths[n], s)
        readings, units = repeated_answers(package, items, judge)
        if readings.size:
            computed["repeats"] = lambda r=readings, u=units, s=salt: repeats(package, r, u, s)
        for bias, compute in computed.items():
            row = value_or_reason(compute)
            row = NOTHING if isinstance(row, Incomputable) else row
            rows.append({"judge": judge, "kind": kind, "bias": bias} | row)
    return sorted(rows, key=lambda row: ORDER.index(row["bias"]))


def modal_share(package, material, answers, salt):
    statistic, people = judge_scores.MODAL_SHARE, material.people.transpose(1, 0, 2)
    options = {"rng": package.rng(*salt, 1), "n_resamples": N_RESAMPLES}
    own = [judge_scores.score(statistic, ratings, ratings) for ratings in people if np.isfinite(ratings).any()]
    return {
        "value": judge_scores.score(statistic, answers, answers),
        "people": np.mean(own) if own else None,
        "n": np.isfinite(answers).sum(),
        "n_raters": len(own),
        "interval": interval(judge_scores.score_interval, statistic, answers, answers, material.clusters, **options),
    }


def explanation_lengths(material):
    """Words of every judge's explanation of each answer that counts, shape (J, I, U); nan without one."""
    rows = material.rows[(material.rows["outcome"] == "answered") & (material.rows["rationale"] != "")]
    rows = rows.assign(number=[float(len(text.split())) for text in rows["rationale"]], value="")
    return build_cube(rows, material.items, material.names, material.units).values.transpose(1, 0, 2)


def explanations(package, material, answers, lengths, salt):
    truth = np.stack([judgements.majority(ratings) for ratings in material.people])
    both = np.isfinite(truth) & np.isfinite(answers)
    parts = [np.where(both & is_so, lengths, np.nan) for is_so in (answers == truth, answers != truth)]
    audit = biases.difference(*parts, material.clusters, rng=package.rng(*salt, 3), n_resamples=N_RESAMPLES)
    fields = {"value": audit.value, "n": audit.n_first, "n_beside": audit.n_second}
    return fields | {"interval": ends_of(audit.interval)}


def repeated_answers(package, items, judge):
    """What a judge answered to a question that it read again in the same order, as the same persona, shape (K, N)."""
    several = list(answered_again(package, items, judge))
    table = np.full((max((len(values) for _key, values in several), default=0), len(several)), np.nan)
    for n, (_key, values) in enumerate(several):
        table[: len(values), n] = values
    return table, [key[:2] for key, _values in several]


def answered_again(package, items, judge):
    """The answers to each such question, by group, story, step, item, order and persona."""
    rows = package.all_readings[package.all_readings["rater"] == judge]
    rows = rows[is_about(rows, items)]
    rows = rows[(rows["outcome"] == "answered") & rows["number"].notna()].sort_values("seat", kind="stable")
    reading = ["group", "story", "step", "item", "order", "persona"]
    for key, of_question in rows.drop_duplicates([*reading, "repeat"]).groupby(reading):
        if len(of_question) > 1:
            yield key, list(of_question["number"])


def repeats(package, readings, units, salt):
    variances = biases.repeat_variances(readings)
    ends = mean_interval(variances, package.clusters(units), package.rng(*salt, 4), (0, np.inf))
    return {"value": np.nanmean(variances), "n": np.isfinite(variances).sum(), "interval": ends}
