"""Scores of several items by each rater, with pandas: the sum of what items count, where none of them is missing."""

import pandas as pd


def find_score(package, key):
    """The score of that outcome in the codebook; None of an outcome that is none."""
    return next((score for score in package.scores if score["outcome"] == key), None)


def rater_scores(package, score):
    """Every rater's score of each story: columns rater, group, story, number."""
    numbers = {
        item["item"]: package.answers(item["step"], item["item"]).set_index(["rater", "group", "story"])["number"]
        for item in items_of(package, score)
    }
    return score_of_items(package, score, numbers)


def score_of_items(package, score, numbers):
    """The score where all of its items have a number. numbers : of each item a series, by what it is of"""
    columns = {}
    for item in items_of(package, score):
        answers = numbers[item["item"]]
        low, high = ends_of(item)
        counted = low + high - answers if item["item"] in score["reversed"] else answers
        columns[item["item"]] = counted * score["weights"].get(item["item"], 1)
    complete = pd.DataFrame(columns).dropna()
    return (complete.sum(axis=1) / divisor(score)).round(10).rename("number").reset_index()


def bounds_of_score(package, score):
    """The least and the most that the score can be."""
    items = [(ends_of(item), score["weights"].get(item["item"], 1)) for item in items_of(package, score)]
    return tuple(sum(ends[n] * weight for ends, weight in items) / divisor(score) for n in (0, 1))


def divisor(score):
    return 1 if score["how"] == "sum" else sum(score["weights"].get(key, 1) for key in score["items"])


def items_of(package, score):
    return [package.item({"step": score["step"], "item": key}) for key in score["items"]]


def ends_of(item):
    return (0, 1) if item["is_verdict"] else (item["settings"]["low"], item["settings"]["high"])
