"""With what missing answers go: sources, stories, places, raters; as rows of a table, and as cautions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from reports.document import columns
from reports.document.columns import LEAD
from reports.document.model import ReportTable
from reports.document.phrases import phrase
from reports.figures.base import Statement
from reports.lazy import contrasts, missing_patterns, np
from reports.numbers import Number, measured, p_value, percent, whole

if TYPE_CHECKING:
    from reports.dataset import Dataset
    from reports.dataset.records.begun_readings import BegunReading
    from stats.missing_patterns import AnswerCounts

SALT = 61  # of the seed
LEVEL = 0.05
POSITION = 61  # among the findings: after raters to ask
HALVES = ("earlier", "later")
ASPECT_WORDS = {
    "source": gettext_lazy("Source"),
    "story": gettext_lazy("Story"),
    "place": gettext_lazy("Half of what raters read"),
    "rater": gettext_lazy("Rater"),
}
HALF_WORDS = {"earlier": gettext_lazy("earlier half"), "later": gettext_lazy("later half")}


@dataclass(frozen=True, kw_only=True)
class MissingPart:
    """Where answers are missing more often than by chance, and whether that is more than chance.

    aspect : "source", "story", "place" or "rater"
    label : the source, the story, "earlier" or "later", or the rater
    percent, others : of the answers asked for there, and elsewhere, how many are missing
    p : of a difference as large by chance; p_adjusted : for all aspects that were tested, by Holm
    """

    aspect: str
    label: str
    percent: float
    others: float
    p: float
    p_adjusted: float

    @property
    def is_named(self) -> bool:
        return self.p_adjusted < LEVEL and self.percent > self.others


def list_parts(dataset: Dataset) -> tuple[MissingPart, ...]:
    """Of every aspect that can be tested; nothing where no answer is missing."""
    begun = dataset.records.begun_readings
    sources = [name for name, _kind in dataset.sources]
    readings, label_by_aspect = _numbered(begun, [dataset.source_of(reading.story) for reading in begun], sources)
    patterns = missing_patterns.missing_patterns(readings, rng=dataset.rng(SALT))
    adjusted = contrasts.adjust([pattern.p for pattern in patterns.values()], "holm")
    return tuple(
        MissingPart(
            aspect=aspect,
            label=label_by_aspect[aspect][pattern.label],
            percent=100 * pattern.share,
            others=100 * pattern.others,
            p=pattern.p,
            p_adjusted=p or 0.0,
        )
        for (aspect, pattern), p in zip(patterns.items(), adjusted, strict=True)
    )


def _numbered(
    begun: Sequence[BegunReading], source_by_reading: Sequence[str], sources: Sequence[str]
) -> tuple[AnswerCounts, dict[str, Sequence[str]]]:
    """The readings as numbers, and of each aspect what they stand for."""
    raters, rater = np.unique([reading.rater for reading in begun], return_inverse=True)
    stories, story = np.unique([reading.story for reading in begun], return_inverse=True)
    group_by_key = {key: n for n, key in enumerate(dict.fromkeys((r.rater, r.group) for r in begun))}
    number_by_source = {name: n for n, name in enumerate(sources)}
    places = [np.nan if reading.place is None else float(reading.place) for reading in begun]
    readings = missing_patterns.AnswerCounts(
        n_missing=np.array([reading.n_missing for reading in begun], dtype=np.int64),
        n_asked=np.array([reading.n_asked for reading in begun], dtype=np.int64),
        rater=rater.astype(np.int64),
        group=np.array([group_by_key[reading.rater, reading.group] for reading in begun], dtype=np.int64),
        story=story.astype(np.int64),
        source=np.array([number_by_source.get(source, -1) for source in source_by_reading], dtype=np.int64),
        place=np.array(places, dtype=np.float64),
        is_ended=np.array([reading.is_ended for reading in begun], dtype=np.bool_),
    )
    return readings, {"source": sources, "story": stories.tolist(), "place": HALVES, "rater": raters.tolist()}


def parts_table(rows: Sequence[MissingPart]) -> ReportTable[MissingPart]:
    return ReportTable(
        name="missing-parts",
        label=_("Missing answers by source, story, position and rater"),
        rows=rows,
        columns=[
            columns.words("aspect", _("By"), shown=lambda row: str(ASPECT_WORDS[row.aspect]), is_head=True),
            columns.words("missing_most", _("Most often at"), lambda row: row.label, shown=_label_words),
            columns.number("missing_percent", _("Missing"), lambda row: row.percent, write=_share, css=LEAD),
            columns.number("others_percent", _("Elsewhere"), lambda row: row.others, write=_share),
            columns.number("p", "p", write=p_value),
            columns.number("p_adjusted", _("p, corrected"), write=p_value),
        ],
    )


def _label_words(row: MissingPart) -> str:
    return str(HALF_WORDS.get(row.label, row.label)) if row.aspect == "place" else row.label


def part_statements(rows: Sequence[MissingPart], n_readings: int) -> Iterator[Statement]:
    """Cautions, which say where and not why. Stories of a source that is named are not named, too."""
    named_rows = [row for row in rows if row.is_named]
    basis = ngettext(
        "%(n)s set of answers that was begun (one rater, one story)",
        "%(n)s sets of answers that were begun (one rater, one story)",
        n_readings,
    )
    for row in named_rows:
        if row.aspect == "story" and any(other.aspect == "source" for other in named_rows):
            continue
        numbers = {"label": row.label, "percent": _share(row.percent), "others": _share(row.others)}
        yield Statement(
            sentence=str(phrase(_sentence(row), **numbers)),
            basis=basis % {"n": whole(n_readings)},
            position=POSITION,
        )


def _share(number: Number) -> str:
    """A percentage, with a decimal where it is small."""
    if not isinstance(number, float) or number >= 10:
        return percent(number)
    return (_("%(percent)s %%") % {"percent": measured(number)}).replace(" ", "\u00a0")


def _sentence(row: MissingPart) -> str:
    if row.aspect == "source":
        return _(
            "Answers are missing more often for stories of %(label)s (%(percent)s against %(others)s): "
            "its means, and differences from it, are based on the answers that are there."
        )
    if row.aspect == "story":
        return _(
            "Answers are missing more often for story %(label)s (%(percent)s against %(others)s): what "
            "is said of it is based on fewer answers."
        )
    if row.aspect == "rater":
        return _(
            "Answers of rater %(label)s are missing more often (%(percent)s against %(others)s of the "
            "others): results depend on the others more."
        )
    if row.label == "later":
        return _(
            "Answers are missing more often in the later half of what raters read (%(percent)s against "
            "%(others)s): results depend on what was read earlier more."
        )
    return _(
        "Answers are missing more often in the earlier half of what raters read (%(percent)s against "
        "%(others)s): results depend on what was read later more."
    )
