"""The pages *What is asked* and *What raters are told*: forms, moves, previews, and who only reads."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from annotation.models import Assignment, Rater, Response, Seat
from studies import protocol
from studies.models import Step, Story, Study
from studies.protocol import drafts
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    return factories.study(planned=False, state=Study.State.DRAFT)


@pytest.fixture
def designer(client: Client) -> Client:
    client.force_login(factories.staff("designer"))
    return client


def step(study: Study, key: str) -> Step:
    return Step.objects.get(version__study=study, key=key)


def address(study: Study, key: str) -> str:
    return f"/studies/{study.slug}/steps/{step(study, key).pk}/"


def form_of(client: Client, where: str) -> dict[str, str]:
    """What a browser would post that changes nothing."""
    form = client.get(where).context["form"]
    fields = {field.name: field.value() for field in form if field.value() not in (None, False)}
    return fields | {"seen": form.seen_value, "do": "save"}


def messages(response: object) -> list[str]:
    return [str(message) for message in response.context["messages"]]  # type: ignore[attr-defined]


def test_a_step_is_changed_by_its_form(designer: Client, study: Study) -> None:
    where = address(study, "tests")

    response = designer.post(where, form_of(designer, where) | {"title": "Two questions", "background": "above"})

    assert response.status_code == 302
    changed = step(study, "tests")
    assert (changed.title, changed.background, changed.scope) == ("Two questions", "above", "story")


def test_who_saves_second_is_shown_what_the_first_saved(designer: Client, study: Study) -> None:
    where = address(study, "consent")
    fields = form_of(designer, where)
    Step.objects.filter(pk=step(study, "consent").pk).update(text="Words of somebody else.")

    response = designer.post(where, fields | {"text": "Mine."})

    assert response.status_code == 400
    assert "Words of somebody else." in response.content.decode()
    assert step(study, "consent").text == "Words of somebody else."


def test_a_step_that_cannot_stand_there_stays_and_the_page_says_why(designer: Client, study: Study) -> None:
    response = designer.post(address(study, "tests"), {"do": "up"}, follow=True)

    assert messages(response) == ["“Consent” must stay first: nothing is asked before the rater has agreed."]
    assert step(study, "tests").position == 2


def test_a_step_is_moved_and_removed_by_buttons(designer: Client, study: Study) -> None:
    designer.post(address(study, "guess"), {"do": "up"})
    designer.post(address(study, "ranking"), {"do": "remove"})

    assert [s.key for s in Step.objects.filter(version__study=study)] == ["consent", "tests", "guess"]


def test_a_step_leads_to_its_questions_where_their_words_are_changed(designer: Client, study: Study) -> None:
    tests = step(study, "tests")

    page = designer.get(address(study, "tests")).content.decode()

    assert f'<a href="/instruments/{tests.instrument_id}/">' in page


def test_the_question_whether_somebody_knows_a_story_stands_on_the_path(designer: Client, study: Study) -> None:
    asked = "First they are asked whether they know one of the stories."
    where = f"/studies/{study.slug}/steps/"

    Study.objects.update(asks_recognition=True)
    page = designer.get(where).content.decode()
    Study.objects.update(asks_recognition=False)

    assert asked in page
    assert asked not in designer.get(where).content.decode()


def test_only_scopes_that_the_questions_can_have_are_offered(designer: Client, study: Study) -> None:
    form = designer.get(address(study, "ranking")).context["form"]

    assert [value for value, _label in form.fields["scope"].choices] == ["group"]
    assert "Reason: these questions compare stories" in form.fields["scope"].help_text


def test_a_practice_is_added_and_its_answers_given_with_the_controls_of_its_items(
    designer: Client, study: Study
) -> None:
    tests = step(study, "tests").instrument
    assert tests
    where = f"/studies/{study.slug}/steps/new/practice/"
    designer.post(
        where, form_of(designer, where) | {"instrument": tests.pk, "title": "Practise", "story": "It rained."}
    )
    where = address(study, "practise")
    page = designer.get(where).content.decode()
    assert '<input type="radio" name="sample-item-2" value="no"' in " ".join(page.split())

    designer.post(where, form_of(designer, where) | {"sample-item-2": "no", "why-item-2": "Nobody speaks."})

    practice = step(study, "practise")
    assert practice.samples == {"item-2": {"value": "no", "why": "Nobody speaks."}}
    assert (practice.story, practice.position, practice.scope) == ("It rained.", 2, "once")


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("consent", "I have read this and I agree to take part."),
        ("tests", "Your reasons"),
        ("ranking", "Put them in order"),
        ("guess", "Who wrote each one?"),
    ],
)
def test_a_preview_is_the_page_of_raters_and_keeps_nothing(
    designer: Client, study: Study, key: str, words: str
) -> None:
    response = designer.get(address(study, key) + "preview/")
    html = response.content.decode()

    assert "Preview: nothing that you do here is kept." in html
    assert words in html
    assert response.headers["X-Frame-Options"] == "SAMEORIGIN"
    policy = response.headers["Content-Security-Policy"]
    assert all(part in policy for part in ("frame-ancestors 'self'", "form-action 'none'", "connect-src 'none'"))
    assert not any(
        word in html for word in ("hx-post", "hx-get", " action=", "data-saves", 'href="/a/', 'href="/consent')
    )
    assert not any(model.objects.exists() for model in (Rater, Seat, Assignment, Response))


def test_what_is_typed_is_previewed_and_not_saved(designer: Client, study: Study) -> None:
    where = address(study, "consent")
    form = form_of(designer, where)
    version = study.versions.get()
    before = protocol.write_document(protocol.read_rows(version))

    page = designer.post(
        f"{where}preview/", form | {"title": "Before <b>we</b> begin", "text": "Ask us, whenever you like."}
    )
    misplaced = designer.post(f"{address(study, 'ranking')}preview/", {"scope": "story", "instrument": "0"})

    assert "Before &lt;b&gt;we&lt;/b&gt; begin" in page.content.decode()
    assert "Ask us, whenever you like." in page.content.decode()
    assert misplaced.status_code == 200
    assert protocol.write_document(protocol.read_rows(version)) == before


def test_a_card_says_how_long_its_step_takes(designer: Client, study: Study) -> None:
    Story.objects.update(n_words=220)

    html = designer.get(address(study, "consent")).content.decode()

    # Two verdicts with reasons about each of four stories, at 20 + 70 seconds each, and four minutes of reading.
    assert "16 min for 4 stories, 4.0 each" in " ".join(html.split())


def test_after_saving_the_next_open_thing_is_one_link_away(designer: Client, study: Study) -> None:
    where = address(study, "consent")

    def save() -> str:
        html = designer.post(where, form_of(designer, where), follow=True).content.decode()
        return " ".join(re.sub("<[^>]+>", " ", html.partition('class="next-part">')[2].partition("</p>")[0]).split())

    assert "next-part" not in designer.get(where).content.decode()
    Study.objects.update(pay="", minutes=60, closes_at=timezone.now() + timedelta(days=9))
    assert save() == "Raters are not told what they are paid. Next: What raters are told"
    Step.objects.filter(pk=step(study, "consent").pk).update(text="You get {pay}.")
    assert save() == "“Consent” tells raters “Pay”, which is still empty. Next: What raters are told"
    Study.objects.update(pay="9 euro")
    Story.objects.all().delete()
    assert save() == "Group plot1 has no stories. Next: Stories"


def test_the_preview_has_the_controls_of_the_items_and_a_story_of_the_study(designer: Client, study: Study) -> None:
    html = designer.get(address(study, "tests") + "preview/").content.decode()

    assert "Is it good in way 1?" in html
    assert 'type="radio" name="answer-tests-A-item-1" value="yes"' in " ".join(html.split())
    assert "The p1s1 began." in html


def test_a_preview_knows_nobody(designer: Client) -> None:
    """Not even a rater whose session is in the same browser."""
    study = factories.study("pears")
    session = designer.session
    session["rater"] = factories.rater(study).pk
    session.save()

    assert "Withdraw from the study" not in designer.get(address(study, "tests") + "preview/").content.decode()


def test_the_preview_of_a_study_without_stories_says_so(designer: Client, study: Study) -> None:
    study.groups.all().delete()
    study.stories.all().delete()

    assert "There are no stories here yet." in designer.get(address(study, "tests") + "preview/").content.decode()


def test_a_name_that_nothing_fills_is_marked_in_the_preview(designer: Client, study: Study) -> None:
    Step.objects.filter(pk=step(study, "consent").pk).update(text="{organiser} pays {pay}.")

    html = designer.get(address(study, "consent") + "preview/").content.decode()

    assert "Us pays <mark>{pay}: not said yet</mark>." in html


def test_a_frozen_study_is_read_and_nobody_else_changes_a_draft(client: Client, study: Study) -> None:
    client.force_login(factories.staff("coordinator"))
    assert "<textarea" not in client.get(address(study, "consent")).content.decode()
    client.force_login(factories.staff("designer"))
    assert "<textarea" in client.get(address(study, "consent")).content.decode()

    factories.freeze(study)

    page = client.get(address(study, "consent")).content.decode()
    assert "<textarea" not in page
    assert "The protocol is frozen" in page


def test_a_study_without_steps_begins_with_a_way_in(designer: Client) -> None:
    study = Study.objects.create(slug="empty", title="Empty")
    study.versions.create(number=1)

    page = designer.get("/studies/empty/steps/").content.decode()
    assert "Nothing is asked yet" in page

    where = "/studies/empty/steps/new/consent/"
    designer.post(where, form_of(designer, where) | {"title": "Before you agree", "text": "You may stop."})

    assert step(study, "before-you-agree").kind == "consent"


@pytest.mark.parametrize(("n_groups", "n_queries"), [(1, 22), (3, 22)])
def test_the_path_takes_a_fixed_number_of_queries(
    designer: Client, n_groups: int, n_queries: int, django_assert_num_queries: object
) -> None:
    study = factories.study(n_groups=n_groups, planned=False, state=Study.State.DRAFT)
    where = address(study, "tests")

    with django_assert_num_queries(n_queries):  # type: ignore[operator]
        designer.get(where)


# ── what raters are told ───────────────────────────────────────────────────────────────────────────────────────────


def test_what_raters_are_told_stands_on_the_page_that_they_open(designer: Client, study: Study) -> None:
    where = f"/studies/{study.slug}/information/"
    told = {"pay": "€ 40", "pay_for_part": "by the hour", "minutes": "90"}
    told |= {"closes_at": "2027-01-31T18:00", "zone": "Europe/Vienna"}

    assert designer.post(where, form_of(designer, where) | told).status_code == 302

    study.refresh_from_db()
    assert study.closes_at is not None
    assert study.closes_at.isoformat() == "2027-01-31T17:00:00+00:00"
    page = designer.get(where + "preview/").content.decode()
    assert all(words in page for words in ("€ 40", "by the hour", "about 90 minutes", "31 January 2027"))


@pytest.mark.parametrize(("field", "value"), [("closes_at", "soon"), ("title", ""), ("contact", "nobody")])
def test_what_cannot_be_told_is_refused_at_the_field(designer: Client, study: Study, field: str, value: str) -> None:
    where = f"/studies/{study.slug}/information/"

    response = designer.post(where, form_of(designer, where) | {field: value})

    assert response.status_code == 400
    assert list(response.context["form"].errors) == [field]


def test_minutes_out_of_range_are_refused_in_plain_words(designer: Client, study: Study) -> None:
    where = f"/studies/{study.slug}/information/"

    page = designer.post(where, form_of(designer, where) | {"minutes": "-5"}).content.decode()

    assert "Enter whole minutes, from 1 to 1440." in page
    assert "Ensure this value" not in page


def test_no_zone_of_ones_own_making_is_taken(designer: Client, study: Study) -> None:
    where = f"/studies/{study.slug}/information/"

    fields = form_of(designer, where) | {"closes_at": "2027-01-31T18:00", "zone": "../../etc/passwd"}

    assert designer.post(where, fields).status_code == 400


def test_the_deadline_is_not_part_of_the_frozen_protocol(designer: Client, study: Study) -> None:
    before = protocol.write_document(protocol.read_rows(study.versions.get()))
    where = f"/studies/{study.slug}/information/"

    designer.post(where, form_of(designer, where) | {"closes_at": "2027-01-31T18:00"})

    assert protocol.write_document(protocol.read_rows(Study.objects.get().versions.get())) == before


@pytest.fixture
def checked(study: Study) -> Study:
    """A comprehension check before the groups."""
    asked = factories.instrument("check", n_items=1, settings={"correct": "no"})
    drafts.add_step(study, kind="rating", scope="once", index=1, fields={"title": "Check", "instrument": asked})
    return study


def test_a_check_ends_after_two_attempts_unless_the_form_says_otherwise(designer: Client, checked: Study) -> None:
    where = address(checked, "check")
    fields = form_of(designer, where)
    before = protocol.hash_rows(protocol.load_protocol(checked.versions.get()))

    designer.post(where, fields)
    unchanged = protocol.hash_rows(protocol.load_protocol(checked.versions.get()))
    designer.post(where, form_of(designer, where) | {"attempts": "3", "on_failure": "continue"})
    page = designer.get(where).content.decode()
    preview = designer.get(where + "preview/").content.decode()

    assert (fields["attempts"], fields["on_failure"]) == (2, "end")
    assert before == unchanged, "what is as the rule has it is not said"
    assert step(checked, "check").options == {"attempts": 3, "on_failure": "continue"}
    assert "Check: people who fail continue" in page
    assert "you go on all the same. You have 3 attempts." in preview
    designer.post(where, form_of(designer, where) | {"attempts": "2", "on_failure": "end"})
    assert step(checked, "check").options == {}


@pytest.mark.parametrize("wrong", [{"attempts": "6"}, {"attempts": "0"}, {"on_failure": "stop"}])
def test_a_check_takes_no_other_attempts_than_are_offered(
    designer: Client, checked: Study, wrong: dict[str, str]
) -> None:
    where = address(checked, "check")

    response = designer.post(where, form_of(designer, where) | wrong)

    assert response.status_code == 400
    assert step(checked, "check").options == {}


def test_a_new_check_asks_how_often_it_can_be_tried_and_other_questions_do_not(
    designer: Client, checked: Study
) -> None:
    fields = {
        kind: designer.get(f"/studies/{checked.slug}/steps/new/{kind}/").context["form"].fields
        for kind in ("check", "about-raters", "exit-questions")
    }

    assert [kind for kind, names in fields.items() if "attempts" in names] == ["check"]


@pytest.mark.parametrize("change", ["instrument", "scope"])
def test_a_check_that_becomes_something_else_has_no_options_any_more(
    designer: Client, checked: Study, change: str
) -> None:
    Step.objects.filter(pk=step(checked, "check").pk).update(options={"attempts": 3})
    about = factories.instrument("about", n_items=1)
    where = address(checked, "check")
    changes = {"instrument": {"instrument": about.pk}, "scope": {"scope": "story"}}

    response = designer.post(where, form_of(designer, where) | changes[change])

    assert response.status_code == 302

    assert step(checked, "check").options == {}


def test_raters_are_told_of_a_check_that_ends_their_way_and_not_of_one_that_flags(
    designer: Client, checked: Study
) -> None:
    where = f"/studies/{checked.slug}/information/preview/"
    told = " ".join(designer.get(where).content.decode().split())
    Step.objects.filter(pk=step(checked, "check").pk).update(options={"on_failure": "continue"})

    assert "People who do not answer all of them correctly in 2 attempts cannot continue." in told
    assert "questions ask whether the task is clear" not in designer.get(where).content.decode()
