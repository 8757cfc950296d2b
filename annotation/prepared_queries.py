"""Queries that are compiled once and then only run: for those that every request makes, compiling takes longest.

Compiled statements are kept with the connection, since they refer to it: they go together when its thread ends.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Model, QuerySet
from django.db.models.query import get_related_populators
from django.db.models.sql import UpdateQuery

M = TypeVar("M", bound=Model)
# Each a name and a value: of what differs from call to call the name, of the rest "" and the value.
_Parameters = tuple[tuple[str, Any], ...]
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
        statements: dict[PreparedQuery[M], _Statement[M]] = connection.__dict__.setdefault("prepared_statements", {})
        if self not in statements:
            statements[self] = _compiled(self.build(**self.samples), self.samples, connection)
        return statements[self].first(values, connection)


class PreparedUpdate:
    """An update of one row by values that differ from call to call, which also gives a column of the row it changed.

    find : the row for stand-ins of the values, as `build` of a PreparedQuery; change : what each column becomes
    column : which is given
    """

    def __init__(
        self,
        find: Callable[..., QuerySet[Any]],
        change: Callable[..., dict[str, Any]],
        column: str,
        **samples: Any,
    ) -> None:
        self.find = find
        self.change = change
        self.column = column
        self.samples = samples

    def run(self, **values: Any) -> Any:
        """The column of the row that was changed, or None if there was none. One query."""
        connection = connections[DEFAULT_DB_ALIAS]
        statements = connection.__dict__.setdefault("prepared_updates", {})
        if self not in statements:
            statements[self] = self._compile(connection)
        sql, parameters, field = statements[self]
        with connection.cursor() as cursor:
            cursor.execute(sql, [values[name] if name else value for name, value in parameters])
            row = cursor.fetchone()
        return None if row is None else field.from_db_value(row[0], None, connection)

    def _compile(self, connection: BaseDatabaseWrapper) -> tuple[str, _Parameters, Any]:
        rows = self.find(**self.samples)
        update: Any = rows.order_by().query.chain(UpdateQuery)
        update.add_update_values(self.change(**self.samples))
        sql, parameters = update.get_compiler(connection=connection).as_sql()
        field = rows.model._meta.get_field(self.column)
        # Both databases know RETURNING, which Django says of inserts only.
        sql += f" RETURNING {connection.ops.quote_name(field.column)}"
        return sql, _name_parameters(parameters, self.samples), field


@dataclass(frozen=True, eq=False)
class _Statement(Generic[M]):
    """SQL with its parameters, each a value or the name of one, and how a row becomes an object."""

    sql: str
    parameters: _Parameters
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
    return _Statement(
        sql=sql,
        parameters=_name_parameters(parameters, samples),
        compiler=compiler,
        converters=compiler.get_converters([column[0] for column in select]),
        model=info["model"],
        names=[column[0].target.attname for column in select[start:end]],
        columns=slice(start, end),
        populators=_populators(info, select, connection.alias),
    )


def _name_parameters(parameters: Iterable[Any], samples: dict[str, Any]) -> _Parameters:
    """The parameters of a statement, samples by their names. Raises ValueError if one of them is not there."""
    name_by_sample = {sample: name for name, sample in samples.items()}
    named = tuple((name_by_sample.get(value, ""), value) for value in parameters)
    if {name for name, _ in named if name} != set(samples):
        raise ValueError("a value does not stand in the query as it was given")
    return named
