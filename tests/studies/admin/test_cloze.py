"""Writing a cloze in the admin: refused with field and reason, drawn as it is written, published for good."""

from html import unescape

import pytest
from django.contrib.auth.models import Group, User
from django.test import Client

from studies import loader
from studies.models import Cloze, Instrument
from studies.protocol.triggers import OF_CLOZE
from tests import triggers
from tests.studies.cloze.documents import SHOES

pytestmark = pytest.mark.django_db
LIST, ADD, PICTURE = (f"/admin/studies/cloze/{rest}" for rest in ("", "add/", "picture/"))


@pytest.fixture
def designer(client: Client) -> Client:
    user = User.objects.create_user("designer", password="x", is_staff=True)
    user.groups.add(Group.objects.get(name="designer"))
    client.force_login(user)
    return client


def page(cloze: Cloze) -> str:
    return f"{LIST}{cloze.pk}/change/"


def test_a_document_becomes_a_draft_under_its_own_name(designer: Client) -> None:
    response = designer.post(ADD, {"document": SHOES.replace("\n", "\r\n")})

    assert response.status_code == 302
    made = Cloze.objects.get()
    assert (made.slug, made.title, made.is_published) == ("shoes", "Seven Pairs", False)
    assert made.document == SHOES.strip()
    assert Instrument.objects.count() == 0


@pytest.mark.parametrize(
    ("toml", "said"),
    [
        (SHOES.replace("to = 3", "to = 4"), "edge 1 → 4: there is no section 4; the last is 3"),
        (SHOES.replace("section = 3", "section = 9"), "blank 5, section: there is no section 9"),
        (SHOES.replace("{{3}}", "{{2}}"), "skeleton: {{2}} stands twice"),
        (SHOES.replace("title = ", "titel = ", 1), "titel: there is no such key; did you mean “title”?"),
        ("slug = ", "file: is not TOML"),
    ],
)
def test_a_document_that_cannot_be_is_refused_with_field_and_reason(designer: Client, toml: str, said: str) -> None:
    response = designer.post(ADD, {"document": toml})

    assert response.status_code == 200
    assert any(error.startswith(said) for error in response.context["errors"][0])
    assert toml.strip().splitlines()[0] in unescape(response.text), "what was written is still there"
    assert Cloze.objects.count() == 0


def test_a_version_is_there_once(designer: Client) -> None:
    Cloze.objects.create(document=SHOES)

    response = designer.post(ADD, {"document": SHOES})

    assert "version: there is a cloze shoes 1 already; raise the version" in response.text
    assert designer.post(ADD, {"document": SHOES.replace('version = "1"', 'version = "2"')}).status_code == 302


def test_a_draft_is_edited_on_its_page_beside_its_picture(designer: Client) -> None:
    cloze = Cloze.objects.create(document=SHOES)

    shown = designer.get(page(cloze)).text
    designer.post(page(cloze), {"document": SHOES.replace("Seven Pairs", "Eight Pairs")})

    assert '<title id="cascade-shoes-title">The cascade of “Seven Pairs”</title>' in shown
    assert "3 sections, 5 blanks, 4 constraints, 2 edges" in shown
    cloze.refresh_from_db()
    assert cloze.title == "Eight Pairs"


def test_the_picture_follows_what_is_written_and_nothing_is_stored(designer: Client) -> None:
    drawn = designer.post(PICTURE, {"document": SHOES}).text
    broken = designer.post(PICTURE, {"document": SHOES.replace("from = 1\nto = 2", "from = 2\nto = 2")}).text

    assert 'class="cascade"' in drawn
    assert "hidden" in drawn.split('id="picture-problem"')[1].split(">")[0]
    assert "edges: 2 → 2 is a cycle" in broken
    assert 'id="picture"' not in broken, "the last picture that could be drawn stays"
    assert Cloze.objects.count() == 0


def test_the_picture_is_neither_a_page_nor_open_to_everybody(designer: Client, client: Client) -> None:
    assert designer.get(PICTURE).status_code == 405
    user = User.objects.create_user("steward", password="x", is_staff=True)
    user.groups.add(Group.objects.get(name="steward"))
    client.force_login(user)
    assert client.post(PICTURE, {"document": SHOES}).status_code == 403
    client.logout()
    assert client.post(PICTURE, {"document": SHOES}).status_code == 302


def test_titles_are_shown_as_text_and_never_as_markup(designer: Client) -> None:
    drawn = designer.post(PICTURE, {"document": SHOES.replace('"The Border"', '"<script>alert(1)</script>"')}).text

    assert "<script>" not in drawn
    assert "&lt;script&gt;" in drawn


def publish(client: Client, cloze: Cloze) -> str:
    chosen = {"action": "publish", "_selected_action": [cloze.pk]}
    return unescape(client.post(LIST, chosen, follow=True).text)


def test_a_published_cloze_has_its_instruments_and_never_changes(designer: Client) -> None:
    cloze = Cloze.objects.create(document=SHOES)

    assert "Shoes 1 is published: shoes-fill 1 fills it, shoes-judge 1 judges it." in publish(designer, cloze)

    answer = designer.post(page(cloze), {"document": SHOES.replace("Seven Pairs", "Eight Pairs")})
    assert (answer.status_code, OF_CLOZE in answer.text) == (409, True)
    cloze.refresh_from_db()
    assert (cloze.is_published, cloze.title) == (True, "Seven Pairs")
    assert "<textarea" not in designer.get(page(cloze)).text
    assert designer.post(f"{LIST}{cloze.pk}/delete/", {"post": "yes"}).status_code == 409


def test_a_cloze_whose_instruments_are_there_and_say_otherwise_is_not_published(designer: Client) -> None:
    loader.load_cloze(SHOES)
    with triggers.lifted():
        Cloze.objects.all().delete()
        Instrument.objects.filter(slug="shoes-judge").update(fingerprint="0" * 64)
    cloze = Cloze.objects.create(document=SHOES.replace("they were wet", "they were dry").replace("coin", "x"))

    assert "Not published. shoes-judge 1 is published and asks something else" in publish(designer, cloze)

    cloze.refresh_from_db()
    assert not cloze.is_published


@pytest.mark.parametrize("n", [1, 3])
def test_the_list_takes_a_fixed_number_of_queries(designer: Client, django_assert_num_queries, n: int) -> None:
    for version in range(n):
        Cloze.objects.create(document=SHOES.replace('version = "1"', f'version = "{version}"'))

    with django_assert_num_queries(7):
        assert designer.get(LIST).status_code == 200
