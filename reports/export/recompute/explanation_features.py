"""What explanations are like, by who gave them, by source and by verdict."""

import re

import numpy as np
import pandas as pd
from recompute.values import mean_interval, share

FEATURES = 152  # of the seed
FIRST_PERSON, PLOT = {"i", "me", "my", "mine", "myself"}, {"plot", "plots"}
OF_ENGLISH, SHARES = {"first_person", "plot"}, {"first_person", "plot", "quotes"}
NAMES = ("words", "sentences", "first_person", "plot", "quotes", "other_items")


def explanation_features(package):
    """Of people and of each judge the mean of every feature: of all explanations, by source and by verdict."""
    answers = list_answers(package)
    if not len(answers):
        return None
    is_english = package.document.get("language", "en").split("-")[0] == "en"
    names = [name for name in NAMES if is_english or name not in OF_ENGLISH]
    parts = []
    for place, rater in enumerate(sorted(set(answers["rater"]))):
        own = answers[answers["rater"] == rater]
        by_part = [("all", "", own)]
        by_part += [("source", name, own[own["source"] == name]) for name in package.sources]
        by_part += [("verdict", value, own[own["verdict"] == value]) for value in ("yes", "no")]
        for n, (part, of, rows) in enumerate(by_part):
            if len(rows):
                means = [mean_of(package, rows, name, (place, n, at)) for at, name in enumerate(names)]
                parts.append({"rater": rater, "part": part, "of": of, "n": len(rows), "features": means})
    return {"names": names, "parts": parts}


def list_answers(package):
    """Every explained answer about a story or a group with its features."""
    models = package.all_readings[package.all_readings["rater_kind"] == "model"]
    answers = pd.concat([package.people.assign(rater=""), models])
    item_by_key = {item.key: item for item in package.items}
    keys = pd.Series(zip(answers["step"], answers["item"], strict=True), answers.index, dtype=object)
    is_explained = answers["rationale"].str.strip() != ""
    answers = answers[
        (answers["outcome"] == "answered") & (answers["group"] != "") & is_explained & keys.isin(item_by_key)
    ]
    items = [item_by_key[key] for key in zip(answers["step"], answers["item"], strict=True)]
    titles = {item.row["title"].casefold() for item in package.items} - {""}
    n_passages = answers["n_passages"].astype(int)
    features = [
        measure(text, titles - {item.row["title"].casefold()}, n)
        for text, item, n in zip(answers["rationale"], items, n_passages, strict=True)
    ]
    verdicts = [value if item.is_verdict else "" for value, item in zip(answers["value"], items, strict=True)]
    sources = [package.source_of(story) for story in answers["story"]]
    table = pd.DataFrame(features, index=answers.index, columns=list(NAMES))
    return pd.concat([answers[["rater", "group", "story"]].assign(verdict=verdicts, source=sources), table], axis=1)


def measure(text, titles, n_passages):
    words, lower = set(re.findall(r"[^\W\d_]+", text.casefold())), text.casefold()
    return (
        float(len(text.split())),
        float(max(1, len(re.findall(r"[.!?…](?=[\s\"”’»)\]]|$)", text)))),
        float(bool(words & FIRST_PERSON)),
        float(bool(words & PLOT)),
        float(n_passages > 0 or bool(re.search(r"[\"“„«][^\"“”„«»]+[\"”“»]", text))),
        float(sum(bool(re.search(rf"\b{re.escape(title)}\b", lower)) for title in titles)),
    )


def mean_of(package, rows, name, salt):
    clusters = package.clusters(zip(rows["group"], rows["story"], strict=True))
    values, rng = rows[name].to_numpy(dtype=float), package.rng(FEATURES, *salt)
    if name in SHARES:
        return {"feature": name} | share(values, clusters, rng)
    return {"feature": name, "value": values.mean(), "interval": mean_interval(values, clusters, rng, (0, np.inf))}
