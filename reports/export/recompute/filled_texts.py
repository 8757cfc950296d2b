"""The filled texts of a cloze as arrays: what was rated, where fills lie, and whose texts they are.

Axes: J judges, N texts, K constraints, B blanks, G sections, P participants. nan is missing and never counts as 0.
"""

import json
import re
from functools import cached_property

import numpy as np
from recompute.readings import is_about
from recompute.tables import build_cube

from stats import arrays, cloze

PUBLISHED = re.compile(r"s[0-9]+-(satisfies|surprises)")  # keys of items
COARSE = {"0": 0.0, "0.5": 0.5, "1": 1.0}


class ScoredTexts:
    """Texts by participant, in the order of the package's units. of_participant : whose each text is, shape (N,)"""

    is_published = False

    def __init__(self, package):
        self.package, self.stories = package, [story for _group, story in package.units]
        names = [package.source_by_story.get(story, story) for story in self.stories]
        self.participants = sorted(set(names), key=lambda name: (name.casefold(), name))
        self.of_participant = np.array([self.participants.index(name) for name in names])
        self.is_by_model = package.of_models(package.units)

    def of_participants(self, values):
        """The mean over the texts of each participant, (N, …) to (P, …)."""
        places = range(len(self.participants))
        return np.array([arrays.mean_present(values[self.of_participant == place], axis=0) for place in places])

    def totals(self, satisfied, surprising=None, form=cloze.FORMS[0]):
        """Of each participant, shape (P,)."""
        parts = self.surprising if surprising is None else surprising
        return self.of_participants(cloze.totals(satisfied, parts, form))


class PublishedTexts(ScoredTexts):
    """Texts of which scores of sections were brought in, in place of judges and fills."""

    is_published, judges, constraints, blanks = True, (), (), ()

    def __init__(self, package):
        super().__init__(package)
        rows = package.judges[package.judges["rater_kind"] == "metric"]
        rows = rows[rows["item"].str.fullmatch(PUBLISHED.pattern)]
        rows = rows[rows["rater"] == rows["rater"].min()]
        self.section_numbers = sorted({int(key[1:].partition("-")[0]) for key in rows["item"]})
        by_cell = dict(zip(zip(rows["group"], rows["story"], rows["item"], strict=True), rows["number"], strict=True))
        self.satisfied_softly, self.surprising = (
            np.array([[by_cell.get((*u, f"s{n}-{part}"), np.nan) for n in self.section_numbers] for u in package.units])
            for part in ("satisfies", "surprises")
        )
        self.raw = np.full(self.surprising.shape, np.nan)
        self.is_in = np.zeros(len(self.stories), dtype=bool)

    def satisfied(self, _ratings=None, *, bucket=False, is_capped=False):
        return self.satisfied_softly

    def by_section(self, values):
        """Nothing is known of single fills."""
        return values


class FilledTexts(ScoredTexts):
    """Texts that were filled and judged here. judges, reference : as the report names them"""

    def __init__(self, package):
        super().__init__(package)
        self.cloze, stored = package.clozes[0], package.report["cloze_scores"]
        self.judges, self.is_judged_by_models = stored["judges"], stored["is_judged_by_models"]
        outcome = package.factors.get("outcome", {})
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
        stated = [
            (at, self.item(constraint["item"]), constraint["required_checks"])
            for at, section in enumerate(self.cloze["sections"])
            for constraint in section["constraints"]
        ]
        self.constraints = [row for row in stated if row[1]]
        self.items = [item for _section, item, _checks in self.constraints]
        self.edges = [item for item in map(self.item, self.cloze["edges"]) if item]

    @property
    def own_items(self):
        of = (self.cloze["instrument"], self.cloze["instrument_version"])
        return [i for i in self.package.items if (i.row["instrument"], i.row["instrument_version"]) == of]

    def item(self, key):
        """The item of that key that judges the texts; None if it is not asked."""
        return next((item for item in self.own_items if item.item == key), None)

    def ratings_of(self, items, names):
        """What these judges or people answered, shape (J, N, items)."""
        if not items or not names:
            return np.full((len(names), len(self.stories), len(items)), np.nan)
        package = self.package
        people = package.people[package.people["outcome"] == "answered"]
        tables = [rows[is_about(rows, items)] for rows in (package.judges, people)]
        cubes = [build_cube(rows, items, names, package.units).values for rows in tables]
        is_of_people = np.isin(names, package.raters)[None, :, None]
        return np.where(is_of_people, cubes[1], cubes[0]).transpose(1, 2, 0)

    @cached_property
    def ratings(self):
        """As they were given, 0 to 5, shape (J, N, K)."""
        return self.ratings_of(self.items, self.judges)

    @cached_property
    def is_broken(self):
        """Whether the judge denied a required check of the constraint, shape (J, N, K)."""
        broken = np.zeros(self.ratings.shape, dtype=bool)
        for k, (_section, _item, checks) in enumerate(self.constraints):
            asked = [item for item in map(self.item, checks) if item]
            broken[:, :, k] = (self.ratings_of(asked, self.judges) == 0).any(axis=2)
        return broken

    @cached_property
    def experts(self):
        """People who rated a constraint beside models."""
        names = [name for name in self.package.raters if self.is_judged_by_models]
        has_rated = np.isfinite(self.ratings_of(self.items, names)).any(axis=(1, 2))
        return [name for name, is_in in zip(names, has_rated, strict=True) if is_in]

    def coarse_of(self, names):
        """The same constraints in three steps, 0 to 1, shape (J, N, K)."""
        in_steps = [i for i in self.package.items if [str(o["value"]) for o in i.options or []] == list(COARSE)]
        by_key, values = {item.item: item for item in in_steps}, list(COARSE.values())
        ratings = np.full((len(names), len(self.stories), len(self.items)), np.nan)
        for k, item in enumerate(self.items):
            if item.item in by_key:
                places = self.ratings_of([by_key[item.item]], names)[:, :, 0]
                ratings[:, :, k] = np.where(
                    np.isnan(places), np.nan, np.array(values)[np.nan_to_num(places).astype(int)]
                )
        return ratings

    def checks_of(self, key):
        """The checks of a constraint."""
        return [item for item in self.own_items if item.item.startswith(f"{key}-k")]

    def satisfied(self, ratings=None, *, bucket=False, is_capped=False):
        """How far each text satisfies each section, shape (N, G)."""
        ratings = self.ratings if ratings is None else ratings
        ratings = cloze.apply_knockout(ratings, self.is_broken) if is_capped else ratings
        sections = np.array([section for section, _item, _checks in self.constraints])
        return cloze.satisfaction_by_group(ratings.transpose(1, 0, 2), sections, bucket=bucket)

    @cached_property
    def satisfied_softly(self):
        return self.satisfied()

    @cached_property
    def vectors(self):
        """Fills as vectors, shape (N, B, D); None where some of their texts may not stand in the package."""
        table, surprise = self.package.table("fill_vectors"), self.package.report["cloze_surprise"]
        n_fills = sum(number is not None for text in surprise["texts"] for number in text["raw"]) if surprise else 0
        if not n_fills or len(table) < n_fills:
            return None
        rows = [json.loads(text) for text in table["vector"]]
        vectors = np.full((len(self.stories), len(self.blanks), len(rows[0])), np.nan)
        for story, blank, row in zip(table["story"], table["blank"], rows, strict=True):
            vectors[self.stories.index(story), list(self.blanks).index(int(blank))] = row
        return vectors

    @cached_property
    def raw(self):
        """Distances from the middle of the reference set, shape (N, B); without vectors those of the report."""
        if self.vectors is not None and self.is_in.any():
            return cloze.distances(self.vectors, self.is_in)
        raw, surprise = np.full((len(self.stories), len(self.blanks)), np.nan), self.package.report["cloze_surprise"]
        for text in surprise["texts"] if surprise else ():
            raw[self.stories.index(text["story"])] = [np.nan if n is None else n for n in text["raw"]]
        return raw

    def by_section(self, values):
        """The mean over the blanks of each section, (N, B) to (N, G)."""
        return cloze.group_means(values, self.section_of_blank)

    @cached_property
    def surprising(self):
        return self.by_section(cloze.relative(self.raw, self.is_in))


def read_texts(package):
    """The texts of the report, as they were judged here or as somebody published scores of them."""
    return PublishedTexts(package) if package.report["cloze_scores"]["is_published"] else FilledTexts(package)
