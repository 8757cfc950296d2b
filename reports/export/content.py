"""What a package of a study is to hold, and what a table of it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.db.models import QuerySet

from annotation.models import Assignment, Response
from judges.models import Call
from reports.dataset.answers import responses
from reports.dataset.readings import find_partial_readers
from reports.dataset.sources import StorySource, source_by_story
from reports.dataset.step_items import StepItem, metric_items, step_items
from studies.models import Study

Row = dict[str, Any]


@dataclass(frozen=True)
class TableField:
    """A column of a table. type : as a Data Package names it"""

    meaning: str
    type: str = "string"


@dataclass(frozen=True)
class PackageContent:
    """One study as it is taken away.

    with_sources : whether who wrote the stories may stand in it; whoever asks has made sure that it may
    is_public : leave out texts that must not travel
    """

    study: Study
    with_sources: bool = False
    is_public: bool = False

    @cached_property
    def items(self) -> tuple[StepItem, ...]:
        """Every item that people are asked, in order."""
        return tuple(step_items(self.study))

    @cached_property
    def all_items(self) -> tuple[StepItem, ...]:
        """Every item, those of metrics included."""
        return (*self.items, *metric_items(self.study))

    @cached_property
    def source_by_story(self) -> dict[str, StorySource]:
        """Who wrote each story, by its code; empty of a blind package."""
        return source_by_story(self.study) if self.with_sources else {}

    @cached_property
    def may_tell_texts_apart(self) -> bool:
        """Whether a story may show that it has a text. Not in a blind package of a study with withheld texts.

        Rights to texts go by source, so which text is missing would say whose it is, and so would a length of 0, the
        hash of nothing, or an empty cell beside full ones. One query.
        """
        return self.with_sources or not self.study.stories.filter(is_withheld=True).exists()

    @cached_property
    def left_out_readers(self) -> frozenset[str]:
        """Codes of the judges and metrics that a blind package leaves out: those that did not read every story.

        They could not read what is withheld or may not be sent, and rights go by source: a story about which one of
        them has no answer would be known by that. Three queries.
        """
        return frozenset() if self.with_sources else find_partial_readers(self.study)

    @property
    def calls(self) -> QuerySet[Call]:
        """The requests that are taken along: of a blind package those to judges that it holds. What wrote, measured or
        was tried in other runs tells of sources, or of which texts could be read."""
        calls = Call.objects.filter(run__study=self.study)
        if self.with_sources:
            return calls
        held = self.assignments.filter(reading__run__isnull=False).order_by().values("rater__code")
        return calls.filter(run__judge__slug__in=held)

    @property
    def responses(self) -> QuerySet[Response]:
        """The responses that are taken along: not of a practice, nor of raters who withdrew or are left out."""
        taken = responses(self.study).filter(assignment__rater__withdrawal=None)
        return taken.exclude(assignment__rater__code__in=self.left_out_readers)

    @property
    def assignments(self) -> QuerySet[Assignment]:
        """The assignments that are taken along, in a lasting order."""
        rows = self.study.assignments.filter(rater__withdrawal=None).exclude(rater__code__in=self.left_out_readers)
        return rows.order_by("rater__code", "group__code", "seat__number", "started_at", "pk")

    def responses_to(self, items: list[StepItem]) -> QuerySet[Response]:
        """The responses to some of the items."""
        keys = {item.key for item in items}
        of_items = self.responses.filter(step__key__in={step for step, _item in keys})
        return of_items.filter(item__key__in={item for _step, item in keys})


@dataclass(frozen=True)
class PackageTable:
    """A CSV file of a package.

    fields : its columns by name; rows : its rows, from the database as they are read
    is_needed : whether `recompute.py` reads it, so that it is in every package
    needs_sources : of one that is empty in blind packages: whether it may have rows in one with sources
    """

    name: str
    meaning: str
    fields: Callable[[PackageContent], Mapping[str, TableField]]
    rows: Callable[[PackageContent], Iterator[Row]]
    count: Callable[[PackageContent], int]
    is_needed: bool = False
    needs_sources: Callable[[Study], bool] | None = None
