"""Long texts on the page of the sources: compared and made alike by a worker, and the page says how far it is."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.utils import timezone

from studies import formatting, jobs, story_edits, tasks, typing_jobs
from studies.models import Story, Study, StudyJob
from tests import factories
from tests.studies.page_parts import part_of
from tests.trust.test_words_designers import find_unwanted

pytestmark = pytest.mark.django_db
ADDRESS = "/studies/plums/stories/sources/"
POLL = {"HX-Request": "true", "HX-Target": "job"}
LAST = {"HX-Request": "true", "HX-Target": "found"}
WAITS = "The texts of all sources are being compared."
DIFFERS = "words in a paragraph"
OUTDATED = "Texts or sources have been changed since this was last asked for, so there is no result for them yet."


@pytest.fixture
def draft() -> Study:
    study = factories.study(n_groups=2, n_stories=2, state="draft", planned=False)
    for story in study.stories.filter(code__endswith="s1"):
        story.text = f"“It began,” he said -- and {story.code} ended."
        story.save()
    return study


@pytest.fixture(autouse=True)
def sent(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """All texts are too long for a request, and no worker comes."""
    told: list[int] = []
    monkeypatch.setattr(formatting, "LETTERS_AT_ONCE", 1)
    monkeypatch.setattr(jobs, "_send", lambda job, **_: told.append(job.pk))
    return told


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was computed of texts, other than the few that the rail looks at."""
    listing: list[str] = []
    effects, report, text = formatting.list_effects, formatting.report, formatting.normalise_text

    def report_some(study: Study, *, most: int | None = None, **options: Any) -> Any:
        listing.extend(["report"] if most is None else [])
        return report(study, most=most, **options)

    monkeypatch.setattr(formatting, "report", report_some)
    monkeypatch.setattr(formatting, "list_effects", lambda *a, **o: (listing.append("effects"), effects(*a, **o))[1])
    monkeypatch.setattr(formatting, "normalise_text", lambda *a: (listing.append("text"), text(*a))[1])
    return listing


def asked(client: Client) -> StudyJob:
    """The comparison, after somebody has asked for it."""
    answer = client.get(f"{ADDRESS}?typing=yes")
    assert (answer.status_code, answer.headers["Location"]) == (302, ADDRESS)
    return StudyJob.objects.get(task="studies.tasks.compare_typing")


def shown(client: Client) -> str:
    return " ".join(client.get(ADDRESS).text.split())


def test_the_request_computes_nothing_and_the_page_waits_and_then_shows_what_the_worker_found(
    draft: Study, designer: Client, sent: list[int], computed: list[str], django_capture_on_commit_callbacks: Any
) -> None:
    assert "Comparing 4 texts takes a while." in shown(designer)
    assert not StudyJob.objects.exists(), "nobody has asked"

    with django_capture_on_commit_callbacks(execute=True):
        job = asked(designer)
    page = shown(designer)
    assert (computed, sent) == ([], [job.pk])
    assert f"{WAITS} A worker has been asked and will start in a moment." in page
    assert 'hx-trigger="every 2s"' in page
    assert f'<a href="{ADDRESS}">Refresh</a>' in page, "without scripts"
    assert find_unwanted(page) == []

    StudyJob.objects.update(leased_until=timezone.now() + timedelta(minutes=1))
    part = designer.get(ADDRESS, headers=POLL).text
    assert "A worker has started." in part
    assert "<html" not in part
    StudyJob.objects.update(leased_until=None)

    tasks.compare_typing(job.pk)

    part = designer.get(ADDRESS, headers=POLL).text
    assert ('hx-trigger="load"' in part, "every 2s" in part) == (True, False), "it is asked no more"
    assert 'hx-target="#found" hx-select="#found"' in part, "it takes what was found, and loads no page anew"
    assert computed == ["report", "effects"]
    answer = designer.get(ADDRESS, headers=LAST)
    assert "HX-Redirect" not in answer.headers
    assert DIFFERS in part_of(answer.text, "found")
    page = shown(designer)
    assert WAITS not in page
    assert DIFFERS in page
    assert "would change 2 texts" in page
    assert computed == ["report", "effects"]


def test_what_the_worker_found_reads_as_what_the_request_would_have_computed(
    draft: Study, designer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks.compare_typing(asked(designer).pk)
    kept = designer.get(ADDRESS).context["typing"]

    monkeypatch.setattr(formatting, "LETTERS_AT_ONCE", 2_000_000)
    computed_at_once = designer.get(ADDRESS).context["typing"]

    assert (kept.differences, kept.effects) == (computed_at_once.differences, computed_at_once.effects)


def test_changed_texts_are_compared_anew(draft: Study, designer: Client) -> None:
    tasks.compare_typing(asked(designer).pk)
    assert DIFFERS in shown(designer)

    story = Story.objects.get(code="p1s2")
    story.text = "Something else."
    story.save()

    page = shown(designer)
    assert f'{OUTDATED}</p> <p>Comparing 4 texts takes a while. <a href="?typing=yes">Compare them</a>' in page
    assert find_unwanted(page) == []
    designer.get(f"{ADDRESS}?typing=yes")
    assert WAITS in shown(designer)
    assert OUTDATED not in shown(designer)


def test_texts_that_change_while_they_are_compared_leave_nothing_that_is_shown(
    draft: Study, designer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    job, effects = asked(designer), formatting.list_effects

    def change_and_list(study: Study, **options: Any) -> Any:
        Story.objects.filter(code="p1s2").update(text="Other.", sha256="0" * 64)
        return effects(study, **options)

    monkeypatch.setattr(formatting, "list_effects", change_and_list)
    tasks.compare_typing(job.pk)

    assert 'hx-trigger="load"' in designer.get(ADDRESS, headers=POLL).text
    page = shown(designer)
    assert f'{OUTDATED}</p> <p>Comparing 4 texts takes a while. <a href="?typing=yes">Compare them</a>' in page
    assert DIFFERS not in page


def test_that_nobody_has_compared_is_not_called_outdated(draft: Study, designer: Client) -> None:
    assert OUTDATED not in shown(designer)
    tasks.compare_typing(asked(designer).pk)
    designer.cookies["django_language"] = "pt-br"
    assert typing_jobs.is_comparison_outdated(draft) is False


def test_each_language_has_its_own_words(draft: Study, designer: Client) -> None:
    tasks.compare_typing(asked(designer).pk)

    designer.cookies["django_language"] = "pt-br"

    assert "?typing=yes" in shown(designer)


def test_a_failure_is_said_with_the_way_out(draft: Study, designer: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    job = asked(designer)
    with monkeypatch.context() as patch:
        patch.setattr(formatting, "report_typing", lambda *_args, **_options: 1 / 0)
        tasks.compare_typing(job.pk)

    page = shown(designer)
    assert jobs.BROKEN % {"error": "ZeroDivisionError"} in page
    assert '<a href="?typing=yes">Try again</a>' in page
    assert find_unwanted(page) == []

    asked(designer)
    assert WAITS in shown(designer)
    tasks.compare_typing(job.pk)
    assert DIFFERS in shown(designer)


@pytest.mark.parametrize(
    ("leased_until", "sentence"),
    [(None, "No worker has started yet"), (timedelta(seconds=-1), "The worker stopped before the end")],
)
def test_that_no_worker_comes_or_that_it_died_is_said(
    draft: Study, designer: Client, leased_until: timedelta | None, sentence: str
) -> None:
    asked(designer)
    assert sentence not in shown(designer)

    at = timezone.now()
    StudyJob.objects.update(asked_at=at - jobs.PATIENCE, leased_until=leased_until and at + leased_until)

    page = shown(designer)
    assert sentence in page
    assert "every 2s" in page
    assert find_unwanted(page) == []


def test_typing_is_made_alike_by_a_worker_and_then_compared(
    draft: Study, designer: Client, computed: list[str], sent: list[int], django_capture_on_commit_callbacks: Any
) -> None:
    for _ in range(2):
        with django_capture_on_commit_callbacks(execute=True):
            answer = designer.post(ADDRESS, {"kinds": ["quotes", "dashes"]})
        assert answer.headers["Location"] == ADDRESS
    page = shown(designer)
    assert "Typing is being made alike in all texts." in page
    assert 'name="kinds"' not in page
    (job,) = StudyJob.objects.all()
    assert (computed, sent) == ([], [job.pk])

    tasks.normalise_typing(job.pk)

    assert draft.stories.get(code="p1s1").text == '"It began," he said—and p1s1 ended.'
    assert draft.stories.get(code="p1s1").provenance.raw_text.startswith("“It began,”")
    assert LogEntry.objects.filter(change_message="normalised: quotes, dashes").count() == 1
    page = shown(designer)
    assert "2 texts were made alike. The originals are kept." in page
    assert WAITS in page
    tasks.compare_typing(StudyJob.objects.get(task="studies.tasks.compare_typing").pk)
    assert "2 texts were made alike." in shown(designer)

    Story.objects.filter(code="p1s1").update(text="“Again.”", sha256="0" * 64)
    assert "2 texts were made alike." not in shown(designer)


def test_what_was_put_back_is_made_alike_again(draft: Study, designer: Client) -> None:
    texts = dict(draft.stories.values_list("pk", "text"))
    for _ in range(2):
        designer.post(ADDRESS, {"kinds": ["quotes"]})
        tasks.normalise_typing(StudyJob.objects.get(ended_at=None).pk)
        assert draft.stories.get(code="p1s1").text.startswith('"It began,"')
        for story in draft.stories.all():
            story.text = texts[story.pk]
            story.save()


@pytest.mark.parametrize(
    ("kinds", "state", "sentence"),
    [
        (["quotes"], "live", f"Nothing was made alike: {story_edits.LAUNCHED}"),
        (["nothing"], "draft", "Nothing was made alike: there is no normalisation nothing;"),
    ],
)
def test_why_nothing_was_made_alike_is_said(
    draft: Study, designer: Client, kinds: list[str], state: str, sentence: str
) -> None:
    designer.post(ADDRESS, {"kinds": kinds})
    Study.objects.update(state=state)

    tasks.normalise_typing(StudyJob.objects.get().pk)

    assert sentence in shown(designer)
    assert draft.stories.get(code="p1s1").text.startswith("“It began,”")


def test_texts_are_not_made_alike_without_it_being_said(
    draft: Study, designer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    designer.post(ADDRESS, {"kinds": ["quotes"]})
    end = jobs.JobLease.end

    def fail_at_the_outcome(lease: jobs.JobLease, **values: Any) -> None:
        end(lease, **values if "outcome" not in values else {"no_such_field": 1})

    with monkeypatch.context() as patch:
        patch.setattr(jobs.JobLease, "end", fail_at_the_outcome)
        tasks.normalise_typing(StudyJob.objects.get().pk)

    assert "There was an error in Quire (FieldDoesNotExist)." in shown(designer)
    assert draft.stories.get(code="p1s1").text.startswith("“It began,”")
    assert not LogEntry.objects.filter(change_message__startswith="normalised").exists()


def test_a_launched_study_is_refused_before_a_worker_is_asked(draft: Study, designer: Client) -> None:
    Study.objects.update(state="live")

    page = designer.post(ADDRESS, {"kinds": ["quotes"]}, follow=True).text

    assert story_edits.LAUNCHED in page
    assert not StudyJob.objects.exists()


@pytest.mark.parametrize("n_stories", [1, 3])
def test_every_look_asks_as_little_and_reads_no_text(
    designer: Client, django_assert_num_queries: Any, n_stories: int
) -> None:
    factories.study(n_groups=n_stories, n_stories=n_stories, state="draft", planned=False)
    asked(designer)
    designer.get(ADDRESS, headers=POLL)

    with django_assert_num_queries(9) as looks:
        designer.get(ADDRESS, headers=POLL)

    assert not any('"text",' in query["sql"] for query in looks.captured_queries)
