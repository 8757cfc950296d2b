"""The report as lines of text: what the page says."""

from collections.abc import Iterator

from reports.document.text import write_lines
from reports.page.context import headline, notices
from reports.results import Results


def lines(results: Results) -> Iterator[str]:
    yield headline(results)
    for notice in notices(results):
        yield f"  {notice}"
    for figure, result in results.visible:
        if figure.is_described:
            yield from write_lines(figure.describe(result, results.head))
        else:
            yield from figure.lines(result)
