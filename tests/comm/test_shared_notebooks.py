"""A server's process with jupyter-collaboration installed: a person watches the agent edit and run their notebook."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests._helpers.collaboration import collaboration_config, collaboration_environment, in_room, require_collaboration
from tests._helpers.timing import until
from tests.comm._helpers.jupyter_process import JupyterProcess
from tests.comm._helpers.scripted_model_server import call, model_of
from tests.comm._helpers.scripted_pages import said
from tests.notebooks._helpers.pages import code, notebook, text

PATH = "shared.ipynb"
LOOP = "import time\nfor i in range(20):\n    print(i)\n    time.sleep(0.05)"
SCENARIOS: dict[str, list[Any]] = {
    "work": [
        call("edit_cells", {"path": PATH, "operations": [{"op": "edit", "cell": "one", "old": "pass", "new": LOOP}]}),
        call("run_cells", {"path": PATH, "cells": "all"}),
        call("attempt_completion", {"result": "It has run."}),
    ]
}


@pytest.mark.slow
async def test_a_person_in_the_room_sees_the_agent_edit_and_run_their_notebook(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = collaboration_environment()
    require_collaboration(monkeypatch)
    server = JupyterProcess(tmp_path, config=collaboration_config(tmp_path), environment=environment)
    file = server.root / PATH
    file.write_text(json.dumps(notebook(code("one", "pass"), text("two", "# mine"))), "utf-8")
    async with model_of(SCENARIOS) as model:
        try:
            await server.start()
            profile = {"apiProvider": "lmstudio", "lmStudioModelId": "m", "lmStudioBaseUrl": model.url}
            await server.call("PATCH", "profiles/default", {"settings": profile})
            allowed = {"autoApprovalEnabled": True, "alwaysAllowReadOnly": True, "alwaysAllowWrite": True}
            await server.call("PATCH", "settings", {**allowed, "alwaysAllowRunCells": True})
            body = {"format": "json", "type": "notebook"}
            session = await server.jupyter("PUT", f"api/collaboration/session/{PATH}", body)
            async with in_room(session, server.address, server.credentials) as person, server.page() as page:
                seen: list[str] = []
                # As the notebook would draw it after each change.
                person.notebook.observe(lambda target, _: seen.extend(output["text"] for output in person.outputs(0)))
                answer = await page.ask("newTask", text="Play scenario work")
                assert answer["ok"], answer
                person.type_at_end(1, " and typed on")
                await page.until(lambda: said(page, "completion_result"), seconds=60)
                # The room tells them by another connection than the page has, and saves a moment later.
                await person.until(lambda: person.state(0) == "idle" and person.cells[0]["execution_count"] == 1)
                assert person.source(0) == LOOP and person.source(1) == "# mine and typed on"
                whole = "".join(f"{number}\n" for number in range(20))
                assert [output["text"] for output in person.outputs(0)] == [whole]
                # It grew before their eyes, and nothing was ever there twice.
                assert len(set(seen)) > 3 and all(whole.startswith(text) for text in seen)

                def saved() -> list[tuple[str, list[str]]]:
                    try:
                        cells = json.loads(file.read_text("utf-8"))["cells"]
                    except ValueError:
                        return []  # it is being written
                    return [
                        ("".join(cell["source"]), ["".join(one["text"]) for one in cell.get("outputs", ())])
                        for cell in cells
                    ]

                await until(lambda: saved() == [(LOOP, [whole]), ("# mine and typed on", [])])
        finally:
            server.kill()
