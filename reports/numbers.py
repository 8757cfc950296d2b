"""Numbers as a reader meets them; what has none is a dash."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, Protocol, TypeAlias

from django.utils.formats import get_format
from django.utils.translation import gettext as _

NONE = "–"
# A template gives the empty text for what is not there at all.
Number: TypeAlias = float | Literal[""] | None


class Ends(Protocol):
    """An interval, or None and None."""

    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...


def coefficient(number: Number) -> str:
    """Two decimals: in English without the nought before the point (.41, −.02, 1.00), elsewhere with it (0,41)."""
    if number is None or number == "":
        return NONE
    text = _localised(number, 2)
    return text.replace("0.", ".", 1) if abs(round(number, 2)) < 1 else text


def decimal(number: Number, places: int = 1) -> str:
    """So many decimals, with a true minus: 83.3."""
    return NONE if number is None or number == "" else _localised(number, places)


def measured(number: Number, places: int = 1) -> str:
    """So many decimals, and none where there is nothing after the point: 525, 525.5."""
    return decimal(number, 0 if number not in (None, "") and float(number) == round(float(number)) else places)


def whole(number: Number) -> str:
    """A whole number with its thousands: 2,016."""
    return decimal(number, 0)


def percent(number: Number) -> str:
    """A whole percentage, with a space before its sign that no line breaks at."""
    return (_("%(percent)s %%") % {"percent": decimal(number, 0)}).replace(" ", "\u00a0")


def interval(ends: Ends | Literal[""] | None, places: int = 1) -> str:
    """Both ends with so many decimals: 12.0 to 31.5."""
    return _between(ends, lambda end: decimal(end, places))


def with_interval(number: Number, ends: Ends | None, places: int = 1) -> str:
    """The number and, where there is one, its interval beside it: 12.0 (4.5 to 19.5)."""
    words = decimal(number, places)
    return words if ends is None or ends.low is None else f"{words} ({interval(ends, places)})"


def coefficients(ends: Ends | Literal[""] | None) -> str:
    """Both ends of the interval of a coefficient: .12 to .31."""
    return _between(ends, coefficient)


def p_value(number: Number) -> str:
    """Three decimals without the nought (.012), below .001 as such."""
    if number is None or number == "":
        return NONE
    if number < 0.001:
        return "< " + _localised(0.001, 3).replace("0.", ".", 1)
    return _localised(number, 3).replace("0.", ".", 1)


def p_with_sign(number: float) -> str:
    """As `p_value`, with the sign before it: “= .012”, “< .001”."""
    written = p_value(number)
    return written if number < 0.001 else f"= {written}"


def _between(ends: Ends | Literal[""] | None, write: Callable[[Number], str]) -> str:
    if not ends or ends.low is None:
        return NONE
    return _("%(low)s to %(high)s") % {"low": write(ends.low), "high": write(ends.high)}


def _localised(number: float, places: int) -> str:
    """The number with the signs of the reader's language, a true minus among them."""
    # Rounded first, so that nothing is printed as minus nought.
    digits = f"{round(number, places) + 0.0:,.{places}f}"
    point, thousands = get_format("DECIMAL_SEPARATOR"), get_format("THOUSAND_SEPARATOR")
    return digits.translate(str.maketrans({".": point, ",": thousands, "-": "−"}))
