"""What the MCP server costs a start, the first program that comes, and each call over HTTP."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from statistics import median
from typing import Final
from urllib.parse import urlsplit

from .results import Result, percentile, result
from .server import TOKEN, Server, jupyter_server

_RUNS: Final = 300
_STARTS: Final = 5
_GOAL_FIRST_MS: Final = 3_000.0
_GOAL_CALL_MS: Final = 15.0
_VERSION: Final = "2026-07-28"
_SDK: Final = ("mcp", "mcp_types", "starlette", "sse_starlette")
_SETTINGS: Final = {"mcpServerEnabled": True, "clientApprovals": {"Benchmark": "everything"}}

# All that a server imports until it is ready, whether Jupyter waits for it or not.
_IMPORT: Final = """
import sys
import jupyter_server.serverapp, jupyter_server.extension.application
import hdsp_agent.app, hdsp_agent._graph
"""


def measure() -> list[Result]:
    """A start without any program, the first request, then calls over one connection."""
    firsts = []
    for _ in range(_STARTS):
        with _server() as server:
            firsts.append(_milliseconds(lambda server=server: _call(_connection(server), "tools/list")))  # type: ignore[misc]
    with _server() as server:
        connection = _connection(server)
        _call(connection, "tools/list")
        calls = [_milliseconds(lambda: _call(connection, "tools/call", "list_notebooks")) for _ in range(_RUNS)]
        plain = [_milliseconds(lambda: _status(connection)) for _ in range(_RUNS)]
    start, first, call = _sdk_import_ms(), median(firsts), median(calls)
    return [
        result(
            "mcp.start",
            "importing the SDK until a server is ready",
            start,
            "ms",
            goal="0",
            met=start == 0,
            runs=1,
        ),
        result(
            "mcp.first",
            "the first request of a program, which loads the server for it",
            first,
            "ms",
            goal=f"<= {_GOAL_FIRST_MS:g} ms",
            met=first <= _GOAL_FIRST_MS,
            runs=_STARTS,
        ),
        result(
            "mcp.http.call",
            f"a tool's call over HTTP, p50 (p95 {percentile(calls, 0.95):.1f} ms), beside Jupyter's own status",
            call,
            "ms",
            goal=f"<= {_GOAL_CALL_MS:g} ms",
            met=call <= _GOAL_CALL_MS,
            runs=_RUNS,
            baseline=median(plain),
        ),
    ]


def _server() -> AbstractContextManager[Server]:
    return jupyter_server(lab=False, config={"HdspAgentApp": {"fixed_settings": _SETTINGS}})


def _sdk_import_ms() -> float:
    """From Python's own account of its imports: the time of the SDK's modules, each without what it imports."""
    said = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", _IMPORT], capture_output=True, text=True, check=True
    )
    spent = 0
    for line in said.stderr.splitlines():
        own, _, rest = line.removeprefix("import time:").partition("|")
        name = rest.rpartition("|")[2].strip()
        if name.partition(".")[0] in _SDK and own.strip().isdigit():
            spent += int(own)
    return spent / 1000


def _milliseconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1000


def _connection(server: Server) -> http.client.HTTPConnection:
    address = urlsplit(server.url)
    return http.client.HTTPConnection(address.hostname or "127.0.0.1", address.port, timeout=60)


def _status(connection: http.client.HTTPConnection) -> bytes:
    connection.request("GET", "/api/status", headers={"Authorization": f"token {TOKEN}"})
    return connection.getresponse().read()


def _call(connection: http.client.HTTPConnection, method: str, tool: str | None = None) -> bytes:
    meta = {
        "io.modelcontextprotocol/protocolVersion": _VERSION,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "Benchmark", "version": "1"},
    }
    params = {"_meta": meta, **({} if tool is None else {"name": tool, "arguments": {}})}
    headers = {
        "Authorization": f"Bearer {TOKEN}",
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": _VERSION,
        "Mcp-Method": method,
        **({} if tool is None else {"Mcp-Name": tool}),
    }
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
    connection.request("POST", "/hdsp-agent/mcp", body=body, headers=headers)
    answer = connection.getresponse()
    told = answer.read()
    assert answer.status == 200 and b'"isError":true' not in told, told[:500]
    return told
