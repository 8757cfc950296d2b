"""Queries compiled once: the rows that Django would give, whatever the values."""

import gc
import weakref
from threading import Thread
from typing import Any

import pytest
from django.db import connections
from django.db.models import QuerySet

from annotation.models import Assignment, Response
from annotation.prepared_queries import PreparedQuery
from tests import factories

pytestmark = pytest.mark.django_db


def with_study(*, code: str) -> QuerySet[Assignment]:
    return Assignment.objects.select_related("study", "seat").defer("study__description").filter(code=code)


def test_it_gives_the_row_that_django_gives_with_what_belongs_to_it(django_assert_num_queries) -> None:
    study = factories.study()
    first, second = factories.assignment(study), factories.assignment(study)
    prepared = PreparedQuery(with_study, code="a sample")

    with django_assert_num_queries(2):
        rows = [prepared.first(code=mine.code) for mine in (first, second)]
        titles = [(row.study.title, row.seat.order) for row in rows]

    assert rows == [first, second]
    assert titles == [(study.title, mine.seat.order) for mine in (first, second)]
    for row in rows:
        expected = with_study(code=row.code).get()
        assert [getattr(row, f.attname) for f in Assignment._meta.concrete_fields] == [
            getattr(expected, f.attname) for f in Assignment._meta.concrete_fields
        ]
        assert row.study.get_deferred_fields() == {"description"}


def test_a_prepared_query_is_compiled_once(monkeypatch: pytest.MonkeyPatch) -> None:
    mine = factories.assignment(factories.study())
    calls: list[str] = []

    def counted(*, code: str) -> QuerySet[Assignment]:
        calls.append(code)
        return with_study(code=code)

    prepared = PreparedQuery(counted, code="a sample")
    assert [prepared.first(code=mine.code), prepared.first(code="none such")] == [mine, None]
    assert calls == ["a sample"]


def test_a_prepared_query_sees_what_has_changed() -> None:
    response = factories.answer(factories.assignment(factories.study()))
    prepared = PreparedQuery(lambda *, pk: Response.objects.filter(pk=pk), pk=918273645)
    assert prepared.first(pk=response.pk).rationale == "It is so."

    Response.objects.filter(pk=response.pk).update(rationale="It is not.")

    assert prepared.first(pk=response.pk).rationale == "It is not."


def test_a_value_that_does_not_stand_in_the_query_is_refused() -> None:
    prepared = PreparedQuery(lambda *, code: Assignment.objects.filter(code="always this"), code="a sample")

    with pytest.raises(ValueError, match="does not stand"):
        prepared.first(code="x")


@pytest.mark.django_db(transaction=True)
def test_a_statement_goes_with_the_connection_of_its_thread() -> None:
    prepared = PreparedQuery(lambda *, pk: Response.objects.filter(pk=pk), pk=918273645)
    references: list[weakref.ref[Any]] = []

    def read() -> None:
        assert prepared.first(pk=1) is None
        references.append(weakref.ref(connections["default"]))
        connections.close_all()

    thread = Thread(target=read)
    thread.start()
    thread.join()
    gc.collect()

    assert [reference() for reference in references] == [None]
