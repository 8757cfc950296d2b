"""The release of PDS on generated files of its shape: every value by hand, what counts as replicated, every bad row."""

import csv
import gc
import io
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Rater, Response
from annotation.responses import verification
from reports import replications
from studies.models import Provenance, Source, Story, StoryGroup, Study
from tests.reports import pds_by_hand, pds_generated

pytestmark = [
    *(pytest.mark.django_db, pytest.mark.embedded),
    *(pytest.mark.usefixtures("few_shuffles"), pytest.mark.usefixtures("_no_collection")),
]

FILE = "human_annotations.csv"


def replicate(folder: Path, **options: Any) -> tuple[int, str, str]:
    """Exit status, standard output and standard error of the command."""
    out, err = io.StringIO(), io.StringIO()
    try:
        call_command("replicate", "pds", data=folder, stdout=out, stderr=err, **options)
    except CommandError as error:
        return error.returncode, out.getvalue(), err.getvalue() + str(error)
    return 0, out.getvalue(), err.getvalue()


def document(folder: Path, **options: Any) -> dict[str, Any]:
    return dict(json.loads(replicate(folder, json=True, **options)[1]))


def values(found: dict[str, Any], key: str) -> dict[str, float]:
    return {"/".join(f["at"]): f["value"] for f in found["figures"] if f["key"] == key and f["value"] is not None}


@pytest.fixture
def _no_collection(monkeypatch: pytest.MonkeyPatch) -> None:
    """statsmodels collects the garbage of the whole process for each table of p-values, a third of a second each."""
    monkeypatch.setattr(gc, "collect", lambda *_generation: 0)


@pytest.fixture
def some(tmp_path: Path) -> Path:
    """A folder with a small file of ratings at random."""
    pds_generated.at_random(tmp_path / FILE)
    return tmp_path


@pytest.fixture(scope="module")
def of_97(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a file that gives what the paper prints for its 97 stories."""
    folder = tmp_path_factory.mktemp("of_97")
    pds_generated.as_published(folder / FILE, pds_generated.SUMS_97, pds_generated.WEIGHTED_FLEISS_97)
    return folder


@pytest.fixture(scope="module")
def of_100(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a file that gives what the paper prints for the 100 stories of its Table 3."""
    folder = tmp_path_factory.mktemp("of_100")
    pds_generated.as_published(folder / FILE, pds_generated.SUMS_100, pds_generated.WEIGHTED_FLEISS_100)
    return folder


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_every_value_is_what_the_script_by_hand_computes(tmp_path: Path, seed: int) -> None:
    path = pds_generated.at_random(tmp_path / FILE, seed=seed)

    found = document(tmp_path)

    by_hand = pds_by_hand.computed(path)
    assert len(by_hand) == 21
    for key, figures in by_hand.items():
        assert values(found, key) == pytest.approx(figures, abs=1e-9), key


def test_only_intervals_and_chance_floors_are_not_computed_by_hand(some: Path) -> None:
    keys = {figure["key"] for figure in document(some)["figures"]}

    by_chance = {f"{name}_{what}" for name in ("ordinal_alpha", "weighted_fleiss") for what in ("interval", "floor")}
    assert keys - set(pds_by_hand.computed(some / FILE)) == by_chance


def test_chance_floors_are_those_of_ratings_shuffled_by_hand(some: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()  # as many shuffles as in a report
    with (some / FILE).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    rng, alphas, coefficients = random.Random(11), [], []
    for _ in range(400):
        by_story: dict[str, list[int]] = {}
        for who in pds_generated.PARTICIPANTS:
            own = [row for row in rows if row["participant_id"] == who]
            scores = [int(row["empathy_score"]) for row in own]
            rng.shuffle(scores)
            for row, score in zip(own, scores, strict=True):
                by_story.setdefault(row["story_id"], []).append(score)
        alphas.append(pds_by_hand.ordinal_alpha(list(by_story.values())))
        coefficients.append(pds_by_hand.weighted_fleiss(list(by_story.values())))

    found = document(some)

    assert values(found, "ordinal_alpha_floor")["empathy/mean"] == pytest.approx(sum(alphas) / 400, abs=0.02)
    assert values(found, "weighted_fleiss_floor")["empathy/mean"] == pytest.approx(sum(coefficients) / 400, abs=0.01)
    assert values(found, "weighted_fleiss_floor")["empathy/mean"] > 0.5


def test_intervals_hold_their_coefficient_and_come_out_alike_each_time(some: Path) -> None:
    first, second = document(some), document(some)

    assert first == second
    for name in ("ordinal_alpha", "weighted_fleiss"):
        ends = values(first, f"{name}_interval")
        for item, value in values(first, name).items():
            assert ends[f"{item}/low"] < value < ends[f"{item}/high"]


def test_a_file_of_the_papers_97_stories_is_replicated_and_table_3_is_known_to_differ(of_97: Path) -> None:
    status, said, complaints = replicate(of_97)
    found = document(of_97)

    assert (status, complaints, found["differences"]) == (0, "", [])
    assert "244 of 244 figures are as the data must give them, those of judges not counted." in said
    marks = {(f["key"], *f["at"][:1]): f["mark"] for f in found["figures"] if f["published"] is not None}
    assert {mark for (key, *_), mark in marks.items() if key in ("weighted_fleiss", "rating_t_test")} == {"same"}
    known = {at for (key, *at), mark in marks.items() if key == "rating_mean" for at in at if mark == "known"}
    assert known == {"Llama-2-7B", "Vicuna-33B"}


def test_a_file_of_100_stories_is_replicated_and_gives_table_3(of_100: Path) -> None:
    status, said, complaints = replicate(of_100)
    found = document(of_100)

    assert (status, complaints, found["differences"]) == (0, "", [])
    assert "Stories (section 4)\n  stories with a rating\n                         published 97      recomputed" in said
    marks = [(f["key"], f["mark"]) for f in found["figures"] if f["published"] is not None]
    assert {mark for key, mark in marks if key in ("rating_mean", "rating_sd")} == {"same"}
    assert [mark for key, mark in marks if key == "weighted_fleiss"] == ["same", "known", "known", "same", "same"]
    assert "* known" in said


def test_a_rating_that_is_neither_published_nor_listed_is_named_and_the_report_is_printed(
    of_97: Path, tmp_path: Path
) -> None:
    lines = (of_97 / FILE).read_text().splitlines()
    of_gpt_4 = next(n for n, line in enumerate(lines) if ",GPT-4," in line and line.split(",")[7] == "2")
    cells = lines[of_gpt_4].split(",")
    lines[of_gpt_4] = ",".join([*cells[:7], "5", *cells[8:]])
    (tmp_path / FILE).write_text("\n".join(lines))

    status, said, complaints = replicate(tmp_path)

    assert status == 1
    assert complaints.startswith(
        "Not replicated.\nrating_mean GPT-4 human-likeness: 3.94 where the data must give 3.91"
    )
    assert len(complaints.splitlines()) == 1 + len(document(tmp_path)["differences"])
    assert "3.94 (3.91) !" in said
    assert "Differences of story means: Hedges' g" in said


def test_each_difference_says_what_would_do(some: Path) -> None:
    status, said, complaints = replicate(some)

    assert status == 1
    assert "n_stories: 20 where the data must give 97, or the listed 100" in complaints
    assert "rating_mean Vicuna-33B empathy: no value (The data give no such figure.)" in complaints
    assert "Krippendorff's alpha, ordinal: the agreement of the participants" in said


def test_what_comes_in_is_sealed_and_its_history_verifies(some: Path) -> None:
    replicate(some)

    found = verification.verify()
    assert found.faults == []
    assert found.n_receipts == found.n_assignments > 0


def test_it_was_verified_on_the_release_and_says_nowhere_that_it_was_not(some: Path) -> None:
    texts = [
        replicate(some)[1],
        (replications.FOLDER / "pds.toml").read_text(),
        (replications.FOLDER.parents[1] / "docs" / "replications.md").read_text(),
    ]

    assert document(some)["caution"] == ""
    assert "Verified on the release: all ten coefficients came out to six decimals." in texts[1]
    assert "verified on the release: all ten coefficients came out to six decimals." in texts[2]
    assert not [text for text in texts if "unverified" in text.lower() or "not at hand" in text]


def test_the_release_becomes_a_closed_study_of_withheld_stories_in_groups_of_one(some: Path) -> None:
    replicate(some)

    study = Study.objects.get()
    assert (study.slug, study.state) == ("pds-release", Study.State.CLOSED)
    assert set(Story.objects.values_list("is_withheld", "text")) == {(True, "")}
    assert [group.stories.count() for group in StoryGroup.objects.all()] == [1] * 20
    assert sorted(Rater.objects.values_list("code", "kind")) == [(f"P{n}", "person") for n in (2, 3, 4, 6, 7)]
    assert Response.objects.count() == 6 * (5 * 18 + 3 * 2)
    assert dict(Source.objects.values_list("name", "kind")) == {
        "GPT-4": "language_model",
        "Llama-2-7B": "language_model",
        "Human-Novice": "amateur_writer",
        "Human-Advanced": "amateur_writer",
    }


def test_strategy_is_a_factor_and_codes_do_not_say_who_wrote(some: Path) -> None:
    replicate(some)

    about = {p.factors["release_id"]: (p.factors, p.story.code) for p in Provenance.objects.select_related("story")}
    model, human = about["1"], about["j13xq"]
    assert model[0] == {"release_id": "1", "study_id": "1", "strategy": "writer_profile"}
    assert human[0] == {"release_id": "j13xq", "study_id": "13"}
    assert {len(code) for _, code in about.values()} == {12}


def test_human_likeness_is_kept_as_it_was_shown_and_analysed_as_released(some: Path) -> None:
    replicate(some)

    with (some / FILE).open(encoding="utf-8", newline="") as file:
        released = sum(int(row["human_likeness_score"]) for row in csv.DictReader(file))
    shown = Response.objects.filter(item__key="human-likeness").values_list("value", flat=True)
    assert sum(6 - value for value in shown) == released
    assert sum(shown) != released


def test_a_second_run_brings_nothing_in_and_another_file_is_refused(some: Path) -> None:
    replicate(some)
    n = Response.objects.count()
    replicate(some)
    pds_generated.at_random(some / FILE, seed=6)

    status, _, complaints = replicate(some)

    assert (status, Response.objects.count()) == (2, n)
    assert f"was brought in from another release ({FILE} was different then)" in complaints


def test_figures_come_from_the_rows_not_from_the_file(some: Path) -> None:
    before = values(document(some), "rating_mean")["GPT-4/empathy"]
    of_gpt_4 = Response.objects.filter(item__key="empathy", story__provenance__source__name="GPT-4")
    n = of_gpt_4.count()
    one = of_gpt_4.exclude(value=5).first()
    assert one is not None
    Response.objects.filter(pk=one.pk).update(value=one.value + 1)

    assert values(document(some), "rating_mean")["GPT-4/empathy"] == pytest.approx(before + 1 / n)


def test_a_source_known_under_another_kind_is_refused(some: Path) -> None:
    Source.objects.create(name="GPT-4", kind=Source.Kind.OTHER)

    status, said, complaints = replicate(some)

    assert (status, said, Study.objects.count()) == (2, "", 0)
    assert "source “GPT-4” is known here as other, not language_model" in complaints


def test_an_author_with_one_story_has_no_test_and_says_why(tmp_path: Path) -> None:
    pds_generated.at_random(tmp_path / FILE, n_by_author={"GPT-4": 1, "Human-Novice": 3})

    status, said, _ = replicate(tmp_path)

    assert status == 1
    assert "  –: One of the two has fewer than two values." in said


Lines = list[list[str]]


def header(change: Callable[[list[str]], list[str]]) -> Callable[[Lines], Lines]:
    return lambda lines: [change(lines[0]), *lines[1:]]


def cell(name: str, value: str, *, row: int = 3) -> Callable[[Lines], Lines]:
    """The file with another value in that row, counted as a spreadsheet does."""

    def change(lines: Lines) -> Lines:
        lines[row - 1][lines[0].index(name)] = value
        return lines

    return change


FAULTS = {
    "a missing column": (
        lambda lines: [line[:-1] for line in lines],
        "row 1, strategy: this column is missing",
    ),
    "an unknown column": (
        header(lambda names: ["empathy" if n == "empathy_score" else n for n in names]),
        "row 1, empathy: there is no such column; did you mean “empathy_score”?",
    ),
    "a column twice": (
        header(lambda names: ["study_id" if n == "participant_id" else n for n in names]),
        "row 1, study_id: this column stands twice",
    ),
    "a 6": (cell("empathy_score", "6"), "row 3, empathy_score: must be a whole number from 1 to 5, not “6”"),
    "a 0": (cell("human_likeness_score", "0"), "row 3, human_likeness_score: must be a whole number from 1 to 5"),
    "a half": (
        cell("engagement_score", "3.5"),
        "row 3, engagement_score: must be a whole number from 1 to 5, not “3.5”",
    ),
    "no number": (cell("authenticity_score", "three"), "row 3, authenticity_score: must be a whole number"),
    "no score": (
        cell("authenticity_score", ""),
        "row 3, authenticity_score: must be a whole number from 1 to 5, not “”",
    ),
    "digits of another script": (cell("authenticity_score", "٣"), "row 3, authenticity_score: must be a whole number"),
    "a participant and story twice": (
        lambda lines: [*lines, lines[2]],
        "row 98, story_id: participant 3 rated “0” in row 3 too",
    ),
    "no participant": (cell("participant_id", " "), "row 3, participant_id: is empty"),
    "a participant that is no code": (cell("participant_id", "p 3"), "row 3, participant_id: “p 3” will not do"),
    "a formula": (cell("strategy", "=1+1"), "row 3, strategy: “=1+1” would run as a formula"),
    "an id without end": (cell("premise_id", "7" * 61), "row 3, premise_id: has 61 characters"),
    "two authors of a story": (
        cell("model_short", "GPT-5"),
        "row 3, model_short: “GPT-5” is not what row 2 says of the same story",
    ),
    "two premises of a story": (cell("premise_id", "3"), "row 3, premise_id: “3” is not what row 2 says"),
    "a cell too many": (
        lambda lines: [*lines[:2], [*lines[2], "x"], *lines[3:]],
        "row 3, cells: has 13 cells where the header has 12",
    ),
    "no rows": (lambda lines: lines[:1], "file: holds no rows below its header"),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_named_in_one_line_and_nothing_is_half_loaded(some: Path, name: str) -> None:
    change, expected = FAULTS[name]
    with (some / FILE).open(encoding="utf-8", newline="") as file:
        lines = list(csv.reader(file))
    with (some / FILE).open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(change(lines))

    status, said, complaints = replicate(some)

    assert (status, said) == (2, "")
    assert complaints.startswith(f"{FILE}: {expected}")
    assert len(complaints.splitlines()) == 1
    assert (Study.objects.count(), Source.objects.count()) == (0, 0)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "file: the file is empty"),
        (b"  \n", "file: the file is empty"),
        (b"participant_id\n\xff\xfe", "file: line 2 is not UTF-8; save the file as UTF-8"),
        (b'participant_id,"study_id\n', "line 1, cells: is not CSV: unexpected end of data"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path, content: bytes, expected: str) -> None:
    (tmp_path / FILE).write_bytes(content)

    status, said, complaints = replicate(tmp_path)

    assert (status, said, complaints) == (2, "", f"{FILE}: {expected}")


def test_a_missing_file_and_a_missing_folder_are_named(tmp_path: Path) -> None:
    assert replicate(tmp_path) == (2, "", f"{FILE}: file: cannot be read: No such file or directory")
    assert replicate(tmp_path / "nowhere")[0] == 2


def test_answers_of_judges_are_not_taken_in_silence(some: Path) -> None:
    status, _, complaints = replicate(some, judges=some)

    assert status == 2
    assert "this replication reads no answers of judges; leave --judges out" in complaints


def test_a_byte_order_mark_blank_rows_and_scores_with_a_point_are_read(some: Path, tmp_path_factory: Any) -> None:
    folder = tmp_path_factory.mktemp("as_saved_by_a_spreadsheet")
    lines = (some / FILE).read_text().splitlines()
    cells = lines[1].split(",")
    lines[1] = ",".join([*cells[:2], *(f"{score}.0" for score in cells[2:8]), *cells[8:]])
    (folder / FILE).write_text("\r\n".join([*lines, "", ""]), encoding="utf-8-sig")

    found, as_saved = document(some), document(folder, study="saved")

    assert [f["value"] for f in found["figures"]] == [f["value"] for f in as_saved["figures"]]
