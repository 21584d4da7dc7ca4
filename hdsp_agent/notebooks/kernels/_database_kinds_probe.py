"""How each kind of database is asked for its tables, in a kernel. It is sent with ``_databases_probe``.

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
from urllib.parse import quote, unquote, urlsplit

_LONGEST = 200
"""Characters of a name, a type or a message."""
_MOST_SCHEMAS = 50
_LOCKED_SECONDS = 0.2
"""How long a file may be locked by others."""
_SYSTEM_SCHEMAS = {
    "mssql": re.compile(
        r"(?i)sys|guest|information_schema|db_(owner|accessadmin|securityadmin|ddladmin|backupoperator)"
        r"|db_(deny)?data(reader|writer)"
    ),
    "mysql": re.compile(r"(?i)information_schema|performance_schema|mysql|sys"),
    "postgresql": re.compile(r"information_schema|pg_.*"),
}
_SYSTEM_SCHEMAS["mariadb"] = _SYSTEM_SCHEMAS["mysql"]
_SECRETIVE = r"(?i)(\w*pass\w*|pwd|\w*token\w*|\w*secret\w*|\w*key)"
"""What the names of secrets look like."""
_DUCKDB = {("duckdb", "DuckDBPyConnection"), ("_duckdb", "DuckDBPyConnection")}
_KINDS = {("sqlite3", "Connection"), *_DUCKDB, *(("sqlalchemy", name) for name in ("Connection", "Engine", "Session"))}


def is_connection(value):
    """Whether tables may be told of it. By its types alone: this is not the thread that it belongs to."""
    try:
        return bool(_families(value) & _KINDS)
    except Exception:  # noqa: BLE001 -- a class may be made in any way
        return False


def _families(value):
    """The packages and names of a value's types. Not what the value says of itself: it may say anything."""
    found = set()
    for base in type.__dict__["__mro__"].__get__(type(value)):
        module = base.__module__
        if isinstance(module, str):
            found.add((module.partition(".")[0], base.__name__))
    return found


def connection_of(value):
    """How to ask what a value is connected to; None if it is no connection."""
    if not is_connection(value):
        return None
    try:
        families = _families(value)
        if ("sqlite3", "Connection") in families:
            return _of_raw_sqlite(value)
        if families & _DUCKDB:
            return _DuckDb(value)
        if ("sqlalchemy", "Session") in families:
            value = value.get_bind()
            families = _families(value)
        if ("sqlalchemy", "Engine") in families:
            return _of_engine(value, None)
        if ("sqlalchemy", "Connection") in families:
            return _of_engine(value.engine, value)
    except Exception as error:  # noqa: BLE001 -- a session may be bound to nothing, a connection closed
        return _Unusable(value, error)
    return None


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
        return _Unusable(connection, TimeoutError("it is in use"))
    if isinstance(found[0], Exception):
        # Of this thread alone, or closed.
        return _Sqlite(connection, _files_of(connection))
    told = _Sqlite(connection, found[0])
    told.is_of_main_thread = False
    return told


def _of_engine(engine, connection):
    if engine.dialect.name == "sqlite":
        told = _of_sqlite(engine)
    elif engine.dialect.name == "duckdb":
        told = _of_duckdb(engine, connection)
    else:
        told = _apart_from(engine, _SqlAlchemy)
    told.key = id(engine)
    return told


def _of_sqlite(engine):
    raw = _only_connection(engine.pool)
    if raw is not None:
        return connection_of(raw)
    # Where the engine looks for its file, wherever one has gone since.
    path = next(iter(_given_to(engine).get("cargs_tup") or ()), "")
    if path.startswith("file:"):
        address = urlsplit(path)
        path = "" if "mode=memory" in address.query else unquote(address.path)
    if path in ("", ":memory:"):
        return _Unusable(engine, LookupError("what it has in memory, or makes in a way of its own, cannot be asked"))
    return _Sqlite(None, {"main": path})


def _of_duckdb(engine, connection):
    raw = _only_connection(engine.pool)
    if raw is None and connection is not None:
        held = connection.connection
        raw = getattr(held, "driver_connection", None) or getattr(held, "connection", None)
    if raw is not None:
        return connection_of(getattr(raw, "_ConnectionWrapper__c", raw))
    if engine.url.database in (None, "", ":memory:"):
        return _Unusable(engine, LookupError("each of its connections has a database of its own"))
    if not os.path.exists(engine.url.database):
        # To ask would make it.
        return _Unusable(engine, LookupError("there is no file " + engine.url.database))
    return _apart_from(engine, _DuckDbFile)


def _apart_from(engine, kind):
    # What makes connections in a way of its own may give us the person's, or ask them something.
    if not _given_to(engine) or len(engine.dialect.dispatch.do_connect):
        return _Unusable(engine, LookupError("its connections are made in a way of its own"))
    return kind(engine)


def _has_connected(engine):
    # Found out with the first connection; there may be none.
    return "default_schema_name" in vars(engine.dialect)


def _given_to(engine):
    """What an engine connects with; nothing if somebody else makes its connections."""
    creator = engine.pool._creator
    if getattr(creator, "__module__", None) != "sqlalchemy.engine.create":
        return {}
    names = creator.__code__.co_freevars
    return {name: creator.__closure__[at].cell_contents for at, name in enumerate(names)}


def _only_connection(pool):
    """The connection of a pool that has one for all, or one for this thread. It is not taken from there:

    giving it back would end its transaction.
    """
    kinds = {base.__name__ for base in type(pool).__mro__}
    if "StaticPool" in kinds:
        record = pool.__dict__.get("connection")
    elif "SingletonThreadPool" in kinds:
        current = getattr(pool._conn, "current", None)
        record = None if current is None else current()
    else:
        return None
    return getattr(record, "dbapi_connection", None) or getattr(record, "connection", None)


class _Connection:
    """One database."""

    is_of_main_thread = False
    is_implied = False
    """Whether nobody named it, so that it is told only when there is something in it."""
    is_for_one = False
    """Whether one table alone is asked for."""
    is_cut = False
    """Whether there are schemas that were not looked at."""

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
        return re.sub(_SECRETIVE + r"(\s*[=:]\s*)\S+", r"\1\2***", text)


class _Unusable(_Connection):
    """What cannot be asked, and why."""

    kind = ""

    def __init__(self, value, error):
        self._error = error
        self.key = id(value)

    def place(self):
        raise self._error


class _Sqlite(_Connection):
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
            for table, kind in _rows(connection, query):
                yield (None if schema == "main" else schema), _text(table), _text(kind) == "view"

    def describe(self, schema, name):
        connection, inner = self._at(schema or "main")
        at = "PRAGMA " + _quoted(inner) + "."
        # The first also tells what is computed; earlier SQLites answer it with nothing.
        rows = _rows(connection, at + "table_xinfo(" + _quoted(name) + ")")
        rows = rows or _rows(connection, at + "table_info(" + _quoted(name) + ")")
        columns = [
            (_text(row[1]), _text(row[2]), not row[3] and not row[5], row[5] > 0)
            for row in rows
            if (row[6:] or (0,))[0] != 1
        ]
        references = {}
        for row in _rows(connection, at + "foreign_key_list(" + _quoted(name) + ")"):
            own, _, theirs = references.setdefault(row[0], ([], _text(row[2]), []))
            own.append(_text(row[3]))
            if row[4] is not None:
                theirs.append(_text(row[4]))
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


def _rows(connection, query):
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
    return {_text(name): _text(path or "") for _, name, path in _rows(connection, "PRAGMA database_list")}


class _DuckDb(_Connection):
    kind = "duckdb"

    def __init__(self, connection):
        self._connection = connection
        self._cursor = None
        self._places = {}
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
        where = " WHERE database_name = ? AND schema_name = ? AND table_name = ?"
        keys, references = set(), []
        kinds = "SELECT constraint_type, constraint_column_names, constraint_text FROM duckdb_constraints()"
        for kind, own, text in self._all(kinds + where, *place):
            if kind == "PRIMARY KEY":
                keys.update(own)
            elif kind == "FOREIGN KEY":
                table, _, theirs = (text or "").rpartition("REFERENCES ")[2].partition("(")
                theirs = [one.strip() for one in theirs.strip(" )").split(",")]
                references.append((list(own), table.strip(), theirs))
        query = "SELECT column_name, data_type, is_nullable FROM duckdb_columns()"
        found = self._all(query + where + " ORDER BY column_index", *place)
        columns = [(column, kind, null, column in keys) for column, kind, null in found]
        return columns, references

    def _all(self, query, *values):
        return self._cursor.execute(query, list(values)).fetchall()


class _DuckDbFile(_DuckDb):
    """A file that an engine knows, through a connection of our own."""

    def __init__(self, engine):
        super().__init__(None)
        self._engine = engine

    def is_connected(self):
        return _has_connected(self._engine)

    def place(self):
        return self._engine.url.database

    def open(self):
        made = self._engine.pool._creator()
        self._connection = getattr(made, "_ConnectionWrapper__c", made)
        super().open()

    def close(self):
        super().close()
        if self._connection is not None:
            self._connection.close()


class _SqlAlchemy(_Connection):
    def __init__(self, engine):
        self._engine = engine
        self._connection = None
        self._known = {}
        self.kind = engine.dialect.name

    def is_connected(self):
        return _has_connected(self._engine)

    def open(self):
        import sqlalchemy
        from sqlalchemy.pool import NullPool

        # Neither one of the person's pool, which would lack it, nor in their transaction; but set up as theirs are.
        theirs = self._engine
        pool = NullPool(theirs.pool._creator, dialect=theirs.dialect, _dispatch=theirs.pool.dispatch)
        self._connection = sqlalchemy.engine.Engine(pool, theirs.dialect, theirs.url).connect()
        self._inspector = sqlalchemy.inspect(self._connection)

    def close(self):
        if self._connection is not None:
            self._connection.close()

    def place(self):
        url = self._engine.url
        # Not the whole address: there may be a password in it, under any name. One with an @ in it looks like the host.
        host = (url.host or "").rpartition("@")[2]
        return "/".join(str(part) for part in (host, url.database) if part)

    def without_secrets(self, text):
        url = self._engine.url
        secrets = [str(url.password or ""), (url.host or "").rpartition("@")[0], *map(str, dict(url.query).values())]
        given = _given_to(self._engine).get("cparams") or {}
        secrets += [str(value) for name, value in given.items() if re.fullmatch(_SECRETIVE, name)]
        if any(0 < len(one) < 4 for one in secrets):
            return text.split(":")[0]
        for one in filter(None, secrets):
            text = text.replace(one, "***")
        return super().without_secrets(text)

    def tables(self):
        inspector = self._inspector
        usual = inspector.default_schema_name
        if usual is not None or self.kind not in ("mysql", "mariadb"):
            yield from self._in(None)
        others = [one for one in inspector.get_schema_names() if one != usual and not _is_system(one, self.kind)]
        self.is_cut = len(others) > _MOST_SCHEMAS
        for schema in others[:_MOST_SCHEMAS]:
            yield from self._in(schema)

    def _in(self, schema):
        for name in self._inspector.get_table_names(schema=schema):
            yield schema, str(name), False
        for method in ("get_view_names", "get_materialized_view_names"):
            try:
                views = getattr(self._inspector, method)(schema=schema)
            except (AttributeError, NotImplementedError):
                continue
            for name in views:
                yield schema, str(name), True

    def describe(self, schema, name):
        keys = self._of("get_pk_constraint", schema, name, {}).get("constrained_columns") or ()
        columns = [
            (one["name"], str(one["type"]), one.get("nullable", True) and one["name"] not in keys, one["name"] in keys)
            for one in self._of("get_columns", schema, name, [])
        ]
        references = [
            (
                one["constrained_columns"],
                ".".join(part for part in (one.get("referred_schema"), one["referred_table"]) if part),
                one["referred_columns"],
            )
            for one in self._of("get_foreign_keys", schema, name, [])
        ]
        return columns, references

    def _of(self, method, schema, name, nothing):
        """What the catalogue says of a table; of all in its schema at once, where that can be asked."""
        many = getattr(self._inspector, method.replace("get_", "get_multi_"), None)
        if many is None or self.is_for_one:
            return getattr(self._inspector, method)(name, schema=schema)
        if (method, schema) not in self._known:
            from sqlalchemy.engine.reflection import ObjectKind

            self._known[method, schema] = many(schema=schema, kind=ObjectKind.ANY)
        return self._known[method, schema].get((schema, name), nothing)


def _is_system(schema, dialect):
    known = _SYSTEM_SCHEMAS.get(dialect)
    return known.fullmatch(schema) is not None if known else schema.lower() == "information_schema"


def _quoted(name):
    return '"' + name.replace('"', '""') + '"'


def _text(value):
    # A connection may have been told to give its texts as bytes.
    return value.decode("utf-8", "replace") if isinstance(value, (bytes, bytearray)) else str(value)


def short(value):
    text = str(value)
    text = text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
    # Half a pair of surrogates is no text for others.
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def said(error):
    # Only the first line: the others may have values in them.
    try:
        return type(error).__name__ + ": " + (str(error).strip() or "it said nothing").split("\n")[0]
    except Exception:  # noqa: BLE001 -- as in ``_variables_probe``
        return type(error).__name__
