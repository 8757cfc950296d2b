"""Saving at the desk: each answer at once, none twice, none over another that was not seen."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from django.conf import settings
from django.utils import timezone

from annotation import responses
from annotation.models import Assignment, Response, ResponseEvent
from tests import factories
from tests.annotation.walk import address, begin, give, said

pytestmark = [pytest.mark.django_db, pytest.mark.services]


TRANSACTION = ("SAVEPOINT", "RELEASE SAVEPOINT", "BEGIN", "COMMIT")


def statements(queries: list[dict[str, str]]) -> list[str]:
    """What a request asked of the database, without the brackets around a transaction."""
    return [q["sql"] for q in queries if not q["sql"].startswith(TRANSACTION)]


def test_an_answer_is_saved_as_it_is_given_and_the_page_is_told_its_revision_and_state(client):
    assignment = begin(client, factories.study())

    first = give(client, assignment, "yes", "", htmx=True, key="k1")
    second = give(client, assignment, "yes", "It is so.", base=1, htmx=True, key="k2")

    assert said(assignment) == [("yes", "It is so.")]
    assert 'id="base-tests-A-item-1" value="1" hx-swap-oob="true"' in first.text
    assert 'data-state="begun"' in first.text, "the reasons are still missing, and that blocks no saving"
    assert 'id="base-tests-A-item-1" value="2" hx-swap-oob="true"' in second.text
    assert 'data-state="done"' in second.text
    assert "UTC</time>" in second.text
    assert ResponseEvent.objects.count() == 2


def test_a_save_that_arrives_twice_counts_once(client):
    assignment = begin(client, factories.study())

    pages = [give(client, assignment, htmx=True, key="k1") for _ in range(3)]

    assert [p.status_code for p in pages] == [200, 200, 200]
    assert {p.text.split('value="')[1][0] for p in pages} == {"1"}
    assert ResponseEvent.objects.count() == 1


def test_without_a_script_an_answer_is_saved_and_the_next_question_follows(client):
    assignment = begin(client, factories.study())

    forward = give(client, assignment, go="next")
    back = give(client, assignment, "no", item=2, go="previous")
    stay = give(client, assignment, "no", item=2, base=1)

    assert forward.url == address(assignment, item=2)
    assert back.url == address(assignment, item=1)
    assert stay.url == address(assignment, item=2)
    assert said(assignment) == [("yes", "It is so."), ("no", "It is so.")]


def test_an_answer_can_be_cleared_and_stays_in_the_history(client):
    assignment = begin(client, factories.study())
    give(client, assignment)

    give(client, assignment, "", "It is so.", base=1)

    response = Response.objects.get()
    assert (response.value, response.outcome, response.rationale) == (None, "open", "It is so.")
    assert ResponseEvent.objects.count() == 2


@pytest.mark.parametrize("htmx", [False, True])
def test_a_value_outside_the_options_is_refused_at_the_item_and_changes_nothing(client, htmx):
    assignment = begin(client, factories.study())
    give(client, assignment)

    response = give(client, assignment, "maybe", "My long reasons.", base=1, htmx=htmx)

    assert response.status_code == 400
    assert "Please answer “Yes” or “No”." in response.text
    assert said(assignment) == [("yes", "It is so.")]
    if not htmx:
        assert "My long reasons." in response.text, "what was written is still on the page"


def test_a_character_that_no_database_keeps_is_refused_with_a_sentence(client):
    assignment = begin(client, factories.study())

    response = give(client, assignment, "yes", "Words\x00.")

    assert response.status_code == 400
    assert "a character that cannot be stored" in response.text
    assert said(assignment) == []


@pytest.mark.parametrize("base", ["-1", "one", "1.0", "9" * 12, "٣"])
def test_a_revision_that_no_page_could_send_is_refused(client, base):
    assignment = begin(client, factories.study())

    assert give(client, assignment, base=base).status_code == 400
    assert said(assignment) == []


@pytest.mark.parametrize("htmx", [False, True])
def test_an_answer_changed_in_another_window_shows_both_versions_and_overwrites_none(client, htmx):
    assignment = begin(client, factories.study())
    give(client, assignment, "yes", "Written first.", base=0)

    conflict = give(client, assignment, "no", "Written second & <b>.", base=0, htmx=htmx)

    assert conflict.status_code == 409
    for version in ("Written first.", "Written second &amp; &lt;b&gt;."):
        assert version in conflict.text
    assert said(assignment) == [("yes", "Written first.")]


def test_of_two_versions_the_one_chosen_is_kept(client):
    assignment = begin(client, factories.study())
    give(client, assignment, "yes", "Written first.")
    conflict = give(client, assignment, "no", "Written second.")

    form = fields(conflict.text.split("Keep mine")[0], action=address(assignment))
    client.post(address(assignment), form)

    assert form["base"] == "1"
    assert said(assignment) == [("no", "Written second.")]


def test_of_two_versions_both_reasons_can_be_kept(client):
    assignment = begin(client, factories.study())
    give(client, assignment, "yes", "Written first.")
    conflict = give(client, assignment, "no", "Written second.")

    form = fields(conflict.text.split("Keep mine")[1], action=address(assignment))
    client.post(address(assignment), form)

    assert said(assignment) == [("no", "Written first.\n\nWritten second.")]


class _Fields(HTMLParser):
    """The fields of the first form that posts to an address."""

    def __init__(self, action: str) -> None:
        super().__init__()
        self.action, self.is_inside, self.found, self.textarea = action, False, {}, ""

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if tag == "form" and given.get("method") == "post" and given.get("action") == self.action:
            self.is_inside = True
        elif self.is_inside and tag == "input":
            self.found[given["name"]] = given.get("value", "")
        elif self.is_inside and tag == "textarea":
            self.textarea = given["name"]

    def handle_data(self, data):
        if self.textarea:
            self.found[self.textarea] = data.removeprefix("\n")

    def handle_endtag(self, tag):
        self.textarea = ""
        if tag == "form":
            self.is_inside = False


def fields(page: str, *, action: str) -> dict[str, str]:
    parser = _Fields(action)
    parser.feed(page)
    return parser.found


def test_a_page_gives_back_exactly_what_was_written(client):
    assignment = begin(client, factories.study())
    written = "\nTwo  lines,\n\n“<b>quoted</b>” &amp; ’ and 🙂 "
    give(client, assignment, why=written.replace("\n", "\r\n"))

    form = fields(client.get(address(assignment)).text, action=address(assignment))

    assert said(assignment) == [("yes", written)]
    assert form["rationale-tests-A-item-1"] == written


# A save: session, assignment, whether it is still open, the answer so far, the answer, its event; a transaction around
# the last four. The first about a story also notes in the assignment that it is begun.
@pytest.mark.parametrize("n_items", [1, 3])
def test_a_save_takes_six_statements(client, django_assert_num_queries, n_items):
    assignment = begin(client, factories.study(n_items=n_items))
    client.get(address(assignment))  # the protocol is in memory from now on

    with django_assert_num_queries(9) as first:
        give(client, assignment, htmx=True)
    with django_assert_num_queries(8) as second:
        give(client, assignment, "no", base=1, htmx=True)

    assert (len(statements(first.captured_queries)), len(statements(second.captured_queries))) == (7, 6)
    assert said(assignment) == [("no", "It is so.")]


# ── too fast ───────────────────────────────────────────────────────────────────────────────────────────────────────
def empty_the_bucket(assignment: Assignment) -> None:
    """As if the page had saved as fast as it can until now, and five seconds ahead."""
    Assignment.objects.filter(pk=assignment.pk).update(saves_until=timezone.now().timestamp() + 11)


def test_a_save_that_comes_too_fast_is_told_when_to_come_again_and_then_taken(client):
    assignment = begin(client, factories.study())
    give(client, assignment, htmx=True)
    empty_the_bucket(assignment)

    refused = give(client, assignment, "no", "Not so.", base=1, key="page-2", htmx=True)

    assert (refused.status_code, refused.headers["Quire-Saved"]) == (429, "no")
    assert 1 <= int(refused.headers["Retry-After"]) <= 6
    assert responses.TOO_FAST in refused.text
    assert said(assignment) == [("yes", "It is so.")]

    Assignment.objects.update(saves_until=0)

    assert give(client, assignment, "no", "Not so.", base=1, key="page-2", htmx=True).status_code == 200
    assert said(assignment) == [("no", "Not so.")]


def test_a_clock_that_is_set_back_by_two_hours_blocks_no_save(client):
    assignment = begin(client, factories.study())
    Assignment.objects.filter(pk=assignment.pk).update(saves_until=timezone.now().timestamp() + 7200)

    saved = give(client, assignment, htmx=True)
    assignment.refresh_from_db()

    assert saved.status_code == 200
    assert said(assignment) == [("yes", "It is so.")]
    assert assignment.saves_until < timezone.now().timestamp() + 1


def test_without_scripts_what_came_too_fast_stands_in_its_fields_under_the_reason(client):
    assignment = begin(client, factories.study())
    empty_the_bucket(assignment)

    refused = give(client, assignment, "no", "A long reason.", go="next")

    assert refused.status_code == 429
    assert int(refused.headers["Retry-After"]) > 0
    assert responses.TOO_FAST in refused.text
    form = fields(refused.text, action=address(assignment))
    assert form["rationale-tests-A-item-1"] == "A long reason."
    assert re.search(r'name="answer-tests-A-item-1"[^>]* value="no"[^>]* checked', refused.text)


def test_sixty_answers_at_once_are_taken_and_no_more(client):
    assignment = begin(client, factories.study())

    codes = [give(client, assignment, "yes", f"{n}", base=n, htmx=True).status_code for n in range(60)]

    assert set(codes) == {200}
    Assignment.objects.update(saves_until=timezone.now().timestamp() + 6)
    assert give(client, assignment, base=60, htmx=True).status_code == 429


@pytest.mark.parametrize(
    ("template", "mark"), [("item", "data-saves"), ("together", "data-leaves"), ("cloze", "cloze-end")]
)
def test_a_browser_is_asked_to_forget_what_stands_in_a_form_of_answers(template: str, mark: str) -> None:
    """Else it puts an older answer back into the page when the rater goes back."""
    source = Path(settings.BASE_DIR, "templates", "annotation", f"{template}.html").read_text(encoding="utf-8")
    forms = [form for form in re.findall(r"<form[^>]*>", source) if mark in form]

    assert len(forms) == 1
    assert 'autocomplete="off"' in forms[0]
