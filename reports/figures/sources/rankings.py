"""In which order people put the stories of a group: mean ranks and first places by source, and their concordance."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from reports.dataset.choices import ranks_of
from reports.document import columns, notes
from reports.document.columns import LEAD, decimals, ends
from reports.document.model import DocumentSection, Files, Head, Phrase, ReportTable, TextBlock
from reports.document.phrases import in_language, joined, phrase, reason_words
from reports.document.values import Estimate, Interval, Mean
from reports.figures.base import N_RESAMPLES, Figure, ItemRow, Listing, estimate, interval, item_fields, mean
from reports.lazy import intervals, np, rankings
from reports.numbers import coefficient, coefficients, whole
from stats.reasons import Incomputable
from studies.models import Step

if TYPE_CHECKING:
    from reports.dataset import Dataset, StepItem
    from stats.arrays import FloatArray
    from stats.intervals import Interval as StatisticInterval


@dataclass(frozen=True, kw_only=True)
class SourceRanks:
    """first_percent : how often it leads; a shared first place is divided"""

    source: str
    mean_rank: Estimate
    interval: Interval
    first_percent: float | None


@dataclass(frozen=True, kw_only=True)
class GroupConcordance(Estimate):
    group: str


@dataclass(frozen=True, kw_only=True)
class Concordance(Mean):
    """Kendall's W among the raters of each group, and its mean over groups.

    chance : what raters reach who order at random, 1/m for m raters, its mean over the same groups
    mean_spearman : (mW - 1) / (m - 1), the mean correlation among raters, 0 by chance; its mean over the same groups
    interval : of the mean over groups, with the same raters
    """

    groups: tuple[GroupConcordance, ...]
    interval: Interval
    chance: float | None = None
    mean_spearman: float | None = None


@dataclass(frozen=True, kw_only=True)
class Ranking(ItemRow):
    n_rankings: int
    n_groups: int
    by_source: tuple[SourceRanks, ...]
    concordance: Concordance


class Rankings(Figure[Listing[Ranking]]):
    key = "rankings"
    title = gettext_lazy("Rankings")
    position = 80
    section = "pairs"
    tables = ("rankings",)
    edition = 4
    is_shown_sealed = False

    def compute(self, dataset: Dataset) -> Listing[Ranking]:
        items = [item for item in dataset.items if item.level == "none" and item.step.scope == Step.Scope.GROUP]
        return Listing(
            tuple(_ranking(dataset, item) for item in items if item.type.gives_order and len(dataset.answers_to(item)))
        )

    def describe(self, result: Listing[Ranking], head: Head) -> Iterator[DocumentSection]:
        of_sources = [ranks.interval for row in result.rows for ranks in row.by_source]
        weakest = notes.weakest([*of_sources, *(row.concordance.interval for row in result.rows)])
        for row in result.rows:
            counted = ngettext("%(shown)s ranking", "%(shown)s rankings", row.n_rankings)
            groups = ngettext(
                "1 is best. A shared first rank is divided. Intervals are over <strong>groups</strong>, of "
                "which there is %(n_groups)s.",
                "1 is best. A shared first rank is divided. Intervals are over <strong>groups</strong>, of "
                "which there are %(n_groups)s.",
                row.n_groups,
            )
            yield DocumentSection(
                heading=in_language(row.title, head.language),
                body=[
                    _table(row),
                    Files(words=counted % {"shown": whole(row.n_rankings)}, table="rankings", is_count=True),
                ],
                margin=[
                    TextBlock(words=phrase(groups, n_groups=row.n_groups)),
                    *weakest,
                    TextBlock(words=_concordance_words(row.concordance)),
                ],
            )


def _ranking(dataset: Dataset, item: StepItem) -> Ranking:
    answers = dataset.answers_to(item)
    ranks, groups = [ranks_of(order) for order in answers["value"]], list(answers["group"])
    names = [name for name, _ in dataset.sources]
    ranks_by_source = [_ranks_by_source(dataset, item_ranks, names) for item_ranks in ranks]
    means = np.array([[sum(part) / len(part) if part else np.nan for part in row] for row in ranks_by_source])
    best = np.array([[min(part) if part else np.nan for part in row] for row in ranks_by_source])
    firsts = rankings.first_places(best) if np.isfinite(best).any() else np.full(len(names), np.nan)
    clusters, most = dataset.clusters_of(groups), max(map(len, ranks))

    def ends(ranks_of_one: FloatArray) -> StatisticInterval:
        rng = dataset.resampling()
        return intervals.mean_interval(ranks_of_one, clusters, rng=rng, n_resamples=N_RESAMPLES).clipped(1, most)

    return Ranking(
        **item_fields(item),
        n_rankings=len(answers),
        n_groups=len(set(groups)),
        by_source=tuple(
            SourceRanks(
                source=name,
                mean_rank=estimate(_mean_rank, means, n),
                interval=interval(ends, means[:, n]),
                first_percent=None if np.isnan(firsts[n]) else float(100 * firsts[n]),
            )
            for n, name in enumerate(names)
        ),
        concordance=_concordance(dataset, ranks, groups),
    )


def _ranks_by_source(dataset: Dataset, ranks: dict[str, float], sources: list[str]) -> list[list[float]]:
    """The ranks that one rater gave to the stories of each source."""
    ranks_by_source: dict[str, list[float]] = {name: [] for name in sources}
    for story, rank in ranks.items():
        ranks_by_source.setdefault(dataset.source_of(story), []).append(rank)
    return [ranks_by_source[name] for name in sources]


def _concordance(dataset: Dataset, ranks: list[dict[str, float]], groups: list[str]) -> Concordance:
    ranks_by_group = defaultdict[str, list[dict[str, float]]](list)
    for rank_by_story, group in zip(ranks, groups, strict=True):
        ranks_by_group[group].append(rank_by_story)
    concordances = []
    for group, of_group in ranks_by_group.items():
        stories = sorted(of_group[0])
        table = np.array([[rank_by_story.get(story, np.nan) for story in stories] for rank_by_story in of_group])
        concordances.append(GroupConcordance(group=group, **vars(estimate(rankings.kendall_w, table))))
    counted = [(row.group, row.value, row.n_raters) for row in concordances if row.value is not None and row.n_raters]

    def ends() -> StatisticInterval:
        clusters, rng = dataset.clusters_of(group for group, _w, _m in counted), dataset.resampling()
        values = np.array([w for _group, w, _m in counted])
        return intervals.mean_interval(values, clusters, rng=rng, n_resamples=N_RESAMPLES).clipped(0, 1)

    fields = vars(mean(concordances)) | {
        "name": "Kendall's W, mean over groups",
        "groups": tuple(concordances),
        "interval": interval(ends),
    }
    if not counted:
        return Concordance(**fields)
    return Concordance(
        **fields,
        chance=float(np.mean([1 / m for _group, _w, m in counted])),
        mean_spearman=float(np.mean([rankings.mean_spearman(w, m) for _group, w, m in counted])),
    )


def _mean_rank(ranks: FloatArray, source: int) -> float:
    rank = float(rankings.mean_ranks(ranks)[source])
    if np.isnan(rank):
        raise Incomputable("source_not_ranked")
    return rank


def _table(row: Ranking) -> ReportTable[SourceRanks]:
    return ReportTable(
        name="rankings",
        label=_("%(title)s, table") % {"title": row.title},
        rows=row.by_source,
        columns=[
            columns.item_in_file(lambda ranks: row),
            columns.words("source", _("Source"), is_head=True),
            columns.estimate("mean_rank", _("Mean rank"), lambda ranks: ranks.mean_rank, write=decimals(2), css=LEAD),
            columns.interval(lambda ranks: ranks.interval, write=ends(2)),
            columns.number("first_percent", phrase(_("First, %%")), write=decimals(0)),
            columns.in_file("n_rankings", lambda ranks: row.n_rankings),
        ],
    )


def _concordance_words(concordance: Concordance) -> Phrase:
    """How far the raters of a group agree on the order, beside chance."""
    if concordance.why is not None:
        return joined(_("Kendall’s W:"), reason_words(concordance.why))
    w = ngettext(
        "Raters of a group agree on the order at Kendall’s W of <strong>%(w)s</strong>, the mean over %(n)s group; by "
        "chance it is %(chance)s, and 1 is the same order.",
        "Raters of a group agree on the order at Kendall’s W of <strong>%(w)s</strong>, the mean over %(n)s groups; by "
        "chance it is %(chance)s, and 1 is the same order.",
        concordance.n or 0,
    )
    chance, rho = coefficient(concordance.chance), coefficient(concordance.mean_spearman)
    between = phrase(_("95 %% interval %(ends)s."), ends=coefficients(concordance.interval))
    spearman = _("The mean of Spearman’s correlations among raters is <strong>%(rho)s</strong>; by chance it is 0.")
    return joined(
        phrase(w, w=coefficient(concordance.value), n=concordance.n, chance=chance),
        between if concordance.interval.low is not None else "",
        phrase(spearman, rho=rho),
    )
