"""A hub of models, over HTTP: one of its files, going on where it was cut, and what it says of a repository."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, urlsplit

from ._model_list import HubSource
from ._partial_download import SourceFailed

if TYPE_CHECKING:
    import httpx2

__all__ = ["HUB", "fetch_document", "hub_chunks"]

HUB: Final = "https://huggingface.co"

_CONNECT_SECONDS: Final = 10.0
_SILENCE_SECONDS: Final = 30.0
_PAUSES: Final = (0.5, 2.0, 5.0)
"""Seconds to wait after a cut, before going on; with progress in between they begin anew."""
_LARGEST_DOCUMENT: Final = 8 * 1024 * 1024
_RANGE: Final = re.compile(r"bytes (\d+)-\d+/(\d+)")
_MIRROR: Final = "HF_ENDPOINT"
"""The variable by which the hub's own tools are told of a mirror."""


class _Cut(Exception):
    """The connection ended too early. Trying again may help."""


async def hub_chunks(source: HubSource, total: int, begin: int) -> AsyncGenerator[bytes, None]:
    """The file's bytes from ``begin`` on. Raises SourceFailed."""
    address = _at_hub(source.address, f"{source.repository}/resolve/{source.revision}/{source.file}")
    client = await asyncio.to_thread(_client, address)
    async with client:
        tries = 0
        while begin < total:
            before, reason = begin, f"{_host(address)} cut off its answer"
            try:
                async with aclosing(_answered(client, address, begin, total)) as chunks:
                    async for chunk in chunks:
                        begin += len(chunk)
                        yield chunk
            except _Cut as cut:
                reason = str(cut)
            if begin < total:
                tries = 0 if begin > before else tries + 1
                if tries >= len(_PAUSES):
                    raise SourceFailed(reason)
                await asyncio.sleep(_PAUSES[tries])


async def fetch_document(path: str, query: str) -> tuple[int, bytes]:
    """The status and the text of a page of the hub's interface. Raises SourceFailed; a page too long has status 413."""
    address = _at_hub(HUB, path, query)
    client = await asyncio.to_thread(_client, address)
    import httpx2

    text = bytearray()
    try:
        async with client, client.stream("GET", address) as answer:
            async for chunk in answer.aiter_bytes():
                text += chunk
                if len(text) > _LARGEST_DOCUMENT:
                    return 413, b""
            return answer.status_code, bytes(text)
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
        raise SourceFailed(f"{_host(address)} cannot be reached ({_why(error)})") from None


def _at_hub(address: str, path: str, query: str = "") -> str:
    hub = (os.environ.get(_MIRROR) or address).rstrip("/")
    return f"{hub}/{quote(path)}{query}"


def _client(address: str) -> httpx2.AsyncClient:
    # Importing it and reading the machine's certificates takes its time.
    import httpx2

    async def check(request: httpx2.Request) -> None:
        # Whoever was promised an encrypted connection is not sent on to another one.
        if request.url.scheme not in ("https", urlsplit(address).scheme):
            raise SourceFailed(f"{_host(address)} sends to an address that is not encrypted")

    return httpx2.AsyncClient(
        follow_redirects=True,
        timeout=httpx2.Timeout(_SILENCE_SECONDS, connect=_CONNECT_SECONDS),
        headers={"Accept-Encoding": "identity"},
        event_hooks={"request": [check]},
    )


async def _answered(client: httpx2.AsyncClient, address: str, begin: int, total: int) -> AsyncGenerator[bytes, None]:
    """What one request gives. Raises _Cut, or SourceFailed where trying again would not help."""
    import httpx2

    host, headers = _host(address), {"Range": f"bytes={begin}-"} if begin else {}
    try:
        async with client.stream("GET", address, headers=headers) as answer:
            known = _already_known(answer, begin, total, host)
            async for chunk in answer.aiter_raw():
                fresh, known = chunk[known:], max(0, known - len(chunk))
                yield fresh
    except httpx2.ConnectError as error:
        raise SourceFailed(f"{host} cannot be reached ({_why(error)})") from None
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
        raise _Cut(f"the connection to {host} was lost ({_why(error)})") from None


def _already_known(answer: httpx2.Response, begin: int, total: int, host: str) -> int:
    """How many bytes of the answer are there already: all before ``begin`` if it knows no ranges."""
    if answer.status_code >= 500 or answer.status_code == 429:
        raise _Cut(f"{host} answered {answer.status_code}")
    if answer.status_code not in (200, 206):
        raise SourceFailed(f"{host} answered {answer.status_code}")
    said = _RANGE.fullmatch(answer.headers.get("content-range", ""))
    length = answer.headers.get("content-length", "")
    if answer.status_code == 206:
        is_right = said is not None and (int(said[1]), int(said[2])) == (begin, total)
    else:
        is_right = not length.isdigit() or int(length) == total
    if not is_right:
        raise SourceFailed(f"{host} offers another file than the one that is listed")
    return begin if answer.status_code == 200 else 0


def _host(address: str) -> str:
    return urlsplit(address).hostname or "the hub"


def _why(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
