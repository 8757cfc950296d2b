"""Themes in a package: what two people found, once both are done, and nothing of who they are."""

import json
from pathlib import Path

import pytest

from annotation.models import Rater
from annotation.participation.withdrawal import withdraw
from reports.export.content import PackageContent
from reports.export.package import count_rows
from reports.rationales import codings
from tests.factories import NOON
from tests.independent.comparison import recomputed
from tests.reports.packaged import code_reasons, suggest_nothing
from tests.reports.test_packages import issued, table
from tests.reports.test_pages import full_study

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]


@pytest.fixture
def coded() -> codings.ThemeSample:
    return code_reasons(full_study())


def test_themes_stand_in_a_package_and_are_found_again(coded: codings.ThemeSample, tmp_path: Path) -> None:
    suggest_nothing(coded)

    _package, archive = issued(coded.study, with_sources=True, reason="To compute them anew.")

    result = recomputed(archive, tmp_path)
    assert result["differences"] == []
    assert result["figures"]["themes"]["n_computed"] == result["figures"]["themes"]["n"] > 40  # type: ignore[index]
    found = table(archive, "codings.csv")
    assert [row["theme"] for row in table(archive, "theme_codebook.csv")] == ["Ending", "Voice"]
    assert len(found) == 3 * coded.reasons.count()
    by_coder = {(row["number"], row["coder"]): json.loads(row["themes"]) for row in found}
    assert (by_coder["1", "1"], by_coder["1", "2"], by_coder["1", "3"]) == (["Ending"], [], [])
    assert {row["judge"] for row in found} == {"", "stub"}


def test_no_package_says_who_coded(coded: codings.ThemeSample) -> None:
    names = set(coded.coders.values_list("name", flat=True))

    _package, archive = issued(coded.study, with_sources=True, reason="To look for names.")

    assert len(names) == 2
    assert not [name for name in names if name in archive.read("codings.csv").decode()]


def test_a_sample_that_one_person_has_coded_stands_in_no_package(coded: codings.ThemeSample) -> None:
    study = coded.study
    n_rows = count_rows(PackageContent(study))["codings.csv"]
    codings.draw_sample(study, item="", kind="person", n=2, by="tests")
    second = study.theme_samples.latest("pk")
    codings.record_coding(second, 1, user=coded.coders.order_by("number")[0].user, themes=())

    _package, archive = issued(study)

    assert len(table(archive, "codings.csv")) == n_rows == 2 * coded.reasons.count()


def test_who_withdraws_takes_codings_of_their_reasons_out_of_packages(coded: codings.ThemeSample) -> None:
    study = coded.study
    package, archive = issued(study)
    rater = Rater.objects.get(study=study, code=table(archive, "codings.csv")[0]["rater"])

    withdraw(rater, at=NOON)

    _package, anew = issued(study)
    assert not package.pieces.exists()
    assert rater.code not in {row["rater"] for row in table(anew, "codings.csv")}
    assert len(table(anew, "codings.csv")) == 8
