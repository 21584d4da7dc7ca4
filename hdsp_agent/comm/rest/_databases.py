"""The databases that a notebook's kernel is connected to: their tables, and these tables' columns. Never a row."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ...notebooks.kernels import Database, DatabaseProblem, HiddenTables, schema_text
from ...wire import WireModel
from ..kernel_variables import Answers
from ._rest_endpoint import RestHandler, endpoint

__all__ = ["DatabaseSchemaHandler", "DatabasesHandler"]

_Path = Annotated[str, Field(min_length=1, max_length=4096)]
_Name = Annotated[str, Field(min_length=1, max_length=1000)]


class DatabasesAsked(WireModel):
    """Whose databases."""

    path: _Path
    """A notebook's, in the contents API."""


class TableName(WireModel):
    """A table or a view."""

    schema_name: _Name | None = None
    """Absent for the one that needs not be named."""
    name: _Name


class DatabaseSchemaAsked(WireModel):
    """Whose tables."""

    path: _Path
    """A notebook's, in the contents API."""
    database: _Name
    """By the name of what is connected to it."""
    table: TableName | None = None
    """Absent for all."""


class TableView(TableName):
    """A table or a view."""

    is_view: bool


class DatabaseView(WireModel):
    """A database."""

    name: str
    """Of what is connected to it: a variable, or one of ``%sql``."""
    kind: str
    """Such as sqlite or postgresql; empty if it is not known."""
    place: str
    """Its file, or its host and name."""
    tables: list[TableView]
    is_partial: bool
    """Whether there may be more, for which there was no room or time."""
    is_waiting: bool
    """Whether nobody has connected to it yet, so that it was not asked."""
    left_out: HiddenTables | None = None
    """Why there may be temporary tables that are not listed; absent if there are none."""
    error: str | None = None
    """Why its tables, or some of them, are not known."""
    reason: DatabaseProblem | None = None
    """The same, for programs."""


class DatabasesView(WireModel):
    """In the order in which the kernel has them."""

    path: str
    answers: Answers
    """Whether the kernel tells them ``now``, ``later`` when its cell is done, or ``never``."""
    databases: list[DatabaseView]


class DatabaseSchemaView(WireModel):
    """Tables with their columns."""

    text: str
    """As a model is told them."""


class DatabasesHandler(RestHandler):
    """`POST databases`"""

    # As with variables: a kernel is made to do something.
    @endpoint("List the databases of a notebook's kernel", answer=DatabasesView, body=DatabasesAsked, action="write")
    async def post(self, *, body: DatabasesAsked) -> DatabasesView:
        """What the kernel is connected to, and the names of the tables there. No server is connected to anew for it."""
        now = await self.services.kernel_variables.databases(body.path)
        return DatabasesView(path=body.path, answers=now.answers, databases=[_database(one) for one in now.databases])


class DatabaseSchemaHandler(RestHandler):
    """`POST databases/schema`"""

    @endpoint("Show the columns of tables", answer=DatabaseSchemaView, body=DatabaseSchemaAsked, action="write")
    async def post(self, *, body: DatabaseSchemaAsked) -> DatabaseSchemaView:
        """Of one table, or of all in a database, which is connected to if need be. No row is read."""
        table = None if body.table is None else (body.table.schema_name, body.table.name)
        return DatabaseSchemaView(
            text=schema_text(await self.services.kernel_variables.schema(body.path, body.database, table))
        )


def _database(database: Database) -> DatabaseView:
    return DatabaseView(
        name=database.name,
        kind=database.kind,
        place=database.place,
        tables=[TableView(schema_name=one.schema_name, name=one.name, is_view=one.is_view) for one in database.tables],
        is_partial=database.is_partial,
        is_waiting=database.is_waiting,
        left_out=database.left_out,
        error=database.error,
        reason=database.reason,
    )
