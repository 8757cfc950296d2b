"""The named procedures of a cloze's score: what scores of sections, as published, give as totals and orders.

They are brought in as the answers of one metric, an item for each part of each section: s1-satisfies, s1-surprises.
"""

from collections.abc import Callable, Sequence

import numpy as np

from reports.dataset.judged_clozes import PUBLISHED_KEY
from reports.replications.procedures import Evidence, Figures, figure_or_reason
from stats import cloze
from stats.arrays import FloatArray
from stats.comparisons import spearman
from stats.reasons import Incomputable

FORM_BY_NAME = {form.name: form for form in cloze.FORMS}


def cloze_part_mean(evidence: Evidence, *, part: str) -> Figures:
    """The mean over sections of how far each participant satisfies, or surprises."""
    means = _part(evidence, part).mean(axis=1)
    return {(name,): float(mean) for name, mean in zip(evidence.sources, means, strict=True)}


def cloze_total(evidence: Evidence) -> Figures:
    """The total of each participant in the main form."""
    return {(name,): float(total) for name, total in zip(evidence.sources, _totals(evidence, "C1"), strict=True)}


def cloze_spearman(evidence: Evidence, *, forms: Sequence[str]) -> Figures:
    """Spearman's rho of the totals under every two of these forms."""
    totals = {name: _totals(evidence, name) for name in forms}
    return {
        (one, other): figure_or_reason(spearman, totals[one], totals[other])
        for n, one in enumerate(forms)
        for other in forms[n + 1 :]
    }


def cloze_least_spearman(evidence: Evidence, *, forms: Sequence[str]) -> Figures:
    """The least of them."""
    rhos = cloze_spearman(evidence, forms=forms).values()
    return {(): min((rho for rho in rhos if isinstance(rho, float)), default=Incomputable("no_such_figure"))}


def cloze_best_rank(evidence: Evidence, *, forms: Sequence[str], family: str) -> Figures:
    """The best rank, by form, of the participants whose names begin so."""
    is_of_family = np.array([name.startswith(family) for name in evidence.sources], dtype=np.bool_)
    if not is_of_family.any():
        return {(form,): Incomputable("no_such_figure") for form in forms}
    return {(form,): float(cloze.ranks(_totals(evidence, form))[is_of_family].min()) for form in forms}


def _part(evidence: Evidence, part: str) -> FloatArray:
    """One part of the scores of all sections, shape (N, G)."""
    keys = [PUBLISHED_KEY.fullmatch(key) for key in evidence.item_keys]
    is_part = np.array([bool(match and match[2] == part) for match in keys], dtype=np.bool_)
    (values,) = evidence.judges.values()
    return np.asarray(values[is_part].T)


def _totals(evidence: Evidence, form: str) -> FloatArray:
    return cloze.totals(_part(evidence, "satisfies"), _part(evidence, "surprises"), FORM_BY_NAME[form])


PROCEDURES: dict[str, Callable[..., Figures]] = {
    "cloze_part_mean": cloze_part_mean,
    "cloze_total": cloze_total,
    "cloze_spearman": cloze_spearman,
    "cloze_least_spearman": cloze_least_spearman,
    "cloze_best_rank": cloze_best_rank,
}
