"""How strong sources and stories are that were compared: Bradley–Terry of pairs, Plackett–Luce of orders."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import exp
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from reports import reasons
from reports.dataset.choices import choices_of
from reports.document import columns, notes, plots
from reports.document.columns import LEAD, decimals, ends
from reports.document.leaderboard import Leader, Leaderboard
from reports.document.model import Block, DocumentSection, DrawnPlot, Files, Head, ReportTable, Subsection, TextBlock
from reports.document.phrases import in_language, joined, phrase, reason_words
from reports.document.values import Interval, Reason
from reports.figures.base import N_RESAMPLES, Figure, ItemRow, Listing, item_fields
from reports.lazy import strengths
from reports.numbers import measured, whole, with_interval
from stats.reasons import Incomputable

if TYPE_CHECKING:
    from reports.dataset import Dataset, StepItem
    from stats.arrays import IntArray

StoryOrder = tuple[list[list[str]], list[str]]  # places, and the rest of which nothing else was said


@dataclass(frozen=True, kw_only=True)
class Strength:
    """One competitor.

    value : log odds against the average one, which is 0
    percent : how often it would be taken beside the average one
    n_taken : decisions that it won, a shared one divided; n : those in which it stood
    """

    name: str
    source: str
    value: float
    interval: Interval
    percent: float
    n_taken: float
    n: float


@dataclass(frozen=True, kw_only=True)
class StrengthTable(ItemRow):
    """The sources, or the stories, of one question.

    unit : "sources" or "stories"
    model : "bradley_terry", "luce" for the choice out of more than two, or "plackett_luce"
    n_answers : answers that compare at least two of them; n_shared : those with a shared place, or without a preference
    why : there are no strengths
    """

    unit: str
    model: str
    n_answers: int
    n_shared: int
    n_clusters: int
    why: Reason | None = None
    strengths: tuple[Strength, ...] = ()


class Strengths(Figure[Listing[StrengthTable]]):
    key = "strengths"
    title = gettext_lazy("Bradley–Terry and Plackett–Luce strengths")
    position = 85
    section = "pairs"
    lead = 40
    tables = ("strengths",)
    pages_of = "stories"
    edition = 2
    is_shown_sealed = False

    def compute(self, dataset: Dataset) -> Listing[StrengthTable]:
        rows = []
        for item in (item for item in dataset.items if item.is_preference or item.is_ranking):
            orders, groups = _orders(dataset, item)
            if not orders:
                continue
            clusters = dataset.clusters_of(groups)
            rows.append(_table(dataset, item, orders, clusters, "sources", dataset.source_of))
            rows.append(_table(dataset, item, orders, clusters, "stories", str))
        return Listing(tuple(rows))

    def describe(self, result: Listing[StrengthTable], head: Head) -> Iterator[DocumentSection]:
        margin = [
            _(
                "A source of strength s is taken from a set with a probability proportional to exp(s). Unlike the "
                "share of choices, it takes into account which other stories each was shown with."
            ),
            _(
                "Stories of one source are one competitor; what was said among them alone does not count. "
                "Without a preference each wins a half; of stories that share a rank each is taken equally "
                "often (Breslow)."
            ),
            _(
                "Intervals are over clusters, raters held fixed. Resamples in which one always or never wins have no "
                "strengths; they are left out."
            ),
        ]
        intervals = (strength.interval for row in result.rows for strength in row.strengths)
        yield DocumentSection(
            heading=self.title,
            body=[_part(row, head, n) for n, row in enumerate(result.rows, start=1)],
            margin=[*(TextBlock(words=words) for words in margin), *notes.weakest(intervals)],
        )

    def leaderboard(self, result: Listing[StrengthTable], head: Head) -> Leaderboard | None:
        of_sources = [row for row in result.rows if row.unit == "sources" and row.strengths]
        if not of_sources:
            return None
        ranked = sorted(of_sources[0].strengths, key=lambda strength: -strength.value)
        leaders = [Leader(name=s.name, value=s.value, words=measured(s.value, 2), ends=s.interval) for s in ranked]
        return Leaderboard(
            title=_("Strength, log odds against the average source: %(question)s") % {"question": of_sources[0].title},
            leaders=tuple(leaders),
            notes=(_("Lines: 95 %% intervals over groups, raters held fixed.") % {},),
        )


def _orders(dataset: Dataset, item: StepItem) -> tuple[list[StoryOrder], list[str]]:
    """What each rater said of a group's stories, and of which group."""
    if item.is_preference:
        choices = choices_of(dataset, item)
        orders: list[StoryOrder] = [
            ([[choice.story]], [story for story in choice.order if story != choice.story])
            if choice.story
            else ([list(choice.order)], [])
            for choice in choices
        ]
        return orders, [choice.group for choice in choices]
    answers = dataset.answers_to(item)
    return [(list(order), []) for order in answers["value"]], list(answers["group"])


def _table(
    dataset: Dataset,
    item: StepItem,
    orders: Sequence[StoryOrder],
    clusters: IntArray,
    unit: str,
    name_of: Callable[[str], str],
) -> StrengthTable:
    """The strengths of what stories are named by."""
    compared = _named(orders, clusters, name_of)
    names = sorted({name for (places, rest), _cluster in compared for place in (*places, rest) for name in place})
    index = {name: n for n, name in enumerate(names)}
    entered = [
        strengths.Order([[index[name] for name in place] for place in places if place], [index[name] for name in rest])
        for (places, rest), _cluster in compared
    ]
    fields: dict[str, Any] = {
        **item_fields(item),
        "unit": unit,
        "model": _model(item, orders),
        "n_answers": len(compared),
        "n_shared": sum(any(len(place) > 1 for place in places) for (places, _rest), _cluster in compared),
        "n_clusters": len({cluster for _order, cluster in compared}),
    }
    material = strengths.decisions(entered, [cluster for _order, cluster in compared], len(names))
    try:
        values = strengths.strengths(material)
    except Incomputable as error:
        return StrengthTable(**fields, why=Reason.of(error))
    ends = strengths.strength_intervals(material, rng=dataset.resampling(), n_resamples=N_RESAMPLES)
    # How often each could be taken, and was.
    n_decided, wins = material.n.sum(axis=0) @ (material.sets > 0), material.wins.sum(axis=0)
    rows = [
        Strength(
            name=name,
            source=dataset.source_of(name) if unit == "stories" else "",
            value=float(values[n]),
            interval=Interval.of(ends[n]),
            percent=100 / (1 + exp(-float(values[n]))),
            n_taken=float(wins[n]),
            n=float(n_decided[n]),
        )
        for name, n in index.items()
    ]
    return StrengthTable(**fields, strengths=tuple(sorted(rows, key=lambda row: (-row.value, row.name))))


def _named(
    orders: Sequence[StoryOrder], clusters: IntArray, name_of: Callable[[str], str]
) -> list[tuple[tuple[list[list[str]], list[str]], int]]:
    """The orders between what stories are named by, of those that compare two of them, each with its cluster.

    A story without a name is in no order; but of a choice it must be known what was chosen, and from what.
    """
    named = [
        (([[name_of(s) for s in place if name_of(s)] for place in places], [name_of(s) for s in rest]), cluster)
        for (places, rest), cluster in zip(orders, clusters.tolist(), strict=True)
        if not rest or all(name_of(s) for s in [*places[0], *rest])
    ]
    return [pair for pair in named if len({name for place in (*pair[0][0], pair[0][1]) for name in place}) > 1]


def _model(item: StepItem, orders: Sequence[StoryOrder]) -> str:
    if item.is_ranking:
        return "plackett_luce"
    most = max(sum(map(len, places)) + len(rest) for places, rest in orders)
    return "bradley_terry" if most <= 2 else "luce"


def _plot(row: StrengthTable) -> plots.DifferencePlot | None:
    """Sources from the strongest, against the average one."""
    if row.unit != "sources" or not row.strengths:
        return None
    marks = [
        plots.DifferenceMark(
            strength.name,
            strength.value,
            strength.interval.low,
            strength.interval.high,
            is_clear=strength.interval.low is not None
            and strength.interval.high is not None
            and (strength.interval.low > 0 or strength.interval.high < 0),
            is_weak=strength.interval.is_weak,
            text=with_interval(strength.value, strength.interval, 2),
        )
        for strength in row.strengths
    ]
    ends = plots.ends_of(marks)
    return plots.DifferencePlot(marks, plots.difference_axis(ends)) if any(ends) else None


def _part(row: StrengthTable, head: Head, number: int) -> Subsection:
    """The strengths of one question; where there are none, why."""
    unit = _(": sources") if row.unit == "sources" else _(": stories")
    clusters = ngettext("%(shown)s cluster", "%(shown)s clusters", row.n_clusters) % {"shown": whole(row.n_clusters)}
    counted = ngettext("%(shown)s answer, %(clusters)s", "%(shown)s answers, %(clusters)s", row.n_answers)
    blocks: list[Block] = [TextBlock(words=reason_words(row.why), css="off")] if row.why else []
    if plot := _plot(row):
        title = _("Strength of each source, log odds against the average one")
        described = _("The same numbers stand in the table below.")
        blocks.append(DrawnPlot(plot=plot, title=title, described=described, label=row.title))
    words = counted % {"shown": whole(row.n_answers), "clusters": clusters}
    return Subsection(
        heading=joined(in_language(row.title, head.language), unit, by=""),
        blocks=[*blocks, _table_of(row, number), Files(words=words, table="strengths", is_count=True)],
    )


def _table_of(row: StrengthTable, number: int) -> ReportTable[Strength | None]:
    """The competitors; without strengths a row of the file that says why."""
    models = {
        "bradley_terry": _("Bradley–Terry, from pairs."),
        "luce": _("Luce’s choice model, from choices out of several."),
        "plackett_luce": _("Plackett–Luce, from orders."),
    }
    is_of_sources = row.unit == "sources"

    def taken(strength: Strength | None) -> str:
        counts = (measured(strength.n_taken), measured(strength.n)) if strength else ("", "")
        return _("%(taken)s of %(n)s") % {"taken": counts[0], "n": counts[1]}

    def note(strength: Strength | None) -> str:
        why = strength.interval.why if strength else row.why
        return reasons.to_english(why) if why else (strength and strength.interval.note) or ""

    def of(name: str) -> Callable[[Strength | None], Any]:
        return lambda strength: getattr(strength, name, None)

    return ReportTable(
        name="strengths",
        label=_("Strengths of sources and stories, table %(n)s") % {"n": number},
        caption=joined(models[row.model], _("Log odds; 0 is the average.")),
        rows=row.strengths or ([None] if row.why else []),
        is_shown=row.why is None,
        columns=[
            columns.item_in_file(lambda strength: row),
            columns.constants(unit=row.unit, model=row.model),
            columns.words("name", _("Source") if is_of_sources else _("Story"), of("name"), is_head=True),
            columns.words("source", None if is_of_sources else _("Source"), of("source")),
            columns.number("strength", _("Strength"), of("value"), write=decimals(2), css=LEAD),
            columns.interval(of("interval"), write=ends(2)),
            columns.number(
                "beside_average_percent", phrase(_("Beside the<br>average, %%")), of("percent"), write=decimals(0)
            ),
            columns.number("n_taken", _("Taken"), of("n_taken"), shown=taken),
            columns.in_file("n_stood", of("n")),
            columns.constants(n_answers=row.n_answers, n_shared=row.n_shared, n_clusters=row.n_clusters),
            columns.note(note),
        ],
    )
