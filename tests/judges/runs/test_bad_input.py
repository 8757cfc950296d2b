"""What a provider can send in place of an answer: each has its state, a sentence with the way out, and costs little."""

import html

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse

from judges import reasons, runs
from judges.models import Attempt, Endpoint, Run
from judges.providers import FailureKind
from judges.requests import texts
from judges.settlement import attempts
from judges.views.states import WORDS
from studies.models import Study
from tests import factories
from tests.judges import standin as told
from tests.judges.conftest import judge_at, probed, sendable, started
from tests.judges.standin import Reply, StandIn

pytestmark = pytest.mark.django_db

TWO = told.says("Answer: yes\nOn second thoughts:\nAnswer: no")
QUOTED = told.says("The story ends with the line:\n“Answer: yes”")


NO_ANSWER_THROUGH = pytest.mark.parametrize(
    ("reply", "kind"),
    [
        pytest.param(told.NO_KEY, FailureKind.KEY, id="wrong key"),
        pytest.param(told.NO_CREDIT, FailureKind.CREDIT, id="no credit"),
        pytest.param(told.NO_MODEL, FailureKind.UNKNOWN_MODEL, id="unknown model"),
        pytest.param(told.HANG, FailureKind.TIMEOUT, id="hangs"),
        pytest.param(told.DRIP, FailureKind.TIMEOUT, id="drips"),
        pytest.param(told.NEWLINES, FailureKind.TIMEOUT, id="newlines for ever"),
        pytest.param(told.GARBAGE, FailureKind.MALFORMED, id="HTML"),
        pytest.param(Reply(told.YES.body[:80]), FailureKind.MALFORMED, id="half an answer"),
        pytest.param(told.HUGE, FailureKind.TOO_LARGE, id="200 MB"),
    ],
)


@NO_ANSWER_THROUGH
def test_what_no_call_gets_an_answer_through_costs_the_probes_and_says_the_way_out(
    study: Study, standin: StandIn, admin_client: Client, reply: Reply, kind: FailureKind
) -> None:
    standin.reply = lambda hit: reply

    run = runs.drain(started(study, judge_at(standin, n_at_once=8, timeout_seconds=1)))

    assert (run.state, runs.count_calls(run)) == (Run.State.STOPPED, {"planned": 8})
    assert len(standin.hits) == Attempt.objects.count() == attempts.N_PROBES
    page = admin_client.get(reverse("judges:run", args=[study.slug, run.pk])).content.decode()
    assert f"{kind.sentence} {kind.way_out}" in html.unescape(page)


@NO_ANSWER_THROUGH
def test_the_command_costs_the_same_and_says_the_same(
    study: Study, standin: StandIn, reply: Reply, kind: FailureKind
) -> None:
    standin.reply = lambda hit: reply
    judge = judge_at(standin, n_at_once=8, timeout_seconds=1)
    sendable(study)

    with pytest.raises(CommandError) as error:
        call_command("run_judges", study.slug, "--judge", judge.slug, "--yes", "--wait")

    assert error.value.returncode == 2
    assert f"{kind.sentence} {kind.way_out}" in str(error.value)
    assert (len(standin.hits), Run.objects.get().state) == (attempts.N_PROBES, Run.State.STOPPED)


NO_USABLE_ANSWER = pytest.mark.parametrize(
    ("reply", "state", "n_tries"),
    [
        pytest.param(TWO, "unreadable", 2, id="two verdicts"),
        pytest.param(QUOTED, "unreadable", 2, id="a quoted verdict"),
        pytest.param(told.EMPTY, "unreadable", 2, id="empty"),
        pytest.param(told.OUT_OF_RANGE, "out_of_range", 1, id="out of range"),
    ],
)


@NO_USABLE_ANSWER
def test_a_reply_without_a_usable_answer_is_no_answer_and_asked_for_once_more_at_most(
    study: Study, standin: StandIn, admin_client: Client, reply: Reply, state: str, n_tries: int
) -> None:
    standin.reply = lambda hit: reply

    run = runs.drain(probed(started(study, judge_at(standin))))

    assert (run.state, runs.count_calls(run)) == (Run.State.FINISHED, {state: 8})
    assert len(standin.hits) == 8 * n_tries
    assert run.calls.filter(reason="").count() == 0
    page = html.unescape(admin_client.get(reverse("judges:run", args=[study.slug, run.pk])).content.decode())
    assert str(WORDS[state].sentence) in page
    assert reasons.translate(run.calls.first().reason) in page


@NO_USABLE_ANSWER
def test_the_command_says_how_many_have_no_usable_answer_and_most_often_why(
    study: Study, standin: StandIn, reply: Reply, state: str, n_tries: int
) -> None:
    standin.script, standin.reply = [told.YES] * 3, lambda hit: reply
    judge = judge_at(standin, n_at_once=1)
    sendable(study)

    with pytest.raises(CommandError) as error:
        call_command("run_judges", study.slug, "--judge", judge.slug, "--yes", "--wait")

    reason = Run.objects.get().calls.exclude(reason="")[0].reason.rstrip(".")
    assert error.value.returncode == 3
    way_out = "; --retry asks 5 of them once more." if n_tries == 1 else "."
    assert str(error.value) == (
        f"Without an answer: 5. {state.replace('_', ' ')}: 5, most often: {reason}. "
        f"The run’s page shows each call{way_out}"
    )


def test_three_replies_that_cannot_be_read_stop_the_run_and_say_the_way_out(study: Study, standin: StandIn) -> None:
    standin.reply = lambda hit: told.PROSE

    run = runs.drain(started(study, judge_at(standin)))

    assert (run.state, runs.count_calls(run)) == (Run.State.STOPPED, {"planned": 8})
    assert len(standin.hits) == attempts.N_PROBES
    assert len({hit.body["messages"][0]["content"] for hit in standin.hits}) == 3, "of three different stories"
    assert "Replies to 3 of the first calls could not be read" in run.note
    standin.reply = lambda hit: told.YES
    assert runs.drain(runs.resume(run)).state == Run.State.FINISHED


@pytest.mark.parametrize("n_at_once", [1, 3])
def test_one_call_that_cannot_be_read_does_not_stop_a_run_about_one_story(standin: StandIn, n_at_once: int) -> None:
    study = factories.study(n_stories=1, n_items=6, comparative=False)
    run = started(study, judge_at(standin, n_at_once=n_at_once))
    first = run.calls.order_by("pk")[0]
    words = texts.render(first.request)["messages"]
    standin.reply = lambda hit: told.PROSE if hit.body["messages"] == words else told.YES

    run = runs.drain(run)

    assert (run.state, runs.count_calls(run)) == (Run.State.FINISHED, {"ok": 5, "unreadable": 1})
    assert (first.attempts.count(), run.n_probes_failed) == (2, 1)


FLAGGED = Reply(
    '{"error": {"message": "Your input was flagged", "metadata": {"flagged_input": "It ended."}, "code": 403}}',
    status=403,
)


@pytest.mark.parametrize(("reply", "state"), [(FLAGGED, "blocked"), (told.TOO_LONG, "too_large")])
def test_a_story_that_is_flagged_or_too_long_is_that_storys_alone(
    study: Study, standin: StandIn, reply: Reply, state: str
) -> None:
    standin.reply = lambda hit: reply if "The p1s1 began." in str(hit.body) else told.YES

    run = runs.drain(started(study, judge_at(standin)))

    assert (run.state, runs.count_calls(run)) == (Run.State.FINISHED, {"ok": 6, state: 2})
    assert set(run.calls.filter(state=state).values_list("story__code", flat=True)) == {"p1s1"}
    assert not Endpoint.objects.get().needs_attention


def test_texts_that_are_all_too_long_stop_the_run_after_the_probes(study: Study, standin: StandIn) -> None:
    standin.reply = lambda hit: told.TOO_LONG

    run = runs.drain(started(study, judge_at(standin)))

    assert (run.state, runs.count_calls(run)) == (Run.State.STOPPED, {"too_large": 3, "planned": 5})
    assert len(standin.hits) == attempts.N_PROBES
    assert not Endpoint.objects.get().needs_attention


def test_another_models_answer_counts_and_its_call_says_whose_it_is(
    study: Study, standin: StandIn, admin_client: Client
) -> None:
    standin.reply = lambda hit: told.OTHER_MODEL

    run = runs.drain(started(study, judge_at(standin)))

    page = admin_client.get(reverse("judges:call", args=[study.slug, run.pk, run.calls.all()[0].pk]))
    assert (runs.count_calls(run), len(standin.hits)) == ({"ok": 8}, 8)
    assert "standin-mini" in page.content.decode()
