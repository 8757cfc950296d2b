"""What raters write is in no log: not in Quire's, and not in that of a database server that could not store it."""

import os
import secrets
import time
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.db import DatabaseError, connection
from django.test import Client

from annotation.models import Response, ResponseEvent
from config.postgresql import checks
from config.postgresql.base import QUIET
from config.postgresql.checks import check_server_log
from tests import factories
from tests.annotation import walk

RAISE = """
CREATE FUNCTION pg_temp.refuse() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'no room' USING ERRCODE = 'disk_full'; END $$;
CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON {table} FOR EACH ROW EXECUTE FUNCTION pg_temp.refuse();
"""
WAIT = """
CREATE FUNCTION pg_temp.wait() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN PERFORM pg_sleep(5); RETURN NEW; END $$;
CREATE TRIGGER wait BEFORE INSERT OR UPDATE ON {table} FOR EACH ROW EXECUTE FUNCTION pg_temp.wait();
SET LOCAL statement_timeout = 200;
"""
# Of such a row the server says all that stands in it.
FORBID = "ALTER TABLE {table} ADD CONSTRAINT no_rows CHECK (id < 0) NOT VALID"
pytestmark = [pytest.mark.django_db, pytest.mark.services]


def canary() -> str:
    return f"canary{secrets.token_hex(8)}"


def server_log() -> str:
    """What stands in the server's log, up to a mark that was written just now; skips where it cannot be read."""
    mark = canary()
    with connection.cursor() as cursor:
        cursor.execute(f"DO $$ BEGIN RAISE LOG '{mark}'; END $$")
        cursor.execute("SELECT current_setting('data_directory'), current_setting('log_directory')")
        data, folder = cursor.fetchone()
    folders = [Path(data, folder), Path("/var/log/postgresql")]
    paths = [path for folder in folders if os.access(folder, os.R_OK) for path in folder.iterdir()]
    for _ in range(50):
        for path in paths:
            if os.access(path, os.R_OK) and mark in (text := path.read_text(errors="replace")):
                return text
        time.sleep(0.02)
    pytest.skip("the log of the database server cannot be read here; Quire's own logs held no word")


def refuse_all(statement: str, table: str) -> None:
    connection.check_constraints()  # no table is altered while some are still to be checked
    with connection.cursor() as cursor:
        cursor.execute(statement.format(table=table))


@pytest.mark.postgresql
@pytest.mark.parametrize("model", [Response, ResponseEvent])
@pytest.mark.parametrize("obstacle", [RAISE, WAIT, FORBID], ids=["full disk", "time limit", "constraint"])
def test_words_that_could_not_be_stored_are_in_no_log(log: StringIO, obstacle: str, model: Any) -> None:
    client, word = Client(raise_request_exception=False), canary()
    work = walk.begin(client, factories.study())
    assert walk.give(client, work, why="It is stored.", htmx=True).status_code == 200
    refuse_all(obstacle, model._meta.db_table)

    answer = walk.give(client, work, why=word, base=1, htmx=True)

    # A refused row is taken for one that somebody else has stored meanwhile.
    assert answer.status_code == (409 if obstacle == FORBID else 500), "the statement was sent, and failed"
    assert ("psycopg.errors" in log.getvalue()) == (obstacle != FORBID), "the failure is told"
    assert word not in log.getvalue()
    assert word not in server_log()


@pytest.mark.postgresql
def test_a_first_answer_that_could_not_be_stored_is_in_no_log(log: StringIO) -> None:
    client, word = Client(raise_request_exception=False), canary()
    work = walk.begin(client, factories.study())
    refuse_all(RAISE, Response._meta.db_table)

    assert walk.give(client, work, why=word, htmx=True).status_code >= 500
    assert word not in log.getvalue()
    assert word not in server_log()


@pytest.fixture
def ordinary(committed: None) -> Iterator[Callable[[], Any]]:
    """Makes connections as a role that may set nothing of the server."""
    name, opened = f"quire_{secrets.token_hex(4)}", []

    def connect() -> Any:
        alone = connection.copy()
        alone.settings_dict = connection.settings_dict | {"USER": name, "OPTIONS": {}}
        opened.append(alone)
        return alone

    with connection.cursor() as cursor:
        cursor.execute(f"CREATE ROLE {name} LOGIN; CREATE TABLE scratch_words (id int, words text, CHECK (id < 9))")
        cursor.execute(f"GRANT ALL ON scratch_words TO {name}")
    yield connect
    for alone in opened:
        alone.close()
    with connection.cursor() as cursor:
        cursor.execute(f"DROP TABLE scratch_words; DROP ROLE {name}")


@pytest.mark.postgresql
@pytest.mark.parametrize("sql", ["INSERT INTO scratch_words VALUES (1, %s)", "UPDATE scratch_words SET words = %s"])
def test_a_role_that_may_set_nothing_sends_its_values_beside_the_statement(
    ordinary: Callable[[], Any], sql: str
) -> None:
    word = canary()
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO scratch_words VALUES (1, 'x')")
        cursor.execute(RAISE.replace("pg_temp.", "").format(table="scratch_words"))

    with pytest.raises(DatabaseError), ordinary().cursor() as cursor:
        cursor.execute(sql, [word])

    try:
        text = server_log()
    finally:
        with connection.cursor() as cursor:
            cursor.execute("DROP TRIGGER refuse ON scratch_words; DROP FUNCTION refuse()")
    assert "$1" in text, "the statement is there"
    assert word not in text


@pytest.mark.postgresql
def test_a_role_that_may_not_keep_the_log_quiet_is_named_with_what_a_superuser_enters(
    ordinary: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert check_server_log(["default"]) == []
    alone = ordinary()
    monkeypatch.setattr(checks, "connections", {"default": alone})

    (warning,) = check_server_log(["default"])

    role = alone.settings_dict["USER"]
    assert f"ALTER ROLE \"{role}\" SET log_min_error_statement = 'panic';" in (warning.hint or "")
    with connection.cursor() as cursor:
        cursor.execute(str(warning.hint).partition(": ")[2])
    alone.close()
    assert check_server_log(["default"]) == [], "that is enough"


@pytest.mark.parametrize("name", QUIET)
def test_the_server_of_the_compose_file_keeps_its_log_quiet(settings: Any, name: str) -> None:
    assert f"-c {name}={QUIET[name]}" in Path(settings.BASE_DIR, "docker-compose.yml").read_text()
