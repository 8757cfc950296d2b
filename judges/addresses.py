"""Which addresses a judge may be called at: http(s), public unless the operator allows a private one by name.

No Django models here, and no network but for the name service, which `check_reach` and `resolve_public` ask.
"""

import ipaddress
import socket
from collections.abc import Collection
from urllib.parse import SplitResult, urlsplit

from django.utils.translation import gettext, gettext_noop

NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
# All that is given out as public, and what of it is not: benchmarking, ORCHID, two ranges for documentation.
GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")
NOT_ROUTED = [ipaddress.IPv6Network(n) for n in ("2001:2::/48", "2001:10::/28", "2001:db8::/32", "3fff::/20")]
Address = ipaddress.IPv4Address | ipaddress.IPv6Address
# Of a name, and of a number that was written as it is.
PRIVATE_NAME = gettext_noop(
    "%(host)s stands for the private address %(number)s; if this is an endpoint of yours, add %(host)s:%(port)s to "
    "QUIRE_ALLOWED_PRIVATE_ENDPOINTS"
)
PRIVATE_NUMBER = gettext_noop(
    "%(host)s is a private address; if this is an endpoint of yours, add %(host)s:%(port)s to "
    "QUIRE_ALLOWED_PRIVATE_ENDPOINTS"
)


class InvalidAddress(ValueError):
    """A base URL that judges may not call; the message says why and what would do.

    sentence : in English, with places for the values: it is translated when it is shown
    """

    def __init__(self, sentence: str, **values: str | int) -> None:
        super().__init__(sentence)
        self.sentence, self.values = sentence, values

    def __str__(self) -> str:
        return gettext(self.sentence) % self.values if self.values else gettext(self.sentence)


def parse_address(url: str) -> SplitResult:
    """The parts of a base URL that is written as one should be. Raises InvalidAddress."""
    # Browsers and libraries disagree on what blanks and backslashes mean, so an address has neither.
    if any(c.isspace() or not c.isprintable() for c in url) or "\\" in url:
        raise InvalidAddress(gettext_noop("%(url)r contains a character that an address cannot have"), url=url)
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise InvalidAddress(gettext_noop("%(url)r is not an address: %(why)s"), url=url, why=str(error)) from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidAddress(gettext_noop("%(url)r must begin with https:// or http:// and name a host"), url=url)
    if "%" in parts.hostname:  # an interface, which only private addresses have, or letters that readers decode or not
        sentence = gettext_noop("%(url)r has a percent sign in its host; write the host as a plain name or number")
        raise InvalidAddress(sentence, url=url)
    if parts.username is not None or parts.password is not None:
        sentence = gettext_noop("the address contains a user or password; put the key into an environment variable")
        raise InvalidAddress(sentence)
    if parts.query or parts.fragment or url.endswith(("?", "#")):
        raise InvalidAddress(gettext_noop("%(url)r must end with its path: no ? and no #"), url=url)
    if port == 0:
        raise InvalidAddress(gettext_noop("%(url)r names port 0, which nothing can answer at"), url=url)
    return parts


def check_reach(url: str, *, allowed: Collection[str] = ()) -> None:
    """Raise InvalidAddress if the host stands for a private address that is not allowed. Asks the name service.

    allowed : "host:port" of private endpoints that the operator runs
    A name that cannot be resolved passes, since it may only be away for a moment: each call asks for itself.
    """
    parts = parse_address(url)
    if is_allowed(url, allowed):
        return
    try:
        resolve_public(str(parts.hostname), _port(parts))
    except OSError:
        return


def is_allowed(url: str, allowed: Collection[str]) -> bool:
    """Whether the operator named the host and port of the URL as an endpoint of theirs."""
    parts = parse_address(url)
    return f"{parts.hostname}:{_port(parts)}" in {entry.strip().lower() for entry in allowed}


def resolve_public(host: str, port: int) -> str:
    """The numeric address to call the host at, all of its addresses being public. Asks the name service.

    Whoever calls the number instead of the name calls what was checked, whatever the name stands for a moment later.
    Raises InvalidAddress if one of them is private, OSError if there is none.
    """
    try:
        entries = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except UnicodeError:
        raise OSError(f"{host} cannot be a name") from None
    # A scope such as %eth0 is no part of the number.
    numbers = [str(entry[4][0]).partition("%")[0] for entry in entries]
    for number in numbers:
        if not is_public(ipaddress.ip_address(number)):
            is_number = host.strip("[]") == number
            raise InvalidAddress(PRIVATE_NUMBER if is_number else PRIVATE_NAME, host=host, number=number, port=port)
    return numbers[0]  # the system sorts them by how well it can reach them


def _port(parts: SplitResult) -> int:
    return parts.port or (443 if parts.scheme == "https" else 80)


def is_public(address: Address) -> bool:
    """Whether the address is on the open internet, also when it is an IPv4 address in IPv6 clothing."""
    if isinstance(address, ipaddress.IPv4Address):
        return address.is_global and not address.is_multicast
    if address in NAT64:
        return is_public(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
    inner = [address.sixtofour, *(address.teredo or ())]
    if any(not is_public(number) for number in inner if number is not None):
        return False
    # Whatever else there is (local, site-local, mapped, compatible, translated, multicast) is not of the open internet.
    return address in GLOBAL_UNICAST and address.is_global and not any(address in network for network in NOT_ROUTED)
