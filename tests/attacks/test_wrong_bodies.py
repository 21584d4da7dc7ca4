"""Requests with rights and wrong bodies: each is refused with the right status and a code, and changes nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hdsp_agent.comm.rest._rest_endpoint import endpoint_of
from hdsp_agent.comm.services import Services
from tests.attacks._helpers.planted_data import KEY, plant, snapshot
from tests.attacks._helpers.raw_http import request
from tests.attacks._helpers.routes import routes_of

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp

NOT_JSON: dict[str, bytes] = {
    "half": b'{"name": "x"',
    "text": b"name=x",
    "bytes": bytes(range(128, 256)),
    "a NUL": b'{"name": "x"}\0',
    "not a number": b'{"name": NaN}',
    "infinite": b'{"name": -Infinity}',
    "deep lists": b"[" * 100_000,
    "deep objects": b'{"a":' * 100_000,
    "two": b"{}{}",
    "UTF-16": '{"name": "x"}'.encode("utf-16"),
    "half a pair": b'{"name": "\\ud800"}',
}
NO_OBJECT: dict[str, bytes] = {
    "a list": b"[]",
    "nothing": b"null",
    "a number": b"17",
    "a huge number": b"9" * 4_000,
    "words": b'"settings"',
    "a list of objects": b'[{"name": "x"}]',
}


async def test_bodies_that_are_no_objects_are_refused_everywhere(
    services: Services,
    jp_serverapp: ServerApp,
    jp_http_port: int,
    http_server: object,
    jp_root_dir: Path,
    storage_dir: Path,
) -> None:
    planted = await plant(services, jp_root_dir)
    before, settings = snapshot(storage_dir, jp_root_dir), services.config.settings
    provider: Any = jp_serverapp.identity_provider
    own = {"Authorization": f"token {provider.token}", "Content-Type": "application/json"}
    large = b'{"name": "' + b"x" * services.max_body_bytes + b'"}'
    tried = 0
    for route in routes_of(jp_serverapp):
        for method in ("POST", "PUT", "PATCH"):
            declared = endpoint_of(getattr(route.handler, method.lower()))
            if declared is None or declared.body is None:
                continue
            for kind, body in {**NOT_JSON, **NO_OBJECT, "large": large}.items():
                answer = await request(jp_http_port, method, route.path(planted.values), own, body)
                error = json.loads(answer.body)
                assert (answer.status, error["code"]) == (
                    (413, "frame_too_large")
                    if kind in ("large", "deep lists", "deep objects")
                    else (400, "invalid_input")
                ), (method, route.pattern, kind, answer.text[:300])
                assert KEY not in answer.text and len(answer.body) < 2_000
                tried += 1
    assert tried > 200
    assert snapshot(storage_dir, jp_root_dir) == before
    assert services.config.settings == settings
