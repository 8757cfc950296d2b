"""The summary figures of TTCW in an ordinary report of its release, against values computed here from its files."""

import io
import json
import statistics
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from scipy.stats import t as student_t

from reports.dataset import Dataset
from reports.figures import all_figures
from reports.figures.codec import encode
from studies.models import Study

pytestmark = [pytest.mark.data, pytest.mark.django_db, pytest.mark.embedded]

NAMES = {"GPT3.5": "GPT-3.5", "GPT4": "GPT-4", "Claude": "Claude 1.3", "NewYorker": "The New Yorker"}


@pytest.fixture
def annotations(release: Path) -> list[dict[str, Any]]:
    return list(json.loads((release / "ttcw" / "ttcw_annotations.json").read_text()))


@pytest.fixture
def report(release: Path) -> dict[str, Any]:
    """Four figures of the ordinary report of the study, and nothing that `replicate` computes."""
    folder = str(release / "ttcw")
    call_command("replicate", "ttcw", "--data", folder, stdout=io.StringIO(), stderr=io.StringIO())
    dataset = Dataset.of(Study.objects.get(slug="ttcw-release"))
    keys = ("dimensions", "explanations", "places", "tests_passed")
    return {key: encode(all_figures()[key].compute(dataset)) for key in keys}


def source_of(row: dict[str, Any]) -> str:
    return row["story_id"].split("_")[1]


@pytest.mark.slow
def test_every_summary_figure_of_the_release_is_as_computed_here(
    report: dict[str, Any], annotations: list[dict[str, Any]], release: Path
) -> None:
    check_dimensions(report, annotations, release)
    check_explanations(report, annotations)
    assert report["places"] == [], "the release holds no rankings"
    assert report["tests_passed"]["totals"]["coefficient"]["value"] == pytest.approx(0.6868, abs=5e-5)


def check_dimensions(report: dict[str, Any], annotations: list[dict[str, Any]], release: Path) -> None:
    tests = json.loads((release / "ttcw" / "ttcw_all_tests.json").read_text())
    dimension_by_test = {test["ttcw_idx"]: test["torrance_dimension"] for test in tests}
    verdicts = defaultdict(list)
    for row in annotations:
        is_yes = row["binary_verdict"].lower() == "yes"
        verdicts[dimension_by_test[row["ttcw_idx"]], source_of(row), row["story_idx"]].append(is_yes)

    rows = report["dimensions"]["dimensions"]

    assert [(row["name"], row["n_items"]) for row in rows] == [
        ("Fluency", 5),
        ("Flexibility", 3),
        ("Originality", 3),
        ("Elaboration", 3),
    ]
    for row in rows:
        for rate in row["by_source"]:
            source = next(code for code, name in NAMES.items() if name == rate["source"])
            # Twelve groups with equally many verdicts, so the mean and its t interval are those of their means.
            by_group = [100 * statistics.mean(verdicts[row["name"], source, group]) for group in range(12)]
            mean, error = statistics.mean(by_group), statistics.stdev(by_group) / 12**0.5
            assert rate["value"] == pytest.approx(mean, abs=1e-9)
            assert (rate["n"], rate["n_stories"]) == (36 * row["n_items"], 12)
            if rate["interval"].get("method") == "t":
                margin = student_t.ppf(0.975, 11) * error
                low, high = max(0, mean - margin), min(100, mean + margin)
                assert (rate["interval"]["low"], rate["interval"]["high"]) == (pytest.approx(low), pytest.approx(high))
    originality = {rate["source"]: round(rate["value"], 1) for rate in rows[2]["by_source"]}
    assert originality == {"The New Yorker": 76.9, "Claude 1.3": 10.2, "GPT-4": 24.1, "GPT-3.5": 1.9}


def check_explanations(report: dict[str, Any], annotations: list[dict[str, Any]]) -> None:
    words = defaultdict(list)
    for row in annotations:
        words[row["ttcw_idx"], row["binary_verdict"].lower()].append(len(row["explanation"].split()))

    rows = report["explanations"]

    assert len(rows) == 14
    for test, row in enumerate(rows, start=1):
        assert [part["value"] for part in row["by_value"]] == ["yes", "no"]
        for part in (row["overall"], *row["by_value"]):
            values = ("yes", "no") if not part["value"] else (part["value"],)
            lengths = [n for value in values for n in words[test, value]]
            explained = [n for n in lengths if n]
            assert (part["n"], part["n_explained"]) == (len(lengths), len(explained))
            assert part["median_words"] == statistics.median(explained)
            assert part["mean_words"] == pytest.approx(statistics.mean(explained))
