"""Tokens with which a researcher's programme reads: shown once, stored as their hash, revocable, for reading alone."""

from __future__ import annotations

import secrets
from datetime import datetime
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from reports.models import ApiToken
from studies import hashing

N_BYTES = 32
PREFIX = "quire_"  # by which a scanner for secrets knows one
SCHEME = "Bearer"


def issue_token(user: User, *, name: str, at: datetime) -> tuple[ApiToken, str]:
    """A new token of the account, and its secret, which is kept nowhere."""
    secret = PREFIX + secrets.token_urlsafe(N_BYTES)
    row = ApiToken.objects.create(user=user, name=name, token_sha256=hashing.sha256(secret), made_at=at)
    return row, secret


def revoke_token(row: ApiToken, *, at: datetime) -> None:
    """End the token for good. A second time changes nothing."""
    ApiToken.objects.filter(pk=row.pk, revoked_at=None).update(revoked_at=at)


class TokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer quire_…`. The account is asked anew with every request, so what it may see is what it may
    see now."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        parts = get_authorization_header(request).split()
        if not parts or parts[0].decode("latin-1").casefold() != SCHEME.casefold():
            return None
        if len(parts) != 2:
            raise AuthenticationFailed(_("Send the token as “Authorization: Bearer quire_…”."))
        digest = hashing.sha256(parts[1].decode("latin-1"))
        row = ApiToken.objects.select_related("user").filter(token_sha256=digest, revoked_at=None).first()
        if row is None or not row.user.is_active:
            raise AuthenticationFailed(_("There is no such token, or it was revoked."))
        today = timezone.now().date()
        if row.last_used_on != today:  # a day is enough to tell whether a token is still needed
            ApiToken.objects.filter(pk=row.pk).update(last_used_on=today)
        return row.user, row

    def authenticate_header(self, request: Request) -> str:
        return SCHEME


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How the API's description names the tokens."""

    target_class = TokenAuthentication
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer"}
