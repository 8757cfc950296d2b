"""Providers of models: one file each, discovered, never listed.

A provider knows everything that differs between protocols: how a request is sent, what a reply and a failure look like.
An endpoint names its provider by slug.
"""

import os
from collections.abc import Collection
from functools import cache

from django.utils.translation import gettext as _

from judges import addresses
from judges.providers.base import CallFailed, CannotConnect, Client, Completion, Connection, Provider, Request
from studies.discovery import find_classes

__all__ = [
    "CallFailed",
    "CannotConnect",
    "Client",
    "Completion",
    "Connection",
    "Provider",
    "Request",
    "UnknownProvider",
    "all_providers",
    "connect",
    "find_provider",
]


class UnknownProvider(ValueError):
    """No file defines a provider of that slug; the message names those there are."""


@cache
def all_providers() -> dict[str, Provider]:
    """Every provider by its slug, in alphabetical order. Raises TypeError if two share a slug."""
    return {slug: kind() for slug, kind in find_classes(__name__, Provider, key="slug").items()}


def find_provider(slug: str) -> Provider:
    """The provider of that slug. Raises UnknownProvider."""
    try:
        return all_providers()[slug]
    except KeyError:
        message = _("“%(slug)s” is not a provider; there are: %(slugs)s")
        raise UnknownProvider(message % {"slug": slug, "slugs": ", ".join(all_providers())}) from None


def connect(
    adapter: str, *, base_url: str, key_variable: str, timeout_seconds: float, allowed: Collection[str] = ()
) -> Client:
    """A client for an endpoint. Raises CannotConnect. Asks the name service for the host's address.

    key_variable : the name of the environment variable that holds the key; "" for an endpoint without one
    allowed : private endpoints that the operator runs, as "host:port"
    """
    try:
        provider = find_provider(adapter)
    except UnknownProvider as error:
        raise CannotConnect(str(error)) from None
    if provider.is_stub:
        return provider.connect(Connection(base_url="", key="", timeout_seconds=timeout_seconds))
    try:
        addresses.check_reach(base_url, allowed=allowed)
    except addresses.InvalidAddress as error:
        raise CannotConnect(str(error)) from None
    key = os.environ.get(key_variable, "").strip() if key_variable else ""
    if key_variable and not key:
        raise CannotConnect(f"the environment variable {key_variable} is not set where judges run")
    if not key.isascii() or not key.isprintable():
        raise CannotConnect(f"the environment variable {key_variable} holds what is no key")
    return provider.connect(
        Connection(
            base_url,
            key=key,
            timeout_seconds=timeout_seconds,
            may_be_private=addresses.is_allowed(base_url, allowed),
        )
    )
