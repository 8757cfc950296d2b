"""What the templates of a report say of taking it away: the name by which a plot has its address."""

from typing import Any

from django import template

from reports.figures import Figure
from reports.page.drawings import list_plots

register = template.Library()


@register.simple_tag
def plot_name(figure: Figure[Any], extra: dict[str, Any], plot: Any) -> str:
    """The name of a plot of this section; "" for one that the section's context did not give."""
    return next((named.name for named in list_plots(figure, extra) if named.plot is plot), "")
