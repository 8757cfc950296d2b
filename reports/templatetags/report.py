"""What the templates of a report say with: numbers and drawings."""

import re

from django import template

from reports import numbers
from reports.page.charts import draw_plot
from reports.page.norm_bars import draw_norm
from reports.page.trends import draw_days, list_figures

register = template.Library()

for number in (numbers.coefficient, numbers.decimal, numbers.whole):
    register.filter(number.__name__, number)
register.filter("draw_plot", draw_plot)
for draw in (draw_days, draw_norm, list_figures):
    register.filter(draw.__name__, draw)


@register.filter
def measure(number: numbers.Number, is_percent: bool) -> str:
    """A share in percent without decimals, a mean on a scale with two."""
    return numbers.decimal(number, 0 if is_percent else 2)


# Browsers end a line after a hyphen, also in GPT-3.5, before the sign of 27.8 %, and within −1.28 to 1.68.
NOT_WORDS = re.compile(r"(<(?:svg|select|textarea|pre)\b.*?</(?:svg|select|textarea|pre)>|<[^>]*>)", re.DOTALL)
NUMBERED_NAME = re.compile(r"\b\w{1,16}-\d[\d.]*\b")
SPACE_BEFORE_SIGN = re.compile(r"(?<=\d) (?=%)")
TWO_NUMBERS = re.compile(r"(?<=\d) (\w{1,2}) (?=−?\.?\d)")  # 4 to 20, 3 of 12, in any language
NO_BREAK = "\N{NO-BREAK SPACE}"


@register.filter
def kept_together(html: str) -> str:
    """The same page, on which no line ends within a name such as GPT-3.5, within an interval such as 4.0 to 20.0, or
    between a number and its percent sign."""
    parts = NOT_WORDS.split(html)  # words and what is none of them by turns
    for n in range(0, len(parts), 2):
        words = TWO_NUMBERS.sub(rf"{NO_BREAK}\1{NO_BREAK}", SPACE_BEFORE_SIGN.sub(NO_BREAK, parts[n]))
        parts[n] = NUMBERED_NAME.sub(r'<span class="kept-whole">\g<0></span>', words)
    return "".join(parts)
