"""How soon an edit of the agent shows in the notebook a person has open, in a real browser.

The edits are done by the running extension, in the server's own loop, as its tools do them; the page notes when each is in
its DOM. Both read the clock of this machine.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Final

from hdsp_agent.messages import CellId, JsonObject, ReplaceSource

from .children import ROOT, ask, child
from .results import Result, percentile, result
from .server import TOKEN, jupyter_server

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp

NOTEBOOK: Final = "edits.ipynb"
CELLS: Final = 100
EDITS: Final = 30
WARM_EDITS: Final = 5
_GOAL_MS: Final = 100.0
_PAUSE_SECONDS: Final = 0.3


def measure() -> list[Result]:
    """One after the other, as an agent edits."""
    chromium = subprocess.run(
        [sys.executable, str(ROOT / "scripts/find_chromium.py")], capture_output=True, text=True, check=True
    ).stdout.strip()
    script = [shutil.which("node") or "node", str(ROOT / "benchmarks/notebook.mjs")]
    with (
        jupyter_server(
            extensions=("hdsp_agent", "benchmarks.notebook_edits"),
            prepare=lambda home: _write(home.parent),
        ) as server,
        child([*script, server.url, TOKEN, chromium, NOTEBOOK]) as page,
    ):
        asked: dict[str, float] = {}
        for number in range(WARM_EDITS + EDITS):
            asked[str(number)] = float(server.post("/bench/notebook/edit", {"number": number}))
            time.sleep(_PAUSE_SECONDS)
        seen: dict[str, float] = json.loads(ask(page, "report"))
    late = [seen[number] - at for number, at in asked.items() if int(number) >= WARM_EDITS]
    p95 = percentile(late, 0.95)
    return [
        result(
            "notebook.edit.visible",
            f"an edit of the agent, asked of the server to visible in the open notebook of {CELLS} cells, with its diff: p95"
            f" (p50 {median(late):.1f} ms)",
            p95, "ms", goal=f"<= {_GOAL_MS:g} ms", met=p95 <= _GOAL_MS, runs=len(late),
        )
    ]  # fmt: skip


def _write(folder: Path) -> None:
    cells: list[JsonObject] = [
        {
            "cell_type": "code", "execution_count": None, "id": f"cell-{number}", "metadata": {}, "outputs": [],
            "source": f"# Edit none.\nframe_{number} = load({number})\nframe_{number}.describe()",
        }
        for number in range(CELLS)
    ]  # fmt: skip
    kernel = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
    notebook = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    (folder / NOTEBOOK).write_text(json.dumps(notebook, indent=1), encoding="utf-8")


# ---- inside the server


def _load_jupyter_server_extension(app: ServerApp) -> None:
    """Answer to ``POST /bench/notebook/edit`` by an edit of the first cell; the answer is when it was begun."""
    from jupyter_server.base.handlers import APIHandler
    from tornado.web import authenticated

    class EditHandler(APIHandler):
        @authenticated
        async def post(self) -> None:
            number = int(json.loads(self.request.body)["number"])
            access = self.settings["hdsp_agent_services"].notebooks.notebooks.access
            source = f"# Edit {number}.\nframe_0 = load({number})\nframe_0.describe()"
            asked = time.time() * 1000
            edit = ReplaceSource(cell_id=CellId("cell-0"), source=source)
            await access.document(NOTEBOOK).apply([edit], review=True)
            await self.finish(str(asked))

    handlers = [(app.base_url + "bench/notebook/edit", EditHandler)]
    app.web_app.add_handlers(".*$", handlers)  # type: ignore[no-untyped-call]  # Tornado leaves it untyped
