"""What the templates of a report say of taking it away: the name by which a plot has its address."""

from collections.abc import Sequence
from typing import Any

from django import template

from reports.document.model import DocumentSection
from reports.figures import Figure
from reports.page.drawings import list_plots

register = template.Library()


@register.simple_tag
def plot_name(figure: Figure[Any], description: Sequence[DocumentSection], plot: Any) -> str:
    """The name of a plot of this section; "" for one that its description does not have."""
    return next((named.name for named in list_plots(figure, description) if named.plot is plot), "")
