"""Which stories stand in another word for word: the largest share of a story's sequences that one reference has."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy

from judges import reference_sets
from judges.models import ReferenceSet
from reports.figures.base import Figure, Listing, Reason, Row
from reports.lazy import shared_sequences
from reports.numbers import decimal, whole
from reports.reasons import to_english
from stats.reasons import Incomputable
from studies.typography.words import split_words

if TYPE_CHECKING:
    from reports.dataset import Dataset

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
class SetCopies:
    """The stories of the study beside one reference set. why : nothing could be compared"""

    name: str
    corpus: str
    sha256: str
    n_references: int
    n_gone: int
    why: Reason | None
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
    position = 137
    result = Listing[SetCopies]
    tables = ("near-copies", "near-copies-by-story")
    edition = 2
    is_shown_sealed = False
    nothing = Listing[SetCopies]()
    needs_answers = False

    def compute(self, dataset: Dataset) -> Listing[SetCopies]:
        sets = ReferenceSet.objects.filter(study=dataset.study).select_related("corpus", "study")
        return Listing(tuple(_of_set(dataset, reference_set) for reference_set in sets))

    def rows(self, result: Listing[SetCopies]) -> dict[str, Iterator[Row]]:
        return {"near-copies": _source_rows(result), "near-copies-by-story": _story_rows(result)}

    def lines(self, result: Listing[SetCopies]) -> Iterator[str]:
        for row in result.rows:
            yield f"\nNear-copies beside {row.name} ({whole(row.n_references)} stories of {row.corpus})"
            if row.why:
                yield f"  {to_english(row.why)}"
            for shares in row.by_source:
                near = f"{whole(shares.n_near)} of {whole(shares.n)} share more than {100 * NEAR:.0f} %"
                yield f"  {shares.source or 'all stories':<34} mean {decimal(shares.mean)} %; {near}"
            for story in row.near:
                yield f"    {story.story} in {story.nearest}: {decimal(story.percent)} %"


def _of_set(dataset: Dataset, reference_set: ReferenceSet) -> SetCopies:
    material = reference_sets.read_material(reference_set)
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
        name=reference_set.name,
        corpus=reference_set.corpus.slug,
        sha256=reference_set.sha256,
        n_references=len(material.texts),
        n_gone=material.n_gone,
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


def _source_rows(result: Listing[SetCopies]) -> Iterator[Row]:
    for row in result.rows:
        for shares in row.by_source:
            yield _set_cells(row) | {
                "source": shares.source,
                "n": shares.n,
                "mean_percent": shares.mean,
                "n_near_copies": shares.n_near,
            }


def _story_rows(result: Listing[SetCopies]) -> Iterator[Row]:
    for row in result.rows:
        for story in row.stories:
            yield _set_cells(row) | {
                "story": story.story,
                "source": story.source,
                "nearest": story.nearest,
                "percent": story.percent,
            }


def _set_cells(row: SetCopies) -> Row:
    return {
        "reference_set": row.name,
        "stories_of": row.corpus,
        "sha256": row.sha256,
        "n_references": row.n_references,
        "words": LENGTH,
    }
