"""Long files on the page of their columns: examined by a worker, and the page says how far it is."""

from dataclasses import replace
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from studies import jobs, tasks
from studies.incoming_tables import uploads
from studies.models import Story, StoryImport, StoryIntake, Study, StudyJob
from studies.story_import import examinations, imports, intakes
from studies.story_import.problems import examine
from studies.views import story_imports
from tests import factories
from tests.studies.page_parts import part_of, tags_in
from tests.studies.story_import.files import CSV
from tests.studies.test_story_pages import STORIES, brought, form_of
from tests.trust.test_words_designers import find_unwanted

pytestmark = pytest.mark.django_db
POLL = {"HX-Request": "true", "HX-Target": "job"}
LAST = {"HX-Request": "true", "HX-Target": "found"}
FIELDS = {"input", "select", "textarea"}
WAITS = "The rows are being examined."
EMPTY = CSV.replace("The Perpetua came up out of the haze.", "")


@pytest.fixture
def draft() -> Study:
    return factories.study(n_groups=2, n_stories=2, state="draft", planned=False)


@pytest.fixture(autouse=True)
def sent(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Every file has long texts, no worker comes, and the pages examine nothing."""
    told: list[int] = []
    monkeypatch.setattr(intakes, "LONG_LETTERS", 3)
    monkeypatch.setattr(intakes, "_send", told.append)
    monkeypatch.setattr(jobs, "_send", lambda job, **_: told.append(job.pk))
    for module in (story_imports, imports):
        monkeypatch.setattr(module, "examine", lambda *_args, **_options: pytest.fail("a page examines"))
    return told


def shown(client: Client, address: str) -> str:
    return " ".join(client.get(address).text.split())


def work() -> None:
    tasks.examine_stories(StudyJob.objects.get(ended_at=None).pk)


def test_the_page_waits_and_then_shows_what_the_worker_found(
    draft: Study, designer: Client, sent: list[int], django_capture_on_commit_callbacks: Any
) -> None:
    address = brought(designer, EMPTY)
    with django_capture_on_commit_callbacks(execute=True):
        page = shown(designer, address)
    assert sent == [StudyJob.objects.get().pk]
    assert f"{WAITS} A worker has been asked and will start in a moment." in page
    assert f'<a href="{address}">Refresh</a>' in page, "without scripts"
    assert "No problem" not in page
    assert 'name="bring_in"' not in page
    assert find_unwanted(page) == []
    assert WAITS in designer.get(address, headers=POLL).text

    work()

    assert 'hx-trigger="load"' in designer.get(address, headers=POLL).text
    page = shown(designer, address)
    assert WAITS not in page
    assert "Row 5" in page
    assert "The text is empty, so there is nothing to read." in page
    assert "Leave row 5 out" in page
    assert "1 problem" in page


def test_many_rows_are_examined_elsewhere_too_however_short_their_texts(
    draft: Study, designer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(intakes, "LONG_LETTERS", 5_000_000)
    monkeypatch.setattr(intakes, "MANY_ROWS", 3)

    assert WAITS in shown(designer, brought(designer, CSV))


def test_what_is_kept_is_what_was_found(draft: Study, designer: Client) -> None:
    designer.get(brought(designer, CSV.replace("b2,harbour", "b2,orchards")))
    row, job = StoryImport.objects.get(), StudyJob.objects.get()
    choices = examinations.restore_choices(row.choices)

    work()
    job.refresh_from_db()

    expected = examine(uploads.restore(row), choices, imports.read_contents(draft))
    assert expected.warnings
    assert examinations.restore(job) == replace(expected, collection=None, raw_text_by_code={})


def test_another_choice_or_another_story_of_the_study_is_examined_anew(draft: Study, designer: Client) -> None:
    address = brought(designer, EMPTY)
    designer.get(address)
    work()

    assert designer.post(address, form_of(designer, address) | {"act": '["leave", 5]'}).status_code == 302
    assert WAITS in shown(designer, address)
    work()
    assert "Import 3 stories" in shown(designer, address)

    Story.objects.filter(code="p1s1").delete()
    assert WAITS in shown(designer, address)


def test_stories_come_in_by_a_worker_once_they_are_examined(draft: Study, designer: Client, sent: list[int]) -> None:
    address = brought(designer, CSV)
    designer.get(address)
    work()

    designer.post(address, form_of(designer, address) | {"bring_in": "yes"})

    assert "Stories are being imported" in shown(designer, address)
    assert StoryIntake.objects.get().is_under_way
    assert draft.stories.count() == 4


def test_a_failure_is_said_and_looking_again_tries_again(
    draft: Study, designer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = brought(designer, CSV)
    designer.get(address)
    with monkeypatch.context() as patch:
        patch.setattr(examinations, "examine", lambda *_args, **_options: 1 / 0)
        work()
    assert jobs.BROKEN % {"error": "ZeroDivisionError"} in shown(designer, address)

    designer.post(address, form_of(designer, address) | {"save": "yes"})

    assert WAITS in shown(designer, address)
    work()
    assert "Import 4 stories" in shown(designer, address)


def test_the_end_of_the_examination_takes_what_was_found_and_no_field_in_which_somebody_types(
    draft: Study, designer: Client
) -> None:
    address = brought(designer, EMPTY)
    designer.get(address)
    work()

    end = designer.get(address, headers=POLL).text
    answer = designer.get(address, headers=LAST)

    assert 'hx-target="#found" hx-select="#found"' in end
    assert 'hx-select-oob="#found-groups,#found-actions"' in end
    assert (answer.status_code, answer.headers.get("HX-Redirect")) == (200, None)
    assert "The text is empty, so there is nothing to read." in part_of(answer.text, "found")
    assert "Import 4 stories" in part_of(answer.text, "found-actions")
    assert "These rows as they are would make 2 groups of 2." in part_of(answer.text, "found-groups")
    assert FIELDS & tags_in(answer.text, "import"), "the form has fields"
    for id in ("found", "found-groups", "found-actions"):
        assert not FIELDS & tags_in(answer.text, id)


@pytest.mark.parametrize("end", ["put aside", "replaced", "brought in", "brought in by a worker", "a day old"])
def test_what_was_found_goes_with_the_file(
    draft: Study, designer: Client, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    address = brought(designer, CSV)
    designer.get(address)
    work()
    assert StudyJob.objects.get().outcome
    row = StoryImport.objects.get()
    monkeypatch.undo()

    match end:
        case "put aside":
            designer.post(address, {"put_aside": "yes"})
        case "replaced":
            brought(designer, CSV)
        case "brought in":
            imports.bring_in(row)
        case "brought in by a worker":
            intakes.ask(row, at=timezone.now())
            tasks.bring_in_stories(row.pk)
            assert draft.stories.count() == 8
        case "a day old":
            imports.forget_old_imports(at=row.created_at + uploads.KEPT * 1.01)

    assert not StudyJob.objects.exists()


def test_a_file_that_was_put_aside_is_not_examined(
    draft: Study, designer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = brought(designer, CSV)
    designer.get(address)
    pk, begun = StudyJob.objects.get().pk, list[str]()
    monkeypatch.setattr(examinations, "examine", lambda *_args, **_options: begun.append("examined"))
    designer.post(address, {"put_aside": "yes"})

    tasks.examine_stories(pk)

    assert begun == []


def test_every_look_reads_no_file(draft: Study, designer: Client, django_assert_num_queries: Any) -> None:
    address = brought(designer, CSV)
    designer.get(address)

    with django_assert_num_queries(11) as looks:
        designer.get(address, headers=POLL)

    assert not any('"table"' in query["sql"] for query in looks.captured_queries)
    assert designer.get(STORIES).status_code == 200
