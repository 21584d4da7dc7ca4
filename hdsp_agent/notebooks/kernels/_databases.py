"""What the databases hold that a Python kernel is connected to: tables and columns, and no row of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from ...errors import NotFound, Unavailable
from ...messages import JsonObject
from ._client import KernelClient
from ._variable_inspection import ask_probe

__all__ = [
    "Database",
    "DatabaseColumn",
    "DatabaseLimits",
    "DatabaseProblem",
    "DatabaseTable",
    "HiddenTables",
    "list_databases",
    "read_schema",
    "schema_text",
]

_BUSY: Final = "A cell is running. What a database holds can be read when it is done."

DatabaseProblem = Literal["failed", "in_use", "no_answer", "no_file", "each_its_own", "own_way"]
"""Why nothing, or not all, is known of a database: it refused; somebody uses it; it does not answer; its file is not there;
each connection has one of its own; the notebook's own code opens the connections, and none of them can be used."""
HiddenTables = Literal["in_transaction", "own_connection"]
"""Why temporary tables are not known: a transaction of the person's is open, or their connection cannot be asked for them
without their noticing."""

_PASSING: Final = frozenset[DatabaseProblem]({"failed", "in_use", "no_answer"})
_HIDDEN: Final[dict[HiddenTables, str]] = {
    "in_transaction": "temporary tables are not listed: the notebook's own connection has an open transaction",
    "own_connection": "temporary tables are not listed: only the notebook's own connection knows them",
}


@dataclass(frozen=True)
class DatabaseLimits:
    """How much is told, and how long the databases have to answer."""

    seconds: float = 3.0
    names: int = 5_000
    """Tables of each database of which the name is told."""
    tables: int = 500
    """Those of which the columns are told, too."""
    columns: int = 200
    """Of each table."""


class DatabaseColumn(BaseModel):
    """A column of a table."""

    model_config = ConfigDict(frozen=True)

    name: str
    type: str
    may_be_null: bool
    is_key: bool


class DatabaseReference(BaseModel):
    """Columns that name a row of another table."""

    model_config = ConfigDict(frozen=True)

    columns: tuple[str, ...]
    table: str
    their_columns: tuple[str, ...]
    """Nothing where the other's key is meant."""


class DatabaseTable(BaseModel):
    """A table or a view."""

    model_config = ConfigDict(frozen=True)

    schema_name: str | None
    """None is the one that needs not be named."""
    name: str
    is_view: bool
    columns: tuple[DatabaseColumn, ...] = ()
    """Nothing if it was not asked for."""
    more_columns: int = 0
    references: tuple[DatabaseReference, ...] = ()
    error: str | None = None
    """Why its columns are not known."""

    @property
    def full_name(self) -> str:
        """As a query names it, but for quotes."""
        return self.name if self.schema_name is None else f"{self.schema_name}.{self.name}"


class Database(BaseModel):
    """A database, by the name of what is connected to it."""

    model_config = ConfigDict(frozen=True)

    name: str
    kind: str = ""
    """Such as sqlite or postgresql."""
    place: str = ""
    """Its file, or its host and name; never a password."""
    tables: tuple[DatabaseTable, ...] = ()
    is_partial: bool = False
    """Whether there may be more, for which there was no room or time."""
    is_waiting: bool = False
    """Whether nobody has connected to it yet, so that it was not asked."""
    left_out: HiddenTables | None = None
    """Why there may be temporary tables that are not told."""
    error: str | None = None
    """Why its tables, or some of them, are not known."""
    reason: DatabaseProblem | None = None
    """The same, for programs."""

    @property
    def lasts(self) -> bool:
        """Whether the answer is the same until something runs in the kernel."""
        return self.reason not in _PASSING


async def list_databases(link: KernelClient, limits: DatabaseLimits) -> tuple[Database, ...] | None:
    """The databases, and the names of their tables. None if a cell runs: it may be using them.

    No server is connected to for it that the person has not connected to.
    """
    return await _ask(link, {"most": limits.names, "columns": 0, "may_connect": False}, limits)


async def read_schema(
    link: KernelClient,
    name: str,
    table: tuple[str | None, str] | None,
    limits: DatabaseLimits,
    *,
    may_connect: bool,
) -> Database:
    """A database with the columns of all its tables, or of one. NotFound if there is none; Unavailable if a cell runs.

    With ``may_connect`` a server is connected to that the person has not connected to yet.
    """
    question: JsonObject = {
        "name": name,
        "most": limits.tables,
        "columns": limits.columns,
        "may_connect": may_connect,
    }
    if table is not None:
        question["table"] = list(table)
    found = await _ask(link, question, limits)
    if found is None:
        raise Unavailable(_BUSY, kernel=link.kernel_id, waits_for="cell")
    database = next((one for one in found if one.name == name), None)
    if database is None:
        raise NotFound(f"The kernel is not connected to a database as {name}.", name=name)
    if not database.tables and database.error is not None:
        raise Unavailable(f"The database {name} could not be asked: {database.error}.", kernel=link.kernel_id)
    if table is not None and not database.tables and not database.is_waiting:
        raise NotFound(f"There is no table {table[1]} in {name}.", name=table[1])
    return database


def schema_text(database: Database) -> str:
    """What a model is told: a line for the database, and one for each column."""
    kind = f"{database.kind}, {database.place}" if database.place else database.kind
    lines = [f"Database {database.name} ({kind})"]
    for table in database.tables:
        lines.append(f"{'View' if table.is_view else 'Table'} {table.full_name}")
        lines += [f"  {_column_text(column, table)}" for column in table.columns]
        lines += [_reference_text(one) for one in table.references if len(one.columns) > 1]
        if table.more_columns:
            lines.append(f"  [… {table.more_columns} more columns …]")
        if table.error is not None:
            lines.append(f"  (its columns are not known: {table.error})")
    if database.is_waiting:
        lines.append("(nobody has connected to it yet)")
    if database.is_partial:
        lines.append("[… there may be more tables …]")
    if database.left_out is not None:
        lines.append(f"({_HIDDEN[database.left_out]})")
    if database.error is not None:
        lines.append(f"({database.error})")
    return "\n".join(lines)


def _column_text(column: DatabaseColumn, table: DatabaseTable) -> str:
    text = f"{column.name} {column.type}".rstrip()
    if column.is_key:
        text += ", primary key"
    elif not column.may_be_null:
        text += ", not null"
    for one in table.references:
        if one.columns == (column.name,):
            text += f", references {_target(one)}"
    return text


def _reference_text(reference: DatabaseReference) -> str:
    return f"  ({', '.join(reference.columns)}) references {_target(reference)}"


def _target(reference: DatabaseReference) -> str:
    columns = f"({', '.join(reference.their_columns)})" if reference.their_columns else ""
    return reference.table + columns


async def _ask(link: KernelClient, question: JsonObject, limits: DatabaseLimits) -> tuple[Database, ...] | None:
    if link.state == "busy":
        return None
    told = await ask_probe(link, {"databases": {**question, "seconds": limits.seconds}}, limits.seconds)
    if told.get("later") is True:
        return None
    if "error" in told:
        raise Unavailable(f"The kernel could not tell its databases: {told['error']}.", kernel=link.kernel_id)
    try:
        return _Told.model_validate(told).databases
    except ValidationError as error:
        raise Unavailable(
            "The kernel's databases came in a form that cannot be read.", kernel=link.kernel_id
        ) from error


class _Told(BaseModel):
    databases: tuple[Database, ...]
