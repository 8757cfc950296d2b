"""What people and a judge say of each source together: prediction-powered means, where people read a random part.

The judge's error is measured where people read too, and taken away where only the judge did. That holds only if the
stories of people are a random part within the source: they say so themselves, by the factor `drawn`, which is yes for
those drawn for people and no for the others. Nor may answers of people have stood in the judge's prompt, since by them
its error is measured. Where either fails there is a reason and no number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import ceil, floor
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from reports.dataset.judged import asked_units, judged
from reports.dataset.jury import name_expected, name_jury
from reports.document import columns, plots
from reports.document.columns import LEAD, decimals
from reports.document.model import (
    Block,
    DocumentSection,
    DrawnPlot,
    Files,
    Head,
    ReportTable,
    Subsection,
    TableColumn,
    TextBlock,
)
from reports.document.phrases import in_language, joined, phrase, reason_words
from reports.document.values import Interval, Reason
from reports.figures.base import Figure, Listing, without_value
from reports.figures.judges import reading_plan
from reports.lazy import arrays, np, prediction_powered
from reports.numbers import coefficient, decimal
from reports.numbers import interval as between
from reports.reasons import to_english
from stats.reasons import Incomputable

if TYPE_CHECKING:
    from reports.dataset import Dataset, StepItem
    from reports.dataset.judged import Judged
    from stats.arrays import BoolArray, FloatArray
    from stats.prediction_powered import Mean as PoweredValue
    from stats.prediction_powered import PoweredMean, Ratings

FACTOR = "drawn"
WANTED = 0.05  # half the width of an interval for which stories are counted, as a share of the scale


@dataclass(frozen=True, kw_only=True)
class MeanWithEnds:
    value: float
    interval: Interval


@dataclass(frozen=True, kw_only=True)
class SourceEstimate:
    """One source: people alone, people and judge together, or why there is neither.

    weight : of the judge, between 0 and 1
    n, n_judged : clusters of stories with people and the judge, and with the judge only
    width_gained : percent by which the interval is narrower
    n_filled_in : answers of the judge that are missing, for which the constant stands
    n_needed_alone, n_needed : clusters that people must read for the wanted width, alone and with the judge, with both
        ends; None where nobody can tell
    hours_alone, hours : of people, that this takes at the median time of this study; None where no time is known
    """

    source: str
    people: MeanWithEnds | None = None
    together: MeanWithEnds | None = None
    weight: float | None = None
    n: int = 0
    n_judged: int = 0
    width_gained: float | None = None
    n_filled_in: int = 0
    n_needed_alone: int | None = None
    n_needed: int | None = None
    n_needed_alone_low: int | None = None
    n_needed_alone_high: int | None = None
    n_needed_low: int | None = None
    n_needed_high: int | None = None
    hours_alone: float | None = None
    hours: float | None = None
    why: Reason | None = None

    @property
    def means(self) -> tuple[MeanWithEnds, ...]:
        return tuple(mean for mean in (self.people, self.together) if mean is not None)


def _marks(part: SourceEstimate) -> tuple[plots.Mark, ...]:
    return tuple(plots.Mark.of(n, mean.value, mean.interval) for n, mean in enumerate(part.means))


@dataclass(frozen=True, kw_only=True)
class JudgeEstimates:
    """One judge on one question. kind : "yes_percent" over all verdicts of a story, or "rating" of one item

    constant : what stands for a missing answer of the judge: the middle of the scale, fixed beforehand
    half_width : the wanted half of an interval's width; None of a scale without ends
    """

    judge: str
    kind: str
    item: str
    title: str
    constant: float | None
    half_width: float | None
    by_source: tuple[SourceEstimate, ...]

    @property
    def plot(self) -> plots.DotPlot | None:
        """People alone and people with the judge, source by source; None without a value."""
        estimates = [part for part in self.by_source if part.people and part.together]
        ends = [end for part in estimates for mean in part.means for end in (mean.interval.low, mean.interval.high)]
        numbers = [end for end in ends if end is not None]
        if not numbers:
            return None
        axis = plots.scale_axis(floor(min(numbers)), ceil(max(numbers))) if self.item else plots.PERCENT
        rows = [plots.PlotRow(part.source, "", _marks(part)) for part in estimates]
        return plots.DotPlot(rows, [_("People alone"), _("People and judge")], axis)

    @property
    def places(self) -> int:
        """Decimals of its means: of percentages fewer."""
        return 2 if self.item else 1


class PeopleAndJudge(Figure[Listing[JudgeEstimates]]):
    key = "people_and_judge"  # its name in every report that was ever stored
    title = gettext_lazy("Prediction-powered means")
    position = 128
    section = "judges"
    tables = ("people-and-judge",)
    edition = 4
    is_shown_sealed = False

    def compute(self, dataset: Dataset) -> Listing[JudgeEstimates]:
        verdicts = judged(dataset, dataset.verdict_items, with_jury=True)
        informed = dataset.records.judges_told_answers
        informed = informed | {name_expected(judge) for judge in informed}
        if dataset.plan and informed & set(dataset.plan.jury):
            informed = informed | {name_jury(dataset.plan)}
        estimates = list(_estimates(dataset, verdicts, "yes_percent", None, informed)) if verdicts else []
        for item in dataset.items:
            material = judged(dataset, [item], with_jury=True) if item.is_scale else None
            if material:
                estimates += _estimates(dataset, material, "rating", item, informed)
        return Listing(tuple(estimates))

    def describe(self, result: Listing[JudgeEstimates], head: Head) -> Iterator[DocumentSection]:
        reason = _only_reason(result)
        blocks = [block for row in result.rows for block in _of_judge(row, head, is_shown=reason is None)]
        note = _(
            "The judge’s error is measured where people read too, and taken away where only the judge did; the more "
            "the judge follows people, the more it weighs. This holds only if people’s stories were drawn at random "
            "within the source, which stories say by the factor <code>drawn</code>, and only if no answer of people "
            "stood in the judge’s prompt. For a missing answer of the judge stands the middle of the scale, fixed "
            "beforehand: left out, it would choose the stories. Angelopoulos and others, 2023."
        )
        formula = _(
            "Stories that are needed: with <var>n</var> read by people, of <var>M</var> that the judge has read, the "
            "variance is that of people less <var>w</var> times the judge, divided by <var>n</var>, plus that of "
            "<var>w</var> times the judge, divided by <var>M</var> − <var>n</var>; the weight <var>w</var> is that of "
            "the estimate. From ten stories on; hours at this study’s median time, with as many people a story as here."
            " Stories that share a prompt are one cluster. Both ends: what is needed at either end of the 95 %% "
            "interval of the variance."
        )
        yield DocumentSection(
            heading=self.title,
            body=[
                *([TextBlock(words=reason_words(reason))] if reason else []),
                *blocks,
                Files(words=_("Every judge, question and source"), table="people-and-judge"),
            ],
            margin=[TextBlock(words=phrase(note)), *([TextBlock(words=phrase(formula))] if _plans(result) else [])],
        )


def _estimates(
    dataset: Dataset, material: Judged, kind: str, item: StepItem | None, informed: set[str]
) -> Iterator[JudgeEstimates]:
    """Every judge on the story means of these items. informed : the judges that were shown answers of people"""
    constant = 0.5 if item is None else _middle(item)
    people = arrays.mean_present(material.people, axis=(0, 1))
    scale = 100.0 if item is None else 1.0
    bounds = (0.0, 100.0) if item is None else item.bounds
    for name, answers in zip(material.names, material.judges, strict=True):
        if name in informed:
            why = without_value("answers_in_the_prompt")
            by_source = tuple(SourceEstimate(source=source, why=why) for source, _kind in dataset.sources)
        else:
            by_source = _by_source(
                dataset,
                material,
                people * scale,
                answers * scale,
                constant=constant and constant * scale,
                bounds=bounds,
                is_asked=asked_units(dataset, name, material.units),
            )
        yield JudgeEstimates(
            judge=name,
            kind=kind,
            item="" if item is None else item.item.key,
            title="" if item is None else item.item.title or item.item.key,
            constant=None if constant is None else constant * scale,
            half_width=_wanted(bounds),
            by_source=by_source,
        )


def _wanted(bounds: tuple[float, float]) -> float | None:
    low, high = bounds
    return WANTED * (high - low) if np.isfinite(high - low) else None


def _middle(item: StepItem) -> float | None:
    """The middle of the item's scale; None if it has no ends."""
    low, high = item.bounds
    return (low + high) / 2 if np.isfinite(low + high) else None


def _by_source(
    dataset: Dataset,
    material: Judged,
    people: FloatArray,
    answers: FloatArray,
    *,
    constant: float | None,
    bounds: tuple[float, float],
    is_asked: BoolArray,
) -> tuple[SourceEstimate, ...]:
    """The estimates of every source over the units that the judge is asked about; covariances are pooled over those
    that can be estimated."""
    n_missing = np.isnan(answers).sum(axis=0)
    filled = answers if constant is None else np.where(np.isnan(answers), constant, answers)
    judge = filled.mean(axis=0)
    ratings: dict[str, Ratings] = {}
    refusals: dict[str, Incomputable] = {}
    names = [name for name, _kind in dataset.sources]
    drawn = [dataset.story_factor(story, FACTOR) for _group, story in material.units]
    of_source = {name: is_asked & np.array([source == name for source in material.sources]) for name in names}
    for name, units in of_source.items():
        try:
            ratings[name] = prediction_powered.read_source(people, judge, material.clusters, units, drawn)
        except Incomputable as error:
            refusals[name] = error
    powered = dict(zip(ratings, prediction_powered.estimate_means(list(ratings.values())), strict=True))
    half_width = _wanted(bounds)
    planned = prediction_powered.plan_reading(list(ratings.values()), half_width) if half_width else None
    needed = dict(zip(ratings, planned, strict=True)) if planned else {}
    return tuple(
        replace(
            _estimate(name, powered[name], int(n_missing[of_source[name]].sum()), bounds),
            **reading_plan.count(dataset, material, powered[name].n, of_source[name], needed.get(name)),
        )
        if name in powered
        else SourceEstimate(source=name, why=Reason.of(refusals[name]))
        for name in names
    )


def _estimate(source: str, powered: PoweredMean, n_filled_in: int, bounds: tuple[float, float]) -> SourceEstimate:
    return SourceEstimate(
        source=source,
        people=_with_ends(powered.people, powered.n, bounds),
        together=_with_ends(powered.together, powered.n, bounds),
        weight=powered.weight,
        n=powered.n,
        n_judged=powered.n_judged,
        width_gained=100 * powered.width_gained,
        n_filled_in=n_filled_in,
    )


def _with_ends(mean: PoweredValue, n: int, bounds: tuple[float, float]) -> MeanWithEnds:
    """An interval ends where the scale does: beyond it there is no mean that it could miss."""
    low, high = max(mean.low, bounds[0]), min(mean.high, bounds[1])
    return MeanWithEnds(value=mean.value, interval=Interval(low=low, high=high, n_resampled=n, method="t"))


def _plans(result: Listing[JudgeEstimates]) -> bool:
    return any(part.n_needed is not None for row in result.rows for part in row.by_source)


def _only_reason(result: Listing[JudgeEstimates]) -> Reason | None:
    """The reason that every source has, which the page gives once; None if any has a value or another reason."""
    parts = [part for row in result.rows for part in row.by_source]
    reasons = {part.why.code: part.why for part in parts if part.why}
    return next(iter(reasons.values())) if len(reasons) == 1 and not any(part.people for part in parts) else None


def _of_judge(row: JudgeEstimates, head: Head, *, is_shown: bool) -> list[Block]:
    """A judge on one question: its plot, and its table, folded away where there is a plot."""
    question = in_language(row.title, head.language) if row.title else phrase(_("Yes, %%"))
    name = joined(phrase("<strong>%(judge)s</strong>", judge=row.judge), question, by=", ")
    title = _("People and %(judge)s") % {"judge": row.judge}
    table = ReportTable(
        name="people-and-judge",
        label=title,
        caption=name,
        rows=row.by_source,
        why=lambda part: part.why,
        columns=_columns(row),
        is_shown=is_shown,
    )
    if not is_shown:
        return [table]
    tables: list[Block] = [table, *reading_plan.table(row, title)]
    summary = _("%(judge)s, as a table") % {"judge": row.judge}
    if row.plot is None:
        return [Subsection(summary=summary, is_open=True, blocks=tables)]
    described = _(
        "The mean of each source with its interval, from people alone and with the judge. The table below says the "
        "same."
    )
    drawing = DrawnPlot(plot=row.plot, title=title, described=described, label=row.title or row.judge)
    return [TextBlock(words=name), drawing, Subsection(summary=summary, blocks=tables)]


def _columns(row: JudgeEstimates) -> list[TableColumn[SourceEstimate]]:
    write = decimals(row.places)
    return [
        columns.constants(judge=row.judge, kind=row.kind, item=row.item or "all", title=row.title),
        columns.words("source", _("Source"), is_head=True),
        columns.number("people", _("People alone"), lambda part: part.people and part.people.value, write=write),
        _ends("people", row.places, lambda part: part.people),
        columns.number(
            *("together", phrase(_("People<br>and judge"))),
            of=lambda part: part.together and part.together.value,
            write=write,
            css=LEAD,
        ),
        _ends("together", row.places, lambda part: part.together),
        columns.number(
            "width_gained_percent", phrase(_("Width<br>gained, %%")), lambda part: part.width_gained, write=decimal
        ),
        columns.number("weight", phrase(_("Judge’s<br>weight")), write=coefficient),
        columns.counts(phrase(_("Stories with<br>people, without")), "n", "n_judged"),
        columns.in_file("n_judged"),
        columns.number("n_filled_in", phrase(_("Answers<br>missing"))),
        columns.constants(constant=row.constant, half_width=row.half_width),
        columns.fields("n_needed_alone", "n_needed_alone_low", "n_needed_alone_high"),
        columns.fields("n_needed", "n_needed_low", "n_needed_high", "hours_alone", "hours"),
        columns.note(lambda part: to_english(part.why) if part.why else ""),
    ]


def _ends(name: str, places: int, of: Callable[[SourceEstimate], MeanWithEnds | None]) -> TableColumn[SourceEstimate]:
    """The ends of a mean's interval, unmarked: the plot draws a weak one broken."""

    def ends(part: SourceEstimate) -> Interval | None:
        mean = of(part)
        return mean.interval if mean else None

    on_page: TableColumn[SourceEstimate] = columns.shown(
        phrase(_("95 %% interval")), lambda part: between(ends(part), places)
    )
    return replace(on_page, files=columns.ends_in_file(ends, low=f"{name}_low", high=f"{name}_high").files)
