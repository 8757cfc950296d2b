"""How far stories lie from the stories of a reference set, and how much of them stands in one word for word."""

import re
import unicodedata
from collections import Counter, defaultdict

import pandas as pd

from tests.independent.material import NO_TEXTS

NOVELTY = 91  # of the seed
NUMBERS_OF_NEIGHBOURS = (1, 10, 25)
LENGTH, NEAR = 5, 20  # words of a sequence; percent
UNSPACED = (  # first and last character of scripts without spaces between words: each character is a word
    *((0x0E00, 0x0E7F), (0x0E80, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x3040, 0x30FF), (0x3400, 0x4DBF)),
    *((0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF)),
)
TYPED_ALIKE = str.maketrans(  # apostrophes and hyphens however typed; signs that nobody sees
    {"’": "'", "\u02bc": "'", "\u2010": "-", "\u2011": "-"} | dict.fromkeys("\u00ad\u200c\u200d\u2060\ufeff", "")
)


def novelty(package, result, check):
    """The mean distance to the k nearest stories of a set, and its mean over stories, from the distances."""
    distances = package.table("neighbours")
    distances = distances.assign(place=pd.to_numeric(distances["place"]), distance=pd.to_numeric(distances["distance"]))
    for salt, stored in enumerate(result):
        place, own = f"novelty/{stored['name']}", distances[distances["reference_set"] == stored["name"]]
        check.leave([stored["n_references"], stored["n_gone"]], NO_TEXTS)
        if own.empty:
            check.leave(stored, NO_TEXTS)
            continue
        means = {}
        for story, rows in own.sort_values("place").groupby("story"):
            nearest = rows["distance"].to_numpy()
            means[story] = [nearest[:k].mean() if len(nearest) >= k else None for k in NUMBERS_OF_NEIGHBOURS]
        for row in stored["stories"]:
            computed = means.get(row["story"], [None] * len(NUMBERS_OF_NEIGHBOURS))
            check.list(f"{place}/{row['story']}", row["distances"], computed)
        means_of_sources(package, place, stored["means"], means, own["place"].max(), salt, check)


def means_of_sources(package, place, rows, means, n_others, salt, check):
    """Over the stories that stand in a group, by k over all of them and by source."""
    group_by_story = {story: group for group, story in reversed(package.units)}
    grouped = [story for story in means if story in group_by_story]
    for row in rows:
        at, label = NUMBERS_OF_NEIGHBOURS.index(row["k"]), f"{place}/{row['k']}/{row['source']}"
        check.number(f"{label}/k", row["k"], NUMBERS_OF_NEIGHBOURS[at])
        if n_others < row["k"]:
            check.numbers(label, row, n=0, value=None, sd=None)
            for why in (row["why"], row["interval"]["why"]):
                check.numbers(f"{label}/why", why["values"], k=row["k"], n=n_others)
            continue
        own = [story for story in grouped if row["source"] in ("", package.source_by_story.get(story))]
        clusters = package.clusters_of((group_by_story[story], story) for story in own)
        table = pd.DataFrame({"number": [means[story][at] for story in own], "cluster": clusters})
        check.numbers(label, row, n=len(table), value=table["number"].mean(), sd=table["number"].std())
        seed = (package.seed, NOVELTY, salt, at, ["", *package.sources].index(row["source"]))
        check.interval(label, row["interval"], "of_mean", table, seed)


def near_copies(package, result, check):
    """Of a story's sequences of five words the largest share that one reference has; then by source.

    Only where the set holds all stories of the study, and their texts are here; of any other set the shares of stories
    are taken from the report, and what follows from them is computed.
    """
    stories = package.stories.drop_duplicates("story").set_index("story")
    texts = stories.loc[stories["has_text"] == "True", "text"]
    slug = package.report["study"]["slug"]
    for stored in result:
        place, rows = f"near_copies/{stored['name']}", stored["stories"]
        check.leave(stored["n_gone"], NO_TEXTS)
        codes = [row["story"] for row in rows]
        if stored["corpus"] == slug and stored["n_references"] == len(texts) and set(codes) <= set(texts.index):
            check.number(f"{place}/n_references", stored["n_references"], len(texts))
            check.list(place, [row["percent"] for row in rows], largest_shares(texts, codes))
        else:
            check.leave([stored["n_references"], [row["percent"] for row in rows]], NO_TEXTS)
        for row in stored["by_source"]:
            own = [of["percent"] for of in rows if row["source"] in ("", of["source"]) and of["percent"] is not None]
            mean = sum(own) / len(own) if own else None
            n_near = sum(percent > NEAR for percent in own)
            check.numbers(f"{place}/{row['source']}", row, n=len(own), mean=mean, n_near=n_near)


def largest_shares(texts, codes):
    """In percent, of each story beside all others; None of one with fewer than five words."""
    sequences = {story: sequences_of(text) for story, text in texts.items()}
    stories_by_sequence = defaultdict(list)
    for story, of_story in sequences.items():
        for sequence in of_story:
            stories_by_sequence[sequence].append(story)
    shares = []
    for story in codes:
        counts = Counter(other for sequence in sequences[story] for other in stories_by_sequence[sequence])
        counts.pop(story, None)
        n = len(sequences[story])
        shares.append(100 * max(counts.values(), default=0) / n if n else None)
    return shares


def sequences_of(text):
    """The different sequences of five words: runs of letters and digits, with apostrophes and hyphens inside."""
    words = word_pattern().findall(unicodedata.normalize("NFC", text).lower().translate(TYPED_ALIKE))
    return {tuple(words[n : n + LENGTH]) for n in range(len(words) - LENGTH + 1)}


def word_pattern():
    unspaced = "".join(f"{chr(first)}-{chr(last)}" for first, last in UNSPACED)
    marks = "".join(chr(n) for n in range(0x300, 0x10000) if unicodedata.category(chr(n)).startswith("M"))
    spaced = rf"[^\W_{unspaced}][{marks}]*"
    return re.compile(rf"(?:{spaced})+(?:['\-](?:{spaced})+)*|(?=\w)[{unspaced}][{marks}]*")
