"""What the tests of proofs share."""

from __future__ import annotations

import pytest

from tests._helpers.forked_kernels import begin_kernels_at_once


@pytest.fixture(autouse=True)
def kernels_begin_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """None of them imports IPython anew, nor pandas."""
    begin_kernels_at_once(monkeypatch, "pandas")
