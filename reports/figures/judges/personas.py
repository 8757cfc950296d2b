"""What it gains that a judge reads as several personas, and how far they agree: of judges that rated on scales."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from reports.dataset.judged import judged
from reports.dataset.readings import answers_as_personas
from reports.document import columns, notes
from reports.document.columns import CHANCE, LEAD
from reports.document.model import DocumentSection, Files, Head, Phrase, ReportTable, TableCell, TableColumn, TextBlock
from reports.document.phrases import hidden, phrase
from reports.document.values import Estimate, Floor, Interval, IntervalEstimate, Reason
from reports.figures.base import ALL_ITEMS, N_RESAMPLES, Figure, ItemRow, Listing, item_fields, note_of, without_value
from reports.figures.judges.alpha_columns import alpha_columns, measure_alpha
from reports.lazy import np, personas
from reports.numbers import coefficient
from stats.reasons import Incomputable

if TYPE_CHECKING:
    from reports.dataset import Dataset, StepItem
    from reports.dataset.judged import Judged
    from reports.dataset.readings import PersonaAnswers
    from stats.arrays import FloatArray

SALT = 29  # of the seed


@dataclass(frozen=True, kw_only=True)
class Gain(IntervalEstimate):
    """Spearman's rho with people of the mean of all personas, less that of the judge without one.

    together, alone, nobody : rho of the mean of all, of one persona (the mean of theirs), and without a persona
    n : answers that all of them have
    """

    together: float | None
    alone: float | None
    nobody: float | None
    n: int


@dataclass(frozen=True, kw_only=True)
class PersonaItem(ItemRow):
    """One item. alpha : among the personas; among_models : the same among models' stories"""

    gain: Gain
    alpha: Estimate
    interval: Interval
    floor: Floor
    among_models: Estimate | None

    @property
    def coefficient(self) -> Estimate:
        """As the drawing of coefficients takes it."""
        return self.alpha


@dataclass(frozen=True, kw_only=True)
class JudgePersonas:
    """One judge. nobody : the judge whose answers without a persona are compared; over_items : the mean of items"""

    judge: str
    personas: tuple[str, ...]
    nobody: str
    over_items: Gain
    items: tuple[PersonaItem, ...]


@dataclass(frozen=True)
class _Line:
    """A row of the table of gains. item : None for the mean of items"""

    judge: JudgePersonas
    item: PersonaItem | None

    @property
    def gain(self) -> Gain:
        return self.item.gain if self.item else self.judge.over_items


class Personas(Figure[Listing[JudgePersonas]]):
    key = "personas"
    title = gettext_lazy("Effect of personas")
    position = 131
    section = "judges"
    tables = ("personas",)
    is_shown_sealed = False

    def compute(self, dataset: Dataset) -> Listing[JudgePersonas]:
        scales = [item for item in dataset.items if item.is_scale]
        material = judged(dataset, scales)
        if material is None:
            return Listing()
        answers_by_judge = {judge: answers_as_personas(dataset, scales, judge) for judge in material.names}
        return Listing(
            tuple(
                _of_judge(dataset, material, judge, answers, salt=salt)
                for salt, (judge, answers) in enumerate(answers_by_judge.items())
                if answers
            )
        )

    def describe(self, result: Listing[JudgePersonas], head: Head) -> Iterator[DocumentSection]:
        yield DocumentSection(
            heading=self.title,
            body=[
                _gains(result, head),
                *(_alphas(judge, head) for judge in result.rows),
                Files(words=_("Item by item"), table="personas"),
            ],
            margin=_notes(result),
        )


def _of_judge(dataset: Dataset, material: Judged, judge: str, answers: PersonaAnswers, *, salt: int) -> JudgePersonas:
    people = material.means()
    return JudgePersonas(
        judge=judge,
        personas=answers.personas,
        nobody=answers.nobody,
        over_items=_gain(dataset, material, answers, people, slice(None), salt=(SALT, salt, 0)),
        items=tuple(
            PersonaItem(
                **item_fields(item),
                gain=_gain(dataset, material, answers, people, slice(at, at + 1), salt=(SALT, salt, at + 1)),
                **_agreement(dataset, material, item, answers.as_personas[:, at], SALT, salt, at + 1, 1),
            )
            for at, item in enumerate(material.items)
            if np.isfinite(answers.as_personas[:, at]).any()
        ),
    )


def _gain(
    dataset: Dataset,
    material: Judged,
    answers: PersonaAnswers,
    people: FloatArray,
    items: slice,
    *,
    salt: tuple[int, ...],
) -> Gain:
    try:
        compared = personas.compare(
            answers.as_personas[:, items],
            answers.as_nobody[items],
            people[items],
            material.clusters,
            rng=dataset.rng(*salt, 0),
            n_resamples=N_RESAMPLES,
        )
    except Incomputable as error:
        ends = Interval(low=None, high=None, why=Reason.of(error))
        return Gain(value=None, why=ends.why, together=None, alone=None, nobody=None, interval=ends, n=0)
    has_nobody = not np.isnan(compared.nobody)
    return Gain(
        value=compared.gain if has_nobody else None,
        why=None if has_nobody else without_value("not_read_as_nobody"),
        together=compared.together,
        alone=None if np.isnan(compared.alone) else compared.alone,
        nobody=compared.nobody if has_nobody else None,
        interval=Interval.of(compared.interval),
        n=compared.n_units,
    )


def _agreement(dataset: Dataset, material: Judged, item: StepItem, ratings: FloatArray, *salt: int) -> dict[str, Any]:
    """Alpha among the personas, with what must stand beside it. ratings : shape (P, U)"""
    fields = measure_alpha(dataset, material, ratings, item.level, *salt)
    return {"alpha": fields.pop("coefficient"), **fields}


def _gains(result: Listing[JudgePersonas], head: Head) -> ReportTable[_Line]:
    return ReportTable(
        name="personas",
        label=_("Effect of personas, table"),
        caption=_(
            "Spearman’s rho with the mean of people: of the mean of all personas, of one persona alone (the mean of "
            "theirs), and without a persona."
        ),
        rows=[_Line(judge, item) for judge in result.rows for item in (None, *judge.items)],
        why=lambda line: line.gain.why if line.gain.together is None else None,
        columns=[
            columns.words("judge", _("Judge"), lambda line: line.judge.judge, shown=_judge_words, is_head=True),
            columns.in_file("n_personas", lambda line: len(line.judge.personas)),
            columns.in_file("without_persona", lambda line: line.judge.nobody),
            replace(
                columns.item_in_file(lambda line: line.item or ALL_ITEMS),
                heading=_("Item"),
                cell=lambda line: (
                    TableCell(words=line.item.title, language=head.language)
                    if line.item
                    else TableCell(words=_("Mean of items"), css="kept-whole")
                ),
            ),
            _rho("rho_together", phrase(_("All<br>personas")), lambda gain: gain.together, css=LEAD),
            _rho("rho_one_alone", phrase(_("One<br>alone")), lambda gain: gain.alone),
            _rho("rho_without", phrase(_("Without<br>a persona")), lambda gain: gain.nobody),
            *columns.with_interval("gain", _("Gain"), lambda line: line.gain, prefix="gain_"),
            columns.number("n", _("Answers"), lambda line: line.gain.n),
            columns.fields(alpha="alpha.value", alpha_low="interval.low", alpha_high="interval.high", of=_item_of),
            columns.fields(**CHANCE, among_models="among_models.value", of=_item_of),
            columns.note(_note),
        ],
    )


def _rho(name: str, heading: Phrase, of: Callable[[Gain], float | None], css: str = "") -> TableColumn[_Line]:
    return columns.number(name, heading, lambda line: of(line.gain), write=coefficient, css=css)


def _judge_words(line: _Line) -> Phrase:
    """The judge, on the page at its first row alone."""
    if line.item is None:
        return line.judge.judge
    return hidden(line.judge.judge)


def _item_of(line: _Line) -> PersonaItem | None:
    return line.item


def _note(line: _Line) -> str:
    of_alpha = note_of(line.item.alpha, line.item.interval) if line.item else ""
    return "; ".join(filter(None, [note_of(line.gain, line.gain.interval), of_alpha]))


def _alphas(judge: JudgePersonas, head: Head) -> ReportTable[PersonaItem]:
    caption = _("Krippendorff’s alpha among the personas of %(label)s: %(names)s.")
    return ReportTable(
        label=_("Agreement among the personas of %(label)s") % {"label": judge.judge},
        caption=caption % {"label": judge.judge, "names": ", ".join(judge.personas)},
        rows=judge.items,
        why=lambda item: item.alpha.why,
        columns=[
            *alpha_columns(judge.items, head),
            columns.shown(_("Units"), lambda item: str(item.alpha.n_units)),
        ],
    )


def _notes(result: Listing[JudgePersonas]) -> list[TextBlock]:
    gain = _(
        "<strong>Gain</strong>: the mean of all personas less the same judge without a persona, on the stories that "
        "both rated; 0 is none. Where one persona has no valid answer there is no mean. Personas that agree closely "
        "say the same several times, and their mean can gain little."
    )
    scales = _(
        "On scales alone: the source takes the mean of ratings, and verdicts, choices and pairs have none. Of those "
        "the answer of the first persona counts."
    )
    nobody = _("Without a persona %(judge)s is %(nobody)s: the same model, prompt and parameters.")
    return [
        TextBlock(words=phrase(gain)),
        TextBlock(words=scales),
        *(
            TextBlock(words=nobody % {"judge": judge.judge, "nobody": judge.nobody})
            for judge in result.rows
            if judge.nobody and judge.nobody != judge.judge
        ),
        notes.models_stories(),
        *notes.weakest(item.interval for judge in result.rows for item in judge.items),
    ]
