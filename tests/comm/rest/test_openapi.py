"""The OpenAPI document, and the API under everything that it allows and forbids."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.server import TOKEN, jupyter_server
from hdsp_agent.comm.rest import describe
from hdsp_agent.comm.services import Services
from tests._helpers.jupyter_fetch import Fetch
from tests._helpers.long_tests import rounds


async def test_the_document_is_served_as_it_is_derived(services: Services, jp_fetch: Fetch) -> None:
    answer = await jp_fetch("hdsp-agent", "api", "openapi.json")
    assert json.loads(answer.body) == describe(services.version)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_schemathesis_finds_no_crash_and_no_answer_that_breaks_the_document() -> None:
    checks = (
        "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,ignored_auth"
    )
    with jupyter_server(lab=False) as server:
        url = f"{server.url}/hdsp-agent/api"
        done = subprocess.run(
            [
                Path(sys.executable).with_name("schemathesis"), "run", f"{url}/openapi.json", "--url", url,
                "-H", f"Authorization: token {TOKEN}", "--checks", checks, "--max-examples", str(rounds(1, 60)),
                # Of what breaks the document, test_wrong_bodies keeps a part in the everyday tests.
                "--mode", "all" if rounds(0, 1) else "positive",
                "--phases", "examples,coverage,fuzzing", "--request-timeout", "60",
                "--generation-deterministic", "--seed", "1", "--suppress-health-check", "too_slow",
            ],
            capture_output=True, text=True, check=False, timeout=580,
        )  # fmt: skip
        assert json.loads(server.get("/hdsp-agent/api/health"))["status"] in ("ok", "degraded")
    assert done.returncode == 0, done.stdout[-6000:]
