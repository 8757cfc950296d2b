"""The columns of a table of rates by source, in percent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from django.utils.translation import gettext as _

from reports.document import columns
from reports.document.columns import LEAD, QUIET, decimals, ends
from reports.document.model import TableColumn
from reports.document.phrases import phrase
from reports.document.values import Interval, Reason


class SourceRate(Protocol):
    """Yes in 100 of n verdicts. source : "" for all together"""

    @property
    def source(self) -> str: ...
    @property
    def value(self) -> float | None: ...
    @property
    def why(self) -> Reason | None: ...
    @property
    def interval(self) -> Interval: ...
    @property
    def n(self) -> int: ...


def rate_columns() -> Sequence[TableColumn[SourceRate]]:
    return [
        columns.source(),
        columns.number(
            *("pass_rate_percent", phrase("%(yes)s, %%", yes=_("Yes"))),
            of=lambda rate: rate.value,
            write=decimals(1),
            why=lambda rate: rate.why,
            css=LEAD,
        ),
        columns.interval(lambda rate: rate.interval, write=ends(0), css=QUIET),
        columns.number("n", "n", css=QUIET),
    ]
