"""What the tests of the agent share."""

from __future__ import annotations

import pytest

from .._helpers.model_server import model_server

__all__ = ["model_server", "no_clouds_from_outside"]


@pytest.fixture(autouse=True)
def no_clouds_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clouds' own configuration of whoever runs the tests takes no part in them."""
    for name in ("AWS_PROFILE", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
