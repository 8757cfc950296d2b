"""What explanations are like, counted letter by letter."""

import pandas as pd

from tests.independent.material import is_among

FEATURES = 152  # of the seed
SHARES = ("first_person", "plot", "quotes")
FIRST_PERSON = ("i", "me", "my", "mine", "myself")
MARKS, AFTER_A_MARK = ".!?…", '"”’»)]'
OPENING, CLOSING, NEITHER = '"“„«', '"”“»', '"“”„«»'


def explanation_features(package, result, check):
    """Of people and of each judge the mean of every feature: of all explanations, by source and by verdict."""
    table = explained(package)
    raters = sorted(table["coded"].unique())
    for row in result["parts"]:
        place, label = raters.index(row["rater"]), f"explanation_features/{row['rater']}/{row['part']}/{row['of']}"
        part = table[table["coded"] == row["rater"]]
        if row["part"] != "all":
            part = part[part[row["part"]] == row["of"]]
        n_part = 0 if row["part"] == "all" else 1 + [*package.sources, "yes", "no"].index(row["of"])
        check.number(f"{label}/n", row["n"], len(part))
        for n, (name, stored) in enumerate(zip(result["names"], row["features"], strict=True)):
            assert stored["feature"] == name
            numbers = part.assign(number=part[name])
            seed = (package.seed, FEATURES, place, n_part, n)
            if name in SHARES:
                check.number(f"{label}/{name}", stored["value"], 100 * part[name].mean())
                check.interval(f"{label}/{name}", stored["interval"], "of_rate", numbers, seed)
            else:
                check.number(f"{label}/{name}", stored["value"], part[name].mean())
                check.interval(f"{label}/{name}", stored["interval"], "of_mean", numbers, seed, (0, None))


def explained(package):
    """Every answer of people and models about a story or a group that has an explanation, with its features."""
    models = package.judges[package.judges["rater_kind"] == "model"]
    table = pd.concat([package.people.assign(coded=""), models.assign(coded=models["rater"])])
    item_by_key = {(item["step"], item["item"]): item for item in package.items}
    table = table[is_among(table, item_by_key) & (table["outcome"] == "answered") & (table["group"] != "")]
    table = table[table["rationale"].map(lambda text: len(text.split()) > 0)]
    items = [item_by_key[key] for key in zip(table["step"], table["item"], strict=True)]
    titles = {item["title"].casefold() for item in package.items if item["title"]}
    words = [spelt_words(text) for text in table["rationale"]]
    verdicts = [value if item["is_verdict"] else "" for value, item in zip(table["value"], items, strict=True)]
    n_named = [
        sum(stands_alone(title, text.casefold()) for title in titles if title != item["title"].casefold())
        for text, item in zip(table["rationale"], items, strict=True)
    ]
    has_passage = table["n_passages"].astype(int) > 0
    return table.assign(
        cluster=package.clusters(table),
        source=table["story"].map(package.source_by_story),
        verdict=verdicts,
        words=[float(len(text.split())) for text in table["rationale"]],
        sentences=[float(max(1, count_sentences(text))) for text in table["rationale"]],
        first_person=[float(any(word in FIRST_PERSON for word in spelt)) for spelt in words],
        plot=[float("plot" in spelt or "plots" in spelt) for spelt in words],
        quotes=(has_passage | table["rationale"].map(has_quotation)).astype(float),
        other_items=[float(n) for n in n_named],
    )


def spelt_words(text):
    """The words, each a stretch of letters."""
    return "".join(letter if letter.isalpha() else " " for letter in text.casefold()).split()


def count_sentences(text):
    """How many marks end a sentence: at the end, before a space or before what closes."""
    following = zip(text, [*text[1:], " "], strict=True)
    return sum(letter in MARKS and (after.isspace() or after in AFTER_A_MARK) for letter, after in following)


def has_quotation(text):
    """Whether something stands between an opening and the next double quotation mark, and that closes."""
    for start, letter in enumerate(text):
        if letter in OPENING:
            end = next((n for n in range(start + 1, len(text)) if text[n] in NEITHER), None)
            if end is not None and end > start + 1 and text[end] in CLOSING:
                return True
    return False


def stands_alone(title, text):
    """Whether the title stands in the text with no letter, digit or line below right before or after it."""
    start = text.find(title)
    while start >= 0:
        before, after = text[start - 1 : start], text[start + len(title) : start + len(title) + 1]
        if is_edge(before, title[0]) and is_edge(after, title[-1]):
            return True
        start = text.find(title, start + 1)
    return False


def is_edge(outside, inside):
    """Whether a word begins or ends between the two."""
    return is_of_word(outside) != is_of_word(inside)


def is_of_word(letter):
    return letter.isalnum() or letter == "_"
