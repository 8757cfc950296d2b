"""Numbers from a pilot: read by a worker for whoever may see the pilot's results, shown, and put into the form."""

from typing import Any

import numpy as np
import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotation.design import pilots
from reports import tasks
from studies.models import Membership, Step, Study, StudyJob
from tests import factories
from tests.reports import given

pytestmark = pytest.mark.django_db
PRECISION = "/studies/next/reading-plan/precision/"
ADDRESS = f"{PRECISION}pilot/"


def answered_pilot(*, n_groups: int = 6, n_raters: int = 5) -> Study:
    """A closed study of three stories a group with Yes and No to two tests."""
    pilot = given.closed_study("pilot", n_groups=n_groups, n_stories=3, n_items=2)
    rng = np.random.default_rng(1)
    raters = [f"E{number:02}" for number in range(1, n_raters + 1)]
    worth = rng.normal(size=3 * n_groups).repeat(2)
    given.verdicts(
        pilot,
        {rater: "".join("y" if one > 0 else "n" for one in worth + rng.normal(size=len(worth))) for rater in raters},
    )
    return pilot


@pytest.fixture
def pilot() -> Study:
    return answered_pilot()


@pytest.fixture
def study() -> Study:
    """A draft that asks the pilot's tests, and a ranking of its own."""
    made = factories.study("next", n_groups=8, planned=False, state=Study.State.DRAFT)
    tests = Step.objects.get(version__study__slug="pilot", key="tests").instrument
    Step.objects.filter(version__study=made, key="tests").update(instrument=tests)
    return made


def sign_in(client: Client, role: str) -> User:
    user = factories.staff(role)
    client.force_login(user)
    return user


def read(client: Client) -> Any:
    answer = client.post(ADDRESS, {"pilot": "pilot"})
    assert answer.status_code == 302
    tasks.read_pilot(StudyJob.objects.get(task=pilots.TASK).pk)
    return client.get(ADDRESS)


def test_a_pilot_says_how_much_its_answers_vary_and_on_how_many_that_rests(
    client: Client, pilot: Study, study: Study
) -> None:
    sign_in(client, "researcher")

    page = read(client)

    all_tests, one_test, ranking = page.context["outcomes"]
    assert all_tests.rests_on == "From 90 answers by 5 raters about 18 stories."
    assert one_test.rests_on == "From 180 answers to 2 questions or scores by 5 raters about 18 stories."
    assert [label for label, _number in one_test.numbers] == [
        *("Mean of all answers", "Raters", "Rater × source", "Writing prompts", "Stories of a source")
    ]
    assert (ranking.numbers, bool(ranking.problem)) == ([], True), "its instrument is another one"
    assert all_tests.is_small


def test_its_numbers_are_those_of_its_answers(client: Client, pilot: Study, study: Study) -> None:
    from reports.dataset import Dataset

    sign_in(client, "researcher")
    (table,) = [table for table in Dataset.of(pilot).outcomes if table.outcome.kind == "verdicts"]

    read(client)
    form = client.get(f"{PRECISION}?numbers=pilot").context["form"]

    assert float(form["o1-mean"].value()) == pytest.approx(float(np.nanmean(table.ratings)), abs=0.05)
    assert float(form["o1-story"].value()) > 10, "the stories were drawn to differ"


def test_the_numbers_fill_the_form_where_they_can_be_changed_and_leave_the_rest(
    client: Client, pilot: Study, study: Study
) -> None:
    sign_in(client, "researcher")
    read(client)

    typical, of_pilot = (client.get(address) for address in (PRECISION, f"{PRECISION}?numbers=pilot"))

    before, after = (
        {name: page.context["form"][name].value() for name in page.context["form"].fields}
        for page in (typical, of_pilot)
    )
    changed = {name for name in before if before[name] != after[name]}
    assert "o1-rest" in changed
    assert {name for name in changed if name.endswith("-effect") or name.startswith("o3-")} == set()
    assert "From 90 answers by 5 raters" in of_pilot.content.decode()
    answer = client.post(f"{PRECISION}?numbers=pilot", after | {"o1-rest": 21})
    assert answer.status_code == 302
    assert StudyJob.objects.get(task="annotation.tasks.compute_precision").arguments["assumptions"]["o1"]["rest"] == 21


@pytest.mark.parametrize(
    ("n_groups", "n_raters", "code"), [(6, 2, "pilot_of_few_raters"), (1, 4, "pilot_of_few_stories")]
)
def test_too_little_is_refused_with_the_reason(client: Client, n_groups: int, n_raters: int, code: str) -> None:
    answered_pilot(n_groups=n_groups, n_raters=n_raters)
    made = factories.study("next", n_groups=4, planned=False, state=Study.State.DRAFT)
    tests = Step.objects.get(version__study__slug="pilot", key="tests").instrument
    Step.objects.filter(version__study=made, key="tests").update(instrument=tests)
    sign_in(client, "researcher")

    page = read(client)

    rows = StudyJob.objects.get(task=pilots.TASK).outcome
    assert {row["why"] for row in rows} == {code}
    assert not page.context["is_usable"]
    assert all(outcome.problem for outcome in page.context["outcomes"])


def test_whoever_may_not_see_the_pilots_results_by_source_is_offered_none(
    client: Client, pilot: Study, study: Study
) -> None:
    sign_in(client, "designer")

    assert client.get(ADDRESS).context["offered"] == []
    assert client.post(ADDRESS, {"pilot": "pilot"}).status_code == 400
    assert not StudyJob.objects.exists()


def test_what_a_researcher_has_read_is_shown_to_no_designer_who_may_not_see_the_pilot(
    client: Client, pilot: Study, study: Study
) -> None:
    sign_in(client, "researcher")
    assert "From 90 answers" in read(client).content.decode()
    sign_in(client, "designer")

    pages = [client.get(address).content.decode() for address in (ADDRESS, PRECISION, f"{PRECISION}?numbers=pilot")]

    assert not any("From 90 answers" in page or pilot.title in page.split("<main", 1)[1] for page in pages[1:])
    assert "From 90 answers" not in pages[0]


def test_a_lead_of_both_studies_may_use_the_pilot_and_one_of_the_new_study_alone_may_not(
    client: Client, pilot: Study, study: Study
) -> None:
    user = sign_in(client, "")
    Membership.objects.create(study=study, user=user, role="lead")
    before = client.get(ADDRESS).context["offered"]
    Membership.objects.create(study=pilot, user=user, role="lead")

    assert (before, client.get(ADDRESS).context["offered"]) == ([], [pilot])


def test_a_study_that_is_live_is_no_pilot_yet(client: Client, pilot: Study, study: Study) -> None:
    Study.objects.filter(pk=pilot.pk).update(state="live")
    sign_in(client, "researcher")

    assert client.get(ADDRESS).context["offered"] == []


def test_a_role_that_is_taken_away_before_the_worker_comes_gives_nothing(
    client: Client, pilot: Study, study: Study
) -> None:
    user = sign_in(client, "")
    for one in (study, pilot):
        Membership.objects.create(study=one, user=user, role="lead")
    client.post(ADDRESS, {"pilot": "pilot"})
    Membership.objects.filter(study=pilot).delete()

    tasks.read_pilot(StudyJob.objects.get(task=pilots.TASK).pk)

    job = StudyJob.objects.get(task=pilots.TASK)
    assert (job.outcome, bool(job.problem)) == (None, True)
