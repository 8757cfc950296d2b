"""The studies of an account, a study at a glance, who works on it, and the rail beside every page."""

import re
from datetime import UTC, datetime

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, User
from django.test import Client

from studies.models import Membership, Study
from tests import factories
from tests.factories import NOON

pytestmark = pytest.mark.django_db
RAIL = re.compile(r'<div class="rail-open">(.*?)</div>', re.DOTALL)


@pytest.fixture
def study() -> Study:
    return factories.study(planned=False)


def member(study: Study, role: str, name: str = "") -> User:
    user = User.objects.create_user(name or f"the-{role}", is_staff=True)
    Membership.objects.create(study=study, user=user, role=role)
    return user


def page(client: Client, user: User, address: str) -> str:
    client.force_login(user)
    response = client.get(address)
    assert response.status_code == 200, address
    return response.content.decode()


def rail(html: str) -> list[str]:
    return re.findall(r"<span>([^<]+)</span>", RAIL.findall(html)[0])


def post(client: Client, user: User, **fields: str) -> str:
    client.force_login(user)
    return client.post("/studies/plums/access/", fields, follow=True).content.decode()


# ── who sees what ──────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_member_finds_the_study_and_no_other(client: Client, study: Study) -> None:
    Study.objects.create(slug="pears", title="A study of pears")

    html = page(client, member(study, "researcher"), "/studies/")

    assert "/studies/plums/" in html
    assert "pears" not in html
    assert "researcher" in html


def test_somebody_with_a_role_in_all_studies_finds_all(client: Client, study: Study) -> None:
    Study.objects.create(slug="pears", title="A study of pears")

    html = page(client, factories.staff("coordinator"), "/studies/")

    assert "/studies/plums/" in html
    assert "/studies/pears/" in html


def test_a_steward_of_the_study_alone_comes_to_its_members(client: Client, study: Study) -> None:
    steward = member(study, "steward")

    assert "/studies/plums/access/" in page(client, steward, "/studies/")
    assert client.get("/studies/plums/").status_code == 403
    assert client.get("/studies/plums/access/").status_code == 200


@pytest.mark.parametrize("slug", ["plums", "nowhere"])
def test_others_are_refused_and_do_not_learn_whether_there_is_such_a_study(
    client: Client, study: Study, slug: str
) -> None:
    client.force_login(member(Study.objects.create(slug="pears", title="Pears"), "lead"))

    assert client.get(f"/studies/{slug}/").status_code == 403
    assert client.get(f"/reports/{slug}/").status_code == 403


@pytest.mark.parametrize(
    ("role", "status"), [("coordinator", 200), ("researcher", 200), ("lead", 200), ("steward", 403)]
)
def test_a_role_in_the_study_opens_its_report_and_its_answers(
    client: Client, study: Study, role: str, status: int
) -> None:
    client.force_login(member(study, role))

    for address in ("/reports/plums/", "/reports/plums/exports/", "/api/studies/plums/responses/"):
        assert client.get(address).status_code == status, address


# ── the rail ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_rail_shows_to_each_what_concerns_them(client: Client, study: Study) -> None:
    lead = rail(page(client, member(study, "lead"), "/studies/plums/"))
    steward = rail(page(client, member(study, "steward"), "/studies/plums/access/"))
    researcher = rail(page(client, factories.staff("researcher"), "/studies/plums/"))

    assert {"Overview", "What is asked", "Launch", "People with access", "Report", "Exports"} <= set(lead)
    assert steward == ["People with access", "Addresses", "Payments"]
    assert {"Stories", "People", "Monitor"} <= set(researcher)


@pytest.mark.parametrize("address", ["/studies/plums/", "/studies/plums/access/", "/reports/plums/exports/"])
def test_the_current_page_is_marked_and_links_lead_somewhere(client: Client, study: Study, address: str) -> None:
    html = page(client, User.objects.create_superuser("root"), address)
    parts = RAIL.findall(html)[0]

    assert re.findall(r'href="([^"]+)"\s+aria-current="page"', parts) == [address]
    assert {client.get(where).status_code for where in re.findall(r'href="([^"]+)"', parts)} == {200}


@pytest.mark.parametrize("address", ["/studies/", "/studies/plums/", "/studies/plums/access/"])
def test_an_unknown_query_parameter_is_refused(client: Client, study: Study, address: str) -> None:
    client.force_login(factories.staff("designer"))

    assert client.get(f"{address}?order=source").status_code == 400


# ── members ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_lead_gives_somebody_a_role_and_it_is_logged(client: Client, study: Study) -> None:
    User.objects.create_user("ann", is_staff=True)

    html = post(client, member(study, "lead"), account="ann", role="coordinator")

    assert "ann now has access to this study." in html
    assert Membership.objects.get(user__username="ann").role == "coordinator"
    assert LogEntry.objects.get().change_message == "ann: coordinator"


@pytest.mark.parametrize(
    ("account", "sentence"),
    [
        ("nobody", "No staff account has this name."),
        ("the-lead", "You cannot give yourself a role. Ask another lead."),
        ("the-researcher", "This account works on the study already"),
        ("stew", "would see identities, provenance and answers"),
        ("rater", "No staff account has this name."),
    ],
)
def test_who_cannot_be_given_a_role_is_refused_with_a_sentence(
    client: Client, study: Study, account: str, sentence: str
) -> None:
    lead = member(study, "lead")
    member(study, "researcher")
    User.objects.create_user("rater")
    User.objects.create_user("stew", is_staff=True).groups.set(Group.objects.filter(name="steward"))

    html = post(client, lead, account=account, role="lead")

    assert sentence in html
    assert Membership.objects.count() == 2


def test_a_lead_changes_and_ends_a_membership(client: Client, study: Study) -> None:
    lead, other = member(study, "lead"), member(study, "researcher")
    key = str(Membership.objects.get(user=other).pk)

    post(client, lead, member=key, role="coordinator")
    assert Membership.objects.get(user=other).role == "coordinator"
    assert "no longer has access to this study" in post(client, lead, member=key, role="coordinator", remove="yes")
    assert not Membership.objects.filter(user=other).exists()
    assert "no longer has access to the study" in post(client, lead, member=key, role="lead")


def test_nobody_changes_their_own_role_and_a_study_keeps_a_lead(client: Client, study: Study) -> None:
    lead = member(study, "lead")
    key = str(Membership.objects.get().pk)

    assert "You cannot change your own role. Ask another lead." in post(client, lead, member=key, role="researcher")
    assert "A study needs a lead." in post(client, factories.staff("administrator"), member=key, remove="yes")
    assert Membership.objects.get().role == "lead"


def test_a_member_of_another_study_is_not_changed(client: Client, study: Study) -> None:
    other = member(Study.objects.create(slug="pears", title="Pears"), "researcher")

    post(client, member(study, "lead"), member=str(Membership.objects.get(user=other).pk), remove="yes")

    assert Membership.objects.filter(user=other).exists()


@pytest.mark.parametrize("role", ["coordinator", "researcher", "steward"])
def test_only_leads_and_administrators_change_members(client: Client, study: Study, role: str) -> None:
    client.force_login(member(study, role))

    assert client.post("/studies/plums/access/", {"account": "x", "role": "lead"}).status_code == 403
    assert "Give access" not in client.get("/studies/plums/access/").content.decode()


def test_whoever_makes_a_study_in_the_admin_is_its_lead(client: Client) -> None:
    designer = factories.staff("designer")
    client.force_login(designer)
    form = {"slug": "figs", "title": "Figs", "language": "en", "text_kind": "story", "seats_per_group": 3}
    form |= {"groups_per_sitting": 1, "n_repeats": 0, "order_policy": "balanced", "seed": 1}

    assert client.post("/admin/studies/study/add/", form).status_code == 302
    assert list(Membership.objects.values_list("study__slug", "user__username", "role")) == [
        ("figs", "designer", "lead")
    ]


# ── the list, a new study, a draft that goes ───────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"closes_at": None}, "Say until when raters may answer"),
        ({"seats_per_group": 0}, "Say how many read each group"),
        ({"closes_at": datetime(2020, 1, 1, tzinfo=UTC)}, "The deadline has passed: set another"),
        ({"state": "paused"}, "Resume it, or close it"),
        ({"state": "closed"}, "Read the report"),
    ],
)
def test_a_row_says_what_is_to_be_done_next(client: Client, fields: dict[str, object], sentence: str) -> None:
    factories.study(state=Study.State.DRAFT, planned=False)
    Study.objects.update(**fields)

    assert sentence in page(client, User.objects.create_superuser("root"), "/studies/")


def test_a_live_study_offers_its_free_places(client: Client) -> None:
    factories.study(k=3)

    assert "3 places are free: invite" in page(client, User.objects.create_superuser("root"), "/studies/")


def test_more_than_fifty_studies_stand_on_pages_and_can_be_searched(client: Client) -> None:
    Study.objects.bulk_create(Study(slug=f"s{n}", title=f"Number {n:02}") for n in range(53))
    root = User.objects.create_superuser("root")

    first, second = page(client, root, "/studies/"), page(client, root, "/studies/?page=2")

    assert ("Number 49" in first, "Number 50" in first) == (True, False)
    assert ("Number 49" in second, "Number 50" in second) == (False, True)
    assert "Number 07" in page(client, root, "/studies/?q=ber+07")
    assert "Number 08" not in page(client, root, "/studies/?q=ber+07")
    assert "Number 00" in page(client, root, "/studies/?page=999")


def test_without_a_study_one_is_shown_the_way_in_or_told_who_may(client: Client) -> None:
    assert "Make the first study" in page(client, factories.staff("designer"), "/studies/")
    assert "one of these roles can create studies: designer" in page(client, factories.staff("steward"), "/studies/")
    assert "can create studies: designer" in client.get("/studies/new/").content.decode()


def test_studies_of_one_title_are_told_apart_where_one_is_chosen_to_be_like(client: Client) -> None:
    factories.study("plums", state="draft")
    factories.study("pears")
    Study.objects.filter(slug="pears").update(launched_at=NOON)
    client.force_login(factories.staff("designer"))

    html = client.get("/studies/new/").content.decode()

    assert ">Fourteen tests of a story (Draft)</option>" in html
    assert ">Fourteen tests of a story (Live, 2 March 2026)</option>" in html


def test_a_designer_makes_a_study_from_a_template_on_one_page(client: Client) -> None:
    client.force_login(factories.staff("designer"))

    refused = client.post("/studies/new/", {"template": "pairs", "title": "", "contact": "nobody"})
    response = client.post("/studies/new/", {"template": "pairs", "title": "Two of a kind", "organiser": "Us"})

    assert refused.status_code == 400
    assert 'href="#id_title"' in refused.content.decode()
    assert 'href="#id_contact"' in refused.content.decode()
    assert response.headers["Location"] == "/studies/two-of-a-kind/"
    overview = client.get("/studies/two-of-a-kind/").content.decode()
    assert "The study has no groups of stories" in overview
    assert "minutes for the first group" not in overview, "which nobody can estimate without stories"


def test_a_draft_is_deleted_after_a_question_and_a_study_that_is_frozen_stays(client: Client, study: Study) -> None:
    draft = factories.study("pears", state=Study.State.DRAFT)
    factories.plan(study)
    client.force_login(factories.staff("designer"))

    assert "for good, with everything in it" in client.get("/studies/pears/delete/").content.decode()
    client.post("/studies/pears/delete/")
    client.post("/studies/plums/delete/")

    assert not Study.objects.filter(pk=draft.pk).exists()
    assert Study.objects.filter(pk=study.pk).exists()


def test_the_staffs_site_opens_on_the_studies_and_its_lists_are_one_link_away(client: Client) -> None:
    client.force_login(factories.staff("designer"))

    assert client.get("/admin/").headers["Location"] == "/studies/"
    assert 'href="/admin/records/"' in client.get("/studies/").content.decode()
    assert "/admin/studies/story/" in client.get("/admin/records/").content.decode()


def test_whoever_is_signed_in_can_sign_out_of_every_staff_page(client: Client, study: Study) -> None:
    client.force_login(factories.staff("designer"))
    for address in ("/studies/", f"/studies/{study.slug}/", f"/reports/{study.slug}/", "/instruments/"):
        assert '<form class="account" action="/admin/logout/" method="post">' in client.get(address).content.decode()

    answer = client.post("/admin/logout/")

    assert (answer.status_code, answer["Location"]) == (302, "/admin/login/")
    assert client.get("/studies/").status_code == 302


def test_an_account_that_is_lead_of_a_study_cannot_become_a_steward_of_all(client: Client, study: Study) -> None:
    lead = member(study, "lead")
    client.force_login(factories.staff("administrator"))
    form = {"username": lead.username, "is_active": "on", "is_staff": "on", "date_joined_0": "2026-03-02"}
    form |= {"date_joined_1": "12:00", "groups": str(Group.objects.get(name="steward").pk)}

    html = client.post(f"/admin/auth/user/{lead.pk}/change/", form).content.decode()

    assert "With its role in a study, this account would see" in html
    assert not lead.groups.exists()


# ── what it costs ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("address", "n_queries"), [("/studies/", 5), ("/studies/plums/access/", 7), ("/studies/plums/", 17)]
)
@pytest.mark.parametrize("n_rows", [1, 3])
def test_a_list_costs_the_same_for_one_row_as_for_three(
    client: Client, study: Study, n_rows: int, address: str, n_queries: int, django_assert_num_queries: object
) -> None:
    user = factories.staff("designer")
    for n in range(n_rows):
        member(study, "researcher", name=f"r{n}")
        if n:
            Study.objects.create(slug=f"more{n}", title=f"More {n}")
    client.force_login(user)

    with django_assert_num_queries(n_queries):  # type: ignore[operator]
        client.get(address)
