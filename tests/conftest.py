"""What all tests share: where the public releases are, and a database that threads and browsers can see."""

import gc
import os
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection, transaction
from django.test import TransactionTestCase, override_settings
from django.utils import translation
from hypothesis import HealthCheck, settings
from whitenoise.middleware import WhiteNoiseMiddleware

from annotation.progress import outlines
from stats import garbage_collection
from studies import protocol
from tests import emptying
from tests.chromium import chromium
from tests.worker import broker

__all__ = ["broker", "chromium"]

# A busy machine is no fault of what is tested.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


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


@pytest.fixture(autouse=True)
def _protocols_are_read_anew() -> None:
    """What one test froze is taken back, and the next may freeze something else under the same number."""
    protocol.forget_protocols()
    outlines.forget_outlines()


@pytest.fixture(autouse=True)
def _doors_are_knocked_at_anew() -> None:
    """All tests of a process come from one address; what one posted does not count against the next."""
    cache.clear()


@pytest.fixture(scope="session", autouse=True)
def _passwords_are_hashed_quickly() -> Iterator[None]:
    """The hash that guards an account takes a quarter of a second on purpose; nothing that is tested rests on that."""
    with override_settings(PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"]):
        yield


@pytest.fixture(scope="session", autouse=True)
def _reports_are_computed_at_once() -> Iterator[None]:
    """What a page of a report shows is tested without a worker; the few tests of waiting for one say so."""
    with override_settings(REPORTS_AT_ONCE=True):
        yield


@pytest.fixture(scope="session", autouse=True)
def _static_files_are_looked_for_once() -> Iterator[None]:
    """Every test's client starts the site anew, and each time the folders of static files would be gone through."""
    add, found = WhiteNoiseMiddleware.add_files_from_finders, {}

    def add_once(middleware: WhiteNoiseMiddleware) -> None:
        if not found:
            add(middleware)
            found.update(middleware.files)
        middleware.files = middleware.files | found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WhiteNoiseMiddleware, "add_files_from_finders", add_once)
        yield


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Beside another database only what may differ there is tested again: what rests on no database, and what is
    about the embedded one alone, is left out, not skipped. Of the cases of a test one is enough, unless it is marked as
    about what each database does itself. Slow tests run once, and wherever that is, all of them. What is about
    PostgreSQL alone is left out beside any other."""
    if connection.vendor == "sqlite":
        config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker("postgresql")])
        items[:] = [item for item in items if not item.get_closest_marker("postgresql")]
        return
    kept: list[pytest.Item] = []
    left_out: list[pytest.Item] = []
    begun: set[str] = set()
    for item in items:
        test = item.nodeid.partition("[")[0]
        is_slow, is_services = item.get_closest_marker("slow"), item.get_closest_marker("services")
        is_run = is_slow or (_rests_on_any_database(item) and (is_services or test not in begun))
        if is_run and not is_slow:
            begun.add(test)
        (kept if is_run else left_out).append(item)
    items[:] = kept
    config.hook.pytest_deselected(items=left_out)


def _rests_on_any_database(item: pytest.Item) -> bool:
    if item.get_closest_marker("embedded"):
        return False
    return bool(item.get_closest_marker("django_db")) or "django_db_setup" in getattr(item, "fixturenames", ())


def pytest_collection_finish() -> None:
    """Half a million objects of modules and tests stay to the end; going through them again and again is of no use."""
    gc.collect()
    gc.freeze()
    # Whether anything is frozen need not be counted then, 20 ms each time that a report is computed.
    garbage_collection._is_within = ContextVar("_is_within", default=True)
    gc.set_threshold(50_000, 20, 20)


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> None:
    """Remove what a killed run left beside its database: SQLite would take that journal for the new database's, and
    every later run would end in "disk I/O error". Nor need a database that is thrown away wait for the disk."""
    if connection.vendor != "sqlite":
        return
    options = connection.settings_dict["OPTIONS"]
    options["init_command"] = options["init_command"].replace("synchronous=FULL", "synchronous=OFF")
    if name := connection.settings_dict["TEST"]["NAME"]:
        for suffix in ("-wal", "-shm"):
            Path(f"{name}{suffix}").unlink(missing_ok=True)


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> None:
    """PostgreSQL need not wait for the disk at every commit to a database that is thrown away; servers and workers of
    their own process do as the tests do."""
    if connection.vendor == "postgresql":
        with django_db_blocker.unblock():
            with connection.cursor() as cursor:
                name = connection.ops.quote_name(connection.settings_dict["NAME"])
                cursor.execute(f"ALTER DATABASE {name} SET synchronous_commit = off")
            connection.close()
            connection.close_pool()


@pytest.fixture(scope="module")
def module_db(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """A database for what all tests of a module begin with: each test's changes are taken back to it, and it itself
    after the last."""
    with django_db_blocker.unblock(), transaction.atomic():
        yield
        transaction.set_rollback(True)


@pytest.fixture(scope="session", autouse=True)
def _databases_are_emptied_quickly() -> Iterator[None]:
    """After every test that commits; see `emptying`."""

    def empty(case: TransactionTestCase) -> None:
        for name in case._databases_names(include_mirrors=False):  # type: ignore[attr-defined]
            emptying.empty(name)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", empty)
        yield


@pytest.fixture
def committed(transactional_db: None) -> None:
    """A database whose commits are real: for threads, workers and browsers."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Where everything must be there, a skipped test is a failed one: a check that did not run shows nothing.

    A sentence encoder is not among that: it is 3 GB that nothing else needs. Nor is the log of a database server, which
    may be on another machine.
    """
    report = yield
    is_excused = hasattr(report, "wasxfail") or any(map(item.get_closest_marker, ("encoder", "postgresql", "r")))
    if report.skipped and os.environ.get("QUIRE_REQUIRE_ALL") and not is_excused:
        report.outcome = "failed"
        report.longrepr = f"skipped, but QUIRE_REQUIRE_ALL is set: {report.longrepr}"
    return report
