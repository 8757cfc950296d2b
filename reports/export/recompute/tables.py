"""The tables of a package as arrays: posed, answers, stories with their clusters and sources."""

import copy
import json
import math
from collections import defaultdict
from functools import cached_property

import numpy as np
import pandas as pd
from recompute.choices import read_choices
from recompute.comparison import read_report
from recompute.outcomes import outcome_tables

QUESTION = ["rater", "step", "item", "group", "story"]
READING = ["rater", "group", "story"]
RULES = ("failed_checks", "fast", "straight_lining", "recognised", "raters", "stories")  # of an analysis plan
MODEL = "language_model"  # a kind of source


class PackagedItem:
    """A question of the codebook. key : its step and its name"""

    def __init__(self, row):
        self.row, self.settings, self.options = row, row["settings"], row["options"]
        self.step, self.item, self.level, self.scope = row["step"], row["item"], row["level"], row["scope"]
        self.key, self.title = (self.step, self.item), row["title"] or row["item"]
        self.is_verdict, self.is_about_a_story = row["is_verdict"], row["is_about_a_story"]
        self.is_preference, self.is_ranking = row["is_preference"], row["is_ranking"]
        self.author_by_option = row["author_by_option"] if self.is_about_a_story else {}
        is_choice = self.level == "nominal" and bool(self.options) and not self.is_verdict
        self.is_choice = self.is_about_a_story and is_choice
        self.is_scale = self.is_about_a_story and self.level in ("ordinal", "interval")
        self.position_by_value = {o["value"]: float(n) for n, o in enumerate(self.options)} if is_choice else {}

    @property
    def ends(self):
        """The lowest and the highest number; None where a scale has no end."""
        return self.settings.get("low"), self.settings.get("high")

    @property
    def bounds(self):
        low, high = (0, 1) if self.is_verdict else self.ends
        return -math.inf if low is None else float(low), math.inf if high is None else float(high)

    @property
    def fields(self):
        return {"step": self.step, "item": self.item}


class PackagedCube:
    """Numbers of items by raters about units. values : shape (I, R, U), nan where there is no answer"""

    def __init__(self, items, raters, units, values):
        self.items, self.raters, self.units, self.values = items, list(raters), list(units), values

    @cached_property
    def readings(self):
        """The numbers by unit and reading, shape (I, N, U), and the rater's number of each, shape (N, U)."""
        has_read = np.isfinite(self.values).any(axis=0)
        raters, units = np.nonzero(has_read)
        places = (has_read.cumsum(axis=0) - 1)[raters, units]
        rater_by_place = np.full((has_read.sum(axis=0).max(initial=0), len(self.units)), -1)
        rater_by_place[places, units] = raters
        values = np.full((len(self.values), *rater_by_place.shape), np.nan)
        values[:, places, units] = self.values[:, raters, units]
        return values, rater_by_place

    def n_stories(self, places):
        """How many different stories the units at these places are of."""
        return len({self.units[n][1] for n in places})


def build_cube(answers, items, raters, units):
    """The answers to these items as an array; of a choice the option's place among the options."""
    at_item, at_rater, at_unit = (
        {name: n for n, name in enumerate(names)} for names in ([item.key for item in items], raters, units)
    )
    values = np.full((len(items), len(at_rater), len(at_unit)), np.nan)
    columns = (answers[name] for name in ("rater", "step", "item", "group", "story", "number", "value"))
    for rater, step, name, group, story, number, value in zip(*columns, strict=True):
        at = at_item.get((step, name)), at_rater.get(rater), at_unit.get((group, story))
        if None not in at:
            values[at] = items[at[0]].position_by_value.get(value, number)
    return PackagedCube([item.key for item in items], raters, units, values)


class Package:
    """The files of a folder, read once, and the draws of the study's seed."""

    def __init__(self, folder):
        self.folder, self.report = folder, read_report(folder / "report.json")
        codebook = json.loads((folder / "codebook.json").read_text(encoding="utf-8"))
        self.items, self.clozes = [PackagedItem(row) for row in codebook["items"]], codebook["clozes"]
        self.scores = codebook["scores"]
        self.versions = json.loads((folder / "protocol.json").read_text(encoding="utf-8"))["versions"]
        self.document = self.versions[-1]["document"]
        self.plan = self.document.get("analysis_plan") or {}
        self.stories = self.table("stories")
        self._read_units()
        answers = self.table("responses_long")
        answers = answers.assign(number=pd.to_numeric(answers["analysed"]), seat=pd.to_numeric(answers["seat"]))
        self.answers = answers
        is_person = answers["rater_kind"] == "person"
        self.everybody = answers[is_person]
        self.people = answers[is_person & (answers["status"] == "submitted")]
        self.read_again = answers[is_person & (answers["status"] == "repeat") & (answers["outcome"] == "answered")]
        of_judges = answers[~is_person & answers["status"].isin(["submitted", "open"])]
        is_label = of_judges["rater"] == self.plan.get("standard_rater", "")
        self.all_readings, self.readings_of_standard = of_judges[~is_label], of_judges[is_label]
        self.raters = sorted(self.people["rater"].unique())
        self._people_by_key = dict(iter(self.people.groupby(["step", "item"])))
        self._cubes, self.judged_by_items = {}, {}

    def _read_units(self):
        stories = self.stories
        in_groups = stories[stories["group"] != ""].sort_values(["group", "story"])
        self.units = list(zip(in_groups["group"], in_groups["story"], strict=True))
        self.groups = list(dict.fromkeys(in_groups["group"]))
        self.cluster_by_unit = dict(zip(self.units, in_groups["cluster"], strict=True))
        self.block_by_unit = dict(zip(self.units, in_groups["block"], strict=True))
        by_group = dict(zip(in_groups["group"], in_groups["cluster"], strict=True))
        if in_groups.groupby("group")["cluster"].nunique().gt(1).any():  # batches, whose stories stand alone
            by_group = {group: group for group in by_group}
        self.cluster_by_unit |= {(group, ""): cluster for group, cluster in by_group.items()}
        names = sorted(set(self.cluster_by_unit.values()))
        self._number_by_cluster = {name: n for n, name in enumerate(names)}
        self.source_by_story, self.kind_by_source = {}, {}
        if "source" in stories and not self.report["is_sealed"]:
            certain = stories[stories["source"] != ""]
            self.source_by_story = dict(zip(certain["story"], certain["source"], strict=True))
            self.kind_by_source = dict(zip(certain["source"], certain["source_kind"], strict=True))
        self.sources = [row["source"] for row in self.report["sources"]] if self.source_by_story else []

    # ── files ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def has(self, name):
        return (self.folder / f"{name}.csv").exists()

    def table(self, name):
        """A table as text, in which what is empty is empty."""
        return pd.read_csv(self.folder / f"{name}.csv", dtype=str, keep_default_na=False)

    def counted(self, name):
        """The rows of people that count, of a table that a package need not have."""
        rows = self.table(name) if self.has(name) else pd.DataFrame(columns=["rater_kind", "status"])
        return rows[(rows["rater_kind"] == "person") & (rows["status"] == "submitted")]

    @property
    def is_whole(self):
        """Whether nobody is left out of the package, as who withdrew is."""
        descriptor = json.loads((self.folder / "datapackage.json").read_text(encoding="utf-8"))
        return not descriptor["quire"]["left_out"]["raters_who_withdrew"]

    @cached_property
    def saves(self):
        """Every save of a blank that was not erased."""
        events = self.table("events")
        return events[events["item"].str.startswith("blank-") & (events["words"] != "")]

    @cached_property
    def factors(self):
        """Of each factor, in alphabetical order, the level of each story that has one."""
        names = sorted(name for name in self.stories if name.startswith("factor_") and self.source_by_story)
        columns = {name.removeprefix("factor_"): self.stories[self.stories[name].str.strip() != ""] for name in names}
        return {
            name: dict(zip(rows["story"], rows[f"factor_{name}"].str.strip(), strict=True))
            for name, rows in columns.items()
            if len(rows)
        }

    @cached_property
    def n_words(self):
        """Words of each story; nan where the package does not say."""
        numbers = pd.to_numeric(self.stories["n_words"], errors="coerce")
        return dict(zip(self.stories["story"], numbers.where(numbers > 0), strict=True))

    @property
    def has_lengths(self):
        """Whether it says how long the stories are; a blind package of a study with withheld texts does not."""
        return bool((self.stories["n_words"] != "").any())

    # ── chance, from the seed of the study ─────────────────────────────────────────────────────────────────────────

    def rng(self, *salt):
        return np.random.default_rng([abs(int(self.report["study"]["seed"])), *salt])

    def resampling(self):
        return self.rng()

    def shuffling(self):
        return self.rng(1)

    # ── stories ────────────────────────────────────────────────────────────────────────────────────────────────────

    def clusters(self, units):
        """The number of the cluster of each unit; of one without a story that of its group."""
        return np.array([self._number_by_cluster[self.cluster_by_unit[unit]] for unit in units], dtype=np.int64)

    def blocks_of(self, units):
        """The number of what each unit shares with others beside its raters."""
        return np.unique([self.block_by_unit[unit] for unit in units], return_inverse=True)[1].astype(np.int64)

    def clusters_of(self, groups):
        return self.clusters((group, "") for group in groups)

    def source_of(self, story):
        return self.source_by_story.get(story, "")

    def is_by_model(self, story):
        return self.kind_by_source.get(self.source_by_story.get(story)) == MODEL

    def sources_of(self, units):
        return np.array([self.source_of(story) for _group, story in units], dtype=object)

    def of_models(self, units):
        return np.array([self.is_by_model(story) for _group, story in units], dtype=bool)

    def units_by_source(self, units):
        """All units (""), then those of each source."""
        sources = self.sources_of(units)
        return [("", np.ones(len(units), dtype=bool)), *((name, sources == name) for name in self.sources)]

    @cached_property
    def outcomes(self):
        """What sources are compared on, story by story."""
        return outcome_tables(self)

    def without(self, readings):
        """The package without these answers of people, by rater, group and story; what they said of a group as a whole
        goes with any of its stories."""
        of_groups = {(rater, group, "") for rater, group, _story in readings}
        keys = zip(self.people["rater"], self.people["group"], self.people["story"], strict=True)
        is_kept = [key not in readings and key not in of_groups for key in keys]
        other = copy.copy(self)
        other.__dict__.pop("outcomes", None)
        other.people, other._cubes = self.people[is_kept], {}
        other._people_by_key = dict(iter(other.people.groupby(["step", "item"])))
        return other

    @cached_property
    def exclusions(self):
        """What rules leave out, those of the plan and, where it has none, those that might have been planned."""
        names = ["rule", "planned", *READING]
        return self.table("exclusions") if self.has("exclusions") else pd.DataFrame(columns=names)

    @property
    def is_planned_to_exclude(self):
        """Whether the plan has an exclusion rule."""
        return any(name.startswith("exclude_") and value for name, value in self.plan.items())

    def excluded(self, *rules, planned=True):
        """Rater, group and story of what these rules leave out, of those of the plan or of others."""
        rows = self.exclusions
        rows = rows[rows["rule"].isin(rules) & (rows["planned"] == str(planned))]
        return set(zip(*(rows[name] for name in READING), strict=True))

    @cached_property
    def planned_outcomes(self):
        """The outcomes, those that the plan names without what its rules leave out."""
        named = {self.plan.get("outcome"), *self.plan.get("secondary", ())} - {None}
        left_out = self.excluded(*RULES)
        if not named or not left_out:
            return self.outcomes
        of_rules = {table.key: table for table in self.without(left_out).outcomes}
        tables = [of_rules.get(table.key) if table.key in named else table for table in self.outcomes]
        return [table for table in tables if table is not None]

    @cached_property
    def judges(self):
        """One answer of each judge to each item about each story."""
        from recompute.readings import take_one_value  # which needs the tables

        return take_one_value(self.all_readings, self.scales)

    @cached_property
    def standard_answers(self):
        """The labels of the standard that were imported as answers."""
        from recompute.readings import take_one_value

        return take_one_value(self.readings_of_standard, self.scales)

    @cached_property
    def models(self):
        return self.judges[self.judges["rater_kind"] == "model"]

    @cached_property
    def models_with_jury(self):
        """The same with the answers of the jury that the plan names, and with expected scores, as if they were some."""
        from recompute.readings import expected_rows, jury_rows

        further = [rows for rows in (jury_rows(self), expected_rows(self)) if len(rows)]
        return pd.concat([self.models, *further], ignore_index=True) if further else self.models

    # ── people ─────────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def verdicts(self):
        return [item for item in self.items if item.is_verdict and item.is_about_a_story]

    @property
    def has_verdicts(self):
        """Whether people's verdicts are an outcome of their own, of which single tests are a part."""
        return any(table.kind == "verdicts" for table in self.outcomes)

    @property
    def scales(self):
        return [item for item in self.items if item.is_scale]

    @property
    def choices(self):
        return [item for item in self.items if item.is_choice]

    @property
    def preferences(self):
        return [item for item in self.items if item.is_preference]

    def answers_to(self, item):
        """What people answered to the item."""
        rows = self._people_by_key.get(item.key, self.people.iloc[:0])
        return rows[rows["outcome"] == "answered"]

    def cube(self, items):
        """People's answers over all units of the study, or over its groups."""
        keys = tuple(item.key for item in items)
        if keys not in self._cubes:
            units = [(group, "") for group in self.groups]
            if all(item.is_about_a_story for item in items):
                units = self.units
            answers = pd.concat([self.answers_to(item) for item in items]) if items else self.people.iloc[:0]
            self._cubes[keys] = build_cube(answers, items, self.raters, units)
        return self._cubes[keys]

    @property
    def verdict_cube(self):
        return self.cube(self.verdicts)

    def choices_of(self, item):
        """People's choices of one of the stories of a group."""
        return read_choices(self, item)

    @staticmethod
    def ranks_of(order):
        return ranks_of(order)

    def orders(self, item):
        """People's rankings of groups, each with its rater and its group."""
        rows = self.answers_to(item)
        return [json.loads(order) for order in rows["value"]], list(rows["group"]), list(rows["rater"])

    def blocks(self):
        """Items on one scale, as (kind, title, items): verdicts, then scales by their ends, then numbers."""
        listing, by_ends = [], defaultdict(list)
        if self.verdicts:
            listing.append(("verdicts", "", self.verdicts))
        for item in self.scales:
            if item.level == "ordinal":
                by_ends[item.ends].append(item)
        listing += [("scales", f"{low}–{high}", items) for (low, high), items in by_ends.items()]
        listing += [("numbers", "", [item]) for item in self.scales if item.level == "interval"]
        return [(kind, items[0].title if len(items) == 1 else title, items) for kind, title, items in listing]

    def steps(self, scope):
        """The names of the steps with that scope, practice left out."""
        steps = [step for version in self.versions for step in version["document"]["steps"]]
        return {step["key"] for step in steps if step["scope"] == scope and step["kind"] != "practice"}


def ranks_of(order):
    """The rank of each story, from 1; stories that share a place share the mean of their ranks."""
    ranks, n_before = {}, 0
    for shared in order:
        ranks |= dict.fromkeys(shared, n_before + (len(shared) + 1) / 2)
        n_before += len(shared)
    return ranks


def widest(items):
    """How far apart two numbers on the widest of these scales can be."""
    return max(item.bounds[1] - item.bounds[0] for item in items)


def as_number(text):
    """The number that a level says, 7, 0.5 or 13B (thirteen thousand million); None if it says none."""
    unit = {"k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12}.get(text[-1:].casefold())
    try:
        number = float(text[:-1]) * unit if unit else float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
