"""Judges in place of people: Yes by the share of experts, the alternative annotator test, judges among themselves."""

import pandas as pd

from tests.independent import exchangeable, floors, intervals
from tests.independent.agreement import alpha
from tests.independent.judges import UNIT, items_of, judges_of, numbered
from tests.independent.material import counts, percent_agreement, place_of

SHARE, STANDINGS, AMONG = 24, 34, 27  # of the seed
LEAST = 30  # units of a person who is left out
LEVELS = {
    "none": lambda share: share == 0,
    "fewer_than_half": lambda share: (share > 0) & (share < 0.5),
    "half": lambda share: share == 0.5,
    "more_than_half": lambda share: (share > 0.5) & (share < 1),
    "all": lambda share: share == 1,
}


def judges_share_of_yes(package, result, check):
    """The judge's share of Yes where so many of the experts say Yes, and how far it is from their share."""
    people = package.answers_to_all(package.verdicts).groupby(["key", *UNIT])["number"].mean().rename("share")
    for row in result:
        judge = of_judge(package, row["judge"], package.verdicts)
        table = judge.merge(people.reset_index(), on=["key", *UNIT])
        table["cluster"] = package.clusters(table)
        if row["part"] == "models":
            table = table[table["story"].map(package.kind_of) == "language_model"]
        place = f"judges_share_of_yes/{row['judge']}/{row['part']}"
        distance = 100 * (table["number"] - table["share"]).abs().mean()
        check.numbers(place, row, n=len(table), distance=distance)
        for stored in row["levels"]:
            part, label = table[LEVELS[stored["level"]](table["share"])], f"{place}/{stored['level']}"
            check.numbers(label, stored, n=len(part), value=100 * part["number"].mean())
            check.numbers(label, stored, expert_percent=100 * part["share"].mean())
            alike = part.drop(columns="key")  # of all items together
            check.interval(label, stored["interval"], "of_rate", alike, package.draws)


def of_judge(package, judge, items):
    """The answers of a judge to these items; key : which of them."""
    tables = [numbered(package.judge_answers(judge, item), item).assign(key=key) for key, item in enumerate(items)]
    return pd.concat(tables)[["key", *UNIT, "number"]].dropna(subset=["number"])


def judges_among_themselves(package, result, check):
    """Krippendorff's alpha among judges, and the share of the same answers of every two."""
    items = [item for item in package.items if item["is_about_a_story"] and item["level"] != "none"]
    for row in result:
        item, place = package.item(row), place_of("judges_among_themselves", row)
        tables = [of_judge(package, judge, [item]).assign(rater=judge) for judge in judges_of(package, [item])]
        everybody = pd.concat(tables)
        answers = everybody[~everybody["rater"].isin(row.get("anchored", []))]
        table = counts(answers, package.units)
        check.number(f"{place}/judges", row["n_judges"], answers["rater"].nunique())
        is_models = [package.kind_of(story) == "language_model" for _group, story in table.index]
        parts = {"coefficient": table, "among_models": table[is_models]}
        for name, part in parts.items():
            if row.get(name):
                check.number(f"{place}/{name}", row[name]["value"], alpha(part, row["level"]))
                if row[name]["value"] is not None:
                    used = part[part.sum(axis=1) >= 2]
                    is_in = pd.MultiIndex.from_frame(answers[UNIT]).isin(used.index)
                    n_raters = answers[is_in]["rater"].nunique()
                    check.numbers(f"{place}/{name}", row[name], n_units=len(used), n_raters=n_raters)
        check.number(f"{place}/percent", row["percent_agreement"]["value"], percent_agreement(table))
        is_choice = item["level"] == "nominal" and not item["is_verdict"]
        check.number(f"{place}/mean", row["mean"], None if is_choice else answers["number"].mean())
        for pair in row["pairs"]:
            two = everybody[everybody["rater"].isin([pair["first"], pair["second"]])]
            of_two = counts(two, package.units)
            value, n = percent_agreement(of_two), (of_two.sum(axis=1) == 2).sum()
            check.numbers(f"{place}/{pair['first']} {pair['second']}", pair, value=value, n=n, n_raters=2)
        seed = (package.seed, AMONG, items.index(item))
        of_alpha = ([table], row["level"], package.unit_clusters, (*seed, 0))
        check.interval(place, row["interval"], "of_alpha", *of_alpha)
        if row["floor"]["mean"] is not None:
            names = sorted(answers["rater"].unique())
            cube = floors.cube_of(package, [item], lambda _item, answers=answers: answers, package.units, names)
            values = floors.of_items(cube, (*seed, 1), floors.alphas_of_counts(row["level"]))[0]
            check.floor(place, row["floor"], values)


def alternative_annotator(package, result, check):
    """Each person left out: does the judge agree with the others at least as well? (Calderon, Reichart & Dror, 2025)

    A judge beats a person where a t-test rejects that the person wins more often by epsilon; Benjamini-Yekutieli over
    those with 30 units or more.
    """
    for row in result:
        items = items_of(package, "verdicts" if row["score"] == "accuracy" else "scales")
        index = pd.MultiIndex.from_tuples([(key, *unit) for key in range(len(items)) for unit in package.units])
        people = package.answers_to_all(items)
        people = people.pivot_table(index=["key", *UNIT], columns="rater", values="number", aggfunc="first")
        people = people.reindex(index=index, columns=package.raters)
        judge = of_judge(package, row["judge"], items).set_index(["key", *UNIT])["number"].reindex(index)
        is_models = pd.Series([package.kind_of(story) == "language_model" for _k, _g, story in index], index)
        is_asked = [package.is_asked(row["judge"], group) for _k, group, _story in index]
        forms = {
            "test": (people, judge, {}),
            "unanswered": (people[is_asked], judge[is_asked], {"counts_unanswered": True}),
            "stories": (people, judge, {"labels": [story for _k, _g, story in index]}),
            "models": (people[is_models], judge[is_models], {}),
        }
        epsilon = row.get("epsilon", 0.2)
        for stored in row["standings"]:
            place = f"alternative_annotator/{row['judge']}/{row['score']}/{stored['form']}"
            if (stored.get("why") or {}).get("values", {}).get("least"):
                check.number(f"{place}/least", stored["why"]["values"]["least"], LEAST)
            if stored["form"] in forms:
                of_people, answers, options = forms[stored["form"]]
            else:
                of_people = people[is_models] if stored["form"] == "constant_models" else people
                if stored.get("answer") is None:
                    # The best constant answer is sought by tests, of which there are none here.
                    counts_of_none = {
                        "n_tested": 0,
                        "n_units": 0,
                        "n_people": len(package.raters) if stored.get("why") else 0,
                    }
                    check.numbers(place, stored, **counts_of_none)
                    continue
                value = best_constant(of_people, row["score"], epsilon)
                check.number(f"{place}/answer", stored["answer"], value)
                answers, options = pd.Series(float(value), of_people.index), {}
            test = left_out_in_turn(of_people, answers, row["score"], epsilon, **options)
            rate, advantage, n_tested, n_units, wins = test
            check.numbers(place, stored, winning_rate=rate, advantage=advantage, n_tested=n_tested, n_units=n_units)
            check.number(f"{place}/people", stored["n_people"], len(package.raters))
            if wins is not None and stored.get("interval"):
                wins["cluster"] = package.clusters(wins)
                check.interval(place, stored["interval"], "of_mean", wins, (package.seed, STANDINGS), (0, 1))
        if row["drawn"].get("why"):
            check.number(f"alternative_annotator/{row['judge']}/least", row["drawn"]["why"]["values"]["least"], LEAST)
        least, seed = row["standings"][-1]["advantage"] or 0, (package.seed, STANDINGS, 1)
        drawn = exchangeable.percent_drawn(people, is_models, least, row["score"], epsilon, seed)
        check.number(f"alternative_annotator/{row['judge']}/{row['score']}/drawn", row["drawn"]["value"], drawn)


def best_constant(people, score, epsilon, labels=None):
    """The answer that does best if it is always given: by winning rate, then by advantage."""
    values = intervals.quantiles_of(people.to_numpy(), 21)
    tests = [left_out_in_turn(people, pd.Series(value, people.index), score, epsilon, labels)[:2] for value in values]
    best = max(range(len(values)), key=lambda n: (tests[n][0] or 0, tests[n][1] or 0))
    return values[best]


def left_out_in_turn(people, judge, score, epsilon, labels=None, counts_unanswered=False, n_tried=1):
    """Winning rate, advantage, people tested, units, and where the judge wins: key (a person), group, story, number."""
    is_used = people.notna().sum(axis=1) >= 2
    if not counts_unanswered:
        is_used &= judge.notna()
    labels = pd.Series(range(len(people)) if labels is None else labels, people.index)[is_used]
    people, judge = people[is_used], judge[is_used]
    ps, wins = {}, []
    for person in people:
        own = people[person].dropna()
        others, answers = people.loc[own.index].drop(columns=person), judge[own.index]
        near = [closeness(side, others, score) for side in (answers, own)]
        near[0] = near[0].where(answers.notna(), -float("inf"))
        judge_wins, person_wins = (near[0] >= near[1]) * 1.0, (near[1] >= near[0]) * 1.0
        differences = (person_wins - judge_wins).groupby(labels[own.index]).mean()
        if len(own) >= LEAST and len(differences) > 1:
            ps[person] = intervals.p_of_less(differences.to_numpy(), epsilon)
            _keys, groups, stories = zip(*own.index, strict=True)
            of_person = {"key": person, "group": groups, "story": stories, "number": judge_wins.to_numpy()}
            wins.append(pd.DataFrame(of_person))
    if not ps:
        return None, None, 0, 0, None
    rate = intervals.share_rejected([min(n_tried * p, 1) for p in ps.values()], 0.05)
    advantage = sum(table["number"].mean() for table in wins) / len(wins)
    return rate, advantage, len(ps), len(people), pd.concat(wins)


def closeness(answers, others, score):
    """How many others say the same, or minus the sum of squared differences: of the same others only order matters."""
    if score == "accuracy":
        return others.eq(answers, axis=0).sum(axis=1) * 1.0
    return -(others.sub(answers, axis=0) ** 2).sum(axis=1)
