"""How temporary tables on a server are asked for, in a kernel. It is sent with ``_databases_probe``.

Only the connection that made them sees them. A driver that can ask in one step, in which nothing begins, does.
"""
# mypy: ignore-errors
# As in ``_variables_probe``.

import sys

_kinds = sys.modules["_hdsp_agent_database_kinds"]
_LOCKED_SECONDS = 0.2
"""How long somebody else may use a connection."""
_IDLE = 0
"""libpq's word for a connection without a transaction, and for a statement that gave rows."""
_ROWS = 2
SCHEMA = "pg_temp"
_QUERY = """
SELECT c.relname, c.relkind = 'v', a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod), NOT a.attnotnull,
    EXISTS (SELECT 1 FROM pg_catalog.pg_index i
        WHERE i.indrelid = c.oid AND i.indisprimary AND a.attnum = ANY (i.indkey))
FROM pg_catalog.pg_class c LEFT JOIN pg_catalog.pg_attribute a
    ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE c.relnamespace = pg_catalog.pg_my_temp_schema() AND c.relkind IN ('r', 'p', 'v', 'f')
ORDER BY c.relname, a.attnum
"""


class Temporary(_kinds.FoundDatabase):
    """The temporary tables that an open connection alone sees. It is asked only where nobody can notice."""

    is_implied = True

    def __init__(self, engine, raw, key, place):
        self._raw = raw
        self._place = place
        self._found = {}
        self.engine_key = id(engine.pool)
        self.kind = engine.dialect.name
        self.key = key

    def place(self):
        return self._place

    def tables(self):
        try:
            rows = self._rows()
        except _Unseen as error:
            self.left_out = error.reason
            return
        for name, is_view, column, kind, null, key in rows:
            _, columns = self._found.setdefault(name, (is_view, []))
            if column is not None:
                columns.append((column, kind, null, key))
        for name, (is_view, _) in self._found.items():
            yield SCHEMA, name, is_view

    def describe(self, schema, name):
        return self._found[name][1], []

    def _rows(self):
        raw = self._raw
        families = _kinds.families_of(raw)
        if self.kind == "postgresql" and ("psycopg", "Connection") in families:
            return _rows_of_psycopg(raw)
        if self.kind == "postgresql" and ("psycopg2", "connection") in families:
            return _rows_of_psycopg2(raw)
        raise _Unseen("own_connection")


class _Unseen(Exception):
    def __init__(self, reason):
        super().__init__(reason)
        self.reason = reason


def _rows_of_psycopg(raw):
    # While the lock is ours nobody begins anything; and what is sent below psycopg begins no transaction.
    if not raw.lock.acquire(timeout=_LOCKED_SECONDS):
        raise _Unseen("in_transaction")
    try:
        if raw.pgconn.transaction_status != _IDLE:
            raise _Unseen("in_transaction")
        found = raw.pgconn.exec_(_QUERY.encode())
        if found.status != _ROWS:
            raise _Unseen("own_connection")
        rows = [[found.get_value(row, column) for column in range(6)] for row in range(found.ntuples)]
    finally:
        raw.lock.release()
    return [_as_told([None if one is None else _kinds.text_of(one) for one in row]) for row in rows]


def _rows_of_psycopg2(raw):
    # Without autocommit it would begin a transaction, and a cell may go on in that before we end it.
    if not raw.autocommit:
        raise _Unseen("own_connection")
    if raw.get_transaction_status() != _IDLE:
        raise _Unseen("in_transaction")
    # Not one of the person's own making.
    with sys.modules["psycopg2.extensions"].cursor(raw) as cursor:
        cursor.execute(_QUERY)
        return [_as_told(row) for row in cursor.fetchall()]


def _as_told(row):
    name, is_view, column, kind, null, key = row
    return name, is_view in (True, "t"), column, kind, null in (True, "t"), key in (True, "t")
