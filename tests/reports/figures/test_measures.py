"""What metrics measured stands in the report, each story once, by source only once the study is closed."""

from io import StringIO

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from judges import catalogue, runs
from reports import results
from reports.export import codebook
from reports.templatetags.report import kept_together
from studies import hashing
from studies.models import Provenance, Source, Story, StoryGroup, Study
from tests import factories, triggers

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]


def measured_study(*, state: str = Study.State.CLOSED) -> Study:
    """Two stories of four and two words by two sources, the first of them in two groups; the length metric has run."""
    study = factories.study(n_stories=2, planned=False)
    for code, text, source in (("p1s1", "Four words stand here.", "Anna"), ("p1s2", "Two words.\n\nMore.", "Ben")):
        story = Story.objects.get(study=study, code=code)
        story.text = text
        story.save()
        author, _ = Source.objects.get_or_create(name=source, defaults={"kind": "expert_writer"})
        Provenance.objects.update_or_create(story=story, defaults={"source": author})
    again = StoryGroup.objects.create(study=study, code="plot9")
    again.stories.set(study.stories.all())
    factories.plan(study)
    runs.drain(runs.start(study, catalogue.make_metric_judge("length"), by="tests"))
    Study.objects.filter(pk=study.pk).update(state=state, closed_at=timezone.now())
    return Study.objects.get(pk=study.pk)


def test_each_story_is_counted_once_over_all_and_by_source() -> None:
    words, sentences, paragraphs = results.compute(measured_study())["measures"]

    assert (words["metric"], words["item"], words["n_without_value"]) == ("length-2", "words", 0)
    overall = words["overall"]
    assert (overall["n"], overall["mean"], overall["lowest"], overall["highest"]) == (2, 3.5, 3.0, 4.0)
    assert overall["sd"] == pytest.approx(0.5**0.5)
    assert [(row["source"], row["n"], row["mean"]) for row in words["by_source"]] == [("Anna", 1, 4.0), ("Ben", 1, 3.0)]
    assert (sentences["overall"]["mean"], paragraphs["overall"]["mean"]) == (1.5, 1.5)


def test_while_a_study_is_live_nothing_is_told_by_source() -> None:
    measures = results.compute(measured_study(state=Study.State.LIVE))["measures"]

    assert [measure["overall"]["n"] for measure in measures] == [2, 2, 2]
    assert [measure.get("by_source", []) for measure in measures] == [[], [], []]


def test_page_text_file_and_codebook_show_them(client: Client) -> None:
    study = measured_study()
    client.force_login(factories.staff("researcher"))

    page = " ".join(client.get("/reports/plums/figures/all/").content.decode().split())
    lines = client.get("/reports/plums/measures.csv").getvalue().decode().splitlines()
    text = StringIO()
    call_command("report", "plums", stdout=text)

    assert kept_together("length-2: How many words does the story have?") in page
    section = page[page.index('id="measures"') :]
    section = section[: section.index("</section>")]
    assert section.count("<table") == 1
    assert '<td class="n lead-figure">3.5 ± 0.7</td> <td class="n">3 to 4</td>' in section
    assert "4.0" not in section
    assert lines[1].startswith("length-2,metric-length-2,words,")
    assert len(lines) == 1 + 3 * 3
    assert "length-2: How many words does the story have?" in text.getvalue()
    names = [row["name"] for row in codebook.rows(study, with_sources=True)]
    assert "metric-length-2/words" in names


def test_shares_are_told_apart_and_stories_without_a_value_are_counted(client: Client) -> None:
    study = measured_study(state=Study.State.LIVE)
    with triggers.lifted():
        for story, text in zip(study.stories.order_by("code"), ("a b c d e f g h a b", "Noon."), strict=True):
            Story.objects.filter(pk=story.pk).update(text=text, sha256=hashing.sha256(text))
    runs.drain(runs.start(study, catalogue.make_metric_judge("distinct"), by="tests"))
    client.force_login(factories.staff("researcher"))

    page = " ".join(client.get("/reports/plums/figures/all/").content.decode().split())

    # Eight of ten words, and one of one: the mean is .9. Pairs: eight of nine, and none.
    assert "0.900 ± 0.141</td>" in page
    assert "0.889</td>" in page
    assert "1 story has no value; its run says why." in page
