"""Active time: what is reported, what is granted, what is shown, and what the scripts look at."""

import re
from datetime import timedelta
from pathlib import Path

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.models import Assignment, Timing
from annotation.responses import timing
from annotation.responses.timing import TimeReport
from studies import protocol
from studies.models import Step, Story
from tests import factories
from tests.annotation.walk import address, begin, give
from tests.replay import replayed

ROOT = Path(__file__).parents[3]
SCRIPTS = ROOT / "static" / "quire"
A_MINUTE = timedelta(minutes=1)


@pytest.fixture
@replayed
def mine() -> Assignment:
    """An assignment that was begun an hour ago."""
    made = factories.assignment(factories.study())
    Assignment.objects.update(started_at=timezone.now() - 60 * A_MINUTE)
    made.refresh_from_db()
    return made


def report(client, assignment: Assignment, seconds: object = 30, *, step: str = "tests", letter: str = "A"):
    address = reverse("annotation:timing", args=[assignment.code])
    return client.post(address, {"step": step, "letter": letter, "section": "", "seconds": seconds})


def total() -> int:
    return sum(Timing.objects.values_list("active_seconds", flat=True))


@pytest.mark.django_db
def test_no_more_time_counts_than_has_passed_however_much_is_claimed(mine) -> None:
    step = protocol.load_protocol(mine.version).step("tests")
    story = Story.objects.first()
    begun = mine.started_at

    def claim(seconds: int, at: float) -> int:
        return timing.record_seconds(mine, [TimeReport(step, seconds, story)], at=begun + timedelta(seconds=at))[0]

    granted = [claim(30, 20), claim(30, 20), claim(30, 20.9), claim(30, 21), claim(30, 51.5), claim(10**9, 7200)]

    assert granted == [20, 0, 0, 1, 30, timing.MOST_SECONDS_PER_REPORT]
    assert Timing.objects.get().active_seconds == sum(granted)


@pytest.mark.django_db
def test_time_in_two_windows_at_once_counts_once(mine) -> None:
    step = protocol.load_protocol(mine.version).step("tests")
    other, at = Assignment.objects.get(pk=mine.pk), mine.started_at + A_MINUTE

    granted = [timing.record_seconds(each, [TimeReport(step, 30)], at=at) for each in (mine, other)]

    assert granted == [[30], [0]]


@pytest.mark.django_db
def test_time_counts_again_as_soon_as_the_clock_was_set_back(mine) -> None:
    now = timezone.now()
    Assignment.objects.filter(pk=mine.pk).update(timed_until=now + timedelta(hours=2))
    mine.refresh_from_db()
    step = protocol.load_protocol(mine.version).step("tests")

    counted = [
        timing.record_seconds(mine, [TimeReport(step, 20)], at=now + timedelta(seconds=seconds))[0]
        for seconds in (0, 20, 40)
    ]

    assert counted == [0, 20, 20]


@pytest.mark.django_db
def test_a_report_is_kept_by_step_and_story_and_shown(client) -> None:
    assignment = begin(client, factories.study(n_stories=2))
    Assignment.objects.update(started_at=timezone.now() - 60 * A_MINUTE)
    Timing.objects.create(
        assignment=assignment,
        step=Step.objects.get(key="tests"),
        story=Story.objects.get(code=assignment.seat.order[0]),
        active_seconds=700,
    )

    answer = report(client, assignment, 30)

    assert answer.text == "12\xa0min"
    assert Timing.objects.get().active_seconds == 730
    page = client.get(address(assignment)).text
    assert "You have worked <span data-worked>12\xa0min</span> here." in page


@pytest.mark.django_db
@pytest.mark.parametrize("seconds", ["", "-5", "1.5", "many", "9" * 12])
def test_a_report_of_nonsense_is_refused(client, seconds) -> None:
    assignment = begin(client, factories.study())

    assert report(client, assignment, seconds).status_code == 404
    assert total() == 0


@pytest.mark.django_db
@pytest.mark.parametrize(("step", "letter"), [("none", "A"), ("tests", "Z"), ("consent", "")])
def test_a_place_that_is_not_there_takes_no_time(client, step, letter) -> None:
    assignment = begin(client, factories.study())

    assert report(client, assignment, step=step, letter=letter).status_code == 404
    assert total() == 0


@pytest.mark.django_db
def test_after_submission_and_ahead_of_the_way_no_time_counts(client) -> None:
    assignment = begin(client, factories.study())
    Assignment.objects.update(started_at=timezone.now() - 60 * A_MINUTE)

    assert report(client, assignment, letter="C").status_code == 409
    assert report(client, assignment, step="ranking", letter="").status_code == 409
    Assignment.objects.update(status="submitted")
    assert report(client, assignment).status_code == 409
    assert total() == 0


@pytest.mark.django_db
def test_time_at_a_part_that_locks_does_not_open_it(client) -> None:
    study = factories.study(n_stories=2, planned=False)
    Step.objects.filter(key="ranking").update(locks=True)
    factories.plan(study)
    assignment = begin(client, study)
    for letter in "AB":
        for item in (1, 2):
            give(client, assignment, letter=letter, item=item)

    assert report(client, assignment, step="ranking", letter="").status_code == 409
    assert give(client, assignment, "no", base=1).status_code == 302, "the earlier answers are not locked"


@pytest.mark.parametrize("name", ["harbour", "orchard"])
def test_the_demos_tell_in_the_consent_what_is_noted(name) -> None:
    text = (ROOT / "studies" / "demo" / name / "study.toml").read_text()
    consent = text[text.index('kind = "consent"') : text.index('kind = "briefing"')]

    assert "The time of active reading, which is counted only while the page is in view and in use" in consent
    assert "If you paste a large piece of text into an answer, that it was pasted is noted" in consent
    assert "Your keystrokes are not recorded, and neither are the movements of your mouse." in consent


# What a person does with keys and pointers, as browsers name it.
WATCHED = ("keydown", "keyup", "keypress", "mousemove", "mouseover", "pointermove", "pointerdown", "beforeinput")


def test_the_sign_of_life_sees_nothing_of_what_was_done() -> None:
    script = (SCRIPTS / "stopwatch.js").read_text()

    assert "const live = () => {\n  last = performance.now();\n};" in script, "a listener that takes no event"
    assert re.findall(r"addEventListener\((\S+), (\S+?)[,)]", script) == [
        ("sign", "live"),
        ('"visibilitychange"', "("),
        ('"pagehide"', "reportAndLeave"),
    ]


def test_only_saving_and_timing_send_anything() -> None:
    """What a script learns of keys or pointers it could only record by sending it or keeping it."""
    sends = re.compile(r"\bfetch\(|sendBeacon|XMLHttpRequest|WebSocket|htmx\.ajax|\.submit\(\)")
    keeps = re.compile(r"localStorage\.setItem|indexedDB")

    scripts = {path.relative_to(SCRIPTS).as_posix(): path.read_text() for path in SCRIPTS.rglob("*.js")}

    assert {name for name in scripts if sends.search(scripts[name])} <= {
        "autosave/delivery.js",
        "autosave/departure.js",
        "position.js",  # where one is in a story, to open it there; no report and no page of the staff has it
        "stopwatch.js",
        "designer/steps.js",  # posts a form of the designer: no rater loads it
    }
    assert {name for name in scripts if keeps.search(scripts[name])} == {
        "autosave/acknowledged.js",
        "autosave/drafts.js",
    }
    saving = {name for name in scripts if name.startswith("autosave/")}
    assert saving >= {"autosave/index.js", "autosave/drafts.js", "autosave/forms.js", "autosave/delivery.js"}
    for name in saving:
        assert [watched for watched in WATCHED if f'"{watched}"' in scripts[name]] == []


def test_a_report_says_place_and_seconds_and_nothing_else() -> None:
    script = (SCRIPTS / "stopwatch.js").read_text()

    assert "Object.entries({ step, letter, section, seconds })) report.append(name, String(value));" in script
    assert re.findall(r"\breport\.set\((\S+),", script) == ['"csrfmiddlewaretoken"']
    assert (script.count("new FormData()"), script.count(".append(")) == (1, 1)
