"""Whether a judge agrees better with experts since its prompt was changed by what they answered about other stories."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from reports.dataset import cubes
from reports.dataset.judged import answers_to, judged
from reports.document import columns, notes
from reports.document.columns import LEAD
from reports.document.model import DocumentSection, Files, Head, Phrase, ReportTable, RowGroup, TextBlock
from reports.document.phrases import phrase
from reports.document.values import Estimate, Interval, IntervalEstimate
from reports.figures.base import Figure, Listing, Statement, estimate, note_of
from reports.figures.judges.standings import Standing, best_constant, standing_of
from reports.lazy import agreement, alignment_gain, comparisons, np
from reports.numbers import NONE, coefficient, decimal
from studies.documents.analysis_plan import EPSILON

if TYPE_CHECKING:
    from reports.dataset import Dataset, StepItem
    from reports.dataset.judged import Judged
    from reports.dataset.records.alignments import AlignedJudge
    from stats.alternative_annotator import Score
    from stats.arrays import BoolArray, FloatArray

SALT = 156  # of the seed
PERCENT = 100.0
LEAST_CLUSTERS = 4  # from which a gain can be clear
MOST_LOST = 0.1  # of the ratings to compare; beyond it nothing is said of a gain
SCORES: dict[str, Score] = {"verdicts": "accuracy", "scales": "neg_rmse"}


@dataclass(frozen=True, kw_only=True)
class VersionGain(IntervalEstimate):
    """What a changed prompt gains on the held-out stories, in percentage points; a distance that falls is a gain.

    kind : "verdicts" or "scales"; base, judge : with the present and the changed prompt
    n_tried : changed prompts that were tried in the study; the interval holds with those of all of them
    base_percent, percent : of verdicts that are as the experts' majority, one that is missing counting as none; of
        scales the distance from the experts' mean, of the scale's width
    base_coefficient, coefficient : Cohen's kappa with the majority, of all verdicts together, or the mean of the items'
        Spearman's rho with the mean; both on what both prompts got an answer to
    base_test, test, constant_test : of story means; of the constant answer that does best
    n_experts : who answered about the stories that are compared
    n_stories, n : held out; answers compared
    n_lost : what cannot be read or was declined since the change; of verdicts among those compared, as none that
        agrees, of scales beside them
    held_out : codes of the groups
    """

    kind: str
    base: str
    judge: str
    prompt: str
    n_tried: int
    base_percent: float
    percent: float
    base_coefficient: Estimate
    coefficient: Estimate
    base_test: Standing
    test: Standing
    constant_test: Standing
    n_experts: int
    n_stories: int
    n: int
    n_lost: int
    held_out: tuple[str, ...]

    @property
    def is_clear(self) -> bool:
        return self._is_known and self.interval.low is not None and self.interval.low > 0

    @property
    def is_clear_loss(self) -> bool:
        return self._is_known and self.interval.high is not None and self.interval.high < 0

    @property
    def loses_too_many(self) -> bool:
        """Whether the ratings that are left may be the easy ones. A verdict that is lost counts as none that agrees."""
        return self.kind == "scales" and self.n_lost > MOST_LOST * (self.n + self.n_lost)

    @property
    def _is_known(self) -> bool:
        return (self.interval.n_resampled or 0) >= LEAST_CLUSTERS and not self.loses_too_many


class AlignmentGains(Figure[Listing[VersionGain]]):
    key = "alignment"
    title = gettext_lazy("Alignment with experts")
    position = 137
    section = "judges"
    tables = ("alignment",)
    is_shown_sealed = False

    def compute(self, dataset: Dataset) -> Listing[VersionGain]:
        aligned = dataset.records.aligned_judges
        if not aligned:
            return Listing()
        scales = [item for item in dataset.items if item.item.type == "scale"]
        kinds = {"verdicts": dataset.verdict_items, "scales": scales}
        return Listing(tuple(row for kind, items in kinds.items() for row in _rows(dataset, kind, items, aligned)))

    def describe(self, result: Listing[VersionGain], head: Head) -> Iterator[DocumentSection]:
        table = ReportTable(
            name="alignment",
            label=_("Alignment with experts, table"),
            caption=_("Judges before and after their prompt was changed, on the held-out stories alone."),
            rows=result.rows,
            groups=[
                RowGroup(heading=_heading(kind), rows=list(rows))
                for kind, rows in groupby(result.rows, key=lambda row: row.kind)
            ],
            columns=[
                columns.words("judge", _("Judge"), is_head=True),
                columns.shown(phrase(_("Before,<br>after, %%")), _percents),
                *columns.with_interval("gain", _("Gain, points"), places=1, prefix="gain_", css=LEAD),
                columns.shown(phrase(_("Coefficient<br>before, after")), _coefficients),
                columns.shown(phrase(_("Winning rate before,<br>after, constant")), _winning_rates),
                columns.counts(phrase(_("Answers,<br>lost")), "n", "n_lost"),
                columns.fields("kind", "base", "prompt", "n_tried", "n_experts", "n_stories", "n_lost"),
                columns.fields(before_percent="base_percent", after_percent="percent"),
                columns.fields(before_coefficient="base_coefficient.value", after_coefficient="coefficient.value"),
                columns.fields(before_winning_rate="base_test.winning_rate", winning_rate="test.winning_rate"),
                columns.fields(constant_winning_rate="constant_test.winning_rate"),
                columns.fields(before_advantage="base_test.advantage", advantage_probability="test.advantage"),
                columns.note(lambda row: note_of(row, row.interval) or note_of(row.coefficient) or note_of(row.test)),
            ],
        )
        yield DocumentSection(
            heading=self.title,
            body=[
                *(TextBlock(words=sentence) for sentence, _row in _sentences(result.rows)),
                table,
                Files(words=_("Every changed prompt"), table="alignment"),
            ],
            margin=[*_notes(result.rows), *notes.weakest(row.interval for row in result.rows)],
        )

    def statements(self, result: Listing[VersionGain], head: Head) -> Iterator[Statement]:
        for sentence, row in _sentences(result.rows):
            basis = ngettext(
                "On %(n)d story that played no part in the change",
                "On %(n)d stories that played no part in the change",
                row.n_stories,
            )
            yield Statement(sentence=sentence, basis=basis % {"n": row.n_stories}, position=31)


def _rows(dataset: Dataset, kind: str, items: list[StepItem], aligned: Sequence[AlignedJudge]) -> Iterator[VersionGain]:
    """Every changed prompt with which items of that kind were answered, beside the one it was made from."""
    material = judged(dataset, items)
    if material is None or not material.raters:
        return
    truth = material.majorities() if kind == "verdicts" else material.means()
    tried, bases, versions = [], [], []
    for row in aligned:
        if not {row.base, row.judge} <= set(material.names):
            continue
        is_held_out = np.array([group in row.held_out for group, _story in material.units], dtype=np.bool_)
        base, version = (
            _closeness(dataset, material, name, kind, truth, is_held_out) for name in (row.base, row.judge)
        )
        if (np.isfinite(base) & np.isfinite(version)).any():
            tried.append((row, is_held_out))
            bases.append(base.ravel())
            versions.append(version.ravel())
    if not tried:
        return
    labels = np.tile(material.clusters, len(items))
    rng = dataset.rng(SALT, list(SCORES).index(kind))
    for (row, is_held_out), base, version, gain in zip(
        tried, bases, versions, alignment_gain.gains(bases, versions, labels, rng=rng), strict=True
    ):
        is_compared = np.isfinite(base) & np.isfinite(version)
        is_shown = is_compared.reshape(truth.shape)
        is_distance = kind == "scales"
        percents = [PERCENT * (1 - mean if is_distance else mean) for mean in (gain.base, gain.version)]
        stories = {material.units[at % len(material.units)] for at in np.flatnonzero(is_compared)}
        tests = [
            _test(dataset, material, name, kind, is_held_out, n_tried=n)
            for name, n in ((row.base, 1), (row.judge, len(tried)), ("", 1))
        ]
        answers = [_answers(material, name) for name in (row.base, row.judge)]
        is_answered = is_shown & np.isfinite(answers).all(axis=0)
        coefficients = [_coefficient(own, truth, kind, is_answered) for own in answers]
        is_lost = np.isfinite(base) & _is_asked(dataset, material, row.judge).ravel() & ~np.isfinite(answers[1].ravel())
        has_rated = np.isfinite(material.people) & is_shown[:, np.newaxis]
        yield VersionGain(
            value=PERCENT * gain.gain,
            interval=_in_points(Interval.of(gain.interval)),
            kind=kind,
            base=row.base,
            judge=row.judge,
            prompt=row.prompt,
            n_tried=len(tried),
            base_percent=percents[0],
            percent=percents[1],
            base_coefficient=coefficients[0],
            coefficient=coefficients[1],
            base_test=tests[0],
            test=tests[1],
            constant_test=tests[2],
            n_experts=int(has_rated.any(axis=(0, 2)).sum()),
            n_stories=len(stories),
            n=gain.n_units,
            n_lost=int(is_lost.sum()),
            held_out=row.held_out,
        )


def _answers(material: Judged, name: str) -> FloatArray:
    """Of the judge of that name, shape (I, U)."""
    return np.asarray(material.judges[material.names.index(name)])


def _closeness(
    dataset: Dataset, material: Judged, name: str, kind: str, truth: FloatArray, is_held_out: BoolArray
) -> FloatArray:
    """How near the judge is to people, from 0 to 1, shape (I, U); nan where nothing is compared.

    A verdict that was asked for and not given is none that agrees.
    """
    answers = _answers(material, name)
    if kind == "verdicts":
        closeness = (answers == truth).astype(np.float64)
        is_compared = _is_asked(dataset, material, name) & np.isfinite(truth)
    else:
        widths = [item.item.settings["high"] - item.item.settings["low"] for item in material.items]
        closeness = 1 - np.abs(answers - truth) / np.array(widths, dtype=np.float64)[:, np.newaxis]
        is_compared = np.isfinite(closeness)
    return np.where(is_compared & is_held_out, closeness, np.nan)


def _is_asked(dataset: Dataset, material: Judged, name: str) -> BoolArray:
    """Where the judge was asked and something came back, also what cannot be read, shape (I, U)."""
    rows = answers_to(dataset.models, material.items)
    keys = [item.key for item in material.items]
    cube = cubes.build_cube(rows.assign(analysed=1.0), keys, raters=[name], units=material.units)
    return np.isfinite(cube.values[:, 0])


def _coefficient(answers: FloatArray, truth: FloatArray, kind: str, is_answered: BoolArray) -> Estimate:
    own, theirs = (np.where(is_answered, values, np.nan) for values in (answers, truth))
    if kind == "verdicts":
        return estimate(agreement.cohen_kappa, own.ravel(), theirs.ravel())
    of_items = [estimate(comparisons.spearman, one, other) for one, other in zip(own, theirs, strict=True)]
    values = [of_item.value for of_item in of_items if of_item.value is not None]
    return Estimate(value=float(np.mean(values))) if values else of_items[0]


def _test(
    dataset: Dataset, material: Judged, name: str, kind: str, is_held_out: BoolArray, *, n_tried: int
) -> Standing:
    """The alternative annotator test of story means on the held-out stories, since what is said of a story is not
    independent.

    name : of the judge, or "" for the best constant answer; n_tried : judges among which it is named
    """
    people = material.people[:, :, is_held_out].transpose(1, 0, 2).reshape(len(material.raters), -1)
    epsilon = dataset.plan.epsilon if dataset.plan else EPSILON
    stories = np.unique([story for _group, story in material.units], return_inverse=True)[1][is_held_out]
    clusters = np.tile(stories, len(material.items))
    if not name:
        return best_constant(people, SCORES[kind], epsilon=epsilon, clusters=clusters)
    own = _answers(material, name)[:, is_held_out].ravel()
    return standing_of("test", people, own, score=SCORES[kind], epsilon=epsilon, n_tried=n_tried, clusters=clusters)


def _in_points(ends: Interval) -> Interval:
    if ends.low is None or ends.high is None:
        return ends
    return Interval(
        low=PERCENT * ends.low,
        high=PERCENT * ends.high,
        n_resampled=ends.n_resampled,
        note=ends.note,
        method=ends.method,
    )


def _sentences(rows: Sequence[VersionGain]) -> Iterator[tuple[str, VersionGain]]:
    """Of each kind a sentence on the version with the largest gain, a clear one if there is any; with its row."""
    for kind, of_kind in groupby(rows, key=lambda row: row.kind):
        best = max(of_kind, key=lambda row: (row.is_clear, row.value or 0))
        yield _sentence(kind, best), best


def _sentence(kind: str, row: VersionGain) -> str:
    if row.loses_too_many:
        sentence = _(
            "Nothing is said of a gain on scales: with the changed prompt %(judge)s left out %(lost)d of %(asked)d "
            "ratings."
        )
    elif row.is_clear:
        sentence = {
            "verdicts": _(
                "On the %(n)d held-out stories %(judge)s agrees with most of these %(experts)d experts in %(after)s %% "
                "of verdicts, before the change in %(before)s %%: a gain of %(gain)s points (%(ends)s)."
            ),
            "scales": _(
                "On the %(n)d held-out stories %(judge)s is %(after)s %% of the scale from the mean of these "
                "%(experts)d experts, before the change %(before)s %%: a gain of %(gain)s points (%(ends)s)."
            ),
        }[kind]
    elif row.is_clear_loss:
        sentence = _(
            "The changed prompt takes %(judge)s farther from these %(experts)d experts: on %(n)d held-out stories "
            "%(after)s %%, before the change %(before)s %% (%(ends)s points)."
        )
    else:
        sentence = {
            "verdicts": _(
                "It was not shown that the changed prompt brings %(judge)s nearer to experts: on the %(n)d held-out "
                "stories it agrees with most of them in %(after)s %% of verdicts, before in %(before)s %%."
            ),
            "scales": _(
                "It was not shown that the changed prompt brings %(judge)s nearer to experts: on the %(n)d held-out "
                "stories it is %(after)s %% of the scale from their mean, before %(before)s %%."
            ),
        }[kind]
    ends = "" if row.interval.low is None else columns.ends(1)(row.interval)
    values = {"n": row.n_stories, "judge": row.judge, "gain": decimal(row.value or 0, 1), "ends": ends}
    values |= {"experts": row.n_experts, "lost": row.n_lost, "asked": row.n + row.n_lost}
    return sentence % (values | {"after": decimal(row.percent, 0), "before": decimal(row.base_percent, 0)})


def _heading(kind: str) -> str:
    return {
        "verdicts": _("verdicts as the experts’ majority"),
        "scales": _("scales: distance from the experts’ mean, of the scale’s width"),
    }[kind]


def _pair(before: str, after: str) -> str:
    return f"{before}, {after}"


def _percents(row: VersionGain) -> Phrase:
    return _pair(decimal(row.base_percent, 1), decimal(row.percent, 1))


def _coefficients(row: VersionGain) -> Phrase:
    return _pair(*(coefficient(value.value) for value in (row.base_coefficient, row.coefficient)))


def _winning_rates(row: VersionGain) -> Phrase:
    tests = (row.base_test, row.test, row.constant_test)
    return ", ".join(NONE if test.winning_rate is None else decimal(test.winning_rate, 2) for test in tests)


def _notes(rows: Sequence[VersionGain]) -> Iterator[TextBlock]:
    yield TextBlock(
        words=_(
            "A model proposed the changes from stories of other groups, a person accepted them, and no answer about "
            "those stories is counted here. Coefficient: Cohen’s kappa with the majority, or Spearman’s rho with the "
            "mean, where both prompts got an answer. Winning rate: of the alternative annotator test of means of these "
            "stories, against experts with 30 answers, and of the constant answer that does best. Intervals are for "
            "other stories and the same experts."
        )
    )
    n = max((row.n_tried for row in rows), default=0)
    if n > 1:
        yield TextBlock(
            words=_(
                "%(n)d changed prompts were tried, and the best is named. So that this is no gain by itself, the "
                "intervals hold for all of them together (bootstrap of the largest error over clusters), and the p "
                "values of the test are multiplied by %(n)d."
            )
            % {"n": n}
        )
