"""How sources were compared, in the sentences of a methods section: those that hold for the study and no others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from django.utils.translation import gettext as _

from reports.figures.sources.contrast_rows import MODEL_TEST
from reports.figures.sources.contrast_words import fixed_premises
from reports.methods.sampled_units import Sampled

if TYPE_CHECKING:
    from reports.figures.sources.comparisons import ComparisonResult


def comparison_sentences(compared: ComparisonResult, sampled: Sampled) -> Iterator[str]:
    """By what sources were compared, over what, and how p values were adjusted."""
    contrasts = [row for outcome in compared.whole for row in outcome.contrasts if row.test]
    if not contrasts:
        return
    tests = list(dict.fromkeys(row.test for row in contrasts if row.test != MODEL_TEST))
    if any(row.test == MODEL_TEST for row in contrasts):
        yield _(
            "Sources were compared by a linear mixed model of all answers, with sources and shared "
            "writing prompts fixed, and raters, what raters make of a source, and stories drawn at "
            "random (REML, Satterthwaite’s degrees of freedom); intervals are for other stories and "
            "other raters, and no surer than where stories of each source spread by themselves (Welch)."
        )
    if tests:
        of_means = [outcome.title for outcome in compared.whole if any(row.test in tests for row in outcome.contrasts)]
        yield _("Sources were compared on story means (%(tests)s) on %(outcomes)s.") % {
            "tests": ", ".join(tests),
            "outcomes": ", ".join(f"“{title or _('All tests together')}”" for title in of_means),
        }
    if all(row.n_blocks > 1 for row in contrasts):
        words = {"sampled": sampled.words}
        yield _("Sources were compared within %(sampled)s, where these hold stories of both.") % words
    if fixed := fixed_premises(contrasts):
        yield fixed
    if any(row.is_planned for row in contrasts):
        yield _("p values of the planned comparisons were adjusted by Holm.")
    if any(not row.is_planned for row in contrasts):
        yield _(
            "Of what was not planned one test of all sources was made for each outcome, adjusted by Holm over the "
            "outcomes, and pairs were looked at within outcomes that passed (Benjamini and Bogomolov, 2014)."
        )
    if any(outcome.correction == "fdr_bh" for outcome in compared.outcomes):
        yield _("Among single tests outcomes were adjusted by Benjamini and Hochberg.")
