"""Where a rater stands: tasks, what is left, pace, breaks, sittings."""

import re
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotation.models import Assignment, Timing
from annotation.progress import sittings
from annotation.progress.pace import is_due_a_break, minutes_left
from annotation.templatetags.times import in_words
from studies.models import Step, Study
from tests import factories, triggers
from tests.annotation.walk import address, answer_all, begin, give


def overview(assignment: Assignment) -> str:
    return reverse("annotation:overview", args=[assignment.code])


def work_for(assignment: Assignment, seconds: int) -> None:
    step = Step.objects.get(version=assignment.version, key="tests")
    Timing.objects.update_or_create(assignment=assignment, step=step, story=None, defaults={"active_seconds": seconds})


@pytest.mark.parametrize("n_answered", range(5))
def test_before_five_answers_it_is_too_early_to_say_how_long_the_rest_takes(n_answered: int) -> None:
    assert minutes_left(n_answered=n_answered, n_left=50, active_seconds=600) is None


def test_the_time_left_is_at_ones_own_pace_in_steps_of_five_minutes() -> None:
    # 10 answers in 20 minutes are 2 minutes each; 12 more are 24.
    assert minutes_left(n_answered=10, n_left=12, active_seconds=1200) == 25


def test_without_counted_time_nothing_is_said_of_pace() -> None:
    assert minutes_left(n_answered=10, n_left=12, active_seconds=0) is None


def test_when_nothing_is_left_it_takes_no_time() -> None:
    assert minutes_left(n_answered=2, n_left=0, active_seconds=0) == 0


@pytest.mark.parametrize(
    ("minutes", "rested", "between", "due"),
    [(44, 0, False, False), (45, 0, False, True), (60, 20, False, False), (15, 0, True, True), (14, 0, True, False)],
)
def test_a_break_is_suggested_after_a_while_and_sooner_between_stories(
    minutes: int, rested: int, between: bool, due: bool
) -> None:
    found = is_due_a_break(active_seconds=minutes * 60, rested_at=rested * 60, has_finished_a_story=between)

    assert found is due


@pytest.mark.parametrize(
    ("minutes", "said"),
    [
        (5, "5\xa0min"),
        (60, "1\xa0h"),
        (95, "1\xa0h\xa035\xa0min"),
    ],
)
def test_durations_are_said_in_hours_and_minutes(minutes: int, said: str) -> None:
    assert in_words(minutes) == said


@pytest.mark.django_db
def test_the_overview_lists_stories_and_parts_with_how_far_they_are(client: Client) -> None:
    assignment = begin(client, factories.study(n_stories=2))
    for item in (1, 2):
        give(client, assignment, item=item)
    give(client, assignment, letter="B")
    client.get(address(assignment, item=2, letter="B"))

    page = client.get(overview(assignment))

    tasks = page.context["orientation"].tasks
    assert [([words.text for words in t.names], t.n_done, t.n_total, t.state, t.is_current) for t in tasks] == [
        (["Story A"], 2, 2, "done", False),
        (["Story B"], 1, 2, "begun", True),
        (["Put them in order", "Who wrote each one?"], 0, 3, "open", False),
    ]
    assert "4 questions left, 1 story to finish; not enough yet to say how long" in " ".join(page.text.split())


@pytest.mark.django_db
def test_what_comes_later_is_on_the_overview_without_a_link(client: Client) -> None:
    assignment = begin(client, factories.study(n_stories=3))

    page = client.get(overview(assignment))

    assert [bool(task.stop) for task in page.context["orientation"].tasks] == [True, False, False, False]
    assert page.text.count("Opens later") == 3


@pytest.mark.django_db
def test_the_overview_says_the_time_so_far_and_until_when_there_is_time(client: Client) -> None:
    study = factories.study()
    ends = timezone.now() + timedelta(days=3)
    Study.objects.filter(pk=study.pk).update(closes_at=ends + timedelta(days=1))
    assignment = begin(client, study)
    assignment.rater.invitation.expires_at = ends
    assignment.rater.invitation.save()
    work_for(assignment, 65 * 60)

    page = client.get(overview(assignment)).text

    assert "1\xa0h\xa05\xa0min of active work" in page
    assert f"{ends:%-d %B %Y, %H:%M} UTC" in page


@pytest.mark.django_db
def test_somebody_elses_overview_is_not_there(client: Client) -> None:
    theirs = begin(Client(), factories.study())
    begin(client, theirs.study)

    assert client.get(overview(theirs)).status_code == 404
    assert client.post(reverse("annotation:rest", args=[theirs.code])).status_code == 404


def suggestion(page: str) -> str:
    """The form that suggests a break; "" where none is suggested."""
    return "".join(re.findall(r'<form class="break".*?</form>', page, re.DOTALL))


@pytest.mark.django_db
def test_a_break_is_suggested_once_and_stays_away_when_it_was_put_away(client: Client) -> None:
    assignment = begin(client, factories.study())
    client.get(address(assignment))
    work_for(assignment, 46 * 60)
    assert "46\xa0min" in suggestion(client.get(address(assignment)).text)

    back = client.post(reverse("annotation:rest", args=[assignment.code]), follow=True)

    assert back.redirect_chain[-1][0] == address(assignment)
    assert not suggestion(back.text)
    work_for(assignment, 92 * 60)
    assert "1\xa0h\xa032\xa0min" in suggestion(client.get(address(assignment)).text)


@pytest.mark.django_db
def test_whoever_was_away_for_a_while_has_had_their_break(client: Client) -> None:
    assignment = begin(client, factories.study())
    client.get(address(assignment))
    work_for(assignment, 46 * 60)
    Assignment.objects.filter(pk=assignment.pk).update(last_active_at=timezone.now() - timedelta(minutes=11))

    assert not suggestion(client.get(address(assignment)).text)


@pytest.mark.django_db
@pytest.mark.parametrize(("n_given", "is_suggested"), [(2, True), (1, False)])
def test_between_stories_a_break_is_suggested_if_the_one_before_is_finished(
    client: Client, n_given: int, is_suggested: bool
) -> None:
    assignment = begin(client, factories.study())
    client.get(address(assignment))
    for item in range(1, n_given + 1):
        give(client, assignment, item=item)
    work_for(assignment, 16 * 60)

    assert bool(suggestion(client.get(address(assignment, letter="B")).text)) is is_suggested
    assert not suggestion(client.get(address(assignment, letter="A")).text)


def finish(client: Client, rater_of: Assignment) -> str:
    """Submit the open group; where that leads."""
    mine = rater_of.rater.assignments.get(status="open")
    answer_all(client, mine)
    page = client.post(reverse("annotation:check", args=[mine.code]), follow=True)
    return str(page.redirect_chain[-1][0])


@pytest.mark.django_db
def test_in_a_sitting_of_two_the_next_group_follows_and_one_receipt_covers_both(client: Client) -> None:
    study = factories.study(n_groups=3, n_stories=2)
    with triggers.lifted():
        Study.objects.filter(pk=study.pk).update(groups_per_sitting=2)
    first = begin(client, study)

    after_first = finish(client, first)
    after_second = finish(client, first)

    done = sittings.submitted_assignments(first.rater)
    assert after_first == address(done[1])
    assert after_second == reverse("annotation:receipt", args=[done[1].code])
    receipt = client.get(after_second).text
    assert all(each.receipt in receipt for each in done)
    assert "these 2 groups" in receipt
    assert "You can read another group" in receipt
    assert done[0].receipt in client.get(reverse("annotation:receipt", args=[done[0].code])).text


@pytest.mark.django_db
def test_a_sitting_ends_early_when_no_group_is_left(client: Client) -> None:
    study = factories.study(n_groups=1, n_stories=2)
    with triggers.lifted():
        Study.objects.filter(pk=study.pk).update(groups_per_sitting=3)
    first = begin(client, study)

    assert finish(client, first) == reverse("annotation:receipt", args=[first.code])


@pytest.mark.django_db
def test_the_third_group_of_sittings_of_two_begins_a_new_one() -> None:
    study = factories.study(n_groups=3, n_stories=2, k=1)
    with triggers.lifted():
        Study.objects.filter(pk=study.pk).update(groups_per_sitting=2)
    study.refresh_from_db()
    rater = factories.rater(study)
    for n in range(3):
        mine = factories.assignment(study, rater)
        Assignment.objects.filter(pk=mine.pk).update(status="submitted", ended_at=factories.NOON + timedelta(hours=n))

    done = sittings.submitted_assignments(rater)

    assert [len(sittings.assignments_of_sitting(each)) for each in done] == [2, 2, 1]
