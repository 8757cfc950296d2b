"""Names in a file of answers: long headers, one person in two spellings, groups called as in the stories' file."""

from pathlib import Path

import pytest

from annotation.answer_import.names import fold
from annotation.models import Response
from studies.models import StoryGroup, Study
from tests import factories, triggers
from tests.annotation.answer_import.test_answer_import import answers, bring

pytestmark = pytest.mark.django_db
QUESTION = "How much do you agree that the following can be said of the story that you have been given to read "


def mapping(*columns: str, rater: str = "") -> str:
    parts = [f'[rater]\ncolumn = "who"\n{rater}\n[story]\ncolumn = "story"\n']
    parts += [
        f'[[answers]]\nvalue = "{column}"\nitem = "item-{n}"\nstep = "tests"\n' for n, column in enumerate(columns, 1)
    ]
    return "".join(parts)


@pytest.fixture
def study() -> Study:
    return factories.study(n_groups=2, n_stories=2, state="closed")


def test_a_mapping_names_headers_of_any_length_that_differ_at_their_end(study: Study, tmp_path: Path) -> None:
    columns = [f"{QUESTION}[Voice]", f"{QUESTION}[Pace]"]
    content = f"who,story,{columns[0]},{columns[1]}\na,p1s1,yes,no\nb,p1s1,no,yes\n"

    assert bring(tmp_path, content, mapping(*columns)) == "4 answers of 2 raters came in from 2 rows.\n"

    assert [(rater, item, value) for rater, _group, _story, item, value, _why in answers()] == [
        ("a", "item-1", "yes"),
        ("a", "item-2", "no"),
        ("b", "item-1", "no"),
        ("b", "item-2", "yes"),
    ]


@pytest.mark.parametrize("other", ["ANN@example.org", "Ann@Example.org ", "ann＠example.org"])
def test_one_person_in_two_spellings_has_one_number(study: Study, tmp_path: Path, other: str) -> None:
    content = f"who,story,q\nann@example.org,p1s1,yes\n{other},p1s2,no\nbo@example.org,p1s1,no\n"

    said = bring(tmp_path, content, mapping("q", rater="is_numbered = true"))

    assert said == "3 answers of 2 raters came in from 3 rows.\n"
    assert {row[0] for row in answers()} == {"1", "2"}


def test_one_person_in_two_spellings_answers_once(study: Study, tmp_path: Path) -> None:
    content = "who,story,q\nAnn,p1s1,yes\nann,p1s1,no\n"

    assert "1 has answered item-1 about this already" in bring(
        tmp_path, content, mapping("q", rater="is_numbered = true")
    )
    assert "“ann” and “Ann” differ only in small and capital letters" in bring(tmp_path, content, mapping("q"))
    assert not Response.objects.exists()


def test_a_group_may_be_called_as_in_the_file_of_its_stories(study: Study, tmp_path: Path) -> None:
    with triggers.lifted():
        StoryGroup.objects.filter(pk=study.groups.get(stories__code="p1s1").pk).update(code="Group-1")
    by_group = mapping("q") + "\n[group]\ncolumn = 'set'\n"

    said = bring(tmp_path, "who,story,set,q\nann,p1s1,Group 1,yes\nbo,p1s1,Group-1,no\n", by_group)

    assert said == "2 answers of 2 raters came in from 2 rows.\n"
    assert {row[1] for row in answers()} == {"Group-1"}


def test_a_group_whose_name_could_be_two_is_refused(study: Study, tmp_path: Path) -> None:
    first, second = study.groups.order_by("code")
    with triggers.lifted():
        StoryGroup.objects.filter(pk=first.pk).update(code="Group-1")
        StoryGroup.objects.filter(pk=second.pk).update(code="Group-1-2")

    said = bring(tmp_path, "who,story,set,q\nann,p1s1,Group 1,yes\n", mapping("q") + "\n[group]\ncolumn = 'set'\n")

    assert "“Group 1” is not in the study" in said


def test_a_refusal_repeats_only_the_beginning_of_a_long_answer(study: Study, tmp_path: Path) -> None:
    said = bring(tmp_path, f"who,story,q\nann,p1s1,{'y' * 40_000}\n", mapping("q"))

    assert "row 2, value: 'yyy" in said
    assert "… is no answer to item-1." in said
    assert len(said) < 400


def test_numbered_raters_of_a_second_file_are_others_and_the_same_file_is_refused(study: Study, tmp_path: Path) -> None:
    numbered = mapping("q", rater="prefix = 'R'\ndigits = 2\nis_numbered = true")
    first = "who,story,q\nann@example.org,p1s1,yes\nbo@example.org,p1s1,no\n"
    bring(tmp_path, first, numbered)

    again = bring(tmp_path, first, numbered)
    bring(tmp_path, "who,story,q\ncy@example.org,p1s1,no\n", numbered)

    assert "this file is in already" in again
    assert [(row[0], row[4]) for row in answers()] == [("R01", "yes"), ("R02", "no"), ("R03", "no")]


def test_the_command_says_whom_it_takes_for_one_rater(
    study: Study, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bring(tmp_path, "who,story,q\nann,p1s1,yes\nÁnn,p1s2,no\n", mapping("q", rater="is_numbered = true"))

    assert "“ann” = “Ánn”" in capsys.readouterr().err


@pytest.mark.parametrize(("name", "other", "is_one"), [("がく", "かく", False), ("ё", "е", True), ("Ǻ", "a", True)])
def test_marks_are_dropped_where_they_are_accents_alone(name: str, other: str, is_one: bool) -> None:
    assert (fold(name) == fold(other)) is is_one
