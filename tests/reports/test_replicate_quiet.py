"""The printed scores of QUIET: totals and correlations on the page of a study, and every bad row."""

import csv
import json
import re
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from reports import replications, results
from reports.templatetags.report import kept_together
from studies.models import Study
from tests import factories

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]
HEADER = "model,group,satisfy,surprise"
WHOLE = ["one,G1,0.5,0.25", "one,G2,.8,1", "two,G1,0.9,0.1", "two,G2,0.25,.5"]


def replicate(folder: Path) -> tuple[int, dict[str, Any], str]:
    """Exit status, what it prints, and the error."""
    out = StringIO()
    try:
        call_command("replicate", "quiet", data=folder, json=True, stdout=out, stderr=StringIO())
    except CommandError as error:
        return error.returncode, json.loads(out.getvalue() or "{}"), str(error)
    return 0, json.loads(out.getvalue()), ""


@pytest.fixture
def totals(release: Path) -> dict[str, float]:
    """What the paper prints, by model."""
    with (release / "quiet" / "published_totals.csv").open(encoding="utf-8") as file:
        return {row["model"]: float(row["total"]) for row in csv.DictReader(file)}


@pytest.mark.data
def test_all_that_must_come_out_does_and_the_page_of_the_study_has_totals_and_correlations(
    release: Path, totals: dict[str, float], client: Client
) -> None:
    status, document, _error = replicate(release / "quiet")

    assert (status, document["differences"], document["is_replicated"]) == (0, [], True)
    assert sum(figure["expected"] is not None for figure in document["figures"]) == 58
    study = Study.objects.get(slug="quiet-published")
    report = results.compute(study)
    computed = {row["participant"]: row["total"] for row in report["cloze_scores"]["participants"]}
    assert len(totals) == 12
    assert computed == pytest.approx(totals, abs=0.02)
    assert report["judges"]["not_analysed"] == [], "what figures rest on"
    variants = report["cloze_variants"]
    names = [variant["form"] for variant in variants["variants"]]
    matrix = np.array(variants["correlations"])
    assert names == ["C1", "C0.5", "C1.5", "A", "B", "D"]
    printed = {("C1", "C0.5"): 0.937, ("C1", "C1.5"): 0.986, ("C0.5", "C1.5"): 0.923, ("C1", "A"): 0.923}
    printed |= {("C1", "D"): 0.909, ("C1", "B"): 0.839, ("A", "D"): 0.993, ("A", "C0.5"): 0.783}
    printed |= {("D", "C0.5"): 0.748, ("B", "C0.5"): 0.657}
    for (one, other), rho in printed.items():
        assert matrix[names.index(one), names.index(other)] == pytest.approx(rho, abs=0.0005)
    client.force_login(factories.staff("researcher"))
    page = client.get("/reports/quiet-published/figures/all/").content.decode()
    assert kept_together("Gemini-3.1-Pro has the highest total of 12 participants: 8.70 of 14.") in page
    assert 'id="cloze_variants"' in page
    assert "Inter-rater agreement" not in page


@pytest.mark.data
def test_the_data_file_prints_what_the_paper_prints(totals: dict[str, float], release: Path) -> None:
    figures = {entry["key"]: entry for entry in replications.load_spec("quiet")["figures"]}
    source = release.parent / "sources" / "quiet.txt"
    if not source.exists():
        pytest.skip("the text of the paper is not beside the releases")
    table = source.read_text(encoding="utf-8").partition("Table 3:")[2]

    rows = re.findall(r"^\d+ ([\w.-]+) (0\.\d{3}) (0\.\d{3}) (\d\.\d{2})$", table, re.MULTILINE)

    assert figures["total"]["published"] == totals == {name: float(total) for name, _s, _u, total in rows}
    for place, key in enumerate(("mean_satisfies", "mean_surprises"), start=1):
        assert figures[key]["published"] == {row[0]: float(row[place]) for row in rows}


def test_a_small_file_gives_totals_by_hand(tmp_path: Path) -> None:
    (tmp_path / "published_groups.csv").write_text("\n".join([HEADER, *WHOLE]) + "\n")

    status, document, _error = replicate(tmp_path)

    assert status == 1
    computed = {figure["at"][0]: figure["value"] for figure in document["figures"] if figure["key"] == "total"}
    assert computed["one"] == pytest.approx(0.5 * 1.25 + 0.8 * 2)
    assert computed["two"] == pytest.approx(0.9 * 1.1 + 0.25 * 1.5)


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        (["model,group,satisfy", "one,G1,.5"], "row 1: the columns must be model, group, satisfy, surprise"),
        ([HEADER], "holds no rows below its header"),
        ([HEADER, "one,G1,.5"], "row 2, cells: has 3 cells where the header has 4"),
        ([HEADER, ",G1,.5,.5"], "row 2, model: is empty; name the model"),
        ([HEADER, "one,1,.5,.5"], "row 2, group: “1” is no group; write G1, G2 and so on"),
        ([HEADER, "one,G1,1.5,.5"], "row 2, satisfy: “1.5” is no number from 0 to 1, such as .83"),
        ([HEADER, "one,G1,.5,high"], "row 2, surprise: “high” is no number from 0 to 1, such as .83"),
        ([HEADER, *WHOLE, "one,G2,.5,.5"], "row 6, group: one has G2 in row 3 already; leave one of them out"),
        ([HEADER, *WHOLE[:3]], "two has no row for G2; add it, or leave two out"),
    ],
)
def test_a_file_that_does_not_fit_is_refused_with_its_row_and_brings_in_nothing(
    tmp_path: Path, lines: list[str], sentence: str
) -> None:
    (tmp_path / "published_groups.csv").write_text("\n".join(lines) + "\n")

    status, _document, error = replicate(tmp_path)

    assert status == 2
    assert sentence in error
    assert not Study.objects.exists()
