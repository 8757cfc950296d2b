"""Every address, everybody, every method: what is answered stands in two tables, and an address without a row fails.

A new page of the admin about a table needs a line in `admin_matrix.ADMIN`, any other page its two lines in
`matrix.PAGES`, one of the judges in `judges_matrix.JUDGES_PAGES`.
"""

from collections.abc import Iterator

import pytest
from django.apps import apps
from django.contrib.auth.models import Group, Permission
from django.db import transaction
from django.http import HttpResponse

from config.headers import MethodMiddleware
from tests.trust import crawl
from tests.trust.addresses import Pattern, patterns
from tests.trust.admin_matrix import ADMIN
from tests.trust.judges_matrix import JUDGES_PAGES
from tests.trust.matrix import PAGES
from tests.trust.world import World

pytestmark = pytest.mark.django_db

STAFF = {"D": "design", "C": "coord", "R": "resear", "S": "steward", "A": "admin", "–": "helper"}
# The owner is the rater to whom the addresses belong; the other has come in as well.
WHO = {
    "anon": "anonymous",
    "owner": "reading",
    "other": "comparing",
    "helper": "helper",
    "design": "designer",
    "coord": "coordinator",
    "resear": "researcher",
    "steward": "steward",
    "admin": "administrator",
}
NEVER = ("PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")
# The row that is asked for is final: published, or of a frozen study. Who may otherwise is told so.
FINAL = {
    "studies.cloze": ("change", "delete"),
    "studies.source": ("change", "delete"),
    "studies.instrument": ("delete",),
}


def admin_rows() -> dict[str, dict[str, set[str]]]:
    """The staff that get each page, by table."""
    head, *lines = [line.split() for line in ADMIN.strip().splitlines()]
    return {
        table: {page: {STAFF[letter] for letter in cell.strip("–")} for page, cell in zip(head[1:], cells, strict=True)}
        for table, *cells in lines
    }


def page_rows() -> dict[tuple[str, str], dict[str, str]]:
    """What is answered to whom, by name and method."""
    head, *lines = [line.split() for line in PAGES.strip().splitlines()]
    lines += [line.split() for line in JUDGES_PAGES.strip().splitlines()[1:]]
    return {(name, method): dict(zip(head[2:], cells, strict=True)) for name, method, *cells in lines}


def admin_page(pattern: Pattern) -> str:
    """Which page about the rows of a table it is; empty if it is another."""
    if not pattern.model:
        return ""
    if pattern.name == pattern.route:
        return "row"  # without a name: leads to the page on which the row is changed
    page = pattern.name.removeprefix(f"admin:{pattern.model.replace('.', '_')}_")
    return page if page in ("changelist", "add", "change", "delete", "history") else ""


def expected_of_admin(page: str, method: str, table: str, who: str) -> set[str]:
    """What may be answered there: a form that is refused comes back as a page, one that is taken leads away."""
    if who not in STAFF.values():
        return {"login"}
    if page == "row":
        return {"away"}
    column = "list" if page == "changelist" or (page == "change" and method != "POST") else page
    if who not in admin_rows()[table][column]:
        return {"403"}
    if page in FINAL.get(table, ()) and (page == "delete" or method == "POST"):
        return {"409"}
    return {"ok", "away"} if method == "POST" else {"ok"}


def answer(response: HttpResponse) -> str:
    """The class of an answer."""
    if response.status_code in (301, 302):
        return "login" if response.headers["Location"].startswith("/admin/login/") else "away"
    return "ok" if response.status_code in (200, 204) else str(response.status_code)


def subject(pattern: Pattern) -> object:
    """The row that a page of the admin is shown: one of the draft, where the table knows of studies."""
    model = apps.get_model(pattern.model)
    names = {field.name for field in model._meta.get_fields()}
    found = model._default_manager.all()
    if pattern.model == "studies.study":
        found = found.filter(slug="quinces")
    elif pattern.model == "studies.provenance":
        found = found.filter(story__study__slug="quinces")
    elif "study" in names and found.filter(study__slug="quinces").exists():
        found = found.filter(study__slug="quinces")
    elif pattern.model == "auth.user":
        found = found.filter(username="helper")
    return found.earliest("pk").pk


def address(world: World, pattern: Pattern) -> str:
    """The address of a pattern with what belongs to the owner, or to the draft."""
    values = crawl.values(world, pattern, "reading")[0]
    if admin_page(pattern) and "object_id" in pattern.parameters:
        values = {"object_id": subject(pattern)}
    if pattern.name == "admin:studies_study_action":
        values |= {"pk": world.studies["quinces"].pk}
    return pattern.address(values)


def asked(world: World, where: str, who: str, method: str) -> str:
    """What the visitor is answered; what was changed is taken back."""
    client = world.visitors[WHO[who]]
    cookies = client.cookies.copy()
    form = crawl.form_for(where) if method == "POST" else {}
    with transaction.atomic():
        data = "&".join(f"{name}={value}" for name, value in form.items())
        found = answer(client.generic(method, where, data, content_type="application/x-www-form-urlencoded"))
        transaction.set_rollback(True)
    client.cookies = cookies
    return found


def differences(world: World, method: str, every: list[Pattern]) -> Iterator[str]:
    """Where what is answered is not what the tables say."""
    pages = page_rows()
    for n, pattern in enumerate(every):
        page, where = admin_page(pattern), address(world, pattern)
        # Raters have no account: at the door of the staff they are as strangers, which every ninth page makes sure of.
        for who in WHO if not page or n % 9 == 0 else ("anon", *STAFF.values()):
            if page:
                allowed = expected_of_admin(page, method, pattern.model, who)
            else:
                row = pages.get((pattern.name, method)) or pages[pattern.name, "GET"]
                allowed = {row[who]}
            if (found := asked(world, where, who, method)) not in allowed:
                yield f"{method} {pattern.name} as {who}: {found}, not {' or '.join(sorted(allowed))}"


def test_every_address_has_its_rows_and_every_row_its_address() -> None:
    every = patterns()
    others = {each.name for each in every if not admin_page(each)}

    assert {each.model for each in every if admin_page(each)} == set(admin_rows())
    rows = {(name, method) for name, method in page_rows() if method != "HEAD"}
    assert rows == {(name, method) for name in others for method in ("GET", "POST")}


@pytest.mark.slow
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_everybody_is_answered_as_the_tables_say(world: World, method: str) -> None:
    assert list(differences(world, method, patterns())) == []


@pytest.mark.slow
def test_head_is_answered_like_get(world: World) -> None:
    # Of the admin's pages about tables, which are all made alike, one table's.
    some = [each for each in patterns() if not admin_page(each) or each.model == "studies.story"]

    assert list(differences(world, "HEAD", some)) == []


@pytest.mark.slow
@pytest.mark.parametrize("method", NEVER)
def test_no_other_method_is_answered(world: World, method: str) -> None:
    found = {
        (each.name, who): asked(world, address(world, each), who, method)
        for n, each in enumerate(patterns())
        for who in (WHO if n % 9 == 0 else ("anon",))
    }

    assert {key: status for key, status in found.items() if status != "405"} == {}


def test_an_address_without_a_row_would_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    every = [*patterns(), Pattern("annotation:new", "new/")]
    monkeypatch.setattr("tests.trust.test_matrix.patterns", lambda: every)

    with pytest.raises(AssertionError):
        test_every_address_has_its_rows_and_every_row_its_address()


def test_a_door_left_open_would_be_seen(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    Group.objects.get(name="steward").permissions.add(Permission.objects.get(codename="view_provenance"))
    monkeypatch.setattr(MethodMiddleware, "__call__", lambda self, request: self.get_response(request))

    some = [each for each in patterns() if each.model == "studies.provenance"]
    assert "GET admin:studies_provenance_changelist as steward: ok, not 403" in list(differences(world, "GET", some))
    assert asked(world, "/admin/records/", "design", "DELETE") == "ok"
