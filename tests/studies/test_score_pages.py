"""The page on which a score is declared: what it takes, what it refuses, and what the file then says."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from studies import instrument_drafts
from studies.documents.scores import ScoreDocument
from studies.models import Instrument
from tests import factories
from tests.studies.items.forms import posted

pytestmark = pytest.mark.django_db

SCALE = {"type": "scale", "settings": {"low": 1, "high": 5, "anchors": {"1": "Not at all", "5": "Fully"}}}
FIELDS = {"options": [], "rationale": "none"}


@pytest.fixture
def designer(client: Client) -> Client:
    client.force_login(factories.staff("designer"))
    return client


@pytest.fixture
def draft() -> Instrument:
    """Two scales, a verdict, and a text, which gives no number."""
    made = instrument_drafts.begin_draft("Craft")
    for title in ("Voice", "Waste"):
        instrument_drafts.save_item(made, {**SCALE, **FIELDS, "title": title, "question": f"{title}?"})
    instrument_drafts.save_item(made, {**FIELDS, "type": "binary", "title": "Whole", "question": "Whole?"})
    instrument_drafts.save_item(made, {**FIELDS, "type": "text", "title": "Else", "question": "Anything else?"})
    return made


def save(client: Client, draft: Instrument, key: str = "", **fields: Any) -> Any:
    address = reverse(f"instruments:{'score' if key else 'new_score'}", args=[draft.pk, *filter(None, [key])])
    form = posted(client.get(address).content.decode()).dict()
    return client.post(address, {**form, "act": "save", **fields})


def test_a_score_is_declared_and_changed_as_a_file_would_say_it(designer: Client, draft: Instrument) -> None:
    ways = {"way_voice": "counts", "weight_voice": "2.5", "way_waste": "reversed", "weight_waste": "1"}

    assert save(designer, draft, title="Craft in all", how="sum", **ways).status_code == 302

    draft.refresh_from_db()
    declared = ScoreDocument("craft-in-all", "Craft in all", "sum", ("voice", "waste"), {"voice": 2.5}, ("waste",))
    assert draft.score_documents == [declared]

    assert save(designer, draft, "craft-in-all", title="Craft", how="mean", way_whole="counts").status_code == 302

    draft.refresh_from_db()
    assert draft.score_documents == [
        ScoreDocument("craft-in-all", "Craft", "mean", ("voice", "waste", "whole"), {"voice": 2.5}, ("waste",))
    ]
    assert "2.5 × Voice, Waste (reversed), Whole" in designer.get(f"/instruments/{draft.pk}/").content.decode()


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"way_voice": "counts"}, "Let two questions or more count"),
        ({"way_voice": "counts", "way_waste": "counts", "weight_waste": "0"}, "Give a number above 0"),
        ({"way_voice": "counts", "way_waste": "counts", "weight_waste": "much"}, "Enter a number"),
        ({"way_voice": "counts", "way_waste": "counts", "title": " "}, "This field is required"),
    ],
)
def test_what_is_no_score_is_refused_with_the_way_out(
    designer: Client, draft: Instrument, fields: dict[str, str], reason: str
) -> None:
    response = save(designer, draft, **{"title": "Craft", "how": "mean", **fields})

    assert response.status_code == 400
    assert reason in response.content.decode()
    draft.refresh_from_db()
    assert draft.scores == []


def test_only_questions_that_give_a_number_can_count(designer: Client, draft: Instrument) -> None:
    html = designer.get(f"/instruments/{draft.pk}/new-score/").content.decode()

    assert [name for name in ("voice", "waste", "whole", "else") if f'name="way_{name}"' in html] == [
        "voice",
        "waste",
        "whole",
    ]


def test_two_scores_of_one_title_have_keys_of_their_own_and_one_is_removed(designer: Client, draft: Instrument) -> None:
    both = {"way_voice": "counts", "way_waste": "counts", "how": "mean"}
    for _time in range(2):
        save(designer, draft, title="Craft", **both)
    draft.refresh_from_db()
    first, second = (score.key for score in draft.score_documents)

    save(designer, draft, first, act="remove")

    draft.refresh_from_db()
    assert [score.key for score in draft.score_documents] == [second]


def test_the_second_to_save_is_shown_what_the_first_saved(designer: Client, draft: Instrument) -> None:
    both = {"way_voice": "counts", "way_waste": "counts", "how": "mean"}
    save(designer, draft, title="Craft", **both)
    seen = posted(designer.get(f"/instruments/{draft.pk}/scores/craft/").content.decode()).dict()
    save(designer, draft, "craft", title="Depth")

    response = designer.post(f"/instruments/{draft.pk}/scores/craft/", {**seen, "act": "save", "how": "sum"})

    assert response.status_code == 409
    draft.refresh_from_db()
    assert [(score.title, score.how) for score in draft.score_documents] == [("Depth", "mean")]


def test_the_scores_of_a_published_instrument_stay(designer: Client, draft: Instrument) -> None:
    Instrument.objects.filter(pk=draft.pk).update(status=Instrument.Status.PUBLISHED)

    response = designer.get(f"/instruments/{draft.pk}/new-score/", follow=True)

    assert "is published and cannot be changed" in response.content.decode()
    assert "Add a score" not in response.content.decode()
