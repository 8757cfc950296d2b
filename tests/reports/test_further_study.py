"""A further study about stories on which judges are in doubt: looked at, then made, by whoever may know all of it."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotation.design import seats
from annotation.models import Response, Timing
from reports import results
from studies import subsets
from studies.access import make_lead
from studies.models import Study, Subset
from studies.protocol.subset_descriptions import describe_subset
from studies.strata import CannotDraw
from tests import factories
from tests.replay import replayed
from tests.reports import planted
from tests.reports.figures import test_calibration

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]
PAGE = "/reports/plums/further-study/"


@pytest.fixture
@replayed
def study() -> Study:
    """Twelve pairs; of the first story of each a judge is in doubt, and experts took six minutes over it."""
    study = planted.empty_study()
    test_calibration.plant(study)
    people = Response.objects.filter(assignment__rater_kind="person").order_by("pk")
    for assignment, step, story in people.values_list("assignment", "step", "story"):
        Timing.objects.create(assignment_id=assignment, step_id=step, story_id=story, active_seconds=360)
    return study


@pytest.fixture
def lead(client: Client, study: Study) -> Client:
    user = factories.staff("designer")
    make_lead(study, user)
    client.force_login(user)
    return client


def test_what_would_be_made_is_shown_before_it_is_made_and_the_study_stays(lead: Client, study: Study) -> None:
    results.ensure_report(study, by="tests", at=factories.NOON)
    n_stories, n_studies = study.stories.count(), Study.objects.count()

    figure = lead.get("/reports/plums/figures/doubtful-verdicts/").content.decode()
    page = lead.get(PAGE, {"n": 5, "places": 4})

    assert PAGE in figure
    further = page.context["further"]
    assert [n for _code, n in further.stories] == [1] * 5
    assert (further.n_groups, further.n_places, further.n_split_groups) == (5, 20, 5)
    assert further.hours == pytest.approx(5 * 4 * 6 / 60)
    assert Study.objects.count() == n_studies

    made = lead.post(PAGE, {"n": 5, "places": 4, "title": "More plums"})

    assert made.status_code == 302
    new = Study.objects.get(title="More plums")
    assert (new.state, new.seats_per_group, new.stories.count()) == ("draft", 4, 5)
    assert set(new.stories.values_list("code", flat=True)) == {code for code, _n in further.stories}
    assert study.stories.count() == n_stories
    assert seats.of_people(new).count() in (0, 20)
    assert not Response.objects.filter(assignment__study=new).exists()
    assert describe_subset(new, with_strata=True) == (
        "5 stories were taken from the 24 of “Planted”, those on which judges were divided most."
    )
    assert "judge" not in describe_subset(new, with_strata=False)
    assert Subset.objects.get(study=new).original == "plums"


def test_what_cannot_be_meant_makes_nothing_and_says_so(lead: Client, study: Study) -> None:
    results.ensure_report(study, by="tests", at=factories.NOON)
    n_studies = Study.objects.count()

    for fields in ({"n": 0, "places": 3, "title": "A"}, {"n": 2, "places": 99, "title": "A"}, {"n": 2, "places": 3}):
        assert lead.post(PAGE, fields).status_code == 400
    assert lead.get(PAGE, {"n": "many"}).status_code == 400
    assert Study.objects.count() == n_studies
    with pytest.raises(CannotDraw):
        subsets.choose_doubtful(subsets.read_population(study), ["p99s1"])


def test_a_study_without_doubt_leads_back_to_its_report(client: Client) -> None:
    study = planted.empty_study()
    user = factories.staff("designer")
    make_lead(study, user)
    client.force_login(user)
    results.ensure_report(study, by="tests", at=factories.NOON)

    response = client.get(PAGE)

    assert (response.status_code, response.headers["Location"]) == (302, "/reports/plums/")


@pytest.mark.parametrize("role", ["coordinator", "researcher", "designer"])
def test_who_may_not_make_studies_or_not_see_sources_finds_no_such_page(
    client: Client, study: Study, role: str
) -> None:
    results.ensure_report(study, by="tests", at=factories.NOON)
    client.force_login(factories.staff(role))

    assert client.get(PAGE).status_code in (403, 404)
    assert client.post(PAGE, {"n": 2, "places": 3, "title": "A"}).status_code in (403, 404)
    assert PAGE not in client.get("/reports/plums/figures/doubtful-verdicts/").content.decode()
    assert User.objects.count() == 1


def test_while_a_study_is_live_its_lead_finds_none(lead: Client, study: Study) -> None:
    Study.objects.filter(pk=study.pk).update(state="live")

    assert lead.get(PAGE).status_code == 404
