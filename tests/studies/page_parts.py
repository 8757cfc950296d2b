"""Parts of a page, by what htmx takes of it."""

from html.parser import HTMLParser

VOID = ("input", "br", "hr", "img", "link", "meta", "path", "circle", "line")


class _Part(HTMLParser):
    """The element of that id, with all that stands in it."""

    def __init__(self, id: str) -> None:
        super().__init__()
        self.id, self.depth, self.words, self.tags = id, 0, list[str](), list[str]()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self.depth or ("id", self.id) in attrs:
            self.tags.append(tag)
            self.depth += tag not in VOID

    def handle_endtag(self, tag: str) -> None:
        self.depth -= bool(self.depth) and tag not in VOID

    def handle_data(self, data: str) -> None:
        if self.depth:
            self.words.append(data)


def _parse(page: str, id: str) -> _Part:
    part = _Part(id)
    part.feed(page)
    assert part.tags, f"the page has no #{id}"
    return part


def part_of(page: str, id: str) -> str:
    """What stands in the element of that id."""
    return " ".join("".join(_parse(page, id).words).split())


def tags_in(page: str, id: str) -> set[str]:
    """The names of the elements in it, and of itself."""
    return set(_parse(page, id).tags)
