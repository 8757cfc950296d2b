"""For what differences in a table were corrected, in the sentences that hold for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from reports.figures.sources.contrast_rows import OutcomeContrasts


def correction_sentences(outcomes: Sequence[OutcomeContrasts]) -> Iterator[str]:
    """For what was looked at: planned comparisons together, all others by outcome and within outcomes."""
    rows = [(outcome, row) for outcome in outcomes for row in outcome.contrasts if row.p_same_raters is not None]
    planned = {row.n_family for _outcome, row in rows if row.is_planned}
    for n in sorted(planned):
        sentence = ngettext("Planned: Holm over %(n)d comparison.", "Planned: Holm over %(n)d comparisons.", n)
        yield sentence % {"n": n}
    unplanned = [(outcome, row) for outcome, row in rows if not row.is_planned]
    for correction, name in {"holm": _("Holm"), "fdr_bh": _("Benjamini and Hochberg")}.items():
        of_correction = [row for outcome, row in unplanned if outcome.correction == correction]
        if of_correction:
            yield _unplanned(
                name, max(row.n_outcomes for row in of_correction), max(row.n_family for row in of_correction)
            )


def _unplanned(name: str, n_outcomes: int, n_pairs: int) -> str:
    """Of what was not planned; "" where one pair on one outcome was all."""
    words = {"name": name, "n": n_outcomes, "pairs": n_pairs}
    if n_outcomes > 1 and n_pairs > 1:
        return (
            _(
                "p: one test of all sources for each outcome, %(name)s over %(n)d outcomes, and within those that "
                "passed Holm over %(pairs)d pairs."
            )
            % words
        )
    if n_outcomes > 1:
        return _("p: %(name)s over %(n)d outcomes.") % words
    return _("p: one test of all sources, and if it passed Holm over %(pairs)d pairs.") % words if n_pairs > 1 else ""
