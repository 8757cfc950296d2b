"""Whether feedback brings more creative ideas: ideas after each round of it beside ideas without, prompt by prompt.

Creative is an idea that is coherent and whose NSV lies above the 95th percentile of people's ideas of reference.
Source: Brito da Silva & Marcacini, Caracterização da Capacidade Criativa em Sistemas de IA Generativa, section 2.1, H2.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from reports.dataset.scored_ideas import SALT
from reports.document import columns, notes
from reports.document.columns import LEAD
from reports.document.model import DocumentSection, Files, Head, ReportTable, TextBlock
from reports.document.phrases import phrase
from reports.document.values import Interval, IntervalEstimate, Reason
from reports.figures.base import N_RESAMPLES, Figure, ends_of_mean, note_of, without_value
from reports.lazy import np, nsv
from reports.numbers import coefficient, decimal, p_value, whole
from stats.reasons import Incomputable

if TYPE_CHECKING:
    from reports.dataset import Dataset
    from reports.dataset.scored_ideas import ScoredIdeas
    from stats.arrays import BoolArray, FloatArray

WITH, WITHOUT = "nsv-feedback", "nsv-generation"  # recipes, as the factor of a story names them
LEAST_PEOPLE = 20
SIGNIFICANT = 0.05


@dataclass(frozen=True, kw_only=True)
class FeedbackRound:
    """One round of one system, or of all ("") that have both kinds of ideas.

    n_with, n_without : ideas on the n_prompts that have both
    share_with, share_without : of all these ideas that are creative, in percent, the mean over prompts
    difference : of the two, in percentage points; p : one-sided, of sign flips of the prompts' differences
    gain : the mean NSV of ideas with feedback less that of ideas without, the mean over prompts
    """

    source: str
    round: int
    is_last: bool
    n_prompts: int
    n_with: int
    n_without: int
    share_with: float | None
    share_without: float | None
    difference: IntervalEstimate
    p: float | None
    gain: IntervalEstimate


@dataclass(frozen=True, kw_only=True)
class NsvFeedbackResult:
    """threshold : the 95th percentile of n_people ideas of reference by people, on prompts that nothing was fitted on

    n_without_coherence : generated ideas of which nobody says whether they are coherent; they count as not
    """

    why: Reason | None
    threshold: float | None
    n_people: int
    n_without_coherence: int
    rounds: tuple[FeedbackRound, ...]

    @property
    def confirmatory(self) -> FeedbackRound | None:
        return next((row for row in self.rounds if row.is_last and not row.source), None)


class NsvFeedback(Figure[NsvFeedbackResult]):
    key = "nsv_feedback"
    title = gettext_lazy("Ideas after feedback")
    position = 152
    section = "texts"
    tables = ("nsv-feedback",)
    is_shown_sealed = False
    needs_answers = False

    def compute(self, dataset: Dataset) -> NsvFeedbackResult | None:
        scored = dataset.scored_ideas
        if scored is None or isinstance(scored, Incomputable) or WITH not in scored.factors["recipe"]:
            return None
        return _compare(dataset, scored)

    def describe(self, result: NsvFeedbackResult, head: Head) -> Iterator[DocumentSection]:
        files = Files(words=_("Rounds of feedback"), table="nsv-feedback")
        yield DocumentSection(
            heading=self.title,
            body=[notes.reason(result.why)] if result.why else [*_sentences(result), _table(result), files],
            margin=list(_margin(result)),
        )


def _compare(dataset: Dataset, scored: ScoredIdeas) -> NsvFeedbackResult:
    recipes = np.array(scored.factors["recipe"], dtype=object)
    is_generated = (recipes == WITH) | (recipes == WITHOUT)
    people = _people(scored)
    nothing = NsvFeedbackResult(why=None, threshold=None, n_people=len(people), n_without_coherence=0, rounds=())
    if scored.ideas.reference.is_sealed:
        return _replace(nothing, without_value("references_sealed"))
    if len(people) < LEAST_PEOPLE:
        return _replace(nothing, without_value("too_few_ideas_by_people", n=len(people), least=LEAST_PEOPLE))
    rounds = tuple(_rounds(dataset, scored, recipes, people))
    if not rounds:
        return _replace(nothing, without_value("no_feedback_pairs"))
    n_unknown = int((is_generated & ~scored.has_coherence).sum())
    return NsvFeedbackResult(
        why=None,
        threshold=float(np.quantile(people, nsv.TOP)),
        n_people=len(people),
        n_without_coherence=n_unknown,
        rounds=rounds,
    )


def _replace(nothing: NsvFeedbackResult, why: Reason) -> NsvFeedbackResult:
    return NsvFeedbackResult(**vars(nothing) | {"why": why})


def _people(scored: ScoredIdeas) -> FloatArray:
    """NSV of people's ideas of reference on prompts that nothing was fitted on, shape (P,)."""
    prompts = scored.ideas.reference.prompts[scored.by_people]
    return np.asarray(scored.fitted.people_scores[~np.isin(prompts, scored.development)], dtype=np.float64)


def _rounds(dataset: Dataset, scored: ScoredIdeas, recipes: Any, people: FloatArray) -> Iterator[FeedbackRound]:
    """Of all systems that have both kinds of ideas, then of each if there are several: every round."""
    numbers = np.array([int(r) if str(r).isdigit() else 0 for r in scored.factors["round"]], dtype=np.int64)
    sources = np.array(scored.sources, dtype=object)
    is_usable = ~scored.fitted.is_development
    has_feedback, is_without = is_usable & (recipes == WITH) & (numbers > 0), is_usable & (recipes == WITHOUT)
    systems = sorted(set(sources[has_feedback]) & set(sources[is_without]))
    last = int(max(numbers[has_feedback], default=0))
    for source in ["", *(systems if len(systems) > 1 else [])] if systems else []:
        is_of = np.isin(sources, [source] if source else systems)
        for number in range(1, last + 1):
            chosen = has_feedback & is_of & (numbers == number)
            row = _round(dataset, scored, chosen, is_without & is_of, people, salt=[*systems, ""].index(source))
            if row is not None:
                yield FeedbackRound(source=source, round=number, is_last=number == last, **row)


def _round(
    dataset: Dataset, scored: ScoredIdeas, chosen: BoolArray, others: BoolArray, people: FloatArray, *, salt: int
) -> dict[str, Any] | None:
    """The fields of a round; None unless two prompts have both kinds of ideas."""
    prompts = np.intersect1d(scored.material.prompts[chosen], scored.material.prompts[others])
    if len(prompts) < 2:
        return None
    scores = scored.fitted.scores
    counted = np.where(scored.is_coherent, scores, np.nan)
    sides = [[np.flatnonzero(side & (scored.material.prompts == p)) for p in prompts] for side in (chosen, others)]
    feedback, regenerated = ([counted[own] for own in side] for side in sides)
    gain = nsv.compare_feedback(people, feedback, regenerated, rng=dataset.rng(SALT, 7, salt), n_resamples=N_RESAMPLES)
    changes = np.array([scores[a].mean() - scores[b].mean() for a, b in zip(*sides, strict=True)])
    return {
        "n_prompts": len(prompts),
        "n_with": _count(feedback),
        "n_without": _count(regenerated),
        "share_with": 100 * gain.with_feedback,
        "share_without": 100 * gain.without,
        "difference": IntervalEstimate(
            value=100 * gain.difference.value, interval=_in_percent(Interval.of(gain.difference.interval))
        ),
        "p": gain.p,
        "gain": IntervalEstimate(
            value=float(changes.mean()),
            interval=ends_of_mean(changes, np.arange(len(changes)), rng=dataset.rng(SALT, 8)),
        ),
    }


def _count(ideas: Sequence[FloatArray]) -> int:
    return sum(len(own) for own in ideas)


def _in_percent(ends: Interval) -> Interval:
    if ends.low is None or ends.high is None:
        return ends
    return Interval(**vars(ends) | {"low": 100 * ends.low, "high": 100 * ends.high})


def _sentences(result: NsvFeedbackResult) -> Iterator[TextBlock]:
    """What H2 comes to."""
    main = result.confirmatory
    if main is None:
        return
    holds = _("H2 holds: after the last round more ideas are creative than without feedback (p %(p)s).")
    fails = _("H2 is not shown: after the last round no more ideas are creative than chance allows (p %(p)s).")
    is_more = main.p is not None and main.p <= SIGNIFICANT
    yield TextBlock(words=(holds if is_more else fails) % {"p": p_value(main.p)})


def _table(result: NsvFeedbackResult) -> ReportTable[FeedbackRound]:
    return ReportTable(
        name="nsv-feedback",
        label=_("Ideas after feedback"),
        caption=_("In percent of all ideas, how many are creative: after each round of feedback, and without."),
        rows=result.rounds,
        columns=[
            columns.words("source", _("System"), shown=lambda row: row.source or _("All systems"), is_head=True),
            columns.number("round", _("Round")),
            columns.in_file("is_confirmatory", lambda row: row.is_last and not row.source),
            columns.number("with_percent", phrase(_("With, %%")), lambda row: row.share_with, write=decimal, css=LEAD),
            columns.number("without_percent", phrase(_("Without, %%")), lambda row: row.share_without, write=decimal),
            *columns.with_interval("difference", _("Difference"), lambda row: row.difference, places=1),
            columns.number("p", "p", write=p_value),
            *columns.with_interval("nsv_gain", _("ΔNSV"), lambda row: row.gain, prefix="nsv_gain_"),
            columns.counts(_("Ideas"), "n_with", "n_without"),
            columns.fields("n_without", "n_prompts"),
            columns.constants(threshold=result.threshold, n_people=result.n_people),
            columns.note(lambda row: note_of(row.difference, row.difference.interval)),
        ],
    )


def _margin(result: NsvFeedbackResult) -> Iterator[TextBlock]:
    if not result.why:
        creative = _(
            "Creative: coherent, with an NSV above %(threshold)s, the 95th percentile of %(n)s ideas of reference by "
            "people. Both are taken from prompts that nothing was fitted on; intervals draw prompts and people’s "
            "ideas anew."
        )
        yield TextBlock(words=creative % {"threshold": coefficient(result.threshold), "n": whole(result.n_people)})
    if n := result.n_without_coherence:
        counted = ngettext(
            "Of %(n)s generated idea nobody says whether it is coherent; it counts as not.",
            "Of %(n)s generated ideas nobody says whether they are coherent; they count as not.",
            n,
        )
        yield TextBlock(words=counted % {"n": n})
    if any(row.n_with != row.n_without for row in result.rounds):
        yield TextBlock(words=_("There are not as many ideas with feedback as without; shares are of all there are."))
    test = _(
        "p: one-sided, of sign flips over prompts; the last round of all systems is confirmatory. ΔNSV: mean of ideas "
        "with feedback less that of ideas without."
    )
    yield TextBlock(words=test)
    yield from notes.weakest(row.difference.interval for row in result.rounds)
