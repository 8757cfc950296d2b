"""What judges answered: of several readings the one that counts, beside people on the same units."""

import json
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from recompute.choices import NEITHER
from recompute.tables import QUESTION, build_cube

from stats import arrays, jury

UNIT = ["group", "story"]
READING = ["rater", *UNIT, "step", "item", "seat"]


def is_about(answers, items):
    """Whether each answer is to one of the items."""
    keys = {item.key for item in items}
    pairs = zip(answers["step"], answers["item"], strict=True)
    return np.array([key in keys for key in pairs], dtype=bool).reshape(len(answers))


def take_one_value(readings, scales):
    """Of every judge one answer to each item about each story: that which counts alone, of two the earlier seat's.

    On a scale that it read as several personas it is their mean, and lost if one of them gave none.
    """
    readings = readings.sort_values("seat", kind="stable")
    alone = readings[readings["counts_alone"] == "yes"].drop_duplicates(QUESTION)
    plain = readings[(readings["persona"] != "") & (readings["repeat"] == "1") & (readings["order"] == "planned")]
    plain = plain[is_about(plain, scales)].drop_duplicates([*QUESTION, "persona"])
    n_personas = plain.groupby("rater")["persona"].nunique().to_dict()
    rows_by_question = dict(iter(plain.groupby(QUESTION)))
    outcomes, numbers = list(alone["outcome"]), list(alone["number"])
    is_scale = is_about(alone, scales)
    for n, question in enumerate(zip(*(alone[name] for name in QUESTION), strict=True)):
        n_asked = n_personas.get(question[0], 0)
        if n_asked < 2 or not is_scale[n]:
            continue
        rows = rows_by_question.get(question, plain.iloc[:0])
        lost = [outcome for outcome in rows["outcome"] if outcome != "answered"] or ["open"] * (len(rows) < n_asked)
        outcomes[n] = lost[0] if lost else outcomes[n]
        numbers[n] = np.nan if lost else rows["number"].mean()
    return alone.assign(outcome=outcomes, number=numbers)


@dataclass(frozen=True)
class PackagedJudged:
    """What judges and people answered to the same items. judges : shape (J, I, U); people : shape (I, R, U)"""

    items: list
    names: list
    judges: np.ndarray
    people: np.ndarray
    units: list
    clusters: np.ndarray
    sources: np.ndarray
    is_of_models: np.ndarray
    rows: pd.DataFrame

    @property
    def n_raters(self):
        return self.people.shape[1]

    @property
    def is_mixed(self):
        """Whether some stories are by models and others are not."""
        return bool(self.is_of_models.any() and not self.is_of_models.all())

    @cached_property
    def means(self):
        return arrays.mean_present(self.people, axis=1)


def jury_rows(package):
    """What more than half of the weight of a planned jury answered, on scales its weighted mean; a tie is no answer."""
    names, models = package.plan.get("jury", []), package.models
    weights, tables = package.plan.get("jury_weights") or [1.0] * len(names), []
    answered = models[models["rater"].isin(names) & (models["outcome"] == "answered")]
    for item in [item for item in package.items if item.is_about_a_story] if names else []:
        if not (item.is_verdict or item.is_choice or item.is_scale):
            continue
        cube = build_cube(answered[is_about(answered, [item])], [item], names, package.units)
        numbers = (jury.mean if item.is_scale else jury.majority)(cube.values[0], weights)
        rows = pd.DataFrame(package.units, columns=UNIT).assign(number=numbers).dropna(subset="number")
        if item.is_choice:
            value_by_position = {position: value for value, position in item.position_by_value.items()}
            rows = rows.assign(value=rows["number"].map(value_by_position), number=np.nan)
        tables.append(rows.assign(step=item.step, item=item.item))
    if not tables:
        return models.iloc[:0]
    rows = pd.concat(tables, ignore_index=True)
    name = f"jury of {', '.join(names)}"
    return rows.assign(rater=name, rater_kind="model", outcome="answered", rationale="", seat=0)


def expected_rows(package):
    """The mean point of each scale by a judge's probabilities, in the readings whose answers count."""
    probabilities = package.table("judge_probabilities")
    of_readings, rows = expectations(probabilities), package.all_readings
    if not of_readings:
        return probabilities
    rows = rows[rows["rater"].isin(probabilities["rater"]) & is_about(rows, package.scales)]
    places = zip(*(rows[name] for name in READING), strict=True)
    numbers = pd.Series([of_readings.get(place, np.nan) for place in places], rows.index, dtype=float)
    rows = rows.assign(number=numbers, outcome=rows["outcome"].where(numbers.notna(), "open"))
    taken, units = take_one_value(rows, package.scales), set(package.units)
    taken = taken[(taken["outcome"] == "answered") & taken["number"].notna()]
    taken = taken[[unit in units for unit in zip(taken["group"], taken["story"], strict=True)]]
    return taken.assign(rater=taken["rater"] + ", expected score", rationale="", seat=0)


def expectations(probabilities):
    """The mean answer by the probabilities of each reading, each by its place."""
    products = probabilities["analysed"].astype(float) * probabilities["probability"].astype(float)
    seats = pd.to_numeric(probabilities["seat"])
    return probabilities.assign(number=products, seat=seats).groupby(READING)["number"].sum().to_dict()


def judged(package, items, with_jury=False):
    """The answers of models to items about stories; None if none has answered any of them.

    with_jury : whether the jury that the plan names stands among them
    """
    key = (tuple(item.key for item in items), with_jury)
    if key not in package.judged_by_items:
        package.judged_by_items[key] = read_judged(package, items, with_jury)
    return package.judged_by_items[key]


def read_judged(package, items, with_jury):
    models = package.models_with_jury if with_jury else package.models
    rows = models[is_about(models, items)]
    if not len(rows):
        return None
    names, people = sorted(rows["rater"].unique()), package.people[is_about(package.people, items)]
    of_judges = build_cube(rows, items, names, package.units)
    answered = people[people["outcome"] == "answered"]
    of_people = build_cube(answered, items, sorted(people["rater"].unique()), package.units)
    return PackagedJudged(
        items=list(items),
        names=names,
        judges=of_judges.values.transpose(1, 0, 2),
        people=of_people.values,
        units=package.units,
        clusters=package.clusters(package.units),
        sources=package.sources_of(package.units),
        is_of_models=package.of_models(package.units),
        rows=rows,
    )


def count_outcomes(rows, n_expected):
    """What became of the answers that were expected of a judge."""
    counts = {name: (rows["outcome"] == name).sum() for name in ("answered", "declined", "unreadable")}
    n_lost = n_expected - counts["answered"]
    lost_percent = 100 * n_lost / n_expected if n_expected else None
    missing = n_lost - counts["declined"] - counts["unreadable"]
    return counts | {"missing": missing, "expected": n_expected, "lost_percent": lost_percent}


def asked_units(package, judge, units):
    """Which units the judge is to answer: held-out ones if its prompt was made from others; no table says which."""
    name, rows = judge.removesuffix(", expected score"), package.report.get("alignment") or []
    held_out = [row["held_out"] for row in rows if row["judge"] == name]
    return np.array([not held_out or group in held_out[0] for group, _story in units])


def outcomes(package, judge, rows, n_items):
    """The same of so many items about every story that the judge is asked about, and by source."""
    is_asked, by_source = asked_units(package, judge, package.units), []
    sources = package.sources_of(package.units)[is_asked]
    for source in package.sources:
        own = rows[rows["story"].map(package.source_of) == source]
        by_source.append({"source": source} | count_outcomes(own, n_items * (sources == source).sum()))
    return count_outcomes(rows, n_items * len(sources)) | {"by_source": by_source}


def group_outcomes(package, item, judge, groups):
    """Of the one answer that is expected of each group; it counts for every source that stands in it."""
    rows = package.judges[is_about(package.judges, [item]) & (package.judges["rater"] == judge).to_numpy()]
    rows, by_source = rows[rows["group"].isin(groups)], []
    for source in package.sources:
        own = {group for group, story in package.units if package.source_of(story) == source} & set(groups)
        by_source.append({"source": source} | count_outcomes(rows[rows["group"].isin(own)], len(own)))
    return count_outcomes(rows, len(groups)) | {"by_source": by_source}


# ── pairs ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class PackagedJudgedPairs:
    """A judge's choices in groups of two stories. chosen : shape (P, 2), in the order of the codes and in the other"""

    judge: str
    groups: list
    stories: list
    chosen: np.ndarray
    preferred: np.ndarray
    is_unanimous: np.ndarray
    n_choices: np.ndarray
    is_order_known: np.ndarray


def pairs_of(package):
    """The two stories of every group that has two."""
    stories = {}
    for group, story in package.units:
        stories.setdefault(group, []).append(story)
    return {group: codes for group, codes in stories.items() if len(codes) == 2}


def majority(stories, codes):
    """The place of the story that more than half chose; nan without one."""
    return next((float(n) for n, code in enumerate(codes) if 2 * stories.count(code) > len(stories)), np.nan)


def judged_pairs(package, item):
    """Every judge's choices beside people's; of several readings in one order the first counts."""
    readings = package.all_readings[is_about(package.all_readings, [item])]
    if not len(readings):
        return []
    pairs, of_people = pairs_of(package), {}
    for choice in package.choices_of(item):
        of_people.setdefault(choice.group, []).append(choice.story)
    chosen_by_group = {group: of_people.get(group, []) for group in pairs}
    rows = package.table("pairs")
    rows = rows[(rows["rater_kind"] != "person") & rows["status"].isin(["submitted", "open"])]
    rows = rows[is_about(rows, [item]) & rows["repeat"].isin(["", "1"]).to_numpy()]
    rows = rows.assign(seat=pd.to_numeric(rows["seat"])).sort_values(["group", "seat"], kind="stable")
    judged = []
    for judge in sorted(readings["rater"].unique()):
        of_judge = readings[(readings["rater"] == judge) & (readings["counts_alone"] == "yes")].sort_values(
            "seat", kind="stable"
        )
        as_whom = dict(zip(of_judge["group"][::-1], of_judge["persona"][::-1], strict=True))
        chosen, is_order_known = np.full((len(pairs), 2), np.nan), np.ones(len(pairs), dtype=bool)
        for row in rows[rows["rater"] == judge].to_dict("records"):
            order, codes = json.loads(row["stories"]), pairs.get(row["group"])
            if codes is None or sorted(order) != codes or as_whom.get(row["group"]) != row["persona"]:
                continue
            at = list(pairs).index(row["group"]), int(order[0] != codes[0])
            is_order_known[at[0]] = row["order_is_known"] == "True"
            if np.isnan(chosen[at]):
                chosen[at] = codes.index(row["chosen"]) if row["chosen"] in codes else NEITHER
        judged.append(
            PackagedJudgedPairs(
                judge=judge,
                groups=list(pairs),
                stories=list(pairs.values()),
                chosen=chosen,
                preferred=np.array([majority(chosen_by_group[group], codes) for group, codes in pairs.items()]),
                is_unanimous=np.array([len(own) > 1 and len(set(own)) == 1 for own in chosen_by_group.values()], bool),
                n_choices=np.array([len(own) for own in chosen_by_group.values()], dtype=float),
                is_order_known=is_order_known,
            )
        )
    return judged


def people_on_pairs(package, item, groups):
    """People's choices, shape (R, P)."""
    pairs, chosen = pairs_of(package), package.choices_of(item)
    raters = sorted({choice.rater for choice in chosen})
    table = np.full((len(raters), len(groups)), np.nan)
    for choice in chosen:
        if choice.group in groups:
            codes = pairs[choice.group]
            place = codes.index(choice.story) if choice.story in codes else NEITHER
            table[raters.index(choice.rater), groups.index(choice.group)] = place
    return table
