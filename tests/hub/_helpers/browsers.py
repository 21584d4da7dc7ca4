"""Browsers of people of a hub, in tests."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2

from .running import NO_TLS, RunningService


@asynccontextmanager
async def browser(running: RunningService, **headers: str) -> AsyncIterator[httpx2.AsyncClient]:
    """A browser that shows pages."""
    shown = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document", "Sec-Fetch-Site": "same-origin", **headers}
    async with httpx2.AsyncClient(
        trust_env=False, follow_redirects=True, headers=shown, base_url=running.url, timeout=60, verify=NO_TLS
    ) as one:
        yield one
