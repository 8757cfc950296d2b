"""Logs of other tools on screen and by command: what they are about, whose replies come in; then all, or nothing."""

import re
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.models import Response
from judges.models import BroughtLog, Judge, Run
from judges.settlement import erasure
from studies.models import Item, Study
from tests import factories
from tests.judges.foreign_logs.samples import YES, ask, inspect_log, inspect_sample, promptfoo_log, promptfoo_result
from tests.judges.views.pages import words

pytestmark = pytest.mark.django_db
HOME = "/studies/plums/runs/logs/"


@pytest.fixture
def page(client: Client, study: Study) -> Client:
    client.force_login(factories.staff("researcher"))
    return client


def samples(study: Study, n: int = 4) -> list[dict[str, Any]]:
    item = Item.objects.filter(type="binary").order_by("position")[0]
    return [
        inspect_sample(f"s{n}", ask(story.text, item.question), metadata={"craft": story.code, "what": item.key})
        for n, story in enumerate(study.stories.order_by("code")[:n])
    ]


def upload(page: Client, content: bytes, name: str = "log.json") -> str:
    response = page.post(HOME, {"file": SimpleUploadedFile(name, content)})
    assert response.status_code == 302, words(response.content.decode())
    return str(response["Location"])


def fields(page: Client, address: str, **changes: str) -> dict[str, str]:
    """What its form holds as it stands."""
    (row,) = BroughtLog.objects.all()
    return {name: value for name, value in row.choices.items() if value is not False} | changes


def test_a_log_is_looked_at_and_then_comes_in_as_a_run(page: Client, study: Study) -> None:
    address = upload(page, inspect_log(samples(study)))
    preview = words(page.get(address).content.decode())
    assert Response.objects.count() == 0

    response = page.post(address, fields(page, address, bring_in="yes"), follow=True)

    assert "A log of Inspect (inspect_ai) with 4 replies." in preview
    assert "Replies 4 Stories 4 Items 1 Repeats 1 Cannot be read 0" in preview
    after = words(response.content.decode())
    assert "Try interventions" not in after
    assert "4 replies of gpt-9 are in." in after
    assert "Another tool sent this; nothing was sent from here." in after
    assert "Enter what the provider billed" not in after
    run = Run.objects.get()
    assert (run.judge.slug, run.created_by, run.state) == ("gpt-9", "researcher", Run.State.FINISHED)
    assert not BroughtLog.objects.exists()
    for part in ("calls/", "replies/", f"calls/{run.calls.order_by('pk')[0].pk}/"):
        assert page.get(f"/studies/plums/runs/{run.pk}/{part}").status_code == 200


def test_what_fits_nothing_keeps_all_out_until_it_is_left_out(page: Client, study: Study) -> None:
    address = upload(page, inspect_log([*samples(study), inspect_sample("x", "Something else?")]))
    refused = page.post(address, fields(page, address, bring_in="yes"))
    assert refused.status_code == 400
    assert "Reply 5, story: no story of the study stands in what was asked" in words(refused.content.decode())
    assert not Run.objects.exists()

    left_out = page.post(address, fields(page, address, may_be_left_out="on", bring_in="yes"), follow=True)

    assert "1 reply was left out." in words(left_out.content.decode())
    assert Run.objects.get().n_planned == 4


def test_model_name_and_keys_are_chosen_on_the_page(page: Client, study: Study) -> None:
    item = Item.objects.filter(type="binary").order_by("position")[0]
    results = [
        promptfoo_result("Well?", vars={"craft": story.code, "what": item.key}, provider=f"openai:{model}")
        for story in study.stories.order_by("code")
        for model in ("gpt-9", "gpt-9-mini")
    ]
    address = upload(page, promptfoo_log(results))
    assert "no story of the study stands" in words(page.get(address).content.decode())

    chosen = {"model": "gpt-9-mini", "judge": "mini", "story_key": "craft", "item_key": "what"}
    saved = page.post(address, fields(page, address, save="yes", **chosen), follow=True)
    assert "Replies 4 Stories 4" in words(saved.content.decode())
    page.post(address, fields(page, address, bring_in="yes"))

    assert (Judge.objects.get().slug, Judge.objects.get().model) == ("mini", "gpt-9-mini")


@pytest.mark.parametrize("content", [b"", b"nonsense", b"[" * 100_000])
def test_what_is_no_log_is_refused_with_a_sentence(page: Client, content: bytes) -> None:
    response = page.post(HOME, {"file": SimpleUploadedFile("log.json", content)})

    assert response.status_code == 400
    assert re.search("no log that Quire knows|within one another", words(response.content.decode()))
    assert page.post(HOME, {}).status_code == 400


def test_the_preview_asks_no_more_for_more_replies(page: Client, study: Study) -> None:
    counts = []
    for n in (1, 4):
        address = upload(page, inspect_log(samples(study, n)))
        page.get(address)
        with CaptureQueriesContext(connection) as queries:
            page.get(address)
        counts.append(len(queries))

    assert counts == [12, 12]


def test_more_replies_than_a_page_can_wait_for_are_refused_with_the_command(
    page: Client, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("judges.views.logs.MOST_REPLIES", 3)
    address = upload(page, inspect_log(samples(study)))

    assert "the command import_log takes them" in words(page.get(address).content.decode())
    refused = page.post(address, fields(page, address, bring_in="yes"))

    assert refused.status_code == 400
    assert not Run.objects.exists()


def test_a_log_that_waits_goes_with_a_story_that_is_erased(page: Client, study: Study) -> None:
    upload(page, inspect_log(samples(study)))
    assert BroughtLog.objects.exists()

    erasure.empty_calls([study.stories.all()[0].pk])

    assert not BroughtLog.objects.exists()


def test_a_log_that_nobody_confirmed_for_a_day_is_deleted_at_night(page: Client, study: Study) -> None:
    upload(page, inspect_log(samples(study)))
    call_command("forget_uploads", stdout=StringIO())
    assert BroughtLog.objects.exists()
    BroughtLog.objects.update(created_at=timezone.now() - timedelta(hours=25))

    call_command("forget_uploads", stdout=StringIO())

    assert not BroughtLog.objects.exists()


def test_a_log_that_waits_is_its_uploaders_alone(page: Client, study: Study) -> None:
    address = upload(page, inspect_log(samples(study)))
    page.force_login(factories.staff("designer"))

    assert page.get(address).status_code == 404
    assert page.get(HOME).status_code == 200


def test_judges_of_logs_are_not_offered_for_a_run(page: Client, study: Study) -> None:
    address = upload(page, inspect_log(samples(study)))
    page.post(address, fields(page, address, bring_in="yes"), follow=True)
    judge = Judge.objects.get()

    assert judge.slug not in page.get("/studies/plums/runs/new/").content.decode()
    assert judge.slug in page.get("/studies/plums/judges/").content.decode()


def bring(file: Path, content: bytes, **options: Any) -> str:
    """What the command says, or why it refused."""
    file.write_bytes(content)
    out = StringIO()
    try:
        call_command("import_log", "plums", file, stdout=out, **({"judge": "gpt-9"} | options))
    except CommandError as error:
        return str(error)
    return out.getvalue()


def test_the_command_brings_a_log_in(study: Study, tmp_path: Path) -> None:
    file = tmp_path / "log.json"
    strange = inspect_sample("x", "Something else?")

    assert "is no log that Quire knows" in bring(file, b"{}")
    assert "Reply 5, story" in bring(file, inspect_log([*samples(study), strange]))
    said = bring(file, inspect_log([*samples(study), strange]), leave_out=True)

    assert said == "4 replies of gpt-9 came in, 1 were left out.\n"
    assert set(Response.objects.values_list("value", flat=True)) == {"yes"}


def test_the_command_wants_the_model_named_where_there_are_several(study: Study, tmp_path: Path) -> None:
    content = promptfoo_log([promptfoo_result("A?", YES, provider=f"openai:{model}") for model in ("one", "two")])

    assert "there are: one, two" in bring(tmp_path / "out.json", content)
