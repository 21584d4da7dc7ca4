"""What PostgreSQL costs a hub: 500 conversations that 20 servers record at once, and what one of each thing takes.

A conversation records a message a second, as it does while a model answers. Every message is on the database's disk when it
is acknowledged. The server is one of our own, as Debian installs it, on this machine.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from statistics import median
from typing import Final

from pydantic import BaseModel

from hdsp_agent.messages import ClineMessage
from hdsp_agent.persistence import NewTaskRecord, TaskLog, create_tables, open_store
from hdsp_agent.persistence.postgres._connection import PostgresConnection
from tests._helpers.postgres import PostgresCluster, postgres_cluster

from .results import Result, percentile, result

_SERVERS: Final = 20
_CONVERSATIONS: Final = 25
"""Of each server."""
_WARM_UP_SECONDS: Final = 10
_SECONDS: Final = int(os.environ.get("HUB_STORE_SECONDS", "60"))
_CHARACTERS: Final = 2_000
_GOAL_MS: Final = 50.0
_GROWTH_MB: Final = 2.0
_TABLES: Final = "tasks", "locks", "ui_messages", "writers"


class _Report(BaseModel):
    """What one server saw."""

    latencies_ms: list[float]
    memory_mb: tuple[float, float]
    processor_seconds: float


def measure() -> list[Result]:
    """Start the database and the servers, let them record, and look at what that took."""
    with tempfile.TemporaryDirectory() as folder, postgres_cluster() as cluster:
        _as_installed(cluster)
        admin = cluster.connect("hub")
        with _servers(cluster, Path(folder)) as servers:
            sessions = [row[0] for row in admin.execute(
                "SELECT pid FROM pg_stat_activity WHERE application_name = 'hdsp-agent' AND usename <> 'postgres'"
            )]  # fmt: skip
            for server in servers:
                _say(server, "begin")
            for server in servers:
                assert _hear(server) == "warm"
            wal, kept, indexed = _wal(admin), _kept(admin), _indexed(admin)
            worked = sum(map(_processor_seconds, sessions))
            reports = [_Report.model_validate_json(_hear(server)) for server in servers]
            worked = sum(map(_processor_seconds, sessions)) - worked
            wal, kept, indexed = _wal(admin) - wal, _kept(admin) - kept, _indexed(admin) - indexed
            session_mb = median(map(_private_mb, sessions))
        admin.close()
    return _results(
        reports,
        bytes_kept=kept,
        bytes_indexed=indexed,
        bytes_of_wal=wal,
        processor=worked,
        sessions=len(sessions),
        mb=session_mb,
    )


def _results(
    reports: Sequence[_Report],
    *,
    bytes_kept: int,
    bytes_indexed: int,
    bytes_of_wal: int,
    processor: float,
    sessions: int,
    mb: float,
) -> list[Result]:
    latencies = [took for report in reports for took in report.latencies_ms]
    count = len(latencies)
    p99 = percentile(latencies, 0.99)
    grown = max(after - before for before, after in (report.memory_mb for report in reports))
    ours = sum(report.processor_seconds for report in reports)
    message = len(_message(1, random.Random(0)).to_json()) + 1
    return [
        result(
            "hub.store.append.p99",
            f"{_SERVERS * _CONVERSATIONS} conversations recording {count / _SECONDS:,.0f} messages a second through"
            f" {_SERVERS} servers into one PostgreSQL, p99 (p50 {median(latencies):.1f} ms)",
            p99,
            "ms",
            goal=f"<= {_GOAL_MS:g} ms",
            met=p99 <= _GOAL_MS,
            runs=count,
        ),
        result(
            "hub.store.memory",
            f"how much the memory of a server grows in {_SECONDS} s of that, at most"
            f" (it has {median(report.memory_mb[1] for report in reports):.0f} MB)",
            grown,
            "MB",
            goal=f"flat: <= {_GROWTH_MB:g} MB",
            met=grown <= _GROWTH_MB,
            runs=_SERVERS,
        ),
        result(
            "hub.store.bytes", "what a message of 2,000 characters takes in the database with its index, beside its own bytes",
            bytes_kept / count, "bytes", baseline=float(message), goal="<= 2x", met=bytes_kept <= 2 * message * count,
            runs=count,
        ),
        result(
            "hub.store.index", "what of that its indexes take", bytes_indexed / count, "bytes", goal="none", met=True,
            runs=count,
        ),
        result(
            "hub.store.wal", "what it takes in the write-ahead log, beside its own bytes", bytes_of_wal / count, "bytes",
            baseline=float(message), goal="none", met=True, runs=count,
        ),
        result(
            "hub.store.connection", f"memory of its own that a connection has in PostgreSQL, median of {sessions}", mb, "MB",
            goal="none", met=True, runs=sessions,
        ),
        result(
            "hub.store.processor", f"the processor's time that PostgreSQL takes for a message (a server of ours:"
            f" {ours / count * 1e6:.0f} µs)",
            processor / count * 1e6, "µs", goal="none", met=True, runs=count,
        ),
    ]  # fmt: skip


def _as_installed(cluster: PostgresCluster) -> None:
    """A database with our tables and a role for each server, of a server that waits for its disk."""
    admin = cluster.connect()
    admin.execute("ALTER SYSTEM SET fsync = on")
    admin.execute("ALTER SYSTEM SET max_connections = 300")
    for number in range(_SERVERS):
        admin.execute(f"CREATE ROLE server{number} LOGIN")
    admin.execute("CREATE DATABASE hub")
    admin.close()
    cluster.stop("fast")
    cluster.start()
    create_tables(cluster.url("hub", "postgres"))


@contextmanager
def _servers(cluster: PostgresCluster, folder: Path) -> Iterator[list[subprocess.Popen[str]]]:
    with ExitStack() as stack:
        servers = [
            stack.enter_context(
                subprocess.Popen(
                    [sys.executable, "-m", "benchmarks.hub_store", cluster.url("hub", f"server{number}"), folder / str(number)],
                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                )
            )
            for number in range(_SERVERS)
        ]  # fmt: skip
        for server in servers:
            assert _hear(server) == "ready"
        yield servers
        for server in servers:
            _say(server, "end")


def _say(server: subprocess.Popen[str], word: str) -> None:
    assert server.stdin is not None
    server.stdin.write(f"{word}\n")
    server.stdin.flush()


def _hear(server: subprocess.Popen[str]) -> str:
    assert server.stdout is not None
    return server.stdout.readline().strip()


def _wal(admin: PostgresConnection) -> int:
    return int(admin.execute("SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')").fetchone()[0])


def _indexed(admin: PostgresConnection) -> int:
    return int(admin.execute("SELECT pg_indexes_size('hdsp_agent.ui_messages')").fetchone()[0])


def _kept(admin: PostgresConnection) -> int:
    sizes = " + ".join(f"pg_total_relation_size('hdsp_agent.{table}')" for table in _TABLES)
    return int(admin.execute(f"SELECT {sizes}").fetchone()[0])


def _processor_seconds(process: int | str = "self") -> float:
    fields = Path(f"/proc/{process}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _private_mb(process: int) -> float:
    lines = Path(f"/proc/{process}/smaps_rollup").read_text("ascii").splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_")) / 1024


def _resident_mb() -> float:
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGESIZE") / 1e6


@cache
def _prose() -> str:
    """Our own documents: text that compresses as people's does."""
    guides = Path(__file__).parent.parent / "docs"
    return "".join(page.read_text("utf-8") for page in sorted(guides.rglob("*.md"))).encode("ascii", "ignore").decode()


def _message(ts: int, chance: random.Random) -> ClineMessage:
    start = chance.randrange(len(_prose()) - _CHARACTERS)
    return ClineMessage(ts=ts, type="say", say="text", text=_prose()[start : start + _CHARACTERS])


async def _serve(url: str, home: Path) -> None:
    """Be one server."""
    store = open_store(home, "postgres", url=url)
    await store.start()
    logs = [await store.create(NewTaskRecord()) for _ in range(_CONVERSATIONS)]
    latencies: list[float] = []
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.readline)

    async def work(log: TaskLog, seed: str, seconds: float) -> None:
        chance = random.Random(seed)
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            await asyncio.sleep(chance.uniform(0, 2))
            message = _message(log.next_ts(), chance)
            begun = time.perf_counter()
            await log.put_ui(message)
            latencies.append((time.perf_counter() - begun) * 1000)

    async def record(phase: str, seconds: float) -> None:
        await asyncio.gather(*(work(log, f"{phase} {home} {place}", seconds) for place, log in enumerate(logs)))

    await record("warm up", _WARM_UP_SECONDS)
    latencies.clear()
    before, worked = _resident_mb(), _processor_seconds()
    print("warm", flush=True)
    await record("measured", _SECONDS)
    report = _Report(
        latencies_ms=latencies, memory_mb=(before, _resident_mb()), processor_seconds=_processor_seconds() - worked
    )
    print(report.model_dump_json(), flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    await store.stop()


if __name__ == "__main__":
    logging.getLogger("hdsp_agent").setLevel(logging.ERROR)
    asyncio.run(_serve(sys.argv[1], Path(sys.argv[2])))
