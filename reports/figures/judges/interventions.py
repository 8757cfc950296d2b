"""What changes of a story that leave its worth as it is do to each judge's answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING

from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop

from judges.interventions import find_of_reading
from reports.dataset.altered_answers import read_altered_answers
from reports.dataset.blocks import share_a_scale
from reports.dataset.step_items import widest
from reports.document import columns, notes
from reports.document.columns import LEAD, decimals, ends
from reports.document.model import DocumentSection, Files, Head, ReportTable, RowGroup, TextBlock
from reports.document.phrases import phrase
from reports.document.values import Interval, IntervalEstimate, Reason
from reports.figures.base import Figure, Listing, ends_of_mean, note_of, without_value
from reports.lazy import contrasts, np, paired_shifts
from reports.numbers import decimal
from reports.numbers import interval as ends_words
from stats.reasons import Incomputable

if TYPE_CHECKING:
    from reports.dataset import Dataset, StepItem
    from reports.dataset.altered_answers import AlteredAnswers
    from stats.arrays import FloatArray
    from stats.paired_shifts import PairedShift

SALT = 154  # of the seed
ALPHA = 0.05
PERCENT = 100
SENTENCES = {
    ("verdicts", True): gettext_noop(
        "%(change)s, <strong>%(judge)s</strong> says Yes to %(value)s more of 100 (%(ends)s; %(n)s pairs of answers)."
    ),
    ("verdicts", False): gettext_noop(
        "%(change)s, <strong>%(judge)s</strong> says Yes to %(value)s fewer of 100 (%(ends)s; %(n)s pairs of answers)."
    ),
    ("scales", True): gettext_noop(
        "%(change)s, <strong>%(judge)s</strong> gives %(value)s points more (%(ends)s; %(n)s pairs of answers)."
    ),
    ("scales", False): gettext_noop(
        "%(change)s, <strong>%(judge)s</strong> gives %(value)s points less (%(ends)s; %(n)s pairs of answers)."
    ),
}
SEVERAL_RUNS = gettext_noop(
    "Some changes have no sentence and stand in the table alone: %(judges)s answered about the story as it is in "
    "another run, between which and this one the model may have changed."
)


@dataclass(frozen=True, kw_only=True)
class Movement(IntervalEstimate):
    """How far answers move between two readings, of verdicts in percentage points of Yes.

    before, after : percent Yes, or the mean rating, in either
    differing_percent : of 100 answers, how many are not the same in both
    n : pairs of answers
    """

    before: float | None = None
    after: float | None = None
    differing_percent: float | None = None
    n: int = 0


@dataclass(frozen=True, kw_only=True)
class InterventionEffect:
    """What one change does to the answers of one judge.

    intervention : slug and version; kind : "verdicts" or "scales"
    effect : from the story as it is to the changed one
    again : from the first to the second reading of the story as it is; without a value where there is no second
    p, p_adjusted : by random signs of clusters; corrected by Holm over all rows
    is_of_one_run : whether the two answers of every pair are of one run; else the model may have changed between them
    """

    judge: str
    intervention: str
    kind: str
    effect: Movement
    again: Movement
    p: float | None = None
    p_adjusted: float | None = None
    is_of_one_run: bool = True

    @property
    def title(self) -> str:
        kind = find_of_reading(self.intervention)
        return str(kind.title) if kind else self.intervention

    @property
    def is_clear(self) -> bool:
        """Whether it holds for other stories, by the test and by its interval, and in one run."""
        low, high = self.effect.interval.low, self.effect.interval.high
        is_apart = low is not None and high is not None and not low <= 0 <= high
        return self.is_of_one_run and is_apart and self.p_adjusted is not None and self.p_adjusted < ALPHA


def list_tested(dataset: Dataset) -> set[tuple[str, str, str]]:
    """Judge, kind and change, without its version, of every effect that was tested."""
    rows = Interventions().compute(dataset).rows
    return {(row.judge, row.kind, row.intervention.rpartition("-")[0]) for row in rows if row.p is not None}


class Interventions(Figure[Listing[InterventionEffect]]):
    """The answers stand in no other figure."""

    key = "interventions"
    title = gettext_lazy("Interventions on the stories")
    position = 136
    section = "judges"
    tables = ("interventions",)
    edition = 2

    def compute(self, dataset: Dataset) -> Listing[InterventionEffect]:
        scales = [item for item in dataset.items if item.is_scale]
        rows = [*_effects(dataset, dataset.verdict_items, "verdicts"), *_effects(dataset, scales, "scales")]
        adjusted = contrasts.adjust([row.p for row in rows], "holm")
        return Listing(tuple(replace(row, p_adjusted=p) for row, p in zip(rows, adjusted, strict=True)))

    def describe(self, result: Listing[InterventionEffect], head: Head) -> Iterator[DocumentSection]:
        yield DocumentSection(
            heading=self.title,
            body=[*_claims(result.rows), _table(result.rows), Files(words=_("Every change"), table="interventions")],
            margin=[*_notes(), *notes.weakest(row.effect.interval for row in result.rows)],
        )


def _effects(dataset: Dataset, items: list[StepItem], kind: str) -> Iterator[InterventionEffect]:
    for at, answers in enumerate(read_altered_answers(dataset, items)):
        salt = (SALT, len(kind), at)  # a seed takes numbers, and the two kinds differ in length
        again, _p = _move(dataset, items, answers.first, answers.second, kind, (*salt, 0))
        for n, name in enumerate(answers.altered_by_intervention, start=1):
            yield _effect(dataset, items, answers, name, kind, again, (*salt, n))


def _effect(
    dataset: Dataset,
    items: list[StepItem],
    answers: AlteredAnswers,
    name: str,
    kind: str,
    again: Movement,
    salt: tuple[int, ...],
) -> InterventionEffect:
    plain, altered = answers.plain_by_intervention[name], answers.altered_by_intervention[name]
    effect, p = _move(dataset, items, plain, altered, kind, salt)
    return InterventionEffect(
        judge=answers.judge,
        intervention=name,
        kind=kind,
        effect=effect,
        again=again,
        p=p,
        is_of_one_run=name not in answers.of_several_runs,
    )


def _move(
    dataset: Dataset,
    items: list[StepItem],
    before: FloatArray,
    after: FloatArray,
    kind: str,
    salt: tuple[int, ...],
) -> tuple[Movement, float | None]:
    """How far answers move, and p; without a value where they are on several scales. before, after : shape (I, U)"""
    factor = PERCENT if kind == "verdicts" else 1
    before, after = factor * before, factor * after
    clusters = dataset.clusters_of_units(dataset.units)
    answered = [item for item, own in zip(items, after - before, strict=True) if np.isfinite(own).any()]
    nothing = Interval(low=None, high=None)
    if not share_a_scale(answered):
        return Movement(value=None, why=without_value("scales_differ"), interval=nothing), None
    try:
        shift: PairedShift = paired_shifts.paired_shift(before, after, clusters, rng=dataset.rng(*salt, 0))
    except Incomputable as error:
        return Movement(value=None, why=Reason.of(error), interval=nothing), None
    bound = factor * widest(answered)
    between = ends_of_mean(after - before, clusters, rng=dataset.rng(*salt, 1), low=-bound, high=bound)
    movement = Movement(
        value=shift.value,
        before=shift.before,
        after=shift.after,
        differing_percent=PERCENT * shift.changed,
        interval=between,
        n=shift.n,
    )
    return movement, shift.p


def _claims(rows: Sequence[InterventionEffect]) -> Iterator[TextBlock]:
    """One sentence for each change whose effect is clear, and how many were looked at."""
    tested = [row for row in rows if row.p is not None]
    for row in filter(_is_clear, tested):
        yield _claim(row)
    summary = _(
        "Clear after Holm’s correction over all judges and changes: %(n_clear)s of %(n)s. An effect that is not clear "
        "may still be there."
    )
    yield TextBlock(words=phrase(summary, n_clear=sum(map(_is_clear, tested)), n=len(tested)))
    if judges := sorted({row.judge for row in rows if not row.is_of_one_run}):
        yield TextBlock(words=phrase(_(SEVERAL_RUNS), judges=", ".join(judges)))


def _is_clear(row: InterventionEffect) -> bool:
    return row.is_clear


def _claim(row: InterventionEffect) -> TextBlock:
    kind, value, places = find_of_reading(row.intervention), row.effect.value or 0.0, _places(row)
    return TextBlock(
        words=phrase(
            _(SENTENCES[row.kind, value > 0]),
            change=capfirst(str(kind.words)) if kind else row.intervention,
            judge=row.judge,
            value=decimal(abs(value), places),
            ends=ends_words(row.effect.interval, places),
            n=row.effect.n,
        )
    )


def _places(row: InterventionEffect) -> int:
    return 0 if row.kind == "verdicts" else 2


def _table(rows: Sequence[InterventionEffect]) -> ReportTable[InterventionEffect]:
    kinds = {"verdicts": _("Yes of 100"), "scales": _("points")}
    return ReportTable(
        name="interventions",
        label=_("Interventions on the stories, table"),
        caption=_(
            "The same judge on the same stories, changed and as they are: how many more of 100 verdicts are Yes, or "
            "how many points more it gives."
        ),
        rows=rows,
        groups=[
            RowGroup(heading=f"{judge} ({kinds[kind]})", rows=list(part))
            for (judge, kind), part in groupby(
                sorted(rows, key=lambda row: (row.judge, row.kind != "verdicts")), key=lambda row: (row.judge, row.kind)
            )
        ],
        why=lambda row: row.effect.why,
        columns=[
            columns.in_file("judge"),
            columns.words("intervention", _("Change"), shown=lambda row: row.title, is_head=True),
            columns.with_places(
                lambda places: columns.number(
                    "plain", _("As it is"), lambda row: row.effect.before, write=decimals(places)
                ),
                _places,
            ),
            columns.with_places(
                lambda places: columns.number(
                    "altered", _("Changed"), lambda row: row.effect.after, write=decimals(places)
                ),
                _places,
            ),
            columns.with_places(
                lambda places: columns.number(
                    "value", _("Effect"), lambda row: row.effect.value, write=decimals(places), css=LEAD
                ),
                _places,
            ),
            columns.with_places(
                lambda places: columns.interval(lambda row: row.effect.interval, write=ends(places)), _places
            ),
            columns.with_places(
                lambda places: columns.number(
                    "again", phrase(_("Only read<br>again")), lambda row: row.again.value, write=decimals(places)
                ),
                _places,
            ),
            columns.number(
                "differing_percent",
                phrase(_("Answers that<br>differ, %%")),
                lambda row: row.effect.differing_percent,
                write=decimals(0),
            ),
            columns.number(
                "again_differing_percent",
                phrase(_("Read<br>again, %%")),
                lambda row: row.again.differing_percent,
                write=decimals(0),
            ),
            columns.number("n", _("Pairs"), lambda row: row.effect.n),
            columns.fields("kind", "p", "p_adjusted", again_low="again.interval.low", again_high="again.interval.high"),
            columns.in_file("n_again", lambda row: row.again.n),
            columns.note(_note),
        ],
    )


def _note(row: InterventionEffect) -> str:
    of_runs = "" if row.is_of_one_run else "Some pairs of answers are of two runs."
    return " ".join(filter(None, (note_of(row.effect, row.effect.interval), of_runs)))


def _notes() -> Iterator[TextBlock]:
    yield TextBlock(
        words=phrase(
            _(
                "<strong>As it is</strong> and <strong>changed</strong> are answers of one judge to one question about "
                "one story, so that what the story is worth cancels. <strong>Only read again</strong>: the second "
                "answers about the story as it is, less the first. What a change does beyond that, it does by itself."
            )
        )
    )
    yield TextBlock(
        words=_(
            "Padding, another order of paragraphs and formatting can be a good reason for another answer; a title, a "
            "byline or a request is none. These answers count nowhere else in the report."
        )
    )
