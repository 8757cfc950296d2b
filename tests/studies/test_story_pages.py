"""The pages about stories without scripts: who sees what, what is changed and what is refused, and what it costs."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from studies import story_edits
from studies.models import Provenance, Source, Story, StoryGroup, StoryImport, Study
from tests import factories
from tests.studies.folders import rows_by_table
from tests.studies.story_import.files import CSV, HEADER

pytestmark = pytest.mark.django_db
STORIES = "/studies/plums/stories/"
WORDS = "Once upon a time."


@pytest.fixture
def draft() -> Study:
    return factories.study(n_groups=2, n_stories=2, state="draft", planned=False)


def brought(client: Client, content: str | bytes = CSV, name: str = "five-plots.csv") -> str:
    """The address of the page on which the file's columns are said."""
    data = content if isinstance(content, bytes) else content.encode()
    response = client.post(f"{STORIES}new/", {"file": SimpleUploadedFile(name, data)})
    assert response.status_code == 302
    return str(response.headers["Location"])


def principal_of(page: str) -> str:
    """What the one button says that is the next thing to do."""
    [label] = re.findall(r'<button type="submit" class="principal"[^>]*>\s*(.*?)\s*</button>', page, re.DOTALL)
    return str(label)


def form_of(client: Client, address: str) -> dict[str, Any]:
    """What a browser would send of the page's form."""
    form = client.get(address).context["form"]
    values = {field.html_name: field.value() for field in form}
    return {name: "on" if value is True else value for name, value in values.items() if value not in (False, None)}


def test_stories_are_brought_in_by_plain_forms(draft: Study, designer: Client) -> None:
    address = brought(designer)
    page = designer.get(address).content.decode()
    assert "4 rows of <strong>five-plots.csv</strong>" in page
    assert "Import 4 stories" in page

    response = designer.post(address, form_of(designer, address) | {"bring_in": "yes"}, follow=True)

    assert "4 stories are in, in 2 groups." in response.content.decode()
    assert draft.stories.count() == 8
    assert not StoryImport.objects.exists()


def test_a_way_out_is_a_button_and_with_a_problem_nothing_comes_in(draft: Study, designer: Client) -> None:
    address = brought(designer, CSV.replace("b2,harbour,The Perpetua came up out of the haze.", "b2,harbour,"))
    rows = rows_by_table()

    response = designer.post(address, form_of(designer, address) | {"bring_in": "yes"})

    assert response.status_code == 400
    assert "Row 5: The text is empty, so there is nothing to read." in response.content.decode()
    assert rows_by_table() == rows
    designer.post(address, form_of(designer, address) | {"act": '["leave", 5]'})
    designer.post(address, form_of(designer, address) | {"bring_in": "yes"})
    assert draft.stories.count() == 7


def test_a_file_of_which_nothing_can_come_in_has_no_button_for_it(draft: Study, designer: Client) -> None:
    page = designer.get(brought(designer, "number,maker\n1,Somebody\n")).content.decode()

    assert "Check again" in page
    assert 'name="bring_in"' not in page


def test_a_way_out_that_nobody_offers_is_refused(draft: Study, designer: Client) -> None:
    address = brought(designer)

    for act in ('["drop"]', "no", '["leave", "x"]'):
        assert designer.post(address, form_of(designer, address) | {"act": act}).status_code == 400


@pytest.mark.parametrize("grouping", ["alone", "pairs", "balanced"])
def test_groups_are_formed_as_chosen(draft: Study, designer: Client, grouping: str) -> None:
    address = brought(designer)

    designer.post(address, form_of(designer, address) | {"grouping": grouping, "bring_in": "yes"})

    groups = draft.groups.exclude(code__startswith="plot")
    members = [sorted(s.provenance.source.name for s in group.stories.all()) for group in groups]
    assert members == ([["Manner A", "Manner C"]] * 2 if grouping != "alone" else members)
    assert len(members) == (4 if grouping == "alone" else 2)


def test_groups_of_as_many_as_is_said(draft: Study, designer: Client) -> None:
    address = brought(designer)

    page = designer.post(address, form_of(designer, address) | {"grouping": "size"}, follow=True).content.decode()
    assert "Say how many stories a group is to have, from 2 to 26." in page
    assert "Nothing is imported while there are problems." in page
    designer.post(address, form_of(designer, address) | {"group_size": 3, "bring_in": "yes"})
    sizes = [group.stories.count() for group in draft.groups.exclude(code__startswith="plot")]
    assert sorted(sizes) == [1, 3]

    refused = designer.post(STORIES, {"action": "size", "size": "27"}, follow=True).content.decode()
    assert "Say how many stories a group is to have, from 2 to 26." in refused
    assert draft.groups.count() == 4
    designer.post(STORIES, {"action": "size", "size": "4"})
    assert {group.stories.count() for group in draft.groups.all()} <= {1, 2, 3, 4}
    assert not draft.groups.filter(code__startswith="plot").exists()


def test_the_size_of_groups_is_said_also_while_a_row_is_wrong(draft: Study, designer: Client) -> None:
    address = brought(designer, CSV.replace("b2,harbour,The Perpetua came up out of the haze.", "b2,harbour,"))

    page = designer.get(address).content.decode()

    assert "1 problem" in page
    assert "These rows as they are would make 2 groups of 2." in page
    assert principal_of(page) == "Check again"
    mended = designer.post(address, {**form_of(designer, address), "act": '["leave", 5]'}, follow=True)
    assert principal_of(mended.content.decode()) == "Import 3 stories"
    assert "Nothing is imported while there are problems." in page


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.pdf", b"%PDF-1.7", "Quire reads .csv"),
        ("a.json", rb'["Once.", "Twice."]', "is not an object"),
    ],
)
def test_a_bad_file_is_refused_on_the_page_with_a_sentence(
    draft: Study, designer: Client, name: str, content: bytes, sentence: str
) -> None:
    rows = rows_by_table()

    response = designer.post(f"{STORIES}new/", {"file": SimpleUploadedFile(name, content)})

    assert response.status_code == 400
    assert sentence in response.content.decode()
    assert rows_by_table() == rows


def test_what_one_person_brought_is_nobody_elses(draft: Study, designer: Client) -> None:
    address = brought(designer)
    other = Client()
    other.force_login(User.objects.create_superuser("root"))

    assert other.get(address).status_code == 404
    assert designer.get(address.replace("plums", "pears")).status_code == 404


def test_a_coordinator_sees_texts_and_codes_and_nothing_of_sources(draft: Study, client: Client) -> None:
    Provenance.objects.update(may_send_out=True, licence="Canary-1.0", factors={"tier": "canary"})
    Source.objects.filter(name="Source 1").update(name="Canary")
    Story.objects.filter(code="p1s1").update(code="canary-1")
    client.force_login(factories.staff("coordinator"))

    page = client.get(STORIES).content.decode().replace("canary-1", "")

    assert "To a model?" not in page
    assert "canary" not in page.lower()
    assert "tells its source" not in page
    for address in ("new/", "sources/"):
        assert client.get(f"{STORIES}{address}").status_code == 403
    assert client.post(STORIES, {"action": "codes"}).status_code == 403


def test_who_may_know_sees_sources_permissions_and_telling_codes(draft: Study, designer: Client) -> None:
    Story.objects.filter(code="p1s1").update(code="source-1")

    page = designer.get(STORIES).content.decode()

    assert "To a model?" in page
    assert "Source 1" in page
    assert page.count("The code reveals its source.") == 1
    assert designer.get(f"{STORIES}?flagged=yes").content.decode().count('data-label="Code"') == 1


def test_stories_are_found_by_words_and_group_in_pages(draft: Study, designer: Client) -> None:
    lines = [f"n{n:03},big{n % 6},Words of canary {n}.,expert,Ann," for n in range(120)]
    address = brought(designer, "\n".join([HEADER, *lines]))
    designer.post(address, form_of(designer, address) | {"bring_in": "yes"})

    page = designer.get(f"{STORIES}?page=3").content.decode()
    found = designer.get(f"{STORIES}?q=canary+77").content.decode()
    group = designer.get(f"{STORIES}?group=big1").content.decode()

    assert "101–124 of 124" in page
    assert re.findall(r"<code>(.*?)</code>", found) == ["n077"]
    assert len(re.findall(r"<code>(.*?)</code>", group)) == 20


def test_stories_are_moved_to_another_group_or_a_new_one(draft: Study, designer: Client) -> None:
    story, group = Story.objects.get(code="p1s1"), draft.groups.get(code="plot1")

    designer.post(STORIES, {"action": "move", "to": "plot2", "story": f"{story.pk}.{group.pk}"})
    assert [g.code for g in story.groups.all()] == ["plot2"]

    other = Story.objects.get(code="p1s2")
    designer.post(STORIES, {"action": "move", "to": "new group", "story": f"{other.pk}.{group.pk}"})
    assert all(re.fullmatch(r"g\d{5}", group.code) for group in other.groups.all())
    assert not draft.groups.filter(code="plot1").exists()


def test_moving_a_story_leaves_the_groups_of_other_studies_alone(draft: Study, designer: Client) -> None:
    story = Story.objects.get(code="p1s1")
    elsewhere = factories.study("elsewhere", state="draft", planned=False).groups.create(code="empty")

    designer.post(STORIES, {"action": "move", "to": "plot2", "story": f"{story.pk}.{elsewhere.pk}"})

    assert draft.groups.get(code="plot2").stories.contains(story)
    assert StoryGroup.objects.filter(pk=elsewhere.pk).exists()


def test_stories_are_removed_once_it_is_said_twice(draft: Study, designer: Client) -> None:
    story, group = Story.objects.get(code="p1s1"), draft.groups.get(code="plot1")
    form = {"action": "remove", "story": f"{story.pk}.{group.pk}"}

    assert "Remove 1 story?" in designer.post(STORIES, form).content.decode()
    assert Story.objects.filter(pk=story.pk).exists()
    designer.post(STORIES, form | {"sure": "yes"})
    assert not Story.objects.filter(pk=story.pk).exists()


def test_a_text_is_corrected_and_the_one_that_came_is_kept(draft: Study, designer: Client) -> None:
    story = Story.objects.get(code="p1s1")
    address = f"{STORIES}{story.pk}/"
    seen = designer.get(address).context["form"].seen_value
    before = story.text

    designer.post(address, {"text": "Another.\r\n\r\nText.", "seen": seen})

    story.refresh_from_db()
    assert (story.text, story.n_words) == ("Another.\n\nText.", 2)
    assert Provenance.objects.get(story=story).raw_text == before
    second = designer.post(address, {"text": "Mine.", "seen": seen})
    assert second.status_code == 400
    assert "Someone else saved this page after you opened it." in second.content.decode()


def test_a_problem_without_a_column_or_a_way_out_has_no_empty_line_for_it_on_a_telephone(
    draft: Study, designer: Client
) -> None:
    page = designer.get(brought(designer, "a,b\n1,2\n")).content.decode()
    (row, *_others) = re.findall(r'<tr id="problem-.*?</tr>', page, re.DOTALL)

    assert "No column is the source." in row
    assert re.findall(r'data-label="(.*?)"', row) == ["Where", "What"]


def test_neutral_codes_and_new_groups_for_all(draft: Study, designer: Client) -> None:
    designer.post(STORIES, {"action": "codes"})
    assert all(re.fullmatch(r"s\d{5}", code) for code in draft.stories.values_list("code", flat=True))

    designer.post(STORIES, {"action": "alone"})
    assert [group.stories.count() for group in draft.groups.all()] == [1, 1, 1, 1]


def test_many_texts_are_compared_when_somebody_asks(
    draft: Study, designer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared: list[Study] = []

    def compare(study: Study, *, most: int | None = None, **_options: Any) -> list[Any]:
        compared.extend([study] if most is None else [])  # the rail looks at a few texts of each source
        return []

    monkeypatch.setattr("studies.formatting.report", compare)
    address = "/studies/plums/stories/sources/"
    assert designer.get(address).status_code == 200
    assert compared == [draft]

    monkeypatch.setattr("studies.views.story_sources.COMPARED_AT_ONCE", 1)
    page = designer.get(address).content.decode()

    assert compared == [draft]
    assert "?typing=yes" in page
    designer.get(f"{address}?typing=yes")
    assert compared == [draft, draft]


def test_typing_is_made_alike_and_lengths_are_shown(draft: Study, designer: Client) -> None:
    for story in draft.stories.filter(code__endswith="s1"):
        story.text = "“It began,” he said -- and it ended."
        story.save()

    assert "Typing that differs by source" in designer.get(f"{STORIES}sources/").content.decode()
    designer.post(f"{STORIES}sources/", {"kinds": ["quotes", "dashes"]})

    assert draft.stories.get(code="p1s1").text == '"It began," he said—and it ended.'


def changes(study: Study) -> Iterator[tuple[str, dict[str, str]]]:
    story, group = study.stories.earliest("pk"), study.groups.earliest("pk")
    chosen = {"story": f"{story.pk}.{group.pk}", "sure": "yes"}
    yield STORIES, {"action": "codes"}
    yield STORIES, {"action": "alone"}
    yield STORIES, chosen | {"action": "remove"}
    yield STORIES, chosen | {"action": "move", "to": "new group"}
    yield f"{STORIES}{story.pk}/", {"text": "Another."}
    yield f"{STORIES}sources/", {"kinds": "quotes"}
    yield f"{STORIES}new/", {"pasted": WORDS}


def test_a_launched_study_is_read_only_and_says_why(designer: Client) -> None:
    study = factories.study(n_stories=2)
    rows = rows_by_table(), list(study.stories.values_list("code", "text"))

    for address, form in changes(study):
        response = designer.post(address, form, follow=True)
        assert story_edits.LAUNCHED in response.content.decode(), form

    assert (rows_by_table(), list(study.stories.values_list("code", "text"))) == rows
    assert 'name="action"' not in designer.get(STORIES).content.decode()


def n_queries(client: Client, address: str, django_assert_num_queries: Any, n: int) -> None:
    client.get(address)
    with django_assert_num_queries(n):
        assert client.get(address).status_code == 200


@pytest.mark.parametrize("n_stories", [1, 3])
def test_the_pages_ask_as_often_for_one_story_as_for_three(
    designer: Client, django_assert_num_queries: Any, n_stories: int
) -> None:
    study = factories.study(n_groups=n_stories, n_stories=n_stories, state="draft", planned=False)

    n_queries(designer, STORIES, django_assert_num_queries, 28)
    n_queries(designer, f"{STORIES}{study.stories.earliest('pk').pk}/", django_assert_num_queries, 20)
    n_queries(designer, f"{STORIES}sources/", django_assert_num_queries, 24)
    n_queries(designer, brought(designer), django_assert_num_queries, 22)
