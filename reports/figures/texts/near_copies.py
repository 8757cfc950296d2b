"""Which stories stand in another word for word: the largest share of a story's sequences that one reference has."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from reports.document import columns, notes
from reports.document.columns import LEAD
from reports.document.files import file_only
from reports.document.model import Block, DocumentSection, Files, Head, ReportTable, TextBlock
from reports.document.values import Reason
from reports.figures.base import Figure, Listing
from reports.figures.texts.reference_sets import AboutSet, gone, set_columns, set_fields
from reports.lazy import shared_sequences
from reports.numbers import decimal, whole
from stats.reasons import Incomputable
from studies.typography.word_boundaries import split_words

if TYPE_CHECKING:
    from reports.dataset import Dataset
    from reports.dataset.records.references import References

LENGTH = 5  # words
NEAR = 0.2  # a story that shares more of its sequences is named
MOST_NAMED = 20


@dataclass(frozen=True, kw_only=True)
class StoryShare:
    """A story, the reference that has most of its sequences of five words, and in percent how many of them.

    nearest : "" if no reference has any; percent : None for a story of fewer than five words
    """

    story: str
    source: str
    nearest: str
    percent: float | None


@dataclass(frozen=True, kw_only=True)
class SourceShares:
    """Of one source's stories, or of all (""): the largest shares on average, and how many stories are near-copies."""

    source: str
    n: int
    mean: float | None
    n_near: int


@dataclass(frozen=True, kw_only=True)
class SetCopies(AboutSet):
    """The stories of the study beside one reference set."""

    by_source: tuple[SourceShares, ...]
    stories: tuple[StoryShare, ...]

    @property
    def near(self) -> tuple[StoryShare, ...]:
        """Near-copies, those with the largest shares first."""
        near = [story for story in self.stories if (story.percent or 0) > 100 * NEAR]
        return tuple(sorted(near, key=lambda story: (-(story.percent or 0), story.story)))[:MOST_NAMED]


class NearCopies(Figure[Listing[SetCopies]]):
    key = "near_copies"
    title = gettext_lazy("Near-copies")
    position = 139
    section = "texts"
    tables = ("near-copies", "near-copies-by-story")
    edition = 2
    is_shown_sealed = False
    needs_answers = False

    def compute(self, dataset: Dataset) -> Listing[SetCopies]:
        return Listing(tuple(_of_set(dataset, references) for references in dataset.records.references))

    def describe(self, result: Listing[SetCopies], head: Head) -> Iterator[DocumentSection]:
        for row in result.rows:
            heading = _("Near-copies beside “%(name)s”") % {"name": row.name}
            basis = _(
                "Of every story the share of its sequences of five words that stands in the one of %(n)s stories of "
                "%(corpus)s that has most of them; of languages without spaces, of five characters. More than 20 %% "
                "is called a near-copy. The set was stored as %(short)s."
            )
            basis %= {"n": whole(row.n_references), "corpus": row.corpus, "short": row.sha256[:12]}
            yield DocumentSection(
                heading=heading,
                body=[notes.reason(row.why)] if row.why else list(_blocks(row, heading)),
                margin=[TextBlock(words=basis), *gone(row)],
            )


def _of_set(dataset: Dataset, references: References) -> SetCopies:
    material = references.material
    stories: tuple[StoryShare, ...] = ()
    reason: Reason | None = None
    try:
        shares = shared_sequences.find_largest_shares(
            [split_words(story.text) for story in material.stories],
            [split_words(text) for text in material.texts],
            own=[story.number for story in material.stories],
            length=LENGTH,
        )
        stories = tuple(
            StoryShare(
                story=story.code,
                source=dataset.source_of(story.code),
                nearest=material.codes[share.index] if share and share.index >= 0 else "",
                percent=None if share is None else 100 * share.share,
            )
            for story, share in zip(material.stories, shares, strict=True)
        )
    except Incomputable as error:
        reason = Reason.of(error)
    return SetCopies(
        **set_fields(references),
        why=reason,
        by_source=tuple(_shares(source, stories) for source in ["", *(name for name, _kind in dataset.sources)])
        if stories
        else (),
        stories=stories,
    )


def _shares(source: str, stories: tuple[StoryShare, ...]) -> SourceShares:
    percents = [story.percent for story in stories if story.percent is not None and source in ("", story.source)]
    return SourceShares(
        source=source,
        n=len(percents),
        mean=sum(percents) / len(percents) if percents else None,
        n_near=sum(percent > 100 * NEAR for percent in percents),
    )


def _blocks(row: SetCopies, label: str) -> Iterator[Block]:
    """By source, and which stories are near-copies; of all stories in the file."""
    counted = ngettext("%(n)s story", "%(n)s stories", len(row.stories)) % {"n": len(row.stories)}
    of_set = [*set_columns(row), columns.constants(words=LENGTH)]
    yield ReportTable(
        name="near-copies",
        label=label,
        rows=row.by_source,
        columns=[
            *of_set,
            columns.words("source", _("Source"), shown=lambda shares: shares.source or _("All stories"), is_head=True),
            columns.number("mean_percent", _("Largest share, mean"), lambda shares: shares.mean, shown=_mean, css=LEAD),
            columns.number("n_near_copies", _("Near-copies"), lambda shares: shares.n_near),
            columns.number("n", _("Stories")),
        ],
    )
    yield Files(words=counted, table="near-copies", is_count=True)
    for story in row.near:
        words = {"story": story.story, "percent": decimal(story.percent, 0), "nearest": story.nearest}
        yield TextBlock(words=_("%(story)s: %(percent)s %% stands in %(nearest)s") % words)
    if not row.near:
        yield TextBlock(words=_("No story is a near-copy of another."))
    of_story = columns.fields("story", "source", "nearest", "percent")
    yield file_only("near-copies-by-story", row.stories, *of_set, of_story)
    yield Files(words=counted, table="near-copies-by-story", is_count=True)


def _mean(shares: SourceShares) -> str:
    return decimal(shares.mean) if shares.mean is None else f"{decimal(shares.mean)} %"
