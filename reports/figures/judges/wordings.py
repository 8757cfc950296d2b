"""One model asked with several prompts, side by side: how far its answers go by the words of the question."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from reports.dataset.judged import judged
from reports.document import columns, notes
from reports.document.columns import decimals
from reports.document.model import DocumentSection, Files, Head, ReportTable, TableCell, TextBlock
from reports.document.phrases import joined, phrase
from reports.document.values import Interval
from reports.figures.base import Figure, Listing, ends_of_mean, note_of
from reports.figures.judges.scores import Score, score_parts
from reports.figures.judges.tables import score_columns
from reports.lazy import judge_scores, np, table_scores
from reports.numbers import coefficient, decimal, whole
from reports.numbers import interval as between

if TYPE_CHECKING:
    from reports.dataset import Dataset, StepItem
    from reports.dataset.judged import Judged
    from stats.arrays import FloatArray
    from stats.judge_scores import Statistic
    from stats.table_scores import TableStatistic

SALT = 30  # of the seed


@dataclass(frozen=True, kw_only=True)
class Wording:
    """One prompt. level : percent Yes, or the mean rating; score : Cohen's kappa pooled, or the mean of items' rho"""

    judge: str
    prompt: str
    level: float
    score: Score


@dataclass(frozen=True, kw_only=True)
class ModelWordings:
    """A model at its endpoint with equal parameters, over the answers that it gave in every wording.

    kind : "verdicts" or "scales"
    changed_percent : of these answers, on which not all wordings give the same
    level_spread, score_spread : the largest less the smallest over the wordings
    n : answers that all of them have
    """

    model: str
    kind: str
    wordings: tuple[Wording, ...]
    changed_percent: float
    interval: Interval
    level_spread: float
    score_spread: float | None
    n: int


class Wordings(Figure[Listing[ModelWordings]]):
    key = "wordings"
    title = gettext_lazy("Sensitivity to the judge’s prompt")
    position = 133
    section = "judges"
    tables = ("wordings",)
    edition = 3
    is_shown_sealed = False

    def compute(self, dataset: Dataset) -> Listing[ModelWordings]:
        prompts_by_model = dataset.records.prompts_by_model
        if not prompts_by_model:
            return Listing()
        scales = [item for item in dataset.items if item.is_scale]
        verdicts = _of_kind(dataset, dataset.verdict_items, "verdicts", prompts_by_model)
        return Listing((*verdicts, *_of_kind(dataset, scales, "scales", prompts_by_model)))

    def describe(self, result: Listing[ModelWordings], head: Head) -> Iterator[DocumentSection]:
        note = _(
            "The same model at the same endpoint with the same parameters, on what it answered to every prompt. What "
            "changes with the words of the question is not in the story."
        )
        yield DocumentSection(
            heading=self.title,
            body=[*map(_table, result.rows), Files(words=_("Every prompt"), table="wordings")],
            margin=[TextBlock(words=note), notes.models_stories(), *notes.weakest(row.interval for row in result.rows)],
        )


def _of_kind(
    dataset: Dataset, items: list[StepItem], kind: str, prompts_by_model: dict[str, dict[str, str]]
) -> Iterator[ModelWordings]:
    material = judged(dataset, items)
    if material is None:
        return
    for at, (model, prompts) in enumerate(prompts_by_model.items()):
        names = [name for name in material.names if name in prompts]
        if len(names) < 2:
            continue
        answers = material.judges[[material.names.index(name) for name in names]]
        answers = np.where(np.isfinite(answers).all(axis=0), answers, np.nan)
        if np.isfinite(answers).any():
            of_names = zip(names, answers, strict=True)
            wordings = tuple(
                _wording(dataset, material, name, prompts[name], own, kind, salt=(at, n))
                for n, (name, own) in enumerate(of_names)
            )
            yield _side_by_side(dataset, material, model, kind, wordings, answers, at)


def _wording(
    dataset: Dataset, material: Judged, name: str, prompt: str, own: FloatArray, kind: str, *, salt: tuple[int, int]
) -> Wording:
    """own : shape (I, U)"""
    statistic: Statistic | TableStatistic
    if kind == "verdicts":
        statistic, factor, reference = table_scores.KAPPA, 100, material.majorities()
    else:
        statistic, factor, reference = judge_scores.SPEARMAN, 1, material.means()
    at, n = salt
    # The factor stands for the kind: a seed takes numbers.
    salts, parts = (SALT, at, factor, n), ("all", "models")
    return Wording(
        judge=name,
        prompt=prompt,
        level=factor * float(np.nanmean(own)),
        score=score_parts(dataset, material, statistic, own, reference, names=parts, salt=salts),
    )


def _side_by_side(
    dataset: Dataset,
    material: Judged,
    model: str,
    kind: str,
    wordings: tuple[Wording, ...],
    answers: FloatArray,
    at: int,
) -> ModelWordings:
    """answers : shape (J, I, U), nan where not all wordings have one"""
    in_all = np.isfinite(answers[0])
    changed = np.where(in_all, 100.0 * (answers.max(axis=0) > answers.min(axis=0)), np.nan)
    levels = [wording.level for wording in wordings]
    values = [wording.score.whole.value for wording in wordings]
    known = [value for value in values if value is not None]
    return ModelWordings(
        model=model,
        kind=kind,
        wordings=wordings,
        changed_percent=float(changed[in_all].mean()),
        interval=ends_of_mean(changed, material.clusters, rng=dataset.rng(SALT, at, len(kind)), low=0, high=100),
        level_spread=max(levels) - min(levels),
        score_spread=max(known) - min(known) if len(known) > 1 else None,
        n=int(in_all.sum()),
    )


def _table(row: ModelWordings) -> ReportTable[Wording]:
    """The prompts of a model, and below them how far the largest value is from the smallest."""
    is_yes = row.kind == "verdicts"
    write = decimals(1 if is_yes else 2)
    heading = _("Cohen’s kappa, pooled") if is_yes else _("Spearman’s rho")
    sentence = _("%(model)s: of the %(n)s answers that it gave to every prompt, %(changed)s %% are not the same.")
    changed = phrase(sentence, model=row.model, n=whole(row.n), changed=decimal(row.changed_percent))
    ends = phrase(_("95 %% interval: %(ends)s."), ends=between(row.interval))
    spreads = [_("Largest less smallest"), "", write(row.level_spread), coefficient(row.score_spread), "", "", ""]
    return ReportTable(
        name="wordings",
        label=f"{row.model}, " + (_("verdicts") if is_yes else _("scales")),
        caption=joined(changed, ends if row.interval.low is not None else ""),
        rows=row.wordings,
        columns=[
            columns.words("prompt", _("Prompt"), css="kept-whole", is_head=True),
            columns.words("judge", _("Judge"), css="kept-whole"),
            columns.number("level", phrase(_("Yes, %%")) if is_yes else _("Mean"), write=write),
            *(column.at(_score_of) for column in score_columns(heading)),
            columns.in_file("statistic", lambda wording: wording.score.statistic),
            columns.constants(model=row.model, kind=row.kind, level_spread=row.level_spread),
            columns.constants(value_spread=row.score_spread, changed_percent=row.changed_percent),
            columns.constants(changed_low=row.interval.low, changed_high=row.interval.high, n=row.n),
            columns.note(lambda wording: note_of(wording.score.whole, wording.score.whole.interval)),
        ],
        foot=[[TableCell(words=words) for words in spreads]],
    )


def _score_of(wording: Wording) -> Score:
    return wording.score
