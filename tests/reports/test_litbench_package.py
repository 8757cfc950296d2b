"""A study of pairs that no person has read, as LitBench's: its package gives every number of its report again."""

from contextlib import suppress
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from studies.models import Study
from tests.independent.comparison import recomputed
from tests.reports.litbench_generated import FILE, write_pairs, write_rewards, write_verdicts
from tests.reports.package_run import recompute
from tests.reports.test_packages import issued

pytestmark = [pytest.mark.django_db, pytest.mark.embedded, pytest.mark.slow]


def test_every_number_is_found_again_by_the_package_and_by_other_formulas(tmp_path: Path) -> None:
    rows = write_pairs(tmp_path / FILE)
    (tmp_path / "judges").mkdir()
    write_verdicts(tmp_path / "judges" / "sonnet.jsonl", rows)
    write_rewards(tmp_path / "judges" / "reward.jsonl", rows)
    with suppress(CommandError):  # generated pairs are not as published
        call_command("replicate", "litbench", data=tmp_path, stdout=StringIO(), stderr=StringIO())
    _package, archive = issued(Study.objects.get(), with_sources=True, reason="To compute them anew.")

    by_package = recompute(archive, tmp_path / "by_package")
    by_others: dict[str, Any] = recomputed(archive, tmp_path / "by_others")

    assert by_package["differences"] == by_others["differences"] == []
    assert min(by_package["n_computed"], by_others["n_computed"]) >= 309
    assert [name for name, figure in by_others["figures"].items() if figure["others"]] == ["progress"]
