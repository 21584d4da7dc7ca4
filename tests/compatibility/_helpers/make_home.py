"""Makes the home of this version: ``python -m tests.compatibility._helpers.make_home FOLDER``.

Real parts make it: a Jupyter Server, kernels, notebooks, the command line; only the model has a script. It was run once, with version
0.1.0. What a later version made would show nothing of how that version stored things.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import sys
import tarfile
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

import nbformat

from hdsp_agent._version import __version__
from tests.comm._helpers.jupyter_process import JupyterProcess
from tests.comm._helpers.scripted_pages import Turn, asked, conversation, question
from tests.comm.channel._helpers.channel_panel import Panel

from .home import (
    ENVIRONMENT,
    NOTEBOOK,
    PLACE,
    Json,
    answer,
    conversations,
    environment_of,
    evaluated,
    histories,
    kernel_of,
    program,
    program_json,
    rules,
    settings_told,
    speak,
    statistics,
    texts,
    told,
)

LONG_AGO: Final = "2024-01-01T00:00:00.000000Z"

SETTINGS: Final[Json] = {
    "autoApprovalEnabled": True,
    "alwaysAllowReadOnly": True,
    "alwaysAllowWrite": True,
    "alwaysAllowExecute": True,
    "alwaysAllowRunCells": True,
    "alwaysAllowSubtasks": True,
    "alwaysAllowModeSwitch": True,
    "allowedCommands": ["git log", "pytest", "seq", "echo"],
    "deniedCommands": ["git push", "echo never"],
    "customInstructions": "Antworte kurz. 간단히.",
    "customModes": [
        {
            "slug": "plots",
            "name": "Plots 그림",
            "roleDefinition": "You draw plots.",
            "whenToUse": "For plots",
            "groups": ["read", ["edit", {"fileRegex": "\\.py$", "description": "Python only"}]],
        }
    ],
    "customModePrompts": {"code": {"customInstructions": "Use pandas."}},
    "customSupportPrompts": {"ENHANCE": "Say it better: ${userInput}"},
    "autoCondenseContextPercent": 77,
    "requestDelaySeconds": 3,
    "enterBehavior": "newline",
    "embedHistoryInNotebook": True,
    "maskedKinds": ["github-token", "openai-key", "assigned-secret", "email"],
    # They are older every day.
    "retentionCompressDays": 0,
    "retentionDeleteDays": 0,
}

DEFINITIONS: Final = """\
import datetime, functools
from dataclasses import dataclass, field
import numpy as np
import pandas as pd

@dataclass
class Offer:
    name: str
    price: float
    notes: list = field(default_factory=list)
    sold = 0
    def label(self):
        return f'{self.name}: {self.price:.2f} {factor}'

class Special(Offer):
    @property
    def half(self):
        return super().label() + ' / 2'
"""
VALUES: Final = """\
factor = 3
grid = np.arange(12.0).reshape(3, 4)
row = grid[1]
wide = (np.arange(400_000) % 97).astype('uint8')
days = pd.to_datetime(['2026-01-02', '2026-03-04'])
frame = pd.DataFrame({'name': ['tea', '커피'], 'price': [3.5, 4.25], 'day': days})
triple = lambda value: value * factor
def adder(step):
    def add(value, *, more=1):
        'Adds.'
        return value + step + more
    return add
add_five = adder(5)
partly = functools.partial(add_five, more=100)
offer = Offer('tea', 3.5)
offers = {'first': offer, 'special': Special('cake', 8.0, ['fresh'])}
Offer.sold = 17
mixed = {'set': {1, 2}, 'bytes': b'\\x00\\xff', 'when': datetime.datetime(2026, 1, 2, 3, 4), 'deep': [[(1, None)]]}
mixed['self'] = mixed['deep']
numbers = (number for number in range(3))"""
CELLS: Final = (DEFINITIONS, VALUES, "print(frame['price'].sum(), triple(4))")
"""Of what is saved of kernels: classes of the notebook, arrays that share memory, frames, functions, and what cannot be saved."""

EXPRESSIONS: Final = (
    "factor",
    "grid.tolist(), str(grid.dtype)",
    "np.shares_memory(row, grid), row.tolist()",
    "len(wide), int(wide.sum()), wide[95:99].tolist()",
    "frame.to_dict('list')",
    "[str(one) for one in frame.dtypes]",
    "triple(14)",
    "add_five(1), add_five.__doc__, add_five.__closure__[0].cell_contents",
    "partly(1)",
    "offer, offer.label(), offer.sold, type(offer).__module__, type(offer).__qualname__",
    "offers['first'] is offer",
    "offers['special'], offers['special'].half, isinstance(offers['special'], Offer)",
    "mixed",
    "mixed['self'] is mixed['deep']",
    "pd.__name__, np.__name__, datetime.__name__",
    "numbers",
    "Offer('new', 1).label()",
)


def call(tool: str, id: str, **arguments: object) -> Json:
    return {"tool": tool, "arguments": arguments, "id": id}


def usage(input: int, output: int, **cached: int) -> Json:
    return {"usage": {"input": input, "output": output, **cached}}


def done(result: str) -> Turn:
    return (usage(900, 12), call("attempt_completion", f"done-{len(result)}", result=result))


def write(path: str, content: str) -> Turn:
    return (
        {"thinking": "A file is wanted.", "signature": "none"},
        {"text": f"I write {path}."},
        usage(1500, 80, cacheRead=400, cacheWrite=1000),
        call("write_to_file", f"w-{path}", path=path, content=content),
    )


async def finished(page: Panel, text: str, **fields: object) -> str:
    """A conversation that comes to its end by itself."""
    task = str(await told(page, "newTask", text=text, **fields))
    await question(page, "completion_result")
    return task


def workspace(root: Path) -> None:
    """A project with what it brings for the agent."""
    (root / "data").mkdir()
    (root / "data" / "prices.csv").write_text("name,price\ntea,3.5\n커피,4.25\n", "utf-8")
    (root / "data" / "noise.bin").write_bytes(bytes(range(256)) * 8)
    (root / "run.sh").write_text("#!/bin/sh\necho run\n", "utf-8")
    (root / "run.sh").chmod(0o755)
    (root / "link.csv").symlink_to("data/prices.csv")
    (root / "AGENTS.md").write_text("Keep it short.\n", "utf-8")
    (root / ".hdspignore").write_text("private/\n", "utf-8")
    (root / ".hdsp").mkdir()
    (root / ".hdsp" / "settings.json").write_text('{"deniedCommands": ["make deploy"]}', "utf-8")
    cells = [nbformat.v4.new_code_cell(source, id=f"c{number}") for number, source in enumerate(CELLS)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), root / NOTEBOOK)


async def make_settings(server: JupyterProcess) -> None:
    """Settings, profiles and rules that are not the default."""
    await server.call("PATCH", "settings", SETTINGS)
    work = {
        "apiProvider": "openai", "openAiBaseUrl": "https://models.example.org/v1", "openAiModelId": "large",
        "modelTemperature": 0.25, "openAiHeaders": {"X-Team": "prices"}, "consecutiveMistakeLimit": 5,
    }  # fmt: skip
    await server.call("POST", "profiles", {"name": "Work 일", "settings": work})
    await server.call("POST", "profiles", {"name": "child", "settings": {"apiProvider": "fake-ai"}})
    await server.call("PUT", "modes/ask/profile", {"profile": "child"})
    await server.call("PUT", "modes/plots/profile", {"profile": "Work 일"})
    await server.call("PATCH", "profiles/child", {"pinned": True})
    await asyncio.to_thread(program, server.home, "trust", str(server.root))
    other = server.root.parent / "not-trusted"
    other.mkdir()
    await asyncio.to_thread(program, server.home, "trust", str(other), "--revoke")


async def make_conversations(server: JupyterProcess, page: Panel) -> dict[str, str]:
    """One of each kind, by what it shows."""
    made: dict[str, str] = {}
    root = server.root

    await speak(server, write("notes.md", "# Prices\n"), done("The notes are written."))
    made["packed"] = await finished(page, "Write notes")
    # Read for its length only.
    words = "The prices were looked at, one after the other. " * 250
    await speak(
        server, (usage(1000, 2000), {"text": words}, call("read_file", "r", path="data/prices.csv")), done("All is read."),
        ({"text": "## Work Completed\nThe prices were read."}, usage(3000, 40)), done("Still all is read."),
    )  # fmt: skip
    made["condensed"] = await finished(page, "Read all prices. " + "And say what they are. " * 40)
    await told(page, "condenseTaskContextRequest", taskId=made["condensed"])
    await page.until(lambda: any(one["data"]["type"] == "condenseTaskContextResponse" for one in page.of("msg")))

    ask = call(
        "ask_followup_question", "q", question="Which colour?", follow_up=[{"text": "red"}, {"text": "blue"}]
    )  # fmt: skip
    await speak(server, (ask,), write("colour.txt", "blue\n"), done("It is blue."), done("It is red."))
    made["rewound"] = str(await told(page, "newTask", text="Choose a colour", images=[PICTURE]))
    await answer(page, await question(page, "followup"), "messageResponse", text="blue")
    await question(page, "completion_result")
    spoken = max(ts for ts, one in conversation(page).items() if one.get("say") == "user_feedback")
    await told(page, "rewindTask", messageTs=spoken, keep=True)
    await question(page, "resume_task")
    await told(page, "undoConversation")
    await question(page, "completion_result")
    await told(page, "rewindTask", messageTs=spoken, keep=True)
    await question(page, "resume_task")

    delegate = call("new_task", "s", mode="ask", message="Find the cheapest")
    await speak(server, (usage(700, 20), delegate), done("The cheapest is tea."))
    await speak(server, (usage(500, 9), *done("It is tea.")), profile="child")
    made["with subtask"] = str(await told(page, "newTask", text="Delegate it"))
    # The parent has the last word.
    await page.until(lambda: any("The cheapest" in str(one.get("text")) for one in conversation(page).values()))
    await question(page, "completion_result")

    secret = "ghp_" + "Zx8Qw2Er5Ty7Ui1Op3As6Df9Gh4Jk0LmNbVc"[:36]
    await speak(
        server, ({"text": "I count."}, usage(800, 30), call("execute_command", "c", command="seq 1 9000")),
        ({"text": "I look for the token."}, usage(800, 30), call("execute_command", "d", command=f"echo {secret}")),
        done("Nine thousand."),
    )  # fmt: skip
    made["with artifacts"] = str(await told(page, "newTask", text=f"Count far. My token is {secret}, tell nobody."))
    # What was masked is put back only where a person agrees.
    await answer(page, await question(page, "command"))
    await question(page, "completion_result")

    cells = [
        (usage(2000, 50), call("run_cells", "n1", cells=["all"])),
        (usage(2100, 60), call("edit_cells", "n2", operations=[{"op": "edit", "cell": "c2", "old": "4", "new": "5"}])),
        (usage(2200, 30), call("run_cells", "n3", cells=["c2"])),
    ]
    await speak(server, *cells, done("The sum is shown."))
    made["about a notebook"] = await finished(page, "Show the sum", notebook={"path": NOTEBOOK})

    touch = call("execute_command", "t", command="touch approved.txt")
    touches: Turn = ({"text": "I touch it."}, usage(600, 15), touch)
    await speak(server, touches)
    made["queued"] = str(await told(page, "newTask", text="Touch it, then more"))
    await question(page, "command")
    await told(page, "queueMessage", text="And say it twice")
    await told(page, "clearTask")

    await speak(server, touches)
    made["paused"] = str(await told(page, "newTask", text="Touch it after I agree"))
    await question(page, "command")
    await told(page, "clearTask")
    assert not (root / "approved.txt").exists()
    title = {"title": "표 shown", "isFavorited": True}
    await server.call("PATCH", f"history/{made['about a notebook']}", title)
    return made


async def make_checkpoints(server: JupyterProcess, kernel: str) -> Json:
    """Files, cells and variables that are saved, changed and brought back; what is to be had of them."""
    root = server.root
    first = await server.call("POST", "checkpoints", {"note": "by hand"})
    (root / "data" / "prices.csv").write_text("name,price\ntea,9.99\n", "utf-8")
    (root / "new.txt").write_text("new\n", "utf-8")
    (root / "run.sh").unlink()
    second = await server.call("POST", "checkpoints", {"note": "changed by hand"})
    parts = {"files": True, "overwrite": True}
    restored = await server.call("POST", f"checkpoints/{first['id']}/restore", {"parts": parts})
    await server.call("POST", f"checkpoint-operations/{restored['operation']['id']}/undo", {})
    restored = await server.call("POST", f"checkpoints/{first['id']}/restore", {"parts": parts})
    values = await evaluated(server, kernel, "", *EXPRESSIONS)
    kept = await server.call("POST", "checkpoints", {"path": NOTEBOOK, "note": "with variables"})
    assert kept["variables"] == [NOTEBOOK], kept
    cells = json.loads((root / NOTEBOOK).read_text("utf-8"))
    cells["cells"][2]["source"] = ["print('by hand')"]
    (root / NOTEBOOK).write_text(json.dumps(cells, indent=1), "utf-8")
    await evaluated(server, kernel, "factor = 4", "factor")
    back = {"parts": {"notebooks": True, "variables": True, "overwrite": True, "path": NOTEBOOK}}
    restored = await server.call("POST", f"checkpoints/{kept['id']}/restore", back)
    await server.call("POST", f"checkpoint-operations/{restored['operation']['id']}/undo", {})
    await server.call("POST", f"checkpoints/{kept['id']}/restore", back)
    line = await server.call("GET", "checkpoints?limit=500")
    return {
        "line": [one["id"] for one in line["operations"]],
        "first": first["id"],
        "second": second["id"],
        "with variables": kept["id"],
        "values": values,
        "environment": await environment_of(server, kernel),
    }


def pack(server: JupyterProcess, task: str) -> None:
    """Let a conversation be old enough to be packed."""
    folder = server.home / "contexts" / "completed" / task
    state = json.loads((folder / "state.json").read_text("utf-8"))
    state.update(completed_at=LONG_AGO, updated_at=LONG_AGO, started_at=LONG_AGO)
    (folder / "state.json").write_text(json.dumps(state), "utf-8")
    program(server.home, "clean", "--compress-days", "0", "--delete-days", "0")
    program(server.home, "clean", "--compress-days", "7", "--delete-days", "0")
    assert list(folder.glob("*.gz")), list(folder.iterdir())


async def make_files(server: JupyterProcess) -> Json:
    """The home whose conversations are files."""
    workspace(server.root)
    await server.start()
    try:
        await make_settings(server)
        kernel = await kernel_of(server, NOTEBOOK)
        async with server.page() as page:
            made = await make_conversations(server, page)
        checkpoints = await make_checkpoints(server, kernel)
        settings = await settings_told(server)
        exported = await server.call("GET", "settings/export")
    finally:
        await ended(server)
    await asyncio.to_thread(pack, server, made["packed"])
    (PLACE / "settings.json").write_text(json.dumps(exported, indent=1, ensure_ascii=False), "utf-8")
    return {"conversations": made, "checkpoints": checkpoints, "settings": settings}


async def make_sqlite(server: JupyterProcess) -> Json:
    """A small home whose conversations are in a database."""
    await server.start()
    try:
        await server.call("PATCH", "settings", SETTINGS)
        async with server.page() as page:
            await speak(server, write("notes.md", "# Notes\n"), done("The notes are written."))
            made = {"finished": await finished(page, "Write notes")}
            touch = call("execute_command", "t", command="touch approved.txt")
            await speak(server, (usage(600, 15), touch), done("It is touched."))
            made["paused"] = str(await told(page, "newTask", text="Touch it after I agree"))
            await question(page, "command")
            assert asked(page, "command")
            await told(page, "clearTask")
    finally:
        await ended(server)
    return {"conversations": made}


async def ended(server: JupyterProcess) -> None:
    """Stop it as a person does, with everything written."""
    with suppress(AssertionError):
        await server.end(signal.SIGTERM)
    server.kill()


def home_told(server: JupyterProcess, backend: str) -> Json:
    """What the command line and the store tell of a home."""
    return {
        "list": conversations(server.home, backend),
        "histories": histories(server.home, backend),
        "statistics": statistics(server.home, backend),
    }


def make(folder: Path) -> None:
    """Make everything, and put the archive and what is expected of it into a folder that has none of this version."""
    archived, told_of_it = folder / f"home-{__version__}.tar.xz", folder / f"home-{__version__}.json"
    if archived.exists() or told_of_it.exists():
        raise SystemExit(f"The home of {__version__} is made already, and is never made again.")
    shutil.rmtree(PLACE, ignore_errors=True)
    with tempfile.TemporaryDirectory() as site:
        (Path(site) / "sitecustomize.py").write_text(
            # Nothing of the machine where it is made.
            "import platform, socket\nsocket.gethostname = lambda: 'workstation'\nplatform.release = lambda: '6.1.0'\n",
            "utf-8",
        )
        environment = {**ENVIRONMENT, "PYTHONPATH": os.pathsep.join([site, os.environ.get("PYTHONPATH", "")])}
        files = JupyterProcess(PLACE / "files", environment=environment)
        database = JupyterProcess(PLACE / "sqlite", environment={**environment, "HDSP_AGENT_STORAGE_BACKEND": "sqlite"})
        expected: Json = {"files": asyncio.run(make_files(files)), "sqlite": asyncio.run(make_sqlite(database))}
    for server, backend in ((files, "files"), (database, "sqlite")):
        program(server.home, "doctor", backend=backend)
        expected[backend].update(home_told(server, backend))
    at = ["--workspace", str(files.root)]
    kept = expected["files"]["checkpoints"]
    kept["operations"] = program_json(files.home, "checkpoint", "list", "--operations", *at)["operations"]
    kept["diff"] = program_json(files.home, "checkpoint", "diff", kept["first"], kept["second"], *at, codes=(3,))
    kept["files"] = texts(files.root)
    expected["files"]["rules"] = rules(files.home, files.root)
    text = json.dumps(expected, indent=1, sort_keys=True, ensure_ascii=False)
    told_of_it.write_text(text + "\n", "utf-8")
    with tarfile.open(archived, "w:xz", preset=9, format=tarfile.PAX_FORMAT) as archive:
        for path in ("settings.json", "files/root", "files/home", "sqlite/root", "sqlite/home"):
            archive.add(PLACE / path, path, filter=anonymous)


def anonymous(entry: tarfile.TarInfo) -> tarfile.TarInfo:
    """Without who made it."""
    entry.uid = entry.gid = 0
    entry.uname = entry.gname = ""
    return entry


PICTURE: Final = (
    "data:image/png;base64,"
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


if __name__ == "__main__":
    make(Path(sys.argv[1]))
