"""What a judge's answers go by beside the story's worth: its length, habits, and chance."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop

from reports.dataset.judged import judged
from reports.dataset.lengths import explanation_lengths, story_lengths
from reports.dataset.readings import repeated_answers
from reports.document import columns, notes
from reports.document.columns import LEAD, decimals, ends
from reports.document.model import DocumentSection, Files, Head, ReportTable, RowGroup, TextBlock
from reports.document.phrases import phrase
from reports.document.values import Interval, IntervalEstimate, Reason
from reports.figures.base import N_RESAMPLES, Figure, Listing, ends_of_mean, interval, note_of
from reports.lazy import judge_biases, judge_scores, np
from reports.numbers import whole
from stats.reasons import Incomputable

if TYPE_CHECKING:
    from reports.dataset import Dataset, StepItem
    from reports.dataset.cubes import Pair
    from reports.dataset.judged import Judged
    from stats.arrays import FloatArray

SALT = 28  # of the seed
NAMES = {
    "verbosity": gettext_noop("Length: for a story twice as long"),
    "modal_share": gettext_noop("Commonest answer, %"),
    "explanations": gettext_noop("Words of explanation: right less wrong"),
    "repeats": gettext_noop("Variance when read again"),
}


@dataclass(frozen=True, kw_only=True)
class Bias(IntervalEstimate):
    """One number of the audit.

    bias : "verbosity", "modal_share", "explanations" or "repeats"
    kind : "verdicts" (Yes is 1) or "scales"
    people : what the same is of people, where there is such a thing
    n, n_beside : answers that it rests on; of a difference those on either side
    """

    judge: str
    bias: str
    kind: str
    people: float | None
    n: int
    n_beside: int | None = None

    @property
    def title(self) -> str:
        return _(NAMES[self.bias])

    @property
    def places(self) -> int:
        """With how many decimals it is written: shares with one, as everywhere."""
        return 1 if self.bias == "modal_share" else 2


class JudgeBiases(Figure[Listing[Bias]]):
    """Position stands with the pairs, the spread over several wordings in a figure of its own."""

    key = "judge_biases"
    title = gettext_lazy("Judge biases")
    position = 130
    section = "judges"
    tables = ("judge-biases",)
    edition = 3
    is_shown_sealed = False

    def compute(self, dataset: Dataset) -> Listing[Bias]:
        scales = [item for item in dataset.items if item.is_scale]
        rows = [*_audit(dataset, dataset.verdict_items, "verdicts"), *_audit(dataset, scales, "scales")]
        # Judges beside each other, since one asks which of them goes by something.
        return Listing(tuple(sorted(rows, key=lambda row: (row.kind != "verdicts", list(NAMES).index(row.bias)))))

    def describe(self, result: Listing[Bias], head: Head) -> Iterator[DocumentSection]:
        table = ReportTable(
            name="judge-biases",
            label=_("Judge biases, table"),
            caption=_(
                "What moves a judge’s answers beside the story; people’s own value where there is one. Of verdicts Yes "
                "is 1 and No is 0."
            ),
            rows=result.rows,
            groups=_groups(result.rows),
            why=lambda row: row.why,
            columns=[
                columns.words("judge", _("Judge"), is_head=True),
                columns.with_places(
                    lambda places: columns.number("value", _("Value"), write=decimals(places), css=LEAD),
                    lambda row: row.places,
                ),
                columns.with_places(
                    lambda places: columns.interval(lambda row: row.interval, write=ends(places)),
                    lambda row: row.places,
                ),
                columns.with_places(
                    lambda places: columns.number("people", _("People"), write=decimals(places)), lambda row: row.places
                ),
                columns.number("n", "n", shown=_counts),
                columns.fields("kind", "bias", "n_beside"),
                columns.note(lambda row: note_of(row, row.interval)),
            ],
        )
        length = _(
            "<strong>Length</strong>: how much more the judge gives a story twice as long that people rate alike; "
            "beside it each person’s own, given the others. Which story is shown first stands with the pairs."
        )
        yield DocumentSection(
            heading=self.title,
            body=[table, Files(words=_("Every judge"), table="judge-biases")],
            margin=[TextBlock(words=phrase(length)), *notes.weakest(row.interval for row in result.rows)],
        )


def _audit(dataset: Dataset, items: list[StepItem], kind: str) -> Iterator[Bias]:
    material = judged(dataset, items)
    if material is None:
        return
    words = story_lengths(dataset, material.units)
    explanations = explanation_lengths(dataset, material)
    for at, (judge, answers) in enumerate(zip(material.names, material.judges, strict=True)):
        salt = (SALT, len(kind), at)  # a seed takes numbers, and the two kinds differ in length
        audits: dict[str, Callable[[], Bias]] = {
            "verbosity": partial(_verbosity, dataset, material, answers, words, salt),
            "modal_share": partial(_modal_share, dataset, material, answers, salt),
        }
        if kind == "verdicts" and np.isfinite(explanations[at]).any():
            audits["explanations"] = partial(_explanations, dataset, material, answers, explanations[at], salt)
        readings, units = repeated_answers(dataset, items, judge)
        if readings.size:
            audits["repeats"] = partial(_repeats, dataset, readings, units, salt)
        for bias, compute in audits.items():
            yield _named(compute, judge=judge, bias=bias, kind=kind)


def _named(compute: Callable[[], Bias], *, judge: str, bias: str, kind: str) -> Bias:
    """The number with whose and what it is, or the reason why there is none."""
    try:
        row = compute()
    except Incomputable as error:
        row = Bias(
            judge="",
            bias="",
            kind="",
            value=None,
            why=Reason.of(error),
            people=None,
            interval=Interval(low=None, high=None),
            n=0,
        )
    return replace(row, judge=judge, bias=bias, kind=kind)


def _bias(value: float, ends: Interval, **fields: Any) -> Bias:
    return Bias(judge="", bias="", kind="", value=value, interval=ends, **{"people": None} | fields)


def _verbosity(
    dataset: Dataset, material: Judged, answers: FloatArray, words: FloatArray, salt: tuple[int, ...]
) -> Bias:
    slope = judge_biases.verbosity(
        answers,
        material.people,
        words,
        material.clusters,
        rng=dataset.rng(*salt, 0),
        n_resamples=N_RESAMPLES,
    )
    people = None if np.isnan(slope.people) else slope.people
    return _bias(slope.judge, Interval.of(slope.interval), people=people, n=slope.n_units, n_raters=slope.n_people)


def _modal_share(dataset: Dataset, material: Judged, answers: FloatArray, salt: tuple[int, ...]) -> Bias:
    statistic = judge_scores.MODAL_SHARE
    share = judge_scores.score(statistic, answers, answers)
    ends = interval(
        *(judge_scores.score_interval, statistic, answers, answers, material.clusters),
        rng=dataset.rng(*salt, 1),
        n_resamples=N_RESAMPLES,
    )
    own = [material.people[:, row] for row in range(material.people.shape[1])]
    of_people = [judge_scores.score(statistic, ratings, ratings) for ratings in own if np.isfinite(ratings).any()]
    people = float(np.mean(of_people)) if of_people else None
    return _bias(share, ends, people=people, n=int(np.isfinite(answers).sum()), n_raters=len(of_people))


def _explanations(
    dataset: Dataset, material: Judged, answers: FloatArray, lengths: FloatArray, salt: tuple[int, ...]
) -> Bias:
    truth = material.majorities()
    is_compared = np.isfinite(truth) & np.isfinite(answers)
    right = np.where(is_compared & (answers == truth), lengths, np.nan)
    wrong = np.where(is_compared & (answers != truth), lengths, np.nan)
    audited = judge_biases.difference(
        right, wrong, material.clusters, rng=dataset.rng(*salt, 3), n_resamples=N_RESAMPLES
    )
    return _bias(audited.value, Interval.of(audited.interval), n=audited.n_first, n_beside=audited.n_second)


def _repeats(dataset: Dataset, readings: FloatArray, units: list[Pair], salt: tuple[int, ...]) -> Bias:
    variances = judge_biases.repeat_variances(readings)
    ends = ends_of_mean(variances, dataset.clusters_of_units(units), rng=dataset.rng(*salt, 4), low=0)
    return _bias(float(np.nanmean(variances)), ends, n=int(np.isfinite(variances).sum()))


def _groups(rows: Sequence[Bias]) -> list[RowGroup[Bias]]:
    kinds = {"verdicts": _("verdicts"), "scales": _("scales")}
    return [
        RowGroup(heading=f"{title} ({kinds[kind]})", rows=list(part))
        for (kind, title), part in groupby(rows, key=lambda row: (row.kind, row.title))
    ]


def _counts(row: Bias) -> str:
    return ", ".join(whole(n) for n in (row.n, row.n_beside) if n is not None)
