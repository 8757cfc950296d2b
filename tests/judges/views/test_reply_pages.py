"""The page of how a run's replies were read, and of what reading them again would change."""

import pytest
from django.test import Client

from annotation.models import Response
from judges import parsing, runs
from judges.models import Parse, Run
from studies.models import Study
from tests import factories
from tests.judges.conftest import judge_at, started
from tests.judges.standin import StandIn
from tests.judges.standin.replies import says
from tests.judges.views.pages import page, words
from tests.replay import replayed

pytestmark = pytest.mark.django_db


@pytest.fixture
@replayed
def study() -> Study:
    return factories.study(n_stories=4, n_items=1, comparative=False)


@pytest.fixture
def run(study: Study, standin: StandIn) -> Run:
    """Four replies, each in another form; the last cannot be read, and is asked once more."""
    replies = iter(
        [
            '{"answer": "yes"}',
            '{"verdict": "yes"}',
            "The end is earned, so the answer is: **Yes**",
            *["Who can say?"] * 2,
        ]
    )
    standin.reply = lambda hit: says(next(replies))
    return runs.drain(started(study, judge_at(standin)))


def test_forms_are_counted_and_what_could_not_be_read_is_grouped_by_its_reason(client: Client, run: Run) -> None:
    read = words(page(client, "researcher", f"/studies/plums/runs/{run.pk}/replies/"))

    assert "As asked for 1 call" in read
    assert "Under another name, such as score or rating, or a key spelled otherwise 1 call" in read
    assert "Within the last sentence, as the model’s own verdict 1 call" in read
    assert "Cannot be read there is no answer in “…” 1 call" in read
    assert "Would be" not in read


def test_what_reading_again_would_change_is_shown_before_anything_is(client: Client, run: Run) -> None:
    Parse.objects.filter(form="names").update(version="1", values={}, state="unreadable", form="")
    before = list(Response.objects.order_by("pk").values())

    read = words(page(client, "researcher", f"/studies/plums/runs/{run.pk}/replies/?try=all"))

    assert f"Tried the replies of 4 calls with parser {parsing.VERSION}: 1 would be read differently." in read
    assert "item-1 no answer yes 1 call" in read
    assert list(Response.objects.order_by("pk").values()) == before
    assert Parse.objects.filter(version="1").count() == 1


def test_who_may_not_see_answers_is_not_shown_what_would_change(client: Client, run: Run) -> None:
    read = words(page(client, "designer", f"/studies/plums/runs/{run.pk}/replies/?try=all"))

    assert "As asked for 1" in read
    assert "Tried the replies" not in read
