"""People and judge together: means of people's ratings, sharpened by a judge who also rated stories that nobody read.

Source: Angelopoulos et al., 2023, "Prediction-powered inference", and "PPI++", for the weight.
"""

import pandas as pd
from scipy import stats as scipy_stats

from tests.independent import intervals
from tests.independent.judges import UNIT
from tests.independent.words import readings

ENOUGH_ALONE = 30  # clusters from which a source's own covariances and the normal quantile do


def people_and_judge(package, result, check):
    """By source, where its stories were drawn; why there is no estimate elsewhere is not checked."""
    for row in result:
        items = [i for i in package.scales if i["item"] == row["item"]] if row["item"] else package.verdicts
        ends, scale = (middle_of(items), 1) if row["item"] else ((0, 100), 100)
        place = f"people_and_judge/{row['judge']}/{row['item']}"
        constant = None if None in ends else sum(ends) / 2
        check.number(place, row["constant"], constant)
        stored = [part for part in row["by_source"] if part.get("people")]
        stories = story_numbers(package, row["judge"], items, constant, scale)
        stories = stories.loc[[package.is_asked(row["judge"], group) for group in stories["group"]]]
        samples = [sample_of(stories[stories["source"] == part["source"]]) for part in stored]
        pooled = pool(samples) if samples else None
        width = None if constant is None else 0.05 * (ends[1] - ends[0])
        check.number(f"{place}/half", row["half_width"], width)
        for part, sample in zip(stored, samples, strict=True):
            check_source(f"{place}/{part['source']}", part, sample, pooled, ends, check)
            if part.get("n_needed") is not None:
                of_source = stories[(stories["source"] == part["source"])]
                check_needed(package, f"{place}/{part['source']}", part, sample, pooled, width, of_source, items, check)


def middle_of(items):
    """Both ends of the scale."""
    return (items[0]["settings"].get("low"), items[0]["settings"].get("high")) if items else (None, None)


def story_numbers(package, judge, items, constant, scale):
    """Of each unit the mean of people's answers and of the judge's, with the constant for what is missing."""
    table = pd.DataFrame(package.units, columns=UNIT)
    table["people"] = pd.Series(table.merge(mean_of_people(package, items), on=UNIT, how="left")["number"]) * scale
    columns = []
    for item in items:
        answers = package.judge_answers(judge, item)[[*UNIT, "number"]]
        columns.append(table[UNIT].merge(answers, on=UNIT, how="left")["number"] * scale)
    answers = pd.concat(columns, axis=1)
    table["n_missing"] = answers.isna().sum(axis=1)
    table["judge"] = (answers if constant is None else answers.fillna(constant)).mean(axis=1, skipna=False)
    table["source"] = table["story"].map(package.source_by_story)
    table["cluster"] = package.clusters(table)
    return table


def mean_of_people(package, items):
    return package.answers_to_all(items).groupby(UNIT)["number"].mean().reset_index()


def sample_of(stories):
    """Cluster means of people and of the judge where both rated, and of the judge alone."""
    rated, alone = stories[stories["people"].notna()], stories[stories["people"].isna()]
    means = rated.groupby("cluster")[["people", "judge"]].mean()
    return means["people"], means["judge"], alone.groupby("cluster")["judge"].mean(), stories["n_missing"].sum()


def pool(samples):
    """The covariance of people and judge, and the variance of the judge, within sources."""
    above = sum(((p - p.mean()) * (j - j.mean())).sum() for p, j, _alone, _n in samples)
    judged = [pd.concat([j, alone]) for _p, j, alone, _n in samples]
    squares = sum(((every - every.mean()) ** 2).sum() for every in judged)
    n_rated, n_judged = sum(len(p) - 1 for p, *_rest in samples), sum(len(every) - 1 for every in judged)
    return above / n_rated, squares / n_judged


def check_source(place, stored, sample, pooled, bounds, check):
    people, judge, alone, n_missing = sample
    n, ddof = len(people), int(len(people) < ENOUGH_ALONE)
    covariance, variance = pooled
    if not ddof:
        covariance = ((people - people.mean()) * (judge - judge.mean())).mean()
        variance = pd.concat([judge, alone]).var()
    weight = min(max(covariance / ((1 + n / len(alone)) * variance), 0), 1) if variance > 0 else 0.0
    value = people.mean() + weight * (alone.mean() - judge.mean())
    together = ((people - weight * judge).var(ddof=ddof) / n + weight**2 * alone.var(ddof=ddof) / len(alone)) ** 0.5
    of_people = (people.var(ddof=ddof) / n) ** 0.5
    gained = 100 * (1 - together / of_people) if of_people else 0.0
    check.numbers(place, stored, weight=weight, n=n, n_judged=len(alone), width_gained=gained)
    check.number(f"{place}/filled in", stored.get("n_filled_in", 0), n_missing)
    for name, mean, error in (("people", people.mean(), of_people), ("together", value, together)):
        check.number(f"{place}/{name}", stored[name]["value"], mean)
        ends = intervals.clip(intervals.after_student_or_normal(mean, error, n, ENOUGH_ALONE), bounds)
        check.ends(f"{place}/{name}", stored[name]["interval"], ends, n)


def check_needed(package, place, stored, sample, pooled, width, stories, items, check):
    """The fewest stories whose interval is no wider, with the variances as they are and at the ends of their interval;
    and hours, as many readings of each as now."""
    people, judge, alone, _n_missing = sample
    every, n_all = pd.concat([judge, alone]), len(judge) + len(alone)
    covariance, variance, df = *pooled, len(people) - 1
    if len(people) >= ENOUGH_ALONE:
        covariance, variance = ((people - people.mean()) * (judge - judge.mean())).mean(), every.var()

    def of_people(n):
        return people.var() / n

    def together(n):
        rest = n_all - n
        weight = min(max(covariance / ((1 + n / rest) * variance), 0), 1) if variance > 0 else 0
        of_both = people.var() - 2 * weight * people.cov(judge) + weight**2 * every.var()
        return of_both / n + weight**2 * every.var() / rest

    def fewest(of, last, times):
        return next((n for n in range(2, last) if half(times * of(n), n) <= width), None)

    low, high = df / scipy_stats.chi2.isf([0.025, 0.975], df)
    for end, times in (("_low", low), ("_high", high), ("", 1)):
        n_alone = fewest(of_people, 10**7, times)
        n_with = fewest(together, min(n_alone, n_all - 1), times) or n_alone
        check.numbers(place, stored, **{f"n_needed_alone{end}": n_alone, f"n_needed{end}": n_with})
    if (package.folder / "timings.csv").exists() and stored.get("hours") is not None:
        minutes = readings(package)["minutes"]
        answers = package.answers_to_all(items).dropna(subset="number").merge(stories[UNIT], on=UNIT)
        n_readings = len(answers[["rater", *UNIT]].drop_duplicates())
        hours = n_readings / len(people) * minutes[minutes > 0].median() / 60
        check.numbers(place, stored, hours_alone=hours * n_alone, hours=hours * n_with)


def half(variance, n):
    """Half the width of a mean's interval from n stories."""
    quantile = scipy_stats.norm.ppf(0.975) if n >= ENOUGH_ALONE else scipy_stats.t.ppf(0.975, n - 1)
    return quantile * variance**0.5
