"""Tells which tables the databases have that a kernel is connected to. It is sent with ``_variables_probe`` and runs there.

Nothing is asked while a cell runs, each database that may take long in a thread of its own, and none for long. How each is
asked without a trace is in ``_database_kinds_probe`` and ``_sqlalchemy_probe``.
"""
# mypy: ignore-errors
# As there.

import asyncio
import contextlib
import sys
import threading
import time

_FREE_SECONDS = 0.5
"""A kernel that has not begun by then runs a cell."""
_RESERVE_SECONDS = 0.5
"""What is left for the answer when asking ends."""
_asked_still = {}
"""The threads that ask, by the connection; those that have ended are replaced."""
_lock = threading.Lock()


def answer(kernel, shell, asked, prepare, reply):
    """Reply with what the databases hold; with ``later`` while a cell runs, for it may be using them."""
    state = []

    def claim(what):
        with _lock:
            if not state:
                state.append(what)
            return state[0] == what

    def begin():
        if not claim("begun"):
            return
        prepare()
        try:
            if _runs_a_cell():
                reply({"later": True})
            else:
                # What has no text for a name cannot be called by it.
                named = {name: value for name, value in dict(shell.user_ns).items() if type(name) is str}
                _ask_all(named, asked, prepare, reply)
        except Exception as error:  # noqa: BLE001 -- whoever asked waits
            reply({"error": _kinds().short(_kinds().said(error))})

    kernel.io_loop.add_callback(begin)

    def give_up():
        if claim("given up"):
            reply({"later": True})

    timer = threading.Timer(_FREE_SECONDS, give_up)
    timer.daemon = True
    timer.start()


def _ask_all(namespace, asked, prepare, reply):
    until = time.monotonic() + asked["seconds"] - _RESERVE_SECONDS
    found = [
        ({"name": _kinds().short(name), "kind": one.kind}, one)
        for name, one in _connections(namespace, asked.get("name"))
    ]
    asking = [(told, *_ask_apart(one, asked, until, prepare)) for told, one in found if not one.is_of_main_thread]
    for told, connection in found:
        if connection.is_of_main_thread:
            _tell(connection, asked, until, told)
            told.pop("has_ended")

    def finish():
        prepare()
        for told, answered, thread in asking:
            thread.join(max(0.0, until + _RESERVE_SECONDS / 2 - time.monotonic()))
            # A copy: whoever answers later must not change what is being sent.
            told.update({key: list(one) if key == "tables" else one for key, one in dict(answered).items()})
            if not told.pop("has_ended", False):
                _add_error(told, _kinds().NotAsked("no_answer"))
                told["is_partial"] = True
        reply({"databases": _listed(found)})

    threading.Thread(target=finish, name="hdsp-agent-databases", daemon=True).start()


def _listed(found):
    """What is told: what nobody named only if there is something in it."""
    of_engines = {connection.key: told for told, connection in found}
    for told, connection in found:
        if connection.engine_key is not None and "left_out" in told:
            of_engines.get(connection.engine_key, {}).setdefault("left_out", told["left_out"])
    return [told for told, connection in found if not connection.is_implied or told.get("tables")]


def _runs_a_cell():
    """Whether a cell waits for something: the loop is free then, and the cell is not done."""
    for task in asyncio.all_tasks():
        at = task.get_coro()
        while at is not None:
            code = getattr(at, "cr_code", None)
            if code is not None and code.co_name == "execute_request":
                return True
            at = getattr(at, "cr_await", None)
    return False


def _ask_apart(connection, asked, until, prepare):
    """Ask in a thread of its own, but one question after the other: the database may never answer."""
    answered = {}

    def work():
        prepare()
        with _lock:
            earlier = _asked_still.get(connection.key)
        if earlier is not None:
            earlier.join(max(0.0, until - time.monotonic()))
            if earlier.is_alive():
                return
        with _lock:
            _asked_still[connection.key] = threading.current_thread()
        try:
            connection.run(lambda: _tell(connection, asked, until, answered), max(0.0, until - time.monotonic()))
        except Exception as error:  # noqa: BLE001 -- what runs it may be missing
            _add_error(answered, error)
            answered["has_ended"] = True

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return answered, thread


def _tell(connection, asked, until, found):
    """Put into ``found`` what a database holds, table by table."""
    tables = found["tables"] = []
    wanted = asked.get("table")
    connection.is_for_one = wanted is not None
    try:
        found["place"] = _kinds().short(connection.without_secrets(connection.place()))
        if not (asked["may_connect"] or connection.is_connected()):
            found["is_waiting"] = True
            return
        connection.open()
        for schema, name, is_view in connection.tables():
            if len(tables) >= asked["most"] or time.monotonic() > until:
                found["is_partial"] = True
                break
            if wanted not in (None, [schema, name]):
                continue
            one = {"schema_name": schema, "name": name, "is_view": bool(is_view)}
            if asked["columns"]:
                _add_columns(connection, schema, name, asked["columns"], one)
            tables.append(one)
            if wanted is not None:
                break
        if connection.is_cut:
            found["is_partial"] = True
        if connection.left_out is not None:
            found["left_out"] = connection.left_out
    except Exception as error:  # noqa: BLE001 -- a driver may raise anything, and the others are told
        _add_error(found, error, connection)
    finally:
        # What was found is told, whatever becomes of that.
        with contextlib.suppress(Exception):
            connection.close()
    # Not where it was given up.
    found["has_ended"] = True


def _add_error(found, error, connection=None):
    kinds = _kinds()
    text = (connection or kinds.FoundDatabase()).without_secrets(kinds.said(error))
    found["error"] = kinds.short(text)
    found["reason"] = error.reason if isinstance(error, kinds.NotAsked) else "failed"


def _add_columns(connection, schema, name, most, one):
    try:
        columns, references = connection.describe(schema, name)
    except Exception as error:  # noqa: BLE001 -- a view may name what is gone
        one["error"] = _kinds().short(connection.without_secrets(_kinds().said(error)))
        return
    one["columns"] = [
        {"name": _kinds().short(name), "type": _kinds().short(kind), "may_be_null": bool(null), "is_key": bool(key)}
        for name, kind, null, key in columns[:most]
    ]
    one["more_columns"] = max(0, len(columns) - most)
    one["references"] = [
        {
            "columns": [_kinds().short(each) for each in own],
            "table": _kinds().short(table),
            "their_columns": [_kinds().short(each) for each in theirs],
        }
        for own, table, theirs in references[:most]
    ]


# ---- what a kernel is connected to


def _connections(namespace, only=None):
    """Each database once, under the first name it has: variables, then those of the ``%sql`` magic, then DuckDB's own.

    With ``only`` the one of this name.
    """
    seen, names = set(), set()
    candidates = [(name, value) for name, value in namespace.items() if name == only or not name.startswith("_")]
    candidates += _magic_connections()
    for told, value in candidates:
        name, number = told, 1
        while name in names:
            number += 1
            name = f"{told} ({number})"
        connection = (
            _kinds().connection_of(value) if only is None or told == only or only.startswith(told + " (") else None
        )
        if connection is not None and connection.key in seen:
            connection = connection.apart()
        if connection is not None and connection.key not in seen:
            names.add(name)
            if only in (None, name):
                seen.add(connection.key)
                yield name, connection
    connection = _own_of_duckdb(namespace) if only in (None, "duckdb") else None
    if connection is not None and connection.key not in seen and "duckdb" not in names:
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
    return name.rsplit("@", 1)[-1].rsplit("://", 1)[-1].split("?")[0].strip("/") if "://" in name else name


def _own_of_duckdb(namespace):
    """DuckDB's own connection, which its functions use; the first question makes it, so only where people have DuckDB."""
    duckdb = sys.modules.get("duckdb")
    if duckdb is None or not any(value is duckdb for value in namespace.values()):
        return None
    try:
        return _kinds().connection_of(duckdb.default_connection())
    except Exception:  # noqa: BLE001 -- earlier versions have an object there
        return _kinds().connection_of(getattr(duckdb, "default_connection", None))


def _kinds():
    return sys.modules["_hdsp_agent_database_kinds"]
