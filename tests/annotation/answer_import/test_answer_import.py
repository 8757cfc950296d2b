"""Anybody's file of answers by a mapping: long and wide, values that mean something else, every fault by row."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db.models import F

from annotation.answer_import import files
from annotation.answer_import.column_map import ColumnMapping, parse_mapping, write_mapping
from annotation.answer_import.guesses import guess_mapping
from annotation.models import AnswerImport, BroughtFile, Rater, Response
from annotation.participation import withdrawal
from annotation.responses import verification
from studies.documents.errors import DocumentError
from studies.incoming_tables import uploads
from studies.models import ProtocolVersion, Provenance, Step, Study
from tests import factories, triggers
from tests.factories import NOON
from tests.replay import replayed

pytestmark = pytest.mark.django_db

WIDE = """
time = "at"
[rater]
column = "who"
[story]
column = "story"
[[answers]]
value = "q1"
item = "item-1"
step = "tests"
rationale = "why"
means = { 1 = "yes", 0 = "no" }
[[answers]]
value = "q2"
item = "item-2"
"""
LONG = """
[rater]
column = "who"
prefix = "E"
digits = 2
[story]
column = "id"
by = "release"
[[answers]]
value = "verdict"
items_in = "test"
step = "tests"
rationale = "why"
[answers.items]
1 = "item-1"
"""
OF_GROUPS = """
[rater]
name = "gpt-x"
kind = "model"
[group]
stories = ["left", "right"]
[[answers]]
value = "order"
item = "item-1"
step = "ranking"
"""


@pytest.fixture
@replayed
def study() -> Study:
    """Two groups of two stories, which have a factor by which somebody else calls them."""
    study = factories.study(n_groups=2, n_stories=2, state="closed")
    with triggers.lifted():
        for story in study.stories.all():
            Provenance.objects.filter(story=story).update(factors={"release": f"r-{story.code}"})
    return study


def bring(tmp_path: Path, content: str, mapping: str, *, name: str = "answers.csv", **options: Any) -> str:
    """What the command says, or why it refused."""
    (tmp_path / name).write_text(content)
    (tmp_path / "map.toml").write_text(mapping)
    out = StringIO()
    try:
        call_command("import_responses", "plums", tmp_path / name, map=tmp_path / "map.toml", stdout=out, **options)
    except CommandError as error:
        return str(error)
    return out.getvalue()


def answers() -> list[tuple[Any, ...]]:
    names = ("assignment__rater__code", "assignment__group__code", "story__code", "item__key", "value", "rationale")
    return sorted(Response.objects.values_list(*names), key=str)


def test_a_wide_file_has_a_column_for_each_question_and_gaps(study: Study, tmp_path: Path) -> None:
    content = (
        "who,story,q1,why,q2,at\n"
        "Ann,p1s1,1,It is so.,No,2026-01-31T18:00+00:00\n"
        "Ann,p2s1,0.0,,,\n"
        "Bob,p1s1,,,yes,2026-02-01\n"
    )

    said = bring(tmp_path, content, WIDE)

    assert said == "4 answers of 2 raters came in from 3 rows.\n"
    assert answers() == [
        ("Ann", "plot1", "p1s1", "item-1", "yes", "It is so."),
        ("Ann", "plot1", "p1s1", "item-2", "no", ""),
        ("Ann", "plot2", "p2s1", "item-1", "no", ""),
        ("Bob", "plot1", "p1s1", "item-2", "yes", ""),
    ]
    first = Response.objects.get(assignment__rater__code="Ann", item__key="item-2")
    assert (first.first_answered_at.isoformat(), first.events.get().key) == ("2026-01-31T18:00:00+00:00", "import")
    assert verification.verify().faults == []
    record = AnswerImport.objects.get()
    assert (record.n_rows, record.n_raters, record.n_responses) == (3, 2, 4)
    assert parse_mapping(record.mapping, "kept") == parse_mapping(WIDE, "given")


@pytest.mark.parametrize("name", ["answers.json", "answers.jsonl"])
def test_a_long_file_names_the_question_in_each_row(study: Study, tmp_path: Path, name: str) -> None:
    rows = [
        {"who": 7, "id": "r-p1s1", "test": 1, "verdict": "Yes", "why": "So."},
        {"who": 7, "id": "r-p1s1", "test": "item-2", "verdict": False, "why": None},
    ]
    content = json.dumps(rows) if name.endswith(".json") else "\n".join(map(json.dumps, rows))

    bring(tmp_path, content, LONG, name=name)

    assert answers() == [
        ("E07", "plot1", "p1s1", "item-1", "yes", "So."),
        ("E07", "plot1", "p1s1", "item-2", "no", ""),
    ]


@pytest.mark.parametrize(
    ("order", "stored"),
    [("A > B", ["p1s2", "p1s1"]), ("p1s1 > p1s2", ["p1s1", "p1s2"]), ('["B", "A"]', ["p1s1", "p1s2"])],
)
def test_an_order_names_stories_by_code_or_by_the_letter_of_their_column(
    study: Study, tmp_path: Path, order: str, stored: list[str]
) -> None:
    bring(tmp_path, json.dumps([{"left": "p1s2", "right": "p1s1", "order": order}]), OF_GROUPS, name="a.json")

    assert answers() == [("gpt-x", "plot1", None, "item-1", [[code] for code in stored], "")]
    assert Rater.objects.get().kind == Rater.Kind.MODEL


def test_numbered_raters_bring_no_name_in(study: Study, tmp_path: Path) -> None:
    mapping = WIDE.replace('column = "who"', 'column = "who"\nprefix = "R"\nis_numbered = true')

    bring(tmp_path, "who,story,q1,why,q2,at\nann@x.org,p1s1,1,,,\nbob@x.org,p1s1,0,,,\n", mapping)

    assert sorted(Rater.objects.values_list("code", flat=True)) == ["R1", "R2"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("Ann,p9,1,,,", "answers.csv: row 3, “story”: “p9” is no story of the study"),
        (",p1s2,1,,,", "row 3, “who”: the row names no rater"),
        ("ann@x.org,p1s2,1,,,", "or let raters be numbered"),
        ("Ann,p1s2,7,,,", "row 3, value: '7' is no answer to item-1. Please answer “Yes” or “No”."),
        ("Ann,p1s1,1,,,", "row 3, item: Ann has answered item-1 about this already; keep one"),
        ("Ann,p1s2,,It is so.,,", "row 3, “q1”: there is a reason and no answer"),
        ("Ann,p1s2,1,,,soon", "row 3, “at”: “soon” is no day and time; write it as 2027-01-31T18:00"),
        ("Ann,p1s2,1,,,2999-01-01", "row 3, “at”: this time is still to come"),
    ],
)
def test_a_row_that_does_not_fit_is_named_and_nothing_comes_in(
    study: Study, tmp_path: Path, row: str, message: str
) -> None:
    assert message in bring(tmp_path, f"who,story,q1,why,q2,at\nAnn,p1s1,1,,,\n{row}\n", WIDE)
    assert not Response.objects.exists()
    assert not AnswerImport.objects.exists()


def test_problems_of_one_kind_are_one_with_its_first_values_and_how_many_more(study: Study, tmp_path: Path) -> None:
    rows = "".join(f"Ann,q{n},1,,,\n" for n in range(1_300)) + "Ann,p1s1,7,,,\nBob,p1s1,8,,,\n"

    lines = bring(tmp_path, "who,story,q1,why,q2,at\n" + rows, WIDE).splitlines()

    assert len(lines) == 3
    assert lines[0].startswith("answers.csv: row 2 and 1299 more rows, “story”: “q0” is no story of the study")
    assert lines[0].endswith("And 1297 values more.")
    assert lines[1].startswith("answers.csv: row 1302 and 1 more row, value: '7' is no answer to item-1.")
    assert lines[2] == "2 problems in all."


def test_the_same_file_again_is_refused_and_nothing_doubles(study: Study, tmp_path: Path) -> None:
    content = "who,story,q1,why,q2,at\nAnn,p1s1,1,,,\n"
    bring(tmp_path, content, WIDE)

    assert "Ann has had group plot1 in this study already" in bring(tmp_path, content, WIDE)
    assert Response.objects.count() == 1


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ('value = "q2"', 'value = "q3"', "answers 2, value: answers.csv has no column “q3”; it has who, story"),
        ('item = "item-2"', 'item = "item-9"', "the study has no item “item-9” in a step of its groups"),
        ('step = "tests"', "", "answers 1, item: several steps ask “item-1” (tests, ranking, guess); name the step"),
        ('item = "item-2"', "", "map.toml: answers 2: name the item that is answered, or the column"),
        ('column = "who"', "", "map.toml: rater: say which column holds the rater"),
        ('column = "who"', 'colum = "who"', "did you mean “column”?"),
        ("[[answers]]", "[[answer]]", "map.toml: answer: there is no such key; did you mean “answers”?"),
        ('column = "story"', 'column = "story"\nby = "isbn"', "no story of the study has a “isbn”"),
    ],
)
def test_a_mapping_that_does_not_fit_is_refused(
    study: Study, tmp_path: Path, before: str, after: str, message: str
) -> None:
    assert before in WIDE
    assert message in bring(tmp_path, "who,story,q1,why,q2,at\nAnn,p1s1,1,,,\n", WIDE.replace(before, after))


def test_a_dry_run_says_what_would_come_in_and_a_guess_is_a_mapping(study: Study, tmp_path: Path) -> None:
    content = "participant,story_id,item-1,item_2_score\nAnn,r-p1s1,yes,no\n"
    out = StringIO()
    (tmp_path / "a.csv").write_text(content)
    call_command("import_responses", "plums", tmp_path / "a.csv", stdout=out, stderr=StringIO())

    assert bring(tmp_path, content, out.getvalue(), dry_run=True).startswith("2 answers of 1 raters would come in.")
    assert not Response.objects.exists()


def test_a_mapping_is_written_as_it_is_read() -> None:
    for toml in (WIDE, LONG, OF_GROUPS):
        mapping = parse_mapping(toml, "a.toml")
        assert parse_mapping(write_mapping(mapping), "b.toml") == mapping
    with pytest.raises(DocumentError, match="say which column holds the rater"):
        parse_mapping(write_mapping(ColumnMapping()) or "# nothing", "c.toml")


def test_a_draft_is_frozen_by_its_first_answers(tmp_path: Path) -> None:
    factories.study(n_stories=2, state="draft", planned=False)

    assert "came in" in bring(tmp_path, "who,story,q1,why,q2,at\nAnn,p1s1,1,,,\n", WIDE)
    assert ProtocolVersion.objects.get().frozen_at is not None


def test_files_that_wait_go_after_a_day_and_when_somebody_withdraws(study: Study) -> None:
    table = files.read_answers("a.csv", b"who,story,q1\nAnn,p1s1,1\n")
    by = factories.staff("researcher")

    def keep() -> BroughtFile:
        return files.keep_answers(study, table, None, sha256="0" * 64, by=by, at=NOON)

    row = keep()
    assert uploads.restore(row) == table
    assert files.restore_mapping(row) == guess_mapping(table, study)
    assert files.forget_old_files(at=NOON + uploads.KEPT) == 0
    assert files.forget_old_files(at=NOON + uploads.KEPT * 1.01) == 1
    keep()
    withdrawal.withdraw(Rater.objects.create(study=study, code="E01"), at=NOON)
    assert not BroughtFile.objects.exists()


ONCE = """
declined = ["n/a"]
unreadable = ["?"]
[rater]
column = "who"
[[answers]]
value = "age"
item = "item-1"
step = "you"
"""
OF_STORIES_TOO = """
[story]
column = "story"
[[answers]]
value = "q1"
item = "item-1"
step = "tests"
"""


@pytest.fixture
@replayed
def surveyed() -> Study:
    """A study that asks each rater once, before the groups."""
    study = factories.study(n_groups=2, n_stories=2, state="draft", planned=False)
    asked = factories.instrument("about-you", n_items=1, type="number", rationale="none", rationale_least=0)
    version = study.versions.get()
    Step.objects.filter(version=version, position__gt=1).update(position=F("position") + 10)
    Step.objects.create(version=version, position=2, key="you", kind="rating", instrument=asked, scope="once")
    return study


def test_what_is_asked_once_comes_in_once_however_often_a_file_repeats_it(surveyed: Study, tmp_path: Path) -> None:
    content = "who,story,q1,age\nAnn,p1s1,yes,41\nAnn,p1s2,n/a,41\nBob,p1s1,?,\nBob,p2s1,no,n/a\n"

    said = bring(tmp_path, content, ONCE + OF_STORIES_TOO)

    assert said == "6 answers of 2 raters came in from 4 rows.\n"
    rows = Response.objects.values_list(
        "assignment__rater__code", "assignment__group__code", "story__code", "item__key", "outcome", "value"
    )
    assert sorted(rows, key=str) == sorted(
        [
            ("Ann", None, None, "item-1", "answered", 41),
            ("Ann", "plot1", "p1s1", "item-1", "answered", "yes"),
            ("Ann", "plot1", "p1s2", "item-1", "declined", None),
            ("Bob", None, None, "item-1", "declined", None),
            ("Bob", "plot1", "p1s1", "item-1", "unreadable", None),
            ("Bob", "plot2", "p2s1", "item-1", "answered", "no"),
        ],
        key=str,
    )
    assert set(surveyed.assignments.filter(seat=None).values_list("rater__code", "status")) == {
        ("Ann", "submitted"),
        ("Bob", "submitted"),
    }
    assert verification.verify().faults == []


def test_a_file_of_what_is_asked_once_needs_no_story_and_comes_in_once(surveyed: Study, tmp_path: Path) -> None:
    content = "who,age\nAnn,41\nBob,17.5e\n"
    assert bring(tmp_path, content.replace("17.5e", "33"), ONCE) == "2 answers of 2 raters came in from 2 rows.\n"

    again = bring(tmp_path, content.replace("17.5e", "33"), ONCE)
    unlike = bring(tmp_path, "who,age\nEve,41\nEve,42\n", ONCE)
    unplaced = bring(tmp_path, "who,age,q1\nEve,41,yes\n", ONCE + OF_STORIES_TOO.replace('column = "story"', ""))

    assert "Ann has been asked in this study what is asked once" in again
    assert "Eve is asked this once, and answers.csv: row 2 says otherwise; let all rows say the same" in unlike
    assert "say which column holds the story, or the group" in unplaced
    assert Response.objects.count() == 2


def test_words_for_no_answer_are_kept_in_the_mapping_and_stand_for_one_thing() -> None:
    mapping = parse_mapping(ONCE, "map.toml")

    assert (mapping.declined, mapping.unreadable) == (("n/a",), ("?",))
    assert parse_mapping(write_mapping(mapping), "map.toml") == mapping
    with pytest.raises(DocumentError, match="“n/a” cannot be both declined and unreadable"):
        parse_mapping(ONCE.replace('"?"', '"n/a"'), "map.toml")
