"""The export package: one zip, the same for the same answers, blind unless a reason is given, and complete."""

import csv
import hashlib
import io
import json
from io import BytesIO, StringIO
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import openpyxl
import pandas as pd
import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotation.models import Rater
from annotation.participation import withdrawal
from annotation.responses import Answer
from annotation.responses.imports import Row
from reports.export import issues
from reports.export.content import PackageContent
from reports.export.package import count_rows
from reports.export.spreadsheet import BYTE_ORDER_MARK
from reports.models import ExportPackage
from reports.page.csv import csv_lines
from reports.tasks import make_package
from studies.models import Provenance, Study
from tests import triggers
from tests.factories import NOON
from tests.reports import given
from tests.reports.test_pages import full_study

pytestmark = pytest.mark.django_db
FIXTURES = Path(__file__).parent / "fixtures"


def issued(study: Study, **fields: object) -> tuple[ExportPackage, ZipFile]:
    """A package that was made and kept, and its zip."""
    package = issues.ask(study, by="somebody", **fields)
    issues.make_and_keep(package)
    assert package.problem == ""
    return package, ZipFile(BytesIO(b"".join(issues.read_pieces(package))))


def table(package: ZipFile, name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(package.read(name).decode(), newline="")))


def test_the_same_answers_give_the_same_package_to_the_last_byte() -> None:
    study = full_study()

    first, again = (issued(study)[0] for _ in range(2))

    assert (first.sha256, first.n_bytes) == (again.sha256, again.n_bytes)
    assert first.sha256 == hashlib.sha256(b"".join(issues.read_pieces(first))).hexdigest()


def test_every_file_is_there_described_and_has_its_sum() -> None:
    package, archive = issued(full_study())

    names = set(archive.namelist())
    assert {
        *("responses_long.csv", "responses_wide.csv", "rankings.csv", "authorship.csv", "pairs.csv", "cloze.csv"),
        *("assignments.csv", "timings.csv", "events.csv", "agreement.csv", "judge_calls.jsonl", "codebook.csv"),
        *("codebook.json", "protocol.json", "datapackage.json", "SHA256SUMS", "README.md"),
        *("stories.csv", "report.json", "script/scales.R", "spreadsheets/responses_long.csv"),
    } <= names
    sums = dict(line.split("  ")[::-1] for line in archive.read("SHA256SUMS").decode().splitlines())
    assert sums == {name: hashlib.sha256(archive.read(name)).hexdigest() for name in names - {"SHA256SUMS"}}
    described = {resource["path"] for resource in json.loads(archive.read("datapackage.json"))["resources"]}
    assert described == names - {"datapackage.json", "SHA256SUMS"}
    assert {file["name"] for file in package.files} == names


def test_rows_are_counted_before_as_they_are_written() -> None:
    study = full_study()
    package, archive = issued(study)

    n_rows = {file["name"]: file["n_rows"] for file in package.files}
    counted = count_rows(PackageContent(study))

    n_calls = counted.pop("judge_calls.jsonl")
    assert counted == {name: n_rows[name] for name in counted}
    assert n_calls == len(archive.read("judge_calls.jsonl").splitlines())


def canaries() -> None:
    with triggers.lifted():
        Provenance.objects.update(
            title="CANARYtitle", url="https://example.org/CANARYurl", factors={"CANARYname": "CANARYfactor"}
        )
        for source in {row.source for row in Provenance.objects.select_related("source")}:
            source.name = f"CANARY {source.name}"
            source.save()


def words_of(archive: ZipFile) -> str:
    return "\n".join(archive.read(name).decode() for name in archive.namelist())


def test_it_is_blind_by_default_and_says_sources_for_a_reason() -> None:
    study = full_study()
    canaries()
    Study.objects.filter(pk=study.pk).update(description="Plums, by many.\nSome are by canary source 1, of course.")
    study.refresh_from_db()

    _blind, blind = issued(study)
    package, opened = issued(study, with_sources=True, reason="To compare the sources.")

    assert "canary" not in words_of(blind).casefold()
    assert "Plums, by many." in blind.read("README.md").decode()
    assert "by canary source 1" in opened.read("README.md").decode()
    assert "CANARY Source 1" in words_of(opened)
    assert "To compare the sources." in opened.read("README.md").decode()
    assert "CANARYtitle" not in words_of(opened)
    assert (package.reason, package.asked_by, package.with_sources) == ("To compare the sources.", "somebody", True)


@pytest.mark.parametrize(("state", "reason"), [("closed", ""), ("closed", "  "), ("live", "To compare them.")])
def test_sources_need_a_reason_and_a_closed_study(state: str, reason: str) -> None:
    study = given.closed_study()
    Study.objects.filter(pk=study.pk).update(state=state)
    study.refresh_from_db()

    with pytest.raises(issues.CannotIssue):
        issues.ask(study, by="somebody", with_sources=True, reason=reason)

    assert not ExportPackage.objects.exists()


def test_the_public_form_has_the_texts_that_may_travel_and_the_sums_of_the_others() -> None:
    study = given.closed_study()
    Provenance.objects.filter(story__code="p1s1").update(may_redistribute=True)

    _package, opened = issued(study, with_sources=True, reason="For the archive.", is_public=True)
    _package, blind = issued(study, is_public=True)

    with_text = [row["story"] for row in table(opened, "stories.csv") if row["text"]]
    assert with_text == ["p1s1"]
    assert all(len(row["sha256"]) == 64 for row in table(opened, "stories.csv"))
    # Which texts are missing would tell who wrote them.
    assert [row["story"] for row in table(blind, "stories.csv") if row["text"]] == []


def test_a_public_package_is_a_dataset_of_the_hugging_face_hub_and_another_is_none() -> None:
    study = given.closed_study()
    with triggers.lifted():
        Study.objects.update(title='Plums: "ripe"')
    study.refresh_from_db()
    given.verdicts(study, {"E01": "ynyn"})

    _package, public = issued(study, is_public=True)
    _package, private = issued(study)

    head = public.read("README.md").decode().split("\n---\n")[0].removeprefix("---\n")
    told = {name: json.loads(words) for name, _, words in (line.partition(": ") for line in head.splitlines())}
    assert (told["pretty_name"], told["language"]) == ('Plums: "ripe"', ["en"])
    assert told["configs"][0]["default"]
    paths = [of["data_files"][0]["path"] for of in told["configs"]]
    assert paths[0] == "responses_long.csv"
    assert "cloze.csv" not in paths, "a table without rows cannot be shown there"
    assert all(table(public, path) for path in paths)
    assert private.read("README.md").decode().startswith("# Plums")


def test_practice_and_whoever_withdrew_are_left_out_and_counted() -> None:
    study = given.closed_study()
    given.verdicts(study, {"E01": "ynyn", "E02": "yyyy"})
    withdrawal.withdraw(Rater.objects.get(code="E02"), at=NOON)

    package, archive = issued(study)

    assert {row["rater"] for row in table(archive, "responses_long.csv")} == {"E01"}
    assert {row["rater"] for row in table(archive, "events.csv")} == {"E01"}
    assert package.excluded["raters_who_withdrew"] == 1
    assert package.excluded["answers_of_raters_who_withdrew"] == 4
    assert "- answers of raters who withdrew: 4" in archive.read("README.md").decode()


def test_the_card_says_that_all_raters_were_simulated() -> None:
    study = full_study()
    cards = []
    for is_simulated in (False, True):
        Rater.objects.filter(kind=Rater.Kind.PERSON).update(is_simulated=is_simulated)
        cards.append(issued(study)[1].read("README.md").decode())

    assert ["All raters of this study were simulated" in card for card in cards] == [False, True]


# ── exact, and safe beside it ──────────────────────────────────────────────────────────────────────────────────────

AWKWARD = ["=", "+", "-", "@", "\t", "\r", "\n", '"', "'", ";", ",", "1", "é", "\u202e", "\u2028", "NA", " ", "\\", "𝒜"]


def random_texts(n: int) -> list[str]:
    rng = np.random.default_rng(7)
    return ["".join(rng.choice(AWKWARD, size=rng.integers(1, 9))) for _ in range(n)]


def test_ten_thousand_random_texts_come_back_as_they_were() -> None:
    texts = random_texts(10_000)

    lines = "".join(csv_lines(["n", "text"], ({"n": n, "text": text} for n, text in enumerate(texts))))

    assert [row["text"] for row in csv.DictReader(io.StringIO(lines, newline=""))] == texts
    read = pd.read_csv(BytesIO(lines.encode()), keep_default_na=False, dtype=str)
    assert list(read["text"]) == texts


def test_no_spreadsheet_finds_a_formula_in_the_safe_copy() -> None:
    study = given.closed_study(n_groups=20, n_stories=4)
    texts = [*random_texts(80)]
    stories = list(study.stories.order_by("code").values_list("code", "groups__code"))
    rows = [
        Row("test", "E01", group, story, "tests", "item-1", Answer(value="yes", rationale=text))
        for (story, group), text in zip(stories, texts, strict=True)
    ]
    given.bring(study, rows)

    _package, archive = issued(study)

    copies = [name for name in archive.namelist() if name.startswith("spreadsheets/")]
    assert len(copies) == 19
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    for name in copies:
        text = archive.read(name).decode().removeprefix(BYTE_ORDER_MARK)
        for separator in (",", ";", "\t"):
            for line in csv.reader(io.StringIO(text, newline=""), delimiter=separator):
                sheet.append([openpyxl.cell.cell.ILLEGAL_CHARACTERS_RE.sub("", cell) for cell in line])
    cells = [cell for row in sheet.iter_rows() for cell in row if cell.value]
    assert [cell.value for cell in cells if cell.data_type == "f"] == []
    assert [cell.value for cell in cells if str(cell.value)[0] in "=+-@" and not is_number(str(cell.value))] == []
    exact = [row["rationale"] for row in table(archive, "responses_long.csv")]
    assert sorted(exact) == sorted(texts)


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def test_a_formula_would_be_found() -> None:
    sheet = openpyxl.Workbook().active
    sheet.append(["=1+1"])

    assert sheet["A1"].data_type == "f"


# ── the worker and the command ─────────────────────────────────────────────────────────────────────────────────────


def test_a_message_that_comes_twice_makes_one_package(monkeypatch: pytest.MonkeyPatch) -> None:
    package = issues.ask(given.closed_study(), by="somebody")

    make_package(package.pk)
    package.refresh_from_db()
    ended_at, n_pieces = package.ended_at, package.pieces.count()
    make_package(package.pk)
    package.refresh_from_db()

    assert (package.ended_at, package.pieces.count()) == (ended_at, n_pieces)
    assert package.n_files_done == package.n_files == len(package.files)


def test_a_package_that_could_not_be_made_says_so_and_can_be_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    package = issues.ask(given.closed_study(), by="somebody")

    with monkeypatch.context() as patch:
        patch.setattr(issues, "write_package", lambda *args, **more: 1 / 0)
        make_package(package.pk)
    package.refresh_from_db()
    problem = package.problem
    make_package(package.pk)
    package.refresh_from_db()

    assert (problem, package.problem, package.is_made) == ("ZeroDivisionError", "", True)


def test_the_command_writes_the_same_package_as_the_page(tmp_path: Path) -> None:
    study = full_study()
    by_page, _archive = issued(study)

    call_command("export", study.slug, to=tmp_path / "study.zip", stdout=StringIO())

    assert hashlib.sha256((tmp_path / "study.zip").read_bytes()).hexdigest() == by_page.sha256
    row = ExportPackage.objects.get(asked_by="manage.py export")
    assert (row.sha256, row.ended_at <= timezone.now()) == (by_page.sha256, True)


@pytest.mark.parametrize("options", [{"with_sources": True}, {"study": "pears"}])
def test_the_command_says_what_is_in_the_way(tmp_path: Path, options: dict[str, object]) -> None:
    slug = options.pop("study", given.closed_study().slug)

    with pytest.raises(CommandError, match=r"Say why sources are needed|there is no study"):
        call_command("export", slug, to=tmp_path / "study.zip", **options, stdout=StringIO())

    assert not (tmp_path / "study.zip").exists()
