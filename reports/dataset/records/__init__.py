"""What stands in the tables of a study beside its answers, read when a figure asks for it: figures have no queries."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from judges.models import ScoreCard
from reports.dataset.records import (
    alignments,
    begun_readings,
    costs,
    participation,
    prompts,
    reading_times,
    references,
    texts,
    writers,
)
from reports.dataset.step_items import metric_items
from reports.dataset.versions import count_answers_by_version
from reports.rationales import codings
from studies import protocol

if TYPE_CHECKING:
    from collections import Counter

    from reports.dataset import Dataset, StepItem
    from reports.dataset.records.alignments import AlignedJudge
    from reports.dataset.records.begun_readings import BegunReading
    from reports.dataset.records.costs import Spending
    from reports.dataset.records.participation import Participation
    from reports.dataset.records.reading_times import TimedReading
    from reports.dataset.records.references import References
    from reports.dataset.records.writers import Writer
    from reports.rationales.codings import CodedSample
    from studies.layouts.items import CheckOptions
    from studies.models import Amendment, Cloze, ProtocolVersion


class Records:
    """Each is read once, in as many queries as its function says."""

    def __init__(self, dataset: Dataset) -> None:
        self._dataset, self._study = dataset, dataset.study

    # ── people ─────────────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def participation(self) -> Participation:
        return participation.read_participation(self._study)

    @cached_property
    def has_simulated(self) -> bool:
        """Whether a person whose answers count is simulated."""
        return participation.has_simulated(self._study, self._dataset.raters)

    @cached_property
    def n_failed_by_step(self) -> Counter[str]:
        return participation.count_failures(self._study)

    @cached_property
    def failed_raters(self) -> set[str]:
        return participation.list_failed_raters(self._study)

    @cached_property
    def recognised(self) -> set[tuple[str, str, str]]:
        return participation.list_recognised(self._study)

    @cached_property
    def place_by_story(self) -> dict[tuple[int, str], int]:
        """By assignment and story; see `reading_times.read_places`."""
        return reading_times.read_places(self._dataset)

    @cached_property
    def begun_readings(self) -> list[BegunReading]:
        return begun_readings.read_begun_readings(self._dataset)

    @cached_property
    def timed_readings(self) -> list[TimedReading]:
        return reading_times.read_timed_readings(self._dataset)

    @cached_property
    def seconds_by_story(self) -> list[int]:
        return reading_times.read_seconds_by_story(self._study)

    @cached_property
    def coded_samples(self) -> list[CodedSample]:
        """Samples of reasons that two people have coded."""
        return codings.read_done(self._study)

    @cached_property
    def themes(self) -> list[tuple[int, str]]:
        """Number and name of every theme of the codebook, in its order. One query."""
        return list(self._study.themes.order_by("position").values_list("pk", "name"))

    # ── the protocol ───────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def check_options_by_step(self) -> dict[str, CheckOptions]:
        """What follows a failed check, by the key of its step."""
        return {step.key: options for step, options in protocol.load_protocol(protocol.latest(self._study)).checks}

    @cached_property
    def amendments(self) -> list[Amendment]:
        """By number. One query."""
        amended = self._study.amendments.select_related("version").defer("version__document")
        return list(amended.order_by("number"))

    @cached_property
    def launched_version(self) -> ProtocolVersion:
        return self._study.frozen_versions.defer("document")[0]

    @cached_property
    def n_answers_by_version(self) -> Counter[int]:
        return count_answers_by_version(self._dataset.people)

    # ── texts ──────────────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def text_by_story(self) -> dict[str, str]:
        return texts.read_text_keys(self._study)

    @cached_property
    def references(self) -> list[References]:
        return references.read_references(self._study)

    @cached_property
    def cloze(self) -> Cloze | None:
        return writers.find_cloze(self._study)

    @cached_property
    def writers(self) -> list[Writer]:
        """Of the cloze; nobody without one."""
        return writers.read_writers(self._study, self.cloze) if self.cloze else []

    # ── judges ─────────────────────────────────────────────────────────────────────────────────────────────────────

    @cached_property
    def spending(self) -> list[Spending]:
        return costs.read_spending(self._study, without=self._dataset.without)

    @cached_property
    def score_cards(self) -> list[ScoreCard]:
        """What scores that were brought in are about, and which way is better. One query."""
        cards = ScoreCard.objects.filter(study=self._study).exclude(rater__code__in=self._dataset.without)
        return list(cards.select_related("rater"))

    @cached_property
    def metric_items(self) -> list[StepItem]:
        return metric_items(self._study)

    @cached_property
    def prompts_by_model(self) -> dict[str, dict[str, str]]:
        return prompts.read_prompts_by_model(self._study, without=self._dataset.without)

    @cached_property
    def aligned_judges(self) -> list[AlignedJudge]:
        return alignments.read_aligned_judges(self._study, without=self._dataset.without)

    @cached_property
    def judges_told_answers(self) -> set[str]:
        return prompts.read_judges_told_answers(self._study)

    def read_models(self, slugs: Iterable[str]) -> dict[str, str]:
        return prompts.read_models(slugs)
