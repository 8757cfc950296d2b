"""Pairs of stories: how long the preferred one is, and who names what most people prefer."""

import math

import pandas as pd

from tests.independent.judges_on_groups import choices_of_judge, choices_of_people
from tests.independent.material import place_of

LENGTHS, ACCURACIES = 67, 68  # of the seed


def list_pairs(package, row):
    """The choices, and every group of two stories: their words, how often each was chosen, and which by most."""
    pairs = package.people_of("pairs")
    pairs = pairs[(pairs["step"] == row["step"]) & (pairs["item"] == row["item"])]
    words = pd.to_numeric(package.stories.drop_duplicates("story").set_index("story")["n_words"])
    words = words.where(words > 0)
    table = []
    for group, chosen in pairs.groupby("group")["chosen"]:
        stories = [story for of_group, story in package.units if of_group == group]
        if len(stories) == 2:
            n_chosen = [(chosen == story).sum() for story in stories]
            preferred = next((place for place in (0, 1) if 2 * n_chosen[place] > len(chosen)), None)
            table.append((group, stories, n_chosen, len(chosen), preferred, [words[story] for story in stories]))
    return pairs, pd.DataFrame(table, columns=["group", "stories", "n_chosen", "n", "preferred", "words"])


def pair_lengths(package, result, check):
    """Words of the preferred story and of the other, and how often the longer is preferred, in percent."""
    items = [item for item in package.items if item["is_preference"]]
    for row in result:
        salt, place = items.index(package.item(row)), place_of("pair_lengths", row)
        pairs = list_pairs(package, row)[1]
        decided = pairs.dropna(subset=["preferred"])
        measured = decided[[not any(map(math.isnan, words)) for words in decided["words"]]]
        sides = [(int(place), words) for place, words in zip(measured["preferred"], measured["words"], strict=True)]
        chosen, other = (
            pd.Series([words[abs(place - side)] for place, words in sides], dtype=float) for side in (0, 1)
        )
        difference = chosen - other
        n_withheld, n_alike = len(decided) - len(measured), (difference == 0).sum()
        check.numbers(place, row, n_pairs=len(measured), n_undecided=len(pairs) - len(decided), n_withheld=n_withheld)
        check.numbers(place, row, n_alike=n_alike, mean_chosen=chosen.mean(), mean_rejected=other.mean())
        check.numbers(place, row, median_chosen=chosen.median(), median_rejected=other.median())
        clusters = measured["group"].map(package.cluster_by_group).to_list()
        table = pd.DataFrame({"number": difference, "cluster": clusters})
        longer = table[table["number"] != 0].assign(number=lambda part: (part["number"] > 0) * 1.0)
        check.numbers(f"{place}/longer", row["longer"], value=100 * longer["number"].mean(), n=len(longer))
        check.interval(
            f"{place}/longer", row["longer"]["interval"], "of_rate", longer, (package.seed, LENGTHS, salt, 0)
        )
        check.numbers(f"{place}/difference", row["difference"], value=difference.mean(), n=len(table))
        seed = (package.seed, LENGTHS, salt, 1)
        check.interval(f"{place}/difference", row["difference"]["interval"], "of_mean", table, seed)
        width = row["bins"][0]["end"] - row["bins"][0]["start"]
        first = -len(row["bins"]) // 2
        for n, stored in enumerate(row["bins"], start=first):
            start, end = n * width, (n + 1) * width
            n_in = ((difference >= start) & (difference < end)).sum()
            check.numbers(f"{place}/{start}", stored, start=start, end=end, n=n_in)


def pair_accuracies(package, result, check):
    """How often persons, judges and the rule of the longer story name what most people prefer, in percent."""
    items = [item for item in package.items if item["is_preference"]]
    for row in result:
        salt, place = items.index(package.item(row)), place_of("pair_accuracies", row)
        choices, pairs = list_pairs(package, row)
        check.number(f"{place}/n_pairs", row["n_pairs"], len(pairs))
        n_judge = 0
        for stored in row["accuracies"]:
            if stored["who"] == "person":
                table, last = of_people(choices, pairs), 0
            elif stored["who"] == "longer":
                table, last = of_longer(pairs), 1
            else:
                table, last, n_judge = of_judge(package, row, stored["name"]), 10 + n_judge, n_judge + 1
            table["cluster"] = table["group"].map(package.cluster_by_group)
            label = f"{place}/{stored['who']} {stored['name']}"
            value = 100 * table["number"].mean() if len(table) else None
            check.numbers(label, stored, value=value, n=len(table), n_pairs=table["group"].nunique())
            check.interval(label, stored["interval"], "of_rate", table, (package.seed, ACCURACIES, salt, last))


def of_people(choices, pairs):
    """Every choice beside what more than half of the others of the pair chose."""
    rows = []
    pair_by_group = pairs.set_index("group")
    for group, chosen in zip(choices["group"], choices["chosen"], strict=True):
        if group in pair_by_group.index:
            pair = pair_by_group.loc[group]
            others = [n - (story == chosen) for n, story in zip(pair["n_chosen"], pair["stories"], strict=True)]
            best = [story for n, story in zip(others, pair["stories"], strict=True) if 2 * n > pair["n"] - 1]
            rows += [(group, float(chosen == story)) for story in best]
    return pd.DataFrame(rows, columns=["group", "number"])


def of_longer(pairs):
    """Always the longer story; half right where both are of one length."""
    rows = []
    for group, preferred, words in zip(pairs["group"], pairs["preferred"], pairs["words"], strict=True):
        if not math.isnan(preferred) and not any(map(math.isnan, words)):
            chosen, other = words[int(preferred)], words[1 - int(preferred)]
            rows.append((group, 0.5 if chosen == other else float(chosen > other)))
    return pd.DataFrame(rows, columns=["group", "number"])


def of_judge(package, row, judge):
    """The mean over both orders of whether the judge took what most people prefer."""
    rows = package.table("pairs")
    rows = rows[(rows["step"] == row["step"]) & (rows["item"] == row["item"])]
    people = choices_of_people(package.counted(rows, "person"))
    table = choices_of_judge(package, package.counted(rows, "judge"), judge, people).join(people)
    right = table["right"].where(table["preferred"].notna()).dropna()
    return right.rename("number").rename_axis("group").reset_index()
