"""The rules stay of use: most of what only reads in the workspace runs unasked, and nothing else does.

The lines were written by somebody who had not seen what judges them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from hdsp_agent.agent.approval import decide_command

from ._helpers.usual_commands import ONLY_READS_INSIDE, OTHERS, RULES

LEAST = 90
"""Of a hundred lines."""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a few files, for patterns to find."""
    root = tmp_path_factory.mktemp("usual") / "project"
    for name in ("data/raw/a.csv", "data/b.csv", "src/pipeline.py", "tests/test_x.py", "notebooks/eda.ipynb", "README.md", "pyproject.toml", "logs/train.log", "config.yaml"):  # fmt: skip
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x\n", "utf-8")
    return root


def test_the_list_is_as_long_as_it_says() -> None:
    assert len({*ONLY_READS_INSIDE, *OTHERS}) == len(ONLY_READS_INSIDE) + len(OTHERS) == 500


def test_most_of_what_only_reads_in_the_workspace_runs_unasked(project: Path) -> None:
    asked = [text for text in ONLY_READS_INSIDE if not _runs(text, project)]
    assert 100 * (len(ONLY_READS_INSIDE) - len(asked)) >= LEAST * len(ONLY_READS_INSIDE), asked


def test_nothing_that_does_more_runs_unasked(project: Path) -> None:
    assert [text for text in OTHERS if _runs(text, project)] == []


def _runs(text: str, project: Path) -> bool:
    return decide_command(text, allow=RULES, workspace=str(project)).runs is not None
