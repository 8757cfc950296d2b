"""Where answers are missing and what that could change, and which raters to ask."""

import json
from statistics import median

import numpy as np
import pandas as pd
from recompute.values import NOT_TAKEN, Left
from recompute.work import place_by_reading, read_timings

from stats import contrasts, missing_bounds, missing_patterns, outlying_raters
from stats.reasons import Incomputable

PARTS, LEVEL = 61, 0.05  # of the seed; of studies of alike raters, in how many somebody is named
ABOUT_STORIES = ("verdicts", "dimension", "verdict", "score", "scale_mean", "rating")
BEGUN = ("open", "submitted", "given_up")


def missing_answers(package):
    """How many places there are stands in no package, so it is the report's own."""
    begun = begun_readings(package)
    n_seats = {row["group"]: row["n_seats"] for row in package.report["progress"]["groups"]}
    tables = [t for t in package.outcomes if t.kind in ABOUT_STORIES and np.isfinite(t.bounds).all()]
    bounds = [row for table in tables for row in bounds_of(package, table, n_seats)]
    return {"bounds": bounds, "n_readings": len(begun), "parts": parts(package, begun) if len(begun) else []}


def bounds_of(package, table, n_seats):
    """Every source's bounds; nothing where no answer is missing."""
    expected = np.array([n_seats.get(group, 0) for group, _story in table.units], dtype=np.int64)
    ratings, rows = table.ratings, []
    if len(table.items) > 1 and table.kind != "score" and table.kind != "scale_mean":
        whole = np.isfinite(package.cube(table.items).values).all(axis=0)
        ratings = np.where(whole, ratings, np.nan)
    for source in package.sources:
        units, values = table.sources == source, table.values[table.of_source(source)]
        try:
            bounds = missing_bounds.mean_bounds(ratings[:, units], expected[units], bounds=table.bounds)
        except Incomputable:
            continue
        value = values.mean() if values.size else None
        rows.append({"outcome": table.key, "source": source, **vars(bounds), "value": value})
    return rows if any(row["n_missing"] for row in rows) else []


def begun_readings(package):
    """A row for each story that a rater began with: what is missing of how many answers, and its place."""
    seats = package.table("assignments")
    is_begun = (seats["rater_kind"] == "person") & (seats["seat"] != "") & (seats["is_second_reading"] != "True")
    is_begun &= seats["status"].isin(BEGUN) & ~((seats["status"] == "given_up") & (seats["read_before"] == "True"))
    seats = seats[is_begun]
    if (seats["is_simulated"] != "True").any():
        seats = seats[seats["is_simulated"] != "True"]
    items = {item.key for item in (*package.verdicts, *package.scales, *package.choices)}
    answers = package.everybody[package.everybody["outcome"] == "answered"]
    answers = answers[answers["status"].isin(BEGUN)]
    is_asked = [key in items for key in zip(answers["step"], answers["item"], strict=True)]
    answers = answers[np.array(is_asked, dtype=bool)]
    n_asked = len(answers[["step", "item"]].drop_duplicates())
    if not n_asked:
        return pd.DataFrame()
    n_answered, places = answers.groupby(["rater", "group", "story"]).size().to_dict(), place_by_reading(package)
    rows = [
        {
            "rater": seat.rater,
            "group": seat.group,
            "story": story,
            "place": places.get((seat.rater, seat.group, seat.seat, story), np.nan),
            "n_missing": n_asked - n_answered.get((seat.rater, seat.group, story), 0),
            "n_asked": n_asked,
            "is_ended": seat.status == "submitted",
        }
        for seat in seats.itertuples()
        for story in json.loads(seat.stories or "[]")
    ]
    return pd.DataFrame(rows).sort_values(["rater", "group", "story"]).reset_index(drop=True)


def parts(package, begun):
    """Where answers are missing, by source, story, place and rater, and whether that is more than chance."""
    raters, rater = np.unique(begun["rater"].to_list(), return_inverse=True)
    stories, story = np.unique(begun["story"].to_list(), return_inverse=True)
    number_by_source = {name: n for n, name in enumerate(package.sources)}
    counts = missing_patterns.AnswerCounts(
        n_missing=begun["n_missing"].to_numpy(dtype=np.int64),
        n_asked=begun["n_asked"].to_numpy(dtype=np.int64),
        rater=rater,
        group=begun.groupby(["rater", "group"]).ngroup().to_numpy(dtype=np.int64),
        story=story,
        source=np.array([number_by_source.get(package.source_of(name), -1) for name in begun["story"]]),
        place=begun["place"].to_numpy(dtype=float),
        is_ended=begun["is_ended"].to_numpy(dtype=bool),
    )
    patterns = missing_patterns.missing_patterns(counts, rng=package.rng(PARTS))
    labels = {"source": package.sources, "story": stories, "place": ("earlier", "later"), "rater": raters}
    adjusted = contrasts.adjust([pattern.p for pattern in patterns.values()], "holm")
    return [
        {
            "aspect": aspect,
            "label": str(labels[aspect][pattern.label]),
            "percent": 100 * pattern.share,
            "others": 100 * pattern.others,
            "p": pattern.p,
            "p_adjusted": p,
        }
        for (aspect, pattern), p in zip(patterns.items(), adjusted, strict=True)
    ]


# ── raters to ask ──────────────────────────────────────────────────────────────────────────────────────────────────


def rater_questions(package):
    """Who stands apart from all others, or gives one answer where others vary."""
    has_times = bool(package.report["pace"])
    if has_times and not package.has("timings"):
        return Left(NOT_TAKEN)
    blocks = [block for block in package.blocks() if block[0] != "numbers"]
    rows = [row for block in blocks for row in questions_of_block(package, *block)]
    of_pace = questions_of_pace(package) if has_times else None
    n_tests = 3 * len(blocks) + (of_pace is not None)
    rows = [row | {"p": row["p"] * n_tests} for row in (*rows, *(of_pace or ())) if row["p"] * n_tests <= LEVEL]
    about = ("rater", "kind", "title")
    constant = {tuple(row[name] for name in about) for row in rows if row["sign"] == "same_answer"}
    rows = [row for row in rows if row["sign"] != "severity" or tuple(row[name] for name in about) not in constant]
    return {"n_raters": len(package.raters), "n_tests": n_tests, "rows": rows}


def questions_of_block(package, kind, title, items):
    ratings = package.cube(items).values
    severities = outlying_raters.excesses(ratings, 1.0) if kind == "verdicts" else outlying_raters.severities(ratings)
    deviations, is_answered = outlying_raters.deviations(ratings), np.isfinite(ratings)
    parts_of_block = (
        ("same_answer", outlying_raters.constant_answers(ratings), outlying_raters.constant_ps(ratings)),
        ("severity", severities, outlying_raters.apart(severities)),
        ("agreement", np.exp(deviations / 2), outlying_raters.apart(deviations, lower=False)),
    )
    return [
        {
            "rater": package.raters[rater],
            "sign": sign,
            "kind": kind,
            "title": title,
            "value": values[rater],
            "others": None if sign == "same_answer" else np.nanmedian(np.delete(values, rater)),
            "n_stories": is_answered[:, rater].any(axis=0).sum(),
            "n_answers": is_answered[:, rater].sum(),
            "p": ps[rater],
        }
        for sign, values, ps in parts_of_block
        for rater in np.flatnonzero(np.isfinite(ps)).tolist()
    ]


def questions_of_pace(package):
    """Who took far less time than the others; None where too few have times."""
    readings = read_timings(package)
    minutes_by_rater = {
        rater: list(own["minutes"]) for rater, own in readings[readings["minutes"] > 0].groupby("rater")
    }
    enough = {r: minutes for r, minutes in minutes_by_rater.items() if len(minutes) >= outlying_raters.FEWEST_STORIES}
    if len(enough) < outlying_raters.FEWEST_RATERS:
        return None
    medians = np.array([median(minutes) for minutes in enough.values()])
    ps = outlying_raters.apart(np.log(medians), upper=False)
    return [
        {
            "rater": rater,
            "sign": "pace",
            "kind": "",
            "title": "",
            "value": medians[n],
            "others": np.nanmedian(np.delete(medians, n)),
            "n_stories": len(minutes),
            "n_answers": 0,
            "p": ps[n],
        }
        for n, (rater, minutes) in enumerate(enough.items())
        if np.isfinite(ps[n])
    ]
