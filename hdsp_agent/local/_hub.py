"""The model's own hub, over HTTP. A download that was cut goes on where it stopped."""

from __future__ import annotations

import asyncio
import os
import re
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, urlsplit

from ._model_list import HubSource
from ._partial_download import PartialDownload, SourceFailed

if TYPE_CHECKING:
    import httpx2

__all__ = ["fetch_from_hub"]

_CONNECT_SECONDS: Final = 10.0
_SILENCE_SECONDS: Final = 30.0
_PAUSES: Final = (0.5, 2.0, 5.0)
"""Seconds to wait after a cut, before going on; with progress in between they begin anew."""
_RANGE: Final = re.compile(r"bytes (\d+)-\d+/(\d+)")
_MIRROR: Final = "HF_ENDPOINT"
"""The variable by which the hub's own tools are told of a mirror."""


async def fetch_from_hub(source: HubSource, part: PartialDownload) -> None:
    """Fetch what is missing. Raises SourceFailed."""
    client = await asyncio.to_thread(_client)
    async with client:
        tries = 0
        while part.size < part.total:
            before = part.size
            reason = await _once(client, address_of(source), part)
            if reason is None:
                return
            tries = 0 if part.size > before else tries + 1
            if tries >= len(_PAUSES):
                raise SourceFailed(reason)
            await asyncio.sleep(_PAUSES[tries])


def address_of(source: HubSource) -> str:
    """Where the file is, at the hub or its mirror."""
    hub = (os.environ.get(_MIRROR) or source.address).rstrip("/")
    return f"{hub}/{quote(source.repository)}/resolve/{quote(source.revision)}/{quote(source.file)}"


def _client() -> httpx2.AsyncClient:
    # Importing it and reading the machine's certificates takes its time.
    import httpx2

    timeout = httpx2.Timeout(_SILENCE_SECONDS, connect=_CONNECT_SECONDS)
    return httpx2.AsyncClient(follow_redirects=True, timeout=timeout, headers={"Accept-Encoding": "identity"})


async def _once(client: httpx2.AsyncClient, address: str, part: PartialDownload) -> str | None:
    """Fetch until it is whole, or say how it broke off. Raises SourceFailed where trying again would not help."""
    import httpx2

    headers = {"Range": f"bytes={part.size}-"} if part.size else {}
    try:
        async with client.stream("GET", address, headers=headers) as answer:
            if answer.status_code >= 500 or answer.status_code == 429:
                return f"{_host(address)} answered {answer.status_code}"
            await _accept(answer, part, _host(address))
            await part.take(answer.aiter_raw(), "hub")
    except httpx2.ConnectError as error:
        raise SourceFailed(f"{_host(address)} cannot be reached ({_why(error)})") from None
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
        return f"the connection to {_host(address)} was lost ({_why(error)})"
    return None if part.size == part.total else f"{_host(address)} cut off its answer"


async def _accept(answer: httpx2.Response, part: PartialDownload, host: str) -> None:
    """See that what comes is the missing rest, or begin anew with the whole."""
    if answer.status_code == 206:
        said = _RANGE.fullmatch(answer.headers.get("content-range", ""))
        if said is None or int(said[1]) != part.size or int(said[2]) != part.total:
            raise SourceFailed(f"{host} offers another file than the one that is listed")
        return
    if answer.status_code != 200:
        raise SourceFailed(f"{host} answered {answer.status_code}")
    length = answer.headers.get("content-length", "")
    if length.isdigit() and int(length) != part.total:
        raise SourceFailed(f"{host} offers another file than the one that is listed")
    if part.size:
        await part.empty()


def _host(address: str) -> str:
    return urlsplit(address).hostname or "the hub"


def _why(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
