"""What agreement says in sentences: beyond chance, or not to be told from it."""

from __future__ import annotations

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from reports.document.values import Interval, Mean
from reports.figures.base import Claim, Statement
from reports.numbers import coefficient, coefficients


def verdict_statement(mean: Mean, upper: float, ends: Interval, *, among_models: float | None) -> Statement:
    """Whether raters agree on Yes and No beyond chance.

    mean : kappa over the tests, which has a value; upper : what shuffled answers reach
    among_models : over the stories of models alone, where that is a different finding
    """
    value = mean.value or 0.0
    words = {"value": coefficient(value), "upper": coefficient(upper), "n": mean.n}
    is_beyond = value > max(upper, 0) and ends.low is not None and ends.low > max(upper, 0)
    if value <= max(upper, 0):
        sentence = _(
            "How far raters agree on the tests cannot be told from chance: mean kappa %(value)s, and shuffled "
            "answers have up to %(upper)s."
        )
    elif not is_beyond:
        sentence = _(
            "Raters agree on the tests more than shuffled answers do, with a mean kappa of %(value)s where these have "
            "up to %(upper)s; yet on other stories it could be no more than chance."
        )
    else:
        sentence = _(
            "Raters agree on the tests beyond chance: mean kappa %(value)s, where 1 is full agreement and shuffled "
            "answers have up to %(upper)s."
        )
    parts = [sentence % words]
    if ends.low is not None:
        parts.append(_("95 %% interval %(ends)s.") % {"ends": coefficients(ends)})
    if among_models is not None:
        parts.append(
            _(
                "Among the stories of models alone kappa is %(value)s: at least a part of the agreement is on which "
                "stories people wrote."
            )
            % {"value": coefficient(among_models)}
        )
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
        claim=Claim(kind="agreement") if is_beyond else None,
    )


def scale_statement(rows: list[tuple[float, float, float | None]]) -> Statement:
    """On how many scales raters agree beyond chance.

    rows : of each scale its alpha, what shuffled answers reach, and the lower end of its interval, None without one. A
        lower end above both 0 and what shuffled answers reach is beyond chance; a value above a floor below 0 is not.
    """
    beyond = [value for value, upper, low in rows if low is not None and low > max(upper, 0)]
    values = beyond or [value for value, _upper, _low in rows]
    words = {
        "n": len(beyond),
        "m": len(rows),
        "least": coefficient(min(values)),
        "most": coefficient(max(values)),
    }
    if len(rows) == 1 and beyond:
        sentence = _("Raters agree beyond chance on the scale: Krippendorff’s alpha is %(least)s.")
    elif len(rows) == 1:
        sentence = _("It is not shown that raters agree beyond chance on the scale: Krippendorff’s alpha is %(least)s.")
    elif len(beyond) == 1:
        sentence = _("Raters agree beyond chance on 1 of %(m)d scales: Krippendorff’s alpha is %(least)s there.")
    elif beyond:
        sentence = _(
            "Raters agree beyond chance on %(n)d of %(m)d scales: Krippendorff’s alpha from %(least)s to %(most)s "
            "there."
        )
    else:
        sentence = _(
            "It is not shown on any of %(m)d scales that raters agree beyond chance: Krippendorff’s alpha from "
            "%(least)s to %(most)s."
        )
    basis = _("Beside what shuffled answers reach; intervals scale by scale in the section")
    claim = Claim(kind="agreement") if beyond else None
    return Statement(sentence=sentence % words, basis=basis, position=40, claim=claim)
