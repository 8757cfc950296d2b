import ipaddress
import socket
from typing import Any

import anyio
import pytest

from judges import addresses, providers
from judges.addresses import InvalidAddress
from judges.providers import CallFailed, CannotConnect, Connection, FailureKind
from tests.judges.providers.calls import running
from tests.judges.standin import StandIn

NAME = "api.example.org"

# Addresses that readers of URLs disagree on, and what is said of them.
AMBIGUOUS = [
    ("ftp://api.example.org/v1", "must begin with https"),
    ("file:///etc/passwd", "must begin with https"),
    ("api.example.org/v1", "must begin with https"),
    ("https:///v1", "name a host"),
    ("https://user:sk-secret@api.example.org/v1", "user or password"),
    ("https://user@api.example.org/v1", "user or password"),
    ("https://api.example.org/v1?key=1", "no ?"),
    ("https://api.example.org/v1#x", "no #"),
    ("https://api.example.org/v1 ", "an address cannot have"),
    ("https://api.example.org\\@10.0.0.1/v1", "an address cannot have"),
    ("https://api.example.org\n/v1", "an address cannot have"),
    ("https://api.example.org:99999/v1", "not an address"),
    ("https://api.example.org:0/v1", "port 0"),
    ("http://[fe80::1%25eth0]:80/v1", "percent sign in its host"),
    ("http://%31%32%37.0.0.1/v1", "percent sign in its host"),
]
PRIVATE = [
    "127.0.0.1",
    "localhost",
    "2130706433",
    "0x7f.1",
    "0177.0.0.1",
    "10.0.0.5",
    "192.168.1.1",
    "172.16.0.1",
    "169.254.169.254",
    "0.0.0.0",
    "100.64.0.1",
    "224.0.0.1",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "[fe80::1]",
    "[fd00::1]",
    "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]",
    "[2002:a00:1::]",
    "[2001:0:808:808:0:0:80ff:fffe]",
    "[::7f00:1]",
    "[::808:808]",
    "[::ffff:8.8.8.8]",
    "[::ffff:0:7f00:1]",
    "[64:ff9b:1::7f00:1]",
    "[64:ff9b:1::808:808]",
    "[fec0::1]",
    "[ff02::1]",
    "[ff0e::1]",
    "[5f00::1]",
    "[3fff::1]",
    "[2001:db8::1]",
    "[100::1]",
]


@pytest.mark.parametrize(
    "url", ["https://api.example.org/v1", "http://api.example.org:8000/v1", "https://[2606:4700::1111]/v1"]
)
def test_an_ordinary_address_passes(url: str) -> None:
    assert addresses.parse_address(url).geturl() == url


@pytest.mark.parametrize(("url", "says"), AMBIGUOUS)
def test_an_address_that_could_mean_something_else_is_refused(url: str, says: str) -> None:
    with pytest.raises(InvalidAddress, match=says.replace("?", r"\?")):
        addresses.parse_address(url)


def test_a_refused_address_does_not_repeat_its_password() -> None:
    with pytest.raises(InvalidAddress) as refusal:
        addresses.parse_address("https://user:sk-secret@api.example.org/v1")

    assert "sk-secret" not in str(refusal.value)


@pytest.mark.parametrize("host", PRIVATE)
def test_a_private_address_is_refused_in_every_notation(host: str) -> None:
    with pytest.raises(InvalidAddress, match="private address"):
        addresses.check_reach(f"http://{host}:8000/v1")


def test_a_private_address_is_allowed_by_host_and_port_only() -> None:
    addresses.check_reach("http://127.0.0.1:8000/v1", allowed=["127.0.0.1:8000"])

    with pytest.raises(InvalidAddress, match="QUIRE_ALLOWED_PRIVATE_ENDPOINTS"):
        addresses.check_reach("http://127.0.0.1:8001/v1", allowed=["127.0.0.1:8000"])


def test_the_port_that_a_scheme_implies_counts() -> None:
    addresses.check_reach("http://127.0.0.1/v1", allowed=["127.0.0.1:80"])


@pytest.mark.parametrize("number", ["8.8.8.8", "2606:4700::1111", "64:ff9b::808:808"])
def test_an_address_on_the_open_internet_is_public(number: str) -> None:
    assert addresses.is_public(ipaddress.ip_address(number))


def test_a_name_that_cannot_be_resolved_passes_the_check() -> None:
    addresses.check_reach("https://no-such-host.invalid/v1")


def resolving(monkeypatch: pytest.MonkeyPatch, *numbers: str) -> list[str]:
    """A name service that gives any name the next of the numbers, an empty one for none; what was connected to."""
    left, connected = list(numbers), []

    def resolve(host: str, port: int, *args: Any, **kwargs: Any) -> list[Any]:
        number = left.pop(0)
        if not number:
            raise socket.gaierror("no such name")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (number, port))]

    async def connect_tcp(*args: Any, remote_host: str, **kwargs: Any) -> None:
        connected.append(remote_host)
        raise OSError("no network here")

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    monkeypatch.setattr(anyio, "connect_tcp", connect_tcp)
    return connected


def failure_at(base_url: str) -> CallFailed:
    client = providers.connect("openai", base_url=base_url, key_variable="", timeout_seconds=5)
    with running(client) as caller:
        return caller.failure()


@pytest.mark.parametrize("first", ["8.8.8.8", ""])
def test_a_name_that_turns_private_after_the_check_is_not_called(monkeypatch: pytest.MonkeyPatch, first: str) -> None:
    connected = resolving(monkeypatch, first, "169.254.169.254")

    failure = failure_at(f"https://{NAME}/v1")

    assert "private address 169.254.169.254" in str(failure)
    assert failure.kind == FailureKind.ADDRESS
    assert connected == []


def test_what_is_called_is_the_number_that_was_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    connected = resolving(monkeypatch, "8.8.8.8", "8.8.4.4")  # asking a third time would fail

    failure = failure_at(f"https://{NAME}/v1")

    assert failure.kind == FailureKind.CONNECTION
    assert connected == ["8.8.4.4"]


def test_a_name_that_cannot_be_resolved_may_be_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    connected = resolving(monkeypatch, "", "")

    failure = failure_at(f"https://{NAME}/v1")

    assert (failure.kind, connected) == (FailureKind.CONNECTION, [])


@pytest.fixture
def sockets(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What any socket was asked to connect to."""
    addressed: list[Any] = []

    def connect(self: socket.socket, address: Any) -> None:
        addressed.append(address)
        raise OSError("no network here")

    monkeypatch.setattr(socket.socket, "connect", connect)
    monkeypatch.setattr(socket.socket, "connect_ex", connect)
    return addressed


@pytest.mark.parametrize("url", [f"http://{host}:8000/v1" for host in PRIVATE] + [url for url, says in AMBIGUOUS])
def test_a_hostile_address_gets_no_client(url: str, sockets: list[Any]) -> None:
    with pytest.raises(CannotConnect):
        providers.connect("openai", base_url=url, key_variable="", timeout_seconds=5)

    assert sockets == []


def test_a_number_in_a_notation_that_the_client_does_not_take_is_no_address() -> None:
    with pytest.raises(CannotConnect, match="Invalid IPv4 address"):
        providers.find_provider("openai").connect(Connection("http://0177.0.0.1:8000/v1", key="", timeout_seconds=5))


@pytest.mark.parametrize("host", sorted(set(PRIVATE) - {"0177.0.0.1"}))
def test_a_client_looks_for_itself_before_it_connects(host: str, sockets: list[Any]) -> None:
    url = f"http://{host}:8000/v1"

    with running(providers.find_provider("openai").connect(Connection(url, key="", timeout_seconds=5))) as caller:
        kind = caller.failure().kind

    assert kind == FailureKind.ADDRESS
    assert sockets == []


def test_an_allowed_address_is_connected_to(sockets: list[Any]) -> None:
    client = providers.connect(
        "openai", base_url="http://127.0.0.1:9/v1", key_variable="", timeout_seconds=5, allowed=["127.0.0.1:9"]
    )

    with running(client) as caller:
        caller.failure()

    assert sockets == [("127.0.0.1", 9)], "the two tests above would see a connection"


def test_the_name_is_still_what_is_asked_for(standin: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    """The header Host, as the certificate, goes by name: the number is only where the connection leads."""
    port = standin.base_url.split(":")[2].split("/")[0]
    monkeypatch.setattr(addresses, "resolve_public", lambda host, port: "127.0.0.1")
    url = f"http://{NAME}:{port}/v1"
    client = providers.find_provider("openai").connect(Connection(url, key="", timeout_seconds=5))

    with running(client) as caller:
        caller.complete()

    assert standin.hits[0].host == f"{NAME}:{port}"
