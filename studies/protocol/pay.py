"""What is paid, as a sentence says it: whether one sentence promises less than another."""

import re
from decimal import Decimal
from enum import StrEnum

AMOUNT = re.compile(r"\d+(?:[.,\u2019 \u00a0\u202f]\d{3})*(?:[.,]\d{1,2})?(?!\d)")


class PayComparison(StrEnum):
    """UNCLEAR : the sentences differ in more than their amounts, so that only a person can tell"""

    SAME = "same"
    HIGHER = "higher"
    LOWER = "lower"
    UNCLEAR = "unclear"


def compare_pay(before: str, after: str) -> PayComparison:
    """How what is promised now stands to what was promised before.

    >>> str(compare_pay("€ 45 for each group", "€ 50 for each group"))
    'higher'
    """
    if before.split() == after.split():
        return PayComparison.SAME
    if not before.strip():
        return PayComparison.HIGHER
    if not after.strip():
        return PayComparison.LOWER
    if AMOUNT.sub("#", before).split() != AMOUNT.sub("#", after).split() or not AMOUNT.search(before):
        return PayComparison.UNCLEAR
    pairs = zip(_amounts(before), _amounts(after), strict=True)
    differences = [new - old for old, new in pairs]
    if min(differences) < 0:
        return PayComparison.LOWER
    return PayComparison.HIGHER if max(differences) > 0 else PayComparison.SAME


def _amounts(text: str) -> list[Decimal]:
    return [_amount(match.group()) for match in AMOUNT.finditer(text)]


def _amount(digits: str) -> Decimal:
    """The number; a comma or point before one or two last digits is that of decimals, any other parts thousands."""
    decimals = re.search(r"[.,](\d{1,2})$", digits)
    whole = digits[: decimals.start()] if decimals else digits
    return Decimal(re.sub(r"\D", "", whole) + (f".{decimals.group(1)}" if decimals else ""))
