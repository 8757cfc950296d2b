"""How a judge agrees with people beside how a person does: each left out in turn, both against the same others."""

import pandas as pd

from tests.independent import lines
from tests.independent.judge_scores import kappa, spearman
from tests.independent.judges import answers_of_judge, answers_of_people, items_of, judges_of, numbered

UNIT = ["group", "story"]
HUMAN_LINE = 23  # of the seed


def human_line(package, result, check):
    """How each judge agrees with people beside how a person does who is left out, both against the others."""
    for row in result:
        items = items_of(package, row["kind"])
        pairs, n, n_people = [], 0, set()
        for key, item in enumerate(items):
            people, judge = answers_by_unit(package, item, row)
            usable = judge.index.intersection(people[people.notna().sum(axis=1) >= 2].index)
            people, judge = people.loc[usable], judge.loc[usable]
            n += len(usable)
            n_people |= set(people.columns[people.notna().any()])
            pairs.append((key, people, judge))
        score = with_mean if row["kind"] == "scales" else pairwise
        expert, of_judge = score(pairs)
        place = f"human_line/{row['judge']}/{row['kind']}/{row['part']}"
        if row["expert"]["value"] is None:
            n_asked = package.answers_to_all(items)["rater"].nunique()
            check.numbers(place, row, n=0, n_people=n_asked)
            continue
        check.numbers(place, row, n=n, n_people=len(n_people))
        for name, value in {"expert": expert, "of_judge": of_judge, "difference": of_judge - expert}.items():
            check.number(f"{place}/{name}", row[name]["value"], value)
        check_ends(package, place, row, items, check)


def check_ends(package, place, row, items, check):
    kinds = ("verdicts", "choices", "scales")
    judges = judges_of(package, items, with_jury=True)
    seed = (package.seed, HUMAN_LINE, kinds.index(row["kind"]), judges.index(row["judge"]))
    is_in = [row["part"] == "all" or package.kind_of(story) == "language_model" for _group, story in package.units]
    units = [unit for unit, is_kept in zip(package.units, is_in, strict=True) if is_kept]
    kept = set(units)

    def only_kept(answers):
        return answers.loc[[unit in kept for unit in zip(answers["group"], answers["story"], strict=True)]]

    people = lines.cube_of(package, items, lambda item: only_kept(answers_of_people(package, item)), units)
    judge = lines.cube_of(
        package,
        items,
        lambda item: only_kept(answers_of_judge(package, row["judge"], [item])[0]),
        units,
        [row["judge"]],
    )[:, 0]
    clusters = lines.places_of(package.clusters_of(units))
    against = "mean" if row["kind"] == "scales" else "pairwise"
    ends, n = lines.with_judge(people, judge, clusters, against, (*seed, ("all", "models").index(row["part"])))
    for name, of_name in zip(("expert", "of_judge", "difference"), ends, strict=True):
        check.ends(f"{place}/{name}", row[name]["interval"], of_name, n)


def answers_by_unit(package, item, row):
    """People's answers, one column a rater, and the judge's; both by unit."""
    people = numbered(package.answers(item["step"], item["item"]), item)
    judge = numbered(package.judge_answers(row["judge"], item), item)
    if row["part"] == "models":
        people, judge = (
            answers[answers["story"].map(package.kind_of) == "language_model"] for answers in (people, judge)
        )
    wide = people.pivot_table(index=UNIT, columns="rater", values="number", aggfunc="first")
    return wide, judge.dropna(subset=["number"]).set_index(UNIT)["number"]


def pairwise(parts):
    """The mean kappa with each of the others, all items together."""
    people = pd.concat([people.assign(key=key).set_index("key", append=True) for key, people, _judge in parts])
    judge = pd.concat([judge for _key, _people, judge in parts])
    scores = []
    for row in people:
        for other in people:
            shared = (people[row].notna() & people[other].notna()).to_numpy()
            if row != other and shared.any():
                others = people[other].to_numpy()[shared]
                sides = (people[row].to_numpy()[shared], judge.to_numpy()[shared])
                scores.append((*(kappa(beside(side, others)) for side in sides), shared.sum()))
    return weighted(scores)


def with_mean(parts):
    """Spearman's correlation with the mean of the others, the mean over items."""
    of_items = []
    for _key, people, judge in parts:
        scores = []
        for row in people:
            others = people.drop(columns=row).mean(axis=1)
            shared = people[row].notna() & others.notna()
            if shared.sum() > 1:
                sides = (people[row][shared].to_numpy(), judge[shared.to_numpy()].to_numpy())
                reference = others[shared].to_numpy()
                scores.append((*(spearman(beside(side, reference)) for side in sides), shared.sum()))
        if scores:
            of_items.append(weighted(scores))
    return tuple(pd.DataFrame(of_items).mean())


def beside(answers, others):
    """Two series of answers as the table that `judge_scores` takes."""
    return pd.DataFrame({"judge": answers, "people": others})


def weighted(scores):
    """Means of the person's and the judge's scores, weighted by n; nan where nobody has both.

    scores : rows of (person, judge, n)
    """
    table = pd.DataFrame(scores, columns=["person", "judge", "n"], dtype=float).dropna()
    n = table["n"].sum() or float("nan")
    return tuple((table[side] * table["n"]).sum() / n for side in ("person", "judge"))
