"""The home of an earlier version: where it has to lie, and what is asked of it.

What is imported of the package stands in ``histories`` alone. Everything else goes over the command line, REST and the WebSocket,
which stay what they are when modules move.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from jupyter_client.asynchronous.client import AsyncKernelClient

from tests._helpers.forked_python import forked_python
from tests.comm._helpers.jupyter_process import JupyterProcess
from tests.comm._helpers.scripted_pages import Turn
from tests.comm.channel._helpers.channel_panel import Panel

__all__ = [
    "ARCHIVE",
    "ENVIRONMENT",
    "EXPECTED",
    "NOTEBOOK",
    "PLACE",
    "Json",
    "answer",
    "conversations",
    "environment_of",
    "evaluated",
    "histories",
    "kernel_of",
    "program",
    "program_json",
    "rules",
    "settings_told",
    "speak",
    "statistics",
    "texts",
    "told",
]

Json = dict[str, Any]

HERE: Final = Path(__file__).parents[1]
ARCHIVE: Final = HERE / "home-0.1.0.tar.xz"
EXPECTED: Final = HERE / "home-0.1.0.json"

PLACE: Final = Path("/tmp/hdsp-compatibility")
"""Checkpoints and conversations name their workspace by its path, so it is the same wherever the archive is unpacked."""

NOTEBOOK: Final = "prices.ipynb"

ENVIRONMENT: Final = {
    # Whose conversations they are.
    **dict.fromkeys(("LOGNAME", "USER", "LNAME", "USERNAME"), "ada"),
    "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
}


def program(home: Path, *arguments: str, backend: str = "files", codes: tuple[int, ...] = (0,)) -> str:
    """What ``hdsp-agent`` prints over this home."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("HDSP_", "JUPYTER", "COV"))}
    own = {"HDSP_AGENT_HOME": str(home), "HDSP_AGENT_STORAGE_BACKEND": backend, "PYTHONUTF8": "1", "TZ": "UTC"}
    no_config = {"JUPYTER_CONFIG_DIR": str(home / "no-config"), "JUPYTER_CONFIG_PATH": ""}
    done = subprocess.run(
        [forked_python(), "-m", "hdsp_agent.cli", *arguments],
        env={**kept, **own, **no_config, **ENVIRONMENT},
        cwd=PLACE,
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode in codes, (arguments, done.returncode, done.stdout.decode(), done.stderr.decode())
    return done.stdout.decode()


def program_json(home: Path, *arguments: str, backend: str = "files", codes: tuple[int, ...] = (0,)) -> Any:
    """The document that it prints."""
    return json.loads(program(home, *arguments, "--json", backend=backend, codes=codes))


def histories(home: Path, backend: str) -> dict[str, Json]:
    """For each task how many messages its effective histories have, and a hash of what they and its artifacts are."""
    from hdsp_agent.persistence import backend_named, effective_ui, open_store
    from tests.persistence._helpers.effective_history import effective_api

    def summed(records: list[Any]) -> Json:
        # What stands in for an answer that is missing is in no log: its words belong to whoever reads.
        logged = [record for record in records if getattr(record, "seq", None) != 0]
        stored = [record.model_dump(mode="json", by_alias=True, exclude_unset=True) for record in logged]
        text = json.dumps(stored, sort_keys=True, ensure_ascii=False)
        return {"count": len(records), "sha256": hashlib.sha256(text.encode()).hexdigest()}

    async def read() -> dict[str, Json]:
        store = open_store(home, backend_named(backend))
        found: dict[str, Json] = {}
        try:
            for task in await store.tasks():
                reader = await store.view(task)
                marks = [mark async for mark in reader.marks.iterate()]
                ui = effective_ui([one async for one in reader.ui.iterate()], marks)
                api = effective_api([one async for one in reader.api.iterate()], marks)
                logs = (reader.marks, reader.summaries, reader.tools)
                found[str(task)] = {
                    "ui": summed(ui),
                    "api": summed(api),
                    "counts": [await log.count() for log in logs],
                    "artifacts": {
                        name: hashlib.sha256(await reader.read_artifact(name)).hexdigest()
                        for name in sorted(artifacts.get(str(task), ()))
                    },
                }
        finally:
            await store.stop()
        return found

    artifacts: dict[str, list[str]] = {}
    for path in (home / "contexts").glob("*/*/artifacts/*"):
        artifacts.setdefault(path.parent.parent.name, []).append(path.name)
    return asyncio.run(read())


def rules(home: Path, root: Path) -> dict[str, list[str | None]]:
    """What would be decided about commands, and what would run."""
    told = {
        command: program_json(home, "policy", "check", "--command", command, "--workspace", str(root))
        for command in ("git log -3", "git push", "rm -r data")
    }
    return {command: [one["decision"], one["runs"]] for command, one in told.items()}


def conversations(home: Path, backend: str) -> list[Json]:
    """All lines of the history, by title."""
    found: list[Json] = program_json(home, "list", "--sort", "newest", backend=backend)["tasks"]
    return sorted(found, key=lambda one: json.dumps(one, sort_keys=True))


def statistics(home: Path, backend: str) -> Json:
    """Conversations in numbers."""
    found: Json = program_json(home, "stats", "--summary", backend=backend)
    del found["disk"]
    return found


async def settings_told(server: JupyterProcess) -> Json:
    """All that a server tells of settings."""
    profiles = await server.call("GET", "profiles")
    names = [one["name"] for one in profiles["profiles"]]
    return {
        "settings": (await server.call("GET", "settings"))["settings"],
        "profiles": profiles,
        "each profile": {name: await server.call("GET", f"profiles/{quote(name)}") for name in names},
        "trusted folders": await server.call("GET", "trusted-folders"),
    }


def texts(root: Path) -> dict[str, str]:
    """The files of a workspace that are small and no notebooks."""
    return {
        str(path.relative_to(root)): path.read_text("utf-8")
        for path in sorted(root.rglob("*"))
        if path.is_file() and path.suffix in (".csv", ".txt", ".md", ".sh")
    }


async def speak(server: JupyterProcess, *turns: Turn, profile: str = "default") -> None:
    """Let the model of a profile say this from here on."""
    scripts = server.root.parent / "scripts"
    scripts.mkdir(exist_ok=True)
    script = scripts / f"{len(list(scripts.iterdir()))}.json"
    script.write_text(json.dumps([list(turn) for turn in turns]), "utf-8")
    settings = {"apiProvider": "fake-ai", "apiModelId": str(script)}
    await server.call("PATCH", f"profiles/{profile}", {"settings": settings})


async def told(page: Panel, request: str, **fields: Any) -> Any:
    """What a request is answered with."""
    ack = await page.ask(request, **fields)
    assert ack["ok"], ack
    return ack.get("result")


async def answer(page: Panel, ts: int, response: str = "yesButtonClicked", **fields: object) -> None:
    """Answer a question."""
    await told(page, "askResponse", messageTs=ts, askResponse=response, **fields)


async def kernel_of(server: JupyterProcess, notebook: str) -> str:
    """The kernel of a notebook, begun if there is none."""
    asked = {"path": notebook, "type": "notebook", "name": notebook, "kernel": {"name": "python3"}}
    session = await server.jupyter("POST", "api/sessions", asked)
    return str(session["kernel"]["id"])


async def evaluated(server: JupyterProcess, kernel: str, code: str, *expressions: str) -> dict[str, str]:
    """What the expressions are in a kernel, after it ran some code."""
    client = AsyncKernelClient()
    client.load_connection_file(str(server.root.parent / "runtime" / f"kernel-{kernel}.json"))
    client.start_channels(stdin=False, hb=False)
    try:
        await client.wait_for_ready(timeout=120)
        asked = {name: name for name in expressions}
        reply = await client.execute_interactive(
            code, silent=True, store_history=False, user_expressions=asked, timeout=120, output_hook=lambda _: None
        )
        content = reply["content"]
        assert content["status"] == "ok", content
        found = content["user_expressions"]
        # What is not there says so, as what was not restored does.
        return {
            name: re.sub(r" at 0x[0-9a-f]+", "", one["data"]["text/plain"] if one["status"] == "ok" else one["ename"])
            for name, one in found.items()
        }
    finally:
        client.stop_channels()
        client.context.destroy(0)


async def environment_of(server: JupyterProcess, kernel: str) -> list[str]:
    """What decides whether values can be read: the Python, and the major versions of the libraries."""
    code = "import numpy, pandas, sys"
    asked = (
        "'.'.join(map(str, sys.version_info[:2]))",
        "numpy.__version__.split('.')[0]",
        "pandas.__version__.split('.')[0]",
    )
    found = await evaluated(server, kernel, f"{code}\n", *asked)
    return [found[one].strip("'") for one in asked]
