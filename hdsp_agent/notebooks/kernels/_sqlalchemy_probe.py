"""How what works with SQLAlchemy is asked for its tables, in a kernel. It is sent with ``_databases_probe``.

An engine is asked through a connection of our own, made as it makes its own; an async one by its own driver, in a loop of
our own. Code of the person's that makes connections is not called: it may give us theirs, or ask them something. What
their pool can spare is asked then, and for temporary tables their own connection, where they cannot notice.
"""
# mypy: ignore-errors
# As in ``_variables_probe``.

import asyncio
import contextlib
import os
import re
import sys
import types
from urllib.parse import unquote, urlsplit

_kinds = sys.modules["_hdsp_agent_database_kinds"]
_temporary_tables = sys.modules["_hdsp_agent_temporary_tables"]
_MOST_SCHEMAS = 50
_AT_ONCE = 50
"""Tables whose columns are asked for together."""
_LOCK_LIMIT = "SET lock_timeout = 200"
"""How many milliseconds somebody else may lock a table."""
_SYSTEM_SCHEMAS = {
    "mssql": re.compile(
        r"(?i)sys|guest|information_schema|db_(owner|accessadmin|securityadmin|ddladmin|backupoperator)"
        r"|db_(deny)?data(reader|writer)"
    ),
    "mysql": re.compile(r"(?i)information_schema|performance_schema|mysql|sys"),
    "postgresql": re.compile(r"information_schema|pg_.*"),
}
_SYSTEM_SCHEMAS["mariadb"] = _SYSTEM_SCHEMAS["mysql"]


def connection_of(value):
    """How to ask what a value is bound to."""
    engine, held = _bound(value)
    if engine is None:
        raise LookupError("it is bound to no engine")
    if engine.dialect.name == "sqlite":
        told = _of_sqlite(engine)
    elif engine.dialect.name == "duckdb":
        told = _of_duckdb(engine, held)
    elif _makes_its_own(engine):
        told = _Engine(engine, held)
    elif engine.dialect.is_async:
        # What its pool has belongs to the loop that runs the cells.
        told = _not_asked(engine, "own_way")
    else:
        told = _EngineWithPool(engine, held)
    told.key = id(engine.pool)
    return told


def _bound(value):
    """The engine that a value works with, and what of it may have temporary tables: an open connection, or a session."""
    names = _names(value)
    if names & {"scoped_session", "async_scoped_session"}:
        value = value.session_factory
        names = _names(value)
    if names & {"sessionmaker", "async_sessionmaker"}:
        value = value.kw.get("bind")
        names = _names(value)
    if "AsyncSession" in names:
        value = value.sync_session
        names = _names(value)
    held = None
    if "Session" in names:
        held = value if value.in_transaction() else None
        value = value.get_bind()
        names = _names(value)
    if "Connection" in names:
        return value.engine, value
    if "AsyncConnection" in names:
        return value.sync_engine, value.sync_connection
    return (value.sync_engine if "AsyncEngine" in names else value), held


def _names(value):
    return {name for package, name in _kinds.families_of(value) if package == "sqlalchemy"}


def _of_sqlite(engine):
    is_async = engine.dialect.is_async
    raw = _only_connection(engine.pool)
    if raw is not None and not is_async:
        return _kinds.connection_of(raw)
    # Where the engine looks for its file, wherever one has gone since.
    given = _given_to(engine)
    path = next(iter(given.get("cargs_tup") or given.get("cargs") or ()), "")
    if path.startswith("file:"):
        address = urlsplit(path)
        path = "" if "mode=memory" in address.query else unquote(address.path)
    if path not in ("", ":memory:"):
        return _kinds.Sqlite(None, {"main": path})
    if is_async:
        return _not_asked(engine, "each_its_own" if given else "own_way") if raw is None else _AioSqlite(raw)
    raw = _resting_connection(engine.pool)
    if raw is not None and not given:
        return _kinds.connection_of(raw)
    return _not_asked(engine, "each_its_own" if given else "own_way")


def _of_duckdb(engine, held):
    raw = _only_connection(engine.pool) or _open_connection(held) or _resting_connection(engine.pool)
    if raw is not None:
        # A cursor of its own leaves it alone.
        return _kinds.connection_of(getattr(raw, "_ConnectionWrapper__c", raw))
    if not _makes_its_own(engine):
        return _not_asked(engine, "own_way")
    if engine.url.database in (None, "", ":memory:"):
        return _not_asked(engine, "each_its_own")
    if not os.path.exists(engine.url.database):
        # To ask would make it.
        return _not_asked(engine, "no_file")
    return _DuckDbFile(engine)


def _not_asked(engine, reason):
    return _kinds.Unusable(engine, _kinds.NotAsked(reason), engine.dialect.name)


def _makes_its_own(engine):
    """Whether its connections are SQLAlchemy's own doing, and not that of code of the person's."""
    return bool(_given_to(engine)) and not len(engine.dialect.dispatch.do_connect)


def _given_to(engine):
    """What an engine connects with; nothing if somebody else makes its connections."""
    creator = engine.pool._creator
    if getattr(creator, "__module__", None) != "sqlalchemy.engine.create":
        return {}
    names = creator.__code__.co_freevars
    return {name: creator.__closure__[at].cell_contents for at, name in enumerate(names)}


def _has_connected(engine):
    # Found out with the first connection; there may be none.
    return "default_schema_name" in vars(engine.dialect)


def _place(engine):
    url = engine.url
    # Not the whole address: there may be a password in it, under any name. One with an @ in it looks like the host.
    host = (url.host or "").rpartition("@")[2]
    return "/".join(str(part) for part in (host, url.database) if part)


# ---- what a pool has


def _kinds_of_pool(pool):
    return {base.__name__ for base in type(pool).__mro__}


def _only_connection(pool):
    """The connection of a pool that has one for all, or one for this thread. It is not taken from there:

    giving it back would end its transaction.
    """
    kinds = _kinds_of_pool(pool)
    if "StaticPool" in kinds:
        return _driver_of(pool.__dict__.get("connection"))
    if "SingletonThreadPool" in kinds:
        current = getattr(pool._conn, "current", None)
        return None if current is None else _driver_of(current())
    return None


def _resting_connection(pool):
    """One that nobody has taken from a pool; it stays there."""
    waiting = getattr(getattr(pool, "_pool", None), "queue", None)
    return _driver_of(waiting[-1]) if waiting else None


def _open_connection(held):
    """The driver's connection behind one that is open. To ask for it would connect anew where it was lost."""
    return _driver_of(getattr(held, "_dbapi_connection", None))


def _driver_of(record):
    return getattr(record, "dbapi_connection", None) or getattr(record, "connection", None)


@contextlib.contextmanager
def _taken(pool):
    """A connection out of a pool, which the pool can do without and that nobody else has."""
    record = None
    # One that is not rolled back when it is given back may be in the middle of something.
    if "QueuePool" in _kinds_of_pool(pool) and pool._reset_on_return.name != "reset_none":
        with contextlib.suppress(Exception):
            record = pool._pool.get(False)
    try:
        if record is None or _is_last(pool) or _references(record) > _references(_NOBODYS):
            raise _kinds.NotAsked("own_way")
        yield _driver_of(record)
    finally:
        if record is not None:
            pool._do_return_conn(record)


def _is_last(pool):
    return 0 <= pool._max_overflow <= pool._overflow and pool.checkedin() == 0


def _references(record):
    return sys.getrefcount(_driver_of(record))


class _Nobody:
    pass


_NOBODYS = types.SimpleNamespace(dbapi_connection=_Nobody())


# ---- how each is asked


class _InLoop:
    """What has to be awaited: in a loop of our own, for theirs runs their cells."""

    def run(self, ask, seconds):
        from sqlalchemy.util import greenlet_spawn

        # Not that of the policy: some drivers cannot do with each loop.
        loop = asyncio.SelectorEventLoop()
        try:
            with contextlib.suppress(asyncio.TimeoutError):
                loop.run_until_complete(asyncio.wait_for(greenlet_spawn(ask), seconds))  # noqa: TID251 -- not our Python
        finally:
            loop.close()


class _AioSqlite(_InLoop, _kinds.Sqlite):
    """What aiosqlite has in memory, asked in the thread that it keeps for that."""

    def __init__(self, adapted):
        self._driver = adapted.driver_connection
        super().__init__(self._driver._conn, {"main": ""})
        self.is_of_main_thread = False

    def open(self):
        self._files = _kinds.files_in(self._rows(self._theirs, "PRAGMA database_list"))

    def _rows(self, connection, query):
        if connection is not self._theirs:
            return super()._rows(connection, query)
        from sqlalchemy.util import await_only

        return await_only(self._driver._execute(_kinds.rows_of, connection, query))


class _DuckDbFile(_kinds.DuckDb):
    """A file that an engine knows, through a connection of our own."""

    left_out = None

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


class _Engine(_InLoop, _kinds.FoundDatabase):
    def __init__(self, engine, held):
        self._engine = engine
        self._connection = None
        self._names = {}
        self._known = {}
        self._at_once = _AT_ONCE
        self._temporary = _temporary_of(engine, held)
        self.kind = engine.dialect.name

    def run(self, ask, seconds):
        if self._engine.dialect.is_async:
            super().run(ask, seconds)
        else:
            ask()

    def apart(self):
        return self._temporary

    def is_connected(self):
        return _has_connected(self._engine)

    def open(self):
        from sqlalchemy.pool import NullPool

        # Neither one of the person's pool, which would lack it, nor in their transaction; but set up as theirs are.
        theirs = self._engine
        self._connect(NullPool(theirs.pool._creator, dialect=theirs.dialect, _dispatch=theirs.pool.dispatch))

    def _connect(self, pool):
        import sqlalchemy

        self._connection = sqlalchemy.engine.Engine(pool, self._engine.dialect, self._engine.url).connect()
        self._inspector = sqlalchemy.inspect(self._connection)
        self._wait_for_nobody()

    def _wait_for_nobody(self):
        """The person may have locked a table, as by a change of it that they have not committed."""
        if self.kind == "postgresql":
            try:
                self._connection.exec_driver_sql(_LOCK_LIMIT)
            except Exception:  # noqa: BLE001 -- not all that speak like it know that
                self._connection.connection.rollback()

    def _begin_anew(self):
        self._connection.connection.rollback()
        self._wait_for_nobody()

    def close(self):
        if self._connection is not None:
            self._connection.close()

    def place(self):
        return _place(self._engine)

    def without_secrets(self, text):
        url = self._engine.url
        secrets = [str(url.password or ""), (url.host or "").rpartition("@")[0], *map(str, dict(url.query).values())]
        given = _given_to(self._engine).get("cparams") or {}
        secrets += [str(value) for name, value in given.items() if re.fullmatch(_kinds.SECRETIVE, name)]
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
        if self._temporary is not None:
            yield from self._temporary.tables()
            self.left_out = self._temporary.left_out

    def _in(self, schema):
        for method in ("get_table_names", "get_view_names", "get_materialized_view_names"):
            try:
                found = getattr(self._inspector, method)(schema=schema)
            except (AttributeError, NotImplementedError):
                continue
            self._names[schema] = found
            for name in found:
                yield schema, str(name), method != "get_table_names"

    def describe(self, schema, name):
        if schema == _temporary_tables.SCHEMA and self._temporary is not None:
            return self._temporary.describe(schema, name)
        try:
            return self._described(schema, name)
        except Exception:
            self._begin_anew()
            if self.is_for_one or self._at_once == 1:
                raise
        # One of those that are asked for together may be what cannot be read.
        self._at_once = 1
        return self.describe(schema, name)

    def _described(self, schema, name):
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
        """What the catalogue says of a table; of the next ones, too, where that can be asked at once."""
        many = getattr(self._inspector, method.replace("get_", "get_multi_"), None)
        if many is None or self.is_for_one:
            return getattr(self._inspector, method)(name, schema=schema)
        known = self._known.get((method, schema))
        if known is None or name not in known:
            from sqlalchemy.engine.reflection import ObjectKind

            # Of all it may take longer than there is time.
            at = self._names[schema].index(name)
            asked = self._names[schema][at : at + self._at_once]
            found = many(schema=schema, kind=ObjectKind.ANY, filter_names=asked)
            known = self._known[method, schema] = {one: found.get((schema, one), nothing) for one in asked}
        return known[name]


class _EngineWithPool(_Engine):
    """One whose connections the person's code makes, through one that its pool has to spare."""

    def __init__(self, engine, held):
        super().__init__(engine, held)
        self._resources = contextlib.ExitStack()

    def open(self):
        from sqlalchemy.pool import StaticPool

        made = [self._resources.enter_context(_taken(self._engine.pool))]
        self._connect(StaticPool(made.pop, dialect=self._engine.dialect))

    def is_connected(self):
        # There is nothing to connect to it with.
        return True

    def close(self):
        fairy = getattr(self._connection, "_dbapi_connection", None)
        record = getattr(fairy, "_connection_record", None)
        with self._resources:
            super().close()
            if record is not None:
                # Or it would look as if somebody else had it.
                record.dbapi_connection = None


def _temporary_of(engine, held):
    # A session gives its connection back when its transaction ends.
    raw = held if "Session" in _names(held) else _open_connection(held)
    if raw is None:
        return None
    return _temporary_tables.Temporary(engine, raw, id(held), _place(engine))


def _is_system(schema, dialect):
    known = _SYSTEM_SCHEMAS.get(dialect)
    return known.fullmatch(schema) is not None if known else schema.lower() == "information_schema"
