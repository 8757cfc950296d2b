"""Files of answers in every shape: a row for each rater or story, orders and choices in columns, rows that are none."""

from dataclasses import replace
from typing import Any

import pytest
from django.db.models import QuerySet
from django.utils import timezone

from annotation.answer_import import files
from annotation.answer_import.column_map import (
    AnswerColumn,
    ColumnMapping,
    OmittedRows,
    find_gap,
    parse_mapping,
    write_mapping,
)
from annotation.answer_import.guesses import guess_mapping
from annotation.models import BroughtFile, Rater, Response
from annotation.responses import verification
from studies.incoming_tables.errors import ImportRefused
from studies.models import Instrument, Item, ProtocolVersion, Step, StoryGroup, Study
from tests import factories, triggers
from tests.replay import replayed

pytestmark = pytest.mark.django_db
SCALE = {"low": 1, "high": 5, "anchors": {"1": "No", "5": "Yes"}}
WORK = [{"value": "writer", "label": "Writer, or poet"}, {"value": "editor", "label": "Editor"}]


@pytest.fixture
@replayed
def study() -> Study:
    """Two groups of two stories, two scales and a reason about each, an order and a choice about each group."""
    made = Study.objects.create(slug="plums", title="Plums", seats_per_group=1, seed=7, organiser="Us")
    for g in (1, 2):
        group = StoryGroup.objects.create(study=made, code=f"plot{g}")
        group.stories.add(*factories.stories(made, {f"s{2 * g - 1}": "Ann", f"s{2 * g}": "GPT"}))
    about_one = _instrument("scales", ("engagement", "Engagement", "scale"), ("voice", "Narrative voice", "scale"))
    about_all = _instrument("groups", ("order", "Order", "ranking"), ("work", "Your work", "multi"))
    version = ProtocolVersion.objects.create(study=made, number=1)
    steps = [{"instrument": about_one, "scope": "story", "key": "read"}, {"instrument": about_all, "scope": "group"}]
    for n, step in enumerate(steps, start=1):
        Step.objects.create(**{"version": version, "position": n, "key": "compare", "kind": "rating"} | step)
    return made


def _instrument(slug: str, *asked: tuple[str, str, str]) -> Instrument:
    made = Instrument.objects.create(slug=slug, version="1", title=slug, status="draft", fingerprint="0" * 64)
    for n, (key, title, kind) in enumerate(asked, start=1):
        how: dict[str, Any] = {"settings": SCALE} if kind == "scale" else {"options": WORK if kind == "multi" else []}
        question = f"What of {title.lower()}?"
        Item.objects.create(instrument=made, position=n, key=key, title=title, question=question, type=kind, **how)
    Instrument.objects.filter(pk=made.pk).update(status="published")
    return made


def bring(study: Study, content: str, mapping: ColumnMapping | None = None) -> list[tuple[Any, ...]]:
    """The answers that come in from a table, read as it seems to be, or by that mapping.

    What the page shows before is what comes in.
    """
    table = files.read_answers("a.csv", content.encode())
    mapping = mapping or guess_mapping(table, study)
    assert parse_mapping(write_mapping(mapping), "kept") == mapping
    assert find_gap(mapping) is None
    shown = files.examine(study, table, mapping)
    files.bring_in(study, table, mapping, sha256="0" * 64, by="ann", at=timezone.now())
    assert len(shown.rows) == Response.objects.count()
    assert verification.verify().faults == []
    names = ("assignment__rater__code", "assignment__group__code", "story__code", "item__key", "value", "rationale")
    return sorted((row[0], row[2] or row[1], *row[3:]) for row in Response.objects.values_list(*names))


@pytest.mark.parametrize(
    "header",
    [
        "s1_engagement,s1_voice,s3_engagement,s3_engagement_why",
        "engagement.s1,voice.s1,engagement.s3,engagement.s3 comment",
        "[S1] Engagement,[S1] Narrative voice,[S3] Engagement,[S3] Engagement: reason",
        "Q3 [Engagement] story 1,Q4 [Narrative voice] story 1,Q5 [Engagement] story 3,Engagement story 3 why",
        "What of engagement? (Story 01),What of narrative voice? (Story 01),What of engagement? (Story 03),"
        "Story 03: engagement (comment)",
    ],
)
def test_a_row_for_each_rater_has_columns_for_stories_and_questions(study: Study, header: str) -> None:
    brought = bring(study, f"who,{header}\nann,4,3,,\nbo,2,,5,It moved.\n")

    assert brought == [
        ("ann", "s1", "engagement", 4, ""),
        ("ann", "s1", "voice", 3, ""),
        ("bo", "s1", "engagement", 2, ""),
        ("bo", "s3", "engagement", 5, "It moved."),
    ]


def test_a_loop_of_numbers_is_known_and_what_its_questions_are_is_to_be_said(study: Study) -> None:
    table = files.read_answers("a.csv", b"ResponseId,1_Q5,1_Q6,2_Q5,2_Q6\nR_1,4,3,2,1\n")

    mapping = guess_mapping(table, study)

    assert mapping.answers == ()
    assert mapping.story.names == {"1": "s1", "2": "s2"}


@pytest.mark.parametrize(
    "header",
    [
        "story,ann_engagement,bo_engagement,bo_engagement_reason",
        "Story,Engagement: ann,Engagement: bo,Engagement bo why",
    ],
)
def test_a_row_for_each_story_has_columns_for_raters(study: Study, header: str) -> None:
    assert bring(study, f"{header}\ns1,4,2,Dull.\ns3,,5,\n") == [
        ("ann", "s1", "engagement", 4, ""),
        ("bo", "s1", "engagement", 2, "Dull."),
        ("bo", "s3", "engagement", 5, ""),
    ]


def test_a_mapping_names_stories_and_raters_for_columns_whatever_their_headers(study: Study) -> None:
    mapping = parse_mapping(
        '[story.names]\n"the first" = "s3"\n'
        '[[answers]]\nvalue = "A"\nitem = "voice"\nstory = "the first"\nrater = "ann"\n'
        '[[answers]]\nvalue = "B"\nitem = "voice"\nstory = "s1"\nrater = "bo"\n',
        "map.toml",
    )

    assert bring(study, "A,B\n1,2\n", mapping) == [("ann", "s3", "voice", 1, ""), ("bo", "s1", "voice", 2, "")]


@pytest.mark.parametrize(
    ("content", "orders"),
    [
        ("who,rank_s1,rank_s2,rank_s3,rank_s4\nann,2,1,1.0,2\n", [[["s2"], ["s1"]], [["s3"], ["s4"]]]),
        ("who,group,1st,2nd\nann,plot1,s2,s1\nann,plot2,s3,s4\n", [[["s2"], ["s1"]], [["s3"], ["s4"]]]),
        (
            "who,story_a,story_b,Rank of story A,Rank of story B\nann,s2,s1,1,2\nann,s4,s3,2,1\n",
            [[["s2"], ["s1"]], [["s3"], ["s4"]]],
        ),
        ('who,group,order\nann,plot1,"s2, s1"\nann,plot2,s3; s4\n', [[["s2"], ["s1"]], [["s3"], ["s4"]]]),
    ],
    ids=["a rank for each story", "a story for each rank", "by letter", "in one cell"],
)
def test_orders_stand_in_columns_or_in_a_cell(study: Study, content: str, orders: list[Any]) -> None:
    assert [row[3] for row in bring(study, content)] == orders


@pytest.mark.parametrize(
    "rows",
    [
        'who,group,work\nann,plot1,"Writer, or poet, Editor"\nbo,plot1,editor\n',
        "who,group,work\nann,plot1,writer|editor\nbo,plot1,editor\n",
        "who,group,work___1,work___2\nann,plot1,1,1\nbo,plot1,0,1\ncy,plot1,0,0\n",
        '"who","group","Your work [Writer, or poet]","Your work [Editor]"\nann,plot1,Yes,Yes\nbo,plot1,,Yes\n',
        "who,group,work_writer,work_editor\nann,plot1,x,x\nbo,plot1,,Editor\n",
    ],
)
def test_several_options_stand_in_one_cell_or_in_columns(study: Study, rows: str) -> None:
    assert [(row[0], row[3]) for row in bring(study, rows)] == [("ann", ["writer", "editor"]), ("bo", ["editor"])]


def test_a_cell_that_does_not_say_whether_an_option_was_chosen_is_refused(study: Study) -> None:
    content = "who,group,work_writer,work_editor\nann,plot1,perhaps,1\n"

    with pytest.raises(ImportRefused, match="“perhaps” does not say whether “writer” was chosen; write 1 or 0"):
        bring(study, content)


@pytest.mark.parametrize(
    ("column", "out", "within"),
    [("Status", "Survey Preview", "IP Address"), ("Finished", "False", "True"), ("AssignmentStatus", "Rejected", "OK")],
)
def test_rows_that_are_no_answers_are_left_out_and_counted(study: Study, column: str, out: str, within: str) -> None:
    content = f"who,story,{column},voice\nann,s1,{within},4\nann,s1,{out},5\nbo,s9,{out.upper()},9\n"
    table = files.read_answers("a.csv", content.encode())

    shown = files.examine(study, table, guess_mapping(table, study))

    assert [(row.rater, row.answer.value) for row in shown.rows] == [("ann", "4")]
    assert shown.problems == ()
    assert dict(shown.n_left_out) == {(column, out): 1, (column, out.upper()): 1}


@pytest.mark.parametrize("other", ["ANN@example.org", "ann@example.org ", "ánn@example.org", "Ann@Example.Org"])
def test_raters_with_free_names_are_numbered_and_two_spellings_of_one_are_warned_of(study: Study, other: str) -> None:
    content = f"email,story,voice\nann@example.org,s1,4\n{other},s2,5\nbo b@example.org,s1,3\n"
    table = files.read_answers("a.csv", content.encode())
    mapping = guess_mapping(table, study)

    shown = files.examine(study, table, mapping)

    assert mapping.rater.is_numbered
    assert {row.rater for row in shown.rows} == {"1", "2"}
    warned = shown.warning.sentence if shown.warning else ""
    assert ("“ann@example.org”" in warned) == (other.strip() != "ann@example.org")


def test_a_rater_whom_the_study_has_in_another_spelling_is_no_new_one(study: Study) -> None:
    Rater.objects.create(study=study, code="Ann")

    with pytest.raises(ImportRefused, match="“ann” and “Ann” differ only in small and capital letters"):
        bring(study, "who,story,voice\nann,s1,4\n")


def test_stories_are_known_though_their_names_were_made_codes(study: Study) -> None:
    group = StoryGroup.objects.create(study=study, code="plot3")
    group.stories.add(*factories.stories(study, {"The-plum.tree": "Ann", "s6": "GPT"}))

    assert bring(study, "who,story,voice\nann,the plum tree,4\nann,S1,5\n") == [
        ("ann", "The-plum.tree", "voice", 4, ""),
        ("ann", "s1", "voice", 5, ""),
    ]


def test_people_take_the_free_places_before_new_ones_are_made(study: Study) -> None:
    factories.plan(study)
    n_planned = study.seats.count()

    bring(study, "who,s1_voice,s3_voice\nann,4,5\nbo,3,\n")

    assert (n_planned, study.seats.count()) == (2, 3)
    assert study.seats.filter(is_taken=False).count() == 0


def test_a_column_for_a_story_that_is_none_and_an_order_asked_of_a_scale_are_said_of_the_mapping(study: Study) -> None:
    table = files.read_answers("a.csv", b"who,A,B\nann,1,2\n")
    head = '[rater]\ncolumn = "who"\n[[answers]]\n'
    faults = {
        'value = "A"\nitem = "voice"\nstory = "s9"\n': "answers 1, story: “s9” is no story of the study",
        'ranked = ["A", "B"]\nitem = "voice"\ngroup = "plot1"\n': "“voice” asks for no order",
        'item = "voice"\nstory = "s1"\noptions = { A = "x" }\n': "“voice” has no options to be chosen",
        'item = "voice"\nstory = "s1"\n': "is missing or empty, or more than one",
        'value = "A"\nitem = "voice"\nstory = "s1"\n[[leave_out]]\ncolumn = "C"\nis = "x"\n': "has no column “C”",
        'value = "A"\nitem = "voice"\n[story.names]\nx = "s9"\n': "say which column holds the story",
        'value = "A"\nitem = "voice"\nstory = "x"\n[story.names]\nx = "s9"\n': "“s9”, for “x”, is no story",
    }

    said = {}
    for toml in faults:
        with pytest.raises(ValueError, match=r"[a-z]") as refused:
            files.examine(study, table, parse_mapping(head + toml, "map.toml"))
        said[toml] = str(refused.value)

    assert {toml: words for toml, words in faults.items() if words not in said[toml]} == {}


def test_a_file_says_its_own_zone_and_rows_whatever_an_earlier_one_said(study: Study) -> None:
    bring(study, "who,story,voice\nann,s1,4\n")
    plain = files.read_answers("a.csv", b"who,story,voice,Status\nbo,s1,4,done\nbo,s2,4,Preview\n")

    table = replace(plain, hints={"zone": "America/Denver"})
    mapping = parse_mapping(files.make_choices(study, table)["mapping"], "kept")

    assert mapping.times.zone == "America/Denver"
    assert mapping.leave_out == (OmittedRows("Status", ("Preview",)),)


@pytest.mark.parametrize(("zone", "read"), [("Z", "UTC"), (None, ""), ("Mars/Olympus", "")])
def test_a_guess_is_always_a_mapping_that_can_be_read(study: Study, zone: str | None, read: str) -> None:
    marks = [f"Status{' ' * n}." for n in range(40)]
    stories = [f"Story {n}" for n in range(400)]
    header = ",".join(["who", "story", "voice", *marks])
    rows = "".join(f"ann,{name},4{',Preview' * 40}\n" for name in stories)
    table = replace(files.read_answers("a.csv", f"{header}\n{rows}".encode()), hints={"zone": zone})

    mapping = parse_mapping(files.make_choices(study, table)["mapping"], "kept", may_be_open=True)

    assert (mapping.times.zone, mapping.rater.column, len(mapping.leave_out)) == (read, "who", 30)


def test_ranks_of_many_stories_are_a_mapping() -> None:
    ranks = {f"rank_{n}": f"s{n}" for n in range(400)}
    mapping = ColumnMapping(answers=(AnswerColumn(ranks=ranks, item="order"),))

    assert parse_mapping(write_mapping(mapping), "kept", may_be_open=True) == mapping


def test_a_kept_mapping_that_cannot_be_read_any_more_is_an_open_one(study: Study) -> None:
    kept = BroughtFile(choices={"mapping": '[times]\nzone = "Z"\n'})

    assert files.restore_mapping(kept) == ColumnMapping()


def test_what_was_said_of_answers_stays_when_the_file_is_read_otherwise(study: Study) -> None:
    said = '[rater]\ncolumn = "who"\n[[answers]]\nvalue = "Q1"\nitem = "voice"\nstory = "s1"\n'
    choices = {"mapping": said, "may_cross": False}

    again = files.choose_again(study, files.read_answers("a.csv", b"who,Q1\nann,4\n"), choices)
    other = files.choose_again(study, files.read_answers("a.csv", b"who,voice,story\nann,4,s1\n"), choices)

    assert again == choices
    assert parse_mapping(other["mapping"], "kept").story.column == "story"


def test_the_word_no_in_the_column_of_an_option_that_is_no_is_refused(study: Study) -> None:
    options = [{"value": "yes", "label": "Yes"}, {"value": "no", "label": "No"}]
    with triggers.lifted():
        QuerySet(Item).filter(key="work").update(options=options)

    with pytest.raises(ImportRefused, match="“No” may be the option itself or say that it was not chosen"):
        bring(study, "who,group,work_yes,work_no\nann,plot1,,No\n")
    assert bring(study, "who,group,work_yes,work_no\nann,plot1,0,x\n") == [("ann", "plot1", "work", ["no"], "")]


def test_a_row_that_is_left_out_may_hold_a_damaged_cell(study: Study) -> None:
    content = '[{"who":"ann","story":"s1","voice":4,"Status":"done"},'
    content += '{"who":"\\ud83d","story":"s1","voice":4,"Status":"Preview"}]'
    table = files.read_answers("a.json", content.encode())

    shown = files.examine(study, table, guess_mapping(table, study))

    assert (shown.problems, len(shown.rows)) == ((), 1)


def test_raters_in_other_letters_are_not_one_by_their_number(study: Study) -> None:
    header = "story,Engagement: Ольга1,Engagement: Иван1"

    brought = bring(study, f"{header}\ns1,4,2\n")

    assert [(row[0], row[3]) for row in brought] == [("1", 4), ("2", 2)]
