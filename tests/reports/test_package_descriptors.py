"""The descriptor of a package: a Data Package, of which every file is said to be what it is."""

import csv
import json
from operator import itemgetter
from pathlib import Path

import jsonschema
import pytest

from reports.document.vocabulary import VERSION
from tests.reports.test_packages import FIXTURES, issued
from tests.reports.test_pages import full_study

pytestmark = pytest.mark.django_db
AGREEMENT = "agreement.csv"


def test_the_descriptor_is_a_data_package_and_its_columns_are_those_of_the_files() -> None:
    _package, archive = issued(full_study())

    descriptor = json.loads(archive.read("datapackage.json"))
    jsonschema.Draft4Validator(json.loads((FIXTURES / "data-package.json").read_text())).validate(descriptor)
    of_tables = jsonschema.Draft4Validator(json.loads((FIXTURES / "tabular-data-resource.json").read_text()))
    tables = [r for r in descriptor["resources"] if r["profile"] == "tabular-data-resource"]
    for resource in tables:
        of_tables.validate(resource)
        header = next(csv.reader([archive.read(resource["path"]).decode().splitlines()[0]]))
        assert header == [field["name"] for field in resource["schema"]["fields"]]
        assert resource["bytes"] == len(archive.read(resource["path"]))
    of_report = [path for path in map(itemgetter("path"), tables) if path.startswith("report/") or path == AGREEMENT]
    assert of_report == [name for name in archive.namelist() if name.startswith("report/") or name == AGREEMENT]
    assert len(tables) == 19 + len(of_report) > 19


def test_the_codebook_says_what_columns_of_the_report_mean_and_what_they_were_called() -> None:
    _package, archive = issued(full_study())

    report = json.loads(archive.read("codebook.json"))["report"]
    assert report["vocabulary"] == VERSION
    assert report["tables"][AGREEMENT]["agreement_percent"] == {
        "type": "number",
        "unit": "percent",
        "meaning": "Of 100 pairs of answers to the same question, how many are the same.",
        "old_names": ["percent_agreement"],
    }
    assert set(report["tables"]) == {n for n in archive.namelist() if n.startswith("report/") or n == AGREEMENT}


def test_the_descriptor_says_what_every_file_is_so_that_nothing_is_guessed() -> None:
    """A programme would take a semicolon in a note for the sign between cells, and `report.json` for its own."""
    _package, archive = issued(full_study())

    resources = json.loads(archive.read("datapackage.json"))["resources"]

    formats = {(Path(r["path"]).suffix, r.get("format"), r.get("dialect", {}).get("delimiter")) for r in resources}
    assert {of for of in formats if of[0] in (".csv", ".json", ".jsonl")} == {
        (".csv", "csv", ","),
        (".json", "json", None),
        (".jsonl", "jsonl", None),
    }
    assert next(r["type"] for r in resources if r["path"] == "report.json") == "json"


def test_a_descriptor_without_resources_would_be_refused() -> None:
    schema = json.loads((FIXTURES / "data-package.json").read_text())

    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft4Validator(schema).validate({"name": "plums"})
