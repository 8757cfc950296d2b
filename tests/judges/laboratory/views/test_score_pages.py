"""Scores from elsewhere on screen: a file with its card, what would come in; then all of it, or nothing."""

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotation.models import BroughtFile, Response
from judges.models import ScoreCard
from studies.models import Study
from tests import factories

pytestmark = pytest.mark.django_db

HOME = "/studies/plums/scores/"


@pytest.fixture
def page(client: Client) -> Client:
    factories.study(n_stories=2, comparative=False)
    client.force_login(factories.staff("researcher"))
    return client


def upload(page: Client, content: str, **fields: Any) -> Any:
    card = {"metric": "reward", "better": "lower", "scored_by": "Us", "scored_on": "2026-01-31", "story_by": "code"}
    return page.post(HOME, card | {"file": SimpleUploadedFile("s.csv", content.encode())} | fields)


def test_scores_are_looked_at_and_then_come_in_with_their_card(page: Client) -> None:
    address = upload(page, "story,value\np1s1,1.5\np1s2,2\n")["Location"]
    preview = page.get(address).content.decode()
    before = Response.objects.count()

    response = page.post(address, {"bring_in": "yes"}, follow=True)

    assert "What will be imported" in preview
    assert "2 scores, about stories." in preview
    assert "No problem" in preview
    assert before == 0
    assert "2 scores of reward-1 are in." in response.content.decode()
    card = ScoreCard.objects.get()
    assert (card.better, card.scored_by, str(card.scored_on), card.imported_by) == (
        *("lower", "Us", "2026-01-31"),
        "researcher",
    )
    assert not BroughtFile.objects.exists()
    assert "lower is better" in page.get(HOME).content.decode()


def test_a_preview_of_some_scores_says_how_many_it_shows(page: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    address = upload(page, "story,value\np1s1,1.5\np1s2,2\n")["Location"]
    assert "are shown." not in page.get(address).content.decode(), "it shows all"
    monkeypatch.setattr("judges.laboratory.views.scores.N_PREVIEWED", 1)

    assert "The first is shown." in page.get(address).content.decode()


def test_what_is_wrong_is_said_before_and_after_somebody_insists(page: Client) -> None:
    address = upload(page, "story,value\np1s1,much\np9,2\n")["Location"]

    preview = page.get(address).content.decode()
    refused = page.post(address, {"bring_in": "yes"})

    assert "“much” is no finite number" in preview
    assert "“p9” is no story of the study" in preview
    assert "What will be imported" not in preview, "nothing would"
    assert (refused.status_code, Response.objects.count()) == (400, 0)
    assert "2 problems in all." in refused.content.decode()
    page.post(address, {"put_aside": "yes"})
    assert not BroughtFile.objects.exists()


@pytest.mark.parametrize("content", ["story,value\np1s1,1\np9,2\n", "story,value\np1s1,1\n"])
def test_one_wrong_row_or_missing_score_keeps_all_from_coming_in_and_the_page_says_so(
    page: Client, content: str
) -> None:
    preview = page.get(upload(page, content)["Location"]).content.decode()

    assert "1 score, about stories." in preview
    assert "What could be read" in preview
    assert "Nothing is imported while there are problems." in preview
    assert "will be imported" not in preview


def test_a_file_that_is_none_and_a_card_without_a_name_are_refused(page: Client) -> None:
    response = upload(page, "story,value\n", metric="")

    assert response.status_code == 400
    assert "There is a header and no row below it. Add a row for each score." in response.content.decode()
    assert Study.objects.count() == 1


@pytest.mark.parametrize(
    ("field", "card", "message"),
    [
        ("metric", {"metric": "My reward"}, "“My reward” will not do; use small letters"),
        ("metric", {"metric": "length"}, "“length” is a metric of Quire’s own; give these scores another name"),
        ("version", {"version": "V 1"}, "“V 1” will not do"),
    ],
)
def test_a_card_that_cannot_stand_is_said_at_its_field_before_the_file_is_kept(
    page: Client, field: str, card: dict[str, str], message: str
) -> None:
    response = upload(page, "story,value\np1s1,1.5\np1s2,2\n", **card)

    assert response.status_code == 400
    assert response.context["form"].errors[field][0].startswith(message)
    assert not BroughtFile.objects.exists()


def test_a_version_that_is_there_already_is_said_at_its_field(page: Client) -> None:
    address = upload(page, "story,value\np1s1,1.5\np1s2,2\n")["Location"]
    page.post(address, {"bring_in": "yes"})

    response = upload(page, "story,value\np1s1,1.5\np1s2,2\n", version="1")

    assert "give these another version, such as 2" in response.context["form"].errors["version"][0]


def test_a_file_of_scores_is_read_otherwise_as_somebody_chooses(page: Client) -> None:
    address = upload(page, "a,b\nstory,value\np1s1,1.5\np1s2,2\n")["Location"]

    before = page.get(address)
    after = page.post(address, {"reading-header_row": "2"}, follow=True)

    assert before.context["obstacles"]
    assert after.context["is_ready"]
    assert len(after.context["scores"].scores) == 2
