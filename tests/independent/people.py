"""Rates, ratings, shares, tests passed, and what raters were asked once."""

import json

import pandas as pd

from tests.independent import floors
from tests.independent.material import NOT_TAKEN, by_source, place_of


def pass_rates(package, result, check):
    """Yes in 100 verdicts by item and source, and the mean of the items, each weighing the same."""
    keys = [(row["step"], row["item"]) for row in result["items"]]
    verdicts = pd.concat([package.answers(*key).assign(key=n) for n, key in enumerate(keys)])
    rows = [*enumerate(result["items"]), (None, result["mean"])]
    check.number("pass_rates/n_verdicts", result.get("n_verdicts"), len(verdicts))
    for place_of_source, source in enumerate(["", *package.sources], start=-1):
        of_source = by_source(verdicts, source)
        for n, row in rows:
            stored = row["overall"] if source == "" else row["by_source"][place_of_source]
            answers = of_source if n is None else of_source[of_source["key"] == n]
            place = f"pass_rates/mean/{source}" if n is None else place_of("pass_rates", row, source)
            value = 100 * answers.groupby("key")["number"].mean().mean() if len(answers) else None
            n_yes, n_stories = answers["number"].sum(), answers["story"].nunique()
            check.numbers(place, stored, value=value, n_yes=n_yes, n=len(answers), n_stories=n_stories)
            check.interval(
                place,
                stored["interval"],
                "of_rate",
                answers,
                package.draws,
            )


def ratings(package, result, check):
    """Mean and standard deviation, with n - 1, by item and source, in points of the scale."""
    for row in result:
        answers = package.answers(row["step"], row["item"])
        settings, place = package.item(row)["settings"], place_of("ratings", row)
        check.numbers(place, row, lowest=settings.get("low"), highest=settings.get("high"))
        for stored in [row["overall"], *row["by_source"]]:
            source = stored.get("source", "")
            of_source = by_source(answers, source)
            numbers, place = of_source["number"], place_of("ratings", row, source)
            check.numbers(place, stored, value=numbers.mean(), sd=numbers.std(), n=len(numbers))
            bounds = (row["lowest"], row["highest"])
            check.interval(
                place,
                stored.get("interval"),
                "of_mean",
                of_source,
                package.draws,
                bounds,
            )


def shares(package, result, check):
    """How often each option was taken, over all and by source."""
    for row in result:
        answers = package.answers(row["step"], row["item"])
        check.number(place_of("shares", row, "n"), row["n"], len(answers))
        for option in row["options"]:
            taken = answers[answers["value"] == str(option["value"])]
            check.number(place_of("shares", row, option["value"]), option["n"], len(taken))
            for share in option["by_source"]:
                place = place_of("shares", row, option["value"], share["source"])
                n, of = len(by_source(taken, share["source"])), len(by_source(answers, share["source"]))
                check.numbers(place, share, n=n, of=of)


def tests_passed(package, result, check):
    """How many of all tests a story passes, the mean over raters who answered all of them."""
    keys = [(item["step"], item["item"]) for item in package.items if item["is_verdict"] and item["is_about_a_story"]]
    verdicts = pd.concat([package.answers(*key) for key in keys])
    check.number("tests_passed/n_items", result["n_items"], len(keys))
    of_reading = verdicts.groupby(["group", "story", "rater"])["number"].agg(["sum", "count"])
    complete = of_reading[of_reading["count"] == len(keys)]["sum"]
    of_story = complete.groupby(["group", "story"]).agg(["mean", "count"])
    for row in result["stories"]:
        key = (row["group"], row["story"])
        value, n_raters = of_story.loc[key] if key in of_story.index else (None, 0)
        check.numbers(f"tests_passed/{row['story']}", row, value=value, n_raters=n_raters)
    means = of_story["mean"].reset_index().rename(columns={"mean": "number"})
    means["source"] = means["story"].map(package.source_by_story)
    means["cluster"] = package.clusters(means)
    for row in result["by_source"]:
        of_source = by_source(means, row["source"])
        values, place = of_source["number"], f"tests_passed/{row['source']}"
        check.numbers(place, row, value=values.mean(), n_stories=len(values), least=values.min(), most=values.max())
        check.interval(
            place,
            row.get("interval"),
            "of_passed",
            of_source,
            package.draws,
            len(keys),
        )

    total_agreement(package, result["totals"], complete, check)


def total_agreement(package, stored, totals, check):
    """How far two raters of a story agree on its total: Pearson's r over all ordered pairs of raters of each story."""
    wide = totals.unstack("rater").reindex(pd.MultiIndex.from_tuples(package.units))
    pairs = [
        (row[first], row[second])
        for _unit, row in wide.iterrows()
        for first in wide.columns
        for second in wide.columns
        if first != second and pd.notna(row[first]) and pd.notna(row[second])
    ]
    table = pd.DataFrame(pairs, columns=["one", "other"], dtype=float)
    value = table["one"].corr(table["other"]) if len(table) and table["one"].nunique() > 1 else None
    check.number("tests_passed/totals", stored["coefficient"]["value"], value)
    if value is None:
        return
    ratings = wide.to_numpy(dtype=float).T
    is_counted = wide.notna().sum(axis=1).to_numpy() >= 2
    clusters = [cluster for cluster, is_in in zip(package.unit_clusters, is_counted, strict=True) if is_in]
    counted = ratings[:, is_counted]
    check.interval("tests_passed/totals", stored["interval"], "of_totals", counted, clusters, package.draws)
    check.floor("tests_passed/totals", stored["floor"], floors.of_totals(ratings, package.shuffles))


def amendments(package, result, check):
    answered = package.people[package.people["outcome"] == "answered"]
    n_by_version = answered["protocol_version"].value_counts()
    for n, row in enumerate(result):
        check.number(f"amendments/{n}/version", row["version"], row["version"])
        if row["version"] is not None:
            n_answers = n_by_version.get(str(row["version"]), 0)
            check.number(f"amendments/{n}/n_answers", row["n_answers"], n_answers)


def checks(package, result, check):
    """How many answers to a question that checks attention are right, in percent."""
    for row in result:
        answers, correct = package.answers(row["step"], row["item"]), package.item(row)["settings"]["correct"]
        n, n_right = len(answers), (answers["value"] == str(correct)).sum()
        check.numbers(place_of("checks", row), row, n=n, n_right=n_right, value=100 * n_right / n if n else None)
        if n:
            check.interval(place_of("checks", row), row["interval"], "wilson", n_right / n, n)
        attempts = package.attempts_at(row["step"])
        check.number(place_of("checks", row, "attempts"), row["attempts"], attempts)
        if (package.folder / "check_attempts.csv").exists():
            failed = package.table("check_attempts")
            failed = failed[(failed["step"] == row["step"]) & failed["outcome"].isin(["ended", "flagged"])]
            check.number(place_of("checks", row, "failed"), row["n_failed"], len(failed))
        else:
            check.leave(row["n_failed"], NOT_TAKEN)


def surveys(package, result, check):
    """What raters were asked once: how many took each option, or mean and standard deviation."""
    for row in result:
        answers = package.answers(row["step"], row["item"])
        check.number(place_of("surveys", row, "n"), row["n"], len(answers))
        if row["mean"] is not None:
            numbers = answers["number"]
            check.numbers(place_of("surveys", row), row, mean=numbers.mean(), sd=numbers.std())
        chosen = answers["value"].map(lambda text: json.loads(text) if text.startswith("[") else [text])
        for option in row["options"]:
            n = sum(values.count(option["value"]) for values in chosen)
            check.number(place_of("surveys", row, option["value"]), option["n"], n)
