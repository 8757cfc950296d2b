"""Every URL pattern of the site, read from the resolver, so that what is added is tested unasked."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from django.urls import get_resolver
from django.urls.resolvers import URLPattern

PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>|\(\?P<(\w+)>[^)]*\)")


@dataclass(frozen=True)
class Pattern:
    """One pattern. name : its name with its namespace, or its route if it has none"""

    name: str
    route: str

    @property
    def parameters(self) -> tuple[str, ...]:
        return tuple(m[1] or m[2] for m in PARAMETER.finditer(self.route))

    @property
    def model(self) -> str:
        """`studies.story`, for a page of the admin about rows of a table; empty for any other."""
        found = re.match(r"admin/(\w+)/(\w+)/", self.route)
        return f"{found[1]}.{found[2]}" if found else ""

    def address(self, values: Mapping[str, object]) -> str:
        path = PARAMETER.sub(lambda m: str(values[m[1] or m[2]]), self.route)
        return "/" + path.replace("^", "").replace("$", "")


def patterns() -> list[Pattern]:
    return list(_walk(get_resolver().url_patterns))


def _walk(found: list[object], before: str = "", spaces: tuple[str, ...] = ()) -> Iterator[Pattern]:
    for each in found:
        route = before + str(each.pattern)  # type: ignore[attr-defined]
        if isinstance(each, URLPattern):
            yield Pattern(":".join([*spaces, each.name]) if each.name else route, route)
        else:
            space = each.namespace  # type: ignore[attr-defined]
            yield from _walk(each.url_patterns, route, (*spaces, space) if space else spaces)  # type: ignore[attr-defined]
