"""What raters together probably answered by the model of Dawid and Skene, beside what most of them answered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from reports.dataset.blocks import choice_ratings
from reports.document import columns
from reports.document.columns import LEAD, decimals
from reports.document.model import (
    Block,
    DocumentSection,
    Files,
    Head,
    ReportTable,
    Subsection,
    TableCell,
    TableColumn,
    TextBlock,
)
from reports.document.phrases import joined, phrase
from reports.document.values import Reason
from reports.figures.base import ALL_ITEMS, Figure, ItemRow, item_fields, without_value
from reports.lazy import dawid_skene, np
from reports.numbers import decimal, whole
from reports.reasons import to_english
from stats.reasons import Incomputable

if TYPE_CHECKING:
    from reports.dataset import Dataset, StepItem
    from stats.arrays import FloatArray
    from stats.dawid_skene import DawidSkene

YES = ("no", "yes")  # verdicts by their numbers
MOST_OPEN = 12  # raters; the table of more is folded away


@dataclass(frozen=True, kw_only=True)
class AnswerShare(ItemRow):
    """How often an answer to an item is the one that raters together give.

    n : units with an answer, n_majority : with a majority, which share `majority_percent`; the others are tied
    value : the share by the model in percent, over all n
    n_differ : units with a majority whose most probable answer is another one
    """

    option: str
    label: str
    n: int
    n_raters: int
    n_majority: int
    majority_percent: float | None
    value: float | None
    why: Reason | None
    n_differ: int | None

    @property
    def n_tied(self) -> int:
        return self.n - self.n_majority


@dataclass(frozen=True, kw_only=True)
class RaterRecognition(ItemRow):
    """How often a rater gives an answer where it is the right one by the model, in percent: of Yes the sensitivity, of
    No the specificity. n : how many such units the rater rated, by their probabilities, None without a model"""

    option: str
    label: str
    rater: str
    n: float | None
    value: float | None
    why: Reason | None


@dataclass(frozen=True, kw_only=True)
class DawidSkeneResult:
    answers: tuple[AnswerShare, ...]
    raters: tuple[RaterRecognition, ...]


@dataclass(frozen=True)
class _Question:
    """What one model is fitted to. codes : shape (R, U); options : value and label of each code"""

    about: ItemRow
    options: tuple[tuple[str, str], ...]
    codes: FloatArray
    shown: tuple[int, ...]
    has_raters: bool


class DawidSkeneFigure(Figure[DawidSkeneResult]):
    """All verdicts together share one table of errors a rater; each alone, and each choice, has its own."""

    key = "dawid_skene"
    title = gettext_lazy("Dawid–Skene and majority labels")
    position = 57
    section = "agreement"
    tables = ("dawid-skene", "dawid-skene-raters")

    def compute(self, dataset: Dataset) -> DawidSkeneResult | None:
        questions = list(_questions(dataset))
        if not questions:
            return None
        models = [(question, _fit(question)) for question in questions]
        return DawidSkeneResult(
            answers=tuple(row for question, model in models for row in _answer_shares(question, model)),
            raters=tuple(
                row
                for question, model in models
                if question.has_raters
                for row in _recognitions(question, model, dataset.raters)
            ),
        )

    def is_empty(self, result: DawidSkeneResult) -> bool:
        return not any(row.n for row in result.answers)

    def describe(self, result: DawidSkeneResult, head: Head) -> Iterator[DocumentSection]:
        margin = [
            _(
                "The model supposes that each story has one right answer, and that raters err independently of each "
                "other and as often on every story. Where taste differs there is no such answer; whoever differs from "
                "the probable answer is not wrong."
            ),
            _(
                "Estimated by expectation and maximisation from the shares of votes on, with one answer added to each "
                "cell of a rater’s table, until no probability changes by more than one in a million. Missing answers "
                "count for nothing. There are no intervals: it is a check on the majority, and no other figure uses it."
            ),
        ]
        yield DocumentSection(
            heading=_("Dawid–Skene and majority labels"),
            body=[
                *(TextBlock(words=words) for words in _findings(result)),
                _answer_table(result, head),
                Files(words=_("Answers of raters together"), table="dawid-skene"),
                *_rater_blocks(result, head),
            ],
            margin=[TextBlock(words=words) for words in margin],
        )


def _questions(dataset: Dataset) -> Iterator[_Question]:
    """All verdicts together where there are several, then every item."""
    verdicts = dataset.verdict_items
    if len(verdicts) > 1:
        cube = dataset.verdict_cube
        codes = np.concatenate(list(cube.values), axis=1)
        yield _Question(ALL_ITEMS, _verdict_options(verdicts[0]), codes, (1,), has_raters=True)
    for item in dataset.items:
        about = ItemRow(**item_fields(item))
        if item.type.is_verdict and item.is_about_a_story:
            codes = dataset.cube([item]).values[0]
            yield _Question(about, _verdict_options(item), codes, (1,), has_raters=len(verdicts) == 1)
        elif item.is_choice and not item.is_guess and len(item.item.options) > 1:
            options = tuple((option["value"], option["label"]) for option in item.item.options)
            yield _Question(about, options, choice_ratings(dataset, item), tuple(range(len(options))), has_raters=True)


def _verdict_options(item: StepItem) -> tuple[tuple[str, str], ...]:
    return tuple((value, item.type.label(item.item, value)) for value in YES)


def _fit(question: _Question) -> DawidSkene | Incomputable:
    try:
        return dawid_skene.fit_identified(question.codes, len(question.options))
    except Incomputable as reason:
        return reason


def _answer_shares(question: _Question, model: DawidSkene | Incomputable) -> Iterator[AnswerShare]:
    has_answer = np.isfinite(question.codes)
    majority = dawid_skene.majority(question.codes, len(question.options))
    has_majority = majority >= 0
    n_majority = int(has_majority.sum())
    for code in question.shown:
        option, label = question.options[code]
        value = n_differ = reason = None
        if isinstance(model, Incomputable):
            reason = Reason.of(model)
        else:
            value = float(100 * model.shares[code])
            n_differ = int((has_majority & (model.labels != majority)).sum())
        yield AnswerShare(
            **vars(question.about),
            option=option,
            label=label,
            n=int(has_answer.any(axis=0).sum()),
            n_raters=int(has_answer.any(axis=1).sum()),
            n_majority=n_majority,
            majority_percent=float(100 * (majority[has_majority] == code).mean()) if n_majority else None,
            value=value,
            why=reason,
            n_differ=n_differ,
        )


def _recognitions(
    question: _Question, model: DawidSkene | Incomputable, raters: list[str]
) -> Iterator[RaterRecognition]:
    codes = reversed(range(len(question.options))) if len(question.shown) == 1 else question.shown
    places = np.flatnonzero(np.isfinite(question.codes).any(axis=1)).tolist()
    for code, place in product(codes, places):
        n = value = None
        if isinstance(model, Incomputable):
            reason: Reason | None = Reason.of(model)
        else:
            n, share = float(model.n_expected[place, code]), float(model.recognised[place, code])
            value = 100 * share if np.isfinite(share) else None
            too_few = without_value("too_few_such_units", least=dawid_skene.FEWEST_UNITS)
            reason = too_few if value is None else None
        option, label = question.options[code]
        yield RaterRecognition(
            **vars(question.about), option=option, label=label, rater=raters[place], n=n, value=value, why=reason
        )


def _findings(result: DawidSkeneResult) -> Iterator[str]:
    """What the model changes, of all verdicts together or of the first item; or that it says nothing."""
    fitted = [row for row in result.answers if row.value is not None]
    if not fitted:
        yield _("Ratings are too few for the model of Dawid and Skene; the table says why, item by item.")
        return
    row = fitted[0]
    sentence = (
        _(
            "Over all tests together the most probable answer differs from the majority’s in %(n)s of %(all)s cases, a "
            "case being a story and a test. %(answer)s: %(majority)s %% by majority, %(model)s %% by Dawid and Skene."
        )
        if row.item == ALL_ITEMS.item
        else _(
            "The most probable answer differs from the majority’s on %(n)s of %(all)s stories. %(answer)s: "
            "%(majority)s %% by majority, %(model)s %% by Dawid and Skene."
        )
    )
    yield phrase(
        sentence,
        n=whole(row.n_differ),
        all=whole(row.n_majority),
        answer=row.label,
        majority=decimal(row.majority_percent),
        model=decimal(row.value),
    )


def _answer_table(result: DawidSkeneResult, head: Head) -> ReportTable[AnswerShare]:
    return ReportTable(
        name="dawid-skene",
        label=_("Answers of raters together"),
        caption=joined(
            _("Majority: of 100 stories on which one answer has the most votes, on how many it is this one."),
            _("Dawid–Skene: of 100 stories, how many have this answer by the model, ties included."),
        ),
        rows=result.answers,
        columns=[
            *_about(head),
            columns.number("majority_percent", phrase(_("Majority, %%")), write=decimals(1)),
            columns.number(
                *("model_percent", phrase(_("Dawid–Skene, %%"))),
                of=lambda row: row.value,
                write=decimals(1),
                why=lambda row: row.why,
                css=LEAD,
            ),
            columns.number("n_differ", _("Differ"), why=lambda row: row.why),
            columns.number("n_tied", _("Tied")),
            columns.number("n", _("Stories")),
            columns.number("n_raters", _("Raters")),
            columns.note(_note),
        ],
    )


def _rater_blocks(result: DawidSkeneResult, head: Head) -> list[Block]:
    table = ReportTable(
        name="dawid-skene-raters",
        label=_("Raters’ agreement with the most probable answer"),
        caption=_(
            "Of 100 stories with that answer by the model, how often the rater gives it: of Yes the sensitivity, of No "
            "the specificity. A small number says that a rater draws the line elsewhere than most."
        ),
        rows=result.raters,
        columns=[
            *_about(head),
            columns.words("rater", _("Rater"), is_head=True),
            columns.number(
                *("recognised_percent", phrase(_("Given, %%"))),
                of=lambda row: row.value,
                write=decimals(0),
                why=lambda row: row.why,
                css=LEAD,
            ),
            columns.number("such_stories", _("Such stories"), of=lambda row: row.n, write=decimals(1)),
            columns.note(_note),
        ],
    )
    files = Files(words=_("Raters beside the probable answer"), table="dawid-skene-raters")
    if not any(row.n for row in result.raters):
        return [replace(table, is_shown=False), *([files] if result.raters else [])]
    is_open = len({row.rater for row in result.raters}) <= MOST_OPEN
    return [Subsection(summary=_("Rater by rater"), is_open=is_open, blocks=[table, files])]


def _about(head: Head) -> list[TableColumn[Any]]:
    """The item of a row and its answer; of all verdicts together only words of ours."""

    def title(row: ItemRow) -> TableCell:
        if row.item == ALL_ITEMS.item:
            return TableCell(words=_("All tests together"))
        return TableCell(words=row.title, language=head.language)

    return [
        replace(columns.item_in_file(), heading=_("Item"), cell=title),
        columns.words("option", _("Answer"), shown=lambda row: row.label, language=head.language),
    ]


def _note(row: AnswerShare | RaterRecognition) -> str:
    return to_english(row.why) if row.why else ""
