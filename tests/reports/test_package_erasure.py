"""What is erased goes from export packages, too: from those that are kept, and from one that is being written."""

from typing import Any

import pytest

from annotation.models import Rater
from annotation.participation import withdrawal
from reports.export import issues
from reports.models import PackageDownload
from studies import story_edits
from tests.factories import NOON
from tests.reports import given
from tests.reports.test_packages import issued

pytestmark = pytest.mark.django_db


def test_a_withdrawal_takes_the_bytes_of_packages_and_can_name_those_that_were_issued() -> None:
    study = given.closed_study()
    given.verdicts(study, {"E01": "ynyn", "E02": "yyyy"})
    package, _archive = issued(study)
    issues.record_download(package, by="somebody", at=NOON)
    rater = Rater.objects.get(code="E02")

    withdrawal.withdraw(rater, at=NOON)

    assert issues.find_packages_with(rater) == [package]
    assert not package.pieces.exists()
    assert issues.find_package(study, package.sha256) is None
    assert PackageDownload.objects.get().by == "somebody"


def test_a_package_keeps_nothing_if_a_text_in_it_was_erased_while_it_was_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    study, make = given.closed_study(), issues.make

    def make_while_somebody_withdraws(*args: Any) -> None:
        make(*args)
        story_edits.erase_texts([study.stories.get(code="p1s1").pk])

    monkeypatch.setattr(issues, "make", make_while_somebody_withdraws)

    package = issues.ask(study, by="somebody")
    issues.make_and_keep(package)

    assert package.is_made
    assert not package.pieces.exists()
