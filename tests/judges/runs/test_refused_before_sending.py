"""What must not be asked is refused on the page and by the command, with the way out, and nothing is sent or kept."""

import html
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client

from judges.models import Call, Judge, Prompt, Run
from judges.planning.plans import NOT_SENDABLE
from studies.models import Instrument, Item, Provenance, Step, Study
from tests import factories
from tests.judges.conftest import judge_at, sendable
from tests.judges.standin import StandIn

pytestmark = pytest.mark.django_db
NEW = "/studies/plums/runs/new/"


def look(judge: Judge) -> str:
    return _client().get(NEW, {"judge": judge.pk}).content.decode()


def approve(judge: Judge) -> str:
    response = _client().post(NEW, {"judge": judge.pk, "do": "start"})
    assert response.status_code == 400
    return response.content.decode()


def save_for_others(judge: Judge) -> str:
    return _client().post(NEW, {"judge": judge.pk, "do": "save"}).content.decode()


def try_by_command(judge: Judge) -> str:
    return _refusal_of_command(judge, "--dry-run")


def start_by_command(judge: Judge) -> str:
    return _refusal_of_command(judge, "--yes", "--wait")


def _client() -> Client:
    client = Client()
    client.force_login(User.objects.filter(username="researcher").first() or factories.staff("researcher"))
    return client


def _refusal_of_command(judge: Judge, *options: str) -> str:
    with pytest.raises(CommandError) as error:
        call_command("run_judges", "plums", "--judge", judge.slug, *options)
    assert error.value.returncode == 1
    return str(error.value)


WAYS_IN = pytest.mark.parametrize("way_in", [look, approve, save_for_others, try_by_command, start_by_command])


@WAYS_IN
def test_a_draft_of_an_instrument(standin: StandIn, way_in: Callable[[Judge], str]) -> None:
    study = sendable(factories.study(state=Study.State.DRAFT, comparative=False))
    draft = Instrument.objects.create(slug="moods", version="1", title="Moods", status=Instrument.Status.DRAFT)
    Item.objects.create(instrument=draft, position=1, key="mood", type="binary", question="Is it sad?")
    Step.objects.filter(key="tests").update(instrument=draft)

    said = html.unescape(way_in(judge_at(standin)))

    sentence = "“The tests” asks moods 1, which is a draft and could still change; publish it first"
    assert sentence in said
    assert_nothing_came_of_it(standin)
    assert not study.frozen_versions.exists()


@WAYS_IN
def test_a_prompt_that_leaves_a_question_out(standin: StandIn, way_in: Callable[[Judge], str]) -> None:
    sendable(factories.study(comparative=False))
    judge = judge_at(standin)
    prompt = Prompt.objects.get(name="plain-all-items")
    prompt.pk, prompt.name = None, "short"
    prompt.template = prompt.template.replace("in questions", "in questions[:1]")
    prompt.save()
    Judge.objects.filter(pk=judge.pk).update(prompt=prompt)

    said = html.unescape(way_in(judge))

    assert "leaves out the question “item-2”; choose a judge with a prompt that asks it" in said
    assert_nothing_came_of_it(standin)


@WAYS_IN
def test_texts_that_may_not_leave_are_named_one_by_one(standin: StandIn, way_in: Callable[[Judge], str]) -> None:
    study = sendable(factories.study(n_stories=8, comparative=False))
    Provenance.objects.filter(story__study=study).exclude(story__code="p1s4").update(may_send_out=False)

    judge = judge_at(standin)
    said = html.unescape(way_in(judge))

    codes = "p1s1, p1s2, p1s3, p1s5, p1s6, p1s7, p1s8"
    names = {"study": study.slug, "n": 7, "codes": codes, "endpoint": judge.endpoint.name}
    assert str(NOT_SENDABLE % names) in said
    assert_nothing_came_of_it(standin)


def test_what_would_be_asked_before_the_launch_is_shown_and_freezes_nothing(standin: StandIn) -> None:
    study = sendable(factories.study(state=Study.State.DRAFT, comparative=False))
    judge = judge_at(standin)

    seen = look(judge)

    assert "Approve and start" in seen
    assert not study.frozen_versions.exists()
    assert _client().post(NEW, {"judge": judge.pk, "n_calls": 8, "do": "save"}).status_code == 302
    assert study.frozen_versions.count() == 1


def assert_nothing_came_of_it(standin: StandIn) -> None:
    assert standin.hits == []
    assert (Run.objects.count(), Call.objects.count()) == (0, 0)
