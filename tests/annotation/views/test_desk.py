"""The reading desk and the page of comparisons."""

import re

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation import responses
from annotation.models import Assignment, Response
from annotation.participation import claims, invitations
from annotation.progress.refusals import Refusal
from studies.models import Instrument, Item, Provenance, Source, Step, Story, Study
from tests import factories, triggers
from tests.annotation import walk
from tests.annotation.walk import address, begin, give, said

pytestmark = pytest.mark.django_db

TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="\w+"')


def test_the_desk_shows_the_story_under_its_letter_and_one_question(client):
    assignment = begin(client, factories.study(n_items=3))

    page = client.get(address(assignment, item=2)).text

    assert "Story A" in page
    assert "of four" in page
    assert "question 2 of 3" in page
    assert "Is it good in way 2?" in page
    assert "Is it good in way 3?" not in page
    assert "The p1s" in page, "the words of the story"


def test_the_field_for_reasons_has_the_words_of_the_instrument_in_its_language_if_it_has_any(client):
    assignment = begin(client, factories.study())
    with triggers.lifted():
        Item._base_manager.filter(key="item-2").update(rationale_label="Razões (opcional)", rationale="optional")
        Instrument.objects.update(language="pt")
        factories.freeze_anew(assignment.study)

    ours, theirs = (client.get(address(assignment, item=n)).text for n in (1, 2))

    assert "Your reasons" in ours
    assert '<span lang="pt">Razões (opcional)</span></label>' in theirs
    assert "Your reasons" not in theirs


@pytest.mark.parametrize("rationale", ["none", "optional"])
def test_a_suggested_length_is_shown_once_with_reasons_and_without(client, rationale):
    assignment = begin(client, factories.study())
    with triggers.lifted():
        Item._base_manager.update(type="text", rationale=rationale, rationale_least=0, suggested="one line")
        factories.freeze_anew(assignment.study)

    page = client.get(address(assignment)).text

    assert page.count('id="suggested-tests-A-item-1" lang="en">one line</p>') == 1
    assert re.search(r'aria-describedby="[^"]* suggested-tests-A-item-1"', page)


def test_nothing_is_chosen_before_the_rater_chooses(client):
    page = client.get(address(begin(client, factories.study()))).text

    form = page[page.index("data-saves") :]
    assert 'type="radio"' in form
    assert "checked" not in form


def test_after_the_last_question_comes_the_next_story_and_after_the_last_story_the_comparison(client):
    assignment = begin(client, factories.study(n_stories=2))

    next_story = give(client, assignment, item=2, go="next")
    give(client, assignment, letter="B")
    comparison = give(client, assignment, letter="B", item=2, go="next")

    assert next_story.url == address(assignment, letter="B")
    assert comparison.url == reverse("annotation:part", args=[assignment.code, "ranking"])


def test_htmx_gets_only_the_questions_within_a_story_and_is_sent_to_the_next_one(client):
    assignment = begin(client, factories.study())
    asked = walk.HTMX | {"HX-Target": "questions"}

    within = give(client, assignment, go="next", htmx=True)
    part = client.get(address(assignment, item=2), headers=asked).text
    beyond = give(client, assignment, item=2, go="next", htmx=True)

    assert "Is it good in way 2?" in part
    assert "<title>" in part
    assert "The p1s" not in part, "the story is on the page already"
    assert within.headers["HX-Push-Url"] == address(assignment, item=2)
    assert within.headers["HX-Retarget"] == "#questions"
    assert TOKEN.sub("", within.text) == TOKEN.sub("", part), "going on brings what its address shows"
    assert beyond.headers["HX-Redirect"] == address(assignment, letter="B")


def test_the_button_back_gets_the_whole_page(client):
    assignment = begin(client, factories.study())
    asked = walk.HTMX | {"HX-Target": "questions", "HX-History-Restore-Request": "true"}

    assert "The p1s" in client.get(address(assignment), headers=asked).text


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("<script>x</script>", "&lt;script&gt;x&lt;/script&gt;"),
        ('<img src=x onerror="x">', "&lt;img src=x onerror=&quot;x&quot;&gt;"),
        ("*<svg onload=x>*", "<i>&lt;svg onload=x&gt;</i>"),
        ("{% x %} {{ y }}", "{% x %} {{ y }}"),
    ],
)
def test_the_words_of_a_story_are_never_markup(client, text, escaped):
    study = factories.study()
    for story in study.stories.all():
        story.text = text
        with triggers.lifted():
            story.save()

    page = client.get(address(begin(client, study))).text

    assert "<script>x" not in page
    assert "<img" not in page
    assert "<svg" not in page
    assert f">{escaped}</p>" in page


def test_nothing_on_a_page_says_where_a_story_comes_from(client):
    study = factories.study(n_stories=2)
    assignment = begin(client, study)
    with triggers.lifted():
        for source in Source.objects.all():
            Source.objects.filter(pk=source.pk).update(name=f"CANARY {source.name}")
        Provenance.objects.update(title="CANARY title", url="https://canary.example/", factors={"CANARY": "factor"})
        for n, story in enumerate(Story.objects.all()):
            Story.objects.filter(pk=story.pk).update(code=f"CANARY-{n}")
    codes = dict(Story.objects.values_list("pk", "code"))
    assignment.seat.order = list(codes.values())
    assignment.seat.save()
    Study.objects.update(description="CANARY description")
    for letter in "AB":
        for item in (1, 2):
            assert give(client, assignment, letter=letter, item=item).status_code == 302
    give(
        client,
        assignment,
        None,
        "",
        step="ranking",
        letter="",
        **{"answer-ranking-item-1_A": 2, "answer-ranking-item-1_B": 1},
    )
    assert [[codes[pk]] for pk in reversed(codes)] == Response.objects.get(step__key="ranking").value, (
        "it is there to leak"
    )

    visited = [
        client.get(address(assignment)),
        client.get(address(assignment, item=2), headers=walk.HTMX | {"HX-Target": "questions"}),
        client.get(reverse("annotation:part", args=[assignment.code, "ranking"])),
        client.get(reverse("annotation:story", args=[assignment.code, "B"])),
        client.get(reverse("annotation:check", args=[assignment.code])),
        client.get(reverse("annotation:assignment", args=[assignment.code]), follow=True),
        give(client, assignment, "no", htmx=True),
        give(client, assignment, "perhaps", base=1, htmx=True),
        give(client, assignment, "no", base=0),
    ]

    for response in visited:
        assert "CANARY" not in response.text + str(response.headers)


def test_the_premise_is_shown_if_the_study_says_so(client):
    study = factories.study()
    assignment = begin(client, study)
    assert "Premise 1" not in client.get(address(assignment)).text

    with triggers.lifted():
        Study.objects.update(shows_premise=True)

    assert "Premise 1" in client.get(address(assignment)).text


def test_a_notice_stands_on_every_page_of_the_study(client):
    study = factories.study()
    with triggers.lifted():
        Study.objects.update(notice="Made up for a demonstration.")
    assignment = begin(client, study)

    for page in (address(assignment), reverse("annotation:check", args=[assignment.code])):
        assert "Made up for a demonstration." in client.get(page).text


@pytest.mark.parametrize(
    ("policy", "is_open"), [("above", (True, True)), ("folded", (True, False)), ("on_demand", (False, False))]
)
def test_the_background_stands_open_as_the_protocol_says(client, policy, is_open):
    study = factories.study()
    with triggers.lifted():
        Step.objects.filter(key="tests").update(background=policy)
        Item._base_manager.update(background="What it means.")
        factories.freeze_anew(study)
    assignment = begin(client, study)
    give(client, assignment)

    pages = [client.get(address(assignment, letter=letter)).text for letter in "AB"]

    assert tuple('<details class="background" open>' in page for page in pages) == is_open


def test_a_story_is_not_there_before_the_one_before_it_is_begun(client):
    assignment = begin(client, factories.study())

    looking = client.get(address(assignment, letter="C"))
    answering = give(client, assignment, letter="C")
    reading = client.get(reverse("annotation:story", args=[assignment.code, "B"]))
    comparing = give(client, assignment, "ai", "", step="guess", letter="A")

    assert looking.url == reading.url == reverse("annotation:assignment", args=[assignment.code])
    assert (answering.status_code, comparing.status_code) == (409, 409)
    assert Refusal.AHEAD.sentence in answering.text
    assert said(assignment) == []


@pytest.mark.parametrize(
    "path",
    [
        "s/tests/Z/item-1/",
        "s/tests/A/item-9/",
        "s/tests/item-1/",
        "s/none/A/item-1/",
        "s/ranking/A/item-1/",
        "s/consent/item-1/",
    ],
)
@pytest.mark.parametrize("method", ["get", "post"])
def test_what_is_not_asked_is_not_there(client, method, path):
    assignment = begin(client, factories.study())

    assert getattr(client, method)(f"/a/{assignment.code}/{path}").status_code == 404
    assert said(assignment) == []


def test_coming_back_leads_to_the_very_item(client):
    assignment = begin(client, factories.study(n_items=3))
    client.get(address(assignment, item=3))

    back = client.get("/", follow=True)

    assert back.redirect_chain[-1][0] == address(assignment, item=3)


def test_the_rater_of_a_link_comes_back_to_the_item_on_another_device(client):
    study = factories.study(n_items=3)
    _, token = invitations.issue(study)
    client.post(f"/r/{token}/")
    client.post("/consent/", {"agrees": "yes"})
    client.post("/group/")
    assignment = Assignment.objects.get()
    client.get(address(assignment, item=2))

    other = Client()
    back = other.post(f"/r/{token}/", follow=True)

    assert back.redirect_chain[-1][0] == address(assignment, item=2)


def test_comparative_steps_share_one_page_and_each_item_saves_at_its_own_address(client):
    assignment = begin(client, factories.study(n_stories=2))
    for letter in "AB":
        give(client, assignment, letter=letter)

    page = client.get(reverse("annotation:part", args=[assignment.code, "ranking"])).text
    alone = client.get(address(assignment, "guess", letter="B"))
    give(client, assignment, "ai", "", step="guess", letter="B", htmx=True)
    give(
        client,
        assignment,
        None,
        "",
        step="ranking",
        letter="",
        **{"answer-ranking-item-1_A": 2, "answer-ranking-item-1_B": 1},
    )

    assert "The two stories together" in page
    for item in (address(assignment, "ranking", letter=""), address(assignment, "guess", letter="A")):
        assert f'hx-post="{item}"' in page
    assert alone.url == f"{reverse('annotation:part', args=[assignment.code, 'ranking'])}#item-guess-B-item-1"
    by_letter = dict(zip("AB", assignment.seat.order, strict=True))
    guess, ranking = Response.objects.filter(step__key__in=["guess", "ranking"]).order_by("pk")
    assert (guess.story.code, guess.value) == (by_letter["B"], "ai")
    assert ranking.value == [[by_letter["B"]], [by_letter["A"]]]


def test_what_lacked_before_a_part_reproaches_nobody_with_the_part_that_follows(client):
    study = factories.study(n_stories=2, planned=False)
    Step.objects.filter(key="ranking").update(locks=True)
    factories.plan(study)
    assignment = begin(client, study)
    part = reverse("annotation:part", args=[assignment.code, "ranking"])
    for letter in "AB":
        give(client, assignment, letter=letter)
    assert client.post(part).status_code == 400
    for letter in "AB":
        give(client, assignment, letter=letter, item=2)
    assert client.post(part).url == part

    page = client.get(part).text

    assert responses.UNANSWERED not in page
    locked = client.get(address(assignment)).text
    assert "These answers were locked when the next part was opened" in locked


def test_a_step_that_locks_shows_the_answers_first_and_then_they_are_final(client):
    study = factories.study(n_stories=2, planned=False)
    Step.objects.filter(key="ranking").update(locks=True)
    factories.plan(study)
    assignment = begin(client, study)
    page = reverse("annotation:part", args=[assignment.code, "ranking"])
    for letter in "AB":
        give(client, assignment, letter=letter)

    early = give(client, assignment, None, "", step="ranking", letter="")
    incomplete = client.post(page)
    for letter in "AB":
        give(client, assignment, item=2, letter=letter)
    before = client.get(page).text
    opened = client.post(page, follow=True)
    changed = give(client, assignment, "no", base=1)

    assert early.status_code == 409
    assert incomplete.status_code == 400
    assert "Lock these answers and go on" in before
    assert "Put them in order" not in before.split("<main")[1].split("<h2")[0]
    assert "can no longer be changed" in opened.text
    assert changed.status_code == 409
    assert "were locked" in changed.text
    assert Response.objects.filter(value="no").count() == 0
    assert "disabled" in client.get(address(assignment)).text


def test_story_may_be_read_again_once_it_was_reached(client):
    assignment = begin(client, factories.study())
    give(client, assignment)

    page = client.get(reverse("annotation:story", args=[assignment.code, "B"])).text

    assert "Story B" in page
    assert "Back to the questions" in page


# The desk: session, assignment, last page, stories, answers, active time of all and of the story.
@pytest.mark.parametrize(("n_stories", "n_items"), [(1, 1), (3, 3)])
def test_the_desk_takes_seven_queries_however_much_it_lists(client, django_assert_num_queries, n_stories, n_items):
    assignment = begin(client, factories.study(n_stories=n_stories, n_items=n_items, comparative=n_stories > 1))
    for letter in "ABC"[:n_stories]:
        for item in range(1, n_items + 1):
            give(client, assignment, letter=letter, item=item)

    with django_assert_num_queries(7):
        client.get(address(assignment))


@pytest.mark.parametrize("n", [2, 3])
def test_the_comparison_takes_five_queries_however_many_stories(client, django_assert_num_queries, n):
    assignment = begin(client, factories.study(n_stories=n))
    for letter in "ABC"[:n]:
        give(client, assignment, letter=letter)

    with django_assert_num_queries(5):
        client.get(reverse("annotation:part", args=[assignment.code, "ranking"]))


def test_remembering_the_page_does_not_touch_another_assignment(client):
    study = factories.study(n_groups=2)
    other = claims.claim(factories.rater(study))
    assignment = begin(client, study)

    client.get(address(assignment, item=2))

    other.refresh_from_db()
    assignment.refresh_from_db()
    assert (other.last_page, assignment.last_page) == ("", "tests/A/item-2")
    assert assignment.last_active_at is not None
    assert assignment.last_active_at <= timezone.now()
