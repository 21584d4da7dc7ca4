"""Jupyter's own contents managers on a folder, each with a notary of its own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

from jupyter_server.services.contents.filemanager import AsyncFileContentsManager, FileContentsManager
from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager
from nbformat.sign import MemorySignatureStore, NotebookNotary

from hdsp_agent.messages import JsonObject

__all__ = ["MANAGERS", "manager_on", "raw_cells", "write"]

MANAGERS = {"sync": FileContentsManager, "async": AsyncFileContentsManager, "large": AsyncLargeFileManager}


@contextmanager
def manager_on(folder: Path, kind: str = "large") -> Iterator[FileContentsManager]:
    """A manager of this folder."""
    secrets = folder.parent / "notary"
    secrets.mkdir(exist_ok=True)
    with NotebookNotary(store_factory=MemorySignatureStore, data_dir=str(secrets), secret=b"test") as notary:
        yield MANAGERS[kind](root_dir=str(folder), notary=notary)


def write(folder: Path, name: str, notebook: JsonObject) -> bytes:
    """Put a notebook there as nbformat's writer would, whatever is wrong with it; the bytes."""
    text = json.dumps(notebook, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    (folder / name).write_bytes(text.encode("utf-8", errors="surrogatepass"))
    return (folder / name).read_bytes()


def raw_cells(file: Path) -> list[JsonObject]:
    """The cells in a file, as its JSON has them."""
    return cast("list[JsonObject]", json.loads(file.read_bytes())["cells"])
