"""Which answers count in a report, and when the stored one will do."""

import json

import pytest
from django.db.models import F

from annotation.models import Assignment, Consent, Rater, Timing, Withdrawal
from reports import results
from reports.models import Report
from studies.models import Source, Step, Study
from tests import factories, triggers
from tests.factories import NOON
from tests.reports import given
from tests.reports.conftest import FOUR

pytestmark = pytest.mark.django_db


def test_only_what_was_submitted_by_people_who_stayed_counts() -> None:
    study = factories.study(n_stories=2, n_items=1, k=6)
    for status in ("submitted", "open", "given_up", "withdrawn"):
        seat = factories.assignment(study)
        factories.answer(seat)
        Assignment.objects.filter(pk=seat.pk).update(status=status)
    left = factories.assignment(study)
    factories.answer(left)
    Assignment.objects.filter(pk=left.pk).update(status="submitted")
    Withdrawal.objects.create(rater=left.rater)

    progress = results.compute(study)["progress"]

    assert (progress["n_answers"], progress["n_raters"]) == (1, 1)
    assert progress["left_out"] == {"open": 1, "given_up": 1, "withdrawn": 2, "simulated": 0, "practice": 0}
    # Two stories with a test each, a ranking, two guesses: five are expected of a submitted place, one is there.
    assert progress["n_missing"] == 4


def test_answers_to_a_practice_are_counted_and_stand_in_no_figure() -> None:
    study = factories.practising_study()
    for _rater in range(2):
        seat = factories.assignment(study)
        factories.answer(seat)
        factories.answer(seat, step="practice")
        Assignment.objects.filter(pk=seat.pk).update(status="submitted")

    progress = results.compute(study)["progress"]

    assert (progress["n_answers"], progress["left_out"]["practice"]) == (2, 2)


def test_simulated_raters_count_only_where_there_are_no_real_ones() -> None:
    study = given.closed_study()
    given.verdicts(study, {"E01": "yyyy", "E02": "nnnn"})
    Rater.objects.filter(code="E02").update(is_simulated=True)

    mixed = results.compute(study)
    Rater.objects.update(is_simulated=True)
    simulated = results.compute(study)

    assert (mixed["pass_rates"]["mean"]["overall"]["value"], mixed["progress"]["raters"]) == (100, "real")
    assert mixed["progress"]["left_out"]["simulated"] == 4
    assert (simulated["pass_rates"]["mean"]["overall"]["value"], simulated["progress"]["raters"]) == (50, "simulated")


def test_one_reading_of_a_judge_counts_however_often_it_read() -> None:
    study = given.closed_study(n_groups=1)
    given.verdicts(study, {"E01": "yn", "E02": "yn"})
    given.verdicts(study, {"gpt": "yn"}, kind=Rater.Kind.MODEL)
    first = Assignment.objects.get(rater__code="gpt")
    again = Assignment.objects.get(pk=first.pk)
    seat = first.seat
    assert seat is not None
    seat.pk, seat.number = None, 2
    seat.save()
    again.pk, again.code, again.seat = None, "again", seat
    again.save()
    for response in first.responses.all():
        response.pk, response.assignment, response.value = None, again, "no"
        response.save()

    judge = results.compute(study)["judges"]["compared"][0]

    assert (judge["pooled"]["n"], judge["pooled"]["kappa"]["value"]) == (2, 1)
    assert judge["outcomes"]["answered"] == 2


def test_nothing_by_source_is_in_the_results_until_the_study_is_closed(study: Study) -> None:
    order = {"plot1": "p1s1 > p1s2", "plot2": "p2s1 > p2s2"}
    given.bring(study, given.orders(study, {"E05": order, "E06": order}))
    given.verdicts(study, {"gpt": "ynyn"}, kind=Rater.Kind.MODEL)
    with triggers.lifted():
        Source.objects.filter(name="Source 1").update(name="Canary")
    assert "Canary" in json.dumps(results.compute(study))
    Study.objects.update(state="live")
    study.refresh_from_db()

    sealed = results.compute(study)

    assert "Canary" not in json.dumps(sealed)
    assert (sealed["is_sealed"], sealed["sources"], sealed["tests_passed"]) == (True, [], None)
    assert (sealed["rankings"], sealed["authorship"], sealed["judges"]["compared"]) == ([], [], [])
    assert sealed["pass_rates"]["mean"]["overall"]["value"] == 62.5
    assert sealed["pass_rates"]["items"][0]["by_source"] == []
    assert "within_source" not in sealed["agreement"]["items"][0]
    assert sealed["agreement"]["items"][0]["coefficient"]["value"] == pytest.approx(7 / 15)


def test_renaming_raters_and_bringing_them_in_another_order_changes_nothing() -> None:
    one, other = given.closed_study("one"), given.closed_study("other")
    given.verdicts(one, FOUR)
    given.verdicts(other, {f"Z{9 - n}": letters for n, letters in enumerate(reversed(FOUR.values()))})

    first, second = results.compute(one), results.compute(other)

    assert first["pass_rates"] == second["pass_rates"]
    kappas = [found["agreement"]["items"][0]["coefficient"] for found in (first, second)]
    assert kappas[0] == kappas[1]


def test_the_same_inputs_are_computed_once_and_any_change_is_seen(study: Study) -> None:
    first = results.ensure_report(study, at=NOON, by="ann")
    again = results.ensure_report(study, at=NOON, by="bob")
    assert (first.pk, again.made_by, Report.objects.count()) == (again.pk, "ann", 1)

    seen = {first.fingerprint}
    response = Assignment.objects.get(rater__code="E01").responses.get(story__code="p1s2")
    for table, change in [
        (type(response).objects.filter(pk=response.pk), {"revision": 2, "value": "yes"}),
        (Assignment.objects.filter(rater__code="E02"), {"status": "withdrawn"}),
        (Rater.objects.filter(code="E03"), {"is_simulated": True}),
        (Source.objects.filter(name="Source 2"), {"kind": "other"}),
        (Study.objects.all(), {"notice": "Read this."}),
        (Study.objects.all(), {"state": "live"}),
    ]:
        with triggers.lifted():
            table.update(**change)
        study.refresh_from_db()
        seen.add(results.fingerprint(study))

    assert len(seen) == 7
    assert results.ensure_report(study, at=NOON, by="bob").pk != first.pk


def test_a_stored_report_says_what_a_fresh_one_does(study: Study) -> None:
    stored = results.ensure_report(study, at=NOON, by="ann")
    stored.refresh_from_db()

    assert stored.result == results.compute(study)


def test_a_consent_and_another_step_of_a_draft_are_seen() -> None:
    study = factories.study(state="draft", planned=False)
    first = results.ensure_report(study, at=NOON, by="ann")
    step = Step.objects.get(key="tests")
    assert first.result["progress"]["n_consented"] == 0

    Consent.objects.create(rater=factories.rater(study), step=step, text_sha256="0" * 64)
    second = results.ensure_report(study, at=NOON, by="ann")
    Step.objects.filter(key="guess").delete()
    third = results.ensure_report(study, at=NOON, by="ann")

    assert second.result["progress"]["n_consented"] == 1
    assert {row["step"] for row in first.result["agreement"]["items"]} == {"tests", "guess"}
    assert {row["step"] for row in third.result["agreement"]["items"]} == {"tests"}


def test_time_that_passes_in_a_live_study_makes_no_further_report_before_it_is_submitted() -> None:
    study = factories.study(n_stories=2, n_items=1)
    seat = factories.assignment(study)
    response = factories.answer(seat)
    timing = Timing.objects.create(assignment=seat, step=response.step, story=response.story, active_seconds=0)

    for _ in range(3):
        Timing.objects.filter(pk=timing.pk).update(active_seconds=F("active_seconds") + 30)
        results.ensure_report(study, at=NOON, by="ann")

    assert Report.objects.count() == 1

    Assignment.objects.filter(pk=seat.pk).update(status="submitted")
    for seconds in (90, 120):
        Timing.objects.filter(pk=timing.pk).update(active_seconds=seconds)
        found = results.ensure_report(study, at=NOON, by="ann").result
        assert found["progress"]["median_minutes_per_story"] == seconds / 60

    assert Report.objects.count() == 1  # each look replaces the one before
