"""What a report says of a filled cloze: the three groups, who gave up where, and what it cost."""

from datetime import timedelta
from io import StringIO

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from annotation.models import Assignment, Fill, Rater
from annotation.participation import claims, withdrawal
from annotation.responses import submission, timing
from annotation.responses.timing import TimeReport
from reports import results
from reports.dataset import Dataset
from reports.figures.cloze.people import ClozeFilling
from reports.figures.codec import encode
from reports.page.csv import find_table
from studies.models import Study
from tests import factories
from tests.annotation import clozes
from tests.annotation.clozes import say
from tests.replay import replayed
from tests.studies.cloze.documents import FILLS

pytestmark = pytest.mark.django_db


def wrote(of: Study, texts: dict[int, str], *, submits: bool = False, stops_at: int | None = None, **more: object):
    work = clozes.assignment(of, **more)
    clozes.fill(work, texts)
    if submits:
        submission.submit(work, at=timezone.now())
    if stops_at:
        claims.give_up(work, at=timezone.now(), stopped_at=stops_at)
    return work


@pytest.fixture
@replayed
def study() -> Study:
    """Seven people: two dropped out, one of them by the way out; two submitted, one of them shortlisted; one is still
    at work, one has written nothing and given back, one has withdrawn. One model submitted, one was unreadable."""
    made = clozes.study(k=9)
    wrote(made, {1: "boots"}, stops_at=2)
    claims.give_up(wrote(made, {1: "boots", 2: "a coin", 3: "x", 4: "y"}), at=timezone.now())
    wrote(made, FILLS, submits=True)
    best = wrote(made, FILLS, submits=True)
    Fill.objects.filter(assignment=best).update(state="shortlisted", reason="Good.", shortlisted_by="editor")
    wrote(made, {1: "boots"})
    claims.give_up(clozes.assignment(made), at=timezone.now())
    withdrawal.withdraw(wrote(made, FILLS, submits=True).rater, at=timezone.now())
    for code, texts in (("gpt", FILLS), ("lost", {})):
        model(made, code, texts)
    return made


def model(study: Study, code: str, texts: dict[int, str]) -> None:
    rater = Rater.objects.create(study=study, code=code, kind=Rater.Kind.MODEL)
    seat = factories.judge_seat(study, study.groups.get(), ["shoes"])
    work = Assignment.objects.create(
        study=study, rater=rater, rater_kind="model", seat=seat, group=seat.group, version=study.versions.get()
    )
    clozes.fill(work, texts)
    submission.submit(work, at=timezone.now())


def cloze_of(study: Study):
    """What the document says of it."""
    found = clozes.filling(study)
    return found and encode(found)


def counts(told: dict[str, object]) -> dict[str, int]:
    return {row["group"]: row["n"] for row in told["groups"]}  # type: ignore[index, attr-defined]


def test_the_three_groups_are_counted_for_people_and_for_models(study: Study) -> None:
    found = cloze_of(study)

    assert counts(found["people"]) == {"dropped_out": 2, "submitted": 1, "shortlisted": 1}
    assert counts(found["models"]) == {"dropped_out": 0, "submitted": 1, "shortlisted": 0}
    assert (found["people"]["n"], found["models"]["n"]) == (4, 1)
    assert (found["people"]["n_at_work"], found["people"]["n_never_begun"]) == (1, 1)
    assert found["models"]["n_unreadable"] == 1


def test_shares_are_of_those_who_have_ended_with_their_interval(study: Study) -> None:
    dropped = cloze_of(study)["people"]["groups"][0]

    assert dropped["value"] == 50
    assert dropped["interval"]["low"] == pytest.approx(15.0, abs=0.05)
    assert dropped["interval"]["high"] == pytest.approx(85.0, abs=0.05)


def test_who_gives_up_where_is_told_by_section(study: Study) -> None:
    sections = cloze_of(study)["sections"]

    assert [(row["section"], row["n_stopped"]) for row in sections] == [(1, 0), (2, 1), (3, 1)]


def test_whoever_is_still_at_work_when_the_study_closes_has_dropped_out(study: Study) -> None:
    Study.objects.update(state=Study.State.CLOSED)
    study.refresh_from_db()

    found = cloze_of(study)

    assert counts(found["people"]) == {"dropped_out": 3, "submitted": 1, "shortlisted": 1}
    assert [row["n_stopped"] for row in found["sections"]] == [1, 1, 1]
    assert found["people"]["n_at_work"] == 0


def test_order_changes_and_time_are_told_for_every_writer() -> None:
    study = clozes.study()
    work = clozes.assignment(study)
    for minute, (blank, text) in enumerate([(5, "Look"), (1, "boots"), (2, "a coin"), (1, "shoes")]):
        say(work, blank, text, minute)
    step = work.version.steps.get(key="fill")
    report = [TimeReport(step, 90, section=1), TimeReport(step, 30, section=3)]
    timing.record_seconds(work, report, at=timezone.now() + timedelta(hours=1))

    found = cloze_of(study)

    (row,) = found["writers"]
    assert (row["order"], row["n_changes"], row["active_seconds"], row["n_filled"]) == ([5, 1, 2], 1, 120, 3)
    assert row["seconds_by_section"] == {"1": 90, "3": 30}
    assert [(s["n_changes"], s["median_minutes"], s["n_timed"]) for s in found["sections"]] == [
        (1, 1.5, 1),
        (0, None, 0),
        (0, 0.5, 1),
    ]


def test_stand_ins_do_not_count_among_real_people(study: Study) -> None:
    wrote(study, FILLS, submits=True)
    Rater.objects.filter(pk=study.raters.order_by("-pk")[0].pk).update(is_simulated=True)

    assert cloze_of(study)["people"]["n"] == 4


def test_a_study_without_a_cloze_says_nothing_of_one() -> None:
    study = factories.study()

    assert cloze_of(study) is None
    assert find_table(results.read_results(results.compute(study)), "cloze") == ([], [])


def test_before_anybody_has_ended_there_are_no_shares() -> None:
    groups = cloze_of(clozes.study())["people"]["groups"]

    assert [(row["n"], row["value"]) for row in groups] == [(0, None)] * 3
    assert groups[0]["why"]


def test_a_report_is_computed_anew_when_a_text_is_shortlisted(study: Study) -> None:
    before = results.fingerprint(study)

    Fill.objects.filter(state="submitted").update(state="shortlisted", reason="Too.", shortlisted_by="editor")

    assert results.fingerprint(study) != before


def test_the_page_the_files_and_the_command_tell_it(study: Study, client: Client) -> None:
    client.force_login(User.objects.create_superuser("admin"))
    said = StringIO()

    page = client.get(f"/reports/{study.slug}/figures/all/")
    rows = b"".join(client.get(f"/reports/{study.slug}/cloze.csv").streaming_content).decode().splitlines()
    call_command("report", study.slug, stdout=said)

    assert "Filled texts: participants" in page.text
    assert "2. The Compartments" in page.text
    assert rows[0].startswith("rater,kind,assignment,outcome,stopped_at,n_filled")
    assert len(rows) == 9
    lines = [" ".join(line.split()) for line in said.getvalue().splitlines()]
    for group in ("dropped out 2 of 4 50.0", "submitted 1 of 4 25.0", "shortlisted 1 of 4 25.0"):
        assert any(line.startswith(f"People {group} ") for line in lines)
    assert any(line.startswith("3. The Border 1 1 ") for line in lines)


def test_the_curve_tells_who_is_still_filling_after_each_section(study: Study) -> None:
    curve = cloze_of(study)["completion"]

    people = [(row["section"], row["n_through"], row["n"]) for row in curve if row["kind"] == "person"]
    models = [(row["n_through"], row["n"], row["value"]) for row in curve if row["kind"] == "model"]
    # Of four who have ended one gave up at section 2 and one at section 3; the one model filled all.
    assert people == [(1, 4, 4), (2, 3, 4), (3, 2, 4)]
    assert models == [(1, 1, 100.0)] * 3
    ends = next(row["interval"] for row in curve if row["kind"] == "person" and row["section"] == 3)
    assert (ends["low"], ends["high"]) == (pytest.approx(15.0, abs=0.01), pytest.approx(85.0, abs=0.01))


@pytest.mark.parametrize("n", [1, 3])
def test_the_section_takes_a_fixed_number_of_queries(django_assert_num_queries, n: int) -> None:
    study = clozes.study()
    for _ in range(n):
        wrote(study, FILLS, submits=True)

    dataset = Dataset.of(study)
    with django_assert_num_queries(5):
        assert ClozeFilling().compute(dataset)
