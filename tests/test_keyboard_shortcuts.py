"""The keys of the schemas are none of JupyterLab's own, nor of the desktop's and of screen readers."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

OURS = Path(__file__).parents[1] / "labextension/schema"
LAB = Path(sys.prefix) / "share/jupyter/lab/schemas/@jupyterlab"

# Leaving a place is what Escape does everywhere, and Lab gives nothing to it inside the panel. Lab finds in documents what
# the same keys find in the panel.
MEANT = {"hdsp-agent:leave", "hdsp-agent:find"}

# What a desktop or a screen reader takes before a page hears of it, where nobody has changed it, and where that is written.
TAKEN = {
    entry["program"]: entry
    for entry in json.loads(Path(__file__).with_name("taken_shortcuts.json").read_text(encoding="utf-8"))
}
# Ctrl and Alt are AltGr on Windows: what a person types with it in a field is no command.
TYPED_WITH_ALTGR = {"Polish": "ACELNOSXZ", "German": "QEM27890", "Spanish": "E1234567", "French": "E234567890"}


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


def ours_with(accel: str) -> list[tuple[str, frozenset[str]]]:
    """Our shortcuts as they are pressed where Accel is Ctrl, or Cmd."""
    return [(ours, frozenset(accel if key == "Accel" else key for key in keys)) for ours, keys in shortcuts(OURS)]


@pytest.mark.skipif(not LAB.exists(), reason="JupyterLab is not installed")
def test_no_key_is_one_of_jupyterlabs() -> None:
    lab = {keys: command for command, keys in shortcuts(LAB)}
    assert len(lab) > 100
    assert len(shortcuts(OURS)) > 10
    taken = {ours: lab[keys] for ours, keys in shortcuts(OURS) if keys in lab and ours not in MEANT}
    assert taken == {}


@pytest.mark.parametrize("program", TAKEN)
def test_no_key_is_one_that_the_desktop_or_a_screen_reader_takes(program: str) -> None:
    taken = {frozenset(keys.split()): keys for keys in TAKEN[program]["keys"]}
    accel = "Cmd" if program == "macOS" else "Ctrl"
    assert {ours: taken[keys] for ours, keys in ours_with(accel) if keys in taken} == {}


def test_the_lists_say_where_they_are_from() -> None:
    assert {"NVDA", "KDE", "GNOME", "macOS"} <= TAKEN.keys()
    for entry in TAKEN.values():
        assert entry["sources"]
        assert len(entry["keys"]) == len(set(entry["keys"]))


def test_no_key_is_one_of_voiceover() -> None:
    # Control and Option held down together are what every command of VoiceOver begins with.
    assert not [ours for ours, keys in ours_with("Cmd") if {"Ctrl", "Alt"} <= keys]


@pytest.mark.parametrize("language", TYPED_WITH_ALTGR)
def test_no_key_is_a_letter_of_somebodys_keyboard(language: str) -> None:
    letters = {frozenset(("Accel", "Alt", letter)): letter for letter in TYPED_WITH_ALTGR[language]}
    assert {ours: letters[keys] for ours, keys in shortcuts(OURS) if keys in letters} == {}


def test_no_key_uses_that_of_a_screen_reader() -> None:
    assert not [ours for ours, keys in shortcuts(OURS) if keys & {"Insert", "CapsLock", "NumpadInsert"}]
    alone = [ours for ours, keys in shortcuts(OURS) if not keys & {"Accel", "Alt"}]
    assert alone == ["hdsp-agent:leave"], "letters alone move about in a page that is read aloud"
