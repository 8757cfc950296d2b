"""The list of stories and the page of one: answers, reasons, where it stands; no source while it is sealed."""

import re
from html import unescape

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotation.models import Rater, Response
from annotation.participation.withdrawal import withdraw
from reports.rationales import queries
from studies.models import Membership, Provenance, Source, Story, Study
from tests import factories, triggers
from tests.factories import NOON
from tests.reports import given
from tests.reports.figures.test_measures import measured_study
from tests.reports.test_pages import full_study

pytestmark = pytest.mark.django_db
LIST = "/reports/plums/story-list/"


@pytest.fixture
def study() -> Study:
    """Two people and a judge on four stories, two questions each; both people say Yes or No with a reason."""
    return full_study()


def as_role(client: Client, role: str) -> Client:
    client.force_login(factories.staff(role))
    return client


def address(study: Study, code: str = "p1s1") -> str:
    return f"/reports/{study.slug}/story/{study.stories.get(code=code).pk}/"


def words_of(html: str) -> str:
    """What the page says, without its tags."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", html)).split())


def read(client: Client, url: str) -> str:
    response = client.get(url)
    assert response.status_code == 200
    return words_of(response.content.decode())


def codes_in_order(client: Client, **query: str) -> list[str]:
    page = client.get(LIST, query).content.decode()
    return re.findall(r'/reports/plums/story/\d+/">(\w+)</a>', page)


# ── one story ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_every_answer_stands_under_its_rater_people_before_judges(client: Client, study: Study) -> None:
    as_role(client, "researcher")

    page = client.get(address(study)).content.decode()

    lists = [words_of(part) for part in re.findall(r'<ul class="answer-list">(.*?)</ul>', page, re.DOTALL)]
    assert lists[:4] == ["plumsE01 Yes plumsE02 Yes", "gpt Yes", "plumsE01 Yes plumsE02 No", "gpt Yes"]
    assert "Yes: 1 of 2 people" in words_of(page)


def test_an_answer_leads_to_its_reason_on_whichever_page_it_stands(
    client: Client, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries, "PAGE_SIZE", 2)
    as_role(client, "researcher")
    url = address(study)
    links = re.findall(r'<li><a href="(\?page=\d)?#(reason-\d+)">', client.get(url).content.decode())

    assert [query for query, _anchor in links] == ["", "", "?page=2", "?page=2", "?page=3", "?page=3"]
    for query, anchor in links:
        assert f'id="{anchor}"' in client.get(f"{url}{query}").content.decode()


def test_a_story_stands_among_all_of_its_study(client: Client, study: Study) -> None:
    as_role(client, "researcher")

    # Of two tests raters gave p1s1 2 and 1 Yes, all other stories fewer.
    assert "1.5 – 2 1 of 4" in read(client, address(study))
    assert "0.5 – 2 2 of 4" not in read(client, address(study))
    second = read(client, address(study, "p1s2"))
    assert "0.5 – 2 3 of 4 shared with 1 other" in second


def test_the_text_is_set_with_its_lines_and_its_passages(client: Client, study: Study) -> None:
    story = study.stories.get(code="p1s1")
    with triggers.lifted():
        Story.objects.filter(pk=story.pk).update(text="Fog lay.\n\n    A line of verse\n  and one more,\nthe last.")
    row = Response.objects.get(assignment__rater__code="plumsE01", story=story, item__key="item-1", step__key="tests")
    Response.objects.filter(pk=row.pk).update(quotes=[{"paragraph": 2, "start": 22, "end": 30, "text": "and one "}])

    page = as_role(client, "researcher").get(address(study)).content.decode()

    assert '<p id="p2" class="verse">    A line of verse\n  <mark id="mark-1">' in page
    assert f'<a href="#reason-{row.pk}">and one <span' in page


def test_what_metrics_measured_stands_beside_all_stories_once(client: Client) -> None:
    study = measured_study()
    as_role(client, "researcher")

    page = read(client, address(study))

    assert page.count("length-2") == 3
    assert "4 3.5 0.7" in page
    assert "In groups plot1, plot9." in page


def test_before_anybody_has_answered_the_page_says_so(client: Client) -> None:
    study = factories.study(n_stories=3, state="closed")
    as_role(client, "researcher")

    page = read(client, address(study))

    assert "Nobody has answered about this story yet" in page
    assert "The report has no outcome of this story" in page


def test_whoever_withdrew_is_on_no_page_of_a_story(client: Client, study: Study) -> None:
    as_role(client, "researcher")
    assert "plumsE01 " in read(client, address(study))

    withdraw(Rater.objects.get(code="plumsE01"), at=NOON)

    assert "plumsE01 " not in read(client, address(study))


def test_a_withheld_text_is_not_there_and_the_answers_are(client: Client, study: Study) -> None:
    with triggers.lifted():
        Story.objects.filter(study=study).update(text="", is_withheld=True)

    page = read(as_role(client, "researcher"), address(study))

    assert "Its text is withheld." in page
    assert "plumsE01 Yes" in page


# ── the list ───────────────────────────────────────────────────────────────────────────────────────────────────────


def test_stories_are_listed_by_code_or_by_outcome_and_by_group(client: Client, study: Study) -> None:
    as_role(client, "researcher")

    assert codes_in_order(client, order="code") == ["p1s1", "p1s2", "p2s1", "p2s2"]
    assert codes_in_order(client) == ["p1s1", "p2s1", "p1s2", "p2s2"], "the highest stand first"
    assert codes_in_order(client, outcome="tests", order="lowest") == ["p1s2", "p2s2", "p1s1", "p2s1"]
    assert codes_in_order(client, outcome="tests", order="highest", group="plot2") == ["p2s1", "p2s2"]
    assert codes_in_order(client, group="nowhere") == []
    for name in ("outcome", "order"):
        assert client.get(LIST, {name: "nowhere"}).status_code == 404
    assert client.get(LIST, {"ordering": "source"}).status_code == 400


def test_a_long_list_comes_in_pages_that_keep_what_was_chosen(client: Client, study: Study) -> None:
    group = study.groups.get(code="plot2")
    with triggers.lifted():
        group.stories.add(*factories.stories(study, {f"q{n:03}": "Source 1" for n in range(120)}))
    as_role(client, "researcher")

    pages = [codes_in_order(client, order="lowest", group="plot2", page=str(n)) for n in (1, 2, 3)]

    assert [len(codes) for codes in pages] == [50, 50, 22]
    assert pages[0][:2] == ["p2s2", "p2s1"]
    assert len({*pages[0], *pages[1], *pages[2]}) == 122
    page = client.get(LIST, {"order": "lowest", "group": "plot2"}).content.decode()
    assert "?group=plot2&amp;outcome=tests&amp;order=lowest&amp;page=2" in page


# ── who sees what ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("role", "state", "is_open"),
    [("researcher", "closed", True), ("researcher", "live", False), ("coordinator", "closed", False)],
)
def test_sources_orders_and_ranks_are_sealed_together(
    client: Client, study: Study, role: str, state: str, is_open: bool
) -> None:
    with triggers.lifted():
        Source.objects.filter(name="Source 1").update(name="Canary")
    Study.objects.filter(pk=study.pk).update(state=state)
    as_role(client, role)

    pages = [client.get(LIST).content.decode(), client.get(address(study)).content.decode()]

    assert ["Canary" in page for page in pages] == [is_open, is_open]
    assert ["Tests passed" in page for page in pages] == [is_open, is_open]
    assert ["<svg" in page and "marked-strip" in page for page in pages] == [False, is_open]
    assert "plumsE01" in pages[1]
    assert "It is so." in pages[1]
    for query in ({"order": "highest"}, {"outcome": "tests"}):
        assert client.get(LIST, query).status_code == (200 if is_open else 400)
    hidden = "is hidden with the sources"
    assert [hidden in page for page in pages] == [not is_open, not is_open]


def test_of_a_live_study_two_stories_differ_in_nothing_that_follows_from_their_source(
    client: Client, study: Study
) -> None:
    """Their pages, and the list, are the same when who wrote them is exchanged."""
    Study.objects.filter(pk=study.pk).update(state="live")
    as_role(client, "researcher")
    urls = [LIST, address(study, "p1s1"), address(study, "p1s2")]
    before = [words_of(client.get(url).content.decode()) for url in urls]

    with triggers.lifted():
        first, second = (Provenance.objects.get(story__code=code) for code in ("p1s1", "p1s2"))
        Provenance.objects.filter(pk=first.pk).update(source=second.source_id)
        Provenance.objects.filter(pk=second.pk).update(source=first.source_id)

    assert [words_of(client.get(url).content.decode()) for url in urls] == before


@pytest.mark.parametrize(("role", "state"), [("researcher", "live"), ("coordinator", "closed")])
def test_what_judges_answered_is_hidden_with_the_sources(client: Client, study: Study, role: str, state: str) -> None:
    line = "Answers and reasons of judges stand here once sources may be seen"
    rows = Response.objects.filter(assignment__rater__code="gpt", story__code="p1s1")
    assert rows.update(rationale="So it seems to gpt.") == 2
    user_by_role = {name: factories.staff(name) for name in {"researcher", role}}
    client.force_login(user_by_role["researcher"])
    page = read(client, address(study))
    assert page.count("gpt, judge") == 2
    assert line not in page

    Study.objects.filter(pk=study.pk).update(state=state)
    client.force_login(user_by_role[role])
    page = read(client, address(study))

    assert "gpt" not in page
    assert "judge," not in page
    assert line in page
    assert "plumsE01 Yes" in page


def test_what_metrics_measured_is_hidden_with_the_sources(client: Client) -> None:
    study = measured_study(state=Study.State.LIVE)

    page = read(as_role(client, "researcher"), address(study))

    assert "length-2" not in page
    assert "what metrics measured is hidden with the sources" in page


def test_only_whoever_may_see_answers_gets_in(client: Client, study: Study) -> None:
    urls = [LIST, address(study)]
    assert {client.get(url).status_code for url in urls} == {302}
    for role in ("designer", "steward", ""):
        as_role(client, role)
        assert {client.get(url).status_code for url in urls} == {403}


def test_a_member_sees_the_stories_of_that_study_alone(client: Client, study: Study) -> None:
    other = full_study("pears")
    user = factories.staff("")
    Membership.objects.create(study=study, user=user, role="researcher")
    client.force_login(user)
    theirs = other.stories.get(code="p1s1").pk

    assert client.get(address(study)).status_code == 200
    assert client.get("/reports/pears/story-list/").status_code == 403
    assert client.get(f"/reports/plums/story/{theirs}/").status_code == 404


# ── ways to it ─────────────────────────────────────────────────────────────────────────────────────────────────────


def test_report_and_reasons_lead_to_the_stories(client: Client, study: Study) -> None:
    as_role(client, "researcher")
    story = study.stories.get(code="p1s1")

    section = client.get("/reports/plums/stories/").content.decode()
    figure = client.get("/reports/plums/figures/tests-passed/").content.decode()
    reasons = client.get(f"/reports/plums/rationales/story/{story.pk}/").content.decode()

    assert f'href="{LIST}"' in section
    assert f'href="{LIST}"' in figure
    assert f'href="{address(study)}"' in reasons


def test_a_designer_who_may_not_see_answers_is_led_to_no_story(client: Client, study: Study) -> None:
    as_role(client, "designer")
    for page in ("", "stories/", "figures/tests-passed/"):
        assert LIST not in client.get(f"/reports/plums/{page}").content.decode()


# ── how much it costs ──────────────────────────────────────────────────────────────────────────────────────────────


def n_queries(client: Client, url: str) -> int:
    client.get(url)  # the report is computed once
    with CaptureQueriesContext(connection) as captured:
        assert client.get(url).status_code == 200
    return len(captured)


def test_pages_cost_the_same_few_queries_for_few_and_many_raters_and_items(client: Client) -> None:
    as_role(client, "researcher")
    few, many = given.closed_study(n_items=2), given.closed_study("pears", n_groups=3, n_stories=4, n_items=9)
    given.verdicts(few, {"E01": "y" * 8})
    given.verdicts(many, {f"F{n:02}": "yn" * 54 for n in range(40)})

    counts = {
        study.slug: [n_queries(client, url) for url in (f"/reports/{study.slug}/story-list/", address(study))]
        for study in (few, many)
    }

    assert counts == {"plums": [29, 28], "pears": [29, 28]}
