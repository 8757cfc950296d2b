"""Errors of the server: one line each, which says where and nothing that anybody wrote."""

import json
import logging
import re
import subprocess
import sys
from io import StringIO
from typing import Any

import pytest
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import path

from config import urls
from config.logs import JsonLineFormatter

SECRETS = ("canary-answer", "canary-token", "canary-code")


def broken(request: HttpRequest, code: str) -> HttpResponse:
    try:
        raise KeyError(request.POST["value"])
    except KeyError as error:
        raise ValueError(f"no number: {error} of {code}") from error


urlpatterns = [path("r/<str:code>/", broken), path("a/<str:code>/", broken), *urls.urlpatterns]


@pytest.mark.django_db
@pytest.mark.urls(__name__)
@pytest.mark.parametrize("address", ["/r/canary-token/", "/a/canary-code/?name=canary-answer"])
def test_an_error_leaves_one_line_that_says_where_and_quotes_nothing(log: StringIO, address: str) -> None:
    client = Client(raise_request_exception=False)

    answer = client.post(address, {"value": "canary-answer"})

    (line,) = log.getvalue().splitlines()
    told = json.loads(line)
    assert answer.status_code == 500
    assert re.fullmatch("[0-9a-f]{16}", told["request_id"])
    assert answer["X-Request-ID"] == told["request_id"]
    assert (told["level"], told["message"]) == ("ERROR", "Internal Server Error")
    assert (told["method"], told["status"], told["route"]) == ("POST", 500, f"{address[1]}/<str:code>/")
    assert [cause["error"] for cause in told["traceback"]] == ["builtins.ValueError", "builtins.KeyError"]
    assert any("test_logs.py" in frame and "in broken" in frame for frame in told["traceback"][0]["frames"])
    assert not [secret for secret in SECRETS if secret in line]


@pytest.mark.django_db
def test_what_visitors_do_wrong_is_not_written_and_their_requests_have_different_numbers(log: StringIO) -> None:
    answers = [Client().get("/nowhere/") for _ in range(2)]

    assert [answer.status_code for answer in answers] == [404, 404]
    assert len({answer["X-Request-ID"] for answer in answers}) == 2
    assert log.getvalue() == ""


@pytest.mark.django_db
def test_a_name_of_a_host_that_is_not_ours_is_refused_and_not_written(log: StringIO) -> None:
    answer = Client().get("/", headers={"host": "elsewhere.example"})

    assert answer.status_code == 400
    assert log.getvalue() == ""


def record(**more: Any) -> dict[str, Any]:
    made = logging.LogRecord("celery.app.trace", logging.ERROR, "trace.py", 1, "Task raised: %s", ("canary",), None)
    made.__dict__.update(more)
    found: dict[str, Any] = json.loads(JsonLineFormatter().format(made))
    return found


def test_a_line_stays_one_line_whatever_it_says() -> None:
    made = logging.LogRecord("x", logging.ERROR, "x.py", 1, "one\ntwo\u2028three %s", ("four",), None)

    line = JsonLineFormatter().format(made)

    assert len(line.splitlines()) == 1
    assert json.loads(line)["message"] == "one\ntwo\u2028three four"


def test_of_a_failed_task_its_error_is_not_quoted() -> None:
    error = ValueError("canary")

    assert "canary" not in str(record(exc_info=(ValueError, error, None)))
    assert record()["message"] == "Task raised: canary", "it is there to leak"


def test_of_a_task_of_asyncio_that_failed_its_error_is_not_quoted() -> None:
    said = "Task exception was never retrieved\nfuture: <Task exception=IntegrityError('DETAIL: (canary)')>"

    assert record(name="asyncio", msg=said, args=())["message"] == "Task exception was never retrieved"


def test_workers_write_as_the_server_does() -> None:
    code = (
        "from config.celery import app; import logging; app.log.setup(loglevel='WARNING');"
        "logging.getLogger('celery.app.trace').error('boom')"
    )

    run = subprocess.run(
        [sys.executable, "-c", code], cwd=settings.BASE_DIR, capture_output=True, text=True, check=True, timeout=60
    )

    (line,) = run.stderr.splitlines()
    assert json.loads(line)["message"] == "boom"
