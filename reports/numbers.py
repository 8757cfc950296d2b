"""Numbers as a reader meets them; what has none is a dash."""

from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeAlias

from django import template
from django.utils.formats import get_format
from django.utils.translation import gettext as _

register = template.Library()
NONE = "–"
# A template gives the empty text for what is not there at all.
Number: TypeAlias = float | Literal[""] | None
Ends: TypeAlias = Mapping[str, Any] | Literal[""] | None


@register.filter
def coefficient(number: Number) -> str:
    """Two decimals: in English without the nought before the point (.41, −.02, 1.00), elsewhere with it (0,41)."""
    if number is None or number == "":
        return NONE
    said = _said(number, 2)
    return said.replace("0.", ".", 1) if abs(round(number, 2)) < 1 else said


@register.filter
def decimal(number: Number, places: int = 1) -> str:
    """So many decimals, with a true minus: 83.3."""
    return NONE if number is None or number == "" else _said(number, places)


@register.filter
def whole(number: Number) -> str:
    """A whole number with its thousands: 2,016."""
    return decimal(number, 0)


@register.filter
def interval(ends: Ends, places: int = 1) -> str:
    """Both ends with so many decimals: 12.0 to 31.5."""
    return _between(ends, lambda end: decimal(end, places))


@register.filter
def coefficients(ends: Ends) -> str:
    """Both ends of the interval of a coefficient: .12 to .31."""
    return _between(ends, coefficient)


def _between(ends: Ends, say: Callable[[Number], str]) -> str:
    if not ends or ends["low"] is None:
        return NONE
    return _("%(low)s to %(high)s") % {"low": say(ends["low"]), "high": say(ends["high"])}


def _said(number: float, places: int) -> str:
    """The number with the signs of the language that is spoken, a true minus among them."""
    # Rounded first, so that nothing is printed as minus nought.
    digits = f"{round(number, places) + 0.0:,.{places}f}"
    point, thousands = get_format("DECIMAL_SEPARATOR"), get_format("THOUSAND_SEPARATOR")
    return digits.translate(str.maketrans({".": point, ",": thousands, "-": "−"}))
