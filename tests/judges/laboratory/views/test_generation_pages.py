"""The pages on which models write: seen only by whoever may know who wrote."""

import contextlib
import re
from datetime import date
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from judges import releases
from judges.models import GeneratedText, Judge, Price, Run
from judges.views.new_runs import PLAN_CHANGED
from studies import story_edits
from studies.models import Instrument, Item, Provenance, Study
from tests import factories
from tests.judges import standin as told
from tests.judges.conftest import judge_at, sendable
from tests.judges.laboratory.generation.stories import draft_study, endpoint_at, order, planned, words, written
from tests.judges.standin import StandIn
from tests.judges.views.pages import page
from tests.judges.views.pages import words as words_of
from tests.replay import replayed

pytestmark = pytest.mark.django_db
PAGES = "/studies/plums/generations/"
BECAUSE = {"reason": "The writers agreed."}
NEW = f"{PAGES}new/?recipe=pds-writer-profile"


@pytest.fixture
@replayed
def study() -> Study:
    return draft_study()


@pytest.fixture
def designer(client: Client) -> Client:
    client.force_login(factories.staff("designer"))
    return client


def fields(standin: StandIn, **more: Any) -> dict[str, Any]:
    endpoint = endpoint_at(standin)
    return {"endpoint": endpoint.pk, "model": "standin", "groups": ["plot1"], "n_texts": 1, "n_rounds": 3} | more


def test_a_recipe_is_chosen_and_says_what_is_not_printed(study: Study, designer: Client) -> None:
    choice = words_of(designer.get(f"{PAGES}new/").content.decode())
    form = words_of(designer.get(f"{PAGES}new/?recipe=pds-plan-write").content.decode())

    assert "TTCW: a story from a plot, expanded in rounds" in choice
    assert "Not printed: the prompt of the second step, so that ours stands here, marked as own" in form
    assert "plot1: Premise 1" in form


def test_one_looks_then_approves_and_the_run_is_at_work(
    study: Study, designer: Client, standin: StandIn, queued: list[int]
) -> None:
    values = fields(standin)
    prices = {"usd_per_million_in": 1, "usd_per_million_out": 1, "valid_from": date(2026, 1, 1)}
    Price.objects.create(endpoint_id=values["endpoint"], model="standin", **prices)

    look = words_of(designer.post(NEW, values | {"do": "look"}).content.decode())
    assert "1 text would be written" in look
    assert "You are a seasoned writer" in look
    assert "3 calls are planned for the worst case" in look
    assert "pds-writer-profile 1 , word for word as printed" in look
    assert not Run.objects.exists()
    designer.post(NEW, values | {"do": "start", "n_calls": 3, "budget": "2"})

    run = Run.objects.get()
    assert (run.state, run.approved_by, run.budget, run.n_planned) == ("running", "designer", 2, 3)


def test_what_has_changed_since_one_looked_is_not_approved(study: Study, designer: Client, standin: StandIn) -> None:
    response = designer.post(NEW, fields(standin) | {"do": "start", "n_calls": 2})

    assert response.status_code == 400
    assert str(PLAN_CHANGED) in response.content.decode()
    assert not Run.objects.exists()


def test_a_run_that_was_saved_is_approved_by_somebody_else(study: Study, designer: Client, standin: StandIn) -> None:
    designer.post(NEW, fields(standin) | {"do": "save", "n_calls": 3})
    run = Run.objects.get()

    designer.post(f"/studies/plums/runs/{run.pk}/approve/")

    run.refresh_from_db()
    assert run.state == "running"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"groups": []}, "There is no writing prompt to write about"),
        ({"temperatures": "warm"}, "Temperatures are numbers, such as 0.7 1.0."),
        ({"temperatures": "nan"}, "A temperature is a number from 0 to 2"),
        ({"parameters": "max_tokens"}, "Write a name and a value on each line, such as max_tokens 4000."),
        ({"parameters": "top_p 0.5\ntop_p 0.7"}, "top_p stands there twice."),
        ({"model": ""}, "This field is required"),
    ],
)
def test_what_cannot_be_asked_is_said_on_the_form(
    study: Study, designer: Client, standin: StandIn, changes: dict[str, Any], reason: str
) -> None:
    response = designer.post(NEW, fields(standin) | {"do": "look"} | changes)

    assert response.status_code == 400
    assert reason in response.content.decode()


def test_texts_are_taken_in_with_their_clean_up_shown(study: Study, designer: Client, standin: StandIn) -> None:
    standin.script = [words(30), words(500, "Here's the story:\n\n"), words(450)]
    result = written(study, order(endpoint_at(standin), groups=("plot1", "plot2"), n_rounds=2))
    address = f"{PAGES}{result.pk}/"

    html = designer.get(address).content.decode()
    assert "standin has written 2 of 2 texts" in words_of(html)
    assert "2 replies, 1 discarded." in words_of(html)
    assert "<del" in html
    keys = list(GeneratedText.objects.values_list("pk", flat=True))
    cleaned = GeneratedText.objects.get(text__startswith="Here")
    values = {"do": "all", "all": keys, "placement": "premise", "source": "Model S", f"version-{cleaned.pk}": "raw"}
    response = designer.post(address, values, follow=True)

    assert "2 stories are in the study now." in response.content.decode()
    assert study.stories.filter(provenance__source__name="Model S").count() == 2
    assert GeneratedText.objects.filter(is_cleaned=True).count() == 0


def test_what_was_made_from_a_closed_story_is_said_to_wait_for_its_release(
    study: Study, designer: Client, standin: StandIn
) -> None:
    standin.reply = lambda hit: told.says("A well runs dry.")
    Provenance.objects.filter(story__code="p2s1").update(may_send_out=True)
    result = written(study, order(endpoint_at(standin), "nsv-extraction", groups=(), sizes=(50,)))
    keys = list(GeneratedText.objects.values_list("pk", flat=True))
    values = {"do": "all", "all": keys, "placement": "new", "source": "standin", "may_send_out": "on"} | BECAUSE

    said = designer.post(f"{PAGES}{result.pk}/", values, follow=True).content.decode()

    assert "2 stories are in the study now. 1 was made from a story that may not be sent: it waits under" in said
    assert sorted(Provenance.objects.filter(story__generated__isnull=False).values_list("may_send_out", flat=True)) == [
        *(False, True)
    ]


def test_without_a_reason_nothing_is_taken_in_and_what_was_ticked_stays(
    study: Study, designer: Client, standin: StandIn
) -> None:
    standin.reply = lambda hit: told.says("A well runs dry.")
    result = written(study, order(endpoint_at(standin), "nsv-extraction", groups=(), sizes=(50,)))
    first, second = GeneratedText.objects.values_list("pk", flat=True)
    values = {"do": "chosen", "text": [second], "placement": "new", "may_send_out": "on"}

    response = designer.post(f"{PAGES}{result.pk}/", values)

    html = response.content.decode()
    assert (response.status_code, GeneratedText.objects.exclude(accepted_at=None).count()) == (400, 0)
    assert "Why they may be sent: Say why these texts may be sent." in html
    assert re.search(rf'name="text" value="{second}"\s+checked', html)
    assert not re.search(rf'name="text" value="{first}"\s+checked', html)


@pytest.mark.parametrize("is_closed", [True, False])
def test_an_idea_written_with_a_closed_one_before_it_may_not_be_sent(
    study: Study, designer: Client, standin: StandIn, is_closed: bool
) -> None:
    standin.reply = lambda hit: told.says("A well runs dry.")
    Provenance.objects.filter(story__code="p2s1").update(may_send_out=not is_closed)
    result = written(study, order(endpoint_at(standin), "nsv-feedback", n_rounds=1, reference="p2s1"))
    keys = list(GeneratedText.objects.values_list("pk", flat=True))
    values = {"do": "all", "all": keys, "placement": "new", "source": "standin", "may_send_out": "on"} | BECAUSE

    designer.post(f"{PAGES}{result.pk}/", values)

    may_leave = dict(GeneratedText.objects.values_list("round", "story__provenance__may_send_out"))
    assert may_leave == {0: True, 1: not is_closed}
    texts = [text for text in releases.find_releasable(study) if "runs dry" in text.beginning]
    waiting = [(text.made_from[0].code if text.made_from else "") for text in texts]
    assert waiting == (["p2s1"] if is_closed else [])


def test_a_measure_is_edited_and_approved_on_the_page(study: Study, designer: Client, standin: StandIn) -> None:
    draft = Instrument.objects.create(slug="own", version="1", title="Own", fingerprint="0" * 64)
    item = Item.objects.create(
        instrument=draft, position=1, key="end", type="binary", question="Does it end well?", rationale="none"
    )
    standin.reply = lambda hit: told.says("An end is earned.")
    result = written(study, order(endpoint_at(standin), "ttcw-measures", groups=(), instrument=draft))
    text = GeneratedText.objects.get()

    designer.post(f"{PAGES}{result.pk}/", {"text": text.pk, f"words-{text.pk}": "An end follows.\r\nIt does."})

    item.refresh_from_db()
    assert item.background == "An end follows.\nIt does."


def test_nothing_chosen_is_said_and_nothing_taken_in(study: Study, designer: Client, standin: StandIn) -> None:
    standin.reply = lambda hit: words(500)
    result = written(study, order(endpoint_at(standin)))

    response = designer.post(f"{PAGES}{result.pk}/", {"do": "chosen", "placement": "premise"})

    assert response.status_code == 400
    assert "Choose at least one text." in response.content.decode()


def test_whoever_is_blind_sees_nothing_of_it(study: Study, client: Client, standin: StandIn) -> None:
    standin.reply = lambda hit: words(500)
    result = written(study, order(endpoint_at(standin)))
    call = result.run.calls.get(section=1)
    run = f"/studies/plums/runs/{result.pk}/"
    assert "standin" in page(client, "designer", run), "there is something to leak"

    assert "standin" not in page(client, "coordinator", "/studies/plums/runs/")
    assert "standin" not in page(client, "coordinator", "/studies/plums/judges/")
    for address in ("/admin/judges/run/", "/admin/judges/judge/"):
        assert "writer-standin" in page(client, "designer", address)
        assert "writer-standin" not in page(client, "coordinator", address)
    for address in (run, f"{run}calls/", f"{run}calls/{call.pk}/", f"/studies/plums/judges/{result.run.judge_id}/"):
        page(client, "coordinator", address, status=404)
    for address in (PAGES, f"{PAGES}{result.pk}/", f"{PAGES}new/"):
        page(client, "coordinator", address, status=403)


def test_whoever_knows_the_sources_reads_every_attempt(study: Study, client: Client, standin: StandIn) -> None:
    standin.script = [words(10), words(500)]
    result = written(study, order(endpoint_at(standin), n_rounds=3))
    first, waiting = result.run.calls.get(section=1), result.run.calls.get(section=3)
    run = f"/studies/plums/runs/{result.pk}/"

    assert "Finished: 1 of 1 text is written" in words_of(page(client, "designer", run))
    assert "not needed (1)" in words_of(page(client, "designer", f"{run}calls/"))
    assert "w9" in page(client, "designer", f"{run}calls/{first.pk}/")
    assert "written without it" in page(client, "designer", f"{run}calls/{waiting.pk}/")


def test_a_maker_that_writes_and_judges_is_warned_of(study: Study, designer: Client, standin: StandIn) -> None:
    judge = judge_at(standin, "reader")
    Judge.objects.filter(pk=judge.pk).update(model="openai/gpt-4.1")
    other = planned(study, order(endpoint_at(standin), model="gpt-4o"))

    before = designer.get(f"{PAGES}{other.pk}/").content.decode()
    Run.objects.create(study=study, judge=judge, document="{}", sha256="0" * 64, created_by="ana", n_planned=0)
    after = designer.get(f"{PAGES}{other.pk}/").content.decode()

    assert "has more than one part in this study" not in before
    sentence = "OpenAI has more than one part in this study: writes (gpt-4o), judges (openai/gpt-4.1)."
    assert sentence in after
    assert sentence in designer.get(PAGES).content.decode()


def test_the_launch_warns_of_a_maker_that_writes_and_judges_those_who_may_know_the_sources(
    study: Study, client: Client, standin: StandIn
) -> None:
    judge = judge_at(standin, "reader")
    Judge.objects.filter(pk=judge.pk).update(model="openai/gpt-4.1")
    planned(study, order(endpoint_at(standin), model="gpt-4o"))
    Run.objects.create(study=study, judge=judge, document="{}", sha256="0" * 64, created_by="ana", n_planned=0)
    said = StringIO()

    shown = {role: page(client, role, "/studies/plums/launch/") for role in ("designer", "coordinator")}
    with contextlib.suppress(CommandError):  # what else is missing does not matter here
        call_command("launch", "plums", stderr=said)

    sentence = "OpenAI has more than one part in this study: writes (gpt-4o), judges (openai/gpt-4.1)"
    assert sentence in shown["designer"]
    assert "OpenAI" not in shown["coordinator"]
    assert f"Warning: {sentence}; A model favours texts like its own" in said.getvalue()


def test_why_nothing_can_be_written_any_more_is_said(study: Study, designer: Client) -> None:
    before = designer.get(PAGES).content.decode()
    Study.objects.filter(pk=study.pk).update(state="live")

    after = designer.get(PAGES).content.decode()

    assert story_edits.LAUNCHED not in before
    assert story_edits.LAUNCHED in after


def test_a_new_run_of_a_judge_is_warned_of_its_maker(study: Study, designer: Client, standin: StandIn) -> None:
    judge = judge_at(standin, "reader")
    Judge.objects.filter(pk=judge.pk).update(model="openai/gpt-4.1")
    planned(study, order(endpoint_at(standin), model="gpt-4o"))
    sendable(study)

    html = designer.get("/studies/plums/runs/new/", {"judge": judge.pk}).content.decode()

    assert "OpenAI has more than one part in this study: writes (gpt-4o), judges (openai/gpt-4.1)." in html


@pytest.mark.parametrize("n", [1, 3])
def test_the_lists_ask_the_same_for_one_row_as_for_three(
    study: Study, designer: Client, standin: StandIn, n: int
) -> None:
    standin.reply = lambda hit: words(500)
    endpoint = endpoint_at(standin)
    for number in range(n):
        result = written(study, order(endpoint, model=f"standin-{number}", n_texts=n))

    with CaptureQueriesContext(
        connection,
    ) as listing:
        designer.get(PAGES)
    with CaptureQueriesContext(connection) as texts:
        designer.get(f"{PAGES}{result.pk}/")

    assert (len(listing), len(texts)) == (22, 27)
