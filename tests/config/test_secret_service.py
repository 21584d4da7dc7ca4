"""Keys in a real Secret Service: gnome-keyring on a session bus of its own, with a home folder of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the Secret Service is Linux's keyring")

SESSION = Path(__file__).parent / "_helpers" / "secret_service_session.py"
PROGRAMS = {"gnome-keyring-daemon": "gnome-keyring", "dbus-run-session": "dbus-daemon"}


@pytest.fixture
def person() -> Iterator[Path]:
    """A home folder whose path is short: sockets below it may not exceed 107 characters."""
    folder = Path(tempfile.mkdtemp(prefix="hk-"))
    (folder / "run").mkdir(mode=0o700)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def in_session(person: Path, scenario: str) -> dict[str, object]:
    """Play a scenario in a desktop session's process; returns what it saw."""
    missing = [package for program, package in PROGRAMS.items() if shutil.which(program) is None]
    if missing:
        pytest.fail(
            f"This test needs a real Secret Service. Install: {' '.join(missing)} (scripts/system_packages.sh does)"
        )
    unwanted = (
        "DISPLAY",
        "WAYLAND_DISPLAY",
        "PYTHON_KEYRING_BACKEND",
        "DBUS_SESSION_BUS_ADDRESS",
        "GNOME_KEYRING_CONTROL",
    )
    env = {name: value for name, value in os.environ.items() if name not in unwanted and not name.startswith("XDG_")}
    env |= {"HOME": str(person), "XDG_RUNTIME_DIR": str(person / "run"), "XDG_DATA_HOME": str(person / "data")}
    run = subprocess.run(
        ["dbus-run-session", "--", sys.executable, "-W", "error", str(SESSION), scenario],
        env=env,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "planted" not in run.stdout + run.stderr
    told: dict[str, object] = json.loads(run.stdout.splitlines()[-1])
    return told


def test_keys_live_in_the_keyring_and_in_no_file(person: Path) -> None:
    saw = in_session(person, "unlocked")
    assert saw["first"] == {"kind": "keyring", "available": True, "code": "ok"}
    assert saw["source"] == ["keyring", "6789"]
    assert saw["read back by another process"] is True
    assert saw["after delete"] is None
    assert saw["after deleting the profile"] is None
    for file in (person / "hdsp").rglob("*"):
        if file.is_file():
            assert b"planted" not in file.read_bytes(), file


def test_keys_move_from_a_file_into_the_keyring_and_back(person: Path) -> None:
    saw = in_session(person, "moved")
    assert saw["in the keyring"] is True
    assert saw["file gone"] is True
    assert saw["back in the file"] is True


def test_a_reset_leaves_nothing_in_the_keyring(person: Path) -> None:
    assert in_session(person, "reset")["left"] == []


def test_a_locked_keyring_is_said_and_works_once_unlocked(person: Path) -> None:
    assert in_session(person, "unlocked")["first"]
    saw = in_session(person, "locked")
    assert saw["code"] == "keyring_locked"
    assert "locked" in str(saw["error"])
    assert saw["after unlocking"] == "ok"


def test_a_keyring_that_was_never_set_up_is_said(person: Path) -> None:
    saw = in_session(person, "never-set-up")
    assert saw["code"] in ("keyring_not_set_up", "keyring_locked")


@pytest.mark.long
def test_a_daemon_that_stops_answering_is_given_up_and_tried_again(person: Path) -> None:
    """The daemon is frozen, which is what a call to a dead one looks like from here: it never returns."""
    saw = in_session(person, "frozen")
    assert saw["code"] == "keyring_unresponsive"
    assert saw["others went on"] is True
    assert saw["after it woke up"] == "ok"
    assert saw["key still there"] is True


def test_a_bus_that_is_gone_is_known(person: Path) -> None:
    saw = in_session(person, "no-bus")
    assert saw["code"] == "keyring_missing"


def test_a_bus_that_never_answers_is_given_up(person: Path) -> None:
    saw = in_session(person, "silent-bus")
    assert saw["code"] == "keyring_unresponsive"
