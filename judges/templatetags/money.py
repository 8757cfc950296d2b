"""Costs as pages write them."""

from decimal import Decimal

from django import template
from django.template.defaultfilters import floatformat

register = template.Library()

SMALL = Decimal("0.1")  # dollars, below which two decimals would say little
LEAST = Decimal("0.0001")


@register.filter
def unbroken(sentence: str) -> str:
    """The sentence in which no line ends between a sign of dollars and its number."""
    return sentence.replace("$ ", "$\N{NO-BREAK SPACE}")


@register.filter
def dollars(amount: Decimal) -> str:
    """A number of dollars with cents; below ten of them with four decimals: little is never shown as nothing."""
    return str(floatformat(max(amount, LEAST), 4) if 0 < amount < SMALL else floatformat(amount, 2))
