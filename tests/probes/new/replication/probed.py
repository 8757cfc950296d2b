"""A new replication is listed by the command, brought in with a reader that is there, and compared."""

import io
from pathlib import Path

import pytest
from django.core.management import call_command

from reports.management.commands.replicate import Command
from tests.reports import pds_generated


@pytest.mark.django_db
def test_the_replication_is_listed_and_computed(tmp_path: Path) -> None:
    pds_generated.at_random(tmp_path / "ratings.csv")
    out = io.StringIO()

    call_command("replicate", "depth-again", data=tmp_path, stdout=out)

    assert "{depth-again,litbench,pds,quiet,ttcw}" in Command().create_parser("manage.py", "replicate").format_help()
    assert "1 of 1 figures are as the data must give them, those of judges not counted." in out.getvalue()
