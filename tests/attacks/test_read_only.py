"""Somebody who may only read sees, and changes nothing: over every route, and not over the channel at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tornado.httpclient import HTTPClientError

from hdsp_agent.comm.rest._rest_endpoint import endpoint_of
from hdsp_agent.comm.services import Services
from tests._helpers.long_tests import rounds
from tests.attacks._helpers.people import READER, server_of
from tests.attacks._helpers.planted_data import KEY, plant, snapshot
from tests.attacks._helpers.raw_http import request
from tests.attacks._helpers.routes import METHODS, routes_of

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp

QUERIES = {
    "/checkpoints/cells": "?path=aardvark.ipynb&cell=c1",
    "/file": "?file=aardvark-file.txt",
    "/diff": "?against=now",
    "/find": "?text=aardvark",
    "/numbers": "?ts=1",
    "/recall": "?query=aardvark",
}
BODIES = [b"{}", b'{"value": "x"}', b'{"parts": {"files": true}}', b'{"kind": "encrypted"}', b'{"action": "tidy"}']


@pytest.fixture
def jp_server_config(jp_server_config: dict[str, dict[str, object]]) -> dict[str, dict[str, object]]:
    return server_of(jp_server_config)


async def test_a_reader_changes_nothing_over_any_route(
    services: Services,
    jp_serverapp: ServerApp,
    jp_http_port: int,
    http_server: object,
    jp_root_dir: Path,
    storage_dir: Path,
) -> None:
    planted = await plant(services, jp_root_dir, user="reader")
    # Opened once beforehand: what a first look builds in memory or beside the logs is no change of what they say.
    await _look(jp_http_port, jp_serverapp, planted.values)
    before, settings = snapshot(storage_dir, jp_root_dir), services.config.settings
    seen = await _look(jp_http_port, jp_serverapp, planted.values)
    assert snapshot(storage_dir, jp_root_dir) == before
    refused = {path for path, (status, _) in seen.items() if status not in (200, 405)}
    # No kernel is being restarted and no notebook verified that could be looked at, no answer was given at that time, no other
    # agents are let in, and who comes back from a log-in changes something.
    gone = {planted.values["run"], planted.values["verification"], "numbers"}
    assert {path.rpartition("/")[2] for path in refused} == {"comm", "mcp", "mcp-login", *gone}
    assert sum(status == 200 for status, _ in seen.values()) > 20, seen
    assert not any(KEY in text for _, text in seen.values())
    for number, route in enumerate(routes_of(jp_serverapp)):
        path = route.path(planted.values)
        for method in METHODS:
            declared = endpoint_of(getattr(route.handler, method.lower()))
            if declared is not None and declared.action == "read":
                continue
            # In turn, if not all of them.
            for body in BODIES[number % rounds(len(BODIES), 1) :: rounds(len(BODIES), 1)]:
                answer = await request(jp_http_port, method, path, READER, body)
                if declared is not None:
                    assert (answer.status, json.loads(answer.body)["code"]) == (403, "not_allowed"), (method, path)
                else:
                    assert answer.status in (400, 403, 405), (method, path, answer.text[:300])
    assert snapshot(storage_dir, jp_root_dir) == before
    assert services.config.settings == settings


async def _look(port: int, app: ServerApp, values: dict[str, str]) -> dict[str, tuple[int, str]]:
    """Everything that may be read."""
    found = {}
    for route in routes_of(app):
        path = route.path(values)
        query = next((query for end, query in QUERIES.items() if path.endswith(end)), "")
        answer = await request(port, "GET", path + query, READER)
        found[path] = answer.status, answer.text
    return found


async def test_every_verb_that_only_reads_is_a_get(services: Services, jp_serverapp: ServerApp) -> None:
    """So that a new route cannot change something under the right to read."""
    for route in routes_of(jp_serverapp):
        for method in METHODS:
            declared = endpoint_of(getattr(route.handler, method.lower()))
            if declared is not None:
                assert (declared.action == "read") is (method == "GET"), (route.pattern, method)


async def test_a_reader_gets_no_channel(services: Services, jp_ws_fetch) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(HTTPClientError) as refused:
        await jp_ws_fetch("hdsp-agent", "comm", headers=READER)
    assert refused.value.code == 403
    assert services.channels.owners == []
