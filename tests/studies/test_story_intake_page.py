"""The page of a long file of stories that a worker brings in: how far it is, and at the end the stories."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from studies import story_edits
from studies.models import Story, StoryImport, StoryIntake, Study
from studies.story_import import intakes
from tests import factories
from tests.studies.story_import.files import CSV
from tests.studies.test_story_pages import STORIES, brought, form_of
from tests.trust.test_words_designers import find_unwanted

pytestmark = pytest.mark.django_db
POLL = {"HX-Request": "true", "HX-Target": "live"}
LAST = {"HX-Request": "true", "HX-Target": "over"}


@pytest.fixture
def draft() -> Study:
    return factories.study(n_groups=2, n_stories=2, state="draft", planned=False)


@pytest.fixture(autouse=True)
def sent(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Every file is long, and no worker comes."""
    told: list[int] = []
    monkeypatch.setattr(intakes, "LONG_ROWS", 3)
    monkeypatch.setattr(intakes, "_send", told.append)
    return told


def asked(client: Client, content: str = CSV) -> str:
    """The address of a long file after its button was pressed."""
    address = brought(client, content)
    response = client.post(address, form_of(client, address) | {"bring_in": "yes"})
    assert (response.status_code, response.headers["Location"]) == (302, address)
    return address


def change(**values: Any) -> None:
    StoryIntake.objects.update(**values)


def test_a_long_file_is_told_to_a_worker_and_leads_to_the_stories(
    draft: Study, designer: Client, sent: list[int], django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        address = asked(designer)
    assert sent == [StoryImport.objects.get().pk]
    page = designer.get(address).content.decode()
    assert "A worker has been asked and will start in a moment." in page
    assert 'hx-trigger="every 2s"' in page
    assert draft.stories.count() == 4

    change(leased_until=timezone.now() + timedelta(minutes=1), stage="examining", n_rows=4_000, n_rows_done=1_500)
    part = designer.get(address, headers=POLL).content.decode()
    assert find_unwanted(part) == []
    assert "1500 of 4000 rows are examined." in part
    assert 'value="5500"' in part
    assert 'max="12000"' in part
    assert "<html" not in part

    change(leased_until=None)
    intakes.carry_out(sent[0])
    for _ in range(2):
        part = designer.get(address, headers=POLL).content.decode()
        assert ('hx-trigger="load"' in part, "every 2s" in part) == (True, False), "it is asked no more"
    assert designer.get(address, headers=LAST).headers["HX-Redirect"] == STORIES
    assert designer.get(STORIES).content.decode().count("4 stories are in, in 2 groups.") == 1
    assert designer.get(address, follow=True).redirect_chain == [(STORIES, 302)]
    assert draft.stories.count() == 8


def test_a_file_of_few_rows_stays_within_the_request(designer: Client, draft: Study, sent: list[int]) -> None:
    address = brought(designer, CSV.rpartition("b2")[0])

    response = designer.post(address, form_of(designer, address) | {"bring_in": "yes"}, follow=True)

    assert "3 stories are in, in 2 groups." in response.content.decode()
    assert not StoryIntake.objects.exists()


def test_a_second_click_leads_to_the_same_page(
    draft: Study, designer: Client, sent: list[int], django_capture_on_commit_callbacks: Any
) -> None:
    address = brought(designer)
    form = form_of(designer, address) | {"bring_in": "yes"}

    with django_capture_on_commit_callbacks(execute=True):
        answers = [designer.post(address, form) for _ in range(2)]

    assert [answer.headers["Location"] for answer in answers] == [address, address]
    assert len(sent) == 1


def test_what_keeps_it_out_stands_above_the_columns_until_they_are_changed(
    draft: Study, designer: Client, django_capture_on_commit_callbacks: Any, sent: list[int]
) -> None:
    address = asked(designer, CSV.replace("The Perpetua came up out of the haze.", ""))
    pk = StoryImport.objects.get().pk

    intakes.carry_out(pk)

    assert 'hx-trigger="load"' in designer.get(address, headers=POLL).content.decode()
    assert designer.get(address, headers=LAST).headers["HX-Redirect"] == address
    page = designer.get(address).content.decode()
    assert "Fix the problems first." in page
    assert page.index('id="import"') < page.index("Nothing was imported"), "it goes as soon as a choice is changed"
    assert "The text is empty, so there is nothing to read." in page
    designer.post(address, form_of(designer, address) | {"act": '["leave", 5]'})
    assert "Nothing was imported" not in designer.get(address).content.decode()
    with django_capture_on_commit_callbacks(execute=True):
        designer.post(address, form_of(designer, address) | {"bring_in": "yes"})
    assert sent == [pk]


def test_it_can_be_stopped_and_its_columns_said_otherwise(draft: Study, designer: Client) -> None:
    address = asked(designer)

    page = designer.post(address, {"cancel": "yes"}, follow=True).content.decode()

    assert "Import 4 stories" in page
    intakes.carry_out(StoryImport.objects.get().pk)
    assert draft.stories.count() == 4


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({}, "No worker has started yet"),
        ({"stage": "reading", "leased_until": timedelta(seconds=-1)}, "The worker stopped before the end"),
    ],
)
def test_that_no_worker_comes_or_that_it_died_is_said_with_a_way_out(
    values: dict[str, Any],
    sentence: str,
    draft: Study,
    designer: Client,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Any,
) -> None:
    started: list[tuple[str, ...]] = []
    monkeypatch.setattr(intakes.processes, "start_command", lambda *words: started.append(words))
    address = asked(designer)
    assert sentence not in designer.get(address).content.decode()
    at = timezone.now()
    times = {name: at + value if isinstance(value, timedelta) else value for name, value in values.items()}
    change(asked_at=at - timedelta(seconds=16), queued_at=at - timedelta(seconds=16), **times)

    page = designer.get(address).content.decode()
    assert sentence in page
    assert find_unwanted(page) == []
    for _ in range(2):
        with django_capture_on_commit_callbacks(execute=True):
            page = designer.post(address, {"without_worker": "yes"}, follow=True).content.decode()
    assert draft.stories.count() == 4, "never in the process that serves pages"
    assert sentence not in page

    assert {*started} == {("work_off", "studies.tasks.bring_in_stories", str(StoryImport.objects.get().pk))}
    call_command(*started[0])

    assert "4 stories are in, in 2 groups." in designer.get(address, follow=True).content.decode()
    assert draft.stories.count() == 8


def test_the_columns_in_another_window_are_changed_in_place_until_it_is_under_way(
    draft: Study, designer: Client
) -> None:
    address = brought(designer)
    form, of_columns = form_of(designer, address), {"HX-Request": "true", "HX-Target": "import"}
    page = designer.post(address, form, headers=of_columns, follow=True)
    assert 'id="import"' in page.content.decode()
    designer.post(address, form | {"bring_in": "yes"})

    page = designer.post(address, form | {"licence": "CC0"}, headers=of_columns, follow=True)

    assert page.headers["HX-Redirect"] == address
    assert StoryImport.objects.get().choices["licence"] == ""


def test_a_launched_study_is_said_at_once(draft: Study, designer: Client, sent: list[int]) -> None:
    address = brought(designer)
    form = form_of(designer, address) | {"bring_in": "yes"}
    Study.objects.update(state="live")

    page = designer.post(address, form).content.decode()

    assert story_edits.LAUNCHED in page
    assert not StoryIntake.objects.exists()


def test_the_page_of_files_leads_to_what_is_under_way(draft: Study, designer: Client) -> None:
    address = asked(designer)
    page = designer.get(f"{STORIES}new/").content.decode()
    assert f'href="{address}"' in page
    assert "The stories of five-plots.csv are being imported." in page

    intakes.carry_out(StoryImport.objects.get().pk)
    assert f'href="{address}"' not in designer.get(f"{STORIES}new/").content.decode()


def test_whoever_comes_back_to_the_stories_is_led_to_what_is_under_way(draft: Study, designer: Client) -> None:
    address = asked(designer)
    page = designer.get(STORIES).content.decode()
    Story.objects.all().delete()
    of_none = designer.get(STORIES).content.decode()
    assert page.count(f'href="{address}"') == of_none.count(f'href="{address}"') == 1
    assert "The stories of five-plots.csv are being imported." in of_none

    intakes.carry_out(StoryImport.objects.get().pk)
    assert f'href="{address}"' not in designer.get(STORIES).content.decode()


def test_nobody_else_sees_how_far_it_is(draft: Study, designer: Client, client: Client) -> None:
    address = asked(designer)
    assert designer.get(address).status_code == 200

    other = User.objects.create_user("bob", is_staff=True)
    other.groups.set(Group.objects.filter(name="designer"))
    client.force_login(other)

    assert client.get(address).status_code == 404


def test_every_look_asks_as_little_and_reads_no_file(
    draft: Study, designer: Client, django_assert_num_queries: Any
) -> None:
    address = asked(designer)
    designer.get(address)

    with django_assert_num_queries(7) as looks:
        designer.get(address, headers=POLL)

    assert not any('"table"' in query["sql"] for query in looks.captured_queries)
