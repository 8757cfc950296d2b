"""What contrasts say, in sentences that are made by rule: clear of 0, not told apart, as good as within a margin."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count, pairwise

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from reports import reasons
from reports.document.values import FEWEST_CLUSTERS, Reason
from reports.figures.base import Claim, Statement
from reports.figures.sources.contrast_rows import MODEL_TEST, SURE, ContrastRow, OutcomeContrasts
from reports.figures.sources.log_odds import doubt
from reports.lazy import contrasts
from reports.numbers import decimal, p_with_sign
from reports.numbers import interval as between

RATED = ("rating", "score", "scale_mean")  # kinds of which the mean is a number of points
MOST_NEIGHBOURS = 3  # of one outcome, if it is the only one


def unit_words(outcome: OutcomeContrasts) -> str:
    """In what its differences are counted."""
    if outcome.kind == "rank":
        return _("ranks")
    if outcome.kind == "score":
        return _("points of the score")
    return _("points") if outcome.is_percent else _("points of the scale")


def fixed_premises(rows: Iterable[ContrastRow]) -> str:
    """For what premises differences of the model hold; "" where no two sources met on several."""
    if not any(row.test == MODEL_TEST and row.n_blocks > 1 for row in rows):
        return ""
    return _("Writing prompts, or groups without one, are fixed in the model: differences hold for these alone.")


def contrast_statements(outcome: OutcomeContrasts, *, n_outcomes: int, is_first: bool = True) -> Iterator[Statement]:
    """The contrasts that were planned; of an outcome without, the best source and those next to each other below it.

    is_first : whether the report may be headed with the outcome
    """
    planned = [row for row in outcome.contrasts if row.is_planned]
    ranked = [level.source for level in outcome.ranked]
    if planned:
        rows = [row if ranked.index(row.first) < ranked.index(row.second) else row.turned() for row in planned]
    else:
        n = MOST_NEIGHBOURS if n_outcomes == 1 else 1
        rows = [outcome.between(first, second) for first, second in list(pairwise(ranked))[:n]]
    for number, row in enumerate(rows):
        if row.value is not None:
            is_best = not planned and number == 0 and not outcome.is_reversed(row)
            yield _statement(outcome, outcome.led(row), is_best=is_best)
        elif row.why is not None and (row.is_planned or (is_first and number == 0 and not _are_level(outcome, row))):
            yield _statement_without_interval(outcome, row, row.why)
    clear = [outcome.led(row) for row in outcome.contrasts if row.is_clear and not row.is_planned]
    if clear and len(ranked) > 2:
        yield _order_statement(outcome, clear)


def _statement(outcome: OutcomeContrasts, row: ContrastRow, *, is_best: bool) -> Statement:
    oriented = outcome.oriented(row)
    interval = oriented.interval if row.is_of_these_raters else oriented.ends
    ends = _("95 %% interval %(ends)s") % {"ends": between(interval, outcome.places)}
    remarks = [
        *(
            _excluded(outcome),
            _few(outcome, row),
            _overall(outcome, row),
            _remark(outcome, row, is_best=is_best),
            _looked_at(row),
        ),
        doubt(outcome, row),
    ]
    return Statement(
        sentence=" ".join(words for words in (_sentence(outcome, row), f"{ends}.", *remarks) if words),
        basis=_basis(outcome, row),
        is_planned=row.is_planned,
        value=oriented.value,
        interval=interval,
        unit=unit_words(outcome),
        position=_position(outcome),
        is_of_neighbours=not row.is_planned,
        claims=tuple(_claims(row)),
    )


def _position(outcome: OutcomeContrasts) -> int:
    return 10 if outcome.is_primary else 15 if outcome.is_secondary else 20


def _excluded(outcome: OutcomeContrasts) -> str:
    return _("After the planned exclusions.") if outcome.is_after_exclusions else ""


def _claims(row: ContrastRow) -> Iterator[Claim]:
    if row.is_clear:
        yield Claim(kind="difference", better=row.first, worse=row.second)
    elif row.is_equivalent:
        yield Claim(kind="equivalence", better=row.first, worse=row.second)
    elif row.is_of_these_raters:
        yield Claim(kind="difference of raters", better=row.first, worse=row.second)


def _order_statement(outcome: OutcomeContrasts, clear: list[ContrastRow]) -> Statement:
    """All sources in order, with the letters of those that cannot be told apart. clear : pairs, the better first"""
    placed = _("%(source)s %(value)s (%(letters)s)")
    sources = [
        placed
        % {
            "source": level.source,
            "value": decimal(outcome.value_of(level), outcome.places),
            "letters": level.letters,
        }
        for level in outcome.ranked
    ]
    words = {"on": on_outcome(outcome) or _(" over all tests"), "sources": ", ".join(sources)}
    sentence = _("In order%(on)s: %(sources)s. Sources that share a letter are not shown to differ.") % words
    return Statement(
        sentence=f"{sentence} {_looked_at(clear[0])}".rstrip(),
        basis=_of_all(outcome) or _stories(outcome, clear[0]),
        position=11 if outcome.is_primary else 21,
        claims=tuple(claim for row in clear for claim in _claims(row)),
    )


def _of_all(outcome: OutcomeContrasts) -> str:
    """The F test of all sources, where there is one."""
    test = outcome.of_all
    if test is None or test.f is None or test.p_adjusted is None:
        return ""
    words = {
        "n": test.numerator,
        "m": decimal(test.denominator, 1),
        "f": decimal(test.f, 2),
        "p": p_with_sign(test.p_adjusted),
    }
    return _("all sources together, F(%(n)s, %(m)s) = %(f)s, p %(p)s after correction") % words


def _looked_at(row: ContrastRow) -> str:
    """How many comparisons a clear difference was found among."""
    if not (row.is_clear or row.is_of_these_raters) or row.n_family * row.n_outcomes < 2:
        return ""
    pairs = ngettext("%(n)d pair", "%(n)d pairs", row.n_family) % {"n": row.n_family}
    if row.is_planned:
        return _("Corrected for %(pairs)s, as planned.") % {"pairs": pairs}
    outcomes = ngettext("%(n)d outcome", "%(n)d outcomes", row.n_outcomes) % {"n": row.n_outcomes}
    return _("Corrected for %(pairs)s on %(outcomes)s.") % {"pairs": pairs, "outcomes": outcomes}


def _few(outcome: OutcomeContrasts, row: ContrastRow) -> str:
    """How few stories a source has, where that is not what the sentence says anyhow."""
    if row.has_too_few_stories or row.fewest_stories >= FEWEST_CLUSTERS:
        return ""
    name = row.first if row.n_stories <= row.n_stories_second else row.second
    return _("Of %(source)s there are only %(n)d stories.") % {"source": name, "n": row.fewest_stories}


def _statement_without_interval(outcome: OutcomeContrasts, row: ContrastRow, why: Reason) -> Statement:
    """Of two sources that cannot be compared: a head that names who is ahead would else stand without a doubt."""
    values = {level.source: decimal(level.value, outcome.places) for level in outcome.sources}
    words = {
        "first": row.first,
        "second": row.second,
        "on": on_outcome(outcome),
        "values": _values(outcome) % {"more": values[row.first], "less": values[row.second]},
        "why": reasons.translate_reason(why),
    }
    sentence = _(
        "How sure it is that stories by %(first)s and by %(second)s differ%(on)s is not known: %(values)s. %(why)s"
    )
    return Statement(
        sentence=sentence % words,
        basis=_stories(outcome, row),
        is_planned=row.is_planned,
        position=_position(outcome),
    )


def _are_level(outcome: OutcomeContrasts, row: ContrastRow) -> bool:
    """Whether the two have the same number, so that no head names one of them as ahead."""
    values = {level.value for level in outcome.sources if level.source in (row.first, row.second)}
    return len(values) == 1


def _sentence(outcome: OutcomeContrasts, row: ContrastRow) -> str:
    places = outcome.places
    value = outcome.oriented(row).value or 0.0
    words: dict[str, str | int] = {
        "first": row.first,
        "second": row.second,
        "points": decimal(value, places),
        "more": decimal(row.first_value, places),
        "less": decimal(row.second_value, places),
        "outcome": outcome.title,
        "on": on_outcome(outcome),
    }
    if row.is_clear:
        return _clear(outcome) % words
    if row.is_equivalent:
        words["margin"] = decimal(outcome.margin, places)
        sentence = _(
            "Stories by %(first)s and by %(second)s are equally good within the planned margin of %(margin)s%(on)s."
        )
        return sentence % words
    words |= {"values": _values(outcome) % words, "difference": decimal(value, places), "unit": unit_words(outcome)}
    if row.has_too_few_stories:
        words |= {"few": row.first if row.n_stories <= row.n_stories_second else row.second}
        sentence = ngettext(
            "There is only %(n_stories)d story by %(few)s, too few to show whether %(first)s and "
            "%(second)s differ%(on)s: %(values)s, a difference of %(difference)s %(unit)s.",
            "There are only %(n_stories)d stories by %(few)s, too few to show whether %(first)s and %(second)s "
            "differ%(on)s: %(values)s, a difference of %(difference)s %(unit)s.",
            row.fewest_stories,
        )
    elif row.is_of_these_raters:
        words["n"] = row.n_raters
        sentence = ngettext(
            "The one rater puts stories by %(first)s %(difference)s %(unit)s above those by %(second)s%(on)s: "
            "%(values)s.",
            "These %(n)d raters put stories by %(first)s %(difference)s %(unit)s above those by %(second)s%(on)s: "
            "%(values)s.",
            row.n_raters,
        )
    elif row.is_not_tested:
        sentence = _(
            "Whether stories by %(first)s and by %(second)s differ%(on)s was not tested: %(values)s, a difference of "
            "%(difference)s %(unit)s."
        )
    elif row.leaves_out_zero:
        sentence = _(
            "Stories by %(first)s and by %(second)s are not shown to differ%(on)s once all comparisons "
            "are counted: %(values)s, a difference of %(difference)s %(unit)s."
        )
    else:
        sentence = _(
            "Stories by %(first)s and by %(second)s are not shown to differ%(on)s: %(values)s, a "
            "difference of %(difference)s %(unit)s."
        )
    return sentence % (words | {"n_stories": row.fewest_stories})


def _remark(outcome: OutcomeContrasts, row: ContrastRow, *, is_best: bool) -> str:
    """What is said after the interval, which is that of the difference and of nothing else."""
    if row.is_clear and is_best and len(outcome.sources) > 2:
        words = {"second": row.second, "n": len(outcome.sources) - 1}
        return _("%(second)s comes nearest of the %(n)d others.") % words
    if row.is_of_these_raters:
        return _("Whether other raters would is not shown.")
    is_undecided = not (row.is_clear or row.is_equivalent)
    if is_undecided and row.leaves_out_zero and row.has_too_few_stories:
        return _("With so few, an interval without 0 is no proof of a difference.")
    if is_undecided and row.is_not_tested and not row.has_too_few_stories:
        return _out_of_reach(row)
    return ""


def _out_of_reach(row: ContrastRow) -> str:
    """Why a contrast was not tested, and what a test would take."""
    n_looked_at = row.n_family * row.n_outcomes
    words = {"n": row.n, "m": n_looked_at}
    if not row.is_paired:
        return _("With so few stories and %(m)d comparisons no difference could be shown, however large.") % words
    enough = next(n for n in count(row.n) if n_looked_at * contrasts.least_p(row.test, [n]) < SURE)
    needed = _("It would take %(n)d groups.") % {"n": enough}
    if n_looked_at == 1:
        return _("With %(n)d groups no difference could be shown, however large.") % words + " " + needed
    sentence = _("With %(n)d groups and %(m)d comparisons no difference could be shown, however large.") % words
    return f"{sentence} {needed}"


def _overall(outcome: OutcomeContrasts, row: ContrastRow) -> str:
    """What the two have over all of their stories, where that is not what the comparison rests on."""
    places = outcome.places
    value_by_source = {level.source: level.value for level in outcome.sources}
    overall = [decimal(value_by_source[source], places) for source in (row.first, row.second)]
    if overall == [decimal(row.first_value, places), decimal(row.second_value, places)]:
        return ""
    is_reversed = outcome.is_reversed(row)
    more, less = reversed(overall) if is_reversed else overall
    values = _values(outcome) % {"more": more, "less": less}
    if is_reversed:
        words = {"first": row.first, "second": row.second, "values": values}
        return _("Over all of their stories %(second)s is ahead of %(first)s: %(values)s.") % words
    return _("Over all of their stories: %(values)s.") % {"values": values}


def _values(outcome: OutcomeContrasts) -> str:
    """The two sources' own values, in what they are counted."""
    if outcome.kind == "rank":
        return _("mean rank %(more)s against %(less)s")
    return _("%(more)s against %(less)s %%") if outcome.is_percent else _("%(more)s against %(less)s")


def on_outcome(outcome: OutcomeContrasts) -> str:
    """On what, where a sentence needs it: one item of several, or the ranking."""
    if outcome.kind == "verdicts":
        return ""
    if outcome.kind == "scale_mean":
        return _(" on the mean of the scales of “%(outcome)s”") % {"outcome": outcome.title}
    return _(" on “%(outcome)s”") % {"outcome": outcome.title}


def _clear(outcome: OutcomeContrasts) -> str:
    """The sentence for two that are told apart, the better first."""
    if outcome.kind == "verdicts":
        return _(
            "Stories by %(first)s pass the tests %(points)s points more often than those by %(second)s: %(more)s "
            "against %(less)s %%."
        )
    if outcome.kind in RATED:
        return _(
            "Stories by %(first)s are rated %(points)s points higher on “%(outcome)s” than those by %(second)s: "
            "%(more)s against %(less)s."
        )
    if outcome.kind == "preference":
        return _(
            "Stories by %(first)s are chosen %(points)s points more often than those by %(second)s: %(more)s against "
            "%(less)s %%."
        )
    if outcome.kind == "rank":
        return _(
            "Stories by %(first)s are %(points)s ranks above those by %(second)s: mean rank %(more)s against %(less)s."
        )
    return _(
        "Stories by %(first)s pass “%(outcome)s” %(points)s points more often than those by %(second)s: %(more)s "
        "against %(less)s %%."
    )


def _basis(outcome: OutcomeContrasts, row: ContrastRow) -> str:
    """What it rests on: stories, blocks and raters; for whom the interval is, and how it is for the same raters."""
    oriented = outcome.oriented(row)
    parts = [f"{_stories(outcome, row)}, {_blocks(row)}"]
    if row.is_of_these_raters or oriented.wide is None or oriented.wide.low is None:
        parts.append(_("the interval is for other stories read by the same raters"))
    else:
        parts.append(_("the interval is for other stories and other raters"))
    if oriented.wide is not None and oriented.wide.low is not None:
        other = oriented.wide if row.is_of_these_raters else oriented.interval
        words = {"ends": between(other, outcome.places)}
        if row.is_of_these_raters:
            parts.append(_("generalising to other raters, it is %(ends)s") % words)
        else:
            parts.append(_("for the same raters it is %(ends)s") % words)
    return "; ".join(parts)


def _blocks(row: ContrastRow) -> str:
    """In how many clusters, or by how many raters by the model."""
    if row.n:
        groups = ngettext("in %(n)d group", "in %(n)d groups", row.n) % {"n": row.n}
        return groups if row.is_paired else _("unpaired")
    return ngettext("%(n)d rater", "%(n)d raters", row.n_raters) % {"n": row.n_raters}


def _stories(outcome: OutcomeContrasts, row: ContrastRow) -> str:
    """How many stories of each of the two."""
    n_by_source = {level.source: level.n_stories for level in outcome.sources}
    n, m = row.n_stories or n_by_source[row.first], row.n_stories_second or n_by_source[row.second]
    if n == m:
        return ngettext("%(n)d story each", "%(n)d stories each", n) % {"n": n}
    return _("%(n)d and %(m)d stories") % {"n": n, "m": m}
