"""What a judge was told: several personas, several prompts; and what people and a judge say together of each source."""

import numpy as np
from recompute.readings import UNIT, asked_units, judged
from recompute.scores import score, sides_of
from recompute.tables import build_cube
from recompute.values import (
    N_RESAMPLES,
    NOT_TAKEN,
    Left,
    chance_floor,
    ends_of,
    estimate,
    interval,
    mean_interval,
    or_none,
    why,
)
from recompute.work import read_timings

from stats import agreement, arrays, intervals, judge_scores, judgements, prediction_powered, table_scores
from stats import personas as persona_gains
from stats.reasons import Incomputable

PERSONAS, WORDINGS = 29, 30  # of the seed


def personas(package):
    """What it gains that a judge reads as several personas, and how far these agree."""
    material, rows = judged(package, package.scales), []
    people = arrays.mean_present(material.people, axis=1)
    plain = package.all_readings.sort_values("seat", kind="stable")
    plain = plain[plain["repeat"].isin(["", "1"]) & plain["order"].isin(["", "planned"])]
    plain = plain.drop_duplicates(["rater", "persona", *UNIT, "step", "item"])
    for salt, stored in enumerate(package.report["personas"]):
        own = plain[(plain["rater"] == stored["judge"]) & plain["persona"].isin(stored["personas"])]
        nobody = plain[(plain["rater"] == stored["nobody"]) & (plain["persona"] == "")]
        as_personas, as_nobody = (
            build_cube(answers.assign(rater=answers["persona"]), material.items, names, package.units).values
            for answers, names in ((own, stored["personas"]), (nobody, [""]))
        )

        def gain(items, at, salt=salt, of_personas=as_personas, of_nobody=as_nobody):
            sides = of_personas[items].transpose(1, 0, 2), of_nobody[items, 0], people[items]
            return persona_gain(package, sides, material.clusters, (PERSONAS, salt, at, 0))

        items = [
            item.fields
            | {"gain": gain(slice(at, at + 1), at + 1)}
            | among_personas(package, material, item, as_personas[at], (PERSONAS, salt, at + 1, 1))
            for at, item in enumerate(material.items)
            if np.isfinite(as_personas[at]).any()
        ]
        rows.append({"judge": stored["judge"], "over_items": gain(slice(None), 0), "items": items})
    return rows


def persona_gain(package, sides, clusters, salt):
    try:
        gain = persona_gains.compare(*sides, clusters, rng=package.rng(*salt), n_resamples=N_RESAMPLES)
    except Incomputable as error:
        return {"value": None, "together": None, "alone": None, "nobody": None, "n": 0, "interval": ends_of(error)}
    values = {name: or_none(getattr(gain, name)) for name in ("together", "alone", "nobody")}
    return values | {"value": or_none(gain.gain), "n": gain.n_units, "interval": ends_of(gain.interval)}


def among_personas(package, material, item, ratings, salt):
    level, of_models = item.level, ratings[:, material.is_of_models]
    alpha, ends = agreement.krippendorff_alpha, (intervals.alpha_interval, ratings, level, material.clusters)
    return {
        "alpha": estimate(alpha, ratings, level),
        "interval": interval(*ends, rng=package.rng(*salt, 0)),
        "floor": chance_floor(agreement.alpha_chance_floor, ratings, level, rng=package.rng(*salt, 1)),
        "among_models": estimate(alpha, of_models, level) if material.is_mixed else None,
    }


# ── one model, several prompts ─────────────────────────────────────────────────────────────────────────────────────


def prompts_by_model(package):
    """Of every model that was run with several prompts each judge's prompt; all else that was sent is the same."""
    runs, groups = package.table("judge_runs"), {}
    runs = runs[~runs["rater"].isin([row["judge"] for row in package.report.get("alignment") or []])]
    for run in runs[(runs["is_run"] == "True") & (runs["endpoint"] != "")].to_dict("records"):
        prompts = groups.setdefault(tuple(run[name] for name in ("model", "endpoint", "parameters", "personas")), {})
        if run["prompt"] not in prompts.values():
            prompts[run["rater"]] = run["prompt"]
    several = [(key[0], prompts) for key, prompts in groups.items() if len(prompts) > 1]
    names = [name for name, _prompts in several]
    return {name if names.count(name) == 1 else f"{name} ({next(iter(prompts))})": prompts for name, prompts in several}


def wordings(package):
    """Of each prompt how often Yes or the mean rating, and the score; how many answers are not the same in all."""
    rows = []
    kinds = (
        ("verdicts", package.verdicts, table_scores.KAPPA, 100, judgements.majority),
        ("scales", package.scales, judge_scores.SPEARMAN, 1, lambda ratings: arrays.mean_present(ratings, axis=0)),
    )
    for kind, items, statistic, factor, reference_of in kinds:
        material = judged(package, items)
        if material is None:
            continue
        reference = np.stack([reference_of(ratings) for ratings in material.people])
        for at, (model, prompts) in enumerate(prompts_by_model(package).items()):
            names = [name for name in material.names if name in prompts]
            answers = material.judges[[material.names.index(name) for name in names]]
            in_all = np.isfinite(answers).all(axis=0)
            if len(names) < 2 or not in_all.any():
                continue
            answers, worded = np.where(in_all, answers, np.nan), []
            for n, (name, own) in enumerate(zip(names, answers, strict=True)):
                sides = sides_of(package, material, own, reference, (WORDINGS, at, factor, n))
                scored = score(sides, statistic, ("all", "models"), slice(None), ())
                worded.append(
                    {"judge": name, "prompt": prompts[name], "level": factor * np.nanmean(own), "score": scored}
                )
            rng = package.rng(WORDINGS, at, len(kind))
            fields = side_by_side(answers, in_all, worded, material.clusters, rng)
            rows.append({"model": model, "kind": kind, "wordings": worded} | fields)
    return rows


def side_by_side(answers, in_all, worded, clusters, rng):
    changed = np.where(in_all, 100.0 * (answers.max(axis=0) > answers.min(axis=0)), np.nan)
    levels, values = [row["level"] for row in worded], [row["score"]["parts"][0]["value"] for row in worded]
    present = [value for value in values if value is not None]
    return {
        "n": in_all.sum(),
        "changed_percent": changed[in_all].mean(),
        "interval": mean_interval(changed, clusters, rng, (0, 100)),
        "level_spread": max(levels) - min(levels),
        "score_spread": max(present) - min(present) if len(present) > 1 else None,
    }


# ── people and a judge together ────────────────────────────────────────────────────────────────────────────────────


def people_and_judge(package):
    """By source people's mean alone and with the judge, where people read a random part of its stories."""
    rows, questions = [], [("yes_percent", package.verdicts, "", 100.0)]
    questions += [("rating", [item], item.item, 1.0) for item in package.scales]
    stored = {(row["judge"], row["kind"], row["item"]): row for row in package.report["people_and_judge"]}
    for kind, items, name, scale in questions:
        material = judged(package, items, with_jury=True)
        if material is None:
            continue
        low, high = (0.0, 100.0) if not name else items[0].bounds
        constant = (low + high) / 2 if np.isfinite(low + high) else None
        people = arrays.mean_present(material.people, axis=(0, 1)) * scale
        for judge, answers in zip(material.names, material.judges * scale, strict=True):
            row = {"judge": judge, "kind": kind, "item": name, "constant": constant}
            row["half_width"] = wanted((low, high))
            reasons = {(part.get("why") or {}).get("code") for part in stored[judge, kind, name]["by_source"]}
            of_sources = [{"source": source} for source in package.sources]
            if reasons != {"answers_in_the_prompt"}:  # which no package tells
                of_sources = powered(package, material, judge, people, answers, constant, (low, high))
            rows.append(row | {"by_source": of_sources})
    return rows


def powered(package, material, name, people, answers, constant, bounds):
    is_asked = asked_units(package, name, material.units)
    judge = (answers if constant is None else np.where(np.isnan(answers), constant, answers)).mean(axis=0)
    level_by_story, rows, ratings = package.factors.get("drawn", {}), {}, {}
    drawn = [level_by_story.get(story, "").casefold() for _group, story in material.units]
    for source in package.sources:
        units = (material.sources == source) & is_asked
        rows[source] = {"source": source, "n_filled_in": np.isnan(answers[:, units]).sum()}
        try:
            ratings[source] = prediction_powered.read_source(people, judge, material.clusters, units, drawn)
        except Incomputable as error:
            rows[source] = {"source": source, "why": why(error)}
    half_width, samples, planned = wanted(bounds), list(ratings.values()), {}
    if half_width:
        planned = dict(zip(ratings, prediction_powered.plan_reading(samples, half_width), strict=True))
    for source, mean in zip(ratings, prediction_powered.estimate_means(samples), strict=True):
        fields = {name: getattr(mean, name) for name in ("n", "n_judged", "weight")}
        rows[source] |= (
            fields
            | {"width_gained": 100 * mean.width_gained}
            | {
                name: {
                    "value": part.value,
                    "interval": {
                        "low": max(part.low, bounds[0]),
                        "high": min(part.high, bounds[1]),
                        "n_resampled": mean.n,
                    },
                }
                for name, part in (("people", mean.people), ("together", mean.together))
            }
        )
        units = (material.sources == source) & is_asked
        rows[source] |= needed(package, material, mean.n, units, planned.get(source))
    return list(rows.values())


def wanted(bounds):
    """Half the width of an interval for which stories are counted; None of a scale without ends."""
    low, high = bounds
    return 0.05 * (high - low) if np.isfinite(high - low) else None


def needed(package, material, n_clusters, units, planned):
    """Stories and hours of people for the wanted width; how long a story takes is in a file that can be left out."""
    if planned is None:
        return {}
    numbers = {"n_needed_alone": planned.alone, "n_needed": planned.together}
    for name, ends in (("n_needed_alone", planned.alone_ends), ("n_needed", planned.together_ends)):
        numbers |= {f"{name}_low": ends[0], f"{name}_high": ends[1]}
    if not package.has("timings"):
        return numbers | {"hours_alone": Left(NOT_TAKEN), "hours": Left(NOT_TAKEN)}
    minutes = read_timings(package)["minutes"]
    if not (minutes > 0).any():
        return numbers
    n_readings = np.isfinite(material.people).any(axis=0)[:, units].sum()
    hours = n_readings / n_clusters * minutes[minutes > 0].median() / 60
    return numbers | {"hours_alone": hours * planned.alone, "hours": hours * planned.together}
