"""The public release of TTCW, brought in and computed anew; and small releases with one fault each, refused whole."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Rater, Response
from annotation.responses import history
from reports.models import Report
from studies.models import Instrument, Provenance, Source, Story, Study

pytestmark = pytest.mark.django_db

SOURCES = ("GPT3.5", "GPT4", "Claude", "NewYorker")


def replicate(folder: Path, **options: Any) -> tuple[int, str, str]:
    """Exit status, standard output and standard error of the command."""
    out, err = io.StringIO(), io.StringIO()
    try:
        call_command("replicate", "ttcw", data=folder, stdout=out, stderr=err, **options)
    except CommandError as error:
        return error.returncode, out.getvalue(), err.getvalue() + str(error)
    return 0, out.getvalue(), err.getvalue()


def document(folder: Path, **options: Any) -> dict[str, Any]:
    return dict(json.loads(replicate(folder, json=True, **options)[1]))


def values(found: dict[str, Any], key: str) -> list[float]:
    return [figure["value"] for figure in found["figures"] if figure["key"] == key]


def marks(found: dict[str, Any], key: str) -> list[str]:
    return [figure["mark"] for figure in found["figures"] if figure["key"] == key]


@pytest.mark.data
def test_the_release_gives_every_figure_as_the_specification_says(release: Path) -> None:
    status, said, complaints = replicate(release / "ttcw")
    found = document(release / "ttcw")

    assert (status, complaints) == (0, "")
    assert "100 of 100 figures are as the data must give them, those of judges not counted." in said
    assert (found["is_replicated"], found["differences"], found["judge_differences"]) == (True, [], [])
    assert marks(found, "pass_rate") == ["same"] * 56
    assert marks(found, "fleiss_kappa_without_plot_2") == ["same"] * 14
    assert marks(found, "fleiss_kappa").count("known") == 11
    assert marks(found, "mean_pass_rate") == ["same", "known", "same", "same"]
    assert [round(v, 3) for v in values(found, "mean_pass_rate")] == [8.730, 27.778, 29.960, 84.722]
    assert [round(v, 4) for v in values(found, "pearson_of_totals")] == [0.6868]
    assert [round(v, 4) for v in values(found, "pooled_fleiss_kappa")] == [0.4261]
    assert values(found, "n_yes") + values(found, "n_verdicts") == [762, 2016]
    assert values(found, "n_majority_yes") + values(found, "n_majorities") == [228, 672]
    assert {f["at"][0]: f["value"] for f in found["figures"] if f["key"] == "judge_missing"} == {
        "gpt4": 0,
        "gemini-pro": 14,
    }


@pytest.mark.data
def test_the_release_becomes_a_closed_study_of_its_experts(release: Path) -> None:
    replicate(release / "ttcw")

    study = Study.objects.get()
    assert (study.state, study.stories.count(), study.groups.count()) == ("closed", 48, 12)
    assert Rater.objects.filter(kind="person").count() == 11
    assert Response.objects.filter(assignment__rater_kind="person", outcome="answered").count() == 2016
    assert Response.objects.filter(assignment__rater__code="gemini-pro", outcome="declined").count() == 50
    assert Instrument.objects.values_list("slug", "version").get() == ("ttcw", "published")
    withheld = Provenance.objects.filter(story__is_withheld=True)
    assert {p.source.name for p in withheld.select_related("source")} == {"The New Yorker"}
    assert all(p.url.startswith("https://www.newyorker.com/") for p in withheld)
    some = Response.objects.order_by("pk")[:50]
    assert [fault for r in some for fault in history.faults(r, r.events.all())] == []


@pytest.mark.data
def test_a_second_run_gives_the_same_document_and_brings_nothing_in(release: Path) -> None:
    _, first, _ = replicate(release / "ttcw", json=True)
    n = Response.objects.count()
    _, second, _ = replicate(release / "ttcw", json=True)

    assert n == 2016 + 672 + 658
    assert (first == second, Response.objects.count(), Study.objects.count()) == (True, n, 1)


@pytest.mark.data
def test_figures_come_from_the_rows_not_from_the_files(release: Path) -> None:
    replicate(release / "ttcw")
    no = Response.objects.filter(assignment__rater_kind="person", value="no").first()
    assert no is not None
    Response.objects.filter(pk=no.pk).update(value="yes")

    status, _, complaints = replicate(release / "ttcw")

    assert status == 1
    assert "n_yes: 763 where the data must give 762" in complaints


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A release of the same shape: two plots of four stories, two tests, two experts, one judge."""
    tests = [
        {
            "ttcw_idx": str(n),
            "torrance_dimension": "Fluency",
            "category": f"Test {n}",
            "question": f"Is it good in way {n}?",
            "full_prompt": f"What way {n} is.\n\nGiven the story above, say whether it is.",
        }
        for n in (1, 2)
    ]
    stories = [
        {
            "story_idx": str(plot),
            "story_id": f"{plot}_{source}",
            "story_name": f"Plot {plot}",
            "plot": f"What happens in {plot}.",
            "content": "https://example.org/story" if source == "NewYorker" else f"The {source} story of {plot}.",
        }
        for plot in (0, 1)
        for source in SOURCES
    ]
    annotations = [
        {
            "story_idx": plot,
            "story_id": f"{plot}_{source}",
            "expert_idx": expert,
            "ttcw_idx": test,
            "category": f"Test {test}",
            "binary_verdict": "Yes" if (expert + test + len(source)) % 2 else "No",
            "explanation": "It is so.",
        }
        for plot in (0, 1)
        for source in SOURCES
        for expert in (0, 1)
        for test in (1, 2)
    ]
    judge = [{"id": f"story_{s['story_id']}_test{n}", "response": "Yes, it is."} for s in stories for n in (1, 2)]
    for name, content in {
        "ttcw_all_tests.json": tests,
        "ttcw_short_stories.json": stories,
        "ttcw_annotations.json": annotations,
    }.items():
        (tmp_path / name).write_text(json.dumps(content))
    (tmp_path / "judges").mkdir()
    (tmp_path / "judges" / "one.jsonl").write_text("\n".join(json.dumps(line) for line in judge))
    return tmp_path


def change(path: Path, edit: Callable[[list[dict[str, Any]]], object]) -> None:
    rows = json.loads(path.read_text())
    edit(rows)
    path.write_text(json.dumps(rows))


def test_a_release_with_other_figures_is_brought_in_and_each_difference_named(small: Path) -> None:
    status, said, complaints = replicate(small)

    assert status == 1
    assert "Not replicated." in complaints
    assert "n_verdicts: 32 where the data must give 2016" in complaints
    assert "pass_rate GPT4 3: no value (The data give no such figure.) where the data must give 50.0" in complaints
    assert "recomputed        32  DIFFERS" in said
    assert Response.objects.count() == 32 + 16


def test_judges_at_hand_that_nobody_published_are_computed_and_differ_from_nothing(small: Path) -> None:
    found = document(small)

    assert [(f["at"], f["value"], f["mark"]) for f in found["figures"] if f["key"] == "judge_readable"] == [
        (["one"], 16.0, "new")
    ]
    assert found["judge_differences"] == []


ANNOTATIONS, STORIES, TESTS, JUDGE = (
    "ttcw_annotations.json",
    "ttcw_short_stories.json",
    "ttcw_all_tests.json",
    "judges/one.jsonl",
)
FAULTS: dict[str, tuple[str, Callable[[list[dict[str, Any]]], object], str]] = {
    "verdict": (
        ANNOTATIONS,
        lambda rows: rows[4].update(binary_verdict="Maybe"),
        "ttcw_annotations.json: row 5, binary_verdict: must be Yes or No, not “Maybe”",
    ),
    "verdict of another kind": (
        ANNOTATIONS,
        lambda rows: rows[4].update(binary_verdict=True),
        "ttcw_annotations.json: row 5, binary_verdict: must be text, not true or false",
    ),
    "missing field": (
        ANNOTATIONS,
        lambda rows: rows[0].pop("ttcw_idx"),
        "ttcw_annotations.json: row 1, ttcw_idx: is missing",
    ),
    "unknown story": (
        ANNOTATIONS,
        lambda rows: rows[0].update(story_id="0_GPT9"),
        "ttcw_annotations.json: row 1, story_id: “0_GPT9” is not among the stories",
    ),
    "story of another plot": (
        ANNOTATIONS,
        lambda rows: rows[0].update(story_idx=1),
        "ttcw_annotations.json: row 1, story_idx: does not go with story_id “0_GPT3.5”",
    ),
    "unknown test": (
        ANNOTATIONS,
        lambda rows: rows[0].update(ttcw_idx=3),
        "ttcw_annotations.json: row 1, ttcw_idx: “3” is not one of the tests 1 to 2",
    ),
    "expert without a number": (
        ANNOTATIONS,
        lambda rows: rows[0].update(expert_idx="Ann"),
        "ttcw_annotations.json: row 1, expert_idx: must be a whole number from 0, not “Ann”",
    ),
    "a verdict twice": (
        ANNOTATIONS,
        lambda rows: rows.append(rows[0]),
        "ttcw_annotations.json: row 33, item: E00 has answered test-1 about this already; keep one of the two answers",
    ),
    "reasons that no database keeps": (
        ANNOTATIONS,
        lambda rows: rows[0].update(explanation="a\x00b"),
        "ttcw_annotations.json: row 1, explanation: contains the control character U+0000; remove it",
    ),
    "a row that is none": (
        ANNOTATIONS,
        lambda rows: rows.append("Yes"),  # type: ignore[arg-type]
        "ttcw_annotations.json: row 33: must be an object, not text",
    ),
    "no rows": (ANNOTATIONS, lambda rows: rows.clear(), "ttcw_annotations.json: file: must hold a list of objects"),
    "story without text": (
        STORIES,
        lambda rows: rows[0].update(content=" "),
        "ttcw_short_stories.json: story 1, content: is empty",
    ),
    "a story twice": (
        STORIES,
        lambda rows: rows.append(rows[0]),
        "ttcw_short_stories.json: story 9, story_id: “0_GPT3.5” stands twice",
    ),
    "unknown source": (
        STORIES,
        lambda rows: rows[0].update(story_id="0_Bard"),
        "ttcw_short_stories.json: story 1, story_id: “0_Bard” must be the story_idx and one of GPT3.5, GPT4, Claude, "
        "NewYorker",
    ),
    "two premises of one plot": (
        STORIES,
        lambda rows: rows[1].update(plot="Something else."),
        "ttcw_short_stories.json: story 2, plot: differs from that of other stories with story_idx 0",
    ),
    "test out of order": (
        TESTS,
        lambda rows: rows.reverse(),
        "ttcw_all_tests.json: test 1, ttcw_idx: must be 1: the tests are numbered in their order",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_named_in_one_line_and_nothing_is_half_loaded(small: Path, fault: str) -> None:
    name, edit, message = FAULTS[fault]
    change(small / name, edit)

    assert replicate(small) == (2, "", message)
    assert_nothing_was_loaded()


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (ANNOTATIONS, b"", "ttcw_annotations.json: file: the file is empty"),
        (ANNOTATIONS, b"[{", "ttcw_annotations.json: file: is not JSON: Expecting property name"),
        (ANNOTATIONS, b'["\xff"]', "ttcw_annotations.json: file: line 1 is not UTF-8; save the file as UTF-8"),
        (
            ANNOTATIONS,
            b'[{"a": 1, "a": 2}]',
            "ttcw_annotations.json: file: holds an object in which a key stands twice",
        ),
        (ANNOTATIONS, b'{"a": 1}', "ttcw_annotations.json: file: must hold a list of objects"),
        (JUDGE, b'{"id": "story_0_GPT4_test1"}', "one.jsonl: line 1, response: is missing"),
        (
            JUDGE,
            b'{"id": "0_GPT4", "response": "Yes"}',
            "one.jsonl: line 1, id: “0_GPT4” must be story_<story_id>",
        ),
        (JUDGE, b'{"id": "story_0_GPT4_test9", "response": "Yes"}', "one.jsonl: line 1, id: “story_0_GPT4_test9” must"),
        (JUDGE, b"Yes", "one.jsonl: line 1: is not JSON: Expecting value"),
        (
            JUDGE,
            b'{"id": "story_0_GPT4_test1", "response": "Yes"}\n{"id": "story_0_GPT4_test1", "response": "No"}',
            "one.jsonl: line 2, item: one has answered test-1 about this already; keep one of the two answers",
        ),
    ],
)
def test_a_file_that_cannot_be_read_is_refused(small: Path, name: str, content: bytes, message: str) -> None:
    (small / name).write_bytes(content)

    status, said, complaint = replicate(small)

    assert (status, said, complaint[: len(message)], complaint.count("\n")) == (2, "", message, 0)
    assert_nothing_was_loaded()


def test_a_missing_file_and_a_missing_folder_are_named(small: Path) -> None:
    (small / STORIES).unlink()

    assert replicate(small)[2] == "ttcw_short_stories.json: file: cannot be read: No such file or directory"
    assert "there is no folder" in replicate(small / "nowhere")[2]
    assert "there is no folder" in replicate(small, judges=small / "nowhere")[2]


def test_a_judge_is_read_by_its_first_word_and_never_becomes_a_no(small: Path) -> None:
    said = ["**Yes** it is", "no.", "Content Blocked", "Perhaps", "", "Yesterday"]
    lines = [
        json.dumps({"id": f"story_0_{SOURCES[n // 2]}_test{n % 2 + 1}", "response": words})
        for n, words in enumerate(said)
    ]
    (small / JUDGE).write_text("\n".join(lines))

    found = document(small)

    answers = Response.objects.filter(assignment__rater__code="one").order_by("pk").values_list("value", "outcome")
    assert list(answers) == [
        ("yes", "answered"),
        ("no", "answered"),
        (None, "declined"),
        (None, "unreadable"),
        (None, "unreadable"),
        (None, "unreadable"),
    ]
    keys = ("judge_readable", "judge_declined", "judge_unreadable", "judge_missing", "judge_yes_rate")
    assert [values(found, key) for key in keys] == [[2], [1], [3], [10], [0.5]]


def test_another_release_is_refused_with_a_way_out_and_a_new_judge_is_added(small: Path) -> None:
    replicate(small, judges=small)  # no judges there
    assert (Rater.objects.filter(kind="model").count(), Report.objects.count()) == (0, 1)

    assert replicate(small)[0] == 1
    assert Rater.objects.get(kind="model").code == "one"
    change(small / ANNOTATIONS, lambda rows: rows[0].update(explanation="Something else."))
    status, _, complaint = replicate(small)

    assert status == 2
    assert "“ttcw-release” was brought in from another release (ttcw_annotations.json was different then)" in complaint
    assert "--study" in complaint
    assert replicate(small, study="another")[0] == 1
    assert Study.objects.count() == 2


def test_a_study_of_that_slug_that_is_no_release_is_left_alone(small: Path) -> None:
    Study.objects.create(slug="ttcw-release", title="Mine")

    status, _, complaint = replicate(small)

    assert (status, Study.objects.get().title, Story.objects.count()) == (2, "Mine", 0)
    assert "which was not brought in from a release; name another study with --study SLUG" in complaint


def test_story_codes_say_nothing_about_their_sources(small: Path) -> None:
    replicate(small)

    codes = list(Story.objects.values_list("code", flat=True))
    factors = Provenance.objects.values_list("factors", flat=True)

    assert {f["release_id"].split("_")[1] for f in factors} == set(SOURCES)
    assert not [code for code in codes for source in SOURCES if source.casefold() in code.casefold()]


def assert_nothing_was_loaded() -> None:
    tables = (Study, Instrument, Source, Story, Rater, Response, Report)
    assert [table.objects.count() for table in tables] == [0] * len(tables)
