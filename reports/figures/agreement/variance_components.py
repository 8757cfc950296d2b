"""How much raters, stories and the rest vary, and means of sources with the interval for other raters, too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any

from django.utils.html import format_html
from django.utils.text import get_text_list
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from reports.document import columns
from reports.document.columns import LEAD, QUIET, ends
from reports.document.model import (
    Block,
    DocumentSection,
    Files,
    Head,
    Phrase,
    ReportTable,
    Subsection,
    TableCell,
    TableColumn,
    TextBlock,
)
from reports.document.phrases import hidden, joined, phrase
from reports.document.values import Interval, Reason
from reports.figures.base import Figure, Listing, ends_note
from reports.figures.mean_intervals import outcome_intervals
from reports.figures.outcome_titles import outcome_title
from reports.lazy import variance_components
from reports.numbers import decimal
from reports.reasons import to_english
from stats.reasons import Incomputable

if TYPE_CHECKING:
    from reports.dataset import Dataset, OutcomeTable


@dataclass(frozen=True, kw_only=True)
class SourceMean:
    """The mean over a source's stories. interval : for the same raters; wide : for other raters, too"""

    source: str
    value: float
    n_stories: int
    interval: Interval
    wide: Interval


@dataclass(frozen=True, kw_only=True)
class OutcomeComponents:
    """Variances of one outcome, in its squared units, over the stories of all sources; or why there are none.

    at_zero : which were not estimated above 0 and are set to it
    """

    key: str
    kind: str
    title: str
    is_percent: bool
    is_part: bool
    rater: float | None = None
    story: float | None = None
    residual: float | None = None
    at_zero: tuple[str, ...] = ()
    n_raters: int = 0
    n_stories: int = 0
    n_ratings: int = 0
    why: Reason | None = None
    sources: tuple[SourceMean, ...]

    @property
    def places(self) -> int:
        """How many decimals its numbers are written with."""
        return 1 if self.is_percent else 2

    @property
    def parts(self) -> list[tuple[str, float, float, bool]]:
        """Of each component its name, its standard deviation, its share in percent, and whether it is set to 0."""
        variances = {"rater": self.rater or 0.0, "story": self.story or 0.0, "residual": self.residual or 0.0}
        total = sum(variances.values()) or 1.0
        return [(name, v**0.5, 100 * v / total, name in self.at_zero) for name, v in variances.items()]


class VarianceComponents(Figure[Listing[OutcomeComponents]]):
    key = "variance_components"
    title = gettext_lazy("Variance components")
    position = 53
    section = "agreement"
    tables = ("variance-components", "means-for-other-raters")
    edition = 5
    is_shown_sealed = False

    def compute(self, dataset: Dataset) -> Listing[OutcomeComponents]:
        return Listing(tuple(_of_outcome(dataset, table) for table in dataset.outcomes))

    def describe(self, result: Listing[OutcomeComponents], head: Head) -> Iterator[DocumentSection]:
        whole = [row for row in result.rows if not row.is_part]
        parts = [row for row in result.rows if row.is_part]
        folded = Subsection(summary=_("By dimension and by test"), blocks=_shown(parts, head))
        yield DocumentSection(
            heading=_("Variance components"),
            body=[
                *_shown(whole, head),
                *([folded] if parts else []),
                *(replace(table, is_shown=False) for table in _tables(result.rows, head)),
                Files(words=_("Variances of every outcome"), table="variance-components"),
                Files(words=_("Means with both intervals"), table="means-for-other-raters"),
            ],
            margin=[TextBlock(words=words) for words in _margin(result)],
        )


def _margin(result: Listing[OutcomeComponents]) -> Iterator[Phrase]:
    rating = _(
        "A rating is the mean, and what its <strong>rater</strong> adds, and what its <strong>story</strong> adds, and "
        "<strong>the rest</strong>: how this rater took this story, and chance. Who wrote a story counts among what it "
        "adds."
    )
    elsewhere = _(
        "Everywhere else in this report an interval says what <strong>other stories</strong> would give with the same "
        "raters. The second one here takes raters as drawn at random, too: it is for whoever wants to speak of readers "
        "in general."
    )
    yield phrase(rating)
    yield phrase(elsewhere)
    yield _("With few raters the wider interval has few degrees of freedom; the file says how many.")
    names = {"rater": _("raters"), "story": _("stories"), "residual": _("the rest")}
    at_zero = [name for key, name in names.items() if any(key in row.at_zero for row in result.rows)]
    if at_zero:
        sentence = _(
            "* The estimate for %(names)s did not come out above 0, or cannot be told from the rest, and is set to 0; "
            "the others are estimated without it."
        )
        yield sentence % {"names": get_text_list(at_zero, _("and"))}


def _shown(rows: Sequence[OutcomeComponents], head: Head) -> list[Block]:
    """The tables of some outcomes; the files have all of them in their order."""
    return [replace(table, name="") for table in _tables(rows, head)]


def _tables(rows: Sequence[OutcomeComponents], head: Head) -> list[ReportTable[Any]]:
    return [_component_table(rows, head), _mean_table(rows, head)]


def _component_table(rows: Sequence[OutcomeComponents], head: Head) -> ReportTable[OutcomeComponents]:
    def part(n: int, name: str, heading: Phrase) -> TableColumn[OutcomeComponents]:
        """A standard deviation and the share of its variance, and in files the variance."""

        def cell(row: OutcomeComponents) -> TableCell:
            _name, sd, share, is_at_zero = row.parts[n]
            mark = format_html('<abbr title="{}">*</abbr>', _("set to 0")) if is_at_zero else ""
            of_sum = format_html('<span class="{}">{} %</span>', QUIET, decimal(share, 0))
            return TableCell(words=joined(joined(decimal(sd, row.places), mark, by=""), of_sum))

        return TableColumn(heading=heading, cell=cell, files={f"{name}_variance": attrgetter(name)})

    def rests_on(row: OutcomeComponents) -> TableCell:
        counts = {"raters": row.n_raters, "stories": row.n_stories}
        return TableCell(words=_("%(raters)s raters, %(stories)s stories") % counts, css=QUIET)

    caption = _("Standard deviations, and each variance’s share of their sum.")
    return ReportTable(
        name="variance-components",
        label=caption,
        caption=caption,
        rows=rows,
        why=lambda row: row.why,
        columns=[
            columns.words(
                "outcome", _("Outcome"), attrgetter("key"), shown=lambda row: _title(row, head), is_head=True
            ),
            columns.fields("kind", "title"),
            part(0, "rater", _("Raters")),
            part(1, "story", _("Stories")),
            part(2, "residual", _("The rest")),
            replace(columns.fields("n_raters", "n_stories", "n_ratings"), heading=_("Based on"), cell=rests_on),
            columns.in_file("set_to_zero", lambda row: ", ".join(row.at_zero)),
            columns.note(lambda row: to_english(row.why) if row.why else ""),
        ],
    )


def _mean_table(rows: Sequence[OutcomeComponents], head: Head) -> ReportTable[tuple[OutcomeComponents, SourceMean]]:
    def outcome(pair: tuple[OutcomeComponents, SourceMean]) -> Phrase:
        """Its name, seen at the first of its sources alone."""
        row, mean = pair
        title = _title(row, head)
        return title if mean is row.sources[0] else hidden(title)

    def interval(name: str, heading: Phrase, suffix: str = "") -> TableColumn[Any]:
        return columns.with_places(
            lambda places: columns.interval(
                lambda pair: getattr(pair[1], name),
                heading=heading,
                write=ends(places),
                low=f"low{suffix}",
                high=f"high{suffix}",
            ),
            lambda pair: pair[0].places,
        )

    def note(pair: tuple[OutcomeComponents, SourceMean]) -> str:
        return "; ".join(filter(None, [ends_note(pair[1].interval), ends_note(pair[1].wide)]))

    caption = phrase(_("Mean of each source over its stories, with the 95 %% intervals for other stories."))
    return ReportTable(
        name="means-for-other-raters",
        label=caption,
        caption=caption,
        rows=[(row, mean) for row in rows for mean in row.sources],
        columns=[
            columns.words("outcome", _("Outcome"), lambda pair: pair[0].key, shown=outcome, is_head=True),
            columns.fields("title", of=itemgetter(0)),
            columns.words("source", _("Source"), lambda pair: pair[1].source),
            columns.number(
                *("mean", _("Mean")),
                of=lambda pair: pair[1].value,
                shown=lambda pair: decimal(pair[1].value, pair[0].places),
                css=LEAD,
            ),
            interval("interval", _("Same raters")),
            interval("wide", _("Generalising to other raters"), "_other_raters"),
            columns.fields("n_stories", of=itemgetter(1)),
            columns.note(note),
        ],
    )


def _title(row: OutcomeComponents, head: Head) -> Phrase:
    return outcome_title(row.key, row.title, head, without=_("All tests together"))


def _of_outcome(dataset: Dataset, table: OutcomeTable) -> OutcomeComponents:
    outcome = table.outcome
    names = [name for name, _kind in dataset.sources]
    means = [_mean(dataset, table, name) for name in names]
    without = OutcomeComponents(
        key=outcome.key,
        kind=outcome.kind,
        title=outcome.title,
        is_percent=outcome.is_percent,
        is_part=outcome.is_part,
        sources=tuple(mean for mean in means if mean is not None),
    )
    try:
        components = variance_components.components(table.ratings)
    except Incomputable as error:
        return replace(without, why=Reason.of(error))
    return replace(
        without,
        rater=components.rater,
        story=components.story,
        residual=components.residual,
        at_zero=components.at_zero,
        n_raters=components.n_raters,
        n_stories=components.n_clusters,
        n_ratings=components.n_ratings,
    )


def _mean(dataset: Dataset, table: OutcomeTable, source: str) -> SourceMean | None:
    """The mean of a source over its stories, with both intervals; None if it has no story with a value."""
    units = table.of_source(source)
    if not units.any():
        return None
    ends, wide = outcome_intervals(dataset, table, units)
    return SourceMean(
        source=source,
        value=float(table.values[units].mean()),
        n_stories=table.n_stories(units),
        interval=ends,
        wide=wide,
    )
