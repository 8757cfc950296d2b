"""The sources of the outcome that a report is headed with, the best first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from django.utils.translation import gettext as _

from reports.document.leaderboard import Leader, Leaderboard
from reports.document.model import Head, Phrase
from reports.document.phrases import plain
from reports.figures.outcome_titles import outcome_title
from reports.figures.sources.contrast_rows import OutcomeContrasts
from reports.figures.sources.headline_words import leading
from reports.numbers import decimal, percent


def source_leaderboard(outcomes: Sequence[OutcomeContrasts], head: Head) -> Leaderboard:
    """outcomes : none is a part of another, the primary one first"""
    outcome = leading(outcomes)
    leaders = [
        Leader(
            name=level.source,
            value=outcome.value_of(level),
            words=percent(value) if outcome.is_percent else decimal(value, outcome.places),
            ends=level.interval,
            places=0 if outcome.is_percent else outcome.places,
            letters=level.letters,
        )
        for level in outcome.ranked
        for value in [outcome.value_of(level)]
    ]
    title = outcome_title(outcome.key, outcome.title, head, without=_("All tests together"))
    bounds = (0.0, 100.0) if outcome.is_percent else None
    return Leaderboard(title=plain(title), leaders=tuple(leaders), notes=tuple(_notes(outcome)), bounds=bounds)


def _notes(outcome: OutcomeContrasts) -> Iterator[Phrase]:
    if outcome.is_adjusted:
        yield _("Adjusted means: as if the same raters had read all sources.")
    else:
        yield _("Means over stories.")
    if outcome.is_lower_better:
        yield _("Rank 1 is the best.")
    if any(level.letters for level in outcome.sources):
        yield _("Sources that share a letter were not shown to differ.")
    if any(level.interval and level.interval.low is not None for level in outcome.sources):
        yield _("Lines: 95 %% intervals.") % {}
