"""What a judge's answers go by beside the story's worth: its length, habits, and chance."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, gettext_noop

from reports.dataset import families
from reports.dataset.blocks import share_a_scale
from reports.dataset.judged import judged
from reports.dataset.lengths import explanation_lengths, story_lengths
from reports.dataset.readings import repeated_answers
from reports.document import columns, notes
from reports.document.columns import LEAD, decimals, ends
from reports.document.model import DocumentSection, Files, Head, ReportTable, RowGroup
from reports.document.values import Interval, IntervalEstimate, Reason
from reports.figures.base import N_RESAMPLES, Figure, Listing, ends_of_mean, interval, note_of
from reports.figures.judges import bias_claims
from reports.figures.judges.intervention_effects import list_tested
from reports.lazy import contrasts, judge_biases, judge_scores, np, trait_effects
from reports.numbers import whole
from stats.reasons import Incomputable, value_or_reason

if TYPE_CHECKING:
    from reports.dataset import Dataset, StepItem
    from reports.dataset.cubes import Pair
    from reports.dataset.judged import Judged
    from stats.arrays import FloatArray
    from stats.trait_effects import EffectPart, TraitEffect

SALT = 28  # of the seed
# Slugs of the changes that bear on a trait. A name over the story is not all that a family's stories share.
INTERVENTIONS = {"verbosity": ("padding",), "own_family": ("byline-model",)}
NAMES = {
    "own_family": gettext_noop("Own family: more than other models’ stories worth as much to people"),
    "own_family_yes": gettext_noop("Own family, among what most people say Yes to"),
    "own_family_no": gettext_noop("Own family, among what most people say No to"),
    "verbosity": gettext_noop("Length: for a story twice as long, worth as much to people"),
    "modal_share": gettext_noop("Commonest answer, %"),
    "explanations": gettext_noop("Words of explanation: right less wrong"),
    "repeats": gettext_noop("Variance when read again"),
}


@dataclass(frozen=True, kw_only=True)
class Bias(IntervalEstimate):
    """One number of the audit.

    bias : a key of `NAMES`
    kind : "verdicts" (Yes is 1) or "scales"
    people : what the same is of people, where there is such a thing; of length and family how much more they give
    n, n_beside : answers that it rests on, of length and family stories; of a difference those on either side
    at_equal_ratings : of length and family, the same at equal ratings of these people, their error not taken off
    p, p_adjusted : of both together, for other stories and raters; corrected by Holm over all judges
    own, others : of family, the sources that are compared
    interventions : changes of the stories, by whose effect on such answers it is tested what the trait itself does
    """

    judge: str
    bias: str
    kind: str
    people: float | None
    n: int
    n_beside: int | None = None
    at_equal_ratings: IntervalEstimate | None = None
    p: float | None = None
    p_adjusted: float | None = None
    own: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    interventions: tuple[str, ...] = ()

    @property
    def is_superseded(self) -> bool:
        """Whether an intervention answers the same question better: of length, more words that say nothing."""
        return self.bias == "verbosity" and bool(self.interventions)

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
    edition = 5
    is_shown_sealed = False

    def compute(self, dataset: Dataset) -> Listing[Bias]:
        scales = [item for item in dataset.items if item.is_scale]
        rows = correct([*_audit(dataset, dataset.verdict_items, "verdicts"), *_audit(dataset, scales, "scales")])
        tested = list_tested(dataset)
        rows = [replace(row, interventions=_select(row, tested)) for row in rows]
        # Judges beside each other, since one asks which of them goes by something.
        return Listing(tuple(sorted(rows, key=lambda row: (row.kind != "verdicts", list(NAMES).index(row.bias)))))

    def describe(self, result: Listing[Bias], head: Head) -> Iterator[DocumentSection]:
        table = ReportTable(
            name="judge-biases",
            label=_("Judge biases, table"),
            caption=_(
                "What moves a judge’s answers beside the story; people’s own value where there is one. Of verdicts Yes "
                "is 1 and No is 0. A judge that always says the same has 0 for family and length."
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
                    lambda places: columns.number(
                        "at_equal_ratings", _("At equal ratings"), _held, write=decimals(places)
                    ),
                    lambda row: row.places,
                ),
                columns.with_places(
                    lambda places: columns.number("people", _("People"), write=decimals(places)), lambda row: row.places
                ),
                columns.number("n", "n", shown=_counts),
                columns.fields("kind", "bias", "n_beside", "p", "p_adjusted"),
                columns.in_file("interventions", lambda row: "; ".join(row.interventions)),
                columns.in_file("own_sources", lambda row: "; ".join(row.own)),
                columns.in_file("other_sources", lambda row: "; ".join(row.others)),
                columns.ends_in_file(_held_interval, low="at_equal_ratings_low", high="at_equal_ratings_high"),
                columns.note(lambda row: note_of(row, row.interval)),
            ],
        )
        yield DocumentSection(
            heading=self.title,
            body=[*bias_claims.claims(result.rows), table, Files(words=_("Every judge"), table="judge-biases")],
            margin=[*bias_claims.notes(result.rows), *notes.weakest(row.interval for row in result.rows)],
        )


def _select(row: Bias, tested: set[tuple[str, str, str]]) -> tuple[str, ...]:
    """Of the changes that were tested, by judge, kind and change, those that bear on the trait."""
    return tuple(slug for slug in INTERVENTIONS.get(row.bias, ()) if (row.judge, row.kind, slug) in tested)


def _held(row: Bias) -> float | None:
    return row.at_equal_ratings.value if row.at_equal_ratings else None


def _held_interval(row: Bias) -> Interval | None:
    return row.at_equal_ratings.interval if row.at_equal_ratings else None


def correct(rows: Sequence[Bias]) -> list[Bias]:
    """The rows with p corrected by Holm over length and family of all judges."""
    adjusted = contrasts.adjust([row.p for row in rows], "holm")
    return [replace(row, p_adjusted=p) for row, p in zip(rows, adjusted, strict=True)]


def _audit(dataset: Dataset, items: list[StepItem], kind: str) -> Iterator[Bias]:
    material = judged(dataset, items)
    if material is None:
        return
    words = story_lengths(dataset, material.units)
    explanations = explanation_lengths(dataset, material)
    for at, (judge, answers) in enumerate(zip(material.names, material.judges, strict=True)):
        salt = (SALT, len(kind), at)  # a seed takes numbers, and the two kinds differ in length
        yield from _traits(dataset, material, at, words, kind)
        audits: dict[str, Callable[[], Bias]] = {
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


def _traits(dataset: Dataset, material: Judged, at: int, words: FloatArray, kind: str) -> Iterator[Bias]:
    """Of one judge what it gives for its own family, where sources are of it and of others, and for length."""
    judge = material.names[at]
    compute = partial(_effect_of, material, at)
    if sources := families.split_sources(dataset, judge):
        is_own, is_other = (np.isin(material.sources, names) for names in (sources.own, sources.others))
        of_family = np.where(is_own, 1.0, np.where(is_other, 0.0, np.nan))
        effect = value_or_reason(partial(compute, of_family, are_verdicts=kind == "verdicts"))
        about: dict[str, Any] = {"judge": judge, "kind": kind, "own": sources.own, "others": sources.others}
        yield _of_trait(effect, **about, bias="own_family")
        if kind == "verdicts" and not isinstance(effect, Incomputable):
            for bias, part in (("own_family_yes", effect.among_yes), ("own_family_no", effect.among_no)):
                yield Bias(**about, **_of_part(part), bias=bias, people=None, **_counts_of(part))
    lengths = np.log2(np.where(words > 0, words, np.nan))
    effect = value_or_reason(partial(compute, lengths))
    yield _of_trait(effect, judge=judge, kind=kind, bias="verbosity")


def _effect_of(material: Judged, at: int, trait: FloatArray, *, are_verdicts: bool = False) -> TraitEffect:
    """What one judge gives for a trait, over items on one scale."""
    answers, stories = material.judges[at], [story for _group, story in material.units]
    if not share_a_scale([item for item, own in zip(material.items, answers, strict=True) if np.isfinite(own).any()]):
        raise Incomputable("scales_differ")
    return trait_effects.trait_effect(
        answers, material.people, trait, material.clusters, stories=stories, are_verdicts=are_verdicts
    )


def _of_trait(effect: TraitEffect | Incomputable, **about: Any) -> Bias:
    if isinstance(effect, Incomputable):
        return Bias(**about, **_of_part(effect), people=None, n=0)
    n_beside = effect.n_stories - effect.n_with
    return Bias(
        **about,
        **_of_part(effect.effect),
        at_equal_ratings=IntervalEstimate(**_of_part(effect.at_equal_ratings)),
        people=effect.people,
        n=effect.n_with,
        n_beside=n_beside if about["bias"] == "own_family" else None,
        n_raters=effect.n_raters,
        p=effect.p,
    )


def _of_part(part: EffectPart | Incomputable) -> dict[str, Any]:
    """Its value with its interval, or why there is none."""
    if isinstance(part, Incomputable):
        return {"value": None, "why": Reason.of(part), "interval": Interval(low=None, high=None)}
    return {"value": part.value, "interval": Interval.of(part.interval)}


def _counts_of(part: EffectPart | Incomputable) -> dict[str, Any]:
    return {"n": 0} if isinstance(part, Incomputable) else {"n": part.n_with, "n_beside": part.n_without}


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
