"""What explanations are like, by who gave them, by source and by verdict.

After TTCW (table 14: models' are lengthier) and LitBench (section 5.2: what they speak of, and who is right).
No sentence is made from it: the table shows means and shares with their intervals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from reports.dataset.explained_answers import OF_ENGLISH, SHARES, features_of, list_explained_answers
from reports.document import columns, notes
from reports.document.columns import QUIET, cell_with_ends, decimals, ends
from reports.document.files import file_only
from reports.document.model import (
    DocumentSection,
    Files,
    Head,
    Phrase,
    ReportTable,
    RowGroup,
    TableCell,
    TableColumn,
    TextBlock,
)
from reports.document.phrases import phrase
from reports.document.values import IntervalEstimate
from reports.figures.base import Figure, ends_note, ends_of_mean, share_fields
from reports.lazy import np, pd
from reports.numbers import whole

if TYPE_CHECKING:
    from reports.dataset import Dataset

SALT = 152  # of the seed


@dataclass(frozen=True, kw_only=True)
class FeatureMean(IntervalEstimate):
    """The mean of a feature, or in percent the share of explanations that have it; over clusters."""

    feature: str


@dataclass(frozen=True, kw_only=True)
class ExplanationsPart:
    """Of a judge's explanations, of people's without a rater: all, those about a source's stories, or of a verdict.

    part : "all", "source" or "verdict"; of : which, "" of all
    """

    rater: str
    part: str
    of: str
    n: int
    features: tuple[FeatureMean, ...]


@dataclass(frozen=True, kw_only=True)
class ExplanationFeaturesResult:
    """names : the features that are counted, in their order"""

    names: tuple[str, ...]
    parts: tuple[ExplanationsPart, ...]


class ExplanationFeatures(Figure[ExplanationFeaturesResult]):
    key = "explanation_features"
    title = gettext_lazy("Features of explanations")
    position = 96
    section = "items"
    tables = ("explanation-features",)

    def compute(self, dataset: Dataset) -> ExplanationFeaturesResult | None:
        answers = list_explained_answers(dataset)
        if answers.empty:
            return None
        names = features_of(dataset)
        parts = tuple(_parts(dataset, answers, names))
        return ExplanationFeaturesResult(names=tuple(names), parts=parts)

    def describe(self, result: ExplanationFeaturesResult, head: Head) -> Iterator[DocumentSection]:
        n = sum(part.n for part in result.parts if part.part == "all")
        counted = ngettext("%(shown)s explanation", "%(shown)s explanations", n) % {"shown": whole(n)}
        yield DocumentSection(
            heading=_("What are explanations like?"),
            body=[
                Files(words=counted, table="explanation-features", is_count=True),
                *_tables(result),
                _file(result),
            ],
            margin=[
                *(TextBlock(words=words) for words in _margin(result)),
                *notes.weakest(feature.interval for part in result.parts for feature in part.features),
            ],
        )


def _parts(dataset: Dataset, answers: pd.DataFrame, names: Sequence[str]) -> Iterator[ExplanationsPart]:
    """Of people and of every judge: all, by source, and by verdict; only those with an explanation."""
    sources = [dataset.source_of(story) for story in answers["story"]]
    answers = answers.assign(source=sources)
    for place, rater in enumerate(sorted(set(answers["rater"]))):
        own = answers[answers["rater"] == rater]
        parts = [("all", "", own)]
        parts += [("source", name, own[own["source"] == name]) for name, _kind in dataset.sources]
        parts += [("verdict", value, own[own["verdict"] == value]) for value in ("yes", "no")]
        for n, (name, of, own_part) in enumerate(parts):
            if len(own_part):
                means = _means(dataset, own_part, names, salt=(place, n))
                yield ExplanationsPart(rater=rater, part=name, of=of, n=len(own_part), features=tuple(means))


def _means(
    dataset: Dataset, part: pd.DataFrame, names: Sequence[str], *, salt: tuple[int, int]
) -> Iterator[FeatureMean]:
    clusters = dataset.clusters_of_units(list(zip(part["group"], part["story"], strict=True)))
    for n, name in enumerate(names):
        values, rng = part[name].to_numpy(dtype=np.float64), dataset.rng(SALT, *salt, n)
        if name in SHARES:
            yield FeatureMean(feature=name, **share_fields(values, clusters, rng=rng))
        else:
            ends_of_values = ends_of_mean(values, clusters, rng=rng, low=0)
            yield FeatureMean(feature=name, value=float(values.mean()), interval=ends_of_values)


def _tables(result: ExplanationFeaturesResult) -> Iterator[ReportTable[ExplanationsPart]]:
    """Numbers and shares apart: side by side they are wider than a small screen."""
    numbers = [n for n, name in enumerate(result.names) if name not in SHARES]
    shares = [n for n, name in enumerate(result.names) if name in SHARES]
    yield _table(result, numbers, label=_("Length of explanations"), caption=_("Means with intervals."))
    yield _table(result, shares, label=_("What explanations hold"), caption=_("Shares with intervals."))


def _table(
    result: ExplanationFeaturesResult, features: Sequence[int], *, label: str, caption: str
) -> ReportTable[ExplanationsPart]:
    groups = [
        RowGroup(heading=rater or _("People"), rows=[part for part in result.parts if part.rater == rater])
        for rater in dict.fromkeys(part.rater for part in result.parts)
    ]
    return ReportTable(
        label=label,
        caption=caption,
        rows=result.parts,
        groups=groups,
        columns=[
            columns.shown(_("Explanations"), _name_part, is_head=True),
            columns.number("n", "n", css=QUIET),
            *(_feature_column(n, result.names[n]) for n in features),
        ],
    )


def _name_part(part: ExplanationsPart) -> Phrase:
    if part.part == "source":
        return part.of
    return {"": _("All"), "yes": _("Of Yes"), "no": _("Of No")}[part.of]


def _feature_column(n: int, name: str) -> TableColumn[ExplanationsPart]:
    places = 0 if name in SHARES else 1

    def cell(part: ExplanationsPart) -> TableCell:
        return cell_with_ends(part.features[n], decimals(places), ends(places), is_marked=True)

    headings: dict[str, Callable[[], Phrase]] = {
        "words": lambda: _("Words"),
        "sentences": lambda: _("Sentences"),
        "first_person": lambda: phrase(_("First person, %%")),
        "plot": lambda: phrase(_("Name the plot, %%")),
        "quotes": lambda: phrase(_("Quote, %%")),
        "other_items": lambda: _("Other items named"),
    }
    return TableColumn(heading=headings[name](), cell=cell, files={})


def _margin(result: ExplanationFeaturesResult) -> Iterator[str]:
    yield _(
        "Words are what stands between spaces, and a sentence ends with its mark. An explanation quotes if it has "
        "words in double quotation marks or marks a passage of the story. Other items are those that an explanation "
        "names by their titles, beside its own."
    )
    if OF_ENGLISH & set(result.names):
        yield _(
            "First person: “I”, “me”, “my”, “mine” or “myself” stands in the explanation. The plot is named by that "
            "word; LitBench found it where judges were right more often (Fein et al. 2025, section 5.2)."
        )
    yield _("Every repeat of a judge counts. What explanations have in common with an answer is no cause of it.")
    yield _("Intervals are over groups of stories, with raters held fixed.")


def _file(result: ExplanationFeaturesResult) -> ReportTable[tuple[ExplanationsPart, FeatureMean]]:
    return file_only(
        "explanation-features",
        [(part, feature) for part in result.parts for feature in part.features],
        columns.in_file("rater", lambda row: row[0].rater or "people"),
        columns.in_file("part", lambda row: row[0].part),
        columns.in_file("of", lambda row: row[0].of or "all"),
        columns.in_file("n", lambda row: row[0].n),
        columns.in_file("feature", lambda row: row[1].feature),
        columns.in_file("value", lambda row: row[1].value),
        columns.ends_in_file(lambda row: row[1].interval),
        columns.note(lambda row: ends_note(row[1].interval)),
    )
