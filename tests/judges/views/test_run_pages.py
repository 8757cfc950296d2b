"""The pages of runs and calls: what would be asked, how far a run is, and each call to read."""

import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from judges import catalogue, lifecycle, parsing, runs
from judges.models import Attempt, Call, Judge, Parse, Price, Run
from judges.runs import retries
from judges.settlement import erasure
from judges.views import states
from judges.views.progress import load_progress
from judges.views.runs import ACTIONS
from studies.models import Source, Study
from tests import factories
from tests.judges.views.pages import act, page, words

pytestmark = pytest.mark.django_db

START = datetime(2026, 3, 1, 22, 0, tzinfo=UTC)


@pytest.fixture
def study() -> Study:
    return factories.study(n_stories=2, n_items=1)


@pytest.fixture
def judge() -> Judge:
    return catalogue.make_stub_judge()


@pytest.fixture
def run(study: Study, judge: Judge) -> Run:
    return runs.start(study, judge, by="ann")


# ── a run at work ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_run_under_way_is_asked_for_again_and_a_finished_one_is_not(client: Client, run: Run) -> None:
    address = f"/studies/plums/runs/{run.pk}/"
    assert 'hx-trigger="every 2s"' in page(client, "coordinator", address)
    assert "0 of 5 calls are done" in words(page(client, "coordinator", address))

    runs.drain(run)

    html = page(client, "coordinator", address)
    assert "Finished: 5 of 5 questions have an answer" in words(html)
    assert "hx-trigger" not in html


def test_the_run_of_a_metric_measures_stories_and_speaks_of_no_calls_that_are_sent(
    client: Client, study: Study
) -> None:
    run = runs.start(study, catalogue.make_metric_judge("length"), by="ann")
    address = f"/studies/plums/runs/{run.pk}/"
    begun = words(page(client, "coordinator", address))
    assert "0 of 2 stories are measured" in begun
    assert "2 not yet measured" in begun
    assert not re.search("calls are done|calls in the last minute|not yet sent", begun)

    runs.measure(run, seconds=60)

    assert "2 of 2 stories are measured" in words(page(client, "coordinator", address))


def test_no_line_ends_between_a_sign_of_dollars_and_its_number(client: Client, study: Study) -> None:
    judge = catalogue.make_stub_judge()
    sums = {"valid_from": timezone.localdate(), "usd_per_million_in": 3, "usd_per_million_out": 15}
    Price.objects.create(adapter=judge.required_endpoint.adapter, model=judge.model, **sums)
    Judge.objects.filter(pk=judge.pk).update(parameters={"max_tokens": 200})
    judge.refresh_from_db()
    run = runs.plan(study, judge, by="ann", budget=Decimal(5))
    address = f"/studies/plums/runs/{run.pk}/"
    pages = [page(client, "researcher", address)]
    runs.drain(runs.approve(run, by="ann"))
    pages.append(page(client, "researcher", address))

    for html in pages:
        assert "at most $\N{NO-BREAK SPACE}" in html
        assert not re.search(r"(about|most) \$ ", html)


def test_htmx_gets_the_fragment_of_the_same_page(client: Client, run: Run) -> None:
    whole = page(client, "coordinator", f"/studies/plums/runs/{run.pk}/")
    part = page(client, "coordinator", f"/studies/plums/runs/{run.pk}/", **{"HX-Request": "true"})

    assert part.strip().startswith('<div id="live"')
    assert words(part) in words(whole)
    assert "<html" not in part


def test_a_run_shows_its_latest_calls_and_leads_to_each(client: Client, run: Run) -> None:
    address = f"/studies/plums/runs/{run.pk}/"
    assert "Latest calls" not in page(client, "coordinator", address)
    for minute, call in enumerate(run.calls.order_by("pk")):
        Call.objects.filter(pk=call.pk).update(answered_at=START + minute * timedelta(minutes=1), state="ok")
    latest = run.calls.order_by("-answered_at").first()
    Call.objects.filter(pk=run.calls.order_by("answered_at").values("pk")[:1]).update(answered_at=None, state="planned")

    html = page(client, "coordinator", address)

    assert re.findall(r"calls/(\d+)/", html) == [str(pk) for pk in range(latest.pk, latest.pk - 4, -1)]


def test_calls_and_tries_of_one_minute_are_told_apart(client: Client, run: Run) -> None:
    runs.drain(run)
    call = run.calls.filter(item__type="binary").first()
    assert call is not None
    for second, key in enumerate(run.calls.order_by("pk").values_list("pk", flat=True)):
        Call.objects.filter(pk=key).update(answered_at=START + second * timedelta(seconds=1))
    Attempt.objects.filter(call=call).update(sent_at=START + timedelta(seconds=41))
    about = f"/studies/plums/runs/{run.pk}/"
    times = [f"{START + n * timedelta(seconds=1):%H:%M:%S} UTC" for n in range(run.calls.count())]

    calls, live = page(client, "coordinator", f"{about}calls/"), page(client, "coordinator", about)
    one = page(client, "coordinator", f"{about}calls/{call.pk}/")

    assert [time for time in times if time not in calls] == []
    assert [time for time in times[::-1][:5] if time not in live] == []
    assert f"{START + timedelta(seconds=41):%H:%M:%S} UTC" in one


def test_failures_are_counted_by_kind_with_a_sentence_and_the_most_frequent_reason(client: Client, run: Run) -> None:
    keys = list(run.calls.order_by("pk").values_list("pk", flat=True))
    run.calls.filter(pk__in=keys[:2]).update(state="unreadable", reason="no verdict")
    run.calls.filter(pk=keys[2]).update(state="unreadable", reason="two verdicts")
    run.calls.filter(pk=keys[3]).update(state="refused", reason="")

    progress = load_progress(run, at=timezone.now())

    assert [(row.state, row.n, row.reason) for row in progress.failures] == [
        ("unreadable", 3, "no verdict"),
        ("refused", 1, ""),
    ]
    assert [(part.kind, part.n, part.x, part.width) for part in progress.segments] == [
        ("lost", 4, 0, 80),
        ("open", 1, 80, 20),
    ]
    html = page(client, "coordinator", f"/studies/plums/runs/{run.pk}/")
    assert "It has no answer, and is never a No." in html


def test_every_state_of_a_call_has_words_and_a_place_in_the_bar() -> None:
    assert set(states.WORDS) == set(Call.State)
    assert {*states.ANSWERED, *states.WITHOUT, *states.ON_THE_WAY, *states.OPEN, *states.UNDRAWN} == set(Call.State)


def test_a_resting_endpoint_says_until_when_and_why(client: Client, run: Run) -> None:
    endpoint = run.judge.required_endpoint
    endpoint.__class__.objects.update(
        resting_until=timezone.now() + timezone.timedelta(minutes=2), resting_reason="HTTP 429: slow down"
    )

    html = page(client, "coordinator", f"/studies/plums/runs/{run.pk}/")

    assert "Resting" in html
    assert "HTTP 429: slow down" in html


def test_the_list_of_runs_says_which_wait_and_which_rest(client: Client, run: Run) -> None:
    run.judge.required_endpoint.__class__.objects.update(resting_until=timezone.now() + timezone.timedelta(minutes=2))
    assert "Resting" in words(page(client, "coordinator", "/studies/plums/runs/"))

    run.judge.required_endpoint.__class__.objects.update(needs_attention="The key was refused.")

    assert "Waiting for a person" in words(page(client, "coordinator", "/studies/plums/runs/"))


def test_what_waits_for_a_person_is_said(client: Client, run: Run) -> None:
    run.judge.required_endpoint.__class__.objects.update(needs_attention="The key was refused. Set a new one.")

    html = page(client, "researcher", f"/studies/plums/runs/{run.pk}/")
    assert "Waiting for a person" in html
    assert "The key was refused. Set a new one." in html
    assert "Resume the run" in html
    assert "Pause" in html

    act(client, run, "resume")

    run.judge.required_endpoint.refresh_from_db()
    assert run.judge.required_endpoint.needs_attention == ""


def test_why_a_run_halts_is_said_in_the_readers_language(
    client: Client, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    lifecycle.stop(run, lifecycle.PROBES_FAILED, n=3, reason="HTTP 402: no credit")
    translations = {lifecycle.PROBES_FAILED: "As primeiras %(n)s chamadas não tiveram resposta: %(reason)s"}
    monkeypatch.setattr("judges.models.notes.gettext", lambda sentence: translations[sentence])

    html = page(client, "researcher", f"/studies/plums/runs/{run.pk}/")

    assert "As primeiras 3 chamadas não tiveram resposta: HTTP 402: no credit" in words(html)


def test_a_run_is_paused_and_goes_on(client: Client, run: Run) -> None:
    html = act(client, run, "pause")
    run.refresh_from_db()
    assert (run.state, run.note) == ("paused", "paused by researcher")
    assert "Resume the run" in html
    assert "hx-trigger" not in html
    act(client, run, "resume")
    run.refresh_from_db()
    assert run.state == "running"


def test_what_does_not_fit_is_said_and_changes_nothing(client: Client, run: Run) -> None:
    runs.drain(run)

    for action, sentence in {
        "approve": "has been approved already",
        "discard": lifecycle.APPROVED.removeprefix("%(run)s "),
        "pause": "is not active",
        "resume": "is finished",
        "retry": retries.NO_CALLS.removeprefix("%(run)s "),
    }.items():
        assert sentence in words(act(client, run, action)), action
    run.refresh_from_db()
    assert run.state == "finished"
    client.force_login(User.objects.get(username="researcher"))
    assert client.post(f"/studies/plums/runs/{run.pk}/dance/").status_code == 400
    assert client.get(f"/studies/plums/runs/{run.pk}/pause/").status_code == 405


def test_calls_without_an_answer_are_asked_once_more_by_a_button(client: Client, run: Run) -> None:
    runs.drain(run)
    call = run.calls.order_by("pk").first()
    assert call is not None
    Call.objects.filter(pk=call.pk).update(state="truncated")
    assert "Ask 1 call once more" in words(page(client, "researcher", f"/studies/plums/runs/{run.pk}/"))

    assert "1 call is asked once more." in act(client, run, "retry")

    assert runs.drain(run).state == "finished"
    assert runs.count_calls(run) == {"ok": 5}


def test_replies_are_read_again_by_a_button_and_the_history_stands_with_the_call(client: Client, run: Run) -> None:
    runs.drain(run)
    call = run.calls.filter(item__type="binary").first()
    assert call is not None
    Parse.objects.filter(attempt__call=call).update(version="1", values={}, state="unreadable", reason="no verdict")
    Call.objects.filter(pk=call.pk).update(state="unreadable")

    html = act(client, run, "read-again")

    assert "5 replies were read again; 1 are read differently now." in words(html)
    read = words(page(client, "researcher", f"/studies/plums/runs/{run.pk}/calls/{call.pk}/"))
    assert "reply 1, parser 1 Cannot be read no verdict" in read
    assert f"reply 1, parser {parsing.VERSION} Answered:" in read


def test_a_limit_is_changed_and_nonsense_is_refused(client: Client, run: Run) -> None:
    act(client, run, "pause")

    assert "Enter a number." in act(client, run, "budget", budget="much")
    assert "greater than or equal to 0" in act(client, run, "budget", budget="-1")
    act(client, run, "budget", budget="2.50")

    run.refresh_from_db()
    assert (run.state, run.budget) == ("paused", Decimal("2.50"))


def test_a_run_is_closed_with_what_it_has(client: Client, run: Run) -> None:
    act(client, run, "pause")

    assert "Finished: 0 of 5 questions have an answer" in words(act(client, run, "close"))


def test_a_coordinator_sees_runs_and_changes_none(client: Client, run: Run) -> None:
    html = page(client, "coordinator", f"/studies/plums/runs/{run.pk}/")

    assert "Pause" not in words(html)
    for action in ACTIONS:
        assert client.post(f"/studies/plums/runs/{run.pk}/{action}/").status_code == 403, action


def test_a_run_of_another_study_is_not_there(client: Client, run: Run) -> None:
    Study.objects.create(slug="pears", title="Pears")
    call = run.calls.first()
    assert call is not None

    page(client, "researcher", f"/studies/pears/runs/{run.pk}/", status=404)
    page(client, "researcher", f"/studies/pears/runs/{run.pk}/calls/", status=404)
    page(client, "researcher", f"/studies/pears/runs/{run.pk}/calls/{call.pk}/", status=404)


# ── calls ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_calls_are_listed_by_state(client: Client, run: Run) -> None:
    call = run.calls.order_by("pk").first()
    assert call is not None
    Call.objects.filter(pk=call.pk).update(state="refused")

    everything = page(client, "coordinator", f"/studies/plums/runs/{run.pk}/calls/")
    refused = page(client, "coordinator", f"/studies/plums/runs/{run.pk}/calls/?state=refused")

    assert everything.count(f"/runs/{run.pk}/calls/") >= 5
    assert re.findall(r"/calls/(\d+)/", refused) == [str(call.pk)]
    assert "refused (1)" in words(everything)
    page(client, "coordinator", f"/studies/plums/runs/{run.pk}/calls/?state=nonsense", status=404)


def test_a_call_shows_what_was_sent_came_back_and_was_read(client: Client, run: Run) -> None:
    runs.drain(run)
    call = run.calls.filter(item__type="binary").first()
    assert call is not None
    body = '{"stub": true, "reply": "It holds together.\\n\\n<b>Yes</b>"}'
    Attempt.objects.filter(call=call).update(body=body)

    html = page(client, "researcher", f"/studies/plums/runs/{run.pk}/calls/{call.pk}/")

    assert "Is it good in way 1?" in html
    assert "It holds together.\n\n&lt;b&gt;Yes&lt;/b&gt;" in html
    assert "Read as" in html
    assert "answered." in words(html).lower()


def test_a_call_whose_text_was_erased_says_so_and_of_nothing_that_it_never_was(client: Client, run: Run) -> None:
    runs.drain(run)
    call = run.calls.filter(item__type="binary").first()
    assert call is not None
    assert call.story_id
    erasure.empty_calls([call.story_id])

    said = words(page(client, "coordinator", f"/studies/plums/runs/{run.pk}/calls/{call.pk}/"))

    assert "The text was erased, since its writer withdrew." in said
    assert "What was sent has been erased." in said
    assert "the measure is computed here" not in said


def test_a_designer_sees_what_was_sent_and_no_answer(client: Client, run: Run) -> None:
    runs.drain(run)
    call = run.calls.filter(item__type="binary").first()
    assert call is not None
    Attempt.objects.filter(call=call).update(body="The goldfinch sang.", reason="The goldfinch sang.")
    Call.objects.filter(pk=call.pk).update(reason="The goldfinch sang.")
    address = f"/studies/plums/runs/{run.pk}/calls/{call.pk}/"

    assert "The goldfinch sang." in page(client, "researcher", address)
    html = page(client, "designer", address)
    assert "goldfinch" not in html
    assert "Read as" not in html
    assert "Is it good in way 1?" in html


@pytest.mark.parametrize("role", ["coordinator", "researcher"])
def test_no_page_of_judges_tells_a_source(client: Client, run: Run, role: str) -> None:
    runs.drain(run)
    assert Source.objects.filter(name="Source 1").exists()
    call = run.calls.first()
    assert call is not None
    inside = ["runs/", f"runs/{run.pk}/", f"runs/{run.pk}/calls/", f"runs/{run.pk}/calls/{call.pk}/", "judges/"]

    for address in [*inside, "prompts/", f"prompts/{run.judge.prompt_id}/"]:
        html = page(client, role, f"/studies/plums/{address}")
        assert "Source 1" not in html, address
        assert "Title of" not in html, address


# ── what it costs ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("n_rows", [1, 3])
@pytest.mark.parametrize(
    ("address", "n_queries"),
    [("runs/", 11), ("runs/{}/", 22), ("runs/{}/calls/", 9), ("judges/", 7), ("prompts/", 9)],
)
def test_a_list_costs_the_same_for_one_row_as_for_three(
    client: Client, study: Study, n_rows: int, address: str, n_queries: int, django_assert_num_queries: object
) -> None:
    made = [runs.start(study, catalogue.make_stub_judge(f"stub-{n}"), by="ann") for n in range(n_rows)]
    Call.objects.filter(run=made[0]).exclude(pk__in=made[0].calls.values("pk")[:n_rows]).delete()
    Call.objects.update(answered_at=START)
    catalogue.ensure_built_in()
    client.force_login(factories.staff("researcher"))

    with django_assert_num_queries(n_queries):  # type: ignore[operator]
        client.get(f"/studies/plums/{address.format(made[0].pk)}")
