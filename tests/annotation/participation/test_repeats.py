"""Hidden repeats: a person's first groups come again at the end, and fill no place."""

import pytest

from annotation.design import launches
from annotation.models import Assignment, Rater
from annotation.participation import claims, recognition, replacements, withdrawal
from annotation.progress import monitor, sittings
from annotation.responses import submission
from studies import protocol
from studies.models import Study
from studies.protocol.repeats import collect_findings
from tests import factories
from tests.factories import NOON

pytestmark = pytest.mark.django_db


def repeating(*, n_groups: int = 6, n_repeats: int = 2, is_draft: bool = False, **fields: int) -> Study:
    """Two places in each group of two stories, five groups in a sitting; live unless said."""
    study = factories.study(n_groups=n_groups, n_stories=2, k=2, comparative=False, recognition=True, planned=False)
    fields = {"n_repeats": n_repeats, "groups_per_sitting": 5} | fields
    Study.objects.filter(pk=study.pk).update(**fields, state="draft" if is_draft else "live")
    study = Study.objects.get(pk=study.pk)
    if not is_draft:
        factories.plan(study)
    return study


def read(rater: Rater, n: int) -> list[Assignment]:
    """The next n groups of the rater, read and submitted."""
    rows = []
    for _n in range(n):
        assignment = claims.claim(Rater.objects.get(pk=rater.pk))
        factories.answer_all(assignment)
        submission.submit(assignment, at=NOON)
        rows.append(assignment)
    return rows


def test_the_first_groups_come_again_at_the_end_of_the_sitting_in_the_same_order_of_stories() -> None:
    rater = factories.rater(repeating())

    rows = read(rater, 5)

    assert [row.position for row in rows] == [1, 2, 3, 4, 5]
    assert len({row.group_id for row in rows[:3]}) == 3
    assert [row.repeats for row in rows] == [None, None, None, rows[0], rows[1]]
    assert [row.seat for row in rows[3:]] == [row.seat for row in rows[:2]]
    assert sittings.assignments_of_sitting(rows[4]) == rows, "one receipt"
    assert read(rater, 1)[0].repeats is None, "whoever goes on reads what is new"


def test_what_is_read_again_counts_towards_what_one_person_may_read() -> None:
    rater = factories.rater(repeating(groups_per_sitting=1, groups_per_rater=4))

    rows = read(rater, 4)

    assert [row.repeats for row in rows] == [None, None, rows[0], rows[1]]
    with pytest.raises(claims.NoSeat, match="as many groups as one person may read"):
        claims.claim(rater)


def test_without_a_group_that_is_new_those_that_were_read_come_again_but_never_the_last_one() -> None:
    rater = factories.rater(repeating(n_groups=2))

    rows = read(rater, 3)

    assert rows[2].repeats == rows[0]
    assert claims.n_groups_left(rater) == 1, "the second one, since another has been read after it"


def test_a_second_reading_is_not_preceded_by_the_question_whether_one_knows_a_story() -> None:
    rater = factories.rater(repeating())
    (first, *_others) = read(rater, 3)

    again = claims.claim(rater)

    assert not recognition.is_owed(again, has_desk=True)
    again.repeats = None
    assert recognition.is_owed(again, has_desk=True), "of any other group it is"
    assert first.group == again.group


def test_a_second_reading_fills_no_place_and_giving_it_back_frees_none() -> None:
    study = repeating()
    rater = factories.rater(study)
    read(rater, 3)
    before = monitor.count_places(study)
    again = claims.claim(rater)

    assert monitor.count_places(study) == before
    replacements.give_back(again, at=NOON)

    assert monitor.count_places(study) == before
    assert claims.claim(rater).group != again.group, "what was given back comes no third time"


def test_withdrawing_frees_each_place_once() -> None:
    study = repeating()
    rater = factories.rater(study)
    read(rater, 5)

    withdrawal.withdraw(rater, at=NOON)

    assert monitor.count_places(study).n_free == 12
    assert set(rater.assignments.values_list("status", flat=True)) == {"withdrawn"}


def test_topping_up_counts_only_what_somebody_reads_for_the_first_time() -> None:
    study = repeating(n_groups=6)

    # 12 places, 3 of the 5 groups of a sitting are new.
    assert replacements.measure_lack(study, at=NOON).n_people == 4


@pytest.mark.parametrize(
    ("fields", "level", "sentence"),
    [
        ({"groups_per_sitting": 1}, "error", "the number of groups per sitting or per person is not set"),
        ({"groups_per_sitting": 3}, "error", "a sitting of at least 4 groups"),
        ({"groups_per_sitting": 5}, "warning", "only 2 others are read"),
    ],
)
def test_what_keeps_groups_from_being_read_twice_is_said_before_the_launch(
    fields: dict[str, int], level: str, sentence: str
) -> None:
    study = repeating(is_draft=True, **fields)

    (finding,) = collect_findings(study, protocol.read_rows(protocol.latest(study)))

    assert (finding.level, finding.place, finding.anchor) == (level, "reading_plan", "id_n_repeats")
    assert sentence in finding.sentence
    assert finding in launches.findings(study, at=NOON)


def test_the_protocol_says_how_many_groups_are_read_twice_only_if_any_are() -> None:
    study = repeating(n_repeats=0, is_draft=True)
    without = protocol.write_document(protocol.read_rows(protocol.latest(study)))
    Study.objects.filter(pk=study.pk).update(n_repeats=2)

    with_repeats = protocol.write_document(protocol.read_rows(protocol.latest(Study.objects.get(pk=study.pk))))

    assert "n_repeats" not in without
    assert '"n_repeats":2' in with_repeats
