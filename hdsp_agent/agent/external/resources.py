"""What programs outside can read by an address: notebooks, outputs of cells, and what is remembered."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qs, quote, unquote, urlsplit

from ...errors import NotAllowed, NotFound
from ...memory.memory_folder import SUMMARY
from ...messages import JsonObject
from ...tools import PathPolicy, ToolFailed
from .port import ExternalClient, ExternalResult, OfferedResource, ResourceContent

if TYPE_CHECKING:
    from .._agent_services import AgentServices

__all__ = ["ReadCall", "notebook_uri", "offered_resources", "read_call", "resource_contents"]

_SCHEME: Final = "hdsp-agent"
_SUMMARY_URI: Final = f"{_SCHEME}://memory/summary"
_NOTEBOOK: Final = OfferedResource(
    f"{_SCHEME}://notebook/{{+path}}",
    "notebook",
    "A notebook",
    "The cells of a notebook of the workspace with their sources and states, by its path.",
    "text/plain",
)
_OUTPUTS: Final = OfferedResource(
    f"{_SCHEME}://outputs/{{+path}}{{?cell}}",
    "outputs",
    "The outputs of a cell",
    "What a cell of a notebook printed and showed, images included, by the notebook's path and the cell's id.",
    "text/plain",
)
_TEMPLATES: Final = (_NOTEBOOK, _OUTPUTS)


@dataclass(frozen=True)
class ReadCall:
    """The call of a tool that reads what stands at an address."""

    tool: str
    arguments: JsonObject


def notebook_uri(path: str) -> str:
    """The address of a notebook."""
    return f"{_SCHEME}://notebook/{quote(path)}"


def read_call(uri: str) -> ReadCall:
    """How this is read. Raises NotFound."""
    if uri == _SUMMARY_URI:
        return ReadCall("read_memory", {"path": SUMMARY})
    parts = urlsplit(uri)
    path = unquote(parts.path.removeprefix("/"))
    if parts.scheme == _SCHEME and path:
        cells = parse_qs(parts.query).get("cell")
        if parts.netloc == "notebook":
            return ReadCall("read_notebook", {"path": path, "view": "cells"})
        if parts.netloc == "outputs" and cells:
            return ReadCall("read_notebook", {"path": path, "view": "outputs", "cells": [*cells]})
    raise NotFound(f"Nothing can be read at {uri}.", uri=uri)


def resource_contents(uri: str, result: ExternalResult) -> Sequence[ResourceContent]:
    """What a tool read, as it stands at this address. Raises NotFound or NotAllowed."""
    text = "\n\n".join(str(block["text"]) for block in result.content if block.get("type") == "text")
    if result.is_error:
        error = (result.structured or {}).get("error")
        code = error.get("code") if isinstance(error, dict) else None
        raise (NotAllowed if code == "denied" else NotFound)(text)
    contents = [ResourceContent(uri, "text/plain", text=text)]
    for block in result.content:
        source = block.get("source")
        if block.get("type") == "image" and isinstance(source, dict):
            contents.append(ResourceContent(uri, str(source["media_type"]), data=str(source["data"])))
    return contents


async def offered_resources(services: AgentServices, client: ExternalClient) -> Sequence[OfferedResource]:
    """The notebooks that are open, the memory summary where there is one, and the templates."""
    settings = services.settings()
    folder = Path(client.folder) if client.folder is not None else services.workspace
    found: list[OfferedResource] = []
    if services.notebooks is not None:
        access = services.notebooks.access
        names, root = sorted(access.open_paths), access.root

        def shown() -> list[str]:
            paths = services.paths(folder, settings)
            return [path for name in names if (path := _shown(name, root, paths)) is not None]

        found += [
            OfferedResource(notebook_uri(path), path, path, "A notebook that is open in JupyterLab.", "text/plain")
            for path in await asyncio.to_thread(shown)
        ]
    if settings.memory_enabled and services.memories is not None:
        found.append(
            OfferedResource(
                _SUMMARY_URI, "memory-summary", "Memory", "What is remembered of earlier conversations.", "text/plain"
            )
        )
    templates = _TEMPLATES if services.notebooks is not None else ()
    return [*found, *templates]


def _shown(name: str, root: Path | None, paths: PathPolicy) -> str | None:
    try:
        return paths.resolve(name if root is None else str(root / name)).shown
    except ToolFailed:
        return None
