"""The keys of the schemas are none of JupyterLab's own."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

OURS = Path(__file__).parents[1] / "labextension/schema"
LAB = Path(sys.prefix) / "share/jupyter/lab/schemas/@jupyterlab"

# Leaving a place is what Escape does everywhere, and Lab gives nothing to it inside the panel.
MEANT = {"hdsp-agent:leave"}


def shortcuts(folder: Path) -> list[tuple[str, frozenset[str]]]:
    """Each command with the keys of its first stroke."""
    found = []
    for file in folder.rglob("*.json"):
        for shortcut in json.loads(file.read_text(encoding="utf-8")).get("jupyter.lab.shortcuts", []):
            for name in ("keys", "macKeys", "winKeys", "linuxKeys"):
                if keys := shortcut.get(name):
                    stroke = keys[0].replace("Ctrl", "Accel").replace("Cmd", "Accel")
                    found.append((shortcut["command"], frozenset(stroke.split())))
    return found


@pytest.mark.skipif(not LAB.exists(), reason="JupyterLab is not installed")
def test_no_key_is_one_of_jupyterlabs() -> None:
    lab = {keys: command for command, keys in shortcuts(LAB)}
    assert len(lab) > 100
    assert len(shortcuts(OURS)) > 10
    taken = {ours: lab[keys] for ours, keys in shortcuts(OURS) if keys in lab and ours not in MEANT}
    assert taken == {}
