"""QUIET's score of filled texts: totals, what they hang on, reference sets, forms, sections; with numpy and scipy."""

import numpy as np
import pandas as pd

from tests.independent import intervals
from tests.independent.filled_texts import (
    FORMS,
    HIGHEST,
    FilledTexts,
    distances,
    find_outliers,
    mean_present,
    ranks,
    read_texts,
    relative,
    section_scores,
)
from tests.independent.intervals import without_noise
from tests.independent.material import NO_TEXTS

SURPRISE = 141  # of the seed
N_BLANKS = 200  # of random directions


def check_interval_of_mean(package, place, stored, values, bounds, check):
    """The interval of the mean of values that stand alone, each being a cluster."""
    table = pd.DataFrame({"number": values, "cluster": [f"{n:06}" for n in range(len(values))]})
    check.interval(place, stored, "of_mean", table, package.draws, bounds)


def spearman(first, second):
    """Spearman's correlation over what both have; None where one does not vary."""
    is_both = np.isfinite(first) & np.isfinite(second)
    sides = pd.DataFrame({"a": without_noise(first[is_both]), "b": without_noise(second[is_both])}).rank()
    return sides["a"].corr(sides["b"]) if is_both.sum() > 1 and (sides.nunique() > 1).all() else None


# ── totals ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def cloze_scores(package, result, check):
    """The total of every participant, section by section, and what it is when something is left out."""
    texts = read_texts(package)
    n_sections = len(texts.section_numbers)
    counts = {"n_blanks": len(texts.blanks), "n_constraints": len(texts.constraints), "highest": 2 * n_sections}
    check.numbers("cloze_scores", result, **counts)
    satisfied, surprising = texts.satisfied_softly, texts.surprising
    scores = texts.of_participants(section_scores(satisfied, surprising))
    check.list("cloze_scores/means", result["means"], list(mean_present(scores, axis=0)))
    of_texts = section_scores(satisfied, surprising).sum(axis=1)
    parts = [texts.of_participants(v) for v in (satisfied, surprising, texts.by_section(texts.raw))]
    parts.append(scores)
    totals, capped = texts.totals(satisfied), texts.totals(texts.satisfied_capped)
    left_out = {
        "without_a_judge": totals_without_each_judge(texts),
        "without_a_section": totals_without_each_section(texts),
    }
    for row in result["participants"]:
        place, at = f"cloze_scores/{row['participant']}", texts.participants.index(row["participant"])
        own = of_texts[texts.of_participant == at]
        means = {
            name: part[at].mean() for name, part in zip(("satisfied", "surprising", "distance"), parts, strict=False)
        }
        check.numbers(place, row, n_texts=len(own), total=totals[at], rank=ranks(totals)[at], **means)
        check.numbers(place, row, capped=capped[at], capped_rank=ranks(capped)[at])
        if row["interval"]["low"] is not None:
            bounds = bounds_of_totals(texts, [at])
            check_interval_of_mean(package, place, row["interval"], own[np.isfinite(own)], bounds, check)
        for name, others in left_out.items():
            check_range(f"{place}/{name}", row[name], others, at, check)
        if row["without_family"]:
            names = [name not in row["without_family"]["judges"] for name in texts.judges]
            total = texts.totals(texts.satisfied(texts.ratings[names]))[at]
            among = np.where(np.arange(len(totals)) == at, total, totals)
            check.numbers(f"{place}/without_family", row["without_family"], total=total, rank=ranks(among)[at])
        for g, section in enumerate(row["sections"]):
            names = ("satisfied", "surprising", "distance", "score")
            check.numbers(
                f"{place}/{g}", section, **{name: part[at, g] for name, part in zip(names, parts, strict=True)}
            )
    for kind in result["kinds"]:
        check_kind(package, texts, kind, [row["participant"] for row in result["participants"]], totals, parts, check)


def totals_without_each_judge(texts):
    """Totals without each judge in turn, where there are several."""
    n = len(texts.judges)
    return [texts.totals(texts.satisfied(np.delete(texts.ratings, at, axis=0))) for at in range(n)] if n > 1 else []


def totals_without_each_section(texts):
    """Totals without each section in turn, where there are several."""
    n = len(texts.section_numbers)
    both = texts.satisfied_softly, texts.surprising
    return [texts.totals(*(np.delete(part, at, axis=1) for part in both)) for at in range(n)] if n > 1 else []


def check_range(place, stored, others, at, check):
    """The range of a total and of its rank over what was left out."""
    rows = [(totals[at], ranks(totals)[at]) for totals in others if np.isfinite(totals[at])]
    if stored and rows:
        totals, places = zip(*rows, strict=True)
        ends = {"low": min(totals), "high": max(totals), "best_rank": min(places), "worst_rank": max(places)}
        check.numbers(place, stored, n=len(rows), **ends)


def check_kind(package, texts, stored, names, totals, parts, check):
    """People or models: the mean of their totals, over participants from the first rank down."""
    places = [texts.participants.index(name) for name in names]
    is_model = [texts.is_by_model[texts.of_participant == at].any() for at in places]
    own = [at for at, of_model in zip(places, is_model, strict=True) if of_model == stored["is_model"]]
    present = totals[own][np.isfinite(totals[own])]
    satisfied, surprising = (mean_present(part[own].mean(axis=1), axis=0) for part in parts[:2])
    place = f"cloze_scores/{'models' if stored['is_model'] else 'people'}"
    total = present.mean() if present.size else None
    check.numbers(place, stored, n=present.size, total=total, satisfied=satisfied, surprising=surprising)
    check_interval_of_mean(package, place, stored["interval"], present, bounds_of_totals(texts, own), check)


def bounds_of_totals(texts, places):
    """From 0 to 2 a section where all texts of these participants are in the reference set, else without an end."""
    is_in = texts.is_in[np.isin(texts.of_participant, places)]
    return 0, 2 * len(texts.section_numbers) if is_in.all() else None


# ── what surprise rests on, and other forms of the score ───────────────────────────────────────────────────────────


def cloze_surprise(package, result, check):
    """The same with other reference sets, raw distances beside those divided, and what random directions would have."""
    texts = FilledTexts(package)
    check.list("cloze_surprise/blanks", result["blanks"], list(texts.blanks))
    divided = relative(texts.raw, texts.is_in)
    if texts.vectors is None:
        check.leave([text["raw"] for text in result["texts"]], NO_TEXTS)
        check.leave([result["noise"], result["variants"][1:]], NO_TEXTS)
    for text in result["texts"]:
        at = texts.stories.index(text["story"])
        check.list(f"cloze_surprise/{text['story']}/divided", text["divided"], list(divided[at]))
        if texts.vectors is not None:
            check.list(f"cloze_surprise/{text['story']}/raw", text["raw"], list(texts.raw[at]))
    both = [texts.of_participants(part).mean(axis=1) for part in (texts.satisfied_softly, texts.surprising)]
    check.number("cloze_surprise/rho", result["with_satisfied"], spearman(*both))
    check.number("cloze_surprise/n", result["n_with_satisfied"], np.isfinite(sum(both)).sum())
    if texts.vectors is not None and texts.is_in.sum() > 1:
        drawn = intervals.generator((package.seed, SURPRISE))
        drawn = drawn.standard_normal((texts.is_in.sum(), N_BLANKS, texts.vectors.shape[2]))
        is_in = np.ones(len(drawn), dtype=bool)
        check.number("cloze_surprise/noise", result["noise"], relative(distances(drawn, is_in), is_in).mean())
    outliers = find_outliers(texts.raw, texts.is_in)
    sets = texts.references | {"without_outliers": texts.is_in & ~outliers, "leave_one_out": texts.is_in}
    for n, stored in enumerate(result["variants"]):
        if n == 0:
            check_reference_set(texts, stored, texts.is_in, texts.raw, check)
        elif texts.vectors is not None:
            is_in, is_left_out = sets[stored["name"]], stored["name"] == "leave_one_out"
            check_reference_set(texts, stored, is_in, distances(texts.vectors, is_in, is_left_out), check)


def check_reference_set(texts, stored, is_in, raw, check):
    """One reference set."""
    place, surprising = f"cloze_surprise/{stored['name']}", texts.by_section(relative(raw, is_in))
    main, totals = texts.totals(texts.satisfied_softly), texts.totals(texts.satisfied_softly, surprising)
    n_moved = (ranks(totals) != ranks(main)).sum()
    check.numbers(place, stored, n=is_in.sum(), with_main=spearman(totals, main), n_moved=n_moved)
    means = [texts.of_participants(values).mean(axis=1) for values in (texts.by_section(raw), surprising)]
    for row in stored["participants"]:
        at = texts.participants.index(row["participant"])
        of_row = {"raw": means[0][at], "divided": means[1][at], "total": totals[at], "rank": ranks(totals)[at]}
        check.numbers(f"{place}/{row['participant']}", row, **of_row)


def cloze_variants(package, result, check):
    """Totals under other forms of the score, and how these go together."""
    texts, columns = read_texts(package), []
    check.number("cloze_variants/n", result["n_participants"], np.isfinite(texts.totals(texts.satisfied_softly)).sum())
    satisfied = {"mean": texts.satisfied_softly, "capped": texts.satisfied_capped}
    if len(texts.judges):
        satisfied["minimum"] = texts.satisfied(texts.ratings, bucket=True)
    for stored in result["variants"]:
        if stored["form"] not in FORMS:
            raise ValueError(f"no such form of the score: {stored['form']}")
        columns.append(texts.totals(satisfied[stored["aggregation"]], form=stored["form"]))
        for row in stored["totals"]:
            at = texts.participants.index(row["participant"])
            place = f"cloze_variants/{stored['form']} {stored['aggregation']}/{row['participant']}"
            check.numbers(place, row, total=columns[-1][at], rank=ranks(columns[-1])[at])
    for n, row in enumerate(result["correlations"]):
        check.list(f"cloze_variants/{n}", row, [spearman(columns[n], other) for other in columns])


# ── sections, constraints and edges ────────────────────────────────────────────────────────────────────────────────


def cloze_constraints(package, result, check):
    """How hard each section is, over participants; and which constraints fail, over texts."""
    texts = read_texts(package)
    check.number("cloze_constraints/n_judges", result["n_judges"], len(texts.judges))
    satisfied = texts.of_participants(texts.satisfied_softly)
    surprising = mean_present(texts.of_participants(texts.surprising), axis=0)
    for g, row in enumerate(result["sections"]):
        place, own = f"cloze_constraints/section {g + 1}", satisfied[np.isfinite(satisfied[:, g]), g]
        mean = own.mean() if own.size else None
        check.numbers(place, row, number=g + 1, n=own.size, satisfied=mean, surprising=surprising[g])
        check_interval_of_mean(package, place, row["interval"], own, (0, 1), check)
    for k, row in enumerate(result["constraints"]):
        ratings, is_broken = texts.ratings[:, :, k], texts.is_broken[:, :, k]
        n_judges = np.isfinite(ratings).sum(axis=0)
        n_failed = (2 * (ratings <= 1).sum(axis=0) > n_judges).sum()
        n_denied = (2 * is_broken.sum(axis=0) > n_judges).sum()
        mean = mean_present(ratings, axis=None) / HIGHEST
        counts = {"n": (n_judges > 0).sum(), "n_failed": n_failed, "n_denied": n_denied}
        check.numbers(f"cloze_constraints/{row['item']}", row, satisfied=mean, **counts)


def cloze_edges(package, result, check):
    """How far sections agree with those that they hang on."""
    texts = FilledTexts(package)
    ratings = texts.ratings_of(texts.edges, texts.judges)
    by_text = mean_present(ratings, axis=0) / HIGHEST
    for at, row in enumerate(result["edges"]):
        n = np.isfinite(by_text[:, at]).sum()
        check.numbers(f"cloze_edges/{row['item']}", row, n=n, consistency=mean_present(by_text[:, at], axis=0))
    consistency = texts.of_participants(by_text.mean(axis=1))
    n_edges = (texts.of_participants(np.isfinite(by_text) * 1.0) > 0).sum(axis=1)
    for row in result["participants"]:
        at = texts.participants.index(row["participant"])
        check.numbers(f"cloze_edges/{row['participant']}", row, n_edges=n_edges[at], consistency=consistency[at])
