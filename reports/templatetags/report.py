"""What the templates of a report say with: numbers, reasons, and drawings."""

from collections.abc import Sequence

from django import template

from reports import numbers, reasons
from reports.figures.base import Reason
from reports.figures.plots import DotPlot, StripPlot
from reports.page import charts
from reports.page.charts import Cells, HasCoefficient, Plot

register = template.Library()

FILTERS = (
    numbers.coefficient,
    numbers.decimal,
    numbers.whole,
    numbers.measured,
    numbers.interval,
    numbers.coefficients,
)
for number in FILTERS:
    register.filter(number.__name__, number)


@register.filter
def reason(why: Reason) -> str:
    """Why there is no figure, in the reader's language."""
    return reasons.translate_reason(why)


@register.filter
def reason_language(why: Reason) -> str:
    """The language in which it is said."""
    return reasons.language(why)


@register.filter
def draw_plot(plot: DotPlot | StripPlot) -> Plot:
    return charts.draw_plot(plot)


@register.filter
def coefficient_cells(rows: Sequence[HasCoefficient]) -> Cells:
    return charts.draw_cells(rows)
