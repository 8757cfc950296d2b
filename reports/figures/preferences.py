"""Which of the stories of a group people prefer: by source, by position on the page, and how far they agree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext_lazy

from reports import reasons
from reports.dataset.choices import Choice, choice_table, choices_of
from reports.figures.base import (
    N_RESAMPLES,
    Estimate,
    Figure,
    Interval,
    ItemRow,
    Listing,
    Row,
    SourceShare,
    estimate,
    item_cells,
    item_fields,
    note_of,
    share_fields,
    weakest_note,
    without_value,
)
from reports.lazy import agreement, np
from reports.numbers import decimal, whole

if TYPE_CHECKING:
    from reports.dataset import Dataset, StepItem
    from stats.arrays import BoolArray, IntArray


@dataclass(frozen=True, kw_only=True)
class ChoiceShare(SourceShare):
    """A share of choices. No source: of the story shown first."""

    n_so: int
    n_clusters: int


@dataclass(frozen=True, kw_only=True)
class StoryChoices:
    story: str
    source: str
    n: int
    n_shown_first: int | None


@dataclass(frozen=True, kw_only=True)
class GroupChoices:
    """stories : none while sealed"""

    group: str
    n: int
    percent_agreement: Estimate
    stories: tuple[StoryChoices, ...]


@dataclass(frozen=True, kw_only=True)
class Preference(ItemRow):
    n: int
    n_neither: int
    first: ChoiceShare
    by_source: tuple[ChoiceShare, ...]
    groups: tuple[GroupChoices, ...]
    n_resamples: int


class Preferences(Figure[Listing[Preference]]):
    """By source and by story only if unsealed."""

    key = "preferences"
    title = gettext_lazy("Which story was preferred")
    position = 70
    result = Listing[Preference]
    tables = ("preferences", "pairs")
    edition = 3

    def compute(self, dataset: Dataset) -> Listing[Preference]:
        items = [item for item in dataset.items if item.is_preference]
        return Listing(tuple(_preference(dataset, item) for item in items))

    def rows(self, result: Listing[Preference]) -> dict[str, Iterator[Row]]:
        return {"preferences": _rows(result), "pairs": _pair_rows(result)}

    def lines(self, result: Listing[Preference]) -> Iterator[str]:
        for row in result.rows:
            yield f"\n{row.title}: chosen in percent of {whole(row.n)} choices"
            if row.first.value is not None:
                yield f"  {'the story shown first':<34} {decimal(row.first.value):>10} ({whole(row.first.n)})"
            elif row.first.why:
                yield f"  the story shown first: {reasons.to_english(row.first.why)}"
            for share in row.by_source:
                yield f"  {share.source[:34]:<34} {decimal(share.value):>10} ({whole(share.n)})"
            if row.n_neither:
                yield f"  {'neither':<34} {whole(row.n_neither):>10}"
            for group in row.groups:
                stories = "".join(f", {s.story} {whole(s.n)}" for s in group.stories)
                percent = decimal(group.percent_agreement.value, 0)
                yield f"  {group.group[:34]:<34} {whole(group.n)} choices, agree {percent} %{stories}"

    def is_empty(self, result: Listing[Preference]) -> bool:
        return not any(row.n for row in result.rows)

    def context(self, result: Listing[Preference]) -> dict[str, Any]:
        note = weakest_note(share.interval for row in result.rows for share in row.by_source)
        return {"rows": [row for row in result.rows if row.n], "note": note}


def _preference(dataset: Dataset, item: StepItem) -> Preference:
    choices = choices_of(dataset, item)
    decided = [choice for choice in choices if choice.story]
    presented = [choice for choice in decided if not choice.is_imported]
    is_first = np.array([choice.story == choice.order[0] for choice in presented], dtype=np.bool_)
    first = _share(dataset, is_first, [choice.rater for choice in presented])
    if decided and not presented:
        first = replace(first, why=without_value("order_not_known"))
    return Preference(
        **item_fields(item),
        n=len(choices),
        n_neither=len(choices) - len(decided),
        # Being drawn to the first position is a habit of raters, so raters are resampled; what is preferred, by group.
        first=first,
        by_source=tuple(
            replace(_wins(dataset, choices, name), source=name) for n, (name, _) in enumerate(dataset.sources)
        ),
        groups=tuple(_group(dataset, choices, group) for group in dict.fromkeys(c.group for c in choices)),
        n_resamples=N_RESAMPLES,
    )


def _wins(dataset: Dataset, choices: list[Choice], source: str) -> ChoiceShare:
    """How often the source's story was chosen, of the choices where it stood beside one of another source."""

    def is_of(story: str) -> bool:
        return dataset.source_of(story) == source

    comparisons = [c for c in choices if any(map(is_of, c.order)) and not all(map(is_of, c.order))]
    won = np.array([is_of(c.story) for c in comparisons], dtype=np.bool_)
    return _share(dataset, won, dataset.clusters_of(c.group for c in comparisons))


def _share(dataset: Dataset, is_so: BoolArray, clusters: IntArray | Sequence[str]) -> ChoiceShare:
    """A share in percent with its interval over clusters."""
    counts: dict[str, Any] = {"n_so": int(is_so.sum()), "n": len(is_so), "n_clusters": len(set(clusters))}
    if not len(is_so):
        return ChoiceShare(
            value=None, why=without_value("no_choices"), interval=Interval(low=None, high=None), **counts
        )

    return ChoiceShare(**share_fields(is_so, clusters, rng=dataset.resampling()), **counts)


def _group(dataset: Dataset, choices: list[Choice], group: str) -> GroupChoices:
    of_group = [choice for choice in choices if choice.group == group]
    shown = [choice for choice in of_group if not choice.is_imported]
    stories = [] if dataset.is_sealed else sorted({story for choice in of_group for story in choice.order})
    return GroupChoices(
        group=group,
        n=len(of_group),
        percent_agreement=estimate(agreement.percent_agreement, choice_table(of_group, [group]).chosen),
        stories=tuple(
            StoryChoices(
                story=story,
                source=dataset.source_of(story),
                n=sum(choice.story == story for choice in of_group),
                n_shown_first=sum(choice.order[0] == story for choice in shown) if shown else None,
            )
            for story in stories
        ),
    )


def _rows(result: Listing[Preference]) -> Iterator[Row]:
    for row in result.rows:
        shares = [("shown first", row.first), *(("chosen", share) for share in row.by_source)]
        for name, share in shares:
            yield item_cells(row) | {
                "what": name,
                "source": share.source or "all",
                "n_so": share.n_so,
                "n": share.n,
                "percent": share.value,
                "low": share.interval.low,
                "high": share.interval.high,
                "note": note_of(share, share.interval),
            }


def _pair_rows(result: Listing[Preference]) -> Iterator[Row]:
    for row in result.rows:
        for group in row.groups:
            of_group = {"group": group.group, "n": group.n, "percent_agreement": group.percent_agreement.value}
            for story in group.stories or (None,):
                yield (
                    item_cells(row)
                    | of_group
                    | {
                        "story": story and story.story,
                        "source": story and story.source,
                        "n_chosen": story and story.n,
                        "n_shown_first": story and story.n_shown_first,
                    }
                )
