"""Engines, connections and sessions of SQLAlchemy: each form of them, on real databases, in each version that people have."""

from __future__ import annotations

from pathlib import Path

import pytest

from hdsp_agent.errors import Unavailable
from hdsp_agent.notebooks.kernels import DatabaseLimits, schema_text
from hdsp_agent.notebooks.kernels._databases import read_schema

from ._helpers.database_kernels import database_kernel, databases, ended_well, names
from ._helpers.executors import NOTEBOOK, text_of

TABLES = {"customers", "orders", "large"}


# ---- async


@pytest.mark.parametrize("driver", ["psycopg", "asyncpg"])
async def test_async_engines_are_asked_apart_from_their_pool_and_loop(
    tmp_path: Path, postgres: str, driver: str
) -> None:
    place = postgres.replace("+psycopg", f"+{driver}")
    async with database_kernel(tmp_path) as work:
        ended_well(
            await work.run(
                "from sqlalchemy import text\nfrom sqlalchemy.ext.asyncio import *\n"
                f"engine = create_async_engine({place!r}, pool_size=1, max_overflow=0)\n"
                "Maker = async_sessionmaker(engine); session = Maker(); held = await engine.connect()\n"
                "for one in TABLES: await held.execute(text(one))\n"
                "await held.commit(); _ = await held.execute(text(\"insert into customers values (1, 'Ann')\"))"
            )
        )
        found = await databases(work)
        assert list(found) == ["engine"] and set(names(found["engine"])) == TABLES
        assert (found["engine"].kind, found["engine"].left_out) == ("postgresql", "own_connection")
        for name in ("engine", "Maker", "session", "held"):
            text = schema_text(await work.executor.schema(NOTEBOOK, name, (None, "orders")))
            assert "  customer INTEGER, references customers(id)\n  total REAL" in text
        state = await work.cell(
            "held.in_transaction(), engine.pool.checkedout(), (await held.execute(text('select count(*) from customers'))).scalar()"
        )
        assert text_of(state) == "(True, 1, 1)"


async def test_what_is_async_and_in_memory_is_asked_where_it_lives(tmp_path: Path) -> None:
    async with database_kernel(tmp_path) as work:
        ended_well(
            await work.run(
                "from sqlalchemy import text\nfrom sqlalchemy.ext.asyncio import *\n"
                "memory = create_async_engine('sqlite+aiosqlite://'); held = await memory.connect()\n"
                "for one in [*TABLES, 'create temp table draft (x)', \"attach 'other.db' as other\"]:\n"
                "    await held.execute(text(one))\n"
                "await held.commit(); _ = await held.execute(text(\"insert into customers values (1, 'Ann')\"))\n"
                "file = create_async_engine('sqlite+aiosqlite:///shop.db')\n"
                "async with file.begin() as one: _ = await one.execute(text('create table t (x)'))\ndel one"
            )
        )
        found = await databases(work)
        assert {name: set(names(one)) for name, one in found.items()} == {
            "memory": {*TABLES, "temp.draft"},
            "file": {"t"},
        }
        text = schema_text(await work.executor.schema(NOTEBOOK, "memory"))
        assert "Table customers\n  id INTEGER, primary key\n  name TEXT, not null" in text
        state = await work.cell(
            "held.in_transaction(), (await held.execute(text('select count(*) from customers'))).scalar()"
        )
        assert text_of(state) == "(True, 1)"


@pytest.mark.parametrize("driver", ["psycopg", "asyncpg"])
async def test_an_async_driver_that_waits_too_long_is_ended(tmp_path: Path, driver: str) -> None:
    async with database_kernel(tmp_path) as work:
        ended_well(
            await work.run(
                "import socket\nfrom sqlalchemy.ext.asyncio import *\n"
                "deaf = socket.create_server(('127.0.0.1', 0))\n"
                f"engine = create_async_engine('postgresql+{driver}://ann@127.0.0.1:%d/db' % deaf.getsockname()[1])"
            )
        )
        assert (await databases(work))["engine"].is_waiting
        link, soon = await work.executor.link(NOTEBOOK), DatabaseLimits(seconds=0.8)
        with pytest.raises(Unavailable, match="did not answer in time"):
            await read_schema(link, "engine", None, soon, may_connect=True)
        # It hangs up: this waits for it.
        ended_well(await work.run("import gc; gc.collect(); peer, _ = deaf.accept()\nwhile peer.recv(4096): pass"))


# ---- what only leads to an engine


async def test_makers_of_sessions_tell_their_engine(tmp_path: Path) -> None:
    async with database_kernel(tmp_path) as work:
        ended_well(
            await work.run(
                "import sqlalchemy as sa, sqlalchemy.orm as orm\n"
                "def engine(name):\n"
                "    made = sa.create_engine(f'sqlite:///{name}.db')\n"
                "    with made.begin() as one: one.exec_driver_sql(f'create table {name} (x)')\n"
                "    return made\n"
                "Maker = orm.sessionmaker(engine('a')); Scoped = orm.scoped_session(orm.sessionmaker(engine('b')))\n"
                "session = orm.Session(engine('c').connect()); Unbound = orm.sessionmaker()\n"
                "base = engine('d'); option = base.execution_options(isolation_level='AUTOCOMMIT')"
            )
        )
        found = await databases(work)
        assert {name: names(one) for name, one in found.items()} == {
            "Maker": ["a"],
            "Scoped": ["b"],
            "session": ["c"],
            "Unbound": [],
            "base": ["d"],
        }
        assert found["Unbound"].error == "LookupError: it is bound to no engine"


# ---- connections that the person's code makes


@pytest.mark.parametrize(
    "way", ["creator=connect", "**{}); sa.event.listen(engine, 'do_connect', lambda *_: connect()"]
)
async def test_an_engine_with_a_way_of_its_own_is_asked_through_what_rests_in_its_pool(
    tmp_path: Path, postgres: str, way: str
) -> None:
    async with database_kernel(tmp_path) as work:
        ended_well(
            await work.run(
                f"import psycopg, sqlalchemy as sa; made = []; place = {postgres.replace('+psycopg', '')!r}\n"
                "def connect(): made.append(1); return psycopg.connect(place)\n"
                f"engine = sa.create_engine('postgresql+psycopg://', {way})\n"
                "held, resting = engine.connect(), engine.connect()\n"
                "for one in TABLES: held.exec_driver_sql(one)\n"
                "held.commit(); held.exec_driver_sql(\"insert into customers values (1, 'Ann')\")"
            )
        )
        # Both are in use.
        assert (await databases(work))["engine"].reason == "own_way"
        ended_well(await work.run("resting.close()"))
        found = await databases(work)
        assert list(found) == ["engine"] and set(names(found["engine"])) == TABLES
        text = schema_text(await work.executor.schema(NOTEBOOK, "engine", (None, "orders")))
        assert "  customer INTEGER, references customers(id)" in text
        state = await work.cell(
            "len(made), held.in_transaction(), engine.pool.checkedin(), engine.pool.checkedout(),"
            " held.exec_driver_sql('select count(*) from customers').scalar()"
        )
        assert text_of(state) == "(2, True, 1, 1, 1)"


@pytest.mark.parametrize(
    "options",
    [
        "creator=lambda: con",
        "creator=connect, pool_size=1, max_overflow=0",
        "creator=connect, pool_reset_on_return=None",
    ],
)
async def test_what_others_have_or_need_is_not_taken_from_a_pool(tmp_path: Path, postgres: str, options: str) -> None:
    async with database_kernel(tmp_path) as work:
        ended_well(
            await work.run(
                f"import psycopg, sqlalchemy as sa; connect = lambda: psycopg.connect({postgres.replace('+psycopg', '')!r})\n"
                f"con = connect(); engine = sa.create_engine('postgresql+psycopg://', {options})\n"
                "with engine.begin() as made: made.exec_driver_sql('create table t (x int)')\n"
                "del made; idle = engine.pool.checkedin()"
            )
        )
        found = await databases(work)
        assert (list(found), found["engine"].reason) == (["engine"], "own_way")
        assert text_of(await work.cell("idle, engine.pool.checkedin()")) == "(1, 1)"


async def test_files_of_engines_that_make_connections_themselves(tmp_path: Path) -> None:
    async with database_kernel(tmp_path) as work:
        ended_well(
            await work.run(
                "import duckdb, sqlite3, sqlalchemy as sa\n"
                "def engine(kind, connect):\n"
                "    made = sa.create_engine(kind + ':///other', creator=connect, poolclass=sa.QueuePool)\n"
                "    with made.begin() as one: one.exec_driver_sql('create table ' + kind + ' (x int)')\n"
                "    return made\n"
                "lite = engine('sqlite', lambda: sqlite3.connect('own.db'))\n"
                "memory = engine('sqlite', lambda: sqlite3.connect(':memory:'))"
            )
        )
        found = await databases(work)
        assert {name: names(one) for name, one in found.items()} == {"lite": ["sqlite"], "memory": ["sqlite"]}
        assert found["lite"].place == str(tmp_path / "own.db")


# ---- temporary tables


MAKE_TEMPORARY = (
    "held.exec_driver_sql('create table lasting (x int)')\n"
    "held.exec_driver_sql('create temp table draft (id int primary key, name varchar(9) not null)')\n"
    "held.exec_driver_sql('create temp view seen as select name from draft')\n"
)


async def test_temporary_tables_are_told_by_the_connection_that_has_them(tmp_path: Path, postgres: str) -> None:
    async with database_kernel(tmp_path) as work:
        ended_well(
            await work.run(
                f"import sqlalchemy as sa; engine = sa.create_engine({postgres!r}); held = engine.connect()\n"
                + MAKE_TEMPORARY
            )
        )
        found = await databases(work)
        assert list(found) == ["engine"] and found["engine"].left_out == "in_transaction"
        assert "has an open transaction)" in schema_text(await work.executor.schema(NOTEBOOK, "held"))
        ended_well(await work.run("held.commit(); other = engine.connect()"))
        found = await databases(work)
        assert {name: (names(one), one.left_out) for name, one in found.items()} == {
            "engine": (["lasting"], None),
            "held": (["pg_temp.draft", "pg_temp.seen"], None),
        }
        whole = await work.executor.schema(NOTEBOOK, "held")
        assert schema_text(whole).splitlines()[1:] == [
            "Table lasting",
            "  x INTEGER",
            "Table pg_temp.draft",
            "  id integer, primary key",
            "  name character varying(9), not null",
            "View pg_temp.seen",
            "  name character varying(9)",
        ]
        one = await work.executor.schema(NOTEBOOK, "held", ("pg_temp", "seen"))
        assert schema_text(one).endswith("\nView pg_temp.seen\n  name character varying(9)")
        # Nothing of it is left.
        state = await work.cell("held.in_transaction(), held.connection.dbapi_connection.info.transaction_status.name")
        assert text_of(state) == "(False, 'IDLE')"


async def test_psycopg2_tells_temporary_tables_where_it_begins_no_transaction(tmp_path: Path, postgres: str) -> None:
    async with database_kernel(tmp_path) as work:
        ended_well(
            await work.run(
                f"import sqlalchemy as sa; engine = sa.create_engine({postgres.replace('psycopg', 'psycopg2')!r})\n"
                "held = engine.connect()\n" + MAKE_TEMPORARY + "held.commit()"
            )
        )
        found = await databases(work)
        assert (list(found), found["engine"].left_out) == (["engine"], "own_connection")
        state = "held.connection.dbapi_connection.info.transaction_status"
        assert text_of(await work.cell(state)) == "0"
        ended_well(await work.run("held = held.execution_options(isolation_level='AUTOCOMMIT')"))
        found = await databases(work)
        assert (names(found["held"]), found["engine"].left_out) == (["pg_temp.draft", "pg_temp.seen"], None)
        assert text_of(await work.cell(state)) == "0"


async def test_temporary_tables_of_a_session_are_not_asked_for(tmp_path: Path, postgres: str) -> None:
    async with database_kernel(tmp_path) as work:
        ended_well(
            await work.run(
                f"import sqlalchemy as sa; from sqlalchemy.orm import Session; engine = sa.create_engine({postgres!r})\n"
                "session = Session(engine); session.execute(sa.text('create temp table draft (x int)'))"
            )
        )
        assert (await databases(work))["engine"].left_out == "own_connection"
        ended_well(await work.run("session.commit()"))
        assert (await databases(work))["engine"].left_out is None


async def test_the_magic_tells_the_temporary_tables_that_it_made(tmp_path: Path, postgres: str) -> None:
    async with database_kernel(tmp_path) as work:
        ended_well(
            await work.run(
                "%load_ext sql",
                f"%sql {postgres.replace('psycopg', 'psycopg2')} --alias shop",
                "%sql create table lasting (x int)",
                "%sql create temp table draft (x int)",
            )
        )
        (shop,) = (await databases(work)).values()
        assert (shop.name, names(shop), shop.left_out) == ("%sql shop", ["lasting", "pg_temp.draft"], None)


# ---- versions


@pytest.mark.parametrize("version", ["1.4", "2.0"])
async def test_earlier_versions_are_asked_the_same(tmp_path: Path, postgres: str, version: str) -> None:
    sync, asynchronous = (postgres.replace("+psycopg", f"+{driver}") for driver in ("psycopg2", "asyncpg"))
    async with database_kernel(tmp_path, first=f"sqlalchemy-{version}") as work:
        ended_well(
            await work.run(
                f"import psycopg2, sqlalchemy as sa; from sqlalchemy.orm import sessionmaker; from sqlalchemy.ext.asyncio import *\n"
                f"assert sa.__version__.startswith({version!r}), sa.__version__\n"
                "file, memory = sa.create_engine('sqlite:///shop.db'), sa.create_engine('sqlite://')\n"
                f"server = sa.create_engine({sync!r}); twin = create_async_engine({asynchronous!r})\n"
                f"own = sa.create_engine('postgresql://', creator=lambda: psycopg2.connect({postgres.replace('+psycopg', '')!r}))\n"
                "lite = create_async_engine('sqlite+aiosqlite://'); Maker = sessionmaker(twin, class_=AsyncSession)\n"
                "for one in (file, memory, server):\n"
                "    with one.begin() as made: made.exec_driver_sql('create table t (x int primary key)')\n"
                "async with twin.connect() as made: pass\n"
                "async with lite.begin() as made: _ = await made.exec_driver_sql('create table t (x int primary key)')\n"
                "with own.connect(): pass\n"
                "held = server.connect().execution_options(isolation_level='AUTOCOMMIT')\n" + MAKE_TEMPORARY
            )
        )
        found = await databases(work)
        told = {name: set(names(one)) for name, one in found.items()}
        assert told == {
            "file": {"t"},
            "memory": {"t"},
            "server": {"lasting", "t"},
            "twin": {"lasting", "t"},
            "own": {"lasting", "t"},
            "lite": {"t"},
            "held": {"pg_temp.draft", "pg_temp.seen"},
        }
        for name in ("file", "memory", "server", "twin", "own", "lite", "Maker"):
            text = schema_text(await work.executor.schema(NOTEBOOK, name, (None, "t")))
            assert text.endswith(("Table t\n  x INTEGER, primary key", "Table t\n  x INT, primary key"))


# ---- servers


async def test_what_a_table_says_of_its_rows_is_not_told(tmp_path: Path, postgres: str) -> None:
    async with database_kernel(tmp_path) as work:
        ended_well(
            await work.run(
                f"import sqlalchemy as sa; engine = sa.create_engine({postgres!r})\n"
                "for one in [\"create type who as enum ('Zoe')\",\n"
                "    \"create domain known as text default 'Zoe' check (value = 'Zoe')\",\n"
                "    \"create table t (w who default 'Zoe', k known, g text generated always as ('Zoe') stored, check (g = 'Zoe'))\",\n"
                "    \"comment on column t.w is 'Zoe'\", \"create view v as select 'Zoe' as z from t where g = 'Zoe'\"]:\n"
                "    with engine.begin() as made: made.exec_driver_sql(one)"
            )
        )
        text = schema_text(await work.executor.schema(NOTEBOOK, "engine"))
        assert "View v\n  z TEXT" in text and "  k " in text and "  g TEXT" in text
        assert "Zoe" not in text


async def test_a_table_that_the_person_has_locked_costs_only_itself(tmp_path: Path, postgres: str) -> None:
    async with database_kernel(tmp_path) as work:
        ended_well(
            await work.run(
                f"import sqlalchemy as sa; engine = sa.create_engine({postgres!r}); held = engine.connect()\n"
                "for one in 'abc': held.exec_driver_sql(f'create table {one} (x int default 1)')\n"
                "held.commit(); held.exec_driver_sql('alter table b add column y int')"
            )
        )
        whole = await work.executor.schema(NOTEBOOK, "engine")
        assert {one.name: one.error is None for one in whole.tables} == {"a": True, "b": False, "c": True}
        assert "lock timeout" in str(next(one.error for one in whole.tables if one.name == "b"))
        ended_well(await work.run("held.commit()"))
        one = await work.executor.schema(NOTEBOOK, "engine", (None, "b"))
        assert schema_text(one).endswith("Table b\n  x INTEGER\n  y INTEGER")


async def test_mariadb_is_asked_apart_from_its_pool(tmp_path: Path, mariadb: str) -> None:
    async with database_kernel(tmp_path) as work:
        ended_well(
            await work.run(
                f"import sqlalchemy as sa; engine = sa.create_engine({mariadb!r}, pool_size=1, max_overflow=0)\n"
                "held = engine.connect()\n"
                "for one in [*TABLES, 'create database old', 'create table old.late (x int)',\n"
                "    'alter table orders add foreign key (customer) references customers (id)',\n"
                "    \"create table states (state enum('new', 'paid') default 'new' comment 'Zoe', check (state <> 'Zoe'))\",\n"
                "    'create temporary table draft (x int)']: held.exec_driver_sql(one)\n"
                "held.exec_driver_sql(\"insert into customers values (1, 'Ann')\"); held.commit()\n"
                "held.exec_driver_sql(\"insert into customers values (2, 'Ben')\")"
            )
        )
        found = await databases(work)
        engine = found["engine"]
        assert (list(found), engine.kind, engine.error) == (["engine"], "mysql", None)
        assert set(names(engine)) == {*TABLES, "states", "old.late"} and engine.left_out == "own_connection"
        text = schema_text(await work.executor.schema(NOTEBOOK, "engine"))
        assert "  customer INTEGER, references customers(id)" in text and "Zoe" not in text
        state = await work.cell(
            "held.in_transaction(), engine.pool.checkedout(), held.exec_driver_sql('select count(*) from customers').scalar()"
        )
        assert text_of(state) == "(True, 1, 2)"
