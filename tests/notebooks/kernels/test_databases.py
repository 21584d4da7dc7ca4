"""What real databases hold, asked through a real kernel that is connected to them."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from hdsp_agent.errors import NotFound, Unavailable
from hdsp_agent.notebooks.kernels import Database, DatabaseProblem, _database_kinds_probe, schema_text

from ._helpers.database_kernels import database_kernel, databases, ended_well, names
from ._helpers.executors import NOTEBOOK, text_of, until

SCHEMA = """\
Table customers
  id {id}, primary key
  name {name}, not null
Table orders
  id {id}, primary key
  customer {id}, references customers(id)
  total {real}
View large
  id {id}
  customer {id}
  total {real}"""
SQLITE = SCHEMA.format(id="INTEGER", name="TEXT", real="REAL")


async def test_tables_and_columns_of_sqlite_are_told_without_a_transaction(tmp_path: Path) -> None:
    async with database_kernel(tmp_path) as work:
        ended_well(
            await work.run(
                "import sqlite3; shop = sqlite3.connect('shop.db'); same = shop\n"
                "for one in TABLES: shop.execute(one)\n"
                "shop.commit(); shop.execute(\"insert into customers values (1, 'Ann')\")\n"
                "shop.row_factory = lambda cursor, row: {'made': 'otherwise'}; shop.text_factory = bytes\n"
                "pending = shop.execute('select 1 union select 2')"
            )
        )
        found = await databases(work)
        assert list(found) == ["shop"]
        shop = found["shop"]
        assert (shop.kind, shop.place, shop.error) == ("sqlite", str(tmp_path / "shop.db"), None)
        assert names(shop) == ["customers", "large", "orders"] and not shop.tables[0].columns
        whole = await work.executor.schema(NOTEBOOK, "shop")
        assert set(schema_text(whole).splitlines()[1:]) == set(SQLITE.splitlines())
        one = await work.executor.schema(NOTEBOOK, "shop", (None, "orders"))
        assert schema_text(one).splitlines()[1:] == SQLITE.splitlines()[3:7]
        state = await work.cell("shop.in_transaction, len(pending.fetchall()), shop.total_changes")
        assert text_of(state) == "(True, 2, 1)"
        with sqlite3.connect(tmp_path / "shop.db") as outside:
            assert outside.execute("select count(*) from customers").fetchone() == (0,)


async def test_attached_temporary_and_oddly_named_tables(tmp_path: Path) -> None:
    async with database_kernel(tmp_path) as work:
        ended_well(
            await work.run(
                "import sqlite3; db = sqlite3.connect(':memory:')\n"
                "db.execute(\"attach 'other.db' as other\"); db.execute('create table other.t (a int, b int)')\n"
                "db.execute('create temp table draft (x)')\n"
                'db.execute(\'create table "in ""quotes""" ("한 글" text, g as (length("한 글")))\')\n'
                "db.execute('create table pair (a int, b int, primary key (a, b))')\n"
                "db.execute('create table uses (a int, b int, foreign key (a, b) references pair)')"
            )
        )
        database = await work.executor.schema(NOTEBOOK, "db")
        assert names(database) == ['in "quotes"', "pair", "uses", "temp.draft", "other.t"]
        text = schema_text(database)
        assert "  한 글 TEXT\n  g" in text and "  (a, b) references pair" in text
        with pytest.raises(NotFound):
            await work.executor.schema(NOTEBOOK, "db", (None, "t"))
        with pytest.raises(NotFound):
            await work.executor.schema(NOTEBOOK, "none")


@pytest.mark.parametrize(
    "engine",
    [
        "sa.create_engine('sqlite://')",
        "sa.create_engine('sqlite:///shop.db')",
        "sa.create_engine('sqlite://', poolclass=sa.StaticPool, connect_args={'check_same_thread': False})",
        "sa.create_engine('sqlite:///one.db', pool_size=2, max_overflow=0)",
    ],
)
async def test_engines_of_sqlalchemy_keep_what_is_not_committed(tmp_path: Path, engine: str) -> None:
    async with database_kernel(tmp_path) as work:
        ended_well(
            await work.run(
                f"import sqlalchemy as sa; engine = {engine}\n"
                "with engine.begin() as made:\n"
                "    for one in TABLES: made.exec_driver_sql(one)\n"
                "open_one = engine.connect(); before = open_one.in_transaction()\n"
                "open_one.exec_driver_sql(\"insert into customers values (1, 'Ann')\")"
            )
        )
        found = await databases(work)
        # The connection in the block above has a name, too: it is the same database.
        assert [one.kind for one in found.values()] == ["sqlite"]
        database = await work.executor.schema(NOTEBOOK, "engine")
        assert set(schema_text(database).splitlines()[1:]) == set(SQLITE.splitlines())
        state = await work.cell(
            "before, open_one.in_transaction(), open_one.exec_driver_sql('select count(*) from customers').scalar()"
        )
        assert text_of(state) == "(False, True, 1)"
        ended_well(await work.run("open_one.commit()\nwith open_one.begin(): pass"))


async def test_a_connection_that_did_nothing_may_still_begin(tmp_path: Path) -> None:
    async with database_kernel(tmp_path) as work:
        ended_well(await work.run("import sqlalchemy as sa; mine = sa.create_engine('sqlite:///a.db').connect()"))
        assert list(await databases(work)) == ["mine"]
        ended_well(await work.run("with mine.begin(): mine.exec_driver_sql('create table t (x)')"))
        assert names((await databases(work))["mine"]) == ["t"]


async def test_duckdb_keeps_the_result_that_waits(tmp_path: Path) -> None:
    async with database_kernel(tmp_path) as work:
        ended_well(
            await work.run(
                "import duckdb; duck = duckdb.connect('shop.duckdb')\n"
                "for one in TABLES: duck.execute(one)\n"
                "duck.execute('create schema s'); duck.execute('create table s.t (a decimal(9, 2) not null)')\n"
                "_ = duck.execute('select 42')"
            )
        )
        found = await databases(work)
        # DuckDB's own connection is empty.
        assert list(found) == ["duck"]
        assert found["duck"].place == str(tmp_path / "shop.duckdb")
        database = await work.executor.schema(NOTEBOOK, "duck")
        text = SCHEMA.format(id="INTEGER", name="VARCHAR", real="FLOAT") + "\nTable s.t\n  a DECIMAL(9,2), not null"
        *lines, last = schema_text(database).splitlines()[1:]
        assert set(lines) == set(text.splitlines()) and last.startswith("(temporary tables are not listed")
        assert text_of(await work.cell("duck.fetchall()")) == "[(42,)]"
        await work.run("duckdb.sql('create table here (x int)')")
        assert names((await databases(work))["duckdb"]) == ["here"]


async def test_values_of_columns_are_in_no_type_and_a_query_is_not_run(tmp_path: Path) -> None:
    async with database_kernel(tmp_path) as work:
        ended_well(
            await work.run(
                "import duckdb; duck = duckdb.connect(); duck.execute('create sequence runs')\n"
                "duck.execute(\"create table people as select 'Zoe, née O''Hara' as name\")\n"
                "duck.execute('create type who as enum (select name from people)')\n"
                "duck.execute('create table t (w who, s struct(a who, b int), l who[])')\n"
                "query = duck.sql(\"select nextval('runs') as n, name::who as w from people\")\n"
                "count = lambda: duck.execute(\"select nextval('runs')\").fetchone()[0]; before = count()"
            )
        )
        text = schema_text(await work.executor.schema(NOTEBOOK, "duck", (None, "t")))
        assert "Table t\n  w ENUM\n  s STRUCT(a ENUM, b INTEGER)\n  l ENUM[]\n" in text
        (shown,) = (await work.executor.inspect(NOTEBOOK, names=["query"])).variables
        assert (shown.columns, shown.head) == ((("n", "BIGINT"), ("w", "ENUM")), None)
        assert (await work.executor.look_into(NOTEBOOK, "query")).rows == ()
        assert text_of(await work.cell("count() - before")) == "1"


async def test_many_tables_are_all_named(tmp_path: Path) -> None:
    async with database_kernel(tmp_path) as work:
        await work.run(
            "import sqlite3; db = sqlite3.connect(':memory:')\n"
            "for one in range(2_000): db.execute(f'create table t{one} (x int)')"
        )
        listed = (await databases(work))["db"]
        assert (len(listed.tables), listed.is_partial) == (2_000, False)
        whole = await work.executor.schema(NOTEBOOK, "db")
        assert (len(whole.tables), whole.is_partial) == (500, True)
        assert names(await work.executor.schema(NOTEBOOK, "db", (None, "t1999"))) == ["t1999"]


@pytest.mark.parametrize("magic", ["common", "ipython-sql"])
async def test_connections_of_the_sql_magics(tmp_path: Path, magic: str) -> None:
    async with database_kernel(tmp_path, first=magic) as work:
        sqlite3.connect(tmp_path / "shop.db").execute("create table t (x)").connection.close()
        ended_well(await work.run("%load_ext sql", "%sql sqlite:///shop.db"))
        (database,) = (await databases(work)).values()
        assert database.name == "%sql shop.db" and names(database) == ["t"]


async def test_the_magic_of_jupysql_tells_its_aliases(tmp_path: Path) -> None:
    async with database_kernel(tmp_path) as work:
        ended_well(
            await work.run(
                "%load_ext sql",
                "import duckdb, sqlalchemy; raw = duckdb.connect(); raw.execute('create table t (x int)')",
                "%sql raw --alias ducks",
                "%sql sqlite:// --alias memory",
                "%sql duckdb:// --alias engine",
                "%sql create table made (x int)",
            )
        )
        found = await databases(work)
        # What has a name of its own is told by that.
        assert list(found) == ["raw", "%sql memory", "%sql engine"]
        assert names(found["raw"]) == ["t"] and names(found["%sql engine"]) == ["made"]


async def test_what_does_not_answer_costs_only_itself(tmp_path: Path) -> None:
    async with database_kernel(tmp_path) as work:
        ended_well(
            await work.run(
                "import socket, sqlalchemy as sa, sqlite3\n"
                "deaf, closed = socket.create_server(('127.0.0.1', 0)), socket.create_server(('127.0.0.1', 0))\n"
                "place = 'postgresql+psycopg://ann:hunter2@127.0.0.1:%d/db'\n"
                "hangs = sa.create_engine(place % deaf.getsockname()[1])\n"
                "broken = sa.create_engine(place % closed.getsockname()[1]); closed.close()\n"
                "gone = sqlite3.connect('c.db'); gone.close()\n"
                "fine = sqlite3.connect('d.db'); fine.execute('create table t (x)')"
            )
        )
        listed = await databases(work)
        assert list(listed) == ["hangs", "broken", "gone", "fine"]
        # No server is connected to for a list.
        assert (listed["hangs"].is_waiting, listed["hangs"].place, listed["broken"].is_waiting) == (
            True,
            "127.0.0.1/db",
            True,
        )
        assert "closed" in str(listed["gone"].error) and names(listed["fine"]) == ["t"]
        with pytest.raises(Unavailable, match="refused") as refused:
            await work.executor.schema(NOTEBOOK, "broken")
        assert "hunter2" not in refused.value.message
        for _ in range(2):
            with pytest.raises(Unavailable, match="did not answer in time"):
                await work.executor.schema(NOTEBOOK, "hangs", (None, "t"))
        # It was not asked a second time.
        asked = "deaf.settimeout(0.5); first = deaf.accept()\ntry: deaf.accept()\nexcept TimeoutError: print('once')"
        assert text_of(await work.cell(asked)) == "once\n"


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        ("no: postgresql://ann:hunter2@h/db", "no: postgresql://***@h/db"),
        ("password=hunter2 host=h", "password=*** host=h"),
        ("api_key: hunter2, PWD = hunter2", "api_key: *** PWD = ***"),
        ("host=h password='hunter 2' dbname=d", "host=h password=*** dbname=d"),
        ("monkey business", "monkey business"),
    ],
)
def test_a_drivers_message_tells_no_secret(told: str, shown: str) -> None:
    assert _database_kinds_probe.FoundDatabase().without_secrets(told) == shown


@pytest.mark.parametrize(
    ("reason", "lasts"), [(None, True), ("own_way", True), ("failed", False), ("no_answer", False), ("in_use", False)]
)
def test_what_may_pass_by_itself_is_asked_again(reason: DatabaseProblem | None, lasts: bool) -> None:
    assert Database(name="db", reason=reason).lasts is lasts


async def test_an_engine_tells_of_the_file_it_uses(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    async with database_kernel(tmp_path) as work:
        ended_well(
            await work.run(
                "import os, sqlalchemy as sa\n"
                "engine = sa.create_engine('sqlite:///shop.db')\n"
                "address = sa.create_engine(f'sqlite:///file:{os.getcwd()}/shop.db?mode=rwc&uri=true')\n"
                "with engine.begin() as made: made.exec_driver_sql('create table t (x)')\n"
                "own = sa.create_engine('sqlite:///shop.db', creator=lambda: 1)\n"
                "duck = sa.create_engine(f'duckdb:///{os.getcwd()}/shop.duckdb'); private = sa.create_engine('duckdb://')\n"
                "with duck.begin() as made: made.exec_driver_sql('create table d (x int)')\n"
                "shared = sa.create_engine('duckdb:///:memory:')\n"
                "with shared.begin() as made: made.exec_driver_sql('create table s (x int)')\n"
                "gone = sa.create_engine('duckdb:///other.duckdb'); del made; os.chdir('sub')"
            )
        )
        found = await databases(work)
        told = {name: names(one) for name, one in found.items()}
        assert told == {
            "engine": ["t"],
            "address": ["t"],
            "own": [],
            "duck": ["d"],
            "private": [],
            "shared": ["s"],
            "gone": [],
        }
        assert not list(tmp_path.rglob("other.duckdb"))
        reasons = {name: one.reason for name, one in found.items() if one.reason is not None}
        assert reasons == {"own": "own_way", "private": "each_its_own", "gone": "no_file"}


async def test_a_locked_file_keeps_nobody_waiting_and_its_snapshot_is_nobodys(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "shop.db") as other:
        other.execute("create table t (x)")
    async with database_kernel(tmp_path) as work:
        ended_well(
            await work.run(
                "import sqlite3; db = sqlite3.connect('shop.db', timeout=60, isolation_level=None); db.execute('begin')"
            )
        )
        assert names((await databases(work))["db"]) == ["t"]
        # A transaction that has read would keep others from writing.
        other.execute("insert into t values (1)")
        other.commit()
        other.execute("begin exclusive")
        assert "locked" in str((await databases(work))["db"].error)
        other.close()


async def test_values_that_lie_about_their_class_cost_nothing(tmp_path: Path) -> None:
    async with database_kernel(tmp_path) as work:
        ended_well(
            await work.run(
                "import sqlite3, sqlalchemy.orm\n"
                "class Odd:\n    __module__ = property(lambda self: 1 / 0)\n"
                "odd = Odd(); none = type('None_', (), {'__module__': None})()\n"
                "unbound = sqlalchemy.orm.Session(); db = sqlite3.connect(':memory:')"
            )
        )
        found = await databases(work)
        assert list(found) == ["unbound", "db"] and found["unbound"].error is not None
        report = await work.executor.inspect(NOTEBOOK, names=["odd", "none", "db"])
        assert {one.name: one.is_database for one in report.variables} == {"odd": False, "none": False, "db": True}


async def test_a_server_is_asked_apart_from_its_pool(tmp_path: Path, postgres: str) -> None:
    async with database_kernel(tmp_path) as work:
        ended_well(
            await work.run(
                f"import sqlalchemy as sa; engine = sa.create_engine({postgres!r}, pool_size=1, max_overflow=0)\n"
                "held = engine.connect(); held.exec_driver_sql('create schema old')\n"
                "for one in TABLES: held.exec_driver_sql(one)\n"
                "held.exec_driver_sql('create materialized view old.sums as select sum(total) as total from orders')\n"
                "held.commit(); held.exec_driver_sql(\"insert into customers values (1, 'Ann')\")"
            )
        )
        found = (await databases(work))["engine"]
        assert (found.kind, found.error) == ("postgresql", None)
        assert set(names(found)) == {"customers", "orders", "large", "old.sums"}
        text = schema_text(await work.executor.schema(NOTEBOOK, "engine"))
        for table in SCHEMA.format(id="INTEGER", name="TEXT", real="REAL").split("Table ")[1:2]:
            assert table.strip() in text
        one = await work.executor.schema(NOTEBOOK, "engine", ("old", "sums"))
        assert schema_text(one).endswith("\nView old.sums\n  total REAL")
        state = await work.cell(
            "held.in_transaction(), engine.pool.checkedout(), held.exec_driver_sql('select count(*) from customers').scalar()"
        )
        assert text_of(state) == "(True, 1, 1)"


async def test_a_connection_that_an_engine_is_given_is_let_be(tmp_path: Path, postgres: str) -> None:
    async with database_kernel(tmp_path) as work:
        ended_well(
            await work.run(
                f"import psycopg, sqlalchemy as sa; con = psycopg.connect({postgres.replace('+psycopg', '')!r})\n"
                f"engine = sa.create_engine({postgres!r}, creator=lambda: con)\n"
                "held = engine.connect(); held.exec_driver_sql('create temp table mine (x int)'); held.commit()\n"
                "_ = con.execute('insert into mine values (1)')"
            )
        )
        assert (await databases(work))["engine"].reason == "own_way"
        assert text_of(await work.cell("con.execute('select count(*) from mine').fetchone()")) == "(1,)"


@pytest.mark.parametrize("waits", ["time.sleep(0.01)", "await asyncio.sleep(0.01)"])
async def test_while_a_cell_runs_nobody_waits(tmp_path: Path, waits: str) -> None:
    async with database_kernel(tmp_path) as work:
        await work.run("import asyncio, sqlite3, pathlib, time; db = sqlite3.connect(':memory:')")
        await databases(work)
        run = await work.start(f"while not pathlib.Path('go').exists(): {waits}")
        await until(lambda: run.cells[0].state == "running")
        assert await work.executor.databases(NOTEBOOK) is None
        with pytest.raises(Unavailable, match="when it is done"):
            await work.executor.schema(NOTEBOOK, "db")
        (tmp_path / "go").touch()
        assert await run.wait(60)
        assert list(await databases(work)) == ["db"]


async def test_looking_leaves_no_name_and_prints_nothing(tmp_path: Path) -> None:
    async with database_kernel(tmp_path) as work:
        state = "print(sorted(globals()), get_ipython().execution_count)"
        made = await work.cell(
            "import sqlite3; mine = sqlite3.connect(':memory:'); shared = sqlite3.connect(':memory:', check_same_thread=False)\n"
            "mine.set_trace_callback(print); shared.set_trace_callback(print)"
        )
        before = text_of(await work.cell(state, store_history=False))
        await databases(work)
        after = await work.cell(state, store_history=False)
        assert (text_of(made), text_of(after)) == ("", before)
        assert "PRAGMA" in text_of(await work.cell("_ = mine.execute('PRAGMA user_version')"))
