"""What is written again is what was made the first time, and is made anew wherever that could differ."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection, transaction

from studies.models import Study
from tests import factories
from tests.replay import replayed

pytestmark = [pytest.mark.django_db, pytest.mark.embedded]
calls: list[str] = []


@replayed
def counted(state: str) -> Study:
    calls.append(state)
    return factories.study.__wrapped__(state=state)  # type: ignore[attr-defined, no-any-return]


@replayed
def somebody() -> User:
    calls.append("somebody")
    return User.objects.create_user("ann")


def rows() -> dict[str, list[Any]]:
    names = connection.introspection.django_table_names(only_existing=True)
    with connection.cursor() as cursor:
        return {name: cursor.execute(f"SELECT * FROM {name}").fetchall() for name in sorted(names)}


def taken_back(make: Callable[[], Any]) -> tuple[list[str], Any, dict[str, list[Any]]]:
    """What was made anew, what came of it and all rows; as after a test, nothing of it stays."""
    calls.clear()
    with transaction.atomic():
        made = make()
        found = list(calls), made, rows()
        transaction.set_rollback(True)
    return found


@pytest.mark.parametrize("state", ["draft", "live", "closed"])
def test_the_rows_are_those_of_the_first_time(state: str) -> None:
    _, first, before = taken_back(lambda: counted.__wrapped__(state))  # type: ignore[attr-defined]
    taken_back(lambda: counted(state))

    anew, again, after = taken_back(lambda: counted(state))

    assert anew == []
    assert after == before
    assert len(after["annotation_seat"]) == 3
    assert (again.pk, again.state) == (first.pk, state)
    assert again is not first


def test_other_arguments_are_others() -> None:
    _, _, live = taken_back(lambda: counted("live"))

    assert taken_back(lambda: counted("closed"))[2] != live


def test_where_there_are_rows_all_is_made_anew() -> None:
    taken_back(lambda: counted("paused"))

    anew, study, _ = taken_back(lambda: (factories.study("pears"), counted("paused"))[1])

    assert anew == ["paused"]
    assert study.pk == 2


def test_what_holds_the_time_of_the_clock_is_made_anew() -> None:
    taken_back(somebody)

    anew, _, _ = taken_back(somebody)

    assert anew == ["somebody"]
