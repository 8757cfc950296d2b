"""Norms of instruments: who lets figures in, from how many studies on they are shown, and that nobody is named."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from reports import norms, results
from reports.models import KeyFigures, SharedNorms
from reports.norms import Distribution, NormSpread
from studies.models import Membership, Study
from tests import factories
from tests.reports import given

pytestmark = pytest.mark.django_db
NOW = timezone.now()
ADDRESS = "/reports/-instruments/tests/"


@pytest.fixture
def staff(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("root"))
    factories.instrument("tests")
    return client


def closed(
    slug: str,
    agreement: float | None,
    *,
    instrument: str = "tests",
    is_shared: bool = True,
    raters: str = "real",
    **row: Any,
) -> Study:
    """A closed study in whose latest report raters agreed so far on an item of the instrument."""
    study = Study.objects.create(slug=slug, title=slug.title(), state=Study.State.CLOSED, closed_at=NOW)
    item = {
        "instrument": instrument,
        "version": "1",
        "item": "item-1",
        "title": "Item 1",
        "name": "Fleiss' kappa",
        "agreement": agreement,
        "is_percent": True,
        "level": 50.0,
    }
    KeyFigures.objects.create(
        study=study,
        day=NOW.date(),
        fingerprint="0" * 64,
        trend={},
        **{"is_sealed": False, "figures": {"raters": raters, "items": [item]}} | row,
    )
    if is_shared:
        norms.share(study, by="ann", at=NOW)
    return study


def test_of_two_studies_nothing_is_shown_of_three_the_median_and_of_five_the_quartiles(staff: Client) -> None:
    closed("plums", 0.1234)
    closed("pears", 0.3)
    page = staff.get(ADDRESS).content.decode()
    assert "Fewer than 3 closed studies" in page
    assert ".12" not in page

    closed("figs", 0.5)
    (row,) = norms.read_norms("tests")

    assert row.agreement.distribution == Distribution(n=3, median=0.3)
    page = staff.get(ADDRESS).content.decode()
    assert "Fewer than 3" not in page
    assert ".30" in page
    assert ".12" not in page
    assert 'class="box"' not in page

    closed("medlars", 0.7)
    assert norms.distribute([0.1, 0.3, 0.5, 0.7]) == Distribution(n=4, median=0.4)
    closed("quinces", 0.8)
    (row,) = norms.read_norms("tests")

    spread = NormSpread(least=0.1234, first=0.3, third=0.7)
    assert row.agreement.distribution == Distribution(n=5, median=0.5, spread=spread)
    page = staff.get(ADDRESS).content.decode()
    assert ".12" in page
    assert 'class="box"' in page
    assert not [title for title in ("Plums", "Pears", "Figs") if f"{title}<" in page]


def test_the_threshold_holds_for_each_figure(staff: Client) -> None:
    for slug, agreement in {"plums": 0.1, "pears": 0.3, "figs": None}.items():
        closed(slug, agreement)

    (row,) = norms.read_norms("tests")

    assert row.agreement.distribution is None
    assert row.level.distribution == Distribution(n=3, median=50)
    assert "fewer than 3 studies" in staff.get(ADDRESS).content.decode()


def test_only_closed_studies_of_people_that_allow_it_are_counted(staff: Client) -> None:
    closed("plums", 0.1)
    closed("pears", 0.3)
    closed("unshared", 0.4, is_shared=False)
    closed("simulated", 0.4, raters="simulated")
    closed("sealed", 0.4, is_sealed=True)

    assert norms.read_norms("tests") == []


def test_a_study_of_ones_own_stands_beside_them_whether_it_lets_its_figures_in_or_not(staff: Client) -> None:
    for slug, agreement in {"plums": 0.1, "pears": 0.3, "figs": 0.5}.items():
        closed(slug, agreement)
    own = closed("medlars", 0.7, is_shared=False)

    (row,) = norms.read_norms("tests", beside=own, sees_sources=True)

    assert (row.agreement.own, row.agreement.distribution) == (0.7, norms.distribute([0.1, 0.3, 0.5]))


def test_another_studys_figures_are_not_to_be_had_by_its_address() -> None:
    for slug in ("plums", "pears"):
        factories.study(slug)
    member = User.objects.create_user("rita", is_staff=True)
    Membership.objects.create(study=Study.objects.get(slug="plums"), user=member, role="researcher")
    client = Client()
    client.force_login(member)

    assert client.get("/reports/-instruments/pears-tests/").status_code == 200
    assert client.get("/reports/-instruments/plums-tests/?study=plums").status_code == 200
    assert client.get("/reports/-instruments/pears-tests/?study=pears").status_code == 404
    assert client.get("/reports/-instruments/nowhere/").status_code == 404


def test_a_study_is_in_no_norms_until_somebody_says_so_and_can_be_taken_out(staff: Client) -> None:
    study = given.closed_study()
    assert "in no norms" in staff.get("/reports/plums/exports/").content.decode()

    staff.post("/reports/plums/norms/", {"share": "yes"})

    assert SharedNorms.objects.get(study=study).by == "root"
    assert "root allowed it" in staff.get("/reports/plums/exports/").content.decode()

    staff.post("/reports/plums/norms/")

    assert not SharedNorms.objects.exists()
    assert LogEntry.objects.count() == 2


def test_a_study_that_is_not_closed_cannot_let_its_figures_in(staff: Client) -> None:
    study = factories.study()

    page = staff.post("/reports/plums/norms/", {"share": "yes"}, follow=True).content.decode()

    assert "once the study is closed" in page
    assert not SharedNorms.objects.exists()
    with pytest.raises(norms.NotClosed):
        norms.share(study, by="ann", at=NOW)


def test_reports_of_real_studies_make_norms(staff: Client) -> None:
    """Figures as reports leave them are those that norms read."""
    study = given.closed_study(n_items=2)
    given.verdicts(study, {"E01": "ynynynyn", "E02": "ynyyynyn", "E03": "ynynynny"})
    results.ensure_report(study, at=NOW, by="ann")
    (row,) = KeyFigures.objects.values_list("figures", flat=True)
    norms.share(study, by="ann", at=NOW)
    slug = row["items"][0]["instrument"]
    for other in ("pears", "figs"):
        copy = Study.objects.create(slug=other, title=other, state=Study.State.CLOSED, closed_at=NOW)
        KeyFigures.objects.create(
            study=copy, day=NOW.date(), is_sealed=False, fingerprint="0" * 64, trend={}, figures=row
        )
        norms.share(copy, by="ann", at=NOW)

    rows = norms.read_norms(slug, beside=study, sees_sources=True)

    assert [item.title for item in rows] == ["Item 1", "Item 2"]
    assert rows[0].level.distribution == norms.distribute([rows[0].level.own or 0] * 3)


def test_a_blind_account_sees_of_its_study_what_reports_without_sources_say(client: Client) -> None:
    study = factories.study("plums", state="closed", planned=False)
    shared = [closed(slug, 0.5, instrument="plums-tests") for slug in ("pears", "figs", "medlars")]
    item = shared[0].key_figures.get().figures["items"][0]
    for is_sealed, agreement, day in ((True, 0.2, 1), (False, 0.9, 0)):
        KeyFigures.objects.create(
            study=study,
            day=(NOW - timedelta(days=day)).date(),
            is_sealed=is_sealed,
            fingerprint="0" * 64,
            trend={},
            figures={"items": [item | {"agreement": agreement}]},
        )

    own_by_role = {}
    for role in ("researcher", "coordinator"):
        user = User.objects.create_user(role, is_staff=True)
        Membership.objects.create(study=study, user=user, role=role)
        client.force_login(user)
        (norm,) = client.get("/reports/-instruments/plums-tests/?study=plums").context["items"]
        own_by_role[role] = norm.agreement.own

    assert own_by_role == {"researcher": 0.9, "coordinator": 0.2}


@pytest.mark.parametrize("n_studies", [3, 5])
def test_norms_cost_the_same_queries_however_many_studies_there_are(staff: Client, n_studies: int) -> None:
    for n in range(n_studies):
        closed(f"study-{n}", 0.1 * n)

    with CaptureQueriesContext(connection) as queries:
        staff.get(ADDRESS)

    assert len(queries) == 5
