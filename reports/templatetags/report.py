"""What the templates of a report say with: numbers and drawings."""

from django import template

from reports import numbers
from reports.page.charts import draw_plot
from reports.page.line_breaks import kept_together
from reports.page.norm_bars import draw_norm
from reports.page.plot_words import describe_plot
from reports.page.trends import draw_days, list_figures

register = template.Library()

for number in (numbers.coefficient, numbers.decimal, numbers.whole):
    register.filter(number.__name__, number)
register.filter("draw_plot", draw_plot)
register.filter("describe_plot", describe_plot)
register.filter("kept_together", kept_together)
for draw in (draw_days, draw_norm, list_figures):
    register.filter(draw.__name__, draw)


@register.filter
def measure(number: numbers.Number, is_percent: bool) -> str:
    """A share in percent without decimals, a mean on a scale with two."""
    return numbers.decimal(number, 0 if is_percent else 2)
