"""How often items are answered Yes, how highly stories are rated, how many tests they pass; by source if unsealed."""

from collections import Counter
from typing import Any

import numpy as np

from annotation.models import StepTaken
from reports import frames
from reports.frames import Cube
from reports.material import N_RESAMPLES, Asked, Material, interval, value
from stats import rates
from stats.agreement import Incomputable
from stats.arrays import BoolArray, FloatArray, IntArray
from stats.intervals import percentile_interval, resample_weights
from studies import items
from studies.items.binary import DEFAULT as YES_OR_NO
from studies.models import Step

RATES, MEANS, PASSED = 1, 2, 3  # salts of the seed, one for each purpose


def pass_rates(material: Material) -> dict[str, Any] | None:
    """Pass rates of every item, overall and by source, intervals from resampling stories. None without such items."""
    asked = material.verdicts
    if not asked:
        return None
    cube = material.verdict_cube
    columns = [("", _all(cube)), *((name, material.by(cube, name)) for name, _ in material.sources)]
    found = [_column(material, cube, mask, salt=salt) for salt, (_, mask) in enumerate(columns)]
    return {
        "items": [
            a.described() | {"overall": found[0][i], "by_source": _by_source(columns, found, i)}
            for i, a in enumerate(asked)
        ],
        "mean": {"overall": found[0][-1], "by_source": _by_source(columns, found, -1)},
        "n_verdicts": int(np.isfinite(cube.values).sum()),
        "n_resamples": N_RESAMPLES,
        "seed": material.study.seed,
    }


def _column(material: Material, cube: Cube, mask: BoolArray, *, salt: int) -> list[dict[str, Any]]:
    """The rate of each item over some of the units, and last the mean of the items over joint resamples."""
    stories = [story for story, kept in zip(cube.stories, mask, strict=True) if kept]
    values = cube.values[:, :, mask]
    try:
        weights = resample_weights(stories, rng=material.rng(RATES, salt), n_resamples=N_RESAMPLES)
    except Incomputable as reason:
        return [_rate(v, None, str(reason), stories) for v in values] + [_mean_rate(values, None, str(reason), stories)]
    resamples = np.stack([rates.pass_rate_resamples(v, weights) for v in values])
    each = [_rate(v, r, "", stories) for v, r in zip(values, resamples, strict=True)]
    return [*each, _mean_rate(values, _mean_over_items(resamples), "", stories)]


def _rate(verdicts: FloatArray, resamples: FloatArray | None, why: str, stories: list[str]) -> dict[str, Any]:
    n, n_yes = int(np.isfinite(verdicts).sum()), int(np.nansum(verdicts))
    given = {stories[unit] for unit in np.flatnonzero(np.isfinite(verdicts).any(axis=0))}
    ends: dict[str, Any] = {"low": None, "high": None, "why": why}
    if resamples is not None:
        ends = interval(percentile_interval, resamples, stories)
    return value(rates.pass_rate, verdicts) | {"n_yes": n_yes, "n": n, "n_stories": len(given), "interval": ends}


def _mean_rate(values: FloatArray, resamples: FloatArray | None, why: str, stories: list[str]) -> dict[str, Any]:
    """The mean of the items' rates, each item weighing the same."""
    each = [value(rates.pass_rate, v)["value"] for v in values]
    found = [v for v in each if v is not None]
    told = _rate(values.reshape(-1, values.shape[-1]), resamples, why, stories)
    return told | ({"value": float(np.mean(found))} if found else {})


def _mean_over_items(resamples: FloatArray) -> FloatArray:
    """The mean over items of each resample, nan where an item has no value in it; of the items that have one at all."""
    answered = resamples[~np.isnan(resamples).all(axis=1)]
    return np.asarray(answered.mean(axis=0) if len(answered) else np.full(resamples.shape[1], np.nan), dtype=np.float64)


def ratings(material: Material) -> list[dict[str, Any]]:
    """Mean and standard deviation of every item on a scale, overall and by source, resampling stories."""
    found = []
    on_scales = [a for a in material.asked if a.level in ("ordinal", "interval") and a.is_about_a_story]
    for place, asked in enumerate(on_scales):
        cube = material.cube([asked])
        columns = [("", _all(cube)), *((name, material.by(cube, name)) for name, _ in material.sources)]
        cells = [_mean_rating(material, cube, mask, salt=(place, n)) for n, (_, mask) in enumerate(columns)]
        settings = asked.item.settings
        ends = {"lowest": settings.get("low"), "highest": settings.get("high")}
        by_source = [{"source": name} | cell for (name, _), cell in zip(columns[1:], cells[1:], strict=True)]
        found.append(asked.described() | ends | {"overall": cells[0], "by_source": by_source})
    return found


def _mean_rating(material: Material, cube: Cube, mask: BoolArray, *, salt: tuple[int, int]) -> dict[str, Any]:
    values = cube.values[0][:, mask]
    stories = [story for story, kept in zip(cube.stories, mask, strict=True) if kept]
    given = values[np.isfinite(values)]
    if not given.size:
        return {"value": None, "why": "There are no answers.", "n": 0}

    def resampled() -> Any:
        weights = resample_weights(stories, rng=material.rng(MEANS, *salt), n_resamples=N_RESAMPLES)
        return percentile_interval(_mean_resamples(values, weights), stories)

    spread = float(given.std(ddof=1)) if given.size > 1 else None
    return {"value": float(given.mean()), "sd": spread, "n": int(given.size), "interval": interval(resampled)}


def _mean_resamples(values: FloatArray, weights: IntArray) -> FloatArray:
    n = weights @ np.isfinite(values).sum(axis=0)
    return np.asarray((weights @ np.nansum(values, axis=0)) / np.where(n > 0, n, np.nan), dtype=np.float64)


def shares(material: Material, *, but: list[Asked]) -> list[dict[str, Any]]:
    """How often each option of a choice was taken, overall and by source, but for the guesses of authorship."""
    found = []
    for asked in material.asked:
        if asked.level != "nominal" or asked in material.verdicts or asked in but or not asked.is_about_a_story:
            continue
        rows = material.rows(asked)
        options = [
            {"value": o["value"], "label": o["label"], "n": int((rows["value"] == o["value"]).sum())}
            | {"by_source": [_taken(rows, name, o["value"]) for name, _ in material.sources]}
            for o in asked.item.options
        ]
        found.append(asked.described() | {"n": len(rows), "options": options})
    return found


def _taken(rows: Any, source: str, option: str) -> dict[str, Any]:
    of_source = rows[rows["source"] == source]
    return {"source": source, "n": int((of_source["value"] == option).sum()), "of": len(of_source)}


def checks(material: Material) -> list[dict[str, Any]]:
    """Of every item asked once that has a right answer, how many raters gave it in the end, and how many raters failed
    its check and went no further; overall, since no story is meant."""
    failures = StepTaken.failures().filter(rater__study=material.study, rater__withdrawal=None)
    n_failed = Counter(failures.values_list("step__key", flat=True))
    checked = [a for a in _once(material) if "correct" in a.item.settings]
    return [_check(material, a) | {"n_failed": n_failed[a.step.key]} for a in checked]


def _once(material: Material) -> list[Asked]:
    return [a for a in material.asked if a.step.scope == Step.Scope.ONCE]


def _check(material: Material, asked: Asked) -> dict[str, Any]:
    item, kind = asked.item, items.named(asked.item.type)
    right = [bool(kind.is_correct(item, said)) for said in material.rows(asked)["value"]]
    share = {"value": 100 * sum(right) / len(right)} if right else {"value": None, "why": "There are no answers."}
    told = {"question": item.question, "correct": kind.label(item, item.settings["correct"])}
    # One answer a rater, so that here answers do stand alone.
    ends = interval(rates.wilson, sum(right), len(right)) | {"note": ""}
    return asked.described() | told | share | {"n_right": sum(right), "n": len(right), "interval": ends}


def surveys(material: Material) -> list[dict[str, Any]]:
    """What raters said once, of themselves or of the study: counts of options, means of numbers, how many wrote."""
    asked = [a for a in _once(material) if "correct" not in a.item.settings]
    return [a.described() | {"question": a.item.question} | _said(material, a) for a in asked]


def _said(material: Material, asked: Asked) -> dict[str, Any]:
    rows = material.rows(asked)
    given = [one for said in rows["value"] for one in (said if isinstance(said, list) else [said])]
    offered = asked.item.options or (YES_OR_NO if frames.is_verdict(asked.item) else [])
    options = [{"value": o["value"], "label": o["label"], "n": given.count(o["value"])} for o in offered]
    is_number = asked.level in ("ordinal", "interval")
    numbers = rows["analysed"].to_numpy(dtype=np.float64) if is_number else np.array([])
    return {
        "n": len(rows),
        "options": options,
        "mean": float(numbers.mean()) if numbers.size else None,
        "sd": float(numbers.std(ddof=1)) if numbers.size > 1 else None,
    }


def tests_passed(material: Material) -> dict[str, Any] | None:
    """How many tests each story passes, the mean of its raters' counts; None while sealed or without several tests."""
    asked = material.verdicts
    if material.sealed or len(asked) < 2:
        return None
    cube = material.verdict_cube
    passed = rates.tests_passed(cube.values)
    n_raters = np.isfinite(rates.totals(cube.values)).sum(axis=0)
    stories = [
        {"group": group, "story": story, "source": material.source_of(story), "value": _or_none(p), "n_raters": n}
        for (group, story), p, n in zip(cube.units, passed, n_raters.tolist(), strict=True)
    ]
    by_source = [
        {"source": name} | _spread(material, passed[material.by(cube, name)], salt=salt)
        for salt, (name, _) in enumerate(material.sources)
    ]
    return {"n_items": len(asked), "stories": stories, "by_source": by_source}


def _spread(material: Material, passed: FloatArray, *, salt: int) -> dict[str, Any]:
    known = passed[np.isfinite(passed)]
    if not known.size:
        return {"value": None, "why": "No story has a rater who answered every test.", "n_stories": 0}

    def resampled() -> Any:
        labels = np.arange(known.size)
        weights = resample_weights(labels, rng=material.rng(PASSED, salt), n_resamples=N_RESAMPLES)
        return percentile_interval(_mean_resamples(known[np.newaxis], weights), labels)

    ends = {"least": float(known.min()), "most": float(known.max())}
    return {"value": float(known.mean()), "n_stories": int(known.size), **ends, "interval": interval(resampled)}


def _all(cube: Cube) -> BoolArray:
    return np.ones(len(cube.units), dtype=np.bool_)


def _by_source(
    columns: list[tuple[str, BoolArray]], found: list[list[dict[str, Any]]], place: int
) -> list[dict[str, Any]]:
    pairs = zip(columns[1:], found[1:], strict=True)
    return [{"source": name} | cells[place] for (name, _), cells in pairs]


def _or_none(number: float) -> float | None:
    return float(number) if np.isfinite(number) else None
