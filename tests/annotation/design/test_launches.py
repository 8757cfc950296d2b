"""A study is launched when nothing stands in the way, closed once, and every reason is said at once."""

import re
from collections.abc import Callable
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from annotation import design
from annotation.design import launches
from annotation.models import Seat
from annotation.responses import verification
from studies import lifecycle, protocol
from studies.models import ProtocolVersion, Step, Story, Study
from studies.protocol import NotPlannable, Purpose
from tests import factories, triggers
from tests.factories import NOON
from tests.threads import at_once

pytestmark = pytest.mark.django_db


def test_a_planned_study_is_launched_and_closed() -> None:
    study = factories.study(state=Study.State.DRAFT)

    launches.launch(study, by="tests", at=NOON)
    assert (study.state, study.launched_at) == (Study.State.LIVE, NOON)

    lifecycle.close(study, at=NOON + timedelta(days=1))
    assert (study.state, study.closed_at) == (Study.State.CLOSED, NOON + timedelta(days=1))


def test_launching_makes_no_object_of_any_story(monkeypatch: pytest.MonkeyPatch) -> None:
    study = factories.study(state=Study.State.DRAFT, planned=False)
    rows = []
    from_db = Story.from_db.__func__  # type: ignore[attr-defined]
    monkeypatch.setattr(Story, "from_db", classmethod(lambda *row: rows.append(row) or from_db(*row)))

    assert list(study.stories.all())
    assert rows, "it would be seen"
    rows.clear()
    launches.launch(study, by="tests", at=NOON)

    assert [seat.order for seat in Seat.objects.all()] != [[]] * 3
    assert rows == []


def test_every_reason_against_launching_is_said_at_once() -> None:
    study = factories.study(state=Study.State.DRAFT, planned=False, n_stories=1)
    Story.objects.create(study=study, code="withheld", is_withheld=True)
    study.closes_at = NOON
    study.save()

    with pytest.raises(lifecycle.NotReady) as caught:
        launches.launch(study, by="tests", at=NOON)

    assert str(caught.value) == (
        "plums cannot be launched: “Put them in order” asks “Item 1”, which compares stories, but group "
        "plot1 has only one; "
        "the text of 1 of its stories is withheld, so nobody could read them; "
        "the deadline is in the past; set a later one, or none"
    )
    assert Study.objects.get().state == Study.State.DRAFT


CHANGES = [
    lambda study: study.stories.filter(code="p1s1").update(text="Other.", sha256="0" * 64),
    lambda study: study.groups.get().stories.remove(study.stories.first()),
    lambda study: study.versions.get().steps.filter(key="consent").update(text="Other."),
    lambda study: Study.objects.update(seats_per_group=4),
]


@pytest.mark.parametrize("change", CHANGES, ids=["a text", "a group", "a step", "the seats"])
def test_what_changed_after_freezing_is_not_launched(change: Callable[[Study], object]) -> None:
    study = factories.study(state=Study.State.DRAFT)
    factories.freeze(study)
    with triggers.lifted():
        change(study)
    study.refresh_from_db()

    sentence = "its steps, stories or groups have changed since its protocol was frozen; undo that, or load it anew"
    assert list(map(str, launches.launch_obstacles(study, at=NOON))) == [sentence]


@pytest.mark.parametrize("change", [CHANGES[1], CHANGES[3]], ids=["a group", "the seats"])
def test_seats_of_another_design_are_not_launched_but_planned_anew(change: Callable[[Study], object]) -> None:
    study = factories.study(state=Study.State.DRAFT)
    change(study)
    study.refresh_from_db()

    sentence = "its groups, stories or design have changed since its places were planned; plan it again"
    assert list(map(str, launches.launch_obstacles(study, at=NOON))) == [sentence]

    design.plan(study)
    assert launches.launch(study, by="tests", at=NOON).state == Study.State.LIVE


@pytest.mark.parametrize("change", [CHANGES[0], CHANGES[2]], ids=["a text", "a step"])
def test_words_can_be_edited_between_planning_and_launching(change: Callable[[Study], object]) -> None:
    study = factories.study(state=Study.State.DRAFT)
    change(study)

    launches.launch(study, by="tests", at=NOON)

    assert verification.verify(study).faults == []


def test_planning_freezes_nothing_and_can_be_repeated_until_launch() -> None:
    study = factories.study(state=Study.State.DRAFT)
    assert study.versions.get().frozen_at is None
    Study.objects.update(seats_per_group=5)

    assert len(design.plan(study)) == 5
    assert Seat.objects.count() == 5
    study.refresh_from_db()
    launches.launch(study, by="tests", at=NOON)
    with pytest.raises(NotPlannable, match="plums: its places stay, since it has been launched"):
        design.plan(study)


def test_launching_plans_what_was_not_planned_and_freezes() -> None:
    study = factories.study(state=Study.State.DRAFT, planned=False, k=3)

    launches.launch(study, by="the designer", at=NOON)

    version = study.versions.get()
    assert (study.seats.count(), version.frozen_by, version.frozen_at) == (3, "the designer", NOON)


def without_consent(study: Study) -> None:
    study.versions.get().steps.filter(kind="consent").delete()


def with_a_text_withheld(study: Study) -> None:
    study.stories.filter(code="p1s1").update(text="", is_withheld=True)


def without_seats(study: Study) -> None:
    Study.objects.update(seats_per_group=0)


@pytest.mark.parametrize(
    ("spoil", "purposes"),
    [
        (without_consent, {Purpose.REHEARSAL, Purpose.PLAN, Purpose.RUN, Purpose.IMPORT}),
        (with_a_text_withheld, {Purpose.REHEARSAL, Purpose.PLAN, Purpose.RUN, Purpose.IMPORT}),
        (without_seats, {Purpose.REHEARSAL, Purpose.RUN, Purpose.IMPORT}),
    ],
)
def test_a_study_that_cannot_be_launched_is_not_stuck(spoil: Callable[[Study], None], purposes: set[Purpose]) -> None:
    study = factories.study(state=Study.State.DRAFT, planned=False)
    spoil(study)
    study.refresh_from_db()

    with pytest.raises(lifecycle.NotReady):
        launches.launch(study, by="tests", at=NOON)

    study.refresh_from_db()
    assert (study.state, study.seats.count(), study.versions.get().frozen_at) == (Study.State.DRAFT, 0, None)
    (finding,) = launches.launch_obstacles(study, at=NOON)
    assert {purpose for purpose in Purpose if not finding.hinders(purpose)} == purposes


def test_a_protocol_that_a_run_has_frozen_is_launched_as_it_is() -> None:
    study = factories.study(state=Study.State.DRAFT, planned=False)
    frozen = factories.freeze(study)

    launches.launch(study, by="tests", at=NOON + timedelta(days=1))

    assert study.versions.get().frozen_at == frozen.frozen_at


def test_a_warning_hinders_nothing() -> None:
    study = factories.study(state=Study.State.DRAFT)
    Study.objects.update(contact="")
    study.refresh_from_db()

    findings = launches.findings(study, at=NOON)

    assert {finding.level for finding in findings} == {"warning"}
    assert "contact" in [finding.location for finding in findings]
    assert launches.launch_obstacles(study, at=NOON) == []


def test_a_study_that_asks_for_no_consent_is_not_launched() -> None:
    study = factories.study(state=Study.State.DRAFT, planned=False)
    study.versions.get().steps.filter(kind="consent").delete()
    said = "it does not ask for consent; add a consent step as the first step"
    before = launches.launch_obstacles(study, at=NOON)
    design.plan(study)

    assert list(map(str, before)) == [said]
    assert launches.launch_obstacles(study, at=NOON) == before


@pytest.mark.parametrize("state", [Study.State.LIVE, Study.State.CLOSED])
def test_only_a_draft_is_launched(state: str) -> None:
    study = factories.study(state=state)

    with pytest.raises(lifecycle.NotReady):
        launches.launch(study, by="tests", at=NOON)

    assert Study.objects.get().state == state


def test_of_two_launches_one_counts() -> None:
    study = factories.study(state=Study.State.DRAFT)
    same = Study.objects.get(pk=study.pk)
    launches.launch(study, by="tests", at=NOON)

    with pytest.raises(lifecycle.NotReady, match="somebody else has just launched it"):
        launches.launch(same, by="tests", at=NOON + timedelta(hours=1))

    assert Study.objects.get().launched_at == NOON


def test_of_four_launches_at_the_same_moment_one_counts(committed: None) -> None:
    study = factories.study(state=Study.State.DRAFT, planned=False)
    copies = [Study.objects.get(pk=study.pk) for _ in range(4)]

    outcomes = at_once(*(lambda copy=copy: launches.launch(copy, by="tests", at=NOON) for copy in copies))

    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["NotReady"] * 3 + ["Study"]
    assert Study.objects.get().is_live
    assert study.seats.count() == 3, "planned once"
    assert study.versions.exclude(frozen_at=None).count() == 1


@pytest.mark.parametrize("state", [Study.State.DRAFT, Study.State.CLOSED])
def test_a_draft_that_nothing_has_frozen_and_a_closed_study_are_not_closed(state: str) -> None:
    study = factories.study(state=state, planned=False)

    with pytest.raises(lifecycle.NotReady, match="plums cannot be closed: it is not live"):
        lifecycle.close(study, at=NOON)


def test_a_draft_that_judges_have_read_is_closed_without_raters_and_not_launched_any_more() -> None:
    study = factories.study(state=Study.State.DRAFT, planned=False)
    study.versions.get().steps.filter(kind=Step.Kind.CONSENT).delete()
    factories.freeze(study, purpose=Purpose.RUN)

    lifecycle.close(study, at=NOON)

    assert (study.state, study.closed_at, study.launched_at) == (Study.State.CLOSED, NOON, None)
    assert not lifecycle.is_sealed(study)
    with pytest.raises(lifecycle.NotReady, match="it is closed"):
        launches.launch(study, by="tests", at=NOON)


def test_a_study_is_paused_and_goes_on() -> None:
    study = factories.study()

    assert lifecycle.pause(study).state == Study.State.PAUSED
    assert lifecycle.resume(study).state == Study.State.LIVE


@pytest.mark.parametrize("state", [Study.State.DRAFT, Study.State.PAUSED, Study.State.CLOSED])
def test_only_a_live_study_is_paused(state: str) -> None:
    with pytest.raises(lifecycle.NotReady, match="plums cannot be paused: it is not live"):
        lifecycle.pause(factories.study(state=state))


@pytest.mark.parametrize("state", [Study.State.DRAFT, Study.State.LIVE, Study.State.CLOSED])
def test_only_a_paused_study_is_resumed(state: str) -> None:
    with pytest.raises(lifecycle.NotReady, match="plums cannot be resumed: it is not paused"):
        lifecycle.resume(factories.study(state=state))


def test_a_paused_study_can_be_closed() -> None:
    study = lifecycle.pause(factories.study())

    assert lifecycle.close(study, at=NOON).state == Study.State.CLOSED


def test_the_command_names_the_studies_there_are() -> None:
    factories.study()

    with pytest.raises(CommandError) as caught:
        call_command("plan", "plumbs")

    assert re.search("“plumbs”.*: plums$", str(caught.value))


def test_the_command_says_what_is_in_the_way_of_launching() -> None:
    study = factories.study(state=Study.State.DRAFT, planned=False)
    without_consent(study)
    Study.objects.update(contact="")
    said = StringIO()

    call_command("plan", "plums", stdout=said)

    assert said.getvalue().endswith(
        "\n\nerror: it does not ask for consent; add a consent step as the first step\n"
        "warning: raters have no contact address for questions; say who they can write to\n"
        "warning: raters are not told how long a group takes; say the minutes\n"
        "warning: raters are not told what they are paid; say so even if nothing is paid\n"
        "warning: raters are not told the deadline; set a deadline\n"
    )
    with pytest.raises(CommandError, match="plums cannot be launched: it does not ask for consent"):
        call_command("launch", "plums")


def test_the_command_launches() -> None:
    study = factories.study(state=Study.State.DRAFT, planned=False)
    said = StringIO()

    call_command("launch", "plums", stdout=said)

    version = study.versions.get()
    assert said.getvalue() == (
        f"plums is live: protocol version 1 with SHA-256 {version.sha256}\n"
        "Next: links for its raters, on the study's page in the admin.\n"
    )
    assert Study.objects.get().state == Study.State.LIVE


def test_the_command_says_why_a_study_cannot_be_planned() -> None:
    factories.study()

    with pytest.raises(CommandError) as caught:
        call_command("plan", "plums")

    assert str(caught.value) == "plums: its places stay, since it has been launched"
    assert ProtocolVersion.objects.count() == 1


def test_after_a_refused_launch_the_study_in_hand_is_a_draft_again(monkeypatch: pytest.MonkeyPatch) -> None:
    study = factories.study(state=Study.State.DRAFT, planned=False)

    def change_meanwhile(*args: object, **options: object) -> None:
        raise protocol.NotPlannable("a text has changed")

    monkeypatch.setattr(protocol, "ensure_frozen", change_meanwhile)
    with pytest.raises(lifecycle.NotReady, match="a text has changed"):
        launches.launch(study, by="tests", at=NOON)

    assert (study.state, study.launched_at) == (Study.State.DRAFT, None)
