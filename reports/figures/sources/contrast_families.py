"""What contrasts are corrected for: planned ones together, all others by outcome and within outcomes that pass."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from reports.figures.sources.contrast_rows import SURE, ContrastRow, OutcomeContrasts, TestOfAll
from reports.lazy import contrasts, source_contrasts


def correct(outcomes: Sequence[OutcomeContrasts]) -> Iterator[OutcomeContrasts]:
    """The outcomes with p values for all that was compared.

    Holm over the planned contrasts of the primary outcome, and over those of all secondary ones. All others: of whole
    outcomes together, and of parts, which are looked at after the whole, together; see
    `stats.source_contrasts.adjust_within`.
    """
    families: dict[tuple[str, bool], list[int]] = defaultdict(list)
    for n, outcome in enumerate(outcomes):
        families[outcome.correction, outcome.is_part and not outcome.is_named].append(n)
    corrected = list(outcomes)
    for (correction, _is_part), places in families.items():
        for n, outcome in zip(places, _looked_at([outcomes[n] for n in places], correction), strict=True):
            corrected[n] = outcome
    planned = {is_primary: iter(_planned(outcomes, is_primary=is_primary)) for is_primary in (True, False)}
    for outcome in corrected:
        family = planned[outcome.is_primary]
        yield replace(outcome, contrasts=tuple(next(family) if row.is_planned else row for row in outcome.contrasts))


def _planned(outcomes: Sequence[OutcomeContrasts], *, is_primary: bool) -> list[ContrastRow]:
    """The planned contrasts of the primary outcome, or of all others, corrected."""
    of_family = [outcome for outcome in outcomes if outcome.is_primary == is_primary]
    return adjust_family([row for outcome in of_family for row in outcome.contrasts if row.is_planned], "holm")


def _looked_at(outcomes: Sequence[OutcomeContrasts], correction: str) -> Iterator[OutcomeContrasts]:
    """Outcomes of one family, with what was not planned corrected."""
    families = [[row for row in outcome.contrasts if not row.is_planned] for outcome in outcomes]
    tests = [_test_of_all(outcome, rows) for outcome, rows in zip(outcomes, families, strict=True)]
    ps, ps_of_all = source_contrasts.adjust_within(
        [[row.p for row in rows] for rows in families], [test.p if test else None for test in tests], correction
    )
    of_same_raters = _by_pairs([[row.p_same_raters for row in rows] for rows in families], correction)
    least = _by_pairs([[least_p(row) for row in rows] for rows in families], correction)
    n_outcomes = sum(any(row.p_same_raters is not None for row in rows) for rows in families)
    adjusted_ps = zip(ps, of_same_raters, least, strict=True)
    for outcome, test, rows, adjusted, p in zip(outcomes, tests, families, adjusted_ps, ps_of_all, strict=True):
        n_family = sum(row.p_same_raters is not None for row in rows)
        rows_with_p = iter(
            replace(
                row,
                p_adjusted=p_wide,
                p_same_raters_adjusted=p_same,
                p_least=p_least,
                n_family=0 if p_same is None else n_family,
                n_outcomes=n_outcomes,
            )
            for row, p_wide, p_same, p_least in zip(rows, *adjusted, strict=True)
        )
        yield replace(
            outcome,
            of_all=replace(test, p_adjusted=p) if test else None,
            contrasts=tuple(row if row.is_planned else next(rows_with_p) for row in outcome.contrasts),
        )


def _test_of_all(outcome: OutcomeContrasts, rows: Sequence[ContrastRow]) -> TestOfAll | None:
    """The F test of the outcome, else its pairs' least p after Holm's correction; None if all were planned."""
    if not rows or outcome.of_all:
        return outcome.of_all if rows else None
    p = source_contrasts.p_of_all([row.p for row in rows])
    return None if p is None else TestOfAll(p=p)


def _by_pairs(ps_of_outcomes: list[list[float | None]], correction: str) -> list[list[float | None]]:
    """Adjusted p values of pairs where outcomes have no test of all sources but that of their pairs."""
    of_all = [source_contrasts.p_of_all(ps) for ps in ps_of_outcomes]
    return source_contrasts.adjust_within(ps_of_outcomes, of_all, correction)[0]


def adjust_family(rows: Sequence[ContrastRow], correction: str) -> list[ContrastRow]:
    """The contrasts with p values for all that the family looked at; one without a p does not count."""
    adjusted = zip(
        rows,
        contrasts.adjust([row.p for row in rows], correction),
        contrasts.adjust([row.p_same_raters for row in rows], correction),
        contrasts.adjust([row.p_within for row in rows], correction),
        # Adjusted values grow with every p of the family, so with the least of all of them comes the least of each.
        contrasts.adjust([least_p(row) for row in rows], correction),
        strict=True,
    )
    n_family = sum(row.p_same_raters is not None for row in rows)
    return [
        replace(
            row,
            p_adjusted=p,
            p_same_raters_adjusted=of_same_raters,
            p_within_adjusted=within,
            p_least=least,
            n_family=0 if of_same_raters is None else n_family,
            is_equivalent=None if within is None else within < SURE and not row.has_too_few_stories,
        )
        for row, p, of_same_raters, within, least in adjusted
    ]


def least_p(row: ContrastRow) -> float | None:
    """The least p for these raters that the test of the contrast can reach; None without a test."""
    if row.p_same_raters is None:
        return None
    return contrasts.least_p(row.test, [row.n] if row.n_second is None else [row.n, row.n_second])


def with_letters(outcome: OutcomeContrasts) -> OutcomeContrasts:
    """The outcome whose sources have the letters of the sets that cannot be told apart."""
    are_apart = {frozenset((row.first, row.second)): row.is_clear for row in outcome.contrasts}
    letters = source_contrasts.letters([level.source for level in outcome.ranked], are_apart)
    has_p = any(row.p_adjusted is not None for row in outcome.contrasts)
    levels = [replace(level, letters=letters[level.source] if has_p else "") for level in outcome.sources]
    return replace(outcome, sources=tuple(levels))
