"""The application; for a browser with the cookie of `COOKIE`, without what asks browsers to forget its pages.

Firefox remembers no field of a page that is `no-store`, nor of a form with `autocomplete="off"`. In a browser, or with
an extension, that remembers all the same, only the revisions of the answers protect the newer one.
"""

from collections.abc import Callable, Iterable
from typing import Any

from config.wsgi import application as site

COOKIE = "browser-remembers=1"

Headers = list[tuple[str, str]]


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    if COOKIE not in environ.get("HTTP_COOKIE", "") or environ["REQUEST_METHOD"] != "GET":
        return site(environ, start_response)
    environ.pop("HTTP_ACCEPT_ENCODING", None)  # the page has to be read
    answers: list[tuple[Any, ...]] = []
    response = site(environ, lambda *answer: answers.append(answer))
    body = b"".join(response)
    if close := getattr(response, "close", None):
        close()
    [(status, headers, *rest)] = answers
    if any(name == "Content-Type" and value.startswith("text/html") for name, value in headers):
        body = body.replace(b'autocomplete="off"', b"")
        headers = [(name, value.replace("no-store", "no-cache")) for name, value in headers if name != "Content-Length"]
        headers.append(("Content-Length", str(len(body))))
    start_response(status, headers, *rest)
    return [body]
