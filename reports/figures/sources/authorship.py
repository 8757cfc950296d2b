"""Who people thought wrote the stories: guesses by true source, and how many were right."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from reports.document import columns
from reports.document.model import DocumentSection, Files, Head, Phrase, ReportTable, TableCell, TableColumn, TextBlock
from reports.document.phrases import in_language, joined, phrase, reason_words
from reports.document.values import Estimate, Interval
from reports.figures.base import (
    N_RESAMPLES,
    Claim,
    Figure,
    ItemRow,
    Listing,
    Statement,
    estimate,
    interval,
    item_fields,
)
from reports.lazy import comparisons, contrasts, guessed_kinds, intervals, np, pd
from reports.numbers import coefficient, coefficients, decimal, whole
from stats.reasons import Incomputable, value_or_reason
from studies.models import Source

if TYPE_CHECKING:
    from reports.dataset import Dataset, StepItem
    from stats.arrays import FloatArray
    from stats.guessed_kinds import ToldKinds
    from stats.intervals import Interval as StatisticInterval

LEVEL = 0.05
CHANCE = 0.5  # balanced accuracy of always giving the same answer


@dataclass(frozen=True, kw_only=True)
class GuessOption:
    value: str
    label: str


@dataclass(frozen=True, kw_only=True)
class SourceGuesses:
    source: str
    source_kind: str
    n: int
    n_by_option: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Guesses(ItemRow):
    """Guesses of one item.

    n_right : names the very kind of author; n_right_of_person_or_model : tells a person from a model
    interval : of the balanced accuracy, for the same raters; wide : for other raters, too, never narrower
    p : that it is as chance gives, for other raters; p_adjusted : by Holm over all guesses that are asked
    """

    options: tuple[GuessOption, ...]
    n: int
    by_source: tuple[SourceGuesses, ...]
    n_right: int
    n_right_of_person_or_model: int
    always_model_percent: float | None
    balanced_accuracy: Estimate
    n_raters: int
    interval: Interval | None = None
    wide: Interval | None = None
    p: float | None = None
    p_adjusted: float | None = None

    @property
    def is_told_by_these(self) -> bool:
        """Whether these raters tell the kinds apart, on other stories."""
        return _is_above_chance(self.interval)

    @property
    def is_told(self) -> bool:
        """Whether other raters would, too."""
        return _is_above_chance(self.wide) and self.p_adjusted is not None and self.p_adjusted <= LEVEL


def _is_above_chance(ends: Interval | None) -> bool:
    return ends is not None and ends.low is not None and ends.low > CHANCE


class Authorship(Figure[Listing[Guesses]]):
    key = "authorship"
    title = gettext_lazy("Authorship guesses")
    position = 90
    section = "sources"
    tables = ("authorship",)
    edition = 5
    is_shown_sealed = False

    def compute(self, dataset: Dataset) -> Listing[Guesses]:
        rows = [_guesses(dataset, item) for item in dataset.items if item.is_guess]
        adjusted = contrasts.adjust([row.p for row in rows], "holm")
        return Listing(tuple(replace(row, p_adjusted=p) for row, p in zip(rows, adjusted, strict=True)))

    def describe(self, result: Listing[Guesses], head: Head) -> Iterator[DocumentSection]:
        for row in result.rows:
            counted = ngettext("%(shown)s guess", "%(shown)s guesses", row.n)
            yield DocumentSection(
                heading=_("Authorship guesses"),
                body=[
                    _matrix(row, head),
                    _file_table(row),
                    Files(words=counted % {"shown": whole(row.n)}, table="authorship", is_count=True),
                ],
                margin=[TextBlock(words=_right_words(row)), TextBlock(words=_balanced_words(row))],
            )

    def statements(self, result: Listing[Guesses], head: Head) -> Iterator[Statement]:
        for row in result.rows:
            if row.balanced_accuracy.value is not None:
                yield _statement(row, row.balanced_accuracy.value)


def _statement(row: Guesses, balanced: float) -> Statement:
    """Whether people tell persons from models, beside what always giving one answer would reach."""
    ends = row.interval if row.wide is None or row.wide.low is None else row.wide
    words = {
        "percent": decimal(100 * row.n_right_of_person_or_model / row.n, 0),
        "always": decimal(row.always_model_percent, 0),
        "balanced": coefficient(balanced),
        "ends": coefficients(ends),
        "n": whole(row.n),
    }
    sentence = _first_words(row) % words
    rests_on = _("%(n)s guesses")
    if ends is not None and ends.low is not None:
        sentence += " " + _("95 %% interval %(ends)s.") % words
        if ends is row.wide:
            rests_on = _("%(n)s guesses; the interval is for other stories guessed at by other raters")
        else:
            rests_on = _("%(n)s guesses; the interval is for other groups of stories read by the same raters")
    claims = (Claim(kind="authorship"),) if row.is_told else ()
    return Statement(sentence=sentence, basis=rests_on % words, position=45, claims=claims)


def _first_words(row: Guesses) -> str:
    """Whether the kinds are told apart, and by whom."""
    if row.is_told:
        return _(
            "Raters distinguish stories of people from those of models: %(percent)s %% of guesses are "
            "right, always answering “model” would be right in %(always)s %%; with both kinds weighing "
            "the same %(balanced)s, where chance gives .50."
        )
    if row.is_told_by_these:
        who = ngettext(
            "This one rater distinguishes stories of people from those of models; whether others would is not shown.",
            "These %(raters)s raters distinguish stories of people from those of models; whether others "
            "would is not shown.",
            row.n_raters,
        ) % {"raters": whole(row.n_raters)}
        numbers = _(
            "%(percent)s %% of guesses are right, always answering “model” would be right in %(always)s %%; with both "
            "kinds weighing the same %(balanced)s, where chance gives .50."
        )
        return f"{who} {numbers}"
    return _(
        "It is not shown that raters distinguish stories of people from those of models better than "
        "chance: %(percent)s %% of guesses are right, always answering “model” would be right in "
        "%(always)s %%; with both kinds weighing the same %(balanced)s, where chance gives .50."
    )


def _balanced_of(sums: FloatArray) -> FloatArray:
    """Balanced accuracy of how many guesses are right and how many there are, of either kind, shape (B, 4) to (B,); nan
    where there is none of a kind."""
    right, n = sums[:, :2], sums[:, 2:]
    return np.asarray((right / np.where(n > 0, n, np.nan)).mean(axis=1), dtype=np.float64)


def _guesses(dataset: Dataset, item: StepItem) -> Guesses:
    answers = dataset.answers_to(item)
    answers = answers[answers["source"].notna()]  # of a story without a recorded author, no guess is right or wrong
    options = item.item.options
    guessed = answers["value"].map(item.author_by_option)
    is_model = (answers["source_kind"] == Source.Kind.MODEL).to_numpy()
    is_guessed_model = (guessed == Source.Kind.MODEL).to_numpy()
    kinds = np.stack([is_model, ~is_model])
    units = list(zip(answers["group"], answers["story"], strict=True))
    clusters, blocks = dataset.clusters_of_units(units), dataset.blocks_of_units(units)

    def of_balanced() -> StatisticInterval:
        parts = np.stack([*(kinds & (is_model == is_guessed_model)), *kinds], axis=-1)
        rng = dataset.resampling()
        ends = intervals.interval_of_sums(_balanced_of, parts, clusters, rng=rng, n_resamples=N_RESAMPLES)
        return ends.clipped(0, 1)  # a share, not a coefficient

    narrow = interval(of_balanced)

    def of_others() -> ToldKinds:
        rater, story = (np.unique(answers[name].astype(str), return_inverse=True)[1] for name in ("rater", "story"))
        return guessed_kinds.told_kinds(
            *(is_model, is_guessed_model), block=blocks, rater=rater, story=story, narrow=of_balanced()
        )

    told = value_or_reason(of_others)
    return Guesses(
        **item_fields(item),
        options=tuple(GuessOption(value=option["value"], label=option["label"]) for option in options),
        n=len(answers),
        by_source=tuple(_of_source(answers, name, kind, options) for name, kind in dataset.sources),
        n_right=int((guessed == answers["source_kind"]).sum()),
        n_right_of_person_or_model=int((is_model == is_guessed_model).sum()),
        always_model_percent=float(100 * is_model.mean()) if len(answers) else None,
        balanced_accuracy=estimate(
            comparisons.balanced_accuracy, is_model.astype(float), is_guessed_model.astype(float)
        ),
        n_raters=int(answers["rater"].nunique()),
        interval=narrow,
        wide=Interval.of(told if isinstance(told, Incomputable) else told.interval),
        p=None if isinstance(told, Incomputable) else told.p,
    )


def _of_source(answers: pd.DataFrame, source: str, kind: str, options: list[dict[str, Any]]) -> SourceGuesses:
    values = answers.loc[answers["source"] == source, "value"]
    n_by_option = tuple(int((values == option["value"]).sum()) for option in options)
    return SourceGuesses(source=source, source_kind=kind, n=len(values), n_by_option=n_by_option)


def _matrix(row: Guesses, head: Head) -> ReportTable[SourceGuesses]:
    """The guesses by true source, each with its share of the row and a shade that says how large it is."""

    def of_option(n: int) -> TableColumn[SourceGuesses]:
        def cell(guesses: SourceGuesses) -> TableCell:
            count = guesses.n_by_option[n]
            share = 100 * count / guesses.n if guesses.n else 0
            words = format_html("{}<small>{}</small>", count, phrase(_("%(percent)s %%"), percent=decimal(share, 0)))
            return TableCell(words=words, css=f"heat-{min(4, 1 + int(share // 25))}")

        label = in_language(row.options[n].label, head.language)
        return TableColumn(heading=label, cell=cell, files={}, is_number=False)

    def source(guesses: SourceGuesses) -> Phrase:
        kind = Source.Kind(guesses.source_kind).label
        return format_html('{} <br><span class="note">{}</span>', guesses.source, kind)

    return ReportTable(
        label=_("Authorship guesses"),
        caption=_("Guesses by true source."),
        css="ruled matrix",
        rows=row.by_source,
        columns=[
            columns.words("source", _("Written by"), shown=source, is_head=True),
            *(of_option(n) for n in range(len(row.options))),
            columns.number("n", "n", write=str),
        ],
    )


def _file_table(row: Guesses) -> ReportTable[tuple[SourceGuesses, int]]:
    """The guesses in the file: a row for each source and option."""
    return ReportTable(
        name="authorship",
        label=_("Authorship guesses"),
        rows=[(guesses, n) for guesses in row.by_source for n in range(len(row.options))],
        is_shown=False,
        columns=[
            columns.item_in_file(lambda pair: row),
            columns.in_file("source", lambda pair: pair[0].source),
            columns.in_file("source_kind", lambda pair: pair[0].source_kind),
            columns.in_file("guess", lambda pair: row.options[pair[1]].value),
            columns.in_file("n", lambda pair: pair[0].n_by_option[pair[1]]),
            columns.in_file("n_all", lambda pair: pair[0].n),
        ],
    )


def _right_words(row: Guesses) -> Phrase:
    """How many guesses are right, beside what always saying “a model” would reach."""
    right = ngettext(
        "%(n_told)s of %(n)s guess tells a person from a model rightly; %(n_right)s names the very kind of author.",
        "%(n_told)s of %(n)s guesses tell a person from a model rightly; %(n_right)s name the very kind of author.",
        row.n,
    )
    counts = {"n_told": whole(row.n_right_of_person_or_model), "n": whole(row.n), "n_right": whole(row.n_right)}
    always: Phrase = ""
    if row.always_model_percent is not None:
        sentence = _("Always answering “a model” would be right in %(percent)s %%.")
        always = phrase(sentence, percent=decimal(row.always_model_percent, 0))
    return joined(phrase(right, **counts), always)


def _balanced_words(row: Guesses) -> Phrase:
    if row.balanced_accuracy.why:
        return joined(_("Balanced accuracy:"), reason_words(row.balanced_accuracy.why))
    sentence = _("Balanced accuracy is <strong>%(accuracy)s</strong>; always giving the same answer has %(even)s.")
    return phrase(sentence, accuracy=coefficient(row.balanced_accuracy.value), even=coefficient(CHANCE))
