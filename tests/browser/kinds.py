"""What pages are made of: of many states of pages those that show something which no other does."""

from collections.abc import Mapping
from html.parser import HTMLParser

from django.test import Client

NEVER_CLOSED = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
TELLING = ("type", "role", "data-kind", "data-state")  # attributes by which styles and scripts tell elements apart


class Kinds(HTMLParser):
    """Every kind of element of a page, by its tag, classes and role, with the kind that it stands in."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.pairs: set[tuple[str, str]] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        value_by_name = {name: value or "" for name, value in attrs}
        classes = sorted(value_by_name.get("class", "").split())
        telling = [f"{name}={value_by_name[name]}" for name in TELLING if name in value_by_name]
        kind = " ".join([tag, *classes, *telling])
        self.pairs.add((self.open[-1] if self.open else "", kind))
        if tag not in NEVER_CLOSED:
            self.open.append(kind)

    def handle_endtag(self, tag: str) -> None:
        for place in reversed(range(len(self.open))):
            if self.open[place].split()[0] == tag:
                del self.open[place:]
                return


def select_unlike(client: Client, addresses: Mapping[str, str]) -> dict[str, str]:
    """Of these addresses, by name, the few that together show every kind of element that any of them has; the ones
    that show most come first. Each is asked for once, without a browser, and must be there."""
    pairs_by_name: dict[str, set[tuple[str, str]]] = {}
    for name, address in addresses.items():
        response = client.get(address)
        assert response.status_code == 200, name
        kinds = Kinds()
        kinds.feed(response.content.decode())
        pairs_by_name[name] = kinds.pairs
    chosen: dict[str, str] = {}
    covered: set[tuple[str, str]] = set()
    for name in sorted(pairs_by_name, key=lambda name: -len(pairs_by_name[name])):
        if not pairs_by_name[name] <= covered:
            covered |= pairs_by_name[name]
            chosen[name] = addresses[name]
    return chosen
