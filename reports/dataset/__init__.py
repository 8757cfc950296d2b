"""What one study's results are computed from, read once: its questions, its answers, and its sources unless sealed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from annotation.models import Rater, Response
from judges.models import Judge
from reports.dataset import answers, cubes, grades, ideas, jury, readings
from reports.dataset.cubes import Cube
from reports.dataset.grades import GradedAnswer
from reports.dataset.ideas import IdeaPanel
from reports.dataset.outcomes import OutcomeTable, outcome_tables
from reports.dataset.premises import find_clusters
from reports.dataset.readings import JudgeReading
from reports.dataset.sources import StorySource, source_by_story
from reports.dataset.step_items import StepItem, step_items
from reports.lazy import np, pd
from stats.reasons import Incomputable
from studies import lifecycle, protocol
from studies.documents.analysis_plan import AnalysisPlan
from studies.models import Source, Study
from studies.premises import Clusters

if TYPE_CHECKING:
    import numpy.typing as npt

    from reports.dataset.cubes import Pair
    from reports.dataset.exclusions import Exclusion
    from reports.dataset.judged import Judged
    from reports.dataset.records import Records
    from reports.dataset.scored_clozes import ScoredCloze
    from reports.dataset.scored_ideas import ScoredIdeas
    from stats.arrays import BoolArray, IntArray

# Counts up when other answers count, or what is read of them changes: reports are computed anew.
EDITION = 16
SHUFFLES = 1  # of the seed
KINDS_IN_ORDER = (Source.Kind.EXPERT, Source.Kind.AMATEUR, Source.Kind.OTHER, Source.Kind.MODEL)


def is_sealed(study: Study) -> bool:
    """Whether results by source are neither computed nor shown: until the study is closed."""
    return lifecycle.is_sealed(study)


@dataclass(frozen=True)
class Dataset:
    """Answers that count, by people and by judges, with what they are about.

    items : every item in the step that asks it
    answers : all of them, also those that do not count
    source_by_story : who wrote each story, by its code; empty if sealed
    units : every (group, story) of the study
    without : codes of judges and metrics that are left out; see `readings.find_partial_readers`
    """

    study: Study
    is_sealed: bool
    items: tuple[StepItem, ...]
    answers: pd.DataFrame
    source_by_story: dict[str, StorySource]
    units: tuple[tuple[str, str], ...]
    without: frozenset[str] = frozenset()

    @classmethod
    def of(cls, study: Study, *, blind: bool = False, without: frozenset[str] = frozenset()) -> Dataset:
        """The dataset of a study; sealed while the study is, and for readers who are to stay blind."""
        sealed = blind or is_sealed(study)
        sources = {} if sealed else source_by_story(study)
        return cls(
            study=study,
            is_sealed=sealed,
            items=tuple(step_items(study)),
            answers=answers.table(study, sources, without=without),
            source_by_story=sources,
            units=tuple(cubes.list_units(study)),
            without=without,
        )

    @cached_property
    def plan(self) -> AnalysisPlan | None:
        """The analysis plan as it was frozen with the protocol; None if nothing was planned. One query."""
        return protocol.frozen_plan(self.study)

    @cached_property
    def records(self) -> Records:
        """What stands beside the answers."""
        # It needs the dataset itself, so it can only be imported once it is there.
        from reports.dataset.records import Records

        return Records(self)

    @cached_property
    def outcomes(self) -> list[OutcomeTable]:
        """What sources are compared on, story by story."""
        return outcome_tables(self)

    @property
    def whole_outcomes(self) -> list[OutcomeTable]:
        """The outcomes that are no part of another."""
        return [table for table in self.outcomes if not table.outcome.is_part]

    @cached_property
    def exclusions(self) -> list[Exclusion]:
        """What each exclusion rule of the plan leaves out; none without a plan."""
        # It needs the dataset itself, so it can only be imported once it is there.
        from reports.dataset.exclusions import find_exclusions

        return find_exclusions(self, self.plan) if self.plan else []

    @cached_property
    def compared(self) -> dict[tuple[str, str], Any]:
        """How sources compare on outcomes, by their keys and by what is left out, as far as it was computed so far;
        `figures.sources.planned_contrasts` fills it. Many figures are about the same."""
        return {}

    def as_planned(self, table: OutcomeTable) -> OutcomeTable:
        """An outcome that the plan names without what its exclusion rules leave out; any other as it is."""
        from reports.dataset.exclusions import join, leave_out

        plan = self.plan
        if plan is None or not plan.rules or table.outcome.key not in (plan.outcome, *plan.secondary):
            return table
        return leave_out(self, table, join(self, self.exclusions))

    @cached_property
    def people(self) -> pd.DataFrame:
        return answers.select_people(answers.select_counted(self.answers))

    @cached_property
    def _of_judges(self) -> pd.DataFrame:
        """The answers of judges that count, those of the standard among them."""
        return answers.select_judges(answers.select_counted(self.answers))

    def _is_of_standard(self, rows: pd.DataFrame) -> pd.Series:
        """Which of these rows are labels of the standard that were imported as answers."""
        return rows["rater"] == (self.plan.standard_rater if self.plan else "")

    @cached_property
    def all_readings(self) -> pd.DataFrame:
        """Judges' answers in every reading, of one group as often as it was read."""
        is_label = self._is_of_standard(self._of_judges)
        return self._of_judges[~is_label] if is_label.any() else self._of_judges

    @cached_property
    def standard_answers(self) -> pd.DataFrame:
        """The labels of the standard that were imported as answers, one for each item and unit."""
        return self._one_value(self._of_judges[self._is_of_standard(self._of_judges)])

    @cached_property
    def reading_by_assignment(self) -> dict[int, JudgeReading]:
        """How each assignment of a judge read its group. Three queries, none without judges."""
        return readings.list_readings(self.study) if len(self._of_judges) else {}

    @cached_property
    def judges(self) -> pd.DataFrame:
        """Judges' answers, one for each judge, item and unit."""
        return self._one_value(self.all_readings)

    def _one_value(self, rows: pd.DataFrame) -> pd.DataFrame:
        scales = {item.key for item in self.items if item.is_scale}
        return readings.take_one_value(rows, self.reading_by_assignment, scales=scales)

    @cached_property
    def graded_answers(self) -> list[GradedAnswer]:
        """How probable each answer of judges was that count, where servers said so. One query, none where no judge
        asked for it."""
        asking = [slug for slug, judge in self.judge_by_slug.items() if judge.parameters.get(grades.ASKS)]
        if not asking:
            return []
        counted = set(self.all_readings["assignment"])
        return [answer for answer in grades.list_grades(self.study, asking) if answer.assignment in counted]

    @cached_property
    def models(self) -> pd.DataFrame:
        """The answers of models that count: one for each judge, item and unit."""
        return self.judges[self.judges["rater_kind"] == Rater.Kind.MODEL]

    @cached_property
    def models_with_jury(self) -> pd.DataFrame:
        """The same with the answers of the jury that the plan names, and with expected scores of judges whose
        probabilities are known, as if each were one of them."""
        further = [rows for rows in (jury.jury_rows(self), jury.expected_rows(self)) if len(rows)]
        tables = [table.astype(object) for table in (self.models, *further)]
        return pd.concat(tables, ignore_index=True) if further else self.models

    @cached_property
    def judged_by_items(self) -> dict[tuple[tuple[Pair, ...], bool], Judged | None]:
        """What judges and people answered to the same items, of those that were read so far; `judged.judged` fills it.
        Many figures are about the same."""
        return {}

    @cached_property
    def scored_cloze(self) -> ScoredCloze | None:
        """The filled texts of a cloze with the parts of their scores; None if no such texts were judged. By source, so
        only for figures that are hidden while sealed."""
        # Both need the dataset itself, so they can only be imported once it is there.
        from reports.dataset.judged_clozes import read_judged_cloze, read_published_sections
        from reports.dataset.scored_clozes import score_cloze

        judged = read_judged_cloze(self)
        return score_cloze(judged, None if judged else read_published_sections(self), self.plan, study=self.study)

    @cached_property
    def nsv_panel(self) -> IdeaPanel | Incomputable | None:
        """What people say of ideas on the scales that the plan names; None if it names none."""
        if self.plan is None or not self.plan.nsv_target:
            return None
        try:
            return ideas.read_panel(self, self.plan)
        except Incomputable as reason:
            return reason

    @cached_property
    def scored_ideas(self) -> ScoredIdeas | Incomputable | None:
        """Ideas with novelty, surprise and value, and a score fitted as planned; why there is none, or None if nothing
        is planned. By source, so only for figures that are hidden while sealed."""
        from reports.dataset.scored_ideas import score_ideas

        plan, panel = self.plan, self.nsv_panel
        if panel is None or isinstance(panel, Incomputable):
            return panel
        try:
            return score_ideas(self, plan, panel) if plan else None
        except Incomputable as reason:
            return reason

    @cached_property
    def judge_by_slug(self) -> dict[str, Judge]:
        """Every model that ran here. One query."""
        return {
            judge.slug: judge
            for judge in Judge.objects.judging()
            .filter(runs__study=self.study, metric="")
            .exclude(slug__in=self.without)
            .select_related("prompt__proposal", "endpoint")
            .distinct()
        }

    @cached_property
    def sources(self) -> list[tuple[str, str]]:
        """Name and kind of every source: people before models, then by name. None while sealed."""
        names = {(source.name, source.kind) for source in self.source_by_story.values()}
        order = KINDS_IN_ORDER
        return sorted(names, key=lambda source: (order.index(Source.Kind(source[1])), source[0].casefold()))

    @cached_property
    def raters(self) -> list[str]:
        """Every person among the answers that count, by code."""
        return sorted(self.people["rater"].unique())

    @cached_property
    def _people_by_key(self) -> dict[Any, pd.DataFrame]:
        return dict(iter(self.people.groupby(["step", "item"], sort=False)))

    @property
    def verdict_items(self) -> list[StepItem]:
        """The items answered Yes or No about each story."""
        return [item for item in self.items if item.type.is_verdict and item.is_about_a_story]

    @cached_property
    def verdict_cube(self) -> Cube:
        """People's verdicts, of which much is computed."""
        items = self.verdict_items
        table = self._people_of(items[0]) if len(items) == 1 else self.people
        return cubes.build_cube(table, [item.key for item in items], raters=self.raters, units=self.units)

    def rng(self, *salt: int) -> np.random.Generator:
        """Chance for one purpose, from the study's seed: the same for the same study, whatever else is computed."""
        return np.random.default_rng([abs(self.study.seed), *salt])

    def resampling(self) -> np.random.Generator:
        """Chance for the resamples of clusters, each time from its beginning: intervals over as many clusters rest on
        the same resamples, which are drawn once."""
        return self.rng()

    def shuffling(self) -> np.random.Generator:
        """Chance for shuffles within raters, each time from its beginning: chance floors over the same readings rest on
        the same shuffles, which are drawn once."""
        return self.rng(SHUFFLES)

    def cube(self, items: list[StepItem], table: pd.DataFrame | None = None) -> Cube:
        """People's answers over all units of the study, so that several items of one scope line up."""
        if table is None and items and all(item.type.is_verdict and item.is_about_a_story for item in items):
            return self.verdict_cube.take_items([item.key for item in items])
        units = self.units if all(item.is_about_a_story for item in items) else self._groups
        if table is None:
            table = self._people_of(items[0]) if len(items) == 1 else self.people
        return cubes.build_cube(table, [item.key for item in items], raters=self.raters, units=units)

    def answers_to(self, item: StepItem) -> pd.DataFrame:
        """What people answered to one item."""
        of_item = self._people_of(item)
        return of_item[of_item["outcome"] == Response.Outcome.ANSWERED]

    def _people_of(self, item: StepItem) -> pd.DataFrame:
        return self._people_by_key.get(item.key, self.people.iloc[:0])

    @cached_property
    def _groups(self) -> tuple[Pair, ...]:
        """Every group of the study as a unit."""
        return tuple((group, "") for group in dict.fromkeys(group for group, _ in self.units))

    @cached_property
    def sampled(self) -> Clusters:
        """What each story was sampled with. One query, up to four where groups may be batches."""
        return find_clusters(self.study, self.source_by_story, self.items)

    @cached_property
    def _number_by_cluster(self) -> dict[str, int]:
        names = {*self.sampled.by_group.values(), *(self.sampled.name(*unit) for unit in self.units)}
        return {name: n for n, name in enumerate(sorted(names))}

    def clusters(self, cube: Cube) -> IntArray:
        """The cluster of each unit of the cube."""
        return self.clusters_of_units(cube.units)

    def clusters_of_units(self, units: Iterable[Pair]) -> IntArray:
        """The cluster of each of these units, shape (U,), numbered in the order of their names; of those of the study
        found once. Of an answer about a group as a whole, whose unit has no story, it is that of the group."""
        return self._clusters if units is self.units else self._number_clusters(units)

    @cached_property
    def _clusters(self) -> IntArray:
        return self._number_clusters(self.units)

    def _number_clusters(self, units: Iterable[Pair]) -> IntArray:
        numbers, sampled = self._number_by_cluster, self.sampled
        return np.array([numbers[sampled.name(*unit)] for unit in units], dtype=np.int64)

    def blocks_of_units(self, units: Iterable[Pair]) -> IntArray:
        """What each of these units shares with others beside raters, as a premise, numbered, shape (U,)."""
        numbers = {name: n for n, name in enumerate(sorted(set(self.sampled.by_group.values())))}
        return np.array([numbers.get(self.sampled.block(group), -1) for group, _story in units], dtype=np.int64)

    def clusters_of(self, groups: Iterable[str]) -> IntArray:
        """The cluster of each of these groups, where what is counted is about groups, not about single stories."""
        return self.clusters_of_units((group, "") for group in groups)

    def source_of(self, story: str) -> str:
        """Who wrote the story; nothing while sealed, or if the study does not say."""
        source = self.source_by_story.get(story)
        return source.name if source else ""

    def story_factor(self, story: str, name: str) -> str:
        """A factor of the story, in small letters; nothing while sealed, or if it has none of that name."""
        source = self.source_by_story.get(story)
        return str(source.factors.get(name, "")).casefold() if source else ""

    def is_of_source(self, cube: Cube, source: str) -> BoolArray:
        """Which units of the cube are of that source, shape (U,); of those of the study found once."""
        if cube.units is self.units:
            return self._is_of_source[source]
        return np.asarray(self.sources_of_units(cube.units) == source, dtype=np.bool_)

    @cached_property
    def _is_of_source(self) -> dict[str, BoolArray]:
        sources = self._sources_of_units
        return {name: np.asarray(sources == name, dtype=np.bool_) for name, _kind in self.sources}

    def sources_of_units(self, units: Sequence[Pair]) -> npt.NDArray[np.object_]:
        """Who wrote each of these units, shape (U,); of those of the study found once."""
        return self._sources_of_units if units is self.units else np.array(self._sources_of(units), dtype=object)

    @cached_property
    def _sources_of_units(self) -> npt.NDArray[np.object_]:
        return np.array(self._sources_of(self.units), dtype=object)

    def _sources_of(self, units: Iterable[Pair]) -> list[str]:
        return [self.source_of(story) for _group, story in units]

    def units_by_source(self, cube: Cube) -> list[tuple[str, BoolArray]]:
        """All units of the cube (""), then those of each source, shape (U,) each."""
        everything = np.ones(len(cube.units), dtype=np.bool_)
        return [("", everything), *((name, self.is_of_source(cube, name)) for name, _kind in self.sources)]

    def is_of_kind(self, cube: Cube, kind: str) -> BoolArray:
        """Which units of the cube are of a source of that kind, shape (U,)."""
        of_kind = {story for story, source in self.source_by_story.items() if source.kind == kind}
        return np.array([story in of_kind for story in cube.stories], dtype=np.bool_)


__all__ = ["Cube", "Dataset", "OutcomeTable", "StepItem", "is_sealed"]
