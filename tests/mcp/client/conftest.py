"""What the tests of MCP servers share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from blockbuster import blockbuster_ctx

from hdsp_agent.config import keys_in_use


@pytest.fixture(autouse=True)
def nothing_blocks() -> Iterator[None]:
    """A call that blocks the loop fails."""
    with blockbuster_ctx(scanned_modules=["hdsp_agent.mcp"]):
        yield


@pytest.fixture(autouse=True)
def no_keys_left() -> Iterator[None]:
    """What one test used is masked in no other."""
    yield
    keys_in_use.clear()
