"""Queries that are compiled once and then only run: for those that every request makes, compiling takes longest."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Model, QuerySet
from django.db.models.query import get_related_populators

M = TypeVar("M", bound=Model)
_populators: Callable[..., list[Any]] = get_related_populators


class PreparedQuery(Generic[M]):
    """A query for one row by values that differ from call to call, as Django compiles it.

    build : the query for stand-ins of the values; called once for each connection. Its conditions must hold the values
        as they are, never None, and nothing else may depend on them.
    samples : a value by name that nothing else in the query equals, so that it is found again among the parameters
    """

    def __init__(self, build: Callable[..., QuerySet[M]], **samples: Any) -> None:
        self.build = build
        self.samples = samples

    def first(self, **values: Any) -> M | None:
        """The row for these values, or None. One query."""
        connection = connections[DEFAULT_DB_ALIAS]
        # Kept with the connection, since a statement refers to it: they go together when its thread ends.
        statements: dict[PreparedQuery[M], _Statement[M]] = connection.__dict__.setdefault("prepared_statements", {})
        if self not in statements:
            statements[self] = _compiled(self.build(**self.samples), self.samples, connection)
        return statements[self].first(values, connection)


@dataclass(frozen=True, eq=False)
class _Statement(Generic[M]):
    """SQL with its parameters, each a value or the name of one, and how a row becomes an object."""

    sql: str
    parameters: tuple[tuple[str, Any], ...]
    compiler: Any
    converters: Any
    model: type[M]
    names: list[str]
    columns: slice
    populators: list[Any]

    def first(self, values: dict[str, Any], connection: BaseDatabaseWrapper) -> M | None:
        with connection.cursor() as cursor:
            cursor.execute(self.sql, [values[name] if name else value for name, value in self.parameters])
            row = cursor.fetchone()
        if row is None:
            return None
        if self.converters:
            row = next(iter(self.compiler.apply_converters([row], self.converters)))
        instance = self.model.from_db(connection.alias, self.names, row[self.columns])
        for populator in self.populators:
            populator.populate(row, instance)
        return instance


def _compiled(query: QuerySet[M], samples: dict[str, Any], connection: BaseDatabaseWrapper) -> _Statement[M]:
    """The query as `django.db.models.query.ModelIterable` would run it."""
    compiler = query.order_by()[:1].query.get_compiler(connection=connection)
    sql, parameters = compiler.as_sql()
    select, info = compiler.select, compiler.klass_info
    start, end = info["select_fields"][0], info["select_fields"][-1] + 1
    name_by_sample = {sample: name for name, sample in samples.items()}
    parameters_with_names = tuple((name_by_sample.get(value, ""), value) for value in parameters)
    if {name for name, _ in parameters_with_names if name} != set(samples):
        raise ValueError("a value does not stand in the query as it was given")
    return _Statement(
        sql=sql,
        parameters=parameters_with_names,
        compiler=compiler,
        converters=compiler.get_converters([column[0] for column in select]),
        model=info["model"],
        names=[column[0].target.attname for column in select[start:end]],
        columns=slice(start, end),
        populators=_populators(info, select, connection.alias),
    )
