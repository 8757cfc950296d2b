"""The report as lines of text: what the page says."""

from collections.abc import Iterator

from reports.page.context import headline, highlights, notices
from reports.results import Results


def lines(results: Results) -> Iterator[str]:
    yield headline(results)
    for notice in notices(results):
        yield f"  {notice}"
    yield "  " + ", ".join(f"{number} {words}" for words, number in highlights(results))
    for figure, result in results.visible:
        yield from figure.lines(result, results.head)
