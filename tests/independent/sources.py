"""The figures of the sources: dimensions, places in rankings, distributions, story by story, trends, human or model."""

import json

import pandas as pd

from tests.independent import intervals
from tests.independent.composites import bounds_of_score, find_score, rater_scores
from tests.independent.contrasts import bounds_of, kind_of, story_means
from tests.independent.material import by_source, place_of

STORIES, TRENDS, LIKENESS = 64, 65, 66  # of the seed


def dimensions(package, result, check):
    """By dimension the mean of its items' shares of Yes."""
    verdicts = [item for item in package.items if item["is_verdict"] and item["is_about_a_story"]]
    for row in result["dimensions"]:
        items = [item for item in verdicts if item["dimension"] == row["name"]]
        check.number(f"dimensions/{row['name']}/n_items", row["n_items"], len(items))
        answers = package.answers_to_all(items)
        for stored in [row["overall"], *row["by_source"]]:
            of_source, place = (
                by_source(answers, stored.get("source", "")),
                f"dimensions/{row['name']}/{stored.get('source', '')}",
            )
            value = 100 * of_source.groupby("key")["number"].mean().mean() if len(of_source) else None
            check.numbers(place, stored, value=value, n=len(of_source), n_stories=of_source["story"].nunique())
            check.interval(place, stored["interval"], "of_rate", of_source, package.draws)


def places(package, result, check):
    """How often each source stands at each place; a shared place is divided among those that share it."""
    for row in result:
        answers = package.answers(row["step"], row["item"])
        orders, place = [json.loads(value) for value in answers["value"]], place_of("places", row)
        n_places = max(sum(map(len, order)) for order in orders)
        check.numbers(place, row, n_rankings=len(orders), n_places=n_places)
        rows = []
        for order, _group, cluster in zip(orders, answers["group"], answers["cluster"], strict=True):
            before = 0
            for shared in order:
                for story in shared:
                    parts = {n + 1: 1 / len(shared) for n in range(before, before + len(shared))}
                    rows.append({"source": package.source_by_story.get(story), "cluster": cluster, **parts})
                before += len(shared)
        placed = pd.DataFrame(rows).fillna(dict.fromkeys(range(1, n_places + 1), 0.0))
        for stored in row["by_source"]:
            of_source, label = by_source(placed, stored.get("source", "")), f"{place}/{stored.get('source', '')}"
            check.numbers(label, stored, n=len(of_source), n_clusters=of_source["cluster"].nunique())
            for n, share in enumerate(stored["shares"], start=1):
                check.numbers(f"{label}/{n}", share, place=n, value=100 * of_source[n].mean())
                check.interval(
                    f"{label}/{n}", share["interval"], "of_rate", of_source.assign(number=of_source[n]), package.draws
                )


def distributions(package, result, check):
    """The share of ratings at or below each point."""
    for row in result:
        item, place = package.item(row), place_of("distributions", row)
        low, high = item["settings"]["low"], item["settings"]["high"]
        check.numbers(place, row, lowest=low, highest=high)
        answers = package.answers(row["step"], row["item"])
        for stored in [row["overall"], *row["by_source"]]:
            of_source, label = by_source(answers, stored.get("source", "")), f"{place}/{stored.get('source', '')}"
            check.numbers(label, stored, n=len(of_source), n_stories=of_source["story"].nunique())
            for point, share in zip(range(low, high + 1), stored["points"], strict=False):
                is_below = of_source.assign(number=(of_source["number"] <= point) * 1.0)
                n_at = (of_source["number"] == point).sum()
                check.numbers(f"{label}/{point}", share, point=point, n=n_at, value=100 * is_below["number"].mean())
                check.interval(f"{label}/{point}", share["interval"], "of_rate", is_below, package.draws)


def has_few_points(item):
    """Whether the item is on a scale of whole numbers, at most eleven."""
    low, high = item["settings"].get("low"), item["settings"].get("high")
    return isinstance(low, int) and isinstance(high, int) and 1 <= high - low < 11


def story_ratings(package, result, check):
    """Of each story the mean and the standard deviation of its ratings; the mean of these."""
    declared = [score for score in package.scores if score["is_declared"]]
    for row in result:
        place, score = place_of("story_ratings", row), find_score(package, f"{row['step']}/{row['item']}")
        if score:
            (low, high), answers = bounds_of_score(package, score), rater_scores(package, score).sort_values("rater")
            number = len(package.scales) + declared.index(score)
        else:
            low, high = (package.item(row)["settings"].get(end) for end in ("low", "high"))
            answers = package.answers(row["step"], row["item"]).sort_values("rater")
            number = package.scales.index(package.item(row))
        check.numbers(place, row, lowest=low, highest=high)
        by_story = dict(iter(answers.groupby(["group", "story"])["number"]))
        for stored in row["stories"]:
            numbers, label = by_story[stored["group"], stored["story"]], f"{place}/{stored['story']}"
            check.numbers(label, stored, mean=numbers.mean(), sd=numbers.std() if len(numbers) > 1 else None)
            check.list(label, stored["ratings"], list(numbers))
        sds = answers.groupby(["group", "story"])["number"].std().dropna().rename("number").reset_index()
        sds["cluster"] = package.clusters(sds)
        check.numbers(place, row["spread"], value=sds["number"].mean(), n_stories=len(sds))
        seed = (package.seed, STORIES, number)
        check.interval(f"{place}/spread", row["spread"]["interval"], "of_mean", sds, seed, (0, None))


def trends(package, result, check):
    """Spearman's rho of story means with a number of the stories; its floor from shuffles of that number."""
    for salt, row in enumerate(result):
        kind = kind_of(package, row["key"])
        table = story_means(package, row["key"], kind)
        table["factor"] = table["story"].map(package.factor(row["factor"])).map(as_number, na_action="ignore")
        table, place = table.dropna(subset=["factor", "number"]), f"trends/{row['factor']}/{row['key']}"
        check.number(f"{place}/n_stories", row["n_stories"], table["story"].nunique())
        varies = table["factor"].nunique() > 1 and table["number"].nunique() > 1
        rho = table["factor"].rank().corr(table["number"].rank()) if varies else None
        check.numbers(place, row, value=rho, n_units=len(table) if varies else None)
        if varies and intervals:
            ends, mean, upper = intervals.of_trend(table, (package.seed, TRENDS, salt))
            check.ends(place, row["interval"], ends, table["cluster"].nunique())
            check.numbers(f"{place}/floor", row["floor"], mean=mean, upper=upper)
        for n, stored in enumerate(row["means"]):
            part = table[table["factor"] == stored["number"]]
            label, bounds = f"{place}/{stored['number']}", bounds_of(package, row, kind)
            number = sorted(set(table["factor"]))[n]
            check.numbers(label, stored, number=number, value=part["number"].mean(), n_stories=part["story"].nunique())
            check.interval(label, stored["interval"], "of_outcome", part, package.draws, bounds, row["is_percent"])


def as_number(text):
    """7, 0.5 or 13B as a number."""
    unit = {"k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12}.get(text[-1:].casefold())
    return float(text[:-1]) * unit if unit else float(text)


def human_likeness(package, result, check):
    """A score beyond the middle of the scale as a guess: right; near, 1 - |score - ideal| / width; both kinds alike."""
    for salt, row in enumerate(result):
        item, place = package.item(row), place_of("human_likeness", row)
        low, high = item["settings"]["low"], item["settings"]["high"]
        answers = package.answers(row["step"], row["item"]).dropna(subset=["source"])
        is_human = answers["source"].map(package.kind_by_source) != "language_model"
        score, middle = answers["number"], (low + high) / 2
        answers = answers.assign(
            is_human=is_human,
            right=((score > middle) & is_human | (score < middle) & ~is_human) * 1.0,
            near=1 - (score - is_human.map({True: high, False: low})).abs() / (high - low),
        )
        n_undecided = (score == middle).sum()
        check.numbers(place, row, lowest=low, highest=high, n=len(answers), n_undecided=n_undecided)
        people = 100 * is_human.mean()
        recalls = answers.groupby("is_human")["right"].mean()
        balanced = 100 * recalls.mean() if len(recalls) == 2 else None
        values = {"right": (100 * answers["right"].mean(), 0), "near": (100 * answers["near"].mean(), 50)}
        for n, stored in enumerate(row["accuracies"]):
            value, at_middle = values.get(stored["measure"], (balanced, 0))
            always = (50, 50) if stored["measure"] == "balanced" else (100 - people, people)
            label, seed = f"{place}/{stored['measure']}", (package.seed, LIKENESS, salt, n)
            check.numbers(label, stored, value=value, always_model=always[0], always_person=always[1])
            check.number(f"{label}/middle", stored["always_middle"], at_middle)
            if stored["measure"] == "balanced":
                check.interval(label, stored["interval"], "of_recalls", answers, package.unit_clusters, seed)
            elif stored["measure"] == "near":
                near = answers.assign(number=100 * answers["near"])
                check.interval(label, stored["interval"], "of_mean", near, seed, (0, 100))
            else:
                check.interval(label, stored["interval"], "of_rate", answers.assign(number=answers["right"]), seed)
        for stored in row["by_source"]:
            part, label = by_source(answers, stored.get("source", "")), f"{place}/{stored.get('source', '')}"
            right, near = 100 * part["right"].mean(), 100 * part["near"].mean()
            check.numbers(label, stored, n=len(part), n_stories=part["story"].nunique(), right=right, near=near)
            n_by_point = [(part["number"] == point).sum() for point in range(low, high + 1)]
            check.list(label, stored["n_by_point"], n_by_point)
            seed = (package.seed, LIKENESS, salt, 10 + package.sources.index(stored.get("source", "")))
            check.interval(label, stored["interval"], "of_rate", part.assign(number=part["right"]), seed)
