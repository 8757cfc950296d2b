"""The filled texts of a cloze as arrays: what was rated, where fills lie, and QUIET's score of them; with numpy.

Axes: J judges, N texts, K constraints, E edges, B blanks, D dimensions of vectors, G sections, P participants. nan is
missing and never counts as 0. Source of the score: Zou & Xu (2026), arXiv:2605.25955, sections 4 and 5.
"""

import re
from functools import cached_property

import numpy as np
import pandas as pd

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
        outcome = package.factor("outcome") if "factor_outcome" in package.stories else {}
        self.references = {
            "models": self.is_by_model,
            "all": np.ones(len(self.stories), dtype=bool),
            "people": ~self.is_by_model,
            "shortlisted": np.array([outcome.get(story) == "shortlisted" for story in self.stories]),
        }
        self.is_in = self.references[stored["reference"]["name"]]
        self.section_numbers = [section["number"] for section in self.cloze["sections"]]
        blanks = sorted((n, at) for at, section in enumerate(self.cloze["sections"]) for n in section["blanks"])
        self.blanks, self.section_of_blank = (np.array(column) for column in zip(*blanks, strict=True))

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
        broken = np.zeros(self.ratings.shape, dtype=bool)
        for k, (_section, _item, checks) in enumerate(self.constraints):
            items = [item for item in map(self.item, checks) if item]
            broken[:, :, k] = (self.ratings_of(items, self.judges) == 0).any(axis=2)
        return broken

    @cached_property
    def experts(self):
        """People who rated a constraint beside models."""
        names = [name for name in self.package.raters if self.is_judged_by_models]
        items = [item for _section, item, _checks in self.constraints]
        has_rated = np.isfinite(self.ratings_of(items, names)).any(axis=(1, 2))
        return [name for name, is_in in zip(names, has_rated, strict=True) if is_in]

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
        table = self.package.table("fill_vectors")
        surprise = self.package.report["cloze_surprise"]
        n_fills = sum(value is not None for text in surprise["texts"] for value in text["raw"]) if surprise else 0
        if not n_fills or len(table) < n_fills:
            return None
        rows = [self.package.parse(text) for text in table["vector"]]
        vectors = np.full((len(self.stories), len(self.blanks), len(rows[0])), np.nan)
        for story, blank, row in zip(table["story"], table["blank"], rows, strict=True):
            vectors[self.stories.index(story), list(self.blanks).index(int(blank))] = row
        return vectors

    @cached_property
    def raw(self):
        """Distances from the middle of the reference set, shape (N, B); without vectors those of the report."""
        if self.vectors is not None and self.is_in.any():
            return distances(self.vectors, self.is_in)
        raw, surprise = np.full((len(self.stories), len(self.blanks)), np.nan), self.package.report["cloze_surprise"]
        for text in surprise["texts"] if surprise else ():
            raw[self.stories.index(text["story"])] = [np.nan if n is None else n for n in text["raw"]]
        return raw

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
        both = satisfied + surprising
        return 2 * satisfied * surprising / np.where(both == 0, 1, both)
    if form == "D":
        return np.sqrt(satisfied * surprising)
    return satisfied * (1 + float(form[1:]) * surprising)


def distances(vectors, is_in, leave_one_out=False):
    """One minus the cosine to the middle of the reference's fills of the blank, (N, B, D) to (N, B).

    leave_one_out : a text of the reference is held against the others of it
    """
    units = at_length_one(vectors)
    of_reference = np.where(is_in[:, None, None] & ~np.isnan(units), units, 0.0)
    sums = of_reference.sum(axis=0)
    middle = at_length_one(sums - of_reference) if leave_one_out else at_length_one(sums)
    return np.maximum(1 - (units * middle).sum(axis=-1), 0)


def at_length_one(vectors):
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, np.nan)


def relative(raw, is_in):
    """Distances divided by the largest of the reference at that blank; both of shape (N, B)."""
    largest = np.where(np.isnan(raw), -np.inf, raw)[is_in].max(axis=0)
    shares = raw / np.where(largest > ROUNDING, largest, np.nan)
    return np.where((largest <= ROUNDING) & (raw <= ROUNDING), 0.0, shares)


def find_outliers(raw, is_in):
    """Which texts of the reference lie far from all others of it, by Tukey's fence; shape (N,)."""
    means = mean_present(raw, axis=1)
    present = means[is_in & np.isfinite(means)]
    if not present.size:
        return np.zeros(len(raw), dtype=bool)
    lower, upper = np.quantile(present, [0.25, 0.75])
    return is_in & (means > upper + FENCE * (upper - lower) + ROUNDING)


def ranks(values):
    """1 the highest, equal ones share the better rank; 0 without a value."""
    is_better = values[None] > values[:, None] + ROUNDING
    return np.where(np.isfinite(values), 1 + is_better.sum(axis=1), 0)
