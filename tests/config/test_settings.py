"""What an operator can write into the environment: it is taken, or refused in a sentence that says the way out."""

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

BASE = Path(settings.BASE_DIR)
KEY = "".join("0123456789abcdef"[n * 7 % 16] for n in range(100))
PUBLIC = {
    "ALLOWED_HOSTS": "quire.example.org",
    "SECRET_KEY": KEY,
    "DATABASE_URL": "postgres://quire@postgres:5432/quire",
    "EMAIL_URL": "smtp://mail.example.org:587/?tls=1",
}


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """The settings under that environment."""

    def start(**environment: str) -> dict[str, Any]:
        for name in ("DATABASE_URL", "REDIS_URL", "EMAIL_URL", "SECRET_KEY", "ALLOWED_HOSTS", "DEBUG"):
            monkeypatch.delenv(name, raising=False)
        for name, value in ({"QUIRE_VAR": str(tmp_path)} | environment).items():
            monkeypatch.setenv(name, value)
        return runpy.run_path(str(BASE / "config" / "settings.py"))

    return start


def test_a_setting_left_empty_is_as_if_it_were_not_there(start: Any, tmp_path: Path) -> None:
    assert start(DATABASE_URL="")["DATABASES"]["default"]["NAME"] == str(tmp_path / "quire.sqlite3")
    assert start(QUIRE_VAR="", DATABASE_URL="sqlite://:memory:")["VAR"] == BASE / "var"
    assert start(HSTS_SECONDS="", **PUBLIC)["SECURE_HSTS_SECONDS"] == 31_536_000


@pytest.mark.parametrize("password", ["pa/ss", "pa?ss", "pa#ss", "12/34", "12?34", "1:2/3", "/", "?"])
def test_an_address_that_a_password_breaks_is_refused_with_the_way_out(start: Any, password: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="PGPASSWORD"):
        start(DATABASE_URL=f"postgres://quire:{password}@postgres:5432/quire")


@pytest.mark.parametrize("url", ["nonsense", "postgres://", "postgres://host:port/name", "mysql://host/name"])
def test_an_address_that_is_none_is_refused_in_a_sentence(start: Any, url: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="DATABASE_URL"):
        start(DATABASE_URL=url)


def test_a_password_can_be_written_encoded_or_apart(start: Any) -> None:
    encoded = start(DATABASE_URL="postgres://quire:pa%2Fss%3F@postgres:5432/quire")["DATABASES"]["default"]
    apart = start(DATABASE_URL="postgres://quire@postgres:5432/quire")["DATABASES"]["default"]

    assert (encoded["PASSWORD"], encoded["NAME"], apart["PASSWORD"]) == ("pa/ss?", "quire", "")


def test_the_server_of_the_example_takes_any_password() -> None:
    compose = (BASE / "docker-compose.yml").read_text()

    assert "PGPASSWORD: ${POSTGRES_PASSWORD}" in compose
    assert not re.search(r"DATABASE_URL:.*PASSWORD", compose)


@pytest.mark.parametrize("key", ["x" * 62, "ab" * 40, "short", ""])
def test_a_weak_key_is_refused_on_a_public_host(start: Any, key: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=r"SECRET_KEY.*openssl rand -hex 50"):
        start(**PUBLIC | {"SECRET_KEY": key})


def test_the_key_that_is_advised_is_one_line() -> None:
    said = "".join((BASE / name).read_text() for name in (".env.example", "config/settings.py", "README.md"))

    assert "openssl rand -hex 50" in said
    assert "-base64" not in said, "it breaks the line after 64 characters"


@pytest.mark.parametrize(
    ("environment", "seconds", "preload"),
    [
        ({}, 31_536_000, True),
        ({"HSTS_SECONDS": "0"}, 0, False),
        ({"HSTS_SECONDS": "60", "HSTS_PRELOAD": "no"}, 60, False),
    ],
)
def test_browsers_are_held_to_tls_for_as_long_as_the_operator_says(
    start: Any, environment: dict[str, str], seconds: int, preload: bool
) -> None:
    found = start(**PUBLIC, **environment)

    names = ("SECURE_HSTS_SECONDS", "SECURE_HSTS_PRELOAD", "SECURE_HSTS_INCLUDE_SUBDOMAINS")
    assert [found[name] for name in names] == [seconds, preload, preload]


@pytest.mark.parametrize("time", ["a year", "-5"])
def test_a_time_that_is_none_is_refused_in_a_sentence(start: Any, time: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="HSTS_SECONDS"):
        start(**PUBLIC, HSTS_SECONDS=time)


@pytest.mark.parametrize(
    "url", ["redis://:pa/ss@host:6379/0", "redis://:pa?ss@host:6379/0", "redis://:pa#ss@host", "redis://", "host:6379"]
)
def test_an_address_of_redis_that_a_password_breaks_is_refused_before_the_first_task(start: Any, url: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=r"REDIS_URL cannot be read.*%2F"):
        start(REDIS_URL=url)


def test_addresses_of_redis_are_taken(start: Any) -> None:
    urls = ("", "redis://redis:6379/0", "redis://:pa%2Fss@host:6379/1", "rediss://user:word@host")

    assert [start(REDIS_URL=url)["REDIS_URL"] for url in urls] == list(urls)


@pytest.mark.embedded
def test_linear_algebra_keeps_to_one_thread_where_the_operator_says_nothing_else() -> None:
    script = (
        "from django.conf import settings; settings.BASE_DIR; import numpy, threadpoolctl; "
        "print([pool['num_threads'] for pool in threadpoolctl.threadpool_info()])"
    )

    def n_threads(**said: str) -> str:
        others = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
        environment = others | {"DJANGO_SETTINGS_MODULE": "config.settings"} | said
        command = [sys.executable, "-c", script]
        return subprocess.run(
            command, env=environment, cwd=BASE, capture_output=True, text=True, check=True
        ).stdout.strip()

    assert n_threads() == "[1]"
    if (os.cpu_count() or 1) > 1:
        assert n_threads(OPENBLAS_NUM_THREADS="2") == "[2]"


@pytest.mark.parametrize("name", ["DEBUG", "BEHIND_PROXY", "HSTS_PRELOAD", "QUIRE_REPORTS_AT_ONCE"])
def test_a_switch_that_is_neither_on_nor_off_is_refused_in_a_sentence(start: Any, name: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=f"{name} must be true or false, not “maybe”"):
        start(**{name: "maybe"})
    assert start(**{name: ""})["DEBUG"] is False


def test_switches_are_read_as_people_write_them(start: Any) -> None:
    words = ["true", "Yes", "on", "1", "false", "No", "off", "0", ""]

    assert [start(DEBUG=word)["DEBUG"] for word in words] == [True] * 4 + [False] * 5


@pytest.mark.parametrize("name", ["DATABASE_URL", "EMAIL_URL"])
def test_a_public_host_does_not_start_without_a_database_or_mail(start: Any, name: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=f"public host, so {name} must be set"):
        start(**PUBLIC | {name: ""})
    assert start(**PUBLIC)["IS_EMBEDDED"] is False


def test_the_example_of_the_environment_starts_once_key_and_password_are_filled_in(start: Any) -> None:
    lines = (BASE / ".env.example").read_text().splitlines()
    example = dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))
    compose = {"DATABASE_URL": "postgres://quire@postgres:5432/quire"}

    assert start(**example | compose | {"SECRET_KEY": KEY})["EMAIL_HOST"] == "mail.example.org"
