"""Going to a step of a rehearsal: what comes before is answered and says so, what was left behind begins anew."""

import pytest
from django.contrib.auth.models import User

from annotation import progress, walkthrough
from annotation.design import rehearsals
from annotation.models import Assignment, Rater, Response
from annotation.progress.rater_progress import load_rater_progress
from annotation.simulation import LABEL
from studies import protocol
from studies.models import Step, Study
from tests import factories
from tests.factories import NOON
from tests.replay import replayed

pytestmark = pytest.mark.django_db


@pytest.fixture
@replayed
def rehearsal() -> Study:
    """Of a study with a text, a check, a question, two groups to read and compare, a last question, a farewell."""
    study = factories.study(n_groups=2, planned=False, state=Study.State.DRAFT, recognition=True)
    version = protocol.draft(study)
    Step.objects.filter(version=version, key="ranking").update(locks=True)
    for step in version.steps.exclude(key="consent").order_by("-position"):
        Step.objects.filter(pk=step.pk).update(position=step.position + 3)
    none = {"rationale": "none", "rationale_least": 0, "n_items": 1}
    check = factories.instrument("check", settings={"correct": "yes"}, **none)
    once = {"kind": "rating", "scope": "once", "version": version}
    Step.objects.create(version=version, position=2, key="welcome", kind="briefing", text="Read slowly.")
    Step.objects.create(position=3, key="check", instrument=check, **once)
    Step.objects.create(position=4, key="about", instrument=factories.instrument("about", type="text", **none), **once)
    Step.objects.create(position=20, key="tired", instrument=factories.instrument("tired", **none), **once)
    Step.objects.create(version=version, position=21, key="farewell", kind="briefing", text="That was all.")
    designer = User.objects.create_superuser("designer")
    return rehearsals.renew(study, by=designer, sees_sources=True, at=NOON)


def step_of(rehearsal: Study, key: str) -> Step | None:
    return protocol.load_protocol(protocol.current(rehearsal)).step(key)


def stand(rater: Rater) -> tuple[str, str]:
    """The page at which the rater is, and the step in its address."""
    page = progress.next_page(load_rater_progress(rater))
    return page.name, page.args[0] if page.args and page.name != "assignment" else ""


WAY = {
    "consent": ("consent", ""),
    "welcome": ("briefing", "welcome"),
    "check": ("once", "check"),
    "about": ("once", "about"),
    "tests": ("assignment", ""),
    "ranking": ("assignment", ""),
    "guess": ("assignment", ""),
    "farewell": ("done", ""),
    "": ("done", ""),
}


@pytest.mark.parametrize("key", WAY)
def test_every_step_can_be_gone_to_from_the_beginning(rehearsal: Study, key: str) -> None:
    rater = walkthrough.go_to(rehearsal, step_of(rehearsal, key), at=NOON)

    assert stand(rater) == WAY[key]
    assert set(Response.objects.exclude(rationale="").values_list("rationale", flat=True)) == {
        reason for reason in Response.objects.values_list("rationale", flat=True) if LABEL in reason
    }


def test_the_last_question_is_met_although_groups_are_left(rehearsal: Study) -> None:
    step = step_of(rehearsal, "tired")
    assert step is not None

    rater = walkthrough.go_to(rehearsal, step, at=NOON)

    rater_progress = load_rater_progress(rater)
    assert (rater_progress.n_submitted, rater_progress.n_left) == (1, 1)
    assert progress.may_end_with(rater_progress, step)


def test_on_the_way_to_a_part_those_before_it_are_answered_and_locked(rehearsal: Study) -> None:
    walkthrough.go_to(rehearsal, step_of(rehearsal, "guess"), at=NOON)

    assignment = Assignment.objects.exclude(seat=None).get()
    answered = set(assignment.responses.values_list("step__key", flat=True))
    ranking = step_of(rehearsal, "ranking")
    assert (answered, assignment.locked_before) == ({"tests"}, 0), "ranking and guess share a page"
    assert ranking is not None


def test_what_the_designer_said_stays_on_the_way_on(rehearsal: Study) -> None:
    rater = walkthrough.go_to(rehearsal, step_of(rehearsal, "tests"), at=NOON)
    factories.answer(Assignment.objects.exclude(seat=None).get(), why="I say so.")

    assert walkthrough.go_to(rehearsal, None, at=NOON) == rater

    assert Response.objects.filter(rationale="I say so.").exists()


@pytest.mark.parametrize("key", ["consent", "welcome", "check", "about", "tests", "ranking", "tired"])
def test_whoever_is_beyond_a_step_begins_anew_and_gets_there(rehearsal: Study, key: str) -> None:
    before = walkthrough.go_to(rehearsal, None, at=NOON)

    rater = walkthrough.go_to(rehearsal, step_of(rehearsal, key), at=NOON)

    assert rater.pk != before.pk
    if key in WAY:
        assert stand(rater) == WAY[key]
    assert Rater.objects.count() == 1


def test_simulated_raters_leave_the_designer_a_seat_and_say_what_they_are(rehearsal: Study) -> None:
    raters = walkthrough.fill(rehearsal, at=NOON)

    assert not rehearsal.seats.filter(is_taken=False).exists()
    assert all(rater.is_simulated for rater in Rater.objects.all())
    assert Assignment.objects.get(status="open").rater.code == rehearsals.CODE
    assert all(a.ended_at and a.ended_at <= NOON for rater in raters for a in rater.assignments.exclude(seat=None))
    assert walkthrough.fill(rehearsal, at=NOON) == []


def test_a_difference_is_planted_between_the_sources_and_none_without_them(rehearsal: Study) -> None:
    qualities = {code[-1]: tendency.quality for code, tendency in walkthrough.draw_tendencies(rehearsal).items()}

    assert qualities == pytest.approx({"1": 1.2, "2": 0.4, "3": -0.4, "4": -1.2})
    blind = rehearsals.renew(Study.objects.get(), by=User.objects.get(), sees_sources=False, at=NOON)
    assert {tendency.quality for tendency in walkthrough.draw_tendencies(blind).values()} == {0}
