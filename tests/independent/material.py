"""The files of a package, and a comparison of the numbers in its report with numbers that are computed."""

import copy
import json
import math

import pandas as pd

from tests.independent import floors, intervals, jury, resampled

TOLERANCE = 1e-9
ATTEMPTS = 2  # at a comprehension check, unless the protocol says otherwise
# Why a number is not computed, other than that places and invitations stand in no package.
NO_TEXTS = "what rests on texts, on their vectors, or on a reference set, which are not in this package"
NO_LENGTHS = "what rests on the lengths of texts, or on which are the same, which this blind package leaves out"
NOT_TAKEN = "what rests on a file that was not taken along"


class Decimal(float):
    """A number of the report. Each is an object of its own, so that it is known which of them were computed again."""


class Whole(int):
    """The same of a whole number."""


def read_report(path):
    """The report, each of whose numbers is an object of its own. Raises OSError, or ValueError for no JSON."""
    return json.loads(path.read_text(encoding="utf-8"), parse_float=Decimal, parse_int=Whole)


def list_numbers(value, path=()):
    """Every number of the report with where it stands."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield from list_numbers(part, (*path, name))
    elif isinstance(value, list):
        for part in value:
            yield from list_numbers(part, (*path, "*"))
    elif isinstance(value, Decimal | Whole):
        yield path, value


class Package:
    """The files of this folder. people : the answers of people that count"""

    def __init__(self, folder):
        self.folder = folder
        self.report = read_report(folder / "report.json")
        codebook = json.loads((folder / "codebook.json").read_text(encoding="utf-8"))
        self.items, self.clozes, self.scores = codebook["items"], codebook["clozes"], codebook["scores"]
        self.seed = abs(self.report["study"]["seed"])
        self.draws = (self.seed,)  # the seed of the draws that most intervals share
        self.shuffles = (self.seed, 1)  # and of the shuffles within raters
        self.stories = stories = self.table("stories")
        in_groups = stories[stories["group"] != ""].sort_values(["group", "story"])
        self.units = list(zip(in_groups["group"], in_groups["story"], strict=True))
        self.cluster_by_unit = dict(zip(self.units, in_groups["cluster"], strict=True))
        self.cluster_by_group = dict(zip(in_groups["group"], in_groups["cluster"], strict=True))
        self.block_by_unit = dict(zip(self.units, in_groups["block"], strict=True))
        if in_groups.groupby("group")["cluster"].nunique().gt(1).any():  # groups are batches, whose stories stand alone
            self.cluster_by_group = {group: group for group in self.cluster_by_group}
        self.source_by_story, self.kind_by_source = {}, {}
        if "source" in stories and not self.report["is_sealed"]:
            with_source = stories[stories["source"] != ""]
            self.source_by_story = dict(zip(with_source["story"], with_source["source"], strict=True))
            self.kind_by_source = dict(zip(with_source["source"], with_source["source_kind"], strict=True))
        self.sources = [row["source"] for row in self.report["sources"]]
        answers = self.table("responses_long")
        is_of_judge = (answers["rater_kind"] != "person") & answers["status"].isin(["submitted", "open"])
        seats = pd.to_numeric(answers["seat"])
        self.judges = answers.assign(seat=seats, number=pd.to_numeric(answers["analysed"]))[is_of_judge]
        self.judges = self.judges.sort_values("seat", kind="stable")
        is_label = self.judges["rater"] == self.plan.get("standard_rater", "")
        self.standard = self.judges[is_label].drop_duplicates(QUESTION)
        self.judges = self.judges[~is_label]
        self.one_value = take_one(self.judges, {(item["step"], item["item"]) for item in self.scales})
        self.all_people = answers[answers["rater_kind"] == "person"]
        self.n_withdrawn = self.count_left_out()
        self.people = counted_people(answers)
        self.people["number"] = pd.to_numeric(self.people["analysed"])
        self.people["source"] = self.people["story"].map(self.source_by_story)
        self.people["cluster"] = self.clusters(self.people)
        is_again = (answers["rater_kind"] == "person") & (answers["status"] == "repeat")
        self.read_again = answers[is_again & (answers["outcome"] == "answered")].copy()
        self.read_again["number"] = pd.to_numeric(self.read_again["analysed"])

    def without_excluded(self, rule=""):
        """The package without what a rule of the plan leaves out; without one, what all of them do."""
        rows = self.table("exclusions")
        rows = rows[rows["planned"] == "True"]
        return self.without(rows[rows["rule"] == rule] if rule else rows)

    def without(self, rows):
        """The package without these readings; what a rater said of a group goes with any of its stories."""
        of_story = rows[["rater", "group", "story"]].drop_duplicates()
        of_group = of_story.assign(story="").drop_duplicates()
        people = self.people.merge(pd.concat([of_story, of_group]), how="left", indicator="is_left")
        other = copy.copy(self)
        other.people = self.people[(people["is_left"] == "left_only").to_numpy()]
        return other

    def without_rule(self, name):
        """The package by what a specification leaves out, also of a plan without rules: a rule, all of them or none."""
        rows = self.table("exclusions")
        rows = rows[rows["rule"] == name] if name != "all" else rows
        return self if name == "none" else self.without(rows)

    def as_planned(self, outcome):
        """The package as the plan has the outcome compared."""
        named = {self.plan.get("outcome"), *self.plan.get("secondary", [])}
        return self.without_excluded() if outcome in named else self

    @property
    def held_out_by_judge(self):
        """Of each judge whose prompt was made from answers the groups that it is asked about; no table says them."""
        return {row["judge"]: row["held_out"] for row in self.report.get("alignment") or []}

    def is_asked(self, judge, group):
        """Whether the judge is asked about stories of that group."""
        return group in self.held_out_by_judge.get(judge.removesuffix(", expected score"), [group])

    @property
    def has_lengths(self):
        """Whether it says how long the stories are; a blind package of a study with withheld texts does not."""
        return bool((self.stories["n_words"] != "").any())

    def count_left_out(self):
        """How many raters are left out of the package, since they withdrew."""
        descriptor = json.loads((self.folder / "datapackage.json").read_text(encoding="utf-8"))
        return descriptor["quire"]["left_out"]["raters_who_withdrew"]

    @property
    def model_by_judge(self):
        """The model that each judge asked for."""
        runs = self.table("judge_runs")
        return dict(zip(runs["rater"], runs["model"], strict=True))

    def table(self, name):
        """A table as text, in which what is empty is empty."""
        return pd.read_csv(self.folder / f"{name}.csv", dtype=str, keep_default_na=False)

    def people_of(self, name):
        """The rows of people that count, of a table that a package need not have."""
        path = self.folder / f"{name}.csv"
        return counted_people(self.table(name)) if path.exists() else pd.DataFrame()

    def answers(self, step, item):
        """What people who count answered to the item."""
        people = self.people
        return people[(people["step"] == step) & (people["item"] == item) & (people["outcome"] == "answered")]

    def answers_to_all(self, items):
        """People's answers to these items; key : which of them."""
        if not items:
            return self.people.iloc[:0].assign(key=0)
        return pd.concat([self.answers(item["step"], item["item"]).assign(key=n) for n, item in enumerate(items)])

    @property
    def scales(self):
        """The items that give a story a number."""
        return [i for i in self.items if i["is_about_a_story"] and i["level"] in ("ordinal", "interval")]

    @property
    def verdicts(self):
        """The items that are answered Yes or No about each story."""
        return [item for item in self.items if item["is_verdict"] and item["is_about_a_story"]]

    @property
    def plan(self):
        """The analysis plan that was frozen; empty without one."""
        versions = json.loads((self.folder / "protocol.json").read_text(encoding="utf-8"))["versions"]
        return versions[-1]["document"].get("analysis_plan") or {}

    def steps(self, scope):
        """The keys of the steps of the protocol with that scope, practice left out."""
        versions = json.loads((self.folder / "protocol.json").read_text(encoding="utf-8"))["versions"]
        steps = [step for version in versions for step in version["document"]["steps"]]
        return {step["key"] for step in steps if step["scope"] == scope and step["kind"] != "practice"}

    def attempts_at(self, key):
        """How often a rater may try a comprehension check; None of a step that is none."""
        versions = json.loads((self.folder / "protocol.json").read_text(encoding="utf-8"))["versions"]
        step = next(step for step in versions[-1]["document"]["steps"] if step["key"] == key)
        has_answers = any("correct" in item["settings"] for item in self.items if item["step"] == key)
        return step["options"].get("attempts", ATTEMPTS) if has_answers else None

    def parse(self, text):
        """What stands as JSON in a cell; an empty cell is an empty list."""
        return json.loads(text) if text else []

    @property
    def raters(self):
        """The codes of people that count, in order."""
        return sorted(self.people["rater"].unique())

    @property
    def group_units(self):
        """A unit for each group, for items that are asked about it."""
        return [(group, "") for group in dict.fromkeys(group for group, _story in self.units)]

    @property
    def unit_clusters(self):
        """The cluster of each unit."""
        return self.clusters_of(self.units)

    def clusters_of(self, units):
        """The cluster of each of these units; that of the group where a unit has no story, none outside of groups."""
        return [self.cluster_by_unit.get((group, story), self.cluster_by_group.get(group)) for group, story in units]

    def clusters(self, table):
        """The cluster of each row about a story in a group."""
        clusters = self.clusters_of(zip(table["group"], table["story"], strict=True))
        return pd.Series(clusters, index=table.index, dtype=object)

    def blocks(self, table):
        """What each row's story shares with others beside raters, as its premise."""
        return [self.block_by_unit[unit] for unit in zip(table["group"], table["story"], strict=True)]

    def judge_answers(self, judge, item):
        """One answer of a judge about each story; on a scale that it read as several personas their mean."""
        if jury.is_made(judge):
            return jury.answers_of(self, judge, item)
        rows = self.judges
        rows = rows[(rows["rater"] == judge) & (rows["step"] == item["step"]) & (rows["item"] == item["item"])]
        alone = rows[rows["counts_alone"] == "yes"].drop_duplicates(["group", "story"])
        answered = alone[alone["outcome"] == "answered"]
        personas = set(self.judges.loc[(self.judges["rater"] == judge), "persona"]) - {""}
        if len(personas) < 2 or item["level"] not in ("ordinal", "interval"):
            return answered
        each = rows[(rows["repeat"] == "1") & (rows["order"] == "planned") & (rows["outcome"] == "answered")]
        of_unit = each.drop_duplicates(["group", "story", "persona"]).groupby(["group", "story"])["number"]
        means = of_unit.agg(["mean", "count"]).reset_index()
        means = means[means["count"] == len(personas)].rename(columns={"mean": "number"})
        return alone.drop(columns="number").merge(means, on=["group", "story"])

    def factor(self, name):
        """The level of each story, by its code."""
        stories = self.stories[self.stories[f"factor_{name}"] != ""]
        return dict(zip(stories["story"], stories[f"factor_{name}"], strict=True))

    def kind_of(self, story):
        """The kind of the story's source; None while sealed, or if nothing is said of it."""
        return self.kind_by_source.get(self.source_by_story.get(story))

    def counted(self, table, kind):
        """The rows of people that count, or those of judges, which are models and metrics."""
        if kind == "person":
            return counted_people(table)
        return table[(table["rater_kind"] != "person") & table["status"].isin(["submitted", "open"])].copy()

    def item(self, row):
        """The item that a row of the report is about. Raises StopIteration if the codebook has none."""
        return next(item for item in self.items if (item["step"], item["item"]) == (row["step"], row["item"]))


QUESTION = ["rater", "step", "item", "group", "story"]


def take_one(answers, scales):
    """Of every judge one answer to each item about each story: that which counts alone, of two the earlier seat's.

    On a scale that it read as several personas it is lost if one of them gave none, as that one lost it.
    """
    alone = answers[answers["counts_alone"] == "yes"].drop_duplicates(QUESTION)
    each = answers[(answers["persona"] != "") & (answers["repeat"] == "1") & (answers["order"] == "planned")]
    each = each[is_among(each, scales)].drop_duplicates([*QUESTION, "persona"])
    n_personas = alone["rater"].map(each.groupby("rater")["persona"].nunique())
    questions = pd.MultiIndex.from_frame(alone[QUESTION])
    losses = each[each["outcome"] != "answered"].drop_duplicates(QUESTION).set_index(QUESTION)["outcome"]
    lost = pd.Series(losses.reindex(questions).to_numpy(), alone.index, dtype=object)
    n_read = pd.Series(each.groupby(QUESTION).size().reindex(questions).to_numpy(), alone.index)
    outcome = lost.fillna(alone["outcome"].where(n_read.ge(n_personas), "open"))
    is_of_several = n_personas.gt(1) & is_among(alone, scales)
    return alone.assign(outcome=alone["outcome"].where(~is_of_several, outcome))


def is_among(answers, keys):
    """Whether each answer is to one of the items, by step and item."""
    return pd.Series([key in keys for key in zip(answers["step"], answers["item"], strict=True)], answers.index, bool)


def counted_people(table):
    """The rows of people who have submitted."""
    return table[(table["rater_kind"] == "person") & (table["status"] == "submitted")].copy()


class Comparison:
    """Numbers of the report beside those computed here.

    computed : ids of the report's numbers that were computed again; n_missing : values that neither side has
    reasons : by the id of a number that cannot be computed from this package why not
    """

    def __init__(self):
        self.computed, self.n_intervals, self.n_missing, self.differences = set(), 0, 0, []
        self.reasons = {}

    def leave(self, stored, reason):
        """Note why the numbers of this part of the report are not computed."""
        self.reasons |= {id(number): reason for _path, number in list_numbers(stored)}

    def near(self, place, stored, computed, tolerance):
        """The same of what rests on numerical derivatives or a search: to that part of the stored one."""
        self.number(place, stored, computed, tolerance=tolerance)

    def number(self, place, stored, computed, *, tolerance=TOLERANCE):
        """Note whether both are the same: to 1e-9 of the stored one, or none on either side."""
        if isinstance(stored, Decimal | Whole):
            self.computed.add(id(stored))
        stored, computed = none_if_nan(stored), none_if_nan(computed)
        if stored is None or computed is None:
            is_same = stored is computed
            self.n_missing += is_same
        else:
            is_same = abs(stored - computed) <= tolerance * max(1, abs(stored))
        if not is_same:
            self.differences.append({"place": place, "report": stored, "recomputed": computed})

    def numbers(self, place, row, /, **computed):
        """Note the same of several fields of one row, by their names."""
        for name, value in computed.items():
            self.number(f"{place}.{name}", row.get(name), value)

    def list(self, place, stored, computed):
        """Numbers in their order."""
        if len(stored) != len(computed):
            self.differences.append({"place": place, "report": len(stored), "recomputed": len(computed)})
            return
        for n, (one, other) in enumerate(zip(stored, computed, strict=True)):
            self.number(f"{place}[{n}]", one, other)

    def interval(self, place, stored, function, *arguments, within=(None, None)):
        """function : of intervals.py, which gives both ends, or None where there is no interval; within : its bounds"""
        if stored is None:
            return
        ends = getattr(intervals, function, None) or getattr(resampled, function)
        ends = intervals.clip(ends(*arguments), within)
        self.ends(place, stored, ends, intervals.count_clusters(function, arguments) if ends else None)

    def ends(self, place, stored, ends, n):
        """Both ends of an interval, and the number of the clusters that it rests on."""
        low, high = ends or (None, None)
        self.numbers(place, stored, low=low, high=high, n_resampled=n if ends else None)
        self.n_intervals += low is not None

    def floor(self, place, stored, values, better=1):
        """values : of the number in all shuffles, shape (n_shuffles,); see floors.py"""
        mean, upper = floors.mean_and_end(values, better)
        self.numbers(f"{place}/floor", stored, mean=mean, upper=upper)


def widest(items):
    """How far apart two numbers on the widest of these scales can be; None where one has no end."""
    ends = [(0, 1) if i["is_verdict"] else (i["settings"].get("low"), i["settings"].get("high")) for i in items]
    return None if any(None in pair for pair in ends) else max(high - low for low, high in ends)


def around_zero(most):
    """The bounds of a difference that is at most so much on either side; None is no bound."""
    return (None, None) if most is None else (-most, most)


def none_if_nan(value):
    """The number, or None where there is none."""
    return None if value is None or (isinstance(value, float) and math.isnan(value)) else float(value)


def place_of(figure, row, *more):
    """Where in the report a number stands, for whoever reads of a difference."""
    return "/".join([figure, row["step"], row["item"], *map(str, more)])


def by_source(answers, source):
    """The answers about stories of that source; of "" all."""
    return answers if source == "" else answers[answers["source"] == source]


def counts(answers, units):
    """How many raters gave each unit each value: one row a unit, one column a value."""
    index = pd.MultiIndex.from_tuples(units, names=["group", "story"])
    if answers.empty:
        return pd.DataFrame(index=index)
    return pd.crosstab([answers["group"], answers["story"]], answers["number"]).reindex(index, fill_value=0)


def percent_agreement(table):
    """The mean over units with two ratings or more of how many pairs of raters agree, 0 to 100; None without any."""
    n = table.sum(axis=1)
    pairs = ((table * table).sum(axis=1) - n)[n >= 2] / (n * (n - 1))[n >= 2]
    return 100 * pairs.mean() if len(pairs) else None
