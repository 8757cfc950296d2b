"""A study is launched when nothing stands in the way, closed once, and every reason is said at once."""

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from annotation import balance, claims, design, launching
from annotation.models import Seat
from studies.models import ProtocolVersion, Story, Study
from tests import factories
from tests.factories import NOON

pytestmark = pytest.mark.django_db


def test_a_planned_study_is_launched_and_closed() -> None:
    study = factories.study(state=Study.State.DRAFT)

    launching.launch(study, at=NOON)
    assert (study.state, study.launched_at) == (Study.State.LIVE, NOON)

    launching.close(study, at=NOON + timedelta(days=1))
    assert (study.state, study.closed_at) == (Study.State.CLOSED, NOON + timedelta(days=1))


def test_every_reason_against_launching_is_said_at_once() -> None:
    study = factories.study(state=Study.State.DRAFT, planned=False, n_stories=1)
    Story.objects.create(study=study, code="withheld", is_withheld=True)
    study.closes_at = NOON
    study.save()

    with pytest.raises(launching.NotReady) as caught:
        launching.launch(study, at=NOON)

    assert str(caught.value) == (
        "plums cannot be launched: it is not planned; run `plan plums`, or the action “Plan”; "
        "step ranking asks item-1, which compares stories, but group plot1 has only one; "
        "the text of 1 of its stories is withheld, so nobody could read them; "
        "it was to close in the past; set “closes at” to a later time, or empty it"
    )
    assert Study.objects.get().state == Study.State.DRAFT


@pytest.mark.parametrize(
    "change",
    [
        lambda study: study.stories.filter(code="p1s1").update(text="Other.", sha256="0" * 64),
        lambda study: study.groups.get().stories.remove(study.stories.first()),
        lambda study: study.versions.get().steps.filter(key="consent").update(text="Other."),
        lambda study: Study.objects.update(seats_per_group=4),
    ],
    ids=["a text", "a group", "a step", "the seats"],
)
def test_what_changed_after_planning_is_not_launched(change: object) -> None:
    study = factories.study(state=Study.State.DRAFT)
    change(study)  # type: ignore[operator]
    study.refresh_from_db()

    said = "its steps, stories or groups have changed since it was planned; undo that, or load it anew"
    assert launching.obstacles(study, at=NOON) == [said]


def test_a_study_that_asks_for_no_consent_is_not_launched() -> None:
    study = factories.study(state=Study.State.DRAFT, planned=False)
    study.versions.get().steps.filter(kind="consent").delete()
    said = "it asks nobody for consent; add a step of kind consent, as the first"
    before = launching.obstacles(study, at=NOON)
    design.plan(study, by="tests", at=NOON)

    assert said in before
    assert launching.obstacles(study, at=NOON) == [said]


@pytest.mark.parametrize("state", [Study.State.LIVE, Study.State.CLOSED])
def test_only_a_draft_is_launched(state: str) -> None:
    study = factories.study(state=state)

    with pytest.raises(launching.NotReady):
        launching.launch(study, at=NOON)

    assert Study.objects.get().state == state


def test_of_two_launches_one_counts() -> None:
    study = factories.study(state=Study.State.DRAFT)
    same = Study.objects.get(pk=study.pk)
    launching.launch(study, at=NOON)

    with pytest.raises(launching.NotReady, match="somebody else has just launched it"):
        launching.launch(same, at=NOON + timedelta(hours=1))

    assert Study.objects.get().launched_at == NOON


@pytest.mark.parametrize("state", [Study.State.DRAFT, Study.State.CLOSED])
def test_only_a_live_study_is_closed(state: str) -> None:
    study = factories.study(state=state)

    with pytest.raises(launching.NotReady, match="plums cannot be closed: it is not live"):
        launching.close(study, at=NOON)


def test_the_balance_counts_stories_at_positions_and_seats_taken() -> None:
    study = factories.study(n_groups=2, n_stories=4, k=4)
    claims.claim(factories.rater(study))

    first, second = balance.read(study)

    assert (first.n_seats, second.n_seats, first.n_taken + second.n_taken) == (4, 4, 1)
    assert first.positions == {f"p1s{n}": [1, 1, 1, 1] for n in range(1, 5)}
    assert first.is_even
    assert first.ordinals == ["1st", "2nd", "3rd", "4th"]


def test_a_fixed_order_is_not_called_even() -> None:
    study = factories.study(state=Study.State.DRAFT, planned=False, k=3)
    Study.objects.update(order_policy="fixed")
    study.refresh_from_db()
    design.plan(study, by="tests", at=NOON)

    (group,) = balance.read(study)

    assert group.positions["p1s1"] == [3, 0, 0, 0]
    assert not group.is_even


def test_the_command_plans_and_prints_the_balance() -> None:
    study = factories.study(state=Study.State.DRAFT, planned=False, n_stories=2, k=4)
    said = StringIO()

    call_command("plan", "plums", stdout=said)

    version = study.versions.get()
    assert said.getvalue() == (
        f"plums: 4 seats, protocol version 1 with SHA-256 {version.sha256}\n"
        "\n"
        "plot1: 4 seats, every story in every place equally often, but for one at most\n"
        "         1st   2nd\n"
        "  p1s1     2     2\n"
        "  p1s2     2     2\n"
        "\n"
        "Next: launch it and issue links, on the study's page in the admin.\n"
    )
    assert Seat.objects.count() == 4


def test_the_command_names_the_studies_there_are() -> None:
    factories.study()

    with pytest.raises(CommandError) as caught:
        call_command("plan", "plumbs")

    assert str(caught.value) == "there is no study “plumbs”; there are: plums"


def test_the_command_says_why_a_study_cannot_be_planned() -> None:
    factories.study()

    with pytest.raises(CommandError) as caught:
        call_command("plan", "plums")

    assert str(caught.value) == "plums: its seats are planned already"
    assert ProtocolVersion.objects.count() == 1
