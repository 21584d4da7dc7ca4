"""A task as one JSON document that can be imported again: what was recorded, line by line, and its artifacts."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import AsyncIterator
from typing import Final

from pydantic import JsonValue

from ...errors import HdspAgentError
from ...messages import ClineMessage
from ...wire import WireModel
from .._task_reader import TaskReader
from .._task_streams import Records
from ._export_parts import history_item_of, without_keys, without_the_past
from ._import_sources import EXPORT_FORMAT, EXPORT_VERSION

__all__ = ["render_json"]

_ARTIFACT: Final = re.compile(r"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")


async def render_json(reader: TaskReader) -> AsyncIterator[bytes]:
    """The document, a line a record. What tells of the machine it was made on stays out, and links to other conversations."""
    metadata = reader.metadata.to_wire()
    for name in ("process_id", "hostname", "user"):
        metadata.pop(name, None)
    metadata["config"] = without_keys(reader.metadata.config)
    state = (await reader.read_state()).to_wire()
    state.pop("history_item", None)
    heads: dict[str, JsonValue] = {
        "format": EXPORT_FORMAT,
        "version": EXPORT_VERSION,
        "metadata": metadata,
        "state": state,
        "historyItem": (await history_item_of(reader)).to_wire(),
    }
    names: set[str] = set()
    yield (json.dumps(heads, ensure_ascii=False, indent=1)[:-2]).encode("utf-8", "replace")
    # The short ones come first.
    for stream in ("marks", "summaries", "tools", "ui", "api"):
        async for chunk in _section(stream, reader.streams[stream], names):
            yield chunk
    async for chunk in _artifacts(reader, names):
        yield chunk
    yield b"\n}\n"


async def _section(title: str, records: Records[WireModel], names: set[str]) -> AsyncIterator[bytes]:
    yield f',\n "{title}": ['.encode()
    separator = "\n"
    async for record in records.iterate():
        kept = without_the_past(record) if isinstance(record, ClineMessage) else record
        if kept is None:
            continue
        line = json.dumps(kept.to_wire(), ensure_ascii=False, separators=(",", ":"))
        names.update(_ARTIFACT.findall(line))
        yield (separator + line).encode("utf-8", "replace")
        separator = ",\n"
    yield b"\n ]"


async def _artifacts(reader: TaskReader, names: set[str]) -> AsyncIterator[bytes]:
    """The artifacts that a record names."""
    yield b',\n "artifacts": ['
    separator = "\n"
    for name in sorted(names):
        try:
            data = await reader.read_artifact(name)
        except HdspAgentError:
            continue
        yield f'{separator}{{"name":"{name}","data":"{base64.b64encode(data).decode()}"}}'.encode()
        separator = ",\n"
    yield b"\n ]"
