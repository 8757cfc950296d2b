"""Chance floors of a judge's scores: the same with its answers at other stories; for recompute.py, with numpy."""

import numpy as np

from tests.independent.floors import confusions, cube_of, kendall_taus, mean_absolute_errors, shuffled_judge, spearmans
from tests.independent.judge_coefficients import cohen_of, mean_recall_of

SHUFFLES = 98  # of the seed
OF_CONFUSIONS = {
    "kappa": cohen_of,
    "mean_kappa": cohen_of,
    "balanced_accuracy": mean_recall_of,
    "percent_agreement": lambda tables: 100 * np.trace(tables, axis1=1, axis2=2) / tables.sum(axis=(1, 2)),
}
OF_ANSWERS = {"spearman": spearmans, "kendall_tau": kendall_taus, "mean_absolute_error": mean_absolute_errors}


class JudgeFloors:
    """One judge beside people. Both have shape (items, units), nan where there is no answer.

    people : of each item a table of what they say; see judges.py
    seed : of the study, the figure and the judge; drawn : confusion tables of shuffles, which all statistics share
    """

    def __init__(self, package, judge, answers_of_judge, people, seed):
        items = range(len(people))
        units = package.units
        self.judge = cube_of(package, items, lambda n: answers_of_judge[n].assign(rater=judge), units, [judge])[:, 0]
        tables = [table.assign(rater="") for table in people]
        self.people, is_unanimous, n_people = (
            cube_of(package, items, lambda n, name=name: tables[n].assign(number=tables[n][name]), units, [""])[:, 0]
            for name in ("people", "is_unanimous", "count")
        )
        self.is_in = {"unanimous": is_unanimous == 1, "split": (n_people > 1) & (is_unanimous != 1)}
        self.is_of_model = np.array([package.kind_of(story) == "language_model" for _group, story in units])
        self.sources = np.array([package.source_by_story.get(story, "") for _group, story in units])
        self.seed, self.drawn = seed, {}

    def select(self, part):
        """What the judge and people say in a part, and the sources of its units."""
        units = self.is_of_model if part == "models" else np.full(len(self.sources), True)
        people = np.where(self.is_in[part], self.people, np.nan) if part in self.is_in else self.people
        return self.judge[:, units], people[:, units], self.sources[units]

    def confusions(self, part, is_within):
        """Of each item the confusion tables of all shuffles, over the values that anybody gives in the part."""
        if (part, is_within) not in self.drawn:
            judge, people, sources = self.select(part)
            both = np.concatenate([judge.ravel(), people.ravel()])
            values = np.unique(both[~np.isnan(both)])
            seed = (*self.seed, SHUFFLES, int(part == "models"), int(is_within))
            rows = shuffled_judge(judge, people, sources if is_within else None, seed)
            self.drawn[part, is_within] = [confusions(*row, values) for row in rows]
        return self.drawn[part, is_within]

    def values(self, statistic, part, keys, asked, is_pooled, is_within, salt):
        """The statistic in each shuffle, of several items not pooled the mean of theirs.

        keys : of the items that have a value; asked : which items are shuffled together, None for all
        """
        if statistic in OF_CONFUSIONS:
            tables = [self.confusions(part, is_within)[key] for key in keys]
            compute = OF_CONFUSIONS[statistic]
            return compute(sum(tables)) if is_pooled else np.mean([compute(table) for table in tables], axis=0)
        judge, people, sources = self.select(part)
        asked = list(range(len(judge))) if asked is None else asked
        rows = shuffled_judge(judge[asked], people[asked], sources if is_within else None, (*self.seed, *salt))
        scores = [OF_ANSWERS[statistic](*row) for key, row in zip(asked, rows, strict=True) if key in keys]
        return np.mean(scores, axis=0)
