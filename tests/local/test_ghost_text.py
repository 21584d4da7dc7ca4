"""Ghost text by the real embedded model. Skipped, and said so, where there is none."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from hdsp_agent.agent.ghost_text import CellAbove, GhostText, Place
from hdsp_agent.config import ContextProxy, OperatorPolicy, SecretStore
from hdsp_agent.local import LocalModels, catalogue
from hdsp_agent.tools import PathPolicy

from ._helpers.weights import REAL_FOLDER, real_weights

CODER = "qwen2.5-coder-0.5b-instruct"


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_the_embedded_model_fills_gaps_and_stands_back_for_conversations(tmp_path: Path) -> None:
    await real_weights(catalogue().find(CODER))
    home, policy = tmp_path / "home", OperatorPolicy()
    config = ContextProxy(home, policy, SecretStore(home, policy))
    await config.start()
    local = LocalModels(REAL_FOLDER)
    ghost = GhostText(config, local, paths=lambda: PathPolicy(tmp_path))
    cells = [CellAbove("code", "import pandas as pd\nflats = pd.read_csv('flats.csv')")]
    place = Place("mean_rent = flats['rent'].", "", cells=cells)
    try:
        assert await ghost.suggest(place) == []
        await config.update({"ghostTextEnabled": True})
        assert await ghost.suggest(place) == ["mean()"]
        block = await ghost.suggest(Place("def area(width, height):", "\n\nprint(area(2, 3))"))
        assert block and "return" in block[0] and "print(area" not in block[0]
        text = await ghost.suggest(Place("## Rents by ", "", kind="markdown", cells=cells))
        assert all("\n" not in one for one in text)

        file = await local.file_of(await ghost._profile())
        async with local.runtime.turn(file):
            # A conversation has it.
            assert await asyncio.wait_for(ghost.suggest(place), 30) == []
        assert await ghost.suggest(place) == ["mean()"]
    finally:
        await ghost.stop()
        await local.stop()
        await config.stop()
