"""How often a password may be guessed: for a name from an address, from an address, and for a name.

A person who has signed in by this name in this browser before is stopped by their own mistakes alone, so that nobody
can lock out somebody else by guessing at their name, or a whole house by guessing from behind its address.
"""

from typing import Any

from axes.handlers.database import AxesDatabaseHandler
from axes.models import AccessAttempt
from django.conf import settings
from django.db.models import Q, Sum
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.crypto import constant_time_compare, salted_hmac

from config.headers import client_address

MOST_OF_ADDRESS = MOST_OF_NAME = 30  # wrong passwords within settings.AXES_COOLOFF_TIME
COOKIE, COOKIE_SECONDS = "quire_known", 90 * 24 * 60 * 60


class SignInHandler(AxesDatabaseHandler):  # type: ignore[misc]
    """axes counts the wrong passwords of a name from an address; this adds up those of either."""

    def is_locked(self, request: HttpRequest, credentials: dict[str, Any] | None = None) -> bool:
        return super().is_locked(request, credentials) or _is_too_often(request, (credentials or {}).get("username"))


def _is_too_often(request: HttpRequest, name: str | None) -> bool:
    if is_known(request, name or ""):
        return False
    since = timezone.now() - settings.AXES_COOLOFF_TIME
    sums = AccessAttempt.objects.filter(attempt_time__gte=since).aggregate(
        of_address=Sum("failures_since_start", filter=Q(ip_address=client_address(request)), default=0),
        of_name=Sum("failures_since_start", filter=Q(username=name), default=0),
    )
    return bool(sums["of_address"] >= MOST_OF_ADDRESS or sums["of_name"] >= MOST_OF_NAME)


def remember(response: HttpResponse, name: str) -> None:
    """Know this browser again when somebody signs in by that name."""
    response.set_cookie(
        COOKIE,
        _sign(name),
        max_age=COOKIE_SECONDS,
        path=reverse("admin:login"),
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def is_known(request: HttpRequest, name: str) -> bool:
    """Whether somebody has signed in by that name in this browser."""
    return constant_time_compare(request.COOKIES.get(COOKIE, ""), _sign(name))


def _sign(name: str) -> str:
    return salted_hmac("config.sign_in", name, algorithm="sha256").hexdigest()
