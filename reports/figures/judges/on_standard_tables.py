"""How the figure about a standard describes itself: what has labels, and how judges and others agree with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from reports import reasons
from reports.document import columns, notes
from reports.document.columns import LEAD
from reports.document.model import Block, DocumentSection, Files, Head, ReportTable, Subsection, TextBlock
from reports.document.phrases import in_language, joined, phrase
from reports.figures.base import note_of
from reports.figures.judges import tables
from reports.figures.judges.plots import judge_plot
from reports.numbers import decimal

if TYPE_CHECKING:
    from reports.document.values import Interval
    from reports.figures.judges.on_standard import PairStandard, StandardMeasure, StandardResult
    from reports.figures.judges.scores import Score, WithScores
    from reports.figures.named_accuracies import NamedAccuracy


def describe(result: StandardResult, head: Head) -> DocumentSection:
    """The labels, then judges by the kind of item, then others on pairs."""
    judges = _judges(result)
    file: list[Block] = [
        tables.statistics_file("judges-on-standard", judges),
        Files(words=_("Every statistic, item by item"), table="judges-on-standard"),
    ]
    return DocumentSection(
        heading=_("Judges against %(standard)s") % {"standard": result.name},
        body=[
            *_stated(result, head),
            *(block for kind, own in _by_kind(result) for block in _of_kind(result, kind, own, head)),
            *(file if judges else []),
            *_measures(result, head),
            *(block for row in result.pairs for block in _others(result, row, head)),
        ],
        margin=_notes(result) if result.labels else [],
    )


def _stated(result: StandardResult, head: Head) -> Iterator[Block]:
    """What the standard is, and how much it says."""
    if result.why:
        yield TextBlock(words=reasons.translate_reason(result.why))
        return
    words = {"standard": result.name, "rater": result.rater}
    if result.rater:
        sentence = _("The analysis plan names %(standard)s as a standard: the answers imported as “%(rater)s”.")
    else:
        sentence = _("The analysis plan names %(standard)s as a standard: properties of the stories.")
    yield TextBlock(words=phrase(sentence, **words), css="says")
    yield ReportTable(
        name="standard",
        label=_("What the standard says, item by item"),
        caption=_(
            "Stories in their groups, or pairs. A pair whose stories have the same value, or one of them none, has no "
            "label."
        ),
        rows=result.labels,
        columns=[
            columns.item_in_file(lambda row: row),
            columns.shown(_("Item"), lambda row: in_language(row.title, head.language), is_head=True),
            columns.words("kind", _("Kind"), shown=lambda row: _kind(row.kind)),
            columns.words("factor", _("Property"), shown=lambda row: row.factor or "–"),
            columns.number("n", _("Labels")),
            columns.number("n_missing", _("Without label")),
            columns.number("n_unreadable", _("Unreadable")),
            columns.number("yes_percent", phrase(_("Yes, %%")), write=decimal),
        ],
    )


def _kind(kind: str) -> str:
    return {"verdicts": _("Verdicts"), "choices": _("Choices"), "scales": _("Scales"), "pairs": _("Pairs")}[kind]


def _judges(result: StandardResult) -> list[WithScores]:
    of_pairs = (judge for row in result.pairs for judge in row.judges)
    return [*result.verdicts, *result.choices, *result.scales, *of_pairs]


def _by_kind(result: StandardResult) -> list[tuple[str, Sequence[WithScores]]]:
    kinds: list[tuple[str, Sequence[WithScores]]] = [
        (_kind("verdicts"), result.verdicts),
        (_kind("choices"), result.choices),
        (_kind("scales"), result.scales),
    ]
    has_several = len(result.pairs) > 1
    return [*kinds, *((row.title if has_several else _kind("pairs"), row.judges) for row in result.pairs)]


def _of_kind(result: StandardResult, kind: str, judges: Sequence[WithScores], head: Head) -> Iterator[Block]:
    """The plot and every statistic of judges on one kind of item, or on one question about pairs."""
    if not judges:
        return
    name = in_language(kind, head.language)
    label = phrase(_("Judges against %(standard)s, %(kind)s"), standard=result.name, kind=name)
    caption = phrase(
        _("Against %(standard)s, over what has both a label and an answer of the judge."), standard=result.name
    )
    blocks = [
        *tables.plot(judge_plot(judges), label=kind),
        *tables.against_labels(judges, head, label=label, caption=caption),
    ]
    yield Subsection(heading=name, blocks=blocks)


def _measures(result: StandardResult, head: Head) -> Iterator[Block]:
    """Metrics on labels of stories."""
    if not result.measures:
        return
    yield ReportTable(
        name="standard-measures",
        label=phrase(_("Metrics against %(standard)s"), standard=result.name),
        caption=_("Spearman’s rho with the labels, of verdicts with 1 for Yes and 0 for No."),
        rows=result.measures,
        why=lambda row: row.score.whole.why,
        columns=[
            columns.item_in_file(lambda row: row),
            columns.words("metric", _("Metric"), is_head=True),
            columns.shown(_("Item"), lambda row: in_language(row.title, head.language)),
            *(column.at(_score_of) for column in tables.score_columns(_("Spearman’s rho"))),
            columns.number("n", _("Stories"), lambda row: row.score.whole.n),
            columns.note(lambda row: note_of(row.score.whole, row.score.whole.interval)),
        ],
    )
    yield Files(words=_("Every metric"), table="standard-measures")


def _score_of(row: StandardMeasure) -> Score:
    return row.score


def _others(result: StandardResult, row: PairStandard, head: Head) -> Iterator[Block]:
    """People, metrics, and whoever takes the longer story, on the same pairs."""
    if not row.others:
        return
    title = phrase(_("People and metrics against %(standard)s"), standard=result.name)
    yield ReportTable(
        name="standard-pairs",
        label=joined(title, in_language(row.title, head.language) if len(result.pairs) > 1 else ""),
        caption=_("Percent of pairs on which the story is named that the standard prefers; by chance 50."),
        rows=row.others,
        columns=[
            columns.item_in_file(lambda _accuracy: row),
            columns.in_file("who"),
            columns.words("name", _("Who"), lambda accuracy: accuracy.name, shown=_name, is_head=True),
            *columns.with_interval("percent", phrase(_("Right, %%")), places=1, css=LEAD),
            columns.number("n", "n"),
            columns.number("n_pairs", _("Pairs")),
            columns.note(lambda accuracy: note_of(accuracy, accuracy.interval)),
        ],
    )
    yield Files(words=_("Every share"), table="standard-pairs")


def _name(accuracy: NamedAccuracy) -> str:
    names = {"person": _("People’s choices"), "longer": _("Always the longer")}
    return names.get(accuracy.who, accuracy.name)


def _notes(result: StandardResult) -> list[TextBlock]:
    no_raters = _(
        "Each story or pair has one label of %(standard)s, and no raters who agree or differ on it. So there is no "
        "benchmark of one expert, no alternative annotator test and no part on which people agree: those figures are "
        "about people alone."
    )
    not_counted = _(
        "The standard counts neither among people nor among judges: in no agreement, and in no mean of a source."
    )
    blocks = [TextBlock(words=phrase(no_raters, standard=result.name)), TextBlock(words=not_counted)]
    return [*blocks, *tables.label_floor_notes(), *notes.weakest(_intervals(result))]


def _intervals(result: StandardResult) -> Iterator[Interval]:
    yield from (score.whole.interval for judge in _judges(result) for score in judge.scores)
    yield from (accuracy.interval for row in result.pairs for accuracy in row.others)
