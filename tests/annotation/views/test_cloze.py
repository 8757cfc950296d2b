"""Filling a cloze through its pages: saving one blank or all, marks, the way out, and what may not be done."""

import re
from collections import Counter
from html import unescape

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation import responses
from annotation.models import Assignment, Fill, Response, Timing
from annotation.participation import claims
from annotation.progress import pace
from annotation.responses import fills
from studies.models import Step, Study
from tests import factories
from tests.annotation import clozes, walk
from tests.studies.cloze.documents import FILLS

pytestmark = pytest.mark.django_db
NONE_ON: dict[str, bool] = {}


def address(assignment: Assignment) -> str:
    return reverse("annotation:part", args=[assignment.code, "fill"])


def blank_at(assignment: Assignment, blank: int) -> str:
    return reverse("annotation:item", args=[assignment.code, "fill", f"blank-{blank:02}"])


def save(client: Client, assignment: Assignment, blank: int, text: str, *, base: int = 0, **more: str):
    """One blank, as the page's script saves it."""
    form = {f"answer-fill-blank-{blank:02}": text, "base": base} | more
    return client.post(blank_at(assignment, blank), form, headers=walk.HTMX)


def form(texts: dict[int, str], *, base: int = 0, **more: str) -> dict[str, object]:
    """All fields, as a browser without scripts posts them."""
    given = {f"answer-fill-blank-{n:02}": texts.get(n, "") for n in FILLS}
    return given | {f"base-fill-blank-{n:02}": base for n in FILLS} | more


def said(assignment: Assignment) -> dict[str, str]:
    return dict(Response.objects.filter(assignment=assignment).values_list("item__key", "value"))


@pytest.fixture
def work(client: Client) -> Assignment:
    return walk.begin(client, clozes.study())


def test_every_blank_says_how_much_is_asked_for(client, work):
    page = client.get(address(work)).text

    hints = re.findall(r'<span class="blank-hint">(.*?) <span\s+lang="en">(.*?)</span>', page)
    assert Counter(kind for _, kind in hints) == {"(a word or a phrase)": 2, "(a sentence)": 2, "(a paragraph)": 1}
    assert ("what Anselm did next", "(a paragraph)") in hints


def test_the_whole_text_stands_on_one_page_with_a_labelled_field_for_every_blank(client, work):
    page = client.get("/", follow=True)

    assert page.request["PATH_INFO"] == address(work)
    for words in (
        "Between Basel and the border",
        "The seventh pair stood at berth eleven",
        "the officer turned them over",
    ):
        assert words in page.text
    fields = re.findall(r'<textarea id="(answer-fill-blank-\d\d)"', page.text)
    assert fields == [f"answer-fill-blank-{number:02}" for number in range(1, 6)]
    assert re.findall(r'<label for="(answer-fill-blank-\d\d)">', page.text) == fields
    assert "what kind of shoes" in page.text


def test_a_blank_is_saved_by_itself_and_the_page_learns_how_far_it_has_come(client, work):
    response = save(client, work, 1, "brown boots")

    assert said(work) == {"blank-01": "brown boots"}
    assert 'name="base-fill-blank-01" id="base-fill-blank-01" value="1" hx-swap-oob="true"' in response.text
    assert "1 of 2" in response.text
    assert "<html" not in response.text


def test_a_save_by_script_takes_a_fixed_number_of_queries(client, work, django_assert_num_queries):
    for blank, text in FILLS.items():
        save(client, work, blank, text)

    with django_assert_num_queries(9):
        first = save(client, work, 5, "Look at this", base=1)
    with django_assert_num_queries(10):  # a change upstream: the history is read as well
        second = save(client, work, 2, "a ring", base=1)

    assert (first.status_code, second.status_code) == (200, 200)
    texts = FILLS | {5: "Look at this", 2: "a ring"}
    assert said(work) == {f"blank-{n:02}": text for n, text in texts.items()}


def test_the_page_takes_a_fixed_number_of_queries(client, work, django_assert_num_queries):
    client.get(address(work))  # the protocol is in memory from now on
    with django_assert_num_queries(5):
        empty = client.get(address(work))
    for blank, text in FILLS.items():
        save(client, work, blank, text)
    with django_assert_num_queries(5):
        filled = client.get(address(work))

    assert (empty.status_code, filled.status_code) == (200, 200)
    assert [text in unescape(empty.text) for text in FILLS.values()] == [False] * 5
    assert [text in unescape(filled.text) for text in FILLS.values()] == [True] * 5


def test_constraints_stand_beside_the_text_only_if_the_protocol_says_so(client):
    asked = "The object must be small enough to lie in a heel."
    beside = client.get(address(walk.begin(client, clozes.study())))

    assert asked in beside.text
    assert "Is it smaller than a matchbox?" not in beside.text, "checks are for those who judge"
    client.session.flush()
    assert asked not in client.get(address(walk.begin(client, clozes.study("bare", options=NONE_ON)))).text


def test_a_change_upstream_marks_what_follows_and_deletes_nothing(client, work):
    save(client, work, 2, "a ring")
    save(client, work, 4, "He waited.")

    response = save(client, work, 2, "a ticket", base=1)

    assert "please check" in response.text.split('id="mark-fill-blank-04"')[1].split("</span>")[0]
    assert 'from “<span lang="en">a ring</span>” to “<span lang="en">a ticket</span>”.' in response.text
    assert "Does this still fit?" in response.text
    assert "1 to check" in response.text
    assert said(work)["blank-04"] == "He waited."
    assert client.get(address(work)).text.count("please check") == 1


def test_the_mark_goes_when_the_blank_is_confirmed(client, work):
    save(client, work, 2, "a ring")
    save(client, work, 4, "He waited.")
    save(client, work, 2, "a ticket", base=1)

    response = save(client, work, 4, "He waited.", base=1, again="yes")

    assert "please check" not in response.text
    assert "please check" not in client.get(address(work)).text
    assert Response.objects.get(item__key="blank-04").events.count() == 2


def test_nothing_is_marked_where_the_protocol_does_not_ask_for_it(client):
    work = walk.begin(client, clozes.study(options=NONE_ON))
    save(client, work, 2, "a ring")
    save(client, work, 4, "He waited.")

    assert "please check" not in save(client, work, 2, "a ticket", base=1).text
    page = client.get(address(work)).text
    assert "please check" not in page
    assert "go on from here" not in page


def test_without_scripts_one_button_saves_all_blanks(client, work):
    response = client.post(address(work), form({1: "boots", 4: "He waited.\r\nAnd then?"}))

    assert response.url == address(work)
    assert said(work) == {"blank-01": "boots", "blank-04": "He waited.\nAnd then?"}


def test_without_scripts_what_did_not_change_is_not_written_again(client, work):
    client.post(address(work), form({1: "boots", 2: "a ring"}))

    client.post(address(work), form({1: "boots", 2: "a ticket"}, base=1))

    revisions = dict(Response.objects.values_list("item__key", "revision"))
    assert revisions == {"blank-01": 1, "blank-02": 2}


def test_without_scripts_a_mark_is_confirmed_by_its_button_which_leads_back_to_the_blank(client, work):
    client.post(address(work), form({2: "a ring", 4: "He waited."}))
    client.post(address(work), form({2: "a ticket", 4: "He waited."}, base=1))
    given = form({2: "a ticket", 4: "He waited."}, confirm="blank-04") | {"base-fill-blank-04": 1}

    response = client.post(address(work), given)

    assert response.url == address(work) + "#item-fill-blank-04"
    assert "please check" not in client.get(address(work)).text


def test_going_on_saves_first(client, work):
    response = client.post(address(work), form(FILLS, go="next"))

    assert response.url == reverse("annotation:check", args=[work.code])
    assert len(said(work)) == 5


def test_a_blank_changed_in_two_windows_shows_both_and_overwrites_nothing(client, work):
    save(client, work, 1, "boots")

    response = save(client, work, 1, "shoes", base=0)

    assert response.status_code == 409
    assert 'it now says “<span data-theirs lang="en">boots</span>”' in response.text
    assert said(work) == {"blank-01": "boots"}
    assert save(client, work, 1, "shoes", base=1).status_code == 200


def test_without_scripts_two_windows_are_told_of_each_other(client, work):
    client.post(address(work), form({1: "boots"}))

    response = client.post(address(work), form({1: "shoes", 2: "a ring"}))

    assert response.status_code == 400
    assert "where it now says “boots”. To keep what is written here, save again." in response.text
    assert ">\nshoes</textarea>" in response.text
    assert said(work) == {"blank-01": "boots", "blank-02": "a ring"}
    client.post(address(work), form({1: "shoes", 2: "a ring"}, base=1))
    assert said(work)["blank-01"] == "shoes"


def test_what_cannot_be_stored_is_refused_at_its_blank(client, work):
    by_script = save(client, work, 1, "a\x00b")
    by_form = client.post(address(work), form({1: "a\x00b", 2: "a ring"}))

    for response in (by_script, by_form):
        assert response.status_code == 400
        assert "contains a character that cannot be stored" in response.text
    assert said(work) == {"blank-02": "a ring"}


def test_a_fill_is_shown_as_text_and_never_as_markup(client, work):
    save(client, work, 1, '"><script>alert(1)</script>')
    save(client, work, 4, "</textarea><script>alert(2)</script>")

    page = client.get(address(work)).text

    assert "<script>alert" not in page
    assert "&lt;/textarea&gt;&lt;script&gt;alert(2)" in page


def test_coming_back_lands_on_the_blank_that_was_written_last(client, work):
    assert client.get(reverse("annotation:assignment", args=[work.code])).url == address(work)
    save(client, work, 5, "Look")
    save(client, work, 3, "a drawer")

    assert client.get(reverse("annotation:assignment", args=[work.code])).url == address(work) + "#item-fill-blank-03"
    assert client.get(blank_at(work, 2)).url == address(work) + "#item-fill-blank-02"


def test_open_blanks_keep_the_text_from_being_submitted_and_are_named(client, work):
    client.post(address(work), form({1: "boots"}, go="next"))
    check = reverse("annotation:check", args=[work.code])

    refused = client.post(check)

    assert refused.status_code == 400
    assert "4 answers still open" in refused.text
    assert client.get(address(work)).text.count(responses.UNANSWERED) == 4
    client.post(address(work), form(FILLS))
    assert client.post(check).url == reverse("annotation:receipt", args=[work.code])
    assert Fill.objects.get().state == "submitted"


def stop(client: Client, assignment: Assignment, section: str = "2", texts: dict[int, str] | None = None, **more: int):
    given = form(texts or {}, **more) | {"section": section}
    return client.post(reverse("annotation:stop", args=[assignment.code, "fill"]), given)


def test_whoever_cannot_go_on_stops_and_is_thanked(client, work):
    save(client, work, 1, "boots")

    response = stop(client, work, "3", {1: "boots", 2: "a ring"}, base=1)

    work.refresh_from_db()
    assert response.url == reverse("annotation:stopped", args=[work.code])
    assert (work.status, work.last_page, work.fill.state, work.fill.stopped_at) == (
        "given_up",
        "fill/section-3",
        "dropped_out",
        3,
    )
    thanks = client.get(response.url).text
    assert 'You stopped at section 3, <span lang="en">The Border</span>.' in thanks
    assert "2 of 5" in thanks
    assert said(work) == {"blank-01": "boots", "blank-02": "a ring"}
    assert "You have stopped, and everything that you wrote is kept" in client.get("/", follow=True).text


def test_the_seat_of_whoever_stopped_is_free_for_somebody_else(client, work):
    stop(client, work)

    assert clozes.assignment(work.study).seat == work.seat


@pytest.mark.parametrize("section", ["", "0", "4", "two", "-1"])
def test_stopping_needs_a_section_that_there_is(client, work, section):
    assert stop(client, work, section, {1: "boots"}).status_code == 400

    work.refresh_from_db()
    assert work.status == "open"
    assert said(work) == {"blank-01": "boots"}


def test_there_is_no_way_out_where_the_protocol_has_none(client):
    work = walk.begin(client, clozes.study(options=NONE_ON))

    assert stop(client, work).status_code == 404
    assert client.get(reverse("annotation:stopped", args=[work.code])).status_code == 302


def test_nothing_is_saved_after_the_end(client, work):
    stop(client, work)

    for response in (
        save(client, work, 1, "boots"),
        stop(client, work),
        client.post(address(work), form({1: "boots"})),
    ):
        assert response.status_code == 409
    assert said(work) == {}
    assert Fill.objects.count() == 1


def test_nothing_is_saved_after_the_study_has_closed(client, work):
    Study.objects.update(state=Study.State.CLOSED)

    assert save(client, work, 1, "boots").status_code == 409
    assert stop(client, work).status_code == 409
    assert said(work) == {}


def told(client, work, seconds_by_section, *, step="fill", letter=""):
    """A report of the page about some sections at once."""
    n = len(seconds_by_section)
    report = {"step": [step] * n, "letter": [letter] * n}
    report |= {"section": list(seconds_by_section), "seconds": list(seconds_by_section.values())}
    return client.post(reverse("annotation:timing", args=[work.code]), report)


def test_nobody_else_fills_stops_or_reports_time(work):
    stranger = Client()
    walk.come_in(stranger, work.study)

    assert stranger.get(address(work)).status_code == 404
    assert save(stranger, work, 1, "boots").status_code == 404
    assert stop(stranger, work).status_code == 404
    assert told(stranger, work, {1: 30}).status_code == 404
    assert (Response.objects.count(), Timing.objects.count()) == (0, 0)


def test_time_at_work_is_counted_by_section_and_shown(client, work):
    Assignment.objects.update(started_at=timezone.now() - timezone.timedelta(hours=1))

    assert told(client, work, {1: 60, 2: 50}).text == "1\xa0min"
    for nonsense in ({1: 5, 9: 3}, {"": 5}, {3: "x"}):
        assert told(client, work, nonsense).status_code == 404

    assert fills.seconds_by_section(work) == {1: 60, 2: 50}
    assert "<span data-worked>1\xa0min</span>" in client.get(address(work)).text
    Timing.objects.filter(section=1).update(active_seconds=5650)
    assert told(client, work, {3: 0}).text == "1\xa0h\xa035\xa0min"
    assert "<span data-worked>1\xa0h\xa035\xa0min</span>" in client.get(address(work)).text


@pytest.mark.parametrize(("handful", "said"), [(5, ""), (2, "about 5\xa0min")])
def test_the_page_promises_the_same_time_as_the_overview(client, work, monkeypatch, handful, said):
    monkeypatch.setattr(pace, "MIN_ANSWERS_FOR_PACE", handful)
    clozes.fill(work, {1: "brown boots", 2: "red clogs"})
    Timing.objects.create(assignment=work, step=Step.objects.get(key="fill"), section=1, active_seconds=60)

    page, overview = client.get(address(work)).text, client.get(reverse("annotation:overview", args=[work.code])).text

    assert ("more at your pace" in page, "at your pace" in overview) == (bool(said), bool(said))
    assert (said in page, said in overview) == (True, True)


def test_no_time_is_counted_after_the_end(client, work):
    claims.give_up(work, at=timezone.now())

    assert told(client, work, {1: 30}).status_code == 409
    assert Timing.objects.count() == 0


def test_a_part_that_is_no_cloze_has_no_way_out_and_no_sections_to_time(client):
    other = walk.begin(client, factories.study())

    assert client.post(reverse("annotation:stop", args=[other.code, "tests"]), {"section": "1"}).status_code == 404
    assert told(client, other, {1: 30}, step="tests", letter="A").status_code == 404
    assert Timing.objects.count() == 0
