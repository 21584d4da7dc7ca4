"""What the tests of the agent share."""

from __future__ import annotations

import pytest

from hdsp_agent.agent.checkpoints import checkpoint_service
from hdsp_agent.agent.environment import workspace_files

from .._helpers.model_server import model_server

__all__ = ["model_server", "no_clouds_from_outside", "nothing_left_out_for_want_of_time"]


@pytest.fixture(autouse=True)
def no_clouds_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clouds' own configuration of whoever runs the tests takes no part in them."""
    for name in ("AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


@pytest.fixture(autouse=True)
def nothing_left_out_for_want_of_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is told without, if it takes a busy machine longer, is told."""
    monkeypatch.setattr(checkpoint_service, "_COUNT_SECONDS", 60.0)
    monkeypatch.setattr(workspace_files, "_WALK_SECONDS", 60.0)
