"""What agreement says in sentences: beyond chance, or not to be told from it."""

from __future__ import annotations

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from reports.document.values import Interval, Mean
from reports.figures.base import Claim, Statement
from reports.numbers import coefficient, coefficients


def verdict_statement(
    mean: Mean,
    upper: float,
    ends: Interval,
    coverage: str,
    *,
    among_models: float | None = None,
    rests_on_sources: bool = False,
) -> Statement:
    """Whether raters agree on Yes and No beyond chance.

    mean : kappa over the tests, which has a value; upper : what shuffled answers reach
    coverage : what it rests on, in words
    among_models : over the stories of models alone; rests_on_sources : whether it is shown to be less
    """
    value = mean.value or 0.0
    words = {"value": coefficient(value), "upper": coefficient(upper), "n": mean.n, "coverage": coverage}
    is_beyond = _is_beyond(value, ends, upper)
    if value <= max(upper, 0):
        sentence = _(
            "Agreement of raters on the tests is not shown to exceed chance: mean kappa %(value)s "
            "%(coverage)s, and shuffled answers have up to %(upper)s."
        )
    elif not is_beyond:
        sentence = _(
            "Raters agree on the tests more than shuffled answers do, with a mean kappa of %(value)s %(coverage)s, "
            "where these have up to %(upper)s; yet on other stories it could be no more than chance."
        )
    else:
        sentence = _(
            "Raters agree on the tests beyond chance: mean kappa %(value)s %(coverage)s, where 1 is full agreement and "
            "shuffled answers have up to %(upper)s."
        )
    parts = [sentence % words]
    if ends.low is not None:
        parts.append(_("95 %% interval %(ends)s.") % {"ends": coefficients(ends)})
    if among_models is not None:
        of_models = (
            _(
                "Among the stories of models alone kappa is %(value)s: at least a part of the agreement is on which "
                "stories people wrote."
            )
            if rests_on_sources
            else _("Among the stories of models alone kappa is %(value)s.")
        )
        parts.append(of_models % {"value": coefficient(among_models)})
    basis = ngettext("Of %(n)d test", "The mean of %(n)d tests", mean.n or 0) % words
    if ends.low is not None:
        basis += "; " + _("the interval is for other groups of stories read by the same raters")
    return Statement(
        sentence=" ".join(parts),
        basis=basis,
        value=value,
        interval=ends,
        unit=_("kappa"),
        is_coefficient=True,
        position=40,
        claims=(Claim(kind="agreement"),) if is_beyond else (),
    )


def scale_statement(rows: list[tuple[float, bool]], coverage: str) -> Statement:
    """On how many scales raters agree beyond chance.

    rows : of each scale its alpha, and whether it is beyond chance, corrected over all of them
    coverage : what they rest on, in words
    """
    beyond = [value for value, is_beyond in rows if is_beyond]
    values = beyond or [value for value, _is_beyond in rows]
    words = {
        "n": len(beyond),
        "m": len(rows),
        "least": coefficient(min(values)),
        "most": coefficient(max(values)),
        "coverage": coverage,
    }
    if len(rows) == 1 and beyond:
        sentence = _("Raters agree beyond chance on the scale: Krippendorff’s alpha is %(least)s %(coverage)s.")
    elif len(rows) == 1:
        sentence = _(
            "It is not shown that raters agree beyond chance on the scale: Krippendorff’s alpha is %(least)s "
            "%(coverage)s."
        )
    elif len(beyond) == 1:
        sentence = _(
            "Raters agree beyond chance on 1 of %(m)d scales: Krippendorff’s alpha is %(least)s there, %(coverage)s."
        )
    elif beyond:
        sentence = _(
            "Raters agree beyond chance on %(n)d of %(m)d scales: Krippendorff’s alpha from %(least)s to %(most)s "
            "there, %(coverage)s."
        )
    else:
        sentence = _(
            "It is not shown on any of %(m)d scales that raters agree beyond chance: Krippendorff’s alpha from "
            "%(least)s to %(most)s %(coverage)s."
        )
    basis = _("Beside what shuffled answers reach; intervals scale by scale in the section")
    if len(rows) > 1:
        basis += "; " + _("corrected by Holm over %(m)d scales") % words
    claims = (Claim(kind="agreement"),) if beyond else ()
    return Statement(sentence=sentence % words, basis=basis, position=40, claims=claims)


def verdict_words(value: float, upper: float, ends: Interval) -> str:
    """The same as `verdict_statement`, as short as it can be said."""
    if _is_beyond(value, ends, upper):
        return _("Raters agree on the tests beyond chance.")
    if value > max(upper, 0):
        return _("Beyond chance on these stories; not shown for other stories.")
    return _("It is not shown that raters agree on the tests beyond chance.")


def scale_words(n_beyond: int, n: int) -> str:
    """The same as `scale_statement`, as short as it can be said."""
    if n == 1:
        return (
            _("Raters agree beyond chance on the scale.")
            if n_beyond
            else _("It is not shown that raters agree beyond chance on the scale.")
        )
    if not n_beyond:
        return _("It is not shown on any of %(m)d scales that raters agree beyond chance.") % {"m": n}
    return _("Raters agree beyond chance on %(n)d of %(m)d scales.") % {"n": n_beyond, "m": n}


def _is_beyond(value: float, ends: Interval, upper: float) -> bool:
    return value > max(upper, 0) and ends.low is not None and ends.low > max(upper, 0)
