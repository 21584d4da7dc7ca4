"""How SQLite and DuckDB are asked for their tables, in a kernel; ``_sqlalchemy_probe`` asks the rest. Both are sent with
``_databases_probe``.

The catalogue alone is asked, and no row is read. What a person is in the middle of stays as it is: a file, or a server, is
asked through a connection of our own, so that no transaction of theirs begins or ends and no pool lacks one. Only what
lives in the memory of the kernel is asked through theirs.
"""
# mypy: ignore-errors
# As in ``_variables_probe``.

import os
import re
import sys
import threading
from urllib.parse import quote

_LONGEST = 200
"""Characters of a name, a type or a message."""
_LOCKED_SECONDS = 0.2
"""How long a file may be locked by others."""
SECRETIVE = r"((?i:\w*pass\w*|pwd|\w*token\w*|\w*secret\w*|\w*key))"
"""What the names of secrets look like."""
_ENUM = re.compile(r"ENUM\((?:'(?:[^']|'')*'(?:,\s*)?)*\)")
_DUCKDB = {("duckdb", "DuckDBPyConnection"), ("_duckdb", "DuckDBPyConnection")}
_ENGINES = {"Connection", "Engine", "Session", "sessionmaker", "scoped_session"}
_ENGINES |= {"AsyncConnection", "AsyncEngine", "AsyncSession", "async_sessionmaker", "async_scoped_session"}
_KINDS = {("sqlite3", "Connection"), *_DUCKDB, *(("sqlalchemy", name) for name in _ENGINES)}
_REASONS = {
    "in_use": "it is in use",
    "no_answer": "it did not answer in time",
    "no_file": "its file is not there",
    "each_its_own": "each connection has a database of its own",
    "own_way": "the notebook's own code opens its connections, and none is idle now",
}


class NotAsked(Exception):
    """What cannot be asked, with a reason that others know, too."""

    def __init__(self, reason):
        super().__init__(_REASONS[reason])
        self.reason = reason


def is_connection(value):
    """Whether tables may be told of it. By its types alone: this is not the thread that it belongs to."""
    try:
        return bool(families_of(value) & _KINDS)
    except Exception:  # noqa: BLE001 -- a class may be made in any way
        return False


def families_of(value):
    """The packages and names of a value's types. Not what the value says of itself: it may say anything."""
    return families_of_type(type(value))


def families_of_type(kind):
    found = set()
    for base in of_type(kind, "__mro__"):
        module = of_type(base, "__module__")
        if isinstance(module, str):
            found.add((module.partition(".")[0], of_type(base, "__name__")))
    return found


def of_type(kind, name):
    """What Python knows of a class; None of what it lacks. To ask the class itself may run code of its metaclass."""
    try:
        return type.__dict__[name].__get__(kind)
    except AttributeError:
        # A class made without a module to be of.
        return None


def connection_of(value):
    """How to ask what a value is connected to; None if it is no connection."""
    if not is_connection(value):
        return None
    try:
        families = families_of(value)
        if ("sqlite3", "Connection") in families:
            return _of_raw_sqlite(value)
        if families & _DUCKDB:
            return DuckDb(value)
        return sys.modules["_hdsp_agent_sqlalchemy"].connection_of(value)
    except Exception as error:  # noqa: BLE001 -- a session may be bound to nothing, a connection closed
        return Unusable(value, error)


def _of_raw_sqlite(connection):
    """A thread of its own asks first: where that is allowed another thread may use it, and keep us waiting."""
    found = []

    def look():
        try:
            found.append(_files_of(connection))
        except Exception as error:  # noqa: BLE001 -- it is looked at below
            found.append(error)

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    thread.join(_LOCKED_SECONDS)
    if not found:
        return Unusable(connection, NotAsked("in_use"))
    if isinstance(found[0], Exception):
        # Of this thread alone, or closed.
        return Sqlite(connection, _files_of(connection))
    told = Sqlite(connection, found[0])
    told.is_of_main_thread = False
    return told


class FoundDatabase:
    """One database."""

    is_of_main_thread = False
    is_implied = False
    """Whether nobody named it, so that it is told only when there is something in it."""
    is_for_one = False
    """Whether one table alone is asked for."""
    is_cut = False
    """Whether there are schemas that were not looked at."""
    left_out = None
    """Why the temporary tables of the person's own connection are not told."""
    engine_key = None
    """Which engine's connection this is, of which it tells no more than that."""

    def run(self, ask, seconds):
        """Call what asks it, where its driver can be used; for no longer than this, where that can be ended."""
        ask()

    def apart(self):
        """What this value of the person's alone can tell of a database that another has; None if there is nothing."""

    def is_connected(self):
        """Whether the person has connected to it."""
        return True

    def open(self):
        """Be ready for questions."""

    def close(self):
        """Give back what ``open`` took."""

    def without_secrets(self, text):
        """A driver's message without passwords and the like."""
        text = re.sub(r"://[^\s/]*@", "://***@", text)
        return re.sub(SECRETIVE + r"(\s*[=:]\s*)('[^']*'|\"[^\"]*\"|\S+)", r"\1\2***", text)


class Unusable(FoundDatabase):
    """What cannot be asked, and why."""

    def __init__(self, value, error, kind=""):
        self._error = error
        self.key = id(value)
        self.kind = kind

    def place(self):
        raise self._error


class Sqlite(FoundDatabase):
    """A file is asked through a connection of our own: another program may have locked it. The rest has only theirs."""

    kind = "sqlite"

    def __init__(self, connection, files):
        self._theirs = connection
        self._files = files
        self._ours = {}
        self.key = id(connection)
        # Where a connection was made is where it may be used.
        self.is_of_main_thread = any(not os.path.exists(path) for path in files.values()) and connection is not None

    def place(self):
        return self._files.get("main", "")

    def tables(self):
        for schema in self._files:
            connection, inner = self._at(schema)
            # SQLite knows no parameter in the place of a catalogue.
            catalogue = "sqlite_temp_master" if inner == "temp" else _quoted(inner) + ".sqlite_master"
            query = (
                "SELECT name, type FROM " + catalogue + " WHERE type IN ('table', 'view')"  # noqa: S608 -- quoted
                " AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
            )
            for table, kind in self._rows(connection, query):
                yield (None if schema == "main" else schema), text_of(table), text_of(kind) == "view"

    def describe(self, schema, name):
        connection, inner = self._at(schema or "main")
        at = "PRAGMA " + _quoted(inner) + "."
        # The first also tells what is computed; earlier SQLites answer it with nothing.
        rows = self._rows(connection, at + "table_xinfo(" + _quoted(name) + ")")
        rows = rows or self._rows(connection, at + "table_info(" + _quoted(name) + ")")
        columns = [
            (text_of(row[1]), text_of(row[2]), not row[3] and not row[5], row[5] > 0)
            for row in rows
            if (row[6:] or (0,))[0] != 1
        ]
        references = {}
        for row in self._rows(connection, at + "foreign_key_list(" + _quoted(name) + ")"):
            own, _, theirs = references.setdefault(row[0], ([], text_of(row[2]), []))
            own.append(text_of(row[3]))
            if row[4] is not None:
                theirs.append(text_of(row[4]))
        return columns, [references[key] for key in sorted(references)]

    def close(self):
        for connection in self._ours.values():
            connection.close()

    def _at(self, schema):
        """The connection that knows a schema, and its name there."""
        path = self._files.get(schema, "")
        if self._theirs is not None and not os.path.exists(path):
            return self._theirs, schema
        if schema not in self._ours:
            import sqlite3

            address = "file:" + quote(os.path.abspath(path)) + "?mode=ro"
            self._ours[schema] = sqlite3.connect(address, uri=True, timeout=_LOCKED_SECONDS)
        return self._ours[schema], "main"

    def _rows(self, connection, query):
        return rows_of(connection, query)


def rows_of(connection, query):
    # Neither a subclass's cursors nor the person's form of rows. Whoever has a connection has the module.
    sqlite3 = sys.modules["sqlite3"]
    cursor = sqlite3.Connection.cursor(connection)
    cursor.row_factory = None
    try:
        return cursor.execute(query).fetchall()
    finally:
        cursor.close()


def _files_of(connection):
    """The files behind a connection by their schema; an empty text for what is in memory."""
    return files_in(rows_of(connection, "PRAGMA database_list"))


def files_in(rows):
    return {text_of(name): text_of(path or "") for _, name, path in rows}


class DuckDb(FoundDatabase):
    """It is asked through a cursor: the result that the person has not fetched stays, but a cursor sees nothing temporary."""

    kind = "duckdb"
    left_out = "own_connection"

    def __init__(self, connection):
        self._connection = connection
        self._cursor = None
        self._places = {}
        self._known = {}
        self.key = id(connection)

    def open(self):
        if self._cursor is None:
            # A connection's own result would be replaced by ours.
            self._cursor = self._connection.cursor()
            self._database = self._all("SELECT current_database()")[0][0]

    def close(self):
        if self._cursor is not None:
            self._cursor.close()

    def place(self):
        self.open()
        found = self._all("SELECT path FROM duckdb_databases() WHERE database_name = ?", self._database)
        return (found[0][0] if found else None) or ""

    def tables(self):
        query = (
            "SELECT database_name, schema_name, table_name, false FROM duckdb_tables() WHERE NOT internal UNION ALL "
            "SELECT database_name, schema_name, view_name, true FROM duckdb_views() WHERE NOT internal ORDER BY 1, 2, 3"
        )
        for database, schema, name, is_view in self._all(query):
            shown = [database] if database != self._database else []
            shown += [schema] if schema != "main" or shown else []
            told = ".".join(shown) or None
            self._places[told, name] = (database, schema, name)
            yield told, name, is_view

    def describe(self, schema, name):
        if not self._places:
            # It was asked for by name.
            for _ in self.tables():
                pass
        place = self._places.get((schema, name))
        if place is None:
            return [], []
        keys, references = set(), []
        constraints = "SELECT {}, constraint_type, constraint_column_names, constraint_text FROM duckdb_constraints()"
        for kind, own, text in self._of(constraints, place):
            if kind == "PRIMARY KEY":
                keys.update(own)
            elif kind == "FOREIGN KEY":
                table, _, theirs = (text or "").rpartition("REFERENCES ")[2].partition("(")
                theirs = [one.strip() for one in theirs.strip(" )").split(",")]
                references.append((list(own), table.strip(), theirs))
        found = self._of("SELECT {}, column_index, column_name, data_type, is_nullable FROM duckdb_columns()", place)
        columns = [(name, without_values(kind), null, name in keys) for _, name, kind, null in sorted(found)]
        return columns, references

    def _of(self, query, place):
        """What a query tells of a table: asked for all at once, unless one alone is told."""
        if query not in self._known or self.is_for_one:
            named = query.format("database_name, schema_name, table_name")
            where = " WHERE database_name = ? AND schema_name = ? AND table_name = ?"
            rows = self._all(named + where, *place) if self.is_for_one else self._all(named)
            self._known[query] = found = {}
            for row in rows:
                found.setdefault(row[:3], []).append(row[3:])
        return self._known[query].get(place, [])

    def _all(self, query, *values):
        return self._cursor.execute(query, list(values)).fetchall()


def without_values(kind):
    """A type of DuckDB's. The values of its ENUM are often those of a column."""
    return _ENUM.sub("ENUM", kind)


def _quoted(name):
    return '"' + name.replace('"', '""') + '"'


def text_of(value):
    # A connection may have been told to give its texts as bytes.
    return value.decode("utf-8", "replace") if isinstance(value, (bytes, bytearray)) else str(value)


def short(value):
    text = str(value)
    text = text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
    # Half a pair of surrogates is no text for others.
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def said(error):
    if isinstance(error, NotAsked):
        return str(error)
    # Only the first line: the others may have values in them.
    try:
        return type(error).__name__ + ": " + (str(error).strip() or "it said nothing").split("\n")[0]
    except Exception:  # noqa: BLE001 -- as in ``_variables_probe``
        return type(error).__name__
