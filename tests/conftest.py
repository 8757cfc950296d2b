"""What all tests share: where the public releases are, and a database that threads and browsers can see."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import connection
from django.utils import translation

from tests import triggers


@pytest.fixture(scope="session")
def release() -> Path:
    """The folder of public releases. Tests that need it are skipped elsewhere; CI fails if one was skipped."""
    folder = os.environ.get("QUIRE_DATA", "")
    if not folder or not (Path(folder) / "ttcw").is_dir():
        pytest.skip("QUIRE_DATA does not name the folder of public releases")
    return Path(folder)


@pytest.fixture(autouse=True)
def english() -> Iterator[None]:
    """A request leaves its language active in the thread; no test begins in that of the one before."""
    yield
    translation.deactivate()


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> None:
    """Remove what a killed run left beside its database: SQLite would take that journal for the new database's, and
    every later run would end in "disk I/O error"."""
    name = connection.settings_dict["TEST"]["NAME"]
    if connection.vendor == "sqlite" and name:
        for suffix in ("-wal", "-shm"):
            Path(f"{name}{suffix}").unlink(missing_ok=True)


@pytest.fixture
def committed(transactional_db: None) -> Iterator[None]:
    """A database whose commits are real: for threads, workers and browsers.

    The triggers are removed before the tables are emptied, since they would refuse; migrating puts them back.
    """
    yield
    triggers.drop(connection.alias)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Where everything must be there, a skipped test is a failed one: a check that did not run shows nothing."""
    report = yield
    if report.skipped and os.environ.get("QUIRE_REQUIRE_ALL") and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped, but QUIRE_REQUIRE_ALL is set: {report.longrepr}"
    return report
