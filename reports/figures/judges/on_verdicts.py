"""Judges beside people: the same items about the same stories, judged by a model or a metric."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.models import Rater
from reports.dataset.judged import Judged, asked_units, judged
from reports.dataset.not_analysed import select_not_analysed
from reports.document import columns
from reports.document.files import file_only
from reports.document.model import Block, DocumentSection, Files, Head, Phrase, ReportTable, TextBlock
from reports.document.phrases import phrase
from reports.document.values import Estimate, Mean, Reason
from reports.figures.base import Figure, ItemRow, item_fields, mean, note_of
from reports.figures.judges import tables
from reports.figures.judges.plots import judge_plot
from reports.figures.judges.scores import JudgeScores, WithOutcomes, compare_judges
from reports.lazy import agreement, judgements, np, table_scores
from reports.numbers import coefficient, decimal, whole
from stats.reasons import Incomputable
from studies.items import all_types

if TYPE_CHECKING:
    import pandas as pd

    from reports.dataset import Dataset
    from stats.arrays import FloatArray

SALT = 20  # of the seed


@dataclass(frozen=True, kw_only=True)
class MajorityAgreement:
    """A judge against the majority of people, over n verdicts that both have."""

    kappa: Estimate
    balanced_accuracy: Estimate
    yes_percent: float | None
    majority_yes_percent: float | None
    n: int


@dataclass(frozen=True, kw_only=True)
class ItemMajorityAgreement(ItemRow, MajorityAgreement):
    pass


@dataclass(frozen=True, kw_only=True)
class JudgeComparison(WithOutcomes):
    """One judge; kappa_if_right, kappa_if_wrong : were all that it did not answer as the majority, or the opposite."""

    kind: str
    pooled: MajorityAgreement
    mean_kappa: Mean
    kappa_if_right: float | None
    kappa_if_wrong: float | None
    items: tuple[ItemMajorityAgreement, ...]
    scores: JudgeScores


@dataclass(frozen=True, kw_only=True)
class NotAnalysed:
    """What a judge answered to items of one type in one step that no figure analyses."""

    judge: str
    kind: str
    step: str
    type: str
    n_items: int
    n_answered: int
    n_declined: int
    n_unreadable: int

    @property
    def type_title(self) -> str:
        """What designers choose such an item by; a dash if no step asks it any more."""
        item_type = all_types().get(self.type)
        return str(item_type.title) if item_type else self.type or "–"


@dataclass(frozen=True, kw_only=True)
class JudgesResult:
    compared: tuple[JudgeComparison, ...]
    not_analysed: tuple[NotAnalysed, ...]


class Judges(Figure[JudgesResult]):
    """Only readable verdicts are compared. What was declined, cannot be read or never came is counted, never a No.
    Answers that no figure analyses are counted and named, so that no judge is silently absent."""

    key = "judges"
    title = gettext_lazy("Judges on verdicts")
    position = 120
    section = "judges"
    tables = ("judges", "judges-on-verdicts", "lost-verdicts")
    edition = 9
    is_shown_sealed = False
    nothing = JudgesResult(compared=(), not_analysed=())

    def compute(self, dataset: Dataset) -> JudgesResult:
        material = judged(dataset, dataset.verdict_items, with_jury=True)
        return JudgesResult(
            compared=_compared(dataset, material) if material else (),
            not_analysed=tuple(_not_analysed(select_not_analysed(dataset))),
        )

    def describe(self, result: JudgesResult, head: Head) -> Iterator[DocumentSection]:
        body = _beside_people(result, head) if result.compared else []
        note = _("A judge who always gives the same answer has a kappa of 0, which enters the mean.")
        margin = [
            TextBlock(words=_("What a judge declined, what cannot be read and what never came is none of it a No.")),
            *tables.floor_notes(),
            TextBlock(words=note),
        ]
        yield DocumentSection(
            heading=self.title,
            body=[*body, _not_analysed_table(result)] if result.not_analysed else body,
            margin=margin if result.compared else [],
        )

    def is_empty(self, result: JudgesResult) -> bool:
        return not result.compared and not result.not_analysed


def _compared(dataset: Dataset, material: Judged) -> tuple[JudgeComparison, ...]:
    truth = material.majorities()
    fields = [item_fields(item) for item in material.items]
    compared = compare_judges(
        *(dataset, material, Judged.majorities, table_scores.NOMINAL),
        of_item=(table_scores.KAPPA, table_scores.BALANCED_ACCURACY, table_scores.PERCENT_AGREEMENT),
        against=("pairwise", "majority"),
        salt=SALT,
    )
    comparisons = []
    for scores, verdicts in zip(compared, material.judges, strict=True):
        is_asked = asked_units(dataset, scores.judge, material.units)
        own, theirs = verdicts[:, is_asked], truth[:, is_asked]
        items = tuple(
            ItemMajorityAgreement(**of, **vars(_against(v, t)))
            for of, v, t in zip(fields, verdicts, truth, strict=True)
        )
        comparisons.append(
            JudgeComparison(
                judge=scores.judge,
                kind=Rater.Kind.MODEL.value,
                pooled=_against(verdicts.ravel(), truth.ravel()),
                mean_kappa=mean(item.kappa for item in items),
                kappa_if_right=_against(_filled(own, theirs), theirs.ravel()).kappa.value,
                kappa_if_wrong=_against(_filled(own, 1 - theirs), theirs.ravel()).kappa.value,
                items=items,
                outcomes=scores.outcomes,
                scores=scores,
            )
        )
    return tuple(comparisons)


def _filled(verdicts: FloatArray, answers: FloatArray) -> FloatArray:
    """The verdicts with these answers where there is none, shape (I × U,)."""
    return np.where(np.isfinite(verdicts), verdicts, answers).ravel()


def _against(verdicts: FloatArray, truth: FloatArray) -> MajorityAgreement:
    try:
        comparison = judgements.compare_with_majority(verdicts, truth)
    except Incomputable as error:
        nothing = Estimate(value=None, why=Reason.of(error))
        return MajorityAgreement(
            kappa=nothing, balanced_accuracy=nothing, yes_percent=None, majority_yes_percent=None, n=0
        )
    return MajorityAgreement(
        kappa=_estimate(comparison.kappa),
        balanced_accuracy=_estimate(comparison.balanced_accuracy),
        yes_percent=100 * comparison.yes_rate,
        majority_yes_percent=100 * comparison.majority_yes_rate,
        n=comparison.n,
    )


def _estimate(value: agreement.Coefficient | float | Incomputable) -> Estimate:
    if isinstance(value, Incomputable):
        return Estimate(value=None, why=Reason.of(value))
    return Estimate(value=float(value), note=value.note if isinstance(value, agreement.Coefficient) else None)


def _not_analysed(answers: pd.DataFrame) -> Iterator[NotAnalysed]:
    """A count for each judge, step and type of item; an item that the protocol no longer asks has no type."""
    for (judge, step, item_type), rows in answers.groupby(["rater", "step", "type"], observed=True):
        n_by_outcome = rows["outcome"].value_counts()
        yield NotAnalysed(
            judge=str(judge),
            kind=str(rows["rater_kind"].iloc[0]),
            step=str(step),
            type=str(item_type),
            n_items=int(rows["item"].nunique()),
            n_answered=int(n_by_outcome.get("answered", 0)),
            n_declined=int(n_by_outcome.get("declined", 0)),
            n_unreadable=int(n_by_outcome.get("unreadable", 0)),
        )


def _beside_people(result: JudgesResult, head: Head) -> list[Block]:
    judges = [judge.scores for judge in result.compared]
    lost = _("What is missing of each judge’s verdicts, in percent of those expected, by source.")
    return [
        *tables.plot(judge_plot(judges)),
        *tables.beside_people(
            judges,
            head,
            label=_("Judges against the majority"),
            caption=_("Against the majority of the raters, over the verdicts that can be read."),
        ),
        tables.statistics_file("judges-on-verdicts", judges),
        Files(words=_("Every statistic, test by test"), table="judges-on-verdicts"),
        *([_shares_of_yes(result)] if any(judge.n_people for judge in judges) else []),
        _majority_file(result),
        Files(words=_("Test by test"), table="judges"),
        *tables.losses("lost-verdicts", result.compared, caption=lost, more=_kappa_if_answered),
    ]


def _shares_of_yes(result: JudgesResult) -> ReportTable[JudgeComparison]:
    return ReportTable(
        label=_("Shares of Yes"),
        caption=_("Percent Yes, over the verdicts that both have."),
        rows=result.compared,
        columns=[
            columns.words("judge", _("Judge"), is_head=True),
            columns.shown(phrase(_("Judge’s<br>Yes, %%")), lambda judge: decimal(judge.pooled.yes_percent)),
            columns.shown(phrase(_("Majority’s<br>Yes, %%")), lambda judge: decimal(judge.pooled.majority_yes_percent)),
            columns.shown("n", lambda judge: whole(judge.pooled.n)),
        ],
    )


def _majority_file(result: JudgesResult) -> ReportTable[tuple[str, ItemMajorityAgreement]]:
    """Each judge against the majority test by test, last over all of them."""

    def over_all(judge: JudgeComparison) -> ItemMajorityAgreement:
        return ItemMajorityAgreement(step="", item="pooled", title="", dimension="", type="", **vars(judge.pooled))

    return file_only(
        "judges",
        [(judge.judge, item) for judge in result.compared for item in (*judge.items, over_all(judge))],
        columns.in_file("judge", lambda pair: pair[0]),
        columns.item_in_file(lambda pair: pair[1]),
        columns.fields(kappa="kappa.value", balanced_accuracy="balanced_accuracy.value", of=lambda pair: pair[1]),
        columns.fields("yes_percent", "majority_yes_percent", "n", of=lambda pair: pair[1]),
        columns.note(lambda pair: note_of(pair[1].kappa) or pair[1].kappa.note or ""),
    )


def _kappa_if_answered(judge: JudgeComparison) -> Phrase:
    if judge.pooled.kappa.value is None or judge.kappa_if_right is None:
        return ""
    sentence = _("Its kappa is %(kappa)s; were all that is missing right, it would be %(right)s, all wrong, %(wrong)s.")
    kappas = {"kappa": judge.pooled.kappa.value, "right": judge.kappa_if_right, "wrong": judge.kappa_if_wrong}
    return sentence % {name: coefficient(kappa) for name, kappa in kappas.items()}


def _not_analysed_table(result: JudgesResult) -> ReportTable[NotAnalysed]:
    return ReportTable(
        label=_("Answers of judges that no figure analyses"),
        caption=_(
            "Answers of judges that no figure of this report analyses: they are counted here, and each stands in the "
            "package of answers (Exports)."
        ),
        rows=result.not_analysed,
        columns=[
            columns.words("judge", _("Judge"), is_head=True),
            columns.words("step", _("Step"), language="en"),
            columns.words("type", _("Type of item"), lambda row: row.type_title),
            columns.number("n_items", _("Items")),
            columns.number("n_answered", _("Answers")),
            columns.number("n_declined", _("Declined")),
            columns.number("n_unreadable", _("Unreadable")),
        ],
    )
