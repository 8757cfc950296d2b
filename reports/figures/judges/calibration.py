"""How sure a judge is, by its probabilities or over repeats, and whether as many people say Yes as it says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from reports.dataset.grades import read_yes_levels
from reports.dataset.judged import judged
from reports.document import columns, notes
from reports.document.columns import ENDS, LEAD, cell_with_ends, decimals, ends
from reports.document.files import file_only
from reports.document.model import DocumentSection, Files, Head, Phrase, ReportTable, TableCell, TableColumn, TextBlock
from reports.document.phrases import BREAK, joined, phrase
from reports.document.values import Estimate, Interval, IntervalEstimate
from reports.figures.base import N_RESAMPLES, Figure, Listing, ends_of_mean, estimate, interval, note_of
from reports.figures.judges.yes_levels import LEVELS, heading_of
from reports.lazy import calibration, np

if TYPE_CHECKING:
    from reports.dataset import Dataset
    from reports.dataset.grades import YesLevels
    from reports.dataset.judged import Judged
    from stats.arrays import FloatArray, IntArray

SALT = 153  # of the seed
PERCENT = 100.0


@dataclass(frozen=True, kw_only=True)
class PeopleAtLevel(IntervalEstimate):
    """Of 100 people how many say Yes where the judge does in so many of its answers.

    level : one of `LEVELS`; judge_percent : the judge's own, over the same n verdicts
    """

    level: str
    judge_percent: float
    n: int


@dataclass(frozen=True, kw_only=True)
class Calibration(IntervalEstimate):
    """The slope of people's share of Yes on the judge's: its probability of Yes, or its share over repeats.

    best_slope : of a judge whose chances are people's shares, asked as often
    error : in percentage points, less what the choice of stories adds
    n, n_probabilities : verdicts, and those of them of which the judge's probability is known
    n_answers : of the judge to the others, of which its shares are
    """

    judge: str
    best_slope: Estimate
    error: Estimate
    levels: tuple[PeopleAtLevel, ...]
    n: int
    n_probabilities: int
    n_answers: int

    @property
    def basis(self) -> str:
        """What the judge's level is: "probabilities", "repeats", or "both" in some verdicts each."""
        if self.n_probabilities:
            return "probabilities" if self.n_probabilities == self.n else "both"
        return "repeats"

    @property
    def by_level(self) -> dict[str, PeopleAtLevel]:
        return {level.level: level for level in self.levels}


class JudgesCalibration(Figure[Listing[Calibration]]):
    """Whether a judge's probabilities, or its repeated answers, say how sure it may be."""

    key = "judges_calibration"
    title = gettext_lazy("Calibration of judges")
    position = 134
    section = "judges"
    tables = ("judges-calibration",)
    edition = 3
    is_shown_sealed = False

    def compute(self, dataset: Dataset) -> Listing[Calibration]:
        items = dataset.verdict_items
        material = judged(dataset, items)
        if material is None:
            return Listing()
        rows = (
            _row(dataset, material, name, read_yes_levels(dataset, items, name), salt=at)
            for at, name in enumerate(material.names)
        )
        return Listing(tuple(row for row in rows if row is not None))

    def describe(self, result: Listing[Calibration], head: Head) -> Iterator[DocumentSection]:
        page = ReportTable(
            label=_("Calibration of judges, table"),
            caption=_(
                "Of 100 people how many say Yes, where the judge’s probability of Yes, or its share of Yes over "
                "repeats, is none, some or all."
            ),
            rows=result.rows,
            columns=[
                columns.words("judge", _("Judge"), shown=_judge_words, is_head=True),
                *(_level_column(name) for name in LEVELS if any(name in row.by_level for row in result.rows)),
                *columns.with_interval("slope", _("Slope"), places=2, prefix="slope_", css=LEAD),
                columns.estimate("best_slope", _("At best"), lambda row: row.best_slope, write=decimals(2)),
                columns.estimate(
                    *("calibration_error", phrase(_("Error,<br>points"))), lambda row: row.error, write=decimals(1)
                ),
                columns.number("n", phrase(_("Verdicts,<br>answers")), shown=_counts),
            ],
        )
        words = _(
            "<strong>Slope</strong>: how many points more of people say Yes where the judge’s share is one point "
            "larger; 1 where its share is theirs. The share of a few answers lies too far out by chance alone: "
            "<strong>at best</strong> is the slope of a judge whose chances are people’s shares, asked as often. "
            "<strong>Error</strong>: how far people’s share is from the judge’s, on average within each of five "
            "levels, where distances in opposite directions cancel. None, half and all are within 5 points of it. "
            "Below its name stands what a judge’s share comes from: <strong>probabilities</strong> where its server "
            "gave them, else <strong>repeats</strong>."
        )
        every = (ends for row in result.rows for ends in (row.interval, *(level.interval for level in row.levels)))
        yield DocumentSection(
            heading=self.title,
            body=[page, _file(result), Files(words=_("Every level of every judge"), table="judges-calibration")],
            margin=[TextBlock(words=phrase(words)), *notes.weakest(every)],
        )


def _judge_words(row: Calibration) -> Phrase:
    """The judge, and from what its level comes."""
    words = {"probabilities": _("probabilities"), "repeats": _("repeats"), "both": _("probabilities, repeats")}
    return joined(row.judge, words[row.basis], by=BREAK)


def _counts(row: Calibration) -> str:
    return f"{row.n}, {row.n_answers}" if row.n_answers else str(row.n)


def _row(dataset: Dataset, material: Judged, judge: str, own_levels: YesLevels, *, salt: int) -> Calibration | None:
    """None of a judge whose probabilities nobody knows and that was asked nothing twice, of what people answered."""
    shares, n_answers, people = own_levels.shares, own_levels.n_answers, material.means()
    is_compared = np.isfinite(shares) & np.isfinite(people)
    if not is_compared.any():
        return None
    clusters = np.tile(material.clusters, len(shares))[is_compared.ravel()]
    own, theirs = shares[is_compared], people[is_compared]
    slope = estimate(calibration.slope, own, theirs)
    return Calibration(
        judge=judge,
        **vars(slope),
        interval=interval(
            *(calibration.slope_interval, own, theirs, clusters),
            rng=dataset.rng(SALT, salt),
            n_resamples=N_RESAMPLES,
        ),
        best_slope=estimate(calibration.best_slope, own, n_answers[is_compared]),
        error=estimate(lambda: PERCENT * calibration.error(own, theirs, clusters)),
        levels=tuple(_levels(dataset, own, theirs, clusters)),
        n=int(is_compared.sum()),
        n_probabilities=int(own_levels.is_probability[is_compared].sum()),
        n_answers=int(n_answers[is_compared & ~own_levels.is_probability].sum()),
    )


def _levels(dataset: Dataset, own: FloatArray, theirs: FloatArray, clusters: IntArray) -> Iterator[PeopleAtLevel]:
    levels = calibration.levels(own)
    for n, name in enumerate(LEVELS):
        is_at = levels == n
        if is_at.any():
            yield PeopleAtLevel(
                level=name,
                value=float(PERCENT * theirs[is_at].mean()),
                interval=_ends(PERCENT * theirs[is_at], clusters[is_at], dataset),
                judge_percent=float(PERCENT * own[is_at].mean()),
                n=int(is_at.sum()),
            )


def _ends(percents: FloatArray, clusters: IntArray, dataset: Dataset) -> Interval:
    return ends_of_mean(percents, clusters, rng=dataset.resampling(), low=0, high=PERCENT)


def _level_column(name: str) -> TableColumn[Calibration]:
    def cell(row: Calibration) -> TableCell:
        return cell_with_ends(row.by_level.get(name), decimals(0), ends(0), is_marked=True)

    return TableColumn(heading=heading_of(name), cell=cell)


def _file(result: Listing[Calibration]) -> ReportTable[tuple[Calibration, PeopleAtLevel]]:
    """The levels one below the other."""
    return file_only(
        "judges-calibration",
        [(row, level) for row in result.rows for level in row.levels],
        columns.fields("judge", slope="value", slope_low="interval.low", slope_high="interval.high", of=lambda p: p[0]),
        columns.fields(best_slope="best_slope.value", calibration_error="error.value", of=lambda pair: pair[0]),
        columns.fields("basis", "n_probabilities", of=lambda pair: pair[0]),
        columns.fields(judge_yes="level", judge_yes_percent="judge_percent", of=lambda pair: pair[1]),
        columns.fields(experts_yes_percent="value", **ENDS, n="n", of=lambda pair: pair[1]),
        columns.note(_note),
    )


def _note(pair: tuple[Calibration, PeopleAtLevel]) -> str:
    row, level = pair
    reasons = (note_of(row, row.interval), note_of(row.error), note_of(level, level.interval))
    return next(filter(None, reasons), "")
