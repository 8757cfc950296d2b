"""Amendments of a launched study: what changes, for whom, and what is refused."""

from datetime import timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, transaction

from annotation.design import amendments, launches
from annotation.design.amendments import HoldsFor, Wish
from annotation.models import Assignment, LaterVersion, Response, Seat
from annotation.participation import claims, consents, versions
from annotation.responses import verification
from studies import protocol
from studies.documents.analysis_plan import AnalysisPlan
from studies.models import Amendment, ProtocolVersion, Study
from studies.protocol.amendments import AmendableState, state_of
from studies.protocol.preregistration import write_preregistration
from tests import factories, triggers
from tests.factories import NOON

pytestmark = [pytest.mark.django_db, pytest.mark.services]

LATER = NOON + timedelta(days=3)


def live_study(**fields: Any) -> Study:
    """A launched study that pays € 45 and says so in its consent."""
    study = factories.study(state=Study.State.DRAFT, planned=False, n_stories=4, n_groups=2, k=2)
    said = {"pay": "€ 45 for each group", "closes_at": NOON + timedelta(days=30)} | fields
    Study.objects.filter(pk=study.pk).update(**said)
    study.refresh_from_db()
    study.versions.get().steps.filter(key="consent").update(text="You are paid {pay}. You can stop at any time.")
    return launches.launch(study, by="tests", at=NOON)


def state_with(study: Study, *, consent: str = "", **values: Any) -> AmendableState:
    """What stands now, with these fields and this consent text in place of theirs."""
    state, _protocol = state_of(study)
    words = {key: dict(of_step) for key, of_step in state.words.items()}
    if consent:
        words["consent"]["text"] = consent
    return AmendableState(state.values | values, words)


def amend(study: Study, *, holds_for: str = HoldsFor.NEWCOMERS, no_less: bool = False, **more: Any) -> Amendment:
    wish = Wish(state_with(study, **more), "Two raters asked.", holds_for, pay_is_no_less=no_less)
    return amendments.amend(study, wish, by="lead", at=LATER)


def at_work(study: Study) -> Assignment:
    """Somebody who agreed to what stands now and has begun."""
    rater = factories.rater(study)
    step = protocol.load_protocol(versions.find_version(rater)).consent
    assert step is not None
    consents.record_consent(rater, step)
    return claims.claim(rater)


def consent_text(assignment: Assignment) -> str:
    step = protocol.load_protocol(assignment.version).consent
    assert step is not None
    return step.text


def refused_at(error: "pytest.ExceptionInfo[amendments.NotAmended]") -> list[str]:
    return [finding.location for finding in error.value.findings]


def test_a_wording_for_those_who_begin_from_now_on_leaves_those_at_work_what_they_agreed_to() -> None:
    study = live_study()
    early = at_work(study)
    answer = factories.answer(early)

    amendment = amend(study, consent="You are paid {pay}, within ten days.")

    late = at_work(study)
    early.refresh_from_db()
    assert consent_text(early) == "You are paid € 45 for each group. You can stop at any time."
    assert consent_text(late) == "You are paid € 45 for each group, within ten days."
    assert (early.version.number, late.version.number, amendment.number) == (1, 2, 1)
    assert amendment.changes == [
        {
            "place": "step consent text",
            "before": "You are paid € 45 for each group. You can stop at any time.",
            "after": "You are paid € 45 for each group, within ten days.",
        }
    ]
    # Both answer the same question, whatever stood above it.
    assert factories.answer(late).step_id == answer.step_id
    claims.give_up(early, at=LATER)
    assert claims.claim(early.rater).version.number == 1, "who has begun goes on as they began"
    assert verification.verify(study).faults == []


def test_an_amendment_for_everybody_reaches_those_at_work_and_notes_since_when() -> None:
    study = live_study()
    early = at_work(study)

    amendment = amend(study, holds_for=HoldsFor.EVERYBODY, consent="You are paid {pay}, within ten days.")

    early.refresh_from_db()
    assert early.version == amendment.version
    assert LaterVersion.objects.values_list("assignment", "before__number", "version__number", "at").get() == (
        early.pk,
        1,
        2,
        LATER,
    )
    assert not consents.has_consented(early.rater, protocol.load_protocol(early.version).consent)
    assert verification.verify(study).faults == []


def test_a_rater_between_two_groups_goes_on_under_what_holds_for_everybody_and_no_further() -> None:
    study = live_study()
    early = at_work(study)
    claims.give_up(early, at=LATER)
    amend(study, holds_for=HoldsFor.EVERYBODY, notice="A new notice.")
    amend(study, consent="You are paid {pay}. Other words.")

    assert versions.find_version(early.rater).number == 2
    assert versions.find_version(factories.rater(study)).number == 3


def test_who_has_only_agreed_keeps_what_they_agreed_to() -> None:
    study = live_study()
    rater = factories.rater(study)
    step = protocol.load_protocol(protocol.current(study)).consent
    assert step is not None
    consents.record_consent(rater, step)
    rater.consents.update(at=NOON)

    amend(study, pay="€ 30 for each group")

    assert versions.find_version(rater).number == 1
    assert versions.promised_pay(study, rater).pay == "€ 45 for each group"
    assert versions.promised_pay(study, None).pay == "€ 30 for each group"


def test_nobody_who_has_begun_is_paid_less() -> None:
    study = live_study()
    early = at_work(study)

    with pytest.raises(amendments.NotAmended) as error:
        amend(study, holds_for=HoldsFor.EVERYBODY, pay="€ 40 for each group")
    assert refused_at(error) == ["pay"]

    amend(study, pay="€ 40 for each group")
    assert versions.promised_pay(study, early.rater).pay == "€ 45 for each group"
    with pytest.raises(amendments.NotAmended) as error:  # it would carry the lower pay to everybody
        amend(study, holds_for=HoldsFor.EVERYBODY, consent="You are paid {pay}, and thanked.")
    assert refused_at(error) == ["pay"]

    amend(study, holds_for=HoldsFor.EVERYBODY, pay="€ 50 for each group")
    assert versions.promised_pay(study, early.rater).pay == "€ 50 for each group"


def test_pay_that_cannot_be_compared_needs_a_word_that_it_is_no_less() -> None:
    study = live_study()
    at_work(study)
    said = {"holds_for": HoldsFor.EVERYBODY, "pay": "A voucher"}

    with pytest.raises(amendments.NotAmended) as error:
        amend(study, **said)

    assert refused_at(error) == ["pay_is_no_less"]
    assert amend(study, no_less=True, **said).pay == "A voucher"


def test_a_deadline_is_put_off_at_any_time_and_brought_forward_only_while_nobody_is_at_work() -> None:
    study = live_study()
    assignment = at_work(study)
    put_off, earlier = NOON + timedelta(days=60), NOON + timedelta(days=20)

    amendment = amend(study, closes_at=put_off)
    assert (study.closes_at, amendment.version) == (put_off, None), "the protocol's words stay"
    with pytest.raises(amendments.NotAmended) as error:
        amend(study, closes_at=earlier)
    assert refused_at(error) == ["closes_at"]

    claims.give_up(assignment, at=LATER)
    amend(study, closes_at=earlier)
    assert study.closes_at == earlier
    with pytest.raises(amendments.NotAmended) as error:
        amend(study, closes_at=NOON)
    assert refused_at(error) == ["closes_at"], "not into the past"


def test_more_raters_a_group_are_seats_beside_those_that_there_are() -> None:
    study = live_study()
    before = dict(Seat.objects.values_list("pk", "order"))

    amend(study, seats_per_group=4)

    assert Seat.objects.filter(group__code="plot1").count() == 4
    assert dict(Seat.objects.filter(pk__in=before).values_list("pk", "order")) == before
    assert study.seats_per_group == 4
    assert verification.verify(study).faults == []


def test_only_seats_in_which_nobody_ever_sat_are_taken_away() -> None:
    study = live_study()
    left = [at_work(study), at_work(study)]
    for assignment in left:
        claims.give_up(assignment, at=LATER)
    used = {assignment.seat_id for assignment in left}

    amend(study, seats_per_group=1)

    assert Seat.objects.count() == 2
    assert used <= set(Seat.objects.values_list("pk", flat=True))


def test_fewer_raters_than_have_begun_are_refused() -> None:
    study = live_study()
    for _n in range(4):
        at_work(study)

    with pytest.raises(amendments.NotAmended) as error:
        amend(study, seats_per_group=1)

    assert refused_at(error) == ["seats_per_group"]
    assert Seat.objects.count() == 4


def test_an_amended_study_is_held_to_what_a_launch_is_held_to() -> None:
    study = live_study()

    with pytest.raises(amendments.NotAmended, match="which is still empty"):
        amend(study, pay="")

    assert (study.pay, Amendment.objects.count(), ProtocolVersion.objects.count()) == ("€ 45 for each group", 0, 1)


def test_what_is_asked_for_twice_is_done_once() -> None:
    study = live_study()
    wish = Wish(state_with(study, notice="A new notice."), "Asked for.", HoldsFor.NEWCOMERS)
    amendments.amend(study, wish, by="lead", at=LATER)

    with pytest.raises(amendments.NothingAmended):
        amendments.amend(study, wish, by="lead", at=LATER)

    assert Amendment.objects.count() == 1


def test_whoever_read_something_else_is_told_so() -> None:
    study = live_study()
    as_read = state_with(study).sha256
    wish = Wish(state_with(study, contact="other@example.org"), "Asked for.", HoldsFor.NEWCOMERS)
    amend(study, notice="A new notice.")

    with pytest.raises(amendments.AmendedMeanwhile):
        amendments.amend(study, wish, by="lead", at=LATER, as_read=as_read)


@pytest.mark.parametrize("state", [Study.State.DRAFT, Study.State.CLOSED])
def test_only_a_launched_study_that_is_not_closed_is_amended(state: str) -> None:
    study = live_study()
    Study.objects.filter(pk=study.pk).update(state=state)

    with pytest.raises(amendments.NotAmended) as error:
        amend(study, notice="A new notice.")

    assert refused_at(error) == ["state"]


def test_a_reason_is_asked_for() -> None:
    study = live_study()
    wish = Wish(state_with(study, notice="A new notice."), "  ", HoldsFor.NEWCOMERS)

    with pytest.raises(amendments.NotAmended) as error:
        amendments.amend(study, wish, by="lead", at=LATER)

    assert refused_at(error) == ["reason"]


# ── what the database holds ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE studies_study SET pay = '€ 1'",
        "UPDATE studies_study SET seats_per_group = 9",
        "UPDATE studies_study SET seed = 1",
        "UPDATE studies_amendment SET reason = 'Another.'",
        "UPDATE studies_amendment SET pay = '€ 1'",
        "DELETE FROM studies_amendment",
        "UPDATE studies_protocolversion SET reason = 'Another.' WHERE number = 2",
    ],
)
def test_the_database_refuses_what_no_amendment_says(statement: str) -> None:
    study = live_study()
    amend(study, pay="€ 50 for each group")

    with pytest.raises(IntegrityError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)

    assert Study.objects.get().pay == "€ 50 for each group"


@pytest.mark.parametrize(
    ("statement", "fault"),
    [
        ("UPDATE studies_amendment SET reason = 'Another.'", "amendment 1 is not the one that was made"),
        ("UPDATE studies_study SET pay = '€ 1'", "the study does not say what its amendment 1 says"),
        ("DELETE FROM studies_amendment", "version 2 amends another and no amendment says so"),
        ("UPDATE studies_amendment SET previous = 'f'", "amendment 1 does not follow from the one before"),
    ],
)
def test_what_was_rewritten_behind_the_back_of_an_amendment_is_found(statement: str, fault: str) -> None:
    study = live_study()
    amend(study, pay="€ 50 for each group")
    with triggers.lifted(), connection.cursor() as cursor:
        cursor.execute(statement)

    faults = verification.verify(study).faults

    assert any(fault in line for line in faults), faults


def test_a_copy_of_an_amended_study_has_the_amended_words() -> None:
    study = live_study()
    amend(study, consent="You are paid {pay}, within ten days.")

    steps = protocol.read_rows(protocol.latest(study)).steps

    assert steps[0].text == "You are paid {pay}, within ten days."


# ── by the command ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_command_amends_by_the_same_function(capsys: pytest.CaptureFixture[str]) -> None:
    study = live_study()

    call_command("amend", "plums", "pay=€ 50 for each group", reason="Prices rose.", everybody=True)

    study.refresh_from_db()
    assert study.pay == "€ 50 for each group"
    assert Amendment.objects.get().reason == "Prices rose."
    assert capsys.readouterr().out.splitlines() == [
        "Pay: - € 45 for each group",
        "Pay: + € 50 for each group",
        "“Consent”: text: - You are paid € 45 for each group. You can stop at any time.",
        "“Consent”: text: + You are paid € 50 for each group. You can stop at any time.",
        "plums is amended: protocol version 2, for everybody.",
    ]


def test_the_command_says_what_it_would_do_and_what_cannot_be_amended(capsys: pytest.CaptureFixture[str]) -> None:
    live_study()

    call_command("amend", "plums", "notice=New.", reason="Asked for.", dry_run=True)
    with pytest.raises(CommandError, match="seed cannot be amended"):
        call_command("amend", "plums", "seed=8", reason="Asked for.")
    with pytest.raises(CommandError, match="same as now"):
        call_command("amend", "plums", "seats_per_group=2", reason="Asked for.")

    assert capsys.readouterr().out.splitlines()[-1] == "Nothing has been done."
    assert not Amendment.objects.exists()


def test_answers_under_every_version_stay_one_history() -> None:
    study = live_study()
    early = at_work(study)
    factories.answer(early, value="yes")
    amend(study, holds_for=HoldsFor.EVERYBODY, notice="A new notice.")
    early.refresh_from_db()

    factories.answer(early, value="no", base=1)

    assert Response.objects.get().value == "no"
    assert verification.verify(study).faults == []


def test_the_registered_plan_stays_as_it_was_frozen_and_lists_what_was_amended_since(
    django_assert_num_queries: Any,
) -> None:
    plan = AnalysisPlan(outcome="tests/item-1", reference="Source 1")
    study = factories.study(state=Study.State.DRAFT, planned=False, n_stories=4, n_groups=2, k=2)
    protocol.save_plan(study, plan)
    study.versions.get().steps.filter(key="consent").update(text="You can stop at any time.")
    launches.launch(study, by="tests", at=NOON)
    before = write_preregistration(study, plan)
    amend(study, seats_per_group=3, title="Plums and pears", consent="You can stop at any moment.")

    with django_assert_num_queries(8):
        text = write_preregistration(study, plan)

    assert "- 2 raters for each group" in before
    assert text == before + (
        "\n## Amendments\n\nMade after the launch; the text above is what was frozen before it.\n"
        f"\n### 1. {LATER:%Y-%m-%d}, protocol 2\n\n"
        "- Reason: Two raters asked.\n- Holds for: those who began after it.\n"
        "- Title: ~~Fourteen tests of a story~~ **Plums and pears**\n- Places per group: ~~2~~ **3**\n"
        "- “Consent”: text: You can stop at any ~~time.~~ **moment.**\n"
    )
