"""The official conformance suite: every client scenario that either version of the specification requires, by the hub itself."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from ..._helpers.forked_python import forked_python
from ._helpers.hubs import HELPERS, ROOT

_SUITE = ROOT / "node_modules/@modelcontextprotocol/conformance/dist/index.js"
_LINE = re.compile(r"^([✓✗]) ([\w/-]+): (\d+) passed, (\d+) failed", re.MULTILINE)
_REQUIRED = {"2025-11-25": 18, "2026-07-28": 32}

EXPECTED_FAILURES = {
    # Extensions, which no revision requires. The first four are for programs that no person logs in to.
    "auth/client-credentials-jwt": "there is a person, who logs in; the grants for machines are not offered",
    "auth/client-credentials-basic": "the same",
    "auth/enterprise-managed-authorization": "the same",
    "auth/wif-jwt-bearer": "the same",
    "auth/dpop": "the SDK does not bind tokens to a key yet",
    "auth/dpop-nonce": "the same",
}
"""What fails and no revision requires, with the reason."""


@pytest.mark.in_short(1)
@pytest.mark.slow
@pytest.mark.parametrize("revision", sorted(_REQUIRED))
async def test_every_scenario_that_a_revision_requires_passes(revision: str, tmp_path: Path) -> None:
    node = shutil.which("node", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")
    assert node is not None
    process = await asyncio.create_subprocess_exec(
        node,
        str(_SUITE),
        *("client", "--command", f"{forked_python()} -m {HELPERS}.conformance_client", "--requirements", revision),
        *("--timeout", "120000", "--output-dir", str(tmp_path)),
        cwd=ROOT,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env={**os.environ, "NO_COLOR": "1"},
    )
    output = (await process.communicate())[0].decode()
    lines = _LINE.findall(output)
    # The suite itself decides by what the revision requires.
    assert process.returncode == 0, output[-8_000:]
    assert len(lines) >= _REQUIRED[revision], output[-8_000:]
    assert {name for mark, name, _, _ in lines if mark == "✗"} == set(EXPECTED_FAILURES), output[-8_000:]
