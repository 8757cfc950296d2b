"""Measures by source for those who may know sources, and storing a reference set there."""

from typing import Any

import pytest
from django.test import Client

from judges.laboratory import tasks
from judges.laboratory.source_measures import measure_sources
from judges.models import ReferenceSet
from studies import formatting, hashing, jobs
from studies.models import Story, Study, StudyJob
from tests import factories, triggers

pytestmark = pytest.mark.django_db

ADDRESS = "/studies/plums/stories/measures/"
PLAN = {"outcome": "verdicts", "contrasts": "every_pair", "hypotheses": "More novel beside own."}
SHORT, LONG = "A letter came and she read it.", "A letter came — and she read it aloud to all of them. " * 10


def planted(n_groups: int = 5) -> Study:
    """Two sources, one of which writes longer, repeats itself and sets dashes."""
    study = factories.study(n_groups=n_groups, n_stories=2, planned=False, state="draft")
    with triggers.lifted():
        for story in study.stories.all():
            text = f"{SHORT if story.code.endswith('s1') else LONG} Nobody asked story {story.code}."
            Story.objects.filter(pk=story.pk).update(text=text, sha256=hashing.sha256(text))
    return study


def test_a_measure_that_parts_sources_is_named_with_its_share_of_pairs(client: Client) -> None:
    planted()
    client.force_login(factories.staff("designer"))

    page = " ".join(client.get(ADDRESS).text.split())

    pairs = "in 100 of 100 pairs, a story of Source 2 has more than one of Source 1"
    assert f'<span lang="en">words</span>: {pairs}' in page
    assert f"em dash with spaces, a — b: {pairs}" in page
    reversed_pairs = "in 100 of 100 pairs, a story of Source 1 has more than one of Source 2"
    assert f'<span lang="en">distinct-1</span>: {reversed_pairs}' in page
    # Of the first source's texts, ten words each, none has surprise or a moving average.
    assert page.count('– <span class="hint">n = 0</span>') == 2
    assert "Where n is given, only n texts have a value." in page


def test_means_are_by_source_and_few_texts_are_not_compared() -> None:
    measures = measure_sources({"A": ["one two", "one"], "B": ["one two three"] * 5})

    words = next(measure for measure in measures if measure.title == "words")
    assert [(values.source, values.mean, values.n) for values in words.by_source] == [("A", 1.5, 2), ("B", 3, 5)]
    assert words.share is None
    assert not words.is_telling
    second = next(measure for measure in measures if measure.title == "distinct-2")
    assert [values.n for values in second.by_source] == [1, 5]


@pytest.mark.parametrize("n_groups", [1, 3])
def test_the_page_costs_the_same_for_two_stories_as_for_six(
    client: Client, django_assert_num_queries: Any, n_groups: int
) -> None:
    planted(n_groups)
    client.force_login(factories.staff("designer"))
    client.get(ADDRESS)

    with django_assert_num_queries(20):
        client.get(ADDRESS)


def test_a_blind_coordinator_does_not_get_the_page(client: Client) -> None:
    planted(1)
    client.force_login(factories.staff("coordinator"))

    answer = client.get(ADDRESS)

    assert answer.status_code == 403
    assert "Source 1" not in answer.text


def test_many_texts_are_measured_when_somebody_asks(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judges.laboratory.views.measures.MEASURED_AT_ONCE", 3)
    planted(2)
    client.force_login(factories.staff("designer"))

    page = client.get(ADDRESS).text
    assert "Measuring 4 texts takes a while." in page
    assert "distinct-1" not in page
    assert "distinct-1" in client.get(f"{ADDRESS}?all=yes").text


def test_long_texts_are_measured_by_a_worker_and_anew_when_one_is_changed(
    client: Client, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    sent: list[int] = []
    monkeypatch.setattr("studies.formatting.LETTERS_AT_ONCE", 3)
    monkeypatch.setattr("studies.jobs._send", lambda job, **_: sent.append(job.pk))
    monkeypatch.setattr(
        "judges.laboratory.views.measures.measure_sources", lambda *_a, **_o: pytest.fail("the page measures")
    )
    study = planted()
    client.force_login(factories.staff("designer"))
    poll = {"HX-Request": "true", "HX-Target": "job"}

    assert "Measuring 10 texts takes a while." in client.get(ADDRESS).text
    with django_capture_on_commit_callbacks(execute=True):
        page = client.get(f"{ADDRESS}?all=yes", follow=True).text
    (job,) = StudyJob.objects.all()
    assert sent == [job.pk]
    assert "The texts of all sources are being measured." in page
    assert "distinct-1" not in page
    assert "every 2s" in client.get(ADDRESS, headers=poll).text

    tasks.measure_texts(job.pk)

    assert 'hx-trigger="load"' in client.get(ADDRESS, headers=poll).text
    answer = client.get(ADDRESS)
    assert answer.context["measures"] == measure_sources(formatting.read_texts_by_source(study))
    assert "in 100 of 100 pairs, a story of Source 2 has more than one of Source 1" in " ".join(answer.text.split())

    Story.objects.filter(code="p1s1").update(text="Another.", sha256=hashing.sha256("Another."))
    page = client.get(ADDRESS).text
    assert (
        "Texts or sources have been changed since this was last asked for, so there is no result for them yet." in page
    )
    assert "Measuring 10 texts takes a while." in page


@pytest.mark.parametrize("is_measured", [False, True])
def test_the_page_of_long_texts_lists_their_sources_and_reads_none_whole(
    client: Client, monkeypatch: pytest.MonkeyPatch, is_measured: bool
) -> None:
    monkeypatch.setattr("studies.formatting.LETTERS_AT_ONCE", 3)
    monkeypatch.setattr("studies.jobs._send", lambda *_args, **_options: None)
    planted()
    client.force_login(factories.staff("designer"))
    if is_measured:
        client.get(f"{ADDRESS}?all=yes")
        tasks.measure_texts(StudyJob.objects.get().pk)
    monkeypatch.setattr(formatting, "read_texts_by_source", lambda _study: pytest.fail("the page reads all texts"))

    page = client.get(ADDRESS)

    assert ("distinct-1" in page.text) is is_measured
    assert page.context["sources"] == ["Source 1", "Source 2"]
    assert page.context["n_stories"] == 10


def test_that_long_texts_could_not_be_measured_is_said_with_the_way_out(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("studies.formatting.LETTERS_AT_ONCE", 3)
    monkeypatch.setattr("studies.jobs._send", lambda *_args, **_options: None)
    planted()
    client.force_login(factories.staff("designer"))
    client.get(f"{ADDRESS}?all=yes")

    with monkeypatch.context() as patch:
        patch.setattr("judges.laboratory.measure_jobs.measure_sources", lambda *_args, **_options: 1 / 0)
        tasks.measure_texts(StudyJob.objects.get().pk)

    page = client.get(ADDRESS).text
    assert jobs.BROKEN % {"error": "ZeroDivisionError"} in page
    assert '<a href="?all=yes">Try again</a>' in page
    client.get(f"{ADDRESS}?all=yes")
    assert StudyJob.objects.get().is_under_way


def test_the_stories_are_stored_as_a_reference_set_once(client: Client) -> None:
    planted(1)
    client.force_login(factories.staff("researcher"))

    stored = client.post(ADDRESS, {"name": "Our own", "embedding": "tfidf-svd"}, follow=True)
    again = client.post(ADDRESS, {"name": "Our own", "embedding": "tfidf-svd"})

    assert "“Our own” is stored." in stored.text
    assert "2 stories of plums" in " ".join(stored.text.split())
    assert again.status_code == 400
    assert "there is a reference set “Our own” already" in again.text
    assert ReferenceSet.objects.count() == 1


def test_characters_stand_for_words_where_no_blanks_do(client: Client) -> None:
    study = planted(1)
    with triggers.lifted():
        Story.objects.filter(study=study).update(text="你好，世界。再见。")
    client.force_login(factories.staff("designer"))

    assert "every character counts as a word" in client.get(ADDRESS).text


def test_a_set_is_deleted_there_and_one_that_the_plan_names_stays(client: Client) -> None:
    study = planted()
    client.force_login(factories.staff("designer"))
    client.post(ADDRESS, {"name": "own", "embedding": "tfidf-svd"})
    Study.objects.filter(pk=study.pk).update(analysis_plan=PLAN)

    refused = client.post(ADDRESS, {"deleted": "own"}, follow=True).text
    Study.objects.filter(pk=study.pk).update(analysis_plan={})
    deleted = client.post(ADDRESS, {"deleted": "own"}, follow=True).text

    assert "Nothing was deleted: the analysis plan of plums names the reference set “own”" in refused
    assert "“own” is deleted." in deleted
    assert not ReferenceSet.objects.exists()
