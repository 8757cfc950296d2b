"""What the templates of a described figure ask: the template of a block, and a table as it stands on the page."""

from typing import Any

from django import template

from reports.document import model
from reports.document.page import PageTable

register = template.Library()


@register.filter
def block_template(block: model.Block) -> str:
    """The template of a kind of block: reports/document/table.html for a `Table`."""
    return f"reports/document/{type(block).__name__.lower()}.html"


@register.filter
def page_table(table: model.ReportTable[Any]) -> PageTable:
    return PageTable.of(table)
