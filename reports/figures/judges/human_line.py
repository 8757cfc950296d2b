"""How a judge agrees with the experts, beside how one of the experts does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from reports.dataset.judged import judged
from reports.dataset.jury import is_made
from reports.document import columns, notes
from reports.document.columns import LEAD, cell_with_ends
from reports.document.model import DocumentSection, Files, Head, Phrase, ReportTable, RowGroup, TableColumn, TextBlock
from reports.document.phrases import joined, phrase
from reports.document.values import Interval, IntervalEstimate, Reason
from reports.figures.base import N_RESAMPLES, Figure, Listing, note_of
from reports.lazy import arrays, human_line, np
from reports.numbers import coefficient, coefficients
from stats.reasons import Incomputable

if TYPE_CHECKING:
    from reports.dataset import Dataset, StepItem
    from reports.dataset.judged import Judged
    from stats.arrays import BoolArray, FloatArray
    from stats.human_line import Against

SALT = 23  # of the seed


@dataclass(frozen=True, kw_only=True)
class JudgeLine:
    """One judge and an expert in the same place.

    kind : "verdicts", "choices" or "scales"; part : "all", or "models" for models' stories alone
    difference : judge less expert
    """

    judge: str
    kind: str
    part: str
    expert: IntervalEstimate
    of_judge: IntervalEstimate
    difference: IntervalEstimate
    n_people: int
    n: int


class HumanLine(Figure[Listing[JudgeLine]]):
    key = "human_line"
    title = gettext_lazy("Judges against the expert benchmark")
    position = 126
    section = "judges"
    tables = ("human-line",)
    edition = 2
    is_shown_sealed = False

    def compute(self, dataset: Dataset) -> Listing[JudgeLine]:
        kinds: tuple[tuple[str, list[StepItem], Against], ...] = (
            ("verdicts", dataset.verdict_items, "pairwise"),
            ("choices", [item for item in dataset.items if item.is_choice], "pairwise"),
            ("scales", [item for item in dataset.items if item.is_scale], "mean"),
        )
        lines = [
            line
            for salt, (kind, items, against) in enumerate(kinds)
            for line in _lines_of(dataset, items, kind, against, salt=salt)
        ]
        order = [kind for kind, _items, _against in kinds]
        return Listing(tuple(sorted(lines, key=lambda line: (order.index(line.kind), line.part))))

    def describe(self, result: Listing[JudgeLine], head: Head) -> Iterator[DocumentSection]:
        table = ReportTable(
            name="human-line",
            label=_("Judges against the expert benchmark, table"),
            caption=_(
                "Each expert is left out in turn; expert and judge are scored against the same remaining experts on "
                "the same stories."
            ),
            rows=result.rows,
            groups=[
                RowGroup(heading=_heading(*about), rows=list(rows))
                for about, rows in groupby(result.rows, key=lambda row: (row.kind, row.part))
            ],
            why=lambda row: row.difference.why,
            columns=[
                columns.words("judge", _("Judge"), is_head=True),
                _side("expert", _("Expert"), lambda row: row.expert),
                _side("judge_in_place", _("Judge"), lambda row: row.of_judge),
                *columns.with_interval(
                    *("difference", _("Difference"), lambda row: row.difference), prefix="difference_", css=LEAD
                ),
                columns.counts(phrase(_("Experts,<br>answers")), "n_people", "n"),
                columns.fields("kind", "part", "n"),
                columns.note(lambda row: note_of(row.difference, row.difference.interval)),
            ],
        )
        note = _(
            "For verdicts and choices the score is the mean of Cohen’s kappas with each remaining expert, for scales "
            "Spearman’s rho with their mean. An expert against the majority of the others would be spared the hard "
            "cases, so here it is not made."
        )
        yield DocumentSection(
            heading=self.title,
            body=[
                *_best(result),
                table,
                Files(words=_("Every judge, all stories and models’ stories"), table="human-line"),
            ],
            margin=[TextBlock(words=note), *notes.weakest(row.difference.interval for row in result.rows)],
        )


def _lines_of(
    dataset: Dataset, items: list[StepItem], kind: str, against: Against, *, salt: int
) -> Iterator[JudgeLine]:
    material = judged(dataset, items, with_jury=True)
    if material is None or len(material.raters) < 2:
        return
    for at, (name, answers) in enumerate(zip(material.names, material.judges, strict=True)):
        for place, (part, units) in enumerate(material.units_by_part.items()):
            rng = dataset.rng(SALT, salt, at, place)
            yield JudgeLine(judge=name, kind=kind, part=part, **_sides(material, answers, units, against, rng=rng))


def _sides(
    material: Judged, answers: FloatArray, units: BoolArray, against: Against, *, rng: np.random.Generator
) -> dict[str, Any]:
    """The fields of a line over these units, or in each the reason why there is none. answers : shape (I, U)"""
    try:
        line = human_line.compare(
            arrays.select_units(material.people, units),
            arrays.select_units(answers, units),
            material.clusters[units],
            against=against,
            rng=rng,
            n_resamples=N_RESAMPLES,
        )
    except Incomputable as error:
        nothing = IntervalEstimate(value=None, why=Reason.of(error), interval=Interval(low=None, high=None))
        sides = dict.fromkeys(("expert", "of_judge", "difference"), nothing)
        return {**sides, "n_people": len(material.raters), "n": 0}
    return {
        "expert": IntervalEstimate(value=line.person, interval=Interval.of(line.person_interval)),
        "of_judge": IntervalEstimate(value=line.judge, interval=Interval.of(line.judge_interval)),
        "difference": IntervalEstimate(value=line.difference, interval=Interval.of(line.difference_interval)),
        "n_people": line.n_people,
        "n": line.n_units,
    }


def _side(name: str, heading: Phrase, of: Callable[[JudgeLine], IntervalEstimate]) -> TableColumn[JudgeLine]:
    """A value with its interval in one column; in files the value and each end."""
    return TableColumn(
        heading=heading,
        cell=lambda row: cell_with_ends(of(row), coefficient, coefficients),
        files={
            name: lambda row: of(row).value,
            f"{name}_low": lambda row: of(row).interval.low,
            f"{name}_high": lambda row: of(row).interval.high,
        },
    )


def _heading(kind: str, part: str) -> str:
    headings = {
        ("verdicts", "all"): _("verdicts"),
        ("verdicts", "models"): _("verdicts, stories by models alone"),
        ("choices", "all"): _("choices"),
        ("choices", "models"): _("choices, stories by models alone"),
        ("scales", "all"): _("scales"),
        ("scales", "models"): _("scales, stories by models alone"),
    }
    return headings[kind, part]


def _best(result: Listing[JudgeLine]) -> Iterator[TextBlock]:
    """Of each kind the judge that does best beside an expert, out of how many: chosen as the best it looks better than
    it is. Juries and expected scores stand in the table alone."""
    compared = [row for row in result.rows if row.part == "all" and row.difference.value is not None]
    compared = [row for row in compared if not is_made(row.judge)]
    for kind in dict.fromkeys(row.kind for row in compared):
        rows = [row for row in compared if row.kind == kind]
        best, n = max(rows, key=lambda row: row.difference.value or 0), len(rows)
        sentences = {
            "verdicts": ngettext(
                "On verdicts %(judge)s has %(own)s, where an expert has %(expert)s.",
                "On verdicts the best of %(n)s judges, %(judge)s, has %(own)s, where an expert has %(expert)s.",
                n,
            ),
            "choices": ngettext(
                "On choices %(judge)s has %(own)s, where an expert has %(expert)s.",
                "On choices the best of %(n)s judges, %(judge)s, has %(own)s, where an expert has %(expert)s.",
                n,
            ),
            "scales": ngettext(
                "On scales %(judge)s has %(own)s, where an expert has %(expert)s.",
                "On scales the best of %(n)s judges, %(judge)s, has %(own)s, where an expert has %(expert)s.",
                n,
            ),
        }
        numbers = {"own": coefficient(best.of_judge.value), "expert": coefficient(best.expert.value)}
        ends = best.difference.interval
        interval = _("Interval of the difference: %(ends)s.") % {"ends": coefficients(ends)}
        of_best = phrase(sentences[kind], n=n, judge=best.judge, **numbers)
        yield TextBlock(words=joined(of_best, interval if ends.low is not None else ""))
