"""How far raters agree with themselves: what they answered about a story that they were given twice, in two groups or
in one that came again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from reports.dataset.answers import select_repeated
from reports.document import columns
from reports.document.columns import LEAD, decimals, ends
from reports.document.model import DocumentSection, Files, Head, ReportTable, TextBlock
from reports.document.phrases import phrase
from reports.document.values import Floor, Interval
from reports.figures.base import N_RESAMPLES, Figure, ItemRow, Listing, interval, item_fields
from reports.lazy import intervals, np, pd, repeats

if TYPE_CHECKING:
    from reports.dataset import Dataset, StepItem
    from stats.intervals import Interval as StatisticInterval

SALT = 55  # of the seed


@dataclass(frozen=True, kw_only=True)
class RepeatRow(ItemRow):
    """One item, over all who answered it twice about one text.

    rater : "" for all together
    percent_same : of 100 answers given twice, how many are the same; its interval is over texts
    mean_change : on scales how far apart the two are, in points
    """

    rater: str
    n: int
    n_raters: int
    n_stories: int
    percent_same: float
    interval: Interval
    floor: Floor
    mean_change: float | None


@dataclass(frozen=True)
class _Twice:
    rater: str
    text: str
    first: float
    second: float


class Repeats(Figure[Listing[RepeatRow]]):
    """A text is one if it stands in two groups, or under two codes in the same words; or its group was read again."""

    key = "repeats"
    title = gettext_lazy("Intra-rater agreement")
    position = 56
    section = "raters"
    tables = ("repeats",)
    pages_of = "raters"
    edition = 3

    def compute(self, dataset: Dataset) -> Listing[RepeatRow]:
        text_by_story = dataset.records.text_by_story
        again = select_repeated(dataset.answers)
        if len(set(text_by_story.values())) == len(dataset.units) and not len(again):
            return Listing(())
        rows: list[RepeatRow] = []
        for salt, item in enumerate(item for item in dataset.items if item.type.is_verdict or item.is_scale):
            pairs = _pairs(dataset, item, again, text_by_story) if item.is_about_a_story else []
            if pairs:
                rows.append(_row(dataset, item, pairs, rater="", salt=(salt, 0)))
                raters = sorted({pair.rater for pair in pairs})
                for n, rater in enumerate(raters, start=1):
                    own = [pair for pair in pairs if pair.rater == rater]
                    rows.append(_row(dataset, item, own, rater=rater, salt=(salt, n)))
        return Listing(tuple(rows))

    def describe(self, result: Listing[RepeatRow], head: Head) -> Iterator[DocumentSection]:
        table = ReportTable(
            name="repeats",
            label=_("Answers given twice"),
            caption=_(
                "Of 100 answers that a rater gave twice about one text, how many are the same. By chance: the second "
                "answers put to other texts that the rater read twice."
            ),
            rows=result.rows,
            columns=[
                columns.item(head),
                columns.words(
                    "rater", _("Rater"), lambda row: row.rater or "all", shown=lambda row: row.rater or _("all")
                ),
                columns.number(
                    *("same_percent", phrase(_("Same, %%"))),
                    of=lambda row: row.percent_same,
                    write=decimals(0),
                    css=lambda row: "" if row.rater else LEAD,
                ),
                columns.interval(lambda row: row.interval, write=ends(0)),
                columns.floor(phrase(_("By chance<br>mean, 97.5th")), lambda row: row.floor, write=decimals(0)),
                columns.number("mean_change", phrase(_("Mean change,<br>points")), write=decimals(2)),
                columns.number("n", _("Answers")),
                columns.in_file("n_raters"),
                columns.in_file("n_stories"),
            ],
        )
        note = _(
            "A text is one if it stands in two groups, or under two codes in the same words. How far raters agree with "
            "themselves bounds how far they can agree with others."
        )
        yield DocumentSection(
            heading=_("Intra-rater agreement"),
            body=[table, Files(words=_("Answers given twice"), table="repeats")],
            margin=[TextBlock(words=note)],
        )


def _pairs(dataset: Dataset, item: StepItem, again: pd.DataFrame, text_by_story: dict[str, str]) -> list[_Twice]:
    """The first two answers of a rater to the item about one text, by group and story; of a group that was read again
    its first reading first. again : the answers of second readings"""
    of_item = (again["step"] == item.step.key) & (again["item"] == item.item.key) & (again["outcome"] == "answered")
    answers = pd.concat([dataset.answers_to(item), again[of_item]]) if of_item.any() else dataset.answers_to(item)
    answers = answers.sort_values(["rater", "group", "story"], kind="stable")
    numbers = defaultdict[tuple[str, str], list[float]](list)
    for rater, story, number in zip(answers["rater"], answers["story"], answers["analysed"], strict=True):
        numbers[rater, text_by_story[story]].append(float(number))
    return [_Twice(rater, text, *values[:2]) for (rater, text), values in numbers.items() if len(values) > 1]


def _row(dataset: Dataset, item: StepItem, pairs: list[_Twice], *, rater: str, salt: tuple[int, int]) -> RepeatRow:
    first, second = (np.array([getattr(pair, name) for pair in pairs]) for name in ("first", "second"))

    def ends() -> StatisticInterval:
        is_same = 100.0 * (first == second)
        rng = dataset.resampling()
        texts = [pair.text for pair in pairs]
        return intervals.mean_interval(is_same, texts, rng=rng, n_resamples=N_RESAMPLES).clipped(0, 100)

    floor = repeats.same_share_floor(first, second, [pair.rater for pair in pairs], rng=dataset.rng(SALT, *salt, 1))
    return RepeatRow(
        **item_fields(item),
        rater=rater,
        n=len(pairs),
        n_raters=len({pair.rater for pair in pairs}),
        n_stories=len({pair.text for pair in pairs}),
        percent_same=repeats.same_share(first, second),
        interval=interval(ends),
        floor=Floor(mean=floor.mean, upper=floor.upper),
        mean_change=repeats.mean_change(first, second) if item.is_scale else None,
    )
