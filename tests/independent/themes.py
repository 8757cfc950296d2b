"""Themes that two people found in reasons, each blind: how far they agree, and in how many stories a theme stands."""

import json

import pandas as pd

from tests.independent import floors
from tests.independent.agreement import alpha, check_how_many
from tests.independent.judge_scores import kappa

THEMES = 90  # of the seed


def themes(package, result, check):
    path = package.folder / "codings.csv"
    if not path.exists():
        return
    rows = package.table("codings")
    names = list(package.table("theme_codebook")["theme"])
    for number, sample in enumerate(result, start=1):
        own = rows[rows["sample"] == str(number)].copy()
        own["found"], own["number"] = own["themes"].map(json.loads), pd.to_numeric(own["number"])
        of_reasons = own.drop_duplicates("number").set_index("number").sort_index()
        stories = of_reasons["story"][of_reasons["story"] != ""]
        check.numbers(f"themes/{number}", sample, n_reasons=len(of_reasons), n_stories=stories.nunique())
        for row in sample["rows"]:
            one_theme(package, f"themes/{number}", row, own, of_reasons, (number - 1, names.index(row["theme"])), check)


def one_theme(package, place, row, codings, of_reasons, salt, check):
    marks = codings.assign(is_found=[row["theme"] in names for names in codings["found"]])
    marks = marks.pivot(index="number", columns="coder", values="is_found").astype(float)
    first, second, place = marks["1"], marks["2"], f"{place}/{row['theme']}"
    check.numbers(place, row, n_first=first.sum(), n_second=second.sum())
    table = pd.DataFrame({value: (marks[["1", "2"]] == value).sum(axis=1) for value in (0.0, 1.0)})
    check.number(f"{place}/percent", row["percent"]["value"], 100 * (first == second).mean())
    check.number(f"{place}/alpha", row["alpha"]["value"], alpha(table, "nominal"))
    pair = pd.DataFrame({"judge": first, "people": second})
    check.number(f"{place}/kappa", row["kappa"]["value"], kappa(pair))
    for name in ("alpha", "kappa"):
        if row[name]["value"] is not None:
            check.numbers(f"{place}/{name}", row[name], n_units=len(marks), n_raters=2)
    if row["judge_kappa"]:
        pairs = [pd.DataFrame({"judge": marks["3"], "people": of_person}) for of_person in (first, second)]
        values = pd.Series([kappa(pair) for pair in pairs], dtype=float)
        check.number(f"{place}/judge", row["judge_kappa"]["value"], values.mean())
        check_how_many(f"{place}/judge", row["judge_kappa"], values, check)
    clusters = package.clusters(of_reasons)
    seed = (package.seed, THEMES, *salt)
    check.interval(place, row["interval"], "of_alpha", [table], "nominal", clusters, (*seed, 0))
    if row["floor"]["mean"] is not None:
        cube = marks[["1", "2"]].to_numpy().T[None]
        check.floor(place, row["floor"], floors.of_items(cube, (*seed, 1), floors.alphas_of_counts("nominal"))[0])
    shares(package, place, row, marks, of_reasons, seed, check)


def shares(package, place, row, marks, of_reasons, seed, check):
    """In how many of 100 stories the theme stands: the mean of what the two marks in any reason on a story."""
    is_about_story = of_reasons["story"] != ""
    of_story = 100 * marks[is_about_story].groupby(of_reasons["story"][is_about_story])[["1", "2"]].max().mean(axis=1)
    group = of_reasons[is_about_story].groupby("story")["group"].first()
    clusters = package.clusters(group.reset_index().set_index("story", drop=False))
    table = pd.DataFrame({"number": of_story, "cluster": clusters})
    table["source"] = table.index.map(lambda story: package.source_by_story.get(story, ""))
    names = ["", *package.sources]
    for stored in row["shares"]:
        part = table if stored["source"] == "" else table[table["source"] == stored["source"]]
        label = f"{place}/{stored['source']}"
        check.number(f"{label}/n", stored["n_stories"], len(part))
        check.number(label, stored["share"]["value"], part["number"].mean())
        check_how_many(label, stored["share"], part["number"], check)
        at = names.index(stored["source"])
        check.interval(label, stored["interval"], "of_mean", part, (*seed, 2 + at), (0, 100))
