"""``docs/reference/shortcuts.md``: the keys that the labextension's schemas give to commands."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from .markdown import code, header, table

__all__ = ["write_shortcuts_page"]

_SCHEMAS: Final = Path(__file__).resolve().parents[2] / "labextension" / "schema"

_INTRODUCTION: Final = """
Change any of these under _Settings → Settings Editor → Keyboard Shortcuts_; search for the command's name. <kbd>Accel</kbd>
is <kbd>Ctrl</kbd>, or <kbd>⌘</kbd> on macOS.
"""

_PLACES: Final = {
    "body": "everywhere",
    ".jp-hdspAgent-Panel": "in the panel",
    ".jp-Notebook": "in a notebook",
    ".jp-Notebook .jp-Cell": "in a cell",
    ".jp-Notebook .jp-CodeCell": "in a code cell",
    ".jp-Notebook .jp-Cell[data-hdsp-agent='changed']": "in a cell the agent changed",
}


def write_shortcuts_page() -> str:
    """The file's text, before prettier."""
    body = table(("Keys", "Where", "Command"), sorted(_rows(), key=lambda row: (row[1], row[2])))
    return f"{header('Keyboard shortcuts', 'labextension/schema', _INTRODUCTION)}\n\n{body}\n"


def _rows() -> Iterator[tuple[str, str, str]]:
    for file in sorted(_SCHEMAS.glob("*.json")):
        schema = json.loads(file.read_text(encoding="utf-8"))
        for shortcut in schema.get("jupyter.lab.shortcuts", []):
            keys = " ".join("+".join(f"<kbd>{key}</kbd>" for key in stroke.split()) for stroke in shortcut["keys"])
            selector = shortcut["selector"]
            yield keys, _PLACES.get(selector, code(selector)), code(shortcut["command"])
