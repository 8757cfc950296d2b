"""What was answered about one story, item by item, and what metrics measured of it beside all stories."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from annotation.models import Rater
from reports.figures.base import Listing
from reports.figures.texts.measures import Measure
from reports.models import Report
from reports.numbers import measured
from reports.page.stored_figures import read_stored_figure
from reports.rationales.queries import RationaleRow, verdict_types
from studies.models import Item

YES = "yes"


@dataclass(frozen=True)
class StoryAnswer:
    """One answer. page : on which its reason stands; None if it has none"""

    row: RationaleRow
    page: int | None


@dataclass(frozen=True)
class ItemAnswers:
    """The answers to one item. n_yes : of people, of n; None of an item that is not answered Yes or No"""

    item: Item
    people: Sequence[StoryAnswer]
    judges: Sequence[StoryAnswer]
    n_yes: int | None
    n: int


@dataclass(frozen=True)
class Measurement:
    """One item of a metric over all stories: the mean of their values and the standard deviation, in words"""

    metric: str
    step: str
    item: str
    mean: str
    sd: str


def sort_answers(rows: Sequence[RationaleRow], page_by_reason: Mapping[int, int]) -> ItemAnswers:
    """The answers to one item, of people and of judges. rows : at least one"""
    item = rows[0].item
    people = [row for row in rows if row.is_person]
    answered = [row for row in people if row.is_answered]
    is_verdict = item.type in verdict_types()
    return ItemAnswers(
        item=item,
        people=[StoryAnswer(row, page_by_reason.get(row.pk)) for row in people],
        judges=[StoryAnswer(row, page_by_reason.get(row.pk)) for row in rows if row.kind == Rater.Kind.MODEL],
        n_yes=sum(row.value == YES for row in answered) if is_verdict else None,
        n=len(answered),
    )


def list_measurements(report: Report) -> list[Measurement]:
    """What metrics measured over all stories of the study. Raises Undecodable."""
    measures: Listing[Measure] | None = read_stored_figure(report, "measures")
    return list(_summaries(measures.rows if measures else ()))


def _summaries(measures: Sequence[Measure]) -> Iterator[Measurement]:
    for row in measures:
        overall, places = row.overall, row.n_decimals
        sd = "" if overall.sd is None else measured(overall.sd, places)
        yield Measurement(row.metric, row.step, row.item, measured(overall.mean, places), sd)
