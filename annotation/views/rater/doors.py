"""How often somebody may knock at a door that is open to everybody: so many times from one address in a while."""

from django.core.cache import cache
from django.http import HttpRequest

from config.headers import client_address
from studies import hashing

MOST_ARRIVALS = 60  # a room full of people behind one address comes in
SECONDS = 10 * 60


def is_too_often(request: HttpRequest, door: str) -> bool:
    """Whether too much was posted to that door from where the request comes; counts this one.

    Counted by each process of the server for itself, and by a hash of the address.
    """
    key = f"door:{door}:{hashing.sha256(client_address(request))}"
    cache.add(key, 0, SECONDS)
    try:
        return bool(cache.incr(key) > MOST_ARRIVALS)
    except ValueError:  # it ran out in between
        return False
