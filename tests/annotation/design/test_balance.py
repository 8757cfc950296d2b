"""What a designer is told of the order of a study: only what its seats bear out, in one table."""

from io import StringIO

import pytest
from django.core.management import call_command
from django.template.loader import render_to_string

from annotation import design
from annotation.design import balance
from annotation.models import Assignment, Seat
from annotation.participation import claims
from studies.models import Study
from tests import factories
from tests.factories import NOON

pytestmark = pytest.mark.django_db

WHOLE_ROWS = (
    "This is true of rows that are read to the end. Someone who reads only a part, or arrives when every "
    "row is taken, gets the group with the fewest readers; among equals, the one read least often at "
    "that position."
)


def table_of(study: Study) -> str:
    return render_to_string("admin/studies/study/balance.html", {"balance": balance.load_balance(study)})


def test_the_balance_counts_stories_at_positions_and_seats_taken() -> None:
    study = factories.study(n_groups=2, n_stories=4, k=4)
    claims.claim(factories.rater(study))

    first, second = balance.load_balance(study).groups

    assert (first.n_seats, second.n_seats, first.n_taken + second.n_taken) == (4, 4, 1)
    assert first.positions == {f"p1s{n}": [1, 1, 1, 1] for n in range(1, 5)}
    assert first.is_even


def test_a_fixed_order_is_not_called_even() -> None:
    study = factories.study(n_groups=2, state=Study.State.DRAFT, planned=False, k=3)
    Study.objects.update(order_policy="fixed")
    study.refresh_from_db()
    design.plan(study)

    planned = balance.load_balance(study)

    assert planned.groups[0].positions["p1s1"] == [3, 0, 0, 0]
    assert not planned.groups[0].is_even
    assert planned.rows == [["plot1", "plot2"]] * 3
    assert planned.sentences == [
        "3 rows hold all 2 groups each. Each new rater takes a free row and reads its groups in order.",
        "Over the rows, groups are not at every position equally often.",
        WHOLE_ROWS,
        "Within their groups, stories are not at every position equally often.",
    ]


def test_a_full_square_of_groups_is_balanced_in_place_and_in_neighbours() -> None:
    study = factories.study(n_groups=4, n_stories=1, k=4, comparative=False, state=Study.State.DRAFT)

    planned = balance.load_balance(study)

    assert [group.n_readings for group in planned.groups] == [{1: 1, 2: 1, 3: 1, 4: 1}] * 4
    assert planned.sentences == [
        "4 rows hold all 4 groups each. Each new rater takes a free row and reads its groups in order.",
        "Over the rows, every group is at every position equally often, give or take one.",
        "Every group follows every other equally often.",
        WHOLE_ROWS,
    ]


def test_neighbours_are_not_called_balanced_where_they_are_not() -> None:
    study = factories.study(n_groups=4, n_stories=1, k=3, comparative=False, state=Study.State.DRAFT)

    planned = balance.load_balance(study)

    assert planned.is_even_over_groups
    assert not planned.follows_evenly


def test_once_people_read_their_positions_are_counted_and_not_the_planned() -> None:
    study = factories.study(n_groups=3, n_stories=1, k=2, comparative=False)
    planned = balance.load_balance(study)
    first, other = factories.rater(study), factories.rater(study)
    mine = claims.claim(first)
    Assignment.objects.filter(pk=mine.pk).update(status="submitted", ended_at=NOON)
    second = claims.claim(first)
    claims.give_up(claims.claim(other), at=NOON)

    readings = {group.code: group.n_readings for group in balance.load_balance(study).groups}

    assert (planned.is_planned, sum(sum(group.n_readings.values()) for group in planned.groups)) == (True, 6)
    assert readings[mine.group.code] == {1: 1}
    assert readings[second.group.code] == {2: 1}
    assert sum(map(len, readings.values())) == 2, "what was given up is read by nobody"
    assert "so far, those at work included" in table_of(study)


@pytest.mark.parametrize("n_groups", [1, 3, 100])
def test_a_study_has_one_table_after_two_queries(n_groups: int, django_assert_num_queries: object) -> None:
    study = factories.study(n_groups=n_groups, n_stories=1, k=3, comparative=False, state=Study.State.DRAFT)

    with django_assert_num_queries(2):  # type: ignore[operator]
        page = table_of(study)

    assert page.count("<table") == 1
    assert page.count("<tr>") == n_groups + 1


def test_many_positions_stand_together_in_stretches() -> None:
    study = factories.study(n_groups=18, n_stories=1, k=5, comparative=False, state=Study.State.DRAFT)

    planned = balance.load_balance(study)

    assert planned.columns == ["1–2", "3–4", "5–6", "7–8", "9–10", "11–12", "13–14", "15–16", "17–18"]
    assert {sum(line.counts) for line in planned.lines} == {5}


def test_groups_of_several_stories_have_a_line_each() -> None:
    study = factories.study(n_groups=3, n_stories=4, k=2, state=Study.State.DRAFT)

    lines = list(balance.load_balance(study).lines)

    assert [(line.code, line.taken, line.within) for line in lines] == [
        ("plot1", "0/2", "0–1"),
        ("plot2", "0/2", "0–1"),
        ("plot3", "0/2", "0–1"),
    ]


def test_of_seats_without_rows_no_order_is_claimed() -> None:
    study = factories.study(n_groups=3, n_stories=1, k=2, comparative=False)
    Seat.objects.update(row=None, position=None)

    planned = balance.load_balance(study)

    assert planned.sentences == ["No order of groups was planned: everyone gets the group with the fewest readers."]
    assert planned.columns == []


def test_the_command_plans_and_prints_the_balance_of_one_group() -> None:
    study = factories.study(state=Study.State.DRAFT, planned=False, n_stories=2, k=4)
    stdout = StringIO()

    call_command("plan", "plums", stdout=stdout)

    assert study.versions.get().frozen_at is None
    assert stdout.getvalue() == (
        "plums: 4 places planned; nothing is frozen until it is launched\n"
        "\n"
        "plot1: 0 of 4 places taken.\n"
        "Within its group, every story is at every position equally often, give or take one.\n"
        "\n"
        "        1st  2nd\n"
        "  p1s1    2    2\n"
        "  p1s2    2    2\n"
        "\n"
        "Next: `launch plums`, and links on the study's page in the admin.\n"
        "warning: raters are not told how long a group takes; say the minutes\n"
        "warning: raters are not told what they are paid; say so even if nothing is paid\n"
        "warning: raters are not told the deadline; set a deadline\n"
    )
    assert Seat.objects.count() == 4


def test_the_command_prints_one_table_of_many_groups() -> None:
    factories.study(state=Study.State.DRAFT, planned=False, n_groups=2, n_stories=1, k=2, comparative=False)
    stdout = StringIO()

    call_command("plan", "plums", stdout=stdout)

    assert stdout.getvalue().split("\n\n")[1:3] == [
        "2 rows hold all 2 groups each. Each new rater takes a free row and reads its groups in order.\n"
        "Over the rows, every group is at every position equally often, give or take one.\n"
        "Every group follows every other equally often.\n" + WHOLE_ROWS,
        "         places  1st  2nd\n  plot1     0/2    1    1\n  plot2     0/2    1    1",
    ]
