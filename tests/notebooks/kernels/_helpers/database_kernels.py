"""Kernels of tests that are connected to databases."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from hdsp_agent.notebooks.kernels import Database, Run
from tests._helpers.forked_kernels import begin_kernels_at_once

from .executors import NOTEBOOK, HeadlessExecutor, headless_executor

PACKAGES = Path(__file__).parents[4] / ".databases"
"""`make databases` puts SQLAlchemy, DuckDB and the ``%sql`` magics there: in the environment they would change it."""

TABLES = (
    "create table customers (id integer primary key, name text not null)",
    "create table orders (id integer primary key, customer integer references customers (id), total real)",
    "create view large as select * from orders where total > 100",
)


@asynccontextmanager
async def database_kernel(root: Path, *, first: str = "common") -> AsyncIterator[HeadlessExecutor]:
    """A kernel that finds the packages, those in the folder ``first`` before others of the same name."""
    with pytest.MonkeyPatch.context() as patch:
        if first == "common" and PACKAGES.is_dir():
            begin_kernels_at_once(patch, "sqlalchemy", path=PACKAGES / first)
        async with headless_executor(root) as work:
            folders = [str(PACKAGES / name) for name in dict.fromkeys([first, "common"])]
            await work.run(f"import sys; sys.path[:0] = {folders!r}; TABLES = {TABLES!r}")
            yield work


def ended_well(run: Run) -> None:
    """Fail where a cell failed."""
    assert all(cell.error is None for cell in run.cells), [cell.error for cell in run.cells]


async def databases(work: HeadlessExecutor) -> dict[str, Database]:
    """Those that the kernel is connected to."""
    found = await work.executor.databases(NOTEBOOK)
    assert found is not None, "no cell runs"
    return {one.name: one for one in found}


def names(database: Database) -> list[str]:
    """Its tables as a query names them."""
    return [one.full_name for one in database.tables]
