"""Which source is ahead, in one sentence: what a report is headed with where nothing is counted over several tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from django.utils.text import get_text_list
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from reports.figures.sources.contrast_rows import ContrastRow, OutcomeContrasts, SourceLevel
from reports.figures.sources.contrast_words import RATED
from reports.numbers import decimal, percent


def headline(outcomes: Sequence[OutcomeContrasts]) -> str:
    """The source that is ahead on the primary outcome, else on a declared score, else on the first outcome; of several
    scales, on how many of them.

    outcomes : none is a part of another, the primary one first
    """
    if scales := counted_scales(outcomes):
        return _on_scales(scales) + _doubt(scales)
    first = leading(outcomes)
    return "; ".join([_on_one(first), *([_("after the planned exclusions")] if first.is_after_exclusions else [])])


def leading(outcomes: Sequence[OutcomeContrasts]) -> OutcomeContrasts:
    """The one that a report is headed with: the primary one, else a declared score, else the first."""
    scores = [outcome for outcome in outcomes if outcome.kind == "score"]
    return scores[0] if scores and not outcomes[0].is_primary else outcomes[0]


def counted_scales(outcomes: Sequence[OutcomeContrasts]) -> list[OutcomeContrasts]:
    """The scales over which a headline counts who is ahead; none where it is about one outcome."""
    first = leading(outcomes)
    scales = [outcome for outcome in outcomes if outcome.kind == "rating"]
    return scales if first.kind == "rating" and not first.is_primary and len(scales) > 1 else []


def _doubt(outcomes: Sequence[OutcomeContrasts]) -> str:
    """What a head adds: that the first and the next are not told apart, or that all stories together say otherwise."""
    pairs = [(outcome, row) for outcome in outcomes for row in outcome.contrasts if _are_first_two(outcome, row)]
    if len(outcomes) > 1:
        n_clear = sum(row.is_clear for _outcome, row in pairs)
        if not pairs:
            return ""
        if not n_clear:
            return _("; on none of them are the first two shown to differ")
        return _("; the first two are shown to differ on %(n)d of them") % {"n": n_clear}
    return "".join(_not_clear(row) + _reversed(outcome, row) for outcome, row in pairs)


def _are_first_two(outcome: OutcomeContrasts, row: ContrastRow) -> bool:
    return {row.first, row.second} == {level.source for level in outcome.ranked[:2]}


def _reversed(outcome: OutcomeContrasts, row: ContrastRow) -> str:
    if not outcome.is_reversed(row):
        return ""
    if outcome.is_adjusted:
        return _("; over all of their stories it is the other way round")
    return _("; yet the comparison of the two points the other way")


def _not_clear(row: ContrastRow) -> str:
    if row.is_clear or row.is_equivalent:
        return ""
    if row.value is None:
        return _("; whether the two differ could not be tested")
    if row.has_too_few_stories:
        return _("; stories are too few to show whether the two differ")
    if row.is_of_these_raters:
        return ngettext(
            "; for one rater alone the two are shown to differ",
            "; for these %(n)d raters alone the two are shown to differ",
            row.n_raters,
        ) % {"n": row.n_raters}
    if row.is_not_tested:
        return _("; whether the two differ was not tested")
    return _("; the two are not shown to differ")


def _on_scales(scales: Sequence[OutcomeContrasts]) -> str:
    n_ahead = Counter(source for scale in scales for source in _level(scale))
    most = max(n_ahead.values())
    ahead = [level.source for level in scales[0].sources if n_ahead[level.source] == most]
    words = {"names": get_text_list(ahead, _("and")), "n": most, "all": len(scales)}
    if len(ahead) > 1:
        return _("%(names)s each have the highest mean on %(n)d of %(all)d scales") % words
    if most == len(scales) == 2:
        return _("Stories by %(names)s are rated highest on both scales") % words
    if most == len(scales):
        return _("Stories by %(names)s are rated highest on all %(all)d scales") % words
    return _("Stories by %(names)s are rated highest on %(n)d of %(all)d scales") % words


def _on_one(outcome: OutcomeContrasts) -> str:
    ranked = outcome.ranked
    level = _level(outcome)
    words = {"outcome": outcome.title, "most": _value(outcome, ranked[0])}
    if len(level) > 1:
        words |= {"names": get_text_list(level, _("and"))}
        if outcome.kind == "verdicts":
            return _("%(names)s each pass %(most)s of the tests") % words
        return _("%(names)s are level on “%(outcome)s”: each %(most)s") % words
    words |= {"best": ranked[0].source, "second": ranked[1].source, "less": _value(outcome, ranked[1])}
    return _ahead(outcome) % words + _doubt([outcome])


def _ahead(outcome: OutcomeContrasts) -> str:
    if outcome.kind == "verdicts":
        return _("Stories by %(best)s pass %(most)s of the tests; next are those by %(second)s with %(less)s")
    if outcome.kind in RATED:
        return _(
            "Stories by %(best)s are rated highest on “%(outcome)s”, %(most)s on average; next are those by %(second)s "
            "with %(less)s"
        )
    if outcome.kind == "preference":
        return _("Stories by %(best)s are chosen most often, %(most)s; next are those by %(second)s with %(less)s")
    if outcome.kind == "rank":
        return _(
            "Stories by %(best)s are ranked best, with a mean rank of %(most)s; next are those by "
            "%(second)s with %(less)s"
        )
    return _("Stories by %(best)s pass “%(outcome)s” most often, %(most)s; next are those by %(second)s with %(less)s")


def _level(outcome: OutcomeContrasts) -> list[str]:
    """The source that is ahead, and all whose number is written the same."""
    best = _value(outcome, outcome.ranked[0])
    return [level.source for level in outcome.ranked if _value(outcome, level) == best]


def _value(outcome: OutcomeContrasts, level: SourceLevel) -> str:
    """As it is written."""
    value = outcome.value_of(level)
    return percent(value) if outcome.is_percent else decimal(value, outcome.places)
