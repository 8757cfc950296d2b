"""docs/api.md names the addresses that there are, and its example runs as it stands there."""

import re
from pathlib import Path
from typing import Any

import httpx2
import pytest
from django.test import Client
from django.urls import get_resolver

from reports.api import tokens
from tests import factories
from tests.factories import NOON
from tests.reports import given

DOC = (Path(__file__).parents[2] / "docs" / "api.md").read_text()


def test_every_address_is_documented_and_no_other() -> None:
    resolver = next(part for part in get_resolver().url_patterns if str(part.pattern) == "api/")
    routes = {"/api/" + str(each.pattern) for each in resolver.url_patterns} - {"/api/", "/api/tokens/"}

    named = re.findall(r"^\| `(/api/[^`]*)` \|", DOC, re.MULTILINE)

    assert {
        address.replace("<study>", "<slug:slug>").replace("<sha256>", "<slug:sha256>") for address in named
    } == routes


@pytest.mark.django_db
def test_the_example_has_ten_lines_and_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given.verdicts(given.closed_study(), {"E01": "ynyn", "E02": "yyyy"})
    _row, token = tokens.issue_token(factories.staff("researcher"), name="notebook", at=NOON)
    example = re.search(r"```python\n(.*?)```", DOC, re.DOTALL)[1]

    def get(address: str, **options: Any) -> httpx2.Response:
        answer = Client(headers=options["headers"]).get(address.removeprefix("http://testserver"))
        return httpx2.Response(answer.status_code, content=answer.content, request=httpx2.Request("GET", address))

    monkeypatch.setattr(httpx2, "get", get)
    monkeypatch.setattr("reports.api.pages.DEFAULT", 3)
    exec(example, {"SITE": "http://testserver", "TOKEN": token})

    assert len([line for line in example.splitlines() if line.strip()]) == 10
    assert re.findall(r"item-1 +(yes|no) +(\d)|^ +(no|yes) +(\d)", capsys.readouterr().out, re.MULTILINE) == [
        ("yes", "6", "", ""),
        ("", "", "no", "2"),
    ]
