"""What reasons are about: how far two people agree theme by theme, and in which share of the stories each stands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from reports.document import columns
from reports.document.columns import LEAD, QUIET, decimals, ends
from reports.document.model import DocumentSection, Files, Head, ReportTable, TableColumn, TextBlock
from reports.document.phrases import in_language, joined, phrase
from reports.document.values import Estimate, Floor, Interval, Mean
from reports.figures.base import Figure, Listing, alpha_fields, ends_of_mean, estimate, mean, note_of
from reports.lazy import agreement, np
from reports.models import Coder
from reports.numbers import coefficient, coefficients, whole
from reports.rationales import codings
from reports.rationales.codings import CodedReason, CodedSample

if TYPE_CHECKING:
    from reports.dataset import Dataset
    from stats.arrays import FloatArray

SALT = 90  # of the seed


@dataclass(frozen=True, kw_only=True)
class ThemeShare:
    """Of 100 stories, in how many the theme stands: the mean of what the two coders found.

    source : "" for all
    """

    source: str
    n_stories: int
    share: Mean
    interval: Interval


@dataclass(frozen=True, kw_only=True)
class ThemeRow:
    """One theme. n_first, n_second : reasons in which each coder found it

    alpha : Krippendorff's, nominal, with its interval over clusters and its chance floor
    judge_kappa : the mean of a judge's Cohen's kappa with each of the two; None if no judge coded
    """

    theme: str
    n_first: int
    n_second: int
    percent: Estimate
    kappa: Estimate
    alpha: Estimate
    interval: Interval
    floor: Floor
    judge_kappa: Mean | None
    shares: tuple[ThemeShare, ...]


@dataclass(frozen=True, kw_only=True)
class SampleThemes:
    """A sample that two people coded. item : its title, "" for all; judge : who suggested afterwards"""

    item: str
    n_reasons: int
    n_stories: int
    judge: str
    rows: tuple[ThemeRow, ...]


class Themes(Figure[Listing[SampleThemes]]):
    key = "themes"
    title = gettext_lazy("Themes of reasons")
    position = 93
    section = "items"
    tables = ("themes", "theme-shares")

    def compute(self, dataset: Dataset) -> Listing[SampleThemes]:
        samples = dataset.records.coded_samples
        themes = dataset.records.themes if samples else []
        return Listing(tuple(_sample(dataset, sample, themes, salt=n) for n, sample in enumerate(samples)))

    def describe(self, result: Listing[SampleThemes], head: Head) -> Iterator[DocumentSection]:
        about = _(
            "Two people coded the same reasons blind, several themes or none to each. A theme stands in a story if it "
            "stands in one of its coded reasons; the share is the mean of what the two found."
        )
        alpha = _(
            "Alpha is Krippendorff’s, nominal, with stories’ groups resampled. By chance: the same codes, shuffled."
        )
        for n, sample in enumerate(result.rows, start=1):
            coded = ngettext("%(shown)s reason", "%(shown)s reasons", sample.n_reasons)
            rated = ngettext("%(shown)s story", "%(shown)s stories", sample.n_stories)
            of_sample = [columns.constants(sample=n, item=sample.item)]
            yield DocumentSection(
                heading=self.title,
                body=[
                    _agreement_table(sample, of_sample, head),
                    Files(words=coded % {"shown": whole(sample.n_reasons)}, table="themes", is_count=True),
                    _share_table(sample, of_sample),
                    Files(words=rated % {"shown": whole(sample.n_stories)}, table="theme-shares", is_count=True),
                ],
                margin=[TextBlock(words=about), TextBlock(words=alpha)],
            )


def _sample(dataset: Dataset, sample: CodedSample, themes: Sequence[tuple[int, str]], *, salt: int) -> SampleThemes:
    title_by_key = {".".join(item.key): item.item.title or item.item.key for item in dataset.items}
    return SampleThemes(
        item=title_by_key.get(sample.item, sample.item),
        n_reasons=len(sample.reasons),
        n_stories=len({reason.story for reason in sample.reasons if reason.story}),
        judge=sample.judge,
        rows=tuple(
            _theme(dataset, sample, theme, name, salt=(salt, position)) for position, (theme, name) in enumerate(themes)
        ),
    )


def _theme(dataset: Dataset, sample: CodedSample, theme: int, name: str, *, salt: tuple[int, int]) -> ThemeRow:
    ratings = _ratings(sample.reasons, theme, codings.PEOPLE)
    clusters = dataset.clusters_of_units((reason.group, reason.story) for reason in sample.reasons)
    judge = _ratings(sample.reasons, theme, (Coder.JUDGE,))[0] if sample.judge else None
    alpha = alpha_fields(dataset, ratings, "nominal", clusters, SALT, *salt)
    return ThemeRow(
        theme=name,
        n_first=int(ratings[0].sum()),
        n_second=int(ratings[1].sum()),
        percent=estimate(agreement.percent_agreement, ratings),
        kappa=estimate(agreement.cohen_kappa, ratings[0], ratings[1]),
        alpha=alpha.pop("coefficient"),
        **alpha,
        judge_kappa=None if judge is None else mean(estimate(agreement.cohen_kappa, judge, one) for one in ratings),
        shares=tuple(_shares(dataset, sample.reasons, theme, salt=salt)),
    )


def _ratings(rows: Sequence[CodedReason], theme: int, coders: Sequence[int]) -> FloatArray:
    """1 where a coder found the theme in a reason, 0 where not, nan where not coded; shape (coders, reasons)."""
    return np.array(
        [[float(theme in row.themes[coder]) if coder in row.themes else np.nan for row in rows] for coder in coders]
    )


def _shares(
    dataset: Dataset, rows: Sequence[CodedReason], theme: int, *, salt: tuple[int, int]
) -> Iterator[ThemeShare]:
    """Over all stories, and of each source that any of them is of, unless sealed."""
    found_by_story: dict[str, FloatArray] = {}
    group_by_story: dict[str, str] = {}
    for row in rows:
        if row.story:
            coded = np.array([float(theme in row.themes[coder]) for coder in codings.PEOPLE])
            found_by_story[row.story] = np.maximum(found_by_story.get(row.story, coded), coded)
            group_by_story.setdefault(row.story, row.group)
    for n, source in enumerate(("", *(name for name, _kind in dataset.sources))):
        stories = [story for story in sorted(found_by_story) if not source or dataset.source_of(story) == source]
        if not stories:
            continue
        values = np.array([100 * found_by_story[story].mean() for story in stories])
        clusters = dataset.clusters_of_units((group_by_story[story], story) for story in stories)
        yield ThemeShare(
            source=source,
            n_stories=len(stories),
            share=mean(Estimate(value=float(value)) for value in values),
            interval=ends_of_mean(values, clusters, rng=dataset.rng(SALT, *salt, 2 + n), low=0, high=100),
        )


def _agreement_table(sample: SampleThemes, of_sample: Sequence[TableColumn[Any]], head: Head) -> ReportTable[ThemeRow]:
    blind = _("How far two people agree, who coded without seeing each other’s work.")
    of_judge = _("Kappa of %(judge)s") % {"judge": sample.judge} if sample.judge else None
    return ReportTable(
        name="themes",
        label=_("Agreement on themes"),
        caption=joined(blind, in_language(sample.item, head.language) if sample.item else ""),
        rows=sample.rows,
        columns=[
            *of_sample,
            columns.words("theme", _("Theme"), is_head=True),
            columns.constants(n_reasons=sample.n_reasons),
            columns.fields("n_first", "n_second"),
            columns.estimate(
                *("agreement_percent", phrase(_("Agreement, %%"))), of=lambda row: row.percent, write=decimals(0)
            ),
            columns.estimate("kappa", _("Kappa"), lambda row: row.kappa),
            columns.estimate("alpha", _("Alpha"), lambda row: row.alpha, css=LEAD),
            columns.interval(lambda row: row.interval, write=coefficients, css=QUIET),
            columns.number(
                *("chance_upper", _("By chance, up to")), of=lambda row: row.floor.upper, write=coefficient, css=QUIET
            ),
            columns.fields(chance_mean="floor.mean"),
            columns.constants(judge=sample.judge),
            columns.estimate("judge_kappa", of_judge, lambda row: row.judge_kappa),
            columns.note(lambda row: note_of(row.alpha, row.interval)),
        ],
    )


def _share_table(
    sample: SampleThemes, of_sample: Sequence[TableColumn[Any]]
) -> ReportTable[tuple[ThemeRow, ThemeShare]]:
    return ReportTable(
        name="theme-shares",
        label=_("Stories with each theme"),
        caption=_("Of 100 stories, in how many the theme stands in some reason."),
        rows=[(row, share) for row in sample.rows for share in row.shares],
        columns=[
            *of_sample,
            columns.words("theme", _("Theme"), lambda pair: pair[0].theme, is_head=True),
            columns.source(lambda pair: pair[1], heading=_("Written by"), is_head=False),
            columns.estimate("stories_percent", "%", lambda pair: pair[1].share, write=decimals(0), css=LEAD),
            columns.interval(lambda pair: pair[1].interval, write=ends(0), css=QUIET),
            columns.number("n_stories", _("Stories"), lambda pair: pair[1].n_stories, css=QUIET),
            columns.note(lambda pair: note_of(pair[1].share, pair[1].interval)),
        ],
    )
