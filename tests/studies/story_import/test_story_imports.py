"""From a table to stories: columns guessed and kept, problems by row with a way out, all or none."""

import io
import re
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from studies import loader, protocol
from studies.incoming_tables import uploads
from studies.incoming_tables.errors import ImportRefused
from studies.models import ProtocolVersion, Provenance, Source, Step, Story, StoryColumns, StoryImport, Study
from studies.story_edits import StoriesFinal
from studies.story_import import imports
from studies.story_import.columns import ColumnChoices, guess_choices, restore_choices
from studies.story_import.files import read_file
from studies.story_import.problems import Examination, examine
from tests import factories
from tests.studies.folders import folder, rows_by_table
from tests.studies.story_import.files import CSV, HEADER

pytestmark = pytest.mark.django_db


def make_draft(slug: str = "plums") -> Study:
    """A draft without stories."""
    study = Study.objects.create(slug=slug, title="Plums", seed=7)
    ProtocolVersion.objects.create(study=study, number=1)
    return study


def keep(study: Study, content: str | bytes, name: str = "a.csv", **choices: Any) -> StoryImport:
    """The file, kept for an account, with these choices in place of the guessed ones."""
    by, _ = User.objects.get_or_create(username="ann")
    data = content if isinstance(content, bytes) else content.encode()
    row = imports.keep_import(study, read_file(name, data), by=by, at=timezone.now())
    if choices:
        row.choices |= choices
        row.save()
    return row


def looked_at(study: Study, content: str | bytes, name: str = "a.csv", **choices: Any) -> Examination:
    row = keep(study, content, name, **choices)
    return examine(uploads.restore(row), restore_choices(row.choices), imports.read_contents(study))


def test_columns_are_guessed_from_their_names_and_rows() -> None:
    choices, unsure = guess_choices(read_file("a.csv", CSV.encode()))

    assert choices.roles == {
        "no": "code",
        "plot": "group",
        "fulltext": "text",
        "author_type": "source_kind",
        "author": "source",
        "level": "factor",
    }
    assert unsure == {"level"}


def test_a_file_comes_in_whole_with_sources_groups_and_properties() -> None:
    study = make_draft()

    imports.bring_in(keep(study, CSV))

    assert {g.code: sorted(s.code for s in g.stories.all()) for g in study.groups.all()} == {
        "orchard": ["a1", "a2"],
        "harbour": ["b1", "b2"],
    }
    origin = Provenance.objects.get(story__code="a1")
    assert (origin.source.name, origin.source.kind, origin.factors) == ("Manner A", "expert_writer", {"level": "upper"})
    assert (origin.may_send_out, origin.may_redistribute) == (False, False)
    assert not StoryImport.objects.exists()


def test_the_next_file_of_the_same_columns_is_mapped_at_once() -> None:
    study = make_draft()
    imports.bring_in(keep(study, CSV, licence="CC0", roles={**guessed(CSV), "level": ""}))

    row = keep(study, CSV.replace("a1", "c1"))

    assert (row.choices["licence"], row.choices["roles"]["level"]) == ("CC0", "")
    assert StoryColumns.objects.count() == 1


def test_columns_are_known_by_what_a_newcomer_would_call_them() -> None:
    rows = [f"{n},Boats {n},A woman counts boats.,Once {n}.,Ann" for n in range(3)]

    assert guessed("\n".join(["No,Name of story,Writing prompt,Story text,Written by", *rows])) == {
        "No": "code",
        "Name of story": "title",
        "Writing prompt": "premise",
        "Story text": "text",
        "Written by": "source",
    }


def test_stories_of_a_study_that_asks_for_the_better_of_two_come_in_pairs_unless_a_column_is_the_group() -> None:
    study = make_draft()
    csv = "text,source,prompt\nOnce.,Ann,Go on.\n"
    assert keep(study, csv).choices["grouping"] == "premise"

    instrument = factories.instrument("two", n_items=1, type="pair", rationale="none")
    Step.objects.create(
        version=study.versions.get(), position=1, key="two", kind="rating", scope="group", instrument=instrument
    )

    assert keep(study, csv).choices["grouping"] == "pairs"
    assert keep(study, csv.replace("prompt", "group")).choices["grouping"] == "column"


@pytest.mark.parametrize(
    ("plots", "role"),
    [(("plot1", "Plot 2, second half"), "group"), (("A woman counts boats.", "A boy finds a lost key."), "premise")],
)
def test_a_column_called_plot_is_the_group_unless_it_tells_the_plot(plots: tuple[str, str], role: str) -> None:
    content = "plot;text\n" + "".join(f"{plot};Once there was a story of some length.\n" for plot in plots)

    choices, unsure = guess_choices(read_file("a.csv", content.encode()))

    assert choices.roles["plot"] == role
    assert choices.grouping == ("column" if role == "group" else "premise")
    assert ("plot" in unsure) == (role == "premise")


def guessed(content: str) -> dict[str, str]:
    return guess_choices(read_file("a.csv", content.encode()))[0].roles


def test_votes_dates_and_tiers_are_properties_though_they_differ_from_row_to_row() -> None:
    rows = [f"s{n},g1,Words of story {n} that goes on.,{n * 7},2021-03-{n:02},{n % 3}" for n in range(1, 25)]

    roles = guessed("\n".join(["story,group,text,Upvotes,date,tier", *rows]))

    assert roles == dict.fromkeys(("Upvotes", "date", "tier"), "factor") | {
        "story": "code",
        "group": "group",
        "text": "text",
    }


def test_the_same_stories_by_page_and_by_study_file_give_the_same_protocol(tmp_path: Path) -> None:
    from_file = loader.load_study(folder(tmp_path))
    document = protocol.write_document(protocol.read_rows(from_file.versions.get()))
    from_file.stories.all().delete()
    from_file.groups.all().delete()

    imports.bring_in(keep(from_file, (tmp_path / "stories.csv").read_bytes()))

    assert protocol.write_document(protocol.read_rows(from_file.versions.get())) == document


def test_rows_are_stored_in_an_order_that_tells_nothing_of_the_file() -> None:
    lines = [f"s{n:03},g{n % 20:02},Words of story {n}.,Ann,expert_writer" for n in range(100)]
    study = make_draft()

    imports.bring_in(keep(study, "\n".join(["story,group,text,source,source_kind", *lines])))

    codes = list(Story.objects.order_by("pk").values_list("code", flat=True))
    groups = list(study.groups.order_by("pk").values_list("code", flat=True))
    assert sorted(codes) != codes
    assert sorted(groups) != groups


PROBLEMS = {
    "a kind that is not said": (
        ("b2,harbour,The Perpetua came up out of the haze.,model", "b2,harbour,The Perpetua came up.,zzz"),
        "error",
        (5,),
        "Say above what “zzz” is.",
    ),
    "an empty text": (
        ("The Perpetua came up out of the haze.", ""),
        "error",
        (5,),
        "The text is empty, so there is nothing to read.",
    ),
    "the same code": (("b2,", "b1,"), "error", (5,), "The code “b1” stands in row 4 already."),
    "a code that cannot be one": (("b2,", "?2,"), "error", (5,), "“?2” will not do; use letters A–Z"),
    "no code": (("b2,", ","), "error", (5,), "No code is there."),
    "the same text": (
        ("The Perpetua came up out of the haze.", "For thirty-one years Daniel had guided ships."),
        "warning",
        (5,),
        "The same text as in row 4, word for word.",
    ),
    "a formula": (("Manner C,middle\n", '"=SUM(A1)",middle\n'), "error", (3, 5), "“=SUM(A1)” would run as a formula"),
    "a group of nearly that name": (("b2,harbour", "b2,orchards"), "warning", (5,), "“orchards” is a group of one;"),
    "a code that tells": (("b2,", "manner-c,"), "warning", (5,), "The code “manner-c” tells the source"),
    "no group": (("b2,harbour", "b2,"), "error", (5,), "No group is said."),
    "a control character": (("haze", "ha\x01ze"), "error", (5,), "Contains the control character U+0001"),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_problem_is_said_with_its_row_and_a_way_out_that_mends_it(name: str) -> None:
    (before, after), level, rows, sentence = PROBLEMS[name]
    study = make_draft()
    row = keep(study, CSV.replace(before, after))
    table, choices, contents = uploads.restore(row), restore_choices(row.choices), imports.read_contents(study)

    problems = [p for p in examine(table, choices, contents).problems if p.sentence.startswith(sentence)]

    assert [(problem.level, problem.rows) for problem in problems] == [(level, rows)]
    imports.take_way_out(choices, problems[0].ways_out[0].act)
    assert sentence not in " ".join(p.sentence for p in examine(table, choices, contents).problems)


@pytest.mark.parametrize(
    ("column", "cell", "sentence"),
    [
        ("text", "x" * 1_000_001, "Is longer than 1,000,000 bytes."),
        ("source", "x" * 201, "Has 201 characters; at most 200 are allowed."),
        ("group", "x" * 201, "Has 201 characters; at most 200 are allowed."),
        ("story", "?", "“?” will not do; use letters A–Z"),
    ],
)
@pytest.mark.parametrize("kind_column", ["source_kind", "note"])
def test_of_a_cell_that_is_refused_it_is_not_said_that_nothing_stands_there(
    column: str, cell: str, sentence: str, kind_column: str
) -> None:
    cells = {"story": "b2", "group": "b", "text": "Twice.", "source": "Ann", kind_column: "model"} | {column: cell}
    choices = {"kinds": {"Ann": "model"}} if kind_column == "note" else {}

    content = f"story,group,text,source,{kind_column}\nb1,b,Once.,Ann,model\n{','.join(cells.values())}\n"
    (problem,) = looked_at(make_draft(), content, **choices).errors

    assert problem.rows == (3,)
    assert problem.sentence.startswith(sentence)


@pytest.mark.parametrize("name", [name for name, problem in PROBLEMS.items() if problem[1] == "error"])
def test_with_an_error_nothing_comes_in(name: str) -> None:
    before, after = PROBLEMS[name][0]
    row = keep(make_draft(), CSV.replace(before, after))
    rows = rows_by_table()

    with pytest.raises(ImportRefused):
        imports.bring_in(row)

    assert rows_by_table() == rows


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("a,b\n1,2\n", "No column is the source."),
        ("text,source\nOnce.,\n", "No source is said."),
        ("text,source,source_kind,url\nOnce.,Ann,expert,nowhere\n", "“nowhere” is not an http or https address."),
        ("text,source,source_kind,may_send_out\nOnce.,Ann,expert,perhaps\n", "Say yes or no."),
    ],
)
def test_what_lacks_or_cannot_be_is_said(content: str, sentence: str) -> None:
    problems = looked_at(make_draft(), content).problems

    assert any(problem.sentence.startswith(sentence) for problem in problems), problems


def test_words_that_are_no_utf_8_wait_for_a_person() -> None:
    study = make_draft()
    row = keep(study, "text,source,source_kind\nCafé.,Ann,expert\n".encode("cp1252"))
    table, choices = uploads.restore(row), restore_choices(row.choices)
    problem = examine(table, choices, imports.read_contents(study)).errors[0]
    assert "“Café.”" in problem.sentence

    imports.take_way_out(choices, problem.ways_out[0].act)
    imports.save_choices(row, choices, table)
    imports.bring_in(row)

    assert study.stories.get().text == "Café."


def test_formulas_of_a_workbook_are_refused_with_their_rows() -> None:
    import openpyxl

    book = openpyxl.Workbook()
    for cells in (["text", "source", "source_kind"], ["Once.", "Ann", "expert"], ['="Tw"&"ice."', "Ann", "expert"]):
        book.active.append(cells)
    file = io.BytesIO()
    book.save(file)
    study = make_draft()
    row = keep(study, file.getvalue(), "a.xlsx")

    errors = examine(uploads.restore(row), restore_choices(row.choices), imports.read_contents(study)).errors

    assert [(error.rows, error.column) for error in errors] == [((3,), "text")]


def test_typing_that_differs_by_source_is_made_alike_when_asked() -> None:
    content = f"{HEADER}\na1,g,He said -- no.,expert,Ann,\na2,g,She said no.,model,Gpt,\n"
    study = make_draft()
    row = keep(study, content)
    table, choices, contents = uploads.restore(row), restore_choices(row.choices), imports.read_contents(study)
    problem = next(p for p in examine(table, choices, contents).warnings if p.rows == (2,))

    imports.take_way_out(choices, problem.ways_out[0].act)
    imports.save_choices(row, choices, table)
    imports.bring_in(row)

    assert study.stories.get(code="a1").text == "He said—no."
    assert Provenance.objects.get(story__code="a1").raw_text == "He said -- no."


def test_a_code_or_text_that_is_in_the_study_is_noticed() -> None:
    study = make_draft()
    imports.bring_in(keep(study, CSV))

    sentences = {problem.sentence for problem in looked_at(study, f"{CSV}c1,harbour,New.,model,Manner C,\n").problems}

    assert {"A story of this code is in the study already.", "A story of this very text is in the study already."} <= (
        sentences
    )


def test_that_a_whole_file_came_in_before_is_said_in_one_sentence() -> None:
    study = make_draft()
    imports.bring_in(keep(study, CSV))

    problems = looked_at(study, CSV, has_new_codes=True).problems

    assert [(problem.level, problem.rows, problem.sentence) for problem in problems] == [
        (
            "warning",
            (2, 3, 4, 5),
            "Every story of this file is in the study already, word for word. Discard the file, unless you want "
            "each of them twice.",
        )
    ]


def test_new_codes_say_nothing_and_are_no_others() -> None:
    study = make_draft()
    imports.bring_in(keep(study, CSV))

    imports.bring_in(keep(study, CSV, has_new_codes=True))

    codes = set(study.stories.values_list("code", flat=True))
    assert len(codes) == 8
    assert {code for code in codes if not re.fullmatch(r"s\d{5}", code)} == {"a1", "a2", "b1", "b2"}


def test_a_source_keeps_its_kind_in_all_studies() -> None:
    Source.objects.create(name="Manner A", kind="other")

    errors = looked_at(make_draft(), CSV).errors

    assert [error.rows for error in errors] == [(2, 4)]
    assert errors[0].sentence.startswith("“Manner A” is other already")


def test_of_a_source_of_two_kinds_the_rows_that_are_fewer_are_named_with_a_way_to_mend_them() -> None:
    row = "a3,orchard,The cider was old.,unknown,Manner A,upper\n"
    study = make_draft()
    kinds = {"human, published": "expert_writer", "model": "language_model", "unknown": "other"}
    errors = looked_at(study, CSV + row, kinds=kinds).errors
    problem = errors[0]

    imports.take_way_out(choices := restore_choices(StoryImport.objects.get().choices), problem.ways_out[0].act)

    assert (problem.rows, problem.column) == ((6,), "author_type")
    assert problem.sentence.startswith("“Manner A” is expert writer in other rows")
    assert problem.ways_out[0].label == "Take “unknown” as expert writer"
    assert (len(errors), choices.kinds["unknown"]) == (1, "expert_writer")
    assert not looked_at(study, CSV + row, kinds=choices.kinds).errors


def test_a_frozen_study_takes_in_nothing() -> None:
    study = make_draft()
    row = keep(study, CSV)
    Study.objects.filter(pk=study.pk).update(state="live")

    with pytest.raises(StoriesFinal):
        imports.bring_in(row)

    assert not study.stories.exists()


def test_what_nobody_confirms_is_gone_after_a_day() -> None:
    row = keep(make_draft(), CSV)

    imports.forget_old_imports(at=row.created_at + uploads.KEPT)
    assert StoryImport.objects.exists()
    imports.forget_old_imports(at=row.created_at + uploads.KEPT * 1.01)
    assert not StoryImport.objects.exists()


def test_choices_are_kept_as_they_are() -> None:
    choices = ColumnChoices(roles={"a": "text"}, left_out=[3], merged={"x": "y"}, grouping="pairs")

    assert restore_choices(choices.as_json()) == choices
