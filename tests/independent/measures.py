"""What metrics measured of the stories, and what raters answered twice about one text."""

import hashlib

import pandas as pd

from tests.independent import floors
from tests.independent.material import NO_LENGTHS, place_of

REPEATS = 55  # of the seed
NO_TEXT = hashlib.sha256(b"").hexdigest()


def measures(package, result, check):
    """Of each item of a metric mean, standard deviation and ends over the stories, each counted once."""
    rows = package.one_value[(package.one_value["rater_kind"] == "metric") & (package.one_value["story"] != "")]
    rows = rows.drop_duplicates(["rater", "story", "step", "item"])
    for stored in result:
        place = place_of("measures", stored, stored["metric"])
        asked = (rows["step"] == stored["step"]) & (rows["item"] == stored["item"])
        own = rows[asked & (rows["rater"] == stored["metric"])]
        answered = own[own["outcome"] == "answered"]
        check.number(f"{place}/n_without_value", stored["n_without_value"], len(own) - len(answered))
        for values in [stored["overall"], *stored["by_source"]]:
            of_all = not values.get("source")
            part = answered if of_all else answered[answered["story"].map(package.source_by_story) == values["source"]]
            numbers = part["number"]
            spread = {"mean": numbers.mean(), "sd": numbers.std(), "lowest": numbers.min(), "highest": numbers.max()}
            check.numbers(f"{place}/{values.get('source', '')}", values, n=len(numbers), **spread)


def repeats(package, result, check):
    """How often two answers of a rater about one text are the same, and how far apart they are on a scale."""
    if not package.has_lengths:  # nor hashes
        check.leave(result, NO_LENGTHS)
        return
    texts = dict(zip(package.stories["story"], package.stories["sha256"], strict=True))
    text_by_story = {story: text if text not in ("", NO_TEXT) else story for story, text in texts.items()}
    asked = [item for item in package.items if item["is_verdict"] or item in package.scales]
    for stored in result:
        item, place = package.item(stored), place_of("repeats", stored, stored["rater"])
        again = package.read_again
        again = again[(again["step"] == stored["step"]) & (again["item"] == stored["item"])]
        pairs = pairs_of(pd.concat([package.answers(stored["step"], stored["item"]), again]), text_by_story)
        number = 1 + sorted(pairs["rater"].unique()).index(stored["rater"]) if stored["rater"] else 0
        own = pairs[pairs["rater"] == stored["rater"]] if stored["rater"] else pairs
        change = (own["first"] - own["second"]).abs().mean() if not item["is_verdict"] else None
        counts = {"n": len(own), "n_raters": own["rater"].nunique(), "n_stories": own["cluster"].nunique()}
        check.numbers(place, stored, percent_same=own["number"].mean(), mean_change=change, **counts)
        check.interval(place, stored["interval"], "of_mean", own, package.draws, (0, 100))
        seed = (package.seed, REPEATS, asked.index(item), number, 1)
        check.floor(place, stored["floor"], floors.same_again(own["first"], own["second"], own["rater"], seed))


def pairs_of(answers, text_by_story):
    """The first two answers of a rater about one text: columns rater, cluster (the text), first, second, number."""
    answers = answers.sort_values(["rater", "group", "story"], kind="stable")
    answers = answers.assign(cluster=answers["story"].map(text_by_story))
    rows = []
    for (rater, text), numbers in answers.groupby(["rater", "cluster"], sort=False)["number"]:
        if len(numbers) > 1:
            first, second = numbers.iloc[:2]
            rows.append((rater, text, first, second, 100.0 * (first == second)))
    return pd.DataFrame(rows, columns=["rater", "cluster", "first", "second", "number"])
