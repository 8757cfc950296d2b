"""What holds for every request: the methods there are, whose address it is, and the content policy of the answer."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed

METHODS = ("GET", "HEAD", "POST")

POLICY = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
    "frame-ancestors 'none'; form-action 'self'"
)
# Of a page that another page of ours shows in a frame: nothing can be sent from it.
FRAMED_POLICY = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
    "frame-ancestors 'self'; form-action 'none'; connect-src 'none'"
)


class PolicyMiddleware:
    """Sets Content-Security-Policy: no inline script or style, no foreign host, no eval."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.setdefault("Content-Security-Policy", POLICY)
        return response


class MethodMiddleware:
    """Refuses every method that no page of ours has: Django's admin would answer PUT or DELETE as if it were GET."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request) if request.method in METHODS else HttpResponseNotAllowed(METHODS)


def client_address(request: HttpRequest) -> str:
    """The address that a request comes from: behind a proxy the one that the proxy added, which nobody else can."""
    if settings.BEHIND_PROXY and (forwarded := request.META.get("HTTP_X_FORWARDED_FOR", "")):
        return str(forwarded.rsplit(",", 1)[-1].strip())
    return str(request.META.get("REMOTE_ADDR", ""))
