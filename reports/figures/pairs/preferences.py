"""Which of the stories of a group people prefer: by source, by position on the page, and how far they agree."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from reports.dataset.choices import Choice, choice_table, choices_of
from reports.document import columns, notes
from reports.document.columns import LEAD
from reports.document.model import DocumentSection, Files, Head, Phrase, ReportTable, RowGroup, TextBlock
from reports.document.phrases import hidden, in_language, joined, phrase, reason_words
from reports.document.values import Estimate, Interval, SourceShare
from reports.figures.base import (
    N_RESAMPLES,
    Figure,
    ItemRow,
    Listing,
    estimate,
    item_fields,
    note_of,
    share_fields,
    without_value,
)
from reports.lazy import agreement, np
from reports.numbers import decimal, whole
from reports.numbers import interval as between

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
    title = gettext_lazy("Preferences")
    position = 70
    section = "pairs"
    tables = ("preferences", "pairs")
    edition = 3

    def compute(self, dataset: Dataset) -> Listing[Preference]:
        items = [item for item in dataset.items if item.is_preference]
        return Listing(tuple(_preference(dataset, item) for item in items))

    def describe(self, result: Listing[Preference], head: Head) -> Iterator[DocumentSection]:
        weakest = notes.weakest(share.interval for row in result.rows for share in row.by_source)
        for row in (row for row in result.rows if row.n):
            counted = ngettext("%(shown)s choice", "%(shown)s choices", row.n)
            of_sources = Files(words=counted % {"shown": whole(row.n)}, table="preferences", is_count=True)
            yield DocumentSection(
                heading=in_language(row.title, head.language),
                body=[
                    _source_table(row),
                    *([of_sources] if row.by_source else []),
                    _group_table(row, head),
                    Files(words=_("Group by group"), table="pairs"),
                ],
                margin=[
                    TextBlock(words=_first_words(row.first)),
                    *_neither(row),
                    *([_clusters(row), *weakest] if row.by_source else []),
                ],
            )

    def is_empty(self, result: Listing[Preference]) -> bool:
        return not any(row.n for row in result.rows)


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


def _source_table(row: Preference) -> ReportTable[ChoiceShare]:
    """How often each source was chosen; the file begins with how often the story shown first was."""
    return ReportTable(
        name="preferences",
        label=_("%(title)s, by source") % {"title": row.title},
        rows=[row.first, *row.by_source],
        groups=[RowGroup(rows=row.by_source)],
        is_shown=bool(row.by_source),
        columns=[
            columns.item_in_file(lambda share: row),
            columns.in_file("what", lambda share: "shown first" if share is row.first else "chosen"),
            columns.source(),
            *columns.with_interval("percent", phrase(_("Chosen, %%")), places=0, css=LEAD),
            columns.count_of("n_so", "n", n_all=lambda share: share.n),
            columns.in_file("n"),
            columns.note(lambda share: note_of(share, share.interval)),
        ],
    )


@dataclass(frozen=True)
class _Pair:
    """A story of a group; the group alone while it is sealed. is_first : whether it begins the rows of its group"""

    group: GroupChoices
    story: StoryChoices | None
    is_first: bool


def _group_table(row: Preference, head: Head) -> ReportTable[_Pair]:
    def of(name: str) -> Callable[[_Pair], Any]:
        return lambda pair: getattr(pair.story, name, None)

    def story(pair: _Pair) -> str:
        return f"{pair.story.story}, {pair.story.source}" if pair.story else ""

    def heading(words: str) -> str | None:
        return None if head.is_sealed else words

    pairs = [
        _Pair(group, story, is_first=n == 0) for group in row.groups for n, story in enumerate(group.stories or (None,))
    ]
    return ReportTable(
        name="pairs",
        label=_("%(title)s, by group") % {"title": row.title},
        rows=pairs,
        columns=[
            columns.item_in_file(lambda pair: row),
            columns.words(
                *("group", _("Group")),
                of=lambda pair: pair.group.group,
                shown=_group_once,
                is_head=True,
            ),
            columns.number(
                *("n", _("Choices")),
                of=lambda pair: pair.group.n,
                shown=lambda pair: whole(pair.group.n) if pair.is_first else "",
            ),
            columns.number(
                *("agreement_percent", phrase(_("Agree, %%"))),
                of=lambda pair: pair.group.percent_agreement.value,
                shown=lambda pair: decimal(pair.group.percent_agreement.value, 0) if pair.is_first else "",
                why=lambda pair: pair.group.percent_agreement.why if pair.is_first else None,
            ),
            columns.words("story", heading(_("Story")), of("story"), shown=story, css="kept-whole"),
            columns.in_file("source", of("source")),
            columns.number("n_chosen", heading(_("Chosen")), of("n")),
            columns.number("n_shown_first", heading(_("Shown first")), of("n_shown_first")),
        ],
    )


def _group_once(pair: _Pair) -> Phrase:
    """The group; in its later rows for screen readers alone."""
    return pair.group.group if pair.is_first else hidden(pair.group.group)


def _first_words(first: ChoiceShare) -> Phrase:
    """How often the story shown first was chosen."""
    if first.why:
        return joined(_("The position on the page:"), reason_words(first.why))
    values = {"percent": decimal(first.value, 0), "n": whole(first.n), "interval": between(first.interval, 0)}
    if first.interval.low is None:
        sentence = ngettext(
            "The story shown first was chosen in <strong>%(percent)s %%</strong> of %(n)s choice.",
            "The story shown first was chosen in <strong>%(percent)s %%</strong> of %(n)s choices.",
            first.n,
        )
    else:
        sentence = ngettext(
            "The story shown first was chosen in <strong>%(percent)s %%</strong> of %(n)s choice (95 %% interval "
            "%(interval)s, over raters).",
            "The story shown first was chosen in <strong>%(percent)s %%</strong> of %(n)s choices (95 %% interval "
            "%(interval)s, over raters).",
            first.n,
        )
    return phrase(sentence, **values)


def _neither(row: Preference) -> list[TextBlock]:
    if not row.n_neither:
        return []
    sentence = ngettext("%(shown)s choice preferred neither.", "%(shown)s choices preferred neither.", row.n_neither)
    return [TextBlock(words=sentence % {"shown": whole(row.n_neither)})]


def _clusters(row: Preference) -> TextBlock:
    sentence = ngettext(
        "Shares are of the choices in which the source stood beside another one. Intervals are over "
        "<strong>groups</strong>, of which there is %(n_groups)s.",
        "Shares are of the choices in which the source stood beside another one. Intervals are over "
        "<strong>groups</strong>, of which there are %(n_groups)s.",
        len(row.groups),
    )
    return TextBlock(words=phrase(sentence, n_groups=len(row.groups)))
