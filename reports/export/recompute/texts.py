"""What texts have in them: what metrics measured and how it goes with people, novelty, near-copies, and themes."""

import json

import numpy as np
import pandas as pd
from recompute.pairs import list_pairs
from recompute.values import (
    N_RESAMPLES,
    NO_TEXTS,
    Left,
    chance_floor,
    ends_of,
    estimate,
    interval,
    mean,
    mean_interval,
    share,
)
from recompute.word_boundaries import split_words

from stats import agreement, intervals, judge_scores, score_pairs, shared_sequences, spreads
from stats.neighbours import Neighbours, TooFewNeighbours

MEASURES, NOVELTY, THEMES = 71, 91, 90  # of the seed
OF_PAIRS = 100  # of the seed: the number of a question about pairs is added
COEFFICIENTS = {"spearman": judge_scores.SPEARMAN, "kendall_tau": judge_scores.KENDALL_TAU}
NUMBERS_OF_NEIGHBOURS = (1, 10, 25)
LENGTH, NEAR = 5, 20  # words of a sequence; percent


def measured(package):
    """What each metric measured that nobody else is asked, by what it is: metric, step and item, and the values."""
    rows, keys = package.judges[package.judges["rater_kind"] == "metric"], {item.key for item in package.items}
    for metric, of_metric in rows.groupby("rater"):
        for (step, item), values in of_metric.groupby(["step", "item"], sort=False):
            if (step, item) not in keys:
                yield {"metric": metric, "step": step, "item": item}, values


def measures(package):
    """Of each item of a metric mean, standard deviation and ends over the stories, each counted once."""
    rows = []
    for about, answers in measured(package):
        own = answers[answers["story"] != ""].drop_duplicates("story")
        if not len(own):
            continue
        answered = own[own["outcome"] == "answered"]
        of_source = answered["story"].map(package.source_of)
        parts = [("", answered), *((name, answered[of_source == name]) for name in package.sources)]
        cells = [{"source": name} | vars(spreads.summarise(part["number"])) for name, part in parts]
        counts = {"n_without_value": len(own) - len(answered)}
        rows.append(about | counts | {"overall": cells[0], "by_source": cells[1:]})
    return rows


def measures_beside_people(package):
    """More is better on both sides: scores of which less is better, and places in an order, are turned."""
    runs, rows = package.table("judge_runs").drop_duplicates("rater").set_index("rater"), []
    tables = [table for table in package.outcomes if not (package.has_verdicts and table.is_part)]
    for salt, (about, answers) in enumerate(measured(package)):
        better, of_what = (runs[name].get(about["metric"], "") for name in ("better", "about"))
        numbers = answers["number"] * (-1 if better == "lower" else 1)
        scores = dict(zip(zip(answers["group"], answers["story"], strict=True), numbers, strict=True))
        of_pairs = [
            accuracy(package, item, scores, of_what == "pairs", (salt, OF_PAIRS + n))
            for n, item in enumerate(package.preferences)
        ]
        correlations = [correlate(package, table, scores, (salt, n)) for n, table in enumerate(tables)]
        fields = {"correlations": [] if of_what == "pairs" else correlations}
        rows.append(about | fields | {"accuracies": [row for row in of_pairs if row]})
    return {"measures": rows}


def correlate(package, table, score_by_unit, salt):
    """Rank correlations with one outcome, over stories in their groups."""
    scores = np.array([score_by_unit.get(unit, np.nan) for unit in table.units], dtype=float)
    people = table.values * (-1 if table.kind == "rank" else 1)
    both = np.isfinite(scores) & np.isfinite(people)
    sides, clusters = (scores[both][None], people[both][None]), table.clusters[both]
    coefficients = [
        {"statistic": name, "n_units": both.sum()}
        | estimate(judge_scores.score, statistic, *sides)
        | {
            "interval": interval(
                *(judge_scores.score_interval, statistic, *sides, clusters),
                rng=package.rng(MEASURES, *salt, n),
                n_resamples=N_RESAMPLES,
            ),
            "floor": chance_floor(judge_scores.score_floor, statistic, *sides, rng=package.rng(MEASURES, *salt, n, 1)),
        }
        for n, (name, statistic) in enumerate(COEFFICIENTS.items())
    ]
    tied, tied_people = (sum(pd.Series(side[0]).duplicated(keep=False)) for side in sides)
    counts = {"n": both.sum(), "n_tied": tied, "n_tied_people": tied_people}
    return {"outcome": table.key} | counts | {"coefficients": coefficients}


def accuracy(package, item, scores, is_of_pairs, salt):
    """Of pairs that most people agree on, how often the better-scored story is the one they prefer; a tie is half."""
    pairs = [pair for pair in list_pairs(package, item) if np.isfinite(pair[2])]
    if not pairs:
        return None
    differences = []
    for group, codes, _best, _words in pairs:  # a pair's own score is for the story whose code comes first
        first, second = (scores.get((group, code), np.nan) for code in codes)
        differences.append(scores.get((group, ""), np.nan) if is_of_pairs else first - second)
    right = score_pairs.pairs_right(differences, [pair[2] for pair in pairs])
    scored = np.isfinite(right)
    values, groups = right[scored], [pair[0] for pair, is_in in zip(pairs, scored, strict=True) if is_in]
    counts = {"n": values.size, "n_tied": (values == 0.5).sum(), "n_missing": (~scored).sum(), "title": item.title}
    floor = chance_floor(score_pairs.flip_floor, values, rng=package.rng(MEASURES, *salt, 1))
    return share(values, package.clusters_of(groups), package.rng(MEASURES, *salt)) | counts | {"floor": floor}


# ── beside other texts ─────────────────────────────────────────────────────────────────────────────────────────────


def novelty(package):
    """The mean distance to the k nearest stories of a set, and its mean over stories, from the distances."""
    table = package.table("neighbours").astype({"place": int, "distance": float}).sort_values("place")
    own_by_set = dict(iter(table.groupby("reference_set")))
    unknown = dict.fromkeys(("n_references", "n_gone"), Left(NO_TEXTS))
    rows = []
    for salt, stored in enumerate(package.report["novelty"]):
        own = own_by_set.get(stored["name"])
        rows.append(
            Left(NO_TEXTS) if own is None else {"name": stored["name"]} | unknown | distances(package, own, salt)
        )
    return rows


def distances(package, own, salt):
    """By story, and by k over the stories that stand in a group."""
    n_others, group_by_story = own["place"].max(), {story: group for group, story in reversed(package.units)}
    by_story = {story: part["distance"].to_numpy() for story, part in own.groupby("story")}
    stories = {
        story: [
            Neighbours(None, row[None]).mean_distances(k)[0] if k <= len(row) else None for k in NUMBERS_OF_NEIGHBOURS
        ]
        for story, row in by_story.items()
    }
    means = []
    for place, k in enumerate(NUMBERS_OF_NEIGHBOURS):
        if k > n_others:
            nothing = {"value": None, "why": {"values": TooFewNeighbours(k, n_others).values}}
            means.append({"k": k, "n": 0, "sd": None, "interval": ends_of(TooFewNeighbours(k, n_others))} | nothing)
            continue
        for n, source in enumerate(["", *package.sources]):
            units = [
                (group_by_story[story], story)
                for story in stories
                if story in group_by_story and source in ("", package.source_of(story))
            ]
            values = np.array([stories[story][place] for _group, story in units], dtype=float)
            summary, rng = spreads.summarise(values), package.rng(NOVELTY, salt, place, n)
            fields = {"k": k, "source": source, "n": summary.n, "value": summary.mean, "sd": summary.sd}
            means.append(fields | {"interval": mean_interval(values, package.clusters(units), rng)})
    return {"means": means, "stories": [{"story": story, "distances": row} for story, row in stories.items()]}


def near_copies(package):
    """Of a story's sequences of five words the largest share that one reference has; then by source.

    Only where the set holds all stories of the study, and their texts are here; of any other set the shares of stories
    are taken from the report, and what follows from them is computed.
    """
    rows, with_texts = [], package.stories[package.stories["has_text"] == "True"].drop_duplicates("story")
    texts = dict(zip(with_texts["story"], map(split_words, with_texts["text"]), strict=True))
    for stored in package.report["near_copies"]:
        codes, percents = [row["story"] for row in stored["stories"]], Left(NO_TEXTS)
        is_of_study = stored["corpus"] == package.report["study"]["slug"] and stored["n_references"] == len(texts)
        shares = [row["percent"] for row in stored["stories"]]
        if is_of_study and set(codes) <= set(texts):
            own = [list(texts).index(code) for code in codes]
            largest = shared_sequences.find_largest_shares(
                [texts[code] for code in codes], list(texts.values()), own=own, length=LENGTH
            )
            percents = shares = [None if share is None else 100 * share.share for share in largest]
        stories = [{"story": code} for code in codes]
        for n, row in enumerate(stories):
            row["percent"] = percents if isinstance(percents, Left) else percents[n]
        fields = {"name": stored["name"], "n_gone": Left(NO_TEXTS), "stories": stories}
        fields["n_references"] = percents if isinstance(percents, Left) else len(texts)
        by_source = [copies_of(package, name, codes, shares) for name in ("", *package.sources)] if stories else []
        rows.append(fields | {"by_source": by_source})
    return rows


def copies_of(package, source, codes, percents):
    pairs = zip(codes, percents, strict=True)
    own = [p for code, p in pairs if p is not None and source in ("", package.source_of(code))]
    n_near = sum(percent > NEAR for percent in own)
    return {"source": source, "n": len(own), "mean": sum(own) / len(own) if own else None, "n_near": n_near}


# ── themes of reasons ──────────────────────────────────────────────────────────────────────────────────────────────


def themes(package):
    """Themes that two people found in reasons, each blind: how far they agree, and in how many stories each stands."""
    names, codings = list(package.table("theme_codebook")["theme"]), package.table("codings")
    codings = codings.astype({"number": int}).assign(found=codings["themes"].map(json.loads))
    rows = []
    for salt in range(len(package.report["themes"])):
        own = codings[codings["sample"] == str(salt + 1)]
        reasons = own.drop_duplicates("number").sort_values("number")
        sampled = reasons["story"][reasons["story"] != ""]
        of_themes = [theme(package, name, own, reasons, (salt, place)) for place, name in enumerate(names)]
        rows.append({"n_reasons": len(reasons), "n_stories": sampled.nunique(), "rows": of_themes})
    return rows


def theme(package, name, codings, reasons, salt):
    marks = codings.assign(is_found=[float(name in of_reason) for of_reason in codings["found"]])
    marks = marks.pivot(index="coder", columns="number", values="is_found").to_numpy()
    ratings, units = marks[:2], list(zip(reasons["group"], reasons["story"], strict=True))
    of_alpha = (intervals.alpha_interval, ratings, "nominal", package.clusters(units))
    row = {
        "theme": name,
        "n_first": ratings[0].sum(),
        "n_second": ratings[1].sum(),
        "percent": estimate(agreement.percent_agreement, ratings),
        "kappa": estimate(agreement.cohen_kappa, *ratings),
        "alpha": estimate(agreement.krippendorff_alpha, ratings, "nominal"),
        "interval": interval(*of_alpha, rng=package.rng(THEMES, *salt, 0), n_resamples=N_RESAMPLES),
        "floor": chance_floor(agreement.alpha_chance_floor, ratings, "nominal", rng=package.rng(THEMES, *salt, 1)),
        "shares": list(theme_shares(package, ratings, units, salt)),
    }
    if len(marks) < 3:
        return row
    return row | {"judge_kappa": mean([estimate(agreement.cohen_kappa, marks[2], own) for own in ratings])}


def theme_shares(package, ratings, units, salt):
    """In how many of 100 stories the theme stands: the mean of what the two marked in any reason on a story."""
    group_by_story, found_by_story = {}, {}
    for (group, story), of_reason in zip(units, ratings.T, strict=True):
        if story:
            group_by_story.setdefault(story, group)
            found_by_story[story] = np.maximum(found_by_story.get(story, of_reason), of_reason)
    for n, source in enumerate(["", *package.sources]):
        stories = [story for story in sorted(found_by_story) if source in ("", package.source_of(story))]
        if stories:
            values = np.array([100 * found_by_story[story].mean() for story in stories])
            clusters = package.clusters((group_by_story[story], story) for story in stories)
            ends = mean_interval(values, clusters, package.rng(THEMES, *salt, 2 + n), (0, 100))
            fields = {"source": source, "n_stories": len(stories), "interval": ends}
            yield fields | {"share": {"value": values.mean(), "n": values.size, "n_left_out": 0}}
