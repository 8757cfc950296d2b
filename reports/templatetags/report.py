"""What the templates of a report say with: numbers and drawings."""

from django import template

from reports import numbers
from reports.page.charts import draw_plot
from reports.page.line_breaks import kept_together

register = template.Library()

for number in (numbers.coefficient, numbers.decimal, numbers.whole):
    register.filter(number.__name__, number)
register.filter("draw_plot", draw_plot)
register.filter("kept_together", kept_together)
