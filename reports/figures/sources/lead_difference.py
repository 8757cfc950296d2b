"""How far the source that a report is headed with is ahead of the next, and whether that is shown."""

from __future__ import annotations

from collections.abc import Sequence

from django.utils.translation import gettext as _

from reports import reasons
from reports.figures.sources.contrast_rows import ContrastRow, OutcomeContrasts
from reports.figures.sources.contrast_words import on_outcome, unit_words
from reports.figures.sources.headline_words import counted_scales, leading
from reports.numbers import decimal
from reports.numbers import interval as between


def lead_difference(outcomes: Sequence[OutcomeContrasts]) -> str:
    """The difference of the first two sources with its interval, in a few short sentences; "" where they are level, and
    where the headline counts over several scales, since another source may be ahead on the first of them.

    outcomes : none is a part of another, the primary one first
    """
    if counted_scales(outcomes):
        return ""
    outcome = leading(outcomes)
    first, second = (level.source for level in outcome.ranked[:2])
    row = outcome.between(first, second)
    if row.value is None:
        return reasons.translate_reason(row.why) if row.why is not None else ""
    oriented = outcome.oriented(row)
    if not oriented.value or outcome.is_reversed(row):
        return ""
    words = {
        "first": first,
        "second": second,
        "on": on_outcome(outcome),
        "difference": decimal(oriented.value, outcome.places),
        "unit": unit_words(outcome),
        "ends": between(oriented.interval if row.is_of_these_raters else oriented.ends, outcome.places),
    }
    sentence = _(
        "Stories by %(first)s are %(difference)s %(unit)s ahead of those by %(second)s%(on)s: 95 %% interval %(ends)s."
    )
    return f"{sentence % words} {_verdict(row)}"


def _verdict(row: ContrastRow) -> str:
    if row.is_clear:
        return _("The two are shown to differ.")
    if row.is_equivalent:
        return _("That is within the planned margin.")
    if row.is_of_these_raters:
        return _("That is shown for these raters alone.")
    if row.has_too_few_stories:
        return _("Stories are too few to show it.")
    if row.is_not_tested:
        return _("With so few groups or stories no difference could be shown, however large.")
    return _("The two are not shown to differ.")
