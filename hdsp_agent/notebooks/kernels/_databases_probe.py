"""Tells which tables the databases have that a kernel is connected to. It is sent with ``_variables_probe`` and runs there.

It asks the catalogue alone and reads no row. What a person is in the middle of stays as it is: no transaction of theirs
begins or ends, and no result of theirs is taken.
"""
# mypy: ignore-errors
# As there.

import sys
import threading
import time

_LONGEST = 200
"""Characters of a name or a type."""
_MOST_SCHEMAS = 20
_FREE_SECONDS = 0.5
"""A kernel that has not begun by then runs a cell."""
_SYSTEM_SCHEMAS = {"information_schema", "pg_catalog", "performance_schema", "mysql", "sys"}
_asked_still = {}
"""The threads that ask, by the connection; those that have ended are replaced."""


def answer(kernel, shell, asked, prepare, reply):
    """Reply with what the databases hold, or with ``later`` while a cell runs: some connections know one thread alone."""
    lock = threading.Lock()
    state = []

    def claim(what):
        with lock:
            if not state:
                state.append(what)
            return state[0] == what

    def begin():
        if not claim("begun"):
            return
        prepare()
        until = time.monotonic() + asked["seconds"]
        told, waited_for = [], []
        for name, connection in _connections(dict(shell.user_ns), asked.get("name")):
            found = {"name": _short(name)}
            told.append(found)
            # The first question of a new connection may go over a network: it gets a thread of its own.
            if connection.is_of_main_thread:
                _tell(connection, asked, until, found)
            else:
                waited_for.append((connection, found))

        def finish():
            prepare()
            reply({"databases": _with_answers(told, waited_for, asked, until, prepare)})

        threading.Thread(target=finish, name="hdsp-agent-databases", daemon=True).start()

    kernel.io_loop.add_callback(begin)

    def give_up():
        if claim("given up"):
            reply({"later": True})

    timer = threading.Timer(_FREE_SECONDS, give_up)
    timer.daemon = True
    timer.start()


def _with_answers(told, waited_for, asked, until, prepare):
    asking = [(found, *_ask_apart(connection, asked, until, prepare)) for connection, found in waited_for]
    for found, answered, thread in asking:
        thread.join(max(0.0, until - time.monotonic()))
        # A copy: whoever answers later must not change what is being sent.
        found.update(dict(answered))
        if not found.pop("ended", False):
            found.update(tables=[], more=0, error="it did not answer in time")
    return [found for found in told if not found.pop("is_implied", False) or found.get("tables")]


def _ask_apart(connection, asked, until, prepare):
    """Ask in a thread of its own, but in one at a time: the database may never answer."""
    answered = {}

    def work():
        prepare()
        _tell(connection, asked, until, answered)
        answered["ended"] = True

    thread = _asked_still.get(connection.key)
    if thread is None or not thread.is_alive():
        thread = _asked_still[connection.key] = threading.Thread(target=work, daemon=True)
        thread.start()
    return answered, thread


def _tell(connection, asked, until, found):
    """Put into ``found`` what a database holds."""
    found["kind"] = connection.kind
    if connection.is_implied:
        found["is_implied"] = True
    wanted = asked.get("table")
    tables, more = [], 0
    try:
        connection.open()
        found["place"] = _short(connection.place())
        for schema, name, is_view in connection.tables():
            if wanted is not None and wanted != [schema, name]:
                continue
            if len(tables) >= asked["most"] or time.monotonic() > until:
                more += 1
                continue
            one = {"schema_name": schema, "name": name, "is_view": bool(is_view)}
            if asked["columns"]:
                _add_columns(connection, schema, name, asked["columns"], one)
            tables.append(one)
    except Exception as error:  # noqa: BLE001 -- a driver may raise anything, and the others are told
        found["error"] = connection.without_secrets(_said(error))
    finally:
        connection.close()
    found.update(tables=tables, more=more)


def _add_columns(connection, schema, name, most, one):
    try:
        columns, references = connection.describe(schema, name)
    except Exception as error:  # noqa: BLE001 -- a view may name what is gone
        one["error"] = connection.without_secrets(_said(error))
        return
    one["columns"] = [
        {"name": _short(name), "type": _short(kind), "may_be_null": bool(null), "is_key": bool(key)}
        for name, kind, null, key in columns[:most]
    ]
    one["more_columns"] = max(0, len(columns) - most)
    one["references"] = [
        {
            "columns": [_short(each) for each in own],
            "table": _short(table),
            "their_columns": [_short(each) for each in theirs],
        }
        for own, table, theirs in references[:most]
    ]


# ---- what a kernel is connected to


def is_connection(value):
    """Whether tables can be told of it."""
    return _connection(value) is not None


def _connections(namespace, only=None):
    """Each database once, under the first name it has: variables, then those of the ``%sql`` magic, then DuckDB's own.

    With ``only`` the one of this name.
    """
    seen = set()
    candidates = [(name, value) for name, value in namespace.items() if name == only or not name.startswith("_")]
    candidates += _magic_connections()
    for name, value in candidates:
        if only not in (None, name):
            continue
        connection = _connection(value)
        if connection is not None and connection.key not in seen:
            seen.add(connection.key)
            yield name, connection
    duckdb = sys.modules.get("duckdb")
    try:
        usual = duckdb.default_connection() if duckdb is not None else None
    except Exception:  # noqa: BLE001 -- earlier versions have an object there
        usual = getattr(duckdb, "default_connection", None)
    connection = _connection(usual)
    if connection is not None and connection.key not in seen and only in (None, "duckdb"):
        connection.is_implied = True
        yield "duckdb", connection


def _magic_connections():
    """Those of ``%sql``, JupySQL's or ipython-sql's."""
    module = sys.modules.get("sql.connection")
    manager = getattr(module, "ConnectionManager", None) or getattr(module, "Connection", None)
    connections = getattr(manager, "connections", None)
    if not isinstance(connections, dict):
        return
    for key, one in list(connections.items()):
        for attribute in ("_connection_sqlalchemy", "internal_connection", "_connection"):
            value = getattr(one, attribute, None)
            if value is not None:
                yield "%sql " + _without_address(str(getattr(one, "alias", None) or key)), value
                break


def _without_address(name):
    """A name; of an address the end, where there are neither names of people nor passwords."""
    return name.split("?")[0].rsplit("@", 1)[-1].rsplit("://", 1)[-1].strip("/") if "://" in name else name


def _connection(value):
    """How to ask what a value is connected to; None if it is no connection. By its type: values may answer anything."""
    families = {(base.__module__.partition(".")[0], base.__name__) for base in type(value).__mro__}
    if ("sqlite3", "Connection") in families:
        return _Sqlite(value)
    if families & {("duckdb", "DuckDBPyConnection"), ("_duckdb", "DuckDBPyConnection")}:
        return _DuckDb(value)
    try:
        if ("sqlalchemy", "Engine") in families:
            return _of_engine(value)
        if ("sqlalchemy", "Connection") in families:
            return _of_engine(value.engine)
        if ("sqlalchemy", "Session") in families:
            bind = value.get_bind()
            return _of_engine(getattr(bind, "engine", bind))
    except Exception:  # noqa: BLE001 -- a session may be bound to nothing
        return None
    return None


def _of_engine(engine):
    pool = type(engine.pool).__name__
    if pool not in ("StaticPool", "SingletonThreadPool"):
        return _SqlAlchemy(engine)
    # Whoever asks for another connection gets the person's own, and what they have not committed would go with it.
    return _SharedSqlite(engine, pool == "StaticPool") if engine.dialect.name == "sqlite" else None


class _Connection:
    """One database."""

    is_of_main_thread = False
    is_implied = False
    """Whether nobody named it, so that it is told only when there is something in it."""

    def open(self):
        """Be ready for questions."""

    def close(self):
        """Give back what ``open`` took."""

    def without_secrets(self, text):
        """A driver's message without the password."""
        return text


class _Sqlite(_Connection):
    kind = "sqlite"
    # Where a connection was made is where it may be used.
    is_of_main_thread = True

    def __init__(self, connection):
        self._connection = connection
        self.key = id(connection)

    def place(self):
        return next((_text(path) for _, name, path in self._rows("PRAGMA database_list") if _text(name) == "main"), "")

    def tables(self):
        for _, name, _ in self._rows("PRAGMA database_list"):
            schema = _text(name)
            catalogue = "sqlite_temp_master" if schema == "temp" else _quoted(schema) + ".sqlite_master"
            # SQLite knows no parameter in the place of a catalogue.
            query = (
                "SELECT name, type FROM " + catalogue + " WHERE type IN ('table', 'view')"  # noqa: S608 -- quoted
                " AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
            )
            for table, kind in self._rows(query):
                yield (None if schema == "main" else schema), _text(table), _text(kind) == "view"

    def describe(self, schema, name):
        at = "PRAGMA " + _quoted(schema or "main") + "."
        # The first also tells what is computed; earlier SQLites answer it with nothing.
        rows = self._rows(at + "table_xinfo(" + _quoted(name) + ")") or self._rows(
            at + "table_info(" + _quoted(name) + ")"
        )
        columns = [
            (_text(row[1]), _text(row[2]), not row[3] and not row[5], row[5] > 0)
            for row in rows
            if (row[6:] or (0,))[0] != 1
        ]
        references = {}
        for row in self._rows(at + "foreign_key_list(" + _quoted(name) + ")"):
            own, _, theirs = references.setdefault(row[0], ([], _text(row[2]), []))
            own.append(_text(row[3]))
            if row[4] is not None:
                theirs.append(_text(row[4]))
        return columns, [references[key] for key in sorted(references)]

    def _rows(self, query):
        import sqlite3

        # Neither a subclass's cursors nor the person's form of rows.
        cursor = sqlite3.Connection.cursor(self._connection)
        cursor.row_factory = None
        try:
            return cursor.execute(query).fetchall()
        finally:
            cursor.close()


class _SharedSqlite(_Sqlite):
    """An engine's only connection, or its only one in this thread."""

    def __init__(self, engine, is_only):
        super().__init__(None)
        self._engine = engine
        self._is_only = is_only
        self._taken = None
        self.key = id(engine)

    def open(self):
        if self._is_only:
            # To take it and give it back would end its transaction.
            self._connection = self._engine.pool.connection.dbapi_connection
        else:
            self._taken = self._engine.raw_connection()
            self._connection = self._taken.driver_connection

    def close(self):
        if self._taken is not None:
            self._taken.close()


class _DuckDb(_Connection):
    kind = "duckdb"

    def __init__(self, connection):
        self._connection = connection
        self._cursor = None
        self.key = id(connection)

    def open(self):
        # A connection's own result would be replaced by ours.
        self._cursor = self._connection.cursor()
        self._database, self._schema = self._rows("SELECT current_database(), current_schema()")[0]

    def close(self):
        if self._cursor is not None:
            self._cursor.close()

    def place(self):
        found = self._rows("SELECT path FROM duckdb_databases() WHERE database_name = ?", self._database)
        return (found[0][0] if found else None) or ""

    def tables(self):
        query = (
            "SELECT database_name, schema_name, table_name, false FROM duckdb_tables() WHERE NOT internal UNION ALL "
            "SELECT database_name, schema_name, view_name, true FROM duckdb_views() WHERE NOT internal ORDER BY 1, 2, 3"
        )
        for database, schema, name, is_view in self._rows(query):
            if database == self._database:
                yield (None if schema == self._schema else schema), name, is_view
            else:
                yield database + "." + schema, name, is_view

    def describe(self, schema, name):
        database, _, inner = (schema or self._schema).rpartition(".")
        place = (database or self._database, inner, name)
        where = " WHERE database_name = ? AND schema_name = ? AND table_name = ?"
        keys, references = set(), []
        kinds = "SELECT constraint_type, constraint_column_names, constraint_text FROM duckdb_constraints()" + where  # noqa: S608 -- ours
        for kind, own, text in self._rows(kinds, *place):
            if kind == "PRIMARY KEY":
                keys.update(own)
            elif kind == "FOREIGN KEY":
                table, _, theirs = (text or "").rpartition("REFERENCES ")[2].partition("(")
                theirs = [one.strip() for one in theirs.strip(" )").split(",")]
                references.append((list(own), table.strip(), theirs))
        query = "SELECT column_name, data_type, is_nullable FROM duckdb_columns()" + where  # noqa: S608 -- as above
        columns = [
            (column, kind, null, column in keys)
            for column, kind, null in self._rows(query + " ORDER BY column_index", *place)
        ]
        return columns, references

    def _rows(self, query, *values):
        return self._cursor.execute(query, list(values)).fetchall()


class _SqlAlchemy(_Connection):
    def __init__(self, engine):
        self._engine = engine
        self._connection = None
        self.key = id(engine)
        self.kind = engine.dialect.name

    def open(self):
        import sqlalchemy

        # Of its own: the person's would be in a transaction from then on.
        self._connection = self._engine.connect()
        self._inspector = sqlalchemy.inspect(self._connection)

    def close(self):
        if self._connection is not None:
            self._connection.close()

    def place(self):
        url = self._engine.url
        # Not the whole address: there may be a password in it, under any name.
        return "/".join(str(part) for part in (url.host, url.database) if part)

    def without_secrets(self, text):
        password = self._engine.url.password
        return text.replace(str(password), "***") if password else text

    def tables(self):
        inspector = self._inspector
        yield from self._in(None)
        usual = inspector.default_schema_name
        others = [one for one in inspector.get_schema_names() if one != usual and not _is_system(one)]
        for schema in others[:_MOST_SCHEMAS]:
            yield from self._in(schema)

    def _in(self, schema):
        for name in self._inspector.get_table_names(schema=schema):
            yield schema, str(name), False
        try:
            views = self._inspector.get_view_names(schema=schema)
        except NotImplementedError:
            views = []
        for name in views:
            yield schema, str(name), True

    def describe(self, schema, name):
        inspector = self._inspector
        keys = set(inspector.get_pk_constraint(name, schema=schema).get("constrained_columns") or ())
        columns = [
            (one["name"], str(one["type"]), one.get("nullable", True) and one["name"] not in keys, one["name"] in keys)
            for one in inspector.get_columns(name, schema=schema)
        ]
        references = [
            (
                one["constrained_columns"],
                ".".join(part for part in (one.get("referred_schema"), one["referred_table"]) if part),
                one["referred_columns"],
            )
            for one in inspector.get_foreign_keys(name, schema=schema)
        ]
        return columns, references


def _is_system(schema):
    return schema.lower() in _SYSTEM_SCHEMAS or schema.startswith("pg_")


def _quoted(name):
    return '"' + name.replace('"', '""') + '"'


def _text(value):
    # A connection may have been told to give its texts as bytes.
    return value.decode("utf-8", "replace") if isinstance(value, (bytes, bytearray)) else str(value)


def _short(value):
    text = str(value)
    text = text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
    # Half a pair of surrogates is no text for others.
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _said(error):
    # Only the first line: the others may have values in them, or the address with its password.
    try:
        return type(error).__name__ + ": " + _short(str(error).strip().split("\n")[0])
    except Exception:  # noqa: BLE001 -- as in ``_variables_probe``
        return type(error).__name__
