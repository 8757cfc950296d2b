"""One mean has one interval, in whatever figure it stands, and the one for other raters is never shorter."""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from reports.dataset import Dataset
from reports.figures import all_figures
from reports.figures.codec import encode
from studies.models import Study
from tests.reports import given

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]

FIGURES = ("pass_rates", "dimensions", "tests_passed", "variance_components")
Means = dict[str, dict[str, list[tuple[float, dict[str, Any]]]]]


def report_of(study: Study) -> dict[str, Any]:
    dataset = Dataset.of(study)
    return {key: encode(all_figures()[key].compute(dataset)) for key in FIGURES}


def means(report: dict[str, Any]) -> Means:
    """Of every outcome, by source, the means and the ends in percent from every figure that has it."""
    collected: Means = {}

    def add(outcome: str, rows: list[dict[str, Any]], scale: float = 1) -> None:
        for row in rows:
            ends = row["interval"] | {end: scale * row["interval"][end] for end in ("low", "high")}
            collected.setdefault(outcome, {}).setdefault(row["source"], []).append((scale * row["value"], ends))

    add("verdicts", report["pass_rates"]["mean"]["by_source"])
    add("verdicts", report["tests_passed"]["by_source"], 100 / report["tests_passed"]["n_items"])
    for row in report["pass_rates"]["items"]:
        add(f"{row['step']}/{row['item']}", row["by_source"])
    for row in (report["dimensions"] or {"dimensions": []})["dimensions"]:
        add(f"verdicts/{row['name']}", row["by_source"])
    for row in report["variance_components"]:
        add(row["key"], row["sources"])
    return collected


def differing(collected: Means) -> Iterator[tuple[str, str]]:
    for outcome, by_source in collected.items():
        for source, (first, *others) in by_source.items():
            for value, ends in others:
                same = [value, ends["low"], ends["high"]] == pytest.approx(
                    [first[0], first[1]["low"], first[1]["high"]], abs=1e-6
                )
                if not same or ends["method"] != first[1]["method"]:
                    yield outcome, source


def narrower(report: dict[str, Any]) -> list[tuple[str, str]]:
    """Outcomes and sources whose interval for other raters, too, does not hold that of the pass rate."""
    by_outcome = means(report)
    return [
        (row["key"], mean["source"])
        for row in report["variance_components"]
        for mean in row["sources"]
        if mean["wide"].get("low") is not None
        for _value, ends in by_outcome[row["key"]][mean["source"]]
        if mean["wide"]["low"] > ends["low"] + 1e-9 or mean["wide"]["high"] < ends["high"] - 1e-9
    ]


def made_study() -> Study:
    """Six groups of two stories, three tests: the stories of one source pass nearly all of them, as two raters say."""
    study = given.closed_study(n_groups=6, n_items=3)
    first = "yyy" + "yny" + "yyy" + "nny" + "yyy" + "ynn" + "yyn" + "nnn" + "yyy" + "yyn" + "yyy" + "nny"
    second = "yyy" + "nny" + "yyy" + "nnn" + "yyy" + "yyn" + "yyy" + "nny" + "yyy" + "ynn" + "yyy" + "nnn"
    given.verdicts(study, {"E01": first, "E02": second})
    return study


def test_a_mean_has_the_same_interval_wherever_it_stands() -> None:
    report = report_of(made_study())

    collected = means(report)

    methods = {ends["method"] for of in collected.values() for rows in of.values() for _value, ends in rows}
    assert methods == {"wilson", "t"}, "both kinds are there"
    assert {outcome: len(rows["Source 1"]) for outcome, rows in collected.items()}["verdicts"] == 3
    assert list(differing(collected)) == []
    assert narrower(report) == []


def test_an_interval_that_is_drawn_out_says_so() -> None:
    whole = report_of(made_study())["variance_components"][0]

    first = whole["sources"][0]
    assert (first["interval"]["method"], first["wide"]["method"]) == ("wilson", "crossed")
    assert first["wide"]["low"] == first["interval"]["low"]
    assert "drawn out to the interval for these raters" in first["wide"]["note"]


@pytest.mark.data
def test_the_means_of_ttcw_have_one_interval_each(release: Path) -> None:
    call_command("replicate", "ttcw", data=release / "ttcw", stdout=io.StringIO(), stderr=io.StringIO())

    report = report_of(Study.objects.get())

    collected = means(report)
    assert len(collected) >= 19
    assert all(len(rows) > 1 for by_source in collected.values() for rows in by_source.values())
    assert list(differing(collected)) == []
    assert narrower(report) == []
