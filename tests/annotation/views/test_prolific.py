"""Coming from Prolific and going back: the door, each code after what makes it true, and the page of the designers."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import Assignment, Consent, ProlificArrival, ProlificRecruitment, Rater, Seat, StepTaken
from annotation.participation import recruitment
from annotation.responses import submission
from annotation.views.rater import doors
from studies.models import Study
from tests import factories
from tests.annotation import arriving
from tests.annotation.participation.test_recruitment import CODES, come, recruit
from tests.annotation.views.test_people_pages import at, client_of

pytestmark = pytest.mark.django_db
PID = "5f" * 12


@pytest.fixture(autouse=True)
def _nobody_has_knocked() -> None:
    cache.clear()


def door(row: ProlificRecruitment, pid: str = PID, **more: str) -> str:
    query = "&".join(f"{name}={value}" for name, value in {"PROLIFIC_PID": pid, "SESSION_ID": "s1", **more}.items())
    return f"{reverse('annotation:prolific', args=[row.key])}?{query}"


def code_on(response: Any) -> list[str]:
    return re.findall(r"submissions/complete\?cc=(\w+)", response.content.decode())


def test_looking_starts_nothing_and_continue_leads_to_the_same_place_on_every_device(client: Client) -> None:
    row = recruit(factories.study())

    page = client.get(door(row))
    assert page.status_code == 200
    assert not Rater.objects.exists(), "looking begins nothing"
    assert "sessionid" not in client.cookies
    client.post(door(row))
    client.post("/consent/", {"agrees": "yes"})
    client.post("/group/")
    other = Client()
    other.post(door(row))

    assignment = Assignment.objects.exclude(seat=None).get()
    assert other.get("/", follow=True).redirect_chain[-1][0].startswith(f"/a/{assignment.code}/")


@pytest.mark.parametrize(
    ("query", "status"),
    [("", 400), ("?PROLIFIC_PID=x", 400), (f"?PROLIFIC_PID={PID}&next=//evil.example", 400)],
)
def test_a_foreign_or_missing_id_gets_a_sentence_and_nothing_else_in_the_address_is_read(
    client: Client, query: str, status: int
) -> None:
    row = recruit(factories.study())

    assert client.post(f"/p/{row.key}/{query}").status_code == status

    assert not ProlificArrival.objects.exists()
    assert client.post("/p/nowhere/?PROLIFIC_PID=x").status_code == 404


def test_of_two_who_agree_when_one_place_is_left_the_second_is_led_to_the_code_of_a_full_study(client: Client) -> None:
    row = recruit(factories.study(n_groups=1, k=1), minutes=60)
    second = Client()
    client.post(door(row))
    second.post(door(row, pid="6f" * 12))

    client.post("/consent/", {"agrees": "yes"})
    turned_away = second.post("/consent/", {"agrees": "yes"}, follow=True)

    assert code_on(turned_away) == [CODES["full_code"]]
    assert Consent.objects.get().rater.invitation.arrival == ProlificArrival.objects.earliest("pk")


def test_the_code_of_completion_stands_on_pages_after_submission_alone(client: Client) -> None:
    row = recruit(factories.study(n_stories=2, comparative=False, n_items=1))
    client.post(door(row))
    client.post("/consent/", {"agrees": "yes"})
    client.post("/group/")
    assignment = Assignment.objects.exclude(seat=None).get()
    before = [client.get(f"/a/{assignment.code}/{page}", follow=True) for page in ("check/", "overview/", "receipt/")]
    submission.submit(assignment, at=timezone.now())

    receipt = client.get(f"/a/{assignment.code}/receipt/")
    done = client.get(door(row)).status_code, client.post(door(row), follow=True)
    Study.objects.update(state=Study.State.CLOSED)
    closed = client.post(door(row), follow=True)

    assert [code_on(page) for page in before] == [[], [], []]
    assert code_on(receipt) == ["CDONE1"]
    assert code_on(done[1]) == ["CDONE1"]
    assert "That was everything." in done[1].text
    assert "close this page" not in done[1].text, "the code is on it"
    assert code_on(closed) == ["CDONE1"]


def test_whoever_does_not_agree_gets_the_code_once_it_is_noted_and_can_begin_no_more(client: Client) -> None:
    row = recruit(factories.study())
    client.post(door(row))
    assert code_on(client.get("/consent/")) == []

    response = client.post("/stop/declined/", follow=True)

    assert code_on(response) == ["CNOPE2"]
    assert ProlificArrival.objects.get().outcome == "declined"
    assert code_on(client.post(door(row))) == ["CNOPE2"]
    assert client.get("/consent/")["Location"] == "/again/"


def test_an_ending_that_is_not_true_gives_no_code(client: Client) -> None:
    row = recruit(factories.study(), minutes=60)
    client.post(door(row))
    client.post("/consent/", {"agrees": "yes"})

    for reason in ("declined", "no_place", "screened", "timed_out"):
        assert code_on(client.post(f"/stop/{reason}/", follow=True)) == [], reason

    assert ProlificArrival.objects.get().outcome == ""
    assert client.post("/stop/completed/").status_code == 404


def test_no_place_is_noted_before_its_code_also_for_whoever_was_in_already(client: Client) -> None:
    row = recruit(factories.study())
    client.post(door(row))
    client.post("/consent/", {"agrees": "yes"})
    Seat.objects.update(is_taken=True)

    done = client.get("/done/")
    ended = client.post("/stop/no_place/", follow=True)
    late = Client().post(door(row, "6a" * 12))

    assert code_on(done) == []
    assert code_on(ended) == code_on(late) == ["CFULL3"]
    assert set(ProlificArrival.objects.values_list("outcome", flat=True)) == {"no_place"}


@pytest.mark.parametrize("state", [Study.State.PAUSED, Study.State.CLOSED])
def test_a_person_without_a_place_finds_the_code_again_while_nobody_is_let_in(client: Client, state: str) -> None:
    study = factories.study(k=1)
    row = recruit(study)
    Seat.objects.update(is_taken=True)
    turned_away = code_on(client.post(door(row)))
    Study.objects.filter(pk=study.pk).update(state=state)

    assert turned_away == ["CFULL3"]
    assert code_on(client.get(door(row))) == turned_away
    assert code_on(client.post(door(row))) == turned_away


@pytest.mark.parametrize(
    ("options", "codes", "ending"),
    [({}, ["CNOPE2"], recruitment.Ending.SCREENED_OUT), ({"on_failure": "continue"}, [], None)],
)
def test_a_failed_check_brings_the_code_of_screening_out_unless_it_only_flags(
    client: Client, options: dict[str, str], codes: list[str], ending: recruitment.Ending | None
) -> None:
    visit = arriving.check(client, options=options)
    study = visit.study
    row = recruit(study)
    other = Client()
    other.post(door(row))
    other.post("/consent/", {"agrees": "yes"})
    other.post("/briefing/welcome/")
    other.get("/once/about/")
    rater = Rater.objects.get(invitation__arrival__isnull=False)
    step = study.versions.get().steps.get(key="about")
    StepTaken.objects.create(rater=rater, step=step, attempt=2, wrong=["item-1"])

    assert code_on(other.get("/done/", follow=True)) == codes
    assert list(recruitment.list_endings(study).values()) == [ending]


def test_pages_warn_when_the_time_is_nearly_over_and_offer_the_code_when_it_is(client: Client) -> None:
    row = recruit(factories.study(), minutes=60)
    client.post(door(row))

    def see(minutes: int) -> str:
        session = client.session
        now = timezone.now()
        times = [now + timedelta(minutes=minutes - 15), now + timedelta(minutes=minutes)]
        session["prolific"] = session["prolific"] | {"times": [time.isoformat() for time in times]}
        session.save()
        return " ".join(client.get("/consent/").content.decode().split())

    early, late, over = see(40), see(10), see(-1)
    assert [page.count("hidden>") for page in (early, late, over)] == [4, 3, 3]
    ProlificArrival.objects.update(session_began_at=timezone.now() - timedelta(minutes=61))
    assert "time is over" in client.get("/time/").content.decode()
    assert code_on(client.post("/stop/timed_out/", follow=True)) == ["CFULL3"]


def test_too_many_from_one_address_are_asked_to_wait(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doors, "MOST_ARRIVALS", 2)
    row = recruit(factories.study())

    statuses = [Client().post(door(row, f"{n:024x}")).status_code for n in range(3)]

    assert statuses == [302, 302, 429]
    assert Client(REMOTE_ADDR="10.0.0.9").post(door(row)).status_code == 302
    assert Rater.objects.count() == 3


def test_nobody_comes_in_before_the_codes_are_there_or_once_it_is_switched_off_but_who_is_in_goes_on() -> None:
    row = recruit(factories.study())
    come(row, 1)
    for fields in ({"full_code": ""}, {"is_open": False}):
        ProlificRecruitment.objects.update(**(CODES | {"is_open": True} | fields))
        assert Client().post(door(row)).status_code == 409
        assert Client().post(door(row, f"{1:024x}")).status_code == 302


def test_a_coordinator_sets_it_up_and_never_sees_an_id() -> None:
    study = factories.study()
    coordinator, researcher, steward = (client_of(study, role) for role in ("coordinator", "researcher", "steward"))
    page = at(study, "prolific")
    seen = re.search(r'name="seen" value="(\w+)"', coordinator.get(page).content.decode())
    assert seen is not None
    form = {"is_open": "on", **CODES, "minutes": "60", "seen": seen[1]}

    twice = coordinator.post(page, form | {"full_code": "CDONE1"})
    assert twice.status_code == 400
    assert "a code of its own" in twice.content.decode()
    assert coordinator.post(page, form).status_code == 302
    row = ProlificRecruitment.objects.get()
    Client().post(door(row))
    content = coordinator.get(page).content.decode()
    people = coordinator.get(at(study, "people")).content.decode()

    assert "PROLIFIC_PID={{%PROLIFIC_PID%}}&amp;STUDY_ID={{%STUDY_ID%}}" in content
    assert "Prolific 1" in people
    for html in (content, people, researcher.get(page).content.decode()):
        assert PID not in html
    assert PID in steward.get(at(study, "addresses")).content.decode()
    assert steward.get(page).status_code == 403


@pytest.mark.parametrize("n", [1, 3])
def test_the_page_takes_a_fixed_number_of_queries(django_assert_num_queries: Callable[..., Any], n: int) -> None:
    study = factories.study(n_groups=2)
    row, client = recruit(study, minutes=60), client_of(study, "coordinator")
    for number in range(n):
        come(row, number)
    client.get(at(study, "prolific"))

    with django_assert_num_queries(11):
        client.get(at(study, "prolific"))


@pytest.mark.parametrize(
    ("address", "heading"),
    [("{door}", "The study cannot be opened from here now"), ("{bare}", "Please open the study from Prolific")],
)
def test_whoever_cannot_come_in_is_told_whether_it_is_the_address_or_the_study(
    client: Client, address: str, heading: str
) -> None:
    row = recruit(factories.study())
    ProlificRecruitment.objects.update(is_open=False)

    page = client.get(address.format(door=door(row), bare=door(row).partition("?")[0])).content.decode()

    assert re.search(rf"<h1[^>]*>[^<]*{heading}", page)
