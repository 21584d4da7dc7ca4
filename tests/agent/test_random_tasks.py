"""Whatever a person and a model do and when: no task dies, nothing said is lost, no result is denied."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from .._helpers.long_tests import rounds
from ._helpers.random_task import live

LIVES = rounds(6, 300)


@pytest.mark.timeout(rounds(300, 300))
@pytest.mark.parametrize("seed", range(LIVES))
async def test_any_life_comes_to_a_good_end(seed: int, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        await live(tmp_path, seed)
    assert not [record for record in caplog.records if "a slip of ours" not in (record.exc_text or record.getMessage())]
