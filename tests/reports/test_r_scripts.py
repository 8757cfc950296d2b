"""The scripts in R that a package brings. Nobody runs R here: what they name is looked up in what a package holds."""

import csv
import io
import json
import re
import zipfile

import pytest

from reports.export import issues
from reports.export.package import HERE, SCRIPTS
from tests.reports.test_pages import full_study

SCRIPT_NAMES = ("script/ordinal.R", "script/scales.R", "script/verdicts.R")
# What a formula or a condition names that the script itself makes.
OWN = {"key", "step_of_scale"}


def text(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")


def test_the_package_brings_every_script() -> None:
    assert set(SCRIPT_NAMES) <= set(SCRIPTS)


@pytest.mark.django_db
def test_every_column_that_a_script_names_stands_in_the_package() -> None:
    study = full_study()
    package = issues.ask(study, by="somebody", with_sources=True, reason="To fit models.")
    issues.make_and_keep(package)
    archive = zipfile.ZipFile(io.BytesIO(b"".join(issues.read_pieces(package))))
    columns = set(next(csv.reader(io.StringIO(archive.read("responses_long.csv").decode()))))
    fields = set(json.loads(archive.read("codebook.json"))["items"][0])

    for name in SCRIPT_NAMES:
        script = archive.read(name).decode()
        assert script == text(name)
        needed = set(re.findall(r'"(\w+)"', script.split("needed <- c(")[1].split(")")[0]))
        named = set(re.findall(r"(?:answers|of_item)\$(\w+)", script))
        in_formulas = {word for part in re.findall(r"~ ([^\",]+)", script) for word in re.findall(r"[a-z_]\w*", part)}
        assert len(needed) == 8
        assert needed | named | in_formulas <= columns | OWN
        assert {"rater", "story", "source"} <= in_formulas
        assert set(re.findall(r"\bitem\$(\w+)", script)) <= fields


@pytest.mark.parametrize("name", SCRIPT_NAMES)
def test_a_script_says_what_it_expects_and_closes_what_it_opens(name: str) -> None:
    script = text(name)
    code = re.sub(r'"[^"\n]*"|#.*', "", script)

    libraries = re.findall(r"^library\((\w+)\)$", script, re.MULTILINE)
    assert f"Expects R 4 with the packages {libraries[1]} and {libraries[0]}." in script
    assert f"Rscript {name} " in script
    assert all(code.count(left) == code.count(right) > 0 for left, right in ("()", "[]", "{}"))
