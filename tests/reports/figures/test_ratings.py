"""Ratings on a scale, as the page shows them."""

import pytest
from django.test import Client

from reports import results
from studies.models import Item
from tests import factories, triggers
from tests.reports import given

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]


def test_few_stories_are_said_to_be_few_beside_ratings(admin_client: Client) -> None:
    made = given.closed_study(n_groups=3)
    with triggers.lifted():
        Item._base_manager.filter(instrument__slug="plums-tests").update(type="scale", settings={"low": 1, "high": 5})
        factories.freeze_anew(made)
    values = {"p1s1": 5, "p1s2": 1, "p2s1": 3, "p2s2": 2, "p3s1": 4, "p3s2": 4}
    given.bring(
        made,
        [
            given.Row("test", "E01", f"plot{story[1]}", story, "tests", "item-1", given.Answer(value=value))
            for story, value in values.items()
        ],
    )
    ratings = results.compute(made)["ratings"][0]["by_source"]

    page = " ".join(admin_client.get("/reports/plums/").content.decode().split())

    assert [row["interval"]["note"] for row in ratings] == ["t interval over 3 clusters"] * 2
    section = page[page.index('id="ratings"') :]
    assert "†</abbr>" in section[: section.index("</section>")]
    assert "t interval over 3 clusters" in section[section.index("<aside") : section.index("</aside>")]
