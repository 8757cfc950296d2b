"""The filled texts of a cloze as arrays: what was rated, where fills lie, and QUIET's score of them; with numpy.

Axes: J judges, N texts, K constraints, E edges, B blanks, D dimensions of vectors, G sections, P participants. nan is
missing and never counts as 0. Source of the score: Zou & Xu (2026), arXiv:2605.25955, sections 4 and 5.
"""

import math
import re
from functools import cached_property

import numpy as np
import pandas as pd
from scipy.spatial.distance import cosine

from tests.independent.floors import cube_of

HIGHEST, KNOCK_OUT = 5, 1  # of a rating; the most of one whose judge denied a required check
ROUNDING = 1e-12
FENCE = 1.5  # interquartile ranges above the upper quartile, from where a text is an outlier
PUBLISHED = re.compile(r"s[0-9]+-(satisfies|surprises)")  # keys of items
COARSE = {"0": 0.0, "0.5": 0.5, "1": 1.0}
FORMS = ("C1", "C0.5", "C1.5", "A", "B", "D")  # the first is the main one


class ScoredTexts:
    """The texts in the order of the package's units, by participant.

    participants : sources in alphabetical order; of_participant : whose each text is, shape (N,)
    """

    def __init__(self, package):
        self.package = package
        self.stories = [story for _group, story in package.units]
        names = [package.source_by_story.get(story, story) for story in self.stories]
        self.participants = sorted(set(names), key=lambda name: (name.casefold(), name))
        self.of_participant = np.array([self.participants.index(name) for name in names])
        self.is_by_model = np.array([package.kind_of(story) == "language_model" for story in self.stories])

    def of_participants(self, values):
        """The mean over the texts of each participant, (N, …) to (P, …)."""
        places = range(len(self.participants))
        return np.array([mean_present(values[self.of_participant == place], axis=0) for place in places])

    def totals(self, satisfied, surprising=None, form=FORMS[0]):
        """Of each participant, shape (P,)."""
        surprising = self.surprising if surprising is None else surprising
        return self.of_participants(section_scores(satisfied, surprising, form).sum(axis=1))


class PublishedTexts(ScoredTexts):
    """Texts of which scores of sections were brought in, in place of judges and fills."""

    judges, constraints, blanks = (), (), ()

    def __init__(self, package):
        super().__init__(package)
        rows = package.one_value[package.one_value["rater_kind"] == "metric"]
        rows = rows[rows["item"].str.fullmatch(PUBLISHED.pattern)]
        rows = rows[rows["rater"] == rows["rater"].min()]
        keys = {int(key[1:].partition("-")[0]) for key in rows["item"]}
        self.section_numbers = sorted(keys)
        table = rows.pivot_table(index=["group", "story"], columns="item", values="number", aggfunc="first")
        table = table.reindex(pd.MultiIndex.from_tuples(package.units))
        self.satisfied_softly, self.surprising = (
            table[[f"s{n}-{part}" for n in self.section_numbers]].to_numpy() for part in ("satisfies", "surprises")
        )
        self.satisfied_capped = self.satisfied_softly
        self.raw = np.full(self.surprising.shape, np.nan)

    def by_section(self, values):
        """Nothing is known of single fills."""
        return values


class FilledTexts(ScoredTexts):
    """Texts that were filled and judged here, and what was said of them.

    judges, is_judged_by_models, reference : as the report names them
    """

    def __init__(self, package):
        super().__init__(package)
        self.cloze, stored = package.clozes[0], package.report["cloze_scores"]
        self.judges, self.is_judged_by_models = stored["judges"], stored["is_judged_by_models"]
        is_shortlisted = [self.outcome_of(story) == "shortlisted" for story in self.stories]
        masks = zip(self.is_by_model, is_shortlisted, strict=True)
        members = [{"all", "models" if by_model else "people", *["shortlisted"] * is_in} for by_model, is_in in masks]
        names = ("models", "all", "people", "shortlisted")
        self.references = {name: np.array([name in of_text for of_text in members]) for name in names}
        self.is_in = self.references[stored["reference"]["name"]]
        sections = pd.DataFrame(self.cloze["sections"])[["number", "blanks"]].reset_index()
        self.section_numbers = sections["number"].to_list()
        by_blank = sections.explode("blanks").dropna().sort_values("blanks")
        self.blanks, self.section_of_blank = (by_blank[name].to_numpy(dtype=int) for name in ("blanks", "index"))

    def outcome_of(self, story):
        """What became of a text, by its factor; None where nothing is said."""
        return self.package.factor("outcome").get(story) if "factor_outcome" in self.package.stories else None

    # ── what was rated ─────────────────────────────────────────────────────────────────────────────────────────────

    def item(self, key):
        """The item of that key that judges the texts; None if it is not asked."""
        of = (self.cloze["instrument"], self.cloze["instrument_version"])
        rows = (i for i in self.package.items if (i["instrument"], i["instrument_version"]) == of)
        return next((item for item in rows if item["item"] == key), None)

    @cached_property
    def constraints(self):
        """The constraints that are asked: section from 0, item, keys of the checks that it is not met without."""
        rows = [
            (at, self.item(constraint["item"]), constraint["required_checks"])
            for at, section in enumerate(self.cloze["sections"])
            for constraint in section["constraints"]
        ]
        return [row for row in rows if row[1]]

    @cached_property
    def edges(self):
        return [item for item in map(self.item, self.cloze["edges"]) if item]

    def ratings_of(self, items, names):
        """What these judges or people answered, shape (J, N, items)."""
        people = self.package.raters

        def answers_of(item):
            own = [name for name in names if name not in people]
            tables = [self.package.judge_answers(name, item).assign(rater=name) for name in own]
            answers = self.package.answers(item["step"], item["item"])
            tables.append(answers[answers["rater"].isin(names)])
            table = pd.concat(tables)
            if item["type"] == "choice":
                return table.assign(number=table["value"].map(COARSE))
            return table.dropna(subset=["number"])

        if not items or not names:
            return np.full((len(names), len(self.stories), len(items)), np.nan)
        return cube_of(self.package, items, answers_of, self.package.units, names).transpose(1, 2, 0)

    @cached_property
    def ratings(self):
        """As they were given, 0 to 5, shape (J, N, K)."""
        return self.ratings_of([item for _section, item, _checks in self.constraints], self.judges)

    @cached_property
    def is_broken(self):
        """Whether the judge denied a required check of the constraint, shape (J, N, K)."""
        denials = [self.denials_of(checks) for _section, _item, checks in self.constraints]
        return np.array(
            [
                [[(judge, story) in of_checks for of_checks in denials] for story in self.stories]
                for judge in self.judges
            ]
        )

    def denials_of(self, checks):
        """Who denied one of these checks of which text."""
        tables = [
            self.package.judge_answers(judge, item).assign(rater=judge)
            for judge in self.judges
            if judge not in self.package.raters
            for item in filter(None, map(self.item, checks))
        ]
        tables += [self.package.answers(i["step"], i["item"]) for i in filter(None, map(self.item, checks))]
        denied = pd.concat(tables) if tables else self.package.people.iloc[:0]
        denied = denied[denied["number"] == 0]
        return set(zip(denied["rater"], denied["story"], strict=True))

    @cached_property
    def experts(self):
        """People who rated a constraint beside models."""
        answers = self.package.answers_to_all([item for _section, item, _checks in self.constraints])
        return sorted(answers.dropna(subset=["number"])["rater"].unique()) if self.is_judged_by_models else []

    @cached_property
    def coarse_items(self):
        """The same constraints asked in three steps, None where they are not."""
        rows = [i for i in self.package.items if [str(o["value"]) for o in i["options"] or []] == list(COARSE)]
        by_key = {item["item"]: item for item in rows}
        return [by_key.get(item["item"]) for _section, item, _checks in self.constraints]

    def coarse_of(self, names):
        """What these judges answered in three steps, 0 to 1, shape (J, N, K)."""
        values = np.full((len(names), len(self.stories), len(self.constraints)), np.nan)
        for k, item in enumerate(self.coarse_items):
            if item:
                values[:, :, k] = self.ratings_of([item], names)[:, :, 0]
        return values

    # ── satisfied, and surprising ──────────────────────────────────────────────────────────────────────────────────

    def satisfied(self, ratings, bucket=False):
        """How far each text satisfies each section, (J, N, K) to (N, G).

        Of each constraint the mean of its judges, of these the mean, or as a bucket the least.
        """
        by_constraint = mean_present(ratings / HIGHEST, axis=0)
        sections = np.array([section for section, _item, _checks in self.constraints])
        parts = [by_constraint[:, sections == at] for at in np.unique(sections)]
        return np.stack([part.min(axis=1) if bucket else part.mean(axis=1) for part in parts], axis=1)

    @cached_property
    def satisfied_softly(self):
        return self.satisfied(self.ratings)

    @cached_property
    def satisfied_capped(self):
        return self.satisfied(np.where(self.is_broken, np.minimum(self.ratings, KNOCK_OUT), self.ratings))

    @cached_property
    def vectors(self):
        """Fills as vectors, shape (N, B, D); None where some of their texts may not stand in the package."""
        table, n_fills = self.package.table("fill_vectors"), int(self.reported_distances.count().sum())
        if n_fills == 0 or n_fills > len(table):
            return None
        numbers = pd.DataFrame(table["vector"].map(self.package.parse).to_list())
        numbers.index = pd.MultiIndex.from_arrays([table["story"], table["blank"].astype(int)])
        every_fill = pd.MultiIndex.from_product([self.stories, self.blanks])
        return numbers.reindex(every_fill).to_numpy().reshape(len(self.stories), len(self.blanks), -1)

    @property
    def reported_distances(self):
        """Those of the report by text and blank."""
        surprise = self.package.report["cloze_surprise"] or {"texts": []}
        rows = {text["story"]: dict(zip(self.blanks, text["raw"], strict=True)) for text in surprise["texts"]}
        return pd.DataFrame.from_dict(rows, orient="index", dtype=float).reindex(self.stories, columns=self.blanks)

    @cached_property
    def raw(self):
        """Distances from the middle of the reference set, shape (N, B); without vectors those of the report."""
        if self.vectors is not None and self.is_in.any():
            return distances(self.vectors, self.is_in)
        return self.reported_distances.to_numpy(dtype=float)

    def by_section(self, values):
        """The mean over the blanks of each section, (N, B) to (N, G)."""
        sections = np.unique(self.section_of_blank)
        return np.stack([values[:, self.section_of_blank == at].mean(axis=1) for at in sections], axis=1)

    @cached_property
    def surprising(self):
        """Distances divided by the largest of the reference at that blank, the mean of each section, shape (N, G)."""
        return self.by_section(relative(self.raw, self.is_in))


def read_texts(package):
    """The texts of the report, as they were judged here or as somebody published scores of them."""
    return PublishedTexts(package) if package.report["cloze_scores"]["is_published"] else FilledTexts(package)


def mean_present(values, axis):
    n = np.isfinite(values).sum(axis=axis)
    return np.nansum(values, axis=axis) / np.where(n > 0, n, np.nan)


def section_scores(satisfied, surprising, form=FORMS[0]):
    """A: satisfied^1.5 × surprising; B: harmonic, D: geometric mean; C: satisfied × (1 + weight × surprising)."""
    if form == "A":
        return satisfied**1.5 * surprising
    if form == "B":
        is_zero = (satisfied == 0) | (surprising == 0)
        parts = (1 / np.where(is_zero, 1, part) for part in (satisfied, surprising))
        return np.where(is_zero, 0 * satisfied * surprising, 2 / sum(parts))
    if form == "D":
        return satisfied**0.5 * surprising**0.5
    return satisfied * (1 + float(form[1:]) * surprising)


def distances(vectors, is_in, leave_one_out=False):
    """One minus the cosine to the middle of the reference's fills of the blank, (N, B, D) to (N, B).

    leave_one_out : a text of the reference is held against the others of it
    """
    return np.array(
        [
            [
                fill_distance(fills, is_in & ((np.arange(len(fills)) != n) | (not leave_one_out)), n)
                for n in range(len(fills))
            ]
            for fills in vectors.transpose(1, 0, 2)
        ]
    ).T


def fill_distance(fills, is_in, n):
    """Of one fill from the mean direction of those of the reference; nan of an open blank, or beside none."""
    directions = [fill / math.hypot(*fill) for fill in fills[is_in] if np.any(fill) and not np.isnan(fill).any()]
    middle = np.mean(directions, axis=0) if directions else np.zeros(fills.shape[1])
    if np.isnan(fills[n]).any() or not np.any(fills[n]) or not np.any(middle):
        return np.nan
    return max(cosine(fills[n], middle), 0)


def relative(raw, is_in):
    """Distances divided by the largest of the reference at that blank; both of shape (N, B)."""
    table = pd.DataFrame(raw)
    largest = table[is_in].max().fillna(-1)
    alike = largest.index[largest <= ROUNDING]  # blanks that the whole reference filled with the same
    shares = table / largest
    shares[alike] = table[alike].map(lambda distance: 0.0 if distance <= ROUNDING else np.nan)
    return shares.to_numpy()


def find_outliers(raw, is_in):
    """Which texts of the reference lie far from all others of it, by Tukey's fence; shape (N,)."""
    means = pd.DataFrame(raw).mean(axis=1)
    quartiles = means[is_in].describe()
    return is_in & (means - quartiles["75%"] > FENCE * (quartiles["75%"] - quartiles["25%"]) + ROUNDING).to_numpy()


def ranks(values):
    """1 the highest, equal ones share the better rank; 0 without a value."""
    return pd.Series(values).round(11).rank(method="min", ascending=False).fillna(0).to_numpy().astype(int)
