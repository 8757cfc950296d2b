"""What a browser would post: the successful controls of a piece of HTML."""

from html.parser import HTMLParser

from django.http import QueryDict


class _Controls(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.posted: list[tuple[str, str]] = []
        self.select: tuple[str, str | None, str] | None = None  # name, selected value, value of the first option
        self.textarea: tuple[str, str] | None = None
        self.inert = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag in ("noscript", "template"):
            self.inert += 1
        elif tag == "input" and not self.inert:
            if given.get("type") not in ("radio", "checkbox") or "checked" in given:
                self.posted.append((given["name"] or "", given.get("value") or ""))
        elif tag == "textarea":
            self.textarea = (given["name"] or "", "")
        elif tag == "select":
            self.select = (given["name"] or "", None, "")
        elif tag == "option" and self.select and "selected" in given:
            self.select = (self.select[0], given["value"], "")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("noscript", "template"):
            self.inert -= 1
        elif tag == "select" and self.select:
            self.posted.append((self.select[0], self.select[1] or self.select[2]))
            self.select = None
        elif tag == "textarea" and self.textarea:
            name, text = self.textarea
            # HTML drops one line break after the opening tag, and posts line breaks as CRLF.
            self.posted.append((name, text.removeprefix("\n").replace("\r\n", "\n").replace("\n", "\r\n")))
            self.textarea = None

    def handle_data(self, data: str) -> None:
        if self.textarea:
            self.textarea = (self.textarea[0], self.textarea[1] + data)


def posted(html: str) -> QueryDict:
    """What the browser sends when the form with these controls is submitted as it stands."""
    parser = _Controls()
    parser.feed(html)
    data = QueryDict(mutable=True)
    for name, value in parser.posted:
        data.appendlist(name, value)
    return data
